/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv against a convolution of tensors (NHWC), on random small cases: strides,
 * dilation, padding on every side, taps joined with the channels or not, a
 * second addend, and a sum kept over two commands.
 */
#include "brute.h"

#define MAX_OC 80
#define MAX_IC 20
#define MAX_K  4

struct conv {
	int32_t h, w, ic, oc, oh, ow, kh, kw, sy, sx, dy, dx, pad_y, pad_x;
	int32_t x_zp, w_zp;
	int32_t e;                              /* bytes of an element */
	int32_t px, row;                        /* bytes of a pixel, of an input row */
	int32_t in_at;                          /* address of the tensor */
	int8_t wgt[MAX_OC][MAX_K][MAX_K][MAX_IC];
	int64_t bias[MAX_OC];
	int32_t mul[MAX_OC], shift[MAX_OC];
};

static wide sum_of(const struct bench *b, const struct conv *v, const struct weft_cmd_post *p, int32_t oy,
		   int32_t ox, int32_t ch)
{
	wide acc = 0;

	for (int32_t ky = 0; ky < v->kh; ky++)
	for (int32_t kx = 0; kx < v->kw; kx++) {
		int32_t iy = oy * v->sy - v->pad_y + ky * v->dy, ix = ox * v->sx - v->pad_x + kx * v->dx;

		if (iy < 0 || iy >= v->h || ix < 0 || ix >= v->w)
			continue;
		for (int32_t i = 0; i < v->ic; i++)
			acc += (bench_get(b, p, v->in_at + iy * v->row + ix * v->px, i) - v->x_zp) *
			       (v->wgt[ch][ky][kx][i] - v->w_zp);
	}
	return acc;
}

static void random_conv(struct rng *r, const struct weft_cmd_conv *c, struct conv *v)
{
	const struct weft_cmd_post *p = &c->post;

	v->e = brute_size(p);
	v->h = rng_int(r, 1, 9);
	v->w = rng_int(r, 1, 9);
	v->ic = rng_int(r, 1, MAX_IC);
	v->oc = rng_int(r, 1, MAX_OC);
	v->oh = rng_int(r, 1, 6);
	v->ow = rng_int(r, 1, 6);
	v->kh = rng_int(r, 1, MAX_K);
	v->kw = rng_int(r, 1, MAX_K);
	v->sy = rng_int(r, 1, 3);
	v->sx = rng_int(r, 1, 3);
	v->dy = rng_int(r, 1, 2);
	v->dx = rng_int(r, 1, 2);
	v->pad_y = rng_int(r, -1, 4);
	v->pad_x = rng_int(r, -1, 4);
	v->x_zp = p->mode == 1 ? 0 : rng_int(r, -128, 127);
	v->w_zp = rng_int(r, 0, 1) ? 0 : rng_int(r, -128, 127);
	v->in_at = v->e * rng_int(r, 0, 499);
	v->px = v->ic * v->e;
	rng_fill(r, v->wgt, sizeof(v->wgt));
	for (int32_t i = 0; i < MAX_OC; i++) {   /* callers may choose another oc */
		v->bias[i] = c->p_short ? short_bias(random_bias(r)) : random_bias(r);
		v->mul[i] = random_mul(r, p);
		v->shift[i] = random_shift(r, p);
	}
}

/* Weights of input channels c0 .. c0 + n_ic - 1 for `tiles` column tiles from channel `first` on, whose words come in turn. */
static uint8_t *put_tiles(const struct conv *v, const struct weft_cmd_conv *c, int32_t n, int32_t c0, int32_t n_ic,
			  int32_t first, int32_t tiles, uint8_t *at)
{
	int32_t len = c->run_len / v->e, chunks = (len + n - 1) / n;

	for (int32_t ky = 0; ky < c->n_ky; ky++)
	for (int32_t kx = 0; kx < c->n_kx; kx++)
	for (int32_t q = 0; q < chunks; q++)
	for (int32_t word = 0; word < tiles * n; word++)
	for (int32_t j = q * n; j < q * n + n; j++, at++) {
		int32_t ch = first + word % tiles * n + word / tiles;
		/* A joined run counts columns too. */
		int32_t col = c->n_kx == 1 ? j / n_ic : kx, i = c->n_kx == 1 ? j % n_ic : j;

		*at = (uint8_t)v->w_zp;
		if (ch < v->oc && j < len)
			*at = (uint8_t)v->wgt[ch][ky][col][c0 + i];
	}
	return at;
}

/* Weights of input channels c0 .. c0 + n_ic - 1 in the order of use. */
static void put_weights(struct bench *b, const struct conv *v, const struct weft_cmd_conv *c,
			int32_t c0, int32_t n_ic)
{
	int32_t n = (int32_t)b->cfg->n, tiles;
	uint8_t *at = b->want + c->w_base;

	for (int32_t first = 0; first < v->oc; first += tiles * n) {
		tiles = c->pairs && v->oc - first > n ? 2 : 1;
		at = put_tiles(v, c, n, c0, n_ic, first, tiles, at);
	}
}

static void put_records(struct bench *b, const struct conv *v, const struct weft_cmd_conv *c)
{
	for (int32_t i = 0; i < v->oc; i++)
		put_record(b->want + c->p_base, i, c->p_short, v->bias[i], v->mul[i], v->shift[i]);
}

/* Joined runs need neighbouring taps and pixels without gaps. */
static void conv_fields(const struct conv *v, int joined, int32_t n_ic, struct weft_cmd_conv *c)
{
	c->in_base = (v->in_at - v->pad_y * v->row - v->pad_x * v->px) & 0xfffff;
	c->oy_step = v->sy * v->row;
	c->ox_step = v->sx * v->px;
	c->ky_step = v->dy * v->row;
	c->kx_step = v->dx * v->px;
	c->run_len = (joined ? v->kw * n_ic : n_ic) * v->e;
	c->n_ky = v->kh;
	c->n_kx = joined ? 1 : v->kw;
	c->stride_y = v->sy;
	c->dil_y = v->dy;
	c->in_h = v->h;
	c->iy_start = -v->pad_y;
	c->x_limit = v->w * v->px;
	c->xb_start = -v->pad_x * v->px;
	c->x_zp = v->x_zp;
	c->w_zp = v->w_zp;
}

static void place(struct bench *b, const struct conv *v, struct weft_cmd_conv *c)
{
	struct weft_cmd_post *p = &c->post;
	int32_t part = (int32_t)b->cfg->sp_bytes / 8, n = (int32_t)b->cfg->n;

	p->ow = v->ow;
	p->oh = v->oh;
	p->oc = v->oc;
	c->w_base = part + n * rng_int(&b->rng, 0, 9);
	c->p_base = 5 * part + n * rng_int(&b->rng, 0, 9);
	p->b_base = 6 * part + v->e * rng_int(&b->rng, 0, 99);
	p->b_x_stride = v->e * (v->oc + rng_int(&b->rng, 0, 9));
	p->b_y_stride = p->ow * p->b_x_stride + v->e * rng_int(&b->rng, 0, 9);
	p->out_base = 7 * part + v->e * rng_int(&b->rng, 0, 99);
	p->out_x_stride = v->e * (v->oc + rng_int(&b->rng, 0, 9));
	p->out_y_stride = p->ow * p->out_x_stride + v->e * rng_int(&b->rng, 0, 9);
}

static int32_t expected(const struct bench *b, const struct conv *v, const struct weft_cmd_post *p,
		       int32_t oy, int32_t ox, int32_t ch)
{
	wide acc = sum_of(b, v, p, oy, ox, ch) + v->bias[ch];
	int32_t q = brute_first(p, acc, v->mul[ch], v->shift[ch]);

	if (!p->add)
		return q;
	return brute_add(p, q, bench_get(b, p, p->b_base + oy * p->b_y_stride + ox * p->b_x_stride, ch));
}

static void want_output(struct bench *b, const struct conv *v, const struct weft_cmd_post *p)
{
	for (int32_t oy = 0; oy < v->oh; oy++)
	for (int32_t ox = 0; ox < v->ow; ox++)
	for (int32_t ch = 0; ch < v->oc; ch++)
		bench_want(b, p, oy, ox, ch, expected(b, v, p, oy, ox, ch));
}

static void conv_random(void **state)
{
	static const char *const names[] = {"w8", "w16", "w32"};
	struct bench b = {.rng = rng_start()};
	struct conv v;

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 400); i++) {
		struct weft_cmd c;
		int joined = rng_int(&b.rng, 0, 1);

		bench_open(&b, names[i % 3]);
		weft_cmd_init(&c, WEFT_CMD_CONV);
		random_post(&b.rng, &c.conv.post);
		random_scale(&b.rng, &c.conv.post);
		if (rng_int(&b.rng, 0, 5) == 0)
			widen_post(&b.rng, &c.conv.post);
		c.conv.p_short = rng_int(&b.rng, 0, 1);
		random_conv(&b.rng, &c.conv, &v);
		v.dx = joined ? 1 : v.dx;
		v.px += joined ? 0 : v.e * rng_int(&b.rng, 0, 5);
		v.row = v.w * v.px + v.e * rng_int(&b.rng, 0, 9);
		c.conv.post.add = rng_int(&b.rng, 0, 1);
		c.conv.pairs = rng_int(&b.rng, 0, 1);
		conv_fields(&v, joined, v.ic, &c.conv);
		place(&b, &v, &c.conv);
		put_weights(&b, &v, &c.conv, 0, v.ic);
		put_records(&b, &v, &c.conv);
		bench_load(&b);
		want_output(&b, &v, &c.conv.post);
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
}

/* The first input channels with keep, the others without. */
static void conv_keep(void **state)
{
	struct bench b = {.rng = rng_start()};
	struct conv v;

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 100); i++) {
		struct weft_cmd c, c2;
		int32_t cut, part;

		bench_open(&b, i % 2 ? "w16" : "w8");
		part = (int32_t)b.cfg->sp_bytes / 8;
		weft_cmd_init(&c, WEFT_CMD_CONV);
		random_post(&b.rng, &c.conv.post);
		random_scale(&b.rng, &c.conv.post);
		c.conv.p_short = rng_int(&b.rng, 0, 1);
		random_conv(&b.rng, &c.conv, &v);
		v.ic = rng_int(&b.rng, 2, MAX_IC);
		v.px = v.ic * v.e;
		v.row = v.w * v.px;
		c.conv.pairs = rng_int(&b.rng, 0, 1);
		v.oc = rng_int(&b.rng, 1, (int32_t)b.cfg->n << c.conv.pairs);
		v.oh = rng_int(&b.rng, 1, 2);
		v.ow = rng_int(&b.rng, 1, (int32_t)b.cfg->n / 2 >> c.conv.pairs);
		cut = rng_int(&b.rng, 1, v.ic - 1);
		c2 = c;
		conv_fields(&v, 0, v.ic - cut, &c2.conv);
		place(&b, &v, &c2.conv);
		c2.conv.in_base = (c2.conv.in_base + cut * v.e) & 0xfffff;
		c2.conv.xb_start += cut * v.e;
		conv_fields(&v, 0, cut, &c.conv);
		c.conv.post = c2.conv.post;
		c.conv.keep = 1;
		c.conv.w_base = 3 * part;
		if (v.kw == 1)
			c.conv.n_kx = c2.conv.n_kx = 1;
		put_weights(&b, &v, &c.conv, 0, cut);
		put_weights(&b, &v, &c2.conv, cut, v.ic - cut);
		put_records(&b, &v, &c2.conv);
		bench_load(&b);
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		want_output(&b, &v, &c2.conv.post);
		bench_run(&b, &c2);
		bench_compare(&b, &c2, i);
		bench_close(&b);
	}
}

/* int16: the largest products, so many that their sum takes 36 bits. */
static void conv_extremes(void **state)
{
	struct bench b = {.rng = {1}};
	struct weft_cmd c;
	struct weft_cmd_conv *v = &c.conv;

	(void)state;
	for (int sign = 0; sign < 2; sign++) {
		int32_t x = sign ? -32768 : 32767, k = 4096;

		bench_open(&b, "w16");
		weft_cmd_init(&c, WEFT_CMD_CONV);
		v->post.mode = 1;
		v->post.scale16 = 1;
		v->post.y_min = -32768;
		v->post.y_max = 32767;
		v->run_len = v->x_limit = 2 * k;
		v->w_zp = 127;
		v->w_base = 0x10000;
		v->p_base = 0x30000;
		v->post.out_base = 0x40000;
		for (int32_t i = 0; i < k; i++) {
			b.want[2 * i] = (uint8_t)x;
			b.want[2 * i + 1] = (uint8_t)(x >> 8 & 255);
		}
		memset(b.want + v->w_base, 0x80, (size_t)k * 16);
		put_record(b.want + v->p_base, 0, false, 5, 32767, 36);
		bench_load(&b);
		bench_want(&b, &v->post, 0, 0, 0, brute_rescale16((wide)k * x * -255 + 5, 32767, 36, 0));
		bench_run(&b, &c);
		bench_compare(&b, &c, sign);
		bench_close(&b);
	}
}

/* One field wrong; which fault follows. */
static enum weft_fault fault_of(struct weft_model *m, const struct weft_cmd *c)
{
	struct weft_model_fault f = {WEFT_FAULT_NONE, 0};

	weft_model_exec(m, c, &f);
	return f.code;
}

static void conv_faults_bad(void **state)
{
	const struct weft_config *cfg = weft_config_find("w16");
	struct weft_model *m = weft_model_new(cfg);
	struct weft_cmd good, c;

	(void)state;
	weft_cmd_init(&good, WEFT_CMD_CONV);
	good.conv.w_base = 1024;
	good.conv.p_base = 2048;
	good.conv.post.out_base = 4096;
	assert_int_equal(fault_of(m, &good), WEFT_FAULT_NONE);
#define WITH(field, value, fault) \
	do { c = good; c.conv.field = (value); assert_int_equal(fault_of(m, &c), fault); } while (0)
	WITH(post.mode, 3, WEFT_FAULT_BAD_MODE);
	WITH(post.scale16, 1, WEFT_FAULT_BAD_FIELD);
	WITH(run_len, 0, WEFT_FAULT_BAD_FIELD);
	WITH(w_base, 1025, WEFT_FAULT_BAD_FIELD);
	WITH(in_base, (int32_t)cfg->sp_bytes, WEFT_FAULT_SP_RANGE);
	WITH(in_base, (int32_t)cfg->sp_bytes - 1, WEFT_FAULT_NONE);
	WITH(w_base, (int32_t)cfg->sp_bytes - 256, WEFT_FAULT_NONE);
	WITH(w_base, (int32_t)cfg->sp_bytes - 240, WEFT_FAULT_SP_RANGE);
	WITH(p_base, (int32_t)cfg->sp_bytes - 240, WEFT_FAULT_SP_RANGE);
	WITH(post.out_base, (int32_t)cfg->sp_bytes, WEFT_FAULT_SP_RANGE);
	/* Padding is not read: the address may lie anywhere. */
	c = good;
	c.conv.in_base = (int32_t)cfg->sp_bytes;
	c.conv.iy_start = -1;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_NONE);
	/* Sums can be kept for one pixel group only, and one column tile or, with half of the pixels, two. */
	c = good;
	c.conv.keep = c.conv.pairs = 1;
	c.conv.post.oc = 32;
	c.conv.post.ow = 9;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_BAD_FIELD);
	c.conv.post.ow = 8;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_NONE);
	c.conv.post.oc = 33;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_BAD_FIELD);
	c = good;
	c.conv.keep = 1;
	c.conv.post.ow = 17;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_BAD_FIELD);
	c.conv.post.ow = 16;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_NONE);
	/* int16: whole elements, no zero point, one rounding. */
	good.conv.post.mode = 1;
	assert_int_equal(fault_of(m, &good), WEFT_FAULT_BAD_FIELD);
	good.conv.run_len = good.conv.x_limit = 2;
	assert_int_equal(fault_of(m, &good), WEFT_FAULT_NONE);
	WITH(post.scale16, 1, WEFT_FAULT_NONE);
	WITH(x_zp, 1, WEFT_FAULT_BAD_FIELD);
	WITH(w_zp, 1, WEFT_FAULT_NONE);
	WITH(run_len, 3, WEFT_FAULT_BAD_FIELD);
	WITH(xb_start, -1, WEFT_FAULT_BAD_FIELD);
	WITH(xb_start, -2, WEFT_FAULT_NONE);
	WITH(kx_step, 1, WEFT_FAULT_BAD_FIELD);
	WITH(post.out_base, 4097, WEFT_FAULT_BAD_FIELD);
	WITH(post.b_y_stride, 1, WEFT_FAULT_BAD_FIELD);
	WITH(post.double_round, 1, WEFT_FAULT_NONE);
	good.conv.post.scale16 = 1;
	WITH(post.double_round, 1, WEFT_FAULT_BAD_FIELD);
	WITH(in_base, (int32_t)cfg->sp_bytes - 2, WEFT_FAULT_NONE);
	WITH(run_len, 34, WEFT_FAULT_NONE);
	/* Two chunks' weights do not fit. */
	good.conv.w_base = (int32_t)cfg->sp_bytes - 256;
	WITH(run_len, 32, WEFT_FAULT_NONE);
	WITH(run_len, 34, WEFT_FAULT_SP_RANGE);
	weft_model_free(m);
}

/* A configuration without int16. */
static void conv_mode_bad(void **state)
{
	struct weft_config cfg = *weft_config_find("w16");
	struct weft_model *m;
	struct weft_cmd c;

	(void)state;
	cfg.features &= ~WEFT_FEATURE_INT16;
	m = weft_model_new(&cfg);
	weft_cmd_init(&c, WEFT_CMD_CONV);
	c.conv.post.mode = 1;
	c.conv.run_len = c.conv.x_limit = 2;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_BAD_MODE);
	weft_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conv_random),
		cmocka_unit_test(conv_keep),
		cmocka_unit_test(conv_extremes),
		cmocka_unit_test(conv_faults_bad),
		cmocka_unit_test(conv_mode_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv against a convolution of tensors (NHWC), on random small cases: strides,
 * dilation, padding on every side, taps joined with the channels or not, a
 * second addend, and a sum kept over two commands.
 */
#include "brute.h"

#define MAX_OC 48
#define MAX_IC 20
#define MAX_K  4

struct conv {
	int32_t h, w, ic, oc, oh, ow, kh, kw, sy, sx, dy, dx, pad_y, pad_x;
	int32_t x_zp, w_zp;
	int32_t px, row;                        /* bytes of a pixel, of an input row */
	int32_t in_at;                          /* address of the tensor */
	int8_t wgt[MAX_OC][MAX_K][MAX_K][MAX_IC];
	int64_t bias[MAX_OC];
	int32_t mul[MAX_OC], shift[MAX_OC];
};

/* Input channels c0 .. c1 - 1 only. */
static wide sum_of(const struct bench *b, const struct conv *v, int32_t oy, int32_t ox, int32_t ch,
		   int32_t c0, int32_t c1)
{
	wide acc = 0;

	for (int32_t ky = 0; ky < v->kh; ky++)
	for (int32_t kx = 0; kx < v->kw; kx++) {
		int32_t iy = oy * v->sy - v->pad_y + ky * v->dy, ix = ox * v->sx - v->pad_x + kx * v->dx;

		if (iy < 0 || iy >= v->h || ix < 0 || ix >= v->w)
			continue;
		for (int32_t i = c0; i < c1; i++)
			acc += ((int8_t)b->want[v->in_at + iy * v->row + ix * v->px + i] - v->x_zp) *
			       (v->wgt[ch][ky][kx][i] - v->w_zp);
	}
	return acc;
}

static void random_conv(struct rng *r, struct conv *v)
{
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
	v->x_zp = rng_int(r, -128, 127);
	v->w_zp = rng_int(r, 0, 1) ? 0 : rng_int(r, -128, 127);
	v->in_at = rng_int(r, 0, 999);
	v->px = v->ic;
	rng_fill(r, v->wgt, sizeof(v->wgt));
	for (int32_t i = 0; i < v->oc; i++) {
		v->bias[i] = (int64_t)rng_next(r) >> rng_int(r, 17, 40);
		v->mul[i] = rng_int(r, 1 << 30, INT32_MAX);
		v->shift[i] = rng_int(r, 32, 48);
	}
}

/* Weights of input channels c0 .. c0 + n_ic - 1 in the order of use. */
static void put_weights(struct bench *b, const struct conv *v, const struct weft_cmd_conv *c,
			int32_t c0, int32_t n_ic)
{
	int32_t n = (int32_t)b->cfg->n, chunks = (c->run_len + n - 1) / n;
	uint8_t *at = b->want + c->w_base;

	for (int32_t t = 0; t < (v->oc + n - 1) / n; t++)
	for (int32_t ky = 0; ky < c->n_ky; ky++)
	for (int32_t kx = 0; kx < c->n_kx; kx++)
	for (int32_t q = 0; q < chunks; q++)
	for (int32_t ch = t * n; ch < t * n + n; ch++)
	for (int32_t j = q * n; j < q * n + n; j++, at++) {
		/* A joined run counts columns too. */
		int32_t col = c->n_kx == 1 ? j / n_ic : kx, i = c->n_kx == 1 ? j % n_ic : j;

		*at = (uint8_t)v->w_zp;
		if (ch < v->oc && j < c->run_len)
			*at = (uint8_t)v->wgt[ch][ky][col][c0 + i];
	}
}

static void put_records(struct bench *b, const struct conv *v, const struct weft_cmd_conv *c)
{
	for (int32_t i = 0; i < v->oc; i++)
		put_record(b->want + c->p_base + 16 * i, v->bias[i], v->mul[i], v->shift[i]);
}

/* Joined runs need neighbouring taps and pixels without gaps. */
static void conv_fields(const struct conv *v, int joined, int32_t n_ic, struct weft_cmd_conv *c)
{
	c->in_base = (v->in_at - v->pad_y * v->row - v->pad_x * v->px) & 0xfffff;
	c->oy_step = v->sy * v->row;
	c->ox_step = v->sx * v->px;
	c->ky_step = v->dy * v->row;
	c->kx_step = v->dx * v->px;
	c->run_len = joined ? v->kw * n_ic : n_ic;
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
	p->b_base = 6 * part + rng_int(&b->rng, 0, 99);
	p->b_x_stride = v->oc + rng_int(&b->rng, 0, 9);
	p->b_y_stride = p->ow * p->b_x_stride + rng_int(&b->rng, 0, 9);
	p->out_base = 7 * part + rng_int(&b->rng, 0, 99);
	p->out_x_stride = v->oc + rng_int(&b->rng, 0, 9);
	p->out_y_stride = p->ow * p->out_x_stride + rng_int(&b->rng, 0, 9);
}

static int8_t expected(const struct bench *b, const struct conv *v, const struct weft_cmd_post *p,
		       int32_t oy, int32_t ox, int32_t ch)
{
	wide acc = sum_of(b, v, oy, ox, ch, 0, v->ic) + v->bias[ch];
	int8_t q = brute_first(p, acc, v->mul[ch], v->shift[ch]);

	if (!p->add)
		return q;
	return brute_add(p, q, (int8_t)b->want[p->b_base + oy * p->b_y_stride + ox * p->b_x_stride + ch]);
}

static void want_output(struct bench *b, const struct conv *v, const struct weft_cmd_post *p)
{
	for (int32_t oy = 0; oy < v->oh; oy++)
	for (int32_t ox = 0; ox < v->ow; ox++)
	for (int32_t ch = 0; ch < v->oc; ch++)
		b->want[p->out_base + oy * p->out_y_stride + ox * p->out_x_stride + ch] =
			(uint8_t)expected(b, v, p, oy, ox, ch);
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
		random_conv(&b.rng, &v);
		v.dx = joined ? 1 : v.dx;
		v.px += joined ? 0 : rng_int(&b.rng, 0, 5);
		v.row = v.w * v.px + rng_int(&b.rng, 0, 9);
		weft_cmd_init(&c, WEFT_CMD_CONV);
		random_post(&b.rng, &c.conv.post);
		c.conv.post.add = rng_int(&b.rng, 0, 1);
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
		random_conv(&b.rng, &v);
		v.ic = rng_int(&b.rng, 2, MAX_IC);
		v.px = v.ic;
		v.row = v.w * v.px;
		v.oc = rng_int(&b.rng, 1, (int32_t)b.cfg->n);
		v.oh = rng_int(&b.rng, 1, 2);
		v.ow = rng_int(&b.rng, 1, (int32_t)b.cfg->n / 2);
		cut = rng_int(&b.rng, 1, v.ic - 1);
		weft_cmd_init(&c, WEFT_CMD_CONV);
		random_post(&b.rng, &c.conv.post);
		c2 = c;
		conv_fields(&v, 0, v.ic - cut, &c2.conv);
		place(&b, &v, &c2.conv);
		c2.conv.in_base = (c2.conv.in_base + cut) & 0xfffff;
		c2.conv.xb_start += cut;
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
	WITH(post.mode, 1, WEFT_FAULT_BAD_MODE);
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
	/* Sums can be kept for one pixel group and one column tile only. */
	c = good;
	c.conv.keep = 1;
	c.conv.post.ow = 17;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_BAD_FIELD);
	c.conv.post.ow = 16;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_NONE);
	weft_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conv_random),
		cmocka_unit_test(conv_keep),
		cmocka_unit_test(conv_faults_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mode 2, float8, of every command against its sentences in cmd.toml, in doubles;
 * and the arithmetic alone against foreign vectors and exhaustive checksums.
 */
#include <zlib.h>

#include "brute.h"
#include "brute_float.h"
#include "tests/support/level.h"

#define PART(b, i) ((int32_t)(b)->cfg->sp_bytes / 8 * (i))

static int32_t size_of(int32_t fmt)
{
	return fmt == FP16 ? 2 : 1;
}

static int get(const struct bench *b, int32_t fmt, int32_t at, int32_t i)
{
	const uint8_t *e = b->want + ((at + i * size_of(fmt)) & 0xfffff);

	return bf_read(fmt, fmt == FP16 ? e[0] + 256 * e[1] : e[0]);
}

static void want(struct bench *b, const struct weft_cmd_post *p, int32_t oy, int32_t ox, int32_t ch, int h)
{
	uint8_t *e = b->want + p->out_base + oy * p->out_y_stride + ox * p->out_x_stride + ch * size_of(p->out_fmt);

	if (p->out_fmt == FP16) {
		e[0] = (uint8_t)(h & 255);
		e[1] = (uint8_t)(h >> 8);
	} else {
		e[0] = (uint8_t)bf_encode(p->out_fmt, p->saturate, h);
	}
}

/* ---- cases ---- */

/* Codes: any, or finite ones with rarely another. */
static void fill_codes(struct rng *r, int32_t fmt, uint8_t *at, int32_t len, int wild)
{
	for (int32_t i = 0; i < len; i++)
		do
			at[i] = (uint8_t)rng_next(r);
		while (!wild && !isfinite(bf_value(fmt, at[i])) && rng_int(r, 0, 999));
}

static int random_fp16(struct rng *r)
{
	return rng_int(r, 0, 30) ? rng_int(r, 0, 1) << 15 | rng_int(r, 0x1000, 0x6000) : rng_int(r, 0, 0xffff);
}

static void random_limits(struct rng *r, int32_t *lo, int32_t *hi)
{
	int a = 0xfc00, b = 0x7c00;

	if (rng_int(r, 0, 1)) {
		a = rng_int(r, 0, 1) << 15 | rng_int(r, 0, 0x7c00);
		b = rng_int(r, 0, 1) << 15 | rng_int(r, 0, 0x7c00);
		if (bf_order(a) > bf_order(b)) {
			int t = a;

			a = b;
			b = t;
		}
	}
	*lo = (int16_t)a;
	*hi = (int16_t)b;
}

static void random_float_post(struct rng *r, struct weft_cmd_post *p)
{
	p->mode = 2;
	p->x_fmt = rng_int(r, 0, 3);
	p->w_fmt = rng_int(r, 0, 3);
	p->b_fmt = rng_int(r, 0, 4);
	p->out_fmt = rng_int(r, 0, 4);
	p->saturate = rng_int(r, 0, 1);
	random_limits(r, &p->y_min, &p->y_max);
	random_limits(r, &p->s_min, &p->s_max);
	p->ow = rng_int(r, 1, 5);
	p->oh = rng_int(r, 1, 5);
	p->oc = rng_int(r, 1, 40);
}

/* Output in part 7, second tensor in part 6. */
static void place(struct bench *b, struct weft_cmd_post *p)
{
	int32_t o = size_of(p->out_fmt), s = size_of(p->b_fmt);

	p->out_base = PART(b, 7) + o * rng_int(&b->rng, 0, 99);
	p->out_x_stride = o * (p->oc + rng_int(&b->rng, 0, 9));
	p->out_y_stride = p->ow * p->out_x_stride + o * rng_int(&b->rng, 0, 9);
	p->b_base = PART(b, 6) + s * rng_int(&b->rng, 0, 99);
	p->b_x_stride = s * (p->oc + rng_int(&b->rng, 0, 9));
	p->b_y_stride = p->ow * p->b_x_stride + s * rng_int(&b->rng, 0, 9);
}

static void random_records(struct bench *b, int32_t at, int32_t n, bool is_short)
{
	/* Only the low half of the bias counts. */
	for (int32_t i = 0; i < n; i++) {
		uint64_t bias = (rng_next(&b->rng) & ~UINT64_C(0xffff)) | (unsigned)random_fp16(&b->rng);

		put_record(b->want + at, i, is_short, (int64_t)bias, (int32_t)rng_next(&b->rng), rng_int(&b->rng, 0, 255));
	}
}

static int bias_of(const struct bench *b, int32_t at, int32_t ch, bool is_short)
{
	const uint8_t *bias = b->want + at + (is_short ? WEFT_PARAM_SHORT_BYTES : WEFT_PARAM_BYTES) * ch;

	return bias[0] + 256 * bias[1];
}

static int with_addend(const struct bench *b, const struct weft_cmd_post *p, int32_t oy, int32_t ox, int32_t ch, int q)
{
	int r = get(b, p->b_fmt, p->b_base + oy * p->b_y_stride + ox * p->b_x_stride, ch);

	return bf_clamp(bf_add(q, r), p->s_min & 0xffff, p->s_max & 0xffff);
}

static int first_stage(const struct weft_cmd_post *p, double sum, int bias)
{
	return bf_clamp(bf_add(bf_sum_out(sum), bias), p->y_min & 0xffff, p->y_max & 0xffff);
}

static int32_t random_log2_scale(struct rng *r)
{
	return rng_int(r, 0, 5) ? rng_int(r, -6, 4) : rng_int(r, -32, 31);
}

/* How many results are what; all kinds should appear. */
static struct {
	long finite, zero, inf, nan;
} seen;

static void count(int h)
{
	double v = bf_value(FP16, h);

	seen.nan += isnan(v);
	seen.inf += isinf(v) != 0;
	seen.zero += v == 0;
	seen.finite += isfinite(v) && v != 0;
}

static void all_kinds_seen(void)
{
	print_message("%ld finite, %ld zero, %ld infinite, %ld NaN\n", seen.finite, seen.zero, seen.inf, seen.nan);
	assert_true(5 * seen.finite > seen.zero + seen.inf + seen.nan);
	assert_true(seen.zero && seen.inf && seen.nan);
	memset(&seen, 0, sizeof(seen));
}

/* ---- conv ---- */

static double conv_sum(const struct bench *b, const struct weft_cmd_conv *c, double sum, int32_t oy, int32_t ox,
		       int32_t ch)
{
	int32_t n = (int32_t)b->cfg->n, chunks = (c->run_len + n - 1) / n;
	/* Word of this channel in chunk 0 of tap 0. */
	int32_t w_at = c->w_base + ch / n * c->n_ky * c->n_kx * chunks * n * n + ch % n * n;

	for (int32_t ky = 0; ky < c->n_ky; ky++)
	for (int32_t kx = 0; kx < c->n_kx; kx++)
	for (int32_t j = 0; j < c->run_len; j++) {
		int32_t at = c->in_base + oy * c->oy_step + ox * c->ox_step + ky * c->ky_step + kx * c->kx_step + j;
		int32_t iy = c->iy_start + oy * c->stride_y + ky * c->dil_y;
		int32_t xb = c->xb_start + ox * c->ox_step + kx * c->kx_step + j;
		int32_t word = (ky * c->n_kx + kx) * chunks + j / n;

		if (iy < 0 || iy >= c->in_h || xb < 0 || xb >= c->x_limit)
			continue;
		sum = bf_accumulate(sum, bf_product(c->post.x_fmt, b->want[at & 0xfffff], c->post.w_fmt,
						    b->want[w_at + word * n * n + j % n], c->log2_scale));
	}
	return sum;
}

static void random_conv(struct bench *b, struct weft_cmd *cmd)
{
	struct weft_cmd_conv *c = &cmd->conv;
	struct rng *r = &b->rng;
	int32_t px = rng_int(r, 1, 20), row = px * rng_int(r, 3, 9), pad = rng_int(r, 0, 2), wild;

	weft_cmd_init(cmd, WEFT_CMD_CONV);
	random_float_post(r, &c->post);
	place(b, &c->post);
	c->post.add = rng_int(r, 0, 1);
	c->log2_scale = random_log2_scale(r);
	c->run_len = rng_int(r, 0, 1) ? px : rng_int(r, 1, 3 * px);
	c->n_ky = rng_int(r, 1, 3);
	c->n_kx = rng_int(r, 1, 3);
	c->ox_step = c->kx_step = px;
	c->oy_step = c->ky_step = row;
	c->in_h = rng_int(r, 1, 8);
	c->x_limit = row;
	c->iy_start = -pad;
	c->xb_start = -pad * px;
	c->in_base = (rng_int(r, 0, 99) - pad * (row + px)) & 0xfffff;
	c->w_base = PART(b, 1);
	c->p_base = PART(b, 5);
	wild = rng_int(r, 0, 9) == 0;
	fill_codes(r, c->post.x_fmt, b->want, PART(b, 1), wild);
	fill_codes(r, c->post.w_fmt, b->want + PART(b, 1), PART(b, 4), wild);
	c->p_short = rng_int(&b->rng, 0, 1);
	random_records(b, c->p_base, 64, c->p_short);
}

static void want_conv(struct bench *b, const struct weft_cmd_conv *c, const struct weft_cmd_conv *before)
{
	const struct weft_cmd_post *p = &c->post;

	for (int32_t oy = 0; oy < p->oh; oy++)
	for (int32_t ox = 0; ox < p->ow; ox++)
	for (int32_t ch = 0; ch < p->oc; ch++) {
		double sum = conv_sum(b, c, before ? conv_sum(b, before, 0, oy, ox, ch) : 0, oy, ox, ch);
		int q = first_stage(p, sum, bias_of(b, c->p_base, ch, c->p_short));

		count(bf_sum_out(sum));
		want(b, p, oy, ox, ch, p->add ? with_addend(b, p, oy, ox, ch, q) : q);
	}
}

static void conv_random(void **state)
{
	static const char *const names[] = {"w8", "w16", "w32"};
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 60); i++) {
		struct weft_cmd c;

		bench_open_config(&b, weft_config_find(names[i % 3]));
		random_conv(&b, &c);
		bench_load(&b);
		want_conv(&b, &c.conv, NULL);
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
	all_kinds_seen();
}

/* Sums go on, infinities and NaN too. */
static void conv_keep(void **state)
{
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 200); i++) {
		struct weft_cmd c, c2;

		bench_open_config(&b, weft_config_find("w8"));
		random_conv(&b, &c);
		c.conv.post.oc = rng_int(&b.rng, 1, 8);
		c.conv.post.oh = rng_int(&b.rng, 1, 2);
		c.conv.post.ow = rng_int(&b.rng, 1, 4);
		c2 = c;
		c.conv.keep = 1;
		/* Another input and other weights. */
		c.conv.in_base = (c.conv.in_base + 1000) & 0xfffff;
		c.conv.w_base = PART(&b, 3);
		bench_load(&b);
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		want_conv(&b, &c2.conv, &c.conv);
		bench_run(&b, &c2);
		bench_compare(&b, &c2, i);
		bench_close(&b);
	}
	all_kinds_seen();
}

/* One pixel, one channel: products at the edges of the sum's range. */
static int sum_of(struct bench *b, int32_t fmt, int32_t scale, const uint8_t *x, const uint8_t *w, int32_t k)
{
	const uint8_t *sp = weft_model_sp(b->m);
	struct weft_cmd cmd;
	struct weft_cmd_conv *c = &cmd.conv;

	weft_cmd_init(&cmd, WEFT_CMD_CONV);
	c->post.mode = 2;
	c->post.x_fmt = c->post.w_fmt = fmt;
	c->post.out_fmt = FP16;
	c->post.y_min = (int16_t)0xfc00;
	c->post.y_max = 0x7c00;
	c->post.out_base = PART(b, 7);
	c->log2_scale = scale;
	c->run_len = c->x_limit = k;
	c->w_base = PART(b, 1);
	c->p_base = PART(b, 5);
	memset(b->want, 0, b->cfg->sp_bytes);
	for (int32_t i = 0; i < k; i++) {
		b->want[i] = x[i];
		b->want[c->w_base + i / 8 * 64 + i % 8] = w[i];
	}
	/* -0 leaves a zero's sign. */
	put_record(b->want + c->p_base, 0, false, 0x8000, 0, 2);
	bench_load(b);
	bench_run(b, &cmd);
	return sp[c->post.out_base] + 256 * sp[c->post.out_base + 1];
}

static void sums_at_the_edges(void **state)
{
	struct bench b = {.rng = {1}};
	/* E5M2: 3c is 1, 7b is 57344, 7c infinity; 01 is 2^-16. */
	static const uint8_t one[] = {0x3c, 0x3c, 0x3c}, inf[] = {0x7c, 0xfc, 0x3c};

	(void)state;
	bench_open_config(&b, weft_config_find("w8"));
#define SUM(scale, x, w, k) sum_of(&b, E5M2, scale, (const uint8_t[])x, (const uint8_t[])w, k)
#define C(...) {__VA_ARGS__}
	assert_int_equal(SUM(0, C(0x3c), C(0x3c), 1), 0x3c00);
	/* An empty and a cancelled sum are +0. */
	assert_int_equal(SUM(0, C(0), C(0x80), 1), 0);
	assert_int_equal(SUM(0, C(0x3c, 0x3c), C(0x3c, 0xbc), 2), 0);
	/* Infinity times 0 is NaN; times -0 it is no product. */
	assert_int_equal(SUM(0, C(0x7c), C(0), 1), 0x7e00);
	assert_int_equal(SUM(0, C(0x7c), C(0x80), 1), 0);
	assert_int_equal(SUM(0, C(0x7e, 0x3c), C(0x80, 0x3c), 2), 0x3c00);
	/* 2^-29 rounds up, -2^-29 to 0; 128 of them make 2^-21. */
	assert_int_equal(SUM(-29, C(0x3c), C(0x3c), 1), 0);
	assert_int_equal(sum_of(&b, E5M2, -29, one, one, 3), 0);
	{
		uint8_t x[128], w[128];

		memset(x, 0x3c, sizeof(x));
		memset(w, 0x3c, sizeof(w));
		assert_int_equal(sum_of(&b, E5M2, -29, x, w, 128), 8);
		memset(w, 0xbc, sizeof(w));
		assert_int_equal(sum_of(&b, E5M2, -29, x, w, 128), 0);
		assert_int_equal(sum_of(&b, E5M2, -28, x, w, 128), 0x8008);
	}
	/* 2^19 is beyond, -2^19 is not, but is beyond fp16. */
	assert_int_equal(SUM(19, C(0x3c), C(0x3c), 1), 0x7c00);
	assert_int_equal(SUM(19, C(0x3c), C(0xbc), 1), 0xfc00);
	assert_int_equal(SUM(19, C(0x3c, 0x3c, 0x3c), C(0xbc, 0x3b, 0x2e), 3), 0xf400);
	assert_int_equal(SUM(19, C(0x3c, 0x3c), C(0x3c, 0xbc), 2), 0x7c00);
	assert_int_equal(SUM(19, C(0x3c, 0x3c, 0x3c), C(0xbc, 0x38, 0x38), 3), 0);
	/* In range until the last: 2^18 + 2^18. What comes back is lost. */
	assert_int_equal(SUM(18, C(0x3c, 0x3c), C(0x3c, 0x3c), 2), 0x7c00);
	assert_int_equal(SUM(18, C(0x3c, 0x3c, 0x3c), C(0x3c, 0xbc, 0x3c), 3), 0x7c00);
	assert_int_equal(SUM(18, C(0x3c, 0x3c, 0x3c), C(0xbc, 0xbc, 0xbc), 3), 0xfc00);
	assert_int_equal(SUM(18, C(0x3c, 0x3c, 0x3c, 0x3c), C(0x3c, 0x3c, 0xbc, 0xbc), 4), 0x7c00);
	/* A product beyond the range after an infinity of the other sign. */
	assert_int_equal(SUM(18, C(0x3c, 0x3c, 0x7b), C(0x3c, 0x3c, 0xfb), 3), 0x7e00);
	assert_int_equal(sum_of(&b, E5M2, 0, inf, one, 1), 0x7c00);
	assert_int_equal(sum_of(&b, E5M2, 0, inf, one, 2), 0x7e00);
	assert_int_equal(SUM(0, C(0x7c, 0x3c), C(0xbc, 0x3c), 2), 0xfc00);
	assert_int_equal(SUM(0, C(0x7c), C(0), 1), 0x7e00);
	assert_int_equal(SUM(0, C(0x80), C(0xfc), 1), 0x7e00);
	assert_int_equal(SUM(0, C(0x7e, 0x7c), C(0x3c, 0x3c), 2), 0x7e00);
	/* All scales. */
	assert_int_equal(SUM(-32, C(0x7b), C(0x3c), 1), bf_fp16(57344 * ldexp(1, -32)));
	assert_int_equal(SUM(31, C(0x01), C(0x01), 1), bf_fp16(0.5));
	bench_close(&b);
}

/* ---- dw, pool, elt ---- */

static int expected_dw(const struct bench *b, const struct weft_cmd_dw *d, int32_t oy, int32_t ox, int32_t ch)
{
	int32_t n = (int32_t)b->cfg->n;
	double sum = 0;

	for (int32_t t = 0; t < 9; t++) {
		int32_t iy = d->iy_start + oy * d->stride_y + t / 3, ix = d->ix_start + ox * d->stride_x + t % 3;

		if (iy < 0 || iy >= d->in_h || ix < 0 || ix >= d->in_w)
			continue;
		sum = bf_accumulate(sum, bf_product(d->post.x_fmt,
						    b->want[d->in_base + iy * d->in_y_stride + ix * d->in_x_stride + ch],
						    d->post.w_fmt, b->want[d->w_base + (ch / n * 9 + t) * n + ch % n],
						    d->log2_scale));
	}
	count(bf_sum_out(sum));
	return first_stage(&d->post, sum, bias_of(b, d->p_base, ch, d->p_short));
}

static void random_dw(struct bench *b, struct weft_cmd *c)
{
	struct weft_cmd_dw *d = &c->dw;
	struct rng *r = &b->rng;
	int wild = rng_int(r, 0, 9) == 0;

	weft_cmd_init(c, WEFT_CMD_DW);
	random_float_post(r, &d->post);
	place(b, &d->post);
	d->log2_scale = random_log2_scale(r);
	d->in_h = rng_int(r, 1, 9);
	d->in_w = rng_int(r, 1, 9);
	d->in_base = rng_int(r, 0, 99);
	d->in_x_stride = d->post.oc + rng_int(r, 0, 5);
	d->in_y_stride = d->in_w * d->in_x_stride;
	d->iy_start = rng_int(r, -2, 1);
	d->ix_start = rng_int(r, -2, 1);
	d->stride_y = rng_int(r, 1, 2);
	d->stride_x = rng_int(r, 1, 2);
	d->w_base = PART(b, 4);
	d->p_base = PART(b, 5);
	fill_codes(r, d->post.x_fmt, b->want, PART(b, 4), wild);
	fill_codes(r, d->post.w_fmt, b->want + PART(b, 4), PART(b, 1), wild);
	d->p_short = rng_int(&b->rng, 0, 1);
	random_records(b, d->p_base, 64, d->p_short);
}

static void dw_random(void **state)
{
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 60); i++) {
		struct weft_cmd c;
		const struct weft_cmd_post *p = &c.dw.post;

		bench_open_config(&b, weft_config_find(i % 2 ? "w8" : "w16"));
		random_dw(&b, &c);
		bench_load(&b);
		for (int32_t oy = 0; oy < p->oh; oy++)
		for (int32_t ox = 0; ox < p->ow; ox++)
		for (int32_t ch = 0; ch < p->oc; ch++)
			want(&b, p, oy, ox, ch, expected_dw(&b, &c.dw, oy, ox, ch));
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
	all_kinds_seen();
}

static int expected_pool(const struct bench *b, const struct weft_cmd_pool *k, int32_t oy, int32_t ox, int32_t ch)
{
	int best = 0xfc00;

	for (int32_t ky = 0; ky < k->n_ky; ky++)
	for (int32_t kx = 0; kx < k->n_kx; kx++) {
		int v = get(b, k->post.x_fmt, k->in_base + oy * k->oy_step + ox * k->ox_step + ky * k->ky_step +
			    kx * k->kx_step, ch);

		if (isnan(bf_value(FP16, v)) || isnan(bf_value(FP16, best)))
			best = 0x7e00;
		else
			best = bf_order(v) > bf_order(best) ? v : best;
	}
	count(best);
	return bf_clamp(best, k->post.y_min & 0xffff, k->post.y_max & 0xffff);
}

static void pool_random(void **state)
{
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 100); i++) {
		struct weft_cmd c;
		struct weft_cmd_pool *k = &c.pool;
		int32_t e;

		bench_open_config(&b, weft_config_find(i % 2 ? "w8" : "w16"));
		weft_cmd_init(&c, WEFT_CMD_POOL);
		random_float_post(&b.rng, &k->post);
		place(&b, &k->post);
		k->post.x_fmt = rng_int(&b.rng, 0, 4);
		e = size_of(k->post.x_fmt);
		k->in_base = e * rng_int(&b.rng, 0, 99);
		k->kx_step = e * k->post.oc;
		k->ky_step = 9 * k->kx_step;
		k->ox_step = 2 * k->kx_step;
		k->oy_step = k->ky_step;
		k->n_ky = rng_int(&b.rng, 1, 3);
		k->n_kx = rng_int(&b.rng, 1, 3);
		if (i % 4)
			fill_codes(&b.rng, k->post.x_fmt & 3, b.want, PART(&b, 6), 0);
		bench_load(&b);
		for (int32_t oy = 0; oy < k->post.oh; oy++)
		for (int32_t ox = 0; ox < k->post.ow; ox++)
		for (int32_t ch = 0; ch < k->post.oc; ch++)
			want(&b, &k->post, oy, ox, ch, expected_pool(&b, k, oy, ox, ch));
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
	all_kinds_seen();
}

static int expected_elt(const struct bench *b, const struct weft_cmd_elt *e, int32_t oy, int32_t ox, int32_t ch)
{
	const struct weft_cmd_post *p = &e->post;
	int q = get(b, p->x_fmt, e->in_base + oy * e->in_y_stride + ox * e->in_x_stride, ch);

	count(q);
	return p->add ? with_addend(b, p, oy, ox, ch, q) : bf_clamp(q, p->y_min & 0xffff, p->y_max & 0xffff);
}

static void elt_random(void **state)
{
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 150); i++) {
		struct weft_cmd c;
		struct weft_cmd_elt *e = &c.elt;

		bench_open_config(&b, weft_config_find(i % 2 ? "w8" : "w16"));
		weft_cmd_init(&c, WEFT_CMD_ELT);
		random_float_post(&b.rng, &e->post);
		place(&b, &e->post);
		e->post.add = rng_int(&b.rng, 0, 1);
		e->post.x_fmt = rng_int(&b.rng, 0, 4);
		e->in_x_stride = size_of(e->post.x_fmt) * (e->post.oc + rng_int(&b.rng, 0, 3));
		e->in_y_stride = e->post.ow * e->in_x_stride;
		bench_load(&b);
		for (int32_t oy = 0; oy < e->post.oh; oy++)
		for (int32_t ox = 0; ox < e->post.ow; ox++)
		for (int32_t ch = 0; ch < e->post.oc; ch++)
			want(&b, &e->post, oy, ox, ch, expected_elt(&b, e, oy, ox, ch));
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
	all_kinds_seen();
}

/* ---- arithmetic alone, through elt ---- */

/* n elements at 0 to the device and through one command; the result at 1/2. */
static const uint8_t *through_elt(struct bench *b, int32_t x_fmt, int32_t out_fmt, int32_t saturate, int add, int32_t n)
{
	struct weft_cmd c;
	struct weft_cmd_post *p = &c.elt.post;

	weft_cmd_init(&c, WEFT_CMD_ELT);
	p->mode = 2;
	p->x_fmt = x_fmt;
	p->out_fmt = out_fmt;
	p->saturate = saturate;
	p->y_min = p->s_min = (int16_t)0xfc00;
	p->y_max = p->s_max = 0x7c00;
	p->oc = 1;
	p->ow = 256;
	p->oh = n / 256;
	c.elt.in_x_stride = size_of(x_fmt);
	c.elt.in_y_stride = 256 * size_of(x_fmt);
	p->add = add;
	p->b_fmt = FP16;
	p->b_base = PART(b, 2);
	p->b_x_stride = 2;
	p->b_y_stride = 512;
	p->out_base = PART(b, 4);
	p->out_x_stride = size_of(out_fmt);
	p->out_y_stride = 256 * size_of(out_fmt);
	bench_load(b);
	bench_run(b, &c);
	return weft_model_sp(b->m) + p->out_base;
}

static void put_u16(uint8_t *at, int v)
{
	at[0] = (uint8_t)(v & 255);
	at[1] = (uint8_t)(v >> 8);
}

/*
 * All fp16 to each format. The checksums are of two other programs that agree
 * with each other.
 */
static void every_fp16_encoded(void **state)
{
	static const uint32_t crc[4][2] = {
		[E4M3FN] = {0x14606500, 0x5067a7ac}, [E5M2] = {0x2edb1882, 0xb7a316b8},
		[E4M3FNUZ] = {0x529ee546, 0x9cca927f}, [E5M2FNUZ] = {0x353d3364, 0x52b70939},
	};
	struct bench b = {.rng = {1}};

	(void)state;
	bench_open_config(&b, weft_config_find("w32"));
	for (int h = 0; h < 65536; h++)
		put_u16(b.want + 2 * h, h);
	for (int fmt = 0; fmt < 4; fmt++)
		for (int saturate = 0; saturate < 2; saturate++) {
			const uint8_t *got = through_elt(&b, FP16, fmt, saturate, 0, 65536);

			assert_int_equal(crc32(0, got, 65536), crc[fmt][saturate]);
			for (int h = 0; h < 65536; h++)
				assert_int_equal(got[h], bf_encode(fmt, saturate, h));
		}
	bench_close(&b);
}

/* To fp16 and back gives the code; NaN is the format's. */
static void every_code_decoded(void **state)
{
	struct bench b = {.rng = {1}};

	(void)state;
	bench_open_config(&b, weft_config_find("w16"));
	for (int code = 0; code < 256; code++)
		b.want[code] = (uint8_t)code;
	for (int fmt = 0; fmt < 4; fmt++) {
		const uint8_t *got = through_elt(&b, fmt, FP16, 0, 0, 256);

		for (int code = 0; code < 256; code++) {
			int h = got[2 * code] + 256 * got[2 * code + 1];

			assert_int_equal(h, bf_read(fmt, code));
			if (!isnan(bf_value(fmt, code)))
				assert_true(bf_value(FP16, h) == bf_value(fmt, code));
		}
		got = through_elt(&b, fmt, fmt, 0, 0, 256);
		for (int code = 0; code < 256; code++)
			if (!isnan(bf_value(fmt, code)))
				assert_int_equal(got[code], code);
	}
	bench_close(&b);
}

static gzFile open_vectors(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/float_vectors/testfloat/%s", test_data(), name);
	return gzopen(path, "rb");
}

/* TestFloat's differences: a, b, a - b, flags. */
static void fp16_differences(void **state)
{
	gzFile f = open_vectors("f16_sub.rne.txt.gz");
	struct bench b = {.rng = {1}};
	long lines = 0;
	char line[64];

	(void)state;
	if (!f) {
		print_message("no float_vectors in WEFT_DATA\n");
		skip();
	}
	bench_open_config(&b, weft_config_find("w16"));
	for (int more = 1; more;) {
		unsigned x[8192], y[8192], z[8192];
		const uint8_t *got;
		int n = 0;

		while (n < 8192 && (more = gzgets(f, line, sizeof(line)) != NULL)) {
			assert_int_equal(sscanf(line, "%x %x %x", &x[n], &y[n], &z[n]), 3);
			put_u16(b.want + 2 * n, (int)x[n]);
			put_u16(b.want + PART(&b, 2) + 2 * n, (int)(y[n] ^ 0x8000));
			n++;
		}
		got = through_elt(&b, FP16, FP16, 0, 1, 8192);
		for (int i = 0; i < n; i++) {
			unsigned h = got[2 * i] + 256u * got[2 * i + 1];

			/* Any NaN of theirs is our one. */
			if (h != ((z[i] & 0x7fff) > 0x7c00 ? 0x7e00 : z[i]))
				fail_msg("%04x - %04x: expected %04x got %04x", x[i], y[i], z[i], h);
		}
		lines += n;
	}
	gzclose(f);
	print_message("%ld differences\n", lines);
	assert_true(lines > 10000);
	bench_close(&b);
}

/* One fp16 through elt, with a second tensor if r >= 0. */
static int one_elt(struct bench *b, int x, int r, int lo, int hi)
{
	const uint8_t *sp = weft_model_sp(b->m);
	struct weft_cmd c;
	struct weft_cmd_post *p = &c.elt.post;

	weft_cmd_init(&c, WEFT_CMD_ELT);
	p->mode = 2;
	p->x_fmt = p->b_fmt = p->out_fmt = FP16;
	p->add = r >= 0;
	p->y_min = p->s_min = (int16_t)lo;
	p->y_max = p->s_max = (int16_t)hi;
	p->b_base = 2;
	p->out_base = 4;
	put_u16(b->want, x);
	put_u16(b->want + 2, r);
	bench_load(b);
	bench_run(b, &c);
	return sp[4] + 256 * sp[5];
}

static void fp16_corners(void **state)
{
	struct bench b = {.rng = {1}};

	(void)state;
	bench_open_config(&b, weft_config_find("w16"));
#define ADD(x, r, sum) assert_int_equal(one_elt(&b, x, r, 0xfc00, 0x7c00), sum)
	ADD(0x8000, 0x8000, 0x8000);
	ADD(0x8000, 0, 0);
	ADD(0x3c00, 0xbc00, 0);
	ADD(0x7c00, 0xfc00, 0x7e00);
	ADD(0xfc00, 0x7bff, 0xfc00);
	ADD(0x7c00, 0x7c00, 0x7c00);
	ADD(0xfe01, 0x3c00, 0x7e00);
	ADD(0x7bff, 0x4c00, 0x7c00);    /* 65504 + 16 is half way, to even */
	ADD(0x7bff, 0x4bff, 0x7bff);
	ADD(0x0001, 0x03ff, 0x0400);    /* subnormals */
	ADD(0x3c00, 0x1000, 0x3c00);    /* 1 + 2^-11: to even */
	ADD(0x3c01, 0x1000, 0x3c02);
#define CLAMP(x, lo, hi, out) assert_int_equal(one_elt(&b, x, -1, lo, hi), out)
	CLAMP(0x8000, 0xfc00, 0x7c00, 0x8000);
	CLAMP(0x8000, 0x0000, 0x7c00, 0x0000);
	CLAMP(0x0000, 0xfc00, 0x8000, 0x8000);
	CLAMP(0xc000, 0xbc00, 0x3c00, 0xbc00);
	CLAMP(0x7c00, 0xbc00, 0x3c00, 0x3c00);
	CLAMP(0xfd55, 0xbc00, 0x3c00, 0xfe00);
	/* The lower limit first. */
	CLAMP(0x0000, 0x4000, 0x3c00, 0x3c00);
	bench_close(&b);
}

/* ---- what mode 2 does not have ---- */

static enum weft_fault fault_of(struct weft_model *m, const struct weft_cmd *c)
{
	struct weft_model_fault f = {WEFT_FAULT_NONE, 0};

	weft_model_exec(m, c, &f);
	return f.code;
}

static void fields_bad(void **state)
{
	const struct weft_config *w16 = weft_config_find("w16");
	struct weft_config ints = *w16;

	ints.features &= ~WEFT_FEATURE_FP8;
	struct weft_model *with = weft_model_new(w16), *without = weft_model_new(&ints);
	struct weft_cmd good, c;

	(void)state;
	weft_cmd_init(&good, WEFT_CMD_CONV);
	good.conv.post.mode = 2;
	good.conv.post.out_base = 4096;
	assert_int_equal(fault_of(with, &good), WEFT_FAULT_NONE);
	assert_int_equal(fault_of(without, &good), WEFT_FAULT_BAD_MODE);
#define WITH(field, value, fault) \
	do { c = good; c.field = (value); assert_int_equal(fault_of(with, &c), WEFT_FAULT_##fault); } while (0)
	WITH(conv.post.x_fmt, 3, NONE);
	WITH(conv.post.x_fmt, 4, BAD_FIELD);
	WITH(conv.post.out_fmt, 4, NONE);
	WITH(conv.post.out_fmt, 5, BAD_FIELD);
	WITH(conv.post.out_base, 4097, NONE);
	WITH(conv.x_zp, 1, BAD_FIELD);
	WITH(conv.w_zp, 1, BAD_FIELD);
	WITH(conv.post.y_zp, 1, BAD_FIELD);
	WITH(conv.post.double_round, 1, BAD_FIELD);
	WITH(conv.post.scale16, 1, BAD_FIELD);
	WITH(conv.post.a_mul, 1, BAD_FIELD);
	WITH(conv.log2_scale, -32, NONE);
	good.conv.post.out_fmt = 4;
	WITH(conv.post.out_base, 4097, BAD_FIELD);
	good.conv.post.out_fmt = 0;
	/* And integers do not have its. */
	good.conv.post.mode = 0;
	assert_int_equal(fault_of(with, &good), WEFT_FAULT_NONE);
	WITH(conv.log2_scale, 1, BAD_FIELD);
	WITH(conv.post.saturate, 1, BAD_FIELD);
	WITH(conv.post.w_fmt, 1, BAD_FIELD);
	weft_cmd_init(&good, WEFT_CMD_POOL);
	good.pool.post.mode = 2;
	assert_int_equal(fault_of(with, &good), WEFT_FAULT_NONE);
	WITH(pool.post.x_fmt, 4, NONE);
	WITH(pool.sum, 1, BAD_FIELD);
	WITH(pool.x_zp, 1, BAD_FIELD);
	weft_model_free(with);
	weft_model_free(without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fp16_encoded),
		cmocka_unit_test(every_code_decoded),
		cmocka_unit_test(fp16_differences),
		cmocka_unit_test(fp16_corners),
		cmocka_unit_test(sums_at_the_edges),
		cmocka_unit_test(conv_random),
		cmocka_unit_test(conv_keep),
		cmocka_unit_test(dw_random),
		cmocka_unit_test(pool_random),
		cmocka_unit_test(elt_random),
		cmocka_unit_test(fields_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

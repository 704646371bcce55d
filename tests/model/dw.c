/* SPDX-License-Identifier: Apache-2.0 */
/* dw against a depthwise convolution of tensors, on random small cases. */
#include "brute.h"

static int32_t rows_of(const struct weft_cmd_dw *d) { return d->n_ky ? d->n_ky : 3; }
static int32_t cols_of(const struct weft_cmd_dw *d) { return d->n_ky ? d->n_kx : 3; }

struct tensors {
	int32_t w[15][9][64];                   /* raw weights, per channel */
	int64_t bias[64];
	int32_t mul[64], shift[64];
};

static int32_t expected(const struct bench *b, const struct weft_cmd_dw *d, const struct tensors *t,
		       int32_t oy, int32_t ox, int32_t ch)
{
	wide acc = t->bias[ch];

	for (int32_t ky = 0; ky < rows_of(d); ky++)
	for (int32_t kx = 0; kx < cols_of(d); kx++) {
		int32_t iy = d->iy_start + oy * d->stride_y + ky, ix = d->ix_start + ox * d->stride_x + kx;

		if (iy < 0 || iy >= d->in_h || ix < 0 || ix >= d->in_w)
			continue;
		int32_t x = bench_get(b, &d->post, d->in_base + iy * d->in_y_stride + ix * d->in_x_stride, ch);
		if (d->table)
			x = (int8_t)b->want[d->post.b_base + (x & 255)];
		acc += (x - d->x_zp) * (t->w[ky][kx][ch] - d->w_zp);
	}
	return brute_first(&d->post, acc, t->mul[ch], t->shift[ch]);
}

/* Random weights and records, also for the lanes behind the last channel. */
static void random_constants(struct bench *b, const struct weft_cmd_dw *d, struct tensors *t)
{
	int32_t n = (int32_t)b->cfg->n, kw = cols_of(d), taps = rows_of(d) * kw;

	for (int32_t ch = 0; ch < (d->post.oc + n - 1) / n * n; ch++) {
		for (int32_t k = 0; k < taps; k++) {
			t->w[k / kw][k % kw][ch] = rng_int(&b->rng, -128, 127);
			b->want[d->w_base + (ch / n * taps + k) * n + ch % n] = (uint8_t)t->w[k / kw][k % kw][ch];
		}
		t->bias[ch] = d->p_short ? short_bias(random_bias(&b->rng)) : random_bias(&b->rng);
		t->mul[ch] = random_mul(&b->rng, &d->post);
		t->shift[ch] = random_shift(&b->rng, &d->post);
		put_record(b->want + d->p_base, ch, d->p_short, t->bias[ch], t->mul[ch], t->shift[ch]);
	}
}

static void random_dw(struct bench *b, struct weft_cmd *c)
{
	struct weft_cmd_dw *d = &c->dw;
	struct weft_cmd_post *p = &d->post;
	int32_t part = (int32_t)b->cfg->sp_bytes / 4, n = (int32_t)b->cfg->n, e;

	weft_cmd_init(c, WEFT_CMD_DW);
	random_post(&b->rng, p);
	random_scale(&b->rng, p);
	if (rng_int(&b->rng, 0, 5) == 0)
		widen_post(&b->rng, p);
	e = brute_size(p);
	p->ow = rng_int(&b->rng, 1, 6);
	p->oh = rng_int(&b->rng, 1, 6);
	p->oc = rng_int(&b->rng, 1, 40);
	d->in_h = rng_int(&b->rng, 1, 12);
	d->in_w = rng_int(&b->rng, 1, 12);
	d->in_base = e * rng_int(&b->rng, 0, 99);
	d->in_x_stride = e * (p->oc + rng_int(&b->rng, 0, 5));
	d->in_y_stride = d->in_w * d->in_x_stride + e * rng_int(&b->rng, 0, 5);
	d->iy_start = rng_int(&b->rng, -3, 2);
	d->ix_start = rng_int(&b->rng, -3, 2);
	d->stride_y = rng_int(&b->rng, 1, 3);
	d->stride_x = rng_int(&b->rng, 1, 3);
	if (rng_int(&b->rng, 0, 1)) {
		d->n_ky = rng_int(&b->rng, 1, 15);
		d->n_kx = rng_int(&b->rng, 3, 9);
		d->iy_start = rng_int(&b->rng, -d->n_ky - 2, 2);
		d->ix_start = rng_int(&b->rng, -d->n_kx - 2, 2);
	}
	d->x_zp = p->mode == 1 ? 0 : rng_int(&b->rng, -128, 127);
	d->w_zp = rng_int(&b->rng, 0, 1) ? 0 : rng_int(&b->rng, -128, 127);
	d->table = p->mode == 0 && rng_int(&b->rng, 0, 2) == 0;
	if (d->table)
		p->b_base = part / 2 + n * rng_int(&b->rng, 0, 9);
	d->w_base = part + n * rng_int(&b->rng, 0, 9);
	d->p_short = rng_int(&b->rng, 0, 1);
	d->p_base = 2 * part + n * rng_int(&b->rng, 0, 9);
	p->out_base = 3 * part + e * rng_int(&b->rng, 0, 99);
	p->out_x_stride = e * (p->oc + rng_int(&b->rng, 0, 9));
	p->out_y_stride = p->ow * p->out_x_stride + e * rng_int(&b->rng, 0, 9);
}

static void dw_random(void **state)
{
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 300); i++) {
		struct tensors t;
		struct weft_cmd c;
		const struct weft_cmd_post *p = &c.dw.post;

		bench_open(&b, i % 2 ? "w8" : "w16");
		random_dw(&b, &c);
		random_constants(&b, &c.dw, &t);
		bench_load(&b);
		for (int32_t oy = 0; oy < p->oh; oy++)
		for (int32_t ox = 0; ox < p->ow; ox++)
		for (int32_t ch = 0; ch < p->oc; ch++)
			bench_want(&b, p, oy, ox, ch, expected(&b, &c.dw, &t, oy, ox, ch));
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
}

static enum weft_fault fault_of(struct weft_model *m, const struct weft_cmd *c)
{
	struct weft_model_fault f = {WEFT_FAULT_NONE, 0};

	weft_model_exec(m, c, &f);
	return f.code;
}

/* A row wider than the line buffer, an addition, or a zero point of int16 is refused. */
static void dw_limits_bad(void **state)
{
	const struct weft_config *cfg = weft_config_find("w16");
	struct weft_model *m = weft_model_new(cfg);

	(void)state;
	for (int32_t mode = 0; mode < 2; mode++) {
		struct weft_cmd c;

		weft_cmd_init(&c, WEFT_CMD_DW);
		c.dw.post.mode = mode;
		c.dw.post.y_max = 127;
		c.dw.post.ow = (int32_t)cfg->dw_line / (mode + 1) - 2;
		assert_int_equal(fault_of(m, &c), WEFT_FAULT_NONE);
		c.dw.post.ow++;
		assert_int_equal(fault_of(m, &c), WEFT_FAULT_BAD_FIELD);
		c.dw.post.ow = 1;
		c.dw.post.add = 1;
		assert_int_equal(fault_of(m, &c), WEFT_FAULT_BAD_FIELD);
		c.dw.post.add = 0;
		c.dw.table = 1;
		c.dw.post.b_base = 1;
		assert_int_equal(fault_of(m, &c), WEFT_FAULT_BAD_FIELD);
		c.dw.table = c.dw.post.b_base = 0;
		c.dw.x_zp = 1;
		assert_int_equal(fault_of(m, &c), mode ? WEFT_FAULT_BAD_FIELD : WEFT_FAULT_NONE);
		c.dw.x_zp = 0;
		c.dw.in_x_stride = 1;
		assert_int_equal(fault_of(m, &c), mode ? WEFT_FAULT_BAD_FIELD : WEFT_FAULT_NONE);
		c.dw.in_x_stride = 0;
		c.dw.post.scale16 = 1;
		assert_int_equal(fault_of(m, &c), mode ? WEFT_FAULT_NONE : WEFT_FAULT_BAD_FIELD);
	}
	weft_model_free(m);
}

/* Kernels other than 3x3 have rows and at least three columns, short rows, and no float8. */
static void dw_kernel_bad(void **state)
{
	const struct weft_config *cfg = weft_config_find("w16");
	struct weft_model *m = weft_model_new(cfg);
	struct weft_cmd c;

	(void)state;
	weft_cmd_init(&c, WEFT_CMD_DW);
	c.dw.post.y_max = 127;
	for (c.dw.n_ky = 0; c.dw.n_ky <= 15; c.dw.n_ky++)
		for (c.dw.n_kx = 0; c.dw.n_kx <= 10; c.dw.n_kx++)
			assert_int_equal(fault_of(m, &c), (!c.dw.n_ky && !c.dw.n_kx) || (c.dw.n_ky && c.dw.n_kx >= 3 && c.dw.n_kx <= 9) ?
			                 WEFT_FAULT_NONE : WEFT_FAULT_BAD_FIELD);
	c.dw.n_ky = 1;
	c.dw.n_kx = 3;
	for (c.dw.post.mode = 0; c.dw.post.mode < 2; c.dw.post.mode++) {
		c.dw.post.ow = (int32_t)cfg->dw_line / 2 - 8;
		assert_int_equal(fault_of(m, &c), WEFT_FAULT_NONE);
		c.dw.post.ow++;
		assert_int_equal(fault_of(m, &c), WEFT_FAULT_BAD_FIELD);
	}
	c.dw.post.ow = 1;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_BAD_FIELD);
	c.dw.n_ky = c.dw.n_kx = 0;
	assert_int_equal(fault_of(m, &c), WEFT_FAULT_NONE);
	weft_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(dw_random), cmocka_unit_test(dw_limits_bad), cmocka_unit_test(dw_kernel_bad)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

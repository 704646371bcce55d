/* SPDX-License-Identifier: Apache-2.0 */
/* elt against its sentence in cmd.toml, on random small tensors. */
#include "brute.h"

static int32_t expected(const struct bench *b, const struct weft_cmd_elt *e, int32_t oy, int32_t ox, int32_t ch)
{
	const struct weft_cmd_post *p = &e->post;
	int32_t q = bench_get(b, p, e->in_base + oy * e->in_y_stride + ox * e->in_x_stride, ch);
	int32_t v;

	if (e->mul) {
		int32_t r = bench_get(b, p, p->b_base + oy * p->b_y_stride + ox * p->b_x_stride, ch);

		v = p->mode ? q * r : (q - (int8_t)p->a_zp) * (r - (int8_t)p->b_zp);
		return brute_first(p, v, (int32_t)p->a_mul, p->a_shift);
	}
	if (e->table)
		q = bench_get(b, p, p->b_base + (q & 255), 0);
	if (!p->add) {
		v = brute_wrap((wide)(q - p->a_zp) * ((wide)1 << p->pre_shift));
		return brute_first(p, v, (int32_t)p->a_mul, p->a_shift);
	}
	return brute_add(p, q, bench_get(b, p, p->b_base + oy * p->b_y_stride + ox * p->b_x_stride, ch));
}

/* Three tensors in three quarters of the scratchpad, rows and pixels apart. */
static void random_elt(struct bench *b, struct weft_cmd *c)
{
	struct weft_cmd_elt *e = &c->elt;
	struct weft_cmd_post *p = &e->post;
	int32_t part = (int32_t)b->cfg->sp_bytes / 4, oc = rng_int(&b->rng, 1, 50), s;

	weft_cmd_init(c, WEFT_CMD_ELT);
	random_post(&b->rng, p);
	if (rng_int(&b->rng, 0, 5) == 0)
		widen_post(&b->rng, p);
	s = brute_size(p);
	p->add = rng_int(&b->rng, 0, 1);
	if (!p->add) {
		e->table = p->mode == 0 && rng_int(&b->rng, 0, 1);
		e->mul = !e->table && rng_int(&b->rng, 0, 1);
	}
	p->ow = rng_int(&b->rng, 1, 7);
	p->oh = rng_int(&b->rng, 1, 7);
	p->oc = oc;
	e->in_base = s * rng_int(&b->rng, 0, 99);
	e->in_x_stride = s * (oc + rng_int(&b->rng, 0, 9));
	e->in_y_stride = p->ow * e->in_x_stride + s * rng_int(&b->rng, 0, 9);
	p->b_base = part + (e->table ? 16 : s) * rng_int(&b->rng, 0, 99);
	p->b_x_stride = s * (oc + rng_int(&b->rng, 0, 9));
	p->b_y_stride = p->ow * p->b_x_stride + s * rng_int(&b->rng, 0, 9);
	p->out_base = 2 * part + s * rng_int(&b->rng, 0, 99);
	p->out_x_stride = s * (oc + rng_int(&b->rng, 0, 9));
	p->out_y_stride = p->ow * p->out_x_stride + s * rng_int(&b->rng, 0, 9);
}

static void elt_random(void **state)
{
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 300); i++) {
		struct weft_cmd c;
		const struct weft_cmd_post *p = &c.elt.post;

		bench_open(&b, i % 2 ? "w8" : "w16");
		random_elt(&b, &c);
		bench_load(&b);
		for (int32_t oy = 0; oy < p->oh; oy++)
		for (int32_t ox = 0; ox < p->ow; ox++)
		for (int32_t ch = 0; ch < p->oc; ch++)
			bench_want(&b, p, oy, ox, ch, expected(&b, &c.elt, oy, ox, ch));
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
}

/* int16: whole elements; no 48-bit sums, so no scale16. */
static void elt_faults_bad(void **state)
{
	struct weft_model *m = weft_model_new(weft_config_find("w16"));
	struct weft_model_fault f;
	struct weft_cmd c;

	(void)state;
	weft_cmd_init(&c, WEFT_CMD_ELT);
	c.elt.post.mode = 1;
	c.elt.post.out_base = 2;
	assert_int_equal(weft_model_exec(m, &c, &f), 0);
	c.elt.in_y_stride = 3;
	assert_int_not_equal(weft_model_exec(m, &c, &f), 0);
	assert_int_equal(f.code, WEFT_FAULT_BAD_FIELD);
	assert_int_equal(f.info, WEFT_CMD_ELT | WEFT_CMD_ELT_WORDS << 8);
	c.elt.in_y_stride = 0;
	c.elt.post.scale16 = 1;
	assert_int_not_equal(weft_model_exec(m, &c, &f), 0);
	assert_int_equal(f.code, WEFT_FAULT_BAD_FIELD);
	assert_int_equal(f.info, WEFT_CMD_ELT | WEFT_CMD_ELT_WORDS << 8);
	weft_model_free(m);
}

static void set_both(struct weft_cmd_elt *e) { e->mul = 1; }
static void set_add(struct weft_cmd_elt *e) { e->post.add = 1; }
static void set_between(struct weft_cmd_elt *e) { e->post.b_base = 8; }

/* A table lies at a word, and is the only second operand. */
static void elt_table_bad(void **state)
{
	static void (*const change[])(struct weft_cmd_elt *) = {set_both, set_add, set_between};
	struct weft_model *m = weft_model_new(weft_config_find("w16"));
	struct weft_model_fault f;

	(void)state;
	for (size_t i = 0; i <= sizeof(change) / sizeof(change[0]); i++) {
		struct weft_cmd c;

		weft_cmd_init(&c, WEFT_CMD_ELT);
		c.elt.table = 1;
		c.elt.post.b_base = 16;
		if (i)
			change[i - 1](&c.elt);
		assert_int_equal(weft_model_exec(m, &c, &f) != 0, i != 0);
		if (i)
			assert_int_equal(f.code, WEFT_FAULT_BAD_FIELD);
	}
	weft_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(elt_random), cmocka_unit_test(elt_faults_bad),
	                                   cmocka_unit_test(elt_table_bad)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

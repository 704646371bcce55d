/* SPDX-License-Identifier: Apache-2.0 */
/* elt against its sentence in cmd.toml, on random small tensors. */
#include "brute.h"

static int8_t expected(const struct bench *b, const struct weft_cmd_elt *e, int32_t oy, int32_t ox, int32_t ch)
{
	const struct weft_cmd_post *p = &e->post;
	int8_t q = (int8_t)b->want[e->in_base + oy * e->in_y_stride + ox * e->in_x_stride + ch];
	int8_t r;
	int32_t v;

	if (!p->add) {
		v = brute_wrap((wide)(q - p->a_zp) * ((wide)1 << p->pre_shift));
		return brute_first(p, v, (int32_t)p->a_mul, p->a_shift);
	}
	r = (int8_t)b->want[p->b_base + oy * p->b_y_stride + ox * p->b_x_stride + ch];
	return brute_add(p, q, r);
}

/* Three tensors in three quarters of the scratchpad, rows and pixels apart. */
static void random_elt(struct bench *b, struct weft_cmd *c)
{
	struct weft_cmd_elt *e = &c->elt;
	struct weft_cmd_post *p = &e->post;
	int32_t part = (int32_t)b->cfg->sp_bytes / 4, oc = rng_int(&b->rng, 1, 50);

	weft_cmd_init(c, WEFT_CMD_ELT);
	random_post(&b->rng, p);
	p->add = rng_int(&b->rng, 0, 1);
	p->ow = rng_int(&b->rng, 1, 7);
	p->oh = rng_int(&b->rng, 1, 7);
	p->oc = oc;
	e->in_base = rng_int(&b->rng, 0, 99);
	e->in_x_stride = oc + rng_int(&b->rng, 0, 9);
	e->in_y_stride = p->ow * e->in_x_stride + rng_int(&b->rng, 0, 9);
	p->b_base = part + rng_int(&b->rng, 0, 99);
	p->b_x_stride = oc + rng_int(&b->rng, 0, 9);
	p->b_y_stride = p->ow * p->b_x_stride + rng_int(&b->rng, 0, 9);
	p->out_base = 2 * part + rng_int(&b->rng, 0, 99);
	p->out_x_stride = oc + rng_int(&b->rng, 0, 9);
	p->out_y_stride = p->ow * p->out_x_stride + rng_int(&b->rng, 0, 9);
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
			b.want[p->out_base + oy * p->out_y_stride + ox * p->out_x_stride + ch] =
				(uint8_t)expected(&b, &c.elt, oy, ox, ch);
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(elt_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

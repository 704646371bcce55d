/* SPDX-License-Identifier: Apache-2.0 */
/* pool against its sentence in cmd.toml, on random small tensors. */
#include "brute.h"

static int32_t expected(const struct bench *b, const struct weft_cmd_pool *k, int32_t oy, int32_t ox, int32_t ch)
{
	int32_t best = -32768, sum = 0;

	for (int32_t ky = 0; ky < k->n_ky; ky++)
	for (int32_t kx = 0; kx < k->n_kx; kx++) {
		int32_t at = k->in_base + oy * k->oy_step + ox * k->ox_step + ky * k->ky_step +
			     kx * k->kx_step;
		int32_t v = bench_get(b, &k->post, at, ch);

		best = v > best ? v : best;
		sum += v - k->x_zp;
	}
	if (k->sum)
		return brute_first(&k->post, sum, (int32_t)k->post.a_mul, k->post.a_shift);
	return brute_clamp(best, k->post.y_min, k->post.y_max);
}

/* A dense tensor with pixels px apart, windows of any stride on it. */
static void random_pool(struct bench *b, struct weft_cmd *c)
{
	struct weft_cmd_pool *k = &c->pool;
	struct weft_cmd_post *p = &k->post;
	int32_t oc = rng_int(&b->rng, 1, 40), px, row, e;

	weft_cmd_init(c, WEFT_CMD_POOL);
	random_post(&b->rng, p);
	if (rng_int(&b->rng, 0, 5) == 0)
		widen_post(&b->rng, p);
	e = brute_size(p);
	px = e * (oc + rng_int(&b->rng, 0, 5));
	row = px * 20 + e * rng_int(&b->rng, 0, 5);
	p->ow = rng_int(&b->rng, 1, 5);
	p->oh = rng_int(&b->rng, 1, 5);
	p->oc = oc;
	k->sum = rng_int(&b->rng, 0, 1);
	k->x_zp = rng_int(&b->rng, -128, 127);
	k->n_ky = rng_int(&b->rng, 1, 4);
	k->n_kx = rng_int(&b->rng, 1, 4);
	k->in_base = e * rng_int(&b->rng, 0, 99);
	k->oy_step = rng_int(&b->rng, 1, 3) * row;
	k->ox_step = rng_int(&b->rng, 1, 3) * px;
	k->ky_step = row;
	k->kx_step = px;
	p->a_mul = rng_int(&b->rng, 0, 2) ? (uint32_t)rng_int(&b->rng, 1 << 30, INT32_MAX) : 1u << 30;
	p->a_shift = rng_int(&b->rng, 30, 36);
	p->out_base = (int32_t)b->cfg->sp_bytes / 2 + e * rng_int(&b->rng, 0, 99);
	p->out_x_stride = e * (oc + rng_int(&b->rng, 0, 9));
	p->out_y_stride = p->ow * p->out_x_stride + e * rng_int(&b->rng, 0, 9);
}

static void pool_random(void **state)
{
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 300); i++) {
		struct weft_cmd c;
		const struct weft_cmd_post *p = &c.pool.post;

		bench_open(&b, i % 2 ? "w8" : "w16");
		random_pool(&b, &c);
		bench_load(&b);
		for (int32_t oy = 0; oy < p->oh; oy++)
		for (int32_t ox = 0; ox < p->ow; ox++)
		for (int32_t ch = 0; ch < p->oc; ch++)
			bench_want(&b, p, oy, ox, ch, expected(&b, &c.pool, oy, ox, ch));
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(pool_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

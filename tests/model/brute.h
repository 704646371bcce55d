/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of the model: a seeded generator, and the arithmetic of the post
 * unit once more, in 128-bit integers and without a thought for speed.
 */
#ifndef WEFT_TESTS_MODEL_BRUTE_H
#define WEFT_TESTS_MODEL_BRUTE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/model.h"

typedef __int128 wide;

struct rng {
	uint64_t s;
};

static inline uint64_t rng_next(struct rng *r)
{
	/* splitmix64 */
	uint64_t z = r->s += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* lo..hi, both included. */
static inline int32_t rng_int(struct rng *r, int32_t lo, int32_t hi)
{
	return lo + (int32_t)(rng_next(r) % (uint64_t)((int64_t)hi - lo + 1));
}

static inline void rng_fill(struct rng *r, void *data, size_t len)
{
	uint8_t *b = data;

	for (size_t i = 0; i < len; i++)
		b[i] = (uint8_t)rng_next(r);
}

static inline long env_number(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtol(text, NULL, 0) : otherwise;
}

/* The seed is printed so that a failure can be run again. */
static inline struct rng rng_start(void)
{
	struct rng r = {(uint64_t)env_number("WEFT_SEED", 1)};

	print_message("WEFT_SEED=%llu\n", (unsigned long long)r.s);
	return r;
}

static inline int32_t brute_wrap(wide v)
{
	return (int32_t)(uint32_t)(uint64_t)v;
}

/* p / 2^shift, a tie to the even neighbour. */
static inline int32_t brute_even(wide p, int32_t shift)
{
	wide one = (wide)1 << shift, q = p >> shift, rest = p - q * one;

	if (2 * rest == one)
		return brute_wrap(q % 2 == 0 ? q : q + 1);
	return brute_wrap(2 * rest > one ? q + 1 : q);
}

static inline int32_t brute_rescale(int32_t v, int32_t mul, int32_t shift, int twice, int even)
{
	wide sum = (wide)v * mul + ((wide)1 << (shift - 1));

	if (even)
		return brute_even((wide)v * mul, shift);
	if (twice && shift > 31)
		sum += v >= 0 ? (wide)1 << 30 : -((wide)1 << 30);
	return brute_wrap(sum >> shift);
}

/* A 48-bit sum times the low 16 bits of the multiplier. */
static inline int32_t brute_rescale16(wide v, int32_t mul, int32_t shift, int even)
{
	wide m = mul & 0x7fff, v48 = v & (((wide)1 << 48) - 1);

	m -= mul & 0x8000;
	if (v48 >> 47)
		v48 -= (wide)1 << 48;
	return even ? brute_even(v48 * m, shift) : brute_wrap((v48 * m + ((wide)1 << (shift - 1))) >> shift);
}

static inline int32_t brute_clamp(int32_t v, int32_t lo, int32_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static inline int32_t brute_addend(int32_t v, int32_t zp, int32_t up, uint32_t mul, int32_t shift)
{
	return brute_rescale(brute_wrap((wide)(v - zp) * ((wide)1 << up)), (int32_t)mul, shift, 1, 0);
}

/* The sum of q and r as the post group says. */
static inline int32_t brute_add(const struct weft_cmd_post *p, int32_t q, int32_t r)
{
	int32_t t1 = brute_addend(q, p->a_zp, p->pre_shift, p->a_mul, p->a_shift);
	int32_t t2 = brute_addend(r, p->b_zp, p->pre_shift, p->b_mul, p->b_shift);
	int32_t v = brute_rescale(brute_wrap(p->sub ? (wide)t1 - t2 : (wide)t1 + t2), (int32_t)p->s_mul, p->s_shift, 1, p->s_even);

	return brute_clamp(brute_wrap((wide)v + p->s_zp), p->s_min, p->s_max);
}

static inline int32_t brute_first(const struct weft_cmd_post *p, wide acc, int32_t mul, int32_t shift)
{
	int32_t v = p->scale16 ? brute_rescale16(acc, mul, shift, p->even)
			       : brute_rescale(brute_wrap(acc), mul, shift, p->double_round, p->even);

	return brute_clamp(brute_wrap((wide)v + p->y_zp), p->y_min, p->y_max);
}

static inline void brute_order(int32_t *lo, int32_t *hi)
{
	if (*lo > *hi) {
		int32_t t = *lo;

		*lo = *hi;
		*hi = t;
	}
}

/* Bytes of an element. */
static inline int32_t brute_size(const struct weft_cmd_post *p)
{
	return p->mode == 1 ? 2 : 1;
}

/*
 * Legal random values for everything of the post group but addresses, sizes and
 * scale16, limits and zero points within the elements' type.
 */
static inline void random_post(struct rng *r, struct weft_cmd_post *p)
{
	int32_t lo, hi;

	p->mode = rng_int(r, 0, 1);
	hi = p->mode == 1 && rng_int(r, 0, 3) ? 32767 : 127;
	lo = -hi - 1;
	p->double_round = rng_int(r, 0, 1);
	p->even = rng_int(r, 0, 1);
	p->s_even = rng_int(r, 0, 1);
	p->sub = rng_int(r, 0, 1);
	p->pre_shift = rng_int(r, 0, 30);
	p->y_zp = rng_int(r, lo, hi);
	p->y_min = rng_int(r, lo, 0);
	p->y_max = rng_int(r, 0, hi);
	p->a_zp = rng_int(r, lo, hi);
	p->b_zp = rng_int(r, lo, hi);
	p->s_zp = rng_int(r, lo, hi);
	p->s_min = rng_int(r, lo, hi);
	p->s_max = rng_int(r, lo, hi);
	brute_order(&p->s_min, &p->s_max);
	p->a_mul = (uint32_t)rng_int(r, 0, INT32_MAX);
	p->b_mul = (uint32_t)rng_int(r, 0, INT32_MAX);
	p->s_mul = (uint32_t)rng_int(r, 0, INT32_MAX);
	p->a_shift = rng_int(r, 2, 62);
	p->b_shift = rng_int(r, 2, 62);
	p->s_shift = rng_int(r, 2, 62);
	if (rng_int(r, 0, 1)) {
		/* Scales near one, where the result is not all clamp. */
		p->pre_shift = rng_int(r, 8, p->mode == 1 ? 14 : 20);
		p->a_shift = p->b_shift = 31;
		p->s_shift = 31 + p->pre_shift - rng_int(r, 0, 2);
	}
	/* Powers of two, where sums tie. */
	if (rng_int(r, 0, 2) == 0)
		p->a_mul = p->b_mul = p->s_mul = 1 << 30;
}

/* Limits that the elements do not have: the model takes them, the verifier does not. */
static inline void widen_post(struct rng *r, struct weft_cmd_post *p)
{
	p->y_zp = rng_int(r, -32768, 32767);
	p->y_min = rng_int(r, -999, 0);
	p->y_max = rng_int(r, 0, 32767);
	p->a_zp = rng_int(r, -32768, 32767);
	p->s_max = rng_int(r, p->s_min, 32767);
}

/* For commands that add up products. mul and shift suit sums of either kind. */
static inline void random_scale(struct rng *r, struct weft_cmd_post *p)
{
	p->scale16 = p->mode == 1 && rng_int(r, 0, 2);
	if (p->scale16)
		p->double_round = 0;
}

/* A 48-bit bias, and what follows it. */
static inline int64_t random_bias(struct rng *r)
{
	int64_t b = (int64_t)rng_next(r) >> rng_int(r, 17, 40);

	/* So large that the sum may wrap. */
	if (rng_int(r, 0, 9) == 0)
		b = (b < 0 ? -(INT64_C(1) << 47) : (INT64_C(1) << 47) - 1) + b % 4096;
	return b;
}

static inline int32_t random_mul(struct rng *r, const struct weft_cmd_post *p)
{
	int32_t low = rng_int(r, 1 << 14, INT16_MAX);

	if (!p->scale16)
		return rng_int(r, 0, 3) ? rng_int(r, 1 << 30, INT32_MAX) : 1 << 30;
	/* Programs have 15 bits; 16 count, and more may be there. */
	return rng_int(r, 0, 7) ? low : (int32_t)(uint32_t)rng_next(r);
}

static inline int32_t random_shift(struct rng *r, const struct weft_cmd_post *p)
{
	if (p->scale16)
		return rng_int(r, 0, 7) ? rng_int(r, 16, 40) : rng_int(r, 2, 62);
	/* Sums of int16 are larger. */
	return rng_int(r, 30, p->mode == 1 ? 52 : 48);
}

/* A bias that fits a record of 8 bytes, from any bits. */
static inline int64_t short_bias(int64_t bias)
{
	return (int64_t)((((uint64_t)bias & 0xffffff) ^ 0x800000) - 0x800000);
}

/* Parameter record i of those at `records`, which are of 8 bytes if is_short, else of 16: bias, multiplier, shift. */
static inline void put_record(uint8_t *records, int32_t i, bool is_short, int64_t bias, int32_t mul, int32_t shift)
{
	const struct weft_param p = { .bias = bias, .mul = mul, .shift = (uint8_t)shift };
	const struct weft_param_short half = { .bias = (int32_t)short_bias(bias), .mul = mul, .shift = (uint8_t)shift };

	if (is_short)
		weft_param_short_write(&half, records + WEFT_PARAM_SHORT_BYTES * i);
	else
		weft_param_write(&p, records + WEFT_PARAM_BYTES * i);
}

/* A model, and a copy of what its scratchpad should hold. */
struct bench {
	struct rng rng;
	const struct weft_config *cfg;
	struct weft_model *m;
	uint8_t *want;
};

static inline void bench_open_config(struct bench *b, const struct weft_config *cfg)
{
	assert_non_null(cfg);
	b->cfg = cfg;
	b->m = weft_model_new(b->cfg);
	b->want = malloc(b->cfg->sp_bytes);
	assert_non_null(b->m);
	assert_non_null(b->want);
	rng_fill(&b->rng, b->want, b->cfg->sp_bytes);
}

static inline void bench_open(struct bench *b, const char *config)
{
	bench_open_config(b, weft_config_find(config));
}

static inline void bench_close(struct bench *b)
{
	weft_model_free(b->m);
	free(b->want);
}

/* Give the model what want holds now; the test then changes want by hand. */
static inline void bench_load(struct bench *b)
{
	weft_model_poke_sp(b->m, 0, b->want, b->cfg->sp_bytes);
}

/* The element of channel ch behind at. */
static inline int32_t bench_get(const struct bench *b, const struct weft_cmd_post *p, int32_t at, int32_t ch)
{
	const uint8_t *e = b->want + at + brute_size(p) * ch;

	return p->mode == 1 ? (int16_t)(e[0] + 256 * e[1]) : (int8_t)e[0];
}

/* What output pixel (oy, ox) should hold. */
static inline void bench_want(struct bench *b, const struct weft_cmd_post *p, int32_t oy, int32_t ox, int32_t ch,
			      int32_t value)
{
	uint8_t *e = b->want + p->out_base + oy * p->out_y_stride + ox * p->out_x_stride + brute_size(p) * ch;

	e[0] = (uint8_t)(value & 255);
	if (p->mode == 1)
		e[1] = (uint8_t)(value >> 8 & 255);
}

/* Run c, through its encoding, so that every value is one that fits. */
static inline void bench_run(struct bench *b, const struct weft_cmd *c)
{
	struct weft_model_fault f = {WEFT_FAULT_NONE, 0};
	uint64_t words[WEFT_CMD_MAX_WORDS];
	struct weft_cmd again;
	size_t n = weft_cmd_encode(c, words);

	assert_int_equal(weft_cmd_decode(words, n, &again), WEFT_FAULT_NONE);
	if (weft_model_exec(b->m, &again, &f))
		fail_msg("fault %s, info 0x%x", weft_fault_name(f.code), f.info);
}

static inline void bench_compare(const struct bench *b, const struct weft_cmd *c, long round)
{
	const uint8_t *got = weft_model_sp(b->m);
	char text[2048];

	for (uint32_t i = 0; i < b->cfg->sp_bytes; i++) {
		if (got[i] == b->want[i])
			continue;
		weft_cmd_print(c, text, sizeof(text));
		fail_msg("round %ld, %s: sp 0x%x expected 0x%02x got 0x%02x\n%s", round,
			 b->cfg->name, i, b->want[i], got[i], text);
	}
}

#endif

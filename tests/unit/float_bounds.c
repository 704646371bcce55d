/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden's float operators against the accuracy that TOSA 1.0 prints: every fp16 and
 * every bf16 value of the unary ones, seeded fp32 values, seeded pairs of POW, ADD, SUB
 * and MUL, seeded lines of REDUCE_PRODUCT; the reference is the C library's long double. The largest share
 * of the bound that was used is printed; golden rounds once, so it is at most
 * the share that half a unit in the last place takes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/golden/float/element.h"
#include "tests/support/golden_call.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

typedef long double real;

struct format { weft_dtype type; int fraction, min_exponent, max_exponent; };
static const struct format fp16 = { WEFT_FP16, 10, -14, 15 }, bf16 = { WEFT_BF16, 7, -126, 127 },
                           fp32 = { WEFT_FP32, 23, -126, 127 };

static real normal_min(const struct format *f)
{
	return ldexpl(1, f->min_exponent);
}

static real largest(const struct format *f)
{
	return ldexpl(2 - ldexpl(1, -f->fraction), f->max_exponent);
}

/* The specification's calcAbsErrorBound. */
static real abs_bound(const struct format *f, real magnitude, real value, real lower, int divisor)
{
	real v = fmaxl(fabsl(magnitude), normal_min(f));

	if (lower > 0)
		v = fmaxl(lower / value, v);
	return ldexpl(1, -(f->fraction / divisor)) * v * value;
}

static real ulps(const struct format *f, real reference, real n)
{
	real m = fmaxl(fabsl(reference), normal_min(f));

	return n * ldexpl(1, ilogbl(m) - f->fraction);
}

static real base(const struct format *f)
{
	return f->type == WEFT_FP32 ? 3 : 1;
}

/* Reference and allowed error of one operator at x. */
struct rule {
	weft_opcode op;
	real (*of)(real);
	real (*bound)(const struct format *f, real x, real y);
};

static real negative(real x) { return -x; }
static real sigmoid(real x) { return 1 / (1 + expl(-x)); }
static real reciprocal(real x) { return 1 / x; }
static real rsqrt(real x) { return 1 / sqrtl(x); }

static real cos_bound(const struct format *f, real x, real y) { (void)y; return abs_bound(f, 1 + fabsl(x), 1, 0, 2); }
static real sin_bound(const struct format *f, real x, real y)
{
	(void)y;
	return fmaxl(abs_bound(f, x, 2, 0, 2), acosl(-1) * normal_min(f));
}
static real erf_bound(const struct format *f, real x, real y) { (void)x; return ulps(f, y, 5); }
static real exp_bound(const struct format *f, real x, real y) { return abs_bound(f, y, base(f) + 2 * fabsl(x), 0, 1); }
static real log_bound(const struct format *f, real x, real y) { (void)x; return abs_bound(f, y, 5, 0.5L, 1); }
static real reciprocal_bound(const struct format *f, real x, real y) { (void)x; return ulps(f, y, 1); }
static real rsqrt_bound(const struct format *f, real x, real y) { (void)x; return ulps(f, y, 2); }
static real sigmoid_bound(const struct format *f, real x, real y) { return abs_bound(f, y, 2 * (1 + fabsl(x)), 0, 1); }
static real tanh_bound(const struct format *f, real x, real y)
{
	return abs_bound(f, y, 4 * (base(f) + 2 * fabsl(x)), 0.5L, 1);
}
static real none(const struct format *f, real x, real y) { (void)f, (void)x, (void)y; return 0; }

static const struct rule rules[] = {
	{ WEFT_OP_ABS, fabsl, none }, { WEFT_OP_NEGATE, negative, none },
	{ WEFT_OP_CEIL, ceill, none }, { WEFT_OP_FLOOR, floorl, none },
	{ WEFT_OP_COS, cosl, cos_bound }, { WEFT_OP_SIN, sinl, sin_bound }, { WEFT_OP_ERF, erfl, erf_bound },
	{ WEFT_OP_EXP, expl, exp_bound }, { WEFT_OP_LOG, logl, log_bound },
	{ WEFT_OP_RECIPROCAL, reciprocal, reciprocal_bound }, { WEFT_OP_RSQRT, rsqrt, rsqrt_bound },
	{ WEFT_OP_SIGMOID, sigmoid, sigmoid_bound }, { WEFT_OP_TANH, tanhl, tanh_bound },
};

/* Share of the bound that a result uses; above 1: too much. */
static real share(const struct format *f, real got, real want, real bound)
{
	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got) ? 0 : INFINITY;
	if (isinf(want))
		return got == want ? 0 : INFINITY;
	if (isinf(got))  /* allowed where the interval reaches beyond the largest finite */
		return signbit(got) != signbit(want) || fabsl(want) + bound <= largest(f) ? INFINITY : fabsl(want) <= largest(f);
	if (got == want)
		return 0;
	return bound > 0 ? fabsl(got - want) / bound : INFINITY;
}

/* Elements 0..n-1 of x through the operator; the largest share. */
static real worst(const struct rule *r, const struct format *f, const weft_tensor *x)
{
	weft_tensor *y = TENSOR(f->type, x->dim[0]);
	real most = 0;

	const weft_attr no_zero_points = { .negate = { 0, 0 } };
	assert_int_equal(golden(r->op, &no_zero_points, y, x, NULL, NULL), 0);
	for (int64_t i = 0; i < x->dim[0]; i++) {
		real v = weft_get_f(x, i), got = weft_get_f(y, i), want = r->of(v);
		real s = share(f, got, want, isfinite(v) ? r->bound(f, v, want) : 0);
		if (s > 1)
			fail_msg("%s %s(%.9Lg): %.9Lg, exactly %.9Lg, allowed %.3Lg", weft_op_name(r->op), weft_dtype_name(f->type), v, got,
			         want, r->bound(f, v, want));
		most = fmaxl(most, s);
	}
	tensor_free(y);
	return most;
}

static void every_value(void **state)
{
	static const struct format *const formats[] = { &fp16, &bf16 };

	(void)state;
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		real most[2];
		for (int k = 0; k < 2; k++) {
			weft_tensor *x = TENSOR(formats[k]->type, 65536);
			for (int64_t v = 0; v < 65536; v++)
				weft_store_bits(x, v, (uint64_t)v);
			most[k] = worst(&rules[i], formats[k], x);
			tensor_free(x);
		}
		print_message("%-10s every fp16 %.3Lf, every bf16 %.3Lf of the bound\n", weft_op_name(rules[i].op), most[0], most[1]);
	}
}

static uint64_t seeded(void)
{
	return strtoull(test_env("WEFT_SEED", "1"), NULL, 0);
}

static void seeded_fp32(void **state)
{
	const long n = test_count(20000, 200000, 20000000);
	uint64_t seed = seeded();

	(void)state;
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		weft_tensor *x = TENSOR(WEFT_FP32, n);
		for (int64_t v = 0; v < n; v++)  /* half of them of any size, half near 1 */
			weft_store_bits(x, v, v % 2 ? test_random(&seed) & 0xffffffff
			                            : (test_random(&seed) & 0x83ffffff) | 0x3c000000);
		print_message("%-10s %ld fp32 values %.3Lf of the bound\n", weft_op_name(rules[i].op), n, worst(&rules[i], &fp32, x));
		tensor_free(x);
	}
}

/* x > 0 finite, and x = 0 with y > 0. */
static void powers(void **state)
{
	static const struct format *const formats[] = { &fp16, &bf16, &fp32 };
	const long n = test_count(20000, 200000, 20000000);
	uint64_t seed = seeded();

	(void)state;
	for (int k = 0; k < 3; k++) {
		const struct format *f = formats[k];
		weft_tensor *x = TENSOR(f->type, n), *e = TENSOR(f->type, n), *y = TENSOR(f->type, n);
		real most = 0;
		for (int64_t i = 0; i < n; i++) {
			weft_put_f(x, i, ldexp(1 + (double)(test_random(&seed) % 65536) / 65536, (int)(test_random(&seed) % 40) - 20));
			weft_put_f(e, i, ((double)(test_random(&seed) % 65536) / 32768 - 1) * 6);
		}
		assert_int_equal(golden(WEFT_OP_POW, NULL, y, x, e, NULL), 0);
		for (int64_t i = 0; i < n; i++) {
			real a = weft_get_f(x, i), b = weft_get_f(e, i), want = powl(a, b);
			real s = share(f, weft_get_f(y, i), want, abs_bound(f, want, base(f) + 7.5L * fabsl(logl(a) * b), 0, 1));
			if (s > 1)
				fail_msg("POW %s(%.9Lg, %.9Lg): %.9g, exactly %.9Lg", weft_dtype_name(f->type), a, b, weft_get_f(y, i), want);
			most = fmaxl(most, s);
		}
		print_message("POW %s: %ld pairs %.3Lf of the bound\n", weft_dtype_name(f->type), n, most);
		tensor_free(x);
		tensor_free(e);
		tensor_free(y);
	}
}

static real sum(real a, real b) { return a + b; }
static real difference(real a, real b) { return a - b; }
static real product(real a, real b) { return a * b; }

/* Correctly rounded: half a unit in the last place. Codes of any kind, and numbers near each other. */
static void pairs(void **state)
{
	static const struct format *const formats[] = { &fp16, &bf16, &fp32 };
	static const struct { weft_opcode op; real (*of)(real, real); } ops[] = {
		{ WEFT_OP_ADD, sum }, { WEFT_OP_SUB, difference }, { WEFT_OP_MUL, product },
	};
	const long n = test_count(20000, 200000, 20000000);
	const weft_attr no_shift = { .mul = { 0 } };
	uint64_t seed = seeded();

	(void)state;
	for (int k = 0; k < 9; k++) {
		const struct format *f = formats[k / 3];
		weft_tensor *x = TENSOR(f->type, n), *e = TENSOR(f->type, n), *y = TENSOR(f->type, n);
		real most = 0;
		for (int64_t i = 0; i < n; i++) {
			uint64_t a = test_random(&seed), b = i % 2 ? test_random(&seed) : a ^ (test_random(&seed) & 0x800fff);
			weft_store_bits(x, i, a & 0xffffffff);
			weft_store_bits(e, i, b & 0xffffffff);
		}
		assert_int_equal(golden(ops[k % 3].op, &no_shift, y, x, e, NULL), 0);
		for (int64_t i = 0; i < n; i++) {
			real a = weft_get_f(x, i), b = weft_get_f(e, i), want = ops[k % 3].of(a, b);
			real s = share(f, weft_get_f(y, i), want, isfinite(want) ? ulps(f, want, 0.5L) : 0);
			if (s > 1)
				fail_msg("%s %s(%.9Lg, %.9Lg): %.9g, exactly %.15Lg", weft_op_name(ops[k % 3].op), weft_dtype_name(f->type), a, b,
				         weft_get_f(y, i), want);
			most = fmaxl(most, s);
		}
		print_message("%s %s: %ld pairs %.3Lf of the bound\n", weft_op_name(ops[k % 3].op), weft_dtype_name(f->type), n, most);
		tensor_free(x);
		tensor_free(e);
		tensor_free(y);
	}
}

/* |result| * ((1 + 2^(-fraction-1))^n - 1) of lines of n. */
static void products(void **state)
{
	static const struct format *const formats[] = { &fp16, &bf16, &fp32 };
	const long n = test_count(500, 5000, 500000);
	const weft_attr last = { .axis = { .axis = 1 } };
	uint64_t seed = seeded();

	(void)state;
	for (int k = 0; k < 3; k++) {
		const struct format *f = formats[k];
		weft_tensor *x = TENSOR(f->type, n, 20), *y = TENSOR(f->type, n, 1);
		real most = 0;
		for (int64_t i = 0; i < 20 * n; i++)
			weft_put_f(x, i, (0.5 + (double)(test_random(&seed) % 65536) / 65536) * (test_random(&seed) % 2 ? 1 : -1));
		assert_int_equal(golden(WEFT_OP_REDUCE_PRODUCT, &last, y, x, NULL, NULL), 0);
		for (int64_t i = 0; i < n; i++) {
			real want = 1;
			for (int j = 0; j < 20; j++)
				want *= weft_get_f(x, 20 * i + j);
			real s = share(f, weft_get_f(y, i), want,
			               fmaxl(fabsl(want), normal_min(f)) * (powl(1 + ldexpl(1, -f->fraction - 1), 20) - 1));
			if (s > 1)
				fail_msg("REDUCE_PRODUCT %s: %.9g, exactly %.15Lg", weft_dtype_name(f->type), weft_get_f(y, i), want);
			most = fmaxl(most, s);
		}
		print_message("REDUCE_PRODUCT %s: %ld lines of 20, %.3Lf of the bound\n", weft_dtype_name(f->type), n, most);
		tensor_free(x);
		tensor_free(y);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value), cmocka_unit_test(seeded_fp32), cmocka_unit_test(powers), cmocka_unit_test(pairs), cmocka_unit_test(products),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison rules at their edges: the last value allowed and the first that is not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/convert.h>

#include "userlib/conform/judge.h"

static weft_tensor vec(weft_dtype t, int64_t n, void *data)
{
	return (weft_tensor){ .dtype = t, .rank = 1, .dim = { n, 1, 1, 1, 1, 1, 1, 1 }, .data = data };
}

/* One float result of type t against an FP64 reference and bound. */
static bool allowed(struct weft_judge j, weft_dtype t, double got, double want, double bnd)
{
	uint64_t bits = weft_float_encode(t, got, false);
	uint64_t other = weft_float_encode(t, want, false);
	weft_tensor y = vec(t, 1, &bits), expected = vec(t, 1, &other), ref = vec(WEFT_FP64, 1, &want);
	weft_tensor bound = vec(WEFT_FP64, 1, &bnd);
	char msg[WEFT_JUDGE_MSG] = "";
	int err = weft_judge(&j, &y, &expected, &ref, &bound, msg);

	assert_true((err == 0) == (msg[0] == '\0'));
	return err == 0;
}

static void ulp(void **state)
{
	struct weft_judge j = { .mode = WEFT_JUDGE_ULP, .ulp = 1 };

	(void)state;
	assert_true(allowed(j, WEFT_FP16, 1.0 + 0x1p-10, 1.0, 0));
	assert_false(allowed(j, WEFT_FP16, 1.0 + 0x1p-9, 1.0, 0));
	assert_true(allowed(j, WEFT_FP16, -1.0 - 0x1p-10, -1.0, 0));
	assert_true(allowed(j, WEFT_FP32, 3.0f + 0x1p-22f, 3.0, 0));
	assert_false(allowed(j, WEFT_FP32, 3.0f + 0x1p-21f, 3.0, 0));
	/* Half as much below. */
	j.ulp_lower = 0.5;
	assert_false(allowed(j, WEFT_BF16, 1.5 - 0x1p-7, 1.5, 0));
	assert_true(allowed(j, WEFT_BF16, 1.5 + 0x1p-7, 1.5, 0));
	/* Subnormals may be flushed, but not in float8; infinity may meet what is too large. */
	j.ulp_lower = 0;
	assert_true(allowed(j, WEFT_FP16, 0.0, 0x1p-15, 0));
	assert_false(allowed(j, WEFT_FP8E5M2, 0.0, 0x1.8p-15, 0));
	assert_true(allowed(j, WEFT_FP16, INFINITY, 65504.0, 0));
	assert_false(allowed(j, WEFT_FP16, INFINITY, 65408.0, 0));
	assert_true(allowed(j, WEFT_FP8E4M3, NAN, 448.0, 0));
	assert_false(allowed(j, WEFT_FP16, NAN, 1.0, 0));
	assert_true(allowed(j, WEFT_FP16, NAN, NAN, 0));
	assert_false(allowed(j, WEFT_FP16, 1.0, NAN, 0));
}

static void exact(void **state)
{
	const struct weft_judge j = { .mode = WEFT_JUDGE_EXACT };

	(void)state;
	assert_true(allowed(j, WEFT_BF16, -0.0, 0.0, 0));
	assert_true(allowed(j, WEFT_FP32, 1.25, 1.25, 0));
	assert_false(allowed(j, WEFT_FP32, 1.25f + 0x1p-23f, 1.25, 0));
	assert_true(allowed(j, WEFT_FP16, -INFINITY, -INFINITY, 0));
	assert_false(allowed(j, WEFT_FP16, INFINITY, -INFINITY, 0));
}

static void relative_and_product(void **state)
{
	struct weft_judge r = { .mode = WEFT_JUDGE_RELATIVE, .max = 8, .scale = 0.125, .ulp_bound = 2 };
	struct weft_judge p = { .mode = WEFT_JUDGE_REDUCE_PRODUCT, .n = 4 };

	(void)state;
	assert_true(allowed(r, WEFT_FP32, 6.0, 5.0, 0));
	assert_false(allowed(r, WEFT_FP32, 6.01, 5.0, 0));
	assert_true(allowed(p, WEFT_FP16, 1.0 + 0x1p-9, 1.0, 0));
	assert_false(allowed(p, WEFT_FP16, 1.0 + 0x1p-8, 1.0, 0));
}

static void abs_error(void **state)
{
	struct weft_judge j = { .mode = WEFT_JUDGE_ABS_ERROR, .base_bound = 1 };

	(void)state;
	/* 2^-23 * |ref| * (1 + bound) */
	assert_true(allowed(j, WEFT_FP32, 4.0f + 0x1p-20f, 4.0, 1));
	assert_false(allowed(j, WEFT_FP32, 4.0f + 0x1p-19f, 4.0, 1));
	j.max_compare = 0.5;
	assert_true(allowed(j, WEFT_FP32, 4.5, 4.0, 1));
	j.max_compare = 0;
	j.bound_as_magnitude = true;
	assert_true(allowed(j, WEFT_FP32, 4.0f + 0x1p-15f, 4.0, 256));
	assert_false(allowed(j, WEFT_FP32, 4.0f + 0x1p-14f, 4.0, 256));
	j.normal_divisor = 2;
	assert_true(allowed(j, WEFT_FP32, 4.0 + 0.125, 4.0, 256));
}

static void special(void **state)
{
	const struct weft_judge j = { .mode = WEFT_JUDGE_FP_SPECIAL };

	(void)state;
	assert_true(allowed(j, WEFT_FP32, 2.0, 7.0, 1));
	assert_false(allowed(j, WEFT_FP32, -2.0, 7.0, 1));
	assert_true(allowed(j, WEFT_FP32, -0.0, 0.0, 1));
	assert_false(allowed(j, WEFT_FP32, NAN, 7.0, 1));
	assert_true(allowed(j, WEFT_FP32, NAN, 7.0, NAN));
	assert_false(allowed(j, WEFT_FP32, INFINITY, 7.0, 1));
}

/* Single errors, their sum, and the sum of their squares. */
static void dot_product(void **state)
{
	struct weft_judge j = { .mode = WEFT_JUDGE_DOT_PRODUCT, .s = 0, .ksb = 4 };
	enum { N = 64 };
	float got[N];
	double want[N], bnd[N];
	weft_tensor y = vec(WEFT_FP32, N, got), ref = vec(WEFT_FP64, N, want), bound = vec(WEFT_FP64, N, bnd);
	char msg[WEFT_JUDGE_MSG];

	(void)state;
	/* One element: at most 2 * ksb units of bound * 2^-11, and sqrt(1.6 * ksb). */
	assert_true(allowed(j, WEFT_FP16, 1.0 + 0x1p-10, 1.0, 1));
	assert_false(allowed(j, WEFT_FP16, 1.0 + 0x1.8p-10, 1.0, 1));
	/* Bound 0: both 0; NaN bound: anything. */
	assert_false(allowed(j, WEFT_FP16, 0x1p-14, 0.0, 0));
	assert_true(allowed(j, WEFT_FP16, 0.0, 0.0, 0));
	assert_true(allowed(j, WEFT_FP16, 5.0, 1.0, NAN));
	assert_false(allowed(j, WEFT_FP16, 5.0, NAN, 1));
	for (int e = 0; e < 8; e++) {
		/* All errors are e units: squares allow 1.6 * ksb = 6.4 on average. */
		for (int i = 0; i < N; i++) {
			want[i] = 1.0;
			bnd[i] = 2.0;
			got[i] = 1.0f + (float)e * 0x1p-23f;
		}
		j.s = 0;
		assert_int_equal(weft_judge(&j, &y, &ref, &ref, &bound, msg), 1);  /* expected of another size */
		assert_int_equal(weft_judge(&j, &y, &y, &ref, &bound, msg), e > 2);
		/* Sets 3 to 5 must not lean to one side: |64 e| <= sqrt(10 * 6.4 * 64) = 64. */
		j.s = 4;
		assert_int_equal(weft_judge(&j, &y, &y, &ref, &bound, msg), e > 1);
	}
}

static void integers(void **state)
{
	int16_t y[3] = { 5, -5, (int16_t)0xfff0 }, same[3] = { 5, -5, (int16_t)0xfff0 }, lo[3] = { 4, -6, (int16_t)0xff00 };
	int16_t hi[3] = { 5, -5, -1 };
	uint8_t t1[2] = { 1, 0 }, t2[2] = { 255, 0 };
	weft_tensor a = vec(WEFT_INT16, 3, y), b = vec(WEFT_INT16, 3, same), l = vec(WEFT_INT16, 3, lo);
	weft_tensor h = vec(WEFT_INT16, 3, hi), p = vec(WEFT_BOOL, 2, t1), q = vec(WEFT_BOOL, 2, t2);
	const struct weft_judge exact_j = { .mode = WEFT_JUDGE_EXACT };
	struct weft_judge between = { .mode = WEFT_JUDGE_RESCALE_INEXACT };
	char msg[WEFT_JUDGE_MSG];

	(void)state;
	assert_int_equal(weft_judge(&exact_j, &a, &b, NULL, NULL, msg), 0);
	same[2]++;
	assert_int_equal(weft_judge(&exact_j, &a, &b, NULL, NULL, msg), 1);
	assert_string_equal(msg, "element 2 is -16, not -15");
	assert_int_equal(weft_judge(&exact_j, &p, &q, NULL, NULL, msg), 0);
	assert_int_equal(weft_judge(&between, &a, &b, &l, &h, msg), 0);
	y[0] = 6;
	assert_int_equal(weft_judge(&between, &a, &b, &l, &h, msg), 1);
	assert_string_equal(msg, "element 0 is 6, outside 4..5");
	y[0] = 4;
	lo[1] = -5;
	hi[1] = 5;
	assert_int_equal(weft_judge(&between, &a, &b, &l, &h, msg), 0);
	between.unsigned_data = true;
	assert_int_equal(weft_judge(&between, &a, &b, &l, &h, msg), 1);
	a.dim[0] = 2;
	assert_int_equal(weft_judge(&exact_j, &a, &b, NULL, NULL, msg), 1);
}

static void modes(void **state)
{
	(void)state;
	assert_int_equal(weft_judge_mode_of("EXACT"), WEFT_JUDGE_EXACT);
	assert_int_equal(weft_judge_mode_of("RESCALE_INEXACT"), WEFT_JUDGE_RESCALE_INEXACT);
	assert_int_equal(weft_judge_mode_of("ALMOST"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ulp),
		cmocka_unit_test(exact),
		cmocka_unit_test(relative_and_product),
		cmocka_unit_test(abs_error),
		cmocka_unit_test(special),
		cmocka_unit_test(dot_product),
		cmocka_unit_test(integers),
		cmocka_unit_test(modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pooling. The average is compared with integer division that rounds half
 * away from zero, the maximum with cases worked out by hand.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/golden_call.h"
#include "tests/support/tensors.h"

static int64_t half_away(int64_t sum, int64_t n)
{
	int64_t a = sum < 0 ? -sum : sum, q = (2 * a + n) / (2 * n);

	return sum < 0 ? -q : q;
}

/* One window over a row of n elements whose sum is given. */
static int64_t average(weft_dtype t, int64_t n, int64_t sum, int32_t x_zp, int32_t y_zp)
{
	weft_attr a = { .pool = { .kernel = { 1, (int32_t)n }, .stride = { 1, 1 }, .x_zp = x_zp,
		.y_zp = y_zp, .acc = WEFT_INT32 } };
	weft_tensor *x = TENSOR(t, 1, 1, n, 1), *y = TENSOR(t, 1, 1, 1, 1);
	int64_t each = sum / n, rest = sum % n, r;

	for (int64_t i = 0; i < n; i++)
		tensor_set(x, i, each + (i < (rest < 0 ? -rest : rest) ? (rest < 0 ? -1 : 1) : 0) + x_zp);
	assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y, x, NULL, NULL), 0);
	r = tensor_get(y, 0);
	tensor_free(x);
	tensor_free(y);
	return r;
}

static void average_rounds_half_away(void **state)
{
	(void)state;
	assert_int_equal(average(WEFT_INT8, 2, 3, 0, 0), 2);
	assert_int_equal(average(WEFT_INT8, 2, -3, 0, 0), -2);
	assert_int_equal(average(WEFT_INT8, 2, -1, 0, 0), -1);
	assert_int_equal(average(WEFT_INT8, 4, 1, 0, 0), 0);
	for (int64_t n = 1; n <= 65; n++) {
		for (int64_t sum = -128 * n; sum <= 127 * n; sum++) {
			if (average(WEFT_INT8, n, sum, 0, 0) != half_away(sum, n))
				fail_msg("sum %lld of %lld", (long long)sum, (long long)n);
		}
	}
}

static void average_of_large_windows(void **state)
{
	uint64_t r = 3;

	(void)state;
	for (int i = 0; i < 400; i++) {
		int64_t n = 1 + (int64_t)(test_random(&r) % 4096);
		int64_t sum = (int64_t)(test_random(&r) % (uint64_t)(255 * n)) - 128 * n;
		int64_t tie = n * (int64_t)(test_random(&r) % 200) - 100 * n + n / 2;

		assert_int_equal(average(WEFT_INT8, n, sum, 0, 0), half_away(sum, n));
		assert_int_equal(average(WEFT_INT8, n, tie, 0, 0), half_away(tie, n));
		assert_int_equal(average(WEFT_INT16, n, sum * 256, 0, 0), half_away(sum * 256, n));
	}
}

static void average_zero_points_and_clip(void **state)
{
	(void)state;
	assert_int_equal(average(WEFT_INT8, 2, 3, 10, -20), 2 - 20);
	assert_int_equal(average(WEFT_INT8, 1, 100, 20, 90), 127);
	assert_int_equal(average(WEFT_INT8, 1, -100, -20, -90), -128);
}

/* A 2x2 image under a padded 3x3 window: only what is inside is counted. */
static void average_counts_inside(void **state)
{
	weft_attr a = { .pool = { .kernel = { 3, 3 }, .stride = { 1, 1 }, .pad = { 1, 1, 1, 1 }, .acc = WEFT_INT32 } };
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 1, 2, 2, 1), 10, 20, 30, 41), *y = TENSOR(WEFT_INT8, 1, 2, 2, 1);

	(void)state;
	assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y, x, NULL, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(tensor_get(y, i), 25); /* 101/4 */
	tensor_free(x);
	tensor_free(y);
}

static void maximum(void **state)
{
	weft_attr a = { .pool = { .kernel = { 2, 3 }, .stride = { 2, 2 }, .pad = { 0, 0, 1, 0 } } };
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 1, 2, 4, 2),
		-1, 5, -2, 6, -3, 7, -4, 8,
		-9, 1, -128, 2, -7, 3, -6, 127);
	weft_tensor *y = TENSOR(WEFT_INT8, 1, 1, 2, 2);

	(void)state;
	assert_int_equal(golden(WEFT_OP_MAX_POOL2D, &a, y, x, NULL, NULL), 0);
	assert_int_equal(tensor_get(y, 0), -1);
	assert_int_equal(tensor_get(y, 1), 6);
	assert_int_equal(tensor_get(y, 2), -2);
	assert_int_equal(tensor_get(y, 3), 127);
	tensor_free(x);
	tensor_free(y);
}

static void rules_bad(void **state)
{
	const struct weft_attr_pool ok = { .kernel = { 2, 2 }, .stride = { 2, 2 }, .acc = WEFT_INT32 };
	weft_tensor *x = TENSOR(WEFT_INT8, 1, 4, 4, 2), *y = TENSOR(WEFT_INT8, 1, 2, 2, 2);
	weft_tensor *x16 = TENSOR(WEFT_INT16, 1, 4, 4, 2), *y16 = TENSOR(WEFT_INT16, 1, 2, 2, 2);
	weft_attr a = { .pool = ok };

	(void)state;
	assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y, x, NULL, NULL), 0);
#define BAD(member, value) do { \
		a.pool = ok; \
		a.pool.member = value; \
		assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y, x, NULL, NULL), -EINVAL); \
		assert_int_equal(strncmp(golden_msg, "AVG_POOL2D: ", 12), 0); \
	} while (0)
	BAD(kernel[0], 0);
	BAD(kernel[0], 3);
	BAD(kernel[1], INT32_MAX);
	BAD(kernel[1], INT32_MIN);
	BAD(stride[0], 0);
	BAD(stride[0], -2);
	BAD(stride[1], 3);
	BAD(pad[0], -1);
	BAD(pad[1], 2);
	BAD(pad[2], 1);
	BAD(acc, WEFT_INT48);
	BAD(x_zp, 128);
	BAD(y_zp, -129);
	a.pool = ok;
	assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y16, x16, NULL, NULL), 0);
	a.pool.x_zp = 1;
	assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y16, x16, NULL, NULL), -EINVAL);
	a.pool = ok;
	assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y16, x, NULL, NULL), -EINVAL);
	y->dim[3] = 1;
	assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y, x, NULL, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
	tensor_free(x16);
	tensor_free(y16);
}

/* A window far beyond the image must cost no more than the image. */
static void huge_kernel(void **state)
{
	weft_attr a = { .pool = { .kernel = { INT32_MAX, INT32_MAX }, .stride = { 1, 1 },
		.pad = { INT32_MAX - 2, 0, 0, INT32_MAX - 2 }, .acc = WEFT_INT32 } };
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 1, 2, 2, 1), 1, 2, 3, 4), *y = TENSOR(WEFT_INT8, 1, 1, 1, 1);

	(void)state;
	assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y, x, NULL, NULL), 0);
	assert_int_equal(tensor_get(y, 0), 3); /* 10/4 */
	assert_int_equal(golden(WEFT_OP_MAX_POOL2D, &a, y, x, NULL, NULL), 0);
	assert_int_equal(tensor_get(y, 0), 4);
	tensor_free(x);
	tensor_free(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(average_rounds_half_away),
		cmocka_unit_test(average_of_large_windows),
		cmocka_unit_test(average_zero_points_and_clip),
		cmocka_unit_test(average_counts_inside),
		cmocka_unit_test(maximum),
		cmocka_unit_test(rules_bad),
		cmocka_unit_test(huge_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

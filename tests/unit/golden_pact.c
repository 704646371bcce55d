/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PACT_*: what Deeploy's networks do not reach, against the definitions in real
 * numbers: quotients of both kinds with negative numbers and broadcasting, rows
 * whose maximum grows from group to group, limits.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/golden/golden.h"
#include "tests/support/tensors.h"

#define ROWS 40
#define WIDE 24

static weft_tensor matrix(int64_t h, int64_t w, int32_t *data)
{
	return (weft_tensor){ .dtype = WEFT_INT32, .rank = 2, .dim = { h, w, 1, 1, 1, 1, 1, 1 }, .data = data };
}

static int run(weft_opcode op, const weft_attr *a, const weft_tensor *const *x, int n, int32_t *y)
{
	char msg[WEFT_GOLDEN_MSG];
	weft_tensor t = matrix(ROWS, WIDE, y);

	return weft_golden_run(op, a, x, n, (weft_tensor *[]){ &t }, 1, false, msg);
}

static int32_t draw(uint64_t *r, int32_t magnitude)
{
	return (int32_t)(test_random(r) % (2 * (uint64_t)magnitude + 1)) - magnitude;
}

/* Exact: quotients of numbers below 2^53 are never rounded across an integer or a half. */
static void quotients(void **state)
{
	static int32_t x[ROWS * WIDE], d[WIDE], y[ROWS * WIDE];
	const weft_tensor tx = matrix(ROWS, WIDE, x), td = matrix(1, WIDE, d);
	uint64_t r = 1;

	(void)state;
	for (int i = 0; i < ROWS * WIDE; i++)
		x[i] = draw(&r, i % 3 ? 50 : 1 << 20);
	for (int i = 0; i < WIDE; i++)
		d[i] = 1 + (int32_t)(test_random(&r) % (i % 2 ? 8 : 1000));
	for (int k = 0; k < 4; k++) {
		const bool truncate = k & 1;
		const int32_t eps = k & 2;   /* 0: quotients that are a half */
		weft_attr a = { .pact_div = { 3, eps, 4, truncate } };
		assert_int_equal(run(WEFT_OP_PACT_DIV, &a, (const weft_tensor *[]){ &tx, &td }, 2, y), 0);
		for (int i = 0; i < ROWS * WIDE; i++) {
			double q = 12.0 * x[i] / (4.0 * d[i % WIDE] + eps);
			assert_int_equal(y[i], (int32_t)(truncate ? trunc(q) : floor(q + 0.5)));
		}
	}
	d[3] = -1;
	weft_attr a = { .pact_div = { 3, 2, 4, false } };
	assert_int_not_equal(run(WEFT_OP_PACT_DIV, &a, (const weft_tensor *[]){ &tx, &td }, 2, y), 0);
}

static double half_up(double v)
{
	return floor(v + 0.5);
}

static void ita(void **state)
{
	static int32_t x[ROWS * WIDE], y[ROWS * WIDE];
	const weft_tensor tx = matrix(ROWS, WIDE, x);
	uint64_t r = 2;

	(void)state;
	for (int i = 0; i < ROWS * WIDE; i++)   /* even rows: the maximum grows */
		x[i] = i / WIDE % 2 ? draw(&r, 127) : -128 + 10 * (i % WIDE) + draw(&r, 15);
	for (int group = 1; group <= WIDE; group++) {
		weft_attr a = { .pact_ita_max = { group, group == WIDE ? 255 : 127 } };
		int err = run(WEFT_OP_PACT_ITA_MAX, &a, (const weft_tensor *[]){ &tx }, 1, y);

		assert_int_equal(err != 0, WIDE % group != 0);
		for (int row = 0; row < ROWS && !err; row++) {
			const int32_t *v = x + row * WIDE;
			double top = v[0], sum = 0;

			for (int g = 0; g < WIDE; g += group) {
				double before = top;
				for (int i = g; i < g + group; i++)
					top = fmax(top, v[i]);
				sum = floor(sum / exp2(half_up((top - before) / 32)));
				for (int i = g; i < g + group; i++)
					sum += floor(256 / exp2(half_up((top - v[i]) / 32)));
			}
			for (int i = 0; i < WIDE; i++)
				assert_int_equal(y[row * WIDE + i],
				                 (int)floor(floor(a.pact_ita_max.most * 256 / sum) / exp2(half_up((top - v[i]) / 32))));
		}
	}
}

/* Exponentials beyond 2^62 steps below the maximum are 0; a row of equal elements is divided evenly. */
static void softmax(void **state)
{
	static int32_t x[ROWS * WIDE], y[ROWS * WIDE];
	const weft_tensor tx = matrix(ROWS, WIDE, x);
	weft_attr a = { .pact_softmax = { 1, 345, 255, 256, 62395 } };

	(void)state;
	for (int i = 0; i < ROWS * WIDE; i++)
		x[i] = i < WIDE ? 7 : i % WIDE == 5 ? INT32_MAX : INT32_MIN;
	assert_int_equal(run(WEFT_OP_PACT_SOFTMAX, &a, (const weft_tensor *[]){ &tx }, 1, y), 0);
	for (int i = 0; i < ROWS * WIDE; i++)
		assert_int_equal(y[i], i < WIDE ? 255 / WIDE : i % WIDE == 5 ? 255 : 0);
	/* e below 2^18, its product below 2^26: doubles hold them */
	a.pact_softmax = (struct weft_attr_pact_softmax){ 1, 345, 3, 256, 62395 };
	for (int i = 0; i < ROWS * WIDE; i++)
		x[i] = 40 - i % WIDE * (i / WIDE);
	assert_int_equal(run(WEFT_OP_PACT_SOFTMAX, &a, (const weft_tensor *[]){ &tx }, 1, y), 0);
	for (int row = 0; row < ROWS; row++) {
		double e[WIDE], sum = 0;

		for (int i = 0; i < WIDE; i++) {
			double d = x[row * WIDE + i] - 40, z = floor(-d / 3), p = d + z * 3;
			sum += e[i] = floor((pow(p + 345, 2) + 62395) / exp2(z));
		}
		for (int i = 0; i < WIDE; i++)
			assert_int_equal(y[row * WIDE + i], (int)floor(e[i] * 255 / sum));
	}
	a.pact_softmax.log2 = 0;
	assert_int_not_equal(run(WEFT_OP_PACT_SOFTMAX, &a, (const weft_tensor *[]){ &tx }, 1, y), 0);
}

static void layer_norm(void **state)
{
	static int32_t x[ROWS * WIDE], w[WIDE], b = -70000, y[ROWS * WIDE];
	weft_tensor tx = matrix(ROWS, WIDE, x), tw = matrix(WIDE, 1, w), tb = matrix(1, 1, &b);
	weft_attr a = { .requant_shift = { 12, -128, 127 } };
	uint64_t r = 3;

	(void)state;
	tw.rank = tb.rank = 1;
	for (int i = 0; i < ROWS * WIDE; i++)
		x[i] = i < WIDE ? 9 : draw(&r, i < ROWS * WIDE / 2 ? 128 : 1 << 20);
	for (int i = 0; i < WIDE; i++)
		w[i] = draw(&r, 400000);
	assert_int_equal(run(WEFT_OP_PACT_LAYER_NORM, &a, (const weft_tensor *[]){ &tx, &tw, &tb }, 3, y), 0);
	for (int row = 0; row < ROWS; row++) {
		const int32_t *v = x + row * WIDE;
		double sum = 0, squares = 0;

		for (int i = 0; i < WIDE; i++)
			sum += v[i];
		double mean = trunc(sum / WIDE);
		for (int i = 0; i < WIDE; i++)
			squares += (v[i] - mean) * (v[i] - mean);
		double s = floor(sqrt(floor(squares / WIDE) + 1));
		for (int i = 0; i < WIDE; i++) {
			double q = floor((trunc((v[i] - mean) * w[i] / s) + b) / 4096);
			assert_int_equal(y[row * WIDE + i], (int)fmin(127, fmax(-128, q)));
		}
	}
	x[0] = 1 << 21;
	assert_int_not_equal(run(WEFT_OP_PACT_LAYER_NORM, &a, (const weft_tensor *[]){ &tx, &tw, &tb }, 3, y), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotients),
		cmocka_unit_test(ita),
		cmocka_unit_test(softmax),
		cmocka_unit_test(layer_norm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

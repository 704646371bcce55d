/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The float8 dot product against its definition in fp64: products, their
 * scaling and floor(v + 1/2) are exact there (8 significant bits).
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

#include <weft/convert.h>

#include "sim/golden/float/dot.h"
#include "tests/support/golden_call.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

static const weft_dtype types[] = { WEFT_FP8E4M3, WEFT_FP8E5M2, WEFT_FP8E4M3FNUZ, WEFT_FP8E5M2FNUZ };
static struct weft_fp8_operand table[4][256];

static int setup(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++)
		weft_fp8_operands(types[k], table[k]);
	return 0;
}

/* The running sum in units of 2^-28, or an infinity or NaN. */
struct model { double sum; };

static void model_add(struct model *m, double x, double w, int s)
{
	double p = x * w;

	if (isfinite(p)) {
		p = floor(ldexp(p, s + 28) + 0.5);
		if (p < -0x1p47 || p > 0x1p47 - 1)
			p = copysign(INFINITY, p);
	}
	m->sum += p;               /* integers below 2^48: exact */
	if (isfinite(m->sum) && (m->sum < -0x1p47 || m->sum > 0x1p47 - 1))
		m->sum = copysign(INFINITY, m->sum);
}

static uint16_t model_result(const struct model *m)
{
	if (isnan(m->sum))
		return 0x7e00;
	/* No minus zero; one rounding. */
	return (uint16_t)weft_float_encode(WEFT_FP16, ldexp(m->sum, -28) + 0.0, false);
}

/* Every product of every pair of encodings, alone, at several scales. */
static void all_products(void **state)
{
	static const int scales[] = { 0, -32, -7, 5, 31 };

	(void)state;
	for (int kx = 0; kx < 4; kx++)
		for (int kw = 0; kw < 4; kw++)
			for (int c = 0; c < 65536; c++)
				for (int i = 0; i < 5; i++) {
					struct weft_fp8_sum s = { 0 };
					struct model m = { 0 };

					weft_fp8_add(&s, table[kx][c >> 8], table[kw][c & 255], scales[i]);
					model_add(&m, weft_float_decode(types[kx], c >> 8), weft_float_decode(types[kw], c & 255), scales[i]);
					assert_int_equal(weft_fp8_sum_fp16(&s), model_result(&m));
				}
}

/* In range and with nothing below the LSB, E4M3 products are fp16's own. */
static void e4m3_products_are_exact(void **state)
{
	(void)state;
	for (int c = 0; c < 65536; c++) {
		struct weft_fp8_sum s = { 0 };
		double p = weft_float_decode(WEFT_FP8E4M3, c >> 8) * weft_float_decode(WEFT_FP8E4M3, c & 255);

		weft_fp8_add(&s, table[0][c >> 8], table[0][c & 255], 0);
		if (!isnan(p))
			assert_int_equal(weft_fp8_sum_fp16(&s), weft_float_encode(WEFT_FP16, p + 0.0, false));
		else
			assert_int_equal(weft_fp8_sum_fp16(&s), 0x7e00);
	}
}

static void random_sums(void **state)
{
	uint64_t seed = test_seed(3);

	(void)state;
	for (long i = 0; i < test_count(20000, 200000, 5000000); i++) {
		uint64_t r = test_random(&seed);
		int kx = r & 3, kw = r >> 2 & 3, s = (int)(r >> 4 & 63) - 32, n = 1 + (int)(r >> 10 & 63);
		bool large = r >> 20 & 1;      /* mostly large operands: overflow and infinities */
		struct weft_fp8_sum sum = { 0 };
		struct model m = { 0 };

		if (r >> 21 & 3)
			s = (int)(r >> 30 & 3) - 1;
		for (int j = 0; j < n; j++) {
			uint64_t v = test_random(&seed);
			int x = v & 255, w = v >> 8 & 255;

			if (large && (v >> 16 & 15)) {
				x = (x & 0x83) | 0x78;
				w = (w & 0x83) | 0x78;
			} else if (v >> 20 & 15) {   /* seldom NaN or infinity */
				x &= 0xbf;
				w &= 0xbf;
			}
			if (types[kx] >= WEFT_FP8E4M3FNUZ && x == 0x80)
				x = 0;
			if (types[kw] >= WEFT_FP8E4M3FNUZ && w == 0x80)
				w = 0;
			weft_fp8_add(&sum, table[kx][x], table[kw][w], s);
			model_add(&m, weft_float_decode(types[kx], x), weft_float_decode(types[kw], w), s);
			assert_int_equal(weft_fp8_sum_fp16(&sum), model_result(&m));
		}
	}
}

/* Codes of E5M2: 57344 is 7b, 1 is 3c, 2^-16 is 01, infinity 7c. */
static uint16_t e5m2_sum(const int (*pairs)[2], int n)
{
	struct weft_fp8_sum s = { 0 };

	for (int i = 0; i < n; i++)
		weft_fp8_add(&s, table[1][pairs[i][0]], table[1][pairs[i][1]], 0);
	return weft_fp8_sum_fp16(&s);
}
#define E5M2_SUM(...) e5m2_sum((const int[][2]){ __VA_ARGS__ }, (int)(sizeof((const int[][2]){ __VA_ARGS__ }) / sizeof(int[2])))

static void edges(void **state)
{
	(void)state;
	/* A product beyond 2^19 is infinite, and stays so. */
	assert_int_equal(E5M2_SUM({ 0x7b, 0x4c }, { 0xfb, 0x3c }), 0x7c00);
	/* Infinities of two signs. */
	assert_int_equal(E5M2_SUM({ 0x7b, 0x7b }, { 0xfb, 0x7b }), 0x7e00);
	/* 9 * 57344 fits below 2^19, 10 times does not; a finite term does not bring it back. */
	assert_int_equal(E5M2_SUM({ 0x7b, 0x48 }, { 0xfb, 0x48 }), 0);
	assert_int_equal(E5M2_SUM({ 0x7b, 0x48 }, { 0x7b, 0x3c }, { 0xfb, 0x48 }, { 0xfb, 0x3c }), 0);
	assert_int_equal(E5M2_SUM({ 0x7b, 0x48 }, { 0x7b, 0x40 }, { 0xfb, 0x48 }, { 0xfb, 0x3c }), 0x7c00);
	/* -2^19 is in range, +2^19 is not: 2^15 * 16. */
	assert_int_equal(E5M2_SUM({ 0xf8, 0x4c }, { 0x78, 0x44 }, { 0x78, 0x44 }, { 0x78, 0x44 }, { 0x78, 0x44 }), 0);
	assert_int_equal(E5M2_SUM({ 0x78, 0x4c }, { 0xf8, 0x44 }, { 0xf8, 0x44 }, { 0xf8, 0x44 }, { 0xf8, 0x44 }), 0x7c00);
	/* Half an LSB rounds up, whatever its sign: 2^-29 gives 2^-28, -2^-29 gives 0. */
	struct weft_fp8_sum s = { 0 };
	weft_fp8_add(&s, table[1][0x02], table[1][0x04], 0);   /* 2^-15 * 2^-14 */
	assert_int_equal(s.a, 1);
	weft_fp8_add(&s, table[1][0x82], table[1][0x04], 0);
	assert_int_equal(s.a, 1);
	/* Zero times infinity; minus zero is no result. */
	assert_int_equal(E5M2_SUM({ 0x00, 0x7c }), 0x7e00);
	assert_int_equal(E5M2_SUM({ 0x80, 0x3c }), 0);
	/* fp16: 65519 rounds down, 65520 to infinity (both within the accumulator). */
	assert_int_equal(E5M2_SUM({ 0x7b, 0x3c }, { 0x70, 0x3c }, { 0xcc, 0x3c }, { 0xbc, 0x3c }), 0x7bff);
	assert_int_equal(E5M2_SUM({ 0x7b, 0x3c }, { 0x70, 0x3c }, { 0xcc, 0x3c }), 0x7c00);
}

static void fp16_bias(void **state)
{
	(void)state;
	assert_int_equal(weft_fp16_add(0x3c00, 0x1000), 0x3c00);   /* 1 + 2^-11: a tie, to even */
	assert_int_equal(weft_fp16_add(0x3c01, 0x1000), 0x3c02);
	assert_int_equal(weft_fp16_add(0x7bff, 0x7bff), 0x7c00);
	assert_int_equal(weft_fp16_add(0x7c00, 0xfc00), 0x7e00);
	assert_int_equal(weft_fp16_add(0x8000, 0x8000), 0x8000);
	assert_int_equal(weft_fp16_add(0x0001, 0x0001), 0x0002);
}

/* Padding gives no product: an infinite weight beyond the edge does not matter. */
static void padding(void **state)
{
	weft_attr a = { .conv = { .pad = { 1, 0, 0, 0 }, .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_FP16 } };
	weft_tensor *x = VALUES(TENSOR(WEFT_FP8E5M2, 1, 1, 1, 1), 0x40), *w = VALUES(TENSOR(WEFT_FP8E5M2, 1, 2, 1, 1), 0x7c, 0x40),
	            *b = VALUES(TENSOR(WEFT_FP16, 1), 0x3c00), *y = TENSOR(WEFT_FP16, 1, 1, 1, 1);

	(void)state;
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), 0);
	assert_int_equal(((uint16_t *)y->data)[0], 0x4500);        /* 2 * 2 + 1 */
	a.conv.log2_scale = -2;
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), 0);
	assert_int_equal(((uint16_t *)y->data)[0], 0x4000);        /* 2 * 2 / 4 + 1 */
	a.conv.log2_scale = 32;
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), -EINVAL);
	tensor_free(x);
	tensor_free(w);
	tensor_free(b);
	tensor_free(y);
}

/* MATMUL adds along c in order; FNUZ operands of both kinds may meet. */
static void matmul(void **state)
{
	weft_attr a = { .matmul = { .log2_scale = 3 } };
	weft_tensor *x = VALUES(TENSOR(WEFT_FP8E4M3FNUZ, 1, 1, 3), 0x40, 0x48, 0xc0),
	            *w = VALUES(TENSOR(WEFT_FP8E5M2FNUZ, 1, 3, 2), 0x40, 0x44, 0x40, 0x44, 0x40, 0x80), *y = TENSOR(WEFT_FP16, 1, 1, 2);

	(void)state;
	assert_int_equal(golden(WEFT_OP_MATMUL, &a, y, x, w, NULL), 0);
	assert_int_equal(((uint16_t *)y->data)[0], 0x4c00);        /* (1 + 2 - 1) * 8 */
	assert_int_equal(((uint16_t *)y->data)[1], 0x7e00);
	tensor_free(x);
	tensor_free(w);
	tensor_free(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_products), cmocka_unit_test(e4m3_products_are_exact), cmocka_unit_test(random_sums),
		cmocka_unit_test(edges), cmocka_unit_test(fp16_bias), cmocka_unit_test(padding), cmocka_unit_test(matmul),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension operators. Softmax and logistic are held against the real
 * functions: fixed point may miss the rounded softmax by one, and seldom does.
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

static double softmax(const int8_t *x, int n, int i, double scale)
{
	double sum = 0;

	for (int j = 0; j < n; j++)
		sum += exp((x[j] - x[i]) * scale);
	return 1 / sum;
}

static void softmax_close_to_real(void **state)
{
	static const float scales[] = { 1.0f / 256, 0.05f, 0.1f, 0.1875f, 0.5f, 1.0f, 3.0f };
	uint64_t r = 6;
	int n_all = 0, n_off = 0;

	(void)state;
	for (int k = 0; k < 700; k++) {
		weft_attr a = { .tfl_softmax = { .x_scale = scales[k % 7], .beta = 1.0f } };
		int n = 1 + (int)(test_random(&r) % 300);
		weft_tensor *x = tensor_random(TENSOR(WEFT_INT8, 2, n), &r), *y = TENSOR(WEFT_INT8, 2, n);

		assert_int_equal(golden(WEFT_OP_TFL_SOFTMAX, &a, y, x, NULL, NULL), 0);
		for (int i = 0; i < 2 * n; i++) {
			double p = softmax((int8_t *)x->data + i / n * n, n, i % n, (double)scales[k % 7]);
			int64_t want = (int64_t)fmin(127, round(p * 256) - 128), got = tensor_get(y, i);

			if (llabs(want - got) > 1)
				fail_msg("scale %g, n %d: %lld, real %g", (double)scales[k % 7], n, (long long)got, p * 256 - 128);
			n_off += want != got;
			n_all++;
		}
		tensor_free(x);
		tensor_free(y);
	}
	assert_true(n_off * 1000 < n_all);
}

static void softmax_by_hand(void **state)
{
	weft_attr a = { .tfl_softmax = { .x_scale = 0.1f, .beta = 1.0f } };
	weft_tensor *x = TENSOR(WEFT_INT8, 4), *y = TENSOR(WEFT_INT8, 4), *y16 = TENSOR(WEFT_INT16, 4);
	weft_tensor *x16 = TENSOR(WEFT_INT16, 4);

	(void)state;
	assert_int_equal(golden(WEFT_OP_TFL_SOFTMAX, &a, y, x, NULL, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(tensor_get(y, i), 64 - 128);
	assert_int_equal(golden(WEFT_OP_TFL_SOFTMAX, &a, y16, x, NULL, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(tensor_get(y16, i), 16384 - 32768);
	/* differences too small to count, and a sum of one: clipped at 255/256 */
	a.tfl_softmax.x_scale = 1.0f;
	VALUES(x, 127, 0, -1, -128);
	assert_int_equal(golden(WEFT_OP_TFL_SOFTMAX, &a, y, x, NULL, NULL), 0);
	assert_int_equal(tensor_get(y, 0), 127);
	for (int i = 1; i < 4; i++)
		assert_int_equal(tensor_get(y, i), -128);
	assert_int_equal(golden(WEFT_OP_TFL_SOFTMAX, &a, y, x16, NULL, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
	tensor_free(y16);
	tensor_free(x16);
}

/*
 * Two tables of 513 entries: exp(0) alone reads 5 steps of 2^-15 too low, and
 * an element below exp(-10) still counts as 1 or 2.
 */
static void softmax16_close_to_real(void **state)
{
	static const float scales[] = { 1.0f / 32768, 0.0001f, 0.001f, 0.01f };
	uint64_t r = 9;

	(void)state;
	for (int k = 0; k < 200; k++) {
		weft_attr a = { .tfl_softmax = { .x_scale = scales[k % 4], .beta = 1.0f } };
		int n = 1 + (int)(test_random(&r) % 100);
		weft_tensor *x = tensor_random(TENSOR(WEFT_INT16, n), &r), *y = TENSOR(WEFT_INT16, n);
		const int16_t *v = x->data;

		assert_int_equal(golden(WEFT_OP_TFL_SOFTMAX, &a, y, x, NULL, NULL), 0);
		for (int i = 0; i < n; i++) {
			double sum = 0;

			for (int j = 0; j < n; j++)
				sum += exp((v[j] - v[i]) * (double)scales[k % 4]);
			if (fabs((double)tensor_get(y, i) - 32768 / sum) > 16 + 2 * n)
				fail_msg("scale %g, n %d: %lld, real %g", (double)scales[k % 4], n,
				         (long long)tensor_get(y, i), 32768 / sum);
		}
		tensor_free(x);
		tensor_free(y);
	}
}

/* Rows so long that the sums wrap: any answer, but an answer. */
static void softmax_long_rows(void **state)
{
	weft_attr a = { .tfl_softmax = { .x_scale = 0.1f, .beta = 1.0f } };

	(void)state;
	for (int64_t n = 131070; n < 131080; n++) {
		weft_tensor *x = TENSOR(WEFT_INT8, n), *y = TENSOR(WEFT_INT8, n);
		weft_tensor *x16 = TENSOR(WEFT_INT16, n), *y16 = TENSOR(WEFT_INT16, n);

		assert_int_equal(golden(WEFT_OP_TFL_SOFTMAX, &a, y, x, NULL, NULL), 0);
		assert_int_equal(golden(WEFT_OP_TFL_SOFTMAX, &a, y16, x16, NULL, NULL), 0);
		tensor_free(x);
		tensor_free(y);
		tensor_free(x16);
		tensor_free(y16);
	}
}

/* Scales at and beyond every limit: an answer or a refusal, never a fault. */
static void softmax_odd_scales(void **state)
{
	static const float scale[] = { 0, -1, 1e-30f, 1e-8f, 1.5e-8f, 31, 32, 1e9f, 1e30f, INFINITY, NAN };
	static const int want[] = { -EINVAL, -EINVAL, -EINVAL, -EINVAL, 0, 0, 0, 0, 0, 0, -EINVAL };
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 3), 127, 126, -128), *y = TENSOR(WEFT_INT8, 3);

	(void)state;
	for (size_t i = 0; i < sizeof(scale) / sizeof(scale[0]); i++) {
		weft_attr a = { .tfl_softmax = { .x_scale = scale[i], .beta = 1.0f } };

		weft_tensor *x16 = VALUES(TENSOR(WEFT_INT16, 3), 32767, 32766, -32768), *y16 = TENSOR(WEFT_INT16, 3);
		int err = golden(WEFT_OP_TFL_SOFTMAX, &a, y16, x16, NULL, NULL);

		assert_true(err == 0 || err == -EINVAL);
		tensor_free(x16);
		tensor_free(y16);
		assert_int_equal(golden(WEFT_OP_TFL_SOFTMAX, &a, y, x, NULL, NULL), want[i]);
		if (want[i] == 0 && scale[i] >= 31)
			assert_int_equal(tensor_get(y, 0), 127);
	}
	tensor_free(x);
	tensor_free(y);
}

static void logistic(void **state)
{
	weft_attr a = { .quant = { .x_scale = 0.05f, .x_zp = 3, .y_scale = 1.0f / 256, .y_zp = -128 } };
	weft_tensor *x = TENSOR(WEFT_INT8, 256), *y = TENSOR(WEFT_INT8, 256);

	(void)state;
	for (int q = -128; q < 128; q++)
		tensor_set(x, q + 128, q);
	assert_int_equal(golden(WEFT_OP_TFL_LOGISTIC, &a, y, x, NULL, NULL), 0);
	assert_int_equal(tensor_get(y, 128 + 3), 0); /* 1/2 */
	for (int q = -128; q < 128; q++) {
		double p = 1 / (1 + exp(-(q - 3) * (double)0.05f)) * 256 - 128;

		assert_true(fabs(tensor_get(y, q + 128) - p) <= 0.5 || tensor_get(y, q + 128) == 127);
	}
	a.quant.y_scale = 0;
	assert_int_equal(golden(WEFT_OP_TFL_LOGISTIC, &a, y, x, NULL, NULL), -EINVAL);
	a.quant.y_scale = 1e-30f;
	assert_int_equal(golden(WEFT_OP_TFL_LOGISTIC, &a, y, x, NULL, NULL), 0);
	assert_int_equal(tensor_get(y, 0), 127);
	tensor_free(x);
	tensor_free(y);
}

static void quantize(void **state)
{
	weft_attr a = { .quant = { .y_scale = 0.5f, .y_zp = -1 } };
	weft_tensor *x = TENSOR(WEFT_FP32, 9), *y = TENSOR(WEFT_INT8, 9);
	const float v[9] = { 0.25f, -0.25f, 0.24f, 0.75f, 1000, -1000, INFINITY, -INFINITY, NAN };
	const int want[9] = { 0, -2, -1, 1, 127, -128, 127, -128, -1 };

	(void)state;
	memcpy(x->data, v, sizeof(v));
	assert_int_equal(golden(WEFT_OP_TFL_QUANTIZE, &a, y, x, NULL, NULL), 0);
	for (int i = 0; i < 9; i++)
		assert_int_equal(tensor_get(y, i), want[i]);
	y->dtype = WEFT_UINT8;
	assert_int_equal(golden(WEFT_OP_TFL_QUANTIZE, &a, y, x, NULL, NULL), -EINVAL);
	a.quant.y_zp = 128;
	assert_int_equal(golden(WEFT_OP_TFL_QUANTIZE, &a, y, x, NULL, NULL), 0);
	assert_int_equal(tensor_get(y, 0), 129);
	assert_int_equal(tensor_get(y, 5), 0);
	y->dtype = WEFT_INT32;
	assert_int_equal(golden(WEFT_OP_TFL_QUANTIZE, &a, y, x, NULL, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
}

static void dequantize(void **state)
{
	weft_attr a = { .quant = { .x_scale = 0.1f, .x_zp = 3 } };
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 3), 3, -128, 127), *y = TENSOR(WEFT_FP32, 3);

	(void)state;
	assert_int_equal(golden(WEFT_OP_TFL_DEQUANTIZE, &a, y, x, NULL, NULL), 0);
	assert_true(((float *)y->data)[0] == 0.0f);
	assert_true(((float *)y->data)[1] == 0.1f * -131.0f);
	assert_true(((float *)y->data)[2] == 0.1f * 124.0f);
	a.quant.x_scale = NAN;
	assert_int_equal(golden(WEFT_OP_TFL_DEQUANTIZE, &a, y, x, NULL, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(softmax_close_to_real),
		cmocka_unit_test(softmax_by_hand),
		cmocka_unit_test(softmax16_close_to_real),
		cmocka_unit_test(softmax_long_rows),
		cmocka_unit_test(softmax_odd_scales),
		cmocka_unit_test(logistic),
		cmocka_unit_test(quantize),
		cmocka_unit_test(dequantize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

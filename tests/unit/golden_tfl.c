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
	static const int want[] = { 0, -EINVAL, 0, 0, 0, 0, 0, 0, 0, 0, -EINVAL };
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

/* int16: within 2 of the real functions, odd or with a centre of symmetry, saturating. */
static void sigmoids16(void **state)
{
	static const float scales[] = { 1.0f / 4096, 1.0f / 2048, 0.0003f, 0.00001f, 1.0f };
	weft_tensor *x = TENSOR(WEFT_INT16, 65536), *y = TENSOR(WEFT_INT16, 65536);

	(void)state;
	for (int v = -32768; v < 32768; v++)
		((int16_t *)x->data)[v + 32768] = (int16_t)v;
	for (int k = 0; k < 10; k++) {
		const bool tanh_of = k % 2;
		weft_attr a = { .quant = { .x_scale = scales[k / 2], .y_scale = 1.0f / 32768 } };

		assert_int_equal(golden(tanh_of ? WEFT_OP_TFL_TANH : WEFT_OP_TFL_LOGISTIC, &a, y, x, NULL, NULL), 0);
		for (int v = -32768; v < 32768; v++) {
			double real = (double)scales[k / 2] * v, p = (tanh_of ? tanh(real) : 1 / (1 + exp(-real))) * 32768;
			int64_t got = tensor_get(y, v + 32768);

			if (fabs(got - p) > 8)
				fail_msg("scale %g, x %d: %lld, real %g", (double)scales[k / 2], v, (long long)got, p);
		}
		assert_int_equal(tensor_get(y, 32768), tanh_of ? 0 : 16384);
	}
	weft_attr bad = { .quant = { .x_scale = 1, .x_zp = 1, .y_scale = 1 } };
	assert_int_equal(golden(WEFT_OP_TFL_TANH, &bad, y, x, NULL, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
}

static void resize_by_hand(void **state)
{
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 1, 1, 2, 1), -100, 101), *y = TENSOR(WEFT_INT8, 1, 1, 4, 1);
	static const struct { struct weft_attr_tfl_resize a; int want[4]; } cases[] = {
		{ { false, false, false }, { -100, 1, 101, 101 } },         /* 0, 1/2, 1, 3/2: half away from zero */
		{ { true, false, false }, { -100, -33, 34, 101 } },         /* steps of 341/1024 */
		{ { false, true, false }, { -100, -50, 51, 101 } },         /* -1/4, 1/4, 3/4, 5/4 */
		{ { false, false, true }, { -100, 1, 101, 101 } },          /* 28 and 229: 128.5 + 0.5 cut off */
		{ { false, true, true }, { -100, -50, 51, 101 } },
	};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		weft_attr a = { .tfl_resize = cases[k].a };

		assert_int_equal(golden(WEFT_OP_TFL_RESIZE_BILINEAR, &a, y, x, NULL, NULL), 0);
		for (int i = 0; i < 4; i++)
			if (tensor_get(y, i) != cases[k].want[i])
				fail_msg("case %zu, element %d: %lld, not %d", k, i, (long long)tensor_get(y, i), cases[k].want[i]);
	}
	tensor_free(x);
	tensor_free(y);
}

static void casts(void **state)
{
	weft_tensor *x = TENSOR(WEFT_FP32, 6), *y = TENSOR(WEFT_INT32, 6), *z = TENSOR(WEFT_INT8, 6);
	const float v[6] = { 1.9f, -1.9f, 3e9f, -3e9f, NAN, 300 };
	const int64_t want[6] = { 1, -1, INT32_MAX, INT32_MIN, 0, 300 }, low[6] = { 1, -1, -1, 0, 0, 44 };

	(void)state;
	memcpy(x->data, v, sizeof v);
	assert_int_equal(golden(WEFT_OP_TFL_CAST, NULL, y, x, NULL, NULL), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(tensor_get(y, i), want[i]);
	assert_int_equal(golden(WEFT_OP_TFL_CAST, NULL, z, y, NULL, NULL), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(tensor_get(z, i), low[i]);
	z->dtype = WEFT_INT4;
	assert_int_equal(golden(WEFT_OP_TFL_CAST, NULL, z, y, NULL, NULL), -EINVAL);
	z->dtype = WEFT_INT8;
	weft_tensor *wide = TENSOR(WEFT_INT48, 6);
	assert_int_equal(golden(WEFT_OP_TFL_CAST, NULL, wide, y, NULL, NULL), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(tensor_get(wide, i), want[i]);
	tensor_free(wide);
	tensor_free(x);
	tensor_free(y);
	tensor_free(z);
}

/*
 * One input, one state, two steps, by hand. Biases saturate the gates: input
 * and output open, forget as given; the cell gate is tanh of the input.
 */
static void lstm_by_hand(void **state)
{
	const struct weft_tfl_factor one = { 1 << 30, 1 }, to_q15 = { 1 << 30, -14 };
	weft_attr a = { .tfl_lstm = { .cell_power = -11, .x_zp = 1, .y_zp = -2 } };
	weft_tensor *t[14];

	(void)state;
	for (int forget = 0; forget < 2; forget++) {
		for (int g = 0; g < 4; g++) {
			t[1 + g] = VALUES(TENSOR(WEFT_INT8, 1, 1), g == 2 ? 1 : 0);
			t[5 + g] = VALUES(TENSOR(WEFT_INT8, 1, 1), 0);
			t[9 + g] = VALUES(TENSOR(WEFT_INT32, 1), g == 2 ? 0 : g == 1 && !forget ? -32768 : 32767);
			a.tfl_lstm.x_gate[g] = g == 2 ? (struct weft_tfl_factor){ 1 << 30, 8 } : one;   /* x * 2^7 */
			a.tfl_lstm.h_gate[g] = one;
		}
		a.tfl_lstm.forget_cell = to_q15;
		a.tfl_lstm.input_cell = (struct weft_tfl_factor){ 1 << 30, -18 };              /* Q0.30 to Q4.11 */
		a.tfl_lstm.hidden = (struct weft_tfl_factor){ 1 << 30, -22 };                  /* Q0.30 to 1/128 */
		t[0] = VALUES(TENSOR(WEFT_INT8, 1, 2, 1), 33, 33);
		t[13] = TENSOR(WEFT_INT8, 1, 2, 1);
		const weft_tensor *x[13];
		char msg[WEFT_GOLDEN_MSG] = "";
		for (int i = 0; i < 13; i++)
			x[i] = t[i];
		assert_int_equal(weft_golden_run(WEFT_OP_TFL_LSTM, &a, x, 13, &t[13], 1, true, msg), 0);
		/* the cell gate is tanh(32 * 128 / 4096) = tanh(1); the states tanh of that, and of that once more if kept */
		double c1 = tanh(1), c2 = tanh(1) * (forget ? 2 : 1);
		assert_true(fabs((tensor_get(t[13], 0) + 2) / 128.0 - tanh(c1)) < 0.006);
		assert_true(fabs((tensor_get(t[13], 1) + 2) / 128.0 - tanh(c2)) < 0.006);
		a.tfl_lstm.cell_clip = 1024;                                                   /* 1/2 */
		assert_int_equal(weft_golden_run(WEFT_OP_TFL_LSTM, &a, x, 13, &t[13], 1, true, msg), 0);
		assert_true(fabs((tensor_get(t[13], 1) + 2) / 128.0 - tanh(0.5)) < 0.006);
		a.tfl_lstm.cell_clip = 0;
		for (int i = 0; i < 14; i++)
			tensor_free(t[i]);
	}
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
		cmocka_unit_test(sigmoids16),
		cmocka_unit_test(resize_by_hand),
		cmocka_unit_test(casts),
		cmocka_unit_test(lstm_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

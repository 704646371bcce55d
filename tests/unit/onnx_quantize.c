/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares ONNX_QUANTIZE, ONNX_DEQUANTIZE and ONNX_DIV of fp32 with the processor's own arithmetic, whose results IEEE 754 defines.
 * Operands are random bits, or give quotients that lie at a tie or next to one.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/golden_call.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

#define N 512

static float any_float(uint64_t *r)
{
	const uint32_t bits = (uint32_t)test_random(r);
	float v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

/* Returns a scale from 2^-20 up to 2^21. */
static float any_scale(uint64_t *r)
{
	return (float)ldexp(1 + (double)(test_random(r) % 1000000) * 1e-6, (int)(test_random(r) % 41) - 20);
}

/* Returns random bits, or a value whose quotient by `scale` lies at a tie, next to one, or between -200 and 200. */
static float any_value(uint64_t *r, float scale)
{
	const float tie = ((float)(int)(test_random(r) % 600) - 300 + 0.5f) * scale;

	switch (test_random(r) % 4) {
	case 0: return any_float(r);
	case 1: return tie;
	case 2: return nextafterf(tie, test_random(r) & 1 ? INFINITY : -INFINITY);
	default: return (float)((double)(int64_t)test_random(r) * 0x1p-63 * 200 * scale);
	}
}

static void quantize(void **state)
{
	const weft_attr a = { .onnx = { .type = WEFT_FP32 } };
	uint64_t r = test_seed(1);

	(void)state;
	for (long round = 0; round < test_count(100, 1000, 20000); round++) {
		weft_tensor *x = TENSOR(WEFT_FP32, N), *s = TENSOR(WEFT_FP32, 1), *z = TENSOR(WEFT_INT8, 1), *y = TENSOR(WEFT_INT8, N);
		float *v = x->data, *scale = s->data;
		int8_t *zp = z->data;

		*scale = any_scale(&r);
		*zp = (int8_t)test_random(&r);
		for (int i = 0; i < N; i++)
			v[i] = any_value(&r, *scale);
		assert_int_equal(golden(WEFT_OP_ONNX_QUANTIZE, &a, y, x, s, z), 0);
		for (int i = 0; i < N; i++) {
			const volatile float q = v[i] / *scale;
			const double sum = isnan(q) ? 0 : rint((double)q) + *zp;
			const int want = sum < -128 ? -128 : sum > 127 ? 127 : (int)sum;
			if (((int8_t *)y->data)[i] != want)
				fail_msg("%a / %a + %d is %d, not %d", (double)v[i], (double)*scale, *zp, ((int8_t *)y->data)[i], want);
		}
		tensor_free(x);
		tensor_free(s);
		tensor_free(z);
		tensor_free(y);
	}
}

/* Fails unless both have the same bits or both are NaN. */
static void same_float(float got, float want, const char *what)
{
	if (memcmp(&got, &want, sizeof got) && !(isnan(got) && isnan(want)))
		fail_msg("%s: %a, not %a", what, (double)got, (double)want);
}

static void dequantize(void **state)
{
	const weft_attr a = { .onnx = { .type = WEFT_FP32 } };
	uint64_t r = test_seed(1);

	(void)state;
	for (long round = 0; round < test_count(200, 2000, 20000); round++) {
		weft_tensor *x = TENSOR(WEFT_INT16, N), *s = TENSOR(WEFT_FP32, 1), *z = TENSOR(WEFT_INT16, 1), *y = TENSOR(WEFT_FP32, N);
		float *scale = s->data;
		int16_t *q = x->data, *zp = z->data;

		*scale = round & 1 ? any_scale(&r) : any_float(&r);
		*zp = (int16_t)test_random(&r);
		for (int i = 0; i < N; i++)
			q[i] = (int16_t)test_random(&r);
		assert_int_equal(golden(WEFT_OP_ONNX_DEQUANTIZE, &a, y, x, s, z), 0);
		for (int i = 0; i < N; i++) {
			const volatile float want = (float)(q[i] - *zp) * *scale;
			same_float(((float *)y->data)[i], want, "dequantised");
		}
		tensor_free(x);
		tensor_free(s);
		tensor_free(z);
		tensor_free(y);
	}
}

static void quotients(void **state)
{
	uint64_t r = test_seed(1);

	(void)state;
	for (long round = 0; round < test_count(200, 2000, 20000); round++) {
		weft_tensor *x = TENSOR(WEFT_FP32, N), *d = TENSOR(WEFT_FP32, N), *y = TENSOR(WEFT_FP32, N);
		float *a = x->data, *b = d->data;

		for (int i = 0; i < N; i++) {
			a[i] = round & 1 ? any_scale(&r) : any_float(&r);
			b[i] = round & 2 ? any_scale(&r) : any_float(&r);
		}
		assert_int_equal(golden(WEFT_OP_ONNX_DIV, NULL, y, x, d, NULL), 0);
		for (int i = 0; i < N; i++) {
			const volatile float want = a[i] / b[i];
			same_float(((float *)y->data)[i], want, "quotient");
		}
		tensor_free(x);
		tensor_free(d);
		tensor_free(y);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(quantize), cmocka_unit_test(dequantize), cmocka_unit_test(quotients) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

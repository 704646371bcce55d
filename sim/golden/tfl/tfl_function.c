/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_FUNCTION: functions of one float32 as TensorFlow Lite's reference kernels
 * compute them: by the C library's float functions, every step rounded.
 *
 *   x, y  any shape, float32
 *
 * Their last bit is the C library's (here and there: glibc's), which is what the
 * framework itself gives on the same machine.
 */
#include <math.h>

#include "sim/golden/fast/fast.h"

/* Returns the framework's logistic function of x (limits: fast.h). */
static float logistic(float x)
{
	if (x > WEFT_TFL_LOGISTIC_HIGH)
		return 1.0f;
	return x < WEFT_TFL_LOGISTIC_LOW ? expf(x) : 1.0f / (1.0f + expf(-x));
}

static float value(enum weft_tfl_function f, float x)
{
	switch (f) {
	case WEFT_TFL_EXP: return expf(x);
	case WEFT_TFL_LOG: return logf(x);
	case WEFT_TFL_TANH: return tanhf(x);
	case WEFT_TFL_LOGISTIC: return logistic(x);
	case WEFT_TFL_RSQRT: return 1.0f / sqrtf(x);
	case WEFT_TFL_SIN: return sinf(x);
	case WEFT_TFL_COS: return cosf(x);
	default: return x < 0.0f ? expm1f(x) : x;    /* ELU */
	}
}

/* Computes element i of the call. */
static void one(const struct weft_call *c, int64_t i)
{
	((float *)c->y[0]->data)[i] = value((enum weft_tfl_function)c->attr->tfl_function.function, ((const float *)c->x[0]->data)[i]);
}

int weft_golden_tfl_function(const struct weft_call *c)
{
	const enum weft_tfl_function f = (enum weft_tfl_function)c->attr->tfl_function.function;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t n = weft_tensor_elements(x);
	int err;

	if (x->dtype != WEFT_FP32 || y->dtype != WEFT_FP32)
		return weft_call_fail(c, -EINVAL, "types %s -> %s, must be float32", weft_dtype_name(x->dtype),
		                      weft_dtype_name(y->dtype));
	if ((unsigned)f >= WEFT_N_TFL_FUNCTIONS)
		return weft_call_fail(c, -EINVAL, "unknown function %d", (int)f);
	if ((err = weft_check_same(c, false)))
		return err;
	if (c->fast && weft_fast_function(c, one) == 0)
		return 0;
	for (int64_t i = 0; i < n; i++)
		one(c, i);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_CAST, TFL_SQRT and TFL_DIV: what TOSA has not, or not with these bits.
 *
 *   CAST  between bool, int8, uint8, int16, int32, int48, int64 and float32, as C
 *         converts: integers wrap, to bool is != 0, float32 to an integer cuts
 *         off the fraction; what does not fit saturates, NaN gives 0
 *   SQRT  float32, correctly rounded
 *   DIV   float32, correctly rounded, broadcasting
 */
#include <math.h>

#include "sim/golden/elementwise.h"
#include "sim/golden/fast/fast.h"

static bool castable(weft_dtype t)
{
	return t == WEFT_BOOL || t == WEFT_INT8 || t == WEFT_UINT8 || t == WEFT_INT16 || t == WEFT_INT32 ||
	       t == WEFT_INT48 || t == WEFT_INT64 || t == WEFT_FP32;
}

static int64_t cut(float v, weft_dtype t)
{
	const double lo = (double)weft_int_min(t), hi = (double)weft_int_max(t);

	if (isnan(v))
		return 0;
	if (t == WEFT_BOOL)
		return v != 0;
	if ((double)v <= lo)
		return weft_int_min(t);
	return (double)v >= hi ? weft_int_max(t) : (int64_t)v;
}

int weft_golden_tfl_cast(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t n = weft_tensor_elements(x);
	int err;

	if (!castable(x->dtype) || !castable(y->dtype))
		return weft_call_fail(c, -EINVAL, "types %s -> %s not allowed", weft_dtype_name(x->dtype),
		                      weft_dtype_name(y->dtype));
	if ((err = weft_check_same(c, false)))
		return err;
	for (int64_t i = 0; i < n; i++) {
		if (x->dtype == WEFT_FP32 && y->dtype == WEFT_FP32)
			((float *)y->data)[i] = ((const float *)x->data)[i];
		else if (x->dtype == WEFT_FP32)
			weft_put(y, i, cut(((const float *)x->data)[i], y->dtype));
		else if (y->dtype == WEFT_FP32)
			((float *)y->data)[i] = (float)weft_get(x, i);
		else
			weft_put(y, i, weft_get(x, i));
	}
	return 0;
}

static int need_float(const struct weft_call *c)
{
	for (int k = 0; k < c->n_x; k++)
		if (c->x[k]->dtype != WEFT_FP32 || c->y[0]->dtype != WEFT_FP32)
			return weft_call_fail(c, -EINVAL, "types %s -> %s, must be float32", weft_dtype_name(c->x[k]->dtype),
			                      weft_dtype_name(c->y[0]->dtype));
	return 0;
}

int weft_golden_tfl_sqrt(const struct weft_call *c)
{
	const int64_t n = weft_tensor_elements(c->x[0]);
	int err = need_float(c);

	if (err || (err = weft_check_same(c, true)))
		return err;
	for (int64_t i = 0; i < n; i++)
		((float *)c->y[0]->data)[i] = sqrtf(((const float *)c->x[0]->data)[i]);
	return 0;
}

int weft_golden_tfl_div(const struct weft_call *c)
{
	const float *a = c->x[0]->data, *b = c->x[1]->data;
	struct weft_walk w;
	int64_t o = 0;
	int err = need_float(c);

	if (err || (err = weft_check_broadcast(c)))
		return err;
	if (c->fast && weft_fast_float_binary(c) == 0)
		return 0;
	w = weft_broadcast_walk(c);
	do {
		((float *)c->y[0]->data)[o++] = a[w.off[0]] / b[w.off[1]];
	} while (weft_walk_next(&w));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_LOGISTIC: TensorFlow Lite's int8 LOGISTIC.
 *
 *   x  any shape, int8: (x - x_zp)*x_scale
 *   y  x's shape, int8: scale y_scale, zero point y_zp
 *
 * y = round(1/(1 + exp(-x)) / y_scale) + y_zp, half away from zero, clipped.
 * Scales are float32 as the file has them; the computation is in double, so
 * that the result does not hang on one libm's expf. TensorFlow Lite's
 * fixed-point kernel gave the same bits wherever it was tried.
 */
#include <math.h>

#include "sim/golden/ops.h"
#include "sim/golden/quant.h"
#include "tfl_sigmoid16.h"

/* int16 with zero points 0, result in Q0.15. */
static int wide(const struct weft_call *c, int16_t (*f)(const struct weft_sigmoid16 *, int16_t))
{
	const struct weft_attr_quant *a = &c->attr->quant;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t n = weft_tensor_elements(x);
	struct weft_sigmoid16 s;
	int err;

	if (x->dtype != WEFT_INT16 || y->dtype != WEFT_INT16)
		return weft_call_fail(c, -EINVAL, "types %s -> %s, must be int16 -> int16", weft_dtype_name(x->dtype),
		                      weft_dtype_name(y->dtype));
	if ((err = weft_check_same(c, true)) || (err = weft_check_quant(c, "input", a->x_scale, a->x_zp, x->dtype)))
		return err;
	if (a->x_zp != 0)
		return weft_call_fail(c, -EINVAL, "zero point %d of int16", a->x_zp);
	weft_sigmoid16_scale(&s, a->x_scale, c->op == WEFT_OP_TFL_TANH ? 1 : 0);
	for (int64_t i = 0; i < n; i++)
		((int16_t *)y->data)[i] = f(&s, ((const int16_t *)x->data)[i]);
	return 0;
}

int weft_golden_tfl_tanh(const struct weft_call *c)
{
	return wide(c, weft_tanh16);
}

int weft_golden_tfl_logistic(const struct weft_call *c)
{
	const struct weft_attr_quant *a = &c->attr->quant;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t n = weft_tensor_elements(x);
	int8_t lut[256];
	int err;

	if (x->dtype == WEFT_INT16)
		return wide(c, weft_logistic16);
	if (x->dtype != WEFT_INT8 || y->dtype != WEFT_INT8)
		return weft_call_fail(c, -EINVAL, "types %s -> %s, must be int8 -> int8",
		                      weft_dtype_name(x->dtype), weft_dtype_name(y->dtype));
	if ((err = weft_check_same(c, true)) ||
	    (err = weft_check_quant(c, "input", a->x_scale, a->x_zp, x->dtype)) ||
	    (err = weft_check_quant(c, "output", a->y_scale, a->y_zp, y->dtype)))
		return err;
	for (int q = -128; q <= 127; q++) {
		double real = (double)a->x_scale * (q - a->x_zp);
		double r = round(1.0 / (1.0 + exp(-real)) / (double)a->y_scale) + a->y_zp;

		lut[q + 128] = (int8_t)fmax(-128.0, fmin(127.0, r));
	}
	for (int64_t i = 0; i < n; i++)
		((int8_t *)y->data)[i] = lut[((const int8_t *)x->data)[i] + 128];
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_QUANTIZE and TFL_DEQUANTIZE: TensorFlow Lite's affine quantisation.
 *
 *   QUANTIZE    x float32 -> y int8, uint8 or int16
 *               y = clip(round(x / y_scale) + y_zp), the quotient in float32,
 *               half away from zero; NaN counts as 0, infinities saturate
 *   DEQUANTIZE  x int8, uint8 or int16 -> y float32
 *               y = x_scale * (x - x_zp), rounded once: the product has at most
 *               17 + 24 bits, exact in double
 */
#include <math.h>

#include "sim/golden/ops.h"
#include "sim/golden/quant.h"

int weft_check_quant(const struct weft_call *c, const char *what, float scale, int32_t zp, weft_dtype t)
{
	if (!(scale > 0.0f) || !isfinite(scale))
		return weft_call_fail(c, -EINVAL, "%s scale %g, must be finite and above 0", what,
		                      (double)scale);
	if (zp < weft_int_min(t) || zp > weft_int_max(t))
		return weft_call_fail(c, -EINVAL, "%s zero point %d outside %s", what, zp,
		                      weft_dtype_name(t));
	return 0;
}

static bool quantised(weft_dtype t)
{
	return t == WEFT_INT8 || t == WEFT_UINT8 || t == WEFT_INT16;
}

static int check(const struct weft_call *c, weft_dtype q, weft_dtype f)
{
	if (!quantised(q) || f != WEFT_FP32)
		return weft_call_fail(c, -EINVAL, "types %s -> %s not allowed",
		                      weft_dtype_name(c->x[0]->dtype), weft_dtype_name(c->y[0]->dtype));
	return weft_check_same(c, false);
}

int weft_golden_tfl_quantize(const struct weft_call *c)
{
	const struct weft_attr_quant *a = &c->attr->quant;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t n = weft_tensor_elements(x);
	int err;

	if ((err = check(c, y->dtype, x->dtype)) ||
	    (err = weft_check_quant(c, "output", a->y_scale, a->y_zp, y->dtype)))
		return err;
	for (int64_t i = 0; i < n; i++) {
		float quotient = ((const float *)x->data)[i] / a->y_scale;
		double r = isnan(quotient) ? 0.0 : (double)roundf(quotient);

		r = fmax((double)weft_int_min(y->dtype), fmin((double)weft_int_max(y->dtype), r + a->y_zp));
		weft_put(y, i, (int64_t)r);
	}
	return 0;
}

int weft_golden_tfl_dequantize(const struct weft_call *c)
{
	const struct weft_attr_quant *a = &c->attr->quant;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t n = weft_tensor_elements(x);
	int err;

	if ((err = check(c, x->dtype, y->dtype)) ||
	    (err = weft_check_quant(c, "input", a->x_scale, a->x_zp, x->dtype)))
		return err;
	for (int64_t i = 0; i < n; i++)
		((float *)y->data)[i] = (float)((double)a->x_scale * (double)(weft_get(x, i) - a->x_zp));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_REQUANTIZE: sums to results as LiteRT's FULLY_CONNECTED scales them.
 *
 *   x        rank 1 or more, int32 or int48; the last dimension is C
 *   w_scale  float32, [1] or [C]
 *   y        x's shape, int8 or int16
 *
 * y = clip(round(x * s) + y_zp), s = x_scale * w_scale / y_scale in float64, the
 * product rounded to float64, then halves away from zero. NaN cannot come out:
 * scales are finite and above zero; what exceeds the type saturates.
 */
#include <math.h>

#include "sim/golden/ops.h"
#include "sim/golden/quant.h"

static int check(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *w = c->x[1], *y = c->y[0];
	const struct weft_attr_quant *a = &c->attr->quant;
	int err;

	if ((x->dtype != WEFT_INT32 && x->dtype != WEFT_INT48) || (y->dtype != WEFT_INT8 && y->dtype != WEFT_INT16) ||
	    w->dtype != WEFT_FP32)
		return weft_call_fail(c, -EINVAL, "types %s, %s -> %s not allowed", weft_dtype_name(x->dtype),
		                      weft_dtype_name(w->dtype), weft_dtype_name(y->dtype));
	if (x->rank < 1 || w->rank != 1 || (w->dim[0] != 1 && w->dim[0] != x->dim[x->rank - 1]))
		return weft_call_fail(c, -EINVAL, "%lld scales for rank %d, must be 1 or one for each of the last dimension",
		                      (long long)w->dim[0], x->rank);
	for (int64_t i = 0; i < w->dim[0]; i++)
		if ((err = weft_check_quant(c, "weight", ((const float *)w->data)[i], 0, WEFT_INT8)))
			return err;
	if (!weft_same_shape(x, y))
		return weft_call_fail(c, -EINVAL, "shapes of operand and result differ");
	err = weft_check_quant(c, "input", a->x_scale, 0, WEFT_INT8);
	return err ? err : weft_check_quant(c, "output", a->y_scale, a->y_zp, y->dtype);
}

int weft_golden_tfl_requantize(const struct weft_call *c)
{
	const struct weft_attr_quant *a = &c->attr->quant;
	const weft_tensor *x = c->x[0], *w = c->x[1], *y = c->y[0];
	const int64_t n = weft_tensor_elements(x);
	int err = check(c);

	if (err)
		return err;
	const double lo = (double)weft_int_min(y->dtype), hi = (double)weft_int_max(y->dtype);
	for (int64_t i = 0; i < n; i++) {
		const float ws = ((const float *)w->data)[i % w->dim[0]];
		const double s = (double)a->x_scale * (double)ws / (double)a->y_scale;
		const double r = round((double)weft_get(x, i) * s) + (double)a->y_zp;

		weft_put(y, i, (int64_t)fmax(lo, fmin(hi, r)));
	}
	return 0;
}

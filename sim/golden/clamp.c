/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CLAMP. TOSA 1.0 section 2.4.1.
 *
 *   x, y  any one shape; int8 or int16 (no int32 row exists), floats: float/elementwise.c
 *
 * y = min(max(x, min_val), max_val); both limits lie within the type.
 */
#include "fast/fast.h"
#include "float/ops.h"

int weft_golden_clamp(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT8 }, WEFT_INT8 },
		{ { WEFT_INT16 }, WEFT_INT16 },
		{ { WEFT_FP16 }, WEFT_FP16 },
		{ { WEFT_BF16 }, WEFT_BF16 },
		{ { WEFT_FP32 }, WEFT_FP32 },
	};
	const struct weft_attr_clamp *a = &c->attr->clamp;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t n = weft_tensor_elements(x);
	int err;

	if ((err = weft_check_rows(c, rows, sizeof(rows) / sizeof(rows[0]))) || (err = weft_check_same(c, true)))
		return err;
	if (weft_is_float(x->dtype)) {
		if (!(a->fmin <= a->fmax))
			return weft_call_fail(c, -EINVAL, "limits %g..%g are no range", a->fmin, a->fmax);
		return weft_float_clamp(c);
	}
	if (a->max < a->min || a->min < weft_int_min(x->dtype) || a->max > weft_int_max(x->dtype))
		return weft_call_fail(c, -EINVAL, "limits %lld..%lld are no range of %s",
		                      (long long)a->min, (long long)a->max, weft_dtype_name(x->dtype));
	if (c->fast && weft_fast_clamp(c) == 0)
		return 0;
	for (int64_t i = 0; i < n; i++)
		weft_put(y, i, weft_clip(weft_get(x, i), a->min, a->max));
	return 0;
}

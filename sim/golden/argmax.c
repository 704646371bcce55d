/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ARGMAX. TOSA 1.0 section 2.3.1.
 *
 *   x  rank 1 or more; int8 or int16, or floats: float/reduce.c
 *   y  int32, x's shape without the axis: the index of the first largest element
 */
#include "float/ops.h"

static int check(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT8 }, WEFT_INT32 },
		{ { WEFT_INT16 }, WEFT_INT32 },
		{ { WEFT_FP16 }, WEFT_INT32 },
		{ { WEFT_BF16 }, WEFT_INT32 },
		{ { WEFT_FP32 }, WEFT_INT32 },
		{ { WEFT_FP8E4M3 }, WEFT_INT32 },
		{ { WEFT_FP8E5M2 }, WEFT_INT32 },
	};
	const weft_tensor *x = c->x[0], *y = c->y[0];
	int err;

	if ((err = weft_check_rows(c, rows, sizeof(rows) / sizeof(rows[0]))) ||
	    (err = weft_check_axis(c)) ||
	    (err = weft_check_rank(c, "output", y, x->rank - 1)))
		return err;
	for (int d = 0; d < y->rank; d++) {
		int64_t want = x->dim[d < c->attr->axis.axis ? d : d + 1];

		if (y->dim[d] != want)
			return weft_call_fail(c, -EINVAL, "output dimension %d is %lld, must be %lld", d,
			                      (long long)y->dim[d], (long long)want);
	}
	return 0;
}

int weft_golden_argmax(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int axis = c->attr->axis.axis;
	int err = check(c);

	if (err)
		return err;
	if (weft_is_float(x->dtype))
		return weft_float_reduce(c);
	const int64_t left = weft_elements_before(x, axis), right = weft_elements_behind(x, axis);
	for (int64_t l = 0; l < left; l++)
		for (int64_t r = 0; r < right; r++) {
			const int64_t first = l * x->dim[axis] * right + r;
			int64_t best = 0;

			for (int64_t i = 1; i < x->dim[axis]; i++)
				if (weft_get(x, first + i * right) > weft_get(x, first + best * right))
					best = i;
			weft_put(y, l * right + r, best);
		}
	return 0;
}

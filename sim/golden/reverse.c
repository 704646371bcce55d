/* SPDX-License-Identifier: Apache-2.0 */
/*
 * REVERSE. TOSA 1.0 section 2.10.4.
 *
 *   x  rank 1 or more, any type
 *   y  x's type and shape; y[..i..] = x[..n-1-i..] on the axis
 */
#include <string.h>

#include "ops.h"

int weft_golden_reverse(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int axis = c->attr->axis.axis;
	int err;

	if ((err = weft_check_axis(c)) || (err = weft_check_same(c, true)))
		return err;
	const size_t n = (size_t)x->dim[axis], left = (size_t)weft_elements_before(x, axis);
	const size_t right = weft_dtype_bytes(x->dtype) * (size_t)weft_elements_behind(x, axis);
	for (size_t l = 0; l < left; l++)
		for (size_t i = 0; i < n; i++)
			memcpy((char *)y->data + (l * n + i) * right,
			       (const char *)x->data + (l * n + n - 1 - i) * right, right);
	return 0;
}

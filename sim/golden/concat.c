/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONCAT. TOSA 1.0 section 2.10.1.
 *
 *   x[i]  one rank (1 or more) and one type, any; shapes agree but on the axis
 *   y     that type; on the axis the sum of the inputs
 *
 * Bytes are copied, so every type works.
 */
#include <string.h>

#include "ops.h"

static int check(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0];
	const int axis = c->attr->axis.axis;
	int64_t sum = 0;
	int err = weft_check_axis(c);

	if (err)
		return err;
	for (int i = 0; i < c->n_x; i++) {
		const weft_tensor *x = c->x[i];

		if (x->rank != y->rank || x->dtype != y->dtype)
			return weft_call_fail(c, -EINVAL, "input %d is %s of rank %d, output %s of rank %d", i,
			                      weft_dtype_name(x->dtype), x->rank,
			                      weft_dtype_name(y->dtype), y->rank);
		for (int d = 0; d < y->rank; d++) {
			if (d != axis && x->dim[d] != y->dim[d])
				return weft_call_fail(c, -EINVAL, "input %d: dimension %d is %lld, output %lld", i,
				                      d, (long long)x->dim[d], (long long)y->dim[d]);
		}
		/* At most 2^31 inputs of 2^31: below 2^62. */
		sum += x->dim[axis];
	}
	if (sum != y->dim[axis])
		return weft_call_fail(c, -EINVAL, "output has %lld on axis %d, inputs %lld",
		                      (long long)y->dim[axis], axis, (long long)sum);
	return 0;
}

int weft_golden_concat(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0];
	const int axis = c->attr->axis.axis;
	size_t at = 0;
	int err = check(c);

	if (err)
		return err;
	const size_t left = (size_t)weft_elements_before(y, axis), right = weft_dtype_bytes(y->dtype) * (size_t)weft_elements_behind(y, axis);
	for (int i = 0; i < c->n_x; i++) {
		const size_t run = (size_t)c->x[i]->dim[axis] * right;
		const size_t row = (size_t)y->dim[axis] * right;

		for (size_t l = 0; l < left; l++)
			memcpy((char *)y->data + l * row + at, (const char *)c->x[i]->data + l * run, run);
		at += run;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SLICE. TOSA 1.0 section 2.10.5.
 *
 *   x  rank 1 or more, any type
 *   y  x's type and rank; y[i] = x[start + i], wholly inside x
 */
#include <string.h>

#include "ops.h"

static int check(const struct weft_call *c)
{
	const int64_t *start = c->attr->slice.start;
	const weft_tensor *x = c->x[0], *y = c->y[0];

	if (x->dtype != y->dtype || x->rank != y->rank || x->rank < 1)
		return weft_call_fail(c, -EINVAL, "%s of rank %d -> %s of rank %d",
		                      weft_dtype_name(x->dtype), x->rank,
		                      weft_dtype_name(y->dtype), y->rank);
	for (int d = 0; d < x->rank; d++) {
		if (start[d] < 0 || start[d] > x->dim[d] - y->dim[d])
			return weft_call_fail(c, -EINVAL, "dimension %d: start %lld + size %lld outside %lld", d,
			                      (long long)start[d], (long long)y->dim[d],
			                      (long long)x->dim[d]);
	}
	return 0;
}

int weft_golden_slice(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const size_t size = weft_dtype_bytes(x->dtype);
	const int last = x->rank - 1;
	struct weft_walk w = { .rank = last };
	int err = check(c);

	if (err)
		return err;
	weft_strides(x, w.stride[0]);
	weft_strides(y, w.stride[1]);
	for (int d = 0; d <= last; d++) {
		w.dim[d] = y->dim[d];
		w.off[0] += c->attr->slice.start[d] * w.stride[0][d];
	}
	do {
		memcpy((char *)y->data + (size_t)w.off[1] * size,
		       (const char *)x->data + (size_t)w.off[0] * size, (size_t)y->dim[last] * size);
	} while (weft_walk_next(&w));
	return 0;
}

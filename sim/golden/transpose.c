/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TRANSPOSE. TOSA 1.0 section 2.10.7.
 *
 *   x  any type
 *   y  x's type and rank; dimension d of y is dimension perm[d] of x
 */
#include <string.h>

#include "fast/fast.h"
#include "ops.h"

static int check(const struct weft_call *c)
{
	const int32_t *perm = c->attr->perm.perm;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	bool used[WEFT_MAX_RANK] = { false };

	if (x->dtype != y->dtype || x->rank != y->rank)
		return weft_call_fail(c, -EINVAL, "%s of rank %d -> %s of rank %d",
		                      weft_dtype_name(x->dtype), x->rank,
		                      weft_dtype_name(y->dtype), y->rank);
	for (int d = 0; d < x->rank; d++) {
		if (perm[d] < 0 || perm[d] >= x->rank || used[perm[d]])
			return weft_call_fail(c, -EINVAL, "perm[%d] = %d is out of range or repeated", d, perm[d]);
		used[perm[d]] = true;
		if (y->dim[d] != x->dim[perm[d]])
			return weft_call_fail(c, -EINVAL, "output dimension %d is %lld, must be %lld", d,
			                      (long long)y->dim[d], (long long)x->dim[perm[d]]);
	}
	return 0;
}

int weft_golden_transpose(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const size_t size = weft_dtype_bytes(x->dtype);
	struct weft_walk w = { .rank = y->rank };
	int64_t stride[WEFT_MAX_RANK];
	char *to = y->data;
	int err = check(c);

	if (err)
		return err;
	if (c->fast && weft_fast_transpose(c) == 0)
		return 0;
	weft_strides(x, stride);
	for (int d = 0; d < y->rank; d++) {
		w.dim[d] = y->dim[d];
		w.stride[0][d] = stride[c->attr->perm.perm[d]];
	}
	do {
		memcpy(to, (const char *)x->data + (size_t)w.off[0] * size, size);
		to += size;
	} while (weft_walk_next(&w));
	return 0;
}

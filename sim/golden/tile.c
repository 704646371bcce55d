/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TILE. TOSA 1.0 section 2.10.6.
 *
 *   x  rank 1 or more, any type
 *   y  x's type and rank, x's dimensions times multiple; y[i] = x[i mod x's dimension]
 */
#include <string.h>

#include "ops.h"

static int check(const struct weft_call *c)
{
	const int32_t *m = c->attr->tile.multiple;
	const weft_tensor *x = c->x[0], *y = c->y[0];

	if (x->dtype != y->dtype || x->rank != y->rank || x->rank < 1)
		return weft_call_fail(c, -EINVAL, "%s of rank %d -> %s of rank %d", weft_dtype_name(x->dtype), x->rank,
		                      weft_dtype_name(y->dtype), y->rank);
	for (int d = 0; d < x->rank; d++) {
		if (m[d] < 1 || y->dim[d] != x->dim[d] * m[d])
			return weft_call_fail(c, -EINVAL, "dimension %d: %lld times %d is not %lld", d, (long long)x->dim[d],
			                      (int)m[d], (long long)y->dim[d]);
	}
	return 0;
}

int weft_golden_tile(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const size_t size = weft_dtype_bytes(x->dtype);
	struct weft_walk w = { .rank = y->rank };
	int64_t stride[WEFT_MAX_RANK], o = 0;
	int err = check(c);

	if (err)
		return err;
	weft_strides(x, stride);
	for (int d = 0; d < y->rank; d++)
		w.dim[d] = y->dim[d];
	do {
		int64_t from = 0;

		for (int d = 0; d < y->rank; d++)
			from += w.idx[d] % x->dim[d] * stride[d];
		memcpy((char *)y->data + (size_t)o++ * size, (const char *)x->data + (size_t)from * size, size);
	} while (weft_walk_next(&w));
	return 0;
}

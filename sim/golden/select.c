/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SELECT. TOSA 1.0 section 2.7.1.
 *
 *   condition  bool (any nonzero byte is true)
 *   a, b       one type, any
 *   y          their type; condition ? a : b, all three broadcast
 */
#include <string.h>

#include "ops.h"

static int check(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0];

	if (c->x[0]->dtype != WEFT_BOOL || c->x[1]->dtype != y->dtype || c->x[2]->dtype != y->dtype)
		return weft_call_fail(c, -EINVAL, "types %s, %s, %s -> %s are not a row of its table",
		                      weft_dtype_name(c->x[0]->dtype), weft_dtype_name(c->x[1]->dtype),
		                      weft_dtype_name(c->x[2]->dtype), weft_dtype_name(y->dtype));
	for (int k = 0; k < 3; k++) {
		if (c->x[k]->rank != y->rank)
			return weft_call_fail(c, -EINVAL, "input %d has rank %d, output %d", k, c->x[k]->rank, y->rank);
	}
	for (int d = 0; d < y->rank; d++) {
		int64_t want = 1;

		for (int k = 0; k < 3; k++)
			want = c->x[k]->dim[d] != 1 ? c->x[k]->dim[d] : want;
		for (int k = 0; k < 3; k++) {
			if (c->x[k]->dim[d] != 1 && c->x[k]->dim[d] != want)
				want = -1;
		}
		if (y->dim[d] != want)
			return weft_call_fail(c, -EINVAL, "dimension %d: %lld, %lld, %lld -> %lld do not broadcast", d,
			                      (long long)c->x[0]->dim[d], (long long)c->x[1]->dim[d],
			                      (long long)c->x[2]->dim[d], (long long)y->dim[d]);
	}
	return 0;
}

int weft_golden_select(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0];
	const size_t size = weft_dtype_bytes(y->dtype);
	int64_t stride[3][WEFT_MAX_RANK], o = 0;
	struct weft_walk w = { .rank = y->rank };
	int err = check(c);

	if (err)
		return err;
	for (int k = 0; k < 3; k++)
		weft_strides(c->x[k], stride[k]);
	for (int d = 0; d < y->rank; d++)
		w.dim[d] = y->dim[d];
	do {
		int64_t at[3] = { 0 };

		for (int k = 0; k < 3; k++)
			for (int d = 0; d < y->rank; d++)
				at[k] += c->x[k]->dim[d] == 1 ? 0 : w.idx[d] * stride[k][d];
		int k = weft_get(c->x[0], at[0]) ? 1 : 2;
		memcpy((char *)y->data + (size_t)o++ * size, (const char *)c->x[k]->data + (size_t)at[k] * size, size);
	} while (weft_walk_next(&w));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GATHER and SCATTER. TOSA 1.0 sections 2.11.1, 2.11.2.
 *
 *   GATHER   values [N][K][C], indices [N][W] int32 -> y [N][W][C]
 *            y[n][w] = values[n][indices[n][w]]
 *   SCATTER  values [N][K][C], indices [N][W] int32, input [N][W][C] -> y [N][K][C]
 *            y = values, but y[n][indices[n][w]] = input[n][w]
 *
 * Rows of C elements are copied as bytes, so every type works. TOSA requires
 * indices within 0..K-1, and in SCATTER no index twice. Here an index outside
 * is an error and of equal indices the last one wins.
 */
#include <string.h>

#include "ops.h"

/* Checks that t has shape [n, k, c] (rank 3), or [n, k] if c < 0. */
static int check_shape(const struct weft_call *c, const char *what, const weft_tensor *t, int64_t n, int64_t k, int64_t ch)
{
	int err = weft_check_rank(c, what, t, ch < 0 ? 2 : 3);

	if (!err && (t->dim[0] != n || t->dim[1] != k || (ch >= 0 && t->dim[2] != ch)))
		err = weft_call_fail(c, -EINVAL, "%s's shape does not agree with the others", what);
	return err;
}

static int check_types(const struct weft_call *c)
{
	if (c->x[1]->dtype != WEFT_INT32)
		return weft_call_fail(c, -EINVAL, "indices are %s, must be int32", weft_dtype_name(c->x[1]->dtype));
	if (c->y[0]->dtype != c->x[0]->dtype || (c->n_x == 3 && c->x[2]->dtype != c->x[0]->dtype))
		return weft_call_fail(c, -EINVAL, "types of values and output differ");
	return 0;
}

static int check_indices(const struct weft_call *c)
{
	const int32_t *index = c->x[1]->data;
	const int64_t n = weft_tensor_elements(c->x[1]), k = c->x[0]->dim[1];

	for (int64_t i = 0; i < n; i++) {
		if (index[i] < 0 || index[i] >= k)
			return weft_call_fail(c, -EINVAL, "index %lld is %d, outside 0..%lld", (long long)i, (int)index[i],
			                      (long long)(k - 1));
	}
	return 0;
}

int weft_golden_gather(const struct weft_call *c)
{
	const weft_tensor *v = c->x[0], *y = c->y[0];
	const int32_t *index = c->x[1]->data;
	int err;

	if ((err = check_types(c)) || (err = weft_check_rank(c, "values", v, 3)) ||
	    (err = weft_check_rank(c, "indices", c->x[1], 2)) ||
	    (err = check_shape(c, "indices", c->x[1], v->dim[0], c->x[1]->dim[1], -1)) ||
	    (err = check_shape(c, "output", y, v->dim[0], c->x[1]->dim[1], v->dim[2])) || (err = check_indices(c)))
		return err;
	const size_t row = (size_t)v->dim[2] * weft_dtype_bytes(v->dtype);
	const int64_t n_w = y->dim[1];
	for (int64_t i = 0; i < y->dim[0] * n_w; i++)
		memcpy((char *)y->data + (size_t)i * row,
		       (const char *)v->data + (size_t)(i / n_w * v->dim[1] + index[i]) * row, row);
	return 0;
}

int weft_golden_scatter(const struct weft_call *c)
{
	const weft_tensor *v = c->x[0], *in = c->x[2], *y = c->y[0];
	const int32_t *index = c->x[1]->data;
	int err;

	if ((err = check_types(c)) || (err = weft_check_rank(c, "values", v, 3)) ||
	    (err = weft_check_rank(c, "input", in, 3)) ||
	    (err = check_shape(c, "output", y, v->dim[0], v->dim[1], v->dim[2])) ||
	    (err = check_shape(c, "input", in, v->dim[0], in->dim[1], v->dim[2])) ||
	    (err = check_shape(c, "indices", c->x[1], v->dim[0], in->dim[1], -1)))
		return err;
	/* TOSA 1.0 has W <= K as a consequence of its no-index-twice rule. */
	if ((err = check_indices(c)))
		return err;
	const size_t row = (size_t)v->dim[2] * weft_dtype_bytes(v->dtype);
	const int64_t n_w = in->dim[1];
	memcpy(y->data, v->data, weft_tensor_bytes(v));
	for (int64_t i = 0; i < in->dim[0] * n_w; i++)
		memcpy((char *)y->data + (size_t)(i / n_w * v->dim[1] + index[i]) * row,
		       (const char *)in->data + (size_t)i * row, row);
	return 0;
}

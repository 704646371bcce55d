/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BITCAST, EMBEDDING_LOOKUP_SPARSE and REDUCE_PROD of quantised integers.
 *
 * Source: LiteRT 2.3, what its kernels give.
 */
#include <stdlib.h>

#include "sim/golden/onnx/tfl/ops.h"

/* ---- BITCAST ---- */

enum { TO, FLIP_X, FLIP_Y };       /* attributes: the result's type; whether operand and result are uint8 held as int8 */

/*
 * Bitcast: sets the result to the bytes of operand 0, read as elements of the type that attribute TO names. If that type
 * is smaller, the result has one dimension more, the last one, with the elements that one of operand 0's gives; if it is
 * larger, operand 0's last dimension must have as many elements as one of the result takes, and goes. If only one of both
 * is uint8 held as int8, the top bit of each byte is flipped. Returns 0; -EINVAL if the sizes do not fit, -ENOTSUP if the
 * rank would be above WEFT_MAX_RANK, or another negative errno.
 */
int tfl_bitcast(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const weft_dtype to = (weft_dtype)r->a->i[TO];
	const size_t from = weft_dtype_bytes(x->dtype), size = r->a->i[TO] > 0 ? weft_dtype_bytes(to) : 0;
	int64_t dim[WEFT_MAX_RANK];
	int rank = x->rank;

	memcpy(dim, x->dim, sizeof dim);
	if (!size || !from || (size > from ? size % from : from % size))
		return ref_fail(r, -EINVAL, "type %d of %zu bytes from %zu", (int)to, size, from);
	if (size < from && rank == WEFT_MAX_RANK)
		return ref_fail(r, -ENOTSUP, "rank %d grows", rank);
	if (size < from)
		dim[rank++] = (int64_t)(from / size);
	if (size > from && (!rank || dim[--rank] != (int64_t)(size / from)))
		return ref_fail(r, -EINVAL, "the last dimension is not %zu", size / from);
	int err = ref_y(r, 0, to, rank, dim);
	if (err || r->shapes)
		return err;
	const size_t n = (size_t)REF_N(x) * from;
	const uint8_t flip = (r->a->i[FLIP_X] != 0) ^ (r->a->i[FLIP_Y] != 0) ? 0x80 : 0;
	for (size_t k = 0; k < n; k++)
		((uint8_t *)r->y[0]->data)[k] = ((const uint8_t *)x->data)[k] ^ flip;
	return 0;
}

/* ---- EMBEDDING_LOOKUP_SPARSE ---- */

enum { IDS, INDICES, SHAPE, WEIGHTS, ROWS };
enum { SUM, MEAN, SQRTN };         /* the attribute, combiner */

/* Divides the n numbers of a row that is complete by its sum of weights (SQRTN: the root of their squares' sum), if that is not 0. */
static void finish(float *row, int64_t n, int combiner, float sum, float squares)
{
	const float by = combiner == MEAN ? sum : combiner == SQRTN ? sqrtf(squares) : 1;

	for (int64_t k = 0; combiner != SUM && by != 0 && k < n; k++)
		row[k] /= by;
}

/* Checks the operands, and states the result: SHAPE without its last number, then a row. Returns 0 or a negative errno. */
static int sparse_shape(struct ref *r)
{
	const weft_tensor *ids = r->x[IDS], *indices = r->x[INDICES], *rows = r->x[ROWS], *weights = r->x[WEIGHTS];
	int64_t dim[2 * WEFT_MAX_RANK];
	const int n = ref_ints(r, SHAPE, WEFT_MAX_RANK, dim);
	int rank = n - 1;

	if (n < 0)
		return n;
	if (ids->rank != 1 || indices->rank != 2 || indices->dim[0] != ids->dim[0] || indices->dim[1] != n || n < 1 || rows->rank < 1 ||
	    REF_N(weights) != ids->dim[0] || weights->dtype != WEFT_FP32 || rows->dtype != WEFT_FP32 || ids->dtype != WEFT_INT32 ||
	    indices->dtype != WEFT_INT32 || r->a->i[0] < SUM || r->a->i[0] > SQRTN)
		return ref_fail(r, -EINVAL, "operands do not fit");
	for (int d = 1; d < rows->rank; d++)
		dim[rank++] = rows->dim[d];
	return ref_y(r, 0, WEFT_FP32, rank, dim);
}

/*
 * Row ids[i], times weight i, is added to the row of the result that the first coordinates of indices[i] name. Whenever
 * that row changes, the one before is divided.
 */
int tfl_embedding_sparse(struct ref *r)
{
	const weft_tensor *indices = r->x[INDICES], *rows = r->x[ROWS];
	int err = sparse_shape(r), combiner = r->a->i[0];

	if (err || r->shapes)
		return err;
	const int64_t n = r->x[IDS]->dim[0], last = indices->dim[1] - 1, size = rows->dim[0] ? REF_N(rows) / rows->dim[0] : 0, all = REF_N(r->y[0]);
	const float *table = rows->data, *weight = r->x[WEIGHTS]->data;
	float *y = r->y[0]->data, sum = 0, squares = 0;
	int64_t at = 0;
	memset(y, 0, (size_t)all * sizeof *y);
	for (int64_t i = 0; i < n; i++) {
		const int64_t id = ref_i(r->x[IDS], i);
		int64_t to = 0;

		for (int64_t k = 0; k < last; k++) {
			const int64_t v = ref_i(indices, i * (last + 1) + k), most = ref_i(r->x[SHAPE], k);
			if (v < 0 || v >= most)
				return ref_fail(r, -EINVAL, "index %lld of %lld", (long long)v, (long long)most);
			to = to * most + v;
		}
		if (id < 0 || id >= rows->dim[0])
			return ref_fail(r, -EINVAL, "row %lld of %lld", (long long)id, (long long)rows->dim[0]);
		if (to != at) {
			finish(y + at * size, size, combiner, sum, squares);
			at = to;
			sum = squares = 0;
		}
		sum += weight[i];
		squares += weight[i] * weight[i];
		for (int64_t k = 0; k < size; k++)
			y[at * size + k] += table[id * size + k] * weight[i];
	}
	if (all)
		finish(y + at * size, size, combiner, sum, squares);
	return 0;
}

/* ---- REDUCE_PROD ---- */

enum { AXES, KEEPDIMS = 1 + WEFT_ONNX_LIST, X_ZP, Y_ZP, MULTIPLIER, SHIFT };

/* x times the factor, whose multiplier has 31 bits and is cut to 15, as LiteRT multiplies numbers of 48 bits; halves go up. */
static int32_t scaled(const struct ref *r, int64_t x)
{
	const int32_t m = r->a->i[MULTIPLIER], cut = m < 0x7FFF0000 ? (m + (1 << 15)) >> 16 : 0x7FFF;
	const int down = r->a->i[SHIFT] - 16;

	return (int32_t)((int64_t)((uint64_t)x * (uint64_t)cut + ((uint64_t)1 << (down - 1))) >> down);
}

/*
 * ReduceProd: the products of codes less their zero point, in the order of operand 0's elements, each product rescaled by
 * the factor (input_scale / output_scale^(1/n), of n elements) before the next one, and the last one, too; plus the
 * result's zero point, limited to its type. Returns 0, -EINVAL for a wrong axis or type or a factor of 2^14 or more, or
 * another negative errno.
 */
int tfl_reduce_prod(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t axis[WEFT_ONNX_LIST], dim[WEFT_MAX_RANK], at[WEFT_MAX_RANK], high = x->dtype == WEFT_INT8 ? INT8_MAX : INT16_MAX;
	int rank = 0, n_axes = ref_list(r, AXES, -1, WEFT_ONNX_LIST, axis);
	unsigned axes = 0;

	if (n_axes < 0 || (x->dtype != WEFT_INT8 && x->dtype != WEFT_INT16) || r->a->i[SHIFT] <= 16 || r->a->i[SHIFT] > 62 || r->a->i[MULTIPLIER] < 0)
		return n_axes < 0 ? n_axes : ref_fail(r, -EINVAL, "%s, shift %d", weft_dtype_name(x->dtype), (int)r->a->i[SHIFT]);
	for (int k = 0; k < n_axes; k++) {
		const int d = ref_axis(r, axis[k], x->rank);
		if (d < 0)
			return d;
		axes |= 1u << d;
	}
	for (int d = 0; d < x->rank; d++)
		if (!(axes >> d & 1) || r->a->i[KEEPDIMS])
			dim[rank++] = axes >> d & 1 ? 1 : x->dim[d];
	int err = ref_y(r, 0, x->dtype, rank, dim);
	if (err || r->shapes)
		return err;
	const int64_t n = REF_N(r->y[0]);
	int32_t *product = ref_alloc(r, n, sizeof *product);
	bool *begun = product ? ref_alloc(r, n, sizeof *begun) : NULL;
	for (int64_t i = 0; begun && i < REF_N(x); i++) {
		int64_t g = 0;
		ref_split(i, x->rank, x->dim, at);
		for (int d = 0; d < x->rank; d++)
			g = axes >> d & 1 ? g : g * x->dim[d] + at[d];
		const int32_t v = (int32_t)(ref_i(x, i) - r->a->i[X_ZP]);
		product[g] = begun[g] ? scaled(r, (int64_t)product[g] * v) : v;
		begun[g] = true;
	}
	for (int64_t i = 0; begun && i < n; i++) {
		const int64_t y = (int64_t)scaled(r, product[i]) + r->a->i[Y_ZP];
		ref_put_i(r->y[0], i, y > high ? high : y < -high - 1 ? -high - 1 : y);
	}
	err = begun ? 0 : -ENOMEM;
	free(product);
	free(begun);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BITCAST and EMBEDDING_LOOKUP_SPARSE.
 *
 * Source: LiteRT 2.3, what its kernels give.
 */
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

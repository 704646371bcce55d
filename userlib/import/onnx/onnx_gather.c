/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gather, GatherElements, GatherND, DepthToSpace, SpaceToDepth.
 *
 * TOSA gathers rows: values [N,K,C] by indices [N,W] of int32. Negative indices
 * count from the end.
 */
#include <errno.h>
#include <string.h>

#include "onnx_lower.h"

/* Returns the product of the numbers dim[from] to dim[to - 1]; 1 if there are none. */
static int64_t product(const int64_t *dim, int from, int to)
{
	int64_t n = 1;

	for (int i = from; i < to; i++)
		n *= dim[i];
	return n;
}

/*
 * Emits indices idx into n elements as int32, with n added to negative ones, which count from the
 * end. Indices that are out of range are not detected, but constants of 64 bits that do not fit
 * int32 are -ENOTSUP. Returns the graph tensor, or a negative errno; a negative idx is returned as
 * it is.
 */
static int positive(struct ox *l, int idx, int64_t n)
{
	int x = idx < 0 ? idx : ox_t(l, idx)->data ? ox_widen(l, idx) : ox_cast(l, idx, WEFT_INT32);

	if (x < 0)
		return x;
	int rank = ox_t(l, x)->rank, zero = ox_ramp(l, WEFT_INT32, rank, 0);
	int up = ox_binary(l, WEFT_OP_ADD, x, ox_ramp(l, WEFT_INT32, rank, (double)n)), below = ox_binary(l, WEFT_OP_GREATER, zero, x);
	return ox_select(l, below, up, x);
}

/*
 * Emits the w rows [1,w,c] of values, taken as a matrix [k,c], that the w int32 indices idx, which
 * are not negative, name. uint8, bool and uint16 are cast to int32 and back; int64 as well, if it
 * is constant and fits. Returns the graph tensor, -ENOTSUP for other int64, or another negative
 * errno.
 */
int ox_rows(struct ox *l, int values, int64_t k, int64_t c, int idx, int64_t w)
{
	if (values < 0 || idx < 0)
		return l->err;
	weft_dtype t = ox_t(l, values)->dtype, as = t;
	if (t == WEFT_UINT8 || t == WEFT_BOOL || t == WEFT_UINT16)
		as = WEFT_INT32;
	else if (t == WEFT_INT64)
		values = ox_widen(l, values);
	values = ox_reshape(l, as == t ? values : ox_cast(l, values, as), 3, (int64_t[]){ 1, k, c });
	idx = ox_reshape(l, idx, 2, (int64_t[]){ 1, w });
	if (values < 0 || idx < 0)
		return l->err;
	int y = ox_op(l, WEFT_OP_GATHER, NULL, (int[]){ values, idx }, 2, ox_t(l, values)->dtype, 3, (int64_t[]){ 1, w, c });
	return y < 0 ? y : ox_cast(l, y, t);
}

/*
 * Lowers Gather: the slices of operand 0 along the attribute's axis (default 0) that the indices,
 * operand 1, name; negative indices count from the end. Returns 0, -EINVAL if the axis is out of
 * range, -ENOTSUP if the result's rank is above 8 or a type is not taken, or another negative
 * errno.
 */
int ox_gather(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0), *i = v ? ox_in(l, 1) : NULL;
	int axis = i ? ox_axis(l, ox_attr_i(l, "axis", 0), v->t.rank) : -1;
	int8_t front[WEFT_MAX_RANK], back[WEFT_MAX_RANK];
	int64_t dim[2 * WEFT_MAX_RANK];

	if (axis < 0)
		return l->err;
	const int rank = v->t.rank - 1 + i->t.rank, ri = i->t.rank;
	if (rank > WEFT_MAX_RANK)
		return ox_fail(l, -ENOTSUP, "rank %d", rank);
	for (int d = 0; d < v->t.rank; d++)
		front[d] = (int8_t)(d == 0 ? axis : d <= axis ? d - 1 : d);
	const int64_t k = v->t.dim[axis], c = product(v->t.dim, 0, axis) * product(v->t.dim, axis + 1, v->t.rank);
	const int64_t w = weft_tensor_elements(&i->t);
	int at = positive(l, ox_get(l, i, NULL), k);
	int y = ox_rows(l, ox_transpose(l, ox_get(l, v, NULL), front), k, c, at, w);
	/* [indices, before the axis, behind it] to [before, indices, behind]. */
	for (int d = 0; d < rank; d++)
		dim[d] = d < ri ? i->t.dim[d] : d - ri < axis ? v->t.dim[d - ri] : v->t.dim[d - ri + 1];
	for (int d = 0; d < rank; d++)
		back[d] = (int8_t)(d < axis ? ri + d : d < axis + ri ? d - axis : d);
	y = ox_reshape(l, y, rank, dim);
	return ox_result(l, 0, y < 0 ? y : ox_transpose(l, y, back), NULL, false);
}

/*
 * Adds a new int32 constant of the given rank with dim[axis] elements along axis, element i of
 * which is i * stride; its other dimensions are 1, so it broadcasts to dim. Returns the graph
 * tensor, or a negative errno.
 */
static int ladder(struct ox *l, int rank, const int64_t *dim, int axis, int64_t stride)
{
	int64_t one[WEFT_MAX_RANK];
	int32_t *p = ox_alloc(l, dim[axis], sizeof *p);

	for (int i = 0; i < rank; i++)
		one[i] = i == axis ? dim[i] : 1;
	for (int64_t i = 0; p && i < dim[axis]; i++)
		p[i] = (int32_t)(i * stride);
	return ox_data(l, WEFT_INT32, rank, one, p);
}

/*
 * Lowers GatherElements: y[i,j,..] = x[i, idx[i,j,..], ..] along the attribute's axis (default 0),
 * with x as operand 0 and idx as operand 1; negative indices count from the end. The indices become
 * positions in x taken as one vector, from which single elements are gathered. Returns 0, -EINVAL
 * if the ranks differ or the axis is out of range, or another negative errno.
 */
int ox_gather_elements(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0), *i = v ? ox_in(l, 1) : NULL;
	int axis = i ? ox_axis(l, ox_attr_i(l, "axis", 0), v->t.rank) : -1;

	if (axis < 0)
		return l->err;
	if (i->t.rank != v->t.rank)
		return ox_fail(l, -EINVAL, "ranks %d and %d", v->t.rank, i->t.rank);
	int at = positive(l, ox_get(l, i, NULL), v->t.dim[axis]);
	int64_t stride = 1, n = weft_tensor_elements(&v->t), w = weft_tensor_elements(&i->t);
	for (int d = v->t.rank - 1; d >= 0 && at >= 0; d--) {
		if (d == axis)
			at = ox_binary(l, WEFT_OP_MUL, at, ox_ramp(l, WEFT_INT32, v->t.rank, (double)stride));
		stride *= v->t.dim[d];
	}
	stride = 1;
	for (int d = v->t.rank - 1; d >= 0 && at >= 0; d--) {
		if (d != axis)
			at = ox_binary(l, WEFT_OP_ADD, at, ladder(l, v->t.rank, i->t.dim, d, stride));
		stride *= v->t.dim[d];
	}
	int y = ox_rows(l, ox_get(l, v, NULL), n, 1, at, w);
	return ox_result(l, 0, ox_reshape(l, y, i->t.rank, i->t.dim), NULL, false);
}

/*
 * Lowers GatherND: each row of indices, operand 1, becomes one index into the data, operand 0,
 * flattened over the batch_dims first dimensions and the dimensions that the row addresses;
 * negative indices count from the end. Returns 0, -EINVAL if ranks or batch dimensions do not fit
 * or the result's rank is above 8, or another negative errno.
 */
int ox_gather_nd(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0), *i = v ? ox_in(l, 1) : NULL;
	int64_t batch = ox_attr_i(l, "batch_dims", 0), start[WEFT_MAX_RANK] = { 0 }, dim[2 * WEFT_MAX_RANK];

	if (!i)
		return l->err;
	const int ri = i->t.rank, rv = v->t.rank, b = (int)batch, m = ri ? (int)i->t.dim[ri - 1] : 0;
	if (batch < 0 || batch >= ri || batch >= rv || m < 1 || b + m > rv || ri - 1 + rv - m - b > WEFT_MAX_RANK)
		return ox_fail(l, -EINVAL, "indices of rank %d, %d each, %d batch dimensions, data of rank %d", ri, m, b, rv);
	int x = ox_get(l, i, NULL), at = -1;
	weft_tensor part = i->t;
	part.dim[ri - 1] = 1;
	for (int k = 0; k < m && x >= 0; k++) {
		start[ri - 1] = k;
		int p = positive(l, ox_slice(l, x, start, part.dim), v->t.dim[b + k]);
		p = p < 0 ? p : ox_binary(l, WEFT_OP_MUL, p, ox_ramp(l, WEFT_INT32, ri, (double)product(v->t.dim, b + k + 1, b + m)));
		at = k ? ox_binary(l, WEFT_OP_ADD, at, p) : p;
		if (at < 0)
			return at;
	}
	int64_t inner = product(v->t.dim, b, b + m);
	for (int d = b - 1; d >= 0 && x >= 0; d--) {
		if (i->t.dim[d] != v->t.dim[d])
			return ox_fail(l, -EINVAL, "batch dimension %d differs", d);
		at = ox_binary(l, WEFT_OP_ADD, at, ladder(l, ri, part.dim, d, inner));
		inner *= v->t.dim[d];
	}
	int64_t c = product(v->t.dim, b + m, rv), w = weft_tensor_elements(&part);
	int y = x < 0 ? x : ox_rows(l, ox_get(l, v, NULL), inner, c, at, w), rank = 0;
	for (int d = 0; d < ri - 1; d++)
		dim[rank++] = i->t.dim[d];
	for (int d = b + m; d < rv; d++)
		dim[rank++] = v->t.dim[d];
	return ox_result(l, 0, ox_reshape(l, y, rank, dim), NULL, false);
}

/*
 * Lowers DepthToSpace of operand 0, [N,C,H,W]: channels become blocks of blocksize by blocksize
 * pixels, in the order of mode CRD or, without it, DCR. Returns 0, -EINVAL if the rank is not 4,
 * blocksize is not 1 to 2^15 or C is no multiple of blocksize^2, or another negative errno.
 */
int ox_depth_to_space(struct ox *l)
{
	static const int8_t dcr[WEFT_MAX_RANK] = { 0, 3, 4, 1, 5, 2 }, crd[WEFT_MAX_RANK] = { 0, 1, 4, 2, 5, 3 };
	int err = ox_need_rank(l, 0, 4, 4);
	struct ox_value *v = err ? NULL : ox_in(l, 0);
	int64_t s = ox_attr_i(l, "blocksize", 0);
	bool by_column = ox_attr_is(l, "mode", "CRD", false);

	if (!v)
		return l->err;
	const int64_t *d = v->t.dim;
	if (s < 1 || s > 1 << 15 || d[1] % (s * s))
		return ox_fail(l, -EINVAL, "blocks of %lld for %lld channels", (long long)s, (long long)d[1]);
	int64_t c = d[1] / (s * s), six[2][6] = { { d[0], s, s, c, d[2], d[3] }, { d[0], c, s, s, d[2], d[3] } };
	int x = ox_transpose(l, ox_reshape(l, ox_get(l, v, NULL), 6, six[by_column]), by_column ? crd : dcr);
	return ox_result(l, 0, ox_reshape(l, x, 4, (int64_t[]){ d[0], c, d[2] * s, d[3] * s }), NULL, false);
}

/*
 * Lowers SpaceToDepth of operand 0, [N,C,H,W]: blocks of blocksize by blocksize pixels become
 * channels, [N,C*blocksize^2,H/blocksize,W/blocksize]. Returns 0, -EINVAL if the rank is not 4,
 * blocksize is not 1 to 2^15 or H or W is no multiple of it, or another negative errno.
 */
int ox_space_to_depth(struct ox *l)
{
	static const int8_t perm[WEFT_MAX_RANK] = { 0, 3, 5, 1, 2, 4 };
	int err = ox_need_rank(l, 0, 4, 4);
	struct ox_value *v = err ? NULL : ox_in(l, 0);
	int64_t s = ox_attr_i(l, "blocksize", 0);

	if (!v)
		return l->err;
	const int64_t *d = v->t.dim;
	if (s < 1 || s > 1 << 15 || d[2] % s || d[3] % s)
		return ox_fail(l, -EINVAL, "blocks of %lld for %lld by %lld", (long long)s, (long long)d[2], (long long)d[3]);
	int x = ox_transpose(l, ox_reshape(l, ox_get(l, v, NULL), 6, (int64_t[]){ d[0], d[1], d[2] / s, s, d[3] / s, s }), perm);
	return ox_result(l, 0, ox_reshape(l, x, 4, (int64_t[]){ d[0], d[1] * s * s, d[2] / s, d[3] / s }), NULL, false);
}

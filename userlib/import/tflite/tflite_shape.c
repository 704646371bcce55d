/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes extents that the file leaves open: shape_signature has -1 there, and
 * shape any number, mostly 1. Each is computed from the extents of the
 * operator's inputs. Only extents that the lowering would otherwise take from
 * the file are computed here; for all other operators the shape of the lowered
 * result is used (need_result_shape).
 */
#include <errno.h>

#include "tflite_lower.h"

/*
 * Says whether the file leaves dimension i of the result at hand open, that is, known only when the
 * network runs.
 */
bool tfl_is_open(const struct tfl_lower *l, int i)
{
	const struct fb_vec *s = &tfl_file_tensor(l, l->i_y)->signature;

	return (uint32_t)l->y.rank == s->n && fb_i32_at(&l->m->b, s, (uint32_t)i) < 0;
}

/* Says whether the file leaves any dimension of the result at hand open. */
static bool any_open(const struct tfl_lower *l)
{
	for (int i = 0; i < l->y.rank; i++)
		if (tfl_is_open(l, i))
			return true;
	return false;
}

/*
 * Sets *t to type and shape of operand k as the graph has them, or as the file has them for a
 * constant that the graph does not have. Returns false if nothing gives the operand a shape yet.
 */
static bool extents(struct tfl_lower *l, int k, weft_tensor *t)
{
	int i = tfl_has(l, k) ? fb_i32_at(&l->m->b, &l->op->in, (uint32_t)k) : -1;

	if (i < 0 || i >= l->m->n_tensors)
		return false;
	if (l->raw[i] < 0 && l->seen[i] < 0)
		return tfl_file_tensor(l, i)->data && !tfl_shape(l, i, t);
	*t = l->g->tensors[l->raw[i] >= 0 ? l->raw[i] : l->seen[i]].t;
	return true;
}

/*
 * Sets y's dimensions, all 1 before, to those to which the first n operands broadcast; that they do
 * is not checked here. Returns false if an operand's are not known or it has a higher rank than y.
 */
static bool broadcast(struct tfl_lower *l, int n, weft_tensor *y)
{
	weft_tensor t;

	for (int k = 0; k < n; k++) {
		if (!extents(l, k, &t) || t.rank > y->rank)
			return false;
		for (int i = 0; i < t.rank; i++)
			if (t.dim[i] != 1)
				y->dim[y->rank - t.rank + i] = t.dim[i];
	}
	return true;
}

/*
 * Sets y's batch, rows and columns to those of a window over x. `type` is the kind of options,
 * field holds the numbers of those for padding, two strides and two dilations (-1: none), kernel
 * the window's rows and columns. Returns false if the options are not valid.
 */
static bool windows(struct tfl_lower *l, int type, const int field[5], const int64_t kernel[2], const weft_tensor *x,
                    weft_tensor *y)
{
	struct tfl_window w;
	int padding, stride, dilation = 1;

	for (int i = 0; i < 2; i++) {
		if (tfl_option(l, type, field[0], 1, 0, &padding) || tfl_option(l, type, field[1 + i], 4, 0, &stride) ||
		    (field[3] >= 0 && tfl_option(l, type, field[3 + i], 4, 1, &dilation)) ||
		    tfl_window(l, padding, x->dim[1 + i], kernel[i], stride, dilation, &w))
			return false;
		y->dim[1 + i] = w.out;
	}
	y->dim[0] = x->dim[0];
	return true;
}

/*
 * Sets y's dimensions but the last to those of the convolution at hand. Returns false if they
 * cannot be told from the operands.
 */
static bool conv(struct tfl_lower *l, weft_tensor *y)
{
	static const int conv_fields[5] = { CONV_PADDING, CONV_STRIDE_H, CONV_STRIDE_W, CONV_DILATION_H, CONV_DILATION_W };
	static const int dw_fields[5] = { DW_PADDING, DW_STRIDE_H, DW_STRIDE_W, DW_DILATION_H, DW_DILATION_W };
	bool dw = l->op->code == TFL_DEPTHWISE_CONV_2D;
	weft_tensor x, w;

	return extents(l, 0, &x) && extents(l, 1, &w) && x.rank == 4 && w.rank == 4 && y->rank == 4 &&
	       windows(l, dw ? OPTIONS_DEPTHWISE : OPTIONS_CONV, dw ? dw_fields : conv_fields, w.dim + 1, &x, y);
}

/*
 * Sets y's dimensions but the last to those of the pool at hand. Returns false if they cannot be
 * told from the operand.
 */
static bool pool(struct tfl_lower *l, weft_tensor *y)
{
	static const int fields[5] = { POOL_PADDING, POOL_STRIDE_H, POOL_STRIDE_W, -1, -1 };
	int h, w;
	weft_tensor x;

	return !tfl_option(l, OPTIONS_POOL, POOL_FILTER_H, 4, 0, &h) && !tfl_option(l, OPTIONS_POOL, POOL_FILTER_W, 4, 0, &w) &&
	       extents(l, 0, &x) && x.rank == 4 && y->rank == 4 && windows(l, OPTIONS_POOL, fields, (int64_t[]){ h, w }, &x, y);
}

/*
 * Sets y's dimensions to the shape that RESHAPE has as constant operand 1 or as an option; one -1
 * stands for what the others leave of the operand's elements. Returns false if it is not known, has
 * another rank, or its numbers do not divide the operand's elements; that a shape without -1 has as
 * many of them is not checked here.
 */
static bool reshape(struct tfl_lower *l, weft_tensor *y)
{
	int64_t v[TFL_MAX_RANK], left;
	weft_tensor x;
	int rest = -1, n;

	if (!extents(l, 0, &x))
		return false;
	if (tfl_is_const(l, 1))
		n = tfl_ints(l, 1, TFL_MAX_RANK, v);
	else
		n = tfl_option_ints(l, OPTIONS_RESHAPE, RESHAPE_SHAPE, TFL_MAX_RANK, v);
	if (n != y->rank)
		return false;
	left = weft_tensor_elements(&x);
	for (int i = 0; i < n; i++) {
		if (v[i] == -1 && rest < 0)
			rest = i;
		else if (v[i] < 1 || left % v[i])
			return false;
		else
			left /= v[i];
	}
	for (int i = 0; i < n; i++)
		y->dim[i] = i == rest ? left : v[i];
	return true;
}

/*
 * Sets y's dimensions to operand 0's with a 1 inserted at the axis in constant operand 1. Returns
 * false if they are not known or do not fit y's rank.
 */
static bool expand_dims(struct tfl_lower *l, weft_tensor *y)
{
	int64_t axis;
	weft_tensor x;

	if (!extents(l, 0, &x) || !tfl_is_const(l, 1) || tfl_ints(l, 1, 1, &axis) != 1 || y->rank != x.rank + 1)
		return false;
	axis += axis < 0 ? y->rank : 0;
	for (int i = 0; i < y->rank; i++)
		y->dim[i] = i == axis ? 1 : x.dim[i > axis ? i - 1 : i];
	return axis >= 0 && axis < y->rank;
}

/*
 * Sets *axes to the n axes v of a tensor of the given rank, as bits; negative ones count from the
 * end. Returns false if one is out of range.
 */
static bool axes_of(const int64_t *v, int n, int rank, unsigned *axes)
{
	*axes = 0;
	for (int i = 0; i < n; i++) {
		int64_t axis = v[i] + (v[i] < 0 ? rank : 0);
		if (axis < 0 || axis >= rank)
			return false;
		*axes |= 1u << axis;
	}
	return true;
}

/*
 * Sets y's dimensions to operand 0's without the axes that the option lists, or without all
 * dimensions of 1 if it lists none. Returns false if they are not known or do not fit y's rank.
 */
static bool squeeze(struct tfl_lower *l, weft_tensor *y)
{
	int64_t v[TFL_MAX_RANK];
	unsigned gone;
	weft_tensor x;
	int n = tfl_option_ints(l, OPTIONS_SQUEEZE, SQUEEZE_DIMS, TFL_MAX_RANK, v), k = 0;

	if (n < 0 || !extents(l, 0, &x) || !axes_of(v, n, x.rank, &gone))
		return false;
	for (int i = 0; i < x.rank; i++)
		if (n ? !(gone & 1u << i) : x.dim[i] != 1) {
			if (k == y->rank)
				return false;
			y->dim[k++] = x.dim[i];
		}
	return k == y->rank;
}

/*
 * Sets y's dimensions to operand 0's with the axes in constant operand 1 dropped, or 1 if option
 * keep_dims is set. Returns false if they are not known or do not fit y's rank.
 */
static bool reduce(struct tfl_lower *l, weft_tensor *y)
{
	int64_t v[TFL_MAX_RANK];
	unsigned gone;
	weft_tensor x;
	int keep, k = 0, n = tfl_is_empty(l, 1) || tfl_is_const(l, 1) ? tfl_axes(l, 1, TFL_MAX_RANK, v) : -1;

	if (n < 0 || !extents(l, 0, &x) || tfl_option(l, OPTIONS_REDUCE, REDUCE_KEEP_DIMS, 1, 0, &keep) ||
	    !axes_of(v, n, x.rank, &gone))
		return false;
	for (int i = 0; i < x.rank; i++) {
		bool one = gone & 1u << i;
		if (one && !keep)
			continue;
		if (k == y->rank)
			return false;
		y->dim[k++] = one ? 1 : x.dim[i];
	}
	return k == y->rank;
}

/*
 * Sets y's dimensions but the last to those of FULLY_CONNECTED: operand 0's own if option
 * keep_num_dims is set and the ranks agree, else, for rank 2, the number of its rows. Returns false
 * if they are not known.
 */
static bool dense(struct tfl_lower *l, weft_tensor *y)
{
	weft_tensor x, w;
	int keep;

	if (!extents(l, 0, &x) || !extents(l, 1, &w) || w.rank != 2 ||
	    tfl_option(l, OPTIONS_FULLY_CONNECTED, FC_KEEP_DIMS, 1, 0, &keep))
		return false;
	for (int i = 0; keep && x.rank == y->rank && i < x.rank - 1; i++)
		y->dim[i] = x.dim[i];
	if (y->rank == 2)
		y->dim[0] = weft_tensor_elements(&x) / w.dim[1];
	return y->rank == 2 || (keep && x.rank == y->rank);
}

/*
 * Sets y's dimensions to those of BATCH_MATMUL, with its transpositions, where batches broadcast.
 * Returns false if an operand's are not known or its rank does not fit.
 */
static bool matmul(struct tfl_lower *l, weft_tensor *y)
{
	weft_tensor x[2];
	int adj[2];

	for (int k = 0; k < 2; k++)
		if (!extents(l, k, &x[k]) || x[k].rank < 2 || x[k].rank > y->rank ||
		    tfl_option(l, OPTIONS_BATCH_MATMUL, k ? MATMUL_ADJ_Y : MATMUL_ADJ_X, 1, 0, &adj[k]))
			return false;
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < x[k].rank - 2; i++)
			if (x[k].dim[i] != 1)
				y->dim[y->rank - x[k].rank + i] = x[k].dim[i];
	y->dim[y->rank - 2] = x[0].dim[x[0].rank - (adj[0] ? 1 : 2)];
	y->dim[y->rank - 1] = x[1].dim[x[1].rank - (adj[1] ? 2 : 1)];
	return true;
}

/*
 * Sets y's dimensions to operand 0's except along the axis in that field of the options of that type. y's
 * number there stays as it is (CONCATENATION), or, if `insert` is set, the axis is a new one with the number
 * of operands (PACK). Returns false if they are not known or do not fit y's rank.
 */
static bool along(struct tfl_lower *l, int type, int field, bool insert, weft_tensor *y)
{
	weft_tensor x;
	int axis;

	if (tfl_option(l, type, field, 4, 0, &axis) || !extents(l, 0, &x) || y->rank != x.rank + insert)
		return false;
	axis += axis < 0 ? y->rank : 0;
	for (int i = 0; i < y->rank; i++)
		if (i != axis)
			y->dim[i] = x.dim[insert && i > axis ? i - 1 : i];
	if (insert && axis >= 0 && axis < y->rank)
		y->dim[axis] = l->op->in.n;
	return true;
}

/*
 * Appends dimensions from..to - 1 of t to y's at index *at, which moves on. Returns false if y's
 * rank has no room.
 */
static bool append(const weft_tensor *t, int from, int to, weft_tensor *y, int *at)
{
	for (int i = from; i < to; i++, (*at)++) {
		if (*at >= y->rank)
			return false;
		y->dim[*at] = t->dim[i];
	}
	return true;
}

/*
 * Sets y's dimensions to those of GATHER: operand 0's with the axis replaced by the indices'
 * dimensions behind the batch. Returns false if they are not known or do not fit y's rank.
 */
static bool gather(struct tfl_lower *l, weft_tensor *y)
{
	weft_tensor x, idx;
	int axis, batch, n = 0;

	if (!extents(l, 0, &x) || !extents(l, 1, &idx) || tfl_option(l, OPTIONS_GATHER, GATHER_AXIS, 4, 0, &axis) ||
	    tfl_option(l, OPTIONS_GATHER, GATHER_BATCH, 4, 0, &batch))
		return false;
	axis += axis < 0 ? x.rank : 0;
	batch += batch < 0 ? idx.rank : 0;
	if (axis < 0 || axis >= x.rank || batch < 0 || batch > idx.rank)
		return false;
	return append(&x, 0, axis, y, &n) && append(&idx, batch, idx.rank, y, &n) && append(&x, axis + 1, x.rank, y, &n) && n == y->rank;
}

/*
 * Sets y's dimensions to those of GATHER_ND: operand 1's but the last, then those of operand 0 that
 * the indices do not address. Returns false if they are not known or do not fit y's rank.
 */
static bool gather_nd(struct tfl_lower *l, weft_tensor *y)
{
	weft_tensor x, idx;
	int n = 0;

	if (!extents(l, 0, &x) || !extents(l, 1, &idx) || !idx.rank || idx.dim[idx.rank - 1] > x.rank)
		return false;
	return append(&idx, 0, idx.rank - 1, y, &n) && append(&x, (int)idx.dim[idx.rank - 1], x.rank, y, &n) && n == y->rank;
}

/*
 * Sets y's dimensions to those of SVDF: operand 0's batch, and the number of units that the file
 * says. Returns false if the batch is not known or a rank is not 2.
 */
static bool svdf(struct tfl_lower *l, weft_tensor *y)
{
	weft_tensor x;

	if (!extents(l, 0, &x) || x.rank != 2 || y->rank != 2)
		return false;
	y->dim[0] = x.dim[0];
	y->dim[1] = l->y.dim[1];
	return true;
}

/*
 * Sets y's dimensions to the numbers in constant operand k. Returns false if that is not constant
 * or has not as many numbers as y's rank.
 */
static bool as_said(struct tfl_lower *l, int k, weft_tensor *y)
{
	int64_t v[TFL_MAX_RANK];

	if (!tfl_is_const(l, k) || tfl_ints(l, k, TFL_MAX_RANK, v) != y->rank)
		return false;
	for (int i = 0; i < y->rank; i++)
		y->dim[i] = v[i];
	return true;
}

/* Sets y's dimensions to those of operand k. Returns false if they are not known or of another rank. */
static bool like_operand(struct tfl_lower *l, int k, weft_tensor *y)
{
	weft_tensor x;

	if (!extents(l, k, &x) || x.rank != y->rank)
		return false;
	for (int i = 0; i < x.rank; i++)
		y->dim[i] = x.dim[i];
	return true;
}

/* Sets y's dimensions to those of operand 0. Returns false if they are not known or of another rank. */
static bool same(struct tfl_lower *l, weft_tensor *y)
{
	return like_operand(l, 0, y);
}

/*
 * Sets y's dimensions, all 1 before, to those that follow from the operands of the operator at
 * hand. Returns false if they cannot be told, also for operators whose shape is not computed here.
 */
static bool find(struct tfl_lower *l, weft_tensor *y)
{
	switch (l->op->code) {
	case TFL_ADD: case TFL_SUB: case TFL_MUL: case TFL_DIV: case TFL_MAXIMUM: case TFL_MINIMUM: case TFL_PRELU:
	case TFL_SQUARED_DIFFERENCE: case TFL_FLOOR_DIV: case TFL_FLOOR_MOD:
	case TFL_LESS: case TFL_GREATER: case TFL_GREATER_EQUAL: case TFL_LESS_EQUAL: case TFL_EQUAL: case TFL_NOT_EQUAL:
	case TFL_LOGICAL_AND: case TFL_LOGICAL_OR:
		return broadcast(l, 2, y);
	case TFL_SELECT_V2: return broadcast(l, 3, y);
	case TFL_SELECT: return like_operand(l, 1, y);
	case TFL_CONV_2D: case TFL_DEPTHWISE_CONV_2D: return conv(l, y);
	case TFL_AVERAGE_POOL_2D: case TFL_MAX_POOL_2D: return pool(l, y);
	case TFL_RESHAPE: return reshape(l, y);
	case TFL_EXPAND_DIMS: return expand_dims(l, y);
	case TFL_SQUEEZE: return squeeze(l, y);
	case TFL_MEAN: case TFL_SUM: case TFL_REDUCE_MAX: case TFL_REDUCE_MIN: return reduce(l, y);
	case TFL_FULLY_CONNECTED: return dense(l, y);
	case TFL_BATCH_MATMUL: return matmul(l, y);
	case TFL_CONCATENATION: return along(l, OPTIONS_CONCAT, CONCAT_AXIS, false, y);
	case TFL_PACK: return along(l, OPTIONS_PACK, PACK_AXIS, true, y);
	case TFL_GATHER: return gather(l, y);
	case TFL_GATHER_ND: return gather_nd(l, y);
	case TFL_SVDF: return svdf(l, y);
	case TFL_TRANSPOSE_CONV: case TFL_FILL: return as_said(l, 0, y);
	case TFL_BROADCAST_TO: return as_said(l, 1, y);
	case TFL_LOGISTIC: case TFL_CODE_TANH: case TFL_LOGICAL_NOT: case TFL_SOFTMAX: case TFL_QUANTIZE: case TFL_DEQUANTIZE:
	case TFL_L2_NORMALIZATION: case TFL_LOG_SOFTMAX:
		return same(l, y);
	default: return false;
	}
}

/*
 * Replaces the dimensions of the result at hand, l->y, that the file leaves open by those that follow
 * from the operands; if they cannot be told, they stay as in the file. Returns 0, -EINVAL if one is below
 * 1 or there are more than INT32_MAX elements, or the errno in l->err of what failed while looking.
 */
int tfl_find_shape(struct tfl_lower *l)
{
	weft_tensor y = l->y;
	int64_t n = 1;

	if (!any_open(l))
		return 0;
	for (int i = 0; i < y.rank; i++)
		y.dim[i] = 1;
	l->err = 0;                    /* a refusal before, after which the operator was lowered in another way, is no failure of find() */
	if (!find(l, &y))
		return l->err;
	for (int i = 0; i < y.rank; i++)
		if (tfl_is_open(l, i)) {
			if (y.dim[i] < 1)
				return tfl_fail(l, -EINVAL, "tensor %d: dimension %d becomes %lld%s", l->i_y, i, (long long)y.dim[i],
				                l->n_open ? "; --bind gives inputs the shape that the file leaves open" : "");
			l->y.dim[i] = y.dim[i];
		}
	for (int i = 0; i < y.rank; i++) {
		if (l->y.dim[i] > INT32_MAX / n)
			return tfl_fail(l, -EINVAL, "tensor %d: more than %d elements", l->i_y, INT32_MAX);
		n *= l->y.dim[i];
	}
	return 0;
}

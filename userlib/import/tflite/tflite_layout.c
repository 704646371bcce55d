/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that only move values: RESHAPE and its kin, TRANSPOSE, PAD,
 * CONCATENATION. Values keep their bits, so operand and result must have the
 * same quantisation where they have one (but see CONCATENATION of uint8).
 */
#include <errno.h>
#include <math.h>

#include "tflite_lower.h"

int tfl_same_quant(struct tfl_lower *l, const struct tfl_quant *x, const struct tfl_quant *y)
{
	if (x->t == y->t && x->scale == y->scale && x->zp == y->zp)
		return 0;
	return tfl_fail(l, -ENOTSUP, "operand (scale %g, zero point %d) and result (%g, %d) are quantised differently",
	                (double)x->scale, (int)x->zp, (double)y->scale, (int)y->zp);
}

/*
 * Returns the graph tensor of operand k for an operator that only moves values. Returns -EINVAL if the
 * operand's type is not the result's; -ENOTSUP if both are of 8 or 16 bits, the operand has one scale,
 * and scale or zero point differ; or another negative errno.
 */
int tfl_moved(struct tfl_lower *l, int k)
{
	struct tfl_quant xq, yq;
	int i = tfl_operand(l, k), err;

	if (i < 0)
		return i;
	if (tfl_file_tensor(l, i)->type != tfl_file_tensor(l, l->i_y)->type)
		return tfl_fail(l, -EINVAL, "operand %d and result have types %d and %d", k, tfl_file_tensor(l, i)->type,
		                tfl_file_tensor(l, l->i_y)->type);
	if ((l->y.dtype == WEFT_INT8 || l->y.dtype == WEFT_INT16) && tfl_file_tensor(l, i)->scale.n == 1 &&
	    ((err = tfl_quant(l, i, TFL_Q8_16 | TFL_QZP, &xq)) || (err = tfl_quant(l, l->i_y, TFL_Q8_16 | TFL_QZP, &yq)) ||
	      (err = tfl_same_quant(l, &xq, &yq))))
		return err;
	return tfl_value(l, k);
}

/*
 * Lowers RESHAPE, SQUEEZE and EXPAND_DIMS: operand 0 in the result's shape, which the file gives. Operand 0
 * has to have the result's type and quantisation (tfl_moved()). Returns the result's tensor, -EINVAL if the
 * number of elements differs, or another negative errno.
 */
int tfl_lower_reshape(struct tfl_lower *l)
{
	int x = tfl_moved(l, 0);

	if (x < 0)
		return x;
	int64_t n = weft_tensor_elements(&l->g->tensors[x].t), m = weft_tensor_elements(&l->y);
	if (n != m)
		return tfl_fail(l, -EINVAL, "%lld elements into %lld", (long long)n, (long long)m);
	return tfl_step(l, WEFT_OP_RESHAPE, NULL, &x, 1, l->y.dtype, l->y.rank, l->y.dim, true);
}

/*
 * Lowers TRANSPOSE of operand 0 by the permutation in constant operand 1: axis i of the result is the axis
 * that its number i names (negative ones count from the end). Operand 0 has to have the result's type and
 * quantisation (tfl_moved()). Returns the result's tensor, -EINVAL if that is no permutation of all axes, or
 * another negative errno.
 */
int tfl_lower_transpose(struct tfl_lower *l)
{
	weft_attr a = { .perm = { { 0 } } };
	int64_t v[TFL_MAX_RANK], dim[TFL_MAX_RANK];
	unsigned seen = 0;
	int x = tfl_moved(l, 0);

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	int n = tfl_ints(l, 1, TFL_MAX_RANK, v);
	if (n < 0)
		return n;
	if (n != t.rank)
		return tfl_fail(l, -EINVAL, "permutation of %d for rank %d", n, t.rank);
	for (int i = 0; i < n; i++) {
		int64_t p = v[i] < 0 ? v[i] + n : v[i];
		if (p < 0 || p >= n || (seen & 1u << p))
			return tfl_fail(l, -EINVAL, "permutation entry %d is %lld", i, (long long)v[i]);
		seen |= 1u << p;
		a.perm.perm[i] = (int32_t)p;
		dim[i] = t.dim[p];
	}
	return tfl_step(l, WEFT_OP_TRANSPOSE, &a, &x, 1, t.dtype, n, dim, true);
}

/*
 * Lowers PAD: operand 0 padded as constant operand 1 says (a pair of before and after for each axis) with the
 * real number 0, which is the zero point for 8 bits and int16. Operand 0 has to have the result's type and
 * quantisation (tfl_moved()). Returns the result's tensor, -EINVAL if there are not as many pairs as axes or
 * a number is not 0..INT32_MAX / 4, or another negative errno.
 */
int tfl_lower_pad(struct tfl_lower *l)
{
	weft_attr a = { .pad = { .value = 0 } };
	struct tfl_quant yq;
	int64_t v[2 * TFL_MAX_RANK];
	int x = tfl_moved(l, 0), err;

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	int n = tfl_ints(l, 1, 2 * TFL_MAX_RANK, v);
	if (n < 0)
		return n;
	if (n != 2 * t.rank)
		return tfl_fail(l, -EINVAL, "%d paddings for rank %d", n, t.rank);
	for (int i = 0; i < t.rank; i++) {
		int64_t before = v[2 * i], after = v[2 * i + 1];
		if (before < 0 || after < 0 || before > INT32_MAX / 4 || after > INT32_MAX / 4)
			return tfl_fail(l, -EINVAL, "padding %lld and %lld of dimension %d", (long long)before, (long long)after, i);
		a.pad.before[i] = (int32_t)before;
		a.pad.after[i] = (int32_t)after;
		t.dim[i] += before + after;
	}
	if (t.dtype == WEFT_INT8 || t.dtype == WEFT_INT16) {
		if ((err = tfl_need_result(l, TFL_Q8_16 | TFL_QZP, &yq)))
			return err;
		a.pad.value = yq.zp;
	}
	return tfl_step(l, WEFT_OP_PAD, &a, &x, 1, t.dtype, t.rank, t.dim, true);
}

/*
 * Emits operand k in the result's quantisation. If a uint8 operand has another one than a uint8 result, a
 * TABLE of 256 values does what TFLite does in float32; other types have to have the result's. Returns
 * the graph tensor, -EINVAL if the types differ, -ENOTSUP if the quantisation of other types does or the
 * scales are too far apart for float32, or another negative errno.
 */
static int requantised(struct tfl_lower *l, int k)
{
	struct tfl_quant xq, yq;
	int i = tfl_operand(l, k), err;
	int64_t n = 256;

	if (i < 0 || tfl_file_tensor(l, i)->type != TFL_UINT8 || l->y.dtype != WEFT_INT8)
		return tfl_moved(l, k);
	if ((err = tfl_quant(l, i, TFL_Q8, &xq)) || (err = tfl_need_result(l, TFL_Q8, &yq)))
		return err;
	if (xq.scale == yq.scale && xq.zp == yq.zp)
		return tfl_moved(l, k);
	if (tfl_file_tensor(l, l->i_y)->type != TFL_UINT8)
		return tfl_fail(l, -EINVAL, "operand %d is uint8, the result int8", k);
	float inverse = 1.0f / yq.scale, scale = xq.scale * inverse, bias = -(float)(xq.zp + 128) * scale;
	if (!isfinite(255 * scale) || !isfinite(bias))
		return tfl_fail(l, -ENOTSUP, "operand %d: its scale %g over the result's %g is no number of float32", k,
		                (double)xq.scale, (double)yq.scale);
	int x = tfl_value(l, k);
	int8_t *table = x < 0 ? NULL : tfl_alloc(l, n, 1);
	if (!table)
		return x < 0 ? x : l->err;
	for (int v = 0; v < 256; v++) {
		float product = (float)v * scale;
		float y = roundf(product + bias) + (float)yq.zp;
		table[v] = (int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
	}
	int t = tfl_data(l, "table", WEFT_INT8, 1, &n, table);
	weft_tensor s = l->g->tensors[x].t;
	return t < 0 ? t : tfl_step(l, WEFT_OP_TABLE, NULL, (int[]){ x, t }, 2, WEFT_INT8, s.rank, s.dim, false);
}

/*
 * Lowers CONCATENATION of up to WEFT_OP_MAX_INPUTS operands along the option's axis. TFLite's int8 kernel
 * copies bytes, so operands other than uint8 have to be quantised like the result. Returns the result's
 * tensor; -ENOTSUP if they are not, there is an activation, or the number of operands is another; -EINVAL
 * if the axis is out of range or an operand has another type or rank; or another negative errno.
 */
int tfl_lower_concat(struct tfl_lower *l)
{
	int n = (int)l->op->in.n, in[WEFT_OP_MAX_INPUTS], axis, activation, err;
	int64_t total = 0;

	if ((err = tfl_option(l, OPTIONS_CONCAT, CONCAT_AXIS, 4, 0, &axis)) ||
	    (err = tfl_activation(l, OPTIONS_CONCAT, CONCAT_ACTIVATION, &activation)))
		return err;
	if (activation)
		return tfl_fail(l, -ENOTSUP, "activation %d is not supported", activation);
	if (n < 1 || n > WEFT_OP_MAX_INPUTS)
		return tfl_fail(l, -ENOTSUP, "%d operands, not 1..%d", n, WEFT_OP_MAX_INPUTS);
	int rank = l->y.rank;
	if (axis < -rank || axis >= rank)
		return tfl_fail(l, -EINVAL, "axis %d of rank %d", axis, rank);
	axis = axis < 0 ? axis + rank : axis;
	for (int k = 0; k < n; k++) {
		if ((in[k] = requantised(l, k)) < 0)
			return in[k];
		weft_tensor t = l->g->tensors[in[k]].t;
		if (t.rank != rank)
			return tfl_fail(l, -EINVAL, "operand %d has rank %d, not %d", k, t.rank, rank);
		total += t.dim[axis];
	}
	weft_tensor y = l->y;
	weft_attr a = { .axis = { .axis = axis } };
	y.dim[axis] = total;
	return tfl_step(l, WEFT_OP_CONCAT, &a, in, n, y.dtype, rank, y.dim, true);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, ArgMax, Softmax and normalisations. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "onnx_lower.h"

/*
 * Emits reduction op of x over a set of axes (bit i is axis i), which stay with length 1, divided
 * by the number of elements in each if mean is set (integers by INTDIV, which cuts off). Returns
 * the graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int over(struct ox *l, weft_opcode op, int x, unsigned axes, bool mean)
{
	int64_t n = 1;

	for (int i = 0; x >= 0 && i < ox_t(l, x)->rank; i++) {
		if (!(axes & 1u << i))
			continue;
		n *= ox_t(l, x)->dim[i];
		x = ox_reduce(l, op, x, i);
	}
	if (!mean || x < 0)
		return x;
	int count = ox_ramp(l, ox_t(l, x)->dtype, ox_t(l, x)->rank, (double)n);
	return ox_binary(l, weft_is_plain_float(ox_t(l, x)->dtype) ? WEFT_OP_ONNX_DIV : WEFT_OP_INTDIV, x, count);
}

/*
 * Emits x to the power 0.5. Returns the graph tensor, or a negative errno; a negative x is returned
 * as it is.
 */
static int root(struct ox *l, int x)
{
	return x < 0 ? x : ox_binary(l, WEFT_OP_POW, x, ox_ramp(l, ox_t(l, x)->dtype, ox_t(l, x)->rank, 0.5));
}

/*
 * Emits the reduction of x over a set of axes (bit i is axis i) for the nodes that add or multiply:
 * ReduceSumSquare, ReduceL1, ReduceL2, ReduceLogSum, ReduceLogSumExp (with the maximum taken off
 * first, so that nothing overflows), ReduceProd, ReduceMean, else the sum. Returns the graph tensor
 * in x's type, or a negative errno.
 */
static int sum_kind(struct ox *l, int x, unsigned axes)
{
	if (ox_is(l, "ReduceSumSquare") || ox_is(l, "ReduceL2"))
		x = ox_binary(l, WEFT_OP_MUL, x, x);
	else if (ox_is(l, "ReduceL1"))
		x = ox_unary(l, WEFT_OP_ABS, x);
	if (ox_is(l, "ReduceL2"))
		return root(l, over(l, WEFT_OP_REDUCE_SUM, x, axes, false));
	if (ox_is(l, "ReduceLogSum"))
		return ox_unary(l, WEFT_OP_LOG, over(l, WEFT_OP_REDUCE_SUM, x, axes, false));
	if (ox_is(l, "ReduceLogSumExp")) {
		int top = over(l, WEFT_OP_REDUCE_MAX, x, axes, false), e = ox_unary(l, WEFT_OP_EXP, ox_binary(l, WEFT_OP_SUB, x, top));
		return ox_binary(l, WEFT_OP_ADD, ox_unary(l, WEFT_OP_LOG, over(l, WEFT_OP_REDUCE_SUM, e, axes, false)), top);
	}
	return over(l, ox_is(l, "ReduceProd") ? WEFT_OP_REDUCE_PRODUCT : WEFT_OP_REDUCE_SUM, x, axes, ox_is(l, "ReduceMean"));
}

/*
 * Emits what the Reduce node at hand makes of x over a set of axes (bit i is axis i), which stay
 * with length 1; the result has x's type. Sums and products of small integers are computed in int32
 * and cast back; ReduceMax and ReduceMin of bool are any and all. Returns the graph tensor,
 * -ENOTSUP if the node takes a root or a logarithm and x is no float or the type has no arithmetic,
 * or another negative errno.
 */
static int reduced(struct ox *l, int x, unsigned axes)
{
	weft_dtype t = ox_t(l, x)->dtype;
	bool max = ox_is(l, "ReduceMax");

	if (!weft_is_plain_float(t) && (ox_is(l, "ReduceL2") || ox_is(l, "ReduceLogSum") || ox_is(l, "ReduceLogSumExp")))
		return ox_fail(l, -ENOTSUP, "%s", weft_dtype_name(t));

	if (!max && !ox_is(l, "ReduceMin")) {
		int y = ox_widen(l, x);
		return y < 0 ? y : ox_cast(l, sum_kind(l, y, axes), t);
	}
	if (t == WEFT_BOOL)
		return over(l, max ? WEFT_OP_REDUCE_ANY : WEFT_OP_REDUCE_ALL, x, axes, false);
	if (t == WEFT_UINT8)
		return ox_flip_sign(l, over(l, max ? WEFT_OP_REDUCE_MAX : WEFT_OP_REDUCE_MIN, ox_flip_sign(l, x, WEFT_INT8), axes, false), WEFT_UINT8);
	int y = t == WEFT_INT8 ? x : ox_widen(l, x);
	y = over(l, max ? WEFT_OP_REDUCE_MAX : WEFT_OP_REDUCE_MIN, y, axes, false);
	return y < 0 ? y : ox_cast(l, y, t);
}

/*
 * Emits x without the dimensions of a set (bit i of axes is dimension i), which have length 1.
 * Returns the graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int drop(struct ox *l, int x, unsigned axes)
{
	int64_t dim[WEFT_MAX_RANK];
	int rank = 0;

	for (int i = 0; x >= 0 && i < ox_t(l, x)->rank; i++)
		if (!(axes & 1u << i))
			dim[rank++] = ox_t(l, x)->dim[i];
	return ox_reshape(l, x, rank, dim);
}

/*
 * Lowers the Reduce nodes of operand 0. The axes are operand 1 or, in older opsets, an attribute;
 * none means all of them, or, if noop_with_empty_axes is set, no reduction (ReduceSumSquare then
 * squares, the others give operand 0). keepdims 0 drops the axes. Returns 0, -EINVAL if an axis is
 * out of range, -ENOTSUP if the axes are not constant or the type is not taken, or another negative
 * errno.
 */
int ox_reduce_node(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t list[WEFT_MAX_RANK];
	int n = v ? ox_list(l, "axes", 1, WEFT_MAX_RANK, list) : -1;
	unsigned axes = 0, turned = 0;

	if (n < 0)
		return l->err;
	if (!n && ox_attr_i(l, "noop_with_empty_axes", 0)) {
		if (!ox_is(l, "ReduceSumSquare"))
			return ox_alias(l, v, NULL);
		int x = ox_x(l, 0);
		return ox_result(l, 0, ox_binary(l, WEFT_OP_MUL, x, x), NULL, false);
	}
	for (int i = 0; i < n; i++) {
		int axis = ox_axis(l, list[i], v->t.rank);
		if (axis < 0)
			return axis;
		axes |= 1u << axis;
	}
	if (!n)
		axes = (1u << v->t.rank) - 1;
	/* In the order that the value has: the result keeps it, or loses the dimensions of 1. */
	int8_t perm[WEFT_MAX_RANK];
	bool keep = ox_attr_i(l, "keepdims", 1) != 0, ordered = keep && v->n_forms && !v->form[0].flip;
	for (int i = 0; i < WEFT_MAX_RANK; i++)
		perm[i] = ordered ? v->form[0].perm[i] : (int8_t)i;
	for (int i = 0; i < v->t.rank; i++)
		if (axes & 1u << perm[i])
			turned |= 1u << i;
	int x = ox_get(l, v, perm), y = x < 0 ? x : reduced(l, x, turned);
	return ox_result(l, 0, keep ? y : drop(l, y, axes), perm, false);
}

/*
 * Lowers ArgMax of operand 0, and ArgMin of floats as ArgMax of the negative, along attribute axis
 * (default 0), which stays with length 1 unless keepdims is 0; the first of equal elements counts,
 * and the result is int64. Returns 0, -EINVAL if the axis is out of range, -ENOTSUP for
 * select_last_index or types other than float32, float16, bfloat16, int8 and uint8 (ArgMin: floats
 * only), or another negative errno.
 */
int ox_argmax(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int axis = v ? ox_axis(l, ox_attr_i(l, "axis", 0), v->t.rank) : -1, x;
	weft_attr a = { .axis = { axis, WEFT_NAN_PROPAGATE } };
	int64_t dim[WEFT_MAX_RANK];

	if (axis < 0)
		return l->err;
	if (ox_attr_i(l, "select_last_index", 0))
		return ox_fail(l, -ENOTSUP, "the last of equal maxima");
	x = ox_get(l, v, NULL);
	if (x >= 0 && v->t.dtype == WEFT_UINT8)
		x = ox_flip_sign(l, x, WEFT_INT8);
	if (x >= 0 && ox_is(l, "ArgMin")) {
		if (!weft_is_plain_float(ox_t(l, x)->dtype))
			return ox_fail(l, -ENOTSUP, "the least of %s", weft_dtype_name(v->t.dtype));
		x = ox_scale(l, x, -1);
	}
	if (x < 0 || (!weft_is_plain_float(ox_t(l, x)->dtype) && ox_t(l, x)->dtype != WEFT_INT8))
		return x < 0 ? x : ox_fail(l, -ENOTSUP, "%s", weft_dtype_name(v->t.dtype));
	for (int i = 0; i + 1 < v->t.rank; i++)
		dim[i] = v->t.dim[i < axis ? i : i + 1];
	int y = ox_cast(l, ox_op(l, WEFT_OP_ARGMAX, &a, &x, 1, WEFT_INT32, v->t.rank - 1, dim), WEFT_INT64);
	memcpy(dim, v->t.dim, sizeof dim);
	dim[axis] = 1;
	return ox_result(l, 0, ox_attr_i(l, "keepdims", 1) ? ox_reshape(l, y, v->t.rank, dim) : y, NULL, false);
}

/* ---- softmax ---- */

/*
 * Emits the softmax of float x over a set of axes (bit i is axis i), or its logarithm if the node
 * at hand is LogSoftmax. The maximum is subtracted first so that nothing overflows. Returns the
 * graph tensor, or a negative errno.
 */
int ox_softmax_over(struct ox *l, int x, unsigned axes)
{
	int top = over(l, WEFT_OP_REDUCE_MAX, x, axes, false), d = ox_binary(l, WEFT_OP_SUB, x, top);
	int e = ox_unary(l, WEFT_OP_EXP, d), s = over(l, WEFT_OP_REDUCE_SUM, e, axes, false);

	if (ox_is(l, "LogSoftmax"))
		return ox_binary(l, WEFT_OP_SUB, d, ox_unary(l, WEFT_OP_LOG, s));
	return ox_binary(l, WEFT_OP_ONNX_DIV, e, s);
}

/*
 * Lowers Softmax and LogSoftmax of floats along the attribute's axis (default the last); before
 * opset 13 (default axis 1) all dimensions from the axis on count as one. Returns 0, -EINVAL if the
 * axis is out of range, -ENOTSUP for other types, or another negative errno.
 */
int ox_softmax(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int axis = v ? ox_axis(l, ox_attr_i(l, "axis", l->opset < 13 ? 1 : -1), v->t.rank) : -1;

	if (axis < 0)
		return l->err;
	if (!weft_is_plain_float(v->t.dtype))
		return ox_fail(l, -ENOTSUP, "%s", weft_dtype_name(v->t.dtype));
	/* Before opset 13 all dimensions from the axis on are one. */
	unsigned axes = l->opset < 13 ? ((1u << v->t.rank) - 1) & ~((1u << axis) - 1) : 1u << axis;
	return ox_result(l, 0, ox_softmax_over(l, ox_get(l, v, NULL), axes), NULL, false);
}

/* ---- normalisations ---- */

/*
 * Emits 1 / sqrt(variance + epsilon). Returns the graph tensor, or a negative errno; a negative
 * variance is returned as it is.
 */
static int rsqrt(struct ox *l, int variance, double epsilon)
{
	return ox_unary(l, WEFT_OP_RSQRT, ox_shift(l, variance, epsilon));
}

/*
 * Lowers LayerNormalization of floats over all dimensions from the attribute's axis (default the
 * last) on, times operand 1 and plus operand 2, if present; epsilon (default 1e-5) is added to the
 * variance. Results 1 and 2, if wanted, are the mean and the inverse of the standard deviation;
 * statistics are computed in float32. Returns 0, -EINVAL if the axis is out of range or operand 1
 * is missing, -ENOTSUP for other types, or another negative errno.
 */
int ox_layer_norm(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int axis = v ? ox_axis(l, ox_attr_i(l, "axis", -1), v->t.rank) : -1;

	if (axis < 0)
		return l->err;
	if (!weft_is_plain_float(v->t.dtype))
		return ox_fail(l, -ENOTSUP, "%s", weft_dtype_name(v->t.dtype));
	unsigned axes = ((1u << v->t.rank) - 1) & ~((1u << axis) - 1);
	int x = ox_cast(l, ox_get(l, v, NULL), WEFT_FP32), mean = over(l, WEFT_OP_REDUCE_SUM, x, axes, true);
	int d = ox_binary(l, WEFT_OP_SUB, x, mean);
	int variance = over(l, WEFT_OP_REDUCE_SUM, ox_binary(l, WEFT_OP_MUL, d, d), axes, true);
	int inverse = rsqrt(l, variance, ox_attr_f(l, "epsilon", 1e-5)), y = ox_binary(l, WEFT_OP_MUL, d, inverse);
	int scale = y < 0 ? y : ox_x(l, 1);
	y = y < 0 ? y : ox_binary(l, WEFT_OP_MUL, ox_cast(l, y, v->t.dtype), scale);
	if (y >= 0 && ox_has(l, 2))
		y = ox_binary(l, WEFT_OP_ADD, y, ox_x(l, 2));
	int err = ox_result(l, 0, y, NULL, false);
	if (err < 0 || (err = ox_result(l, 1, mean, NULL, false)) < 0)
		return err;
	return ox_result(l, 2, inverse, NULL, false);
}

/*
 * Emits x as float32, less its mean and divided by its standard deviation over a set of axes (bit i
 * is axis i); attribute epsilon (default 1e-5) is added to the variance. Returns the graph tensor,
 * or a negative errno.
 */
static int normalised(struct ox *l, int x, unsigned axes)
{
	x = ox_cast(l, x, WEFT_FP32);
	int d = ox_binary(l, WEFT_OP_SUB, x, over(l, WEFT_OP_REDUCE_SUM, x, axes, true));
	int variance = over(l, WEFT_OP_REDUCE_SUM, ox_binary(l, WEFT_OP_MUL, d, d), axes, true);
	return ox_binary(l, WEFT_OP_MUL, d, rsqrt(l, variance, ox_attr_f(l, "epsilon", 1e-5)));
}

/*
 * Emits operand k of the node at hand, one number for each channel or group, as float32 along
 * dimension 1 of a tensor of the given rank whose other dimensions are 1. Returns the graph tensor,
 * or a negative errno.
 */
static int by_channel(struct ox *l, int k, int rank)
{
	int64_t dim[WEFT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	int p = ox_x(l, k);

	if (p < 0)
		return p;
	dim[1] = weft_tensor_elements(ox_t(l, p));
	return ox_reshape(l, ox_cast(l, p, WEFT_FP32), rank, dim);
}

/*
 * Lowers InstanceNormalization, which normalises each channel's image, and GroupNormalization,
 * which normalises num_groups groups of channels, both with attribute epsilon (default 1e-5); then
 * operand 1 is multiplied and operand 2 added, which have one number for each channel, but for
 * GroupNormalization before opset 21 one for each group. It is computed in float32 and cast to
 * operand 0's type. Returns 0, -ENOTSUP for types other than float32, float16 and bfloat16, a rank
 * below 3, a first dimension of 0 or groups that do not divide the channels, or another negative
 * errno.
 */
int ox_group_norm(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	const bool group = ox_is(l, "GroupNormalization");
	int x = ox_x(l, 0);

	if (x < 0)
		return x;
	const weft_tensor t = *ox_t(l, x);
	int64_t n = group ? ox_attr_i(l, "num_groups", 0) : t.rank > 1 ? t.dim[1] : 0;
	if (!weft_is_plain_float(t.dtype) || t.rank < 3 || n < 1 || t.dim[1] % n || !t.dim[0])
		return ox_fail(l, -ENOTSUP, "%s of rank %d, %lld groups", weft_dtype_name(t.dtype), t.rank, (long long)n);
	int64_t rest = weft_tensor_elements(&t) / t.dim[0] / n;
	const bool each = group && l->opset < 21;
	int y = normalised(l, ox_reshape(l, x, 3, (int64_t[]){ t.dim[0], n, rest }), 4);
	y = each ? y : ox_reshape(l, y, t.rank, t.dim);
	y = y < 0 ? y : ox_binary(l, WEFT_OP_MUL, y, by_channel(l, 1, each ? 3 : t.rank));
	y = y < 0 ? y : ox_binary(l, WEFT_OP_ADD, y, by_channel(l, 2, each ? 3 : t.rank));
	return ox_result(l, 0, ox_cast(l, ox_reshape(l, y, t.rank, t.dim), v->t.dtype), NULL, false);
}

/*
 * Lowers LpNormalization of floats: operand 0 divided by its length along the attribute's axis
 * (default the last), which is the sum of magnitudes if p is 1, the root of the sum of squares if
 * it is 2 (default). Lengths below 2^-126, in float16 below 2^-24, count as that number, so that
 * zeros stay 0. Returns 0, -EINVAL if the axis is out of range, -ENOTSUP for other types or p, or
 * another negative errno.
 */
int ox_lp_norm(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int axis = v ? ox_axis(l, ox_attr_i(l, "axis", -1), v->t.rank) : -1, x = axis < 0 ? axis : ox_x(l, 0);
	int64_t p = ox_attr_i(l, "p", 2);

	if (x < 0)
		return axis < 0 ? l->err : x;
	if (!weft_is_plain_float(v->t.dtype) || (p != 1 && p != 2))
		return ox_fail(l, -ENOTSUP, "%s, p %lld", weft_dtype_name(v->t.dtype), (long long)p);
	int sum = ox_reduce(l, WEFT_OP_REDUCE_SUM, p == 1 ? ox_unary(l, WEFT_OP_ABS, x) : ox_binary(l, WEFT_OP_MUL, x, x), axis);
	sum = p == 1 ? sum : root(l, sum);
	int least = sum < 0 ? sum : ox_ramp(l, v->t.dtype, v->t.rank, v->t.dtype == WEFT_FP16 ? 0x1p-24f : 0x1p-126f);
	return ox_result(l, 0, least < 0 ? least : ox_binary(l, WEFT_OP_ONNX_DIV, x, ox_binary(l, WEFT_OP_MAXIMUM, sum, least)), NULL, false);
}

int ox_batch_factor(struct ox *l, int scale, int variance, double epsilon)
{
	return ox_binary(l, WEFT_OP_MUL, scale, rsqrt(l, variance, epsilon));
}

/*
 * Lowers BatchNormalization of floats for inference: (x - mean) / sqrt(variance + epsilon) * scale
 * + bias by channel, where x, scale, bias, mean and variance are operands 0 to 4 and epsilon is an
 * attribute (default 1e-5); the result is held with channels last. Returns 0, -ENOTSUP for
 * training_mode, other types and rank below 2, or another negative errno.
 */
int ox_batch_norm(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int8_t last[WEFT_MAX_RANK];
	int p[5];

	if (!v || ox_attr_i(l, "training_mode", 0) || !weft_is_plain_float(v->t.dtype) || v->t.rank < 2)
		return v ? ox_fail(l, -ENOTSUP, "training, or %s of rank %d", weft_dtype_name(v->t.dtype), v->t.rank) : l->err;
	for (int k = 1; k < 5; k++) {
		p[k] = ox_x(l, k);
		if (p[k] < 0)
			return p[k];
	}
	ox_channels_last(v->t.rank, last);
	int factor = ox_batch_factor(l, p[1], p[4], ox_attr_f(l, "epsilon", 1e-5));
	int y = ox_binary(l, WEFT_OP_SUB, ox_get(l, v, last), p[3]);
	y = ox_binary(l, WEFT_OP_ADD, ox_binary(l, WEFT_OP_MUL, y, factor), p[2]);
	return ox_result(l, 0, y, last, false);
}

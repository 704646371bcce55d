/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators on float32 that take several operators of TOSA, in the order in which
 * TensorFlow Lite's reference kernels compute, each step rounded to float32.
 * They run on the host.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tflite_host.h"

int tfl_real_number(struct tfl_lower *l, int rank, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	return tfl_number(l, "number", WEFT_FP32, rank, (int64_t)bits);
}

/*
 * Emits op of float32 x and y, of one rank and broadcast to one shape, as an intermediate tensor:
 * bool for GREATER and GREATER_EQUAL, else float32. Returns the graph tensor, or a negative errno;
 * a negative operand is returned as it is.
 */
static int two(struct tfl_lower *l, weft_opcode op, int x, int y)
{
	static const weft_attr none;

	if (x < 0 || y < 0)
		return x < 0 ? x : y;
	const weft_tensor a = l->g->tensors[x].t, b = l->g->tensors[y].t;
	int64_t dim[WEFT_MAX_RANK];
	for (int i = 0; i < a.rank; i++)
		dim[i] = a.dim[i] > b.dim[i] ? a.dim[i] : b.dim[i];
	const bool compares = op == WEFT_OP_GREATER || op == WEFT_OP_GREATER_EQUAL;
	return tfl_step(l, op, &none, (int[]){ x, y }, 2, compares ? WEFT_BOOL : WEFT_FP32, a.rank, dim, false);
}

/*
 * Emits op of float32 x and the number v, as two() does. Returns the graph tensor, or a negative errno; a
 * negative x is returned as it is.
 */
static int with(struct tfl_lower *l, weft_opcode op, int x, float v)
{
	return x < 0 ? x : two(l, op, x, tfl_real_number(l, l->g->tensors[x].t.rank, v));
}

/*
 * Emits op of float32 x as an intermediate tensor. Returns the graph tensor, or a negative errno; a
 * negative x is returned as it is.
 */
static int one(struct tfl_lower *l, weft_opcode op, int x)
{
	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, op, NULL, &x, 1, WEFT_FP32, t.rank, t.dim, false);
}

/*
 * Emits TFLite's function f of float32 x as an intermediate tensor. Returns the graph tensor, or a
 * negative errno; a negative x is returned as it is.
 */
static int function(struct tfl_lower *l, enum weft_tfl_function f, int x)
{
	weft_attr a = { .tfl_function = { f } };

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_TFL_FUNCTION, &a, &x, 1, WEFT_FP32, t.rank, t.dim, false);
}

/*
 * Emits reduction op of float32 x along axis, which stays with length 1, as an intermediate tensor;
 * elements are taken in order, one after the other; a NaN among them makes the result NaN, but for a maximum or minimum,
 * which passes over it. Returns
 * the graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int reduced(struct tfl_lower *l, weft_opcode op, int x, int axis)
{
	const bool most = op == WEFT_OP_REDUCE_MAX || op == WEFT_OP_REDUCE_MIN;
	weft_attr a = { .axis = { .axis = axis, .nan = most ? WEFT_NAN_COMPARE : WEFT_NAN_PROPAGATE, .chain = true } };

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	t.dim[axis] = 1;
	return tfl_step(l, op, &a, &x, 1, WEFT_FP32, t.rank, t.dim, false);
}

/*
 * Emits a tensor with float32 x where the bool tensor `which` is true, and y elsewhere. Returns the
 * graph tensor, or a negative errno; a negative operand is returned as it is.
 */
static int chosen(struct tfl_lower *l, int which, int x, int y)
{
	if (which < 0 || x < 0 || y < 0)
		return which < 0 ? which : x < 0 ? x : y;
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_SELECT, NULL, (int[]){ which, x, y }, 3, WEFT_FP32, t.rank, t.dim, false);
}

/*
 * Emits float32 y in the result's shape as the operator's result. Returns the result's tensor, or a
 * negative errno; a negative y is returned as it is.
 */
static int finished(struct tfl_lower *l, int y)
{
	return tfl_real_result(l, y, TFL_NONE);
}

/* ---- single elements ---- */

/*
 * Lowers HARD_SWISH of float32: x * clamp(x + 3, 0, 6) / 6. Returns the result's tensor, or a
 * negative errno.
 */
static int hard_swish(struct tfl_lower *l)
{
	int x = tfl_value(l, 0), y = with(l, WEFT_OP_ADD, x, 3);

	if (y >= 0)
		y = tfl_float_limits(l, y, TFL_RELU6);
	return finished(l, with(l, WEFT_OP_TFL_DIV, two(l, WEFT_OP_MUL, x, y), 6));
}

/*
 * Lowers LEAKY_RELU of float32: operand 0 where it is above 0, else operand 0 times option alpha (0 if
 * absent). Returns the result's tensor, or a negative errno.
 */
static int leaky_relu(struct tfl_lower *l)
{
	float alpha = 0;
	int x = tfl_value(l, 0), err = tfl_option_float(l, OPTIONS_LEAKY_RELU, LEAKY_RELU_ALPHA, 0, &alpha);

	if (err)
		return err;
	int scaled = with(l, WEFT_OP_MUL, x, alpha), above = with(l, WEFT_OP_GREATER, x, 0);
	return finished(l, chosen(l, above, x, scaled));
}

/*
 * Lowers PRELU of float32: operand 0 where it is at least 0, else operand 0 times operand 1, the
 * slope. Returns the result's tensor, or a negative errno.
 */
static int prelu(struct tfl_lower *l)
{
	int x = tfl_value(l, 0), slope = x < 0 ? x : tfl_value(l, 1);

	if (slope >= 0)
		slope = tfl_match_rank(l, slope, l->y.rank);
	int scaled = two(l, WEFT_OP_MUL, x, slope), above = with(l, WEFT_OP_GREATER_EQUAL, x, 0);
	return finished(l, chosen(l, above, x, scaled));
}

/*
 * Lowers GELU of float32 values: x/2 * (1 + erf(x / sqrt(2))), or with tanh(sqrt(2/pi) * (x +
 * 0.044715 x^3)) in place of erf if the option says so. Returns the result's tensor, or a
 * negative errno.
 */
static int gelu(struct tfl_lower *l)
{
	int x = tfl_value(l, 0), approximate, inner, err = tfl_option(l, OPTIONS_GELU, GELU_APPROXIMATE, 1, 0, &approximate);

	if (err)
		return err;
	if (approximate) {
		int cube = two(l, WEFT_OP_MUL, two(l, WEFT_OP_MUL, x, x), x);
		inner = two(l, WEFT_OP_ADD, x, with(l, WEFT_OP_MUL, cube, 0.044715f));
		inner = function(l, WEFT_TFL_TANH, with(l, WEFT_OP_MUL, inner, (float)(M_2_SQRTPI * M_SQRT1_2)));
	} else {
		inner = one(l, WEFT_OP_ERF, with(l, WEFT_OP_MUL, x, (float)M_SQRT1_2));
	}
	inner = with(l, WEFT_OP_ADD, inner, 1);
	return finished(l, two(l, WEFT_OP_MUL, with(l, WEFT_OP_MUL, x, 0.5f), inner));
}

/*
 * Lowers SQUARED_DIFFERENCE of float32: (operand 0 - operand 1)^2, broadcast. Returns the result's
 * tensor, or a negative errno.
 */
static int squared_difference(struct tfl_lower *l)
{
	int a = tfl_value(l, 0), b = a < 0 ? a : tfl_value(l, 1);

	if (b >= 0 && (a = tfl_match_rank(l, a, l->y.rank)) >= 0)
		b = tfl_match_rank(l, b, l->y.rank);
	int d = two(l, WEFT_OP_SUB, a, b);
	return finished(l, two(l, WEFT_OP_MUL, d, d));
}

/*
 * Lowers POW of float32: operand 0 to the power of operand 1, broadcast. Returns the result's
 * tensor, or a negative errno.
 */
static int power(struct tfl_lower *l)
{
	int a = tfl_value(l, 0), b = a < 0 ? a : tfl_value(l, 1);

	if (b >= 0 && (a = tfl_match_rank(l, a, l->y.rank)) >= 0)
		b = tfl_match_rank(l, b, l->y.rank);
	return finished(l, two(l, WEFT_OP_POW, a, b));
}

/* ---- rows ---- */

/* Returns graph tensor x if it has rank 1 or more, else -EINVAL; a negative x is returned as it is. */
static int need_rows(struct tfl_lower *l, int x)
{
	if (x < 0 || l->g->tensors[x].t.rank >= 1)
		return x;
	return tfl_fail(l, -EINVAL, "operand 0 has rank 0; 1 or more wanted");
}

/*
 * Lowers SOFTMAX of float32 along the last dimension: exp(beta * (x - max)) over the sum of these,
 * with option beta. Returns the result's tensor, -EINVAL if the operand has rank 0, or another
 * negative errno.
 */
static int softmax(struct tfl_lower *l)
{
	float beta = 0;
	int x = need_rows(l, tfl_value(l, 0)), err = tfl_option_float(l, OPTIONS_SOFTMAX, SOFTMAX_BETA, 0, &beta);

	if (x < 0 || err)
		return x < 0 ? x : err;
	int axis = l->g->tensors[x].t.rank - 1;
	int d = two(l, WEFT_OP_SUB, x, reduced(l, WEFT_OP_REDUCE_MAX, x, axis));
	int e = function(l, WEFT_TFL_EXP, with(l, WEFT_OP_MUL, d, beta));
	return finished(l, two(l, WEFT_OP_TFL_DIV, e, reduced(l, WEFT_OP_REDUCE_SUM, e, axis)));
}

/*
 * Lowers LOG_SOFTMAX of float32 along the last dimension: x - max - log(sum of exp(x - max)).
 * Returns the result's tensor, -EINVAL if the operand has rank 0, or another negative errno.
 */
static int log_softmax(struct tfl_lower *l)
{
	int x = need_rows(l, tfl_value(l, 0));

	if (x < 0)
		return x;
	int axis = l->g->tensors[x].t.rank - 1;
	int d = two(l, WEFT_OP_SUB, x, reduced(l, WEFT_OP_REDUCE_MAX, x, axis));
	int sum = reduced(l, WEFT_OP_REDUCE_SUM, function(l, WEFT_TFL_EXP, d), axis);
	return finished(l, two(l, WEFT_OP_SUB, d, function(l, WEFT_TFL_LOG, sum)));
}

/*
 * With v = x + 128, the file's numbers, and the largest v of a row, m: the sum of exp(-x_scale * (m - v)), in order, then
 * x_scale / y_scale * v - (x_scale * m + log(sum)) / y_scale, rounded, halves to even, plus the zero point.
 */
int tfl_log_softmax_codes(struct tfl_lower *l, int x, float x_scale, float y_scale, int32_t y_zp)
{
	x = need_rows(l, x);
	if (x < 0)
		return x;
	const weft_tensor t = l->g->tensors[x].t;
	const int axis = t.rank - 1;
	const int v = with(l, WEFT_OP_ADD, tfl_step(l, WEFT_OP_TFL_CAST, NULL, &x, 1, WEFT_FP32, t.rank, t.dim, false), 128);
	const int m = reduced(l, WEFT_OP_REDUCE_MAX, v, axis), e = function(l, WEFT_TFL_EXP, with(l, WEFT_OP_MUL, two(l, WEFT_OP_SUB, m, v), -x_scale));
	const int log = function(l, WEFT_TFL_LOG, reduced(l, WEFT_OP_REDUCE_SUM, e, axis));
	const int less = with(l, WEFT_OP_TFL_DIV, two(l, WEFT_OP_ADD, with(l, WEFT_OP_MUL, m, x_scale), log), y_scale);
	int y = two(l, WEFT_OP_SUB, with(l, WEFT_OP_MUL, v, x_scale / y_scale), less);

	y = y < 0 ? y : tfl_plain(l, "Round", &y, 1, false);
	y = with(l, WEFT_OP_ADD, y, (float)y_zp);
	return y < 0 ? y : tfl_step(l, WEFT_OP_TFL_CAST, NULL, &y, 1, WEFT_INT8, t.rank, t.dim, true);
}

/*
 * Lowers L2_NORMALIZATION of float32 along the last dimension: x over the root of the sum of
 * squares, or over 1e-6 if that is larger. Returns the result's tensor, -EINVAL if the operand has
 * rank 0, or another negative errno.
 */
static int l2_norm(struct tfl_lower *l)
{
	int x = need_rows(l, tfl_value(l, 0));

	if (x < 0)
		return x;
	int sum = reduced(l, WEFT_OP_REDUCE_SUM, two(l, WEFT_OP_MUL, x, x), l->g->tensors[x].t.rank - 1);
	return finished(l, two(l, WEFT_OP_TFL_DIV, x, with(l, WEFT_OP_MAXIMUM, one(l, WEFT_OP_TFL_SQRT, sum), 1e-6f)));
}

/*
 * Emits float32 x so that the elements of a set of axes (bit i is axis i) lie along axis 1 in their order, and sets *n to their
 * number. If they are to be summed up, and no axis of several elements lies between those of the set, the result is
 * [before,reduced,behind]. Otherwise x is transposed into a matrix [kept,reduced]. Returns the graph tensor, or a negative errno.
 */
static int gathered(struct tfl_lower *l, int x, unsigned set, bool sum, int64_t *n)
{
	weft_attr a = { .perm = { { 0 } } };
	weft_tensor t = l->g->tensors[x].t;
	int64_t dim[WEFT_MAX_RANK], before = 1, behind = 1;
	int at = 0;
	bool apart = false;

	*n = 1;
	for (int i = 0; i < t.rank; i++) {
		const bool in = set >> i & 1;
		apart = apart || (in && t.dim[i] > 1 && behind > 1);
		*(in ? n : *n == 1 ? &before : &behind) *= t.dim[i];
	}
	if (sum && !apart)
		return tfl_reshape(l, x, 3, (int64_t[]){ before, *n, behind });
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < t.rank; i++)
			if ((int)(set >> i & 1) == pass) {
				dim[at] = t.dim[i];
				a.perm.perm[at++] = i;
			}
	x = tfl_step(l, WEFT_OP_TRANSPOSE, &a, &x, 1, WEFT_FP32, t.rank, dim, false);
	return x < 0 ? x : tfl_reshape(l, x, 2, (int64_t[]){ before * behind, *n });
}

/*
 * Lowers SUM, MEAN, REDUCE_MAX, REDUCE_MIN and REDUCE_PROD of float32 over the axes in constant operand
 * 1, at most 16; MEAN divides the sum by the number of elements. Elements are taken one after the other
 * in their order. Returns the result's tensor, -EINVAL if an axis is out of range, or another negative
 * errno.
 */
static int reduce(struct tfl_lower *l)
{
	const int code = l->op->code;
	weft_opcode op = code == TFL_REDUCE_MAX ? WEFT_OP_REDUCE_MAX : code == TFL_REDUCE_MIN ? WEFT_OP_REDUCE_MIN
	               : code == TFL_REDUCE_PROD ? WEFT_OP_REDUCE_PRODUCT : WEFT_OP_REDUCE_SUM;
	int64_t n;
	unsigned set = 0;
	int x = tfl_value(l, 0), err = x < 0 ? x : tfl_axis_set(l, 1, l->g->tensors[x].t.rank, &set);

	if (err || (x = gathered(l, x, set, op == WEFT_OP_REDUCE_SUM, &n)) < 0)
		return err ? err : x;
	x = reduced(l, op, x, 1);
	return finished(l, code == TFL_MEAN ? with(l, WEFT_OP_TFL_DIV, x, (float)n) : x);
}

/*
 * Lowers FAKE_QUANT: each element becomes the nearest of the 2^bits numbers that divide the range min..max
 * evenly, halves up; the range is moved first so that 0 is one of them, and elements outside of it become its
 * ends. Returns the result's tensor, -ENOTSUP for a narrow range, -EINVAL if bits are not 2..16 or min is not
 * below max, or another negative errno.
 */
static int fake_quant(struct tfl_lower *l)
{
	float min, max;
	int bits, narrow, err = tfl_option_float(l, OPTIONS_FAKE_QUANT, FAKE_QUANT_MIN, 0, &min), x = tfl_value(l, 0);

	if (err || (err = tfl_option_float(l, OPTIONS_FAKE_QUANT, FAKE_QUANT_MAX, 0, &max)) ||
	    (err = tfl_option(l, OPTIONS_FAKE_QUANT, FAKE_QUANT_BITS, 4, 0, &bits)) ||
	    (err = tfl_option(l, OPTIONS_FAKE_QUANT, FAKE_QUANT_NARROW, 1, 0, &narrow)) || x < 0)
		return err ? err : x;
	if (narrow)
		return tfl_fail(l, -ENOTSUP, "a narrow range, for which TensorFlow Lite has no kernel");
	if (bits < 2 || bits > 16 || !(min < max))
		return tfl_fail(l, -EINVAL, "%d bits for %g..%g; 2..16 wanted", bits, (double)min, (double)max);
	const float most = (float)((1 << bits) - 1), scale = (max - min) / most;
	const float exact = 0 - min / scale, zp = exact < 0 ? 0 : exact > most ? most : roundf(exact);
	const float low = (0 - zp) * scale, high = (most - zp) * scale;
	const int limited = with(l, WEFT_OP_MINIMUM, with(l, WEFT_OP_MAXIMUM, x, low), high);
	const int steps = with(l, WEFT_OP_MUL, with(l, WEFT_OP_SUB, limited, low), 1.0f / scale), floor = one(l, WEFT_OP_FLOOR, steps);
	const int half = with(l, WEFT_OP_GREATER_EQUAL, two(l, WEFT_OP_SUB, steps, floor), 0.5f), up = with(l, WEFT_OP_ADD, floor, 1);

	if (half < 0 || up < 0)
		return half < 0 ? half : up;
	const weft_tensor t = l->g->tensors[floor].t;
	x = tfl_step(l, WEFT_OP_SELECT, NULL, (int[]){ half, up, floor }, 3, WEFT_FP32, t.rank, t.dim, false);
	return tfl_real_result(l, with(l, WEFT_OP_ADD, with(l, WEFT_OP_MUL, x, scale), low), TFL_NONE);
}

/* Returns the function that lowers the operator with that code on float32, or NULL if it is none of this file. */
int (*tfl_float_more(int code))(struct tfl_lower *)
{
	switch (code) {
	case TFL_HARD_SWISH: return hard_swish;
	case TFL_LEAKY_RELU: return leaky_relu;
	case TFL_PRELU: return prelu;
	case TFL_GELU: return gelu;
	case TFL_SQUARED_DIFFERENCE: return squared_difference;
	case TFL_POW: return power;
	case TFL_SOFTMAX: return softmax;
	case TFL_LOG_SOFTMAX: return log_softmax;
	case TFL_L2_NORMALIZATION: return l2_norm;
	case TFL_MEAN: case TFL_SUM: case TFL_REDUCE_MAX: case TFL_REDUCE_MIN: case TFL_REDUCE_PROD: return reduce;
	case TFL_FAKE_QUANT: return fake_quant;
	default: return NULL;
	}
}

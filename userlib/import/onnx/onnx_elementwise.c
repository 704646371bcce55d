/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise operators.
 *
 * Small integers are computed as int32 and cut down again, which is what ONNX's
 * wrapping types do. Values keep the order of dimensions of the first operand
 * that has the result's rank and is computed.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "onnx_lower.h"

#define MAX_OPERANDS 64            /* of Max, Min, Sum and Mean */

/*
 * Sets perm to the order of dimensions in which an operator with n operands is computed: that in
 * which the first operand that is not constant and has the highest rank is held, else the file's.
 * Returns the highest rank, or a negative errno.
 */
static int order(struct ox *l, int n, int8_t *perm)
{
	int rank = 0;

	for (int k = 0; k < n; k++) {
		struct ox_value *v = ox_in(l, k);
		if (!v)
			return l->err;
		rank = v->t.rank > rank ? v->t.rank : rank;
	}
	for (int i = 0; i < WEFT_MAX_RANK; i++)
		perm[i] = (int8_t)i;
	for (int k = 0; k < n; k++) {
		struct ox_value *v = ox_in(l, k);
		if (v->t.rank == rank && v->n_forms && !ox_is_const(l, k)) {
			memcpy(perm, v->form[0].perm, WEFT_MAX_RANK);
			break;
		}
	}
	return rank;
}

/*
 * Emits operand k of the node at hand with `rank` dimensions, by leading dimensions of 1, in order
 * perm. Returns the graph tensor, or a negative errno.
 */
static int operand(struct ox *l, int k, int rank, const int8_t *perm)
{
	struct ox_value *v = ox_in(l, k);

	if (!v)
		return l->err;
	if (v->t.rank == rank)
		return ox_get(l, v, perm);
	return ox_transpose(l, ox_to_rank(l, ox_get(l, v, NULL), rank), perm);
}

/*
 * Sets x[0] to x[n - 1] to the node's first n operands, all with the highest rank among them and in
 * one order of dimensions, perm, which order() chooses. Returns the rank, or a negative errno.
 */
static int operands(struct ox *l, int n, int *x, int8_t *perm)
{
	int rank = order(l, n, perm);

	for (int k = 0; k < n && rank >= 0; k++) {
		x[k] = operand(l, k, rank, perm);
		if (x[k] < 0)
			return x[k];
	}
	return rank;
}

/*
 * Emits op of a and b, which have to have one type and are broadcast. It is computed in the type
 * that ox_widen() chooses (int32 for smaller integers and for constants of 64 bits) and cast back;
 * INTDIV of float32, float16 and bfloat16 becomes ONNX_DIV. Returns the graph tensor, -EINVAL if the
 * types differ, -ENOTSUP as ox_widen(), or another negative errno; a negative operand is returned as
 * it is.
 */
static int combine(struct ox *l, weft_opcode op, int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? a : b;
	weft_dtype t = ox_t(l, a)->dtype;

	if (t != ox_t(l, b)->dtype)
		return ox_fail(l, -EINVAL, "%s and %s", weft_dtype_name(t), weft_dtype_name(ox_t(l, b)->dtype));
	if (op == WEFT_OP_INTDIV && weft_is_plain_float(t))
		op = WEFT_OP_ONNX_DIV;
	b = ox_widen(l, b);
	a = ox_widen(l, a);
	return ox_cast(l, ox_binary(l, op, a, b), t);
}

/*
 * Lowers Add, Sub, Mul, Div, Pow, And, Or, Xor and the bitwise operators of two operands, with
 * NumPy's broadcasting. Pow casts the exponent to the base's type; the other operators want one
 * type. Returns 0, -EINVAL if types or shapes do not go together, -ENOTSUP for an attribute axis
 * (opsets before 7), powers of integers or types without arithmetic, or another negative errno.
 */
int ox_elementwise(struct ox *l)
{
	static const struct { const char *name; weft_opcode op; bool logical; } ops[] = {
		{ "Add", WEFT_OP_ADD, false }, { "Sub", WEFT_OP_SUB, false }, { "Mul", WEFT_OP_MUL, false }, { "Div", WEFT_OP_INTDIV, false },
		{ "And", WEFT_OP_LOGICAL_AND, true }, { "Or", WEFT_OP_LOGICAL_OR, true }, { "Xor", WEFT_OP_LOGICAL_XOR, true },
		{ "BitwiseAnd", WEFT_OP_BITWISE_AND, false }, { "BitwiseOr", WEFT_OP_BITWISE_OR, false },
		{ "BitwiseXor", WEFT_OP_BITWISE_XOR, false }, { "Pow", WEFT_OP_POW, false },
	};
	int8_t perm[WEFT_MAX_RANK];
	int x[2], rank = operands(l, 2, x, perm);

	if (rank < 0)
		return rank;
	if (ox_attr(l, "axis"))
		return ox_fail(l, -ENOTSUP, "broadcasting along an axis, as before opset 7");
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		if (!ox_is(l, ops[i].name))
			continue;
		if (ops[i].op == WEFT_OP_POW && !weft_is_plain_float(ox_t(l, x[0])->dtype))
			return ox_fail(l, -ENOTSUP, "powers of %s", weft_dtype_name(ox_t(l, x[0])->dtype));
		if (ops[i].op == WEFT_OP_POW)
			x[1] = ox_cast(l, x[1], ox_t(l, x[0])->dtype);
		return ox_result(l, 0, ops[i].logical ? ox_binary(l, ops[i].op, x[0], x[1]) : combine(l, ops[i].op, x[0], x[1]), perm, false);
	}
	return ox_fail(l, -ENOTSUP, "not supported");
}

/*
 * Lowers Equal, Greater, GreaterOrEqual, Less and LessOrEqual to bool, with NumPy's broadcasting;
 * the last two exchange their operands. Small integers and bools are compared as int32, floats of 8
 * and 4 bits as float32, also if the operands' types differ in the file. Returns 0, -EINVAL if the
 * types in which they are compared differ or shapes do not go together, -ENOTSUP for float64 and for
 * int64, uint64 and uint32 that are not constant or do not fit int32, or another negative errno.
 */
int ox_compare(struct ox *l)
{
	int8_t perm[WEFT_MAX_RANK];
	int x[2], rank = operands(l, 2, x, perm);

	if (rank < 0)
		return rank;
	int a = ox_widen(l, x[0]), b = ox_widen(l, x[1]);
	if (ox_is(l, "Equal"))
		return ox_result(l, 0, ox_binary(l, WEFT_OP_EQUAL, a, b), perm, false);
	if (ox_is(l, "Greater"))
		return ox_result(l, 0, ox_binary(l, WEFT_OP_GREATER, a, b), perm, false);
	if (ox_is(l, "GreaterOrEqual"))
		return ox_result(l, 0, ox_binary(l, WEFT_OP_GREATER_EQUAL, a, b), perm, false);
	return ox_result(l, 0, ox_binary(l, ox_is(l, "Less") ? WEFT_OP_GREATER : WEFT_OP_GREATER_EQUAL, b, a), perm, false);
}

/*
 * Lowers Max, Min, Sum and Mean of 1 to MAX_OPERANDS (64) operands of one type, broadcast as NumPy
 * does, combined from the first to the last; Mean then divides by their number. Returns 0, -EINVAL
 * if there is none or types or shapes do not go together, -ENOTSUP if there are more, or another
 * negative errno.
 */
int ox_variadic(struct ox *l)
{
	weft_opcode op = ox_is(l, "Max") ? WEFT_OP_MAXIMUM : ox_is(l, "Min") ? WEFT_OP_MINIMUM : WEFT_OP_ADD;
	int n = (int)l->n->n_input, x[MAX_OPERANDS];
	int8_t perm[WEFT_MAX_RANK];

	if (n < 1 || n > MAX_OPERANDS)
		return ox_fail(l, n ? -ENOTSUP : -EINVAL, "%d inputs", n);
	int err = operands(l, n, x, perm), y = x[0];
	if (err < 0)
		return err;
	for (int k = 1; k < n; k++)
		y = combine(l, op, y, x[k]);
	if (ox_is(l, "Mean") && y >= 0)
		y = combine(l, WEFT_OP_INTDIV, y, ox_ramp(l, ox_t(l, y)->dtype, ox_t(l, y)->rank, n));
	return ox_result(l, 0, y, perm, false);
}

/*
 * Lowers Where: operand 1 where operand 0 (bool) is true, else operand 2, broadcast as NumPy does.
 * Returns 0 or a negative errno.
 */
int ox_where(struct ox *l)
{
	int8_t perm[WEFT_MAX_RANK];
	int x[3], rank = operands(l, 3, x, perm);

	return rank < 0 ? rank : ox_result(l, 0, ox_select(l, x[0], x[1], x[2]), perm, false);
}

/* Returns 0 if TOSA computes with the type of graph tensor x, else -ENOTSUP after ox_fail(): the host then takes the operator. */
static int need_computed(struct ox *l, int x)
{
	const weft_dtype t = ox_t(l, x)->dtype;
	const bool wide = t == WEFT_FP64 || t == WEFT_INT64 || t == WEFT_UINT64 || t == WEFT_UINT32;

	return wide ? ox_fail(l, -ENOTSUP, "arithmetic on %s", weft_dtype_name(t)) : 0;
}

/*
 * Lowers PRelu: operand 0 times operand 1 (the slope) where operand 0 is below 0, else operand 0.
 * Returns 0, -ENOTSUP for float64 and integers of 64 bits or uint32, or another negative errno.
 */
int ox_prelu(struct ox *l)
{
	int8_t perm[WEFT_MAX_RANK];
	int x[2], rank = operands(l, 2, x, perm);

	const int err = rank < 0 ? rank : need_computed(l, x[0]);

	if (err)
		return err;
	int zero = ox_ramp(l, ox_t(l, x[0])->dtype, rank, 0), less = ox_binary(l, WEFT_OP_GREATER, zero, x[0]);
	return ox_result(l, 0, ox_select(l, less, ox_binary(l, WEFT_OP_MUL, x[0], x[1]), x[0]), perm, false);
}

/* ---- one operand ---- */

/*
 * Emits CLAMP of float x to lo..hi, with NaN propagated. Returns the graph tensor, or a negative
 * errno; a negative x is returned as it is.
 */
static int clamp(struct ox *l, int x, double lo, double hi)
{
	weft_attr a = { .clamp = { .fmin = lo, .fmax = hi, .nan = WEFT_NAN_PROPAGATE } };

	return x < 0 ? x : ox_op(l, WEFT_OP_CLAMP, &a, &x, 1, ox_t(l, x)->dtype, ox_t(l, x)->rank, ox_t(l, x)->dim);
}

/* Returns the greatest finite number of float type t: fp16 or bf16, else that of fp32. */
static double limit(weft_dtype t)
{
	return t == WEFT_FP16 ? 65504 : t == WEFT_BF16 ? 0x1.fep127 : 0x1.fffffep127;
}

/*
 * Emits max(x, 0) in x's type; integers are computed as int32 and cast back. Returns the graph
 * tensor, or a negative errno; a negative x is returned as it is.
 */
static int at_least_zero(struct ox *l, int x)
{
	if (x < 0)
		return x;
	weft_dtype t = ox_t(l, x)->dtype;
	if (weft_is_plain_float(t))
		return ox_binary(l, WEFT_OP_MAXIMUM, x, ox_ramp(l, t, ox_t(l, x)->rank, 0));
	int y = ox_widen(l, x);
	return ox_cast(l, ox_binary(l, WEFT_OP_MAXIMUM, y, ox_ramp(l, WEFT_INT32, ox_t(l, x)->rank, 0)), t);
}

/*
 * Emits a tensor with `other` where x is below 0, and x elsewhere, also where it is NaN. Returns
 * the graph tensor, or a negative errno; a negative operand is returned as it is.
 */
static int positive_or(struct ox *l, int x, int other)
{
	if (x < 0 || other < 0)
		return x < 0 ? x : other;
	int zero = ox_ramp(l, ox_t(l, x)->dtype, ox_t(l, x)->rank, 0);

	return ox_select(l, ox_binary(l, WEFT_OP_GREATER, zero, x), other, x);
}

/*
 * Emits the result of the node at hand for operand x if it is one of the operators in `ops`, each
 * of which is one TOSA operator; Abs of small integers goes by int32. Returns the graph tensor,
 * -ENOTSUP for another node or a type that the operator does not take (all but Abs, Not and
 * BitwiseNot want a plain float, BitwiseNot int8, int16 or int32), or another negative errno.
 */
static int plain_unary(struct ox *l, int x)
{
	static const struct { const char *name; weft_opcode op; bool any; } ops[] = {
		{ "Ceil", WEFT_OP_CEIL, 0 }, { "Cos", WEFT_OP_COS, 0 }, { "Erf", WEFT_OP_ERF, 0 }, { "Exp", WEFT_OP_EXP, 0 },
		{ "Floor", WEFT_OP_FLOOR, 0 }, { "Log", WEFT_OP_LOG, 0 }, { "Reciprocal", WEFT_OP_RECIPROCAL, 0 },
		{ "Sigmoid", WEFT_OP_SIGMOID, 0 }, { "Sin", WEFT_OP_SIN, 0 }, { "Tanh", WEFT_OP_TANH, 0 }, { "Abs", WEFT_OP_ABS, 1 },
		{ "Not", WEFT_OP_LOGICAL_NOT, 1 }, { "BitwiseNot", WEFT_OP_BITWISE_NOT, 1 },
	};

	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		weft_dtype t = ox_t(l, x)->dtype;

		if (!ox_is(l, ops[i].name))
			continue;
		if ((!ops[i].any && !weft_is_plain_float(t)) || (ops[i].op == WEFT_OP_BITWISE_NOT && t != WEFT_INT8 && t != WEFT_INT16 && t != WEFT_INT32))
			return ox_fail(l, -ENOTSUP, "%s", weft_dtype_name(t));
		return ops[i].op == WEFT_OP_ABS ? ox_cast(l, ox_unary(l, ops[i].op, ox_widen(l, x)), t) : ox_unary(l, ops[i].op, x);
	}
	return ox_fail(l, -ENOTSUP, "not supported");
}

/*
 * Emits 0 - x in x's type; integers are computed as int32 and cast back, and floats are subtracted
 * from -0. Returns the graph tensor, or a negative errno.
 */
static int negate(struct ox *l, int x)
{
	weft_dtype t = ox_t(l, x)->dtype;
	int y = ox_widen(l, x);

	return y < 0 ? y : ox_cast(l, ox_binary(l, WEFT_OP_SUB, ox_ramp(l, ox_t(l, y)->dtype, ox_t(l, y)->rank, weft_is_plain_float(t) ? -0.0 : 0), y), t);
}

/*
 * Lowers the operators of one operand that need no attributes: Sqrt as x to the power 0.5, Neg,
 * Relu, and those of plain_unary(). The result keeps the operand's order of dimensions. Returns 0,
 * -ENOTSUP for an operator or type that is not taken, or another negative errno.
 */
int ox_unary_node(struct ox *l)
{
	int8_t perm[WEFT_MAX_RANK];
	int x[1], rank = operands(l, 1, x, perm), y;

	if (rank < 0)
		return rank;
	if (ox_is(l, "Sqrt") && (y = need_computed(l, x[0])))
		return y;
	if (ox_is(l, "Sqrt"))       /* POW's 0 ^ 0.5 and RSQRT's 0 both have an end; x ^ 0.5 is the plain one */
		y = ox_binary(l, WEFT_OP_POW, x[0], ox_ramp(l, ox_t(l, x[0])->dtype, rank, 0.5));
	else if (ox_is(l, "Neg"))
		y = negate(l, x[0]);
	else if (ox_is(l, "Relu"))
		y = at_least_zero(l, x[0]);
	else
		y = plain_unary(l, x[0]);
	return ox_result(l, 0, y, perm, false);
}

/*
 * Emits gamma * x where float x is at least 0 (or NaN), and gamma * alpha * (exp(x) - 1) where it
 * is below. Returns the graph tensor, or a negative errno.
 */
static int elu(struct ox *l, int x, double alpha, double gamma)
{
	int low = ox_unary(l, WEFT_OP_EXP, ox_binary(l, WEFT_OP_MINIMUM, x, ox_ramp(l, ox_t(l, x)->dtype, ox_t(l, x)->rank, 0)));

	return ox_scale(l, positive_or(l, x, ox_scale(l, ox_shift(l, low, -1), alpha)), gamma);
}

/*
 * Emits log(exp(x) + 1) of float x as max(x, 0) + log(exp(-|x|) + 1), which does not overflow where x is large.
 * Returns the graph tensor, or a negative errno.
 */
static int softplus(struct ox *l, int x)
{
	int size = ox_unary(l, WEFT_OP_ABS, x), part = size < 0 ? size : negate(l, size);

	int logarithm = ox_unary(l, WEFT_OP_LOG, ox_shift(l, ox_unary(l, WEFT_OP_EXP, part), 1));
	return ox_binary(l, WEFT_OP_ADD, at_least_zero(l, x), logarithm);
}

/*
 * Emits GELU of float x: x / 2 * (1 + erf(x / sqrt(2))), or the approximation with tanh if the
 * node's attribute approximate is "tanh". Returns the graph tensor, or a negative errno.
 */
static int gelu(struct ox *l, int x)
{
	int inner;

	if (ox_attr_is(l, "approximate", "tanh", false)) {
		int cube = ox_binary(l, WEFT_OP_MUL, x, ox_binary(l, WEFT_OP_MUL, x, x));
		inner = ox_unary(l, WEFT_OP_TANH, ox_scale(l, ox_binary(l, WEFT_OP_ADD, x, ox_scale(l, cube, 0.044715)), sqrt(M_2_PI)));
	} else {
		inner = ox_unary(l, WEFT_OP_ERF, ox_scale(l, x, M_SQRT1_2));
	}
	inner = ox_shift(l, inner, 1);
	return ox_binary(l, WEFT_OP_MUL, ox_scale(l, x, 0.5), inner);
}

/*
 * Emits the activation function that the node at hand names, of float x; every name that is not
 * known here is taken for Gelu. Missing attributes have the defaults that ONNX gives. Returns the
 * graph tensor, or a negative errno.
 */
static int activation(struct ox *l, int x)
{
	if (ox_is(l, "LeakyRelu"))
		return positive_or(l, x, ox_scale(l, x, ox_attr_f(l, "alpha", 0.01)));
	if (ox_is(l, "Elu"))
		return elu(l, x, ox_attr_f(l, "alpha", 1), 1);
	if (ox_is(l, "Selu"))
		return elu(l, x, ox_attr_f(l, "alpha", 1.6732632423543772), ox_attr_f(l, "gamma", 1.0507009873554805));
	if (ox_is(l, "HardSigmoid"))
		return clamp(l, ox_shift(l, ox_scale(l, x, ox_attr_f(l, "alpha", 0.2)), ox_attr_f(l, "beta", 0.5)), 0, 1);
	if (ox_is(l, "HardSwish"))
		return ox_binary(l, WEFT_OP_MUL, x, clamp(l, ox_shift(l, ox_scale(l, x, 1.0 / 6), 0.5), 0, 1));
	if (ox_is(l, "Swish"))
		return ox_binary(l, WEFT_OP_MUL, x, ox_unary(l, WEFT_OP_SIGMOID, ox_scale(l, x, ox_attr_f(l, "alpha", 1))));
	if (ox_is(l, "Softplus"))
		return softplus(l, x);
	if (ox_is(l, "Softsign"))
		return ox_binary(l, WEFT_OP_ONNX_DIV, x, ox_shift(l, ox_unary(l, WEFT_OP_ABS, x), 1));
	if (ox_is(l, "Mish"))
		return ox_binary(l, WEFT_OP_MUL, x, ox_unary(l, WEFT_OP_TANH, ox_unary(l, WEFT_OP_LOG, ox_shift(l, ox_unary(l, WEFT_OP_EXP, x), 1))));
	if (ox_is(l, "Celu")) {
		double alpha = ox_attr_f(l, "alpha", 1);
		return ox_scale(l, elu(l, ox_scale(l, x, 1 / alpha), 1, 1), alpha);
	}
	if (ox_is(l, "ThresholdedRelu")) {
		int rank = ox_t(l, x)->rank, none = ox_ramp(l, ox_t(l, x)->dtype, rank, 0);
		int limit = none < 0 ? none : ox_ramp(l, ox_t(l, x)->dtype, rank, ox_attr_f(l, "alpha", 1));
		return ox_select(l, limit < 0 ? limit : ox_binary(l, WEFT_OP_GREATER, x, limit), x, none);
	}
	return gelu(l, x);
}

/*
 * Lowers the activation functions that are composed of several operators: LeakyRelu, Elu, Selu,
 * HardSigmoid, HardSwish, Swish, Softplus, Softsign, Mish, Celu, ThresholdedRelu and Gelu. The
 * result keeps operand 0's order of dimensions. Returns 0, -ENOTSUP if operand 0 is not float32,
 * float16 or bfloat16, or another negative errno.
 */
int ox_activation(struct ox *l)
{
	int8_t perm[WEFT_MAX_RANK];
	int x[1], rank = operands(l, 1, x, perm);

	if (rank < 0)
		return rank;
	if (!weft_is_plain_float(ox_t(l, x[0])->dtype))
		return ox_fail(l, -ENOTSUP, "%s", weft_dtype_name(ox_t(l, x[0])->dtype));
	return ox_result(l, 0, activation(l, x[0]), perm, false);
}

/*
 * Emits x limited by operator op (MAXIMUM or MINIMUM). The limit is operand k of the node at hand,
 * in the file's order of dimensions and broadcast (that it has one element is not checked), or, if
 * that is absent, the float attribute with that name (as before opset 11); without either x itself is
 * returned. The attribute is cut to the finite range of fp16 or bf16 if x has that type, else to that
 * of fp32. Where x is an integer, the attribute has to fit x's type: its fraction is cut off, and the
 * low bits of what is left are the limit. Returns the graph tensor, -EINVAL if the operand has
 * another type than x, or another negative errno; a negative x is returned as it is.
 */
static int bound(struct ox *l, int x, int k, const char *name, weft_opcode op)
{
	if (x < 0 || (!ox_has(l, k) && !ox_attr(l, name)))
		return x;
	weft_dtype t = ox_t(l, x)->dtype;
	int b = ox_has(l, k) ? ox_x(l, k) : ox_ramp(l, t, 0, fmax(-limit(t), fmin(limit(t), ox_attr_f(l, name, 0))));
	return combine(l, op, x, b);
}

/*
 * Lowers Clip of operand 0 to min..max, which are operands 1 and 2 or, before opset 11, attributes;
 * either may be absent; max is applied last. Attributes are cut to the finite range of fp16 or bf16
 * if operand 0 has that type, else to that of fp32; for integers they have to fit the type, which
 * is not checked. Small integers are limited as int32 and cast back. Returns 0, -EINVAL if a limit
 * has another type than operand 0, or another negative errno.
 */
int ox_clip(struct ox *l)
{
	int8_t perm[WEFT_MAX_RANK];
	int x[1], rank = operands(l, 1, x, perm);

	if (rank < 0)
		return rank;
	int y = bound(l, bound(l, x[0], 1, "min", WEFT_OP_MAXIMUM), 2, "max", WEFT_OP_MINIMUM);
	return ox_result(l, 0, y, perm, false);
}

/*
 * Lowers Cast (to the type that attribute `to` numbers or, in opset 1, names) and CastLike (whose
 * type is operand 1's). A constant may become strings or come from strings; if the type stays, the
 * result is operand 0 itself. `saturate` is 1 if absent, round_mode (for float8e8m0) "up". Returns
 * 0, -ENOTSUP for an unknown type, -EINVAL for a round_mode other than up, down and nearest, or
 * another negative errno.
 */
int ox_cast_node(struct ox *l)
{
	static const struct { const char *name; weft_dtype t; } old[] = {
		{ "FLOAT", WEFT_FP32 }, { "UINT8", WEFT_UINT8 }, { "INT8", WEFT_INT8 }, { "UINT16", WEFT_UINT16 }, { "INT16", WEFT_INT16 },
		{ "INT32", WEFT_INT32 }, { "INT64", WEFT_INT64 }, { "BOOL", WEFT_BOOL }, { "FLOAT16", WEFT_FP16 }, { "DOUBLE", WEFT_FP64 },
		{ "UINT32", WEFT_UINT32 }, { "UINT64", WEFT_UINT64 },
	};
	static const char *const rounds[] = { "up", "down", "nearest" };
	weft_attr a = { .onnx = { ox_attr_i(l, "saturate", 1) != 0, 0, -1 } };
	int64_t to = ox_attr_i(l, "to", 0);
	weft_dtype t = onnx_dtype(to);
	int8_t perm[WEFT_MAX_RANK];
	int x[1], n = ox_is(l, "CastLike") ? 2 : 1;

	for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)   /* Cast-1 names the type */
		t = ox_attr_is(l, "to", old[i].name, false) ? old[i].t : t;
	if (n == 2 && ox_in(l, 1))
		t = ox_in(l, 1)->t.dtype;
	struct ox_value *v = ox_raw(l, 0), *y0 = &l->values[ox_value_find(l, l->n->output[0])];
	if (n == 1 && (to == ONNX_STRING || ox_attr_is(l, "to", "STRING", false)))
		return ox_to_text(l, v && ox_is_text(v) ? v : ox_in(l, 0), y0);
	if (v && ox_is_text(v) && t) {
		int x0 = ox_from_text(l, v, t);
		return ox_result(l, 0, x0, NULL, false);
	}
	v = ox_in(l, 0);
	if (v && v->t.dtype == t)
		return ox_alias(l, v, NULL);
	int rank = operands(l, 1, x, perm);
	if (rank < 0)
		return rank;
	if (!t)
		return ox_fail(l, -ENOTSUP, "to type %lld (%s)", (long long)to, onnx_dtype_name(to));
	for (int i = 0; i < 3; i++)
		a.onnx.scale_round = ox_attr_is(l, "round_mode", rounds[i], !i) ? i : a.onnx.scale_round;
	if (a.onnx.scale_round < 0)
		return ox_fail(l, -EINVAL, "round_mode is not up, down or nearest");
	int y = a.onnx.saturate && !a.onnx.scale_round ? ox_cast(l, x[0], t)
	                                               : ox_op(l, WEFT_OP_ONNX_CAST, &a, x, 1, t, rank, ox_t(l, x[0])->dim);
	return ox_result(l, 0, y, perm, false);
}

/*
 * Lowers OpenVINO's FakeConvert to ONNX_FAKE_CONVERT: operand 0 is scaled by operand 1, shifted by operand 2
 * if there is one, rounded to what float8 (destination_type) can hold, and scaled back. Returns 0, -EINVAL if
 * destination_type is absent or another or an operand has a higher rank than the data, or another negative
 * errno.
 */
int ox_fake_convert(struct ox *l)
{
	bool e5 = ox_attr_is(l, "destination_type", "f8e5m2", false);
	weft_attr a = { .onnx = { false, e5 ? WEFT_FP8E5M2 : WEFT_FP8E4M3 } };
	int in[3], n = ox_has(l, 2) ? 3 : 2, rank;

	if (!e5 && !ox_attr_is(l, "destination_type", "f8e4m3", false))
		return ox_fail(l, -EINVAL, "destination_type is neither f8e4m3 nor f8e5m2");
	in[0] = ox_x(l, 0);
	rank = in[0] < 0 ? 0 : ox_t(l, in[0])->rank;
	for (int k = 1; k < n; k++) {
		struct ox_value *v = ox_in(l, k);

		if (!v || in[0] < 0)
			return l->err;
		if (v->t.rank > rank)
			return ox_fail(l, -EINVAL, "input %d has a higher rank than the data", k);
		in[k] = ox_to_rank(l, ox_get(l, v, NULL), rank);
	}
	return ox_result(l, 0, ox_op(l, WEFT_OP_ONNX_FAKE_CONVERT, &a, in, n, in[0] < 0 ? 0 : ox_t(l, in[0])->dtype, rank,
	                             in[0] < 0 ? NULL : ox_t(l, in[0])->dim), NULL, false);
}

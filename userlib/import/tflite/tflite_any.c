/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators on numbers of types that neither TOSA's operators nor the importer's other lowerings take: integers of 64 bits,
 * unsigned integers of 16 to 64 bits, int16 whose scale does not matter, bool, float16 and float64; and int32 in operators that
 * TOSA does not have for it. They become ONNX's operators on the host, whose kernels take any type.
 *
 * Sums, differences and products of integers wrap; their quotients and MEAN lose the fraction. A fused activation limits the result
 * to the numbers from 0 on (RELU), from -1 to 1 or from 0 to 6.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_host.h"

/* Returns the type (enum tfl_type) of operand k of the operator at hand in the file, or -1 if it is absent or out of range. */
static int type_of(const struct tfl_lower *l, int k)
{
	const int i = tfl_has(l, k) ? fb_i32_at(&l->m->b, &l->op->in, (uint32_t)k) : -1;

	return i < 0 || i >= l->m->n_tensors ? -1 : tfl_file_tensor(l, i)->type;
}

/* Adds a constant of one number v, of the type of graph tensor x: int32, int64, float16 or float64 among others. Returns the graph tensor or a negative errno. */
static int number_like(struct tfl_lower *l, int x, int v)
{
	const weft_dtype t = l->g->tensors[x].t.dtype;
	int n = tfl_number(l, "limit", WEFT_INT32, 1, v);

	if (n < 0 || t == WEFT_INT32)
		return n;
	struct weft_attr_onnx_node a = tfl_node_attr("CastLike");
	return tfl_node(l, &a, (int[]){ n, x }, 2, false);
}

/*
 * Emits x limited as the fused activation says (RELU, RELU_N1_TO_1 or RELU6; TFL_NONE: not at all) as the result of the operator at
 * hand. Returns its tensor, -ENOTSUP for another activation, or another negative errno; a negative x is returned as it is.
 */
static int activated(struct tfl_lower *l, int x, int activation)
{
	if (x < 0 || activation == TFL_NONE)
		return x < 0 ? x : tfl_node_own(l, x);
	if (activation != TFL_RELU && activation != TFL_RELU_N1_TO_1 && activation != TFL_RELU6)
		return tfl_fail(l, -ENOTSUP, "activation %d is not supported", activation);
	int low = number_like(l, x, activation == TFL_RELU_N1_TO_1 ? -1 : 0);
	x = low < 0 ? low : tfl_plain(l, "Max", (int[]){ x, low }, 2, activation == TFL_RELU);
	if (x < 0 || activation == TFL_RELU)
		return x;
	int high = number_like(l, x, activation == TFL_RELU6 ? 6 : 1);
	return high < 0 ? high : tfl_plain(l, "Min", (int[]){ x, high }, 2, true);
}

/* Lowers ADD, SUB, MUL, DIV, MAXIMUM and MINIMUM, the first four with their activation. Returns the result's tensor, or a negative errno. */
static int two_operands(struct tfl_lower *l)
{
	const int code = l->op->code;
	const char *name = code == TFL_ADD ? "Add" : code == TFL_SUB ? "Sub" : code == TFL_MUL ? "Mul" :
	                   code == TFL_MAXIMUM ? "Max" : "Min";
	int activation, err = tfl_fused_activation(l, &activation), in[2];

	if (err || (in[0] = tfl_value(l, 0)) < 0 || (in[1] = tfl_value(l, 1)) < 0)
		return err ? err : in[0] < 0 ? in[0] : in[1];
	const struct weft_attr_onnx_node div = tfl_node_of("tflite", "Div");
	const int y = code == TFL_DIV ? tfl_node(l, &div, in, 2, activation == TFL_NONE) : tfl_plain(l, name, in, 2, activation == TFL_NONE);
	return activation == TFL_NONE ? y : activated(l, y, activation);
}

/* Lowers SQUARED_DIFFERENCE. Returns the result's tensor, or a negative errno. */
static int squared_difference(struct tfl_lower *l)
{
	int in[2] = { tfl_value(l, 0), -1 };

	in[1] = in[0] < 0 ? in[0] : tfl_value(l, 1);
	const int d = tfl_plain(l, "Sub", in, 2, false);
	return tfl_plain(l, "Mul", (int[]){ d, d }, 2, true);
}

/*
 * Lowers ARG_MAX and ARG_MIN along the constant axis in operand 1; the first of equal elements counts. Returns the result's tensor, or a
 * negative errno.
 */
static int arg_max(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_attr(l->op->code == TFL_ARG_MAX ? "ArgMax" : "ArgMin");
	int64_t axis;
	int x = tfl_value(l, 0), n = x < 0 ? x : tfl_ints(l, 1, 1, &axis);

	if (n < 0)
		return n;
	tfl_node_int(&a, "axis", (int)(axis < -WEFT_MAX_RANK || axis > WEFT_MAX_RANK ? WEFT_MAX_RANK : axis));
	tfl_node_int(&a, "keepdims", 0);
	x = tfl_node(l, &a, &x, 1, l->y.dtype == WEFT_INT64);
	return x < 0 || l->y.dtype == WEFT_INT64 ? x : tfl_node_cast(l, x, WEFT_INT32, true);
}

/* Lowers PADV2 of constant paddings with operand 2. Returns the result's tensor, or a negative errno. */
static int pad(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_attr("Pad");
	int64_t v[2 * TFL_MAX_RANK], *p;
	int in[3] = { tfl_value(l, 0), -1, -1 }, n = in[0] < 0 ? in[0] : tfl_ints(l, 1, 2 * TFL_MAX_RANK, v);
	const int rank = n < 0 ? 0 : l->g->tensors[in[0]].t.rank;

	if (n < 0 || (in[2] = tfl_value(l, 2)) < 0)
		return n < 0 ? n : in[2];
	if (n != 2 * rank)
		return tfl_fail(l, -EINVAL, "%d paddings for rank %d", n, rank);
	if ((in[2] = tfl_reshape(l, in[2], 0, NULL)) < 0)
		return in[2];
	if (!(p = tfl_alloc(l, n, sizeof *p)))
		return l->err;
	for (int k = 0; k < n; k++)
		p[k % 2 * rank + k / 2] = v[k];
	in[1] = tfl_data(l, "paddings", WEFT_INT64, 1, (int64_t[]){ n }, p);
	return tfl_node(l, &a, in, 3, true);
}

/* Says whether a type of the file is one of unsigned integers. */
static bool is_unsigned(int type) { return type == TFL_UINT8 || type == TFL_UINT16 || type == TFL_UINT32 || type == TFL_UINT64; }

/* Emits int64 x with 128 added, or subtracted if `less`, as the graph holds uint8. Returns the graph tensor, or a negative errno. */
static int moved_by_128(struct tfl_lower *l, int x, bool less)
{
	const int c = x < 0 ? x : number_like(l, x, 128);

	return c < 0 ? c : tfl_plain(l, less ? "Sub" : "Add", (int[]){ x, c }, 2, false);
}

/* Emits float64 x limited to what an integer of that many bits holds, with a sign or without. Returns the graph tensor, or a negative errno. */
static int saturated(struct tfl_lower *l, int x, int bits, bool has_sign)
{
	for (int k = 0; k < 2 && x >= 0; k++) {
		double *p = tfl_alloc(l, 1, sizeof *p);
		if (!p)
			return l->err;
		*p = k ? ldexp(1, bits - has_sign) - 1 : has_sign ? -ldexp(1, bits - 1) : 0;
		const int c = tfl_data(l, "limit", WEFT_FP64, 0, NULL, p);
		x = c < 0 ? c : tfl_plain(l, k ? "Min" : "Max", (int[]){ x, c }, 2, false);
	}
	return x;
}

/* Says whether t is a type of floats. */
static bool is_real(weft_dtype t) { return t == WEFT_FP32 || t == WEFT_FP16 || t == WEFT_FP64; }

/*
 * Lowers CAST to ONNX's. What becomes an integer is converted to int64 first, whose low bits count then; a float is limited to the
 * range of the result's type before. Returns the result's tensor, -ENOTSUP if the result is int4, or another negative errno.
 */
static int cast(struct tfl_lower *l)
{
	const weft_dtype to = l->y.dtype;
	const bool to_unsigned = is_unsigned(tfl_file_tensor(l, l->i_y)->type), whole = !is_real(to) && to != WEFT_BOOL;
	int x = tfl_value(l, 0);

	if (x < 0)
		return x;
	if (to == WEFT_INT4)
		return tfl_fail(l, -ENOTSUP, "%s into %s", weft_dtype_name(l->g->tensors[x].t.dtype), weft_dtype_name(to));
	if (whole && is_real(l->g->tensors[x].t.dtype)) {
		x = tfl_node_cast(l, x, WEFT_FP64, false);
		x = saturated(l, x, 8 * (int)weft_dtype_bytes(to), !to_unsigned);
	}
	if (x >= 0 && (whole || type_of(l, 0) == TFL_UINT8))
		x = tfl_node_cast(l, x, WEFT_INT64, false);
	if (type_of(l, 0) == TFL_UINT8)
		x = moved_by_128(l, x, false);
	if (tfl_file_tensor(l, l->i_y)->type == TFL_UINT8)
		x = moved_by_128(l, x, true);
	return tfl_node_cast(l, x, to, true);
}

/* Lowers EQUAL and the other comparisons. Returns the result's tensor, or a negative errno. */
static int compare(struct tfl_lower *l)
{
	const int code = l->op->code;
	const char *name = code == TFL_GREATER ? "Greater" : code == TFL_GREATER_EQUAL ? "GreaterOrEqual" : code == TFL_LESS ? "Less" :
	                   code == TFL_LESS_EQUAL ? "LessOrEqual" : "Equal";
	const bool not = code == TFL_NOT_EQUAL;
	int in[2] = { tfl_value(l, 0), -1 };

	in[1] = in[0] < 0 ? in[0] : tfl_value(l, 1);
	int y = tfl_plain(l, name, in, 2, !not);
	return y < 0 || !not ? y : tfl_plain(l, "Not", &y, 1, true);
}

/*
 * Lowers SELECT and SELECT_V2 to ONNX's Where; a condition of SELECT that is a vector runs along the first dimension. Returns the
 * result's tensor, or a negative errno.
 */
static int choose(struct tfl_lower *l)
{
	int in[3];

	for (int k = 0; k < 3; k++)
		if ((in[k] = tfl_value(l, k)) < 0)
			return in[k];
	const weft_tensor c = l->g->tensors[in[0]].t;
	int64_t dim[WEFT_MAX_RANK] = { c.dim[0], 1, 1, 1, 1, 1, 1, 1 };
	if (l->op->code == TFL_SELECT && c.rank == 1 && l->y.rank > 1 && (in[0] = tfl_reshape(l, in[0], l->y.rank, dim)) < 0)
		return in[0];
	return tfl_plain(l, "Where", in, 3, true);
}

/* Lowers an operator of one operand to ONNX's of the same meaning. Returns the result's tensor, or a negative errno. */
static int one_operand(struct tfl_lower *l)
{
	const int code = l->op->code;
	const char *name = code == TFL_ABS ? "Abs" : code == TFL_NEG ? "Neg" : code == TFL_FLOOR ? "Floor" : code == TFL_CEIL ? "Ceil" :
	                   code == TFL_SQRT ? "Sqrt" : code == TFL_EXP ? "Exp" : code == TFL_LOG ? "Log" : code == TFL_LOGISTIC ? "Sigmoid" :
	                   code == TFL_SIN ? "Sin" : code == TFL_COS ? "Cos" : code == TFL_CODE_TANH ? "Tanh" : "Relu";
	const int x = tfl_value(l, 0);

	return tfl_plain(l, name, &x, 1, true);
}

/*
 * Lowers SUM, MEAN, REDUCE_MAX and REDUCE_MIN along constant axes, up to WEFT_ONNX_LIST of them; each counts once. Returns the result's
 * tensor, or a negative errno.
 */
static int reduce(struct tfl_lower *l)
{
	const int code = l->op->code;
	struct weft_attr_onnx_node a = tfl_node_attr(code == TFL_SUM ? "ReduceSum" : code == TFL_MEAN ? "ReduceMean" :
	                                             code == TFL_REDUCE_MAX ? "ReduceMax" : "ReduceMin");
	int64_t axis[WEFT_ONNX_LIST], once[WEFT_ONNX_LIST];
	int keep, m = 0, x = tfl_value(l, 0), n = x < 0 ? x : tfl_axes(l, 1, WEFT_ONNX_LIST, axis);
	int err = tfl_option(l, OPTIONS_REDUCE, REDUCE_KEEP_DIMS, 1, 0, &keep);
	unsigned seen = 0;

	if (n < 0 || err)
		return n < 0 ? n : err;
	for (int k = 0; k < n; k++) {
		const int64_t at = axis[k] < 0 ? axis[k] + l->g->tensors[x].t.rank : axis[k];
		if (at < 0 || at >= WEFT_MAX_RANK)
			return tfl_fail(l, -EINVAL, "axis %lld of rank %d", (long long)axis[k], l->g->tensors[x].t.rank);
		if (!(seen >> at & 1))
			once[m++] = at;
		seen |= 1u << at;
	}
	tfl_node_ints(&a, "axes", m, once);
	tfl_node_int(&a, "keepdims", keep);
	return m ? tfl_node(l, &a, &x, 1, true) : tfl_node_own(l, x);
}

/* Says whether a type of the file is one that most operators' lowerings in other files take: int8, uint8, int32 or float32; or -1, none. */
static bool is_usual(int type)
{
	return type < 0 || type == TFL_INT8 || type == TFL_UINT8 || type == TFL_INT32 || type == TFL_FLOAT32;
}

/* Says whether a type of the file is one that tfl_lower_cast() does not take: unsigned integers of 16 to 64 bits, float16 and float64. */
static bool is_rare(int type)
{
	return type == TFL_FLOAT16 || type == TFL_UINT16 || type == TFL_UINT32 || type == TFL_UINT64 || type == TFL_FLOAT64;
}

/* Says whether the first result of the operator at hand is of a type for which is_rare() is true. */
static bool has_rare_result(const struct tfl_lower *l)
{
	const int i = l->op->out.n ? fb_i32_at(&l->m->b, &l->op->out, 0) : -1;

	return i >= 0 && i < l->m->n_tensors && is_rare(tfl_file_tensor(l, i)->type);
}

/* Says whether operand 0 of the operator at hand, which type_of() has found, has a scale. */
static bool has_scale(const struct tfl_lower *l)
{
	return tfl_file_tensor(l, fb_i32_at(&l->m->b, &l->op->in, 0))->scale.n > 0;
}

/* Says whether the comparison at hand is EQUAL or NOT_EQUAL of an operand with a scale: then its kernel compares real numbers. */
static bool compares_reals(const struct tfl_lower *l)
{
	return (l->op->code == TFL_EQUAL || l->op->code == TFL_NOT_EQUAL) && has_scale(l);
}

/*
 * Says whether the ADD, SUB or MUL at hand is one of int32 without a scale and has a fused activation, which these operators'
 * lowering in tflite_arith.c does not take.
 */
static bool has_activation(struct tfl_lower *l)
{
	int activation;

	return type_of(l, 0) == TFL_INT32 && !has_scale(l) && !tfl_fused_activation(l, &activation) && activation != TFL_NONE;
}

int (*tfl_any_lowering(struct tfl_lower *l))(struct tfl_lower *)
{
	const int type = type_of(l, 0);

	switch (l->op->code) {
	case TFL_EQUAL: case TFL_NOT_EQUAL: case TFL_GREATER: case TFL_GREATER_EQUAL: case TFL_LESS: case TFL_LESS_EQUAL:
		return is_usual(type) || (type == TFL_INT16 && compares_reals(l)) ? NULL : compare;
	case TFL_SELECT: case TFL_SELECT_V2:
		return is_usual(type_of(l, 1)) || type_of(l, 1) == TFL_INT16 || type_of(l, 1) == TFL_BOOL ? NULL : choose;
	case TFL_ADD: case TFL_SUB: case TFL_MUL:
		return (is_usual(type) || type == TFL_INT16) && !has_activation(l) ? NULL : two_operands;
	case TFL_MAXIMUM: case TFL_MINIMUM:
		return is_usual(type) || type == TFL_INT16 ? NULL : two_operands;
	case TFL_NEG: case TFL_FLOOR: case TFL_CEIL:
		return type == TFL_FLOAT32 ? NULL : one_operand;
	case TFL_ABS:
		return type == TFL_INT32 || (type == TFL_INT16 && !has_scale(l)) || !(is_usual(type) || type == TFL_INT16) ? one_operand : NULL;
	case TFL_SQRT: case TFL_EXP: case TFL_LOG: case TFL_LOGISTIC: case TFL_SIN: case TFL_COS: case TFL_CODE_TANH: case TFL_CODE_RELU:
		return is_usual(type) || type == TFL_INT16 ? NULL : one_operand;
	case TFL_REDUCE_MAX: case TFL_REDUCE_MIN:
		return is_usual(type) || type == TFL_INT16 ? NULL : reduce;
	case TFL_GELU: case TFL_SOFTMAX:
		return type == TFL_FLOAT16 ? tfl_half_lowering(l->op->code) : NULL;
	case TFL_DIV:
		return type == TFL_INT32 ? two_operands : NULL;
	case TFL_SQUARED_DIFFERENCE:
		return type == TFL_INT32 ? squared_difference : NULL;
	case TFL_ARG_MAX: case TFL_ARG_MIN:
		return type == TFL_INT8 || type == TFL_UINT8 || type == TFL_INT16 || type == TFL_FLOAT32 ? NULL : arg_max;
	case TFL_PAD_V2:
		return is_usual(type) || type == TFL_INT16 ? NULL : pad;
	case TFL_CAST:
		return is_rare(type) || has_rare_result(l) ? cast : NULL;
	case TFL_SUM: case TFL_MEAN:
		return type == TFL_INT32 || !(is_usual(type) || type == TFL_INT16) ? reduce : NULL;
	default: return NULL;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators on float32 between DEQUANTIZE and QUANTIZE: what converters leave
 * where no quantised kernel exists. They run on the host, but for functions of
 * one 8-bit element (tflite_codes.c).
 */
#include <errno.h>
#include <float.h>
#include <math.h>

#include "tflite_host.h"

/* Returns 0 if graph tensor x and the result at hand are float32, else -ENOTSUP. */
static int need_float(struct tfl_lower *l, int x)
{
	if (l->g->tensors[x].t.dtype == WEFT_FP32 && l->y.dtype == WEFT_FP32)
		return 0;
	return tfl_fail(l, -ENOTSUP, "%s into %s", weft_dtype_name(l->g->tensors[x].t.dtype), weft_dtype_name(l->y.dtype));
}

/*
 * Sets *f to the function (enum weft_tfl_function) that the operator with that code computes.
 * Returns false, with *f unchanged, if it is none of those in `known`.
 */
static bool function(int code, enum weft_tfl_function *f)
{
	static const struct { int code; enum weft_tfl_function f; } known[] = {
		{ TFL_EXP, WEFT_TFL_EXP }, { TFL_LOG, WEFT_TFL_LOG }, { TFL_SIN, WEFT_TFL_SIN }, { TFL_COS, WEFT_TFL_COS },
		{ TFL_RSQRT, WEFT_TFL_RSQRT }, { TFL_LOGISTIC, WEFT_TFL_LOGISTIC }, { TFL_CODE_TANH, WEFT_TFL_TANH },
		{ TFL_ELU, WEFT_TFL_ELU },
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].code == code) {
			*f = known[i].f;
			return true;
		}
	return false;
}

/*
 * Returns the graph's operator that computes the TFLite operator with that code on float32, or
 * WEFT_OP_NONE if no single operator does.
 */
static weft_opcode opcode(int code)
{
	switch (code) {
	case TFL_NEG: return WEFT_OP_NEGATE;
	case TFL_ABS: return WEFT_OP_ABS;
	case TFL_FLOOR: return WEFT_OP_FLOOR;
	case TFL_CEIL: return WEFT_OP_CEIL;
	case TFL_EXP: case TFL_LOG: case TFL_SIN: case TFL_COS: case TFL_RSQRT: case TFL_LOGISTIC: case TFL_CODE_TANH: case TFL_ELU:
		return WEFT_OP_TFL_FUNCTION;
	case TFL_ADD: return WEFT_OP_ADD;
	case TFL_SUB: return WEFT_OP_SUB;
	case TFL_MUL: return WEFT_OP_MUL;
	case TFL_MAXIMUM: return WEFT_OP_MAXIMUM;
	case TFL_MINIMUM: return WEFT_OP_MINIMUM;
	default: return WEFT_OP_NONE;
	}
}

/*
 * Lowers the operator at hand, which has one float32 operand and is a single operator of the graph. If
 * the operand is a function of the codes of an 8-bit tensor, the result is noted as one, too. Returns the
 * result's tensor, -ENOTSUP if operand or result is not float32, or another negative errno.
 */
static int one_operand(struct tfl_lower *l)
{
	int x = tfl_value(l, 0), err = x < 0 ? x : need_float(l, x);
	weft_attr a = { .negate = { 0 } };
	enum weft_tfl_function f;

	if (err)
		return err;
	weft_tensor t = l->g->tensors[x].t;
	const bool is_function = function(l->op->code, &f);
	if (is_function)
		a = (weft_attr){ .tfl_function = { f } };
	const weft_attr *attr = is_function || l->op->code == TFL_NEG ? &a : NULL;
	weft_opcode op = opcode(l->op->code);
	return tfl_codes_next(l, op, attr, x, tfl_step(l, op, attr, &x, 1, WEFT_FP32, t.rank, t.dim, true));
}

/*
 * Lowers SQUARE of float32: operand 0 times itself. If the operand is a function of the codes of an 8-bit
 * tensor, the result is noted as one, too. Returns the result's tensor, -ENOTSUP if operand or result is
 * not float32, or another negative errno.
 */
static int square(struct tfl_lower *l)
{
	int x = tfl_value(l, 0), err = x < 0 ? x : need_float(l, x);
	weft_attr a = { .mul = { 0 } };

	if (err)
		return err;
	weft_tensor t = l->g->tensors[x].t;
	return tfl_codes_next(l, WEFT_OP_MUL, &a, x, tfl_step(l, WEFT_OP_MUL, &a, (int[]){ x, x }, 2, WEFT_FP32, t.rank, t.dim, true));
}

/*
 * Sets *lo and *hi to the limits of a fused activation: 0 and the largest float32 for RELU, -1 and 1 for RELU_N1_TO_1, 0
 * and 6 for RELU6, all finite numbers for TFL_FINITE. Returns 0, or -ENOTSUP for every other activation, TFL_NONE among them.
 */
static int limits(struct tfl_lower *l, int activation, double *lo, double *hi)
{
	*hi = FLT_MAX;
	*lo = 0;
	switch (activation) {
	case TFL_FINITE: *lo = -FLT_MAX; return 0;
	case TFL_RELU: return 0;
	case TFL_RELU_N1_TO_1: *lo = -1; *hi = 1; return 0;
	case TFL_RELU6: *hi = 6; return 0;
	default: return tfl_fail(l, -ENOTSUP, "activation %d is not supported", activation);
	}
}

/* Emits 1 where float32 x has its sign bit set (-0 and NaN, too) and 0 elsewhere, as float32. Returns the graph tensor, or a negative errno. */
static int sign_bits(struct tfl_lower *l, int x)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "Bitcast");
	const weft_tensor t = l->g->tensors[x].t;
	const int by = tfl_number(l, "shift", WEFT_INT32, t.rank, 31);

	tfl_node_int(&a, "to", WEFT_INT32);
	tfl_node_int(&a, "flip_x", 0);
	tfl_node_int(&a, "flip_y", 0);
	x = by < 0 ? by : tfl_node(l, &a, &x, 1, false);
	if (x >= 0)
		x = tfl_step(l, WEFT_OP_LOGICAL_RIGHT_SHIFT, NULL, (int[]){ x, by }, 2, WEFT_INT32, t.rank, t.dim, false);
	return x < 0 ? x : tfl_step(l, WEFT_OP_TFL_CAST, NULL, &x, 1, WEFT_FP32, t.rank, t.dim, false);
}

/*
 * Emits float32 x with a fused activation (a clamp, TANH or SIGN_BIT) as an intermediate tensor. Returns the
 * graph tensor, -ENOTSUP for another activation, or another negative errno.
 */
int tfl_float_limits(struct tfl_lower *l, int x, int activation)
{
	weft_attr a = { .clamp = { .nan = WEFT_NAN_COMPARE } };
	weft_tensor t = l->g->tensors[x].t;

	if (activation == TFL_TANH) {
		a.tfl_function.function = WEFT_TFL_TANH;
		return tfl_step(l, WEFT_OP_TFL_FUNCTION, &a, &x, 1, WEFT_FP32, t.rank, t.dim, false);
	}
	if (activation == TFL_SIGN_BIT)
		return sign_bits(l, x);
	int err = limits(l, activation, &a.clamp.fmin, &a.clamp.fmax);
	return err ? err : tfl_step(l, WEFT_OP_CLAMP, &a, &x, 1, WEFT_FP32, t.rank, t.dim, false);
}

/*
 * Emits a CLAMP of float32 x to lo..hi, in which NaN and -0 stay, as the result of the operator at hand. If x is noted as a
 * function of the codes of an 8-bit tensor (tflite_codes.c), the result is noted as one, too. Returns the result's tensor,
 * or a negative errno.
 */
static int emit_clamp(struct tfl_lower *l, int x, double lo, double hi)
{
	weft_attr a = { .clamp = { .fmin = lo, .fmax = hi, .nan = WEFT_NAN_COMPARE } };
	weft_tensor t = l->g->tensors[x].t;

	return tfl_codes_next(l, WEFT_OP_CLAMP, &a, x, tfl_step(l, WEFT_OP_CLAMP, &a, &x, 1, WEFT_FP32, t.rank, t.dim, true));
}

/*
 * Emits the fused activation of float32 x, which has to be a clamp (RELU, RELU_N1_TO_1 or RELU6), as the
 * operator's result. If x is a function of the codes of an 8-bit tensor, the result is noted as one, too.
 * Returns the result's tensor, -ENOTSUP for another activation, or another negative errno.
 */
int tfl_float_clamp(struct tfl_lower *l, int x, int activation)
{
	double lo, hi;
	int err = limits(l, activation, &lo, &hi);

	return err ? err : emit_clamp(l, x, lo, hi);
}

/*
 * Lowers ADD, SUB, MUL, MAXIMUM and MINIMUM of two float32 operands, broadcast to the result's shape; the
 * first three with their fused activation, which has to be a clamp, or without infinities. Returns the result's tensor, -ENOTSUP
 * if an operand or the result is not float32 or for another activation, or another negative errno.
 */
static int two_operands(struct tfl_lower *l)
{
	int code = l->op->code, activation, x[2], err = tfl_fused_activation(l, &activation);
	const bool chooses = code == TFL_MAXIMUM || code == TFL_MINIMUM;
	weft_attr a = { .mul = { 0 } };

	for (int k = 0; !err && k < 2; k++)
		if ((x[k] = tfl_value(l, k)) < 0 || (err = need_float(l, x[k])) || (x[k] = tfl_match_rank(l, x[k], l->y.rank)) < 0)
			return err ? err : x[k];
	if (err)
		return err;
	if (chooses)
		a.nan.nan = WEFT_NAN_COMPARE;
	if (!chooses)
		activation = tfl_or_finite(activation);
	int y = tfl_step(l, opcode(code), chooses || code == TFL_MUL ? &a : NULL, x, 2, WEFT_FP32, l->y.rank, l->y.dim, !activation);
	return y < 0 || !activation ? y : tfl_float_clamp(l, y, activation);
}

/*
 * Lowers RELU, RELU6, RELU_N1_TO_1 and RELU_0_TO_1 of float32 operand 0 to a CLAMP. Returns the result's tensor,
 * -ENOTSUP if operand or result is not float32, or another negative errno.
 */
static int relu(struct tfl_lower *l)
{
	const int x = tfl_value(l, 0), err = x < 0 ? x : need_float(l, x), code = l->op->code;

	return err ? err : emit_clamp(l, x, code == TFL_CODE_RELU_N1_TO_1 ? -1 : 0, code == TFL_CODE_RELU ? INFINITY : code == TFL_CODE_RELU6 ? 6 : 1);
}

/*
 * Returns the function that lowers the operator at hand if operand 0 is float32 and the operator is
 * one of this file or of tflite_float_more.c, else NULL.
 */
int (*tfl_float_lowering(const struct tfl_lower *l))(struct tfl_lower *)
{
	int i = tfl_has(l, 0) ? fb_i32_at(&l->m->b, &l->op->in, 0) : -1;

	if (i < 0 || i >= l->m->n_tensors || tfl_file_tensor(l, i)->type != TFL_FLOAT32)
		return NULL;
	switch (l->op->code) {
	case TFL_SQUARE: return square;
	case TFL_CODE_RELU: case TFL_CODE_RELU6: case TFL_CODE_RELU_N1_TO_1: case TFL_CODE_RELU_0_TO_1: return relu;
	case TFL_ADD: case TFL_SUB: case TFL_MUL: case TFL_MAXIMUM: case TFL_MINIMUM: return two_operands;
	default: return opcode(l->op->code) ? one_operand : tfl_float_more(l->op->code);
	}
}

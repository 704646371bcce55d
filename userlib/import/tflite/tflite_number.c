/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators around quantised networks: CAST, ARG_MAX, ARG_MIN, and arithmetic
 * of int32 and float32 on indices and coordinates.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/golden/fixed_point.h"
#include "tflite_host.h"

/* Says whether a type is int8, int16 or int32, between which TOSA's CAST converts. */
static bool is_plain_int(weft_dtype t)
{
	return t == WEFT_INT8 || t == WEFT_INT16 || t == WEFT_INT32;
}

/*
 * Returns the graph tensor of operand k with its elements as numbers, so that uint8 is not 128
 * less: the uint8 tensor itself if the graph has it, else int32. Returns a negative errno after a
 * failure.
 */
static int number(struct tfl_lower *l, int k)
{
	int i = tfl_operand(l, k);

	if (i < 0 || tfl_file_tensor(l, i)->type != TFL_UINT8)
		return i < 0 ? i : tfl_value(l, k);
	if (l->raw[i] >= 0)
		return l->raw[i];
	int x = tfl_value(l, k);
	return x < 0 ? x : tfl_widen(l, x, -128, 0);
}

/*
 * Lowers CAST between numeric types: by CAST between int8, int16 and int32, by the host operator
 * TFL_CAST between others, by IDENTITY if the type stays. Returns the result's tensor, -ENOTSUP for
 * a uint8 result that is no output of the network, or another negative errno.
 */
int tfl_lower_cast(struct tfl_lower *l)
{
	int x = number(l, 0);

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	weft_dtype to = l->y.dtype;
	if (tfl_file_tensor(l, l->i_y)->type == TFL_UINT8) {
		if (!l->is_output[l->i_y])
			return tfl_fail(l, -ENOTSUP, "a result of uint8 inside the network is not supported; as an output it is");
		to = WEFT_UINT8;
	}
	weft_opcode op = to == t.dtype ? WEFT_OP_IDENTITY : is_plain_int(to) && is_plain_int(t.dtype) ? WEFT_OP_CAST
	                                                                                              : WEFT_OP_TFL_CAST;
	return tfl_step(l, op, NULL, &x, 1, to, t.rank, t.dim, true);
}

/*
 * Emits -1 - x of integers or -x of float32, whose ARGMAX is x's ARGMIN, which TOSA lacks: the
 * first of equal elements stays the first. Returns the graph tensor, -ENOTSUP for other types, or
 * another negative errno.
 */
static int complement(struct tfl_lower *l, int x)
{
	const weft_attr minus = { .negate = { 0 } };
	weft_tensor t = l->g->tensors[x].t;

	if (t.dtype == WEFT_FP32)
		return tfl_step(l, WEFT_OP_NEGATE, &minus, &x, 1, t.dtype, t.rank, t.dim, false);

	if (!is_plain_int(t.dtype))
		return tfl_fail(l, -ENOTSUP, "%s is not supported", weft_dtype_name(t.dtype));
	return tfl_step(l, WEFT_OP_BITWISE_NOT, NULL, &x, 1, t.dtype, t.rank, t.dim, false);
}

/*
 * Lowers ARG_MAX of 8-bit, int16 or float32 operand 0 along the axis in constant operand 1, and ARG_MIN
 * as ARG_MAX of the complement; of equal elements the first counts, and the result is int32 or int64.
 * Returns the result's tensor, -ENOTSUP for other types, -EINVAL if the axis is not one or out of range,
 * or another negative errno.
 */
int tfl_lower_arg_max(struct tfl_lower *l)
{
	weft_attr a = { .axis = { 0 } };
	int64_t axis, dim[WEFT_MAX_RANK];
	int x = tfl_value(l, 0), n = x < 0 ? x : tfl_ints(l, 1, 1, &axis);

	if (n < 0)
		return n;
	weft_tensor t = l->g->tensors[x].t;
	if (n != 1 || axis < -t.rank || axis >= t.rank)
		return tfl_fail(l, -EINVAL, "axis %lld of rank %d", (long long)(n ? axis : 0), t.rank);
	if (t.dtype != WEFT_INT8 && t.dtype != WEFT_INT16 && t.dtype != WEFT_FP32)
		return tfl_fail(l, -ENOTSUP, "%s is not supported", weft_dtype_name(t.dtype));
	a.axis.axis = (int32_t)(axis < 0 ? axis + t.rank : axis);
	a.axis.nan = t.dtype == WEFT_FP32 ? WEFT_NAN_COMPARE : WEFT_NAN_DEFAULT;
	for (int i = 0; i < t.rank - 1; i++)
		dim[i] = t.dim[i < a.axis.axis ? i : i + 1];
	if (l->op->code == TFL_ARG_MIN && (x = complement(l, x)) < 0)
		return x;
	bool wide = l->y.dtype == WEFT_INT64;
	x = tfl_step(l, WEFT_OP_ARGMAX, &a, &x, 1, WEFT_INT32, t.rank - 1, dim, !wide);
	return x < 0 || !wide ? x : tfl_step(l, WEFT_OP_TFL_CAST, NULL, &x, 1, WEFT_INT64, t.rank - 1, dim, true);
}

/*
 * Emits operand k with the result's rank, by leading dimensions of 1. Returns the graph tensor,
 * -ENOTSUP if the operand or the result is not int32, or another negative errno.
 */
static int int_operand(struct tfl_lower *l, int k)
{
	int x = tfl_value(l, k);

	if (x < 0)
		return x;
	if (l->g->tensors[x].t.dtype != WEFT_INT32 || l->y.dtype != WEFT_INT32)
		return tfl_fail(l, -ENOTSUP, "operand %d is %s, not int32", k, weft_dtype_name(l->g->tensors[x].t.dtype));
	return tfl_match_rank(l, x, l->y.rank);
}

/*
 * Says whether the operator at hand divides int32 by at most 65536 constants above 0: then no
 * division traps, and only negative remainders need a correction. Returns 1 if so, 0 if not, or a
 * negative errno.
 */
static int plain_divisors(struct tfl_lower *l)
{
	int i = tfl_operand(l, 1);
	weft_tensor t;
	int err = i < 0 ? i : tfl_shape(l, i, &t);

	if (err)
		return err;
	const int64_t n = weft_tensor_elements(&t);
	if (!tfl_is_const(l, 1) || t.dtype != WEFT_INT32 || n > 65536)
		return 0;
	int64_t *v = tfl_alloc(l, n, sizeof *v);
	if (!v)
		return l->err;
	err = tfl_ints(l, 1, 65536, v);
	int plain = err < 0 ? err : 1;
	for (int64_t k = 0; k < n && plain == 1; k++)
		plain = v[k] >= 1;
	free(v);
	return plain;
}

/*
 * Lowers FLOOR_DIV and FLOOR_MOD of int32 operands with constant divisors above 0 (plain_divisors()): the
 * quotient is rounded towards 0 and its remainder computed, and both are corrected where the remainder is
 * negative. Other types and divisors are left to tfl_host_floor_div(). Returns the result's tensor, or a
 * negative errno.
 */
int tfl_lower_floor_div(struct tfl_lower *l)
{
	weft_attr mul = { .mul = { 0 } };
	int plain = plain_divisors(l), a = plain < 0 ? plain : plain ? int_operand(l, 0) : -1, b = a < 0 ? a : int_operand(l, 1), q, y;
	bool mod = l->op->code == TFL_FLOOR_MOD;
	int rank = l->y.rank;
	const int64_t *dim = l->y.dim;

	if (!plain)
		return tfl_host_floor_div(l);
	if (b < 0)
		return b;
	if ((q = tfl_step(l, WEFT_OP_INTDIV, NULL, (int[]){ a, b }, 2, WEFT_INT32, rank, dim, false)) < 0 ||
	    (y = tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ q, b }, 2, WEFT_INT32, rank, dim, false)) < 0 ||
	    (y = tfl_step(l, WEFT_OP_SUB, NULL, (int[]){ a, y }, 2, WEFT_INT32, rank, dim, false)) < 0)
		return q < 0 ? q : y;
	int rest = y, zero = tfl_number(l, "zero", WEFT_INT32, rank, 0);
	if (zero < 0 ||
	    (y = tfl_step(l, WEFT_OP_GREATER, NULL, (int[]){ zero, rest }, 2, WEFT_BOOL, rank, dim, false)) < 0 ||
	    (y = tfl_step(l, WEFT_OP_TFL_CAST, NULL, &y, 1, WEFT_INT32, rank, dim, false)) < 0)
		return zero < 0 ? zero : y;
	if (!mod)
		return tfl_step(l, WEFT_OP_SUB, NULL, (int[]){ q, y }, 2, WEFT_INT32, rank, dim, true);
	y = tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ y, b }, 2, WEFT_INT32, rank, dim, false);
	return y < 0 ? y : tfl_step(l, WEFT_OP_ADD, NULL, (int[]){ rest, y }, 2, WEFT_INT32, rank, dim, true);
}

/* Returns 0 if graph tensor x and the result at hand are float32, else -ENOTSUP. */
static int need_float(struct tfl_lower *l, int x)
{
	if (l->g->tensors[x].t.dtype == WEFT_FP32 && l->y.dtype == WEFT_FP32)
		return 0;
	return tfl_fail(l, -ENOTSUP, "%s into %s: only float32 here", weft_dtype_name(l->g->tensors[x].t.dtype),
	                weft_dtype_name(l->y.dtype));
}

/*
 * Lowers SQRT of 8 bits and int16 by tfl_lower_table(), of float32 by the host operator TFL_SQRT.
 * Returns the result's tensor, -ENOTSUP for other types, or another negative errno.
 */
int tfl_lower_sqrt(struct tfl_lower *l)
{
	int x = tfl_value(l, 0);

	if (x >= 0 && (l->g->tensors[x].t.dtype == WEFT_INT8 || l->g->tensors[x].t.dtype == WEFT_INT16))
		return tfl_lower_table(l);
	int err = x < 0 ? x : need_float(l, x);
	if (err)
		return err;
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_TFL_SQRT, NULL, &x, 1, WEFT_FP32, t.rank, t.dim, true);
}

/*
 * Lowers the DIV at hand of quantised operands to the host operator TFL_QUOTIENT, with the
 * activation; the factor of the scales is computed in float32 as TensorFlow Lite does. Returns the
 * result's tensor, -ENOTSUP if types differ or that factor is not 2^-31 to 2^30, or another
 * negative errno.
 */
static int quotient(struct tfl_lower *l, int activation)
{
	struct tfl_quant q[2], y;
	weft_attr a = { .tfl_quotient = { 0 } };
	int32_t lo, hi;
	int x[2], shift, err = tfl_need_result(l, TFL_Q8_16, &y);

	for (int k = 0; k < 2 && !err; k++) {
		x[k] = tfl_quant_value(l, k, TFL_Q8_16, &q[k]);
		if (x[k] >= 0 && q[k].t != y.t)
			return tfl_fail(l, -ENOTSUP, "operand %d is %s, result %s", k, weft_dtype_name(q[k].t), weft_dtype_name(y.t));
		if (x[k] >= 0)
			x[k] = tfl_match_rank(l, x[k], l->y.rank);
		err = x[k] < 0 ? x[k] : 0;
	}
	if (err || (err = tfl_limits(l, activation, &y, &lo, &hi)))
		return err;
	const double real = (double)(q[0].scale / (q[1].scale * y.scale));
	if (!(real >= 0x1p-31 && real < 0x1p30))
		return tfl_fail(l, -ENOTSUP, "factor %g of the scales, 2^-31 to 2^30 wanted", real);
	weft_quantize_multiplier(real, &a.tfl_quotient.multiplier, &shift);
	a.tfl_quotient.shift = shift;
	a.tfl_quotient.a_zp = q[0].zp;
	a.tfl_quotient.b_zp = q[1].zp;
	a.tfl_quotient.y_zp = y.zp;
	bool clamp = tfl_tighter(y.t, lo, hi);
	int r = tfl_step(l, WEFT_OP_TFL_QUOTIENT, &a, x, 2, y.t, l->y.rank, l->y.dim, !clamp);
	return r < 0 || !clamp ? r : tfl_clamp(l, r, lo, hi, true);
}

/*
 * Lowers DIV with its fused activation: of 8-bit or int16 operands to the host operator TFL_QUOTIENT
 * (quotient()), of float32 to TFL_DIV and a clamp. Returns the result's tensor; -ENOTSUP for other types,
 * for operands of another type than the result, or if quotient() does not take the scales; or another
 * negative errno.
 */
int tfl_lower_div(struct tfl_lower *l)
{
	int x[2], activation, err = tfl_limiting(l, OPTIONS_DIV, DIV_ACTIVATION, &activation);

	if (err)
		return err;
	if (l->y.dtype == WEFT_INT8 || l->y.dtype == WEFT_INT16)
		return quotient(l, activation);
	for (int k = 0; k < 2; k++) {
		if ((x[k] = tfl_value(l, k)) < 0)
			return x[k];
		if ((err = need_float(l, x[k])))
			return err;
		if ((x[k] = tfl_match_rank(l, x[k], l->y.rank)) < 0)
			return x[k];
	}
	const int y = tfl_step(l, WEFT_OP_TFL_DIV, NULL, x, 2, WEFT_FP32, l->y.rank, l->y.dim, false);
	return y < 0 ? y : tfl_float_clamp(l, y, tfl_or_finite(activation));
}

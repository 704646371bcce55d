/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MAXIMUM, MINIMUM, PRELU and SQUARED_DIFFERENCE of quantised tensors.
 *
 * The first two compare integers, so operands and result are quantised alike.
 * PRELU scales values above zero by sx / sy, those below times the slope by
 * sx * sa / sy; one of the two parts is always 0. SQUARED_DIFFERENCE brings
 * both operands to twice the larger scale, 7 bits to the left, as ADD does.
 */
#include <errno.h>

#include "tflite_lower.h"

#define DIFFERENCE_LEFT 7          /* bits by which SQUARED_DIFFERENCE's operands are shifted left */

/*
 * Emits operand k with the result's rank as int32: (x - zp) << left, or as it is if it is int32
 * already. Returns the graph tensor, or a negative errno.
 */
static int wide_operand(struct tfl_lower *l, int k, int32_t zp, int left)
{
	int x = tfl_value(l, k);

	if (x < 0 || (x = tfl_match_rank(l, x, l->y.rank)) < 0 || l->g->tensors[x].t.dtype == WEFT_INT32)
		return x;
	return tfl_widen(l, x, zp, left);
}

/*
 * Lowers MAXIMUM and MINIMUM of 8-bit, int16 or int32 operands, whose codes are compared as int32, whatever
 * their scales, as the kernel does. Returns the result's tensor, -ENOTSUP for other types, or
 * another negative errno.
 */
int tfl_lower_extremum(struct tfl_lower *l)
{
	struct tfl_factor one = { .multiplier = 1 << 30, .shift = 30 };
	struct tfl_rescale back = { .to = l->y.dtype, .rounding = WEFT_SINGLE_ROUND, .n = 1, .f = &one };
	weft_opcode op = l->op->code == TFL_MAXIMUM ? WEFT_OP_MAXIMUM : WEFT_OP_MINIMUM;
	weft_attr a = { .nan = { WEFT_NAN_DEFAULT } };
	bool plain = l->y.dtype == WEFT_INT32;
	int x[2];

	for (int k = 0; k < 2; k++) {
		if ((x[k] = tfl_value(l, k)) < 0)
			return x[k];
		if ((l->y.dtype != WEFT_INT8 && l->y.dtype != WEFT_INT16 && !plain) || l->g->tensors[x[k]].t.dtype != l->y.dtype)
			return tfl_fail(l, -ENOTSUP, "%s into %s is not supported", weft_dtype_name(l->g->tensors[x[k]].t.dtype), weft_dtype_name(l->y.dtype));
		if ((x[k] = wide_operand(l, k, 0, 0)) < 0)
			return x[k];
	}
	int y = tfl_step(l, op, &a, x, 2, WEFT_INT32, l->y.rank, l->y.dim, plain);
	return y < 0 || plain ? y : tfl_rescale(l, y, &back, true);
}

/*
 * Lowers PRELU of 8 bits: the part of operand 0 above its zero point, and the part below times operand 1,
 * the slope, which broadcasts, are rescaled each by itself and added. Returns the result's tensor,
 * -ENOTSUP for other types, or another negative errno.
 */
int tfl_lower_prelu(struct tfl_lower *l)
{
	struct tfl_factor f[2], one = { .multiplier = 1 << 30, .shift = 30 };
	struct tfl_quant xq, aq, yq;
	weft_attr nan = { .nan = { WEFT_NAN_DEFAULT } }, mul = { .mul = { 0 } };
	int err = tfl_need_result(l, TFL_Q8, &yq), i = err ? err : tfl_operand(l, 0), k = i < 0 ? i : tfl_operand(l, 1);
	int part[2];

	if (k < 0)
		return k;
	if ((err = tfl_quant(l, i, TFL_Q8, &xq)) || (err = tfl_quant(l, k, TFL_Q8, &aq)) ||
	    (err = tfl_factor(l, (double)(xq.scale / yq.scale), &f[0])) ||
	    (err = tfl_factor(l, (double)(xq.scale * aq.scale / yq.scale), &f[1])))
		return err;
	int x = wide_operand(l, 0, xq.zp, 0), a = x < 0 ? x : wide_operand(l, 1, aq.zp, 0), z = a < 0 ? a : tfl_number(l, "zero", WEFT_INT32, l->y.rank, 0);
	if (z < 0)
		return z;
	weft_tensor t = l->g->tensors[x].t;
	part[0] = tfl_step(l, WEFT_OP_MAXIMUM, &nan, (int[]){ x, z }, 2, WEFT_INT32, t.rank, t.dim, false);
	part[1] = part[0] < 0 ? part[0] : tfl_step(l, WEFT_OP_MINIMUM, &nan, (int[]){ x, z }, 2, WEFT_INT32, t.rank, t.dim, false);
	if (part[1] >= 0)
		part[1] = tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ part[1], a }, 2, WEFT_INT32, l->y.rank, l->y.dim, false);
	for (int s = 0; s < 2 && part[1] >= 0; s++) {
		struct tfl_rescale r = { .to = WEFT_INT32, .rounding = WEFT_DOUBLE_ROUND, .n = 1, .f = &f[s] };
		if ((part[s] = tfl_rescale(l, part[s], &r, false)) < 0)
			return part[s];
	}
	if (part[1] < 0)
		return part[1];
	int sum = tfl_step(l, WEFT_OP_ADD, NULL, part, 2, WEFT_INT32, l->y.rank, l->y.dim, false);
	return sum < 0 ? sum : tfl_requantise(l, sum, 1, &one, TFL_NONE, true);
}

/*
 * Lowers SQUARED_DIFFERENCE of 8 bits: both operands, which broadcast, are rescaled to twice the larger
 * scale, subtracted, squared, and rescaled to the result. Returns the result's tensor, -ENOTSUP for other
 * types, or another negative errno.
 */
int tfl_lower_squared_difference(struct tfl_lower *l)
{
	weft_attr mul = { .mul = { 0 } };
	struct tfl_quant q[2], yq;
	struct tfl_factor f;
	int x[2], err = tfl_need_result(l, TFL_Q8, &yq);

	for (int k = 0; k < 2 && !err; k++) {
		int i = tfl_operand(l, k);
		err = i < 0 ? i : tfl_quant(l, i, TFL_Q8, &q[k]);
	}
	if (err)
		return err;
	double twice = 2 * (double)(q[0].scale > q[1].scale ? q[0].scale : q[1].scale);
	for (int k = 0; k < 2; k++) {
		struct tfl_rescale r = { .to = WEFT_INT32, .rounding = WEFT_DOUBLE_ROUND, .n = 1, .f = &f };
		if ((err = tfl_factor(l, (double)q[k].scale / twice, &f)))
			return err;
		if ((x[k] = wide_operand(l, k, q[k].zp, DIFFERENCE_LEFT)) < 0 || (x[k] = tfl_rescale(l, x[k], &r, false)) < 0)
			return x[k];
	}
	if ((err = tfl_factor(l, twice * twice / ((1 << 2 * DIFFERENCE_LEFT) * (double)yq.scale), &f)))
		return err;
	int d = tfl_step(l, WEFT_OP_SUB, NULL, x, 2, WEFT_INT32, l->y.rank, l->y.dim, false);
	d = d < 0 ? d : tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ d, d }, 2, WEFT_INT32, l->y.rank, l->y.dim, false);
	return d < 0 ? d : tfl_requantise(l, d, 1, &f, TFL_NONE, true);
}

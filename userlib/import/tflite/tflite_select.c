/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons, logic on their results, and selection by them.
 *
 * Quantised operands are compared as real numbers in units of 2^-8, to which each is rounded as the
 * framework does it: (x - zp) << 8 times the scale, in two roundings. Numbers that differ by less than
 * such a unit may count as equal. Selection moves integers, whatever the scales.
 */
#include <errno.h>

#include "tflite_lower.h"

#define LEFT 8                     /* bits by which operands are shifted left before they are scaled */

/*
 * Emits operand k with the result's rank in a form that compares as TFLite does: 8 and 16 bits as int32,
 * (x - zero point) << 8 times the scale; int32 and float32 as they are. Returns the graph tensor,
 * -ENOTSUP for other types, or another negative errno.
 */
static int compared(struct tfl_lower *l, int k)
{
	struct tfl_quant q;
	struct tfl_factor f;
	int x = tfl_value(l, k), err;

	if (x < 0)
		return x;
	weft_dtype t = l->g->tensors[x].t.dtype;
	if (t == WEFT_FP32 || t == WEFT_INT32)
		return tfl_match_rank(l, x, l->y.rank);
	if (t != WEFT_INT8 && t != WEFT_INT16)
		return tfl_fail(l, -ENOTSUP, "operand %d is %s; int8, uint8, int16, int32 and float32 are compared", k, weft_dtype_name(t));
	if ((x = tfl_quant_value(l, k, TFL_Q8_16, &q)) < 0 || (x = tfl_match_rank(l, x, l->y.rank)) < 0)
		return x;
	if ((err = tfl_factor(l, (double)q.scale, &f)))
		return err;
	struct tfl_rescale r = { .to = WEFT_INT32, .rounding = WEFT_DOUBLE_ROUND, .n = 1, .f = &f };
	x = tfl_widen(l, x, q.zp, LEFT);
	return x < 0 ? x : tfl_rescale(l, x, &r, false);
}

/* Returns 0 if t is bool, else -EINVAL. */
static int need_bool(struct tfl_lower *l, weft_dtype t)
{
	return t == WEFT_BOOL ? 0 : tfl_fail(l, -EINVAL, "%s where bool is wanted", weft_dtype_name(t));
}

/*
 * Lowers EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL, LESS and LESS_EQUAL of 8-bit, int16, int32 or float32
 * operands, which broadcast; the last two exchange their operands. Returns the result's tensor, -ENOTSUP
 * for other types, -EINVAL if one operand is float32 and the other is not or the result is not bool, or
 * another negative errno.
 */
int tfl_lower_compare(struct tfl_lower *l)
{
	const int code = l->op->code;
	const bool swap = code == TFL_LESS || code == TFL_LESS_EQUAL, not = code == TFL_NOT_EQUAL;
	weft_opcode op = code == TFL_LESS || code == TFL_GREATER ? WEFT_OP_GREATER
	                 : code == TFL_EQUAL || not ? WEFT_OP_EQUAL : WEFT_OP_GREATER_EQUAL;
	int a = compared(l, swap), b = a < 0 ? a : compared(l, !swap), err = b < 0 ? b : need_bool(l, l->y.dtype);

	if (err)
		return err;
	if (l->g->tensors[a].t.dtype != l->g->tensors[b].t.dtype)
		return tfl_fail(l, -EINVAL, "%s and %s", weft_dtype_name(l->g->tensors[a].t.dtype), weft_dtype_name(l->g->tensors[b].t.dtype));
	int y = tfl_step(l, op, NULL, (int[]){ a, b }, 2, WEFT_BOOL, l->y.rank, l->y.dim, !not);
	return y < 0 || !not ? y : tfl_step(l, WEFT_OP_LOGICAL_NOT, NULL, &y, 1, WEFT_BOOL, l->y.rank, l->y.dim, true);
}

/*
 * Lowers LOGICAL_AND, LOGICAL_OR and LOGICAL_NOT of bool. Returns the result's tensor, -EINVAL if
 * an operand is not bool, or another negative errno.
 */
int tfl_lower_logical(struct tfl_lower *l)
{
	const int code = l->op->code, n = code == TFL_LOGICAL_NOT ? 1 : 2;
	weft_opcode op = code == TFL_LOGICAL_AND ? WEFT_OP_LOGICAL_AND : code == TFL_LOGICAL_OR ? WEFT_OP_LOGICAL_OR : WEFT_OP_LOGICAL_NOT;
	int x[2], err;

	for (int k = 0; k < n; k++)
		if ((x[k] = tfl_value(l, k)) < 0 || (x[k] = tfl_match_rank(l, x[k], l->y.rank)) < 0 ||
		    (err = need_bool(l, l->g->tensors[x[k]].t.dtype)))
			return x[k] < 0 ? x[k] : err;
	return tfl_step(l, op, NULL, x, n, WEFT_BOOL, l->y.rank, l->y.dim, true);
}

/*
 * Emits the condition of the SELECT or SELECT_V2 at hand, operand 0, with the result's rank; a
 * vector of SELECT runs along the first dimension. Returns the graph tensor, -EINVAL if it is not
 * bool, or another negative errno.
 */
static int condition(struct tfl_lower *l)
{
	int x = tfl_value(l, 0), err = x < 0 ? x : need_bool(l, l->g->tensors[x].t.dtype);
	int64_t dim[WEFT_MAX_RANK];

	if (err)
		return err;
	weft_tensor t = l->g->tensors[x].t;
	if (l->op->code != TFL_SELECT || t.rank != 1 || l->y.rank < 2)
		return tfl_match_rank(l, x, l->y.rank);
	for (int i = 0; i < l->y.rank; i++)
		dim[i] = i ? 1 : t.dim[0];
	return tfl_reshape(l, x, l->y.rank, dim);
}

/*
 * Lowers SELECT and SELECT_V2: operand 1 where the condition, operand 0, is true, else operand 2,
 * broadcast to the result, but a vector as SELECT's condition chooses along the result's first dimension;
 * integers are moved as they are, whatever the scales. Returns the result's tensor, -ENOTSUP if operand 1
 * or 2 has another type than the result or is int64, -EINVAL if the condition is not bool, or another
 * negative errno.
 */
int tfl_lower_select(struct tfl_lower *l)
{
	int x[3] = { condition(l) };

	if (x[0] < 0)
		return x[0];
	for (int k = 1; k < 3; k++) {
		if ((x[k] = tfl_value(l, k)) < 0 || (x[k] = tfl_match_rank(l, x[k], l->y.rank)) < 0)
			return x[k];
		weft_dtype t = l->g->tensors[x[k]].t.dtype;
		if (t != l->y.dtype || t == WEFT_INT64)
			return tfl_fail(l, -ENOTSUP, "operand %d is %s, result %s", k, weft_dtype_name(t), weft_dtype_name(l->y.dtype));
	}
	return tfl_step(l, WEFT_OP_SELECT, NULL, x, 3, l->y.dtype, l->y.rank, l->y.dim, true);
}

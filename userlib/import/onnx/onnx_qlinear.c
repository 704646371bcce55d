/* SPDX-License-Identifier: Apache-2.0 */
/*
 * com.microsoft's QLinearAdd, QLinearMul, QLinearSigmoid, QLinearLeakyRelu,
 * QLinearConcat, QLinearSoftmax and the averages. Each is a DequantizeLinear, the
 * operator in float32 and a QuantizeLinear, or integer operators that give the same.
 */
#include <errno.h>
#include <string.h>

#include "onnx_integer.h"
#include "onnx_qdq.h"

/*
 * Emits operand k of the node at hand dequantised to float32 with the scale in operand k + 1 and
 * the zero point in operand k + 2, which may be absent. Returns the graph tensor, -ENOTSUP if the
 * scale is not one float32, or another negative errno.
 */
static int dequantised(struct ox *l, int k)
{
	int x = ox_x(l, k), rank = x < 0 ? 0 : ox_t(l, x)->rank;
	struct ox_value *s = ox_in(l, k + 1), *z = ox_optional(l, k + 2);

	if (x < 0 || !s)
		return l->err;
	if (weft_tensor_elements(&s->t) != 1 || s->t.dtype != WEFT_FP32)
		return ox_fail(l, -ENOTSUP, "scales other than one float");
	const int scale = ox_along(l, s, rank, rank ? 1 : 0);
	const int in[3] = { x, scale, z ? ox_along(l, z, rank, rank ? 1 : 0) : 0 };
	return ox_op(l, WEFT_OP_ONNX_DEQUANTIZE, NULL, in, z ? 3 : 2, WEFT_FP32, rank, ox_t(l, x)->dim);
}

/*
 * Emits float x quantised with the scale in operand k and the zero point in operand k + 1 of the
 * node at hand, in the zero point's type. Returns the graph tensor, -EINVAL if one of these is
 * absent or not a single number, or another negative errno. After a failure (x is negative) that
 * failure is returned.
 */
static int quantised(struct ox *l, int x, int k)
{
	weft_attr a = { .onnx = { true, WEFT_FP32 } };
	int rank = x < 0 ? 0 : ox_t(l, x)->rank;
	struct ox_value *s = x < 0 ? NULL : ox_in(l, k), *z = s ? ox_in(l, k + 1) : NULL;

	if (!z)
		return l->err;
	if (weft_tensor_elements(&s->t) != 1 || weft_tensor_elements(&z->t) != 1)
		return ox_fail(l, -EINVAL, "scale or zero point is not one number");
	const int scale = ox_along(l, s, rank, rank ? 1 : 0);
	const int in[3] = { x, scale, ox_along(l, z, rank, rank ? 1 : 0) };
	return ox_op(l, WEFT_OP_ONNX_QUANTIZE, &a, in, 3, z->t.dtype, rank, ox_t(l, x)->dim);
}

/*
 * Sets *s to operand k of the node at hand with the scale in operand k + 1 and the zero point in
 * operand k + 2 (absent: 0). Returns false if the operand is constant or not of 8 bits, or
 * ox_q_read() does not take its parameters: constant single numbers, the scale a positive float32;
 * *s then does not count.
 */
static bool side(struct ox *l, int k, struct ox_side *s)
{
	s->v = ox_in(l, k);
	return s->v && ox_is_8_bit(s->v) && !ox_is_const_value(l, s->v) &&
	       ox_q_read(l, ox_in(l, k + 1), ox_optional(l, k + 2), s->v->t.dtype, &s->q);
}

/*
 * Sets *q to the scale in operand k and the zero point in operand k + 1 of the node at hand
 * (absent: 0 of type t). The zero point's type is not checked. Returns false if they are not
 * constant single numbers, the scale a positive float32; *q then does not count.
 */
static bool result_q(struct ox *l, int k, weft_dtype t, struct ox_q *q)
{
	struct ox_value *zp = ox_optional(l, k + 1);

	return ox_q_read(l, ox_in(l, k), zp, zp ? zp->t.dtype : t, q);
}

/*
 * Sets *x and *y to operands 0 and 3 of the node at hand with their scales and zero points behind
 * them (an absent zero point is 0), and *q to the result's, operands 6 and 7. Returns false, with
 * all three of no use, if an operand is not of 8 bits, parameters are not constant single numbers,
 * both operands are constant, or the result is int16.
 */
static bool sides(struct ox *l, struct ox_side *x, struct ox_side *y, struct ox_q *q)
{
	struct ox_side *const s[2] = { x, y };
	int n_const = 0;

	for (int k = 0; k < 2; k++) {
		s[k]->v = ox_in(l, 3 * k);
		if (!s[k]->v || !ox_is_8_bit(s[k]->v) ||
		    !ox_q_read(l, ox_in(l, 3 * k + 1), ox_optional(l, 3 * k + 2), s[k]->v->t.dtype, &s[k]->q))
			return false;
		n_const += ox_is_const_value(l, s[k]->v);
	}
	return n_const < 2 && result_q(l, 6, x->v->t.dtype, q) && ox_is_8_bit(q->zp);
}

/*
 * Emits the result of QLinear operator op on s[0] and s[1], quantised with q, as a function of the
 * codes of one of them, if s[c] is a constant of one element, and sets perm to the order of the
 * result's dimensions. Returns the graph tensor (int8, 128 less if q is of uint8), 0 if s[c] is
 * something else or has a higher rank than the other, or a negative errno.
 */
static int by_one_code(struct ox *l, weft_opcode op, struct ox_side *s, int c, const struct ox_q *q, int8_t *perm)
{
	struct ox_value *v = s[c].v;
	int32_t f[256];

	if (!ox_is_const_value(l, v) || weft_tensor_elements(&v->t) != 1 || v->t.rank > s[!c].v->t.rank)
		return 0;
	int k = ox_get(l, v, NULL), x = k < 0 ? k : ox_side_tensor(l, s[!c].v, perm);
	if (x < 0)
		return x;
	int code = v->t.dtype == WEFT_UINT8 ? *(const uint8_t *)ox_t(l, k)->data : *(const int8_t *)ox_t(l, k)->data;
	for (int i = 0; i < 256; i++) {
		int other = s[!c].q.flip ? i : i - 128;
		f[i] = ox_qlinear_pair(op, &s[0], &s[1], q, c ? other : code, c ? code : other);
	}
	return ox_by_codes(l, x, f, NULL, q);
}

/*
 * Emits the codes of floats y, which are values divided by q's scale. q's zero point is added first; then the sum is rounded to the
 * nearest integer, ties to even, and limited to q's type. Returns the graph tensor, or a negative errno; a negative y is returned as it
 * is.
 */
static int steps_to_codes(struct ox *l, int y, const struct ox_q *q)
{
	weft_attr a = { .onnx = { true, WEFT_FP32 } };

	y = ox_shift(l, y, q->z);
	int one = y < 0 ? y : ox_ramp(l, WEFT_FP32, ox_t(l, y)->rank, 1), zero = one < 0 ? one : ox_ramp(l, q->zp->t.dtype, ox_t(l, y)->rank, 0);
	return zero < 0 ? zero : ox_op(l, WEFT_OP_ONNX_QUANTIZE, &a, (int[]){ y, one, zero }, 3, q->zp->t.dtype, ox_t(l, y)->rank, ox_t(l, y)->dim);
}

/*
 * Emits the result of QLinear operator op on s[0] and s[1], quantised with q, computed by float32 operators on
 * the host: the codes less their zero points, for a sum each times its scale / q's scale, for WEFT_OP_MUL the
 * product times both scales / q's scale; plus q's zero point, rounded to even and limited to q's type. Returns
 * the graph tensor, or a negative errno.
 */
static int in_floats(struct ox *l, weft_opcode op, const struct ox_side *s, const struct ox_q *q)
{
	const float sa = (float)s[0].q.s, sb = (float)s[1].q.s, sy = (float)q->s;
	const double factor[2] = { (double)(sa / sy), (double)(sb / sy) };
	int x[2], y;

	for (int k = 0; k < 2; k++) {
		x[k] = ox_shift(l, ox_cast(l, ox_get(l, s[k].v, NULL), WEFT_FP32), -(double)s[k].q.z);
		if (op != WEFT_OP_MUL)
			x[k] = ox_scale(l, x[k], factor[k]);
	}
	y = ox_binary(l, op, x[0], x[1]);
	if (op == WEFT_OP_MUL)
		y = ox_scale(l, y, (double)(sa * sb / sy));
	return steps_to_codes(l, y, q);
}

/*
 * Says whether ONNX Runtime's broadcasting takes a as one number for many elements of b: in the last dimension that is not 1 in
 * both a is 1. If there is no such dimension among those that both have, it takes both as numbers, which counts as well.
 */
static bool is_one_for_many(const weft_tensor *a, const weft_tensor *b)
{
	for (int d = 1; d <= a->rank && d <= b->rank; d++)
		if (a->dim[a->rank - d] != 1 || b->dim[b->rank - d] != 1)
			return a->dim[a->rank - d] == 1;
	return a->rank == 0 || b->rank > 0 || a->dim[a->rank - 1] == 1;
}

/*
 * Lowers QLinearAdd and QLinearMul: in integers if both operands are of 8 bits, not both constant,
 * with constant parameters, the result is not int16, and an integer form gives the exact result for
 * every pair of codes (with --requant rescale also an inexact one), else in floats on the
 * host. Returns 0, -ENOTSUP for scales other than one float, -EINVAL if shapes do not broadcast, or
 * another negative errno.
 */
int ox_qlinear_binary(struct ox *l)
{
	weft_opcode op = ox_is(l, "QLinearMul") ? WEFT_OP_MUL : WEFT_OP_ADD;
	struct ox_value held[2];
	int8_t perm[WEFT_MAX_RANK];
	struct ox_coded coded;
	struct ox_side s[2] = { 0 }, as[2];
	struct ox_q q;

	if (!sides(l, &s[0], &s[1], &q)) {
		int a = dequantised(l, 0), b = a < 0 ? a : dequantised(l, 3);
		return ox_result(l, 0, quantised(l, ox_binary(l, op, a, b), 6), NULL, false);
	}
	s[is_one_for_many(&s[0].v->t, &s[1].v->t)].last = true;
	for (int c = 0; c < 2; c++) {
		int y = by_one_code(l, op, s, c, &q, perm);
		if (y)
			return ox_result(l, 0, y, perm, q.flip);
	}
	for (int c = 0; c < 2; c++)
		if (ox_side_of_rank(l, &s[c], s[!c].v->t.rank, &held[c], &as[c]) < 0)
			return l->err;
	/* The first says in which order it is held. */
	bool turn = ox_is_const_value(l, as[0].v);
	int done = ox_fold_pair(l, op, &as[turn], &as[!turn], &q, true, &coded);
	if (done)
		return done < 0 ? done : ox_result(l, 0, coded.tensor, coded.perm, q.flip);
	return ox_result(l, 0, in_floats(l, op, as, &q), NULL, false);
}

/*
 * With ceil_mode, windows of w may reach beyond the padding behind the image. Makes the elements that they reach there count
 * like padding, and returns whether there are any. With count_include_pad, ONNX Runtime's QLinearAveragePool counts them, and
 * ONNX's AveragePool does not.
 */
static bool counts_all(struct ox_windows *w)
{
	bool more = false;

	for (int i = 0; i < w->w.n; i++)
		if (w->w.after[i] > w->behind[i]) {
			w->behind[i] = w->w.after[i];
			more = true;
		}
	return more;
}

/*
 * Emits the QLinearAveragePool at hand as ONNX Runtime computes it: it averages the dequantised codes in float32, divides by
 * q's scale, and makes codes of that by steps_to_codes(). Returns the graph tensor, or a negative errno.
 */
static int average_of_floats(struct ox *l, const struct ox_q *q)
{
	int y = ox_host_of_floats(l, "AveragePool", dequantised(l, 0));
	int scale = y < 0 ? y : ox_ramp(l, WEFT_FP32, ox_t(l, y)->rank, q->s);

	return steps_to_codes(l, scale < 0 ? scale : ox_binary(l, WEFT_OP_ONNX_DIV, y, scale), q);
}

/*
 * Lowers QLinearAveragePool and QLinearGlobalAveragePool in integers by ox_average(): sums of the
 * codes less their zero point, requantised to the result's parameters; windows of three dimensions, of more than 65535
 * elements or of padding alone in floats on the host. With --requant runtime, QLinearAveragePool is
 * average_of_floats(), unless counts_all() holds. Returns 0; -ENOTSUP for a window that needs floats if counts_all()
 * holds, for channels_last, for an operand that is constant, not of 8 bits or of a rank above 5 (8 for
 * QLinearGlobalAveragePool), for parameters that are not constant single numbers, and for an int16 result;
 * -EINVAL for a rank below 3; or another negative errno.
 */
int ox_qlinear_average(struct ox *l)
{
	bool global = ox_is(l, "QLinearGlobalAveragePool");
	int err = ox_need_rank(l, 0, 3, global ? WEFT_MAX_RANK : 5);
	struct ox_windows w;
	struct ox_coded y;
	struct ox_side x;
	struct ox_q q;

	if (err)
		return err;
	if (ox_attr_i(l, "channels_last", 0))
		return ox_fail(l, -ENOTSUP, "channels_last");
	if (!side(l, 0, &x) || !result_q(l, 3, x.v->t.dtype, &q))
		return ox_fail(l, -ENOTSUP, "operands that are not of 8 bits with constant scales");
	if (!global && (err = ox_pool_window(l, x.v, &w.w, w.behind)))
		return err;
	w.padding = ox_attr_i(l, "count_include_pad", 0) != 0;
	bool more = !global && w.padding && counts_all(&w);
	if (!global && !more && l->o.requant == WEFT_ONNX_REQUANT_RUNTIME)
		return ox_result(l, 0, average_of_floats(l, &q), NULL, false);
	int done = ox_average(l, &x, global ? NULL : &w, &q, &y);
	if (!done && more)
		return ox_fail(l, -ENOTSUP, "ceil_mode with count_include_pad, for a window that only floats can average");
	if (!done)
		return ox_result(l, 0, quantised(l, ox_host_of_floats(l, global ? "GlobalAveragePool" : "AveragePool", dequantised(l, 0)), 3), NULL, false);
	return done < 0 ? done : ox_result(l, 0, y.tensor, y.perm, q.flip);
}

/*
 * Emits the function that the node at hand computes of float x: the sigmoid for QLinearSigmoid (with --requant
 * runtime as the runtime approximates it), else LeakyRelu with attribute alpha (default 0.01). Returns the graph
 * tensor, or a negative errno.
 */
static int function(struct ox *l, int x)
{
	if (ox_is(l, "QLinearSigmoid"))
		return l->o.requant == WEFT_ONNX_REQUANT_RUNTIME ? ox_host_of_floats(l, "Sigmoid", x) : ox_unary(l, WEFT_OP_SIGMOID, x);
	int zero = x < 0 ? x : ox_ramp(l, WEFT_FP32, ox_t(l, x)->rank, 0);
	int scaled = ox_scale(l, x, ox_attr_f(l, "alpha", 0.01)), below = ox_binary(l, WEFT_OP_GREATER, zero, x);
	return ox_select(l, below, scaled, x);
}

/*
 * Lowers QLinearSigmoid and QLinearLeakyRelu: to a function of all 256 codes (a TABLE or less) if
 * the operand is computed and of 8 bits and the parameters are constant, else in floats on the host.
 * Returns 0, -ENOTSUP for an operand's scale that is not one float, or another negative errno.
 */
int ox_qlinear_unary(struct ox *l)
{
	int8_t perm[WEFT_MAX_RANK];
	struct ox_side x;
	struct ox_q q;
	int32_t f[256];

	if (side(l, 0, &x) && result_q(l, 3, x.v->t.dtype, &q) &&
	    ox_quantised(l, function(l, ox_dequantised(l, ox_codes(l, x.v->t.dtype), &x.q)), &q, f, 256)) {
		int t = ox_side_tensor(l, x.v, perm);
		return ox_result(l, 0, t < 0 ? t : ox_by_codes(l, t, f, NULL, &q), perm, q.flip);
	}
	return ox_result(l, 0, quantised(l, function(l, dequantised(l, 0)), 3), NULL, false);
}

/*
 * Emits operand k of the node at hand, with its scale and zero point behind it, requantised with q,
 * and sets perm to the order of its dimensions. Returns the graph tensor, -ENOTSUP without a
 * message if the operand is constant or not of 8 bits or its parameters are not constant single
 * numbers, or another negative errno.
 */
static int requantised(struct ox *l, int k, const struct ox_q *q, int8_t *perm)
{
	struct ox_side x;
	int32_t f[256];

	if (!side(l, k, &x) || !ox_quantised(l, ox_dequantised(l, ox_codes(l, x.v->t.dtype), &x.q), q, f, 256))
		return -ENOTSUP;
	int t = ox_side_tensor(l, x.v, perm);
	return t < 0 ? t : ox_by_codes(l, t, f, &x.q, q);
}

/*
 * Says whether all n parts of the QLinearConcat at hand, from operand 2 on, each with scale and
 * zero point behind it, are computed values of 8 bits with constant parameters.
 */
static bool all_sides(struct ox *l, int n)
{
	struct ox_side x;

	for (int k = 0; k < n; k++)
		if (!side(l, 2 + 3 * k, &x))
			return false;
	return true;
}

/*
 * Lowers the QLinearConcat of n parts at hand in integers: each part is requantised with q, brought
 * to the first one's order of dimensions, and joined. Returns 0, -EINVAL if ranks or other
 * dimensions differ or attribute axis is missing or out of range, or another negative errno.
 */
static int concat_codes(struct ox *l, int n, const struct ox_q *q)
{
	int8_t first[WEFT_MAX_RANK], own[WEFT_MAX_RANK];
	int x[64], rank = 0;

	for (int k = 0; k < n; k++) {
		x[k] = requantised(l, 2 + 3 * k, q, k ? own : first);
		if (x[k] < 0)
			return x[k];
		if (k && ox_t(l, x[k])->rank != rank)
			return ox_fail(l, -EINVAL, "ranks %d and %d", rank, ox_t(l, x[k])->rank);
		rank = ox_t(l, x[k])->rank;
		if (k)
			x[k] = ox_reorder(l, x[k], own, first);
	}
	int axis = ox_axis(l, ox_attr_i(l, "axis", INT32_MAX), rank), at = 0;
	while (axis >= 0 && first[at] != axis)
		at++;
	return ox_result(l, 0, axis < 0 ? axis : ox_concat(l, x, n, at), first, q->flip);
}

/*
 * Lowers QLinearConcat, whose operands are the result's scale and zero point, then value, scale and
 * zero point of each of 1 to 64 parts: in integers if all parts are computed values of 8 bits and
 * all parameters are constant, else in floats on the host. Returns 0, -ENOTSUP for another number
 * of parts or a part's scale that is not one float, -EINVAL if axis is missing or out of range or
 * shapes differ in more than that axis, or another negative errno.
 */
int ox_qlinear_concat(struct ox *l)
{
	int x[64], n = ((int)l->n->n_input - 2) / 3;
	struct ox_value *zp;
	struct ox_q q;

	if (n < 1 || n > 64)
		return ox_fail(l, -ENOTSUP, "%d operands", n);
	zp = ox_in(l, 1);
	if (!zp)
		return l->err;
	if (ox_is_8_bit(zp) && all_sides(l, n) && result_q(l, 0, zp->t.dtype, &q))
		return concat_codes(l, n, &q);
	for (int k = 0; k < n; k++) {
		x[k] = dequantised(l, 2 + 3 * k);
		if (x[k] < 0)
			return x[k];
	}
	int axis = ox_axis(l, ox_attr_i(l, "axis", INT32_MAX), ox_t(l, x[0])->rank);
	return ox_result(l, 0, axis < 0 ? axis : quantised(l, ox_concat(l, x, n, axis), 0), NULL, false);
}

/*
 * Lowers QLinearSoftmax: with --requant rescale in integers if ox_softmax_codes() can do it, else in floats on the host. If
 * its attribute opset (default 13) is below 13, all dimensions from the axis on count as one, and attribute axis is 1 by default, otherwise -1. Returns
 * 0, -ENOTSUP for an operand's scale that is not one float, -EINVAL if the axis is out of range, or
 * another negative errno.
 */
int ox_qlinear_softmax(struct ox *l)
{
	bool older = ox_attr_i(l, "opset", 13) < 13;
	const int64_t given = ox_attr_i(l, "axis", older ? 1 : -1);
	struct ox_coded y;
	struct ox_side in;
	struct ox_q q;

	if (l->o.requant == WEFT_ONNX_REQUANT_RESCALE && side(l, 0, &in) && result_q(l, 3, in.v->t.dtype, &q) &&
	    ox_softmax_of_one_axis(older ? 1 : 13, given, &in.v->t)) {
		int done = ox_softmax_codes(l, &in, given, &q, &y);
		if (done)
			return done < 0 ? done : ox_result(l, 0, y.tensor, y.perm, q.flip);
	}
	int x = dequantised(l, 0), rank = x < 0 ? 0 : ox_t(l, x)->rank;
	int axis = x < 0 ? x : ox_axis(l, given, rank);

	if (axis < 0)
		return l->err;
	unsigned axes = older ? ((1u << rank) - 1) & ~((1u << axis) - 1) : 1u << axis;
	return ox_result(l, 0, quantised(l, ox_softmax_over(l, x, axes), 3), NULL, false);
}

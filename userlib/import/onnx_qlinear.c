/* SPDX-License-Identifier: Apache-2.0 */
/*
 * com.microsoft's QLinearAdd, QLinearMul, QLinearSigmoid, QLinearLeakyRelu and
 * QLinearConcat: DequantizeLinear, the operator in float32, QuantizeLinear, or
 * integers that give the same; and the averages.
 */
#include <errno.h>
#include <string.h>

#include "onnx_integer.h"
#include "onnx_qdq.h"

/* Operands k, k + 1, k + 2: value, scale, zero point. */
static int dequantised(struct ox *l, int k)
{
	int x = ox_x(l, k), rank = x < 0 ? 0 : ox_t(l, x)->rank;
	struct ox_value *s = ox_in(l, k + 1), *z = ox_has(l, k + 2) ? ox_in(l, k + 2) : NULL;

	if (x < 0 || !s)
		return l->err;
	if (weft_tensor_elements(&s->t) != 1 || s->t.dtype != WEFT_FP32)
		return ox_fail(l, -ENOTSUP, "scales other than one float");
	int in[3] = { x, ox_along(l, s, rank, rank ? 1 : 0), z ? ox_along(l, z, rank, rank ? 1 : 0) : 0 };
	return ox_op(l, WEFT_OP_ONNX_DEQUANTIZE, NULL, in, z ? 3 : 2, WEFT_FP32, rank, ox_t(l, x)->dim);
}

/* x by operands k and k + 1. */
static int quantised(struct ox *l, int x, int k)
{
	weft_attr a = { .onnx = { true, WEFT_FP32 } };
	int rank = x < 0 ? 0 : ox_t(l, x)->rank;
	struct ox_value *s = x < 0 ? NULL : ox_in(l, k), *z = s ? ox_in(l, k + 1) : NULL;

	if (!z)
		return l->err;
	if (weft_tensor_elements(&s->t) != 1 || weft_tensor_elements(&z->t) != 1)
		return ox_fail(l, -EINVAL, "scale or zero point is not one number");
	int in[3] = { x, ox_along(l, s, rank, rank ? 1 : 0), ox_along(l, z, rank, rank ? 1 : 0) };
	return ox_op(l, WEFT_OP_ONNX_QUANTIZE, &a, in, 3, z->t.dtype, rank, ox_t(l, x)->dim);
}

/* The same operands as integers; false: not constant, or not of 8 bits. */
static bool side(struct ox *l, int k, struct ox_side *s)
{
	s->v = ox_in(l, k);
	return s->v && ox_is_8_bit(s->v) && !ox_is_const_value(l, s->v) &&
	       ox_q_read(l, ox_in(l, k + 1), ox_has(l, k + 2) ? ox_in(l, k + 2) : NULL, s->v->t.dtype, &s->q);
}

static bool result_q(struct ox *l, int k, weft_dtype t, struct ox_q *q)
{
	struct ox_value *zp = ox_has(l, k + 1) ? ox_in(l, k + 1) : NULL;

	return ox_q_read(l, ox_in(l, k), zp, zp ? zp->t.dtype : t, q);
}

int ox_qlinear_binary(struct ox *l)
{
	weft_opcode op = ox_is(l, "QLinearMul") ? WEFT_OP_MUL : WEFT_OP_ADD;
	int8_t perm[WEFT_MAX_RANK];
	struct ox_side x, y;
	bool done = false;
	struct ox_q q;

	if (side(l, 0, &x) && side(l, 3, &y) && result_q(l, 6, x.v->t.dtype, &q)) {
		int z = ox_fold_pair(l, op, &x, &y, &q, perm, &done);
		if (z < 0 || done)
			return ox_result(l, 0, z, perm, q.flip);
	}
	int a = dequantised(l, 0), b = a < 0 ? a : dequantised(l, 3);
	return ox_result(l, 0, quantised(l, ox_binary(l, op, a, b), 6), NULL, false);
}

/* QLinearAveragePool and QLinearGlobalAveragePool: onnx_average.c says what they compute. */
int ox_qlinear_average(struct ox *l)
{
	bool global = ox_is(l, "QLinearGlobalAveragePool"), done = false;
	int err = ox_need_rank(l, 0, 3, global ? WEFT_MAX_RANK : 5);
	int8_t perm[WEFT_MAX_RANK];
	struct ox_window w;
	int64_t behind[3];
	struct ox_side x;
	struct ox_q q;

	if (err)
		return err;
	if (ox_attr_i(l, "channels_last", 0))
		return ox_fail(l, -ENOTSUP, "channels_last");
	if (!side(l, 0, &x) || !result_q(l, 3, x.v->t.dtype, &q))
		return ox_fail(l, -ENOTSUP, "operands that are not of 8 bits with constant scales");
	if (!global && (err = ox_pool_window(l, x.v, &w, behind)))
		return err;
	int y = ox_average(l, &x, global ? NULL : &w, behind, ox_attr_i(l, "count_include_pad", 0) != 0, &q, perm, &done);
	if (y >= 0 && !done)
		return ox_fail(l, -ENOTSUP, "windows of three dimensions, of more than 65535 elements, or of padding alone");
	return ox_result(l, 0, y, perm, q.flip);
}

int ox_qlinear_unary(struct ox *l)
{
	int x = dequantised(l, 0), y;

	if (ox_is(l, "QLinearSigmoid")) {
		y = ox_unary(l, WEFT_OP_SIGMOID, x);
	} else {
		int zero = x < 0 ? x : ox_ramp(l, WEFT_FP32, ox_t(l, x)->rank, 0);
		y = ox_select(l, ox_binary(l, WEFT_OP_GREATER, zero, x), ox_scale(l, x, ox_attr_f(l, "alpha", 0.01)), x);
	}
	return ox_result(l, 0, quantised(l, y, 3), NULL, false);
}

/* y_scale, y_zp, then value, scale, zero point of each. */
int ox_qlinear_concat(struct ox *l)
{
	int x[64], n = ((int)l->n->n_input - 2) / 3;

	if (n < 1 || n > 64)
		return ox_fail(l, -ENOTSUP, "%d operands", n);
	for (int k = 0; k < n; k++) {
		x[k] = dequantised(l, 2 + 3 * k);
		if (x[k] < 0)
			return x[k];
	}
	int axis = ox_axis(l, ox_attr_i(l, "axis", INT32_MAX), ox_t(l, x[0])->rank);
	return ox_result(l, 0, axis < 0 ? axis : quantised(l, ox_concat(l, x, n, axis), 0), NULL, false);
}

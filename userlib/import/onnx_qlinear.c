/* SPDX-License-Identifier: Apache-2.0 */
/*
 * com.microsoft's QLinearAdd, QLinearMul, QLinearSigmoid, QLinearLeakyRelu and
 * QLinearConcat: DequantizeLinear, the operator in float32, QuantizeLinear.
 */
#include <errno.h>
#include <string.h>

#include "onnx_lower.h"

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

int ox_qlinear_binary(struct ox *l)
{
	weft_opcode op = strcmp(l->n->op_type, "QLinearMul") ? WEFT_OP_ADD : WEFT_OP_MUL;
	int a = dequantised(l, 0), b = a < 0 ? a : dequantised(l, 3);

	return ox_result(l, 0, quantised(l, ox_binary(l, op, a, b), 6), NULL, false);
}

int ox_qlinear_unary(struct ox *l)
{
	int x = dequantised(l, 0), y;

	if (!strcmp(l->n->op_type, "QLinearSigmoid")) {
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

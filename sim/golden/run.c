/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatch: the form of the call is checked here, its meaning by the operator.
 */
#include <string.h>

#include "ops.h"

static const struct {
	int (*run)(const struct weft_call *c);
	int n_x;                   /* -1: one or more */
	bool attr;                 /* needs attributes */
	int n_y;                   /* 0: one; -1: one or more */
} table[WEFT_N_OPS] = {
	[WEFT_OP_ARGMAX] = { weft_golden_argmax, 1, true },
	[WEFT_OP_AVG_POOL2D] = { weft_golden_avg_pool2d, 1, true },
	[WEFT_OP_CONV2D] = { weft_golden_conv2d, 3, true },
	[WEFT_OP_DEPTHWISE_CONV2D] = { weft_golden_depthwise_conv2d, 3, true },
	[WEFT_OP_MATMUL] = { weft_golden_matmul, 2, true },
	[WEFT_OP_MAX_POOL2D] = { weft_golden_max_pool2d, 1, true },
	[WEFT_OP_CLAMP] = { weft_golden_clamp, 1, true },
	[WEFT_OP_ADD] = { weft_golden_elementwise, 2, false },
	[WEFT_OP_SUB] = { weft_golden_elementwise, 2, false },
	[WEFT_OP_MUL] = { weft_golden_mul, 2, true },
	[WEFT_OP_MAXIMUM] = { weft_golden_elementwise, 2, false },
	[WEFT_OP_MINIMUM] = { weft_golden_elementwise, 2, false },
	[WEFT_OP_TABLE] = { weft_golden_table, 2, false },
	[WEFT_OP_REDUCE_SUM] = { weft_golden_reduce, 1, true },
	[WEFT_OP_REDUCE_MAX] = { weft_golden_reduce, 1, true },
	[WEFT_OP_REDUCE_MIN] = { weft_golden_reduce, 1, true },
	[WEFT_OP_CONV3D] = { weft_golden_conv3d, 3, true },
	[WEFT_OP_TRANSPOSE_CONV2D] = { weft_golden_transpose_conv2d, 3, true },
	[WEFT_OP_ARITHMETIC_RIGHT_SHIFT] = { weft_golden_bitwise, 2, true },
	[WEFT_OP_BITWISE_AND] = { weft_golden_bitwise, 2, false },
	[WEFT_OP_BITWISE_OR] = { weft_golden_bitwise, 2, false },
	[WEFT_OP_BITWISE_XOR] = { weft_golden_bitwise, 2, false },
	[WEFT_OP_INTDIV] = { weft_golden_bitwise, 2, false },
	[WEFT_OP_LOGICAL_AND] = { weft_golden_bitwise, 2, false },
	[WEFT_OP_LOGICAL_LEFT_SHIFT] = { weft_golden_bitwise, 2, false },
	[WEFT_OP_LOGICAL_RIGHT_SHIFT] = { weft_golden_bitwise, 2, false },
	[WEFT_OP_LOGICAL_OR] = { weft_golden_bitwise, 2, false },
	[WEFT_OP_LOGICAL_XOR] = { weft_golden_bitwise, 2, false },
	[WEFT_OP_ABS] = { weft_golden_unary, 1, false },
	[WEFT_OP_BITWISE_NOT] = { weft_golden_unary, 1, false },
	[WEFT_OP_CLZ] = { weft_golden_unary, 1, false },
	[WEFT_OP_LOGICAL_NOT] = { weft_golden_unary, 1, false },
	[WEFT_OP_NEGATE] = { weft_golden_unary, 1, false },
	[WEFT_OP_SELECT] = { weft_golden_select, 3, false },
	[WEFT_OP_EQUAL] = { weft_golden_compare, 2, false },
	[WEFT_OP_GREATER] = { weft_golden_compare, 2, false },
	[WEFT_OP_GREATER_EQUAL] = { weft_golden_compare, 2, false },
	[WEFT_OP_REDUCE_ALL] = { weft_golden_reduce, 1, true },
	[WEFT_OP_REDUCE_ANY] = { weft_golden_reduce, 1, true },
	[WEFT_OP_REVERSE] = { weft_golden_reverse, 1, true },
	[WEFT_OP_TILE] = { weft_golden_tile, 1, true },
	[WEFT_OP_GATHER] = { weft_golden_gather, 2, false },
	[WEFT_OP_SCATTER] = { weft_golden_scatter, 3, false },
	[WEFT_OP_RESIZE] = { weft_golden_resize, 1, true },
	[WEFT_OP_CEIL] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_COS] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_ERF] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_EXP] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_FLOOR] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_LOG] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_RECIPROCAL] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_RSQRT] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_SIGMOID] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_SIN] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_TANH] = { weft_golden_float_unary, 1, false },
	[WEFT_OP_POW] = { weft_golden_elementwise, 2, false },
	[WEFT_OP_REDUCE_PRODUCT] = { weft_golden_reduce, 1, true },
	[WEFT_OP_FFT2D] = { weft_golden_fft2d, 2, true, 2 },
	[WEFT_OP_RFFT2D] = { weft_golden_fft2d, 1, true, 2 },
	[WEFT_OP_CONCAT] = { weft_golden_concat, -1, true },
	[WEFT_OP_PAD] = { weft_golden_pad, 1, true },
	[WEFT_OP_RESHAPE] = { weft_golden_reshape, 1, false },
	[WEFT_OP_SLICE] = { weft_golden_slice, 1, true },
	[WEFT_OP_TRANSPOSE] = { weft_golden_transpose, 1, true },
	[WEFT_OP_CAST] = { weft_golden_cast, 1, false },
	[WEFT_OP_RESCALE] = { weft_golden_rescale, 3, true },
	[WEFT_OP_IDENTITY] = { weft_golden_identity, 1, false },
	[WEFT_OP_TFL_SOFTMAX] = { weft_golden_tfl_softmax, 1, true },
	[WEFT_OP_TFL_LOGISTIC] = { weft_golden_tfl_logistic, 1, true },
	[WEFT_OP_TFL_QUANTIZE] = { weft_golden_tfl_quantize, 1, true },
	[WEFT_OP_TFL_DEQUANTIZE] = { weft_golden_tfl_dequantize, 1, true },
	[WEFT_OP_TFL_TANH] = { weft_golden_tfl_tanh, 1, true },
	[WEFT_OP_TFL_RESIZE_BILINEAR] = { weft_golden_tfl_resize_bilinear, 1, true },
	[WEFT_OP_TFL_LSTM] = { weft_golden_tfl_lstm, 13, true },
	[WEFT_OP_TFL_CAST] = { weft_golden_tfl_cast, 1, false },
	[WEFT_OP_TFL_SQRT] = { weft_golden_tfl_sqrt, 1, false },
	[WEFT_OP_TFL_DIV] = { weft_golden_tfl_div, 2, false },
	[WEFT_OP_ONNX_REQUANT] = { weft_golden_onnx_requant, -1, false },
	[WEFT_OP_ONNX_QUANTIZE] = { weft_golden_onnx_quantize, -1, true },
	[WEFT_OP_ONNX_DEQUANTIZE] = { weft_golden_onnx_dequantize, -1, false },
	[WEFT_OP_ONNX_CAST] = { weft_golden_onnx_cast, 1, true },
	[WEFT_OP_ONNX_REQUANT_SHIFT] = { weft_golden_onnx_requant_shift, 3, true },
	[WEFT_OP_ONNX_FAKE_CONVERT] = { weft_golden_onnx_fake_convert, -1, true },
	[WEFT_OP_ONNX_DIV] = { weft_golden_onnx_div, 2, false },
	[WEFT_OP_POPXL_CONV_POW2SCALED] = { weft_golden_popxl_conv, 3, true },
	[WEFT_OP_POPXL_MATMUL_POW2SCALED] = { weft_golden_popxl_matmul, 3, false },
	[WEFT_OP_PACT_DIV] = { weft_golden_pact_div, 2, true },
	[WEFT_OP_PACT_SOFTMAX] = { weft_golden_pact_softmax, 1, true },
	[WEFT_OP_PACT_ITA_MAX] = { weft_golden_pact_ita_max, 1, true },
	[WEFT_OP_PACT_LAYER_NORM] = { weft_golden_pact_layer_norm, 3, true },
	[WEFT_OP_TFL_L2_NORMALIZATION] = { weft_golden_tfl_l2_normalization, 1, true },
	[WEFT_OP_TFL_LOG_SOFTMAX] = { weft_golden_tfl_log_softmax, 1, true },
	[WEFT_OP_ONNX_NODE] = { weft_golden_onnx_node, -1, true, -1 },
	[WEFT_OP_TFL_REQUANTIZE] = { weft_golden_tfl_requantize, 2, true },
	[WEFT_OP_TFL_HYBRID] = { weft_golden_tfl_hybrid, 1, true, 2 },
	[WEFT_OP_TFL_QUOTIENT] = { weft_golden_tfl_quotient, 2, true },
	[WEFT_OP_TFL_FUNCTION] = { weft_golden_tfl_function, 1, true },
	[WEFT_OP_TFL_CUSTOM] = { weft_golden_tfl_custom, -1, true, -1 },
};

static int check_tensor(const struct weft_call *c, const char *what, int i, const weft_tensor *t)
{
	const int least = c->op != WEFT_OP_ONNX_NODE && c->op != WEFT_OP_IDENTITY;   /* these have tensors without elements */
	size_t bytes;

	if (!t)
		return weft_call_fail(c, -EINVAL, "%s %d is missing", what, i);
	if (weft_dtype_bytes(t->dtype) == 0)
		return weft_call_fail(c, -EINVAL, "%s %d has unknown type %d", what, i, (int)t->dtype);
	if (t->rank < 0 || t->rank > WEFT_MAX_RANK)
		return weft_call_fail(c, -EINVAL, "%s %d has rank %d, limit %d", what, i, t->rank,
		                      WEFT_MAX_RANK);
	for (int d = 0; d < t->rank; d++) {
		if (t->dim[d] < least || t->dim[d] > WEFT_DIM_MAX)
			return weft_call_fail(c, -EINVAL, "%s %d: dimension %d is %lld, must be %d..%d",
			                      what, i, d, (long long)t->dim[d], least, WEFT_DIM_MAX);
	}
	bytes = weft_tensor_bytes(t);
	if (bytes >= PTRDIFF_MAX)
		return weft_call_fail(c, -EINVAL, "%s %d is too large", what, i);
	if (!t->data && bytes)
		return weft_call_fail(c, -EINVAL, "%s %d has no data", what, i);
	return 0;
}

int weft_golden_run(weft_opcode op, const weft_attr *attr,
                    const weft_tensor *const *x, int n_x,
                    weft_tensor *const *y, int n_y, bool fast, char msg WEFT_ROOM(WEFT_GOLDEN_MSG))
{
	struct weft_call c = { op, attr, x, n_x, y, n_y, fast, msg };
	const bool dynamic = n_x && n_x == weft_op_n_dynamic(op);
	weft_attr values;
	int err;

	if ((int)op <= WEFT_OP_NONE || (int)op >= WEFT_N_OPS)
		return weft_call_fail(&c, -EINVAL, "unknown operator %d", (int)op);
	if (!table[op].run)
		return weft_call_fail(&c, -ENOTSUP, "not implemented");
	if (!dynamic && (table[op].n_x < 0 ? n_x < 1 : n_x != table[op].n_x))
		return weft_call_fail(&c, -EINVAL, "%d inputs, must be %d%s", n_x,
		                      table[op].n_x < 0 ? 1 : table[op].n_x,
		                      table[op].n_x < 0 ? " or more" : "");
	if (table[op].n_y < 0 ? n_y < 1 : n_y != (table[op].n_y ? table[op].n_y : 1))
		return weft_call_fail(&c, -EINVAL, "%d outputs, must be %d", n_y, table[op].n_y ? table[op].n_y : 1);
	if (table[op].attr && !attr)
		return weft_call_fail(&c, -EINVAL, "attributes missing");
	for (int i = 0; i < n_x; i++) {
		if ((err = check_tensor(&c, "input", i, x[i])))
			return err;
	}
	for (int i = 0; i < n_y; i++) {
		if ((err = check_tensor(&c, "output", i, y[i])))
			return err;
	}
	if (dynamic) {
		memset(&values, 0, sizeof values);
		if (attr)
			values = *attr;
		c.attr = &values;
		if ((err = weft_dynamic_attr(&c, &values)))
			return err;
		c.n_x = weft_op_n_own(op);
	}
	return table[op].run(&c);
}

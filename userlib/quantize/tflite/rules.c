/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators with integer kernels in LiteRT 2.3, and what these ask of scales.
 *
 * Versions are those with which that release's kernels take the type. SUM is left out: its kernel of int8 reads other
 * bytes than the operand's (docs/tflite.md).
 */
#include "tflite_quantize.h"

#define ALL 0xffffffffu
#define SAME(op, v8, v16, operands) { .code = op, .kind = QT_SAME, .version = { v8, v16 }, .same = operands }
#define FREE(op, v8, v16) { .code = op, .kind = QT_FREE, .version = { v8, v16 } }

static const struct qt_rule rules[] = {
	{ .code = TFL_CONV_2D, .kind = QT_PRODUCT, .version = { 3, 4 }, .x = 0, .weights = 1, .bias = 2, .axis = 0 },
	{ .code = TFL_DEPTHWISE_CONV_2D, .kind = QT_PRODUCT, .version = { 3, 5 }, .x = 0, .weights = 1, .bias = 2, .axis = 3 },
	{ .code = TFL_FULLY_CONNECTED, .kind = QT_PRODUCT, .version = { 4, 7 }, .x = 0, .weights = 1, .bias = 2, .axis = 0 },
	{ .code = TFL_TRANSPOSE_CONV, .kind = QT_PRODUCT, .version = { 3, 3 }, .x = 2, .weights = 1, .bias = 3, .axis = 0 },
	{ .code = TFL_SOFTMAX, .kind = QT_FIXED, .version = { 2, 3 }, .scale = { 1.0f / 256, 1.0f / 32768 }, .zp = { -128, 0 } },
	{ .code = TFL_LOGISTIC, .kind = QT_FIXED, .version = { 2, 3 }, .scale = { 1.0f / 256, 1.0f / 32768 }, .zp = { -128, 0 } },
	{ .code = TFL_CODE_TANH, .kind = QT_FIXED, .version = { 2, 3 }, .scale = { 1.0f / 128, 1.0f / 32768 }, .zp = { 0, 0 } },
	{ .code = TFL_LOG_SOFTMAX, .kind = QT_FIXED, .version = { 2, 0 }, .scale = { 16.0f / 256, 0 }, .zp = { 127, 0 } },
	{ .code = TFL_L2_NORMALIZATION, .kind = QT_FIXED, .version = { 2, 0 }, .scale = { 1.0f / 128, 0 }, .zp = { 0, 0 } },
	FREE(TFL_ADD, 2, 3), FREE(TFL_SUB, 3, 5), FREE(TFL_MUL, 2, 3), FREE(TFL_MEAN, 2, 3), FREE(TFL_BATCH_MATMUL, 2, 3),
	FREE(TFL_CODE_RELU, 2, 3), FREE(TFL_CODE_RELU6, 2, 3), FREE(TFL_LEAKY_RELU, 2, 2), FREE(TFL_PRELU, 1, 0),
	FREE(TFL_HARD_SWISH, 1, 0), FREE(TFL_ELU, 1, 0), FREE(TFL_GELU, 2, 2), FREE(TFL_SQUARED_DIFFERENCE, 2, 0),
	FREE(TFL_RSQRT, 2, 2), FREE(TFL_EXP, 2, 2), FREE(TFL_LOG, 2, 2),
	SAME(TFL_AVERAGE_POOL_2D, 2, 3, 1), SAME(TFL_MAX_POOL_2D, 2, 3, 1), SAME(TFL_RESHAPE, 1, 1, 1), SAME(TFL_SQUEEZE, 1, 1, 1),
	SAME(TFL_EXPAND_DIMS, 1, 1, 1), SAME(TFL_TRANSPOSE, 2, 4, 1), SAME(TFL_PAD, 2, 3, 1), SAME(TFL_PAD_V2, 2, 2, 5),
	SAME(TFL_MIRROR_PAD, 2, 2, 1), SAME(TFL_CONCATENATION, 2, 3, ALL), SAME(TFL_PACK, 2, 3, ALL), SAME(TFL_UNPACK, 2, 4, 1),
	SAME(TFL_SPLIT, 2, 4, 2), SAME(TFL_SPLIT_V, 2, 2, 1), SAME(TFL_SLICE, 2, 3, 1), SAME(TFL_STRIDED_SLICE, 2, 4, 1),
	SAME(TFL_GATHER, 2, 3, 1), SAME(TFL_RESIZE_BILINEAR, 2, 4, 1), SAME(TFL_RESIZE_NEAREST, 2, 4, 1), SAME(TFL_DEPTH_TO_SPACE, 1, 0, 1),
	SAME(TFL_SPACE_TO_DEPTH, 2, 0, 1), SAME(TFL_BATCH_TO_SPACE, 2, 0, 1), SAME(TFL_SPACE_TO_BATCH, 2, 0, 1),
	SAME(TFL_MAXIMUM, 2, 3, 3), SAME(TFL_MINIMUM, 2, 3, 3), SAME(TFL_REDUCE_MAX, 2, 2, 1), SAME(TFL_REDUCE_MIN, 2, 2, 1),
	SAME(TFL_SELECT, 1, 1, 6), SAME(TFL_SELECT_V2, 1, 1, 6),
};

const struct qt_rule *qt_rule(int code)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].code == code)
			return &rules[i];
	return NULL;
}

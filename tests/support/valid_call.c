/* SPDX-License-Identifier: Apache-2.0 */
#include "valid_call.h"

#include <string.h>

static weft_tensor shape(weft_dtype t, int rank, int64_t a, int64_t b, int64_t c, int64_t d)
{
	return (weft_tensor){ .dtype = t, .rank = rank, .dim = { a, b, c, d, 1, 1, 1, 1 } };
}
#define S4(t, a, b, c, d) shape(t, 4, a, b, c, d)
#define S3(t, a, b, c) shape(t, 3, a, b, c, 1)
#define S2(t, a, b) shape(t, 2, a, b, 1, 1)
#define S1(t, a) shape(t, 1, a, 1, 1, 1)

static weft_tensor shape5(weft_dtype t, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e)
{
	weft_tensor s = S4(t, a, b, c, d);

	s.rank = 5;
	s.dim[4] = e;
	return s;
}

/* Three tensors of one shape and type. */
static struct call broadcast(struct call c, weft_dtype t)
{
	c.n_x = 2;
	c.x[0] = S3(t, 2, 1, 4);
	c.x[1] = S3(t, 1, 3, 4);
	c.y = S3(t, 2, 3, 4);
	return c;
}

static struct call lstm(struct call c)
{
	const struct weft_tfl_factor half = { 1 << 30, 0 };
	struct weft_attr_tfl_lstm *a = &c.attr.tfl_lstm;

	c.n_x = MOST_X;
	c.x[0] = S3(WEFT_INT8, 2, 3, 4);
	c.y = S3(WEFT_INT8, 2, 3, 5);
	a->cell_power = -11;
	for (int g = 0; g < 4; g++) {
		c.x[1 + g] = S2(WEFT_INT8, 5, 4);
		c.x[5 + g] = S2(WEFT_INT8, 5, 5);
		c.x[9 + g] = S1(WEFT_INT32, 5);
		a->x_gate[g] = a->h_gate[g] = half;
	}
	a->forget_cell = a->input_cell = a->hidden = half;
	return c;
}

/* Further operators of TensorFlow Lite; others pass as they are. */
static struct call valid_tfl(struct call c)
{
	switch (c.op) {
	case WEFT_OP_TFL_TANH:
		c.x[0].dtype = c.y.dtype = WEFT_INT16;
		c.attr.quant = (struct weft_attr_quant){ 1.0f / 4096, 0, 1.0f / 32768, 0 };
		break;
	case WEFT_OP_TFL_RESIZE_BILINEAR:
		c.x[0] = S4(WEFT_INT8, 1, 3, 4, 2);
		c.y = S4(WEFT_INT8, 1, 5, 6, 2);
		break;
	case WEFT_OP_TFL_LSTM: return lstm(c);
	case WEFT_OP_TFL_LOG_SOFTMAX: c.attr.tfl_softmax.x_scale = 0.1f; break;
	case WEFT_OP_TFL_CAST: c.y.dtype = WEFT_FP32; break;
	case WEFT_OP_TFL_SQRT: c.x[0].dtype = c.y.dtype = WEFT_FP32; break;
	case WEFT_OP_TFL_DIV: return broadcast(c, WEFT_FP32);
	case WEFT_OP_TFL_REQUANTIZE:
		c.n_x = 2;
		c.x[0] = S3(WEFT_INT32, 2, 3, 4);
		c.x[1] = S1(WEFT_FP32, 4);
		c.y.dtype = WEFT_INT8;
		c.attr.quant = (struct weft_attr_quant){ 0.1f, 0, 0.1f, 3 };
		break;
	case WEFT_OP_TFL_FUNCTION: c.x[0].dtype = c.y.dtype = WEFT_FP32; break;
	case WEFT_OP_TFL_HYBRID:
		c.x[0] = S2(WEFT_FP32, 2, 6);
		c.y = S2(WEFT_INT16, 2, 6);
		c.n_y = 2;
		c.y1 = S2(WEFT_FP32, 2, 1);
		break;
	case WEFT_OP_TFL_CUSTOM:                 /* name and options are zeros; who runs it gives it functions */
		c.n_x = 3;
		c.x[2] = c.x[0];
		c.x[0] = S1(WEFT_INT8, 1);
		c.x[1] = S1(WEFT_INT8, 4);
		c.attr.tfl_custom.n_in = 1;
		break;
	case WEFT_OP_TFL_QUOTIENT:
		c = broadcast(c, WEFT_INT8);
		c.attr.tfl_quotient = (struct weft_attr_tfl_quotient){ 1, 2, 3, 1 << 30, -3 };
		break;
	default: break;
	}
	return c;
}

/* Operators that TensorFlow Lite's networks do not need. */
static struct call valid_newer(struct call c)
{
	const weft_dtype i8 = WEFT_INT8, i32 = WEFT_INT32, f16 = WEFT_FP16, f32 = WEFT_FP32;

	switch (c.op) {
	case WEFT_OP_ONNX_REQUANT:
		c.n_x = 5;
		c.x[0] = S3(i32, 2, 3, 4);
		c.x[1] = S3(f32, 1, 3, 1);
		c.x[2] = S3(f32, 1, 1, 4);
		c.x[3] = S3(f16, 1, 1, 1);
		c.x[4] = S3(i8, 1, 1, 1);
		break;
	case WEFT_OP_ONNX_QUANTIZE:
		c.n_x = 3;
		c.x[0] = S3(f32, 2, 3, 4);
		c.x[1] = S3(f32, 1, 3, 1);
		c.x[2] = S3(i8, 1, 3, 1);
		c.attr.onnx = (struct weft_attr_onnx){ .saturate = true, .type = f32 };
		break;
	case WEFT_OP_ONNX_DEQUANTIZE:
		c.n_x = 2;
		c.x[1] = S3(f32, 1, 1, 4);
		c.y.dtype = f16;
		break;
	case WEFT_OP_ONNX_CAST: c.y.dtype = WEFT_FP8E5M2; break;
	case WEFT_OP_ONNX_FAKE_CONVERT:
		c.n_x = 3;
		c.x[0] = c.y = S3(f16, 2, 3, 4);
		c.x[1] = c.x[2] = S3(f16, 1, 3, 1);
		c.attr.onnx = (struct weft_attr_onnx){ .type = WEFT_FP8E4M3 };
		break;
	case WEFT_OP_ONNX_REQUANT_SHIFT:
		c.n_x = 3;
		c.x[0] = c.y = S3(i32, 2, 3, 4);
		c.x[1] = c.x[2] = S3(i32, 1, 3, 1);
		c.attr.requant_shift = (struct weft_attr_requant_shift){ 3, -128, 127 };
		break;
	case WEFT_OP_PACT_DIV:
		c.n_x = 2;
		c.x[0] = c.y = S3(i32, 2, 3, 4);
		c.x[1] = S3(i32, 1, 3, 1);
		c.attr.pact_div = (struct weft_attr_pact_div){ 300, 1, 20000, false };
		break;
	case WEFT_OP_PACT_SOFTMAX:
		c.x[0] = c.y = S3(i32, 2, 3, 4);
		c.attr.pact_softmax = (struct weft_attr_pact_softmax){ 1, 345, 255, 256, 62395 };
		break;
	case WEFT_OP_PACT_ITA_MAX:
		c.x[0] = c.y = S3(i32, 2, 3, 4);
		c.attr.pact_ita_max = (struct weft_attr_pact_ita_max){ 2, 127 };
		break;
	case WEFT_OP_PACT_LAYER_NORM:
		c.n_x = 3;
		c.x[0] = c.y = S3(i32, 2, 3, 4);
		c.x[1] = S1(i32, 4);
		c.x[2] = S1(i32, 1);
		c.attr.requant_shift = (struct weft_attr_requant_shift){ 3, -128, 127 };
		break;
	case WEFT_OP_ONNX_DIV:
		c.n_x = 2;
		c.x[0] = c.y = S3(f32, 2, 3, 4);
		c.x[1] = S3(f32, 2, 1, 4);
		break;
	case WEFT_OP_POPXL_CONV_POW2SCALED:
		c.n_x = 3;
		c.x[0] = S4(WEFT_FP8E4M3FNUZ, 1, 3, 4, 2);
		c.x[1] = S4(WEFT_FP8E5M2FNUZ, 3, 2, 1, 2);
		c.x[2] = S1(i32, 1);
		c.y = S4(f16, 1, 2, 4, 3);
		c.attr.conv = (struct weft_attr_conv){ .stride = { 1, 1 }, .dilation = { 1, 1 } };
		break;
	case WEFT_OP_POPXL_MATMUL_POW2SCALED:
		c.n_x = 3;
		c.x[0] = S3(WEFT_FP8E5M2FNUZ, 2, 3, 4);
		c.x[1] = S3(WEFT_FP8E4M3FNUZ, 2, 4, 5);
		c.x[2] = shape(i32, 0, 1, 1, 1, 1);
		c.y = S3(f16, 2, 3, 5);
		break;
	case WEFT_OP_CONV3D:
		c.n_x = 3;
		c.x[0] = shape5(f16, 1, 3, 4, 5, 2);
		c.x[1] = shape5(f16, 3, 2, 2, 3, 2);
		c.x[2] = S1(f16, 3);
		c.y = shape5(f16, 1, 2, 2, 3, 3);
		c.attr.conv3d = (struct weft_attr_conv3d){ .stride = { 1, 2, 1 }, .dilation = { 1, 1, 1 }, .acc = f32 };
		break;
	case WEFT_OP_TRANSPOSE_CONV2D:
		c.n_x = 3;
		c.x[0] = S4(WEFT_FP8E4M3, 1, 3, 2, 2);
		c.x[1] = S4(WEFT_FP8E4M3, 4, 3, 2, 2);
		c.x[2] = S1(f16, 1);
		c.y = S4(f16, 1, 6, 3, 4);
		c.attr.conv = (struct weft_attr_conv){ .pad = { -1, 0, 0, 0 }, .stride = { 2, 1 }, .dilation = { 1, 1 }, .acc = f16 };
		break;
	case WEFT_OP_FFT2D:
	case WEFT_OP_RFFT2D:
		c.n_x = c.op == WEFT_OP_FFT2D ? 2 : 1;
		c.n_y = 2;
		c.x[0] = c.x[1] = S3(f32, 2, 4, 2);
		c.y = S3(f32, 2, 4, 2);
		break;
	case WEFT_OP_POW: return broadcast(c, f16);
	case WEFT_OP_LOGICAL_AND:
	case WEFT_OP_LOGICAL_OR:
	case WEFT_OP_LOGICAL_XOR: return broadcast(c, WEFT_BOOL);
	case WEFT_OP_BITWISE_AND:
	case WEFT_OP_BITWISE_OR:
	case WEFT_OP_BITWISE_XOR:
	case WEFT_OP_INTDIV:
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT:
	case WEFT_OP_LOGICAL_LEFT_SHIFT:
	case WEFT_OP_LOGICAL_RIGHT_SHIFT: return broadcast(c, i32);
	case WEFT_OP_EQUAL:
	case WEFT_OP_GREATER:
	case WEFT_OP_GREATER_EQUAL:
		c = broadcast(c, WEFT_BF16);
		c.y.dtype = WEFT_BOOL;
		break;
	case WEFT_OP_SELECT:
		c.n_x = 3;
		c.x[0] = S3(WEFT_BOOL, 2, 1, 4);
		c.x[1] = c.x[2] = S3(i8, 1, 3, 4);
		break;
	case WEFT_OP_ABS:
	case WEFT_OP_CLZ: c.x[0] = c.y = S3(i32, 2, 3, 4); break;
	case WEFT_OP_LOGICAL_NOT: c.x[0] = c.y = S3(WEFT_BOOL, 2, 3, 4); break;
	case WEFT_OP_CEIL:
	case WEFT_OP_COS:
	case WEFT_OP_ERF:
	case WEFT_OP_EXP:
	case WEFT_OP_FLOOR:
	case WEFT_OP_LOG:
	case WEFT_OP_RECIPROCAL:
	case WEFT_OP_RSQRT:
	case WEFT_OP_SIGMOID:
	case WEFT_OP_SIN:
	case WEFT_OP_TANH: c.x[0] = c.y = S3(WEFT_BF16, 2, 3, 4); break;
	case WEFT_OP_REDUCE_ALL:
	case WEFT_OP_REDUCE_ANY:
	case WEFT_OP_REDUCE_PRODUCT:
		c.x[0] = S3(c.op == WEFT_OP_REDUCE_PRODUCT ? f32 : WEFT_BOOL, 2, 3, 4);
		c.y = S3(c.x[0].dtype, 2, 1, 4);
		c.attr.axis.axis = 1;
		break;
	case WEFT_OP_TILE:
		c.y = S3(i8, 2, 6, 12);
		memcpy(c.attr.tile.multiple, ((int32_t[]){ 1, 2, 3 }), 12);
		break;
	case WEFT_OP_GATHER:
		c.n_x = 2;
		c.x[1] = S2(i32, 2, 5);
		c.y = S3(i8, 2, 5, 4);
		break;
	case WEFT_OP_SCATTER:
		c.n_x = 3;
		c.x[1] = S2(i32, 2, 1);
		c.x[2] = S3(i8, 2, 1, 4);
		break;
	case WEFT_OP_RESIZE:
		c.x[0] = S4(f16, 1, 2, 3, 2);
		c.y = S4(f16, 1, 3, 5, 2);
		c.attr.resize = (struct weft_attr_resize){ 4, 2, 4, 2, 0, 0, 0, 0, WEFT_RESIZE_BILINEAR };
		break;
	default: break;
	}
	return c;
}

/* A call that golden takes, for every operator that it has. */
struct call valid_call(weft_opcode op)
{
	const weft_dtype i8 = WEFT_INT8, i32 = WEFT_INT32;
	struct call c = { .op = op, .n_x = 1, .n_y = 1, .x = { S3(i8, 2, 3, 4) }, .y = S3(i8, 2, 3, 4) };

	switch (op) {
	case WEFT_OP_CONV2D:
	case WEFT_OP_DEPTHWISE_CONV2D:
		c.n_x = 3;
		c.x[0] = S4(i8, 1, 5, 6, 2);
		c.x[1] = op == WEFT_OP_CONV2D ? S4(i8, 4, 3, 2, 2) : S4(i8, 3, 2, 2, 2);
		c.x[2] = S1(i32, 4);
		c.y = S4(i32, 1, 3, 3, 4);
		c.attr.conv = (struct weft_attr_conv){ .pad = { 1, 1, 0, 0 }, .stride = { 2, 2 }, .dilation = { 1, 1 }, .acc = i32 };
		break;
	case WEFT_OP_AVG_POOL2D:
	case WEFT_OP_MAX_POOL2D:
		c.x[0] = S4(i8, 1, 5, 6, 2);
		c.y = S4(i8, 1, 3, 3, 2);
		c.attr.pool = (struct weft_attr_pool){ .kernel = { 3, 2 }, .stride = { 2, 2 }, .pad = { 1, 1, 0, 0 }, .acc = i32 };
		break;
	case WEFT_OP_MATMUL:
		c.n_x = 2;
		c.x[1] = S3(i8, 2, 4, 5);
		c.y = S3(i32, 2, 3, 5);
		break;
	case WEFT_OP_ADD:
	case WEFT_OP_SUB:
	case WEFT_OP_MAXIMUM:
	case WEFT_OP_MINIMUM:
	case WEFT_OP_MUL:
		c.n_x = 2;
		c.x[0] = S3(i32, 2, 1, 4);
		c.x[1] = S3(i32, 1, 3, 4);
		c.y = S3(i32, 2, 3, 4);
		break;
	case WEFT_OP_CLAMP: c.attr.clamp.max = 5; break;
	case WEFT_OP_TABLE:
		c.n_x = 2;
		c.x[1] = S1(i8, 256);
		break;
	case WEFT_OP_REDUCE_SUM:
	case WEFT_OP_REDUCE_MAX:
	case WEFT_OP_REDUCE_MIN:
		c.x[0] = S3(i32, 2, 3, 4);
		c.y = S3(i32, 2, 1, 4);
		c.attr.axis.axis = 1;
		break;
	case WEFT_OP_ARGMAX: c.y = shape(i32, 2, 3, 4, 1, 1); break;
	case WEFT_OP_CONCAT:
		c.n_x = 2;
		c.x[1] = S3(i8, 2, 2, 4);
		c.y = S3(i8, 2, 5, 4);
		c.attr.axis.axis = 1;
		break;
	case WEFT_OP_ONNX_NODE:                  /* Add */
		c.n_x = 2;
		c.x[0] = c.x[1] = c.y;
		c.attr.onnx_node = (struct weft_attr_onnx_node){ .kind = 0, .opset = 23, .n_in = 2 };
		break;
	case WEFT_OP_PAD:
		c.y = S3(i8, 3, 5, 4);
		c.attr.pad.before[0] = c.attr.pad.after[1] = c.attr.pad.before[1] = 1;
		break;
	case WEFT_OP_RESHAPE: c.y = S4(i8, 3, 1, 8, 1); break;
	case WEFT_OP_SLICE:
		c.y = S3(i8, 1, 2, 3);
		c.attr.slice.start[0] = c.attr.slice.start[2] = 1;
		break;
	case WEFT_OP_TRANSPOSE:
		c.y = S3(i8, 4, 2, 3);
		c.attr.perm.perm[0] = 2;
		c.attr.perm.perm[2] = 1;
		break;
	case WEFT_OP_CAST: c.y.dtype = i32; break;
	case WEFT_OP_RESCALE:
		c.n_x = 3;
		c.x[0] = S3(i32, 2, 3, 4);
		c.x[1] = S1(i32, 4);
		c.x[2] = S1(i8, 4);
		c.attr.rescale = (struct weft_attr_rescale){ .scale32 = true, .rounding = WEFT_DOUBLE_ROUND, .per_channel = true };
		break;
	case WEFT_OP_TFL_SOFTMAX: c.attr.tfl_softmax = (struct weft_attr_tfl_softmax){ .x_scale = 0.1f, .beta = 1.0f }; break;
	case WEFT_OP_TFL_LOGISTIC: c.attr.quant = (struct weft_attr_quant){ 0.1f, 0, 1.0f / 256, -128 }; break;
	case WEFT_OP_TFL_QUANTIZE:
		c.x[0].dtype = WEFT_FP32;
		c.attr.quant.y_scale = 1;
		break;
	case WEFT_OP_TFL_DEQUANTIZE:
		c.y.dtype = WEFT_FP32;
		c.attr.quant.x_scale = 1;
		break;
	default: return valid_newer(valid_tfl(c));
	}
	return c;
}

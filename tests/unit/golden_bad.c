/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls as a hostile file could cause them: every operator with shapes, types
 * and attributes from a list of awkward values. Golden must answer with 0 or a
 * refusal and one line, and must not write beside the output. Most worth under
 * SAN=1. WEFT_SEED and WEFT_N choose the sequence and its length.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/golden_call.h"
#include "tests/support/tensors.h"

#define MOST_BYTES 1200            /* of one tensor: keeps the products small */
#define GUARD 64

static const int64_t dims[] = { 0, -1, 1, 2, 3, 5, INT32_MAX, (int64_t)INT32_MAX + 1, INT64_MAX, INT64_MIN };
static const int32_t words[] = { 0, 1, 2, 3, 4, -1, -2, 7, 30, 31, 127, 128, -128, 255, 32768, INT32_MAX, INT32_MIN };
#define PICK(r, list) list[test_random(r) % (sizeof(list) / sizeof(list[0]))]

#define MOST_X 13              /* operands of TFL_LSTM */

struct call {
	weft_opcode op;
	weft_attr attr;
	int n_x, n_y;
	weft_tensor x[MOST_X], y;       /* a second output is the first again */
};

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
	case WEFT_OP_TFL_CAST: c.y.dtype = WEFT_FP32; break;
	case WEFT_OP_TFL_SQRT: c.x[0].dtype = c.y.dtype = WEFT_FP32; break;
	case WEFT_OP_TFL_DIV: return broadcast(c, WEFT_FP32);
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
		c.attr.onnx = (struct weft_attr_onnx){ true, f32 };
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
		c.attr.onnx = (struct weft_attr_onnx){ false, WEFT_FP8E4M3 };
		break;
	case WEFT_OP_ONNX_DIV:
		c.n_x = 2;
		c.x[0] = c.y = S3(f32, 2, 3, 4);
		c.x[1] = S3(f32, 2, 1, 4);
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
static struct call valid(weft_opcode op)
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
	case WEFT_OP_TFL_SOFTMAX: c.attr.tfl_softmax = (struct weft_attr_tfl_softmax){ 0.1f, 1.0f }; break;
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

/* Attributes with a bool first, which another byte than 0 or 1 is not. */
static bool has_bools(weft_opcode op)
{
	return op == WEFT_OP_ARITHMETIC_RIGHT_SHIFT || op == WEFT_OP_FFT2D || op == WEFT_OP_RFFT2D ||
	       op == WEFT_OP_TFL_RESIZE_BILINEAR || op == WEFT_OP_TFL_LSTM || op == WEFT_OP_ONNX_QUANTIZE ||
	       op == WEFT_OP_ONNX_CAST || op == WEFT_OP_ONNX_FAKE_CONVERT;
}

/* Change one thing to an awkward value. */
static void spoil(struct call *c, uint64_t *r)
{
	const int k = (int)(test_random(r) % 4);
	weft_tensor *t = k == 3 ? &c->y : &c->x[k];

	switch (test_random(r) % 8) {
	case 0: t->rank = (int)(test_random(r) % 12) - 1; break;
	case 1: t->dtype = (weft_dtype)(test_random(r) % 25); break;
	case 2: t->dim[test_random(r) % 4] = PICK(r, dims); break;
	case 3: t->dim[test_random(r) % 4] = 1 + (int64_t)(test_random(r) % 6); break;
	case 4: c->n_x = (int)(test_random(r) % 5) - 1; break;
	default: {
		if (has_bools(c->op))
			break;
		/* not the bools of RESCALE: another byte than 0 or 1 is no bool */
		size_t first = c->op == WEFT_OP_RESCALE ? 3 : 0, n = sizeof(weft_attr) / 4;
		int32_t v = PICK(r, words);

		n = test_random(r) % 4 ? 12 : n;
		memcpy((char *)&c->attr + 4 * (first + test_random(r) % (n - first)), &v, 4);
		if (c->op == WEFT_OP_RESCALE) {
			c->attr.rescale.scale32 ^= test_random(r) % 8 == 0;
			c->attr.rescale.x_unsigned ^= test_random(r) % 4 == 0;
			c->attr.rescale.y_unsigned ^= test_random(r) % 4 == 0;
			c->attr.rescale.rounding = (weft_rounding)(test_random(r) % 5);
		}
	}
	}
}

/* Bytes to allocate: none for shapes that no caller could have allocated. */
static size_t usable(const weft_tensor *t)
{
	size_t bytes = weft_tensor_bytes(t);

	for (int d = 0; d < t->rank && d < WEFT_MAX_RANK; d++) {
		if (t->dim[d] < 1)
			return 0;
	}
	return bytes <= MOST_BYTES ? bytes : 0;
}

/* A second operand that must be small: multipliers and shifts are mostly legal, indices and divisors small. */
static bool is_small(const struct call *c, int i)
{
	switch (c->op) {
	case WEFT_OP_RESCALE: return i == 1 || i == 2;
	case WEFT_OP_ONNX_REQUANT: return i >= 1 && i <= 3;
	case WEFT_OP_INTDIV:
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT:
	case WEFT_OP_LOGICAL_LEFT_SHIFT:
	case WEFT_OP_LOGICAL_RIGHT_SHIFT:
	case WEFT_OP_GATHER:
	case WEFT_OP_SCATTER: return i == 1;
	default: return false;
	}
}

static void allocate(const struct call *c, int i_t, weft_tensor *t, uint64_t *r)
{
	const size_t n = usable(t);

	t->data = n ? malloc(n + GUARD) : NULL;
	if (!n)
		return;
	memset((char *)t->data + n, 0x5a, GUARD);
	for (size_t i = 0; i < n; i++) {
		uint64_t v = test_random(r);

		if (is_small(c, i_t))
			v = c->op == WEFT_OP_ONNX_REQUANT ? 0x3f : c->op == WEFT_OP_RESCALE ? 2 + v % 61 : i % 4 ? 0 : 1 + v % 2;
		((uint8_t *)t->data)[i] = (uint8_t)v;
	}
}

static void guard_intact(const weft_tensor *t)
{
	for (size_t i = 0; t->data && i < GUARD; i++)
		assert_int_equal(((uint8_t *)t->data)[usable(t) + i], 0x5a);
}

static int run(struct call *c, bool fast, bool attr, int n_y, uint64_t *r)
{
	weft_tensor *t[MOST_X + 1];
	const weft_tensor *x[MOST_X];
	weft_tensor *y[2] = { &c->y, &c->y };
	char msg[WEFT_GOLDEN_MSG] = "";
	int err;

	for (int i = 0; i < MOST_X; i++)
		x[i] = t[i] = &c->x[i];
	t[MOST_X] = &c->y;
	for (int i = 0; i <= MOST_X; i++)
		allocate(c, i, t[i], r);
	err = weft_golden_run(c->op, attr ? &c->attr : NULL, x, c->n_x, y, n_y, fast, msg);
	assert_true(err == 0 || err == -EINVAL || err == -ENOTSUP);
	assert_true((err == 0) == (msg[0] == '\0'));
	assert_null(strchr(msg, '\n'));
	for (int i = 0; i <= MOST_X; i++) {
		guard_intact(t[i]);
		free(t[i]->data);
	}
	return err;
}

static bool implemented(int op)
{
	switch (op) {
	case WEFT_OP_CONST:
	case WEFT_OP_CONST_SHAPE:
	case WEFT_OP_CUSTOM:
	case WEFT_OP_COND_IF:
	case WEFT_OP_WHILE_LOOP:
	case WEFT_OP_VARIABLE:
	case WEFT_OP_VARIABLE_WRITE:
	case WEFT_OP_VARIABLE_READ: return false;
	default: return true;
	}
}

static void valid_calls(void **state)
{
	uint64_t r = 8;

	(void)state;
	for (int op = 1; op < WEFT_N_OPS; op++) {
		struct call c = valid((weft_opcode)op);

		if (run(&c, op & 1, true, c.n_y, &r) != (implemented(op) ? 0 : -ENOTSUP))
			fail_msg("%s", weft_op_name((weft_opcode)op));
	}
}

static void awkward_calls(void **state)
{
	const char *seed = getenv("WEFT_SEED"), *n = getenv("WEFT_N");
	uint64_t first = seed && *seed ? strtoull(seed, NULL, 0) : 7;
	uint64_t count = n && *n ? strtoull(n, NULL, 0) : 200000;

	(void)state;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t r = first + i;
		struct call c = valid((weft_opcode)(test_random(&r) % WEFT_N_OPS));

		for (uint64_t k = test_random(&r) % 3; k < 3; k++)
			spoil(&c, &r);
		if (test_random(&r) % 100 == 0 && c.op != WEFT_OP_RESCALE) {
			c.op = (weft_opcode)((int)(test_random(&r) % (WEFT_N_OPS + 16)) - 8);
			if (c.op == WEFT_OP_RESCALE || has_bools(c.op))
				c.attr = valid(c.op).attr;
		}
		run(&c, test_random(&r) & 1, test_random(&r) % 100 != 0, test_random(&r) % 100 ? c.n_y : 3 - c.n_y, &r);
	}
}

static void missing_parts(void **state)
{
	weft_tensor a = { .dtype = WEFT_INT32 }, y = a;
	const weft_tensor *x[2] = { &a, NULL };
	weft_tensor *out[1] = { &y };
	int32_t v[2] = { 1, 2 };
	char msg[WEFT_GOLDEN_MSG];

	(void)state;
	a.data = &v[0];
	assert_int_equal(weft_golden_run(WEFT_OP_ADD, NULL, x, 2, out, 1, false, msg), -EINVAL);
	x[1] = &a;
	assert_int_equal(weft_golden_run(WEFT_OP_ADD, NULL, x, 2, out, 1, false, msg), -EINVAL);
	y.data = &v[1];
	assert_int_equal(weft_golden_run(WEFT_OP_ADD, NULL, x, 2, out, 1, false, msg), 0);
	assert_int_equal(v[1], 2);
	assert_int_equal(weft_golden_run(WEFT_OP_ADD, NULL, x, 1, out, 1, false, msg), -EINVAL);
	assert_string_equal(msg, "ADD: 1 inputs, must be 2");
	a.rank = y.rank = 1; /* dimensions of 0, though data is there */
	assert_int_equal(weft_golden_run(WEFT_OP_IDENTITY, NULL, x, 1, out, 1, false, msg), -EINVAL);
	a.rank = y.rank = 0;
	assert_int_equal(weft_golden_run(WEFT_OP_MUL, NULL, x, 2, out, 1, false, msg), -EINVAL);
	assert_int_equal(weft_golden_run(WEFT_OP_CONST, NULL, x, 0, out, 1, false, msg), -ENOTSUP);
	assert_int_equal(weft_golden_run((weft_opcode)-1, NULL, x, 2, out, 1, false, msg), -EINVAL);
	assert_int_equal(weft_golden_run(WEFT_N_OPS, NULL, x, 2, out, 1, false, msg), -EINVAL);
}

/* Products of hostile dimensions saturate: nobody allocates too little. */
static void sizes_saturate(void **state)
{
	weft_tensor t = { .dtype = WEFT_INT64, .rank = 3, .dim = { INT32_MAX, INT32_MAX, INT32_MAX } };

	(void)state;
	assert_int_equal(weft_tensor_elements(&t), INT64_MAX);
	assert_true(weft_tensor_bytes(&t) == SIZE_MAX);
	t.dim[0] = 0;
	assert_int_equal(weft_tensor_elements(&t), 0);
	t.dim[0] = -1;
	assert_int_equal(weft_tensor_elements(&t), INT64_MAX);
	t.rank = 0;
	assert_int_equal(weft_tensor_elements(&t), 1);
	assert_int_equal(weft_tensor_bytes(&t), 8);
	t.dtype = (weft_dtype)99;
	assert_int_equal(weft_tensor_bytes(&t), 0);
	assert_string_equal(weft_dtype_name(t.dtype), "?");
	assert_string_equal(weft_op_name((weft_opcode)-1), "?");
	for (weft_dtype d = WEFT_BOOL; d < WEFT_N_DTYPES; d++) {
		assert_int_not_equal(weft_dtype_bytes(d), 0);
		assert_string_not_equal(weft_dtype_name(d), "?");
	}
	for (int op = 1; op < WEFT_N_OPS; op++)
		assert_string_not_equal(weft_op_name((weft_opcode)op), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_calls),
		cmocka_unit_test(awkward_calls),
		cmocka_unit_test(missing_parts),
		cmocka_unit_test(sizes_saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

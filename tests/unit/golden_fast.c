/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast twins give the plain loops' bits on random shapes and types, and do not leave them all to these.
 * WEFT_SEED and WEFT_N choose the sequence and how many shapes.
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

#include "sim/golden/fast/fast.h"
#include "sim/golden/fast/rescale_lanes.h"
#include "sim/golden/fast/tiles.h"
#include "tests/support/golden_call.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

static int32_t upto(uint64_t *r, int32_t n) { return 1 + (int32_t)(test_random(r) % (uint64_t)n); }

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

static uint64_t taken;             /* calls that the fast loops did not leave to the plain ones */

static uint64_t left;              /* elements that function() left to the plain loop */

/* Computes element i of a call on one fp32 tensor by the plain loop. */
static void one_element(const struct weft_call *c, int64_t i)
{
	weft_tensor x = { .dtype = WEFT_FP32, .rank = 1, .dim = { 1 }, .data = (float *)c->x[0]->data + i };
	weft_tensor y = x;

	y.data = (float *)c->y[0]->data + i;
	golden_fast = false;
	assert_int_equal(golden(c->op, c->attr, &y, &x, NULL, NULL), 0);
	left++;
}

/* The fast twin of the functions of one fp32. */
static int function(const struct weft_call *c)
{
	return weft_fast_function(c, one_element);
}

/* Returns the fast twin of an operator with operands of this type, or NULL. */
static int (*twin_of(weft_opcode op, weft_dtype type))(const struct weft_call *c)
{
	const bool real = type == WEFT_FP32;

	switch (op) {
	case WEFT_OP_CONV2D: return real ? weft_fast_float_conv2d : weft_fast_conv2d;
	case WEFT_OP_TRANSPOSE_CONV2D: return weft_fast_transpose_conv2d;
	case WEFT_OP_DEPTHWISE_CONV2D: return real ? weft_fast_float_depthwise_conv2d : weft_fast_depthwise_conv2d;
	case WEFT_OP_MATMUL: return real ? weft_fast_float_matmul : weft_fast_matmul;
	case WEFT_OP_RESCALE: return weft_fast_rescale;
	case WEFT_OP_ADD: case WEFT_OP_SUB: case WEFT_OP_MUL: return real ? weft_fast_float_binary : weft_fast_elementwise;
	case WEFT_OP_MAXIMUM: case WEFT_OP_MINIMUM: return real ? NULL : weft_fast_elementwise;
	case WEFT_OP_CLAMP: return real ? weft_fast_float_clamp : weft_fast_clamp;
	case WEFT_OP_TRANSPOSE: return weft_fast_transpose;
	case WEFT_OP_MAX_POOL2D: return real ? weft_fast_float_max_pool2d : weft_fast_max_pool2d;
	case WEFT_OP_AVG_POOL2D: return real ? weft_fast_float_avg_pool2d : weft_fast_avg_pool2d;
	case WEFT_OP_REDUCE_SUM: return real ? weft_fast_float_sum : weft_fast_reduce_sum;
	case WEFT_OP_TFL_RESIZE_BILINEAR: return weft_fast_tfl_resize_bilinear;
	case WEFT_OP_RESIZE: return weft_fast_resize_nearest;
	case WEFT_OP_TFL_SOFTMAX: return weft_fast_tfl_softmax;
	case WEFT_OP_TABLE: return weft_fast_table;
	case WEFT_OP_TFL_DIV: return weft_fast_float_binary;
	case WEFT_OP_REDUCE_MAX: return real ? weft_fast_float_reduce_max : NULL;
	case WEFT_OP_EXP: case WEFT_OP_SIGMOID: case WEFT_OP_TANH: case WEFT_OP_ERF: case WEFT_OP_TFL_FUNCTION: return real ? function : NULL;
	default: return NULL;
	}
}

/* Both ways into y and z, of y's size: same answer, same bytes; and the fast twin's own, if it takes the call. Frees all. */
static bool both(weft_opcode op, const weft_attr *a, weft_tensor *y, weft_tensor *x0, weft_tensor *x1, weft_tensor *x2)
{
	int (*const twin)(const struct weft_call *c) = twin_of(op, x0->dtype);
	weft_tensor *z = tensor_new(y->dtype, y->rank, y->dim);
	const weft_tensor *const in[] = { x0, x1, x2 };
	const struct weft_call c = { .op = op, .attr = a, .x = in, .n_x = 1 + (x1 != NULL) + (x2 != NULL), .y = &z, .n_y = 1, .fast = true };
	int plain, fast;
	bool same;

	golden_fast = false;
	plain = golden(op, a, y, x0, x1, x2);
	golden_fast = true;
	fast = golden(op, a, z, x0, x1, x2);
	same = plain == 0 && fast == 0 && memcmp(y->data, z->data, weft_tensor_bytes(y)) == 0;
	memset(z->data, 0x5a, weft_tensor_bytes(z));
	if (same && twin && twin(&c) == 0) {
		taken++;
		same = memcmp(y->data, z->data, weft_tensor_bytes(y)) == 0;
	}
	tensor_free(x0);
	tensor_free(x1);
	tensor_free(x2);
	tensor_free(y);
	tensor_free(z);
	return same;
}

static bool one(uint64_t *r, bool depthwise)
{
	const int type = (int)(test_random(r) % 4);
	const weft_dtype tx = type == 2 ? WEFT_INT16 : WEFT_INT8, tw = type == 1 ? WEFT_INT4 : WEFT_INT8;
	const weft_dtype ty = type == 2 ? WEFT_INT48 : WEFT_INT32;
	const bool deep = test_random(r) % 4 == 0;
	const int64_t ic = upto(r, deep ? 200 : 20), oc = depthwise ? ic * upto(r, 3) : upto(r, deep ? 40 : 12);
	const int64_t kh = upto(r, 4), kw = upto(r, 5);
	weft_attr a = { .conv = { .stride = { upto(r, 3), upto(r, 3) }, .dilation = { upto(r, 2), upto(r, 3) },
		.pad = { upto(r, 4) - 1, upto(r, 4) - 1, upto(r, 4) - 1, upto(r, 4) - 1 }, .acc = ty,
		.x_zp = type == 2 ? 0 : (int8_t)test_random(r), .w_zp = type == 1 ? 0 : (int8_t)test_random(r) } };
	const int64_t oh = upto(r, 9), ow = upto(r, 9), n = upto(r, 2);
	const int64_t ih = (oh - 1) * a.conv.stride[0] + (kh - 1) * a.conv.dilation[0] + 1 - a.conv.pad[0] - a.conv.pad[1];
	const int64_t iw = (ow - 1) * a.conv.stride[1] + (kw - 1) * a.conv.dilation[1] + 1 - a.conv.pad[2] - a.conv.pad[3];
	weft_tensor *x, *w, *b;

	if (ih < 1 || iw < 1)
		return true;
	x = tensor_random(TENSOR(tx, n, ih, iw, ic), r);
	w = tensor_random(depthwise ? TENSOR(tw, kh, kw, ic, oc / ic) : TENSOR(tw, oc, kh, kw, ic), r);
	b = tensor_random(TENSOR(ty, test_random(r) % 4 == 0 ? 1 : oc), r);
	return both(depthwise ? WEFT_OP_DEPTHWISE_CONV2D : WEFT_OP_CONV2D, &a, TENSOR(ty, n, oh, ow, oc), x, w, b);
}

static bool one_rescale(uint64_t *r)
{
	static const struct { weft_dtype x, y; bool xu, yu; } types[] = {
		{ WEFT_INT32, WEFT_INT8, 0, 0 }, { WEFT_INT32, WEFT_INT8, 0, 0 }, { WEFT_INT32, WEFT_INT16, 0, 0 },
		{ WEFT_INT32, WEFT_INT32, 0, 0 }, { WEFT_INT8, WEFT_INT32, 0, 0 }, { WEFT_INT8, WEFT_INT8, 0, 0 },
		{ WEFT_INT16, WEFT_INT8, 0, 0 }, { WEFT_UINT8, WEFT_INT8, 1, 0 }, { WEFT_INT8, WEFT_UINT8, 0, 1 },
		{ WEFT_INT8, WEFT_INT16, 1, 0 }, { WEFT_INT16, WEFT_INT8, 0, 1 }, { WEFT_UINT16, WEFT_INT16, 1, 0 },
		{ WEFT_INT48, WEFT_INT16, 0, 0 },
	};
	const int k = (int)(test_random(r) % (sizeof(types) / sizeof(types[0])));
	const bool scale32 = types[k].x != WEFT_INT48 && test_random(r) % 4;
	weft_attr a = { .rescale = { .scale32 = scale32, .per_channel = test_random(r) & 1,
		.rounding = test_random(r) % 3 == 0 ? WEFT_EVEN_ROUND : scale32 && test_random(r) % 2 ? WEFT_DOUBLE_ROUND : WEFT_SINGLE_ROUND,
		.x_unsigned = types[k].xu, .y_unsigned = types[k].yu } };
	/* Scales of 1 go another way, in blocks of their own. */
	const bool by_one = scale32 && test_random(r) % 4 == 0;
	const int64_t ch = upto(r, 700), rows = upto(r, by_one ? 20 : 5), n = a.rescale.per_channel ? ch : 1;
	weft_tensor *m = TENSOR(scale32 ? WEFT_INT32 : WEFT_INT16, n), *s = TENSOR(WEFT_INT8, n);

	if (types[k].x == WEFT_INT8 || types[k].x == WEFT_UINT8)
		a.rescale.x_zp = (int32_t)(test_random(r) % 128);
	if (types[k].y == WEFT_INT8 || types[k].y == WEFT_UINT8)
		a.rescale.y_zp = (int32_t)(test_random(r) % 128);
	if (types[k].x == WEFT_INT16 && !types[k].xu)
		a.rescale.x_zp = (int16_t)test_random(r);
	if (types[k].y == WEFT_INT16 && !types[k].yu && !types[k].xu)
		a.rescale.y_zp = (int16_t)test_random(r);
	for (int64_t i = 0; i < n; i++) {
		tensor_set(m, i, test_random(r) % 4 == 0 ? 1 << test_random(r) % 15
		                                         : (int64_t)(test_random(r) & (scale32 ? INT32_MAX : INT16_MAX)));
		tensor_set(s, i, 2 + (int64_t)(test_random(r) % 61));
		if (by_one) {
			tensor_set(m, i, 1 << 30);
			tensor_set(s, i, 30);
		}
	}
	return both(WEFT_OP_RESCALE, &a, TENSOR(types[k].y, rows, ch),
	            tensor_random(TENSOR(types[k].x, rows, ch), r), m, s);
}

/* Of up to four dimensions, in some of which an operand is repeated. */
static bool one_elementwise(uint64_t *r)
{
	static const weft_opcode ops[] = { WEFT_OP_ADD, WEFT_OP_SUB, WEFT_OP_MUL, WEFT_OP_MAXIMUM, WEFT_OP_MINIMUM };
	const weft_attr a = { .mul = { .shift = test_random(r) & 1 ? (int)upto(r, 63) : 0 } };
	const int rank = (int)upto(r, 4);
	int64_t dim[3][4];

	for (int d = 0; d < rank; d++) {
		dim[2][d] = upto(r, 8) == 1 ? 1 : upto(r, rank == 1 ? 1500 : 12);
		for (int k = 0; k < 2; k++)
			dim[k][d] = dim[2][d];
		if (test_random(r) % 4 == 0)
			dim[test_random(r) & 1][d] = 1;
	}
	return both(ops[test_random(r) % 5], &a, tensor_new(WEFT_INT32, rank, dim[2]), tensor_random(tensor_new(WEFT_INT32, rank, dim[0]), r),
	            tensor_random(tensor_new(WEFT_INT32, rank, dim[1]), r), NULL);
}

static bool one_clamp(uint64_t *r)
{
	const weft_dtype t = test_random(r) & 1 ? WEFT_INT8 : WEFT_INT16;
	const int64_t n = upto(r, 1500);
	const int8_t p = (int8_t)test_random(r), q = (int8_t)test_random(r);
	weft_attr a = { .clamp = { .min = p < q ? p : q, .max = p < q ? q : p } };

	return both(WEFT_OP_CLAMP, &a, TENSOR(t, n), tensor_random(TENSOR(t, n), r), NULL, NULL);
}

/* fp32 of any kind: all bits at random, numbers of about the same size, or those that are treated apart. */
static weft_tensor *floats(weft_tensor *t, uint64_t *r)
{
	static const uint32_t special[] = { 0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x3f800000, 0x33800000 };
	const int kind = (int)(test_random(r) % 4);

	tensor_random(t, r);
	for (int64_t i = 0; kind && i < weft_tensor_elements(t); i++) {
		const uint32_t bits = special[test_random(r) % (kind == 1 ? 11 : 7)];
		if (kind == 3 || test_random(r) % 3)
			((float *)t->data)[i] = (float)((double)(int64_t)test_random(r) * 0x1p-62);
		else
			memcpy((float *)t->data + i, &bits, sizeof bits);
		if (kind == 1 && test_random(r) % 200 == 0)
			((uint32_t *)t->data)[i] = 0xffc12345;
	}
	return t;
}

/* Of fp32; half of them are chains. */
static bool float_conv(uint64_t *r, bool depthwise)
{
	const int64_t ic = upto(r, test_random(r) % 4 ? 9 : 70), oc = depthwise ? ic : upto(r, test_random(r) % 4 ? 12 : 140), kh = upto(r, 4), kw = upto(r, 4);
	weft_attr a = { .conv = { .stride = { upto(r, 3), upto(r, 3) }, .dilation = { upto(r, 2), upto(r, 3) },
		.pad = { upto(r, 4) - 1, upto(r, 4) - 1, upto(r, 4) - 1, upto(r, 4) - 1 }, .acc = WEFT_FP32, .chain = test_random(r) & 1 } };
	const int64_t oh = upto(r, 5), ow = upto(r, 5), n = upto(r, 2);
	const int64_t ih = (oh - 1) * a.conv.stride[0] + (kh - 1) * a.conv.dilation[0] + 1 - a.conv.pad[0] - a.conv.pad[1];
	const int64_t iw = (ow - 1) * a.conv.stride[1] + (kw - 1) * a.conv.dilation[1] + 1 - a.conv.pad[2] - a.conv.pad[3];

	if (ih < 1 || iw < 1)
		return true;
	return both(depthwise ? WEFT_OP_DEPTHWISE_CONV2D : WEFT_OP_CONV2D, &a, TENSOR(WEFT_FP32, n, oh, ow, oc), floats(TENSOR(WEFT_FP32, n, ih, iw, ic), r),
	            floats(depthwise ? TENSOR(WEFT_FP32, kh, kw, ic, 1) : TENSOR(WEFT_FP32, oc, kh, kw, ic), r),
	            floats(TENSOR(WEFT_FP32, test_random(r) % 4 ? oc : 1), r));
}

static bool one_transpose_conv2d(uint64_t *r)
{
	static const struct { weft_dtype x, w, y; } types[] = { { WEFT_INT8, WEFT_INT8, WEFT_INT32 }, { WEFT_INT16, WEFT_INT8, WEFT_INT48 }, { WEFT_FP32, WEFT_FP32, WEFT_FP32 } };
	const int t = (int)(test_random(r) % 3);
	const bool real = types[t].x == WEFT_FP32;
	const int64_t k[2] = { upto(r, 5), upto(r, 5) }, in[2] = { upto(r, 7), upto(r, 7) }, ic = upto(r, 20), oc = upto(r, 12), n = upto(r, 2);
	weft_attr a = { .conv = { .stride = { (int32_t)upto(r, 3), (int32_t)upto(r, 3) }, .dilation = { 1, 1 }, .acc = types[t].y,
		.x_zp = types[t].x == WEFT_INT8 ? (int8_t)test_random(r) : 0, .w_zp = real ? 0 : (int8_t)test_random(r), .chain = real && test_random(r) & 1 } };
	int64_t out[2];

	for (int i = 0; i < 2; i++) {
		a.conv.pad[2 * i] = (int32_t)(upto(r, k[i] + 3) - k[i]);
		a.conv.pad[2 * i + 1] = (int32_t)(upto(r, k[i] + 3) - k[i]);
		out[i] = (in[i] - 1) * a.conv.stride[i] + a.conv.pad[2 * i] + a.conv.pad[2 * i + 1] + k[i];
		if (out[i] < 1)
			return true;
	}
	weft_tensor *x = TENSOR(types[t].x, n, in[0], in[1], ic), *w = TENSOR(types[t].w, oc, k[0], k[1], ic), *b = TENSOR(types[t].y, test_random(r) % 4 == 0 ? 1 : oc);
	weft_tensor *(*const fill)(weft_tensor *, uint64_t *) = real ? floats : tensor_random;
	return both(WEFT_OP_TRANSPOSE_CONV2D, &a, TENSOR(types[t].y, n, out[0], out[1], oc), fill(x, r), fill(w, r), fill(b, r));
}

static bool one_float_conv2d(uint64_t *r) { return float_conv(r, false); }
static bool one_float_depthwise(uint64_t *r) { return float_conv(r, true); }

static bool one_float_matmul(uint64_t *r)
{
	const weft_attr a = { .matmul = { .chain = test_random(r) & 1 } };
	const int64_t n = upto(r, 2), h = upto(r, 9), k = upto(r, 90), w = upto(r, test_random(r) % 4 ? 12 : 140);

	return both(WEFT_OP_MATMUL, &a, TENSOR(WEFT_FP32, n, h, w), floats(TENSOR(WEFT_FP32, n, h, k), r), floats(TENSOR(WEFT_FP32, n, k, w), r), NULL);
}

/* Two operands that are spread in any of their dimensions. */
static bool one_float_binary(uint64_t *r)
{
	static const weft_opcode ops[] = { WEFT_OP_ADD, WEFT_OP_SUB, WEFT_OP_MUL, WEFT_OP_TFL_DIV, WEFT_OP_MAXIMUM };
	const int rank = upto(r, 5);
	const uint64_t whole = test_random(r);
	int64_t dim[2][5], to[5];

	for (int d = 0; d < rank; d++) {
		to[d] = upto(r, test_random(r) % 4 ? 5 : 50);
		for (int k = 0; k < 2; k++)
			dim[k][d] = (k == (int)(whole & 1) || whole % 3 == 0) && whole % 5 ? to[d] : test_random(r) & 1 ? to[d] : 1;
		to[d] = dim[0][d] > dim[1][d] ? dim[0][d] : dim[1][d];
	}
	weft_attr a = { 0 };
	return both(ops[test_random(r) % 5], &a, tensor_new(WEFT_FP32, rank, to), floats(tensor_new(WEFT_FP32, rank, dim[0]), r),
	            floats(tensor_new(WEFT_FP32, rank, dim[1]), r), NULL);
}

/* Returns one of the three modes in which NaN is judged. */
static weft_nan_mode nan_mode(uint64_t *r)
{
	static const weft_nan_mode modes[] = { WEFT_NAN_PROPAGATE, WEFT_NAN_IGNORE, WEFT_NAN_COMPARE };

	return modes[test_random(r) % 3];
}

static bool one_float_clamp(uint64_t *r)
{
	static const double limits[] = { 0, -0.0, 1, 6, -1, 0.1, 1e-46, -1e-46, 1e39, -1e39, 0x1.000001p0, 3.5e38 };
	const double p = limits[test_random(r) % 12], q = limits[test_random(r) % 12];
	weft_attr a = { .clamp = { .fmin = p < q ? p : q, .fmax = p < q ? q : p, .nan = nan_mode(r) } };
	const int64_t n = upto(r, 700);

	return both(WEFT_OP_CLAMP, &a, TENSOR(WEFT_FP32, n), floats(TENSOR(WEFT_FP32, n), r), NULL, NULL);
}

static bool one_float_pool(uint64_t *r)
{
	const int32_t kh = upto(r, 5), kw = upto(r, 5), sy = upto(r, 3), sx = upto(r, 3);
	const int64_t ch = upto(r, test_random(r) % 4 ? 20 : 600), oh = upto(r, 5), ow = upto(r, 5);
	weft_attr a = { .pool = { .kernel = { kh, kw }, .stride = { sy, sx }, .acc = WEFT_FP32, .pad = { upto(r, kh) - 1, upto(r, kh) - 1, upto(r, kw) - 1, upto(r, kw) - 1 },
		.nan = nan_mode(r), .chain = test_random(r) & 1 } };
	const int64_t ih = (oh - 1) * sy + kh - a.pool.pad[0] - a.pool.pad[1], iw = (ow - 1) * sx + kw - a.pool.pad[2] - a.pool.pad[3];

	if (ih < 1 || iw < 1)
		return true;
	return both(test_random(r) & 1 ? WEFT_OP_AVG_POOL2D : WEFT_OP_MAX_POOL2D, &a, TENSOR(WEFT_FP32, 1, oh, ow, ch), floats(TENSOR(WEFT_FP32, 1, ih, iw, ch), r), NULL, NULL);
}

static bool one_float_sum(uint64_t *r)
{
	int64_t from[3], to[3];
	weft_attr a = { .axis = { .axis = (int32_t)(test_random(r) % 3), .chain = test_random(r) & 1 } };

	for (int d = 0; d < 3; d++) {
		from[d] = upto(r, test_random(r) % 4 ? 12 : 400 / (d + 1));
		to[d] = d == a.axis.axis ? 1 : from[d];
	}
	return both(WEFT_OP_REDUCE_SUM, &a, tensor_new(WEFT_FP32, 3, to), floats(tensor_new(WEFT_FP32, 3, from), r), NULL, NULL);
}

/* Checks maxima along the last axis, and along another one, which the fast twin leaves to the plain loop. */
static bool one_float_max(uint64_t *r)
{
	int64_t from[3], to[3];
	weft_attr a = { .axis = { .axis = test_random(r) % 4 ? 2 : 1, .nan = nan_mode(r) } };

	for (int d = 0; d < 3; d++) {
		from[d] = upto(r, test_random(r) % 4 ? 12 : 400 / (d + 1));
		to[d] = d == a.axis.axis ? 1 : from[d];
	}
	weft_tensor *x = floats(tensor_new(WEFT_FP32, 3, from), r);
	for (int64_t i = 0; i < from[2] && test_random(r) % 8; i++)
		((float *)x->data)[i] = -INFINITY;       /* of a line of these, COMPARE makes the lowest finite number */
	return both(WEFT_OP_REDUCE_MAX, &a, tensor_new(WEFT_FP32, 3, to), x, NULL, NULL);
}

/* The functions that are approximated; f counts for TFL_FUNCTION only. */
static const struct { weft_opcode op; enum weft_tfl_function f; } functions[] = {
	{ WEFT_OP_EXP, 0 }, { WEFT_OP_SIGMOID, 0 }, { WEFT_OP_TANH, 0 }, { WEFT_OP_ERF, 0 },
	{ WEFT_OP_TFL_FUNCTION, WEFT_TFL_EXP }, { WEFT_OP_TFL_FUNCTION, WEFT_TFL_LOGISTIC },
};
#define N_FUNCTIONS ((int)(sizeof functions / sizeof functions[0]))

static bool one_function(uint64_t *r)
{
	const int k = (int)(test_random(r) % N_FUNCTIONS);
	const weft_attr a = { .tfl_function = { .function = functions[k].f } };
	const int64_t n = upto(r, 700);

	return both(functions[k].op, &a, TENSOR(WEFT_FP32, n), floats(TENSOR(WEFT_FP32, n), r), NULL, NULL);
}

/*
 * Compares each approximated function with the plain loop for one fp32 in `step`, at level test-full for every fp32. At most one in
 * 64 may be left to the plain loop: a NaN, or a number whose result lies close to the middle between two fp32. WEFT_N is
 * not asked, because the random tests of this file use it.
 */
static void all_floats(void **state)
{
	const uint32_t steps[] = { 65537, 4099, 1 }, step = steps[test_level()];
	const int64_t n = 4096;

	(void)state;
	for (int k = 0; k < N_FUNCTIONS; k++) {
		const weft_attr a = { .tfl_function = { .function = functions[k].f } };
		uint64_t bits = 0, count = 0;

		left = 0;
		while (bits <= UINT32_MAX) {
			weft_tensor *x = TENSOR(WEFT_FP32, n);
			for (int64_t i = 0; i < n; i++, bits += step)
				((uint32_t *)x->data)[i] = (uint32_t)bits;
			if (!both(functions[k].op, &a, TENSOR(WEFT_FP32, n), x, NULL, NULL))
				fail_msg("function %d differs among the numbers up to 0x%08llx", k, (unsigned long long)bits);
			count += (uint64_t)n;
		}
		if (left > count / 64)
			fail_msg("function %d: %llu of %llu numbers were left to the plain loop", k, (unsigned long long)left, (unsigned long long)count);
	}
}

/* Any order of up to six dimensions, some of them 1, some larger than a block; elements of all sizes. */
static bool one_transpose(uint64_t *r)
{
	static const weft_dtype types[] = { WEFT_INT8, WEFT_INT8, WEFT_INT16, WEFT_FP32, WEFT_INT48, WEFT_BOOL };
	const weft_dtype t = types[test_random(r) % 6];
	const int rank = upto(r, 6);
	int64_t from[WEFT_MAX_RANK], to[WEFT_MAX_RANK];
	weft_attr a = { 0 };

	for (int d = 0; d < rank; d++) {
		a.perm.perm[d] = d;
		from[d] = upto(r, rank < 3 ? 60 : rank < 4 ? 40 : 7);
	}
	if (rank == 4 && test_random(r) & 1)
		from[test_random(r) % 4] = 33;
	for (int d = rank - 1; d > 0; d--) {
		const int k = (int)(test_random(r) % (uint64_t)(d + 1)), kept = a.perm.perm[d];
		a.perm.perm[d] = a.perm.perm[k];
		a.perm.perm[k] = kept;
	}
	for (int d = 0; d < rank; d++)
		to[d] = from[a.perm.perm[d]];
	return both(WEFT_OP_TRANSPOSE, &a, tensor_new(t, rank, to), tensor_random(tensor_new(t, rank, from), r), NULL, NULL);
}

/* Windows of any shape, at all borders; images of extremes alone. */
static bool one_pool(uint64_t *r, weft_opcode op)
{
	const weft_dtype t = test_random(r) % 8 ? WEFT_INT8 : WEFT_INT16;
	const int32_t kh = upto(r, 6), kw = upto(r, 6), sy = upto(r, 3), sx = upto(r, 3);
	const int64_t ch = upto(r, test_random(r) & 1 ? 200 : 9), oh = upto(r, 7), ow = upto(r, 7), n = upto(r, 2);
	weft_attr a = { .pool = { .kernel = { kh, kw }, .stride = { sy, sx }, .acc = WEFT_INT32, .pad = { upto(r, kh) - 1, upto(r, kh) - 1, upto(r, kw) - 1, upto(r, kw) - 1 } } };
	const int64_t ih = (oh - 1) * sy + kh - a.pool.pad[0] - a.pool.pad[1], iw = (ow - 1) * sx + kw - a.pool.pad[2] - a.pool.pad[3];

	if (op == WEFT_OP_AVG_POOL2D && t == WEFT_INT8) {
		a.pool.x_zp = (int8_t)test_random(r);
		a.pool.y_zp = (int8_t)test_random(r);
	}
	if (ih < 1 || iw < 1)
		return true;
	weft_tensor *x = tensor_random(TENSOR(t, n, ih, iw, ch), r);
	for (int64_t i = 0; test_random(r) % 3 == 0 && i < n * ih * iw * ch; i++)
		tensor_set(x, i, test_random(r) & 1 ? -128 : 127);
	return both(op, &a, TENSOR(t, n, oh, ow, ch), x, NULL, NULL);
}

static bool one_max_pool(uint64_t *r) { return one_pool(r, WEFT_OP_MAX_POOL2D); }
static bool one_avg_pool(uint64_t *r) { return one_pool(r, WEFT_OP_AVG_POOL2D); }

/* Any axis; other reductions and types are the plain loop's. */
static bool one_reduce(uint64_t *r)
{
	static const weft_opcode ops[] = { WEFT_OP_REDUCE_SUM, WEFT_OP_REDUCE_SUM, WEFT_OP_REDUCE_MAX, WEFT_OP_REDUCE_MIN };
	const weft_opcode op = ops[test_random(r) % 4];
	const weft_dtype t = op != WEFT_OP_REDUCE_SUM && test_random(r) & 1 ? WEFT_INT8 : WEFT_INT32;
	int64_t from[4], to[4];
	weft_attr a = { .axis = { .axis = (int32_t)(test_random(r) % 4) } };

	for (int d = 0; d < 4; d++) {
		from[d] = upto(r, test_random(r) % 4 ? 9 : 40);
		to[d] = d == a.axis.axis ? 1 : from[d];
	}
	return both(op, &a, tensor_new(t, 4, to), tensor_random(tensor_new(t, 4, from), r), NULL, NULL);
}

/* Larger and smaller, coarse scales that overshoot too, both kinds of corners; uint8 and int16 are the plain loop's. */
static bool one_bilinear(uint64_t *r)
{
	const weft_dtype t = test_random(r) % 8 ? WEFT_INT8 : WEFT_INT16;
	const int64_t ch = upto(r, 70), n = upto(r, 2), coarse = test_random(r) % 8 ? 12 : 700;
	weft_attr a = { .tfl_resize = { .align_corners = test_random(r) & 1, .half_pixel = test_random(r) & 1, .raw_uint8 = t == WEFT_INT8 && test_random(r) % 8 == 0 } };
	weft_tensor *x = tensor_random(TENSOR(t, n, upto(r, 12), upto(r, 12), ch), r);

	for (int64_t i = 0; test_random(r) % 3 == 0 && i < weft_tensor_elements(x); i++)
		tensor_set(x, i, test_random(r) & 1 ? -128 : 127);
	return both(WEFT_OP_TFL_RESIZE_BILINEAR, &a, TENSOR(t, n, upto(r, (int32_t)coarse), upto(r, 12), ch), x, NULL, NULL);
}

/* Larger and smaller by fractions, at any offset; all sizes of elements. */
static bool one_nearest(uint64_t *r)
{
	static const weft_dtype types[] = { WEFT_INT8, WEFT_INT8, WEFT_INT16, WEFT_FP32 };
	const weft_dtype t = types[test_random(r) % 4];
	weft_attr a = { .resize = { .mode = WEFT_RESIZE_NEAREST, .scale_y_n = upto(r, 9), .scale_x_n = upto(r, 9), .scale_y_d = upto(r, 6), .scale_x_d = upto(r, 6) } };
	const int64_t ih = upto(r, 9), iw = upto(r, 9), ch = upto(r, 40), n = upto(r, 3);

	a.resize.offset_y = upto(r, 2 * a.resize.scale_y_n) - 1 - a.resize.scale_y_n;
	a.resize.offset_x = upto(r, 2 * a.resize.scale_x_n) - 1 - a.resize.scale_x_n;
	const int64_t sy = (ih - 1) * a.resize.scale_y_n - a.resize.offset_y, sx = (iw - 1) * a.resize.scale_x_n - a.resize.offset_x;
	/* The border rounds the span down to a multiple of the denominator. */
	if (sy < 0 || sx < 0 || a.resize.scale_y_d >= 16 * a.resize.scale_y_n || a.resize.scale_x_d >= 16 * a.resize.scale_x_n)
		return true;
	a.resize.border_y = -(int32_t)(sy % a.resize.scale_y_d);
	a.resize.border_x = -(int32_t)(sx % a.resize.scale_x_d);
	return both(WEFT_OP_RESIZE, &a, TENSOR(t, n, sy / a.resize.scale_y_d + 1, sx / a.resize.scale_x_d + 1, ch),
	            tensor_random(TENSOR(t, n, ih, iw, ch), r), NULL, NULL);
}

static bool one_table(uint64_t *r)
{
	const int64_t n = upto(r, 1500);

	return both(WEFT_OP_TABLE, NULL, TENSOR(WEFT_INT8, n), tensor_random(TENSOR(WEFT_INT8, n), r), tensor_random(TENSOR(WEFT_INT8, 256), r), NULL);
}

/* Rows of any length, flat ones and steep ones; scales whose exponentials all count, and such that few do. */
static bool one_softmax(uint64_t *r)
{
	const int64_t n = upto(r, test_random(r) & 1 ? 1300 : 20), rows = 1 + 1024 / n;
	const float scales[] = { 1e-9f, 1.0f / 256, 0.05f, 0.3f, 4.0f, 0.0f };
	weft_attr a = { .tfl_softmax = { .beta = 1.0f, .x_scale = scales[test_random(r) % 6] } };
	const int type = (int)(test_random(r) % 4);
	weft_tensor *x = tensor_random(TENSOR(WEFT_INT8, rows, n), r);

	for (int64_t i = 0; type && i < rows * n; i++)
		tensor_set(x, i, type == 1 ? 5 : type == 2 ? (test_random(r) % 9 ? -128 : 127) : (int64_t)(test_random(r) % 30));
	return both(WEFT_OP_TFL_SOFTMAX, &a, TENSOR(WEFT_INT8, rows, n), x, NULL, NULL);
}

/* More ones in a row than the sum has bits for: it wraps. */
static void softmax_wraps(void **state)
{
	weft_attr a = { .tfl_softmax = { .beta = 1.0f, .x_scale = 0.05f } };

	(void)state;
	for (int64_t n = 4090; n < 8200; n += n == 4100 ? 4080 : 1) {
		weft_tensor *x = TENSOR(WEFT_INT8, 1, n);
		for (int64_t i = 0; i < n; i++)
			tensor_set(x, i, 7);
		assert_true(both(WEFT_OP_TFL_SOFTMAX, &a, TENSOR(WEFT_INT8, 1, n), x, NULL, NULL));
	}
}

/* Checks WEFT_N cases, of which the fast loops must take a third at least. */
static void many(bool (*check)(uint64_t *r))
{
	const uint64_t seed = number("WEFT_SEED", 5), n = number("WEFT_N", 300);

	taken = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t r = seed + i;

		if (!check(&r))
			fail_msg("seed %llu differs (WEFT_N=1) %s", (unsigned long long)(seed + i), golden_msg);
	}
	/* Of a few shapes there may be none that is fast. */
	if (n >= 100 && taken < n / 3)
		fail_msg("only %llu of %llu calls were not left to the plain loops", (unsigned long long)taken, (unsigned long long)n);
}

static void rescale(void **state) { (void)state; many(one_rescale); }
static void float_conv2d(void **state) { (void)state; many(one_float_conv2d); }
static void float_depthwise(void **state) { (void)state; many(one_float_depthwise); }
static void float_matmul(void **state) { (void)state; many(one_float_matmul); }
static void float_binary(void **state) { (void)state; many(one_float_binary); }
static void float_clamp(void **state) { (void)state; many(one_float_clamp); }
static void float_pool(void **state) { (void)state; many(one_float_pool); }
static void float_max(void **state) { (void)state; many(one_float_max); }
static void float_function(void **state) { (void)state; many(one_function); }
static void float_sum(void **state) { (void)state; many(one_float_sum); }
static void transpose(void **state) { (void)state; many(one_transpose); }
static void max_pool(void **state) { (void)state; many(one_max_pool); }
static void avg_pool(void **state) { (void)state; many(one_avg_pool); }
static void reduce(void **state) { (void)state; many(one_reduce); }
static void bilinear(void **state) { (void)state; many(one_bilinear); }
static void nearest(void **state) { (void)state; many(one_nearest); }
static void table(void **state) { (void)state; many(one_table); }
static void softmax(void **state) { (void)state; many(one_softmax); }
static void elementwise(void **state) { (void)state; many(one_elementwise); }
static void transpose_conv2d(void **state) { (void)state; many(one_transpose_conv2d); }
static void clamp(void **state) { (void)state; many(one_clamp); }

static bool one_conv2d(uint64_t *r) { return one(r, false); }
static bool one_depthwise(uint64_t *r) { return one(r, true); }
static void conv2d(void **state) { (void)state; many(one_conv2d); }
static void depthwise_conv2d(void **state) { (void)state; many(one_depthwise); }

/* Random values, or those whose products are the largest: -128 or 127, of one sign throughout or mixed. */
static weft_tensor *extreme(weft_tensor *t, uint64_t *r)
{
	const int kind = (int)(test_random(r) % 4);
	const int64_t all = test_random(r) & 1 ? -128 : 127;

	tensor_random(t, r);
	for (int64_t i = 0; kind && i < weft_tensor_elements(t); i++)
		tensor_set(t, i, kind == 1 || test_random(r) & 1 ? all : -1 - all);
	return t;
}

#define NO_KERNEL 1    /* of a run: this processor has fewer kernels */

/* Whether every kernel makes the plain loops' bytes of these operands. run: the one with that number. Frees y and operands. */
static bool every_kernel(weft_opcode op, const weft_attr *a, weft_tensor *y, weft_tensor *const x[3], int (*run)(const struct weft_call *c, int number))
{
	const weft_tensor *const in[] = { x[0], x[1], x[2] };
	weft_tensor *z = tensor_new(y->dtype, y->rank, y->dim);
	const struct weft_call c = { .op = op, .attr = a, .x = in, .n_x = 3, .y = &z, .n_y = 1 };
	int err;

	golden_fast = false;
	bool same = golden(op, a, y, x[0], x[1], x[2]) == 0;
	for (int number = 0; same; number++) {
		memset(z->data, 0x5a, weft_tensor_bytes(z));
		err = run(&c, number);
		if (err == NO_KERNEL)
			break;
		same = !err && memcmp(y->data, z->data, weft_tensor_bytes(y)) == 0;
		if (!same)
			snprintf(golden_msg, sizeof(golden_msg), "by kernel %d", number);
	}
	taken++;
	for (int i = 0; i < 3; i++)
		tensor_free(x[i]);
	tensor_free(y);
	tensor_free(z);
	return same;
}

/* Draws strides and dilations of 1 and 2, paddings of 0 to 2 and a zero point: half of them are an end of int8, the others any. */
static weft_attr random_conv(uint64_t *r)
{
	return (weft_attr){ .conv = { .stride = { upto(r, 2), upto(r, 2) }, .dilation = { upto(r, 2), upto(r, 2) },
		.pad = { upto(r, 3) - 1, upto(r, 3) - 1, upto(r, 3) - 1, upto(r, 3) - 1 }, .acc = WEFT_INT32,
		.x_zp = test_random(r) & 1 ? -128 + 255 * (int)(test_random(r) & 1) : (int8_t)test_random(r) } };
}

/* Rows (axis 0) or columns (1) that the input has for so many of the output and of the kernel; below 1 if there is none. */
static int64_t input_size(const weft_attr *a, int axis, int64_t output, int64_t kernel)
{
	return (output - 1) * a->conv.stride[axis] + (kernel - 1) * a->conv.dilation[axis] + 1 - a->conv.pad[2 * axis] - a->conv.pad[2 * axis + 1];
}

static int run_tiled(const struct weft_call *c, int number)
{
	const struct weft_tiling *t = weft_tiling_at(number);

	return t ? weft_tiles_conv2d(c, t) : NO_KERNEL;
}

/* Every tiling that this processor has gives the plain loops' sums. */
static bool one_tiled(uint64_t *r)
{
	const int64_t ic = upto(r, 70), oc = upto(r, 150), kh = upto(r, 3), kw = upto(r, 3), n = upto(r, 2);
	const weft_attr a = random_conv(r);
	const int64_t oh = upto(r, 7), ow = upto(r, 7), ih = input_size(&a, 0, oh, kh), iw = input_size(&a, 1, ow, kw);

	if (ih < 1 || iw < 1)
		return true;
	weft_tensor *const x[] = { extreme(TENSOR(WEFT_INT8, n, ih, iw, ic), r), extreme(TENSOR(WEFT_INT8, oc, kh, kw, ic), r),
		tensor_random(TENSOR(WEFT_INT32, test_random(r) % 4 == 0 ? 1 : oc), r) };
	return every_kernel(WEFT_OP_CONV2D, &a, TENSOR(WEFT_INT32, n, oh, ow, oc), x, run_tiled);
}

static int run_depthwise(const struct weft_call *c, int number)
{
	weft_depthwise_pixel *pixel = weft_depthwise_at(number);

	return pixel ? weft_depthwise_int8(c, pixel) : NO_KERNEL;
}

/* One output channel an input channel, with the largest products; zero points of both. */
static bool one_plain_depthwise(uint64_t *r)
{
	const int64_t ch = upto(r, 100), kh = upto(r, 4), kw = upto(r, 4), n = upto(r, 2), oh = upto(r, 6), ow = upto(r, 6);
	weft_attr a = random_conv(r);
	const int64_t ih = input_size(&a, 0, oh, kh), iw = input_size(&a, 1, ow, kw);

	a.conv.w_zp = test_random(r) & 1 ? 0 : (int8_t)test_random(r);
	if (ih < 1 || iw < 1)
		return true;
	weft_tensor *const x[] = { extreme(TENSOR(WEFT_INT8, n, ih, iw, ch), r), extreme(TENSOR(WEFT_INT8, kh, kw, ch, 1), r),
		tensor_random(TENSOR(WEFT_INT32, test_random(r) % 4 == 0 ? 1 : ch), r) };
	return every_kernel(WEFT_OP_DEPTHWISE_CONV2D, &a, TENSOR(WEFT_INT32, n, oh, ow, ch), x, run_depthwise);
}

static bool one_matmul(uint64_t *r)
{
	const int64_t n = upto(r, 3), h = upto(r, 20), k = upto(r, 100), w = upto(r, 80);
	const bool wide = test_random(r) % 8 == 0;
	const weft_dtype t = wide ? WEFT_INT16 : WEFT_INT8;
	weft_attr a = { .matmul = { .a_zp = wide ? 0 : (int8_t)test_random(r), .b_zp = wide || test_random(r) & 1 ? 0 : (int8_t)test_random(r) } };

	return both(WEFT_OP_MATMUL, &a, TENSOR(wide ? WEFT_INT48 : WEFT_INT32, n, h, w), extreme(TENSOR(t, n, h, k), r),
	            extreme(TENSOR(t, n, k, w), r), NULL);
}

static void plain_depthwise(void **state) { (void)state; many(one_plain_depthwise); }
static void matmul(void **state) { (void)state; many(one_matmul); }
static void tiles(void **state) { (void)state; many(one_tiled); }

/* Extremes among random values: of int32 the ends and 0, of multipliers 0 and the ends, of shifts the ends and those about 31. */
static weft_tensor *rescale_values(weft_tensor *t, uint64_t *r)
{
	static const int64_t ends[] = { INT32_MIN, INT32_MAX, -1, 0, 1, -(1 << 30), 1 << 30 };

	tensor_random(t, r);
	for (int64_t i = 0; t->dtype == WEFT_INT32 && i < weft_tensor_elements(t); i++)
		if (test_random(r) % 3 == 0)
			tensor_set(t, i, ends[test_random(r) % 7]);
	return t;
}

static int64_t rescale_mult(uint64_t *r)
{
	const int64_t ends[] = { 0, 1, INT32_MAX, 1 << 30 };

	return test_random(r) % 3 ? (int64_t)(test_random(r) & INT32_MAX) : ends[test_random(r) % 4];
}

static int64_t rescale_shift(uint64_t *r)
{
	const int64_t ends[] = { 2, 30, 31, 32, 33, 62 };

	return test_random(r) % 3 ? 2 + (int64_t)(test_random(r) % 61) : ends[test_random(r) % 6];
}

static int run_rescale(const struct weft_call *c, int number)
{
	const struct weft_rescale_kernels *kernels = weft_rescale_kernels_at(number);

	return kernels ? weft_rescale_with(c, kernels) : NO_KERNEL;
}

/* Every kernel of RESCALE that this processor has, in every rounding, few channels and many, rows that end anywhere. */
static bool one_rescale_kernel(uint64_t *r)
{
	static const weft_dtype types[] = { WEFT_INT8, WEFT_INT16, WEFT_INT32 };
	static const weft_rounding roundings[] = { WEFT_SINGLE_ROUND, WEFT_DOUBLE_ROUND, WEFT_EVEN_ROUND };
	const weft_dtype tx = types[test_random(r) % 4 ? 2 : test_random(r) % 2], ty = types[test_random(r) % 3];
	const int64_t ch = test_random(r) % 3 ? upto(r, 70) : upto(r, 600), rows = upto(r, test_random(r) & 1 ? 100 : 4);
	weft_attr a = { .rescale = { .scale32 = true, .per_channel = test_random(r) & 1, .rounding = roundings[test_random(r) % 3],
		.x_zp = tx == WEFT_INT8 ? (int8_t)test_random(r) : 0, .y_zp = ty == WEFT_INT8 ? (int8_t)test_random(r) : 0 } };
	const int64_t n = a.rescale.per_channel ? ch : 1;
	weft_tensor *x = rescale_values(TENSOR(tx, rows, ch), r), *y = TENSOR(ty, rows, ch), *m = TENSOR(WEFT_INT32, n), *s = TENSOR(WEFT_INT8, n);

	for (int64_t i = 0; i < n; i++) {
		tensor_set(m, i, rescale_mult(r));
		tensor_set(s, i, rescale_shift(r));
	}
	return every_kernel(WEFT_OP_RESCALE, &a, y, (weft_tensor *const[]){ x, m, s }, run_rescale);
}

static void rescale_kernels(void **state) { (void)state; many(one_rescale_kernel); }

/* More taps than an int32 sum holds: the twin must leave that to the plain loops. */
static void depthwise_many_taps(void **state)
{
	weft_attr a = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_INT48 } };
	weft_tensor *x = TENSOR(WEFT_INT16, 1, 20, 20, 1), *w = TENSOR(WEFT_INT8, 20, 20, 1, 1);
	weft_tensor *b = TENSOR(WEFT_INT48, 1), *y = TENSOR(WEFT_INT48, 1, 1, 1, 1);

	(void)state;
	for (int i = 0; i < 400; i++) {
		tensor_set(x, i, -32768);
		tensor_set(w, i, 127);
	}
	a.conv.w_zp = -128;
	golden_fast = true;
	assert_int_equal(golden(WEFT_OP_DEPTHWISE_CONV2D, &a, y, x, w, b), 0);
	assert_int_equal(tensor_get(y, 0), -400ll * 32768 * 255);
	tensor_free(x);
	tensor_free(w);
	tensor_free(b);
	tensor_free(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conv2d),
		cmocka_unit_test(depthwise_conv2d),
		cmocka_unit_test(depthwise_many_taps),
		cmocka_unit_test(tiles),
		cmocka_unit_test(plain_depthwise),
		cmocka_unit_test(matmul),
		cmocka_unit_test(rescale),
		cmocka_unit_test(rescale_kernels),
		cmocka_unit_test(elementwise),
		cmocka_unit_test(transpose_conv2d),
		cmocka_unit_test(float_conv2d),
		cmocka_unit_test(float_depthwise),
		cmocka_unit_test(float_matmul),
		cmocka_unit_test(float_binary),
		cmocka_unit_test(float_pool),
		cmocka_unit_test(float_clamp),
		cmocka_unit_test(float_sum),
		cmocka_unit_test(float_max),
		cmocka_unit_test(float_function),
		cmocka_unit_test(all_floats),
		cmocka_unit_test(transpose),
		cmocka_unit_test(max_pool),
		cmocka_unit_test(avg_pool),
		cmocka_unit_test(reduce),
		cmocka_unit_test(bilinear),
		cmocka_unit_test(nearest),
		cmocka_unit_test(table),
		cmocka_unit_test(softmax),
		cmocka_unit_test(softmax_wraps),
		cmocka_unit_test(clamp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

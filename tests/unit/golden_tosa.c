/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The integer operators that only TOSA files bring, on values worked out by
 * hand or by another formula than golden's. Source: TOSA 1.0, section 2.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/golden_call.h"
#include "tests/support/tensors.h"

/* Result of op on a, b, c into y; then all are gone. */
static void expect(weft_opcode op, const weft_attr *attr, weft_tensor *y, weft_tensor *a, weft_tensor *b, weft_tensor *c,
                   const int64_t *want)
{
	if (golden(op, attr, y, a, b, c))
		fail_msg("%s", golden_msg);
	for (int64_t i = 0; i < weft_tensor_elements(y); i++)
		if (tensor_get(y, i) != want[i])
			fail_msg("%s: element %lld is %lld, not %lld", weft_op_name(op), (long long)i, (long long)tensor_get(y, i),
			         (long long)want[i]);
	tensor_free(y);
	tensor_free(a);
	tensor_free(b);
	tensor_free(c);
}

static void refused(weft_opcode op, const weft_attr *attr, weft_tensor *y, weft_tensor *a, weft_tensor *b, weft_tensor *c,
                    const char *says)
{
	assert_int_equal(golden(op, attr, y, a, b, c), -EINVAL);
	assert_string_equal(golden_msg, says);
	tensor_free(y);
	tensor_free(a);
	tensor_free(b);
	tensor_free(c);
}

#define I64(...) ((const int64_t[]){ __VA_ARGS__ })

static void shifts(void **state)
{
	const weft_attr round = { .shift = { true } }, cut = { .shift = { false } };

	(void)state;
	expect(WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &cut, TENSOR(WEFT_INT8, 5), VALUES(TENSOR(WEFT_INT8, 5), 7, -7, 127, -128, 5),
	       VALUES(TENSOR(WEFT_INT8, 5), 1, 1, 7, 7, 0), NULL, I64(3, -4, 0, -1, 5));
	expect(WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &round, TENSOR(WEFT_INT8, 5), VALUES(TENSOR(WEFT_INT8, 5), 7, -7, 127, -128, 5),
	       VALUES(TENSOR(WEFT_INT8, 5), 1, 1, 7, 7, 0), NULL, I64(4, -3, 1, -1, 5));
	expect(WEFT_OP_LOGICAL_RIGHT_SHIFT, NULL, TENSOR(WEFT_INT16, 3), VALUES(TENSOR(WEFT_INT16, 3), -1, -32768, 3),
	       VALUES(TENSOR(WEFT_INT16, 1), 1), NULL, I64(32767, 16384, 1));
	expect(WEFT_OP_LOGICAL_LEFT_SHIFT, NULL, TENSOR(WEFT_INT8, 3), VALUES(TENSOR(WEFT_INT8, 3), -1, 64, 3),
	       VALUES(TENSOR(WEFT_INT8, 3), 7, 1, 0), NULL, I64(-128, -128, 3));
	expect(WEFT_OP_LOGICAL_LEFT_SHIFT, NULL, TENSOR(WEFT_INT32, 1), VALUES(TENSOR(WEFT_INT32, 1), 3),
	       VALUES(TENSOR(WEFT_INT32, 1), 31), NULL, I64(INT32_MIN));
	refused(WEFT_OP_LOGICAL_LEFT_SHIFT, NULL, TENSOR(WEFT_INT8, 1), TENSOR(WEFT_INT8, 1), VALUES(TENSOR(WEFT_INT8, 1), 8), NULL,
	        "LOGICAL_LEFT_SHIFT: shift 0 is 8, outside 0..7");
}

static void bits(void **state)
{
	(void)state;
	expect(WEFT_OP_BITWISE_AND, NULL, TENSOR(WEFT_INT8, 2, 2), VALUES(TENSOR(WEFT_INT8, 2, 1), 12, -1),
	       VALUES(TENSOR(WEFT_INT8, 1, 2), 10, -128), NULL, I64(8, 0, 10, -128));
	expect(WEFT_OP_BITWISE_OR, NULL, TENSOR(WEFT_INT32, 1), VALUES(TENSOR(WEFT_INT32, 1), 12),
	       VALUES(TENSOR(WEFT_INT32, 1), INT32_MIN), NULL, I64(INT32_MIN + 12));
	expect(WEFT_OP_BITWISE_XOR, NULL, TENSOR(WEFT_INT16, 2), VALUES(TENSOR(WEFT_INT16, 2), 12, -1),
	       VALUES(TENSOR(WEFT_INT16, 2), 10, 1), NULL, I64(6, -2));
	expect(WEFT_OP_BITWISE_NOT, NULL, TENSOR(WEFT_INT8, 3), VALUES(TENSOR(WEFT_INT8, 3), 0, -128, 5), NULL, NULL,
	       I64(-1, 127, -6));
	expect(WEFT_OP_LOGICAL_AND, NULL, TENSOR(WEFT_BOOL, 4), VALUES(TENSOR(WEFT_BOOL, 4), 0, 0, 1, 1),
	       VALUES(TENSOR(WEFT_BOOL, 4), 0, 1, 0, 1), NULL, I64(0, 0, 0, 1));
	expect(WEFT_OP_LOGICAL_OR, NULL, TENSOR(WEFT_BOOL, 4), VALUES(TENSOR(WEFT_BOOL, 4), 0, 0, 1, 1),
	       VALUES(TENSOR(WEFT_BOOL, 4), 0, 1, 0, 1), NULL, I64(0, 1, 1, 1));
	expect(WEFT_OP_LOGICAL_XOR, NULL, TENSOR(WEFT_BOOL, 4), VALUES(TENSOR(WEFT_BOOL, 4), 0, 0, 1, 1),
	       VALUES(TENSOR(WEFT_BOOL, 4), 0, 1, 0, 1), NULL, I64(0, 1, 1, 0));
	expect(WEFT_OP_LOGICAL_NOT, NULL, TENSOR(WEFT_BOOL, 2), VALUES(TENSOR(WEFT_BOOL, 2), 0, 1), NULL, NULL, I64(1, 0));
	expect(WEFT_OP_CLZ, NULL, TENSOR(WEFT_INT32, 5), VALUES(TENSOR(WEFT_INT32, 5), 0, 1, 255, INT32_MAX, -1), NULL, NULL,
	       I64(32, 31, 24, 1, 0));
}

static void arithmetic(void **state)
{
	const weft_attr zp = { .negate = { 3, -5 } }, none = { .negate = { 0, 0 } };

	(void)state;
	expect(WEFT_OP_INTDIV, NULL, TENSOR(WEFT_INT32, 5), VALUES(TENSOR(WEFT_INT32, 5), 7, -7, 7, -7, INT32_MIN),
	       VALUES(TENSOR(WEFT_INT32, 5), 2, 2, -2, -2, 1), NULL, I64(3, -3, -3, 3, INT32_MIN));
	refused(WEFT_OP_INTDIV, NULL, TENSOR(WEFT_INT32, 1), TENSOR(WEFT_INT32, 1), TENSOR(WEFT_INT32, 1), NULL,
	        "INTDIV: divisor 0 is 0");
	expect(WEFT_OP_ABS, NULL, TENSOR(WEFT_INT32, 3), VALUES(TENSOR(WEFT_INT32, 3), -5, 0, INT32_MAX), NULL, NULL,
	       I64(5, 0, INT32_MAX));
	/* -(x - 3) - 5, clipped */
	expect(WEFT_OP_NEGATE, &zp, TENSOR(WEFT_INT8, 4), VALUES(TENSOR(WEFT_INT8, 4), 3, 0, 127, -128), NULL, NULL,
	       I64(-5, -2, -128, 126));
	expect(WEFT_OP_NEGATE, &none, TENSOR(WEFT_INT16, 2), VALUES(TENSOR(WEFT_INT16, 2), -32768, 5), NULL, NULL,
	       I64(32767, -5));
	refused(WEFT_OP_NEGATE, &zp, TENSOR(WEFT_INT16, 1), TENSOR(WEFT_INT16, 1), NULL, NULL,
	        "NEGATE: input zero point 3, must be 0 for int16");
}

static void choices(void **state)
{
	(void)state;
	expect(WEFT_OP_EQUAL, NULL, TENSOR(WEFT_BOOL, 3), VALUES(TENSOR(WEFT_INT32, 3), 1, 2, 3),
	       VALUES(TENSOR(WEFT_INT32, 1), 2), NULL, I64(0, 1, 0));
	expect(WEFT_OP_GREATER, NULL, TENSOR(WEFT_BOOL, 3), VALUES(TENSOR(WEFT_INT32, 3), 1, 2, 3),
	       VALUES(TENSOR(WEFT_INT32, 1), 2), NULL, I64(0, 0, 1));
	expect(WEFT_OP_GREATER_EQUAL, NULL, TENSOR(WEFT_BOOL, 3), VALUES(TENSOR(WEFT_INT32, 3), 1, 2, 3),
	       VALUES(TENSOR(WEFT_INT32, 1), 2), NULL, I64(0, 1, 1));
	expect(WEFT_OP_SELECT, NULL, TENSOR(WEFT_INT16, 2, 3), VALUES(TENSOR(WEFT_BOOL, 2, 1), 1, 0),
	       VALUES(TENSOR(WEFT_INT16, 1, 3), 1, 2, 3), VALUES(TENSOR(WEFT_INT16, 1, 1), -9), I64(1, 2, 3, -9, -9, -9));
	refused(WEFT_OP_SELECT, NULL, TENSOR(WEFT_INT16, 3), TENSOR(WEFT_BOOL, 2), TENSOR(WEFT_INT16, 3), TENSOR(WEFT_INT16, 3),
	        "SELECT: dimension 0: 2, 3, 3 -> 3 do not broadcast");
}

static void reductions(void **state)
{
	const weft_attr a = { .axis = { 1, 0 } };

	(void)state;
	expect(WEFT_OP_REDUCE_ALL, &a, TENSOR(WEFT_BOOL, 2, 1), VALUES(TENSOR(WEFT_BOOL, 2, 3), 1, 1, 1, 1, 0, 1), NULL, NULL,
	       I64(1, 0));
	expect(WEFT_OP_REDUCE_ANY, &a, TENSOR(WEFT_BOOL, 2, 1), VALUES(TENSOR(WEFT_BOOL, 2, 3), 0, 0, 0, 0, 0, 1), NULL, NULL,
	       I64(0, 1));
}

static void layout(void **state)
{
	const weft_attr axis = { .axis = { 1, 0 } }, tile = { .tile = { { 2, 1, 3 } } }, wrong = { .tile = { { 2, 1, 0 } } };

	(void)state;
	expect(WEFT_OP_REVERSE, &axis, TENSOR(WEFT_INT32, 2, 3), VALUES(TENSOR(WEFT_INT32, 2, 3), 1, 2, 3, 4, 5, 6), NULL, NULL,
	       I64(3, 2, 1, 6, 5, 4));
	expect(WEFT_OP_TILE, &tile, TENSOR(WEFT_INT8, 2, 2, 3), VALUES(TENSOR(WEFT_INT8, 1, 2, 1), 7, 8), NULL, NULL,
	       I64(7, 7, 7, 8, 8, 8, 7, 7, 7, 8, 8, 8));
	refused(WEFT_OP_TILE, &wrong, TENSOR(WEFT_INT8, 2, 2, 3), TENSOR(WEFT_INT8, 1, 2, 1), NULL, NULL,
	        "TILE: dimension 2: 1 times 0 is not 3");
}

static void gather_scatter(void **state)
{
	(void)state;
	expect(WEFT_OP_GATHER, NULL, TENSOR(WEFT_INT16, 2, 3, 2), VALUES(TENSOR(WEFT_INT16, 2, 2, 2), 1, 2, 3, 4, 5, 6, 7, 8),
	       VALUES(TENSOR(WEFT_INT32, 2, 3), 1, 0, 1, 0, 0, 1), NULL, I64(3, 4, 1, 2, 3, 4, 5, 6, 5, 6, 7, 8));
	expect(WEFT_OP_SCATTER, NULL, TENSOR(WEFT_INT8, 1, 3, 2), VALUES(TENSOR(WEFT_INT8, 1, 3, 2), 1, 2, 3, 4, 5, 6),
	       VALUES(TENSOR(WEFT_INT32, 1, 2), 2, 0), VALUES(TENSOR(WEFT_INT8, 1, 2, 2), -1, -2, -3, -4),
	       I64(-3, -4, 3, 4, -1, -2));
	refused(WEFT_OP_GATHER, NULL, TENSOR(WEFT_INT16, 1, 1, 2), TENSOR(WEFT_INT16, 1, 2, 2), VALUES(TENSOR(WEFT_INT32, 1, 1), 2),
	        NULL, "GATHER: index 0 is 2, outside 0..1");
	refused(WEFT_OP_SCATTER, NULL, TENSOR(WEFT_INT8, 1, 2, 1), TENSOR(WEFT_INT8, 1, 2, 1), VALUES(TENSOR(WEFT_INT32, 1, 1), -1),
	        TENSOR(WEFT_INT8, 1, 1, 1), "SCATTER: index 0 is -1, outside 0..1");
}

/* One row of 0, 4 twice as wide: samples at 0, 1/2, 1. */
static void resize(void **state)
{
	weft_attr a = { .resize = { 1, 1, 2, 1, 0, 0, 0, 0, WEFT_RESIZE_BILINEAR } };

	(void)state;
	/* Not divided by 1 * 2. */
	expect(WEFT_OP_RESIZE, &a, TENSOR(WEFT_INT32, 1, 1, 3, 1), VALUES(TENSOR(WEFT_INT8, 1, 1, 2, 1), 0, 4), NULL, NULL,
	       I64(0, 4, 8));
	expect(WEFT_OP_RESIZE, &a, TENSOR(WEFT_INT48, 1, 1, 3, 1), VALUES(TENSOR(WEFT_INT16, 1, 1, 2, 1), -32768, 32767), NULL,
	       NULL, I64(-65536, -1, 65534));
	a.resize.mode = WEFT_RESIZE_NEAREST;
	/* Half-way goes up. */
	expect(WEFT_OP_RESIZE, &a, TENSOR(WEFT_INT8, 1, 1, 3, 1), VALUES(TENSOR(WEFT_INT8, 1, 1, 2, 1), 3, 4), NULL, NULL,
	       I64(3, 4, 4));
	/* Offset -1/2 and border 1/2: from -1/2 to 3/2, clamped to the image. */
	a.resize.offset_x = -1;
	a.resize.border_x = 1;
	expect(WEFT_OP_RESIZE, &a, TENSOR(WEFT_INT8, 1, 1, 5, 1), VALUES(TENSOR(WEFT_INT8, 1, 1, 2, 1), 3, 4), NULL, NULL,
	       I64(3, 3, 4, 4, 4));
	a.resize.scale_x_n = 2049;
	refused(WEFT_OP_RESIZE, &a, TENSOR(WEFT_INT8, 1, 1, 5, 1), TENSOR(WEFT_INT8, 1, 1, 2, 1), NULL, NULL,
	        "RESIZE: width: scale 2049/1, must be 1..2048 / 1..16*numerator-1");
}

/* With a depth of 1 a 3-D convolution is a 2-D one. */
static void conv3d_of_depth_one(void **state)
{
	uint64_t r = 5;
	weft_tensor *x = tensor_random(TENSOR(WEFT_INT8, 2, 1, 5, 6, 3), &r), *w = tensor_random(TENSOR(WEFT_INT8, 4, 1, 3, 2, 3), &r);
	weft_tensor *b = tensor_random(TENSOR(WEFT_INT32, 4), &r), *y = TENSOR(WEFT_INT32, 2, 1, 3, 7, 4);
	weft_tensor *flat = TENSOR(WEFT_INT32, 2, 3, 7, 4), x2 = *x, w2 = *w;
	const weft_attr a3 = { .conv3d = { .pad = { 0, 0, 1, 1, 1, 1 }, .stride = { 1, 2, 1 }, .dilation = { 1, 1, 1 }, .x_zp = -7,
	                                   .w_zp = 3, .acc = WEFT_INT32 } };
	const weft_attr a2 = { .conv = { .pad = { 1, 1, 1, 1 }, .stride = { 2, 1 }, .dilation = { 1, 1 }, .x_zp = -7, .w_zp = 3,
	                                 .acc = WEFT_INT32 } };

	(void)state;
	x2.rank = w2.rank = 4;
	for (int i = 1; i < 4; i++) {
		x2.dim[i] = x->dim[i + 1];
		w2.dim[i] = w->dim[i + 1];
	}
	assert_int_equal(golden(WEFT_OP_CONV3D, &a3, y, x, w, b), 0);
	assert_int_equal(golden(WEFT_OP_CONV2D, &a2, flat, &x2, &w2, b), 0);
	assert_memory_equal(y->data, flat->data, weft_tensor_bytes(y));
	tensor_free(x);
	tensor_free(w);
	tensor_free(b);
	tensor_free(y);
	tensor_free(flat);
}

/* Two depths: the sum of two convolutions of depth one. */
static void conv3d_of_depth_two(void **state)
{
	const weft_attr a = { .conv3d = { .stride = { 1, 1, 1 }, .dilation = { 2, 1, 1 }, .acc = WEFT_INT32 } };

	(void)state;
	/* x over depth: 1, 10, 100, 50; weights 2 and 3, two apart */
	expect(WEFT_OP_CONV3D, &a, TENSOR(WEFT_INT32, 1, 2, 1, 1, 1), VALUES(TENSOR(WEFT_INT8, 1, 4, 1, 1, 1), 1, 10, 100, 50),
	       VALUES(TENSOR(WEFT_INT8, 1, 2, 1, 1, 1), 2, 3), VALUES(TENSOR(WEFT_INT32, 1), 1000), I64(1302, 1170));
}

static void transposed(void **state)
{
	weft_attr a = { .conv = { .stride = { 1, 2 }, .dilation = { 1, 1 }, .acc = WEFT_INT32 } };

	(void)state;
	/* 1, 2 spread by 2 and 10, 20, 30 laid over: 10 20 30+20 40 60 */
	expect(WEFT_OP_TRANSPOSE_CONV2D, &a, TENSOR(WEFT_INT32, 1, 1, 5, 1), VALUES(TENSOR(WEFT_INT8, 1, 1, 2, 1), 1, 2),
	       VALUES(TENSOR(WEFT_INT8, 1, 1, 3, 1), 10, 20, 30), VALUES(TENSOR(WEFT_INT32, 1), 0), I64(10, 20, 50, 40, 60));
	/* One off the left, one more on the right; the zero point counts only where there is input. */
	a.conv.pad[2] = -1;
	a.conv.pad[3] = 1;
	a.conv.x_zp = 1;
	expect(WEFT_OP_TRANSPOSE_CONV2D, &a, TENSOR(WEFT_INT32, 1, 1, 5, 1), VALUES(TENSOR(WEFT_INT8, 1, 1, 2, 1), 2, 3),
	       VALUES(TENSOR(WEFT_INT8, 1, 1, 3, 1), 10, 20, 30), VALUES(TENSOR(WEFT_INT32, 1), 7), I64(27, 57, 47, 67, 7));
	a.conv.pad[2] = -3;
	refused(WEFT_OP_TRANSPOSE_CONV2D, &a, TENSOR(WEFT_INT32, 1, 1, 3, 1), TENSOR(WEFT_INT8, 1, 1, 2, 1),
	        TENSOR(WEFT_INT8, 1, 1, 3, 1), TENSOR(WEFT_INT32, 1), "TRANSPOSE_CONV2D: width: output pads -3, 1, must be above -3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shifts),
		cmocka_unit_test(bits),
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(choices),
		cmocka_unit_test(reductions),
		cmocka_unit_test(layout),
		cmocka_unit_test(gather_scatter),
		cmocka_unit_test(resize),
		cmocka_unit_test(conv3d_of_depth_one),
		cmocka_unit_test(conv3d_of_depth_two),
		cmocka_unit_test(transposed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

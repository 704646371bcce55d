/* SPDX-License-Identifier: Apache-2.0 */
/* Multiplications of operators that the host computes by kernels of their own: weft_node_macs(). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/golden/onnx/ref/onnx_ref.h"
#include "userlib/compile/program.h"

#define SHAPE(...) { .dtype = WEFT_FP32, .rank = sizeof((int64_t[]){ __VA_ARGS__ }) / 8, .dim = { __VA_ARGS__ } }

/* A node of that name with n operands of those shapes, of which those in `absent` are not there, and one result. */
static uint64_t count(const char *domain, const char *name, int n, const weft_tensor *t, int64_t absent, weft_tensor y)
{
	struct weft_gtensor tensors[10] = { 0 };
	int in[9], out = n, all = n;

	for (int k = 0; k < n; k++) {
		tensors[k].t = t[k];
		in[k] = k;
	}
	tensors[n].t = y;
	for (int64_t bits = absent; bits; bits >>= 1)
		all += bits & 1;
	const weft_graph g = { .tensors = tensors, .n_tensors = n + 1 };
	struct weft_gop o = { .op = WEFT_OP_ONNX_NODE, .n_in = n, .n_out = 1, .in = in, .out = &out };
	o.attr.onnx_node.kind = weft_onnx_ref_find(domain, name);
	o.attr.onnx_node.n_in = all;
	o.attr.onnx_node.absent = absent;
	assert_true(o.attr.onnx_node.kind >= 0);
	return weft_node_macs(&g, &o);
}

static void products(void **state)
{
	const weft_tensor matrices[] = { SHAPE(2, 3, 5), SHAPE(5, 7) }, turned[] = { SHAPE(5, 3), SHAPE(7, 5) };
	const weft_tensor image[] = { SHAPE(1, 4, 8, 8), SHAPE(6, 2, 3, 3) };

	(void)state;
	assert_int_equal(count("", "MatMul", 2, matrices, 0, (weft_tensor)SHAPE(2, 3, 7)), 2 * 3 * 5 * 7);
	assert_int_equal(count("onnxruntime", "MatMul", 2, matrices, 0, (weft_tensor)SHAPE(2, 3, 7)), 2 * 3 * 5 * 7);
	assert_int_equal(count("onnxruntime", "Gemm", 2, turned, 0, (weft_tensor)SHAPE(3, 7)), 3 * 5 * 7);
	assert_int_equal(count("onnxruntime", "Conv", 2, image, 0, (weft_tensor)SHAPE(1, 6, 6, 6)), 6 * 36 * 2 * 9);
	assert_int_equal(count("", "ConvTranspose", 2, (weft_tensor[]){ SHAPE(1, 4, 8, 8), SHAPE(4, 6, 2, 2) }, 0, (weft_tensor)SHAPE(1, 6, 16, 16)), 4 * 64 * 6 * 4);
	assert_int_equal(count("", "Softmax", 1, matrices, 0, matrices[0]), 0);
	/* Two operands, and no product of them. */
	assert_int_equal(count("", "Gather", 2, matrices, 0, matrices[0]), 0);
}

static void recurrent(void **state)
{
	const weft_tensor onnx[] = { SHAPE(9, 2, 5), SHAPE(1, 12, 5), SHAPE(1, 12, 3), SHAPE(1, 2, 3) };
	const weft_tensor lite[] = { SHAPE(9, 2, 5), SHAPE(3, 5), SHAPE(3, 3), SHAPE(3) };
	const weft_tensor coupled[] = { SHAPE(9, 2, 5), SHAPE(4, 5), SHAPE(4, 5), SHAPE(4, 5), SHAPE(4, 4), SHAPE(4, 4), SHAPE(4, 4) };

	(void)state;
	/* operand 3, the bias, and 4, the lengths, are absent; 5 is a state, which multiplies nothing */
	assert_int_equal(count("", "LSTM", 4, onnx, 1 << 3 | 1 << 4, (weft_tensor)SHAPE(9, 1, 2, 3)), 9 * 2 * (12 * 5 + 12 * 3));
	assert_int_equal(count("tflite", "SequenceRNN", 4, lite, 0, (weft_tensor)SHAPE(9, 2, 3)), 9 * 2 * (3 * 5 + 3 * 3));
	/* without the first gate */
	assert_int_equal(count("tflite", "SequenceLSTM", 7, coupled, 1 << 1 | 1 << 5, (weft_tensor)SHAPE(9, 2, 4)), 9 * 2 * 3 * (4 * 5 + 4 * 4));
}

static void attention(void **state)
{
	const weft_tensor t[] = { SHAPE(1, 4, 6, 8), SHAPE(1, 4, 10, 8), SHAPE(1, 4, 10, 5), SHAPE(1, 4, 3, 8), SHAPE(1, 4, 3, 5) };
	char equation[] = "abc,cd->abd";
	const weft_tensor sum[] = { SHAPE(2, 3, 5), SHAPE(5, 7), { .dtype = WEFT_UINT8, .rank = 1, .dim = { 11 }, .data = equation } };

	(void)state;
	/* operand 3, the mask, is absent; keys and values of 3 steps came before */
	assert_int_equal(count("", "Attention", 5, t, 1 << 3, (weft_tensor)SHAPE(1, 4, 6, 5)), 4 * 6 * (10 + 3) * (8 + 5));
	assert_int_equal(count("", "Einsum", 3, sum, 0, (weft_tensor)SHAPE(2, 3, 7)), 2 * 3 * 5 * 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(products), cmocka_unit_test(recurrent), cmocka_unit_test(attention) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container's bytes of every operator's attributes, against a list by hand: what is
 * written is the list, and what is read from the list are the attributes. Reader and writer
 * are one function, so that no round trip would see a field that both of them leave out.
 */
#define _GNU_SOURCE           /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "userlib/compile/file/save_program.h"
#include "userlib/graph/save.h"

/* Values in the container's order: b a byte, i four bytes, l eight, f and d floats of four and eight. */
struct saved {
	weft_opcode op;
	weft_attr a;
	const char *bytes;
};

#define CONV { .conv = { { 1, 2, 3, 4 }, { 5, 6 }, { 7, 8 }, 9, -10, WEFT_INT48, true, -11, true } }
#define CONV_BYTES "i1 i2 i3 i4 i5 i6 i7 i8 i9 i-10 i8 b1 i-11 b1"
#define POOL { .pool = { { 1, 2 }, { 3, 4 }, { 5, 6, 7, 8 }, 9, -10, WEFT_FP16, WEFT_NAN_IGNORE, true } }
#define POOL_BYTES "i1 i2 i3 i4 i5 i6 i7 i8 i9 i-10 i14 i2 b1"
#define AXIS { .axis = { 3, WEFT_NAN_IGNORE, true } }
#define AXIS_BYTES "i3 i2 b1"
#define QUANT { .quant = { 0.5f, -3, 0.25f, 4 } }
#define QUANT_BYTES "f0.5 i-3 f0.25 i4"
#define SHIFT { .requant_shift = { 5, -6, 7 } }
#define SHIFT_BYTES "i5 i-6 i7"

/* Ten numbers that follow each other, as values and as text. */
#define FROM(v) v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8, v + 9
#define TEN(v) "i" #v "0 i" #v "1 i" #v "2 i" #v "3 i" #v "4 i" #v "5 i" #v "6 i" #v "7 i" #v "8 i" #v "9 "

static const struct saved cases[] = {
	{ WEFT_OP_CONV2D, CONV, CONV_BYTES },
	{ WEFT_OP_DEPTHWISE_CONV2D, CONV, CONV_BYTES },
	{ WEFT_OP_TRANSPOSE_CONV2D, CONV, CONV_BYTES },
	{ WEFT_OP_POPXL_CONV_POW2SCALED, CONV, CONV_BYTES },
	{ WEFT_OP_CONV3D, { .conv3d = { { 1, 2, 3, 4, 5, 6 }, { 7, 8, 9 }, { 10, 11, 12 }, 13, -14, WEFT_INT32, true } },
	  "i1 i2 i3 i4 i5 i6 i7 i8 i9 i10 i11 i12 i13 i-14 i7 b1" },
	{ WEFT_OP_AVG_POOL2D, POOL, POOL_BYTES },
	{ WEFT_OP_MAX_POOL2D, POOL, POOL_BYTES },
	{ WEFT_OP_FFT2D, { .fft = { true, true } }, "b1 b1" },
	{ WEFT_OP_RFFT2D, { .fft = { true, true } }, "b1 b1" },
	{ WEFT_OP_ARGMAX, AXIS, AXIS_BYTES },
	{ WEFT_OP_REDUCE_ALL, AXIS, AXIS_BYTES },
	{ WEFT_OP_REDUCE_ANY, AXIS, AXIS_BYTES },
	{ WEFT_OP_REDUCE_MAX, AXIS, AXIS_BYTES },
	{ WEFT_OP_REDUCE_MIN, AXIS, AXIS_BYTES },
	{ WEFT_OP_REDUCE_PRODUCT, AXIS, AXIS_BYTES },
	{ WEFT_OP_REDUCE_SUM, AXIS, AXIS_BYTES },
	{ WEFT_OP_CONCAT, AXIS, AXIS_BYTES },
	{ WEFT_OP_REVERSE, AXIS, AXIS_BYTES },
	{ WEFT_OP_MAXIMUM, { .nan = { WEFT_NAN_IGNORE } }, "i2" },
	{ WEFT_OP_MINIMUM, { .nan = { WEFT_NAN_PROPAGATE } }, "i1" },
	{ WEFT_OP_ARITHMETIC_RIGHT_SHIFT, { .shift = { true } }, "b1" },
	{ WEFT_OP_NEGATE, { .negate = { 5, -6 } }, "i5 i-6" },
	{ WEFT_OP_TILE, { .tile = { { 1, 2, 3, 4, 5, 6, 7, 8 } } }, "i1 i2 i3 i4 i5 i6 i7 i8" },
	{ WEFT_OP_RESIZE, { .resize = { 1, 2, 3, 4, -5, 6, -7, 8, WEFT_RESIZE_BILINEAR } }, "i1 i2 i3 i4 i-5 i6 i-7 i8 i2" },
	{ WEFT_OP_MATMUL, { .matmul = { 1, -2, 3, true } }, "i1 i-2 i3 b1" },
	{ WEFT_OP_CLAMP, { .clamp = { -1, 70000000000, -1.5, 2.5, WEFT_NAN_IGNORE } }, "l-1 l70000000000 d-1.5 d2.5 i2" },
	{ WEFT_OP_MUL, { .mul = { 31 } }, "i31" },
	{ WEFT_OP_PAD, { .pad = { { 1, 2, 3, 4, 5, 6, 7, 8 }, { 9, 10, 11, 12, 13, 14, 15, 16 }, -17, 18.5 } },
	  "i1 i2 i3 i4 i5 i6 i7 i8 i9 i10 i11 i12 i13 i14 i15 i16 l-17 d18.5" },
	{ WEFT_OP_SLICE, { .slice = { { 1, 2, 3, 4, 5, 6, 7, 80000000000 } } }, "l1 l2 l3 l4 l5 l6 l7 l80000000000" },
	{ WEFT_OP_TRANSPOSE, { .perm = { { 7, 6, 5, 4, 3, 2, 1, 9 } } }, "i7 i6 i5 i4 i3 i2 i1 i9" },
	{ WEFT_OP_RESCALE, { .rescale = { true, WEFT_EVEN_ROUND, true, true, true, -3, 4 } }, "b1 i4 b1 b1 b1 i-3 i4" },
	{ WEFT_OP_VARIABLE_READ, { .variable = { 3 } }, "i3" },
	{ WEFT_OP_VARIABLE_WRITE, { .variable = { 4 } }, "i4" },
	{ WEFT_OP_TFL_SOFTMAX, { .tfl_softmax = { 0.5f, 2, true } }, "f0.5 f2 b1" },
	{ WEFT_OP_TFL_LOG_SOFTMAX, { .tfl_softmax = { .x_scale = 0.5f } }, "f0.5" },
	{ WEFT_OP_TFL_L2_NORMALIZATION, { .tfl_norm = { -3, 7 } }, "i-3 i7" },
	{ WEFT_OP_TFL_RESIZE_BILINEAR, { .tfl_resize = { true, true, true } }, "b1 b1 b1" },
	{ WEFT_OP_TFL_LSTM, { .tfl_lstm = { true, 1, -2, -3, 4, { { 5, 6 }, { 7, 8 }, { 9, 10 }, { 11, 12 } },
	                                    { { 13, 14 }, { 15, 16 }, { 17, 18 }, { 19, 20 } }, { 21, 22 }, { 23, 24 }, { 25, 26 } } },
	  "b1 i1 i-2 i-3 i4 i5 i6 i7 i8 i9 i10 i11 i12 i13 i14 i15 i16 i17 i18 i19 i20 i21 i22 i23 i24 i25 i26" },
	{ WEFT_OP_TFL_LOGISTIC, QUANT, QUANT_BYTES },
	{ WEFT_OP_TFL_REQUANTIZE, QUANT, QUANT_BYTES },
	{ WEFT_OP_TFL_FUNCTION, { .tfl_function = { 3 } }, "i3" },
	{ WEFT_OP_TFL_HYBRID, { .tfl_hybrid = { true } }, "b1" },
	{ WEFT_OP_TFL_QUOTIENT, { .tfl_quotient = { 1, -2, 3, 4, -5 } }, "i1 i-2 i3 i4 i-5" },
	{ WEFT_OP_TFL_CUSTOM, { .tfl_custom = { 1, 2, 3, 4, { 0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f, 8.5f, 9.5f, 10.5f, 11.5f,
	                                        12.5f, 13.5f, 14.5f, 15.5f }, { FROM(100), 110, 111, 112, 113, 114, -115 },
	                                        { 16.5f, 17.5f, 18.5f, 19.5f, 20.5f, 21.5f, 22.5f, 23.5f }, { 1, 2, 3, 4, 5, 6, 7, -8 }, NULL } },
	  "i1 i2 i3 i4 f0.5 f1.5 f2.5 f3.5 f4.5 f5.5 f6.5 f7.5 f8.5 f9.5 f10.5 f11.5 f12.5 f13.5 f14.5 f15.5 " TEN(10)
	  "i110 i111 i112 i113 i114 i-115 f16.5 f17.5 f18.5 f19.5 f20.5 f21.5 f22.5 f23.5 i1 i2 i3 i4 i5 i6 i7 i-8" },
	{ WEFT_OP_TFL_TANH, QUANT, QUANT_BYTES },
	{ WEFT_OP_TFL_QUANTIZE, QUANT, QUANT_BYTES },
	{ WEFT_OP_TFL_DEQUANTIZE, QUANT, QUANT_BYTES },
	{ WEFT_OP_ONNX_REQUANT, { .onnx = { true, WEFT_FP32, 0 } }, "b1 i16" },
	{ WEFT_OP_ONNX_NODE, { .onnx_node = { 1, 2, 3, 40000000000, { FROM(100), FROM(110), FROM(120), FROM(130), FROM(140), FROM(150) },
	                                      { 0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f, 8.5f, 9.5f, 10.5f, 11.5f, 12.5f, 13.5f } } },
	  "i1 i2 i3 l40000000000 " TEN(10) TEN(11) TEN(12) TEN(13) TEN(14) TEN(15)
	  "f0.5 f1.5 f2.5 f3.5 f4.5 f5.5 f6.5 f7.5 f8.5 f9.5 f10.5 f11.5 f12.5 f13.5" },
	{ WEFT_OP_ONNX_QUANTIZE, { .onnx = { true, WEFT_FP32, 0 } }, "b1 i16" },
	{ WEFT_OP_ONNX_FAKE_CONVERT, { .onnx = { true, WEFT_FP8E5M2, 0 } }, "b1 i11" },
	{ WEFT_OP_ONNX_CAST, { .onnx = { true, 0, 2 } }, "b1 i2" },
	{ WEFT_OP_ONNX_REQUANT_SHIFT, SHIFT, SHIFT_BYTES },
	{ WEFT_OP_PACT_LAYER_NORM, SHIFT, SHIFT_BYTES },
	{ WEFT_OP_PACT_DIV, { .pact_div = { 1, 2, 3, true } }, "i1 i2 i3 b1" },
	{ WEFT_OP_PACT_SOFTMAX, { .pact_softmax = { 1, 2, 3, 4, 50000000000 } }, "i1 i2 i3 i4 l50000000000" },
	{ WEFT_OP_PACT_ITA_MAX, { .pact_ita_max = { 1, 2 } }, "i1 i2" },
};
enum { N_CASES = sizeof cases / sizeof *cases };

static size_t put(uint8_t *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> (8 * i));
	return (size_t)n;
}

static size_t encode(const char *text, uint8_t *p)
{
	size_t n = 0;
	uint64_t bits = 0;
	float f;
	double d;

	for (; *text; text += strcspn(text, " "), text += *text == ' ') {
		switch (*text) {
		case 'b': n += put(p + n, (uint64_t)atoll(text + 1), 1); break;
		case 'i': n += put(p + n, (uint64_t)atoll(text + 1), 4); break;
		case 'l': n += put(p + n, (uint64_t)atoll(text + 1), 8); break;
		case 'f':
			f = (float)atof(text + 1);
			memcpy(&bits, &f, sizeof f);
			n += put(p + n, bits, 4);
			break;
		default:
			d = atof(text + 1);
			memcpy(&bits, &d, sizeof d);
			n += put(p + n, bits, 8);
		}
	}
	return n;
}

static void written(void **state)
{
	(void)state;
	for (int i = 0; i < N_CASES; i++) {
		uint8_t want[512];
		const size_t n = encode(cases[i].bytes, want);
		struct io io = { .write = true };
		weft_attr a = cases[i].a;

		save_attributes(&io, cases[i].op, &a);
		assert_int_equal(io.err, 0);
		if (io.n != n || memcmp(io.p, want, n))
			fail_msg("%s: %zu bytes, or others than %s", weft_op_name(cases[i].op), io.n, cases[i].bytes);
		free(io.p);
	}
}

static void read_back(void **state)
{
	(void)state;
	for (int i = 0; i < N_CASES; i++) {
		uint8_t bytes[512];
		struct io io = { .p = bytes, .n = encode(cases[i].bytes, bytes) };
		weft_attr a;

		memset(&a, 0, sizeof a);
		save_attributes(&io, cases[i].op, &a);
		assert_int_equal(io.err, 0);
		assert_int_equal(io.at, io.n);
		if (memcmp(&a, &cases[i].a, sizeof a))
			fail_msg("%s: attributes are not those of %s", weft_op_name(cases[i].op), cases[i].bytes);
	}
}

/* Marks tensor t, which g has, as the graph's next input or its only output. */
static void mark_input(weft_graph *g, int t)
{
	g->inputs = realloc(g->inputs, sizeof(int) * (size_t)(g->n_inputs + 1));
	assert_non_null(g->inputs);
	g->inputs[g->n_inputs++] = t;
	g->tensors[t].is_input = true;
}

static void mark_output(weft_graph *g, int t)
{
	g->outputs = malloc(sizeof(int));
	assert_non_null(g->outputs);
	g->outputs[g->n_outputs++] = t;
	g->tensors[t].is_output = true;
}

/* Makes g the network y = op(x) of int8 [2], or y = op(c, x) with a condition c if op is COND_IF. */
static void one_operator(weft_graph *g, weft_opcode op, const weft_attr *a)
{
	const int n_in = op == WEFT_OP_COND_IF ? 2 : 1, in[] = { 0, 1 };

	if (n_in == 2)
		assert_true(weft_graph_tensor(g, "c", WEFT_BOOL, 0, NULL) >= 0);
	for (int i = 0; i < 2; i++)
		assert_true(weft_graph_tensor(g, i ? "y" : "x", WEFT_INT8, 1, (int64_t[]){ 2 }) >= 0);
	for (int i = 0; i < n_in; i++)
		mark_input(g, i);
	mark_output(g, n_in);
	assert_int_equal(weft_graph_src(g, 7, "source"), 0);
	assert_true(weft_graph_op(g, op, a, 0, in, n_in, &n_in, 1) >= 0);
}

/*
 * The numbers of the sub-graphs that control flow runs stand behind those of its tensors, though a graph holds
 * pointers. The reader gets other numbers than the writer wrote.
 */
static void sub_graphs(void **state)
{
	weft_graph *g = weft_graph_new("outer"), *back = NULL, *subs[] = { weft_graph_new("first"), weft_graph_new("second") };
	struct io io = { .write = true };
	char msg[WEFT_MSG] = "", text[64];
	uint8_t op[64];

	(void)state;
	for (int i = 0; i < 2; i++) {
		one_operator(subs[i], WEFT_OP_IDENTITY, NULL);
		assert_int_equal(weft_graph_sub(g, subs[i]), i);
	}
	one_operator(g, WEFT_OP_COND_IF, &(weft_attr){ .flow = { { subs[1], subs[0] } } });
	save_graph(&io, &g, msg);
	assert_int_equal(io.err, 0);
	/* Code, source, numbers of operands and results, the tensors, the sub-graphs. */
	snprintf(text, sizeof text, "i%d i0 i2 i1 i0 i1 i2 i1 i0", WEFT_OP_COND_IF);
	const size_t n = encode(text, op);
	uint8_t *found = memmem(io.p, io.n, op, n);
	assert_non_null(found);
	put(found + n - 8, 0, 4);
	put(found + n - 4, 1, 4);
	struct io again = { .p = io.p, .n = io.n };
	save_graph(&again, &back, msg);
	if (again.err)
		fail_msg("%s", msg);
	assert_int_equal(back->n_subs, 2);
	assert_ptr_equal(back->ops[0].attr.flow.graph[0], back->subs[0]);
	assert_ptr_equal(back->ops[0].attr.flow.graph[1], back->subs[1]);
	weft_graph_free(back);
	weft_graph_free(g);
	free(io.p);
}

/* Every other operator has none, nor has a number that is no operator. */
static void others(void **state)
{
	bool has[WEFT_N_OPS] = { false };

	(void)state;
	for (int i = 0; i < N_CASES; i++)
		has[cases[i].op] = true;
	for (int op = -1; op <= WEFT_N_OPS; op++) {
		struct io io = { .write = true };
		weft_attr a;

		memset(&a, 1, sizeof a);
		if (op >= 0 && op < WEFT_N_OPS && has[op])
			continue;
		save_attributes(&io, (weft_opcode)op, &a);
		assert_int_equal(io.n, 0);
		assert_int_equal(io.err, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(written), cmocka_unit_test(read_back), cmocka_unit_test(sub_graphs), cmocka_unit_test(others) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft_graph_check(): broken graphs are refused with one line, and whatever it
 * lets through golden takes too.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/golden/onnx/ref/onnx_ref.h"
#include "userlib/graph/graph.h"
#include "userlib/run/golden_exec.h"

#define SHAPE(...) (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), (int64_t[]){ __VA_ARGS__ }

enum { X, W, B, M, S, ACC, Y, Z, R, SUM, P, CAT, N_TENSORS };
enum { CONV, RESCALE, CLAMP, WIDEN, REDUCE, PAD, CONCAT, N_OPS };

static void *bytes(size_t n, int v)
{
	void *p = malloc(n);

	assert_non_null(p);
	memset(p, v, n);
	return p;
}

static void op(weft_graph *g, weft_opcode code, weft_attr a, int n_in, const int *in, int out)
{
	assert_true(weft_graph_op(g, code, &a, -1, in, n_in, &out, 1) >= 0);
}

/* conv -> rescale -> clamp -> widen -> sum over columns; clamp also -> pad, concat. */
static weft_graph *build(void)
{
	weft_graph *g = weft_graph_new("test");

	assert_int_equal(weft_graph_tensor(g, "x", WEFT_INT8, SHAPE(1, 5, 5, 2)), X);
	weft_graph_const(g, "w", WEFT_INT8, SHAPE(3, 3, 3, 2), bytes(54, 1));
	weft_graph_const(g, "b", WEFT_INT32, SHAPE(3), bytes(12, 0));
	weft_graph_const(g, "m", WEFT_INT32, SHAPE(1), bytes(4, 0x40));
	weft_graph_const(g, "s", WEFT_INT8, SHAPE(1), bytes(1, 30));
	assert_true(weft_graph_tensor(g, "acc", WEFT_INT32, SHAPE(1, 5, 5, 3)) >= 0);
	assert_true(weft_graph_tensor(g, "y", WEFT_INT8, SHAPE(1, 5, 5, 3)) >= 0);
	assert_true(weft_graph_tensor(g, "z", WEFT_INT8, SHAPE(1, 5, 5, 3)) >= 0);
	assert_true(weft_graph_tensor(g, "r", WEFT_INT32, SHAPE(1, 5, 5, 3)) >= 0);
	assert_true(weft_graph_tensor(g, "sum", WEFT_INT32, SHAPE(1, 5, 1, 3)) >= 0);
	assert_true(weft_graph_tensor(g, "p", WEFT_INT8, SHAPE(1, 6, 7, 3)) >= 0);
	assert_int_equal(weft_graph_tensor(g, "cat", WEFT_INT8, SHAPE(1, 10, 5, 3)), CAT);
	op(g, WEFT_OP_CONV2D, (weft_attr){ .conv = { { 1, 1, 1, 1 }, { 1, 1 }, { 1, 1 }, 3, 0, WEFT_INT32 } }, 3,
	   (int[]){ X, W, B }, ACC);
	struct weft_attr_rescale r = { .scale32 = true, .rounding = WEFT_DOUBLE_ROUND, .y_zp = 4 };
	op(g, WEFT_OP_RESCALE, (weft_attr){ .rescale = r }, 3, (int[]){ ACC, M, S }, Y);
	op(g, WEFT_OP_CLAMP, (weft_attr){ .clamp = { .min = -5, .max = 90 } }, 1, (int[]){ Y }, Z);
	r.x_zp = 4;
	r.y_zp = 0;
	op(g, WEFT_OP_RESCALE, (weft_attr){ .rescale = r }, 3, (int[]){ Z, M, S }, R);
	op(g, WEFT_OP_REDUCE_SUM, (weft_attr){ .axis = { 2 } }, 1, (int[]){ R }, SUM);
	op(g, WEFT_OP_PAD, (weft_attr){ .pad = { .before = { 0, 1, 1 }, .after = { 0, 0, 1 }, .value = -3 } }, 1,
	   (int[]){ Z }, P);
	op(g, WEFT_OP_CONCAT, (weft_attr){ .axis = { 1 } }, 2, (int[]){ Y, Z }, CAT);
	g->tensors[X].is_input = true;
	g->inputs = malloc(sizeof(int));
	g->inputs[0] = X;
	g->n_inputs = 1;
	g->outputs = malloc(sizeof(int));
	g->outputs[0] = SUM;
	g->n_outputs = 1;
	g->tensors[SUM].is_output = true;
	return g;
}

static void good(void **state)
{
	weft_graph *g = build();
	char msg[WEFT_MSG] = "";

	(void)state;
	if (weft_graph_check(g, msg))
		fail_msg("%s", msg);
	weft_graph_free(g);
}

/* One break each. */
static void broken_bad(void **state)
{
	(void)state;
#define BREAK(change, says) \
	do { \
		weft_graph *g = build(); \
		char msg[WEFT_MSG] = ""; \
		struct weft_gop *ops = g->ops; \
		struct weft_gtensor *t = g->tensors; \
		(void)ops, (void)t; \
		change; \
		int err = weft_graph_check(g, msg); \
		if (err != -EINVAL || strcmp(msg, says)) \
			fail_msg("%s: returned %d '%s', wanted '%s'", #change, err, msg, says); \
		weft_graph_free(g); \
	} while (0)

	BREAK(t[ACC].t.dim[1] = 0, "tensor 5: dimension 1 is 0 < 1");
	BREAK(t[ACC].t.dim[1] = INT64_MAX, "tensor 5: more than 2147483647 elements");
	BREAK((t[ACC].t.dim[1] = 65536, t[ACC].t.dim[2] = 65536), "tensor 5: more than 2147483647 elements");
	BREAK(t[ACC].t.rank = 9, "tensor 5: rank 9 > 8");
	BREAK(t[ACC].t.dtype = 99, "tensor 5: type 99 is none");
	BREAK(t[X].producer = 0, "tensor 0: an input that is also computed");
	BREAK(t[W].producer = 0, "tensor 1: a constant that is also computed");
	BREAK(t[Y].producer = 2, "tensor 6: operator 2 does not produce it");
	BREAK(g->outputs[0] = 50, "output 0: tensor 50 is not one");
	BREAK(g->inputs[0] = -1, "input 0: tensor -1 is not one");
	BREAK(ops[CONV].in[0] = N_TENSORS, "operator 0 CONV2D: operand 0: tensor 12 of 12");
	BREAK(ops[RESCALE].in[0] = R, "operator 1 RESCALE: operand 0: tensor 8 is not computed before");
	BREAK(ops[CLAMP].out[0] = SUM, "tensor 7: operator 2 does not produce it");
	BREAK(ops[CLAMP].src = 0, "operator 2 CLAMP: source 0 of 0");
	char none[64];
	snprintf(none, sizeof none, "operator 2 ?: opcode %d is none", WEFT_N_OPS);
	BREAK(ops[CLAMP].op = WEFT_N_OPS, none);
	BREAK(ops[CONCAT].n_out = 0, "tensor 11: operator 6 does not produce it");
	BREAK(ops[CONV].n_in = 2, "operator 0 CONV2D: 2 inputs and 1 outputs; wants 3..3 and 1");
	BREAK(ops[CONV].attr.conv.pad[0] = -1, "operator 0 CONV2D: padding 0 is -1 < 0");
	BREAK(ops[CONV].attr.conv.stride[1] = 0, "operator 0 CONV2D: stride 0, dilation 1 < 1");
	BREAK(ops[CONV].attr.conv.stride[1] = 3, "operator 0 CONV2D: width: 4 is no multiple of stride 3");
	BREAK(ops[CONV].attr.conv.stride[1] = 2, "operator 0 CONV2D: width: output is 5, not 3");
	BREAK(ops[CONV].attr.conv.x_zp = 128, "operator 0 CONV2D: input zero point 128 outside -128..127");
	BREAK(ops[CONV].attr.conv.acc = WEFT_INT48, "operator 0 CONV2D: int8 by int8 into int48 has no row");
	BREAK(t[X].t.dim[3] = 3, "operator 0 CONV2D: weight dimension 3 is 2, not 3");
	BREAK(ops[RESCALE].attr.rescale.per_channel = true, "operator 1 RESCALE: multiplier dimension 0 is 1, not 3");
	BREAK(*(int8_t *)t[S].t.data = 63, "operator 1 RESCALE: channel 0: multiplier 1077952576, shift 63 (0 or more; 2..62)");
	BREAK(ops[RESCALE].attr.rescale.x_zp = 1, "operator 1 RESCALE: input zero point 1 outside 0..0");
	BREAK(ops[CLAMP].attr.clamp.min = 91, "operator 2 CLAMP: minimum above maximum");
	BREAK(t[R].t.dtype = WEFT_INT16, "operator 4 REDUCE_SUM: operand 0 is int16, which has no row");
	BREAK(ops[REDUCE].attr.axis.axis = 4, "operator 4 REDUCE_SUM: axis 4 of rank 4");
	BREAK(ops[PAD].attr.pad.value = 128, "operator 5 PAD: constant 128 outside int8");
	BREAK(ops[PAD].attr.pad.after[3] = 1, "operator 5 PAD: result dimension 3 is 3, not 4");
	BREAK(ops[CONCAT].attr.axis.axis = 2, "operator 6 CONCAT: operand dimension 1 is 5, not 10");
}

/* A variable has elements, whatever the tensor of its number is, and also if there is no such tensor. */
static void empty_variable_bad(void **state)
{
	(void)state;
	for (int n = 0; n < 2; n++) {
		weft_graph *g = weft_graph_new("test");
		char msg[WEFT_MSG] = "";

		for (int i = 0; i < n; i++)
			assert_int_equal(weft_graph_tensor(g, "t", WEFT_INT8, SHAPE(1)), i);
		assert_int_equal(weft_graph_var(g, "v", WEFT_INT8, SHAPE(2, 0), NULL), 0);
		assert_int_equal(weft_graph_check(g, msg), -EINVAL);
		assert_string_equal(msg, "variable 0: dimension 1 is 0 < 1");
		weft_graph_free(g);
	}
}

static uint32_t draw(uint64_t *rng, uint32_t below)
{
	*rng = *rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*rng >> 33) % below);
}

/* Break attributes, wiring, and the shapes of what is computed, at random. */
static void damage(weft_graph *g, uint64_t *rng)
{
	struct weft_gop *o = &g->ops[draw(rng, (uint32_t)g->n_ops)];
	struct weft_gtensor *t = &g->tensors[draw(rng, (uint32_t)g->n_tensors)];

	switch (draw(rng, 5)) {
	case 0:
		((int32_t *)&o->attr)[draw(rng, 10)] = (int32_t)draw(rng, 7) - 2;
		break;
	case 1:
		((uint8_t *)&o->attr)[draw(rng, 40)] ^= (uint8_t)(1u << draw(rng, 8));
		break;
	case 2:
		o->in[draw(rng, (uint32_t)o->n_in)] = (int)draw(rng, (uint32_t)g->n_tensors + 2) - 1;
		break;
	case 3:
		o->op = (weft_opcode)draw(rng, WEFT_N_OPS + 1);
		break;
	default:
		if (t->t.data)
			break;
		if (draw(rng, 4))
			t->t.dim[draw(rng, 4)] = draw(rng, 8);
		else
			t->t.dtype = (weft_dtype)draw(rng, WEFT_N_DTYPES + 1);
	}
}

/* Random bytes may not be read as bool: keep those that golden reads to 0 and 1. */
static void keep_bools(weft_graph *g)
{
	for (int i = 0; i < g->n_ops; i++) {
		uint8_t *a = (uint8_t *)&g->ops[i].attr;
		if (g->ops[i].op == WEFT_OP_ARITHMETIC_RIGHT_SHIFT)
			a[offsetof(struct weft_attr_shift, round)] &= 1;
		if (g->ops[i].op == WEFT_OP_FFT2D)
			a[offsetof(struct weft_attr_fft, inverse)] &= 1;
		if (g->ops[i].op == WEFT_OP_TFL_RESIZE_BILINEAR) {
			a[offsetof(struct weft_attr_tfl_resize, align_corners)] &= 1;
			a[offsetof(struct weft_attr_tfl_resize, half_pixel)] &= 1;
			a[offsetof(struct weft_attr_tfl_resize, raw_uint8)] &= 1;
		}
		if (g->ops[i].op == WEFT_OP_TFL_LSTM)
			a[offsetof(struct weft_attr_tfl_lstm, time_major)] &= 1;
		if (g->ops[i].op != WEFT_OP_RESCALE)
			continue;
		a[offsetof(struct weft_attr_rescale, scale32)] &= 1;
		a[offsetof(struct weft_attr_rescale, per_channel)] &= 1;
		a[offsetof(struct weft_attr_rescale, x_unsigned)] &= 1;
		a[offsetof(struct weft_attr_rescale, y_unsigned)] &= 1;
	}
}

/* What depends on a tensor's values only golden can see. */
static bool about_values(const char *msg)
{
	return strstr(msg, ": shift ") || strstr(msg, ": divisor ") || strstr(msg, ": index ");
}

static void accepted_by_golden(void **state)
{
	int passed = 0;

	(void)state;
	for (int i = 0; i < 40000; i++) {
		uint64_t rng = (uint64_t)i * 77777 + 1;
		weft_graph *g = build();
		char msg[WEFT_MSG] = "";
		for (uint32_t k = draw(&rng, 3) + 1; k; k--)
			damage(g, &rng);
		keep_bools(g);
		if (!weft_graph_check(g, msg)) {
			weft_tensor all[N_TENSORS], x = g->tensors[X].t;
			x.data = calloc(1, weft_tensor_bytes(&x));
			int err = weft_golden_exec(g, &x, all, i & 1, msg);
			if (err && err != -ENOTSUP && !about_values(msg))
				fail_msg("damage %d: check passes, golden says: %s", i, msg);
			weft_golden_release(g, all);
			free(x.data);
			passed++;
		} else {
			assert_true(msg[0] && !strchr(msg, '\n'));
		}
		weft_graph_free(g);
	}
	assert_in_range(passed, 400, 20000);    /* neither all nor nothing */
}

/* Unique of 8192 numbers compares each with each to know its shape: four may be in a graph, which are 2^28 comparisons. */
static void comparisons(void **state)
{
	(void)state;
	for (int n = 4; n <= 5; n++) {
		weft_graph *g = weft_graph_new("unique");
		weft_attr a = { .onnx_node = { .kind = weft_onnx_ref_find("", "Unique"), .opset = 11, .n_in = 1, .i = { WEFT_ONNX_ABSENT, 1 } } };
		char msg[WEFT_MSG] = "";
		const int x = weft_graph_const(g, "x", WEFT_FP32, SHAPE(8192), bytes(4 * 8192, 0));

		for (int i = 0; i < n; i++) {
			const int y = weft_graph_tensor(g, "y", WEFT_FP32, SHAPE(1));
			assert_int_equal(weft_graph_op(g, WEFT_OP_ONNX_NODE, &a, -1, &x, 1, &y, 1), i);
		}
		const int err = weft_graph_check(g, msg);
		if (err != (n > 4 ? -EINVAL : 0))
			fail_msg("%d of them: %d %s", n, err, msg);
		if (err)
			assert_non_null(strstr(msg, "operator 4 ONNX_NODE: finding the shapes of results takes too many comparisons"));
		weft_graph_free(g);
	}
}

/* A network of one TFL_CUSTOM with operands of int8 and fp32 and a result of that type; returns what weft_graph_check() does. */
static int check_custom(struct weft_attr_tfl_custom a, weft_dtype result, char *msg)
{
	weft_graph *g = weft_graph_new("test");
	const int in[] = { 0, 1, 2, 3 }, out = 4;

	assert_int_equal(weft_graph_const(g, "name", WEFT_INT8, SHAPE(2), bytes(2, 0)), 0);
	assert_int_equal(weft_graph_const(g, "options", WEFT_INT8, SHAPE(1), bytes(1, 0)), 1);
	assert_int_equal(weft_graph_tensor(g, "a", WEFT_INT8, SHAPE(3)), 2);
	assert_int_equal(weft_graph_tensor(g, "b", WEFT_FP32, SHAPE(3)), 3);
	assert_int_equal(weft_graph_tensor(g, "y", result, SHAPE(3)), out);
	g->tensors[2].is_input = g->tensors[3].is_input = true;
	g->inputs = malloc(2 * sizeof(int));
	g->outputs = malloc(sizeof(int));
	assert_true(g->inputs && g->outputs);
	g->inputs[0] = 2;
	g->inputs[1] = 3;
	g->n_inputs = 2;
	g->outputs[0] = out;
	g->n_outputs = 1;
	g->tensors[out].is_output = true;
	op(g, WEFT_OP_TFL_CUSTOM, (weft_attr){ .tfl_custom = a }, 4, in, out);
	int err = weft_graph_check(g, msg);
	weft_graph_free(g);
	return err;
}

/* Its attributes say which operands are there, and which of them and of the results count as uint8. */
static void custom_bad(void **state)
{
	static const struct { struct weft_attr_tfl_custom a; weft_dtype result; const char *says; } cases[] = {
		{ { .n_in = 2, .unsigned_in = 1, .unsigned_out = 1 }, WEFT_INT8, NULL },
		{ { .n_in = 3, .absent = 2, .unsigned_in = 1 }, WEFT_FP32, NULL },
		{ { .n_in = 3, .absent = 2, .unsigned_in = 4 }, WEFT_FP32, "operand 2 is float32, not int8" },
		{ { .n_in = 2, .unsigned_in = 2 }, WEFT_INT8, "operand 1 is float32, not int8" },
		{ { .n_in = 2, .unsigned_out = 1 }, WEFT_FP32, "result 0 is float32, not int8" },
		{ { .n_in = 3 }, WEFT_INT8, "operand 2 is missing" },
		{ { .n_in = 1 }, WEFT_INT8, "4 operands and 1 results; 3 and 1..8 wanted" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char msg[WEFT_MSG] = "";
		int err = check_custom(cases[i].a, cases[i].result, msg);
		if (cases[i].says ? err != -EINVAL || !strstr(msg, cases[i].says) : err)
			fail_msg("case %zu: returned %d '%s', wanted '%s'", i, err, msg, cases[i].says ? cases[i].says : "");
	}
}

/* A new tensor may have another's dimensions, though all tensors move when their array grows. Sanitizers see the old place read. */
static void shape_of_another(void **state)
{
	weft_graph *g = weft_graph_new("test");

	(void)state;
	assert_int_equal(weft_graph_tensor(g, "x", WEFT_INT8, SHAPE(3, 5)), 0);
	for (int i = 1; i < 300; i++) {
		assert_int_equal(weft_graph_tensor(g, "y", WEFT_INT8, 2, g->tensors[i - 1].t.dim), i);
		assert_true(g->tensors[i].t.dim[0] == 3 && g->tensors[i].t.dim[1] == 5 && g->tensors[i].t.dim[2] == 1);
	}
	weft_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shape_of_another),
		cmocka_unit_test(custom_bad),
		cmocka_unit_test(good),
		cmocka_unit_test(broken_bad),
		cmocka_unit_test(empty_variable_bad),
		cmocka_unit_test(comparisons),
		cmocka_unit_test(accepted_by_golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single ONNX nodes whose operands or attributes no tensor has: refused with one line that names the node. The
 * lowering to integer operators and the kernel on the host each refuse in their own words, so the words are not compared.
 * And whole graphs with something that no graph may have.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/onnx_build.h"
#include "userlib/import/onnx/onnx.h"

enum { FLOAT = 1, INT8 = 3, INT16 = 5, INT32 = 6, INT64 = 7 };

/*
 * A node y = op(x, a, b): x is [2,3], a and b are constants of int64 with n numbers (0: the node has no such operand), and
 * `attr` is an attribute that is one integer, or NULL.
 */
struct one {
	const char *op;
	int opset;
	const char *attr;
	int64_t value;
	int n[2];
	int64_t v[2][9];
};

/* Imports the graph as a model of that opset, which has other fields, too, if `more` is not NULL. Returns the errno. */
static int import_graph(struct ob *graph, const struct ob *more, int opset, char msg[WEFT_MSG])
{
	struct ob model = more ? *more : (struct ob){ 0 };
	weft_graph *g = NULL;

	ob_model(&model, graph, opset);
	int err = weft_import_onnx(model.p, model.n, "graph", NULL, &g, msg);
	free(model.p);
	if (!err)
		weft_graph_free(g);
	return err;
}

/* Imports one such node, whose x and y have this type. Returns the errno. */
static int import(const struct one *c, int type, char msg[WEFT_MSG])
{
	static const int64_t shape[2] = { 2, 3 };
	static const char *const names[] = { "a", "b" };
	struct ob graph = { 0 }, more = { 0 };

	for (int k = 0; k < 2; k++)
		if (c->n[k]) {
			const int64_t n = c->n[k];
			ob_tensor(&graph, names[k], INT64, 1, &n, c->v[k], (size_t)n * sizeof(int64_t));
		}
	if (c->attr)
		ob_attr_int(&more, c->attr, c->value);
	ob_node(&graph, c->op, c->n[1] ? "x a b" : c->n[0] ? "x a" : "x", "y", &more);
	ob_port(&graph, 11, "x", type, 2, shape);
	ob_port(&graph, 12, "y", type, 2, shape);
	return import_graph(&graph, NULL, c->opset, msg);
}

static void refused(void **state)
{
	static const struct one cases[] = {
		{ .op = "Concat", .opset = 13, .attr = "axis", .value = 5 }, { .op = "Concat", .opset = 13, .attr = "axis", .value = -3 },
		{ .op = "Flatten", .opset = 13, .attr = "axis", .value = 3 }, { .op = "Split", .opset = 13, .attr = "axis", .value = 2 },
		{ .op = "Slice", .opset = 13, .n = { 1 }, .v = { { 0 } } },
		{ .op = "Slice", .opset = 13, .n = { 2, 1 }, .v = { { 0, 0 }, { 1 } } },
		{ .op = "Tile", .opset = 13, .n = { 3 }, .v = { { 1, 1, 1 } } }, { .op = "Tile", .opset = 13, .n = { 2 }, .v = { { -1, 1 } } },
		{ .op = "Pad", .opset = 13, .n = { 3 }, .v = { { 1, 1, 1 } } }, { .op = "Pad", .opset = 13, .n = { 4 }, .v = { { -9, 0, 0, 0 } } },
		{ .op = "Pad", .opset = 13, .n = { 4 }, .v = { { INT64_C(1) << 40, 0, 0, 0 } } },
		{ .op = "Expand", .opset = 13, .n = { 1 }, .v = { { 4 } } }, { .op = "Expand", .opset = 13, .n = { 9 }, .v = { { 1, 1, 1, 1, 1, 1, 1, 2, 3 } } },
		{ .op = "Reshape", .opset = 13, .n = { 1 }, .v = { { 5 } } }, { .op = "Reshape", .opset = 13, .n = { 2 }, .v = { { -1, -1 } } },
		{ .op = "Reshape", .opset = 13, .n = { 2 }, .v = { { -1, 4 } } }, { .op = "Squeeze", .opset = 13, .n = { 1 }, .v = { { 0 } } },
		{ .op = "Unsqueeze", .opset = 13, .n = { 1 }, .v = { { 4 } } }, { .op = "Unsqueeze", .opset = 13, .n = { 2 }, .v = { { 0, 0 } } },
		{ .op = "Gather", .opset = 13, .attr = "axis", .value = 2, .n = { 1 }, .v = { { 0 } } },
		{ .op = "ReduceSum", .opset = 13, .n = { 1 }, .v = { { 2 } } }, { .op = "ReduceMax", .opset = 18, .n = { 1 }, .v = { { -3 } } },
		{ .op = "Softmax", .opset = 13, .attr = "axis", .value = 2 }, { .op = "ArgMax", .opset = 13, .attr = "axis", .value = -3 },
		{ .op = "DepthToSpace", .opset = 13, .attr = "blocksize", .value = 2 }, { .op = "SpaceToDepth", .opset = 13, .attr = "blocksize", .value = 0 },
		{ .op = "GlobalAveragePool", .opset = 13 }, { .op = "InstanceNormalization", .opset = 13 }, { .op = "Constant", .opset = 13 },
		{ .op = "Add", .opset = 13 }, { .op = "Where", .opset = 13 }, { .op = "Clip", .opset = 13, .n = { 2 }, .v = { { 0, 1 } } },
		{ .op = "TopK", .opset = 13, .n = { 1 }, .v = { { 4 } } }, { .op = "TopK", .opset = 13, .n = { 1 }, .v = { { -1 } } },
		{ .op = "NoSuchOperator", .opset = 13 },
	};
	int n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int type = FLOAT; type <= INT8; type += INT8 - FLOAT, n++) {
			char msg[WEFT_MSG] = "", head[64];
			const int err = import(&cases[i], type, msg);

			snprintf(head, sizeof head, "node 0 %s: ", cases[i].op);
			if ((err != -EINVAL && err != -ENOTSUP) || strncmp(msg, head, strlen(head)) || !msg[strlen(head)] || strchr(msg, '\n'))
				fail_msg("%s (%zu) of type %d: %d '%s'", cases[i].op, i, type, err, msg);
		}
	printf("%d nodes refused\n", n);
}

/* What is wrong with a whole graph, not with a node's operands. */
static void graphs(void **state)
{
	static const int64_t two[2] = { 2, 3 }, nine[9] = { 1, 1, 1, 1, 1, 1, 1, 2, 3 }, large[2] = { 1 << 15, 1 << 15 };
	static const char *const wants[] = { "listed twice", "computed twice", "functions of the model's own", "sparse constants", "rank 9",
		"more than 2^30 bytes", "attributes by reference" };

	(void)state;
	for (int k = 0; k < 7; k++) {
		struct ob graph = { 0 }, attributes = { 0 }, model = { 0 }, part = { 0 };
		const int rank = k == 4 ? 9 : 2;
		const int64_t *dim = k == 4 ? nine : k == 5 ? large : two;
		char msg[WEFT_MSG] = "";

		if (k == 6) {
			ob_text(&part, 1, "alpha");
			ob_text(&part, 21, "other");
			ob_sub(&attributes, 5, &part);
		}
		ob_node(&graph, k == 6 ? "LeakyRelu" : "Neg", "x", "y", &attributes);
		ob_port(&graph, 11, "x", FLOAT, rank, dim);
		ob_port(&graph, 12, "y", FLOAT, rank, dim);
		if (k == 0)
			ob_port(&graph, 11, "x", FLOAT, rank, dim);
		if (k == 1)
			ob_node(&graph, "Abs", "x", "y", NULL);
		if (k == 2) {
			ob_text(&part, 1, "own");
			ob_sub(&model, 25, &part);
		}
		if (k == 3) {
			ob_int(&part, 3, 4);
			ob_sub(&graph, 15, &part);
		}
		const int err = import_graph(&graph, &model, 17, msg);
		if ((err != -EINVAL && err != -ENOTSUP) || !strstr(msg, wants[k]))
			fail_msg("%s: %d '%s'", wants[k], err, msg);
	}
}

/* More operands than an operator of the graph takes become several. */
static void many_operands(void **state)
{
	static const int64_t two[2] = { 2, 3 }, all[2] = { 2 * 130, 3 };
	struct ob graph = { 0 }, model = { 0 }, axis = { 0 };
	char msg[WEFT_MSG] = "", in[2 * 130] = "x";
	weft_graph *g = NULL;

	(void)state;
	for (int i = 1; i < 130; i++)
		strcat(in, " x");
	ob_attr_int(&axis, "axis", 0);
	ob_node(&graph, "Concat", in, "y", &axis);
	ob_port(&graph, 11, "x", FLOAT, 2, two);
	ob_port(&graph, 12, "y", FLOAT, 2, all);
	ob_model(&model, &graph, 17);
	if (weft_import_onnx(model.p, model.n, "many", NULL, &g, msg))
		fail_msg("%s", msg);
	free(model.p);
	const weft_tensor *y = &g->tensors[g->outputs[0]].t;
	assert_int_equal(y->dim[0], 2 * 130);
	assert_int_equal(y->dim[1], 3);
	weft_graph_free(g);
}

/* Names in a file are not terminated, but have a length: a message shows no byte behind them, and 40 at most. */
static void names_end(void **state)
{
	static const char *const name[] = { "zzzzzzzz", "", "a name of sixty characters, of which forty are to be in the line" };
	static const char *const shown[] = { "\"zzzzzzzz\"", "\"\"", "\"a name of sixty characters, of which for\"" };
	static const int64_t four[1] = { 4 }, two[1] = { 2 }, index[2] = { 0, 1 }, index_dim[2] = { 2, 1 };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct ob graph = { 0 }, a = { 0 };
		char msg[WEFT_MSG] = "";

		ob_attr_text(&a, "reduction", name[k]);
		ob_tensor(&graph, "i", INT64, 2, index_dim, index, sizeof index);
		ob_node(&graph, "ScatterND", "x i u", "y", &a);
		ob_port(&graph, 11, "x", FLOAT, 1, four);
		ob_port(&graph, 11, "u", FLOAT, 1, two);
		ob_port(&graph, 12, "y", FLOAT, 1, four);
		assert_int_equal(import_graph(&graph, NULL, 21, msg), -ENOTSUP);
		if (!strstr(msg, shown[k]))
			fail_msg("%s", msg);
	}
}

/* So are names in a list. */
static void lists_of_names_end(void **state)
{
	static const char *const name[] = { "Foofoofo", "" };
	static const char *const shown[] = { "\"Foofoofo\"", "\"\"" };
	static const int64_t x[3] = { 3, 1, 2 }, w[3] = { 1, 12, 2 }, r[3] = { 1, 12, 4 }, y[4] = { 3, 1, 1, 4 };
	static const float weights[48];

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct ob graph = { 0 }, attributes = { 0 }, a = { 0 };
		char msg[WEFT_MSG] = "";

		ob_text(&a, 1, "activations");
		ob_text(&a, 9, name[k]);
		ob_text(&a, 9, "Tanh");
		ob_int(&a, 20, 8);
		ob_sub(&attributes, 5, &a);
		ob_tensor(&graph, "w", FLOAT, 3, w, weights, 24 * sizeof(float));
		ob_tensor(&graph, "r", FLOAT, 3, r, weights, 48 * sizeof(float));
		ob_node(&graph, "GRU", "x w r", "y", &attributes);
		ob_port(&graph, 11, "x", FLOAT, 3, x);
		ob_port(&graph, 12, "y", FLOAT, 4, y);
		assert_int_equal(import_graph(&graph, NULL, 21, msg), -ENOTSUP);
		if (!strstr(msg, shown[k]))
			fail_msg("%s", msg);
	}
}

/* A product of int16 whose bias has three elements for 500 columns is refused. */
static void bias_of_another_length(void **state)
{
	static const int64_t x[2] = { 5, 64 }, w[2] = { 64, 500 }, y[2] = { 5, 500 }, three[1] = { 3 };
	static const float scale = 0.01f, small = 0.0001f;
	static const int32_t bias[3] = { 1, 2, 3 }, zero;
	static int8_t weights[64 * 500];
	struct ob graph = { 0 };
	char msg[WEFT_MSG] = "";

	(void)state;
	memset(weights, 1, sizeof weights);
	ob_tensor(&graph, "s", FLOAT, 0, NULL, &scale, sizeof scale);
	ob_tensor(&graph, "bs", FLOAT, 0, NULL, &small, sizeof small);
	ob_tensor(&graph, "z16", INT16, 0, NULL, &zero, 2);
	ob_tensor(&graph, "z8", INT8, 0, NULL, &zero, 1);
	ob_tensor(&graph, "z32", INT32, 0, NULL, &zero, 4);
	ob_tensor(&graph, "wq", INT8, 2, w, weights, sizeof weights);
	ob_tensor(&graph, "bq", INT32, 1, three, bias, sizeof bias);
	ob_node(&graph, "QuantizeLinear", "x s z16", "xq", NULL);
	ob_node(&graph, "DequantizeLinear", "xq s z16", "xd", NULL);
	ob_node(&graph, "DequantizeLinear", "wq s z8", "wd", NULL);
	ob_node(&graph, "DequantizeLinear", "bq bs z32", "bd", NULL);
	ob_node(&graph, "Gemm", "xd wd bd", "m", NULL);
	ob_node(&graph, "QuantizeLinear", "m s z16", "mq", NULL);
	ob_node(&graph, "DequantizeLinear", "mq s z16", "y", NULL);
	ob_port(&graph, 11, "x", FLOAT, 2, x);
	ob_port(&graph, 12, "y", FLOAT, 2, y);
	const int err = import_graph(&graph, NULL, 21, msg);
	if ((err != -EINVAL && err != -ENOTSUP) || !*msg)
		fail_msg("%d '%s'", err, msg);
}

/* An operand that may be absent is refused, and does not count as absent, if its name is that of nothing in the file. */
static void unknown_names(void **state)
{
	static const struct { const char *op, *in; } cases[] = {
		{ "QLinearConv", "x s z w s z s z nosuch" }, { "ConvInteger", "x w nosuch" }, { "ConvInteger", "x w z nosuch" },
		{ "MatMulInteger", "x m nosuch" }, { "MatMulInteger", "x m z nosuch" }, { "QuantizeLinear", "f s nosuch" },
		{ "DequantizeLinear", "x s nosuch" }, { "Conv", "f fw nosuch" }, { "Clip", "f nosuch" }, { "Resize", "f nosuch s4" },
	};
	static const int64_t x[4] = { 1, 2, 4, 4 }, w[4] = { 3, 2, 1, 1 }, m[2] = { 4, 4 }, four[1] = { 4 };
	static const float scale = 0.01f, floats[6], scales[4] = { 1, 1, 2, 2 };
	static const int8_t weights[16] = { 1, 2, 3 }, zero;
	char known[WEFT_MSG];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ob graph = { 0 };
		char msg[WEFT_MSG] = "";

		ob_tensor(&graph, "s", FLOAT, 0, NULL, &scale, sizeof scale);
		ob_tensor(&graph, "z", INT8, 0, NULL, &zero, 1);
		ob_tensor(&graph, "w", INT8, 4, w, weights, 6);
		ob_tensor(&graph, "m", INT8, 2, m, weights, 16);
		ob_tensor(&graph, "fw", FLOAT, 4, w, floats, sizeof floats);
		ob_tensor(&graph, "s4", FLOAT, 1, four, scales, sizeof scales);
		ob_port(&graph, 11, "x", INT8, 4, x);
		ob_port(&graph, 11, "f", FLOAT, 4, x);
		ob_node(&graph, cases[i].op, cases[i].in, "y", NULL);
		ob_port(&graph, 12, "y", FLOAT, 4, x);
		const int err = import_graph(&graph, NULL, 21, msg);
		snprintf(known, sizeof known, "node 0 %s: input ", cases[i].op);
		if (err != -EINVAL || strncmp(msg, known, strlen(known)) || !strstr(msg, "\"nosuch\", is not known here"))
			fail_msg("%s %s: %d '%s'", cases[i].op, cases[i].in, err, msg);
	}
}

/*
 * Constants that take more work than an import may do, and behind them products whose zero points are constants, too, and
 * would have to be computed: the network loads, and what the import has not computed is left to the run.
 */
static void no_work_left(void **state)
{
	static const struct { int n, times; } chain[] = { { 65536, 560 }, { 4096, 48 }, { 256, 48 }, { 16, 48 }, { 1, 48 } };
	static const int64_t x[2] = { 2, 4 }, w[2] = { 4, 4 };
	static const float scale = 0.01f;
	static const int8_t weights[16] = { 1, 1 }, three = 3;
	static float ones[65536];
	struct ob graph = { 0 }, model = { 0 };
	char msg[WEFT_MSG] = "";
	int all = 0, left = 0;
	weft_graph *g = NULL;

	(void)state;
	for (size_t c = 0; c < sizeof chain / sizeof *chain; c++) {
		const int64_t dim = chain[c].n;
		char from[40], to[40];

		snprintf(from, sizeof from, "c%zu", c);
		ob_tensor(&graph, from, FLOAT, 1, &dim, ones, (size_t)dim * sizeof *ones);
		all += chain[c].times;
		for (int i = 0; i < chain[c].times; i++) {
			snprintf(to, sizeof to, "c%zu_%d", c, i);
			ob_node(&graph, "Abs", from, to, NULL);
			memcpy(from, to, sizeof from);
		}
		ob_port(&graph, 12, from, FLOAT, 1, &dim);
	}
	ob_tensor(&graph, "s", FLOAT, 0, NULL, &scale, sizeof scale);
	ob_tensor(&graph, "z", INT8, 0, NULL, &three, 1);
	ob_tensor(&graph, "w", INT8, 2, w, weights, sizeof weights);
	for (int i = 0; i < 40; i++) {
		char in[60], out[20], port[20];

		snprintf(port, sizeof port, "x%d", i);
		snprintf(in, sizeof in, "x%d s z w s z s z", i);
		snprintf(out, sizeof out, "y%d", i);
		ob_port(&graph, 11, port, INT8, 2, x);
		ob_node(&graph, "QLinearMatMul", in, out, NULL);
		ob_port(&graph, 12, out, INT8, 2, x);
	}
	ob_model(&model, &graph, 21);
	if (weft_import_onnx(model.p, model.n, "work", NULL, &g, msg))
		fail_msg("%s", msg);
	free(model.p);
	for (int i = 0; i < g->n_ops; i++)
		left += g->ops[i].op == WEFT_OP_ABS;
	assert_in_range(left, 1, all - 1);
	weft_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(refused), cmocka_unit_test(graphs), cmocka_unit_test(many_operands),
		cmocka_unit_test(names_end), cmocka_unit_test(lists_of_names_end), cmocka_unit_test(bias_of_another_length), cmocka_unit_test(no_work_left),
		cmocka_unit_test(unknown_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

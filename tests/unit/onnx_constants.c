/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants of ONNX files: nodes on wide integers are computed before the run, also where int32 does not
 * hold them; float weights that two nodes share become integers for both; an attribute that is an empty list
 * is an absent one; what ceil_mode adds behind an image does not count in averages of constants. Root and PRelu of
 * float64, with a constant slope, are the host's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/golden/onnx/ref/onnx_ref.h"
#include "tests/support/onnx_build.h"
#include "userlib/import/onnx/onnx.h"

enum { FLOAT = 1, INT8 = 3, INT64 = 7, DOUBLE = 11, UINT32 = 12, UINT64 = 13 };

/*
 * Imports the model of a graph, which is empty afterwards, with options *o (NULL: none). Returns the network; if the import
 * fails, so does the test, with `name` in its message.
 */
static weft_graph *imported(struct ob *graph, int opset, const struct weft_onnx_options *o, const char *name)
{
	struct ob model = { 0 };
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;

	ob_model(&model, graph, opset);
	if (weft_import_onnx(model.p, model.n, name, o, &g, msg))
		fail_msg("%s: %s", name, msg);
	free(model.p);
	return g;
}

/* Imports y = Where(c > 1, x, x) with a constant c of that type. Returns what the condition has become. */
static bool greater_than_one(int type, const void *c, size_t bytes)
{
	static const uint64_t one = 1;
	static const int64_t n = 2;
	struct ob graph = { 0 };

	ob_tensor(&graph, "c", type, 0, NULL, c, bytes);
	ob_tensor(&graph, "one", type, 0, NULL, &one, bytes);
	ob_port(&graph, 11, "x", FLOAT, 1, &n);
	ob_port(&graph, 12, "y", FLOAT, 1, &n);
	ob_node(&graph, "Greater", "c one", "greater", NULL);
	ob_node(&graph, "Where", "greater x x", "y", NULL);
	weft_graph *g = imported(&graph, 16, NULL, "constants");
	assert_int_equal(g->n_ops, 1);
	assert_int_equal(g->ops[0].op, WEFT_OP_SELECT);
	const weft_tensor *t = &g->tensors[g->ops[0].in[0]].t;
	assert_non_null(t->data);
	bool is = *(const uint8_t *)t->data;
	weft_graph_free(g);
	return is;
}

static void test_limits(void **state)
{
	static const struct { int type; uint64_t c; bool greater; } cases[] = {
		{ INT64, 1, false }, { INT64, INT32_MAX, true }, { INT64, (uint64_t)INT32_MIN, false }, { INT64, UINT64_MAX, false },
		{ INT64, UINT64_C(1) << 31, true }, { INT64, UINT64_C(1) << 63, false }, { UINT64, 1, false }, { UINT64, INT32_MAX, true },
		{ UINT64, UINT64_C(1) << 31, true }, { UINT64, UINT64_C(1) << 63, true }, { UINT64, UINT64_MAX, true },
		{ UINT64, (uint64_t)INT32_MIN, true }, { UINT32, 1, false }, { UINT32, INT32_MAX, true }, { UINT32, UINT32_MAX, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (greater_than_one(cases[i].type, &cases[i].c, cases[i].type == UINT32 ? 4 : 8) != cases[i].greater)
			fail_msg("case %zu: %s", i, cases[i].greater ? "not greater than 1" : "greater than 1");
}

/* x -> DequantizeLinear -> Conv -> QuantizeLinear -> DequantizeLinear -> Conv -> QuantizeLinear -> y, both with float weights w and bias b. */
static void shared_weights(const struct weft_onnx_options *o)
{
	static const float scale = 0.125f, w[4] = { 1, -0.5f, 0.25f, 2 }, b[2] = { 0.5f, -1 };
	static const int64_t image[4] = { 1, 2, 3, 3 }, kernel[4] = { 2, 2, 1, 1 }, two = 2;
	static const int8_t zero;
	struct ob graph = { 0 };
	int convs = 0;

	ob_tensor(&graph, "w", FLOAT, 4, kernel, w, sizeof w);
	ob_tensor(&graph, "b", FLOAT, 1, &two, b, sizeof b);
	ob_tensor(&graph, "s", FLOAT, 0, NULL, &scale, sizeof scale);
	ob_tensor(&graph, "z", INT8, 0, NULL, &zero, 1);
	ob_port(&graph, 11, "x", INT8, 4, image);
	ob_port(&graph, 12, "y", INT8, 4, image);
	ob_node(&graph, "DequantizeLinear", "x s z", "x1", NULL);
	ob_node(&graph, "Conv", "x1 w b", "c1", NULL);
	ob_node(&graph, "QuantizeLinear", "c1 s z", "q1", NULL);
	ob_node(&graph, "DequantizeLinear", "q1 s z", "x2", NULL);
	ob_node(&graph, "Conv", "x2 w b", "c2", NULL);
	ob_node(&graph, "QuantizeLinear", "c2 s z", "y", NULL);
	weft_graph *g = imported(&graph, 13, o, "shared");
	for (int i = 0; i < g->n_ops; i++) {
		if (g->ops[i].op != WEFT_OP_CONV2D)
			continue;
		convs++;
		assert_int_equal(g->tensors[g->ops[i].in[0]].t.dtype, WEFT_INT8);
		assert_int_equal(g->tensors[g->ops[i].in[1]].t.dtype, WEFT_INT8);
		assert_int_equal(((const int8_t *)g->tensors[g->ops[i].in[1]].t.data)[3], 127);
		assert_int_equal(((const int32_t *)g->tensors[g->ops[i].in[2]].t.data)[1], -816);   /* 1 / (0.125 * 2.5 / 255) */
	}
	assert_int_equal(convs, 2);
	weft_graph_free(g);
}

/* Sums that saturate are ONNX Runtime's: without its rounding the option does nothing. */
static void test_shared_weights(void **state)
{
	const struct weft_onnx_options exact = { .saturate = true }, rescale = { .requant = WEFT_ONNX_REQUANT_RESCALE, .saturate = true };

	(void)state;
	shared_weights(NULL);
	shared_weights(&exact);
	shared_weights(&rescale);
}

/* Imports y = TfIdfVectorizer(x), with `weights` as an empty list or without them. Returns how many operands the graph's operator has. */
static int tfidf_operands(bool empty)
{
	static const int64_t zero, three[3] = { 0, 1, 2 }, pool[3] = { 2, 3, 5 }, six = 6, n = 3;
	struct ob graph = { 0 }, v = { 0 };

	ob_port(&graph, 11, "x", INT64, 1, &six);
	ob_port(&graph, 12, "y", FLOAT, 1, &n);
	ob_attr_text(&v, "mode", "TF");
	ob_attr_int(&v, "max_gram_length", 1);
	ob_attr_int(&v, "min_gram_length", 1);
	ob_attr_int(&v, "max_skip_count", 0);
	ob_attr_ints(&v, "ngram_counts", 1, &zero);
	ob_attr_ints(&v, "ngram_indexes", 3, three);
	ob_attr_ints(&v, "pool_int64s", 3, pool);
	if (empty)
		ob_attr_ints(&v, "weights", 0, NULL);
	ob_node(&graph, "TfIdfVectorizer", "x", "y", &v);
	weft_graph *g = imported(&graph, 13, NULL, "tfidf");
	assert_int_equal(g->n_ops, 1);
	int operands = g->ops[0].n_in;
	weft_graph_free(g);
	return operands;
}

static void test_empty_list(void **state)
{
	(void)state;
	assert_int_equal(tfidf_operands(false), 4);    /* x, and three lists */
	assert_int_equal(tfidf_operands(true), 4);
}

/* The import computes the graph's node, whose operands are constants: its result is a constant of these n floats. */
static void expect_floats(struct ob *graph, const char *name, const float *want, size_t n)
{
	weft_graph *g = imported(graph, 19, NULL, name);

	assert_int_equal(g->n_ops, 1);
	const weft_tensor *t = &g->tensors[g->ops[0].in[0]].t;
	assert_non_null(t->data);
	assert_memory_equal(t->data, want, n * sizeof *want);
	weft_graph_free(g);
}

/* y = AveragePool of a constant 1 to 6 by 3 in steps of 2, where the last window reaches one element beyond; ONNX Runtime's results. */
static void test_ceil_mode(void **state)
{
	static const float x[6] = { 1, 2, 3, 4, 5, 6 }, want[3] = { 2, 4, 5.5f };
	static const int64_t from[3] = { 1, 1, 6 }, to[3] = { 1, 1, 3 }, kernel = 3, stride = 2;
	static const char *const pad[] = { "VALID", "NOTSET" };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct ob graph = { 0 }, v = { 0 };

		ob_tensor(&graph, "x", FLOAT, 3, from, x, sizeof x);
		ob_port(&graph, 12, "y", FLOAT, 3, to);
		ob_attr_ints(&v, "kernel_shape", 1, &kernel);
		ob_attr_ints(&v, "strides", 1, &stride);
		ob_attr_text(&v, "auto_pad", pad[k]);
		ob_attr_int(&v, "ceil_mode", 1);
		ob_attr_int(&v, "count_include_pad", 1);
		ob_node(&graph, "AveragePool", "x", "y", &v);
		expect_floats(&graph, pad[k], want, 3);
	}
}

/* y = Softplus of a constant where exp(x) is more than a float holds, or nearly; ONNX Runtime's results. */
static void test_softplus(void **state)
{
	static const float x[3] = { 100, 89, 88 }, want[3] = { 100, 89, 88 };
	static const int64_t three = 3;
	struct ob graph = { 0 };

	(void)state;
	ob_tensor(&graph, "x", FLOAT, 1, &three, x, sizeof x);
	ob_port(&graph, 12, "y", FLOAT, 1, &three);
	ob_node(&graph, "Softplus", "x", "y", NULL);
	expect_floats(&graph, "softplus", want, 3);
}

/* y = ConvTranspose of a constant 1 to 3 by 1, 10, 100 in steps of 2, whose 7 elements lose one; ONNX Runtime's results. */
static void test_output_shape(void **state)
{
	static const float x[3] = { 1, 2, 3 }, w[3] = { 1, 10, 100 };
	static const int64_t from[3] = { 1, 1, 3 }, to[3] = { 1, 1, 6 }, stride = 2, length = 6;
	static const struct { const char *pad; float y[6]; } want[] = {
		{ "NOTSET", { 10, 102, 20, 203, 30, 300 } },
		{ "SAME_LOWER", { 10, 102, 20, 203, 30, 300 } },
		{ "SAME_UPPER", { 1, 10, 102, 20, 203, 30 } },
	};

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct ob graph = { 0 }, v = { 0 };

		ob_tensor(&graph, "x", FLOAT, 3, from, x, sizeof x);
		ob_tensor(&graph, "w", FLOAT, 3, from, w, sizeof w);
		ob_port(&graph, 12, "y", FLOAT, 3, to);
		ob_attr_ints(&v, "strides", 1, &stride);
		ob_attr_ints(&v, "output_shape", 1, &length);
		ob_attr_text(&v, "auto_pad", want[k].pad);
		ob_node(&graph, "ConvTranspose", "x w", "y", &v);
		expect_floats(&graph, want[k].pad, want[k].y, 6);
	}
}

/* Imports y = op(c), where c is a constant [1,n,1] and y has these dimensions. Returns the errno; *g is the network, or NULL. */
static int of_constant(const char *op, int64_t n, int rank, const int64_t *dim, weft_graph **g, char msg[WEFT_MSG])
{
	struct ob graph = { 0 }, model = { 0 };
	float *c = calloc((size_t)n, sizeof *c);

	assert_non_null(c);
	for (int64_t i = 0; i < n; i++)
		c[i] = (float)i;
	*g = NULL;
	ob_tensor(&graph, "c", FLOAT, 3, (const int64_t[]){ 1, n, 1 }, c, (size_t)n * sizeof *c);
	ob_port(&graph, 12, "y", FLOAT, rank, dim);
	ob_node(&graph, op, "c", "y", NULL);
	ob_model(&model, &graph, 17);
	int err = weft_import_onnx(model.p, model.n, "work", NULL, g, msg);
	free(model.p);
	free(c);
	return err;
}

/*
 * A Fourier transform of 64 numbers is computed by the import, one of 16384 (2^28 steps) is left to the run; comparing each of
 * 16384 rows with each, without which the shape is not known, is refused.
 */
static void test_work(void **state)
{
	char msg[WEFT_MSG] = "";
	weft_graph *g;

	(void)state;
	for (int64_t n = 64; n <= 16384; n *= 256) {
		if (of_constant("DFT", n, 3, (const int64_t[]){ 1, n, 2 }, &g, msg))
			fail_msg("%s", msg);
		assert_int_equal(g->ops[g->n_ops - 1].op == WEFT_OP_ONNX_NODE, n > 64);
		weft_graph_free(g);
	}
	assert_int_equal(of_constant("Unique", 64, 1, (const int64_t[]){ 64 }, &g, msg), 0);
	weft_graph_free(g);
	assert_int_equal(of_constant("Unique", 16384, 1, (const int64_t[]){ 16384 }, &g, msg), -ENOTSUP);
	assert_non_null(strstr(msg, "comparisons"));
}

/*
 * Imports y = op(x, w) of floats [2,3] by [3,2] as ONNX Runtime computes it, with the attributes in *v, which is empty
 * afterwards. Returns the kernel of the one operator that runs on the host, or -1.
 */
static int runtime_kernel(const char *op, struct ob *v)
{
	static const int64_t a[2] = { 2, 3 }, w[2] = { 3, 2 }, y[2] = { 2, 2 };
	struct weft_onnx_options o = { .requant = WEFT_ONNX_REQUANT_RUNTIME };
	struct ob graph = { 0 };
	int kind = -1;

	ob_port(&graph, 11, "x", FLOAT, 2, a);
	ob_port(&graph, 11, "w", FLOAT, 2, w);
	ob_port(&graph, 12, "y", FLOAT, 2, y);
	ob_node(&graph, op, "x w", "y", v);
	weft_graph *g = imported(&graph, 17, &o, op);
	for (int i = 0; i < g->n_ops; i++)
		if (g->ops[i].op == WEFT_OP_ONNX_NODE)
			kind = g->ops[i].attr.onnx_node.kind;
	weft_graph_free(g);
	return kind;
}

/* Products of floats in ONNX Runtime's order of additions, unless a factor other than 1 is in the way; an equation is an operand. */
static void test_runtime(void **state)
{
	const int matmul = weft_onnx_ref_find("onnxruntime", "MatMul"), gemm = weft_onnx_ref_find("onnxruntime", "Gemm");

	struct ob v = { 0 };

	(void)state;
	assert_int_equal(runtime_kernel("MatMul", NULL), matmul);
	assert_int_equal(runtime_kernel("Gemm", NULL), gemm);
	ob_attr_float(&v, "alpha", 1);
	assert_int_equal(runtime_kernel("Gemm", &v), gemm);
	ob_attr_float(&v, "alpha", 2);
	assert_int_not_equal(runtime_kernel("Gemm", &v), gemm);
	ob_attr_text(&v, "equation", "ij,jk->ik");
	assert_int_equal(runtime_kernel("Einsum", &v), weft_onnx_ref_find("", "Einsum"));
}

/* Imports y = op(x) or op(x, s) of float64 with a constant s: one operator, ONNX's own. */
static void test_float64(void **state)
{
	static const double slope[2] = { 0.25, -3 };
	static const int64_t n = 2;
	static const char *const ops[] = { "Sqrt", "PRelu" };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct ob graph = { 0 };

		if (k)
			ob_tensor(&graph, "s", DOUBLE, 1, &n, slope, sizeof slope);
		ob_port(&graph, 11, "x", DOUBLE, 1, &n);
		ob_port(&graph, 12, "y", DOUBLE, 1, &n);
		ob_node(&graph, ops[k], k ? "x s" : "x", "y", NULL);
		weft_graph *g = imported(&graph, 16, NULL, ops[k]);
		assert_int_equal(g->n_ops, 1);
		assert_int_equal(g->ops[0].op, WEFT_OP_ONNX_NODE);
		weft_graph_free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits), cmocka_unit_test(test_float64), cmocka_unit_test(test_shared_weights), cmocka_unit_test(test_work),
		cmocka_unit_test(test_runtime), cmocka_unit_test(test_empty_list), cmocka_unit_test(test_ceil_mode), cmocka_unit_test(test_softplus),
		cmocka_unit_test(test_output_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

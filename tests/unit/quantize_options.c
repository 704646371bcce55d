/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What weft_quantize() writes of operators of a .tflite file that stay as they are: their options, as numbers, as a list
 * or in the format's second field, and state. What it cannot write is refused before anything is run, and so is an .onnx
 * file with operators that would have to be rewritten in a branch.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include <weft/weft.h>

#include "tests/support/onnx_build.h"
#include "tflite_build.h"
#include "userlib/import/tflite/tflite_file.h"

#define WIDE 8

/* A file of one FULLY_CONNECTED of 8 numbers by 8, whose result is tensor 2; the caller adds the operator behind it. */
static struct tb dense(const float w[WIDE * WIDE])
{
	struct tb b = { .n_tensors = 3, .n_ops = 1, .n_in = 1, .n_out = 1 };

	b.tensor[0] = b.tensor[2] = (struct tb_tensor){ .type = TFL_FLOAT32, .rank = 2, .dim = { 1, WIDE } };
	b.tensor[1] = (struct tb_tensor){ .type = TFL_FLOAT32, .rank = 2, .dim = { WIDE, WIDE }, .data = w, .data_bytes = WIDE * WIDE * 4 };
	b.op[0] = (struct tb_op){ .code = TFL_FULLY_CONNECTED, .n_in = 2, .n_out = 1, .in = { 0, 1 }, .out = { 2 }, .options_type = OPTIONS_FULLY_CONNECTED };
	return b;
}

static int two_samples(void *user, int i, weft_tensor *inputs, int n, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	float *p = i < 2 ? malloc(WIDE * sizeof *p) : NULL;

	(void)user, (void)n, (void)msg;
	for (int k = 0; p && k < WIDE; k++)
		p[k] = (float)(k - 4) / 4 + (float)i;
	inputs[0].data = p;
	return p != NULL;
}

/* Quantises b as weft_quantize() does. Returns what that returns; *out has to be freed if that is 0. */
static int quantise(struct tb *b, uint8_t **out, size_t *len, char msg[WEFT_MSG_LEN])
{
	struct weft_quantize_options o = weft_quantize_options_default();
	size_t n;
	uint8_t *file = tb_file(b, &n);

	o.sample = two_samples;
	int err = weft_quantize(file, n, &o, out, len, msg);
	free(file);
	return err;
}

/* Quantises b and reads the result into *m, which points into the returned file. */
static uint8_t *quantised(struct tb *b, struct tfl_model *m)
{
	char msg[WEFT_MSG_LEN] = "";
	uint8_t *out;
	size_t len;

	if (quantise(b, &out, &len, msg) || tfl_read(m, out, len, msg, sizeof msg))
		fail_msg("%s", msg);
	return out;
}

/* Returns the operator of m with that code. */
static const struct tfl_op *find(const struct tfl_model *m, int code)
{
	for (int i = 0; i < m->n_ops; i++)
		if (m->ops[i].code == code)
			return &m->ops[i];
	fail_msg("no %s", tfl_code_name(code));
	return NULL;
}

static const float weights[WIDE * WIDE] = { 1, [9] = 1, [18] = 1, [27] = 1, [36] = 1, [45] = 1, [54] = 1, [63] = 1 };

/* The boundaries of BUCKETIZE are a list of numbers. */
static void a_list(void **state)
{
	static const float bounds[] = { -0.5f, 0, 0.25f, 1 };
	struct tb b = dense(weights);
	struct tfl_model m;
	struct fb_vec v;

	(void)state;
	b.tensor[b.n_tensors++] = (struct tb_tensor){ .type = TFL_INT32, .rank = 2, .dim = { 1, WIDE } };
	b.out[0] = 3;
	b.op[b.n_ops++] = (struct tb_op){ .code = TFL_BUCKETIZE, .n_in = 1, .n_out = 1, .in = { 2 }, .out = { 3 }, .options_type = OPTIONS_BUCKETIZE,
		.n_options = 1, .options = { { BUCKETIZE_BOUNDARIES, 0, 0 } }, .list = bounds, .n_list = 4 };
	uint8_t *file = quantised(&b, &m);
	const struct tfl_op *o = find(&m, TFL_BUCKETIZE);
	assert_int_equal(fb_vector(&m.b, &o->options, BUCKETIZE_BOUNDARIES, 4, &v), 1);
	assert_int_equal(v.n, 4);
	assert_memory_equal(m.b.p + v.at, bounds, sizeof bounds);
	tfl_release(&m);
	free(file);
}

/* The function of REDUCE_WINDOW stands in the second field of options. */
static void second_field(void **state)
{
	enum { MAXIMUM = 4 };
	static const int64_t size[2] = { 1, 2 }, one[2] = { 1, 1 };
	static const float least[1] = { -100 };
	struct tb b = dense(weights);
	struct tfl_model m;
	int64_t function;

	(void)state;
	b.tensor[b.n_tensors++] = (struct tb_tensor){ .type = TFL_FLOAT32, .data = least, .data_bytes = 4 };
	for (int k = 0; k < 3; k++)
		b.tensor[b.n_tensors++] = (struct tb_tensor){ .type = TFL_INT64, .rank = 1, .dim = { 2 }, .data = k == 2 ? one : size, .data_bytes = 16 };
	b.tensor[b.n_tensors++] = (struct tb_tensor){ .type = TFL_FLOAT32, .rank = 2, .dim = { 1, WIDE / 2 } };
	b.out[0] = 7;
	b.op[b.n_ops++] = (struct tb_op){ .code = TFL_REDUCE_WINDOW, .n_in = 5, .n_out = 1, .in = { 2, 3, 4, 5, 6 }, .out = { 7 },
		.options_type = OPTIONS_REDUCE_WINDOW, .n_options = 1, .options = { { REDUCE_WINDOW_FUNCTION, 4, MAXIMUM } } };
	uint8_t *file = quantised(&b, &m);
	const struct tfl_op *o = find(&m, TFL_REDUCE_WINDOW);
	assert_int_equal(o->options_type, OPTIONS_REDUCE_WINDOW);
	assert_int_equal(fb_int(&m.b, &o->options, REDUCE_WINDOW_FUNCTION, 4, true, 0, &function), 0);
	assert_int_equal(function, MAXIMUM);
	tfl_release(&m);
	free(file);
}

/* The state of a layer with state is a variable afterwards, too: LiteRT wants it so. */
static void variables(void **state)
{
	struct tb b = dense(weights);
	struct tfl_model m;

	(void)state;
	b.tensor[b.n_tensors++] = (struct tb_tensor){ .type = TFL_FLOAT32, .rank = 1, .dim = { WIDE }, .data = weights, .data_bytes = WIDE * 4 };
	b.tensor[b.n_tensors++] = (struct tb_tensor){ .type = TFL_FLOAT32, .rank = 2, .dim = { 1, WIDE }, .variable = true };
	b.tensor[b.n_tensors++] = (struct tb_tensor){ .type = TFL_FLOAT32, .rank = 2, .dim = { 1, WIDE } };
	b.out[0] = 5;
	b.op[b.n_ops++] = (struct tb_op){ .code = TFL_RNN, .n_in = 5, .n_out = 1, .in = { 2, 1, 1, 3, 4 }, .out = { 5 }, .options_type = OPTIONS_RNN };
	uint8_t *file = quantised(&b, &m);
	const struct tfl_op *o = find(&m, TFL_RNN);
	for (uint32_t k = 0; k < 5; k++)
		assert_int_equal(m.tensors[fb_i32_at(&m.b, &o->in, k)].is_variable, k == 4);
	tfl_release(&m);
	free(file);
}

/* Operators that name subgraphs, and those whose options have names or lists of 8 bytes. */
static void refused_bad(void **state)
{
	static const int codes[] = { TFL_WHILE, TFL_IF, TFL_CALL_ONCE, TFL_STABLEHLO_CASE, TFL_STABLEHLO_COMPOSITE, TFL_STABLEHLO_SCATTER,
	                             TFL_STABLEHLO_REDUCE_WINDOW, TFL_STABLEHLO_GATHER, TFL_STABLEHLO_PAD, TFL_VAR_HANDLE };

	(void)state;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		struct tb b = dense(weights);
		char msg[WEFT_MSG_LEN] = "", want[80];
		uint8_t *out;
		size_t len;

		b.tensor[b.n_tensors++] = b.tensor[2];
		b.out[0] = 3;
		b.op[b.n_ops++] = (struct tb_op){ .code = codes[i], .n_in = 1, .n_out = 1, .in = { 2 }, .out = { 3 } };
		snprintf(want, sizeof want, "operator 1 %s: ", tfl_code_name(codes[i]));
		assert_int_equal(quantise(&b, &out, &len, msg), -ENOTSUP);
		assert_ptr_equal(strstr(msg, want), msg);
	}
}

/* Adds a branch of If, called by its attribute's name, to the node's further fields: Softmax of what the network has computed. */
static void add_branch(struct ob *more, const char *name)
{
	static const int64_t dim[2] = { 1, WIDE };
	struct ob graph = { 0 }, a = { 0 };

	ob_node(&graph, "Softmax", "m", name, NULL);
	ob_text(&graph, 2, name);
	ob_port(&graph, 12, name, 1, 2, dim);
	ob_text(&a, 1, name);
	ob_sub(&a, 6, &graph);
	ob_int(&a, 20, 5);
	ob_sub(more, 5, &a);
}

/* Of an .onnx file below opset 13, whose operators are rewritten, those in a branch are not: the file is refused. */
static void branches_bad(void **state)
{
	static const int64_t dim[2] = { 1, WIDE }, square[2] = { WIDE, WIDE };
	static const uint8_t yes = 1;
	struct weft_quantize_options o = weft_quantize_options_default();
	struct ob graph = { 0 }, branches = { 0 }, model = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	uint8_t *out;
	size_t len;

	(void)state;
	ob_port(&graph, 11, "x", 1, 2, dim);
	ob_tensor(&graph, "w", 1, 2, square, weights, sizeof weights);
	ob_tensor(&graph, "c", 9, 0, NULL, &yes, 1);
	ob_node(&graph, "MatMul", "x w", "m", NULL);
	add_branch(&branches, "then_branch");
	add_branch(&branches, "else_branch");
	ob_node(&graph, "If", "c", "y", &branches);
	ob_port(&graph, 12, "y", 1, 2, dim);
	ob_model(&model, &graph, 11);
	o.sample = two_samples;
	assert_int_equal(weft_quantize(model.p, model.n, &o, &out, &len, msg), -ENOTSUP);
	if (!strstr(msg, "If \"y\": what is in its graphs cannot be raised from opset 11 to 13"))
		fail_msg("%s", msg);
	free(model.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_list), cmocka_unit_test(second_field), cmocka_unit_test(variables), cmocka_unit_test(refused_bad),
		cmocka_unit_test(branches_bad) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

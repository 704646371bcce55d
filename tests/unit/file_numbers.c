/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers in files of ONNX and TFLite that are legal for their type and absurd
 * for their meaning: each is refused by name or taken for what it says, at once.
 * Run with SAN=1 to see sums that overflow on the way.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include <weft/weft.h>

#include "../support/onnx_build.h"
#include "tflite_build.h"
#include "userlib/import/tflite/tflite.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define FLOAT 1
#define INT64 7

/* ---- ONNX: one node on x, with constants c0.. ---- */

struct onnx_case {
	const char *type, *attr[2], *text[2];  /* attribute text[0] is text[1] */
	int64_t v[2][4];                       /* of the attributes */
	int n[2];
	int rank, type_c, n_c, of_c;           /* of x; constants, of so many numbers each */
	int64_t dim[4], c[4][4];
	int err;
	const char *says;                      /* in the message */
};

#define BIG INT64_MAX
#define SMALL INT64_MIN

static const struct onnx_case onnx[] = {
	/* fewer numbers than dimensions */
	{ "ConvTranspose", { "output_shape" }, { 0 }, { { 4 } }, { 1 }, 4, FLOAT, 1, 1, { 1, 1, 4, 4 }, { { 0 } }, -EINVAL, "output_shape" },
	{ "ConvTranspose", { "output_shape" }, { 0 }, { { BIG, BIG } }, { 2 }, 4, FLOAT, 1, 1, { 1, 1, 4, 4 }, { { 0 } }, -EINVAL, "output_shape" },
	{ "ConvTranspose", { "output_padding" }, { 0 }, { { BIG, 0 } }, { 2 }, 4, FLOAT, 1, 1, { 1, 1, 4, 4 }, { { 0 } }, -EINVAL, "output_padding" },
	/* VALID: there is no padding */
	{ "ConvTranspose", { "pads" }, { "auto_pad", "VALID" }, { { SMALL, 0, BIG, 0 } }, { 4 }, 4, FLOAT, 1, 1, { 1, 1, 4, 4 }, { { 0 } }, 0, "" },
	{ "Pad", { 0 }, { 0 }, { { 0 } }, { 0 }, 1, INT64, 1, 2, { 4 }, { { SMALL, 0 } }, -EINVAL, "-9223372036854775808" },
	{ "Pad", { 0 }, { 0 }, { { 0 } }, { 0 }, 1, INT64, 1, 2, { 4 }, { { SMALL + 1, SMALL + 1 } }, -EINVAL, "-9223372036854775807" },
	{ "Pad", { 0 }, { 0 }, { { 0 } }, { 0 }, 1, INT64, 1, 2, { 4 }, { { 1, BIG } }, -EINVAL, "9223372036854775807" },
	{ "QuantizeLinear", { "block_size", "axis" }, { 0 }, { { BIG }, { 0 } }, { -1, -1 }, 2, FLOAT, 1, 2, { 2, 2 }, { { 1 } }, -EINVAL, "block_size" },
	/* a million windows of a million taps to count */
	{ "AveragePool", { "kernel_shape", "pads" }, { "count_include_pad" }, { { 1 << 20 }, { 1 << 20, 1 << 20 } }, { 1, 2 }, 3, 0, 0, 0,
	  { 1, 1, 4 }, { { 0 } }, -ENOTSUP, "1024 taps" },
	/* x[1:4:2^31-1] is x[1:2] */
	{ "Slice", { 0 }, { 0 }, { { 0 } }, { 0 }, 1, INT64, 4, 1, { 4 }, { { 1 }, { 4 }, { 0 }, { INT32_MAX } }, 0, "" },
	{ "Slice", { 0 }, { 0 }, { { 0 } }, { 0 }, 1, INT64, 4, 1, { 4 }, { { BIG }, { SMALL }, { 0 }, { -INT32_MAX } }, 0, "" },
	{ "Slice", { 0 }, { 0 }, { { 0 } }, { 0 }, 1, INT64, 4, 1, { 4 }, { { SMALL }, { BIG }, { 0 }, { SMALL } }, -EINVAL, "step" },
};

static void put_node(struct ob *g, const struct onnx_case *k)
{
	struct ob node = { 0 };
	char name[3] = "c0";

	ob_text(&node, 1, "x");
	for (int i = 0; i < k->n_c; i++, name[1]++)
		ob_text(&node, 1, name);
	ob_text(&node, 2, "y");
	ob_text(&node, 4, k->type);
	for (int i = 0; i < 2 && k->attr[i]; i++) {
		if (k->n[i] < 0)
			ob_attr_int(&node, k->attr[i], k->v[i][0]);
		else
			ob_attr_ints(&node, k->attr[i], k->n[i], k->v[i]);
	}
	if (k->text[1])
		ob_attr_text(&node, k->text[0], k->text[1]);
	else if (k->text[0])
		ob_attr_int(&node, k->text[0], 1);
	ob_sub(g, 1, &node);
}

/* Floats are all ones, a kernel of ConvTranspose has three by three. */
static void put_constants(struct ob *g, const struct onnx_case *k)
{
	static const float ones[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	static const int64_t kernel[4] = { 1, 1, 3, 3 };
	char name[3] = "c0";

	for (int i = 0; i < k->n_c; i++, name[1]++) {
		const int64_t n[2] = { k->of_c, 2 };
		if (!strcmp(k->type, "ConvTranspose"))
			ob_tensor(g, name, FLOAT, 4, kernel, ones, sizeof ones);
		else if (k->type_c == FLOAT)
			ob_tensor(g, name, FLOAT, 2, n, ones, (size_t)k->of_c * 2 * sizeof *ones);
		else
			ob_tensor(g, name, INT64, 1, n, k->c[i], (size_t)k->of_c * sizeof *k->c[i]);
	}
}

static void onnx_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(onnx); i++) {
		const struct onnx_case *k = &onnx[i];
		struct ob g = { 0 }, model = { 0 };
		char msg[WEFT_MSG_LEN] = "";
		weft_net *net = NULL;

		put_node(&g, k);
		put_constants(&g, k);
		ob_port(&g, 11, "x", FLOAT, k->rank, k->dim);
		ob_port(&g, 12, "y", strcmp(k->type, "QuantizeLinear") ? FLOAT : 2, 0, NULL);
		ob_model(&model, &g, 21);
		int err = weft_net_load(model.p, model.n, "numbers", &net, msg);
		if (err != k->err || !strstr(msg, k->says))
			fail_msg("case %zu, %s: %d, '%s'", i, k->type, err, msg);
		if (!err)
			weft_net_free(net);
		free(model.p);
	}
}

/* ---- TFLite ---- */

static int import_tflite(struct tb *b, int64_t *elements, char *msg)
{
	weft_graph *g = NULL;
	size_t n;
	uint8_t *file = tb_file(b, &n);
	int err = weft_import_tflite(file, n, "numbers", &g, msg);

	*elements = err ? 0 : weft_tensor_elements(&g->tensors[g->outputs[0]].t);
	weft_graph_free(g);
	free(file);
	return err;
}

static int vector(struct tb *b, const int64_t *v, int32_t n)
{
	int i = tb_add(b, TFL_INT64, 1, &n, 0, 0);

	tb_constant(b, i, v, (size_t)n * sizeof *v);
	return i;
}

/* x[1 : 1 + the largest number], as an offset. */
static void far_end(void **state)
{
	static const int64_t begin = 1, end = INT64_MAX, stride = 1;
	struct tb b = { .n_in = 1, .n_out = 1 };
	const int32_t five = 5, four = 4;
	char msg[WEFT_MSG] = "";
	int64_t n;

	(void)state;
	struct tb_op *o = tb_op(&b, TFL_STRIDED_SLICE, OPTIONS_STRIDED_SLICE);
	tb_option(o, STRIDED_OFFSET, 1, 1);
	o->n_in = 4;
	o->n_out = 1;
	o->in[0] = b.in[0] = tb_add(&b, TFL_INT32, 1, &five, 0, 0);
	o->in[1] = vector(&b, &begin, 1);
	o->in[2] = vector(&b, &end, 1);
	o->in[3] = vector(&b, &stride, 1);
	o->out[0] = b.out[0] = tb_add(&b, TFL_INT32, 1, &four, 0, 0);
	if (import_tflite(&b, &n, msg))
		fail_msg("%s", msg);
	assert_int_equal(n, 4);
}

/* Parts of together more than any number. */
static void parts(void **state)
{
	static const int64_t sizes[3] = { -2, INT64_MAX, INT64_MAX }, axis = 0;
	struct tb b = { .n_in = 1, .n_out = 1 };
	const int32_t six = 6, two = 2;
	char msg[WEFT_MSG] = "";
	int64_t n;

	(void)state;
	struct tb_op *o = tb_op(&b, TFL_SPLIT_V, 0);
	o->n_in = 3;
	o->n_out = 3;
	o->in[0] = b.in[0] = tb_add(&b, TFL_INT32, 1, &six, 0, 0);
	o->in[1] = vector(&b, sizes, 3);
	o->in[2] = vector(&b, &axis, 1);
	for (int i = 0; i < 3; i++)
		o->out[i] = tb_add(&b, TFL_INT32, 1, &two, 0, 0);
	b.out[0] = o->out[0];
	assert_int_equal(import_tflite(&b, &n, msg), -EINVAL);
	assert_non_null(strstr(msg, "parts"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(onnx_numbers), cmocka_unit_test(far_end), cmocka_unit_test(parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

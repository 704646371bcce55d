/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes without a sign and sums of 48 bits that are only moved: written as .tosa
 * and read again, the network has the same types and gives the same bits.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/export/tosa.h"
#include "userlib/import/tosa/tosa.h"
#include "userlib/run/golden_exec.h"

#define DIMS(...) ((const int64_t[]){ __VA_ARGS__ })
#define N_DIMS(...) (int)(sizeof (DIMS(__VA_ARGS__)) / sizeof(int64_t)), DIMS(__VA_ARGS__)
#define MOST 4                     /* inputs, outputs */

static char msg[WEFT_MSG];

static int input(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim)
{
	int x = weft_graph_tensor(g, name, t, rank, dim);

	g->tensors[x].is_input = true;
	g->inputs = realloc(g->inputs, MOST * sizeof *g->inputs);
	g->inputs[g->n_inputs++] = x;
	return x;
}

static void output(weft_graph *g, int y)
{
	g->tensors[y].is_output = true;
	g->outputs = realloc(g->outputs, MOST * sizeof *g->outputs);
	g->outputs[g->n_outputs++] = y;
}

static int step(weft_graph *g, weft_opcode op, const weft_attr *a, const int *in, int n_in, weft_dtype t, int rank,
                const int64_t *dim)
{
	int y = weft_graph_tensor(g, "", t, rank, dim);
	int src = weft_graph_src(g, g->n_ops, weft_op_name(op));
	weft_attr none = { 0 };

	assert_true(y >= 0 && src >= 0);
	assert_true(weft_graph_op(g, op, a ? a : &none, src, in, n_in, &y, 1) >= 0);
	return y;
}

/* Outputs of g of the inputs, one behind the other. */
static uint8_t *outputs(const weft_graph *g, const weft_tensor *in, size_t *bytes)
{
	weft_tensor *all = calloc((size_t)g->n_tensors, sizeof *all);
	uint8_t *p = NULL;

	*bytes = 0;
	if (weft_golden_exec(g, in, all, false, msg))
		fail_msg("%s", msg);
	for (int i = 0; i < g->n_outputs; i++) {
		size_t n = weft_tensor_bytes(&all[g->outputs[i]]);
		p = realloc(p, *bytes + n);
		memcpy(p + *bytes, all[g->outputs[i]].data, n);
		*bytes += n;
	}
	weft_golden_release(g, all);
	free(all);
	return p;
}

static weft_graph *again(const weft_graph *g, int want_custom)
{
	char custom[WEFT_MSG];
	weft_graph *back = NULL;
	uint8_t *file = NULL;
	size_t n;
	int n_custom;

	if (weft_graph_check(g, msg) || weft_export_tosa(g, false, &file, &n, &n_custom, custom, msg) ||
	    weft_import_tosa(file, n, "", &back, msg))
		fail_msg("%s", msg);
	assert_int_equal(n_custom, want_custom);
	free(file);
	return back;
}

/* Ports keep their types, and values their bits. Values of inputs: fp32, bytes, int48. */
static void expect_same(weft_graph *g, int want_custom)
{
	weft_graph *back = again(g, want_custom);
	weft_tensor in[MOST];
	size_t n, m;

	assert_int_equal(back->n_inputs, g->n_inputs);
	for (int i = 0; i < g->n_inputs; i++) {
		in[i] = g->tensors[g->inputs[i]].t;
		assert_int_equal(back->tensors[back->inputs[i]].t.dtype, in[i].dtype);
		in[i].data = calloc(1, weft_tensor_bytes(&in[i]));
		for (int64_t k = 0; k < weft_tensor_elements(&in[i]); k++)
			if (in[i].dtype == WEFT_FP32)
				((float *)in[i].data)[k] = 9.0f * (float)k;
			else if (in[i].dtype == WEFT_INT48)
				((int64_t *)in[i].data)[k] = (INT64_C(1) << 40) * (k - 11) + k;
			else
				((uint8_t *)in[i].data)[k] = (uint8_t)(37 * k);
	}
	for (int i = 0; i < g->n_outputs; i++)
		assert_int_equal(back->tensors[back->outputs[i]].t.dtype, g->tensors[g->outputs[i]].t.dtype);
	uint8_t *want = outputs(g, in, &n), *got = outputs(back, in, &m);
	assert_int_equal(n, m);
	assert_memory_equal(got, want, n);
	for (int i = 0; i < g->n_inputs; i++)
		free(in[i].data);
	free(want);
	free(got);
	weft_graph_free(back);
	weft_graph_free(g);
}

/* Two inputs, one quantised, the other of bytes; moved, padded with 200, joined; out as bytes and dequantised. */
static void bytes_between_customs(void **state)
{
	weft_graph *g = weft_graph_new("bytes");
	weft_attr quant = { .quant = { .x_scale = 0.5f, .x_zp = 100, .y_scale = 1.0f, .y_zp = 7 } };
	weft_attr perm = { .perm = { { 1, 0 } } }, join = { .axis = { 0, 0 } }, pad = { .pad = { .before = { 0, 1 } } };

	(void)state;
	pad.pad.value = 200;
	int x = input(g, "x", WEFT_FP32, N_DIMS(4, 6)), b = input(g, "b", WEFT_UINT8, N_DIMS(6, 3));
	int q = step(g, WEFT_OP_TFL_QUANTIZE, &quant, &x, 1, WEFT_UINT8, N_DIMS(4, 6));
	int far = step(g, WEFT_OP_RESHAPE, NULL, &q, 1, WEFT_UINT8, N_DIMS(2, 12));
	output(g, step(g, WEFT_OP_TRANSPOSE, &perm, &far, 1, WEFT_UINT8, N_DIMS(12, 2)));
	q = step(g, WEFT_OP_RESHAPE, NULL, &q, 1, WEFT_UINT8, N_DIMS(6, 4));
	b = step(g, WEFT_OP_TRANSPOSE, &perm, &b, 1, WEFT_UINT8, N_DIMS(3, 6));
	b = step(g, WEFT_OP_RESHAPE, NULL, &b, 1, WEFT_UINT8, N_DIMS(6, 3));
	b = step(g, WEFT_OP_PAD, &pad, &b, 1, WEFT_UINT8, N_DIMS(6, 4));
	int y = step(g, WEFT_OP_CONCAT, &join, (int[]){ q, b }, 2, WEFT_UINT8, N_DIMS(12, 4));
	y = step(g, WEFT_OP_IDENTITY, NULL, &y, 1, WEFT_UINT8, N_DIMS(12, 4));
	output(g, step(g, WEFT_OP_RESHAPE, NULL, &y, 1, WEFT_UINT8, N_DIMS(48)));
	output(g, step(g, WEFT_OP_TFL_DEQUANTIZE, &quant, &y, 1, WEFT_FP32, N_DIMS(12, 4)));
	expect_same(g, 2);
}

static void wide_sums(void **state)
{
	weft_graph *g = weft_graph_new("wide");
	weft_attr perm = { .perm = { { 1, 0 } } }, join = { .axis = { 1, 0 } }, slice = { .slice = { { 1, 2 } } };
	weft_attr pad = { .pad = { .after = { 1, 0 } } }, tile = { .tile = { { 2, 1 } } }, back = { .axis = { 0, 0 } };
	const weft_dtype t = WEFT_INT48;

	(void)state;
	pad.pad.value = -(INT64_C(1) << 45);
	int x = input(g, "x", t, N_DIMS(4, 6));
	int a = step(g, WEFT_OP_RESHAPE, NULL, &x, 1, t, N_DIMS(6, 4));
	int b = step(g, WEFT_OP_TRANSPOSE, &perm, &x, 1, t, N_DIMS(6, 4));
	int y = step(g, WEFT_OP_CONCAT, &join, (int[]){ a, b }, 2, t, N_DIMS(6, 8));
	y = step(g, WEFT_OP_SLICE, &slice, &y, 1, t, N_DIMS(4, 5));
	y = step(g, WEFT_OP_PAD, &pad, &y, 1, t, N_DIMS(5, 5));
	y = step(g, WEFT_OP_REVERSE, &back, &y, 1, t, N_DIMS(5, 5));
	output(g, step(g, WEFT_OP_TILE, &tile, &y, 1, t, N_DIMS(10, 5)));
	output(g, step(g, WEFT_OP_IDENTITY, NULL, &y, 1, t, N_DIMS(5, 5)));
	expect_same(g, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bytes_between_customs), cmocka_unit_test(wide_sums) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

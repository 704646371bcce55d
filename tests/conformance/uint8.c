/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks without stored outputs (uint8, and others that take pictures)
 * through importer and golden: every operator's result and every output has the
 * CRC-32 that TensorFlow Lite's reference kernels gave, for two inputs.
 *
 * tests/models/uint8_expected/README.md says where the numbers come from, and
 * tools/train/record_uint8.py how inputs are made. Within the graph uint8 is
 * int8, 128 less; that is undone before the comparison.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/support/file.h"
#include "tests/support/level.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/run/golden_exec.h"

#define EXPECTED "tests/models/uint8_expected/layers.tsv"
#define MAX_RUNS 32

struct run { char model[128], input[16], name[150]; char *lines; };  /* lines: from malloc */

static int distance(int v)
{
	return abs(2 * (v % 256) - 255);
}

/* Element i as a number of 0..255. */
static int value(const struct run *r, const weft_tensor *t, int64_t i, uint32_t *x)
{
	if (!strcmp(r->input, "noise")) {
		*x = *x * 1664525u + 1013904223u;
		return (int)(*x >> 24);
	}
	int64_t c = t->rank > 0 ? t->dim[t->rank - 1] : 1, w = t->rank > 1 ? t->dim[t->rank - 2] : 1;
	int64_t h = t->rank > 2 ? t->dim[t->rank - 3] : 1;
	int k = (int)(i % c), column = (int)(i / c % w), row = (int)(i / c / w % h);
	return (distance(row * 5 + column * 3 + k * 85) + distance(row * 2 + column * 7 + k * 40)) / 2;
}

static weft_tensor make_input(const struct run *r, weft_tensor t)
{
	uint32_t x = 1;

	t.data = malloc(weft_tensor_bytes(&t));
	assert_non_null(t.data);
	for (int64_t i = 0; i < weft_tensor_elements(&t); i++) {
		int v = value(r, &t, i, &x);
		if (t.dtype == WEFT_UINT8)
			((uint8_t *)t.data)[i] = (uint8_t)v;
		else if (t.dtype == WEFT_INT8)
			((int8_t *)t.data)[i] = (int8_t)(v - 128);
		else if (t.dtype == WEFT_FP32)
			((float *)t.data)[i] = (float)(v - 128) / 128.0f;
		else
			fail_msg("input of type %s", weft_dtype_name(t.dtype));
	}
	return t;
}

static unsigned checksum(const weft_tensor *t, const char *type)
{
	size_t n = weft_tensor_bytes(t);

	if (t->dtype != WEFT_INT8 || strcmp(type, "uint8"))
		return (unsigned)crc32(0, t->data, (uInt)n);
	uint8_t *p = malloc(n);
	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(((const int8_t *)t->data)[i] + 128);
	unsigned crc = (unsigned)crc32(0, p, (uInt)n);
	free(p);
	return crc;
}

/* Result of the file's operator, or output -1 - index. */
static const weft_tensor *result(const weft_graph *g, const weft_tensor *all, int index)
{
	if (index < 0)
		return -1 - index < g->n_outputs ? &all[g->outputs[-1 - index]] : NULL;
	for (int i = 0; i < g->n_srcs; i++)
		if (g->srcs[i].index == index)
			return &all[g->srcs[i].out];
	return NULL;
}

static int compare(const struct run *r, const weft_graph *g, const weft_tensor *all)
{
	int checked = 0;
	char *save = NULL;

	for (char *line = strtok_r(r->lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save), checked++) {
		char op[64], shape[64], type[16];
		unsigned want;
		int index;
		if (sscanf(line, "%d %63s %63s %15s %x", &index, op, shape, type, &want) != 5)
			fail_msg("%s: unreadable line '%s'", r->name, line);
		const weft_tensor *t = result(g, all, index);
		if (!t)
			fail_msg("%s: operator %d %s has no result", r->name, index, op);
		unsigned got = checksum(t, type);
		if (got != want)
			fail_msg("%s: operator %d %s %s %s: CRC-32 %08x, expected %08x", r->name, index, op, type, shape, got, want);
	}
	return checked;
}

static void network(void **state)
{
	struct run *r = *state;
	char path[700], msg[WEFT_MSG] = "";
	weft_graph *g = NULL;
	weft_tensor in[4];
	size_t n;

	snprintf(path, sizeof path, "%s/%s.tflite", test_data(), r->model);
	char *file = test_file(path, &n);
	if (!file) {
		print_message("%s is absent\n", path);
		free(r->lines);
		skip();
	}
	if (weft_import_tflite(file, n, r->model, &g, msg))
		fail_msg("%s: %s", r->name, msg);
	free(file);
	assert_in_range(g->n_inputs, 1, 4);
	for (int i = 0; i < g->n_inputs; i++)
		in[i] = make_input(r, g->tensors[g->inputs[i]].t);
	weft_tensor *all = calloc((size_t)g->n_tensors, sizeof *all);
	assert_non_null(all);
	if (weft_golden_exec(g, in, all, true, msg))
		fail_msg("%s: %s", r->name, msg);
	int checked = compare(r, g, all);
	print_message("%s: %d results\n", r->name, checked);
	assert_true(checked > 1);
	weft_golden_release(g, all);
	free(all);
	for (int i = 0; i < g->n_inputs; i++)
		free(in[i].data);
	weft_graph_free(g);
	free(r->lines);
}

/* A network that reads up to an operator of somebody's own, which the message names. */
static void custom_operator_bad(void **state)
{
	char path[700], msg[WEFT_MSG] = "";
	weft_graph *g = NULL;
	size_t n;

	(void)state;
	snprintf(path, sizeof path, "%s/coral_test_data/posenet_mobilenet_v1_075_353_481_16_quant_decoder.tflite", test_data());
	char *file = test_file(path, &n);
	if (!file) {
		print_message("%s is absent\n", path);
		skip();
	}
	assert_int_equal(weft_import_tflite(file, n, "posenet", &g, msg), -ENOTSUP);
	assert_string_equal(msg, "operator 37 CUSTOM:PosenetDecoderOp: no function for it; weft_load_options.custom or weft --custom takes them (weft/custom.h); --backbone runs the network without it");
	assert_null(g);
	/* What comes before it runs. */
	assert_int_equal(weft_import_tflite_with(file, n, "posenet", &(struct weft_tflite_options){ .backbone = true }, &g, msg), 0);
	assert_int_equal(g->n_outputs, 3);
	assert_string_equal(g->srcs[g->n_srcs - 1].name, "CUSTOM:PosenetDecoderOp");
	assert_int_equal(g->srcs[g->n_srcs - 1].out, -1);
	weft_graph_free(g);
	free(file);
}

/* "= model input" starts a run; its lines follow. */
static int read_runs(struct run *runs)
{
	size_t bytes;
	char *text = test_file(EXPECTED, &bytes), *p = text ? strstr(text, "\n= ") : NULL;
	int n = 0;

	while (p && n < MAX_RUNS) {
		struct run *r = &runs[n++];
		char *end = strstr(p + 1, "\n= "), *first = strchr(p + 1, '\n');
		if (sscanf(p + 1, "= %127s %15s", r->model, r->input) != 2 || !first)
			break;
		snprintf(r->name, sizeof r->name, "%.127s %.15s", r->model, r->input);
		r->lines = strndup(first + 1, end ? (size_t)(end - first) : strlen(first));
		p = end;
	}
	free(text);
	return n;
}

int main(void)
{
	static struct run runs[MAX_RUNS];
	struct CMUnitTest tests[MAX_RUNS + 1];
	int n = read_runs(runs);

	memset(tests, 0, sizeof tests);
	for (int i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ .name = runs[i].name, .test_func = network, .initial_state = &runs[i] };
	if (n < 2) {
		fprintf(stderr, "%s: %d runs\n", EXPECTED, n);
		return 1;
	}
	tests[n] = (struct CMUnitTest)cmocka_unit_test(custom_operator_bad);
	return _cmocka_run_group_tests("uint8", tests, (size_t)n + 1, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random single operators through importer and golden: the outputs that
 * TensorFlow Lite's reference kernels gave, bit for bit; also by way of .tosa.
 *
 * tests/models/{tflite,litert}_ops.gz hold networks of one operator and the CRC-32
 * of their outputs; tools/train/record_ops.py wrote them and says how inputs are made.
 *
 * One in SAMPLE, at test-full every one, is also compiled for w16 and w8 and runs on the
 * functional model, which has to make every element that golden has.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include "tests/support/level.h"
#include "tests/support/recorded.h"
#include "tests/unit/compile_run.h"
#include "userlib/export/tosa.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/import/tosa/tosa.h"
#include "userlib/run/golden_exec.h"

#define MAX_PORTS 16
#define SAMPLE 8

#define EDGES UINT32_MAX   /* the modulus that stands for the numbers at the edges of a type */

/* Puts the edge of t's type (float32, int32 or int64) with that number, of 16, to its element i. tools/train/record_ops.py has the same ones. */
static void put_edge(const weft_tensor *t, int64_t i, uint32_t number)
{
	static const uint32_t real[16] = { 0, 0x80000000, 0x7fc00000, 0x7f800000, 0xff800000, 1, 0x80000001, 0x007fffff,
		0x3f000000, 0xbf000000, 0xc0200000, 0x3fc00000, 0xbe99999a, 0x7f7fffff, 0xff7fffff, 0x4b000001 };
	static const int64_t whole[8] = { INT64_MIN, INT64_MAX, INT64_MIN + 1, -1, 0, 1, INT64_C(1) << 62, -(INT64_C(1) << 62) };
	static const int32_t word[8] = { INT32_MIN, INT32_MAX, INT32_MIN + 1, -1, 0, 1, 1 << 30, -(1 << 30) };

	switch (t->dtype) {
	case WEFT_FP32: ((uint32_t *)t->data)[i] = real[number]; break;
	case WEFT_INT32: ((int32_t *)t->data)[i] = word[number % 8]; break;
	case WEFT_INT64: ((int64_t *)t->data)[i] = whole[number % 8]; break;
	default: fail_msg("no edges of type %s", weft_dtype_name(t->dtype));
	}
}

static void put(const weft_tensor *t, int64_t i, uint32_t v, uint32_t modulus)
{
	if (modulus == EDGES && v & 1) {
		put_edge(t, i, v / 2 % 16);
		return;
	}
	if (modulus == EDGES)
		modulus = 0;
	int64_t plain = modulus ? (int64_t)(v % modulus) : (int64_t)(v % 2001) - 1000;
	uint32_t low = modulus ? v % modulus : v >> 4;

	switch (t->dtype) {
	case WEFT_INT8:
	case WEFT_UINT8:
	case WEFT_BOOL:
		((uint8_t *)t->data)[i] = (uint8_t)low;
		break;
	case WEFT_INT16:
	case WEFT_UINT16:
		((uint16_t *)t->data)[i] = (uint16_t)low;
		break;
	case WEFT_INT32:
		((int32_t *)t->data)[i] = (int32_t)plain;
		break;
	case WEFT_INT64:
		((int64_t *)t->data)[i] = plain;
		break;
	case WEFT_FP32:
		((float *)t->data)[i] = modulus ? (float)low : (float)((int32_t)v - (1 << 23)) / 2097152.0f;
		break;
	case WEFT_FP16:
		((uint16_t *)t->data)[i] = (uint16_t)weft_float_encode(WEFT_FP16, (double)plain / 64, false);
		break;
	default:
		fail_msg("input of type %s", weft_dtype_name(t->dtype));
	}
}

static weft_tensor make_input(const weft_graph *g, int i, uint32_t modulus, uint32_t *x)
{
	weft_tensor t = g->tensors[g->inputs[i]].t;

	t.data = calloc(1, weft_tensor_bytes(&t));
	assert_non_null(t.data);
	for (int64_t k = 0; k < weft_tensor_elements(&t); k++) {
		*x = *x * 1664525u + 1013904223u;
		put(&t, k, *x >> 8, modulus);
	}
	return t;
}

struct one {
	char name[128];
	uint32_t modulus[MAX_PORTS], crc[MAX_PORTS];
	int n_in, n_out;
	const uint8_t *file;
	uint32_t file_bytes;
	enum weft_runtime runtime;
};

static void read_one(struct reader *r, struct one *c)
{
	uint32_t n = number(r, 2);

	assert_true(n < sizeof c->name);
	memcpy(c->name, take(r, n), n);
	c->name[n] = 0;
	c->file_bytes = number(r, 4);
	c->file = take(r, c->file_bytes);
	c->n_in = (int)number(r, 1);
	assert_in_range(c->n_in, 1, MAX_PORTS);
	for (int i = 0; i < c->n_in; i++)
		c->modulus[i] = number(r, 4);
	c->n_out = (int)number(r, 1);
	assert_in_range(c->n_out, 1, MAX_PORTS);
	for (int i = 0; i < c->n_out; i++)
		c->crc[i] = number(r, 4);
}

/* Makes every NaN of result t the same, if it is float32 and the case has inputs at the edges of their types. */
static void one_nan(const struct one *c, const weft_tensor *t)
{
	bool edges = false;

	for (int i = 0; i < c->n_in; i++)
		edges |= c->modulus[i] == EDGES;
	for (int64_t i = 0; edges && t->dtype == WEFT_FP32 && i < weft_tensor_elements(t); i++)
		if (isnan(((float *)t->data)[i]))
			((uint32_t *)t->data)[i] = 0x7fc00000;
}

enum way { PLAIN, FAST, TOSA, N_WAYS };   /* golden's loops; its fast ones; those of the network written as .tosa */

static const char *const way_name[N_WAYS] = { "", " (fast)", " (.tosa)" };

/* TOSA has no such tensors. */
static bool has_int64(const weft_graph *g)
{
	for (int i = 0; i < g->n_tensors; i++)
		if (g->tensors[i].t.dtype == WEFT_INT64)
			return true;
	return false;
}

static bool by_tosa(weft_graph **g, const char *name, char *msg)
{
	char custom[WEFT_MSG] = "";
	uint8_t *file = NULL;
	size_t bytes;
	int n;

	if (weft_export_tosa(*g, false, &file, &bytes, &n, custom, msg))
		return false;
	weft_graph_free(*g);
	*g = NULL;
	int err = weft_import_tosa(file, bytes, name, g, msg);
	free(file);
	return !err;
}

/* Runs what a program of the network does on the functional model; a difference from golden fails the test. */
static void run_on_model(const struct one *c, int index)
{
	static const char *const configs[] = { "w16", "w8" };
	const struct weft_tflite_options o = { .runtime = c->runtime };
	weft_graph *g = NULL;
	weft_tensor in[MAX_PORTS];
	char msg[WEFT_MSG] = "", what[100];
	uint32_t x = 1;

	assert_int_equal(weft_import_tflite_with(c->file, c->file_bytes, c->name, &o, &g, msg), 0);
	for (int i = 0; i < c->n_in; i++)
		in[i] = make_input(g, i, c->modulus[i], &x);
	for (int k = 0; k < 2 && !g->n_subs && !g->n_vars; k++) {
		const struct weft_compile_options compile = { .config = configs[k], .quick = true };
		snprintf(what, sizeof what, "case %d %.60s on %s", index, c->name, configs[k]);
		compile_run(g, &compile, in, what);
	}
	for (int i = 0; i < c->n_in; i++)
		free(in[i].data);
	weft_graph_free(g);
}

static bool agrees(const struct one *c, int index, enum way way)
{
	weft_tensor in[MAX_PORTS], *all;
	weft_graph *g = NULL;
	char msg[WEFT_MSG] = "";
	uint32_t x = 1;
	bool good = true;

	const struct weft_tflite_options o = { .runtime = c->runtime };
	if (weft_import_tflite_with(c->file, c->file_bytes, c->name, &o, &g, msg)) {
		print_error("case %d %s: %s\n", index, c->name, msg);
		return false;
	}
	if (way == TOSA && !has_int64(g) && !by_tosa(&g, c->name, msg)) {
		print_error("case %d %s as .tosa: %s\n", index, c->name, msg);
		weft_graph_free(g);
		return false;
	}
	assert_int_equal(g->n_inputs, c->n_in);
	assert_int_equal(g->n_outputs, c->n_out);
	for (int i = 0; i < c->n_in; i++)
		in[i] = make_input(g, i, c->modulus[i], &x);
	all = calloc((size_t)g->n_tensors, sizeof *all);
	assert_non_null(all);
	if (weft_golden_exec(g, in, all, way != PLAIN, msg))
		fail_msg("case %d %s: %s", index, c->name, msg);
	for (int i = 0; i < c->n_out; i++) {
		const weft_tensor *y = &all[g->outputs[i]];
		one_nan(c, y);
		uint32_t got = (uint32_t)crc32(0, y->data, (uInt)weft_tensor_bytes(y));
		if (got != c->crc[i]) {
			print_error("case %d %s%s: output %d has CRC-32 %08x, expected %08x\n", index, c->name, way_name[way],
			            i, (unsigned)got, (unsigned)c->crc[i]);
			good = false;
		}
	}
	weft_golden_release(g, all);
	free(all);
	for (int i = 0; i < c->n_in; i++)
		free(in[i].data);
	weft_graph_free(g);
	return good;
}

static void judge_all(const char *file, enum weft_runtime runtime, int at_least)
{
	struct reader r = open_recorded(file, "TFLOPS1\n");
	struct one c = { .runtime = runtime };
	int n = 0, bad = 0;

	for (; r.at < r.n; n++) {
		read_one(&r, &c);
		for (int way = PLAIN; way < N_WAYS; way++)
			bad += !agrees(&c, n, (enum way)way);
		if (n % SAMPLE == 0 || test_level() > 1)
			run_on_model(&c, n);
	}
	free(r.p);
	print_message("%d operators\n", n);
	assert_in_range(n, at_least, 100000);
	assert_int_equal(bad, 0);
}

static void tflite_2_14(void **state)
{
	(void)state;
	judge_all("tests/models/tflite_ops.gz", WEFT_RUNTIME_TFLITE_2_14, 600);
}

static void litert_2_3(void **state)
{
	(void)state;
	judge_all("tests/models/litert_ops.gz", WEFT_RUNTIME_LITERT_2_3, 5000);
}

/* Operators on plain numbers, which the host computes. */
static void litert_2_3_host(void **state)
{
	(void)state;
	judge_all("tests/models/litert_host_ops.gz", WEFT_RUNTIME_LITERT_2_3, 700);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tflite_2_14), cmocka_unit_test(litert_2_3), cmocka_unit_test(litert_2_3_host) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

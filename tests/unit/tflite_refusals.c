/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks of one TFLite operator, each changed in one place at a time, where the format allows a number but the
 * operator may not: another operator with the same operands and options; types, shapes, ranks, scales, zero points
 * and the quantised dimension of each tensor; operands that are missing, absent or another tensor; options; small
 * constants. Each loads as a graph that passes the check, or is refused with one line. This comes to the refusals
 * that random damage (unit/tflite_bad) hits by luck only.
 *
 * The networks are one of each name in tests/models/{tflite,litert_host}_ops.gz, and those of
 * litert_flow.gz. WEFT_N is how many of a
 * network's changes are skipped for one that is tried; WEFT_SEED with which the first begins.
 */
#include "tests/support/odd_buffer.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/level.h"
#include "tests/support/recorded_values.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/import/tflite/tflite_ids.h"

#define MAX_NAMES 1024
#define N(a) (sizeof(a) / sizeof *(a))

static int load(const struct odd_file *f, weft_graph **g, char *msg)
{
	const struct weft_tflite_options o = { .runtime = (enum weft_runtime)f->how };

	return weft_import_tflite_with(f->p, f->n, "odd", &o, g, msg);
}

static void change_quant(struct odd_file *f, const struct fb_table *t, uint32_t i)
{
	const int64_t scales[] = { 0, odd_bits(-1), 0x7fc00000, 0x7f800000, odd_bits(1e-30f), odd_bits(1e30f), odd_bits(0.5f), odd_bits(0.1f) };
	const int64_t points[] = { 0, 1, -1, -128, 127, -129, 128, 255, 256, INT64_MIN };
	const int64_t dims[] = { 0, 1, 2, 3, 4, 9, -1 };
	struct fb_table q;
	struct fb_vec v;

	if (fb_sub(&f->b, t, TENSOR_QUANTIZATION, &q) <= 0)
		return;
	if (fb_vector(&f->b, &q, QUANT_SCALE, 4, &v) > 0) {
		odd_try_count(f, &v, "scales of tensor", i);
		for (uint32_t k = 0; k < v.n && k < 2; k++)
			odd_try_all(f, v.at + 4 * k, 4, scales, N(scales), "scale of tensor", i);
	}
	if (fb_vector(&f->b, &q, QUANT_ZERO_POINT, 8, &v) > 0) {
		odd_try_count(f, &v, "zero points of tensor", i);
		for (uint32_t k = 0; k < v.n && k < 2; k++)
			odd_try_all(f, v.at + 8 * k, 8, points, N(points), "zero point of tensor", i);
	}
	if (odd_field(f, &q, QUANT_DIMENSION))
		odd_try_all(f, odd_field(f, &q, QUANT_DIMENSION), 4, dims, N(dims), "quantised dimension of tensor", i);
}

static void change_tensor(struct odd_file *f, const struct fb_table *t, uint32_t i)
{
	struct fb_vec shape;

	for (int type = 0; odd_field(f, t, TENSOR_TYPE) && type < TFL_N_TYPES; type++)
		odd_try(f, odd_field(f, t, TENSOR_TYPE), 1, type, "type of tensor", i);
	if (fb_vector(&f->b, t, TENSOR_SHAPE, 4, &shape) > 0) {
		odd_try_count(f, &shape, "rank of tensor", i);
		for (uint32_t k = 0; k < shape.n; k++) {
			int64_t d = fb_i32_at(&f->b, &shape, k);
			const int64_t dims[] = { 0, -1, 1, 2, d + 1, d - 1, 2 * d, 7, 1 << 20, INT32_MAX };

			odd_try_all(f, shape.at + 4 * k, 4, dims, N(dims), "dimension of tensor", i);
		}
	}
	change_quant(f, t, i);
	if (odd_field(f, t, TENSOR_BUFFER))      /* a constant becomes none, and the other way round */
		for (int buffer = 0; buffer < 5; buffer++)
			odd_try(f, odd_field(f, t, TENSOR_BUFFER), 4, buffer, "buffer of tensor", i);
	if (odd_field(f, t, TENSOR_IS_VARIABLE))
		odd_try(f, odd_field(f, t, TENSOR_IS_VARIABLE), 1, 1, "variable tensor", i);
}

static void change_list(struct odd_file *f, const struct fb_table *t, int field, int n_tensors, const char *what, uint32_t i)
{
	struct fb_vec v;

	if (fb_vector(&f->b, t, field, 4, &v) <= 0)
		return;
	odd_try_count(f, &v, what, i);
	for (uint32_t k = 0; k < v.n; k++)
		for (int tensor = -1; tensor <= n_tensors; tensor++)
			odd_try(f, v.at + 4 * k, 4, tensor, what, i);
}

static void change_operator(struct odd_file *f, const struct fb_table *t, int n_tensors, uint32_t i)
{
	struct fb_table o;

	change_list(f, t, OP_INPUTS, n_tensors, "operands of operator", i);
	change_list(f, t, OP_OUTPUTS, n_tensors, "results of operator", i);
	if (odd_field(f, t, OP_OPTIONS_TYPE))
		for (int type = 0; type < 120; type += 3)
			odd_try(f, odd_field(f, t, OP_OPTIONS_TYPE), 1, type, "type of options of operator", i);
	if (fb_sub(&f->b, t, OP_OPTIONS, &o) <= 0)
		return;
	odd_try_options(f, &o, i);
}

/* The first words of small constants: axes, shapes, paddings. */
static void change_buffers(struct odd_file *f, const struct fb_table *model)
{
	const int64_t words[] = { -1, 0, 1, 2, 3, 4, 100, INT32_MIN, INT32_MAX };
	struct fb_vec buffers, data;
	struct fb_table t;

	if (fb_vector(&f->b, model, MODEL_BUFFERS, 4, &buffers) <= 0)
		return;
	for (uint32_t i = 0; i < buffers.n; i++)
		if (!fb_vector_table(&f->b, &buffers, i, &t) && fb_vector(&f->b, &t, BUFFER_DATA, 1, &data) > 0 && data.n <= 64) {
			odd_try_count(f, &data, "bytes of buffer", i);
			for (uint32_t at = 0; at + 4 <= data.n; at += 4)
				odd_try_all(f, data.at + at, 4, words, N(words), "word of buffer", i);
		}
}

static void change_codes(struct odd_file *f, const struct fb_table *model)
{
	struct fb_vec codes;
	struct fb_table t;

	if (fb_vector(&f->b, model, MODEL_OPERATOR_CODES, 4, &codes) <= 0)
		return;
	for (uint32_t i = 0; i < codes.n; i++)
		for (int code = 0; !fb_vector_table(&f->b, &codes, i, &t) && code < 220; code++) {
			if (odd_field(f, &t, CODE_BUILTIN))
				odd_try(f, odd_field(f, &t, CODE_BUILTIN), 4, code, "operator", i);
			else if (odd_field(f, &t, CODE_DEPRECATED))
				odd_try(f, odd_field(f, &t, CODE_DEPRECATED), 1, code < 127 ? code : 127, "operator", i);
		}
}

/* All changes of one file. */
static void change(struct odd_file *f)
{
	struct fb_table model, graph, t;
	struct fb_vec graphs, tensors, operators;

	f->b = (struct fb){ f->p, f->n, "file", -1, f->msg, sizeof f->msg };
	if (fb_root(&f->b, &model) || fb_vector(&f->b, &model, MODEL_SUBGRAPHS, 4, &graphs) <= 0)
		fail_msg("%s: %s", f->name, f->msg);
	change_codes(f, &model);
	change_buffers(f, &model);
	for (uint32_t s = 0; s < graphs.n; s++) {
		if (fb_vector_table(&f->b, &graphs, s, &graph) || fb_vector(&f->b, &graph, SUBGRAPH_TENSORS, 4, &tensors) <= 0)
			continue;
		for (uint32_t i = 0; i < tensors.n; i++)
			if (!fb_vector_table(&f->b, &tensors, i, &t))
				change_tensor(f, &t, i);
		change_list(f, &graph, SUBGRAPH_INPUTS, (int)tensors.n, "inputs of graph", s);
		change_list(f, &graph, SUBGRAPH_OUTPUTS, (int)tensors.n, "outputs of graph", s);
		if (fb_vector(&f->b, &graph, SUBGRAPH_OPERATORS, 4, &operators) <= 0)
			continue;
		for (uint32_t i = 0; i < operators.n; i++)
			if (!fb_vector_table(&f->b, &operators, i, &t))
				change_operator(f, &t, (int)tensors.n, i);
	}
}

/* All changes of a copy of the n bytes at `file`, of its own, so that the sanitizer sees its end. */
static void change_copy(struct odd_file *f, const uint8_t *file, uint32_t n)
{
	f->n = n;
	f->p = malloc(n);
	assert_non_null(f->p);
	memcpy(f->p, file, n);
	change(f);
	assert_memory_equal(f->p, file, n);
	free(f->p);
}

static void judge(const struct odd_file *f, int n_names)
{
	print_message("%d networks, one in %d of %lld changes: %ld loaded, %ld refused, %ld wrong\n", n_names, (int)f->every, (long long)f->at,
	              f->count.loaded, f->count.refused, f->wrong);
	assert_true(f->count.loaded > 0 && f->count.refused > 0);
	assert_int_equal(f->wrong, 0);
}

static void changes_of(const char *path, enum weft_runtime runtime)
{
	struct reader r = open_recorded(path, "TFLOPS1\n");
	static char names[MAX_NAMES][CASE_NAME];
	struct odd_file f = { .how = (int)runtime, .load = load, .every = (uint64_t)test_every(17, 7, 1), .first = (uint64_t)test_seed(0) };
	int n_names = 0;

	f.first %= f.every;
	while (r.at < r.n) {
		const struct one_operator c = read_operator(&r);
		bool known = false;

		for (int i = 0; i < n_names && !known; i++)
			known = !strcmp(names[i], c.name);
		if (known)
			continue;
		assert_in_range(n_names, 0, MAX_NAMES - 1);
		memcpy(names[n_names++], c.name, sizeof c.name);
		memcpy(f.name, c.name, sizeof c.name);
		change_copy(&f, c.file, c.file_bytes);
	}
	free(r.p);
	judge(&f, n_names);
}

/* Networks with loops, branches, lists and variables: fewer of their changes, since they are larger. */
static void litert_flow(void **state)
{
	struct reader r = open_recorded("tests/models/litert_flow.gz", "TFLFLOW1");
	struct odd_file f = { .how = WEFT_RUNTIME_LITERT_2_3, .load = load, .every = (uint64_t)test_every(1009, 503, 7), .first = (uint64_t)test_seed(0) };
	int n = 0;

	(void)state;
	f.first %= f.every;
	while (r.at < r.n) {
		const struct values c = read_values(&r);

		if (test_level() < 2 && c.file_bytes > 20000)      /* one of 60 KB takes most of the time */
			continue;
		n++;
		snprintf(f.name, sizeof f.name, "%.*s", CASE_NAME - 1, c.name);
		change_copy(&f, c.file, c.file_bytes);
	}
	free(r.p);
	judge(&f, n);
}

static void tflite_2_14(void **state)
{
	(void)state;
	changes_of("tests/models/tflite_ops.gz", WEFT_RUNTIME_TFLITE_2_14);
}

static void litert_host(void **state)
{
	(void)state;
	changes_of("tests/models/litert_host_ops.gz", WEFT_RUNTIME_LITERT_2_3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tflite_2_14),
		cmocka_unit_test(litert_host),
		cmocka_unit_test(litert_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks of one TFLite operator, each changed in one place at a time, where the format allows a number but the
 * operator may not: another operator with the same operands and options; types, shapes, ranks, scales, zero points
 * and the quantised dimension of each tensor; operands that are missing, absent or another tensor; options; small
 * constants. Each loads as a graph that passes the check, or is refused with one line. This comes to the refusals
 * that random damage (unit/tflite_bad) hits by luck only.
 *
 * The networks are one of each name in tests/models/{tflite,litert,litert_host}_ops.gz. WEFT_N is how many of a
 * network's changes are skipped for one that is tried; WEFT_SEED with which the first begins.
 */
#include "tests/support/odd_import.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/level.h"
#include "tests/support/recorded.h"
#include "userlib/import/fb.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/import/tflite/tflite_ids.h"

#define MAX_NAMES 1024
#define N(a) (sizeof(a) / sizeof *(a))

struct file {
	char name[128];
	uint8_t *p;                /* a copy that changes, and is whole again after each change */
	uint32_t n;
	enum weft_runtime runtime;
	struct fb b;
	char msg[WEFT_MSG];
	uint64_t at, every, first; /* changes so far; one in `every` is tried, beginning with `first` */
	struct odd_count count;
	long wrong;
};

/* Puts `bytes` bytes of v at `at`, loads the file, and puts back what was there. `what` and `of` name the place. */
static void try(struct file *f, size_t at, int bytes, int64_t v, const char *what, uint32_t of)
{
	uint8_t old[8];
	const struct weft_tflite_options o = { .runtime = f->runtime };
	char msg[WEFT_MSG] = "", place[300];
	weft_graph *g = NULL;

	if (at + (size_t)bytes > f->n || f->at++ % f->every != f->first)
		return;
	memcpy(old, f->p + at, (size_t)bytes);
	for (int i = 0; i < bytes; i++)
		f->p[at + (size_t)i] = (uint8_t)((uint64_t)v >> (8 * i));
	int err = weft_import_tflite_with(f->p, f->n, "odd", &o, &g, msg);
	snprintf(place, sizeof place, "%s, %s %u at %zu: %lld", f->name, what, (unsigned)of, at, (long long)v);
	f->wrong += !odd_judge(err, g, msg, place, &f->count);
	memcpy(f->p + at, old, (size_t)bytes);
}

static void try_all(struct file *f, size_t at, int bytes, const int64_t *v, size_t n, const char *what, uint32_t of)
{
	for (size_t i = 0; i < n; i++)
		try(f, at, bytes, v[i], what, of);
}

/* Position of a field of a table, 0 if it is absent. */
static size_t field_at(const struct file *f, const struct fb_table *t, int field)
{
	size_t entry = t->vtable + 4 + 2 * (size_t)field;
	uint16_t off;

	if (entry + 2 > t->vtable + t->vtable_bytes)
		return 0;
	memcpy(&off, f->p + entry, 2);
	return off ? t->at + off : 0;
}

/* The count of a vector's elements, which stands in front of them. */
static void try_count(struct file *f, const struct fb_vec *v, const char *what, uint32_t of)
{
	const int64_t counts[] = { 0, 1, 2, 3, (int64_t)v->n - 1, (int64_t)v->n + 1, 5, 9 };

	if (v->at >= 4)
		try_all(f, v->at - 4, 4, counts, N(counts), what, of);
}

static int64_t bits(float v)
{
	uint32_t u;

	memcpy(&u, &v, 4);
	return u;
}

static void change_quant(struct file *f, const struct fb_table *t, uint32_t i)
{
	const int64_t scales[] = { 0, bits(-1), 0x7fc00000, 0x7f800000, bits(1e-30f), bits(1e30f), bits(0.5f), bits(0.1f) };
	const int64_t points[] = { 0, 1, -1, -128, 127, -129, 128, 255, 256, INT64_MIN };
	const int64_t dims[] = { 0, 1, 2, 3, 4, 9, -1 };
	struct fb_table q;
	struct fb_vec v;

	if (fb_sub(&f->b, t, TENSOR_QUANTIZATION, &q) <= 0)
		return;
	if (fb_vector(&f->b, &q, QUANT_SCALE, 4, &v) > 0) {
		try_count(f, &v, "scales of tensor", i);
		for (uint32_t k = 0; k < v.n && k < 2; k++)
			try_all(f, v.at + 4 * k, 4, scales, N(scales), "scale of tensor", i);
	}
	if (fb_vector(&f->b, &q, QUANT_ZERO_POINT, 8, &v) > 0) {
		try_count(f, &v, "zero points of tensor", i);
		for (uint32_t k = 0; k < v.n && k < 2; k++)
			try_all(f, v.at + 8 * k, 8, points, N(points), "zero point of tensor", i);
	}
	if (field_at(f, &q, QUANT_DIMENSION))
		try_all(f, field_at(f, &q, QUANT_DIMENSION), 4, dims, N(dims), "quantised dimension of tensor", i);
}

static void change_tensor(struct file *f, const struct fb_table *t, uint32_t i)
{
	struct fb_vec shape;

	for (int type = 0; field_at(f, t, TENSOR_TYPE) && type < TFL_N_TYPES; type++)
		try(f, field_at(f, t, TENSOR_TYPE), 1, type, "type of tensor", i);
	if (fb_vector(&f->b, t, TENSOR_SHAPE, 4, &shape) > 0) {
		try_count(f, &shape, "rank of tensor", i);
		for (uint32_t k = 0; k < shape.n; k++) {
			int64_t d = fb_i32_at(&f->b, &shape, k);
			const int64_t dims[] = { 0, -1, 1, 2, d + 1, d - 1, 2 * d, 7, 1 << 20, INT32_MAX };

			try_all(f, shape.at + 4 * k, 4, dims, N(dims), "dimension of tensor", i);
		}
	}
	change_quant(f, t, i);
	if (field_at(f, t, TENSOR_BUFFER))      /* a constant becomes none, and the other way round */
		for (int buffer = 0; buffer < 5; buffer++)
			try(f, field_at(f, t, TENSOR_BUFFER), 4, buffer, "buffer of tensor", i);
	if (field_at(f, t, TENSOR_IS_VARIABLE))
		try(f, field_at(f, t, TENSOR_IS_VARIABLE), 1, 1, "variable tensor", i);
}

static void change_list(struct file *f, const struct fb_table *t, int field, int n_tensors, const char *what, uint32_t i)
{
	struct fb_vec v;

	if (fb_vector(&f->b, t, field, 4, &v) <= 0)
		return;
	try_count(f, &v, what, i);
	for (uint32_t k = 0; k < v.n; k++)
		for (int tensor = -1; tensor <= n_tensors; tensor++)
			try(f, v.at + 4 * k, 4, tensor, what, i);
}

static void change_operator(struct file *f, const struct fb_table *t, int n_tensors, uint32_t i)
{
	const int64_t bytes[] = { 0, 1, 2, 3, 4, 5, 127, 255 }, words[] = { -1, INT32_MAX, 0x7fc00000, bits(0.5f), 3 };
	struct fb_table o;

	change_list(f, t, OP_INPUTS, n_tensors, "operands of operator", i);
	change_list(f, t, OP_OUTPUTS, n_tensors, "results of operator", i);
	if (field_at(f, t, OP_OPTIONS_TYPE))
		for (int type = 0; type < 120; type += 3)
			try(f, field_at(f, t, OP_OPTIONS_TYPE), 1, type, "type of options of operator", i);
	if (fb_sub(&f->b, t, OP_OPTIONS, &o) <= 0)
		return;
	for (int field = 0; field < (int)(o.vtable_bytes - 4) / 2; field++) {
		size_t at = field_at(f, &o, field);

		if (!at)
			continue;
		try_all(f, at, 1, bytes, N(bytes), "option of operator", i);
		if (at % 4 == 0)
			try_all(f, at, 4, words, N(words), "option of operator", i);
	}
}

/* The first words of small constants: axes, shapes, paddings. */
static void change_buffers(struct file *f, const struct fb_table *model)
{
	const int64_t words[] = { -1, 0, 1, 2, 3, 4, 100, INT32_MIN, INT32_MAX };
	struct fb_vec buffers, data;
	struct fb_table t;

	if (fb_vector(&f->b, model, MODEL_BUFFERS, 4, &buffers) <= 0)
		return;
	for (uint32_t i = 0; i < buffers.n; i++)
		if (!fb_vector_table(&f->b, &buffers, i, &t) && fb_vector(&f->b, &t, BUFFER_DATA, 1, &data) > 0 && data.n <= 64) {
			try_count(f, &data, "bytes of buffer", i);
			for (uint32_t at = 0; at + 4 <= data.n; at += 4)
				try_all(f, data.at + at, 4, words, N(words), "word of buffer", i);
		}
}

static void change_codes(struct file *f, const struct fb_table *model)
{
	struct fb_vec codes;
	struct fb_table t;

	if (fb_vector(&f->b, model, MODEL_OPERATOR_CODES, 4, &codes) <= 0)
		return;
	for (uint32_t i = 0; i < codes.n; i++)
		for (int code = 0; !fb_vector_table(&f->b, &codes, i, &t) && code < 220; code++) {
			if (field_at(f, &t, CODE_BUILTIN))
				try(f, field_at(f, &t, CODE_BUILTIN), 4, code, "operator", i);
			else if (field_at(f, &t, CODE_DEPRECATED))
				try(f, field_at(f, &t, CODE_DEPRECATED), 1, code < 127 ? code : 127, "operator", i);
		}
}

/* All changes of one file. */
static void change(struct file *f)
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

static void changes_of(const char *path, enum weft_runtime runtime)
{
	struct reader r = open_recorded(path, "TFLOPS1\n");
	static char names[MAX_NAMES][128];
	struct file f = { .runtime = runtime, .every = (uint64_t)test_count(17, 7, 1), .first = (uint64_t)test_seed(0) };
	int n_names = 0;

	f.first %= f.every;
	while (r.at < r.n) {
		uint32_t n = number(&r, 2);
		bool known = false;

		assert_true(n < sizeof f.name);
		memcpy(f.name, take(&r, n), n);
		f.name[n] = '\0';
		f.n = number(&r, 4);
		const uint8_t *file = take(&r, f.n);
		take(&r, 4 * (size_t)number(&r, 1));
		take(&r, 4 * (size_t)number(&r, 1));
		for (int i = 0; i < n_names && !known; i++)
			known = !strcmp(names[i], f.name);
		if (known)
			continue;
		assert_in_range(n_names, 0, MAX_NAMES - 1);
		memcpy(names[n_names++], f.name, sizeof f.name);
		f.p = malloc(f.n);         /* of its own, so that the sanitizer sees its end */
		assert_non_null(f.p);
		memcpy(f.p, file, f.n);
		change(&f);
		assert_memory_equal(f.p, file, f.n);
		free(f.p);
	}
	free(r.p);
	print_message("%d networks, one in %d of %lld changes: %ld loaded, %ld refused, %ld wrong\n", n_names, (int)f.every, (long long)f.at,
	              f.count.loaded, f.count.refused, f.wrong);
	assert_true(f.count.loaded > 0 && f.count.refused > 0);
	assert_int_equal(f.wrong, 0);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOSA files, each changed in one place at a time, where the format allows a number but the operator or the block may
 * not: another operator with the same operands and attributes, attributes of another kind, another name of the block in place of an
 * operand, a result, an input or an output; types, shapes and ranks of tensors, variables and values of shapes; versions.
 * Each loads as a graph that passes the check, or is refused with one line.
 *
 * The files are what recorded networks of one operator and of control flow become. WEFT_N is how many changes are
 * skipped for one that is tried; WEFT_SEED with which the first begins.
 */
#include "tests/support/odd_buffer.h"

#include <stdlib.h>

#include "tests/support/level.h"
#include "tests/support/recorded_values.h"
#include "userlib/import/tosa/tosa.h"
#include "userlib/import/tosa/tosa_ids.h"

#define N(a) (sizeof(a) / sizeof *(a))
#define MAX_NAMES 200

/* Where the names of a block's tensors and shapes stand. */
struct names { size_t at[MAX_NAMES]; size_t n; };

static int load(const struct odd_file *f, weft_graph **g, char *msg)
{
	return weft_import_tosa(f->p, f->n, "odd", g, msg);
}

/* Where the string or vector stands to which the offset at `at` points. */
static size_t target(const struct odd_file *f, size_t at)
{
	uint32_t off;

	memcpy(&off, f->p + at, 4);
	return at + off;
}

/* A name in place of another: the first, the last and some between. */
static void change_name(struct odd_file *f, size_t at, const struct names *names, const char *what, uint32_t of)
{
	for (size_t k = 0; k < names->n; k += 1 + names->n / 7)
		odd_try(f, at, 4, (int64_t)names->at[k] - (int64_t)at, what, of);
}

static void change_names(struct odd_file *f, const struct fb_table *t, int field, const struct names *names, const char *what, uint32_t of)
{
	struct fb_vec v;

	if (fb_vector(&f->b, t, field, 4, &v) <= 0)
		return;
	odd_try_count(f, &v, what, of);
	for (uint32_t k = 0; k < v.n; k++)
		change_name(f, v.at + 4 * k, names, what, of);
}

static void change_tensor(struct odd_file *f, const struct fb_table *t, const struct names *names, uint32_t i)
{
	struct fb_vec v;

	for (int type = 0; odd_field(f, t, TOSA_TENSOR_TYPE) && type <= TOSA_N_TYPES; type++)
		odd_try(f, odd_field(f, t, TOSA_TENSOR_TYPE), 1, type, "type of tensor", i);
	if (fb_vector(&f->b, t, TOSA_TENSOR_SHAPE, 4, &v) > 0) {
		odd_try_count(f, &v, "rank of tensor", i);
		for (uint32_t k = 0; k < v.n; k++) {
			const int64_t d = fb_i32_at(&f->b, &v, k), dims[] = { 0, -1, 1, 2, d + 1, 7, 1 << 20, INT32_MAX };

			odd_try_all(f, v.at + 4 * k, 4, dims, N(dims), "dimension of tensor", i);
		}
	}
	if (fb_vector(&f->b, t, TOSA_TENSOR_DATA, 1, &v) > 0)
		odd_try_count(f, &v, "bytes of tensor", i);
	if (odd_field(f, t, TOSA_TENSOR_NAME))
		change_name(f, odd_field(f, t, TOSA_TENSOR_NAME), names, "name of tensor", i);
	if (odd_field(f, t, TOSA_TENSOR_VARIABLE))
		odd_try(f, odd_field(f, t, TOSA_TENSOR_VARIABLE), 1, !f->p[odd_field(f, t, TOSA_TENSOR_VARIABLE)], "variable tensor", i);
	if (odd_field(f, t, TOSA_TENSOR_UNRANKED))
		odd_try(f, odd_field(f, t, TOSA_TENSOR_UNRANKED), 1, 1, "tensor without rank", i);
}

static void change_shape(struct odd_file *f, const struct fb_table *t, const struct names *names, uint32_t i)
{
	const int64_t ranks[] = { 0, 1, 2, 3, 4, 9, UINT32_MAX }, words[] = { -1, 0, 1, 2, 7, 1 << 20, INT64_MIN, INT64_MAX };
	struct fb_vec v;

	if (odd_field(f, t, TOSA_SHAPE_RANK))
		odd_try_all(f, odd_field(f, t, TOSA_SHAPE_RANK), 4, ranks, N(ranks), "rank of shape", i);
	if (odd_field(f, t, TOSA_SHAPE_NAME))
		change_name(f, odd_field(f, t, TOSA_SHAPE_NAME), names, "name of shape", i);
	if (fb_vector(&f->b, t, TOSA_SHAPE_DATA, 1, &v) <= 0)
		return;
	odd_try_count(f, &v, "bytes of shape", i);
	for (uint32_t at = 0; at + 8 <= v.n; at += 8)
		odd_try_all(f, v.at + at, 8, words, N(words), "value of shape", i);
}

static void change_operator(struct odd_file *f, const struct fb_table *t, const struct names *names, uint32_t i)
{
	struct fb_table o;

	for (int code = 0; odd_field(f, t, TOSA_OP_OP) && code < 90; code++)
		odd_try(f, odd_field(f, t, TOSA_OP_OP), 4, code, "operator", i);
	for (int kind = 0; odd_field(f, t, TOSA_OP_ATTRIBUTE_TYPE) && kind < 90; kind += 3)
		odd_try(f, odd_field(f, t, TOSA_OP_ATTRIBUTE_TYPE), 1, kind, "kind of attributes of operator", i);
	change_names(f, t, TOSA_OP_INPUTS, names, "operands of operator", i);
	change_names(f, t, TOSA_OP_OUTPUTS, names, "results of operator", i);
	if (fb_sub(&f->b, t, TOSA_OP_ATTRIBUTE, &o) > 0)
		odd_try_options(f, &o, i);
}

static void change_block(struct odd_file *f, const struct fb_table *block)
{
	static void (*const parts[3])(struct odd_file *, const struct fb_table *, const struct names *, uint32_t) = { change_tensor, change_shape, change_operator };
	static const int fields[3] = { TOSA_BLOCK_TENSORS, TOSA_BLOCK_SHAPES, TOSA_BLOCK_OPERATORS };
	struct names names = { .n = 0 };
	struct fb_vec v[3] = { { 0 } };
	struct fb_table t;

	for (int p = 0; p < 3; p++) {
		if (fb_vector(&f->b, block, fields[p], 4, &v[p]) <= 0)
			continue;
		odd_try_count(f, &v[p], "parts of block, field", (uint32_t)fields[p]);
		for (uint32_t i = 0; p < 2 && i < v[p].n && names.n < MAX_NAMES; i++)
			if (!fb_vector_table(&f->b, &v[p], i, &t) && odd_field(f, &t, 0))
				names.at[names.n++] = target(f, odd_field(f, &t, 0));
	}
	for (int p = 0; p < 3; p++)
		for (uint32_t i = 0; i < v[p].n; i++)
			if (!fb_vector_table(&f->b, &v[p], i, &t))
				parts[p](f, &t, &names, i);
	change_names(f, block, TOSA_BLOCK_INPUTS, &names, "inputs of block", 0);
	change_names(f, block, TOSA_BLOCK_OUTPUTS, &names, "outputs of block", 0);
}

/* All changes of one file. */
static void change(struct odd_file *f)
{
	const int64_t numbers[] = { 0, 1, 2, 7, -1 };
	struct fb_vec regions, blocks;
	struct fb_table graph, t;

	f->b = (struct fb){ f->p, f->n, "file", -1, f->msg, sizeof f->msg };
	if (fb_root(&f->b, &graph) || fb_vector(&f->b, &graph, TOSA_GRAPH_REGIONS, 4, &regions) <= 0)
		fail_msg("%s: %s", f->name, f->msg);
	if (fb_sub(&f->b, &graph, TOSA_GRAPH_VERSION, &t) > 0)
		for (int field = TOSA_VERSION_MAJOR; field <= TOSA_VERSION_PATCH; field++)
			if (odd_field(f, &t, field))
				odd_try_all(f, odd_field(f, &t, field), 4, numbers, N(numbers), "version", (uint32_t)field);
	for (uint32_t r = 0; r < regions.n; r++) {
		if (fb_vector_table(&f->b, &regions, r, &t) || fb_vector(&f->b, &t, TOSA_REGION_BLOCKS, 4, &blocks) <= 0)
			continue;
		odd_try_count(f, &blocks, "blocks of region", r);
		for (uint32_t i = 0; i < blocks.n; i++)
			if (!fb_vector_table(&f->b, &blocks, i, &t))
				change_block(f, &t);
	}
}

/* All changes of what a .tflite file becomes as TOSA; true if it can be written so. */
static bool converted(struct odd_file *f, const uint8_t *file, size_t n, const char *name)
{
	char msg[WEFT_MSG_LEN], text[WEFT_MSG_LEN];
	weft_net *net = NULL;
	size_t len = 0;

	snprintf(f->name, sizeof f->name, "%.*s", CASE_NAME - 1, name);
	f->p = NULL;
	if (weft_net_load(file, n, f->name, &net, msg) || weft_net_convert(net, false, &f->p, &len, text, msg)) {
		weft_net_free(net);
		return false;
	}
	weft_net_free(net);
	f->n = (uint32_t)len;
	change(f);
	free(f->p);
	return true;
}

static void judge(const struct odd_file *f, int n)
{
	print_message("%d files, one in %d of %lld changes: %ld loaded, %ld refused, %ld wrong\n", n, (int)f->every, (long long)f->at,
	              f->count.loaded, f->count.refused, f->wrong);
	assert_true(f->count.loaded > 0 && f->count.refused > 0);
	assert_int_equal(f->wrong, 0);
}

/* One network of each name. */
static void operators(void **state)
{
	struct odd_file f = { .load = load, .every = (uint64_t)test_every(61, 31, 1), .first = (uint64_t)test_seed(0) };
	struct reader r = open_recorded("tests/models/litert_host_ops.gz", "TFLOPS1\n");
	char last[CASE_NAME] = "";
	int n = 0;

	(void)state;
	f.first %= f.every;
	while (r.at < r.n) {
		const struct one_operator c = read_operator(&r);

		if (strcmp(c.name, last))          /* one of each name */
			n += converted(&f, c.file, c.file_bytes, c.name);
		memcpy(last, c.name, sizeof last);
	}
	free(r.p);
	judge(&f, n);
}

static void flow(void **state)
{
	struct odd_file f = { .load = load, .every = (uint64_t)test_every(307, 101, 5), .first = (uint64_t)test_seed(0) };
	struct reader r = open_recorded("tests/models/litert_flow.gz", "TFLFLOW1");
	int n = 0;

	(void)state;
	f.first %= f.every;
	while (r.at < r.n) {
		const struct values c = read_values(&r);

		n += converted(&f, c.file, c.file_bytes, c.name);
	}
	free(r.p);
	judge(&f, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(operators), cmocka_unit_test(flow) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

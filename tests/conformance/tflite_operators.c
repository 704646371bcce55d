/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every builtin operator for which LiteRT 2.3 has a kernel has recorded cases, by itself or within networks, or is refused
 * for a reason that stands below. The section ".tflite operators" of docs/COVERAGE.md is made of it; WEFT_WRITE=1 writes it.
 *
 *   tests/models/litert_kernels.txt    the operators, by tools/train/record_kernels.py
 *   tests/models/{litert,litert_host,tflite}_ops.gz    cases of one operator
 *   tests/models/litert_flow.gz, tflite_nets.gz    networks
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "tests/support/page.h"
#include "tests/support/recorded_nets.h"
#include "tests/unit/tflite_build.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/import/tflite/tflite_file.h"

#define KERNELS  "tests/models/litert_kernels.txt"
#define MAX_CODE 256

#define SHAPE    "a shape that depends on data"    /* the importer's message says so, too */

/* Kernels of LiteRT whose operators are refused for good, whatever their operands are. */
static const struct { const char *name, *why; } refused[] = {
	{ "HASHTABLE*", "hash tables" }, { "LSH_PROJECTION", "hashes" }, { "SKIP_GRAM", "strings" }, { "RANDOM_*", "random numbers" },
	{ "MULTINOMIAL", "random numbers" }, { "STABLEHLO_RNG_BIT_GENERATOR", "random numbers" },
};

static struct { char name[48]; int version, alone, nets; } ops[MAX_CODE];

static void read_kernels(void)
{
	FILE *f = fopen(KERNELS, "r");
	char name[48];
	int code, version;

	assert_non_null(f);
	memset(ops, 0, sizeof ops);
	while (fscanf(f, "%d %47s %d", &code, name, &version) == 3) {
		assert_in_range(code, 0, MAX_CODE - 1);
		strcpy(ops[code].name, name);
		ops[code].version = version;
	}
	fclose(f);
}

/* Counts the operators of one file, those of all its subgraphs, each once. */
static void count_file(const uint8_t *file, size_t n, bool alone)
{
	bool has[MAX_CODE] = { false };
	struct tfl_model first, m;
	char msg[WEFT_MSG];

	assert_int_equal(tfl_read(&first, file, n, msg, sizeof msg), 0);
	for (int i = 0; i < first.n_subgraphs; i++) {
		assert_int_equal(tfl_read_subgraph(&m, &first, (uint32_t)i), 0);
		for (int k = 0; k < m.n_ops; k++) {
			assert_in_range(m.ops[k].code, 0, MAX_CODE - 1);
			has[m.ops[k].code] = true;
		}
		tfl_release(&m);
	}
	tfl_release(&first);
	for (int code = 0; code < MAX_CODE; code++)
		*(alone ? &ops[code].alone : &ops[code].nets) += has[code];
}

static void count_ops(const char *path)
{
	struct reader r = open_recorded(path, "TFLOPS1\n");

	while (r.at < r.n) {
		const struct one_operator c = read_operator(&r);

		count_file(c.file, c.file_bytes, true);
	}
	free(r.p);
}

static int count_flow(const char *path)
{
	struct reader r = open_recorded(path, "TFLFLOW1");
	char name[CASE_NAME];
	uint32_t n;
	int cases = 0;

	for (; r.at < r.n; cases++) {
		memset(name, 0, sizeof name);
		const uint8_t *file = read_file(&r, name, &n);
		count_file(file, n, false);
		const uint32_t n_in = number(&r, 1), runs = number(&r, 1), n_out = number(&r, 1);
		for (uint32_t k = 0; k < runs * (n_in + n_out); k++)
			take(&r, number(&r, 4));
	}
	free(r.p);
	return cases;
}

static int count_nets(const char *path)
{
	struct reader r = open_recorded(path, "TFLNETS1");
	int cases = 0;

	for (; r.at < r.n; cases++) {
		const struct one c = read_one(&r);
		count_file(c.file, c.file_bytes, false);
	}
	free(r.p);
	return cases;
}

/* Operators that have cases of constants alone, and are refused for other operands, as the importer's message says. */
static const char *const constants[] = { "WHERE", "UNIQUE", "RANGE" };

static bool of_constants(int code)
{
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
		if (!strcmp(constants[i], ops[code].name))
			return true;
	return false;
}

/* Why operator `code` is refused, in why; "" if it is not known to be. */
static void reason(int code, char *why, size_t n)
{
	*why = 0;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (!fnmatch(refused[i].name, ops[code].name, 0))
			snprintf(why, n, "refused: %s", refused[i].why);
}

/* Loads a network of that operator alone, of one float32. Returns the errno; a failure's line is in msg. */
static int load_one(int code, char msg[WEFT_MSG])
{
	const int32_t dim[] = { 1 };
	struct tb *b = calloc(1, sizeof *b);
	weft_graph *g = NULL;
	size_t n;

	b->n_in = b->n_out = 1;
	b->in[0] = tb_add(b, TFL_FLOAT32, 1, dim, 0, 0);
	b->out[0] = tb_add(b, TFL_FLOAT32, 1, dim, 0, 0);
	struct tb_op *o = tb_op(b, code, 0);
	o->n_in = o->n_out = 1;
	o->in[0] = b->in[0];
	o->out[0] = b->out[0];
	uint8_t *file = tb_file(b, &n);
	int err = weft_import_tflite(file, n, "one", &g, msg);
	weft_graph_free(err ? NULL : g);
	free(file);
	free(b);
	return err;
}

static void every_kernel(void **state)
{
	struct text t = { 0 };
	int n_flow, n_nets, bad = 0, n_kernels = 0;

	(void)state;
	read_kernels();
	count_ops("tests/models/litert_ops.gz");
	count_ops("tests/models/litert_host_ops.gz");
	count_ops("tests/models/tflite_ops.gz");
	n_flow = count_flow("tests/models/litert_flow.gz");
	n_nets = count_nets("tests/models/tflite_nets.gz");
	add(&t, "%d networks of `litert_flow.gz` and %d of `tflite_nets.gz`.\n\n", n_flow, n_nets);
	add(&t, "| operator | cases alone | networks with it | |\n|---|---:|---:|---|\n");
	for (int code = 0; code < MAX_CODE; code++) {
		char why[128], msg[WEFT_MSG] = "";
		const bool cases = ops[code].alone + ops[code].nets > 0;

		if (!*ops[code].name || !(ops[code].version || cases))
			continue;
		n_kernels++;
		reason(code, why, sizeof why);
		if (*why && (cases || load_one(code, msg) != -ENOTSUP)) {
			print_error("%s: %s, but has cases, loads, or says '%s'\n", ops[code].name, why, msg);
			bad++;
		}
		if (of_constants(code)) {
			snprintf(why, sizeof why, "of constants; of others refused: %s", SHAPE);
			if (!cases || load_one(code, msg) != -ENOTSUP || !strstr(msg, SHAPE)) {
				print_error("%s: %s, but has no cases, or says '%s'\n", ops[code].name, why, msg);
				bad++;
			}
		}
		if (!cases && !*why) {
			print_error("%s: LiteRT has a kernel; no recorded case, and no reason to refuse it\n", ops[code].name);
			bad++;
		}
		add(&t, "| %s | %d | %d | %s |\n", ops[code].name, ops[code].alone, ops[code].nets, why);
	}
	printf("%d operators with a kernel\n", n_kernels);
	fflush(stdout);
	assert_int_equal(bad, 0);
	judge_section(".tflite operators", &t, "conformance/tflite_operators");
	free(t.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_kernel) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

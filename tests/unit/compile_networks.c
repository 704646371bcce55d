/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole networks through the compiler: streams pass the verifier, the model
 * makes golden's bits, and containers are repeatable and survive a round trip.
 */
#include "tests/unit/compile_run.h"

#include "tests/support/file.h"
#include "tests/support/level.h"
#include "userlib/import/tflite/tflite.h"

static weft_graph *load(const char *path)
{
	char full[512], msg[WEFT_MSG];
	weft_graph *g;
	size_t n;
	void *p;

	snprintf(full, sizeof full, "%s%s%s", *path == '.' ? "" : test_data(), *path == '.' ? "" : "/", path);
	p = test_file(full, &n);
	if (!p) {
		print_message("%s is not there\n", full);
		skip();
	}
	if (weft_import_tflite(p, n, path, &g, msg))
		fail_msg("%s: %s", path, msg);
	free(p);
	return g;
}

static uint8_t *file_with(const weft_graph *g, int threads, size_t *n)
{
	struct weft_compile_options o = { .threads = (uint8_t)threads };
	weft_program *p;
	char msg[WEFT_MSG];
	uint8_t *file;

	if (weft_compile(g, &o, &p, msg) || weft_program_write(p, &file, n, msg))
		fail_msg("%d threads: %s", threads, msg);
	weft_program_free(p);
	return file;
}

/* The program is what one thread finds, however many there are: 2, and 5 where no sanitizer makes compiling slow. */
static void same_in_threads(const weft_graph *g)
{
	size_t n, m;
	uint8_t *one = file_with(g, 0, &n);

	for (int threads = 2; threads <= (test_sanitized() ? 2 : 5); threads += 3) {
		uint8_t *many = file_with(g, threads, &m);
		assert_int_equal(n, m);
		assert_memory_equal(one, many, n);
		free(many);
	}
	free(one);
}

struct network { const char *path; uint64_t macs; };   /* macs that must run on the device */

static void network(void **state)
{
	static const char *const configs[] = { "w16", "w8", "w32" };
	const struct network *n = *state;
	weft_graph *g = load(n->path);
	weft_tensor *in = make_inputs(g, 7);
	char what[256];

	for (int i = 0; i < 3; i++) {
		struct weft_compile_options o = { .config = configs[i] };
		snprintf(what, sizeof what, "%s on %s", n->path, configs[i]);
		assert_true(compile_run(g, &o, in, what) > 0);
		assert_true(compile_run_macs >= n->macs);
	}
	same_in_threads(g);
	free_inputs(g, in);
	weft_graph_free(g);
}

/* The same network where little fits: everything is tiled and goes through memory. */
static void network_tight(void **state)
{
	const struct network *n = *state;
	weft_graph *g = load(n->path);
	weft_tensor *in = make_inputs(g, 8);
	char what[256];

	for (uint32_t limit = 160 << 10; limit >= 40 << 10; limit /= 2) {
		struct weft_compile_options o = { .sp_limit = limit };
		snprintf(what, sizeof what, "%s in %u bytes", n->path, limit);
		assert_true(compile_run(g, &o, in, what) > 0);
	}
	struct weft_compile_options o = { .no_fuse = true };
	assert_true(compile_run(g, &o, in, n->path) > 0);
	free_inputs(g, in);
	weft_graph_free(g);
}

static const struct network networks[] = {
	{ "./tests/models/digits_int8.tflite", 1 },
	{ "mlperf_tiny/pretrainedResnet_quant.tflite", 12000000 },
	{ "mlperf_tiny/kws_ref_model.tflite", 2600000 },
	{ "mlperf_tiny/vww_96_int8.tflite", 7400000 },
	{ "mlperf_tiny/ad01_int8.tflite", 260000 },
	/* between operators of the host: RESIZE, LSTM, SVDF; uint8 */
	{ "nxp_eiq/yolo_face_detect.tflite", 30000000 },
	{ "tflite_micro/trained_lstm_int8.tflite", 5600 },
	{ "tflite_micro/keyword_scrambled.tflite", 4000 },
	{ "coral_test_data/mobilenet_v1_0.25_128_quant.tflite", 13000000 },
};

#define N_NETWORKS ((int)(sizeof networks / sizeof *networks))

int main(void)
{
	struct CMUnitTest tests[2 * N_NETWORKS] = { 0 };
	const int step = test_in_part() ? 4 : 1;
	int n = 0;

	for (int i = 0; i < N_NETWORKS; i += step) {
		tests[n++] = (struct CMUnitTest){ networks[i].path, network, NULL, NULL, (void *)&networks[i] };
		tests[n++] = (struct CMUnitTest){ networks[i].path, network_tight, NULL, NULL, (void *)&networks[i] };
	}
	return _cmocka_run_group_tests("tests", tests, (size_t)n, NULL, NULL);
}

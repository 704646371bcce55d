/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Importers that are short of memory (tests/support/short_of_memory.h), on the recorded networks of one operator and of several, in
 * .tflite and .onnx, and on the same networks converted to TOSA. unit/onnx_refusals, unit/onnx_qdq and
 * unit/onnx_qlinear do the same with theirs.
 *
 * WEFT_N: one point in that many is tried; WEFT_SEED: with which the first begins.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include <weft/file.h>
#include <weft/weft.h>

#include "tests/support/level.h"
#include "tests/support/recorded_nets.h"
#include "tests/support/recorded_values.h"
#include "tests/support/short_of_memory.h"

/* The points of a test: its share of them, given for the three sizes of tests. */
static struct short_of_memory share(long check, long test, long full)
{
	struct short_of_memory s = { .every = (uint64_t)test_every(check, test, full) };

	s.at = test_seed(0) % s.every;
	return s;
}

/* The points of a file, and those of what it becomes as TOSA. */
static void both(struct short_of_memory *file, struct short_of_memory *tosa, const void *p, size_t n, const char *name, enum weft_runtime runtime)
{
	struct weft_load_options o = weft_load_options_default();
	char msg[WEFT_MSG_LEN], text[WEFT_MSG_LEN];
	uint8_t *converted = NULL;
	weft_net *net = NULL;
	size_t len = 0;

	o.runtime = runtime;
	short_of_memory(file, p, n, name, &o);
	if (!weft_net_load_with(p, n, name, &o, &net, msg) && !weft_net_convert(net, false, &converted, &len, text, msg))
		short_of_memory(tosa, converted, len, name, NULL);
	weft_net_free(net);
	free(converted);
}

/*
 * Recorded networks of one operator: all of a file load, and the first of each `step` that follow each other are tried at
 * their points. At least `least` of these are there.
 */
static void operators(const char *path, enum weft_runtime runtime, long step, struct short_of_memory file, struct short_of_memory tosa, long least)
{
	struct reader r = open_recorded(path, "TFLOPS1\n");
	struct weft_load_options o = weft_load_options_default();
	char msg[WEFT_MSG_LEN];

	o.runtime = runtime;

	for (long i = 0; r.at < r.n; i++) {
		const struct one_operator c = read_operator(&r);
		weft_net *net = NULL;

		if (weft_net_load_with(c.file, c.file_bytes, c.name, &o, &net, msg))
			fail_msg("%s: %s", c.name, msg);
		weft_net_free(net);
		if (i % step == 0)
			both(&file, &tosa, c.file, c.file_bytes, c.name, runtime);
	}
	free(r.p);
	short_of_memory_judge(&file, least);
	short_of_memory_judge(&tosa, least / 2);
}

static void tflite_2_14(void **state)
{
	(void)state;
	operators("tests/models/tflite_ops.gz", WEFT_RUNTIME_TFLITE_2_14, 1, share(31, 11, 1), share(31, 17, 1), 200);
}

static void litert_host(void **state)
{
	(void)state;
	operators("tests/models/litert_host_ops.gz", WEFT_RUNTIME_LITERT_2_3, 1, share(31, 11, 1), share(31, 17, 1), 200);
}

static void litert(void **state)
{
	(void)state;
	operators("tests/models/litert_ops.gz", WEFT_RUNTIME_LITERT_2_3, test_every(31, 17, 1), share(31, 11, 3), share(31, 17, 3), 100);
}

static void flow(void **state)
{
	struct reader r = open_recorded("tests/models/litert_flow.gz", "TFLFLOW1");
	struct short_of_memory file = share(301, 101, 1), tosa = share(301, 101, 1);

	(void)state;
	while (r.at < r.n) {
		const struct values c = read_values(&r);

		both(&file, &tosa, c.file, c.file_bytes, c.name, WEFT_RUNTIME_ANY);
	}
	free(r.p);
	short_of_memory_judge(&file, 20);
	short_of_memory_judge(&tosa, 5);
}

static void networks(const char *path, const char *magic, struct short_of_memory file, struct short_of_memory tosa, long least)
{
	struct reader r = open_recorded(path, magic);

	while (r.at < r.n) {
		const struct one c = read_one(&r);

		both(&file, &tosa, c.file, c.file_bytes, c.name, WEFT_RUNTIME_ANY);
	}
	free(r.p);
	short_of_memory_judge(&file, least);
	short_of_memory_judge(&tosa, least);
}

static void tflite_nets(void **state)
{
	(void)state;
	networks("tests/models/tflite_nets.gz", "TFLNETS1", share(301, 101, 1), share(301, 101, 1), 10);
}

static void onnx_resize(void **state)
{
	(void)state;
	networks("tests/models/onnx_resize.gz", "ONXRSIZE", share(31, 11, 1), share(31, 11, 1), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tflite_2_14), cmocka_unit_test(litert_host), cmocka_unit_test(litert), cmocka_unit_test(flow),
		cmocka_unit_test(tflite_nets), cmocka_unit_test(onnx_resize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

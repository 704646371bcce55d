/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks with loops, branches, lists and variables, and recurrent layers, as
 * TensorFlow's converter writes them, on golden and on the model: the outputs of
 * LiteRT 2.3's reference kernels, run after run.
 *
 * tests/models/litert_flow.gz: tools/train/record_flow.py wrote it. Integers are
 * equal bit for bit, floats within 1e-5 of the largest of their tensor, since
 * exponentials are the C library's.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/recorded_values.h"

#define NEAR 1e-5
#define NEAR64 1e-15

static int count[2];               /* floats compared, and those that are not equal bit for bit */

/* Says whether n floats are near the wanted ones. */
static bool near(const float *got, const float *want, size_t n)
{
	float most = 0, worst = 0;

	for (size_t k = 0; k < n; k++) {
		most = fmaxf(most, fabsf(want[k]));
		worst = fmaxf(worst, fabsf(got[k] - want[k]));
		count[0]++;
		count[1] += memcmp(&got[k], &want[k], sizeof got[k]) != 0;
	}
	return worst <= (float)NEAR * most;
}

/* Says the same of n float64s, whose last bits alone may differ. */
static bool near64(const double *got, const uint8_t *want, size_t n)
{
	double most = 0, worst = 0;

	for (size_t k = 0; k < n; k++) {
		double v;
		memcpy(&v, want + k * sizeof v, sizeof v);
		most = fmax(most, fabs(v));
		worst = fmax(worst, fabs(got[k] - v));
	}
	return worst <= NEAR64 * most;
}

static bool agrees(const weft_tensor *got, const uint8_t *want, size_t bytes)
{
	float *copy;
	bool good;

	if (weft_tensor_bytes(got) != bytes)
		return false;
	if (got->dtype == WEFT_FP64)
		return near64(got->data, want, bytes / sizeof(double));
	if (got->dtype != WEFT_FP32)
		return !memcmp(got->data, want, bytes);
	assert_non_null(copy = malloc(bytes));
	memcpy(copy, want, bytes);
	good = near(got->data, copy, bytes / sizeof *copy);
	free(copy);
	return good;
}

static void reference_kernels(void **state)
{
	struct reader r = open_recorded("tests/models/litert_flow.gz", "TFLFLOW1");
	int n = 0, bad = 0;

	(void)state;
	for (; r.at < r.n; n++) {
		const struct values c = read_values(&r);

		bad += values_differ(WEFT_DEVICE_GOLDEN, &c, &r, agrees) + values_differ(WEFT_DEVICE_MODEL, &c, &r, agrees);
	}
	free(r.p);
	print_message("%d networks; of %d floats %d are not LiteRT's bit for bit\n", n, count[0], count[1]);
	assert_in_range(n, 25, 1000);
	assert_int_equal(bad, 0);
}

/* A signature's names are those of inputs and outputs; one that the file does not have is refused. */
static void signatures(void **state)
{
	struct reader r = open_recorded("tests/models/litert_flow.gz", "TFLFLOW1");
	struct weft_load_options o = weft_load_options_default();
	char msg[WEFT_MSG_LEN] = "";
	struct weft_port in, out;
	struct values c;
	weft_net *net;

	(void)state;
	do
		c = read_values(&r);
	while (!strstr(c.name, "_at_decode"));
	o.signature = "decode";
	assert_int_equal(weft_net_load_with(c.file, c.file_bytes, c.name, &o, &net, msg), 0);
	assert_int_equal(weft_net_n_inputs(net), 1);
	assert_int_equal(weft_net_input(net, 0, &in), 0);
	assert_int_equal(weft_net_output(net, 0, &out), 0);
	assert_string_equal(in.name, "code");
	assert_string_equal(out.name, "sample");
	assert_int_equal(in.dim[1], 3);
	weft_net_free(net);
	o.signature = "decod";
	assert_int_equal(weft_net_load_with(c.file, c.file_bytes, c.name, &o, &net, msg), -EINVAL);
	assert_non_null(strstr(msg, "no signature \"decod\"; the file has "));
	assert_non_null(strstr(msg, "\"encode\""));
	free(r.p);
}

/* Reads and writes variables that are not there, or as something that they are not. */
static void no_such_variable(weft_session *s, const weft_tensor *good)
{
	weft_tensor bad = *good;

	assert_int_equal(weft_session_get_variable(s, -1, good), -ERANGE);
	assert_int_equal(weft_session_set_variable(s, 1, good), -ERANGE);
	bad.dtype = WEFT_FP16;
	assert_int_equal(weft_session_set_variable(s, 0, &bad), -EINVAL);
	bad = *good;
	bad.dim[0]++;
	assert_int_equal(weft_session_get_variable(s, 0, &bad), -EINVAL);
	bad = *good;
	bad.data = NULL;
	assert_int_equal(weft_session_set_variable(s, 0, &bad), -EINVAL);
}

/*
 * What SVDF remembers is a variable: it begins with zeros, can be read after a run and set before another, which gives what a
 * run behind the first gave; and set back all variables are as they were in the beginning.
 */
static void variable(void **state)
{
	const enum weft_device device = *(const enum weft_device *)*state;
	struct weft_session_options o = weft_session_options_default();
	struct reader r = open_recorded("tests/models/litert_flow.gz", "TFLFLOW1");
	static int16_t memory[2 * 12 * 5], zero[2 * 12 * 5];
	char msg[WEFT_MSG_LEN] = "";
	struct weft_port p;
	struct values c;
	struct reader at;
	weft_session *s;
	weft_net *net;

	do
		c = read_values(&r);
	while (strcmp(c.name, "svdf.rank"));
	assert_int_equal(weft_net_load(c.file, c.file_bytes, c.name, &net, msg), 0);
	assert_int_equal(weft_net_n_variables(net), 1);
	assert_int_equal(weft_net_variable(net, 0, &p), 0);
	assert_int_equal(weft_net_variable(net, 1, &p), -ERANGE);
	assert_string_equal(p.name, "t4@0:4");
	weft_tensor v = { .dtype = WEFT_INT16, .rank = 2, .dim = { 2, 12 * 5, 1, 1, 1, 1, 1, 1 }, .data = memory };
	assert_int_equal(p.dtype, WEFT_INT16);
	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_int_equal(weft_session_get_variable(s, 0, &v), 0);
	assert_memory_equal(memory, zero, sizeof memory);
	at = r;
	at.at = c.at;
	assert_int_equal(run_values(s, net, &c, &at, agrees), 0);
	assert_int_equal(weft_session_get_variable(s, 0, &v), 0);
	assert_memory_not_equal(memory, zero, sizeof memory);
	const size_t second = at.at;
	for (int k = 1; k < c.n_runs; k++)
		assert_int_equal(run_values(s, net, &c, &at, agrees), 0);
	at.at = second;
	assert_int_equal(run_values(s, net, &c, &at, agrees), 1);
	assert_int_equal(weft_session_set_variable(s, 0, &v), 0);
	at.at = second;
	assert_int_equal(run_values(s, net, &c, &at, agrees), 0);
	weft_session_reset_variables(s);
	at.at = c.at;
	assert_int_equal(run_values(s, net, &c, &at, agrees), 0);
	no_such_variable(s, &v);
	weft_session_close(s);
	weft_net_free(net);
	free(r.p);
}

/* MACs of a loop are those of one round: an LSTM of 6 units reads 5 numbers and its 6 states, 4 gates; then a layer of 6 by 4. */
static void loops_have_macs(void **state)
{
	const struct weft_session_options o = weft_session_options_default();
	struct reader r = open_recorded("tests/models/litert_flow.gz", "TFLFLOW1");
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *plan;
	weft_session *s;
	struct values c;
	weft_net *net;

	(void)state;
	do
		c = read_values(&r);
	while (strcmp(c.name, "lstm.f32"));
	assert_int_equal(weft_net_load(c.file, c.file_bytes, c.name, &net, msg), 0);
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_int_equal(weft_session_plan(s, &plan, msg), 0);
	assert_int_equal(plan->macs_all, (5 + 6) * 6 * 4 + 6 * 4);
	weft_report_free(plan);
	weft_session_close(s);
	weft_net_free(net);
	free(r.p);
}

/*
 * Subgraphs that name themselves, others or none, sparse constants whose lists do not fit, and whatever else one byte makes
 * of a file: an error or a network.
 */
static void one_byte_bad(void **state)
{
	static const char *const names[] = { "newton.f32", "counter.f32", "case_of.four", "densify.u8", "densify.blocks", "unique_constant.i64",
	                                     "where_constant.open", "fused_lstm_int8.all", "svdf.rank" };
	struct reader r = open_recorded("tests/models/litert_flow.gz", "TFLFLOW1");
	int refused = 0, loaded = 0;
	struct values c;

	(void)state;
	while (r.at < r.n) {
		c = read_values(&r);
		size_t k = 0;
		while (k < sizeof names / sizeof *names && strcmp(c.name, names[k]))
			k++;
		if (k == sizeof names / sizeof *names)
			continue;
		uint8_t *file = malloc(c.file_bytes);
		assert_non_null(file);
		memcpy(file, c.file, c.file_bytes);
		for (uint32_t i = 8; i < c.file_bytes; i++) {
			char msg[WEFT_MSG_LEN] = "";
			weft_net *net = NULL;

			file[i] = (uint8_t)(c.file[i] + 1 + i % 3);
			if (weft_net_load(file, c.file_bytes, c.name, &net, msg)) {
				assert_true(strlen(msg) > 0);
				refused++;
			} else {
				loaded++;
			}
			weft_net_free(net);
			file[i] = c.file[i];
		}
		free(file);
	}
	free(r.p);
	print_message("%d refused, %d loaded\n", refused, loaded);
	assert_true(refused > 500);
}

int main(void)
{
	static enum weft_device golden = WEFT_DEVICE_GOLDEN, model = WEFT_DEVICE_MODEL;
	const struct CMUnitTest tests[] = { cmocka_unit_test(reference_kernels), cmocka_unit_test(signatures),
	                                    cmocka_unit_test_prestate(variable, &golden), cmocka_unit_test_prestate(variable, &model), cmocka_unit_test(loops_have_macs), cmocka_unit_test(one_byte_bad) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small networks as converters write them, through importer, compiler, golden
 * and model: the outputs that TensorFlow Lite's reference kernels gave, bit for
 * bit, run after run where a network keeps variables.
 *
 * tests/models/tflite_nets.gz: tools/train/record_nets.py wrote it and says how
 * inputs are made.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/recorded_nets.h"

#define FILE_NAME "tests/models/tflite_nets.gz"

static void reference_kernels(void **state)
{
	struct reader r = open_recorded(FILE_NAME, "TFLNETS1");
	int n = 0, bad = 0;

	(void)state;
	for (; r.at < r.n; n++) {
		struct one c = read_one(&r);
		bad += runs_on(WEFT_DEVICE_GOLDEN, &c, &r) + runs_on(WEFT_DEVICE_MODEL, &c, &r);
	}
	free(r.p);
	print_message("%d networks\n", n);
	assert_in_range(n, 10, 1000);
	assert_int_equal(bad, 0);
}

/* ---- batches ---- */

static weft_net *load_batch(const struct one *c, const char *name, int64_t n, char *msg)
{
	struct weft_load_options o = weft_load_options_default();
	struct weft_bound b = { .name = name, .value = { .rank = 1, .dim = { n, 1, 1, 1, 1, 1, 1, 1 } } };
	weft_net *net = NULL;

	o.bound = &b;
	o.n_bound = name ? 1 : 0;
	return weft_net_load_with(c->file, c->file_bytes, c->name, &o, &net, msg) ? NULL : net;
}

/* The only input filled from x on; outputs, one after another, in out. */
static size_t outputs_of(const weft_net *net, enum weft_device device, uint32_t *x, uint8_t *out, size_t room)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor in = make_input(net, 0, x), y[MAX_PORTS] = { 0 };
	struct weft_report *rep = NULL;
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;
	size_t n = 0;

	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, &in, y, &rep, msg))
		fail_msg("%s", msg);
	assert_int_equal(weft_net_n_outputs(net), 1);
	assert_true(weft_tensor_bytes(&y[0]) <= room);
	memcpy(out, y[0].data, n = weft_tensor_bytes(&y[0]));
	weft_tensor_release(&y[0]);
	free(in.data);
	weft_report_free(rep);
	weft_session_close(s);
	return n;
}

/* Three images in one run, the batch being open in the file, and one by one. False: it is not open, and the message says so. */
static bool batch_of(const struct one *c)
{
	static uint8_t all[1 << 16], each[1 << 16];
	char msg[WEFT_MSG_LEN] = "";
	weft_net *one = load_batch(c, NULL, 1, msg);
	struct weft_port p, q;
	weft_net *three;

	assert_non_null(one);
	assert_int_equal(weft_net_input(one, 0, &p), 0);
	three = load_batch(c, p.name, 3, msg);
	if (three) {
		assert_int_equal(weft_net_input(three, 0, &q), 0);
		assert_int_equal(p.dim[0], 1);
		assert_int_equal(q.dim[0], 3);
		for (int device = WEFT_DEVICE_GOLDEN; device <= WEFT_DEVICE_MODEL; device++) {
			uint32_t x = 7, y = 7;
			size_t n = outputs_of(three, device, &x, all, sizeof all), at = 0;
			for (int i = 0; i < 3; i++)
				at += outputs_of(one, device, &y, each + at, sizeof each - at);
			assert_int_equal(at, n);
			if (memcmp(all, each, n))
				fail_msg("%s, device %d: a batch of three differs from three", c->name, device);
		}
	} else if (!strstr(msg, "0 of its ")) {
		fail_msg("%s: %s", c->name, msg);
	}
	weft_net_free(three);
	weft_net_free(one);
	return three != NULL;
}

static void open_batch(void **state)
{
	struct reader r = open_recorded(FILE_NAME, "TFLNETS1");
	int n = 0;

	(void)state;
	while (r.at < r.n) {
		struct one c = read_one(&r);
		n += c.n_in == 1 && c.n_out == 1 && batch_of(&c);
	}
	free(r.p);
	print_message("%d networks\n", n);
	assert_in_range(n, 8, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reference_kernels), cmocka_unit_test(open_batch) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

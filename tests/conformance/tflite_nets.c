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

#include <weft/weft.h>

#include "tests/support/recorded.h"

#define FILE_NAME "tests/models/tflite_nets.gz"
#define MAX_PORTS 16

/* Inputs of 8 and 16 bits; the generator goes on from run to run. */
static weft_tensor make_input(const weft_net *net, int i, uint32_t *x)
{
	struct weft_port p;

	assert_int_equal(weft_net_input(net, i, &p), 0);
	weft_tensor t = { .dtype = p.dtype, .rank = p.rank };
	memcpy(t.dim, p.dim, sizeof t.dim);
	size_t n = weft_tensor_bytes(&t);
	t.data = calloc(1, n);
	assert_non_null(t.data);
	bool wide = t.dtype == WEFT_INT16;
	assert_true(wide || t.dtype == WEFT_INT8 || t.dtype == WEFT_UINT8);
	for (size_t k = 0; k < n / (wide ? 2 : 1); k++) {
		*x = *x * 1664525u + 1013904223u;
		if (wide)
			((uint16_t *)t.data)[k] = (uint16_t)(*x >> 12);
		else
			((uint8_t *)t.data)[k] = (uint8_t)(*x >> 12);
	}
	return t;
}

struct one {
	char name[64];
	const uint8_t *file;
	uint32_t file_bytes;
	int n_in, n_runs, n_out;
	size_t at;                 /* of the first CRC */
};

static struct one read_one(struct reader *r)
{
	struct one c = { .name = "" };
	uint32_t n = number(r, 2);

	assert_true(n < sizeof c.name);
	memcpy(c.name, take(r, n), n);
	c.file_bytes = number(r, 4);
	c.file = take(r, c.file_bytes);
	c.n_in = (int)number(r, 1);
	for (int i = 0; i < c.n_in; i++)
		assert_int_equal(number(r, 4), 0);
	c.n_runs = (int)number(r, 1);
	c.n_out = (int)number(r, 1);
	assert_in_range(c.n_in, 1, MAX_PORTS);
	assert_in_range(c.n_out, 1, MAX_PORTS);
	c.at = r->at;
	take(r, (size_t)(4 * c.n_runs * c.n_out));
	return c;
}

static int run(weft_session *s, const weft_net *net, const struct one *c, const char *device, struct reader *want, uint32_t *x)
{
	weft_tensor in[MAX_PORTS], out[MAX_PORTS] = { 0 };
	struct weft_report *rep = NULL;
	char msg[WEFT_MSG_LEN] = "";
	int bad = 0;

	for (int i = 0; i < c->n_in; i++)
		in[i] = make_input(net, i, x);
	if (weft_session_run(s, in, out, &rep, msg))
		fail_msg("%s on %s: %s", c->name, device, msg);
	for (int i = 0; i < c->n_out; i++) {
		uint32_t crc = number(want, 4);
		bad += crc != (uint32_t)crc32(0, out[i].data, (uInt)weft_tensor_bytes(&out[i]));
		weft_tensor_release(&out[i]);
	}
	for (int i = 0; i < c->n_in; i++)
		free(in[i].data);
	weft_report_free(rep);
	return bad;
}

/* Outputs that differ. */
static int runs_on(enum weft_device device, const struct one *c, const struct reader *all)
{
	const char *name = device == WEFT_DEVICE_GOLDEN ? "golden" : "model";
	struct weft_session_options o = weft_session_options_default();
	struct reader want = *all;
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;
	weft_net *net;
	uint32_t x = 1;
	int bad = 0;

	if (weft_net_load(c->file, c->file_bytes, c->name, &net, msg))
		fail_msg("%s: %s", c->name, msg);
	assert_int_equal(weft_net_n_inputs(net), c->n_in);
	assert_int_equal(weft_net_n_outputs(net), c->n_out);
	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s on %s: %s", c->name, name, msg);
	want.at = c->at;
	for (int k = 0; k < c->n_runs; k++)
		bad += run(s, net, c, name, &want, &x);
	if (bad)
		print_error("%s on %s: %d of %d outputs differ\n", c->name, name, bad, c->n_runs * c->n_out);
	weft_session_close(s);
	weft_net_free(net);
	return bad;
}

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

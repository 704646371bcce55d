/* SPDX-License-Identifier: Apache-2.0 */
/* Networks with the checksums of their outputs, as tools/train/record_{nets,resize}.py write them. */
#ifndef TESTS_SUPPORT_RECORDED_NETS_H
#define TESTS_SUPPORT_RECORDED_NETS_H

#include "tests/support/recorded_case.h"

#define MAX_PORTS 16

/* Inputs of 8 and 16 bits; the generator goes on from run to run. */
static inline weft_tensor make_input(const weft_net *net, int i, uint32_t *x)
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
	char name[CASE_NAME];
	const uint8_t *file;
	uint32_t file_bytes;
	int n_in, n_runs, n_out;
	size_t at;                 /* of the first CRC */
};

static inline struct one read_one(struct reader *r)
{
	struct one c = { .name = "" };

	c.file = read_file(r, c.name, &c.file_bytes);
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

static inline int run_recorded(weft_session *s, const weft_net *net, const struct one *c, const char *device, struct reader *want, uint32_t *x)
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

/* Outputs that differ; golden the imported network's, model the saved one's. */
static inline int runs_on(enum weft_device device, const struct one *c, const struct reader *all)
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
	if (device == WEFT_DEVICE_MODEL)
		net = saved(net, c->name);
	assert_int_equal(weft_net_n_inputs(net), c->n_in);
	assert_int_equal(weft_net_n_outputs(net), c->n_out);
	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s on %s: %s", c->name, name, msg);
	want.at = c->at;
	for (int k = 0; k < c->n_runs; k++)
		bad += run_recorded(s, net, c, name, &want, &x);
	if (bad)
		print_error("%s on %s: %d of %d outputs differ\n", c->name, name, bad, c->n_runs * c->n_out);
	weft_session_close(s);
	weft_net_free(net);
	return bad;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Networks with inputs and outputs of several runs, as tools/train/record_flow.py writes them. */
#ifndef TESTS_SUPPORT_RECORDED_VALUES_H
#define TESTS_SUPPORT_RECORDED_VALUES_H

#include "tests/support/recorded_case.h"

#define VALUES_PORTS 16

struct values {
	char name[CASE_NAME];
	const uint8_t *file;
	uint32_t file_bytes;
	int n_in, n_runs, n_out;
	size_t at;                 /* of the first run's first input */
};

/* Reads one case and steps over its values. */
static inline struct values read_values(struct reader *r)
{
	struct values c = { .name = "" };

	c.file = read_file(r, c.name, &c.file_bytes);
	c.n_in = (int)number(r, 1);
	c.n_runs = (int)number(r, 1);
	c.n_out = (int)number(r, 1);
	assert_in_range(c.n_in, 1, VALUES_PORTS);
	assert_in_range(c.n_out, 1, VALUES_PORTS);
	c.at = r->at;
	for (int k = 0; k < c.n_runs * (c.n_in + c.n_out); k++)
		take(r, number(r, 4));
	return c;
}

/* Runs once on the inputs at *want, and returns how many outputs the caller's function does not accept. */
static inline int run_values(weft_session *s, const weft_net *net, const struct values *c, struct reader *want,
                             bool (*agrees)(const weft_tensor *, const uint8_t *, size_t))
{
	weft_tensor in[VALUES_PORTS], out[VALUES_PORTS] = { 0 };
	struct weft_report *rep = NULL;
	char msg[WEFT_MSG_LEN] = "";
	int bad = 0;

	for (int i = 0; i < c->n_in; i++) {
		struct weft_port p;
		uint32_t n = number(want, 4);

		assert_int_equal(weft_net_input(net, i, &p), 0);
		in[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank };
		memcpy(in[i].dim, p.dim, sizeof in[i].dim);
		assert_int_equal(weft_tensor_bytes(&in[i]), n);
		assert_non_null(in[i].data = malloc(n + 1));
		memcpy(in[i].data, take(want, n), n);
	}
	if (weft_session_run(s, in, out, &rep, msg))
		fail_msg("%s: %s", c->name, msg);
	for (int i = 0; i < c->n_out; i++) {
		uint32_t n = number(want, 4);

		bad += !agrees(&out[i], take(want, n), n);
		weft_tensor_release(&out[i]);
	}
	for (int i = 0; i < c->n_in; i++)
		free(in[i].data);
	weft_report_free(rep);
	return bad;
}

/*
 * Runs case c, of file `all`, on golden, or as a saved network on the functional model with its own
 * check. Returns the number of outputs that `agrees` does not accept.
 */
static inline int values_differ(enum weft_device device, const struct values *c, const struct reader *all,
                                bool (*agrees)(const weft_tensor *, const uint8_t *, size_t))
{
	struct weft_session_options o = weft_session_options_default();
	struct reader want = *all;
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;
	weft_net *net;
	int bad = 0;
	struct weft_load_options load = weft_load_options_default();
	const char *at = strstr(c->name, "_at_");
	char signature[64] = "";

	if (at) {
		memcpy(signature, at + 4, strcspn(at + 4, "."));
		load.signature = signature;
	}
	if (weft_net_load_with(c->file, c->file_bytes, c->name, &load, &net, msg)) {
		print_error("%s: %s\n", c->name, msg);
		return 1;
	}
	if (device == WEFT_DEVICE_MODEL)
		net = saved(net, c->name);
	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	assert_int_equal(weft_net_n_inputs(net), c->n_in);
	assert_int_equal(weft_net_n_outputs(net), c->n_out);
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s: %s", c->name, msg);
	want.at = c->at;
	for (int k = 0; k < c->n_runs; k++)
		bad += run_values(s, net, c, &want, agrees);
	if (bad)
		print_error("%s on %s: %d of %d outputs differ\n", c->name, device == WEFT_DEVICE_GOLDEN ? "golden" : "the model", bad,
		            c->n_runs * c->n_out);
	weft_session_close(s);
	weft_net_free(net);
	return bad;
}

#endif

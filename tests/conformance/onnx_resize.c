/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resize of 8-bit integers, bit for bit on golden and model: ONNX Runtime's results
 * on integers, the real number rounded to even between DequantizeLinear and
 * QuantizeLinear; and what of it needs no host.
 *
 * tests/models/onnx_resize.gz: tools/train/record_resize.py wrote it.
 */
#include "tests/support/recorded_nets.h"

#define FILE_NAME "tests/models/onnx_resize.gz"

static bool on_host(const struct one *c)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *r;
	weft_session *s;
	weft_net *net;
	bool host = false;

	o.device = WEFT_DEVICE_MODEL;
	if (weft_net_load(c->file, c->file_bytes, c->name, &net, msg) || weft_session_open(net, &o, &s, msg) ||
	    weft_session_plan(s, &r, msg))
		fail_msg("%s: %s", c->name, msg);
	for (int i = 0; i < r->n_ops; i++)
		host |= r->ops[i].unit == WEFT_RUN_HOST;
	weft_report_free(r);
	weft_session_close(s);
	weft_net_free(net);
	return host;
}

/* On the host are only thirds, sevenths and the like of integers, which float32 rounds. */
static void resized(void **state)
{
	struct reader r = open_recorded(FILE_NAME, "ONXRSIZE");
	int n = 0, bad = 0, host[3] = { 0 };

	(void)state;
	for (; r.at < r.n; n++) {
		struct one c = read_one(&r);
		bad += runs_on(WEFT_DEVICE_GOLDEN, &c, &r) + runs_on(WEFT_DEVICE_MODEL, &c, &r);
		host[c.name[0] == 'l' ? 0 : c.name[0] == 'n' ? 1 : 2] += on_host(&c);
	}
	free(r.p);
	print_message("%d cases; on the host: linear %d, nearest %d, between floats %d\n", n, host[0], host[1], host[2]);
	assert_in_range(n, 150, 1000);
	assert_int_equal(bad, 0);
	assert_int_equal(host[1], 0);
	assert_in_range(host[0], 0, 40);
	assert_int_equal(host[2], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(resized) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

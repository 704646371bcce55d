/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failing networks made small: faults planted in the RTL under the project's
 * own networks. What is left has at most three operators, still fails after a
 * way through a file, and is right without the fault.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/planted.h"
#include "tests/support/tensors.h"
#include "userlib/run/internal.h"
#include <weft/reduce.h>

static weft_tensor *random_inputs(const weft_net *net, uint64_t seed)
{
	weft_tensor *in = calloc((size_t)weft_net_n_inputs(net) + 1, sizeof *in);
	struct weft_port p;

	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		weft_net_input(net, i, &p);
		in[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank };
		memcpy(in[i].dim, p.dim, sizeof p.dim);
		size_t n = weft_tensor_bytes(&in[i]);
		in[i].data = malloc(n + 1);
		for (size_t k = 0; k < n; k++)
			((uint8_t *)in[i].data)[k] = (uint8_t)test_random(&seed);
	}
	return in;
}

/* Runs a net that a file brought. */
static int run_file(const uint8_t *data, size_t len, const weft_tensor *in, const struct weft_session_options *o)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor out[64] = { 0 };
	weft_session *s;
	weft_net *net;

	assert_int_equal(weft_net_load(data, len, "reduced", &net, msg), 0);
	assert_int_equal(weft_session_open(net, o, &s, msg), 0);
	assert_true(weft_net_n_outputs(net) <= 64);
	int err = weft_session_run(s, in, out, NULL, msg);
	for (int i = 0; i < weft_net_n_outputs(net); i++)
		weft_tensor_release(&out[i]);
	weft_session_close(s);
	weft_net_free(net);
	return err;
}

static void reduced(const char *model, const struct weft_plant *plant)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "", custom[WEFT_MSG_LEN];
	struct weft_reduction r;
	weft_net *net;
	uint8_t *data;
	size_t len;

	assert_int_equal(weft_net_load_file(model, &net, msg), 0);
	weft_tensor *in = random_inputs(net, 11);
	o.device = WEFT_DEVICE_RTL;
	o.check = true;
	o.plant = *plant;
	int err = weft_reduce(net, in, &o, &r, msg);
	if (err)
		fail_msg("%s, kind %d: %s", model, plant->kind, msg);
	assert_true(r.ops >= 1 && r.ops <= 3 && r.ops_before > 3);
	assert_int_equal(weft_net_convert(r.net, false, &data, &len, custom, msg), 0);
	assert_int_equal(run_file(data, len, r.inputs, &o), r.status);
	o.plant.kind = WEFT_PLANT_NONE;
	assert_int_equal(run_file(data, len, r.inputs, &o), 0);
	print_message("%s: %d of %d operators, %d networks tried\n", model, r.ops, r.ops_before, r.runs);
	free(data);
	weft_reduction_release(&r);
	for (int i = 0; i < weft_net_n_inputs(net); i++)
		weft_tensor_release(&in[i]);
	free(in);
	weft_net_free(net);
}

static void planted(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
		reduced(failures[i].model, &failures[i].plant);
}

static void sound_bad(void **state)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	struct weft_reduction r;
	weft_net *net;

	(void)state;
	assert_int_equal(weft_net_load_file(int8, &net, msg), 0);
	weft_tensor *in = random_inputs(net, 11);
	assert_int_equal(weft_reduce(net, in, &o, &r, msg), -ENOENT);
	assert_string_equal(msg, "the network does not fail: there is nothing to reduce");
	weft_tensor_release(&in[0]);
	free(in);
	weft_net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(planted), cmocka_unit_test(sound_bad) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network with a variable on a card whose firmware hangs within a run: the run starts over, and has to
 * begin with what the run before it left, not with what its own first attempt wrote.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/card_process.h"
#include "tests/support/level.h"
#include "userlib/run/internal.h"

#define ELEMS (8 * 8 * 16)
#define OUT (ELEMS / 4)
#define RUNS 6

static const int64_t whole[] = { 1, 8, 8, 16 }, quarter[] = { 1, 4, 4, 16 }, one[] = { 1 };

static int tensor(weft_graph *g, const char *name, weft_dtype t, const int64_t *dim)
{
	int i = weft_graph_tensor(g, name, t, 4, dim);

	assert_true(i >= 0);
	return i;
}

static int op(weft_graph *g, weft_opcode code, weft_attr a, const int *in, int n_in, int out)
{
	assert_true(weft_graph_op(g, code, &a, 0, in, n_in, &out, 1) >= 0);
	return out;
}

/* x times 2^(30 - shift), as type t. */
static int rescale(weft_graph *g, int x, int shift, weft_dtype t)
{
	int32_t *m = malloc(sizeof(*m));
	int8_t *s = malloc(1);

	assert_true(m && s);
	*m = 1 << 30;
	*s = (int8_t)shift;
	int in[3] = { x, weft_graph_const(g, "m", WEFT_INT32, 1, one, m), weft_graph_const(g, "s", WEFT_INT8, 1, one, s) };
	return op(g, WEFT_OP_RESCALE, (weft_attr){ .rescale = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND } }, in, 3, tensor(g, "r", t, whole));
}

/* The variable becomes half of itself and of the input (NPU, then host); the output is its maxima over 2x2 (NPU). */
static weft_graph *make(void)
{
	weft_graph *g = weft_graph_new("memory");

	assert_non_null(g);
	assert_int_equal(weft_graph_src(g, 0, "memory"), 0);
	int x = tensor(g, "x", WEFT_INT8, whole);
	assert_int_equal(weft_graph_var(g, "v", WEFT_INT8, 4, whole, calloc(ELEMS, 1)), 0);
	int old = op(g, WEFT_OP_VARIABLE_READ, (weft_attr){ .variable = { 0 } }, NULL, 0, tensor(g, "old", WEFT_INT8, whole));
	int in[2] = { rescale(g, x, 20, WEFT_INT32), rescale(g, old, 20, WEFT_INT32) };
	int sum = op(g, WEFT_OP_ADD, (weft_attr){ .mul = { 0 } }, in, 2, tensor(g, "sum", WEFT_INT32, whole));
	int mean = rescale(g, sum, 41, WEFT_INT8);
	int kept = op(g, WEFT_OP_VARIABLE_WRITE, (weft_attr){ .variable = { 0 } }, &mean, 1, tensor(g, "kept", WEFT_INT8, whole));
	weft_attr pool = { .pool = { .kernel = { 2, 2 }, .stride = { 2, 2 }, .acc = WEFT_INT32 } };
	int y = op(g, WEFT_OP_MAX_POOL2D, pool, &kept, 1, tensor(g, "y", WEFT_INT8, quarter));
	g->inputs = malloc(sizeof(int));
	g->outputs = malloc(sizeof(int));
	assert_true(g->inputs && g->outputs);
	g->inputs[0] = x;
	g->outputs[0] = y;
	g->n_inputs = g->n_outputs = 1;
	g->tensors[x].is_input = g->tensors[y].is_output = true;
	return g;
}

/* RUNS runs on a device, one after the other, each with another input; the outputs go to y. */
static void run_all(const weft_net *net, const struct weft_session_options *o, int8_t y[RUNS][OUT])
{
	weft_tensor in = net->g->tensors[net->g->inputs[0]].t, out = net->g->tensors[net->g->outputs[0]].t;
	char msg[WEFT_MSG_LEN] = "";
	int8_t x[ELEMS];
	weft_session *s;

	if (weft_session_open(net, o, &s, msg))
		fail_msg("%s", msg);
	for (int k = 0; k < RUNS; k++) {
		for (int i = 0; i < ELEMS; i++)
			x[i] = (int8_t)((i * 37 + k * 91) % 251 - 125);
		in.data = x;
		out.data = y[k];
		if (weft_session_run_into(s, &in, &out, NULL, msg))
			fail_msg("run %d: %s", k, msg);
	}
	weft_session_close(s);
}

static void hang(void **state)
{
	struct weft_session_options o = weft_session_options_default();
	weft_net net = { .graph = make() };
	static int8_t want[RUNS][OUT], got[RUNS][OUT];
	char msg[WEFT_MSG_LEN];

	(void)state;
	net.g = net.graph;
	if (weft_graph_check(net.g, msg))
		fail_msg("%s", msg);
	o.device = WEFT_DEVICE_GOLDEN;
	run_all(&net, &o, want);
	assert_memory_not_equal(want[0], want[1], OUT);
	o.device = WEFT_DEVICE_USB;
	/* The transfers of the first three runs; a hang before the variable is written, or long behind, does nothing here. */
	for (int at = test_level() ? 6 : 36; at < 60; at += test_level() ? 1 : 3) {
		char fault[32];
		struct card_process c;

		snprintf(fault, sizeof(fault), "hang@%d", at);
		card_process_start(&c, "MEMORY", (char *[]){ "--fault", fault, NULL });
		o.usb = c.where;
		o.usb_wait_ms = 5000;
		o.check = at & 1;
		run_all(&net, &o, got);
		for (int k = 0; k < RUNS; k++)
			if (memcmp(got[k], want[k], OUT))
				fail_msg("%s: run %d differs", fault, k);
		card_process_stop(&c);
	}
	weft_graph_free(net.graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(hang) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow and variables: from a file, through a session, and through the
 * exporter and back. Expected values are worked out by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <weft/weft.h>

#include "tests/support/short_of_memory.h"
#include "tests/unit/tosa_build.h"
#include "userlib/export/tosa.h"

/* b0: y = WHILE n > 0 (n, acc): n - 1, acc + acc.  b1: condition.  b2: body. */
static struct fbw build_loop(void)
{
	static int32_t zero = 0, one = 1;
	struct tosa_build t;

	tb_begin(&t, 3);
	tb_tensor(&t, "n", WEFT_INT32, 0, 1, 1, NULL);
	tb_tensor(&t, "acc", WEFT_INT32, 0, 1, 1, NULL);
	tb_tensor(&t, "zero", WEFT_INT32, 0, 1, 1, &zero);
	tb_tensor(&t, "one", WEFT_INT32, 0, 1, 1, &one);
	tb_tensor(&t, "n_end", WEFT_INT32, 0, 1, 1, NULL);
	tb_tensor(&t, "y", WEFT_INT32, 0, 1, 1, NULL);
	tb_add(&t, TOSA_CONST, "", "zero");
	tb_add(&t, TOSA_CONST, "", "one");
	tb_flow(&t, TOSA_WHILE_LOOP, "b1", "b2", "n acc", "n_end y");
	tb_ports(&t, "n acc", "y");
	t.x.b = &t.x.blocks[1];
	tb_tensor(&t, "i", WEFT_INT32, 0, 1, 1, NULL);
	tb_tensor(&t, "a", WEFT_INT32, 0, 1, 1, NULL);
	tb_tensor(&t, "go", WEFT_BOOL, 0, 1, 1, NULL);
	tb_add(&t, TOSA_GREATER, "i zero", "go");
	tb_ports(&t, "i a", "go");
	t.x.b = &t.x.blocks[2];
	tb_tensor(&t, "i", WEFT_INT32, 0, 1, 1, NULL);
	tb_tensor(&t, "a", WEFT_INT32, 0, 1, 1, NULL);
	tb_tensor(&t, "i2", WEFT_INT32, 0, 1, 1, NULL);
	tb_tensor(&t, "a2", WEFT_INT32, 0, 1, 1, NULL);
	tb_add(&t, TOSA_ADD, "a a", "a2");
	tb_add(&t, TOSA_SUB, "i one", "i2");
	tb_ports(&t, "i a", "i2 a2");
	return tb_end(&t);
}

/* Two scalars in, one out. */
static int32_t run2(weft_session *s, int32_t a, int32_t b)
{
	weft_tensor in[2] = { { .dtype = WEFT_INT32, .data = &a }, { .dtype = WEFT_INT32, .data = &b } }, out = { 0 };
	char msg[WEFT_MSG_LEN] = "";

	if (weft_session_run(s, in, &out, NULL, msg))
		fail_msg("%s", msg);
	int32_t y = *(int32_t *)out.data;
	weft_tensor_release(&out);
	return y;
}

static weft_session *open_session(const weft_net *net, enum weft_device device)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s = NULL;

	o.device = device;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s", msg);
	return s;
}

static struct short_of_memory shortage = { .every = 1 };

static weft_net *load(const struct fbw *w)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;

	if (weft_net_load(w->p, w->n, "test", &net, msg))
		fail_msg("%s", msg);
	short_of_memory(&shortage, w->p, w->n, "test", NULL);
	return net;
}

/* What was read, written and read again. */
static weft_net *through_exporter(const weft_net *net)
{
	char note[WEFT_MSG_LEN], msg[WEFT_MSG_LEN] = "";
	struct fbw w = { 0 };

	if (weft_net_convert(net, true, &w.p, &w.n, note, msg))
		fail_msg("%s", msg);
	weft_net *again = load(&w);
	free(w.p);
	return again;
}

static void loop(void **state)
{
	struct fbw w = build_loop();
	weft_net *net[2] = { load(&w), NULL };

	(void)state;
	net[1] = through_exporter(net[0]);
	for (int i = 0; i < 4; i++) {
		weft_session *s = open_session(net[i / 2], i % 2 ? WEFT_DEVICE_MODEL : WEFT_DEVICE_GOLDEN);
		assert_int_equal(run2(s, 0, 5), 5);
		assert_int_equal(run2(s, 10, 3), 3 << 10);
		assert_int_equal(run2(s, -7, 9), 9);
		weft_session_close(s);
	}
	weft_net_free(net[0]);
	weft_net_free(net[1]);
	free(w.p);
}

static void endless_loop_bad(void **state)
{
	struct fbw w = build_loop();
	weft_net *net = load(&w);
	weft_session *s = open_session(net, WEFT_DEVICE_GOLDEN);
	int32_t a = INT32_MAX, b = 0;
	weft_tensor in[2] = { { .dtype = WEFT_INT32, .data = &a }, { .dtype = WEFT_INT32, .data = &b } }, out = { 0 };
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	assert_int_equal(weft_session_run(s, in, &out, NULL, msg), -EINVAL);
	assert_string_equal(msg, "control flow: more than 1048576 runs of sub-graphs");
	weft_session_close(s);
	weft_net_free(net);
	free(w.p);
}

/* A limit of time ends a loop on the host as it ends a stream, and the session can be used again. */
static void slow_loop_bad(void **state)
{
	struct fbw w = build_loop();
	weft_net *net = load(&w);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct weft_session_options o = weft_session_options_default();
		int32_t a = INT32_MAX, b = 0;
		weft_tensor in[2] = { { .dtype = WEFT_INT32, .data = &a }, { .dtype = WEFT_INT32, .data = &b } }, out = { 0 };
		char msg[WEFT_MSG_LEN] = "";
		weft_session *s = NULL;

		o.device = i ? WEFT_DEVICE_MODEL : WEFT_DEVICE_GOLDEN;
		o.timeout_ms = 1;
		assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
		assert_int_equal(weft_session_run(s, in, &out, NULL, msg), -ETIMEDOUT);
		assert_non_null(strstr(msg, "control flow takes more than 1 ms"));
		assert_null(out.data);
		assert_int_equal(run2(s, 0, 5), 5);
		weft_session_close(s);
	}
	weft_net_free(net);
	free(w.p);
}

/* A run can be cancelled in the middle of a loop. */
static void cancelled_loop_bad(void **state)
{
	struct fbw w = build_loop();
	weft_net *net = load(&w);
	weft_session *s = open_session(net, WEFT_DEVICE_GOLDEN);
	int32_t a = INT32_MAX, b = 0, y;
	weft_tensor in[2] = { { .dtype = WEFT_INT32, .data = &a }, { .dtype = WEFT_INT32, .data = &b } }, out = { .data = &y };
	char msg[WEFT_MSG_LEN] = "";
	weft_run run;

	(void)state;
	out.dtype = WEFT_INT32;
	assert_int_equal(weft_session_submit(s, in, &out, &run, msg), 0);
	/* Time for it to begin; if it has not, this tests less and still holds. */
	assert_int_equal(weft_session_wait(s, run, 20, NULL, msg), -EAGAIN);
	assert_int_equal(weft_session_cancel(s, run), 0);
	assert_int_equal(weft_session_wait(s, run, -1, NULL, msg), -ECANCELED);
	assert_int_equal(run2(s, 0, 5), 5);
	weft_session_close(s);
	weft_net_free(net);
	free(w.p);
}

/* depth + 1 blocks, each asking the next one if c, else the leaf, which gives x + 1. */
static int import_nested(int depth, weft_graph **g, char *msg)
{
	static int32_t one = 1;
	struct tosa_build t;
	char next[16];

	tb_begin(&t, depth + 2);
	for (int i = 0; i <= depth; i++) {
		t.x.b = &t.x.blocks[i];
		tb_tensor(&t, "c", WEFT_BOOL, 1, 1, 1, NULL);
		tb_tensor(&t, "x", WEFT_INT32, 0, 1, 1, NULL);
		tb_tensor(&t, "y", WEFT_INT32, 0, 1, 1, NULL);
		snprintf(next, sizeof next, i == depth ? "leaf" : "b%d", i + 1);
		tb_flow(&t, TOSA_COND_IF, next, "leaf", "c c x", "y");
		tb_ports(&t, "c x", "y");
	}
	t.x.b = &t.x.blocks[depth + 1];
	free(t.x.b->name);
	t.x.b->name = strdup("leaf");
	tb_tensor(&t, "c", WEFT_BOOL, 1, 1, 1, NULL);
	tb_tensor(&t, "x", WEFT_INT32, 0, 1, 1, NULL);
	tb_tensor(&t, "y", WEFT_INT32, 0, 1, 1, NULL);
	tb_tensor(&t, "one", WEFT_INT32, 0, 1, 1, &one);
	tb_add(&t, TOSA_CONST, "", "one");
	tb_add(&t, TOSA_ADD, "x one", "y");
	tb_ports(&t, "c x", "y");
	return tb_import(&t, g, msg);
}

static void nested(void **state)
{
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;

	(void)state;
	for (int depth = 1; depth < 256; depth += 50) {
		if (import_nested(depth, &g, msg))
			fail_msg("depth %d: %s", depth, msg);
		assert_int_equal(g->n_subs, depth + 1);
		weft_graph_free(g);
	}
	assert_int_equal(import_nested(1000, &g, msg), -EINVAL);
	assert_non_null(strstr(msg, "nesting deeper than 256"));
}

/* y = variable + x; variable = y. */
static struct fbw build_variable(bool initial, bool read_first)
{
	static int8_t five[2] = { 5, -5 };
	struct tosa_build t;
	weft_tensor v = { .dtype = WEFT_INT8, .rank = 1, .dim = { 2, 1, 1, 1, 1, 1, 1, 1 }, .data = initial ? five : NULL };

	tb_begin(&t, 1);
	tb_tensor(&t, "x", WEFT_INT8, 1, 2, 1, NULL);
	tb_tensor(&t, "v", WEFT_INT8, 1, 2, 1, NULL);
	tb_tensor(&t, "y", WEFT_INT8, 1, 2, 1, NULL);
	assert_true(x_tensor(&t.x, "var", &v, true) >= 0);
	tb_add(&t, TOSA_VARIABLE, "", "var");
	if (!read_first)
		tb_add(&t, TOSA_VARIABLE_WRITE, "x", "var");
	tb_add(&t, TOSA_VARIABLE_READ, "var", "v");
	tb_add(&t, TOSA_BITWISE_XOR, "v x", "y");
	if (read_first)
		tb_add(&t, TOSA_VARIABLE_WRITE, "y", "var");
	tb_ports(&t, "x", "y");
	return tb_end(&t);
}

static int run_bytes(weft_session *s, int8_t a, int8_t b, int8_t y[2], char *msg)
{
	int8_t x[2] = { a, b };
	weft_tensor in = { .dtype = WEFT_INT8, .rank = 1, .dim = { 2, 1, 1, 1, 1, 1, 1, 1 }, .data = x }, out = { 0 };
	int err = weft_session_run(s, &in, &out, NULL, msg);

	if (!err)
		memcpy(y, out.data, 2);
	weft_tensor_release(&out);
	return err;
}

/* A value lives as long as its session, on any device, and every session starts afresh. */
static void variable_persists(void **state)
{
	struct fbw w = build_variable(true, true);
	weft_net *net[2] = { load(&w), NULL };
	char msg[WEFT_MSG_LEN] = "";
	int8_t y[2];

	(void)state;
	net[1] = through_exporter(net[0]);
	for (int i = 0; i < 8; i++) {
		weft_session *s = open_session(net[i / 4], i % 4 < 2 ? WEFT_DEVICE_GOLDEN : WEFT_DEVICE_MODEL);
		assert_int_equal(run_bytes(s, 1, 1, y, msg), 0);
		assert_int_equal(y[0], 5 ^ 1);
		assert_int_equal(y[1], -5 ^ 1);
		assert_int_equal(run_bytes(s, 3, 0, y, msg), 0);
		assert_int_equal(y[0], 5 ^ 1 ^ 3);
		assert_int_equal(y[1], -5 ^ 1);
		weft_session_close(s);
	}
	weft_net_free(net[0]);
	weft_net_free(net[1]);
	free(w.p);
}

static void unwritten_variable_bad(void **state)
{
	struct fbw w = build_variable(false, true);
	weft_net *net = load(&w);
	char msg[WEFT_MSG_LEN] = "";
	int8_t y[2];

	(void)state;
	weft_session *s = open_session(net, WEFT_DEVICE_GOLDEN);
	assert_int_equal(run_bytes(s, 1, 1, y, msg), -EINVAL);
	assert_string_equal(msg, "VARIABLE_READ: variable 0 has not been written");
	weft_session_close(s);
	weft_net_free(net);
	free(w.p);
	/* Written before: no matter that it had no value. */
	w = build_variable(false, false);
	net = load(&w);
	s = open_session(net, WEFT_DEVICE_GOLDEN);
	assert_int_equal(run_bytes(s, 1, 9, y, msg), 0);
	assert_int_equal(y[0], 0);
	assert_int_equal(y[1], 0);
	weft_session_close(s);
	weft_net_free(net);
	free(w.p);
}

/* y = variable + x, kept; 1.5 + 0.25 + 0.25 in a type of n bytes. */
static void float_variable(weft_dtype type, const void *first, const void *step, const void *sum, size_t n)
{
	struct tosa_build t;
	weft_tensor v = { .dtype = type, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 }, .data = (void *)first }, out = { 0 };
	const weft_tensor in = { .dtype = type, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 }, .data = (void *)step };
	char msg[WEFT_MSG_LEN] = "";

	tb_begin(&t, 1);
	tb_tensor(&t, "x", type, 0, 1, 1, NULL);
	tb_tensor(&t, "v", type, 0, 1, 1, NULL);
	tb_tensor(&t, "y", type, 0, 1, 1, NULL);
	assert_true(x_tensor(&t.x, "var", &v, true) >= 0);
	tb_add(&t, TOSA_VARIABLE, "", "var");
	tb_add(&t, TOSA_VARIABLE_READ, "var", "v");
	tb_add(&t, TOSA_ADD, "v x", "y");
	tb_add(&t, TOSA_VARIABLE_WRITE, "y", "var");
	tb_ports(&t, "x", "y");
	struct fbw w = tb_end(&t);
	weft_net *net = load(&w);
	weft_session *s = open_session(net, WEFT_DEVICE_GOLDEN);
	for (int i = 0; i < 2; i++) {
		weft_tensor_release(&out);
		assert_int_equal(weft_session_run(s, &in, &out, NULL, msg), 0);
	}
	assert_memory_equal(out.data, sum, n);
	weft_tensor_release(&out);
	weft_session_close(s);
	weft_net_free(net);
	free(w.p);
}

static void float_variables(void **state)
{
	const float f[3] = { 1.5f, 0.25f, 2.0f };
	const uint16_t h[3] = { 0x3e00, 0x3400, 0x4000 };

	(void)state;
	float_variable(WEFT_FP32, &f[0], &f[1], &f[2], 4);
	float_variable(WEFT_FP16, &h[0], &h[1], &h[2], 2);
}

/* What the networks of the tests above gave while memory ended. */
static void no_memory(void **state)
{
	(void)state;
	short_of_memory_judge(&shortage, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loop),
		cmocka_unit_test(endless_loop_bad),
		cmocka_unit_test(slow_loop_bad),
		cmocka_unit_test(cancelled_loop_bad),
		cmocka_unit_test(nested),
		cmocka_unit_test(variable_persists),
		cmocka_unit_test(float_variables),
		cmocka_unit_test(unwritten_variable_bad),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions on golden: they compile nothing unless someone asks what a device
 * would do, and answer then what a session on a device answers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "../support/level.h"
#include "tflite_build.h"
#include "userlib/run/internal.h"

#define DIGITS "tests/models/digits_int8.tflite"

static weft_net *load(const char *path)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;

	if (weft_net_load_file(path, &net, msg))
		fail_msg("%s", msg);
	return net;
}

static weft_session *open_on(const weft_net *net, enum weft_device device)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;

	o.device = device;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s", msg);
	return s;
}

static struct weft_report *run(const weft_net *net, weft_session *s)
{
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *r;
	struct weft_port p;
	weft_tensor in = { 0 }, out;

	assert_int_equal(weft_net_input(net, 0, &p), 0);
	in.dtype = p.dtype;
	in.rank = p.rank;
	memcpy(in.dim, p.dim, sizeof(in.dim));
	in.data = calloc(1, weft_tensor_bytes(&in) + 1);
	if (weft_session_run(s, &in, &out, &r, msg))
		fail_msg("%s", msg);
	weft_tensor_release(&in);
	weft_tensor_release(&out);
	return r;
}

/* An estimate only a compiler can give; products the graph itself says. */
static void test_golden_compiles_nothing(void **state)
{
	weft_net *net = load(DIGITS);
	weft_session *g = open_on(net, WEFT_DEVICE_GOLDEN), *m = open_on(net, WEFT_DEVICE_MODEL);
	struct weft_report *rg = run(net, g), *rm = run(net, m);

	(void)state;
	assert_int_equal(rg->estimate, 0);
	assert_true(rm->estimate > 0);
	assert_int_equal(rg->macs, rm->macs);
	assert_int_equal(rg->n_ops, 6);
	weft_report_free(rg);
	weft_report_free(rm);
	weft_session_close(g);
	weft_session_close(m);
	weft_net_free(net);
}

/* Asked twice, and before and after a run. */
static void test_golden_plans_as_a_device(void **state)
{
	weft_net *net = load(DIGITS);
	weft_session *g = open_on(net, WEFT_DEVICE_GOLDEN), *m = open_on(net, WEFT_DEVICE_MODEL);
	struct weft_report *pg, *pm;
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	assert_int_equal(weft_session_plan(m, &pm, msg), 0);
	for (int k = 0; k < 2; k++) {
		assert_int_equal(weft_session_plan(g, &pg, msg), 0);
		assert_int_equal(pg->estimate, pm->estimate);
		assert_int_equal(pg->n_ops, pm->n_ops);
		for (int i = 0; i < pg->n_ops; i++) {
			assert_string_equal(pg->ops[i].reason, pm->ops[i].reason);
			assert_int_equal(pg->ops[i].unit, pm->ops[i].unit);
		}
		weft_report_free(pg);
		weft_report_free(run(net, g));
	}
	weft_report_free(pm);
	weft_session_close(g);
	weft_session_close(m);
	weft_net_free(net);
}

/* What a device could not run in one piece golden refuses as well, if asked to. */
static void test_golden_strict_bad(void **state)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "", path[512];
	weft_session *s;
	weft_net *net;

	(void)state;
	snprintf(path, sizeof(path), "%s/tflite_micro/trained_lstm_int8.tflite", test_data());
	if (weft_net_load_file(path, &net, msg)) {
		printf("%s\n", msg);
		fflush(stdout);
		skip();
	}
	o.device = WEFT_DEVICE_GOLDEN;
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	weft_session_close(s);
	o.strict = true;
	assert_int_equal(weft_session_open(net, &o, &s, msg), -EINVAL);
	assert_non_null(strstr(msg, "strict: operator"));
	weft_net_free(net);
	net = load(DIGITS);
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	weft_session_close(s);
	weft_net_free(net);
}

/* A + B, then an operator with a result of that type, scale and zero point; strictly, with another A + B behind it if asked to. */
static int strict_end(int code, int type, int y_type, float scale, int64_t zp, bool more, char *msg)
{
	static const int32_t dim[] = { 1, 8 };
	static const int32_t axis[] = { 1 };
	struct weft_session_options o = weft_session_options_default();
	struct tb *b = calloc(1, sizeof(*b));
	bool arg = code == TFL_ARG_MAX;
	weft_session *s;
	weft_net *net;
	size_t n;

	assert_non_null(b);
	b->in[b->n_in++] = tb_add(b, type, 2, dim, 0.0078125f, 0);
	b->in[b->n_in++] = tb_add(b, type, 2, dim, 0.0078125f, 0);
	int x = tb_add(b, type, 2, dim, 0.0078125f, 0), y = tb_add(b, y_type, arg ? 1 : 2, dim, scale, zp);
	int k = tb_add(b, TFL_INT32, 1, (int32_t[]){ 1 }, 0, 0), z = more ? tb_add(b, type, 2, dim, 0.015625f, 0) : y;
	tb_constant(b, k, axis, sizeof(axis));
	struct tb_op *op = tb_op(b, TFL_ADD, 0);
	op->in[op->n_in++] = b->in[0];
	op->in[op->n_in++] = b->in[1];
	op->out[op->n_out++] = x;
	op = tb_op(b, code, code == TFL_SOFTMAX ? OPTIONS_SOFTMAX : 0);
	if (code == TFL_SOFTMAX)
		tb_option(op, SOFTMAX_BETA, 4, 0x3f800000);
	op->in[op->n_in++] = x;
	if (arg)
		op->in[op->n_in++] = k;
	op->out[op->n_out++] = y;
	if (more) {
		op = tb_op(b, TFL_ADD, 0);
		op->in[op->n_in++] = y;
		op->in[op->n_in++] = x;
		op->out[op->n_out++] = z;
	}
	b->out[b->n_out++] = z;
	uint8_t *file = tb_file(b, &n);
	if (weft_net_load(file, n, "net", &net, msg))
		fail_msg("%s", msg);
	o.device = WEFT_DEVICE_MODEL;
	o.strict = true;
	int err = weft_session_open(net, &o, &s, msg);
	if (!err)
		weft_session_close(s);
	weft_net_free(net);
	free(file);
	free(b);
	return err;
}

/*
 * What makes probabilities, a unit vector or an index may be the last, on the host, but not in the middle; SOFTMAX may,
 * since there the NPU computes it.
 */
static void test_strict_ends(void **state)
{
	static const struct { int code, type, y_type; float scale; int zp; } ends[] = {
		{ TFL_L2_NORMALIZATION, TFL_INT8, TFL_INT8, 0.0078125f, 0 }, { TFL_LOG_SOFTMAX, TFL_INT8, TFL_INT8, 0.0625f, 127 },
		{ TFL_SOFTMAX, TFL_INT8, TFL_INT8, 0.00390625f, -128 }, { TFL_LOGISTIC, TFL_INT16, TFL_INT16, 1.0f / 32768, 0 },
		{ TFL_CODE_TANH, TFL_INT16, TFL_INT16, 1.0f / 32768, 0 }, { TFL_ARG_MAX, TFL_INT8, TFL_INT64, 0, 0 },
		{ TFL_DEQUANTIZE, TFL_INT8, TFL_FLOAT32, 0, 0 },
	};
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (strict_end(ends[i].code, ends[i].type, ends[i].y_type, ends[i].scale, ends[i].zp, false, msg))
			fail_msg("%s", msg);
		if (ends[i].y_type == TFL_INT8) {
			const bool on_npu = ends[i].code == TFL_SOFTMAX;
			assert_int_equal(strict_end(ends[i].code, ends[i].type, ends[i].y_type, ends[i].scale, ends[i].zp, true, msg), on_npu ? 0 : -EINVAL);
			if (!on_npu)
				assert_non_null(strstr(msg, "strict: operator 1 "));
		}
	}
}

/* The last values that a type has, and the first that it has not. */
static void test_narrow_types(void **state)
{
	static const struct { weft_dtype t; int64_t least, most; } types[] = {
		{ WEFT_BOOL, 0, 1 }, { WEFT_INT4, -8, 7 }, { WEFT_INT2, -2, 1 }, { WEFT_UINT4, 0, 15 }, { WEFT_UINT2, 0, 3 },
		{ WEFT_INT48, -0x800000000000, 0x7fffffffffff },
	};
	int64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const int64_t tries[] = { types[i].least, types[i].most, types[i].least - 1, types[i].most + 1 };
		for (int k = 0; k < 4; k++) {
			int64_t wide[3] = { 0, 0, tries[k] };
			int8_t bytes[3] = { 0, 0, (int8_t)tries[k] };
			const bool is_wide = types[i].t == WEFT_INT48;
			const weft_tensor t = { .dtype = types[i].t, .rank = 1, .dim = { 3, 1, 1, 1, 1, 1, 1, 1 }, .data = is_wide ? (void *)wide : bytes };
			assert_int_equal(weft_beyond_type(&t, &value), k < 2 ? -1 : 2);
			if (k >= 2 && is_wide)
				assert_true(value == tries[k]);
		}
	}
	int8_t any[2] = { -128, 127 };
	assert_int_equal(weft_beyond_type(&(weft_tensor){ .dtype = WEFT_INT8, .rank = 1, .dim = { 2, 1, 1, 1, 1, 1, 1, 1 }, .data = any }, &value), -1);
}

/* Without data an input is refused, not read. */
static void test_no_data(void **state)
{
	weft_net *net = load(DIGITS);
	weft_session *s = open_on(net, WEFT_DEVICE_MODEL);
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor in = { .dtype = WEFT_INT8, .rank = 4, .dim = { 1, 8, 8, 1, 1, 1, 1, 1 } }, out;

	(void)state;
	assert_int_equal(weft_session_run(s, &in, &out, NULL, msg), -EINVAL);
	assert_string_equal(msg, "input 0 \"image\" has no data");
	weft_session_close(s);
	weft_net_free(net);
}

/* ---- the caller's memory for inputs and outputs ---- */

enum { CODES = 64 };

/* x of int16; y = TANH(x), z = LOGISTIC(x): y is made while x is still to be read. The outputs are y, z, y and x. */
static weft_net *two_functions(void)
{
	static const int32_t dim[] = { 1, CODES };
	struct tb *b = calloc(1, sizeof *b);
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;
	size_t n;

	const int x = b->in[b->n_in++] = tb_add(b, TFL_INT16, 2, dim, 1.0f / 4096, 0);
	const int y = tb_add(b, TFL_INT16, 2, dim, 1.0f / 32768, 0), z = tb_add(b, TFL_INT16, 2, dim, 1.0f / 32768, 0);
	for (int i = 0; i < 2; i++) {
		struct tb_op *o = tb_op(b, i ? TFL_LOGISTIC : TFL_CODE_TANH, 0);
		o->in[o->n_in++] = x;
		o->out[o->n_out++] = i ? z : y;
	}
	const int outputs[] = { y, z, y, x };
	for (int i = 0; i < 4; i++)
		b->out[b->n_out++] = outputs[i];
	uint8_t *file = tb_file(b, &n);
	if (weft_net_load(file, n, "two functions", &net, msg))
		fail_msg("%s", msg);
	free(file);
	free(b);
	return net;
}

/*
 * Golden reads and writes where the caller has inputs and outputs. The results are those of a session that keeps all tensors, which
 * copies, wherever the memory is: at odd addresses, an output where the input is or overlapping it, an output that is listed twice.
 */
static void test_callers_memory(void **state)
{
	static const struct { int x, y; } places[] = { { 0, 1024 }, { 1, 1024 }, { 0, 1025 }, { 512, 512 }, { 512, 448 }, { 512, 576 }, { 513, 449 } };
	weft_net *net = two_functions();
	weft_session *s[2] = { open_on(net, WEFT_DEVICE_GOLDEN), NULL };
	struct weft_session_options o = weft_session_options_default();
	weft_tensor in = { .dtype = WEFT_INT16, .rank = 2, .dim = { 1, CODES, 1, 1, 1, 1, 1, 1 } }, out[4], want[4];
	char msg[WEFT_MSG_LEN] = "", room[4096];
	int16_t codes[CODES];

	(void)state;
	o.device = WEFT_DEVICE_GOLDEN;
	o.keep = true;
	assert_int_equal(weft_session_open(net, &o, &s[1], msg), 0);
	for (int i = 0; i < CODES; i++)
		codes[i] = (int16_t)(i * 1021 - 32000);
	in.data = codes;
	for (int k = 0; k < 2; k++)
		assert_int_equal(weft_session_run(s[k], &in, k ? want : out, NULL, msg), 0);
	for (int i = 0; i < 4; i++) {
		assert_memory_equal(out[i].data, want[i].data, sizeof codes);
		weft_tensor_release(&out[i]);
	}
	assert_memory_equal(want[3].data, codes, sizeof codes);
	assert_memory_not_equal(want[0].data, want[1].data, sizeof codes);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		for (int k = 0; k < 4; k++) {
			out[k] = want[k];
			out[k].data = room + places[i].y + 3 * (size_t)k * (k ? sizeof codes : 0);
		}
		in.data = memcpy(room + places[i].x, codes, sizeof codes);
		assert_int_equal(weft_session_run_into(s[0], &in, out, NULL, msg), 0);
		for (int k = 0; k < 4; k++)
			if (memcmp(out[k].data, want[k].data, sizeof codes))
				fail_msg("input at %d, outputs from %d on: output %d differs", places[i].x, places[i].y, k);
	}
	for (int i = 0; i < 4; i++)
		weft_tensor_release(&want[i]);
	for (int k = 0; k < 2; k++)
		weft_session_close(s[k]);
	weft_net_free(net);
}

/* An operator that comes from none of a file's is refused by its own name. */
static void test_strict_without_source(void **state)
{
	struct weft_step step = { .kind = WEFT_STEP_HOST };
	struct weft_pop pop = { 0 };
	weft_graph *g = weft_graph_new("none");
	weft_program p = { .graph = g, .steps = &step, .n_steps = 1, .ops = &pop };
	char msg[WEFT_MSG_LEN] = "";
	const int64_t n = 4;

	(void)state;
	const int x = weft_graph_tensor(g, "x", WEFT_INT8, 1, &n), y = weft_graph_tensor(g, "y", WEFT_INT8, 1, &n);
	assert_int_equal(weft_graph_op(g, WEFT_OP_ABS, NULL, -1, &x, 1, &y, 1), 0);
	assert_int_equal(weft_plan_breaks_strict(&p, msg), -EINVAL);
	assert_string_equal(msg, "strict: operator -1 ? runs on the host: ABS");
	weft_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_compiles_nothing),
		cmocka_unit_test(test_golden_plans_as_a_device),
		cmocka_unit_test(test_golden_strict_bad),
		cmocka_unit_test(test_strict_without_source),
		cmocka_unit_test(test_strict_ends),
		cmocka_unit_test(test_narrow_types),
		cmocka_unit_test(test_no_data),
		cmocka_unit_test(test_callers_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waveforms of a network in several streams: around a command, counted as weft dump
 * counts, whichever stream has it; and of the whole run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/weft.h>

#include "tests/support/file.h"
#include "tests/support/level.h"

#define MODEL "migraphx_onnx/matmulinteger_int8_uint8_one_zp_test.onnx"
#define AROUND 20

struct span { uint64_t from, to; };

static uint64_t big_endian(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

/* FST's header block: its kind (0), length, first and last time; two times a cycle. */
static struct span span_of(const char *file)
{
	uint8_t head[25];
	FILE *f = fopen(file, "rb");

	assert_non_null(f);
	assert_int_equal(fread(head, 1, sizeof(head), f), sizeof(head));
	fclose(f);
	assert_int_equal(head[0], 0);
	return (struct span){ big_endian(head + 9), big_endian(head + 17) };
}

/* Runs with the waveform of that command; cycles of all streams. */
static uint64_t run(const weft_net *net, const char *file, int64_t cmd)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor in[4] = { 0 }, out[4] = { 0 };
	struct weft_report *r;
	struct weft_port p;
	weft_session *s;

	o.device = WEFT_DEVICE_RTL;
	o.wave = file;
	o.wave_cmd = cmd;
	o.wave_cycles = AROUND;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s", msg);
	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		assert_int_equal(weft_net_input(net, i, &p), 0);
		in[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank };
		memcpy(in[i].dim, p.dim, sizeof(p.dim));
		in[i].data = calloc(1, weft_tensor_bytes(&in[i]) + 1);
	}
	if (weft_session_run(s, in, out, &r, msg))
		fail_msg("%s", msg);
	uint64_t cycles = r->cycles;
	weft_report_free(r);
	for (int i = 0; i < 4; i++) {
		weft_tensor_release(&in[i]);
		weft_tensor_release(&out[i]);
	}
	weft_session_close(s);
	return cycles;
}

/* Commands of the first stream and of all, as the disassembly has them. */
static void count(const weft_net *net, int *first, int *all)
{
	char msg[WEFT_MSG_LEN] = "", *text;

	if (weft_net_disassemble(net, "w16", &text, msg))
		fail_msg("%s", msg);
	*first = *all = 0;
	for (const char *p = strstr(text, "step"); p; p = strstr(p + 1, "step ")) {
		int n = 0;
		sscanf(p, "step %*d npu: %d commands", &n);
		*first = *first ? *first : n;
		*all += n;
	}
	free(text);
}

static void streams(void **state)
{
	const char *data = test_env("WEFT_DATA", "../shared/data");
	char path[512], file[128], msg[WEFT_MSG_LEN] = "";
	int first, all;
	weft_net *net;

	(void)state;
	snprintf(path, sizeof(path), "%s/%s", data, MODEL);
	if (access(path, R_OK)) {
		printf("%s is not there\n", path);
		skip();
	}
	if (weft_net_load_file(path, &net, msg))
		fail_msg("%s", msg);
	count(net, &first, &all);
	assert_true(first > 0 && all > first);
	test_path(file, sizeof(file), "wave-%d.fst", (int)getpid());

	uint64_t cycles = run(net, file, -1);
	struct span whole = span_of(file);
	assert_true((whole.to - whole.from) / 2 >= cycles);
	run(net, file, 0);
	struct span one = span_of(file);
	run(net, file, first);     /* of the second stream the first */
	struct span two = span_of(file);
	for (int i = 0; i < 2; i++) {
		const struct span *s = i ? &two : &one;
		assert_true((s->to - s->from) / 2 <= 2 * AROUND + 2 && s->to - s->from >= 2 * AROUND);
	}
	assert_true(two.from > one.to);
	unlink(file);

	struct weft_session_options o = weft_session_options_default();
	weft_session *s;
	o.device = WEFT_DEVICE_RTL;
	o.wave = file;
	o.wave_cmd = all;
	assert_int_not_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_non_null(strstr(msg, "the program's last is"));
	weft_net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(streams) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

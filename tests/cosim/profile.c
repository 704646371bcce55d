/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: the trace obeys the rules of the Trace Event Format, every unit's
 * cycles sum up to the run's, and they are what the device's counters say; by
 * cycle on the RTL, by counters on a card.
 *
 * Source: Trace Event Format: events X (ts, dur), C (ts, args), M (names).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "tests/support/card.h"
#include "tests/support/card_process.h"
#include "tests/support/file.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"
#include "userlib/profile/profile.h"

#define THREADS 128

static char file[128];

/* One run with --profile; its report and the trace. */
static cJSON *profiled(const char *model, struct weft_session_options o, struct weft_report **r, char **text)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor in[4] = { 0 }, out[4] = { 0 };
	weft_session *s;
	weft_net *net;
	struct weft_port p;
	uint64_t seed = 5;

	if (weft_net_load_file(model, &net, msg))
		fail_msg("%s", msg);
	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		weft_net_input(net, i, &p);
		in[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank };
		memcpy(in[i].dim, p.dim, sizeof p.dim);
		in[i].data = malloc(weft_tensor_bytes(&in[i]));
		for (size_t k = 0; k < weft_tensor_bytes(&in[i]); k++)
			((uint8_t *)in[i].data)[k] = (uint8_t)test_random(&seed);
	}
	o.profile = file;
	if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, in, out, r, msg))
		fail_msg("%s", msg);
	/* The report's names are the net's. */
	*text = weft_session_profile_text(s);
	assert_non_null(*text);
	for (int i = 0; i < 4; i++) {
		weft_tensor_release(&in[i]);
		weft_tensor_release(&out[i]);
	}
	weft_session_close(s);
	weft_net_free(net);
	char *data = test_file(file, NULL);
	assert_non_null(data);
	remove(file);
	cJSON *j = cJSON_Parse(data);
	assert_non_null(j);
	free(data);
	return j;
}

static double number(const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	if (!cJSON_IsNumber(v))
		fail_msg("no number \"%s\" in %s", key, cJSON_PrintUnformatted(o));
	return v->valuedouble;
}

static const char *string(const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	assert_true(cJSON_IsString(v));
	return v->valuestring;
}

/* The lines that say where the run's cycles went sum up to them; slots are compared with the run's products, 256 a slot. */
static void check_losses(const char *text, const struct weft_report *r)
{
	const char *at = strstr(text, "where ");
	unsigned long long all, products, sum = 0;

	assert_non_null(at);
	assert_int_equal(sscanf(at, "where %llu cycles went", &all), 1);
	assert_int_equal(all, r->cycles);
	assert_int_equal(sscanf(strchr(at, '\n'), "%*u %*f%% slots; products would fill %llu", &products), 1);
	assert_int_equal(products, (r->macs - r->macs_folded) / 256);
	for (int i = 0; i < 4; i++) {
		unsigned long long n;
		at = strchr(at, '\n') + 1;
		assert_int_equal(sscanf(at, "%llu", &n), 1);
		assert_true(n <= all);
		sum += n;
	}
	assert_int_equal(sum, all);
}

/* What the format asks of each event, and that slices of a thread come in order and apart. */
static void check_rules(const cJSON *j)
{
	struct { int pid, tid; double end; bool used, named; } t[THREADS];
	const cJSON *events = cJSON_GetObjectItemCaseSensitive(j, "traceEvents"), *e;
	bool process[3] = { false };
	int n = 0, slices = 0;

	assert_true(cJSON_IsArray(events));
	cJSON_ArrayForEach(e, events) {
		const char *ph = string(e, "ph"), *name = string(e, "name");
		int pid = (int)number(e, "pid"), tid = (int)number(e, "tid"), i = 0;
		assert_true(pid >= 1 && pid <= 2 && *name);
		while (i < n && (t[i].pid != pid || t[i].tid != tid))
			i++;
		if (i == n) {
			assert_true(n < THREADS);
			memset(&t[n], 0, sizeof t[n]);
			t[n].pid = pid;
			t[n++].tid = tid;
		}
		if (!strcmp(ph, "X")) {
			double ts = number(e, "ts"), dur = number(e, "dur");
			assert_true(ts >= 0 && dur >= 0);
			/* the host's times have three digits */
			if (ts < t[i].end - 0.0015)
				fail_msg("%d.%d: \"%s\" at %f begins before %f", pid, tid, name, ts, t[i].end);
			t[i].end = ts + dur;
			t[i].used = true;
			slices++;
		} else if (!strcmp(ph, "C")) {
			const cJSON *v, *args = cJSON_GetObjectItemCaseSensitive(e, "args");
			assert_true(cJSON_IsObject(args) && number(e, "ts") >= 0);
			cJSON_ArrayForEach(v, args)
				assert_true(cJSON_IsNumber(v));
		} else {
			assert_string_equal(ph, "M");
			const cJSON *args = cJSON_GetObjectItemCaseSensitive(e, "args");
			assert_true(cJSON_IsObject(args));
			process[pid] = process[pid] || !strcmp(name, "process_name");
			t[i].named = t[i].named || !strcmp(name, "thread_name");
			if (strcmp(name, "thread_sort_index"))
				assert_true(*string(args, "name"));
		}
	}
	assert_true(process[1] && process[2] && slices > 0);
	for (int i = 0; i < n; i++)
		if (t[i].used && !t[i].named)
			fail_msg("thread %d.%d has no name", t[i].pid, t[i].tid);
}

static int thread_of(const cJSON *j, const char *name)
{
	const cJSON *e;

	cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(j, "traceEvents"))
		if (number(e, "pid") == 1 && !strcmp(string(e, "name"), "thread_name") &&
		    !strcmp(string(cJSON_GetObjectItemCaseSensitive(e, "args"), "name"), name))
			return (int)number(e, "tid");
	return -1;
}

/* Cycles by state, of the slices; gaps are idle. */
static void from_slices(const cJSON *j, int tid, uint64_t cycles, uint64_t *n)
{
	const cJSON *e;

	memset(n, 0, WEFT_PROF_STATES * sizeof *n);
	n[WEFT_DOES_IDLE] = cycles;
	cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(j, "traceEvents")) {
		if (number(e, "pid") != 1 || number(e, "tid") != tid || strcmp(string(e, "ph"), "X"))
			continue;
		const cJSON *args = cJSON_GetObjectItemCaseSensitive(e, "args"), *v;
		uint64_t all = 0, dur = (uint64_t)number(e, "dur");
		assert_true(number(e, "ts") + number(e, "dur") <= (double)cycles);
		n[WEFT_DOES_IDLE] -= dur;
		for (unsigned i = 0; i < WEFT_PROF_STATES; i++) {
			if (!args && !strcmp(string(e, "name"), weft_profile_state(i)))
				n[i] += dur, all += dur;
			v = args ? cJSON_GetObjectItemCaseSensitive(args, weft_profile_state(i)) : NULL;
			if (v)
				n[i] += (uint64_t)v->valuedouble, all += (uint64_t)v->valuedouble;
		}
		assert_int_equal(all, dur);
	}
}

/* A unit's totals: of its slices, of the file's sums, and the run's cycles are the same. */
static void unit_sums(const cJSON *j, const char *name, uint64_t cycles, uint64_t *n)
{
	const cJSON *units = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(j, "weft"), "units");
	const cJSON *unit = cJSON_GetObjectItemCaseSensitive(units, name);
	int tid = thread_of(j, name);
	uint64_t sum = 0;

	assert_true(tid > 0 && cJSON_IsObject(unit));
	from_slices(j, tid, cycles, n);
	for (unsigned i = 0; i < WEFT_PROF_STATES; i++) {
		const cJSON *v = cJSON_GetObjectItemCaseSensitive(unit, weft_profile_state(i));
		assert_int_equal(v ? (uint64_t)v->valuedouble : 0, n[i]);
		sum += n[i];
	}
	if (sum != cycles)
		fail_msg("%s: busy, stalled and idle are %llu cycles, the run %llu", name, (unsigned long long)sum, (unsigned long long)cycles);
}

/* With a command under way. */
static uint64_t under_way(const uint64_t *n)
{
	uint64_t sum = 0;

	for (unsigned i = WEFT_DOES_BUSY; i < WEFT_N_DOES; i++)
		sum += i == WEFT_DOES_WAIT_COMMAND ? 0 : n[i];
	return sum;
}

static uint64_t sum_bytes(const cJSON *j, const char *key)
{
	const cJSON *e;
	uint64_t sum = 0;

	cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(j, "traceEvents"))
		if (!strcmp(string(e, "ph"), "C"))
			sum += (uint64_t)number(cJSON_GetObjectItemCaseSensitive(e, "args"), key);
	return sum;
}

/* Operators follow each other without a gap, and commands are as many as retired. */
static void check_operators(const cJSON *j, uint64_t cycles)
{
	const cJSON *e;
	int tid = thread_of(j, "operators");
	double at = 0;

	cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(j, "traceEvents")) {
		if (number(e, "pid") != 1 || number(e, "tid") != tid || strcmp(string(e, "ph"), "X"))
			continue;
		assert_true(number(e, "ts") == at);
		at += number(e, "dur");
	}
	assert_true(at == (double)cycles);
}

static uint32_t count_commands(const cJSON *j)
{
	static const char *const names[] = { "LD commands", "ST commands", "CV commands", "VE commands" };
	const cJSON *e;
	uint32_t n = 0;

	for (int u = 0; u < 4; u++) {
		int tid = thread_of(j, names[u]);
		cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(j, "traceEvents"))
			n += number(e, "pid") == 1 && number(e, "tid") == tid && !strcmp(string(e, "ph"), "X");
	}
	return n;
}

static void by_cycle(const char *model, uint64_t grain, enum weft_memory memory)
{
	struct weft_session_options o = weft_session_options_default();
	uint64_t n[WEFT_N_TRACKS][WEFT_PROF_STATES];
	struct weft_report *r;
	char *text;

	o.device = WEFT_DEVICE_RTL;
	o.memory = memory;
	o.profile_grain = grain;
	cJSON *j = profiled(model, o, &r, &text);
	const struct weft_counters *c = &r->counters;
	assert_true(r->cycles > 1000 && r->cycles == c->cycles);
	check_rules(j);
	assert_true(number(cJSON_GetObjectItemCaseSensitive(j, "weft"), "cycles") == (double)r->cycles);
	for (unsigned t = 0; t < WEFT_N_TRACKS; t++)
		unit_sums(j, weft_track_name(t), r->cycles, n[t]);
	assert_int_equal(under_way(n[WEFT_TRACK_LD]), c->ld_busy);
	assert_int_equal(under_way(n[WEFT_TRACK_ST]), c->st_busy);
	assert_int_equal(under_way(n[WEFT_TRACK_CV]), c->cv_busy);
	assert_int_equal(under_way(n[WEFT_TRACK_VE]), c->ve_busy);
	assert_int_equal(n[WEFT_TRACK_CV][WEFT_DOES_WAIT_POST], c->cv_stall_post);
	assert_int_equal(n[WEFT_TRACK_CV][WEFT_DOES_WAIT_ACT], c->cv_stall_act);
	assert_int_equal(n[WEFT_TRACK_CV][WEFT_DOES_WAIT_WGT], c->cv_stall_wgt);
	assert_true(n[WEFT_TRACK_CV][WEFT_DOES_BUSY] > 0 && n[WEFT_TRACK_POST][WEFT_DOES_BUSY] > 0);
	assert_int_equal(sum_bytes(j, "read"), c->rd_bytes);
	assert_int_equal(sum_bytes(j, "written"), c->wr_bytes);
	assert_int_equal(count_commands(j), c->cmds);
	check_operators(j, r->cycles);
	assert_true(strstr(text, "at least") && strstr(text, "CONV_2D"));
	check_losses(text, r);
	cJSON_Delete(j);
	weft_report_free(r);
	free(text);
}

static void rtl(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	by_cycle("tests/models/digits_int8.tflite", 0, WEFT_MEMORY_DDR);
	by_cycle("tests/models/digits_int8.tflite", 12, WEFT_MEMORY_DDR);
	by_cycle("tests/models/digits_int16x8.tflite", 0, WEFT_MEMORY_SRAM);
}

/* Depthwise, pooling, several streams with host operators between them; operators that take uint8 from the host. */
static void networks(void **state)
{
	static const char *const nets[] = {
		"mlperf_tiny/vww_96_int8", "mlperf_tiny/pretrainedResnet_quant", "coral_test_data/mobilenet_v1_0.25_128_quant",
	};
	char path[512];

	(void)state;
	for (int i = 0; i < (test_in_part() ? 1 : 3); i++) {
		snprintf(path, sizeof path, "%s/%s.tflite", test_data(), nets[i]);
		if (!test_have_rtl("w16") || access(path, R_OK)) {
			print_message("no RTL, or no %s\n", path);
			skip();
		}
		by_cycle(path, i ? 3 : 0, WEFT_MEMORY_DDR);
	}
}

static void by_counters(const char *chip)
{
	char *const extra[] = { "--chip", (char *)(uintptr_t)chip, NULL };
	struct weft_session_options o = weft_session_options_default();
	static const char *const names[] = { "LD", "ST", "CV", "VE" };
	uint64_t n[WEFT_PROF_STATES];
	struct card_process c;
	struct weft_report *r;
	char *text;

	card_process_start(&c, "PROF", extra);
	o.device = WEFT_DEVICE_USB;
	o.usb = c.where;
	o.usb_wait_ms = 5000;
	cJSON *j = profiled("tests/models/digits_int8.tflite", o, &r, &text);
	card_process_stop(&c);
	check_rules(j);
	assert_true(r->cycles > 1000);
	for (int u = 0; u < 4; u++) {
		const uint32_t busy[] = { r->counters.ld_busy, r->counters.st_busy, r->counters.cv_busy, r->counters.ve_busy };
		unit_sums(j, names[u], r->cycles, n);
		assert_int_equal(under_way(n), busy[u]);
		if (u == 2)
			assert_int_equal(n[WEFT_DOES_WAIT_ACT], r->counters.cv_stall_act);
	}
	check_operators(j, r->cycles);
	/* Each operator is there, and what went over the link. */
	assert_non_null(strstr(text, "0 ") && strstr(text, "CONV_2D"));
	int submits = 0, writes = 0;
	const cJSON *e;
	cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(j, "traceEvents")) {
		submits += number(e, "pid") == 2 && !strcmp(string(e, "name"), "submit");
		writes += number(e, "pid") == 2 && !strcmp(string(e, "name"), "WRITE");
	}
	assert_true(submits > 1 && writes > 1);
	cJSON_Delete(j);
	weft_report_free(r);
	free(text);
}

static void card(void **state)
{
	(void)state;
	by_counters("model");
}

static void chip(void **state)
{
	(void)state;
	if (!card_rtl("w16"))
		skip();
	by_counters("rtl");
}

static void refused_bad(void **state)
{
	char text[4096];

	(void)state;
	assert_int_equal(run_line(text, sizeof text, "run tests/models/digits_int8.tflite --device golden --profile %s", file), 2);
	assert_string_equal(text, "weft: --profile: golden has no units; --device rtl, usb or model\n");
	assert_int_equal(run_line(text, sizeof text, "run tests/models/digits_int8.tflite --device model --profile /nowhere/x.json"), 2);
	assert_non_null(strstr(text, "/nowhere/x.json: No such file or directory"));
	assert_int_equal(access(file, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rtl), cmocka_unit_test(networks), cmocka_unit_test(card), cmocka_unit_test(chip),
		cmocka_unit_test(refused_bad),
	};

	test_path(file, sizeof file, "profile-%d.json", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}

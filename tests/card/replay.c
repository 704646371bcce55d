/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a bit that flips in a simulated card's memory while ResNet-8 runs there, to
 * the cycle in which the first wrong byte is written: captured on the card,
 * replayed on the RTL, and read back from the waveform's value changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "tests/support/card.h"
#include "tests/support/card_process.h"
#include "tests/support/level.h"
#include "tests/support/replay_files.h"
#include "tests/support/shell.h"
#include <weft/capture.h>

#include "userlib/compile/program.h"

#define CYCLES 200
#define TEXT 65536
/* Transfer 8 comes when constants and input are in card memory and the stream has not begun. */
#define TRANSFER 8
#define MEMORY 0x10000         /* of the constants, the first buffer */
#define BYTE 0x2000            /* a weight of operator 4 */
#define BIT 6

static char text[TEXT];

/* What the run itself said. */
struct seen { int op, cmd; long long index, expected, got; char tensor[512]; };

static void run_and_capture(struct seen *s)
{
	char fault[64];
	char *const extra[] = { "--fault", fault, NULL };
	struct card_process c;

	snprintf(fault, sizeof fault, "memory@%d,%d", TRANSFER, (MEMORY + BYTE) * 8 + BIT);
	card_process_start(&c, "CHAIN", extra);
	int status = run_line(text, TEXT, "run %s/mlperf_tiny/pretrainedResnet_quant.tflite --device %s --wait 5000 --check --capture %s",
	                      test_data(), c.device, wcap);
	card_process_stop(&c);
	if (status != 1)
		fail_msg("exit status %d: %s", status, text);
	const char *p = strstr(text, "first difference: ");
	if (!p || sscanf(p, "first difference: operator %d %*s tensor %511[^,], index %lld: expected %lld, got %lld (command %d", &s->op,
	                 s->tensor, &s->index, &s->expected, &s->got, &s->cmd) != 6)
		fail_msg("%s", text);
}

/* The file holds the card's memory, not what the host thinks is there. */
static void check_capture(void)
{
	struct weft_capture c;
	weft_program *p;
	char msg[WEFT_MSG_LEN] = "";
	uint64_t wrong = 0;

	assert_int_equal(weft_capture_read(wcap, &c, msg), 0);
	assert_int_equal(weft_program_parse(c.program, c.n_program, &p, msg), 0);
	assert_int_equal(p->n_consts, c.n_consts);
	for (uint64_t i = 0; i < c.n_consts; i++)
		wrong += c.consts[i] != p->consts[i];
	assert_int_equal(wrong, 1);
	assert_int_equal(c.consts[BYTE] ^ p->consts[BYTE], 1 << BIT);
	weft_program_free(p);
	weft_capture_release(&c);
}

static double number(const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	if (!cJSON_IsNumber(v))
		fail_msg("no \"%s\" in %s", key, text);
	return v->valuedouble;
}

/* ---- the waveform ---- */

enum { RETIRE, REQ, GNT, ADDR, DATA, MASK, N_SIGNALS };
static const char *const signals[N_SIGNALS] = { "npu.weft_npu.retire_o[3:0]", "npu.weft_npu.pst.req", "npu.weft_npu.out_gnt",
	"npu.weft_npu.pst.addr[19:0]", "npu.weft_npu.pst.data[127:0]", "npu.weft_npu.pst.mask[15:0]" };

struct wave {
	fstHandle h[N_SIGNALS];
	char now[N_SIGNALS][160];
	uint64_t time;
	unsigned addr, good, bad;  /* the byte that is looked for */
	uint64_t retired[4096];    /* times at which CV retired something */
	size_t n_retired;
	uint64_t wrong_at, n_wrong, n_right;
};

static uint64_t bits(const char *value, int from, int n)
{
	size_t len = strlen(value);
	uint64_t v = 0;

	for (int i = from + n - 1; i >= from; i--)
		v = v << 1 | (i < (int)len && value[len - 1 - (size_t)i] == '1');
	return v;
}

/* All signals are as they stay until the next time. */
static void settled(struct wave *w)
{
	unsigned at = (unsigned)bits(w->now[ADDR], 0, 20), lane = w->addr - at;

	/* Odd times are behind a clock edge: what is then there the next one takes. */
	if (w->time % 2 == 0)
		return;
	if (bits(w->now[RETIRE], 2, 1) && w->n_retired < 4096)
		w->retired[w->n_retired++] = w->time;
	if (!bits(w->now[REQ], 0, 1) || !bits(w->now[GNT], 0, 1) || w->addr < at || lane > 15 || !bits(w->now[MASK], (int)lane, 1))
		return;
	unsigned byte = (unsigned)bits(w->now[DATA], 8 * (int)lane, 8);
	w->n_right += byte == w->good;
	if (byte != w->bad)
		return;
	w->wrong_at = w->time;
	w->n_wrong++;
}

static void on_change(void *user, uint64_t time, fstHandle h, const unsigned char *value)
{
	struct wave *w = user;

	if (time != w->time)
		settled(w);
	w->time = time;
	for (int i = 0; i < N_SIGNALS; i++)
		if (w->h[i] == h)
			snprintf(w->now[i], sizeof w->now[i], "%s", (const char *)value);
}

static void find_signals(void *x, struct wave *w)
{
	struct wave_names n = { 0 };
	fstHandle h;

	while ((h = next_signal(x, &n)))
		for (int i = 0; i < N_SIGNALS; i++)
			if (!strcmp(n.full, signals[i]))
				w->h[i] = h;
	for (int i = 0; i < N_SIGNALS; i++)
		if (!w->h[i])
			fail_msg("the waveform has no %s", signals[i]);
}

/* The wrong byte's write is there, where and with what replay says, and the command's retirement, as far apart as it says. */
static void check_wave(const cJSON *first)
{
	const uint64_t apart = (uint64_t)(number(first, "cycle") - number(first, "written"));
	struct wave *w = calloc(1, sizeof *w);
	void *x = fstReaderOpen(fst);

	assert_non_null(x);
	w->addr = (unsigned)number(first, "address");
	w->good = (unsigned)((int)number(first, "expected") & 255);
	w->bad = (unsigned)((int)number(first, "got") & 255);
	find_signals(x, w);
	for (int i = 0; i < N_SIGNALS; i++)
		fstReaderSetFacProcessMask(x, w->h[i]);
	fstReaderIterBlocks(x, on_change, w, NULL);
	settled(w);
	/* Recorded: CYCLES before the one and behind the other, two times a cycle. */
	uint64_t begin = fstReaderGetStartTime(x), end = fstReaderGetEndTime(x);
	assert_true(end - begin >= 2 * (apart + 2 * CYCLES) - 4 && end - begin <= 2 * (apart + 2 * CYCLES) + 8);
	fstReaderClose(x);
	assert_int_equal(w->n_wrong, 1);
	assert_int_equal(w->n_right, 0);
	assert_true(w->wrong_at >= begin && w->wrong_at - begin <= 2 * CYCLES + 8 && w->wrong_at - begin >= 2 * CYCLES - 8);
	bool retired = false;
	for (size_t i = 0; i < w->n_retired; i++)
		retired = retired || (w->retired[i] > w->wrong_at && w->retired[i] + 8 > w->wrong_at + 2 * apart &&
		                      w->retired[i] < w->wrong_at + 2 * apart + 8);
	assert_true(retired);
	free(w);
}

/* ---- the chain ---- */

static void chain(void **state)
{
	struct seen s;
	struct stat st;

	(void)state;
	snprintf(text, TEXT, "%s/mlperf_tiny/pretrainedResnet_quant.tflite", test_data());
	if (!test_have_rtl("w16") || access(text, R_OK)) {
		print_message("no RTL, or no %s\n", text);
		skip();
	}
	run_and_capture(&s);
	check_capture();
	assert_int_equal(run_line(text, TEXT, "replay %s --device rtl --wave %s --cycles %d --json", wcap, fst, CYCLES), 1);
	cJSON *j = cJSON_Parse(text);
	assert_non_null(j);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, "reproduced")));
	assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, "memory_differs")));
	assert_true(number(j, "memory_at") == BYTE);
	/* Operator, tensor, tile and element are those that the run on the card saw. */
	const cJSON *first = cJSON_GetObjectItemCaseSensitive(j, "first"), *at, *tile;
	assert_int_equal((int)number(first, "op"), s.op);
	assert_int_equal((int)number(first, "cmd"), s.cmd);
	assert_int_equal((long long)number(first, "index"), s.index);
	assert_int_equal((long long)number(first, "expected"), s.expected);
	assert_int_equal((long long)number(first, "got"), s.got);
	const char *tensor = cJSON_GetObjectItemCaseSensitive(first, "tensor")->valuestring;
	assert_true(strlen(tensor) > 20 && !strncmp(tensor, s.tensor, strlen(tensor)));
	at = cJSON_GetObjectItemCaseSensitive(first, "at");
	tile = cJSON_GetObjectItemCaseSensitive(first, "tile");
	assert_int_equal(cJSON_GetArraySize(at), 4);
	for (int d = 0; d < 4; d++) {
		const cJSON *pair = cJSON_GetArrayItem(tile, d);
		double v = cJSON_GetArrayItem(at, d)->valuedouble;
		assert_true(v >= cJSON_GetArrayItem(pair, 0)->valuedouble && v <= cJSON_GetArrayItem(pair, 1)->valuedouble);
	}
	assert_int_equal(stat(fst, &st), 0);
	assert_true(st.st_size > 10000 && st.st_size <= 5 << 20);
	print_message("operator %d, element %lld, waveform of %ld bytes\n", s.op, s.index, (long)st.st_size);
	check_wave(first);
	cJSON_Delete(j);
	/* There is no command at fault here. */
	assert_int_equal(run_line(text, TEXT, "reduce %s -o %s/small", wcap, dir), 2);
	assert_non_null(strstr(text, "the constants in the device's memory differ"));
}

/* A network that fails on a card whose chip has a broken PE: what is printed runs it again there. */
static void reduced(void **state)
{
	char fault[] = "--fault", pe[32], option[] = "--chip", rtl[] = "rtl", *const extra[] = { option, rtl, fault, pe, NULL };
	char command[1024] = "";
	struct card_process c;

	(void)state;
	if (!card_rtl("w16"))
		skip();
	snprintf(pe, sizeof pe, "pe@1,%d", 64 * (3 * 256 + 5) + 17);
	card_process_start(&c, "REDUCE", extra);
	int status = run_line(text, TEXT, "reduce tests/models/digits_int8.tflite -o %s/small --device %s", dir, c.device);
	const char *again = strstr(text, "\nweft run ");
	if (status || !again || sscanf(again, "\nweft %1023[^\n]", command) != 1)
		fail_msg("exit status %d: %s", status, text);
	status = run_line(text, TEXT, "%s --no-capture", command);
	card_process_stop(&c);
	assert_int_equal(shell("rm -r %s/small", dir), 0);
	if (status != 1 || !strstr(text, "CONV2D, tensor "))
		fail_msg("%s: exit status %d: %s", command, status, text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(chain), cmocka_unit_test(reduced) };

	return cmocka_run_group_tests(tests, replay_files_make, replay_files_drop);
}

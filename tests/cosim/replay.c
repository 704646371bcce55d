/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A failure is captured, and replayed in simulation: faults planted in the RTL,
 * and a bit of the constants that changed in the device's memory. The replay
 * must name the operator, the tile and the element that the failing run saw,
 * and the waveform must hold that moment.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/replay_files.h"
#include "tests/support/tensors.h"
#include "userlib/compile/program.h"
#include "userlib/run/internal.h"
#include <weft/replay.h>

#define WAVE_CYCLES 100
#define MODEL "tests/models/digits_int8.tflite"


/* Runs the network with a fault; the first difference that the run saw. */
static struct weft_mismatch run_with(const struct weft_plant *plant)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_report *r = NULL;
	struct weft_mismatch m;
	weft_tensor out = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	uint8_t x[64];
	uint64_t seed = 3;
	weft_net *net;
	weft_session *s;
	struct weft_port p;

	assert_int_equal(weft_net_load_file(MODEL, &net, msg), 0);
	weft_net_input(net, 0, &p);
	weft_tensor in = { .dtype = p.dtype, .rank = p.rank, .data = x };
	memcpy(in.dim, p.dim, sizeof in.dim);
	for (size_t i = 0; i < sizeof x; i++)
		x[i] = (uint8_t)test_random(&seed);
	o.device = WEFT_DEVICE_RTL;
	o.check = true;
	o.plant = *plant;
	o.capture = wcap;
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_int_equal(weft_session_run(s, &in, &out, &r, msg), -EBADMSG);
	assert_true(weft_session_captured(s));
	m = r->first;
	weft_report_free(r);
	weft_session_close(s);
	weft_net_free(net);
	return m;
}

static struct weft_replay_report replay(const struct weft_capture *c, bool plant, const char *wave)
{
	struct weft_replay_options o = { .device = WEFT_DEVICE_RTL, .plant = plant, .wave = wave, .wave_cycles = WAVE_CYCLES };
	struct weft_replay_report r;
	char msg[WEFT_MSG_LEN] = "";

	if (weft_replay(c, &o, &r, msg))
		fail_msg("%s", msg);
	return r;
}

static void inside_tile(const struct weft_replay_place *p)
{
	for (int d = 0; d < p->rank; d++)
		assert_true(p->at[d] >= (int64_t)p->tile[d][0] && p->at[d] <= (int64_t)p->tile[d][1]);
}

static void planted(void **state)
{
	static const struct weft_plant plants[] = {
		{ .kind = WEFT_PLANT_PE, .row = 3, .col = 5, .bit = 17 }, { .kind = WEFT_PLANT_PE, .row = 0, .col = 15, .bit = 4 },
		{ .kind = WEFT_PLANT_LANE, .lane = 2, .bit = 33 },
	};

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
		struct weft_mismatch m = run_with(&plants[i]);
		struct weft_capture c;
		char msg[WEFT_MSG_LEN] = "";

		assert_int_equal(weft_capture_read(wcap, &c, msg), 0);
		/* With the fault again: the same memory, bit for bit, and the same first element. */
		struct weft_replay_report r = replay(&c, true, NULL);
		assert_true(r.reproduced && r.simulation_differs && r.device_differs && r.first.found && r.first.element);
		assert_int_equal(r.first.op, m.op);
		assert_int_equal(r.first.cmd, m.cmd);
		assert_int_equal(r.first.index, m.index);
		assert_int_equal(r.first.want, m.expected);
		assert_int_equal(r.first.have, m.got);
		inside_tile(&r.first);
		/* Without: the simulation is right, and what the run saw is the place. */
		r = replay(&c, false, NULL);
		assert_true(!r.reproduced && !r.simulation_differs && r.device_differs);
		assert_int_equal(r.first.cmd, m.cmd);
		assert_int_equal(r.first.index, m.index);
		/* Not even that: the last store's bytes. */
		c.mismatch = false;
		r = replay(&c, false, NULL);
		assert_true(!r.reproduced && r.first.found && !r.first.in_sp && r.first.element);
		weft_capture_release(&c);
	}
}

/* What the device's memory holds after a job with these constants. */
static void run_as_found(struct weft_capture *c)
{
	struct weft_dev_options d = weft_dev_options_default();
	struct weft_job_result res;
	weft_program *p;
	weft_dev *dev;
	weft_buf *k, *a;
	weft_job job;
	char msg[WEFT_MSG_LEN] = "";

	assert_int_equal(weft_program_parse(c->program, c->n_program, &p, msg), 0);
	assert_int_equal(weft_dev_open(&d, &dev, msg), 0);
	assert_int_equal(weft_buf_alloc(dev, c->n_consts, &k), 0);
	assert_int_equal(weft_buf_alloc(dev, c->n_arena, &a), 0);
	weft_buf_write(k, 0, c->consts, c->n_consts);
	weft_buf_write(a, 0, c->before, c->n_arena);
	const struct weft_window win[] = { { .buf = k, .rd = true }, { .buf = a, .rd = true, .wr = true } };
	const struct weft_step *step = &p->steps[c->step];
	assert_int_equal(weft_submit(dev, p->words + step->first_word, step->n_words, win, 2, &job), 0);
	assert_int_equal(weft_wait(dev, job, WEFT_FOREVER, &res), 0);
	weft_buf_read(a, 0, c->after, c->n_arena);
	weft_buf_free(k);
	weft_buf_free(a);
	weft_dev_close(dev);
	weft_program_free(p);
}

/* The retirement pulse that is looked for. */
struct wave { fstHandle retire; unsigned unit; uint64_t at; bool seen; };

static void on_change(void *user, uint64_t time, fstHandle h, const unsigned char *value)
{
	struct wave *w = user;

	if (h == w->retire && value[3 - w->unit] == '1' && time + 4 >= w->at && time <= w->at + 4)
		w->seen = true;
}

/* Does the file hold the listed signals, and that unit's pulse WAVE_CYCLES before its end? */
static bool holds(const char *names, unsigned unit)
{
	void *x = fstReaderOpen(fst);
	struct wave w = { .unit = unit };
	struct wave_names n = { 0 };
	fstHandle h;
	char line[sizeof n.full + 2], *left = strdup(names), *p;
	int listed = 0;

	assert_non_null(x);
	assert_non_null(left);
	for (p = left; (p = strstr(p, "\nnpu.")); p++)
		listed++;
	while ((h = next_signal(x, &n))) {
		snprintf(line, sizeof line, "\n%s\n", n.full);
		if ((p = strstr(left, line)))
			p[1] = '-';
		if (!strcmp(n.full, "npu.weft_npu.retire_o[3:0]"))
			w.retire = h;
	}
	assert_true(listed > 20);
	p = strstr(left, "\nnpu.");
	if (p)
		fail_msg("listed, and not in the file: %.80s", p + 1);
	free(left);
	assert_int_not_equal(w.retire, 0);
	w.at = fstReaderGetEndTime(x) - 2 * WAVE_CYCLES;
	fstReaderSetFacProcessMask(x, w.retire);
	fstReaderIterBlocks(x, on_change, &w, NULL);
	fstReaderClose(x);
	return w.seen;
}

static void memory_bit(void **state)
{
	static const struct weft_plant plant = { .kind = WEFT_PLANT_PE, .row = 3, .col = 5, .bit = 17 };
	struct weft_capture c;
	char msg[WEFT_MSG_LEN] = "", names[8192] = "";
	struct stat st;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	run_with(&plant);
	assert_int_equal(weft_capture_read(wcap, &c, msg), 0);
	c.mismatch = false;
	memset(&c.plant, 0, sizeof c.plant);
	/* A bit of the first loaded weights. */
	size_t at = 40;
	c.consts[at] ^= 0x40;
	run_as_found(&c);
	struct weft_replay_report r = replay(&c, false, fst);
	assert_true(r.memory && r.memory_at == at && r.memory_bytes == 1 && r.memory_cmd != SIZE_MAX);
	assert_true(r.reproduced && r.simulation_differs && r.first.found && r.first.element);
	assert_true(r.first.want != r.first.have);
	inside_tile(&r.first);
	assert_int_equal(weft_replay_signals(gtkw, fst, &r.first, msg), 0);
	assert_int_equal(stat(fst, &st), 0);
	assert_true(st.st_size < 5 << 20);
	FILE *f = fopen(gtkw, "r");
	assert_non_null(f);
	assert_true(fread(names, 1, sizeof names - 1, f) > 0);
	fclose(f);
	/* The retirement lies in the middle of what was recorded. */
	assert_true(holds(names, r.first.unit));
	weft_capture_release(&c);
}

static void foreign_bad(void **state)
{
	static const struct weft_plant plant = { .kind = WEFT_PLANT_PE, .row = 3, .col = 5, .bit = 17 };
	struct weft_replay_options o = { .device = WEFT_DEVICE_MODEL };
	struct weft_replay_report r;
	struct weft_capture c;
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	run_with(&plant);
	assert_int_equal(weft_capture_read(wcap, &c, msg), 0);
	c.step = 7;
	assert_int_equal(weft_replay(&c, &o, &r, msg), -EINVAL);
	assert_string_equal(msg, "capture: its step is none of the program's streams");
	c.step = 0;
	c.n_arena--;
	assert_int_equal(weft_replay(&c, &o, &r, msg), -EINVAL);
	c.n_arena++;
	c.program[c.n_program / 2] ^= 1;
	assert_int_equal(weft_replay(&c, &o, &r, msg), -EINVAL);
	weft_capture_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(planted), cmocka_unit_test(memory_bit), cmocka_unit_test(foreign_bad),
	};

	return cmocka_run_group_tests(tests, replay_files_make, replay_files_drop);
}

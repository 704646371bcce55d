/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured streams made small: faults planted in the RTL under the project's own
 * networks. What is left has at most three commands beside loads and stores, is
 * named as the whole was, fails with the fault and not without it. And a part of
 * any stream computes what the whole did there.
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

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/planted.h"
#include "tests/support/tensors.h"
#include "userlib/replay/reduce_stream_internal.h"
#include <weft/replay.h>

static char wcap[128];

static weft_net *load(const char *model)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;

	if (weft_net_load_file(model, &net, msg))
		fail_msg("%s", msg);
	return net;
}

static weft_tensor random_input(const weft_net *net)
{
	struct weft_port p;
	uint64_t seed = 11;

	weft_net_input(net, 0, &p);
	weft_tensor in = { .dtype = p.dtype, .rank = p.rank };
	memcpy(in.dim, p.dim, sizeof p.dim);
	in.data = malloc(weft_tensor_bytes(&in));
	for (size_t k = 0; k < weft_tensor_bytes(&in); k++)
		((uint8_t *)in.data)[k] = (uint8_t)test_random(&seed);
	return in;
}

static void capture(const char *model, const struct weft_plant *plant, struct weft_capture *c)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor out[4] = { 0 };
	weft_session *s;
	weft_net *net = load(model);
	weft_tensor in = random_input(net);

	o.device = WEFT_DEVICE_RTL;
	o.check = true;
	o.plant = *plant;
	o.capture = wcap;
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_int_equal(weft_session_run(s, &in, out, NULL, msg), -EBADMSG);
	assert_true(weft_session_captured(s));
	weft_session_close(s);
	weft_tensor_release(&in);
	weft_net_free(net);
	if (weft_capture_read(wcap, c, msg))
		fail_msg("%s", msg);
	remove(wcap);
}

static struct weft_replay_report replay(const struct weft_capture *c, bool plant)
{
	const struct weft_replay_options o = { .device = WEFT_DEVICE_RTL, .plant = plant };
	struct weft_replay_report r;
	char msg[WEFT_MSG_LEN] = "";

	if (weft_replay(c, &o, &r, msg))
		fail_msg("%s", msg);
	return r;
}

static void planted(void **state)
{
	const struct weft_stream_options o = { .device = WEFT_DEVICE_RTL };

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
		struct weft_capture whole, small;
		struct weft_stream_case r;
		char msg[WEFT_MSG_LEN] = "";

		capture(failures[i].model, &failures[i].plant, &whole);
		if (weft_reduce_stream(&whole, &o, &r, msg))
			fail_msg("%s, kind %d: %s", failures[i].model, failures[i].plant.kind, msg);
		assert_true(r.kept >= 1 && r.kept <= 3 && r.before > 10);
		print_message("%s: %u of %u commands, %u loads, %u stores, %d streams tried\n", failures[i].model, r.kept, r.before,
		              r.loads, r.stores, r.runs);
		/* By way of a file. */
		assert_int_equal(weft_capture_write(wcap, &r.capture, msg), 0);
		assert_int_equal(weft_capture_read(wcap, &small, msg), 0);
		remove(wcap);
		assert_true(small.n_program < 65536);
		struct weft_replay_report before = replay(&whole, true), with = replay(&small, true), without = replay(&small, false);
		assert_true(with.reproduced && with.simulation_differs && with.first.element);
		assert_int_equal(with.first.op, before.first.op);
		assert_string_equal(with.first.tensor, before.first.tensor);
		assert_int_equal(with.first.index, before.first.index);
		assert_int_equal(with.first.want, before.first.want);
		assert_int_equal(with.first.have, before.first.have);
		assert_true(!without.simulation_differs && without.device_differs);
		weft_capture_release(&small);
		weft_capture_release(&r.capture);
		weft_capture_release(&whole);
	}
}

/* Where the scratchpad has the record of a lane without a channel, in the last convolution that has such lanes: its bytes are
 * loaded and change nothing. Its bias is 0. */
static uint32_t idle_record(const char *model)
{
	weft_net *net = load(model);
	char msg[WEFT_MSG_LEN] = "";
	weft_program *p;
	struct weft_cmd c;
	uint32_t found = UINT32_MAX;

	assert_int_equal(weft_compile(net->g, &(struct weft_compile_options){ .config = "w16" }, &p, msg), 0);
	const struct weft_step *s = &p->steps[0];
	for (size_t at = 0; at < s->n_words; at += (size_t)c.h.n_words) {
		assert_int_equal(weft_cmd_decode(p->words + s->first_word + at, s->n_words - at, &c), 0);
		if (c.h.op == WEFT_CMD_CONV && c.conv.post.oc % 16 && !c.conv.keep)
			found = (uint32_t)(c.conv.p_base + c.conv.post.oc * (c.conv.p_short ? WEFT_PARAM_SHORT_BYTES : WEFT_PARAM_BYTES));
	}
	assert_int_not_equal(found, UINT32_MAX);
	weft_program_free(p);
	weft_net_free(net);
	return found;
}

/* A wrong byte that reaches no tensor is found, too: that of the load which wrote it. */
static void harmless(void **state)
{
	const struct weft_plant plant = { .kind = WEFT_PLANT_SP, .addr = idle_record(int8), .bit = 6 };
	const struct weft_stream_options o = { .device = WEFT_DEVICE_RTL };
	struct weft_stream_case r;
	struct weft_capture c;
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	capture(int8, &plant, &c);
	assert_false(c.mismatch);
	struct weft_replay_report whole = replay(&c, true);
	assert_true(whole.reproduced && whole.simulation_differs && whole.first.found && !whole.first.element);
	assert_true(whole.first.in_sp && whole.first.addr == plant.addr && whole.first.unit == WEFT_UNIT_LD);
	assert_int_equal(whole.first.expected | 1 << 6, whole.first.got);
	if (weft_reduce_stream(&c, &o, &r, msg))
		fail_msg("%s", msg);
	assert_true(r.kept == 1 && r.stores == 1);
	struct weft_replay_report with = replay(&r.capture, true), without = replay(&r.capture, false);
	assert_true(with.reproduced && with.simulation_differs && with.first.got == whole.first.got);
	assert_true(!without.simulation_differs);
	weft_capture_release(&r.capture);
	weft_capture_release(&c);
}

/* ---- parts ---- */

struct whole {
	weft_program *p;
	const struct weft_step *step;
	struct weft_cmd *cmds;
	uint8_t *before;           /* the arena */
};

static void note(void *user, enum weft_model_space space, unsigned window, uint64_t addr, uint64_t len)
{
	struct weft_part_out *o = user;

	(void)window;
	o->in_sp = space == WEFT_MODEL_SP;
	o->lo = addr < o->lo ? addr : o->lo;
	o->hi = addr + len > o->hi ? addr + len : o->hi;
}

/* Commands [from, target], some left out: what is stored is what the same commands leave in the model as it stands. */
static bool same_as_in_place(const struct whole *w, uint32_t from, uint32_t target, bool *keep)
{
	const struct weft_config *cfg = weft_config_find("w16");
	uint8_t *sp = malloc(cfg->sp_bytes), *arena = malloc(w->p->arena_bytes + 1), *now = malloc(w->p->arena_bytes + 1);
	struct weft_model *m = weft_model_new(cfg);
	const struct weft_model_window k = { w->p->consts, w->p->n_consts, true, false }, a = { now, w->p->arena_bytes, true, true };
	struct weft_part part = { .p = w->p, .step = w->step, .cfg = cfg, .cmds = w->cmds, .keep = keep, .from = from,
		.target = target, .sp = sp, .arena = arena, .out = { .lo = UINT64_MAX } };
	struct weft_part_stream s;

	memcpy(now, w->before, w->p->arena_bytes);
	weft_model_set_window(m, WEFT_WIN_CONST, &k);
	weft_model_set_window(m, WEFT_WIN_ARENA, &a);
	for (uint32_t i = 0; i <= target; i++) {
		if (i == from) {
			memcpy(sp, weft_model_sp(m), cfg->sp_bytes);
			memcpy(arena, now, w->p->arena_bytes);
		}
		if (i == target)
			weft_model_set_log(m, note, &part.out);
		if (i < from || keep[i])
			assert_int_equal(weft_model_exec(m, &w->cmds[i], NULL), 0);
	}
	int err = weft_part_build(&part, &s);
	if (!err) {
		struct weft_model *n = weft_model_new(cfg);
		const struct weft_model_window sk = { s.consts, s.n_consts, true, false }, sa = { s.arena, s.n_arena, true, true };
		uint64_t out = part.out.in_sp ? s.n_arena - (part.out.hi - part.out.lo) : part.out.lo;
		weft_model_set_window(n, WEFT_WIN_CONST, &sk);
		weft_model_set_window(n, WEFT_WIN_ARENA, &sa);
		assert_int_equal(weft_model_run(n, s.stream.words, s.stream.n, NULL, NULL), 0);
		assert_memory_equal(s.arena + out, (part.out.in_sp ? weft_model_sp(m) : now) + part.out.lo, part.out.hi - part.out.lo);
		weft_model_free(n);
		weft_part_release(&s);
	} else {
		assert_int_equal(err, -EINVAL);
	}
	weft_model_free(m);
	free(sp);
	free(arena);
	free(now);
	return !err;
}

static void parts(void **state)
{
	const char *const models[] = { int8, int16 };
	char msg[WEFT_MSG_LEN] = "";
	uint64_t seed = 17;
	int built = 0;

	(void)state;
	for (int i = 0; i < 2; i++) {
		weft_net *net = load(models[i]);
		struct whole w = { 0 };
		size_t at = 0;
		assert_int_equal(weft_compile(net->g, &(struct weft_compile_options){ .config = "w16" }, &w.p, msg), 0);
		w.step = &w.p->steps[0];
		assert_int_equal(w.step->kind, WEFT_STEP_NPU);
		w.cmds = calloc(w.step->n_cmds, sizeof *w.cmds);
		w.before = malloc(w.p->arena_bytes + 1);
		for (uint64_t b = 0; b < w.p->arena_bytes; b++)
			w.before[b] = (uint8_t)test_random(&seed);
		for (uint32_t k = 0; k < w.step->n_cmds; k++) {
			assert_int_equal(weft_cmd_decode(w.p->words + w.step->first_word + at, w.step->n_words - at, &w.cmds[k]), 0);
			at += (size_t)w.cmds[k].h.n_words;
		}
		bool *keep = calloc(w.step->n_cmds, 1);
		for (uint32_t target = 0; target + 1 < w.step->n_cmds; target++) {
			for (uint32_t n = 0; n <= target; n = 2 * n + 1) {
				/* All of them, then without some. */
				memset(keep, 1, w.step->n_cmds);
				assert_true(same_as_in_place(&w, target - n, target, keep));
				for (uint32_t k = target - n; k < target; k++)
					keep[k] = test_random(&seed) & 1;
				built += same_as_in_place(&w, target - n, target, keep);
			}
		}
		free(keep);
		free(w.cmds);
		free(w.before);
		weft_program_free(w.p);
		weft_net_free(net);
	}
	assert_true(built > 40);
}

static void sound_bad(void **state)
{
	static const struct weft_plant plant = { .kind = WEFT_PLANT_PE, .row = 3, .col = 5, .bit = 17 };
	const struct weft_stream_options o = { .device = WEFT_DEVICE_RTL }, model = { .device = WEFT_DEVICE_MODEL };
	struct weft_stream_case r;
	struct weft_capture c;
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	capture(int8, &plant, &c);
	/* Where it cannot fail. */
	assert_int_equal(weft_reduce_stream(&c, &model, &r, msg), -ENOENT);
	assert_string_equal(msg, "on this device the stream does not fail");
	/* Weights that changed in memory are no command's fault. */
	c.consts[40] ^= 0x40;
	assert_int_equal(weft_reduce_stream(&c, &o, &r, msg), -ENOENT);
	assert_non_null(strstr(msg, "the constants in the device's memory differ"));
	c.consts[40] ^= 0x40;
	c.step = 9;
	assert_int_equal(weft_reduce_stream(&c, &o, &r, msg), -EINVAL);
	weft_capture_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(planted), cmocka_unit_test(harmless), cmocka_unit_test(parts), cmocka_unit_test(sound_bad) };

	test_path(wcap, sizeof wcap, "reduce-%d.wcap", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for the fewest commands of a captured stream that still fail. It starts with the
 * command that first went wrong (the target) alone, on the memory that a correct run has there. If that
 * does not fail, ever more of the commands before it are added. Then commands that the failure does
 * not need are left out.
 */
#include <weft/reduce.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce_stream_internal.h"
#include <weft/replay.h>
#include <weft/file.h>

/*
 * All that one search has, from its beginning to its end: weft_reduce_stream() frees it, also what a
 * function that failed has left here.
 */
struct search {
	const struct weft_capture *c;
	const struct weft_stream_options *o;
	struct weft_stream_case *r;        /* the caller's result */
	char *msg;                 /* the caller's room of WEFT_MSG_LEN bytes */
	weft_net *net;             /* the captured program */
	struct weft_part k;        /* the commands that are kept; its pointers are to the next four */
	struct weft_cmd *cmds;     /* the step's commands, decoded */
	bool *keep;                /* by command */
	uint8_t *sp, *arena;       /* scratchpad and arena of a correct run before the first kept command */
	uint8_t *want, *got;       /* the arena that the last stream tried left on the model, and on the device */
	weft_dev *dev;
	int err;                   /* the negative errno of what ended the search, or 0 */
};

/* Writes `what` to the message and returns err. */
static int fail(struct search *x, int err, const char *what)
{
	snprintf(x->msg, WEFT_MSG_LEN, "%s", what);
	return err;
}

/* ---- the captured stream ---- */

/*
 * Replays the capture (on the RTL, with the captured fault, if the options' device is that, otherwise
 * on the model) to find the first wrong command, which becomes x->k.target; its disassembly goes to
 * x->r->text. Returns 0; -ENOENT if nothing differs or the device's constants do; or a negative errno
 * of weft_replay(); with one line in x->msg.
 */
static int find_target(struct search *x)
{
	/* A card shows nothing while it runs; for one, the model replays, and what the run saw or left says where. */
	const struct weft_replay_options o = { .device = x->o->device == WEFT_DEVICE_RTL ? WEFT_DEVICE_RTL : WEFT_DEVICE_MODEL,
		.rtl_dir = x->o->rtl_dir, .plant = x->o->device == WEFT_DEVICE_RTL };
	struct weft_replay_report r;
	int err = weft_replay(x->c, &o, &r, x->msg);

	if (err)
		return err;
	if (!r.first.found)
		return fail(x, -ENOENT, "nothing differs: there is nothing to reduce");
	if (r.memory)
		return fail(x, -ENOENT, "the constants in the device's memory differ: weft replay names them, no command is at fault");
	x->k.target = (uint32_t)r.first.cmd;
	snprintf(x->r->text, sizeof x->r->text, "%s", r.first.text);
	return 0;
}

/*
 * Decodes all commands of the captured step (x->k.step) into x->cmds and makes x->keep, all false; x->k
 * refers to both if that succeeds. Returns 0, -ENOMEM, or -EINVAL, with one line in the message.
 */
static int decode(struct search *x)
{
	const struct weft_step *step = x->k.step;
	size_t at = 0;

	x->cmds = calloc(step->n_cmds + 1u, sizeof *x->cmds);
	x->keep = calloc(step->n_cmds + 1u, sizeof *x->keep);
	if (!x->cmds || !x->keep)
		return fail(x, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < step->n_cmds; i++) {
		if (weft_cmd_decode(x->k.p->words + step->first_word + at, step->n_words - at, &x->cmds[i]))
			return fail(x, -EINVAL, "capture: its stream does not decode");
		at += (size_t)x->cmds[i].h.n_words;
	}
	x->k.cmds = x->cmds;
	x->k.keep = x->keep;
	return 0;
}

/*
 * Loads the captured program, which weft_replay() has checked before, into x->net, sets x->k's program,
 * step and configuration, decodes the step (decode()), notes the number of its commands in x->r->before,
 * and makes room for a scratchpad and an arena, x->sp and x->arena, to which x->k then refers. Returns 0;
 * -EINVAL or -ENOMEM with one line in x->msg.
 */
static int open_capture(struct search *x)
{
	/* weft_replay() has checked all of this. */
	const int err = weft_net_load(x->c->program, x->c->n_program, "captured program", &x->net, x->msg);
	if (err)
		return err == -ENOMEM ? err : -EINVAL;
	x->k.p = x->net->loaded;
	x->k.step = &x->k.p->steps[x->c->step];
	x->k.cfg = weft_config_find(x->c->config);
	x->r->before = x->k.step->n_cmds;
	x->sp = malloc(x->k.cfg->sp_bytes);
	x->arena = malloc(x->k.p->arena_bytes + 1);
	x->k.sp = x->sp;
	x->k.arena = x->arena;
	return x->sp && x->arena ? decode(x) : fail(x, -ENOMEM, "out of memory");
}

/* ---- the model ---- */

/*
 * Returns a functional model with the given constants and arena as its windows, which stay the
 * caller's; NULL if there is no memory.
 */
static struct weft_model *new_model(const struct search *x, uint8_t *consts, uint64_t n_consts, uint8_t *arena, uint64_t n_arena)
{
	struct weft_model *m = weft_model_new(x->k.cfg);
	const struct weft_model_window k = { consts, n_consts, true, false }, a = { arena, n_arena, true, true };

	if (!m)
		return NULL;
	weft_model_set_window(m, WEFT_WIN_CONST, &k);
	weft_model_set_window(m, WEFT_WIN_ARENA, &a);
	return m;
}

/*
 * The model's callback for a write. Widens the span of bytes in *user (struct weft_part_out) by the len
 * bytes at addr, in the scratchpad or the arena; writes to other memory do not count.
 */
static void note_write(void *user, enum weft_model_space space, unsigned window, uint64_t addr, uint64_t len)
{
	struct weft_part_out *o = user;

	if (space != WEFT_MODEL_SP && window != WEFT_WIN_ARENA)
		return;
	o->in_sp = space == WEFT_MODEL_SP;
	o->lo = addr < o->lo ? addr : o->lo;
	o->hi = addr + len > o->hi ? addr + len : o->hi;
}

/*
 * Runs the captured step on the model, from the captured memory, up to and with the target command.
 * Keeps scratchpad and arena as they are before command `from` in x->sp and x->arena, sets x->k.from,
 * and notes in x->k.out the span of bytes that the target writes. Returns 0; or with one line in x->msg
 * -ENOENT if the target writes nothing, -EINVAL if a command faults, or -ENOMEM.
 */
static int run_to(struct search *x, uint32_t from)
{
	const struct weft_part *k = &x->k;
	uint8_t *memory = malloc(k->p->arena_bytes + 1);
	struct weft_model *m = memory ? new_model(x, k->p->consts, k->p->n_consts, memory, k->p->arena_bytes) : NULL;
	int err = m ? 0 : fail(x, -ENOMEM, "out of memory");

	if (!err)
		memcpy(memory, x->c->before, k->p->arena_bytes);
	x->k.from = from;
	x->k.out = (struct weft_part_out){ .lo = UINT64_MAX };
	for (uint32_t i = 0; !err && i <= k->target; i++) {
		if (i == from) {
			memcpy(x->sp, weft_model_sp(m), k->cfg->sp_bytes);
			memcpy(x->arena, memory, k->p->arena_bytes);
		}
		if (i == k->target)
			weft_model_set_log(m, note_write, &x->k.out);
		if (weft_model_exec(m, &k->cmds[i], NULL))
			err = fail(x, -EINVAL, "capture: its stream faults on the model");
	}
	if (!err && k->out.lo > k->out.hi)
		err = fail(x, -ENOENT, "the first wrong command writes nothing by itself");
	weft_model_free(m);
	free(memory);
	return err;
}

/* ---- one stream on model and device ---- */

/*
 * Runs a part's stream on the model with a copy of its arena; x->want, which is made here and was NULL,
 * becomes the arena that it leaves. Returns 0, or -ENOMEM or -EINVAL (it faults) with one line in
 * x->msg; x->want is then room that means nothing, or NULL, and is freed before the next stream or with
 * the search.
 */
static int on_model(struct search *x, const struct weft_part_stream *s)
{
	x->want = malloc(s->n_arena + 1);
	struct weft_model *m = x->want ? new_model(x, s->consts, s->n_consts, x->want, s->n_arena) : NULL;

	if (!m)
		return fail(x, -ENOMEM, "out of memory");
	memcpy(x->want, s->arena, s->n_arena);
	int err = weft_model_run(m, s->stream.words, s->stream.n, NULL, NULL);
	weft_model_free(m);
	return err ? fail(x, -EINVAL, "a part of the stream faults on the model") : 0;
}

/*
 * Runs a part's stream on x->dev in fresh buffers, waiting as long as it takes; x->got, which is made
 * here and was NULL, becomes the arena that it leaves, and *res says how the job ended. Counts the run
 * in x->r->runs, also if it fails. Returns 0, also if the job ended with a fault, or a negative errno
 * with one line in x->msg; x->got is then room that means nothing, or NULL, and is freed before the next stream
 * or with the search, and *res means nothing either.
 */
static int on_device(struct search *x, const struct weft_part_stream *s, struct weft_job_result *res)
{
	weft_buf *consts = NULL, *arena = NULL;
	weft_job job;

	x->got = malloc(s->n_arena + 1);
	int err = x->got ? weft_buf_alloc(x->dev, s->n_consts, &consts) : -ENOMEM;
	if (!err)
		err = weft_buf_alloc(x->dev, s->n_arena, &arena);
	if (!err)
		err = weft_buf_write(consts, 0, s->consts, s->n_consts);
	if (!err)
		err = weft_buf_write(arena, 0, s->arena, s->n_arena);
	const struct weft_window win[] = { { .buf = consts, .rd = true }, { .buf = arena, .rd = true, .wr = true } };
	if (!err)
		err = weft_submit(x->dev, s->stream.words, s->stream.n, win, 2, &job);
	if (!err)
		err = weft_wait(x->dev, job, WEFT_FOREVER, res);
	if (!err)
		err = weft_buf_read(arena, 0, x->got, s->n_arena);
	if (err)
		snprintf(x->msg, WEFT_MSG_LEN, "%s", err != -ENOMEM && *weft_dev_error(x->dev) ? weft_dev_error(x->dev) : weft_file_error(err));
	weft_buf_free(consts);
	weft_buf_free(arena);
	x->r->runs++;
	return err;
}

/*
 * Builds the stream of the kept commands, runs it on model and device, and says whether the job on the device
 * ends with -EIO or -ETIMEDOUT, or ends well and leaves another arena than the model. Then *s is that stream,
 * which the caller frees, and x->want and x->got are both arenas; otherwise *s is empty. A stream that the
 * verifier refuses does not count as failing. A failure of the search itself is left in x->err; if that is set,
 * nothing is run.
 */
static bool fails(struct search *x, struct weft_part_stream *s)
{
	struct weft_job_result res = { 0 };
	bool differs = false;

	memset(s, 0, sizeof *s);
	if (x->err)
		return false;
	free(x->want);
	free(x->got);
	x->want = x->got = NULL;
	int err = weft_part_build(&x->k, s);
	/* A stream that the verifier refuses does not count as failing. */
	if (err == -EINVAL)
		return false;
	if (!err)
		err = on_model(x, s);
	if (!err)
		err = on_device(x, s, &res);
	if (!err)
		differs = res.status == -EIO || res.status == -ETIMEDOUT || (!res.status && memcmp(x->want, x->got, s->n_arena));
	if (err)
		x->err = err;
	if (!differs)
		weft_part_release(s);
	return differs;
}

/* ---- the search ---- */

/* Keeps all commands from x->k.from up to the target, and no others. */
static void keep_all(struct search *x)
{
	memset(x->keep, 0, x->k.step->n_cmds);
	for (uint32_t i = x->k.from; i <= x->k.target; i++)
		x->keep[i] = true;
}

/*
 * Keeps ever more of the commands before the target (0, 1, 2, 4 ...) until the failure shows; *s is
 * then that stream, and x->k the part. Returns 0; -ENOENT with one line in x->msg if not even all
 * commands before the target fail on this device; or another negative errno.
 */
static int widen(struct search *x, struct weft_part_stream *s)
{
	for (uint32_t n = 0;; n = n ? 2 * n : 1) {
		uint32_t from = n < x->k.target ? x->k.target - n : 0;
		int err = run_to(x, from);
		if (err)
			return err;
		keep_all(x);
		if (fails(x, s))
			return 0;
		if (x->err)
			return x->err;
		if (!from)
			return fail(x, -ENOENT, "on this device the stream does not fail");
	}
}

/*
 * Leaves out commands before the target that the failure does not need: goes through them in runs of n commands,
 * where n is half the number of commands from x->k.from to the target, then a quarter and so on down to 1, and
 * leaves out those of a run that are still kept, if the stream fails without them, too. *s is always the stream
 * of what is kept (x->keep). Ends early if the search itself fails (x->err, also -ENOMEM).
 */
static void narrow(struct search *x, struct weft_part_stream *s)
{
	uint32_t n = (x->k.target - x->k.from + 1) / 2;
	bool *had = malloc(n + 1);

	if (!had) {
		x->err = fail(x, -ENOMEM, "out of memory");
		return;
	}
	for (; n; n /= 2) {
		for (uint32_t i = x->k.from; i < x->k.target && !x->err; i += n) {
			struct weft_part_stream t;
			uint32_t m = 0, any = 0;
			for (; m < n && i + m < x->k.target; m++) {
				had[m] = x->keep[i + m];
				any += had[m];
				x->keep[i + m] = false;
			}
			if (any && fails(x, &t)) {
				weft_part_release(s);
				*s = t;
				continue;
			}
			for (uint32_t j = 0; j < m; j++)
				x->keep[i + j] = had[j];
		}
	}
	free(had);
}

/*
 * Opens the device on which parts of the stream run as x->dev, with the capture's configuration and
 * memory profile and, if the device is the RTL, the captured fault planted. Returns 0, or a negative
 * errno with one line in x->msg: -ENOTSUP if the fault cannot be planted (the device then is open), or as
 * weft_dev_open().
 */
static int open_device(struct search *x)
{
	struct weft_dev_options d = weft_dev_options_default();

	d.kind = weft_device_kind(x->o->device);
	d.config = x->c->config;
	d.memory = (enum weft_memory)x->c->memory;
	d.rtl_dir = x->o->rtl_dir;
	d.usb = x->o->usb;
	int err = weft_dev_open(&d, &x->dev, x->msg);
	if (!err && x->c->plant.kind != WEFT_PLANT_NONE && x->o->device == WEFT_DEVICE_RTL && weft_dev_plant(x->dev, &x->c->plant))
		return fail(x, -ENOTSUP, "the captured fault cannot be planted in this device");
	return err;
}

/*
 * Runs the smallest failing stream once more and makes a capture of it in x->r for the caller: program,
 * memory before it and as the device left it, status -EBADMSG, with the numbers of commands kept and
 * added. *s is freed, unless that run does not fail. Returns 0, -ENOENT if the failure does not show
 * again, or another negative errno, with nothing in the capture; with one line in x->msg, except
 * perhaps for -ENOMEM.
 */
static int give(struct search *x, struct weft_part_stream *s)
{
	struct weft_stream_case *r = x->r;
	struct weft_capture *c = &r->capture;
	struct weft_part_stream again;

	/* Run it once more, so that want and got are those of this stream. */
	if (!fails(x, &again))
		return x->err ? x->err : fail(x, -ENOENT, "the failure comes and goes");
	r->kept = again.kept;
	r->loads = again.loads;
	r->stores = again.stores;
	*c = *x->c;
	c->program = c->before = c->after = c->consts = NULL;
	c->step = 0;
	c->status = -EBADMSG;
	c->mismatch = false;
	memset(c->fault, 0, sizeof c->fault);
	snprintf(c->message, sizeof c->message, "%u of %u commands of %.100s", again.kept, r->before, x->c->model);
	int err = weft_part_program(&x->k, &again, &c->program, &c->n_program, x->msg);
	c->before = again.arena;
	c->n_arena = again.n_arena;
	c->after = x->got;
	c->consts = again.consts;
	c->n_consts = again.n_consts;
	x->got = NULL;
	free(again.stream.words);
	weft_part_release(s);
	if (err)
		weft_capture_release(c);
	return err;
}

/*
 * Looks for the fewest commands of a captured stream that still go wrong on the device of options o;
 * see reduce.h. Returns 0 with the small stream as a capture in *r, which the caller releases; -ENOENT
 * if nothing differs, only constants do, the first wrong command writes nothing, or the stream does not
 * go wrong on this device, or not each time; or another negative errno of weft_replay(),
 * weft_dev_open() or the device; with one line in msg.
 */
int weft_reduce_stream(const struct weft_capture *c, const struct weft_stream_options *o, struct weft_stream_case *r, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	struct search x = { .c = c, .o = o, .r = r, .msg = msg };
	struct weft_part_stream s = { 0 };

	memset(r, 0, sizeof *r);
	int err = find_target(&x);
	if (!err)
		err = open_capture(&x);
	if (!err)
		err = open_device(&x);
	if (!err)
		err = widen(&x, &s);
	if (!err) {
		narrow(&x, &s);
		err = x.err ? x.err : give(&x, &s);
	}
	weft_part_release(&s);
	weft_dev_close(x.dev);
	weft_net_free(x.net);
	free(x.cmds);
	free(x.keep);
	free(x.sp);
	free(x.arena);
	free(x.want);
	free(x.got);
	if (err == -ENOMEM)
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cycles of operators on a card, whose counters can be read only once for each job. So the stream
 * up to the end of each operator runs as a job of its own, on a copy of the memory as it was. What one
 * such job counts more than the one before it is the operator's. These jobs do not overlap the operator
 * with what follows, and so may count more than the whole stream: counters beyond the whole stream's
 * are not taken.
 */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/segment/segment.h"
#include "weft/gen/cmd.h"

#define N_COUNTERS (sizeof(struct weft_counters) / sizeof(uint32_t))

/* The beginning of a step up to, but without, command `to`, with which `entry` of the report ends. */
struct cut { uint32_t to; int entry; };

/* For qsort(): compares two cuts by their command. */
static int by_place(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

/*
 * Finds where to cut a step for each entry of the report that has commands in it: behind the entry's
 * last command that is no load and no END. Writes the cuts to cuts[], which has room for all entries,
 * sorted by place, and returns their number.
 */
static int find_cuts(const weft_session *s, const struct weft_step *step, struct cut *cuts)
{
	const struct weft_profile *p = s->profile;
	const uint64_t *w = weft_session_words(s) + step->first_word;
	struct weft_cmd c;
	size_t at = 0;
	int n = 0;

	for (int e = 0; e < p->n_entries; e++)
		cuts[e] = (struct cut){ 0, e };
	for (uint32_t i = 0; i < step->n_cmds && !weft_cmd_decode(w + at, step->n_words - at, &c); i++) {
		int op = s->p->cmds[step->first_cmd + i].op;
		at += (size_t)c.h.n_words;
		if (op >= 0 && c.h.op != WEFT_CMD_LOAD && c.h.op != WEFT_CMD_END)
			cuts[p->entry[op]].to = i + 1;
	}
	for (int e = 0; e < p->n_entries; e++)
		if (cuts[e].to)
			cuts[n++] = cuts[e];
	qsort(cuts, (size_t)n, sizeof *cuts, by_place);
	return n;
}

/*
 * Runs the step's commands up to, but without, command `to` as a job of its own on `arena`, which is
 * filled with `before` first, within the session's timeout. The job is submitted unverified; afterwards
 * the device verifies again, also if it had been told not to (weft_dev_trust). *c becomes the device's
 * counters, zeros if it did not run. Returns 0, -ENOMEM, or a negative errno of the device or the job.
 */
static int run_to(weft_session *s, const struct weft_step *step, uint32_t to, const uint8_t *before, weft_buf *arena,
                  struct weft_counters *c)
{
	const struct weft_window win[] = { { .buf = s->consts, .rd = true }, { .buf = arena, .rd = true, .wr = true } };
	weft_program as_run = *s->p;
	struct weft_job_result r = { 0 };
	weft_job job;
	size_t n;

	as_run.words = (uint64_t *)(uintptr_t)weft_session_words(s);
	uint64_t *part = weft_cut_stream(&as_run, step, 0, to, &n);
	int err = part ? weft_buf_write(arena, 0, before, s->p->arena_bytes) : -ENOMEM;
	/* The verifier would refuse a part of a stream; it has accepted the whole. */
	weft_dev_trust(s->dev, true);
	if (!err)
		err = weft_submit(s->dev, part, n, win, 2, &job);
	weft_dev_trust(s->dev, false);
	if (!err)
		err = weft_finish(s->dev, job, s->o.timeout_ms ? s->o.timeout_ms : WEFT_FOREVER, &r);
	*c = r.counters;
	free(part);
	return err ? err : r.status;
}

/*
 * Sets *now to what the counters c have gained since *seen, where no counter counts for more than in
 * *all, that of the whole step; counters that have not grown gain 0. Adds *now to *seen.
 */
static void difference(const struct weft_counters *c, const struct weft_counters *all, struct weft_counters *seen,
                       struct weft_counters *now)
{
	const uint32_t *from = (const uint32_t *)c, *most = (const uint32_t *)all;
	uint32_t *have = (uint32_t *)seen, *out = (uint32_t *)now;

	for (size_t i = 0; i < N_COUNTERS; i++) {
		uint32_t v = from[i] < most[i] ? from[i] : most[i];
		out[i] = v > have[i] ? v - have[i] : 0;
		have[i] += out[i];
	}
}

/*
 * Measures how a step that has run on a card divides among its operators. It runs ever longer beginnings
 * of the step on an arena beside the session's, which is filled with `before` (the arena before the
 * step) each time, and enters the differences between successive counters in the session's profile, one
 * window for each entry of the report that has commands in the step. What remains of `all`, the counters
 * of the whole step, is entered as -1. The device verifies streams afterwards, also if it had been told
 * not to. Returns 0; or -ENOMEM or a negative errno of the device or a job, with some windows entered.
 */
int weft_profile_card(weft_session *s, const struct weft_step *step, const uint8_t *before, const struct weft_counters *all)
{
	struct weft_counters seen = { 0 }, now, c;
	struct cut *cuts = calloc((size_t)s->profile->n_entries + 1, sizeof *cuts);
	weft_buf *arena = NULL;
	int err = cuts ? weft_buf_alloc(s->dev, s->p->arena_bytes, &arena) : -ENOMEM;
	int n = err ? 0 : find_cuts(s, step, cuts);

	for (int i = 0; i < n && !err; i++) {
		err = run_to(s, step, cuts[i].to, before, arena, &c);
		difference(&c, all, &seen, &now);
		if (!err)
			err = weft_profile_window(s->profile, cuts[i].entry, &now);
	}
	difference(all, all, &seen, &now);
	if (!err)
		err = weft_profile_window(s->profile, -1, &now);
	weft_buf_free(arena);
	free(cuts);
	return err;
}

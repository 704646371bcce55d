/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Array, vector engine and DMA work at the same time where a node's first rows
 * are enough for the next to begin. How finely to cut each node is found by
 * trying: emit, simulate, keep what is faster. Bounded by a count of commands,
 * never by time, so that the result is the same everywhere.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/compile/plan/plan.h"

#define FAST_DEAR 4            /* times what is beyond fast_most */

int seg_emit_cut(struct seg *s)
{
	for (int i = 0; i < s->n; i++)
		plan_split(s->cc, seg_node(s, i), &s->plan[i], s->plan[i].split);
	return seg_emit(s);
}

void seg_measure(struct seg *s, struct outcome *o)
{
	uint64_t fast = 0, slow = 0;

	o->cycles = INT64_MAX;
	o->err = seg_emit_cut(s);
	o->emitted = s->cmds.n;
	if (!o->err)
		o->err = seg_cycles(s, &fast, &slow);
	if (!o->err)
		o->cycles = (int64_t)(fast + slow) + (s->fast_most ? FAST_DEAR * max64(0, (int64_t)fast - s->fast_most) : 0);
	/* Not expressible: no better than anything else. */
	if (o->err == -E2BIG || o->err == -ERANGE)
		o->err = 0;
}

static void measure(void *user, int worker, const struct change *c, struct outcome *o)
{
	const struct crew *w = user;

	(void)c;
	seg_measure(w->seg[worker], o);
}

static int settle(void *user)
{
	const struct crew *w = user;

	return seg_emit_cut(w->seg[0]);
}

static int search(struct seg *s, int64_t most)
{
	struct crew crew;
	struct climb c = { .crew = &crew, .list = list_splits, .tiers = 2, .settle = settle, .measure = measure, .user = &crew, .most = most };
	struct outcome o;
	int err = crew_open(&crew, s);

	if (!err) {
		seg_measure(s, &o);
		c.cycles = o.cycles;
		err = o.err;
	}
	if (!err)
		err = climb(&c);
	crew_close(&crew);
	return err;
}

int seg_tune(struct seg *s, int64_t most)
{
	int err = 0;

	if (!s->cc->o->no_fuse && !s->cc->o->quick)
		err = search(s, most);
	return err ? err : seg_emit_cut(s);
}

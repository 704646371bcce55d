/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Array, vector engine and DMA work at the same time where a node's first rows
 * are enough for the next to begin. How finely to cut each node is found by
 * trying: emit, simulate, keep what is faster. Bounded by a count of commands,
 * never by time, so that the result is the same everywhere.
 */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"

static void cut(struct seg *s)
{
	for (int i = 0; i < s->n; i++)
		plan_split(s->cc, seg_node(s, i), &s->plan[i], s->plan[i].split);
}

void seg_measure(struct seg *s, struct outcome *o)
{
	cut(s);
	o->err = seg_emit(s);
	o->emitted = s->cmds.n;
	o->cycles = o->err ? INT64_MAX : seg_cycles(s);
	/* Not expressible: no better than anything else. */
	if (o->err == -E2BIG || o->err == -ERANGE)
		o->err = 0;
	if (o->cycles < 0)
		o->err = -ENOMEM;
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
	struct outcome o;

	seg_measure(w->seg[0], &o);
	return o.err;
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
	cut(s);
	return err ? err : seg_emit(s);
}

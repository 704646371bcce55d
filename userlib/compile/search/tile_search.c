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

#define FAST_DEAR 4            /* times what is beyond fast_limit */

int step_emit_split(struct npu_step *s)
{
	for (int i = 0; i < s->n; i++)
		plan_split(s->cc, step_node(s, i), &s->plan[i], s->plan[i].req.split);
	return step_emit(s);
}

void step_measure(struct npu_step *s, struct outcome *o)
{
	uint64_t fast = 0, slow = 0;

	o->cycles = INT64_MAX;
	o->err = step_emit_split(s);
	o->emitted = s->cmds.n;
	if (!o->err)
		o->err = step_cycles(s, &fast, &slow);
	if (!o->err)
		o->cycles = (int64_t)(fast + slow) + (s->fast_limit ? FAST_DEAR * max64(0, (int64_t)fast - s->fast_limit) : 0);
	/* Not expressible: no better than anything else. */
	if (o->err == -E2BIG || o->err == -ERANGE)
		o->err = 0;
}

static void measure(void *user, int worker, const struct move *c, struct outcome *o)
{
	const struct replicas *w = user;

	(void)c;
	step_measure(w->step[worker], o);
}

static int emit_best(void *user)
{
	const struct replicas *w = user;

	return step_emit_split(w->step[0]);
}

static int search(struct npu_step *s, int64_t most)
{
	struct replicas replicas;
	struct climb c = { .replicas = &replicas, .list = list_splits, .tiers = 2, .emit_best = emit_best, .measure = measure, .user = &replicas, .most = most };
	struct outcome o;
	int err = replicas_open(&replicas, s);

	if (!err) {
		step_measure(s, &o);
		c.cycles = o.cycles;
		err = o.err;
	}
	if (!err)
		err = climb(&c);
	replicas_close(&replicas);
	return err;
}

int step_search_splits(struct npu_step *s, int64_t most)
{
	int err = 0;

	if (!s->cc->o->no_fuse && !s->cc->o->quick)
		err = search(s, most);
	return err ? err : step_emit_split(s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Array, vector engine and DMA work at the same time where a node's first rows
 * are enough for the next to begin. How finely to cut each node is found by
 * trying: emit, simulate, keep what is faster. Bounded by a count of commands,
 * never by time, so that the result is the same everywhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

struct attempt { int node; uint8_t choice; int err; int64_t cycles, emitted; };

struct tune {
	struct crew crew;
	uint8_t *split;        /* per node: best so far */
	int64_t best;          /* cycles */
	int64_t emitted, most; /* commands of all trials so far, at most */
	struct attempt a[MAX_THREADS];
};

static const uint8_t choices[] = { 1, 2, 3, 4, 6, 8, 12 };
#define N_CHOICES (sizeof choices / sizeof *choices)

static void apply(struct seg *s, const uint8_t *split)
{
	for (int i = 0; i < s->n; i++)
		plan_split(s->cc, seg_node(s, i), &s->plan[i], split[i]);
}

/* Cycles with one node, or all (node -1), split as the attempt says; INT64_MAX if that cannot be expressed. */
static void attempt(void *user, int i)
{
	struct tune *t = user;
	struct attempt *a = &t->a[i];
	struct seg *s = t->crew.seg[i];

	for (int k = 0; k < s->n; k++)
		plan_split(s->cc, seg_node(s, k), &s->plan[k], a->node < 0 || a->node == k ? a->choice : t->split[k]);
	a->err = seg_emit(s);
	a->emitted = s->cmds.n;
	a->cycles = a->err ? INT64_MAX : seg_cycles(s);
	if (a->err == -E2BIG || a->err == -ERANGE)
		a->err = 0;
	if (a->cycles < 0)
		a->err = -ENOMEM;
}

/* All choices but `but`: the best of them in *best, where it is better than what there was. */
static int try_choices(struct tune *t, int node, uint8_t but, uint8_t *best)
{
	int err = 0;

	for (size_t k = 0; k < N_CHOICES && t->emitted < t->most && !err; ) {
		int n = 0;
		for (; k < N_CHOICES && n < t->crew.n; k++)
			if (choices[k] != but)
				t->a[n++] = (struct attempt){ .node = node, .choice = choices[k] };
		run_all(n, attempt, t);
		for (int i = 0; i < n && t->emitted < t->most && !err; i++) {
			err = t->a[i].err;
			t->emitted += t->a[i].emitted;
			if (err || t->a[i].cycles >= t->best)
				continue;
			t->best = t->a[i].cycles;
			*best = t->a[i].choice;
		}
	}
	return err;
}

/* All nodes alike: two neighbours gain only together. */
static int try_uniform(struct tune *t)
{
	uint8_t best = 1;
	int err = try_choices(t, -1, 1, &best);

	memset(t->split, best, (size_t)t->crew.seg[0]->n);
	return err;
}

static int search(struct tune *t)
{
	const struct seg *s = t->crew.seg[0];
	bool better = true;
	int err = try_uniform(t);

	for (int round = 0; round < 3 && better && !err; round++) {
		better = false;
		for (int i = 0; i < s->n && !err && t->emitted < t->most; i++) {
			uint8_t was = t->split[i];
			if (s->plan[i].can_split)
				err = try_choices(t, i, was, &t->split[i]);
			better |= t->split[i] != was;
		}
	}
	return err;
}

int seg_tune(struct seg *s, int64_t most, int64_t *cycles)
{
	struct tune t = { .most = most, .split = malloc((size_t)s->n + 1) };

	if (!t.split)
		return -ENOMEM;
	memset(t.split, 1, (size_t)s->n);
	apply(s, t.split);
	int err = seg_emit(s);
	t.emitted = s->cmds.n;
	t.best = err ? 0 : seg_cycles(s);
	if (!err && t.best < 0)
		err = -ENOMEM;
	if (!err && !s->cc->o->no_fuse && !s->cc->o->quick) {
		err = crew_open(&t.crew, s);
		if (!err)
			err = search(&t);
		crew_close(&t.crew);
	}
	if (!err) {
		apply(s, t.split);
		err = seg_emit(s);
	}
	*cycles = t.best;
	free(t.split);
	return err;
}

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

struct tune {
	struct seg *s;
	uint8_t *split;        /* per node: best so far */
	int64_t best;          /* cycles */
	int64_t emitted, most; /* commands of all trials so far, at most */
};

static const uint8_t choices[] = { 1, 2, 3, 4, 6, 8, 12 };
#define N_CHOICES (sizeof choices / sizeof *choices)

static void apply(struct tune *t)
{
	for (int i = 0; i < t->s->n; i++)
		plan_split(t->s->cc, seg_node(t->s, i), &t->s->plan[i], t->split[i]);
}

/* Cycles with the splits as they are; INT64_MAX if they cannot be expressed. */
static int try_splits(struct tune *t, int64_t *cycles)
{
	apply(t);
	int err = seg_emit(t->s);
	t->emitted += t->s->cmds.n;
	*cycles = INT64_MAX;
	if (err == -E2BIG || err == -ERANGE)
		return 0;
	if (err)
		return err;
	*cycles = seg_cycles(t->s);
	return *cycles < 0 ? -ENOMEM : 0;
}

/* All nodes alike: two neighbours gain only together. */
static int try_uniform(struct tune *t)
{
	uint8_t best = 1;

	for (size_t k = 1; k < N_CHOICES && t->emitted < t->most; k++) {
		int64_t cycles;
		memset(t->split, choices[k], (size_t)t->s->n);
		int err = try_splits(t, &cycles);
		if (err)
			return err;
		if (cycles < t->best) {
			t->best = cycles;
			best = choices[k];
		}
	}
	memset(t->split, best, (size_t)t->s->n);
	return 0;
}

static int try_node(struct tune *t, int i, bool *better)
{
	uint8_t best = t->split[i];

	for (size_t k = 0; k < N_CHOICES && t->emitted < t->most; k++) {
		int64_t cycles;
		if (choices[k] == best)
			continue;
		t->split[i] = choices[k];
		int err = try_splits(t, &cycles);
		if (err)
			return err;
		if (cycles < t->best) {
			t->best = cycles;
			best = choices[k];
			*better = true;
		}
	}
	t->split[i] = best;
	return 0;
}

static int search(struct tune *t)
{
	bool better = true;
	int err = try_uniform(t);

	for (int round = 0; round < 3 && better && !err; round++) {
		better = false;
		for (int i = 0; i < t->s->n && !err && t->emitted < t->most; i++)
			if (t->s->plan[i].can_split)
				err = try_node(t, i, &better);
	}
	return err;
}

int seg_tune(struct seg *s, int64_t most, int64_t *cycles)
{
	struct tune t = { .s = s, .most = most, .split = malloc((size_t)s->n + 1) };

	if (!t.split)
		return -ENOMEM;
	memset(t.split, 1, (size_t)s->n);
	apply(&t);
	int err = seg_emit(s);
	t.emitted = s->cmds.n;
	t.best = err ? 0 : seg_cycles(s);
	if (!err && t.best < 0)
		err = -ENOMEM;
	if (!err && !s->cc->o->no_fuse && !s->cc->o->quick)
		err = search(&t);
	if (!err) {
		apply(&t);
		err = seg_emit(s);
	}
	*cycles = t.best;
	free(t.split);
	return err;
}

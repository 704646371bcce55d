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

static const uint8_t choices[] = { 1, 2, 3, 4, 6, 8, 12 };
#define N_CHOICES (sizeof choices / sizeof *choices)

struct attempt {
	uint8_t choice;
	int64_t th, tw;        /* of the one node */
	int as;                /* the attempt that is the same, of those made at once; itself */
	struct outcome o;
};

struct tune {
	struct crew crew;
	struct memo *all;      /* attempts so far */
	struct memo_key key[MAX_THREADS];
	int node;              /* with one node, or all (-1), split as each attempt says */
	uint8_t *split;        /* per node: best so far */
	int64_t best;          /* cycles */
	int64_t emitted, most; /* commands of all trials so far, at most */
	struct attempt a[N_CHOICES];
};

static void apply(struct seg *s, const uint8_t *split)
{
	for (int i = 0; i < s->n; i++)
		plan_split(s->cc, seg_node(s, i), &s->plan[i], split[i]);
}

/* The jobs that a node is cut into are all that its split decides. */
static int key_of(struct memo_key *k, const struct seg *s)
{
	int err = 0;

	k->n = 0;
	for (int i = 0; i < s->n && !err; i++)
		err = memo_put(k, s->plan[i].th) | memo_put(k, s->plan[i].tw);
	return err ? -ENOMEM : 0;
}

static void emit_and_count(struct seg *s, struct outcome *o)
{
	o->err = seg_emit(s);
	o->emitted = s->cmds.n;
	o->cycles = o->err ? INT64_MAX : seg_cycles(s);
	/* Not expressible: no better than anything else. */
	if (o->err == -E2BIG || o->err == -ERANGE)
		o->err = 0;
	if (o->cycles < 0)
		o->err = -ENOMEM;
}

static void attempt(void *user, int worker, int i)
{
	struct tune *t = user;
	struct attempt *a = &t->a[i];
	struct seg *s = t->crew.seg[worker];

	if (a->as != i)
		return;
	for (int k = 0; k < s->n; k++)
		plan_split(s->cc, seg_node(s, k), &s->plan[k], t->node < 0 || t->node == k ? a->choice : t->split[k]);
	a->o.err = key_of(&t->key[worker], s);
	if (a->o.err || memo_find(t->all, &t->key[worker], &a->o))
		return;
	emit_and_count(s, &a->o);
	if (!a->o.err)
		a->o.err = memo_add(t->all, &t->key[worker], &a->o);
}

static struct attempt new_attempt(const struct tune *t, int i, uint8_t choice)
{
	struct attempt a = { .choice = choice, .as = i };
	const struct seg *s = t->crew.seg[0];

	if (t->node < 0)
		return a;
	struct plan p = s->plan[t->node];
	plan_split(s->cc, seg_node(s, t->node), &p, choice);
	a.th = p.th;
	a.tw = p.tw;
	for (int k = 0; k < i && a.as == i; k++)
		if (t->a[k].th == a.th && t->a[k].tw == a.tw)
			a.as = k;
	return a;
}

/* All choices but `but`: the best of them in *best, where it is better than what there was. */
static int try_choices(struct tune *t, int node, uint8_t but, uint8_t *best)
{
	int err = 0;

	t->node = node;
	for (size_t k = 0; k < N_CHOICES && t->emitted < t->most && !err; ) {
		int n = 0;
		for (; k < N_CHOICES && n < (t->crew.n > 1 ? (int)N_CHOICES : 1); k++)
			if (choices[k] != but) {
				t->a[n] = new_attempt(t, n, choices[k]);
				n++;
			}
		run_all(t->crew.n, n, attempt, t);
		for (int i = 0; i < n && t->emitted < t->most && !err; i++) {
			const struct outcome *o = &t->a[t->a[i].as].o;
			err = o->err;
			t->emitted += o->emitted;
			if (err || o->cycles >= t->best)
				continue;
			t->best = o->cycles;
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
		t.all = memo_new();
		if (!t.all)
			err = -ENOMEM;
		if (!err)
			err = search(&t);
		for (int i = 0; i < t.crew.n; i++)
			free(t.key[i].v);
		memo_free(t.all);
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

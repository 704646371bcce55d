/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes to a plan, one after another: the best of those at a node stays if
 * the whole is faster with it. Nodes at which most cycles are lost come first.
 * After a change, nodes near it are worth another look, and once all others
 * have been looked at, those too that were looked at before it.
 *
 * Trials run ahead in several threads as if none of them were to help; what
 * comes of them is looked at in order, so it does not depend on how many
 * threads there are.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/compile/plan/plan.h"

#define NEAR  3                /* nodes */
#define LEAST 2048             /* of all cycles: where less is lost nothing is tried */

/* The changes of a tier at a node. */
struct spot {
	int64_t score;
	uint32_t first;        /* of the changes */
	int n;
	int index;             /* node and tier */
	bool stale;            /* looked at before the last change */
};

struct made { const struct spot *spot; int change; struct outcome o; };

struct state {
	struct climb *c;
	struct queue *q;
	struct made made[QUEUE_SLOTS];
	struct change *change; uint32_t n_change, cap_change;
	struct spot *spot; int n_spot, n_all;
	int *seen;             /* per node and tier: the plan that was best when it was looked at; 0: not, or not since one near changed */
	int version;           /* of the best plan */
	int64_t *lost;         /* cycles, per node */
	/* The next trial to make. */
	int at_spot, at_change;
	/* Of the spot that is being looked at: */
	int best;              /* change, or -1 */
};

static void run(void *user, int worker, int slot)
{
	struct state *t = user;
	struct made *m = &t->made[slot];
	const struct change *c = &t->change[m->spot->first + (uint32_t)m->change];
	struct seg *s = t->c->crew->seg[worker];
	struct change was = change_undo(s, c);

	change_apply(s, c);
	t->c->measure(t->c->user, worker, c, &m->o);
	change_apply(s, &was);
}

/* Cycles lost at the nodes that the change has to do with. */
static int64_t score_of(const struct state *t, const struct seg *s, const struct change *c, int node)
{
	int first = node, last = node;
	int64_t sum = 0;

	/* Less of them leaves room for those of nodes near it. */
	if (c->slots >= 0) {
		first = (int)max64(0, node - NEAR);
		last = (int)min64(s->n - 1, node + NEAR);
	} else if (c->stor >= 0)
		last = s->stor[c->stor].last;
	else if (s->plan[node].group && !c->split)
		last = node + s->group[s->plan[node].group - 1].n - 1;
	for (int i = first; i <= last; i++)
		if (c->stor < 0 || i == first || i == last)
			sum += t->lost[i];
	return sum;
}

static int list_spot(struct state *t, int index)
{
	struct climb *c = t->c;
	const struct seg *s = c->crew->seg[0];
	struct change list[MAX_CHANGES];
	struct spot p = { .first = t->n_change, .index = index };
	int node = index / c->tiers, tier = index % c->tiers;

	p.n = c->list(s, node, tier, list, MAX_CHANGES);
	for (int i = 0; i < p.n; i++) {
		int err = cc_grow(&t->change, t->n_change, &t->cap_change, sizeof *t->change);
		if (err)
			return err;
		t->change[t->n_change++] = list[i];
		p.score = max64(p.score, score_of(t, s, &list[i], node) / ((int64_t)1 << tier));
	}
	p.stale = t->seen[index];
	if (p.n && p.score > c->cycles / LEAST && t->seen[index] != t->version)
		t->spot[t->n_spot++] = p;
	return 0;
}

static int by_score(const void *pa, const void *pb)
{
	const struct spot *a = pa, *b = pb;

	if (a->stale != b->stale)
		return a->stale ? 1 : -1;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

/* Spots in the order in which they shall be looked at. */
static int look(struct state *t)
{
	struct seg *s = t->c->crew->seg[0];
	int err = t->c->settle(t->c->user);

	t->n_spot = t->at_spot = t->at_change = 0;
	t->n_change = 0;
	t->best = -1;
	if (!err)
		err = seg_lost(s, t->lost);
	for (int i = 0; i < t->n_all && !err; i++)
		err = list_spot(t, i);
	qsort(t->spot, (size_t)t->n_spot, sizeof *t->spot, by_score);
	return err;
}

static void push_ahead(struct state *t)
{
	int slot;

	while (t->at_spot < t->n_spot && (slot = queue_slot(t->q)) >= 0) {
		t->made[slot] = (struct made){ .spot = &t->spot[t->at_spot], .change = t->at_change };
		queue_push(t->q);
		if (++t->at_change < t->spot[t->at_spot].n)
			continue;
		t->at_spot++;
		t->at_change = 0;
	}
}

/* The best change at this spot stays. */
static int keep(struct state *t, const struct spot *p)
{
	const struct change c = t->change[p->first + (uint32_t)t->best];
	int node = p->index / t->c->tiers, tiers = t->c->tiers;

	queue_drop(t->q);
	for (int i = 0; i < t->c->crew->n; i++)
		change_apply(t->c->crew->seg[i], &c);
	t->version++;
	int from = (int)max64(0, node - NEAR) * tiers, to = (int)min64(t->n_all, (node + NEAR + 1) * tiers);
	for (int i = from; i < to; i++)
		if (t->c->again || i != p->index)
			t->seen[i] = 0;
	if (!t->c->again)
		t->seen[p->index] = t->version;
	return look(t);
}

static int take(struct state *t, const struct made *m)
{
	struct climb *c = t->c;

	/* As fast to the cycle: most often the same, and known. */
	if (m->o.emitted > 0 && m->o.cycles != c->cycles)
		c->emitted += m->o.emitted;
	if (!m->o.err && m->o.cycles < c->cycles) {
		c->cycles = m->o.cycles;
		t->best = m->change;
	}
	if (m->o.err == -ENOMEM)
		return m->o.err;
	if (m->change + 1 < m->spot->n && c->emitted < c->most)
		return 0;
	if (t->best >= 0)
		return keep(t, m->spot);
	t->seen[m->spot->index] = t->version;
	return 0;
}

static int climb_open(struct state *t, struct climb *c)
{
	int n = c->crew->seg[0]->n;

	t->c = c;
	t->version = 1;
	t->n_all = n * c->tiers;
	t->seen = calloc((size_t)t->n_all + 1, sizeof *t->seen);
	t->spot = calloc((size_t)t->n_all + 1, sizeof *t->spot);
	t->lost = calloc((size_t)n + 1, sizeof *t->lost);
	t->q = queue_open(c->crew->n, run, t);
	return t->seen && t->spot && t->lost && t->q ? 0 : -ENOMEM;
}

int climb(struct climb *c)
{
	struct state *t = calloc(1, sizeof *t);
	int err = t ? climb_open(t, c) : -ENOMEM, slot;

	if (!err)
		err = look(t);
	while (!err && c->emitted < c->most) {
		push_ahead(t);
		slot = queue_take(t->q);
		if (slot < 0)
			break;
		err = take(t, &t->made[slot]);
	}
	if (!t)
		return err;
	queue_close(t->q);
	free(t->seen);
	free(t->spot);
	free(t->lost);
	free(t->change);
	free(t);
	return err;
}

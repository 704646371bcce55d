/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes to a plan, one after another: the best of those at a node stays if
 * the whole is faster with it. Nodes at which most cycles are critical come first.
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
#define LEAST 2048             /* of all cycles: where less is critical nothing is tried */

/* The changes of a tier at a node. */
struct batch {
	int64_t score;
	uint32_t first;        /* of the changes */
	int n;
	int index;             /* node and tier */
	bool stale;            /* looked at before the last change */
};

struct evaluation { const struct batch *batch; int move; struct outcome o; };

struct state {
	struct climb *c;
	struct pool *q;
	struct evaluation evaluation[POOL_SLOTS];
	struct move *move; uint32_t n_moves, cap_moves;
	struct batch *batch; int n_batches, n_sites;
	int *seen;             /* per node and tier: the plan that was best when it was looked at; 0: not, or not since one near changed */
	int version;           /* of the best plan */
	int64_t *critical;         /* cycles, per node */
	/* The next trial to make. */
	int at_batch, at_move;
	/* Of the spot that is being looked at: */
	int best;              /* change, or -1 */
};

static void run(void *user, int worker, int slot)
{
	struct state *t = user;
	struct evaluation *m = &t->evaluation[slot];
	const struct move *c = &t->move[m->batch->first + (uint32_t)m->move];
	struct npu_step *s = t->c->replicas->step[worker];
	struct move was = move_undo(s, c);

	move_apply(s, c);
	t->c->measure(t->c->user, worker, c, &m->o);
	move_apply(s, &was);
}

/* Cycles critical at the nodes that the change has to do with. */
static int64_t score_of(const struct state *t, const struct npu_step *s, const struct move *c, int node)
{
	int first = node, last = node;
	int64_t sum = 0;

	/* Less of them leaves room for those of nodes near it. */
	if (c->slots >= 0) {
		first = (int)max64(0, node - NEAR);
		last = (int)min64(s->n - 1, node + NEAR);
	} else if (c->storage >= 0)
		last = s->storage[c->storage].last;
	else if (s->plan[node].group && !c->split)
		last = node + s->group[s->plan[node].group - 1].n - 1;
	for (int i = first; i <= last; i++)
		if (c->storage < 0 || i == first || i == last)
			sum += t->critical[i];
	return sum;
}

static int list_batch(struct state *t, int index)
{
	struct climb *c = t->c;
	const struct npu_step *s = c->replicas->step[0];
	struct move list[MAX_MOVES];
	struct batch p = { .first = t->n_moves, .index = index };
	int node = index / c->tiers, tier = index % c->tiers;

	p.n = c->list(s, node, tier, list, MAX_MOVES);
	for (int i = 0; i < p.n; i++) {
		int err = cc_grow(&t->move, t->n_moves, &t->cap_moves, sizeof *t->move);
		if (err)
			return err;
		t->move[t->n_moves++] = list[i];
		p.score = max64(p.score, score_of(t, s, &list[i], node) / ((int64_t)1 << tier));
	}
	p.stale = t->seen[index];
	if (p.n && p.score > c->cycles / LEAST && t->seen[index] != t->version)
		t->batch[t->n_batches++] = p;
	return 0;
}

static int by_score(const void *pa, const void *pb)
{
	const struct batch *a = pa, *b = pb;

	if (a->stale != b->stale)
		return a->stale ? 1 : -1;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

/* Spots in the order in which they shall be looked at. */
static int list_batches(struct state *t)
{
	struct npu_step *s = t->c->replicas->step[0];
	int err = t->c->emit_best(t->c->user);

	t->n_batches = t->at_batch = t->at_move = 0;
	t->n_moves = 0;
	t->best = -1;
	if (!err)
		err = step_critical_cycles(s, t->critical);
	for (int i = 0; i < t->n_sites && !err; i++)
		err = list_batch(t, i);
	qsort(t->batch, (size_t)t->n_batches, sizeof *t->batch, by_score);
	return err;
}

static void push_ahead(struct state *t)
{
	int slot;

	while (t->at_batch < t->n_batches && (slot = pool_slot(t->q)) >= 0) {
		t->evaluation[slot] = (struct evaluation){ .batch = &t->batch[t->at_batch], .move = t->at_move };
		pool_push(t->q);
		if (++t->at_move < t->batch[t->at_batch].n)
			continue;
		t->at_batch++;
		t->at_move = 0;
	}
}

/* The best change at this spot stays. */
static int keep(struct state *t, const struct batch *p)
{
	const struct move c = t->move[p->first + (uint32_t)t->best];
	int node = p->index / t->c->tiers, tiers = t->c->tiers;

	pool_drop(t->q);
	for (int i = 0; i < t->c->replicas->n; i++)
		move_apply(t->c->replicas->step[i], &c);
	t->version++;
	int from = (int)max64(0, node - NEAR) * tiers, to = (int)min64(t->n_sites, (node + NEAR + 1) * tiers);
	for (int i = from; i < to; i++)
		if (t->c->again || i != p->index)
			t->seen[i] = 0;
	if (!t->c->again)
		t->seen[p->index] = t->version;
	return list_batches(t);
}

static int take(struct state *t, const struct evaluation *m)
{
	struct climb *c = t->c;

	/* As fast to the cycle: most often the same, and known. */
	if (m->o.emitted > 0 && m->o.cycles != c->cycles)
		c->emitted += m->o.emitted;
	if (!m->o.err && m->o.cycles < c->cycles) {
		c->cycles = m->o.cycles;
		t->best = m->move;
	}
	if (m->o.err == -ENOMEM)
		return m->o.err;
	if (m->move + 1 < m->batch->n && c->emitted < c->most)
		return 0;
	if (t->best >= 0)
		return keep(t, m->batch);
	t->seen[m->batch->index] = t->version;
	return 0;
}

static int climb_open(struct state *t, struct climb *c)
{
	int n = c->replicas->step[0]->n;

	t->c = c;
	t->version = 1;
	t->n_sites = n * c->tiers;
	t->seen = calloc((size_t)t->n_sites + 1, sizeof *t->seen);
	t->batch = calloc((size_t)t->n_sites + 1, sizeof *t->batch);
	t->critical = calloc((size_t)n + 1, sizeof *t->critical);
	t->q = pool_open(c->replicas->n, run, t);
	return t->seen && t->batch && t->critical && t->q ? 0 : -ENOMEM;
}

int climb(struct climb *c)
{
	struct state *t = calloc(1, sizeof *t);
	int err = t ? climb_open(t, c) : -ENOMEM, slot;

	if (!err)
		err = list_batches(t);
	while (!err && c->emitted < c->most) {
		push_ahead(t);
		slot = pool_take(t->q);
		if (slot < 0)
			break;
		err = take(t, &t->evaluation[slot]);
	}
	if (!t)
		return err;
	pool_close(t->q);
	free(t->seen);
	free(t->batch);
	free(t->critical);
	free(t->move);
	free(t);
	return err;
}

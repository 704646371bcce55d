/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hill climbing: moves are made one after another, and what makes the whole faster
 * stays. The moves of one tier at one node form a batch: all of them are evaluated,
 * and the best is kept if it is faster than the plan so far. Batches at whose nodes
 * the critical path loses most cycles come first. After a move is kept, batches near
 * it are worth another look, and once all others have been looked at, so are those
 * that were looked at before it.
 *
 * Evaluations run ahead in several threads as if none of the moves were kept. Their
 * outcomes are looked at in order, so the result does not depend on how many threads
 * there are.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/compile/plan/plan.h"

/* So many nodes on either side of a move are looked at again. With 1, ten networks are 0.2 % slower in ddr
 * (MobileNetV2 1.6 %), with 6 0.1 % (EfficientNet-B0 0.8 %). */
#define NEAR 3

/* Where less than this part of all cycles is lost nothing is tried. With 512 or 8192, ten networks change by less than
 * 0.1 % in the mean, none by more than 0.3 %. */
#define LEAST 2048

/* A stretch of commands pays if it makes the plan faster by this part. With 500 NASNetMobile was 1.1 % slower in ddr than
 * with 1000 and Xception 4.3 %; with 1000 NASNetMobile is 0.7 % slower than with 4000 and DenseNet121 0.4 %. 8000 gains up
 * to 0.4 % (sram; MobileNetV3Small), 20000 costs EfficientNetB0 0.4 %. */
#define BUDGET_WORTH 4000

/* The moves of a tier at a node. */
struct batch {
	int64_t score;         /* critical cycles that its moves can change, halved for each tier */
	uint32_t first;        /* its moves: [first, +n) of state.move */
	int n;                 /* how many moves it has */
	int index;             /* node * tiers + tier */
	bool stale;            /* it was looked at before the last move was kept */
};

/* A move that is being evaluated, and its outcome. */
struct evaluation { const struct batch *batch; int move; struct outcome o; };

struct state {
	struct climb *c;       /* what the caller wants */
	struct pool *q;        /* evaluations under way, */
	struct evaluation evaluation[POOL_SLOTS];   /* in the pool's slots */
	struct move *move; uint32_t n_moves, cap_moves;   /* the moves of all batches */
	struct batch *batch; int n_batches, n_sites;      /* the batches to look at; n_sites: nodes times tiers */
	int *seen;             /* for each node and tier the version of the plan that was best when its batch was looked at; 0:
	                        * never, or a move near it was kept since */
	int version;           /* counts the plans that have been the best */
	int64_t *critical;         /* critical cycles of each node */
	/* The next evaluation to push: */
	int at_batch, at_move;
	int best;              /* in the batch that is being looked at: its best move so far, or -1 */
};

/*
 * Callback of the pool: evaluate the move in this slot on this worker's replica, by making it, measuring, and
 * undoing it.
 */
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

/*
 * Returns the critical cycles of the nodes that move c at this node can change: for weight slots and for turns those of
 * up to NEAR nodes on either side, for a residency hint those of this node and of the storage's last, for a
 * striping those of the whole group, for a split those of the node itself.
 */
static int64_t score_of(const struct state *t, const struct npu_step *s, const struct move *c, int node)
{
	int first = node, last = node;
	int64_t sum = 0;

	/* If its weights take less room, those of the nodes near it have more. Turns change the speed of the nodes that run beside it. */
	if (c->slots >= 0 || c->turns) {
		first = (int)max64(0, node - NEAR);
		last = (int)min64(s->n - 1, node + NEAR);
	} else if (c->storage >= 0)
		last = s->storage[c->storage].last;
	else if (c->own && c->how.slices)
		last = node + slices_extent(s, node, c->how.nodes) - 1;
	else if (s->plan[node].group && !c->split)
		last = node + s->group[s->plan[node].group - 1].n - 1;
	for (int i = first; i <= last; i++)
		if (c->storage < 0 || i == first || i == last)
			sum += t->critical[i];
	return sum;
}

/*
 * List the moves of batch number `index`, which is node * tiers + tier; the batch's score is the highest of
 * its moves', halved for each tier. The batch joins t->batch if it has any moves, if its score is more than
 * 1/LEAST of all cycles, and if it has not been looked at since the best plan changed. Returns 0 or -ENOMEM.
 */
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

/*
 * Compare two batches for qsort(): those come first that have not been looked at, or not since a move near
 * them was kept; then those with higher scores, then those with lower numbers.
 */
static int by_score(const void *pa, const void *pb)
{
	const struct batch *a = pa, *b = pb;

	if (a->stale != b->stale)
		return a->stale ? 1 : -1;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

/*
 * Emit the best plan, find its critical cycles, and list all batches anew in the order in which they shall
 * be looked at; the next move to evaluate then is the first of the first batch. Returns 0 or a negative
 * errno.
 */
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

/*
 * Push evaluations of the next moves, batch after batch, to the pool until enough are under way or there are
 * no more.
 */
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

/*
 * Make the best move of batch p on all replicas, which makes a new version of the plan. Evaluations under
 * way are dropped, and batches at up to NEAR nodes on either side count as not looked at; batch p itself
 * does so with c->again, else as looked at. All batches are listed anew. Returns 0 or a negative errno.
 */
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

/*
 * Returns whether climbs may emit more commands, with the best plan so far at c->cycles. If a stretch has ended, notes
 * whether it paid, and begins the next.
 */
static bool may_go_on(const struct climb *c)
{
	struct budget *b = c->budget;

	if (b->emitted >= b->check) {
		b->pays = b->check && c->cycles <= b->mark - b->mark / BUDGET_WORTH;
		b->mark = b->check ? min64(b->mark, c->cycles) : c->cycles;
		b->check = b->emitted + b->stretch;
	}
	return b->emitted < budget_of(b);
}

/*
 * Look at the outcome of evaluation m: count its commands in the budget (unless its cycles are those of the
 * best plan, most often the same plan, or none were emitted), and note its move (t->best) and cycles
 * (c->cycles) if the plan becomes faster than the best so far. After the last move of a batch, or when
 * the budget is used up, the batch's best move is kept if there is one; else the batch counts as
 * looked at. Returns 0, -ENOMEM if that is the outcome's error, or what keep() returns; other errors of an
 * outcome only mean that its move is no good.
 */
static int take(struct state *t, const struct evaluation *m)
{
	struct climb *c = t->c;

	/* A plan that is as fast to the cycle is most often the same plan, found in the memo, so it costs nothing. */
	if (m->o.emitted > 0 && m->o.cycles != c->cycles)
		c->budget->emitted += m->o.emitted;
	if (!m->o.err && m->o.cycles < c->cycles) {
		c->cycles = m->o.cycles;
		t->best = m->move;
	}
	if (m->o.err == -ENOMEM)
		return m->o.err;
	if (may_go_on(c) && m->move + 1 < m->batch->n)
		return 0;
	if (t->best >= 0)
		return keep(t, m->batch);
	t->seen[m->batch->index] = t->version;
	return 0;
}

/* Allocate what a climb needs, pool included. Returns 0 or -ENOMEM; *t is valid for freeing in both cases. */
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

/*
 * Make moves, keeping of each batch the one that makes the whole fastest, until no move helps or the budget is
 * used up. c->cycles (in: of the plan as it stands) and the budget are updated. All replicas then ask for the
 * best plan, but must be placed or emitted anew. Returns 0 or a negative errno.
 */
int climb(struct climb *c)
{
	struct state *t = calloc(1, sizeof *t);
	int err = t ? climb_open(t, c) : -ENOMEM, slot;

	if (!err)
		err = list_batches(t);
	while (!err && may_go_on(c)) {
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

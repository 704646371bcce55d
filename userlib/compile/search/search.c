/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which plan of a step is the fastest: a few sizes of residents and groups for
 * all of it, ways to cut all nodes, addresses, then small changes one after
 * another (hill_climb.c). Each is emitted and simulated. Bounded by counts of commands, never by time, so that
 * the result is the same everywhere.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/compile/plan/plan.h"

#define MAX_PLACEMENTS     80000    /* commands of all trials of residents and groups; */
#define MAX_SPLITS      30000    /* of ways to cut all nodes; */
#define MAX_ADDRESSES 30000    /* of ways to choose addresses; */
#define MAX_MOVED   120000   /* of changes to the best of all that */
#define FEW           400      /* commands: of these, the stream is simulated as it will be */
#define N_ADDRESSES   10
#define MAX_LISTED    256
#define MAX_STARTS    6
#define FIRST_SPLIT         3        /* jobs of a node that can be cut, to begin with */

/* A way to cut all nodes: into so many jobs; of so many cycles at least. */
struct uniform_split { int jobs, cycles; };

/* cut: nodes are cut in this way before it, and stay so. */
struct candidate { struct placement_params params; struct uniform_split split; bool cut; int number; struct outcome o; };

/* All that changes say. */
struct snapshot { struct snapshot_node { struct striping how; bool own; int split, w_slots; } *node; int *hint; };

struct search {
	struct npu_step *s;
	struct replicas replicas;
	struct memo_client r[MAX_THREADS];
	struct candidate q[POOL_SLOTS];
	struct placement_params best;
	int64_t cycles;        /* of it */
	struct uniform_split split, best_split;   /* nodes are cut; of the best */
	struct snapshot first;     /* before all changes */
	struct candidate start[MAX_LISTED]; int n_start;   /* all trials of addresses, to make changes to */
	int version, placed[MAX_THREADS];   /* of the plan that changes are made to; of that which each thread has placed */
	int64_t emitted, last; /* commands of all trials; of the last one */
};

/* Does anything pass the memory because it does not fit? */
static bool all_fits(const struct npu_step *s)
{
	for (int i = 0; i < s->n; i++) {
		const struct plan *p = &s->plan[i];
		if (p->group || !p->req.x_resident || !p->req.y_resident || !p->req.r_resident || (p->z_storage >= 0 && !s->storage[p->z_storage].resident && !s->storage[p->z_storage].in_memory))
			return false;
	}
	return true;
}

/* Memory addresses, only for telling storages apart. */
static void invent_addresses(struct npu_step *s)
{
	uint64_t at = 0;

	for (int i = 0; i < s->n_storages; i++) {
		struct cten *t = &s->cc->ten[s->storage[i].root];
		if (!t->in_const)
			t->offset = at;
		at += (uint64_t)s->storage[i].bytes;
	}
}

/* Do the weights of any node come in several loads? */
static bool any_pieces(const struct npu_step *s)
{
	for (int i = 0; i < s->n; i++) {
		const struct node *nd = step_node(s, i);
		if (nd->wt.w >= 0 && !s->plan[i].group && s->plan[i].tile.all_weights && s->plan[i].tile.piece < nd->wt.n_tiles)
			return true;
	}
	return false;
}

/* With everything in its place. */
static void measure(struct npu_step *s, struct outcome *o)
{
	*o = (struct outcome){ .cycles = INT64_MAX, .emitted = -1 };
	/* Nothing else than without it. */
	if (s->params.only_loads && !any_pieces(s))
		return;
	invent_addresses(s);
	step_measure(s, o);
	o->fits = all_fits(s);
}

static void place_and_measure(struct search *b, int worker, const struct placement_params *t, struct outcome *o)
{
	b->placed[worker] = 0;
	struct npu_step *s = b->replicas.step[worker];
	struct memo_client *r = &b->r[worker];
	int err = place_with(s, t, r);

	*o = (struct outcome){ .err = err, .cycles = INT64_MAX, .emitted = -1 };
	if (err == 1)
		*o = r->o;
	if (err)
		return;
	measure(s, o);
	if (memo_add(r->all, &r->key, o))
		o->err = -ENOMEM;
}

static void split_all(struct npu_step *s, struct uniform_split c)
{
	for (int i = 0; i < s->n; i++)
		s->plan[i].req.split = (int)max64(1, min64(c.jobs, (s->work[i + 1] - s->work[i]) / c.cycles));
}

static void evaluate(void *user, int worker, int slot)
{
	struct search *b = user;

	if (b->q[slot].cut)
		split_all(b->replicas.step[worker], b->q[slot].split);
	place_and_measure(b, worker, &b->q[slot].params, &b->q[slot].o);
}

/* In order. 0 unless out of memory */
static int take(struct search *b, const struct candidate *q)
{
	/* What does not even fit counts as the one before. */
	b->last = q->o.emitted < 0 ? b->last : q->o.emitted;
	b->emitted += b->last;
	if (!q->o.err && b->n_start < MAX_LISTED) {
		b->start[b->n_start] = (struct candidate){ .params = q->params, .split = q->split, .number = b->n_start, .o = q->o };
		b->n_start++;
	}
	if (!q->o.err && q->o.cycles < b->cycles) {
		b->cycles = q->o.cycles;
		b->best = q->params;
		b->best_split = q->split;
	}
	return q->o.err == -ENOMEM ? q->o.err : 0;
}

/* Trials first, first + 1, ..., n - 1 of those that at() says, false: not that one; until so many commands are emitted. */
static int evaluate_all(struct search *b, int first, int n, int64_t most, bool (*at)(const struct search *b, int k, struct candidate *q))
{
	const struct search known = *b;
	struct pool *q = pool_open(b->replicas.n, evaluate, b);
	int err = q ? 0 : -ENOMEM, slot;

	for (int k = first; !err && b->emitted < most; ) {
		for (; k < n && (slot = pool_slot(q)) >= 0; k++) {
			b->q[slot] = (struct candidate){ .params = known.best, .split = known.split };
			if (at(&known, k, &b->q[slot]))
				pool_push(q);
		}
		slot = pool_take(q);
		if (slot < 0)
			break;
		err = take(b, &b->q[slot]);
	}
	pool_close(q);
	return err;
}

static const int eighths[] = { 8, 4, 3, 2, 1 }, nodes[] = { GROUP_NODES, 7, 3, 2, 0 };
#define N_EIGHTHS ((int)(sizeof eighths / sizeof *eighths))
#define N_NODES   ((int)(sizeof nodes / sizeof *nodes))

/* Large residents take room from stripes, long groups from everything: each with each, in a few ways that are often good. */
static bool first_candidate(const struct search *b, int k, struct candidate *q)
{
	static const struct striping ways[] = {
		{ GROUP_NODES, false, false, SHARES }, { GROUP_NODES, false, true, SHARES }, { 3, false, true, SHARES }, { 7, true, true, SHARES },
	};

	q->params = (struct placement_params){ .largest = b->s->cc->sp_bytes / 8 * eighths[k % N_EIGHTHS], .stripes = ways[k / N_EIGHTHS],
	                       .neighbours = 2, .halves_apart = true };
	return true;
}
#define N_FIRST (4 * N_EIGHTHS)

/* One thing else than the best. */
static bool other_candidate(const struct search *b, int k, struct candidate *q)
{
	struct placement_params *t = &q->params;

	*t = b->best;
	if (k < N_NODES) {
		t->stripes.nodes = nodes[k];
		return t->stripes.nodes != b->best.stripes.nodes;
	}
	k -= N_NODES;
	if (k < N_EIGHTHS) {
		t->largest = b->s->cc->sp_bytes / 8 * eighths[k];
		return t->largest != b->best.largest;
	}
	k -= N_EIGHTHS;
	t->stripes.full ^= k == 0;
	t->stripes.deep ^= k == 1;
	t->in_place ^= k == 2;
	return true;
}
#define N_OTHERS (N_NODES + N_EIGHTHS + 3)

/* Residents and groups; only the first where nothing passes the memory. */
static int search_plans(struct search *b)
{
	int err;

	b->q[0] = (struct candidate){ .split = b->split };
	first_candidate(b, 0, &b->q[0]);
	place_and_measure(b, 0, &b->q[0].params, &b->q[0].o);
	for (int i = 0; i < b->replicas.n; i++)
		b->replicas.step[i]->known_order = b->q[0].o.emitted >= 0 && b->q[0].o.emitted < FEW;
	if (b->s->known_order)
		place_and_measure(b, 0, &b->q[0].params, &b->q[0].o);
	err = take(b, &b->q[0]);
	if (err || (b->cycles < INT64_MAX && (b->q[0].o.fits || b->s->cc->o->quick)))
		return err;
	err = evaluate_all(b, 1, N_FIRST, MAX_PLACEMENTS, first_candidate);
	for (int64_t was = INT64_MAX; b->cycles < was && !err; ) {
		was = b->cycles;
		err = evaluate_all(b, 0, N_OTHERS, MAX_PLACEMENTS, other_candidate);
	}
	return err;
}

/* Larger loads are for networks that wait for nothing else. */
static bool address_candidate(const struct search *b, int k, struct candidate *q)
{
	struct placement_params *t = &q->params;

	*t = b->best;
	t->neighbours = k % (N_ADDRESSES / 2);
	t->halves_apart = k / (N_ADDRESSES / 2) % 2;
	t->only_loads = k >= N_ADDRESSES;
	return t->neighbours != b->best.neighbours || t->halves_apart != b->best.halves_apart || t->only_loads != b->best.only_loads;
}

static void set_split(struct search *b, struct uniform_split c)
{
	b->split = c;
	for (int k = 0; k < b->replicas.n; k++)
		split_all(b->replicas.step[k], c);
}

static const struct uniform_split splits[] = {
	{ 3, 1 }, { 6, 1 }, { 1, 1 }, { 4, 1 }, { 4, 400 }, { 2, 1 }, { 8, 1 }, { 4, 150 }, { 8, 400 }, { 3, 150 }, { 6, 150 }, { 8, 1500 },
};
#define N_SPLITS ((int)(sizeof splits / sizeof *splits))

static bool split_candidate(const struct search *b, int k, struct candidate *q)
{
	q->params = b->best;
	q->split = splits[k];
	q->cut = true;
	return true;
}

/* Each with all addresses, from the best so far. */
static int search_splits_and_addresses(struct search *b)
{
	int err = 0;

	for (int k = 0; k < N_SPLITS && !err; k++) {
		err = evaluate_all(b, k, k + 1, MAX_SPLITS, split_candidate);
		set_split(b, splits[k]);
		if (!err)
			err = evaluate_all(b, 0, N_ADDRESSES, MAX_SPLITS, address_candidate);
	}
	return err;
}

/* All nodes alike, since two neighbours gain only together; with all addresses where that takes few commands. Then
 * addresses with the best of that. */
static int search_splits(struct search *b)
{
	b->n_start = 0;
	b->emitted = 0;
	b->cycles = INT64_MAX;
	int err = b->s->known_order ? search_splits_and_addresses(b) : evaluate_all(b, 0, N_SPLITS, MAX_SPLITS, split_candidate);
	set_split(b, b->best_split);
	b->emitted = 0;
	return err ? err : evaluate_all(b, 0, 2 * N_ADDRESSES, MAX_ADDRESSES, address_candidate);
}

static int emit_best(void *user)
{
	struct search *b = user;
	int err = place_with(b->s, &b->best, NULL);

	b->version++;
	b->placed[0] = b->version;
	invent_addresses(b->s);
	return err ? err : step_emit_split(b->s);
}

static void measure_move(void *user, int worker, const struct move *c, struct outcome *o)
{
	struct search *b = user;
	struct npu_step *s = b->replicas.step[worker];
	int err = 0;

	if (!c->split) {
		place_and_measure(b, worker, &b->best, o);
		return;
	}
	/* Into how many jobs a node is cut changes nothing about its place. */
	if (b->placed[worker] != b->version)
		err = place_with(s, &b->best, NULL);
	b->placed[worker] = b->version;
	*o = (struct outcome){ .err = err, .cycles = INT64_MAX, .emitted = -1 };
	if (!err)
		measure(s, o);
}

/* Changes, and with them addresses once more, while both help. */
static int search_moves(struct search *b, int64_t *emitted)
{
	int64_t was;
	int err;

	do {
		struct climb c = { .replicas = &b->replicas, .list = list_moves, .tiers = 4, .again = true, .emit_best = emit_best,
		                   .measure = measure_move, .user = b, .cycles = b->cycles, .most = MAX_MOVED - *emitted };
		err = climb(&c);
		b->cycles = was = c.cycles;
		b->emitted = 0;
		if (!err)
			err = evaluate_all(b, 0, 2 * N_ADDRESSES, MAX_ADDRESSES, address_candidate);
		*emitted += c.emitted + b->emitted;
	} while (!err && b->cycles < was && *emitted < MAX_MOVED);
	return err;
}

static void snapshot_save(const struct npu_step *s, struct snapshot *p)
{
	for (int i = 0; i < s->n; i++)
		p->node[i] = (struct snapshot_node){ s->plan[i].req.striping, s->plan[i].req.has_own_striping, s->plan[i].req.split, s->plan[i].req.w_slots };
	for (int i = 0; i < s->n_storages; i++)
		p->hint[i] = s->storage[i].hint;
}

static void snapshot_load(const struct replicas *w, const struct snapshot *p)
{
	for (int k = 0; k < w->n; k++) {
		struct npu_step *s = w->step[k];
		for (int i = 0; i < s->n; i++) {
			s->plan[i].req.striping = p->node[i].how;
			s->plan[i].req.has_own_striping = p->node[i].own;
			s->plan[i].req.split = p->node[i].split;
			s->plan[i].req.w_slots = p->node[i].w_slots;
		}
		for (int i = 0; i < s->n_storages; i++)
			s->storage[i].hint = p->hint[i];
	}
}

static int snapshot_new(const struct npu_step *s, struct snapshot *p)
{
	p->node = calloc((size_t)s->n + 1, sizeof *p->node);
	p->hint = calloc((size_t)s->n_storages + 1, sizeof *p->hint);
	return p->node && p->hint ? 0 : -ENOMEM;
}

static void snapshot_free(struct snapshot *p)
{
	free(p->node);
	free(p->hint);
}

static int faster(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->o.cycles != b->o.cycles)
		return a->o.cycles < b->o.cycles ? -1 : 1;
	return a->number - b->number;
}

/* Nodes cut in the same way; or most likely the same. */
static bool resembles_earlier(const struct candidate *start, int i)
{
	for (int k = 0; k < i; k++)
		if ((start[k].split.jobs == start[i].split.jobs && start[k].split.cycles == start[i].split.cycles) || start[k].o.cycles == start[i].o.cycles)
			return true;
	return false;
}

/* Changes shall not buy cycles of slow memory with those of fast memory. */
static int limit_fast(struct search *b)
{
	uint64_t fast, slow;
	int err = emit_best(b);

	if (!err)
		err = step_cycles(b->s, &fast, &slow);
	for (int i = 0; i < b->replicas.n && !err; i++)
		b->replicas.step[i]->fast_limit = (int64_t)fast;
	return err;
}

/* From the best addresses; where that takes few commands, from some that are nearly as good as well. */
static int search_starts(struct search *b, struct snapshot *best)
{
	struct candidate found = { .o.cycles = INT64_MAX }, *start = b->start;
	int64_t emitted = 0;
	int err = 0, n = b->n_start;

	err = limit_fast(b);
	b->n_start = MAX_LISTED;
	qsort(start, (size_t)n, sizeof *start, faster);
	snapshot_save(b->s, best);
	for (int i = 0, k = 0; i < n && k < MAX_STARTS && emitted < MAX_MOVED && start[i].o.cycles < INT64_MAX && !err; i++) {
		if (resembles_earlier(start, i))
			continue;
		k++;
		snapshot_load(&b->replicas, &b->first);
		set_split(b, start[i].split);
		b->best = start[i].params;
		place_and_measure(b, 0, &b->best, &start[i].o);
		b->cycles = start[i].o.cycles;
		err = start[i].o.err ? start[i].o.err : search_moves(b, &emitted);
		if (err || b->cycles >= found.o.cycles)
			continue;
		found.params = b->best;
		found.o.cycles = b->cycles;
		snapshot_save(b->s, best);
	}
	b->best = found.params;
	b->cycles = found.o.cycles;
	snapshot_load(&b->replicas, best);
	return err;
}

static int search_open(struct search *b)
{
	int err = replicas_open(&b->replicas, b->s);

	b->r[0].all = memo_new();
	for (int i = 1; i < b->replicas.n; i++)
		b->r[i].all = b->r[0].all;
	return b->r[0].all ? err : -ENOMEM;
}

static void search_close(struct search *b)
{
	for (int i = 0; i < b->replicas.n; i++)
		free(b->r[i].key.v);
	memo_free(b->r[0].all);
	replicas_close(&b->replicas);
}

static int search(struct search *b)
{
	struct snapshot best = { 0 };
	int err = search_plans(b);

	if (err || b->s->cc->o->quick || b->cycles == INT64_MAX)
		return err;
	err = search_splits(b);
	if (!err && !(err = snapshot_new(b->s, &b->first)) && !(err = snapshot_new(b->s, &best))) {
		snapshot_save(b->s, &b->first);
		err = search_starts(b, &best);
	}
	snapshot_free(&b->first);
	snapshot_free(&best);
	return err;
}

int place_best(struct npu_step *s)
{
	struct search *b = calloc(1, sizeof *b);
	int err = b ? 0 : -ENOMEM;

	if (!b)
		return err;
	*b = (struct search){ .s = s, .cycles = INT64_MAX, .n_start = MAX_LISTED };
	first_candidate(b, 0, &b->q[0]);
	b->best = b->q[0].params;
	err = search_open(b);
	set_split(b, (struct uniform_split){ s->cc->o->quick || s->cc->o->no_fuse ? 1 : FIRST_SPLIT, 1 });
	if (!err)
		err = search(b);
	struct placement_params best = b->best;
	search_close(b);
	free(b);
	s->cc->bad_node = -1;
	return err ? err : place_with(s, &best, NULL);
}

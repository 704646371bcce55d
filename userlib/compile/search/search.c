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

#define MAX_TRIED     80000    /* commands of all trials of residents and groups; */
#define MAX_WAYS      30000    /* of ways to cut all nodes; */
#define MAX_ADDRESSES 30000    /* of ways to choose addresses; */
#define MAX_CHANGED   120000   /* of changes to the best of all that */
#define FEW           400      /* commands: of these, the stream is simulated as it will be */
#define N_ADDRESSES   10
#define MAX_LISTED    256
#define MAX_STARTS    6
#define SPLIT         3        /* jobs of a node that can be cut, to begin with */

/* A way to cut all nodes: into so many jobs; of so many cycles at least. */
struct cutting { int jobs, cycles; };

/* cut: nodes are cut in this way before it, and stay so. */
struct tried { struct trial t; struct cutting way; bool cut; int number; struct outcome o; };

/* All that changes say. */
struct pose { struct pose_node { struct striping how; bool own; int split, w_slots; } *node; int *wish; };

struct search {
	struct seg *s;
	struct crew crew;
	struct recall r[MAX_THREADS];
	struct tried q[QUEUE_SLOTS];
	struct trial best;
	int64_t cycles;        /* of it */
	struct cutting way, best_way;   /* nodes are cut; of the best */
	struct pose first;     /* before all changes */
	struct tried start[MAX_LISTED]; int n_start;   /* all trials of addresses, to make changes to */
	int version, placed[MAX_THREADS];   /* of the plan that changes are made to; of that which each thread has placed */
	int64_t emitted, last; /* commands of all trials; of the last one */
};

/* Does anything pass the memory because it does not fit? */
static bool all_fits(const struct seg *s)
{
	for (int i = 0; i < s->n; i++) {
		const struct plan *p = &s->plan[i];
		if (p->group || !p->xr || !p->yr || !p->rr || (p->sz >= 0 && !s->stor[p->sz].resident && !s->stor[p->sz].in_memory))
			return false;
	}
	return true;
}

/* Memory addresses, only for telling storages apart. */
static void invent_addresses(struct seg *s)
{
	uint64_t at = 0;

	for (int i = 0; i < s->n_stor; i++) {
		struct cten *t = &s->cc->ten[s->stor[i].root];
		if (!t->in_const)
			t->offset = at;
		at += (uint64_t)s->stor[i].bytes;
	}
}

/* Do the weights of any node come in several loads? */
static bool any_pieces(const struct seg *s)
{
	for (int i = 0; i < s->n; i++) {
		const struct node *nd = seg_node(s, i);
		if (nd->w >= 0 && !s->plan[i].group && s->plan[i].all_weights && s->plan[i].piece < nd->n_tiles)
			return true;
	}
	return false;
}

/* With everything in its place. */
static void measure(struct seg *s, struct outcome *o)
{
	*o = (struct outcome){ .cycles = INT64_MAX, .emitted = -1 };
	/* Nothing else than without it. */
	if (s->only_loads && !any_pieces(s))
		return;
	invent_addresses(s);
	seg_measure(s, o);
	o->fits = all_fits(s);
}

static void place_and_measure(struct search *b, int worker, const struct trial *t, struct outcome *o)
{
	b->placed[worker] = 0;
	struct seg *s = b->crew.seg[worker];
	struct recall *r = &b->r[worker];
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

static void cut_all(struct seg *s, struct cutting c)
{
	for (int i = 0; i < s->n; i++)
		s->plan[i].split = (int)max64(1, min64(c.jobs, (s->work[i + 1] - s->work[i]) / c.cycles));
}

static void try_one(void *user, int worker, int slot)
{
	struct search *b = user;

	if (b->q[slot].cut)
		cut_all(b->crew.seg[worker], b->q[slot].way);
	place_and_measure(b, worker, &b->q[slot].t, &b->q[slot].o);
}

/* In order. 0 unless out of memory */
static int take(struct search *b, const struct tried *q)
{
	/* What does not even fit counts as the one before. */
	b->last = q->o.emitted < 0 ? b->last : q->o.emitted;
	b->emitted += b->last;
	if (!q->o.err && b->n_start < MAX_LISTED) {
		b->start[b->n_start] = (struct tried){ .t = q->t, .way = q->way, .number = b->n_start, .o = q->o };
		b->n_start++;
	}
	if (!q->o.err && q->o.cycles < b->cycles) {
		b->cycles = q->o.cycles;
		b->best = q->t;
		b->best_way = q->way;
	}
	return q->o.err == -ENOMEM ? q->o.err : 0;
}

/* Trials first, first + 1, ..., n - 1 of those that at() says, false: not that one; until so many commands are emitted. */
static int try_all(struct search *b, int first, int n, int64_t most, bool (*at)(const struct search *b, int k, struct tried *q))
{
	const struct search known = *b;
	struct queue *q = queue_open(b->crew.n, try_one, b);
	int err = q ? 0 : -ENOMEM, slot;

	for (int k = first; !err && b->emitted < most; ) {
		for (; k < n && (slot = queue_slot(q)) >= 0; k++) {
			b->q[slot] = (struct tried){ .t = known.best, .way = known.way };
			if (at(&known, k, &b->q[slot]))
				queue_push(q);
		}
		slot = queue_take(q);
		if (slot < 0)
			break;
		err = take(b, &b->q[slot]);
	}
	queue_close(q);
	return err;
}

static const int eighths[] = { 8, 4, 3, 2, 1 }, nodes[] = { GROUP_NODES, 7, 3, 2, 0 };
#define N_EIGHTHS ((int)(sizeof eighths / sizeof *eighths))
#define N_NODES   ((int)(sizeof nodes / sizeof *nodes))

/* Large residents take room from stripes, long groups from everything: each with each, in a few ways that are often good. */
static bool trial_at(const struct search *b, int k, struct tried *q)
{
	static const struct striping ways[] = {
		{ GROUP_NODES, false, false, SHARES }, { GROUP_NODES, false, true, SHARES }, { 3, false, true, SHARES }, { 7, true, true, SHARES },
	};

	q->t = (struct trial){ .largest = b->s->cc->sp_bytes / 8 * eighths[k % N_EIGHTHS], .stripes = ways[k / N_EIGHTHS],
	                       .neighbours = 2, .halves = true };
	return true;
}
#define N_TRIALS (4 * N_EIGHTHS)

/* One thing else than the best. */
static bool other_trial(const struct search *b, int k, struct tried *q)
{
	struct trial *t = &q->t;

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

	b->q[0] = (struct tried){ .way = b->way };
	trial_at(b, 0, &b->q[0]);
	place_and_measure(b, 0, &b->q[0].t, &b->q[0].o);
	for (int i = 0; i < b->crew.n; i++)
		b->crew.seg[i]->in_order = b->q[0].o.emitted >= 0 && b->q[0].o.emitted < FEW;
	if (b->s->in_order)
		place_and_measure(b, 0, &b->q[0].t, &b->q[0].o);
	err = take(b, &b->q[0]);
	if (err || (b->cycles < INT64_MAX && (b->q[0].o.fits || b->s->cc->o->quick)))
		return err;
	err = try_all(b, 1, N_TRIALS, MAX_TRIED, trial_at);
	for (int64_t was = INT64_MAX; b->cycles < was && !err; ) {
		was = b->cycles;
		err = try_all(b, 0, N_OTHERS, MAX_TRIED, other_trial);
	}
	return err;
}

/* Larger loads are for networks that wait for nothing else. */
static bool address_trial(const struct search *b, int k, struct tried *q)
{
	struct trial *t = &q->t;

	*t = b->best;
	t->neighbours = k % (N_ADDRESSES / 2);
	t->halves = k / (N_ADDRESSES / 2) % 2;
	t->only_loads = k >= N_ADDRESSES;
	return t->neighbours != b->best.neighbours || t->halves != b->best.halves || t->only_loads != b->best.only_loads;
}

static void set_way(struct search *b, struct cutting c)
{
	b->way = c;
	for (int k = 0; k < b->crew.n; k++)
		cut_all(b->crew.seg[k], c);
}

static const struct cutting ways[] = {
	{ 3, 1 }, { 6, 1 }, { 1, 1 }, { 4, 1 }, { 4, 400 }, { 2, 1 }, { 8, 1 }, { 4, 150 }, { 8, 400 }, { 3, 150 }, { 6, 150 }, { 8, 1500 },
};
#define N_WAYS ((int)(sizeof ways / sizeof *ways))

static bool way_trial(const struct search *b, int k, struct tried *q)
{
	q->t = b->best;
	q->way = ways[k];
	q->cut = true;
	return true;
}

/* Each with all addresses, from the best so far. */
static int search_ways_and_addresses(struct search *b)
{
	int err = 0;

	for (int k = 0; k < N_WAYS && !err; k++) {
		err = try_all(b, k, k + 1, MAX_WAYS, way_trial);
		set_way(b, ways[k]);
		if (!err)
			err = try_all(b, 0, N_ADDRESSES, MAX_WAYS, address_trial);
	}
	return err;
}

/* All nodes alike, since two neighbours gain only together; with all addresses where that takes few commands. Then
 * addresses with the best of that. */
static int search_ways(struct search *b)
{
	b->n_start = 0;
	b->emitted = 0;
	b->cycles = INT64_MAX;
	int err = b->s->in_order ? search_ways_and_addresses(b) : try_all(b, 0, N_WAYS, MAX_WAYS, way_trial);
	set_way(b, b->best_way);
	b->emitted = 0;
	return err ? err : try_all(b, 0, 2 * N_ADDRESSES, MAX_ADDRESSES, address_trial);
}

static int settle(void *user)
{
	struct search *b = user;
	int err = place_with(b->s, &b->best, NULL);

	b->version++;
	b->placed[0] = b->version;
	invent_addresses(b->s);
	return err ? err : seg_emit_cut(b->s);
}

static void measure_change(void *user, int worker, const struct change *c, struct outcome *o)
{
	struct search *b = user;
	struct seg *s = b->crew.seg[worker];
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
static int search_changes(struct search *b, int64_t *emitted)
{
	int64_t was;
	int err;

	do {
		struct climb c = { .crew = &b->crew, .list = list_changes, .tiers = 4, .again = true, .settle = settle,
		                   .measure = measure_change, .user = b, .cycles = b->cycles, .most = MAX_CHANGED - *emitted };
		err = climb(&c);
		b->cycles = was = c.cycles;
		b->emitted = 0;
		if (!err)
			err = try_all(b, 0, 2 * N_ADDRESSES, MAX_ADDRESSES, address_trial);
		*emitted += c.emitted + b->emitted;
	} while (!err && b->cycles < was && *emitted < MAX_CHANGED);
	return err;
}

static void pose_save(const struct seg *s, struct pose *p)
{
	for (int i = 0; i < s->n; i++)
		p->node[i] = (struct pose_node){ s->plan[i].how, s->plan[i].own_how, s->plan[i].split, s->plan[i].w_slots };
	for (int i = 0; i < s->n_stor; i++)
		p->wish[i] = s->stor[i].wish;
}

static void pose_load(const struct crew *w, const struct pose *p)
{
	for (int k = 0; k < w->n; k++) {
		struct seg *s = w->seg[k];
		for (int i = 0; i < s->n; i++) {
			s->plan[i].how = p->node[i].how;
			s->plan[i].own_how = p->node[i].own;
			s->plan[i].split = p->node[i].split;
			s->plan[i].w_slots = p->node[i].w_slots;
		}
		for (int i = 0; i < s->n_stor; i++)
			s->stor[i].wish = p->wish[i];
	}
}

static int pose_new(const struct seg *s, struct pose *p)
{
	p->node = calloc((size_t)s->n + 1, sizeof *p->node);
	p->wish = calloc((size_t)s->n_stor + 1, sizeof *p->wish);
	return p->node && p->wish ? 0 : -ENOMEM;
}

static void pose_free(struct pose *p)
{
	free(p->node);
	free(p->wish);
}

static int faster(const void *pa, const void *pb)
{
	const struct tried *a = pa, *b = pb;

	if (a->o.cycles != b->o.cycles)
		return a->o.cycles < b->o.cycles ? -1 : 1;
	return a->number - b->number;
}

/* Nodes cut in the same way; or most likely the same. */
static bool is_like_before(const struct tried *start, int i)
{
	for (int k = 0; k < i; k++)
		if ((start[k].way.jobs == start[i].way.jobs && start[k].way.cycles == start[i].way.cycles) || start[k].o.cycles == start[i].o.cycles)
			return true;
	return false;
}

/* Changes shall not buy cycles of slow memory with those of fast memory. */
static int limit_fast(struct search *b)
{
	uint64_t fast, slow;
	int err = settle(b);

	if (!err)
		err = seg_cycles(b->s, &fast, &slow);
	for (int i = 0; i < b->crew.n && !err; i++)
		b->crew.seg[i]->fast_most = (int64_t)fast;
	return err;
}

/* From the best addresses; where that takes few commands, from some that are nearly as good as well. */
static int search_starts(struct search *b, struct pose *best)
{
	struct tried found = { .o.cycles = INT64_MAX }, *start = b->start;
	int64_t emitted = 0;
	int err = 0, n = b->n_start;

	err = limit_fast(b);
	b->n_start = MAX_LISTED;
	qsort(start, (size_t)n, sizeof *start, faster);
	pose_save(b->s, best);
	for (int i = 0, k = 0; i < n && k < MAX_STARTS && emitted < MAX_CHANGED && start[i].o.cycles < INT64_MAX && !err; i++) {
		if (is_like_before(start, i))
			continue;
		k++;
		pose_load(&b->crew, &b->first);
		set_way(b, start[i].way);
		b->best = start[i].t;
		place_and_measure(b, 0, &b->best, &start[i].o);
		b->cycles = start[i].o.cycles;
		err = start[i].o.err ? start[i].o.err : search_changes(b, &emitted);
		if (err || b->cycles >= found.o.cycles)
			continue;
		found.t = b->best;
		found.o.cycles = b->cycles;
		pose_save(b->s, best);
	}
	b->best = found.t;
	b->cycles = found.o.cycles;
	pose_load(&b->crew, best);
	return err;
}

static int search_open(struct search *b)
{
	int err = crew_open(&b->crew, b->s);

	b->r[0].all = memo_new();
	for (int i = 1; i < b->crew.n; i++)
		b->r[i].all = b->r[0].all;
	return b->r[0].all ? err : -ENOMEM;
}

static void search_close(struct search *b)
{
	for (int i = 0; i < b->crew.n; i++)
		free(b->r[i].key.v);
	memo_free(b->r[0].all);
	crew_close(&b->crew);
}

static int search(struct search *b)
{
	struct pose best = { 0 };
	int err = search_plans(b);

	if (err || b->s->cc->o->quick || b->cycles == INT64_MAX)
		return err;
	err = search_ways(b);
	if (!err && !(err = pose_new(b->s, &b->first)) && !(err = pose_new(b->s, &best))) {
		pose_save(b->s, &b->first);
		err = search_starts(b, &best);
	}
	pose_free(&b->first);
	pose_free(&best);
	return err;
}

int place_best(struct seg *s)
{
	struct search *b = calloc(1, sizeof *b);
	int err = b ? 0 : -ENOMEM;

	if (!b)
		return err;
	*b = (struct search){ .s = s, .cycles = INT64_MAX, .n_start = MAX_LISTED };
	trial_at(b, 0, &b->q[0]);
	b->best = b->q[0].t;
	err = search_open(b);
	set_way(b, (struct cutting){ s->cc->o->quick || s->cc->o->no_fuse ? 1 : SPLIT, 1 });
	if (!err)
		err = search(b);
	struct trial best = b->best;
	search_close(b);
	free(b);
	s->cc->bad_node = -1;
	return err ? err : place_with(s, &best, NULL);
}

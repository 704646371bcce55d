/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the fastest plan of a step, in stages:
 * - search_plans() tries sizes of residents and stripe groups, if something passes
 *   through memory.
 * - search_splits() cuts all nodes that are on chip by one rule after another, and
 *   tries ways to choose addresses.
 * - search_starts() climbs by moves (hill_climb.c) from the best of these plans.
 * - search_again() climbs once more from the best plan that moves have found.
 * - search_late() tries other numbers of slots of weights, and turns at the post unit.
 *
 * Each candidate is placed, emitted and simulated. The search is bounded by counts of
 * emitted commands, never by time, so its result is the same everywhere.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/compile/plan/plan.h"

/*
 * Bounds of the search: commands emitted for all candidates of a stage. What is said
 * of each was measured on ten networks at w16 (DS-CNN, VWW, ResNet-8, autoencoder,
 * MobileNetV1 0.25 and V2, tinyengine's VWW, movenet, yolo_face_detect,
 * EfficientNet-B0), as the geometric mean of their estimated cycles.
 */

/* Residents and stripe groups. Half as many, or twice as many, give the same plans. In a step with joined kernel rows
 * (lower/join_rows.c), whose copies are commands of every candidate, it is MAX_JOINED: with MAX_PLACEMENTS ResNet50V2 is
 * 2.0 % slower in ddr, ResNet-50 0.2 % faster. Elsewhere that many make Xception 0.6 % faster, NASNetMobile 1.8 % slower. */
#define MAX_PLACEMENTS 80000
#define MAX_JOINED     160000

/* Uniform splits. Half as many change nothing in the mean, one network by 0.3 %; twice as many nothing at all. */
#define MAX_SPLITS 30000

/* Ways to choose addresses. A third of that, and twice as many, give the same plans. */
#define MAX_ADDRESSES 30000

/* Moves, or MOVES_PLANS plans' commands where these are more; and as many as MOVES_TIMES of that as long as it pays to go on
 * (struct budget). Without going on EfficientNetB0 is 3.9 % slower in ddr, Xception 4.5 %, ResNet50V2 2.4 %, NASNetMobile
 * 1.9 %, DenseNet121 1.8 %, InceptionV3 1.5 %, networks of fewer commands up to 0.1 %; without both they take half to
 * two thirds of the time. 64 plans gain up to 0.6 % more (ResNet50V2), and ResNet-50 takes a third more time to compile. */
#define MAX_MOVED   120000
#define MOVES_PLANS 32
#define MOVES_TIMES 16

/* If a step has fewer commands than this, the stream is simulated in its order; else units each for itself, which
 * takes less time. Never doing so costs 0.2 % in ddr (MobileNetV1 0.25 2.0 %); 200 and 800 change less than 0.1 %. */
#define FEW 400

/* Starts for moves. With 1 or 3 networks are up to 0.1 % slower; 12 change nothing. */
#define MAX_STARTS 6

/* Jobs of a node that is all on chip, to begin with. 1 costs 0.1 % in ddr and 0.2 % in sram, 6 changes nothing. */
#define FIRST_SPLIT 3

/* The most commands that one climb of search_late() may emit. If it did not try slots, one MobileNetV3Small would be 1.8 % slower in
 * ddr and MobileNetV2 0.3 %, and none of 31 networks would be faster by more than 0.01 %. If it did not try turns, VWW would be
 * 3.4 % slower in sram, Silicon Labs' image_example1 6.4 % and EfficientNetB0 0.8 %, and none of 32 networks would be faster. All
 * of these are estimates. */
#define MAX_LATE 30000

/* search_late() goes on if the plan has become faster by at least this part of its cycles. Not measured. */
#define LATE_WORTH 1000

/* So many climbs begin at the best plan with other addresses. Without such climbs, MobileNetV3Small is estimated to be 2.5 % slower
 * in ddr, and VWW 0.1 % in sram. With two climbs instead of four, MobileNetV2 is estimated to be 1.2 % slower in ddr and 2.1 % in
 * sram; with three, 0.7 % and 0.5 %. On the RTL, two climbs make ResNet-50 0.7 % slower in ddr. With two climbs, compiling takes a
 * fifth less time for MobileNetV2, and two fifths less for ResNet-50. */
#define N_AGAIN 4

#define N_ADDRESSES 10         /* ways to choose addresses: five distances of neighbours, halves apart or not */
#define N_WAYS (2 * N_ADDRESSES)   /* these without and with only_loads */
#define MAX_LISTED  256        /* candidates that are kept as starts; more than the stages before the moves make */

/* A rule by which all nodes are cut: into so many jobs, but of at least so many cycles each. */
struct uniform_split { int jobs, cycles; };

/* Parameters of a placement, the rule by which nodes are cut, and what came of them. */
struct candidate {
	struct placement_params params;
	struct uniform_split split;
	bool cut;              /* nodes are cut by this rule before the candidate is placed, and stay so */
	int number;            /* its place in the order of evaluation */
	struct outcome o;
};

/* All that moves can change. */
struct snapshot {
	struct snapshot_node { struct striping how; bool own; int split, w_slots; bool turns; } *node;   /* each node's request */
	int *hint;             /* each storage's residency hint */
};

struct search {
	struct npu_step *s;    /* the step */
	struct replicas replicas;     /* the step, and copies of it for other threads */
	struct memo_client r[MAX_THREADS];   /* each worker's access to the memo */
	struct candidate q[POOL_SLOTS];   /* candidates under evaluation */
	struct placement_params best; /* parameters of the best plan so far */
	int64_t cycles;        /* cycles of the best plan so far */
	struct uniform_split split, best_split;   /* the rule by which nodes are cut at present; that of the best plan */
	struct snapshot first; /* what the plan asks for before all moves */
	struct candidate start[MAX_LISTED]; int n_start;   /* candidates from which moves may start */
	int version;           /* counts the plans to which moves have been made */
	int placed[MAX_THREADS];   /* the version that each worker's replica is placed as; 0: something else */
	int64_t emitted, last; /* commands emitted for all candidates of a stage, and for the last of them */
};

/*
 * Returns whether no operand of the placed step passes through memory because it does not fit: every node is
 * outside of stripe groups, with input, second operand and result resident, and the third operand too unless it
 * never can be (in_memory). A scatter's result, which never can be either, counts as one that does not fit.
 */
static bool all_fits(const struct npu_step *s)
{
	for (int i = 0; i < s->n; i++) {
		const struct plan *p = &s->plan[i];
		if (p->group || !p->req.x_resident || !p->req.y_resident || !p->req.r_resident || (p->z_storage >= 0 && !s->storage[p->z_storage].resident && !s->storage[p->z_storage].in_memory))
			return false;
	}
	return true;
}

/*
 * Give the storages of the step, one behind the other, offsets in memory that only tell them apart, so that
 * commands can be emitted: the true offsets in the arena are chosen later. Constants keep theirs.
 */
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

/*
 * Returns whether the weights of any node outside of stripe groups come in several loads, all of them staying
 * on chip (tile.all_weights).
 */
static bool any_pieces(const struct npu_step *s)
{
	for (int i = 0; i < s->n; i++) {
		const struct node *nd = step_node(s, i);
		if (nd->wt.w >= 0 && !s->plan[i].group && s->plan[i].tile.all_weights && s->plan[i].tile.piece < nd->wt.n_tiles)
			return true;
	}
	return false;
}

/*
 * Emit and simulate a placed step and set *o to what came of it. With only_loads, a plan in which no weights
 * come in several loads is not emitted, since it is the same as without: its cycles are INT64_MAX and its
 * commands -1.
 */
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

/*
 * Place this worker's replica with parameters *t and set *o to what comes of it. If the memo knows the
 * outcome, it is taken from there; else the step is emitted and simulated, and the outcome remembered. A
 * placement that fails has its errno in o->err, cycles INT64_MAX and commands -1. Without memory o->err is
 * -ENOMEM, and nothing is remembered. The replica does not count as placed as the best plan afterwards
 * (b->placed).
 */
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
	/* Another evaluation may find the memory that this one did not. */
	if (o->err != -ENOMEM && memo_add(r->all, &r->key, o))
		o->err = -ENOMEM;
}

/*
 * Ask of each node of the step as many jobs as rule c says: c.jobs, but of at least c.cycles cycles each, and
 * at least one.
 */
static void split_all(struct npu_step *s, struct uniform_split c)
{
	for (int i = 0; i < s->n; i++)
		s->plan[i].req.split = (int)max64(1, min64(c.jobs, (s->work[i + 1] - s->work[i]) / c.cycles));
}

/*
 * Callback of the pool: evaluate the candidate in this slot of b->q on this worker's replica, after cutting
 * its nodes by the candidate's rule if it says so.
 */
static void evaluate(void *user, int worker, int slot)
{
	struct search *b = user;

	if (b->q[slot].cut)
		split_all(b->replicas.step[worker], b->q[slot].split);
	place_and_measure(b, worker, &b->q[slot].params, &b->q[slot].o);
}

/*
 * Look at candidate q's outcome: count its commands in b->emitted; list it as a start for moves, unless its
 * placement failed or the list is full; and if it is faster than the best so far, keep its parameters, rule and
 * cycles (b->best, b->best_split, b->cycles). A candidate that was not emitted counts as many commands as the one
 * before (b->last). Returns 0, or -ENOMEM if that is its error.
 */
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

/*
 * Evaluate candidates number first ... n - 1, in several threads but judged in order (take()), until b->emitted,
 * which goes on from its value at the call, is `most` commands or more. at() fills in candidate k from the best
 * known when this function was called; it returns false for one that is not worth evaluating. Returns 0 or
 * -ENOMEM.
 */
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

/*
 * Fill in *q with candidate k of the first ones: residents of at most eighths[k % N_EIGHTHS] eighths of the
 * scratchpad, with one of four stripings that are often good (k / N_EIGHTHS), `pack` as in the best candidate so far,
 * neighbours 2 and halves apart.
 * Large residents take room from stripes; long groups take it from everything. Always returns true.
 */
static bool first_candidate(const struct search *b, int k, struct candidate *q)
{
	static const struct striping ways[] = {
		{ GROUP_NODES, false, false, SHARES, false, 0 }, { GROUP_NODES, false, true, SHARES, false, 0 },
		{ 3, false, true, SHARES, false, 0 }, { 7, true, true, SHARES, false, 0 },
	};

	q->params = (struct placement_params){ .largest = b->s->cc->sp_bytes / 8 * eighths[k % N_EIGHTHS], .stripes = ways[k / N_EIGHTHS],
	                       .neighbours = 2, .halves_apart = true };
	q->params.stripes.pack = b->best.stripes.pack;
	return true;
}
#define N_FIRST (4 * N_EIGHTHS)

/*
 * Fill in *q with candidate k of those that differ from the best one in one thing: first the nodes of a
 * group (nodes[]), then the size of residents (eighths[] of the scratchpad), then the switches full, deep,
 * in_place and pack the other way. Returns false if it does not differ, or if pack cannot make a difference.
 */
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
	t->stripes.pack ^= k == 3;
	if (k == 3)
		return step_can_pack(b->s, 0, b->s->n);
	return true;
}
#define N_OTHERS (N_NODES + N_EIGHTHS + 4)

/* Returns how many commands may be emitted to find residents and stripe groups. */
static int64_t most_placements(const struct npu_step *s)
{
	for (int i = 0; i < s->n; i++)
		if (step_node(s, i)->joined_rows)
			return MAX_JOINED;
	return MAX_PLACEMENTS;
}

/*
 * First stage of the search: find residents and stripe groups. The first candidate is enough if it works,
 * and if nothing passes through memory with it or the option quick is set. Otherwise these follow until
 * most_placements() commands have been emitted for the stage: the first candidate with packed rings
 * (striping.pack), where that can make a difference; all other first candidates, with packed rings if these
 * were better; then candidates that differ from the best in one thing, as long as that helps.
 *
 * Also sets known_order and overlap of all replicas: in steps with fewer than FEW commands the stream is
 * simulated in its order, and writes of the array wait for nothing of its own unit; in others they do until
 * everything has its place (step_search_splits()). Returns 0 or -ENOMEM; b->cycles stays INT64_MAX if no
 * candidate can be expressed.
 */
static int search_plans(struct search *b)
{
	const int64_t most = most_placements(b->s);
	int err;

	b->q[0] = (struct candidate){ .split = b->split };
	first_candidate(b, 0, &b->q[0]);
	place_and_measure(b, 0, &b->q[0].params, &b->q[0].o);
	/* What was emitted before memory ran out says nothing of how many commands there are. */
	if (b->q[0].o.err == -ENOMEM)
		return -ENOMEM;
	for (int i = 0; i < b->replicas.n; i++) {
		struct npu_step *s = b->replicas.step[i];
		s->known_order = s->overlap = b->q[0].o.emitted >= 0 && b->q[0].o.emitted < FEW;
	}
	if (b->s->known_order)
		place_and_measure(b, 0, &b->q[0].params, &b->q[0].o);
	err = take(b, &b->q[0]);
	if (err || (b->cycles < INT64_MAX && (b->q[0].o.fits || b->s->cc->o->quick)))
		return err;
	err = evaluate_all(b, N_OTHERS - 1, N_OTHERS, most, other_candidate);
	if (!err)
		err = evaluate_all(b, 1, N_FIRST, most, first_candidate);
	for (int64_t was = INT64_MAX; b->cycles < was && !err; ) {
		was = b->cycles;
		err = evaluate_all(b, 0, N_OTHERS, most, other_candidate);
	}
	return err;
}

/*
 * Fill in *q with candidate k of those that choose addresses otherwise than the best one: five distances of
 * neighbours (0..4), halves apart or not; from N_ADDRESSES on the same with only_loads, which makes loads of
 * weights larger, for networks that wait for nothing else. Candidate N_WAYS only has few_early the other way. Returns
 * false if it does not differ from the best.
 */
static bool address_candidate(const struct search *b, int k, struct candidate *q)
{
	struct placement_params *t = &q->params;

	*t = b->best;
	if (k == N_WAYS) {
		t->few_early = !t->few_early;
		return true;
	}
	t->neighbours = k % (N_ADDRESSES / 2);
	t->halves_apart = k / (N_ADDRESSES / 2) % 2;
	t->only_loads = k >= N_ADDRESSES;
	return t->neighbours != b->best.neighbours || t->halves_apart != b->best.halves_apart || t->only_loads != b->best.only_loads;
}

/* Cut all nodes of all replicas by rule c, and note it in b->split. */
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

/* Fill in *q with the best parameters and all nodes cut by rule k of splits[]. Always returns true. */
static bool split_candidate(const struct search *b, int k, struct candidate *q)
{
	q->params = b->best;
	q->split = splits[k];
	q->cut = true;
	return true;
}

/*
 * Try each rule of splits[] with all ways to choose addresses but those with only_loads, always from the best
 * so far, until MAX_SPLITS commands have been emitted. The replicas are left cut by the last rule of splits[],
 * tried or not. Returns 0 or a negative errno.
 */
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

/*
 * Second stage of the search: find one rule by which all nodes are cut, since two neighbours gain only
 * together, and the way to choose addresses, with the residents and stripes of the stage before. In steps of
 * few commands (known_order) rules are tried with all ways but those with only_loads, in others each rule by
 * itself, until MAX_SPLITS commands have been emitted; then all ways with the best rule, until MAX_ADDRESSES
 * have. The cycles of the stage before are forgotten, but not its parameters (b->best), from which this one
 * begins; the starts for moves are listed anew. All replicas are left cut by the best rule. Returns 0 or a
 * negative errno.
 */
static int search_splits(struct search *b)
{
	b->n_start = 0;
	b->emitted = 0;
	b->cycles = INT64_MAX;
	int err = b->s->known_order ? search_splits_and_addresses(b) : evaluate_all(b, 0, N_SPLITS, MAX_SPLITS, split_candidate);
	set_split(b, b->best_split);
	b->emitted = 0;
	return err ? err : evaluate_all(b, 0, N_WAYS, MAX_ADDRESSES, address_candidate);
}

/*
 * Callback of climb(): place the best plan (b->best) on the first replica and emit its commands, with
 * memory offsets that are only invented. This begins a new version of the plan (b->version), as which the
 * first replica then counts as placed. Returns 0 or a negative errno.
 */
static int emit_best(void *user)
{
	struct search *b = user;
	int err = place_with(b->s, &b->best, NULL);

	b->version++;
	b->placed[0] = err ? 0 : b->version;
	if (err)
		return err;
	invent_addresses(b->s);
	return step_emit_split(b->s);
}

/*
 * Callback of climb(): set *o to the outcome of this worker's replica, on which move c has been made. If the move
 * does not change where anything lies (move_only_emits()), the replica is only emitted anew; if it is not placed as the best
 * plan yet, it is placed so before. For other moves it is placed again, unless the memo knows the outcome (place_and_measure()).
 */
static void measure_move(void *user, int worker, const struct move *c, struct outcome *o)
{
	struct search *b = user;
	struct npu_step *s = b->replicas.step[worker];
	int err = 0;

	if (!move_only_emits(c)) {
		place_and_measure(b, worker, &b->best, o);
		return;
	}
	if (b->placed[worker] != b->version)
		err = place_with(s, &b->best, NULL);
	b->placed[worker] = err ? 0 : b->version;
	*o = (struct outcome){ .err = err, .cycles = INT64_MAX, .emitted = -1 };
	if (!err)
		measure(s, o);
}

/*
 * Improve the best plan in rounds. A round tries the plan with few_early inverted, climbs by moves from the best plan, and
 * then chooses addresses once more. Another round follows if that choice saved cycles and the budget is not used up; the
 * commands that all three emit count in it. The best parameters and cycles are left in b->best and b->cycles, the best
 * moves in the replicas. Returns 0 or a negative errno.
 */
static int search_moves(struct search *b, struct budget *budget)
{
	int64_t was;
	int err;

	do {
		b->emitted = 0;
		err = evaluate_all(b, N_WAYS, N_WAYS + 1, MAX_ADDRESSES, address_candidate);
		budget->emitted += b->emitted;
		if (err)
			return err;
		struct climb c = { .replicas = &b->replicas, .list = list_moves, .tiers = 4, .again = true, .emit_best = emit_best,
		                   .measure = measure_move, .user = b, .cycles = b->cycles, .budget = budget };
		err = climb(&c);
		b->cycles = was = c.cycles;
		b->emitted = 0;
		if (!err)
			err = evaluate_all(b, 0, N_WAYS, MAX_ADDRESSES, address_candidate);
		budget->emitted += b->emitted;
	} while (!err && b->cycles < was && budget->emitted < budget_of(budget));
	return err;
}

/* Save in *p all that moves can change: the striping, split, weight slots and turns of each node, and the hint of each storage. */
static void snapshot_save(const struct npu_step *s, struct snapshot *p)
{
	for (int i = 0; i < s->n; i++)
		p->node[i] = (struct snapshot_node){ s->plan[i].req.striping, s->plan[i].req.has_own_striping, s->plan[i].req.split, s->plan[i].req.w_slots, s->plan[i].req.turns };
	for (int i = 0; i < s->n_storages; i++)
		p->hint[i] = s->storage[i].hint;
}

/*
 * Copy snapshot *p, which snapshot_save() has filled, into all replicas. Afterwards each replica asks for what
 * the saved step asked for, and must be placed anew.
 */
static void snapshot_load(const struct replicas *w, const struct snapshot *p)
{
	for (int k = 0; k < w->n; k++) {
		struct npu_step *s = w->step[k];
		for (int i = 0; i < s->n; i++) {
			s->plan[i].req.striping = p->node[i].how;
			s->plan[i].req.has_own_striping = p->node[i].own;
			s->plan[i].req.split = p->node[i].split;
			s->plan[i].req.w_slots = p->node[i].w_slots;
			s->plan[i].req.turns = p->node[i].turns;
		}
		for (int i = 0; i < s->n_storages; i++)
			s->storage[i].hint = p->hint[i];
	}
}

/*
 * Allocate the arrays of a snapshot of this step. Returns 0 or -ENOMEM; snapshot_free() must follow in both
 * cases.
 */
static int snapshot_new(const struct npu_step *s, struct snapshot *p)
{
	p->node = calloc((size_t)s->n + 1, sizeof *p->node);
	p->hint = calloc((size_t)s->n_storages + 1, sizeof *p->hint);
	return p->node && p->hint ? 0 : -ENOMEM;
}

/* Free what a snapshot holds. */
static void snapshot_free(struct snapshot *p)
{
	free(p->node);
	free(p->hint);
}

/*
 * Compare two candidates for qsort(): the one with fewer cycles comes first, of equals the one that was
 * evaluated first.
 */
static int faster(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->o.cycles != b->o.cycles)
		return a->o.cycles < b->o.cycles ? -1 : 1;
	return a->number - b->number;
}

/*
 * Returns whether a start before start[i] is cut by the same rule, or is as fast to the cycle and so most
 * likely the same plan.
 */
static bool resembles_earlier(const struct candidate *start, int i)
{
	for (int k = 0; k < i; k++)
		if ((start[k].split.jobs == start[i].split.jobs && start[k].split.cycles == start[i].split.cycles) || start[k].o.cycles == start[i].o.cycles)
			return true;
	return false;
}

/*
 * Place and emit the best plan on the first replica, and set fast_limit of all replicas to the cycles that it
 * takes with fast memory, so that moves do not buy cycles of slow memory with those of fast memory. Returns 0
 * or a negative errno.
 */
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

/* Returns a fresh budget for moves, for a step whose plans have about as many commands as the last one emitted. */
static struct budget fresh_budget(const struct search *b)
{
	int64_t most = max64(MAX_MOVED, (int64_t)MOVES_PLANS * b->s->cmds.n);

	return (struct budget){ .most = most, .limit = MOVES_TIMES * most, .stretch = most / 2 };
}

/*
 * Third stage of the search: climb from up to `most` of the n best candidates listed, the fastest first,
 * leaving out those that resemble an earlier one, until the budget for moves is used up (in a step of many
 * commands the first start may do so). The best plan that is found is left in b->best, *best, which is
 * allocated, and the replicas. No further starts are listed meanwhile or later. Returns 0 or a negative
 * errno.
 */
static int search_starts(struct search *b, int n, int most, struct snapshot *best)
{
	struct candidate found = { .o.cycles = INT64_MAX }, *start = b->start;
	int err = 0;
	struct budget budget = fresh_budget(b);

	b->n_start = MAX_LISTED;
	qsort(start, (size_t)n, sizeof *start, faster);
	snapshot_save(b->s, best);
	for (int i = 0, k = 0; i < n && k < most && budget.emitted < budget_of(&budget) && start[i].o.cycles < INT64_MAX && !err; i++) {
		if (resembles_earlier(start, i))
			continue;
		k++;
		snapshot_load(&b->replicas, &b->first);
		set_split(b, start[i].split);
		b->best = start[i].params;
		place_and_measure(b, 0, &b->best, &start[i].o);
		b->cycles = start[i].o.cycles;
		err = start[i].o.err ? start[i].o.err : search_moves(b, &budget);
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

/*
 * Returns whether a slice group with a depthwise node can begin anywhere in the step. Slice groups without one, such as
 * ResNet-50's last convolution with the mean behind it, gain too little for the time that the search takes.
 */
static bool can_slice(const struct npu_step *s)
{
	for (int i = 0; i < s->n; i++)
		for (int k = slices_extent(s, i, GROUP_NODES) - 1; k > 0; k--)
			if (step_node(s, i + k)->kind == NODE_DW)
				return true;
	return false;
}

/*
 * Prepare another climb, which begins at the best plan found so far but with other addresses. The replicas get the plan's
 * moves, *best, and b->best its parameters. If k is odd, `halves_apart` is inverted; otherwise `neighbours` gets its next
 * value. The step is placed with these parameters, and b->cycles is set to what it then takes. Returns 0, -ENOMEM, or another
 * negative errno if it cannot be placed so.
 */
static int choose_other_addresses(struct search *b, const struct candidate *found, const struct snapshot *best, int k)
{
	struct outcome o;

	snapshot_load(&b->replicas, best);
	b->best = found->params;
	if (k % 2)
		b->best.halves_apart = !b->best.halves_apart;
	else
		b->best.neighbours = (b->best.neighbours + 1) % (N_ADDRESSES / 2);
	place_and_measure(b, 0, &b->best, &o);
	b->cycles = o.cycles;
	return o.err;
}

/*
 * Fourth stage of the search: climb again, from the best plan that moves have found. If slice groups can begin in the step
 * (can_slice()), the first climb is with moves that form such groups (may_slice), and so are those behind it. N_AGAIN more
 * climbs begin with addresses chosen in another way: what is worse at first is often better in the end. The fastest
 * outcome is left in b->best, *best and the replicas. Returns 0 or a negative errno.
 */
static int search_again(struct search *b, struct snapshot *best)
{
	struct candidate found = { .params = b->best, .o.cycles = b->cycles };
	bool slices = can_slice(b->s);
	int err = 0;

	for (int i = 0; i < b->replicas.n; i++)
		b->replicas.step[i]->may_slice = slices;
	for (int k = slices ? 0 : 1; k <= N_AGAIN && !err; k++) {
		struct budget budget = fresh_budget(b);
		err = k ? choose_other_addresses(b, &found, best, k) : 0;
		if (err && err != -ENOMEM) {
			err = 0;
			continue;
		}
		if (!err)
			err = search_moves(b, &budget);
		if (err || b->cycles >= found.o.cycles)
			continue;
		found = (struct candidate){ .params = b->best, .o.cycles = b->cycles };
		snapshot_save(b->s, best);
	}
	b->best = found.params;
	b->cycles = found.o.cycles;
	snapshot_load(&b->replicas, best);
	return err;
}

/*
 * Climb from the best plan by the moves of this list alone. The fastest plan is left in *best and the replicas, and its cycles
 * in b->cycles. Returns 0 or a negative errno.
 */
static int climb_late(struct search *b, list_fn list, struct snapshot *best)
{
	struct budget budget = { .most = MAX_LATE, .limit = MAX_LATE, .stretch = MAX_LATE };
	struct climb c = { .replicas = &b->replicas, .list = list, .tiers = 1, .again = true, .emit_best = emit_best,
	                   .measure = measure_move, .user = b, .cycles = b->cycles, .budget = &budget };
	int err = climb(&c);

	b->cycles = c.cycles;
	snapshot_save(b->s, best);
	return err;
}

/*
 * Climb from the best plan by moves that the other stages do not make. The first climb changes numbers of slots of weights
 * (list_slot_numbers()): tiling.c keeps room for weights of later nodes, whether they need it or not, and the other stages try
 * few numbers. The second climb changes turns at the post unit (list_turns()). Returns 0 or a negative errno.
 */
static int climb_slots_and_turns(struct search *b, struct snapshot *best)
{
	int err = climb_late(b, list_slot_numbers, best);

	return err ? err : climb_late(b, list_turns, best);
}

/*
 * Last stage of the search: climb by slots and turns. If that makes the plan faster by more than one part in LATE_WORTH,
 * climb by all other moves and then by slots and turns again, and repeat both while they do the same. The fastest plan is
 * left in b->best, *best and the replicas. Returns 0 or a negative errno.
 */
static int search_late(struct search *b, struct snapshot *best)
{
	int64_t was = b->cycles;
	int err = climb_slots_and_turns(b, best);

	while (!err && b->cycles < was - was / LATE_WORTH) {
		struct budget budget = fresh_budget(b);
		was = b->cycles;
		err = search_moves(b, &budget);
		if (!err)
			err = climb_slots_and_turns(b, best);
	}
	return err;
}

/*
 * Make the replicas and one memo for all of them. Returns 0 or -ENOMEM; search_close() must follow in both
 * cases.
 */
static int search_open(struct search *b)
{
	int err = replicas_open(&b->replicas, b->s);

	b->r[0].all = memo_new();
	for (int i = 1; i < b->replicas.n; i++)
		b->r[i].all = b->r[0].all;
	return b->r[0].all ? err : -ENOMEM;
}

/* Free replicas, keys and memo. */
static void search_close(struct search *b)
{
	for (int i = 0; i < b->replicas.n; i++)
		free(b->r[i].key.v);
	memo_free(b->r[0].all);
	replicas_close(&b->replicas);
}

/*
 * Run all stages of the search. The best parameters are then in b->best, and what its moves ask for in all
 * replicas. With the option quick, or if the first stage finds no plan that fits, only the first stage runs.
 * Returns 0 or a negative errno.
 */
static int search(struct search *b)
{
	struct snapshot best = { 0 };
	int err = search_plans(b), n;

	if (err || b->s->cc->o->quick || b->cycles == INT64_MAX)
		return err;
	err = search_splits(b);
	n = b->n_start;
	if (!err)
		err = limit_fast(b);
	if (!err && !(err = snapshot_new(b->s, &b->first)) && !(err = snapshot_new(b->s, &best))) {
		snapshot_save(b->s, &b->first);
		err = search_starts(b, n, MAX_STARTS, &best);
		if (!err)
			err = search_again(b, &best);
		if (!err)
			err = search_late(b, &best);
	}
	snapshot_free(&b->first);
	snapshot_free(&best);
	return err;
}

/*
 * Search for the fastest plan of the step and place the step so: its plan, areas and addresses, with the
 * splits and hints that the search has found. Each candidate's failures are forgotten (cc->bad_node is -1
 * before the last placement). Returns 0, -ENOSPC: no placement has room; -ERANGE: cc->bad_node has no tile
 * that fits; or -ENOMEM.
 */
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

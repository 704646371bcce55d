/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one NPU step uses the scratchpad: which storages stay there, how each
 * node is cut into jobs, and where everything lies.
 */
#ifndef WEFT_COMPILE_PLAN_H
#define WEFT_COMPILE_PLAN_H

#include "userlib/compile/match/loop_nest.h"

/* A node of a group uses an area: so many accesses, of 8 cycles. */
struct area_use { int node, density; };
#define AREA_USES 4            /* what a ring has more readers is not counted */

/* A piece of the scratchpad during nodes t0..t1 of the step. */
struct area {
	int64_t bytes, addr;
	int t0, t1;            /* occupied */
	int need;              /* node before which it must be there */
	int use0, use1;        /* nodes that access it */
	bool weights;          /* may be filled ahead: t0 moves down where there is room */
	int group, n_use;      /* 1 + group of which it is a ring or weights, 0 none; there: */
	struct area_use use[AREA_USES];
};

/* The storage of one root tensor, as this step sees it. */
struct storage {
	int root;
	int64_t bytes;
	int first, last;       /* nodes that touch it */
	bool ext_in, ext_out;  /* comes from memory; is needed in memory afterwards */
	bool resident;
	bool in_memory;        /* never resident */
	int hint;              /* moves.c: out -1, stay 1 whatever its size, 0 */
	int may_replace;          /* storage whose bytes it may take over: the second addend, read for the
	                        * last time where this one is written; -1 */
	int replaces, replaced_by;       /* resident: the one it does take over; the one that takes it over; -1 */
	bool loaded;           /* emit.c: its load is out */
	int area;              /* resident */
};

#define MAX_SLOTS 4
#define MAX_W_SLOTS 24
#define PIECE_AREAS 3          /* one is read, one waits, one is filled */

/* Rows of one storage, kept while a group works on them; see stripes.c. */
struct ring {
	int storage;
	int64_t rows, wrap_rows, row_bytes, height;
	int writer;            /* node of the group, or -1: loaded */
	bool load, store;      /* comes from memory; goes there */
	int area;
};

#define GROUP_NODES 24
#define MAX_RINGS (3 * GROUP_NODES)

/* Groups of at most so many nodes; stripes that fill whole groups of the array's rows, at the price of
 * more rows; rows kept so that both engines always have a stripe to work on, likewise. */
struct striping { int nodes; bool full, deep; int share; };
#define SHARES 8               /* share: of so much of what is free, rings and weights may take that much */

/* Nodes [first, +n) of the step, run in stripes. */
struct group {
	int first, n;
	int64_t step;          /* rows of the last node in one stripe */
	struct striping how;
	int64_t cycles;        /* of the engine that has more to do, roughly */
	int n_ring;
	struct ring ring[MAX_RINGS];
	int rx[GROUP_NODES], rr[GROUP_NODES], ry[GROUP_NODES];   /* rings of each node's operands, -1: resident */
	int ahead[GROUP_NODES];   /* stripes that it runs before the last node */
	bool read[GROUP_NODES];   /* a node of the group reads its result */
};

/* What group_walk() meets, in order. */
struct group_walker {
	int (*load)(struct group_walker *w, int ring, int64_t from, int64_t end);
	int (*rows)(struct group_walker *w, int k, int64_t from, int64_t end);
};

/*
 * Output tiles of one node. A job is one tile of th x tw pixels and tc
 * channels. Jobs run pixels outermost, or channels outermost (by_channel).
 */
struct plan {
	struct striping striping;   /* if has_own_striping: of a group that begins here (moves.c) */
	bool has_own_striping;
	int split;             /* can_split: into so many jobs, tile_search.c */
	int w_slots;           /* own weights, where all else is on chip: in so many slots; 0: tiling.c's choice */
	int group;             /* 1 + the stripe group that the node is in, 0 none; then nothing below the
	                        * storages counts but the weights */
	int x_storage, r_storage, z_storage, y_storage;    /* storages of x, r (-1), z (-1), y */
	bool x_resident, r_resident, y_resident;       /* resident; rr also without a second operand */
	int64_t th, tw, tc;
	bool by_channel;
	int slots;             /* 2; 1 where only that fits: nothing then overlaps */
	int behind;            /* nodes of the step after this one */
	bool only_loads;       /* they are all that counts, for the network as a whole */
	bool all_weights;      /* records and weights of the node in one area; else slots of tc channels */
	bool split_k;          /* jobs of one column tile and at most n pixels, weights in parts of kq chunks */
	int64_t kq;
	int64_t piece;         /* all_weights: tiles of one load, at most */
	bool own_recs;         /* all_weights: records come with their piece's weights; else all with the first */
	int64_t w_recs[PIECE_AREAS];   /* all_weights, not own_recs: bytes of records before the weights of each area */
	bool can_split;        /* all on chip: jobs may be as small as one likes */
	int n_in, n_r, n_out, n_w;
	int64_t in_bytes, r_bytes, out_bytes, w_bytes;   /* one slot */
	int64_t piece_bytes[PIECE_AREAS];   /* all_weights in several loads, which take turns: n_w of them */
	int in[MAX_SLOTS], r[MAX_SLOTS], out[MAX_SLOTS], w[MAX_W_SLOTS];   /* areas */
	int64_t nest_n[NEST_DIMS];   /* ALU: sizes of a piece; then only the input's slots count, for all operands */
	int64_t cost;
};

struct npu_step {
	struct cc *cc;
	int first_item, n;     /* its nodes are items first_item ... +n */
	struct storage *storage;     int n_storages;
	struct plan *plan;     /* one per node */
	struct area *area;     uint32_t n_area, cap_area;
	struct group *group;   uint32_t n_group, cap_group;
	int64_t *work;         /* cycles of the nodes before each, roughly */
	int64_t *used;         /* bytes of residents during each */
	int neighbours;        /* scratchpad.c: how much areas of consecutive nodes should be apart, of 4 */
	bool only_loads;       /* tiling.c: loads are all that counts */
	int64_t fast_limit;     /* tile_search.c: more cycles than that with fast memory count several times; 0: none do */
	bool known_order;         /* schedule.c: cycles of the stream as a whole, not of the units each for itself */
	bool halves;           /* scratchpad.c: halves of a tensor in two regions, where that costs nothing else */
	struct cmds cmds;
	struct hazards *hazards;   /* emit.c: of the last emission */
	struct cached_tiles *tile_cache;         /* placement.c: tiles of each node, or NULL */
	int step;              /* in the program */
	int threads;           /* for trials */
};

/* Last node that touches the bytes of a resident, whoever owns them by then. */
int storage_last(const struct npu_step *s, int storage);

static inline struct node *step_node(const struct npu_step *s, int i)
{
	return &s->cc->nodes[s->cc->items[s->first_item + i].index];
}

struct span { int64_t lo, n; };

static inline struct span span_clip(int64_t lo, int64_t hi, int64_t limit)
{
	lo = max64(min64(lo, limit - 1), 0);
	hi = max64(min64(hi, limit), lo + 1);
	return (struct span){ lo, hi - lo };
}

static inline bool on_array(const struct node *nd)
{
	return nd->kind == NODE_CONV || nd->kind == NODE_DWCONV;
}

/* Input rows and columns that output rows/columns [o, o+n) read, clipped to the image. */
static inline struct span input_rows(const struct node *nd, int64_t oy, int64_t n)
{
	int64_t lo = oy * nd->sy - nd->pt;

	return span_clip(lo, lo + (n - 1) * nd->sy + (int64_t)(nd->kh - 1) * nd->dy + 1, nd->x.dim[1]);
}

static inline struct span input_cols(const struct node *nd, int64_t ox, int64_t n)
{
	int64_t lo = ox * nd->sx - nd->pl;

	return span_clip(lo, lo + (n - 1) * nd->sx + (int64_t)(nd->kw - 1) * nd->dx + 1, nd->x.dim[2]);
}

/* Does the node treat channels apart, so that a tile of them reads only its own? */
static inline bool channelwise(const struct node *nd)
{
	return nd->kind == NODE_DW || nd->kind == NODE_POOL || nd->kind == NODE_ELT;
}

/* tiling.c: the most columns (transposed: rows) of the result in a dw command */
int64_t dw_width(const struct cc *cc, const struct node *nd);
/* Is the second operand the same for all pixels of an image? */
static inline bool second_still(const struct node *nd)
{
	return nd->table || (nd->kind == NODE_ELT && !nd->r.step[1] && !nd->r.step[2]);
}

/* Channels of it that a job of cn channels takes. */
static inline int64_t second_channels(const struct node *nd, int64_t cn)
{
	return nd->table ? nd->r.dim[3] : cn;
}

/* tiling.c: cycles that the array or the vector engine needs at least */
int64_t node_work(const struct cc *cc, const struct node *nd);

/* tiling.c: cheapest tiles within budget bytes. 0 or -ERANGE */
int plan_node(const struct cc *cc, const struct node *nd, struct plan *p, int64_t budget);

/* emit_loop_nest.c: pieces of a loop nest. 0 or -ERANGE */
int plan_loop_nest(const struct npu_step *s, const struct node *nd, struct plan *p, int64_t budget);

/* all_weights: the load that brings column tile t. */
struct piece {
	int64_t first, n;      /* tiles */
	int slot;              /* area */
	int64_t before;        /* tiles before it in that area */
};
struct piece plan_piece(const struct plan *p, const struct node *nd, int64_t t);

/* Cut a node that is all on chip into about k jobs, so that its neighbours can start earlier. */
void plan_split(const struct cc *cc, const struct node *nd, struct plan *p, int64_t k);

/* scratchpad.c: addresses for all areas, the largest first: apart from each other, those above `compact` bytes just
 * packed. The first `from` of that order keep theirs. The area for which there was no room, or -1. */
struct alloc;
struct alloc *alloc_new(struct npu_step *s);
void alloc_free(struct alloc *al);
int alloc_areas(struct alloc *al, int from, int64_t compact);
int alloc_rank(const struct alloc *al, int area);   /* in that order */

/* stripes.c: groups of nodes among those whose results do not stay on chip */
int step_find_groups(struct npu_step *s, const struct striping *how);

/* stripe_walk.c */
int group_walk(struct npu_step *s, struct group *g, struct group_walker *w);
int64_t group_stripes(const struct npu_step *s, const struct group *g);
/* Rows that fill whole groups of the array; 1 where that would take many. */
int64_t group_grain(const struct npu_step *s, const struct group *g, const struct node *nd);
/* What a walk looks up of a group whose rings are listed; its step may still change. Sets of nodes are bits. */
struct group_deps {
	const struct npu_step *s;
	struct group *g;
	const struct node *nd[GROUP_NODES];
	int64_t height[GROUP_NODES], grain[GROUP_NODES];
	/* Whoever of the group writes what each reads, kept as a ring or resident: only nodes before it. */
	uint32_t x_from[GROUP_NODES], r_from[GROUP_NODES];
	uint32_t x_to[MAX_RINGS], r_to[MAX_RINGS];   /* of each ring: its readers */
};
void group_deps_open(struct group_deps *c, const struct npu_step *s, struct group *g);
/* Rows that each ring must hold, into the group; false where they take more than so many bytes. */
bool group_deps_measure(const struct group_deps *c, int64_t room);

/* moves.c: one change to what a trial says: the stripes of a group that begins at `node` (own: else the trial's
 * again), into how many jobs that (split, or 0) and the next (next, or 0) are cut, into how many slots its weights
 * come (slots, or -1), or where a storage is; -1: none */
struct move { int node; struct striping how; bool own; int split, next, slots, storage, hint; };
#define MAX_MOVES 64
void move_apply(struct npu_step *s, const struct move *c);
struct move move_undo(const struct npu_step *s, const struct move *c);
/* Those of the plan as it stands that begin at this node, at most so many; tier 0 are those which help most often,
 * 1 the others. How many */
int list_moves(const struct npu_step *s, int node, int tier, struct move *c, int most);
/* Other splits that make a difference; tier 1: of the next node with it. */
int list_splits(const struct npu_step *s, int node, int tier, struct move *c, int most);

/* placement.c: residency, plans, areas. 0 or negative errno; -ERANGE with cc->bad_node */
int step_place(struct npu_step *s);
/* Residents of at most `largest` bytes, groups; results in the place of second addends; how addresses
 * are chosen; how weights are loaded. */
struct placement_params { int64_t largest; struct striping stripes; bool in_place; int neighbours; bool halves, only_loads; };
struct memo_client;
/* Residents, groups, areas. 0, -ENOSPC, -ERANGE, -ENOMEM; 1 with a recall: all that has been before, it says what came of it. */
int place_with(struct npu_step *s, const struct placement_params *t, struct memo_client *r);
/* search.c: the best that was found */
int place_best(struct npu_step *s);
/* critical_path.c: cycles in which the unit that has most to do waits for each node, or for what that waits for. 0 or -ENOMEM */
int step_critical_cycles(const struct npu_step *s, int64_t *cycles);

/* load_order.c: loads in the order in which they can best run. 0 or -ENOMEM */
int order_loads(struct npu_step *s);

/* emit.c: commands in a valid order, waits filled in. -E2BIG: too many for one stream */
int step_emit(struct npu_step *s);
/* emit.c: constants as the emitted loads of own_recs want them; once. 0 or -ENOMEM */
int step_pack_weights(struct npu_step *s);

/* hazards.c: who last wrote and read which bytes */
struct hazards;
struct hazards *hazards_new(void);
void hazards_clear(struct hazards *h);
void hazards_free(struct hazards *h);
/* Account for command c, the unit_index-th of its unit; sets its waits. 0 or -ENOMEM */
int hazards_add(struct hazards *h, struct cmd *c, uint32_t unit_index);
/* Counts of all loads whose bytes each command touches, which lists its own (first_load); NULL: those are not all
 * loads that it waits for, or there are none. */
const uint32_t *hazards_loads(const struct hazards *h);

/* thread_pool.c: a step, and copies of it to try things on in other threads */
#define MAX_THREADS 8
struct replicas { struct npu_step *step[MAX_THREADS]; int n; };
int replicas_open(struct replicas *w, struct npu_step *s);      /* 0 or -ENOMEM; replicas_close() in any case */
void replicas_close(struct replicas *w);

/*
 * Trials that so many threads make, in the order in which they are pushed;
 * taken in that order, too. fn(user, worker, slot): the trial in that slot.
 */
#define POOL_SLOTS 32
struct pool;
struct pool *pool_open(int threads, void (*fn)(void *user, int worker, int slot), void *user);   /* NULL: no memory */
void pool_close(struct pool *q);
int pool_slot(const struct pool *q);   /* that the next trial may be put into; -1: enough are under way */
void pool_push(struct pool *q);        /* it is */
int pool_take(struct pool *q);         /* the first that is left, once it is made; -1: none */
void pool_drop(struct pool *q);        /* all of them; none is being made after that */

/* memo.c: what came of plans */
struct outcome {
	bool no_room;          /* for its areas; else */
	int err;
	int64_t cycles, emitted;
	bool fits;             /* nothing passes the memory */
};
struct memo_key { uint64_t *v; uint32_t n, cap; };
struct memo;
struct memo *memo_new(void);
void memo_free(struct memo *m);
int memo_put(struct memo_key *k, int64_t v);      /* 0 or -ENOMEM */
/* All that decides what comes of a plan whose residents and groups are chosen. 0 or -ENOMEM */
int memo_key_of(struct memo_key *k, const struct npu_step *s);
bool memo_find(struct memo *m, const struct memo_key *k, struct outcome *o);
int memo_add(struct memo *m, const struct memo_key *k, const struct outcome *o);
/* Trials of one thread, which remember what came of plans. */
struct memo_client { struct memo *all; struct memo_key key; struct outcome o; };

/*
 * hill_climb.c: changes one after another, those first where most cycles are lost;
 * what makes the whole faster stays, and all is looked at again.
 */
struct climb {
	struct replicas *replicas;
	int (*list)(const struct npu_step *s, int node, int tier, struct move *c, int most);
	int tiers;
	bool again;            /* where one helped, another may: on top of it */
	int (*emit_best)(void *user);                                   /* the replicas's first as it is best, emitted */
	void (*measure)(void *user, int worker, const struct move *c, struct outcome *o);   /* one of the replicas, so changed */
	void *user;
	int64_t cycles;        /* best so far */
	int64_t emitted, most; /* commands of all trials; at most */
};
int climb(struct climb *c);

/* tile_search.c: choose the splits of all nodes, in trials of at most so many commands; then emit. */
int step_search_splits(struct npu_step *s, int64_t most);
/* Emit the plan as it stands, nodes cut as it says; and simulate it. */
int step_emit_split(struct npu_step *s);
void step_measure(struct npu_step *s, struct outcome *o);

/* simulate.c: start and retirement of every emitted command, and when all is done. order: of the
 * stream, or NULL: every unit for itself. 0 or -ENOMEM */
int simulate(const struct npu_step *s, const uint32_t *order, bool slow_memory, uint64_t *start, uint64_t *end, uint64_t *total);

/* schedule.c: cycles that the emitted commands should take with fast and with slow memory. 0 or -ENOMEM */
int step_cycles(const struct npu_step *s, uint64_t *fast, uint64_t *slow);
/* Interleave the units and append the stream to the program. */
int step_schedule(struct npu_step *s);

void step_clear(struct npu_step *s);

#endif

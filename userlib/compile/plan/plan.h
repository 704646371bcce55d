/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one NPU step uses the scratchpad: which storages stay there, how each
 * node is cut into jobs, and where everything lies.
 */
#ifndef WEFT_COMPILE_PLAN_H
#define WEFT_COMPILE_PLAN_H

#include "userlib/compile/match/loop_nest.h"

/* A node of a stripe group that accesses an area, and how many times in 8 cycles it does so (1..8). */
struct area_use { int node, density; };
#define AREA_USES 4            /* uses that are noted of one area; if a ring has more, the others do not count */

/* A piece of the scratchpad during nodes t0..t1 of the step. */
struct area {
	int64_t bytes, addr;
	int t0, t1;            /* first and last node during which it is occupied */
	int need;              /* node before which its contents must be there */
	int use0, use1;        /* first and last node that access it */
	bool weights;          /* it may be filled ahead: t0 moves down where there is room */
	int64_t head;          /* bytes at its start that are read between words of the rest, which leaves them no cycle: records
	                        * of column tiles in pairs, in front of their weights; 0 none */
	int64_t head_cycles;   /* quarter cycles that those reads take if both lie in one region */
	int group;             /* 1 + stripe group of which it is a ring or weights, 0 none */
	int n_use;             /* group: how many uses are noted */
	struct area_use use[AREA_USES];
};

/* The storage of one root, as this step sees it. Nodes are numbered within the step. */
struct storage {
	int root;              /* number of the root in cc.ten */
	int64_t bytes;
	int first, last;       /* first and last node that touch it */
	bool ext_in, ext_out;  /* it comes from memory; its contents are needed in memory after the step */
	bool resident;         /* it lies in the scratchpad as a whole */
	bool in_memory;        /* it must never be resident */
	int hint;              /* residency hint of a move: -1 not resident, 1 resident whatever its size, 0 no hint */
	int may_replace;       /* storage whose bytes it may take, which is the second operand of the node that writes
	                        * this one and read there for the last time; -1: none */
	int replaces, replaced_by;    /* resident: the storage whose bytes it takes, and the one that takes its bytes later;
	                               * -1: none */
	bool loaded;           /* emission: its load has been emitted */
	int area;              /* resident: its area, or that of the first of those that replace each other */
};

#define MAX_SLOTS 4
#define MAX_W_SLOTS 32         /* with 24 MobileNetV3Small is 1.2 % slower in ddr; 48 and 64 give the same as 32 */
#define PIECE_AREAS 3          /* areas for pieces of weights: one is read, one waits, one is filled */

/* Rows of one storage, kept while a stripe group works on them; see stripes.c. */
struct ring {
	int storage;           /* number of the storage in the step */
	int64_t rows;          /* rows that it holds */
	int64_t wrap_rows;     /* rows of its beginning that are kept once more behind its end */
	int64_t row_bytes;
	int64_t height;        /* rows of the whole tensor */
	int writer;            /* node of the group (0: its first) that writes it; -1: it is loaded */
	bool parts;            /* several nodes write it, each a part of the columns, of the channels or of the rows */
	bool packed;           /* it holds only what this view sees of the storage, side by side */
	struct view view;      /* packed: this view */
	int64_t times;         /* its rows are a multiple of so many, which one row of a writer lies apart from the next */
	bool load, store;      /* its rows come from memory; they are stored there */
	int area;              /* the area in which it lies */
};

#define GROUP_NODES 24         /* nodes of a stripe group at most */
#define MAX_RINGS (3 * GROUP_NODES)
#define SHARES 8

/* How a stripe group is formed and cut. */
struct striping {
	int nodes;             /* it has at most so many nodes; 0: no group at all */
	bool full;             /* stripes fill whole groups of the array's rows, at the price of more rows in rings */
	bool deep;             /* nodes run ahead at every change of engine, so that both always have a stripe to work
	                        * on, at the price of more rows in rings; else only at changes back to the array */
	int share;             /* rings and weights may take that many SHARES of what residents leave free */
	bool pack;             /* rings may hold some channels of each pixel of a storage in memory */
	int slices;            /* 0: the group runs stripe by stripe; else slice by slice, in so many slices of its channels */
};

/*
 * A stripe group: nodes [first, +n) of the step, run stripe by stripe; or with how.slices a slice group, run slice by
 * slice: the first is on the array, the others treat channels apart. Each ring of a slice group holds slices of
 * channels, with all their pixels: `rows` slices of row_bytes bytes.
 */
struct group {
	int first, n;
	int64_t step;          /* rows of the last node in one stripe; channels of a slice */
	struct striping how;
	int64_t cycles;        /* rough cycles of the engine that has more to do */
	int n_ring;            /* rings in ring[] */
	struct ring ring[MAX_RINGS];
	int rx[GROUP_NODES], rr[GROUP_NODES], ry[GROUP_NODES];   /* rings of each node's x, r and y; -1: it is resident, or
	                                                          * there is no r */
	int ahead[GROUP_NODES];   /* stripes that each node runs before the last node */
	bool read[GROUP_NODES];   /* a node of the group reads its result */
	int64_t times[GROUP_NODES], phase[GROUP_NODES];   /* row y of each node's result is row y * times + phase of its ring */
};

/* What group_walk() calls, in the order of execution; a result other than 0 ends the walk and is returned. */
struct group_walker {
	int (*load)(struct group_walker *w, int ring, int64_t from, int64_t end);   /* rows [from, end) come from memory */
	int (*rows)(struct group_walker *w, int k, int64_t from, int64_t end);      /* node k makes rows [from, end) */
};

/* What is asked of a node's plan: by moves of the search, and by what the whole step needs. */
struct plan_request {
	struct striping striping;   /* if has_own_striping: how a group that begins at this node is formed, instead of as
	                             * the step's groups are */
	bool has_own_striping;
	int split;             /* number of jobs of a node that is all on chip (tiling.can_split); negative: of ranges of
	                        * channels */
	int w_slots;           /* number of slots in which the weights come of a node that is otherwise all on chip;
	                        * 0: tiling.c chooses */
	bool turns;            /* of a node on the array: at the post unit its rows take turns with those of the vector engine */
	bool x_resident, r_resident, y_resident;   /* these operands are resident; r_resident also if there is no r */
	int behind;            /* how many nodes of the step come after this one */
	bool only_loads;       /* choose as if loads were all that counts, for the network as a whole */
};

/*
 * The jobs into which a node is cut: each is one tile of th x tw pixels and tc
 * channels. They run pixels outermost, or channels outermost (by_channel).
 *
 * Weights come in one of three ways: all of them stay (all_weights), brought by
 * loads of `piece` tiles each; a part of one tile's sum at a time (split_k); or the
 * tc channels of a job in one of n_w slots.
 */
struct tiling {
	int64_t th, tw, tc;    /* rows, columns and channels of a job */
	bool by_channel;       /* jobs run channels outermost */
	int slots;             /* slots of each operand: 2, or 1 if only that fits, and nothing then overlaps */
	bool one_input;        /* the input has one slot, though other operands have two: it is loaded once the work on the tile
	                        * before is done */
	bool all_weights;      /* all weights stay on chip */
	bool split_k;          /* jobs of one column tile, or two if they are paired, and at most one group of pixels; weights in
	                        * parts of kq chunks */
	int64_t kq;            /* split_k: chunks of one part */
	int64_t piece;         /* all_weights: column tiles of one load, at most */
	bool own_recs;         /* all_weights: records come with their piece's weights; else all with the first piece */
	int64_t w_recs[PIECE_AREAS];   /* all_weights, not own_recs: bytes of records before the weights of each area */
	bool can_split;        /* all on chip: the node may be cut into any number of jobs */
	int n_in, n_r, n_out, n_w;     /* slots of input, second operand, output and weights; all_weights: areas of pieces,
	                                * which are filled in turn */
	int64_t in_bytes, r_bytes, out_bytes, w_bytes;   /* bytes of one slot of each */
	int64_t piece_bytes[PIECE_AREAS];   /* all_weights in several loads: bytes of each area */
	int in[MAX_SLOTS], r[MAX_SLOTS], out[MAX_SLOTS], w[MAX_W_SLOTS];   /* areas of the slots */
	int64_t nest_n[NEST_DIMS];     /* loop nests: sizes of a piece. Of the slots only n_in, in_bytes and in are used then,
	                                * each for all operands together */
	int64_t cost;          /* cycles that plan_node() expects */
};

/* How one node uses the scratchpad. */
struct plan {
	struct plan_request req;
	int group;             /* 1 + the stripe group that the node is in, 0: none; of a node in a group, only what `tile`
	                        * says of weights counts */
	int x_storage, r_storage, z_storage, y_storage;   /* storages of x, r (-1: none), z (-1: none) and y */
	struct tiling tile;
};

/* Parameters of one way to place a whole step. */
struct placement_params {
	int64_t largest;       /* storages of at most so many bytes may be resident */
	struct striping stripes;      /* how groups without their own striping are formed */
	bool in_place;         /* results may take the place of their second operands */
	int neighbours;        /* how much it counts that areas of consecutive nodes share a region, in quarters of what it
	                        * counts for areas of one node */
	bool halves_apart;     /* the halves of a tensor should lie in two regions, where that costs nothing else */
	bool only_loads;       /* choose tiles as if loads were all that counts */
	bool few_early;        /* where there are too many areas to find how early each of the weights may come, all come a few
	                        * nodes early; else none comes early there */
};

/* One NPU step while it is planned: the nodes that will run in one command stream. */
struct npu_step {
	struct cc *cc;
	int first_item, n;     /* its nodes are items first_item ... +n */
	int step;              /* its number in the program */
	int threads;           /* how many threads may evaluate candidates */
	struct storage *storage; int n_storages;
	struct plan *plan;     /* one for each node */
	struct area *area;     uint32_t n_area, cap_area;
	struct group *group;   uint32_t n_group, cap_group;
	int64_t *work;         /* work[i]: rough cycles of all nodes before node i; n + 2 entries */
	int64_t *used;         /* used[i]: bytes of residents during node i */
	struct placement_params params;   /* parameters of the last placement */
	int64_t fast_limit;    /* cycles with fast memory beyond so many count several times (step_measure()); 0: no limit */
	bool placed;           /* everything has its place for good. Before that, commands of the vector engine do not go ahead of
	                        * others (order_vector()): if they did, EfficientNetB0 and MobileNetV3Small would end up 0.3 to 4 %
	                        * slower, ResNet50V2 0.5 % faster. Nor are nodes cut along channels, and no pixel is a range of
	                        * its own (cmd.by_pixel): with such ranges from the beginning, MobileNetV2 would end up 0.8 %
	                        * slower in ddr and 1.3 % in sram */
	bool overlap;          /* writes of the array wait for nothing of its own unit */
	bool may_slice;        /* moves may form slice groups */
	bool urgent;           /* loads that are needed sooner go ahead of others that could begin (order_loads()) */
	bool known_order;      /* cycles are estimated for the stream in its order, not for each unit for itself */
	struct cmds cmds;      /* commands of the last emission */
	struct hazards *hazards;      /* who touched which bytes in the last emission */
	struct cached_tiles *tile_cache;   /* placement.c: tilings that nodes got before, or NULL */
};

/* The last node that touches the bytes of a resident storage, including storages that replace it there. */
int storage_last(const struct npu_step *s, int storage);

static inline struct node *step_node(const struct npu_step *s, int i)
{
	return &s->cc->nodes[s->cc->items[s->first_item + i].index];
}

/* The numbers lo ... lo + n - 1. */
struct span { int64_t lo, n; };

/* [lo, hi) clipped to [0, limit); at least one element of it, even where nothing is left. */
static inline struct span span_clip(int64_t lo, int64_t hi, int64_t limit)
{
	lo = max64(min64(lo, limit - 1), 0);
	hi = max64(min64(hi, limit), lo + 1);
	return (struct span){ lo, hi - lo };
}

/* Returns whether the node runs on the array. Otherwise it runs on the vector engine. */
static inline bool on_array(const struct node *nd)
{
	return nd->kind == NODE_CONV || nd->kind == NODE_DWCONV;
}

/* Input rows that output rows [oy, +n) read, clipped to the image. */
static inline struct span input_rows(const struct node *nd, int64_t oy, int64_t n)
{
	int64_t lo = oy * nd->win.sy - nd->win.pt;

	return span_clip(lo, lo + (n - 1) * nd->win.sy + (int64_t)(nd->win.kh - 1) * nd->win.dy + 1, nd->x.dim[1]);
}

/* Input columns that output columns [ox, +n) read, clipped to the image. */
static inline struct span input_cols(const struct node *nd, int64_t ox, int64_t n)
{
	int64_t lo = ox * nd->win.sx - nd->win.pl;

	return span_clip(lo, lo + (n - 1) * nd->win.sx + (int64_t)(nd->win.kw - 1) * nd->win.dx + 1, nd->x.dim[2]);
}

/* Returns whether the node treats channels apart, so that a tile of channels reads only its own. */
static inline bool channelwise(const struct node *nd)
{
	return nd->kind == NODE_DW || nd->kind == NODE_POOL || nd->kind == NODE_ELT;
}

/* Returns whether the second operand is the same for all pixels of an image. */
static inline WEFT_MUST_USE bool second_still(const struct node *nd)
{
	return by_table(nd) || (nd->kind == NODE_ELT && !nd->r.step[1] && !nd->r.step[2]);
}

/* Channels of the second operand that a job of cn channels takes. */
static inline int64_t second_channels(const struct node *nd, int64_t cn)
{
	return by_table(nd) ? nd->r.dim[3] : cn;
}

/* ---- tiling.c ---- */

/* The most columns of the result (rows, if the node's commands have both exchanged) that one depthwise command can make:
 * its line buffer bounds them. */
int64_t dw_width(const struct cc *cc, const struct node *nd);

/*
 * Cycles that the array or the vector engine needs for the whole node at least, without loads and stores; roughly
 * for the vector engine, and for a loop nest as if each lane made an element a cycle.
 */
int64_t node_work(const struct cc *cc, const struct node *nd);

/* Set p->tile to the tiling that should take the fewest cycles within `budget` bytes, as p->req asks. Returns 0, or
 * -ERANGE: none fits. */
WEFT_MUST_USE int plan_node(const struct cc *cc, const struct node *nd, struct plan *p, int64_t budget);

/* Cut a node that is all on chip (tile.can_split) into about k jobs, so that the nodes before and behind it in the step can overlap
 * with it; if k is negative, into about -k ranges of channels. Other nodes are left alone. */
void plan_split(const struct cc *cc, const struct node *nd, struct plan *p, int64_t k);

/* tiling.all_weights: one load of weights. */
struct piece {
	int64_t first, n;      /* its column tiles */
	int slot;              /* the area that it goes to */
	int64_t before;        /* tiles before it in that area */
};

/* The piece that brings column tile t. */
struct piece plan_piece(const struct plan *p, const struct node *nd, int64_t t);

/* emit/emit_loop_nest.c: choose the size of the pieces into which a loop nest is cut, so that their operands that are not
 * resident fit `budget` bytes. Returns 0, or -ERANGE: not even the smallest piece fits. */
WEFT_MUST_USE int plan_loop_nest(const struct npu_step *s, const struct node *nd, struct plan *p, int64_t budget);

/* ---- scratchpad.c ---- */

/* An attempt to give all areas of a step addresses, the largest first. */
struct alloc;
struct alloc *alloc_new(struct npu_step *s);   /* NULL: no memory */
void alloc_free(struct alloc *al);

/*
 * Give all areas but the first `from` in the order of size an address. Those of at most
 * `compact` bytes share as few regions as there is room for with areas that the same nodes
 * use; larger ones are packed at the lowest address. Returns -1 if all have an address, else
 * the number of the area for which there was no room.
 */
int alloc_areas(struct alloc *al, int from, int64_t compact);

/* The area's rank when all areas are sorted by size, the largest first. */
int alloc_rank(const struct alloc *al, int area);

/* ---- stripes.c ---- */

/* Form the step's stripe groups anew among the nodes whose results do not stay on chip; `how` holds for nodes without a
 * striping of their own. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int step_find_groups(struct npu_step *s, const struct striping *how);

/* Returns whether striping.pack can make a difference to nodes first ... of the step, n of them: one of them reads or
 * writes only some channels of each pixel of a storage. */
bool step_can_pack(const struct npu_step *s, int first, int n);

/* ---- slices.c ---- */

/* How many nodes from node i on, at most `most`, a slice group can have, wherever its tensors lie; 0 if none can begin
 * there. */
int slices_extent(const struct npu_step *s, int i, int most);

/* The channels of a slice if node i's result is cut into so many slices: whole words. */
int64_t slice_channels(const struct npu_step *s, int i, int slices);

/* Find rings for slice group *g, whose nodes and striping are set. Returns whether it works out. */
WEFT_MUST_USE bool plan_slices(struct npu_step *s, struct group *g);

/* The slots in which the weights of node k of group g come: how many, and the bytes of one; 0 and 0 without weights. */
struct weight_slots { int64_t n, bytes; };
struct weight_slots group_slots(const struct npu_step *s, const struct group *g, int k);

/* Bytes of the residents that occupy the scratchpad while the group runs (stripes.c). */
int64_t group_residents(const struct npu_step *s, const struct group *g);

/* Bytes of rings and weights of the group (stripes.c). */
int64_t group_bytes(const struct npu_step *s, const struct group *g);

/* Returns whether the view is all of the storage: one image, dense from its first byte (stripes.c). */
bool view_is_storage(const struct npu_step *s, const struct view *v, int storage);

/* ---- stripe_walk.c ---- */

/* Call w for every load and every stripe of every node, in the order of execution. Returns 0, or the first other result
 * of a call, which ends the walk. */
WEFT_MUST_USE int group_walk(struct npu_step *s, struct group *g, struct group_walker *w);

/* Returns the row of node k's ring that is row y of its result. */
static inline int64_t ring_row(const struct group *g, int k, int64_t y)
{
	return y * g->times[k] + g->phase[k];
}

/* The number of the group's stripes. */
int64_t group_stripes(const struct npu_step *s, const struct group *g);

/* The fewest rows of a node that fill whole groups of pixels; 1 if striping.full does not ask for that, or if it
 * would take more than 8. */
int64_t group_grain(const struct npu_step *s, const struct group *g, const struct node *nd);

/* What a walk looks up of a group whose rings are listed; group.step may still change. Sets of nodes are bits. */
struct group_deps {
	const struct npu_step *s;
	struct group *g;
	const struct node *nd[GROUP_NODES];
	int64_t height[GROUP_NODES], grain[GROUP_NODES];   /* rows of each node's result, and group_grain() */
	uint32_t x_from[GROUP_NODES], r_from[GROUP_NODES]; /* earlier nodes of the group that write each node's x and r */
	uint32_t x_to[MAX_RINGS], r_to[MAX_RINGS];   /* nodes that read each ring as their x, as their r */
};
void group_deps_open(struct group_deps *c, const struct npu_step *s, struct group *g);

/* Walk the group and set how many rows each ring must hold. Returns false if that would take more than `room` bytes. */
WEFT_MUST_USE bool group_deps_measure(const struct group_deps *c, int64_t room);

/* ---- placement.c ---- */

/* List the storages of a step and find the best plan for it. Returns 0 or a negative errno; with -ERANGE, cc->bad_node is
 * a node that cannot be placed. */
WEFT_MUST_USE int step_place(struct npu_step *s);

struct memo_client;

/*
 * Place a step with these parameters: residents, stripe groups, tiles, addresses.
 *
 * @param r  NULL, or this thread's access to the memo of outcomes.
 * @return 0: the step is placed; 1 (only with r): this placement has been evaluated before, and r->o says what came of
 *         it; -ENOSPC: no room for it; -ERANGE: a node, cc->bad_node, has no tile that fits; -ENOMEM
 */
WEFT_MUST_USE int place_with(struct npu_step *s, const struct placement_params *t, struct memo_client *r);

/* Free what a step owns, not the step itself. */
void step_clear(struct npu_step *s);

/* ---- emit/ ---- */

/* emit.c: emit the commands of the plan into s->cmds, in a valid order and with their waits. Returns 0, -ENOMEM, -ERANGE
 * with cc->bad_node and cc->bad_why, or -E2BIG: more commands than one stream can count. After a failure s->cmds is of no
 * use. */
WEFT_MUST_USE int step_emit(struct npu_step *s);

/* emit_weights.c: rearrange the constants of nodes whose records come with their weights (tiling.own_recs), so that they
 * lie side by side; to be called once, after the last emission. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int step_pack_weights(struct npu_step *s);

/* load_order.c: move the emitted loads into the order in which they can begin and are needed. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int order_loads(struct npu_step *s);

/* load_order.c: make room in cmds.spare for all commands. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int cmds_spare(struct cmds *c);

/* load_order.c: exchange the commands with the spare ones. */
void cmds_exchange(struct cmds *c);

/* load_order.c: find all waits of the step's commands anew from the bytes that they touch. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int hazards_again(struct npu_step *s);

/* vector_order.c: let commands of the vector engine that can begin go ahead of others that cannot, if the step should then
 * end sooner. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int order_vector(struct npu_step *s);

/* hazards.c: for every byte of scratchpad and arena, which command last wrote it and which have since read it. */
struct hazards;
struct hazards *hazards_new(void);             /* NULL: no memory */
void hazards_clear(struct hazards *h, bool overlap);   /* overlap: writes of the array wait for nothing of its own */
void hazards_free(struct hazards *h);

/* Note the accesses of command c, which is number unit_index (from 0) among its unit's, and set what it waits for. Returns
 * 0 or -ENOMEM. */
WEFT_MUST_USE int hazards_add(struct hazards *h, struct cmd *c, uint32_t unit_index);

/* The counts of loads whose bytes each command touches; cmd.first_load and n_loads are its range. A command with n_read
 * waits for other loads as well. */
const uint32_t *hazards_loads(const struct hazards *h);

/* schedule.c: set *fast and *slow to the cycles that the emitted commands should take with fast and with slow memory.
 * Returns 0 or -ENOMEM. */
WEFT_MUST_USE int step_cycles(const struct npu_step *s, uint64_t *fast, uint64_t *slow);

/* schedule.c: interleave the units' commands, encode them and append the stream, with END and debug records, to the
 * program; set the estimated cycles of the step and its nodes. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int step_schedule(struct npu_step *s);

/* ---- estimate/simulate.c ---- */

/*
 * Simulate the emitted commands.
 *
 * @param order        the stream's order, or NULL: every unit for itself
 * @param[out] start   cycle in which each command begins
 * @param[out] end     cycle in which it retires
 * @param[out] total   cycle in which all is done
 * @return 0 or -ENOMEM
 */
WEFT_MUST_USE int simulate(const struct npu_step *s, const uint32_t *order, bool slow_memory, uint64_t *start, uint64_t *end, uint64_t *total);

/* ---- search/ ---- */

/* What came of a candidate. */
struct outcome {
	bool no_room;          /* its areas did not fit; the other fields then say nothing */
	int err;               /* 0, or the negative errno with which placing or emitting it failed */
	int64_t cycles;        /* estimate, a sum for fast and slow memory (step_measure()); INT64_MAX: it cannot be
	                        * expressed */
	int64_t emitted;       /* commands that were emitted for it; -1: none */
	bool fits;             /* nothing passes through memory because it does not fit */
};

/* search.c: find the fastest placement, and place the step so. Returns 0, -ENOSPC: no placement has room; -ERANGE:
 * cc->bad_node has no tile that fits; or -ENOMEM. */
WEFT_MUST_USE int place_best(struct npu_step *s);

/* critical_path.c: set cycles[i] for each node i of the step to its cycles on the critical path of the emitted commands,
 * without the work of the engine that has most to do, with fast and with slow memory together. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int step_critical_cycles(const struct npu_step *s, int64_t *cycles);

/* tile_search.c: choose the splits of all nodes by a search that emits at most `most` commands in all, then emit the best
 * plan. Returns 0 or a negative errno, as step_emit() does. */
WEFT_MUST_USE int step_search_splits(struct npu_step *s, int64_t most);

/* tile_search.c: emit the plan as it stands, each node cut into as many jobs as its request asks for. Returns 0 or a
 * negative errno, as step_emit() does. */
WEFT_MUST_USE int step_emit_split(struct npu_step *s);

/* tile_search.c: do what step_emit_split() does and estimate the plan: sets o->cycles, o->emitted and o->err. */
void step_measure(struct npu_step *s, struct outcome *o);

/*
 * moves.c: one small change to what is asked of a plan. It is one of these:
 * - split not 0: node `node` is cut into `split` jobs (negative: ranges of channels), and if `next` is not 0, the node
 *   behind it into `next` jobs;
 * - else turns not 0: rows of `node` take turns with those of the vector engine (1), or do not (-1);
 * - else slots >= 0: the weights of `node` get so many slots;
 * - else node >= 0: a group that begins at `node` has the striping `how` (own), or the
 *   step's again (not own);
 * - storage >= 0, with node -1: that storage gets the residency hint `hint`.
 */
struct move { int node; struct striping how; bool own; int split, next, turns, slots, storage, hint; };
#define MAX_MOVES 64
/* Returns whether move c does not change where anything lies, so that the step need only be emitted again. */
static inline bool move_only_emits(const struct move *c)
{
	return c->split || c->turns;
}
/* Make move c: change what is asked of the plan. The step must then be placed again, or only emitted again (move_only_emits()). */
void move_apply(struct npu_step *s, const struct move *c);
/* The move that would undo move c, if c were made now. */
struct move move_undo(const struct npu_step *s, const struct move *c);

/* List the moves at this node in c[], at most `most`. Even tiers change placements (0: those that help most often; 2: the
 * others), odd ones are splits. Returns how many were listed. */
int list_moves(const struct npu_step *s, int node, int tier, struct move *c, int most);

/* List in c[] at most `most` moves that cut the node in another way than now; tier 1: and the next node as well. Returns
 * how many were listed. */
int list_splits(const struct npu_step *s, int node, int tier, struct move *c, int most);

/* List in c[] at most `most` moves that give the node's weights another number of slots, near the one that they have; there is
 * one tier. Returns how many were listed. */
int list_slot_numbers(const struct npu_step *s, int node, int tier, struct move *c, int most);

/* List in c[], if `most` is not 0, the move that changes whether the node takes turns with the vector engine; there is one
 * tier. Returns how many were listed. */
int list_turns(const struct npu_step *s, int node, int tier, struct move *c, int most);

/* A function that lists moves in c[], as list_moves(), list_splits(), list_slot_numbers() and list_turns() do. */
typedef int (*list_fn)(const struct npu_step *s, int node, int tier, struct move *c, int most);

/* thread_pool.c: a step (step[0]), and copies of it on which other threads evaluate candidates; n in all. */
#define MAX_THREADS 8
struct replicas { struct npu_step *step[MAX_THREADS]; int n; };
WEFT_MUST_USE int replicas_open(struct replicas *w, struct npu_step *s);   /* 0 or -ENOMEM; replicas_close() in any case */
void replicas_close(struct replicas *w);

/*
 * thread_pool.c: evaluations in several threads. They are begun in the order in which
 * they are pushed, and taken in that order, too. fn(user, worker, slot) makes the one
 * whose parameters the caller has put into slot number `slot`.
 */
#define POOL_SLOTS 32
struct pool;
struct pool *pool_open(int threads, void (*fn)(void *user, int worker, int slot), void *user);   /* NULL: no memory */
void pool_close(struct pool *q);
int pool_slot(const struct pool *q);     /* the slot for the next evaluation; -1: enough are under way */
void pool_push(struct pool *q);          /* that slot is filled */
int pool_take(struct pool *q);           /* the slot of the oldest one left, once it is made; -1: none is left */
void pool_drop(struct pool *q);          /* forget all that are left; none is being made after that */

/* memo.c: outcomes of placements, by all that decides them. Threads share it. */
struct memo_key { uint8_t *v; uint32_t n, cap; };
struct memo;
struct memo *memo_new(void);                      /* NULL: no memory */
void memo_free(struct memo *m);
WEFT_MUST_USE int memo_put(struct memo_key *k, int64_t v);      /* append a number to the key; 0 or -ENOMEM */
/* Make *k the key of a step whose residents and groups are chosen. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int memo_key_of(struct memo_key *k, const struct npu_step *s);
/* Copy the outcome that was remembered with this key to *o. false: there is none. */
bool memo_find(struct memo *m, const struct memo_key *k, struct outcome *o);
/* Remember outcome *o with a copy of this key. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int memo_add(struct memo *m, const struct memo_key *k, const struct outcome *o);
/* One thread's use of a memo: key and outcome of its last placement. */
struct memo_client { struct memo *all; struct memo_key key; struct outcome o; };

/*
 * How many commands climbs may emit: `most`, and up to `limit` for as long as it pays. Commands are counted in stretches;
 * it pays if the last whole stretch made the plan faster by at least one part in BUDGET_WORTH (hill_climb.c).
 */
struct budget {
	int64_t emitted;       /* commands emitted so far, in all climbs */
	int64_t most, limit;
	int64_t stretch;       /* commands of a stretch */
	int64_t check;         /* the stretch at hand ends when so many have been emitted; 0: none has begun */
	int64_t mark;          /* cycles of the best plan when it began */
	bool pays;             /* the last whole stretch did */
};

/* Returns how many commands may be emitted in all, as far as is known. */
static inline int64_t budget_of(const struct budget *b)
{
	return b->pays ? b->limit : b->most;
}

/* hill_climb.c: moves one after another; what makes the whole faster stays. */
struct climb {
	struct replicas *replicas;
	list_fn list;          /* lists the moves that are tried */
	int tiers;             /* of list */
	bool again;            /* where one move helped, try others on top of it at once */
	int (*emit_best)(void *user);    /* place and emit the best plan on the first replica; 0 or a negative errno */
	void (*measure)(void *user, int worker, const struct move *c, struct outcome *o);   /* set *o to what comes of this
	                        * worker's replica, on which move c has been made */
	void *user;            /* handed to both */
	int64_t cycles;        /* of the best plan so far */
	struct budget *budget; /* commands that it may emit; its own are counted there */
};

/* Make moves that help until none does or the commands are used up. Returns 0 or a negative errno. */
WEFT_MUST_USE int climb(struct climb *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one NPU step uses the scratchpad: which storages stay there, how each
 * node is cut into jobs, and where everything lies.
 */
#ifndef WEFT_COMPILE_PLAN_H
#define WEFT_COMPILE_PLAN_H

#include "ir.h"

/* A piece of the scratchpad during nodes t0..t1 of the step. */
struct area {
	int64_t bytes, addr;
	int t0, t1;            /* occupied */
	int use0, use1;        /* nodes that access it */
	bool weights;          /* may be filled ahead: t0 moves down where there is room */
};

/* The storage of one root tensor, as this step sees it. */
struct stor {
	int root;
	int64_t bytes;
	int first, last;       /* nodes that touch it */
	bool ext_in, ext_out;  /* comes from memory; is needed in memory afterwards */
	bool resident;
	bool loaded;           /* emit.c: its load is out */
	int area;              /* resident */
};

#define MAX_SLOTS 4

/*
 * Output tiles of one node. A job is one tile of th x tw pixels and tc
 * channels. Jobs run pixels outermost, or channels outermost (by_channel).
 */
struct plan {
	int sx, sr, sy;        /* storages of x, r (-1), y */
	bool xr, rr, yr;       /* resident */
	int64_t th, tw, tc;
	bool by_channel;
	bool all_weights;      /* records and weights of the node in one area; else slots of tc channels */
	bool split_k;          /* jobs of one column tile and at most n pixels, weights in parts of kq chunks */
	int64_t kq;
	int64_t piece;         /* all_weights: tiles of one load */
	bool can_split;        /* all on chip: jobs may be as small as one likes */
	int n_in, n_r, n_out, n_w;
	int64_t in_bytes, r_bytes, out_bytes, w_bytes;   /* one slot */
	int64_t w1_bytes;      /* all_weights in several loads: odd loads go to a second area, so that one
	                        * is read while the other is filled; records lie before the even ones */
	int in[MAX_SLOTS], r[MAX_SLOTS], out[MAX_SLOTS], w[MAX_SLOTS];   /* areas */
	int64_t cost;
};

struct seg {
	struct cc *cc;
	int first_item, n;     /* its nodes are items first_item ... +n */
	struct stor *stor;     int n_stor;
	struct plan *plan;     /* one per node */
	struct area *area;     uint32_t n_area, cap_area;
	struct cmds cmds;
	int step;              /* in the program */
};

struct node *seg_node(const struct seg *s, int i);

/* Input rows and columns that output rows/columns [o, o+n) read, clipped to the image. */
struct span { int64_t lo, n; };
struct span input_rows(const struct node *nd, int64_t oy, int64_t n);
struct span input_cols(const struct node *nd, int64_t ox, int64_t n);

/* Does the node treat channels apart, so that a tile of them reads only its own? */
static inline bool channelwise(const struct node *nd)
{
	return nd->kind == NODE_DW || nd->kind == NODE_POOL || nd->kind == NODE_ELT;
}

/* tile.c: cheapest tiles within budget bytes. 0 or -ERANGE */
int plan_node(const struct cc *cc, const struct node *nd, struct plan *p, int64_t budget);

/* Cut a node that is all on chip into about k jobs, so that its neighbours can start earlier. */
void plan_split(const struct cc *cc, const struct node *nd, struct plan *p, int64_t k);

/* alloc.c: addresses for all areas. 0, -ENOSPC, -ENOMEM */
int alloc_areas(struct seg *s, int64_t sp_bytes, int64_t align);

/* place.c: residency, plans, areas. 0 or negative errno; -ERANGE with cc->bad_node */
int seg_place(struct seg *s);

/* emit.c: commands in a valid order, waits filled in. -E2BIG: too many for one stream */
int seg_emit(struct seg *s);

/* hazard.c: who last wrote and read which bytes */
struct hazards;
struct hazards *hazards_new(void);
void hazards_free(struct hazards *h);
/* Account for command c, the unit_index-th of its unit; raises its waits. 0 or -ENOMEM */
int hazards_add(struct hazards *h, struct cmd *c, uint32_t unit_index);

/* tune.c: choose the splits of all nodes, then emit */
int seg_tune(struct seg *s);

/* simulate.c: start and retirement of every command, and when all is done. 0 or -ENOMEM */
int simulate(const struct cmds *c, uint64_t *start, uint64_t *end, uint64_t *total);

/* sched.c: cycles that the emitted commands should take; -1: out of memory */
int64_t seg_cycles(const struct seg *s);
/* Interleave the units and append the stream to the program. */
int seg_sched(struct seg *s);

void seg_clear(struct seg *s);

#endif

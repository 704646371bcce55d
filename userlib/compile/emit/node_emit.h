/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of emitting one node, shared by the files that emit its jobs
 * (emit_jobs.c), its weights (emit_weights.c) and stripes of several nodes
 * (emit_stripes.c).
 */
#ifndef WEFT_COMPILE_NODE_EMIT_H
#define WEFT_COMPILE_NODE_EMIT_H

#include "emit.h"

/*
 * What lies in a node's slots of one kind, so that a job does not load again what
 * is there already. key[i] is 1 + the key of what slot i holds, 0 if it is empty.
 * Slots are filled in turn: slot `next` is the next one to be overwritten.
 */
struct slot_cache { int64_t key[MAX_W_SLOTS]; int next; };

struct node_emit {
	struct emit *e;        /* the state of the step */
	const struct node *nd; /* the node, */
	const struct plan *p;  /* and its plan */
	struct slot_cache in, w;   /* slots of the input and of the weights */
	int next_r, next_out;  /* slots that the next job takes for its second operand and its output */
	int64_t parts;         /* number of loads that brought the input of the job at hand; 1 once the
	                        * job has been cut accordingly */
	int64_t loaded;        /* plan.all_weights: column tiles whose weights have been loaded */
	int64_t stored;        /* first channel of the job at hand whose results have not been stored yet */
};

/* Make m's node the node at hand of m->e. Call this before commands of the node are emitted. */
static inline void begin_node(struct node_emit *m)
{
	m->e->node = (int)(m->nd - m->e->s->cc->nodes);
	m->e->turns = m->p->req.turns;
}

/* The slot for `key` among the first n. *fresh says whether the caller must fill it, because it held something else. */
int slot_cache_find(struct slot_cache *c, int n, int64_t key, bool *fresh);

/* Scratchpad address of an area of the step. */
int64_t emit_area_addr(const struct npu_step *s, int area);

/* A box of a tensor: of image n the pixels rows x cols, channels [c, +cn). */
struct box { int64_t n; struct span rows, cols; int64_t c, cn; };

/* Where box b of view v lies if the view's storage is resident as a whole. */
struct operand resident_operand(const struct npu_step *s, int storage, const struct view *v, const struct box *b);

/* Where box b of view v lies if it is packed densely into a slot at addr. */
struct operand slot_operand(int64_t addr, const struct view *v, const struct box *b);

/* Emit the load, or with `store` the store, of box b of view v between its place in memory and o. This function and all
 * below that emit commands return 0 or a negative errno, as emit_done() does. */
WEFT_MUST_USE int emit_copy_box(struct emit *e, bool store, const struct view *v, const struct box *b, const struct operand *o);

/* Load the node's resident operands that come from memory, each as a whole, before their first use; nothing of those that
 * have been loaded. */
WEFT_MUST_USE int node_load_residents(struct node_emit *m);

/* emit_weights.c */

/* Load records and weights of column tiles [tile, +n) to scratchpad address addr, records first. */
WEFT_MUST_USE int weights_load_slot(struct node_emit *m, int64_t addr, int64_t tile, int64_t n);

/* plan.split_k: load the weights of column tiles [tile, +n), which the array computes at a time, that a part of their sums
 * needs, behind room for the tiles' records; with the last part the records, too. */
WEFT_MUST_USE int weights_load_part(struct node_emit *m, int64_t addr, int64_t tile, int64_t n, const struct k_part *k);

/* plan.all_weights: load pieces until the weights of all column tiles before `need` are there. */
WEFT_MUST_USE int weights_load_up_to(struct node_emit *m, int64_t need);

/* plan.all_weights: scratchpad addresses of the weights and of the records of column tile t, which piece k brings. */
int64_t weights_tile_addr(const struct node_emit *m, const struct piece *k, int64_t t);
int64_t weights_rec_addr(const struct node_emit *m, const struct piece *k, int64_t t);

/* emit_jobs.c */

/* Emit all jobs of a node that is not a loop nest and in no stripe group. */
WEFT_MUST_USE int emit_node_jobs(struct node_emit *m);

/* Emit the compute commands of one job. w: its weights, or NULL if the node has none. */
WEFT_MUST_USE int node_compute(struct node_emit *m, const struct job *j, const struct weights *w);

/* plan.all_weights: the same, piece after piece of the weights, each loaded right before it is needed. */
WEFT_MUST_USE int node_compute_pieces(struct node_emit *m, const struct job *j);

/* The same with the job's weights in a slot, which is loaded first if it holds other channels. */
WEFT_MUST_USE int node_compute_slot(struct node_emit *m, const struct job *j);

/* emit_stripes.c: set m[] for the nodes of a stripe or slice group, and load what they need from the beginning on. */
WEFT_MUST_USE int group_start(struct emit *e, const struct group *g, struct node_emit *m);

/* emit_stripes.c, emit_slices.c: emit all nodes of a stripe group, of a slice group. */
WEFT_MUST_USE int emit_stripes(struct emit *e, struct group *g);
WEFT_MUST_USE int emit_slices(struct emit *e, struct group *g);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that turn jobs into commands. */
#ifndef WEFT_COMPILE_EMIT_H
#define WEFT_COMPILE_EMIT_H

#include "userlib/compile/plan/plan.h"

#define SP_MASK ((1 << WEFT_SP_ADDR_BITS) - 1)

/* A box of a tensor in the scratchpad, of one image. */
struct operand {
	int64_t addr;          /* of (rows.lo, cols.lo) and the job's first channel */
	int64_t ys, xs;        /* bytes from row to row, pixel to pixel */
	int64_t elem;          /* bytes of an element */
	struct span rows, cols;
};

/* One output tile: pixels [oy,+oh) x [ox,+ow), channels [c,+cn) of batch n. */
struct job {
	int64_t n, oy, oh, ox, ow, c, cn;
	struct operand x, r, y;
};

/* Weights at hand: addresses of the weights and of the records of column tiles or blocks [tile, +n_tiles). */
struct weights { int64_t w, rec; int64_t tile, n_tiles; };

/* The state of emitting a step. */
struct emit {
	struct npu_step *s;
	struct hazards *h;
	struct weft_cmd fresh[WEFT_N_CMDS];   /* as weft_cmd_init() leaves them */
	uint32_t n_unit[WEFT_N_UNITS];   /* commands of each unit so far */
	int node;              /* the node at hand, index in cc->nodes */
};

/* A new command for the node at hand; NULL without memory. It counts once emit_done() is called. */
struct cmd *emit_new(struct emit *e, unsigned op);
/* Note that the command reads or writes bytes [lo, hi). */
void emit_access(struct cmd *c, enum space space, bool write, int64_t lo, int64_t hi);
/* n ranges of bytes, `step` apart, the first of which is [lo, hi). */
struct ranges { int64_t lo, hi, n, step; };
/* The same for several ranges. */
void emit_access_rows(struct cmd *c, enum space space, bool write, struct ranges r);
/* Share out `count` accesses at a port among those of c, from number `first` on, that have no count yet. */
void emit_traffic(struct cmd *c, int first, enum port port, int64_t count, enum banks banks);
/* How accesses of so many bytes take banks if the largest power of two in all their addresses is that in `addresses`. */
enum banks emit_across(const struct cc *cc, int64_t addresses, int64_t bytes);
/* How reads of pixels of o take banks; how writes of n_ch channels of them do. */
enum banks emit_read_banks(const struct cc *cc, const struct operand *o);
enum banks emit_write_banks(const struct cc *cc, const struct operand *o, int64_t n_ch);
/* Passes of the post unit for each row. */
int64_t emit_passes(const struct node *nd);
/* Cycles in which an engine reads `count` elements side by side of o. */
int64_t emit_reads(const struct cc *cc, const struct operand *o, int64_t count);
/* Note that the command reads or writes channels [ch, +n_ch) of the job's pixels in o. */
void emit_rows(struct cmd *c, bool write, const struct operand *o, const struct job *j, int64_t ch, int64_t n_ch);
/* Set the post group for channels [ch, +n_ch) of the job. */
void emit_post(struct weft_cmd_post *p, const struct node *nd, const struct job *j, int64_t ch, int64_t n_ch);
/* Add a debug record to the command. 0 or -ENOMEM */
int emit_rec(struct emit *e, struct cmd *c, const struct weft_prec *rec);
/* Add the debug record of channels [ch, +n_ch) of the job's output. 0 or -ENOMEM */
int emit_record(struct emit *e, struct cmd *c, const struct node *nd, const struct job *j, int64_t ch, int64_t n_ch);
/* The job's pixels [oy,+oh) x [ox,+ow) alone; its input stays the whole job's. */
struct job job_part(const struct job *j, int64_t oy, int64_t oh, int64_t ox, int64_t ow);
/* The command is complete: check its fields, find what it waits for. 0, -ENOMEM, -E2BIG, -ERANGE with cc->bad_node */
int emit_done(struct emit *e, struct cmd *c);

/* A copy of rows of bytes between memory and scratchpad, repeated in three dimensions, of which 0 is the innermost. */
struct dma {
	bool store;            /* to memory; else from it */
	bool int4;             /* memory has two elements in a byte; `row` then counts elements */
	int root;              /* root whose place in memory is meant; -1: the constants */
	int64_t off;           /* in that place, or in the constants */
	int64_t sp, row;       /* scratchpad address, bytes of a row */
	int64_t n[3], mem_step[3], sp_step[3];
};
/* Emit it as one command. 0 or a negative errno, as emit_done() */
int emit_dma(struct emit *e, struct dma d);

/* Emit a job of a node of each kind, whose operands lie where the job says. 0 or a negative errno, as emit_done() */
int emit_conv(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w);
/* Part of the sum of one column tile: run chunks [q, q+nq) of kernel row ky. */
struct k_part { int64_t ky, q, nq; bool last; };
int emit_conv_part(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w,
                   const struct k_part *k);
int emit_dw(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w);
int emit_pool(struct emit *e, const struct node *nd, const struct job *j);
/* Emit copies of rows of `bytes` bytes within the scratchpad. */
int emit_copy(struct emit *e, const struct operand *from, const struct operand *to, int64_t bytes);
int emit_elt(struct emit *e, const struct node *nd, const struct job *j);
int emit_loop_nest(struct emit *e, const struct node *nd, const struct plan *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that turn jobs into commands. */
#ifndef WEFT_COMPILE_EMIT_H
#define WEFT_COMPILE_EMIT_H

#include "userlib/compile/plan/plan.h"

#define SP_MASK ((1 << WEFT_SP_ADDR_BITS) - 1)

/* A box of a tensor in the scratchpad, of one image. */
struct operand {
	int64_t addr;          /* scratchpad address of pixel (rows.lo, cols.lo) and the job's first channel */
	int64_t ys, xs;        /* bytes from row to row, pixel to pixel */
	int64_t elem;          /* bytes of an element */
	struct span rows, cols;   /* rows and columns of the tensor that are there */
};

/* One output tile: pixels [oy,+oh) x [ox,+ow), channels [c,+cn) of batch n. */
struct job {
	int64_t n, oy, oh, ox, ow, c, cn;
	struct operand x, r, y;
};

/* Weights at hand: scratchpad addresses of the weights (w) and of the records (rec) of column tiles, or blocks of N
 * channels, [tile, +n_tiles). */
struct weights { int64_t w, rec; int64_t tile, n_tiles; };

/* The state of emitting a step. */
struct emit {
	struct npu_step *s;    /* the step, whose cmds grow */
	struct hazards *h;     /* the accesses of its commands so far */
	struct weft_cmd fresh[WEFT_N_CMDS];   /* as weft_cmd_init() leaves them */
	uint32_t n_unit[WEFT_N_UNITS];   /* commands of each unit so far */
	int node;              /* the node at hand, index in cc->nodes */
	bool turns;            /* value of the field `turns` in its commands on the array (plan_request.turns) */
};

/* A new command for the node at hand; NULL: no memory. It counts once emit_done() is called. */
struct cmd *emit_new(struct emit *e, unsigned op);
/* Note that the command reads or writes bytes [lo, hi). */
void emit_access(struct cmd *c, enum space space, bool write, int64_t lo, int64_t hi);
/* n ranges of bytes, `step` apart, the first of which is [lo, hi). */
struct ranges { int64_t lo, hi, n, step; };
/* Note that the command reads or writes these ranges of bytes. */
void emit_access_rows(struct cmd *c, enum space space, bool write, struct ranges r);
/* `bytes` bytes of each of rows x cols pixels of an operand, those of the first one from address lo on. */
struct block_of_pixels { int64_t lo, rows, cols, bytes; };
/* Note that the command reads or writes these bytes of operand o. */
void emit_pixels(struct cmd *c, bool write, const struct operand *o, struct block_of_pixels p);
/* Share out `count` accesses at a port of the scratchpad among those noted accesses of c, from number `first` on, that
 * have no count yet. */
void emit_traffic(struct cmd *c, int first, enum port port, int64_t count, enum banks banks);
/* How accesses of so many bytes take banks if the largest power of two that divides all their addresses is the one that
 * divides `addresses`. */
enum banks emit_across(const struct cc *cc, int64_t addresses, int64_t bytes);
/* How successive reads of a word of each pixel of o take banks; how writes of n_ch channels of each pixel do. */
enum banks emit_read_banks(const struct cc *cc, const struct operand *o);
enum banks emit_write_banks(const struct cc *cc, const struct operand *o, int64_t n_ch);
/* Cycles in which an engine reads `count` elements side by side of o. */
int64_t emit_reads(const struct cc *cc, const struct operand *o, int64_t count);
/* Note that the command reads or writes channels [ch, +n_ch) of the job's pixels in o. */
void emit_rows(struct cmd *c, bool write, const struct operand *o, const struct job *j, int64_t ch, int64_t n_ch);
/* Set the post group for channels [ch, +n_ch) of the job. */
void emit_post(struct weft_cmd_post *p, const struct node *nd, const struct job *j, int64_t ch, int64_t n_ch);
/* Add a debug record to the command. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int emit_rec(struct emit *e, struct cmd *c, const struct weft_prec *rec);
/* Add the debug record of channels [ch, +n_ch) of the job's output. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int emit_record(struct emit *e, struct cmd *c, const struct node *nd, const struct job *j, int64_t ch, int64_t n_ch);
/* The job's pixels [oy,+oh) x [ox,+ow) alone; its input stays the whole job's. */
struct job job_part(const struct job *j, int64_t oy, int64_t oh, int64_t ox, int64_t ow);
/* Complete the command: check its fields, find what it waits for, and count it. Returns 0; -ENOMEM; -E2BIG: its unit has
 * too many commands; -ERANGE: a field is out of range, and cc->bad_node is the node at hand. */
WEFT_MUST_USE int emit_done(struct emit *e, struct cmd *c);

/* A copy of rows of bytes between memory and scratchpad, repeated in three dimensions, of which 0 is the innermost. */
struct dma {
	bool store;            /* to memory; else from it */
	bool int4;             /* memory has two elements in a byte; `row` then counts elements */
	bool codable;          /* it is one row of constants, which may be coded, */
	int64_t units;         /* in so many units (lower/code_weights.c), */
	int centre;            /* its bytes less this */
	int root;              /* root whose place in memory is meant; -1: the constants */
	int64_t off;           /* bytes from the start of that place, or of the constants */
	int64_t sp, row;       /* scratchpad address; bytes of a row */
	int64_t n[3], mem_step[3], sp_step[3];   /* repeats, and bytes from one to the next in memory and scratchpad */
};
/* Emit the copy as one command. Returns 0 or a negative errno, as emit_done() does. */
WEFT_MUST_USE int emit_dma(struct emit *e, struct dma d);

/* Each emits the commands of one job of a node of its kind, whose operands lie where the job says. Returns 0 or a
 * negative errno, as emit_done() does. */
WEFT_MUST_USE int emit_conv(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w);
/* Part of the sums of the column tiles that the array computes at a time: run chunks [q, q+nq) of kernel row ky. */
struct k_part { int64_t ky, q, nq; bool last; };
WEFT_MUST_USE int emit_conv_part(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w,
                   const struct k_part *k);
WEFT_MUST_USE int emit_dw(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w);
WEFT_MUST_USE int emit_pool(struct emit *e, const struct node *nd, const struct job *j);
/* Emit commands that copy the rows of `from`, `bytes` bytes each, to `to` within the scratchpad. */
WEFT_MUST_USE int emit_copy(struct emit *e, const struct operand *from, const struct operand *to, int64_t bytes);
WEFT_MUST_USE int emit_elt(struct emit *e, const struct node *nd, const struct job *j);
WEFT_MUST_USE int emit_loop_nest(struct emit *e, const struct node *nd, const struct plan *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that turn jobs into commands. */
#ifndef WEFT_COMPILE_EMIT_H
#define WEFT_COMPILE_EMIT_H

#include "userlib/compile/plan/plan.h"

#define SP_MASK ((1 << WEFT_SP_ADDR_BITS) - 1)

/* A box of a tensor in the scratchpad. */
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

/* Weights at hand: column tiles or blocks [tile, +n_tiles). */
struct weights { int64_t w, rec; int64_t tile, n_tiles; };

struct emit {
	struct npu_step *s;
	struct hazards *h;
	struct weft_cmd fresh[WEFT_N_CMDS];   /* as weft_cmd_init() leaves them */
	uint32_t n_unit[WEFT_N_UNITS];
	int node;              /* index in cc->nodes */
};

/* New command, initialised; NULL without memory. */
struct cmd *emit_new(struct emit *e, unsigned op);
void emit_access(struct cmd *c, enum space space, bool write, int64_t lo, int64_t hi);
/* n ranges, step apart; many or touching ones become one. */
void emit_access_rows(struct cmd *c, enum space space, bool write, int64_t lo, int64_t hi, int64_t n, int64_t step);
/* The accesses of c from number `first` on that are not yet counted: so many, at that port. */
void emit_traffic(struct cmd *c, int first, enum port port, int64_t count, enum banks banks);
/* Accesses of so many bytes, whose addresses have no more in common than these bits */
enum banks emit_across(const struct cc *cc, int64_t addresses, int64_t bytes);
/* Reads of pixels of o; writes of so many channels of each. */
enum banks emit_read_banks(const struct cc *cc, const struct operand *o);
enum banks emit_write_banks(const struct cc *cc, const struct operand *o, int64_t n_ch);
/* Lane passes of the post unit for a row: float8 sums are rounded, then take their bias. */
int64_t emit_passes(const struct node *nd);
/* Cycles in which an engine reads `count` elements side by side of o: N of them at once, those of
 * two bytes only where words are aligned. */
int64_t emit_reads(const struct cc *cc, const struct operand *o, int64_t count);
/* Channels [ch, +n_ch) of the job's pixels in o. */
void emit_rows(struct cmd *c, bool write, const struct operand *o, const struct job *j, int64_t ch, int64_t n_ch);
/* The post group for channels [ch, +n_ch) of the job. */
void emit_post(struct weft_cmd_post *p, const struct node *nd, const struct job *j, int64_t ch, int64_t n_ch);
int emit_rec(struct emit *e, struct cmd *c, const struct weft_prec *rec);
/* Debug record of them. */
int emit_record(struct emit *e, struct cmd *c, const struct node *nd, const struct job *j, int64_t ch, int64_t n_ch);
/* The job's pixels [oy,+oh) x [ox,+ow) alone; its input stays the whole job's. */
struct job job_part(const struct job *j, int64_t oy, int64_t oh, int64_t ox, int64_t ow);
/* Check fields, account for hazards. */
int emit_done(struct emit *e, struct cmd *c);

/* Rows of bytes between memory and scratchpad; dimension 0 is the innermost repeat. */
struct dma {
	bool store;
	bool int4;             /* two elements a byte in memory; then row counts elements */
	int root;              /* tensor whose place in memory is meant; -1: consts */
	int64_t off;           /* in that place, or in consts */
	int64_t sp, row;
	int64_t n[3], mem_step[3], sp_step[3];
};
int emit_dma(struct emit *e, struct dma d);

int emit_conv(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w);
/* Part of the sum of one column tile: run chunks [q, q+nq) of kernel row ky. */
struct k_part { int64_t ky, q, nq; bool last; };
int emit_conv_part(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w,
                   const struct k_part *k);
int emit_dw(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w);
int emit_pool(struct emit *e, const struct node *nd, const struct job *j);
/* Rows of `bytes` bytes from one place to another, unchanged. */
int emit_copy(struct emit *e, const struct operand *from, const struct operand *to, int64_t bytes);
int emit_elt(struct emit *e, const struct node *nd, const struct job *j);
int emit_loop_nest(struct emit *e, const struct node *nd, const struct plan *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels that need not be computed. A channel (index along a tensor's last dimension)
 * is dropped if every operator that reads it can do without: because its weights for that
 * channel are zero, or because the channel is one constant, which a convolution adds to its
 * biases. The stages behind compile a graph with smaller tensors; the program is then
 * rewritten to speak of the full ones.
 */
#ifndef WEFT_COMPILE_FOLD_H
#define WEFT_COMPILE_FOLD_H

#include "userlib/compile/ir.h"

/* How an operator treats the channels of its operands. */
enum role {
	ROLE_OPAQUE,           /* in a way that nothing here knows: it needs all of them */
	ROLE_NONE,             /* it has none: a constant */
	ROLE_CONV,             /* each output channel is a sum over all input channels */
	ROLE_CHANNELWISE,      /* output channel c * m + i is made of channel c of all operands, m a depth multiplier */
	ROLE_PLACED,           /* each output channel is a channel of one operand, moved: RESHAPE, CONCAT along channels, SLICE */
};

/*
 * What is known of channels. They are numbered through: channel c of tensor t has number
 * first[t] + c. Constants have none.
 */
struct channels {
	const weft_graph *g;
	enum role *role;       /* of each operator */
	int *first;            /* n_tensors + 1 numbers */
	int *same;             /* union-find: channels that stay or go together; a root names itself */
	bool *keep;            /* of roots: the channel stays */
	bool *known;           /* the channel has the same value at all its pixels, for every input */
	int64_t *value;        /* of known channels */
};

/* The channels that are left of a tensor, in ascending order; c is NULL where all are. */
struct kept { int n; int32_t *c; };

/* A graph without the channels that need not be computed. */
struct folding {
	const weft_graph *full;
	weft_graph g;          /* the same operators and tensors, then the constants that had to be made. Names, constants and
	                        * operands that did not change are borrowed from `full` */
	struct kept *kept;     /* of each tensor of `full` */
};

static inline int64_t last_dim(const weft_tensor *t) { return t->rank ? t->dim[t->rank - 1] : 1; }
static inline int n_channels(const struct channels *ch, int t) { return ch->first[t + 1] - ch->first[t]; }
static inline const weft_tensor *operand_of(const weft_graph *g, const struct weft_gop *o, int k) { return &g->tensors[o->in[k]].t; }

/* The integer element i of a tensor in memory, and storing it; the type is an integer of 1 to 8 bytes. */
int64_t fold_get(const weft_tensor *t, int64_t i);
void fold_put(weft_tensor *t, int64_t i, int64_t v);

/* ---- roles.c ---- */

/*
 * Returns how operator o treats channels: ROLE_NONE for CONST; ROLE_OPAQUE for an operator without operands,
 * with arguments that are not constant (is_dynamic()) or with an operand or result that is not of integers;
 * else what integer_role() says of its opcode.
 */
enum role fold_role(const weft_graph *g, const struct weft_gop *o);

/*
 * Returns the channel that becomes channel c of the result of o, whose role is ROLE_PLACED, and sets *operand
 * to the operand that has it.
 */
int fold_source(const weft_graph *g, const struct weft_gop *o, int64_t c, int *operand);

/*
 * Returns how many channels of o's result each channel of its operands makes: a depthwise convolution's
 * multiplier, otherwise 1.
 */
int64_t fold_multiplier(const weft_graph *g, const struct weft_gop *o);

/*
 * Set *t to operand k of o, a constant, with only those of its elements that belong to channels that are left; t->data is
 * allocated then. `in` are the channels that are left of the first operand, `out` those of the result, of which only a
 * CONV2D's count: for other operators they follow from `in`. Returns 1; 0 if the operand does not depend on channels or
 * all of its channels are left; or -ENOMEM. With 0 and -ENOMEM nothing is allocated and *t is unchanged.
 */
WEFT_MUST_USE int fold_operand(const weft_graph *g, const struct weft_gop *o, int k, const struct kept *in, const struct kept *out, weft_tensor *t);

/* ---- known.c ---- */

/* Returns whether a channel of this value contributes the same to convolution o at every pixel, so that its biases can take it. */
bool fold_absorbs(const struct weft_gop *o, int64_t value);

/* Find the channels that have one value for every input: set known and value. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int fold_find_known(struct channels *ch);

/* ---- channels.c ---- */

/*
 * Fold the channels of graph g but those of the tensors whose entry in pinned is set, for an array of n columns. Sets
 * *f, which fold_free() frees and which borrows from g; NULL if nothing is to be folded or memory is out. Returns 0 or
 * -ENOMEM.
 */
int fold_channels(const weft_graph *g, int n, const bool *pinned, struct folding **f);
/* Free a folding; NULL is allowed. */
void fold_free(struct folding *f);

/* ---- rewrite.c ---- */

/*
 * Make f->g from f->full and f->kept: tensors with fewer channels, and operators with constants for them.
 * `ch` has the operators' roles and the values of known channels. Returns 0 or -ENOMEM; fold_free() frees in
 * each case.
 */
WEFT_MUST_USE int fold_rewrite(struct folding *f, const struct channels *ch);

/*
 * Set pinned[t] for every folded tensor that the host reads or writes now that operators have their places; other
 * entries stay. Returns whether there was one.
 */
bool fold_pin_host(const struct folding *f, const struct cc *cc, bool *pinned);

/*
 * Let a program that was compiled of f->g speak of the full graph: its graph, tensors and debug records.
 * Returns 0 or -ENOMEM.
 */
WEFT_MUST_USE int fold_restore(const struct folding *f, weft_program *p);

#endif

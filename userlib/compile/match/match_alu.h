/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that turn operators into loop nests of the alu. */
#ifndef WEFT_COMPILE_MATCH_ALU_H
#define WEFT_COMPILE_MATCH_ALU_H

#include "sim/golden/dtype.h"
#include "loop_nest.h"
#include "match.h"

/*
 * The command's type for elements of graph type t, -1 if it has none. Types that are only moved, such as
 * floats, go as integers of their size. is_unsigned chooses the unsigned one of two where t does not say.
 */
int alu_type(weft_dtype t, bool is_unsigned);

/* Operands of a nest: a tensor t of the graph, the number v, a storage that a stage has added, with elements of this
 * type of the command. The caller sets the steps. */
struct nest_operand nest_tensor(const struct cc *cc, int t, bool is_unsigned);
struct nest_operand nest_number(int32_t v);
struct nest_operand nest_storage(int root, int type);

/* Set stride[d] to the step in bytes along each dimension d of tensor t when it lies dense in row-major order. */
void nest_strides(const struct cc *cc, int t, int64_t stride[WEFT_MAX_RANK]);

/*
 * Tensor t as an operand, with the steps in bytes of its dimensions in stride: where it lies; or, if a SLICE,
 * TRANSPOSE or REVERSE that no stage has taken yet makes it and can be read through (match_alu.c, seen_through()),
 * as that part of the operator's operand, which then is the operand's `t`. The caller puts the steps into the
 * nest's dimensions.
 */
struct nest_operand nest_view(const struct cc *cc, int t, bool is_unsigned, int64_t stride[WEFT_MAX_RANK]);

/* Returns tensor t as an operand over the `rank` dimensions of a result: as a number if it is a constant of one element, otherwise
 * broadcast from where it lies. If t is made by a RESCALE that only widens int8 or int16, the narrow tensor is read, with its zero point. */
struct nest_operand nest_number_of(const struct cc *cc, int t, int rank);

/* Returns the function of the command that ADD, SUB or MUL is; -1 for other operators. */
int nest_sum_func(weft_opcode op);

/*
 * Begin in *s the nest of RESCALE i, from a signed tensor to int32, over a result of `rank` dimensions: set its function, the numbers b and c,
 * and its rounding. If a RESCALE in front of it can be read through, operand a is set as well. Otherwise the root of a is -1, and the caller
 * sets a to the RESCALE's operand. Returns false, with *s undefined, if the RESCALE has several scales, if its operand or result is unsigned,
 * or if it rounds to even and the configuration cannot.
 */
bool nest_scale(const struct cc *cc, int i, int rank, struct loop_nest *s);

/*
 * Begin nest s for all elements of tensor t, its result: sets dimensions and y, makes b and c the number 0,
 * and no axis. The caller sets func and a, and b and c if they are used.
 */
void nest_over(const struct cc *cc, struct loop_nest *s, int t);

/* Add a storage with these constant contents. Returns its number, or a negative errno. */
WEFT_MUST_USE int nest_const(struct cc *cc, const void *data, int64_t bytes);

/*
 * Add a node for operator i that executes a copy of this nest, simplified.
 *
 * @param last      The nest is the operator's last one; otherwise the next node that is added must follow this one.
 * @param recorded  It writes elements of the operator's result, which debug records describe and runs check.
 * @return 1 or -ENOMEM
 */
WEFT_MUST_USE int nest_add_node(struct cc *cc, int i, const struct loop_nest *s, bool last, bool recorded);

/* Add the nest that folds operator i's operand along the operator's axis by func, a reduction or ARGMAX; `a` has the
 * operand's elements with their steps. Returns 1 or -ENOMEM. */
WEFT_MUST_USE int nest_fold(struct cc *cc, int i, int func, struct nest_operand a);

/*
 * Returns whether o, which must be a RESCALE, goes from an unsigned input of the network, or to an unsigned
 * output, and is better left to the host, since the nodes matched so far are not all loop nests.
 */
bool alu_at_edge(const struct cc *cc, const struct weft_gop *o);

/* Match operator i if it only moves elements. Returns 1 if it was matched, 0 if not, or a negative errno. */
WEFT_MUST_USE int match_move(struct cc *cc, int i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that turn operators into loop nests of the alu. */
#ifndef WEFT_COMPILE_MATCH_ALU_H
#define WEFT_COMPILE_MATCH_ALU_H

#include "sim/golden/dtype.h"
#include "loop_nest.h"
#include "match.h"

/* The command's type, -1 where it has none. Types that are only moved go as integers of their size. */
int alu_type(weft_dtype t, bool is_unsigned);

/* Operands without steps: a graph's tensor, a number, a storage that a pass has added. */
struct nest_operand nest_tensor(const struct cc *cc, int t, bool is_unsigned);
struct nest_operand nest_number(int32_t v);
struct nest_operand nest_storage(int root, int type);

/* Steps of a dense tensor in bytes. */
void nest_strides(const struct cc *cc, int t, int64_t stride[WEFT_MAX_RANK]);

/* The tensor with the steps of its dimensions: where it lies, or as part of what SLICE, TRANSPOSE
 * and REVERSE have made it from, as far as these have no node. */
struct nest_operand nest_view(const struct cc *cc, int t, bool is_unsigned, int64_t stride[WEFT_MAX_RANK]);

/* Begin a loop nest over all of t, its result; operands b and c are numbers. */
void nest_over(const struct cc *cc, struct loop_nest *s, int t);

/* A storage with constant contents. Its number or a negative errno. */
int nest_const(struct cc *cc, const void *data, int64_t bytes);

/*
 * Loop nest of operator i as a node. All but the last one of an operator come in
 * order; recorded: it writes elements of the operator's result, which are checked.
 * 1 or a negative errno.
 */
int nest_add_node(struct cc *cc, int i, const struct loop_nest *s, bool last, bool recorded);

/* A reduction, or ARGMAX, of operator i's operand, of which a has the elements. 1 or a negative errno */
int nest_fold(struct cc *cc, int i, int func, struct nest_operand a);

/* RESCALE between unsigned and signed that is better left to the host. */
bool alu_at_edge(const struct cc *cc, const struct weft_gop *o);

/* 1 matched, 0 not (reason set), or a negative errno. */
int match_move(struct cc *cc, int i);

#endif

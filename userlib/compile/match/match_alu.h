/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that turn operators into loop nests of the alu. */
#ifndef WEFT_COMPILE_MATCH_ALU_H
#define WEFT_COMPILE_MATCH_ALU_H

#include "sim/golden/dtype.h"
#include "loop_nest.h"
#include "match.h"

/* The command's type, -1 where it has none. Types that are only moved go as integers of their size. */
int alu_type(weft_dtype t, bool is_unsigned);

/* Operands without steps: a tensor of the graph, a number, a storage that a stage has added. */
struct nest_operand nest_tensor(const struct cc *cc, int t, bool is_unsigned);
struct nest_operand nest_number(int32_t v);
struct nest_operand nest_storage(int root, int type);

/* Steps of a dense tensor in bytes. */
void nest_strides(const struct cc *cc, int t, int64_t stride[WEFT_MAX_RANK]);

/* Tensor t as an operand, with the steps of its dimensions in stride: where it lies, or as part of what SLICE, TRANSPOSE
 * and REVERSE make it from, if these have no node. */
struct nest_operand nest_view(const struct cc *cc, int t, bool is_unsigned, int64_t stride[WEFT_MAX_RANK]);

/* Begin a loop nest over all of t, its result; operands b and c are numbers. */
void nest_over(const struct cc *cc, struct loop_nest *s, int t);

/* A storage with constant contents. Its number or a negative errno. */
int nest_const(struct cc *cc, const void *data, int64_t bytes);

/*
 * Make a node of a loop nest of operator i.
 *
 * @param last      it is the last one of the operator; those before it run in order
 * @param recorded  it writes elements of the operator's result, which are checked
 * @return 1 or a negative errno
 */
int nest_add_node(struct cc *cc, int i, const struct loop_nest *s, bool last, bool recorded);

/* Add the nest of a reduction, or of ARGMAX, of operator i; a has the elements of its operand. 1 or a negative errno */
int nest_fold(struct cc *cc, int i, int func, struct nest_operand a);

/* Is it a RESCALE between unsigned and signed that is better left to the host? */
bool alu_at_edge(const struct cc *cc, const struct weft_gop *o);

/* 1 matched, 0 not (reason set), or a negative errno. */
int match_move(struct cc *cc, int i);

#endif

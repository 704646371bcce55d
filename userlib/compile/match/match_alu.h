/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that turn operators into statements of the alu. */
#ifndef WEFT_COMPILE_MATCH_ALU_H
#define WEFT_COMPILE_MATCH_ALU_H

#include "sim/golden/dtype.h"
#include "loop_nest.h"
#include "match.h"

/* The command's type, -1 where it has none. Types that are only moved go as integers of their size. */
int alu_type(weft_dtype t, bool is_unsigned);

/* Operands without steps: a graph's tensor, a number, a storage that a pass has added. */
struct alu_operand alu_tensor(const struct cc *cc, int t, bool is_unsigned);
struct alu_operand alu_number(int32_t v);
struct alu_operand alu_storage(int root, int type);

/* Steps of a dense tensor in bytes. */
void alu_strides(const struct cc *cc, int t, int64_t stride[WEFT_MAX_RANK]);

/* The tensor with the steps of its dimensions: where it lies, or as part of what SLICE, TRANSPOSE
 * and REVERSE have made it from, as far as these have no node. */
struct alu_operand alu_view(const struct cc *cc, int t, bool is_unsigned, int64_t stride[WEFT_MAX_RANK]);

/* Begin a statement over all of t, its result; operands b and c are numbers. */
void alu_over(const struct cc *cc, struct alu_stmt *s, int t);

/* A storage with constant contents. Its number or a negative errno. */
int alu_const(struct cc *cc, const void *data, int64_t bytes);

/*
 * Statement of operator i as a node. All but the last one of an operator come in
 * order; recorded: it writes elements of the operator's result, which are checked.
 * 1 or a negative errno.
 */
int alu_add(struct cc *cc, int i, const struct alu_stmt *s, bool last, bool recorded);

/* A reduction, or ARGMAX, of operator i's operand, of which a has the elements. 1 or a negative errno */
int alu_fold(struct cc *cc, int i, int func, struct alu_operand a);

/* RESCALE between unsigned and signed that is better left to the host. */
bool alu_at_edge(const struct cc *cc, const struct weft_gop *o);

/* 1 matched, 0 not (reason set), or a negative errno. */
int match_move(struct cc *cc, int i);

#endif

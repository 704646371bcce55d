/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_COMPILE_MATCH_TABLE_H
#define WEFT_COMPILE_MATCH_TABLE_H

#include "match_alu.h"

/* A table of n entries in storage `root`, looked up by indices from 0 to n - 1. `type` is the entries' type in the
 * command; a negative root is the errno of a table that could not be made. */
struct table { int root, type; int64_t n; };

/* The storage `root` as an operand whose elements, of this type of the command, lie dense in tensor t's shape. */
struct nest_operand table_dense(const struct cc *cc, int root, int type, int t);

/* Add the nest y = t[x] over the shape of operator i's first operand; `last` says that y is the operator's result, else
 * the next node must follow. Returns 1 or a negative errno, that of t if t could not be made. */
WEFT_MUST_USE int table_apply(struct cc *cc, int i, const struct table *t, struct nest_operand x, struct nest_operand y, bool last);

/* Each matches operator i and returns 1 if it was matched, 0 if not (cc_reason() then says why), or a negative errno.
 * match_by_table() takes every operator with one operand whose elements have up to 16 bits. */
WEFT_MUST_USE int match_by_table(struct cc *cc, int i);
WEFT_MUST_USE int match_cast_by_table(struct cc *cc, int i);
WEFT_MUST_USE int match_float_argmax(struct cc *cc, int i);
WEFT_MUST_USE int match_pool_by_keys(struct cc *cc, int i);

#endif

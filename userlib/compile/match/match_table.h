/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_COMPILE_MATCH_TABLE_H
#define WEFT_COMPILE_MATCH_TABLE_H

#include "match_alu.h"

/* A table in a storage: entries of one type for indices from 0 to n - 1. A negative root is an errno. */
struct table { int root, type; int64_t n; };

/* All of a storage as a dense tensor with t's shape. */
struct nest_operand table_dense(const struct cc *cc, int root, int type, int t);

/* Add a nest: y = t[x] over the elements of operator i's first operand; last: y is its result. 1 or a negative errno */
int table_apply(struct cc *cc, int i, const struct table *t, struct nest_operand x, struct nest_operand y, bool last);

/* Each: 1 matched, 0 not (reason set), or a negative errno. match_by_table: a unary operator on elements of
 * up to 16 bits, whatever it does. */
int match_by_table(struct cc *cc, int i);
int match_cast_by_table(struct cc *cc, int i);
int match_float_argmax(struct cc *cc, int i);
int match_pool_by_keys(struct cc *cc, int i);

#endif

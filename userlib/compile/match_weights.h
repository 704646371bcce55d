/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_COMPILE_MATCH_WEIGHTS_H
#define WEFT_COMPILE_MATCH_WEIGHTS_H

#include "match_alu.h"

/*
 * Statements that lay out the computed weights of a node of this shape (kind, kernel,
 * w, w_zp, wv, m; rec_computed: and bias) with so many outputs and inputs. The node
 * itself comes behind them. The storage's number or a negative errno.
 */
int weights_computed(struct cc *cc, int i, const struct node *shape, int64_t oc, int64_t ic);

#endif

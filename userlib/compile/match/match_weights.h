/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_COMPILE_MATCH_WEIGHTS_H
#define WEFT_COMPILE_MATCH_WEIGHTS_H

#include "match_alu.h"

/*
 * Loop nests that lay out the computed weights of a node of this shape (kind, kernel,
 * w, w_zp, wv, m; mode, w_fmt; rec_computed: and bias) with so many outputs and
 * inputs; third: the weights are in storage z. The node itself comes behind them. The
 * storage's number or a negative errno.
 */
int weights_computed(struct cc *cc, int i, const struct node *shape, int64_t oc, int64_t ic);

/* Before that, and once for all nodes that share weights: computed ones of float8 get a storage where -0,
 * which would be no product, is +0, as pack_weights.c does with constants. 1 or a negative errno */
int weights_plain(struct cc *cc, int i, struct node *shape);

#endif

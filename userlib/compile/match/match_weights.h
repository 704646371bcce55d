/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_COMPILE_MATCH_WEIGHTS_H
#define WEFT_COMPILE_MATCH_WEIGHTS_H

#include "match_alu.h"

/*
 * Add loop nests that lay out the computed weights of a node of this shape, with so
 * many outputs and inputs, as pack_weights.c does with constants. Of the shape count
 * kind, mode, win, wt and conv.m; if `third` is set, the weights are in storage z. The
 * node itself must come behind these nests. The storage's number or a negative errno.
 */
int weights_computed(struct cc *cc, int i, const struct node *shape, int64_t oc, int64_t ic);

/* To be called before, once for all nodes that share weights: computed float8 weights get a storage where -0, which
 * would be no product, is +0. 1 or a negative errno */
int weights_plain(struct cc *cc, int i, struct node *shape);

#endif

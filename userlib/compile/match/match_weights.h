/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_COMPILE_MATCH_WEIGHTS_H
#define WEFT_COMPILE_MATCH_WEIGHTS_H

#include "match_alu.h"

/*
 * Add loop nests of operator i that lay out the computed weights of a node with oc output and ic input
 * channels, and its computed biases if wt.rec_computed, as pack_weights.c does with constants. Of `shape`
 * kind, mode, win, wt and conv.m count; if shape->third is set, the weights are in storage shape->z, else in
 * tensor shape->wt.w. The node itself must be added after this call. Returns the number of the storage that
 * the nests fill, or a negative errno.
 */
WEFT_MUST_USE int weights_computed(struct cc *cc, int i, const struct node *shape, int64_t oc, int64_t ic);

/*
 * To be called before weights_computed(), once for all nodes of operator i that share weights: computed
 * float8 weights without FNUZ are copied to a storage shape->z in which -0, which would be no product, is +0.
 * Other weights are left alone. Returns 1 or a negative errno.
 */
WEFT_MUST_USE int weights_plain(struct cc *cc, int i, struct node *shape);

#endif

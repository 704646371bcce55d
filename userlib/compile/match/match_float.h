/* SPDX-License-Identifier: Apache-2.0 */
/* What match_conv.c takes from match_float.c for products of float8. */
#ifndef WEFT_COMPILE_MATCH_FLOAT_H
#define WEFT_COMPILE_MATCH_FLOAT_H

#include "match.h"

/* What becomes of a node's fp16 result before the result is written. */
struct float_tail {
	int last;              /* the operator whose result is written: the convolution, a CLAMP or a CAST */
	int lo, hi;            /* limits of the result, as bits of fp16 */
	bool saturate;         /* a value too large for float8 becomes its largest number, not an infinity or NaN */
};

bool is_float8(weft_dtype t);
/* Returns whether no element of the constant float8 tensor w is an infinity or NaN. */
bool all_finite(const weft_tensor *w);

/* The tail of operator i: i itself or, if they alone read its fp16 result, the CLAMP and the CAST to float8 behind it. */
struct float_tail float_tail_of(const struct cc *cc, int i);

/* Add a float8 node of this kind that covers all operators from i to the tail's last one. NULL: no memory. */
struct node *new_float(struct cc *cc, enum node_kind kind, int i, const struct float_tail *t);

/* Set the node's wt.w_fmt for weights w, and change wt.log2_scale if they must be read in another encoding. Returns
 * NULL, or why the engine cannot have these weights, for people. */
const char *weight_format(struct node *nd, const weft_tensor *w);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What match_conv.c takes from match_float.c for products of float8. */
#ifndef WEFT_COMPILE_MATCH_FLOAT_H
#define WEFT_COMPILE_MATCH_FLOAT_H

#include "match.h"

/* What happens to a node's fp16 result before it is written. */
struct float_tail {
	int last;              /* the operator that makes what is written */
	int lo, hi;            /* limits, as bits of fp16 */
	bool saturate;         /* what is too large for float8 becomes its largest number */
};

bool is_float8(weft_dtype t);
/* Is no weight an infinity or NaN? */
bool all_finite(const weft_tensor *w);

/* The tail of operator i: itself, and the CLAMP and the CAST behind its fp16 result. */
struct float_tail float_tail_of(const struct cc *cc, int i);

/* A node from operator i to the tail's last one, all of which it claims. NULL without memory */
struct node *new_float(struct cc *cc, enum node_kind kind, int i, const struct float_tail *t);

/* Set w_fmt, and log2_scale where it must differ. NULL, or why these weights cannot be had, for people */
const char *weight_format(struct node *nd, const weft_tensor *w);

#endif

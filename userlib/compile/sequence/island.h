/* SPDX-License-Identifier: Apache-2.0 */
/* Islands: operators of floats between two tensors of integers; island.c. */
#ifndef WEFT_COMPILE_ISLAND_H
#define WEFT_COMPILE_ISLAND_H

#include "userlib/compile/match/match.h"

/* Operators of an island at most, and operands that are looked at. Not measured. */
#define MAX_ISLAND 64

struct island {
	int op[MAX_ISLAND], n;     /* its operators, the last one first, each before those that it reads */
	int front[MAX_ISLAND], n_front;   /* tensors that they read and no operator of the island makes: in the end one */
	int64_t channels;          /* elements of constants along the last dimension; 1: all constants are numbers */
};

/*
 * Let golden compute the island for all codes of its tensor, with the constants of this channel. *y has
 * the results; its data are to be freed if there are any. 0 or a negative errno
 */
WEFT_MUST_USE int island_evaluate(const struct cc *cc, const struct island *s, int64_t channel, weft_tensor *y);

/* prelu.c: match an island that is PRELU with a slope for each channel. 1 matched, 0 not, or a negative errno */
WEFT_MUST_USE int match_prelu(struct cc *cc, const struct island *s);

#endif

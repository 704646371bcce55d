/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GOLDEN_FIXED_EXP_H
#define WEFT_GOLDEN_FIXED_EXP_H

#include "sim/golden/fixed_point.h"

static inline int32_t weft_add_wrap(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* 48/17 and -32/17 in Q2.29, with which Newton's method begins to divide. */
#define WEFT_NEWTON_48_17 1515870810
#define WEFT_NEWTON_32_17 (-1010580540)
#define WEFT_NEWTON_STEPS 3

/* exp(a) in Q0.31 for a <= 0 with `bits` integer bits, 0..5. */
int32_t weft_exp_negative(int bits, int32_t a);

/* 1/(1 + a) and (1 - a)/(1 + a) for a in [0, 1], all Q0.31. */
int32_t weft_reciprocal_1p(int32_t a);
int32_t weft_ratio_1p(int32_t a);

#endif

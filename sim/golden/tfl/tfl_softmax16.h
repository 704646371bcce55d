/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GOLDEN_TFL_SOFTMAX16_H
#define WEFT_GOLDEN_TFL_SOFTMAX16_H

#include "sim/golden/ops.h"

#define WEFT_SOFTMAX16_STEPS 512

/*
 * What a row is computed with. A difference to the row's maximum, -65535 to 0, is shifted left,
 * multiplied in Q0.31, and shifted right with rounding; 65535 steps are then 10.
 */
struct weft_softmax16 {
	int16_t exp[WEFT_SOFTMAX16_STEPS + 1];         /* from -10 to 0 */
	int16_t reciprocal[WEFT_SOFTMAX16_STEPS + 1];  /* 1/(1 + x), from 0 to 1 */
	int32_t multiplier;
	int left, right;
};

/* Fill it in for these attributes. false: beta * x_scale is out of range. */
bool weft_softmax16_init(struct weft_softmax16 *t, const struct weft_attr_tfl_softmax *a);

/* TFL_SOFTMAX for int16 -> int16, called after types and shapes are checked. */
int weft_tfl_softmax16(const struct weft_call *c);

#endif

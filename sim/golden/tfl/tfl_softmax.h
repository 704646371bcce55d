/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GOLDEN_TFL_SOFTMAX_H
#define WEFT_GOLDEN_TFL_SOFTMAX_H

#include "sim/golden/ops.h"

/*
 * The exponentials of TFL_SOFTMAX of int8 in Q0.31: entry 255 + d is that of the difference d,
 * -255 to 0; 0 where it does not count. false: beta * x_scale is out of range.
 */
bool weft_softmax8_exps(const struct weft_attr_tfl_softmax *a, int32_t exps[256]);

#endif

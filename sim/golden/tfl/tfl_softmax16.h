/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GOLDEN_TFL_SOFTMAX16_H
#define WEFT_GOLDEN_TFL_SOFTMAX16_H

#include "sim/golden/ops.h"

/* TFL_SOFTMAX for int16 -> int16, called after types and shapes are checked. */
int weft_tfl_softmax16(const struct weft_call *c);

#endif

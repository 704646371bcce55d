/* SPDX-License-Identifier: Apache-2.0 */
/* The inverse root in TensorFlow Lite's fixed point, for L2_NORMALIZATION and LSTM. */
#ifndef WEFT_GOLDEN_TFL_INVERSE_ROOT_H
#define WEFT_GOLDEN_TFL_INVERSE_ROOT_H

#include <stdint.h>

/* 1/sqrt(x), x above 0, is *m * 2^(*shift - 31); of 0 as of 1. */
void weft_inverse_root(int32_t x, int32_t *m, int *shift);

#endif

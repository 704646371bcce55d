/* SPDX-License-Identifier: Apache-2.0 */
/* How hybrid operators quantise a row of float32; tfl_hybrid.c has the rules. */
#ifndef WEFT_GOLDEN_TFL_HYBRID_ROW_H
#define WEFT_GOLDEN_TFL_HYBRID_ROW_H

#include <stdbool.h>
#include <stdint.h>

/* Sets y to the codes of the n numbers x less their zero point, and *zp to that. Returns their scale. */
float weft_hybrid_row(const float *x, int16_t *y, int64_t n, bool symmetric, int32_t *zp);

#endif

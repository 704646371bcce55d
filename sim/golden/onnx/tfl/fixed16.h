/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-point functions of 16 bits, as gemmlowp has them. */
#ifndef WEFT_GOLDEN_ONNX_TFL_FIXED16_H
#define WEFT_GOLDEN_ONNX_TFL_FIXED16_H

#include <stdint.h>

/* Each takes x with that many bits before the point, 0 to 6, and returns Q0.15. */
int16_t fixed16_tanh(int16_t x, int bits);
int16_t fixed16_logistic(int16_t x, int bits);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one float32, as ONNX Runtime computes them on x86-64 with fused multiplications and additions. */
#ifndef WEFT_GOLDEN_ONNX_ORT_FUNCTIONS_H
#define WEFT_GOLDEN_ONNX_ORT_FUNCTIONS_H

#include <stdint.h>

float ort_tanh(float x);
float ort_logistic(float x);                 /* 1 / (1 + exp(-x)) */
float ort_exp(float x);                      /* x up to 0, as Softmax needs it; not below exp(-88.37) */

/* Codes of uint8 for floats that are at hand: code = round(x / scale) + zero. */
struct ort_codes { float scale; int32_t zero; };

/* The codes for the n floats at x: 255 steps from the least of them and 0 to the greatest of them and 0. */
struct ort_codes ort_range(const float *x, int64_t n);
int32_t ort_code(const struct ort_codes *c, float x);

#endif

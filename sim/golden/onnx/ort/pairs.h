/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of two products of uint8 by int8, which saturate to 16 bits; pairs.c says where. */
#ifndef WEFT_GOLDEN_ONNX_ORT_PAIRS_H
#define WEFT_GOLDEN_ONNX_ORT_PAIRS_H

#include <stdint.h>

/* Returns v, or the end of int16 that it is beyond. */
static inline int64_t ort_in_16_bits(int64_t v)
{
	return v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v;
}

#endif

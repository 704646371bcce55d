/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of number a type holds. */
#ifndef WEFT_GOLDEN_DTYPE_H
#define WEFT_GOLDEN_DTYPE_H

#include <stdbool.h>

#include <weft/tensor.h>

static inline bool weft_is_float(weft_dtype t)
{
	return (t >= WEFT_FP8E4M3 && t <= WEFT_FP64) || t == WEFT_FP4E2M1 || t == WEFT_FP8E8M0;
}

static inline bool weft_is_float8(weft_dtype t)
{
	return t >= WEFT_FP8E4M3 && t <= WEFT_FP8E5M2FNUZ;
}

/* Of those that arithmetic is done in. */
static inline bool weft_is_plain_float(weft_dtype t)
{
	return t == WEFT_FP32 || t == WEFT_FP16 || t == WEFT_BF16;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Rounding of fixed-point numbers as gemmlowp and TensorFlow Lite define it. */
#ifndef WEFT_GOLDEN_FIXED_POINT_H
#define WEFT_GOLDEN_FIXED_POINT_H

#include "ops.h"

/* a*b in Q0.31, rounded to nearest; -1 * -1 saturates. Q0.31 times Qm.n is Qm.n. */
static inline int32_t weft_mul_q31(int32_t a, int32_t b)
{
	int64_t ab = (int64_t)a * b;
	int64_t nudge = ab >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);

	if (a == INT32_MIN && b == INT32_MIN)
		return INT32_MAX;
	return (int32_t)((ab + nudge) / ((int64_t)1 << 31));
}

/* x / 2^n, n 0..31, rounded half away from zero. */
static inline int32_t weft_shift_right(int32_t x, int n)
{
	int64_t mask = ((int64_t)1 << n) - 1;
	int64_t remainder = x & mask;
	int64_t threshold = (mask >> 1) + (x < 0);

	return (int32_t)(((int64_t)x >> n) + (remainder > threshold));
}

/* x * 2^n, n 0..31, saturating. */
static inline int32_t weft_shift_left(int32_t x, int n)
{
	return (int32_t)weft_clip((int64_t)x * ((int64_t)1 << n), INT32_MIN, INT32_MAX);
}

/*
 * v * multiplier * 2^(left - 31), left -31..30: rounded after the product, and if left is below 0 once more after the shift to the
 * right; a shift to the left comes first and wraps.
 */
static inline int32_t weft_scale_q31(int32_t v, int32_t multiplier, int left)
{
	return left > 0 ? weft_mul_q31((int32_t)((uint32_t)v << left), multiplier) : weft_shift_right(weft_mul_q31(v, multiplier), -left);
}

/* real = multiplier * 2^(shift - 31) with a multiplier of 31 bits; real above 0. */
void weft_quantize_multiplier(double real, int32_t *multiplier, int *shift);

/*
 * Sets *log2 to the whole number nearest to the logarithm of scale. Returns whether TensorFlow Lite takes scale for that
 * power: they differ by less than a thousandth in the exponent. If scale is not above 0 or is infinite, returns false and
 * leaves *log2.
 */
bool weft_near_power_of_two(float scale, int *log2);

#endif

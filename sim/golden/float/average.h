/* SPDX-License-Identifier: Apache-2.0 */
/* The two steps of AVG_POOL2D of float8, for golden and for who makes tables of them; pool.c says what they are. */
#ifndef WEFT_GOLDEN_FLOAT_AVERAGE_H
#define WEFT_GOLDEN_FLOAT_AVERAGE_H

#include <math.h>
#include <stdint.h>

/* Elements are multiples of 2^-17, sums of 2^-28: up to here a scaled sum is exact. */
#define WEFT_AVERAGE_MAX_LOG2 11

/* Least k with 2^k >= area. */
static inline int weft_average_log2(int64_t area)
{
	int k = 0;

	while (((int64_t)1 << k) < area)
		k++;
	return k;
}

/* The average, not yet rounded, of `count` elements whose sum * 2^-k is this fp16 value. */
static inline double weft_average_of(double scaled_sum, int k, int64_t count)
{
	return isnan(scaled_sum) ? NAN : ldexp(scaled_sum, k) / (double)count;
}

#endif

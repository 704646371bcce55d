/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Natural logarithm in fixed point, bit for bit as TensorFlow Lite's reference
 * kernel of LOG_SOFTMAX defines it.
 *
 * x = r * 2^e with r around sqrt(sqrt(1/2)) and e an odd number of quarters, so
 * that a rational function of r, of one division, is near enough to log r.
 * Constants are round(value * 2^31), given with the value; root4 is 2^(1/4).
 */
#include "fixed_log.h"

#define WHOLE 12                   /* integer bits of x */
#define QUARTER (1 << 23)          /* of exponents, in Q6.25 */

struct split { int32_t r, e; };    /* Q0.31, Q6.25 */

/* Of the two exponents around, the greater; of the two remainders the smaller. */
static struct split normalise(int32_t x)
{
	const int32_t sqrt_half = 1518500250;
	const int a_zeros = __builtin_clz((uint32_t)x);
	const int b_zeros = __builtin_clz((uint32_t)weft_mul_q31(x, sqrt_half)) - 1;
	int32_t a = weft_shift_left(weft_mul_q31(weft_shift_left(x, a_zeros - 1), sqrt_half), 1);
	int32_t b = weft_shift_left(x, b_zeros);
	int32_t a_e = (WHOLE - a_zeros) * (1 << 25) + QUARTER, b_e = (WHOLE - b_zeros) * (1 << 25) - QUARTER;

	return (struct split){ a < b ? a : b, a_e > b_e ? a_e : b_e };
}

/* (q*r + 11/240 root4 * q^3) / (1 + p * (alpha + q + root4/20 * q^2) + root4/4 * q), in Q6.25 */
static int32_t log_of_rest(int32_t r)
{
	const int32_t centre = 1805811301;    /* 1/root4 */
	const int32_t cubic = 117049297;      /* 11/240 * root4 */
	const int32_t square = 127690142;     /* root4/20 */
	const int32_t alpha = 1057819769;     /* 2/root4 - root4 */
	const int32_t linear = 638450708;     /* root4/4 */
	int64_t sum = (int64_t)r + centre;
	int32_t p = (int32_t)((sum + (sum >= 0 ? 1 : -1)) / 2);
	int32_t q = weft_add_wrap(r, -centre), qq;

	q = weft_add_wrap(q, q);
	qq = weft_mul_q31(q, q);
	int32_t above = weft_add_wrap(weft_mul_q31(q, r), weft_mul_q31(weft_mul_q31(q, qq), cubic));
	int32_t below = weft_add_wrap(weft_add_wrap(alpha, q), weft_mul_q31(square, qq));
	below = weft_add_wrap(weft_mul_q31(p, below), weft_mul_q31(linear, q));
	return weft_mul_q31(weft_shift_right(above, 6), weft_reciprocal_1p(below));
}

int32_t weft_log_q12(int32_t x)
{
	const int32_t log_2 = 1488522236;
	const struct split s = normalise(x);

	return weft_shift_left(weft_add_wrap(weft_mul_q31(s.e, log_2), log_of_rest(s.r)), 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exp and two fractions in fixed point, bit for bit as gemmlowp defines them.
 *
 * exp of a negative number: a quarter-interval polynomial, then one factor per
 * set bit of the remainder. Constants are round(value * 2^fraction bits),
 * given with the value. Products are formed in 64 bits.
 *
 * Source: gemmlowp's fixed-point design, which TensorFlow Lite's reference
 * kernels of SOFTMAX, LOGISTIC and TANH use.
 */
#include "fixed_exp.h"

#define Q31_ONE INT32_MAX

/*
 * exp(a) for a in [-1/4, 0), Q0.31: Taylor's series around -1/8 to degree 4,
 * in the order ((x^4/4 + x^3)/3 + x^2)/2 + x.
 */
static int32_t exp_quarter(int32_t a)
{
	const int32_t exp_eighth = 1895147668; /* exp(-1/8) */
	const int32_t third = 715827883;       /* 1/3 */
	int32_t x = weft_add_wrap(a, 1 << 28);      /* a + 1/8 */
	int32_t x2 = weft_mul_q31(x, x);
	int32_t x3 = weft_mul_q31(x2, x);
	int32_t x4 = weft_mul_q31(x2, x2);
	int32_t tail = weft_add_wrap(weft_mul_q31(weft_add_wrap(weft_shift_right(x4, 2), x3), third), x2);

	return weft_add_wrap(exp_eighth, weft_mul_q31(exp_eighth, weft_add_wrap(x, weft_shift_right(tail, 1))));
}

int32_t weft_exp_negative(int bits, int32_t a)
{
	/* exp(-2^k) for k = -2..4 */
	static const int32_t factor[7] = {
		1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242,
	};
	const int32_t quarter = 1 << (29 - bits);
	int32_t part = (a & (quarter - 1)) - quarter; /* in [-1/4, 0) */
	int32_t rest = part - a;                      /* a multiple of 1/4, >= 0 but for a = 0 */
	int32_t r = exp_quarter(weft_shift_left(part, bits));

	if (a == 0)
		return Q31_ONE;
	for (int k = 0; k < bits + 2; k++) {
		if (rest & (quarter << k))
			r = weft_mul_q31(r, factor[k]);
	}
	return r;
}

/* 2/(1 + a) in Q2.29 by three Newton steps, for a in [0, 1] in Q0.31. */
static int32_t inverse_of_half(int32_t a)
{
	int32_t half = (int32_t)(((int64_t)a + Q31_ONE + 1) / 2); /* (1 + a)/2 */
	int32_t x = weft_add_wrap(WEFT_NEWTON_48_17, weft_mul_q31(half, WEFT_NEWTON_32_17));

	for (int i = 0; i < WEFT_NEWTON_STEPS; i++) {
		int32_t error = weft_add_wrap(1 << 29, -weft_mul_q31(half, x));

		x = weft_add_wrap(x, weft_shift_left(weft_mul_q31(x, error), 2));
	}
	return x;
}

int32_t weft_reciprocal_1p(int32_t a)
{
	/* half of 2/(1 + a) in Q1.30, then Q0.31 */
	return weft_shift_left(inverse_of_half(a), 1);
}

int32_t weft_ratio_1p(int32_t a)
{
	/* 2/(1 + a) - 1 in Q2.29, then Q0.31 */
	return weft_shift_left(weft_add_wrap(inverse_of_half(a), -(1 << 29)), 2);
}

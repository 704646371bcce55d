/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hyperbolic tangent and logistic function of 16 bits in gemmlowp's fixed point: exp of -|x| by a series on (-1/4, 0] and a
 * factor for each bit above, then (1 - e) / (1 + e) or 1 / (1 + e) by Newton's steps. Constants are those of 32 bits,
 * rounded to 16. Qm.n has m bits before the point and 15 - m behind it.
 *
 * Source: gemmlowp, fixedpoint/fixedpoint.h.
 */
#include "sim/golden/fixed_point.h"
#include "sim/golden/onnx/tfl/fixed16.h"

/* The high 16 bits of 2ab, rounded half away from zero; -1 * -1 saturates. */
static int16_t mul(int16_t a, int16_t b)
{
	const int32_t ab = a * b;

	if (a == INT16_MIN && b == INT16_MIN)
		return INT16_MAX;
	return (int16_t)((ab + (ab >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}

/* a + b, which wraps. */
static int16_t add(int a, int b) { return (int16_t)(uint16_t)((uint32_t)a + (uint32_t)b); }

/* x * 2^n, saturating; to the right rounded half away from zero. */
static int16_t shift(int16_t x, int n)
{
	return n < 0 ? (int16_t)weft_shift_right(x, -n) : (int16_t)weft_clip((int64_t)x * ((int64_t)1 << n), INT16_MIN, INT16_MAX);
}

/* A constant of gemmlowp's 32 bits. */
static int16_t constant(int32_t v) { return (int16_t)weft_clip(weft_shift_right(v, 16), INT16_MIN, INT16_MAX); }

/* exp(a) in Q0.15 for Q0.15 a of -1/4 to 0. */
static int16_t exp_near_0(int16_t a)
{
	const int16_t term = constant(1895147668), third = constant(715827883);
	const int16_t x = add(a, 1 << 12), x2 = mul(x, x), x3 = mul(x2, x), x4 = mul(x2, x2);
	const int16_t rest = shift(add(mul(add(shift(x4, -2), x3), third), x2), -1);

	return (int16_t)weft_clip(term + mul(term, add(x, rest)), INT16_MIN, INT16_MAX);
}

/* exp(a) in Q0.15 for a of at most 0 with `bits` bits before the point, 0 to 7. */
static int16_t exp_negative(int16_t a, int bits)
{
	static const int32_t factors[] = { 1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242 };
	const int fraction = 15 - bits, quarter = 1 << (fraction - 2);
	const int16_t low = add(a & (quarter - 1), -quarter), rest = add(low, -a);
	int16_t y = exp_near_0(shift(low, bits));

	for (int e = -2; e <= 4; e++)
		if (bits > e && (rest & (1 << (fraction + e))))
			y = mul(y, constant(factors[e + 2]));
	if (bits > 5 && a < constant(-(1 << (36 - bits))))
		y = 0;
	return a ? y : INT16_MAX;
}

/* 2 / (1 + a) in Q2.13 for Q0.15 a of 0 to 1. */
static int16_t two_over(int16_t a)
{
	const int sum = a + INT16_MAX;
	const int16_t half = (int16_t)((sum + 1) / 2);
	int16_t x = add(constant(1515870810), mul(half, constant(-1010580540)));

	for (int i = 0; i < 3; i++)
		x = add(x, shift(mul(x, add(1 << 13, -mul(half, x))), 2));
	return x;
}

int16_t fixed16_tanh(int16_t x, int bits)
{
	const int16_t n = x < 0 ? x : add(0, -x);
	const int16_t t = shift(add(two_over(exp_negative(n, bits + 1)), -(1 << 13)), 2);

	return !x ? 0 : x < 0 ? add(0, -t) : t;
}

int16_t fixed16_logistic(int16_t x, int bits)
{
	const int16_t n = x > 0 ? add(0, -x) : x;     /* gemmlowp negates x twice: the least one stays itself */
	const int16_t y = shift(two_over(exp_negative(n, bits)), 1);

	return !x ? 1 << 14 : x > 0 ? y : add(INT16_MAX, -y);
}

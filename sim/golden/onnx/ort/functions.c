/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tanh and the logistic function are quotients of two polynomials of the square, each step of which is one fused multiplication
 * and addition. Source: ONNX Runtime's MLAS, tanh.cpp, logistic.cpp and compute.cpp, and their kernels for FMA3; the coefficients of the quotients are Eigen's.
 */
#include <math.h>

#include "sim/golden/onnx/ort/functions.h"

#define COUNT(p) ((int)(sizeof(p) / sizeof(p)[0]))

/* p[0] * v^(n - 1) + ... + p[n - 1], fused. */
static float polynomial(const float *p, int n, float v)
{
	float y = p[0];

	for (int i = 1; i < n; i++)
		y = fmaf(y, v, p[i]);
	return y;
}

/* x between -most and most; NaN stays. */
static float within(float x, float most)
{
	return x < -most ? -most : x > most ? most : x;
}

float ort_tanh(float x)
{
	static const float above[] = { -2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
	                               1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f };
	static const float below[] = { 1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f };
	const float v = within(x, 9);

	return polynomial(above, COUNT(above), v * v) * v / polynomial(below, COUNT(below), v * v);
}

/* The quotient is never above 1/2, but below -1/2 by a rounding error. */
float ort_logistic(float x)
{
	static const float above[] = { 4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f, 8.51377133304701e-03f, 2.48287947061529e-01f };
	static const float below[] = { 6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f, 1.70198817374094e-03f,
	                               1.16817656904453e-01f, 9.93151921023180e-01f };
	const float v = within(x, 18), y = v * polynomial(above, COUNT(above), v * v) / polynomial(below, COUNT(below), v * v) + 0.5f;

	return y < 0 ? 0 : y;
}

/* 2^n times a polynomial of the rest of x less n times ln 2, which is taken away in two parts. */
float ort_exp(float x)
{
	static const float terms[] = { 0x1.694000p-10f, 0x1.125edcp-7f, 0x1.555b5ap-5f, 0x1.555450p-3f, 0x1.fffff6p-2f, 1, 1 };
	const float whole = 12582912, v = x < -88.3762626647949f ? -88.3762626647949f : x;    /* 1.5 * 2^23 rounds to integers */

	if (v != v)
		return v;
	const float n = fmaf(v, 1.44269504088896341f, whole) - whole, rest = fmaf(n, -1.42860677e-6f, fmaf(n, -6.93145752e-1f, v));
	return ldexpf(polynomial(terms, COUNT(terms), rest), (int)n);
}

struct ort_codes ort_range(const float *x, int64_t n)
{
	float least = 0, most = 0;

	for (int64_t i = 0; i < n; i++) {
		least = x[i] < least ? x[i] : least;
		most = x[i] > most ? x[i] : most;
	}
	const float scale = most == least ? 1 : (most - least) / 255;
	return (struct ort_codes){ scale, (int32_t)nearbyintf(fmaxf(0, fminf(255, (0 - least) / scale))) };
}

int32_t ort_code(const struct ort_codes *c, float x)
{
	return (int32_t)fmaxf(0, fminf(255, nearbyintf(x / c->scale) + (float)c->zero));
}

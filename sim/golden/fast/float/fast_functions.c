/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of one fp32, for many elements side by side. Plain loops: sim/golden/float/elementwise.c and
 * sim/golden/tfl/tfl_function.c
 *
 * The plain loops call the C library for each element. Here a function is approximated in fp64. Two bounds lie below and above the
 * approximation, farther away than the errors of the approximation and of the C library's result together. If both bounds round to the same
 * fp32, the C library's result rounds to it, too. All other elements, NaN among them, are left to the C library.
 */
#include <math.h>
#include <string.h>

#include "sim/golden/fast/fast.h"

#define BLOCK 128

/*
 * The distance of a bound from the approximation, relative to the approximation. NEAR_FP64 is for the C library's fp64 functions:
 * the approximations here have an error of at most 2^-41, those functions of at most 2^-50. NEAR_EXPF is for expf(): glibc computes it
 * with an error of at most 2^-33 and then rounds it. tests/unit/golden_fast.c compares all fp32 with the plain loops at level test-full.
 */
#define NEAR_FP64 0x1p-40
#define NEAR_EXPF 0x1p-32

/* Sets *scale to 2^k and returns e^(v - k ln 2) - 1, k being the integer next to v / ln 2, for v within +-700. */
static inline double exp_parts(double v, double *scale)
{
	const double shifted = v * 0x1.71547652b82fep0 + 0x1.8p52, k = shifted - 0x1.8p52;
	const double r = v - k * 0x1.62e42fefa39efp-1;
	uint64_t bits;

	memcpy(&bits, &shifted, sizeof bits);
	bits = (bits + 1023) << 52;
	memcpy(scale, &bits, sizeof bits);
	/* Taylor's series up to r^11. |r| is at most 0.347, so that the terms left out are below 2^-43 of the result. */
	return r * (1 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040 +
	       r * (1.0 / 40320 + r * (1.0 / 362880 + r * (1.0 / 3628800 + r * (1.0 / 39916800)))))))))));
}

/* Returns e^v. A v below -110 counts as -110 and one above 110 as 110: there e^v and its reciprocal are 0 or infinity in fp32 already. */
static inline double exp_of(double v)
{
	double scale;

	v = v < -110 ? -110 : v > 110 ? 110 : v;
	const double rest = exp_parts(v, &scale);
	return scale + scale * rest;
}

/* Returns 1 / (1 + e^-v). */
static inline double sigmoid_of(double v)
{
	return 1 / (1 + exp_of(-v));
}

/* Returns tanh(v) = (e^2v - 1) / (e^2v + 1). The difference e^2v - 1 comes from exp_parts(), so that a small v loses no bits. */
static inline double tanh_of(double v)
{
	const double size = fabs(v) > 20 ? 20 : fabs(v);
	double scale;
	const double rest = exp_parts(2 * size, &scale), less_one = scale * rest + (scale - 1);

	return copysign(less_one / (less_one + 2), v);
}

/*
 * Returns erf(v) as v times a polynomial of t = v^2. The polynomial equals erf(sqrt(t)) / sqrt(t) at the 23 Chebyshev nodes of
 * 0 .. 3.93^2; c[] has its coefficients in s, which goes from -1 to 1 as t goes through that range.
 */
static inline double erf_of(double v)
{
	static const double c[] = {
		0x1.7074b5a187dd8p-2, -0x1.6ff1bcde5fb73p-3, 0x1.11fb978e2a0b2p-3, -0x1.be77c42ec600ep-4, 0x1.730657b4159a4p-4,
		-0x1.2f98ce29c6476p-4, 0x1.de88393c5bd51p-5, -0x1.663b70d00b088p-5, 0x1.f96c811c782bdp-6, -0x1.4eb02687c3c2dp-6,
		0x1.9f903361826eap-7, -0x1.e3e6e736ac11dp-8, 0x1.08b0f8584040fp-8, -0x1.10e019a56a25dp-9, 0x1.08d6a829aad60p-10,
		-0x1.e11e2c88d21d4p-12, 0x1.a3d75ed93b2a3p-13, -0x1.71cf78564f9aap-14, 0x1.1ea3cdfe32669p-15, -0x1.2c51536f79941p-17,
		0x1.ca3ba0ec75d54p-19, -0x1.6cbbbfecd2e68p-19, 0x1.caced32c43b24p-21,
	};
	const double size = fabs(v) > 3.93 ? 3.93 : fabs(v);    /* erf(v) rounds to 1 from 3.92 on */
	const double s = size * size * (2 / (3.93 * 3.93)) - 1;
	double p = c[22];

#pragma GCC unroll 22
	for (int k = 21; k >= 0; k--)
		p = p * s + c[k];
	return copysign(size * p, v);
}

/*
 * Writes two bounds, each rounded to fp32, of a function of x[i], for i below n. The plain loop's result lies between them; if they
 * are equal, it is lo[i].
 */
typedef void bounds_fn(const float *x, int64_t n, float *lo, float *hi);

/* BOUNDS(near, argument, function) is the loop of a bounds_fn for function(argument); the argument may use x[i]. */
#define BOUNDS(near, argument, function) \
	for (int64_t i = 0; i < n; i++) { \
		const double r = function((double)(argument)); \
		lo[i] = (float)(r * (1 - (near))); \
		hi[i] = (float)(r * (1 + (near))); \
	}

static FAST void exp_bounds(const float *x, int64_t n, float *lo, float *hi) { BOUNDS(NEAR_FP64, x[i], exp_of) }
static FAST void sigmoid_bounds(const float *x, int64_t n, float *lo, float *hi) { BOUNDS(NEAR_FP64, x[i], sigmoid_of) }
static FAST void tanh_bounds(const float *x, int64_t n, float *lo, float *hi) { BOUNDS(NEAR_FP64, x[i], tanh_of) }
static FAST void erf_bounds(const float *x, int64_t n, float *lo, float *hi) { BOUNDS(NEAR_FP64, x[i], erf_of) }
static FAST void expf_bounds(const float *x, int64_t n, float *lo, float *hi) { BOUNDS(NEAR_EXPF, x[i], exp_of) }

/* The logistic function of sim/golden/tfl/tfl_function.c takes expf() of x or of -x and computes the rest in fp32, as this does for both bounds. */
static FAST void logistic_bounds(const float *x, int64_t n, float *lo, float *hi)
{
	BOUNDS(NEAR_EXPF, x[i] < WEFT_TFL_LOGISTIC_LOW ? x[i] : -x[i], exp_of)
	for (int64_t i = 0; i < n; i++) {
		const float a = x[i] < WEFT_TFL_LOGISTIC_LOW ? lo[i] : 1.0f / (1.0f + lo[i]);
		const float b = x[i] < WEFT_TFL_LOGISTIC_LOW ? hi[i] : 1.0f / (1.0f + hi[i]);
		lo[i] = x[i] > WEFT_TFL_LOGISTIC_HIGH ? 1.0f : a;
		hi[i] = x[i] > WEFT_TFL_LOGISTIC_HIGH ? 1.0f : b;
	}
}

/* Says whether the bounds of any of n elements differ. */
static FAST bool any_differ(const float *lo, const float *hi, int64_t n)
{
	int any = 0;

	for (int64_t i = 0; i < n; i++)
		any |= !(lo[i] == hi[i]);
	return any;
}

/* Computes a call on one fp32 tensor: from bounds if they are equal, and by one(c, i) for an element i whose bounds differ. */
static void run(const struct weft_call *c, bounds_fn *bounds, void (*one)(const struct weft_call *c, int64_t i))
{
	const int64_t all = weft_tensor_elements(c->x[0]);
	float hi[BLOCK];

	for (int64_t at = 0; at < all; at += BLOCK) {
		const int64_t n = all - at < BLOCK ? all - at : BLOCK;
		float *lo = (float *)c->y[0]->data + at;

		bounds((const float *)c->x[0]->data + at, n, lo, hi);
		if (!any_differ(lo, hi, n))
			continue;
		for (int64_t i = 0; i < n; i++)
			if (!(lo[i] == hi[i]))
				one(c, at + i);
	}
}

/* Returns the bounds_fn of the call's function, or NULL if there is none. */
static bounds_fn *bounds_of(const struct weft_call *c)
{
	switch (c->op) {
	case WEFT_OP_EXP: return exp_bounds;
	case WEFT_OP_SIGMOID: return sigmoid_bounds;
	case WEFT_OP_TANH: return tanh_bounds;
	case WEFT_OP_ERF: return erf_bounds;
	case WEFT_OP_TFL_FUNCTION:
		return c->attr->tfl_function.function == WEFT_TFL_EXP ? expf_bounds : c->attr->tfl_function.function == WEFT_TFL_LOGISTIC ? logistic_bounds : NULL;
	default: return NULL;
	}
}

int weft_fast_function(const struct weft_call *c, void (*one)(const struct weft_call *c, int64_t i))
{
	bounds_fn *bounds = c->x[0]->dtype == WEFT_FP32 ? bounds_of(c) : NULL;

	if (!bounds)
		return -ENOTSUP;
	run(c, bounds, one);
	return 0;
}

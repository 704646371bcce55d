/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of floating-point tensors, as bits and as fp64.
 *
 * Every format's values are values of fp64, so operators compute on double and
 * round once when they store. That single rounding is the correctly rounded
 * result for one +, -, *, / or square root of operands of p <= 24 bits: fp64's
 * 53 bits are at least 2p + 2, so rounding twice is rounding once.
 */
#ifndef WEFT_GOLDEN_FLOAT_ELEMENT_H
#define WEFT_GOLDEN_FLOAT_ELEMENT_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "format.h"

static inline uint64_t weft_load_bits(const weft_tensor *t, int64_t i)
{
	switch (weft_dtype_bytes(t->dtype)) {
	case 1: return ((const uint8_t *)t->data)[i];
	case 2: return ((const uint16_t *)t->data)[i];
	case 4: return ((const uint32_t *)t->data)[i];
	default: return ((const uint64_t *)t->data)[i];
	}
}

static inline void weft_store_bits(const weft_tensor *t, int64_t i, uint64_t bits)
{
	switch (weft_dtype_bytes(t->dtype)) {
	case 1: ((uint8_t *)t->data)[i] = (uint8_t)bits; break;
	case 2: ((uint16_t *)t->data)[i] = (uint16_t)bits; break;
	case 4: ((uint32_t *)t->data)[i] = (uint32_t)bits; break;
	default: ((uint64_t *)t->data)[i] = bits; break;
	}
}

static inline double weft_double_of_bits(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline uint64_t weft_bits_of_double(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* Exact; NaN's payload is not kept. */
double weft_real_to_double(struct weft_real r);
struct weft_real weft_real_of_double(double v);

/* Element i of any type as fp64, exact. */
double weft_get_any_f(const weft_tensor *t, int64_t i);

/* v rounded to the type: nearest even, float8 non-saturating (TOSA). */
uint64_t weft_round_bits(weft_dtype t, double v);
double weft_round_any_f(weft_dtype t, double v);

/*
 * Says whether v lies in the range of fp32's normal numbers or is zero: then C's conversion to float gives the bits of
 * weft_round_bits().
 */
static inline bool weft_is_normal_fp32(double v)
{
	const double size = fabs(v);

	return (size >= (double)FLT_MIN && size <= (double)FLT_MAX) || size == 0;
}

/*
 * weft_get_f() gives what weft_get_any_f() gives, weft_round_f() what weft_round_any_f() gives, and weft_put_f() stores
 * weft_round_bits(); for fp32 they need no call.
 */
static inline double weft_get_f(const weft_tensor *t, int64_t i)
{
	float v;

	if (t->dtype != WEFT_FP32)
		return weft_get_any_f(t, i);
	memcpy(&v, (const float *)t->data + i, sizeof(v));
	return (double)v;
}

static inline double weft_round_f(weft_dtype t, double v)
{
	return t == WEFT_FP32 && weft_is_normal_fp32(v) ? (double)(float)v : weft_round_any_f(t, v);
}

static inline void weft_put_f(const weft_tensor *t, int64_t i, double v)
{
	if (t->dtype == WEFT_FP32 && weft_is_normal_fp32(v)) {
		const float rounded = (float)v;
		memcpy((float *)t->data + i, &rounded, sizeof(rounded));
	} else {
		weft_store_bits(t, i, weft_round_bits(t->dtype, v));
	}
}

#endif

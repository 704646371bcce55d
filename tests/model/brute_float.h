/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of mode 2: float8, fp16 and their sums once more, in doubles.
 *
 * Every value and every exact product and sum of two here has less than 53
 * significant bits, so doubles are exact until they are rounded on purpose.
 */
#ifndef WEFT_TESTS_MODEL_BRUTE_FLOAT_H
#define WEFT_TESTS_MODEL_BRUTE_FLOAT_H

#include <math.h>

enum { E4M3FN, E5M2, E4M3FNUZ, E5M2FNUZ, FP16 };

/* By the words of the format: exponent bits, mantissa bits, bias. */
static inline double bf_fields(int code, int exp_bits, int man_bits, int bias)
{
	int field = code >> man_bits & ((1 << exp_bits) - 1), man = code & ((1 << man_bits) - 1);
	double v = field ? ldexp(1 + ldexp(man, -man_bits), field - bias) : ldexp(man, 1 - bias - man_bits);

	return code >> (exp_bits + man_bits) & 1 ? -v : v;
}

static inline double bf_value(int fmt, int code)
{
	int low = code & 127;

	switch (fmt) {
	case E4M3FN:
		return low == 127 ? NAN : bf_fields(code, 4, 3, 7);
	case E5M2:
		if (low >= 124)
			return low > 124 ? NAN : code & 128 ? -INFINITY : INFINITY;
		return bf_fields(code, 5, 2, 15);
	case E4M3FNUZ:
		return code == 128 ? NAN : bf_fields(code, 4, 3, 8);
	case E5M2FNUZ:
		return code == 128 ? NAN : bf_fields(code, 5, 2, 16);
	}
	if ((code & 0x7fff) >= 0x7c00)
		return (code & 0x7fff) > 0x7c00 ? NAN : code & 0x8000 ? -INFINITY : INFINITY;
	return bf_fields(code, 5, 10, 15);
}

/* Nearest fp16 with even ties; NaN is 7e00. */
static inline int bf_fp16(double v)
{
	double mag = fabs(v), unit;
	int sign = signbit(v) ? 0x8000 : 0, exp;

	if (isnan(v))
		return 0x7e00;
	if (mag >= 65520)
		return sign | 0x7c00;
	exp = mag < ldexp(1, -14) ? -14 : ilogb(mag);
	unit = ldexp(1, exp - 10);
	/* 0..2048 units; 1024 more per exponent. */
	return sign | ((exp + 14) * 1024 + (int)nearbyint(mag / unit));
}

static inline int bf_add(int a, int b)
{
	return bf_fp16(bf_value(FP16, a) + bf_value(FP16, b));
}

/* A place in the order of values: -0 before +0. */
static inline double bf_order(int h)
{
	double v = bf_value(FP16, h);

	return v == 0 ? (h & 0x8000 ? -ldexp(1, -30) : ldexp(1, -30)) : v;
}

static inline int bf_clamp(int v, int lo, int hi)
{
	if (isnan(bf_value(FP16, v)))
		return v;
	v = bf_order(v) < bf_order(lo) ? lo : v;
	return bf_order(v) > bf_order(hi) ? hi : v;
}

/* The code of the nearest value; ties to the even code. */
static inline int bf_nearest(int fmt, double mag)
{
	int best = 0;

	for (int code = 1; code < 128; code++) {
		double d = fabs(bf_value(fmt, code) - mag), least = fabs(bf_value(fmt, best) - mag);

		if (d < least || (d == least && code % 2 == 0))
			best = code;
	}
	return best;
}

static inline int bf_encode(int fmt, int saturate, int h)
{
	/* The least fp16 that rounding to nearest takes beyond the format. */
	static const double beyond[] = {464.25, 61440, 248, 61440};
	static const int most[] = {0x7e, 0x7b, 0x7f, 0x7f}, nan[] = {0x7f, 0x7e, 0x80, 0x80};
	double v = bf_value(FP16, h), mag = fabs(v);
	int sign = h >> 8 & 128, nuz = fmt == E4M3FNUZ || fmt == E5M2FNUZ;
	int code;

	if (isnan(v))
		return nuz ? 0x80 : nan[fmt] | sign;
	if (nuz && isinf(v))
		return 0x80;
	if (mag >= beyond[fmt]) {
		if (saturate)
			return most[fmt] | sign;
		return fmt == E5M2 ? 0x7c | sign : nuz ? 0x80 : nan[fmt] | sign;
	}
	code = bf_nearest(fmt, mag);
	return nuz && !code ? 0 : code | sign;
}

/* What the device reads: fp16, NaN with sign only. */
static inline int bf_read(int fmt, int code)
{
	double v = bf_value(fmt, code);

	if (!isnan(v))
		return bf_fp16(v);
	if (fmt == FP16)
		return 0x7e00 | (code & 0x8000);
	return fmt == E4M3FN || fmt == E5M2 ? 0x7e00 | (code & 128) << 8 : 0x7e00;
}

/* A sum: units of 2^-28, or an infinity, or NaN. */
static inline double bf_product(int x_fmt, int x, int w_fmt, int w, int scale)
{
	double p = ldexp(bf_value(x_fmt, x) * bf_value(w_fmt, w), scale + 28);

	if (w == 128 && (w_fmt == E4M3FN || w_fmt == E5M2))
		return 0;          /* no product */
	if (isnan(p) || isinf(p))
		return p;
	p = fabs(p) < ldexp(1, 50) ? floor(p + 0.5) : p;
	return p >= ldexp(1, 47) ? INFINITY : p < -ldexp(1, 47) ? -INFINITY : p;
}

static inline double bf_accumulate(double sum, double p)
{
	double v = sum + p;

	if (isnan(v) || isinf(v))
		return v;
	return v >= ldexp(1, 47) ? INFINITY : v < -ldexp(1, 47) ? -INFINITY : v;
}

static inline int bf_sum_out(double sum)
{
	return sum == 0 ? 0 : bf_fp16(ldexp(sum, -28));
}

#endif

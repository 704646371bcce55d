/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scaling of REQUANT, in integers.
 *
 * |acc| * num < 2^79 and den < 2^44. Shifts are cut off where the result is decided
 * anyway: from 2^40 upwards it exceeds 2^15, from 2^-81 downwards it is below 1/2.
 */
#include <math.h>

#include "onnx.h"

typedef unsigned __int128 wide;

#define SATURATED (1 << 20)

/* v = m * 2^e, m odd or of 24 bits. */
static bool split(double v, uint64_t *m, int *e)
{
	if (!isfinite(v) || v <= 0)
		return false;
	double f = ldexp(frexp(v, e), 24);
	*m = (uint64_t)f;
	*e -= 24;
	return (double)*m == f;
}

bool weft_onnx_ratio(double a, double b, double y, struct weft_onnx_ratio *r)
{
	uint64_t ma, mb, my;
	int ea, eb, ey;

	if (!split(a, &ma, &ea) || !split(b, &mb, &eb) || !split(y, &my, &ey))
		return false;
	*r = (struct weft_onnx_ratio){ .num = ma * mb, .den = my, .exp = ea + eb - ey };
	return true;
}

int32_t weft_onnx_scale(int64_t acc, const struct weft_onnx_ratio *r)
{
	wide num = (wide)(uint64_t)(acc < 0 ? -acc : acc) * r->num, den = r->den;

	if (r->product > 0) {
		const float v = nearbyintf((float)acc * r->product);
		return v > SATURATED ? SATURATED : v < -SATURATED ? -SATURATED : (int32_t)v;
	}
	if (!acc || r->exp < -80)
		return 0;
	if (r->exp > 40)
		return acc < 0 ? -SATURATED : SATURATED;
	if (r->exp >= 0)
		num <<= r->exp;
	else
		den <<= -r->exp;
	wide q = num / den, twice = 2 * (num % den);
	if (q >= SATURATED)
		return acc < 0 ? -SATURATED : SATURATED;
	int32_t v = (int32_t)q + (twice > den || (twice == den && (q & 1)));
	return acc < 0 ? -v : v;
}

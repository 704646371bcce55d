/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multipliers with which RESCALE gives ONNX's requantisation.
 *
 * ONNX rounds the real number sum * a * b / y to nearest, ties to even. RESCALE
 * computes (sum * m + 2^(s-1)) >> s. Both are monotonic in the sum, so they are
 * equal for every sum if each of the at most 255 steps of the result happens at
 * the same sum. If the step from k to k + 1 is to happen at sum t, then
 *
 *   m * t >= c  and  m * (t - 1) < c,  c = (2k + 1) * 2^(s-1)
 *
 * which bounds m. Sums that do not occur do not bound it. If the bounds of all
 * steps leave an m, RESCALE gives ONNX's bits with it. They leave none if there are
 * sums that tie at even results and sums that tie at odd ones. With EVEN_ROUND the
 * result at c is even, so that the bounds are
 *
 *   m * t >= c + o  and  m * (t - 1) < c + o,  o = 1 for even k, else 0
 *
 * and if the ratio is num / 2^k, then num times a power of two always is such an m.
 * With other ratios (averages of 6 x 6 elements, say) sums tie only if m is no integer.
 * Then two RESCALEs are taken, with an m a bit above and one a bit below: they differ in
 * the ties alone, which one rounds from zero and the other to zero, and of two numbers
 * side by side one is even (onnx_requant.c).
 */
#include <math.h>
#include <stdlib.h>

#include "sim/golden/golden.h"
#include "onnx_exact_scale.h"

typedef __int128 wide;

/* Returns a / b rounded down; b is not 0. */
static wide floor_div(wide a, wide b)
{
	wide q = a / b;

	return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/*
 * Returns the least sum whose requantised result, by ratio r and before the zero point is added, is
 * above k. real is the ratio as a double; the search starts from its estimate.
 */
static int64_t step_at(const struct weft_onnx_ratio *r, double real, int k)
{
	int64_t t = (int64_t)ceil(((double)k + 0.5) / real);

	while (weft_onnx_scale(t - 1, r) > k)
		t--;
	while (weft_onnx_scale(t, r) <= k)
		t++;
	return t;
}

/*
 * Says whether sum t times ratio r is exactly k + 1/2. Both sides are compared times 2 * den, which
 * stays below 2^128. False if t is 0 or has another sign than k + 1/2, or if the ratio's exponent
 * is above 39 or below -126, where that would not hold.
 */
static bool is_tie(const struct weft_onnx_ratio *r, int64_t t, int k)
{
	unsigned __int128 a = 2 * (unsigned __int128)(uint64_t)(t < 0 ? -t : t) * r->num, b = (unsigned __int128)(uint64_t)llabs(2 * (long long)k + 1) * r->den;
	const int down = -r->exp;

	if ((t < 0) != (k < 0) || !t || r->exp > 39 || down > 126)
		return false;
	if (r->exp >= 0)
		return a << r->exp == b;
	return a >> down == b && (a >> down) << down == a;
}

/*
 * Narrows *lo..*hi to the multipliers m with v * m >= c, or with v * m < c if `less` is set.
 * Returns whether any is left; for v = 0, which no multiplier changes, the range stays as it is and
 * the result says whether the condition holds.
 */
static bool bound(wide v, wide c, bool less, wide *lo, wide *hi)
{
	wide edge;

	if (!v)
		return less ? 0 < c : 0 >= c;
	/* less than c: v*m <= c-1 */
	if ((v > 0) != less) {
		edge = less ? -floor_div(c - 1, -v) : -floor_div(-c, v);
		*lo = edge > *lo ? edge : *lo;
	} else {
		edge = less ? floor_div(c - 1, v) : floor_div(-c, -v);
		*hi = edge < *hi ? edge : *hi;
	}
	return *lo <= *hi;
}

/*
 * Sets *f to the multiplier, of 31 bits where the shift allows, and the shift (2 to 62) whose
 * quotient is nearest to real. Returns false, with *f unchanged, if real is not positive and
 * finite, if real * most is 2^30 or more (most is the greatest magnitude of sums), or if the shift
 * would be below 2.
 */
bool ox_nearest(double real, double most, struct ox_factor *f)
{
	int e;

	if (!(real > 0) || !isfinite(real) || real * most >= (double)(1 << 30))
		return false;
	(void)frexp(real, &e);
	int s = 31 - e;
	if (s < 2)
		return false;
	s = s > 62 ? 62 : s;
	double m = rint(ldexp(real, s));
	if (m >= 2147483648.0) {
		m /= 2;
		s--;
	}
	*f = (struct ox_factor){ (int32_t)m, (int8_t)s };
	return true;
}

int64_t ox_scaled(int64_t v, struct ox_factor f, bool even)
{
	return even ? weft_apply_scale_even(v, f.mul, f.shift) : (v * f.mul + ((int64_t)1 << (f.shift - 1))) >> f.shift;
}

/*
 * Returns the least sum of least..most whose requantised result by ratio r, before the zero point
 * is added, is above k. If that step is more than 2 outside the range, returns least - 1 or most +
 * 2, on the same side. real is the ratio as a double.
 */
static int64_t step(const struct weft_onnx_ratio *r, double real, int k, int64_t least, int64_t most)
{
	double about = ((double)k + 0.5) / real;

	return about < (double)least - 2 ? least - 1 : about > (double)most + 2 ? most + 2 : step_at(r, real, k);
}

/*
 * Sets *f to a multiplier and shift with which RESCALE gives what ONNX's requantisation by ratio r
 * gives, for every sum of least..most and results limited to lo..hi (the type's limits less the
 * zero point). ties says how RESCALE rounds and what is to become of ties. Of several multipliers
 * the one nearest to the ratio is taken. Returns true; or false if no multiplier does that, if
 * ox_nearest() finds none for the greatest magnitude of sums, or if ties are to go from or to zero
 * and r->product is above 0. *f then is the nearest factor or unchanged.
 */
bool ox_exact(const struct weft_onnx_ratio *r, int lo, int hi, int64_t least, int64_t most, enum ox_ties ties, struct ox_factor *f)
{
	const bool even = ties == OX_EVEN;
	double real = ldexp((double)r->num / (double)r->den, r->exp), top = fmax(-(double)least, (double)most);
	wide from = 0, to = INT32_MAX;

	if (!ox_nearest(real, top, f) || (r->product > 0 && ties >= OX_FROM_ZERO))
		return false;
	for (int k = lo; k < hi; k++) {
		wide c = ((wide)2 * k + 1) * ((wide)1 << (f->shift - 1)) + (even && !(k & 1));
		int64_t t = step(r, real, k, least, most);

		/* To even, a tie goes up where k is odd. */
		bool up = ties == OX_FROM_ZERO ? k >= 0 : k < 0;
		if (ties >= OX_FROM_ZERO && up && is_tie(r, t - 1, k))
			t--;
		else if (ties >= OX_FROM_ZERO && !up && is_tie(r, t, k))
			t++;

		/* The least sum that is to be above k, and the greatest that is not. */
		int64_t above = t > least ? t : least, below = t - 1 < most ? t - 1 : most;
		if (above <= most && !bound(above, c, false, &from, &to))
			return false;
		if (below >= least && !bound(below, c, true, &from, &to))
			return false;
	}
	if (f->mul < from || f->mul > to)
		f->mul = (int32_t)(f->mul < from ? from : to);
	return true;
}

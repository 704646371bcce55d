/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums to results by a scale in float64, as LiteRT's FULLY_CONNECTED does:
 *
 *   y = clip(round(sum * s) + zero point),  s = sx * sw / sy in float64,
 *
 * where the product is rounded to float64, then to the nearest integer, halves away
 * from zero. A RESCALE of 31 bits comes close to that and is not equal to it for
 * every sum. But the weights say which sums occur, and y is a staircase: it suffices
 * that the RESCALE steps where y steps. So a multiplier is looked for that does, first
 * of 31 bits; then, for results of 16 bits, which have too many steps for that, of
 * 31 + 15 bits in several operators.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tflite_lower.h"

__extension__ typedef __int128 wide;

/* How the sums of one channel become results. */
struct stairs {
	double scale;              /* results are sums times this, rounded */
	int64_t from, to;          /* the least and the greatest sum that occurs, within int32 */
	int32_t low, high;         /* the limits of results, less the zero point */
};

/*
 * Returns the result, less the zero point, that float64 arithmetic gives for a sum: sum * s->scale
 * rounded, halves away from zero, and limited to s->low..s->high.
 */
static int64_t exact(const struct stairs *s, int64_t sum)
{
	double v = round((double)sum * s->scale);

	return v < (double)s->low ? s->low : v > (double)s->high ? s->high : (int64_t)v;
}

/*
 * Returns the first sum of s->from..s->to whose result by exact() is v or more, or s->to + 1 if
 * there is none.
 */
static int64_t step(const struct stairs *s, int64_t v)
{
	double near = ((double)v - 0.5) / s->scale;
	int64_t at = near < (double)s->from ? s->from : near > (double)s->to ? s->to + 1 : (int64_t)floor(near);

	while (at > s->from && exact(s, at - 1) >= v)
		at--;
	while (at <= s->to && (at < s->from || exact(s, at) < v))
		at++;
	return at;
}

/* Returns a / b rounded down. */
static wide floor_div(wide a, wide b)
{
	wide q = a / b;

	return q - (a % b && (a < 0) != (b < 0));
}

/*
 * Narrows *low..*high to the multipliers m with m * sum >= limit, or with m * sum < limit if `more`
 * is false. If there is none, *low is above *high afterwards.
 */
static void narrow_to(wide *low, wide *high, int64_t sum, wide limit, bool more)
{
	wide at;

	if (!sum) {
		if (more ? limit > 0 : limit <= 0)
			*high = *low - 1;
		return;
	}
	if (more)
		at = sum > 0 ? -floor_div(-limit, sum) : floor_div(limit, sum);
	else
		at = sum > 0 ? floor_div(limit - 1, sum) : -floor_div(1 - limit, sum);
	if ((sum > 0) == more)
		*low = at > *low ? at : *low;
	else
		*high = at < *high ? at : *high;
}

/*
 * Says whether the step to result v lies so far from the nearest integer sums that a scale which is
 * wrong by a part of 2^-28 would have it between the same sums, so that it need not be tried.
 */
static bool is_plain(const struct stairs *s, int64_t v)
{
	double at = ((double)v - 0.5) / s->scale, part = at - floor(at), margin = fabs(at) * 0x1p-28 + 0x1p-10;

	return part > margin && part < 1 - margin;
}

/*
 * Sets *f to a factor, of 31 bits at most, with which a RESCALE with one rounding gives exact()'s result
 * for every sum of s; results beyond s->low and s->high may differ, since they are limited later. Only
 * multipliers that differ by at most 4 from the nearest one are looked at. Returns false, with *f
 * unchanged, if none of them does, or the scale or a result is too large for RESCALE.
 */
static bool one_multiplier(const struct stairs *s, struct tfl_factor *f)
{
	int e, shift;
	int64_t least = exact(s, s->from), most = exact(s, s->to);

	frexp(s->scale, &e);
	shift = 31 - e > 62 ? 62 : 31 - e;
	if (shift < 2 || fabs((double)s->from * s->scale) >= 0x1p31 || fabs((double)s->to * s->scale) >= 0x1p31)
		return false;
	wide nearest = (wide)llround(ldexp(s->scale, shift)), low = nearest - 4, high = nearest + 4;
	low = low < 0 ? 0 : low;
	high = high > INT32_MAX ? INT32_MAX : high;
	if (least > s->low)
		narrow_to(&low, &high, s->from, (2 * (wide)least - 1) * ((wide)1 << (shift - 1)), true);
	if (most < s->high)
		narrow_to(&low, &high, s->to, (2 * (wide)most + 1) * ((wide)1 << (shift - 1)), false);
	for (int64_t v = least + 1; v <= most && low <= high; v++) {
		if (is_plain(s, v))
			continue;
		const wide limit = (2 * (wide)v - 1) * ((wide)1 << (shift - 1));
		const int64_t at = step(s, v);
		narrow_to(&low, &high, at, limit, true);
		narrow_to(&low, &high, at - 1, limit, false);
	}
	if (low > high)
		return false;
	f->multiplier = (int32_t)(nearest < low ? low : nearest > high ? high : nearest);
	f->shift = (int8_t)shift;
	return true;
}

/* ---- more bits ---- */

/*
 * A factor of 46 bits: (multiplier + fine / 2^15) / 2^shift. A sum's product with the
 * multiplier is computed in two words of 32 bits; the lowest two bits of it, and of the
 * product with fine, are left out, which only shows where a result steps.
 */
struct fine_factor { int32_t multiplier, fine; int shift; };

/*
 * Returns the sum times factor f as fine_operators() computes it, from 32-bit halves of the
 * product, rounded half up.
 */
static int64_t by_fine(const struct fine_factor *f, int64_t sum)
{
	int64_t product = sum * f->multiplier;
	int32_t lower = (int32_t)(uint32_t)(uint64_t)product;
	int64_t upper = (product - lower) >> 32;
	int64_t more = (sum * f->fine + (1 << 14)) >> 15;
	int64_t carry = ((lower >> 2) + (more >> 2)) >> 30;

	return (upper + carry + ((int64_t)1 << (f->shift - 33))) >> (f->shift - 32);
}

/*
 * Says whether by_fine() with factor f, which differs from s->scale by less than a part of 2^-28,
 * gives exact()'s result for every sum of s; results beyond s->low and s->high may differ, since they
 * are limited later. Only steps so near to an integer sum that such an error could move them are
 * tried.
 */
static bool fine_fits(const struct stairs *s, const struct fine_factor *f)
{
	int64_t least = exact(s, s->from), most = exact(s, s->to);

	for (int64_t v = least + 1; v <= most; v++) {
		if (is_plain(s, v))
			continue;
		const int64_t at = step(s, v);
		if (by_fine(f, at) < v || by_fine(f, at - 1) >= v)
			return false;
	}
	return (least == s->low || by_fine(f, s->from) >= least) && (most == s->high || by_fine(f, s->to) <= most);
}

/*
 * Sets *f to a multiplier of 46 bits near the scale of s, with its shift, for which fine_fits() is true.
 * Returns false if none of the four from the scale's own bits on is, or the shift is not 34..62; *f is
 * then not to be used.
 */
static bool fine_multiplier(const struct stairs *s, struct fine_factor *f)
{
	int e;
	int64_t bits = (int64_t)(frexp(s->scale, &e) * 0x1p46);

	f->shift = 31 - e;
	if (f->shift < 34 || f->shift > 62)
		return false;
	for (int64_t more = 0; more < 4 && bits + more < INT64_C(1) << 46; more++) {
		f->multiplier = (int32_t)((bits + more) >> 15);
		f->fine = (int32_t)((bits + more) & 0x7FFF);
		if (fine_fits(s, f))
			return true;
	}
	return false;
}

/*
 * Adds an int32 constant, named after the result at hand and `name`, with the multipliers of the n
 * factors f along the last of `rank` dimensions, the others 1. Returns the graph tensor, or a negative
 * errno.
 */
static int per_channel_constant(struct tfl_lower *l, const char *name, int rank, int64_t n, const struct fine_factor *f)
{
	int64_t dim[WEFT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	int32_t *v = tfl_alloc(l, n, sizeof *v);

	if (!v)
		return l->err;
	for (int64_t i = 0; i < n; i++)
		v[i] = f[i].multiplier;
	dim[rank - 1] = n;
	return tfl_data(l, name, WEFT_INT32, rank, dim, v);
}

/*
 * Emits int32 x shifted right by a number of bits, rounded down. Returns the graph tensor, or a
 * negative errno.
 */
static int shifted_right(struct tfl_lower *l, int x, int by)
{
	weft_tensor t = l->g->tensors[x].t;
	weft_attr a = { .shift = { .round = false } };
	int n = tfl_number(l, "shift", WEFT_INT32, t.rank, by);

	return n < 0 ? n : tfl_step(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &a, (int[]){ x, n }, 2, WEFT_INT32, t.rank, t.dim, false);
}

/*
 * Emits the sum of int32 tensors a and b; the shape is a's. Returns the graph tensor, or a negative
 * errno.
 */
static int added(struct tfl_lower *l, int a, int b)
{
	weft_tensor t = l->g->tensors[a].t;

	return tfl_step(l, WEFT_OP_ADD, NULL, (int[]){ a, b }, 2, WEFT_INT32, t.rank, t.dim, false);
}

/*
 * Emits int32 x times factors f, one for all or one for each of n channels, with one rounding (half
 * up), as type `to` with zero point zp; last: the result is the operator's own. Returns the graph
 * tensor, or a negative errno.
 */
static int scaled(struct tfl_lower *l, int x, int64_t n, const struct tfl_factor *f, weft_dtype to, int32_t zp, bool last)
{
	struct tfl_rescale r = { .to = to, .rounding = WEFT_SINGLE_ROUND, .y_zp = zp, .n = n, .f = f };

	return tfl_rescale(l, x, &r, last);
}

/*
 * Emits int32 x times the n channels' factors f, as by_fine() computes it, in y's type with y's zero point;
 * last: the result is the operator's own. Returns the graph tensor, or a negative errno.
 */
static int fine_operators(struct tfl_lower *l, int x, int64_t n, const struct fine_factor *f, const struct tfl_quant *y, bool last)
{
	struct tfl_factor *part = tfl_alloc(l, n, sizeof *part);
	weft_tensor t = l->g->tensors[x].t;
	weft_attr mul = { .mul = { 0 } };
	int m, lower, upper, more;

	if (!part)
		return l->err;
	for (int64_t i = 0; i < n; i++)
		part[i] = (struct tfl_factor){ f[i].multiplier, 32 };
	upper = scaled(l, x, n, part, WEFT_INT32, 0, false);
	for (int64_t i = 0; i < n; i++)
		part[i] = (struct tfl_factor){ f[i].fine, 15 };
	more = upper < 0 ? upper : scaled(l, x, n, part, WEFT_INT32, 0, false);
	m = more < 0 ? more : per_channel_constant(l, "product", t.rank, n, f);
	lower = m < 0 ? m : tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ x, m }, 2, WEFT_INT32, t.rank, t.dim, false);
	if (lower >= 0 && (lower = shifted_right(l, lower, 2)) >= 0 && (more = shifted_right(l, more, 2)) >= 0 &&
	    (lower = added(l, lower, more)) >= 0 && (lower = shifted_right(l, lower, 30)) >= 0)
		upper = added(l, upper, lower);
	for (int64_t i = 0; i < n; i++)
		part[i] = (struct tfl_factor){ 1 << 29, (int8_t)(f[i].shift - 32 + 29) };
	if (lower >= 0 && more >= 0 && upper >= 0)
		upper = scaled(l, upper, n, part, y->t, y->zp, last);
	free(part);
	return lower < 0 ? lower : more < 0 ? more : upper;
}

/* ---- an operator's result ---- */

/*
 * Returns the scale of channel c in float64, its range of sums from *e, and the limits low and high
 * of results less the zero point, for a result with quantisation y.
 */
static struct stairs stairs_of(const struct tfl_exact *e, int64_t c, const struct tfl_quant *y, int32_t low, int32_t high)
{
	const double scale = (double)e->x_scale * (double)e->w_scale[e->n > 1 ? c : 0] / (double)y->scale;
	struct stairs s = { .scale = scale, .from = e->from[c], .to = e->to[c], .low = low, .high = high };

	return s;
}

/* Says whether the sums of all channels of *e fit int32. */
static bool fit_int32(const struct tfl_exact *e)
{
	for (int64_t c = 0; c < e->channels; c++)
		if (e->from[c] < INT32_MIN || e->to[c] > INT32_MAX)
			return false;
	return true;
}

/*
 * Emits int32 sums x requantised to y: by one RESCALE, or by the operators of by_fine(). A sum of a channel
 * from e->from to e->to gets exact()'s result if that, with y's zero point, lies between lo and hi; otherwise
 * the result may differ, and limiting it is left to the caller. last: the result is the operator's own.
 * Returns the graph tensor, 0 if neither of the two gives every such result, or a negative errno.
 */
static int by_rescale(struct tfl_lower *l, int x, const struct tfl_exact *e, const struct tfl_quant *y, int32_t lo, int32_t hi,
                      bool last)
{
	struct tfl_factor *f = tfl_alloc(l, e->channels, sizeof *f);
	struct fine_factor *fine = f ? tfl_alloc(l, e->channels, sizeof *fine) : NULL;
	bool one = true, two = true;
	int r = 0;

	for (int64_t c = 0; fine && c < e->channels && one; c++) {
		struct stairs s = stairs_of(e, c, y, lo - y->zp, hi - y->zp);
		one = one_multiplier(&s, &f[c]);
	}
	for (int64_t c = 0; fine && c < e->channels && !one && two; c++) {
		struct stairs s = stairs_of(e, c, y, lo - y->zp, hi - y->zp);
		two = fine_multiplier(&s, &fine[c]);
	}
	if (!fine)
		r = l->err;
	else if (one)
		r = scaled(l, x, e->channels, f, y->t, y->zp, last);
	else if (two)
		r = fine_operators(l, x, e->channels, fine, y, last);
	free(f);
	free(fine);
	return r;
}

/*
 * Emits sums x requantised to y on the host by TFL_REQUANTIZE, in float64 as the framework does;
 * last: the result is the operator's own. Returns the graph tensor, or a negative errno.
 */
static int by_float64(struct tfl_lower *l, int x, const struct tfl_exact *e, const struct tfl_quant *y, bool last)
{
	weft_attr a = { .quant = { .x_scale = e->x_scale, .y_scale = y->scale, .y_zp = y->zp } };
	float *s = tfl_alloc(l, e->n, sizeof *s);
	weft_tensor t = l->g->tensors[x].t;

	if (!s)
		return l->err;
	for (int64_t c = 0; c < e->n; c++)
		s[c] = e->w_scale[c];
	int i = tfl_data(l, "scale", WEFT_FP32, 1, &e->n, s);
	return i < 0 ? i : tfl_step(l, WEFT_OP_TFL_REQUANTIZE, &a, (int[]){ x, i }, 2, y->t, t.rank, t.dim, last);
}

/*
 * Emits sums x, whose scales and ranges are in *e, requantised to the result at hand with float64's results
 * and its activation: on the device if the sums fit int32 and RESCALEs give the same for all that occur, else
 * on the host; last: the result is the operator's own. Returns the graph tensor, or a negative errno.
 */
int tfl_requantise_exact(struct tfl_lower *l, int x, const struct tfl_exact *e, int activation, bool last)
{
	struct tfl_quant q;
	int32_t lo, hi;
	int err = tfl_need_result(l, TFL_Q8_16, &q), y = 0;

	if (err || (err = tfl_limits(l, activation, &q, &lo, &hi)))
		return err;
	bool clamp = tfl_tighter(q.t, lo, hi), fits = fit_int32(e);
	if (fits && l->g->tensors[x].t.dtype == WEFT_INT48 && (x = tfl_narrow(l, x)) < 0)
		return x;
	if (fits && (y = by_rescale(l, x, e, &q, lo, hi, last && !clamp)) < 0)
		return y;
	if (!y)
		y = by_float64(l, x, e, &q, last && !clamp);
	return y < 0 || !clamp ? y : tfl_clamp(l, y, lo, hi, last);
}

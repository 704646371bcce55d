/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_SOFTMAX: TensorFlow Lite's SOFTMAX over the last axis; int16 input is in
 * tfl_softmax16.c.
 *
 *   x  rank 1 or more, int8; scale x_scale (its zero point cancels)
 *   y  x's shape; int8 (scale 2^-8, zero point -128) or int16 (2^-16, -32768)
 *
 * The difference to the row's maximum is scaled to Q5.26; exp of it is a Q0.31
 * number; the sum is kept in Q12.19. Differences below -31 in Q5.26 count as 0.
 *
 * Source: gemmlowp's fixed-point design as TensorFlow Lite's reference kernel
 * uses it. No overflow: products are formed in 64 bits; a row of 2^12 ones
 * would fill the sum, so it wraps like theirs beyond that.
 */
#include <math.h>

#include "../fast/fast.h"
#include "fixed_exp.h"
#include "tfl_softmax.h"
#include "tfl_softmax16.h"

struct scale {
	int32_t multiplier;
	int shift_left;
	int32_t least;             /* differences below count as 0 */
};

/*
 * beta * x_scale as a Q5.26 factor. TensorFlow Lite stops at one that is not
 * above 2^-26, where differences of 255 steps come to less than 2^-18 and all
 * exponentials are almost 1; as if the factor were 2^-26, then.
 */
static bool make_scale(const struct weft_attr_tfl_softmax *a, struct scale *s)
{
	double real = (double)a->beta * (double)a->x_scale * (double)(1 << 26);

	if (!(real >= 0))
		return false;
	if (real < 1.0)
		real = 1.0;
	if (real > 2147483647.0)
		real = 2147483647.0;
	weft_quantize_multiplier(real, &s->multiplier, &s->shift_left);
	s->least = -(int32_t)floor(31.0 * (double)(1 << 26) / ldexp(1.0, s->shift_left));
	return true;
}

static int32_t exp_of_difference(const struct scale *s, int32_t diff)
{
	/* least <= diff <= 0, so diff << shift_left stays above -2^31 */
	return weft_exp_negative(5, weft_mul_q31((int32_t)((int64_t)diff * ((int64_t)1 << s->shift_left)), s->multiplier));
}

bool weft_softmax8_exps(const struct weft_attr_tfl_softmax *a, int32_t exps[256])
{
	struct scale s;

	if (!make_scale(a, &s))
		return false;
	for (int32_t diff = -255; diff <= 0; diff++)
		exps[diff + 255] = diff >= s.least ? exp_of_difference(&s, diff) : 0;
	return true;
}

static void one_row(const struct scale *s, const int8_t *x, const weft_tensor *y, int64_t at, int64_t n)
{
	const int drop = y->dtype == WEFT_INT8 ? 23 : 15; /* Q0.31 to the output's 8 or 16 bits */
	const int64_t lo = weft_int_min(y->dtype), hi = weft_int_max(y->dtype);
	int32_t max = x[0], sum = 0, reciprocal;
	int over_unit, shift;

	for (int64_t i = 1; i < n; i++)
		max = x[i] > max ? x[i] : max;
	for (int64_t i = 0; i < n; i++) {
		if (x[i] - max >= s->least)
			sum = weft_add_wrap(sum, weft_shift_right(exp_of_difference(s, x[i] - max), 12));
	}
	shift = sum == 0 ? 0 : __builtin_clz((uint32_t)sum);
	over_unit = 12 - shift;
	reciprocal = weft_reciprocal_1p((int32_t)(((uint32_t)sum << shift) - 0x80000000u));
	shift = (int)weft_clip(over_unit + drop, 0, 31);
	for (int64_t i = 0; i < n; i++) {
		int64_t v = 0;

		if (x[i] - max >= s->least)
			v = weft_shift_right(weft_mul_q31(reciprocal, exp_of_difference(s, x[i] - max)), shift);
		weft_put(y, at + i, weft_clip(v + lo, lo, hi));
	}
}

int weft_golden_tfl_softmax(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	struct scale s;
	int64_t n, total;
	int err;

	if (!(x->dtype == WEFT_INT8 && y->dtype == WEFT_INT8) &&
	    !((x->dtype == WEFT_INT8 || x->dtype == WEFT_INT16) && y->dtype == WEFT_INT16))
		return weft_call_fail(c, -EINVAL, "types %s -> %s, must be int8 or int16 -> int16, or int8 -> int8",
		                      weft_dtype_name(x->dtype), weft_dtype_name(y->dtype));
	if (x->rank < 1)
		return weft_call_fail(c, -EINVAL, "input has rank 0");
	if ((err = weft_check_same(c, false)))
		return err;
	if (x->dtype == WEFT_INT16)
		return weft_tfl_softmax16(c);
	if (!make_scale(&c->attr->tfl_softmax, &s))
		return weft_call_fail(c, -EINVAL, "beta %g * scale %g must not be negative",
		                      (double)c->attr->tfl_softmax.beta,
		                      (double)c->attr->tfl_softmax.x_scale);
	if (c->fast && weft_fast_tfl_softmax(c) == 0)
		return 0;
	n = x->dim[x->rank - 1];
	total = weft_tensor_elements(x);
	for (int64_t i = 0; i < total; i += n)
		one_row(&s, (const int8_t *)x->data + i, y, i, n);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_L2_NORMALIZATION and TFL_LOG_SOFTMAX: TensorFlow Lite's, of int8, over the
 * last axis.
 *
 *   x  rank 1 or more, int8; zero point x_zp, or scale x_scale (its zero point cancels)
 *   y  x's shape and type; scale 2^-7, zero point 0, or scale 2^-4, zero point 127
 *
 * The norm: the sum of squares, its inverse root as Q0.31 and a shift by five
 * Newton steps from 1. left of the result's 7 fraction bits are there before the
 * two roundings: none in the kernel of int8, all in uint8's, where x and y are 128
 * less here.
 *
 * The logarithm: differences to the row's maximum are scaled to Q5.26, exp of
 * each is summed in Q12.19, and what is subtracted is the sum's logarithm. From
 * some difference on the result is the least.
 *
 * Source: TensorFlow Lite's reference kernels, in gemmlowp's fixed point. Products
 * are formed in 64 bits. A row of 2^15 squares may wrap like theirs; a sum of more
 * than 2^12 exponentials, which theirs leaves open, stays at the greatest.
 */
#include <math.h>

#include "fixed_log.h"
#include "inverse_root.h"

/* x * m * 2^(shift - 31), rounded after the product and after the shift to the right. */
static int32_t scaled(int32_t x, int32_t m, int shift)
{
	int32_t left = shift > 0 ? (int32_t)((uint32_t)x << shift) : x;

	return weft_shift_right(weft_mul_q31(left, m), shift > 0 ? 0 : -shift);
}

void weft_inverse_root(int32_t x, int32_t *m, int *shift)
{
	const int32_t half_root_2 = 1518500250, three_halves = (1 << 28) + (1 << 27);
	int32_t y = 1 << 28;           /* Q3.28 from here */
	int right = 11;

	if (x <= 1) {
		*m = INT32_MAX;
		*shift = 0;
		return;
	}
	for (; x >= 1 << 29; x /= 4)
		right++;
	const int pairs = (__builtin_clz((uint32_t)x) - 1) / 2 - 1;
	right -= pairs;
	const int32_t half = weft_shift_right((int32_t)((uint32_t)x << (2 * pairs)) >> 1, 1);
	for (int i = 0; i < 5; i++) {
		int32_t cube = weft_shift_left(weft_mul_q31(weft_mul_q31(y, y), y), 6);
		y = weft_shift_left(weft_add_wrap(weft_mul_q31(three_halves, y), -weft_mul_q31(half, cube)), 3);
	}
	y = weft_mul_q31(y, half_root_2);
	*m = right < 0 ? (int32_t)((uint32_t)y << -right) : y;
	*shift = right < 0 ? 0 : -right;
}

static void norm_row(const struct weft_attr_tfl_norm *a, const int8_t *x, int8_t *y, int64_t n)
{
	uint32_t sum = 0;
	int32_t m;
	int shift;

	for (int64_t i = 0; i < n; i++)
		sum += (uint32_t)((x[i] - a->x_zp) * (x[i] - a->x_zp));
	weft_inverse_root((int32_t)sum, &m, &shift);
	for (int64_t i = 0; i < n; i++) {
		int32_t d = x[i] - a->x_zp;
		y[i] = (int8_t)weft_clip(scaled(d * (1 << a->left), m, shift + 7 - a->left), -128, 127);
	}
}

static int check(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];

	if (x->dtype != WEFT_INT8 || y->dtype != WEFT_INT8)
		return weft_call_fail(c, -EINVAL, "types %s -> %s, must be int8", weft_dtype_name(x->dtype),
		                      weft_dtype_name(y->dtype));
	if (x->rank < 1)
		return weft_call_fail(c, -EINVAL, "input has rank 0");
	return weft_check_same(c, false);
}

int weft_golden_tfl_l2_normalization(const struct weft_call *c)
{
	const struct weft_attr_tfl_norm *a = &c->attr->tfl_norm;
	const weft_tensor *x = c->x[0];
	int err = check(c);

	if (err)
		return err;
	if (a->x_zp < -128 || a->x_zp > 127 || (a->left && a->left != 7))
		return weft_call_fail(c, -EINVAL, "zero point %d, left %d", (int)a->x_zp, (int)a->left);
	const int64_t n = x->dim[x->rank - 1], total = weft_tensor_elements(x);
	for (int64_t i = 0; i < total; i += n)
		norm_row(a, (const int8_t *)x->data + i, (int8_t *)c->y[0]->data + i, n);
	return 0;
}

/* A number above 1 as a factor to Q5.26, and its inverse. */
struct factors {
	int32_t m, inverse_m;
	int shift, inverse_shift;
	int32_t least;                 /* differences below count as 0 */
};

static struct factors make_factors(float x_scale)
{
	double real = (double)x_scale * (double)(1 << 26);
	struct factors f;

	weft_quantize_multiplier(real < 2147483647.0 ? real : 2147483647.0, &f.m, &f.shift);
	weft_quantize_multiplier((double)(INT64_C(1) << (31 - f.shift)) / (double)f.m, &f.inverse_m, &f.inverse_shift);
	f.least = -(int32_t)floor(31.0 * (double)(1 << 26) / ldexp(1.0, f.shift));
	return f;
}

static int32_t difference(const struct factors *f, int32_t diff)
{
	return scaled(diff, f->m, f->shift);
}

static void log_row(const struct factors *f, const int8_t *x, int8_t *y, int64_t n)
{
	int32_t max = x[0];
	int64_t sum = 0;

	for (int64_t i = 1; i < n; i++)
		max = x[i] > max ? x[i] : max;
	for (int64_t i = 0; i < n; i++)
		if (x[i] - max >= f->least)
			sum += weft_shift_right(weft_exp_negative(5, difference(f, x[i] - max)), 12);
	const int32_t log = weft_log_q12((int32_t)weft_clip(sum, 1, INT32_MAX));
	const int32_t reach = scaled(weft_add_wrap(log, INT32_MIN), f->inverse_m, f->inverse_shift);
	const int32_t least = f->least - 1 > reach ? f->least - 1 : reach;
	for (int64_t i = 0; i < n; i++) {
		int32_t v = -128;
		if (x[i] - max > least)
			v = (int32_t)weft_clip(weft_shift_right(weft_add_wrap(difference(f, x[i] - max), -log), 22) + 127, -128, 127);
		y[i] = (int8_t)v;
	}
}

int weft_golden_tfl_log_softmax(const struct weft_call *c)
{
	const float scale = c->attr->tfl_softmax.x_scale;
	const weft_tensor *x = c->x[0];
	int err = check(c);

	if (err)
		return err;
	if (!isfinite(scale) || !(scale > 0x1p-24f))
		return weft_call_fail(c, -EINVAL, "scale %g, must be above 2^-24", (double)scale);
	const struct factors f = make_factors(scale);
	const int64_t n = x->dim[x->rank - 1], total = weft_tensor_elements(x);
	for (int64_t i = 0; i < total; i += n)
		log_row(&f, (const int8_t *)x->data + i, (int8_t *)c->y[0]->data + i, n);
	return 0;
}

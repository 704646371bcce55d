/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_HYBRID: the operand of a dynamic-range ("hybrid") operator, quantised as
 * TensorFlow Lite does at run time, each row for itself.
 *
 *   x      float32 [B, N]
 *   y      int16 [B, N], the code less its zero point, -255..255: a padded element is 0
 *   scale  float32 [B, 1]
 *
 * symmetric: scale = max|x| / 127, codes -127..127, round(x * (127 / max|x|)).
 * Else codes are -128..127: scale = (max - min) / 255 with 0 in the range, the
 * difference in float32 and the quotient in float64; the zero point from the end
 * whose error is the smaller, rounded and kept within -128..127; code = zero point
 * + round(x * (1 / scale)), in float32. A row of zeros has scale 1.
 *
 * Rounding: eight elements at a time by adding a half of x's sign in float32 and
 * cutting off, as vectors do; what is left of the row to nearest, halves away from
 * zero. The two differ for the largest number below a half.
 *
 * Minimum and maximum are found by comparisons, which pass over every NaN. fminf() and fmaxf() would not do: what
 * they return for a signaling NaN depends on the compiler.
 *
 * Source: LiteRT, tensor_utils, SymmetricQuantizeFloats and AsymmetricQuantizeFloats
 * as x86 and ARMv7 run them.
 */
#include <math.h>

#include "sim/golden/ops.h"
#include "sim/golden/tfl/hybrid_row.h"

static int check(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0], *s = c->y[1];

	if (x->dtype != WEFT_FP32 || y->dtype != WEFT_INT16 || s->dtype != WEFT_FP32)
		return weft_call_fail(c, -EINVAL, "types %s -> %s, %s not allowed", weft_dtype_name(x->dtype),
		                      weft_dtype_name(y->dtype), weft_dtype_name(s->dtype));
	if (x->rank != 2 || !weft_same_shape(x, y) || s->rank != 2 || s->dim[0] != x->dim[0] || s->dim[1] != 1)
		return weft_call_fail(c, -EINVAL, "rank %d, must be 2, results [B,N] and [B,1]", x->rank);
	return 0;
}

static float limited(float v, float lo, float hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* Returns v, a whole number of at most 16 bits; 0 if v is no number, which the kernel's conversion makes on x86. */
static int16_t whole(float v)
{
	return isnan(v) ? 0 : (int16_t)v;
}

/* Element i of n, times a factor. */
static float rounded(float v, int64_t i, int64_t n)
{
	return i < n / 8 * 8 ? truncf(v + (v < 0 ? -0.5f : 0.5f)) : roundf(v);
}

static float symmetric_row(const float *x, int16_t *y, int64_t n)
{
	float most = 0;

	for (int64_t i = 0; i < n; i++)
		if (fabsf(x[i]) > most)
			most = fabsf(x[i]);
	for (int64_t i = 0; i < n; i++)
		y[i] = most > 0 ? whole(limited(rounded(x[i] * (127 / most), i, n), -127, 127)) : 0;
	return most > 0 ? most / 127 : 1;
}

static float zero_point(double min, double max, double scale)
{
	const double from_min = -128 - min / scale, from_max = 127 - max / scale;
	const bool lower = 128 + fabs(min / scale) < 127 + fabs(max / scale);
	const double v = round(lower ? from_min : from_max);

	/* If v is NaN, both comparisons are false, and the zero point is 127. */
	return (float)(v <= -128 ? -128 : v < 127 ? v : 127);
}

static float asymmetric_row(const float *x, int16_t *y, int64_t n, int32_t *zero)
{
	float min = 0, max = 0;

	for (int64_t i = 0; i < n; i++) {
		if (x[i] < min)
			min = x[i];
		if (x[i] > max)
			max = x[i];
	}
	const double exact = (double)(max - min) / 255;
	const float scale = (float)exact, inverse = scale > 0 ? (float)(1.0 / (double)scale) : 0;
	const float zp = min < max ? zero_point((double)min, (double)max, exact) : 0;
	*zero = whole(zp);
	for (int64_t i = 0; i < n; i++)
		y[i] = min < max ? whole(limited(zp + rounded(x[i] * inverse, i, n), -128, 127) - zp) : 0;
	return min < max ? scale : 1;
}

float weft_hybrid_row(const float *x, int16_t *y, int64_t n, bool symmetric, int32_t *zp)
{
	*zp = 0;
	return symmetric ? symmetric_row(x, y, n) : asymmetric_row(x, y, n, zp);
}

int weft_golden_tfl_hybrid(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0];
	int err = check(c);

	if (err)
		return err;
	for (int64_t b = 0; b < x->dim[0]; b++) {
		const float *from = (const float *)x->data + b * x->dim[1];
		int16_t *to = (int16_t *)c->y[0]->data + b * x->dim[1];
		int32_t zp;

		((float *)c->y[1]->data)[b] = weft_hybrid_row(from, to, x->dim[1], c->attr->tfl_hybrid.symmetric, &zp);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_RESIZE_BILINEAR: TensorFlow Lite's RESIZE_BILINEAR.
 *
 *   x  [N][H][W][C]   int8 or int16
 *   y  [N][OH][OW][C] x's type
 *
 * Source rows and columns are found in steps of 1/1024: position o takes
 * o * ((1024 * in + out/2) / out), half a pixel later and earlier where
 * half_pixel says so; with align_corners in - 1 and out - 1 replace in and out.
 * Four products with weights of 10 bits each, divided by 2^20 half away from
 * zero. |x| < 2^15 and weights below 2^11 by 2^11: sums fit 64 bits.
 *
 * raw_uint8: x is uint8 less 128. That type TensorFlow Lite computes in
 * float32: the same positions as fractions, products in the order top left,
 * bottom left, top right, bottom right, plus 0.5, cut off.
 */
#include <math.h>

#include "../fast/fast.h"
#include "tfl_resize.h"

#define ONE 1024

struct weft_tfl_tap weft_tfl_resize_tap(const struct weft_tfl_axis *a, int64_t o)
{
	bool align = a->align && a->out > 1;
	int64_t scale = align ? (ONE * (a->in - 1) + (a->out - 1) / 2) / (a->out - 1) : (ONE * a->in + a->out / 2) / a->out;
	int64_t v = o * scale + (a->half ? scale / 2 - ONE / 2 : 0);
	struct weft_tfl_tap t = { .at = { v / ONE > 0 ? v / ONE : 0, (v + ONE - 1) / ONE } };

	if (t.at[1] > a->in - 1)
		t.at[1] = a->in - 1;
	t.w[1] = v - ONE * t.at[0];
	t.w[0] = ONE - t.w[1];
	if (t.at[0] > a->in - 1)   /* only where a coarse scale overshoots */
		t.at[0] = a->in - 1;
	return t;
}

static struct weft_tfl_tap float_tap(const struct weft_tfl_axis *a, int64_t o)
{
	bool align = a->align && a->out > 1;
	float scale = align ? (float)(a->in - 1) / (float)(a->out - 1) : (float)a->in / (float)a->out;
	float v = a->half ? ((float)o + 0.5f) * scale - 0.5f : (float)o * scale;
	int64_t low = (int64_t)floorf(v), high = (int64_t)ceilf(v);
	struct weft_tfl_tap t = { .at = { low > 0 ? low : 0, high < a->in - 1 ? high : a->in - 1 } };

	t.f = v - (float)t.at[0];
	if (t.at[0] > a->in - 1)
		t.at[0] = a->in - 1;
	return t;
}

static int64_t by_integers(const int64_t v[2][2], const struct weft_tfl_tap *y, const struct weft_tfl_tap *x)
{
	int64_t sum = 0, half = (int64_t)1 << 19;

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			sum += v[i][k] * y->w[i] * x->w[k];
	return (sum + (sum > 0 ? half : -half)) / ((int64_t)1 << 20);
}

static int64_t by_floats(const int64_t v[2][2], const struct weft_tfl_tap *y, const struct weft_tfl_tap *x)
{
	float sum = (float)(v[0][0] + 128) * (1 - y->f) * (1 - x->f);

	sum += (float)(v[1][0] + 128) * y->f * (1 - x->f);
	sum += (float)(v[0][1] + 128) * (1 - y->f) * x->f;
	sum += (float)(v[1][1] + 128) * y->f * x->f;
	return (int64_t)(sum + 0.5f) - 128;
}

static int check(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	int err;

	if (x->dtype != y->dtype || (x->dtype != WEFT_INT8 && (x->dtype != WEFT_INT16 || c->attr->tfl_resize.raw_uint8)))
		return weft_call_fail(c, -EINVAL, "types %s -> %s, must be int8 -> int8 or int16 -> int16",
		                      weft_dtype_name(x->dtype), weft_dtype_name(y->dtype));
	if ((err = weft_check_rank(c, "input", x, 4)) || (err = weft_check_rank(c, "output", y, 4)))
		return err;
	if (x->dim[0] != y->dim[0] || x->dim[3] != y->dim[3])
		return weft_call_fail(c, -EINVAL, "output has batch %lld, channels %lld, must be %lld, %lld", (long long)y->dim[0],
		                      (long long)y->dim[3], (long long)x->dim[0], (long long)x->dim[3]);
	for (int d = 1; d < 3; d++)
		if (x->dim[d] > 1 << 20 || y->dim[d] > 1 << 20)
			return weft_call_fail(c, -EINVAL, "extents above 2^20");
	return 0;
}

/* One output pixel, all channels. */
static void pixel(const struct weft_call *c, int64_t n, const struct weft_tfl_tap *ty, const struct weft_tfl_tap *tx, int64_t out)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t ch = x->dim[3];
	int64_t row[2][2], v[2][2];

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			row[i][k] = ((n * x->dim[1] + ty->at[i]) * x->dim[2] + tx->at[k]) * ch;
	for (int64_t s = 0; s < ch; s++) {
		for (int i = 0; i < 2; i++)
			for (int k = 0; k < 2; k++)
				v[i][k] = weft_get(x, row[i][k] + s);
		weft_put(y, out + s, c->attr->tfl_resize.raw_uint8 ? by_floats(v, ty, tx) : by_integers(v, ty, tx));
	}
}

int weft_golden_tfl_resize_bilinear(const struct weft_call *c)
{
	const struct weft_attr_tfl_resize *a = &c->attr->tfl_resize;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const struct weft_tfl_axis ay = { x->dim[1], y->dim[1], a->align_corners, a->half_pixel };
	const struct weft_tfl_axis ax = { x->dim[2], y->dim[2], a->align_corners, a->half_pixel };
	int64_t out = 0;
	int err = check(c);

	if (err)
		return err;
	if (c->fast && weft_fast_tfl_resize_bilinear(c) == 0)
		return 0;
	for (int64_t n = 0; n < y->dim[0]; n++)
		for (int64_t oy = 0; oy < ay.out; oy++)
			for (int64_t ox = 0; ox < ax.out; ox++, out += y->dim[3]) {
				struct weft_tfl_tap ty = a->raw_uint8 ? float_tap(&ay, oy) : weft_tfl_resize_tap(&ay, oy);
				struct weft_tfl_tap tx = a->raw_uint8 ? float_tap(&ax, ox) : weft_tfl_resize_tap(&ax, ox);

				pixel(c, n, &ty, &tx, out);
			}
	return 0;
}

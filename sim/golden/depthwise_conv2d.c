/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DEPTHWISE_CONV2D, the plain loops. TOSA 1.0 section 2.3.5.
 *
 *   x    [N][IH][IW][C]     int8, zero point x_zp; or int16
 *   w    [KH][KW][C][M]     int8, zero point w_zp; or int4
 *   bias [C*M] or [1]       int32; int48 for int16 x
 *   y    [N][OH][OW][C*M]   int32; int48 for int16 x; channel c*M + m
 *
 * Floats: float/conv.c.
 *
 * Sums as in conv2d.c: modulo 2^64, then cut to the accumulator's width.
 */
#include "fast/fast.h"
#include "float/ops.h"

static int check(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *w = c->x[1], *y = c->y[0];
	int err;

	if ((err = weft_check_rank(c, "input", x, 4)) ||
	    (err = weft_check_rank(c, "weight", w, 4)) ||
	    (err = weft_check_rank(c, "output", y, 4)))
		return err;
	if (w->dim[2] != x->dim[3])
		return weft_call_fail(c, -EINVAL, "weight has %lld input channels, input %lld",
		                      (long long)w->dim[2], (long long)x->dim[3]);
	return weft_check_conv(c, w->dim[0], w->dim[1], w->dim[2] * w->dim[3]);
}

/* o: n, oy, ox, c*M + m */
static int64_t at(const struct weft_call *c, const int64_t *o)
{
	const struct weft_attr_conv *a = &c->attr->conv;
	const weft_tensor *x = c->x[0], *w = c->x[1];
	const int64_t ih = x->dim[1], iw = x->dim[2], ic = x->dim[3];
	const int64_t kw = w->dim[1], m = w->dim[3];
	uint64_t acc = 0;

	for (int64_t ky = 0; ky < w->dim[0]; ky++) {
		for (int64_t kx = 0; kx < kw; kx++) {
			int64_t py = o[1] * a->stride[0] - a->pad[0] + ky * a->dilation[0];
			int64_t px = o[2] * a->stride[1] - a->pad[2] + kx * a->dilation[1];

			if (py < 0 || py >= ih || px < 0 || px >= iw)
				continue;
			acc += (uint64_t)((weft_get(x, ((o[0] * ih + py) * iw + px) * ic + o[3] / m) - a->x_zp) *
			                  (weft_get(w, (ky * kw + kx) * ic * m + o[3]) - a->w_zp));
		}
	}
	return weft_biased(c, acc, o[3]);
}

int weft_golden_depthwise_conv2d(const struct weft_call *c)
{
	int err = check(c);

	if (err)
		return err;
	if (weft_is_float(c->y[0]->dtype))
		return weft_float_depthwise_conv2d(c);
	if (c->fast && weft_fast_depthwise_conv2d(c) == 0)
		return 0;
	weft_put_each(c, at);
	return 0;
}

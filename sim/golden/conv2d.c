/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV2D, the plain loops. TOSA 1.0 section 2.3.3.
 *
 *   x    [N][IH][IW][IC]  int8, zero point x_zp; or int16
 *   w    [OC][KH][KW][IC] int8, zero point w_zp; or int4
 *   bias [OC] or [1]      int32; int48 for int16 x
 *   y    [N][OH][OW][OC]  int32; int48 for int16 x
 *
 * Floats: float/conv.c.
 *
 * y = bias + sum of (x - x_zp)(w - w_zp) over ky, kx, ic; outside the image
 * x - x_zp counts as 0. The sum is kept modulo 2^64 and cut to 32 or 48 bits
 * at the end, which is what a wrapping accumulator of that width holds, in
 * whatever order it adds.
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
	if (w->dim[3] != x->dim[3])
		return weft_call_fail(c, -EINVAL, "weight has %lld input channels, input %lld",
		                      (long long)w->dim[3], (long long)x->dim[3]);
	return weft_check_conv(c, w->dim[1], w->dim[2], w->dim[0]);
}

/* o: n, oy, ox, oc */
static int64_t at(const struct weft_call *c, const int64_t *o)
{
	const struct weft_attr_conv *a = &c->attr->conv;
	const weft_tensor *x = c->x[0], *w = c->x[1];
	const int64_t ih = x->dim[1], iw = x->dim[2], ic = x->dim[3];
	const int64_t kh = w->dim[1], kw = w->dim[2];
	uint64_t acc = 0;

	for (int64_t ky = 0; ky < kh; ky++) {
		for (int64_t kx = 0; kx < kw; kx++) {
			int64_t py = o[1] * a->stride[0] - a->pad[0] + ky * a->dilation[0];
			int64_t px = o[2] * a->stride[1] - a->pad[2] + kx * a->dilation[1];
			int64_t xi = ((o[0] * ih + py) * iw + px) * ic;
			int64_t wi = ((o[3] * kh + ky) * kw + kx) * ic;

			if (py < 0 || py >= ih || px < 0 || px >= iw)
				continue;
			for (int64_t i = 0; i < ic; i++)
				acc += (uint64_t)((weft_get(x, xi + i) - a->x_zp) *
				                  (weft_get(w, wi + i) - a->w_zp));
		}
	}
	return weft_biased(c, acc, o[3]);
}

int weft_golden_conv2d(const struct weft_call *c)
{
	int err = check(c);

	if (err)
		return err;
	if (weft_is_float(c->y[0]->dtype))
		return weft_float_conv2d(c);
	if (c->fast && weft_fast_conv2d(c) == 0)
		return 0;
	weft_put_each(c, at);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV3D, the plain loops. TOSA 1.0 section 2.3.4.
 *
 *   x    [N][ID][IH][IW][IC]  int8, zero point x_zp; or int16
 *   w    [OC][KD][KH][KW][IC] int8, zero point w_zp; or int4
 *   bias [OC] or [1]          int32; int48 for int16 x
 *   y    [N][OD][OH][OW][OC]  int32; int48 for int16 x
 *
 * Floats: float/conv.c.
 *
 * As CONV2D: the sum is kept modulo 2^64 and cut at the end, outside the image
 * x - x_zp counts as 0.
 */
#include "float/ops.h"

static const char *const axis_name[3] = { "depth", "height", "width" };

static int check_axes(const struct weft_call *c)
{
	const struct weft_attr_conv3d *a = &c->attr->conv3d;
	const int64_t *x = c->x[0]->dim, *w = c->x[1]->dim, *y = c->y[0]->dim;
	int err = 0;

	for (int i = 0; i < 3 && !err; i++) {
		if (a->dilation[i] < 1)
			return weft_call_fail(c, -EINVAL, "%s: dilation %d < 1", axis_name[i], a->dilation[i]);
		err = weft_check_window(c, axis_name[i], x[1 + i], y[1 + i], a->pad[2 * i], a->pad[2 * i + 1],
		                        (w[1 + i] - 1) * a->dilation[i] + 1, a->stride[i]);
	}
	return err;
}

static int check(const struct weft_call *c)
{
	const struct weft_attr_conv3d *a = &c->attr->conv3d;
	const weft_tensor *x = c->x[0], *w = c->x[1], *b = c->x[2], *y = c->y[0];
	int err;

	if ((err = weft_check_rank(c, "input", x, 5)) || (err = weft_check_rank(c, "weight", w, 5)) ||
	    (err = weft_check_rank(c, "bias", b, 1)) || (err = weft_check_rank(c, "output", y, 5)) ||
	    (err = weft_check_conv_rows(c, a->acc)) ||
	    (err = weft_check_zp(c, "input zero point", x->dtype, a->x_zp)) ||
	    (err = weft_check_zp(c, "weight zero point", w->dtype, a->w_zp)))
		return err;
	if (w->dim[4] != x->dim[4] || y->dim[0] != x->dim[0] || y->dim[4] != w->dim[0])
		return weft_call_fail(c, -EINVAL, "batch or channels of input, weight and output do not agree");
	if (b->dim[0] != 1 && b->dim[0] != w->dim[0])
		return weft_call_fail(c, -EINVAL, "bias has %lld elements, must be 1 or %lld", (long long)b->dim[0],
		                      (long long)w->dim[0]);
	return check_axes(c);
}

/* The products of one kernel position for one output element. */
static uint64_t dot(const struct weft_call *c, int64_t xi, int64_t wi)
{
	const struct weft_attr_conv3d *a = &c->attr->conv3d;
	const weft_tensor *x = c->x[0], *w = c->x[1];
	uint64_t acc = 0;

	for (int64_t i = 0; i < x->dim[4]; i++)
		acc += (uint64_t)((weft_get(x, xi + i) - a->x_zp) * (weft_get(w, wi + i) - a->w_zp));
	return acc;
}

/* o: n, oz, oy, ox, oc */
static int64_t at(const struct weft_call *c, const int64_t *o)
{
	const struct weft_attr_conv3d *a = &c->attr->conv3d;
	const int64_t *x = c->x[0]->dim, *w = c->x[1]->dim;
	uint64_t acc = 0;

	for (int64_t kz = 0; kz < w[1]; kz++)
		for (int64_t ky = 0; ky < w[2]; ky++)
			for (int64_t kx = 0; kx < w[3]; kx++) {
				int64_t pz = o[1] * a->stride[0] - a->pad[0] + kz * a->dilation[0];
				int64_t py = o[2] * a->stride[1] - a->pad[2] + ky * a->dilation[1];
				int64_t px = o[3] * a->stride[2] - a->pad[4] + kx * a->dilation[2];

				if (pz < 0 || pz >= x[1] || py < 0 || py >= x[2] || px < 0 || px >= x[3])
					continue;
				acc += dot(c, (((o[0] * x[1] + pz) * x[2] + py) * x[3] + px) * x[4],
				           (((o[4] * w[1] + kz) * w[2] + ky) * w[3] + kx) * w[4]);
			}
	return weft_biased(c, acc, o[4]);
}

int weft_golden_conv3d(const struct weft_call *c)
{
	int err = check(c);

	if (err)
		return err;
	if (weft_is_float(c->y[0]->dtype))
		return weft_float_conv3d(c);
	weft_put_each(c, at);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TRANSPOSE_CONV2D, the plain loops. TOSA 1.0 section 2.3.10.
 *
 *   x    [N][IH][IW][IC]  int8, zero point x_zp; or int16
 *   w    [OC][KH][KW][IC] int8, zero point w_zp; or int4
 *   bias [OC] or [1]      int32; int48 for int16 x
 *   y    [N][OH][OW][OC]  int32; int48 for int16 x
 *
 * Floats: float/conv.c.
 *
 * Element (iy, ix) of x adds its products with kernel position (ky, kx) to
 * output (out_pad_top + iy*stride_y + ky, out_pad_left + ix*stride_x + kx); seen
 * from an output, the positions of x that reach it are those where the
 * remaining distance is a multiple of the stride. out_pad may be negative.
 */
#include "fast/fast.h"
#include "float/ops.h"

static int check_axis(const struct weft_call *c, int i)
{
	static const char *const name[2] = { "height", "width" };
	const struct weft_attr_conv *a = &c->attr->conv;
	const int64_t in = c->x[0]->dim[1 + i], k = c->x[1]->dim[1 + i], out = c->y[0]->dim[1 + i];
	const int64_t before = a->pad[2 * i], after = a->pad[2 * i + 1];

	if (before <= -k || after <= -k)
		return weft_call_fail(c, -EINVAL, "%s: output pads %lld, %lld, must be above -%lld", name[i],
		                      (long long)before, (long long)after, (long long)k);
	if (a->stride[i] < 1 || a->dilation[i] != 1)
		return weft_call_fail(c, -EINVAL, "%s: stride %d, dilation %d; must be >= 1, 1", name[i], a->stride[i],
		                      a->dilation[i]);
	if (out != (in - 1) * a->stride[i] + before + after + k)
		return weft_call_fail(c, -EINVAL, "output %s %lld, must be %lld", name[i], (long long)out,
		                      (long long)((in - 1) * a->stride[i] + before + after + k));
	return 0;
}

static int check(const struct weft_call *c)
{
	const struct weft_attr_conv *a = &c->attr->conv;
	const weft_tensor *x = c->x[0], *w = c->x[1], *b = c->x[2], *y = c->y[0];
	int err;

	if ((err = weft_check_rank(c, "input", x, 4)) || (err = weft_check_rank(c, "weight", w, 4)) ||
	    (err = weft_check_rank(c, "bias", b, 1)) || (err = weft_check_rank(c, "output", y, 4)) ||
	    (err = weft_check_conv_rows(c, a->acc)) ||
	    (err = weft_check_zp(c, "input zero point", x->dtype, a->x_zp)) ||
	    (err = weft_check_zp(c, "weight zero point", w->dtype, a->w_zp)) ||
	    (err = weft_check_log2_scale(c, a->log2_scale)))
		return err;
	if (w->dim[3] != x->dim[3] || y->dim[0] != x->dim[0] || y->dim[3] != w->dim[0])
		return weft_call_fail(c, -EINVAL, "batch or channels of input, weight and output do not agree");
	if (b->dim[0] != 1 && b->dim[0] != w->dim[0])
		return weft_call_fail(c, -EINVAL, "bias has %lld elements, must be 1 or %lld", (long long)b->dim[0],
		                      (long long)w->dim[0]);
	err = check_axis(c, 0);
	return err ? err : check_axis(c, 1);
}

/* o: n, oy, ox, oc */
static int64_t at(const struct weft_call *c, const int64_t *o)
{
	const struct weft_attr_conv *a = &c->attr->conv;
	const weft_tensor *x = c->x[0], *w = c->x[1];
	const int64_t ic = x->dim[3];
	uint64_t acc = 0;

	for (int64_t ky = 0; ky < w->dim[1]; ky++)
		for (int64_t kx = 0; kx < w->dim[2]; kx++) {
			int64_t py = weft_transpose_source(c, 0, o[1], ky), px = weft_transpose_source(c, 1, o[2], kx);
			int64_t xi = ((o[0] * x->dim[1] + py) * x->dim[2] + px) * ic;
			int64_t wi = ((o[3] * w->dim[1] + ky) * w->dim[2] + kx) * ic;

			if (py < 0 || px < 0)
				continue;
			for (int64_t i = 0; i < ic; i++)
				acc += (uint64_t)((weft_get(x, xi + i) - a->x_zp) * (weft_get(w, wi + i) - a->w_zp));
		}
	return weft_biased(c, acc, o[3]);
}

int weft_golden_transpose_conv2d(const struct weft_call *c)
{
	int err = check(c);

	if (err)
		return err;
	if (c->fast && weft_fast_transpose_conv2d(c) == 0)
		return 0;
	if (weft_is_float(c->y[0]->dtype))
		return weft_float_transpose_conv2d(c);
	weft_put_each(c, at);
	return 0;
}

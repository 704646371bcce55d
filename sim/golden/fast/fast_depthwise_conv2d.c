/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DEPTHWISE_CONV2D, a tap at a time over all channels, where depthwise_int8.c does not fit: int16, or
 * several output channels for an input channel. Plain: ../depthwise_conv2d.c
 *
 * The image is widened to int16 with each channel repeated M times, so that
 * x[c*M + m] meets w[c*M + m] in one straight loop. The taps of one window fit
 * an int32 sum (fast.h); windows that are larger are left to the plain loops.
 */
#include <stdlib.h>
#include <string.h>

#include "fast.h"

static FAST void add_products(int32_t *restrict acc, const int16_t *restrict x, const int16_t *restrict w,
                              int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		acc[i] += x[i] * w[i];
}

static void one_pixel(const struct weft_call *c, const int16_t *image, const int16_t *w,
                      int64_t oy, int64_t ox, int32_t *acc)
{
	const struct weft_attr_conv *a = &c->attr->conv;
	const int64_t ih = c->x[0]->dim[1], iw = c->x[0]->dim[2];
	const int64_t kh = c->x[1]->dim[0], kw = c->x[1]->dim[1], ch = c->y[0]->dim[3];

	memset(acc, 0, (size_t)ch * sizeof(*acc));
	for (int64_t ky = 0; ky < kh; ky++) {
		for (int64_t kx = 0; kx < kw; kx++) {
			const int64_t py = oy * a->stride[0] - a->pad[0] + ky * a->dilation[0];
			const int64_t px = ox * a->stride[1] - a->pad[2] + kx * a->dilation[1];

			if (py >= 0 && py < ih && px >= 0 && px < iw)
				add_products(acc, image + (py * iw + px) * ch, w + (ky * kw + kx) * ch, ch);
		}
	}
}

static void store(const struct weft_call *c, const int32_t *acc, int64_t pixel)
{
	const weft_tensor *bias = c->x[2], *y = c->y[0];
	const int64_t ch = y->dim[3], step = bias->dim[0] == 1 ? 0 : 1;

	if (y->dtype == WEFT_INT32) {
		const int32_t *b = bias->data;
		int32_t *to = (int32_t *)y->data + pixel * ch;

		for (int64_t i = 0; i < ch; i++)
			to[i] = (int32_t)((uint32_t)acc[i] + (uint32_t)b[i * step]);
		return;
	}
	for (int64_t i = 0; i < ch; i++)
		weft_put(y, pixel * ch + i,
		         (int64_t)((uint64_t)(int64_t)acc[i] + (uint64_t)weft_get(bias, i * step)));
}

static void one_image(const struct weft_call *c, const int16_t *image, const int16_t *w, int64_t n,
                      int32_t *acc)
{
	const weft_tensor *y = c->y[0];

	for (int64_t oy = 0; oy < y->dim[1]; oy++)
		for (int64_t ox = 0; ox < y->dim[2]; ox++) {
			one_pixel(c, image, w, oy, ox, acc);
			store(c, acc, (n * y->dim[1] + oy) * y->dim[2] + ox);
		}
}

int weft_fast_depthwise_conv2d(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *w = c->x[1];
	const int64_t image = x->dim[1] * x->dim[2] * x->dim[3], ch = c->y[0]->dim[3];
	int16_t *wide_w;
	int32_t *acc;
	int err = -ENOMEM;

	if (x->dtype == WEFT_INT8 && c->y[0]->dtype == WEFT_INT32 && w->dim[3] == 1)
		return weft_depthwise_int8(c, weft_depthwise_at(0));
	if (w->dim[0] * w->dim[1] > weft_fast_chunk(x->dtype))
		return -ENOTSUP;
	wide_w = weft_fast_widen(w, c->attr->conv.w_zp, 0, weft_tensor_elements(w), 1);
	acc = malloc((size_t)ch * sizeof(*acc));
	if (!wide_w || !acc)
		goto out;
	for (int64_t n = 0; n < x->dim[0]; n++) {
		int16_t *wide = weft_fast_widen(x, c->attr->conv.x_zp, n * image, image, w->dim[3]);

		if (!wide)
			goto out;
		one_image(c, wide, wide_w, n, acc);
		free(wide);
	}
	err = 0;
out:
	free(wide_w);
	free(acc);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MAX_POOL2D. TOSA 1.0 section 2.3.8.
 *
 *   x [N][IH][IW][C]  int8 or int16
 *   y [N][OH][OW][C]  same type
 *
 * Padding takes no part. Every window holds an element of the image, because
 * padding is smaller than the kernel.
 */
#include "float/ops.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t max_at(const struct weft_call *c, int64_t n, int64_t oy, int64_t ox, int64_t ch)
{
	const struct weft_attr_pool *a = &c->attr->pool;
	const weft_tensor *x = c->x[0];
	const int64_t y0 = oy * a->stride[0] - a->pad[0], x0 = ox * a->stride[1] - a->pad[2];
	const int64_t y_end = smaller(y0 + a->kernel[0], x->dim[1]);
	const int64_t x_end = smaller(x0 + a->kernel[1], x->dim[2]);
	int64_t best = weft_int_min(x->dtype);

	for (int64_t py = larger(y0, 0); py < y_end; py++)
		for (int64_t px = larger(x0, 0); px < x_end; px++)
			best = larger(best, weft_get(x, ((n * x->dim[1] + py) * x->dim[2] + px) * x->dim[3] + ch));
	return best;
}

int weft_golden_max_pool2d(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT8 }, WEFT_INT8 },
		{ { WEFT_INT16 }, WEFT_INT16 },
		{ { WEFT_FP16 }, WEFT_FP16 },
		{ { WEFT_BF16 }, WEFT_BF16 },
		{ { WEFT_FP32 }, WEFT_FP32 },
		{ { WEFT_FP8E4M3 }, WEFT_FP8E4M3 },
		{ { WEFT_FP8E5M2 }, WEFT_FP8E5M2 },
	};
	const weft_tensor *y = c->y[0];
	int64_t o = 0;
	int err;

	if ((err = weft_check_rows(c, rows, sizeof(rows) / sizeof(rows[0]))) || (err = weft_check_pool(c)))
		return err;
	if (weft_is_float(c->y[0]->dtype))
		return weft_float_max_pool2d(c);
	for (int64_t n = 0; n < y->dim[0]; n++)
		for (int64_t oy = 0; oy < y->dim[1]; oy++)
			for (int64_t ox = 0; ox < y->dim[2]; ox++)
				for (int64_t ch = 0; ch < y->dim[3]; ch++, o++)
					weft_put(y, o, max_at(c, n, oy, ox, ch));
	return 0;
}

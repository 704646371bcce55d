/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MAX_POOL2D. TOSA 1.0 section 2.3.8.
 *
 *   x [N][IH][IW][C]  int8 or int16; floats: float/pool.c
 *   y [N][OH][OW][C]  same type
 *
 * Padding takes no part. Every window holds an element of the image, because
 * padding is smaller than the kernel.
 */
#include "fast/fast.h"
#include "float/ops.h"

/* o: n, oy, ox, channel */
static int64_t max_at(const struct weft_call *c, const int64_t *o)
{
	const weft_tensor *x = c->x[0];
	const struct weft_pool_window w = weft_pool_window_of(c, o);
	int64_t best = weft_int_min(x->dtype);

	for (int64_t py = w.y0; py < w.y1; py++)
		for (int64_t px = w.x0; px < w.x1; px++) {
			int64_t v = weft_get(x, ((o[0] * x->dim[1] + py) * x->dim[2] + px) * x->dim[3] + o[3]);

			best = v > best ? v : best;
		}
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
	int err;

	if ((err = weft_check_rows(c, rows, sizeof(rows) / sizeof(rows[0]))) || (err = weft_check_pool(c)))
		return err;
	if (weft_is_float(c->y[0]->dtype))
		return weft_float_max_pool2d(c);
	if (c->fast && weft_fast_max_pool2d(c) == 0)
		return 0;
	weft_put_each(c, max_at);
	return 0;
}

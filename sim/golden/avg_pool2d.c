/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AVG_POOL2D. TOSA 1.0 section 2.3.2, reciprocal_scale from section 4.5.5.
 *
 *   x [N][IH][IW][C]  int8, zero point x_zp; or int16
 *   y [N][OH][OW][C]  same type, zero point y_zp
 *
 * The divisor is the count of window elements inside the image, at least 1
 * because padding is smaller than the kernel. Division is by TOSA's
 * reciprocal; for int8 that equals rounding half away from zero up to counts
 * of two million. The sum wraps at 32 bits, as the accumulator does.
 */
#include "float/ops.h"

static bool acc_fits(weft_dtype t, weft_dtype acc)
{
	switch (t) {
	case WEFT_FP16: return acc == WEFT_FP16 || acc == WEFT_FP32;
	case WEFT_BF16:
	case WEFT_FP32: return acc == WEFT_FP32;
	case WEFT_FP8E4M3:
	case WEFT_FP8E5M2: return acc == WEFT_FP16;
	default: return acc == WEFT_INT32;
	}
}

static int check(const struct weft_call *c)
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
	const struct weft_attr_pool *a = &c->attr->pool;
	weft_dtype t = c->x[0]->dtype;
	int err;

	if ((err = weft_check_rows(c, rows, sizeof(rows) / sizeof(rows[0]))) ||
	    (err = weft_check_pool(c)) ||
	    (err = weft_check_zp(c, "input zero point", t, a->x_zp)) ||
	    (err = weft_check_zp(c, "output zero point", t, a->y_zp)))
		return err;
	if (!acc_fits(t, a->acc))
		return weft_call_fail(c, -EINVAL, "accumulator type %s is not a row of %s",
		                      weft_dtype_name(a->acc), weft_dtype_name(t));
	/* Beyond this the reciprocal's multiplier would not fit int32. */
	if (c->x[0]->dim[1] * c->x[0]->dim[2] > (int64_t)1 << 30)
		return weft_call_fail(c, -EINVAL, "image above 2^30 pixels");
	return 0;
}

/* sum / count by reciprocal: k = ceil(log2 count), multiplier in [2^30, 2^31) */
static int32_t divide(int32_t sum, uint32_t count)
{
	int k = 0;

	while (((uint64_t)1 << k) < count)
		k++;
	return weft_apply_scale_32(sum, (int32_t)(((((int64_t)1 << 30) + 1) << k) / count), 30 + k, false);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t average_at(const struct weft_call *c, int64_t n, int64_t oy, int64_t ox, int64_t ch)
{
	const struct weft_attr_pool *a = &c->attr->pool;
	const weft_tensor *x = c->x[0];
	const int64_t y0 = oy * a->stride[0] - a->pad[0], x0 = ox * a->stride[1] - a->pad[2];
	const int64_t y_end = smaller(y0 + a->kernel[0], x->dim[1]);
	const int64_t x_end = smaller(x0 + a->kernel[1], x->dim[2]);
	uint64_t sum = 0;
	uint32_t count = 0;

	for (int64_t py = larger(y0, 0); py < y_end; py++)
		for (int64_t px = larger(x0, 0); px < x_end; px++, count++)
			sum += (uint64_t)(weft_get(x, ((n * x->dim[1] + py) * x->dim[2] + px) * x->dim[3] + ch) -
			                  a->x_zp);
	return (int64_t)divide((int32_t)weft_wrap(sum, 32), count) + a->y_zp;
}

int weft_golden_avg_pool2d(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0];
	int err = check(c);
	int64_t o = 0;

	if (err)
		return err;
	if (weft_is_float(c->y[0]->dtype))
		return weft_float_avg_pool2d(c);
	for (int64_t n = 0; n < y->dim[0]; n++)
		for (int64_t oy = 0; oy < y->dim[1]; oy++)
			for (int64_t ox = 0; ox < y->dim[2]; ox++)
				for (int64_t ch = 0; ch < y->dim[3]; ch++, o++)
					weft_put(y, o, weft_clip(average_at(c, n, oy, ox, ch),
					                         weft_int_min(y->dtype),
					                         weft_int_max(y->dtype)));
	return 0;
}

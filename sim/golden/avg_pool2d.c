/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AVG_POOL2D. TOSA 1.0 section 2.3.2, reciprocal_scale from section 4.5.5.
 *
 *   x [N][IH][IW][C]  int8, zero point x_zp; or int16; floats: float/pool.c
 *   y [N][OH][OW][C]  same type, zero point y_zp
 *
 * The divisor is the count of window elements inside the image, at least 1
 * because padding is smaller than the kernel. Division is by TOSA's
 * reciprocal; for int8 that equals rounding half away from zero up to counts
 * of two million. The sum wraps at 32 bits, as the accumulator does.
 */
#include "fast/fast.h"
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

/* o: n, oy, ox, channel */
static int64_t average_at(const struct weft_call *c, const int64_t *o)
{
	const struct weft_attr_pool *a = &c->attr->pool;
	const weft_tensor *x = c->x[0];
	const struct weft_pool_window w = weft_pool_window_of(c, o);
	uint64_t sum = 0;

	for (int64_t py = w.y0; py < w.y1; py++)
		for (int64_t px = w.x0; px < w.x1; px++)
			sum += (uint64_t)(weft_get(x, ((o[0] * x->dim[1] + py) * x->dim[2] + px) * x->dim[3] + o[3]) - a->x_zp);
	int64_t mean = divide((int32_t)weft_wrap(sum, 32), (uint32_t)((w.y1 - w.y0) * (w.x1 - w.x0)));
	return weft_clip(mean + a->y_zp, weft_int_min(x->dtype), weft_int_max(x->dtype));
}

int weft_golden_avg_pool2d(const struct weft_call *c)
{
	int err = check(c);

	if (err)
		return err;
	if (weft_is_float(c->y[0]->dtype))
		return weft_float_avg_pool2d(c);
	if (c->fast && weft_fast_avg_pool2d(c) == 0)
		return 0;
	weft_put_each(c, average_at);
	return 0;
}

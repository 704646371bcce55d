/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE. TOSA 1.0 section 2.12.1.
 *
 *   x  [N][IH][IW][C]  int8 or int16; fp16, bf16 or fp32 (float/resize.c)
 *   y  [N][OH][OW][C]  NEAREST and floats: x's type; BILINEAR: int32 for int8, int48 for int16
 *
 * Output row oy samples x at (oy*scale_y_d + offset_y) / scale_y_n, likewise
 * columns. BILINEAR is not divided by scale_y_n*scale_x_n: a RESCALE follows.
 * Scales are at most 2^11, so a sample is below 2^15 * 2^22 = 2^37 in magnitude.
 */
#include <string.h>

#include "fast/fast.h"
#include "float/ops.h"
#include "resize.h"

static int check_axis(const struct weft_call *c, const char *axis, int64_t in, int64_t out, int64_t n, int64_t d,
                      int64_t offset, int64_t border)
{
	int64_t span = (in - 1) * n - offset + border;

	if (in >= 16384 || out >= 16384)
		return weft_call_fail(c, -EINVAL, "%s %lld -> %lld, must be below 16384", axis, (long long)in,
		                      (long long)out);
	if (n < 1 || d < 1 || n > 2048 || d >= 16 * n)
		return weft_call_fail(c, -EINVAL, "%s: scale %lld/%lld, must be 1..2048 / 1..16*numerator-1", axis,
		                      (long long)n, (long long)d);
	if (offset < -n || offset >= 16 * n)
		return weft_call_fail(c, -EINVAL, "%s: offset %lld outside %lld..%lld", axis, (long long)offset,
		                      (long long)-n, (long long)(16 * n - 1));
	if (border < -16 * n || border >= n)
		return weft_call_fail(c, -EINVAL, "%s: border %lld outside %lld..%lld", axis, (long long)border,
		                      (long long)(-16 * n), (long long)(n - 1));
	if (span < 0 || span % d || out != span / d + 1)
		return weft_call_fail(c, -EINVAL, "output %s %lld, must be %lld/%lld + 1, exactly", axis, (long long)out,
		                      (long long)span, (long long)d);
	return 0;
}

/* Ranks, shapes, attributes; not types. */
static int check_shapes(const struct weft_call *c)
{
	const struct weft_attr_resize *a = &c->attr->resize;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	int err;

	if ((err = weft_check_rank(c, "input", x, 4)) || (err = weft_check_rank(c, "output", y, 4)))
		return err;
	if (a->mode != WEFT_RESIZE_NEAREST && a->mode != WEFT_RESIZE_BILINEAR)
		return weft_call_fail(c, -EINVAL, "mode %d is none", (int)a->mode);
	if (x->dim[0] != y->dim[0] || x->dim[3] != y->dim[3])
		return weft_call_fail(c, -EINVAL, "output has batch %lld, channels %lld, must be %lld, %lld",
		                      (long long)y->dim[0], (long long)y->dim[3], (long long)x->dim[0],
		                      (long long)x->dim[3]);
	if ((err = check_axis(c, "height", x->dim[1], y->dim[1], a->scale_y_n, a->scale_y_d, a->offset_y, a->border_y)) ||
	    (err = check_axis(c, "width", x->dim[2], y->dim[2], a->scale_x_n, a->scale_x_d, a->offset_x, a->border_x)))
		return err;
	return 0;
}

struct weft_resize_at weft_resize_sample(int64_t o, int64_t n, int64_t d, int64_t offset, int64_t in)
{
	int64_t p = o * d + offset, i = p >= 0 ? p / n : -((-p + n - 1) / n);
	struct weft_resize_at at = { .r = p - i * n };

	/* The checks keep i within -1..in-1; the clips hold whatever it is. */
	at.i0 = weft_clip(i, 0, in - 1);
	at.i1 = weft_clip(i + 1, 0, in - 1);
	at.nearest = 2 * at.r >= n ? at.i1 : at.i0;
	return at;
}

/* The four neighbours of one output position, as element offsets of channel 0. */
struct corners { int64_t v00, v01, v10, v11; };

static struct corners corners(const weft_tensor *x, int64_t n, const struct weft_resize_at *y, const struct weft_resize_at *w)
{
	const int64_t row0 = (n * x->dim[1] + y->i0) * x->dim[2], row1 = (n * x->dim[1] + y->i1) * x->dim[2];

	return (struct corners){ (row0 + w->i0) * x->dim[3], (row0 + w->i1) * x->dim[3],
	                         (row1 + w->i0) * x->dim[3], (row1 + w->i1) * x->dim[3] };
}

static void bilinear(const struct weft_call *c, int64_t n, int64_t o, const struct weft_resize_at *ay,
                     const struct weft_resize_at *ax)
{
	const struct weft_attr_resize *a = &c->attr->resize;
	const weft_tensor *x = c->x[0];
	const struct corners at = corners(x, n, ay, ax);
	const int64_t uy = a->scale_y_n - ay->r, ux = a->scale_x_n - ax->r;

	for (int64_t i = 0; i < x->dim[3]; i++)
		weft_put(c->y[0], o + i, weft_get(x, at.v00 + i) * uy * ux + weft_get(x, at.v01 + i) * uy * ax->r +
		                         weft_get(x, at.v10 + i) * ay->r * ux + weft_get(x, at.v11 + i) * ay->r * ax->r);
}

/* Copy the channels of one position: n is the image, o the element offset in the output. */
static void nearest(const struct weft_call *c, int64_t n, int64_t o, const struct weft_resize_at *ay, const struct weft_resize_at *ax)
{
	const weft_tensor *x = c->x[0];
	const size_t size = weft_dtype_bytes(x->dtype);
	const int64_t from = ((n * x->dim[1] + ay->nearest) * x->dim[2] + ax->nearest) * x->dim[3];

	memcpy((char *)c->y[0]->data + (size_t)o * size, (const char *)x->data + (size_t)from * size,
	       (size_t)x->dim[3] * size);
}

int weft_golden_resize(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT8 }, WEFT_INT8 }, { { WEFT_INT16 }, WEFT_INT16 },   /* NEAREST */
		{ { WEFT_FP16 }, WEFT_FP16 }, { { WEFT_BF16 }, WEFT_BF16 }, { { WEFT_FP32 }, WEFT_FP32 },
		{ { WEFT_INT8 }, WEFT_INT32 }, { { WEFT_INT16 }, WEFT_INT48 },  /* BILINEAR, from row 2 */
	};
	const struct weft_attr_resize *a = &c->attr->resize;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const bool smooth = a->mode == WEFT_RESIZE_BILINEAR;
	int64_t o = 0;
	int err;

	if ((err = check_shapes(c)) || (err = weft_check_rows(c, rows + (smooth ? 2 : 0), 5)))
		return err;
	if (smooth && weft_is_float(x->dtype))
		return weft_float_resize(c);
	if (c->fast && !smooth && weft_fast_resize_nearest(c) == 0)
		return 0;
	for (int64_t n = 0; n < y->dim[0]; n++)
		for (int64_t oy = 0; oy < y->dim[1]; oy++)
			for (int64_t ox = 0; ox < y->dim[2]; ox++, o += y->dim[3]) {
				struct weft_resize_at ay = weft_resize_sample(oy, a->scale_y_n, a->scale_y_d, a->offset_y, x->dim[1]);
				struct weft_resize_at ax = weft_resize_sample(ox, a->scale_x_n, a->scale_x_d, a->offset_x, x->dim[2]);

				if (smooth)
					bilinear(c, n, o, &ay, &ax);
				else
					nearest(c, n, o, &ay, &ax);
			}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_RESIZE_BILINEAR of int8 by integers: the two rows of a window become one of int32, then its two columns.
 * RESIZE by nearest neighbours of any type: a row of the output that repeats the row before is copied from it.
 * Plain loops: ../tfl/tfl_resize_bilinear.c, ../resize.c
 *
 * Two weights have magnitudes of 2048 at most together, so that those of a row's sums are at most 2^18, a result's 2^29.
 */
#include <stdlib.h>
#include <string.h>

#include "../resize.h"
#include "../tfl/tfl_resize.h"
#include "fast.h"

#define HALF (1 << 19)

/* row[i] = w0 * a[i] + w1 * b[i], for i below n. */
static FAST void mix_rows(const int8_t *a, const int8_t *b, int32_t w0, int32_t w1, int64_t n, int32_t *row)
{
	for (int64_t i = 0; i < n; i++)
		row[i] = a[i] * w0 + b[i] * w1;
}

/* y[i] = (w0 * a[i] + w1 * b[i]) / 2^20, half away from zero, for i below n. */
static FAST void mix_columns(const int32_t *a, const int32_t *b, int32_t w0, int32_t w1, int64_t n, int8_t *y)
{
	for (int64_t i = 0; i < n; i++) {
		const int32_t sum = a[i] * w0 + b[i] * w1;
		y[i] = (int8_t)((sum + (sum > 0 ? HALF : -HALF)) / (2 * HALF));
	}
}

/* Returns whether weights are as the page's head says; at a border one can be negative, and a coarse scale can overshoot. */
static bool is_plain(const struct weft_tfl_tap *t)
{
	return llabs(t->w[0]) + llabs(t->w[1]) <= 2048;
}

/* Sets tap[o] for each output position of an axis. Returns whether all are plain. */
static bool list_taps(const struct weft_tfl_axis *a, struct weft_tfl_tap *tap)
{
	bool plain = true;

	for (int64_t o = 0; o < a->out; o++) {
		tap[o] = weft_tfl_resize_tap(a, o);
		plain &= is_plain(&tap[o]);
	}
	return plain;
}

/* Computes all rows with these taps of both axes; row has room for a line of x. */
static void run(const struct weft_call *c, const struct weft_tfl_tap *ty, const struct weft_tfl_tap *tx, int32_t *row)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t ch = x->dim[3], line = x->dim[2] * ch;
	int8_t *out = y->data;

	for (int64_t n = 0; n < y->dim[0]; n++)
		for (int64_t oy = 0; oy < y->dim[1]; oy++) {
			const int8_t *image = (const int8_t *)x->data + n * x->dim[1] * line;

			mix_rows(image + ty[oy].at[0] * line, image + ty[oy].at[1] * line, (int32_t)ty[oy].w[0], (int32_t)ty[oy].w[1], line, row);
			for (int64_t ox = 0; ox < y->dim[2]; ox++, out += ch)
				mix_columns(row + tx[ox].at[0] * ch, row + tx[ox].at[1] * ch, (int32_t)tx[ox].w[0], (int32_t)tx[ox].w[1], ch, out);
		}
}

int weft_fast_tfl_resize_bilinear(const struct weft_call *c)
{
	const struct weft_attr_tfl_resize *a = &c->attr->tfl_resize;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const struct weft_tfl_axis ay = { x->dim[1], y->dim[1], a->align_corners, a->half_pixel };
	const struct weft_tfl_axis ax = { x->dim[2], y->dim[2], a->align_corners, a->half_pixel };

	if (x->dtype != WEFT_INT8 || a->raw_uint8)
		return -ENOTSUP;
	struct weft_tfl_tap *tap = malloc((size_t)(ay.out + ax.out) * sizeof *tap);
	int32_t *row = malloc((size_t)(x->dim[2] * x->dim[3]) * sizeof *row);
	int err = tap && row ? 0 : -ENOMEM;

	if (!err && !(list_taps(&ay, tap) && list_taps(&ax, tap + ay.out)))
		err = -ENOTSUP;
	if (!err)
		run(c, tap, tap + ay.out, row);
	free(row);
	free(tap);
	return err;
}

int weft_fast_resize_nearest(const struct weft_call *c)
{
	const struct weft_attr_resize *a = &c->attr->resize;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const size_t pixel = weft_dtype_bytes(x->dtype) * (size_t)x->dim[3], line = pixel * (size_t)y->dim[2];
	int64_t *from = malloc((size_t)y->dim[2] * sizeof *from), last = -1;
	char *out = y->data;

	if (!from)
		return -ENOMEM;
	for (int64_t ox = 0; ox < y->dim[2]; ox++)
		from[ox] = weft_resize_sample(ox, a->scale_x_n, a->scale_x_d, a->offset_x, x->dim[2]).nearest;
	for (int64_t n = 0; n < y->dim[0]; n++)
		for (int64_t oy = 0; oy < y->dim[1]; oy++, out += line) {
			const int64_t row = n * x->dim[1] + weft_resize_sample(oy, a->scale_y_n, a->scale_y_d, a->offset_y, x->dim[1]).nearest;
			const char *in = (const char *)x->data + (size_t)(row * x->dim[2]) * pixel;

			if (row == last)
				memcpy(out, out - line, line);
			for (int64_t ox = 0; row != last && ox < y->dim[2]; ox++)
				memcpy(out + (size_t)ox * pixel, in + (size_t)from[ox] * pixel, pixel);
			last = row;
		}
	free(from);
	return 0;
}

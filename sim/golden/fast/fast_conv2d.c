/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV2D as a matrix product, where there are no tiles for it (tiles_conv2d.c): int16, or
 * a processor without a kernel of its own. Plain loops: ../conv2d.c
 *
 *   columns [TILE][k]  int16, x - x_zp of the window of one output pixel each
 *   rows    [oc][k]    int16, w - w_zp
 *
 * k is KH*KW*IC rounded up to 32 with zeros, oc is OC rounded up to 4. The dot
 * product of int16 pairs is what compilers turn into multiply-and-add-pairs
 * instructions. Sums of one chunk fit int32 (fast.h); chunks are added modulo
 * 2^64 and cut at the end, as in the plain loops.
 */
#include <stdlib.h>
#include <string.h>

#include "fast.h"
#include "tiles.h"

#define TILE 32                    /* pixels whose windows are built at a time; even */
#define ROWS 4                     /* output channels that are computed at a time */

struct work {
	const struct weft_call *c;
	int64_t k_used, k;         /* KH*KW*IC, and the same rounded up */
	int64_t n_rows;            /* OC rounded up */
	const int16_t *image;      /* one batch element, widened */
	int16_t *rows, *columns;
};

/*
 * Sets sum[][] to the dot products of two columns, x and the one `stride` elements behind it, with four rows, w
 * and the three behind it: k products each, k a multiple of 32.
 */
static FAST void dot_2x4(const int16_t *restrict x, const int16_t *restrict w, int64_t stride, int64_t k,
                         int32_t sum[2][ROWS])
{
	const int16_t *x1 = x + stride;
	const int16_t *w1 = w + stride, *w2 = w + 2 * stride, *w3 = w + 3 * stride;
	int32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;

	for (int64_t i = 0; i < k; i++) {
		s00 += x[i] * w[i];
		s01 += x[i] * w1[i];
		s02 += x[i] * w2[i];
		s03 += x[i] * w3[i];
		s10 += x1[i] * w[i];
		s11 += x1[i] * w1[i];
		s12 += x1[i] * w2[i];
		s13 += x1[i] * w3[i];
	}
	sum[0][0] = s00, sum[0][1] = s01, sum[0][2] = s02, sum[0][3] = s03;
	sum[1][0] = s10, sum[1][1] = s11, sum[1][2] = s12, sum[1][3] = s13;
}

/* Fills col with the window of output pixel (oy, ox), and zeros where it is outside the image. */
static void build_column(const struct work *s, int64_t oy, int64_t ox, int16_t *col)
{
	const struct weft_attr_conv *a = &s->c->attr->conv;
	const weft_tensor *x = s->c->x[0], *w = s->c->x[1];
	const int64_t ih = x->dim[1], iw = x->dim[2], ic = x->dim[3], kw = w->dim[2];
	const int64_t y0 = oy * a->stride[0] - a->pad[0], x0 = ox * a->stride[1] - a->pad[2];
	const bool inside = x0 >= 0 && x0 + kw <= iw && a->dilation[1] == 1;

	for (int64_t ky = 0; ky < w->dim[1]; ky++, col += kw * ic) {
		const int64_t py = y0 + ky * a->dilation[0];

		if (py < 0 || py >= ih) {
			memset(col, 0, (size_t)(kw * ic) * sizeof(*col));
		} else if (inside) {
			memcpy(col, s->image + (py * iw + x0) * ic, (size_t)(kw * ic) * sizeof(*col));
		} else {
			for (int64_t kx = 0; kx < kw; kx++) {
				const int64_t px = x0 + kx * a->dilation[1];

				if (px < 0 || px >= iw)
					memset(col + kx * ic, 0, (size_t)ic * sizeof(*col));
				else
					memcpy(col + kx * ic, s->image + (py * iw + px) * ic,
					       (size_t)ic * sizeof(*col));
			}
		}
	}
}

/* Writes n results of one pixel, channels from oc on: sums plus biases. */
static void store(const struct work *s, int64_t pixel, int64_t oc, const uint64_t *sum, int64_t n)
{
	const weft_tensor *bias = s->c->x[2], *y = s->c->y[0];
	const int64_t step = bias->dim[0] == 1 ? 0 : 1, at = pixel * y->dim[3] + oc;

	if (y->dtype == WEFT_INT32) {
		const int32_t *b = (const int32_t *)bias->data + oc * step;
		int32_t *to = (int32_t *)y->data + at;

		for (int64_t i = 0; i < n; i++)
			to[i] = (int32_t)((uint32_t)sum[i] + (uint32_t)b[i * step]);
	} else {
		for (int64_t i = 0; i < n; i++)
			weft_put(y, at + i, (int64_t)(sum[i] + (uint64_t)weft_get(bias, (oc + i) * step)));
	}
}

/*
 * Writes all channels of n pixels, from number `first` on, whose windows are the first n columns. Columns
 * behind them hold old values, whose sums are not stored.
 */
static void multiply(const struct work *s, int64_t first, int64_t n)
{
	const int64_t oc_n = s->c->y[0]->dim[3], chunk = weft_fast_chunk(s->c->x[0]->dtype);

	for (int64_t oc = 0; oc < oc_n; oc += ROWS) {
		for (int64_t p = 0; p < n; p += 2) {
			uint64_t total[2][ROWS] = { { 0 } };

			for (int64_t at = 0; at < s->k; at += chunk) {
				int32_t sum[2][ROWS];
				const int64_t left = s->k - at;

				dot_2x4(s->columns + p * s->k + at, s->rows + oc * s->k + at, s->k,
				        left < chunk ? left : chunk, sum);
				for (int i = 0; i < 2 * ROWS; i++)
					total[i / ROWS][i % ROWS] += (uint64_t)(int64_t)sum[i / ROWS][i % ROWS];
			}
			for (int64_t i = 0; i < 2 && p + i < n; i++)
				store(s, first + p + i, oc, total[i], oc_n - oc < ROWS ? oc_n - oc : ROWS);
		}
	}
}

/* Writes the results of batch element n, whose input is s->image. */
static void one_image(const struct work *s, int64_t n)
{
	const weft_tensor *y = s->c->y[0];
	const int64_t pixels = y->dim[1] * y->dim[2];

	for (int64_t first = 0; first < pixels; first += TILE) {
		const int64_t count = pixels - first < TILE ? pixels - first : TILE;

		for (int64_t p = 0; p < count; p++)
			build_column(s, (first + p) / y->dim[2], (first + p) % y->dim[2],
			             s->columns + p * s->k);
		multiply(s, n * pixels + first, count);
	}
}

/*
 * Allocates rows and columns and fills the rows with the weights. Returns false if memory is out; the caller
 * frees both in each case.
 */
static bool allocate(struct work *s)
{
	const weft_tensor *w = s->c->x[1];
	int16_t *plain;

	s->k_used = w->dim[1] * w->dim[2] * w->dim[3];
	s->k = (s->k_used + 31) / 32 * 32;
	s->n_rows = (w->dim[0] + ROWS - 1) / ROWS * ROWS;
	if (s->k > PTRDIFF_MAX / 4 / (s->n_rows + TILE))
		return false;
	s->rows = calloc((size_t)(s->n_rows * s->k), sizeof(*s->rows));
	s->columns = calloc((size_t)(TILE * s->k), sizeof(*s->columns));
	plain = weft_fast_widen(w, s->c->attr->conv.w_zp, 0, weft_tensor_elements(w), 1);
	for (int64_t oc = 0; s->rows && plain && oc < w->dim[0]; oc++)
		memcpy(s->rows + oc * s->k, plain + oc * s->k_used, (size_t)s->k_used * sizeof(*plain));
	free(plain);
	return s->rows && s->columns && plain;
}

int weft_fast_conv2d(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0];
	const int64_t image = x->dim[1] * x->dim[2] * x->dim[3];
	const struct weft_tiling *tiling = weft_tiling(c->attr->conv.w_zp != 0);
	struct work s = { .c = c };
	int err = -ENOMEM;

	if (x->dtype == WEFT_INT8 && c->y[0]->dtype == WEFT_INT32 && tiling && weft_tiles_conv2d(c, tiling) == 0)
		return 0;
	if (!allocate(&s))
		goto out;
	for (int64_t n = 0; n < x->dim[0]; n++) {
		int16_t *wide = weft_fast_widen(x, c->attr->conv.x_zp, n * image, image, 1);

		if (!wide)
			goto out;
		s.image = wide;
		one_image(&s, n);
		free(wide);
	}
	err = 0;
out:
	free(s.rows);
	free(s.columns);
	return err;
}

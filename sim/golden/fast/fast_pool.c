/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MAX_POOL2D and AVG_POOL2D of int8. For each row of the output, the rows of its windows become one line, of the whole
 * image's width; then, for each pixel, the columns of its window in that line become one, all channels side by side. Plain
 * loops: ../max_pool2d.c, ../avg_pool2d.c
 */
#include <stdlib.h>

#include "fast.h"

/* Returns the largest of three. */
static inline int8_t max3(int8_t a, int8_t b, int8_t c)
{
	const int8_t m = a > b ? a : b;

	return m > c ? m : c;
}

/* Sets max[i] to the largest of x[i + k * step], k below rows, for i below n. Three rows are compared at a time; if fewer are left, one of them is compared again. */
static inline void max_of(const int8_t *restrict x, int64_t rows, int64_t step, int64_t n, int8_t *restrict max)
{
	const int8_t *b = x + (rows > 1 ? step : 0), *c = x + (rows > 2 ? 2 * step : 0);

	for (int64_t i = 0; i < n; i++)
		max[i] = max3(x[i], b[i], c[i]);
	for (int64_t k = 3; k < rows; k += 2) {
		b = x + k * step;
		c = x + (k + 1 < rows ? k + 1 : k) * step;
		for (int64_t i = 0; i < n; i++)
			max[i] = max3(max[i], b[i], c[i]);
	}
}

/* Does what max_of() does. */
static FAST void max_rows(const int8_t *restrict x, int64_t rows, int64_t step, int64_t n, int8_t *restrict max)
{
	max_of(x, rows, step, n, max);
}

/* Writes a row of the output of pool c to y. x is one line of the image: for each column, the largest of the rows of the row's windows. */
static FAST void max_columns(const struct weft_call *c, const int8_t *restrict x, int8_t *restrict y)
{
	const int64_t ch = c->x[0]->dim[3];

	for (int64_t i = 0; i < c->y[0]->dim[2]; i++) {
		const struct weft_pool_window w = weft_pool_window_of(c, (const int64_t[]){ 0, 0, i });

		max_of(x + w.x0 * ch, w.x1 - w.x0, ch, ch, y + i * ch);
	}
}

/* sum[i] = the sum of x[i + k * step], k below rows, modulo 2^32, for i below n. */
static FAST void add_rows(const int8_t *x, int64_t rows, int64_t step, int64_t n, uint32_t *sum)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] = (uint32_t)x[i];
	for (int64_t k = 1; k < rows; k++)
		for (int64_t i = 0; i < n; i++)
			sum[i] += (uint32_t)x[k * step + i];
}

/* As add_rows(), of sums instead of int8. */
static FAST void add_sums(const uint32_t *x, int64_t rows, int64_t step, int64_t n, uint32_t *sum)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] = x[i];
	for (int64_t k = 1; k < rows; k++)
		for (int64_t i = 0; i < n; i++)
			sum[i] += x[k * step + i];
}

/* The division of a window's sum by the count of its elements, as TOSA does it: multiplied, and shifted right. */
struct divisor {
	int64_t count, multiplier;
	int shift;                 /* 30 to 61 */
	uint32_t zero;             /* count times the input's zero point, modulo 2^32 */
};

/* y[i] = sum[i] less d->zero, divided, plus the output's zero point y_zp, limited to int8; for i below n. */
static FAST void scale(const uint32_t *sum, int64_t n, const struct divisor *d, int64_t y_zp, int8_t *y)
{
	const int64_t half = (int64_t)1 << (d->shift - 1), multiplier = d->multiplier;
	const uint32_t zero = d->zero;
	const int shift = d->shift;

	for (int64_t i = 0; i < n; i++) {
		const int64_t v = (int32_t)(((int32_t)(sum[i] - zero) * multiplier + half) >> shift) + y_zp;
		y[i] = (int8_t)(v < INT8_MIN ? INT8_MIN : v > INT8_MAX ? INT8_MAX : v);
	}
}

/* Sets *d for a window of which `count` elements lie inside the image, unless it is set for that count already. x_zp: the input's zero point. */
static void divide_by(struct divisor *d, int64_t count, int64_t x_zp)
{
	int k = 0;

	if (d->count == count)
		return;
	while ((int64_t)1 << k < count)
		k++;
	*d = (struct divisor){ count, (((((int64_t)1 << 30) + 1) << k) / count), 30 + k, (uint32_t)count * (uint32_t)x_zp };
}

int weft_fast_max_pool2d(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0];
	const int64_t line = x->dim[2] * x->dim[3], row = c->y[0]->dim[2] * x->dim[3];
	struct weft_walk at = weft_pool_rows(c);
	int8_t *out = c->y[0]->data, *max = x->dtype == WEFT_INT8 ? malloc((size_t)line) : NULL;

	if (!max)
		return x->dtype == WEFT_INT8 ? -ENOMEM : -ENOTSUP;
	do {
		const struct weft_pool_window w = weft_pool_window_of(c, at.idx);

		max_rows((const int8_t *)x->data + (at.idx[0] * x->dim[1] + w.y0) * line, w.y1 - w.y0, line, line, max);
		max_columns(c, max, out);
		out += row;
	} while (weft_walk_next(&at));
	free(max);
	return 0;
}

int weft_fast_avg_pool2d(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0];
	const int64_t ch = x->dim[3], line = x->dim[2] * ch;
	struct weft_walk at = weft_pool_pixels(c);
	uint32_t *sum = x->dtype == WEFT_INT8 ? malloc((size_t)(line + ch) * sizeof *sum) : NULL;
	struct divisor d = { 0 };
	int8_t *out = c->y[0]->data;

	if (!sum)
		return x->dtype == WEFT_INT8 ? -ENOMEM : -ENOTSUP;
	do {
		const struct weft_pool_window w = weft_pool_window_of(c, at.idx);

		if (!at.idx[2])
			add_rows((const int8_t *)x->data + (at.idx[0] * x->dim[1] + w.y0) * line, w.y1 - w.y0, line, line, sum);
		divide_by(&d, (w.y1 - w.y0) * (w.x1 - w.x0), c->attr->pool.x_zp);
		add_sums(sum + w.x0 * ch, w.x1 - w.x0, ch, ch, sum + line);
		scale(sum + line, ch, &d, c->attr->pool.y_zp, out);
		out += ch;
	} while (weft_walk_next(&at));
	free(sum);
	return 0;
}

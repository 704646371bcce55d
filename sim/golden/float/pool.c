/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float rows of AVG_POOL2D and MAX_POOL2D. TOSA 1.0 sections 2.3.2, 2.3.8.
 *
 *   x, y  [N][H][W][C] of one type: fp16, bf16, fp32 or float8
 *   acc   AVG_POOL2D: fp16 or fp32 for fp16, fp32 for bf16 and fp32, fp16 for float8
 *
 * Average: the sum of the window's elements inside the image, rounded once to
 * acc, divided by their count in acc, then converted to the type. TOSA's text
 * turns the count into the element type first, which cannot hold 17 in E4M3; here
 * it stays exact. Of float8 the exact sum is divided and the quotient rounded once
 * to acc, then to the type as CAST does, without saturation: hardware scales
 * before it rounds.
 */
#include <math.h>

#include "element.h"
#include "ops.h"

/* The window of one output element, cut to the image: rows y0..y1-1, columns x0..x1-1. */
struct window { int64_t y0, y1, x0, x1; };

static struct window window_of(const struct weft_call *c, const int64_t *o)
{
	const struct weft_attr_pool *a = &c->attr->pool;
	const weft_tensor *x = c->x[0];
	int64_t y0 = o[1] * a->stride[0] - a->pad[0], x0 = o[2] * a->stride[1] - a->pad[2];

	return (struct window){ weft_clip(y0, 0, x->dim[1]), weft_clip(y0 + a->kernel[0], 0, x->dim[1]),
	                        weft_clip(x0, 0, x->dim[2]), weft_clip(x0 + a->kernel[1], 0, x->dim[2]) };
}

static double element(const struct weft_call *c, const int64_t *o, int64_t py, int64_t px)
{
	const weft_tensor *x = c->x[0];

	return weft_get_f(x, ((o[0] * x->dim[1] + py) * x->dim[2] + px) * x->dim[3] + o[3]);
}

static double average(const struct weft_call *c, const int64_t *o)
{
	const weft_dtype acc = c->attr->pool.acc;
	const struct window w = window_of(c, o);
	const int64_t count = (w.y1 - w.y0) * (w.x1 - w.x0);
	double sum = 0;

	for (int64_t py = w.y0; py < w.y1; py++)
		for (int64_t px = w.x0; px < w.x1; px++)
			sum += element(c, o, py, px);
	/* A sum of float8 has at most 49 bits, so that dividing it in fp64 first changes no rounding. */
	if (weft_dtype_bytes(c->x[0]->dtype) > 1)
		sum = weft_round_f(acc, sum);
	sum = weft_round_f(acc, sum / (double)count);
	return isnan(sum) ? NAN : sum;
}

static double maximum(const struct weft_call *c, const int64_t *o)
{
	const struct window w = window_of(c, o);
	double best = element(c, o, w.y0, w.x0);

	for (int64_t py = w.y0; py < w.y1; py++)
		for (int64_t px = w.x0; px < w.x1; px++)
			best = weft_float_max(best, element(c, o, py, px), c->attr->pool.nan);
	return best;
}

static int run(const struct weft_call *c, double (*at)(const struct weft_call *, const int64_t *))
{
	const weft_tensor *y = c->y[0];
	struct weft_walk w = { .rank = 4 };
	int64_t i = 0;

	for (int d = 0; d < 4; d++)
		w.dim[d] = y->dim[d];
	do {
		weft_put_f(y, i++, at(c, w.idx));
	} while (weft_walk_next(&w));
	return 0;
}

int weft_float_avg_pool2d(const struct weft_call *c)
{
	return run(c, average);
}

int weft_float_max_pool2d(const struct weft_call *c)
{
	return run(c, maximum);
}

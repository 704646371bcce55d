/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float rows of AVG_POOL2D and MAX_POOL2D. TOSA 1.0 sections 2.3.2, 2.3.8.
 *
 *   x, y  [N][H][W][C] of one type: fp16, bf16, fp32 or float8
 *   acc   AVG_POOL2D: fp16 or fp32 for fp16, fp32 for bf16 and fp32, fp16 for float8
 *
 * Average: the sum of the window's elements inside the image, rounded once to
 * acc (in a chain, of float32, after each element), divided by their count in acc, then converted to the type. TOSA's text
 * turns the count into the element type first, which cannot hold 17 in E4M3; here
 * it stays exact.
 *
 * Average of float8: the sum of element * 2^-k in 48 bits as in a convolution,
 * where 2^k is the least power of two that is not less than the kernel's area, so
 * that no sum is too large; rounded to fp16; that * 2^k / count rounded once to the
 * type, without saturation. Of kernels above 2^11, whose terms would lose bits, the
 * exact sum is divided and rounded to acc, then to the type.
 */
#include <float.h>
#include <math.h>

#include <weft/convert.h>

#include "../fast/fast.h"
#include "average.h"
#include "element.h"
#include "ops.h"
#include "sum.h"

static double element(const struct weft_call *c, const int64_t *o, int64_t py, int64_t px)
{
	const weft_tensor *x = c->x[0];

	return weft_get_f(x, ((o[0] * x->dim[1] + py) * x->dim[2] + px) * x->dim[3] + o[3]);
}

static double average(const struct weft_call *c, const int64_t *o)
{
	const weft_dtype acc = c->attr->pool.acc;
	const struct weft_pool_window w = weft_pool_window_of(c, o);
	const int64_t count = (w.y1 - w.y0) * (w.x1 - w.x0);
	double sum = 0;

	for (int64_t py = w.y0; py < w.y1; py++)
		for (int64_t px = w.x0; px < w.x1; px++)
			sum = c->attr->pool.chain ? (double)((float)sum + (float)element(c, o, py, px)) : sum + element(c, o, py, px);
	/* A sum of float8 has at most 49 bits, so that dividing it in fp64 first changes no rounding. */
	if (weft_dtype_bytes(c->x[0]->dtype) > 1)
		sum = weft_round_f(acc, sum);
	sum = weft_round_f(acc, sum / (double)count);
	return isnan(sum) ? NAN : sum;
}

static double maximum(const struct weft_call *c, const int64_t *o)
{
	const struct weft_pool_window w = weft_pool_window_of(c, o);
	double best = c->attr->pool.nan == WEFT_NAN_COMPARE ? -FLT_MAX : element(c, o, w.y0, w.x0);

	for (int64_t py = w.y0; py < w.y1; py++)
		for (int64_t px = w.x0; px < w.x1; px++)
			best = weft_float_max(element(c, o, py, px), best, c->attr->pool.nan);
	return isnan(best) ? NAN : best;
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

/* One output, float8. */
static double average8(const struct weft_call *c, struct weft_sum *s, int k, const int64_t *o)
{
	const int64_t *x = c->x[0]->dim;
	const struct weft_pool_window w = weft_pool_window_of(c, o);

	weft_sum_begin(s);
	for (int64_t py = w.y0; py < w.y1; py++)
		for (int64_t px = w.x0; px < w.x1; px++)
			weft_sum_add(s, ((o[0] * x[1] + py) * x[2] + px) * x[3] + o[3], 0);
	return weft_average_of(weft_sum_end(s), k, (w.y1 - w.y0) * (w.x1 - w.x0));
}

static int average_float8(const struct weft_call *c, int k)
{
	uint8_t code = (uint8_t)weft_float_encode(WEFT_FP8E4M3, 1, false);
	const weft_tensor one = { .dtype = WEFT_FP8E4M3, .rank = 1, .dim = { 1 }, .data = &code }, *y = c->y[0];
	struct weft_walk w = { .rank = 4 };
	struct weft_sum s;
	int64_t i = 0;
	int err = weft_sum_open(&s, c->x[0], &one, WEFT_FP16, -k);

	for (int d = 0; d < 4; d++)
		w.dim[d] = y->dim[d];
	do {
		if (!err)
			weft_put_f(y, i++, average8(c, &s, k, w.idx));
	} while (!err && weft_walk_next(&w));
	weft_sum_free(&s);
	return err ? weft_call_fail(c, err, "out of memory") : 0;
}

int weft_float_avg_pool2d(const struct weft_call *c)
{
	const int32_t *kernel = c->attr->pool.kernel;
	const int k = weft_average_log2((int64_t)kernel[0] * kernel[1]);

	if (c->fast && weft_fast_float_avg_pool2d(c) == 0)
		return 0;
	if (weft_dtype_bytes(c->x[0]->dtype) == 1 && k <= WEFT_AVERAGE_MAX_LOG2)
		return average_float8(c, k);
	return run(c, average);
}

int weft_float_max_pool2d(const struct weft_call *c)
{
	if (c->fast && weft_fast_float_max_pool2d(c) == 0)
		return 0;
	return run(c, maximum);
}

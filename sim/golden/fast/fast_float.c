/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of fp32 in straight loops. Plain loops: ../float/elementwise.c, ../float/pool.c, ../float/reduce.c
 *
 * ADD, SUB and MUL round once, which the processor's own instructions do as well. Sums are fp64, or fp32 where the
 * operator says so, and are made in the plain loops' order: what goes side by side belongs to different results.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../elementwise.h"
#include "fast.h"

#define BLOCK 256
#define LINES 8                /* sums along the last axis that are made together */

/* ---- two operands ---- */

/* y[i] = a[i * a_step] op b[i * b_step] for i below n; steps are 0 or 1. There is one NaN, whatever the machine makes. */
#define LOOP(expression) \
	for (int64_t i = 0; i < n; i++) { \
		const float v = expression; \
		y[i] = v == v ? v : NAN; \
	}

#define STEPS(op) \
	if (!a_step) { \
		const float left = a[0]; \
		LOOP(left op b[i * b_step]) \
	} else if (!b_step) { \
		const float right = b[0]; \
		LOOP(a[i] op right) \
	} else { \
		LOOP(a[i] op b[i]) \
	}

static FAST void add(const float *a, const float *b, int64_t a_step, int64_t b_step, int64_t n, float *y) { STEPS(+) }
static FAST void sub(const float *a, const float *b, int64_t a_step, int64_t b_step, int64_t n, float *y) { STEPS(-) }
static FAST void mul(const float *a, const float *b, int64_t a_step, int64_t b_step, int64_t n, float *y) { STEPS(*) }

/* Joins the last two dimensions of a walk as long as both operands go on through them alike. */
static void join_last(struct weft_walk *w)
{
	for (int d = w->rank - 1; d > 0; d = w->rank - 1) {
		for (int k = 0; k < 2; k++)
			if (w->dim[d] != 1 && w->dim[d - 1] != 1 && w->stride[k][d - 1] != w->stride[k][d] * w->dim[d])
				return;
		for (int k = 0; k < 2; k++)
			w->stride[k][d - 1] = w->dim[d] == 1 ? w->stride[k][d - 1] : w->stride[k][d];
		w->dim[d - 1] *= w->dim[d];
		w->rank--;
	}
}

int weft_fast_float_binary(const struct weft_call *c)
{
	void (*const run)(const float *, const float *, int64_t, int64_t, int64_t, float *) =
		c->op == WEFT_OP_ADD ? add : c->op == WEFT_OP_SUB ? sub : c->op == WEFT_OP_MUL ? mul : NULL;
	struct weft_walk w = weft_broadcast_walk(c);
	float *y = c->y[0]->data;

	if (!run || c->x[0]->dtype != WEFT_FP32 || c->y[0]->dtype != WEFT_FP32 || !w.rank)
		return -ENOTSUP;
	join_last(&w);
	const int last = --w.rank;
	const int64_t n = w.dim[last];
	do {
		run((const float *)c->x[0]->data + w.off[0], (const float *)c->x[1]->data + w.off[1], w.stride[0][last] != 0, w.stride[1][last] != 0, n, y);
		y += n;
	} while (weft_walk_next(&w));
	return 0;
}

/* ---- maxima ---- */

/* Floats in their order as integers, -0 before +0; the same function brings them back. */
static inline int32_t ordered(int32_t bits)
{
	return bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1);
}

static inline int32_t larger(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

/* Returns whether n bits of fp32 have a NaN among them. */
static FAST bool has_nan(const int32_t *x, int64_t n)
{
	int any = 0;

	for (int64_t i = 0; i < n; i++)
		any |= (x[i] & INT32_MAX) > 0x7f800000;
	return any;
}

/* y[i] = the larger of x[i] and lo, and of these the smaller one and hi, of fp32 in their order; for i below n. */
static FAST void limit(const int32_t *x, int64_t n, int32_t lo, int32_t hi, int32_t *y)
{
	for (int64_t i = 0; i < n; i++) {
		const int32_t v = larger(ordered(x[i]), lo);
		y[i] = ordered(v < hi ? v : hi);
	}
}

/* Returns where a limit stands in the order of fp32; it is no NaN. */
static int32_t order_of(double limit)
{
	const float v = (float)limit;
	int32_t bits;

	memcpy(&bits, &v, sizeof bits);
	return ordered(bits);
}

int weft_fast_float_clamp(const struct weft_call *c)
{
	const struct weft_attr_clamp *a = &c->attr->clamp;
	const int64_t n = weft_tensor_elements(c->x[0]);

	if (c->x[0]->dtype != WEFT_FP32 || isnan(a->fmin) || isnan(a->fmax) || has_nan(c->x[0]->data, n))
		return -ENOTSUP;
	/* A limit that is no fp32 is rounded when it is stored, and lies on the same side of each fp32 as before. */
	limit(c->x[0]->data, n, order_of(a->fmin), order_of(a->fmax), c->y[0]->data);
	return 0;
}

/* max[i] = the largest of x[i + k * step], k below rows, of fp32 in their order as integers, for i below n. */
static FAST void order_rows(const int32_t *restrict x, int64_t rows, int64_t step, int64_t n, int32_t *restrict max)
{
	for (int64_t i = 0; i < n; i++)
		max[i] = ordered(x[i]);
	for (int64_t k = 1; k < rows; k++)
		for (int64_t i = 0; i < n; i++)
			max[i] = larger(max[i], ordered(x[k * step + i]));
}

/* y[i] = the fp32 whose order is the largest of x[i + k * step], k below rows, for i below n. */
static FAST void largest_of(const int32_t *restrict x, int64_t rows, int64_t step, int64_t n, int32_t *restrict y)
{
	for (int64_t i = 0; i < n; i++) {
		int32_t max = x[i];

		for (int64_t k = 1; k < rows; k++)
			max = larger(max, x[k * step + i]);
		y[i] = ordered(max);
	}
}

int weft_fast_float_max_pool2d(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t ch = x->dim[3], line = x->dim[2] * ch;
	int32_t *out = y->data;

	if (x->dtype != WEFT_FP32 || has_nan(x->data, weft_tensor_elements(x)))
		return -ENOTSUP;
	int32_t *max = malloc((size_t)line * sizeof *max);
	if (!max)
		return -ENOMEM;
	for (int64_t n = 0; n < y->dim[0]; n++)
		for (int64_t oy = 0; oy < y->dim[1]; oy++)
			for (int64_t ox = 0; ox < y->dim[2]; ox++, out += ch) {
				const struct weft_pool_window w = weft_pool_window_of(c, (int64_t[]){ n, oy, ox, 0 });

				if (!ox)
					order_rows((const int32_t *)x->data + (n * x->dim[1] + w.y0) * line, w.y1 - w.y0, line, line, max);
				largest_of(max + w.x0 * ch, w.x1 - w.x0, ch, ch, out);
			}
	free(max);
	return 0;
}

/* Sets sum[i] to x[i] as fp64, or adds it, for i below n. */
static FAST void set_doubles(const float *x, int64_t n, double *sum)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] = (double)x[i];
}

static FAST void add_doubles(const float *x, int64_t n, double *sum)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] += (double)x[i];
}

/* y[i] = sum[i] rounded to fp32, divided by count, and rounded again, for i below n. */
static FAST void averages(const double *sum, int64_t n, double count, float *y)
{
	for (int64_t i = 0; i < n; i++) {
		const float v = (float)((double)(float)sum[i] / count);
		y[i] = v == v ? v : NAN;
	}
}

int weft_fast_float_avg_pool2d(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t ch = x->dim[3];
	float *out = y->data;
	double sum[BLOCK];

	if (x->dtype != WEFT_FP32)
		return -ENOTSUP;
	for (int64_t n = 0; n < y->dim[0]; n++)
		for (int64_t oy = 0; oy < y->dim[1]; oy++)
			for (int64_t ox = 0; ox < y->dim[2]; ox++, out += ch) {
				const struct weft_pool_window w = weft_pool_window_of(c, (int64_t[]){ n, oy, ox, 0 });

				for (int64_t at = 0; at < ch; at += BLOCK) {
					const int64_t count = ch - at < BLOCK ? ch - at : BLOCK;

					memset(sum, 0, (size_t)count * sizeof *sum);
					for (int64_t py = w.y0; py < w.y1; py++)
						for (int64_t px = w.x0; px < w.x1; px++)
							add_doubles((const float *)x->data + ((n * x->dim[1] + py) * x->dim[2] + px) * ch + at, count, sum);
					averages(sum, count, (double)((w.y1 - w.y0) * (w.x1 - w.x0)), out + at);
				}
			}
	return 0;
}

/* ---- sums ---- */

/* Adds as fp32: sum[i] becomes (float)sum[i] + x[i]. */
static FAST void add_floats(const float *x, int64_t n, double *sum)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] = (double)((float)sum[i] + x[i]);
}

/* y[i] = sum[i] rounded to fp32; there is one NaN for each sign. */
static FAST void round_all(const double *sum, int64_t n, float *y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)sum[i];
}

/* Sets sum[k] to the sum of x[k * n .. k * n + n - 1] for k below lines, which is 1 or LINES. */
static inline void sum_lines(const float *x, int64_t n, int lines, bool chain, double *sum)
{
	for (int k = 0; k < lines; k++)
		sum[k] = (double)x[k * n];
	for (int64_t i = 1; i < n && !chain; i++)
		for (int k = 0; k < lines; k++)
			sum[k] += (double)x[k * n + i];
	for (int64_t i = 1; i < n && chain; i++)
		for (int k = 0; k < lines; k++)
			sum[k] = (double)((float)sum[k] + x[k * n + i]);
}

/* Sums along the axis of n elements with `right` elements between neighbours: y[right] = the sums of x[n][right]. */
static void sum_across(const float *x, int64_t n, int64_t right, bool chain, float *y)
{
	double sum[BLOCK];

	for (int64_t at = 0; at < right; at += BLOCK) {
		const int64_t count = right - at < BLOCK ? right - at : BLOCK;

		set_doubles(x + at, count, sum);
		for (int64_t i = 1; i < n; i++) {
			if (chain)
				add_floats(x + i * right + at, count, sum);
			else
				add_doubles(x + i * right + at, count, sum);
		}
		round_all(sum, count, y + at);
	}
}

int weft_fast_float_sum(const struct weft_call *c)
{
	const weft_tensor *t = c->x[0];
	const int axis = c->attr->axis.axis;
	const int64_t n = t->dim[axis];
	const bool chain = c->attr->axis.chain;
	int64_t left = 1, right = 1, l = 0;
	const float *x = t->data;
	float *y = c->y[0]->data;
	double sum[LINES];

	if (c->op != WEFT_OP_REDUCE_SUM || t->dtype != WEFT_FP32)
		return -ENOTSUP;
	for (int d = 0; d < axis; d++)
		left *= t->dim[d];
	for (int d = axis + 1; d < t->rank; d++)
		right *= t->dim[d];
	for (; right == 1 && l + LINES <= left; l += LINES) {
		sum_lines(x + l * n, n, LINES, chain, sum);
		round_all(sum, LINES, y + l);
	}
	for (; right == 1 && l < left; l++) {
		sum_lines(x + l * n, n, 1, chain, sum);
		round_all(sum, 1, y + l);
	}
	for (; l < left; l++)
		sum_across(x + l * n * right, n, right, chain, y + l * right);
	/* A NaN's payload is not kept, its sign is: left to the plain loop. */
	return has_nan(c->y[0]->data, left * right) ? -ENOTSUP : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of fp32 in straight loops. Plain loops: elementwise.c, pool.c and reduce.c in sim/golden/float,
 * and sim/golden/tfl/tfl_float.c
 *
 * ADD, SUB and MUL round once, which the processor's own instructions do as well. Sums are fp64, or fp32 where the
 * operator says so, and are made in the plain loops' order: what goes side by side belongs to different results.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/golden/elementwise.h"
#include "sim/golden/fast/fast.h"

#define BLOCK 256
#define LANES 32               /* channels of an average that are added side by side */
#define COLUMNS 64             /* sums along another axis that are made together */
#define LINES 8                /* sums along the last axis that are made together */

/* ---- two operands ---- */

/*
 * LOOP writes `expression` to y[i] for i below n, but NAN for every NaN, whichever the processor computes. STEPS(op) is the
 * body of a function that computes y[i] = a[i * a_step] op b[i * b_step]; the steps are 0 or 1.
 */
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

/* Computes TFL_DIV: y[i] = a[i * a_step] / b[i * b_step]. A NaN stays as the processor's division makes it. */
static FAST void divide(const float *a, const float *b, int64_t a_step, int64_t b_step, int64_t n, float *y)
{
	if (!b_step) {
		const float right = b[0];
		for (int64_t i = 0; i < n; i++)
			y[i] = a[i * a_step] / right;
	} else {
		for (int64_t i = 0; i < n; i++)
			y[i] = a[i * a_step] / b[i];
	}
}

int weft_fast_float_binary(const struct weft_call *c)
{
	void (*const run)(const float *, const float *, int64_t, int64_t, int64_t, float *) =
		c->op == WEFT_OP_ADD ? add : c->op == WEFT_OP_SUB ? sub : c->op == WEFT_OP_MUL ? mul : c->op == WEFT_OP_TFL_DIV ? divide : NULL;
	struct weft_walk w = weft_broadcast_walk(c);
	float *y = c->y[0]->data;

	if (!run || c->x[0]->dtype != WEFT_FP32 || c->y[0]->dtype != WEFT_FP32 || !w.rank)
		return -ENOTSUP;
	weft_fast_join(&w);
	const int last = --w.rank;
	const int64_t n = w.dim[last];
	do {
		run((const float *)c->x[0]->data + w.off[0], (const float *)c->x[1]->data + w.off[1], w.stride[0][last] != 0, w.stride[1][last] != 0, n, y);
		y += n;
	} while (weft_walk_next(&w));
	return 0;
}

/* ---- maxima ---- */

/*
 * Maps the bits of fp32 to integers that are in the order of the numbers, -0 below +0. The function is its own inverse, so that
 * it also maps such an integer back to the bits.
 */
static inline int32_t ordered(int32_t bits)
{
	return bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1);
}

static inline int32_t larger(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

/* Says whether there is a NaN among n numbers of fp32, given as their bits. */
static FAST bool has_nan(const int32_t *x, int64_t n)
{
	int any = 0;

	for (int64_t i = 0; i < n; i++)
		any |= (x[i] & INT32_MAX) > 0x7f800000;
	return any;
}

/* Says whether there is a NaN or a -0 among n numbers of fp32, given as their bits. */
static FAST bool has_nan_or_minus_zero(const int32_t *x, int64_t n)
{
	int any = 0;

	for (int64_t i = 0; i < n; i++)
		any |= ((x[i] & INT32_MAX) > 0x7f800000) | (x[i] == INT32_MIN);
	return any;
}

/*
 * Says whether the order of n numbers of fp32 as integers (ordered()) decides which of them is the largest. It does if none is a NaN.
 * If `compare` is set, none may be a -0 either: numbers are then only compared, so that of a -0 and a +0 the first one counts.
 */
static bool is_order_of_integers(const int32_t *x, int64_t n, bool compare)
{
	return !(compare ? has_nan_or_minus_zero : has_nan)(x, n);
}

/* y[i] = x[i] limited to lo..hi, for i below n. x and y are bits of fp32, lo and hi what ordered() makes of such. */
static FAST void limit(const int32_t *x, int64_t n, int32_t lo, int32_t hi, int32_t *y)
{
	for (int64_t i = 0; i < n; i++) {
		const int32_t v = larger(ordered(x[i]), lo);
		y[i] = ordered(v < hi ? v : hi);
	}
}

/* Returns what ordered() makes of a limit, rounded to fp32. The limit is no NaN. */
static int32_t order_of(double limit)
{
	const float v = (float)limit;
	int32_t bits;

	memcpy(&bits, &v, sizeof bits);
	return ordered(bits);
}

/* y[i] = x[i] limited to lo..hi by comparisons, so that NaN and -0 stay, for i below n. */
static FAST void limit_by_comparing(const float *x, int64_t n, float lo, float hi, float *y)
{
	for (int64_t i = 0; i < n; i++) {
		const float v = x[i] < lo ? lo : x[i];
		y[i] = v > hi ? hi : v;
	}
}

int weft_fast_float_clamp(const struct weft_call *c)
{
	const struct weft_attr_clamp *a = &c->attr->clamp;
	const int64_t n = weft_tensor_elements(c->x[0]);

	if (c->x[0]->dtype != WEFT_FP32 || isnan(a->fmin) || isnan(a->fmax) || has_nan(c->x[0]->data, n))
		return -ENOTSUP;
	if (a->nan == WEFT_NAN_COMPARE) {
		if ((double)(float)a->fmin != a->fmin || (double)(float)a->fmax != a->fmax)
			return -ENOTSUP;
		limit_by_comparing(c->x[0]->data, n, (float)a->fmin, (float)a->fmax, c->y[0]->data);
		return 0;
	}
	/* Rounding to fp32 keeps the order, so it makes no difference whether a limit is rounded here or, as in the plain loop, when it is stored. */
	limit(c->x[0]->data, n, order_of(a->fmin), order_of(a->fmax), c->y[0]->data);
	return 0;
}

/*
 * Sets max[i] to the largest of `least` and of x[i + k * step], k below rows, for i below n. Numbers of fp32 are compared in their
 * order as integers. Three rows are compared at a time; if fewer are left, one of them is compared again.
 */
static FAST void order_rows(const int32_t *restrict x, int64_t rows, int64_t step, int64_t n, int32_t least, int32_t *restrict max)
{
	for (int64_t i = 0; i < n; i++)
		max[i] = least;
	for (int64_t k = 0; k < rows; k += 3) {
		const int32_t *a = x + k * step, *b = k + 1 < rows ? a + step : a, *c = k + 2 < rows ? b + step : b;

		for (int64_t i = 0; i < n; i++)
			max[i] = larger(larger(max[i], ordered(a[i])), larger(ordered(b[i]), ordered(c[i])));
	}
}

/*
 * Writes a row of the output of pool `call` to y. x is one line of the image: for each column, the largest of the rows of the row's
 * windows, as order_rows() leaves it.
 */
static FAST void largest_columns(const struct weft_call *call, const int32_t *restrict x, int32_t *restrict y)
{
	const int64_t ch = call->x[0]->dim[3];

	for (int64_t i = 0; i < call->y[0]->dim[2]; i++, y += ch) {
		const struct weft_pool_window w = weft_pool_window_of(call, (const int64_t[]){ 0, 0, i });
		const int64_t n = w.x1 - w.x0;
		const int32_t *a = x + w.x0 * ch, *b = n > 1 ? a + ch : a, *c = n > 2 ? b + ch : b;

		for (int64_t e = 0; e < ch; e++)
			y[e] = ordered(larger(a[e], larger(b[e], c[e])));
		for (int64_t k = 3; k < n; k++)
			for (int64_t e = 0; e < ch; e++)
				y[e] = ordered(larger(ordered(y[e]), a[k * ch + e]));
	}
}

int weft_fast_float_max_pool2d(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0];
	const int64_t line = x->dim[2] * x->dim[3], row = c->y[0]->dim[2] * x->dim[3];
	struct weft_walk at = weft_pool_rows(c);
	int32_t *out = c->y[0]->data;

	const bool compare = c->attr->pool.nan == WEFT_NAN_COMPARE;
	if (x->dtype != WEFT_FP32 || !is_order_of_integers(x->data, weft_tensor_elements(x), compare))
		return -ENOTSUP;
	const int32_t least = compare ? order_of(-FLT_MAX) : INT32_MIN;
	int32_t *max = malloc((size_t)line * sizeof *max);
	if (!max)
		return -ENOMEM;
	do {
		const struct weft_pool_window w = weft_pool_window_of(c, at.idx);

		order_rows((const int32_t *)x->data + (at.idx[0] * x->dim[1] + w.y0) * line, w.y1 - w.y0, line, line, least, max);
		largest_columns(c, max, out);
		out += row;
	} while (weft_walk_next(&at));
	free(max);
	return 0;
}

/* Returns the largest of `least` and of what ordered() makes of n numbers of fp32, given as their bits. */
static FAST int32_t largest_in_line(const int32_t *x, int64_t n, int32_t least)
{
	int32_t max = least;

	for (int64_t i = 0; i < n; i++)
		max = larger(max, ordered(x[i]));
	return max;
}

int weft_fast_float_reduce_max(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0];
	const int axis = c->attr->axis.axis;
	const int64_t n = x->dim[axis], all = weft_tensor_elements(x);
	const bool compare = c->attr->axis.nan == WEFT_NAN_COMPARE;
	const int32_t least = compare ? order_of(-FLT_MAX) : INT32_MIN;
	int32_t *y = c->y[0]->data;

	if (c->op != WEFT_OP_REDUCE_MAX || x->dtype != WEFT_FP32 || weft_elements_behind(x, axis) != 1 || !is_order_of_integers(x->data, all, compare))
		return -ENOTSUP;
	for (int64_t l = 0; l < all / n; l++)
		y[l] = ordered(largest_in_line((const int32_t *)x->data + l * n, n, least));
	return 0;
}

/* sum[i] = x[i] for i below n. */
static FAST void set_doubles(const float *x, int64_t n, double *sum)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] = (double)x[i];
}

/* sum[i] += x[i], as fp64, for i below n. */
static FAST void add_doubles(const float *x, int64_t n, double *sum)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] += (double)x[i];
}

/*
 * AVERAGE(type) is the body of a function that averages a window for each of ch channels and writes the averages to y. The window
 * has rows x columns pixels, the first of them at x, and its rows lie `line` elements apart. The pixels are added up in that type;
 * the sum is rounded to fp32, divided by the number of pixels, and rounded again. Every NaN becomes NAN.
 */
#define AVERAGE(type) \
	const double count = (double)(rows * columns); \
	for (int64_t at = 0; at < ch; at += LANES) { \
		const int64_t n = ch - at < LANES ? ch - at : LANES; \
		type sum[LANES] = { 0 }; \
		for (int64_t py = 0; py < rows; py++) \
			for (int64_t px = 0; px < columns; px++) { \
				const float *p = x + py * line + px * ch + at; \
				for (int64_t i = 0; n == LANES && i < LANES; i++) \
					sum[i] += (type)p[i]; \
				for (int64_t i = 0; n < LANES && i < n; i++) \
					sum[i] += (type)p[i]; \
			} \
		for (int64_t i = 0; i < n; i++) { \
			const float v = (float)((double)(float)sum[i] / count); \
			y[at + i] = v == v ? v : NAN; \
		} \
	}

static FAST void average(const float *x, int64_t rows, int64_t columns, int64_t line, int64_t ch, float *y) { AVERAGE(double) }
static FAST void average_of_chain(const float *x, int64_t rows, int64_t columns, int64_t line, int64_t ch, float *y) { AVERAGE(float) }

int weft_fast_float_avg_pool2d(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0];
	const int64_t ch = x->dim[3], line = x->dim[2] * ch;
	void (*const run)(const float *, int64_t, int64_t, int64_t, int64_t, float *) = c->attr->pool.chain ? average_of_chain : average;
	struct weft_walk pixel = weft_pool_pixels(c);
	float *out = c->y[0]->data;

	if (x->dtype != WEFT_FP32)
		return -ENOTSUP;
	do {
		const struct weft_pool_window w = weft_pool_window_of(c, pixel.idx);

		run((const float *)x->data + (pixel.idx[0] * x->dim[1] + w.y0) * line + w.x0 * ch, w.y1 - w.y0, w.x1 - w.x0, line, ch, out);
		out += ch;
	} while (weft_walk_next(&pixel));
	return 0;
}

/* ---- sums ---- */

/*
 * y[i] = the sum of x[k * right + i] over k below n, rounded to fp32 after each addition, for i below `columns`. There may be up
 * to COLUMNS columns; if there are exactly so many, the compiler can keep all sums in registers.
 */
static FAST void sum_chains(const float *x, int64_t n, int64_t right, int64_t columns, float *y)
{
	float sum[COLUMNS];

	for (int64_t i = 0; i < columns; i++)
		sum[i] = x[i];
	for (int64_t k = 1; k < n; k++) {
		const float *row = x + k * right;
		for (int64_t i = 0; columns == COLUMNS && i < COLUMNS; i++)
			sum[i] += row[i];
		for (int64_t i = 0; columns < COLUMNS && i < columns; i++)
			sum[i] += row[i];
	}
	for (int64_t i = 0; i < columns; i++)
		y[i] = sum[i];
}

/* y[i] = sum[i] rounded to fp32, for i below n. */
static FAST void round_all(const double *sum, int64_t n, float *y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)sum[i];
}

/*
 * Sets sum[k] to the sum of the n elements from x[k * n] on, for k below lines, which is 1 or LINES. chain: each partial sum is
 * rounded to fp32.
 */
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

/*
 * Sums along an axis of n elements that is not the last: y[i] = the sum of x[k * right + i] over k below n, for i below `right`.
 * chain: each partial sum is rounded to fp32.
 */
static void sum_across(const float *x, int64_t n, int64_t right, bool chain, float *y)
{
	double sum[BLOCK];

	for (int64_t at = 0; chain && at < right; at += COLUMNS)
		sum_chains(x + at, n, right, right - at < COLUMNS ? right - at : COLUMNS, y + at);
	for (int64_t at = 0; !chain && at < right; at += BLOCK) {
		const int64_t count = right - at < BLOCK ? right - at : BLOCK;

		set_doubles(x + at, count, sum);
		for (int64_t i = 1; i < n; i++)
			add_doubles(x + i * right + at, count, sum);
		round_all(sum, count, y + at);
	}
}

int weft_fast_float_sum(const struct weft_call *c)
{
	const weft_tensor *t = c->x[0];
	const int axis = c->attr->axis.axis;
	const int64_t n = t->dim[axis];
	const bool chain = c->attr->axis.chain;
	const int64_t left = weft_elements_before(t, axis), right = weft_elements_behind(t, axis);
	int64_t l = 0;
	const float *x = t->data;
	float *y = c->y[0]->data;
	double sum[LINES];

	if (c->op != WEFT_OP_REDUCE_SUM || t->dtype != WEFT_FP32)
		return -ENOTSUP;
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
	/* Of a NaN the plain loop keeps the sign but not the payload, so sums with a NaN are left to it. */
	return has_nan(c->y[0]->data, left * right) ? -ENOTSUP : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESCALE, in blocks of rows. Plain loops: ../rescale.c
 *
 * A row is a pixel's channels, or, where they are few or there is one scale for all, as many repetitions of them as
 * fill registers (rescale_lanes.h). Groups of channels keep their scales in registers while a block's rows pass by.
 * Elements at a row's end that fill no register go through a row of their own. That is for the 32-bit multiplier; int48,
 * whose multiplier has 16 bits, is scaled by a straight loop.
 */
#include <stdlib.h>
#include <string.h>

#include "fast.h"
#include "rescale_lanes.h"

#define LANES RESCALE_LANES
#define BLOCK 4096                 /* elements of a block at most, unless a row has more */
#define WIDE 256                   /* with so many channels or more, a row's last group may be part empty */

struct work {
	const struct weft_attr_rescale *a;
	int64_t n, width, rows;    /* elements of the tensor and of a row, rows of a block */
	int64_t n_groups;          /* groups of a row; the last may have fewer channels */
	struct weft_rescale_group *groups;
	int32_t *values;           /* the elements of one block */
	weft_rescale_lanes *scale;
	int32_t lo, hi;
};

/* Sets the scale of the i-th element of a row in its group; `twice`: with double rounding. */
static void set_scale(struct weft_rescale_group *g, int64_t i, int64_t mult, int64_t shift, bool twice)
{
	const int64_t odd = i & 1, at = i % LANES / 2;

	twice = twice && shift > 31;
	g[i / LANES].mult[odd][at] = mult;
	g[i / LANES].shift[odd][at] = shift;
	g[i / LANES].add[odd][at] = ((int64_t)1 << (shift - 1)) + (twice ? (int64_t)1 << 30 : 0);
	g[i / LANES].back[odd][at] = twice ? (int64_t)1 << 31 : 0;
}

/*
 * Chooses how rows are laid out, allocates the groups and one block, and fills the groups with the scales.
 * Returns false if memory is out; the caller frees both in each case.
 */
static bool prepare(const struct weft_call *c, struct work *s)
{
	const int64_t ch = c->x[1]->dim[0];

	s->width = ch % LANES && ch < WIDE ? ch * LANES : ch;
	if (s->width > s->n)
		s->width = (s->n + ch - 1) / ch * ch;
	s->rows = s->width < BLOCK ? BLOCK / s->width : 1;
	s->n_groups = (s->width + LANES - 1) / LANES;
	s->groups = calloc((size_t)s->n_groups, sizeof(*s->groups));
	s->values = malloc((size_t)(s->rows * s->width) * sizeof(*s->values));
	if (!s->groups || !s->values)
		return false;
	for (int64_t i = 0, k = 0; i < s->width; i++, k = k + 1 < ch ? k + 1 : 0)
		set_scale(s->groups, i, weft_get(c->x[1], k), weft_get(c->x[2], k), s->a->rounding == WEFT_DOUBLE_ROUND);
	return true;
}

/*
 * Scales the elements at, at + 1, ... of each of so many rows of x, `count` of them (at most LANES), to the
 * same places in s->values. Rows are s->width elements apart.
 */
static void scale_rest(const struct work *s, const int32_t *x, int64_t at, int64_t count, int64_t rows)
{
	int32_t some[LANES] = { 0 };
	const struct weft_rescale_block b = { some, some, 1, LANES, s->a->x_zp, s->a->y_zp, s->lo, s->hi };

	for (int64_t r = 0; r < rows; r++) {
		memcpy(some, x + r * s->width + at, (size_t)count * sizeof(*some));
		s->scale(&b, s->groups + at / LANES);
		memcpy(s->values + r * s->width + at, some, (size_t)count * sizeof(*some));
	}
}

/*
 * Scales the first `count` elements of so many rows, from row `first` of the block at x on, to the same places
 * in s->values.
 */
static void scale_rows(const struct work *s, const int32_t *x, int64_t first, int64_t rows, int64_t count)
{
	struct work t = *s;
	int64_t at = 0;

	x += first * s->width;
	t.values += first * s->width;
	for (; at + LANES <= count; at += LANES) {
		const struct weft_rescale_block b = { x + at, t.values + at, rows, s->width, s->a->x_zp, s->a->y_zp, s->lo, s->hi };

		s->scale(&b, s->groups + at / LANES);
	}
	if (at < count)
		scale_rest(&t, x, at, count - at, rows);
}

/* Returns whether every scale of the call is 1, as 2^30 / 2^30, so that nothing is rounded. */
static bool scales_by_one(const struct weft_call *c)
{
	for (int64_t i = 0; i < c->x[1]->dim[0]; i++)
		if (weft_get(c->x[1], i) != (int64_t)1 << 30 || weft_get(c->x[2], i) != 30)
			return false;
	return true;
}

/* Sets y[i], for i below n, to x[i] - x_zp clipped to lo and hi, plus y_zp. x and y may be the same array. */
static FAST void move(const struct work *s, const int32_t *x, int64_t n, int32_t *y)
{
	const int32_t x_zp = s->a->x_zp, y_zp = s->a->y_zp, lo = s->lo, hi = s->hi;

	for (int64_t i = 0; i < n; i++) {
		const int32_t v = x[i] - x_zp;
		y[i] = (v < lo ? lo : v > hi ? hi : v) + y_zp;
	}
}

/* Runs RESCALE if every scale is 1 (scales_by_one()). */
static void move_all(const struct work *s, const weft_tensor *x, const weft_tensor *y)
{
	int32_t some[BLOCK];

	for (int64_t i = 0; i < s->n; i += BLOCK) {
		const int64_t count = s->n - i < BLOCK ? s->n - i : BLOCK;
		int32_t *to = y->dtype == WEFT_INT32 ? (int32_t *)y->data + i : some;
		const int32_t *from = x->dtype == WEFT_INT32 ? (const int32_t *)x->data + i : to;

		if (from == to)
			weft_fast_load(x, i, count, to);
		move(s, from, count, to);
		if (to == some)
			weft_fast_store(y, i, count, some);
	}
}

/* The scales of a row, one for each element, if the multiplier has 16 bits. */
struct row16 {
	int64_t width;             /* a multiple of the channels */
	int64_t *mult, *shift, *half;
};

/* Sets y[i], for i below n, to x[i] scaled, plus y_zp, and clipped to lo and hi. */
static FAST void scale16(const struct row16 *s, const int64_t *x, int64_t n, int64_t y_zp, int64_t lo, int64_t hi, int32_t *y)
{
	const int64_t *mult = s->mult, *shift = s->shift, *half = s->half;

	for (int64_t i = 0; i < n; i++) {
		/* More than 64 bits would wrap, as in the plain loop. */
		const int32_t r = (int32_t)((int64_t)((uint64_t)x[i] * (uint64_t)mult[i] + (uint64_t)half[i]) >> shift[i]);
		const int64_t v = r + y_zp;
		y[i] = (int32_t)(v < lo ? lo : v > hi ? hi : v);
	}
}

/* Runs RESCALE of int48, whose multipliers have 16 bits. Returns 0 or -ENOMEM. */
static int rescale16(const struct weft_call *c, const weft_tensor *x, const weft_tensor *y)
{
	const struct weft_attr_rescale *a = &c->attr->rescale;
	const int64_t ch = c->x[1]->dim[0], n = weft_tensor_elements(x), width = ch < BLOCK ? BLOCK / ch * ch : ch;
	struct row16 s = { width, malloc((size_t)width * 8), malloc((size_t)width * 8), malloc((size_t)width * 8) };
	int32_t *values = malloc((size_t)width * sizeof(*values));
	const int err = s.mult && s.shift && s.half && values ? 0 : -ENOMEM;

	for (int64_t i = 0; !err && i < width; i++) {
		s.mult[i] = weft_get(c->x[1], i % ch);
		s.shift[i] = weft_get(c->x[2], i % ch);
		s.half[i] = (int64_t)1 << (s.shift[i] - 1);
	}
	for (int64_t i = 0; !err && i < n; i += width) {
		const int64_t count = n - i < width ? n - i : width;

		scale16(&s, (const int64_t *)x->data + i, count, a->y_zp, weft_int_min(y->dtype), weft_int_max(y->dtype), values);
		weft_fast_store(y, i, count, values);
	}
	free(s.mult);
	free(s.shift);
	free(s.half);
	free(values);
	return err;
}

int weft_rescale_with(const struct weft_call *c, const struct weft_rescale_kernels *kernels)
{
	const struct weft_attr_rescale *a = &c->attr->rescale;
	const weft_tensor x = weft_as_read(c->x[0], a->x_unsigned), y = weft_as_read(c->y[0], a->y_unsigned);
	struct work s = { .a = a, .n = weft_tensor_elements(&x), .scale = a->rounding == WEFT_EVEN_ROUND ? kernels->even : kernels->up,
		.lo = (int32_t)(weft_int_min(y.dtype) - a->y_zp), .hi = (int32_t)(weft_int_max(y.dtype) - a->y_zp) };
	int err = -ENOMEM;

	if (c->x[1]->dim[0] > INT32_MAX / 64)
		return -ENOTSUP;
	if (x.dtype == WEFT_INT48 && a->rounding != WEFT_EVEN_ROUND)
		return rescale16(c, &x, &y);
	if (!a->scale32 || !weft_fast_has_int32(x.dtype))
		return -ENOTSUP;
	if (scales_by_one(c)) {
		move_all(&s, &x, &y);
		return 0;
	}
	if (prepare(c, &s)) {
		for (int64_t i = 0; i < s.n; i += s.rows * s.width) {
			const int64_t count = s.n - i < s.rows * s.width ? s.n - i : s.rows * s.width, whole = count / s.width;
			const int32_t *from = x.dtype == WEFT_INT32 ? (const int32_t *)x.data + i : s.values;

			if (from == s.values)
				weft_fast_load(&x, i, count, s.values);
			scale_rows(&s, from, 0, whole, s.width);
			if (count > whole * s.width)
				scale_rows(&s, from, whole, 1, count - whole * s.width);
			weft_fast_store(&y, i, count, s.values);
		}
		err = 0;
	}
	free(s.groups);
	free(s.values);
	return err;
}

int weft_fast_rescale(const struct weft_call *c)
{
	return weft_rescale_with(c, weft_rescale_kernels_at(0));
}

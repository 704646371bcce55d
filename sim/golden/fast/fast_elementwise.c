/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADD, SUB, MUL, MAXIMUM, MINIMUM of int32 with broadcasting, and CLAMP, in straight loops.
 * Plain loops: ../elementwise.c, ../mul.c, ../clamp.c
 */
#include "../elementwise.h"
#include "fast.h"

#define BLOCK 512

void weft_fast_join(struct weft_walk *w)
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

/* y[i] = a[i * a_step] OP b[i * b_step], i below n, where steps are 0 or 1. */
typedef void row_fn(const int32_t *a, int64_t a_step, const int32_t *b, int64_t b_step, int64_t n, int shift, int32_t *y);

#define ROW(name, result) \
	static FAST void name(const int32_t *a, int64_t a_step, const int32_t *b, int64_t b_step, int64_t n, int shift, int32_t *y) \
	{ \
		(void)shift; \
		if (a_step && b_step) \
			for (int64_t i = 0; i < n; i++) { const int32_t p = a[i], q = b[i]; y[i] = (int32_t)(result); } \
		else if (a_step) \
			for (int64_t i = 0; i < n; i++) { const int32_t p = a[i], q = b[0]; y[i] = (int32_t)(result); } \
		else \
			for (int64_t i = 0; i < n; i++) { const int32_t p = a[0], q = b[i * b_step]; y[i] = (int32_t)(result); } \
	}

ROW(add_row, (uint32_t)p + (uint32_t)q)
ROW(sub_row, (uint32_t)p - (uint32_t)q)
ROW(mul_row, (uint32_t)p * (uint32_t)q)
/* The sum can leave 64 bits only for a shift of 63, where it wraps, as the plain loop's does. */
ROW(mul_shift_row, (int64_t)((uint64_t)((int64_t)p * q) + ((uint64_t)1 << (shift - 1))) >> shift)
ROW(max_row, p > q ? p : q)
ROW(min_row, p < q ? p : q)

int weft_fast_elementwise(const struct weft_call *c)
{
	const int shift = c->op == WEFT_OP_MUL ? c->attr->mul.shift : 0;
	row_fn *const row = c->op == WEFT_OP_ADD ? add_row : c->op == WEFT_OP_SUB ? sub_row : c->op == WEFT_OP_MUL ? shift ? mul_shift_row : mul_row :
		c->op == WEFT_OP_MAXIMUM ? max_row : min_row;
	struct weft_walk w = weft_broadcast_walk(c);
	int32_t *y = c->y[0]->data;

	if (c->x[0]->dtype != WEFT_INT32 || !w.rank)
		return -ENOTSUP;
	weft_fast_join(&w);
	const int last = --w.rank;
	const int64_t n = w.dim[last];
	do {
		row((const int32_t *)c->x[0]->data + w.off[0], w.stride[0][last] != 0, (const int32_t *)c->x[1]->data + w.off[1], w.stride[1][last] != 0, n, shift, y);
		y += n;
	} while (weft_walk_next(&w));
	return 0;
}

/* y[i] = x[i] within lo..hi, for i below n. */
static FAST void clamp_int8(const int8_t *x, int64_t n, int8_t lo, int8_t hi, int8_t *y)
{
	for (int64_t i = 0; i < n; i++) {
		const int8_t v = x[i] < lo ? lo : x[i];
		y[i] = v > hi ? hi : v;
	}
}

static FAST int clamp_any(const struct weft_call *c)
{
	const int64_t n = weft_tensor_elements(c->y[0]);
	const int32_t lo = (int32_t)c->attr->clamp.min, hi = (int32_t)c->attr->clamp.max;
	int32_t v[BLOCK];

	for (int64_t i = 0; i < n; i += BLOCK) {
		const int64_t count = n - i < BLOCK ? n - i : BLOCK;

		weft_fast_load(c->x[0], i, count, v);
		for (int64_t k = 0; k < count; k++)
			v[k] = v[k] < lo ? lo : v[k] > hi ? hi : v[k];
		weft_fast_store(c->y[0], i, count, v);
	}
	return 0;
}

int weft_fast_clamp(const struct weft_call *c)
{
	const struct weft_attr_clamp *a = &c->attr->clamp;

	/* Limits within the type: the plain check has seen to it that the lower one is not the larger one. */
	if (c->x[0]->dtype != WEFT_INT8 || a->min < INT8_MIN || a->max > INT8_MAX || a->min > a->max)
		return clamp_any(c);
	clamp_int8(c->x[0]->data, weft_tensor_elements(c->y[0]), (int8_t)a->min, (int8_t)a->max, c->y[0]->data);
	return 0;
}

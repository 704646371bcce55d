/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADD, SUB, MAXIMUM, MINIMUM of equal shapes, and CLAMP, in straight loops.
 * Plain loops: ../elementwise.c, ../clamp.c
 */
#include "fast.h"

#define BLOCK 512

static FAST int elementwise(const struct weft_call *c)
{
	const int64_t n = weft_tensor_elements(c->y[0]);
	const int32_t *a = c->x[0]->data, *b = c->x[1]->data;
	int32_t *y = c->y[0]->data;

	if (!weft_same_shape(c->x[0], c->x[1]))
		return -ENOTSUP;
	switch (c->op) {
	case WEFT_OP_ADD:
		for (int64_t i = 0; i < n; i++)
			y[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i]);
		break;
	case WEFT_OP_SUB:
		for (int64_t i = 0; i < n; i++)
			y[i] = (int32_t)((uint32_t)a[i] - (uint32_t)b[i]);
		break;
	case WEFT_OP_MAXIMUM:
		for (int64_t i = 0; i < n; i++)
			y[i] = a[i] > b[i] ? a[i] : b[i];
		break;
	default:
		for (int64_t i = 0; i < n; i++)
			y[i] = a[i] < b[i] ? a[i] : b[i];
	}
	return 0;
}

int weft_fast_elementwise(const struct weft_call *c)
{
	return elementwise(c);
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

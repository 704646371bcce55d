/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADD, SUB, MAXIMUM, MINIMUM of equal shapes, and CLAMP, in straight loops.
 * Plain loops: ../elementwise.c, ../clamp.c
 */
#include "fast.h"

#define BLOCK 512

FAST int weft_fast_elementwise(const struct weft_call *c)
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

FAST int weft_fast_clamp(const struct weft_call *c)
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

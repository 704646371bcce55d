/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADD, SUB, MAXIMUM, MINIMUM. TOSA 1.0 sections 2.5.1, 2.5.16, 2.5.12, 2.5.13.
 *
 *   a, b  int32, or floats: float/elementwise.c; shapes that broadcast to y's
 *   y     their type
 *
 * TOSA requires that ADD and SUB do not overflow; here they wrap at 32 bits.
 */
#include "elementwise.h"
#include "fast/fast.h"
#include "float/ops.h"

int weft_check_broadcast(const struct weft_call *c)
{
	const weft_tensor *a = c->x[0], *b = c->x[1], *y = c->y[0];

	if (a->rank != b->rank || a->rank != y->rank)
		return weft_call_fail(c, -EINVAL, "ranks %d, %d -> %d differ", a->rank, b->rank, y->rank);
	for (int d = 0; d < y->rank; d++) {
		int64_t want = a->dim[d] == 1 ? b->dim[d] : a->dim[d];

		if ((b->dim[d] != 1 && b->dim[d] != want) || y->dim[d] != want)
			return weft_call_fail(c, -EINVAL, "dimension %d: %lld, %lld -> %lld do not broadcast", d,
			                      (long long)a->dim[d], (long long)b->dim[d],
			                      (long long)y->dim[d]);
	}
	return 0;
}

struct weft_walk weft_broadcast_walk(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0];
	struct weft_walk w = { .rank = y->rank };

	for (int k = 0; k < 2; k++) {
		weft_strides(c->x[k], w.stride[k]);
		for (int d = 0; d < y->rank; d++) {
			w.dim[d] = y->dim[d];
			if (c->x[k]->dim[d] == 1)
				w.stride[k][d] = 0;
		}
	}
	return w;
}

static int64_t combine(weft_opcode op, int64_t a, int64_t b)
{
	switch (op) {
	case WEFT_OP_ADD: return a + b;
	case WEFT_OP_SUB: return a - b;
	case WEFT_OP_MAXIMUM: return a > b ? a : b;
	default: return a < b ? a : b;
	}
}

int weft_golden_elementwise(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT32, WEFT_INT32 }, WEFT_INT32 },
		{ { WEFT_FP16, WEFT_FP16 }, WEFT_FP16 },
		{ { WEFT_BF16, WEFT_BF16 }, WEFT_BF16 },
		{ { WEFT_FP32, WEFT_FP32 }, WEFT_FP32 },
	};
	const int pow = c->op == WEFT_OP_POW; /* has no int32 row */
	struct weft_walk w;
	int64_t o = 0;
	int err;

	if ((err = weft_check_rows(c, rows + pow, sizeof(rows) / sizeof(rows[0]) - pow)) || (err = weft_check_broadcast(c)))
		return err;
	if (weft_is_float(c->x[0]->dtype))
		return weft_float_binary(c);
	if (c->fast && weft_fast_elementwise(c) == 0)
		return 0;
	w = weft_broadcast_walk(c);
	do {
		weft_put(c->y[0], o++, combine(c->op, weft_get(c->x[0], w.off[0]),
		                               weft_get(c->x[1], w.off[1])));
	} while (weft_walk_next(&w));
	return 0;
}

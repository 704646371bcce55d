/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EQUAL, GREATER, GREATER_EQUAL. TOSA 1.0 sections 2.8.1 to 2.8.3.
 *
 *   a, b  int32; or floats: float/elementwise.c; shapes that broadcast to y's
 *   y     bool
 */
#include "elementwise.h"
#include "float/ops.h"

static bool holds(weft_opcode op, int64_t a, int64_t b)
{
	switch (op) {
	case WEFT_OP_EQUAL: return a == b;
	case WEFT_OP_GREATER: return a > b;
	default: return a >= b;
	}
}

int weft_golden_compare(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT32, WEFT_INT32 }, WEFT_BOOL },
		{ { WEFT_FP16, WEFT_FP16 }, WEFT_BOOL },
		{ { WEFT_BF16, WEFT_BF16 }, WEFT_BOOL },
		{ { WEFT_FP32, WEFT_FP32 }, WEFT_BOOL },
	};
	struct weft_walk w;
	int64_t o = 0;
	int err;

	if ((err = weft_check_rows(c, rows, sizeof(rows) / sizeof(rows[0]))) || (err = weft_check_broadcast(c)))
		return err;
	if (weft_is_float(c->x[0]->dtype))
		return weft_float_binary(c);
	w = weft_broadcast_walk(c);
	do {
		weft_put(c->y[0], o++, holds(c->op, weft_get(c->x[0], w.off[0]), weft_get(c->x[1], w.off[1])));
	} while (weft_walk_next(&w));
	return 0;
}

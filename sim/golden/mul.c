/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUL. TOSA 1.0 section 2.5.14.
 *
 *   a, b  int8, int16 or int32, or floats: float/elementwise.c; shapes that broadcast to y's
 *   y     int32; of floats, their type
 *
 * int8, int16: the product, shift is 0. int32: shift 0 keeps the product's low
 * 32 bits; shift 1..63 is (a*b + 2^(shift-1)) >> shift, half up. TOSA requires
 * that to fit int32; here the low 32 bits are kept. The 64-bit sum can
 * overflow only for shift 63 and a = b = -2^31, where it wraps.
 */
#include "elementwise.h"
#include "fast/fast.h"
#include "float/ops.h"

static int64_t product(int64_t a, int64_t b, int shift)
{
	uint64_t p = (uint64_t)(a * b);

	if (shift > 0)
		return (int64_t)(p + ((uint64_t)1 << (shift - 1))) >> shift;
	return (int64_t)p;
}

int weft_golden_mul(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT8, WEFT_INT8 }, WEFT_INT32 },
		{ { WEFT_INT16, WEFT_INT16 }, WEFT_INT32 },
		{ { WEFT_INT32, WEFT_INT32 }, WEFT_INT32 },
		{ { WEFT_FP16, WEFT_FP16 }, WEFT_FP16 },
		{ { WEFT_BF16, WEFT_BF16 }, WEFT_BF16 },
		{ { WEFT_FP32, WEFT_FP32 }, WEFT_FP32 },
	};
	const int shift = c->attr->mul.shift;
	struct weft_walk w;
	int64_t o = 0;
	int err;

	if ((err = weft_check_rows(c, rows, sizeof(rows) / sizeof(rows[0]))) || (err = weft_check_broadcast(c)))
		return err;
	if (shift < 0 || shift > 63 || (shift != 0 && c->x[0]->dtype != WEFT_INT32))
		return weft_call_fail(c, -EINVAL, "shift %d, must be %s", shift,
		                      c->x[0]->dtype == WEFT_INT32 ? "0..63" : "0");
	if (weft_is_float(c->x[0]->dtype))
		return weft_float_binary(c);
	if (c->fast && weft_fast_elementwise(c) == 0)
		return 0;
	w = weft_broadcast_walk(c);
	do {
		weft_put(c->y[0], o++, product(weft_get(c->x[0], w.off[0]),
		                               weft_get(c->x[1], w.off[1]), shift));
	} while (weft_walk_next(&w));
	return 0;
}

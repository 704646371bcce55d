/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_QUOTIENT: DIV of quantised tensors as TensorFlow Lite computes it.
 *
 *   a, b  int8 or int16, broadcasting; a zero point each
 *   y     of the same type
 *
 * The reciprocal of |b - b_zp| by Newton's method in Q0.31, times a - a_zp moved
 * up to its sign bit, times the factor a_scale / (b_scale * y_scale) in Q0.31,
 * and one rounding shift at the end. TensorFlow Lite stops at a divisor of zero,
 * which gives the greatest or least result here, and zero over zero y_zp.
 */
#include "fixed_exp.h"
#include "sim/golden/elementwise.h"
#include "sim/golden/fixed_point.h"
#include "sim/golden/quant.h"

/*
 * Returns x / 2^n, with halves rounded away from zero, if n is 0..31. The framework's
 * rounding shift is not defined for another n. What it gives then on x86 is returned:
 * x is shifted right by n modulo 32, and one is added if x is not negative.
 */
static int32_t shifted(int32_t x, int n)
{
	return n >= 0 && n < 32 ? weft_shift_right(x, n) : (x >> (n & 31)) + (x >= 0);
}

static int64_t quotient(const struct weft_attr_tfl_quotient *q, int32_t a, int32_t b)
{
	if (!b)
		return !a ? 0 : a > 0 ? INT32_MAX : INT32_MIN;
	if (b < 0) {
		a = -a;
		b = -b;
	}
	const int up = __builtin_clz((uint32_t)b), room = !a ? 31 : __builtin_clz((uint32_t)(a < 0 ? -2 * a - 1 : 2 * a));
	const int32_t inverse = weft_reciprocal_1p((int32_t)(((uint32_t)b << up) - (1u << 31)));
	const int32_t plain = weft_mul_q31((int32_t)((uint32_t)a << room), inverse);
	const int right = (31 - up) + room - q->shift;

	return shifted(weft_mul_q31(plain, q->multiplier), right);
}

int weft_golden_tfl_quotient(const struct weft_call *c)
{
	const struct weft_attr_tfl_quotient *q = &c->attr->tfl_quotient;
	const weft_tensor *a = c->x[0], *b = c->x[1], *y = c->y[0];
	struct weft_walk w;
	int64_t o = 0;
	int err;

	if ((y->dtype != WEFT_INT8 && y->dtype != WEFT_INT16) || a->dtype != y->dtype || b->dtype != y->dtype)
		return weft_call_fail(c, -EINVAL, "types %s, %s -> %s not allowed", weft_dtype_name(a->dtype),
		                      weft_dtype_name(b->dtype), weft_dtype_name(y->dtype));
	if (q->multiplier < 0 || q->shift < -31 || q->shift > 30)
		return weft_call_fail(c, -EINVAL, "multiplier %d and shift %d, must be 0 or more and -31..30", q->multiplier, q->shift);
	if ((err = weft_check_broadcast(c)) || (err = weft_check_quant(c, "operand 0", 1, q->a_zp, y->dtype)) ||
	    (err = weft_check_quant(c, "operand 1", 1, q->b_zp, y->dtype)) || (err = weft_check_quant(c, "result", 1, q->y_zp, y->dtype)))
		return err;
	w = weft_broadcast_walk(c);
	do {
		const int64_t r = quotient(q, (int32_t)weft_get(a, w.off[0]) - q->a_zp, (int32_t)weft_get(b, w.off[1]) - q->b_zp);

		weft_put(y, o++, weft_clip(r + q->y_zp, weft_int_min(y->dtype), weft_int_max(y->dtype)));
	} while (weft_walk_next(&w));
	return 0;
}

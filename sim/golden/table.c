/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TABLE. TOSA 1.0 section 2.5.17, apply_lookup_s.
 *
 *   x      any shape; int8 or int16
 *   table  [256] int8, or [513] int16
 *   y      x's shape; int8, or int32 for int16
 *
 * int8: y = table[x + 128]. int16: the upper 9 bits of x choose two
 * neighbours, the lower 7 interpolate: y = base*2^7 + (next - base)*fraction.
 * |y| <= 2^22 + 2^16 * 127, so nothing overflows even where TOSA's rule that
 * the slope fits int16 is broken.
 */
#include "fast/fast.h"
#include "ops.h"

static int64_t interpolate(const weft_tensor *table, int64_t x)
{
	int64_t i = (x + 32768) >> 7;
	int64_t base = weft_get(table, i), next = weft_get(table, i + 1);

	return base * 128 + (next - base) * (x & 127);
}

int weft_golden_table(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT8, WEFT_INT8 }, WEFT_INT8 },
		{ { WEFT_INT16, WEFT_INT16 }, WEFT_INT32 },
	};
	const weft_tensor *x = c->x[0], *table = c->x[1], *y = c->y[0];
	const int64_t n = weft_tensor_elements(x);
	const int64_t size = x->dtype == WEFT_INT8 ? 256 : 513;
	int err;

	if ((err = weft_check_rows(c, rows, 2)) ||
	    (err = weft_check_rank(c, "table", table, 1)) ||
	    (err = weft_check_same(c, false)))
		return err;
	if (table->dim[0] != size)
		return weft_call_fail(c, -EINVAL, "table has %lld elements, must be %lld",
		                      (long long)table->dim[0], (long long)size);
	if (c->fast && weft_fast_table(c) == 0)
		return 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t v = weft_get(x, i);

		weft_put(y, i, x->dtype == WEFT_INT8 ? weft_get(table, v + 128) : interpolate(table, v));
	}
	return 0;
}

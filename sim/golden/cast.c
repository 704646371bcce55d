/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CAST between integer types. TOSA 1.0 section 2.13.1.
 *
 *   x, y  one shape; bool, int8, int16, int32, two different ones
 *
 * Widening keeps the value, narrowing keeps the low bits, to bool is x != 0.
 */
#include "ops.h"

int weft_golden_cast(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_BOOL }, WEFT_INT8 }, { { WEFT_BOOL }, WEFT_INT16 }, { { WEFT_BOOL }, WEFT_INT32 },
		{ { WEFT_INT8 }, WEFT_BOOL }, { { WEFT_INT8 }, WEFT_INT16 }, { { WEFT_INT8 }, WEFT_INT32 },
		{ { WEFT_INT16 }, WEFT_BOOL }, { { WEFT_INT16 }, WEFT_INT8 }, { { WEFT_INT16 }, WEFT_INT32 },
		{ { WEFT_INT32 }, WEFT_BOOL }, { { WEFT_INT32 }, WEFT_INT8 }, { { WEFT_INT32 }, WEFT_INT16 },
	};
	const int64_t n = weft_tensor_elements(c->x[0]);
	int err;

	if ((err = weft_check_rows(c, rows, sizeof(rows) / sizeof(rows[0]))) ||
	    (err = weft_check_same(c, false)))
		return err;
	for (int64_t i = 0; i < n; i++)
		weft_put(c->y[0], i, weft_get(c->x[0], i));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CAST. TOSA 1.0 section 2.13.1.
 *
 *   x, y  one shape; two types that are a row of its table
 *
 * Integers: widening keeps the value, narrowing keeps the low bits, to bool is
 * x != 0. Floats as float/cast.c has it: round to nearest even; float8 without
 * saturation; to integers with saturation.
 */
#include <weft/convert.h>

#include "float/cast.h"
#include "ops.h"

int weft_golden_cast(const struct weft_call *c)
{
	const struct weft_cast_options o = weft_cast_options_default(WEFT_CAST_TOSA);
	const weft_tensor *x = c->x[0], *y = c->y[0];
	char msg[WEFT_CONVERT_MSG];
	int err = weft_check_same(c, false);

	if (err)
		return err;
	if (!weft_cast_tosa_row(x->dtype, y->dtype))
		return weft_call_fail(c, -EINVAL, "types %s -> %s are not a row of its table", weft_dtype_name(x->dtype),
		                      weft_dtype_name(y->dtype));
	err = weft_cast(x, c->y[0], &o, msg);
	return err ? weft_call_fail(c, err, "%s", msg) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESHAPE and IDENTITY. TOSA 1.0 sections 2.10.3 and 2.14.2.
 *
 *   x, y  one type, any; RESHAPE: as many elements; IDENTITY: one shape
 */
#include <string.h>

#include "ops.h"

int weft_golden_identity(const struct weft_call *c)
{
	int err = weft_check_same(c, true);

	if (!err)
		memmove(c->y[0]->data, c->x[0]->data, weft_tensor_bytes(c->x[0]));
	return err;
}

int weft_golden_reshape(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];

	if (x->dtype != y->dtype)
		return weft_call_fail(c, -EINVAL, "output type %s, input type %s",
		                      weft_dtype_name(y->dtype), weft_dtype_name(x->dtype));
	if (weft_tensor_elements(x) != weft_tensor_elements(y))
		return weft_call_fail(c, -EINVAL, "output has %lld elements, input %lld",
		                      (long long)weft_tensor_elements(y),
		                      (long long)weft_tensor_elements(x));
	memmove(y->data, x->data, weft_tensor_bytes(x));
	return 0;
}

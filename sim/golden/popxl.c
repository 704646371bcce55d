/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PopXL's conv_pow2scaled and matmul_pow2scaled: CONV2D and MATMUL of float8 with
 * 2^log2_scale, which is an operand.
 *
 *   x, w        float8_143 or float8_152, not necessarily the same
 *   log2_scale  int32, one element, -32..31
 *   y           fp16: the sum of x * w * 2^log2_scale, rounded once (float/dot.h)
 *
 * Source: PopXL, "Data types", 8-bit floating point; its partial sums are half,
 * ours are exact.
 */
#include "ops.h"

#define MINUS_ZERO 0x8000      /* added to any fp16, it leaves all of its bits */

static bool is_fnuz(weft_dtype t)
{
	return t == WEFT_FP8E4M3FNUZ || t == WEFT_FP8E5M2FNUZ;
}

static int scale_of(const struct weft_call *c, int32_t *scale)
{
	const weft_tensor *s = c->x[2];

	for (int i = 0; i < 2; i++)
		if (!is_fnuz(c->x[i]->dtype))
			return weft_call_fail(c, -EINVAL, "operand %d is %s, must be float8e4m3fnuz or float8e5m2fnuz", i,
			                      weft_dtype_name(c->x[i]->dtype));
	if (s->dtype != WEFT_INT32 || weft_tensor_elements(s) != 1)
		return weft_call_fail(c, -EINVAL, "log2_scale is not one int32");
	*scale = *(const int32_t *)s->data;
	if (*scale < -32 || *scale > 31)
		return weft_call_fail(c, -EINVAL, "log2_scale %d, must be -32..31", (int)*scale);
	return 0;
}

int weft_golden_popxl_conv(const struct weft_call *c)
{
	uint16_t none = MINUS_ZERO;
	const weft_tensor bias = { .dtype = WEFT_FP16, .rank = 1, .dim = { 1 }, .data = &none };
	const weft_tensor *x[3] = { c->x[0], c->x[1], &bias };
	struct weft_call plain = *c;
	weft_attr a = *c->attr;
	int err = scale_of(c, &a.conv.log2_scale);

	a.conv.acc = WEFT_FP16;
	plain.x = x;
	plain.attr = &a;
	return err ? err : weft_golden_conv2d(&plain);
}

int weft_golden_popxl_matmul(const struct weft_call *c)
{
	struct weft_call plain = *c;
	weft_attr a = { .matmul = { 0 } };
	int err = scale_of(c, &a.matmul.log2_scale);

	plain.n_x = 2;
	plain.attr = &a;
	return err ? err : weft_golden_matmul(&plain);
}

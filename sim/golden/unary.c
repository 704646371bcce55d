/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integer operators on one input: TOSA 1.0 section 2.6.
 *
 *   ABS, CLZ      int32
 *   NEGATE        int8 with zero points, int16, int32: clip(-(x - x_zp) + y_zp)
 *   BITWISE_NOT   int8, int16, int32
 *   LOGICAL_NOT   bool
 *
 * y has x's type and shape. TOSA requires that ABS and NEGATE of int32 do not
 * overflow; here ABS wraps and NEGATE clips. CLZ of 0 is 32.
 */
#include "float/ops.h"

static int check(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT32 }, WEFT_INT32 },
		{ { WEFT_INT16 }, WEFT_INT16 },
		{ { WEFT_INT8 }, WEFT_INT8 },
		{ { WEFT_BOOL }, WEFT_BOOL },
	};
	static const struct weft_row floats[] = {
		{ { WEFT_FP16 }, WEFT_FP16 },
		{ { WEFT_BF16 }, WEFT_BF16 },
		{ { WEFT_FP32 }, WEFT_FP32 },
	};
	const bool wide = c->op == WEFT_OP_ABS || c->op == WEFT_OP_CLZ, truth = c->op == WEFT_OP_LOGICAL_NOT;
	int err;

	if (weft_is_float(c->x[0]->dtype) && (c->op == WEFT_OP_ABS || c->op == WEFT_OP_NEGATE))
		err = weft_check_rows(c, floats, 3);
	else
		err = weft_check_rows(c, truth ? rows + 3 : rows, wide || truth ? 1 : 3);
	if (err || (err = weft_check_same(c, true)))
		return err;
	if (c->op != WEFT_OP_NEGATE)
		return 0;
	if (!c->attr)
		return weft_call_fail(c, -EINVAL, "attributes missing");
	err = weft_check_zp(c, "input zero point", c->x[0]->dtype, c->attr->negate.x_zp);
	return err ? err : weft_check_zp(c, "output zero point", c->y[0]->dtype, c->attr->negate.y_zp);
}

static int64_t leading_zeros(int64_t v)
{
	int n = 32;

	for (uint32_t u = (uint32_t)v; u; u >>= 1)
		n--;
	return n;
}

static int64_t apply(const struct weft_call *c, int64_t v)
{
	const weft_dtype t = c->y[0]->dtype;

	switch (c->op) {
	case WEFT_OP_ABS: return v < 0 ? -v : v;
	case WEFT_OP_CLZ: return leading_zeros(v);
	case WEFT_OP_NEGATE:
		return weft_clip(-(v - c->attr->negate.x_zp) + c->attr->negate.y_zp, weft_int_min(t), weft_int_max(t));
	case WEFT_OP_LOGICAL_NOT: return !v;
	default: return ~v;
	}
}

int weft_golden_unary(const struct weft_call *c)
{
	const int64_t n = weft_tensor_elements(c->x[0]);
	int err = check(c);

	if (err)
		return err;
	if (weft_is_float(c->x[0]->dtype))
		return weft_float_unary(c);
	for (int64_t i = 0; i < n; i++)
		weft_put(c->y[0], i, apply(c, weft_get(c->x[0], i)));
	return 0;
}

/* CEIL, COS, ERF, EXP, FLOOR, LOG, RECIPROCAL, RSQRT, SIGMOID, SIN, TANH: no integer rows. */
int weft_golden_float_unary(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_FP16 }, WEFT_FP16 },
		{ { WEFT_BF16 }, WEFT_BF16 },
		{ { WEFT_FP32 }, WEFT_FP32 },
	};
	int err;

	if ((err = weft_check_rows(c, rows, 3)) || (err = weft_check_same(c, true)))
		return err;
	return weft_float_unary(c);
}

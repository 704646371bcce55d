/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MATMUL. TOSA 1.0 section 2.3.7 (with the zero-point check's missing "not":
 * zero points are for int8 only).
 *
 *   a [N][H][C]  int8, zero point a_zp; or int16
 *   b [N][C][W]  int8, zero point b_zp; or int16
 *   y [N][H][W]  int32; int48 for int16
 *
 * Floats: float/conv.c.
 *
 * Sums modulo 2^64, cut to the accumulator's width at the end (see conv2d.c).
 */
#include "fast/fast.h"
#include "float/ops.h"

static int check(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT8, WEFT_INT8 }, WEFT_INT32 },
		{ { WEFT_INT16, WEFT_INT16 }, WEFT_INT48 },
		{ { WEFT_FP16, WEFT_FP16 }, WEFT_FP16 },
		{ { WEFT_FP16, WEFT_FP16 }, WEFT_FP32 },
		{ { WEFT_BF16, WEFT_BF16 }, WEFT_FP32 },
		{ { WEFT_FP32, WEFT_FP32 }, WEFT_FP32 },
	};
	const weft_tensor *a = c->x[0], *b = c->x[1], *y = c->y[0];
	int err = 0;

	/* float8 operands may differ, as PopXL's may. */
	if (!weft_float8_pair(a->dtype, b->dtype) || y->dtype != WEFT_FP16)
		err = weft_check_rows(c, rows, sizeof(rows) / sizeof(rows[0]));
	if (err || (err = weft_check_rank(c, "input 0", a, 3)) ||
	    (err = weft_check_rank(c, "input 1", b, 3)) ||
	    (err = weft_check_rank(c, "output", y, 3)) ||
	    (err = weft_check_zp(c, "zero point of input 0", a->dtype, c->attr->matmul.a_zp)) ||
	    (err = weft_check_zp(c, "zero point of input 1", b->dtype, c->attr->matmul.b_zp)) ||
	    (err = weft_check_log2_scale(c, c->attr->matmul.log2_scale)))
		return err;
	if (a->dim[0] != b->dim[0] || a->dim[2] != b->dim[1])
		return weft_call_fail(c, -EINVAL, "inputs %lldx%lldx%lld and %lldx%lldx%lld do not fit",
		                      (long long)a->dim[0], (long long)a->dim[1], (long long)a->dim[2],
		                      (long long)b->dim[0], (long long)b->dim[1], (long long)b->dim[2]);
	if (y->dim[0] != a->dim[0] || y->dim[1] != a->dim[1] || y->dim[2] != b->dim[2])
		return weft_call_fail(c, -EINVAL, "output is not %lldx%lldx%lld",
		                      (long long)a->dim[0], (long long)a->dim[1], (long long)b->dim[2]);
	return 0;
}

int weft_golden_matmul(const struct weft_call *c)
{
	const struct weft_attr_matmul *at = &c->attr->matmul;
	const weft_tensor *a = c->x[0], *b = c->x[1], *y = c->y[0];
	const int64_t h = a->dim[1], k = a->dim[2], w = b->dim[2];
	int err = check(c);

	if (err)
		return err;
	if (weft_is_float(c->y[0]->dtype))
		return weft_float_matmul(c);
	if (c->fast && weft_fast_matmul(c) == 0)
		return 0;
	for (int64_t n = 0; n < a->dim[0]; n++)
		for (int64_t i = 0; i < h; i++)
			for (int64_t j = 0; j < w; j++) {
				uint64_t acc = 0;

				for (int64_t l = 0; l < k; l++)
					acc += (uint64_t)((weft_get(a, (n * h + i) * k + l) - at->a_zp) *
					                  (weft_get(b, (n * k + l) * w + j) - at->b_zp));
				weft_put(y, (n * h + i) * w + j, (int64_t)acc);
			}
	return 0;
}

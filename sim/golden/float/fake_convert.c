/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenVINO FakeConvert-13.
 *
 *   x, y   fp16, bf16 or fp32; one shape
 *   scale  x's type, broadcasts to x
 *   shift  x's type, scale's shape; optional
 *
 * y = (f8(x * scale - shift) + shift) / scale. The order is the source's; its
 * second line drops its result, which must be assigned. Every step is rounded
 * to x's type, so x * scale may overflow to infinity, and x * scale - shift is
 * never fused. A scale of 0 gives 0/0.
 *
 * The source states neither rounding nor overflow of f8: here nearest even and
 * saturation, infinity included, and NaN stays NaN.
 */
#include "../ops.h"
#include "cast.h"
#include "element.h"

static double fake(weft_dtype data, weft_dtype type, double x, double scale, const double *shift)
{
	double v = weft_round_f(data, x * scale);

	if (shift)
		v = weft_round_f(data, v - *shift);
	v = weft_float_decode(type, weft_float_encode(type, v, true));
	if (shift)
		v = weft_round_f(data, v + *shift);
	return v / scale; /* rounded by the store */
}

static int check(const weft_tensor *x, const weft_tensor *y, weft_dtype type, const weft_tensor *scale,
                 const weft_tensor *shift, char *msg)
{
	int err;

	if ((err = weft_convert_check("data", x, msg)) || (err = weft_convert_check("output", y, msg)) ||
	    (err = weft_convert_check("scale", scale, msg)) ||
	    (shift && (err = weft_convert_check("shift", shift, msg))))
		return err;
	if (type != WEFT_FP8E4M3 && type != WEFT_FP8E5M2)
		return weft_convert_fail(msg, "FakeConvert: to %s, must be f8e4m3 or f8e5m2", weft_dtype_name(type));
	if (x->dtype != WEFT_FP16 && x->dtype != WEFT_BF16 && x->dtype != WEFT_FP32)
		return weft_convert_fail(msg, "FakeConvert: data is %s, must be float16, bfloat16 or float32",
		                         weft_dtype_name(x->dtype));
	if (y->dtype != x->dtype || scale->dtype != x->dtype || (shift && shift->dtype != x->dtype))
		return weft_convert_fail(msg, "FakeConvert: output, scale and shift must be %s as the data is",
		                         weft_dtype_name(x->dtype));
	if (!weft_same_shape(x, y))
		return weft_convert_fail(msg, "FakeConvert: output shape differs from data shape");
	if (shift && !weft_same_shape(scale, shift))
		return weft_convert_fail(msg, "FakeConvert: shift's shape differs from scale's");
	if (scale->rank > x->rank)
		return weft_convert_fail(msg, "FakeConvert: scale has rank %d, data %d", scale->rank, x->rank);
	for (int d = 0; d < scale->rank; d++) {
		int64_t have = scale->dim[d], want = x->dim[d + x->rank - scale->rank];

		if (have != 1 && have != want)
			return weft_convert_fail(msg, "FakeConvert: scale's dimension %d is %lld, must be 1 or %lld", d,
			                         (long long)have, (long long)want);
	}
	return 0;
}

int weft_fake_convert(const weft_tensor *x, weft_tensor *y, weft_dtype type,
                      const weft_tensor *scale, const weft_tensor *shift, char msg WEFT_ROOM(WEFT_CONVERT_MSG))
{
	struct weft_walk w = { .rank = x->rank };
	int64_t stride[WEFT_MAX_RANK], n = 0;
	int err = check(x, y, type, scale, shift, msg);

	if (err)
		return err;
	if (weft_tensor_elements(x) == 0)
		return 0;
	weft_strides(scale, stride);
	for (int d = 0; d < x->rank; d++) {
		int s = d - (x->rank - scale->rank);

		w.dim[d] = x->dim[d];
		w.stride[0][d] = s >= 0 && scale->dim[s] != 1 ? stride[s] : 0;
	}
	do {
		double z = shift ? weft_get_f(shift, w.off[0]) : 0;

		weft_put_f(y, n, fake(x->dtype, type, weft_get_f(x, n), weft_get_f(scale, w.off[0]), shift ? &z : NULL));
		n++;
	} while (weft_walk_next(&w));
	return 0;
}

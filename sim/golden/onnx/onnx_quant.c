/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX_REQUANT, ONNX_QUANTIZE, ONNX_DEQUANTIZE, ONNX_REQUANT_SHIFT, ONNX_DIV, PACT_DIV; onnx.h says what they compute. */
#include <math.h>

#include <weft/convert.h>

#include "sim/golden/float/element.h"
#include "onnx.h"
#include "sim/golden/ops.h"

#define MAX_OPERANDS 6

/* Offsets into operands that broadcast to the result. */
struct spread {
	int n;
	int64_t stride[MAX_OPERANDS][WEFT_MAX_RANK], off[MAX_OPERANDS], idx[WEFT_MAX_RANK];
};

static int spread_start(const struct weft_call *c, struct spread *s)
{
	const weft_tensor *y = c->y[0];

	*s = (struct spread){ .n = c->n_x };
	for (int k = 0; k < c->n_x; k++) {
		int err = weft_check_rank(c, "operand", c->x[k], y->rank);
		if (err)
			return err;
		weft_strides(c->x[k], s->stride[k]);
		for (int d = 0; d < y->rank; d++) {
			int64_t n = c->x[k]->dim[d];

			if (n != y->dim[d] && n != 1)
				return weft_call_fail(c, -EINVAL, "operand %d: dimension %d is %lld, result's is %lld", k, d,
				                      (long long)n, (long long)y->dim[d]);
			if (n == 1)
				s->stride[k][d] = 0;
		}
	}
	return 0;
}

static void spread_next(const struct weft_call *c, struct spread *s)
{
	for (int d = c->y[0]->rank - 1; d >= 0; d--) {
		bool more = ++s->idx[d] < c->y[0]->dim[d];

		for (int k = 0; k < s->n; k++)
			s->off[k] += more ? s->stride[k][d] : -s->stride[k][d] * (c->y[0]->dim[d] - 1);
		if (more)
			return;
		s->idx[d] = 0;
	}
}

static bool narrow_unsigned(weft_dtype t)
{
	return t == WEFT_UINT4 || t == WEFT_UINT2;
}

static bool small_int(weft_dtype t)
{
	return t == WEFT_INT8 || t == WEFT_UINT8 || t == WEFT_INT16 || t == WEFT_UINT16 || t == WEFT_INT4 ||
	       t == WEFT_INT2 || narrow_unsigned(t);
}

static bool small_float(weft_dtype t)
{
	return weft_is_float8(t) || t == WEFT_FP4E2M1;
}

/* Any element as a number. */
static double value(const weft_tensor *t, int64_t i)
{
	if (weft_is_float(t->dtype))
		return weft_get_f(t, i);
	if (narrow_unsigned(t->dtype))
		return ((const uint8_t *)t->data)[i];
	if (t->dtype == WEFT_INT2)
		return ((const int8_t *)t->data)[i];
	return (double)weft_get(t, i);
}

int weft_golden_onnx_requant(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0];
	struct weft_onnx_ratio r;
	struct spread s;
	int err;

	if (c->n_x != 5 && c->n_x != 6)
		return weft_call_fail(c, -EINVAL, "%d inputs, must be 5 or 6", c->n_x);
	if (c->n_x == 6 && c->x[5]->dtype != WEFT_INT32)
		return weft_call_fail(c, -EINVAL, "the count is %s", weft_dtype_name(c->x[5]->dtype));
	if (c->x[0]->dtype != WEFT_INT32 || !weft_is_plain_float(c->x[1]->dtype) || !weft_is_plain_float(c->x[2]->dtype) ||
	    !weft_is_plain_float(c->x[3]->dtype) || (y->dtype != WEFT_INT8 && y->dtype != WEFT_UINT8) || c->x[4]->dtype != y->dtype)
		return weft_call_fail(c, -EINVAL, "types are not int32, three float scales, zero point and result of 8 bits");
	if ((err = spread_start(c, &s)))
		return err;
	for (int64_t i = 0, n = weft_tensor_elements(y); i < n; i++, spread_next(c, &s)) {
		double a = value(c->x[1], s.off[1]), b = value(c->x[2], s.off[2]), d = value(c->x[3], s.off[3]);

		if (!weft_onnx_ratio(a, b, d, &r))
			return weft_call_fail(c, -EINVAL, "scales %g, %g, %g must be finite and above 0", a, b, d);
		int64_t count = c->n_x == 6 ? weft_get(c->x[5], s.off[5]) : 1;
		if (count < 1 || count > 65535)
			return weft_call_fail(c, -EINVAL, "a count of %lld, must be 1 to 65535", (long long)count);
		r.den *= (uint64_t)count;
		if (c->attr && c->attr->onnx.type == WEFT_FP32)
			r.product = (float)a * (float)b / (float)d;
		weft_put(y, i, weft_clip(weft_onnx_scale(weft_get(c->x[0], s.off[0]), &r) + weft_get(c->x[4], s.off[4]),
		                         weft_int_min(y->dtype), weft_int_max(y->dtype)));
	}
	return 0;
}

static int check_quant(const struct weft_call *c, const weft_tensor *q)
{
	if (c->n_x != 2 && c->n_x != 3)
		return weft_call_fail(c, -EINVAL, "%d inputs, must be 2 or 3", c->n_x);
	if (!weft_is_plain_float(c->x[1]->dtype))
		return weft_call_fail(c, -EINVAL, "scale is %s", weft_dtype_name(c->x[1]->dtype));
	if (c->n_x == 3 && c->x[2]->dtype != q->dtype)
		return weft_call_fail(c, -EINVAL, "zero point is %s, not %s", weft_dtype_name(c->x[2]->dtype),
		                      weft_dtype_name(q->dtype));
	return 0;
}

/* Limits of the types that ops.h does not know. */
static void limits(weft_dtype t, double *lo, double *hi)
{
	*lo = (double)weft_int_min(t);
	*hi = t == WEFT_UINT4 ? 15 : t == WEFT_UINT2 ? 3 : t == WEFT_INT2 ? 1 : (double)weft_int_max(t);
}

int weft_golden_onnx_quantize(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0], *x = c->x[0];
	const weft_dtype t = c->attr->onnx.type;
	struct spread s;
	double lo, hi;
	int err = check_quant(c, y);

	if (err)
		return err;
	if ((!weft_is_plain_float(x->dtype) && x->dtype != WEFT_INT32) || !(small_int(y->dtype) || small_float(y->dtype)) ||
	    !weft_is_plain_float(t))
		return weft_call_fail(c, -EINVAL, "types %s -> %s by %s not allowed", weft_dtype_name(x->dtype),
		                      weft_dtype_name(y->dtype), weft_dtype_name(t));
	if ((err = spread_start(c, &s)))
		return err;
	limits(y->dtype, &lo, &hi);
	for (int64_t i = 0, n = weft_tensor_elements(y); i < n; i++, spread_next(c, &s)) {
		double v = value(x, s.off[0]);

		if (!weft_is_float(x->dtype))
			v = weft_round_f(t, v);
		v = weft_round_f(t, v / value(c->x[1], s.off[1]));
		if (small_float(y->dtype)) {
			v += c->n_x == 3 ? value(c->x[2], s.off[2]) : 0;
			weft_store_bits(y, i, weft_float_encode(y->dtype, v, c->attr->onnx.saturate));
			continue;
		}
		v = isnan(v) ? 0 : rint(v) + (c->n_x == 3 ? value(c->x[2], s.off[2]) : 0);
		weft_store_bits(y, i, (uint64_t)(int64_t)fmax(lo, fmin(hi, v)));
	}
	return 0;
}

int weft_golden_onnx_dequantize(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0], *x = c->x[0];
	struct spread s;
	int err = check_quant(c, x);

	if (err)
		return err;
	if (!(small_int(x->dtype) || small_float(x->dtype) || x->dtype == WEFT_INT32) || !weft_is_plain_float(y->dtype))
		return weft_call_fail(c, -EINVAL, "types %s -> %s not allowed", weft_dtype_name(x->dtype),
		                      weft_dtype_name(y->dtype));
	if ((err = spread_start(c, &s)))
		return err;
	for (int64_t i = 0, n = weft_tensor_elements(y); i < n; i++, spread_next(c, &s)) {
		double v = value(x, s.off[0]) - (c->n_x == 3 ? value(c->x[2], s.off[2]) : 0);

		/* The difference is a float32 before it is multiplied, of which int32 has more than fit. */
		v = x->dtype == WEFT_INT32 ? (double)(float)v : v;
		weft_put_f(y, i, v * value(c->x[1], s.off[1]));
	}
	return 0;
}

/*
 * RequantShift of Deeploy's and quantlib's integer networks, half up:
 * y = (x * mul + add + 2^(shift-1)) >> shift, in min..max. |x * mul| <= 2^62, so
 * that int64 holds the sum; shift 0 adds no half.
 */
int weft_golden_onnx_requant_shift(const struct weft_call *c)
{
	const struct weft_attr_requant_shift *a = &c->attr->requant_shift;
	const weft_tensor *y = c->y[0];
	struct spread s;
	int err;

	for (int k = 0; k < 3; k++)
		if (c->x[k]->dtype != WEFT_INT32 || y->dtype != WEFT_INT32)
			return weft_call_fail(c, -EINVAL, "types are not int32");
	if (a->shift < 0 || a->shift > 62 || a->min > a->max)
		return weft_call_fail(c, -EINVAL, "shift %d, limits %d to %d", a->shift, a->min, a->max);
	if ((err = spread_start(c, &s)))
		return err;
	const int64_t half = a->shift ? (int64_t)1 << (a->shift - 1) : 0;
	for (int64_t i = 0, n = weft_tensor_elements(y); i < n; i++, spread_next(c, &s)) {
		int64_t v = weft_get(c->x[0], s.off[0]) * weft_get(c->x[1], s.off[1]);

		weft_put(y, i, weft_clip((v + weft_get(c->x[2], s.off[2]) + half) >> a->shift, a->min, a->max));
	}
	return 0;
}

/*
 * quantlib's IntegerDiv, half up, and TrueIntegerDiv, truncated:
 * y = x * delta * eta / (d * eta + eps), limited to int32. delta * eta < 2^32, so
 * that int64 holds the product; the divisor is above 0.
 */
int weft_golden_pact_div(const struct weft_call *c)
{
	const struct weft_attr_pact_div *a = &c->attr->pact_div;
	const weft_tensor *y = c->y[0];
	struct spread s;
	int err;

	for (int k = 0; k < 2; k++)
		if (c->x[k]->dtype != WEFT_INT32 || y->dtype != WEFT_INT32)
			return weft_call_fail(c, -EINVAL, "types are not int32");
	if (a->delta < 1 || a->eta < 1 || a->eps < 0 || (int64_t)a->delta * a->eta > UINT32_MAX)
		return weft_call_fail(c, -EINVAL, "delta %d, eps %d, eta %d", a->delta, a->eps, a->eta);
	if ((err = spread_start(c, &s)))
		return err;
	for (int64_t i = 0, n = weft_tensor_elements(y); i < n; i++, spread_next(c, &s)) {
		const int64_t num = weft_get(c->x[0], s.off[0]) * ((int64_t)a->delta * a->eta);
		const int64_t den = weft_get(c->x[1], s.off[1]) * a->eta + a->eps;

		if (den < 1)
			return weft_call_fail(c, -EINVAL, "a divisor of %lld", (long long)den);
		const int64_t left = num % den + (num % den < 0 ? den : 0);
		weft_put(y, i, weft_clip(a->truncate ? num / den : num / den - (num % den < 0) + (left >= den - left), INT32_MIN,
		                         INT32_MAX));
	}
	return 0;
}

int weft_golden_onnx_div(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0];
	struct spread s;
	int err;

	if (!weft_is_plain_float(y->dtype) || c->x[0]->dtype != y->dtype || c->x[1]->dtype != y->dtype)
		return weft_call_fail(c, -EINVAL, "types %s, %s -> %s not allowed", weft_dtype_name(c->x[0]->dtype),
		                      weft_dtype_name(c->x[1]->dtype), weft_dtype_name(y->dtype));
	if ((err = spread_start(c, &s)))
		return err;
	for (int64_t i = 0, n = weft_tensor_elements(y); i < n; i++, spread_next(c, &s))
		weft_put_f(y, i, value(c->x[0], s.off[0]) / value(c->x[1], s.off[1]));
	return 0;
}

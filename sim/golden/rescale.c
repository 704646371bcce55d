/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESCALE. TOSA 1.0 section 2.13.2; the scaling functions from section 4.5.5.
 *
 *   x           any shape; int8, uint8, int16, uint16, int32, int48
 *   multiplier  [1], or [C] with per_channel (C: x's last dimension);
 *               int32, or int16 when !scale32; >= 0
 *   shift       as many, int8, 2..62
 *   y           x's shape; int8, uint8, int16, uint16, int32
 *
 * EVEN_ROUND is ours: the nearest integer, ties to even, for ONNX. So are zero points
 * of int16 other than 0.
 *
 * y = clip(scale(x - x_zp) + y_zp). TOSA's types are signless and the
 * attributes say unsigned; here the tensor may also be of an unsigned type,
 * together with the attribute. Zero points are values of the type so read.
 *
 * Unsigned results below 0 become 0 (what TOSA's reference model does; the
 * printed apply_clip_u would make 255 of them).
 */
#include "fast/fast.h"
#include "ops.h"

int32_t weft_apply_scale_32(int32_t value, int32_t multiplier, int shift, bool double_round)
{
	/* |value*multiplier| <= 2^62 and round <= 2^61 + 2^30: no overflow. */
	int64_t round = (int64_t)1 << (shift - 1);

	if (double_round && shift > 31)
		round += value >= 0 ? (int64_t)1 << 30 : -((int64_t)1 << 30);
	return (int32_t)(((int64_t)value * multiplier + round) >> shift);
}

int32_t weft_apply_scale_16(int64_t value, int32_t multiplier, int shift)
{
	/* |value| <= 2^47 and multiplier < 2^15 stay below 2^62 + 2^61; more than 48 bits would wrap. */
	uint64_t product = (uint64_t)value * (uint64_t)(int64_t)multiplier;

	return (int32_t)((int64_t)(product + ((uint64_t)1 << (shift - 1))) >> shift);
}

int32_t weft_apply_scale_even(int64_t value, int32_t multiplier, int shift)
{
	const int64_t product = value * multiplier, half = (int64_t)1 << (shift - 1);
	const int64_t floor = product >> shift, rest = product & (2 * half - 1);

	return (int32_t)(floor + (rest > half || (rest == half && (floor & 1))));
}

static bool is_8(weft_dtype t) { return t == WEFT_INT8 || t == WEFT_UINT8; }
static bool is_16(weft_dtype t) { return t == WEFT_INT16 || t == WEFT_UINT16; }
static bool stored_unsigned(weft_dtype t) { return t == WEFT_UINT8 || t == WEFT_UINT16; }

static int check_zp(const struct weft_call *c, const char *what, weft_dtype t, bool is_unsigned, int32_t zp)
{
	bool good;

	if (is_8(t))
		good = is_unsigned ? zp >= 0 && zp <= 255 : zp >= -128 && zp <= 127;
	else if (is_16(t) && is_unsigned)
		good = zp == 0 || zp == 32768;
	else if (t == WEFT_INT16)
		good = zp >= INT16_MIN && zp <= INT16_MAX;
	else
		good = zp == 0;
	if (!good)
		return weft_call_fail(c, -EINVAL, "%s zero point %d not allowed for %s%s", what, zp,
		                      is_unsigned ? "unsigned " : "", weft_dtype_name(t));
	return 0;
}

static int check_types(const struct weft_call *c)
{
	const struct weft_attr_rescale *a = &c->attr->rescale;
	const weft_dtype tx = c->x[0]->dtype, ty = c->y[0]->dtype;

	if (weft_is_float(tx) || weft_is_float(ty) ||
	    !(is_8(tx) || is_16(tx) || tx == WEFT_INT32 || tx == WEFT_INT48) ||
	    !(is_8(ty) || is_16(ty) || ty == WEFT_INT32))
		return weft_call_fail(c, -EINVAL, "types %s -> %s are not a row of its table",
		                      weft_dtype_name(tx), weft_dtype_name(ty));
	if ((stored_unsigned(tx) && !a->x_unsigned) || (stored_unsigned(ty) && !a->y_unsigned))
		return weft_call_fail(c, -EINVAL, "%s -> %s without the unsigned attribute",
		                      weft_dtype_name(tx), weft_dtype_name(ty));
	if (a->x_unsigned && (a->y_unsigned || ty == WEFT_INT32 || tx == WEFT_INT32 || tx == WEFT_INT48))
		return weft_call_fail(c, -EINVAL, "unsigned input not allowed with %s -> %s%s",
		                      weft_dtype_name(tx), a->y_unsigned ? "unsigned " : "",
		                      weft_dtype_name(ty));
	if (a->y_unsigned && (ty == WEFT_INT32 || tx == WEFT_INT32 || tx == WEFT_INT48))
		return weft_call_fail(c, -EINVAL, "unsigned output not allowed with %s -> %s",
		                      weft_dtype_name(tx), weft_dtype_name(ty));
	return 0;
}

static int check_mode(const struct weft_call *c)
{
	const struct weft_attr_rescale *a = &c->attr->rescale;

	if (a->rounding != WEFT_SINGLE_ROUND && a->rounding != WEFT_INEXACT_ROUND &&
	    a->rounding != WEFT_DOUBLE_ROUND && a->rounding != WEFT_EVEN_ROUND)
		return weft_call_fail(c, -EINVAL, "unknown rounding mode %d", (int)a->rounding);
	if (a->scale32 && c->x[0]->dtype == WEFT_INT48)
		return weft_call_fail(c, -EINVAL, "int48 input needs the 16-bit multiplier");
	if (!a->scale32 && a->rounding == WEFT_DOUBLE_ROUND)
		return weft_call_fail(c, -EINVAL, "DOUBLE_ROUND needs the 32-bit multiplier");
	if (a->per_channel && c->x[0]->rank < 1)
		return weft_call_fail(c, -EINVAL, "per_channel on rank 0");
	return 0;
}

/* Multiplier and shift: count, types, values. */
static int check_scales(const struct weft_call *c)
{
	const struct weft_attr_rescale *a = &c->attr->rescale;
	const weft_tensor *m = c->x[1], *s = c->x[2];
	const weft_dtype want = a->scale32 ? WEFT_INT32 : WEFT_INT16;
	const int64_t n = a->per_channel ? c->x[0]->dim[c->x[0]->rank - 1] : 1;

	if (m->dtype != want || s->dtype != WEFT_INT8)
		return weft_call_fail(c, -EINVAL, "multiplier %s and shift %s, must be %s and int8",
		                      weft_dtype_name(m->dtype), weft_dtype_name(s->dtype),
		                      weft_dtype_name(want));
	if (m->rank != 1 || s->rank != 1 || m->dim[0] != n || s->dim[0] != n)
		return weft_call_fail(c, -EINVAL, "multiplier and shift must have %lld elements", (long long)n);
	for (int64_t i = 0; i < n; i++) {
		if (weft_get(m, i) < 0)
			return weft_call_fail(c, -EINVAL, "multiplier[%lld] is negative", (long long)i);
		if (weft_get(s, i) < 2 || weft_get(s, i) > 62)
			return weft_call_fail(c, -EINVAL, "shift[%lld] = %lld, must be 2..62", (long long)i,
			                      (long long)weft_get(s, i));
	}
	return 0;
}

static int check(const struct weft_call *c)
{
	const struct weft_attr_rescale *a = &c->attr->rescale;
	int err;

	if ((err = check_types(c)) || (err = check_mode(c)) ||
	    (err = check_zp(c, "input", c->x[0]->dtype, a->x_unsigned, a->x_zp)) ||
	    (err = check_zp(c, "output", c->y[0]->dtype, a->y_unsigned, a->y_zp)) ||
	    (err = check_scales(c)))
		return err;
	return weft_check_same(c, false);
}

int weft_golden_rescale(const struct weft_call *c)
{
	const struct weft_attr_rescale *a = &c->attr->rescale;
	const weft_tensor *m = c->x[1], *s = c->x[2];
	const weft_tensor x = weft_as_read(c->x[0], a->x_unsigned), y = weft_as_read(c->y[0], a->y_unsigned);
	const int64_t n = weft_tensor_elements(&x), lo = weft_int_min(y.dtype), hi = weft_int_max(y.dtype);
	const bool twice = a->rounding == WEFT_DOUBLE_ROUND, even = a->rounding == WEFT_EVEN_ROUND;
	int err = check(c);

	if (err)
		return err;
	if (c->fast && weft_fast_rescale(c) == 0)
		return 0;
	for (int64_t i = 0, ch = 0; i < n; i++) {
		const int64_t v = weft_get(&x, i) - a->x_zp;
		const int32_t mult = (int32_t)weft_get(m, ch);
		const int shift = (int)weft_get(s, ch);
		const int32_t r = even ? weft_apply_scale_even(a->scale32 ? (int32_t)v : v, mult, shift) : a->scale32 ? weft_apply_scale_32((int32_t)v, mult, shift, twice)
		                             : weft_apply_scale_16(v, mult, shift);

		weft_put(&y, i, weft_clip((int64_t)r + a->y_zp, lo, hi));
		if (++ch == m->dim[0])
			ch = 0;
	}
	return 0;
}

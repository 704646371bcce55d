/* SPDX-License-Identifier: Apache-2.0 */
/* The float8 dot product; dot.h defines it. */
#include <stdlib.h>

#include "dot.h"
#include "element.h"

void weft_fp8_operands(weft_dtype t, struct weft_fp8_operand table[256])
{
	const struct weft_float_format *f = weft_float_format_of(t);

	for (int c = 0; c < 256; c++) {
		struct weft_real r = weft_real_decode(f, (uint64_t)c);
		struct weft_fp8_operand *o = &table[c];

		o->kind = r.kind == WEFT_REAL_FINITE ? WEFT_FP8_FINITE : r.kind == WEFT_REAL_INF ? WEFT_FP8_INF : WEFT_FP8_NAN;
		o->m = (int8_t)(o->kind == WEFT_FP8_FINITE ? r.sig : 1);
		o->e = (int8_t)(o->kind == WEFT_FP8_FINITE ? r.exp : 0);
		if (r.neg)
			o->m = (int8_t)-o->m;
	}
}

static uint8_t infinity_of(int64_t sign)
{
	return sign < 0 ? WEFT_STICKY_MINUS : WEFT_STICKY_PLUS;
}

/* p * 2^h in range: *fixed and 0; else the event. p: -225..225. */
static uint8_t to_fixed(int p, int h, int64_t *fixed)
{
	int64_t v;

	if (h < 0) {
		int k = h < -9 ? 9 : -h;

		*fixed = (p + (1 << (k - 1))) >> k;
		return WEFT_STICKY_NONE;
	}
	/* 2^48 is out of range for any p but 0; up to there 225 * 2^48 fits int64. */
	v = (int64_t)p * ((int64_t)1 << (h > 48 ? 48 : h));
	if (v < WEFT_FP8_SUM_MIN || v > WEFT_FP8_SUM_MAX)
		return infinity_of(p);
	*fixed = v;
	return WEFT_STICKY_NONE;
}

void weft_fp8_add(struct weft_fp8_sum *sum, struct weft_fp8_operand x, struct weft_fp8_operand w, int log2_scale)
{
	const int p = x.m * w.m;
	int64_t fixed = 0;
	uint8_t event = WEFT_STICKY_NONE;

	if (x.kind == WEFT_FP8_NAN || w.kind == WEFT_FP8_NAN)
		event = WEFT_STICKY_NAN;
	else if (x.kind == WEFT_FP8_INF || w.kind == WEFT_FP8_INF)
		event = p == 0 ? WEFT_STICKY_NAN : infinity_of(p);
	else
		event = to_fixed(p, x.e + w.e + log2_scale - WEFT_FP8_LOG2_LSB, &fixed);
	if (event == WEFT_STICKY_NONE && sum->sticky == WEFT_STICKY_NONE) {
		int64_t a = sum->a + fixed;

		if (a < WEFT_FP8_SUM_MIN || a > WEFT_FP8_SUM_MAX)
			event = infinity_of(a);
		else
			sum->a = a;
	}
	sum->sticky |= event;
}

uint16_t weft_fp8_sum_fp16(const struct weft_fp8_sum *sum)
{
	static const uint16_t special[4] = { 0, 0x7c00, 0xfc00, 0x7e00 };
	struct weft_real r = weft_real_of_int(sum->a);

	if (sum->sticky)
		return special[sum->sticky];
	r.exp = WEFT_FP8_LOG2_LSB;
	return (uint16_t)weft_real_encode(weft_float_format_of(WEFT_FP16), r, 0);
}

uint16_t weft_fp16_add(uint16_t a, uint16_t b)
{
	const struct weft_float_format *f = weft_float_format_of(WEFT_FP16);
	double v = weft_real_to_double(weft_real_decode(f, a)) + weft_real_to_double(weft_real_decode(f, b));

	return v != v ? 0x7e00 : (uint16_t)weft_real_encode(f, weft_real_of_double(v), 0);
}

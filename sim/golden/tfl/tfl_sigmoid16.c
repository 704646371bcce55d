/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LOGISTIC and TANH of int16 as TensorFlow Lite computes them: straight lines
 * between entries of a table of 1/(1 + exp(-i/24)), i = 0..255, in Q0.16, for
 * the argument's absolute value; tanh(x) = 2 * logistic(2x) - 1.
 *
 * Each entry but the last is moved up by half the error that the line has in
 * the middle of its interval; the last is the largest number. No entry before
 * rounding is within 0.004 of a half, so that no libm can change one.
 *
 * Arguments below 2^31: |x| <= 2^15, multiplier < 2^15.
 */
#include <math.h>
#include <stdlib.h>

#include "sim/golden/fixed_point.h"
#include "tfl_sigmoid16.h"

static double curve(double i)
{
	return 65536.0 / (1.0 + exp(-i / 24.0));
}

void weft_sigmoid16_init(struct weft_sigmoid16 *s, int32_t multiplier, int shift)
{
	const int last = WEFT_SIGMOID16_ENTRIES - 1;

	for (int i = 0; i < last; i++) {
		double line = (curve(i) + curve(i + 1)) / 2;

		s->table[i] = (uint16_t)lround(curve(i) + (curve(i + 0.5) - line) / 2);
	}
	s->table[last] = UINT16_MAX;
	s->multiplier = multiplier;
	s->shift = shift;
}

void weft_sigmoid16_scale(struct weft_sigmoid16 *s, float x_scale, int left_most)
{
	int log2;
	double m = (double)x_scale * 4096.0 * 3.0;
	int shift = 0;

	if (weft_near_power_of_two(x_scale, &log2) && log2 >= -12 && log2 <= left_most - 12) {
		weft_sigmoid16_init(s, 3 << (log2 + 12), 0);
		return;
	}
	while (m <= 32767.0 / 2.0 && shift <= 30) {
		shift++;
		m *= 2.0;
	}
	weft_sigmoid16_init(s, m < 32767.0 ? (int32_t)m : 32767, shift);
}

static int32_t argument(const struct weft_sigmoid16 *s, int16_t x)
{
	int64_t half = s->shift > 0 ? (int64_t)1 << (s->shift - 1) : 0;

	return (int32_t)(((int64_t)x * s->multiplier + half) >> s->shift);
}

/* The table at v / 2^bits, in Q0.16 with `bits` more bits of fraction. */
static uint32_t interpolate(const struct weft_sigmoid16 *s, uint32_t v, int bits, uint32_t top)
{
	uint32_t i = v >> bits, part = v & ((1u << bits) - 1);

	if (i >= WEFT_SIGMOID16_ENTRIES - 1)
		return top;
	return ((uint32_t)s->table[i] << bits) + part * (uint32_t)(s->table[i + 1] - s->table[i]);
}

int16_t weft_logistic16(const struct weft_sigmoid16 *s, int16_t x)
{
	int32_t v = argument(s, x);
	uint32_t r = interpolate(s, (uint32_t)abs(v), 9, 0x7FFFu << 10);

	r = v >= 0 ? r + (1 << 9) : (1u << 25) - r + (1 << 9) - 1;
	return (int16_t)(r >> 10);
}

int16_t weft_tanh16(const struct weft_sigmoid16 *s, int16_t x)
{
	int32_t v = argument(s, x);
	int32_t r = (int32_t)interpolate(s, (uint32_t)abs(v), 8, 0xFFFFu << 8);

	r = v >= 0 ? r - (1 << 23) + (1 << 7) : -r + (1 << 23) + (1 << 7) - 1;
	return (int16_t)(r >> 8);
}

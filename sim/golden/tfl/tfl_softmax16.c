/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_SOFTMAX of int16: TensorFlow Lite's two lookup tables.
 *
 *   x  rank 1 or more, int16; scale x_scale, zero point 0
 *   y  x's shape, int16; scale 2^-15, zero point 0
 *
 * The difference to the row's maximum is scaled so that 65535 steps are 10; a
 * table gives its exp in Q0.15. The sum of a row, normalised to [1, 2), goes
 * through a table of 1/(1 + x). Each table has 513 entries, which are moved by
 * half the error that straight lines make in the middle of their intervals.
 *
 * LiteRT makes the tables in float64 (wide), its predecessors in float32.
 *
 * A row longer than 2^16 could overflow the sum, which then wraps.
 */
#include <math.h>

#include "sim/golden/fixed_point.h"
#include "tfl_softmax16.h"

#define STEPS WEFT_SOFTMAX16_STEPS

/* 32768 * f over [from, to], in float32 as the source computes it. */
static void fill(int16_t table[STEPS + 1], float (*f)(float), float from, float to)
{
	const float step = (to - from) / STEPS, half = step / 2;

	for (int i = 0; i < STEPS; i++) {
		const float at = f(from + (float)i * step) * 32768.0f;
		const float middle = roundf(f(from + (float)i * step + half) * 32768.0f);
		const float next = f(from + (float)(i + 1) * step) * 32768.0f;
		const float line = roundf((next + roundf(at)) / 2);
		const float moved = roundf(at) - roundf((line - middle) / 2);

		table[i] = (int16_t)weft_clip((int64_t)moved, INT16_MIN, INT16_MAX);
	}
	table[STEPS] = (int16_t)weft_clip((int64_t)roundf(f(to) * 32768.0f), INT16_MIN, INT16_MAX);
}

/*
 * The same in float64. The ends come from scales that are multiples of 1/65535,
 * so they are not quite whole numbers.
 */
static void fill_wide(int16_t table[STEPS + 1], double (*f)(double), double from, double to)
{
	const double step = (to - from) / STEPS, half = step / 2, unit = 2.0 / 65535.0;
	const double up = 65536.0 / (unit * 32767.0 - unit * -32768.0);

	for (int i = 0; i < STEPS; i++) {
		const double at = round(f(from + i * step) * up);
		const double line = round((f(from + (i + 1) * step) * up + at) / 2);
		const double moved = at - round((line - round(f(from + i * step + half) * up)) / 2);

		table[i] = (int16_t)weft_clip((int64_t)moved, INT16_MIN, INT16_MAX);
	}
	table[STEPS] = (int16_t)weft_clip((int64_t)round(f(to) * up), INT16_MIN, INT16_MAX);
}

/* x is Q9.7 from the table's middle; rounded linear interpolation. */
static int16_t look_up(const int16_t table[STEPS + 1], int64_t x)
{
	const int64_t v = weft_clip(x, INT16_MIN, INT16_MAX);
	const int16_t *t = table + STEPS / 2 + (v >> 7);

	return (int16_t)(t[0] + (((t[1] - t[0]) * (v & 127) + 64) >> 7));
}

static float exp_32(float v) { return (float)exp((double)v); }
static float reciprocal(float v) { return 1.0f / (1.0f + v); }
static double reciprocal_wide(double v) { return 1.0 / (1.0 + v); }

static int16_t exp_of(const struct weft_softmax16 *t, int32_t diff)
{
	/* diff >= -65535; what leaves int32 is far below -10 */
	const int32_t scaled = weft_shift_right(weft_mul_q31(weft_shift_left(diff, t->left), t->multiplier), t->right);

	return look_up(t->exp, (int64_t)scaled + 32767);
}

static void one_row(const struct weft_softmax16 *t, const int16_t *x, int16_t *y, int64_t n)
{
	int32_t max = x[0], sum = 0;
	int64_t scale;
	int headroom;

	for (int64_t i = 1; i < n; i++)
		max = x[i] > max ? x[i] : max;
	for (int64_t i = 0; i < n; i++) {
		y[i] = exp_of(t, x[i] - max);
		sum = (int32_t)((uint32_t)sum + (uint32_t)y[i]);
	}
	/* the largest element's exp alone is almost 2^15, so only a wrapped sum is <= 2 */
	headroom = sum > 2 ? __builtin_clz((uint32_t)sum) : 1;
	/* [1, 2) as 2^16..2^17, then its excess over 1 as -2^15..2^15 */
	scale = ((int64_t)sum * ((int64_t)1 << (headroom - 1)) + (1 << 13)) >> 14;
	scale = look_up(t->reciprocal, scale - (1 << 16) - (1 << 15));
	for (int64_t i = 0; i < n; i++)
		y[i] = (int16_t)weft_clip((y[i] * scale + ((int64_t)1 << (30 - headroom))) >> (31 - headroom), 0, 32767);
}

bool weft_softmax16_init(struct weft_softmax16 *t, const struct weft_attr_tfl_softmax *a)
{
	const double real = (double)(a->x_scale * a->beta) / (10.0 / 65535.0);
	int shift = 0;

	*t = (struct weft_softmax16){ .multiplier = 0 };
	if (!(real >= 0 && real < ldexp(1.0, 31)))
		return false;
	if (real >= ldexp(1.0, -32))    /* below, the factor is 0 */
		weft_quantize_multiplier(real, &t->multiplier, &shift);
	t->left = shift > 0 ? shift : 0;
	t->right = shift < 0 ? -shift : 0;
	if (a->wide) {
		fill_wide(t->exp, exp, 10.0 / 65535.0 * -65535.0, 0.0);
		fill_wide(t->reciprocal, reciprocal_wide, 0.0, 1.0 / 65535.0 * 65535.0);
	} else {
		fill(t->exp, exp_32, -10.0f, 0.0f);
		fill(t->reciprocal, reciprocal, 0.0f, 1.0f);
	}
	return true;
}

int weft_tfl_softmax16(const struct weft_call *c)
{
	const struct weft_attr_tfl_softmax *a = &c->attr->tfl_softmax;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t n = x->dim[x->rank - 1], total = weft_tensor_elements(x);
	struct weft_softmax16 t;

	if (!weft_softmax16_init(&t, a))
		return weft_call_fail(c, -EINVAL, "beta %g * scale %g out of range", (double)a->beta,
		                      (double)a->x_scale);
	for (int64_t i = 0; i < total; i += n)
		one_row(&t, (const int16_t *)x->data + i, (int16_t *)y->data + i, n);
	return 0;
}

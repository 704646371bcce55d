/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESCALE with the 32-bit multiplier, in blocks. Plain loops: ../rescale.c
 *
 * Multipliers, roundings and shifts are written out for one block of whole
 * channel rows, so that each element has its own at the same place. Double
 * rounding adds 2^30 with the value's sign where the shift is above 31. For ties to
 * even, bit 0 of floor(x*m / 2^s) and a half less 1 are added.
 */
#include <stdlib.h>

#include "fast.h"

#define BLOCK 512                  /* elements at least, unless there are fewer */

struct scales {
	int64_t n;
	int64_t *mult, *round, *extra, *shift;
};

static bool write_out(const struct weft_call *c, struct scales *s)
{
	const weft_tensor *m = c->x[1], *sh = c->x[2];
	const int64_t ch = m->dim[0];

	if (ch > INT32_MAX / 64)
		return false;
	s->n = (BLOCK + ch - 1) / ch * ch;
	s->mult = malloc((size_t)s->n * 4 * sizeof(int64_t));
	if (!s->mult)
		return false;
	s->round = s->mult + s->n;
	s->extra = s->round + s->n;
	s->shift = s->extra + s->n;
	for (int64_t i = 0; i < s->n; i++) {
		s->mult[i] = weft_get(m, i % ch);
		s->shift[i] = weft_get(sh, i % ch);
		s->round[i] = (int64_t)1 << (s->shift[i] - 1);
		s->extra[i] = c->attr->rescale.rounding == WEFT_DOUBLE_ROUND && s->shift[i] > 31 ?
			(int64_t)1 << 30 : 0;
	}
	return true;
}

static FAST void scale_block(const struct scales *s, int32_t *restrict v, int64_t n, int32_t x_zp,
                             int32_t y_zp, int32_t lo, int32_t hi)
{
	const int64_t *mult = s->mult, *round = s->round, *extra = s->extra, *shift = s->shift;

	for (int64_t i = 0; i < n; i++) {
		const int64_t x = (int64_t)v[i] - x_zp;
		const int64_t add = round[i] + (x < 0 ? -extra[i] : extra[i]);
		const int64_t r = (int64_t)(int32_t)((x * mult[i] + add) >> shift[i]) + y_zp;

		v[i] = (int32_t)(r < lo ? lo : r > hi ? hi : r);
	}
}

static FAST void scale_block_even(const struct scales *s, int32_t *restrict v, int64_t n, int32_t x_zp,
                                  int32_t y_zp, int32_t lo, int32_t hi)
{
	const int64_t *mult = s->mult, *round = s->round, *shift = s->shift;

	for (int64_t i = 0; i < n; i++) {
		const int64_t p = ((int64_t)v[i] - x_zp) * mult[i];
		const int64_t r = (int64_t)(int32_t)((p + round[i] - 1 + (p >> shift[i] & 1)) >> shift[i]) + y_zp;

		v[i] = (int32_t)(r < lo ? lo : r > hi ? hi : r);
	}
}

int weft_fast_rescale(const struct weft_call *c)
{
	const struct weft_attr_rescale *a = &c->attr->rescale;
	const weft_tensor x = weft_as_read(c->x[0], a->x_unsigned), y = weft_as_read(c->y[0], a->y_unsigned);
	const int64_t n = weft_tensor_elements(&x);
	void (*scale)(const struct scales *, int32_t *restrict, int64_t, int32_t, int32_t, int32_t, int32_t) =
		a->rounding == WEFT_EVEN_ROUND ? scale_block_even : scale_block;
	struct scales s;
	int32_t *v;

	if (!a->scale32 || !weft_fast_has_int32(x.dtype))
		return -ENOTSUP;
	if (!write_out(c, &s))
		return -ENOMEM;
	v = malloc((size_t)s.n * sizeof(*v));
	for (int64_t i = 0; v && i < n; i += s.n) {
		const int64_t count = n - i < s.n ? n - i : s.n;

		weft_fast_load(&x, i, count, v);
		scale(&s, v, count, a->x_zp, a->y_zp, (int32_t)weft_int_min(y.dtype), (int32_t)weft_int_max(y.dtype));
		weft_fast_store(&y, i, count, v);
	}
	free(s.mult);
	free(v);
	return v ? 0 : -ENOMEM;
}

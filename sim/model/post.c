/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every sum passes on its way out: bias, RESCALE, zero point, clamp, and
 * optionally the addition of a second tensor.
 *
 * Source: group "post" of include/spec/cmd.toml; TOSA 1.0, RESCALE,
 * apply_scale_32 and apply_scale_16.
 */
#include <errno.h>
#include <string.h>

#include "state.h"

/*
 * RESCALE of a value by 32 x 32 or 48 x 16 bits, so that |v * mul| <= 2^62. It is exact for each shift of 6 bits, since
 * one bit more than the result has is kept until the end. A shift of 0 counts as 64, which leaves 0: the shifts of
 * parameter records are data, which no verifier has seen.
 */
static inline int32_t rescale(int64_t v, int32_t mul, unsigned shift, enum post_round round)
{
	const int64_t twice = round == POST_TWICE && shift > 31 ? INT64_C(1) << 30 : 0;
	const int64_t product = v * mul, sum = product + (v < 0 ? -twice : twice);

	if (!shift)
		return 0;
	const int64_t up = sum >> (shift - 1);
	const bool tie = round == POST_EVEN && !((uint64_t)product & ((UINT64_C(1) << (shift - 1)) - 1));
	return (int32_t)(uint32_t)(uint64_t)((up >> 1) + (up & 1 && !(tie && !(up & 2))));
}

int32_t post_rescale(int64_t v, int32_t mul, unsigned shift, enum post_round round)
{
	return rescale(v, mul, shift, round);
}

static inline int16_t clamp(int32_t v, int32_t lo, int32_t hi)
{
	/* The lower bound first, so that lo > hi gives hi. */
	v = v < lo ? lo : v;
	v = v > hi ? hi : v;
	return (int16_t)v;
}

int16_t post_clamp(int32_t v, int32_t lo, int32_t hi)
{
	return clamp(v, lo, hi);
}

bool post_legal(const struct weft_cmd_post *p, bool sums)
{
	if (p->scale16 && (!sums || p->double_round))
		return false;
	if (p->raw && (!sums || p->add))
		return false;
	return !sums || x_elem(p) != ELEM_FP16;
}

static int32_t wrap(uint32_t v)
{
	return (int32_t)v;
}

/* The record at these bytes, which is one of 8 bytes if is_short is set. */
static struct weft_param record(const uint8_t *at, bool is_short)
{
	if (!is_short)
		return weft_param_read(at);
	const struct weft_param_short half = weft_param_short_read(at);

	return (struct weft_param){ .bias = half.bias, .mul = half.mul, .shift = half.shift };
}

int post_lanes(struct weft_model *m, uint32_t base, uint32_t first, bool is_short, struct post_lane *lanes)
{
	uint8_t raw[LANES_MAX * WEFT_PARAM_BYTES];
	const uint32_t bytes = is_short ? WEFT_PARAM_SHORT_BYTES : WEFT_PARAM_BYTES;
	int ret = model_read(m, base + first * bytes, raw, m->n * bytes);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct weft_param p = record(raw + i * bytes, is_short);

		lanes[i] = (struct post_lane){ .bias = (uint64_t)p.bias, .mul = p.mul, .shift = p.shift & 63 };
	}
	return 0;
}

static int16_t float_first(const struct weft_cmd_post *p, const struct post_lane *l, const struct model_sum *acc)
{
	uint16_t v = float_add(float_round(acc), (uint16_t)l->bias);

	return (int16_t)float_clamp(v, (uint16_t)p->y_min, (uint16_t)p->y_max);
}

static inline int16_t first(const struct weft_cmd_post *p, const struct post_lane *l, const struct model_sum *acc)
{
	uint64_t sum = acc->v + l->bias;
	int32_t v;

	if (p->mode == WEFT_POST_MODE_FLOAT8)
		return float_first(p, l, acc);
	if (p->scale16)
		v = rescale(wrap48(sum), (int16_t)l->mul, l->shift, post_round(false, p->even));
	else
		v = rescale(wrap((uint32_t)sum), l->mul, l->shift, post_round(p->double_round, p->even));
	return clamp(wrap((uint32_t)v + (uint32_t)p->y_zp), p->y_min, p->y_max);
}

void post_first(const struct weft_cmd_post *p, const struct post_lane *l, const struct model_sum *acc, uint32_t n, int16_t *q)
{
	for (uint32_t i = 0; i < n; i++)
		q[i] = first(p, &l[i], &acc[i]);
}

/* One addend: zero point off, shifted up, scaled. */
static uint32_t addend(const struct weft_cmd_post *p, int16_t v, int32_t zp, uint32_t mul, int32_t shift)
{
	uint32_t up = (uint32_t)(v - zp) << p->pre_shift;

	return (uint32_t)rescale(wrap(up), wrap(mul), (unsigned)shift, POST_TWICE);
}

static int16_t post_add(const struct weft_cmd_post *p, int16_t q, int16_t r)
{
	uint32_t t1, t2;
	int32_t v;

	if (p->mode == WEFT_POST_MODE_FLOAT8)
		return (int16_t)float_clamp(float_add((uint16_t)q, (uint16_t)r), (uint16_t)p->s_min,
					    (uint16_t)p->s_max);
	t1 = addend(p, q, p->a_zp, p->a_mul, p->a_shift);
	t2 = addend(p, r, p->b_zp, p->b_mul, p->b_shift);
	v = rescale(wrap(p->sub ? t1 - t2 : t1 + t2), wrap(p->s_mul), (unsigned)p->s_shift, post_round(true, p->s_even));
	return clamp(wrap((uint32_t)v + (uint32_t)p->s_zp), p->s_min, p->s_max);
}

int post_write(struct weft_model *m, const struct weft_cmd_post *p, uint32_t oy, uint32_t ox,
	       uint32_t c0, uint32_t lanes, int16_t *q)
{
	enum elem b_elem = elem_of(p, p->b_fmt), out_elem = elem_of(p, p->out_fmt);
	uint32_t at = sp_at(p->out_base, p->out_y_stride, oy, p->out_x_stride, ox) + c0 * elem_bytes(out_elem);
	int16_t r[LANES_MAX];

	if (p->add) {
		uint32_t b = sp_at(p->b_base, p->b_y_stride, oy, p->b_x_stride, ox) + c0 * elem_bytes(b_elem);
		int ret = model_read_elems(m, b_elem, b, r, lanes);

		if (ret)
			return ret;
		for (uint32_t i = 0; i < lanes; i++)
			q[i] = post_add(p, q[i], r[i]);
	}
	return model_write_elems(m, out_elem, p->saturate, at, q, lanes);
}

int post_write_raw(struct weft_model *m, const struct weft_cmd_post *p, uint32_t oy, uint32_t ox,
		   uint32_t c0, uint32_t lanes, const struct model_sum *acc, const struct post_lane *l)
{
	uint32_t size = p->mode == WEFT_POST_MODE_INT16 ? 8 : 4;
	uint32_t at = sp_at(p->out_base, p->out_y_stride, oy, p->out_x_stride, ox) + c0 * size;
	uint8_t raw[8 * LANES_MAX];

	for (uint32_t i = 0; i < lanes; i++) {
		uint64_t v = (uint64_t)wrap48(acc[i].v + l[i].bias);

		for (uint32_t k = 0; k < size; k++)
			raw[i * size + k] = (uint8_t)(v >> (8 * k));
	}
	return model_write(m, at, raw, lanes * size);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv: int8, int16x8 or float8 convolution of a tile.
 *
 *   a[pixel][k]    int8 minus x_zp, 9 bits, or int16; 0 in padding and behind
 *                  run_len. Or a float8 code, FLOAT_NONE there.
 *   w[channel][k]  int8 minus w_zp, 9 bits; or a code
 *   acc = sum over k, of which 48 bits count (mode 0: 32); float8: in order
 *
 * k counts taps, then chunks of n elements, then elements, which is the order
 * of the weights in the scratchpad. Operands are gathered once per pixel group
 * and once per column tile; what remains are dot products of int16, or of codes.
 *
 * |a * w| <= 255 * 255 < 2^16 in mode 0 and 2^15 * 255 < 2^23 in mode 1. A step
 * of so many products stays below 2^31; the steps are added modulo 2^64.
 *
 * Source: cmd.conv of include/spec/cmd.toml.
 */
#include <errno.h>
#include <string.h>

#include "state.h"

/* The dot product wants the vectoriser even where the build asks for -O2. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define DOT_STEP_INT8  32768u
#define DOT_STEP_INT16 256u

struct conv_shape {
	bool is_float;
	uint32_t elem;          /* bytes of an input element */
	uint32_t run_pad;       /* elements of a run, filled up to whole chunks */
	uint32_t k;             /* operands of a dot product, padding included */
	uint32_t pixels, tiles;
};

/* False if the weights do not fit in the scratchpad. */
static bool shape_of(const struct weft_model *m, const struct weft_cmd_conv *c,
		     struct conv_shape *s)
{
	uint32_t elem = elem_bytes(x_elem(&c->post));
	uint64_t pad = ((uint32_t)c->run_len / elem + m->n - 1) / m->n * m->n;
	uint64_t taps = (uint64_t)c->n_ky * (uint64_t)c->n_kx;
	uint64_t tiles = ((uint32_t)c->post.oc + m->n - 1) / m->n;

	s->is_float = c->post.mode == WEFT_POST_MODE_FLOAT8;
	s->elem = elem;
	s->run_pad = (uint32_t)pad;
	s->k = (uint32_t)(taps * pad);
	s->tiles = (uint32_t)tiles;
	s->pixels = (uint32_t)c->post.ow * (uint32_t)c->post.oh;
	/* taps * pad < 2^45, n <= 2^6, tiles < 2^16; the first test keeps the
	 * second from overflowing. */
	return taps * pad * m->n <= m->sp_bytes && taps * pad * m->n * tiles <= m->sp_bytes;
}

static void widen(int16_t *restrict out, const int8_t *restrict in, uint32_t len, int32_t zp)
{
	for (uint32_t i = 0; i < len; i++)
		out[i] = (int16_t)(in[i] - zp);
}

static void codes(int16_t *restrict out, const uint8_t *restrict in, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		out[i] = in[i];
}

static void join(int16_t *restrict out, const uint8_t *restrict in, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		out[i] = bytes_i16(in + 2 * i);
}

/*
 * len bytes from addr on, which may wrap, as operands. Elements of two bytes
 * lie at even addresses, so that none is cut by the scratchpad's end.
 */
static int widen_sp(struct weft_model *m, uint32_t addr, uint32_t len, const struct conv_shape *s,
		    int32_t zp, int16_t *out)
{
	while (len) {
		uint32_t piece;

		addr &= SP_ADDR_MASK;
		if (addr >= m->sp_bytes)
			return model_fault(m, WEFT_FAULT_SP_RANGE, addr);
		piece = min_u32(len, m->sp_bytes - addr);
		if (s->is_float)
			codes(out, m->sp + addr, piece);
		else if (s->elem == 2)
			join(out, m->sp + addr, piece / 2);
		else
			widen(out, (const int8_t *)m->sp + addr, piece, zp);
		out += piece / s->elem;
		addr += piece;
		len -= piece;
	}
	return 0;
}

/* The run of one tap. xb is the place of its first byte in the input row. */
static int gather_run(struct weft_model *m, const struct weft_cmd_conv *c, const struct conv_shape *s,
		      uint32_t addr, int64_t xb, int16_t *out)
{
	int64_t from = xb < 0 ? -xb : 0;
	int64_t to = c->x_limit - xb < c->run_len ? c->x_limit - xb : c->run_len;

	if (from >= to)
		return 0;
	return widen_sp(m, addr + (uint32_t)from, (uint32_t)(to - from), s, c->x_zp, out + from / s->elem);
}

static int gather_pixel(struct weft_model *m, const struct weft_cmd_conv *c,
			const struct conv_shape *s, uint32_t oy, uint32_t ox, int16_t *out)
{
	uint32_t at = sp_at(c->in_base, c->oy_step, oy, c->ox_step, ox);

	for (uint32_t k = 0; k < s->k; k++)
		out[k] = s->is_float ? FLOAT_NONE : 0;
	for (uint32_t ky = 0; ky < (uint32_t)c->n_ky; ky++) {
		int64_t iy = c->iy_start + (int64_t)oy * c->stride_y + (int64_t)ky * c->dil_y;

		if (iy < 0 || iy >= c->in_h) {
			out += s->run_pad * (uint32_t)c->n_kx;
			continue;
		}
		for (uint32_t kx = 0; kx < (uint32_t)c->n_kx; kx++, out += s->run_pad) {
			int64_t xb = c->xb_start + (int64_t)ox * c->ox_step + (int64_t)kx * c->kx_step;
			int ret = gather_run(m, c, s, sp_at((int32_t)at, c->ky_step, ky, c->kx_step, kx),
					     xb, out);

			if (ret)
				return ret;
		}
	}
	return 0;
}

/* The column tiles that the array computes at a time: one on all its rows, or two on half of them each. */
struct tile_set {
	uint32_t first, count;
	uint32_t group;         /* pixels of a group: n / count */
};

static int gather_weights(struct weft_model *m, const struct weft_cmd_conv *c,
			  const struct conv_shape *s, const struct tile_set *t)
{
	const struct conv_shape bytes = {.is_float = s->is_float, .elem = 1};
	uint32_t at = (uint32_t)c->w_base + t->first * s->k * m->n;

	/* From [chunk][channel][tile][byte] to [tile][channel][chunk][byte]. */
	for (uint32_t k = 0; k < s->k; k += m->n)
		for (uint32_t ch = 0; ch < m->n; ch++)
			for (uint32_t i = 0; i < t->count; i++, at += m->n) {
				int ret = widen_sp(m, at, m->n, &bytes, c->w_zp, m->wgt + (i * m->n + ch) * s->k + k);

				if (ret)
					return ret;
			}
	return 0;
}

static inline __attribute__((always_inline)) int32_t products(const int16_t *restrict a, const int16_t *restrict w, uint32_t k)
{
	int32_t sum = 0;

	for (uint32_t i = 0; i < k; i++)
		sum += a[i] * w[i];
	return sum;
}

static int32_t dot_any(const int16_t *a, const int16_t *w, uint32_t k)
{
	return products(a, w, k);
}

/* The same, on machines with longer vectors than all have. */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static int32_t dot_avx2(const int16_t *a, const int16_t *w, uint32_t k)
{
	return products(a, w, k);
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}
#else
#define dot_avx2 dot_any

static bool has_avx2(void)
{
	return false;
}
#endif

typedef int32_t dot_fn(const int16_t *a, const int16_t *w, uint32_t k);

static uint64_t dot(dot_fn *of, const int16_t *a, const int16_t *w, uint32_t k, uint32_t step)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < k; i += step)
		sum += of(a + i, w + i, min_u32(k - i, step));
	return (uint64_t)sum;
}

/* All sums of a pixel group and a column tile, with the tile's weights, into the array's rows from acc on. */
static void add_up(struct weft_model *m, const struct conv_shape *s, uint32_t rows, uint32_t cols, const int16_t *wgt,
		   struct model_sum *acc)
{
	uint32_t step = s->elem == 2 ? DOT_STEP_INT16 : DOT_STEP_INT8;
	dot_fn *of = has_avx2() ? dot_avx2 : dot_any;

	for (uint32_t ch = 0; ch < cols; ch++)
		for (uint32_t r = 0; r < rows; r++) {
			const int16_t *a = m->act + r * s->k, *w = wgt + ch * s->k;

			if (s->is_float)
				float_dot(m, a, w, s->k, &acc[r * m->n + ch]);
			else
				acc[r * m->n + ch].v += dot(of, a, w, s->k, step);
		}
}

/* Writes the sums in the array's rows from acc on: a pixel group of one column tile. */
static int write_rows(struct weft_model *m, const struct weft_cmd_conv *c, uint32_t first, uint32_t rows,
		      uint32_t channel, uint32_t cols, const struct model_sum *acc, const struct post_lane *lanes)
{
	uint32_t ow = (uint32_t)c->post.ow;
	int16_t q[LANES_MAX];
	int ret = 0;

	for (uint32_t r = 0; !ret && r < rows; r++) {
		uint32_t oy = (first + r) / ow, ox = (first + r) % ow;

		if (c->post.raw) {
			ret = post_write_raw(m, &c->post, oy, ox, channel, cols, acc + r * m->n, lanes);
			continue;
		}
		post_first(&c->post, lanes, acc + r * m->n, cols, q);
		ret = post_write(m, &c->post, oy, ox, channel, cols, q);
	}
	return ret;
}

/* One pixel group against one column tile, or two: into acc, then out. */
static int conv_group(struct weft_model *m, const struct weft_cmd_conv *c,
		      const struct conv_shape *s, const struct tile_set *t, uint32_t first,
		      const struct post_lane (*lanes)[LANES_MAX])
{
	uint32_t rows = min_u32(t->group, s->pixels - first), ow = (uint32_t)c->post.ow;
	int ret = 0;

	for (uint32_t r = 0; !ret && r < rows; r++)
		ret = gather_pixel(m, c, s, (first + r) / ow, (first + r) % ow, m->act + r * s->k);
	for (uint32_t i = 0; !ret && i < t->count; i++) {
		uint32_t channel = (t->first + i) * m->n, cols = min_u32(m->n, (uint32_t)c->post.oc - channel);
		struct model_sum *acc = m->acc + i * t->group * m->n;

		add_up(m, s, rows, cols, m->wgt + i * m->n * s->k, acc);
		if (!c->keep)
			ret = write_rows(m, c, first, rows, channel, cols, acc, lanes[i]);
	}
	if (!ret && !c->keep)
		memset(m->acc, 0, (size_t)m->n * m->n * sizeof(*m->acc));
	return ret;
}

static int conv_tiles(struct weft_model *m, const struct weft_cmd_conv *c,
		      const struct conv_shape *s, const struct tile_set *t)
{
	struct post_lane lanes[2][LANES_MAX];
	int ret = gather_weights(m, c, s, t);

	for (uint32_t i = 0; !ret && !c->keep && i < t->count; i++)
		ret = post_lanes(m, (uint32_t)c->p_base, (t->first + i) * m->n, c->p_short, lanes[i]);
	for (uint32_t first = 0; !ret && first < s->pixels; first += min_u32(t->group, s->pixels - first))
		ret = conv_group(m, c, s, t, first, lanes);
	return ret;
}

int model_conv(struct weft_model *m, const struct weft_cmd *cmd)
{
	const struct weft_cmd_conv *c = &cmd->conv;
	struct conv_shape s;
	int ret = 0;

	if (!m->kept)
		memset(m->acc, 0, (size_t)m->n * m->n * sizeof(*m->acc));
	m->kept = false;
	if (!post_legal(&c->post, true))
		return model_bad(m, cmd, WEFT_FAULT_BAD_FIELD);
	if (!shape_of(m, c, &s))
		return model_fault(m, WEFT_FAULT_SP_RANGE, m->sp_bytes);
	uint32_t at_once = c->pairs && s.tiles > 1 ? 2 : 1;

	if (c->keep && (s.tiles > at_once || s.pixels > m->n / at_once))
		return model_bad(m, cmd, WEFT_FAULT_BAD_FIELD);
	if (s.is_float)
		float_products(m, c->post.x_fmt, c->post.w_fmt, c->log2_scale);
	for (uint32_t tile = 0; !ret && tile < s.tiles;) {
		struct tile_set t = {.first = tile, .count = c->pairs && s.tiles - tile > 1 ? 2 : 1};

		t.group = m->n / t.count;
		ret = conv_tiles(m, c, &s, &t);
		tile += t.count;
	}
	m->kept = !ret && c->keep;
	return ret;
}

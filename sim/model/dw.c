/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dw: depthwise convolution, one multiplier per channel.
 *
 * Of int16 |x| * |w - zp| <= 2^15 * 255, so that the 135 products of the largest
 * kernel stay below 2^31.
 */
#include <errno.h>
#include <string.h>

#include "state.h"

/* Taps want the vectoriser even where the build asks for -O2. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define KY_MAX 15
#define KX_MAX 9

/* One block of at most n channels. */
struct dw_block {
	uint32_t c0, lanes;
	int32_t ky, kx;                         /* rows and columns of the kernel */
	int16_t w[KY_MAX * KX_MAX][LANES_MAX];  /* zero point off; float8 are codes */
	int8_t table[256];                      /* of the whole command, with c->table */
	struct post_lane post[LANES_MAX];
};

static int dw_block_load(struct weft_model *m, const struct weft_cmd_dw *c, uint32_t block,
			 struct dw_block *b)
{
	uint32_t oc = (uint32_t)c->post.oc;
	int8_t raw[LANES_MAX];

	b->c0 = block * m->n;
	b->lanes = min_u32(m->n, oc - b->c0);
	b->ky = c->n_ky ? c->n_ky : 3;
	b->kx = c->n_ky ? c->n_kx : 3;
	uint32_t taps = (uint32_t)(b->ky * b->kx);
	for (uint32_t t = 0; t < taps; t++) {
		uint32_t at = (uint32_t)c->w_base + (block * taps + t) * m->n;
		int ret = model_read(m, at, raw, m->n);

		if (ret)
			return ret;
		for (uint32_t i = 0; i < m->n; i++)
			b->w[t][i] = c->post.mode == WEFT_POST_MODE_FLOAT8 ? (uint8_t)raw[i] : (int16_t)(raw[i] - c->w_zp);
	}
	return post_lanes(m, (uint32_t)c->p_base, b->c0, c->p_short, b->post);
}

/* Of one pixel: integers, or float8. */
struct dw_sums { int32_t v[LANES_MAX]; struct model_sum acc[LANES_MAX]; };

static void add_ints(int32_t *restrict sum, const int16_t *restrict x, int32_t zp, const int16_t *restrict w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sum[i] += (x[i] - zp) * w[i];
}

static void add_floats(struct weft_model *m, struct model_sum *acc, const int16_t *x, const int16_t *w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int16_t code = (uint8_t)x[i];

		float_dot(m, &code, &w[i], 1, &acc[i]);
	}
}

/* One tap, in the tensor or in its padding. */
static int dw_tap(struct weft_model *m, const struct weft_cmd_dw *c, const struct dw_block *b,
		  int32_t iy, int32_t ix, const int16_t *w, struct dw_sums *s)
{
	bool is_float = c->post.mode == WEFT_POST_MODE_FLOAT8;
	/* float8 codes are read as they are. */
	enum elem e = is_float ? ELEM_INT8 : x_elem(&c->post);
	int16_t x[LANES_MAX];
	int ret;

	if (iy < 0 || iy >= c->in_h || ix < 0 || ix >= c->in_w)
		return 0;
	ret = model_read_elems(m, e, sp_at(c->in_base, c->in_y_stride, (uint32_t)iy, c->in_x_stride,
					   (uint32_t)ix) + b->c0 * elem_bytes(e), x, b->lanes);
	if (ret)
		return ret;
	for (uint32_t i = 0; c->table && i < b->lanes; i++)
		x[i] = b->table[(uint8_t)x[i]];
	if (is_float)
		add_floats(m, s->acc, x, w, b->lanes);
	else
		add_ints(s->v, x, c->x_zp, w, b->lanes);
	return 0;
}

static int dw_pixel(struct weft_model *m, const struct weft_cmd_dw *c, const struct dw_block *b,
		    int32_t oy, int32_t ox)
{
	struct dw_sums s;
	int16_t q[LANES_MAX];

	memset(s.v, 0, b->lanes * sizeof(*s.v));
	memset(s.acc, 0, b->lanes * sizeof(*s.acc));
	for (int32_t ky = 0; ky < b->ky; ky++)
		for (int32_t kx = 0; kx < b->kx; kx++) {
			int ret = dw_tap(m, c, b, c->iy_start + oy * c->stride_y + ky,
					 c->ix_start + ox * c->stride_x + kx, b->w[ky * b->kx + kx], &s);

			if (ret)
				return ret;
		}
	for (uint32_t i = 0; c->post.mode != WEFT_POST_MODE_FLOAT8 && i < b->lanes; i++)
		s.acc[i].v = (uint64_t)(int64_t)s.v[i];
	if (c->post.raw)
		return post_write_raw(m, &c->post, (uint32_t)oy, (uint32_t)ox, b->c0, b->lanes, s.acc, b->post);
	post_first(&c->post, b->post, s.acc, b->lanes, q);
	return post_write(m, &c->post, (uint32_t)oy, (uint32_t)ox, b->c0, b->lanes, q);
}

static bool dw_legal(const struct weft_model *m, const struct weft_cmd_dw *c)
{
	const struct weft_cmd_post *p = &c->post;
	uint32_t span = (uint32_t)(p->ow - 1) * (uint32_t)c->stride_x;
	/* The line buffer's bytes hold half as many int16. */
	uint32_t line = m->cfg->dw_line / elem_bytes(x_elem(p));

	if (p->add || !post_legal(p, true) || (c->table && (uint32_t)p->b_base % m->n))
		return false;
	/* Without the line buffer, it is the sums of a row that need room. */
	return c->n_ky ? c->n_kx >= 3 && span + KX_MAX <= m->cfg->dw_line / 2 : !c->n_kx && span + 3 <= line;
}

int model_dw(struct weft_model *m, const struct weft_cmd *cmd)
{
	const struct weft_cmd_dw *c = &cmd->dw;
	const struct weft_cmd_post *p = &c->post;
	uint32_t blocks = ((uint32_t)p->oc + m->n - 1) / m->n;
	struct dw_block b;

	if (!dw_legal(m, c))
		return model_bad(m, cmd, WEFT_FAULT_BAD_FIELD);
	if (c->table) {
		int ret = model_read(m, (uint32_t)p->b_base, b.table, sizeof(b.table));

		if (ret)
			return ret;
	}
	if (p->mode == WEFT_POST_MODE_FLOAT8)
		float_products(m, p->x_fmt, p->w_fmt, c->log2_scale);
	for (uint32_t i = 0; i < blocks; i++) {
		int ret = dw_block_load(m, c, i, &b);

		for (int32_t oy = 0; !ret && oy < p->oh; oy++)
			for (int32_t ox = 0; !ret && ox < p->ow; ox++)
				ret = dw_pixel(m, c, &b, oy, ox);
		if (ret)
			return ret;
	}
	return 0;
}

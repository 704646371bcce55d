/* SPDX-License-Identifier: Apache-2.0 */
/* elt: RESCALE and clamp of one tensor, of its values in a table, or of the sum or product of two. */
#include <errno.h>

#include "state.h"

/* Without a second tensor: the first addend's scaling with the first stage's clamp. */
static int16_t elt_single(const struct weft_cmd_post *p, int16_t q)
{
	uint32_t up = (uint32_t)(q - p->a_zp) << p->pre_shift;
	int32_t v;

	if (p->mode == WEFT_POST_MODE_FLOAT8)
		return (int16_t)float_clamp((uint16_t)q, (uint16_t)p->y_min, (uint16_t)p->y_max);
	v = post_rescale((int32_t)up, (int32_t)p->a_mul, (unsigned)p->a_shift, post_round(p->double_round, p->even));
	return post_clamp((int32_t)((uint32_t)v + (uint32_t)p->y_zp), p->y_min, p->y_max);
}

/* Fits int32: in mode 1 there are no zero points. */
static int elt_product(struct weft_model *m, const struct weft_cmd_post *p, uint32_t at, int16_t *q, uint32_t lanes)
{
	int16_t r[LANES_MAX];
	int32_t a_zp = p->mode ? 0 : (int8_t)p->a_zp, b_zp = p->mode ? 0 : (int8_t)p->b_zp;
	int ret = model_read_elems(m, x_elem(p), at, r, lanes);

	for (uint32_t i = 0; !ret && i < lanes; i++) {
		int32_t v = (q[i] - a_zp) * (r[i] - b_zp);

		v = post_rescale(v, (int32_t)p->a_mul, (unsigned)p->a_shift, post_round(p->double_round, p->even));
		q[i] = post_clamp((int32_t)((uint32_t)v + (uint32_t)p->y_zp), p->y_min, p->y_max);
	}
	return ret;
}

static int elt_pixel(struct weft_model *m, const struct weft_cmd_elt *c, const int8_t *table, uint32_t oy, uint32_t ox,
		     uint32_t c0, uint32_t lanes)
{
	const struct weft_cmd_post *p = &c->post;
	uint32_t at = sp_at(c->in_base, c->in_y_stride, oy, c->in_x_stride, ox);
	int16_t q[LANES_MAX];
	enum elem e = x_elem(p);
	uint32_t b_at = sp_at(p->b_base, p->b_y_stride, oy, p->b_x_stride, ox) + c0 * elem_bytes(e);
	/* A second factor that all pixels have in common is read before them. */
	int ret = c->mul && !p->b_x_stride && !p->b_y_stride ? model_read_elems(m, e, b_at, q, lanes) : 0;

	if (!ret)
		ret = model_read_elems(m, e, at + c0 * elem_bytes(e), q, lanes);
	if (!ret && c->mul)
		ret = elt_product(m, p, b_at, q, lanes);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < lanes && !p->add && !c->mul; i++)
		q[i] = elt_single(p, c->table ? table[(uint8_t)q[i]] : q[i]);
	return post_write(m, p, oy, ox, c0, lanes, q);
}

static bool elt_legal(const struct weft_model *m, const struct weft_cmd_elt *c)
{
	return post_legal(&c->post, false) && c->post.add + c->table + c->mul <= 1 &&
	       !(c->table && (uint32_t)c->post.b_base % m->n);
}

int model_elt(struct weft_model *m, const struct weft_cmd *cmd)
{
	const struct weft_cmd_elt *c = &cmd->elt;
	uint32_t oc = (uint32_t)c->post.oc, oh = (uint32_t)c->post.oh, ow = (uint32_t)c->post.ow;

	int8_t table[256];

	if (!elt_legal(m, c))
		return model_bad(m, cmd, WEFT_FAULT_BAD_FIELD);
	if (c->table) {
		int ret = model_read(m, (uint32_t)c->post.b_base, table, sizeof(table));

		if (ret)
			return ret;
	}
	for (uint32_t c0 = 0; c0 < oc; c0 += m->n)
	for (uint32_t oy = 0; oy < oh; oy++)
	for (uint32_t ox = 0; ox < ow; ox++) {
		int ret = elt_pixel(m, c, table, oy, ox, c0, min_u32(m->n, oc - c0));

		if (ret)
			return ret;
	}
	return 0;
}

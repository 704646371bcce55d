/* SPDX-License-Identifier: Apache-2.0 */
/* elt: RESCALE and clamp of one tensor, or of the sum of two. */
#include <errno.h>

#include "state.h"

/* Without a second tensor: the first addend's scaling with the first stage's clamp. */
static int16_t elt_single(const struct weft_cmd_post *p, int16_t q)
{
	uint32_t up = (uint32_t)(q - p->a_zp) << p->pre_shift;
	int32_t v;

	if (p->mode == MODE_FLOAT)
		return (int16_t)float_clamp((uint16_t)q, (uint16_t)p->y_min, (uint16_t)p->y_max);
	v = post_rescale((int32_t)up, (int32_t)p->a_mul, (unsigned)p->a_shift, post_round(p->double_round, p->even));
	return post_clamp((int32_t)((uint32_t)v + (uint32_t)p->y_zp), p->y_min, p->y_max);
}

static int elt_pixel(struct weft_model *m, const struct weft_cmd_elt *c, uint32_t oy, uint32_t ox,
		     uint32_t c0, uint32_t lanes)
{
	uint32_t at = sp_at(c->in_base, c->in_y_stride, oy, c->in_x_stride, ox);
	int16_t q[LANES_MAX];
	enum elem e = x_elem(&c->post);
	int ret = model_read_elems(m, e, at + c0 * elem_bytes(e), q, lanes);

	if (ret)
		return ret;
	if (!c->post.add)
		for (uint32_t i = 0; i < lanes; i++)
			q[i] = elt_single(&c->post, q[i]);
	return post_write(m, &c->post, oy, ox, c0, lanes, q);
}

int model_elt(struct weft_model *m, const struct weft_cmd *cmd)
{
	const struct weft_cmd_elt *c = &cmd->elt;
	uint32_t oc = (uint32_t)c->post.oc, oh = (uint32_t)c->post.oh, ow = (uint32_t)c->post.ow;

	if (!post_legal(&c->post, false))
		return model_bad(m, cmd, WEFT_FAULT_BAD_FIELD);
	for (uint32_t c0 = 0; c0 < oc; c0 += m->n)
	for (uint32_t oy = 0; oy < oh; oy++)
	for (uint32_t ox = 0; ox < ow; ox++) {
		int ret = elt_pixel(m, c, oy, ox, c0, min_u32(m->n, oc - c0));

		if (ret)
			return ret;
	}
	return 0;
}

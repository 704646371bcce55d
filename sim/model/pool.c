/* SPDX-License-Identifier: Apache-2.0 */
/* pool: maximum or scaled sum over a window, per channel. */
#include <errno.h>

#include "state.h"

#define FLOAT_LEAST 0xfc00      /* fp16: -inf */

static void tap_max(int32_t *acc, const int16_t *v, uint32_t lanes)
{
	for (uint32_t i = 0; i < lanes; i++)
		acc[i] = v[i] > acc[i] ? v[i] : acc[i];
}

static void tap_float(int32_t *acc, const int16_t *v, uint32_t lanes)
{
	for (uint32_t i = 0; i < lanes; i++)
		acc[i] = float_max((uint16_t)acc[i], (uint16_t)v[i]);
}

static void tap_sum(int32_t *acc, const int16_t *v, uint32_t lanes, int32_t zp)
{
	for (uint32_t i = 0; i < lanes; i++)
		acc[i] = (int32_t)((uint32_t)acc[i] + (uint32_t)(v[i] - zp));
}

/* The window of one pixel, one word of channels at a time. */
static int pool_window(struct weft_model *m, const struct weft_cmd_pool *c, uint32_t at,
		       uint32_t lanes, int32_t *acc)
{
	int16_t v[LANES_MAX];

	for (uint32_t ky = 0; ky < (uint32_t)c->n_ky; ky++)
	for (uint32_t kx = 0; kx < (uint32_t)c->n_kx; kx++) {
		int ret = model_read_elems(m, x_elem(&c->post),
					   sp_at((int32_t)at, c->ky_step, ky, c->kx_step, kx), v, lanes);

		if (ret)
			return ret;
		if (c->sum)
			tap_sum(acc, v, lanes, c->x_zp);
		else if (c->post.mode == WEFT_POST_MODE_FLOAT8)
			tap_float(acc, v, lanes);
		else
			tap_max(acc, v, lanes);
	}
	return 0;
}

static int16_t pool_out(const struct weft_cmd_pool *c, int32_t v)
{
	const struct weft_cmd_post *p = &c->post;

	if (p->mode == WEFT_POST_MODE_FLOAT8)
		return (int16_t)float_clamp((uint16_t)v, (uint16_t)p->y_min, (uint16_t)p->y_max);
	if (c->sum) {
		v = post_rescale(v, (int32_t)p->a_mul, (unsigned)p->a_shift, post_round(p->double_round, p->even));
		v = (int32_t)((uint32_t)v + (uint32_t)p->y_zp);
	}
	return post_clamp(v, p->y_min, p->y_max);
}

static int pool_pixel(struct weft_model *m, const struct weft_cmd_pool *c, uint32_t oy, uint32_t ox,
		      uint32_t c0, uint32_t lanes)
{
	uint32_t at = sp_at(c->in_base, c->oy_step, oy, c->ox_step, ox) +
		      c0 * elem_bytes(x_elem(&c->post));
	int32_t acc[LANES_MAX];
	int16_t q[LANES_MAX];
	int ret;

	for (uint32_t i = 0; i < lanes; i++)
		acc[i] = c->sum ? 0 : c->post.mode == WEFT_POST_MODE_FLOAT8 ? FLOAT_LEAST : INT16_MIN;
	ret = pool_window(m, c, at & SP_ADDR_MASK, lanes, acc);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < lanes; i++)
		q[i] = pool_out(c, acc[i]);
	return post_write(m, &c->post, oy, ox, c0, lanes, q);
}

int model_pool(struct weft_model *m, const struct weft_cmd *cmd)
{
	const struct weft_cmd_pool *c = &cmd->pool;
	uint32_t oc = (uint32_t)c->post.oc, oh = (uint32_t)c->post.oh, ow = (uint32_t)c->post.ow;

	if (c->post.add || !post_legal(&c->post, false) || (c->post.mode == WEFT_POST_MODE_FLOAT8 && c->sum))
		return model_bad(m, cmd, WEFT_FAULT_BAD_FIELD);
	for (uint32_t c0 = 0; c0 < oc; c0 += m->n)
	for (uint32_t oy = 0; oy < oh; oy++)
	for (uint32_t ox = 0; ox < ow; ox++) {
		int ret = pool_pixel(m, c, oy, ox, c0, min_u32(m->n, oc - c0));

		if (ret)
			return ret;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "userlib/diag/ops.h"

#define MINUS_INF_FP16 (-0x400)   /* fc00 */
#define INF_FP16 0x7c00

/*
 * Fills the fields of the post unit in a command for a dense result of w by h pixels of c channels at
 * scratchpad address out, in arithmetic mode `mode` (0 int8, 1 int16x8, 2 float8 with fp16 results).
 * Multipliers with their shifts make a scale of 1 (in float8 mode, which does not scale so, multipliers
 * are 0) and limits are as wide as the type, so that values do not change.
 */
static void post(struct weft_cmd_post *p, int mode, uint32_t out, uint32_t w, uint32_t h, uint32_t c)
{
	uint32_t elem = diag_out_bytes(mode);

	p->mode = mode;
	p->out_base = (int32_t)out;
	p->out_x_stride = (int32_t)(c * elem);
	p->out_y_stride = (int32_t)(c * w * elem);
	p->ow = (int32_t)w;
	p->oh = (int32_t)h;
	p->oc = (int32_t)c;
	p->y_min = p->s_min = mode == WEFT_POST_MODE_FLOAT8 ? MINUS_INF_FP16 : mode ? -32768 : -128;
	p->y_max = p->s_max = mode == WEFT_POST_MODE_FLOAT8 ? INF_FP16 : mode ? 32767 : 127;
	p->out_fmt = mode == WEFT_POST_MODE_FLOAT8 ? WEFT_POST_OUT_FMT_FP16 : 0;
	p->a_mul = p->b_mul = p->s_mul = mode == WEFT_POST_MODE_FLOAT8 ? 0 : 1 << 30;
	p->a_shift = p->b_shift = p->s_shift = 30;
}

/*
 * Returns a conv command of the array's N channels over `pixels` pixels side by side, each of run_len
 * bytes from scratchpad address `in`, with weights, parameter records and output at the given
 * addresses. Limits are as wide as the type; scales and biases come from the records.
 */
struct weft_cmd diag_conv(const struct weft_config *cfg, uint32_t in, uint32_t weights, uint32_t params, uint32_t out,
                          int mode, int pixels, uint32_t run_len)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_CONV);
	post(&c.conv.post, mode, out, (uint32_t)pixels, 1, cfg->n);
	c.conv.in_base = (int32_t)in;
	c.conv.ox_step = c.conv.run_len = (int32_t)run_len;
	c.conv.x_limit = (int32_t)run_len * pixels;
	c.conv.w_base = (int32_t)weights;
	c.conv.p_base = (int32_t)params;
	return c;
}

/*
 * Returns an elt command that copies a dense tensor of width x height pixels of `channels` channels
 * from scratchpad address `in` to `out` through the post unit, with scales of 1 and no addend; in
 * float8 it goes from E4M3 to fp16.
 */
struct weft_cmd diag_elt(uint32_t in, uint32_t out, int mode, uint32_t width, uint32_t height, uint32_t channels)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_ELT);
	post(&c.elt.post, mode, out, width, height, channels);
	c.elt.in_base = (int32_t)in;
	c.elt.in_x_stride = (int32_t)(channels * diag_in_bytes(mode));
	c.elt.in_y_stride = (int32_t)(channels * width * diag_in_bytes(mode));
	return c;
}

/*
 * Returns a pool command that takes the maximum over windows of a dense tensor of rows of `width` pixels at
 * scratchpad address `in`, with width x height output pixels of `channels` channels, dense too, at `out`,
 * scaled by 1; `mode` gives the bytes of an element (diag_in_bytes(), diag_out_bytes()). The window moves
 * one pixel for each output. It is one pixel until the caller sets its size and steps (n_kx, n_ky; kx_step,
 * ky_step in bytes), and for wider windows that shall end within their rows also oy_step; sum makes it a sum.
 */
struct weft_cmd diag_pool(uint32_t in, uint32_t out, int mode, uint32_t width, uint32_t height, uint32_t channels)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_POOL);
	post(&c.pool.post, mode, out, width, height, channels);
	c.pool.in_base = (int32_t)in;
	c.pool.ox_step = (int32_t)(channels * diag_in_bytes(mode));
	c.pool.oy_step = (int32_t)(channels * width * diag_in_bytes(mode));
	return c;
}

/*
 * Returns a dw command of 3x3 with stride 1 and without padding over a dense tensor of in_w by in_h pixels
 * of `channels` channels at scratchpad address `in`; weights, parameter records and the output, dense,
 * (in_w - 2) by (in_h - 2) pixels, lie at the given addresses. `mode` gives the bytes of an element
 * (diag_in_bytes(), diag_out_bytes()); scales and biases come from the records.
 */
struct weft_cmd diag_dw(uint32_t in, uint32_t weights, uint32_t params, uint32_t out, int mode, uint32_t channels,
                        uint32_t in_w, uint32_t in_h)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_DW);
	post(&c.dw.post, mode, out, in_w - 2, in_h - 2, channels);
	c.dw.in_base = (int32_t)in;
	c.dw.in_x_stride = (int32_t)(channels * diag_in_bytes(mode));
	c.dw.in_y_stride = (int32_t)(channels * in_w * diag_in_bytes(mode));
	c.dw.in_w = (int32_t)in_w;
	c.dw.in_h = (int32_t)in_h;
	c.dw.w_base = (int32_t)weights;
	c.dw.p_base = (int32_t)params;
	return c;
}

/*
 * Returns an alu command that adds `add` to n int8 elements at scratchpad address `from`; the results
 * lie right behind them.
 */
struct weft_cmd diag_alu(uint32_t from, uint32_t n, int32_t add)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_ALU);
	c.alu.n0 = (int32_t)n;
	c.alu.a_base = (int32_t)from;
	c.alu.out_base = (int32_t)(from + n);
	c.alu.a_s0 = c.alu.out_s0 = 1;
	c.alu.func = 1;
	c.alu.b_imm = 1;
	c.alu.b_value = add;
	return c;
}

/*
 * Changes a conv or dw command to write its sums as they are, without RESCALE: 4 bytes a channel, or 8
 * in mode int16, in a dense output.
 */
void diag_raw(struct weft_cmd *c)
{
	struct weft_cmd_post *p = &c->conv.post;

	p->raw = 1;
	p->out_x_stride = p->oc * (p->mode ? 8 : 4);
	p->out_y_stride = p->out_x_stride * p->ow;
}

/*
 * Adds n equal parameter records (bias; scale mul / 2^shift) of WEFT_PARAM_BYTES bytes each to the
 * constants, and a load of them to scratchpad address sp. Does nothing more if memory has run out
 * (s->failed is set then).
 */
void diag_params(struct diag_stream *s, uint32_t sp, uint32_t n, uint32_t mul, unsigned shift, int64_t bias)
{
	size_t off = diag_data(s, NULL, (size_t)n * WEFT_PARAM_BYTES);

	if (s->failed)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_param p = { .bias = bias, .mul = (int32_t)mul, .shift = (uint8_t)shift };
		weft_param_write(&p, s->data + off + i * WEFT_PARAM_BYTES);
	}
	diag_load(s, off, sp, n * WEFT_PARAM_BYTES);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams that break one rule each, and their nearest neighbours that do not.
 *
 * Every case starts from one good stream and bends it; with bad = false it goes
 * as far as the rule allows, with bad = true one step further.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/verify/verify.h"

#define CMDS 24
#define WINDOW_BYTES 65536

/* Places in the scratchpad. */
enum {
	AT_X = 0, AT_W = 0x4000, AT_P = 0x8000, AT_Y = 0x9000, AT_Z = 0xa000, AT_D = 0xb000, AT_M = 0xc000
};

/* Commands of the good stream. */
enum { LD_X, LD_W, LD_P, CONV, ELT, DW, POOL, ST, END };

struct stream {
	struct weft_cmd c[CMDS];
	size_t n;
	uint64_t words[CMDS * WEFT_CMD_MAX_WORDS];
	size_t n_words;
	struct weft_verify_windows win;
	const struct weft_config *cfg;
};

static struct weft_cmd *add(struct stream *s, unsigned op)
{
	struct weft_cmd *c = &s->c[s->n++];

	weft_cmd_init(c, op);
	return c;
}

static void encode(struct stream *s)
{
	s->n_words = 0;
	for (size_t i = 0; i < s->n; i++)
		s->n_words += weft_cmd_encode(&s->c[i], s->words + s->n_words);
}

static size_t word_of(const struct stream *s, size_t cmd)
{
	size_t at = 0;

	for (size_t i = 0; i < cmd; i++)
		at += weft_cmd_info((unsigned)s->c[i].h.op)->n_words;
	return at;
}

static struct weft_cmd *insert(struct stream *s, size_t before, unsigned op)
{
	memmove(&s->c[before + 1], &s->c[before], (s->n - before) * sizeof(s->c[0]));
	s->n++;
	weft_cmd_init(&s->c[before], op);
	return &s->c[before];
}

static void add_load(struct stream *s, int32_t sp, int32_t bytes)
{
	struct weft_cmd *c = add(s, WEFT_CMD_LOAD);

	c->load.window = 1;
	c->load.dram_off = sp;
	c->load.sp_addr = sp;
	c->load.row_bytes = bytes;
}

/* A dense output of 8 x 8 pixels of 16 channels. */
static void output(struct weft_cmd_post *p, int32_t at)
{
	p->out_base = at;
	p->out_x_stride = 16;
	p->out_y_stride = 128;
	p->ow = 8;
	p->oh = 8;
	p->oc = 16;
	p->y_min = -128;
	p->y_max = 127;
	p->s_min = -128;
	p->s_max = 127;
}

static void add_conv(struct stream *s)
{
	struct weft_cmd *c = add(s, WEFT_CMD_CONV);
	struct weft_cmd_conv *v = &c->conv;

	/* 3 x 3 on 8 x 8 x 16, one pixel of padding all round. */
	output(&v->post, AT_Y);
	v->in_base = (AT_X - 128 - 16) & 0xfffff;
	v->oy_step = v->ky_step = 128;
	v->ox_step = v->kx_step = 16;
	v->run_len = 48;
	v->n_ky = 3;
	v->in_h = 8;
	v->iy_start = -1;
	v->x_limit = 128;
	v->xb_start = -16;
	v->w_base = AT_W;
	v->p_base = AT_P;
	c->h.wait[WEFT_UNIT_LD] = 3;
}

static void add_dw(struct stream *s)
{
	struct weft_cmd *c = add(s, WEFT_CMD_DW);
	struct weft_cmd_dw *d = &c->dw;

	output(&d->post, AT_D);
	d->in_base = AT_Z;
	d->in_x_stride = 16;
	d->in_y_stride = 128;
	d->in_h = d->in_w = 8;
	d->iy_start = d->ix_start = -1;
	d->w_base = AT_W;
	d->p_base = AT_P;
	c->h.wait[WEFT_UNIT_VE] = 1;
}

static void good(struct stream *s)
{
	struct weft_cmd *c;

	memset(s, 0, sizeof(*s));
	s->cfg = weft_config_find("w16");
	s->win.w[1].size = WINDOW_BYTES;
	s->win.w[1].rd = true;
	s->win.w[2].size = WINDOW_BYTES;
	s->win.w[2].rd = s->win.w[2].wr = true;
	add_load(s, AT_X, 1024);
	add_load(s, AT_W, 9 * 16 * 16);
	add_load(s, AT_P, 256);
	add_conv(s);
	c = add(s, WEFT_CMD_ELT);
	output(&c->elt.post, AT_Z);
	c->elt.in_base = AT_Y;
	c->elt.in_x_stride = 16;
	c->elt.in_y_stride = 128;
	c->elt.post.add = 1;
	c->elt.post.b_base = AT_X;
	c->elt.post.b_x_stride = 16;
	c->elt.post.b_y_stride = 128;
	c->h.wait[WEFT_UNIT_CV] = 1;
	add_dw(s);
	c = add(s, WEFT_CMD_POOL);
	output(&c->pool.post, AT_M);
	c->pool.post.ow = c->pool.post.oh = 4;
	c->pool.post.out_y_stride = 64;
	c->pool.in_base = AT_D;
	c->pool.ox_step = 32;
	c->pool.oy_step = 256;
	c->pool.kx_step = 16;
	c->pool.ky_step = 128;
	c->pool.n_kx = c->pool.n_ky = 2;
	c->h.wait[WEFT_UNIT_VE] = 2;
	c = add(s, WEFT_CMD_STORE);
	c->load.window = 2;
	c->load.sp_addr = AT_M;
	c->load.row_bytes = 256;
	c->h.wait[WEFT_UNIT_VE] = 3;
	add(s, WEFT_CMD_END);
}

/*
 * The same in int16: steps are twice as far, weights and records stay. All places
 * have room for it.
 */
static void int16_stream(struct stream *s)
{
	for (size_t i = LD_X; i <= ST; i++) {
		const struct weft_cmd_info *info = weft_cmd_info((unsigned)s->c[i].h.op);
		struct weft_cmd *c = &s->c[i];

		if (info->unit > WEFT_UNIT_ST)
			c->conv.post.mode = 1;
		for (unsigned k = 0; k < info->n_fields; k++)
			if (info->fields[k].elem && !info->fields[k].is_address)
				weft_cmd_set(c, &info->fields[k], 2 * weft_cmd_get(c, &info->fields[k]));
	}
	s->c[CONV].conv.in_base = (AT_X - 256 - 32) & 0xfffff;
	s->c[LD_X].load.row_bytes *= 2;
	s->c[ST].load.row_bytes *= 2;
}

/* The same in float8. */
static void float_stream(struct stream *s)
{
	for (size_t i = CONV; i <= POOL; i++) {
		struct weft_cmd_post *p = &s->c[i].conv.post;

		p->mode = 2;
		p->y_min = p->s_min = (int16_t)0xfc00;
		p->y_max = p->s_max = 0x7c00;
	}
}

/* ---- cases: fields ---- */

static void bad_field(struct stream *s, bool bad)
{
	s->c[CONV].conv.stride_y = bad ? 8193 : 8192;
	s->c[CONV].conv.post.oh = 1;
	/* What follows needs the other rows too. */
	s->n = ELT;
	add(s, WEFT_CMD_END);
}

static void low_field(struct stream *s, bool bad)
{
	s->c[POOL].pool.post.a_shift = bad ? 1 : 2;
}

static void misaligned(struct stream *s, bool bad)
{
	s->c[LD_W].load.sp_addr = AT_W + (bad ? 8 : 16);
	s->c[CONV].conv.w_base = AT_W + (bad ? 8 : 16);
	s->c[DW].dw.w_base = AT_W + 16;
}

static void wrong_mode(struct stream *s, bool bad)
{
	s->c[ELT].elt.post.mode = bad ? 7 : 0;
}

static void absent_mode(struct stream *s, bool bad)
{
	static struct weft_config cfg;

	cfg = *weft_config_find("w16");
	cfg.features &= ~(bad ? WEFT_FEATURE_INT16 : 0);
	s->cfg = &cfg;
	int16_stream(s);
}

/* One of the fields that have to be even in mode 1. */
static void odd_output(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[ELT].elt.post.out_base += bad ? 1 : 2;
	s->c[DW].dw.in_base = s->c[ELT].elt.post.out_base;
}

static void odd_step(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[CONV].conv.kx_step = bad ? 31 : 30;
}

static void odd_run(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[CONV].conv.run_len -= bad ? 1 : 2;
}

static void odd_addend(struct stream *s, bool bad)
{
	int16_stream(s);
	/* Not used, but looked at. */
	s->c[POOL].pool.post.b_y_stride = bad ? 1 : 2;
}

static void absent_float(struct stream *s, bool bad)
{
	static struct weft_config cfg;

	float_stream(s);
	cfg = *weft_config_find("w16");
	cfg.features &= ~(bad ? WEFT_FEATURE_FP8 : 0);
	s->cfg = &cfg;
}

static void odd_fp16(struct stream *s, bool bad)
{
	float_stream(s);
	s->c[POOL].pool.post.out_fmt = bad ? 4 : 3;
	s->c[POOL].pool.post.out_x_stride = 33;
	s->c[POOL].pool.post.out_y_stride = 132;
	s->n = ST;
	add(s, WEFT_CMD_END);
}

static void format_int8(struct stream *s, bool bad)
{
	s->c[POOL].pool.post.x_fmt = bad;
}

static void scale_int16(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[DW].dw.log2_scale = bad ? -1 : 0;
}

static void mul_float(struct stream *s, bool bad)
{
	float_stream(s);
	s->c[CONV].conv.log2_scale = -32;
	s->c[ELT].elt.post.b_mul = bad;
}

static void weights_zp_float(struct stream *s, bool bad)
{
	float_stream(s);
	s->c[DW].dw.w_zp = bad ? -128 : 0;
}

static void fp16_conv(struct stream *s, bool bad)
{
	float_stream(s);
	s->c[CONV].conv.post.x_fmt = bad ? 4 : 3;
}

static void sum_float(struct stream *s, bool bad)
{
	float_stream(s);
	s->c[POOL].pool.sum = bad;
}

static void limit_nan(struct stream *s, bool bad)
{
	float_stream(s);
	s->c[CONV].conv.post.y_max = bad ? 0x7c01 : 0x7c00;
}

/* -1 and -2: the larger pattern is the lower value. */
static void clamp_float(struct stream *s, bool bad)
{
	float_stream(s);
	s->c[ELT].elt.post.s_min = (int16_t)(bad ? 0xbc00 : 0xc000);
	s->c[ELT].elt.post.s_max = (int16_t)(bad ? 0xc000 : 0xbc00);
}

static void scale16_int8(struct stream *s, bool bad)
{
	if (!bad)
		int16_stream(s);
	s->c[CONV].conv.post.scale16 = 1;
}

static void scale16_dw(struct stream *s, bool bad)
{
	if (!bad)
		int16_stream(s);
	s->c[DW].dw.post.scale16 = 1;
}

static void scale16_elt(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[ELT].elt.post.scale16 = bad;
}

/* The table at AT_X, as long as a load there has written it. */
static void table_and_add(struct stream *s, bool bad)
{
	s->c[ELT].elt.table = 1;
	s->c[ELT].elt.post.add = bad;
}

static void table_aside(struct stream *s, bool bad)
{
	table_and_add(s, false);
	s->c[ELT].elt.post.b_base += bad ? 1 : 0;
}

static void table_absent(struct stream *s, bool bad)
{
	table_and_add(s, false);
	s->c[ELT].elt.post.b_base = bad ? 0x40000 : AT_X;
}

static void dw_table_aside(struct stream *s, bool bad)
{
	s->c[DW].dw.table = 1;
	s->c[DW].dw.post.b_base += bad ? 1 : 0;
}

static void dw_table_absent(struct stream *s, bool bad)
{
	s->c[DW].dw.table = 1;
	s->c[DW].dw.post.b_base = bad ? 0x40000 : AT_X;
}

static void factor_absent(struct stream *s, bool bad)
{
	s->c[ELT].elt.post.add = 0;
	s->c[ELT].elt.mul = 1;
	s->c[ELT].elt.post.b_base = bad ? 0x40000 : AT_X;
}

static void scale16_pool(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[POOL].pool.post.scale16 = bad;
}

static void scale16_twice(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[CONV].conv.post.scale16 = 1;
	s->c[CONV].conv.post.double_round = bad;
}

static void zero_point_conv(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[CONV].conv.x_zp = bad ? -1 : 0;
	s->c[CONV].conv.w_zp = -1;
	s->c[CONV].conv.post.y_zp = -1;
}

static void zero_point_dw(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[DW].dw.x_zp = bad;
	/* A pool subtracts what it is told. */
	s->c[POOL].pool.x_zp = 1;
}

static void type_low(struct stream *s, bool bad)
{
	s->c[CONV].conv.post.y_min = bad ? -129 : -128;
}

static void type_high(struct stream *s, bool bad)
{
	s->c[ELT].elt.post.s_max = bad ? 128 : 127;
}

static void type_unused(struct stream *s, bool bad)
{
	s->c[POOL].pool.post.b_zp = bad ? 128 : 127;
}

static void type_int16(struct stream *s, bool bad)
{
	if (!bad)
		int16_stream(s);
	s->c[DW].dw.post.y_max = 32767;
}

static void clamp_first(struct stream *s, bool bad)
{
	s->c[CONV].conv.post.y_min = 5;
	s->c[CONV].conv.post.y_max = bad ? 4 : 5;
}

static void clamp_sum(struct stream *s, bool bad)
{
	s->c[ELT].elt.post.s_min = -7;
	s->c[ELT].elt.post.s_max = bad ? -8 : -7;
}

static void dw_adds(struct stream *s, bool bad)
{
	s->c[DW].dw.post.add = bad;
}

static void pool_adds(struct stream *s, bool bad)
{
	s->c[POOL].pool.post.add = bad;
}

static void long_line_int16(struct stream *s, bool bad)
{
	struct weft_cmd_dw *d = &s->c[DW].dw;

	int16_stream(s);
	d->post.ow = bad ? 127 : 126;
	d->post.oh = 1;
	d->post.out_base = 0x10000;
	s->n = POOL;
	add(s, WEFT_CMD_END);
}

static void long_line(struct stream *s, bool bad)
{
	struct weft_cmd_dw *d = &s->c[DW].dw;

	/* All padding but for the first columns. */
	d->post.ow = bad ? 255 : 254;
	d->post.oh = 1;
	d->post.out_x_stride = 16;
	d->post.out_base = 0x10000;
	s->n = POOL;
	add(s, WEFT_CMD_END);
}

static void long_line_kernel(struct stream *s, bool bad)
{
	struct weft_cmd_dw *d = &s->c[DW].dw;

	long_line(s, false);
	d->n_ky = 5;
	d->n_kx = 3;
	d->post.ow = bad ? 121 : 120;
}

static void kernel_columns(struct stream *s, bool bad)
{
	s->c[DW].dw.n_ky = 5;
	s->c[DW].dw.n_kx = bad ? 2 : 3;
}

static void kernel_rows(struct stream *s, bool bad)
{
	s->c[DW].dw.n_ky = !bad;
	s->c[DW].dw.n_kx = 3;
}

/* The stream is for a device of an older build: if bad is set, it lacks this feature (WEFT_FEATURE_...). */
static void lacks(struct stream *s, bool bad, uint32_t feature)
{
	static struct weft_config old;

	old = *s->cfg;
	old.features &= bad ? ~feature : ~0u;
	s->cfg = &old;
}

static void kernel_lacks(struct stream *s, bool bad)
{
	lacks(s, bad, WEFT_FEATURE_DWK);
	s->c[DW].dw.n_ky = s->c[DW].dw.n_kx = 3;
}

static void dw_table_lacks(struct stream *s, bool bad)
{
	lacks(s, bad, WEFT_FEATURE_DWTABLE);
	s->c[DW].dw.table = 1;
}

static void pairs_lacks(struct stream *s, bool bad)
{
	lacks(s, bad, WEFT_FEATURE_PAIRS);
	s->c[CONV].conv.pairs = 1;
}

static void conv_short_lacks(struct stream *s, bool bad)
{
	lacks(s, bad, WEFT_FEATURE_P_SHORT);
	s->c[CONV].conv.p_short = 1;
}

static void dw_short_lacks(struct stream *s, bool bad)
{
	lacks(s, bad, WEFT_FEATURE_P_SHORT);
	s->c[DW].dw.p_short = 1;
}

static void turns_lacks(struct stream *s, bool bad)
{
	lacks(s, bad, WEFT_FEATURE_TURNS);
	s->c[CONV].conv.turns = 1;
}

static void far_row(struct stream *s, bool bad)
{
	struct weft_cmd_conv *v = &s->c[CONV].conv;

	v->post.oh = 17;
	v->stride_y = 8192;
	v->iy_start = bad ? 0 : -1;
	v->n_ky = 1;
	v->in_base = AT_X;
	s->n = ELT;
	add(s, WEFT_CMD_END);
	/* Row 16 * 8192 = 2^17 is the first beyond. */
}

static void far_byte(struct stream *s, bool bad)
{
	struct weft_cmd_conv *v = &s->c[CONV].conv;

	v->post.oh = v->post.ow = 1;
	v->n_ky = 1;
	v->n_kx = 3;
	v->run_len = 16;
	v->kx_step = 0xffff0;
	v->xb_start = bad ? 17 : 16;
	v->x_limit = 32;
	v->in_base = AT_X;
	v->iy_start = 0;
	s->n = ELT;
	add(s, WEFT_CMD_END);
}

static void keep_pixels(struct stream *s, bool bad)
{
	struct weft_cmd *c = insert(s, CONV, WEFT_CMD_CONV);

	*c = s->c[CONV + 1];
	c->conv.keep = 1;
	for (int i = 0; i < 2; i++) {
		c[i].conv.post.ow = bad ? 8 : 4;
		c[i].conv.post.oh = bad ? 3 : 4;
	}
	s->n = CONV + 2;
	add(s, WEFT_CMD_END);
}

static void keep_channels(struct stream *s, bool bad)
{
	keep_pixels(s, false);
	s->c[LD_W].load.row_bytes *= 2;
	s->c[LD_P].load.row_bytes *= 2;
	s->c[CONV].conv.post.oc = bad ? 17 : 16;
	s->c[CONV + 1].conv.post.oc = bad ? 17 : 16;
	s->c[CONV + 1].conv.post.out_x_stride = 32;
}

static void keep_next(struct stream *s, bool bad)
{
	keep_pixels(s, false);
	s->c[CONV].conv.post.oc = bad ? 15 : 16;
}

static void keep_next_pixels(struct stream *s, bool bad)
{
	keep_pixels(s, false);
	s->c[CONV + 1].conv.post.oh = bad ? 3 : 4;
}

/* Two column tiles at a time: 8 pixels. */
static void keep_pairs_pixels(struct stream *s, bool bad)
{
	keep_pixels(s, false);
	s->c[LD_W].load.row_bytes *= 2;
	s->c[LD_P].load.row_bytes *= 2;
	for (int i = 0; i < 2; i++) {
		struct weft_cmd_conv *c = &s->c[CONV + i].conv;

		c->pairs = 1;
		c->post.oc = 32;
		c->post.out_x_stride = 32;
		c->post.ow = bad ? 3 : 2;
		c->post.oh = bad ? 3 : 4;
	}
}

static void keep_pairs_channels(struct stream *s, bool bad)
{
	keep_pairs_pixels(s, false);
	s->c[LD_W].load.row_bytes += s->c[LD_W].load.row_bytes / 2;
	s->c[LD_P].load.row_bytes += s->c[LD_P].load.row_bytes / 2;
	s->c[CONV].conv.post.oc = s->c[CONV + 1].conv.post.oc = bad ? 33 : 32;
	s->c[CONV + 1].conv.post.out_x_stride = 48;
}

static void keep_pairs_next(struct stream *s, bool bad)
{
	keep_pairs_pixels(s, false);
	s->c[CONV + 1].conv.pairs = !bad;
}

static void keep_mode(struct stream *s, bool bad)
{
	int16_stream(s);
	keep_pixels(s, false);
	s->c[CONV + 1].conv.post.mode = !bad;
}

static void keep_dangling(struct stream *s, bool bad)
{
	keep_pixels(s, false);
	s->c[CONV + 1].conv.keep = bad;
}

static void dma_bytes(struct stream *s, bool bad)
{
	struct weft_cmd_load *l = &s->c[LD_X].load;

	/* The same KiB over and over, 65536 or 65548 times. */
	l->row_bytes = 1024;
	l->n1 = bad ? 4682 : 256;
	l->n2 = bad ? 14 : 256;
}

static void dma_rows(struct stream *s, bool bad)
{
	struct weft_cmd_load *l = &s->c[ST].load;

	l->row_bytes = 1;
	l->n1 = 1024;
	l->n2 = bad ? 513 : 512;
}

static void pool_taps(struct stream *s, bool bad)
{
	struct weft_cmd_pool *k = &s->c[POOL].pool;

	/* 4 * 4 pixels * 16 channels * 2^20 taps on the same bytes. */
	k->ox_step = k->oy_step = k->kx_step = k->ky_step = 0;
	k->n_ky = 1024;
	k->n_kx = bad ? 1025 : 1024;
}

/* ---- cases: order ---- */

static void wait_future(struct stream *s, bool bad)
{
	s->c[CONV].h.wait[WEFT_UNIT_LD] = bad ? 4 : 3;
}

static void wait_self(struct stream *s, bool bad)
{
	s->c[POOL].h.wait[WEFT_UNIT_VE] = bad ? 3 : 2;
}

static void wait_end(struct stream *s, bool bad)
{
	s->c[END].h.wait[WEFT_UNIT_ST] = bad ? 2 : 1;
}

static void no_end(struct stream *s, bool bad)
{
	s->n -= bad;
}

static void after_end(struct stream *s, bool bad)
{
	s->n_words += bad;
}

static void truncated(struct stream *s, bool bad)
{
	s->n_words -= bad;
}

static void bad_op(struct stream *s, bool bad)
{
	s->words[word_of(s, DW)] ^= bad ? 0x40 : 0;
}

static void bad_len(struct stream *s, bool bad)
{
	s->words[word_of(s, DW)] ^= bad ? 0x100 : 0;
}

static void reserved(struct stream *s, bool bad)
{
	s->words[word_of(s, CONV) + 15] |= bad ? UINT64_C(1) << 63 : 0;
}

static void raw_ld_cv(struct stream *s, bool bad)
{
	s->c[CONV].h.wait[WEFT_UNIT_LD] = bad ? 2 : 3;
}

static void raw_cv_ve(struct stream *s, bool bad)
{
	s->c[ELT].h.wait[WEFT_UNIT_CV] = bad ? 0 : 1;
	s->c[ELT].h.wait[WEFT_UNIT_LD] = 3;
}

/* One unit, two commands: what the first wrote is not there yet. */
static void raw_ve_ve(struct stream *s, bool bad)
{
	s->c[DW].h.wait[WEFT_UNIT_VE] = bad ? 0 : 1;
}

static void raw_ve_st(struct stream *s, bool bad)
{
	s->c[ST].h.wait[WEFT_UNIT_VE] = bad ? 2 : 3;
}

/* The store needs only know of the pool; that the conv is done follows. */
static void raw_transitive(struct stream *s, bool bad)
{
	s->c[ST].load.sp_addr = AT_Y;
	s->c[ST].h.wait[WEFT_UNIT_VE] = bad ? 0 : 1;
}

static void war_ld_cv(struct stream *s, bool bad)
{
	struct weft_cmd *c = insert(s, ELT, WEFT_CMD_LOAD);

	/* New weights while the array reads the old ones. */
	*c = s->c[LD_W];
	c->h.wait[WEFT_UNIT_CV] = bad ? 0 : 1;
	s->c[DW + 1].h.wait[WEFT_UNIT_LD] = 4;
}

static void war_ld_st(struct stream *s, bool bad)
{
	struct weft_cmd *c = insert(s, END, WEFT_CMD_LOAD);

	c->load.window = 1;
	c->load.sp_addr = AT_M + 255;
	c->h.wait[WEFT_UNIT_VE] = 3;
	c->h.wait[WEFT_UNIT_ST] = bad ? 0 : 1;
}

static void waw_ld_ve(struct stream *s, bool bad)
{
	struct weft_cmd *c = insert(s, ST, WEFT_CMD_LOAD);

	c->load.window = 1;
	c->load.sp_addr = AT_M;
	c->h.wait[WEFT_UNIT_VE] = bad ? 2 : 3;
	s->c[ST + 1].h.wait[WEFT_UNIT_LD] = 4;
}

static void mem_raw(struct stream *s, bool bad)
{
	struct weft_cmd *c = insert(s, END, WEFT_CMD_LOAD);

	c->load.window = 2;
	c->load.dram_off = 255;
	c->load.sp_addr = 0x20000;
	c->load.row_bytes = 9;
	c->h.wait[WEFT_UNIT_ST] = bad ? 0 : 1;
}

/* Rows of two commands that interlock without meeting: no wait needed. */
static void mem_rows(struct stream *s, bool bad)
{
	struct weft_cmd_load *l;

	mem_raw(s, false);
	s->c[ST].load.row_bytes = 16;
	s->c[ST].load.n1 = 16;
	s->c[ST].load.sp_stride1 = 16;
	s->c[ST].load.dram_stride1 = 48;
	l = &s->c[END].load;
	s->c[END].h.wait[WEFT_UNIT_ST] = 0;
	l->dram_off = 16 + 48 * 15;
	l->row_bytes = bad ? 33 : 32;
	l->n1 = 16;
	l->sp_stride1 = 33;
	l->dram_stride1 = -48;
}

static void mem_war(struct stream *s, bool bad)
{
	s->c[LD_X].load.window = 2;
	s->c[LD_X].load.dram_off = 255;
	s->c[ST].h.wait[WEFT_UNIT_VE] = 0;
	s->c[ST].h.wait[WEFT_UNIT_LD] = bad ? 0 : 1;
	s->c[ST].load.sp_addr = 0x20000;
	/* Something for it to store that nobody had to wait for. */
	insert(s, ST, WEFT_CMD_ELT);
	s->c[ST].elt.post.out_base = 0x20000;
	s->c[ST].elt.post.oc = 256;
	s->c[ST].elt.in_base = AT_M;
	s->c[ST].elt.post.y_max = 127;
	s->c[ST].h.wait[WEFT_UNIT_VE] = 3;
	s->c[ST + 1].h.wait[WEFT_UNIT_VE] = bad ? 0 : 4;
}

/* ---- cases: addresses ---- */

static void sp_load(struct stream *s, bool bad)
{
	s->c[LD_X].load.n1 = 2;
	s->c[LD_X].load.sp_stride1 = (int32_t)s->cfg->sp_bytes - 1024 + bad;
}

static void sp_input(struct stream *s, bool bad)
{
	/* The last row may lie anywhere if it is padding. */
	s->c[CONV].conv.oy_step = (int32_t)s->cfg->sp_bytes;
	s->c[CONV].conv.post.oh = 2;
	s->c[CONV].conv.n_ky = 1;
	s->c[CONV].conv.in_base = AT_X;
	s->c[CONV].conv.iy_start = 0;
	s->c[CONV].conv.in_h = bad ? 2 : 1;
	s->n = ELT;
	add(s, WEFT_CMD_END);
}

static void sp_weights(struct stream *s, bool bad)
{
	int32_t at = (int32_t)s->cfg->sp_bytes - 9 * 256;

	s->c[LD_W].load.sp_addr = at;
	s->c[CONV].conv.w_base = at + (bad ? 16 : 0);
	s->c[DW].dw.w_base = at;
}

static void sp_weights_kernel(struct stream *s, bool bad)
{
	sp_weights(s, false);
	s->c[DW].dw.n_ky = 5;
	s->c[DW].dw.n_kx = 5;
	s->c[DW].dw.w_base += 9 * 256 - 25 * 16 + (bad ? 16 : 0);
}

static void sp_records(struct stream *s, bool bad)
{
	int32_t at = (int32_t)s->cfg->sp_bytes - 256;

	s->c[LD_P].load.sp_addr = at;
	s->c[CONV].conv.p_base = at;
	s->c[DW].dw.p_base = at + (bad ? 16 : 0);
}

/* Records of 8 bytes may begin half as far before the end. */
static void sp_records_short(struct stream *s, bool bad)
{
	sp_records(s, false);
	s->c[CONV].conv.p_short = s->c[DW].dw.p_short = 1;
	s->c[CONV].conv.p_base += 128 + (bad ? 16 : 0);
	s->c[DW].dw.p_base += 128;
}

static void sp_records_short_dw(struct stream *s, bool bad)
{
	sp_records_short(s, false);
	s->c[DW].dw.p_base += bad ? 16 : 0;
}

static void sp_output(struct stream *s, bool bad)
{
	s->c[POOL].pool.post.out_base = (int32_t)s->cfg->sp_bytes - 256 + bad;
	s->c[ST].load.sp_addr = (int32_t)s->cfg->sp_bytes - 256;
}

static void window_end(struct stream *s, bool bad)
{
	s->c[ST].load.dram_off = WINDOW_BYTES - 256 + bad;
}

static void window_begin(struct stream *s, bool bad)
{
	s->c[LD_P].load.dram_off = 128;
	s->c[LD_P].load.row_bytes = 128;
	s->c[LD_P].load.n1 = 2;
	s->c[LD_P].load.sp_stride1 = 128;
	s->c[LD_P].load.dram_stride1 = bad ? -129 : -128;
}

static void window_write(struct stream *s, bool bad)
{
	s->win.w[2].wr = !bad;
}

static void window_read(struct stream *s, bool bad)
{
	s->win.w[1].rd = !bad;
}

static void window_closed(struct stream *s, bool bad)
{
	s->c[ST].load.window = bad ? 3 : 2;
}

static void unwritten_weights(struct stream *s, bool bad)
{
	s->c[LD_W].load.row_bytes -= bad;
}

static void unwritten_input(struct stream *s, bool bad)
{
	s->c[LD_X].load.row_bytes -= bad;
}

/* The second byte of the last element. */
static void unwritten_int16(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[LD_X].load.row_bytes -= bad;
}

/* Weights are as many as in int8. */
static void unwritten_weights_int16(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[DW].dw.post.oc = bad ? 17 : 16;
	s->c[DW].dw.post.oh = s->c[DW].dw.post.ow = 1;
	s->c[DW].dw.w_base = AT_W + 9 * 16 * 15;
	s->c[DW].dw.p_base = AT_P;
	s->n = POOL;
	add(s, WEFT_CMD_END);
}

static void unwritten_dw_int16(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[DW].dw.in_base = AT_X + (bad ? 2 : 0);
}

static void unwritten_pool_input_int16(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[POOL].pool.in_base = AT_X + (bad ? 2 : 0);
}

static void unwritten_pool_int16(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[ST].load.row_bytes += bad;
}

static void unwritten_store(struct stream *s, bool bad)
{
	s->c[ST].load.row_bytes += bad;
}

/* The channels between two pixels stay unwritten, and unread. */
static void unwritten_gap(struct stream *s, bool bad)
{
	s->c[LD_X].load.row_bytes = 15;
	s->c[LD_X].load.n1 = 64;
	s->c[LD_X].load.sp_stride1 = 16;
	s->c[LD_X].load.dram_stride1 = 16;
	s->c[CONV].conv.run_len = bad ? 16 : 15;
	s->c[CONV].conv.n_kx = 3;
	s->c[ELT].elt.post.b_base = AT_Y;
}

static void overlap_input(struct stream *s, bool bad)
{
	s->c[CONV].conv.post.out_base = AT_X + (bad ? 1023 : 1024);
	s->c[ELT].elt.in_base = s->c[CONV].conv.post.out_base;
}

static void overlap_weights(struct stream *s, bool bad)
{
	s->c[DW].dw.post.out_base = AT_W + (bad ? 143 : 144);
	s->c[POOL].pool.in_base = s->c[DW].dw.post.out_base;
	/* The array must be done with them. */
	s->c[DW].h.wait[WEFT_UNIT_CV] = 1;
}

/* Elementwise in place is fine, one pixel further is not. */
static void overlap_in_place(struct stream *s, bool bad)
{
	s->c[ELT].elt.post.out_base = AT_Y + (bad ? 16 : 0);
	s->c[DW].dw.in_base = s->c[ELT].elt.post.out_base;
}

static void overlap_pixels(struct stream *s, bool bad)
{
	s->c[ELT].elt.post.out_x_stride = bad ? 15 : 16;
}

static void overlap_pixels_int16(struct stream *s, bool bad)
{
	int16_stream(s);
	s->c[ELT].elt.post.out_x_stride = bad ? 30 : 32;
}

static void overlap_rows(struct stream *s, bool bad)
{
	s->c[CONV].conv.post.out_y_stride = bad ? 0 : 128;
}

/* In place is for elements of one size. */
static void overlap_sizes(struct stream *s, bool bad)
{
	float_stream(s);
	s->c[ELT].elt.in_x_stride = s->c[ELT].elt.post.out_x_stride = 32;
	s->c[ELT].elt.in_y_stride = s->c[ELT].elt.post.out_y_stride = 256;
	s->c[ELT].elt.in_base = s->c[ELT].elt.post.out_base = AT_Y;
	s->c[ELT].elt.post.oh = s->c[ELT].elt.post.ow = 4;
	s->c[ELT].elt.post.out_fmt = bad ? 4 : 1;
	s->n = DW;
	add(s, WEFT_CMD_END);
}

static void overlap_fp16(struct stream *s, bool bad)
{
	float_stream(s);
	s->c[ELT].elt.post.out_fmt = bad ? 4 : 3;
	s->n = DW;
	add(s, WEFT_CMD_END);
}

static void unwritten_fp16(struct stream *s, bool bad)
{
	float_stream(s);
	/* The last pixel's second half is behind the tensor. */
	s->c[ELT].elt.post.x_fmt = bad ? 4 : 0;
}

static void unwritten_addend_fp16(struct stream *s, bool bad)
{
	float_stream(s);
	s->c[ELT].elt.post.b_fmt = bad ? 4 : 0;
}

/* ---- cases: alu, behind the good stream's store; the model has it ---- */

enum { ALU = ST + 1, ALU_END };

static struct weft_cmd_alu *alu_stream(struct stream *s, int32_t func)
{
	struct weft_cmd *c = &s->c[END];

	s->cfg = weft_config_of_model("w16");
	weft_cmd_init(c, WEFT_CMD_ALU);
	c->alu.func = func;
	c->alu.n0 = 16;
	c->alu.n1 = 4;
	c->alu.a_base = AT_X;
	c->alu.b_base = AT_X + 512;
	c->alu.a_s0 = c->alu.out_s0 = 1;
	c->alu.a_s1 = c->alu.out_s1 = 16;
	c->alu.out_base = 0x10000;
	c->h.wait[WEFT_UNIT_LD] = 3;
	c->h.wait[WEFT_UNIT_CV] = 1;
	add(s, WEFT_CMD_END);
	return &c->alu;
}

static void alu_absent(struct stream *s, bool bad)
{
	static struct weft_config cfg;

	alu_stream(s, 0);
	cfg = *s->cfg;
	cfg.features &= ~(bad ? WEFT_FEATURE_ALU : 0);
	s->cfg = &cfg;
}

static void alu_type(struct stream *s, bool bad)
{
	alu_stream(s, 0)->c_type = bad ? 7 : 6;
}

static void alu_func(struct stream *s, bool bad)
{
	alu_stream(s, bad ? 29 : 28)->out_s1 = 0;
}

static void alu_clamp(struct stream *s, bool bad)
{
	struct weft_cmd_alu *c = alu_stream(s, 0);

	c->clamp = bad;
	c->lo = 1;
}

static void alu_table_step(struct stream *s, bool bad)
{
	alu_stream(s, 19)->b_s1 = bad;
}

static void alu_scatter_step(struct stream *s, bool bad)
{
	struct weft_cmd_alu *c = alu_stream(s, 21);

	c->out_base = AT_Z;
	c->out_s1 = bad ? 16 : 0;
}

static void alu_unwritten(struct stream *s, bool bad)
{
	alu_stream(s, 0)->a_base = bad ? 1024 - 63 : 1024 - 64;
}

/* Two elements of a type side by side, of which the last byte was not written. */
static void alu_unwritten_of(struct stream *s, int32_t type, int32_t bytes, bool bad)
{
	struct weft_cmd_alu *c = alu_stream(s, 0);

	c->n0 = 2;
	c->n1 = 1;
	c->a_type = type;
	c->a_s0 = bytes;
	c->a_base = 1024 - 2 * bytes + bad;
}

static void alu_unwritten_int16(struct stream *s, bool bad)
{
	alu_unwritten_of(s, 1, 2, bad);
}

static void alu_unwritten_int32(struct stream *s, bool bad)
{
	alu_unwritten_of(s, 2, 4, bad);
}

static void alu_unwritten_int48(struct stream *s, bool bad)
{
	alu_unwritten_of(s, 3, 8, bad);
}

static void alu_table_unwritten(struct stream *s, bool bad)
{
	struct weft_cmd_alu *c = alu_stream(s, 20);

	c->b_type = 1;
	c->idx_step = 2;
	c->idx_last = bad ? 255 : 254;
}

static void alu_scatter_unwritten(struct stream *s, bool bad)
{
	struct weft_cmd_alu *c = alu_stream(s, 21);

	c->out_s1 = 0;
	c->out_base = AT_X + 64;
	c->b_base = AT_W;
	c->a_base = AT_W;
	c->idx_step = 16;
	c->idx_last = bad ? 60 : 59;
}

static void alu_twice(struct stream *s, bool bad)
{
	alu_stream(s, 0)->out_s1 = bad ? 15 : 16;
}

static void alu_reversed_in_place(struct stream *s, bool bad)
{
	struct weft_cmd_alu *c = alu_stream(s, 0);

	c->out_base = AT_X + (bad ? 15 : 0);
	c->out_s0 = bad ? 0xfffff : 1;
}

static void alu_reduced_twice(struct stream *s, bool bad)
{
	alu_stream(s, 22)->out_s0 = bad ? 0 : 1;
}

static void alu_large(struct stream *s, bool bad)
{
	struct weft_cmd_alu *c = alu_stream(s, 22);

	c->n0 = 1 << 3;
	c->n1 = 65535;
	c->n2 = 512;
	c->a_s0 = c->a_s1 = c->a_s2 = 0;
	c->out_s2 = 32;
	c->n3 = bad ? 2 : 1;
	c->out_s3 = 32 * 512;
}

static void alu_beyond(struct stream *s, bool bad)
{
	alu_stream(s, 0)->out_base = 0x80000 - (bad ? 63 : 64);
}

static void raw_elt(struct stream *s, bool bad)
{
	s->cfg = weft_config_of_model("w16");
	s->c[ELT].elt.post.raw = bad;
}

static void raw_adds(struct stream *s, bool bad)
{
	struct weft_cmd_post *p = &s->c[CONV].conv.post;

	s->cfg = weft_config_of_model("w16");
	p->out_x_stride = 64;
	p->out_y_stride = 512;
	p->out_base = 0x10000;
	p->raw = 1;
	p->add = bad;
	p->b_base = AT_X;
	s->n = ELT;
	add(s, WEFT_CMD_END);
}

static void raw_overlap(struct stream *s, bool bad)
{
	raw_adds(s, false);
	s->c[CONV].conv.post.out_x_stride = bad ? 63 : 64;
}

static void raw_absent(struct stream *s, bool bad)
{
	static struct weft_config without;

	raw_adds(s, false);
	without = *s->cfg;
	without.features &= ~WEFT_FEATURE_RAW;
	if (bad)
		s->cfg = &without;
}

static void int4_store(struct stream *s, bool bad)
{
	s->cfg = weft_config_of_model("w16");
	s->c[LD_X].load.int4 = 1;
	s->c[ST].load.int4 = bad;
}

static void int4_window(struct stream *s, bool bad)
{
	struct weft_cmd_load *c = &s->c[LD_X].load;

	s->cfg = weft_config_of_model("w16");
	c->int4 = 1;
	c->dram_off = WINDOW_BYTES - (bad ? 511 : 512);
}

static void coded_store(struct stream *s, bool bad)
{
	s->cfg = weft_config_of_model("w16");
	s->c[ST].load.coded = bad;
}

static void centre_store(struct stream *s, bool bad)
{
	s->cfg = weft_config_of_model("w16");
	s->c[ST].load.centre = -bad;
}

static void centre_plain(struct stream *s, bool bad)
{
	s->cfg = weft_config_of_model("w16");
	s->c[LD_X].load.coded = bad ? 0 : 1;
	s->c[LD_X].load.centre = 5;
}

/* The row that the first load brings, coded in 30 words. */
static struct weft_cmd_load *coded(struct stream *s)
{
	struct weft_cmd_load *c = &s->c[LD_X].load;

	s->cfg = weft_config_of_model("w16");
	c->coded = 30;
	return c;
}

static void coded_window(struct stream *s, bool bad)
{
	struct weft_cmd_load *c = coded(s);

	c->dram_off = WINDOW_BYTES - (bad ? 29 : 30) * 16;
}

static void coded_int4(struct stream *s, bool bad) { coded(s)->int4 = bad; }
static void coded_off(struct stream *s, bool bad) { coded(s)->dram_off = bad ? 8 : 16; }

/* The row is long enough for what reads it. */
static void coded_bytes(struct stream *s, bool bad) { coded(s)->row_bytes += bad ? 8 : 16; }

static void coded_rows(struct stream *s, bool bad)
{
	struct weft_cmd_load *c = coded(s);

	c->n2 = bad ? 2 : 1;
	c->sp_stride2 = 0;
}

static void coded_aside(struct stream *s, bool bad) { coded(s)->sp_addr = AT_X + (bad ? 8 : 0); }

static void coded_absent(struct stream *s, bool bad)
{
	static struct weft_config without;

	coded(s);
	without = *s->cfg;
	without.features &= ~WEFT_FEATURE_CODED;
	if (bad)
		s->cfg = &without;
}

struct bad_case {
	const char *name;
	void (*commands)(struct stream *s, bool bad);
	void (*words)(struct stream *s, bool bad);
	enum weft_verify_rule rule;
	size_t cmd;
};

#define COMMANDS(f, rule, cmd) {#f, f, NULL, WEFT_VERIFY_##rule, cmd}
#define WORDS(f, rule, cmd) {#f, NULL, f, WEFT_VERIFY_##rule, cmd}

static const struct bad_case cases[] = {
	COMMANDS(bad_field, BAD_FIELD, CONV),
	COMMANDS(low_field, BAD_FIELD, POOL),
	COMMANDS(misaligned, BAD_ALIGN, CONV),
	COMMANDS(wrong_mode, MODE, ELT),
	COMMANDS(absent_mode, MODE, CONV),
	COMMANDS(absent_float, MODE, CONV),
	COMMANDS(odd_output, BAD_ALIGN, ELT),
	COMMANDS(odd_step, BAD_ALIGN, CONV),
	COMMANDS(odd_run, BAD_ALIGN, CONV),
	COMMANDS(odd_addend, BAD_ALIGN, POOL),
	COMMANDS(odd_fp16, BAD_ALIGN, POOL),
	COMMANDS(format_int8, MODE_FIELD, POOL),
	COMMANDS(scale_int16, MODE_FIELD, DW),
	COMMANDS(mul_float, MODE_FIELD, ELT),
	COMMANDS(weights_zp_float, MODE_FIELD, DW),
	COMMANDS(fp16_conv, MODE_FIELD, CONV),
	COMMANDS(sum_float, MODE_FIELD, POOL),
	COMMANDS(limit_nan, TYPE_RANGE, CONV),
	COMMANDS(clamp_float, CLAMP_ORDER, ELT),
	COMMANDS(scale16_int8, MODE_FIELD, CONV),
	COMMANDS(scale16_dw, MODE_FIELD, DW),
	COMMANDS(scale16_elt, MODE_FIELD, ELT),
	COMMANDS(scale16_pool, MODE_FIELD, POOL),
	COMMANDS(table_and_add, MODE_FIELD, ELT),
	COMMANDS(table_aside, MODE_FIELD, ELT),
	COMMANDS(table_absent, USE_BEFORE_LOAD, ELT),
	COMMANDS(dw_table_aside, MODE_FIELD, DW),
	COMMANDS(dw_table_absent, USE_BEFORE_LOAD, DW),
	COMMANDS(factor_absent, USE_BEFORE_LOAD, ELT),
	COMMANDS(scale16_twice, MODE_FIELD, CONV),
	COMMANDS(zero_point_conv, MODE_FIELD, CONV),
	COMMANDS(zero_point_dw, MODE_FIELD, DW),
	COMMANDS(type_low, TYPE_RANGE, CONV),
	COMMANDS(type_high, TYPE_RANGE, ELT),
	COMMANDS(type_unused, TYPE_RANGE, POOL),
	COMMANDS(type_int16, TYPE_RANGE, DW),
	COMMANDS(clamp_first, CLAMP_ORDER, CONV),
	COMMANDS(clamp_sum, CLAMP_ORDER, ELT),
	COMMANDS(dw_adds, ADD_NOT_ALLOWED, DW),
	COMMANDS(pool_adds, ADD_NOT_ALLOWED, POOL),
	COMMANDS(long_line, LINE_TOO_LONG, DW),
	COMMANDS(long_line_int16, LINE_TOO_LONG, DW),
	COMMANDS(long_line_kernel, LINE_TOO_LONG, DW),
	COMMANDS(kernel_columns, BAD_FIELD, DW),
	COMMANDS(kernel_rows, BAD_FIELD, DW),
	COMMANDS(kernel_lacks, MODE, DW),
	COMMANDS(dw_table_lacks, MODE, DW),
	COMMANDS(far_row, COORD_RANGE, CONV),
	COMMANDS(far_byte, COORD_RANGE, CONV),
	COMMANDS(keep_pixels, KEEP_SHAPE, CONV),
	COMMANDS(keep_channels, KEEP_SHAPE, CONV),
	COMMANDS(keep_next, KEEP_SHAPE, CONV + 1),
	COMMANDS(keep_next_pixels, KEEP_SHAPE, CONV + 1),
	COMMANDS(keep_mode, KEEP_SHAPE, CONV + 1),
	COMMANDS(keep_pairs_pixels, KEEP_SHAPE, CONV),
	COMMANDS(keep_pairs_channels, KEEP_SHAPE, CONV),
	COMMANDS(keep_pairs_next, KEEP_SHAPE, CONV + 1),
	COMMANDS(pairs_lacks, MODE, CONV),
	COMMANDS(conv_short_lacks, MODE, CONV),
	COMMANDS(turns_lacks, MODE, CONV),
	COMMANDS(dw_short_lacks, MODE, DW),
	COMMANDS(keep_dangling, KEEP_DANGLING, CONV + 1),
	COMMANDS(dma_bytes, TOO_LARGE, LD_X),
	COMMANDS(dma_rows, TOO_LARGE, ST),
	COMMANDS(pool_taps, TOO_LARGE, POOL),
	COMMANDS(wait_future, WAIT_FUTURE, CONV),
	COMMANDS(wait_self, WAIT_FUTURE, POOL),
	COMMANDS(wait_end, WAIT_FUTURE, END),
	COMMANDS(no_end, NO_END, END),
	WORDS(after_end, AFTER_END, END),
	WORDS(truncated, TRUNCATED, END),
	WORDS(bad_op, BAD_OP, DW),
	WORDS(bad_len, BAD_LEN, DW),
	WORDS(reserved, RESERVED_BITS, CONV),
	COMMANDS(raw_ld_cv, RACE_RAW, CONV),
	COMMANDS(raw_cv_ve, RACE_RAW, ELT),
	COMMANDS(raw_ve_ve, RACE_RAW, DW),
	COMMANDS(raw_ve_st, RACE_RAW, ST),
	COMMANDS(raw_transitive, RACE_RAW, ST),
	COMMANDS(war_ld_cv, RACE_WAR, ELT),
	COMMANDS(war_ld_st, RACE_WAR, END),
	COMMANDS(waw_ld_ve, RACE_WAW, ST),
	COMMANDS(mem_raw, MEM_RACE, END),
	COMMANDS(mem_rows, MEM_RACE, END),
	COMMANDS(mem_war, MEM_RACE, ST + 1),
	COMMANDS(sp_load, SP_RANGE, LD_X),
	COMMANDS(sp_input, SP_RANGE, CONV),
	COMMANDS(sp_weights, SP_RANGE, CONV),
	COMMANDS(sp_weights_kernel, SP_RANGE, DW),
	COMMANDS(sp_records, SP_RANGE, DW),
	COMMANDS(sp_records_short, SP_RANGE, CONV),
	COMMANDS(sp_records_short_dw, SP_RANGE, DW),
	COMMANDS(sp_output, SP_RANGE, POOL),
	COMMANDS(window_end, WINDOW, ST),
	COMMANDS(window_begin, WINDOW, LD_P),
	COMMANDS(window_write, WINDOW_PERM, ST),
	COMMANDS(window_read, WINDOW_PERM, LD_X),
	COMMANDS(window_closed, WINDOW_PERM, ST),
	COMMANDS(unwritten_weights, USE_BEFORE_LOAD, CONV),
	COMMANDS(unwritten_input, USE_BEFORE_LOAD, CONV),
	COMMANDS(unwritten_int16, USE_BEFORE_LOAD, CONV),
	COMMANDS(unwritten_weights_int16, USE_BEFORE_LOAD, DW),
	COMMANDS(unwritten_dw_int16, USE_BEFORE_LOAD, DW),
	COMMANDS(unwritten_pool_input_int16, USE_BEFORE_LOAD, POOL),
	COMMANDS(unwritten_pool_int16, USE_BEFORE_LOAD, ST),
	COMMANDS(unwritten_store, USE_BEFORE_LOAD, ST),
	COMMANDS(unwritten_gap, USE_BEFORE_LOAD, CONV),
	COMMANDS(overlap_input, OVERLAP_SELF, CONV),
	COMMANDS(overlap_weights, OVERLAP_SELF, DW),
	COMMANDS(overlap_in_place, OVERLAP_SELF, ELT),
	COMMANDS(overlap_pixels, OVERLAP_SELF, ELT),
	COMMANDS(overlap_pixels_int16, OVERLAP_SELF, ELT),
	COMMANDS(overlap_sizes, OVERLAP_SELF, ELT),
	COMMANDS(overlap_fp16, OVERLAP_SELF, ELT),
	COMMANDS(overlap_rows, OVERLAP_SELF, CONV),
	COMMANDS(unwritten_fp16, USE_BEFORE_LOAD, ELT),
	COMMANDS(unwritten_addend_fp16, USE_BEFORE_LOAD, ELT),
	COMMANDS(alu_absent, BAD_OP, ALU),
	COMMANDS(alu_type, BAD_FIELD, ALU),
	COMMANDS(alu_func, BAD_FIELD, ALU),
	COMMANDS(alu_clamp, CLAMP_ORDER, ALU),
	COMMANDS(alu_table_step, MODE_FIELD, ALU),
	COMMANDS(alu_scatter_step, MODE_FIELD, ALU),
	COMMANDS(alu_unwritten, USE_BEFORE_LOAD, ALU),
	COMMANDS(alu_unwritten_int16, USE_BEFORE_LOAD, ALU),
	COMMANDS(alu_unwritten_int32, USE_BEFORE_LOAD, ALU),
	COMMANDS(alu_unwritten_int48, USE_BEFORE_LOAD, ALU),
	COMMANDS(alu_table_unwritten, USE_BEFORE_LOAD, ALU),
	COMMANDS(alu_scatter_unwritten, USE_BEFORE_LOAD, ALU),
	COMMANDS(alu_twice, OVERLAP_SELF, ALU),
	COMMANDS(alu_reversed_in_place, OVERLAP_SELF, ALU),
	COMMANDS(alu_reduced_twice, OVERLAP_SELF, ALU),
	COMMANDS(alu_large, TOO_LARGE, ALU),
	COMMANDS(alu_beyond, SP_RANGE, ALU),
	COMMANDS(raw_elt, MODE_FIELD, ELT),
	COMMANDS(raw_adds, ADD_NOT_ALLOWED, CONV),
	COMMANDS(raw_overlap, OVERLAP_SELF, CONV),
	COMMANDS(raw_absent, MODE, CONV),
	COMMANDS(int4_store, MODE_FIELD, ST),
	COMMANDS(int4_window, WINDOW, LD_X),
	COMMANDS(coded_store, MODE_FIELD, ST),
	COMMANDS(centre_store, MODE_FIELD, ST),
	COMMANDS(centre_plain, MODE_FIELD, LD_X),
	COMMANDS(coded_window, WINDOW, LD_X),
	COMMANDS(coded_int4, MODE_FIELD, LD_X),
	COMMANDS(coded_off, MODE_FIELD, LD_X),
	COMMANDS(coded_bytes, MODE_FIELD, LD_X),
	COMMANDS(coded_rows, MODE_FIELD, LD_X),
	COMMANDS(coded_aside, MODE_FIELD, LD_X),
	COMMANDS(coded_absent, MODE, LD_X),
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static int verify_case(const struct bad_case *k, bool bad, struct weft_verify_result *r)
{
	static struct stream s;

	good(&s);
	if (k && k->commands)
		k->commands(&s, bad);
	encode(&s);
	if (k && k->words)
		k->words(&s, bad);
	return weft_verify(s.cfg, s.words, s.n_words, &s.win, r);
}

static void good_passes(void **state)
{
	struct weft_verify_result r;

	(void)state;
	if (verify_case(NULL, false, &r))
		fail_msg("%s", r.text);
	assert_int_equal(r.rule, WEFT_VERIFY_NONE);
	assert_int_equal(r.cmd, END + 1);
	assert_string_equal(r.text, "");
}

static void nearly_bad_passes(void **state)
{
	struct weft_verify_result r;

	(void)state;
	for (size_t i = 0; i < N_CASES; i++)
		if (verify_case(&cases[i], false, &r))
			fail_msg("case %s without its fault: %s", cases[i].name, r.text);
}

static void each_is_refused(void **state)
{
	struct weft_verify_result r;

	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		const struct bad_case *k = &cases[i];
		char want[64];
		int ret = verify_case(k, true, &r);

		print_message("%s: %s\n", k->name, r.text);
		if (ret >= 0 || r.rule != k->rule || r.cmd != k->cmd)
			fail_msg("case %s: expected %s at command %zu, got %s at %zu (%s)", k->name,
				 weft_verify_rule_name(k->rule), k->cmd, weft_verify_rule_name(r.rule), r.cmd, r.text);
		snprintf(want, sizeof(want), ": %s: ", weft_verify_rule_name(k->rule));
		assert_non_null(strstr(r.text, want));
		assert_null(strchr(r.text, '\n'));
		snprintf(want, sizeof(want), " 0x%x was never written", r.sp_addr);
		if (k->rule == WEFT_VERIFY_USE_BEFORE_LOAD)
			assert_non_null(strstr(r.text, want));
	}
}

/* Every rule has a case here or in the test below. */
static void every_rule_is_tested(void **state)
{
	(void)state;
	for (int rule = WEFT_VERIFY_NONE + 1; rule < WEFT_VERIFY_N_RULES; rule++) {
		bool seen = rule == WEFT_VERIFY_TOO_MANY_COMMANDS;

		for (size_t i = 0; i < N_CASES; i++)
			seen |= cases[i].rule == (enum weft_verify_rule)rule;
		if (!seen)
			fail_msg("no case for %s", weft_verify_rule_name((enum weft_verify_rule)rule));
	}
}

/* Loads of the same byte, as many as waits can count, and one more. */
static void too_many_commands(void **state)
{
	const struct weft_cmd_info *load = weft_cmd_info(WEFT_CMD_LOAD);
	size_t most = WEFT_VERIFY_MAX_CMDS + 1, n = 0;
	uint64_t *words = malloc((most + 1) * load->n_words * sizeof(*words));
	struct weft_verify_windows win = {.w[1] = {1, true, false}};
	struct weft_verify_result r;
	struct weft_cmd c;

	(void)state;
	assert_non_null(words);
	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.load.window = 1;
	for (size_t i = 0; i < WEFT_VERIFY_MAX_CMDS; i++)
		n += weft_cmd_encode(&c, words + n);
	weft_cmd_init(&c, WEFT_CMD_END);
	weft_cmd_encode(&c, words + n);
	if (weft_verify(weft_config_find("w16"), words, n + 2, &win, &r))
		fail_msg("%s", r.text);
	memcpy(words + n, words, load->n_words * sizeof(*words));
	n += load->n_words;
	weft_cmd_encode(&c, words + n);
	assert_true(weft_verify(weft_config_find("w16"), words, n + 2, &win, &r) < 0);
	assert_int_equal(r.rule, WEFT_VERIFY_TOO_MANY_COMMANDS);
	free(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_passes),
		cmocka_unit_test(nearly_bad_passes),
		cmocka_unit_test(each_is_refused),
		cmocka_unit_test(every_rule_is_tested),
		cmocka_unit_test(too_many_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

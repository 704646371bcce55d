/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single operators with their operands on chip: hand-made streams, timed from
 * the retirement of the last load to that of the command.
 */
#include <stdio.h>
#include <stdlib.h>

#include "weft/gen/cmd.h"
#include "weft/gen/config.h"
#include "tools/weft/weft_cmd.h"

#define MAX_CMDS 8

/* Arithmetic modes as commands number them; bytes of an element of the input. */
enum mode { MODE_INT8, MODE_INT16, MODE_FP8, N_MODES };
static const int elem_bytes[N_MODES] = { 1, 2, 1 };

struct micro {
	const char *name;
	enum mode mode;
	uint64_t macs;
	struct weft_cmd cmds[MAX_CMDS];
	int n_cmds;
	uint64_t loaded, done;     /* cycles of retirement */
};

static struct weft_cmd *add(struct micro *m, int op)
{
	struct weft_cmd *c = &m->cmds[m->n_cmds++];

	weft_cmd_init(c, (unsigned)op);
	return c;
}

/* Fill [addr, addr+len) of the scratchpad from the constants' window. */
static void load(struct micro *m, uint32_t addr, uint32_t len)
{
	struct weft_cmd *c = add(m, WEFT_CMD_LOAD);

	c->load.window = WEFT_WIN_CONST;
	c->load.sp_addr = (int32_t)addr;
	c->load.row_bytes = (int32_t)len;
}

/* Results have the input's type; of float8 that is E4M3. */
static void post(struct weft_cmd_post *p, enum mode mode, uint32_t out, int ow, int oh, int oc)
{
	p->mode = mode;
	p->out_base = (int32_t)out;
	p->out_x_stride = oc * elem_bytes[mode];
	p->out_y_stride = oc * ow * elem_bytes[mode];
	p->ow = ow;
	p->oh = oh;
	p->oc = oc;
	p->y_min = mode == MODE_FP8 ? -0x400 : -128;   /* the pattern of minus infinity */
	p->y_max = mode == MODE_FP8 ? 0x7c00 : 127;
}

/* Input, output and weights in regions of their own, as far as they fit. */
static void depthwise(struct micro *m, int size, int channels, int k, const struct weft_config *cfg)
{
	int elem = elem_bytes[m->mode];
	uint32_t half = cfg->sp_bytes / 2, in_bytes = (uint32_t)(size * size * channels * elem);
	uint32_t w_bytes = (uint32_t)(channels * (k * k + WEFT_PARAM_BYTES)), w_at = cfg->sp_bytes - cfg->sp_bytes / 8;

	w_at = half + in_bytes > w_at ? cfg->sp_bytes - w_bytes / 16 * 16 : w_at;
	m->macs = (uint64_t)(size * size * channels) * (uint64_t)(k * k);
	load(m, 0, in_bytes);
	load(m, w_at, w_bytes);
	struct weft_cmd *c = add(m, WEFT_CMD_DW);
	c->h.wait[WEFT_UNIT_LD] = 2;
	post(&c->dw.post, m->mode, half, size, size, channels);
	c->dw.in_x_stride = channels * elem;
	c->dw.in_y_stride = channels * size * elem;
	c->dw.in_h = c->dw.in_w = size;
	c->dw.iy_start = c->dw.ix_start = -(k / 2);
	c->dw.n_ky = c->dw.n_kx = k > 3 ? k : 0;
	c->dw.w_base = (int32_t)w_at;
	c->dw.p_base = (int32_t)(w_at + (uint32_t)(k * k * channels));
	add(m, WEFT_CMD_END);
}

/* sum: an addition behind it, mode 0 */
static void convolution(struct micro *m, int size, int ic, int oc, int k, bool sum, const struct weft_config *cfg)
{
	int elem = elem_bytes[m->mode];
	uint32_t eighth = cfg->sp_bytes / 8, in_bytes = (uint32_t)(size * size * ic * elem);
	uint32_t run = (uint32_t)(k * ic), chunks = (run + cfg->n - 1) / cfg->n;
	uint32_t tiles = ((uint32_t)oc + cfg->n - 1) / cfg->n;
	uint32_t w_bytes = tiles * (uint32_t)k * chunks * cfg->n * cfg->n, w_at = 5 * eighth;

	m->macs = (uint64_t)(size * size) * (uint64_t)(k * k * ic) * (uint64_t)oc;
	load(m, 0, in_bytes);
	load(m, w_at, w_bytes + tiles * cfg->n * WEFT_PARAM_BYTES);
	struct weft_cmd *c = add(m, WEFT_CMD_CONV);
	c->h.wait[WEFT_UNIT_LD] = 2;
	post(&c->conv.post, m->mode, 3 * eighth, size, size, oc);
	int pad = k / 2, pixel = ic * elem, row = size * pixel;
	c->conv.in_base = (-pad * (row + pixel)) & 0xfffff;
	c->conv.oy_step = c->conv.ky_step = row;
	c->conv.ox_step = pixel;
	c->conv.run_len = (int32_t)run * elem;
	c->conv.n_ky = k;
	c->conv.in_h = size;
	c->conv.iy_start = -pad;
	c->conv.x_limit = row;
	c->conv.xb_start = -pad * pixel;
	c->conv.w_base = (int32_t)w_at;
	c->conv.p_base = (int32_t)(w_at + w_bytes);
	if (sum) {
		c->conv.post.add = 1;
		c->conv.post.b_base = (int32_t)(7 * eighth);
		c->conv.post.b_x_stride = oc;
		c->conv.post.b_y_stride = oc * size;
		c->conv.post.a_shift = c->conv.post.b_shift = c->conv.post.s_shift = 31;
		c->conv.post.a_mul = c->conv.post.b_mul = c->conv.post.s_mul = 1 << 30;
		c->conv.post.s_min = -128;
		c->conv.post.s_max = 127;
		/* Before the command: its second addend. */
		struct weft_cmd conv = *c;
		m->n_cmds--;
		load(m, 7 * eighth, (uint32_t)(size * size * oc));
		conv.h.wait[WEFT_UNIT_LD] = 3;
		m->cmds[m->n_cmds++] = conv;
	}
	add(m, WEFT_CMD_END);
}

static int on_retire(void *user, const struct weft_retire *r)
{
	struct micro *m = user;

	if (r->unit == WEFT_UNIT_LD)
		m->loaded = r->cycle;
	else
		m->done = r->cycle;
	return 0;
}

static int run(struct micro *m, const struct weft_dev_options *o, micro_result *result, void *user)
{
	uint64_t words[MAX_CMDS * WEFT_CMD_MAX_WORDS];
	char msg[WEFT_DEV_MSG] = "";
	struct weft_job_result r;
	size_t n = 0;
	weft_dev *dev;
	weft_buf *consts;
	weft_job job;

	for (int i = 0; i < m->n_cmds; i++)
		n += weft_cmd_encode(&m->cmds[i], words + n);
	if (weft_dev_open(o, &dev, msg))
		return fail(EXIT_DEVICE, "%s", msg);
	if (weft_buf_alloc(dev, 1 << 20, &consts)) {
		weft_dev_close(dev);
		return fail(EXIT_DEVICE, "out of memory");
	}
	/* Parameter records of all zero have shift 0, which rounds nothing useful
	 * but is defined; 8 in every byte gives legal shifts. */
	uint8_t fill[4096];
	for (size_t i = 0; i < sizeof(fill); i++)
		fill[i] = 8;
	for (size_t i = 0; i < 256; i++)
		weft_buf_write(consts, i * sizeof(fill), fill, sizeof(fill));
	const struct weft_window win = { .buf = consts, .rd = true };
	weft_dev_observe(dev, on_retire, m);
	int err = weft_submit(dev, words, n, &win, 1, &job);
	if (!err)
		err = weft_finish(dev, job, 20000, &r) ? -1 : r.status;
	if (err)
		fail(0, "%s: %s", m->name, weft_dev_error(dev));
	else
		result(user, m->name, m->done - m->loaded, m->macs,
		       r.cpu_seconds > 0 ? (double)r.sim_cycles / r.cpu_seconds : 0);
	weft_buf_free(consts);
	weft_dev_close(dev);
	return err ? EXIT_DEVICE : 0;
}

int micro_benchmarks(const struct weft_session_options *s, micro_result *result, void *user)
{
	struct weft_dev_options o = weft_dev_options_default();
	const struct weft_config *cfg = weft_config_find(s->config);
	struct micro m[] = {
		{ .name = "depthwise 3x3 56x56x64" },
		{ .name = "conv 3x3 16x16x64 to 64" },
		{ .name = "conv 1x1 16x16x64 to 64" },
		{ .name = "depthwise 3x3 40x40x64 int16", .mode = MODE_INT16 },
		{ .name = "conv 3x3 16x16x64 to 64 int16", .mode = MODE_INT16 },
		{ .name = "depthwise 3x3 56x56x64 fp8", .mode = MODE_FP8 },
		{ .name = "conv 3x3 16x16x64 to 64 fp8", .mode = MODE_FP8 },
		{ .name = "conv 1x1 48x48x8 to 16" },
		{ .name = "conv 1x1 3x3x256 to 256" },
		{ .name = "conv 3x3 32x32x16 to 16" },
		{ .name = "conv 3x3 32x32x16 to 16, add" },
		{ .name = "depthwise 5x5 28x28x128" },
		{ .name = "depthwise 7x7 28x28x128" },
		{ .name = "depthwise 5x5 28x28x64 int16", .mode = MODE_INT16 },
	};
	int status = 0;

	if (!cfg || cfg->n != 16)
		return 0;              /* the shapes are w16's */
	o.kind = WEFT_DEV_RTL;
	o.config = s->config;
	o.memory = s->memory;
	depthwise(&m[0], 56, 64, 3, cfg);
	convolution(&m[1], 16, 64, 64, 3, false, cfg);
	convolution(&m[2], 16, 64, 64, 1, false, cfg);
	depthwise(&m[3], 40, 64, 3, cfg);
	convolution(&m[4], 16, 64, 64, 3, false, cfg);
	depthwise(&m[5], 56, 64, 3, cfg);
	convolution(&m[6], 16, 64, 64, 3, false, cfg);
	convolution(&m[7], 48, 8, 16, 1, false, cfg);
	convolution(&m[8], 3, 256, 256, 1, false, cfg);
	convolution(&m[9], 32, 16, 16, 3, false, cfg);
	convolution(&m[10], 32, 16, 16, 3, true, cfg);
	depthwise(&m[11], 28, 128, 5, cfg);
	depthwise(&m[12], 28, 128, 7, cfg);
	depthwise(&m[13], 28, 64, 5, cfg);
	for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
		if (!(cfg->features >> m[i].mode & 1))
			continue;
		int one = run(&m[i], &o, result, user);
		status = status ? status : one;
	}
	return status;
}

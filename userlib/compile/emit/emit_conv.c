/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions on the array.
 *
 * Source: include/spec/cmd.toml, conv and the post group.
 */
#include <errno.h>

#include "userlib/compile/estimate/cost.h"
#include "emit.h"

/*
 * The taps that a command takes: n_ky kernel rows from ky on, n_kx runs of each, and of every
 * run the elements [j0, +run). Runs begin at channel c0 of the input's pixels, of which
 * `width` channels count.
 */
struct taps { int64_t ky, n_ky, n_kx, c0, width, j0, run; };

/* Channels [ch, +n_ch) of a command, and the scratchpad addresses of their weights (w) and records (rec). keep says that
 * the sums stay in the array for the next command. */
struct block { int64_t ch, n_ch, w, rec; bool keep; };

/*
 * Note the bytes of input x that command c with taps t reads, from the command's fields, which set_input()
 * and emit_post() must have set: one range for each input row. Rows and columns of padding are not read,
 * and nothing is noted if there is nothing else.
 */
static void access_input(struct cmd *c, const struct operand *x, const struct taps *t)
{
	const struct weft_cmd_conv *k = &c->c.conv;
	int64_t first = max64(0, k->iy_start);
	int64_t last = min64(k->in_h - 1, (int64_t)k->iy_start + (int64_t)(k->post.oh - 1) * k->stride_y +
	                                  (int64_t)(k->n_ky - 1) * k->dil_y);
	int64_t xb = k->xb_start;
	int64_t end = xb + (int64_t)(k->post.ow - 1) * k->ox_step + (int64_t)(k->n_kx - 1) * k->kx_step + k->run_len;
	int64_t lo = max64(0, xb), hi = min64(k->x_limit, end), base = x->addr + t->c0 * x->elem + first * x->ys;

	if (first <= last && lo < hi)
		emit_access_rows(c, SPACE_SP, false, (struct ranges){ base + lo, base + hi, last - first + 1, x->ys });
}

/*
 * Set the fields of command k that say how it reads the job's input for taps t: base address, steps, counts
 * of taps, bytes of a run, strides and dilation along y, first row and byte, limits of the image, and zero
 * points of input and weights. Addresses are modulo the scratchpad's; along a dimension with one output
 * pixel or one tap the step is 0 and the stride or dilation 1.
 */
static void set_input(struct weft_cmd_conv *k, const struct node *nd, const struct job *j, const struct taps *t)
{
	const struct operand *x = &j->x;
	int64_t iy = j->oy * nd->win.sy - nd->win.pt + t->ky * nd->win.dy - x->rows.lo, ix = j->ox * nd->win.sx - nd->win.pl - x->cols.lo;

	k->in_base = (int32_t)((x->addr + (t->c0 + t->j0) * x->elem + iy * x->ys + ix * x->xs) & SP_MASK);
	k->oy_step = j->oh > 1 ? (int32_t)(nd->win.sy * x->ys & SP_MASK) : 0;
	k->ox_step = j->ow > 1 ? (int32_t)min64(nd->win.sx * x->xs, SP_MASK + 1) : 0;
	k->ky_step = t->n_ky > 1 ? (int32_t)(nd->win.dy * x->ys & SP_MASK) : 0;
	k->kx_step = t->n_kx > 1 ? (int32_t)min64(nd->win.dx * x->xs, SP_MASK + 1) : 0;
	k->run_len = (int32_t)(t->run * x->elem);
	k->n_ky = (int32_t)t->n_ky;
	k->n_kx = (int32_t)t->n_kx;
	k->stride_y = j->oh > 1 ? nd->win.sy : 1;
	k->dil_y = t->n_ky > 1 ? nd->win.dy : 1;
	k->in_h = (int32_t)x->rows.n;
	k->iy_start = (int32_t)iy;
	k->x_limit = (int32_t)((x->cols.n - 1) * x->xs + t->width * x->elem);
	k->xb_start = (int32_t)(ix * x->xs + t->j0 * x->elem);
	k->x_zp = nd->x_zp;
	k->w_zp = nd->wt.w_zp;
}

/*
 * Returns how many cycles are lost, of `slots` cycles in which the array takes a word of weights, because
 * input (access 0 of c) and weights (access 1) lie partly in the same region, whose two banks then serve
 * both. The part of the cycles in which both are in one region is estimated from how much of each lies in
 * each region; half of these cycles are lost if the input's words are aligned and weights are read every other
 * cycle, that is, not of two column tiles at a time; else all. 0 if c has less than two accesses.
 */
static int64_t shared_region(const struct cc *cc, const struct cmd *c, int64_t slots)
{
	const struct access *x = &c->acc[0], *w = &c->acc[1];
	int64_t region = cc->cfg->sp_bytes / WEFT_SP_REGIONS, both = 0;

	if (c->n_acc < 2)
		return 0;
	int64_t x0 = (int64_t)x->lo, x1 = (int64_t)(x->hi + (x->n - 1) * x->step), w0 = (int64_t)w->lo, w1 = (int64_t)w->hi;
	for (int64_t r = 0; r < cc->cfg->sp_bytes; r += region)
		both += overlap64(x0, x1, r, r + region) * 64 / (x1 - x0) * (overlap64(w0, w1, r, r + region) * 64 / (w1 - w0));
	bool aligned = (c->c.conv.in_base | c->c.conv.ox_step | c->c.conv.oy_step) % cc->n == 0;
	return slots * both / (64 * 64) / (aligned && !c->c.conv.pairs ? 2 : 1);
}

/* Returns how many of so many pixels are in the last group if a group has `group`. */
static int64_t last_rows(int64_t pixels, int64_t group)
{
	return pixels - (ceil_div(pixels, group) - 1) * group;
}

/*
 * Emit one convolution command for the channels of block b with taps t, whose input, second operand,
 * weights and records are in the scratchpad: fields, the bytes that it touches, cost, latency, rows and
 * debug record. With b->keep the sums stay in the array, and neither records nor second operand are read
 * and nothing is written. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a
 * command cannot hold a value).
 */
static int emit_tiles(struct emit *e, const struct node *nd, const struct job *j, const struct taps *t, const struct block *b)
{
	const struct cc *cc = e->s->cc;
	int64_t ch = b->ch, n_ch = b->n_ch, w = b->w, rec = b->rec;
	bool keep = b->keep;
	struct cmd *c = emit_new(e, WEFT_CMD_CONV);
	int64_t tiles = ceil_div(n_ch, cc->n), slots = t->n_ky * t->n_kx * ceil_div(t->run, cc->n) * cc->n;
	int err = 0;

	if (!c)
		return -ENOMEM;
	struct weft_cmd_conv *k = &c->c.conv;
	emit_post(&k->post, nd, j, ch, n_ch);
	set_input(k, nd, j, t);
	k->w_base = (int32_t)w;
	k->p_base = (int32_t)rec;
	k->keep = keep;
	k->log2_scale = nd->wt.log2_scale;
	k->pairs = nd->wt.paired;
	k->p_short = nd->wt.short_recs;
	k->turns = e->turns;
	int64_t pixels = j->oh * j->ow, pairs = nd->wt.paired ? tiles / 2 : 0;
	int64_t reads = t->n_ky * t->n_kx * emit_reads(cc, &j->x, t->run);
	access_input(c, &j->x, t);
	int64_t grid = k->in_base | k->ox_step | k->oy_step | k->kx_step | k->ky_step;
	emit_traffic(c, 0, PORT_X, tiles * pixels * reads, grid % cc->n ? emit_across(cc, grid, cc->n) : k->ox_step % (2 * cc->n) ? BANKS_ALTERNATE : BANKS_SAME);
	emit_access(c, SPACE_SP, false, w, w + tiles * slots * cc->n);
	/* Two words are read in one access: of one tile in every other cycle, of two tiles in every cycle. */
	emit_traffic(c, c->n_acc - 1, PORT_W, (fillings(cc, &nd->wt, pixels, tiles) + fillings(cc, &nd->wt, pixels, 2 * pairs)) * slots / 2, BANKS_BOTH);
	if (!keep) {
		emit_access(c, SPACE_SP, false, rec, rec + tiles * nd->wt.tile_rec_bytes);
		emit_traffic(c, c->n_acc - 1, PORT_P, tiles * record_reads(cc, &nd->wt), BANKS_BOTH);
		int first = c->n_acc;
		if (nd->add) {
			emit_rows(c, false, &j->r, j, ch, n_ch);
			emit_traffic(c, first, PORT_R, tiles * pixels, emit_read_banks(cc, &j->r));
		}
		first = c->n_acc;
		emit_rows(c, true, &j->y, j, ch, n_ch);
		emit_traffic(c, first, PORT_WRITE, tiles * pixels * ceil_div(min64(n_ch, cc->n) * j->y.elem, cc->n),
		             emit_write_banks(cc, &j->y, n_ch));
		err = emit_record(e, c, nd, j, ch, n_ch);
	} else {
		k->post.add = 0;
	}
	c->passes = (uint8_t)post_passes(cc, nd);
	bool adds = nd->add && nd->mode != WEFT_POST_MODE_FLOAT8;
	int64_t group = max64(reads * cc->n + shared_region(cc, c, slots), adds ? c->passes * cc->n + COST_CONV_ADD : 0);
	int64_t writes = ceil_div(min64(n_ch, cc->n) * j->y.elem, cc->n), passes = max64(c->passes, writes), row = adds ? writes : passes;
	int64_t full = max64(group, row * cc->n), last = last_rows(pixels, cc->n), last_of_two = 2 * last_rows(pixels, cc->n / 2), odd = tiles - 2 * pairs;
	int64_t cycles = fillings(cc, &nd->wt, pixels, tiles) * full - odd * (full - max64(group, row * last)) -
	                 pairs * (full - max64(group, row * last_of_two)) + COST_CONV_NEXT;
	c->cost = (uint32_t)min64(cycles, UINT32_MAX);
	/* The latency leaves out the cycles in which the rows of the last group make their second and later passes in the post unit. When
	 * it included them, the estimates of some networks came closer to the RTL, but the search found worse plans for others: the small
	 * EfficientNetB0 of data/zoo took 8 % more cycles in sram on the RTL. */
	c->latency = (uint32_t)(cc->n + (odd ? last : last_of_two) + COST_CONV_DRAIN);
	c->rows = keep ? 0 : (uint32_t)(tiles * pixels * passes);
	return err ? err : emit_done(e, c);
}

/*
 * Emit a job of a block-diagonal convolution (depthwise on the array): a command for each column tile, which
 * reads only the channels that it needs. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count)
 * or -ERANGE (a command cannot hold a value).
 */
static int emit_diagonal(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w)
{
	int64_t n = e->s->cc->n;

	for (int64_t ch = j->c; ch < j->c + j->cn; ch += n) {
		int64_t n_ch = min64(n, j->c + j->cn - ch), at = ch / n - w->tile;
		int64_t first = ch / nd->conv.m, run = (ch + n_ch - 1) / nd->conv.m - first + 1;
		struct taps t = { 0, nd->win.kh, nd->win.kw, first, run, 0, run };
		struct block b = { ch, n_ch, w->w + at * nd->wt.tile_bytes, w->rec + at * nd->wt.tile_rec_bytes, false };
		int err = emit_tiles(e, nd, j, &t, &b);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Emit a job of a convolution on the array, all of whose weights w are in the scratchpad: one command, or one
 * for each column tile if the node is depthwise. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can
 * count) or -ERANGE (a command cannot hold a value).
 */
int emit_conv(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w)
{
	int64_t n = e->s->cc->n, at = j->c / n - w->tile;
	struct taps t = { 0, nd->win.kh, nd->wt.joined ? 1 : nd->win.kw, 0, nd->x.dim[3], 0, nd->wt.run_len };

	if (nd->kind == NODE_DWCONV)
		return emit_diagonal(e, nd, j, w);
	return emit_tiles(e, nd, j, &t, &(struct block){ j->c, j->cn, w->w + at * nd->wt.tile_bytes, w->rec + at * nd->wt.tile_rec_bytes, false });
}

/*
 * Emit the command for part k of the sum of the job's column tile: chunks [k->q, +k->nq) of kernel row
 * k->ky, whose weights alone lie at w->w. Sums stay in the array until the last part, which writes the
 * results. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot
 * hold a value).
 */
int emit_conv_part(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w,
                   const struct k_part *k)
{
	int64_t n = e->s->cc->n, j0 = k->q * n;
	int64_t run = min64(nd->wt.run_len - j0, k->nq * n);
	/* If kernel columns and channels are one run, a part begins further along the row; else it takes other channels
	 * of the same pixels. */
	struct taps t = { k->ky, 1, 1, 0, nd->x.dim[3], j0, run };

	if (!nd->wt.joined)
		t = (struct taps){ k->ky, 1, nd->win.kw, j0, run, 0, run };
	return emit_tiles(e, nd, j, &t, &(struct block){ j->c, j->cn, w->w, w->rec, !k->last });
}

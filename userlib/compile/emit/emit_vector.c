/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of the vector engine: depthwise, pooling, elementwise.
 *
 * Source: include/spec/cmd.toml; TOSA 1.0, AVG_POOL2D for the divisor.
 */
#include <errno.h>

#include "userlib/compile/estimate/cost.h"
#include "emit.h"

#define TABLE_BYTES 256
#define MAX_REGIONS 4096       /* commands of one pooling job at most; not measured */

/*
 * Returns whether command c is a product whose second factor is the same for all pixels, which the engine
 * reads once for each block of N channels.
 */
static bool reads_once(const struct cmd *c)
{
	return c->c.h.op == WEFT_CMD_ELT && c->c.elt.mul && !c->c.elt.post.b_x_stride && !c->c.elt.post.b_y_stride;
}

/*
 * Complete vector command c for job j, whose fields are set and whose input is noted: note its second
 * operand (a table's 256 bytes) and its output, share out its accesses, set cost, latency and rows, add the
 * debug record and call emit_done(). `cycles` is how long the command reads its input. For a depthwise
 * kernel of up to 3x3 it is raised to the cycles in which the weights of all blocks but the first are read,
 * if these are more. The cost is the command's start plus the larger of `cycles` and the cycles that its
 * rows spend in the post unit. If the command reads a table, the cycles of reading it are part of both.
 * Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a
 * value).
 */
static int finish(struct emit *e, struct cmd *c, const struct node *nd, const struct job *j, int64_t cycles)
{
	int64_t n = e->s->cc->n, rows = j->oh * j->ow * ceil_div(j->cn * j->y.elem, n);
	int err;

	rows = max64(rows, j->oh * j->ow * ceil_div(j->cn, n) * post_passes(e->s->cc, nd));
	int64_t words = j->oh * j->ow * ceil_div(j->cn * j->y.elem, n);
	emit_traffic(c, 0, PORT_X, cycles, j->x.elem > 1 ? BANKS_BOTH : emit_read_banks(e->s->cc, &j->x));
	int first = c->n_acc;
	if (by_table(nd)) {
		emit_access(c, SPACE_SP, false, j->r.addr, j->r.addr + TABLE_BYTES);
		emit_traffic(c, first, PORT_W, TABLE_BYTES / (2 * n), BANKS_BOTH);
		rows += TABLE_BYTES / (2 * n) + COST_TABLE_START;
		cycles += TABLE_BYTES / (2 * n) + COST_TABLE_START;
	} else if (nd->add) {
		emit_rows(c, false, &j->r, j, j->c, j->cn);
		emit_traffic(c, first, PORT_R, reads_once(c) ? ceil_div(j->cn * j->r.elem, n) : words, emit_read_banks(e->s->cc, &j->r));
	}
	first = c->n_acc;
	emit_rows(c, true, &j->y, j, j->c, j->cn);
	emit_traffic(c, first, PORT_WRITE, words, emit_write_banks(e->s->cc, &j->y, j->cn));
	/* A block's weights and records come while the one before is worked on. */
	if (c->c.h.op == WEFT_CMD_DW && !c->c.dw.n_ky)
		cycles = max64(cycles, (ceil_div(j->cn, n) - 1) * (COST_DW_WEIGHT_READS + record_reads(e->s->cc, &nd->wt)));
	c->cost = (uint32_t)min64(max64(cycles, rows) + (c->c.h.op == WEFT_CMD_DW ? COST_DW_START : COST_VECTOR_START), UINT32_MAX);
	c->latency = COST_VECTOR_LATENCY;
	c->rows = (uint32_t)rows;
	err = emit_record(e, c, nd, j, j->c, j->cn);
	return err ? err : emit_done(e, c);
}

/*
 * Note the bytes of the input that depthwise command c with fields d reads: of the rows and columns under a
 * kernel of ky rows and kx columns those inside the image. addr is the address of the image's first pixel at
 * hand, `bytes` those of a pixel's channels.
 */
static void access_dw(struct cmd *c, const struct weft_cmd_dw *d, int64_t addr, int64_t ky, int64_t kx, int64_t bytes)
{
	int64_t r0 = max64(0, d->iy_start), r1 = min64(d->in_h - 1, (int64_t)d->iy_start + (d->post.oh - 1) * d->stride_y + ky - 1);
	int64_t c0 = max64(0, d->ix_start), c1 = min64(d->in_w - 1, (int64_t)d->ix_start + (d->post.ow - 1) * d->stride_x + kx - 1);
	struct operand x = { .ys = d->in_y_stride, .xs = d->in_x_stride };

	if (r0 <= r1 && c0 <= c1)
		emit_pixels(c, false, &x, (struct block_of_pixels){ addr + r0 * x.ys + c0 * x.xs, r1 - r0 + 1, c1 - c0 + 1, bytes });
}

/*
 * Returns how many of n rows or columns, from number `start` on, the engine streams. Numbers below 0 and from
 * `there` on are padding, of which it leaves out at most `most`.
 */
static int64_t streamed(int64_t start, int64_t n, int64_t there, int64_t most)
{
	int64_t padding = max64(0, -start) + max64(0, start + n - there);

	return n - min64(padding, most);
}

/* Says whether the engine sums two output rows of command d at a time (hw/vec/README.md). */
static bool two_rows(const struct cc *cc, const struct weft_cmd_dw *d)
{
	return cc->cfg->dw_rows == 2 && d->n_ky && d->n_kx <= 5 && d->post.oh > 1 && d->stride_y < d->n_ky;
}

/*
 * Returns how many passes command d with n_ky takes for a block of channels. In a pass one row of the image goes by. One output row
 * takes a pass for each row of its windows that lies inside the image, and at least one pass. Two output rows at a time take a pass for
 * each row that the windows of either have inside the image, and one more if the windows of both end with the image's last row.
 */
static int64_t passes_of(const struct cc *cc, const struct weft_cmd_dw *d)
{
	const int64_t step = two_rows(cc, d) ? 2 : 1;
	int64_t sum = 0;

	for (int64_t oy = 0; oy < d->post.oh; oy += step) {
		const bool both = step == 2 && oy + 1 < d->post.oh;
		const int64_t top = d->iy_start + oy * d->stride_y, end = top + d->n_ky, next = end + (both ? d->stride_y : 0);

		sum += max64(1, min64(next, d->in_h) - max64(top, 0)) + (both && end >= d->in_h);
	}
	return sum;
}

/* Returns how many reads of weights a pass of command d with n_ky makes. */
static int64_t pass_reads(const struct cc *cc, const struct weft_cmd_dw *d)
{
	return (two_rows(cc, d) ? 2 : 1) * ceil_div(d->n_kx, 2);
}

/*
 * Returns the cycles in which command d reads its input, for `blocks` blocks of N channels, which take
 * `reads` reads for each pixel. For a kernel of up to 3x3 it reads each row and column once, and leaves out up to two
 * of padding each. A larger one takes passes_of() passes. In each of them the engine reads a row of at least three columns, or
 * fetches the next pass's weights if that takes longer.
 */
static int64_t stream_cycles(const struct cc *cc, const struct weft_cmd_dw *d, int64_t blocks, int64_t reads)
{
	if (!d->n_ky)
		return reads * streamed(d->iy_start, (d->post.oh - 1) * d->stride_y + 3, d->in_h, 2) *
		       streamed(d->ix_start, (d->post.ow - 1) * d->stride_x + 3, d->in_w, 2);
	int64_t row = streamed(d->ix_start, (d->post.ow - 1) * d->stride_x + d->n_kx, d->in_w, d->n_kx - 1);

	/* A pass's weights are fetched while the pass before runs. */
	return passes_of(cc, d) * max64(reads * max64(row, 3), blocks * (pass_reads(cc, d) + 2));
}

/* Returns how many reads of weights and records command d makes for `blocks` blocks of N channels. */
static int64_t weight_reads(const struct cc *cc, const struct node *nd, const struct weft_cmd_dw *d, int64_t blocks)
{
	return blocks * (record_reads(cc, &nd->wt) + (d->n_ky ? passes_of(cc, d) * pass_reads(cc, d) : COST_DW_WEIGHT_READS));
}

/* Exchange two fields of a command. */
static void swap(int32_t *a, int32_t *b)
{
	int32_t t = *a;

	*a = *b;
	*b = t;
}

/*
 * Exchange rows and columns in the fields of a depthwise command: extents, strides and start of input and
 * result, and the windows' strides. The kernel's size is the caller's to exchange.
 */
static void transpose(struct weft_cmd_dw *d)
{
	swap(&d->post.ow, &d->post.oh);
	swap(&d->post.out_x_stride, &d->post.out_y_stride);
	swap(&d->in_x_stride, &d->in_y_stride);
	swap(&d->in_w, &d->in_h);
	swap(&d->ix_start, &d->iy_start);
	swap(&d->stride_x, &d->stride_y);
}

/*
 * Emit one depthwise command for job j, whose columns fit the line buffer and whose input and weights w are
 * in the scratchpad, with its accesses, cost and debug record. Rows and columns are exchanged in its fields
 * if conv.transposed is set; the kernel's size is a field only above 3x3. Returns 0, -ENOMEM, -E2BIG (more
 * commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int emit_dw_part(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w)
{
	int64_t n = e->s->cc->n, at = j->c / n - w->tile, blocks = ceil_div(j->cn, n);
	struct cmd *c = emit_new(e, WEFT_CMD_DW);

	if (!c)
		return -ENOMEM;
	struct weft_cmd_dw *d = &c->c.dw;
	/* Only the columns of this part: column numbers are 16-bit. */
	struct span cols = input_cols(nd, j->ox, j->ow);
	int64_t addr = j->x.addr + (cols.lo - j->x.cols.lo) * j->x.xs;
	int64_t wa = w->w + at * nd->wt.tile_bytes, rec = w->rec + at * nd->wt.tile_rec_bytes;

	emit_post(&d->post, nd, j, j->c, j->cn);
	d->in_base = (int32_t)addr;
	d->in_x_stride = (int32_t)j->x.xs;
	d->in_y_stride = (int32_t)j->x.ys;
	d->in_h = (int32_t)j->x.rows.n;
	d->in_w = (int32_t)cols.n;
	d->iy_start = (int32_t)(j->oy * nd->win.sy - nd->win.pt - j->x.rows.lo);
	d->ix_start = (int32_t)(j->ox * nd->win.sx - nd->win.pl - cols.lo);
	d->w_base = (int32_t)wa;
	d->p_base = (int32_t)rec;
	d->stride_y = j->oh > 1 ? nd->win.sy : 1;
	d->stride_x = j->ow > 1 ? nd->win.sx : 1;
	d->x_zp = nd->x_zp;
	d->w_zp = nd->wt.w_zp;
	d->log2_scale = nd->wt.log2_scale;
	d->p_short = nd->wt.short_recs;
	d->table = by_table(nd);
	if (d->in_h == 1)
		d->in_y_stride = 0;
	if (d->in_w == 1)
		d->in_x_stride = 0;
	if (dw_by_row(nd)) {
		d->n_ky = (int32_t)dw_rows(nd);
		d->n_kx = (int32_t)dw_cols(nd);
	}
	if (nd->conv.transposed)
		transpose(d);
	access_dw(c, d, addr, dw_rows(nd), dw_cols(nd), j->cn * j->x.elem);
	int first = c->n_acc;
	emit_access(c, SPACE_SP, false, wa, wa + blocks * nd->wt.tile_bytes);
	emit_access(c, SPACE_SP, false, rec, rec + blocks * nd->wt.tile_rec_bytes);
	emit_traffic(c, first, PORT_W, weight_reads(e->s->cc, nd, d, blocks), BANKS_BOTH);
	return finish(e, c, nd, j, stream_cycles(e->s->cc, d, blocks, emit_reads(e->s->cc, &j->x, j->cn)));
}

/*
 * Emit a depthwise job without dilation: as many commands as the line buffer asks for, each for a range of
 * columns (rows, if the node's commands have both exchanged). Returns 0, -ENOMEM, -E2BIG (more commands than
 * a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int emit_dw_parts(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w)
{
	int64_t whole = nd->conv.transposed ? j->oh : j->ow, parts = ceil_div(whole, dw_width(e->s->cc, nd)), step = ceil_div(whole, parts);

	for (int64_t o = 0; o < whole; o += step) {
		int64_t n = min64(step, whole - o);
		struct job part = nd->conv.transposed ? job_part(j, j->oy + o, n, j->ox, j->ow) : job_part(j, j->oy, j->oh, j->ox + o, n);
		int err = emit_dw_part(e, nd, &part, w);
		if (err)
			return err;
	}
	return 0;
}

/* Every d-th input row (column), those that the d-th results from number `first` on read. */
struct thinned { int64_t at, n, start; };

/*
 * Returns which rows (or columns) of the input at hand, `has`, may be read by the results first, first + d,
 * first + 2 d, ..., if the taps of a window are d rows apart and the windows of results side by side begin
 * `stride` rows apart: every d-th row of `has`, from the one with index at in it on, n of them, and start, the
 * row that the first result's window begins with, counted in these rows and negative in front of them. `pad` is
 * the padding in front of row 0. If `has` holds none of them, the window sees only padding: at 0, n 1 and start
 * 1, so that no window reads the one row.
 */
static struct thinned thin(struct span has, int64_t first, int64_t stride, int64_t pad, int64_t d)
{
	int64_t from = first * stride - pad - has.lo, at = (from % d + d) % d;

	if (at >= has.n)
		return (struct thinned){ 0, 1, 1 };     /* all are padding */
	return (struct thinned){ at, ceil_div(has.n - at, d), (from - at) / d };
}

/*
 * For a dilated depthwise kernel: of job j, emit the results in rows py, py + dy, ... and columns px, px +
 * dx, ..., counted from the job's first ones. They are those of a kernel without dilation on every dy-th
 * row and dx-th column of the input. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or
 * -ERANGE (a command cannot hold a value).
 */
static int emit_dw_phase(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w, int64_t py, int64_t px)
{
	struct node p = *nd;
	struct job q = *j;
	struct thinned y = thin(j->x.rows, j->oy + py, nd->win.sy, nd->win.pt, nd->win.dy), x = thin(j->x.cols, j->ox + px, nd->win.sx, nd->win.pl, nd->win.dx);

	p.win.dy = p.win.dx = 1;
	p.win.pt = (int)-y.start;
	p.win.pl = (int)-x.start;
	p.x.dim[1] = y.n;
	p.x.dim[2] = x.n;
	p.dbg.off += (j->oy + py) * p.dbg.step[1] + (j->ox + px) * p.dbg.step[2];
	p.dbg.step[1] *= nd->win.dy;
	p.dbg.step[2] *= nd->win.dx;
	q.oy = q.ox = 0;
	q.oh = ceil_div(j->oh - py, nd->win.dy);
	q.ow = ceil_div(j->ow - px, nd->win.dx);
	q.x.addr += y.at * j->x.ys + x.at * j->x.xs;
	q.x.ys *= nd->win.dy;
	q.x.xs *= nd->win.dx;
	q.x.rows = (struct span){ 0, y.n };
	q.x.cols = (struct span){ 0, x.n };
	q.y.addr += py * j->y.ys + px * j->y.xs;
	q.y.ys *= nd->win.dy;
	q.y.xs *= nd->win.dx;
	return emit_dw_parts(e, &p, &q, w);
}

/*
 * Output positions [o, +n) that see the same taps [k, +n_k) of the window. If `outside` is set, it is one position whose
 * window has no tap within the image; k is then a place within the image, in the window or not.
 */
struct region { int64_t o, n, k, n_k; bool outside; };

/*
 * Returns the output positions from o on, before `end`, whose windows see the same taps, and which taps these
 * are (k, n_k): all positions whose windows lie within the image (`limit` rows or columns), or the one
 * position o if the image cuts its window or does not meet it. Of an operator's windows each holds a row and a column
 * of the image, which the graph's check and windows_meet() (match/match_pool.c) see to; copies of kernel rows
 * (lower/join_rows.c) have windows that do not.
 */
static struct region region_at(int64_t o, int64_t end, int64_t stride, int64_t pad, int64_t kernel, int64_t limit)
{
	int64_t at = o * stride - pad, k = max64(0, -at), last = min64(kernel, limit - at);
	struct region r = { o, 1, k, last - k, false };

	if (last <= k)
		return (struct region){ o, 1, at < 0 ? -at : limit - 1 - at, 1, true };

	if (r.k == 0 && r.n_k == kernel) {
		/* whole windows: up to the last that ends inside */
		int64_t o_last = (limit + pad - kernel) / stride;
		r.n = min64(end, o_last + 1) - o;
	}
	return r;
}

/*
 * Emit one pooling command for the output rows y and columns x of job j, which all see the same taps. An
 * average is divided by the number of these taps. If pool.padded is set, padding counts for a maximum: where some taps
 * lie in it, the maximum is at least the padding's value, and where all do, it is that value. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or
 * -ERANGE (a command cannot hold a value).
 */
static int emit_region(struct emit *e, const struct node *nd, const struct job *j, const struct region *y, const struct region *x)
{
	struct job part = job_part(j, y->o, y->n, x->o, x->n);
	struct cmd *c = emit_new(e, WEFT_CMD_POOL);
	const struct operand *in = &j->x;

	if (!c)
		return -ENOMEM;
	struct weft_cmd_pool *p = &c->c.pool;
	int64_t row = y->o * nd->win.sy - nd->win.pt + y->k - in->rows.lo, col = x->o * nd->win.sx - nd->win.pl + x->k - in->cols.lo;
	int64_t base = in->addr + row * in->ys + col * in->xs;
	struct block_of_pixels read = { base, (y->n - 1) * nd->win.sy + y->n_k, (x->n - 1) * nd->win.sx + x->n_k, j->cn * in->elem };

	emit_post(&p->post, nd, &part, j->c, j->cn);
	if (nd->pool.average) {
		struct scale s = cc_reciprocal(y->n_k * x->n_k);
		p->post.a_mul = s.mul;
		p->post.a_shift = s.shift;
		p->post.double_round = 0;
	}
	if (nd->pool.padded && (y->outside || x->outside))
		p->post.y_min = p->post.y_max = nd->pool.pad;
	else if (nd->pool.padded && (y->n_k < nd->win.kh || x->n_k < nd->win.kw))
		p->post.y_min = (int32_t)max64(p->post.y_min, min64(nd->pool.pad, p->post.y_max));
	p->in_base = (int32_t)base;
	p->oy_step = y->n > 1 ? (int32_t)(nd->win.sy * in->ys) : 0;
	p->ox_step = x->n > 1 ? (int32_t)(nd->win.sx * in->xs) : 0;
	p->ky_step = y->n_k > 1 ? (int32_t)in->ys : 0;
	p->kx_step = x->n_k > 1 ? (int32_t)in->xs : 0;
	p->x_zp = nd->x_zp;
	p->sum = nd->pool.sum;
	p->n_ky = (int32_t)y->n_k;
	p->n_kx = (int32_t)x->n_k;
	emit_pixels(c, false, in, read);
	return finish(e, c, nd, &part, emit_reads(e->s->cc, in, j->cn) * y->n * x->n * y->n_k * x->n_k);
}

/*
 * Emit a job of pooling (w NULL) or of a depthwise node that computes an average of integers (with weights
 * w): commands for each combination of rows and of columns that see the same taps. In the depthwise node,
 * depthwise commands make the results that see all taps, and pooling commands the others, since each number
 * of taps is divided by another number. Returns 0, or -ENOMEM, -ERANGE, or -E2BIG: more than MAX_REGIONS
 * combinations, or more commands than a stream can count.
 */
static int emit_regions(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w)
{
	struct node pool = *nd;
	int count = 0;

	if (w) {
		pool.kind = NODE_POOL;
		pool.pool.sum = pool.pool.average = true;
		pool.pool.padded = false;
	}
	for (int64_t oy = j->oy; oy < j->oy + j->oh; ) {
		struct region y = region_at(oy, j->oy + j->oh, nd->win.sy, nd->win.pt, nd->win.kh, nd->x.dim[1]);
		for (int64_t ox = j->ox; ox < j->ox + j->ow; ) {
			struct region x = region_at(ox, j->ox + j->ow, nd->win.sx, nd->win.pl, nd->win.kw, nd->x.dim[2]);
			bool whole = y.n_k == nd->win.kh && x.n_k == nd->win.kw;
			struct job part = job_part(j, y.o, y.n, x.o, x.n);
			int err = ++count > MAX_REGIONS ? -E2BIG : w && whole ? emit_dw_parts(e, nd, &part, w) : emit_region(e, &pool, j, &y, &x);
			if (err)
				return err;
			ox += x.n;
		}
		oy += y.n;
	}
	return 0;
}

/*
 * Emit a pooling job: a command for each combination of rows and of columns that see the same taps. Returns
 * 0, or -ENOMEM, -ERANGE, or -E2BIG: more than MAX_REGIONS commands, or more than a stream can count.
 */
int emit_pool(struct emit *e, const struct node *nd, const struct job *j)
{
	return emit_regions(e, nd, j, NULL);
}

/*
 * Emit a depthwise job, whose input and weights w are in the scratchpad. An average of integers takes the
 * commands of emit_regions(); a dilated kernel takes commands of their own for each place within its
 * dilation (emit_dw_phase()). Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count, or
 * emit_regions() allows) or -ERANGE (a command cannot hold a value).
 */
int emit_dw(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w)
{
	int64_t ny = min64(nd->win.dy, j->oh), nx = min64(nd->win.dx, j->ow);

	if (nd->conv.average && nd->mode != WEFT_POST_MODE_FLOAT8)
		return emit_regions(e, nd, j, w);
	if (nd->win.dy == 1 && nd->win.dx == 1)
		return emit_dw_parts(e, nd, j, w);
	for (int64_t k = 0; k < ny * nx; k++) {
		int err = emit_dw_phase(e, nd, j, w, k / nx, k % nx);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Emit the elementwise commands that copy the rows of `from`, `bytes` bytes each, unchanged to `to` within
 * the scratchpad: one for whole words, one for the bytes left over. Returns 0, -ENOMEM, -E2BIG (more commands
 * than a stream can count) or -ERANGE (a command cannot hold a value).
 */
int emit_copy(struct emit *e, const struct operand *from, const struct operand *to, int64_t bytes)
{
	int64_t n = e->s->cc->n, words = bytes / n, tail = bytes % n;
	struct node copy = { .kind = NODE_ELT, .y_tensor = -1, .post.y_min = -128, .post.y_max = 127, .post.a = { 1u << 30, 30, ROUND_UP } };
	struct job j = { .oh = from->rows.n, .ow = words, .cn = n, .x = *from, .y = *to };
	int err = 0;

	/* A word is a pixel. */
	j.x.xs = j.y.xs = n;
	j.x.elem = j.y.elem = 1;
	if (words)
		err = emit_elt(e, &copy, &j);
	if (err || !tail)
		return err;
	j.ow = 1;
	j.cn = tail;
	j.x.addr += words * n;
	j.y.addr += words * n;
	return emit_elt(e, &copy, &j);
}

/*
 * Emit an elementwise job, whose operands are in the scratchpad, as one command. Returns 0, -ENOMEM, -E2BIG
 * (more commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
int emit_elt(struct emit *e, const struct node *nd, const struct job *j)
{
	struct cmd *c = emit_new(e, WEFT_CMD_ELT);
	const struct operand *x = &j->x;

	if (!c)
		return -ENOMEM;
	struct weft_cmd_elt *k = &c->c.elt;
	emit_post(&k->post, nd, j, j->c, j->cn);
	k->in_base = (int32_t)x->addr;
	k->in_x_stride = j->ow > 1 ? (int32_t)x->xs : 0;
	k->in_y_stride = j->oh > 1 ? (int32_t)x->ys : 0;
	k->table = nd->elt.table;
	k->mul = nd->elt.product;
	emit_rows(c, false, x, j, j->c, j->cn);
	int64_t pixels = j->oh * j->ow, reads = emit_reads(e->s->cc, x, j->cn) * pixels;
	if (nd->elt.product)
		reads += emit_reads(e->s->cc, &j->r, j->cn) * (reads_once(c) ? 1 : pixels);
	return finish(e, c, nd, j, reads);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of the vector engine: depthwise, pooling, elementwise.
 *
 * Source: include/spec/cmd.toml; TOSA 1.0, AVG_POOL2D for the divisor.
 */
#include <errno.h>

#include "emit.h"

#define START_CYCLES 7
#define TABLE_BYTES 256
#define TABLE_CYCLES 4         /* until its first byte is looked up, beside its reads */
#define DW_START_CYCLES 30     /* with the first weights */
#define WEIGHT_READS 13        /* of weights and records, a block of channels */
#define MAX_REGIONS 4096       /* commands of one pooling job */

/* cycles: of reading, at least */
static int finish(struct emit *e, struct cmd *c, const struct node *nd, const struct job *j, int64_t cycles)
{
	int64_t n = e->s->cc->n, rows = j->oh * j->ow * ceil_div(j->cn * j->y.elem, n);
	int err;

	rows = max64(rows, j->oh * j->ow * ceil_div(j->cn, n) * emit_passes(nd));
	int64_t words = j->oh * j->ow * ceil_div(j->cn * j->y.elem, n);
	emit_traffic(c, 0, PORT_X, cycles, j->x.elem > 1 ? BANKS_BOTH : emit_read_banks(e->s->cc, &j->x));
	int first = c->n_acc;
	if (nd->table) {
		emit_access(c, SPACE_SP, false, j->r.addr, j->r.addr + TABLE_BYTES);
		emit_traffic(c, first, PORT_W, TABLE_BYTES / (2 * n), BANKS_BOTH);
		rows += TABLE_BYTES / (2 * n) + TABLE_CYCLES;
		cycles += TABLE_BYTES / (2 * n) + TABLE_CYCLES;
	} else if (nd->add) {
		emit_rows(c, false, &j->r, j, j->c, j->cn);
		emit_traffic(c, first, PORT_R, words, emit_read_banks(e->s->cc, &j->r));
	}
	first = c->n_acc;
	emit_rows(c, true, &j->y, j, j->c, j->cn);
	emit_traffic(c, first, PORT_WRITE, words, emit_write_banks(e->s->cc, &j->y, j->cn));
	c->cost = (uint32_t)min64(max64(cycles, rows) + (c->c.h.op == WEFT_CMD_DW ? DW_START_CYCLES : START_CYCLES), UINT32_MAX);
	c->latency = 4;
	c->rows = (uint32_t)rows;
	err = emit_record(e, c, nd, j, j->c, j->cn);
	return err ? err : emit_done(e, c);
}

/* The virtual rows and columns that the engine streams, of those that are there. */
static void access_dw(struct cmd *c, const struct weft_cmd_dw *d, int64_t addr, const struct operand *x, int64_t bytes)
{
	int64_t r0 = max64(0, d->iy_start), r1 = min64(d->in_h - 1, (int64_t)d->iy_start + (d->post.oh - 1) * d->stride_y + 2);
	int64_t c0 = max64(0, d->ix_start), c1 = min64(d->in_w - 1, (int64_t)d->ix_start + (d->post.ow - 1) * d->stride_x + 2);

	if (r0 <= r1 && c0 <= c1)
		emit_access_rows(c, SPACE_SP, false, addr + r0 * x->ys + c0 * x->xs, addr + r0 * x->ys + c1 * x->xs + bytes,
		                 r1 - r0 + 1, x->ys);
}

/* Of n rows or columns from `start` on, those that the engine streams: up to two of padding it leaves out. */
static int64_t streamed(int64_t start, int64_t n, int64_t there)
{
	int64_t padding = max64(0, -start) + max64(0, start + n - there);

	return n - min64(padding, 2);
}

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
	int64_t wa = w->w + at * nd->tile_bytes, rec = w->rec + at * WEFT_PARAM_BYTES * n;

	emit_post(&d->post, nd, j, j->c, j->cn);
	d->in_base = (int32_t)addr;
	d->in_x_stride = (int32_t)j->x.xs;
	d->in_y_stride = (int32_t)j->x.ys;
	d->in_h = (int32_t)j->x.rows.n;
	d->in_w = (int32_t)cols.n;
	d->iy_start = (int32_t)(j->oy * nd->sy - nd->pt - j->x.rows.lo);
	d->ix_start = (int32_t)(j->ox * nd->sx - nd->pl - cols.lo);
	d->w_base = (int32_t)wa;
	d->p_base = (int32_t)rec;
	d->stride_y = j->oh > 1 ? nd->sy : 1;
	d->stride_x = j->ow > 1 ? nd->sx : 1;
	d->x_zp = nd->x_zp;
	d->w_zp = nd->w_zp;
	d->log2_scale = nd->log2_scale;
	if (d->in_h == 1)
		d->in_y_stride = 0;
	if (d->in_w == 1)
		d->in_x_stride = 0;
	access_dw(c, d, addr, &j->x, j->cn * j->x.elem);
	int first = c->n_acc;
	emit_access(c, SPACE_SP, false, wa, wa + blocks * nd->tile_bytes);
	emit_access(c, SPACE_SP, false, rec, rec + blocks * WEFT_PARAM_BYTES * n);
	emit_traffic(c, first, PORT_W, blocks * WEIGHT_READS, BANKS_BOTH);
	return finish(e, c, nd, j, emit_reads(e->s->cc, &j->x, j->cn) * streamed(d->iy_start, (j->oh - 1) * d->stride_y + 3, d->in_h) *
	              streamed(d->ix_start, (j->ow - 1) * d->stride_x + 3, d->in_w));
}

int emit_dw(struct emit *e, const struct node *nd, const struct job *j, const struct weights *w)
{
	int64_t most = (e->s->cc->cfg->dw_line / j->x.elem - 3) / nd->sx + 1, parts = ceil_div(j->ow, most);
	int64_t step = ceil_div(j->ow, parts);

	for (int64_t ox = 0; ox < j->ow; ox += step) {
		struct job part = job_part(j, j->oy, j->oh, j->ox + ox, min64(step, j->ow - ox));
		int err = emit_dw_part(e, nd, &part, w);
		if (err)
			return err;
	}
	return 0;
}

/* Output positions [o, +n) that see the same taps [k, +n_k) of the window. */
struct region { int64_t o, n, k, n_k; };

static struct region region_at(int64_t o, int64_t end, int64_t stride, int64_t pad, int64_t kernel, int64_t limit)
{
	int64_t at = o * stride - pad, k = max64(0, -at), last = min64(kernel, limit - at);
	struct region r = { o, 1, k, max64(last - k, 1) };

	if (r.k == 0 && r.n_k == kernel) {
		/* whole windows: up to the last that ends inside */
		int64_t o_last = (limit + pad - kernel) / stride;
		r.n = min64(end, o_last + 1) - o;
	}
	return r;
}

/* TOSA's reciprocal of a count, AVG_POOL2D. */
static struct scale reciprocal(int64_t count)
{
	int k = 0;

	while (k < 32 && (int64_t)1 << k < count)
		k++;
	return (struct scale){ (uint32_t)((((int64_t)1 << 30) + 1) * ((int64_t)1 << k) / count), 30 + k, ROUND_UP };
}

static int emit_region(struct emit *e, const struct node *nd, const struct job *j, const struct region *y, const struct region *x)
{
	struct job part = job_part(j, y->o, y->n, x->o, x->n);
	struct cmd *c = emit_new(e, WEFT_CMD_POOL);
	const struct operand *in = &j->x;

	if (!c)
		return -ENOMEM;
	struct weft_cmd_pool *p = &c->c.pool;
	int64_t row = y->o * nd->sy - nd->pt + y->k - in->rows.lo, col = x->o * nd->sx - nd->pl + x->k - in->cols.lo;
	int64_t base = in->addr + row * in->ys + col * in->xs;
	int64_t end = base + ((y->n - 1) * nd->sy + y->n_k - 1) * in->ys + ((x->n - 1) * nd->sx + x->n_k - 1) * in->xs +
	              j->cn * in->elem;

	emit_post(&p->post, nd, &part, j->c, j->cn);
	if (nd->average) {
		struct scale s = reciprocal(y->n_k * x->n_k);
		p->post.a_mul = s.mul;
		p->post.a_shift = s.shift;
		p->post.double_round = 0;
	}
	p->in_base = (int32_t)base;
	p->oy_step = y->n > 1 ? (int32_t)(nd->sy * in->ys) : 0;
	p->ox_step = x->n > 1 ? (int32_t)(nd->sx * in->xs) : 0;
	p->ky_step = y->n_k > 1 ? (int32_t)in->ys : 0;
	p->kx_step = x->n_k > 1 ? (int32_t)in->xs : 0;
	p->x_zp = nd->x_zp;
	p->sum = nd->sum;
	p->n_ky = (int32_t)y->n_k;
	p->n_kx = (int32_t)x->n_k;
	emit_access(c, SPACE_SP, false, base, end);
	return finish(e, c, nd, &part, emit_reads(e->s->cc, in, j->cn) * y->n * x->n * y->n_k * x->n_k);
}

int emit_pool(struct emit *e, const struct node *nd, const struct job *j)
{
	int count = 0;

	for (int64_t oy = j->oy; oy < j->oy + j->oh; ) {
		struct region y = region_at(oy, j->oy + j->oh, nd->sy, nd->pt, nd->kh, nd->x.dim[1]);
		for (int64_t ox = j->ox; ox < j->ox + j->ow; ) {
			struct region x = region_at(ox, j->ox + j->ow, nd->sx, nd->pl, nd->kw, nd->x.dim[2]);
			int err = ++count > MAX_REGIONS ? -E2BIG : emit_region(e, nd, j, &y, &x);
			if (err)
				return err;
			ox += x.n;
		}
		oy += y.n;
	}
	return 0;
}

int emit_copy(struct emit *e, const struct operand *from, const struct operand *to, int64_t bytes)
{
	int64_t n = e->s->cc->n, words = bytes / n, tail = bytes % n;
	struct node copy = { .kind = NODE_ELT, .y_tensor = -1, .y_min = -128, .y_max = 127, .a = { 1u << 30, 30, ROUND_UP } };
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
	k->table = nd->table;
	k->mul = nd->product;
	emit_rows(c, false, x, j, j->c, j->cn);
	int64_t reads = emit_reads(e->s->cc, x, j->cn) + (nd->product ? emit_reads(e->s->cc, &j->r, j->cn) : 0);
	return finish(e, c, nd, j, reads * j->oh * j->ow);
}

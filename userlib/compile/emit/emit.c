/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One NPU step as commands: node by node, job by job, loads and stores around
 * them. What may overlap is not decided here; hazards.c finds what must not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/verify/verify.h"
#include "emit.h"

#define LOAD_PART      2048    /* bytes */
#define MAX_LOAD_PARTS 8
#define LONG_LOAD      32768   /* bytes; a single tile's input above that comes in parts as well */

/* A slot and what lies in it, so that jobs do not load twice. */
struct cache { int64_t key[MAX_W_SLOTS]; int next; };

struct node_emit {
	struct emit *e;
	const struct node *nd;
	const struct plan *p;
	struct cache in, w;
	int next_r, next_out;
	int64_t parts;         /* in which the input has just come; not yet used if above 1 */
	int64_t loaded;        /* all_weights: column tiles that are there */
	int64_t stored;        /* channels of the job that are in memory */
};

static int64_t area_addr(const struct seg *s, int area)
{
	return s->area[area].addr;
}

/* Slot of key; *fresh: it must be filled. */
static int cache_find(struct cache *c, int n, int64_t key, bool *fresh)
{
	for (int i = 0; i < n; i++)
		if (c->key[i] == key + 1) {
			*fresh = false;
			return i;
		}
	int i = c->next;
	c->next = (i + 1) % n;
	c->key[i] = key + 1;
	*fresh = true;
	return i;
}

/* Copy box [n][rows][cols][c, +cn) of view v between memory and o. */
static int copy_box(struct emit *e, bool store, const struct view *v, int64_t n, const struct operand *o, int64_t c, int64_t cn)
{
	struct dma d = {
		.store = store, .root = v->root, .sp = o->addr, .row = cn * v->step[3],
		.off = v->off + n * v->step[0] + o->rows.lo * v->step[1] + o->cols.lo * v->step[2] + c * v->step[3],
		.n = { o->cols.n, o->rows.n, 1 },
		.mem_step = { v->step[2], v->step[1], 0 },
		.sp_step = { o->xs, o->ys, 0 },
	};
	return emit_dma(e, d);
}

/* Box of a storage that is on chip as a whole. */
static struct operand resident(const struct seg *s, int stor, const struct view *v, int64_t n, struct span rows,
                               struct span cols, int64_t c)
{
	int64_t base = area_addr(s, s->stor[stor].area);

	return (struct operand){
		.addr = base + v->off + n * v->step[0] + rows.lo * v->step[1] + cols.lo * v->step[2] + c * v->step[3],
		.ys = v->step[1], .xs = v->step[2], .elem = v->step[3], .rows = rows, .cols = cols,
	};
}

/* Box in a slot of its own, dense. */
static struct operand in_slot(int64_t addr, struct span rows, struct span cols, int64_t cn, const struct view *v)
{
	int64_t xs = cn * view_elem(v);

	return (struct operand){ .addr = addr, .ys = cols.n * xs, .xs = xs, .elem = view_elem(v), .rows = rows, .cols = cols };
}

/* A resident that comes from memory: as a whole, before its first use. */
static int load_resident(struct emit *e, int stor)
{
	struct stor *t = &e->s->stor[stor];

	if (!t->resident || !t->ext_in || t->loaded)
		return 0;
	t->loaded = true;
	/* In parts, so that work on the first rows can start. */
	int64_t addr = area_addr(e->s, t->area), parts = max64(1, min64(t->bytes / LOAD_PART, MAX_LOAD_PARTS));
	int64_t step = round_up(ceil_div(t->bytes, parts), 64);
	for (int64_t at = 0; at < t->bytes; at += step) {
		int err = emit_dma(e, (struct dma){ .root = t->root, .off = at, .sp = addr + at,
		                                    .row = min64(step, t->bytes - at), .n = { 1, 1, 1 } });
		if (err)
			return err;
	}
	return 0;
}

/* The jobs of a node: tiles of pixels in raster order, image after image, times channels. */
static int64_t n_tiles(const struct node_emit *m)
{
	const int64_t *y = m->nd->y.dim;

	return y[0] * ceil_div(y[1], m->p->th) * ceil_div(y[2], m->p->tw);
}

/* Part i of n of a span. */
static struct span part_of(struct span s, int64_t i, int64_t n)
{
	int64_t lo = s.n * i / n, hi = s.n * (i + 1) / n;

	return (struct span){ s.lo + lo, hi - lo };
}

/* The job's input, from memory; in parts, so that work on the first can start. */
static int load_parts(struct node_emit *m, const struct job *j, int64_t c, int64_t cn)
{
	const struct operand *x = &j->x;
	bool by_rows = x->rows.n > 1;

	for (int64_t i = 0; i < m->parts; i++) {
		struct operand o = *x;
		*(by_rows ? &o.rows : &o.cols) = part_of(by_rows ? x->rows : x->cols, i, m->parts);
		o.addr += (o.rows.lo - x->rows.lo) * x->ys + (o.cols.lo - x->cols.lo) * x->xs;
		int err = o.rows.n && o.cols.n ? copy_box(m->e, false, &m->nd->x, j->n, &o, c, cn) : 0;
		if (err)
			return err;
	}
	return 0;
}

static int set_x(struct node_emit *m, struct job *j)
{
	const struct node *nd = m->nd;
	struct span rows = input_rows(nd, j->oy, j->oh), cols = input_cols(nd, j->ox, j->ow);
	int64_t c = channelwise(nd) ? j->c : 0, cn = channelwise(nd) ? j->cn : nd->x.dim[3];
	bool fresh;

	if (m->p->xr) {
		j->x = resident(m->e->s, m->p->sx, &nd->x, j->n, rows, cols, c);
		return 0;
	}
	int64_t key = ((j->n * nd->y.dim[1] + j->oy) * nd->y.dim[2] + j->ox) * nd->x.dim[3] + c;
	int slot = cache_find(&m->in, m->p->n_in, key, &fresh);
	j->x = in_slot(area_addr(m->e->s, m->p->in[slot]), rows, cols, cn, &nd->x);
	if (!fresh)
		return 0;
	m->parts = n_tiles(m) == 1 && j->x.ys * rows.n > LONG_LOAD ? 4 : 1;
	return load_parts(m, j, c, cn);
}

static int set_r(struct node_emit *m, struct job *j)
{
	const struct node *nd = m->nd;
	bool still = nd->add && second_still(nd);
	struct span rows = { still ? 0 : j->oy, still ? 1 : j->oh }, cols = { still ? 0 : j->ox, still ? 1 : j->ow };
	int64_t c = nd->table ? 0 : j->c, cn = second_channels(nd, j->cn);

	if (!nd->add)
		return 0;
	if (m->p->rr) {
		j->r = resident(m->e->s, m->p->sr, &nd->r, j->n, rows, cols, c);
		return 0;
	}
	j->r = in_slot(area_addr(m->e->s, m->p->r[m->next_r]), rows, cols, cn, &nd->r);
	m->next_r = (m->next_r + 1) % m->p->n_r;
	int err = copy_box(m->e, false, &nd->r, j->n, &j->r, c, cn);
	if (still)
		j->r.ys = j->r.xs = 0;
	return err;
}

static void set_y(struct node_emit *m, struct job *j)
{
	struct span rows = { j->oy, j->oh }, cols = { j->ox, j->ow };

	if (m->p->yr) {
		j->y = resident(m->e->s, m->p->sy, &m->nd->y, j->n, rows, cols, j->c);
		return;
	}
	j->y = in_slot(area_addr(m->e->s, m->p->out[m->next_out]), rows, cols, j->cn, &m->nd->y);
	m->next_out = (m->next_out + 1) % m->p->n_out;
}

/* Channels before c that are not yet in memory. */
static int store_y(struct node_emit *m, const struct job *j, int64_t c)
{
	struct operand y = j->y;
	int64_t from = m->stored;

	m->stored = c;
	if (m->p->yr && !m->e->s->stor[m->p->sy].ext_out)
		return 0;
	y.addr += (from - j->c) * y.elem;
	return copy_box(m->e, true, &m->nd->y, j->n, &y, from, c - from);
}

static int load_bytes(struct emit *e, int64_t off, int64_t sp, int64_t bytes)
{
	return emit_dma(e, (struct dma){ .root = -1, .off = off, .sp = sp, .row = bytes, .n = { 1, 1, 1 } });
}

static int load_records(struct emit *e, const struct node *nd, int64_t tile, int64_t n, int64_t sp)
{
	int64_t rec = WEFT_PARAM_BYTES * e->s->cc->n, base = nd->rec_computed ? 0 : (int64_t)nd->blob;

	return emit_dma(e, (struct dma){ .root = nd->rec_computed ? nd->z.root : -1, .off = base + tile * rec, .sp = sp,
	                                 .row = n * rec, .n = { 1, 1, 1 } });
}

/* Storage of weights that are no constants: packed by the host, or computed. */
static int weights_root(const struct node *nd)
{
	return nd->w_late ? nd->w_late - 1 : nd->w_computed ? nd->z.root : -1;
}

/* Are records and weights bytes of the constants, as the scratchpad shall have them? */
static bool packed_here(const struct node *nd)
{
	return weights_root(nd) < 0 && !nd->w_int4;
}

/* Where the weights begin in their storage, or in the constants. */
static int64_t weights_at(const struct node *nd)
{
	if (nd->w_late)
		return 0;
	if (nd->w_computed)
		return nd->rec_computed ? nd->rec_bytes : 0;
	return (int64_t)nd->blob + nd->rec_bytes;
}

static int load_weights(struct emit *e, const struct node *nd, int64_t tile, int64_t n, int64_t sp)
{
	return emit_dma(e, (struct dma){ .root = weights_root(nd), .int4 = nd->w_int4,
	                                 .off = weights_at(nd) + tile * nd->tile_bytes / (nd->w_int4 ? 2 : 1),
	                                 .sp = sp, .row = n * nd->tile_bytes, .n = { 1, 1, 1 } });
}

/* Records and weights of column tiles [tile, +n) into a slot, records first. */
static int load_slot(struct node_emit *m, int64_t addr, int64_t tile, int64_t n)
{
	const struct node *nd = m->nd;
	int err = load_records(m->e, nd, tile, n, addr);

	return err ? err : load_weights(m->e, nd, tile, n, addr + n * WEFT_PARAM_BYTES * m->e->s->cc->n);
}

/* all_weights: bytes of a column tile's record. */
static int64_t rec_size(const struct node_emit *m)
{
	return WEFT_PARAM_BYTES * m->e->s->cc->n;
}

/* own_recs: a piece is its records, then its weights. */
static int64_t piece_addr(const struct node_emit *m, const struct piece *k)
{
	return area_addr(m->e->s, m->p->w[k->slot]) + k->before * (m->nd->tile_bytes + rec_size(m));
}

/* all_weights: where column tile t of piece k lies. */
static int64_t tile_addr(const struct node_emit *m, const struct piece *k, int64_t t)
{
	if (m->p->own_recs)
		return piece_addr(m, k) + k->n * rec_size(m) + (t - k->first) * m->nd->tile_bytes;
	return area_addr(m->e->s, m->p->w[k->slot]) + m->p->w_recs[k->slot] + (k->before + t - k->first) * m->nd->tile_bytes;
}

/* Its records: all in area 0, or before the piece's weights. */
static int64_t rec_addr(const struct node_emit *m, const struct piece *k, int64_t t)
{
	if (m->p->own_recs)
		return piece_addr(m, k) + (t - k->first) * rec_size(m);
	return area_addr(m->e->s, m->p->w[0]) + t * rec_size(m);
}

static int load_piece(struct node_emit *m, const struct piece *k)
{
	const struct node *nd = m->nd;
	int64_t to = tile_addr(m, k, k->first), both = nd->tile_bytes + rec_size(m);
	bool all = !m->p->own_recs && !k->first;
	int err = 0;

	/* Records lie beside their weights in memory as well. */
	if (all && packed_here(nd))
		return load_bytes(m->e, (int64_t)nd->blob, to - nd->rec_bytes, nd->rec_bytes + k->n * nd->tile_bytes);
	if (m->p->own_recs && packed_here(nd))
		return load_bytes(m->e, (int64_t)nd->blob + k->first * both, piece_addr(m, k), k->n * both);
	if (all)
		err = load_records(m->e, nd, 0, nd->n_tiles, rec_addr(m, k, 0));
	else if (m->p->own_recs)
		err = load_records(m->e, nd, k->first, k->n, rec_addr(m, k, k->first));
	return err ? err : load_weights(m->e, nd, k->first, k->n, to);
}

/* all_weights: column tiles before `need` must be there. */
static int load_up_to(struct node_emit *m, int64_t need)
{
	while (m->loaded < need) {
		struct piece k = plan_piece(m->p, m->nd, m->loaded);
		int err = load_piece(m, &k);
		if (err)
			return err;
		m->loaded += k.n;
	}
	return 0;
}

static int compute_all(struct node_emit *m, const struct job *j, const struct weights *w)
{
	switch (m->nd->kind) {
	case NODE_CONV:
	case NODE_DWCONV:
		return emit_conv(m->e, m->nd, j, w);
	case NODE_DW:
		return emit_dw(m->e, m->nd, j, w);
	case NODE_POOL:
		return emit_pool(m->e, m->nd, j);
	default:
		return emit_elt(m->e, m->nd, j);
	}
}

/* Operands that one command takes, as driver/verify/verify.h counts them. */
static int64_t work_of(const struct cc *cc, const struct node *nd, const struct job *j)
{
	int64_t pixels = j->oh * j->ow;

	if (nd->kind == NODE_CONV)
		return pixels * nd->tile_bytes / cc->n * ceil_div(j->cn, cc->n);
	return nd->kind == NODE_POOL ? pixels * nd->kh * nd->kw * j->cn : 0;
}

static int compute(struct node_emit *m, const struct job *j, const struct weights *w);

/* As the parts of the input come. */
static int compute_parts_of_input(struct node_emit *m, const struct job *j, const struct weights *w)
{
	int64_t parts = m->parts, n = m->e->s->cc->n;
	bool by_rows = j->oh > 1;
	int err = 0;

	m->parts = 1;
	for (int64_t i = 0, at = 0, all = by_rows ? j->oh : j->ow; i < parts && at < all && !err; i++) {
		int64_t end = i == parts - 1 ? all : min64(all, by_rows ? all * (i + 1) / parts : round_up(all * (i + 1) / parts, n));
		if (end <= at)
			continue;
		struct job k = by_rows ? job_part(j, j->oy + at, end - at, j->ox, j->ow)
		                       : job_part(j, j->oy, j->oh, j->ox + at, end - at);
		err = compute(m, &k, w);
		at = end;
	}
	return err;
}

/* Half the pixels at a time, until a command is not too long. */
static int compute(struct node_emit *m, const struct job *j, const struct weights *w)
{
	int64_t n = m->e->s->cc->n, oh = (j->oh + 1) / 2, ow = round_up((j->ow + 1) / 2, n);

	if (m->parts > 1)
		return compute_parts_of_input(m, j, w);
	if (work_of(m->e->s->cc, m->nd, j) <= (int64_t)(WEFT_VERIFY_MAX_TAPS / 2) || (j->oh == 1 && j->ow <= n))
		return compute_all(m, j, w);
	struct job a, b;
	if (j->oh > 1) {
		a = job_part(j, j->oy, oh, j->ox, j->ow);
		b = job_part(j, j->oy + oh, j->oh - oh, j->ox, j->ow);
	} else {
		a = job_part(j, j->oy, 1, j->ox, ow);
		b = job_part(j, j->oy, 1, j->ox + ow, j->ow - ow);
	}
	int err = compute(m, &a, w);
	return err ? err : compute(m, &b, w);
}

/* The channels [c, +cn) of a job; only its output and, channelwise, its input move. */
static struct job job_channels(const struct node *nd, const struct job *j, int64_t c, int64_t cn)
{
	struct job k = *j;

	k.y.addr += (c - j->c) * j->y.elem;
	k.r.addr += (c - j->c) * j->r.elem;
	if (channelwise(nd))
		k.x.addr += (c - j->c) * j->x.elem;
	k.c = c;
	k.cn = cn;
	return k;
}

/* Piece by piece as the weights arrive. */
static int compute_pieces(struct node_emit *m, const struct job *j)
{
	int64_t n = m->e->s->cc->n;

	for (int64_t c = j->c; c < j->c + j->cn; ) {
		int64_t tile = c / n;
		struct piece k = plan_piece(m->p, m->nd, tile);
		int64_t end = min64((k.first + k.n) * n, j->c + j->cn);
		struct weights w = { tile_addr(m, &k, tile), rec_addr(m, &k, tile), tile, ceil_div(end - c, n) };
		struct job part = job_channels(m->nd, j, c, end - c);
		int err = load_up_to(m, ceil_div(end, n));
		/* The less is left to store in the end the better. */
		if (!err && !m->p->behind && k.first && end == j->c + j->cn)
			err = store_y(m, j, c);
		if (!err)
			err = compute(m, &part, &w);
		if (err)
			return err;
		c = end;
	}
	return 0;
}

static int compute_slot(struct node_emit *m, const struct job *j)
{
	int64_t n = m->e->s->cc->n, tile = j->c / n, tiles = ceil_div(j->cn, n);
	bool fresh;
	int slot = cache_find(&m->w, m->p->n_w, tile, &fresh);
	int64_t addr = area_addr(m->e->s, m->p->w[slot]);
	int err = fresh ? load_slot(m, addr, tile, tiles) : 0;
	struct weights w = { addr + tiles * WEFT_PARAM_BYTES * n, addr, tile, tiles };

	return err ? err : compute(m, j, &w);
}

/* One part of the weights of one column tile: a kernel row's chunks [q, +nq). */
static int load_part(struct node_emit *m, int64_t addr, int64_t tile, const struct k_part *k)
{
	const struct node *nd = m->nd;
	int64_t n = m->e->s->cc->n, word = n * n, rec = WEFT_PARAM_BYTES * n, taps = nd->joined ? 1 : nd->kw;
	int64_t per = nd->w_int4 ? 2 : 1;      /* weights in a byte */
	int64_t off = weights_at(nd) + (tile * nd->tile_bytes + (k->ky * taps * nd->chunks + k->q) * word) / per;
	int err = k->last ? load_records(m->e, nd, tile, 1, addr) : 0;

	if (err)
		return err;
	return emit_dma(m->e, (struct dma){
		.root = weights_root(nd), .int4 = nd->w_int4, .off = off, .sp = addr + rec, .row = k->nq * word,
		.n = { taps, 1, 1 }, .mem_step = { nd->chunks * word / per, 0, 0 }, .sp_step = { k->nq * word, 0, 0 },
	});
}

static int compute_parts(struct node_emit *m, const struct job *j)
{
	const struct node *nd = m->nd;
	int64_t n = m->e->s->cc->n, tile = j->c / n;

	for (int64_t ky = 0; ky < nd->kh; ky++)
		for (int64_t q = 0; q < nd->chunks; q += m->p->kq) {
			struct k_part k = { ky, q, min64(m->p->kq, nd->chunks - q), false };
			k.last = ky == nd->kh - 1 && q + k.nq == nd->chunks;
			int64_t addr = area_addr(m->e->s, m->p->w[m->w.next]);
			struct weights w = { addr + WEFT_PARAM_BYTES * n, addr, tile, 1 };
			m->w.next = (m->w.next + 1) % m->p->n_w;
			int err = load_part(m, addr, tile, &k);
			if (!err)
				err = emit_conv_part(m->e, nd, j, &w, &k);
			if (err)
				return err;
		}
	return 0;
}

static struct job job_at(const struct node_emit *m, int64_t tile, int64_t c)
{
	const int64_t *y = m->nd->y.dim;
	int64_t nx = ceil_div(y[2], m->p->tw), ny = ceil_div(y[1], m->p->th);
	int64_t ox = tile % nx * m->p->tw, oy = tile / nx % ny * m->p->th;

	return (struct job){
		.n = tile / nx / ny, .oy = oy, .oh = min64(m->p->th, y[1] - oy), .ox = ox, .ow = min64(m->p->tw, y[2] - ox),
		.c = c, .cn = min64(m->p->tc, y[3] - c),
	};
}

static int run_job(struct node_emit *m, struct job j)
{
	int err;

	if ((err = set_x(m, &j)) || (err = set_r(m, &j)))
		return err;
	set_y(m, &j);
	m->stored = j.c;
	if (m->nd->w < 0)
		err = compute(m, &j, NULL);
	else if (m->p->split_k)
		err = compute_parts(m, &j);
	else
		err = m->p->all_weights ? compute_pieces(m, &j) : compute_slot(m, &j);
	return err ? err : store_y(m, &j, j.c + j.cn);
}

/*
 * Loads run in order: the next tile's input must not queue behind weights that
 * wait for their slot. It comes when this tile's first weights are on their way.
 */
static int input_ahead(struct node_emit *m, int64_t tile)
{
	if (m->p->xr || m->p->n_in < 2 || channelwise(m->nd) || tile >= n_tiles(m))
		return 0;
	struct job next = job_at(m, tile, 0);
	return set_x(m, &next);
}

static int run_by_pixels(struct node_emit *m)
{
	int64_t tiles = n_tiles(m), channels = ceil_div(m->nd->y.dim[3], m->p->tc), when = min64(2, channels) - 1;
	int err = 0;

	for (int64_t t = 0; t < tiles; t++)
		for (int64_t c = 0; c < channels && !err; c++) {
			err = run_job(m, job_at(m, t, c * m->p->tc));
			if (!err && c == when && channels > 1)
				err = input_ahead(m, t + 1);
		}
	return err;
}

/* The same for the next channels' weights among inputs. */
static int weights_ahead(struct node_emit *m, int64_t c)
{
	bool fresh;

	if (m->nd->w < 0 || m->p->all_weights || m->p->split_k || m->p->n_w < 2 || c >= m->nd->y.dim[3])
		return 0;
	int64_t n = m->e->s->cc->n;
	int slot = cache_find(&m->w, m->p->n_w, c / n, &fresh);
	return fresh ? load_slot(m, area_addr(m->e->s, m->p->w[slot]), c / n,
	                         ceil_div(min64(m->p->tc, m->nd->y.dim[3] - c), n)) : 0;
}

static int run_by_channels(struct node_emit *m)
{
	int64_t tiles = n_tiles(m), when = min64(2, tiles) - 1;
	int err = 0;

	for (int64_t c = 0; c < m->nd->y.dim[3]; c += m->p->tc)
		for (int64_t t = 0; t < tiles && !err; t++) {
			err = run_job(m, job_at(m, t, c));
			if (!err && t == when && tiles > 1)
				err = weights_ahead(m, c + m->p->tc);
		}
	return err;
}

/* Does the input come from memory as a whole, and is it larger than the first weights? */
static bool loads_input(const struct node_emit *m)
{
	const struct stor *x = &m->e->s->stor[m->p->sx];

	return x->resident && x->ext_in && !x->loaded && x->bytes > m->nd->rec_bytes + m->p->piece * m->nd->tile_bytes;
}

/* ---- stripes ---- */

struct group_emit {
	struct group_walker w;
	struct emit *e;
	struct group *g;
	struct node_emit *node;
};

static struct operand ring_rows(const struct group_emit *m, int ring, const struct view *v, struct span rows)
{
	const struct ring *r = &m->g->ring[ring];

	return (struct operand){
		.addr = area_addr(m->e->s, r->area) + rows.lo % r->rows * r->row_bytes,
		.ys = v->step[1], .xs = v->step[2], .elem = v->step[3], .rows = rows, .cols = { 0, v->dim[2] },
	};
}

static struct operand group_operand(const struct group_emit *m, int ring, int stor, const struct view *v, struct span rows)
{
	if (ring >= 0)
		return ring_rows(m, ring, v, rows);
	return resident(m->e->s, stor, v, 0, rows, (struct span){ 0, v->dim[2] }, 0);
}

/* Rows from y up to end that lie in one turn of the ring. */
static int64_t turn_end(const struct group_emit *m, int ring, int64_t y, int64_t end)
{
	return ring < 0 ? end : min64(end, (y / m->g->ring[ring].rows + 1) * m->g->ring[ring].rows);
}

/* Output rows from oy whose input windows begin in the same turn. */
static int64_t window_end(const struct group_emit *m, int k, int64_t oy, int64_t end)
{
	const struct node *nd = m->node[k].nd;
	int ring = m->g->rx[k];

	if (ring < 0)
		return end;
	int64_t rows = m->g->ring[ring].rows, turn = input_rows(nd, oy, 1).lo / rows, e = oy + 1;
	while (e < end && input_rows(nd, e, 1).lo / rows == turn)
		e++;
	return e;
}

/* The ring's first rows once more behind its end, for windows that begin before it. */
static int copy_over(struct group_emit *m, int ring, const struct view *v, struct span rows)
{
	const struct ring *r = &m->g->ring[ring];
	int64_t at = rows.lo % r->rows, n = min64(rows.n, r->over - at);

	if (rows.lo < r->rows || n <= 0)
		return 0;
	struct operand from = ring_rows(m, ring, v, (struct span){ rows.lo, n }), to = from;
	to.addr += r->rows * r->row_bytes;
	return emit_copy(m->e, &from, &to, v->dim[2] * v->dim[3] * v->step[3]);
}

static int group_job(struct group_emit *m, int k, int64_t oy, int64_t oh)
{
	struct node_emit *n = &m->node[k];
	const struct node *nd = n->nd;
	const struct plan *p = n->p;
	struct span rows = { oy, oh };
	struct job j = { .oy = oy, .oh = oh, .ow = nd->y.dim[2], .cn = nd->y.dim[3] };

	m->e->node = (int)(nd - m->e->s->cc->nodes);
	j.x = group_operand(m, m->g->rx[k], p->sx, &nd->x, input_rows(nd, oy, oh));
	j.y = group_operand(m, m->g->ry[k], p->sy, &nd->y, rows);
	if (nd->add)
		j.r = group_operand(m, m->g->rr[k], p->sr, &nd->r, rows);
	int err = nd->w < 0 ? compute(n, &j, NULL) : compute_pieces(n, &j);
	int ring = m->g->ry[k];
	bool store = ring < 0 ? m->e->s->stor[p->sy].ext_out : m->g->ring[ring].store;
	if (!err && store)
		err = copy_box(m->e, true, &nd->y, 0, &j.y, 0, nd->y.dim[3]);
	if (!err && ring >= 0)
		err = copy_over(m, ring, &nd->y, rows);
	return err;
}

static int group_rows(struct group_walker *w, int k, int64_t from, int64_t end)
{
	struct group_emit *m = (struct group_emit *)w;

	for (int64_t oy = from; oy < end; ) {
		int64_t e = turn_end(m, m->g->ry[k], oy, turn_end(m, m->g->rr[k], oy, end));
		e = window_end(m, k, oy, e);
		int err = group_job(m, k, oy, e - oy);
		if (err)
			return err;
		oy = e;
	}
	return 0;
}

/* Rows [from, end) of a loaded ring, and those that belong behind its end as well. */
static int group_load(struct group_walker *w, int ring, int64_t from, int64_t end)
{
	struct group_emit *m = (struct group_emit *)w;
	const struct ring *r = &m->g->ring[ring];
	int root = m->e->s->stor[r->stor].root;
	int64_t base = area_addr(m->e->s, r->area);

	for (int64_t y = from; y < end; ) {
		int64_t e = turn_end(m, ring, y, end), at = y % r->rows, again = min64(e - y, r->over - at);
		struct dma d = { .root = root, .off = y * r->row_bytes, .sp = base + at * r->row_bytes,
		                 .row = (e - y) * r->row_bytes, .n = { 1, 1, 1 } };
		int err = emit_dma(m->e, d);
		if (!err && y >= r->rows && again > 0) {
			d.sp += r->rows * r->row_bytes;
			d.row = again * r->row_bytes;
			err = emit_dma(m->e, d);
		}
		if (err)
			return err;
		y = e;
	}
	return 0;
}

static int group_start(struct group_emit *m)
{
	int err = 0;

	for (int k = 0; k < m->g->n && !err; k++) {
		struct seg *s = m->e->s;
		const struct plan *p = &s->plan[m->g->first + k];
		m->node[k] = (struct node_emit){ .e = m->e, .nd = seg_node(s, m->g->first + k), .p = p, .parts = 1 };
		m->e->node = (int)(m->node[k].nd - s->cc->nodes);
		if ((err = load_resident(m->e, p->sx)) || (p->sr >= 0 && (err = load_resident(m->e, p->sr))) ||
		    (err = load_resident(m->e, p->sy)))
			return err;
		if (m->node[k].nd->w >= 0)
			err = load_up_to(&m->node[k], m->node[k].nd->n_tiles);
	}
	return err;
}

static int run_group(struct emit *e, struct group *g)
{
	struct group_emit m = { .w = { group_load, group_rows }, .e = e, .g = g };

	m.node = calloc((size_t)g->n, sizeof *m.node);
	if (!m.node)
		return -ENOMEM;
	int err = group_start(&m);
	if (!err)
		err = group_walk(e->s, g, &m.w);
	free(m.node);
	return err;
}

static int run_node(struct emit *e, int i)
{
	struct seg *s = e->s;
	struct node_emit m = { .e = e, .nd = seg_node(s, i), .p = &s->plan[i], .parts = 1 };
	int err;

	e->node = (int)(m.nd - s->cc->nodes);
	/* The shorter load first: a larger input comes in parts, and the first is work already. */
	if (m.nd->w >= 0 && m.p->all_weights && loads_input(&m) &&
	    (err = load_up_to(&m, m.p->piece)))
		return err;
	if ((err = load_resident(e, m.p->sx)) || (m.p->sr >= 0 && (err = load_resident(e, m.p->sr))) ||
	    (m.p->sz >= 0 && (err = load_resident(e, m.p->sz))) || (err = load_resident(e, m.p->sy)))
		return err;
	if (m.nd->kind == NODE_ALU)
		return emit_alu(e, m.nd, m.p);
	return m.p->by_channel ? run_by_channels(&m) : run_by_pixels(&m);
}

int seg_emit(struct seg *s)
{
	struct emit e = { .s = s };
	int err = 0;

	if (!s->hazards && !(s->hazards = hazards_new()))
		return -ENOMEM;
	hazards_clear(s->hazards);
	e.h = s->hazards;
	for (int i = 0; i < WEFT_N_CMDS; i++)
		weft_cmd_init(&e.fresh[i], weft_cmd_infos[i].op);
	s->cmds.n = s->cmds.n_rec = 0;
	for (int i = 0; i < s->n_stor; i++)
		s->stor[i].loaded = false;
	for (int i = 0; i < s->n && !err; i++) {
		struct group *g = s->plan[i].group ? &s->group[s->plan[i].group - 1] : NULL;
		if (!g)
			err = run_node(&e, i);
		else if (g->first == i)
			err = run_group(&e, g);
	}
	return err ? err : order_loads(s);
}

static int pack_pieces(struct cc *cc, const struct node *nd, const struct plan *p)
{
	int64_t rec = WEFT_PARAM_BYTES * cc->n, bytes = nd->rec_bytes + nd->n_tiles * nd->tile_bytes;
	uint8_t *to = cc->consts.p + nd->blob, *was = malloc((size_t)bytes);

	if (!was)
		return -ENOMEM;
	memcpy(was, to, (size_t)bytes);
	for (struct piece k = { 0 }; k.first < nd->n_tiles; k.first += k.n) {
		k = plan_piece(p, nd, k.first);
		memcpy(to, was + k.first * rec, (size_t)(k.n * rec));
		memcpy(to + k.n * rec, was + nd->rec_bytes + k.first * nd->tile_bytes, (size_t)(k.n * nd->tile_bytes));
		to += k.n * (rec + nd->tile_bytes);
	}
	free(was);
	return 0;
}

int seg_pack(struct seg *s)
{
	int err = 0;

	for (int i = 0; i < s->n && !err; i++) {
		const struct node *nd = seg_node(s, i);
		if (nd->w >= 0 && s->plan[i].all_weights && s->plan[i].own_recs && packed_here(nd))
			err = pack_pieces(s->cc, nd, &s->plan[i]);
	}
	return err;
}

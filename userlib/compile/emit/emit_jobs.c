/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of one node: where each job's operands lie, which loads come before it,
 * its commands, and the store of its output. A job is one tile of pixels times one
 * range of channels (plan.h). What may overlap is not decided here; hazards.c finds
 * what must not.
 */
#include "driver/verify/verify.h"
#include "node_emit.h"

/* The input of a node's only tile comes in INPUT_PARTS loads if it is longer than LONG_LOAD, so that the array can
 * begin with the first part. Not measured: a load of that many bytes takes 4 096 cycles of slow memory. */
#define LONG_LOAD   32768      /* bytes */
#define INPUT_PARTS 4

/*
 * Returns how many tiles of pixels the node is cut into, of all images. Its jobs are these tiles times ranges
 * of channels.
 */
static int64_t n_pixel_tiles(const struct node_emit *m)
{
	const int64_t *y = m->nd->y.dim;

	return y[0] * ceil_div(y[1], m->p->tile.th) * ceil_div(y[2], m->p->tile.tw);
}

/*
 * Returns part i (0 <= i < n) of span s cut into n parts whose sizes differ by at most one; parts are empty
 * where n exceeds s.n.
 */
static struct span part_of(struct span s, int64_t i, int64_t n)
{
	int64_t lo = s.n * i / n, hi = s.n * (i + 1) / n;

	return (struct span){ s.lo + lo, hi - lo };
}

/*
 * Emit the loads of the job's input, box b, in m->parts parts: of rows, or of columns if it has only one row.
 * Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a
 * value).
 */
static int load_parts(struct node_emit *m, const struct job *j, const struct box *b)
{
	const struct operand *x = &j->x;
	bool by_rows = x->rows.n > 1;

	for (int64_t i = 0; i < m->parts; i++) {
		struct operand o = *x;
		struct box part = *b;
		*(by_rows ? &part.rows : &part.cols) = part_of(by_rows ? b->rows : b->cols, i, m->parts);
		o.addr += (part.rows.lo - b->rows.lo) * x->ys + (part.cols.lo - b->cols.lo) * x->xs;
		int err = part.rows.n && part.cols.n ? emit_copy_box(m->e, false, &m->nd->x, &part, &o) : 0;
		if (err)
			return err;
	}
	return 0;
}

/*
 * Set j->x to where the job's input lies: in its resident storage, or in an input slot. If no slot holds
 * this input yet, emit its load into the next one, and set m->parts to the number of loads: INPUT_PARTS if
 * the input is longer than LONG_LOAD and the node has only one tile of pixels, else 1. m->parts stays as it
 * is if nothing is loaded. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a
 * command cannot hold a value).
 */
static int set_x(struct node_emit *m, struct job *j)
{
	const struct node *nd = m->nd;
	bool own = channelwise(nd), fresh;
	struct box b = { j->n, input_rows(nd, j->oy, j->oh), input_cols(nd, j->ox, j->ow), own ? j->c : 0, own ? j->cn : nd->x.dim[3] };

	if (m->p->req.x_resident) {
		j->x = resident_operand(m->e->s, m->p->x_storage, &nd->x, &b);
		return 0;
	}
	int64_t key = ((j->n * nd->y.dim[1] + j->oy) * nd->y.dim[2] + j->ox) * nd->x.dim[3] + b.c;
	int slot = slot_cache_find(&m->in, m->p->tile.n_in, key, &fresh);
	j->x = slot_operand(emit_area_addr(m->e->s, m->p->tile.in[slot]), &nd->x, &b);
	if (!fresh)
		return 0;
	m->parts = n_pixel_tiles(m) == 1 && j->x.ys * b.rows.n > LONG_LOAD ? INPUT_PARTS : 1;
	return load_parts(m, j, &b);
}

/*
 * If the node has a second operand, set j->r to where the job's part of it lies: in its resident storage, or
 * in the next slot for second operands, into which its load is emitted. An operand that is the same for all
 * pixels takes one pixel there and has steps 0. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can
 * count) or -ERANGE (a command cannot hold a value).
 */
static int set_r(struct node_emit *m, struct job *j)
{
	const struct node *nd = m->nd;
	bool still = nd->add && second_still(nd);
	struct box b = { j->n, { still ? 0 : j->oy, still ? 1 : j->oh }, { still ? 0 : j->ox, still ? 1 : j->ow },
	                 by_table(nd) ? 0 : j->c, second_channels(nd, j->cn) };

	if (!nd->add)
		return 0;
	if (m->p->req.r_resident) {
		j->r = resident_operand(m->e->s, m->p->r_storage, &nd->r, &b);
		return 0;
	}
	j->r = slot_operand(emit_area_addr(m->e->s, m->p->tile.r[m->next_r]), &nd->r, &b);
	m->next_r = (m->next_r + 1) % m->p->tile.n_r;
	int err = emit_copy_box(m->e, false, &nd->r, &b, &j->r);
	if (still)
		j->r.ys = j->r.xs = 0;
	return err;
}

/*
 * Set j->y to where the job's output goes: its place in the resident storage, or the next output slot,
 * which advances m->next_out.
 */
static void set_y(struct node_emit *m, struct job *j)
{
	struct box b = { j->n, { j->oy, j->oh }, { j->ox, j->ow }, j->c, j->cn };

	if (m->p->req.y_resident) {
		j->y = resident_operand(m->e->s, m->p->y_storage, &m->nd->y, &b);
		return;
	}
	j->y = slot_operand(emit_area_addr(m->e->s, m->p->tile.out[m->next_out]), &m->nd->y, &b);
	m->next_out = (m->next_out + 1) % m->p->tile.n_out;
}

/*
 * Emit the store of the job's channels from m->stored up to c (not included), but none if the output stays
 * on chip and is not needed in memory. In both cases m->stored becomes c. Returns 0, -ENOMEM, -E2BIG (more
 * commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int store_y(struct node_emit *m, const struct job *j, int64_t c)
{
	struct operand y = j->y;
	struct box b = { j->n, j->y.rows, j->y.cols, m->stored, c - m->stored };

	m->stored = c;
	if (m->p->req.y_resident && !m->e->s->storage[m->p->y_storage].ext_out)
		return 0;
	y.addr += (b.c - j->c) * y.elem;
	return emit_copy_box(m->e, true, &m->nd->y, &b, &y);
}

/*
 * Emit the commands of job j with the function for the node's kind, without cutting it. w are the weights at
 * hand, or NULL. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command
 * cannot hold a value).
 */
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

/*
 * Returns how many operands one command for the job would take, as driver/verify/verify.h counts and limits
 * them: for NODE_CONV pixels times words of a tile's weights times column tiles, for pooling pixels times
 * taps times channels; 0 for kinds that have no such limit.
 */
static int64_t work_of(const struct cc *cc, const struct node *nd, const struct job *j)
{
	int64_t pixels = j->oh * j->ow;

	if (nd->kind == NODE_CONV)
		return pixels * nd->wt.tile_bytes / cc->n * ceil_div(j->cn, cc->n);
	return nd->kind == NODE_POOL ? pixels * nd->win.kh * nd->win.kw * j->cn : 0;
}

/*
 * Emit the commands of job j in m->parts parts of its rows (or if it has one row, of its columns, in
 * whole groups), so that each can begin when its part of the input has been loaded. m->parts becomes 1.
 * Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a
 * value).
 */
static int compute_parts_of_input(struct node_emit *m, const struct job *j, const struct weights *w)
{
	int64_t parts = m->parts, n = group_pixels(m->e->s->cc, m->nd);
	bool by_rows = j->oh > 1;
	int err = 0;

	m->parts = 1;
	for (int64_t i = 0, at = 0, all = by_rows ? j->oh : j->ow; i < parts && at < all && !err; i++) {
		int64_t end = i == parts - 1 ? all : min64(all, by_rows ? all * (i + 1) / parts : round_up(all * (i + 1) / parts, n));
		if (end <= at)
			continue;
		struct job k = by_rows ? job_part(j, j->oy + at, end - at, j->ox, j->ow)
		                       : job_part(j, j->oy, j->oh, j->ox + at, end - at);
		err = node_compute(m, &k, w);
		at = end;
	}
	return err;
}

/*
 * Emit the compute commands of job j, whose operands and weights w (NULL: none) are in the scratchpad. If
 * m->parts is above 1, the job is cut into as many parts, and m->parts becomes 1. A command that would take
 * more than half of the operands that the verifier allows is cut into halves of its pixels, again and
 * again, unless it has one row of at most N pixels. Returns 0, -ENOMEM, -E2BIG (more commands than a stream
 * can count) or -ERANGE (a command cannot hold a value).
 */
int node_compute(struct node_emit *m, const struct job *j, const struct weights *w)
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
	int err = node_compute(m, &a, w);
	return err ? err : node_compute(m, &b, w);
}

/*
 * Returns the part of job j with channels [c, +cn). Its output and second operand move, unless that is a table, which all
 * channels read, and its input if the node treats channels apart.
 */
static struct job job_channels(const struct node *nd, const struct job *j, int64_t c, int64_t cn)
{
	struct job k = *j;

	k.y.addr += (c - j->c) * j->y.elem;
	if (!by_table(nd))
		k.r.addr += (c - j->c) * j->r.elem;
	if (channelwise(nd))
		k.x.addr += (c - j->c) * j->x.elem;
	k.c = c;
	k.cn = cn;
	return k;
}

/*
 * For plans with all_weights: emit the compute commands of job j piece after piece of the weights, each
 * piece loaded right before it is needed, if it is not there. In the last node of a step the results of all
 * other pieces are stored before the last piece's work, since nothing would hide that store behind it; the
 * caller stores the rest. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a
 * command cannot hold a value).
 */
int node_compute_pieces(struct node_emit *m, const struct job *j)
{
	int64_t n = m->e->s->cc->n;

	for (int64_t c = j->c; c < j->c + j->cn; ) {
		int64_t tile = c / n;
		struct piece k = plan_piece(m->p, m->nd, tile);
		int64_t end = min64((k.first + k.n) * n, j->c + j->cn);
		struct weights w = { weights_tile_addr(m, &k, tile), weights_rec_addr(m, &k, tile), tile, ceil_div(end - c, n) };
		struct job part = job_channels(m->nd, j, c, end - c);
		int err = weights_load_up_to(m, ceil_div(end, n));
		/* Behind the last piece of the step's last node nothing hides a store: what is done goes out before it. */
		if (!err && !m->p->req.behind && k.first && end == j->c + j->cn)
			err = store_y(m, j, c);
		if (!err)
			err = node_compute(m, &part, &w);
		if (err)
			return err;
		c = end;
	}
	return 0;
}

/*
 * Emit the compute commands of job j with its weights in a slot, which is loaded first if it holds other
 * channels. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot
 * hold a value).
 */
int node_compute_slot(struct node_emit *m, const struct job *j)
{
	int64_t n = m->e->s->cc->n, tile = j->c / n, tiles = ceil_div(j->cn, n);
	bool fresh;
	int slot = slot_cache_find(&m->w, m->p->tile.n_w, tile, &fresh);
	int64_t addr = emit_area_addr(m->e->s, m->p->tile.w[slot]);
	int err = fresh ? weights_load_slot(m, addr, tile, tiles) : 0;
	struct weights w = { addr + tiles * m->nd->wt.tile_rec_bytes, addr, tile, tiles };

	return err ? err : node_compute(m, j, &w);
}

/*
 * For plans with split_k: emit the commands of job j, one for each part of the sum, each after the load of
 * its weights into the next slot. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or
 * -ERANGE (a command cannot hold a value).
 */
static int compute_parts(struct node_emit *m, const struct job *j)
{
	const struct node *nd = m->nd;
	int64_t n = m->e->s->cc->n, tile = j->c / n, tiles = ceil_div(j->cn, n);

	for (int64_t ky = 0; ky < nd->win.kh; ky++)
		for (int64_t q = 0; q < nd->wt.chunks; q += m->p->tile.kq) {
			struct k_part k = { ky, q, min64(m->p->tile.kq, nd->wt.chunks - q), false };
			k.last = ky == nd->win.kh - 1 && q + k.nq == nd->wt.chunks;
			int64_t addr = emit_area_addr(m->e->s, m->p->tile.w[m->w.next]);
			struct weights w = { addr + tiles * nd->wt.tile_rec_bytes, addr, tile, tiles };
			m->w.next = (m->w.next + 1) % m->p->tile.n_w;
			int err = weights_load_part(m, addr, tile, tiles, &k);
			if (!err)
				err = emit_conv_part(m->e, nd, j, &w, &k);
			if (err)
				return err;
		}
	return 0;
}

/*
 * Returns the job of pixel tile number `tile` (in raster order, all images) and the channels from c on. Where
 * its operands lie is not set.
 */
static struct job job_at(const struct node_emit *m, int64_t tile, int64_t c)
{
	const int64_t *y = m->nd->y.dim;
	int64_t nx = ceil_div(y[2], m->p->tile.tw), ny = ceil_div(y[1], m->p->tile.th);
	int64_t ox = tile % nx * m->p->tile.tw, oy = tile / nx % ny * m->p->tile.th;

	return (struct job){
		.n = tile / nx / ny, .oy = oy, .oh = min64(m->p->tile.th, y[1] - oy), .ox = ox, .ow = min64(m->p->tile.tw, y[2] - ox),
		.c = c, .cn = min64(m->p->tile.tc, y[3] - c),
	};
}

/*
 * Emit all of one job: the loads of its operands, its compute commands and the store of its output. Returns
 * 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int run_job(struct node_emit *m, struct job j)
{
	int err;

	if ((err = set_x(m, &j)) || (err = set_r(m, &j)))
		return err;
	set_y(m, &j);
	m->stored = j.c;
	if (m->nd->wt.w < 0)
		err = node_compute(m, &j, NULL);
	else if (m->p->tile.split_k)
		err = compute_parts(m, &j);
	else
		err = m->p->tile.all_weights ? node_compute_pieces(m, &j) : node_compute_slot(m, &j);
	return err ? err : store_y(m, &j, j.c + j.cn);
}

/*
 * Emit the load of the input of pixel tile number `tile` now, before all weights of the tile before it have
 * been loaded. Loads run in order, so behind those weights, which wait for free slots, the input would come
 * too late. Nothing happens if there is no such tile, if the input is resident or has only one slot, or if
 * the node treats channels apart. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or
 * -ERANGE (a command cannot hold a value).
 */
static int input_ahead(struct node_emit *m, int64_t tile)
{
	if (m->p->req.x_resident || m->p->tile.n_in < 2 || channelwise(m->nd) || tile >= n_pixel_tiles(m))
		return 0;
	struct job next = job_at(m, tile, 0);
	return set_x(m, &next);
}

/*
 * Emit all jobs of the node, pixels outermost: all ranges of channels of a tile, then the next tile. If
 * there are several ranges, the input of the next tile is loaded behind a tile's second range
 * (input_ahead()). Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command
 * cannot hold a value).
 */
static int run_by_pixels(struct node_emit *m)
{
	int64_t tiles = n_pixel_tiles(m), channels = ceil_div(m->nd->y.dim[3], m->p->tile.tc), when = min64(2, channels) - 1;
	int err = 0;

	for (int64_t t = 0; t < tiles && !err; t++)
		for (int64_t c = 0; c < channels && !err; c++) {
			err = run_job(m, job_at(m, t, c * m->p->tile.tc));
			if (!err && c == when && channels > 1)
				err = input_ahead(m, t + 1);
		}
	return err;
}

/*
 * Emit the load of the weights of the channels from c on now, before the remaining inputs of the channels
 * before them; behind those, which wait for free slots, they would come too late. Nothing happens if there
 * are no such channels, if a slot holds their weights already, or if the weights do not come in two or more
 * slots. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold
 * a value).
 */
static int weights_ahead(struct node_emit *m, int64_t c)
{
	bool fresh;

	if (m->nd->wt.w < 0 || m->p->tile.all_weights || m->p->tile.split_k || m->p->tile.n_w < 2 || c >= m->nd->y.dim[3])
		return 0;
	int64_t n = m->e->s->cc->n;
	int slot = slot_cache_find(&m->w, m->p->tile.n_w, c / n, &fresh);
	return fresh ? weights_load_slot(m, emit_area_addr(m->e->s, m->p->tile.w[slot]), c / n,
	                         ceil_div(min64(m->p->tile.tc, m->nd->y.dim[3] - c), n)) : 0;
}

/*
 * Emit all jobs of the node, channels outermost: all tiles of a range of channels, then the next range. If
 * there are several tiles, the weights of the next range are loaded behind a range's second tile
 * (weights_ahead()). Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a
 * command cannot hold a value).
 */
static int run_by_channels(struct node_emit *m)
{
	int64_t tiles = n_pixel_tiles(m), when = min64(2, tiles) - 1;
	int err = 0;

	for (int64_t c = 0; c < m->nd->y.dim[3] && !err; c += m->p->tile.tc)
		for (int64_t t = 0; t < tiles && !err; t++) {
			err = run_job(m, job_at(m, t, c));
			if (!err && t == when && tiles > 1)
				err = weights_ahead(m, c + m->p->tile.tc);
		}
	return err;
}

/*
 * Emit all jobs of a node that is no loop nest and in no stripe group, in the loop order of its tiling.
 * Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a
 * value).
 */
int emit_node_jobs(struct node_emit *m)
{
	return m->p->tile.by_channel ? run_by_channels(m) : run_by_pixels(m);
}

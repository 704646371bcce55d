/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of a stripe group, in the order of group_walk() (plan/stripe_walk.c).
 * A job is as many rows of one node as lie in one stripe and in one pass through
 * every ring that the node reads or writes.
 */
#include <errno.h>
#include <stdlib.h>

#include "node_emit.h"

/* The first load of a ring comes in FIRST_LOADS parts, and the node that reads it makes its first rows in FIRST_JOBS jobs. */
#define FIRST_LOADS 8
#define FIRST_JOBS 4

struct group_emit {
	struct group_walker w; /* first: group_walk() hands a pointer to it to the callbacks below */
	struct emit *e;        /* the state of the step */
	struct group *g;       /* the group */
	struct node_emit *node;    /* the state of each node of the group */
	int64_t made[GROUP_NODES]; /* rows that each node of the group has made */
	int64_t copied[MAX_RINGS]; /* rings that come in parts: rows that are complete, and kept twice where they have to be */
};

/*
 * Returns where `rows` of a node's operand or result, of which v is the view, lie in ring number `ring` of the
 * group, with all columns and channels of the view: row y of the ring's tensor is at position y mod ring.rows. If
 * the view is a part of the rows (ring.parts), its rows are first counted in rows of the ring's tensor, from its
 * offset and step, and the address is that of its first byte in the row. If the ring is packed, v must be the view
 * that it holds, and its pixels lie side by side there. The rows must not go on beyond what lies
 * behind the ring's end.
 */
static struct operand ring_rows(const struct group_emit *m, int ring, const struct view *v, struct span rows)
{
	const struct ring *r = &m->g->ring[ring];
	if (r->packed)
		return (struct operand){
			.addr = emit_area_addr(m->e->s, r->area) + rows.lo % r->rows * r->row_bytes,
			.ys = r->row_bytes, .xs = v->dim[3] * v->step[3], .elem = v->step[3], .rows = rows, .cols = { 0, v->dim[2] },
		};
	/* Of a part, the offset says which rows are meant and where in a row it begins. */
	int64_t row = rows.lo * (v->step[1] / r->row_bytes) + v->off / r->row_bytes;

	return (struct operand){
		.addr = emit_area_addr(m->e->s, r->area) + row % r->rows * r->row_bytes + v->off % r->row_bytes,
		.ys = v->step[1], .xs = v->step[2], .elem = v->step[3], .rows = rows, .cols = { 0, v->dim[2] },
	};
}

/*
 * Returns where `rows` of a tensor, of which v is the view, with all columns and channels of its first image,
 * lie: in ring number `ring` of the group, or if that is -1, in the resident storage with this number in the
 * step.
 */
static struct operand group_operand(const struct group_emit *m, int ring, int storage, const struct view *v, struct span rows)
{
	if (ring >= 0)
		return ring_rows(m, ring, v, rows);
	struct box b = { 0, rows, { 0, v->dim[2] }, 0, v->dim[3] };
	return resident_operand(m->e->s, storage, v, &b);
}

/*
 * Returns the end of the rows from y on, at most `end`, that lie in the same pass through the ring as row y;
 * `end` if `ring` is -1.
 */
static int64_t pass_end(const struct group_emit *m, int ring, int64_t y, int64_t end)
{
	return ring < 0 ? end : min64(end, (y / m->g->ring[ring].rows + 1) * m->g->ring[ring].rows);
}

/*
 * Returns the end of the output rows of node k, from oy on and at most `end`, that lie in the same pass through the ring of its
 * result as row oy; `end` if the result is resident.
 */
static int64_t output_end(const struct group_emit *m, int k, int64_t oy, int64_t end)
{
	const struct group *g = m->g;

	if (g->ry[k] < 0)
		return end;
	/* The ring has a multiple of g->times[k] rows, so the pass ends between two of the node's rows. */
	int64_t to = pass_end(m, g->ry[k], ring_row(g, k, oy), INT64_MAX);
	return min64(end, to / g->times[k]);
}

/*
 * Returns the end of the output rows of node k, from oy on and at most `end`, whose input windows begin in
 * the same pass through the input's ring as that of row oy. It is `end` if the input is resident.
 */
static int64_t window_end(const struct group_emit *m, int k, int64_t oy, int64_t end)
{
	const struct node *nd = m->node[k].nd;
	int ring = m->g->rx[k];

	if (ring < 0)
		return end;
	int64_t rows = m->g->ring[ring].rows, pass = input_rows(nd, oy, 1).lo / rows, e = oy + 1;
	while (e < end && input_rows(nd, e, 1).lo / rows == pass)
		e++;
	return e;
}

/*
 * Emit the copy of those of the rows `rows`, just written and all in one pass through the ring, that belong to the
 * ring's beginning: they are kept once more behind its end, for windows that begin before the end. In the ring's
 * first pass nothing is copied, since no window wraps into it. Returns 0, -ENOMEM, -E2BIG (more commands than a
 * stream can count) or -ERANGE (a command cannot hold a value).
 */
static int copy_wrapped_rows(struct group_emit *m, int ring, const struct view *v, struct span rows)
{
	const struct ring *r = &m->g->ring[ring];
	int64_t at = rows.lo % r->rows, n = min64(rows.n, r->wrap_rows - at);

	if (rows.lo < r->rows || n <= 0)
		return 0;
	struct operand from = ring_rows(m, ring, v, (struct span){ rows.lo, n }), to = from;
	to.addr += r->rows * r->row_bytes;
	return emit_copy(m->e, &from, &to, v->dim[2] * v->dim[3] * v->step[3]);
}

/*
 * For a ring that several nodes write in parts, whose rows are complete once all its writers have made them: emit
 * the copies of those rows that belong to the ring's beginning (copy_wrapped_rows()), from row m->copied[ring] on
 * up to the first row that is not complete by now (m->made[]). m->copied[ring] becomes the number of that row.
 * Returns what copy_wrapped_rows() returns.
 */
static int copy_complete_rows(struct group_emit *m, int ring)
{
	const struct ring *r = &m->g->ring[ring];
	const struct view row = { .dim = { 1, r->height, r->row_bytes, 1 }, .step = { r->height * r->row_bytes, r->row_bytes, 1, 1 } };
	int64_t all = r->height;
	int err = 0;

	for (int k = 0; k < m->g->n; k++)
		if (m->g->ry[k] == ring && m->made[k] < m->node[k].nd->y.dim[1])
			all = min64(all, ring_row(m->g, k, m->made[k]));
	while (m->copied[ring] < all && !err) {
		int64_t lo = m->copied[ring], end = pass_end(m, ring, lo, all);
		err = copy_wrapped_rows(m, ring, &row, (struct span){ lo, end - lo });
		m->copied[ring] = end;
	}
	return err;
}

/*
 * Emit the job of node k of the group for output rows [oy, +oh), which lie in one pass of each ring: its
 * commands, the store of the rows if they are needed in memory, and the copy of rows at the ring's beginning
 * behind the ring's end. The node becomes the one at hand (e->node), and m->made[k] the end of these rows.
 * Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a
 * value).
 */
static int group_job(struct group_emit *m, int k, int64_t oy, int64_t oh)
{
	struct node_emit *n = &m->node[k];
	const struct node *nd = n->nd;
	const struct plan *p = n->p;
	struct span rows = { oy, oh };
	struct job j = { .oy = oy, .oh = oh, .ow = nd->y.dim[2], .cn = nd->y.dim[3] };

	begin_node(n);
	j.x = group_operand(m, m->g->rx[k], p->x_storage, &nd->x, input_rows(nd, oy, oh));
	j.y = group_operand(m, m->g->ry[k], p->y_storage, &nd->y, rows);
	if (nd->add)
		j.r = group_operand(m, m->g->rr[k], p->r_storage, &nd->r, rows);
	int err = nd->wt.w < 0 ? node_compute(n, &j, NULL) : node_compute_pieces(n, &j);
	int ring = m->g->ry[k];
	bool store = ring < 0 ? m->e->s->storage[p->y_storage].ext_out : m->g->ring[ring].store;
	if (!err && store)
		err = emit_copy_box(m->e, true, &nd->y, &(struct box){ 0, j.y.rows, j.y.cols, 0, nd->y.dim[3] }, &j.y);
	m->made[k] = oy + oh;
	if (!err && ring >= 0)
		err = m->g->ring[ring].parts ? copy_complete_rows(m, ring) : copy_wrapped_rows(m, ring, &nd->y, rows);
	return err;
}

/*
 * Returns how many rows a job of node k may have among the node's first `end` rows, which it makes for the first
 * stripe. That is one part in FIRST_JOBS of them if everything has its place and the node's input is loaded into a
 * ring, so that work begins before all rows of the input are there; on the array it is rounded up until a job fills
 * whole groups of pixels. Otherwise it is `end`.
 */
static int64_t first_rows(const struct group_emit *m, int k, int64_t end)
{
	const struct npu_step *s = m->e->s;
	const struct node *nd = m->node[k].nd;
	int64_t q = 1;

	if (!s->placed || m->g->rx[k] < 0 || !m->g->ring[m->g->rx[k]].load)
		return end;
	while (on_array(nd) && q * nd->y.dim[2] % group_pixels(s->cc, nd))
		q++;
	return round_up(ceil_div(end, FIRST_JOBS), q);
}

/*
 * Callback of group_walk(): node k makes output rows [from, end). One job makes them if they lie in one pass of each of
 * the node's rings, and else several; and the node's first rows are made in jobs of at most first_rows(). Returns 0,
 * -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int group_rows(struct group_walker *w, int k, int64_t from, int64_t end)
{
	struct group_emit *m = (struct group_emit *)w;
	int64_t most = from ? end : first_rows(m, k, end);

	for (int64_t oy = from; oy < end; ) {
		int64_t e = output_end(m, k, oy, pass_end(m, m->g->rr[k], oy, end));
		e = min64(window_end(m, k, oy, e), oy + most);
		int err = group_job(m, k, oy, e - oy);
		if (err)
			return err;
		oy = e;
	}
	return 0;
}

/*
 * Emit the load of n rows of a packed ring, from row y on, to scratchpad address sp. Returns 0, -ENOMEM, -E2BIG (more
 * commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int load_packed(struct group_emit *m, const struct ring *r, int64_t y, int64_t n, int64_t sp)
{
	const struct view *v = &r->view;
	struct box b = { 0, { y, n }, { 0, v->dim[2] }, 0, v->dim[3] };
	struct operand o = slot_operand(sp, v, &b);

	return emit_copy_box(m->e, false, v, &b, &o);
}

/*
 * Callback of group_walk(): emit the loads of rows [from, end) of a ring, one for each pass through the ring; but if
 * everything has its place, the ring's first rows come in FIRST_LOADS parts. Rows that belong to the ring's beginning are
 * loaded once more behind its end, but not in the first pass, in which no window wraps. Returns 0, -ENOMEM, -E2BIG (more
 * commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int group_load(struct group_walker *w, int ring, int64_t from, int64_t end)
{
	struct group_emit *m = (struct group_emit *)w;
	const struct ring *r = &m->g->ring[ring];
	int root = m->e->s->storage[r->storage].root;
	int64_t base = emit_area_addr(m->e->s, r->area);
	int64_t most = from || !m->e->s->placed ? end : ceil_div(end, FIRST_LOADS);

	for (int64_t y = from; y < end; ) {
		int64_t e = min64(pass_end(m, ring, y, end), y + most), at = y % r->rows, again = min64(e - y, r->wrap_rows - at);
		struct dma d = { .root = root, .off = y * r->row_bytes, .sp = base + at * r->row_bytes,
		                 .row = (e - y) * r->row_bytes, .n = { 1, 1, 1 } };
		int err = r->packed ? load_packed(m, r, y, e - y, d.sp) : emit_dma(m->e, d);
		if (!err && y >= r->rows && again > 0) {
			d.sp += r->rows * r->row_bytes;
			d.row = again * r->row_bytes;
			err = r->packed ? load_packed(m, r, y, again, d.sp) : emit_dma(m->e, d);
		}
		if (err)
			return err;
		y = e;
	}
	return 0;
}

/*
 * Prepare the nodes of stripe or slice group g: set m[k] for node k, and emit the loads of its resident operands, and
 * of its weights if all of them stay on chip (all_weights). Returns 0, -ENOMEM, -E2BIG (more commands than a stream
 * can count) or -ERANGE (a command cannot hold a value).
 */
int group_start(struct emit *e, const struct group *g, struct node_emit *m)
{
	const struct npu_step *s = e->s;
	int err = 0;

	for (int k = 0; k < g->n && !err; k++) {
		const struct node *nd = step_node(s, g->first + k);
		const struct plan *p = &s->plan[g->first + k];
		m[k] = (struct node_emit){ .e = e, .nd = nd, .p = p, .parts = 1 };
		e->node = (int)(nd - s->cc->nodes);
		err = node_load_residents(&m[k]);
		if (!err && nd->wt.w >= 0 && p->tile.all_weights)
			err = weights_load_up_to(&m[k], nd->wt.n_tiles);
	}
	return err;
}

/*
 * Emit all nodes of a stripe group, interleaved stripe by stripe. Returns 0, -ENOMEM, -E2BIG (more commands
 * than a stream can count) or -ERANGE (a command cannot hold a value).
 */
int emit_stripes(struct emit *e, struct group *g)
{
	struct group_emit m = { .w = { .load = group_load, .rows = group_rows }, .e = e, .g = g };

	m.node = calloc((size_t)g->n, sizeof *m.node);
	if (!m.node)
		return -ENOMEM;
	int err = group_start(e, g, m.node);
	if (!err)
		err = group_walk(e->s, g, &m.w);
	free(m.node);
	return err;
}

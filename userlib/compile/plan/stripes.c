/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stripe groups: nodes whose tensors are too large to stay on chip run depth first, a
 * stripe of rows at a time. Of every tensor between them only a ring of rows is kept,
 * and none of it goes to memory.
 *
 * Row y of a tensor lies at position y mod rows of its ring. Windows that begin near
 * the ring's end read on into `wrap_rows` extra rows behind it, where the rows of the
 * ring's beginning are kept a second time.
 *
 * A node works `ahead` stripes before the last one where an engine change lies
 * between: while the vector engine works on one stripe, the array has another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* Returns whether the view is all of the storage: one image, dense from its first byte. */
bool view_is_storage(const struct npu_step *s, const struct view *v, int storage)
{
	return v->dim[0] == 1 && !v->off && view_is_dense(v) && view_bytes(v) == s->storage[storage].bytes;
}

/*
 * Returns whether the view sees one image and a part of each row of a storage, or of every k-th row, with
 * the first part in one of the first k rows. No part may run on into the next row. `whole` is the view of
 * all of the storage.
 */
static bool part_of_rows(const struct view *v, const struct view *whole)
{
	int64_t row = whole->step[1], end = v->off % row + (v->dim[2] - 1) * v->step[2] + v->dim[3] * v->step[3];

	return v->dim[0] == 1 && v->step[1] % row == 0 && v->dim[1] * (v->step[1] / row) == whole->dim[1] && end <= row &&
	       v->off / row < v->step[1] / row;
}

/* Returns whether both views see the same elements in the same bytes. */
static bool same_view(const struct view *a, const struct view *b)
{
	return a->off == b->off && !memcmp(a->dim, b->dim, sizeof a->dim) && !memcmp(a->step, b->step, sizeof a->step);
}

/*
 * Returns whether no byte of the pixels that one view sees is among those of the other: both see one range of each
 * pixel's channels, with equal distances of rows and pixels, and the ranges have none in common.
 */
static bool apart(const struct view *a, const struct view *b)
{
	int64_t at_a = a->off % a->step[2], end_a = at_a + a->dim[3] * a->step[3];
	int64_t at_b = b->off % b->step[2], end_b = at_b + b->dim[3] * b->step[3];

	return a->step[1] == b->step[1] && a->step[2] == b->step[2] && a->step[1] % a->step[2] == 0 && end_a <= a->step[2] &&
	       end_b <= b->step[2] && (end_a <= at_b || end_b <= at_a);
}

/*
 * Returns whether the view sees one image, and only some channels of each pixel of its storage, as views of
 * the members of a CONCAT do. A ring can then hold its rows packed.
 */
static bool can_pack(const struct view *v)
{
	return v->dim[0] == 1 && v->dim[3] * v->step[3] < v->step[2];
}

/*
 * Returns whether striping.pack can make a difference to nodes first ... of the step, n of them: whether
 * one of them that is no loop nest has an input or a result that can_pack() with the node's own views.
 */
bool step_can_pack(const struct npu_step *s, int first, int n)
{
	for (int i = first; i < first + n; i++) {
		const struct node *nd = step_node(s, i);
		if (nd->kind != NODE_LOOP_NEST && (can_pack(&nd->own.x) || can_pack(&nd->own.y)))
			return true;
	}
	return false;
}

/* Returns whether the node is a copy that join_rows.c has made of a kernel row. */
static bool is_row_copy(const struct node *nd)
{
	return nd->kind == NODE_POOL && nd->joined_rows;
}

/*
 * Returns the view by which a node behind node i, the first up to node `last`, reads the whole storage that
 * node i writes as its input x. NULL if there is no such node, if node i is neither elementwise nor a copy of
 * a kernel row (is_row_copy()), or if what it writes is no part of that view as part_of_rows() asks.
 */
static const struct view *reader_of_part(const struct npu_step *s, int i, int last)
{
	const struct plan *p = &s->plan[i];
	const struct node *nd = step_node(s, i);

	if (nd->kind != NODE_ELT && !is_row_copy(nd))
		return NULL;
	for (int k = i + 1; k <= last && k < s->n; k++) {
		const struct view *x = &step_node(s, k)->own.x;
		if (s->plan[k].x_storage == p->y_storage && view_is_storage(s, x, p->y_storage))
			return part_of_rows(&nd->own.y, x) ? x : NULL;
	}
	return NULL;
}

/*
 * Returns whether node i can be part of a stripe group. It must be no loop nest, have no third operand, not
 * be split along columns and make one image. Each of its operands must be resident or a whole storage, or
 * else: with `pack`, an input or a result may be some channels of each pixel (can_pack()), and a result may
 * be a part that a later node reads as a whole (reader_of_part()). Its own views count, not those as one
 * long row.
 */
static bool groupable(const struct npu_step *s, int i, bool pack)
{
	const struct node *nd = step_node(s, i);
	const struct plan *p = &s->plan[i];

	if (nd->kind == NODE_LOOP_NEST || nd->third || nd->split_columns || nd->own.y.dim[0] != 1)
		return false;
	if (!s->storage[p->x_storage].resident && !view_is_storage(s, &nd->own.x, p->x_storage) && !(pack && can_pack(&nd->own.x)))
		return false;
	if (!s->storage[p->y_storage].resident && !view_is_storage(s, &nd->own.y, p->y_storage) && !(pack && can_pack(&nd->own.y)) &&
	    !reader_of_part(s, i, i + GROUP_NODES))
		return false;
	return p->r_storage < 0 || s->storage[p->r_storage].resident || view_is_storage(s, &nd->own.r, p->r_storage);
}

/* Returns node k of the group, counted from the group's first node. */
static struct node *group_node(const struct npu_step *s, const struct group *g, int k)
{
	return step_node(s, g->first + k);
}

/*
 * Returns the number of the group's ring for view v of this storage, or -1 if the storage is resident or `storage` is
 * -1. All views that are not packed share one ring of their storage; each packed view has a ring of its own. If there
 * is no such ring yet, it is added.
 */
static int ring_of(struct npu_step *s, struct group *g, int storage, const struct view *v, bool packed)
{
	if (storage < 0 || s->storage[storage].resident)
		return -1;
	for (int i = 0; i < g->n_ring; i++)
		if (g->ring[i].storage == storage && g->ring[i].packed == packed && (!packed || same_view(&g->ring[i].view, v)))
			return i;
	g->ring[g->n_ring] = (struct ring){ .storage = storage, .row_bytes = packed ? v->dim[2] * v->dim[3] * v->step[3] : v->step[1],
	                                    .height = v->dim[1], .writer = -1, .packed = packed, .view = *v, .times = 1, .area = -1 };
	return g->n_ring++;
}

/*
 * Returns whether no two rings of the group depend on each other. Two rings of one storage do if a node of the group
 * writes one of them, unless both are packed and their views are apart().
 */
static bool rings_apart(const struct group *g)
{
	for (int i = 0; i < g->n_ring; i++)
		for (int k = 0; k < i; k++) {
			const struct ring *a = &g->ring[i], *b = &g->ring[k];
			if (a->storage == b->storage && (a->writer >= 0 || b->writer >= 0) &&
			    !(a->packed && b->packed && apart(&a->view, &b->view)))
				return false;
		}
	return true;
}

/* Returns whether both views have the same number of rows, of the same bytes, from the same place on. */
static bool same_rows(const struct view *a, const struct view *b)
{
	return a->dim[1] == b->dim[1] && a->step[1] == b->step[1] && a->off == b->off;
}

/*
 * Returns whether the nodes of the group can follow each other row by row where a tensor between them is resident: a
 * later node must read the same rows (same_rows()) as the earlier one makes.
 */
static bool residents_fit(const struct npu_step *s, const struct group *g)
{
	for (int k = 1; k < g->n; k++) {
		const struct node *nd = group_node(s, g, k);
		const struct plan *p = &s->plan[g->first + k];

		for (int j = 0; j < k; j++) {
			const struct view *y = &group_node(s, g, j)->own.y;
			int storage = s->plan[g->first + j].y_storage;
			if (!s->storage[storage].resident)
				continue;
			if ((storage == p->x_storage && !same_rows(&nd->own.x, y)) || (nd->add && storage == p->r_storage && !same_rows(&nd->own.r, y)))
				return false;
		}
	}
	return true;
}

/*
 * Note that node k of the group writes its ring g->ry[k], by view y: as the ring's only writer or, with `part`, as one
 * of several nodes of which each writes a part of the ring's rows. Sets the ring's writer and parts. With `part` it
 * also sets the node's times and phase, and makes the ring's times a multiple of the node's. Returns false, with
 * nothing changed, if another node writes the ring and not both write parts; if the node reads the ring that it would
 * write; or if, without `part` and in a ring that is not packed, the rows of y are not as far apart as the ring's.
 */
static bool add_writer(struct group *g, int k, const struct view *y, bool part)
{
	struct ring *r = &g->ring[g->ry[k]];

	if ((r->writer >= 0 && !(part && r->parts)) || g->ry[k] == g->rx[k] || g->ry[k] == g->rr[k] ||
	    (!part && !r->packed && r->row_bytes != y->step[1]))
		return false;
	r->parts = part;
	r->writer = k;
	if (part) {
		g->times[k] = y->step[1] / r->row_bytes;
		g->phase[k] = y->off / r->row_bytes;
		/* Of two distances one is a multiple of the other, or the ring holds a multiple of both. */
		r->times = r->times % g->times[k] ? r->times * g->times[k] : r->times;
	}
	return true;
}

/*
 * List the rings that all operands of the group need, and set for each node its rings (rx, rr, ry) and for each ring
 * its writer, load (no node of the group writes it) and store (it is needed in memory, or touched outside of the
 * group). Returns false, and what it has set is of no use, if the group does not work:
 * - Nodes see rows of different size or number in one tensor.
 * - A node writes less than a whole storage, striping.pack does not allow that, and no node of the group reads the
 *   whole (reader_of_part()).
 * - Two nodes write one ring, unless both write such parts, or a node would read what it writes (add_writer()).
 * - A ring of such parts would have to be stored.
 * - A node writes what another one sees by another view, and rings_apart() does not allow that.
 * - A tensor that the group makes as a whole is touched before the group, or comes from memory.
 */
static bool list_rings(struct npu_step *s, struct group *g)
{
	g->n_ring = 0;
	for (int k = 0; k < g->n; k++) {
		const struct node *nd = group_node(s, g, k);
		struct plan *p = &s->plan[g->first + k];
		g->rx[k] = ring_of(s, g, p->x_storage, &nd->own.x, !view_is_storage(s, &nd->own.x, p->x_storage));
		g->rr[k] = nd->add ? ring_of(s, g, p->r_storage, &nd->own.r, false) : -1;
		bool all = s->storage[p->y_storage].resident || view_is_storage(s, &nd->own.y, p->y_storage);
		const struct view *whole = all ? NULL : reader_of_part(s, g->first + k, g->first + g->n - 1);
		if (!whole && !all && !(g->how.pack && can_pack(&nd->own.y)))
			return false;
		g->ry[k] = ring_of(s, g, p->y_storage, whole ? whole : &nd->own.y, !all && !whole);
		g->times[k] = 1;
		g->phase[k] = 0;
		const struct ring *x = g->rx[k] >= 0 ? &g->ring[g->rx[k]] : NULL;
		if (x && !x->packed && (x->row_bytes != nd->own.x.step[1] || x->height != nd->own.x.dim[1]))
			return false;
		if (g->rr[k] >= 0 && (g->ring[g->rr[k]].row_bytes != nd->own.r.step[1] || g->ring[g->rr[k]].height != nd->own.r.dim[1]))
			return false;
		if (g->ry[k] >= 0 && !add_writer(g, k, &nd->own.y, whole))
			return false;
	}
	for (int i = 0; i < g->n_ring; i++) {
		struct ring *r = &g->ring[i];
		const struct storage *t = &s->storage[r->storage];
		bool inside = t->first >= g->first && t->last < g->first + g->n;
		r->load = r->writer < 0;
		r->store = r->writer >= 0 && (t->ext_out || !inside);
		/* Half written before, or read before it is written: memory is the better place. */
		if (r->writer >= 0 && !r->packed && (t->ext_in || t->first < g->first || (r->parts && r->store)))
			return false;
	}
	return rings_apart(g);
}

/*
 * Set g->ahead[k], how many stripes node k runs before the last node: from the last node to the first, one
 * more at every change between array and vector engine. Without striping.deep it is one more only where the
 * array's node comes behind the vector engine's; the vector engine then has only the time in which the array
 * works on the nodes behind it, since both use the same rows.
 */
static void set_ahead(const struct npu_step *s, struct group *g)
{
	int ahead = 0;

	for (int k = g->n - 1; k >= 0; k--) {
		g->ahead[k] = ahead;
		bool array = on_array(group_node(s, g, k));
		if (k && array != on_array(group_node(s, g, k - 1)) && (array || g->how.deep))
			ahead++;
	}
}

/*
 * Complete the rings, whose rows are measured (group_deps_measure()): round up rows, and set wrap_rows. A
 * window that begins near a ring's end reads on behind it, so wrap_rows rows of the ring's beginning are
 * stored there a second time: the height of the largest kernel that reads the ring, dilation included, less
 * one row, but at most the ring's rows. The rows of a ring that the group writes become a multiple of those
 * that its writer makes together (group_grain()), or of `times` if several nodes write parts of it. A ring
 * that would hold the whole tensor has exactly the tensor's rows and never wraps.
 */
static void set_over(const struct npu_step *s, struct group *g)
{
	for (int i = 0; i < g->n_ring; i++) {
		struct ring *r = &g->ring[i];
		r->wrap_rows = 0;
		/* Rows that are written together stay together. */
		if (r->writer >= 0)
			r->rows = round_up(r->rows, r->parts ? r->times : group_grain(s, g, group_node(s, g, r->writer)));
		for (int k = 0; k < g->n; k++)
			if (g->rx[k] == i)
				r->wrap_rows = max64(r->wrap_rows, (int64_t)(group_node(s, g, k)->win.kh - 1) * group_node(s, g, k)->win.dy);
		/* All of it: nothing ever wraps. */
		if (r->rows >= r->height) {
			r->rows = r->height;
			r->wrap_rows = 0;
		}
		/* A window longer than the ring reads nothing twice. */
		r->wrap_rows = min64(r->wrap_rows, r->rows);
	}
}

/*
 * Returns the bytes of the scratchpad that the packed weights and records of the group's nodes take: those of all
 * slots of all nodes (group_slots()).
 */
static int64_t group_weights(const struct npu_step *s, const struct group *g)
{
	int64_t sum = 0;

	for (int k = 0; k < g->n; k++) {
		struct weight_slots w = group_slots(s, g, k);
		sum += w.n * w.bytes;
	}
	return sum;
}

/*
 * Returns the bytes of the scratchpad that the group's rings, with the rows that they keep twice and rounded
 * up to whole words, and its nodes' weights and records take.
 */
int64_t group_bytes(const struct npu_step *s, const struct group *g)
{
	int64_t sum = group_weights(s, g), n = s->cc->n;

	for (int i = 0; i < g->n_ring; i++)
		sum += round_up((g->ring[i].rows + g->ring[i].wrap_rows) * g->ring[i].row_bytes, n);
	return sum;
}

/*
 * Returns whether rings and weights fit `budget` bytes if a stripe has `step` rows of the last node. Sets
 * g->step and the rings' rows and wrap_rows for it; if they do not fit, the rings' rows may be incomplete.
 */
static bool try_step(struct npu_step *s, const struct group_deps *c, struct group *g, int64_t step, int64_t budget)
{
	g->step = step;
	if (!group_deps_measure(c, budget - group_weights(s, g)))
		return false;
	set_over(s, g);
	return group_bytes(s, g) <= budget;
}

/*
 * Choose g->step, the rows of the last node in a stripe, so that rings and weights fit `budget` bytes: the
 * longest of at most 64 rows and a quarter of all rows (so that engines overlap), where one that fills whole
 * groups of the array's rows goes before a longer one that does not. A stripe has at least 2 N pixels. Sets
 * the rings for it. Returns false if none fits.
 */
static bool choose_step(struct npu_step *s, struct group *g, int64_t budget)
{
	const struct node *last = group_node(s, g, g->n - 1);
	int64_t h = last->own.y.dim[1], ow = last->own.y.dim[2], best = 0;
	struct group_deps c;

	if (group_weights(s, g) > budget)
		return false;
	group_deps_open(&c, s, g);
	for (int64_t step = min64(ceil_div(h, 4), 64); step >= 1; step--) {
		if (step * ow < 2 * s->cc->n)
			break;
		bool full = step * ow % s->cc->n == 0;
		if ((best && !full) || !try_step(s, &c, g, step, budget))
			continue;
		best = step;
		if (full)
			break;
	}
	return best && (g->step == best || try_step(s, &c, g, best, budget));
}

/* Set g->read[k] for each node k of the group whose result another node of the group reads from a ring. */
static void mark_read(struct group *g)
{
	memset(g->read, 0, sizeof g->read);
	for (int k = 0; k < g->n; k++)
		for (int o = 0; o < 2; o++) {
			int r = o ? g->rr[k] : g->rx[k];
			for (int j = 0; j < g->n; j++)
				if (r >= 0 && g->ry[j] == r)
					g->read[j] = true;
		}
}

/* Let these views be in force for the node. */
static void use_views(struct node *nd, const struct views *v)
{
	nd->x = v->x;
	nd->r = v->r;
	nd->y = v->y;
	nd->dbg = v->dbg;
}

/*
 * Returns the bytes of the residents that occupy the scratchpad while the group runs, whether its nodes touch
 * them or not.
 */
int64_t group_residents(const struct npu_step *s, const struct group *g)
{
	int64_t sum = 0;

	for (int i = 0; i < s->n_storages; i++)
		if (s->storage[i].resident && s->storage[i].replaces < 0 && s->storage[i].first < g->first + g->n &&
		    storage_last(s, i) >= g->first)
			sum += round_up(s->storage[i].bytes, s->cc->n);
	return sum;
}

/*
 * Returns whether a node of the group writes its result over its resident second operand while another node
 * of the group reads that operand, or the node itself reads it as its input as well. Rows would be lost then,
 * since the nodes run interleaved.
 */
static bool overwrites(const struct npu_step *s, const struct group *g)
{
	for (int k = 0; k < g->n; k++) {
		const struct plan *p = &s->plan[g->first + k];
		if (p->r_storage < 0 || !s->storage[p->y_storage].resident || s->storage[p->y_storage].replaces != p->r_storage)
			continue;
		for (int i = 0; i < g->n; i++) {
			const struct plan *q = &s->plan[g->first + i];
			if (q->x_storage == p->r_storage || (i != k && q->r_storage == p->r_storage))
				return true;
		}
	}
	return false;
}

/*
 * Find rings and stripes for a group whose nodes and striping are set, within how.share eighths of what
 * residents leave free of the scratchpad. Returns whether that works out; it does not if overwrites(), or
 * residents_fit(), list_rings() or choose_step() refuses. The nodes' own views are in force.
 */
static bool plan_group(struct npu_step *s, struct group *g)
{
	if (overwrites(s, g))
		return false;
	if (!residents_fit(s, g) || !list_rings(s, g))
		return false;
	mark_read(g);
	set_ahead(s, g);
	return choose_step(s, g, (s->cc->sp_bytes - group_residents(s, g)) * g->how.share / SHARES);
}

/*
 * Returns how many nodes from i on a group should have: it is extended until nothing that is made in it and
 * does not stay on chip is still to be read. It ends before a node that cannot be part of a group, and after
 * how->nodes nodes, of which the copies of a convolution's kernel rows (is_row_copy()) do not count as any, or
 * GROUP_NODES.
 */
static int closure(const struct npu_step *s, int i, const struct striping *how)
{
	int last = i, copies = 0;

	for (int k = i; k <= last && k < s->n; k++) {
		if (!groupable(s, k, how->pack) || k - i - copies >= how->nodes || k - i >= GROUP_NODES)
			return k - i;
		copies += is_row_copy(step_node(s, k));
		const struct storage *y = &s->storage[s->plan[k].y_storage];
		if (!y->resident)
			last = (int)max64(last, min64(y->last, s->n - 1));
	}
	return last - i + 1;
}

/* Append group *g to the step's groups and note its number in the plans of its nodes. Returns 0 or -ENOMEM. */
static int keep_group(struct npu_step *s, const struct group *g)
{
	int err = cc_grow(&s->group, s->n_group, &s->cap_group, sizeof *s->group);

	if (err)
		return err;
	for (int k = 0; k < g->n; k++)
		s->plan[g->first + k].group = (int)s->n_group + 1;
	s->group[s->n_group++] = *g;
	return 0;
}

/*
 * Returns how many nodes a group that begins at node i should have at most: with how->slices as many as a slice group
 * can have (slices_extent()), else 0 if the node's result is resident, else as many as closure() finds.
 */
static int most_nodes(const struct npu_step *s, int i, const struct striping *how)
{
	if (how->slices)
		return slices_extent(s, i, how->nodes);
	return s->storage[s->plan[i].y_storage].resident ? 0 : closure(s, i, how);
}

/*
 * Put the own views of the nodes of group *g in force, and plan the group, whose nodes and striping are set. Returns
 * whether that works out; if it does not, the nodes' flat views are in force.
 */
static bool try_group(struct npu_step *s, struct group *g)
{
	for (int k = 0; k < g->n; k++)
		use_views(group_node(s, g, k), &group_node(s, g, k)->own);
	if (g->how.slices ? plan_slices(s, g) : plan_group(s, g))
		return true;
	for (int k = 0; k < g->n; k++)
		use_views(group_node(s, g, k), &group_node(s, g, k)->flat);
	return false;
}

/*
 * Form the stripe and slice groups of the step anew, from the first node to the last, in s->group and plan.group. At
 * each node that is in no earlier group, the longest group of two or more nodes begins that works out (most_nodes(),
 * try_group()). It is formed as the node's request asks, if that has a striping of its own, else as *all says. Nodes of
 * groups have their own views in force, all others the flat ones. Returns 0 or -ENOMEM.
 */
int step_find_groups(struct npu_step *s, const struct striping *all)
{
	struct group *g = malloc(sizeof *g);
	int err = g ? 0 : -ENOMEM;

	s->n_group = 0;
	for (int i = 0; i < s->n; i++) {
		s->plan[i].group = 0;
		use_views(step_node(s, i), &step_node(s, i)->flat);
	}
	for (int i = 0; i < s->n && !err; ) {
		const struct striping *how = s->plan[i].req.has_own_striping ? &s->plan[i].req.striping : all;
		int n = most_nodes(s, i, how);
		for (; n >= 2; n--) {
			*g = (struct group){ .first = i, .n = n, .how = *how };
			if (try_group(s, g))
				break;
		}
		if (n >= 2)
			err = keep_group(s, g);
		i += n >= 2 ? n : 1;
	}
	free(g);
	return err;
}

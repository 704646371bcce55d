/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which the nodes of a stripe group work on their stripes, and the rows
 * of every ring that are alive meanwhile. A group is walked for many lengths of a
 * stripe before one is chosen, so what does not depend on the length is looked up
 * once (struct group_deps).
 */
#include <errno.h>
#include <string.h>

#include "plan.h"

/* Stripes whose targets are kept, at least two more than a node can be ahead. */
#define SLOTS 32
_Static_assert(GROUP_NODES + 2 <= SLOTS && GROUP_NODES <= 32, "a node for every bit of a set");

struct walk {
	const struct group_deps *c;    /* the group, and what is known of it */
	struct group_walker *w;    /* whom the walk calls; NULL: it only finds how many rows each ring must hold */
	int64_t stripes;           /* number of stripes */
	int64_t room, bytes;       /* w NULL: bytes that rings may take, and that they take so far at least */
	int64_t done[GROUP_NODES], loaded[MAX_RINGS];   /* rows that each node has made, and that each ring has got by loads */
	int64_t target[SLOTS][GROUP_NODES];   /* rows that each node must have made for the stripes at hand; targets_of() finds
	                            * the slot of a stripe */
};

/*
 * Returns the number of stripes of the group: the rows of its last node's result divided by those of a
 * stripe, rounded up.
 */
int64_t group_stripes(const struct npu_step *s, const struct group *g)
{
	return ceil_div(step_node(s, g->first + g->n - 1)->own.y.dim[1], g->step);
}

/*
 * Returns the fewest rows of the node that fill whole groups of pixels. It is 1 if the striping
 * does not ask for that, if the node does not run on the array, or if it would take more than 8 rows.
 */
int64_t group_grain(const struct npu_step *s, const struct group *g, const struct node *nd)
{
	int64_t q = 1;

	if (!g->how.full || !on_array(nd))
		return 1;
	while (q <= 8 && q * nd->own.y.dim[2] % group_pixels(s->cc, nd))
		q++;
	return q > 8 ? 1 : q;
}

/*
 * Returns the end of the input rows that the node reads for its first `rows` output rows: all of them are
 * below it. 0 if `rows` is 0.
 */
static int64_t input_end(const struct node *nd, int64_t rows)
{
	if (!rows)
		return 0;
	struct span in = input_rows(nd, rows - 1, 1);
	return in.lo + in.n;
}

/*
 * Returns the nodes of the group before node k that write this storage and ring (-1: it is resident), as a set: bit j for
 * node j. Empty if `storage` is -1.
 */
static uint32_t writers(const struct npu_step *s, const struct group *g, int k, int storage, int ring)
{
	uint32_t set = 0;

	for (int j = 0; j < k; j++)
		if (storage >= 0 && s->plan[g->first + j].y_storage == storage && g->ry[j] == ring)
			set |= UINT32_C(1) << j;
	return set;
}

/*
 * Set *c to what walks of the group need, whose rings are listed: its nodes, their heights and grains, who
 * writes what the nodes read, and who reads each ring. *c points to s and g.
 */
void group_deps_open(struct group_deps *c, const struct npu_step *s, struct group *g)
{
	c->s = s;
	c->g = g;
	memset(c->x_to, 0, sizeof c->x_to);
	memset(c->r_to, 0, sizeof c->r_to);
	for (int k = 0; k < g->n; k++) {
		const struct plan *p = &s->plan[g->first + k];
		const struct node *nd = c->nd[k] = step_node(s, g->first + k);
		c->height[k] = nd->own.y.dim[1];
		c->grain[k] = group_grain(s, g, nd);
		c->x_from[k] = writers(s, g, k, p->x_storage, g->rx[k]);
		c->r_from[k] = nd->add ? writers(s, g, k, p->r_storage, g->rr[k]) : 0;
		if (g->rx[k] >= 0)
			c->x_to[g->rx[k]] |= UINT32_C(1) << k;
		if (g->rr[k] >= 0)
			c->r_to[g->rr[k]] |= UINT32_C(1) << k;
	}
}

/*
 * The nodes in `set` write one ring, of which a reader needs the first `rows` rows. target[j] is the number of rows that node
 * j must have made. This function raises target[j] of each node in the set to the number that makes the node's share of
 * those rows, limited to the node's height. A node that writes a part of the ring makes only every times[j]-th row of it,
 * from row phase[j] on.
 */
static void ask(const struct group_deps *c, uint32_t set, int64_t rows, int64_t *target)
{
	for (; set; set &= set - 1) {
		int j = __builtin_ctz(set);
		target[j] = max64(target[j], min64(max64(0, ceil_div(rows - c->g->phase[j], c->g->times[j])), c->height[j]));
	}
}

/*
 * Returns where the walk keeps the targets of this stripe: an array with a number of rows for each node.
 * Stripe -ahead[0] is the first one.
 */
static int64_t *targets_of(struct walk *w, int64_t stripe)
{
	/* No stripe before -ahead[0] is asked for. */
	return w->target[(stripe + w->c->g->ahead[0]) & (SLOTS - 1)];
}

/*
 * Set the targets of stripe number `stripe` (targets_of()): how many rows each node must have made so that the last node
 * can finish that stripe. Before stripe 0 they are 0, and at the last stripe all rows. In between, the last node must
 * have made the rows of all stripes up to this one. Each node before it must have made what later nodes then read of its
 * result; if none reads it, the same part of its rows as this stripe is of all stripes. All numbers are rounded up to
 * whole grains.
 */
static void set_targets(struct walk *w, int64_t stripe)
{
	const struct group_deps *c = w->c;
	const struct group *g = c->g;
	int64_t *target = targets_of(w, stripe), n = w->stripes;

	for (int k = 0; k < g->n; k++) {
		int64_t h = c->height[k];
		/* A result that nobody here reads keeps pace. */
		target[k] = stripe < 0 ? 0 : stripe >= n - 1 ? h : g->read[k] ? 0 : ceil_div(h * (stripe + 1), n);
	}
	if (stripe < 0 || stripe >= n - 1)
		return;
	target[g->n - 1] = min64((stripe + 1) * g->step, c->height[g->n - 1]);
	for (int k = g->n - 1; k >= 0; k--) {
		target[k] = min64(c->grain[k] > 1 ? round_up(target[k], c->grain[k]) : target[k], c->height[k]);
		if (c->x_from[k])
			ask(c, c->x_from[k], input_end(c->nd[k], target[k]), target);
		ask(c, c->r_from[k], target[k], target);
	}
}

/*
 * Returns the lowest row of ring i that any node of the group reads for rows that it has not made yet; the ring's height
 * if no node does.
 */
static int64_t lowest_needed(const struct walk *w, int i)
{
	int64_t low = w->c->g->ring[i].height;

	for (uint32_t set = w->c->x_to[i]; set; set &= set - 1) {
		int k = __builtin_ctz(set);
		if (w->done[k] < w->c->height[k])
			low = min64(low, input_rows(w->c->nd[k], w->done[k], 1).lo);
	}
	for (uint32_t set = w->c->r_to[i]; set; set &= set - 1) {
		int k = __builtin_ctz(set);
		if (w->done[k] < w->c->height[k])
			low = min64(low, w->done[k]);
	}
	return low;
}

/*
 * Raise the number of rows of ring i, if necessary, so that it holds all rows below `end` that are in use: those that a
 * node has still to read, and those from `from` on, which are being made. Returns 0, or -ENOSPC if all rings together
 * then take more than w->room bytes.
 */
static int grow_ring(struct walk *w, int i, int64_t end, int64_t from)
{
	struct ring *r = &w->c->g->ring[i];
	/* Rows in the making take part, whoever may still read them. */
	int64_t low = min64(lowest_needed(w, i), from);

	if (end - low <= r->rows)
		return 0;
	/* Its whole height is the most that it can become. */
	w->bytes += (min64(end - low, r->height) - min64(r->rows, r->height)) * r->row_bytes;
	r->rows = end - low;
	return w->bytes > w->room ? -ENOSPC : 0;
}

/*
 * Returns how many rows of its input, or with `second` of its second operand, must be there so that the node can make its
 * first `rows` rows.
 */
static int64_t load_target(const struct node *nd, bool second, int64_t rows)
{
	return second ? rows : input_end(nd, rows);
}

/*
 * Load what node k needs, beyond what its rings have, to make its first `rows` rows: calls the walker's load(), or
 * in a walk that measures raises the ring's rows. Only rings that are loaded from memory count; w->loaded[] of
 * them moves on to the rows needed. Returns 0, -ENOSPC (measuring), or what load() returned.
 */
static int walk_loads(struct walk *w, int k, int64_t rows)
{
	const struct group *g = w->c->g;
	int ring[2] = { g->rx[k], g->rr[k] };

	for (int o = 0; o < 2; o++) {
		if (ring[o] < 0 || !g->ring[ring[o]].load)
			continue;
		int64_t end = load_target(w->c->nd[k], o, rows), from = w->loaded[ring[o]];
		if (end <= from)
			continue;
		int err = w->w ? 0 : grow_ring(w, ring[o], end, from);
		w->loaded[ring[o]] = end;
		if (w->w)
			err = w->w->load(w->w, ring[o], from, end);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Let node k make its rows up to `end`, if it has not: calls the walker's rows(), or in a walk that measures
 * raises the rows of its result's ring; w->done[k] is `end` then. Returns 0, -ENOSPC (measuring), or what
 * rows() returned.
 */
static int walk_node(struct walk *w, int k, int64_t end)
{
	int64_t from = w->done[k];
	int err = 0;

	if (end <= from)
		return 0;
	if (!w->w && w->c->g->ry[k] >= 0)
		err = grow_ring(w, w->c->g->ry[k], ring_row(w->c->g, k, end - 1) + 1, ring_row(w->c->g, k, from));
	if (w->w)
		err = w->w->rows(w->w, k, from, end);
	w->done[k] = end;
	return err;
}

/*
 * Walk all stripes of the group. t counts from -ahead[0] to the last stripe; below 0 only nodes that run ahead have rows
 * to make. At each t the nodes take turns, the first one first. Node k loads what it needs, and its rings have not got
 * yet, for its rows up to the end of stripe t + ahead[k] + 1, which is one stripe more than it makes next; then it makes
 * its rows up to the end of stripe t + ahead[k]. The caller has set w->c and either w->w or w->room, and all else to
 * zero; w->stripes is set here. Returns 0. The first other result of a call ends the walk and is returned, as is -ENOSPC
 * in a walk that measures.
 */
static int walk_stripes(struct walk *w)
{
	const struct group *g = w->c->g;
	int ahead = g->ahead[0], err = 0;

	w->stripes = group_stripes(w->c->s, g);
	for (int64_t t = -ahead; t <= 0; t++)
		set_targets(w, t);
	for (int64_t t = -ahead; t < w->stripes && !err; t++) {
		set_targets(w, t + ahead + 1);
		for (int k = 0; k < g->n && !err; k++) {
			err = walk_loads(w, k, targets_of(w, t + g->ahead[k] + 1)[k]);
			if (!err)
				err = walk_node(w, k, targets_of(w, t + g->ahead[k])[k]);
		}
	}
	return err;
}

/*
 * Call gw->load() for each load and gw->rows() for each stripe of each node of the group, in the order of
 * execution. Returns 0, or the first other result of a call, which ends the walk.
 */
int group_walk(struct npu_step *s, struct group *g, struct group_walker *gw)
{
	struct group_deps c;
	struct walk w = { .c = &c, .w = gw };

	group_deps_open(&c, s, g);
	return walk_stripes(&w);
}

/*
 * Set how many rows each ring of the group must hold for stripes of g->step rows. Returns false if the rings
 * would take more than `room` bytes; their rows are then incomplete.
 */
bool group_deps_measure(const struct group_deps *c, int64_t room)
{
	struct walk w = { .c = c, .room = room };

	for (int i = 0; i < c->g->n_ring; i++)
		c->g->ring[i].rows = 0;
	return room >= 0 && !walk_stripes(&w);
}

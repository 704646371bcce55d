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
	const struct group_deps *c;
	struct group_walker *w;    /* NULL: the walk only finds how many rows each ring must hold */
	int64_t stripes;
	int64_t room, bytes;       /* w NULL: bytes for rings; bytes that they take so far, at least */
	int64_t done[GROUP_NODES], loaded[MAX_RINGS];   /* rows that each node has made, that each ring has got */
	int64_t target[SLOTS][GROUP_NODES];   /* rows of each node, of the stripes at hand: stripe s in slot s % SLOTS */
};

/* Stripes of the group's last node. */
int64_t group_stripes(const struct npu_step *s, const struct group *g)
{
	return ceil_div(step_node(s, g->first + g->n - 1)->own.y.dim[1], g->step);
}

/* Rows of a node that fill whole groups of the array's rows; 1 where that is not asked for, or takes more than 8. */
int64_t group_grain(const struct npu_step *s, const struct group *g, const struct node *nd)
{
	int64_t q = 1;

	if (!g->how.full || !on_array(nd))
		return 1;
	while (q <= 8 && q * nd->own.y.dim[2] % s->cc->n)
		q++;
	return q > 8 ? 1 : q;
}

/* The input row behind the last that a node reads for its first `rows` output rows. */
static int64_t input_end(const struct node *nd, int64_t rows)
{
	if (!rows)
		return 0;
	struct span in = input_rows(nd, rows - 1, 1);
	return in.lo + in.n;
}

/* The nodes of the group before node k that write this storage. */
static uint32_t writers(const struct npu_step *s, const struct group *g, int k, int storage)
{
	uint32_t set = 0;

	for (int j = 0; j < k; j++)
		if (storage >= 0 && s->plan[g->first + j].y_storage == storage)
			set |= UINT32_C(1) << j;
	return set;
}

/* Look up what a walk needs of a group whose rings are listed. */
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
		c->x_from[k] = writers(s, g, k, p->x_storage);
		c->r_from[k] = nd->add ? writers(s, g, k, p->r_storage) : 0;
		if (g->rx[k] >= 0)
			c->x_to[g->rx[k]] |= UINT32_C(1) << k;
		if (g->rr[k] >= 0)
			c->r_to[g->rr[k]] |= UINT32_C(1) << k;
	}
}

/* Raise the targets of the nodes in a set to so many rows, at most to their heights. */
static void ask(const struct group_deps *c, uint32_t set, int64_t rows, int64_t *target)
{
	for (; set; set &= set - 1) {
		int j = __builtin_ctz(set);
		target[j] = max64(target[j], min64(rows, c->height[j]));
	}
}

/* Where the targets of a stripe are kept. Stripe -ahead[0] is the first one. */
static int64_t *targets_of(struct walk *w, int64_t stripe)
{
	/* No stripe before -ahead[0] is asked for. */
	return w->target[(stripe + w->c->g->ahead[0]) & (SLOTS - 1)];
}

/* Find how many rows each node must have made when stripe number `stripe` of the last node is done. */
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

/* The lowest row of ring i that a node has still to read. */
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
 * Let ring i hold all rows up to `end` that somebody still reads, and those from `from` on, which are
 * being made. 0, or -ENOSPC: rings take more than there is room for.
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

/* Rows of an input ring that a node needs for its first `rows`; second: of its second operand. */
static int64_t load_target(const struct node *nd, bool second, int64_t rows)
{
	return second ? rows : input_end(nd, rows);
}

/* Load what node k needs for its first `rows`. 0, -ENOSPC, or what the walker returned */
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

/* Let node k make its rows up to `end`. 0, -ENOSPC, or what the walker returned */
static int walk_node(struct walk *w, int k, int64_t end)
{
	int64_t from = w->done[k];
	int err = 0;

	if (end <= from)
		return 0;
	if (!w->w && w->c->g->ry[k] >= 0)
		err = grow_ring(w, w->c->g->ry[k], end, from);
	if (w->w)
		err = w->w->rows(w->w, k, from, end);
	w->done[k] = end;
	return err;
}

/*
 * Walk all stripes: in each, every node makes the rows that its stripe `ahead` later asks for, after
 * its loads for one stripe more.
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

/* Call gw for every load and every stripe of every node, in the order of execution. */
int group_walk(struct npu_step *s, struct group *g, struct group_walker *gw)
{
	struct group_deps c;
	struct walk w = { .c = &c, .w = gw };

	group_deps_open(&c, s, g);
	return walk_stripes(&w);
}

/* Walk the group and set how many rows each ring must hold. false: that takes more than `room` bytes. */
bool group_deps_measure(const struct group_deps *c, int64_t room)
{
	struct walk w = { .c = c, .room = room };

	for (int i = 0; i < c->g->n_ring; i++)
		c->g->ring[i].rows = 0;
	return room >= 0 && !walk_stripes(&w);
}

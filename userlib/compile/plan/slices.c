/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slice groups: a convolution and the nodes behind it that treat channels apart
 * (depthwise, activations by table, means) run a slice of channels at a time. While the
 * vector engine works on one slice, the array makes the next. Between them only slices
 * are kept, with all their pixels; what is needed behind the group stays as a whole.
 *
 * Stripes of rows would not help here: a small map has few rows, windows overlap, and a
 * mean needs all rows.
 */
#include "plan.h"

/* Slices in a ring that the array writes: one is read while the next is made. The vector engine works on one slice at a
 * time, so a ring that it writes holds one slice. */
#define ARRAY_SLICES 2

/* If the weights of the group's convolution take more than 1/LARGE_WEIGHTS of the scratchpad, they come slice by slice, in
 * at most WEIGHT_SLOTS slots. Not measured. */
#define WEIGHT_SLOTS  3
#define LARGE_WEIGHTS 8

/* The most rows, and the most columns, of an operand: a command counts them with a sign and 15 bits. */
#define MOST_PIXELS 16384

/*
 * Returns whether one command can take all pixels of node i of the step: it is no loop nest, makes one image, has no
 * third operand, is not split along columns, has a window that begins at the input's first row and column or before,
 * and no tensor with more than MOST_PIXELS rows or columns.
 */
static bool plain(const struct npu_step *s, int i)
{
	const struct node *nd = step_node(s, i);

	if (nd->kind == NODE_LOOP_NEST || nd->third || nd->split_columns || nd->own.y.dim[0] != 1 || nd->win.pt < 0 || nd->win.pl < 0)
		return false;
	return nd->own.x.dim[1] <= MOST_PIXELS && nd->own.x.dim[2] <= MOST_PIXELS && nd->own.y.dim[1] <= MOST_PIXELS && nd->own.y.dim[2] <= MOST_PIXELS;
}

/*
 * Returns whether storage t is touched only by nodes [first, +n) of the step, first of all by node `writer`, and is not
 * needed in memory before or after the step.
 */
static bool inside(const struct storage *t, int writer, int first, int n)
{
	return t->first == writer && t->last < first + n && !t->ext_in && !t->ext_out;
}

/*
 * Returns how many channels a slice has if the result of node i of the step is cut into so many slices of equal size.
 * The number is rounded up to a multiple of unit_channels(), so there may be fewer slices, and the last one may be smaller.
 */
int64_t slice_channels(const struct npu_step *s, int i, int slices)
{
	const struct node *nd = step_node(s, i);

	return round_up(ceil_div(nd->own.y.dim[3], slices), unit_channels(s->cc, nd));
}

/*
 * Returns how many nodes from node i on, at most `most`, a slice group can have, wherever its tensors lie; 0 if none can
 * begin there. The first node is a convolution on the array. Each other node treats channels apart and reads, as its
 * input, all that the node before it makes. Only nodes of the group may read what the first node makes. If other nodes
 * read it, it would have to be resident, with the channels of all slices side by side in each pixel, and whoever reads
 * one slice would wait for writes of the next.
 */
int slices_extent(const struct npu_step *s, int i, int most)
{
	const struct node *head = step_node(s, i);
	int found = 0;

	if (head->kind != NODE_CONV || head->wt.w < 0 || !plain(s, i) || !view_is_storage(s, &head->own.y, s->plan[i].y_storage))
		return 0;
	for (int k = i + 1; k < s->n && k - i < most; k++) {
		const struct node *nd = step_node(s, k);
		int x = s->plan[k].x_storage;
		if (!channelwise(nd) || !plain(s, k) || x != s->plan[k - 1].y_storage || !view_is_storage(s, &nd->own.x, x) ||
		    nd->own.x.dim[3] != head->own.y.dim[3] || nd->own.y.dim[3] != head->own.y.dim[3])
			break;
		if (inside(&s->storage[s->plan[i].y_storage], i, i, k + 1 - i))
			found = k + 1 - i;
	}
	return found;
}

/*
 * Returns the slots in which the weights of node k of stripe or slice group g come: how many, and the bytes of one, records
 * included; 0 and 0 if the node has no weights. One slot holds all of them, but the large weights of a slice group's
 * convolution come slice by slice.
 */
struct weight_slots group_slots(const struct npu_step *s, const struct group *g, int k)
{
	const struct node *nd = step_node(s, g->first + k);
	int64_t all = nd->wt.rec_bytes + nd->wt.n_tiles * nd->wt.tile_bytes;

	if (nd->wt.w < 0)
		return (struct weight_slots){ 0, 0 };
	if (!g->how.slices || !on_array(nd) || all * LARGE_WEIGHTS <= s->cc->sp_bytes)
		return (struct weight_slots){ 1, all };
	return (struct weight_slots){ min64(WEIGHT_SLOTS, ceil_div(nd->y.dim[3], g->step)), g->step / s->cc->n * (nd->wt.tile_bytes + nd->wt.tile_rec_bytes) };
}

/* Returns the number of the group's ring for this storage, or -1 if it has none or `storage` is -1. */
static int ring_of(const struct group *g, int storage)
{
	for (int i = 0; i < g->n_ring && storage >= 0; i++)
		if (g->ring[i].storage == storage)
			return i;
	return -1;
}

/*
 * Returns whether a node of the group can read view v of this storage slice by slice: the storage has a ring and v sees
 * all of it, or it has none and is resident. -1 stands for no operand, for which the answer is true.
 */
static bool is_there(const struct npu_step *s, const struct group *g, int storage, const struct view *v)
{
	if (ring_of(g, storage) >= 0)
		return view_is_storage(s, v, storage);
	return storage < 0 || s->storage[storage].resident;
}

/*
 * List the rings of the group: one for each result that only the group's nodes touch, if its node's view is all of the
 * storage. Such a ring holds slices of the result. Sets each node's rings. Returns false if an operand or a result is
 * neither in a ring nor resident (is_there()); if a result shares its place with a storage that it replaces, or one in
 * a ring with a storage that replaces it; or if the array's result has no ring.
 */
static bool list_rings(const struct npu_step *s, struct group *g)
{
	g->n_ring = 0;
	for (int k = 0; k < g->n; k++) {
		int i = g->first + k;
		const struct node *nd = step_node(s, i);
		const struct plan *p = &s->plan[i];
		const struct storage *y = &s->storage[p->y_storage];
		bool own = inside(y, i, g->first, g->n) && view_is_storage(s, &nd->y, p->y_storage);

		if (y->replaces >= 0 || (own && y->replaced_by >= 0) || (!own && (!y->resident || !k)))
			return false;
		g->rx[k] = ring_of(g, p->x_storage);
		g->rr[k] = nd->add ? ring_of(g, p->r_storage) : -1;
		if (!is_there(s, g, p->x_storage, &nd->x) || (nd->add && !is_there(s, g, p->r_storage, &nd->r)))
			return false;
		g->ry[k] = own ? g->n_ring : -1;
		if (own)
			g->ring[g->n_ring++] = (struct ring){ .storage = p->y_storage, .rows = k ? 1 : ARRAY_SLICES, .height = 1, .writer = k, .times = 1, .area = -1,
			                                      .row_bytes = round_up(view_bytes(&nd->y) / nd->y.dim[3] * g->step, s->cc->n) };
		g->times[k] = 1;
	}
	return true;
}

/*
 * Make the storages that have rings no residents, and note in *was, bit i for ring i, which of them were; or with `back`
 * make those that are noted there residents again. s->used follows.
 */
static void set_residents(struct npu_step *s, const struct group *g, uint64_t *was, bool back)
{
	for (int i = 0; i < g->n_ring; i++) {
		struct storage *t = &s->storage[g->ring[i].storage];
		if (!back)
			*was |= (uint64_t)t->resident << i;
		if (!(*was >> i & 1))
			continue;
		t->resident = back;
		for (int k = t->first; k <= t->last; k++)
			s->used[k] += (back ? 1 : -1) * round_up(t->bytes, s->cc->n);
	}
}

/*
 * Plan slice group *g, whose nodes and striping are set, with the nodes' own views in force: set the channels of a slice
 * (g->step), the rings and each node's rings. Storages that have rings then are no residents any more. Returns whether
 * it works out. It does not if one slice would have all channels, if list_rings() refuses, or if rings and weights find
 * no room beside the residents; all storages are then resident as before.
 */
bool plan_slices(struct npu_step *s, struct group *g)
{
	uint64_t was = 0;

	g->step = slice_channels(s, g->first, g->how.slices);
	if (g->step >= step_node(s, g->first)->y.dim[3] || !list_rings(s, g))
		return false;
	set_residents(s, g, &was, false);
	if (group_bytes(s, g) <= s->cc->sp_bytes - group_residents(s, g))
		return true;
	set_residents(s, g, &was, true);
	return false;
}

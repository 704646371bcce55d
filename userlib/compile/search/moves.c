/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The moves that the hill climb tries: one stripe group longer, shorter or in other
 * stripes, one storage in the scratchpad or in memory, weights in another number of
 * slots, a node cut into another number of jobs, or a node that begins or ceases to
 * take turns with the vector engine. hill_climb.c makes them one by one and keeps what
 * is faster.
 */
#include "userlib/compile/emit/emit.h"
#include "userlib/compile/plan/plan.h"

/* The least share of what is free that a group's rings are tried with. Not measured. */
#define LEAST_SHARE 3

/* Weights below this part of the scratchpad are not moved into slots: they take little room. Not measured. */
#define LEAST_WEIGHTS 16

/* Storages below this part of the scratchpad get no residency hint, for the same reason. Not measured. */
#define LARGE 8

/*
 * Make move c: set the split of its node (and of the next one), whether it takes turns with the vector engine, its
 * weight slots, or its striping and whether that is its own, and the residency hint of its storage, as the move says
 * (struct move). The step must then be placed again; if move_only_emits() is true of the move, it need only be emitted again.
 */
void move_apply(struct npu_step *s, const struct move *c)
{
	if (c->split) {
		s->plan[c->node].req.split = c->split;
		if (c->next)
			s->plan[c->node + 1].req.split = c->next;
	} else if (c->turns) {
		s->plan[c->node].req.turns = c->turns > 0;
	} else if (c->slots >= 0) {
		s->plan[c->node].req.w_slots = c->slots;
	} else if (c->node >= 0) {
		s->plan[c->node].req.striping = c->how;
		s->plan[c->node].req.has_own_striping = c->own;
	}
	if (c->storage >= 0)
		s->storage[c->storage].hint = c->hint;
}

/*
 * Returns the move that undoes move c of step s: it holds what the plan asks for now wherever c would change
 * it. It must be asked for before c is made.
 */
struct move move_undo(const struct npu_step *s, const struct move *c)
{
	struct move was = *c;

	if (c->split) {
		was.split = s->plan[c->node].req.split;
		was.next = c->next ? s->plan[c->node + 1].req.split : 0;
	} else if (c->turns) {
		was.turns = s->plan[c->node].req.turns ? 1 : -1;
	} else if (c->slots >= 0) {
		was.slots = s->plan[c->node].req.w_slots;
	} else if (c->node >= 0) {
		was.how = s->plan[c->node].req.striping;
		was.own = s->plan[c->node].req.has_own_striping;
	}
	if (c->storage >= 0)
		was.hint = s->storage[c->storage].hint;
	return was;
}

/* Moves listed so far, and how many may be. */
struct list { struct move *c; int n, most; };

/* List the move that gives a group which begins at `node` the striping `how`, if there is room in the list. */
static void add_group(struct list *l, int node, struct striping how)
{
	if (l->n < l->most)
		l->c[l->n++] = (struct move){ .node = node, .how = how, .own = true, .slots = -1, .storage = -1 };
}

/* List the move that changes only how many nodes group g may have. */
static void add_nodes(struct list *l, const struct group *g, int nodes)
{
	struct striping how = g->how;

	how.nodes = nodes;
	add_group(l, g->first, how);
}

/* List the moves that give group g each share of room from `from` down to `to`, but for the one that it has. */
static void add_shares(struct list *l, const struct group *g, int from, int to)
{
	struct striping how = g->how;

	for (how.share = from; how.share >= to; how.share--)
		if (how.share != g->how.share)
			add_group(l, g->first, how);
}

/*
 * List the moves that change one thing of group g's striping and help most often: as many nodes as a group
 * can have, `full` the other way, `deep` the other way, each share of room from SHARES down to SHARES - 2
 * that is not the present one, and no group at all (0 nodes); as far as there is room in the list.
 */
static void list_common_stripings(struct list *l, const struct group *g)
{
	struct striping full = g->how, deep = g->how;

	full.full = !full.full;
	deep.deep = !deep.deep;
	if (g->how.nodes < GROUP_NODES)
		add_nodes(l, g, GROUP_NODES);
	add_group(l, g->first, full);
	add_group(l, g->first, deep);
	add_shares(l, g, SHARES, SHARES - 2);
	add_nodes(l, g, 0);
}

/*
 * List the other moves that change one thing of group g's striping: at most 2, 3, ... nodes, fewer than it
 * has; `pack` the other way where that can make a difference; and each share of room from SHARES - 3 down to
 * LEAST_SHARE that is not the present one; as far as there is room in the list.
 */
static void list_rare_stripings(struct list *l, const struct npu_step *s, const struct group *g)
{
	struct striping packed = g->how;

	packed.pack = !packed.pack;
	for (int n = 2; n < g->n; n++)
		add_nodes(l, g, n);
	if (step_can_pack(s, g->first, g->n))
		add_group(l, g->first, packed);
	add_shares(l, g, SHARES - 3, LEAST_SHARE);
}

/*
 * List the moves that form a slice group which begins at this node, as far as there is room in the list: with `often`
 * those for the numbers of slices that help most often, else those for the others. A number that would give slices the
 * size that they have now is left out. Nothing is listed if moves may not form slice groups (may_slice), if the node
 * is in a group that begins before it, or if no slice group of two or more nodes can begin there.
 */
static void list_slices(struct list *l, const struct npu_step *s, int node, bool often)
{
	static const struct { int n; bool often; } slices[] = {
		{ 3, true }, { 6, true }, { 2, false }, { 4, false }, { 8, false }, { 12, false },
	};
	const struct plan *p = &s->plan[node];
	const struct group *g = p->group ? &s->group[p->group - 1] : NULL;

	if (!s->may_slice || (g && g->first != node) || slices_extent(s, node, GROUP_NODES) < 2)
		return;
	for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
		if (slices[i].often == often && !(g && g->how.slices && g->step == slice_channels(s, node, slices[i].n)))
			add_group(l, node, (struct striping){ .nodes = GROUP_NODES, .share = SHARES, .slices = slices[i].n });
}

/*
 * List the move that takes storage i out of the scratchpad if it is resident, or else into it. Nothing is
 * listed for storages of less than 1/LARGE of the scratchpad, larger than the scratchpad, or that can never
 * be resident, nor if there is no room in the list.
 */
static void list_storage(struct list *l, const struct npu_step *s, int i)
{
	const struct storage *t = &s->storage[i];

	if (t->bytes * LARGE < s->cc->sp_bytes || t->in_memory || t->bytes > s->cc->sp_bytes || l->n == l->most)
		return;
	l->c[l->n++] = (struct move){ .node = -1, .slots = -1, .storage = i, .hint = t->resident ? -1 : 1 };
}

/*
 * List the moves that give the weights of a node another number of slots than its request asks for now: 2
 * and 3 with `often`, since they help most often, else 0 (tiling.c's choice), 4, 8, 16 and 24, as far as
 * there is room in the list. Nothing is listed unless the node is in no stripe group, has all operands on
 * chip, and has weights that take at least 1/LEAST_WEIGHTS of the scratchpad and do not come in parts of a
 * sum (split_k).
 */
static void list_slots(struct list *l, const struct npu_step *s, int node, bool often)
{
	static const struct { int n; bool often; } slots[] = {
		{ 2, true }, { 3, true }, { 0, false }, { 4, false }, { 8, false }, { 16, false }, { 24, false },
	};
	const struct node *nd = step_node(s, node);
	const struct plan *p = &s->plan[node];

	if (nd->wt.w < 0 || p->group || !p->req.x_resident || !p->req.y_resident || !p->req.r_resident || p->tile.split_k)
		return;
	if (nd->wt.n_tiles * nd->wt.tile_bytes * LEAST_WEIGHTS < s->cc->sp_bytes)
		return;
	for (size_t i = 0; i < sizeof slots / sizeof *slots && l->n < l->most; i++)
		if (slots[i].n != p->req.w_slots && slots[i].often == often)
			l->c[l->n++] = (struct move){ .node = node, .slots = slots[i].n, .storage = -1 };
}

/*
 * List in c[] at most `most` moves that give the weights of a node more or fewer slots than they have now: from half to
 * seven quarters as many, in eighths. Nothing is listed unless the node is in no stripe group and its weights come in slots
 * of whole sums. Returns how many were listed.
 */
int list_slot_numbers(const struct npu_step *s, int node, int tier, struct move *c, int most)
{
	const struct plan *p = &s->plan[node];
	int n = 0;

	(void)tier;
	if (step_node(s, node)->wt.w < 0 || p->group || p->tile.all_weights || p->tile.split_k || p->tile.n_w < 2)
		return 0;
	for (int k = 4, last = 0; k <= 14 && n < most; k++) {
		int slots = p->tile.n_w * k / 8;
		if (slots < 2 || slots == last || slots == p->tile.n_w || slots == p->req.w_slots || slots > MAX_W_SLOTS)
			continue;
		c[n++] = (struct move){ .node = node, .slots = last = slots, .storage = -1 };
	}
	return n;
}

/*
 * Returns whether the rows of this node, which runs on the array, need the post unit in more than half of all cycles. In each
 * cycle the array reads one byte of the weights for each of its N columns. A column tile has tile_bytes / N bytes for each
 * column, and in so many cycles the array makes N rows, each of which passes the post unit post_passes() times.
 */
static bool fills_post_unit(const struct cc *cc, const struct node *nd)
{
	return nd->wt.tile_bytes < 2 * post_passes(cc, nd) * cc->n * cc->n;
}

/*
 * List in c[] the move that changes whether rows of the vector engine take turns with those of this node at the post unit, if
 * `most` is not 0. Nothing is listed if the node does not run on the array, if its rows leave the post unit free for half of
 * all cycles anyway (fills_post_unit()), or if the device does not have the feature `turns`. Returns how many were listed.
 */
int list_turns(const struct npu_step *s, int node, int tier, struct move *c, int most)
{
	const struct node *nd = step_node(s, node);

	(void)tier;
	if (most < 1 || !s->cc->cfg->has_turns || !on_array(nd) || !fills_post_unit(s->cc, nd))
		return 0;
	c[0] = (struct move){ .node = node, .turns = s->plan[node].req.turns ? -1 : 1, .slots = -1, .storage = -1 };
	return 1;
}

/* Returns whether both tilings have tiles of the same size. */
static bool same_tile(const struct tiling *a, const struct tiling *b)
{
	return a->th == b->th && a->tw == b->tw && a->tc == b->tc;
}

/*
 * Returns whether cutting the node into `split` jobs would give the same tiles as now, or as a split in the
 * list does. Only this node's tiles count, also if the listed moves cut the next one as well.
 */
static bool same_split(const struct list *l, const struct npu_step *s, int node, int split)
{
	struct plan p = s->plan[node], q = p;

	plan_split(s->cc, step_node(s, node), &p, split);
	plan_split(s->cc, step_node(s, node), &q, q.req.split);
	if (same_tile(&q.tile, &p.tile))
		return true;
	for (int i = 0; i < l->n; i++) {
		plan_split(s->cc, step_node(s, node), &q, l->c[i].split);
		if (same_tile(&q.tile, &p.tile))
			return true;
	}
	return false;
}

/*
 * Returns whether the node may begin earlier if it is cut along channels. It must treat channels apart and have more
 * than one block of them. The node of the step that makes its input must be no loop nest and in no group, and must
 * make all pixels of one range of channels after those of another: in several jobs, or with several pieces of weights.
 */
static bool follows_channels(const struct npu_step *s, int node)
{
	const struct plan *p = &s->plan[node];

	if (!channelwise(step_node(s, node)) || step_node(s, node)->y.dim[3] <= s->cc->n)
		return false;
	for (int i = node - 1; i >= 0; i--) {
		const struct tiling *t = &s->plan[i].tile;
		const int64_t *y = step_node(s, i)->y.dim;
		if (s->plan[i].y_storage == p->x_storage)
			return !s->plan[i].group && step_node(s, i)->kind != NODE_LOOP_NEST && t->th >= y[1] && t->tw >= y[2] &&
			       (t->tc < y[3] || t->piece < step_node(s, i)->wt.n_tiles);
	}
	return false;
}

/*
 * For each move in the list, all of which split two nodes, if it splits the first one into at most 6 jobs: append
 * moves that split the first one as it does and the second one into 2, 3 or 4 jobs, leaving out the number of jobs
 * of the first one, while there is room in the list.
 */
static void list_unequal(struct list *l)
{
	int n = l->n;

	for (int i = 0; i < n; i++)
		for (int jobs = 2; jobs <= 4 && l->n < l->most; jobs++) {
			if (l->c[i].split == jobs || l->c[i].split > 6)
				continue;
			l->c[l->n] = l->c[i];
			l->c[l->n++].next = jobs;
		}
}

/*
 * List in c[] at most `most` moves that cut this node in another way. Without with_next these are cuts into 1, 2, 3, 4,
 * 6, 8 or 12 jobs; and, if everything has its place (s->placed) and follows_channels() says that it may help, cuts into
 * 2, 3, 4, 6, 8 or 12 ranges of channels. With with_next each move cuts this node into one of these numbers of jobs,
 * and the next node into as many, whatever tiles that gives it; and in steps of few commands (known_order) further
 * moves cut the next node into 2, 3 and 4 jobs (list_unequal()). Moves that give this node the same tiles as now, or as
 * a move that is listed already, are left out. Returns how many moves were listed. None are if this node cannot be cut
 * (tile.can_split), or if with_next is set and there is no next node or it cannot be cut.
 */
static int list_cuts(const struct npu_step *s, int node, bool with_next, struct move *c, int most)
{
	static const int choices[] = { 1, 2, 3, 4, 6, 8, 12, -2, -3, -4, -6, -8, -12 };
	struct list l = { c, 0, most };

	if (!s->plan[node].tile.can_split || (with_next && (node + 1 == s->n || !s->plan[node + 1].tile.can_split)))
		return 0;
	bool channels = !with_next && s->placed && follows_channels(s, node);
	for (size_t k = 0; k < sizeof choices / sizeof *choices && l.n < most; k++)
		if ((channels || choices[k] > 0) && !same_split(&l, s, node, choices[k]))
			c[l.n++] = (struct move){ .node = node, .split = choices[k], .next = with_next ? choices[k] : 0, .slots = -1, .storage = -1 };
	if (with_next && s->known_order)
		list_unequal(&l);
	return l.n;
}

/*
 * List in c[] at most `most` moves that cut this node in another way than now (list_cuts()); in tier 1 each cuts the next
 * node as well. Returns how many were listed.
 */
int list_splits(const struct npu_step *s, int node, int tier, struct move *c, int most)
{
	return list_cuts(s, node, tier == 1, c, most);
}

/*
 * List in c[] at most `most` moves at this node, and return how many there are. `tier` says of what kind they are:
 * - 0: residency of storages that are first touched here; of a stripe group that begins here its common stripings, of a
 *   slice group that it is no group; the common numbers of slices (list_slices()) and of slots (list_slots()).
 * - 1: splits of this node (list_cuts()).
 * - 2: of a stripe group that begins here its rarer stripings, of a slice group that it has at most 2 nodes; the rarer
 *   numbers of slices and of slots.
 * - 3: splits of this node and the next one (list_cuts()).
 */
int list_moves(const struct npu_step *s, int node, int tier, struct move *c, int most)
{
	struct list l = { c, 0, most };
	const struct plan *p = &s->plan[node];

	if (tier % 2)
		return list_cuts(s, node, tier == 3, c, most);
	for (int i = 0; i < s->n_storages && !tier; i++)
		if (s->storage[i].first == node)
			list_storage(&l, s, i);
	const struct group *g = p->group ? &s->group[p->group - 1] : NULL;
	if (g && g->first == node && g->how.slices)
		tier ? add_nodes(&l, g, 2) : add_group(&l, node, (struct striping){ 0 });
	else if (g && g->first == node)
		tier ? list_rare_stripings(&l, s, g) : list_common_stripings(&l, g);
	list_slices(&l, s, node, !tier);
	list_slots(&l, s, node, !tier);
	return l.n;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places one step: which storages stay on chip between their nodes, then stripe
 * groups, tiles and addresses for them. Small storages are kept first; what does not
 * fit goes through memory in tiles or stripes. If no addresses can be found, the
 * largest resident goes to memory as well, and groups and tiles are planned again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/estimate/cost.h"
#include "plan.h"

/* Nodes by which weights may come early at most. 8 or 16 gain 0.1 to 0.5 % in ddr and cost 0.2 to 0.4 % in sram on the
 * ten networks of search/search.c (EfficientNet-B0 -4.6 % and +4.0 %, as the search happens to go). */
#define MAX_AHEAD  64

/* Attempts to find how many nodes, with one limit for all weights; and pairs of areas that all of them may look at, which
 * bounds the time for steps of many areas. With few_early the limit is halved when they are used up. Not measured. */
#define MAX_DELAYS 300
#define ALLOC_WORK 20000000

/*
 * Returns the number of this root's storage in the step, and notes that `node` reads it, or if `write` is
 * set, writes it. map[root] is that number, or -1 if no node so far has touched the root: the storage is
 * then added to s->storage, which has room, and to the map; its ext_in is set if it is there before the
 * step's first item. `node`, which never decreases from call to call, becomes the storage's last node. A
 * write sets ext_out if the host reads the storage or an item behind the step uses it.
 */
static int storage_of(struct npu_step *s, int *map, int root, int node, bool write)
{
	const struct cten *t = &s->cc->ten[root];
	int k = map[root];

	if (k < 0) {
		k = map[root] = s->n_storages++;
		s->storage[k] = (struct storage){
			.root = root, .bytes = t->bytes, .first = node,
			.ext_in = t->src_item < s->first_item, .ext_out = false, .area = -1,
			.may_replace = -1, .replaces = -1, .replaced_by = -1,
		};
	}
	s->storage[k].last = node;
	s->storage[k].ext_out |= write && (t->host_reads || t->last_item >= s->first_item + s->n);
	return k;
}

/* Returns whether the view is all of the storage, dense from its first byte to its last. */
static bool is_whole(const struct npu_step *s, const struct view *v, int storage)
{
	return !v->off && view_is_dense(v) && view_bytes(v) == s->storage[storage].bytes;
}

/*
 * Returns whether the result of loop nest *n may be written over its first operand, whose storage then is all of the result's:
 * each element of the operand is read for one element of the result, with the same place in its storage, and no other operand
 * lies in that storage in another way. Commands that look up or scatter may not be in place.
 */
static bool goes_over_first(const struct loop_nest *n)
{
	if (n->axis >= 0 || n->func > WEFT_ALU_FUNC_RESCALE || n->a.root < 0 || alu_bytes(n->a.type) != alu_bytes(n->y.type) || n->a.off || n->y.off)
		return false;
	for (int d = 0; d < n->n_dims; d++)
		if (n->dim[d] > 1 && (n->a.step[d] != n->y.step[d] || n->y.step[d] <= 0 || (n->b.root == n->a.root && n->b.step[d] != n->a.step[d])))
			return false;
	return n->c.root != n->a.root && (n->b.root != n->a.root || !n->b.off);
}

/*
 * If the result of node i may be written over its second operand, or over its first one if it is a loop nest, note that in the
 * result's storage (may_replace). These conditions must hold: the second operand is no table; a loop nest goes_over_first();
 * operand and result are whole storages of the same size that may be resident; the second operand is not the input
 * as well; the operand is read for the last time; the result is first touched here, with nothing in memory before.
 * An operand is read element by element, each just before the result's element is written, so this is safe;
 * a table is read at random until the node is done, so its bytes must stay.
 */
static void note_takeover(struct npu_step *s, int i)
{
	const struct node *nd = step_node(s, i);
	const struct plan *p = &s->plan[i];
	const struct loop_nest *n = nd->kind == NODE_LOOP_NEST ? &s->cc->nests[nd->nest] : NULL;
	const int from = n ? p->x_storage : p->r_storage;

	if (from < 0 || from == p->y_storage || (n ? !goes_over_first(n) : by_table(nd) || from == p->x_storage))
		return;
	const struct storage *x = &s->storage[from], *y = &s->storage[p->y_storage];
	if (x->last != i || y->first != i || y->ext_in || x->bytes != y->bytes || x->in_memory || y->in_memory)
		return;
	if (n ? nest_packed_bytes(n, NEST_Y, n->dim, 1) == y->bytes : is_whole(s, &nd->r, from) && is_whole(s, &nd->y, p->y_storage))
		s->storage[p->y_storage].may_replace = from;
}

/*
 * Allocate and fill s->storage, the storages that the nodes of the step touch, and s->plan, with the
 * storage of each node's operands. Storages that can never be resident (computed weights; old values and
 * result of a scatter) are marked in_memory, and results that may replace second operands noted. Returns 0
 * or -ENOMEM.
 */
static int list_storages(struct npu_step *s)
{
	int *map = malloc(((size_t)s->cc->n_roots + 1) * sizeof *map);

	s->storage = calloc((size_t)s->n * 4 + 1, sizeof *s->storage);
	s->plan = calloc((size_t)s->n + 1, sizeof *s->plan);
	if (!map || !s->storage || !s->plan) {
		free(map);
		return -ENOMEM;
	}
	for (int i = 0; i < s->cc->n_roots; i++)
		map[i] = -1;
	for (int i = 0; i < s->n; i++) {
		const struct node *nd = step_node(s, i);
		struct plan *p = &s->plan[i];
		p->x_storage = storage_of(s, map, nd->x.root, i, false);
		p->r_storage = nd->add ? storage_of(s, map, nd->r.root, i, false) : -1;
		p->z_storage = nd->third ? storage_of(s, map, nd->z.root, i, false) : -1;
		p->y_storage = storage_of(s, map, nd->y.root, i, true);
		/* Computed weights come tile by tile, as constant ones do. */
		if (nd->third && nd->kind != NODE_LOOP_NEST)
			s->storage[p->z_storage].in_memory = true;
		/* The old values are brought to the result's place piece by piece. */
		if (nd->kind == NODE_LOOP_NEST && s->cc->nests[nd->nest].func == WEFT_ALU_FUNC_SCATTER)
			s->storage[p->y_storage].in_memory = s->storage[p->z_storage].in_memory = true;
	}
	for (int i = 0; i < s->n; i++)
		note_takeover(s, i);
	free(map);
	return 0;
}

/*
 * Returns how many bytes the residents should leave free while node i runs, so that it need not wait for its weights.
 * These are the bytes of all its weights and records, but at most a quarter of the scratchpad. The number is raised
 * to twice the bytes of one column tile with its records if it is less, but at most to the whole scratchpad. It is 0
 * if the node has no weights.
 */
static int64_t reserve_of(const struct npu_step *s, int i)
{
	const struct node *nd = step_node(s, i);
	int64_t w = nd->wt.w < 0 ? 0 : nd->wt.n_tiles * nd->wt.tile_bytes + nd->wt.rec_bytes, sp = s->cc->sp_bytes;
	int64_t tile = nd->wt.w < 0 ? 0 : nd->wt.tile_bytes + nd->wt.tile_rec_bytes;

	return max64(min64(w, sp / 4), min64(2 * tile, sp));
}

/* A storage and its size, for sorting. */
struct order_key { int64_t bytes; int i; };

/* Compare two order_keys for qsort(): the one with fewer bytes comes first, of equals the lower number. */
static int smaller(const void *pa, const void *pb)
{
	const struct order_key *a = pa, *b = pb;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return a->i < b->i ? -1 : 1;
}

/*
 * Returns whether a resident of so many bytes could be added during nodes first..last and still leave each of
 * them the room of reserve_of(). used[i] are the bytes of residents during node i.
 */
static bool fits(const struct npu_step *s, const int64_t *used, int64_t bytes, int first, int last)
{
	for (int i = first; i <= last; i++)
		if (used[i] + round_up(bytes, s->cc->n) + reserve_of(s, i) > s->cc->sp_bytes)
			return false;
	return true;
}

/*
 * Returns the last node that touches the bytes of a resident storage, including storages that replace it
 * there one after another.
 */
int storage_last(const struct npu_step *s, int storage)
{
	while (s->storage[storage].replaced_by >= 0)
		storage = s->storage[storage].replaced_by;
	return s->storage[storage].last;
}

/* Add (sign 1) or subtract (sign -1) the bytes of resident t in used[], from its first node to node `last`. */
static void use(const struct npu_step *s, int64_t *used, const struct storage *t, int last, int sign)
{
	for (int i = t->first; i <= last; i++)
		used[i] += sign * round_up(t->bytes, s->cc->n);
}

/*
 * Make storages resident that replace each other, in the order of replaced_by from number `head` on (which
 * may be the only one). If there is room for one of them, which all have the same size, during all their
 * nodes, they share one place; otherwise the chain is dissolved, and each of them becomes resident that
 * fits by itself during its own nodes, whatever its size and hint. A storage with in_memory never does.
 * Sets `resident` of each, and adds the bytes of those that are resident to used[].
 */
static void place_chain(struct npu_step *s, int64_t *used, int head)
{
	int last = storage_last(s, head), next;
	bool all = !s->storage[head].in_memory && fits(s, used, s->storage[head].bytes, s->storage[head].first, last);

	if (all)
		use(s, used, &s->storage[head], last, 1);
	for (int i = head; i >= 0; i = next) {
		struct storage *t = &s->storage[i];
		next = t->replaced_by;
		t->resident = all;
		if (all)
			continue;
		t->replaces = t->replaced_by = -1;
		t->resident = !t->in_memory && fits(s, used, t->bytes, t->first, t->last);
		if (t->resident)
			use(s, used, t, t->last, 1);
	}
}

/*
 * Choose which storages are resident, small ones first: those with a hint to stay, and those without a hint
 * of at most `largest` bytes; of both only those that fit beside the bytes of reserve_of(). With in_place,
 * results may take the bytes of second operands; of such a chain the first one's size and hint decide
 * (place_chain()). With the option no_fuse none is resident. Sets resident, replaces and replaced_by of all
 * storages, and adds the residents' bytes to used[]. Returns 0 or -ENOMEM.
 */
static int choose_residents(struct npu_step *s, int64_t *used, int64_t largest, bool in_place)
{
	struct order_key *k = malloc(((size_t)s->n_storages + 1) * sizeof *k);

	if (!k)
		return -ENOMEM;
	for (int i = 0; i < s->n_storages; i++) {
		k[i] = (struct order_key){ s->storage[i].bytes, i };
		s->storage[i].replaces = s->storage[i].replaced_by = -1;
		s->storage[i].resident = false;
	}
	for (int i = 0; i < s->n_storages; i++) {
		int o = s->storage[i].may_replace;
		if (o < 0 || !in_place || s->cc->o->no_fuse)
			continue;
		s->storage[i].replaces = o;
		s->storage[o].replaced_by = i;
	}
	qsort(k, (size_t)s->n_storages, sizeof *k, smaller);
	for (int j = 0; j < s->n_storages; j++) {
		const struct storage *t = &s->storage[k[j].i];
		if (t->replaces < 0 && !t->resident && !s->cc->o->no_fuse && (t->hint ? t->hint > 0 : t->bytes <= largest))
			place_chain(s, used, k[j].i);
	}
	free(k);
	return 0;
}

/* Returns the rough cycles that node i of the step takes, from s->work. */
static int64_t node_cycles(const struct npu_step *s, int i)
{
	return s->work[i + 1] - s->work[i];
}

/*
 * Append an area of `bytes` bytes, at least 1, rounded up to whole words. It is needed from node t0 on,
 * occupied during nodes t0..t1, and has no address yet. `weights` says that it may be filled before t0; it
 * then counts as used from node t0 - 1 on. Returns its number or -ENOMEM.
 */
static int add_area(struct npu_step *s, int64_t bytes, int t0, int t1, bool weights)
{
	int err = cc_grow(&s->area, s->n_area, &s->cap_area, sizeof *s->area);

	if (err)
		return err;
	s->area[s->n_area] = (struct area){ .bytes = round_up(max64(bytes, 1), s->cc->n), .addr = -1, .t0 = t0, .t1 = t1,
	                                    .need = t0,
	                                    .use0 = weights ? t0 - 1 : t0, .use1 = t1, .weights = weights };
	return (int)s->n_area++;
}

/*
 * Add n areas of `bytes` bytes each, occupied during node i, and put their numbers into slot[]; `weights`
 * says that they may be filled before. Returns 0 or -ENOMEM.
 */
static int add_slots(struct npu_step *s, int i, int n, int64_t bytes, int *slot, bool weights)
{
	for (int k = 0; k < n; k++) {
		slot[k] = add_area(s, bytes, i, i, weights);
		if (slot[k] < 0)
			return slot[k];
	}
	return 0;
}

/*
 * If node i takes column tiles in pairs and all of its weights are on chip, behind their records, note the records as
 * heads of their areas. For each tile of pixels they are read once (record_reads()).
 */
static void note_heads(struct npu_step *s, int i)
{
	const struct node *nd = step_node(s, i);
	const struct tiling *t = &s->plan[i].tile;

	if (nd->wt.w < 0 || !nd->wt.paired || !t->all_weights || t->own_recs)
		return;
	int64_t jobs = nd->y.dim[0] * ceil_div(nd->y.dim[1], t->th) * ceil_div(nd->y.dim[2], t->tw);

	for (int k = 0; k < t->n_w; k++) {
		struct area *a = &s->area[t->w[k]];

		a->head = t->w_recs[k];
		a->head_cycles = 4 * jobs * record_reads(s->cc, &nd->wt) * (t->w_recs[k] / nd->wt.tile_rec_bytes);
	}
}

/* Returns the first node that runs at the same time as node i: the first of its stripe group, or i itself. */
static int group_first(const struct npu_step *s, int i)
{
	return s->plan[i].group ? s->group[s->plan[i].group - 1].first : i;
}

/* Returns the last node that runs at the same time as node i: the last of its stripe group, or i itself. */
static int group_last(const struct npu_step *s, int i)
{
	const struct group *g = s->plan[i].group ? &s->group[s->plan[i].group - 1] : NULL;

	return g ? g->first + g->n - 1 : i;
}

/*
 * Note in the area's list of uses that a node of a stripe group accesses it `density` times in 8 cycles; more
 * than 8 count as 8. Nothing is noted for density 0 or beyond AREA_USES uses.
 */
static void add_use(struct npu_step *s, int area, int node, int64_t density)
{
	struct area *a = &s->area[area];

	if (a->n_use < AREA_USES && density)
		a->use[a->n_use++] = (struct area_use){ node, (int)min64(density, 8) };
}

/*
 * Note in the uses of the area of group g's ring i, which must have its area, which nodes of the group read
 * and write the ring's rows, and how often (add_use()). A node that reads its input x from the ring
 * accesses it in 8 of 8 cycles. A node that writes its result y to it, or reads its second operand r from
 * it, does so in as many of 8 cycles as it makes words of its result (N channels of a pixel) in 8 of its
 * node_cycles(): rounded up, and 8 at most.
 */
static void note_ring_uses(struct npu_step *s, const struct group *g, int i)
{
	const struct ring *r = &g->ring[i];

	for (int k = 0; k < g->n; k++) {
		int node = g->first + k;
		const struct node *nd = step_node(s, node);
		int64_t rows = view_elements(&nd->y) / nd->y.dim[3] * ceil_div(nd->y.dim[3], s->cc->n), work = node_cycles(s, node);
		if (g->rx[k] == i)
			add_use(s, r->area, node, 8);
		if (g->ry[k] == i || g->rr[k] == i)
			add_use(s, r->area, node, ceil_div(8 * rows, work));
	}
}

/* Returns the rough cycles of the engine, array or vector engine, that has more to do in the group. */
static int64_t group_cycles(const struct npu_step *s, const struct group *g)
{
	int64_t array = 0, vector = 0;

	for (int k = 0; k < g->n; k++)
		*(on_array(step_node(s, g->first + k)) ? &array : &vector) += node_cycles(s, g->first + k);
	return max64(array, vector);
}

/*
 * Add the areas of a stripe or slice group: one for each ring, with the rows that it keeps twice, and for each node
 * with weights one for each of their slots (group_slots()); all are occupied while any node of the group runs. Sets
 * g->cycles, the rings' areas, and of the nodes' tilings what they say of weights: with one slot, all weights come in
 * one load (all_weights). Notes in the areas which nodes use them how often: weights in 8 of 8 cycles on the array,
 * else in 4 (add_use()). Returns 0 or -ENOMEM.
 */
static int list_group_areas(struct npu_step *s, struct group *g)
{
	int t0 = g->first, t1 = g->first + g->n - 1, number = 1 + (int)(g - s->group);

	g->cycles = group_cycles(s, g);
	for (int i = 0; i < g->n_ring; i++) {
		struct ring *r = &g->ring[i];
		r->area = add_area(s, (r->rows + r->wrap_rows) * r->row_bytes, t0, t1, false);
		if (r->area < 0)
			return r->area;
		s->area[r->area].group = number;
		note_ring_uses(s, g, i);
	}
	for (int k = 0; k < g->n; k++) {
		const struct node *nd = step_node(s, g->first + k);
		struct plan *p = &s->plan[g->first + k];
		struct weight_slots slots = group_slots(s, g, k);
		if (nd->wt.w < 0)
			continue;
		p->tile.all_weights = slots.n == 1;
		p->tile.split_k = false;
		p->tile.n_w = (int)slots.n;
		p->tile.piece = nd->wt.n_tiles;
		p->tile.own_recs = false;
		p->tile.w_recs[0] = nd->wt.rec_bytes;
		p->tile.w_bytes = slots.bytes;
		for (int i = 0; i < p->tile.n_w; i++) {
			int a = p->tile.w[i] = add_area(s, p->tile.w_bytes, t0, t1, true);
			if (a < 0)
				return a;
			s->area[a].use0 = t0;
			s->area[a].group = number;
			add_use(s, a, g->first + k, on_array(nd) ? 8 : 4);
		}
	}
	return 0;
}

/*
 * List all areas of the step anew, without addresses: one for each resident from its first node to its last
 * (those that replace each other share one), those of stripe groups, and the slots of each other node's
 * tiling, which are occupied during that node. A resident that a group's node touches is occupied during
 * the whole group. Sets the areas' numbers in storages (-1: not resident), rings and plans. Returns 0 or
 * -ENOMEM.
 */
static int list_areas(struct npu_step *s)
{
	int err = 0;

	s->n_area = 0;
	for (int i = 0; i < s->n_storages; i++) {
		struct storage *t = &s->storage[i];
		t->area = t->resident && t->replaces < 0 ? add_area(s, t->bytes, group_first(s, t->first),
		                                                group_last(s, storage_last(s, i)), false) : -1;
		if (t->resident && t->replaces < 0 && t->area < 0)
			return t->area;
	}
	for (int i = 0; i < s->n_storages; i++)
		for (int k = i; s->storage[i].replaces < 0 && (k = s->storage[k].replaced_by) >= 0; )
			s->storage[k].area = s->storage[i].area;
	for (uint32_t i = 0; i < s->n_group; i++)
		if ((err = list_group_areas(s, &s->group[i])))
			return err;
	for (int i = 0; i < s->n && !err; i++) {
		struct plan *p = &s->plan[i];
		if (p->group)
			continue;
		if ((err = add_slots(s, i, p->tile.n_in, p->tile.in_bytes, p->tile.in, false)) ||
		    (err = add_slots(s, i, p->tile.n_r, p->tile.r_bytes, p->tile.r, false)) ||
		    (err = add_slots(s, i, p->tile.n_out, p->tile.out_bytes, p->tile.out, false)))
			return err;
		for (int k = 0; p->tile.all_weights && p->tile.n_w > 1 && k < p->tile.n_w && !err; k++)
			err = add_slots(s, i, 1, p->tile.piece_bytes[k], p->tile.w + k, true);
		if (!err && !(p->tile.all_weights && p->tile.n_w > 1))
			err = add_slots(s, i, p->tile.n_w, p->tile.w_bytes, p->tile.w, true);
		if (!err)
			note_heads(s, i);
	}
	return err;
}

/* The tiling that a node got last, and what it was asked for. */
struct cached_tiles { bool is; struct plan_request req; int64_t budget; struct tiling tile; };

/*
 * Returns whether plan_node() would choose the same tiling for both requests of one node. The function does not look
 * at what they say of striping and splits.
 */
static bool same_request(const struct plan_request *a, const struct plan_request *b)
{
	return a->x_resident == b->x_resident && a->r_resident == b->r_resident && a->y_resident == b->y_resident &&
	       a->only_loads == b->only_loads && a->w_slots == b->w_slots;
}

/*
 * Set p->tile to the tiling of node i within `budget` bytes. If the last tiling of the node, which s->tile_cache holds,
 * was chosen for the same budget and the same request (same_request()), p->tile becomes that one. Otherwise plan_node()
 * chooses a tiling, which replaces the one in s->tile_cache. Returns 0, or -ERANGE if no tiling fits; p->tile then
 * means nothing.
 */
static int plan_tiles(const struct npu_step *s, int i, struct plan *p, int64_t budget)
{
	struct cached_tiles *m = &s->tile_cache[i];

	if (m->is && m->budget == budget && same_request(&m->req, &p->req)) {
		p->tile = m->tile;
		return 0;
	}
	int err = plan_node(s->cc, step_node(s, i), p, budget);
	if (!err)
		*m = (struct cached_tiles){ true, p->req, budget, p->tile };
	return err;
}

/*
 * Fill in the request of every node (which operands are resident, how many nodes come behind it,
 * only_loads; what moves ask for stays) and choose the tiling of those that are in no stripe group, within
 * what residents leave free (used[], bytes at each node). Of the tiling of a node in a group only can_split
 * is set here, to false; list_group_areas() sets what it says of weights. Returns 0, -ENOMEM, or -ERANGE
 * with cc->bad_node and cc->bad_why: no tile of that node fits.
 */
static int plan_all(struct npu_step *s, const int64_t *used)
{
	if (!s->tile_cache && !(s->tile_cache = calloc((size_t)s->n + 1, sizeof *s->tile_cache)))
		return -ENOMEM;
	for (int i = 0; i < s->n; i++) {
		struct plan *p = &s->plan[i];
		p->req.x_resident = s->storage[p->x_storage].resident;
		p->req.r_resident = p->r_storage < 0 || s->storage[p->r_storage].resident;
		p->req.y_resident = s->storage[p->y_storage].resident;
		p->tile.can_split = false;
		p->req.behind = s->n - 1 - i;
		p->req.only_loads = s->params.only_loads;
		if (p->group)
			continue;
		const struct node *nd = step_node(s, i);
		int err = nd->kind == NODE_LOOP_NEST ? plan_loop_nest(s, nd, p, s->cc->sp_bytes - used[i])
		                               : plan_tiles(s, i, p, s->cc->sp_bytes - used[i]);
		if (err) {
			s->cc->bad_node = (int)(step_node(s, i) - s->cc->nodes);
			s->cc->bad_why = "no tile of it fits the scratchpad";
			return err;
		}
	}
	return 0;
}

/* Weights that may come early: their area and its bytes, the node before which they come (t0), the node that needs them. */
struct early { int64_t bytes; int t0, need, area; };

/* Let these weights come before node t0: their area is occupied from there on. */
static void set_early(struct npu_step *s, struct early *e, int t0)
{
	e->t0 = t0;
	s->area[e->area].t0 = t0;
}

/*
 * Let none of the n weights come more than `ahead` nodes before the node that needs them. Returns whether any did
 * until now.
 */
static bool limit_prefetch(struct npu_step *s, struct early *e, int n, int ahead)
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		if (e[i].need - e[i].t0 <= ahead)
			continue;
		any = true;
		set_early(s, &e[i], e[i].need - ahead);
	}
	return any;
}

/*
 * Returns whether these weights come early and their area is occupied, before the node that needs them, while
 * area x is.
 */
static bool in_way(const struct early *e, const struct area *x)
{
	return e->t0 < e->need && e->t0 <= x->t1 && e->need > x->t0;
}

/*
 * Among the weights e[list[0..n-1]] that come early and are in the way of area x, take those that occupy most
 * bytes times nodes, of equals the first in the list, and let them come half as early. Returns their area, or
 * -1 if none is in the way.
 */
static int delay_weights(struct npu_step *s, struct early *e, const int *list, int n, const struct area *x)
{
	struct early *most = NULL;
	int64_t worth = 0;

	for (int i = 0; i < n; i++) {
		struct early *w = &e[list[i]];
		if (!in_way(w, x) || (most && w->bytes * (w->need - w->t0) <= worth))
			continue;
		most = w;
		worth = w->bytes * (w->need - w->t0);
	}
	if (!most)
		return -1;
	set_early(s, most, most->need - (most->need - most->t0) / 2);
	return most->area;
}

/* The search for how early weights may come. */
struct delays {
	struct early *e;       /* the weights of all nodes, in the order of areas, */
	int n;                 /* and how many there are */
	int *list;             /* room for n numbers */
	int ahead;             /* no weights come more nodes early than this */
	int64_t k, most;       /* attempts so far with this limit, and how many there may be */
};

/*
 * After area `failed` found no address: let weights in its way come later, one after another, until the
 * times of that area have changed, or of one that is placed before it. Each delay is an attempt that counts
 * in d->k; after d->most of them the limit for all weights, d->ahead, is halved until it makes some come later (with
 * params.few_early; else it becomes 0), attempts are counted anew, and addresses must be found from rank 0 on.
 * Returns the rank (place in the order of size) of the area from which on addresses must be found anew, or
 * -1 if there is nothing left to delay.
 */
static int make_room(struct npu_step *s, const struct alloc *al, struct delays *d, int failed)
{
	int rank = alloc_rank(al, failed), n_list = 0, later;

	for (int i = 0; i < d->n; i++)
		if (in_way(&d->e[i], &s->area[failed]))
			d->list[n_list++] = i;
	do {
		if (d->ahead && d->k >= d->most) {
			d->k = 0;
			do
				d->ahead = s->params.few_early ? d->ahead / 2 : 0;
			while (!limit_prefetch(s, d->e, d->n, d->ahead) && d->ahead);
			return 0;
		}
		later = delay_weights(s, d->e, d->list, n_list, &s->area[failed]);
		if (later < 0)
			return -1;
		d->k++;
		/* A change behind the failed area makes no room for it. */
	} while (alloc_rank(al, later) > rank);
	return alloc_rank(al, later);
}

/*
 * Find addresses for all areas with this limit of `compact` (see alloc_areas()), beginning with weights up to
 * MAX_AHEAD nodes early and delaying them where there is no room. Returns 0, or -ENOSPC if there is no room
 * even then.
 */
static int alloc_mode(struct npu_step *s, struct alloc *al, struct delays *d, int64_t compact)
{
	int failed, from = 0;

	d->k = 0;
	d->ahead = MAX_AHEAD;
	d->most = min64(MAX_DELAYS, ALLOC_WORK / ((int64_t)s->n_area * s->n_area + 1));
	for (int i = 0; i < d->n; i++)
		set_early(s, &d->e[i], d->e[i].need > d->ahead ? d->e[i].need - d->ahead : 0);
	while ((failed = alloc_areas(al, from, compact)) >= 0) {
		/* What was placed before an area does not depend on it. */
		from = make_room(s, al, d, failed);
		if (from < 0)
			return -ENOSPC;
	}
	return 0;
}

/*
 * Find addresses for all areas: first with all of them kept apart from each other, then with areas above a
 * region of the scratchpad packed, then those above a quarter of a region, then all, since areas apart are
 * worth more than early weights. Each time weights begin as early as alloc_mode() lets them, and their
 * areas' t0 moves. Returns 0 with the addresses in s->area, -ENOSPC or -ENOMEM.
 */
static int alloc_with_prefetch(struct npu_step *s)
{
	int64_t region = s->cc->cfg->sp_bytes / WEFT_SP_REGIONS, compact[] = { INT64_MAX, region, region / 4, 0 };
	struct delays d = { .e = malloc((s->n_area + 1) * sizeof *d.e), .list = malloc((s->n_area + 1) * sizeof *d.list) };
	struct alloc *al = alloc_new(s);
	int err = d.e && d.list && al ? -ENOSPC : -ENOMEM;

	for (uint32_t i = 0; i < s->n_area && err != -ENOMEM; i++)
		if (s->area[i].weights)
			d.e[d.n++] = (struct early){ s->area[i].bytes, 0, s->area[i].need, (int)i };
	for (size_t k = 0; k < sizeof compact / sizeof *compact && err == -ENOSPC; k++)
		err = alloc_mode(s, al, &d, compact[k]);
	alloc_free(al);
	free(d.list);
	free(d.e);
	return err;
}

/*
 * Send the largest resident, with all that replace each other in its place, to memory: they are no longer
 * resident, their `replaces` and `replaced_by` become -1, and its bytes are taken out of used[]. Returns
 * false, with nothing changed, if there is no resident.
 */
static bool evict(struct npu_step *s, int64_t *used)
{
	int victim = -1, next;

	for (int i = 0; i < s->n_storages; i++) {
		const struct storage *t = &s->storage[i];
		if (t->resident && t->replaces < 0 && (victim < 0 || t->bytes > s->storage[victim].bytes))
			victim = i;
	}
	if (victim < 0)
		return false;
	use(s, used, &s->storage[victim], storage_last(s, victim), -1);
	for (int i = victim; i >= 0; i = next) {
		next = s->storage[i].replaced_by;
		s->storage[i].resident = false;
		s->storage[i].replaces = s->storage[i].replaced_by = -1;
	}
	return true;
}

/*
 * Returns whether a stripe group keeps this storage in rings, none of which is loaded from memory or stored
 * there.
 */
static bool only_in_ring(const struct npu_step *s, int storage)
{
	bool any = false;

	for (uint32_t i = 0; i < s->n_group; i++)
		for (int k = 0; k < s->group[i].n_ring; k++) {
			const struct ring *r = &s->group[i].ring[k];
			if (r->storage == storage && (r->load || r->store))
				return false;
			any |= r->storage == storage;
		}
	return any;
}

/*
 * If tensor *c is first written or last used inside a stripe group of the step, let it have its bytes in
 * memory while the whole group runs, since the group's nodes run interleaved: sets c->src_item to the
 * group's first item, c->last_item to its last.
 */
static void widen_lifetime(const struct npu_step *s, struct cten *c)
{
	for (uint32_t i = 0; i < s->n_group; i++) {
		int first = s->first_item + s->group[i].first, last = first + s->group[i].n - 1;
		if (c->src_item >= first && c->src_item <= last)
			c->src_item = first;
		if (c->last_item >= first && c->last_item <= last)
			c->last_item = last;
	}
}

/*
 * Note in cc->ten which storages of the step need a place in the arena (in_dram): those that come from
 * memory or are needed there afterwards, and those that are neither resident nor only in a ring; never
 * those whose data are constants of the program. Widens lifetimes for stripe groups.
 */
static void note_memory(struct npu_step *s)
{
	for (int i = 0; i < s->n_storages; i++) {
		const struct storage *t = &s->storage[i];
		struct cten *c = &s->cc->ten[t->root];
		if (!c->in_const && (t->ext_in || t->ext_out || (!t->resident && !only_in_ring(s, i))))
			c->in_dram = true;
		widen_lifetime(s, c);
	}
}

/*
 * Plan the tiles of the nodes that are in no stripe group, list the areas of all and find addresses, for the
 * residents and groups that are chosen; used[i] are the bytes of residents during node i. Also fills in the
 * nodes' requests, as plan_all() does. Returns 0, -ENOSPC: no addresses; -ERANGE with
 * cc->bad_node and cc->bad_why: no tile of a node fits; or -ENOMEM.
 */
static int place_areas(struct npu_step *s, const int64_t *used)
{
	int err = plan_all(s, used);

	if (!err)
		err = list_areas(s);
	return err ? err : alloc_with_prefetch(s);
}

/*
 * Do what place_areas() does, unless the memo knows the outcome of these residents and groups. Sets r->key
 * to their key, by which the caller can remember an outcome. Returns 1 if the memo knows the outcome and
 * there was room: r->o then says what came of it, and tiles and areas are those of an earlier placement;
 * else 0, -ENOSPC (known or found now, and remembered), -ERANGE or -ENOMEM.
 */
static int place_or_recall(struct npu_step *s, const int64_t *used, struct memo_client *r)
{
	int err = memo_key_of(&r->key, s);

	if (err)
		return err;
	if (memo_find(r->all, &r->key, &r->o))
		return r->o.no_room ? -ENOSPC : 1;
	err = place_areas(s, used);
	if (err != -ENOSPC)
		return err;
	r->o = (struct outcome){ .no_room = true };
	return memo_add(r->all, &r->key, &r->o) ? -ENOMEM : -ENOSPC;
}

/*
 * Place the step with parameters *t, which become s->params: choose residents, stripe groups (none with the
 * option no_fuse), tiles and addresses. If there are no addresses, the largest resident goes to memory and
 * groups and tiles are chosen again. r may be NULL; else its memo is asked whether a placement has been
 * evaluated before, and r->key becomes the key of the last one. Sets s->used. Returns 0 if the step is
 * placed; 1 if the memo knows the outcome, which is in r->o, and the step has no tiles and addresses for
 * it; -ENOSPC: no room even without residents; -ERANGE with cc->bad_node; or -ENOMEM.
 */
int place_with(struct npu_step *s, const struct placement_params *t, struct memo_client *r)
{
	int64_t *used = s->used;

	s->params = *t;
	memset(used, 0, (size_t)s->n * sizeof *used);
	int err = choose_residents(s, used, t->largest, t->in_place);

	while (!err) {
		if (!s->cc->o->no_fuse && (err = step_find_groups(s, &t->stripes)))
			break;
		err = r ? place_or_recall(s, used, r) : place_areas(s, used);
		if (err != -ENOSPC)
			break;
		err = evict(s, used) ? 0 : -ENOSPC;
	}
	return err;
}

/*
 * Allocate s->work and s->used, and set work[i] to the rough cycles of all nodes before node i: node_work()
 * of each and one more. used[] is zero. Returns 0 or -ENOMEM.
 */
static int list_work(struct npu_step *s)
{
	s->work = calloc((size_t)s->n + 2, sizeof *s->work);
	s->used = calloc((size_t)s->n + 1, sizeof *s->used);
	if (!s->work || !s->used)
		return -ENOMEM;
	for (int i = 0; i < s->n; i++)
		s->work[i + 1] = s->work[i] + node_work(s->cc, step_node(s, i)) + 1;
	s->work[s->n + 1] = s->work[s->n];
	return 0;
}

/*
 * Returns how many bytes of memory the step's inputs and outputs occupy while node i runs: tensors that exist before the
 * step or are needed after it. They occupy memory in every plan of the step. Constants, which have a window of their own,
 * do not count.
 */
static int64_t bytes_in_memory(const struct npu_step *s, int i)
{
	int64_t sum = 0;

	for (int k = 0; k < s->n_storages; k++) {
		const struct storage *t = &s->storage[k];
		if ((t->ext_in || t->ext_out) && t->first <= i && t->last >= i && !s->cc->ten[t->root].in_const)
			sum += t->bytes;
	}
	return sum;
}

/*
 * Returns whether inputs and outputs of the step occupy more memory at one node than a window can address. If they do,
 * cc_place_arena() fails with every plan of the step, and no plan needs to be searched.
 */
static bool exceeds_window(const struct npu_step *s)
{
	for (int i = 0; i < s->n; i++)
		if (bytes_in_memory(s, i) > UINT32_MAX)
			return true;
	return false;
}

/*
 * List the storages and work of a step, find the best plan for it by search, and note which storages need a
 * place in memory (in_dram). Returns 0; -E2BIG if the step's inputs and outputs exceed a window (exceeds_window()); -ERANGE
 * if cc->bad_node cannot be placed, and cc->bad_why then says why; or another negative errno. If the areas have no room in
 * the scratchpad, cc->bad_node is the step's first node. step_clear() frees what this function allocates, also after an
 * error.
 */
int step_place(struct npu_step *s)
{
	int err = list_storages(s);

	if (!err && exceeds_window(s))
		err = -E2BIG;
	if (!err)
		err = list_work(s);
	if (!err)
		err = place_best(s);
	if (err == -ENOSPC) {
		s->cc->bad_node = s->cc->items[s->first_item].index;
		s->cc->bad_why = "its buffers do not fit the scratchpad";
		err = -ERANGE;
	}
	if (!err)
		note_memory(s);
	return err;
}

/* Free all that a step owns, but not the step itself; the freed pointers are left as they are. */
void step_clear(struct npu_step *s)
{
	free(s->storage);
	free(s->plan);
	free(s->area);
	free(s->work);
	free(s->used);
	free(s->group);
	free(s->tile_cache);
	free(s->cmds.p);
	free(s->cmds.spare);
	free(s->cmds.rec);
	hazards_free(s->hazards);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting a node into tiles that fit. Every combination of width (halved again and
 * again), channels (likewise) and loop order is tried with the greatest height that
 * fits, and with halves of it; the one that should take the fewest cycles wins.
 */
#include <errno.h>

#include "userlib/compile/estimate/cost.h"
#include "plan.h"

/*
 * Bytes of weights in one load, where weights come in several. The more come in one
 * load, the less bus time the stream's own words take; the fewer, the sooner work
 * begins and the less is left to do behind the last load.
 */

/* Ordinarily. On the ten networks of search/search.c half of it costs 0.3 % in ddr and 0.5 % in sram (MobileNetV1 0.25
 * 2.6 %). */
#define PIECE 8192

/* Where nothing but loads counts; and there for the last LAST_NODES nodes of a step. Found by trying on the autoencoder;
 * other sizes are not on record. */
#define LARGE_PIECE 24576
#define LAST_PIECE  10240
#define LAST_NODES  2

/* There, for the step's last node: at most this part of the tiles that are left and LAST_MORE more. With it the
 * autoencoder takes 18 996 cycles (sram) instead of 19 008. */
#define LAST_SHARE 10
#define LAST_MORE  18

/* Bytes of a slot, where weights get many slots. On those networks half of it costs 0.3 % in ddr and 0.5 % in sram. */
#define SLOT 16384

/* Weights below this part of the scratchpad get no slots of their own: they take little room. Not measured. */
#define LEAST_WEIGHTS 16

/* Input rows that th output rows need, at most. */
static int64_t rows_for(const struct node *nd, int64_t th)
{
	return min64(nd->x.dim[1], (th - 1) * nd->win.sy + (int64_t)(nd->win.kh - 1) * nd->win.dy + 1);
}

/* Input columns that tw output columns need, at most. */
static int64_t cols_for(const struct node *nd, int64_t tw)
{
	return min64(nd->x.dim[2], (tw - 1) * nd->win.sx + (int64_t)(nd->win.kw - 1) * nd->win.dx + 1);
}

/* Bytes of weights and records of so many channels. */
static int64_t weights_of(const struct node *nd, const struct cc *cc, int64_t channels)
{
	return nd->wt.w < 0 ? 0 : ceil_div(channels, cc->n) * (nd->wt.tile_bytes + WEFT_PARAM_BYTES * cc->n);
}

/* Jobs along pixels (and images) and along channels. */
struct counts { int64_t pixels, channels; };

/* How many jobs a tiling makes. */
static struct counts job_counts(const struct node *nd, const struct plan *p)
{
	return (struct counts){
		nd->y.dim[0] * ceil_div(nd->y.dim[1], p->tile.th) * ceil_div(nd->y.dim[2], p->tile.tw),
		ceil_div(nd->y.dim[3], p->tile.tc),
	};
}

/* Set the numbers and sizes of the slots that a tiling needs. The bytes of all of them. */
static int64_t measure(const struct cc *cc, const struct node *nd, struct plan *p)
{
	struct counts k = job_counts(nd, p);
	int slots = k.pixels * k.channels > 1 ? p->tile.slots : 1;
	int64_t pixels = p->tile.th * p->tile.tw;

	p->tile.n_in = p->req.x_resident ? 0 : k.pixels > 1 || (channelwise(nd) && k.channels > 1) ? p->tile.slots : 1;
	p->tile.n_r = p->req.r_resident ? 0 : slots;
	p->tile.n_out = p->req.y_resident ? 0 : slots;
	p->tile.n_w = nd->wt.w < 0 ? 0 : p->tile.all_weights ? 1 : (int)min64(p->tile.slots, k.channels);
	p->tile.in_bytes = round_up(rows_for(nd, p->tile.th) * cols_for(nd, p->tile.tw) * (channelwise(nd) ? p->tile.tc : nd->x.dim[3]) *
	                       view_elem(&nd->x), cc->n);
	p->tile.out_bytes = round_up(pixels * p->tile.tc * view_elem(&nd->y), cc->n);
	p->tile.r_bytes = !nd->add ? 0 : round_up(second_still(nd) ? second_channels(nd, p->tile.tc) * view_elem(&nd->r)
	                                                        : pixels * p->tile.tc * view_elem(&nd->r), cc->n);
	p->tile.w_bytes = weights_of(nd, cc, p->tile.all_weights ? nd->y.dim[3] : p->tile.tc);
	if (p->tile.split_k) {
		p->tile.n_w = p->tile.slots;
		p->tile.w_bytes = p->tile.kq * cc->n * cc->n * (nd->wt.joined ? 1 : nd->win.kw) + WEFT_PARAM_BYTES * cc->n;
	}
	return p->tile.n_in * p->tile.in_bytes + p->tile.n_r * p->tile.r_bytes + p->tile.n_out * p->tile.out_bytes + p->tile.n_w * p->tile.w_bytes;
}

/* Groups of n rows of the array that the node's tiles fill. */
static int64_t groups_of(const struct cc *cc, const struct node *nd, const struct plan *p)
{
	int64_t oh = nd->y.dim[1], ow = nd->y.dim[2], h[2] = { p->tile.th, oh % p->tile.th }, w[2] = { p->tile.tw, ow % p->tile.tw };
	int64_t nh[2] = { oh / p->tile.th, 1 }, nw[2] = { ow / p->tile.tw, 1 }, sum = 0;

	for (int i = 0; i < 4; i++)
		sum += nh[i / 2] * nw[i % 2] * ceil_div(h[i / 2] * w[i % 2], cc->n);
	return nd->y.dim[0] * sum;
}

/* Cycles of the array; of the vector engine, roughly. */
static int64_t work(const struct cc *cc, const struct node *nd, const struct plan *p)
{
	int64_t blocks = ceil_div(nd->y.dim[3], cc->n);

	if (nd->kind == NODE_CONV || nd->kind == NODE_DWCONV)
		return groups_of(cc, nd, p) * blocks * (nd->wt.tile_bytes / cc->n);
	if (dw_by_row(nd))
		return view_elements(&nd->x) / nd->x.dim[1] * nd->y.dim[1] * dw_rows(nd) / cc->n;
	return view_elements(&nd->x) / cc->n;
}

/* Are weights used about as fast as they come, because there are few pixels to use them for? */
static bool few_pixels(const struct cc *cc, const struct node *nd)
{
	return view_elements(&nd->y) / nd->y.dim[3] <= 2 * cc->n;
}

/*
 * Cycles that a tiling should take: those of the unit that has more to do, those of loads and stores
 * that nothing hides, and a few for each job.
 */
static int64_t expected(const struct cc *cc, const struct node *nd, const struct plan *p)
{
	struct counts k = job_counts(nd, p);
	int64_t once = weights_of(nd, cc, nd->y.dim[3]), bytes = 0;
	bool many = k.channels > 1 && !channelwise(nd);

	if (!p->req.x_resident)
		bytes += k.pixels * p->tile.in_bytes * (channelwise(nd) ? k.channels : many && p->tile.by_channel ? k.channels : 1);
	if (nd->wt.w >= 0)
		bytes += once * (p->tile.all_weights || p->tile.by_channel ? 1 : k.pixels);
	if (!p->req.r_resident)
		bytes += view_bytes(&nd->r);
	if (!p->req.y_resident)
		bytes += view_bytes(&nd->y);
	/* Nothing hides the first tile's load and the last one's store. Of weights that come as a whole, three
	 * quarters have come during the node before; with few pixels weights are all that counts, and as many as
	 * possible shall come before. */
	int64_t edge = (p->req.x_resident ? 0 : p->tile.in_bytes) + (p->req.y_resident ? 0 : p->tile.out_bytes);
	if (!few_pixels(cc, nd))
		edge += p->tile.w_bytes / (p->tile.all_weights ? 4 : 1);
	return max64(bytes / COST_MEMORY_BYTES, work(cc, nd, p)) + edge / COST_MEMORY_BYTES +
	       k.pixels * k.channels * COST_JOB;
}

/*
 * Set the greatest tile height, at most max_th, that fits the budget with the other choices made; then
 * make tiles equal. 0 if none fits.
 */
static int64_t fit_height(const struct cc *cc, const struct node *nd, struct plan *p, int64_t budget, int64_t max_th)
{
	int64_t lo = 0, hi = max_th;

	while (lo < hi) {
		p->tile.th = (lo + hi + 1) / 2;
		if (measure(cc, nd, p) <= budget)
			lo = p->tile.th;
		else
			hi = p->tile.th - 1;
	}
	/* Equal tiles rather than a full one and a rest. */
	if (lo)
		lo = ceil_div(nd->y.dim[1], ceil_div(nd->y.dim[1], lo));
	p->tile.th = lo;
	return lo;
}

/* Most rows of a tile: a command's counts have 16 bits, its row numbers a sign as well. */
static int64_t max_height(const struct node *nd)
{
	int64_t th = min64(nd->y.dim[1], 16384);

	while (th > 1 && (th - 1) * nd->win.sy + (int64_t)(nd->win.kh - 1) * nd->win.dy >= 32768)
		th /= 2;
	return th;
}

/* Most columns (transposed: rows) of the result that one depthwise command can make. */
int64_t dw_width(const struct cc *cc, const struct node *nd)
{
	int64_t line = cc->cfg->dw_line, most = dw_by_row(nd) ? line / 2 - 9 : line / view_elem(&nd->x) - 3;

	return most / (nd->conv.transposed ? nd->win.sy : nd->win.sx) + 1;
}

/*
 * Most columns of a tile: a command's counts have 16 bits; of a very wide depthwise node no more than
 * one command makes.
 */
static int64_t max_width(const struct cc *cc, const struct node *nd)
{
	int64_t tw = min64(nd->y.dim[2], 65535);

	if (nd->kind == NODE_DW && nd->x.dim[2] > 16384)
		tw = min64(tw, dw_width(cc, nd));
	return tw;
}

/* Try the greatest height that fits and halves of it; *best is the best tiling so far. */
static void try_tile(const struct cc *cc, const struct node *nd, struct plan p, int64_t budget, struct plan *best)
{
	bool on_chip = p.req.x_resident && p.req.y_resident && p.req.r_resident;

	for (int64_t most = max_height(nd); fit_height(cc, nd, &p, budget, most); most = p.tile.th / 2) {
		if (measure(cc, nd, &p) > budget)
			continue;
		p.tile.cost = expected(cc, nd, &p);
		if (best->tile.cost < 0 || p.tile.cost < best->tile.cost)
			*best = p;
		if (on_chip || p.tile.th == 1)
			break;
	}
}

/* Try all widths, in both loop orders. */
static void try_channels(const struct cc *cc, const struct node *nd, struct plan p, int64_t budget, struct plan *best)
{
	for (p.tile.tw = max_width(cc, nd); ; p.tile.tw = ceil_div(p.tile.tw, 2)) {
		p.tile.by_channel = false;
		try_tile(cc, nd, p, budget, best);
		p.tile.by_channel = true;
		if (p.tile.tc < nd->y.dim[3])
			try_tile(cc, nd, p, budget, best);
		/* A narrower tile gains nothing if all operands are on chip. */
		if (p.tile.tw == 1 || (p.req.x_resident && p.req.y_resident && p.req.r_resident))
			break;
	}
}

/* For convolutions of which not even one column tile of weights fits: try parts of the sum, on up to n pixels. */
static void try_split_k(const struct cc *cc, const struct node *nd, struct plan p, int64_t budget, struct plan *best)
{
	if (nd->kind != NODE_CONV)
		return;
	p.tile.split_k = true;
	p.tile.tc = cc->n;
	p.tile.th = 1;
	for (p.tile.tw = min64(cc->n, nd->y.dim[2]); p.tile.tw >= 1; p.tile.tw /= 2) {
		p.tile.kq = 0;
		int64_t room = budget - measure(cc, nd, &p), word = p.tile.slots * cc->n * cc->n * (nd->wt.joined ? 1 : nd->win.kw);
		p.tile.kq = min64(room / word, nd->wt.chunks);
		/* The order of float8 sums is kernel columns, then channels. */
		if (p.tile.kq < 1 || (nd->mode == WEFT_POST_MODE_FLOAT8 && !nd->wt.joined && nd->win.kw > 1 && p.tile.kq < nd->wt.chunks))
			continue;
		p.tile.cost = nd->wt.n_tiles * nd->y.dim[0] * nd->y.dim[1] * ceil_div(nd->y.dim[2], p.tile.tw) *
		         nd->wt.tile_bytes / COST_MEMORY_BYTES;
		measure(cc, nd, &p);
		if (best->tile.cost < 0 || p.tile.cost < best->tile.cost)
			*best = p;
		return;
	}
}

/* Column tiles in the piece that begins with tile `first`. */
static int64_t piece_tiles(const struct plan *p, const struct node *nd, int64_t first)
{
	int64_t left = nd->wt.n_tiles - first;

	if (!p->tile.own_recs)
		return min64(left, p->tile.piece);
	return max64(1, min64(left, min64((left + LAST_MORE) / LAST_SHARE, p->tile.piece)));
}

/* The piece that brings column tile t. */
struct piece plan_piece(const struct plan *p, const struct node *nd, int64_t t)
{
	struct piece k = { 0 };
	int64_t in_area[PIECE_AREAS] = { 0 };

	for (;;) {
		k.n = piece_tiles(p, nd, k.first);
		k.before = in_area[k.slot];
		if (t < k.first + k.n)
			return k;
		in_area[k.slot] += k.n;
		k.first += k.n;
		k.slot = (k.slot + 1) % p->tile.n_w;
	}
}

/*
 * Choose how many loads bring all weights. Weights that arrive as fast as they are used come in
 * several loads, so that work can start.
 *
 * The array catches up with loads only while something else is loaded. So where nothing but loads
 * counts, the records of a step's last node come with their weights, and its loads get smaller
 * towards the end, since nothing hides the work on the last one; but not smaller than the array
 * catches up, for every load takes bus time for the words of its command.
 */
static void choose_piece(const struct cc *cc, const struct node *nd, struct plan *p)
{
	int64_t rec = WEFT_PARAM_BYTES * cc->n;

	p->tile.piece = nd->wt.n_tiles;
	p->tile.own_recs = false;
	p->tile.w_recs[0] = nd->wt.rec_bytes;
	if (nd->wt.w < 0 || !p->tile.all_weights || !few_pixels(cc, nd))
		return;
	int64_t most = !p->req.only_loads ? PIECE : p->req.behind < LAST_NODES ? LAST_PIECE : LARGE_PIECE;
	p->tile.piece = min64(max64(most / nd->wt.tile_bytes, 1), nd->wt.n_tiles);
	if (p->tile.piece == nd->wt.n_tiles)
		return;
	p->tile.n_w = p->req.only_loads ? PIECE_AREAS : 2;
	p->tile.own_recs = p->req.only_loads && !p->req.behind;
	for (int i = 0; i < PIECE_AREAS; i++)
		p->tile.w_recs[i] = p->tile.piece_bytes[i] = 0;
	for (struct piece k = { 0 }; k.first < nd->wt.n_tiles; k.first += k.n) {
		k = plan_piece(p, nd, k.first);
		p->tile.piece_bytes[k.slot] += k.n * (nd->wt.tile_bytes + (p->tile.own_recs ? rec : 0));
	}
	if (!p->tile.own_recs)
		p->tile.w_recs[0] = nd->wt.rec_bytes;
	for (int i = 0; i < PIECE_AREAS; i++)
		p->tile.piece_bytes[i] += p->tile.w_recs[i];
}

/*
 * Cut a node that is all on chip into about k jobs: of rows, or of pixels where there is one long row;
 * these in whole groups of the array.
 */
void plan_split(const struct cc *cc, const struct node *nd, struct plan *p, int64_t k)
{
	int64_t oh = nd->y.dim[1], ow = nd->y.dim[2];

	if (!p->tile.can_split)
		return;
	if (nd->split_columns) {
		p->tile.tw = ceil_div(ow, min64(k, ow));
		return;
	}
	p->tile.th = ceil_div(oh, min64(k, oh));
	p->tile.tw = oh == 1 ? min64(ow, round_up(ceil_div(ow, k), cc->n)) : ow;
}

/* The tiling with fewest expected cycles for the number of slots in t; tile.cost is -1 if none fits. */
static struct plan best_plan(const struct cc *cc, const struct node *nd, struct plan t, int64_t budget)
{
	struct plan best = t;

	best.tile.cost = -1;
	t.tile.split_k = false;
	t.tile.kq = 0;
	t.tile.all_weights = true;
	for (t.tile.tc = nd->y.dim[3]; ; t.tile.tc = round_up(ceil_div(t.tile.tc, 2), cc->n)) {
		if (t.tile.tc > 65535)
			continue;
		try_channels(cc, nd, t, budget, &best);
		if (t.tile.tc <= cc->n || (nd->wt.w >= 0 && !channelwise(nd)))
			break;
	}
	/* If all operands are on chip, weights take at most half of what is free, so that those of the next node can
	 * come meanwhile; with few pixels all of it, in many loads. */
	bool on_chip = t.req.x_resident && t.req.y_resident && t.req.r_resident;
	if (nd->wt.w >= 0 && (best.tile.cost < 0 || !on_chip || best.tile.w_bytes > (few_pixels(cc, nd) ? budget : budget / 2))) {
		t.tile.all_weights = false;
		if (on_chip)
			best.tile.cost = -1;
		for (t.tile.tc = round_up(nd->y.dim[3], cc->n); ; t.tile.tc = round_up(ceil_div(t.tile.tc, 2), cc->n)) {
			if (t.tile.tc <= 65535 && (weights_of(nd, cc, t.tile.tc) <= budget / 4 || t.tile.tc <= cc->n))
				try_channels(cc, nd, t, budget, &best);
			if (t.tile.tc <= cc->n)
				break;
		}
	}
	if (best.tile.cost < 0)
		try_split_k(cc, nd, t, budget, &best);
	return best;
}

/* Cycles that the array or the vector engine needs for the node at least. */
int64_t node_work(const struct cc *cc, const struct node *nd)
{
	/* A loop nest's views are storages without dimensions. Roughly, an element takes a lane for a cycle. */
	if (nd->kind == NODE_LOOP_NEST)
		return nd->dbg.dim[3] / cc->n;
	struct plan all = { .tile.th = nd->y.dim[1], .tile.tw = nd->y.dim[2], .tile.tc = nd->y.dim[3] };

	return work(cc, nd, &all);
}

/*
 * Weights that pass by once, on the way to few pixels: the more of them are there before they are used
 * the better. Give them many small slots, in half of the room, since the nodes before have weights
 * too.
 */
static void more_slots(const struct cc *cc, const struct node *nd, struct plan *p, int64_t budget)
{
	bool on_chip = p->req.x_resident && p->req.y_resident && (p->req.r_resident || !nd->add);

	if (nd->wt.w < 0 || p->tile.all_weights || p->tile.split_k || !on_chip || p->tile.n_w < 2 || !few_pixels(cc, nd))
		return;
	int64_t tc = cc->n * max64(1, SLOT / weights_of(nd, cc, 1));
	p->tile.tc = min64(tc, p->tile.tc);
	p->tile.w_bytes = weights_of(nd, cc, p->tile.tc);
	p->tile.n_w = (int)min64(min64(ceil_div(nd->y.dim[3], p->tile.tc), MAX_W_SLOTS), max64(budget / 2 / p->tile.w_bytes, 2));
}

/* Where a move asks for it: all pixels of a few channels at a time, with weights in so many slots. */
static void own_slots(const struct cc *cc, const struct node *nd, struct plan *p, int64_t budget)
{
	bool on_chip = p->req.x_resident && p->req.y_resident && (p->req.r_resident || !nd->add);

	if (!p->req.w_slots || nd->wt.w < 0 || nd->wt.n_tiles * nd->wt.tile_bytes * LEAST_WEIGHTS < cc->sp_bytes || p->tile.split_k || !on_chip || p->tile.th < nd->y.dim[1] || p->tile.tw < nd->y.dim[2] || nd->y.dim[0] > 1)
		return;
	int64_t tc = min64(cc->n * max64(1, SLOT / weights_of(nd, cc, 1)), round_up(nd->y.dim[3], cc->n)), w_bytes = weights_of(nd, cc, tc);
	int64_t n = min64(min64(ceil_div(nd->y.dim[3], tc), MAX_W_SLOTS), min64(p->req.w_slots, budget / w_bytes));
	if (n < 2 || tc > 65535)
		return;
	p->tile.all_weights = false;
	p->tile.tc = tc;
	p->tile.w_bytes = w_bytes;
	p->tile.n_w = (int)n;
}

/* Choose the tiling of a node within `budget` bytes, with two slots of each operand or with one. 0 or -ERANGE */
int plan_node(const struct cc *cc, const struct node *nd, struct plan *p, int64_t budget)
{
	struct plan best = { .tile.cost = -1 };

	for (p->tile.slots = 2; p->tile.slots >= 1 && best.tile.cost < 0; p->tile.slots--)
		best = best_plan(cc, nd, *p, budget);
	if (best.tile.cost < 0)
		return -ERANGE;
	*p = best;
	more_slots(cc, nd, p, budget);
	own_slots(cc, nd, p, budget);
	choose_piece(cc, nd, p);
	struct counts k = job_counts(nd, p);
	p->tile.can_split = p->req.x_resident && p->req.y_resident && p->req.r_resident && !p->tile.split_k && k.channels == 1 &&
	               k.pixels == nd->y.dim[0] && p->tile.piece == nd->wt.n_tiles;
	return 0;
}

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

/* Returns the most input rows that th output rows of the node need, at most all rows of the input. */
static int64_t rows_for(const struct node *nd, int64_t th)
{
	return min64(nd->x.dim[1], (th - 1) * nd->win.sy + (int64_t)(nd->win.kh - 1) * nd->win.dy + 1);
}

/*
 * Returns the most input columns that tw output columns of the node need, at most all columns of the input.
 */
static int64_t cols_for(const struct node *nd, int64_t tw)
{
	return min64(nd->x.dim[2], (tw - 1) * nd->win.sx + (int64_t)(nd->win.kw - 1) * nd->win.dx + 1);
}

/*
 * Returns the bytes of the packed weights and records of so many output channels, rounded up to whole column
 * tiles; 0 if the node has no weights.
 */
static int64_t weights_of(const struct node *nd, const struct cc *cc, int64_t channels)
{
	return nd->wt.w < 0 ? 0 : ceil_div(channels, cc->n) * (nd->wt.tile_bytes + nd->wt.tile_rec_bytes);
}

/* Jobs along pixels (and images) and along channels. */
struct counts { int64_t pixels, channels; };

/* Returns how many jobs the tiling p->tile makes along pixels, images included, and along channels. */
static struct counts job_counts(const struct node *nd, const struct plan *p)
{
	return (struct counts){
		nd->y.dim[0] * ceil_div(nd->y.dim[1], p->tile.th) * ceil_div(nd->y.dim[2], p->tile.tw),
		ceil_div(nd->y.dim[3], p->tile.tc),
	};
}

/*
 * Set in p->tile, whose tile sizes are chosen, how many slots each operand and the weights need and how many bytes
 * a slot has. A resident operand needs no slot. The input needs one with one_input or if all jobs take the same part of
 * it, second operand and result need one if there is only one job; otherwise each needs tile.slots. Weights need one
 * area for all with all_weights, else at most tile.slots, of a job's channels each; with split_k tile.slots of kq chunks
 * of the sum and the records of a job's channels each. Returns the bytes of all slots together.
 */
static int64_t measure(const struct cc *cc, const struct node *nd, struct plan *p)
{
	struct counts k = job_counts(nd, p);
	int slots = k.pixels * k.channels > 1 ? p->tile.slots : 1;
	int64_t pixels = p->tile.th * p->tile.tw;

	p->tile.n_in = p->req.x_resident ? 0 : !p->tile.one_input && (k.pixels > 1 || (channelwise(nd) && k.channels > 1)) ? p->tile.slots : 1;
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
		p->tile.w_bytes = p->tile.tc * (p->tile.kq * cc->n * (nd->wt.joined ? 1 : nd->win.kw) + nd->wt.tile_rec_bytes / cc->n);
	}
	return p->tile.n_in * p->tile.in_bytes + p->tile.n_r * p->tile.r_bytes + p->tile.n_out * p->tile.out_bytes + p->tile.n_w * p->tile.w_bytes;
}

/*
 * Returns how many times the pixels of all tiles fill the array's rows, counting each tile's last group as full; for all
 * column tiles and all images.
 */
static int64_t all_fillings(const struct cc *cc, const struct node *nd, const struct plan *p)
{
	int64_t oh = nd->y.dim[1], ow = nd->y.dim[2], h[2] = { p->tile.th, oh % p->tile.th }, w[2] = { p->tile.tw, ow % p->tile.tw };
	int64_t nh[2] = { oh / p->tile.th, 1 }, nw[2] = { ow / p->tile.tw, 1 }, sum = 0, tiles = ceil_div(nd->y.dim[3], cc->n);

	for (int i = 0; i < 4; i++)
		sum += nh[i / 2] * nw[i % 2] * fillings(cc, &nd->wt, h[i / 2] * w[i % 2], tiles);
	return nd->y.dim[0] * sum;
}

/*
 * Returns the cycles that computing the whole node takes with this tiling, without its loads and stores. On the
 * array these are its fillings times words of a tile's weights. On the vector engine
 * they are rough and do not depend on the tiling: for pooling the blocks of N channels of the result times the
 * taps of a window; for a depthwise kernel above 3x3 the columns and channels of its input times output rows times
 * kernel rows, over N; for all else the input's elements over N. Not for loop nests, whose views have no
 * dimensions.
 */
static int64_t work(const struct cc *cc, const struct node *nd, const struct plan *p)
{
	int64_t blocks = ceil_div(nd->y.dim[3], cc->n);

	if (nd->kind == NODE_CONV || nd->kind == NODE_DWCONV)
		return all_fillings(cc, nd, p) * (nd->wt.tile_bytes / cc->n);
	if (dw_by_row(nd))
		return view_elements(&nd->x) / nd->x.dim[1] * nd->y.dim[1] * dw_rows(nd) / cc->n;
	if (nd->kind == NODE_POOL)
		return nd->y.dim[0] * nd->y.dim[1] * nd->y.dim[2] * nd->win.kh * nd->win.kw * blocks;
	return view_elements(&nd->x) / cc->n;
}

/*
 * Returns whether weights are used about as fast as they can be loaded, because the result has at most 2 N
 * pixels to use them for.
 */
static bool few_pixels(const struct cc *cc, const struct node *nd)
{
	return view_elements(&nd->y) / nd->y.dim[3] <= 2 * cc->n;
}

/*
 * Returns the cycles that slow memory takes for `bytes` bytes in runs of `run` bytes each that lie apart:
 * those of the bytes at COST_MEMORY_BYTES a cycle, or those of the bursts, of which at most `under_way` run
 * at a time, if they are more.
 */
static int64_t moved(const struct cc *cc, int64_t bytes, int64_t run, int64_t under_way)
{
	int64_t bursts = ceil_div(bytes, run) * ceil_div(run, COST_BURST_BEATS * (int64_t)cc->cfg->axi_bytes);

	return max64(bytes / COST_MEMORY_BYTES, bursts * (COST_MEMORY_FAR + COST_BURST_OVERHEAD) / under_way);
}

/*
 * Returns the bytes that lie side by side in memory of a tile of rows x cols pixels with c channels of view
 * v: those of a pixel, of a row, or of all rows, as far as neither the tile nor the view leaves gaps.
 */
static int64_t run_of(const struct view *v, int64_t rows, int64_t cols, int64_t c)
{
	int64_t pixel = c * view_elem(v);

	if (pixel < v->step[2])
		return pixel;
	return cols < v->dim[2] || cols * pixel < v->step[1] ? cols * pixel : rows * cols * pixel;
}

/*
 * Returns the cycles that a tiling should take. These are the cycles of the array or vector engine, or if
 * they are more, those of all loads and stores; then the load of the first tile (input, and weights unless
 * there are few pixels: a slot, or a quarter of them if all stay) and the store of the last, which nothing
 * hides, nor with one_input the loads of all other tiles' input; and COST_JOB for each job. Loads and stores take a
 * cycle for COST_MEMORY_BYTES, and those of input and result more if they come in short runs, as of tiles of few
 * channels. Input counts again for every range of channels if channels are outermost, weights for every tile of pixels
 * if pixels are, unless all weights stay; resident operands do not count.
 */
static int64_t expected(const struct cc *cc, const struct node *nd, const struct plan *p)
{
	struct counts k = job_counts(nd, p);
	int64_t once = weights_of(nd, cc, nd->y.dim[3]), bytes = 0, cycles = 0;
	bool many = k.channels > 1 && !channelwise(nd);

	if (!p->req.x_resident) {
		int64_t rows = rows_for(nd, p->tile.th), cols = cols_for(nd, p->tile.tw), c = channelwise(nd) ? p->tile.tc : nd->x.dim[3];
		cycles += moved(cc, k.pixels * p->tile.in_bytes * (channelwise(nd) ? k.channels : many && p->tile.by_channel ? k.channels : 1),
		                run_of(&nd->x, rows, cols, c), COST_BURSTS_READ);
	}
	if (nd->wt.w >= 0)
		bytes += once * (p->tile.all_weights || p->tile.by_channel ? 1 : k.pixels);
	if (!p->req.r_resident)
		bytes += view_bytes(&nd->r);
	if (!p->req.y_resident)
		cycles += moved(cc, view_bytes(&nd->y), run_of(&nd->y, p->tile.th, p->tile.tw, p->tile.tc), COST_BURSTS_WRITE);
	/* Nothing hides the first tile's load and the last one's store. Of weights that come as a whole, three
	 * quarters have come during the node before; with few pixels weights are all that counts, and as many as
	 * possible shall come before. */
	int64_t edge = (p->req.x_resident ? 0 : p->tile.in_bytes) + (p->req.y_resident ? 0 : p->tile.out_bytes);
	if (!few_pixels(cc, nd))
		edge += p->tile.w_bytes / (p->tile.all_weights ? 4 : 1);
	if (p->tile.one_input)
		edge += (k.pixels - 1) * p->tile.in_bytes;
	return max64(bytes / COST_MEMORY_BYTES + cycles, work(cc, nd, p)) + edge / COST_MEMORY_BYTES +
	       k.pixels * k.channels * COST_JOB;
}

/*
 * Set p->tile.th to the greatest tile height up to max_th with which the tiling needs at most `budget` bytes,
 * the other sizes being chosen, then lower it so that all tiles are about equally high. Returns the height,
 * or 0 if not even one row fits.
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

/*
 * Returns the most rows of a tile: at most 16384 and at most all rows of the result, halved until the input
 * rows of a tile span no more than 32768, since row numbers in a command have a sign and 15 bits.
 */
static int64_t max_height(const struct node *nd)
{
	int64_t th = min64(nd->y.dim[1], 16384);

	while (th > 1 && (th - 1) * nd->win.sy + (int64_t)(nd->win.kh - 1) * nd->win.dy >= 32768)
		th /= 2;
	return th;
}

/*
 * Returns the most columns of the result (rows, if the node's commands have both exchanged) that one
 * depthwise command can make, since its input columns must fit the line buffer.
 */
int64_t dw_width(const struct cc *cc, const struct node *nd)
{
	int64_t line = cc->cfg->dw_line, most = dw_by_row(nd) ? line / 2 - 9 : line / view_elem(&nd->x) - 3;

	return most / (nd->conv.transposed ? nd->win.sy : nd->win.sx) + 1;
}

/*
 * Returns the most columns of a tile: what a command counts (65535), and for a depthwise node with more than
 * 16384 input columns what one command can make.
 */
static int64_t max_width(const struct cc *cc, const struct node *nd)
{
	int64_t tw = min64(nd->y.dim[2], 65535);

	if (nd->kind == NODE_DW && nd->x.dim[2] > 16384)
		tw = min64(tw, dw_width(cc, nd));
	return tw;
}

/*
 * Try plan p, whose width, channels and loop order are chosen, with the greatest tile height that fits
 * `budget` bytes and with halves of it (only the greatest if all operands are on chip). Each tiling that is
 * expected to take fewer cycles than *best replaces it, as does any if the cost of *best is -1.
 */
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

/*
 * Returns whether the weights of a node on the array are too large for `budget` bytes, so that all of them come anew for
 * each tile of pixels if pixels are outermost.
 */
static bool weights_come_again(const struct cc *cc, const struct node *nd, int64_t budget)
{
	return on_array(nd) && weights_of(nd, cc, nd->y.dim[3]) > budget;
}

/* Returns how many groups of `group` pixels a row of `ow` pixels takes in tiles of tw. */
static int64_t row_groups(int64_t group, int64_t ow, int64_t tw)
{
	return ow / tw * ceil_div(tw, group) + ceil_div(ow % tw, group);
}

/*
 * Returns the width to try behind tw: half of it, rounded up. With `groups` a node with one long row gets about half as many
 * tiles more instead, as long as tw is more than a group of pixels: equally wide ones, unless whole groups take the array
 * less time.
 */
static int64_t narrower(const struct cc *cc, const struct node *nd, int64_t tw, bool groups)
{
	int64_t ow = nd->y.dim[2], tiles = ceil_div(ow, tw), group = group_pixels(cc, nd);

	if (!groups || nd->y.dim[1] > 1 || tw <= group)
		return ceil_div(tw, 2);
	tiles += max64(1, tiles / 2);
	int64_t equal = ceil_div(ow, tiles), whole = group * ceil_div(ceil_div(ow, group), tiles);
	return min64(row_groups(group, ow, whole) < row_groups(group, ow, equal) ? whole : equal, tw - 1);
}

/*
 * Try plan p, whose channels are chosen, with all widths (narrower() again and again; only the full one if all operands
 * are on chip), each with pixels outermost and, if there are several ranges of channels, with channels outermost, and
 * each with the best heights (try_tile()). Where weights_come_again(), tiles of whole groups are tried, and with pixels
 * outermost also one slot for the input (one_input), since the larger a tile is, the fewer times the weights come; other
 * networks end up slower with such tiles (DenseNet121 7 % in ddr). *best is replaced by each tiling that is expected to
 * take fewer cycles.
 */
static void try_channels(const struct cc *cc, const struct node *nd, struct plan p, int64_t budget, struct plan *best)
{
	const bool again = weights_come_again(cc, nd, budget);

	for (p.tile.tw = max_width(cc, nd); ; p.tile.tw = narrower(cc, nd, p.tile.tw, again)) {
		p.tile.by_channel = false;
		try_tile(cc, nd, p, budget, best);
		if (again && p.tile.slots > 1 && !p.req.x_resident) {
			p.tile.one_input = true;
			try_tile(cc, nd, p, budget, best);
			p.tile.one_input = false;
		}
		p.tile.by_channel = true;
		if (p.tile.tc < nd->y.dim[3])
			try_tile(cc, nd, p, budget, best);
		/* A narrower tile gains nothing if all operands are on chip. */
		if (p.tile.tw == 1 || (p.req.x_resident && p.req.y_resident && p.req.r_resident))
			break;
	}
}

/*
 * Try jobs of one column tile, or of two if they are paired, and at most one group of pixels of a row, for which the weights
 * come in parts of kq chunks of the sum; for convolutions (NODE_CONV) of which not even the weights of such a job fit. Widths
 * are halved from a group, or from a row if that has fewer pixels; the widest job for which `budget` bytes hold
 * parts of at least one chunk replaces *best if that costs more or its cost is -1. float8 with several
 * kernel columns that are not joined must take all chunks at once, since its sums have an order. Nodes of
 * other kinds are left alone.
 */
static void try_split_k(const struct cc *cc, const struct node *nd, struct plan p, int64_t budget, struct plan *best)
{
	if (nd->kind != NODE_CONV)
		return;
	p.tile.split_k = true;
	p.tile.tc = unit_channels(cc, nd);
	p.tile.th = 1;
	for (p.tile.tw = min64(group_pixels(cc, nd), nd->y.dim[2]); p.tile.tw >= 1; p.tile.tw /= 2) {
		p.tile.kq = 0;
		int64_t room = budget - measure(cc, nd, &p), word = p.tile.slots * p.tile.tc * cc->n * (nd->wt.joined ? 1 : nd->win.kw);
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

/* Returns n column tiles of the node without one that a pair would miss, but at least one tile, or two if they are paired. */
static int64_t whole_pairs(const struct node *nd, int64_t n)
{
	int64_t unit = nd->wt.paired ? 2 : 1;

	return max64(unit, n / unit * unit);
}

/*
 * Returns how many column tiles the load has that begins with tile `first`: tile.piece, but not more than are
 * left. If records come with their weights (own_recs), it is also no more than (left + LAST_MORE) / LAST_SHARE in
 * whole_pairs(), so that loads get smaller towards the end.
 */
static int64_t piece_tiles(const struct plan *p, const struct node *nd, int64_t first)
{
	int64_t left = nd->wt.n_tiles - first;

	if (!p->tile.own_recs)
		return min64(left, p->tile.piece);
	return min64(left, whole_pairs(nd, min64((left + LAST_MORE) / LAST_SHARE, p->tile.piece)));
}

/*
 * Returns the load that brings column tile t of the node's weights: its tiles, the area that it goes to, and
 * how many tiles lie before it in that area. Loads go to the tile.n_w areas in turn.
 */
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
 * Choose how many column tiles of weights one load brings: sets piece, own_recs, w_recs and, for several
 * loads, n_w and piece_bytes of p->tile. There is one load, with the records first, unless all weights stay
 * on chip, there are few pixels (few_pixels()) and the weights are more than one load shall have. That is
 * PIECE bytes, in 2 areas in turn; if req.only_loads is set LARGE_PIECE bytes, or LAST_PIECE bytes in the
 * last LAST_NODES nodes of the step, in PIECE_AREAS areas. Each is rounded down to whole_pairs() of column tiles. What is set
 * for weights in slots or in parts says nothing.
 *
 * If there are several loads, req.only_loads is set and the node is the step's last, records come with
 * their weights (own_recs), and the loads get smaller towards the end (piece_tiles()), since nothing hides
 * the work on the last one.
 */
static void choose_piece(const struct cc *cc, const struct node *nd, struct plan *p)
{
	int64_t rec = nd->wt.tile_rec_bytes;

	p->tile.piece = nd->wt.n_tiles;
	p->tile.own_recs = false;
	p->tile.w_recs[0] = nd->wt.rec_bytes;
	if (nd->wt.w < 0 || !p->tile.all_weights || !few_pixels(cc, nd))
		return;
	int64_t most = !p->req.only_loads ? PIECE : p->req.behind < LAST_NODES ? LAST_PIECE : LARGE_PIECE;
	p->tile.piece = min64(whole_pairs(nd, most / nd->wt.tile_bytes), nd->wt.n_tiles);
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

/* Returns the fewest rows of the node that fill whole groups of pixels. */
static int64_t full_rows(const struct cc *cc, const struct node *nd)
{
	int64_t rows = 1;

	while (rows * nd->y.dim[2] % group_pixels(cc, nd))
		rows++;
	return rows;
}

/*
 * Cut a node whose tiling says can_split into about k jobs, by setting p->tile.th, tw and tc. Jobs are ranges of rows;
 * on the array a range is made longer until it fills whole groups of pixels, if that leaves two jobs at
 * least. A node with one long row is cut into ranges of pixels in whole groups, and one that is split along
 * columns (split_columns) into ranges of columns. If k is negative, jobs are about -k ranges of channels instead, in
 * multiples of unit_channels(). Other nodes are left alone.
 */
void plan_split(const struct cc *cc, const struct node *nd, struct plan *p, int64_t k)
{
	int64_t oh = nd->y.dim[1], ow = nd->y.dim[2];

	if (!p->tile.can_split)
		return;
	p->tile.tc = nd->y.dim[3];
	if (k < 0) {
		p->tile.th = oh;
		p->tile.tw = ow;
		p->tile.tc = round_up(ceil_div(nd->y.dim[3], -k), unit_channels(cc, nd));
		return;
	}
	if (nd->split_columns) {
		p->tile.tw = ceil_div(ow, min64(k, ow));
		return;
	}
	p->tile.th = ceil_div(oh, min64(k, oh));
	if (on_array(nd) && round_up(p->tile.th, full_rows(cc, nd)) < oh)
		p->tile.th = round_up(p->tile.th, full_rows(cc, nd));
	p->tile.tw = oh == 1 ? min64(ow, round_up(ceil_div(ow, k), group_pixels(cc, nd))) : ow;
}

/*
 * Try tilings with t.tile.slots slots within `budget` bytes, and return the one with the fewest expected
 * cycles; its tile.cost is -1 if none fits. First all weights stay on chip, if there are any. If that does
 * not fit, leaves operands in memory, or takes more than half of the budget for weights (all of it with few
 * pixels), tilings are tried with the weights of a job's channels only, at most a quarter of the budget or
 * those of unit_channels(); if all operands are on chip, the first kind then no longer counts. If nothing fits, the
 * weights come in parts of a sum (try_split_k()).
 */
static struct plan best_plan(const struct cc *cc, const struct node *nd, struct plan t, int64_t budget)
{
	const int64_t unit = unit_channels(cc, nd);
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
		for (t.tile.tc = round_up(nd->y.dim[3], unit); ; t.tile.tc = round_up(ceil_div(t.tile.tc, 2), unit)) {
			if (t.tile.tc <= 65535 && (weights_of(nd, cc, t.tile.tc) <= budget / 4 || t.tile.tc <= unit))
				try_channels(cc, nd, t, budget, &best);
			if (t.tile.tc <= unit)
				break;
		}
	}
	if (best.tile.cost < 0)
		try_split_k(cc, nd, t, budget, &best);
	return best;
}

/*
 * Returns the cycles that the array or the vector engine needs for the whole node at least; roughly for the
 * vector engine, and for a loop nest as if each lane made an element a cycle.
 */
int64_t node_work(const struct cc *cc, const struct node *nd)
{
	/* A loop nest's views are storages without dimensions. Roughly, an element takes a lane for a cycle. */
	if (nd->kind == NODE_LOOP_NEST)
		return nd->dbg.dim[3] / cc->n;
	struct plan all = { .tile.th = nd->y.dim[1], .tile.tw = nd->y.dim[2], .tile.tc = nd->y.dim[3] };

	return work(cc, nd, &all);
}

/* Returns of how many channels, whole units, the weights and records take about SLOT bytes; at least one unit. */
static int64_t slot_channels(const struct cc *cc, const struct node *nd)
{
	int64_t unit = unit_channels(cc, nd);

	return unit * max64(1, SLOT / weights_of(nd, cc, unit));
}

/*
 * If weights come in two slots or more, all operands are on chip and there are few pixels (few_pixels()), give the
 * weights many slots of about SLOT bytes, at most MAX_W_SLOTS and in at most half of `budget` bytes, but at least
 * two, since the nodes before have weights too: the more weights are there before they are used, the better.
 * Otherwise the tiling stays as it is.
 */
static void more_slots(const struct cc *cc, const struct node *nd, struct plan *p, int64_t budget)
{
	bool on_chip = p->req.x_resident && p->req.y_resident && (p->req.r_resident || !nd->add);

	if (nd->wt.w < 0 || p->tile.all_weights || p->tile.split_k || !on_chip || p->tile.n_w < 2 || !few_pixels(cc, nd))
		return;
	p->tile.tc = min64(slot_channels(cc, nd), p->tile.tc);
	p->tile.w_bytes = weights_of(nd, cc, p->tile.tc);
	p->tile.n_w = (int)min64(min64(ceil_div(nd->y.dim[3], p->tile.tc), MAX_W_SLOTS), max64(budget / 2 / p->tile.w_bytes, 2));
}

/*
 * If a move asks for it (req.w_slots), cut a node that is otherwise all on chip along channels: all pixels
 * of a few channels in each job, with the weights in slots of about SLOT bytes. There are req.w_slots of
 * them, but not more than jobs, MAX_W_SLOTS, or `budget` bytes have room for. The tiling stays as it is if
 * all weights take less than 1/LEAST_WEIGHTS of the scratchpad, if there are several images or tiles of
 * pixels, or if there would be fewer than two slots.
 */
static void own_slots(const struct cc *cc, const struct node *nd, struct plan *p, int64_t budget)
{
	bool on_chip = p->req.x_resident && p->req.y_resident && (p->req.r_resident || !nd->add);

	if (!p->req.w_slots || nd->wt.w < 0 || nd->wt.n_tiles * nd->wt.tile_bytes * LEAST_WEIGHTS < cc->sp_bytes || p->tile.split_k || !on_chip || p->tile.th < nd->y.dim[1] || p->tile.tw < nd->y.dim[2] || nd->y.dim[0] > 1)
		return;
	int64_t tc = min64(slot_channels(cc, nd), round_up(nd->y.dim[3], unit_channels(cc, nd))), w_bytes = weights_of(nd, cc, tc);
	int64_t n = min64(min64(ceil_div(nd->y.dim[3], tc), MAX_W_SLOTS), min64(p->req.w_slots, budget / w_bytes));
	if (n < 2 || tc > 65535)
		return;
	p->tile.all_weights = false;
	p->tile.tc = tc;
	p->tile.w_bytes = w_bytes;
	p->tile.n_w = (int)n;
}

/*
 * Choose the tiling of a node that should take the fewest cycles within `budget` bytes of the scratchpad,
 * as p->req asks (but for req.split, see plan_split()): with two slots for each operand, so that loads and
 * work overlap, or with one if only that fits. Sets p->tile, with can_split if all operands are on chip and
 * the node is one job for each image whose weights come in one load. Returns 0, or -ERANGE if no tiling
 * fits; p->tile then means nothing.
 */
int plan_node(const struct cc *cc, const struct node *nd, struct plan *p, int64_t budget)
{
	struct plan best = { .tile.cost = -1 };

	/* What the node had before says nothing: threads plan it in different orders. */
	p->tile = (struct tiling){ 0 };
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

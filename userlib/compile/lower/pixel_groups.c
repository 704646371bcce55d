/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of few output channels leave columns of the array empty. P pixels side
 * by side then become one pixel with the channels of all (a pixel group): their
 * windows overlap and are one longer run, and every column of the array has the
 * weights of its own pixel's window, and zeros elsewhere (pack_weights.c).
 *
 *   output [OH][OW][OC]  ->  [OH][OW/P][P*OC]      the same bytes
 *   window KW, stride SX ->  KW + (P-1)*SX, P*SX
 *
 * They may also be so many that several tiles of columns are full, as with 24 channels two pixels at 16
 * columns. The rows of a result that a 1x1 convolution makes may be joined first, so that P divides them.
 */
#include "userlib/compile/ir.h"

/* Most column tiles that the channels of a pixel group may fill. Not measured. */
#define MOST_TILES 4

/* Bytes a cycle that slow memory brings (estimate/cost.h). */
#define SLOW_BYTES 8

/*
 * Returns whether pixels of the view lie side by side, without a gap between one pixel's channels and the
 * next.
 */
static bool dense_pixels(const struct view *v)
{
	return v->step[2] == v->dim[3] * v->step[3];
}

/*
 * Returns whether pixels of this node can be taken together. It must be a whole integer convolution (or a
 * depthwise one of one input channel) with constant weights laid out as usual, scaled results and no dilation
 * along x, and the pixels of all its views must lie side by side; the debug view must have the result's
 * columns and channels.
 */
static bool shape_fits(const struct node *nd)
{
	bool conv = nd->kind == NODE_CONV || (nd->kind == NODE_DWCONV && nd->x.dim[3] == 1);

	return conv && nd->mode != WEFT_POST_MODE_FLOAT8 && nd->wt.w != WEIGHTS_ONE && !nd->wt.w_computed && !nd->wt.wv.on && !nd->conv.part &&
	       !nd->post.raw && !nd->third && nd->win.dx == 1 && dense_pixels(&nd->x) && dense_pixels(&nd->y) && dense_pixels(&nd->dbg) &&
	       nd->dbg.dim[2] == nd->y.dim[2] && nd->dbg.dim[3] == nd->y.dim[3] && (!nd->add || dense_pixels(&nd->r));
}

/* Returns the number of column tiles of the convolution if p pixels are taken as one. */
static int64_t tiles(const struct cc *cc, const struct node *nd, int64_t p)
{
	return ceil_div(p * nd->y.dim[3], cc->n);
}

/* Returns how many words of N elements one tile takes for one window if p pixels are taken as one. */
static int64_t words(const struct cc *cc, const struct node *nd, int64_t p)
{
	int64_t run = (nd->win.kw + (p - 1) * nd->win.sx) * nd->x.dim[3];

	return nd->win.kh * ceil_div(run, cc->n);
}

/* Returns how many pixels one image of the result has if p of them, which divide it, are taken as one. */
static int64_t pixels(const struct node *nd, int64_t p)
{
	return nd->y.dim[1] * nd->y.dim[2] / p;
}

/* Returns the cycles of the post unit if p pixels are taken as one. */
static int64_t post(const struct cc *cc, const struct node *nd, int64_t p)
{
	return post_passes(cc, nd) * tiles(cc, nd, p) * pixels(nd, p);
}

/* Returns the bytes of the convolution's weights and records if p pixels are taken as one. */
static int64_t weight_bytes(const struct cc *cc, const struct node *nd, int64_t p)
{
	return tiles(cc, nd, p) * cc->n * (words(cc, nd, p) * cc->n + WEFT_PARAM_BYTES);
}

/*
 * Returns how many rows of the result must become one so that p divides the pixels of that row: 1 if p divides those
 * of one row. More rows become one only in a 1x1 convolution of dense tensors without stride and padding, which
 * does not care where a row ends. Returns 0 if no number of rows will do, or if input or result takes more than an eighth of the
 * scratchpad: large tensors keep their rows, by which they run in stripes.
 */
static int64_t rows_for(const struct cc *cc, const struct node *nd, int64_t p)
{
	const struct window *w = &nd->win;
	int64_t f = 1;

	if (nd->y.dim[2] % p == 0)
		return 1;
	if (w->kh != 1 || w->kw != 1 || w->sy != 1 || w->sx != 1 || w->pt || w->pl || nd->x.dim[1] != nd->y.dim[1] || nd->x.dim[2] != nd->y.dim[2])
		return 0;
	if (!view_is_dense(&nd->x) || !view_is_dense(&nd->y) || !view_is_dense(&nd->dbg) || (nd->add && !view_is_dense(&nd->r)) ||
	    8 * max64(view_bytes(&nd->x), view_bytes(&nd->y)) > cc->sp_bytes || nd->dbg.dim[1] != nd->y.dim[1])
		return 0;
	while (f <= nd->y.dim[1] && (nd->y.dim[1] % f || nd->y.dim[2] * f % p))
		f++;
	return f <= nd->y.dim[1] ? f : 0;
}

/* Let n rows of the view, which is dense, be one. */
static void join_rows(struct view *v, int64_t n)
{
	v->dim[1] /= n;
	v->dim[2] *= n;
	v->step[1] *= n;
}

/* Let the view take p pixels side by side as one pixel with the channels of all. */
static void join_pixels(struct view *v, int64_t p)
{
	v->dim[2] /= p;
	v->dim[3] *= p;
	v->step[2] *= p;
}

/*
 * Let the convolution take p output pixels side by side as one, with `rows` rows made one first (rows_for()). Sets
 * what conv says of pixel groups, widens window and stride along x, and changes the views of result and second operand;
 * the input's view only becomes one of fewer rows. A depthwise convolution on the array (DWCONV) becomes an ordinary one
 * with weights by tap (wt.by_tap).
 */
static void group(struct node *nd, int64_t p, int64_t rows)
{
	struct view *v[] = { &nd->x, &nd->y, &nd->dbg, &nd->r };

	for (int k = 0; k < (nd->add ? 4 : 3) && rows > 1; k++)
		join_rows(v[k], rows);
	if (nd->kind == NODE_DWCONV) {
		nd->kind = NODE_CONV;
		nd->wt.by_tap = true;
	}
	nd->conv.pixel_group = (int)p;
	nd->conv.group_step = nd->win.sx * nd->x.dim[3];
	nd->win.kw += (int)(p - 1) * nd->win.sx;
	nd->win.sx *= (int)p;
	nd->conv.group_run = nd->win.kw * nd->x.dim[3];
	join_pixels(&nd->y, p);
	join_pixels(&nd->dbg, p);
	if (nd->add)
		join_pixels(&nd->r, p);
}

/*
 * Returns the cycles that the convolution takes if p pixels are taken as one: the array's, with its windows copied where
 * im2col.c would copy them, or those of the post unit if they are more. Returns INT64_MAX if p pixels cannot be taken as one.
 */
static int64_t cycles(const struct cc *cc, const struct node *nd, int64_t p)
{
	int64_t rows = rows_for(cc, nd, p);
	struct node one = *nd;

	if (!rows)
		return INT64_MAX;
	if (p > 1)
		group(&one, p, rows);
	return max64(cc_im2col_cycles(cc, &one), post(cc, nd, p));
}

/*
 * Returns whether a convolution may compute p neighbouring pixels of its result as one pixel with p times the channels,
 * so that it takes `after` cycles instead of `before`. It may if p divides the pixels of a row of the result and the
 * channels of p pixels fill at most N columns of the array.
 * Otherwise it may if all of these hold:
 * - the node is a NODE_CONV;
 * - p divides the pixels of a row, or of several rows that become one (rows_for());
 * - the convolution takes less than 85 % of the cycles that it takes without groups;
 * - it saves more than twice the cycles in which slow memory brings the additional weights.
 */
static bool may_group(const struct cc *cc, const struct node *nd, int64_t p, int64_t before, int64_t after)
{
	int64_t rows = rows_for(cc, nd, p);

	if (rows == 1 && p * nd->y.dim[3] <= cc->n)
		return true;
	return rows && nd->kind == NODE_CONV && 20 * after < 17 * before &&
	       2 * (weight_bytes(cc, nd, p) - weight_bytes(cc, nd, 1)) < SLOW_BYTES * (before - after);
}

/*
 * Returns how many pixels side by side should be taken as one: the number with which the convolution takes the fewest
 * cycles, of equals the smallest. Only numbers count that may_group() allows and whose channels fill at most
 * MOST_TILES column tiles. Returns 1 if the best number saves less than 15 %, which is not worth another order (not
 * measured).
 */
static int64_t best_pixels(const struct cc *cc, const struct node *nd)
{
	const int64_t alone = cycles(cc, nd, 1);
	int64_t best = 1, fewest = alone;

	for (int64_t p = 2; p * nd->y.dim[3] <= MOST_TILES * cc->n; p++) {
		int64_t grouped = cycles(cc, nd, p);
		if (grouped < fewest && may_group(cc, nd, p, alone, grouped)) {
			best = p;
			fewest = grouped;
		}
	}
	return 20 * fewest < 17 * alone ? best : 1;
}

/*
 * Stage of lowering: for each convolution for which it saves time (shape_fits(), best_pixels()), take several
 * output pixels as one (group()).
 */
void cc_group_pixels(struct cc *cc)
{
	for (int i = 0; i < cc->n_nodes; i++) {
		struct node *nd = &cc->nodes[i];
		int64_t p = shape_fits(nd) ? best_pixels(cc, nd) : 1;

		if (p > 1)
			group(nd, p, rows_for(cc, nd, p));
	}
}

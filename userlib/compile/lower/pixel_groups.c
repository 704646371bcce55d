/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of few output channels leave columns of the array empty. P pixels side
 * by side then become one pixel with the channels of all (a pixel group): their
 * windows overlap and are one longer run, and every column of the array has the
 * weights of its own pixel's window, and zeros elsewhere (pack_weights.c).
 *
 *   output [OH][OW][OC]  ->  [OH][OW/P][P*OC]      the same bytes
 *   window KW, stride SX ->  KW + (P-1)*SX, P*SX
 */
#include "userlib/compile/ir.h"

/* Do pixels of the view lie side by side, without a gap between one pixel's channels and the next? */
static bool dense_pixels(const struct view *v)
{
	return v->step[2] == v->dim[3] * v->step[3];
}

/*
 * Can pixels of this node be taken together? It must be a whole integer convolution (or a depthwise one of
 * one input channel) with constant weights laid out as usual, scaled results and no dilation along x, and
 * the pixels of all its views must lie side by side; the debug view must have the result's columns and
 * channels.
 */
static bool shape_fits(const struct node *nd)
{
	bool conv = nd->kind == NODE_CONV || (nd->kind == NODE_DWCONV && nd->x.dim[3] == 1);

	return conv && nd->mode != WEFT_POST_MODE_FLOAT8 && nd->wt.w != WEIGHTS_ONE && !nd->wt.w_computed && !nd->wt.wv.on && !nd->conv.part &&
	       !nd->post.raw && !nd->third && nd->win.dx == 1 && dense_pixels(&nd->x) && dense_pixels(&nd->y) && dense_pixels(&nd->dbg) &&
	       nd->dbg.dim[2] == nd->y.dim[2] && nd->dbg.dim[3] == nd->y.dim[3] && (!nd->add || dense_pixels(&nd->r));
}

/*
 * Words of N elements that the array takes for one column tile of the convolution if p pixels are taken as
 * one.
 */
static int64_t slots(const struct cc *cc, const struct node *nd, int64_t p)
{
	int64_t run = (nd->win.kw + (p - 1) * nd->win.sx) * nd->x.dim[3];

	return ceil_div(nd->y.dim[1] * nd->y.dim[2] / p, cc->n) * nd->win.kh * ceil_div(run, cc->n);
}

/*
 * How many pixels side by side should be taken as one: the number for which the array takes the fewest words,
 * among those that divide the row and whose channels together fill at most N columns. 1 if that saves less
 * than 15 %, which is not worth another order (not measured).
 */
static int64_t best_pixels(const struct cc *cc, const struct node *nd)
{
	int64_t best = 1;

	for (int64_t p = 2; p * nd->y.dim[3] <= cc->n; p++)
		if (nd->y.dim[2] % p == 0 && slots(cc, nd, p) < slots(cc, nd, best))
			best = p;
	return 20 * slots(cc, nd, best) < 17 * slots(cc, nd, 1) ? best : 1;
}

/* Let the view take p pixels side by side as one pixel with the channels of all. */
static void join_pixels(struct view *v, int64_t p)
{
	v->dim[2] /= p;
	v->dim[3] *= p;
	v->step[2] *= p;
}

/*
 * Stage of lowering: for each convolution for which it saves time (shape_fits(), best_pixels()), take
 * several output pixels as one. Sets conv.pixel_group, widens window and stride along x, and changes the
 * views of result and second operand; the input's view stays. A depthwise convolution of one input channel
 * becomes an ordinary one with weights by tap (wt.by_tap).
 */
void cc_group_pixels(struct cc *cc)
{
	for (int i = 0; i < cc->n_nodes; i++) {
		struct node *nd = &cc->nodes[i];
		int64_t p = shape_fits(nd) ? best_pixels(cc, nd) : 1;

		if (p == 1)
			continue;
		if (nd->kind == NODE_DWCONV) {
			nd->kind = NODE_CONV;
			nd->wt.by_tap = true;
		}
		nd->conv.pixel_group = (int)p;
		nd->win.kw += (int)(p - 1) * nd->win.sx;
		nd->win.sx *= (int)p;
		join_pixels(&nd->y, p);
		join_pixels(&nd->dbg, p);
		if (nd->add)
			join_pixels(&nd->r, p);
	}
}

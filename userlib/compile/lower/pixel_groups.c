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

/* Do pixels of the view lie side by side, without a gap? */
static bool dense_pixels(const struct view *v)
{
	return v->step[2] == v->dim[3] * v->step[3];
}

/* Is it a convolution whose pixels can be grouped? */
static bool shape_fits(const struct node *nd)
{
	bool conv = nd->kind == NODE_CONV || (nd->kind == NODE_DWCONV && nd->x.dim[3] == 1);

	return conv && nd->mode != WEFT_POST_MODE_FLOAT8 && nd->wt.w != WEIGHTS_ONE && !nd->wt.w_computed && !nd->wt.wv.on && !nd->conv.part &&
	       !nd->post.raw && !nd->third && nd->win.dx == 1 && dense_pixels(&nd->x) && dense_pixels(&nd->y) && dense_pixels(&nd->dbg) &&
	       nd->dbg.dim[2] == nd->y.dim[2] && nd->dbg.dim[3] == nd->y.dim[3] && (!nd->add || dense_pixels(&nd->r));
}

/* Words that the array takes with p pixels in a group. */
static int64_t slots(const struct cc *cc, const struct node *nd, int64_t p)
{
	int64_t run = (nd->win.kw + (p - 1) * nd->win.sx) * nd->x.dim[3];

	return ceil_div(nd->y.dim[1] * nd->y.dim[2] / p, cc->n) * nd->win.kh * ceil_div(run, cc->n);
}

/*
 * How many pixels a group should have; 1: less than 15 % would be saved, which is not worth another
 * order (not measured).
 */
static int64_t best_pixels(const struct cc *cc, const struct node *nd)
{
	int64_t best = 1;

	for (int64_t p = 2; p * nd->y.dim[3] <= cc->n; p++)
		if (nd->y.dim[2] % p == 0 && slots(cc, nd, p) < slots(cc, nd, best))
			best = p;
	return 20 * slots(cc, nd, best) < 17 * slots(cc, nd, 1) ? best : 1;
}

/* Take p pixels of a view as one. */
static void join_pixels(struct view *v, int64_t p)
{
	v->dim[2] /= p;
	v->dim[3] *= p;
	v->step[2] *= p;
}

/* Group the pixels of all convolutions for which that saves time. */
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

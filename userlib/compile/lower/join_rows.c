/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of few input channels and many kernel columns, such as 7x7 of an image: each kernel row is
 * a run of its own, and of each run the last chunk of N elements is filled only in part. So the rows of
 * all windows are copied side by side, as channels of each pixel, and a window becomes one run:
 *
 *   input  [H][W][IC]  ->  joined [OH][W][KH*IC]
 *   pixel x of joined row y: column x of input rows y*sy - pt ... + KH
 *
 * The convolution then has one kernel row and KH*IC input channels. A node for each kernel row makes the
 * copies: a maximum of one element, with the convolution's row stride and padding, which writes a part of
 * each pixel. Unlike im2col.c this keeps the order of rows, so that copies, convolution and what follows
 * it can run in stripes, and the copies need not fit the scratchpad as a whole.
 */
#include <errno.h>

#include "userlib/compile/ir.h"

/* Rows of the copies that must fit the scratchpad, beside all else that is there. Not measured. */
#define LEAST_ROWS 16

/*
 * Returns whether the kernel rows of this node can be joined. It must be a whole convolution of integers
 * (sums of float8 have an order) with dense weights of a tensor that no node computes, more than one
 * kernel row, no dilation, one image with dense pixels, no pixel groups and no copies by im2col.c; and
 * LEAST_ROWS rows of the copies must fit the scratchpad.
 */
static bool shape_fits(const struct cc *cc, const struct node *nd)
{
	const struct view *x = &nd->x;
	bool weights = nd->wt.w >= 0 && !nd->wt.w_computed && !nd->wt.wv.on;

	return nd->kind == NODE_CONV && nd->mode != WEFT_POST_MODE_FLOAT8 && weights && !nd->conv.part &&
	       nd->conv.pixel_group < 2 && !nd->split_columns && nd->win.kh > 1 && nd->win.dx == 1 &&
	       nd->win.dy == 1 && x->dim[0] == 1 && x->step[2] == x->dim[3] * view_elem(x) &&
	       LEAST_ROWS * x->dim[2] * nd->win.kh * x->step[2] <= cc->sp_bytes;
}

/*
 * Returns whether the convolution takes less than 85 % of its cycles if its kernel rows are joined: those
 * of the array, or if they are more, those of the vector engine's copies, of N bytes a cycle at most, and
 * of the results, which pass the same post unit.
 */
static bool worth_it(const struct cc *cc, const struct node *nd)
{
	const struct view *x = &nd->x, *y = &nd->y;
	int64_t run = nd->win.kw * x->dim[3], tiles = ceil_div(y->dim[3], cc->n);
	int64_t groups = ceil_div(y->dim[1] * y->dim[2], cc->n) * tiles;
	int64_t copies = y->dim[1] * x->dim[2] * nd->win.kh * ceil_div(x->step[2], cc->n);
	int64_t before = groups * nd->win.kh * ceil_div(run, cc->n) * cc->n;
	int64_t results = y->dim[1] * y->dim[2] * tiles;
	int64_t after = max64(groups * ceil_div(nd->win.kh * run, cc->n) * cc->n, copies + results);

	/* The share is that of im2col.c. Not measured. */
	return 20 * after < 17 * before;
}

/*
 * Add the node that copies what kernel row ky of convolution i reads to `root`, the storage of the joined
 * rows. Rows outside of the image become zero points. Returns 0 or -ENOMEM.
 */
static int copy_row(struct cc *cc, int i, int root, int64_t ky)
{
	const int64_t elem = view_elem(&cc->nodes[i].x);
	struct node *nd = cc_new_node(cc, NODE_POOL, elem);

	if (!nd)
		return -ENOMEM;
	const struct node *conv = &cc->nodes[i];
	int64_t ic = conv->x.dim[3];
	nd->op = conv->op;
	nd->last = conv->last;
	nd->y_tensor = -1;
	nd->x_t = conv->x_t;
	nd->before = i + 1;
	nd->joined_rows = true;
	nd->x = conv->x;
	nd->y = view_dense(root, (int64_t[4]){ 1, conv->y.dim[1], conv->x.dim[2], conv->win.kh * ic }, elem);
	nd->y.off = ky * ic * elem;
	nd->y.dim[3] = ic;
	nd->dbg = nd->y;
	nd->win.sy = conv->win.sy;
	nd->win.pt = (int)(conv->win.pt - ky);
	nd->pool.padded = true;
	nd->pool.pad = conv->x_zp;
	return 0;
}

/*
 * Let convolution i read the joined rows in `root`: one kernel row, and as channels of a pixel those of all
 * rows of its window. The weights keep their places in their tensor, from which they are taken in the new
 * order.
 */
static void read_joined(struct cc *cc, int i, int root)
{
	struct node *nd = &cc->nodes[i];
	int64_t ic = nd->x.dim[3], kh = nd->win.kh, kw = nd->win.kw;

	nd->x = view_dense(root, (int64_t[4]){ 1, nd->y.dim[1], nd->x.dim[2], kh * ic }, view_elem(&nd->x));
	nd->wt.wv = (struct wview){ .on = true, .oc = kh * kw * ic, .kx = ic, .kd = kw * ic, .ic = 1, .n_ic = ic };
	nd->win.kh = 1;
	nd->win.sy = 1;
	nd->win.pt = 0;
	nd->joined_rows = true;
}

/*
 * Stage of lowering: join the kernel rows of each convolution for which that is possible (shape_fits())
 * and saves enough time (worth_it()). The nodes that copy are added behind all others. Returns 0 or
 * -ENOMEM.
 */
int cc_join_rows(struct cc *cc)
{
	for (int i = 0, n = cc->n_nodes; i < n; i++) {
		const struct node *nd = &cc->nodes[i];
		if (!shape_fits(cc, nd) || !worth_it(cc, nd))
			continue;
		const int64_t kh = nd->win.kh;
		int root = cc_new_root(cc, nd->y.dim[1] * nd->x.dim[2] * kh * nd->x.step[2]);
		int err = root < 0 ? root : 0;
		for (int64_t ky = 0; ky < kh && !err; ky++)
			err = copy_row(cc, i, root, ky);
		if (err)
			return err;
		read_joined(cc, i, root);
	}
	return 0;
}

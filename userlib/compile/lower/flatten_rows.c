/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that treat every pixel alike and whose tensors are dense need not know rows:
 * as one long row of pixels they fill the array's rows, and can be cut anywhere.
 */
#include "userlib/compile/ir.h"

#define ROW_MAX 65535          /* most pixels of a row in a command (field ow) */

/*
 * Returns whether all views of the node are dense: input, result, debug view, and second operand unless that
 * is a table.
 */
static bool all_dense(const struct node *nd)
{
	return view_is_dense(&nd->x) && view_is_dense(&nd->y) && view_is_dense(&nd->dbg) &&
	       (!nd->add || by_table(nd) || view_is_dense(&nd->r));
}

/*
 * Give the views of the node, which are dense, new dimensions: one image of so many rows and columns, with cx
 * channels in the input and cy in the result, the debug view and the second operand. A table stays as it is.
 */
static void reshape_all(struct node *nd, int64_t rows, int64_t cols, int64_t cx, int64_t cy)
{
	nd->x = view_reshape(&nd->x, 1, rows, cols, cx);
	nd->y = view_reshape(&nd->y, 1, rows, cols, cy);
	nd->dbg = view_reshape(&nd->dbg, 1, rows, cols, cy);
	if (nd->add && !by_table(nd))
		nd->r = view_reshape(&nd->r, 1, rows, cols, cy);
}

/*
 * If the node is a 1x1 convolution with stride 1 and no padding, make all pixels of all images one row; or
 * if a row of a command cannot hold so many (ROW_MAX), all rows of all images the rows of one image, unless
 * these rows, or the pixels of one, are more than ROW_MAX as well. In all other cases nothing changes.
 */
static void flatten_conv(struct node *nd)
{
	int64_t rows = nd->y.dim[0] * nd->y.dim[1], cols = nd->y.dim[2];

	if (nd->win.kh != 1 || nd->win.kw != 1 || nd->win.sy != 1 || nd->win.sx != 1)
		return;
	if (nd->x.dim[1] != nd->y.dim[1] || nd->x.dim[2] != nd->y.dim[2])
		return;
	if (rows * cols <= ROW_MAX) {
		cols *= rows;
		rows = 1;
	} else if (rows > ROW_MAX || cols > ROW_MAX) {
		return;
	}
	reshape_all(nd, rows, cols, nd->x.dim[3], nd->y.dim[3]);
}

/*
 * Make all elements of an elementwise node one row of pixels, each of a whole number of words of N elements:
 * the fewest words (up to 4096) with which a command can count the pixels. Nothing changes if the number of
 * elements is no multiple of N or no such number divides it.
 */
static void flatten_elt(const struct cc *cc, struct node *nd)
{
	int64_t words = view_elements(&nd->y), blocks = 1;

	if (words % cc->n)
		return;
	words /= cc->n;
	while (blocks <= 4096 && (words % blocks || words / blocks > ROW_MAX))
		blocks++;
	if (blocks > 4096)
		return;
	reshape_all(nd, 1, words / blocks, blocks * cc->n, blocks * cc->n);
}

/*
 * Stage of lowering: give dense 1x1 convolutions and dense elementwise nodes one long row of pixels. Each
 * node keeps both forms, its own rows in node.own and the long row in node.flat, since stripe groups need
 * the former; the flat form is in force. For all other nodes both forms are the same. A depthwise
 * convolution of one input channel on the array becomes an ordinary convolution first, dense or not, with
 * weights by tap (wt.by_tap).
 */
void cc_flatten_rows(struct cc *cc)
{
	for (int i = 0; i < cc->n_nodes; i++) {
		struct node *nd = &cc->nodes[i];

		nd->own = (struct views){ nd->x, nd->r, nd->y, nd->dbg };
		/* A depthwise convolution of one input channel is an ordinary one. */
		if (nd->kind == NODE_DWCONV && nd->x.dim[3] == 1) {
			nd->kind = NODE_CONV;
			nd->wt.by_tap = true;
		}
		if (nd->kind == NODE_CONV && all_dense(nd))
			flatten_conv(nd);
		else if (nd->kind == NODE_ELT && all_dense(nd))
			flatten_elt(cc, nd);
		nd->flat = (struct views){ nd->x, nd->r, nd->y, nd->dbg };
	}
}

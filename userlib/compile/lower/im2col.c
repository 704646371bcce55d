/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of few channels: their runs fill a fraction of the array's
 * chunks. Copied into strips, one per output column, that hold the window's
 * bytes row under row, all taps of an output lie side by side and are one run.
 *
 *   input  [H][W][IC]  ->  strips [OW][H][KW*IC]
 *   strip ox, row y: input row y, columns ox*sx - pl ... + KW
 *
 * The convolution then sees OW rows of H pixels, of which it takes KH at a
 * time; rows and columns of its output are exchanged, which is a matter of
 * strides. The weights' order stays as it is. Columns of padding hold the zero
 * point; rows of padding need no bytes.
 */
#include <errno.h>

#include "userlib/compile/ir.h"

#define MAX_EDGES 8            /* output columns that see padding */

struct im2col {
	struct cc *cc;
	int conv;              /* node */
	int root;              /* storage of the copied windows */
	int64_t h, w, ow, ic, kw, width;   /* width: elements of a strip's row */
	int64_t elem;          /* bytes of one */
};

static bool shape_fits(const struct cc *cc, const struct node *nd)
{
	const struct view *x = &nd->x, *y = &nd->y;
	int64_t bytes = y->dim[2] * x->dim[1] * nd->win.kw * x->dim[3] * view_elem(x);

	return nd->kind == NODE_CONV && nd->wt.w != WEIGHTS_ONE && !nd->wt.w_computed && !nd->conv.part && nd->conv.pixel_group < 2 && nd->win.kh > 1 && nd->win.dx == 1 && nd->win.dy == 1 && x->dim[0] == 1 &&
	       x->step[2] == x->dim[3] * view_elem(x) && nd->win.kw <= x->dim[2] && bytes <= cc->sp_bytes / 6 &&
	       y->dim[1] <= 4096 && y->dim[2] <= 4096 && x->dim[1] <= 8192;
}

/* Output columns whose window leaves the image on the left and on the right. */
static void edges(const struct node *nd, int64_t *left, int64_t *right)
{
	int64_t ow = nd->y.dim[2], last = nd->x.dim[2] + nd->win.pl - nd->win.kw;

	*left = min64(ow, ((int64_t)nd->win.pl + nd->win.sx - 1) / nd->win.sx);
	*right = last < 0 ? ow : max64(0, ow - 1 - last / nd->win.sx);
}

/* Slots saved against rows that the post unit takes for copies: it passes one a cycle. */
static bool worth_it(const struct cc *cc, const struct node *nd)
{
	const struct view *x = &nd->x, *y = &nd->y;
	int64_t left, right, run = nd->win.kw * x->dim[3], tiles = ceil_div(y->dim[3], cc->n);
	int64_t groups = ceil_div(y->dim[1] * y->dim[2], cc->n) * tiles;
	int64_t before = groups * nd->win.kh * ceil_div(run, cc->n) * cc->n;
	int64_t after = groups * ceil_div(nd->win.kh * run, cc->n) * cc->n;
	int64_t copies = y->dim[2] * x->dim[1] * view_elem(x);

	edges(nd, &left, &right);
	/* Padding becomes zeros, which make products of their own with infinities. */
	if (nd->mode == WEFT_POST_MODE_FLOAT8 && !nd->wt.w_finite && left + right)
		return false;
	return left + right <= MAX_EDGES && left + right < y->dim[2] && run <= 4 * cc->n &&
	       20 * max64(after, copies + y->dim[1] * y->dim[2] * tiles) < 17 * before;
}

/* A copy that belongs to the convolution and precedes it. */
static struct node *new_copy(const struct im2col *s)
{
	struct node *nd = cc_new_node(s->cc, NODE_ELT, s->elem);

	if (!nd)
		return NULL;
	const struct node *conv = &s->cc->nodes[s->conv];
	nd->op = conv->op;
	nd->last = conv->last;
	nd->y_tensor = -1;
	nd->x_t = conv->x_t;
	nd->before = s->conv + 1;
	nd->split_columns = true;
	return nd;
}

/* Strips [ox, +n): elements [from, +len) of every row, out of the input's row from element `at` on. */
static int copy(const struct im2col *s, int64_t ox, int64_t n, int64_t from, int64_t len, int64_t at, bool fill)
{
	struct node *nd = new_copy(s);

	if (!nd)
		return -ENOMEM;
	const struct node *conv = &s->cc->nodes[s->conv];
	nd->x = conv->x;
	nd->x.off += at * s->elem;
	nd->x.dim[1] = n;
	nd->x.dim[2] = s->h;
	nd->x.dim[3] = len;
	nd->x.step[1] = conv->win.sx * s->ic * s->elem;
	nd->x.step[2] = conv->x.step[1];
	nd->y = view_dense(s->root, (int64_t[4]){ 1, s->ow, s->h, s->width }, s->elem);
	nd->y.off = (ox * s->h * s->width + from) * s->elem;
	nd->y.dim[1] = n;
	nd->y.dim[3] = len;
	nd->dbg = nd->y;
	if (fill)
		nd->post.y_min = nd->post.y_max = conv->x_zp;
	return 0;
}

/* One output column that sees padding: zero point there, the rest copied. */
static int copy_edge(const struct im2col *s, int64_t ox)
{
	const struct node *conv = &s->cc->nodes[s->conv];
	int64_t at = ox * conv->win.sx - conv->win.pl;
	int64_t lo = min64(max64(-at, 0), s->kw), hi = max64(min64(s->kw, s->w - at), lo);
	int err = 0;

	if (lo)
		err = copy(s, ox, 1, 0, lo * s->ic, 0, true);
	if (!err && hi < s->kw)
		err = copy(s, ox, 1, hi * s->ic, (s->kw - hi) * s->ic, 0, true);
	if (!err && hi > lo)
		err = copy(s, ox, 1, lo * s->ic, (hi - lo) * s->ic, (at + lo) * s->ic, false);
	return err;
}

static void swap_yx(struct view *v)
{
	int64_t d = v->dim[1], st = v->step[1];

	v->dim[1] = v->dim[2];
	v->step[1] = v->step[2];
	v->dim[2] = d;
	v->step[2] = st;
}

static void exchange_axes(const struct im2col *s)
{
	struct node *nd = &s->cc->nodes[s->conv];

	nd->x = view_dense(s->root, (int64_t[4]){ 1, s->ow, s->h, s->width }, s->elem);
	swap_yx(&nd->y);
	swap_yx(&nd->dbg);
	if (nd->add)
		swap_yx(&nd->r);
	nd->win.kw = nd->win.kh;
	nd->win.kh = 1;
	nd->win.sx = nd->win.sy;
	nd->win.sy = 1;
	nd->win.pl = nd->win.pt;
	nd->win.pt = 0;
	nd->split_columns = true;
}

static int make_im2col(struct cc *cc, int i)
{
	const struct node *nd = &cc->nodes[i];
	struct im2col s = { .cc = cc, .conv = i, .h = nd->x.dim[1], .w = nd->x.dim[2], .ow = nd->y.dim[2],
	                    .ic = nd->x.dim[3], .kw = nd->win.kw, .width = nd->win.kw * nd->x.dim[3], .elem = view_elem(&nd->x) };
	int64_t left, right, sx = nd->win.sx, pl = nd->win.pl;
	int err = 0;

	s.root = cc_new_root(cc, s.ow * s.h * s.width * s.elem);
	if (s.root < 0)
		return s.root;
	edges(nd, &left, &right);
	for (int64_t ox = 0; ox < left && !err; ox++)
		err = copy_edge(&s, ox);
	for (int64_t ox = s.ow - right; ox < s.ow && !err; ox++)
		err = copy_edge(&s, ox);
	if (!err)
		err = copy(&s, left, s.ow - left - right, 0, s.width, (left * sx - pl) * s.ic, false);
	if (!err)
		exchange_axes(&s);
	return err;
}

int cc_im2col(struct cc *cc)
{
	int n = cc->n_nodes, err = 0;

	for (int i = 0; i < n && !err; i++)
		if (shape_fits(cc, &cc->nodes[i]) && worth_it(cc, &cc->nodes[i]))
			err = make_im2col(cc, i);
	return err;
}

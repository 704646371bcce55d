/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of few input channels: the runs of their windows fill only a fraction
 * of the array's chunks of N elements. So windows are copied side by side (im2col, of
 * columns only): one strip for each output column holds the window's bytes row under
 * row, all taps of an output lie side by side, and they are one run.
 *
 *   input  [H][W][IC]  ->  strips [OW][H][KW*IC]
 *   strip ox, row y: input row y, columns ox*sx - pl ... + KW
 *
 * The convolution then sees OW rows of H pixels, of which it takes KH at a time; rows
 * and columns of its output are exchanged, which is a matter of steps. The order of
 * the weights stays as it is. The window may be that of a pixel group (pixel_groups.c).
 * Columns of padding hold the zero point; rows of padding need no bytes.
 */
#include <errno.h>

#include "userlib/compile/ir.h"

/* Output columns that may see padding to the left or right: each takes up to three commands. Not measured. */
#define MAX_EDGES 8

/* So many cycles pass until the first windows are copied, and the array waits for them. They are counted for pixel groups only. If they
 * were counted for none, keyword_spotting_on_off would be 12 % slower (estimate, w16); if they were counted for all convolutions,
 * fingerprint_signature_generator would be 8 % slower. */
#define FIRST_WINDOWS 200

struct im2col {
	struct cc *cc;
	int conv;              /* number of the convolution's node */
	int root;              /* storage of the copied windows */
	int64_t h, w, ow, ic, kw, width;   /* rows and columns of the input, columns of the result, input channels, kernel
	                        * columns; width: elements of a strip's row */
	int64_t elem;          /* bytes of an element */
};

/*
 * Returns whether the windows of this node can be copied side by side. It must be a whole convolution with
 * weights of a tensor that no node computes, more than one kernel row, no dilation, one image of dense
 * pixels at least as wide as the kernel, and counts that the copies' commands can hold
 * (4096 rows and columns of the result, 8192 input rows); and the copies must not take more than a sixth of
 * the scratchpad.
 */
static bool shape_fits(const struct cc *cc, const struct node *nd)
{
	const struct view *x = &nd->x, *y = &nd->y;
	int64_t bytes = y->dim[2] * x->dim[1] * nd->win.kw * x->dim[3] * view_elem(x);

	return nd->kind == NODE_CONV && nd->wt.w != WEIGHTS_ONE && !nd->wt.w_computed && !nd->conv.part && nd->win.kh > 1 && nd->win.dx == 1 && nd->win.dy == 1 && x->dim[0] == 1 &&
	       x->step[2] == x->dim[3] * view_elem(x) && nd->win.kw <= x->dim[2] && bytes <= cc->sp_bytes / 6 &&
	       y->dim[1] <= 4096 && y->dim[2] <= 4096 && x->dim[1] <= 8192;
}

/*
 * Set *left to how many output columns have windows that begin left of the image, *right to how many have
 * windows that end to the right of it.
 */
static void edges(const struct node *nd, int64_t *left, int64_t *right)
{
	int64_t ow = nd->y.dim[2], last = nd->x.dim[2] + nd->win.pl - nd->win.kw;

	*left = min64(ow, ((int64_t)nd->win.pl + nd->win.sx - 1) / nd->win.sx);
	*right = last < 0 ? ow : max64(0, ow - 1 - last / nd->win.sx);
}

/*
 * Returns the cycles of this convolution without copies. Sets *with to its cycles if its windows are copied side
 * by side. These are the cycles of the array, or, if they are more, those in which the copies and the results pass the
 * post unit, a word in each cycle. For a pixel group FIRST_WINDOWS are added.
 */
static int64_t cycles(const struct cc *cc, const struct node *nd, int64_t *with)
{
	const struct view *x = &nd->x, *y = &nd->y;
	int64_t run = nd->win.kw * x->dim[3], tiles = ceil_div(y->dim[3], cc->n);
	int64_t groups = ceil_div(y->dim[1] * y->dim[2], cc->n) * tiles;
	int64_t copies = y->dim[2] * x->dim[1] * ceil_div(run, cc->n) * view_elem(x);

	*with = max64(groups * ceil_div(nd->win.kh * run, cc->n) * cc->n, copies + y->dim[1] * y->dim[2] * tiles);
	if (nd->conv.pixel_group > 1)
		*with += FIRST_WINDOWS;
	return groups * nd->win.kh * ceil_div(run, cc->n) * cc->n;
}

/*
 * Returns whether this convolution takes less than 85 % of its cycles (cycles()) if its windows are copied
 * side by side. It also refuses runs of more than 4 * N elements, more than MAX_EDGES output columns that see
 * padding to the left or right or none that sees none, and float8 weights with infinities or NaN if any output
 * column sees padding to the left or right, since the copies hold zeros there. Padding above and below does not
 * matter: it takes no bytes.
 */
static bool worth_it(const struct cc *cc, const struct node *nd)
{
	int64_t left, right, run = nd->win.kw * nd->x.dim[3], after, before = cycles(cc, nd, &after);

	edges(nd, &left, &right);
	/* Padding becomes zeros, and zero times infinity is NaN where padding would have been nothing. */
	if (nd->mode == WEFT_POST_MODE_FLOAT8 && !nd->wt.w_finite && left + right)
		return false;
	return left + right <= MAX_EDGES && left + right < nd->y.dim[2] && run <= 4 * cc->n &&
	       /* more than 15 % saved, since copies may delay what comes before; not measured */
	       20 * after < 17 * before;
}

/*
 * Returns the cycles of a convolution (cycles()), with its windows copied if cc_im2col() would copy them,
 * else without. Nothing is copied.
 */
int64_t cc_im2col_cycles(const struct cc *cc, const struct node *nd)
{
	int64_t with, without = cycles(cc, nd, &with);

	return shape_fits(cc, nd) && worth_it(cc, nd) ? with : without;
}

/*
 * Add an elementwise node for the convolution's operator that must run before the convolution and waits for
 * the same tensor; debug records do not describe its result (y_tensor -1), and split_columns is set. The
 * caller sets its views. Returns the node, or NULL if there is no memory.
 */
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

/* A part of the copied windows, and where it comes from. */
struct patch {
	int64_t ox, n;         /* windows of output columns [ox, +n) */
	int64_t from, len;     /* elements [from, +len) of every row of a window */
	int64_t at;            /* they come from element `at` of the input's row, for the first window */
	bool fill;             /* they come from nowhere, but are zero points */
};

/*
 * Add the node that copies this patch of the windows from the input, for all rows of the input. With c.fill
 * it writes the input's zero point instead, by limits that let nothing else through; it then reads the
 * input all the same, from element c.at on. Returns 0 or -ENOMEM.
 */
static int copy(const struct im2col *s, struct patch c)
{
	struct node *nd = new_copy(s);

	if (!nd)
		return -ENOMEM;
	const struct node *conv = &s->cc->nodes[s->conv];
	nd->x = conv->x;
	nd->x.off += c.at * s->elem;
	nd->x.dim[1] = c.n;
	nd->x.dim[2] = s->h;
	nd->x.dim[3] = c.len;
	nd->x.step[1] = conv->win.sx * s->ic * s->elem;
	nd->x.step[2] = conv->x.step[1];
	nd->y = view_dense(s->root, (int64_t[4]){ 1, s->ow, s->h, s->width }, s->elem);
	nd->y.off = (c.ox * s->h * s->width + c.from) * s->elem;
	nd->y.dim[1] = c.n;
	nd->y.dim[3] = c.len;
	nd->dbg = nd->y;
	if (c.fill)
		nd->post.y_min = nd->post.y_max = conv->x_zp;
	return 0;
}

/*
 * Add the nodes that make the window of output column ox, which sees padding to the left or right: zero points
 * where it leaves the image there, a copy of the image elsewhere. Returns 0 or -ENOMEM.
 */
static int copy_edge(const struct im2col *s, int64_t ox)
{
	const struct node *conv = &s->cc->nodes[s->conv];
	int64_t at = ox * conv->win.sx - conv->win.pl;
	int64_t lo = min64(max64(-at, 0), s->kw), hi = max64(min64(s->kw, s->w - at), lo);
	int err = 0;

	if (lo)
		err = copy(s, (struct patch){ .ox = ox, .n = 1, .len = lo * s->ic, .fill = true });
	if (!err && hi < s->kw)
		err = copy(s, (struct patch){ .ox = ox, .n = 1, .from = hi * s->ic, .len = (s->kw - hi) * s->ic, .fill = true });
	if (!err && hi > lo)
		err = copy(s, (struct patch){ .ox = ox, .n = 1, .from = lo * s->ic, .len = (hi - lo) * s->ic, .at = (at + lo) * s->ic });
	return err;
}

/* Exchange rows and columns of a view, dimensions and steps. */
static void swap_yx(struct view *v)
{
	int64_t d = v->dim[1], st = v->step[1];

	v->dim[1] = v->dim[2];
	v->step[1] = v->step[2];
	v->dim[2] = d;
	v->step[2] = st;
}

/*
 * Let the convolution read the copied windows instead of its input: its rows then are output columns, its
 * pixels input rows, and its kernel one row of them; strides and padding follow. Rows and columns of
 * result, debug view and second operand are exchanged accordingly, and split_columns is set.
 */
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

/*
 * Add the nodes that copy the windows of convolution i side by side into a storage of their own, and let the
 * convolution read that storage, with rows and columns of its window, its result and its second operand
 * exchanged (exchange_axes()). Returns 0 or -ENOMEM.
 */
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
		err = copy(&s, (struct patch){ .ox = left, .n = s.ow - left - right, .len = s.width, .at = (left * sx - pl) * s.ic });
	if (!err)
		exchange_axes(&s);
	return err;
}

/*
 * Stage of lowering: copy windows side by side for each convolution for which that is possible
 * (shape_fits()) and saves enough time (worth_it()). The nodes that copy are added behind all others.
 * Returns 0 or -ENOMEM.
 */
int cc_im2col(struct cc *cc)
{
	int n = cc->n_nodes, err = 0;

	for (int i = 0; i < n && !err; i++)
		if (shape_fits(cc, &cc->nodes[i]) && worth_it(cc, &cc->nodes[i]))
			err = make_im2col(cc, i);
	return err;
}

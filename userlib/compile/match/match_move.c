/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that only move elements, of whatever type: loop nests of the alu,
 * of which those that keep the order are loads and stores alone.
 *
 * Source: TOSA 1.0, data layout, gather and scatter, RESIZE.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match_table.h"
#include "userlib/compile/sequence/tfl.h"
#include "sim/golden/resize.h"
#include "sim/golden/tfl/tfl_resize.h"

#define FUNC(name) WEFT_ALU_FUNC_##name

/* Returns tensor t of the graph. */
static const weft_tensor *tensor(const struct cc *cc, int t)
{
	return &cc->g->tensors[t].t;
}

/*
 * Returns a nest that copies elements of operator i's first operand to all of its result, and to which the
 * caller must add the steps of operand a. x[] is set to the operand's step in bytes along each of its
 * dimensions, from which they follow. The operand may be read through other operators (nest_view()).
 */
static struct loop_nest move(const struct cc *cc, int i, int64_t x[WEFT_MAX_RANK])
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct loop_nest s = { .func = FUNC(MOVE) };

	nest_over(cc, &s, o->out[0]);
	s.a = nest_view(cc, o->in[0], false, x);
	return s;
}

/*
 * Match SLICE i as a copy from where the slice begins in its operand, which may itself be read through other
 * operators (nest_view()). Returns 1 or -ENOMEM.
 */
static int slice(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int64_t x[WEFT_MAX_RANK];
	struct loop_nest s = move(cc, i, x);

	for (int d = 0; d < s.n_dims; d++) {
		s.a.step[d] = x[d];
		s.a.off += o->attr.slice.start[d] * x[d];
	}
	return nest_add_node(cc, i, &s, true, true);
}

/* Rows of a matrix that the array turns, and pixels along rows or columns of a node that does so, are at most so many. Not
 * measured. */
#define TURN_ROWS  64
#define TURN_WIDTH 16384

/* A transposition of `n` matrices of rows x columns elements, which lie one behind the other. */
struct turn { int64_t n, rows, columns; };

/*
 * Returns whether TRANSPOSE i does nothing but turn matrices that lie one behind the other: dimensions of one
 * element left out, it keeps the outer ones and exchanges two groups of neighbouring inner ones, the rows and
 * the columns of a matrix. If so, *t says how many matrices there are and how many rows and columns each has
 * in the operand; if not, *t is undefined.
 */
static bool turns_matrices(const struct cc *cc, int i, struct turn *t)
{
	const weft_tensor *x = tensor(cc, cc->g->ops[i].in[0]);
	const struct weft_attr_perm *a = &cc->g->ops[i].attr.perm;
	int kept[WEFT_MAX_RANK], n = 0, same = 0, first = 0;

	/* Dimensions of one element do not count. */
	for (int d = 0; d < x->rank; d++)
		if (x->dim[a->perm[d]] > 1)
			kept[n++] = a->perm[d];
	while (same < n && (same ? kept[same] > kept[same - 1] : true)) {
		bool least = true;
		for (int d = same + 1; d < n; d++)
			least &= kept[d] > kept[same];
		if (!least)
			break;
		same++;
	}
	if (same == n)
		return false;
	*t = (struct turn){ 1, 1, 1 };
	for (int d = 0; d < same; d++)
		t->n *= x->dim[kept[d]];
	/* What is left: columns in order, then rows in order, all of which come first in the operand. */
	for (first = same; first + 1 < n && kept[first + 1] > kept[first]; first++)
		t->columns *= x->dim[kept[first]];
	t->columns *= x->dim[kept[first]];
	for (int d = first + 1; d < n; d++) {
		t->rows *= x->dim[kept[d]];
		if (kept[d] > kept[same] || (d > first + 1 && kept[d] < kept[d - 1]))
			return false;
	}
	return true;
}

/*
 * Returns the cycles that the array takes for this transposition if `m` columns of all rows of a matrix are
 * one pixel.
 */
static int64_t turn_cycles(const struct cc *cc, const struct turn *t, int64_t m)
{
	return round_up(t->n * t->columns / m, cc->n) * ceil_div(t->rows * m, cc->n) * t->rows * ceil_div(m, cc->n);
}

/*
 * Add the convolution that turns columns [first, first + m * count) of all matrices *t of TRANSPOSE i. Rows of
 * a matrix are rows of the input, its kernel and its stride are t->rows of them, and m columns are a pixel.
 * Operand and result must be dense. If there are several matrices, the range must be all of their columns.
 * Returns 1 or -ENOMEM.
 */
static int add_turn(struct cc *cc, int i, const struct turn *t, int64_t first, int64_t count, int64_t m)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct node *nd = new_node(cc, NODE_CONV, i, i);

	if (!nd)
		return -ENOMEM;
	const struct view *x = &cc->ten[o->in[0]].v;
	int64_t elem = view_elem(x), to = first * t->rows * elem;
	nd->x = view_reshape(x, 1, t->rows * t->n, count, m);
	nd->x.step[1] = t->columns * elem;
	nd->x.off += first * elem;
	nd->x_t = o->in[0];
	nd->y = view_reshape(&nd->y, 1, t->n, count, t->rows * m);
	nd->dbg = view_reshape(&nd->dbg, 1, t->n, count, t->rows * m);
	nd->y.off += to;
	nd->dbg.off += to;
	nd->win.kh = nd->win.sy = (int)t->rows;
	nd->conv.part = true;
	nd->wt.w = WEIGHTS_ONE;
	nd->wt.turn_rows = (int)t->rows;
	nd->wt.turn_columns = (int)m;
	return 1;
}

/*
 * Match TRANSPOSE i of int8 or int16 as one or two convolutions of one weight for each channel, where the array is
 * faster than the alu: many small matrices, as of a channel shuffle, or few long rows, as of an image whose
 * channels lie apart. The operator must do nothing but turn matrices (turns_matrices()) of at most TURN_ROWS rows,
 * TURN_WIDTH rows altogether; operand and result must be dense, the operand no constant and no_fuse not set. A
 * pixel has m columns of a matrix, for which m is taken that costs the fewest cycles: any number up to 2 N that
 * divides the columns; or for a single matrix N, and a second node turns the columns left over. It is done if
 * there are at most TURN_WIDTH such pixels in a row and the cycles are fewer than the bytes of the tensor, which
 * the alu would take. Returns 1 if it was matched, 0 if not (no reason is set), or -ENOMEM.
 */
static int turn_on_array(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct view *x = &cc->ten[o->in[0]].v, *y = &cc->ten[o->out[0]].v;
	int64_t n = cc->n, best = 1;
	struct turn t;

	if (cc->o->no_fuse || !npu_int(cc, type_of(cc, o->in[0])) || !turns_matrices(cc, i, &t) || !view_is_dense(x) || !view_is_dense(y) ||
	    cc->g->tensors[x->root].t.data || t.rows > TURN_ROWS || t.n * t.rows > TURN_WIDTH)
		return 0;
	for (int64_t m = 2; m <= min64(t.columns, 2 * n); m++)
		if (t.columns % m == 0 && turn_cycles(cc, &t, m) < turn_cycles(cc, &t, best))
			best = m;
	/* A single matrix may leave a few columns over. */
	if (t.n == 1 && t.columns > n && turn_cycles(cc, &t, n) < turn_cycles(cc, &t, best))
		best = n;
	int64_t count = t.columns / best, rest = t.columns % best;
	if (turn_cycles(cc, &t, best) >= t.n * t.rows * t.columns * view_elem(x) || count > TURN_WIDTH)
		return 0;
	int err = add_turn(cc, i, &t, 0, count, best);
	if (err < 0 || !rest)
		return err;
	cc->nodes[cc->n_nodes - 1].before = cc->n_nodes + 1;
	return add_turn(cc, i, &t, count * best, 1, rest);
}

/*
 * Match TRANSPOSE i by the array (turn_on_array()), or as a copy that reads its operand with permuted steps. Returns 1 or
 * -ENOMEM.
 */
static int transpose(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int64_t x[WEFT_MAX_RANK];
	int err = turn_on_array(cc, i);

	if (err)
		return err;
	struct loop_nest s = move(cc, i, x);

	for (int d = 0; d < s.n_dims; d++)
		s.a.step[d] = x[o->attr.perm.perm[d]];
	return nest_add_node(cc, i, &s, true, true);
}

/* Match REVERSE i as a copy that reads its operand backwards along the axis. Returns 1 or -ENOMEM. */
static int reverse(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int64_t x[WEFT_MAX_RANK];
	struct loop_nest s = move(cc, i, x);
	int axis = o->attr.axis.axis;

	for (int d = 0; d < s.n_dims; d++)
		s.a.step[d] = x[d];
	s.a.off += (s.dim[axis] - 1) * x[axis];
	s.a.step[axis] = -x[axis];
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Match TILE i as a copy in which each dimension becomes two: which copy, and where in it. Returns 1 if it
 * was matched, 0 if the rank is too high for a nest (the reason then is set), or -ENOMEM.
 */
static int tile(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *x = tensor(cc, o->in[0]);
	int64_t in[WEFT_MAX_RANK], out[WEFT_MAX_RANK];
	struct loop_nest s = move(cc, i, in);

	if (2 * x->rank > NEST_DIMS)
		return cc_reason(cc, i, "rank %d", x->rank);
	nest_strides(cc, o->out[0], out);
	s.n_dims = 2 * x->rank;
	for (int d = 0; d < x->rank; d++) {
		s.dim[2 * d] = o->attr.tile.multiple[d];
		s.y.step[2 * d] = x->dim[d] * out[d];
		s.a.step[2 * d] = 0;
		s.dim[2 * d + 1] = x->dim[d];
		s.y.step[2 * d + 1] = out[d];
		s.a.step[2 * d + 1] = in[d];
	}
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Let nest s make only the results with indices lo to lo + n - 1 along dimension d. Where its operands begin
 * does not change: that is left to the caller.
 */
static void restrict_to(struct loop_nest *s, int d, int64_t lo, int64_t n)
{
	s->y.off += lo * s->y.step[d];
	s->dim[d] = n;
}

/*
 * Match PAD i as fills and one copy: along each dimension a nest fills what lies before the operand and
 * another what lies behind it, only where no earlier dimension has filled; then the operand is copied.
 * Fills take the attribute's value, or the bits of its fvalue if the operand is fp32. Returns 1, -ENOMEM or
 * -E2BIG (too many constants).
 */
static int pad(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_pad *p = &o->attr.pad;
	const weft_tensor *x = tensor(cc, o->in[0]);
	int64_t stride[WEFT_MAX_RANK];
	struct loop_nest s = move(cc, i, stride), rest = s;
	uint64_t bits = (uint64_t)p->value;
	float f = (float)p->fvalue;
	int err = 1;

	if (x->dtype == WEFT_FP32)
		memcpy(&bits, &f, sizeof f);
	int value = nest_const(cc, &bits, sizeof bits);
	if (value < 0)
		return value;
	for (int d = 0; d < s.n_dims && err > 0; d++) {
		struct loop_nest fill = rest;
		fill.a = nest_storage(value, s.a.type);
		if (p->before[d]) {
			struct loop_nest before = fill;
			restrict_to(&before, d, 0, p->before[d]);
			err = nest_add_node(cc, i, &before, false, true);
		}
		if (p->after[d] && err > 0) {
			struct loop_nest after = fill;
			restrict_to(&after, d, p->before[d] + x->dim[d], p->after[d]);
			err = nest_add_node(cc, i, &after, false, true);
		}
		restrict_to(&rest, d, p->before[d], x->dim[d]);
	}
	for (int d = 0; d < s.n_dims; d++)
		rest.a.step[d] = stride[d];
	return err > 0 ? nest_add_node(cc, i, &rest, true, true) : err;
}

/*
 * A constant table of GATHER that the scratchpad does not hold at once: n tables of `rows` rows of `columns` elements of
 * `elem` bytes each, in strips of `width` columns (the last may be narrower).
 */
struct strips {
	int64_t n, rows, columns, elem, width;
};

/*
 * Returns whether tensor t is a constant of rank 3 whose rows are better stored in strips: it takes more than half
 * of the scratchpad, and a quarter holds at least one column of one of its tables. If so, *k describes the widest
 * strips of which a quarter of the scratchpad holds one; if not, *k is undefined.
 */
static bool wants_strips(const struct cc *cc, int t, struct strips *k)
{
	const weft_tensor *x = tensor(cc, t);
	int64_t stride[WEFT_MAX_RANK];

	if (!x->data || (int64_t)weft_tensor_bytes(x) <= cc->sp_bytes / 2)
		return false;
	nest_strides(cc, t, stride);
	*k = (struct strips){ .n = x->dim[0], .rows = x->dim[1], .columns = x->dim[2], .elem = stride[2] };
	k->width = cc->sp_bytes / 4 / (k->rows * k->elem);
	if (k->width > k->columns)
		k->width = k->columns;
	return k->width > 0 && (int64_t)weft_tensor_bytes(x) == k->n * k->rows * k->columns * k->elem;
}

/*
 * Add the nest that looks up `width` columns from column `at` on: s, but in a constant of its own with these columns of
 * the table's rows one after another, so that a load is one run of bytes. Returns 1, -ENOMEM or -E2BIG (too many
 * constants).
 */
static int gather_strip(struct cc *cc, int i, const struct loop_nest *s, const struct strips *k, int64_t at, int64_t width)
{
	const uint8_t *from = tensor(cc, cc->g->ops[i].in[0])->data;
	int64_t bytes = width * k->elem, all = k->n * k->rows;
	uint8_t *strip = malloc((size_t)(all * bytes));
	struct loop_nest part = *s;

	if (!strip)
		return -ENOMEM;
	for (int64_t row = 0; row < all; row++)
		memcpy(strip + row * bytes, from + (row * k->columns + at) * k->elem, (size_t)bytes);
	int root = nest_const(cc, strip, all * bytes);
	free(strip);
	if (root < 0)
		return root;
	restrict_to(&part, 2, at, width);
	part.b = nest_storage(root, s->b.type);
	part.b.step[0] = k->rows * bytes;
	part.b.step[2] = k->elem;
	part.idx_step = bytes;
	return nest_add_node(cc, i, &part, true, true);
}

/*
 * Match GATHER i as a look-up of rows by indices. A REVERSE of the rows in front is not read through, since a
 * look-up counts forwards; other operators are, as nest_view() says. A constant table for which wants_strips()
 * holds, one larger than half of the scratchpad, is looked up strip by strip, each from a constant of its own
 * (gather_strip()): cut as it lies, each row of each piece would be a burst of its own. Returns 1, -ENOMEM or
 * -E2BIG (too many constants).
 */
static int gather(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct loop_nest s = { .func = FUNC(LOOKUP) };
	int64_t x[WEFT_MAX_RANK], index[WEFT_MAX_RANK];
	struct strips k;
	int err = 1;

	nest_over(cc, &s, o->out[0]);
	s.axis = 1;
	s.a = nest_view(cc, o->in[1], false, index);
	s.a.step[0] = index[0];
	s.a.step[1] = index[1];
	s.b = nest_view(cc, o->in[0], false, x);
	if (x[1] < 0) {
		s.b = nest_tensor(cc, o->in[0], false);
		nest_strides(cc, o->in[0], x);
	}
	s.b.step[0] = x[0];
	s.b.step[2] = x[2];
	s.idx_step = x[1];
	s.idx_last = tensor(cc, o->in[0])->dim[1] - 1;
	if (!wants_strips(cc, o->in[0], &k))
		return nest_add_node(cc, i, &s, true, true);
	for (int64_t at = 0; at < k.columns && err > 0; at += k.width)
		err = gather_strip(cc, i, &s, &k, at, k.columns - at < k.width ? k.columns - at : k.width);
	return err;
}

/*
 * Match SCATTER i: each row of the update goes to the place in the result that its index names, the others
 * keep the values of the first operand. Returns 1 if it was matched, 0 if there is nothing to scatter (the
 * reason then is set), or -ENOMEM.
 */
static int scatter(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct loop_nest s = { .func = FUNC(SCATTER) };
	int64_t in[WEFT_MAX_RANK], index[WEFT_MAX_RANK];

	nest_over(cc, &s, o->out[0]);
	nest_strides(cc, o->in[2], in);
	nest_strides(cc, o->in[1], index);
	s.axis = 1;
	s.idx_step = s.y.step[1];
	s.idx_last = s.dim[1] - 1;
	s.y.step[1] = 0;
	s.dim[1] = tensor(cc, o->in[2])->dim[1];
	s.a = nest_tensor(cc, o->in[2], false);
	memcpy(s.a.step, in, 3 * sizeof *in);
	s.b = nest_tensor(cc, o->in[1], false);
	s.b.step[0] = index[0];
	s.b.step[1] = index[1];
	s.c = nest_tensor(cc, o->in[0], false);
	if (!s.dim[1])
		return cc_reason(cc, i, "nothing to scatter");
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Match CONCAT i as one copy for each operand into its part of the result; a SLICE, TRANSPOSE or REVERSE
 * that makes an operand is read through (nest_view()). Each copy counts as the operator's last node, since
 * they need no order among each other. Returns 1 or -ENOMEM.
 */
static int concat(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int axis = o->attr.axis.axis, err = 1;
	int64_t at = 0;

	for (int k = 0; k < o->n_in && err > 0; k++) {
		const weft_tensor *x = tensor(cc, o->in[k]);
		int64_t stride[WEFT_MAX_RANK];
		struct loop_nest s = move(cc, i, stride);

		s.a = nest_view(cc, o->in[k], false, stride);
		restrict_to(&s, axis, at, x->dim[axis]);
		for (int d = 0; d < s.n_dims; d++)
			s.a.step[d] = stride[d];
		at += x->dim[axis];
		/* Its nodes need no order among each other; node_order.c knows that. */
		err = nest_add_node(cc, i, &s, true, true);
	}
	return err;
}

/* ---- RESIZE: rows and columns chosen by constant indices, then weighted ---- */

/* One axis of it: for each result two neighbours and their weights, or one neighbour. */
struct sampling {
	int64_t in, out;       /* elements of the input and of the result along the axis */
	int32_t *index;        /* indices of the neighbours: bilinear two for each result, nearest one */
	int16_t *weight;       /* bilinear: two weights for each result */
	bool same;             /* nearest: every result is its own neighbour */
	int64_t times, step;   /* nearest: how many results side by side share one neighbour, and from there to the next
	                        * ones'; times 0: that is not the same everywhere */
};

#define MAX_COPIES 16

/*
 * For nearest neighbours: if the results along the axis come in groups of equally many that share one neighbour,
 * and neighbours of consecutive groups are equally far apart, set s->times to the size of a group and s->step to
 * that distance (0 if there is one group). Otherwise times stays 0, and step says nothing.
 */
static void find_period(struct sampling *s)
{
	int64_t times = 1;

	while (times < s->out && s->index[times] == s->index[0])
		times++;
	s->step = times < s->out ? s->index[times] - s->index[0] : 0;
	for (int64_t o = 0; o < s->out; o++)
		if (s->out % times || s->index[o] != s->index[0] + o / times * s->step)
			return;
	s->times = times;
}

/* RESIZE's scale n / d and offset along one axis. */
struct resize_scale { int n, d, offset; };

/*
 * Find the neighbours of all `out` results along an axis of `in` elements with scale and offset r, and set
 * *s. For nearest neighbours index[] has one for each result, `same` says that each result is its own
 * neighbour, and times and step are found (find_period()). For bilinear resizing (smooth) index[] and
 * weight[] have two for each result, with weights that add up to r.n, and `same` is false. Returns 0 or
 * -ENOMEM; sample_free() frees what *s holds in both cases.
 */
static int sample(struct sampling *s, int64_t in, int64_t out, struct resize_scale r, bool smooth)
{
	*s = (struct sampling){ .in = in, .out = out, .same = in == out && !smooth };
	s->index = malloc((size_t)out * 2 * sizeof *s->index);
	s->weight = malloc((size_t)out * 2 * sizeof *s->weight);
	if (!s->index || !s->weight)
		return -ENOMEM;
	for (int64_t o = 0; o < out; o++) {
		struct weft_resize_at at = weft_resize_sample(o, r.n, r.d, r.offset, in);
		if (!smooth) {
			s->index[o] = (int32_t)at.nearest;
			s->same &= at.nearest == o;
			continue;
		}
		s->index[2 * o] = (int32_t)at.i0;
		s->index[2 * o + 1] = (int32_t)at.i1;
		s->weight[2 * o] = (int16_t)(r.n - at.r);
		s->weight[2 * o + 1] = (int16_t)at.r;
	}
	if (!smooth)
		find_period(s);
	return 0;
}

/* Free what sample() allocated. */
static void sample_free(struct sampling *s)
{
	free(s->index);
	free(s->weight);
}

/* One axis of a RESIZE: x is seen as [outer][in][inner], and the result y as [outer][out][inner]. `last` says that y is
 * the operator's result. */
struct line_job {
	const struct sampling *p;
	int64_t outer, inner;
	struct nest_operand x, y;
	bool last;
};

/*
 * Add a nest that copies to y those lines of x that p->index names, `per` of them for each result; a line
 * is l->inner elements. It is the operator's last nest if l->last is set. Returns 1, -ENOMEM or -E2BIG (too
 * many constants).
 */
static int choose(struct cc *cc, int i, const struct line_job *l, int per)
{
	const struct sampling *p = l->p;
	int index = nest_const(cc, p->index, p->out * per * (int64_t)sizeof *p->index);
	struct loop_nest s = { .func = FUNC(LOOKUP), .n_dims = 3, .axis = 1, .a = nest_storage(index, WEFT_ALU_A_TYPE_INT32),
	                      .b = l->x, .c = nest_number(0), .y = l->y };
	int64_t elem = alu_bytes(l->x.type);

	if (index < 0)
		return index;
	s.dim[0] = l->outer;
	s.dim[1] = p->out * per;
	s.dim[2] = l->inner;
	s.a.step[1] = sizeof *p->index;
	s.b.step[0] = p->in * l->inner * elem;
	s.b.step[2] = elem;
	s.idx_step = l->inner * elem;
	s.idx_last = p->in - 1;
	s.y.step[0] = p->out * per * l->inner * elem;
	s.y.step[1] = l->inner * elem;
	s.y.step[2] = elem;
	return nest_add_node(cc, i, &s, l->last, l->last);
}

/*
 * Add a nest that makes each line of y the sum of two lines of x, which lie side by side, times their two
 * weights in p->weight. It is the operator's last nest if l->last is set. Returns 1, -ENOMEM or -E2BIG (too
 * many constants).
 */
static int weigh(struct cc *cc, int i, const struct line_job *l)
{
	const struct sampling *p = l->p;
	int weight = nest_const(cc, p->weight, p->out * 2 * (int64_t)sizeof *p->weight);
	struct loop_nest s = { .func = FUNC(DOT), .n_dims = 4, .axis = 3, .a = l->x, .b = nest_storage(weight, WEFT_ALU_A_TYPE_INT16),
	                      .c = nest_number(0), .y = l->y };
	int64_t elem = alu_bytes(l->x.type), wide = alu_bytes(l->y.type);

	if (weight < 0)
		return weight;
	s.dim[0] = l->outer;
	s.dim[1] = p->out;
	s.dim[2] = l->inner;
	s.dim[3] = 2;
	s.a.step[0] = p->out * 2 * l->inner * elem;
	s.a.step[1] = 2 * l->inner * elem;
	s.a.step[2] = elem;
	s.a.step[3] = l->inner * elem;
	s.b.step[1] = 2 * sizeof *p->weight;
	s.b.step[3] = sizeof *p->weight;
	s.y.step[0] = p->out * l->inner * wide;
	s.y.step[1] = l->inner * wide;
	s.y.step[2] = wide;
	return nest_add_node(cc, i, &s, l->last, l->last);
}

/*
 * Add the nests that resize along one axis: lines are chosen by indices; with `smooth` two for each result,
 * into a storage of their own, and then weighted. Returns 1, -ENOMEM or -E2BIG (too many constants).
 */
static int along(struct cc *cc, int i, const struct line_job *l, bool smooth)
{
	if (!smooth)
		return choose(cc, i, l, 1);
	int between = cc_new_root(cc, l->outer * l->p->out * 2 * l->inner * alu_bytes(l->x.type));
	if (between < 0)
		return between;
	struct line_job chosen = *l, weighed = *l;
	chosen.y = weighed.x = nest_storage(between, l->x.type);
	chosen.last = false;
	int err = choose(cc, i, &chosen, 2);
	return err < 0 ? err : weigh(cc, i, &weighed);
}

/*
 * Add the one nest that resizes by repeating every line equally often along both axes: a copy with the
 * dimensions images, rows, times each, columns, times each, channels. Returns 1 or -ENOMEM.
 */
static int repeat(struct cc *cc, int i, const struct sampling *py, const struct sampling *px)
{
	const weft_tensor *y = tensor(cc, cc->g->ops[i].out[0]);
	int64_t x[WEFT_MAX_RANK], out[WEFT_MAX_RANK];
	struct loop_nest s = move(cc, i, x);

	nest_strides(cc, cc->g->ops[i].out[0], out);
	s.n_dims = 6;
	/* images, rows, times each, columns, times each, channels */
	memcpy(s.dim, (int64_t[]){ y->dim[0], y->dim[1] / py->times, py->times, y->dim[2] / px->times, px->times, y->dim[3] },
	       6 * sizeof *s.dim);
	memcpy(s.a.step, (int64_t[]){ x[0], x[1] * py->step, 0, x[2] * px->step, 0, x[3] }, 6 * sizeof *s.a.step);
	memcpy(s.y.step, (int64_t[]){ out[0], out[1] * py->times, out[1], out[2] * px->times, out[2], out[3] }, 6 * sizeof *s.y.step);
	s.a.off += py->index[0] * x[1] + px->index[0] * x[2];
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Add the nests of RESIZE i with neighbours (and, if `smooth`, weights) py along rows and px along columns.
 * Nearest neighbours that repeat regularly along both axes become a single copy; else the nests go first
 * along columns, then along rows, leaving out an axis of nearest neighbours that does not change. `out` is
 * the operator's result, whose last nest then is the operator's last, or a storage (out.t -1), which the
 * caller reads in further nests. Sums of `smooth` between the two axes are int32. Returns 1, -ENOMEM or
 * -E2BIG (too many constants).
 */
static int resize_both(struct cc *cc, int i, const struct sampling *py, const struct sampling *px, bool smooth, struct nest_operand out)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *x = tensor(cc, o->in[0]);
	bool last = out.t >= 0;
	struct nest_operand in = nest_tensor(cc, o->in[0], false), mid = in;
	struct line_job lx = { px, x->dim[0] * x->dim[1], x->dim[3], in, out, last }, ly = { py, x->dim[0], px->out * x->dim[3], mid, out, last };
	int type = smooth ? WEFT_ALU_A_TYPE_INT32 : in.type;

	if (!smooth && px->times && py->times)
		return repeat(cc, i, py, px);
	if (py->same)
		return along(cc, i, &lx, smooth);
	if (!px->same) {
		int root = cc_new_root(cc, lx.outer * px->out * lx.inner * alu_bytes(type));
		if (root < 0)
			return root;
		lx.y = ly.x = nest_storage(root, type);
		lx.last = false;
		int err = along(cc, i, &lx, smooth);
		if (err < 0)
			return err;
	}
	return along(cc, i, &ly, smooth);
}

/*
 * Find neighbours and weights along both axes of RESIZE i: rows into *py, columns into *px, which the caller
 * has zeroed. Returns 0 or -ENOMEM; in both cases the caller frees them by sample_free().
 */
static int sample_both(const struct cc *cc, int i, struct sampling *py, struct sampling *px)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_resize *a = &o->attr.resize;
	const weft_tensor *x = tensor(cc, o->in[0]), *y = tensor(cc, o->out[0]);
	bool smooth = a->mode == WEFT_RESIZE_BILINEAR;
	int err = sample(py, x->dim[1], y->dim[1], (struct resize_scale){ a->scale_y_n, a->scale_y_d, a->offset_y }, smooth);

	return err ? err : sample(px, x->dim[2], y->dim[2], (struct resize_scale){ a->scale_x_n, a->scale_x_d, a->offset_x }, smooth);
}

/* What nodes that copy read and write: each element of x, by its rows and columns, becomes ny * nx of y. */
struct spread {
	int op, last;          /* the operator that names the nodes, and the one whose result they write */
	int t;                 /* the tensor that they read, */
	struct view x;         /* as n, y, x, c */
	int64_t ny, nx;
};

/*
 * Add the elementwise nodes that write each element of s->x several times, s->ny * s->nx nodes in all: the node
 * with number k makes the k-th of the results that share one element, for all elements. Each but the last must run
 * before the next one. Returns 1, or -ENOMEM with some of them added.
 */
static int copies(struct cc *cc, const struct spread *s)
{
	for (int64_t k = 0; k < s->ny * s->nx; k++) {
		struct node *nd = new_node(cc, NODE_ELT, s->op, s->last);
		if (!nd)
			return -ENOMEM;
		struct view *out[2] = { &nd->y, &nd->dbg };
		nd->x = s->x;
		nd->x_t = s->t;
		for (int v = 0; v < 2; v++) {
			out[v]->off += k / s->nx * out[v]->step[1] + k % s->nx * out[v]->step[2];
			out[v]->dim[1] = nd->x.dim[1];
			out[v]->dim[2] = nd->x.dim[2];
			out[v]->step[1] *= s->ny;
			out[v]->step[2] *= s->nx;
		}
		if (k + 1 < s->ny * s->nx)
			nd->before = (int)(nd - cc->nodes) + 2;
	}
	return 1;
}

/*
 * Returns whether elementwise nodes should copy tensor x to a larger y; x must be int8 or int16 and no constant,
 * and both must have views. Without an alu they always should. Where there is one, they should only if no_fuse is
 * not set, there is one image, its pixels are whole words, and y is larger than the scratchpad, so that it passes
 * through memory anyway: the nodes then run in stripes with what reads y, which a loop nest cannot.
 */
static bool copied_by_words(const struct cc *cc, int x, int y)
{
	const struct view *v = &cc->ten[x].v, *to = &cc->ten[y].v;

	if (!npu_int(cc, type_of(cc, x)) || v->root < 0 || to->root < 0 || cc->g->tensors[v->root].t.data)
		return false;
	return !cc->has_alu || (!cc->o->no_fuse && to->dim[0] == 1 && to->dim[3] * view_elem(to) % cc->n == 0 && view_bytes(to) > cc->sp_bytes);
}

/*
 * Match RESIZE i of int8 or int16 as copies (copied_by_words()). It must choose nearest neighbours that repeat
 * regularly along both axes (find_period()), with at most MAX_COPIES results for each, and the device must
 * compute the operand; a SLICE in front is read through. Returns 1 if it was matched, 0 if not (no reason is
 * set), or -ENOMEM.
 */
int match_resize(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct sampling py = { 0 }, px = { 0 };
	int err = 0;

	if (o->attr.resize.mode == WEFT_RESIZE_BILINEAR || !copied_by_words(cc, o->in[0], o->out[0]) || !near_npu(cc, o->in[0]))
		return 0;
	err = sample_both(cc, i, &py, &px);
	if (!err && py.times && px.times && py.times * px.times <= MAX_COPIES && py.step >= 0 && px.step >= 0) {
		struct node from = { .kind = NODE_ELT };
		set_input(cc, &from, o->in[0], 0, NULL);
		struct spread s = { i, i, from.x_t, from.x, py.times, px.times };
		s.x.off += py.index[0] * s.x.step[1] + px.index[0] * s.x.step[2];
		s.x.dim[1] = py.out / py.times;
		s.x.dim[2] = px.out / px.times;
		s.x.step[1] *= py.step;
		s.x.step[2] *= px.step;
		err = copies(cc, &s);
	}
	sample_free(&py);
	sample_free(&px);
	return err;
}

/* A TILE that repeats one dimension of a single element: x is seen as [outer][1][inner], its result as [outer][times][inner]. */
struct repeated { int64_t outer, times, inner; };

/*
 * Returns whether TILE i repeats exactly one dimension, of which its operand has one element. If so, *r says
 * how often, and how many elements the dimensions before it and those behind it have; if not, *r is unchanged.
 */
static bool repeats(const struct cc *cc, int i, struct repeated *r)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *x = tensor(cc, o->in[0]);
	int at = -1;

	for (int d = 0; d < x->rank; d++) {
		if (o->attr.tile.multiple[d] == 1)
			continue;
		if (at >= 0 || x->dim[d] != 1)
			return false;
		at = d;
	}
	if (at < 0)
		return false;
	*r = (struct repeated){ 1, o->attr.tile.multiple[at], 1 };
	for (int d = 0; d < x->rank; d++)
		*(d < at ? &r->outer : &r->inner) *= x->dim[d];
	return true;
}

/*
 * Returns the number of the RESHAPE that alone reads the result of operator i and whose own result is a view
 * of it (OP_ALIAS); -1 if there is none.
 */
static int reshape_behind(const struct cc *cc, int i)
{
	int r = only_reader(cc, cc->g->ops[i].out[0], WEFT_OP_RESHAPE);

	return r >= 0 && cc->ops[r].state == OP_ALIAS ? r : -1;
}

/* Returns whether some tensor of the graph other than `a` and `b` lies in the storage of tensor a. */
static bool others_lie_in(const struct cc *cc, int a, int b)
{
	for (int t = 0; t < cc->g->n_tensors; t++)
		if (t != a && t != b && cc->ten[t].v.root == a)
			return true;
	return false;
}

/* The operators that repeat rows and columns, in their order; all but the last have one reader. */
struct tiles { int tile, reshape, tile2, reshape2; };

/*
 * Returns whether these operators, TILE, RESHAPE, TILE and RESHAPE, repeat each row and each column of a dense
 * image of one batch, as Keras' UpSampling2D does, with at most MAX_COPIES results for each pixel. The caller has
 * set s->t to the image's tensor. If so, s->ny and s->nx say how often rows and columns are repeated, and s->x is
 * the view of the image; if not, these three fields are undefined.
 */
static bool repeats_both(const struct cc *cc, const struct tiles *o, struct spread *s)
{
	struct repeated a, b;
	int64_t y[4];

	if (!repeats(cc, o->tile, &a) || !repeats(cc, o->tile2, &b))
		return false;
	view_dims(tensor(cc, cc->g->ops[o->reshape2].out[0]), y);
	bool rows_first = b.inner == y[3];
	s->ny = rows_first ? a.times : b.times;
	s->nx = rows_first ? b.times : a.times;
	if (y[0] != 1 || y[1] % s->ny || y[2] % s->nx)
		return false;
	int64_t h = y[1] / s->ny, w = y[2] / s->nx;
	const struct view *x = &cc->ten[s->t].v;
	if (!view_is_dense(x) || (rows_first ? a.outer != h || a.inner != w * y[3] || b.outer != y[1] * w
	                                    : a.outer != h * w || a.inner != y[3] || b.outer != h || b.inner != y[2] * y[3]))
		return false;
	s->x = view_reshape(x, 1, h, w, y[3]);
	return s->ny * s->nx <= MAX_COPIES;
}

/*
 * Match TILE i, with the RESHAPE, TILE and RESHAPE behind it, as copies of an image whose rows and columns they
 * repeat (copied_by_words(), repeats_both()); the last RESHAPE's result then has a storage of its own. TILE's
 * arguments must be constant, both RESHAPEs aliases, each of the operators but the last must have one reader, and
 * no other tensor may lie in the storage of the second TILE's result. Returns 1 if they were matched, 0 if not (no
 * reason is set), or -ENOMEM.
 */
int match_repeat(struct cc *cc, int i)
{
	struct tiles o = { .tile = i };
	struct spread s = { .op = i, .t = cc->g->ops[i].in[0] };

	if (is_dynamic(&cc->g->ops[i]) || (o.reshape = reshape_behind(cc, i)) < 0 ||
	    (o.tile2 = only_reader(cc, cc->g->ops[o.reshape].out[0], WEFT_OP_TILE)) < 0 || (o.reshape2 = reshape_behind(cc, o.tile2)) < 0)
		return 0;
	int between = cc->g->ops[o.tile2].out[0], y = cc->g->ops[o.reshape2].out[0];
	if (!copied_by_words(cc, s.t, y) || others_lie_in(cc, between, y) || !repeats_both(cc, &o, &s))
		return 0;
	int64_t dim[4];
	view_dims(tensor(cc, y), dim);
	cc->ten[y].v = view_dense(y, dim, view_elem(&s.x));
	s.last = o.reshape2;
	int err = copies(cc, &s);
	if (err < 0)
		return err;
	claim(cc, o.reshape, &cc->nodes[cc->n_nodes - 1]);
	claim(cc, o.tile2, &cc->nodes[cc->n_nodes - 1]);
	return err;
}

/*
 * Match RESIZE i as loop nests of the alu. Returns 1 if it was matched, 0 if it is bilinear of floats (the
 * reason then is set), -ENOMEM or -E2BIG (too many constants).
 */
static int resize(struct cc *cc, int i)
{
	const struct weft_attr_resize *a = &cc->g->ops[i].attr.resize;
	weft_dtype type = type_of(cc, cc->g->ops[i].in[0]);
	bool smooth = a->mode == WEFT_RESIZE_BILINEAR;
	struct sampling py = { 0 }, px = { 0 };

	if (smooth && weft_is_float(type))
		return cc_reason(cc, i, "%s", weft_dtype_name(type));
	int err = sample_both(cc, i, &py, &px);
	if (!err)
		err = resize_both(cc, i, &py, &px, smooth, nest_tensor(cc, cc->g->ops[i].out[0], false));
	sample_free(&py);
	sample_free(&px);
	return err;
}

/*
 * Set *s to TensorFlow Lite's two neighbours and their weights for each of the a.out results along axis a.
 * Returns 0 or -ENOMEM; sample_free() frees what *s holds in both cases.
 */
static int sample_tfl(struct sampling *s, struct weft_tfl_axis a)
{
	*s = (struct sampling){ .in = a.in, .out = a.out };
	s->index = malloc((size_t)a.out * 2 * sizeof *s->index);
	s->weight = malloc((size_t)a.out * 2 * sizeof *s->weight);
	if (!s->index || !s->weight)
		return -ENOMEM;
	for (int64_t o = 0; o < a.out; o++) {
		struct weft_tfl_tap t = weft_tfl_resize_tap(&a, o);
		for (int k = 0; k < 2; k++) {
			s->index[2 * o + k] = (int32_t)t.at[k];
			s->weight[2 * o + k] = (int16_t)t.w[k];
		}
	}
	return 0;
}

/*
 * Add the nests that make operator i's result of the sums in storage `root`, whose elements have this type
 * and 20 bits of fraction: they are rounded to the nearest number, halves away from zero (1 is taken from
 * negative sums, and all are then rounded half up). Returns 1 or a negative errno.
 */
static int drop_fraction(struct cc *cc, int i, int root, int type)
{
	struct sequence q = seq_begin(cc, i);
	struct nest_operand v = table_dense(cc, root, type, cc->g->ops[i].out[0]);
	struct nest_operand sign = seq_each(&q, seq_nest(FUNC(SHR), v, nest_number(type == WEFT_ALU_A_TYPE_INT48 ? 47 : 31)), WEFT_ALU_A_TYPE_INT8);
	struct nest_operand sum = seq_each(&q, seq_nest(FUNC(ADD), v, sign), type);

	return seq_end(&q, seq_round(seq_nest(FUNC(SHR), sum, nest_number(20))));
}

/*
 * Match TFL_RESIZE_BILINEAR i of int8 or int16 as nests that weigh two neighbours along columns, then two
 * along rows, with weights of 10 bits of fraction, and round the sums (int32 for int8, else int48). Returns
 * 1 if it was matched, 0 if it stands for uint8 (raw_uint8), which the framework computes in float32, with
 * the reason set; -ENOMEM or -E2BIG (too many constants).
 */
int match_tfl_resize(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_tfl_resize *a = &o->attr.tfl_resize;
	const weft_tensor *x = tensor(cc, o->in[0]), *y = tensor(cc, o->out[0]);
	struct sampling py = { 0 }, px = { 0 };

	if (a->raw_uint8)
		return cc_reason(cc, i, "uint8, which the framework computes in float32");
	/* 2^7 or 2^15 times weights whose magnitudes add up to 2^11 at most, twice. */
	int type = x->dtype == WEFT_INT8 ? WEFT_ALU_A_TYPE_INT32 : WEFT_ALU_A_TYPE_INT48;
	int root = cc_new_root(cc, weft_tensor_elements(y) * alu_bytes(type));
	int err = root < 0 ? root : sample_tfl(&py, (struct weft_tfl_axis){ x->dim[1], y->dim[1], a->align_corners, a->half_pixel });
	if (!err)
		err = sample_tfl(&px, (struct weft_tfl_axis){ x->dim[2], y->dim[2], a->align_corners, a->half_pixel });
	if (!err)
		err = resize_both(cc, i, &py, &px, true, nest_storage(root, type));
	if (err > 0)
		err = drop_fraction(cc, i, root, type);
	sample_free(&py);
	sample_free(&px);
	return err;
}

/*
 * Match operator i, which only gives its operand another shape, as a copy: its result gets a dense view of a
 * storage of its own, even if it was an alias. Returns 1 if it was matched, 0 if its state is OP_NONE or its
 * type is one that the command does not have (no reason is set), or -ENOMEM.
 */
int match_same(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int64_t dim[4];

	if (cc->ops[i].state == OP_NONE || alu_type(type_of(cc, o->out[0]), false) < 0)
		return 0;
	view_dims(tensor(cc, o->out[0]), dim);
	cc->ten[o->out[0]].v = view_dense(o->out[0], dim, (int64_t)weft_dtype_bytes(type_of(cc, o->out[0])));
	struct loop_nest s = { .func = FUNC(MOVE) };
	nest_over(cc, &s, o->out[0]);
	s.a = nest_tensor(cc, o->in[0], false);
	memcpy(s.a.step, s.y.step, sizeof s.a.step);
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Match operator i if it only moves elements: SLICE, TRANSPOSE, REVERSE, TILE, PAD, GATHER, SCATTER, RESIZE,
 * and those CONCATs that match_concat() does not take. Returns 1 if it was matched, 0 if it is another
 * operator, of a type that the command does not have, or one that its matcher refuses (the reason then is
 * set), -ENOMEM or -E2BIG (too many constants).
 */
int match_move(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];

	if (alu_type(type_of(cc, o->out[0]), false) < 0)
		return 0;
	switch (o->op) {
	case WEFT_OP_SLICE:
		return slice(cc, i);
	case WEFT_OP_TRANSPOSE:
		return transpose(cc, i);
	case WEFT_OP_REVERSE:
		return reverse(cc, i);
	case WEFT_OP_TILE:
		return tile(cc, i);
	case WEFT_OP_PAD:
		return pad(cc, i);
	case WEFT_OP_GATHER:
		return gather(cc, i);
	case WEFT_OP_SCATTER:
		return scatter(cc, i);
	case WEFT_OP_CONCAT:
		/* Of other types, operands may come to lie in their place at once; match_unary.c. */
		return npu_type(cc, type_of(cc, o->out[0])) && cc->g->tensors[o->out[0]].t.rank <= 4 ? 0 : concat(cc, i);
	case WEFT_OP_RESIZE:
		return resize(cc, i);
	default:
		return 0;
	}
}

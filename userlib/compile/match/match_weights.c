/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights and biases that are computed: loop nests that lay them out in memory
 * as pack_weights.c does with constants, in a storage of the node's own.
 *
 * Per node: records of all column tiles, where the biases are not constant, then
 * the weights, tap by tap (n_runs = KH*KW; kx and channels are not joined).
 * Source: include/spec/cmd.toml, conv, group post.
 */
#include <errno.h>
#include <stdlib.h>

#include "match_weights.h"

#define FUNC(name) WEFT_ALU_FUNC_##name
#define TYPE(name) WEFT_ALU_A_TYPE_##name

/* One node's weights on their way. */
struct weights {
	struct cc *cc;
	int i;
	int root;              /* storage */
	int64_t base;          /* of the weights in it */
	int64_t oc, ic, kh, kw, tiles, chunks;
};

/* Add a node of this nest. 1 or a negative errno */
static int add(struct weights *p, const struct loop_nest *s)
{
	return nest_add_node(p->cc, p->i, s, false, false);
}

/* A nest of func from a to y, without dimensions. */
static struct loop_nest nest_of(int func, struct nest_operand a, struct nest_operand y)
{
	return (struct loop_nest){ .func = func, .axis = -1, .a = a, .b = nest_number(0), .c = nest_number(0), .y = y };
}

/* Add a dimension of n elements, with the steps of a and y. */
static void dimension(struct loop_nest *s, int64_t n, int64_t a, int64_t y)
{
	s->a.step[s->n_dims] = a;
	s->y.step[s->n_dims] = y;
	s->dim[s->n_dims++] = n;
}

/* Fill bytes of a storage with the zero point: it stays where nothing else will be written. 1 or a negative errno */
static int fill(struct weights *p, int w_zp, int root, int64_t base, int64_t bytes)
{
	int8_t v = (int8_t)w_zp;
	int value = nest_const(p->cc, &v, sizeof v);
	struct loop_nest s = nest_of(FUNC(MOVE), nest_storage(value, TYPE(INT8)), nest_storage(root, TYPE(INT8)));

	if (value < 0)
		return value;
	s.y.off = base;
	dimension(&s, bytes, 0, 1);
	return add(p, &s);
}

/* Column tiles [t, +nt) of nc channels each, chunks [q, +nq) of nj inputs each. */
struct rectangle { int64_t t, nt, nc, q, nq, nj; };

/* Move a rectangle of weights. 1 or a negative errno */
static int region(struct weights *p, const struct wview *w, struct nest_operand from, struct rectangle r)
{
	int64_t n = p->cc->n, word = n * n, taps = p->kh * p->kw;
	struct loop_nest s = nest_of(FUNC(MOVE), from, nest_storage(p->root, TYPE(INT8)));

	if (!r.nt || !r.nc || !r.nq || !r.nj)
		return 1;
	s.a.off += w->off + r.t * n * w->oc + r.q * n * w->ic;
	s.y.off = p->base + r.t * taps * p->chunks * word + r.q * word;
	dimension(&s, r.nt, n * w->oc, taps * p->chunks * word);
	dimension(&s, p->kh, w->ky, p->kw * p->chunks * word);
	dimension(&s, p->kw, w->kx, p->chunks * word);
	dimension(&s, r.nq, n * w->ic, word);
	dimension(&s, r.nc, w->oc, n);
	dimension(&s, r.nj, w->ic, 1);
	return add(p, &s);
}

/*
 * Move weights so that depth and channels lie side by side, in a storage of their own; *w and *from
 * then say so. 1 or a negative errno
 */
static int join_depth(struct weights *p, struct wview *w, struct nest_operand *from)
{
	int64_t depth = p->ic / w->n_ic;
	int root = cc_new_root(p->cc, p->oc * p->kh * p->kw * p->ic);
	struct loop_nest s = nest_of(FUNC(MOVE), *from, nest_storage(root, TYPE(INT8)));

	if (root < 0)
		return root;
	s.a.off += w->off;
	dimension(&s, p->oc, w->oc, p->kh * p->kw * p->ic);
	dimension(&s, p->kh, w->ky, p->kw * p->ic);
	dimension(&s, p->kw, w->kx, p->ic);
	dimension(&s, depth, w->kd, w->n_ic);
	dimension(&s, w->n_ic, w->ic, 1);
	*from = nest_storage(root, TYPE(INT8));
	*w = (struct wview){ .on = true, .oc = p->kh * p->kw * p->ic, .ky = p->kw * p->ic, .kx = p->ic, .ic = 1, .n_ic = p->ic };
	return add(p, &s);
}

/* Move the weights of a convolution: full tiles and chunks, and those that are not full. 1 or a negative errno */
static int move_weights(struct weights *p, int w_zp, struct wview w, struct nest_operand from)
{
	int64_t n = p->cc->n, full_t = p->oc / n, rest_c = p->oc % n, full_q = p->ic / n, rest_j = p->ic % n;
	int err = 1;

	if (w.n_ic != p->ic)
		err = join_depth(p, &w, &from);
	if (err > 0 && (rest_c || rest_j))
		err = fill(p, w_zp, p->root, p->base, p->tiles * p->kh * p->kw * p->chunks * n * n);
	if (err > 0)
		err = region(p, &w, from, (struct rectangle){ 0, full_t, n, 0, full_q, n });
	if (err > 0)
		err = region(p, &w, from, (struct rectangle){ 0, full_t, n, full_q, rest_j > 0, rest_j });
	if (err > 0)
		err = region(p, &w, from, (struct rectangle){ full_t, rest_c > 0, rest_c, 0, full_q, n });
	if (err > 0)
		err = region(p, &w, from, (struct rectangle){ full_t, rest_c > 0, rest_c, full_q, rest_j > 0, rest_j });
	return err;
}

/*
 * A constant that says which weight of a tap byte j of word c of each tile is; oc where it is none.
 * Its root or a negative errno
 */
static int diagonal_index(struct weights *p, int64_t m)
{
	int64_t n = p->cc->n, all = p->tiles * n * n;
	int32_t *index = malloc((size_t)all * sizeof *index);

	if (!index)
		return -ENOMEM;
	for (int64_t k = 0; k < all; k++) {
		int64_t t = k / (n * n), oc = t * n + k / n % n;
		index[k] = (int32_t)(oc < p->oc && oc / m - t * n / m == k % n ? oc : p->oc);
	}
	int root = nest_const(p->cc, index, all * (int64_t)sizeof *index);
	free(index);
	return root;
}

/*
 * Lay out depthwise weights block diagonal: every byte is one of its tap's weights, or the zero point
 * that stands behind them. 1 or a negative errno
 */
static int move_diagonal(struct weights *p, int w_zp, int64_t m, struct nest_operand from)
{
	int64_t n = p->cc->n, taps = p->kh * p->kw, row = p->oc + 1;
	int rows = cc_new_root(p->cc, taps * row), index = diagonal_index(p, m);

	if (rows < 0 || index < 0)
		return rows < 0 ? rows : index;
	struct loop_nest copy = nest_of(FUNC(MOVE), from, nest_storage(rows, TYPE(INT8)));
	dimension(&copy, taps, p->oc, row);
	dimension(&copy, p->oc, 1, 1);
	int err = fill(p, w_zp, rows, 0, taps * row);
	if (err > 0)
		err = add(p, &copy);
	if (err < 0)
		return err;
	struct loop_nest s = nest_of(FUNC(LOOKUP), nest_storage(index, TYPE(INT32)), nest_storage(p->root, TYPE(INT8)));
	s.b = nest_storage(rows, TYPE(INT8));
	s.y.off = p->base;
	dimension(&s, p->tiles, n * n * (int64_t)sizeof(int32_t), taps * n * n);
	dimension(&s, taps, 0, n * n);
	dimension(&s, n * n, sizeof(int32_t), 1);
	s.b.step[1] = row;
	s.axis = 2;
	s.idx_step = 1;
	s.idx_last = p->oc;
	return add(p, &s);
}

/* Write biases into records. Only the bias counts there, since sums stay what they are. 1 or a negative errno */
static int move_bias(struct weights *p, int bias)
{
	struct nest_operand b = nest_tensor(p->cc, bias, false);
	struct loop_nest s = nest_of(FUNC(MOVE), b, nest_storage(p->root, TYPE(INT48)));

	dimension(&s, p->oc, weft_tensor_elements(&p->cc->g->tensors[bias].t) > 1 ? alu_bytes(b.type) : 0, WEFT_PARAM_BYTES);
	return add(p, &s);
}

/*
 * Once for all nodes that share computed float8 weights: give them a storage where -0, which would be
 * no product, is +0. 1 or a negative errno
 */
int weights_plain(struct cc *cc, int i, struct node *shape)
{
	int64_t bytes = (int64_t)weft_tensor_bytes(&cc->g->tensors[shape->wt.w].t);
	struct weights p = { .cc = cc, .i = i };
	uint8_t table[256];

	if (shape->mode != WEFT_POST_MODE_FLOAT8 || shape->wt.w_fmt >= 2 || !shape->wt.w_computed)
		return 1;
	for (int k = 0; k < 256; k++)
		table[k] = (uint8_t)(k == NO_PRODUCT ? 0 : k);
	int root = cc_new_root(cc, bytes), values = nest_const(cc, table, sizeof table);
	if (root < 0 || values < 0)
		return root < 0 ? root : values;
	struct loop_nest s = nest_of(FUNC(LOOKUP), nest_tensor(cc, shape->wt.w, true), nest_storage(root, TYPE(UINT8)));
	s.b = nest_storage(values, TYPE(UINT8));
	s.idx_step = 1;
	s.idx_last = 255;
	dimension(&s, bytes, 1, 1);
	shape->third = true;
	shape->z = (struct view){ .root = root };
	return add(&p, &s);
}

/* Lay out the computed weights of a node of this shape. The storage's number or a negative errno */
int weights_computed(struct cc *cc, int i, const struct node *shape, int64_t oc, int64_t ic)
{
	bool diagonal = shape->kind == NODE_DWCONV;
	struct weights p = { .cc = cc, .i = i, .oc = oc, .ic = ic, .kh = shape->win.kh, .kw = shape->win.kw };
	int64_t n = cc->n;

	p.tiles = ceil_div(oc, n);
	/* As pack_weights.c has it: the channels that n results can touch. */
	p.chunks = diagonal ? 1 : ceil_div(ic, n);
	p.base = shape->wt.rec_computed ? p.tiles * n * WEFT_PARAM_BYTES : 0;
	p.root = cc_new_root(cc, p.base + p.tiles * p.kh * p.kw * p.chunks * n * n);
	if (p.root < 0)
		return p.root;
	int err = shape->wt.rec_computed ? move_bias(&p, shape->wt.bias) : 1;
	if (err < 0)
		return err;
	struct nest_operand from = shape->third ? nest_storage(shape->z.root, TYPE(INT8)) : nest_tensor(cc, shape->wt.w, false);
	int blank = shape->mode == WEFT_POST_MODE_FLOAT8 && shape->wt.w_fmt < 2 ? NO_PRODUCT : shape->wt.w_zp;
	if (shape->wt.wv.none)
		err = fill(&p, blank, p.root, p.base, p.tiles * p.kh * p.kw * p.chunks * n * n);
	else if (diagonal)
		err = move_diagonal(&p, blank, shape->conv.m, from);
	else
		err = move_weights(&p, blank, shape->wt.wv, from);
	return err < 0 ? err : p.root;
}

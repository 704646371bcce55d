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

/* The computed weights of one node while nests are added that lay them out. */
struct weights {
	struct cc *cc;
	int i;                 /* the operator */
	int root;              /* the storage that the nests fill */
	int64_t base;          /* bytes before the weights in it */
	int64_t oc, ic, kh, kw, tiles, chunks;   /* output and input channels, kernel rows and columns, column tiles, chunks of
	                        * N input channels */
};

/*
 * Add a node of this nest for operator p->i: it is not the operator's last one and no debug records describe
 * its result. Returns 1 or -ENOMEM.
 */
static int add(struct weights *p, const struct loop_nest *s)
{
	return nest_add_node(p->cc, p->i, s, false, false);
}

/* Returns a nest y = func(a) with b and c 0, as yet without dimensions and axis. */
static struct loop_nest nest_of(int func, struct nest_operand a, struct nest_operand y)
{
	return (struct loop_nest){ .func = func, .axis = -1, .a = a, .b = nest_number(0), .c = nest_number(0), .y = y };
}

/*
 * Append an innermost dimension of n elements to the nest; `a` and `y` are the steps of operand a and of the
 * result along it, in bytes.
 */
static void dimension(struct loop_nest *s, int64_t n, int64_t a, int64_t y)
{
	s->a.step[s->n_dims] = a;
	s->y.step[s->n_dims] = y;
	s->dim[s->n_dims++] = n;
}

/*
 * Add a nest that sets `bytes` bytes of storage `root`, from offset `base` on, to the low byte of w_zp. The alu writes as
 * many elements in a cycle whatever their size, so elements of four bytes are written if there is a whole number of them.
 * Returns 1, -ENOMEM or -E2BIG (too many constants).
 */
static int fill(struct weights *p, int w_zp, int root, int64_t base, int64_t bytes)
{
	const uint8_t v[4] = { (uint8_t)w_zp, (uint8_t)w_zp, (uint8_t)w_zp, (uint8_t)w_zp };
	const int type = bytes % 4 ? TYPE(INT8) : TYPE(INT32);
	int value = nest_const(p->cc, v, alu_bytes(type));
	struct loop_nest s = nest_of(FUNC(MOVE), nest_storage(value, type), nest_storage(root, type));

	if (value < 0)
		return value;
	s.y.off = base;
	dimension(&s, bytes / alu_bytes(type), 0, alu_bytes(type));
	return add(p, &s);
}

/* Column tiles [t, +nt) of nc channels each, chunks [q, +nq) of nj inputs each. */
struct rectangle { int64_t t, nt, nc, q, nq, nj; };

/*
 * Add a nest that moves one rectangle of weights from operand `from`, where they lie as *w says, to their
 * place in storage p->root, in the array's order: tile, kernel row, kernel column, chunk, column, input. An
 * empty rectangle adds nothing. Returns 1 or -ENOMEM.
 */
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
 * Add a nest that copies the weights of a CONV3D into a storage of their own, in which the taps along the
 * depth and the channels lie side by side; *w and *from then describe that storage. Returns 1 or -ENOMEM.
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

/*
 * Add the nests that bring the weights of a convolution from operand `from`, where they lie as w says, into
 * the array's order in storage p->root. Full tiles and chunks, and those at the ends that are not full, are
 * separate nests; if there are such ends, everything is filled with the zero point w_zp first. Returns 1,
 * -ENOMEM or -E2BIG (too many constants).
 */
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
 * Make a constant of one int32 for each byte of all tiles (N columns of N bytes each): the number of the
 * output channel whose weight stands in that byte of a block-diagonal tile, or p->oc where no weight stands.
 * m is the number of output channels for each input channel. Returns the constant's root, -ENOMEM or -E2BIG
 * (too many constants).
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
 * Add the nests that lay out depthwise weights block-diagonally in storage p->root: each tap's weights are
 * copied to a row with the zero point w_zp behind them, and every byte of the tiles is looked up there.
 * Operand `from` holds the weights densely, tap by tap, p->oc bytes each. m is the number of output channels
 * for each input channel. Returns 1, -ENOMEM or -E2BIG (too many constants).
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

/*
 * Add a nest that writes the computed biases (tensor `bias`, one element or one for each channel) into the
 * records at the start of storage p->root. The records' other fields are not written: they do not count,
 * since such sums are written unscaled. Returns 1 or -ENOMEM.
 */
static int move_bias(struct weights *p, int bias)
{
	struct nest_operand b = nest_tensor(p->cc, bias, false);
	struct loop_nest s = nest_of(FUNC(MOVE), b, nest_storage(p->root, TYPE(INT48)));

	dimension(&s, p->oc, weft_tensor_elements(&p->cc->g->tensors[bias].t) > 1 ? alu_bytes(b.type) : 0, WEFT_PARAM_BYTES);
	return add(p, &s);
}

/*
 * Prepare computed float8 weights of a format without FNUZ, once for all nodes of operator i that share them:
 * add a nest that copies them to a storage of their own with -0 replaced by +0, because in commands the code
 * of -0 means "no product". shape->z then is that storage, and shape->third is set; for other weights nothing
 * happens. Returns 1, -ENOMEM or -E2BIG (too many constants).
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

/*
 * Add a storage, and the nests that bring computed weights, and computed biases if shape->wt.rec_computed,
 * of a node of operator i with oc output and ic input channels into the order in which pack_weights.c
 * writes constants: records first, then the weights. They are read from storage shape->z if shape->third is
 * set, else from tensor shape->wt.w. Places without a weight get the weights' zero point, or in float8
 * without FNUZ the code for "no product"; all places if wt.wv.none is set. The node itself must be added
 * after this call. Returns the number of the storage that they fill, -ENOMEM or -E2BIG (too many
 * constants).
 */
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

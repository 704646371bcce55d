/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float8 and fp16: convolutions of float8 with what follows them in fp16, pooling,
 * ADD, CLAMP and CAST.
 *
 * Whatever reads a float8 tensor turns it into fp16 first, exactly, so that a CAST
 * in front of an operation costs nothing; the CAST of its result to float8 is part
 * of the write.
 *
 * Source: TOSA 1.0, float rows; include/spec/cmd.toml, mode 2.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include "match_float.h"
#include "match_table.h"
#include "sim/golden/float/average.h"

#define NO(...) return cc_reason(cc, i, __VA_ARGS__)

#define MAX_RUNS 8             /* of sizes of windows along an axis */

#define FP16_INF  0x7c00
#define FP16_NINF (-0x400)     /* fc00 as the fields hold it */

/* Returns the number by which commands name this float8 type (0..3) or fp16 (4); -1 for other types. */
int float_format(weft_dtype t)
{
	switch (t) {
	case WEFT_FP8E4M3: return 0;
	case WEFT_FP8E5M2: return 1;
	case WEFT_FP8E4M3FNUZ: return 2;
	case WEFT_FP8E5M2FNUZ: return 3;
	case WEFT_FP16: return 4;
	default: return -1;
	}
}

/* Returns whether t is one of the four float8 types. */
bool is_float8(weft_dtype t)
{
	return float_format(t) >= 0 && t != WEFT_FP16;
}

/* Returns whether o is a CAST, of TOSA or of ONNX. */
static bool is_cast(const struct weft_gop *o)
{
	return o->op == WEFT_OP_CAST || o->op == WEFT_OP_ONNX_CAST;
}

/*
 * Returns the bits of number v rounded to fp16, sign-extended from 16 bits as the fields of commands hold
 * them.
 */
static int fp16_bits(double v)
{
	return (int16_t)weft_float_encode(WEFT_FP16, v, false);
}

/*
 * Returns the number of the CLAMP that alone reads tensor t, if it treats NaN as the hardware does: it must
 * not ignore NaN, and its limits must be numbers, the lower one not above the upper one. Else returns -1.
 */
static int clamp_behind(const struct cc *cc, int t)
{
	int i = only_reader(cc, t, WEFT_OP_CLAMP);

	if (i < 0)
		return -1;
	const struct weft_attr_clamp *a = &cc->g->ops[i].attr.clamp;
	return a->nan != WEFT_NAN_IGNORE && a->fmin <= a->fmax ? i : -1;
}

/*
 * Returns the number of the CAST (of TOSA or ONNX) to float8 that alone reads tensor t; -1 if there is none.
 */
static int cast_behind(const struct cc *cc, int t)
{
	int i = only_reader(cc, t, WEFT_OP_CAST);

	if (i < 0)
		i = only_reader(cc, t, WEFT_OP_ONNX_CAST);
	return i >= 0 && is_float8(type_of(cc, cc->g->ops[i].out[0])) ? i : -1;
}

/*
 * If the result of t->last is fp16 and a CAST to float8 alone reads it, let the tail end with that CAST
 * (t->last) and set t->saturate: values too large saturate only if it is an ONNX_CAST that says so. Otherwise
 * nothing changes. Nothing is claimed.
 */
static void take_cast_behind(const struct cc *cc, struct float_tail *t)
{
	const struct weft_gop *ops = cc->g->ops;
	int next = type_of(cc, ops[t->last].out[0]) == WEFT_FP16 ? cast_behind(cc, ops[t->last].out[0]) : -1;

	if (next < 0)
		return;
	t->saturate = ops[next].op == WEFT_OP_ONNX_CAST && ops[next].attr.onnx.saturate;
	t->last = next;
}

/* Set the tail's limits to those of a CLAMP, as bits of fp16. */
static void set_limits(struct float_tail *t, const struct weft_attr_clamp *a)
{
	t->lo = fp16_bits(a->fmin);
	t->hi = fp16_bits(a->fmax);
}

/*
 * Returns what becomes of operator i's result before it is written. If the result is fp16, a CLAMP that alone
 * reads it (clamp_behind()) and a CAST to float8 that alone reads what then is the result are taken along, or
 * one of the two. Without a CLAMP the limits are the infinities; without both the tail ends with i itself.
 * Nothing is claimed.
 */
struct float_tail float_tail_of(const struct cc *cc, int i)
{
	struct float_tail t = { i, FP16_NINF, FP16_INF, false };
	int next = type_of(cc, cc->g->ops[i].out[0]) == WEFT_FP16 ? clamp_behind(cc, cc->g->ops[i].out[0]) : -1;

	if (next >= 0) {
		set_limits(&t, &cc->g->ops[next].attr.clamp);
		t.last = next;
	}
	take_cast_behind(cc, &t);
	return t;
}

/*
 * Set the float formats of the node's input, second operand (0 if there is none) and output from the types of
 * the tensors x_t, r_t and y_tensor, none of which may be -1.
 */
static void set_format(const struct cc *cc, struct node *nd)
{
	nd->post.x_fmt = float_format(type_of(cc, nd->x_t));
	nd->post.b_fmt = nd->add ? float_format(type_of(cc, nd->r_t)) : 0;
	nd->post.out_fmt = float_format(type_of(cc, nd->y_tensor));
}

/*
 * Claim for node nd the operators behind operator i up to `last`, each of which alone reads the result of the
 * one before.
 */
static void claim_behind(struct cc *cc, int i, int last, const struct node *nd)
{
	while (i != last) {
		i = cc->uses[cc->ten[cc->g->ops[i].out[0]].first_use];
		claim(cc, i, nd);
	}
}

/*
 * Add a float8 node of this kind that covers operator i and all of its tail, with the tail's limits and
 * saturation; the limits of a sum with a second operand are infinite. Formats, operands and weights are
 * left to the caller. Returns the node, or NULL if there is no memory.
 */
struct node *new_float(struct cc *cc, enum node_kind kind, int i, const struct float_tail *t)
{
	struct node *nd = new_node(cc, kind, i, t->last);

	if (!nd)
		return NULL;
	claim_behind(cc, i, t->last, nd);
	nd->mode = WEFT_POST_MODE_FLOAT8;
	nd->post.y_min = t->lo;
	nd->post.y_max = t->hi;
	nd->post.s_min = FP16_NINF;
	nd->post.s_max = FP16_INF;
	nd->post.saturate = t->saturate;
	return nd;
}

/*
 * If tensor t is fp16 and a CAST makes it from a float8 tensor that the device reads, return that tensor,
 * since the device widens float8 as it reads; else return t.
 */
static int before_cast(const struct cc *cc, int t)
{
	int i = cc->g->tensors[t].producer;

	if (type_of(cc, t) != WEFT_FP16 || i < 0 || !is_cast(&cc->g->ops[i]))
		return t;
	int x = cc->g->ops[i].in[0];
	return is_float8(type_of(cc, x)) && npu_type(cc, type_of(cc, x)) ? x : t;
}

/*
 * If tensor t is the CAST of a float8 tensor that before_cast() reads through, and operator `reader` alone
 * reads it, claim the CAST for node nd.
 */
static void claim_before(struct cc *cc, int t, int reader, const struct node *nd)
{
	if (before_cast(cc, t) != t && read_only_by(cc, t, reader))
		claim(cc, cc->g->tensors[t].producer, nd);
}

/* ---- convolutions */

/* Returns whether no element of the constant float8 tensor w is an infinity or NaN. */
bool all_finite(const weft_tensor *w)
{
	const uint8_t *p = w->data;
	int64_t n = weft_tensor_elements(w);

	for (int64_t k = 0; k < n; k++)
		if (!isfinite(weft_float_decode(w->dtype, p[k])))
			return false;
	return true;
}

/*
 * Returns whether this code of FNUZ type t is one whose value is not half of what the same code means without
 * FNUZ. These are NaN (80) and the largest codes, which there are infinity or NaN.
 */
static bool is_odd_one(weft_dtype t, uint8_t code)
{
	return code == 0x80 || (code & 0x7f) >= (t == WEFT_FP8E4M3FNUZ ? 0x7f : 0x7c);
}

/*
 * Returns whether all weights of the constant FNUZ tensor w can be read in the encoding without FNUZ, at
 * twice their values.
 */
static bool as_ocp(const weft_tensor *w)
{
	const uint8_t *p = w->data;
	int64_t n = weft_tensor_elements(w);

	for (int64_t k = 0; k < n; k++)
		if (is_odd_one(w->dtype, p[k]))
			return false;
	return true;
}

/*
 * Set the node's wt.w_fmt, the format of the constant weights w in commands. If the kernel has places
 * without a tap (block-diagonal weights, wv.none, or a depthwise kernel of fewer than 3 rows or columns),
 * it must be an encoding without FNUZ, in which code 80 means "no product"; FNUZ codes mean twice their
 * value there, so wt.log2_scale is lowered by one. Returns NULL; or, for people, why these weights cannot
 * be had: log2_scale is -32 already, or a code means something else without FNUZ.
 */
const char *weight_format(struct node *nd, const weft_tensor *w)
{
	bool gaps = nd->kind == NODE_DWCONV || nd->wt.wv.none || (nd->kind == NODE_DW && (nd->win.kh < 3 || nd->win.kw < 3));

	nd->wt.w_fmt = float_format(w->dtype);
	if (!gaps || nd->wt.w_fmt < 2)
		return NULL;
	if (nd->wt.log2_scale == -32 || !as_ocp(w))
		return "weights that only the FNUZ encoding has, in a kernel that does not fill the engine";
	nd->wt.w_fmt -= 2;
	nd->wt.log2_scale--;
	return NULL;
}

/* Returns whether tensor t is there before the program starts, as a constant or an input of the network. */
static bool from_outside(const struct cc *cc, int t)
{
	return cc->g->tensors[t].t.data || cc->g->tensors[t].producer < 0;
}

/*
 * Set the node's log2_scale from tensor t, one int32: its value if it is constant, else wt.scale_t, so that
 * the runtime writes the value into the commands.
 */
static void set_scale(const struct cc *cc, struct node *nd, int t)
{
	const weft_tensor *s = &cc->g->tensors[t].t;

	if (s->data)
		nd->wt.log2_scale = *(const int32_t *)s->data;
	else
		nd->wt.scale_t = 1 + t;
}

/*
 * Match a convolution i of float8 by float8 as a node, with the CLAMP and CAST behind it. A SLICE in front
 * is read through, a PAD only if all weights are finite. POPXL's convolution has no biases, and takes
 * log2_scale from a tensor. Returns 1 if it was matched; 0 if the configuration has no float8, weights or
 * biases are not constant, log2_scale is computed by the network, or the shape or the weights cannot be
 * expressed (conv_limit(), weight_format()), with the reason set; or -ENOMEM.
 */
int match_float_conv(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const bool scaled = o->op == WEFT_OP_POPXL_CONV_POW2SCALED;
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *w = &cc->g->tensors[o->in[1]].t;
	const weft_tensor *b = scaled ? NULL : &cc->g->tensors[o->in[2]].t;
	const struct weft_attr_conv *a = &o->attr.conv;
	int pads[4] = { a->pad[0], a->pad[1], a->pad[2], a->pad[3] };

	if (!is_float8(x->dtype) || !npu_type(cc, x->dtype) || !is_float8(w->dtype))
		NO("%s by %s: not a mode of the array in %s", weft_dtype_name(x->dtype), weft_dtype_name(w->dtype), cc->cfg->name);
	if (!w->data || (b && !b->data))
		NO("weights or bias are not constant");
	if (scaled && !from_outside(cc, o->in[2]))
		NO("log2_scale is computed");
	struct node nd = { 0 };
	conv_shape(cc, &nd, o, w, pads);
	nd.wt.log2_scale = scaled ? 0 : a->log2_scale;
	const char *why = conv_limit(&nd);
	if (!why)
		why = weight_format(&nd, w);
	if (why)
		NO("%s", why);

	struct float_tail t = float_tail_of(cc, i);
	struct node *to = new_float(cc, nd.kind, i, &t);
	if (!to)
		return -ENOMEM;
	to->wt.w_finite = all_finite(w);
	/* A PAD's zeros make products, which padding does not. */
	set_input(cc, to, o->in[0], 0, to->wt.w_finite ? pads : NULL);
	conv_shape(cc, to, o, w, pads);
	to->wt.w = o->in[1];
	to->wt.w_fmt = nd.wt.w_fmt;
	to->wt.log2_scale = nd.wt.log2_scale;
	if (scaled)
		set_scale(cc, to, o->in[2]);
	else
		to->wt.bias = o->in[2];
	set_format(cc, to);
	return 1;
}

/*
 * Match a product i of float8 matrices, with the CLAMP and CAST behind it, as a 1x1 convolution whose
 * weights are the second matrix, transposed: by the compiler if it is constant, by the host if it is an
 * input of the network. A MATMUL of several matrices or with a computed second one goes to match_matmul();
 * POPXL's product of such is refused. Returns 1 if it was matched; 0 if the configuration has no float8,
 * log2_scale is computed by the network, the second matrix has more than 65536 rows or 65535 columns, or
 * match_matmul() refuses, with the reason set; or a negative errno.
 */
int match_float_matmul(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *a = &cc->g->tensors[o->in[0]].t, *b = &cc->g->tensors[o->in[1]].t;

	if (!is_float8(a->dtype) || !npu_type(cc, a->dtype) || !is_float8(b->dtype))
		NO("%s by %s: not a mode of the array in %s", weft_dtype_name(a->dtype), weft_dtype_name(b->dtype), cc->cfg->name);
	if (a->dim[0] != 1 || !from_outside(cc, o->in[1])) {
		if (o->op == WEFT_OP_MATMUL)
			return match_matmul(cc, i);
		NO("several or computed matrices");
	}
	if (o->op == WEFT_OP_POPXL_MATMUL_POW2SCALED && !from_outside(cc, o->in[2]))
		NO("log2_scale is computed");
	if (b->dim[1] > 1 << 16 || b->dim[2] > 65535)
		NO("a matrix of %lld by %lld", (long long)b->dim[1], (long long)b->dim[2]);
	struct float_tail t = float_tail_of(cc, i);
	struct node *nd = new_float(cc, NODE_CONV, i, &t);
	if (!nd)
		return -ENOMEM;
	set_input(cc, nd, o->in[0], 0, NULL);
	nd->wt.w = o->in[1];
	nd->wt.by_tap = true;
	nd->wt.w_fmt = float_format(b->dtype);
	nd->wt.log2_scale = o->attr.matmul.log2_scale;
	if (o->op == WEFT_OP_POPXL_MATMUL_POW2SCALED)
		set_scale(cc, nd, o->in[2]);
	set_format(cc, nd);
	return 1;
}

/* ---- pooling */

/* Runs of results along an axis, each of `len` results from number `from` on, whose windows hold `count` elements each;
 * `last` says that no other run follows. */
struct counts { int n; struct run { int64_t from, len, count; bool last; } run[MAX_RUNS]; };

/*
 * List in *c the runs of consecutive results of a pool along an axis (0: y, 1: x) whose windows hold equally
 * many elements inside the input. `in` and `out` are the sizes of input and result along it. Returns NULL, or
 * a text for people if there are more than MAX_RUNS runs.
 */
static const char *count_runs(struct counts *c, const struct weft_attr_pool *a, int axis, int64_t in, int64_t out)
{
	c->n = 0;
	for (int64_t o = 0; o < out; o++) {
		int64_t from = o * a->stride[axis] - a->pad[2 * axis];
		int64_t count = min64(from + a->kernel[axis], in) - max64(from, 0);
		if (c->n && c->run[c->n - 1].count == count) {
			c->run[c->n - 1].len++;
			continue;
		}
		if (c->n == MAX_RUNS)
			return "windows at the border of too many sizes";
		c->run[c->n].from = o;
		c->run[c->n].len = 1;
		c->run[c->n].last = false;
		c->run[c->n++].count = count;
	}
	if (c->n)
		c->run[c->n - 1].last = true;
	return NULL;
}

/*
 * Make a constant table of 65536 bytes: for each code of an fp16 sum that was scaled by 2^-k, the code of the
 * average of `count` elements in this float8 type. Returns its root, -ENOMEM or -E2BIG (too many constants).
 */
static int average_table(struct cc *cc, weft_dtype type, int k, int64_t count)
{
	uint8_t *t = malloc(65536);
	int root = -ENOMEM;

	for (int64_t code = 0; code < 65536 && t; code++)
		t[code] = (uint8_t)weft_float_encode(type, weft_average_of(weft_float_decode(WEFT_FP16, (uint64_t)code), k, count), false);
	if (t)
		root = nest_const(cc, t, 65536);
	free(t);
	return root;
}

/*
 * Add the nest that turns the fp16 sums in storage `from` into averages by looking them up in storage
 * `table`, for the results in run y of rows and run x of columns. It is the last of operator i if both runs
 * are the last ones. Returns 1 or -ENOMEM.
 */
static int divide(struct cc *cc, int i, int from, int table, const struct run *y, const struct run *x)
{
	struct loop_nest s = { .func = WEFT_ALU_FUNC_LOOKUP, .idx_step = 1, .idx_last = 65535 };

	nest_over(cc, &s, cc->g->ops[i].out[0]);
	s.a = table_dense(cc, from, WEFT_ALU_A_TYPE_UINT16, cc->g->ops[i].out[0]);
	s.b = nest_storage(table, WEFT_ALU_A_TYPE_UINT8);
	s.a.off = y->from * s.a.step[1] + x->from * s.a.step[2];
	s.y.off += y->from * s.y.step[1] + x->from * s.y.step[2];
	s.dim[1] = y->len;
	s.dim[2] = x->len;
	return nest_add_node(cc, i, &s, y->last && x->last, true);
}

/*
 * Turn all fp16 sums of AVG_POOL2D i in storage `from`, scaled by 2^-k, into averages: a nest for each
 * rectangle of a run of rows y and a run of columns x, with one table for each count of elements. Returns 1,
 * -ENOMEM or -E2BIG (too many constants).
 */
static int divide_all(struct cc *cc, int i, int from, int k, const struct counts *y, const struct counts *x)
{
	weft_dtype type = type_of(cc, cc->g->ops[i].out[0]);
	struct { int64_t count; int root; } t[MAX_RUNS * MAX_RUNS];
	int n = 0, err = 1;

	for (int r = 0; r < y->n * x->n && err > 0; r++) {
		int64_t count = y->run[r / x->n].count * x->run[r % x->n].count;
		int at = 0;
		while (at < n && t[at].count != count)
			at++;
		if (at == n) {
			t[n].count = count;
			t[n++].root = average_table(cc, type, k, count);
		}
		err = t[at].root < 0 ? t[at].root : divide(cc, i, from, t[at].root, &y->run[r / x->n], &x->run[r % x->n]);
	}
	return err;
}

/*
 * Add the node of operator i that sums each window of `shape` as products with weights of one, scaled by
 * 2^-k: on the depthwise engine if that takes the window, else on the array. Returns the node, or NULL if
 * there is no memory.
 */
static struct node *scaled_sum(struct cc *cc, int i, struct node *shape, int k)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct float_tail t = { i, FP16_NINF, FP16_INF, false };
	struct node *to = new_float(cc, conv_is_dw(cc, shape, 0, true) ? NODE_DW : NODE_DWCONV, i, &t);

	if (!to)
		return NULL;
	set_input(cc, to, o->in[0], 0, NULL);
	to->win = shape->win;
	to->wt.w = WEIGHTS_ONE;
	to->wt.w_finite = true;
	to->wt.w_fmt = 0;
	to->wt.log2_scale = -k;
	to->conv.average = true;
	set_format(cc, to);
	return to;
}

/*
 * Match AVG_POOL2D i of float8 as a scaled sum of each window; nothing behind it is taken along, and a SLICE
 * in front is read through. If the kernel has a power of two of elements and all windows lie in the image as a
 * whole, that sum is the average; else the sums go as fp16 to a storage of their own, and tables of the alu
 * turn them into averages. Returns 1 if it was matched; 0, with the reason set, if its type is not float8, its
 * window has more than 2^WEFT_AVERAGE_MAX_LOG2 elements, exceeds conv_limit() or has more than MAX_RUNS runs
 * of sizes along an axis, or tables are needed and there is no alu; or a negative errno.
 */
static int match_average(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_pool *a = &o->attr.pool;
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *y = &cc->g->tensors[o->out[0]].t;
	int64_t area = (int64_t)a->kernel[0] * a->kernel[1];
	int k = weft_average_log2(area);
	struct node nd = { .win.kh = a->kernel[0], .win.kw = a->kernel[1], .win.sy = a->stride[0], .win.sx = a->stride[1], .win.dy = 1, .win.dx = 1, .conv.m = 1,
	                   .win.pt = a->pad[0], .win.pl = a->pad[2] };
	const char *why = conv_limit(&nd);
	struct counts cy, cx;

	if (!is_float8(x->dtype))
		NO("averages of %s", weft_dtype_name(x->dtype));
	if (k > WEFT_AVERAGE_MAX_LOG2)
		NO("a window of more than %d elements", 1 << WEFT_AVERAGE_MAX_LOG2);
	if (why || (why = count_runs(&cy, a, 0, x->dim[1], y->dim[1])) || (why = count_runs(&cx, a, 1, x->dim[2], y->dim[2])))
		NO("%s", why);
	bool exact = area == (int64_t)1 << k && cy.n * cx.n == 1 && cy.run[0].count * cx.run[0].count == area;
	if (!exact && !cc->has_alu)
		NO("the number of elements in a window is not a power of two");
	struct node *to = scaled_sum(cc, i, &nd, k);
	if (!to || exact)
		return to ? 1 : -ENOMEM;
	int at = (int)(to - cc->nodes), root = cc_new_root(cc, weft_tensor_elements(y) * 2);
	if (root < 0)
		return root;
	to = &cc->nodes[at];
	to->y = to->dbg = view_dense(root, y->dim, 2);
	to->y_tensor = -1;
	to->post.out_fmt = float_format(WEFT_FP16);
	to->before = at + 2;
	cc->ten[root].pinned = true;
	return divide_all(cc, i, root, k, &cy, &cx);
}

/*
 * Match AVG_POOL2D or MAX_POOL2D i of float8 or fp16. Averages go to match_average(), a maximum that ignores
 * NaN to match_pool_by_keys(). Any other maximum becomes a pooling node that takes along a CAST from float8 in
 * front of it and the CLAMP and CAST behind it, and reads through a SLICE, but not through a PAD. Returns 1 if
 * it was matched; 0, with the reason set, if its type is no mode of the engine, a maximum's kernel is above
 * 65535 or the function that it went to refuses it; or a negative errno.
 */
int match_float_pool(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_pool *a = &o->attr.pool;
	weft_dtype type = type_of(cc, o->in[0]);

	if (!npu_type(cc, type))
		NO("%s: not a mode of the engine in %s", weft_dtype_name(type), cc->cfg->name);
	if (o->op == WEFT_OP_AVG_POOL2D)
		return match_average(cc, i);
	if (a->kernel[0] > 65535 || a->kernel[1] > 65535)
		NO("kernel above 65535");
	if (a->nan == WEFT_NAN_IGNORE)
		return match_pool_by_keys(cc, i);
	struct float_tail t = float_tail_of(cc, i);
	struct node *nd = new_float(cc, NODE_POOL, i, &t);
	if (!nd)
		return -ENOMEM;
	set_input(cc, nd, before_cast(cc, o->in[0]), 0, NULL);
	claim_before(cc, o->in[0], i, nd);
	set_pool_window(nd, a);
	set_format(cc, nd);
	return 1;
}

/* ---- addition */

/*
 * Returns the number of the float8 node of the array (NODE_CONV or NODE_DWCONV) that makes the fp16 tensor
 * t as its last result, if only operator `add` reads t, the node has no second operand yet and is not one
 * of several nodes of its operator (conv.part), so that the addition can join it; else -1. With the option
 * no_fuse it is -1.
 */
static int conv_before(const struct cc *cc, int t, int add)
{
	int i = cc->g->tensors[t].producer;

	if (cc->o->no_fuse || i < 0 || cc->ops[i].state != OP_NODE || !read_only_by(cc, t, add))
		return -1;
	const struct node *nd = &cc->nodes[cc->ops[i].node];
	bool plain = (nd->kind == NODE_CONV || nd->kind == NODE_DWCONV) && nd->mode == WEFT_POST_MODE_FLOAT8 && !nd->add &&
	             !nd->conv.part && nd->last == i;
	return plain ? cc->ops[i].node : -1;
}

/*
 * The node for addition i with its tail t, for which the tail's operators are claimed. If conv is not
 * negative, that convolution's node is extended to write the tail's result; else an elementwise node with
 * input tensor a is added, which reads through a CAST from float8. Only the tail's saturation is set; its
 * limits, which hold for the sum, and the second operand are left to the caller. Returns the node, or NULL
 * if there is no memory.
 */
static struct node *add_node(struct cc *cc, int i, int conv, int a, const struct float_tail *t)
{
	struct float_tail none = { t->last, FP16_NINF, FP16_INF, t->saturate };

	if (conv < 0) {
		struct node *nd = new_float(cc, NODE_ELT, i, &none);
		if (!nd)
			return NULL;
		set_input(cc, nd, before_cast(cc, a), 0, NULL);
		claim_before(cc, a, i, nd);
		return nd;
	}
	struct node *nd = &cc->nodes[conv];
	set_output(cc, nd, t->last);
	nd->post.saturate = t->saturate;
	claim(cc, i, nd);
	claim_behind(cc, i, t->last, nd);
	return nd;
}

/* Returns whether the views of tensors a and b have the same four dimensions. */
static bool same_dims(const struct cc *cc, int a, int b)
{
	return !memcmp(cc->ten[a].v.dim, cc->ten[b].v.dim, sizeof cc->ten[a].v.dim);
}

/*
 * Add the nest that copies fp16 tensor t, repeated over operator i's result, into a storage of its own; *v is
 * set to the view of that storage. Returns 1 or -ENOMEM.
 */
static int spread(struct cc *cc, int i, int t, struct view *v)
{
	const weft_tensor *x = &cc->g->tensors[t].t, *y = &cc->g->tensors[cc->g->ops[i].out[0]].t;
	int64_t step[WEFT_MAX_RANK];
	int root = cc_new_root(cc, weft_tensor_elements(y) * 2);
	struct loop_nest s = { .func = WEFT_ALU_FUNC_MOVE };

	if (root < 0)
		return root;
	nest_over(cc, &s, cc->g->ops[i].out[0]);
	nest_strides(cc, t, step);
	s.a = nest_tensor(cc, t, false);
	for (int d = 0; d < x->rank; d++)
		s.a.step[y->rank - x->rank + d] = x->dim[d] == 1 ? 0 : step[d];
	s.y = table_dense(cc, root, s.y.type, cc->g->ops[i].out[0]);
	*v = view_dense(root, cc->ten[cc->g->ops[i].out[0]].v.dim, 2);
	return nest_add_node(cc, i, &s, false, false);
}

/*
 * Match addition i of fp16 tensors, of which one or both are smaller than the result, with the CLAMP and
 * CAST behind it: each operand of other dimensions than the result is first copied to its size by a loop
 * nest (spread()), then an elementwise node adds. An operand of the result's dimensions is read where it
 * lies. The caller has checked types and that there is an alu. Returns 1 or -ENOMEM.
 */
static int add_spread(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct float_tail t = float_tail_of(cc, i), none = { t.last, FP16_NINF, FP16_INF, t.saturate };
	struct view v[2];
	bool own[2];

	for (int k = 0; k < 2; k++) {
		own[k] = !same_dims(cc, o->in[k], o->out[0]);
		int err = own[k] ? spread(cc, i, o->in[k], &v[k]) : 1;
		if (err < 0)
			return err;
	}
	struct node *nd = new_float(cc, NODE_ELT, i, &none);
	if (!nd)
		return -ENOMEM;
	nd->add = true;
	nd->post.s_min = t.lo;
	nd->post.s_max = t.hi;
	set_input(cc, nd, o->in[0], 0, NULL);
	set_second(cc, nd, o->in[1]);
	set_format(cc, nd);
	if (own[0]) {
		nd->x = v[0];
		nd->x_t = -1;
	}
	if (own[1]) {
		nd->r = v[1];
		nd->r_t = -1;
	}
	return 1;
}

/*
 * Match ADD i of fp16 tensors, with the CLAMP and CAST behind it. If a convolution's node makes an operand
 * that only the addition reads, the addition joins it, of two the one with more products in a sum (the first
 * if both have as many; none if both operands are one tensor). Other operands are read through a CAST from
 * float8, which is claimed if the addition alone reads it. But if an operand is smaller than the result, no
 * convolution is joined and no CAST read through: smaller operands are copied to the result's size first, which
 * needs the alu (add_spread()). Returns 1 if it was matched; 0 if the type is another one or there is no alu for
 * that, with the reason set; or -ENOMEM.
 */
int match_float_add(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int a = o->in[0], b = o->in[1];

	if (type_of(cc, a) != WEFT_FP16 || !npu_type(cc, WEFT_FP16) || cc->ten[a].v.root < 0 || cc->ten[b].v.root < 0)
		NO("no arithmetic of %s", weft_dtype_name(type_of(cc, a)));
	if (!same_dims(cc, a, o->out[0]) || !same_dims(cc, b, o->out[0])) {
		if (!cc->has_alu)
			NO("broadcast");
		return add_spread(cc, i);
	}
	/* The longer sum hides the addition better. */
	int ca = conv_before(cc, a, i), cb = conv_before(cc, b, i);
	if (a == b)
		ca = cb = -1;
	if (conv_depth(cc, cb) > conv_depth(cc, ca)) {
		int swap = a;
		a = b;
		b = swap;
		ca = cb;
	}
	struct float_tail t = float_tail_of(cc, i);
	struct node *nd = add_node(cc, i, ca, a, &t);
	if (!nd)
		return -ENOMEM;
	nd->add = true;
	nd->post.s_min = t.lo;
	nd->post.s_max = t.hi;
	set_second(cc, nd, before_cast(cc, b));
	claim_before(cc, b, i, nd);
	set_format(cc, nd);
	return 1;
}

/* ---- CLAMP and CAST on their own */

/* Returns whether operator i is matched by a node, or is an alias. False for i = -1. */
static bool on_npu(const struct cc *cc, int i)
{
	return i >= 0 && (cc->ops[i].state == OP_NODE || cc->ops[i].state == OP_ALIAS);
}

/*
 * Returns whether the operator that makes tensor x, or one that reads tensor y, is in a node or is an
 * alias.
 */
static bool beside_npu(const struct cc *cc, int x, int y)
{
	const struct cten *c = &cc->ten[y];

	if (on_npu(cc, cc->g->tensors[x].producer))
		return true;
	for (int k = 0; k < c->n_uses; k++)
		if (on_npu(cc, cc->uses[c->first_use + k]))
			return true;
	return false;
}

/*
 * Match a CLAMP or CAST i between float8 and fp16 types that no other node has taken as an elementwise
 * node; a CLAMP takes the CASTs in front of and behind it along. Values too large saturate only in an
 * ONNX_CAST to float8 that says so. Without the alu, the device must make the operand or read the result.
 * Returns 1 if it was matched; 0 if it has other types, ignores NaN or has NaN or crossed limits, or
 * nothing beside it runs on the device, with the reason set; or -ENOMEM.
 */
int match_float_unary(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	weft_dtype from = type_of(cc, o->in[0]), to = type_of(cc, o->out[0]);
	struct float_tail t = { i, FP16_NINF, FP16_INF, false };
	int x = o->in[0];

	if (!npu_type(cc, from) || !npu_type(cc, to) || float_format(from) < 0 || float_format(to) < 0)
		NO("%s to %s", weft_dtype_name(from), weft_dtype_name(to));
	if (o->op == WEFT_OP_CLAMP) {
		if (o->attr.clamp.nan == WEFT_NAN_IGNORE || !(o->attr.clamp.fmin <= o->attr.clamp.fmax))
			NO("NaN is ignored, or is a limit");
		set_limits(&t, &o->attr.clamp);
		take_cast_behind(cc, &t);
		x = before_cast(cc, x);
	} else {
		t.saturate = o->op == WEFT_OP_ONNX_CAST && o->attr.onnx.saturate && is_float8(to);
	}
	/* Where nearly everything runs on the device, so do these. */
	if (!cc->has_alu && !beside_npu(cc, x, cc->g->ops[t.last].out[0]))
		NO("nothing beside it runs on the device");
	struct node *nd = new_float(cc, NODE_ELT, i, &t);
	if (!nd)
		return -ENOMEM;
	set_input(cc, nd, x, 0, NULL);
	if (x != o->in[0])
		claim_before(cc, o->in[0], i, nd);
	set_format(cc, nd);
	return 1;
}

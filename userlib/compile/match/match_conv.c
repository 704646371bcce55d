/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV2D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D, CONV3D and MATMUL, int8 or int16 by
 * int8, on the array: with the RESCALE behind them and, where it follows, the
 * CLAMP; else, where the configuration can, with sums written as they are.
 *
 * Sums of int16 have 48 bits. Their RESCALE has 16-bit multipliers; or, where the
 * framework sums in 32 bits, it takes the low 32 bits and a second one follows.
 *
 * A TRANSPOSE_CONV2D is one convolution for each place within its strides: of the
 * kernel it takes every stride-th tap, backwards, and writes every stride-th pixel.
 * A CONV3D is a convolution of as many images as the result is deep; what its
 * taps along the depth read lies side by side as channels. MATMUL is a 1x1
 * convolution with weights that are computed.
 *
 * The last three also of float8, with the CLAMP and CAST behind them; the rest of
 * float8 is in match_float.c.
 *
 * Source: TOSA 1.0, the operators and RESCALE; include/spec/cmd.toml.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match_float.h"
#include "match_weights.h"

#define NO(...) return cc_reason(cc, i, __VA_ARGS__)

/*
 * Returns which value of the node's window is too large for the fields of a command, as a constant text for
 * people: kernel above 4095, stride or dilation above 8192, padding above or to the left above 16384 or below
 * -16384. NULL if all fit.
 */
const char *conv_limit(const struct node *nd)
{
	if (nd->win.kh > 4095 || nd->win.kw > 4095)
		return "kernel above 4095";
	if (nd->win.sy > 8192 || nd->win.sx > 8192 || nd->win.dy > 8192 || nd->win.dx > 8192)
		return "stride or dilation above 8192";
	if (nd->win.pt > 16384 || nd->win.pl > 16384 || nd->win.pt < -16384 || nd->win.pl < -16384)
		return "padding above 16384";
	return NULL;
}

/* Commands of a dilated kernel for each tile; and pixels of each, below which the array is taken to be faster. Not
 * measured. */
#define MAX_PHASES 1024
#define PHASE_PIXELS 4

/*
 * Returns whether the depthwise engine can do a kernel above 3x3 row by row, and in less time than the array.
 * It can with the feature has_dwk if the kernel has at most 15 rows of at most nine taps, or with rows and
 * columns exchanged likewise; if not, nd does not change. If it can, nd->conv.transposed is set, also when the
 * result is false: to the way that is possible, or to the faster one of both. For each pixel the engine takes
 * a cycle for each kernel row and each column of the stride, the array one for each tap; so the engine is
 * faster, and the result true, if the stride along x is less than the kernel's columns (exchanged: the stride
 * along y less than its rows).
 */
static bool takes_rows(const struct cc *cc, struct node *nd)
{
	bool upright = nd->win.kh <= 15 && nd->win.kw <= 9, across = nd->win.kw <= 15 && nd->win.kh <= 9;

	if (!cc->has_dwk || !(upright || across))
		return false;
	nd->conv.transposed = across && (!upright || nd->win.kw * nd->win.sy < nd->win.kh * nd->win.sx);
	return nd->conv.transposed ? nd->win.sy < nd->win.kh : nd->win.sx < nd->win.kw;
}

/*
 * Returns whether the depthwise engine can do this depthwise convolution, whose result has so many pixels. It
 * needs one output channel for each input channel, strides of at most 15, and a kernel of at most 3x3 or,
 * unless is_float is set, one that takes_rows() accepts (which sets nd->conv.transposed). A dilated kernel
 * takes one command for each place within the dilation: there may be at most MAX_PHASES of them, with at least
 * PHASE_PIXELS pixels of the result for each.
 */
bool conv_is_dw(const struct cc *cc, struct node *nd, int64_t pixels, bool is_float)
{
	int64_t phases = (int64_t)nd->win.dy * nd->win.dx;

	if (nd->conv.m != 1 || nd->win.sy > 15 || nd->win.sx > 15 || (phases > 1 && (phases > MAX_PHASES || pixels < PHASE_PIXELS * phases)))
		return false;
	return (nd->win.kh <= 3 && nd->win.kw <= 3) || (!is_float && takes_rows(cc, nd));
}

/*
 * Set the node's window, zero points of input and weights, conv.m and kind from CONV2D or DEPTHWISE_CONV2D
 * o with weights w; pads are top, bottom, left, right, of which a window has top and left. A depthwise
 * convolution of several channels that the depthwise engine can do becomes NODE_DW, any other NODE_DWCONV,
 * a CONV2D NODE_CONV. A kernel of one row or column has no dilation along it. For a depthwise kernel above
 * 3x3 conv.transposed may be set (conv_is_dw()); it counts for NODE_DW alone.
 */
void conv_shape(const struct cc *cc, struct node *nd, const struct weft_gop *o, const weft_tensor *w, const int pads[4])
{
	const struct weft_attr_conv *a = &o->attr.conv;
	const weft_tensor *y = &cc->g->tensors[o->out[0]].t;
	bool depthwise = o->op == WEFT_OP_DEPTHWISE_CONV2D;

	nd->win.kh = (int)w->dim[depthwise ? 0 : 1];
	nd->win.kw = (int)w->dim[depthwise ? 1 : 2];
	nd->win.sy = a->stride[0];
	nd->win.sx = a->stride[1];
	nd->win.dy = nd->win.kh > 1 ? a->dilation[0] : 1;
	nd->win.dx = nd->win.kw > 1 ? a->dilation[1] : 1;
	nd->win.pt = pads[0];
	nd->win.pl = pads[2];
	nd->x_zp = a->x_zp;
	nd->wt.w_zp = a->w_zp;
	nd->conv.m = depthwise ? (int)w->dim[3] : 1;
	nd->kind = depthwise ? NODE_DWCONV : NODE_CONV;
	if (depthwise && w->dim[2] > 1 && conv_is_dw(cc, nd, y->dim[1] * y->dim[2], is_float8(type_of(cc, o->in[0]))))
		nd->kind = NODE_DW;
}

/*
 * Returns whether RESCALE i does nothing but take the low 32 bits of a sum of 48 bits. It does from int48 to
 * int32 with one scale of exactly 1 (multiplier 2^shift, shift below 31) and no zero points.
 */
static bool is_narrowing(const struct cc *cc, int i)
{
	struct rescale r;

	return type_of(cc, cc->g->ops[i].in[0]) == WEFT_INT48 && type_of(cc, cc->g->ops[i].out[0]) == WEFT_INT32 &&
	       read_rescale(cc, i, &r) && !r.per_channel && !r.x_zp && !r.y_zp &&
	       r.s.shift < 31 && r.s.mul == (uint32_t)1 << r.s.shift;
}

/* What becomes of the sums. */
struct tail {
	int last;              /* the operator whose result is written */
	int narrow, rescale;   /* the RESCALE that takes the low 32 bits, and the one that scales; -1: none */
	bool raw;              /* the sums are written as they are */
	struct rescale r;      /* what the scaling RESCALE does */
	int lo, hi;            /* limits of the scaled result */
	bool is_float;         /* the sums are floats: f says what becomes of them, all else does not count */
	struct float_tail f;
};

/*
 * Find the RESCALE to `type` that alone reads operator i's sums, perhaps behind one that only narrows them
 * to 32 bits, and the CLAMP behind it. The RESCALE must be one that read_rescale() accepts, with no zero
 * point of its input. Sets last, narrow (-1: none), rescale, r, lo and hi of *t. Returns NULL, or why there
 * is no such tail, for people; *t then is undefined. Nothing is claimed.
 */
static const char *scaled_tail(const struct cc *cc, int i, weft_dtype type, struct tail *t)
{
	int k = only_reader(cc, cc->g->ops[i].out[0], WEFT_OP_RESCALE);

	if (k < 0)
		return "the sums are not read by one RESCALE alone";
	t->narrow = is_narrowing(cc, k) ? k : -1;
	if (t->narrow >= 0 && (k = only_reader(cc, cc->g->ops[k].out[0], WEFT_OP_RESCALE)) < 0)
		return "the sums are not read by one RESCALE alone";
	if (type_of(cc, cc->g->ops[k].out[0]) != type || !read_rescale(cc, k, &t->r) || t->r.x_zp)
		return "the RESCALE behind it does not make its input's type with constant, legal scales";
	t->last = t->rescale = k;
	t->lo = type_lowest(type);
	t->hi = -1 - t->lo;
	take_clamp(cc, &t->last, &t->lo, &t->hi);
	return NULL;
}

/*
 * Find what becomes of the sums of operator i, whose first operand has this type, and set *t: for float8 the
 * tail of float_tail_of(); for integers the RESCALE and CLAMP behind it (scaled_tail()) or, if there is no such
 * RESCALE and the configuration has has_raw, sums written as they are (raw). `fixed` says that the biases are
 * constant, without which integers' sums are not scaled. Returns NULL, or why none of these is possible, for
 * people; *t then is undefined.
 */
static const char *find_tail(const struct cc *cc, int i, weft_dtype type, bool fixed, struct tail *t)
{
	*t = (struct tail){ .narrow = -1, .rescale = -1, .is_float = is_float8(type) };
	if (t->is_float) {
		t->f = float_tail_of(cc, i);
		return NULL;
	}
	const char *why = fixed ? scaled_tail(cc, i, type, t) : "its biases are computed";

	if (!why || !cc->has_raw)
		return why;
	*t = (struct tail){ .last = i, .narrow = -1, .rescale = -1, .raw = true };
	return NULL;
}

/*
 * Add a node of this kind for operator i that writes the tail's result, and claim the tail's operators for
 * it. Sets its mode (int16 or int8, or float8 with the formats of input and output) and its post unit from
 * the tail: raw sums, or scales, rounding, zero point and limits, with 16-bit multipliers (scale16) for
 * int16 whose sums were not narrowed. Kernel, weights and input view are left to the caller. Returns the
 * node, or NULL if there is no memory.
 */
static struct node *conv_node(struct cc *cc, int i, enum node_kind kind, const struct tail *t)
{
	weft_dtype type = type_of(cc, cc->g->ops[i].in[0]);
	struct node *nd = t->is_float ? new_float(cc, kind, i, &t->f) : new_node(cc, kind, i, t->last);

	if (!nd)
		return NULL;
	if (t->is_float) {
		nd->post.x_fmt = float_format(type);
		nd->post.out_fmt = float_format(type_of(cc, nd->y_tensor));
		return nd;
	}
	nd->mode = type == WEFT_INT16;
	nd->post.raw = t->raw;
	if (t->raw)
		return nd;
	claim(cc, t->rescale, nd);
	if (t->narrow >= 0)
		claim(cc, t->narrow, nd);
	nd->post.scale16 = type == WEFT_INT16 && t->narrow < 0;
	nd->post.scale_mul = t->r.mul;
	nd->post.scale_shift = t->r.shift;
	nd->post.round = t->r.s.round;
	nd->post.y_zp = t->r.y_zp;
	nd->post.y_min = t->lo;
	nd->post.y_max = t->hi;
	return nd;
}

/*
 * Copy to nd what a shape says that does not depend on the node's place in the graph: kind, zero point of the
 * input, window, weights and the fields of convolutions.
 */
static void take_kernel(struct node *nd, const struct node *from)
{
	nd->kind = from->kind;
	nd->x_zp = from->x_zp;
	nd->win = from->win;
	nd->wt = from->wt;
	nd->conv = from->conv;
}

/*
 * If the node's weights are computed, let it read them from storage `root`, as its third operand, and pin the
 * storage of its input. Otherwise do nothing.
 */
static void take_storage(struct cc *cc, struct node *nd, int root)
{
	if (!nd->wt.w_computed)
		return;
	nd->third = true;
	nd->z = (struct view){ .root = root };
	nd->z_t = -1;
	if (nd->x.root >= 0)
		cc->ten[nd->x.root].pinned = true;
}

/* Note that nd is not the last node of its operator: the next node that is added must come behind it. */
static void precede(struct cc *cc, struct node *nd)
{
	nd->before = (int)(nd - cc->nodes) + 2;
}

/*
 * Returns why the array does not take the float8 operands of operator i, for people, or NULL if it does. Both
 * must be float8 that the configuration has, biases constant, and weights constant unless the alu can lay
 * them out.
 */
static const char *bad_floats(const struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];

	if (!npu_type(cc, type_of(cc, o->in[0])) || !is_float8(type_of(cc, o->in[1])))
		return "not a mode of the array";
	if (o->n_in > 2 && !cc->g->tensors[o->in[2]].t.data)
		return "its biases are computed";
	return cc->g->tensors[o->in[1]].t.data || cc->has_alu ? NULL : "its weights are computed";
}

/*
 * Returns why the array does not take a product of integers whose first operand has type x, as a constant
 * text for people: int16 in a configuration without it, or a type (of either operand) that no array takes.
 */
static const char *no_mode(const struct cc *cc, weft_dtype x)
{
	return x == WEFT_INT16 && !cc->cfg->has_int16 ? "the array of this configuration has no int16"
	                                              : "the array takes int8 and int16 by int8";
}

/*
 * Returns why the array does not take the operands of operator i, for people, or NULL if it does. Integers
 * must be int8 or int16, whichever the configuration has, by int8 or int4; weights and biases must be constant unless the configuration has the
 * alu and raw sums. If the first operand is float8, bad_floats() judges.
 */
static const char *bad_types(const struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	weft_dtype x = type_of(cc, o->in[0]), w = type_of(cc, o->in[1]);

	if (is_float8(x))
		return bad_floats(cc, i);
	bool computed = !cc->g->tensors[o->in[1]].t.data || (o->n_in > 2 && !cc->g->tensors[o->in[2]].t.data);

	if (!npu_int(cc, x) || (w != WEFT_INT8 && w != WEFT_INT4))
		return no_mode(cc, x);
	return computed && !(cc->has_alu && cc->has_raw) ? "weights or bias are not constant" : NULL;
}

/*
 * Set shape s's tensors of weights and biases (wt.bias -1: none) from operator i's second and third
 * operand, rec_computed if the biases are not constant, and w_computed if the weights or the biases are
 * not.
 */
static void note_computed(const struct cc *cc, int i, struct node *s)
{
	const struct weft_gop *o = &cc->g->ops[i];

	s->wt.w = o->in[1];
	s->wt.bias = o->n_in > 2 ? o->in[2] : -1;
	s->wt.rec_computed = o->n_in > 2 && !cc->g->tensors[o->in[2]].t.data;
	s->wt.w_computed = s->wt.rec_computed || !cc->g->tensors[o->in[1]].t.data;
}

/*
 * If operator i's first operand is float8, set in shape s the mode, wt.log2_scale, the format of the
 * weights and w_finite (constant weights without infinity or NaN); the encoding of constant weights is
 * chosen by weight_format(), which may change wt.log2_scale. For integers do nothing. Returns NULL, or why
 * the array cannot take these weights, for people.
 */
static const char *note_float(const struct cc *cc, int i, struct node *s, int log2_scale)
{
	const weft_tensor *w = &cc->g->tensors[cc->g->ops[i].in[1]].t;

	if (!is_float8(type_of(cc, cc->g->ops[i].in[0])))
		return NULL;
	s->mode = WEFT_POST_MODE_FLOAT8;
	s->wt.log2_scale = log2_scale;
	s->wt.w_finite = w->data && all_finite(w);
	if (!w->data) {
		s->wt.w_fmt = float_format(w->dtype);
		return NULL;
	}
	return weight_format(s, w);
}

/*
 * Returns where dense weights [oc][ky][kx][ic] of a kernel with kh rows, kw columns and ic channels lie: steps
 * in elements. `on` is left false.
 */
static struct wview usual(int64_t kh, int64_t kw, int64_t ic)
{
	return (struct wview){ .oc = kh * kw * ic, .ky = kw * ic, .kx = ic, .ic = 1, .n_ic = ic };
}

/*
 * If weights (tensor w) or biases of depthwise shape s are computed, let it run on the array:
 * block-diagonal (NODE_DWCONV), or with one input channel as a plain convolution (NODE_CONV with conv.m 1)
 * whose output channels are w's multiplier, with wt.wv set. Other shapes stay as they are.
 */
static void lay_out_depthwise(struct node *s, const weft_tensor *w)
{
	if (s->kind == NODE_CONV || !s->wt.w_computed)
		return;
	s->kind = NODE_DWCONV;
	if (w->dim[2] != 1)
		return;
	s->kind = NODE_CONV;
	s->wt.wv = (struct wview){ .on = true, .oc = 1, .ky = s->win.kw * w->dim[3], .kx = w->dim[3], .n_ic = 1 };
	s->conv.m = 1;
}

/*
 * Match operator i, CONV2D or DEPTHWISE_CONV2D of integers, as a convolution's node with the RESCALE and CLAMP
 * behind it, or with raw sums where find_tail() says so. What set_input() reads through in front of it, such
 * as a PAD with the input's zero point, is not claimed. Computed weights are laid out by loop nests in front
 * of the node. Returns 1 if it was matched; 0, with the reason set, if the array does not take its types,
 * int16 has a zero point, a field of the command is too small for the operator (conv_limit(); what a PAD adds
 * to its padding is judged only when the command is emitted) or there is no tail (find_tail()); -ENOMEM; or
 * -E2BIG (too many constants).
 */
int match_conv(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *w = &cc->g->tensors[o->in[1]].t;
	const struct weft_attr_conv *a = &o->attr.conv;
	int pads[4] = { a->pad[0], a->pad[1], a->pad[2], a->pad[3] }, root = -1;
	struct node s = { 0 };
	struct tail t;
	const char *why = bad_types(cc, i);

	if (why)
		NO("%s by %s: %s", weft_dtype_name(x->dtype), weft_dtype_name(w->dtype), why);
	if (x->dtype == WEFT_INT16 && a->x_zp)
		NO("int16 with a zero point");
	note_computed(cc, i, &s);
	conv_shape(cc, &s, o, w, pads);
	if ((why = conv_limit(&s)) || (why = find_tail(cc, i, x->dtype, !s.wt.rec_computed, &t)))
		NO("%s", why);
	s.wt.wv = usual(s.win.kh, s.win.kw, x->dim[3]);
	lay_out_depthwise(&s, w);
	if (s.wt.w_computed)
		root = weights_computed(cc, i, &s, cc->g->tensors[o->out[0]].t.dim[3], x->dim[3]);
	if (s.wt.w_computed && root < 0)
		return root;
	struct node *nd = conv_node(cc, i, s.kind, &t);
	if (!nd)
		return -ENOMEM;
	set_input(cc, nd, o->in[0], a->x_zp, pads);
	take_kernel(nd, &s);
	nd->win.pt = pads[0];
	nd->win.pl = pads[2];
	take_storage(cc, nd, root);
	return 1;
}

/* ---- TRANSPOSE_CONV2D ---- */

/* Along one axis, the results at `place`, place + stride, ...: taps first, first + stride, ... backwards. */
struct phase { int64_t first, taps, pad; };

/*
 * Returns which kernel taps make, along one axis of a TRANSPOSE_CONV2D, the results at place, place +
 * stride, ... (0 <= place < stride): in `first` the lowest of these taps (each next one is `stride`
 * farther), in `taps` their number, and in `pad` the padding that the convolution that makes these results
 * sees in front of the input, perhaps negative. `kernel` is the number of taps along the axis, out_pad the
 * operator's padding there. If no tap makes them, taps and pad are 0.
 */
static struct phase phase_at(int64_t place, int64_t stride, int64_t kernel, int64_t out_pad)
{
	int64_t first = ((place - out_pad) % stride + stride) % stride, ahead = (place - out_pad - first) / stride;
	int64_t taps = kernel > first ? ceil_div(kernel - first, stride) : 0;

	/* Result q reads inputs q + ahead - j with tap j. */
	return (struct phase){ first, taps, taps ? taps - 1 - ahead : 0 };
}

/* Narrow a view of the result to every stride-th row and column, beginning with row py and column px. */
static void thin(struct view *v, int64_t py, int64_t px, const struct weft_attr_conv *a)
{
	v->off += py * v->step[1] + px * v->step[2];
	v->dim[1] = ceil_div(v->dim[1] - py, a->stride[0]);
	v->dim[2] = ceil_div(v->dim[2] - px, a->stride[1]);
	v->step[1] *= a->stride[0];
	v->step[2] *= a->stride[1];
}

/*
 * Returns the shape of the convolution that makes the results of one phase along each axis: shape s with
 * the kernel, padding and weights (in reversed order) of these taps. If a phase has no taps along an axis,
 * the kernel is one row or column along it and wt.wv.none is set, since there the result is only the bias.
 */
static struct node phase_shape(const struct node *s, const struct phase *y, const struct phase *x, const struct weft_attr_conv *a)
{
	struct node p = *s;

	p.win.kh = (int)max64(y->taps, 1);
	p.win.kw = (int)max64(x->taps, 1);
	p.win.pt = (int)y->pad;
	p.win.pl = (int)x->pad;
	/* Between the taps of a kernel smaller than the stride there is only the bias. */
	p.wt.wv.none = !y->taps || !x->taps;
	p.wt.wv.off = (y->first + (p.win.kh - 1) * a->stride[0]) * s->wt.wv.ky + (x->first + (p.win.kw - 1) * a->stride[1]) * s->wt.wv.kx;
	p.wt.wv.ky *= -a->stride[0];
	p.wt.wv.kx *= -a->stride[1];
	return p;
}

/* A place within the strides of a TRANSPOSE_CONV2D. */
struct offset { int64_t y, x; };

/*
 * Add the node that makes the results at this place within the strides of TRANSPOSE_CONV2D i, whose views
 * of result and debug records are thinned to them, with its computed weights' nests if there are any. s is
 * the shape that all phases share; `last` says that this is the operator's last node, else the node that is
 * added next must follow. Returns 1, -ENOMEM or -E2BIG (too many constants).
 */
static int add_phase(struct cc *cc, int i, const struct node *s, const struct tail *t, struct offset at, bool last)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *w = &cc->g->tensors[o->in[1]].t;
	const struct weft_attr_conv *a = &o->attr.conv;
	struct phase qy = phase_at(at.y, a->stride[0], w->dim[1], a->pad[0]), qx = phase_at(at.x, a->stride[1], w->dim[2], a->pad[2]);
	struct node p = phase_shape(s, &qy, &qx, a);
	int root = s->wt.w_computed ? weights_computed(cc, i, &p, w->dim[0], x->dim[3]) : -1;

	if (s->wt.w_computed && root < 0)
		return root;
	struct node *nd = conv_node(cc, i, NODE_CONV, t);
	if (!nd)
		return -ENOMEM;
	set_input(cc, nd, o->in[0], 0, NULL);
	take_kernel(nd, &p);
	thin(&nd->y, at.y, at.x, a);
	thin(&nd->dbg, at.y, at.x, a);
	take_storage(cc, nd, root);
	if (!last)
		precede(cc, nd);
	return 1;
}

/*
 * Match TRANSPOSE_CONV2D i, of integers or float8, as one convolution for each place within its strides at
 * which it has results. Returns 1 if it was matched; 0, with the reason set, if the array does not take its
 * types, there are more than 256 such places, its kernel is above 4095, its padding above or to the left
 * beyond -8192..8192, float8 weights have no format (note_float()) or there is no tail (find_tail()); -ENOMEM;
 * or -E2BIG (too many constants).
 */
int match_transpose_conv(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *w = &cc->g->tensors[o->in[1]].t, *y = &cc->g->tensors[o->out[0]].t;
	const struct weft_attr_conv *a = &o->attr.conv;
	struct node s = { .kind = NODE_CONV, .win = { .sy = 1, .sx = 1, .dy = 1, .dx = 1 }, .conv.m = 1, .x_zp = a->x_zp, .wt.w_zp = a->w_zp, .conv.part = true };
	struct tail t;
	const char *why = bad_types(cc, i);

	if (why)
		NO("%s by %s: %s", weft_dtype_name(x->dtype), weft_dtype_name(w->dtype), why);
	int64_t ny = min64(a->stride[0], y->dim[1]), nx = min64(a->stride[1], y->dim[2]);
	if (ny * nx > 256 || w->dim[1] > 4095 || w->dim[2] > 4095 || abs(a->pad[0]) > 8192 || abs(a->pad[2]) > 8192)
		NO("stride, kernel or padding too large");
	note_computed(cc, i, &s);
	/* Places that no tap reaches, of which phase_shape makes nodes without weights. */
	s.wt.wv.none = w->dim[1] < ny || w->dim[2] < nx;
	if ((why = note_float(cc, i, &s, a->log2_scale)) || (why = find_tail(cc, i, x->dtype, !s.wt.rec_computed, &t)))
		NO("%s", why);
	s.wt.wv = usual(w->dim[1], w->dim[2], x->dim[3]);
	s.wt.wv.on = true;
	int err = weights_plain(cc, i, &s);
	for (int64_t k = 0; k < ny * nx && err > 0; k++)
		err = add_phase(cc, i, &s, &t, (struct offset){ k / nx, k % nx }, k == ny * nx - 1);
	return err;
}

/* ---- CONV3D ---- */

/* Planes [from, to) of depth tap kd; they come from plane `first` of the input on. */
struct planes { int64_t kd, from, to, first; };

/*
 * Add the loop nest that fills planes [q.from, q.to) of depth tap q.kd in storage `root`, where all taps of
 * the depth lie side by side as channels. They are copied from CONV3D i's input, the first from plane
 * q.first and each next one from as many planes farther as the stride along the depth says; or, if `value`
 * is not -1, filled from the constant storage of that number. An empty range adds nothing. Returns 1 or
 * -ENOMEM.
 */
static int depth_copy(struct cc *cc, int i, int root, struct planes q, int value)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_conv3d *a = &o->attr.conv3d;
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *w = &cc->g->tensors[o->in[1]].t, *y = &cc->g->tensors[o->out[0]].t;
	struct nest_operand in = nest_tensor(cc, o->in[0], false);
	int64_t elem = alu_bytes(in.type), c = x->dim[4], plane = x->dim[2] * x->dim[3], wide = w->dim[1] * c * elem;
	struct loop_nest s = { .func = WEFT_ALU_FUNC_MOVE, .axis = -1, .n_dims = 4, .a = value < 0 ? in : nest_storage(value, in.type),
	                      .b = nest_number(0), .c = nest_number(0), .y = nest_storage(root, in.type) };

	if (q.from >= q.to)
		return 1;
	s.dim[0] = x->dim[0];
	s.dim[1] = q.to - q.from;
	s.dim[2] = plane;
	s.dim[3] = c;
	s.y.off = q.from * plane * wide + q.kd * c * elem;
	s.y.step[0] = y->dim[1] * plane * wide;
	s.y.step[1] = plane * wide;
	s.y.step[2] = wide;
	s.y.step[3] = elem;
	if (value < 0) {
		s.a.off += q.first * plane * c * elem;
		s.a.step[0] = x->dim[1] * plane * c * elem;
		s.a.step[1] = a->stride[0] * plane * c * elem;
		s.a.step[2] = c * elem;
		s.a.step[3] = elem;
	}
	return nest_add_node(cc, i, &s, false, false);
}

/*
 * Fill one tap kd along the depth of storage `root`: planes where the tap is outside of the input from the
 * constant storage `value`, the others from the input's planes. Returns 1 or -ENOMEM.
 */
static int depth_tap(struct cc *cc, int i, int root, int64_t kd, int value)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_conv3d *a = &o->attr.conv3d;
	int64_t depth = cc->g->tensors[o->in[0]].t.dim[1], out = cc->g->tensors[o->out[0]].t.dim[1];
	int64_t at = kd * a->dilation[0] - a->pad[0], lo = 0, hi = out;

	while (lo < out && at + lo * a->stride[0] < 0)
		lo++;
	while (hi > lo && at + (hi - 1) * a->stride[0] >= depth)
		hi--;
	int err = depth_copy(cc, i, root, (struct planes){ kd, 0, lo, 0 }, value);
	if (err > 0)
		err = depth_copy(cc, i, root, (struct planes){ kd, lo, hi, at + lo * a->stride[0] }, -1);
	return err > 0 ? depth_copy(cc, i, root, (struct planes){ kd, hi, out, 0 }, value) : err;
}

/*
 * Add a storage, and the nests that make the input of CONV3D i into N x OD images in it whose channels are
 * the depth's taps, each with all input channels; taps outside of the input are filled with its zero point.
 * Returns the number of the storage that holds the images, -ENOMEM or -E2BIG (too many constants).
 */
static int join_depth(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *w = &cc->g->tensors[o->in[1]].t, *y = &cc->g->tensors[o->out[0]].t;
	int64_t elem = (int64_t)weft_dtype_bytes(x->dtype);
	int root = cc_new_root(cc, x->dim[0] * y->dim[1] * x->dim[2] * x->dim[3] * w->dim[1] * x->dim[4] * elem);
	int16_t zp = (int16_t)o->attr.conv3d.x_zp;
	int value = nest_const(cc, &zp, sizeof zp), err = root < 0 ? root : value < 0 ? value : 1;

	for (int64_t kd = 0; kd < w->dim[1] && err > 0; kd++)
		err = depth_tap(cc, i, root, kd, value);
	return err < 0 ? err : root;
}

/*
 * Returns the shape of the two-dimensional convolution that CONV3D i becomes once its depth's taps are
 * channels: kind, kernel, strides, dilation and padding along y and x, zero points, and where the weights lie
 * (wt.wv). conv.part is set, since its input is made by nests.
 */
static struct node conv3d_shape(const struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_conv3d *a = &o->attr.conv3d;
	const weft_tensor *w = &cc->g->tensors[o->in[1]].t;
	struct node s = {
		.kind = NODE_CONV, .win.kh = (int)w->dim[2], .win.kw = (int)w->dim[3], .win.sy = a->stride[1], .win.sx = a->stride[2],
		.win.dy = a->dilation[1], .win.dx = a->dilation[2], .win.pt = a->pad[2], .win.pl = a->pad[4], .conv.m = 1,
		.x_zp = a->x_zp, .wt.w_zp = a->w_zp, .conv.part = true,
	};
	int64_t ic = w->dim[4];

	s.wt.wv = (struct wview){ .on = true, .oc = w->dim[1] * s.win.kh * s.win.kw * ic, .kd = (int64_t)s.win.kh * s.win.kw * ic,
	                       .ky = s.win.kw * ic, .kx = ic, .ic = 1, .n_ic = ic };
	return s;
}

/*
 * Match CONV3D i, of integers or float8: loop nests copy what its taps along the depth read side by side as
 * channels, and one convolution does the rest. Returns 1 if it was matched; 0 if there is no alu, the array
 * does not take its types or sizes, there is no tail (find_tail()), or the depth is padded and float8 weights
 * may be infinite or NaN, with the reason set; -ENOMEM; or -E2BIG (too many constants).
 */
int match_conv3d(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *w = &cc->g->tensors[o->in[1]].t, *y = &cc->g->tensors[o->out[0]].t;
	struct node s = conv3d_shape(cc, i);
	struct tail t;
	const char *why = bad_types(cc, i);

	if (why || !cc->has_alu)
		NO("%s by %s: %s", weft_dtype_name(x->dtype), weft_dtype_name(w->dtype), why ? why : "the depth cannot be joined");
	note_computed(cc, i, &s);
	if ((why = conv_limit(&s)) || (why = note_float(cc, i, &s, 0)) || (why = find_tail(cc, i, x->dtype, !s.wt.rec_computed, &t)))
		NO("%s", why);
	/* Zeros in front and behind make products, which are 0 of finite weights. */
	if (s.mode == WEFT_POST_MODE_FLOAT8 && !s.wt.w_finite && (o->attr.conv3d.pad[0] || o->attr.conv3d.pad[1]))
		NO("padded depth, and weights that are not finite or not constant");
	int64_t ic = w->dim[1] * x->dim[4];
	int err = weights_plain(cc, i, &s), in = err < 0 ? err : join_depth(cc, i), root = in >= 0 && s.wt.w_computed ? weights_computed(cc, i, &s, w->dim[0], ic) : in;
	if (root < 0)
		return root;
	struct node *nd = conv_node(cc, i, NODE_CONV, &t);
	if (!nd)
		return -ENOMEM;
	nd->x = view_dense(in, (int64_t[4]){ x->dim[0] * y->dim[1], x->dim[2], x->dim[3], ic }, (int64_t)weft_dtype_bytes(x->dtype));
	nd->x_t = -1;
	take_kernel(nd, &s);
	take_storage(cc, nd, root);
	return 1;
}

/* ---- MATMUL ---- */

/*
 * Returns the n-th matrix of a view of a rank 3 tensor as a view of one row of pixels: each row of the matrix
 * is a pixel, its columns are the channels.
 */
static struct view matrix(const struct view *v, int64_t n)
{
	struct view m = *v;

	m.off += n * v->step[1];
	m.dim[1] = 1;
	return m;
}

/*
 * Returns tensor t, or the tensor of which t is a RESHAPE or IDENTITY that costs nothing. The latter must have the matrices of t, which
 * has rank 3, as its last two dimensions and not more than one other dimension of several elements; and nobody but one operator
 * may read t.
 */
static int without_reshape(const struct cc *cc, int t)
{
	const weft_tensor *y = &cc->g->tensors[t].t;
	int i = cc->g->tensors[t].producer, several = 0;

	if (i < 0 || cc->ops[i].state != OP_ALIAS || cc->ten[t].n_uses != 1 || cc->g->tensors[t].is_output)
		return t;
	const weft_tensor *x = &cc->g->tensors[cc->g->ops[i].in[0]].t;
	for (int d = 0; d < x->rank - 2; d++)
		several += x->dim[d] > 1;
	bool same = x->rank >= 2 && several <= 1 && x->dim[x->rank - 1] == y->dim[2] && x->dim[x->rank - 2] == y->dim[1];
	return same ? cc->g->ops[i].in[0] : t;
}

/*
 * Set in shape s where the second matrices of MATMUL i lie, which are the weights of its products, and return how many bytes
 * lie between the first elements of two of them. If a TRANSPOSE, SLICE or REVERSE makes them that nobody else reads
 * (nest_view()), they are read from its operand instead: bringing weights into the array's order is a move of each
 * element in either case, or of whole words if the operand has the elements that a column of the array needs side by side.
 */
static int64_t second_matrices(const struct cc *cc, int i, struct node *s)
{
	const int b = cc->g->ops[i].in[1], t = without_reshape(cc, b);
	const weft_tensor *x = &cc->g->tensors[t].t, *y = &cc->g->tensors[b].t;
	int64_t stride[WEFT_MAX_RANK], step = y->dim[1] * y->dim[2];

	s->wt.wv = (struct wview){ .on = true, .oc = 1, .ic = y->dim[2], .n_ic = y->dim[1] };
	if (!s->wt.w_computed)
		return step;
	struct nest_operand v = nest_view(cc, t, false, stride);
	if (v.t == t)
		return step;
	s->wt.w = v.t;
	s->wt.wv.off = v.off - cc->ten[v.t].v.off;
	s->wt.wv.oc = stride[x->rank - 1];
	s->wt.wv.ic = stride[x->rank - 2];
	for (int d = 0; d < x->rank - 2; d++)
		if (x->dim[d] > 1)
			step = stride[d];
	return step;
}

/*
 * Add the node for the n-th product of matrices of MATMUL i, whose views are narrowed to the n-th matrices,
 * with its computed weights' nests if there are any. `shape` is what all products share, `step` how many bytes lie
 * between the weights of two of them; `last` says that
 * this is the operator's last node, else the node that is added next must follow. Returns 1, -ENOMEM or
 * -E2BIG (too many constants).
 */
static int add_product(struct cc *cc, int i, const struct node *shape, const struct tail *t, int64_t n, int64_t step, bool last)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *b = &cc->g->tensors[o->in[1]].t;
	struct node s = *shape;

	s.wt.wv.off += n * step;
	int root = s.wt.w_computed ? weights_computed(cc, i, &s, b->dim[2], b->dim[1]) : -1;
	if (s.wt.w_computed && root < 0)
		return root;
	struct node *nd = conv_node(cc, i, NODE_CONV, t);
	if (!nd)
		return -ENOMEM;
	set_input(cc, nd, o->in[0], 0, NULL);
	nd->x = matrix(&nd->x, n);
	nd->y = matrix(&nd->y, n);
	nd->dbg = matrix(&nd->dbg, n);
	take_kernel(nd, &s);
	take_storage(cc, nd, root);
	if (!last)
		precede(cc, nd);
	return 1;
}

#define MAX_PRODUCTS 64        /* more become dot products of the alu */
#define MAX_FLOAT_PRODUCTS 512

/*
 * Match MATMUL i of int8 or float8 as one 1x1 convolution for each pair of matrices, whose weights are the
 * second matrix, which must be constant unless there is the alu. There may be MAX_PRODUCTS pairs (float8:
 * MAX_FLOAT_PRODUCTS); raw sums, which no RESCALE alone reads, need at least N/2 rows in the first matrix.
 * Returns 1 if it was matched, 0 if not (the reason then is set), -ENOMEM or -E2BIG (too many constants).
 */
int match_matmul(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *a = &cc->g->tensors[o->in[0]].t, *b = &cc->g->tensors[o->in[1]].t;
	struct node s = { .kind = NODE_CONV, .win.kh = 1, .win.kw = 1, .win.sy = 1, .win.sx = 1, .win.dy = 1, .win.dx = 1, .conv.m = 1, .wt.bias = -1,
	                  .x_zp = o->attr.matmul.a_zp, .wt.w_zp = o->attr.matmul.b_zp, .conv.part = a->dim[0] > 1 };
	struct tail t;

	if (is_float8(a->dtype) ? bad_floats(cc, i) != NULL : a->dtype != WEFT_INT8 || b->dtype != WEFT_INT8)
		NO("%s by %s: the array takes int8 and int16 by int8, and float8", weft_dtype_name(a->dtype), weft_dtype_name(b->dtype));
	const char *why = !b->data && !cc->has_alu ? "both operands are computed" : find_tail(cc, i, a->dtype, true, &t);
	if (why)
		NO("%s", why);
	if (a->dim[0] > (t.is_float ? MAX_FLOAT_PRODUCTS : MAX_PRODUCTS) || (t.raw && a->dim[1] < cc->n / 2))
		NO("too many or too small matrices for the array");
	note_computed(cc, i, &s);
	if ((why = note_float(cc, i, &s, o->attr.matmul.log2_scale)))
		NO("%s", why);
	const int64_t step = second_matrices(cc, i, &s);
	int err = weights_plain(cc, i, &s);
	for (int64_t n = 0; n < a->dim[0] && err > 0; n++)
		err = add_product(cc, i, &s, &t, n, step, n == a->dim[0] - 1);
	return err;
}

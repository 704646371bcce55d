/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of operators that one NPU operation executes exactly. What matches nothing
 * runs on the host, with the reason.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match.h"
#include "userlib/compile/sequence/tfl.h"

/*
 * Set the reason for people why operator op runs where it does, formatted as by printf and cut after 159
 * characters; an earlier reason is freed and replaced. Returns 0, so that a matcher can return it as "no
 * match", or -ENOMEM with no reason left.
 */
int cc_reason(struct cc *cc, int op, const char *format, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	free(cc->ops[op].reason);
	cc->ops[op].reason = strdup(text);
	return cc->ops[op].reason ? 0 : -ENOMEM;
}

/*
 * Returns whether this configuration's array or vector engine computes with elements of this type: int8,
 * int16, float8 or fp16, as far as it has the mode.
 */
bool npu_type(const struct cc *cc, weft_dtype t)
{
	return (t == WEFT_INT8 && cc->cfg->has_int8) || (t == WEFT_INT16 && cc->cfg->has_int16) ||
	       (float_format(t) >= 0 && cc->cfg->has_fp8);
}

/* Returns whether the type is int8 or int16 and this configuration computes with it. */
bool npu_int(const struct cc *cc, weft_dtype t)
{
	return (t == WEFT_INT8 || t == WEFT_INT16) && npu_type(cc, t);
}

/*
 * Returns the number of the operator that computes tensor t if its opcode is op and its arguments are
 * constant; else -1.
 */
int made_by(const struct cc *cc, int t, weft_opcode op)
{
	int i = cc->g->tensors[t].producer;

	return i >= 0 && cc->g->ops[i].op == op && !is_dynamic(&cc->g->ops[i]) ? i : -1;
}

/*
 * Returns whether no operator but i reads tensor t, and t is no output of the graph. True also if nobody
 * reads it.
 */
bool read_only_by(const struct cc *cc, int t, int i)
{
	const struct cten *c = &cc->ten[t];

	if (cc->g->tensors[t].is_output)
		return false;
	for (int k = 0; k < c->n_uses; k++)
		if (cc->uses[c->first_use + k] != i)
			return false;
	return true;
}

/*
 * Returns the number of the operator that alone reads tensor t (perhaps as several operands) if its opcode is
 * op and its arguments are constant, and t is no output of the graph; else -1.
 */
int only_reader(const struct cc *cc, int t, weft_opcode op)
{
	const struct cten *c = &cc->ten[t];
	int i = c->n_uses ? cc->uses[c->first_use] : -1;

	return i >= 0 && cc->g->ops[i].op == op && !is_dynamic(&cc->g->ops[i]) && read_only_by(cc, t, i) ? i : -1;
}

/* Returns element i of a constant tensor of multipliers, which are int16 or int32. */
static int32_t mul_at(const weft_tensor *t, int64_t i)
{
	return t->dtype == WEFT_INT16 ? ((const int16_t *)t->data)[i] : ((const int32_t *)t->data)[i];
}

/*
 * Read RESCALE i into *r: its tensors of multipliers and shifts, zero points, whether it has more than one
 * scale (per_channel), and in r->s the first scale's multiplier, shift and rounding (DOUBLE_ROUND counts only
 * with scale32). Returns false, with *r unchanged, if the post unit cannot do it: it must be signed on both
 * sides, multipliers (int16 or int32) and shifts (int8) must be constants of the same number, multipliers not
 * negative, shifts within 2..62, and rounding to even needs the feature has_even.
 */
bool read_rescale(const struct cc *cc, int i, struct rescale *r)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_rescale *a = &o->attr.rescale;
	const weft_tensor *m = &cc->g->tensors[o->in[1]].t, *s = &cc->g->tensors[o->in[2]].t;

	if (a->x_unsigned || a->y_unsigned || !m->data || !s->data || s->dtype != WEFT_INT8 ||
	    (a->rounding == WEFT_EVEN_ROUND && !cc->has_even))
		return false;
	if (m->dtype != WEFT_INT32 && m->dtype != WEFT_INT16)
		return false;
	int64_t n = weft_tensor_elements(m);
	if (weft_tensor_elements(s) != n)
		return false;
	for (int64_t k = 0; k < n; k++) {
		int shift = ((const int8_t *)s->data)[k];
		if (mul_at(m, k) < 0 || shift < 2 || shift > 62)
			return false;
	}
	*r = (struct rescale){
		.op = i, .per_channel = a->per_channel && n > 1,
		.x_zp = a->x_zp, .y_zp = a->y_zp, .mul = o->in[1], .shift = o->in[2],
	};
	r->s = (struct scale){ (uint32_t)mul_at(m, 0), ((const int8_t *)s->data)[0], ROUND_UP };
	if (a->rounding == WEFT_EVEN_ROUND)
		r->s.round = ROUND_EVEN;
	else if (a->scale32 && a->rounding == WEFT_DOUBLE_ROUND)
		r->s.round = ROUND_TWICE;
	return true;
}

/*
 * Returns whether r is one scale for all channels whose multiplier is a power of two, 2^(shift + k) with k >=
 * 0, so that it shifts (x - x_zp) left by k bits. If so, *left is k, 0..28. The output's zero point r->y_zp is
 * not looked at. If the answer is false, *left is undefined.
 */
bool is_left_shift(const struct rescale *r, int *left)
{
	uint32_t m = r->s.mul;
	int bit = 0;

	if (r->per_channel || !m || (m & (m - 1)))
		return false;
	while (m >> (bit + 1))
		bit++;
	*left = bit - r->s.shift;
	/* DOUBLE_ROUND differs only for shifts above 31; with a multiplier of 31 bits those are no left shift. */
	return *left >= 0;
}

/*
 * If a CLAMP is the only reader of operator *last's result, fuse it: narrow the limits *lo and *hi to what
 * both clamps together let through, within the range of the result's type, and set *last to the CLAMP,
 * which the caller must claim. Otherwise nothing changes.
 */
void take_clamp(const struct cc *cc, int *last, int *lo, int *hi)
{
	int i = only_reader(cc, cc->g->ops[*last].out[0], WEFT_OP_CLAMP);

	if (i < 0)
		return;
	const struct weft_attr_clamp *a = &cc->g->ops[i].attr.clamp;
	int64_t lowest = type_lowest(type_of(cc, cc->g->ops[i].out[0])), highest = -1 - lowest;
	int64_t l = max64(min64(a->min, highest), lowest), h = max64(min64(a->max, highest), lowest);
	/* clamp(clamp(v, lo, hi), l, h) is one clamp with both limits taken into l..h */
	*lo = (int)max64(l, min64(*lo, h));
	*hi = (int)max64(l, min64(*hi, h));
	*last = i;
}

/*
 * Let the node write the result of operator `last`: sets last, y_tensor, the view y and the view dbg, in
 * which debug records number the elements.
 */
void set_output(const struct cc *cc, struct node *nd, int last)
{
	int64_t dim[4];

	nd->last = last;
	nd->y_tensor = cc->g->ops[last].out[0];
	nd->y = cc->ten[nd->y_tensor].v;
	view_dims(&cc->g->tensors[nd->y_tensor].t, dim);
	nd->dbg = view_dense(nd->y_tensor, dim, view_elem(&nd->y));
}

/*
 * Add a node of this kind that is named after operator op and writes the result of operator `last`. Both
 * operators are claimed for it; operators between them are the caller's. Its arithmetic is int16's if an
 * element of the result has two bytes, else int8's. Returns the node, or NULL if there is no memory. Pointers
 * to other nodes are invalid afterwards.
 */
struct node *new_node(struct cc *cc, enum node_kind kind, int op, int last)
{
	weft_dtype type = type_of(cc, cc->g->ops[last].out[0]);
	struct node *nd = cc_new_node(cc, kind, weft_dtype_bytes(type) == 2 ? 2 : 1);

	if (!nd)
		return NULL;
	nd->op = op;
	set_output(cc, nd, last);
	claim(cc, op, nd);
	claim(cc, last, nd);
	return nd;
}

/* Note that node nd computes operator op: its state becomes OP_NODE. */
void claim(struct cc *cc, int op, const struct node *nd)
{
	cc->ops[op].state = OP_NODE;
	cc->ops[op].node = (int)(nd - cc->nodes);
}

/*
 * Set *v to the view by which the result of SLICE i can be read in the storage of its operand. Returns false
 * if that is not possible, because the operand has no view, its root is a constant, or the rank is above 4;
 * *v then is unchanged.
 */
static bool slice_view(const struct cc *cc, int i, struct view *v)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct view *x = &cc->ten[o->in[0]].v;
	const weft_tensor *y = &cc->g->tensors[o->out[0]].t;

	if (x->root < 0 || y->rank > 4 || cc->g->tensors[x->root].t.data)
		return false;
	*v = *x;
	view_dims(y, v->dim);
	for (int k = 0; k < y->rank; k++)
		v->off += o->attr.slice.start[k] * v->step[4 - y->rank + k];
	return true;
}

/*
 * If PAD i pads only rows and columns of a tensor of rank 4 that has a view, and with this value, add its
 * padding to pads[4] (top, bottom, left, right), so that a node can do it as its own padding. Returns true
 * then; false, with pads unchanged, if it pads anything else, a padding is negative or a sum exceeds 32767.
 */
static bool pad_folds(const struct cc *cc, int i, int value, int pads[4])
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_pad *a = &o->attr.pad;
	int sum[4];

	if (cc->g->tensors[o->out[0]].t.rank != 4 || a->value != value || cc->ten[o->in[0]].v.root < 0)
		return false;
	if (a->before[0] || a->after[0] || a->before[3] || a->after[3])
		return false;
	for (int k = 0; k < 4; k++) {
		int64_t p = k & 1 ? a->after[1 + k / 2] : a->before[1 + k / 2];
		if (p < 0 || p + pads[k] > INT16_MAX)
			return false;
		sum[k] = pads[k] + (int)p;
	}
	memcpy(pads, sum, sizeof sum);
	return true;
}

/*
 * Returns the tensor of rank 4 that tensor t only is under another name: operators that are views of their operands
 * (OP_ALIAS) and leave its shape as it is are passed over, as the RESHAPE is that stands behind each STRIDED_SLICE of
 * TensorFlow Lite. The result is t itself if no such operator makes it.
 */
static int same_tensor(const struct cc *cc, int t)
{
	for (int i; (i = cc->g->tensors[t].producer) >= 0 && cc->ops[i].state == OP_ALIAS; t = cc->g->ops[i].in[0]) {
		const weft_tensor *x = &cc->g->tensors[cc->g->ops[i].in[0]].t, *y = &cc->g->tensors[t].t;

		if (x->rank != 4 || y->rank != 4 || memcmp(x->dim, y->dim, 4 * sizeof *x->dim))
			break;
	}
	return t;
}

/*
 * Returns the view by which a node reads tensor *t. If a SLICE makes *t and its operand can be read in place,
 * that is a view of the operand, and *t becomes the operand.
 */
static struct view input_view(const struct cc *cc, int *t)
{
	struct view v = cc->ten[*t].v;
	int i = made_by(cc, same_tensor(cc, *t), WEFT_OP_SLICE);

	if (i >= 0 && slice_view(cc, i, &v))
		*t = cc->g->ops[i].in[0];
	return v;
}

/*
 * Read through SLICE i, if its operand comes from a PAD that pad_folds() accepts with this value, the SLICE
 * keeps all images and channels, and it begins within the padding above and to the left and ends behind it.
 * Then what the SLICE leaves of that padding is added to pads[0] (top) and pads[2] (left), *t becomes the
 * PAD's operand, limit[0] and limit[1] become how many of the operand's rows and columns the SLICE can
 * reach, and true is returned. Returns false, with nothing changed, otherwise.
 */
static bool slice_of_pad(const struct cc *cc, int i, int value, int pads[4], int *t, int64_t limit[2])
{
	const struct weft_gop *o = &cc->g->ops[i];
	const int64_t *start = o->attr.slice.start;
	const weft_tensor *in = &cc->g->tensors[o->in[0]].t, *out = &cc->g->tensors[o->out[0]].t;
	int pad = made_by(cc, o->in[0], WEFT_OP_PAD);
	int before[4] = { pads[0], pads[1], pads[2], pads[3] };

	if (pad < 0 || in->rank != 4 || start[0] || start[3] || in->dim[0] != out->dim[0] || in->dim[3] != out->dim[3])
		return false;
	if (!pad_folds(cc, pad, value, before))
		return false;
	int64_t py = before[0] - pads[0] - start[1], px = before[2] - pads[2] - start[2];
	if (py < 0 || px < 0 || out->dim[1] <= py || out->dim[2] <= px)
		return false;
	limit[0] = out->dim[1] - py;
	limit[1] = out->dim[2] - px;
	pads[0] += (int)py;
	pads[2] += (int)px;
	*t = cc->g->ops[pad].in[0];
	return true;
}

/*
 * If i is a SLICE of rows and columns only, and SLICEs of rows and columns only make its operand one after another: set
 * start[0] and start[1] to the row and the column of the operand of the first of these SLICEs at which the result of i
 * begins, and return that operand. Operators that change nothing (same_tensor()) may stand in front of each of them.
 * Returns -1, with start undefined, if any of the SLICEs cuts images or channels, or if the rank is not 4.
 */
static int before_slices(const struct cc *cc, int i, int64_t start[2])
{
	int t = -1;

	start[0] = start[1] = 0;
	for (; i >= 0; i = made_by(cc, t, WEFT_OP_SLICE)) {
		const struct weft_gop *o = &cc->g->ops[i];
		const weft_tensor *in = &cc->g->tensors[o->in[0]].t, *out = &cc->g->tensors[o->out[0]].t;
		const int64_t *from = o->attr.slice.start;

		if (in->rank != 4 || from[0] || from[3] || in->dim[0] != out->dim[0] || in->dim[3] != out->dim[3])
			return -1;
		start[0] += from[1];
		start[1] += from[2];
		t = same_tensor(cc, o->in[0]);
	}
	return t;
}

/*
 * If i is a SLICE of rows and columns of a PAD of rows and columns with this value, perhaps with other such SLICEs between
 * them, and begins behind the padding above and to the left: set *v to the view of the PAD's operand that begins there and
 * ends with the SLICE or with the operand, whichever is first, so that padding below and to the right that the SLICE keeps
 * is not in *v. *t becomes that operand. Returns false, with nothing changed, otherwise, or if the operand is
 * a constant.
 */
static bool view_behind_pad(const struct cc *cc, int i, int value, int *t, struct view *v)
{
	const weft_tensor *out = &cc->g->tensors[cc->g->ops[i].out[0]].t;
	int64_t start[2];
	int padded = before_slices(cc, i, start), pad = padded < 0 ? -1 : made_by(cc, padded, WEFT_OP_PAD), before[4] = { 0 };

	if (pad < 0 || !pad_folds(cc, pad, value, before))
		return false;
	struct view x = cc->ten[cc->g->ops[pad].in[0]].v;
	int64_t y0 = start[0] - before[0], x0 = start[1] - before[2];
	if (y0 < 0 || x0 < 0 || y0 >= x.dim[1] || x0 >= x.dim[2] || cc->g->tensors[x.root].t.data)
		return false;
	x.off += y0 * x.step[1] + x0 * x.step[2];
	x.dim[1] = min64(x.dim[1] - y0, out->dim[1]);
	x.dim[2] = min64(x.dim[2] - x0, out->dim[2]);
	*v = x;
	*t = cc->g->ops[pad].in[0];
	return true;
}

/*
 * Find the view by which a node can read tensor *t through what makes it. That is one of: a pool that only
 * leaves out rows and columns (pool_is_stride()) and is in no node; a SLICE behind a PAD with this value
 * (view_behind_pad()); or such a pool behind such a SLICE. A plain SLICE in front of the pool is read through
 * as well. *t becomes the operand of the first of these operators, and *v its view, without rows and columns
 * at the end that would be padding. Returns false, with nothing changed, if nothing of this kind makes *t, or
 * if the operand has no view or is a constant.
 */
static bool strided_view(const struct cc *cc, int value, int *t, struct view *v)
{
	int pool = cc->g->tensors[*t].producer;
	bool strides = pool >= 0 && cc->ops[pool].state == OP_TODO && pool_is_stride(cc, pool);
	int from = strides ? cc->g->ops[pool].in[0] : *t, slice = made_by(cc, same_tensor(cc, from), WEFT_OP_SLICE);

	if (slice < 0 || !view_behind_pad(cc, slice, value, &from, v)) {
		if (!strides || cc->ten[from].v.root < 0 || cc->g->tensors[cc->ten[from].v.root].t.data)
			return false;
		*v = input_view(cc, &from);
	}
	*t = from;
	if (!strides)
		return true;
	for (int d = 1; d < 3; d++) {
		int64_t stride = cc->g->ops[pool].attr.pool.stride[d - 1];
		v->dim[d] = min64(ceil_div(v->dim[d], stride), cc->g->tensors[cc->g->ops[pool].out[0]].t.dim[d]);
		v->step[d] *= stride;
	}
	return true;
}

/*
 * Let the node read tensor t as its input x. If a SLICE makes t, the node reads the SLICE's operand in
 * place. If `pads` (top, bottom, left, right) is not NULL, a PAD of rows and columns with pad_value in
 * front is read through as well, and its padding added to pads; so is a PAD with a SLICE behind it, of
 * which only top and left are added to pads, and the rows and columns of x are cut to those that the SLICE
 * keeps; and so is a pool that only leaves out rows and columns (strided_view()). Sets x and x_t (the tensor
 * that is read in the end); the operators read through are not claimed.
 */
void set_input(const struct cc *cc, struct node *nd, int t, int pad_value, int pads[4])
{
	int from = same_tensor(cc, t), pad = pads ? made_by(cc, from, WEFT_OP_PAD) : -1, slice = pads ? made_by(cc, from, WEFT_OP_SLICE) : -1;
	int64_t limit[2] = { INT64_MAX, INT64_MAX };

	nd->x_t = t;
	if (pads && strided_view(cc, pad_value, &nd->x_t, &nd->x))
		return;
	if (pad >= 0 && pad_folds(cc, pad, pad_value, pads))
		t = cc->g->ops[pad].in[0];
	else if (slice >= 0)
		slice_of_pad(cc, slice, pad_value, pads, &t, limit);
	nd->x = input_view(cc, &t);
	nd->x.dim[1] = min64(nd->x.dim[1], limit[0]);
	nd->x.dim[2] = min64(nd->x.dim[2], limit[1]);
	nd->x_t = t;
}

/*
 * Let the node read tensor t as its second operand r. If a SLICE makes t, the node reads the SLICE's operand
 * in place. Sets r and r_t.
 */
void set_second(const struct cc *cc, struct node *nd, int t)
{
	nd->r = input_view(cc, &t);
	nd->r_t = t;
}

/* Returns whether the first operand of operator i is float8 or fp16. */
static bool is_float(const struct cc *cc, int i)
{
	return cc->g->ops[i].n_in && float_format(type_of(cc, cc->g->ops[i].in[0])) >= 0;
}

/*
 * Offer operator i, whose operand is float8 or fp16, to the matcher for its opcode. Returns 1 if it has
 * become a node, 0 if not (with a reason if there is a matcher for the opcode), or a negative errno.
 */
static int match_float(struct cc *cc, int i)
{
	switch (cc->g->ops[i].op) {
	case WEFT_OP_CONV2D:
	case WEFT_OP_DEPTHWISE_CONV2D:
	case WEFT_OP_POPXL_CONV_POW2SCALED:
		return match_float_conv(cc, i);
	case WEFT_OP_TRANSPOSE_CONV2D:
		return match_transpose_conv(cc, i);
	case WEFT_OP_CONV3D:
		return match_conv3d(cc, i);
	case WEFT_OP_MATMUL:
	case WEFT_OP_POPXL_MATMUL_POW2SCALED:
		return match_float_matmul(cc, i);
	case WEFT_OP_AVG_POOL2D:
	case WEFT_OP_MAX_POOL2D:
		return match_float_pool(cc, i);
	case WEFT_OP_ADD:
		return match_float_add(cc, i);
	default:
		return 0;
	}
}

/*
 * First pass: offer operator i to the matcher for patterns that begin with its opcode, such as CONV2D with
 * RESCALE and CLAMP behind; operators whose first operand is float8 or fp16 go to match_float(). Returns 1 if
 * it has become a node, 0 if not, or a negative errno. With 0 the reason is set, unless no matcher is called
 * for the opcode, or the operator is a MUL, an ADD or SUB with a single int8 number, left to tables, or, where
 * there is an alu, a pool that only leaves out rows and columns, left to its readers (match_pool()).
 */
static int match_one(struct cc *cc, int i)
{
	if (is_float(cc, i))
		return match_float(cc, i);
	switch (cc->g->ops[i].op) {
	case WEFT_OP_CONV2D:
	case WEFT_OP_DEPTHWISE_CONV2D:
		return match_conv(cc, i);
	case WEFT_OP_TRANSPOSE_CONV2D:
		return match_transpose_conv(cc, i);
	case WEFT_OP_CONV3D:
		return match_conv3d(cc, i);
	case WEFT_OP_MATMUL:
		return match_matmul(cc, i);
	case WEFT_OP_AVG_POOL2D:
	case WEFT_OP_MAX_POOL2D:
		return match_pool(cc, i);
	case WEFT_OP_ADD:
	case WEFT_OP_SUB:
		return match_add(cc, i);
	case WEFT_OP_MUL:
		return match_product(cc, i);
	case WEFT_OP_REDUCE_SUM:
		return match_mean(cc, i);
	default:
		return 0;
	}
}

/*
 * Second pass, for what larger patterns have left: a function of one byte that can join the node that makes
 * its operand (match_function() with `behind`); then CLAMP, RESCALE, RESIZE or TILE on its own; then, but not
 * for RESIZE and TILE, any function of one byte. Returns 1 if operator i has become a node, 0 if not, or a
 * negative errno.
 */
static int match_rest(struct cc *cc, int i)
{
	int err = match_function(cc, i, true);

	if (err)
		return err;
	switch (cc->g->ops[i].op) {
	case WEFT_OP_CLAMP:
		err = is_float(cc, i) ? match_float_unary(cc, i) : match_unary(cc, i);
		break;
	case WEFT_OP_RESCALE:
		err = match_unary(cc, i);
		break;
	case WEFT_OP_RESIZE:
		return match_resize(cc, i);
	case WEFT_OP_TILE:
		return match_repeat(cc, i);
	default:
		break;
	}
	return err ? err : match_function(cc, i, false);
}

/*
 * Third pass: a CAST from or to floats that no earlier pass has taken becomes a node of its own. Returns 1 if
 * operator i has become a node, 0 if not (with a reason if it is a CAST), or a negative errno.
 */
static int match_casts(struct cc *cc, int i)
{
	weft_opcode op = cc->g->ops[i].op;

	return op == WEFT_OP_CAST || op == WEFT_OP_ONNX_CAST ? match_float_unary(cc, i) : 0;
}

/*
 * Call fn for every operator that no stage has taken yet (OP_TODO; aliases and constants are taken) and that is
 * not forbidden, in the graph's order. Returns 0, or the first negative value that fn returns; positive ones count
 * as success.
 */
static int run_pass(struct cc *cc, int (*fn)(struct cc *, int))
{
	for (int i = 0; i < cc->g->n_ops; i++) {
		int err = cc->ops[i].state == OP_TODO && !cc->ops[i].forbidden ? fn(cc, i) : 0;
		if (err < 0)
			return err;
	}
	return 0;
}

/*
 * Pass before all others: offer every operator that no stage has taken yet (OP_TODO) and that is not forbidden to
 * match_island(), from the last operator to the first, since a later one may take earlier ones into its island of
 * floats. Returns 0 or the first negative errno.
 */
static int match_islands(struct cc *cc)
{
	for (int i = cc->g->n_ops - 1; i >= 0; i--) {
		int err = cc->ops[i].state == OP_TODO && !cc->ops[i].forbidden ? match_island(cc, i) : 0;
		if (err < 0)
			return err;
	}
	return 0;
}

/*
 * Returns the tensor that must be there for operator i to read its operand k. That is the operand itself,
 * unless i is a CONCAT that match_concat() will take and the operand is made by a SLICE that can be read in
 * place: then it is the SLICE's operand.
 */
static int read_in_place(const struct cc *cc, int i, int k)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int t = o->in[k], slice = made_by(cc, t, WEFT_OP_SLICE);
	struct view v;

	if (o->op != WEFT_OP_CONCAT || slice < 0 || cc->ops[slice].state != OP_TODO || cc->ops[i].forbidden ||
	    !npu_type(cc, type_of(cc, o->out[0])) || cc->g->tensors[o->out[0]].t.rank > 4 || !slice_view(cc, slice, &v))
		return t;
	return cc->g->ops[slice].in[0];
}

/*
 * Returns whether operators that run on the host read tensor t, and no node does, as operators behind its maker have
 * been matched and needed[] says; t is no output. Views of t, and operators that all their readers read through, read
 * nothing themselves: their readers count.
 */
static bool host_alone_reads(const struct cc *cc, int t, const bool *needed)
{
	const struct cten *c = &cc->ten[t];
	bool host = c->n_uses > 0 && !cc->g->tensors[t].is_output;

	for (int k = 0; k < c->n_uses && host; k++) {
		const int i = cc->uses[c->first_use + k];
		const enum op_state state = cc->ops[i].state;
		const bool through = state == OP_ALIAS || (state == OP_TODO && !cc_is_wanted(&cc->g->ops[i], needed));
		host = through ? host_alone_reads(cc, cc->g->ops[i].out[0], needed) : state == OP_TODO;
	}
	return host;
}

/*
 * Returns whether operator i had better run on the host although the alu could do it: it moves or selects float32
 * elements, with which the alu does not compute, and only the host reads its result. Its operands are mostly the
 * host's as well, so that a node would add two switches between host and device; if a node makes an operand, there
 * is one switch either way.
 */
static bool moves_for_host(const struct cc *cc, int i, const bool *needed)
{
	const struct weft_gop *o = &cc->g->ops[i];

	switch (o->op) {
	case WEFT_OP_SELECT: case WEFT_OP_SLICE: case WEFT_OP_TRANSPOSE: case WEFT_OP_REVERSE: case WEFT_OP_TILE: case WEFT_OP_PAD:
	case WEFT_OP_GATHER: case WEFT_OP_SCATTER: case WEFT_OP_CONCAT:
		return type_of(cc, o->out[0]) == WEFT_FP32 && host_alone_reads(cc, o->out[0], needed);
	default:
		return false;
	}
}

/*
 * Make operator i a loop nest by match_alu() if needed[] is set for a result of it, nothing has taken it yet
 * and it is not forbidden and moves_for_host() does not hold. needed[t] is then set for all tensors t that the new nodes read. An operator that
 * is wanted but ends in no node, such as an alias or one that the host runs, sets needed[] for all its
 * operands, or what they are parts of (read_in_place()). Operators that are not wanted or are already in a
 * node are left alone. Returns 1 if it has become a node, 0 if not, or a negative errno.
 */
static int match_needed(struct cc *cc, int i, bool *needed)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int nodes = cc->n_nodes;

	if (!cc_is_wanted(o, needed) || (cc->ops[i].state != OP_TODO && cc->ops[i].state != OP_ALIAS))
		return 0;
	int err = 0;
	if (cc->ops[i].state == OP_TODO && !cc->ops[i].forbidden)
		err = moves_for_host(cc, i, needed) ? cc_reason(cc, i, "only the host reads its floats") : match_alu(cc, i);
	cc_need_operands(cc, nodes, needed);
	for (int k = 0; k < o->n_in && cc->ops[i].state != OP_NODE; k++)
		needed[read_in_place(cc, i, k)] = true;
	return err;
}

/*
 * Make loop nests of the operators that are left and needed: outputs, and what nodes or operators that end
 * in no node read. It goes from the last operator to the first, so that readers come before what they read:
 * an operator that all its readers read through (such as SLICE) is then needed by nobody and gets no node.
 * Returns 0 or a negative errno.
 */
static int match_rest_on_alu(struct cc *cc)
{
	bool *needed = calloc((size_t)cc->g->n_tensors + 1, 1);
	int err = needed ? 0 : -ENOMEM;

	for (int i = 0; i < cc->g->n_outputs && needed; i++)
		needed[cc->g->outputs[i]] = true;
	if (needed)
		cc_need_operands(cc, 0, needed);
	for (int i = cc->g->n_ops - 1; i >= 0 && err >= 0; i--)
		err = match_needed(cc, i, needed);
	free(needed);
	return err < 0 ? err : 0;
}

/*
 * If the network has no operators but RESHAPE, IDENTITY and constants, make each of them that is not
 * forbidden a copy on the device (match_same()), since such a network would otherwise have no node at all.
 * Other networks are left alone. Returns 0 or a negative errno.
 */
static int match_shapes(struct cc *cc)
{
	int err = 0;

	for (int i = 0; i < cc->g->n_ops; i++)
		if (cc->ops[i].state != OP_NONE && cc->g->ops[i].op != WEFT_OP_RESHAPE && cc->g->ops[i].op != WEFT_OP_IDENTITY)
			return 0;
	for (int i = 0; i < cc->g->n_ops && err >= 0; i++)
		err = cc->ops[i].forbidden ? 0 : match_same(cc, i);
	return err < 0 ? err : 0;
}

/*
 * Last pass: offer operator i to match_concat() if it is a CONCAT. With more than 20000 nodes no CONCAT is
 * matched, since each operand of it would look at all nodes. Returns 1 if it was matched, 0 if not, or a
 * negative errno.
 */
static int match_concats(struct cc *cc, int i)
{
	if (cc->g->ops[i].op != WEFT_OP_CONCAT || cc->n_nodes > 20000)
		return 0;
	return match_concat(cc, i);
}

/*
 * Returns whether nothing but depthwise node nd reads tensor t, be it through one PAD that nothing else reads.
 */
static bool read_by_node(const struct cc *cc, int t, const struct node *nd)
{
	int pad = only_reader(cc, t, WEFT_OP_PAD);

	return read_only_by(cc, t, nd->op) || (pad >= 0 && cc->ops[pad].state == OP_TODO && read_only_by(cc, cc->g->ops[pad].out[0], nd->op));
}

/* Returns whether two views see the same elements. */
static bool same_view(const struct view *a, const struct view *b)
{
	return a->root == b->root && a->off == b->off && !memcmp(a->dim, b->dim, sizeof a->dim) && !memcmp(a->step, b->step, sizeof a->step);
}

/*
 * Returns the number of the node whose table node nd, if it is depthwise and reads int8, can look up itself: that node makes
 * all that nd reads, nothing else reads that, and its limits cut nothing off. -1 if there is none; also for an average, since
 * pooling commands, which have no table, make what the image cuts of it (sum_on_dw()).
 */
static int table_before(const struct cc *cc, const struct node *nd)
{
	if (nd->kind != NODE_DW || nd->conv.average || nd->mode != WEFT_POST_MODE_INT8 || nd->add || nd->x_t < 0)
		return -1;
	int i = cc->g->tensors[nd->x_t].producer;
	if (i < 0 || cc->ops[i].state != OP_NODE || !read_by_node(cc, nd->x_t, nd))
		return -1;
	const struct node *e = &cc->nodes[cc->ops[i].node];
	return e->kind == NODE_ELT && by_table(e) && e->mode == WEFT_POST_MODE_INT8 && e->y_tensor == nd->x_t && same_view(&e->y, &nd->x) &&
	       !memcmp(e->x.dim, e->y.dim, sizeof e->x.dim) && e->post.y_min == INT8_MIN && e->post.y_max == INT8_MAX ? cc->ops[i].node : -1;
}

/*
 * Remove the nodes for which gone[] is set, which no operator may name. The others close up, and number[], with room for one
 * of each node, becomes their new numbers.
 */
static void drop_nodes(struct cc *cc, const bool *gone, int *number)
{
	int n = 0;

	for (int k = 0; k < cc->n_nodes; k++) {
		number[k] = n;
		if (!gone[k])
			cc->nodes[n++] = cc->nodes[k];
	}
	cc->n_nodes = n;
	for (int i = 0; i < cc->g->n_ops; i++)
		if (cc->ops[i].state == OP_NODE)
			cc->ops[i].node = number[cc->ops[i].node];
	for (int k = 0; k < n; k++)
		if (cc->nodes[k].before)
			cc->nodes[k].before = 1 + number[cc->nodes[k].before - 1];
}

/*
 * Where a table's result is read by a depthwise node alone, let that node look its input up and take over the table's
 * operators, so that the result is never written. It needs the feature has_dwtable; with the option no_fuse nothing
 * happens. Returns 0 or -ENOMEM.
 */
static int join_tables(struct cc *cc)
{
	if (!cc->has_dwtable || cc->o->no_fuse || !cc->n_nodes)
		return 0;
	bool *gone = calloc((size_t)cc->n_nodes, sizeof *gone);
	int *number = malloc((size_t)cc->n_nodes * sizeof *number), *into = malloc((size_t)cc->n_nodes * sizeof *into);

	for (int k = 0; k < cc->n_nodes && gone && number && into; k++) {
		struct node *nd = &cc->nodes[k];
		int from = table_before(cc, nd);
		if (from < 0)
			continue;
		const struct node *e = &cc->nodes[from];
		/* A PAD in between becomes a part of the node, which otherwise would wait for itself. */
		int pad = only_reader(cc, nd->x_t, WEFT_OP_PAD);
		if (pad >= 0 && cc->ops[pad].state == OP_TODO) {
			cc->ops[pad].state = OP_NODE;
			cc->ops[pad].node = k;
		}
		nd->x = e->x;
		nd->x_t = e->x_t;
		nd->r = e->r;
		nd->r_t = e->r_t;
		nd->add = nd->conv.table = true;
		gone[from] = true;
		into[from] = k;
	}
	int err = gone && number && into ? 0 : -ENOMEM;
	for (int i = 0; i < cc->g->n_ops && !err; i++)
		if (cc->ops[i].state == OP_NODE && gone[cc->ops[i].node])
			cc->ops[i].node = into[cc->ops[i].node];
	if (!err)
		drop_nodes(cc, gone, number);
	free(gone);
	free(number);
	free(into);
	return err;
}

/*
 * Second stage: group the graph's operators into nodes, in passes from the largest patterns to single operators;
 * each pass takes what the ones before have left: islands of floats (not with no_fuse), patterns by opcode,
 * functions of one tensor, casts, tables in front of depthwise nodes (join_tables()), with the alu everything that a loop nest can do and the copies of a network that
 * only changes shapes (match_shapes()), and CONCAT. Before these, tfl_leave_ends() forbids what the host does
 * better at the network's end. With the option host_only nothing is matched. Operators that match nothing keep the
 * state OP_TODO and run on the host; aliases keep theirs. Returns 0 or a negative errno (-ENOMEM, or -E2BIG: too
 * many constants).
 */
int cc_match(struct cc *cc)
{
	int err = 0;

	if (cc->o->host_only)
		return 0;
	if ((err = tfl_leave_ends(cc)) || (!cc->o->no_fuse && (err = match_islands(cc))))
		return err;
	if ((err = run_pass(cc, match_one)) || (err = run_pass(cc, match_rest)) || (err = run_pass(cc, match_casts)) || (err = join_tables(cc)))
		return err;
	if (cc->has_alu && ((err = match_rest_on_alu(cc)) || (err = match_shapes(cc))))
		return err;
	return run_pass(cc, match_concats);
}

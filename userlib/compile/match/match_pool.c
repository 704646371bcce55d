/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pooling, and the mean that importers write as RESCALE, REDUCE_SUM over y
 * and x, RESCALE.
 *
 * Source: TOSA 1.0, AVG_POOL2D, MAX_POOL2D, REDUCE_SUM, RESCALE.
 */
#include <errno.h>
#include <string.h>

#include "match.h"

/* An average goes to the depthwise engine where that reads at least one of so many elements less: it needs weights and
 * parameters, which pooling does not. Not measured. */
#define AVERAGE_PART 5

/*
 * Set the node's kernel, stride and padding (above and to the left) from the attributes of a pooling operator. Its
 * dilation stays as it is.
 */
void set_pool_window(struct node *nd, const struct weft_attr_pool *a)
{
	nd->win.kh = a->kernel[0];
	nd->win.kw = a->kernel[1];
	nd->win.sy = a->stride[0];
	nd->win.sx = a->stride[1];
	nd->win.pt = a->pad[0];
	nd->win.pl = a->pad[2];
}

/*
 * Returns whether operator i is a pool of int8 or int16, whichever the configuration has, that does nothing but
 * leave out rows and columns: its window is one pixel without padding, and an average has the same zero point
 * for input and result. Strides of 1 count, too. False also if its arguments come as the network runs, or if a
 * CLAMP alone reads it, which becomes part of its node.
 */
bool pool_is_stride(const struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_pool *a = &o->attr.pool;

	if ((o->op != WEFT_OP_AVG_POOL2D && o->op != WEFT_OP_MAX_POOL2D) || is_dynamic(o) || !npu_int(cc, type_of(cc, o->in[0])))
		return false;
	bool padded = a->pad[0] || a->pad[1] || a->pad[2] || a->pad[3];
	return a->kernel[0] == 1 && a->kernel[1] == 1 && !padded && (o->op == WEFT_OP_MAX_POOL2D || a->x_zp == a->y_zp) &&
	       only_reader(cc, o->out[0], WEFT_OP_CLAMP) < 0;
}

/*
 * Make pooling node nd a depthwise convolution with ones (NODE_DW with conv.average) if it averages over
 * windows that overlap along both axes and that saves reads, since the depthwise engine reads each element
 * once where pooling reads it once for each window: it must leave at most AVERAGE_PART - 1 of AVERAGE_PART of
 * the reads. conv_is_dw() must allow it, and the input be int8 or have zero point 0. When it is emitted,
 * windows that the image cuts stay with pooling (emit_vector.c). Other nodes are left alone.
 */
static void sum_on_dw(const struct cc *cc, struct node *nd)
{
	struct node dw = *nd;

	if (!nd->pool.average || nd->win.sy >= nd->win.kh || nd->win.sx >= nd->win.kw || (nd->mode != WEFT_POST_MODE_INT8 && nd->x_zp))
		return;
	dw.kind = NODE_DW;
	memset(&dw.conv, 0, sizeof dw.conv);
	dw.conv.m = 1;
	dw.conv.average = true;
	/* Reads for each block of channels, as emit_vector.c counts them. */
	int64_t oh = nd->y.dim[1], ow = nd->y.dim[2], kh = nd->win.kh, kw = nd->win.kw;
	if (!conv_is_dw(cc, &dw, oh * ow, false))
		return;
	int64_t rows = dw_by_row(&dw) ? oh * kh : (oh - 1) * nd->win.sy + 3, cols = (ow - 1) * nd->win.sx + max64(kw, 3);
	if (rows * cols * AVERAGE_PART > oh * ow * kh * kw * (AVERAGE_PART - 1))
		return;
	dw.wt.w = WEIGHTS_ONE;
	dw.post.a = cc_reciprocal((int64_t)nd->win.kh * nd->win.kw);
	dw.post.round = ROUND_UP;
	*nd = dw;
}

/*
 * Returns the number of the PAD that makes tensor t or, if a SLICE makes t, the SLICE's operand; -1 if there
 * is none.
 */
static int pad_before(const struct cc *cc, int t)
{
	int slice = made_by(cc, t, WEFT_OP_SLICE);

	return made_by(cc, slice >= 0 ? cc->g->ops[slice].in[0] : t, WEFT_OP_PAD);
}

/*
 * Returns whether each window of the node, whose views are set, has a row and a column of its input, if pads[0] rows and
 * pads[2] columns of padding lie before it.
 */
static bool windows_meet(const struct node *nd, const struct weft_attr_pool *a, const int pads[4])
{
	for (int d = 0; d < 2; d++)
		if (pads[2 * d] >= a->kernel[d] || (nd->y.dim[1 + d] - 1) * a->stride[d] - pads[2 * d] >= nd->x.dim[1 + d])
			return false;
	return true;
}

/*
 * Match operator i, AVG_POOL2D or MAX_POOL2D of int8 or int16, with the CLAMP behind it if there is one, as a
 * pooling node, or an average over windows that overlap as a depthwise one (sum_on_dw()); a SLICE in front is read
 * through. Only an average has zero points; it divides by the taps inside the image. A maximum also reads through
 * a PAD of rows and columns in front, or one of which a SLICE leaves a part, and takes its padding as the node's
 * own, if each window then still holds a pixel of the input and the PAD's value is the least one of the type; any
 * value will do if the operator itself has no padding. Returns 1 if it was matched, 0 if its type is another one
 * or one that the configuration does not have, or its kernel above 65535 (the reason then is set), or -ENOMEM.
 */
int match_pool_alone(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_pool *a = &o->attr.pool;

	weft_dtype type = type_of(cc, o->in[0]);

	if (!npu_type(cc, type))
		return cc_reason(cc, i, "%s: the engine takes int8 and int16", weft_dtype_name(type));
	if (a->kernel[0] > 65535 || a->kernel[1] > 65535)
		return cc_reason(cc, i, "kernel above 65535");
	/* A sum of 2^31/255 elements may wrap; TOSA forbids it, we need not decide. */
	int last = i, lo = type_lowest(type), hi = -1 - lo;
	take_clamp(cc, &last, &lo, &hi);
	struct node *nd = new_node(cc, NODE_POOL, i, last);
	if (!nd)
		return -ENOMEM;
	set_pool_window(nd, a);
	int pads[4] = { a->pad[0], a->pad[1], a->pad[2], a->pad[3] }, value = type_lowest(type), pad = pad_before(cc, o->in[0]);
	bool padded = o->op == WEFT_OP_MAX_POOL2D && pad >= 0;
	if (padded && !a->pad[0] && !a->pad[1] && !a->pad[2] && !a->pad[3])
		value = (int)cc->g->ops[pad].attr.pad.value;
	set_input(cc, nd, o->in[0], value, padded ? pads : NULL);
	/* Padding counts only in windows that have something else as well. */
	if (padded && !windows_meet(nd, a, pads)) {
		memcpy(pads, a->pad, sizeof pads);
		set_input(cc, nd, o->in[0], 0, NULL);
	}
	nd->win.pt = pads[0];
	nd->win.pl = pads[2];
	nd->pool.average = nd->pool.sum = o->op == WEFT_OP_AVG_POOL2D;
	nd->pool.padded = value != type_lowest(type);
	nd->pool.pad = value;
	if (nd->pool.sum) {
		nd->x_zp = a->x_zp;
		nd->post.y_zp = a->y_zp;
	}
	nd->post.y_min = lo;
	nd->post.y_max = hi;
	sum_on_dw(cc, nd);
	return 1;
}

/*
 * Match operator i as match_pool_alone() does, with its return values. But where there is an alu, 0 is returned,
 * without a reason, for a pool that only leaves out rows and columns (pool_is_stride()): whoever reads it may
 * read through it (set_input()), and match_alu() takes it at the end if it is still needed.
 */
int match_pool(struct cc *cc, int i)
{
	return cc->has_alu && pool_is_stride(cc, i) ? 0 : match_pool_alone(cc, i);
}

/*
 * Returns the axis along which operator i reduces, as an index among n, y, x, c (0..3); the rank is at most
 * 4.
 */
static int axis4(const struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];

	return 4 - cc->g->tensors[o->in[0]].t.rank + o->attr.axis.axis;
}

/*
 * Match a mean. One over y, x or both becomes a pooling node. One of int8 over channels becomes a convolution with one output channel, whose
 * weights are all 1. A mean consists of these operators: a RESCALE that only widens int8 or int16 (scale 1, any
 * zero point of its input that int8 holds, as the command has it), one or two REDUCE_SUMs, of which operator i is the first, a RESCALE with one
 * scale, no zero point of its input and any of its output back to the type, and perhaps a CLAMP. Each must be
 * the only reader of what is before it, but the first RESCALE may have other readers, and then is not claimed.
 * Returns 1 if it was matched; 0 if it is something else, the configuration does not have the type, the rank
 * is above 4, or it sums over images, over channels and another axis, over channels of int16, or over more than 65535 rows or columns, with
 * the reason set; or
 * -ENOMEM.
 */
int match_mean(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct rescale wide, narrow;
	int left, sums[2] = { i, -1 };

	if (cc->g->tensors[o->in[0]].t.rank > 4)
		return cc_reason(cc, i, "rank above 4");
	int first = made_by(cc, o->in[0], WEFT_OP_RESCALE);
	if (first < 0 || cc->ten[cc->g->ops[first].in[0]].v.root < 0 || !read_rescale(cc, first, &wide) ||
	    !is_left_shift(&wide, &left) || left)
		return cc_reason(cc, i, "not the sum of an int8 or int16 tensor");
	weft_dtype type = type_of(cc, cc->g->ops[first].in[0]);
	if (!npu_type(cc, type))
		return cc_reason(cc, i, "%s", weft_dtype_name(type));
	if (wide.x_zp < INT8_MIN || wide.x_zp > INT8_MAX)
		return cc_reason(cc, i, "zero point %d", wide.x_zp);
	int end = i, next = only_reader(cc, o->out[0], WEFT_OP_REDUCE_SUM);
	if (next >= 0)
		end = sums[1] = next;
	int k = only_reader(cc, cc->g->ops[end].out[0], WEFT_OP_RESCALE);
	if (k < 0 || type_of(cc, cc->g->ops[k].out[0]) != type || !read_rescale(cc, k, &narrow) ||
	    narrow.x_zp || narrow.per_channel)
		return cc_reason(cc, i, "the sum is not read by one RESCALE to %s alone", weft_dtype_name(type));
	bool over[4] = { false };
	for (int s = 0; s < 2 && sums[s] >= 0; s++)
		over[axis4(cc, sums[s])] = true;
	if (over[0] || (over[3] && (over[1] || over[2] || type != WEFT_INT8)))
		return cc_reason(cc, i, "sum over batch or channels");

	int last = k, lo = type_lowest(type), hi = -1 - lo;
	take_clamp(cc, &last, &lo, &hi);
	const int64_t *dim = cc->ten[cc->g->ops[first].in[0]].v.dim;
	if ((over[1] && dim[1] > 65535) || (over[2] && dim[2] > 65535))
		return cc_reason(cc, i, "sum over more than 65535");
	struct node *nd = new_node(cc, over[3] ? NODE_CONV : NODE_POOL, i, last);
	if (!nd)
		return -ENOMEM;
	set_input(cc, nd, cc->g->ops[first].in[0], 0, NULL);
	if (over[3]) {
		nd->wt.w = WEIGHTS_ONE;
		nd->conv.m = 1;
	} else {
		nd->pool.sum = true;
	}
	nd->win.kh = over[1] ? (int)nd->x.dim[1] : 1;
	nd->win.kw = over[2] ? (int)nd->x.dim[2] : 1;
	nd->x_zp = wide.x_zp;
	nd->post.a = narrow.s;
	nd->post.round = narrow.s.round;
	nd->post.y_zp = narrow.y_zp;
	nd->post.y_min = lo;
	nd->post.y_max = hi;
	claim(cc, k, nd);
	if (sums[1] >= 0)
		claim(cc, sums[1], nd);
	if (read_only_by(cc, o->in[0], i))
		claim(cc, first, nd);
	return 1;
}

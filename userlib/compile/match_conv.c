/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV2D and DEPTHWISE_CONV2D, int8 or int16 by constant int8, with the RESCALE
 * behind them and, where it follows, the CLAMP.
 *
 * Sums of int16 have 48 bits. Their RESCALE has 16-bit multipliers; or, where the
 * framework sums in 32 bits, it takes the low 32 bits and a second one follows.
 *
 * Source: TOSA 1.0, CONV2D, DEPTHWISE_CONV2D, RESCALE; include/spec/cmd.toml.
 */
#include <errno.h>

#include "match.h"

#define NO(...) do { int e_ = cc_reason(cc, i, __VA_ARGS__); return e_; } while (0)

/* Fields of the command bound these; larger ones stay on the host. */
const char *conv_limit(const struct node *nd)
{
	if (nd->kh > 4095 || nd->kw > 4095)
		return "kernel above 4095";
	if (nd->sy > 8192 || nd->sx > 8192 || nd->dy > 8192 || nd->dx > 8192)
		return "stride or dilation above 8192";
	if (nd->pt > 16384 || nd->pl > 16384)
		return "padding above 16384";
	return NULL;
}

bool conv_is_dw(const struct node *nd)
{
	return nd->m == 1 && nd->kh <= 3 && nd->kw <= 3 && nd->sy <= 15 && nd->sx <= 15 &&
	       (nd->dy == 1 || nd->kh == 1) && (nd->dx == 1 || nd->kw == 1);
}

void conv_shape(struct node *nd, const struct weft_gop *o, const weft_tensor *w, const int pads[4])
{
	const struct weft_attr_conv *a = &o->attr.conv;
	bool depthwise = o->op == WEFT_OP_DEPTHWISE_CONV2D;

	nd->kh = (int)w->dim[depthwise ? 0 : 1];
	nd->kw = (int)w->dim[depthwise ? 1 : 2];
	nd->sy = a->stride[0];
	nd->sx = a->stride[1];
	nd->dy = a->dilation[0];
	nd->dx = a->dilation[1];
	nd->pt = pads[0];
	nd->pl = pads[2];
	nd->x_zp = a->x_zp;
	nd->w_zp = a->w_zp;
	nd->m = depthwise ? (int)w->dim[3] : 1;
	if (!depthwise)
		nd->kind = NODE_CONV;
	else if (w->dim[2] == 1)
		nd->kind = NODE_DWCONV;
	else
		nd->kind = conv_is_dw(nd) ? NODE_DW : NODE_DWCONV;
}

/* 1: low 32 bits of a sum of 48. */
static bool is_narrowing(const struct cc *cc, int i)
{
	struct rescale r;

	return type_of(cc, cc->g->ops[i].in[0]) == WEFT_INT48 && type_of(cc, cc->g->ops[i].out[0]) == WEFT_INT32 &&
	       read_rescale(cc, i, &r) && !r.per_channel && !r.x_zp && !r.y_zp &&
	       r.s.shift < 31 && r.s.mul == (uint32_t)1 << r.s.shift;
}

int match_conv(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *w = &cc->g->tensors[o->in[1]].t;
	const weft_tensor *b = &cc->g->tensors[o->in[2]].t;
	const struct weft_attr_conv *a = &o->attr.conv;
	struct rescale r;
	int pads[4] = { a->pad[0], a->pad[1], a->pad[2], a->pad[3] };

	if (!npu_type(cc, x->dtype) || (w->dtype != WEFT_INT8 && w->dtype != WEFT_INT4))
		NO("%s by %s: the array takes int8 and int16 by int8", weft_dtype_name(x->dtype), weft_dtype_name(w->dtype));
	if (!w->data || !b->data)
		NO("weights or bias are not constant");
	int k = only_reader(cc, o->out[0], WEFT_OP_RESCALE);
	if (k < 0)
		NO("the sums are not read by one RESCALE alone");
	int narrow = is_narrowing(cc, k) ? k : -1;
	if (narrow >= 0 && (k = only_reader(cc, cc->g->ops[k].out[0], WEFT_OP_RESCALE)) < 0)
		NO("the sums are not read by one RESCALE alone");
	if (type_of(cc, cc->g->ops[k].out[0]) != x->dtype || !read_rescale(cc, k, &r) || r.x_zp)
		NO("the RESCALE behind it does not make %s with constant, legal scales", weft_dtype_name(x->dtype));
	if (x->dtype == WEFT_INT16 && a->x_zp)
		NO("int16 with a zero point");

	struct node nd = { 0 };
	conv_shape(&nd, o, w, pads);
	const char *why = conv_limit(&nd);
	if (why)
		NO("%s", why);

	int last = k, lo = type_lowest(x->dtype), hi = -1 - lo;
	take_clamp(cc, &last, &lo, &hi);
	struct node *to = new_node(cc, nd.kind, i, last);
	if (!to)
		return -ENOMEM;
	set_input(cc, to, o->in[0], a->x_zp, pads);
	conv_shape(to, o, w, pads);
	claim(cc, k, to);
	if (narrow >= 0)
		claim(cc, narrow, to);
	to->scale16 = x->dtype == WEFT_INT16 && narrow < 0;
	to->w = o->in[1];
	to->bias = o->in[2];
	to->scale_mul = r.mul;
	to->scale_shift = r.shift;
	to->twice = r.twice;
	to->y_zp = r.y_zp;
	to->y_min = lo;
	to->y_max = hi;
	return 1;
}

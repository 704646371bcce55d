/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addition or subtraction of int8 or int16: each side RESCALEd to int32, ADD or SUB, RESCALE back.
 *
 * A side is RESCALE (exact left shift) then RESCALE with double rounding, or
 * one of the two alone. Where a side is the result of a convolution that
 * nothing else reads, the addition runs behind it in the post unit.
 */
#include <errno.h>
#include <string.h>

#include "match.h"

/* One operand of a sum: tensor x, less zp, shifted left, then scaled. */
struct side {
	int x;                 /* tensor in front of the RESCALEs */
	int ops[2];            /* the RESCALEs, the outer one last; ops[0] -1: there is only one */
	int zp, left;          /* zero point of x, exact left shift */
	struct scale s;
};

/* Does the scale round as the sum's stages do? They round twice, which differs only for shifts above 31. */
static bool rounds_as_hardware(const struct scale *s)
{
	/* The sum's stages round twice, which differs only above 31. */
	return s->round == ROUND_TWICE || (s->round == ROUND_UP && s->shift <= 31);
}

/*
 * Read one operand of a sum: an int8 or int16 tensor behind one RESCALE, or behind a left shift and
 * another RESCALE. false: it is something else
 */
static bool read_side(const struct cc *cc, int t, struct side *s)
{
	struct rescale outer, inner;
	int i = made_by(cc, t, WEFT_OP_RESCALE), left;

	if (i < 0 || !read_rescale(cc, i, &outer) || outer.per_channel || outer.y_zp)
		return false;
	int x = cc->g->ops[i].in[0];
	*s = (struct side){ .x = x, .ops = { -1, i }, .zp = outer.x_zp, .s = { 1u << 30, 30, ROUND_UP } };
	if (npu_int(cc, type_of(cc, x))) {
		if (is_left_shift(&outer, &left) && left)
			s->left = left;
		else
			s->s = outer.s;
		return rounds_as_hardware(&s->s);
	}
	int k = made_by(cc, x, WEFT_OP_RESCALE);
	if (k < 0 || outer.x_zp || !read_rescale(cc, k, &inner) || inner.y_zp || !is_left_shift(&inner, &left))
		return false;
	if (!npu_int(cc, type_of(cc, cc->g->ops[k].in[0])))
		return false;
	*s = (struct side){ .x = cc->g->ops[k].in[0], .ops = { k, i }, .zp = inner.x_zp, .left = left, .s = outer.s };
	return rounds_as_hardware(&s->s);
}

/* RESCALEs that only this addition reads become part of its node. */
static void claim_side(struct cc *cc, const struct side *s, int add, const struct node *nd)
{
	if (!read_only_by(cc, cc->g->ops[s->ops[1]].out[0], add))
		return;
	claim(cc, s->ops[1], nd);
	if (s->ops[0] >= 0 && read_only_by(cc, cc->g->ops[s->ops[0]].out[0], s->ops[1]))
		claim(cc, s->ops[0], nd);
}

/* Products of one sum of a convolution's node; -1 without a node. */
int64_t conv_depth(const struct cc *cc, int node)
{
	if (node < 0)
		return -1;
	const struct node *nd = &cc->nodes[node];
	return nd->kind == NODE_CONV ? (int64_t)nd->win.kh * nd->win.kw * nd->x.dim[3] : 1;
}

/* Node of a convolution whose result only this side reads, so that the addition can join it; -1. */
static int conv_before(const struct cc *cc, const struct side *s, int add)
{
	int i = cc->g->tensors[s->x].producer;
	int reader = s->ops[0] >= 0 ? s->ops[0] : s->ops[1];

	if (cc->o->no_fuse || i < 0 || cc->ops[i].state != OP_NODE || !read_only_by(cc, s->x, reader))
		return -1;
	if (!read_only_by(cc, cc->g->ops[s->ops[1]].out[0], add) ||
	    (s->ops[0] >= 0 && !read_only_by(cc, cc->g->ops[s->ops[0]].out[0], s->ops[1])))
		return -1;
	const struct node *nd = &cc->nodes[cc->ops[i].node];
	bool plain = (nd->kind == NODE_CONV || nd->kind == NODE_DWCONV) && !nd->add && !nd->post.raw && !nd->conv.part && nd->last == i;
	return plain ? cc->ops[i].node : -1;
}

/* ADD or SUB of two tensors with the RESCALE behind it. 1 matched, 0 not (reason set), or a negative errno */
int match_add(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct side a, b;
	struct rescale out;

	if (!read_side(cc, o->in[0], &a) || !read_side(cc, o->in[1], &b) || a.left != b.left)
		return cc_reason(cc, i, "its operands are not int8 or int16 tensors behind exact RESCALEs");
	weft_dtype type = type_of(cc, a.x);
	if (!npu_type(cc, type) || type_of(cc, b.x) != type)
		return cc_reason(cc, i, "%s and %s", weft_dtype_name(type), weft_dtype_name(type_of(cc, b.x)));
	bool sub = o->op == WEFT_OP_SUB;
	if (sub && !cc->has_sub)
		return cc_reason(cc, i, "subtraction");
	/* A function of one tensor: by table. */
	if (cc->has_table && type == WEFT_INT8 && (is_number(cc, a.x) || is_number(cc, b.x)))
		return 0;
	struct node probe = { .x = cc->ten[a.x].v, .r = cc->ten[b.x].v };
	if (!sub && view_elements(&probe.x) < view_elements(&probe.r)) {
		struct side t = a;
		a = b;
		b = t;
		probe = (struct node){ .x = probe.r, .r = probe.x };
	}
	bool spread = memcmp(probe.x.dim, probe.r.dim, sizeof probe.x.dim);
	if (!spread_second(&probe))
		return cc_reason(cc, i, "broadcast");
	int k = only_reader(cc, o->out[0], WEFT_OP_RESCALE);
	if (k < 0 || type_of(cc, cc->g->ops[k].out[0]) != type || !read_rescale(cc, k, &out) ||
	    out.x_zp || out.per_channel || (out.s.round != ROUND_EVEN && !rounds_as_hardware(&out.s)))
		return cc_reason(cc, i, "the sum is not read by one RESCALE to %s alone", weft_dtype_name(type));

	int last = k, lo = type_lowest(type), hi = -1 - lo;
	take_clamp(cc, &last, &lo, &hi);
	/* The longer sum hides the addition better. */
	int ca = conv_before(cc, &a, i), cb = conv_before(cc, &b, i);
	if (a.x == b.x || spread)
		ca = cb = -1;
	if (!sub && conv_depth(cc, cb) > conv_depth(cc, ca)) {
		struct side t = a;
		a = b;
		b = t;
		ca = cb;
	}
	struct node *nd;
	if (ca >= 0) {
		nd = &cc->nodes[ca];
		set_output(cc, nd, last);
		claim(cc, last, nd);
		claim(cc, i, nd);
	} else {
		nd = new_node(cc, NODE_ELT, i, last);
		if (!nd)
			return -ENOMEM;
		set_input(cc, nd, a.x, 0, NULL);
	}
	nd->add = true;
	nd->sub = sub;
	set_second(cc, nd, b.x);
	spread_second(nd);
	nd->post.pre_shift = a.left;
	nd->post.a_zp = a.zp;
	nd->post.b_zp = b.zp;
	nd->post.a = a.s;
	nd->post.b = b.s;
	nd->post.s = out.s;
	nd->post.s_zp = out.y_zp;
	nd->post.s_min = lo;
	nd->post.s_max = hi;
	claim(cc, k, nd);
	claim_side(cc, &a, i, nd);
	claim_side(cc, &b, i, nd);
	return 1;
}

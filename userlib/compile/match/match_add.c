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
	int x;                 /* the tensor in front of the RESCALEs */
	int ops[2];            /* the RESCALEs, the outer one last; ops[0] -1: there is only one */
	int zp, left;          /* zero point of x; bits by which x - zp is shifted left */
	struct scale s;        /* scale of the shifted value */
};

/*
 * Returns whether the scale gives the bits that the stages of the post unit's sum give, which round twice. So
 * do scales with ROUND_TWICE, and those with ROUND_UP whose shift is at most 31, where both roundings agree;
 * never those with ROUND_EVEN.
 */
static bool rounds_as_hardware(const struct scale *s)
{
	/* The sum's stages round twice, which differs only above 31. */
	return s->round == ROUND_TWICE || (s->round == ROUND_UP && s->shift <= 31);
}

/*
 * Read one operand t of a sum: it must be an int8 or int16 tensor behind one RESCALE, or behind a RESCALE
 * that only shifts left and a second one without a zero point of its input; each has one scale for all
 * channels and no zero point of its output. Sets *s to tensor, RESCALEs, zero point, left shift and scale;
 * a single RESCALE that only shifts left, by at least one bit, becomes s->left with scale 1. Returns false
 * if t is something else or its scale rounds otherwise than the hardware; *s then is undefined.
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

/*
 * Claim for node nd the one or two RESCALEs of this operand of operator `add` that nothing but this
 * addition reads. A RESCALE that others read as well is left to them, and so is the one in front of it.
 */
static void claim_side(struct cc *cc, const struct side *s, int add, const struct node *nd)
{
	if (!read_only_by(cc, cc->g->ops[s->ops[1]].out[0], add))
		return;
	claim(cc, s->ops[1], nd);
	if (s->ops[0] >= 0 && read_only_by(cc, cc->g->ops[s->ops[0]].out[0], s->ops[1]))
		claim(cc, s->ops[0], nd);
}

/*
 * Returns how many products one sum of this node has: kernel area times input channels for NODE_CONV, 1 for
 * other kinds; -1 if `node` is negative, meaning that there is no node.
 */
int64_t conv_depth(const struct cc *cc, int node)
{
	if (node < 0)
		return -1;
	const struct node *nd = &cc->nodes[node];
	return nd->kind == NODE_CONV ? (int64_t)nd->win.kh * nd->win.kw * nd->x.dim[3] : 1;
}

/*
 * Returns the number of the node of a convolution that operator `add` can join, or -1. It must be on the
 * array, make this operand s of the sum as its last result, have no second operand yet, write scaled results
 * and not be one of several nodes of its operator; and nothing but this operand's RESCALEs and the addition
 * may read its result. With the option no_fuse there is none.
 */
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

/* A sum or difference that one node can compute. */
struct sum {
	struct side a, b;      /* its operands */
	bool sub, spread;      /* b is subtracted; b is repeated over a's pixels */
	int k;                 /* the RESCALE behind it, */
	struct rescale out;    /* and what that RESCALE does */
};

/* Exchange the two operands of the sum. */
static void swap_sides(struct sum *m)
{
	struct side t = m->a;

	m->a = m->b;
	m->b = t;
}

/*
 * Read operator i, ADD or SUB, as a sum of two int8 or int16 tensors behind RESCALEs, shifted left equally,
 * that one RESCALE behind it, the sum's only reader, brings back to their type; that RESCALE has one scale,
 * no zero point of its input, and rounds to even or as the hardware does. Sets *m; of an ADD the operand
 * with more elements becomes m->a, over whose pixels m->b may be repeated (m->spread). SUB needs the
 * feature has_sub. Returns 1 if a node can compute it, 0 if not, or -ENOMEM. With 0 the reason is set,
 * unless one int8 operand is a single number and the device has tables, which do it better.
 */
static int read_sum(struct cc *cc, int i, struct sum *m)
{
	const struct weft_gop *o = &cc->g->ops[i];

	if (!read_side(cc, o->in[0], &m->a) || !read_side(cc, o->in[1], &m->b) || m->a.left != m->b.left)
		return cc_reason(cc, i, "its operands are not int8 or int16 tensors behind exact RESCALEs");
	weft_dtype type = type_of(cc, m->a.x);
	if (!npu_type(cc, type) || type_of(cc, m->b.x) != type)
		return cc_reason(cc, i, "%s and %s", weft_dtype_name(type), weft_dtype_name(type_of(cc, m->b.x)));
	m->sub = o->op == WEFT_OP_SUB;
	if (m->sub && !cc->has_sub)
		return cc_reason(cc, i, "subtraction");
	/* A function of one tensor becomes a table. */
	if (cc->has_table && type == WEFT_INT8 && (is_number(cc, m->a.x) || is_number(cc, m->b.x)))
		return 0;
	if (!m->sub && view_elements(&cc->ten[m->a.x].v) < view_elements(&cc->ten[m->b.x].v))
		swap_sides(m);
	struct node probe = { .x = cc->ten[m->a.x].v, .r = cc->ten[m->b.x].v };
	m->spread = memcmp(probe.x.dim, probe.r.dim, sizeof probe.x.dim);
	if (!spread_second(&probe))
		return cc_reason(cc, i, "broadcast");
	m->k = only_reader(cc, o->out[0], WEFT_OP_RESCALE);
	if (m->k < 0 || type_of(cc, cc->g->ops[m->k].out[0]) != type || !read_rescale(cc, m->k, &m->out) ||
	    m->out.x_zp || m->out.per_channel || (m->out.s.round != ROUND_EVEN && !rounds_as_hardware(&m->out.s)))
		return cc_reason(cc, i, "the sum is not read by one RESCALE to %s alone", weft_dtype_name(type));
	return 1;
}

/*
 * Returns the number of the convolution's node behind which the sum can run (conv_before()), or -1. It is -1
 * also if both operands are the same tensor or the second one is repeated over pixels. If both operands of an
 * ADD come from convolutions, it is the one with more products in a sum, since it hides the addition better;
 * with equally many the first. If it makes the second operand, the operands of *m are exchanged. Of a SUB
 * only the first operand counts.
 */
static int choose_conv(const struct cc *cc, int i, struct sum *m)
{
	int ca = conv_before(cc, &m->a, i), cb = conv_before(cc, &m->b, i);

	if (m->a.x == m->b.x || m->spread)
		return -1;
	if (m->sub || conv_depth(cc, cb) <= conv_depth(cc, ca))
		return ca;
	swap_sides(m);
	return cb;
}

/*
 * Match operator i, an ADD or SUB of two int8 or int16 tensors between RESCALEs (read_sum()), with the CLAMP
 * behind it if there is one. It joins the node of a convolution that makes one operand if choose_conv() finds
 * one, else it becomes an elementwise node. Returns 1 if it was matched; 0 if not (the reason then is set,
 * unless one int8 operand is a single number and the device has tables); or -ENOMEM.
 */
int match_add(struct cc *cc, int i)
{
	struct sum m;
	int err = read_sum(cc, i, &m);

	if (err <= 0)
		return err;
	int last = m.k, lo = type_lowest(type_of(cc, m.a.x)), hi = -1 - lo;
	take_clamp(cc, &last, &lo, &hi);
	int conv = choose_conv(cc, i, &m);
	struct node *nd = conv >= 0 ? &cc->nodes[conv] : new_node(cc, NODE_ELT, i, last);
	if (!nd)
		return -ENOMEM;
	if (conv >= 0) {
		set_output(cc, nd, last);
		claim(cc, last, nd);
		claim(cc, i, nd);
	} else {
		set_input(cc, nd, m.a.x, 0, NULL);
	}
	nd->add = true;
	nd->sub = m.sub;
	set_second(cc, nd, m.b.x);
	spread_second(nd);
	nd->post.pre_shift = m.a.left;
	nd->post.a_zp = m.a.zp;
	nd->post.b_zp = m.b.zp;
	nd->post.a = m.a.s;
	nd->post.b = m.b.s;
	nd->post.s = m.out.s;
	nd->post.s_zp = m.out.y_zp;
	nd->post.s_min = lo;
	nd->post.s_max = hi;
	claim(cc, m.k, nd);
	claim_side(cc, &m.a, i, nd);
	claim_side(cc, &m.b, i, nd);
	return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESCALE and CLAMP of one int8 or int16 tensor, and CONCAT.
 */
#include <errno.h>

#include "match.h"

/*
 * Returns whether the device computes tensor t, so that running its reader there means no extra trip.
 * Operators that only give another shape are looked through; a CONCAT whose operands lie in place counts as
 * the device's.
 */
bool near_npu(const struct cc *cc, int t)
{
	int i = cc->g->tensors[t].producer;

	while (i >= 0 && cc->ops[i].state == OP_ALIAS && cc->g->ops[i].op != WEFT_OP_CONCAT)
		i = cc->g->tensors[cc->g->ops[i].in[0]].producer;
	return i >= 0 && (cc->ops[i].state == OP_NODE || cc->ops[i].state == OP_ALIAS);
}

/*
 * Match operator i, a RESCALE of one scale for all channels or a CLAMP of an int8 or int16 tensor whose
 * result has the same type, as an elementwise node; a CLAMP that alone reads the result is taken along, a
 * SLICE in front is read through. The RESCALE may stand behind another one that only shifts left, which is
 * claimed if nothing else reads it. Without the alu, the device must compute the operand (near_npu()).
 * Returns 1 if it was matched, 0 if not (the reason then is set), or -ENOMEM.
 */
int match_unary(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct rescale r = { .s = { 1u << 30, 30, ROUND_UP } };
	weft_dtype type = type_of(cc, o->out[0]);
	int lowest = type_lowest(type), first = -1, left = 0, last = i, lo = lowest, hi = -1 - lowest, x = o->in[0];

	if (!npu_type(cc, type))
		return cc_reason(cc, i, "result is %s", weft_dtype_name(type));
	if (o->op == WEFT_OP_RESCALE) {
		struct rescale wide;
		if (!read_rescale(cc, i, &r) || r.per_channel)
			return cc_reason(cc, i, "scales are not constant, signed, legal and one for all channels");
		if (!npu_int(cc, type_of(cc, x))) {
			first = made_by(cc, x, WEFT_OP_RESCALE);
			if (first < 0 || r.x_zp || !read_rescale(cc, first, &wide) || !is_left_shift(&wide, &left))
				return cc_reason(cc, i, "operand is %s", weft_dtype_name(cc->g->tensors[x].t.dtype));
			x = cc->g->ops[first].in[0];
			r.x_zp = wide.x_zp;
		}
	} else {
		lo = (int)max64(o->attr.clamp.min, lowest);
		hi = (int)min64(o->attr.clamp.max, -1 - lowest);
	}
	if (cc->ten[x].v.root < 0 || type_of(cc, x) != type)
		return cc_reason(cc, i, "operand is %s", weft_dtype_name(type_of(cc, x)));
	if (!near_npu(cc, x) && !cc->has_alu)
		return cc_reason(cc, i, "nothing before it runs on the device");
	take_clamp(cc, &last, &lo, &hi);
	struct node *nd = new_node(cc, NODE_ELT, i, last);
	if (!nd)
		return -ENOMEM;
	set_input(cc, nd, x, 0, NULL);
	nd->post.a_zp = r.x_zp;
	nd->post.pre_shift = left;
	nd->post.a = r.s;
	nd->post.round = r.s.round;
	nd->post.y_zp = r.y_zp;
	nd->post.y_min = lo;
	nd->post.y_max = hi;
	if (first >= 0 && read_only_by(cc, o->in[0], i))
		claim(cc, first, nd);
	return 1;
}

/*
 * List pointers to the views of node i in all[4]: input and result, then second and third operand if the node
 * has them. Returns their number, 2..4.
 */
static int views_of(struct cc *cc, int i, struct view *all[4])
{
	struct node *nd = &cc->nodes[i];
	int n = 0;

	all[n++] = &nd->x;
	all[n++] = &nd->y;
	if (nd->add)
		all[n++] = &nd->r;
	if (nd->third)
		all[n++] = &nd->z;
	return n;
}

/*
 * Returns whether view v of a dense root, whose own shape is `own`, can be expressed in the root's new place
 * `to`, a view with the same dimensions but other steps. It can if along each dimension with more than one
 * element v's step is a positive multiple of the root's own, and v stays within the root's dimension, as for
 * the parts of TRANSPOSE_CONV2D. It may run over a dimension's end only if the next outer dimension continues
 * that dimension without a gap in `to`.
 */
static bool keeps_shape(const struct view *v, const struct view *own, const struct view *to)
{
	int64_t rest = v->off;

	for (int d = 0; d < 4; d++) {
		int64_t at = rest / own->step[d], times = v->step[d] / own->step[d];
		rest %= own->step[d];
		if (v->dim[d] < 2)
			continue;
		if (v->step[d] % own->step[d] || times < 1)
			return false;
		if (at + (v->dim[d] - 1) * times >= own->dim[d] && (!d || to->step[d - 1] != to->dim[d] * to->step[d]))
			return false;
	}
	return true;
}

/* Let view *v of a dense root, whose own shape is `own`, lie in the root's new place `to`, a view with the same dimensions. */
static void move_view(struct view *v, const struct view *own, const struct view *to)
{
	int64_t rest = v->off, off = to->off;

	/* off in the dense root becomes coordinates, then steps of the new one */
	for (int d = 0; d < 4; d++) {
		off += rest / own->step[d] * to->step[d];
		rest %= own->step[d];
		v->step[d] = v->dim[d] < 2 ? to->step[d] : v->step[d] / own->step[d] * to->step[d];
	}
	v->off = off;
	v->root = to->root;
}

/*
 * Move the storage of tensor `root` into the place `to`, which has the root's dimensions: every view of this
 * root in any node, the tensor's own view, and those of tensors that lie in it, then lie in to->root.
 */
static void move_root(struct cc *cc, int root, const struct view *to)
{
	const struct view own = view_dense(root, to->dim, view_elem(to));
	struct view *all[4];

	for (int i = 0; i < cc->n_nodes; i++)
		for (int k = views_of(cc, i, all); k--;)
			if (all[k]->root == root)
				move_view(all[k], &own, to);
	for (int t = 0; t < cc->g->n_tensors; t++)
		if (t != root && cc->ten[t].v.root == root)
			move_view(&cc->ten[t].v, &own, to);
	cc->ten[root].v = *to;
}

/*
 * Returns whether tensor t, an operand of CONCAT operator `concat`, can live inside another storage at `to`.
 * It can if a node makes it, or another CONCAT in place; only nodes and this CONCAT, which has it as one
 * operand only, read it; it has its storage for itself, is no output and not pinned; and all views of it in
 * nodes can be expressed in `to` (keeps_shape()). With the option no_fuse it cannot.
 */
static bool can_move(struct cc *cc, int t, int concat, const struct view *to)
{
	const struct cten *c = &cc->ten[t];
	const struct view own = view_dense(t, to->dim, view_elem(to));
	int made = cc->g->tensors[t].producer;
	struct view *all[4];

	if (cc->o->no_fuse || c->pinned || c->v.root != t || cc->g->tensors[t].is_output || made < 0)
		return false;
	/* A CONCAT whose operands lie in place moves with them. */
	bool in_place = cc->ops[made].state == OP_ALIAS && cc->g->ops[made].op == WEFT_OP_CONCAT;
	if (cc->ops[made].state != OP_NODE && !in_place)
		return false;
	int times = 0;
	for (int k = 0; k < c->n_uses; k++) {
		int i = cc->uses[c->first_use + k];
		times += i == concat;
		if (i != concat && cc->ops[i].state != OP_NODE)
			return false;
	}
	for (int i = 0; i < cc->n_nodes; i++)
		for (int k = views_of(cc, i, all); k--;)
			if (all[k]->root == t && !keeps_shape(all[k], &own, to))
				return false;
	return times == 1;
}

/*
 * Returns whether tensor t, an operand of a CONCAT along channels that makes tensor `result`, had better stay
 * dense, and be copied, than lie at `to` among the result's channels. That is so if others read it as well, it
 * has one image whose pixels are whole words, and it is larger than the scratchpad: then all of it passes
 * through memory, where rows of few bytes take long, while a copy runs in stripes with what reads the result.
 * It is never so if a CONCAT makes t, since a dense block would be copied at each of its layers.
 */
static bool better_dense(const struct cc *cc, int t, int result, const struct view *to)
{
	const struct cten *c = &cc->ten[t];
	int made = cc->g->tensors[t].producer;

	if (made >= 0 && cc->g->ops[made].op == WEFT_OP_CONCAT)
		return false;
	return c->n_uses > 1 && to->dim[0] == 1 && to->dim[3] < cc->ten[result].v.dim[3] && to->dim[3] * view_elem(to) % cc->n == 0 &&
	       view_bytes(to) > cc->sp_bytes;
}

/* Add an elementwise node of operator i that copies tensor t to the view `to`. Returns 0 or -ENOMEM. */
static int copy_in(struct cc *cc, int i, int t, const struct view *to)
{
	struct node *nd = new_node(cc, NODE_ELT, i, i);

	if (!nd)
		return -ENOMEM;
	set_input(cc, nd, t, 0, NULL);
	nd->y = nd->dbg = *to;
	return 0;
}

/*
 * Match CONCAT i, of rank at most 4 and a type that array and vector engine compute with: each operand for
 * which can_move() holds, and better_dense() does not, gets its place inside the result, so that it is written
 * there at once; the others are copied by a node each. Without copies the operator becomes an alias. Without
 * the alu, the device must compute at least one operand. Returns 1 if it was matched, 0 if not (the reason then
 * is set), or -ENOMEM.
 */
int match_concat(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *y = &cc->g->tensors[o->out[0]].t;
	bool near = false;

	if (!npu_type(cc, y->dtype) || y->rank > 4)
		return cc_reason(cc, i, "%s, rank %d", weft_dtype_name(y->dtype), y->rank);
	for (int k = 0; k < o->n_in; k++)
		near |= near_npu(cc, o->in[k]);
	if (!near && !cc->has_alu)
		return cc_reason(cc, i, "nothing before it runs on the device");
	int axis = 4 - y->rank + o->attr.axis.axis;
	int64_t at = 0;
	for (int k = 0; k < o->n_in; k++) {
		struct view to = cc->ten[o->out[0]].v;
		int err = 0;

		view_dims(&cc->g->tensors[o->in[k]].t, to.dim);
		to.off += at * to.step[axis];
		at += to.dim[axis];
		if (!better_dense(cc, o->in[k], o->out[0], &to) && can_move(cc, o->in[k], i, &to))
			move_root(cc, o->in[k], &to);
		else
			err = copy_in(cc, i, o->in[k], &to);
		if (err)
			return err;
	}
	cc->ops[i].state = OP_NODE;
	if (!cc->n_nodes)
		return 0;
	/* All operands in place: the operator itself has nothing to do. */
	if (cc->nodes[cc->n_nodes - 1].op != i)
		cc->ops[i].state = OP_ALIAS;
	return 1;
}

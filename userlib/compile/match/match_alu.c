/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators on single elements, reductions and tables as loop nests of the alu.
 *
 * Source: TOSA 1.0; include/spec/cmd.toml, alu.
 */
#include <errno.h>
#include <string.h>

#include "match_alu.h"
#include "match_table.h"
#include "userlib/compile/sequence/chain.h"
#include "userlib/compile/sequence/tfl.h"

#define FUNC(name) WEFT_ALU_FUNC_##name
#define TYPE(name) WEFT_ALU_A_TYPE_##name

/*
 * Returns the type by which the command alu names elements of graph type t, or -1 if it has none. Types that
 * are only moved, such as floats, go as integers of their size. If is_unsigned is set, integers of up to 32
 * bits that are signed otherwise are taken as unsigned.
 */
int alu_type(weft_dtype t, bool is_unsigned)
{
	switch (t) {
	case WEFT_BOOL:
	case WEFT_UINT8:
		return TYPE(UINT8);
	case WEFT_INT4:
	case WEFT_INT8:
	case WEFT_FP8E4M3:
	case WEFT_FP8E5M2:
	case WEFT_FP8E4M3FNUZ:
	case WEFT_FP8E5M2FNUZ:
		return is_unsigned ? TYPE(UINT8) : TYPE(INT8);
	case WEFT_UINT16:
		return TYPE(UINT16);
	case WEFT_INT16:
	case WEFT_FP16:
	case WEFT_BF16:
		return is_unsigned ? TYPE(UINT16) : TYPE(INT16);
	case WEFT_INT32:
	case WEFT_FP32:
		return is_unsigned ? TYPE(UINT32) : TYPE(INT32);
	case WEFT_INT48:
		return TYPE(INT48);
	default:
		return -1;
	}
}

/*
 * Returns all of tensor t as an operand of a nest, at its place in its root's storage; the caller sets the
 * steps. The type is -1 if the command has none for it.
 */
struct nest_operand nest_tensor(const struct cc *cc, int t, bool is_unsigned)
{
	const struct view *v = &cc->ten[t].v;

	return (struct nest_operand){ .root = v->root, .t = t, .off = v->off, .type = alu_type(type_of(cc, t), is_unsigned) };
}

/* Returns whether tensor t is read exactly once, and is no output of the graph. */
static bool one_reader(const struct cc *cc, int t)
{
	return cc->ten[t].n_uses == 1 && !cc->g->tensors[t].is_output;
}

/*
 * Returns the number of the SLICE, TRANSPOSE or REVERSE that makes tensor t and through which readers of t
 * can read its operand, or -1 if there is none. No stage may have taken the operator yet (OP_TODO), its
 * arguments must be constant, and its operand must have a view. A transposed or reversed tensor is worth a
 * copy, so it is not read through, if several operators read it or if it is an output of the graph.
 */
static int seen_through(const struct cc *cc, int t)
{
	int i = cc->g->tensors[t].producer;

	if (i < 0 || cc->ops[i].state != OP_TODO || is_dynamic(&cc->g->ops[i]) || cc->ten[cc->g->ops[i].in[0]].v.root < 0)
		return -1;
	switch (cc->g->ops[i].op) {
	case WEFT_OP_SLICE:
		return i;
	case WEFT_OP_TRANSPOSE:
	case WEFT_OP_REVERSE:
		return one_reader(cc, t) ? i : -1;
	default:
		return -1;
	}
}

/*
 * Returns tensor t as an operand of a nest, with the step in bytes of each of t's dimensions in stride[].
 * If seen_through() finds a SLICE, TRANSPOSE or REVERSE that makes t, the result is that operator's
 * operand, with its tensor as `t` and its offset and steps changed accordingly, and so on upwards; else it
 * is t itself. is_unsigned is as in alu_type(). The steps are not yet in the operand: the caller puts them
 * at the nest's dimensions.
 */
struct nest_operand nest_view(const struct cc *cc, int t, bool is_unsigned, int64_t stride[WEFT_MAX_RANK])
{
	int i = seen_through(cc, t);

	if (i < 0) {
		nest_strides(cc, t, stride);
		return nest_tensor(cc, t, is_unsigned);
	}
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *y = &cc->g->tensors[t].t;
	int64_t x[WEFT_MAX_RANK];
	/* Operators stand behind what they read, so this ends. */
	struct nest_operand v = nest_view(cc, o->in[0], is_unsigned, x);

	for (int d = 0; d < y->rank; d++)
		stride[d] = o->op == WEFT_OP_TRANSPOSE ? x[o->attr.perm.perm[d]] : x[d];
	for (int d = 0; d < y->rank && o->op == WEFT_OP_SLICE; d++)
		v.off += o->attr.slice.start[d] * x[d];
	if (o->op == WEFT_OP_REVERSE) {
		int axis = o->attr.axis.axis;
		v.off += (y->dim[axis] - 1) * x[axis];
		stride[axis] = -x[axis];
	}
	return v;
}

/* Returns the number v as an operand of a nest. */
struct nest_operand nest_number(int32_t v)
{
	return (struct nest_operand){ .root = -1, .t = -1, .imm = v };
}

/*
 * Returns a storage that a stage has added as an operand of a nest, from its start, with elements of this
 * type of the command; the caller sets the steps.
 */
struct nest_operand nest_storage(int root, int type)
{
	return (struct nest_operand){ .root = root, .t = -1, .type = type };
}

/* Set stride[d] to the step in bytes along each dimension d of tensor t when it lies dense in row-major order. */
void nest_strides(const struct cc *cc, int t, int64_t stride[WEFT_MAX_RANK])
{
	const weft_tensor *x = &cc->g->tensors[t].t;
	int64_t step = (int64_t)weft_dtype_bytes(x->dtype);

	for (int d = x->rank - 1; d >= 0; d--) {
		stride[d] = step;
		step *= x->dim[d];
	}
}

/*
 * If tensor t is a constant of one element that is int8, int16, int32 or bool, set *v to its value and return
 * true; else return false.
 */
static bool one_number(const struct cc *cc, int t, int32_t *v)
{
	const weft_tensor *x = &cc->g->tensors[t].t;

	if (!x->data || weft_tensor_elements(x) != 1)
		return false;
	switch (x->dtype) {
	case WEFT_INT8:
		*v = *(const int8_t *)x->data;
		return true;
	case WEFT_BOOL:
		*v = *(const uint8_t *)x->data;
		return true;
	case WEFT_INT16:
		*v = *(const int16_t *)x->data;
		return true;
	case WEFT_INT32:
		memcpy(v, x->data, sizeof *v);
		return true;
	default:
		return false;
	}
}

/*
 * Returns tensor t as nest_view() does, with its steps set over the `rank` dimensions of a result: t's
 * dimensions are aligned with the last ones, and those of one element are repeated (step 0).
 */
static struct nest_operand broadcast(const struct cc *cc, int t, int rank, bool is_unsigned)
{
	const weft_tensor *x = &cc->g->tensors[t].t;
	int64_t stride[WEFT_MAX_RANK];
	struct nest_operand o = nest_view(cc, t, is_unsigned, stride);

	for (int d = 0; d < x->rank; d++)
		o.step[rank - x->rank + d] = x->dim[d] == 1 ? 0 : stride[d];
	return o;
}

/*
 * If a RESCALE that does nothing but subtract a zero point and shift left, by `most` bits at most, makes the int32 tensor t from
 * an int8 or int16 tensor of which the configuration has the mode, return that tensor and set *zp to the zero point and *left
 * to the bits: the alu can subtract as it reads. Otherwise return t and set *zp and *left to 0. The RESCALE is not claimed.
 */
static int narrow_source(const struct cc *cc, int t, int most, int32_t *zp, int *left)
{
	int i = made_by(cc, t, WEFT_OP_RESCALE), bits;
	struct rescale r;

	*zp = *left = 0;
	if (i < 0 || !read_rescale(cc, i, &r) || r.y_zp || !is_left_shift(&r, &bits) || bits > most ||
	    !npu_int(cc, type_of(cc, cc->g->ops[i].in[0])) || type_of(cc, t) != WEFT_INT32)
		return t;
	*zp = r.x_zp;
	*left = bits;
	return cc->g->ops[i].in[0];
}

/*
 * Returns tensor t as an operand over the `rank` dimensions of a result. If is_unsigned is false and t is the
 * int32 form of an int8 or int16 tensor, that tensor is read instead, with its zero point.
 */
static struct nest_operand number(const struct cc *cc, int t, int rank, bool is_unsigned)
{
	int32_t zp;
	int left, from = is_unsigned ? t : narrow_source(cc, t, 0, &zp, &left);
	struct nest_operand o = broadcast(cc, from, rank, is_unsigned);

	o.zp = from == t ? 0 : zp;
	return o;
}

/*
 * Returns the second operand of a nest from tensor t: its value if it is a constant of one element of int8,
 * int16, int32 or bool, else number() of t over the `rank` dimensions of the result.
 */
struct nest_operand nest_number_of(const struct cc *cc, int t, int rank)
{
	int32_t v;

	return one_number(cc, t, &v) ? nest_number(v) : number(cc, t, rank, false);
}

/*
 * Begin nest s for all elements of tensor t, its result: sets dimensions and y, makes b and c the number 0,
 * and no axis. The caller sets func and a, and b and c if they are used.
 */
void nest_over(const struct cc *cc, struct loop_nest *s, int t)
{
	const weft_tensor *y = &cc->g->tensors[t].t;
	int64_t stride[WEFT_MAX_RANK];

	nest_strides(cc, t, stride);
	s->n_dims = y->rank;
	s->axis = -1;
	s->b = s->c = nest_number(0);
	s->y = nest_tensor(cc, t, false);
	for (int d = 0; d < y->rank; d++) {
		s->dim[d] = y->dim[d];
		s->y.step[d] = stride[d];
	}
}

/*
 * Append `bytes` bytes of data to the program's constants, at a multiple of 64, and add a storage for them.
 * Returns the storage's number, which operands use as root, or a negative errno (-ENOMEM; -E2BIG: too many
 * constants).
 */
int nest_const(struct cc *cc, const void *data, int64_t bytes)
{
	uint64_t at;
	int root = cc_new_root(cc, bytes), err = blob_reserve(&cc->consts, (uint64_t)bytes, 64, &at);

	if (root < 0 || err)
		return root < 0 ? root : err;
	memcpy(cc->consts.p + at, data, (size_t)bytes);
	cc->ten[root].in_const = true;
	cc->ten[root].offset = at;
	return root;
}

/*
 * Returns how many elements of its result the nest writes. Dimensions along which the result does not move do
 * not count; a scatter counts all entries that it may write.
 */
static int64_t elements(const struct loop_nest *s)
{
	int64_t n = nest_entries(s, NEST_Y);

	for (int d = 0; d < s->n_dims; d++)
		if (s->y.step[d])
			n *= s->dim[d];
	return n;
}

/*
 * Add a node of kind NODE_LOOP_NEST for operator i that executes this nest, and claim the operator. The nest
 * is copied and simplified; the storages of its operands are pinned.
 *
 * @param last      The nest is the operator's last one; otherwise the next node that is added must follow it.
 * @param recorded  It writes elements of the operator's result, which debug records describe and runs check.
 * @return 1, or -ENOMEM
 */
int nest_add_node(struct cc *cc, int i, const struct loop_nest *nest, bool last, bool recorded)
{
	struct node *nd = new_node(cc, NODE_LOOP_NEST, i, i);
	int err = nd ? cc_grow(&cc->nests, (uint32_t)cc->n_nests, &cc->cap_nests, sizeof *cc->nests) : -ENOMEM;

	if (err)
		return err;
	struct loop_nest *s = &cc->nests[cc->n_nests];
	*s = *nest;
	nd->nest = cc->n_nests++;
	nd->x = (struct view){ .root = s->a.root };
	nd->x_t = s->a.t;
	nd->add = s->b.root >= 0;
	nd->r = (struct view){ .root = s->b.root };
	nd->r_t = s->b.t;
	nd->third = s->c.root >= 0;
	nd->z = (struct view){ .root = s->c.root };
	nd->z_t = s->c.t;
	nd->y = (struct view){ .root = s->y.root };
	nd->dbg = (struct view){ .dim = { 1, 1, 1, elements(s) } };
	if (!recorded)
		nd->y_tensor = -1;
	if (!last)
		nd->before = (int)(nd - cc->nodes) + 2;
	for (int k = 0; k < NEST_OPERANDS; k++)
		if (nest_operand(s, k)->root >= 0)
			cc->ten[nest_operand(s, k)->root].pinned = true;
	/* A pass may have left dimensions that nothing distinguishes. */
	nest_simplify(s);
	return 1;
}

/* ---- one element at a time ---- */

/*
 * Let the nest clamp its result to the range of the result's type if that is 8 or 16 bits wide, signed or
 * unsigned. For int32 and int48, the only other types that it may have, switch clamping off, since they are
 * cut to 32 bits anyway.
 */
static void limits_of(struct loop_nest *s)
{
	static const int32_t lo[] = { INT8_MIN, INT16_MIN, 0, 0, 0, 0 }, hi[] = { INT8_MAX, INT16_MAX, 0, 0, UINT8_MAX, UINT16_MAX };

	/* Wider results are cut to 32 bits anyway. */
	s->clamp = s->y.type != TYPE(INT32) && s->y.type != TYPE(INT48);
	s->lo = s->clamp ? lo[s->y.type] : 0;
	s->hi = s->clamp ? hi[s->y.type] : 0;
}

/* Returns whether func(a, b) is func(b, a). */
static bool commutes(int func)
{
	return func == FUNC(ADD) || func == FUNC(MUL) || func == FUNC(MAX) || func == FUNC(MIN) || func == FUNC(AND) || func == FUNC(OR) ||
	       func == FUNC(XOR) || func == FUNC(EQ);
}

/* Returns whether operand o of nest s lies in a storage and does not move along the innermost dimension that has several elements. */
static bool stands_still(const struct loop_nest *s, const struct nest_operand *o)
{
	for (int d = s->n_dims - 1; d >= 0; d--)
		if (s->dim[d] > 1)
			return o->root >= 0 && !o->step[d];
	return false;
}

/*
 * Returns the nest y = func(a, b) of operator i over its result, with both operands broadcast. A constant
 * second operand of one element becomes a number, and the int32 form of an int8 or int16 tensor is read as
 * that tensor (number()). If is_unsigned is set, the first operand is read as unsigned, and its int32 form as
 * it is. The shift of MUL and the rounding of ARITHMETIC_RIGHT_SHIFT are set as well.
 */
static struct loop_nest two_operands(const struct cc *cc, int i, int func, bool is_unsigned)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct loop_nest s = { .func = func };

	nest_over(cc, &s, o->out[0]);
	s.a = number(cc, o->in[0], s.n_dims, is_unsigned);
	s.b = nest_number_of(cc, o->in[1], s.n_dims);
	if (o->op == WEFT_OP_MUL)
		s.shift = o->attr.mul.shift;
	if (o->op == WEFT_OP_ARITHMETIC_RIGHT_SHIFT)
		s.round = o->attr.shift.round;
	/* The alu reads b once for a row of blocks if b stays the same along it, but it reads a for each block. A number can only be b. */
	if (commutes(func) && stands_still(&s, &s.a) && s.b.root >= 0 && !stands_still(&s, &s.b)) {
		const struct nest_operand a = s.a;
		s.a = s.b;
		s.b = a;
	}
	return s;
}

/*
 * Match operator i, which has two operands, as the nest y = func(a, b), broadcast to its result;
 * is_unsigned: the first operand is read as unsigned. Returns 1 if it was matched, 0 if the type of its
 * first operand is a float or unknown to the command (the reason then is set), or -ENOMEM.
 */
static int binary(struct cc *cc, int i, int func, bool is_unsigned)
{
	weft_dtype type = type_of(cc, cc->g->ops[i].in[0]);

	if (weft_is_float(type) || alu_type(type, false) < 0)
		return cc_reason(cc, i, "no arithmetic of %s", weft_dtype_name(type));
	struct loop_nest s = two_operands(cc, i, func, is_unsigned);
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Match operator i, which has one operand, as the nest y = func(x, imm). NEGATE takes its zero points along
 * and clamps to the result's type, CLAMP to its own limits. Returns 1 if it was matched, 0 if its type is a
 * float or unknown to the command (the reason then is set), or -ENOMEM.
 */
static int unary(struct cc *cc, int i, int func, int32_t imm)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct loop_nest s = { .func = func };

	if (weft_is_float(type_of(cc, o->in[0])) || alu_type(type_of(cc, o->in[0]), false) < 0)
		return cc_reason(cc, i, "no arithmetic of %s", weft_dtype_name(type_of(cc, o->in[0])));
	nest_over(cc, &s, o->out[0]);
	s.a = broadcast(cc, o->in[0], s.n_dims, false);
	s.b = nest_number(imm);
	if (o->op == WEFT_OP_NEGATE) {
		s.a.zp = o->attr.negate.x_zp;
		s.y.zp = o->attr.negate.y_zp;
		limits_of(&s);
		/* What does not fit int32 is clipped as well. */
		if (s.y.type == TYPE(INT32)) {
			s.clamp = true;
			s.lo = INT32_MIN;
			s.hi = INT32_MAX;
		}
	}
	if (o->op == WEFT_OP_CLAMP) {
		s.clamp = true;
		s.lo = (int32_t)o->attr.clamp.min;
		s.hi = (int32_t)o->attr.clamp.max;
	}
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Match CAST i. Between integers it is a move, to bool a comparison with 0; if either side is a float,
 * match_cast_by_table() takes it. Returns 1 if it was matched, 0 if the command has no such type
 * (alu_type()) or match_cast_by_table() refuses it (the reason then is set), or a negative errno.
 */
static int cast(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	weft_dtype from = type_of(cc, o->in[0]), to = type_of(cc, o->out[0]);
	struct loop_nest s = { .func = to == WEFT_BOOL ? FUNC(GT) : FUNC(MOVE) };

	if (alu_type(from, false) < 0 || alu_type(to, false) < 0)
		return cc_reason(cc, i, "%s to %s", weft_dtype_name(from), weft_dtype_name(to));
	if (weft_is_float(from) || weft_is_float(to))
		return match_cast_by_table(cc, i);
	nest_over(cc, &s, o->out[0]);
	s.a = broadcast(cc, o->in[0], s.n_dims, to == WEFT_BOOL);
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Match SELECT i as the nest whose results are a where c holds, otherwise b. Returns 1 if it was matched, 0
 * if the command has no such type (the reason then is set), or -ENOMEM.
 */
static int select(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct loop_nest s = { .func = FUNC(SELECT) };

	if (alu_type(type_of(cc, o->out[0]), false) < 0)
		return cc_reason(cc, i, "no arithmetic of %s", weft_dtype_name(type_of(cc, o->out[0])));
	nest_over(cc, &s, o->out[0]);
	s.c = nest_number_of(cc, o->in[0], s.n_dims);
	s.a = number(cc, o->in[1], s.n_dims, false);
	s.b = nest_number_of(cc, o->in[2], s.n_dims);
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Returns multiplier or shift tensor t of a RESCALE as an operand of a nest with `rank` dimensions: a number
 * if it has one element and is constant; if it has several elements, they go along the last dimension, else
 * the same one is read everywhere.
 */
static struct nest_operand scale_operand(const struct cc *cc, int t, int rank)
{
	struct nest_operand o = nest_number_of(cc, t, 1);

	if (o.root >= 0 && weft_tensor_elements(&cc->g->tensors[t].t) > 1) {
		o.step[0] = 0;
		o.step[rank - 1] = alu_bytes(o.type);
	}
	return o;
}

/* Sets multipliers, shifts and rounding of the nest *s, whose dimensions are set, to those of RESCALE o. */
static void set_scale(const struct cc *cc, const struct weft_gop *o, struct loop_nest *s)
{
	s->b = scale_operand(cc, o->in[1], s->n_dims);
	s->c = scale_operand(cc, o->in[2], s->n_dims);
	s->round = o->attr.rescale.rounding == WEFT_DOUBLE_ROUND;
	s->even = o->attr.rescale.rounding == WEFT_EVEN_ROUND;
}

/*
 * Returns whether o, which must be a RESCALE, goes from an unsigned input of the network, or to an unsigned
 * output, while the nodes matched so far are not all loop nests. If so, the host should do it: an element
 * takes the alu four times as long as it takes the host's copy, which happens anyway.
 */
bool alu_at_edge(const struct cc *cc, const struct weft_gop *o)
{
	const struct weft_attr_rescale *a = &o->attr.rescale;
	bool edge = (a->x_unsigned && cc->g->tensors[o->in[0]].is_input) || (a->y_unsigned && cc->g->tensors[o->out[0]].is_output);

	for (int i = 0; edge && i < cc->n_nodes; i++)
		if (cc->nodes[i].kind != NODE_LOOP_NEST)
			return true;
	return false;
}

/*
 * Returns whether all elements of constant t that differ only in their index along dimension d are the same.
 */
static bool same_along(const weft_tensor *t, int d)
{
	int64_t one = (int64_t)weft_dtype_bytes(t->dtype), step = one;
	const uint8_t *data = t->data;

	for (int k = t->rank - 1; k > d; k--)
		step *= t->dim[k];
	int64_t line = step * t->dim[d], bytes = (int64_t)weft_tensor_bytes(t);
	for (int64_t at = 0; at < bytes; at += line)
		if (memcmp(data + at, data + at + step, (size_t)(line - step)))
			return false;
	return true;
}

/*
 * If operand o of nest s reads a constant tensor of the graph from the tensor's own storage, set its step to 0
 * along each dimension in which the constant only repeats itself (same_along()). The constant's dimensions are
 * the nest's last ones; one of them counts only if o's step there is that of the dense constant, so that a
 * constant read through a TRANSPOSE or REVERSE keeps its other steps.
 */
static void hold_still(const struct cc *cc, struct loop_nest *s, struct nest_operand *o)
{
	const weft_tensor *t = o->t >= 0 && o->t == o->root ? &cc->g->tensors[o->t].t : NULL;
	int64_t stride[WEFT_MAX_RANK];

	if (!t || !t->data || !weft_tensor_bytes(t) || s->n_dims < t->rank)
		return;
	nest_strides(cc, o->t, stride);
	for (int d = 0; d < t->rank; d++) {
		int64_t *step = &o->step[s->n_dims - t->rank + d];
		if (t->dim[d] > 1 && *step == stride[d] && same_along(t, d))
			*step = 0;
	}
}

/*
 * Set the steps of y, in bytes of elements of y's type, so that it is dense over the dimensions of s, the last
 * one innermost, leaving out those in which `still` is set: their steps become 0.
 */
static void dense_but(struct nest_operand *y, const struct loop_nest *s, const bool still[WEFT_MAX_RANK])
{
	int64_t step = alu_bytes(y->type);

	for (int d = s->n_dims - 1; d >= 0; d--) {
		y->step[d] = still[d] ? 0 : step;
		step *= still[d] ? 1 : s->dim[d];
	}
}

/* Copies of each element from which on computing it once pays: two more commands run then. Not measured. */
#define WORTH_REPEATING 4

/* int16 less a zero point, shifted left by so many bits, is an int32. */
#define INT32_SHIFT 14

/* A sum or product in front of a RESCALE of which most results are copies of others. */
struct repeated_sum {
	int op;                /* the ADD, SUB or MUL that makes it */
	struct loop_nest s;    /* its nest over all of the result; operands do not move where they only repeat themselves */
	bool still[WEFT_MAX_RANK];   /* neither operand moves along this dimension */
	int64_t n;             /* number of distinct results: those of the other dimensions */
};

/* Returns the function of the command that ADD, SUB or MUL is; -1 for other operators. */
int nest_sum_func(weft_opcode op)
{
	return op == WEFT_OP_ADD ? FUNC(ADD) : op == WEFT_OP_SUB ? FUNC(SUB) : op == WEFT_OP_MUL ? FUNC(MUL) : -1;
}

/*
 * Look for an ADD, SUB or MUL that makes the int32 operand of RESCALE r_op, of which each result is a copy of at least
 * WORTH_REPEATING - 1 others, because both operands repeat themselves along some dimensions (hold_still()). Nothing but
 * the RESCALE may read it, no stage may have taken it, it must not be forbidden, and its operands must have views.
 * Returns whether there is one, and if so sets *q; if not, *q is undefined. No node is added.
 */
static bool find_repeated(const struct cc *cc, int r_op, struct repeated_sum *q)
{
	int t = cc->g->ops[r_op].in[0], i = cc->g->tensors[t].producer;
	int64_t copies = 1;

	if (i < 0 || cc->ops[i].state != OP_TODO || cc->ops[i].forbidden || !read_only_by(cc, t, r_op) || type_of(cc, t) != WEFT_INT32)
		return false;
	const struct weft_gop *o = &cc->g->ops[i];
	int func = nest_sum_func(o->op);
	if (func < 0 || cc->ten[o->in[0]].v.root < 0 || cc->ten[o->in[1]].v.root < 0)
		return false;
	*q = (struct repeated_sum){ .op = i, .s = two_operands(cc, i, func, false), .n = 1 };
	hold_still(cc, &q->s, &q->s.a);
	hold_still(cc, &q->s, &q->s.b);
	for (int d = 0; d < q->s.n_dims; d++) {
		q->still[d] = !q->s.a.step[d] && (q->s.b.root < 0 || !q->s.b.step[d]);
		*(q->still[d] ? &copies : &q->n) *= q->s.dim[d];
	}
	return copies >= WORTH_REPEATING;
}

/*
 * Match RESCALE r_op together with the sum *q in front of it by three nests of operator `last`: each distinct sum once,
 * its scaling, and the copying to all results. `all` is the nest that would scale every result, with one multiplier and
 * one shift. `last` is r_op or the CLAMP behind it; all three operators are claimed. Returns 1 or -ENOMEM.
 */
static int add_repeated(struct cc *cc, const struct repeated_sum *q, int r_op, int last, const struct loop_nest *all)
{
	struct loop_nest s = q->s, scale = *all, copy = { .func = FUNC(MOVE) };
	int sum = cc_new_root(cc, q->n * alu_bytes(TYPE(INT32))), scaled = cc_new_root(cc, q->n * alu_bytes(all->y.type));

	if (sum < 0 || scaled < 0)
		return -ENOMEM;
	nest_over(cc, &copy, cc->g->ops[last].out[0]);
	s.y = nest_storage(sum, TYPE(INT32));
	copy.a = nest_storage(scaled, all->y.type);
	copy.y.type = all->y.type;
	dense_but(&s.y, &q->s, q->still);
	dense_but(&copy.a, &q->s, q->still);
	scale.a.root = sum;
	scale.a.t = -1;
	scale.a.off = 0;
	memcpy(scale.a.step, s.y.step, sizeof scale.a.step);
	scale.y = copy.a;
	scale.y.zp = all->y.zp;
	for (int d = 0; d < s.n_dims; d++)
		s.dim[d] = scale.dim[d] = q->still[d] ? 1 : q->s.dim[d];
	int err = nest_add_node(cc, last, &s, false, false);
	if (err > 0)
		err = nest_add_node(cc, last, &scale, false, false);
	if (err > 0)
		err = nest_add_node(cc, last, &copy, true, true);
	if (err > 0) {
		claim(cc, q->op, &cc->nodes[cc->n_nodes - 1]);
		claim(cc, r_op, &cc->nodes[cc->n_nodes - 1]);
	}
	return err;
}

/*
 * If the operand of RESCALE o is made by a RESCALE that only shifts left, let the nest *s of o read the operand of that other
 * RESCALE, with its zero point, and shift right by as many bits less. The results are the same, because the bits that are
 * shifted in are 0: neither the addition of half a unit nor a tie depends on them. Nothing changes if the nest has several
 * multipliers or shifts, or if no bit would be left to shift right by. Nothing changes either if the shift would get less and is above
 * 31 with WEFT_DOUBLE_ROUND, because such a RESCALE adds a second number before it shifts.
 */
static void read_unshifted(const struct cc *cc, const struct weft_gop *o, struct loop_nest *s)
{
	const struct weft_attr_rescale *a = &o->attr.rescale;
	const int most = type_of(cc, o->in[0]) == WEFT_INT32 && !a->x_unsigned && !a->x_zp && s->b.root < 0 && s->c.root < 0 ? s->c.imm - 1 : -1;
	int32_t zp;
	int left, from = narrow_source(cc, o->in[0], (int)min64(most, INT32_SHIFT), &zp, &left);

	if (from == o->in[0] || (left && s->round && s->c.imm > 31))
		return;
	s->a = broadcast(cc, from, s->n_dims, false);
	s->a.zp = zp;
	s->c.imm -= left;
}

bool nest_scale(const struct cc *cc, int i, int rank, struct loop_nest *s)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_rescale *a = &o->attr.rescale;

	*s = (struct loop_nest){ .func = FUNC(RESCALE), .n_dims = rank, .axis = -1, .a = nest_number(0) };
	if (a->x_unsigned || a->y_unsigned || a->y_zp || (a->rounding == WEFT_EVEN_ROUND && !cc->has_even))
		return false;
	set_scale(cc, o, s);
	if (s->b.root >= 0 || s->c.root >= 0)
		return false;
	read_unshifted(cc, o, s);
	if (s->a.root >= 0)
		return true;
	/* The caller makes the operand by nests, whose results have no zero point. */
	return !a->x_zp;
}

/*
 * Match RESCALE i as a nest; or, if it has one multiplier and one shift and find_repeated() finds a sum in front of it,
 * together with that sum as three nests (add_repeated()); or part by part with the operators in front of it (match_chain()). `last` is i,
 * or a CLAMP that alone reads its result, whose
 * limits the nest takes. Results are clamped to their type if that has 8 or 16 bits. Returns 1 if it was matched; 0 if
 * the configuration does not round to even as asked, the host does it better (alu_at_edge()) or the command has no such
 * type, with the reason set; or -ENOMEM.
 */
static int rescale(struct cc *cc, int i, int last)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_rescale *a = &o->attr.rescale;
	struct loop_nest s = { .func = FUNC(RESCALE) };

	if (a->rounding == WEFT_EVEN_ROUND && !cc->has_even)
		return cc_reason(cc, i, "ties to even");
	if (alu_at_edge(cc, o))
		return cc_reason(cc, i, "from or to unsigned at the network's edge");
	nest_over(cc, &s, cc->g->ops[last].out[0]);
	s.y.type = alu_type(type_of(cc, o->out[0]), a->y_unsigned);
	s.a = broadcast(cc, o->in[0], s.n_dims, a->x_unsigned);
	if (s.a.type < 0 || s.y.type < 0)
		return cc_reason(cc, i, "%s to %s", weft_dtype_name(type_of(cc, o->in[0])), weft_dtype_name(type_of(cc, o->out[0])));
	set_scale(cc, o, &s);
	s.a.zp = a->x_zp;
	s.y.zp = a->y_zp;
	limits_of(&s);
	if (last != i) {
		/* The type's limits first, then the CLAMP's, which lie within them. */
		s.lo = (int32_t)cc->g->ops[last].attr.clamp.min;
		s.hi = (int32_t)cc->g->ops[last].attr.clamp.max;
	}
	read_unshifted(cc, o, &s);
	struct repeated_sum q;
	if (s.b.root < 0 && s.c.root < 0 && find_repeated(cc, i, &q))
		return add_repeated(cc, &q, i, last, &s);
	int err = s.b.root < 0 && s.c.root < 0 && !a->x_unsigned && !a->y_unsigned && !a->x_zp ? match_chain(cc, i, last, &s) : 0;
	if (!err)
		err = nest_add_node(cc, last, &s, true, true);
	if (err > 0)
		claim(cc, i, &cc->nodes[cc->n_nodes - 1]);
	return err;
}

/*
 * If operator i is a CLAMP: returns the number of the RESCALE that makes its operand, if one nest can compute
 * both. No stage has taken that RESCALE, it is not forbidden and not better left to the host (alu_at_edge()),
 * only i reads it, its result is signed, and its operand has a view and a type that the command has.
 * Otherwise, and for other operators, returns -1.
 */
static int rescale_before(const struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int k = o->op == WEFT_OP_CLAMP ? made_by(cc, o->in[0], WEFT_OP_RESCALE) : -1;

	if (k < 0 || alu_at_edge(cc, &cc->g->ops[k]) || cc->ops[k].state != OP_TODO || cc->ops[k].forbidden || !read_only_by(cc, o->in[0], i))
		return -1;
	/* What is stored unsigned compares otherwise in a CLAMP. */
	return cc->g->ops[k].attr.rescale.y_unsigned || cc->ten[cc->g->ops[k].in[0]].v.root < 0 ||
	       alu_type(type_of(cc, cc->g->ops[k].in[0]), false) < 0 ? -1 : k;
}

/*
 * Match TABLE i: a look-up among 256 entries for int8 (index x + 128), an interpolation between 513 entries
 * for int16 (index from x + 32768). Returns 1, or -ENOMEM.
 */
static int table(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	bool wide = type_of(cc, o->in[0]) == WEFT_INT16;
	struct loop_nest s = { .func = wide ? FUNC(INTERP) : FUNC(LOOKUP) };

	nest_over(cc, &s, o->out[0]);
	s.a = broadcast(cc, o->in[0], s.n_dims, false);
	s.b = nest_tensor(cc, o->in[1], false);
	s.a.zp = wide ? INT16_MIN : INT8_MIN;
	s.idx_step = alu_bytes(s.b.type);
	s.idx_last = wide ? 511 : 255;
	return nest_add_node(cc, i, &s, true, true);
}

/* ---- along an axis ---- */

/*
 * Add the nest that folds operator i's operand along the operator's axis by func (a reduction, or ARGMAX).
 * `a` is the operand with its steps; it may be another storage with elements in the operand's shape. Returns
 * 1 or -ENOMEM.
 */
int nest_fold(struct cc *cc, int i, int func, struct nest_operand a)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t;
	int axis = o->attr.axis.axis;
	struct loop_nest s = { .func = func };

	nest_over(cc, &s, o->out[0]);
	/* ARGMAX's result lacks the dimension. */
	if (func == FUNC(ARGMAX)) {
		for (int d = x->rank - 1; d > axis; d--)
			s.y.step[d] = s.y.step[d - 1];
		s.n_dims = x->rank;
	}
	s.y.step[axis] = 0;
	s.a = a;
	s.axis = axis;
	for (int d = 0; d < x->rank; d++)
		s.dim[d] = x->dim[d];
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Match operator i, a reduction along one axis or an ARGMAX, as a nest of func. An ARGMAX of floats, or of a
 * type unknown to the command, goes to match_float_argmax(). Returns 1 if it was matched, 0 if its type is a
 * float or unknown to the command (the reason then is set), or a negative errno.
 */
static int reduce(struct cc *cc, int i, int func)
{
	weft_dtype type = type_of(cc, cc->g->ops[i].in[0]);
	int64_t stride[WEFT_MAX_RANK];

	if (weft_is_float(type) || alu_type(type, false) < 0)
		return func == FUNC(ARGMAX) ? match_float_argmax(cc, i) : cc_reason(cc, i, "no arithmetic of %s", weft_dtype_name(type));
	struct nest_operand a = nest_view(cc, cc->g->ops[i].in[0], false, stride);
	memcpy(a.step, stride, sizeof stride);
	return nest_fold(cc, i, func, a);
}

/*
 * Match MATMUL i of integers, which match_conv.c has left, as dot products of the alu, one nest for all.
 * Returns 1 if it was matched, 0 if it is a product of floats (the reason then is set), or -ENOMEM.
 */
static int matmul(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const weft_tensor *y = &cc->g->tensors[o->out[0]].t;
	struct loop_nest s = { .func = FUNC(DOT) };
	int64_t a[WEFT_MAX_RANK], b[WEFT_MAX_RANK];

	if (weft_is_float(type_of(cc, o->in[0])))
		return cc_reason(cc, i, "no arithmetic of %s", weft_dtype_name(type_of(cc, o->in[0])));
	nest_over(cc, &s, o->out[0]);
	s.a = nest_view(cc, o->in[0], false, a);
	s.b = nest_view(cc, o->in[1], false, b);
	s.a.zp = o->attr.matmul.a_zp;
	s.b.zp = o->attr.matmul.b_zp;
	s.n_dims = 4;
	s.axis = 3;
	s.dim[3] = cc->g->tensors[o->in[0]].t.dim[2];
	s.a.step[0] = y->dim[0] > 1 ? a[0] : 0;
	s.a.step[1] = a[1];
	s.a.step[3] = a[2];
	s.b.step[0] = y->dim[0] > 1 ? b[0] : 0;
	s.b.step[2] = b[2];
	s.b.step[3] = b[1];
	return nest_add_node(cc, i, &s, true, true);
}

/*
 * Returns whether operator i has exactly one result, which is not empty, and its result and all its operands
 * are of types that the device knows.
 */
static bool may_be(const struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];

	for (int k = 0; k < o->n_in; k++)
		if (cc->ten[o->in[k]].v.root < 0)
			return false;
	return o->n_out == 1 && cc->ten[o->out[0]].v.root >= 0 && weft_tensor_elements(&cc->g->tensors[o->out[0]].t) > 0;
}

/*
 * Match operator i if its results come from single elements: arithmetic, logic, shifts, comparisons, CLAMP
 * (of fp16 by a table). Returns 1 if it was matched; 0 if it is another operator (no reason is set) or the
 * command does not compute with its type (the reason then is set); or a negative errno.
 */
static int match_elements(struct cc *cc, int i)
{
	switch (cc->g->ops[i].op) {
	case WEFT_OP_ADD:
		return binary(cc, i, FUNC(ADD), false);
	case WEFT_OP_SUB:
		return binary(cc, i, FUNC(SUB), false);
	case WEFT_OP_MUL:
		return binary(cc, i, FUNC(MUL), false);
	case WEFT_OP_MAXIMUM:
		return binary(cc, i, FUNC(MAX), false);
	case WEFT_OP_MINIMUM:
		return binary(cc, i, FUNC(MIN), false);
	case WEFT_OP_BITWISE_AND:
	case WEFT_OP_LOGICAL_AND:
		return binary(cc, i, FUNC(AND), false);
	case WEFT_OP_BITWISE_OR:
	case WEFT_OP_LOGICAL_OR:
		return binary(cc, i, FUNC(OR), false);
	case WEFT_OP_BITWISE_XOR:
	case WEFT_OP_LOGICAL_XOR:
		return binary(cc, i, FUNC(XOR), false);
	case WEFT_OP_LOGICAL_LEFT_SHIFT:
		return binary(cc, i, FUNC(SHL), false);
	case WEFT_OP_LOGICAL_RIGHT_SHIFT:
		return binary(cc, i, FUNC(SHR), true);
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT:
		return binary(cc, i, FUNC(SHR), false);
	case WEFT_OP_EQUAL:
		return binary(cc, i, FUNC(EQ), false);
	case WEFT_OP_GREATER:
		return binary(cc, i, FUNC(GT), false);
	case WEFT_OP_GREATER_EQUAL:
		return binary(cc, i, FUNC(GE), false);
	case WEFT_OP_ABS:
		return unary(cc, i, FUNC(ABS), 0);
	case WEFT_OP_NEGATE:
		return unary(cc, i, FUNC(RSUB), 0);
	case WEFT_OP_BITWISE_NOT:
		return unary(cc, i, FUNC(XOR), -1);
	case WEFT_OP_LOGICAL_NOT:
		return unary(cc, i, FUNC(EQ), 0);
	case WEFT_OP_CLZ:
		return unary(cc, i, FUNC(CLZ), 0);
	case WEFT_OP_CLAMP:
		return type_of(cc, cc->g->ops[i].in[0]) == WEFT_FP16 ? match_by_table(cc, i) : unary(cc, i, FUNC(MOVE), 0);
	default:
		return 0;
	}
}

/*
 * Match operator i, which larger patterns have left, as one or more loop nests of the alu if that can do
 * it. It must have one result, not empty, and all its tensors types that the device knows (may_be()). A
 * CLAMP takes the RESCALE in front of it along if rescale_before() finds one; nothing else is tried then. A
 * pool is taken if it only leaves out pixels (pool_is_stride()). Returns 1 if it was matched, 0 if not, or
 * a negative errno. No reason is set if may_be() refuses the operator, or if it is any other pool or an
 * opcode that the alu does not have; otherwise a 0 comes with one.
 */
int match_alu(struct cc *cc, int i)
{
	int err;

	if (!may_be(cc, i))
		return 0;
	int before = rescale_before(cc, i);
	if (before >= 0)
		return rescale(cc, before, i);
	if ((err = match_elements(cc, i)) || (err = match_move(cc, i)))
		return err;
	switch (cc->g->ops[i].op) {
	case WEFT_OP_CAST:
		return cast(cc, i);
	case WEFT_OP_SELECT:
		return select(cc, i);
	case WEFT_OP_RESCALE:
		return rescale(cc, i, i);
	case WEFT_OP_TABLE:
		return table(cc, i);
	case WEFT_OP_REDUCE_SUM:
		return reduce(cc, i, FUNC(SUM));
	case WEFT_OP_REDUCE_MAX:
		return reduce(cc, i, FUNC(RMAX));
	case WEFT_OP_REDUCE_MIN:
		return reduce(cc, i, FUNC(RMIN));
	/* Of 0 and 1, which the alu compares a word at a time. */
	case WEFT_OP_REDUCE_ALL:
		return reduce(cc, i, FUNC(RMIN));
	case WEFT_OP_REDUCE_ANY:
		return reduce(cc, i, FUNC(RMAX));
	case WEFT_OP_ARGMAX:
		return reduce(cc, i, FUNC(ARGMAX));
	case WEFT_OP_MATMUL:
		return matmul(cc, i);
	case WEFT_OP_AVG_POOL2D:
	case WEFT_OP_MAX_POOL2D:
		return pool_is_stride(cc, i) ? match_pool_alone(cc, i) : 0;
	default:
		return match_tfl(cc, i);
	}
}

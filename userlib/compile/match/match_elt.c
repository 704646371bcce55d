/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the elementwise engine does beside RESCALE and sums: functions of one byte by a
 * table, and products of two int8 or int16 tensors.
 *
 * A function is whatever operators on single elements make of one 8-bit tensor and
 * numbers, up to the next 8-bit tensor; these operators are called its cone. The table
 * has golden's own results.
 * Source: include/spec/cmd.toml, elt.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match_alu.h"
#include "sim/golden/golden.h"

/* Operators of one function, and steps taken to list them. Not measured. */
#define MAX_CONE 32
#define MAX_STEPS 256
#define CODES    256

/* The operators between one 8-bit tensor and operator op[0], which together are a function of one byte. */
struct cone {
	int op[MAX_CONE], n, steps;   /* the operators, readers first; their number; steps taken to list them */
	int x;                 /* the tensor that the function reads; -1: none has been met yet */
	int other;             /* another 8-bit tensor that was met behind it; -1: none */
	int from;              /* the tensor that it must read, through other 8-bit tensors; -1: the first 8-bit tensor met */
	int through;           /* a node whose operators are taken in although it has them; -1: none */
};

/*
 * Returns whether an integer operator with this opcode makes each element of its result from one element of each
 * operand. True for sums, products, minimum and maximum, comparisons, SELECT, bitwise operators, LOGICAL_NOT (but
 * not the other logical ones), shifts, TABLE, CLAMP, ABS, NEGATE, CLZ, CAST and RESCALE. Tables and multipliers do
 * not count as operands here.
 */
static bool on_elements(weft_opcode op)
{
	switch (op) {
	case WEFT_OP_ADD:
	case WEFT_OP_SUB:
	case WEFT_OP_MUL:
	case WEFT_OP_MAXIMUM:
	case WEFT_OP_MINIMUM:
	case WEFT_OP_BITWISE_AND:
	case WEFT_OP_BITWISE_OR:
	case WEFT_OP_BITWISE_XOR:
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT:
	case WEFT_OP_LOGICAL_LEFT_SHIFT:
	case WEFT_OP_LOGICAL_RIGHT_SHIFT:
	case WEFT_OP_EQUAL:
	case WEFT_OP_GREATER:
	case WEFT_OP_GREATER_EQUAL:
	case WEFT_OP_SELECT:
	case WEFT_OP_TABLE:
	case WEFT_OP_CLAMP:
	case WEFT_OP_ABS:
	case WEFT_OP_NEGATE:
	case WEFT_OP_BITWISE_NOT:
	case WEFT_OP_LOGICAL_NOT:
	case WEFT_OP_CLZ:
	case WEFT_OP_CAST:
	case WEFT_OP_RESCALE:
		return true;
	default:
		return false;
	}
}

/*
 * Returns the index of the first operand of o that is no element but a constant for all: 1 for RESCALE
 * (multiplier) and TABLE (table); for others the number of operands, since they have none.
 */
static int first_constant(const struct weft_gop *o)
{
	return o->op == WEFT_OP_RESCALE || o->op == WEFT_OP_TABLE ? 1 : o->n_in;
}

/* Returns whether tensor t is a constant whose elements are all the same. An empty one is not. */
bool is_number(const struct cc *cc, int t)
{
	const weft_tensor *v = &cc->g->tensors[t].t;
	size_t n = weft_tensor_bytes(v), one = weft_dtype_bytes(v->dtype);

	return v->data && n && !memcmp(v->data, (const uint8_t *)v->data + one, n - one);
}

/* Returns whether t is an int8 or uint8 tensor with a view, so that the device can read it. */
static bool is_byte(const struct cc *cc, int t)
{
	weft_dtype type = type_of(cc, t);

	return (type == WEFT_INT8 || type == WEFT_UINT8) && cc->ten[t].v.root >= 0;
}

/*
 * Returns whether t is one of the integer types that a function's intermediate values may have: int8, uint8,
 * int16, int32, bool.
 */
static bool is_integer(weft_dtype t)
{
	return t == WEFT_INT8 || t == WEFT_UINT8 || t == WEFT_INT16 || t == WEFT_INT32 || t == WEFT_BOOL;
}

/* Returns whether operator i is one of the cone's. */
static bool in_cone(const struct cone *c, int i)
{
	for (int k = 0; k < c->n; k++)
		if (c->op[k] == i)
			return true;
	return false;
}

static bool take_operator(const struct cc *cc, struct cone *c, int i);

/*
 * Take tensor t as an operand of one of the cone's operators. It must be a constant whose elements are all the
 * same, or an integer tensor of exactly `elements` elements, of which there are two kinds:
 *
 * - The tensor that the function reads: an 8-bit one with a view that is c->from, or any such one if c->from
 *   is -1, unless a node c->through makes it. c->x is set to the first one met; another one is refused and
 *   noted in c->other.
 * - Any other one: the operator that makes it is taken into the cone (take_operator()).
 *
 * Returns false if t is refused or take_operator() refuses its operator; the cone then is undefined but for x
 * and other.
 */
static bool take_operand(const struct cc *cc, struct cone *c, int t, int64_t elements)
{
	const weft_tensor *v = &cc->g->tensors[t].t;

	if (v->data)
		return is_number(cc, t);
	if (weft_tensor_elements(v) != elements || !is_integer(v->dtype))
		return false;
	int i = cc->g->tensors[t].producer;
	if (!is_byte(cc, t) || (c->from >= 0 && t != c->from) || (c->through >= 0 && i >= 0 && cc->ops[i].state == OP_NODE && cc->ops[i].node == c->through))
		return take_operator(cc, c, i);
	if (c->x >= 0 && c->x != t) {
		c->other = t;
		return false;
	}
	c->x = t;
	return true;
}

/*
 * Append operator i and all that it reads, up to the tensor c->x, to the cone. An operator that is already in the
 * cone moves behind its last reader. Returns false if it cannot be part of a function of one byte: i is negative,
 * its opcode or result type is a wrong one, it is a RESCALE by channel, a table or multiplier is not constant, it
 * is forbidden, takes dynamic arguments or has been taken by some stage (state not OP_TODO) and is not in node
 * c->through, or the cone would have more than MAX_CONE operators or take more than MAX_STEPS steps to list. The
 * cone then is undefined but for x and other.
 */
static bool take_operator(const struct cc *cc, struct cone *c, int i)
{
	if (i < 0 || c->n == MAX_CONE || c->steps++ == MAX_STEPS || cc->ops[i].forbidden || is_dynamic(&cc->g->ops[i]) ||
	    (cc->ops[i].state != OP_TODO && !(cc->ops[i].state == OP_NODE && cc->ops[i].node == c->through)))
		return false;
	const struct weft_gop *o = &cc->g->ops[i];
	int64_t elements = weft_tensor_elements(&cc->g->tensors[o->out[0]].t);

	if (!on_elements(o->op) || !is_integer(type_of(cc, o->out[0])) || (o->op == WEFT_OP_RESCALE && o->attr.rescale.per_channel))
		return false;
	for (int k = 0; k < c->n; k++)
		if (c->op[k] == i) {
			memmove(c->op + k, c->op + k + 1, (size_t)(c->n - k - 1) * sizeof *c->op);
			c->n--;
		}
	c->op[c->n++] = i;
	for (int k = 0; k < o->n_in; k++) {
		if (k >= first_constant(o) ? !cc->g->tensors[o->in[k]].t.data : !take_operand(cc, c, o->in[k], elements))
			return false;
	}
	return true;
}

/*
 * Returns whether nothing outside of the cone, the graph's outputs included, needs a result of any of its
 * operators but op[0].
 */
static bool is_closed(const struct cc *cc, const struct cone *c)
{
	for (int k = 1; k < c->n; k++) {
		int t = cc->g->ops[c->op[k]].out[0];
		if (cc->g->tensors[t].is_output)
			return false;
		for (int u = 0; u < cc->ten[t].n_uses; u++)
			if (!in_cone(c, cc->uses[cc->ten[t].first_use + u]))
				return false;
	}
	return true;
}

/*
 * Let golden run operator k of the cone on all 256 codes at once: `codes` stands for the tensor that the cone
 * reads, and results of operators that come later in the cone are in out[]. The result goes to out[k], whose
 * data the caller frees, also after a failure. Returns 0; -ENOTSUP if the operator has more than three operands;
 * -ENOMEM; or what golden returns.
 */
static int run_operator(const struct cc *cc, const struct cone *c, int k, const weft_tensor *codes, weft_tensor *out)
{
	const struct weft_gop *o = &cc->g->ops[c->op[k]];
	weft_tensor number[3], *y = &out[k];
	const weft_tensor *in[3];
	char msg[WEFT_GOLDEN_MSG];

	if (o->n_in > 3)
		return -ENOTSUP;
	for (int j = 0; j < o->n_in; j++) {
		const weft_tensor *t = &cc->g->tensors[o->in[j]].t;
		in[j] = o->in[j] == c->x ? codes : t;
		if (t->data && j < first_constant(o)) {
			number[j] = *t;
			number[j].rank = 1;
			number[j].dim[0] = 1;
			in[j] = &number[j];
		}
		for (int m = k + 1; m < c->n; m++)
			if (cc->g->ops[c->op[m]].out[0] == o->in[j])
				in[j] = &out[m];
	}
	*y = (weft_tensor){ .dtype = type_of(cc, o->out[0]), .rank = 1, .dim = { CODES } };
	y->data = calloc(CODES, weft_dtype_bytes(y->dtype));
	return y->data ? weft_golden_run(o->op, &o->attr, in, o->n_in, &y, 1, true, msg) : -ENOMEM;
}

/*
 * Compute the function that the cone is: table[k] becomes what it makes of the byte k. Returns 0, or the
 * negative errno of the operator that golden could not run.
 */
static int evaluate(const struct cc *cc, const struct cone *c, uint8_t table[CODES])
{
	uint8_t bytes[CODES];
	weft_tensor codes = { .dtype = type_of(cc, c->x), .rank = 1, .dim = { CODES }, .data = bytes }, out[MAX_CONE] = { 0 };
	int err = 0;

	for (int k = 0; k < CODES; k++)
		bytes[k] = (uint8_t)k;
	for (int k = c->n - 1; k >= 0 && !err; k--)
		err = run_operator(cc, c, k, &codes, out);
	if (!err)
		memcpy(table, out[0].data, CODES);
	for (int k = 0; k < c->n; k++)
		free(out[k].data);
	return err;
}

/* Let the node's post unit change nothing (scale 1, zero points 0), since the table holds the whole function. */
static void as_it_comes(struct node *nd)
{
	nd->post.a = (struct scale){ 1u << 30, 30, ROUND_UP };
	nd->post.round = ROUND_UP;
	nd->post.a_zp = nd->post.y_zp = nd->post.pre_shift = 0;
}

/*
 * List in *c the operators of the function of one byte that ends with operator i. `through` and `from` become
 * the cone's fields of these names. Returns false, with *c of no use but for x and other, if an operator or
 * operand is refused (take_operator()), the function reads no tensor, or something outside reads a result made
 * within it, other than operator i's.
 */
static bool list_from(const struct cc *cc, struct cone *c, int i, int through, int from)
{
	*c = (struct cone){ .x = -1, .other = -1, .from = from, .through = through };
	return take_operator(cc, c, i) && c->x >= 0 && is_closed(cc, c);
}

/*
 * List in *c the operators of the function of one byte that ends with operator i. `through` is a node whose
 * operators may be part of it although they are matched already, or -1. Where two 8-bit tensors meet, one may
 * be a function of the other, as in x * sigmoid(x): both are tried as the tensor that the function reads, but
 * not with the option no_fuse. Returns false, with *c of no use, if there is no such function, or something
 * outside needs a value from inside.
 */
static bool list_cone(const struct cc *cc, struct cone *c, int i, int through)
{
	bool found = list_from(cc, c, i, through, -1);
	int met[2] = { c->x, c->other };

	for (int k = 0; k < 2 && !found && met[1] >= 0 && !cc->o->no_fuse; k++)
		found = list_from(cc, c, i, through, met[k]);
	return found;
}

/*
 * Returns the number of the elementwise int8 node with one operand or a table that makes exactly the tensor
 * that the cone reads, so that both functions may become one; -1 if there is none, or with the option
 * no_fuse. Whether something else reads that tensor, so that they must not, is not looked at here.
 */
static int function_before(const struct cc *cc, const struct cone *c)
{
	int i = cc->g->tensors[c->x].producer;

	if (cc->o->no_fuse || i < 0 || cc->ops[i].state != OP_NODE)
		return -1;
	const struct node *nd = &cc->nodes[cc->ops[i].node];
	return nd->kind == NODE_ELT && nd->mode == WEFT_POST_MODE_INT8 && (nd->elt.table || !nd->add) && nd->y_tensor == c->x && nd->y.root == c->x ?
	       cc->ops[i].node : -1;
}

/*
 * Match a function of one byte that ends with operator i as an elementwise node with a table of 256
 * results, with the CLAMP behind it if the result is int8; all operators of the function are claimed. If a
 * function's node makes its operand (function_before()), which nothing else needs, both become one node, unless
 * no cone can hold them (list_cone()); with `behind`, it is matched only if both become one. It needs
 * the feature has_table and a result of int8 or uint8; RESCALEs at the network's edge are left alone
 * (alu_at_edge()), and without the alu the device must compute the operand. Returns 1 if it was matched, 0
 * if not, also if golden cannot compute the function (no reason is set), -ENOMEM or -E2BIG (too many
 * constants).
 */
int match_function(struct cc *cc, int i, bool behind)
{
	const struct weft_gop *o = &cc->g->ops[i];
	struct cone c, longer;
	uint8_t table[CODES];
	int last = i, lo = INT8_MIN, hi = INT8_MAX;

	if (!cc->has_table || !is_byte(cc, o->out[0]) || (o->op == WEFT_OP_RESCALE && alu_at_edge(cc, o)) ||
	    !list_cone(cc, &c, i, -1) || (!cc->has_alu && !near_npu(cc, c.x)))
		return 0;
	int before = function_before(cc, &c);
	if (before >= 0 && list_cone(cc, &longer, i, before))
		c = longer;
	else if (behind)
		return 0;
	int err = evaluate(cc, &c, table);
	if (err)
		return err == -ENOMEM ? err : 0;
	int root = nest_const(cc, table, CODES);
	if (root < 0)
		return root;
	if (type_of(cc, o->out[0]) == WEFT_INT8)
		take_clamp(cc, &last, &lo, &hi);
	struct node *nd = c.through >= 0 ? &cc->nodes[c.through] : new_node(cc, NODE_ELT, i, last);
	if (!nd)
		return -ENOMEM;
	if (c.through >= 0) {
		set_output(cc, nd, last);
		claim(cc, last, nd);
		as_it_comes(nd);
	} else {
		set_input(cc, nd, c.x, 0, NULL);
	}
	nd->add = nd->elt.table = true;
	nd->r = (struct view){ .root = root, .dim = { nd->x.dim[0], nd->x.dim[1], nd->x.dim[2], CODES }, .step = { 0, 0, 0, 1 } };
	nd->post.y_min = lo;
	nd->post.y_max = hi;
	cc->ten[root].pinned = true;
	for (int k = 0; k < c.n; k++)
		claim(cc, c.op[k], nd);
	return 1;
}

/*
 * Add a node that makes operator i's result from the 8-bit tensor x_t by a table: byte k of x_t, taken as
 * unsigned (int8 -1 is 255), becomes table[k]. If x_t and the result have different shapes, elements correspond
 * in row-major order. The table is copied. The device must have the feature has_table. Returns 1, -ENOMEM or -E2BIG
 * (too many constants).
 */
int elt_by_table(struct cc *cc, int i, int x_t, const uint8_t table[CODES])
{
	int root = nest_const(cc, table, CODES);
	struct node *nd = root < 0 ? NULL : new_node(cc, NODE_ELT, i, i);

	if (!nd)
		return root < 0 ? root : -ENOMEM;
	set_input(cc, nd, x_t, 0, NULL);
	if (memcmp(nd->x.dim, nd->y.dim, sizeof nd->x.dim)) {
		nd->x = view_reshape(&cc->ten[x_t].v, nd->y.dim[0], nd->y.dim[1], nd->y.dim[2], nd->y.dim[3]);
		nd->x_t = x_t;
	}
	nd->add = nd->elt.table = true;
	nd->r = (struct view){ .root = root, .dim = { nd->x.dim[0], nd->x.dim[1], nd->x.dim[2], CODES }, .step = { 0, 0, 0, 1 } };
	cc->ten[root].pinned = true;
	return 1;
}

/*
 * Give the node's second operand nd->r the dimensions of its input nd->x by repeating dimensions n, y and x
 * of one element (step 0). Returns true if it has them; false if a dimension differs otherwise, or the
 * channels do, with the dimensions before that one already changed.
 */
bool spread_second(struct node *nd)
{
	struct view *r = &nd->r;

	for (int d = 0; d < 4; d++) {
		if (r->dim[d] == nd->x.dim[d])
			continue;
		if (r->dim[d] != 1 || d == 3)
			return false;
		r->dim[d] = nd->x.dim[d];
		r->step[d] = 0;
	}
	return true;
}

/*
 * If a RESCALE that does nothing but subtract a zero point makes the int32 tensor t from a tensor of this type
 * that has a view: return that tensor and set *zp to the zero point. Otherwise return -1; *zp then is unchanged.
 */
static int factor(const struct cc *cc, int t, weft_dtype type, int *zp)
{
	int i = made_by(cc, t, WEFT_OP_RESCALE), left;
	struct rescale r;

	if (i < 0 || !read_rescale(cc, i, &r) || r.y_zp || !is_left_shift(&r, &left) || left || type_of(cc, t) != WEFT_INT32 ||
	    type_of(cc, cc->g->ops[i].in[0]) != type || cc->ten[cc->g->ops[i].in[0]].v.root < 0)
		return -1;
	*zp = r.x_zp;
	return cc->g->ops[i].in[0];
}

/*
 * Match MUL i, without a shift, of two int8 or int16 tensors (int16 without zero points) as an elementwise
 * node. Each operand must be a RESCALE to int32 that only subtracts the zero point, and one RESCALE back to
 * their type, with one scale, must alone read the product; the CLAMP behind it is taken along. The operand
 * with more elements (the first if both have as many) must have the result's dimensions; the other may be
 * repeated over its pixels. It needs the feature has_mul. Where there are tables (has_table), an int8 product
 * of a tensor with itself or with a number is left to later passes, and one in which one factor is a function
 * of the other becomes a table's node here (match_function()). The RESCALEs in front are claimed where nothing
 * else reads them. Returns 1 if it was matched, 0 if not (no reason is set), -ENOMEM, or -E2BIG from
 * match_function() (too many constants).
 */
int match_product(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	int zp[2], x[2], k = only_reader(cc, o->out[0], WEFT_OP_RESCALE);
	struct rescale out;

	if (!cc->has_mul || k < 0 || o->attr.mul.shift)
		return 0;
	weft_dtype type = type_of(cc, cc->g->ops[k].out[0]);
	int lo = type_lowest(type), hi = -1 - lo;
	if (!npu_int(cc, type) || !read_rescale(cc, k, &out) || out.per_channel || out.x_zp)
		return 0;
	for (int s = 0; s < 2; s++)
		if ((x[s] = factor(cc, o->in[s], type, &zp[s])) < 0 || (type == WEFT_INT16 && zp[s]))
			return 0;
	/* Functions of one tensor: by table. */
	if (cc->has_table && type == WEFT_INT8 && (x[0] == x[1] || is_number(cc, x[0]) || is_number(cc, x[1])))
		return 0;
	int err = type == WEFT_INT8 ? match_function(cc, k, false) : 0;
	if (err)
		return err;
	/* The one with fewer elements is spread over the other. */
	int first = weft_tensor_elements(&cc->g->tensors[x[0]].t) < weft_tensor_elements(&cc->g->tensors[x[1]].t), last = k;
	struct node probe = { .x = cc->ten[x[first]].v, .r = cc->ten[x[!first]].v, .y = cc->ten[cc->g->ops[k].out[0]].v };
	if (!spread_second(&probe) || memcmp(probe.x.dim, probe.y.dim, sizeof probe.x.dim))
		return 0;
	take_clamp(cc, &last, &lo, &hi);
	struct node *nd = new_node(cc, NODE_ELT, i, last);
	if (!nd)
		return -ENOMEM;
	set_input(cc, nd, x[first], 0, NULL);
	set_second(cc, nd, x[!first]);
	spread_second(nd);
	nd->add = nd->elt.product = true;
	nd->post.a_zp = zp[first];
	nd->post.b_zp = zp[!first];
	nd->post.a = out.s;
	nd->post.round = out.s.round;
	nd->post.y_zp = out.y_zp;
	nd->post.y_min = lo;
	nd->post.y_max = hi;
	claim(cc, k, nd);
	for (int s = 0; s < 2; s++)
		if (read_only_by(cc, o->in[s], i))
			claim(cc, cc->g->tensors[o->in[s]].producer, nd);
	return 1;
}

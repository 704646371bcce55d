/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of sums, products and RESCALEs that work on int32 element by element and end with a RESCALE. Importers make such chains
 * of operators such as SQUARED_DIFFERENCE and the products in layer normalisation. If the int32 tensors between the operators
 * have no room on chip, the chain is computed part by part, so that these tensors do not go through memory. A run with --check
 * then does not compare them, because they never exist as a whole.
 */
#include <errno.h>

#include "chain.h"

#define FUNC(name) WEFT_ALU_FUNC_##name

/* Bytes that the values of a chain need at a time for each element: an operand and a result. */
#define CHAIN_BYTES 8

/* More operators than this are not looked at. */
#define MOST_LINKS 16

/* Returns how many operands of operator o are elements, not scales. */
static int operands_of(const struct weft_gop *o)
{
	return o->op == WEFT_OP_RESCALE ? 1 : 2;
}

/*
 * Returns the ADD, SUB, MUL or RESCALE that makes tensor t, if it is a link of the chain: t must be int32 of the shape *y, nobody but `reader`
 * may read it, no stage may have taken the operator, its operands must have views and not all be constants, and a RESCALE must have one
 * scale (nest_scale()). Otherwise returns -1.
 */
static int link_of(const struct cc *cc, int t, int reader, const weft_tensor *y)
{
	const weft_tensor *x = &cc->g->tensors[t].t;
	const int i = cc->g->tensors[t].producer;
	struct loop_nest s;
	bool same = x->rank == y->rank, computed = false;

	if (i < 0 || cc->ops[i].state != OP_TODO || cc->ops[i].forbidden || x->dtype != WEFT_INT32 || !read_only_by(cc, t, reader))
		return -1;
	for (int d = 0; d < x->rank && same; d++)
		same = x->dim[d] == y->dim[d];
	const struct weft_gop *o = &cc->g->ops[i];
	if (!same || (nest_sum_func(o->op) < 0 && o->op != WEFT_OP_RESCALE))
		return -1;
	for (int k = 0; k < operands_of(o); k++) {
		if (cc->ten[o->in[k]].v.root < 0)
			return -1;
		computed |= !cc->g->tensors[o->in[k]].t.data;
	}
	return !computed || (o->op == WEFT_OP_RESCALE && !nest_scale(cc, i, y->rank, &s)) ? -1 : i;
}

/* Returns how many operators make tensor t, which `reader` reads, within the chain. Counting stops when there are more than `most`. */
static int count_links(const struct cc *cc, int t, int reader, const weft_tensor *y, int most)
{
	const int i = most > 0 ? link_of(cc, t, reader, y) : -1;
	int n = 1;

	if (i < 0)
		return 0;
	const struct weft_gop *o = &cc->g->ops[i];
	n += count_links(cc, o->in[0], i, y, most - n);
	if (operands_of(o) > 1 && o->in[1] != o->in[0])
		n += count_links(cc, o->in[1], i, y, most - n);
	return n;
}

static struct nest_operand value(struct sequence *q, int t, int reader, const weft_tensor *y);

/* Adds the nest of operator i, an ADD, SUB or MUL of the chain, after those that make its operands, and returns its result. */
static struct nest_operand sum(struct sequence *q, int i, const weft_tensor *y)
{
	const struct weft_gop *o = &q->cc->g->ops[i];
	const int inner = q->n_dims - 1;
	struct nest_operand a = value(q, o->in[0], i, y), b = o->in[1] == o->in[0] ? a : value(q, o->in[1], i, y);
	struct loop_nest s = seq_nest(nest_sum_func(o->op), a, b);

	/* A number can only be b. An operand that stays the same along a row is read once for the row as b, but for each block as a. */
	if (a.root < 0 || (!a.step[inner] && b.root >= 0 && b.step[inner]))
		s = seq_nest(s.func == FUNC(SUB) ? FUNC(RSUB) : s.func, b, a);
	if (o->op == WEFT_OP_MUL)
		s.shift = o->attr.mul.shift;
	return seq_each(q, s, WEFT_ALU_A_TYPE_INT32);
}

/* Adds the nest of RESCALE i of the chain, after those that make its operand, and returns its result. */
static struct nest_operand scaled(struct sequence *q, int i, const weft_tensor *y)
{
	struct loop_nest s = { 0 };

	/* link_of() takes no RESCALE for which nest_scale() returns false. */
	if (!nest_scale(q->cc, i, q->n_dims, &s) && !q->err)
		q->err = -EINVAL;
	if (s.a.root < 0)
		s.a = value(q, q->cc->g->ops[i].in[0], i, y);
	else
		seq_move_to_part(q, &s.a);
	return seq_each(q, s, WEFT_ALU_A_TYPE_INT32);
}

/* Returns tensor t, which operator `reader` reads, as a value: computed by nests if it belongs to the chain, else where it lies. */
static struct nest_operand value(struct sequence *q, int t, int reader, const weft_tensor *y)
{
	const int i = link_of(q->cc, t, reader, y);

	if (i >= 0)
		return q->cc->g->ops[i].op == WEFT_OP_RESCALE ? scaled(q, i, y) : sum(q, i, y);
	struct nest_operand o = nest_number_of(q->cc, t, q->n_dims);
	seq_move_to_part(q, &o);
	return o;
}

int match_chain(struct cc *cc, int i, int last, const struct loop_nest *scale)
{
	const int t = cc->g->ops[i].in[0];
	const weft_tensor *y = &cc->g->tensors[cc->g->ops[last].out[0]].t;
	const int links = cc->o->no_fuse || y->rank < 1 ? 0 : count_links(cc, t, i, y, MOST_LINKS + 1);
	int err = 1;

	if (!links || links > MOST_LINKS)
		return 0;
	const struct sequence q = seq_begin(cc, last);
	const struct cut c = seq_cut(&q, CHAIN_BYTES);
	if (c.parts < 2)
		return 0;
	for (int64_t k = 0; k < c.parts && err > 0; k++) {
		struct sequence part = seq_part(&q, &c, k);
		struct loop_nest s = *scale;
		s.a = value(&part, t, i, y);
		err = seq_end(&part, s);
	}
	return err;
}

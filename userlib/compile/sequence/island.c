/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Islands: operators that the NPU has not, floats mostly, between two tensors of
 * integers. If everything in between is a function of one element of one tensor of up to
 * 16 bits, a table of golden's own results does the same, exactly.
 *
 * DEQUANTIZE, HARD_SWISH in float32 and QUANTIZE are such an island, and so are
 * operators of several operands that all come from one tensor, as in x / (1 + |x|).
 *
 * From the operator that leaves the floats the island grows against the flow, always by
 * the operator that stands last in the graph, until all of it hangs on one tensor.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "island.h"
#include "userlib/compile/match/match_table.h"
#include "sequence.h"
#include "sim/golden/golden.h"

#define FUNC(name) WEFT_ALU_FUNC_##name
#define TYPE(name) WEFT_ALU_A_TYPE_##name

/* Entries of a part of a table that does not fit as a whole. */
#define PART 8192

/*
 * Returns whether an operator with this opcode may be part of an island. It makes each element of its result
 * from single elements of its operands: arithmetic, logic, shifts, comparisons, SELECT, functions of one
 * number, casts, quantising and its reverse, RESCALE and TABLE; also RESHAPE and IDENTITY, which keep elements
 * and their order. Some that do so, too, are not taken: the extensions that requantise or round (ONNX_REQUANT,
 * ONNX_REQUANT_SHIFT, ONNX_FAKE_CONVERT, TFL_REQUANTIZE), PACT_DIV, and ONNX_NODE and TFL_CUSTOM.
 */
static bool on_elements(weft_opcode op)
{
	switch (op) {
	case WEFT_OP_CLAMP: case WEFT_OP_ERF: case WEFT_OP_SIGMOID: case WEFT_OP_TANH:
	case WEFT_OP_ADD: case WEFT_OP_ARITHMETIC_RIGHT_SHIFT: case WEFT_OP_BITWISE_AND: case WEFT_OP_BITWISE_OR:
	case WEFT_OP_BITWISE_XOR: case WEFT_OP_INTDIV: case WEFT_OP_LOGICAL_AND: case WEFT_OP_LOGICAL_LEFT_SHIFT:
	case WEFT_OP_LOGICAL_RIGHT_SHIFT: case WEFT_OP_LOGICAL_OR: case WEFT_OP_LOGICAL_XOR: case WEFT_OP_MAXIMUM:
	case WEFT_OP_MINIMUM: case WEFT_OP_MUL: case WEFT_OP_POW: case WEFT_OP_SUB: case WEFT_OP_TABLE:
	case WEFT_OP_ABS: case WEFT_OP_BITWISE_NOT: case WEFT_OP_CEIL: case WEFT_OP_CLZ: case WEFT_OP_COS: case WEFT_OP_EXP:
	case WEFT_OP_FLOOR: case WEFT_OP_LOG: case WEFT_OP_LOGICAL_NOT: case WEFT_OP_NEGATE: case WEFT_OP_RECIPROCAL:
	case WEFT_OP_RSQRT: case WEFT_OP_SIN: case WEFT_OP_SELECT: case WEFT_OP_EQUAL: case WEFT_OP_GREATER:
	case WEFT_OP_GREATER_EQUAL: case WEFT_OP_CAST: case WEFT_OP_RESCALE:
	case WEFT_OP_TFL_LOGISTIC: case WEFT_OP_TFL_TANH: case WEFT_OP_TFL_QUANTIZE: case WEFT_OP_TFL_DEQUANTIZE:
	case WEFT_OP_TFL_CAST: case WEFT_OP_TFL_SQRT: case WEFT_OP_TFL_DIV: case WEFT_OP_TFL_FUNCTION: case WEFT_OP_TFL_QUOTIENT:
	case WEFT_OP_ONNX_QUANTIZE: case WEFT_OP_ONNX_DEQUANTIZE: case WEFT_OP_ONNX_CAST: case WEFT_OP_ONNX_DIV:
	case WEFT_OP_RESHAPE: case WEFT_OP_IDENTITY:
		return true;
	default:
		return false;
	}
}

/*
 * Returns the number of o's first operand that is not taken element by element: the multiplier of RESCALE,
 * the table of TABLE; behind it come others like it. Of all other operators o->n_in, since there is none.
 */
static int first_constant(const struct weft_gop *o)
{
	return o->op == WEFT_OP_RESCALE || o->op == WEFT_OP_TABLE ? 1 : o->n_in;
}

/*
 * Returns whether t has as many elements as the island's result. If so, nothing is repeated, and they stay in
 * their order.
 */
static bool same_count(const struct cc *cc, int t, int y)
{
	return weft_tensor_elements(&cc->g->tensors[t].t) == weft_tensor_elements(&cc->g->tensors[y].t);
}

/* Returns whether t and the island's result have the same shape. */
static bool same_shape(const struct cc *cc, int t, int y)
{
	const weft_tensor *a = &cc->g->tensors[t].t, *b = &cc->g->tensors[y].t;

	return a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

/*
 * Put tensor t among the tensors that the island reads (s->front), unless it is there already. Returns
 * false, with nothing changed, if MAX_ISLAND are there or t has another number of elements than the
 * island's result y.
 */
static bool add_front(const struct cc *cc, struct island *s, int t, int y)
{
	for (int k = 0; k < s->n_front; k++)
		if (s->front[k] == t)
			return true;
	if (s->n_front == MAX_ISLAND || !same_count(cc, t, y))
		return false;
	s->front[s->n_front++] = t;
	return true;
}

/*
 * Take constant t, an operand of operator o, into the island whose result is y. It may be a number (all
 * elements the same), or have one element for each place along the last dimension of y if o's result has
 * y's shape; s->channels then becomes the number of these places. Returns false, with nothing changed, if
 * it is neither.
 */
static bool take_constant(const struct cc *cc, struct island *s, const struct weft_gop *o, int t, int y)
{
	const weft_tensor *v = &cc->g->tensors[t].t, *r = &cc->g->tensors[y].t;

	if (is_number(cc, t))
		return true;
	if (!v->rank || !r->rank || weft_tensor_elements(v) != v->dim[v->rank - 1] || v->dim[v->rank - 1] != r->dim[r->rank - 1] ||
	    !same_shape(cc, o->out[0], y))
		return false;
	s->channels = v->dim[v->rank - 1];
	return true;
}

/*
 * Take operator i into the island whose result is y: append it to s->op and put its operands that are no
 * constants into s->front. An alias (RESHAPE, IDENTITY) may be taken, and so may an operator that is
 * forbidden. Returns false if it cannot be part of an island: MAX_ISLAND operators are there, its opcode is
 * none of on_elements(), it takes dynamic arguments, has more than one result or three operands, some stage
 * has already taken it (state neither OP_TODO nor OP_ALIAS), its result has another number of elements than
 * y, it is a RESCALE by channel, a table or multiplier is not constant, or add_front() or take_constant()
 * refuses an operand. *s then is undefined.
 */
static bool take(const struct cc *cc, struct island *s, int i, int y)
{
	const struct weft_gop *o = &cc->g->ops[i];

	if (s->n == MAX_ISLAND || !on_elements(o->op) || is_dynamic(o) || o->n_out != 1 || o->n_in > 3 ||
	    (cc->ops[i].state != OP_TODO && cc->ops[i].state != OP_ALIAS) || !same_count(cc, o->out[0], y) || (o->op == WEFT_OP_RESCALE && o->attr.rescale.per_channel))
		return false;
	for (int k = 0; k < o->n_in; k++) {
		bool constant = cc->g->tensors[o->in[k]].t.data;
		if (k >= first_constant(o) ? !constant : constant && !take_constant(cc, s, o, o->in[k], y))
			return false;
		if (!cc->g->tensors[o->in[k]].t.data && !add_front(cc, s, o->in[k], y))
			return false;
	}
	s->op[s->n++] = i;
	return true;
}

/* Returns whether t is of integers of up to 16 bits, and in a storage. */
static bool is_code(const struct cc *cc, int t)
{
	weft_dtype type = type_of(cc, t);

	return (type == WEFT_INT8 || type == WEFT_UINT8 || type == WEFT_INT16 || type == WEFT_UINT16) && cc->ten[t].v.root >= 0;
}

/*
 * List in *s the island that ends with operator i. It grows against the flow, always by the operator that
 * stands last in the graph among those that make its front, until its front is one tensor of integers of up
 * to 16 bits (is_code()). Returns false, with *s undefined, if take() refuses an operator or the front
 * reaches a tensor that no operator makes.
 */
static bool grow(const struct cc *cc, struct island *s, int i)
{
	int y = cc->g->ops[i].out[0];

	*s = (struct island){ .channels = 1 };
	if (!take(cc, s, i, y))
		return false;
	while (s->n_front != 1 || !is_code(cc, s->front[0])) {
		int last = 0;
		for (int k = 1; k < s->n_front; k++)
			if (cc->g->tensors[s->front[k]].producer > cc->g->tensors[s->front[last]].producer)
				last = k;
		if (!s->n_front || cc->g->tensors[s->front[last]].producer < 0)
			return false;
		int made = cc->g->tensors[s->front[last]].producer;
		s->front[last] = s->front[--s->n_front];
		if (!take(cc, s, made, y))
			return false;
	}
	return true;
}

/*
 * Let golden run operator k of the island on all codes at once. out[MAX_ISLAND] has the codes of the tensor
 * that the island reads, out[] the results of operators with higher numbers; constants along the last
 * dimension count with their element of this channel. The result goes to out[k], whose data the caller
 * frees in any case. Returns 0, -ENOMEM or the negative errno of golden.
 */
static int run_operator(const struct cc *cc, const struct island *s, int k, int64_t channel, weft_tensor *out)
{
	const weft_tensor *codes = &out[MAX_ISLAND];
	const struct weft_gop *o = &cc->g->ops[s->op[k]];
	weft_tensor number[3], *y = &out[k];
	const weft_tensor *in[3];
	char msg[WEFT_GOLDEN_MSG];

	for (int j = 0; j < o->n_in; j++) {
		const weft_tensor *t = &cc->g->tensors[o->in[j]].t;
		in[j] = o->in[j] == s->front[0] ? codes : t;
		if (t->data && j < first_constant(o)) {
			number[j] = *t;
			number[j].rank = 1;
			number[j].dim[0] = 1;
			if (!is_number(cc, o->in[j]))
				number[j].data = (uint8_t *)t->data + (size_t)channel * weft_dtype_bytes(t->dtype);
			in[j] = &number[j];
		}
		for (int m = k + 1; m < s->n; m++)
			if (cc->g->ops[s->op[m]].out[0] == o->in[j])
				in[j] = &out[m];
	}
	*y = (weft_tensor){ .dtype = type_of(cc, o->out[0]), .rank = 1, .dim = { codes->dim[0] } };
	y->data = calloc((size_t)codes->dim[0], weft_dtype_bytes(y->dtype));
	return y->data ? weft_golden_run(o->op, &o->attr, in, o->n_in, &y, 1, true, msg) : -ENOMEM;
}

/*
 * Let golden compute the island, with its constants' elements of this channel, for all 256 or 65536 codes
 * of its tensor in the order of the codes taken as unsigned. Sets *y to the results, one for each code; the
 * caller frees its data, which may be NULL, also on failure. Returns 0, -ENOMEM or the negative errno of
 * the operator that golden could not run.
 */
int island_evaluate(const struct cc *cc, const struct island *s, int64_t channel, weft_tensor *y)
{
	weft_dtype type = type_of(cc, s->front[0]);
	int64_t n = weft_dtype_bytes(type) == 1 ? 256 : 65536, elem = (int64_t)weft_dtype_bytes(type);
	weft_tensor out[MAX_ISLAND + 1] = { 0 }, *codes = &out[MAX_ISLAND];
	int err;

	*codes = (weft_tensor){ .dtype = type, .rank = 1, .dim = { n } };
	codes->data = calloc((size_t)n, (size_t)elem);
	err = codes->data ? 0 : -ENOMEM;
	for (int64_t k = 0; k < n && !err; k++)
		memcpy((uint8_t *)codes->data + k * elem, &k, (size_t)elem);
	for (int k = s->n - 1; k >= 0 && !err; k--)
		err = run_operator(cc, s, k, channel, out);
	*y = out[0];
	for (int k = 1; k < s->n; k++)
		free(out[k].data);
	free(codes->data);
	return err;
}

/*
 * Add the nests of operator i that look up x in a table too large for the scratchpad, whose entries are y's
 * elements of 1 or 2 bytes, taken as unsigned. Parts of PART entries are looked up one after another and
 * their results added: part k has the differences to the last entry of the part before it, 0 for what lies
 * before it, and its own last entry for what lies behind it. `type` is the command's type of the operator's
 * result. Returns 1 or a negative errno.
 */
static int look_up_parts(struct cc *cc, int i, struct nest_operand x, const weft_tensor *y, int type)
{
	struct sequence q = seq_begin(cc, i);
	struct nest_operand sum = nest_number(0);
	int32_t part[PART + 1];
	bool wide = weft_dtype_bytes(y->dtype) == 2;

	for (int64_t from = 0; from < y->dim[0] && !q.err; from += PART) {
		int32_t before = 0;
		for (int64_t k = -1; k < PART; k++) {
			int64_t at = from + k < 0 ? 0 : from + k;
			int32_t v = wide ? ((const uint16_t *)y->data)[at] : ((const uint8_t *)y->data)[at];
			if (k < 0)
				before = from ? v : 0;
			part[k + 1] = k < 0 && from ? 0 : v - before;
		}
		x.zp = (int32_t)from - 1;
		struct loop_nest s = seq_table(FUNC(LOOKUP), x, seq_const(&q, part, sizeof part, TYPE(INT32)), PART);
		struct nest_operand v = seq_each(&q, s, TYPE(INT32));
		if (from + PART >= y->dim[0]) {
			struct loop_nest last = seq_nest(FUNC(ADD), sum, v);
			if (q.err)
				break;
			int err = seq_end(&q, last);
			if (err > 0)
				cc->nests[cc->n_nests - 1].y.type = type;
			return err;
		}
		sum = from ? seq_each(&q, seq_nest(FUNC(ADD), sum, v), TYPE(INT32)) : v;
	}
	return q.err;
}

/*
 * Add the nest or nests of operator i, the last one of an island, that look up the codes of tensor x_t in
 * the table y of the island's results for all codes. If x_t and the result have different shapes, elements
 * correspond in row-major order. A table of more than half of the usable scratchpad is looked up in parts.
 * Returns 1 or a negative errno.
 */
static int look_up(struct cc *cc, int i, int x_t, const weft_tensor *y)
{
	int type = alu_type(y->dtype, true);
	struct sequence q = seq_begin(cc, i);
	struct nest_operand x = seq_tensor(&q, x_t);

	if (!same_shape(cc, x_t, cc->g->ops[i].out[0])) {
		x = nest_tensor(cc, x_t, true);
		memcpy(x.step, table_dense(cc, x.root, x.type, cc->g->ops[i].out[0]).step, sizeof x.step);
	}
	x.type = alu_type(type_of(cc, x_t), true);
	if ((int64_t)weft_tensor_bytes(y) * 2 > cc->sp_bytes)
		return look_up_parts(cc, i, x, y, type);
	struct nest_operand table = seq_const(&q, y->data, (int64_t)weft_tensor_bytes(y), type);
	return seq_end(&q, seq_table(FUNC(LOOKUP), x, table, y->dim[0] - 1));
}

/*
 * Claim for node nd those operators of the island, but its last one (op[0]), whose results are no outputs
 * of the graph and are read only by operators of the island that are claimed as well. Others stay, since
 * something else needs them.
 */
static void claim_inner(struct cc *cc, const struct island *s, const struct node *nd)
{
	bool claimed[MAX_ISLAND] = { true };

	for (int k = 1; k < s->n; k++) {
		int t = cc->g->ops[s->op[k]].out[0], readers = 0;
		for (int u = 0; u < cc->ten[t].n_uses; u++)
			for (int m = 0; m < k; m++)
				readers += claimed[m] && s->op[m] == cc->uses[cc->ten[t].first_use + u];
		claimed[k] = readers == cc->ten[t].n_uses && !cc->g->tensors[t].is_output;
		if (claimed[k])
			claim(cc, s->op[k], nd);
	}
}

/*
 * Returns whether operator i can be the last one of an island. It has one result, of integers of up to 16
 * bits with a view (is_code()), constant arguments, and float32 as its first operand or is a TFL_QUOTIENT.
 */
static bool may_end(const struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];

	if (o->n_out != 1 || !o->n_in || !is_code(cc, o->out[0]) || is_dynamic(o))
		return false;
	return type_of(cc, o->in[0]) == WEFT_FP32 || o->op == WEFT_OP_TFL_QUOTIENT;
}

/*
 * Match the island, whose constants are all numbers, as a table of its results for all codes: an
 * elementwise node if operand and result have 8 bits and the device has tables, else nests of the alu that
 * look the codes up. Returns 1 if it was matched; 0 if the device has neither or golden cannot compute an
 * operator (no reason is set); or a negative errno.
 */
static int match_as_table(struct cc *cc, const struct island *s)
{
	int i = s->op[0], x = s->front[0];
	bool bytes = weft_dtype_bytes(type_of(cc, x)) == 1 && weft_dtype_bytes(type_of(cc, cc->g->ops[i].out[0])) == 1;
	weft_tensor y;

	if (!cc->has_alu && !(bytes && cc->has_table))
		return 0;
	int err = island_evaluate(cc, s, 0, &y);
	if (!err)
		err = bytes && cc->has_table ? elt_by_table(cc, i, x, y.data) : look_up(cc, i, x, &y);
	else if (err != -ENOMEM)
		err = 0;               /* golden does not compute it for every code: nor can a table */
	free(y.data);
	return err;
}

/*
 * Match the island of operators that ends with operator i and hangs on one tensor of integers: by a table,
 * or if it has constants by channel as PRELU. Operators of the island that nothing else needs are claimed
 * for its last node. Returns 1 if it was matched, 0 if there is no such island or neither way exists (no
 * reason is set), or a negative errno.
 */
int match_island(struct cc *cc, int i)
{
	struct island s;

	if (!may_end(cc, i) || !grow(cc, &s, i))
		return 0;
	int err = s.channels > 1 ? match_prelu(cc, &s) : match_as_table(cc, &s);
	if (err > 0)
		claim_inner(cc, &s, &cc->nodes[cc->n_nodes - 1]);
	return err;
}

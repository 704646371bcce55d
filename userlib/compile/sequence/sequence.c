/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences of loop nests that make one operator.
 */
#include <errno.h>
#include <string.h>

#include "sequence.h"

/* Begin the sequence of operator i. */
struct sequence seq_begin(struct cc *cc, int i)
{
	const weft_tensor *y = &cc->g->tensors[cc->g->ops[i].out[0]].t;
	struct sequence q = { .cc = cc, .op = i, .n_dims = y->rank ? y->rank : 1 };

	q.dim[0] = 1;
	for (int d = 0; d < y->rank; d++)
		q.dim[d] = y->dim[d];
	return q;
}

/* Tensor t, of the result's shape, as a value. */
struct nest_operand seq_tensor(const struct sequence *q, int t)
{
	int64_t stride[WEFT_MAX_RANK];
	struct nest_operand o = nest_view(q->cc, t, false, stride);

	for (int d = 0; d < q->cc->g->tensors[t].t.rank; d++)
		o.step[d] = stride[d];
	return o;
}

/* Tensor t, broadcast to the result's shape, as a value. */
struct nest_operand seq_broadcast(const struct sequence *q, int t)
{
	const weft_tensor *x = &q->cc->g->tensors[t].t;
	int64_t stride[WEFT_MAX_RANK];
	struct nest_operand o = nest_view(q->cc, t, false, stride);

	for (int d = 0; d < x->rank; d++)
		o.step[q->n_dims - x->rank + d] = x->dim[d] == 1 ? 0 : stride[d];
	return o;
}

/* Constant data without steps. */
struct nest_operand seq_const(struct sequence *q, const void *data, int64_t bytes, int type)
{
	int root = q->err ? q->err : nest_const(q->cc, data, bytes);

	if (root < 0)
		q->err = root;
	return nest_storage(root, type);
}

/* A constant along the last dimension. */
struct nest_operand seq_channels(struct sequence *q, const void *data, int64_t n, int type)
{
	struct nest_operand o = seq_const(q, data, n * alu_bytes(type), type);

	o.step[q->n_dims - 1] = n > 1 ? alu_bytes(type) : 0;
	return o;
}

/* The nest func(a, b). */
struct loop_nest seq_nest(int func, struct nest_operand a, struct nest_operand b)
{
	return (struct loop_nest){ .func = func, .axis = -1, .a = a, .b = b, .c = nest_number(0) };
}

/* The nest that looks up, or interpolates, entry a of a table. */
struct loop_nest seq_table(int func, struct nest_operand a, struct nest_operand table, int64_t last)
{
	struct loop_nest s = seq_nest(func, a, table);

	s.idx_step = alu_bytes(table.type);
	s.idx_last = last;
	return s;
}

/* A storage for one element of each element of dim, as an operand. A dimension of one element has no step. */
static struct nest_operand storage_over(struct sequence *q, const int64_t *dim, int type)
{
	int64_t step = alu_bytes(type);
	struct nest_operand y = nest_storage(-1, type);

	for (int d = q->n_dims - 1; d >= 0; d--) {
		y.step[d] = dim[d] > 1 ? step : 0;
		step *= dim[d];
	}
	y.root = q->err ? -1 : cc_new_root(q->cc, step);
	if (y.root < 0 && !q->err)
		q->err = y.root;
	return y;
}

/* Add a nest with its results in a new storage: y, without the last dimension where per_row is set. */
static struct nest_operand add(struct sequence *q, struct loop_nest *s, bool per_row, int type)
{
	int64_t kept[NEST_DIMS];

	memcpy(kept, q->dim, sizeof kept);
	if (per_row)
		kept[q->n_dims - 1] = 1;
	s->n_dims = q->n_dims;
	memcpy(s->dim, s->axis >= 0 ? q->dim : kept, sizeof s->dim);
	struct nest_operand y = storage_over(q, kept, type);
	int32_t zp = s->y.zp;
	s->y = y;
	s->y.zp = zp;
	int err = q->err ? q->err : nest_add_node(q->cc, q->op, s, false, false);
	if (err < 0)
		q->err = err;
	return y;
}

/* Add a nest over all elements. */
struct nest_operand seq_each(struct sequence *q, struct loop_nest s, int type)
{
	return add(q, &s, false, type);
}

/* Add a nest over rows. */
struct nest_operand seq_row(struct sequence *q, struct loop_nest s, int type)
{
	return add(q, &s, true, type);
}

/* Add a nest that folds every row. */
struct nest_operand seq_fold(struct sequence *q, struct loop_nest s, int type)
{
	s.axis = q->n_dims - 1;
	return add(q, &s, true, type);
}

/* Add the nest that makes the operator's result. */
int seq_end(struct sequence *q, struct loop_nest s)
{
	struct loop_nest y = { 0 };

	if (q->err)
		return q->err;
	nest_over(q->cc, &y, q->cc->g->ops[q->op].out[0]);
	int32_t zp = s.y.zp;
	s.y = y.y;
	s.y.zp = zp;
	s.n_dims = q->n_dims;
	memcpy(s.dim, q->dim, sizeof s.dim);
	return nest_add_node(q->cc, q->op, &s, true, true);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences of loop nests that make one operator.
 */
#include <errno.h>
#include <string.h>

#include "sequence.h"

/*
 * Begins the sequence of operator i and returns it: a value has the dimensions of its first result, one
 * dimension of one element if that is a scalar. The result is one part, no error is set and no nest added.
 */
struct sequence seq_begin(struct cc *cc, int i)
{
	const weft_tensor *y = &cc->g->tensors[cc->g->ops[i].out[0]].t;
	struct sequence q = { .cc = cc, .op = i, .n_dims = y->rank ? y->rank : 1 };

	q.dim[0] = 1;
	for (int d = 0; d < y->rank; d++)
		q.dim[d] = y->dim[d];
	return q;
}

/* Most parts of a result. Each has nodes of its own, which the search for a plan goes through. */
#define MOST_PARTS 16

/* Eighths of the scratchpad that the values of a part may take, beside its operand and its result. */
#define PART_EIGHTHS 5

/*
 * Returns how to cut the result into parts of which each has room in the scratchpad. `bytes` is how many bytes the values of a part need
 * for each element at a time. If the result were not cut, its values would go through memory between the nests. Besides, the array can
 * work for one part while the alu works for another. The result stays one part if all of it has room, if a single row has no room, or
 * if more than MOST_PARTS parts were needed.
 */
struct cut seq_cut(const struct sequence *q, int64_t bytes)
{
	const int64_t most = q->cc->sp_bytes / 8 * PART_EIGHTHS / bytes;
	int64_t each = 1, before = 1;

	for (int d = 1; d < q->n_dims; d++)
		each *= q->dim[d];
	for (int d = 0; d < q->n_dims - 1; before *= q->dim[d], d++, each /= q->dim[d]) {
		if (each > most)
			continue;
		const int64_t parts = ceil_div(q->dim[d], most / each), n = ceil_div(q->dim[d], parts);
		if (before * parts <= MOST_PARTS)
			return (struct cut){ d, n, before * ceil_div(q->dim[d], n) };
		break;
	}
	return (struct cut){ 0, q->dim[0], 1 };
}

/* Returns the sequence of part k, below c->parts, of the result of sequence *q, which is that of the whole result. */
struct sequence seq_part(const struct sequence *q, const struct cut *c, int64_t k)
{
	struct sequence p = *q;
	const int64_t along = ceil_div(q->dim[c->d], c->n);

	p.more = k + 1 < c->parts;
	p.from[c->d] = k % along * c->n;
	p.dim[c->d] = min64(c->n, q->dim[c->d] - p.from[c->d]);
	k /= along;
	for (int d = c->d - 1; d >= 0; k /= q->dim[d], d--) {
		p.from[d] = k % q->dim[d];
		p.dim[d] = 1;
	}
	return p;
}

/* Moves operand *o, which has the steps of the whole result, to the first element of the sequence's part. */
void seq_move_to_part(const struct sequence *q, struct nest_operand *o)
{
	for (int d = 0; d < q->n_dims; d++)
		o->off += q->from[d] * o->step[d];
}

/*
 * Returns tensor t, which has the result's shape, as a value: its own place, or that of the operand of a
 * SLICE, TRANSPOSE or REVERSE that nest_view() reads through, with its steps along the sequence's dimensions.
 */
struct nest_operand seq_tensor(const struct sequence *q, int t)
{
	int64_t stride[WEFT_MAX_RANK];
	struct nest_operand o = nest_view(q->cc, t, false, stride);

	for (int d = 0; d < q->cc->g->tensors[t].t.rank; d++)
		o.step[d] = stride[d];
	seq_move_to_part(q, &o);
	return o;
}

/*
 * Returns tensor t, broadcast to the result's shape, as a value: its dimensions are aligned with the last
 * ones, and those of one element are repeated (step 0).
 */
struct nest_operand seq_broadcast(const struct sequence *q, int t)
{
	const weft_tensor *x = &q->cc->g->tensors[t].t;
	int64_t stride[WEFT_MAX_RANK];
	struct nest_operand o = nest_view(q->cc, t, false, stride);

	for (int d = 0; d < x->rank; d++)
		o.step[q->n_dims - x->rank + d] = x->dim[d] == 1 ? 0 : stride[d];
	seq_move_to_part(q, &o);
	return o;
}

/*
 * Put `bytes` bytes of data into the program's constants, as a storage of elements of this type of the
 * command. Returns it as an operand without steps, for tables. If that fails, q->err becomes -ENOMEM or
 * -E2BIG; if q->err is set already, nothing is added. The operand's root then is negative.
 */
struct nest_operand seq_const(struct sequence *q, const void *data, int64_t bytes, int type)
{
	int root = q->err ? q->err : nest_const(q->cc, data, bytes);

	if (root < 0)
		q->err = root;
	return nest_storage(root, type);
}

/*
 * Put n elements of this type of the command into the program's constants and return them as a value that
 * varies along the last dimension only; with n = 1 it is the same everywhere. On failure q->err is set, as
 * by seq_const().
 */
struct nest_operand seq_channels(struct sequence *q, const void *data, int64_t n, int type)
{
	struct nest_operand o = seq_const(q, data, n * alu_bytes(type), type);

	o.step[q->n_dims - 1] = n > 1 ? alu_bytes(type) : 0;
	return o;
}

/*
 * Returns the nest func(a, b), whose operand c is the number 0, without an axis. Nothing is added; dimensions
 * and result come with seq_each(), seq_row(), seq_fold() or seq_end().
 */
struct loop_nest seq_nest(int func, struct nest_operand a, struct nest_operand b)
{
	return (struct loop_nest){ .func = func, .axis = -1, .a = a, .b = b, .c = nest_number(0) };
}

/*
 * Returns the nest that looks up (WEFT_ALU_FUNC_LOOKUP) or interpolates (WEFT_ALU_FUNC_INTERP) entry a of a
 * dense table, in which the largest index is `last`. Nothing is added.
 */
struct loop_nest seq_table(int func, struct nest_operand a, struct nest_operand table, int64_t last)
{
	struct loop_nest s = seq_nest(func, a, table);

	s.idx_step = alu_bytes(table.type);
	s.idx_last = last;
	return s;
}

/*
 * Add a storage with one element of this type of the command for each element of the dimensions dim[], and
 * return it as a dense operand; its step along a dimension of one element is 0. If there is no memory
 * q->err is set, and if q->err is set already no storage is added; the operand's root then is negative.
 */
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

/*
 * Add nest *s as a node of the operator that is not its last, with its results in a new storage of elements
 * of this type: one for each element of the sequence's dimensions, or with per_row one for each row. The
 * nest runs over these, but over all dimensions if it has an axis. Sets s->n_dims, s->dim and s->y, of
 * which it keeps the zero point. Returns the results as a value; on failure, or if it was set before,
 * q->err holds a negative errno and nothing is added.
 */
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

/*
 * Add nest s over all elements, with its results, of this type of the command, in a new storage; its clamp,
 * shift, rounding and the zero point s.y.zp hold. Returns the results as a value. Adds nothing if q->err is
 * set, and sets it on failure.
 */
struct nest_operand seq_each(struct sequence *q, struct loop_nest s, int type)
{
	return add(q, &s, false, type);
}

/*
 * Add nest s over rows, that is with one element for each position but the last dimension's; its results,
 * of this type of the command, lie in a new storage and are returned as a value. Adds nothing if q->err is
 * set, and sets it on failure.
 */
struct nest_operand seq_row(struct sequence *q, struct loop_nest s, int type)
{
	return add(q, &s, true, type);
}

/*
 * Add nest s, whose func is a reduction, folding every row (the last dimension) into one element of this
 * type of the command in a new storage, which is returned as a value with one element for each row. Adds
 * nothing if q->err is set, and sets it on failure.
 */
struct nest_operand seq_fold(struct sequence *q, struct loop_nest s, int type)
{
	s.axis = q->n_dims - 1;
	return add(q, &s, true, type);
}

/*
 * Add nest s over all elements as the sequence's last node, and the operator's last node unless q->more is set, with its
 * result in the operator's result tensor (of s.y only the zero point counts); debug records describe it. Returns 1, or the
 * error of this call or of an earlier one in the sequence (q->err), a negative errno.
 */
int seq_end(struct sequence *q, struct loop_nest s)
{
	struct loop_nest y = { 0 };

	if (q->err)
		return q->err;
	nest_over(q->cc, &y, q->cc->g->ops[q->op].out[0]);
	int32_t zp = s.y.zp;
	s.y = y.y;
	s.y.zp = zp;
	seq_move_to_part(q, &s.y);
	s.n_dims = q->n_dims;
	memcpy(s.dim, q->dim, sizeof s.dim);
	return nest_add_node(q->cc, q->op, &s, !q->more, true);
}

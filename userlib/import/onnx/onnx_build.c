/* SPDX-License-Identifier: Apache-2.0 */
/* Operators are added to the graph here. Those whose operands are all constant are computed instead. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include "sim/golden/golden.h"
#include "sim/golden/onnx/ref/onnx_ref.h"
#include "onnx_lower.h"

const weft_tensor *ox_t(const struct ox *l, int x)
{
	/* Who asks for rank and type of what could not be made gets its errno on from the next operator. */
	static const weft_tensor none = { .dtype = WEFT_FP32 };

	return x < 0 ? &none : &l->g->tensors[x].t;
}

/*
 * Allocates n elements of `bytes` bytes each, all zero, and takes n * bytes from l->room, the bytes
 * that the import may still take. The caller frees the block with free(). Returns NULL after
 * ox_fail() if the room is too small (-EINVAL) or memory is out (-ENOMEM); l->err then has the
 * errno.
 */
void *ox_alloc(struct ox *l, int64_t n, size_t bytes)
{
	if (n < 0 || n > l->room / (int64_t)bytes) {
		ox_fail(l, -EINVAL, "%lld more bytes exceed the memory allowed for a file of %zu bytes",
		        (long long)(n * (int64_t)bytes), l->f.len);
		return NULL;
	}
	l->room -= n * (int64_t)bytes;
	void *p = calloc(n ? (size_t)n : 1, bytes);
	if (!p)
		ox_fail(l, -ENOMEM, "out of memory");
	return p;
}

/*
 * Adds a tensor of the given type and shape to the graph, marked as internal. Its name is the name
 * of the node's first result (at most 120 bytes of it; empty outside nodes), a slash, the kind in
 * lower case, a point and the next number in the node. Takes the tensor's bookkeeping from l->room.
 * Returns the tensor's index, -EINVAL if the room is used up, or -ENOMEM.
 */
static int new_tensor(struct ox *l, const char *kind, weft_dtype t, int rank, const int64_t *dim)
{
	const char *base = l->n && l->n->n_output ? l->n->output[0] : "";
	char name[200];
	size_t n = (size_t)snprintf(name, sizeof name - 24, "%.120s/", base);

	for (; *kind && n < sizeof name - 16; kind++)
		name[n++] = (char)tolower((unsigned char)*kind);
	snprintf(name + n, sizeof name - n, ".%d", ++l->made);
	l->room -= 3 * (int64_t)sizeof(struct weft_gtensor) + (int64_t)strlen(name) + 32;
	if (l->room < 0)
		return ox_fail(l, -EINVAL, "the graph outgrows the memory allowed for a file of %zu bytes", l->f.len);
	int i = weft_graph_tensor(l->g, name, t, rank, dim);
	if (i < 0)
		return ox_fail(l, -ENOMEM, "out of memory");
	l->g->tensors[i].internal = true;
	return i;
}

/*
 * Adds a constant of the given type and shape to the graph. The graph takes data over, which comes
 * from ox_alloc(); after a failure data is freed. If data is NULL, an allocation has failed before
 * and l->err is returned. Returns the tensor's index, or a negative errno.
 */
int ox_data(struct ox *l, weft_dtype t, int rank, const int64_t *dim, void *data)
{
	int i = data ? new_tensor(l, "constant", t, rank, dim) : l->err;

	if (i < 0) {
		free(data);
		return i;
	}
	l->g->tensors[i].t.data = data;
	return i;
}

/*
 * Writes the number v to p as one element of type t: a float type's encoding of v, or v converted
 * to an integer.
 */
static void put(weft_dtype t, double v, void *p)
{
	uint64_t bits = weft_is_float(t) ? weft_float_encode(t, v, false) : (uint64_t)(int64_t)v;

	memcpy(p, &bits, weft_dtype_bytes(t));
}

/*
 * Adds to the graph a constant of type t that has one element, v, and `rank` dimensions of 1. A
 * float type holds v rounded to the type, an integer type v cut to an integer. Returns the tensor's
 * index, or a negative errno.
 */
int ox_ramp(struct ox *l, weft_dtype t, int rank, double v)
{
	static const int64_t one[WEFT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	void *p = ox_alloc(l, 1, 8);

	if (p)
		put(t, v, p);
	return ox_data(l, t, rank, one, p);
}

/* ---- one operator ---- */

/*
 * Says whether all n_in tensors have data, that is, are constants of the graph. False if n_in is 0.
 */
static bool all_const(const struct ox *l, const int *in, int n_in)
{
	for (int k = 0; k < n_in; k++)
		if (!ox_t(l, in[k])->data)
			return false;
	return n_in > 0;
}

/*
 * Estimates the multiplications that operator op with operands `in` and result y takes. For
 * convolutions and MATMUL it is the result's elements times the weights' elements (INT64_MAX if
 * that is about 2^62 or more); for other operators the elements of result and first operand
 * together, 64 times as many for a pool.
 */
static int64_t cost(const struct ox *l, weft_opcode op, const int *in, const weft_tensor *y)
{
	int64_t n = weft_tensor_elements(y);

	if (op == WEFT_OP_CONV2D || op == WEFT_OP_CONV3D || op == WEFT_OP_DEPTHWISE_CONV2D || op == WEFT_OP_MATMUL ||
	    op == WEFT_OP_TRANSPOSE_CONV2D) {
		int64_t w = weft_tensor_elements(ox_t(l, in[1]));
		return w > INT64_MAX / 2 / n ? INT64_MAX : n * w;
	}
	n += weft_tensor_elements(ox_t(l, in[0]));
	return n * (op == WEFT_OP_AVG_POOL2D || op == WEFT_OP_MAX_POOL2D ? 64 : 1);
}

/*
 * Computes operator op with attributes a, whose n_in operands are all constants of the graph, by
 * the golden model, and adds the result to the graph as a constant, whose bytes are taken from
 * l->room. y gives the result's type and shape; its data field is used on the way. Returns the
 * tensor's index, or a negative errno.
 */
static int fold(struct ox *l, weft_opcode op, const weft_attr *a, const int *in, int n_in, weft_tensor *y)
{
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	char line[WEFT_GOLDEN_MSG] = "";
	size_t size = weft_dtype_bytes(y->dtype);

	for (int k = 0; k < n_in; k++)
		x[k] = ox_t(l, in[k]);
	y->data = ox_alloc(l, weft_tensor_elements(y), size ? size : 1);
	if (!y->data)
		return l->err;
	int err = weft_golden_run(op, a, x, n_in, &y, 1, true, line);
	if (err) {
		free(y->data);
		return ox_fail(l, err, "%.150s", line);
	}
	return ox_data(l, y->dtype, y->rank, y->dim, y->data);
}

/*
 * Takes the bytes of tensor i from l->activations, the bytes that all computed values may still
 * take together. Returns i, or -ENOTSUP if there are not as many left.
 */
static int declare(struct ox *l, int i)
{
	size_t bytes = weft_tensor_bytes(ox_t(l, i));

	if (bytes > (size_t)INT64_MAX || (int64_t)bytes > l->activations)
		return ox_fail(l, -ENOTSUP, "values of more than 2^30 bytes");
	l->activations -= (int64_t)bytes;
	return i;
}

/*
 * Returns the index of the graph's record of the node at hand, to which all operators made for the
 * node refer. The first call for a node makes the record (name "edge" outside nodes) and copies
 * l->note into it if that is a note about this node. Returns -ENOMEM if memory runs out.
 */
static int source(struct ox *l)
{
	if (l->src >= 0)
		return l->src;
	l->room -= (int64_t)sizeof(struct weft_gsrc) * 3 + 64;
	/* Outside nodes: what turns the network's inputs and outputs. */
	l->src = weft_graph_src(l->g, l->i_node, l->n ? l->n->op_type : "edge");
	if (l->src < 0)
		return ox_fail(l, -ENOMEM, "out of memory");
	if (l->note && l->note_node == l->i_node)
		l->g->srcs[l->src].note = l->note;
	return l->src;
}

/*
 * Makes operator op with attributes a (NULL: none), n_in operands and one result of the given type
 * and shape. If all operands are constant, op is not IDENTITY, the estimated work (cost()) is
 * within what is left of l->work, from which it is taken, and the result's bytes fit l->room, the
 * result is computed at once and added as a constant; else the operator is appended to the graph
 * and the result noted in the node's record. Returns the result's tensor, or a negative errno: the
 * first negative operand if there is one; else after ox_fail() -ENOTSUP for a result or operand
 * without elements, a result of more than 2^31 - 1 elements or rank above 8, or values of more than
 * 2^30 bytes in all, -EINVAL for a negative dimension, one above INT32_MAX or if the room is used
 * up, or what golden or an allocation gives.
 */
int ox_op(struct ox *l, weft_opcode op, const weft_attr *a, const int *in, int n_in, weft_dtype t, int rank, const int64_t *dim)
{
	static const weft_attr none;
	weft_tensor y = { .dtype = t, .rank = rank };

	for (int k = 0; k < n_in; k++)
		if (in[k] < 0)
			return in[k];
	if (rank > WEFT_MAX_RANK)
		return ox_fail(l, -ENOTSUP, "rank %d > %d", rank, WEFT_MAX_RANK);
	for (int i = 0; i < WEFT_MAX_RANK; i++) {
		y.dim[i] = i < rank ? dim[i] : 1;
		if (y.dim[i] < 1 || y.dim[i] > INT32_MAX)
			return ox_fail(l, y.dim[i] ? -EINVAL : -ENOTSUP, "dimension %d of a result is %lld", i, (long long)y.dim[i]);
	}
	for (int k = 0; k < n_in; k++)
		if (weft_tensor_elements(ox_t(l, in[k])) == 0)
			return ox_fail(l, -ENOTSUP, "tensors without elements");
	if (weft_tensor_elements(&y) > INT32_MAX)
		return ox_fail(l, -ENOTSUP, "a tensor of more than 2^31 elements");
	int64_t c = op != WEFT_OP_IDENTITY && all_const(l, in, n_in) ? cost(l, op, in, &y) : INT64_MAX;
	if (c <= l->work && (int64_t)weft_tensor_bytes(&y) <= l->room) {
		l->work -= c;
		return fold(l, op, a ? a : &none, in, n_in, &y);
	}
	int i = new_tensor(l, weft_op_name(op), t, rank, y.dim), src = i < 0 ? i : source(l);
	if (src < 0 || i < 0 || declare(l, i) < 0)
		return l->err;
	l->room -= (int64_t)sizeof(struct weft_gop) * 3 + 4 * (n_in + 1) + 32;
	int made = weft_graph_op(l->g, op, a ? a : &none, src, in, n_in, &i, 1);
	if (made < 0)
		return ox_fail(l, made, made == -ENOMEM ? "out of memory" : "%d inputs to one operator", n_in);
	l->g->srcs[src].out = i;
	return i;
}

/*
 * Computes operator op, whose n_in operands are all constants of the graph, by the golden model,
 * and adds its n_y results to the graph as constants. y gives the results' types and shapes. Writes
 * the n_y tensors' indices to out. Returns 0 or a negative errno; nothing is leaked after a
 * failure.
 */
static int fold_many(struct ox *l, weft_opcode op, const weft_attr *a, const int *in, int n_in, const weft_tensor *y, int n_y, int *out)
{
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	weft_tensor t[WEFT_OP_MAX_OUTPUTS], *p[WEFT_OP_MAX_OUTPUTS] = { NULL };
	char line[WEFT_GOLDEN_MSG] = "";
	int err = 0;

	for (int k = 0; k < n_in; k++)
		x[k] = ox_t(l, in[k]);
	for (int k = 0; k < n_y; k++) {
		t[k] = y[k];
		p[k] = &t[k];
		t[k].data = err ? NULL : ox_alloc(l, weft_tensor_elements(&y[k]), weft_dtype_bytes(y[k].dtype));
		err = err || !t[k].data;
	}
	if (!err && (err = weft_golden_run(op, a, x, n_in, p, n_y, true, line)))
		ox_fail(l, err, "%.150s", line);
	for (int k = 0; k < n_y; k++) {
		if (err)
			free(t[k].data);
		else if ((out[k] = ox_data(l, y[k].dtype, y[k].rank, y[k].dim, t[k].data)) < 0)
			err = out[k];
	}
	return err ? l->err : 0;
}

/*
 * Takes that many steps from l->work, what computing constants may still cost. Returns false, with nothing taken, if
 * there are not as many left.
 */
bool ox_work(struct ox *l, double steps)
{
	if (steps > (double)l->work)
		return false;
	l->work -= (int64_t)steps;
	return true;
}

/* Estimates the steps that operator op takes: weft_onnx_ref_work() for ONNX_NODE, else cost(), of all results. */
static double work_of(const struct ox *l, weft_opcode op, const weft_attr *a, const int *in, int n_in, const weft_tensor *y, int n_y)
{
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	double all = 0;

	for (int k = 0; k < n_in; k++)
		x[k] = ox_t(l, in[k]);
	if (op == WEFT_OP_ONNX_NODE)
		return weft_onnx_ref_work(&a->onnx_node, x, n_in, y, n_y);
	for (int k = 0; k < n_y; k++)
		all += weft_tensor_elements(&y[k]) ? (double)cost(l, op, in, &y[k]) : 0;
	return all;
}

/*
 * Makes operator op with attributes a (never NULL), n_in operands and n_y results, whose types and
 * shapes are y; results without elements are allowed. If all operands are constant, op is not
 * IDENTITY and ox_work() grants the work, the results are computed at once and added as constants; else the
 * operator is appended to the graph and its first result noted in the node's record. Writes the n_y
 * tensors' indices to out. No operand may be negative. Returns 0; or, after ox_fail(), -ENOTSUP for
 * more than 65 operands or 64 results or values of more than 2^30 bytes in all, or another negative
 * errno; out may then be written in part.
 */
int ox_op_many(struct ox *l, weft_opcode op, const weft_attr *a, const int *in, int n_in, const weft_tensor *y, int n_y, int *out)
{
	int src = -1;

	if (n_in > WEFT_OP_MAX_INPUTS || n_y > WEFT_OP_MAX_OUTPUTS)
		return ox_fail(l, -ENOTSUP, "%d inputs, %d results", n_in, n_y);
	if (op != WEFT_OP_IDENTITY && all_const(l, in, n_in) && ox_work(l, work_of(l, op, a, in, n_in, y, n_y)))
		return fold_many(l, op, a, in, n_in, y, n_y, out);
	for (int k = 0; k < n_y; k++) {
		out[k] = new_tensor(l, weft_op_name(op), y[k].dtype, y[k].rank, y[k].dim);
		if (out[k] < 0 || (src = source(l)) < 0 || declare(l, out[k]) < 0)
			return l->err;
	}
	l->room -= (int64_t)sizeof(struct weft_gop) * 3 + 4 * (n_in + n_y) + 32;
	int made = weft_graph_op(l->g, op, a, src, in, n_in, out, n_y);
	if (made < 0)
		return ox_fail(l, made, made == -ENOMEM ? "out of memory" : "%d inputs to one operator", n_in);
	l->g->srcs[src].out = out[0];
	return 0;
}

/* ---- layout ---- */

/*
 * Emits a tensor with x's elements in the given shape, which has as many elements. The result is x
 * itself if x has that shape; if x is the result of a RESHAPE, the new RESHAPE reads that
 * operator's operand. Returns the graph tensor, or a negative errno; a negative x is returned as it
 * is.
 */
int ox_reshape(struct ox *l, int x, int rank, const int64_t *dim)
{
	if (x < 0)
		return x;
	const weft_tensor *t = ox_t(l, x);
	bool same = t->rank == rank;

	for (int i = 0; same && i < rank; i++)
		same = t->dim[i] == dim[i];
	if (same)
		return x;
	/* A RESHAPE of a RESHAPE is one of the first's operand. */
	int p = l->g->tensors[x].producer;
	if (p >= 0 && l->g->ops[p].op == WEFT_OP_RESHAPE)
		x = l->g->ops[p].in[0];
	return ox_op(l, WEFT_OP_RESHAPE, NULL, &x, 1, ox_t(l, x)->dtype, rank, dim);
}

/*
 * Emits a tensor that is x with its dimensions permuted: dimension i of the result is x's dimension perm[i].
 * The result is a TRANSPOSE if two dimensions above 1 change their order, else what ox_reshape() makes of x: x
 * itself if its shape stays, or a RESHAPE. Returns the graph tensor, or a negative errno; a negative x is
 * returned as it is.
 */
int ox_transpose(struct ox *l, int x, const int8_t *perm)
{
	weft_attr a = { .perm = { { 0 } } };
	int64_t dim[WEFT_MAX_RANK];
	bool same = true, moves = false;
	int last = -1;

	if (x < 0)
		return x;
	const weft_tensor *t = ox_t(l, x);
	for (int i = 0; i < t->rank; i++) {
		a.perm.perm[i] = perm[i];
		dim[i] = t->dim[perm[i]];
		same = same && perm[i] == i;
		if (dim[i] > 1) {
			moves = moves || perm[i] < last;
			last = perm[i];
		}
	}
	if (same)
		return x;
	return moves ? ox_op(l, WEFT_OP_TRANSPOSE, &a, &x, 1, t->dtype, t->rank, dim) : ox_reshape(l, x, t->rank, dim);
}

/*
 * Emits a tensor with the part of x that begins at element start[i] of each dimension i and has
 * dim[i] elements there; the caller has checked that it lies in x. The result is x itself, whatever
 * start is, if dim is x's shape. Returns the graph tensor, or a negative errno (-ENOTSUP if a
 * dim[i] is 0); a negative x is returned as it is.
 */
int ox_slice(struct ox *l, int x, const int64_t *start, const int64_t *dim)
{
	weft_attr a = { .slice = { { 0 } } };
	bool same = true;

	if (x < 0)
		return x;
	const weft_tensor *t = ox_t(l, x);
	for (int i = 0; i < t->rank; i++) {
		a.slice.start[i] = start[i];
		same = same && dim[i] == t->dim[i];
	}
	return same ? x : ox_op(l, WEFT_OP_SLICE, &a, &x, 1, t->dtype, t->rank, dim);
}

/*
 * Emits a tensor with the n tensors x joined along axis: x[0] itself if n is 1. More than 64
 * operands are joined in several operators. Returns the graph tensor, or a negative errno: the
 * first negative x, or -EINVAL if types, ranks or other dimensions differ.
 */
int ox_concat(struct ox *l, const int *x, int n, int axis)
{
	int64_t dim[WEFT_MAX_RANK];
	weft_attr a = { .axis = { axis, 0 } };

	for (int k = 0; k < n; k++)
		if (x[k] < 0)
			return x[k];
	if (n > WEFT_OP_MAX_INPUTS - 1)  /* in pieces */
	{
		int some[2] = { ox_concat(l, x, WEFT_OP_MAX_INPUTS - 1, axis), 0 };
		some[1] = ox_concat(l, x + WEFT_OP_MAX_INPUTS - 1, n - (WEFT_OP_MAX_INPUTS - 1), axis);
		return ox_concat(l, some, 2, axis);
	}
	if (n == 1)
		return x[0];
	const weft_tensor *t = ox_t(l, x[0]);
	memcpy(dim, t->dim, sizeof dim);
	for (int k = 1; k < n; k++) {
		const weft_tensor *o = ox_t(l, x[k]);
		for (int i = 0; i < t->rank; i++)
			if (o->rank != t->rank || o->dtype != t->dtype || (i != axis && o->dim[i] != t->dim[i]))
				return ox_fail(l, -EINVAL, "operands to concatenate differ in type or shape");
		dim[axis] += o->dim[axis];
	}
	return ox_op(l, WEFT_OP_CONCAT, &a, x, n, t->dtype, t->rank, dim);
}

/*
 * Emits a tensor that is x with before[i] elements in front and after[i] elements behind along each
 * dimension i, all of value v; it is x itself if all are 0. In small float types v is encoded, in
 * integer types it is cut to an integer. Returns the graph tensor, -EINVAL if a count is negative
 * or above INT32_MAX, or another negative errno; a negative x is returned as it is.
 */
int ox_pad(struct ox *l, int x, const int64_t *before, const int64_t *after, double v)
{
	weft_attr a = { .pad = { { 0 }, { 0 }, 0, 0 } };
	int64_t dim[WEFT_MAX_RANK];
	bool same = true;

	if (x < 0)
		return x;
	const weft_tensor *t = ox_t(l, x);
	for (int i = 0; i < t->rank; i++) {
		if (before[i] < 0 || after[i] < 0 || before[i] > INT32_MAX || after[i] > INT32_MAX)
			return ox_fail(l, -EINVAL, "padding %lld, %lld", (long long)before[i], (long long)after[i]);
		a.pad.before[i] = (int32_t)before[i];
		a.pad.after[i] = (int32_t)after[i];
		dim[i] = t->dim[i] + before[i] + after[i];
		same = same && dim[i] == t->dim[i];
	}
	if (same)
		return x;
	a.pad.fvalue = v;
	if (t->dtype != WEFT_FP32 && t->dtype != WEFT_FP64) {
		uint64_t bits = weft_float_encode(t->dtype, v, false);
		a.pad.value = bits || v == 0 ? (int64_t)bits : (int64_t)v;
	}
	return ox_op(l, WEFT_OP_PAD, &a, &x, 1, t->dtype, t->rank, dim);
}

/*
 * Emits a tensor that is x repeated multiple[i] times along each dimension i; it is x itself if all
 * are 1. Returns the graph tensor, -ENOTSUP for 0 repetitions or an x without elements, -EINVAL for
 * fewer or for a dimension that would exceed INT32_MAX, or another negative errno; a negative x is
 * returned as it is.
 */
int ox_tile(struct ox *l, int x, const int64_t *multiple)
{
	weft_attr a = { .tile = { { 0 } } };
	int64_t dim[WEFT_MAX_RANK];
	bool same = true;

	if (x < 0)
		return x;
	const weft_tensor *t = ox_t(l, x);
	for (int i = 0; i < t->rank; i++) {
		if (multiple[i] < 1 || (t->dim[i] && multiple[i] > INT32_MAX / t->dim[i]))
			return ox_fail(l, multiple[i] ? -EINVAL : -ENOTSUP, "%lld repetitions", (long long)multiple[i]);
		a.tile.multiple[i] = (int32_t)multiple[i];
		dim[i] = t->dim[i] * multiple[i];
		same = same && multiple[i] == 1;
	}
	return same ? x : ox_op(l, WEFT_OP_TILE, &a, &x, 1, t->dtype, t->rank, dim);
}

/*
 * Emits a tensor that is x with dimensions of 1 put in front until it has `rank` dimensions; it is
 * x itself if it has them already. Returns the graph tensor, -EINVAL if x has more dimensions or
 * rank is above 8, -ENOTSUP for an x without elements whose rank changes, or another negative
 * errno; a negative x is returned as it is.
 */
int ox_to_rank(struct ox *l, int x, int rank)
{
	int64_t dim[WEFT_MAX_RANK];

	if (x < 0)
		return x;
	const weft_tensor *t = ox_t(l, x);
	if (t->rank > rank || rank > WEFT_MAX_RANK)
		return ox_fail(l, -EINVAL, "rank %d where %d is the most", t->rank, rank);
	for (int i = 0; i < rank; i++)
		dim[i] = i < rank - t->rank ? 1 : t->dim[i - (rank - t->rank)];
	return ox_reshape(l, x, rank, dim);
}

/*
 * Emits a tensor that is x broadcast to the given shape: leading dimensions of 1 are added, and
 * dimensions of 1 are repeated dim[i] times. A dim[i] of 1 keeps x's dimension, as ONNX's Expand
 * wants it. Returns the graph tensor, -EINVAL if x has more dimensions than the shape or does not
 * broadcast to it, -ENOTSUP if a dimension of 1 is to become 0, or another negative errno; a
 * negative x is returned as it is.
 */
int ox_expand(struct ox *l, int x, int rank, const int64_t *dim)
{
	int64_t multiple[WEFT_MAX_RANK];

	x = ox_to_rank(l, x, rank);
	if (x < 0)
		return x;
	for (int i = 0; i < rank; i++) {
		int64_t have = ox_t(l, x)->dim[i];
		if (have != dim[i] && have != 1 && dim[i] != 1)
			return ox_fail(l, -EINVAL, "dimension %d: %lld does not broadcast to %lld", i, (long long)have, (long long)dim[i]);
		multiple[i] = have == 1 ? dim[i] : 1;
	}
	return ox_tile(l, x, multiple);
}

/* ---- types ---- */

/*
 * Emits the result, of type `to`, of a RESCALE of x with attributes a and one multiplier mul (int32
 * if a's scale32 is set, else int16) and one shift for all channels. Returns the graph tensor, or a
 * negative errno; a negative x is returned as it is.
 */
int ox_rescale_by(struct ox *l, int x, const weft_attr *a, int32_t mul, int8_t shift, weft_dtype to)
{
	if (x < 0)
		return x;
	int m = ox_ramp(l, a->rescale.scale32 ? WEFT_INT32 : WEFT_INT16, 1, mul), s = m < 0 ? m : ox_ramp(l, WEFT_INT8, 1, shift);
	return s < 0 ? s : ox_op(l, WEFT_OP_RESCALE, a, (int[]){ x, m, s }, 3, to, ox_t(l, x)->rank, ox_t(l, x)->dim);
}

/*
 * Emits x in the type `to` of as many bits: uint8 or uint16 as its signed form (each element 128 or 32768 less) if
 * `to` is signed, else the signed form as uint8 or uint16, by a RESCALE. Returns the graph tensor, or a negative
 * errno; a negative x is returned as it is.
 */
int ox_flip_sign(struct ox *l, int x, weft_dtype to)
{
	const bool up = to != ox_signed(to);
	const int32_t zp = ox_less(ox_unsigned(ox_signed(to)));
	weft_attr a = { .rescale = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .x_unsigned = !up, .y_unsigned = up,
	                             .x_zp = up ? 0 : zp, .y_zp = up ? zp : 0 } };

	return ox_rescale_by(l, x, &a, 1 << 30, 30, to);
}

/*
 * Says whether TOSA's CAST from type x to type y is used for ONNX's Cast: from int8, int16, int32
 * or bool to int8, int16 or int32, from int8, int16 or int32 to a plain float, and between plain
 * floats.
 */
static bool tosa_cast(weft_dtype x, weft_dtype y)
{
	bool xi = x == WEFT_INT8 || x == WEFT_INT16 || x == WEFT_INT32, yi = y == WEFT_INT8 || y == WEFT_INT16 || y == WEFT_INT32;

	return ((xi || x == WEFT_BOOL) && yi) || (xi && weft_is_plain_float(y)) || (weft_is_plain_float(x) && weft_is_plain_float(y));
}

/*
 * Emits x converted to type `to`, x itself if it has that type. The conversion is TOSA's CAST if tosa_cast()
 * is true: between int8, int16 and int32, from bool to these three, from these three to float32, float16 or
 * bfloat16, and between these floats. All other pairs of types get the host operator ONNX_CAST, by which a
 * float8 saturates and an integer keeps the low bits. Returns the graph tensor, or a negative errno; a
 * negative x is returned as it is.
 */
int ox_cast(struct ox *l, int x, weft_dtype to)
{
	weft_attr a = { .onnx = { true, 0 } };

	if (x < 0 || ox_t(l, x)->dtype == to)
		return x;
	const weft_tensor *t = ox_t(l, x);
	return ox_op(l, tosa_cast(t->dtype, to) ? WEFT_OP_CAST : WEFT_OP_ONNX_CAST, &a, &x, 1, to, t->rank, t->dim);
}

/*
 * Emits constant x of type int64, uint64 or uint32 converted to int32, the widest integer type that
 * arithmetic takes. Returns the graph tensor, -ENOTSUP if x is not constant or an element does not
 * fit int32, or another negative errno.
 */
static int narrow_64(struct ox *l, int x)
{
	const weft_tensor *t = ox_t(l, x);

	if (!t->data)
		return ox_fail(l, -ENOTSUP, "arithmetic on %s", weft_dtype_name(t->dtype));
	for (int64_t i = 0, n = weft_tensor_elements(t); i < n; i++) {
		int64_t v = t->dtype == WEFT_UINT32 ? ((uint32_t *)t->data)[i] : ((int64_t *)t->data)[i];
		/* uint64 from 2^63 on is negative here. */
		if (v < (t->dtype == WEFT_UINT64 ? 0 : INT32_MIN) || v > INT32_MAX)
			return ox_fail(l, -ENOTSUP, "a constant of %s outside int32", weft_dtype_name(t->dtype));
	}
	return ox_cast(l, x, WEFT_INT32);
}

/*
 * Emits x in a type in which arithmetic is done: float32, float16, bfloat16 and int32 as they are,
 * floats of 4 and 8 bits as float32, smaller integers and bool as int32, constants of int64, uint64
 * and uint32 as int32 if all elements fit. Returns the graph tensor, -ENOTSUP for float64 and for
 * what does not fit or is not constant, or another negative errno; a negative x is returned as it
 * is.
 */
int ox_widen(struct ox *l, int x)
{
	if (x < 0)
		return x;
	switch (ox_t(l, x)->dtype) {
	case WEFT_INT64: case WEFT_UINT64: case WEFT_UINT32: return narrow_64(l, x);
	case WEFT_FP64: return ox_fail(l, -ENOTSUP, "arithmetic on float64");
	case WEFT_FP32: case WEFT_FP16: case WEFT_BF16: case WEFT_INT32: return x;
	case WEFT_FP8E4M3: case WEFT_FP8E5M2: case WEFT_FP8E4M3FNUZ: case WEFT_FP8E5M2FNUZ: case WEFT_FP4E2M1: case WEFT_FP8E8M0:
		return ox_cast(l, x, WEFT_FP32);
	default: return ox_cast(l, x, WEFT_INT32);
	}
}

/* ---- elementwise ---- */

/*
 * Sets dim to the shape to which the n tensors x, all of the rank of x[0], broadcast: each
 * dimension is the one that all tensors have which do not have 1 there, else 1. Returns the rank,
 * or -EINVAL after ox_fail() if two tensors have different dimensions neither of which is 1; dim is
 * then written in part. No x may be negative.
 */
int ox_broadcast(struct ox *l, const int *x, int n, int64_t *dim)
{
	int rank = ox_t(l, x[0])->rank;

	for (int i = 0; i < rank; i++) {
		dim[i] = 1;
		for (int k = 0; k < n; k++) {
			int64_t d = ox_t(l, x[k])->dim[i];
			if (d != 1 && dim[i] != 1 && d != dim[i])
				return ox_fail(l, -EINVAL, "dimension %d: %lld and %lld do not broadcast", i, (long long)dim[i], (long long)d);
			dim[i] = d != 1 ? d : dim[i];
		}
	}
	return rank;
}

/*
 * Gives the n tensors x one rank, the highest among them, by dimensions of 1 in front; x receives
 * the new tensors. Returns that rank, or a negative errno (the first negative x if there is one),
 * after which x may be changed in part.
 */
static int match_ranks(struct ox *l, int *x, int n)
{
	int rank = 0;

	for (int k = 0; k < n; k++) {
		if (x[k] < 0)
			return x[k];
		rank = ox_t(l, x[k])->rank > rank ? ox_t(l, x[k])->rank : rank;
	}
	for (int k = 0; k < n; k++)
		if ((x[k] = ox_to_rank(l, x[k], rank)) < 0)
			return x[k];
	return rank;
}

static bool compares(weft_opcode op)
{
	return op == WEFT_OP_EQUAL || op == WEFT_OP_GREATER || op == WEFT_OP_GREATER_EQUAL;
}

/*
 * Emits the result of elementwise operator op on a and b, which have the same type and are
 * broadcast as NumPy does. The result's type is bool if op is EQUAL, GREATER or GREATER_EQUAL, else
 * the operands'. Returns the graph tensor, -EINVAL if the types differ or the shapes do not
 * broadcast, or another negative errno; a negative operand is returned as it is.
 */
int ox_binary(struct ox *l, weft_opcode op, int a, int b)
{
	weft_attr attr;
	int64_t dim[WEFT_MAX_RANK];
	int x[2] = { a, b }, rank = match_ranks(l, x, 2);

	memset(&attr, 0, sizeof attr);
	if (rank < 0 || (rank = ox_broadcast(l, x, 2, dim)) < 0)
		return rank;
	if (ox_t(l, x[0])->dtype != ox_t(l, x[1])->dtype)
		return ox_fail(l, -EINVAL, "%s and %s", weft_dtype_name(ox_t(l, x[0])->dtype), weft_dtype_name(ox_t(l, x[1])->dtype));
	return ox_op(l, op, &attr, x, 2, compares(op) ? WEFT_BOOL : ox_t(l, x[0])->dtype, rank, dim);
}

/*
 * Emits a tensor with a's elements where the bool tensor cond is true and b's elsewhere, all three
 * broadcast to one shape as NumPy does. Its type is a's, which b has to have; that is not checked
 * here. Returns the graph tensor, -EINVAL if the shapes do not broadcast, or another negative
 * errno; a negative operand is returned as it is.
 */
int ox_select(struct ox *l, int cond, int a, int b)
{
	int64_t dim[WEFT_MAX_RANK];
	int x[3] = { cond, a, b }, rank = match_ranks(l, x, 3);

	if (rank < 0 || (rank = ox_broadcast(l, x, 3, dim)) < 0)
		return rank;
	return ox_op(l, WEFT_OP_SELECT, NULL, x, 3, ox_t(l, x[1])->dtype, rank, dim);
}

int ox_unary(struct ox *l, weft_opcode op, int x)
{
	return x < 0 ? x : ox_op(l, op, NULL, &x, 1, ox_t(l, x)->dtype, ox_t(l, x)->rank, ox_t(l, x)->dim);
}

int ox_scale(struct ox *l, int x, double v)
{
	return x < 0 || v == 1 ? x : ox_binary(l, WEFT_OP_MUL, x, ox_ramp(l, ox_t(l, x)->dtype, ox_t(l, x)->rank, v));
}

int ox_shift(struct ox *l, int x, double v)
{
	return x < 0 || v == 0 ? x : ox_binary(l, WEFT_OP_ADD, x, ox_ramp(l, ox_t(l, x)->dtype, ox_t(l, x)->rank, v));
}

/*
 * Emits the result of reduction op (a REDUCE_... operator) of x along axis; the dimension stays,
 * with length 1, and NaN is propagated. Returns the graph tensor, or a negative errno; a negative x
 * is returned as it is.
 */
int ox_reduce(struct ox *l, weft_opcode op, int x, int axis)
{
	weft_attr a = { .axis = { axis, WEFT_NAN_PROPAGATE } };
	weft_tensor t;

	if (x < 0)
		return x;
	t = *ox_t(l, x);
	t.dim[axis] = 1;
	return ox_op(l, op, &a, &x, 1, t.dtype, t.rank, t.dim);
}

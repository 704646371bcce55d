/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices whose place only the run knows, as loops over sequences have them.
 *
 * With sizes that are known, SLICE and STRIDED_SLICE gather elements, on the
 * host. TensorFlow's lists become x[:i] + [item] + x[i + 1:] in every round of a
 * loop: the two slices have sizes that only the run knows, but all three joined
 * are x with row i replaced. The slices stay without a value, and the
 * CONCATENATION becomes ONNX's ScatterND.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_host.h"

/* Returns the operator before number `before` whose first result is that file tensor, or NULL. */
static const struct tfl_op *maker(const struct tfl_lower *l, int tensor, int before)
{
	for (int i = before; i--;)
		if (l->m->ops[i].out.n && fb_i32_at(&l->m->b, &l->m->ops[i].out, 0) == tensor)
			return &l->m->ops[i];
	return NULL;
}

/* Returns the file tensor that is operand k of operator o, or -1 if there is none. */
static int operand_of(const struct tfl_lower *l, const struct tfl_op *o, int k)
{
	int i = o && (uint32_t)k < o->in.n ? fb_i32_at(&l->m->b, &o->in, (uint32_t)k) : -1;

	return i < l->m->n_tensors ? i : -1;
}

/*
 * Copies constant file tensor i of at most `max` int32 or int64 to v. Returns their count, or -1 if it
 * is not such a constant.
 */
static int constants(const struct tfl_lower *l, int i, int max, int64_t *v)
{
	const struct tfl_tensor *f = i < 0 ? NULL : tfl_file_tensor(l, i);
	size_t elem = f && f->type == TFL_INT64 ? 8 : 4;

	if (!f || !f->data || (f->type != TFL_INT32 && f->type != TFL_INT64) || f->data_len / elem > (size_t)max)
		return -1;
	for (size_t k = 0; k < f->data_len / elem; k++)
		v[k] = tfl_int_at(f, elem, (int64_t)k);
	return (int)(f->data_len / elem);
}

/*
 * Says whether file tensor i is a constant of at most TFL_MAX_RANK integers, each of which is v or, if w is not
 * NULL, the number of w in the same place.
 */
static bool all_are(const struct tfl_lower *l, int i, int64_t v, const int64_t *w)
{
	int64_t c[TFL_MAX_RANK];
	int n = constants(l, i, TFL_MAX_RANK, c);

	for (int k = 0; k < n; k++)
		if (c[k] != v && !(w && c[k] == w[k]))
			return false;
	return n >= 0;
}

/*
 * Leaves the result of the operator at hand without a value if it is a SLICE of three operands and one result whose
 * sizes only the run knows: begins or sizes (operands 1 and 2) are not constant, and the sizes are not known from
 * constants either, since operand 2 is not constant or has a number below 0 (all that are left). The result is then
 * marked as late (l->late). Returns 1 if that is done, 0 if the operator is another one or its sizes are known,
 * -ENOTSUP if its result is an output of the graph or no tensor, or another negative errno.
 */
int tfl_defer_slice(struct tfl_lower *l)
{
	int64_t size[TFL_MAX_RANK];
	int i, n;

	if (l->op->code != TFL_SLICE || l->op->in.n != 3 || l->op->out.n != 1 || (tfl_is_const(l, 1) && tfl_is_const(l, 2)))
		return 0;
	if ((i = tfl_operand(l, 2)) < 0)
		return i;
	n = constants(l, i, TFL_MAX_RANK, size);
	for (int k = 0; k < n; k++)
		if (size[k] < 0)
			n = -1;
	if (n >= 0)
		return 0;
	if ((i = fb_i32_at(&l->m->b, &l->op->out, 0)) < 0 || i >= l->m->n_tensors || l->is_output[i])
		return tfl_fail(l, -ENOTSUP, "its size is known only when the network runs");
	l->late[i] = true;
	return 1;
}

/* ---- x[:i] + [item] + x[i + 1:] ---- */

bool tfl_is_put(const struct tfl_lower *l)
{
	int a = operand_of(l, l->op, 0), b = operand_of(l, l->op, 2);

	return l->op->code == TFL_CONCATENATION && l->op->in.n == 3 && a >= 0 && b >= 0 && l->late[a] && l->late[b];
}

/* How a vector was put together: file tensors of its first element, and of the vector of the others. -1: there is none. */
struct parts { int first, rest; };

/*
 * Finds how the operators before the one at hand put file tensor `vector` together. If a RESHAPE, EXPAND_DIMS
 * or PACK made it of one element, `first` is that element and `rest` is -1. If a CONCATENATION made it of such
 * a vector and another one, `first` is the former's element and `rest` the other vector. If it was made
 * otherwise, `first` is -1 and `rest` says nothing.
 */
static struct parts parts_of(const struct tfl_lower *l, int vector)
{
	const struct tfl_op *o = maker(l, vector, l->i_op);
	struct parts p = { -1, -1 };

	if (o && o->code == TFL_CONCATENATION && o->in.n == 2) {
		p.rest = operand_of(l, o, 1);
		o = maker(l, operand_of(l, o, 0), l->i_op);
	}
	if (o && (o->code == TFL_RESHAPE || o->code == TFL_EXPAND_DIMS || (o->code == TFL_PACK && o->in.n == 1)))
		p.first = operand_of(l, o, 0);
	return p;
}

/* Says whether file tensor j is i plus a constant, which *plus then is. */
static bool is_plus(const struct tfl_lower *l, int i, int j, int64_t *plus)
{
	const struct tfl_op *o = maker(l, j, l->i_op);
	int a = operand_of(l, o, 0), b = operand_of(l, o, 1);

	return o && i >= 0 && o->code == TFL_ADD && ((a == i && constants(l, b, 1, plus) == 1) || (b == i && constants(l, a, 1, plus) == 1));
}

/* Says whether file tensor j is i + 1. */
static bool is_next(const struct tfl_lower *l, int i, int j)
{
	int64_t plus;

	return is_plus(l, i, j, &plus) && plus == 1;
}

/*
 * Returns the file tensor that became element k of file tensor `vector`: operand k of a PACK; what RESHAPE or
 * EXPAND_DIMS made operand k of a CONCATENATION from; or, for k = 0, the operand of a RESHAPE or EXPAND_DIMS.
 * -1 if nothing such made it.
 */
static int packed_element(const struct tfl_lower *l, int vector, int k)
{
	const struct tfl_op *o = maker(l, vector, l->i_op);
	if (!k && o && (o->code == TFL_RESHAPE || o->code == TFL_EXPAND_DIMS))
		return operand_of(l, o, 0);
	int i = o && (o->code == TFL_PACK || o->code == TFL_CONCATENATION) ? operand_of(l, o, k) : -1;

	if (i < 0 || o->code == TFL_PACK)
		return i;
	o = maker(l, i, l->i_op);
	return o && (o->code == TFL_RESHAPE || o->code == TFL_EXPAND_DIMS) ? operand_of(l, o, 0) : -1;
}

/* One row put in place of another: the file tensors of what has the rows, and of the row's number. list is -1 if there is no such thing. */
struct row_put { int list, row; };

/*
 * Finds which row of what the CONCATENATION at hand, of which tfl_is_put() is true, replaces: its operand 0 is then
 * the SLICE of all rows before that row, its operand 2 that of all rows behind it, both of one tensor that has a value
 * in the graph. list is -1 if that is not so.
 */
static struct row_put find_put(const struct tfl_lower *l)
{
	const struct row_put none = { -1, -1 };
	const struct tfl_op *a = maker(l, operand_of(l, l->op, 0), l->i_op), *b = maker(l, operand_of(l, l->op, 2), l->i_op);
	const struct parts size = parts_of(l, operand_of(l, a, 2)), begin = parts_of(l, operand_of(l, b, 1));
	const int x = operand_of(l, a, 0);

	if (x < 0 || x != operand_of(l, b, 0) || size.first < 0 || begin.first < 0 || l->seen[x] < 0)
		return none;
	const weft_tensor *t = &l->g->tensors[l->seen[x]].t;
	const bool rows = all_are(l, operand_of(l, a, 1), 0, NULL) && all_are(l, operand_of(l, b, 2), -1, t->dim) &&
	                  is_next(l, size.first, begin.first);
	if (!rows || (t->rank != 1 && (!all_are(l, size.rest, -1, t->dim + 1) || !all_are(l, begin.rest, 0, NULL))))
		return none;
	return (struct row_put){ x, size.first };
}

/*
 * Lowers the CONCATENATION that tfl_is_put() finds, x[:i] + [item] + x[i + 1:], to ScatterND of ONNX on the
 * host: a copy of x whose row i is the item. The item has to have the result's type and quantisation
 * (tfl_moved()). Returns the result's tensor; -ENOTSUP if the axis is not 0, it is not such a CONCATENATION,
 * or the item is no row of x; or another negative errno.
 */
int tfl_lower_put(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_attr("ScatterND");
	const struct row_put put = find_put(l);
	int axis, in[3], err = tfl_option(l, OPTIONS_CONCAT, CONCAT_AXIS, 4, 0, &axis);

	if (err)
		return err;
	if (axis || put.list < 0)
		return tfl_fail(l, -ENOTSUP, "of slices whose sizes are known only when the network runs, other than one row put in place");
	const weft_tensor t = l->g->tensors[l->seen[put.list]].t;
	if ((in[2] = tfl_moved(l, 1)) < 0 || (in[1] = tfl_value_of(l, put.row)) < 0)
		return in[2] < 0 ? in[2] : in[1];
	const weft_tensor *item = &l->g->tensors[in[2]].t;
	if (item->rank != t.rank || item->dim[0] != 1 || weft_tensor_elements(item) * t.dim[0] != weft_tensor_elements(&t))
		return tfl_fail(l, -ENOTSUP, "a row of %lld elements into rows of %lld", (long long)weft_tensor_elements(item),
		                (long long)(weft_tensor_elements(&t) / t.dim[0]));
	in[0] = l->seen[put.list];
	if ((in[1] = tfl_reshape(l, in[1], 2, (int64_t[]){ 1, 1 })) < 0 || (in[1] = tfl_node_cast(l, in[1], WEFT_INT64, false)) < 0)
		return in[1];
	return tfl_node(l, &a, in, 3, true);
}

/* ---- slices of known size ---- */

/*
 * Emits n elements of x along axis i, beginning where element i of the int64 vector `begin`, a graph tensor,
 * says when the network runs; the other axes stay whole. Returns the graph tensor, or a negative errno; a
 * negative x or begin is returned as it is.
 */
static int gathered(struct tfl_lower *l, int x, int begin, int i, int64_t n)
{
	struct weft_attr_onnx_node a = tfl_node_attr("Gather");
	int64_t one = 1, *place = begin < 0 || x < 0 ? NULL : tfl_alloc(l, 1, sizeof *place), *step = place ? tfl_alloc(l, n, sizeof *step) : NULL;

	if (!step) {
		free(place);
		return x < 0 ? x : begin < 0 ? begin : l->err;
	}
	*place = i;
	for (int64_t k = 0; k < n; k++)
		step[k] = k;
	int at = tfl_plain(l, "Gather", (int[]){ begin, tfl_data(l, "axis", WEFT_INT64, 1, &one, place) }, 2, false);
	at = tfl_plain(l, "Add", (int[]){ at, tfl_data(l, "steps", WEFT_INT64, 1, &n, step) }, 2, false);
	tfl_node_int(&a, "axis", i);
	return tfl_node(l, &a, (int[]){ x, at }, 2, false);
}

/* Returns operand 1 of the operator at hand, integers, as int64. */
static int begins(struct tfl_lower *l)
{
	int x = tfl_value(l, 1);

	return x < 0 || l->g->tensors[x].t.dtype == WEFT_INT64 ? x : tfl_node_cast(l, x, WEFT_INT64, false);
}

/*
 * Lowers SLICE whose starts only the run knows, but whose sizes (operand 2) are constant: each dimension that
 * is not taken whole is gathered from its start on. Operand 0 has to have the result's type and quantisation
 * (tfl_moved()). Returns the result's tensor; -EINVAL if the sizes are not as many as the dimensions, or one
 * is below 1 or beyond its dimension; or another negative errno.
 */
int tfl_lower_slice_at(struct tfl_lower *l)
{
	int64_t size[TFL_MAX_RANK];
	int x = tfl_moved(l, 0), n = x < 0 ? x : tfl_ints(l, 2, TFL_MAX_RANK, size), begin = n < 0 ? n : begins(l);

	if (begin < 0)
		return begin;
	const weft_tensor t = l->g->tensors[x].t;
	if (n != t.rank)
		return tfl_fail(l, -EINVAL, "%d sizes for rank %d", n, t.rank);
	for (int i = 0; i < n; i++) {
		if (size[i] < 1 || size[i] > t.dim[i])
			return tfl_fail(l, -EINVAL, "dimension %d: %lld of %lld", i, (long long)size[i], (long long)t.dim[i]);
		if (size[i] != t.dim[i])
			x = gathered(l, x, begin, i, size[i]);
	}
	return tfl_node_own(l, x);
}

/*
 * Lowers STRIDED_SLICE whose starts only the run knows: each dimension that is not taken whole (begin and end
 * mask both set) is gathered from its start on. Its size must be known: 1 where the dimension is dropped,
 * else the result's, or the number that the file adds to the start to make the end. Operand 0 has to have the
 * result's type and quantisation (tfl_moved()). Returns the result's tensor; -ENOTSUP for a size that is not
 * known or beyond the dimension, only one of the two masks in a dimension that is not dropped, a stride other
 * than 1, an ellipsis, new axes, or more starts than dimensions; or another negative errno.
 */
int tfl_lower_strided_slice_at(struct tfl_lower *l)
{
	static const int field[6] = { STRIDED_BEGIN_MASK, STRIDED_END_MASK, STRIDED_ELLIPSIS_MASK, STRIDED_NEW_AXIS_MASK, STRIDED_SHRINK_MASK };
	int64_t stride[TFL_MAX_RANK];
	int mask[5], err = 0, x = tfl_moved(l, 0), n = x < 0 ? x : tfl_ints(l, 3, TFL_MAX_RANK, stride), begin = n < 0 ? n : begins(l), k = 0;
	int64_t dim[TFL_MAX_RANK];

	for (int i = 0; i < 5 && !err; i++)
		err = tfl_option(l, OPTIONS_STRIDED_SLICE, field[i], 4, 0, &mask[i]);
	if (begin < 0 || err)
		return begin < 0 ? begin : err;
	const weft_tensor t = l->g->tensors[x].t;
	if (mask[2] || mask[3] || n > t.rank)
		return tfl_fail(l, -ENOTSUP, "%d starts for rank %d, ellipsis or new axes, with computed starts", n, t.rank);
	for (int i = 0; i < n; i++) {
		const bool shrink = mask[4] >> i & 1, whole = !shrink && (mask[0] & mask[1]) >> i & 1;
		int64_t want = shrink ? 1 : whole ? t.dim[i] : k < l->y.rank && !tfl_is_open(l, k) ? l->y.dim[k] : 0;

		if (!want && !((mask[0] | mask[1]) >> i & 1))
			is_plus(l, packed_element(l, tfl_operand(l, 1), i), packed_element(l, tfl_operand(l, 2), i), &want);
		if (stride[i] != 1 || want < 1 || want > t.dim[i] || (!whole && !shrink && (mask[0] | mask[1]) >> i & 1))
			return tfl_fail(l, -ENOTSUP, "dimension %d: a size known only when the network runs, or a stride", i);
		if (!whole)
			x = gathered(l, x, begin, i, want);
		if (!shrink)
			dim[k++] = want;
	}
	for (int i = n; i < t.rank; i++)
		dim[k++] = t.dim[i];
	return x < 0 ? x : tfl_node_own(l, tfl_reshape(l, x, k, dim));
}

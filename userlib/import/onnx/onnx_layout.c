/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements, and those that make or describe tensors. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "onnx_integer.h"

static int done(struct ox *l, int y)
{
	return ox_result(l, 0, y, NULL, false);
}

/* Says whether operand k of the node at hand is one constant float32 that is 0. */
static bool is_zero(struct ox *l, int k)
{
	const weft_tensor *t = ox_has(l, k) && ox_is_const(l, k) ? ox_const(l, k) : NULL;

	return t && t->dtype == WEFT_FP32 && weft_tensor_elements(t) == 1 && *(const float *)t->data == 0;
}

/*
 * Lowers Identity, OptionalGetElement and Dropout: the result is operand 0 itself. A Dropout in training mode is that only
 * if its ratio is a constant 0. Returns 0, -ENOTSUP for a Dropout in training mode with another ratio or if a second result
 * is read, or another negative errno.
 */
int ox_identity(struct ox *l)
{
	const weft_tensor *training = ox_is(l, "Dropout") && ox_has(l, 2) ? ox_const(l, 2) : NULL;

	if (ox_is(l, "Dropout") && ox_has(l, 2) && !training)
		return l->err;
	if (training && *(const uint8_t *)training->data && !is_zero(l, 1))
		return ox_fail(l, -ENOTSUP, "training draws random numbers");
	const int second = l->n->n_output > 1 && *l->n->output[1] ? ox_value_find(l, l->n->output[1]) : -1;
	if (second >= 0 && (l->values[second].n_uses || l->values[second].is_output))
		return ox_fail(l, -ENOTSUP, "a second result");
	return ox_alias(l, ox_in(l, 0), NULL);
}

/*
 * Lowers OptionalHasElement to a constant bool: whether the node has an operand 0. Returns 0 or a
 * negative errno.
 */
int ox_has_element(struct ox *l)
{
	uint8_t *p = ox_alloc(l, 1, 1);

	if (p)
		*p = ox_has(l, 0);
	return ox_result(l, 0, ox_data(l, WEFT_BOOL, 0, NULL, p), NULL, false);
}

/*
 * Lowers Transpose by attribute perm, without which the order of dimensions is reversed. No
 * operator is emitted: elements are moved only if a reader needs them in the new order. Returns 0,
 * -EINVAL if perm is no permutation, or another negative errno.
 */
int ox_transpose_node(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t list[WEFT_MAX_RANK];
	int8_t perm[WEFT_MAX_RANK] = { 0 };
	unsigned seen = 0;
	int n = v ? ox_attr_ints(l, "perm", WEFT_MAX_RANK, list) : -1;

	if (n < 0)
		return l->err;
	for (int i = 0; i < v->t.rank; i++) {
		int64_t p = n ? list[i] : v->t.rank - 1 - i;
		if ((n && n != v->t.rank) || p < 0 || p >= v->t.rank || (seen & 1u << p))
			return ox_fail(l, -EINVAL, "perm is no order of %d dimensions", v->t.rank);
		seen |= 1u << p;
		perm[i] = (int8_t)p;
	}
	return ox_alias(l, v, perm);
}

/*
 * Makes tensor y, which has v's elements, result 0. If v has rank 3 or more, y is a matrix with v's
 * first dimension as rows and v is held with that dimension first, the result's field flat notes
 * v's shape and that tensor, from which a product can read. Returns 0 or a negative errno; a
 * negative y is returned as it is.
 */
static int done_flat(struct ox *l, const struct ox_value *v, int y)
{
	struct ox_value *to = l->results ? l->results : &l->values[ox_value_find(l, l->n->output[0])];
	int err = done(l, y);

	if (err < 0 || v->t.rank < 3 || to->t.rank != 2 || to->t.dim[0] != v->t.dim[0] || !v->n_forms || v->form[0].perm[0])
		return err;
	to->flat.rank = v->t.rank;
	memcpy(to->flat.dim, v->t.dim, sizeof to->flat.dim);
	to->flat.form = v->form[0];
	return err;
}

/*
 * Lowers Reshape to the constant shape of operand 1 or, before opset 5, attribute shape. A 0 keeps
 * the operand's dimension unless allowzero is set; one -1 stands for what the others leave. Returns
 * 0, -EINVAL if the elements do not have that shape or it has more than 8 dimensions, -ENOTSUP if it
 * is not constant or there are no elements (but 0 if a -1 makes it the shape that the operand has),
 * or another negative errno.
 */
int ox_reshape_node(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t dim[WEFT_MAX_RANK], known = 1, have;
	int n = v ? ox_list(l, "shape", 1, WEFT_MAX_RANK, dim) : -1, free_dim = -1;

	if (n < 0)
		return l->err;
	have = weft_tensor_elements(&v->t);
	for (int i = 0; i < n; i++) {
		if (dim[i] == 0 && !ox_attr_i(l, "allowzero", 0) && i < v->t.rank)
			dim[i] = v->t.dim[i];
		if (dim[i] == -1 && free_dim < 0) {
			free_dim = i;
			continue;
		}
		if (dim[i] < 0 || dim[i] > INT32_MAX || (known && dim[i] > INT64_MAX / 2 / known))
			return ox_fail(l, -EINVAL, "dimension %d of the shape is %lld", i, (long long)dim[i]);
		known *= dim[i];
	}
	if (free_dim >= 0)
		dim[free_dim] = known ? have / known : 0;
	if (known == 0 && !have)
		return ox_fail(l, -ENOTSUP, "tensors without elements");
	if (known * (free_dim >= 0 ? dim[free_dim] : 1) != have)
		return ox_fail(l, -EINVAL, "%lld elements do not have that shape", (long long)have);
	return done_flat(l, v, ox_reshape(l, ox_get(l, v, NULL), n, dim));
}

/*
 * Lowers Flatten: operand 0 as a matrix whose rows are the dimensions before the attribute's axis
 * (default 1), negative ones counted from the end, and whose columns are the others. Returns 0,
 * -EINVAL if the axis is not -rank to rank, or another negative errno.
 */
int ox_flatten(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t axis = ox_attr_i(l, "axis", 1), dim[2] = { 1, 1 };

	if (!v)
		return l->err;
	if (axis < -v->t.rank || axis > v->t.rank)
		return ox_fail(l, -EINVAL, "axis %lld of rank %d", (long long)axis, v->t.rank);
	axis = axis < 0 ? axis + v->t.rank : axis;
	for (int i = 0; i < v->t.rank; i++)
		dim[i >= axis] *= v->t.dim[i];
	return done_flat(l, v, ox_reshape(l, ox_get(l, v, NULL), 2, dim));
}

/*
 * Lowers Squeeze of operand 0: removes the dimensions named by operand 1 or, in older opsets,
 * attribute axes, or all dimensions of 1 if none is named. Returns 0, -EINVAL if a named dimension
 * is not 1 or out of range, -ENOTSUP if the axes are not constant, or another negative errno.
 */
int ox_squeeze(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t list[WEFT_MAX_RANK], dim[WEFT_MAX_RANK];
	int n = v ? ox_list(l, "axes", 1, WEFT_MAX_RANK, list) : -1, rank = 0;
	unsigned gone = 0;

	if (n < 0)
		return l->err;
	for (int i = 0; i < n; i++) {
		int axis = ox_axis(l, list[i], v->t.rank);
		if (axis < 0 || v->t.dim[axis] != 1)
			return axis < 0 ? axis : ox_fail(l, -EINVAL, "dimension %d is %lld", axis, (long long)v->t.dim[axis]);
		gone |= 1u << axis;
	}
	for (int i = 0; i < v->t.rank; i++)
		if (n ? !(gone & 1u << i) : v->t.dim[i] != 1)
			dim[rank++] = v->t.dim[i];
	return done(l, ox_reshape(l, ox_get(l, v, NULL), rank, dim));
}

/*
 * Lowers Unsqueeze of operand 0: inserts dimensions of 1 at the places of the result named by
 * operand 1 or, in older opsets, attribute axes; negative ones count from the result's end. Returns
 * 0, -EINVAL if a place is named twice or out of range, -ENOTSUP if the result's rank is above 8 or
 * the axes are not constant, or another negative errno.
 */
int ox_unsqueeze(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t list[WEFT_MAX_RANK], dim[WEFT_MAX_RANK];
	int n = v ? ox_list(l, "axes", 1, WEFT_MAX_RANK, list) : -1, from = 0;
	unsigned fresh = 0;

	if (n < 0)
		return l->err;
	int rank = v->t.rank + n;
	if (rank > WEFT_MAX_RANK)
		return ox_fail(l, -ENOTSUP, "rank %d", rank);
	for (int i = 0; i < n; i++) {
		int axis = ox_axis(l, list[i], rank);
		if (axis < 0 || (fresh & 1u << axis))
			return axis < 0 ? axis : ox_fail(l, -EINVAL, "axis %d twice", axis);
		fresh |= 1u << axis;
	}
	for (int i = 0; i < rank; i++)
		dim[i] = fresh & 1u << i ? 1 : v->t.dim[from++];
	return done(l, ox_reshape(l, ox_get(l, v, NULL), rank, dim));
}

/*
 * Lowers Concat of 1 to 4096 operands along the attribute's axis, whose default is 1 before opset 4. If
 * the first operand is not constant, the operands are joined in the order of dimensions in which the
 * graph holds it, so that it need not be transposed. They are joined as int8 if all of them are uint8
 * and the graph holds them as int8. Returns 0; -ENOTSUP for another number of operands; -EINVAL if the
 * axis is missing or out of range, or if operands differ in type, in rank or in a dimension that is not
 * the axis; or another negative errno.
 */
int ox_concat_node(struct ox *l)
{
	int x[4096], n = (int)l->n->n_input;
	struct ox_value *v = ox_in(l, 0);
	int axis = v ? ox_axis(l, ox_attr_i(l, "axis", l->opset < 4 ? 1 : INT32_MAX), v->t.rank) : -1;
	int8_t perm[WEFT_MAX_RANK], *order = NULL;
	bool flip = true;

	if (axis < 0)
		return l->err;
	if (n < 1 || n > 4096)
		return ox_fail(l, -ENOTSUP, "%d inputs", n);
	if (v->n_forms && !ox_is_const(l, 0)) {
		memcpy(perm, v->form[0].perm, sizeof perm);
		order = perm;
		for (int i = 0; i < v->t.rank; i++)
			if (perm[i] == axis) {
				axis = i;
				break;
			}
	}
	for (int k = 0; k < n; k++) {
		struct ox_value *o = ox_in(l, k);
		if (!o || o->t.rank != v->t.rank)
			return o ? ox_fail(l, -EINVAL, "ranks %d and %d", v->t.rank, o->t.rank) : l->err;
		flip = flip && ox_less(o->t.dtype) && o->t.dtype == v->t.dtype && o->n_forms && o->form[0].flip;
	}
	for (int k = 0; k < n; k++) {
		x[k] = flip ? ox_get_signed(l, ox_in(l, k), order) : ox_get(l, ox_in(l, k), order);
		if (x[k] < 0)
			return x[k];
	}
	return ox_result(l, 0, ox_concat(l, x, n, axis), order, flip);
}

/*
 * Lowers Split of operand 0 along the attribute's axis (default 0) into as many parts as the node
 * has results, at most 256: of the sizes in operand 1 or attribute split, or else equal ones, of
 * which the last may be smaller. Returns 0, -EINVAL if the sizes do not fit or there are more
 * results, -ENOTSUP if a part would have no elements or the sizes are not constant, or another
 * negative errno.
 */
int ox_split(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t size[256], start[WEFT_MAX_RANK] = { 0 }, total = 0;
	int axis = v ? ox_axis(l, ox_attr_i(l, "axis", 0), v->t.rank) : -1;
	int n = axis < 0 ? -1 : ox_list(l, "split", 1, 256, size), parts = (int)l->n->n_output;

	if (n < 0)
		return l->err;
	if (parts > 256 || parts < 1 || (n && n != parts))
		return ox_fail(l, -EINVAL, "%d parts, %d results", n, parts);
	int64_t each = (v->t.dim[axis] + parts - 1) / parts;
	for (int i = 0; i < parts; i++) {
		if (!n)
			size[i] = v->t.dim[axis] - total < each ? v->t.dim[axis] - total : each;
		if (size[i] < 0 || size[i] > INT32_MAX)
			return ox_fail(l, -EINVAL, "part %d of %lld", i, (long long)size[i]);
		total += size[i];
	}
	if (total != v->t.dim[axis])
		return ox_fail(l, -EINVAL, "parts of %lld in all, of %lld", (long long)total, (long long)v->t.dim[axis]);
	int x = ox_get(l, v, NULL);
	for (int i = 0; i < parts && x >= 0; i++) {
		weft_tensor t = v->t;

		t.dim[axis] = size[i];
		if (!size[i])
			return ox_fail(l, -ENOTSUP, "tensors without elements");
		int y = ox_slice(l, x, start, t.dim), err = ox_result(l, i, y, NULL, false);
		if (err < 0)
			return err;
		start[axis] += size[i];
	}
	return x < 0 ? x : 0;
}

/* ---- Slice ---- */

/*
 * Emits `count` elements (at least 1) of x along axis: those at first, first + step, and so on;
 * step may be negative. Returns the graph tensor, -ENOTSUP for a step other than 1 or -1 of several
 * elements in rank 8, or another negative errno; a negative x is returned as it is.
 */
static int take(struct ox *l, int x, int axis, int64_t first, int64_t step, int64_t count)
{
	int64_t start[WEFT_MAX_RANK] = { 0 }, pad[WEFT_MAX_RANK] = { 0 }, none[WEFT_MAX_RANK] = { 0 }, dim[WEFT_MAX_RANK];
	weft_attr a = { .axis = { axis, 0 } };

	if (x < 0)
		return x;
	if (step < 0) {
		x = ox_op(l, WEFT_OP_REVERSE, &a, &x, 1, ox_t(l, x)->dtype, ox_t(l, x)->rank, ox_t(l, x)->dim);
		if (x < 0)
			return x;
		first = ox_t(l, x)->dim[axis] - 1 - first;
		step = -step;
	}
	weft_tensor t = *ox_t(l, x);
	int64_t reach = (count - 1) * step + 1;
	start[axis] = first;
	t.dim[axis] = reach;
	x = ox_slice(l, x, start, t.dim);
	if (step == 1 || count == 1 || x < 0)
		return x;
	if (t.rank + 1 > WEFT_MAX_RANK)
		return ox_fail(l, -ENOTSUP, "steps in rank %d", t.rank);
	pad[axis] = count * step - reach;
	x = ox_pad(l, x, none, pad, 0);
	for (int i = 0; i <= t.rank; i++)
		dim[i] = i < axis ? t.dim[i] : i == axis ? count : i == axis + 1 ? step : t.dim[i - 1];
	x = ox_reshape(l, x, t.rank + 1, dim);
	dim[axis + 1] = 1;
	x = ox_slice(l, x, none, dim);
	t.dim[axis] = count;
	return ox_reshape(l, x, t.rank, t.dim);
}

/*
 * Returns the index at which start or end v of a slice lies in a dimension of d elements. A
 * negative v counts from the end; the result is limited to 0..d, or to -1..d - 1 if step is
 * negative.
 */
static int64_t slice_at(int64_t v, int64_t d, int64_t step)
{
	int64_t lo = step > 0 ? 0 : -1, hi = step > 0 ? d : d - 1;

	if (v < 0)
		return v < -d ? lo : v + d;
	return v > hi ? hi : v;
}

/*
 * Lowers Slice of operand 0 by starts, ends, axes and steps, which are operands 1 to 4 or, in older
 * opsets, attributes; negative indices and steps are allowed, and indices are limited to the
 * dimension. Returns 0, -ENOTSUP if the result has no elements or a list is not constant, -EINVAL
 * if the lists differ in length, a step is 0 or beyond +-(2^31 - 1) or an axis is out of range, or
 * another negative errno.
 */
int ox_slice_node(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t from[WEFT_MAX_RANK], to[WEFT_MAX_RANK], axes[WEFT_MAX_RANK], steps[WEFT_MAX_RANK];
	int n = v ? ox_list(l, "starts", 1, WEFT_MAX_RANK, from) : -1;
	int m = n < 0 ? n : ox_list(l, "ends", 2, WEFT_MAX_RANK, to), a = m < 0 ? m : ox_list(l, "axes", 3, WEFT_MAX_RANK, axes);
	int s = a < 0 ? a : ox_list(l, "steps", 4, WEFT_MAX_RANK, steps);

	if (s < 0)
		return l->err;
	if (m != n || (a && a != n) || (s && s != n))
		return ox_fail(l, -EINVAL, "%d starts, %d ends, %d axes, %d steps", n, m, a, s);
	int x = ox_get(l, v, NULL);
	for (int i = 0; i < n && x >= 0; i++) {
		int axis = ox_axis(l, a ? axes[i] : i, v->t.rank);
		if (axis < 0)
			return axis;
		int64_t step = s ? steps[i] : 1, d = v->t.dim[axis];
		if (!step || step < -INT32_MAX || step > INT32_MAX)
			return ox_fail(l, -EINVAL, "step %lld", (long long)step);
		int64_t p = slice_at(from[i], d, step), q = slice_at(to[i], d, step);
		int64_t count = step > 0 ? (q - p + step - 1) / step : (p - q - step - 1) / -step;
		if (count < 1 || p < 0)
			return ox_fail(l, -ENOTSUP, "tensors without elements");
		x = take(l, x, axis, p, step, count);
	}
	return done(l, x);
}

/* ---- Pad ---- */

/*
 * Emits x padded along axis, `before` and `after` elements, with elements of x itself as attribute
 * mode says: "edge" the nearest element, "wrap" the other side, else a mirror image. Returns the
 * graph tensor, -ENOTSUP if the axis would have more than 4096 elements, -EINVAL for the mirror
 * image of a single element, or another negative errno.
 */
static int pad_by_index(struct ox *l, int x, int axis, int64_t before, int64_t after)
{
	int64_t n = ox_t(l, x)->dim[axis], total = n + before + after;
	bool edge = ox_attr_is(l, "mode", "edge", false), wrap = ox_attr_is(l, "mode", "wrap", false);
	int part[4096], k = 0;

	if (total > 4096)
		return ox_fail(l, -ENOTSUP, "%lld elements after such padding", (long long)total);
	for (int64_t i = 0; i < total && k < 4096;) {
		int64_t p = i - before, len = 1;
		int64_t start[WEFT_MAX_RANK] = { 0 };
		weft_tensor t = *ox_t(l, x);

		if (p >= 0 && p < n)
			len = n - p;                    /* the middle in one piece */
		else if (edge)
			p = p < 0 ? 0 : n - 1;
		else if (wrap)
			p = (p % n + n) % n;
		else
			for (int guard = 0; n > 1 && (p < 0 || p >= n) && guard < 8192; guard++)
				p = p < 0 ? -p : 2 * (n - 1) - p;
		if (p < 0 || p >= n)
			return ox_fail(l, -EINVAL, "reflection of one element");
		start[axis] = p;
		t.dim[axis] = len;
		part[k] = ox_slice(l, x, start, t.dim);
		if (part[k++] < 0)
			return l->err;
		i += len;
	}
	return ox_concat(l, part, k, axis);
}

/*
 * Says whether PAD can fill a tensor of type t with a number that became v as a double: not if t has 64 bits and
 * other numbers became v, too, or if t is uint32 and v above what int32 holds.
 */
static bool pad_holds(weft_dtype t, double v)
{
	if (weft_is_float(t))
		return true;
	return weft_dtype_bytes(t) == 8 ? v > -0x1p53 && v < 0x1p53 : t != WEFT_UINT32 || v <= INT32_MAX;
}

/*
 * Emits x with before[i] and after[i] elements around it along each dimension i, of the value in
 * operand 2, else in attribute value, else 0. If l->zero is set, x holds codes: the value 0 then
 * stands for the code *l->zero, and any other value is -ENOTSUP unless operand 2 holds codes, too.
 * Returns the graph tensor, -EINVAL if operand 2 is not one number, -ENOTSUP if it is not constant
 * or PAD cannot fill with it (pad_holds()), or another negative errno.
 */
static int pad_constant(struct ox *l, int x, const int64_t *before, const int64_t *after)
{
	double v = ox_attr_f(l, "value", 0);

	if (ox_has(l, 2)) {
		const weft_tensor *t = ox_const(l, 2);
		if (!t || !ox_scalar(l, ox_in(l, 2), &v))
			return t ? ox_fail(l, -EINVAL, "constant_value is not one number") : l->err;
	}
	if (l->zero && v != 0 && !(ox_has(l, 2) && ox_is_8_bit(ox_in(l, 2))))
		return ox_fail(l, -ENOTSUP, "padding by %g", v);
	if (x >= 0 && !pad_holds(ox_t(l, x)->dtype, v))
		return ox_fail(l, -ENOTSUP, "padding by %.17g", v);
	return ox_pad(l, x, before, after, l->zero ? v + *l->zero : v);
}

/*
 * Lowers Pad of operand 0 by attribute mode. The pads are operand 1 or, in older opsets, an attribute, and
 * operand 3 may name the axes to which they belong. Where a pad is negative, elements are cut off, before any
 * are added. Returns 0. Returns -ENOTSUP if nothing would be left after cutting off, if the pads or the value are
 * not constant, or if an axis that is padded with its own elements would have more than 4096 of them. Returns
 * -EINVAL if the number of pads does not fit the rank, if a pad is beyond INT32_MAX in magnitude, or if a
 * single element would be mirrored. Other negative errnos are possible.
 */
int ox_pad_node(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t pads[2 * WEFT_MAX_RANK], axes[WEFT_MAX_RANK], before[WEFT_MAX_RANK] = { 0 }, after[WEFT_MAX_RANK] = { 0 };
	int n = v ? ox_list(l, ox_attr(l, "paddings") ? "paddings" : "pads", 1, 2 * WEFT_MAX_RANK, pads) : -1;
	int a = n < 0 ? n : ox_has(l, 3) ? ox_ints(l, 3, WEFT_MAX_RANK, axes) : 0;

	if (a < 0)
		return l->err;
	if (n != 2 * (a ? a : v->t.rank))
		return ox_fail(l, -EINVAL, "%d pads for rank %d", n, v->t.rank);
	for (int i = 0; i < n / 2; i++) {
		int axis = ox_axis(l, a ? axes[i] : i, v->t.rank);
		if (axis < 0)
			return axis;
		before[axis] = pads[i];
		after[axis] = pads[n / 2 + i];
	}
	int64_t start[WEFT_MAX_RANK] = { 0 };
	weft_tensor t = v->t;
	for (int i = 0; i < v->t.rank; i++) {     /* negative padding cuts off */
		if (before[i] < -INT32_MAX || before[i] > INT32_MAX || after[i] < -INT32_MAX || after[i] > INT32_MAX)
			return ox_fail(l, -EINVAL, "padding of %lld and %lld", (long long)before[i], (long long)after[i]);
		int64_t front = before[i] < 0 ? -before[i] : 0, back = after[i] < 0 ? -after[i] : 0;

		if (front + back >= t.dim[i])
			return ox_fail(l, -ENOTSUP, "tensors without elements");
		start[i] = front;
		t.dim[i] -= front + back;
		before[i] += front;
		after[i] += back;
	}
	int x = ox_slice(l, ox_get(l, v, NULL), start, t.dim);
	if (x < 0 || ox_attr_is(l, "mode", "constant", true))
		return x < 0 ? x : done(l, pad_constant(l, x, before, after));
	for (int i = 0; i < v->t.rank && x >= 0; i++)
		if (before[i] || after[i])
			x = pad_by_index(l, x, i, before[i], after[i]);
	return done(l, x);
}

/*
 * Lowers Tile: operand 0 repeated along each dimension as often as the constant operand 1 says.
 * Returns 0, -EINVAL if there is not one number for each dimension or one is negative, -ENOTSUP for
 * a 0 or if operand 1 is not constant, or another negative errno.
 */
int ox_tile_node(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t multiple[WEFT_MAX_RANK];
	int n = v ? ox_ints(l, 1, WEFT_MAX_RANK, multiple) : -1;

	if (n < 0)
		return l->err;
	if (n != v->t.rank)
		return ox_fail(l, -EINVAL, "%d repetitions for rank %d", n, v->t.rank);
	return done(l, ox_tile(l, ox_get(l, v, NULL), multiple));
}

/*
 * Lowers Expand: operand 0 broadcast to the constant shape in operand 1, where a 1 in the shape
 * keeps the dimension. Returns 0, -ENOTSUP for a 0 in the shape or if it is not constant, -EINVAL
 * if operand 0 does not broadcast to it, or another negative errno.
 */
int ox_expand_node(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t shape[WEFT_MAX_RANK], dim[WEFT_MAX_RANK];
	int n = v ? ox_ints(l, 1, WEFT_MAX_RANK, shape) : -1;

	if (n < 0)
		return l->err;
	int rank = n > v->t.rank ? n : v->t.rank;
	for (int i = 0; i < rank; i++) {
		int64_t s = i >= rank - n ? shape[i - (rank - n)] : 1, d = i >= rank - v->t.rank ? v->t.dim[i - (rank - v->t.rank)] : 1;
		if (s == 0)
			return ox_fail(l, -ENOTSUP, "tensors without elements");
		dim[i] = s == 1 ? d : s;
	}
	return done(l, ox_expand(l, ox_get(l, v, NULL), rank, dim));
}

/* ---- constants ---- */

/*
 * Adds a new int64 constant with a copy of the n numbers v: a vector if rank is 1, a scalar if rank
 * is 0 (n is 1 then). Returns the graph tensor, or a negative errno.
 */
static int int64s(struct ox *l, int n, const int64_t *v, int rank)
{
	int64_t *p = ox_alloc(l, n, sizeof *p), dim = n;

	for (int i = 0; p && i < n; i++)
		p[i] = v[i];
	return ox_data(l, WEFT_INT64, rank, &dim, p);
}

/*
 * Lowers Shape to a constant int64 vector: the dimensions of operand 0 from attribute start (default 0) up
 * to, not including, attribute end (default the rank); negative ones count from the end, and both are limited
 * to 0..rank; none if end is not behind start. Returns 0 or a negative errno.
 */
int ox_shape(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);

	if (!v)
		return l->err;
	int64_t from = ox_attr_i(l, "start", 0), to = ox_attr_i(l, "end", v->t.rank);
	from = from < 0 ? from + v->t.rank : from;
	to = to < 0 ? to + v->t.rank : to;
	from = from < 0 ? 0 : from > v->t.rank ? v->t.rank : from;
	to = to < from ? from : to > v->t.rank ? v->t.rank : to;
	return done(l, int64s(l, (int)(to - from), v->t.dim + from, 1));
}

/*
 * Lowers Size to a constant int64 scalar: the number of elements of operand 0. Returns 0 or a
 * negative errno.
 */
int ox_size(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	int64_t n = v ? weft_tensor_elements(&v->t) : 0;

	return v ? done(l, int64s(l, 1, &n, 0)) : l->err;
}

/*
 * Lowers Constant whose attribute is a tensor (also of strings), an integer, a float, or a list of
 * integers or floats. A tensor is only noted as the result's data (init, text) and read when it is
 * used. Returns 0, -ENOTSUP for other attributes or types or lists of more than 2^20 integers,
 * -EINVAL if the tensor's shape is malformed, or another negative errno.
 */
int ox_constant(struct ox *l)
{
	const onnx_attribute *a;

	if ((a = ox_attr(l, "value")) && a->t) {
		struct ox_value *y = &l->values[ox_value_find(l, l->n->output[0])];
		char why[160] = "";
		if (a->t->data_type == ONNX_STRING) {
			y->text = a->t;
			return ox_text_shape(l, a->t, &y->t);
		}
		int err = onnx_tensor_shape(a->t, &y->t, why, sizeof why);

		if (err)
			return ox_fail(l, err, "%s", why);
		y->init = a->t;
		return 0;
	}
	if ((a = ox_attr(l, "value_int")))
		return done(l, int64s(l, 1, &a->i, 0));
	if ((a = ox_attr(l, "value_ints")))
		return done(l, a->n_ints > 1 << 20 ? ox_fail(l, -ENOTSUP, "%zu values", a->n_ints) : int64s(l, (int)a->n_ints, a->ints, 1));
	if ((a = ox_attr(l, "value_float")))
		return done(l, ox_ramp(l, WEFT_FP32, 0, (double)a->f));
	if ((a = ox_attr(l, "value_floats"))) {
		int64_t n = (int64_t)a->n_floats;
		float *p = ox_alloc(l, n, sizeof *p);

		if (p && n)
			memcpy(p, a->floats, (size_t)n * sizeof *p);
		return done(l, ox_data(l, WEFT_FP32, 1, &n, p));
	}
	return ox_fail(l, -ENOTSUP, "a constant of another kind");
}

/*
 * Lowers Range of the constants start, limit and delta (operands 0 to 2), of int32, int64 or
 * float32, to a constant vector of start's type: start + i * delta as long as that is below limit, or
 * above it if delta is negative. float32 is computed in float32, integers in float64, which is exact
 * there. Returns 0, -ENOTSUP if an operand is not one constant number, or of int64 2^52 or more in magnitude,
 * start's type is another, or there are not 1 to 2^20 elements, or another negative errno.
 */
int ox_range(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	weft_dtype t = v ? v->t.dtype : 0;
	double p[3];

	for (int k = 0; k < 3; k++) {
		struct ox_value *in = ox_in(l, k);
		if (!in || !ox_scalar(l, in, &p[k]))
			return l->err ? l->err : ox_fail(l, -ENOTSUP, "operand %d is not one constant", k);
	}
	if (t != WEFT_INT32 && t != WEFT_INT64 && t != WEFT_FP32)
		return ox_fail(l, -ENOTSUP, "%s", weft_dtype_name(t));
	for (int k = 0; k < 3 && t == WEFT_INT64; k++)
		if (!(fabs(p[k]) < 0x1p52))
			return ox_fail(l, -ENOTSUP, "operand %d is %.17g", k, p[k]);
	double steps = ceil((p[1] - p[0]) / p[2]);
	if (!(steps >= 1 && steps <= 1 << 20))
		return ox_fail(l, -ENOTSUP, "from %g to %g by %g: 1 to 2^20 elements", p[0], p[1], p[2]);
	int64_t n = (int64_t)steps;
	void *data = ox_alloc(l, n, weft_dtype_bytes(t));
	for (int64_t i = 0; data && i < n; i++) {
		if (t == WEFT_FP32)
			((float *)data)[i] = (float)p[0] + (float)i * (float)p[2];
		else if (t == WEFT_INT32)
			((int32_t *)data)[i] = (int32_t)(p[0] + (double)i * p[2]);
		else
			((int64_t *)data)[i] = (int64_t)(p[0] + (double)i * p[2]);
	}
	return done(l, ox_data(l, t, 1, &n, data));
}

/*
 * Lowers ConstantOfShape to a tensor of the shape in the constant operand 0, filled with the one
 * element of attribute value, or with float32 0 without it. Returns 0, -EINVAL if value has not one
 * element or a dimension is negative, -ENOTSUP for a dimension of 0 or if the shape is not
 * constant, or another negative errno.
 */
int ox_constant_of_shape(struct ox *l)
{
	const onnx_attribute *a = ox_attr(l, "value");
	int64_t dim[WEFT_MAX_RANK];
	int n = ox_ints(l, 0, WEFT_MAX_RANK, dim), x;
	weft_tensor t;
	char why[160] = "";

	if (n < 0)
		return n;
	if (a && a->t) {
		int err = onnx_tensor_data(&l->f, a->t, &t, &l->room, why, sizeof why);
		if (err)
			return ox_fail(l, err, "%s", why);
		x = ox_data(l, t.dtype, t.rank, t.dim, t.data);
	} else {
		x = ox_ramp(l, WEFT_FP32, 0, 0);
	}
	if (x >= 0 && weft_tensor_elements(ox_t(l, x)) != 1)
		return ox_fail(l, -EINVAL, "value has not one element");
	return done(l, ox_expand(l, ox_reshape(l, x, 0, NULL), n, dim));
}

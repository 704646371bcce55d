/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that take tensors apart and put them together: SLICE,
 * STRIDED_SLICE, SPLIT, SPLIT_V, UNPACK, PACK. They become SLICE, PAD,
 * CONCAT, REVERSE and RESHAPE, which only move values.
 *
 * TOSA's SLICE has no strides. To take every s-th element along an axis, the
 * axis is cut or padded to n*s elements and reshaped into n by s, of which
 * the first column is kept.
 */
#include <errno.h>

#include "tflite_host.h"

#define MAX_STARTS (2 * TFL_MAX_RANK)   /* of STRIDED_SLICE, new axes among them */

/*
 * What a slice takes of one axis: n elements from index begin on, stride apart; a negative stride goes
 * backwards.
 */
struct range { int64_t begin, n, stride; };

/* Emits x in reverse order along axis. Returns the graph tensor, or a negative errno. */
static int reverse(struct tfl_lower *l, int x, int axis)
{
	weft_tensor t = l->g->tensors[x].t;
	weft_attr a = { .axis = { .axis = axis } };

	return tfl_step(l, WEFT_OP_REVERSE, &a, &x, 1, t.dtype, t.rank, t.dim, false);
}

/*
 * Emits the part of x that begins at start and has shape dim; x itself if that is all of it.
 * Returns the graph tensor, or a negative errno.
 */
static int cut(struct tfl_lower *l, int x, const int64_t *start, const int64_t *dim)
{
	weft_tensor t = l->g->tensors[x].t;
	weft_attr a = { .slice = { { 0 } } };
	bool same = true;

	for (int i = 0; i < t.rank; i++) {
		a.slice.start[i] = start[i];
		same = same && dim[i] == t.dim[i];
	}
	return same ? x : tfl_step(l, WEFT_OP_SLICE, &a, &x, 1, t.dtype, t.rank, dim, false);
}

/*
 * Emits every stride-th element of x along axis, beginning with the first, n in all; the axis has
 * more than (n - 1) * stride elements. Returns the graph tensor, -ENOTSUP if rank or numbers are
 * too large for that, or another negative errno.
 */
static int thin(struct tfl_lower *l, int x, int axis, int64_t n, int64_t stride)
{
	weft_tensor t = l->g->tensors[x].t;
	weft_attr pad = { .pad = { .value = 0 } };
	int64_t dim[WEFT_MAX_RANK], start[WEFT_MAX_RANK] = { 0 };

	if (t.rank >= WEFT_MAX_RANK || stride > INT32_MAX / 2 || n > INT32_MAX / stride)
		return tfl_fail(l, -ENOTSUP, "%lld elements %lld apart, rank %d", (long long)n, (long long)stride, t.rank);
	if (t.dim[axis] < n * stride) {
		pad.pad.after[axis] = (int32_t)(n * stride - t.dim[axis]);
		t.dim[axis] = n * stride;
		x = tfl_step(l, WEFT_OP_PAD, &pad, &x, 1, t.dtype, t.rank, t.dim, false);
	} else {
		t.dim[axis] = n * stride;
		x = cut(l, x, start, t.dim);
	}
	if (x < 0)
		return x;
	for (int i = 0, k = 0; i < t.rank; i++) {
		dim[k++] = i == axis ? n : t.dim[i];
		if (i == axis)
			dim[k++] = stride;
	}
	if ((x = tfl_reshape(l, x, t.rank + 1, dim)) < 0)
		return x;
	dim[axis + 1] = 1;
	if ((x = cut(l, x, start, dim)) < 0)
		return x;
	t.dim[axis] = n;
	return tfl_reshape(l, x, t.rank, t.dim);
}

/*
 * Emits the elements of x that the ranges r, one for each dimension, name, in their order; the
 * result's dimensions are their counts. Returns the graph tensor, or a negative errno.
 */
static int take(struct tfl_lower *l, int x, const struct range *r)
{
	weft_tensor t = l->g->tensors[x].t;
	int64_t start[WEFT_MAX_RANK], dim[WEFT_MAX_RANK];

	for (int i = 0; i < t.rank && x >= 0; i++) {
		int64_t step = r[i].stride < 0 ? -r[i].stride : r[i].stride;
		bool back = r[i].stride < 0 && r[i].n > 1;
		start[i] = back ? t.dim[i] - 1 - r[i].begin : r[i].begin;
		dim[i] = (r[i].n - 1) * step + 1;
		if (back)
			x = reverse(l, x, i);
	}
	x = x < 0 ? x : cut(l, x, start, dim);
	for (int i = 0; i < t.rank && x >= 0; i++) {
		int64_t step = r[i].stride < 0 ? -r[i].stride : r[i].stride;
		if (step > 1 && r[i].n > 1)
			x = thin(l, x, i, r[i].n, step);
	}
	return x;
}

/*
 * Sets the dimensions of the result at hand, l->y, that the file leaves open to those of t, a
 * tensor with the same elements. If the ranks differ and a single one is open, it becomes what the
 * others leave of t's elements.
 */
static void close_extents(struct tfl_lower *l, const weft_tensor *t)
{
	int64_t rest = weft_tensor_elements(t);
	int n = 0, last = 0;

	for (int i = 0; i < l->y.rank; i++) {
		if (!tfl_is_open(l, i)) {
			rest /= l->y.dim[i];
			continue;
		}
		n++;
		last = i;
		if (t->rank == l->y.rank)
			l->y.dim[i] = t->dim[i];
	}
	if (n == 1 && t->rank != l->y.rank && rest)
		l->y.dim[last] = rest;
}

/*
 * Emits x in the result's shape as the operator's result; dimensions that the file leaves open
 * follow from x. Returns the result's tensor, -EINVAL if the number of elements differs, or another
 * negative errno.
 */
static int finish(struct tfl_lower *l, int x)
{
	weft_tensor t = l->g->tensors[x].t;

	close_extents(l, &t);
	int64_t n = weft_tensor_elements(&t), m = weft_tensor_elements(&l->y);

	if (n != m)
		return tfl_fail(l, -EINVAL, "tensor %d: file says %lld elements, operator gives %lld", l->i_y, (long long)m,
		                (long long)n);
	return tfl_step(l, WEFT_OP_RESHAPE, NULL, &x, 1, t.dtype, l->y.rank, l->y.dim, true);
}

/*
 * Lowers SLICE: of operand 0 as many elements as constant operand 2 says (-1: all that are left) from where
 * constant operand 1 says. Starts that are not constant, with constant sizes, are left to
 * tfl_lower_slice_at(). Operand 0 has to have the result's type and quantisation (tfl_moved()). Returns the
 * result's tensor, -EINVAL if that is out of range or a part would have no elements, or another negative
 * errno.
 */
int tfl_lower_slice(struct tfl_lower *l)
{
	int64_t begin[TFL_MAX_RANK], size[TFL_MAX_RANK];
	weft_attr a = { .slice = { { 0 } } };
	int x = tfl_moved(l, 0), n, m;

	if (x < 0)
		return x;
	if (!tfl_is_const(l, 1) && tfl_is_const(l, 2))
		return tfl_lower_slice_at(l);
	if ((n = tfl_ints(l, 1, TFL_MAX_RANK, begin)) < 0 || (m = tfl_ints(l, 2, TFL_MAX_RANK, size)) < 0)
		return n < 0 ? n : m;
	weft_tensor t = l->g->tensors[x].t;
	if (n != t.rank || m != t.rank)
		return tfl_fail(l, -EINVAL, "%d starts and %d sizes for rank %d", n, m, t.rank);
	for (int i = 0; i < t.rank; i++) {
		if (begin[i] < 0 || begin[i] >= t.dim[i] || size[i] > t.dim[i] - begin[i] || (size[i] < 1 && size[i] != -1))
			return tfl_fail(l, -EINVAL, "dimension %d: %lld from %lld of %lld", i, (long long)size[i], (long long)begin[i],
			                (long long)t.dim[i]);
		a.slice.start[i] = begin[i];
		t.dim[i] = size[i] < 0 ? t.dim[i] - begin[i] : size[i];
	}
	return tfl_step(l, WEFT_OP_SLICE, &a, &x, 1, t.dtype, t.rank, t.dim, true);
}

/* STRIDED_SLICE's n starts, ends and strides, and its options; bit i of a mask is for dimension i. */
struct strided {
	int64_t begin[MAX_STARTS], end[MAX_STARTS], stride[MAX_STARTS];
	int n, begin_mask, end_mask, shrink, offset;
};

/* What the kernel makes of dimension i of its operand with new axes: a new one, all of one, or what entry k says. */
struct reading { unsigned whole, fresh; int begin, expanded; };

/*
 * Fills *r for `dims` dimensions of an operand of that rank, of which `added` are new axes, with n entries: an entry at a bit of
 * `ellipsis`, also where new_axis has it, stands for what no other entry is for, but for one at least. The kernel looks at bits up to
 * `dims`, also where there are no entries, and of several ellipses the last one decides how later entries are counted.
 */
static void read_masks(struct reading *r, int ellipsis, int new_axis, int dims, int left)
{
	*r = (struct reading){ .begin = dims };
	for (int i = 0; i < dims;) {
		if (ellipsis >> i & 1) {
			const int end = i + 1 + left < dims ? i + 1 + left : dims;
			r->begin = i;
			r->expanded = end > i ? end - i - 1 : 0;
			for (int k = i; k <= r->begin + r->expanded; k++)
				r->whole |= 1u << k;
			i += 1 + r->expanded;
			continue;
		}
		if (new_axis >> (i - r->expanded) & 1)
			r->fresh |= 1u << i;
		i++;
	}
}

/* Sets what s takes of dimension i: element 0 alone, or all of it if `whole` is set. */
static void take_plain(struct strided *s, int i, bool whole)
{
	s->begin[i] = 0;
	s->end[i] = s->stride[i] = 1;
	s->begin_mask |= whole << i;
	s->end_mask |= whole << i;
}

/*
 * Changes s, which has an entry for each part of the file's slice, so that it has one for each dimension: an ellipsis becomes as
 * many whole dimensions as it stands for. Bit k of `ellipsis` says that entry k is one, bit k of new_axis that it is a new axis.
 * *t comes with the operand's shape; the new axes, of length 1, are put into it. Returns 0, -EINVAL if the kernel would read a dimension or an entry
 * that is not there, or -ENOTSUP if there are more than WEFT_MAX_RANK dimensions.
 */
static int resolve(struct tfl_lower *l, struct strided *s, int ellipsis, int new_axis, weft_tensor *t)
{
	const struct strided from = *s;
	const weft_tensor x = *t;
	int added = 0, axes = 0, skipped = 0;
	struct reading r;

	for (int k = 0; k < from.n; k++)
		added += new_axis >> k & 1 && !(ellipsis >> k & 1);
	const int dims = x.rank + added;
	if (dims > WEFT_MAX_RANK)
		return tfl_fail(l, -ENOTSUP, "%d dimensions with new axes > %d", dims, WEFT_MAX_RANK);
	read_masks(&r, ellipsis, new_axis, dims, dims - from.n);
	s->n = t->rank = dims;
	s->begin_mask = s->end_mask = s->shrink = 0;
	for (int i = 0; i < dims; i++) {
		const bool fresh = !(r.whole >> i & 1) && (r.fresh >> i & 1);
		if (r.whole >> i & 1)
			skipped = i > r.begin ? i - r.begin : 0;
		const int k = i - skipped, at = i - axes;
		const bool whole = !fresh && (r.whole >> i & 1 || i >= from.n + r.expanded);
		if (!fresh && (at >= x.rank || (!whole && (k < 0 || k >= from.n))))
			return tfl_fail(l, -EINVAL, "%d starts for rank %d, ellipsis at bits %d and new axes at bits %d", from.n, x.rank, ellipsis, new_axis);
		t->dim[i] = fresh ? 1 : x.dim[at];
		axes += fresh;
		if (fresh || whole) {
			take_plain(s, i, whole);
			continue;
		}
		s->begin[i] = from.begin[k];
		s->end[i] = from.end[k];
		s->stride[i] = from.stride[k];
		s->begin_mask |= (from.begin_mask >> k & 1) << i;
		s->end_mask |= (from.end_mask >> k & 1) << i;
		s->shrink |= (from.shrink >> k & 1) << i;
	}
	return 0;
}

/*
 * Emits x in shape *t, which an ellipsis and new axes gave it; of fewer elements only the first ones, as the kernel, which knows
 * nothing of the others. Returns the graph tensor, -EINVAL if x has fewer elements, or another negative errno.
 */
static int with_axes(struct tfl_lower *l, int x, const weft_tensor *t)
{
	weft_attr a = { .slice = { { 0 } } };
	const int64_t have = weft_tensor_elements(&l->g->tensors[x].t), want = weft_tensor_elements(t);

	if (want > have)
		return tfl_fail(l, -EINVAL, "%lld elements with new axes of %lld", (long long)want, (long long)have);
	if (want < have && (x = tfl_reshape(l, x, 1, &have)) >= 0)
		x = tfl_step(l, WEFT_OP_SLICE, &a, &x, 1, t->dtype, 1, &want, false);
	return tfl_reshape(l, x, t->rank, t->dim);
}

/*
 * Sets *s to the masks and the constant starts, ends and strides (operands 1 to 3) of the
 * STRIDED_SLICE at hand of an operand of shape *t, which gets the new axes; an ellipsis and these are resolved. Returns 0, -EINVAL
 * if their counts differ or there are too many, or another negative errno.
 */
static int read_strided(struct tfl_lower *l, struct strided *s, weft_tensor *t)
{
	int err, n, ellipsis = 0, new_axis = 0;

	if ((err = tfl_option(l, OPTIONS_STRIDED_SLICE, STRIDED_BEGIN_MASK, 4, 0, &s->begin_mask)) ||
	    (err = tfl_option(l, OPTIONS_STRIDED_SLICE, STRIDED_END_MASK, 4, 0, &s->end_mask)) ||
	    (err = tfl_option(l, OPTIONS_STRIDED_SLICE, STRIDED_ELLIPSIS_MASK, 4, 0, &ellipsis)) ||
	    (err = tfl_option(l, OPTIONS_STRIDED_SLICE, STRIDED_NEW_AXIS_MASK, 4, 0, &new_axis)) ||
	    (err = tfl_option(l, OPTIONS_STRIDED_SLICE, STRIDED_SHRINK_MASK, 4, 0, &s->shrink)) ||
	    (err = tfl_option(l, OPTIONS_STRIDED_SLICE, STRIDED_OFFSET, 1, 0, &s->offset)))
		return err;
	if ((s->n = tfl_ints(l, 1, MAX_STARTS, s->begin)) < 0)
		return s->n;
	if ((n = tfl_ints(l, 2, MAX_STARTS, s->end)) != s->n || (n = tfl_ints(l, 3, MAX_STARTS, s->stride)) != s->n)
		return n < 0 ? n : tfl_fail(l, -EINVAL, "%d starts, %d ends or strides", s->n, n);
	return ellipsis || new_axis ? resolve(l, s, ellipsis, new_axis, t) : 0;
}

/* Returns v limited to lo..hi. */
static int64_t clip(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/*
 * Sets *r to the range that STRIDED_SLICE s takes of dimension i, which has d elements, by the rules of
 * Python's slices, but with option `offset` the end counts from the start; a dimension for which s has no numbers
 * is taken whole. A dimension in the shrink mask gives one element, at the start, which is clipped as elsewhere: with
 * a positive stride one before the first is the first, with a negative one beyond the last is the last. Returns 0,
 * -EINVAL if the stride is out of range or that element still is, or -ENOTSUP if the range is empty.
 */
static int strided_axis(struct tfl_lower *l, const struct strided *s, int i, int64_t d, struct range *r)
{
	int64_t stride = i < s->n ? s->stride[i] : 1, begin, end;
	bool open_begin = i >= s->n || (s->begin_mask >> i & 1), open_end = i >= s->n || (s->end_mask >> i & 1);

	if (!stride || stride < -INT32_MAX || stride > INT32_MAX)
		return tfl_fail(l, -EINVAL, "dimension %d: stride %lld", i, (long long)stride);
	begin = open_begin ? (stride > 0 ? 0 : d - 1) : s->begin[i] < 0 ? s->begin[i] + d : s->begin[i];
	begin = stride > 0 ? clip(begin, 0, d) : clip(begin, -1, d - 1);
	if (i < s->n && (s->shrink >> i & 1)) {
		*r = (struct range){ begin, 1, 1 };
		return begin < d && begin >= 0 ? 0 : tfl_fail(l, -EINVAL, "dimension %d: element %lld of %lld", i, (long long)begin,
		                                              (long long)d);
	}
	if (open_end)
		end = stride > 0 ? d : -1;
	else
		end = s->offset ? begin + clip(s->end[i], -INT32_MAX, INT32_MAX) : s->end[i] < 0 ? s->end[i] + d : s->end[i];
	end = stride > 0 ? clip(end, 0, d) : clip(end, -1, d - 1);
	*r = (struct range){ begin, stride > 0 ? (end - begin + stride - 1) / stride : (begin - end - stride - 1) / -stride,
	                     stride };
	return r->n > 0 ? 0 : tfl_fail(l, -ENOTSUP, "dimension %d: an empty result", i);
}

/*
 * Lowers STRIDED_SLICE of operand 0 with constant starts, ends and strides; if the starts are not constant, but the
 * strides are, as tfl_lower_strided_slice_at(). Operand 0 has to have the result's type and quantisation (tfl_moved()).
 * Returns the result's tensor, -ENOTSUP for an empty result, -EINVAL if the numbers
 * do not fit operand or result, or another negative errno.
 */
int tfl_lower_strided_slice(struct tfl_lower *l)
{
	struct strided s = { .n = 0 };
	struct range r[WEFT_MAX_RANK];
	int x = tfl_moved(l, 0), err;

	if (x < 0)
		return x;
	if (!tfl_is_const(l, 1) && tfl_is_const(l, 3))
		return tfl_lower_strided_slice_at(l);
	weft_tensor t = l->g->tensors[x].t;
	if ((err = read_strided(l, &s, &t)))
		return err;
	if ((x = with_axes(l, x, &t)) < 0)
		return x;
	for (int i = 0; i < t.rank && !err; i++)    /* the kernel does not look at more entries, either */
		err = strided_axis(l, &s, i, t.dim[i], &r[i]);
	x = err ? err : take(l, x, r);
	return x < 0 ? x : finish(l, x);
}

/*
 * Returns axis as 0..rank - 1, where a negative one counts from the end, or -EINVAL if it is out of
 * range.
 */
static int in_rank(struct tfl_lower *l, int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank)
		return tfl_fail(l, -EINVAL, "axis %lld of rank %d", (long long)axis, rank);
	return (int)(axis < 0 ? axis + rank : axis);
}

/*
 * Makes result k the result at hand and emits it: `size` elements of operand `from` along axis, from index
 * `begin` on. The operand has to have the result's type and quantisation (tfl_moved()). Returns the result's
 * tensor, or a negative errno.
 */
static int part(struct tfl_lower *l, int from, int k, int axis, int64_t begin, int64_t size)
{
	weft_attr a = { .slice = { { 0 } } };
	int err = tfl_result(l, k);
	int x = err ? err : tfl_moved(l, from);

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	a.slice.start[axis] = begin;
	t.dim[axis] = size;
	return tfl_step(l, WEFT_OP_SLICE, &a, &x, 1, t.dtype, t.rank, t.dim, true);
}

/*
 * Lowers SPLIT of operand 1 along the axis in constant operand 0 into as many equal parts as there are
 * results. Operand 1 has to have the results' type and quantisation (tfl_moved()). Returns the tensor of the
 * first result, -EINVAL if the axis is out of range or does not divide into so many equal parts, or another
 * negative errno.
 */
int tfl_lower_split(struct tfl_lower *l)
{
	int n = (int)l->op->out.n, x = tfl_value(l, 1), first = -1;
	int64_t v[1];
	int err = x < 0 ? x : tfl_ints(l, 0, 1, v);

	if (err < 0)
		return err;
	weft_tensor t = l->g->tensors[x].t;
	int axis = in_rank(l, v[0], t.rank);
	if (axis < 0)
		return axis;
	if (t.dim[axis] % n)
		return tfl_fail(l, -EINVAL, "%lld elements in %d parts", (long long)t.dim[axis], n);
	for (int k = 0; k < n; k++) {
		int y = part(l, 1, k, axis, t.dim[axis] / n * k, t.dim[axis] / n);
		if (y < 0)
			return y;
		first = k ? first : y;
	}
	return first;
}

/*
 * Lowers SPLIT_V of operand 0 along the axis in constant operand 2 into parts of the sizes in constant
 * operand 1, where one -1 stands for what the others leave, which must be at least one element. Operand 0 has
 * to have the result's type and quantisation (tfl_moved()). Returns the tensor of the first result, -EINVAL
 * if the sizes do not fit, or another negative errno.
 */
int tfl_lower_split_v(struct tfl_lower *l)
{
	int64_t size[TFL_MAX_PARTS], v[1], at = 0, open = 0, total = 0;
	bool fit = true;
	int n = (int)l->op->out.n, x = tfl_value(l, 0), m = x < 0 ? x : tfl_ints(l, 1, TFL_MAX_PARTS, size), first = -1;
	int err = m < 0 ? m : tfl_ints(l, 2, 1, v);

	if (err < 0)
		return err;
	weft_tensor t = l->g->tensors[x].t;
	int axis = in_rank(l, v[0], t.rank);
	if (axis < 0)
		return axis;
	for (int k = 0; k < m; k++) {
		fit = fit && size[k] >= -1 && size[k] <= t.dim[axis];
		open += size[k] == -1;
		total += fit && size[k] > 0 ? size[k] : 0;
	}
	if (!fit || m != n || open > 1 || (open ? total >= t.dim[axis] : total != t.dim[axis]))
		return tfl_fail(l, -EINVAL, "%d parts of together %lld in %d results, of %lld elements", m, (long long)total, n,
		                (long long)t.dim[axis]);
	for (int k = 0; k < n; k++) {
		int64_t take_n = size[k] < 0 ? t.dim[axis] - total : size[k];
		int y = part(l, 0, k, axis, at, take_n);
		if (y < 0)
			return y;
		first = k ? first : y;
		at += take_n;
	}
	return first;
}

/*
 * Lowers UNPACK of operand 0: one result for each index along the option's axis, which is dropped. Operand 0
 * has to have the result's type and quantisation (tfl_moved()). Returns the tensor of the first result,
 * -EINVAL if there are more or fewer results, or another negative errno.
 */
int tfl_lower_unpack(struct tfl_lower *l)
{
	int n = (int)l->op->out.n, first = -1, option, axis, err;

	for (int k = 0; k < n; k++) {
		int64_t start[WEFT_MAX_RANK] = { 0 };
		if ((err = tfl_option(l, OPTIONS_UNPACK, UNPACK_AXIS, 4, 0, &option)) || (err = tfl_result(l, k)))
			return err;
		int x = tfl_moved(l, 0);
		if (x < 0)
			return x;
		weft_tensor t = l->g->tensors[x].t;
		if ((axis = in_rank(l, option, t.rank)) < 0)
			return axis;
		if (t.dim[axis] != n)
			return tfl_fail(l, -EINVAL, "%lld elements into %d results", (long long)t.dim[axis], n);
		start[axis] = k;
		t.dim[axis] = 1;
		x = cut(l, x, start, t.dim);
		x = x < 0 ? x : finish(l, x);
		if (x < 0)
			return x;
		first = k ? first : x;
	}
	return first;
}

/*
 * Lowers PACK: up to WEFT_OP_MAX_INPUTS operands of one shape joined along a new axis, which an option gives.
 * All operands have to have the result's type and quantisation (tfl_moved()). Returns the result's tensor,
 * -ENOTSUP if their number does not fit, -EINVAL if an operand has another number of elements, or another
 * negative errno.
 */
int tfl_lower_pack(struct tfl_lower *l)
{
	int n = (int)l->op->in.n, in[WEFT_OP_MAX_INPUTS], axis, err = tfl_option(l, OPTIONS_PACK, PACK_AXIS, 4, 0, &axis);
	int64_t dim[WEFT_MAX_RANK];

	if (err || (axis = in_rank(l, axis, l->y.rank)) < 0)
		return err ? err : axis;
	if (n < 1 || n > WEFT_OP_MAX_INPUTS || n != l->y.dim[axis])
		return tfl_fail(l, -ENOTSUP, "%d operands, not 1..%d, into %lld", n, WEFT_OP_MAX_INPUTS,
		                (long long)l->y.dim[axis]);
	for (int i = 0; i < l->y.rank; i++)
		dim[i] = i == axis ? 1 : l->y.dim[i];
	for (int k = 0; k < n; k++) {
		int x = tfl_moved(l, k);
		if (x < 0)
			return x;
		weft_tensor want = { .rank = l->y.rank };
		for (int i = 0; i < want.rank; i++)
			want.dim[i] = dim[i];
		if (weft_tensor_elements(&l->g->tensors[x].t) != weft_tensor_elements(&want))
			return tfl_fail(l, -EINVAL, "operand %d has %lld elements, not %lld", k,
			                (long long)weft_tensor_elements(&l->g->tensors[x].t), (long long)weft_tensor_elements(&want));
		if ((in[k] = tfl_reshape(l, x, l->y.rank, dim)) < 0)
			return in[k];
	}
	weft_attr a = { .axis = { .axis = axis } };
	return tfl_step(l, WEFT_OP_CONCAT, &a, in, n, l->y.dtype, l->y.rank, l->y.dim, true);
}

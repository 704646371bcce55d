/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowers UNSORTED_SEGMENT_SUM, _PROD, _MAX and _MIN and SEGMENT_SUM to ONNX's
 * ScatterND, which reduces in the operand's order as TensorFlow Lite's
 * kernels do, and DILATE and STABLEHLO_PAD to layout operators.
 */
#include <errno.h>
#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_host.h"

/* ScatterND's reduction. */
enum { ADD = 1, MULTIPLY = 2, MAXIMUM = 3, MINIMUM = 4 };

/*
 * Returns how the segment operator with that code joins elements: MULTIPLY, MAXIMUM or MINIMUM for
 * UNSORTED_SEGMENT_PROD, _MAX and _MIN, ADD for all others.
 */
static int reduction(int code)
{
	switch (code) {
	case TFL_UNSORTED_SEGMENT_PROD: return MULTIPLY;
	case TFL_UNSORTED_SEGMENT_MAX: return MAXIMUM;
	case TFL_UNSORTED_SEGMENT_MIN: return MINIMUM;
	default: return ADD;
	}
}

/*
 * Adds a constant with type and shape of t whose elements are where reduction `how` begins: 0, 1, or the least or the
 * greatest number of the type, which is float32 or int32. Returns the graph tensor, or a negative errno.
 */
static int beginning(struct tfl_lower *l, const weft_tensor *t, int how)
{
	const int64_t n = weft_tensor_elements(t);
	float *f = tfl_alloc(l, n, sizeof *f);

	if (!f)
		return l->err;
	for (int64_t i = 0; i < n; i++)
		if (t->dtype == WEFT_FP32)
			f[i] = how == ADD ? 0 : how == MULTIPLY ? 1 : how == MAXIMUM ? -FLT_MAX : FLT_MAX;
		else
			((int32_t *)f)[i] = how == ADD ? 0 : how == MULTIPLY ? 1 : how == MAXIMUM ? INT32_MIN : INT32_MAX;
	return tfl_data(l, "beginning", t->dtype, t->rank, t->dim, f);
}

/*
 * Emits the indices in graph tensor `ids` as ScatterND takes them: int64 with a last dimension of 1, and what is below 0,
 * which belongs to no segment, as n, a segment behind the others. Returns the graph tensor, or a negative errno.
 */
static int indices(struct tfl_lower *l, int ids, int64_t n)
{
	int64_t dim[WEFT_MAX_RANK];

	if ((ids = tfl_node_cast(l, ids, WEFT_INT64, false)) < 0)
		return ids;
	const weft_tensor t = l->g->tensors[ids].t;
	memcpy(dim, t.dim, sizeof dim);
	dim[t.rank] = 1;
	const int zero = tfl_number(l, "zero", WEFT_INT64, 0, 0), none = zero < 0 ? zero : tfl_number(l, "none", WEFT_INT64, 0, n);
	if (none < 0)
		return none;
	ids = tfl_plain(l, "Where", (int[]){ tfl_plain(l, "Less", (int[]){ ids, zero }, 2, false), none, ids }, 3, false);
	return ids < 0 ? ids : tfl_reshape(l, ids, t.rank + 1, dim);
}

/*
 * Sets *n to the number of segments: constant operand 2, or for SEGMENT_SUM one more than the last of the
 * constant indices, operand 1. Returns 0; -ENOTSUP if that operand is not constant; -EINVAL if the number is
 * below 1 or the indices of SEGMENT_SUM are not int32 of rank 1; or another negative errno.
 */
static int count_segments(struct tfl_lower *l, int64_t *n)
{
	const bool sorted = l->op->code == TFL_SEGMENT_SUM;
	weft_tensor t;

	if (!tfl_is_const(l, sorted ? 1 : 2))
		return tfl_fail(l, -ENOTSUP, "a number of segments that is known only when the network runs");
	if (!sorted) {
		const int k = tfl_ints(l, 2, 1, n);
		return k < 0 ? k : k == 1 && *n >= 1 ? 0 : tfl_fail(l, -EINVAL, "%d numbers of segments, %lld", k, k ? (long long)*n : 0LL);
	}
	const int err = tfl_shape(l, tfl_operand(l, 1), &t);
	int32_t *ids = err ? NULL : tfl_copy_const(l, tfl_operand(l, 1), &t);
	if (!ids)
		return err ? err : l->err;
	const int64_t last = weft_tensor_elements(&t) - 1;
	*n = t.dtype == WEFT_INT32 && t.rank == 1 && last >= 0 ? (int64_t)ids[last] + 1 : 0;
	free(ids);
	return *n >= 1 ? 0 : tfl_fail(l, -EINVAL, "indices of %s of rank %d; int32 of rank 1 from 0 on wanted", weft_dtype_name(t.dtype), t.rank);
}

/*
 * Lowers the segment operators: the rows of operand 0 that operand 1, int32, sends to one segment are added,
 * multiplied, or their maximum or minimum is taken (reduction()). Returns the result's tensor; -ENOTSUP if
 * operand 0 is neither float32 nor int32, operand 1 has another type (SEGMENT_SUM: -EINVAL) or the number of
 * segments is not known; -EINVAL if operand 1's dimensions are not operand 0's first ones; or another negative errno.
 */
static int segment(struct tfl_lower *l)
{
	const int how = reduction(l->op->code);
	struct weft_attr_onnx_node a = tfl_node_attr("ScatterND");
	weft_attr from = { .slice = { { 0 } } };
	int x = tfl_value(l, 0), ids = x < 0 ? x : tfl_value(l, 1), y;
	int64_t n = 0;

	if (ids < 0 || (y = count_segments(l, &n)) < 0)
		return ids < 0 ? ids : y;
	const weft_tensor t = l->g->tensors[x].t, i = l->g->tensors[ids].t;
	weft_tensor whole = { .dtype = t.dtype, .rank = t.rank - i.rank + 1, .dim = { n + 1, 1, 1, 1, 1, 1, 1, 1 } };
	if ((t.dtype != WEFT_FP32 && t.dtype != WEFT_INT32) || i.dtype != WEFT_INT32)
		return tfl_fail(l, -ENOTSUP, "%s by %s; float32 or int32 by int32 wanted", weft_dtype_name(t.dtype), weft_dtype_name(i.dtype));
	if (i.rank > t.rank || i.rank < 1 || memcmp(i.dim, t.dim, sizeof *t.dim * (size_t)i.rank))
		return tfl_fail(l, -EINVAL, "indices of rank %d that are not the first dimensions of rank %d", i.rank, t.rank);
	for (int k = 1; k < whole.rank; k++)
		whole.dim[k] = t.dim[i.rank + k - 1];
	tfl_node_int(&a, "reduction", how);
	const int begin = beginning(l, &whole, how);
	if ((ids = begin < 0 ? begin : indices(l, ids, n)) < 0)
		return ids;
	if ((y = tfl_node(l, &a, (int[]){ begin, ids, x }, 3, false)) < 0)
		return y;
	whole.dim[0] = n;
	return tfl_step(l, WEFT_OP_SLICE, &from, &y, 1, t.dtype, whole.rank, whole.dim, true);
}

/*
 * Sets the value that *a pads with to the only element of constant operand k, of type t. Returns 0; -ENOTSUP if
 * the operand is something else, or t is none of float32, int8, int16, int32 and bool; or another negative
 * errno.
 */
static int pad_value(struct tfl_lower *l, int k, weft_dtype t, weft_attr *a)
{
	const int x = tfl_value(l, k);

	if (x < 0)
		return x;
	const weft_tensor *v = &l->g->tensors[x].t;
	if (!v->data || v->dtype != t || weft_tensor_elements(v) != 1)
		return tfl_fail(l, -ENOTSUP, "operand %d is no constant of one %s", k, weft_dtype_name(t));
	switch (t) {
	case WEFT_FP32: a->pad.fvalue = *(const float *)v->data; return 0;
	case WEFT_INT8: case WEFT_BOOL: a->pad.value = *(const int8_t *)v->data; return 0;
	case WEFT_INT16: a->pad.value = *(const int16_t *)v->data; return 0;
	case WEFT_INT32: a->pad.value = *(const int32_t *)v->data; return 0;
	default: return tfl_fail(l, -ENOTSUP, "%s", weft_dtype_name(t));
	}
}

/*
 * Emits x with by[i] - 1 copies of what *pad pads with between its elements along each axis i. Each axis becomes one of rows,
 * which PAD makes longer. Returns the graph tensor, -EINVAL for a factor below 1, or another negative errno.
 */
static int spread(struct tfl_lower *l, int x, const int64_t *by, const weft_attr *pad)
{
	weft_attr from = { .slice = { { 0 } } };
	weft_tensor t = l->g->tensors[x].t;
	int64_t dim[WEFT_MAX_RANK];

	for (int i = 0; i < t.rank; i++) {
		if (by[i] < 1 || by[i] > INT32_MAX)
			return tfl_fail(l, -EINVAL, "factor %lld; 1 or more wanted", (long long)by[i]);
		if (by[i] == 1 || t.dim[i] == 1)
			continue;
		weft_attr a = *pad;
		memcpy(dim, t.dim, sizeof dim);
		memmove(dim + i + 1, dim + i, sizeof *dim * (size_t)(t.rank - i));
		dim[i + 1] = 1;
		if ((x = tfl_reshape(l, x, t.rank + 1, dim)) < 0)
			return x;
		dim[i + 1] = by[i];
		a.pad.after[i + 1] = (int32_t)by[i] - 1;
		if ((x = tfl_step(l, WEFT_OP_PAD, &a, &x, 1, t.dtype, t.rank + 1, dim, false)) < 0)
			return x;
		t.dim[i] *= by[i];
		x = tfl_reshape(l, x, t.rank, t.dim);
		t.dim[i] -= by[i] - 1;
		if (x < 0 || (x = tfl_step(l, WEFT_OP_SLICE, &from, &x, 1, t.dtype, t.rank, t.dim, false)) < 0)
			return x;
	}
	return x;
}

/*
 * Lowers DILATE: between the elements along axis i stand v - 1 copies of the one constant element of operand 2, where v
 * is number i of constant operand 1. Operand 0 has to have the result's type and quantisation (tfl_moved()). Returns
 * the result's tensor; -EINVAL if operand 1 does not have a number for each axis, one is below 1, or the rank is 8;
 * -ENOTSUP if operand 2 is not one constant of the type; or another negative errno.
 */
static int dilate(struct tfl_lower *l)
{
	int64_t by[WEFT_MAX_RANK];
	int x = tfl_moved(l, 0), n = x < 0 ? x : tfl_ints(l, 1, WEFT_MAX_RANK, by);
	weft_attr pad = { .pad = { .value = 0 } };

	if (n < 0)
		return n;
	const weft_tensor t = l->g->tensors[x].t;
	int err = pad_value(l, 2, t.dtype, &pad);
	if (err)
		return err;
	if (n != t.rank || n > WEFT_MAX_RANK - 1)
		return tfl_fail(l, -EINVAL, "%d factors for rank %d", n, t.rank);
	x = spread(l, x, by, &pad);
	return tfl_node_own(l, x);
}

/*
 * Copies list `field` of the options of the STABLEHLO_PAD at hand, int64, to v, which has room for n numbers.
 * Returns 0, or -EINVAL if the list does not have n of them or one is outside -INT32_MAX..INT32_MAX.
 */
static int edges(struct tfl_lower *l, int field, int n, int64_t *v)
{
	struct fb_vec list = { 0 };
	const bool has = l->op->has_options && l->op->options_type == OPTIONS_STABLEHLO_PAD;
	int err = has ? fb_vector(&l->m->b, &l->op->options, field, 8, &list) : 0;

	if (err < 0 || (int)list.n != n)
		return err < 0 ? err : tfl_fail(l, -EINVAL, "%u numbers of padding for rank %d", (unsigned)list.n, n);
	for (int k = 0; k < n; k++) {
		v[k] = fb_i64_at(&l->m->b, &list, (uint32_t)k);
		if (v[k] < -INT32_MAX || v[k] > INT32_MAX)
			return tfl_fail(l, -EINVAL, "padding %lld", (long long)v[k]);
	}
	return 0;
}

/*
 * Lowers STABLEHLO_PAD: operand 1, constant, stands before, behind and between the elements along each axis; negative
 * numbers before and behind leave elements out. Operand 0 has to have the result's type and quantisation (tfl_moved()).
 * Returns the result's tensor, -EINVAL if nothing is left, or another negative errno.
 */
static int stablehlo_pad(struct tfl_lower *l)
{
	int64_t low[WEFT_MAX_RANK], high[WEFT_MAX_RANK], by[WEFT_MAX_RANK];
	weft_attr pad = { .pad = { .value = 0 } }, from = { .slice = { { 0 } } };
	int x = tfl_moved(l, 0), err = x < 0 ? x : pad_value(l, 1, l->g->tensors[x].t.dtype, &pad);

	if (err)
		return err;
	const int rank = l->g->tensors[x].t.rank;
	if ((err = edges(l, STABLEHLO_PAD_LOW, rank, low)) || (err = edges(l, STABLEHLO_PAD_HIGH, rank, high)) ||
	    (err = edges(l, STABLEHLO_PAD_INTERIOR, rank, by)))
		return err;
	for (int i = 0; i < rank; i++)
		by[i]++;
	weft_attr a = pad;
	if ((x = spread(l, x, by, &a)) < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	for (int i = 0; i < rank; i++) {
		a.pad.before[i] = low[i] > 0 ? (int32_t)low[i] : 0;
		a.pad.after[i] = high[i] > 0 ? (int32_t)high[i] : 0;
		from.slice.start[i] = low[i] < 0 ? -low[i] : 0;
		t.dim[i] += a.pad.before[i] + a.pad.after[i];
	}
	x = tfl_step(l, WEFT_OP_PAD, &a, &x, 1, t.dtype, rank, t.dim, false);
	for (int i = 0; i < rank; i++)
		if ((t.dim[i] += (low[i] < 0 ? low[i] : 0) + (high[i] < 0 ? high[i] : 0)) < 1)
			return tfl_fail(l, -EINVAL, "nothing is left along axis %d", i);
	return x < 0 ? x : tfl_step(l, WEFT_OP_SLICE, &from, &x, 1, t.dtype, rank, t.dim, true);
}

int (*tfl_segment_lowering(int code))(struct tfl_lower *)
{
	switch (code) {
	case TFL_SEGMENT_SUM: case TFL_UNSORTED_SEGMENT_SUM: case TFL_UNSORTED_SEGMENT_PROD: case TFL_UNSORTED_SEGMENT_MAX:
	case TFL_UNSORTED_SEGMENT_MIN: return segment;
	case TFL_DILATE: return dilate;
	case TFL_STABLEHLO_PAD: return stablehlo_pad;
	default: return tfl_stablehlo_lowering(code);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MaxPool, AveragePool and their global forms.
 *
 * TOSA's pools have no dilation, and their padding is smaller than the kernel. Other
 * pools are taken apart: they become the maximum, or sum, of one strided slice for each
 * element of the window.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "onnx_qdq.h"

/* The most elements of a window of which each becomes a slice of its own. */
#define MAX_TAPS 1024

/*
 * Emits x [N,W,C] as [N,1,W,C]; a tensor of another rank is returned as it is. Returns the graph
 * tensor, or a negative errno; a negative x is returned as it is.
 */
static int as_image(struct ox *l, int x)
{
	if (x < 0 || ox_t(l, x)->rank != 3)
		return x;
	const int64_t *d = ox_t(l, x)->dim;
	return ox_reshape(l, x, 4, (int64_t[]){ d[0], 1, d[1], d[2] });
}

/*
 * Emits x [N,1,W,C] as [N,W,C] if n, the number of spatial dimensions, is 1; else x is returned as
 * it is. Returns the graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int as_row(struct ox *l, int x, int n)
{
	if (x < 0 || n != 1)
		return x;
	const int64_t *d = ox_t(l, x)->dim;
	return ox_reshape(l, x, 3, (int64_t[]){ d[0], d[2], d[3] });
}

/*
 * Emits TOSA's pooling operator op of x [N,spatial...,C] with window w, which has one or two
 * dimensions and no dilation; elements that no window reaches are cut off first. NaN propagates,
 * and averages of floats are summed in float32. Returns the graph tensor, or a negative errno; a
 * negative x is returned as it is.
 */
static int pool(struct ox *l, weft_opcode op, int x, const struct ox_window *w)
{
	weft_attr a = { .pool = { .kernel = { 1, 1 }, .stride = { 1, 1 }, .acc = WEFT_FP32, .nan = WEFT_NAN_PROPAGATE } };
	int64_t dim[4];

	x = as_image(l, ox_trim(l, x, w));
	if (x < 0)
		return x;
	dim[0] = ox_t(l, x)->dim[0];
	dim[1] = 1;
	dim[3] = ox_t(l, x)->dim[3];
	for (int i = 0; i < w->n; i++) {
		int d = 2 - w->n + i;

		a.pool.kernel[d] = (int32_t)w->kernel[i];
		a.pool.stride[d] = (int32_t)w->stride[i];
		a.pool.pad[2 * d] = (int32_t)w->before[i];
		a.pool.pad[2 * d + 1] = (int32_t)w->after[i];
		dim[1 + d] = w->out[i];
	}
	return as_row(l, ox_op(l, op, &a, &x, 1, ox_t(l, x)->dtype, 4, dim), w->n);
}

/*
 * Emits every stride-th element of x along axis, beginning with the first, `out` elements in all; x
 * itself, whatever `out` is, if stride is 1. out * stride must not be less than x's extent; if `out`
 * elements reach beyond x, those are 0. Returns the graph tensor, -ENOTSUP if x has rank 8 (unless
 * stride is 1), or another negative errno; a negative x is returned as it is.
 */
static int stride_axis(struct ox *l, int x, int axis, int64_t out, int64_t stride)
{
	int64_t before[WEFT_MAX_RANK] = { 0 }, after[WEFT_MAX_RANK] = { 0 }, dim[WEFT_MAX_RANK], start[WEFT_MAX_RANK] = { 0 };

	if (x < 0 || stride == 1)
		return x;
	weft_tensor t = *ox_t(l, x);
	if (t.rank + 1 > WEFT_MAX_RANK)
		return ox_fail(l, -ENOTSUP, "rank %d", t.rank + 1);
	after[axis] = out * stride - t.dim[axis];
	if (after[axis] < 0)
		after[axis] = 0;
	x = ox_pad(l, x, before, after, 0);
	for (int i = 0; i <= t.rank; i++)
		dim[i] = i < axis ? t.dim[i] : i == axis ? out : i == axis + 1 ? stride : t.dim[i - 1];
	x = ox_reshape(l, x, t.rank + 1, dim);
	dim[axis + 1] = 1;
	x = ox_slice(l, x, start, dim);
	memmove(dim + axis + 1, dim + axis + 2, (size_t)(t.rank - axis - 1) * sizeof *dim);
	return ox_reshape(l, x, t.rank, dim);
}

/*
 * Emits a pool of x [N,spatial...,C] with window w as slices of the padded input, one for each
 * element of the window, combined by operator op; fill is the padding's value. Elements that no
 * window reaches are cut off first. Returns the graph tensor, -ENOTSUP if the window has more than
 * MAX_TAPS (1024) elements, or another negative errno; a negative x is returned as it is.
 */
static int taken_apart(struct ox *l, weft_opcode op, int x, const struct ox_window *w, double fill)
{
	int64_t before[WEFT_MAX_RANK] = { 0 }, after[WEFT_MAX_RANK] = { 0 }, tap[3] = { 0 }, taps = 1;
	int y = -1;

	for (int i = 0; i < w->n; i++) {
		before[1 + i] = w->before[i];
		after[1 + i] = w->after[i];
		taps = w->kernel[i] > MAX_TAPS || taps > MAX_TAPS ? MAX_TAPS + 1 : taps * w->kernel[i];
	}
	if (taps > MAX_TAPS)
		return ox_fail(l, -ENOTSUP, "a kernel of more than %d taps, dilated, of three dimensions, or padded by its own extent", MAX_TAPS);
	x = ox_pad(l, ox_trim(l, x, w), before, after, fill);
	for (int64_t k = 0; k < taps && x >= 0; k++) {
		int64_t start[WEFT_MAX_RANK] = { 0 };
		weft_tensor t = *ox_t(l, x);
		int part;

		for (int i = 0; i < w->n; i++) {
			start[1 + i] = tap[i] * w->dilation[i];
			t.dim[1 + i] = (w->out[i] - 1) * w->stride[i] + 1;
		}
		part = ox_slice(l, x, start, t.dim);
		for (int i = 0; i < w->n; i++)
			part = stride_axis(l, part, 1 + i, w->out[i], w->stride[i]);
		y = k ? ox_binary(l, op, y, part) : part;
		if (y < 0)
			return y;
		for (int i = w->n - 1; i >= 0 && ++tap[i] == w->kernel[i]; i--)
			tap[i] = 0;
	}
	return x < 0 ? x : y;
}

/*
 * Says whether TOSA's pools can take window w: at most two dimensions, no dilation, and padding
 * smaller than the kernel.
 */
static bool simple(const struct ox_window *w)
{
	for (int i = 0; i < w->n; i++)
		if ((w->dilation[i] > 1 && w->kernel[i] > 1) || w->before[i] >= w->kernel[i] || w->after[i] >= w->kernel[i])
			return false;
	return w->n < 3;
}

/*
 * Lowers the MaxPool at hand of v with window w; last is the order of dimensions with channels
 * last, and unsigned codes are pooled in their signed form. A window that MAX_POOL2D cannot take (three dimensions,
 * dilated, or padding not smaller than the kernel) becomes maxima of shifted slices. Returns 0;
 * -ENOTSUP for types other than those of 8 and 16 bits, float16, bfloat16 and float32, and E4M3 and
 * E5M2 with a window that MAX_POOL2D takes; or another negative errno.
 */
static int max_pool(struct ox *l, struct ox_value *v, const int8_t *last, const struct ox_window *w)
{
	bool flip = ox_less(v->t.dtype) != 0;
	int x = ox_get_signed(l, v, last), y;
	weft_dtype t = ox_signed(v->t.dtype);

	bool float8 = (t == WEFT_FP8E4M3 || t == WEFT_FP8E5M2) && simple(w);
	if (!float8 && t != WEFT_INT8 && t != WEFT_INT16 && !weft_is_plain_float(t))
		return ox_fail(l, -ENOTSUP, "%s", weft_dtype_name(t));
	if (simple(w)) {
		y = pool(l, WEFT_OP_MAX_POOL2D, x, w);
	} else {
		y = taken_apart(l, WEFT_OP_MAXIMUM, ox_widen(l, x), w, t == WEFT_INT8 ? INT8_MIN : t == WEFT_INT16 ? INT16_MIN : -INFINITY);
		y = y < 0 ? y : ox_cast(l, y, t);
	}
	return ox_result(l, 0, y, last, flip);
}

/*
 * Returns how many elements of a window that begins at index `at` of spatial dimension i lie in
 * front of index `end`.
 */
static int64_t taps_below(const struct ox_window *w, int i, int64_t at, int64_t end)
{
	int64_t n = at < end ? (end - at - 1) / w->dilation[i] + 1 : 0;

	return n < w->kernel[i] ? n : w->kernel[i];
}

/*
 * Adds a new constant [1,out...,1] of the given type (fp32 or int32) with the number of elements of
 * each window of w that count: those in the image, whose lengths are `in`, or with `padding` also
 * those in front of it and in the first behind[i] elements behind it. Returns the graph tensor, or
 * a negative errno.
 */
int ox_window_counts(struct ox *l, const struct ox_window *w, const int64_t *in, bool padding, const int64_t *behind, weft_dtype type)
{
	weft_tensor t = { .dtype = type, .rank = w->n + 2, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };

	for (int i = 0; i < w->n; i++)
		t.dim[1 + i] = w->out[i];
	int64_t n = weft_tensor_elements(&t);
	float *p = ox_alloc(l, n, sizeof *p);
	int32_t *whole = (int32_t *)p;
	for (int64_t e = 0; p && e < n; e++) {
		int64_t rest = e, count = 1;

		for (int i = w->n - 1; i >= 0; i--) {
			int64_t at = rest % w->out[i] * w->stride[i] - w->before[i];

			rest /= w->out[i];
			count *= padding ? taps_below(w, i, at, in[i] + behind[i]) : taps_below(w, i, at, in[i]) - taps_below(w, i, at, 0);
		}
		if (type == WEFT_INT32)
			whole[e] = (int32_t)count;
		else
			p[e] = (float)count;
	}
	return ox_data(l, type, t.rank, t.dim, p);
}

/*
 * Lowers the AveragePool at hand of v, a plain float, with window w; last is the order of
 * dimensions with channels last. count_include_pad says whether padding counts; behind[i] is how
 * much of the padding behind dimension i then does. AVG_POOL2D takes it if w has at most two
 * dimensions, no dilation, padding smaller than the kernel, and no padding counts; else the result
 * is the sums of shifted slices in float32, divided by the number of elements that count and cast
 * back. Returns 0, -EINVAL if v is no plain float, or another negative errno.
 */
static int average_pool(struct ox *l, struct ox_value *v, const int8_t *last, const struct ox_window *w, const int64_t *behind)
{
	const bool padding = ox_attr_i(l, "count_include_pad", 0) != 0;
	bool pads = false;
	int x = ox_get(l, v, last);

	if (!weft_is_plain_float(v->t.dtype))
		return ox_fail(l, -EINVAL, "%s", weft_dtype_name(v->t.dtype));
	for (int i = 0; i < w->n; i++)
		pads = pads || w->before[i] || w->after[i];
	if (simple(w) && !(padding && pads))
		return ox_result(l, 0, pool(l, WEFT_OP_AVG_POOL2D, x, w), last, false);
	int count = ox_window_counts(l, w, v->t.dim + 2, padding, behind, WEFT_FP32);
	int sum = ox_cast(l, taken_apart(l, WEFT_OP_ADD, ox_cast(l, x, WEFT_FP32), w, 0), WEFT_FP32);
	int y = ox_binary(l, WEFT_OP_ONNX_DIV, sum, count);
	return ox_result(l, 0, y < 0 ? y : ox_cast(l, y, v->t.dtype), last, false);
}

/*
 * Fills *w with the window of the pool at hand, whose operand is v, and behind[i] with the padding
 * behind the image that counts in averages: that of the file or auto_pad, without what ceil_mode
 * adds. Returns 0, -EINVAL if kernel_shape is missing or no window fits, or another negative errno.
 */
int ox_pool_window(struct ox *l, struct ox_value *v, struct ox_window *w, int64_t *behind)
{
	bool explicit = ox_attr_is(l, "auto_pad", "NOTSET", true), none = ox_attr_is(l, "auto_pad", "VALID", false);
	int64_t pads[6];

	if (!ox_attr(l, "kernel_shape"))
		return ox_fail(l, -EINVAL, "kernel_shape is missing");
	int err = ox_window(l, w, v->t.rank - 2, v->t.dim + 2, NULL, ox_attr_i(l, "ceil_mode", 0) != 0);
	if (err)
		return err;
	int n = ox_attr_ints(l, "pads", 6, pads);
	for (int i = 0; i < w->n; i++)   /* padding of the file's own: what ceil_mode adds does not count */
		behind[i] = n && explicit ? pads[w->n + i] : explicit || none ? 0 : w->after[i];
	return 0;
}

/*
 * Lowers MaxPool and AveragePool of operand 0, [N,C,spatial...] with one to three spatial
 * dimensions. Returns 0, -EINVAL for a rank below 3, a window that does not fit or an AveragePool
 * of integers, -ENOTSUP for a rank above 5, if the indices of the maxima are wanted, or for types
 * or windows that are not taken, or another negative errno.
 */
int ox_pool(struct ox *l)
{
	struct ox_window w;
	int8_t last[WEFT_MAX_RANK];
	int64_t behind[3] = { 0 };
	int err = ox_need_rank(l, 0, 3, 5);
	struct ox_value *v = err ? NULL : ox_in(l, 0);

	if (!v)
		return l->err;
	if (l->n->n_output > 1 && *l->n->output[1])
		return ox_fail(l, -ENOTSUP, "the indices of the maxima");
	if ((err = ox_pool_window(l, v, &w, behind)))
		return err;
	ox_channels_last(v->t.rank, last);
	return ox_is(l, "MaxPool") ? max_pool(l, v, last, &w) : average_pool(l, v, last, &w, behind);
}

/*
 * Lowers GlobalMaxPool and GlobalAveragePool of operand 0, floats of rank 3 or more, to reductions
 * along each spatial dimension, which stays with length 1. Returns 0, -ENOTSUP for other types,
 * -EINVAL for a rank below 3, or another negative errno.
 */
int ox_global_pool(struct ox *l)
{
	int8_t last[WEFT_MAX_RANK];
	int err = ox_need_rank(l, 0, 3, WEFT_MAX_RANK);
	struct ox_value *v = err ? NULL : ox_in(l, 0);
	bool max = ox_is(l, "GlobalMaxPool");
	int64_t n = 1;

	if (!v)
		return l->err;
	ox_channels_last(v->t.rank, last);
	int x = ox_get(l, v, last);
	if (!weft_is_plain_float(v->t.dtype))
		return ox_fail(l, -ENOTSUP, "%s", weft_dtype_name(v->t.dtype));
	for (int i = 1; i < v->t.rank - 1 && x >= 0; i++) {
		n *= ox_t(l, x)->dim[i];
		x = ox_reduce(l, max ? WEFT_OP_REDUCE_MAX : WEFT_OP_REDUCE_SUM, x, i);
	}
	if (!max && x >= 0)
		x = ox_binary(l, WEFT_OP_ONNX_DIV, x, ox_ramp(l, v->t.dtype, v->t.rank, (double)n));
	return ox_result(l, 0, x, last, false);
}

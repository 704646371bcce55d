/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of convolutions, Conv and ConvTranspose.
 *
 * If there is one spatial dimension, another one of length 1 is put in front of it.
 * Groups become a depthwise operator if each has one input channel, else one operator
 * each.
 */
#include <errno.h>
#include <string.h>

#include "onnx_lower.h"

#define MAX_GROUPS 1024            /* groups that become one operator each */

/*
 * Returns the type of a convolution's sums for inputs of type x: int32 for int8, int48 for int16,
 * fp16 for float8, else x.
 */
static weft_dtype sum_type(weft_dtype x)
{
	switch (x) {
	case WEFT_INT8: return WEFT_INT32;
	case WEFT_INT16: return WEFT_INT48;
	default: return weft_is_float8(x) ? WEFT_FP16 : x;
	}
}

/*
 * Returns the type that a convolution's attribute `acc` names for inputs of type x: that of the sums
 * if it differs from x (sum_type), else fp32.
 */
static weft_dtype acc_type(weft_dtype x)
{
	return sum_type(x) != x ? sum_type(x) : WEFT_FP32;
}

/*
 * Returns the attributes of two-dimensional convolution c on inputs of type x. If c has one spatial
 * dimension, it becomes the second one; the first has padding 0, stride 1 and dilation 1.
 */
static weft_attr attr_2d(const struct ox_conv_call *c, weft_dtype x)
{
	const struct ox_window *w = &c->win;
	weft_attr a = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .x_zp = c->x_zp, .w_zp = c->w_zp, .acc = acc_type(x),
	                          .log2_scale = c->log2_scale } };

	for (int i = 0; i < w->n; i++) {
		int d = 2 - w->n + i;

		a.conv.pad[2 * d] = (int32_t)w->before[i];
		a.conv.pad[2 * d + 1] = (int32_t)w->after[i];
		a.conv.stride[d] = (int32_t)w->stride[i];
		a.conv.dilation[d] = (int32_t)w->dilation[i];
	}
	return a;
}

/*
 * Returns the attributes of a three-dimensional convolution c on inputs of type x. CONV3D has no
 * power of two as a factor, so c->log2_scale is left out.
 */
static weft_attr attr_3d(const struct ox_conv_call *c, weft_dtype x)
{
	weft_attr a = { .conv3d = { .x_zp = c->x_zp, .w_zp = c->w_zp, .acc = acc_type(x) } };

	for (int i = 0; i < 3; i++) {
		a.conv3d.pad[2 * i] = (int32_t)c->win.before[i];
		a.conv3d.pad[2 * i + 1] = (int32_t)c->win.after[i];
		a.conv3d.stride[i] = (int32_t)c->win.stride[i];
		a.conv3d.dilation[i] = (int32_t)c->win.dilation[i];
	}
	return a;
}

/*
 * Emits x [N,W,C] as [N,1,W,C]; a tensor of another rank, or a negative x, is returned as it is.
 * Returns the graph tensor, or a negative errno.
 */
static int as_2d(struct ox *l, int x)
{
	if (x < 0 || ox_t(l, x)->rank != 3)
		return x;
	const int64_t *d = ox_t(l, x)->dim;
	return ox_reshape(l, x, 4, (int64_t[]){ d[0], 1, d[1], d[2] });
}

/*
 * Emits the sums of convolution c of x with weights w, both channels last, and bias, as one CONV2D
 * or, with three spatial dimensions, CONV3D. One spatial dimension gives a result [N,1,W,OC].
 * Returns the graph tensor, or a negative errno.
 */
static int one_group(struct ox *l, const struct ox_conv_call *c, int x, int w, int bias)
{
	const bool is_3d = c->win.n == 3;

	x = as_2d(l, x);
	w = as_2d(l, w);
	if (x < 0 || w < 0 || bias < 0)
		return l->err;
	weft_attr a = is_3d ? attr_3d(c, ox_t(l, x)->dtype) : attr_2d(c, ox_t(l, x)->dtype);
	int64_t dim[5] = { ox_t(l, x)->dim[0], 1, 1, 1, 1 };
	int r = is_3d ? 5 : 4;
	for (int i = 0; i < c->win.n; i++)
		dim[r - 1 - c->win.n + i] = c->win.out[i];
	dim[r - 1] = ox_t(l, w)->dim[0];
	return ox_op(l, is_3d ? WEFT_OP_CONV3D : WEFT_OP_CONV2D, &a, (int[]){ x, w, bias }, 3, sum_type(ox_t(l, x)->dtype), r, dim);
}

/*
 * Emits the sums of convolution c of x (channels last, one or two spatial dimensions), in which
 * each group has one input channel, as DEPTHWISE_CONV2D, [N,H,W,OC]. Returns the graph tensor, or a
 * negative errno.
 */
static int depthwise(struct ox *l, const struct ox_conv_call *c, int x)
{
	static const int8_t perm[WEFT_MAX_RANK] = { 2, 3, 0, 1 };
	int w = as_2d(l, c->w);

	x = as_2d(l, x);
	if (x < 0 || w < 0)
		return l->err;
	weft_attr a = attr_2d(c, ox_t(l, x)->dtype);
	const int64_t *d = ox_t(l, w)->dim, oc = d[0];
	w = ox_transpose(l, ox_reshape(l, w, 4, (int64_t[]){ c->group, oc / c->group, d[1], d[2] }), perm);
	int64_t dim[4] = { ox_t(l, x)->dim[0], c->win.n == 2 ? c->win.out[0] : 1, c->win.out[c->win.n - 1], oc };
	return ox_op(l, WEFT_OP_DEPTHWISE_CONV2D, &a, (int[]){ x, w, c->bias }, 3, sum_type(ox_t(l, x)->dtype), 4, dim);
}

/*
 * Emits the n elements of x from index `from` on along one axis. Returns the graph tensor, or a
 * negative errno; a negative x is returned as it is.
 */
static int part(struct ox *l, int x, int axis, int64_t from, int64_t n)
{
	int64_t start[WEFT_MAX_RANK] = { 0 };
	weft_tensor t;

	if (x < 0)
		return x;
	t = *ox_t(l, x);
	start[axis] = from;
	t.dim[axis] = n;
	return ox_slice(l, x, start, t.dim);
}

/*
 * Emits the sums of convolution c of x as one convolution for each group, joined along the
 * channels; one spatial dimension gives [N,1,W,OC]. Returns the graph tensor, -ENOTSUP if there are
 * more than MAX_GROUPS groups, or another negative errno.
 */
static int groups(struct ox *l, const struct ox_conv_call *c, int x)
{
	int64_t oc = ox_t(l, c->w)->dim[0] / c->group, ic = ox_t(l, x)->dim[c->win.n + 1] / c->group;
	int y[MAX_GROUPS];

	if (c->group > MAX_GROUPS)
		return ox_fail(l, -ENOTSUP, "%lld groups > %d", (long long)c->group, MAX_GROUPS);
	for (int64_t g = 0; g < c->group; g++) {
		int b = ox_t(l, c->bias)->dim[0] == 1 ? c->bias : part(l, c->bias, 0, g * oc, oc);
		int w = part(l, c->w, 0, g * oc, oc), xg = part(l, x, c->win.n + 1, g * ic, ic);

		y[g] = one_group(l, c, xg, w, b);
		if (y[g] < 0)
			return y[g];
	}
	return ox_concat(l, y, (int)c->group, ox_t(l, y[0])->rank - 1);
}

/*
 * Emits c->x padded in front, with the zero point, along each axis along which all windows lie in
 * the padding in front (c->win.trim is the image's whole length there), because the operator would
 * see nothing of the image; c->win.before becomes 0 there. Sets c->x to the new tensor (the old one
 * if there is no such axis) and returns it, or a negative errno.
 */
static int explicit_padding(struct ox *l, struct ox_conv_call *c)
{
	int64_t before[WEFT_MAX_RANK] = { 0 }, after[WEFT_MAX_RANK] = { 0 };

	for (int i = 0; i < c->win.n && c->x >= 0; i++) {
		if (c->win.trim[i] < ox_t(l, c->x)->dim[1 + i])
			continue;
		before[1 + i] = c->win.before[i];
		c->win.before[i] = 0;
	}
	return c->x = ox_pad(l, c->x, before, after, c->x_zp);
}

/*
 * Brings the zero point z of int16 c->x into the bias, since the array has none there: the sum of w (x - z) is the
 * sum of w x less z times the sum of w. c->x is padded with z first, as far as windows reach. Sets c->x_zp to 0 and
 * c->x and c->bias to the new tensors. Returns 0, -ENOTSUP if weights or bias are not constant, or another negative
 * errno.
 */
static int fold_zero_point(struct ox *l, struct ox_conv_call *c)
{
	int64_t before[WEFT_MAX_RANK] = { 0 }, after[WEFT_MAX_RANK] = { 0 };

	if (c->w < 0 || c->bias < 0)
		return l->err;
	const int64_t n = ox_t(l, c->w)->dim[0], taps = weft_tensor_elements(ox_t(l, c->w)) / n, n_bias = ox_t(l, c->bias)->dim[0];
	if (!ox_t(l, c->w)->data || !ox_t(l, c->bias)->data)
		return ox_fail(l, -ENOTSUP, "int16 with a zero point by weights or a bias that are not constant");
	int64_t *p = ox_alloc(l, n, sizeof *p);
	if (!p)
		return l->err;
	const int8_t *w = ox_t(l, c->w)->data;
	const int64_t *b = ox_t(l, c->bias)->data;
	for (int64_t k = 0; k < n; k++) {
		int64_t sum = 0;
		for (int64_t i = 0; i < taps; i++)
			sum += w[k * taps + i] - c->w_zp;
		p[k] = b[n_bias == 1 ? 0 : k] - c->x_zp * sum;
	}
	for (int i = 0; i < c->win.n; i++) {
		before[1 + i] = c->win.before[i];
		after[1 + i] = c->win.after[i];
		c->win.before[i] = c->win.after[i] = 0;
	}
	c->bias = ox_data(l, WEFT_INT48, 1, &n, p);
	c->x = ox_pad(l, c->x, before, after, c->x_zp);
	c->x_zp = 0;
	return c->bias < 0 || c->x < 0 ? l->err : 0;
}

/*
 * Emits the sums [N,spatial...,OC] of the convolution `given`, as an ordinary operator (one group),
 * a depthwise one (one input channel for each group, at most two spatial dimensions), or one
 * operator for each group. Elements of the image that no window reaches are cut off first. Padding
 * becomes a PAD with the zero point in two cases: in front along an axis where all windows lie in
 * it, and everywhere if x is int16 with a zero point (fold_zero_point()). The sums are int32 if x
 * is int8, int48 if it is int16, fp16 if it is float8, else of x's type. Returns the graph tensor,
 * -ENOTSUP for more than 1024 groups that become one operator each and for what fold_zero_point()
 * refuses, or another negative errno.
 */
int ox_conv_sums(struct ox *l, const struct ox_conv_call *given)
{
	struct ox_conv_call call = *given, *c = &call;
	int y;

	if (c->x >= 0 && ox_t(l, c->x)->dtype == WEFT_INT16 && c->x_zp && (y = fold_zero_point(l, c)))
		return y;
	int x = ox_trim(l, explicit_padding(l, c), &c->win);
	if (x < 0 || c->w < 0 || c->bias < 0)
		return l->err;
	if (c->group == 1)
		y = one_group(l, c, x, c->w, c->bias);
	else if (c->win.n < 3 && ox_t(l, x)->dim[c->win.n + 1] == c->group)
		y = depthwise(l, c, x);
	else
		y = groups(l, c, x);
	if (y < 0 || c->win.n != 1)
		return y;
	const int64_t *d = ox_t(l, y)->dim;
	return ox_reshape(l, y, 3, (int64_t[]){ d[0], d[2], d[3] });
}

/*
 * Sets c->group and c->win from the node at hand, after it has checked that x, operand 0, is
 * [N,C,...] of rank 3 to 5 and the weights, operand i_w, are [OC,C/group,...] with OC a multiple of
 * group. Returns 0, -EINVAL if an operand is missing, a shape does not fit or an attribute is wrong,
 * -ENOTSUP for a rank above 5 or windows above 2^24, or another negative errno.
 */
int ox_conv_shapes(struct ox *l, int i_w, struct ox_conv_call *c)
{
	int err = ox_need_rank(l, 0, 3, 5);
	struct ox_value *x = err ? NULL : ox_in(l, 0), *w = x ? ox_in(l, i_w) : NULL;

	if (!w)
		return l->err;
	c->group = ox_attr_i(l, "group", 1);
	if (w->t.rank != x->t.rank)
		return ox_fail(l, -EINVAL, "input of rank %d, weights of rank %d", x->t.rank, w->t.rank);
	if (c->group < 1 || w->t.dim[1] < 1 || w->t.dim[0] < 1 || x->t.dim[1] / c->group != w->t.dim[1] || x->t.dim[1] % c->group ||
	    w->t.dim[0] % c->group)
		return ox_fail(l, -EINVAL, "%lld input channels, weights for %lld, %lld outputs, %lld groups", (long long)x->t.dim[1],
		               (long long)w->t.dim[1], (long long)w->t.dim[0], (long long)c->group);
	return ox_window(l, &c->win, x->t.rank - 2, x->t.dim + 2, w->t.dim + 2, false);
}

/*
 * Lowers Conv of operand 0, which has one to three spatial dimensions, with weights, operand 1, and
 * bias, operand 2, which counts as 0 if it is absent. The sums are cast to operand 0's type. Returns
 * 0, -EINVAL if shapes do not fit or an attribute is wrong, -ENOTSUP for a rank above 5, for windows
 * above 2^24 or for more than MAX_GROUPS groups that become one operator each, or another negative
 * errno.
 */
int ox_conv(struct ox *l)
{
	struct ox_conv_call c = { 0 };
	int8_t last[WEFT_MAX_RANK];
	int err = ox_conv_shapes(l, 1, &c);

	if (err)
		return err;
	struct ox_value *x = ox_in(l, 0);
	ox_channels_last(x->t.rank, last);
	c.x = ox_get(l, x, last);
	c.w = ox_get(l, ox_in(l, 1), last);
	c.bias = ox_has(l, 2) ? ox_x(l, 2) : ox_ramp(l, sum_type(x->t.dtype), 1, 0);
	if (c.bias >= 0 && sum_type(x->t.dtype) != x->t.dtype)
		c.bias = ox_cast(l, c.bias, sum_type(x->t.dtype));
	int y = ox_conv_sums(l, &c);
	return ox_result(l, 0, y < 0 ? y : ox_cast(l, y, x->t.dtype), last, false);
}

/* ---- ConvTranspose ---- */

/*
 * Emits w with d - 1 zeros between its elements along axis, so that k elements become (k - 1) * d +
 * 1; w itself if d is 1. Returns the graph tensor, or a negative errno; a negative w is returned as
 * it is.
 */
static int dilate(struct ox *l, int w, int axis, int64_t d)
{
	int64_t before[WEFT_MAX_RANK] = { 0 }, after[WEFT_MAX_RANK] = { 0 }, dim[WEFT_MAX_RANK], cut[WEFT_MAX_RANK] = { 0 };

	if (w < 0 || d == 1)
		return w;
	weft_tensor t = *ox_t(l, w);
	for (int i = 0; i <= t.rank; i++)
		dim[i] = i <= axis ? t.dim[i] : i == axis + 1 ? 1 : t.dim[i - 1];
	after[axis + 1] = d - 1;
	w = ox_pad(l, ox_reshape(l, w, t.rank + 1, dim), before, after, 0);
	t.dim[axis] *= d;
	w = ox_reshape(l, w, t.rank, t.dim);
	t.dim[axis] -= d - 1;
	return ox_slice(l, w, cut, t.dim);
}

/*
 * Sets in *w, for a transposed convolution of x, how many elements are cut off the full result on each side of
 * each spatial dimension (before, after; negative: how many are added) and its length then (out). output_shape
 * says the length if it is there, else auto_pad SAME_UPPER and SAME_LOWER (stride times the length of x), else
 * the pads, which are in *w already; output_padding is added behind. If a length is said, each side loses half
 * of what is too much; of an odd number, one more is cut off in front, with SAME_UPPER behind. If the length is more than
 * the full result's, the halves are added, of an odd number one more behind, with SAME_LOWER in front. Returns 0, or
 * -EINVAL if a list has the wrong length, a number in one is out of range, or a length is not 1..2^31 - 1.
 */
static int transpose_pads(struct ox *l, const struct ox_value *x, struct ox_window *w)
{
	int64_t extra[3] = { 0 }, shape[5];
	bool same = ox_attr_is(l, "auto_pad", "SAME_UPPER", false), lower = ox_attr_is(l, "auto_pad", "SAME_LOWER", false);
	int n = ox_attr_ints(l, "output_padding", 3, extra), m = ox_attr_ints(l, "output_shape", 5, shape);

	if (n < 0 || m < 0)
		return l->err;
	if (m && m < w->n)
		return ox_fail(l, -EINVAL, "output_shape has %d values for %d dimensions", m, w->n);
	for (int i = 0; i < w->n; i++) {
		if (extra[i] < 0 || extra[i] > INT32_MAX || (m && (shape[m - w->n + i] < 1 || shape[m - w->n + i] > INT32_MAX)))
			return ox_fail(l, -EINVAL, "output_padding %lld, output_shape %lld of dimension %d", (long long)extra[i],
			               m ? (long long)shape[m - w->n + i] : 0, i);
		int64_t full = w->stride[i] * (x->t.dim[2 + i] - 1) + extra[i] + (w->kernel[i] - 1) * w->dilation[i] + 1;
		int64_t want = m ? shape[m - w->n + i] : same || lower ? x->t.dim[2 + i] * w->stride[i] : 0;

		if (want) {
			int64_t total = full - want;
			w->before[i] = lower || (!same && total > 0) ? total - total / 2 : total / 2;
			w->after[i] = total - w->before[i];
		}
		w->after[i] -= extra[i];   /* the result grows behind */
		w->out[i] = full - extra[i] - w->before[i] - w->after[i];
		if (w->out[i] < 1 || w->out[i] > INT32_MAX)
			return ox_fail(l, -EINVAL, "an output extent of %lld", (long long)w->out[i]);
	}
	return 0;
}

/*
 * Emits the transposed convolution of x [N,D,H,W,C] with weights [OC,KD,KH,KW,C] and bias, with w's
 * strides, in three dimensions and without any of the border cut off: zeros between the elements of
 * x, then a CONV3D with the reversed kernel. Dilation has to be in the weights already. Returns the
 * graph tensor, or a negative errno.
 */
static int full_3d(struct ox *l, const struct ox_window *w, int x, int weights, int bias)
{
	weft_attr a = { .conv3d = { .stride = { 1, 1, 1 }, .dilation = { 1, 1, 1 }, .acc = WEFT_FP32 } };
	int64_t dim[5];

	for (int i = 0; i < 3; i++) {
		weft_attr axis = { .axis = { 1 + i, 0 } };

		x = dilate(l, x, 1 + i, w->stride[i]);
		if (x < 0 || weights < 0)
			return l->err;
		weights = ox_op(l, WEFT_OP_REVERSE, &axis, &weights, 1, ox_t(l, weights)->dtype, 5, ox_t(l, weights)->dim);
		if (weights < 0)
			return weights;
		a.conv3d.pad[2 * i] = a.conv3d.pad[2 * i + 1] = (int32_t)ox_t(l, weights)->dim[1 + i] - 1;
		dim[1 + i] = ox_t(l, x)->dim[1 + i] + ox_t(l, weights)->dim[1 + i] - 1;
	}
	dim[0] = ox_t(l, x)->dim[0];
	dim[4] = ox_t(l, weights)->dim[0];
	return ox_op(l, WEFT_OP_CONV3D, &a, (int[]){ x, weights, bias }, 3, ox_t(l, x)->dtype, 5, dim);
}

/*
 * Emits the transposed convolution of x [N,H,W,C] with weights [OC,KH,KW,C] and bias, with w's one
 * or two strides (one is that of the width), without any of the border cut off, by
 * TRANSPOSE_CONV2D. Dilation has to be in the weights already. Returns the graph tensor, or a
 * negative errno.
 */
static int full_2d(struct ox *l, const struct ox_window *w, int x, int weights, int bias)
{
	weft_attr a = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_FP32 } };
	int64_t dim[4] = { ox_t(l, x)->dim[0], 1, 1, ox_t(l, weights)->dim[0] };

	for (int i = 0; i < 2; i++) {
		a.conv.stride[i] = i < 2 - w->n ? 1 : (int32_t)w->stride[i - (2 - w->n)];
		dim[1 + i] = (ox_t(l, x)->dim[1 + i] - 1) * a.conv.stride[i] + ox_t(l, weights)->dim[1 + i];
	}
	return ox_op(l, WEFT_OP_TRANSPOSE_CONV2D, &a, (int[]){ x, weights, bias }, 3, ox_t(l, x)->dtype, 4, dim);
}

/*
 * Emits one group of the transposed convolution with windows w: x [N,spatial...,C/g] with weights
 * [OC,spatial...,C/g] and bias, with w->before and w->after cut off the border. Where these are negative,
 * zeros are added there instead; so the tensor `bias` must hold 0. One spatial dimension gives [N,1,W,OC].
 * Returns the graph tensor, or a negative errno.
 */
static int transpose_group(struct ox *l, const struct ox_window *w, int x, int weights, int bias)
{
	int64_t dim[WEFT_MAX_RANK], before[WEFT_MAX_RANK] = { 0 }, after[WEFT_MAX_RANK] = { 0 }, start[WEFT_MAX_RANK] = { 0 };

	x = as_2d(l, x);
	weights = as_2d(l, weights);
	if (x < 0 || weights < 0 || bias < 0)
		return l->err;
	int y = w->n == 3 ? full_3d(l, w, x, weights, bias) : full_2d(l, w, x, weights, bias);
	if (y < 0)
		return y;
	for (int i = 0; i < ox_t(l, y)->rank; i++)
		dim[i] = ox_t(l, y)->dim[i];
	for (int i = 0; i < w->n; i++) {   /* cut, or grow by the bias: which has to be zero there */
		int d = w->n == 3 ? 1 + i : 3 - w->n + i;

		start[d] = w->before[i] > 0 ? w->before[i] : 0;
		before[d] = w->before[i] < 0 ? -w->before[i] : 0;
		after[d] = w->after[i] < 0 ? -w->after[i] : 0;
		dim[d] -= start[d] + (w->after[i] > 0 ? w->after[i] : 0);
	}
	return ox_pad(l, ox_slice(l, y, start, dim), before, after, 0);
}

/*
 * Fills *win for the ConvTranspose at hand after it has checked ranks, groups and channels;
 * win->before and win->after are what is cut off the full result on each side (negative: what is
 * added), win->out the lengths of the result; win->trim has no meaning, since every element of the
 * input counts. Returns 0, -EINVAL if an operand is missing, a shape does not fit, an attribute is
 * wrong, there are more than MAX_GROUPS groups, or (without SAME_UPPER and SAME_LOWER) a kernel of k
 * elements reaches over more than k * 2^20 and the padding; -ENOTSUP for a rank above 5, a kernel
 * longer than 1023 or a stride, dilation or padding above 2^24; or another negative errno.
 */
int ox_transpose_window(struct ox *l, struct ox_window *win)
{
	int err = ox_need_rank(l, 0, 3, 5);
	struct ox_value *x = err ? NULL : ox_in(l, 0), *w = x ? ox_in(l, 1) : NULL;
	int64_t group = w ? ox_attr_i(l, "group", 1) : 1, most[3];

	if (!w)
		return l->err;
	if (w->t.rank != x->t.rank || group < 1 || group > MAX_GROUPS || w->t.dim[0] != x->t.dim[1] || x->t.dim[1] % group)
		return ox_fail(l, -EINVAL, "%lld channels, weights for %lld, %lld groups", (long long)x->t.dim[1], (long long)w->t.dim[0],
		               (long long)group);
	for (int i = 0; i < 3; i++)
		most[i] = i < x->t.rank - 2 ? w->t.dim[2 + i] << 20 : 1;
	/* The lists are a convolution's; extents are large enough for any kernel. */
	if ((err = ox_window(l, win, x->t.rank - 2, most, w->t.dim + 2, false)))
		return err;
	int64_t v[6];
	/* As they were in the file; judged by ox_window() */
	int n = ox_attr_is(l, "auto_pad", "NOTSET", true) ? ox_attr_ints(l, "pads", 6, v) : 0;
	for (int i = 0; i < win->n; i++) {
		win->before[i] = n ? v[i] : 0;
		win->after[i] = n ? v[win->n + i] : 0;
	}
	return transpose_pads(l, x, win);
}

/*
 * Fills order with the order of dimensions that turns weights [C,OC,...] of the given rank into
 * [OC,...,C].
 */
void ox_transpose_order(int rank, int8_t *order)
{
	order[0] = 1;
	for (int i = 1; i < rank; i++)
		order[i] = (int8_t)(i + 1 < rank ? i + 1 : 0);
}

/*
 * Lowers ConvTranspose of operand 0, which has one to three spatial dimensions, with weights, operand
 * 1, group by group; the bias, operand 2, is added at the end if there is one. Dilation is put into
 * the weights as zeros between their elements. Returns 0, a negative errno as ox_transpose_window()
 * if the node is not taken, or another one.
 */
int ox_conv_transpose(struct ox *l)
{
	struct ox_window win = { 0 };
	int8_t last[WEFT_MAX_RANK], order[WEFT_MAX_RANK];
	int err = ox_transpose_window(l, &win), y[MAX_GROUPS];

	if (err)
		return err;
	struct ox_value *x = ox_in(l, 0), *w = ox_in(l, 1);
	int64_t group = ox_attr_i(l, "group", 1);
	ox_channels_last(x->t.rank, last);
	ox_transpose_order(x->t.rank, order);
	int xs = ox_get(l, x, last), ws = ox_get(l, w, order);
	int bias = ox_ramp(l, x->t.dtype, 1, 0);
	for (int i = 0; i < win.n; i++)
		ws = dilate(l, ws, 1 + i, win.dilation[i]);
	int64_t ic = x->t.dim[1] / group;
	for (int64_t g = 0; g < group; g++) {
		int wg = part(l, ws, x->t.rank - 1, g * ic, ic), xg = part(l, xs, x->t.rank - 1, g * ic, ic);

		y[g] = transpose_group(l, &win, xg, wg, bias);
		if (y[g] < 0)
			return y[g];
	}
	int z = ox_concat(l, y, (int)group, x->t.rank == 5 ? 4 : 3);
	if (ox_has(l, 2) && z >= 0)
		z = ox_binary(l, WEFT_OP_ADD, z, ox_x(l, 2));
	if (z >= 0 && x->t.rank == 3)
		z = ox_reshape(l, z, 3, (int64_t[]){ ox_t(l, z)->dim[0], ox_t(l, z)->dim[2], ox_t(l, z)->dim[3] });
	return ox_result(l, 0, z, last, false);
}

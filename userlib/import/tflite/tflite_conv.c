/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV_2D and DEPTHWISE_CONV_2D: CONV2D into int32, RESCALE, CLAMP.
 *
 * TOSA wants extents that the stride divides exactly; what no window reaches
 * is cut off first. Grouped convolutions (fewer weight than input channels)
 * become one convolution per group, or a depthwise one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_lower.h"

/* The convolution at hand. Pairs are for rows, then columns. */
struct conv {
	struct tfl_quant x, y;                 /* quantisation of image and result */
	int activation;                        /* the fused activation */
	int padding, stride[2], dilation[2];   /* padding: TFL_SAME or TFL_VALID */
	int64_t kernel[2];
	struct tfl_window window[2];
	struct tfl_weights w;                  /* factors from sums to the result; f is from malloc */
	weft_dtype acc;                        /* type of the sums */
	bool narrow;                           /* TFLite's sums have 32 bits though acc has 48 */
	bool real;                             /* the image is float32 */
};

/*
 * Fills in *c from the operator at hand: real, the quantisation of image and result unless the image is
 * float32, the sums' type and the kernel's extents; and sets *x to the graph tensor of the image, operand
 * 0, and *w to type and shape of the weights, operand 1. Returns 0; -ENOTSUP if for an image of integers
 * the result is not of as many bits or the weights are neither int8 nor uint8 (nor int4 for an 8-bit
 * image), while for float32 neither is checked here; -EINVAL if image, weights or result has another rank
 * than 4; or another negative errno.
 */
static int operands(struct tfl_lower *l, struct conv *c, int *x, weft_tensor *w)
{
	int i_w;
	int err;

	c->real = tfl_is_float(l, 0);
	if (!c->real && (err = tfl_need_result(l, TFL_Q8_16, &c->y)))
		return err;
	*x = c->real ? tfl_value(l, 0) : tfl_quant_value(l, 0, TFL_Q8_16, &c->x);
	if (*x < 0)
		return *x;
	if (c->x.t != c->y.t)
		return tfl_fail(l, -ENOTSUP, "%s into %s", weft_dtype_name(c->x.t), weft_dtype_name(c->y.t));
	c->acc = c->real ? WEFT_FP32 : c->x.t == WEFT_INT16 ? WEFT_INT48 : WEFT_INT32;
	i_w = tfl_operand(l, 1);
	if (i_w < 0 || (err = tfl_shape(l, i_w, w)))
		return i_w < 0 ? i_w : err;
	if (l->g->tensors[*x].t.rank != 4 || w->rank != 4 || l->y.rank != 4)
		return tfl_fail(l, -EINVAL, "ranks %d, %d and %d, not 4", l->g->tensors[*x].t.rank, w->rank, l->y.rank);
	if (!c->real && w->dtype != WEFT_INT8 && (w->dtype != WEFT_INT4 || c->x.t == WEFT_INT16))
		return tfl_fail(l, -ENOTSUP, "weights are %s, not int8", weft_dtype_name(w->dtype));
	c->kernel[0] = w->dim[1];
	c->kernel[1] = w->dim[2];
	return 0;
}

/*
 * Sets c->window for both spatial axes of x [N,H,W,C]: output size, padding, and what is cut off.
 * Returns 0 or a negative errno.
 */
static int windows(struct tfl_lower *l, struct conv *c, int x)
{
	const int64_t *d = l->g->tensors[x].t.dim;
	int err = 0;

	for (int i = 0; i < 2 && !err; i++)
		err = tfl_window(l, c->padding, d[1 + i], c->kernel[i], c->stride[i], c->dilation[i], &c->window[i]);
	return err;
}

/*
 * Returns the attributes of the graph's operator for convolution c: padding, stride, dilation, zero
 * points and accumulator.
 */
static weft_attr attributes(const struct conv *c)
{
	return (weft_attr){ .conv = {
		.pad = { c->window[0].before, c->window[0].after, c->window[1].before, c->window[1].after },
		.stride = { c->stride[0], c->stride[1] },
		.dilation = { c->dilation[0], c->dilation[1] },
		.x_zp = c->x.zp, .w_zp = c->w.zp, .acc = c->acc,
	} };
}

/*
 * Returns the n elements of tensor `whole` from index `from` on along its first dimension: a new constant named with
 * suffix if it is constant, else a SLICE. Returns the graph tensor, or a negative errno.
 */
static int part(struct tfl_lower *l, int whole, const char *suffix, int64_t from, int64_t n)
{
	weft_attr slice = { .slice = { { from } } };
	weft_tensor t = l->g->tensors[whole].t;

	if (!t.data) {
		t.dim[0] = n;
		return tfl_step(l, WEFT_OP_SLICE, &slice, &whole, 1, t.dtype, t.rank, t.dim, false);
	}
	size_t row = weft_tensor_bytes(&t) / (size_t)t.dim[0];
	char *data = tfl_alloc(l, n, row);

	if (!data)
		return l->err;
	const char *src = (const char *)t.data + (size_t)from * row;
	for (size_t k = 0; k < (size_t)n * row; k++)
		data[k] = src[k];
	t.dim[0] = n;
	return tfl_data(l, suffix, t.dtype, t.rank, t.dim, data);
}

/*
 * Emits group g of integer convolution c of x: its ic input channels convolved with its part of
 * weights w and bias b, and rescaled to its oc output channels, without activation. Returns the
 * graph tensor, or a negative errno.
 */
static int group(struct tfl_lower *l, const struct conv *c, int x, int w, int b, int64_t g, int64_t ic, int64_t oc)
{
	weft_attr slice = { .slice = { { 0, 0, 0, g * ic } } }, conv = attributes(c);
	weft_tensor t = l->g->tensors[x].t;

	t.dim[3] = ic;
	int xs = tfl_step(l, WEFT_OP_SLICE, &slice, &x, 1, t.dtype, 4, t.dim, false);
	int ws = xs < 0 ? xs : part(l, w, "weights", g * oc, oc);
	int bs = ws < 0 ? ws : l->g->tensors[b].t.dim[0] == 1 ? b : part(l, b, "bias", g * oc, oc);
	if (bs < 0)
		return bs;
	int64_t dim[4] = { l->y.dim[0], l->y.dim[1], l->y.dim[2], oc };
	int y = tfl_step(l, WEFT_OP_CONV2D, &conv, (int[]){ xs, ws, bs }, 3, c->acc, 4, dim, false);
	if (y >= 0 && c->narrow)
		y = tfl_narrow(l, y);
	if (y < 0)
		return y;
	struct tfl_rescale r = { .to = c->y.t, .rounding = WEFT_DOUBLE_ROUND, .y_zp = c->y.zp,
	                         .n = c->w.n > 1 ? oc : 1, .f = c->w.n > 1 ? c->w.f + g * oc : c->w.f };
	return tfl_rescale(l, y, &r, false);
}

/*
 * Emits integer convolution c of x with weights w and bias b as one convolution for each group of ic input
 * channels, joined along the oc channels in all, with the activation, as the operator's result. Returns the
 * result's tensor, -ENOTSUP if there are more than WEFT_OP_MAX_INPUTS groups, or another negative errno.
 */
static int grouped(struct tfl_lower *l, const struct conv *c, int x, int w, int b, int64_t ic, int64_t oc)
{
	int64_t groups = l->g->tensors[x].t.dim[3] / ic;
	weft_attr concat = { .axis = { .axis = 3 } };
	int y[WEFT_OP_MAX_INPUTS];
	int32_t lo, hi;

	if (groups > WEFT_OP_MAX_INPUTS)
		return tfl_fail(l, -ENOTSUP, "%lld groups > %d", (long long)groups, WEFT_OP_MAX_INPUTS);
	int err = tfl_limits(l, c->activation, &c->y, &lo, &hi);
	for (int64_t g = 0; g < groups && !err; g++) {
		y[g] = group(l, c, x, w, b, g, ic, oc / groups);
		err = y[g] < 0 ? y[g] : 0;
	}
	if (err)
		return err;
	bool clamp = tfl_tighter(c->y.t, lo, hi);
	int z = tfl_step(l, WEFT_OP_CONCAT, &concat, y, (int)groups, c->y.t, 4, l->y.dim, !clamp);
	return z < 0 || !clamp ? z : tfl_clamp(l, z, lo, hi, true);
}

/*
 * Returns weights w, [OC,KH,KW,1], in the order that a depthwise operator on that many channels takes,
 * [KH,KW,channels,OC/channels]: a new constant, or a TRANSPOSE of computed ones. Returns the graph tensor, or a
 * negative errno.
 */
static int depthwise_order(struct tfl_lower *l, int w, int64_t channels)
{
	weft_attr perm = { .perm = { { 2, 3, 0, 1 } } };
	weft_tensor t = l->g->tensors[w].t;
	int64_t oc = t.dim[0], taps = t.dim[1] * t.dim[2];
	const size_t elem = weft_dtype_bytes(t.dtype);

	if (!t.data) {
		w = tfl_reshape(l, w, 4, (int64_t[]){ channels, oc / channels, t.dim[1], t.dim[2] });
		return w < 0 ? w : tfl_step(l, WEFT_OP_TRANSPOSE, &perm, &w, 1, t.dtype, 4,
		                            (int64_t[]){ t.dim[1], t.dim[2], channels, oc / channels }, false);
	}
	uint8_t *data = tfl_alloc(l, oc * taps, elem);

	if (!data)
		return l->err;
	for (int64_t o = 0; o < oc; o++)
		for (int64_t k = 0; k < taps; k++)
			memcpy(data + (size_t)(k * oc + o) * elem, (const uint8_t *)t.data + (size_t)(o * taps + k) * elem, elem);
	return tfl_data(l, "weights", t.dtype, 4, (int64_t[]){ t.dim[1], t.dim[2], channels, oc / channels }, data);
}

/*
 * Emits integer convolution c of x with weights w and bias b by operator op (CONV2D or
 * DEPTHWISE_CONV2D), requantised to oc output channels and with the activation, as the operator's
 * result. Returns the result's tensor, or a negative errno.
 */
static int conv_operator(struct tfl_lower *l, const struct conv *c, weft_opcode op, int x, int w, int b, int64_t oc)
{
	weft_attr a = attributes(c);
	int64_t dim[4] = { l->g->tensors[x].t.dim[0], c->window[0].out, c->window[1].out, oc };
	int y = tfl_step(l, op, &a, (int[]){ x, w, b }, 3, c->acc, 4, dim, false);

	if (y >= 0 && c->narrow)
		y = tfl_narrow(l, y);
	return y < 0 ? y : tfl_requantise(l, y, c->w.n, c->w.f, c->activation, true);
}

/*
 * Emits convolution c of float32 x with weights w by operator op (CONV2D or DEPTHWISE_CONV2D), with
 * bias (operand 2) and activation, as the operator's result of oc channels. If the weights are
 * integers, each image is quantised by itself, symmetrically if op is CONV2D and the weights have a
 * single scale, or are uint8, of which the kernel knows the first scale alone. Returns the result's tensor, or a negative errno.
 */
static int real_operator(struct tfl_lower *l, const struct conv *c, weft_opcode op, int x, int w, int64_t oc)
{
	const weft_tensor t = l->g->tensors[x].t;
	const struct tfl_tensor *f = tfl_file_tensor(l, tfl_operand(l, 1));
	struct tfl_real r = { .op = op, .attr = attributes(c), .dim = { t.dim[0], c->window[0].out, c->window[1].out, oc },
	                      .rows = t.dim[0], .columns = oc, .k_bias = 2, .window = c->window,
	                      .one_scale = op == WEFT_OP_CONV2D && f->type == TFL_UINT8,
	                      .symmetric = op == WEFT_OP_CONV2D && (f->scale.n == 1 || f->type == TFL_UINT8) };

	r.dense = r.symmetric;

	return tfl_real_result(l, tfl_real_product(l, &r, x, w), tfl_or_finite(c->activation));
}

/*
 * Emits computed weights w, [OC,KH,KW,IC of a group], for all ic input channels, with the weight `zero` for those of
 * other groups: a PAD of each group's, joined. Returns the graph tensor, -ENOTSUP if there are more than
 * WEFT_OP_MAX_INPUTS groups, or another negative errno.
 */
static int ungrouped_computed(struct tfl_lower *l, int w, int64_t ic, int zero)
{
	weft_tensor t = l->g->tensors[w].t;
	const int64_t each = t.dim[3], n = ic / each, oc = t.dim[0];
	weft_attr concat = { .axis = { .axis = 0 } };
	int one[WEFT_OP_MAX_INPUTS];

	if (n > WEFT_OP_MAX_INPUTS)
		return tfl_fail(l, -ENOTSUP, "%lld groups of computed weights > %d", (long long)n, WEFT_OP_MAX_INPUTS);
	t.dim[0] = oc / n;
	t.dim[3] = ic;
	for (int64_t g = 0; g < n; g++) {
		weft_attr pad = { .pad = { .before = { 0, 0, 0, (int32_t)(g * each) }, .after = { 0, 0, 0, (int32_t)(ic - (g + 1) * each) },
		                           .value = zero } };
		one[g] = part(l, w, "weights", g * t.dim[0], t.dim[0]);
		if (one[g] < 0 || (one[g] = tfl_step(l, WEFT_OP_PAD, &pad, &one[g], 1, t.dtype, 4, t.dim, false)) < 0)
			return one[g];
	}
	t.dim[0] = oc;
	return tfl_step(l, WEFT_OP_CONCAT, &concat, one, (int)n, t.dtype, 4, t.dim, false);
}

/*
 * Returns weights w, [OC,KH,KW,IC of a group], for all ic input channels: 0 for those of other groups, which leaves
 * every sum as it is; a new constant, or a tensor computed from computed ones. Returns the graph tensor, or a negative
 * errno, among them those of ungrouped_computed().
 */
static int ungrouped(struct tfl_lower *l, int w, int64_t ic)
{
	const weft_tensor t = l->g->tensors[w].t;
	const bool is_uint8 = tfl_file_tensor(l, tfl_operand(l, 1))->type == TFL_UINT8;

	if (!t.data)
		return ungrouped_computed(l, w, ic, is_uint8 ? INT8_MIN : 0);
	const int64_t oc = t.dim[0], taps = t.dim[1] * t.dim[2], each = t.dim[3], per_group = oc / (ic / each);
	const size_t elem = weft_dtype_bytes(t.dtype);
	uint8_t *data = tfl_alloc(l, oc * taps * ic, elem);

	if (!data)
		return l->err;
	/* 0 for the kernel: of uint8 weights, whose bytes it takes as int8, the graph has -128 (tfl_real_product()) */
	memset(data, is_uint8 ? 0x80 : 0, (size_t)(oc * taps * ic) * elem);
	for (int64_t o = 0; o < oc; o++)
		for (int64_t k = 0; k < taps; k++)
			memcpy(data + (size_t)((o * taps + k) * ic + o / per_group * each) * elem,
			       (const uint8_t *)t.data + (size_t)((o * taps + k) * each) * elem, (size_t)each * elem);
	return tfl_data(l, "weights", t.dtype, 4, (int64_t[]){ oc, t.dim[1], t.dim[2], ic }, data);
}

/*
 * Emits the CONV_2D c of float32 x, whose weights (operand 1) have shape *w, as the operator's
 * result; groups become depthwise if each has one channel, else zeros among the weights. Returns the
 * result's tensor, or a negative errno.
 */
static int real_conv(struct tfl_lower *l, const struct conv *c, int x, const weft_tensor *w)
{
	int64_t ic = l->g->tensors[x].t.dim[3], oc = w->dim[0];
	int iw = tfl_weights_as(l, 1, 4, w->dim);

	if (iw < 0)
		return iw;
	if (w->dim[3] == ic)
		return real_operator(l, c, WEFT_OP_CONV2D, x, iw, oc);
	if (w->dim[3] != 1) {
		iw = ungrouped(l, iw, ic);
		return iw < 0 ? iw : real_operator(l, c, WEFT_OP_CONV2D, x, iw, oc);
	}
	int dw = depthwise_order(l, iw, ic);
	return dw < 0 ? dw : real_operator(l, c, WEFT_OP_DEPTHWISE_CONV2D, x, dw, oc);
}

/*
 * Lowers CONV_2D of operand 0 (integers or float32) by the weights in operand 1, also with groups, with bias
 * (operand 2) and activation. It becomes CONV2D; DEPTHWISE_CONV2D if each group has one channel; otherwise
 * with groups of integers a convolution for each group, of float32 one with zeros for the other groups.
 * Returns the result's tensor, -EINVAL if channels do not fit each other or ranks are not 4, -ENOTSUP for
 * types or groups that are not supported, or another negative errno.
 */
int tfl_lower_conv(struct tfl_lower *l)
{
	struct conv c = { 0 };
	weft_tensor w;
	int x, err;

	if ((err = tfl_option(l, OPTIONS_CONV, CONV_PADDING, 1, 0, &c.padding)) ||
	    (err = tfl_option(l, OPTIONS_CONV, CONV_STRIDE_H, 4, 0, &c.stride[0])) ||
	    (err = tfl_option(l, OPTIONS_CONV, CONV_STRIDE_W, 4, 0, &c.stride[1])) ||
	    (err = tfl_option(l, OPTIONS_CONV, CONV_DILATION_H, 4, 1, &c.dilation[0])) ||
	    (err = tfl_option(l, OPTIONS_CONV, CONV_DILATION_W, 4, 1, &c.dilation[1])) ||
	    (err = tfl_limiting(l, OPTIONS_CONV, CONV_ACTIVATION, &c.activation)) ||
	    (err = operands(l, &c, &x, &w)) || (err = windows(l, &c, x)))
		return err;
	int64_t ic = l->g->tensors[x].t.dim[3], oc = w.dim[0];
	if (ic % w.dim[3] || oc % (ic / w.dim[3]))
		return tfl_fail(l, -EINVAL, "%lld input channels, %lld weight channels, %lld outputs", (long long)ic,
		                (long long)w.dim[3], (long long)oc);
	if (c.real)
		return real_conv(l, &c, x, &w);
	if ((err = tfl_weight_factors(l, 0, oc, c.x.scale, c.y.scale, false, &c.w)))
		return err;
	int iw = tfl_weights_as(l, 1, 4, w.dim);
	int ib = iw < 0 ? iw : tfl_bias(l, 2, oc, c.acc, &c.narrow);
	int y = ib < 0 ? ib : tfl_trim(l, x, c.window);
	if (y >= 0 && w.dim[3] == ic) {
		y = conv_operator(l, &c, WEFT_OP_CONV2D, y, iw, ib, oc);
	} else if (y >= 0 && w.dim[3] == 1) {
		int dw = depthwise_order(l, iw, ic);
		y = dw < 0 ? dw : conv_operator(l, &c, WEFT_OP_DEPTHWISE_CONV2D, y, dw, ib, oc);
	} else if (y >= 0) {
		y = grouped(l, &c, y, iw, ib, w.dim[3], oc);
	}
	free(c.w.f);
	return y;
}

/*
 * Lowers DEPTHWISE_CONV_2D of integers or float32, with bias and activation. Returns the result's tensor;
 * -EINVAL if a rank is not 4, the weights' first dimension not 1, their last no multiple of the input's
 * channels, or the multiplier (unless it is 0) not the quotient of the two; -ENOTSUP for types that are
 * not supported; or another negative errno.
 */
int tfl_lower_depthwise(struct tfl_lower *l)
{
	struct conv c = { 0 };
	weft_tensor w;
	int x, multiplier, err;

	if ((err = tfl_option(l, OPTIONS_DEPTHWISE, DW_PADDING, 1, 0, &c.padding)) ||
	    (err = tfl_option(l, OPTIONS_DEPTHWISE, DW_STRIDE_H, 4, 0, &c.stride[0])) ||
	    (err = tfl_option(l, OPTIONS_DEPTHWISE, DW_STRIDE_W, 4, 0, &c.stride[1])) ||
	    (err = tfl_option(l, OPTIONS_DEPTHWISE, DW_DILATION_H, 4, 1, &c.dilation[0])) ||
	    (err = tfl_option(l, OPTIONS_DEPTHWISE, DW_DILATION_W, 4, 1, &c.dilation[1])) ||
	    (err = tfl_option(l, OPTIONS_DEPTHWISE, DW_MULTIPLIER, 4, 0, &multiplier)) ||
	    (err = tfl_limiting(l, OPTIONS_DEPTHWISE, DW_ACTIVATION, &c.activation)) ||
	    (err = operands(l, &c, &x, &w)) || (err = windows(l, &c, x)))
		return err;
	int64_t ic = l->g->tensors[x].t.dim[3], oc = w.dim[3];
	if (w.dim[0] != 1 || oc % ic || (multiplier && multiplier != oc / ic))
		return tfl_fail(l, -EINVAL, "weights %lldx..x%lld for %lld channels with multiplier %d", (long long)w.dim[0],
		                (long long)oc, (long long)ic, multiplier);
	if (c.real) {
		int dw = tfl_weights_as(l, 1, 4, (int64_t[]){ w.dim[1], w.dim[2], ic, oc / ic });
		return dw < 0 ? dw : real_operator(l, &c, WEFT_OP_DEPTHWISE_CONV2D, x, dw, oc);
	}
	if ((err = tfl_weight_factors(l, 3, oc, c.x.scale, c.y.scale, false, &c.w)))
		return err;
	int iw = tfl_weights_as(l, 1, 4, (int64_t[]){ w.dim[1], w.dim[2], ic, oc / ic });
	int ib = iw < 0 ? iw : tfl_bias(l, 2, oc, c.acc, &c.narrow);
	int y = ib < 0 ? ib : tfl_trim(l, x, c.window);
	if (y >= 0)
		y = conv_operator(l, &c, WEFT_OP_DEPTHWISE_CONV2D, y, iw, ib, oc);
	free(c.w.f);
	return y;
}

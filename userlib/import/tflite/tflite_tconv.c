/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TRANSPOSE_CONV: its operands are the result's shape, weights [OC,KH,KW,IC],
 * the input, and perhaps a bias.
 *
 * TFLite pads as the convolution from the result to the input would: input
 * element i adds to results i*stride - before + k. TOSA's out_pad is therefore
 * -before in front, and behind it is whatever gives the extent the file states.
 */
#include <errno.h>
#include <stdlib.h>

#include "tflite_lower.h"

/* The TRANSPOSE_CONV at hand. */
struct tconv {
	struct tfl_quant x, y;         /* quantisation of image and result */
	struct tfl_weights w;          /* factors from sums to the result */
	int padding, stride[2], activation;   /* TFL_SAME or TFL_VALID; for rows and columns; the fused activation */
	weft_dtype acc;                /* type of the sums */
	weft_tensor wt;                /* type and shape of the weights */
};

/*
 * Sets c->x and c->y (quantisation of image and result), c->acc and c->wt for the TRANSPOSE_CONV at hand.
 * The caller has zeroed *c, apart from the options. If the image is float32, x and y stay as they were,
 * and acc, which then says nothing, becomes int32. Returns the graph tensor of the image, operand 2;
 * -ENOTSUP if for an image of integers the result is not of as many bits or the weights are not int8 or
 * uint8, while for float32 neither is checked here; -EINVAL if image, weights or result has another rank
 * than 4, or weights and image have different numbers of channels; or another negative errno.
 */
static int operands(struct tfl_lower *l, struct tconv *c)
{
	bool real = tfl_is_float(l, 2);
	int err = real ? 0 : tfl_need_result(l, TFL_Q8_16, &c->y), i_w;
	int x = err ? err : real ? tfl_value(l, 2) : tfl_quant_value(l, 2, TFL_Q8_16, &c->x);

	if (x < 0)
		return x;
	if (c->x.t != c->y.t)
		return tfl_fail(l, -ENOTSUP, "%s into %s", weft_dtype_name(c->x.t), weft_dtype_name(c->y.t));
	if ((i_w = tfl_operand(l, 1)) < 0 || (err = tfl_shape(l, i_w, &c->wt)))
		return i_w < 0 ? i_w : err;
	weft_tensor t = l->g->tensors[x].t;
	if (t.rank != 4 || c->wt.rank != 4 || l->y.rank != 4 || c->wt.dim[3] != t.dim[3])
		return tfl_fail(l, -EINVAL, "ranks %d, %d and %d, not 4, or %lld weight channels for %lld", t.rank, c->wt.rank,
		                l->y.rank, (long long)c->wt.dim[3], (long long)t.dim[3]);
	if (!real && c->wt.dtype != WEFT_INT8)
		return tfl_fail(l, -ENOTSUP, "weights are %s, not int8", weft_dtype_name(c->wt.dtype));
	c->acc = c->x.t == WEFT_INT16 ? WEFT_INT48 : WEFT_INT32;
	return x;
}

/*
 * Checks that the shape in operand 0, if that is constant, is the result's. Returns 0, -EINVAL if
 * it is not, or another negative errno.
 */
static int check_shape(struct tfl_lower *l)
{
	int64_t v[4];

	if (!tfl_is_const(l, 0))
		return 0;
	int n = tfl_ints(l, 0, 4, v);
	for (int i = 0; i < n; i++)
		if (i < l->y.rank && v[i] != l->y.dim[i])
			n = tfl_fail(l, -EINVAL, "tensor %d: file says dimension %d is %lld, operand 0 %lld", l->i_y, i,
			             (long long)l->y.dim[i], (long long)v[i]);
	return n < 0 ? n : 0;
}

/*
 * Sets pad to the top, bottom, left and right padding that makes the result of transposed
 * convolution c of an image of dimensions x as large as the file says; negative padding cuts off.
 * Returns 0, -ENOTSUP if TOSA cannot pad so, or another negative errno.
 */
static int paddings(struct tfl_lower *l, const struct tconv *c, const int64_t *x, int32_t pad[4])
{
	for (int i = 0; i < 2; i++) {
		struct tfl_window w;
		int64_t k = c->wt.dim[1 + i], stride = c->stride[i], out = l->y.dim[1 + i];
		int err = tfl_window(l, c->padding, out, k, stride, 1, &w);
		if (err)
			return err;
		int64_t after = out - (x[1 + i] - 1) * stride - k + w.before;
		if (w.before >= k || after <= -k || after > INT32_MAX / 2)
			return tfl_fail(l, -ENOTSUP, "axis %d: %lld elements, kernel %lld, stride %lld into %lld", i,
			                (long long)x[1 + i], (long long)k, (long long)stride, (long long)out);
		pad[2 * i] = -w.before;
		pad[2 * i + 1] = (int32_t)after;
	}
	return 0;
}

/*
 * Emits transposed convolution c of float32 x with padding pad, bias (operand 3) and activation as
 * the operator's result. Returns the result's tensor, or a negative errno.
 */
static int real_operator(struct tfl_lower *l, const struct tconv *c, int x, const int32_t pad[4])
{
	const weft_tensor t = l->g->tensors[x].t;
	struct tfl_real r = { .op = WEFT_OP_TRANSPOSE_CONV2D, .dim = { t.dim[0], l->y.dim[1], l->y.dim[2], c->wt.dim[0] },
	                      .attr = { .conv = { .pad = { pad[0], pad[1], pad[2], pad[3] }, .stride = { c->stride[0], c->stride[1] },
	                                          .dilation = { 1, 1 }, .acc = WEFT_FP32 } },
	                      .rows = t.dim[0], .columns = c->wt.dim[0], .k_bias = 3 };
	int w = tfl_weights_as(l, 1, 4, c->wt.dim);

	return w < 0 ? w : tfl_real_result(l, tfl_real_product(l, &r, x, w), tfl_or_finite(c->activation));
}

/*
 * Emits transposed convolution c of integer x with padding pad and bias (operand 3), requantised
 * and with the activation, as the operator's result. Returns the result's tensor, or a negative
 * errno.
 */
static int tconv_operator(struct tfl_lower *l, const struct tconv *c, int x, const int32_t pad[4])
{
	int64_t oc = c->wt.dim[0], dim[4] = { l->g->tensors[x].t.dim[0], l->y.dim[1], l->y.dim[2], oc };
	weft_attr a = { .conv = { .pad = { pad[0], pad[1], pad[2], pad[3] }, .stride = { c->stride[0], c->stride[1] },
	                          .dilation = { 1, 1 }, .x_zp = c->x.zp, .w_zp = c->w.zp, .acc = c->acc } };
	bool narrow;
	int w = tfl_weights_as(l, 1, 4, c->wt.dim), b = w < 0 ? w : tfl_bias(l, 3, oc, c->acc, &narrow);

	if (b < 0)
		return b;
	int y = tfl_step(l, WEFT_OP_TRANSPOSE_CONV2D, &a, (int[]){ x, w, b }, 3, c->acc, 4, dim, false);
	if (y >= 0 && narrow)
		y = tfl_narrow(l, y);
	return y < 0 ? y : tfl_requantise(l, y, c->w.n, c->w.f, c->activation, true);
}

/*
 * Lowers TRANSPOSE_CONV of operand 2, 8-bit, int16 or float32 images, by the weights in operand 1, with
 * bias (operand 3) and activation, to a result of the shape in operand 0. Returns the result's tensor;
 * -ENOTSUP for types that do not go together or paddings that TOSA does not have; -EINVAL for ranks,
 * channels or a shape that do not fit; or another negative errno.
 */
int tfl_lower_transpose_conv(struct tfl_lower *l)
{
	struct tconv c = { 0 };
	int32_t pad[4];
	int x, err;

	if ((err = tfl_option(l, OPTIONS_TRANSPOSE_CONV, TCONV_PADDING, 1, 0, &c.padding)) ||
	    (err = tfl_option(l, OPTIONS_TRANSPOSE_CONV, TCONV_STRIDE_H, 4, 0, &c.stride[0])) ||
	    (err = tfl_option(l, OPTIONS_TRANSPOSE_CONV, TCONV_STRIDE_W, 4, 0, &c.stride[1])) ||
	    (err = tfl_limiting(l, OPTIONS_TRANSPOSE_CONV, TCONV_ACTIVATION, &c.activation)))
		return err;
	if ((x = operands(l, &c)) < 0)
		return x;
	if ((err = check_shape(l)) || (err = paddings(l, &c, l->g->tensors[x].t.dim, pad)))
		return err;
	if (tfl_is_float(l, 2))
		return real_operator(l, &c, x, pad);
	if ((err = tfl_weight_factors(l, 0, c.wt.dim[0], c.x.scale, c.y.scale, false, &c.w)))
		return err;
	int y = tconv_operator(l, &c, x, pad);
	free(c.w.f);
	return y;
}

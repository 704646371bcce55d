/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FULLY_CONNECTED: a product of [M,K] by [OC,K], emitted as a 1x1 convolution over M
 * images.
 *
 * The input may have any shape of M * K elements; the result has the shape that
 * the file states, of M * OC elements.
 */
#include <errno.h>
#include <stdlib.h>

#include "tflite_lower.h"

/* The FULLY_CONNECTED at hand, of integers. */
struct dense {
	weft_tensor w;             /* type and shape [OC,K] of the weights */
	struct tfl_quant x, y;     /* quantisation of input and result */
	struct tfl_weights f;      /* factors from sums to the result */
	int activation;            /* the fused activation */
};

/* Adds the least and the greatest product of a weight v, less its zero point, and any of low..high, a range with 0, n times to *from and *to. */
static void add_products(int64_t v, int64_t low, int64_t high, int64_t n, int64_t *from, int64_t *to)
{
	*from += n * (v > 0 ? v * low : v * high);
	*to += n * (v > 0 ? v * high : v * low);
}

/*
 * Sets *from and *to to the least and the greatest sum that weights w, one row of d->w.dim[1]
 * elements, or NULL for any such row, can give with any input, plus a bias of bias[0] to bias[1].
 * If narrow is set, sums have 32 bits; if these can wrap, the range is that of int32.
 */
static void row_sums(const struct dense *d, const int8_t *w, const int64_t bias[2], bool narrow, int64_t *from, int64_t *to)
{
	const int64_t low = tfl_type_min(d->x.t) - d->x.zp, high = -1 - tfl_type_min(d->x.t) - d->x.zp, n = d->w.dim[1];
	int64_t ends[2][2] = { { 0 } };

	*from = bias[0];
	*to = bias[1];
	for (int64_t k = 0; w && k < n; k++)
		add_products(w[k] - d->f.zp, low, high, 1, from, to);
	/* Of any weights the least sum has one end of their range throughout, and the greatest one, too. */
	for (int i = 0; i < 2; i++)
		add_products((i ? INT8_MAX : INT8_MIN) - d->f.zp, low, high, n, &ends[i][0], &ends[i][1]);
	if (!w) {
		*from += ends[0][0] < ends[1][0] ? ends[0][0] : ends[1][0];
		*to += ends[0][1] > ends[1][1] ? ends[0][1] : ends[1][1];
	}
	if (narrow && (*from < INT32_MIN || *to > INT32_MAX)) {
		*from = INT32_MIN;
		*to = INT32_MAX;
	}
}

/*
 * Sets range to the least and the greatest bias of channel c: twice the one in constant b of int48 or int32, which has
 * one element for each channel or one for all; all that the type holds if b is computed.
 */
static void bias_range(const weft_tensor *b, int64_t c, int64_t range[2])
{
	const int64_t i = weft_tensor_elements(b) > 1 ? c : 0, top = INT64_C(1) << (b->dtype == WEFT_INT48 ? 47 : 31);

	range[0] = !b->data ? -top : b->dtype == WEFT_INT48 ? ((const int64_t *)b->data)[i] : ((const int32_t *)b->data)[i];
	range[1] = b->data ? range[0] : top - 1;
}

/*
 * Emits sums y requantised by LiteRT's rule, in which the scale is applied in float64 with one
 * rounding, with the activation. w and b are the tensors of weights and bias; narrow: sums have 32
 * bits; last: the result is the operator's own. Returns the graph tensor, or a negative errno.
 */
static int exactly(struct tfl_lower *l, const struct dense *d, int y, int w, int b, bool narrow, bool last)
{
	const struct tfl_tensor *ft = tfl_file_tensor(l, tfl_operand(l, 1));
	const int64_t oc = d->w.dim[0];
	float *scale = tfl_alloc(l, d->f.n, sizeof *scale);
	int64_t *from = scale ? tfl_alloc(l, 2 * oc, sizeof *from) : NULL;
	int r = l->err;

	const int8_t *codes = l->g->tensors[w].t.data;
	for (int64_t c = 0; from && c < oc; c++) {
		int64_t bias[2];
		bias_range(&l->g->tensors[b].t, c, bias);
		row_sums(d, codes ? codes + c * d->w.dim[1] : NULL, bias, narrow, &from[c], &from[oc + c]);
	}
	for (int64_t c = 0; from && c < d->f.n; c++)
		scale[c] = fb_f32_at(&l->m->b, &ft->scale, (uint32_t)c);
	if (from) {
		struct tfl_exact e = { .x_scale = d->x.scale, .w_scale = scale, .n = d->f.n, .channels = oc, .from = from, .to = from + oc };
		r = tfl_requantise_exact(l, y, &e, d->activation, last);
	}
	free(scale);
	free(from);
	return r;
}

/*
 * Emits FULLY_CONNECTED d of integer x as a convolution with a kernel of 1 by 1, requantised and with the
 * activation, as the operator's result. Requantisation follows LiteRT's rule in float64 if that runtime's
 * bits are wanted, otherwise it is a RESCALE. Returns the result's tensor, or a negative errno.
 */
static int dense(struct tfl_lower *l, const struct dense *d, int x)
{
	const weft_tensor *w = &d->w;
	int64_t m = weft_tensor_elements(&l->g->tensors[x].t) / w->dim[1];
	int64_t dim[4] = { m, 1, 1, w->dim[0] };
	weft_dtype acc = d->x.t == WEFT_INT16 ? WEFT_INT48 : WEFT_INT32;
	weft_attr conv = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .x_zp = d->x.zp, .w_zp = d->f.zp, .acc = acc } };
	bool flat = l->y.rank == 4 && l->y.dim[0] == m && l->y.dim[3] == dim[3];
	bool narrow;
	int iw, ib, y;

	if ((iw = tfl_weights_as(l, 1, 4, (int64_t[]){ w->dim[0], 1, 1, w->dim[1] })) < 0)
		return iw;
	if ((ib = tfl_bias(l, 2, w->dim[0], acc, &narrow)) < 0)
		return ib;
	if ((x = tfl_reshape(l, x, 4, (int64_t[]){ m, 1, 1, w->dim[1] })) < 0)
		return x;
	if ((y = tfl_step(l, WEFT_OP_CONV2D, &conv, (int[]){ x, iw, ib }, 3, acc, 4, dim, false)) < 0)
		return y;
	if (narrow && (y = tfl_narrow(l, y)) < 0)
		return y;
	if (tfl_is_litert(l))
		y = exactly(l, d, y, iw, ib, narrow || acc == WEFT_INT32, flat);
	else
		y = tfl_requantise(l, y, d->f.n, d->f.f, d->activation, flat);
	return y < 0 || flat ? y : tfl_step(l, WEFT_OP_RESHAPE, NULL, &y, 1, l->y.dtype, l->y.rank, l->y.dim, true);
}

/*
 * Emits the FULLY_CONNECTED at hand of float32 by weights of float32, int8 or int4, with the activation,
 * as its result; each row of the input is quantised with a zero point if asymmetric, the operator's
 * option, is not 0. Returns the result's tensor, -EINVAL if the shapes do not fit or the result is not
 * float32 in the file, -ENOTSUP for other weights, or for TANH or SIGN_BIT with weights
 * of float32, of which LiteRT has no kernel, or another negative errno.
 */
static int real(struct tfl_lower *l, int activation, int asymmetric)
{
	weft_attr a = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_FP32 } };
	int x = tfl_value(l, 0), i_w = x < 0 ? x : tfl_operand(l, 1), w;
	weft_tensor t;

	if (i_w < 0 || tfl_shape(l, i_w, &t))
		return i_w < 0 ? i_w : l->err;
	int64_t n = weft_tensor_elements(&l->g->tensors[x].t), m = t.rank == 2 ? n / t.dim[1] : 0;
	if (t.rank != 2 || n % t.dim[1] || m * t.dim[0] != weft_tensor_elements(&l->y))
		return tfl_fail(l, -EINVAL, "%lld elements by weights of rank %d, %lld x %lld, into %lld", (long long)n, t.rank,
		                (long long)t.dim[0], (long long)t.dim[1], (long long)weft_tensor_elements(&l->y));
	if (t.dtype == WEFT_FP32 && activation > TFL_RELU6)
		return tfl_fail(l, -ENOTSUP, "activation %d with weights of float32; LiteRT has no kernel", activation);
	struct tfl_real r = { .op = WEFT_OP_CONV2D, .attr = a, .dim = { m, 1, 1, t.dim[0] }, .rows = m, .columns = t.dim[0],
	                      .symmetric = !asymmetric, .dense = true, .k_bias = 2 };
	if ((w = tfl_weights_as(l, 1, 4, (int64_t[]){ t.dim[0], 1, 1, t.dim[1] })) < 0 ||
	    (x = tfl_reshape(l, x, 4, (int64_t[]){ m, 1, 1, t.dim[1] })) < 0)
		return w < 0 ? w : x;
	/* The kernel of float32 weights limits its sums; that of 8 bits does not. */
	if (t.dtype == WEFT_FP32)
		activation = tfl_or_finite(activation);
	return tfl_real_result(l, tfl_real_product(l, &r, x, w), activation);
}

/*
 * Lowers FULLY_CONNECTED of 8-bit, int16 or float32 input, with bias and activation. Returns the result's
 * tensor or a negative errno, among others -ENOTSUP if the input has another type; if for an input of
 * integers the result is not of as many bits, or the weights are neither int8 nor uint8 (nor int4 for an
 * 8-bit input) or not of rank 2; if for float32 the weights are none of float32, int8, uint8 and int4;
 * or if the option names another format of weights than the plain one; and
 * -EINVAL if the shapes do not fit, or for float32 if the weights are not of rank 2 or the result is not
 * float32.
 */
int tfl_lower_fully_connected(struct tfl_lower *l)
{
	struct dense d = { .activation = 0 };
	int format, asymmetric, x, i_w, err;

	if ((err = tfl_activation(l, OPTIONS_FULLY_CONNECTED, FC_ACTIVATION, &d.activation)) ||
	    (err = tfl_option(l, OPTIONS_FULLY_CONNECTED, FC_FORMAT, 1, 0, &format)) ||
	    (err = tfl_option(l, OPTIONS_FULLY_CONNECTED, FC_ASYMMETRIC, 1, 0, &asymmetric)))
		return err;
	if (format)
		return tfl_fail(l, -ENOTSUP, "weights format %d is not supported", format);
	if (tfl_is_float(l, 0))
		return real(l, d.activation, asymmetric);
	if ((err = tfl_need_result(l, TFL_Q8_16, &d.y)))
		return err;
	if ((x = tfl_quant_value(l, 0, TFL_Q8_16, &d.x)) < 0)
		return x;
	if (d.x.t != d.y.t)
		return tfl_fail(l, -ENOTSUP, "%s into %s", weft_dtype_name(d.x.t), weft_dtype_name(d.y.t));
	if ((i_w = tfl_operand(l, 1)) < 0 || (err = tfl_shape(l, i_w, &d.w)))
		return i_w < 0 ? i_w : err;
	const weft_tensor *w = &d.w;
	if (w->rank != 2 || (w->dtype != WEFT_INT8 && (w->dtype != WEFT_INT4 || d.x.t == WEFT_INT16)))
		return tfl_fail(l, -ENOTSUP, "weights are %s of rank %d, not int8 of rank 2", weft_dtype_name(w->dtype), w->rank);
	int64_t n = weft_tensor_elements(&l->g->tensors[x].t);
	if (n % w->dim[1] || n / w->dim[1] * w->dim[0] != weft_tensor_elements(&l->y))
		return tfl_fail(l, -EINVAL, "%lld elements by weights %lld x %lld into %lld", (long long)n, (long long)w->dim[0],
		                (long long)w->dim[1], (long long)weft_tensor_elements(&l->y));
	if ((err = tfl_weight_factors(l, 0, w->dim[0], d.x.scale, d.y.scale, true, &d.f)))
		return err;
	int y = dense(l, &d, x);
	free(d.f.f);
	return y;
}

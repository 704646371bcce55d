/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FULLY_CONNECTED: [M,K] by [OC,K] as a 1x1 convolution over M images.
 *
 * The input may have any rank whose last elements make up K; the result has
 * the shape that the file states, M x OC elements.
 */
#include <errno.h>
#include <stdlib.h>

#include "tflite_lower.h"

static int dense(struct tfl_lower *l, int x, const weft_tensor *w, const struct tfl_quant *xq, const struct tfl_weights *wq,
                 int activation)
{
	int64_t m = weft_tensor_elements(&l->g->tensors[x].t) / w->dim[1];
	int64_t dim[4] = { m, 1, 1, w->dim[0] };
	weft_dtype acc = xq->t == WEFT_INT16 ? WEFT_INT48 : WEFT_INT32;
	weft_attr conv = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .x_zp = xq->zp, .w_zp = wq->zp, .acc = acc } };
	bool flat = l->y.rank == 4 && l->y.dim[0] == m && l->y.dim[3] == dim[3];
	bool narrow;
	int iw, ib, y;

	if ((iw = tfl_const_as(l, 1, 4, (int64_t[]){ w->dim[0], 1, 1, w->dim[1] })) < 0)
		return iw;
	if ((ib = tfl_bias(l, 2, w->dim[0], acc, &narrow)) < 0)
		return ib;
	if ((x = tfl_reshape(l, x, 4, (int64_t[]){ m, 1, 1, w->dim[1] })) < 0)
		return x;
	if ((y = tfl_step(l, WEFT_OP_CONV2D, &conv, (int[]){ x, iw, ib }, 3, acc, 4, dim, false)) < 0)
		return y;
	if (narrow && (y = tfl_narrow(l, y)) < 0)
		return y;
	y = tfl_requantise(l, y, wq->n, wq->f, activation, flat);
	return y < 0 || flat ? y : tfl_step(l, WEFT_OP_RESHAPE, NULL, &y, 1, l->y.dtype, l->y.rank, l->y.dim, true);
}

int tfl_lower_fully_connected(struct tfl_lower *l)
{
	struct tfl_quant xq, yq;
	struct tfl_weights wq;
	weft_tensor w;
	int activation, format, x, i_w, err;

	if ((err = tfl_option(l, OPTIONS_FULLY_CONNECTED, FC_ACTIVATION, 1, 0, &activation)) ||
	    (err = tfl_option(l, OPTIONS_FULLY_CONNECTED, FC_FORMAT, 1, 0, &format)) ||
	    (err = tfl_need_result(l, TFL_Q8_16, &yq)))
		return err;
	if (format)
		return tfl_fail(l, -ENOTSUP, "weights format %d is not supported", format);
	if ((x = tfl_quant_value(l, 0, TFL_Q8_16, &xq)) < 0)
		return x;
	if (xq.t != yq.t)
		return tfl_fail(l, -ENOTSUP, "%s into %s", weft_dtype_name(xq.t), weft_dtype_name(yq.t));
	if ((i_w = tfl_operand(l, 1)) < 0 || (err = tfl_shape(l, i_w, &w)))
		return i_w < 0 ? i_w : err;
	if (w.rank != 2 || (w.dtype != WEFT_INT8 && (w.dtype != WEFT_INT4 || xq.t == WEFT_INT16)))
		return tfl_fail(l, -ENOTSUP, "weights are %s of rank %d, not int8 of rank 2", weft_dtype_name(w.dtype), w.rank);
	int64_t n = weft_tensor_elements(&l->g->tensors[x].t);
	if (n % w.dim[1] || n / w.dim[1] * w.dim[0] != weft_tensor_elements(&l->y))
		return tfl_fail(l, -EINVAL, "%lld elements by weights %lld x %lld into %lld", (long long)n, (long long)w.dim[0],
		                (long long)w.dim[1], (long long)weft_tensor_elements(&l->y));
	if ((err = tfl_weight_factors(l, 0, w.dim[0], xq.scale, yq.scale, true, &wq)))
		return err;
	int y = dense(l, x, &w, &xq, &wq, activation);
	free(wq.f);
	return y;
}

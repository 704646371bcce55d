/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AVERAGE_POOL_2D and MAX_POOL_2D.
 *
 * TFLite averages raw values over the elements inside the image and rounds
 * half away from zero: AVG_POOL2D with both zero points 0. Raw uint8 values
 * are 128 more than ours and never negative; zero point -128 restores that.
 */
#include <errno.h>

#include "tflite_lower.h"

/* The pool's options; pairs are for rows, then columns. padding is TFL_SAME or TFL_VALID. */
struct options {
	int padding, stride[2], filter[2], activation;
};

/*
 * Sets *o to padding, strides and filter extents (rows, then columns) and the activation of the
 * pool at hand. Returns 0 or -EINVAL.
 */
static int read_options(struct tfl_lower *l, struct options *o)
{
	int err;

	if ((err = tfl_option(l, OPTIONS_POOL, POOL_PADDING, 1, 0, &o->padding)) ||
	    (err = tfl_option(l, OPTIONS_POOL, POOL_STRIDE_H, 4, 0, &o->stride[0])) ||
	    (err = tfl_option(l, OPTIONS_POOL, POOL_STRIDE_W, 4, 0, &o->stride[1])) ||
	    (err = tfl_option(l, OPTIONS_POOL, POOL_FILTER_H, 4, 0, &o->filter[0])) ||
	    (err = tfl_option(l, OPTIONS_POOL, POOL_FILTER_W, 4, 0, &o->filter[1])))
		return err;
	return tfl_limiting(l, OPTIONS_POOL, POOL_ACTIVATION, &o->activation);
}

/*
 * Emits the integer pool at hand of x with windows w (rows, then columns), limited to lo..hi if
 * that is tighter than the type, as the operator's result. Returns the result's tensor, or a
 * negative errno.
 */
static int pool(struct tfl_lower *l, int x, const struct options *o, const struct tfl_window w[2], int32_t lo, int32_t hi)
{
	bool average = l->op->code == TFL_AVERAGE_POOL_2D, clamp = tfl_tighter(l->y.dtype, lo, hi);
	int zp = average && tfl_file_tensor(l, l->i_y)->type == TFL_UINT8 ? -128 : 0;
	weft_attr a = { .pool = {
		.kernel = { o->filter[0], o->filter[1] }, .stride = { o->stride[0], o->stride[1] },
		.pad = { w[0].before, w[0].after, w[1].before, w[1].after },
		.x_zp = zp, .y_zp = zp, .acc = WEFT_INT32,
	} };
	int64_t dim[4] = { l->g->tensors[x].t.dim[0], w[0].out, w[1].out, l->g->tensors[x].t.dim[3] };
	weft_opcode op = average ? WEFT_OP_AVG_POOL2D : WEFT_OP_MAX_POOL2D;
	int y = tfl_step(l, op, &a, &x, 1, l->y.dtype, 4, dim, !clamp);

	return y < 0 || !clamp ? y : tfl_clamp(l, y, lo, hi, true);
}

/*
 * Emits the pool at hand of float32 x with windows w (rows, then columns) and its fused activation
 * as the operator's result. Returns the result's tensor, or a negative errno.
 */
static int real_pool(struct tfl_lower *l, int x, const struct options *o, const struct tfl_window w[2])
{
	weft_attr a = { .pool = {
		.kernel = { o->filter[0], o->filter[1] }, .stride = { o->stride[0], o->stride[1] },
		.pad = { w[0].before, w[0].after, w[1].before, w[1].after }, .acc = WEFT_FP32,
		.nan = l->op->code == TFL_AVERAGE_POOL_2D ? WEFT_NAN_DEFAULT : WEFT_NAN_COMPARE,
		.chain = l->op->code == TFL_AVERAGE_POOL_2D,
	} };
	int64_t dim[4] = { l->g->tensors[x].t.dim[0], w[0].out, w[1].out, l->g->tensors[x].t.dim[3] };
	weft_opcode op = l->op->code == TFL_AVERAGE_POOL_2D ? WEFT_OP_AVG_POOL2D : WEFT_OP_MAX_POOL2D;

	return tfl_real_result(l, tfl_step(l, op, &a, &x, 1, WEFT_FP32, 4, dim, false), tfl_or_finite(o->activation));
}

/*
 * Lowers AVERAGE_POOL_2D and MAX_POOL_2D of 8-bit, int16 or float32 images with the activation;
 * integers have to be quantised like the result. Returns the result's tensor, -ENOTSUP if they are
 * not, -EINVAL if the rank is not 4 or no window fits, or another negative errno.
 */
int tfl_lower_pool(struct tfl_lower *l)
{
	struct options o;
	struct tfl_window w[2];
	struct tfl_quant xq, yq;
	int32_t lo, hi;
	int x, err;

	const bool real = tfl_is_float(l, 0);
	if ((err = read_options(l, &o)) || (!real && (err = tfl_need_result(l, TFL_Q8_16, &yq))))
		return err;
	if ((x = real ? tfl_value(l, 0) : tfl_quant_value(l, 0, TFL_Q8_16, &xq)) < 0)
		return x;
	if (!real && ((err = tfl_same_quant(l, &xq, &yq)) || (err = tfl_limits(l, o.activation, &yq, &lo, &hi))))
		return err;
	if (l->g->tensors[x].t.rank != 4)
		return tfl_fail(l, -EINVAL, "operand 0 has rank %d, not 4", l->g->tensors[x].t.rank);
	for (int i = 0; i < 2 && !err; i++)
		err = tfl_window(l, o.padding, l->g->tensors[x].t.dim[1 + i], o.filter[i], o.stride[i], 1, &w[i]);
	if (err)
		return err;
	x = tfl_trim(l, x, w);
	return x < 0 ? x : real ? real_pool(l, x, &o, w) : pool(l, x, &o, w, lo, hi);
}

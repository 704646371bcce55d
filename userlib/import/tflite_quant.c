/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between quantisations, and the operators that TOSA cannot say exactly:
 * QUANTIZE, DEQUANTIZE, RELU and its kin, SOFTMAX, LOGISTIC.
 */
#include <errno.h>
#include <math.h>

#include "tflite_lower.h"

/* Same result shape as the operand's; the quantisations of both. */
static int unary(struct tfl_lower *l, struct tfl_quant *xq, struct tfl_quant *yq)
{
	int err = tfl_need_int8_result(l, yq);

	return err ? err : tfl_int8_value(l, 0, xq);
}

int tfl_lower_relu(struct tfl_lower *l)
{
	static const int activation[] = { TFL_RELU, TFL_RELU_N1_TO_1, TFL_RELU6 };
	struct tfl_quant xq, yq;
	struct tfl_factor f;
	int32_t lo, hi;
	int x = unary(l, &xq, &yq), err;

	if (x < 0)
		return x;
	if ((err = tfl_limits(l, activation[l->op->code - TFL_CODE_RELU], &yq, &lo, &hi)))
		return err;
	if (xq.scale != yq.scale || xq.zp != yq.zp) {
		if ((err = tfl_factor(l, (double)xq.scale / (double)yq.scale, &f)))
			return err;
		struct tfl_rescale r = { .to = WEFT_INT8, .rounding = WEFT_DOUBLE_ROUND, .x_zp = xq.zp, .y_zp = yq.zp,
		                         .n = 1, .f = &f };
		if ((x = tfl_rescale(l, x, &r, false)) < 0)
			return x;
	}
	return tfl_clamp(l, x, lo, hi, true);
}

/* TFLite fixes the result's quantisation: 1/256, lowest value for 0. */
static int need_256th(struct tfl_lower *l, const struct tfl_quant *y)
{
	if (y->scale == 1.0f / 256 && y->zp == -128)
		return 0;
	return tfl_fail(l, -EINVAL, "result has scale %g and zero point %d (as int8); wants 1/256 and -128", (double)y->scale,
	                (int)y->zp);
}

int tfl_lower_softmax(struct tfl_lower *l)
{
	struct tfl_quant xq, yq;
	weft_attr a;
	float beta = 0;
	int x = unary(l, &xq, &yq), err;

	if (x < 0)
		return x;
	if (l->op->has_options && l->op->options_type == OPTIONS_SOFTMAX) {
		struct fb b = l->m->b;
		b.what = "operator";
		b.index = l->i_op;
		b.msg = l->msg;
		if ((err = fb_float(&b, &l->op->options, SOFTMAX_BETA, 0, &beta)))
			return err;
	}
	if ((err = need_256th(l, &yq)))
		return err;
	if (!((double)beta * (double)xq.scale * (1 << 26) > 1) || !isfinite(beta))
		return tfl_fail(l, -EINVAL, "beta %g times scale %g; above 2^-26", (double)beta, (double)xq.scale);
	a.tfl_softmax = (struct weft_attr_tfl_softmax){ .x_scale = xq.scale, .beta = beta };
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_TFL_SOFTMAX, &a, &x, 1, WEFT_INT8, t.rank, t.dim, true);
}

int tfl_lower_logistic(struct tfl_lower *l)
{
	struct tfl_quant xq, yq;
	weft_attr a;
	int x = unary(l, &xq, &yq), err;

	if (x < 0 || (err = need_256th(l, &yq)))
		return x < 0 ? x : err;
	a.quant = (struct weft_attr_quant){ .x_scale = xq.scale, .x_zp = xq.zp, .y_scale = yq.scale, .y_zp = yq.zp };
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_TFL_LOGISTIC, &a, &x, 1, WEFT_INT8, t.rank, t.dim, true);
}

/* The operand in the file's own type where the graph has it so, or as int8. */
static int edge_value(struct tfl_lower *l, struct tfl_quant *q)
{
	int i = tfl_operand(l, 0);
	int err = i < 0 ? i : tfl_quant(l, i, q);

	if (err)
		return err;
	if (tfl_file_tensor(l, i)->type == TFL_UINT8 && l->raw[i] >= 0 && l->seen[i] < 0) {
		q->zp += 128;
		return l->raw[i];
	}
	return tfl_value(l, 0);
}

/* Whether the result is to be uint8 in the graph too. */
static bool raw_result(const struct tfl_lower *l)
{
	return tfl_file_tensor(l, l->i_y)->type == TFL_UINT8 && l->is_output[l->i_y];
}

/* RESCALE cannot be unsigned on both sides: then the result goes by way of int8. */
static int requantise(struct tfl_lower *l, const struct tfl_quant *yq)
{
	struct tfl_quant xq;
	struct tfl_factor f;
	int x = edge_value(l, &xq), err;

	if (x < 0 || (err = tfl_factor(l, (double)xq.scale / (double)yq->scale, &f)))
		return x < 0 ? x : err;
	bool raw = raw_result(l) && l->g->tensors[x].t.dtype != WEFT_UINT8;
	struct tfl_rescale r = { .to = raw ? WEFT_UINT8 : WEFT_INT8, .rounding = WEFT_DOUBLE_ROUND,
	                         .x_zp = xq.zp, .y_zp = yq->zp + (raw ? 128 : 0), .n = 1, .f = &f };
	return tfl_rescale(l, x, &r, true);
}

int tfl_lower_quantize(struct tfl_lower *l)
{
	struct tfl_quant yq;
	int i = tfl_operand(l, 0), err;

	if (i < 0 || (err = tfl_need_int8_result(l, &yq)))
		return i < 0 ? i : err;
	if (tfl_file_tensor(l, i)->type != TFL_FLOAT32)
		return requantise(l, &yq);
	int x = tfl_value(l, 0);
	if (x < 0)
		return x;
	bool raw = raw_result(l);
	weft_attr a = { .quant = { .y_scale = yq.scale, .y_zp = yq.zp + (raw ? 128 : 0) } };
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_TFL_QUANTIZE, &a, &x, 1, raw ? WEFT_UINT8 : WEFT_INT8, t.rank, t.dim, true);
}

int tfl_lower_dequantize(struct tfl_lower *l)
{
	struct tfl_quant xq;
	int x = edge_value(l, &xq);

	if (x < 0)
		return x;
	weft_attr a = { .quant = { .x_scale = xq.scale, .x_zp = xq.zp } };
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_TFL_DEQUANTIZE, &a, &x, 1, WEFT_FP32, t.rank, t.dim, true);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QUANTIZE, DEQUANTIZE, and RELU and its kin, which may change the quantisation; and
 * operators that TOSA cannot express exactly: SOFTMAX, LOG_SOFTMAX, L2_NORMALIZATION.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tflite_lower.h"

/*
 * Returns the graph tensor of operand 0 and sets *xq and *yq to the quantisation of operand and
 * result; both have to be of one of the types in the set `types`. Returns a negative errno after a
 * failure.
 */
static int unary(struct tfl_lower *l, unsigned types, struct tfl_quant *xq, struct tfl_quant *yq)
{
	int err = tfl_need_result(l, types, yq);

	return err ? err : tfl_quant_value(l, 0, types, xq);
}

/* Returns 0 if x and y have the same type, else -ENOTSUP. */
static int need_same_type(struct tfl_lower *l, const struct tfl_quant *x, const struct tfl_quant *y)
{
	if (x->t == y->t)
		return 0;
	return tfl_fail(l, -ENOTSUP, "%s into %s", weft_dtype_name(x->t), weft_dtype_name(y->t));
}

/*
 * Lowers RELU, RELU_N1_TO_1, RELU6 and RELU_0_TO_1 of 8 bits and int16: a RESCALE if operand and result
 * are quantised differently, then a CLAMP. Returns the result's tensor, -ENOTSUP if operand and result
 * differ in type or have another one, or another negative errno.
 */
int tfl_lower_relu(struct tfl_lower *l)
{
	static const int activation[] = { TFL_RELU, TFL_RELU_N1_TO_1, TFL_RELU6 };
	struct tfl_quant xq, yq;
	struct tfl_factor f;
	int32_t lo, hi;
	int x = unary(l, TFL_Q8_16, &xq, &yq), err;
	bool unit = l->op->code == TFL_CODE_RELU_0_TO_1;

	if (x < 0)
		return x;
	if ((err = need_same_type(l, &xq, &yq)) ||
	    (err = tfl_limits(l, unit ? TFL_RELU_N1_TO_1 : activation[l->op->code - TFL_CODE_RELU], &yq, &lo, &hi)))
		return err;
	if (unit)
		lo = yq.zp;
	if (xq.scale != yq.scale || xq.zp != yq.zp) {   /* TFLite divides in float32 here */
		if ((err = tfl_factor(l, (double)(xq.scale / yq.scale), &f)))
			return err;
		struct tfl_rescale r = { .to = xq.t, .rounding = WEFT_DOUBLE_ROUND, .x_zp = xq.zp, .y_zp = yq.zp,
		                         .n = 1, .f = &f };
		if ((x = tfl_rescale(l, x, &r, false)) < 0)
			return x;
	}
	return tfl_clamp(l, x, lo, hi, true);
}

int tfl_need_range(struct tfl_lower *l, const struct tfl_quant *y, float scale, int32_t zp)
{
	if (y->scale == scale && y->zp == zp)
		return 0;
	return tfl_fail(l, -EINVAL, "result has scale %g and zero point %d (as %s); wants 1/%g and %d", (double)y->scale,
	                (int)y->zp, weft_dtype_name(y->t), 1 / (double)scale, (int)zp);
}

/*
 * Checks that a SOFTMAX from x's to y's type exists (int8 to int8 or int16, int16 to int16) and that y
 * has the scale and zero point that TFLite fixes: 1/256 and -128 for int8 to int8, 1/32768 and 0 for
 * int16 to int16, 1/65536 or 1/65535 and -32768 for int8 to int16. Returns 0, -ENOTSUP for int16 to int8,
 * or -EINVAL for another scale or zero point.
 */
static int softmax_result(struct tfl_lower *l, const struct tfl_quant *x, const struct tfl_quant *y)
{
	if (x->t == WEFT_INT8 && y->t == WEFT_INT8)
		return tfl_need_range(l, y, 1.0f / 256, -128);
	if (y->t == WEFT_INT8)
		return need_same_type(l, x, y);
	if (x->t == WEFT_INT16)
		return tfl_need_range(l, y, 1.0f / 32768, 0);
	/* Writers differ: 1/65536 as the kernel has it, or 1/65535. */
	if (y->zp == -32768 && (y->scale == 1.0f / 65536 || y->scale == 1.0f / 65535))
		return 0;
	return tfl_need_range(l, y, 1.0f / 65536, -32768);
}

/*
 * Lowers SOFTMAX of int8, uint8 or int16 along the last dimension to the host operator TFL_SOFTMAX, with
 * option beta (0 if absent). Returns the result's tensor, -EINVAL if the result's quantisation is not the
 * one that TFLite fixes or beta is negative or not finite, -ENOTSUP for other types, or another negative
 * errno.
 */
int tfl_lower_softmax(struct tfl_lower *l)
{
	struct tfl_quant xq, yq;
	weft_attr a;
	float beta = 0;
	int err = tfl_need_result(l, TFL_Q8_16 | TFL_QZP, &yq);
	int x = err ? err : tfl_quant_value(l, 0, TFL_Q8_16, &xq);

	if (x < 0)
		return x;
	if ((err = tfl_option_float(l, OPTIONS_SOFTMAX, SOFTMAX_BETA, 0, &beta)) || (err = softmax_result(l, &xq, &yq)))
		return err;
	if (!(beta >= 0) || !isfinite(beta))
		return tfl_fail(l, -EINVAL, "beta %g; 0 or more wanted", (double)beta);
	a.tfl_softmax = (struct weft_attr_tfl_softmax){ .x_scale = xq.scale, .beta = beta, .wide = tfl_is_litert(l) };
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_TFL_SOFTMAX, &a, &x, 1, yq.t, t.rank, t.dim, true);
}

/*
 * Lowers L2_NORMALIZATION of 8 bits to the host operator TFL_L2_NORMALIZATION. Returns the result's
 * tensor, -EINVAL if the result's scale is not 1/128 or its zero point not 0 (128 for uint8), -ENOTSUP
 * for other types or if there is an activation, or another negative errno.
 */
int tfl_lower_l2_norm(struct tfl_lower *l)
{
	struct tfl_quant xq, yq;
	int activation = 0;
	int x = unary(l, TFL_Q8, &xq, &yq), err;

	if (x < 0)
		return x;
	if ((err = tfl_activation(l, OPTIONS_L2_NORM, L2_NORM_ACTIVATION, &activation)) ||
	    (err = tfl_need_range(l, &yq, 1.0f / 128, 0)))
		return err;
	if (activation != TFL_NONE)
		return tfl_fail(l, -ENOTSUP, "activation %d", activation);
	bool raw = tfl_file_tensor(l, tfl_operand(l, 0))->type == TFL_UINT8;
	weft_attr a = { .tfl_norm = { .x_zp = xq.zp, .left = raw ? 7 : 0 } };
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_TFL_L2_NORMALIZATION, &a, &x, 1, WEFT_INT8, t.rank, t.dim, true);
}

/*
 * Lowers LOG_SOFTMAX of int8 to the host operator TFL_LOG_SOFTMAX, and of uint8, which is float32 in the kernel, by
 * tfl_log_softmax_codes(). Returns the result's tensor, -EINVAL if the result's scale is not 1/16, its zero point not 127, or the
 * operand's scale not above 2^-24 (int8), -ENOTSUP for other types, or another negative errno.
 */
int tfl_lower_log_softmax(struct tfl_lower *l)
{
	struct tfl_quant xq, yq;
	int x = unary(l, TFL_Q8, &xq, &yq), err;

	if (x < 0)
		return x;
	if ((err = tfl_need_range(l, &yq, 1.0f / 16, 127)))
		return err;
	if (tfl_file_tensor(l, tfl_operand(l, 0))->type == TFL_UINT8)
		return tfl_log_softmax_codes(l, x, xq.scale, yq.scale, yq.zp);
	if (!(xq.scale > 0x1p-24f))
		return tfl_fail(l, -EINVAL, "scale %g; above 2^-24", (double)xq.scale);
	weft_attr a = { .tfl_softmax = { .x_scale = xq.scale } };
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_TFL_LOG_SOFTMAX, &a, &x, 1, WEFT_INT8, t.rank, t.dim, true);
}

/*
 * Returns the graph tensor of operand 0 and sets *q to its quantisation: the uint8 tensor with the
 * file's own zero point if the graph has uint8 and no int8 form of it yet, else the tensor as
 * operators see it. Returns a negative errno after a failure.
 */
static int edge_value(struct tfl_lower *l, struct tfl_quant *q)
{
	int i = tfl_operand(l, 0);
	int err = i < 0 ? i : tfl_quant(l, i, TFL_Q8_16 | TFL_Q32 | TFL_QZP, q);

	if (err)
		return err;
	if (tfl_file_tensor(l, i)->type == TFL_UINT8 && l->raw[i] >= 0 && l->seen[i] < 0) {
		q->zp += 128;
		return l->raw[i];
	}
	return tfl_value(l, 0);
}

/*
 * Says whether the result at hand stays uint8 in the graph: it is uint8 in the file and an output
 * of the network.
 */
static bool raw_result(const struct tfl_lower *l)
{
	return tfl_file_tensor(l, l->i_y)->type == TFL_UINT8 && l->is_output[l->i_y];
}

/*
 * Emits x requantised from xq to yq by factor f by way of int32, as the operator's result, for zero
 * points of 16 and 32 bits, which RESCALE does not take: subtract, scale, add, and limit by a
 * RESCALE that leaves values alone. Returns the result's tensor, or a negative errno.
 */
static int requantise_around(struct tfl_lower *l, int x, const struct tfl_quant *xq, const struct tfl_quant *yq,
                             const struct tfl_factor *f)
{
	struct tfl_factor one = { .multiplier = 1 << 30, .shift = 30 };
	struct tfl_rescale r = { .to = WEFT_INT32, .rounding = WEFT_DOUBLE_ROUND, .n = 1, .f = f };
	struct tfl_rescale clip = { .to = yq->t, .rounding = WEFT_SINGLE_ROUND, .n = 1, .f = &one,
	                            .y_zp = yq->t == WEFT_INT8 ? yq->zp : 0 };

	if (xq->t == WEFT_INT8)
		x = tfl_widen(l, x, xq->zp, 0);
	else if (xq->t == WEFT_INT16)
		x = tfl_widen(l, x, 0, 0);
	if (x >= 0 && xq->t != WEFT_INT8 && xq->zp)
		x = tfl_add_int(l, x, -(int64_t)xq->zp, false);
	if (x >= 0)
		x = tfl_rescale(l, x, &r, yq->t == WEFT_INT32 && !yq->zp);
	if (x >= 0 && yq->t != WEFT_INT8 && yq->zp)
		x = tfl_add_int(l, x, yq->zp, yq->t == WEFT_INT32);
	return x < 0 || yq->t == WEFT_INT32 ? x : tfl_rescale(l, x, &clip, true);
}

/*
 * Says whether codes less their zero point, shifted left as factor f demands, exceed 32 bits: factors from 2^16 on for
 * int16, from 2^24 on for int8. TensorFlow Lite's shift then wraps.
 */
static bool shift_wraps(const struct tfl_quant *xq, const struct tfl_factor *f)
{
	const int s = 31 - f->shift;

	return (xq->t == WEFT_INT8 && s > 23) || (xq->t == WEFT_INT16 && s > 15);
}

/*
 * Emits codes x less zero point zp, as int32, shifted left by 31 - f->shift bits, with bits above 32 lost, and sets
 * f->shift to 31: *f is then what the result still has to be multiplied by. Returns the graph tensor, or a negative
 * errno.
 */
static int shifted(struct tfl_lower *l, int x, int32_t zp, struct tfl_factor *f)
{
	static const weft_attr none;
	const weft_tensor t = l->g->tensors[x].t;
	const int s = tfl_number(l, "shift", WEFT_INT32, t.rank, 31 - f->shift);

	x = s < 0 ? s : tfl_widen(l, x, zp, 0);
	f->shift = 31;
	return x < 0 ? x : tfl_step(l, WEFT_OP_LOGICAL_LEFT_SHIFT, &none, (int[]){ x, s }, 2, WEFT_INT32, t.rank, t.dim, false);
}

/*
 * Emits the QUANTIZE at hand of integers to quantisation yq as its result. RESCALE cannot be
 * unsigned on both sides, so uint8 to uint8 goes by way of int8. Where shift_wraps() says so, bits
 * above 32 are lost before the multiplication (shifted()). Returns the result's tensor,
 * -ENOTSUP for what edge_value() gives as uint8 to int32 with zero point 0, or another negative errno.
 */
static int requantise(struct tfl_lower *l, const struct tfl_quant *yq)
{
	struct tfl_quant xq;
	struct tfl_factor f;
	int x = edge_value(l, &xq), err;

	if (x < 0 || (err = tfl_factor(l, (double)xq.scale / (double)yq->scale, &f)))
		return x < 0 ? x : err;
	if ((xq.t != WEFT_INT8 && xq.zp) || (yq->t != WEFT_INT8 && yq->zp))
		return requantise_around(l, x, &xq, yq, &f);
	weft_dtype from = l->g->tensors[x].t.dtype;
	if (from != WEFT_UINT8 && shift_wraps(&xq, &f)) {
		if ((x = shifted(l, x, xq.zp, &f)) < 0)
			return x;
		xq.zp = 0;
	}
	if (from == WEFT_UINT8 && yq->t == WEFT_INT32)
		return tfl_fail(l, -ENOTSUP, "uint8 into int32");
	bool raw = raw_result(l) && (from == WEFT_INT8 || from == WEFT_INT16);
	struct tfl_rescale r = { .to = raw ? WEFT_UINT8 : yq->t, .rounding = WEFT_DOUBLE_ROUND,
	                         .x_zp = xq.zp, .y_zp = yq->zp + (raw ? 128 : 0), .n = 1, .f = &f };
	return tfl_rescale(l, x, &r, true);
}

/*
 * Lowers QUANTIZE of integers to another quantisation, or of float32: by a TABLE if the floats are
 * a function of 8-bit codes and the result is an 8-bit one, but no uint8 output of the network, else by
 * the host operator TFL_QUANTIZE. Returns the result's tensor; -ENOTSUP for float32 to int32, whatever
 * its zero point, and for float32 to int16 with a zero point other than 0; or another negative errno.
 */
int tfl_lower_quantize(struct tfl_lower *l)
{
	struct tfl_quant yq;
	int i = tfl_operand(l, 0), err;

	if (i < 0 || (err = tfl_need_result(l, TFL_Q8_16 | TFL_Q32 | TFL_QZP, &yq)))
		return i < 0 ? i : err;
	if (tfl_file_tensor(l, i)->type != TFL_FLOAT32)
		return requantise(l, &yq);
	if (yq.t == WEFT_INT32 || (yq.t == WEFT_INT16 && yq.zp))
		return tfl_fail(l, -ENOTSUP, "float32 into %s with zero point %d", weft_dtype_name(yq.t), (int)yq.zp);
	int x = tfl_value(l, 0);
	if (x < 0)
		return x;
	bool raw = raw_result(l);
	weft_attr a = { .quant = { .y_scale = yq.scale, .y_zp = yq.zp + (raw ? 128 : 0) } };
	weft_tensor t = l->g->tensors[x].t;
	if (yq.t == WEFT_INT8 && !raw && (err = tfl_codes_end(l, &a, x)))
		return err < 0 ? err : l->seen[l->i_y];
	return tfl_step(l, WEFT_OP_TFL_QUANTIZE, &a, &x, 1, raw ? WEFT_UINT8 : yq.t, t.rank, t.dim, true);
}

/*
 * Emits float16 operand 0 as float32, as the operator's result. Returns the result's tensor, or a
 * negative errno.
 */
static int from_float16(struct tfl_lower *l)
{
	int x = tfl_value(l, 0);

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_CAST, NULL, &x, 1, WEFT_FP32, t.rank, t.dim, true);
}

/*
 * Adds a constant of float32 with the scales of file tensor f, or else its zero points as operators see them
 * (0 without any, one for all if there is one), along dimension f->quant_dim of `rank`, the others being 1.
 * Returns the graph tensor, -EINVAL if 32 bits do not hold a zero point, or another negative errno.
 */
static int per_channel(struct tfl_lower *l, const struct tfl_tensor *f, bool scales, int rank)
{
	int64_t dim[WEFT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 }, n = f->scale.n;
	float *v = tfl_alloc(l, n, sizeof *v);

	if (!v)
		return l->err;
	for (int64_t k = 0; k < n; k++) {
		const uint32_t at = f->zero_point.n > 1 ? (uint32_t)k : 0;
		const int64_t zp = f->zero_point.n ? fb_i64_at(&l->m->b, &f->zero_point, at) : 0;

		if (zp != (int32_t)zp) {
			free(v);
			return tfl_fail(l, -EINVAL, "zero point %lld: 32 bits wanted, at byte %zu", (long long)zp, f->zero_point.at);
		}
		v[k] = scales ? fb_f32_at(&l->m->b, &f->scale, (uint32_t)k) : (float)(zp - (f->type == TFL_UINT8 ? 128 : 0));
	}
	dim[f->quant_dim] = n;
	return tfl_data(l, scales ? "scales" : "zero_points", WEFT_FP32, rank, dim, v);
}

/*
 * Lowers DEQUANTIZE of integers x with a scale, and maybe a zero point, for each index of one dimension: (x -
 * zero point) * scale in float32. Returns the result's tensor, -EINVAL if there are not as many scales as
 * indices (or zero points, if there are several), -ENOTSUP for other types than int8, int16 and int32, or
 * another negative errno.
 */
static int by_channel(struct tfl_lower *l, const struct tfl_tensor *f)
{
	weft_attr mul = { .mul = { 0 } };
	int x = tfl_value(l, 0), c;

	if (x < 0)
		return x;
	const weft_tensor t = l->g->tensors[x].t;
	if (f->quant_dim < 0 || f->quant_dim >= t.rank || t.dim[f->quant_dim] != f->scale.n || (f->zero_point.n > 1 && f->zero_point.n != f->scale.n))
		return tfl_fail(l, -EINVAL, "%u scales and %u zero points along dimension %d of rank %d", (unsigned)f->scale.n,
		                (unsigned)f->zero_point.n, f->quant_dim, t.rank);
	if (t.dtype != WEFT_INT8 && t.dtype != WEFT_INT16 && t.dtype != WEFT_INT32)
		return tfl_fail(l, -ENOTSUP, "%s with several scales", weft_dtype_name(t.dtype));
	if ((x = tfl_step(l, WEFT_OP_CAST, NULL, &x, 1, WEFT_FP32, t.rank, t.dim, false)) < 0 || (c = per_channel(l, f, false, t.rank)) < 0)
		return x < 0 ? x : c;
	x = tfl_step(l, WEFT_OP_SUB, NULL, (int[]){ x, c }, 2, WEFT_FP32, t.rank, t.dim, false);
	if (x < 0 || (c = per_channel(l, f, true, t.rank)) < 0)
		return x < 0 ? x : c;
	return tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ x, c }, 2, WEFT_FP32, t.rank, t.dim, true);
}

/*
 * Lowers DEQUANTIZE to float32: of float16 by CAST, of a tensor with several scales by by_channel(), of other
 * integers by the host operator TFL_DEQUANTIZE; if the operand is int8 in the graph, the result is noted as a
 * function of its codes (tfl_codes_begin()). Returns the result's tensor; -ENOTSUP for int32, whatever its
 * zero point, for int16 with a zero point other than 0, and for other types; or another negative errno.
 */
int tfl_lower_dequantize(struct tfl_lower *l)
{
	struct tfl_quant xq;
	int i = tfl_operand(l, 0);

	if (i >= 0 && tfl_file_tensor(l, i)->type == TFL_FLOAT16)
		return from_float16(l);
	if (i >= 0 && tfl_file_tensor(l, i)->scale.n > 1)
		return by_channel(l, tfl_file_tensor(l, i));
	int x = i < 0 ? i : edge_value(l, &xq);
	if (x < 0)
		return x;
	if (xq.t == WEFT_INT32 || (xq.t == WEFT_INT16 && xq.zp))
		return tfl_fail(l, -ENOTSUP, "%s with zero point %d", weft_dtype_name(xq.t), (int)xq.zp);
	weft_attr a = { .quant = { .x_scale = xq.scale, .x_zp = xq.zp } };
	weft_tensor t = l->g->tensors[x].t;
	return tfl_codes_begin(l, &a, x, tfl_step(l, WEFT_OP_TFL_DEQUANTIZE, &a, &x, 1, WEFT_FP32, t.rank, t.dim, true));
}

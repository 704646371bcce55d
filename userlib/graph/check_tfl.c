/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the extension operators of TensorFlow Lite ask of their operands; include/weft/op.h lists
 * them. Every check returns 0, or -EINVAL with one line in c->msg.
 */
#include <math.h>

#include "sim/golden/tfl/tfl_custom.h"

#include "check_need.h"

/* Says whether s may be a scale: finite and above 0. */
static bool good_scale(float s)
{
	return isfinite(s) && s > 0;
}

/*
 * Demands that operand 0's type is in the set x, and the result's in the set y. Returns 0, or -EINVAL
 * with one line in c->msg.
 */
static int need_types(const struct weft_check *c, uint32_t x, uint32_t y)
{
	int err = need_type(c, "operand 0", operand(c, 0), x);

	return err ? err : need_type(c, "result", result(c), y);
}

/*
 * Checks TFL_SOFTMAX: operand 0 int8 or int16 with a rank of at least 1, the result of the same type or
 * int16; x_scale finite and above 0; beta finite and not negative, and for int16 beta times x_scale
 * below 65536. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_softmax(const struct weft_check *c)
{
	const struct weft_attr_tfl_softmax *a = &this_op(c)->attr.tfl_softmax;
	const weft_tensor *x = operand(c, 0);
	double f = (double)a->beta * (double)a->x_scale;

	if (x->rank < 1 || !good_scale(a->x_scale) || !isfinite(a->beta) || !(f >= 0) ||
	    (x->dtype == WEFT_INT16 && !(f < 65536)))
		FAIL("rank %d, scale %g, beta %g", x->rank, (double)a->x_scale, (double)a->beta);
	return need_types(c, T(WEFT_INT8) | T(WEFT_INT16), T(x->dtype) | T(WEFT_INT16));
}

/*
 * Checks TFL_L2_NORMALIZATION: int8 in and out, a rank of at least 1, the attribute left 0 or 7 (for
 * networks that were uint8), and the attributes' limits and zero points. Returns 0, or -EINVAL with one
 * line in c->msg.
 */
static int check_norm(const struct weft_check *c)
{
	const struct weft_attr_tfl_norm *a = &this_op(c)->attr.tfl_norm;

	if (operand(c, 0)->rank < 1 || (a->left && a->left != 7))
		FAIL("rank %d, left %d", operand(c, 0)->rank, (int)a->left);
	int err = need_types(c, T(WEFT_INT8), T(WEFT_INT8));
	return err ? err : weft_check_attr(c);
}

/*
 * Checks TFL_LOG_SOFTMAX: int8 in and out, a rank of at least 1, and a finite scale above 2^-24, below
 * which the fixed-point factor would be 0. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_log_softmax(const struct weft_check *c)
{
	float scale = this_op(c)->attr.tfl_softmax.x_scale;

	if (operand(c, 0)->rank < 1 || !isfinite(scale) || !(scale > 0x1p-24f))
		FAIL("rank %d, scale %g", operand(c, 0)->rank, (double)scale);
	return need_types(c, T(WEFT_INT8), T(WEFT_INT8));
}

/*
 * Checks TFL_LOGISTIC (int8, int16) and TFL_TANH (int16): one type in and out; x_scale and, but for
 * TANH, y_scale finite and above 0; and zero points within the type. Returns 0, or -EINVAL with one
 * line in c->msg.
 */
static int check_sigmoid(const struct weft_check *c)
{
	const struct weft_attr_quant *a = &this_op(c)->attr.quant;
	const weft_tensor *x = operand(c, 0);
	bool tanh = this_op(c)->op == WEFT_OP_TFL_TANH;
	int err = need_types(c, T(WEFT_INT16) | (tanh ? 0 : T(WEFT_INT8)), T(x->dtype));

	if (err)
		return err;
	if (!good_scale(a->x_scale) || (!tanh && !good_scale(a->y_scale)))
		FAIL("scales %g and %g", (double)a->x_scale, (double)a->y_scale);
	return weft_check_attr(c);
}

/*
 * Checks TFL_QUANTIZE (fp32 in) and TFL_DEQUANTIZE (fp32 out): the other side is int8, uint8 or int16,
 * its scale (y_scale or x_scale) is finite and above 0, and the zero points fit. Returns 0, or -EINVAL
 * with one line in c->msg.
 */
static int check_edge(const struct weft_check *c)
{
	const struct weft_attr_quant *a = &this_op(c)->attr.quant;
	uint32_t edge = T(WEFT_INT8) | T(WEFT_INT16) | T(WEFT_UINT8);
	bool in = this_op(c)->op == WEFT_OP_TFL_QUANTIZE;
	int err = in ? need_types(c, T(WEFT_FP32), edge) : need_types(c, edge, T(WEFT_FP32));

	if (err)
		return err;
	if (!good_scale(in ? a->y_scale : a->x_scale))
		FAIL("scale %g", (double)(in ? a->y_scale : a->x_scale));
	return weft_check_attr(c);
}

/*
 * Checks TFL_RESIZE_BILINEAR: int8, or int16 unless raw_uint8 is set, and the same type out; rank 4;
 * batches and channels stay; height and width on both sides at most 2^20. Returns 0, or -EINVAL with
 * one line in c->msg.
 */
static int check_resize(const struct weft_check *c)
{
	const weft_tensor *x = operand(c, 0), *y = result(c);
	bool raw = this_op(c)->attr.tfl_resize.raw_uint8;
	int err = need_types(c, T(WEFT_INT8) | (raw ? 0 : T(WEFT_INT16)), T(x->dtype));

	if (err)
		return err;
	if (x->rank != 4 || y->rank != 4 || x->dim[0] != y->dim[0] || x->dim[3] != y->dim[3])
		FAIL("ranks %d and %d, not 4, or other batches or channels", x->rank, y->rank);
	for (int d = 1; d < 3; d++)
		if (x->dim[d] > 1 << 20 || y->dim[d] > 1 << 20)
			FAIL("extents above 2^20");
	return 0;
}

/*
 * Demands that operand k has type t, the given rank, and d0 and d1 as its dimensions 0 and 1; for rank
 * 1, d1 must be 1, which unused dimensions are. Returns 0, or -EINVAL with one line in c->msg.
 */
static int need_matrix(const struct weft_check *c, int k, weft_dtype t, int rank, int64_t d0, int64_t d1)
{
	const weft_tensor *x = operand(c, k);

	if (x->dtype != t || x->rank != rank || x->dim[0] != d0 || x->dim[1] != d1)
		FAIL("operand %d is not %s of rank %d with dimensions %lld, %lld", k, weft_dtype_name(t), rank, (long long)d0,
		     (long long)d1);
	return 0;
}

/*
 * Checks TFL_LSTM: int8 input and output of rank 3 with the same first two dimensions; for each of four
 * gates int8 input weights [out,in] (operands 1..4), int8 recurrent weights [out,out] (5..8) and int32
 * biases [out] (9..12), where in and out are the last dimensions of input and output; then the limits
 * of factors and zero points. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_lstm(const struct weft_check *c)
{
	const weft_tensor *x = operand(c, 0), *y = result(c);
	int err = need_types(c, T(WEFT_INT8), T(WEFT_INT8));

	if (err)
		return err;
	if (x->rank != 3 || y->rank != 3 || x->dim[0] != y->dim[0] || x->dim[1] != y->dim[1])
		FAIL("ranks %d and %d, not 3, or other leading dimensions", x->rank, y->rank);
	for (int g = 0; g < 4; g++)
		if ((err = need_matrix(c, 1 + g, WEFT_INT8, 2, y->dim[2], x->dim[2])) ||
		    (err = need_matrix(c, 5 + g, WEFT_INT8, 2, y->dim[2], y->dim[2])) ||
		    (err = need_matrix(c, 9 + g, WEFT_INT32, 1, y->dim[2], 1)))
			return err;
	return weft_check_attr(c);
}

/*
 * Checks the types of TFL_CAST: bool, int8, uint8, int16, int32, int48, int64 or fp32 on each side. Returns 0,
 * or -EINVAL with one line in c->msg.
 */
static int check_cast(const struct weft_check *c)
{
	uint32_t any = T(WEFT_BOOL) | T(WEFT_INT8) | T(WEFT_UINT8) | T(WEFT_INT16) | T(WEFT_INT32) | T(WEFT_INT48) | T(WEFT_INT64) | T(WEFT_FP32);

	return need_types(c, any, any);
}

/*
 * Checks TFL_DIV: fp32 operands that broadcast to an fp32 result. Returns 0, or -EINVAL with one line
 * in c->msg.
 */
static int check_div(const struct weft_check *c)
{
	int err = need_types(c, T(WEFT_FP32), T(WEFT_FP32));

	return err || (err = need_type(c, "operand 1", operand(c, 1), T(WEFT_FP32))) ? err : need_broadcast(c);
}

/*
 * Checks TFL_REQUANTIZE: operand 0 int32 or int48 with a rank of at least 1; the result int8 or int16;
 * operand 1 fp32 of rank 1 with one weight scale, or one for each element of operand 0's last
 * dimension; x_scale, y_scale and, if operand 1 is constant, all its values finite and above 0. Returns
 * 0, or -EINVAL with one line in c->msg.
 */
static int check_requantize(const struct weft_check *c)
{
	const struct weft_attr_quant *a = &this_op(c)->attr.quant;
	const weft_tensor *x = operand(c, 0), *w = operand(c, 1);
	int err = need_types(c, T(WEFT_INT32) | T(WEFT_INT48), T(WEFT_INT8) | T(WEFT_INT16));

	if (err || (err = need_type(c, "operand 1", w, T(WEFT_FP32))))
		return err;
	if (x->rank < 1 || w->rank != 1 || (w->dim[0] != 1 && w->dim[0] != x->dim[x->rank - 1]))
		FAIL("%lld scales, must be 1 or one for each of the last dimension", (long long)w->dim[0]);
	if (!good_scale(a->x_scale) || !good_scale(a->y_scale))
		FAIL("scales %g and %g", (double)a->x_scale, (double)a->y_scale);
	for (int64_t i = 0; w->data && i < w->dim[0]; i++)
		if (!good_scale(((const float *)w->data)[i]))
			FAIL("weight scale %g", (double)((const float *)w->data)[i]);
	return 0;
}

/*
 * Checks TFL_HYBRID: operand 0 is fp32 [B,n], result 0 int16, and result 1 fp32 scales [B,1]. Returns
 * 0, or -EINVAL with one line in c->msg.
 */
static int check_hybrid(const struct weft_check *c)
{
	const weft_tensor *x = operand(c, 0), *s = &c->g->tensors[this_op(c)->out[1]].t;
	int err = need_types(c, T(WEFT_FP32), T(WEFT_INT16));

	if (err || (err = need_type(c, "result 1", s, T(WEFT_FP32))))
		return err;
	if (x->rank != 2 || s->rank != 2 || s->dim[0] != x->dim[0] || s->dim[1] != 1)
		FAIL("rank %d, must be 2, and scales [B,1]", x->rank);
	return 0;
}

/*
 * Checks TFL_QUOTIENT: operands and result of one type, int8 or int16, that broadcast, and its
 * attributes. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_quotient(const struct weft_check *c)
{
	const weft_dtype t = operand(c, 0)->dtype;
	int err = need_types(c, T(WEFT_INT8) | T(WEFT_INT16), T(t));

	return err || (err = need_type(c, "operand 1", operand(c, 1), T(t))) || (err = weft_check_attr(c)) ? err : need_broadcast(c);
}

/*
 * Says whether t is a constant text as TFL_CUSTOM has it: int8 [n] that ends with a zero.
 */
static bool is_text(const weft_tensor *t)
{
	return t->dtype == WEFT_INT8 && t->rank == 1 && t->data && ((const char *)t->data)[t->dim[0] - 1] == 0;
}

/*
 * Checks TFL_CUSTOM: name and options are constant texts, as many of its own operands follow as its attributes say
 * are there, there are at most WEFT_CUSTOM_MAX_OUT results, and what counts as uint8 is int8. Types and shapes are the
 * caller's matter. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_custom(const struct weft_check *c)
{
	const struct weft_gop *o = this_op(c);
	const struct weft_attr_tfl_custom *a = &o->attr.tfl_custom;
	int k = WEFT_CUSTOM_OWN, err = weft_check_attr(c);

	if (err)
		return err;
	if (!is_text(operand(c, WEFT_CUSTOM_NAME)) || !is_text(operand(c, WEFT_CUSTOM_OPTIONS)))
		FAIL("operands 0 and 1 are not constant int8 of rank 1 that end with 0");
	for (int i = 0; i < a->n_in; i++) {
		if (a->absent >> i & 1)
			continue;
		if (k == o->n_in)
			FAIL("operand %d is missing", i);
		if ((a->unsigned_in >> i & 1) && operand(c, k)->dtype != WEFT_INT8)
			FAIL("operand %d is %s, not int8", i, weft_dtype_name(operand(c, k)->dtype));
		k++;
	}
	if (k != o->n_in || o->n_out < 1 || o->n_out > WEFT_CUSTOM_MAX_OUT)
		FAIL("%d operands and %d results; %d and 1..%d wanted", o->n_in, o->n_out, k, WEFT_CUSTOM_MAX_OUT);
	for (int i = 0; i < o->n_out; i++)
		if ((a->unsigned_out >> i & 1) && c->g->tensors[o->out[i]].t.dtype != WEFT_INT8)
			FAIL("result %d is %s, not int8", i, weft_dtype_name(c->g->tensors[o->out[i]].t.dtype));
	return 0;
}

int weft_check_tfl(const struct weft_check *c)
{
	weft_opcode op = this_op(c)->op;
	const bool other = op == WEFT_OP_TFL_RESIZE_BILINEAR || op == WEFT_OP_TFL_LSTM || op == WEFT_OP_TFL_DIV || op == WEFT_OP_TFL_QUOTIENT ||
	                   op == WEFT_OP_TFL_CUSTOM;
	int err = other ? 0 : need_same_shape(c);

	if (err)
		return err;
	switch (op) {
	case WEFT_OP_TFL_SOFTMAX:
		return check_softmax(c);
	case WEFT_OP_TFL_L2_NORMALIZATION:
		return check_norm(c);
	case WEFT_OP_TFL_LOG_SOFTMAX:
		return check_log_softmax(c);
	case WEFT_OP_TFL_LOGISTIC:
	case WEFT_OP_TFL_TANH:
		return check_sigmoid(c);
	case WEFT_OP_TFL_QUANTIZE:
	case WEFT_OP_TFL_DEQUANTIZE:
		return check_edge(c);
	case WEFT_OP_TFL_RESIZE_BILINEAR:
		return check_resize(c);
	case WEFT_OP_TFL_LSTM:
		return check_lstm(c);
	case WEFT_OP_TFL_CAST:
		return check_cast(c);
	case WEFT_OP_TFL_SQRT:
		return need_types(c, T(WEFT_FP32), T(WEFT_FP32));
	case WEFT_OP_TFL_DIV:
		return check_div(c);
	case WEFT_OP_TFL_REQUANTIZE:
		return check_requantize(c);
	case WEFT_OP_TFL_HYBRID:
		return check_hybrid(c);
	case WEFT_OP_TFL_QUOTIENT:
		return check_quotient(c);
	case WEFT_OP_TFL_CUSTOM:
		return check_custom(c);
	case WEFT_OP_TFL_FUNCTION:
		err = weft_check_attr(c);
		return err ? err : need_types(c, T(WEFT_FP32), T(WEFT_FP32));
	default:
		FAIL("has no rules here");
	}
}

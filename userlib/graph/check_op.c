/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each operator asks of its operands and attributes. Every check returns 0, or -EINVAL with
 * one line in c->msg.
 *
 * Source: TOSA 1.0, the argument tables and ERROR_IF lines of each operator;
 * include/weft/op.h for the order of operands and for the extensions.
 */
#include <stdbool.h>

#include "sim/golden/tfl/tfl_custom.h"

#include "check_need.h"

/* Numbers of operands that an operator may have, and its number of results; -1: any number. */
struct arity { signed char in_min, in_max, out; };

static const struct arity arity[WEFT_N_OPS] = {
	[WEFT_OP_ARGMAX] = { 1, 1, 1 },
	[WEFT_OP_AVG_POOL2D] = { 1, 1, 1 },
	[WEFT_OP_CONV2D] = { 3, 3, 1 },
	[WEFT_OP_DEPTHWISE_CONV2D] = { 3, 3, 1 },
	[WEFT_OP_MATMUL] = { 2, 2, 1 },
	[WEFT_OP_MAX_POOL2D] = { 1, 1, 1 },
	[WEFT_OP_TRANSPOSE_CONV2D] = { 3, 3, 1 },
	[WEFT_OP_CLAMP] = { 1, 1, 1 },
	[WEFT_OP_ADD] = { 2, 2, 1 },
	[WEFT_OP_SUB] = { 2, 2, 1 },
	[WEFT_OP_MUL] = { 2, 2, 1 },
	[WEFT_OP_MAXIMUM] = { 2, 2, 1 },
	[WEFT_OP_MINIMUM] = { 2, 2, 1 },
	[WEFT_OP_TABLE] = { 2, 2, 1 },
	[WEFT_OP_REDUCE_SUM] = { 1, 1, 1 },
	[WEFT_OP_REDUCE_MAX] = { 1, 1, 1 },
	[WEFT_OP_REDUCE_MIN] = { 1, 1, 1 },
	[WEFT_OP_CONCAT] = { 1, WEFT_OP_MAX_INPUTS, 1 },
	[WEFT_OP_PAD] = { 1, 1, 1 },
	[WEFT_OP_RESHAPE] = { 1, 1, 1 },
	[WEFT_OP_SLICE] = { 1, 1, 1 },
	[WEFT_OP_TRANSPOSE] = { 1, 1, 1 },
	[WEFT_OP_CAST] = { 1, 1, 1 },
	[WEFT_OP_RESCALE] = { 3, 3, 1 },
	[WEFT_OP_CONST] = { 0, 0, 1 },
	[WEFT_OP_IDENTITY] = { 1, 1, 1 },
	[WEFT_OP_CONV3D] = { 3, 3, 1 },
	[WEFT_OP_FFT2D] = { 2, 2, 2 },
	[WEFT_OP_RFFT2D] = { 1, 1, 2 },
	[WEFT_OP_ERF] = { 1, 1, 1 },
	[WEFT_OP_SIGMOID] = { 1, 1, 1 },
	[WEFT_OP_TANH] = { 1, 1, 1 },
	[WEFT_OP_ARITHMETIC_RIGHT_SHIFT] = { 2, 2, 1 },
	[WEFT_OP_BITWISE_AND] = { 2, 2, 1 },
	[WEFT_OP_BITWISE_OR] = { 2, 2, 1 },
	[WEFT_OP_BITWISE_XOR] = { 2, 2, 1 },
	[WEFT_OP_INTDIV] = { 2, 2, 1 },
	[WEFT_OP_LOGICAL_AND] = { 2, 2, 1 },
	[WEFT_OP_LOGICAL_LEFT_SHIFT] = { 2, 2, 1 },
	[WEFT_OP_LOGICAL_RIGHT_SHIFT] = { 2, 2, 1 },
	[WEFT_OP_LOGICAL_OR] = { 2, 2, 1 },
	[WEFT_OP_LOGICAL_XOR] = { 2, 2, 1 },
	[WEFT_OP_POW] = { 2, 2, 1 },
	[WEFT_OP_ABS] = { 1, 1, 1 },
	[WEFT_OP_BITWISE_NOT] = { 1, 1, 1 },
	[WEFT_OP_CEIL] = { 1, 1, 1 },
	[WEFT_OP_CLZ] = { 1, 1, 1 },
	[WEFT_OP_COS] = { 1, 1, 1 },
	[WEFT_OP_EXP] = { 1, 1, 1 },
	[WEFT_OP_FLOOR] = { 1, 1, 1 },
	[WEFT_OP_LOG] = { 1, 1, 1 },
	[WEFT_OP_LOGICAL_NOT] = { 1, 1, 1 },
	[WEFT_OP_NEGATE] = { 1, 1, 1 },
	[WEFT_OP_RECIPROCAL] = { 1, 1, 1 },
	[WEFT_OP_RSQRT] = { 1, 1, 1 },
	[WEFT_OP_SIN] = { 1, 1, 1 },
	[WEFT_OP_SELECT] = { 3, 3, 1 },
	[WEFT_OP_EQUAL] = { 2, 2, 1 },
	[WEFT_OP_GREATER] = { 2, 2, 1 },
	[WEFT_OP_GREATER_EQUAL] = { 2, 2, 1 },
	[WEFT_OP_REDUCE_ALL] = { 1, 1, 1 },
	[WEFT_OP_REDUCE_ANY] = { 1, 1, 1 },
	[WEFT_OP_REDUCE_PRODUCT] = { 1, 1, 1 },
	[WEFT_OP_REVERSE] = { 1, 1, 1 },
	[WEFT_OP_TILE] = { 1, 1, 1 },
	[WEFT_OP_GATHER] = { 2, 2, 1 },
	[WEFT_OP_SCATTER] = { 3, 3, 1 },
	[WEFT_OP_RESIZE] = { 1, 1, 1 },
	[WEFT_OP_COND_IF] = { 1, WEFT_OP_MAX_INPUTS, -1 },
	[WEFT_OP_WHILE_LOOP] = { 1, WEFT_OP_MAX_INPUTS - 1, -1 },
	[WEFT_OP_VARIABLE_WRITE] = { 1, 1, 1 },
	[WEFT_OP_VARIABLE_READ] = { 0, 0, 1 },
	[WEFT_OP_TFL_SOFTMAX] = { 1, 1, 1 },
	[WEFT_OP_TFL_LOGISTIC] = { 1, 1, 1 },
	[WEFT_OP_TFL_QUANTIZE] = { 1, 1, 1 },
	[WEFT_OP_TFL_DEQUANTIZE] = { 1, 1, 1 },
	[WEFT_OP_TFL_TANH] = { 1, 1, 1 },
	[WEFT_OP_TFL_RESIZE_BILINEAR] = { 1, 1, 1 },
	[WEFT_OP_TFL_LSTM] = { 13, 13, 1 },
	[WEFT_OP_TFL_CAST] = { 1, 1, 1 },
	[WEFT_OP_TFL_SQRT] = { 1, 1, 1 },
	[WEFT_OP_TFL_DIV] = { 2, 2, 1 },
	[WEFT_OP_ONNX_REQUANT] = { 5, 6, 1 },
	[WEFT_OP_ONNX_QUANTIZE] = { 2, 3, 1 },
	[WEFT_OP_ONNX_DEQUANTIZE] = { 2, 3, 1 },
	[WEFT_OP_ONNX_CAST] = { 1, 1, 1 },
	[WEFT_OP_ONNX_FAKE_CONVERT] = { 2, 3, 1 },
	[WEFT_OP_ONNX_REQUANT_SHIFT] = { 3, 3, 1 },
	[WEFT_OP_ONNX_DIV] = { 2, 2, 1 },
	[WEFT_OP_POPXL_CONV_POW2SCALED] = { 3, 3, 1 },
	[WEFT_OP_POPXL_MATMUL_POW2SCALED] = { 3, 3, 1 },
	[WEFT_OP_PACT_DIV] = { 2, 2, 1 },
	[WEFT_OP_PACT_SOFTMAX] = { 1, 1, 1 },
	[WEFT_OP_PACT_ITA_MAX] = { 1, 1, 1 },
	[WEFT_OP_PACT_LAYER_NORM] = { 3, 3, 1 },
	[WEFT_OP_TFL_L2_NORMALIZATION] = { 1, 1, 1 },
	[WEFT_OP_TFL_LOG_SOFTMAX] = { 1, 1, 1 },
	[WEFT_OP_ONNX_NODE] = { 1, WEFT_OP_MAX_INPUTS, -1 },
	[WEFT_OP_TFL_REQUANTIZE] = { 2, 2, 1 },
	[WEFT_OP_TFL_HYBRID] = { 1, 1, 2 },
	[WEFT_OP_TFL_QUOTIENT] = { 2, 2, 1 },
	[WEFT_OP_TFL_FUNCTION] = { 1, 1, 1 },
	[WEFT_OP_TFL_CUSTOM] = { WEFT_CUSTOM_OWN, WEFT_CUSTOM_OWN + WEFT_CUSTOM_MAX_IN, -1 },
};

/*
 * Checks the types of PopXL's scaled products: two operands in a FNUZ float8 type, an int32 log2_scale
 * with one element (-32..31 if it is constant), and an fp16 result. Returns 0, or -EINVAL with one line
 * in c->msg.
 */
static int check_pow2scaled(const struct weft_check *c)
{
	const uint32_t fnuz = T(WEFT_FP8E4M3FNUZ) | T(WEFT_FP8E5M2FNUZ);
	const weft_tensor *s = operand(c, 2);
	int err;

	if ((err = need_type(c, "operand 0", operand(c, 0), fnuz)) || (err = need_type(c, "operand 1", operand(c, 1), fnuz)) ||
	    (err = need_type(c, "log2_scale", s, T(WEFT_INT32))) || (err = need_type(c, "result", result(c), T(WEFT_FP16))))
		return err;
	if (weft_tensor_elements(s) != 1)
		FAIL("log2_scale has %lld elements, not 1", (long long)weft_tensor_elements(s));
	if (s->data && (*(const int32_t *)s->data < -32 || *(const int32_t *)s->data > 31))
		FAIL("log2_scale %d outside -32..31", (int)*(const int32_t *)s->data);
	return 0;
}

int weft_check_conv_types(const struct weft_check *c, weft_dtype acc)
{
	const weft_tensor *x = operand(c, 0), *w = operand(c, 1), *b = operand(c, 2), *y = result(c);
	weft_dtype out;
	bool ok;

	if (x->dtype == WEFT_INT8) {
		out = WEFT_INT32;
		ok = (w->dtype == WEFT_INT8 || w->dtype == WEFT_INT4) && acc == WEFT_INT32;
	} else if (x->dtype == WEFT_INT16) {
		out = WEFT_INT48;
		ok = w->dtype == WEFT_INT8 && acc == WEFT_INT48;
	} else if (T(x->dtype) & FP8) {
		out = WEFT_FP16;
		ok = (T(w->dtype) & FP8) && acc == WEFT_FP16;
	} else {
		out = x->dtype;
		ok = (T(x->dtype) & FLOATS) && w->dtype == x->dtype &&
		     (acc == WEFT_FP32 || (acc == WEFT_FP16 && x->dtype == WEFT_FP16));
	}
	if (!ok)
		FAIL("%s by %s into %s has no row", weft_dtype_name(x->dtype), weft_dtype_name(w->dtype), weft_dtype_name(acc));
	if (y->dtype != out || b->dtype != out)
		FAIL("bias %s and result %s, not %s", weft_dtype_name(b->dtype), weft_dtype_name(y->dtype), weft_dtype_name(out));
	return 0;
}

/*
 * Checks a convolution's attributes: stride and dilation are at least 1, and weft_check_attr() holds
 * (zero points and whatever limits the table has). Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_conv_attr(const struct weft_check *c)
{
	const struct weft_attr_conv *a = &this_op(c)->attr.conv;

	for (int i = 0; i < 2; i++)
		if (a->stride[i] < 1 || a->dilation[i] < 1)
			FAIL("stride %d, dilation %d < 1", (int)a->stride[i], (int)a->dilation[i]);
	return weft_check_attr(c);
}

/*
 * Checks that height and width of a convolution's result are exactly (in + both paddings - reach) /
 * stride + 1, without a remainder, where reach is (kernel - 1) times the dilation plus 1, for a kernel
 * of kh by kw pixels. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_conv_extents(const struct weft_check *c, int64_t kh, int64_t kw)
{
	const struct weft_attr_conv *a = &this_op(c)->attr.conv;
	const int64_t *x = operand(c, 0)->dim, *y = result(c)->dim;
	int err;

	err = need_extent(c, "height", x[1] + a->pad[0] + a->pad[1], (kh - 1) * a->dilation[0] + 1, a->stride[0], y[1]);
	if (err)
		return err;
	return need_extent(c, "width", x[2] + a->pad[2] + a->pad[3], (kw - 1) * a->dilation[1] + 1, a->stride[1], y[2]);
}

/*
 * Checks a TRANSPOSE_CONV2D with a kernel of kh by kw pixels: each of the four paddings, which may be
 * negative, is above minus the kernel's extent, the dilation is 1, and the result has (in - 1) * stride
 * + both paddings + kernel pixels in each direction. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_transpose_extents(const struct weft_check *c, int64_t kh, int64_t kw)
{
	const struct weft_attr_conv *a = &this_op(c)->attr.conv;
	const weft_tensor *x = operand(c, 0), *y = result(c);
	int64_t k[2] = { kh, kw };
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		if (a->pad[2 * i] <= -k[i] || a->pad[2 * i + 1] <= -k[i])
			FAIL("output padding <= -%lld", (long long)k[i]);
		if (a->dilation[i] != 1)
			FAIL("dilation %d, not 1", (int)a->dilation[i]);
		err = need_dim(c, "result", y, 1 + i,
		               (x->dim[1 + i] - 1) * a->stride[i] + a->pad[2 * i] + a->pad[2 * i + 1] + k[i]);
	}
	return err;
}

/*
 * Checks CONV2D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D or PopXL's scaled convolution: input, weight and
 * result have rank 4 and the bias rank 1; types; attributes; the weight's channels are the input's; the
 * result has the input's batches and as many channels as the weight gives (for depthwise, channels
 * times multiplier); the bias has 1 element or one for each output channel (the scaled one has
 * log2_scale in its place); and the result's height and width. Returns 0, or -EINVAL with one line in
 * c->msg.
 */
static int check_conv(const struct weft_check *c)
{
	const weft_tensor *x = operand(c, 0), *w = operand(c, 1), *b = operand(c, 2), *y = result(c);
	bool depthwise = this_op(c)->op == WEFT_OP_DEPTHWISE_CONV2D, scaled = this_op(c)->op == WEFT_OP_POPXL_CONV_POW2SCALED;
	int64_t oc, kh, kw;
	int err;

	if ((err = need_rank(c, "input", x, 4)) || (err = need_rank(c, "weight", w, 4)) ||
	    (!scaled && (err = need_rank(c, "bias", b, 1))) || (err = need_rank(c, "result", y, 4)) ||
	    (err = scaled ? check_pow2scaled(c) : weft_check_conv_types(c, this_op(c)->attr.conv.acc)) || (err = check_conv_attr(c)))
		return err;
	if (depthwise) {
		kh = w->dim[0];
		kw = w->dim[1];
		oc = w->dim[2] * w->dim[3];
		err = need_dim(c, "weight", w, 2, x->dim[3]);
	} else {
		oc = w->dim[0];
		kh = w->dim[1];
		kw = w->dim[2];
		err = need_dim(c, "weight", w, 3, x->dim[3]);
	}
	if (err || (err = need_dim(c, "result", y, 0, x->dim[0])) || (err = need_dim(c, "result", y, 3, oc)))
		return err;
	if (!scaled && b->dim[0] != 1 && b->dim[0] != oc)
		FAIL("bias has %lld elements, not 1 or %lld", (long long)b->dim[0], (long long)oc);
	if (this_op(c)->op == WEFT_OP_TRANSPOSE_CONV2D)
		return check_transpose_extents(c, kh, kw);
	return check_conv_extents(c, kh, kw);
}

/* The types that an average of elements of type t may be summed in, as a set; 0 if t has none. */
static uint32_t average_sums(weft_dtype t)
{
	switch (t) {
	case WEFT_INT8:
	case WEFT_INT16: return T(WEFT_INT32);
	case WEFT_FP16: return T(WEFT_FP16) | T(WEFT_FP32);
	case WEFT_BF16:
	case WEFT_FP32: return T(WEFT_FP32);
	case WEFT_FP8E4M3:
	case WEFT_FP8E5M2: return T(WEFT_FP16);
	default: return 0;
	}
}

/*
 * Checks AVG_POOL2D and MAX_POOL2D: input and result have rank 4 and one type (int8, int16, float8
 * of OCP, float), the same batches and channels; kernel and stride are at least 1; each padding is
 * 0..kernel - 1; for an average the image has at most 2^30 pixels, and acc is a type that its elements
 * are summed in; the attributes' limits and zero points hold; and windows end exactly at the padded
 * image's end. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_pool(const struct weft_check *c)
{
	const struct weft_attr_pool *a = &this_op(c)->attr.pool;
	const weft_tensor *x = operand(c, 0), *y = result(c);
	bool average = this_op(c)->op == WEFT_OP_AVG_POOL2D;
	int err;

	if ((err = need_rank(c, "input", x, 4)) || (err = need_rank(c, "result", y, 4)) ||
	    (err = need_same_type(c, T(WEFT_INT8) | T(WEFT_INT16) | OCP_FP8 | FLOATS)))
		return err;
	if (average && ((uint32_t)a->acc >= WEFT_N_DTYPES || !(average_sums(x->dtype) & T(a->acc))))
		FAIL("type %u is none that %s is summed in", (unsigned)a->acc, weft_dtype_name(x->dtype));
	for (int i = 0; i < 2; i++)
		if (a->kernel[i] < 1 || a->stride[i] < 1)
			FAIL("kernel %d, stride %d < 1", (int)a->kernel[i], (int)a->stride[i]);
	for (int i = 0; i < 4; i++)
		if (a->pad[i] < 0 || a->pad[i] >= a->kernel[i / 2])
			FAIL("padding %d outside 0..%d", (int)a->pad[i], (int)a->kernel[i / 2] - 1);
	if (average && x->dim[1] * x->dim[2] > 1 << 30)
		FAIL("image above 2^30 pixels");
	if ((err = weft_check_attr(c)) || (err = need_dim(c, "result", y, 0, x->dim[0])) || (err = need_dim(c, "result", y, 3, x->dim[3])) ||
	    (err = need_extent(c, "height", x->dim[1] + a->pad[0] + a->pad[1], a->kernel[0], a->stride[0], y->dim[1])))
		return err;
	return need_extent(c, "width", x->dim[2] + a->pad[2] + a->pad[3], a->kernel[1], a->stride[1], y->dim[2]);
}

/*
 * Checks MATMUL and PopXL's scaled product, [N,H,C] by [N,C,W] into [N,H,W]: rank 3; both operands of
 * one type (int8, int16, fp16, bf16, fp32), or each any float8; the result int32 for int8, int48 for
 * int16, fp16 for float8, fp32 for floats (for fp16 also fp16); and the attributes' limits and zero
 * points. The scaled product takes FNUZ float8 types only, and a log2_scale of one int32 element,
 * -32..31 if it is constant. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_matmul(const struct weft_check *c)
{
	const weft_tensor *a = operand(c, 0), *b = operand(c, 1), *y = result(c);
	uint32_t out;
	int err;

	if (this_op(c)->op == WEFT_OP_POPXL_MATMUL_POW2SCALED && (err = check_pow2scaled(c)))
		return err;
	if ((err = need_rank(c, "a", a, 3)) || (err = need_rank(c, "b", b, 3)) || (err = need_rank(c, "result", y, 3)) ||
	    (err = need_type(c, "a", a, T(WEFT_INT8) | T(WEFT_INT16) | FP8 | FLOATS)))
		return err;
	if (a->dtype != b->dtype && !((T(a->dtype) & FP8) && (T(b->dtype) & FP8)))
		FAIL("%s by %s has no row", weft_dtype_name(a->dtype), weft_dtype_name(b->dtype));
	if (a->dtype == WEFT_INT8)
		out = T(WEFT_INT32);
	else if (a->dtype == WEFT_INT16)
		out = T(WEFT_INT48);
	else if (T(a->dtype) & FP8)
		out = T(WEFT_FP16);
	else
		out = T(WEFT_FP32) | T(a->dtype == WEFT_FP16 ? WEFT_FP16 : WEFT_FP32);
	if ((err = need_type(c, "result", y, out)) || (err = weft_check_attr(c)) || (err = need_dim(c, "b", b, 0, a->dim[0])) ||
	    (err = need_dim(c, "b", b, 1, a->dim[2])) || (err = need_dim(c, "result", y, 0, a->dim[0])) ||
	    (err = need_dim(c, "result", y, 1, a->dim[1])))
		return err;
	return need_dim(c, "result", y, 2, b->dim[2]);
}

/*
 * Checks ADD, SUB, MUL, MAXIMUM and MINIMUM: both operands have one type, int32 or a float, for MUL
 * also int8 or int16; the result has that float type, or int32; MUL's shift is 0..63, and 0 unless the
 * type is int32; the attributes' limits hold; and the shapes broadcast. Returns 0, or -EINVAL with one
 * line in c->msg.
 */
static int check_elementwise(const struct weft_check *c)
{
	const weft_tensor *a = operand(c, 0), *b = operand(c, 1), *y = result(c);
	bool mul = this_op(c)->op == WEFT_OP_MUL;
	uint32_t in = T(WEFT_INT32) | FLOATS | (mul ? T(WEFT_INT8) | T(WEFT_INT16) : 0);
	int err = need_type(c, "operand 0", a, in);

	if (err)
		return err;
	if (a->dtype != b->dtype)
		FAIL("%s with %s", weft_dtype_name(a->dtype), weft_dtype_name(b->dtype));
	weft_dtype out = T(a->dtype) & FLOATS ? a->dtype : WEFT_INT32;
	if (y->dtype != out)
		FAIL("result is %s, not %s", weft_dtype_name(y->dtype), weft_dtype_name(out));
	int32_t shift = this_op(c)->attr.mul.shift;
	if (mul && (shift < 0 || shift > 63 || (shift && a->dtype != WEFT_INT32)))
		FAIL("shift %d for %s", (int)shift, weft_dtype_name(a->dtype));
	err = weft_check_attr(c);
	return err ? err : need_broadcast(c);
}

/*
 * Checks CLAMP: the result has operand 0's type (int8, int16 or a float) and shape; the lower limit is
 * not above the upper one (fmin and fmax for floats, where a NaN fails; min and max for integers, which
 * must also lie within the type); and the attributes' own limits hold. Returns 0, or -EINVAL with one
 * line in c->msg.
 */
static int check_clamp(const struct weft_check *c)
{
	const struct weft_attr_clamp *a = &this_op(c)->attr.clamp;
	bool is_float = T(operand(c, 0)->dtype) & FLOATS;
	int err;

	if ((err = need_same_type(c, T(WEFT_INT8) | T(WEFT_INT16) | FLOATS)) || (err = need_same_shape(c)))
		return err;
	if (is_float ? !(a->fmin <= a->fmax) : a->min > a->max)
		FAIL("minimum above maximum");
	if ((err = weft_check_attr(c)))
		return err;
	int64_t top = operand(c, 0)->dtype == WEFT_INT8 ? 127 : 32767;
	if (!is_float && (a->min < -top - 1 || a->max > top))
		FAIL("limits %lld..%lld outside the type", (long long)a->min, (long long)a->max);
	return 0;
}

/*
 * Checks TABLE: 256 int8 entries for int8, which give int8; 513 int16 entries for int16, which give
 * int32; the shape stays. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_table(const struct weft_check *c)
{
	const weft_tensor *x = operand(c, 0), *t = operand(c, 1), *y = result(c);
	bool wide = x->dtype == WEFT_INT16;
	int err;

	if ((err = need_type(c, "operand 0", x, T(WEFT_INT8) | T(WEFT_INT16))) ||
	    (err = need_type(c, "table", t, T(x->dtype))) ||
	    (err = need_type(c, "result", y, wide ? T(WEFT_INT32) : T(WEFT_INT8))) ||
	    (err = need_rank(c, "table", t, 1)) || (err = need_dim(c, "table", t, 0, wide ? 513 : 256)))
		return err;
	return need_same_shape(c);
}

/*
 * Checks a reduction: the axis is a dimension of operand 0; the attributes' limits hold; operand and
 * result have one type (bool for ALL and ANY, a float for PRODUCT, int32 or a float for SUM, these,
 * int8 or int16 for MAX and MIN); and the result has one element along the axis and the operand's other
 * dimensions. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_reduce(const struct weft_check *c)
{
	const weft_tensor *x = operand(c, 0), *y = result(c);
	weft_opcode op = this_op(c)->op;
	uint32_t in = T(WEFT_INT32) | FLOATS;
	int err;

	if (op == WEFT_OP_REDUCE_ALL || op == WEFT_OP_REDUCE_ANY)
		in = T(WEFT_BOOL);
	else if (op == WEFT_OP_REDUCE_PRODUCT)
		in = FLOATS;
	else if (op != WEFT_OP_REDUCE_SUM)
		in |= T(WEFT_INT8) | T(WEFT_INT16);
	if ((err = need_axis(c)) || (err = weft_check_attr(c)) || (err = need_same_type(c, in)) || (err = need_rank(c, "result", y, x->rank)))
		return err;
	for (int i = 0; i < x->rank && !err; i++)
		err = need_dim(c, "result", y, i, i == this_op(c)->attr.axis.axis ? 1 : x->dim[i]);
	return err;
}

/*
 * Checks ARGMAX: the axis is a dimension of operand 0, whose type is int8, int16, float8 of OCP or a
 * float; the attributes' limits hold; and the result is int32 with the operand's dimensions but for the
 * axis, which is left out. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_argmax(const struct weft_check *c)
{
	const weft_tensor *x = operand(c, 0), *y = result(c);
	int32_t axis = this_op(c)->attr.axis.axis;
	int err;

	if ((err = need_axis(c)) || (err = weft_check_attr(c)) || (err = need_type(c, "operand 0", x, T(WEFT_INT8) | T(WEFT_INT16) | OCP_FP8 | FLOATS)) ||
	    (err = need_type(c, "result", y, T(WEFT_INT32))) || (err = need_rank(c, "result", y, x->rank - 1)))
		return err;
	for (int i = 0; i < y->rank && !err; i++)
		err = need_dim(c, "result", y, i, x->dim[i < axis ? i : i + 1]);
	return err;
}

/*
 * Checks CONCAT: the axis is a dimension of operand 0, the attributes' limits hold, operands and result
 * have one type of any kind, one rank and the same dimensions but for the axis, and the operands'
 * extents along it add up to the result's. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_concat(const struct weft_check *c)
{
	const weft_tensor *y = result(c);
	int32_t axis = this_op(c)->attr.axis.axis;
	int64_t total = 0;
	int err;

	if ((err = need_axis(c)) || (err = weft_check_attr(c)))
		return err;
	for (int k = 0; k < this_op(c)->n_in; k++) {
		const weft_tensor *x = operand(c, k);
		if (x->dtype != y->dtype)
			FAIL("operand %d is %s, result %s", k, weft_dtype_name(x->dtype), weft_dtype_name(y->dtype));
		if ((err = need_rank(c, "operand", x, y->rank)))
			return err;
		for (int i = 0; i < y->rank && !err; i++)
			if (i != axis)
				err = need_dim(c, "operand", x, i, y->dim[i]);
		if (err)
			return err;
		total += x->dim[axis];
	}
	return need_dim(c, "result", y, axis, total);
}

/*
 * Checks that the attribute value with which PAD fills lies within operand 0's type: 0..1 for bool,
 * 0..255 and 0..65535 for uint8 and uint16, the range of its bits, signed, for any other type. Floats
 * pass with any value. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_pad_value(const struct weft_check *c)
{
	weft_dtype t = operand(c, 0)->dtype;
	int64_t v = this_op(c)->attr.pad.value;
	int bits = t == WEFT_INT4 ? 4 : t == WEFT_INT48 ? 48 : 8 * (int)weft_dtype_bytes(t);
	int64_t top = bits >= 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1, low = -top - 1;

	if (T(t) & (FLOATS | FP8 | T(WEFT_FP64)))
		return 0;
	if (t == WEFT_BOOL) {
		low = 0;
		top = 1;
	} else if (t == WEFT_UINT8 || t == WEFT_UINT16) {
		low = 0;
		top = ((int64_t)1 << bits) - 1;
	}
	if (v < low || v > top)
		FAIL("constant %lld outside %s", (long long)v, weft_dtype_name(t));
	return 0;
}

/*
 * Checks PAD: a rank of at least 1, the same type and rank in and out, a value within the type, no
 * negative padding, and each dimension of the result larger than the operand's by the padding before
 * and after it. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_pad(const struct weft_check *c)
{
	const struct weft_attr_pad *a = &this_op(c)->attr.pad;
	const weft_tensor *x = operand(c, 0), *y = result(c);
	int err;

	if (x->rank < 1)
		FAIL("rank 0");
	if ((err = need_same_type(c, ANY)) || (err = check_pad_value(c)) || (err = need_rank(c, "result", y, x->rank)))
		return err;
	for (int i = 0; i < x->rank && !err; i++) {
		if (a->before[i] < 0 || a->after[i] < 0)
			FAIL("padding of dimension %d < 0", i);
		err = need_dim(c, "result", y, i, x->dim[i] + a->before[i] + a->after[i]);
	}
	return err;
}

/*
 * Checks RESHAPE: operand and result have the same number of elements and the same type. Returns 0, or
 * -EINVAL with one line in c->msg.
 */
static int check_reshape(const struct weft_check *c)
{
	int64_t n = weft_tensor_elements(operand(c, 0)), m = weft_tensor_elements(result(c));

	if (n != m)
		FAIL("%lld elements into %lld", (long long)n, (long long)m);
	return need_same_type(c, ANY);
}

/*
 * Checks SLICE: type and rank stay, and in each dimension the part, which begins at the attribute start
 * and has the result's extent, lies within the operand. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_slice(const struct weft_check *c)
{
	const struct weft_attr_slice *a = &this_op(c)->attr.slice;
	const weft_tensor *x = operand(c, 0), *y = result(c);
	int err;

	if ((err = need_same_type(c, ANY)) || (err = need_rank(c, "result", y, x->rank)))
		return err;
	for (int i = 0; i < x->rank; i++)
		if (a->start[i] < 0 || a->start[i] > x->dim[i] - y->dim[i])
			FAIL("dimension %d: %lld from %lld is outside %lld", i, (long long)y->dim[i], (long long)a->start[i],
			     (long long)x->dim[i]);
	return 0;
}

/*
 * Checks TRANSPOSE: the permutation names each dimension once, and the result has the operand's type
 * and its dimensions in that order. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_transpose(const struct weft_check *c)
{
	const struct weft_attr_perm *a = &this_op(c)->attr.perm;
	const weft_tensor *x = operand(c, 0), *y = result(c);
	unsigned seen = 0;
	int err;

	if ((err = need_same_type(c, ANY)) || (err = need_rank(c, "result", y, x->rank)))
		return err;
	for (int i = 0; i < x->rank && !err; i++) {
		if (a->perm[i] < 0 || a->perm[i] >= x->rank || (seen & 1u << a->perm[i]))
			FAIL("permutation entry %d is %d", i, (int)a->perm[i]);
		seen |= 1u << a->perm[i];
		err = need_dim(c, "result", y, i, x->dim[a->perm[i]]);
	}
	return err;
}

/*
 * Checks CAST: two different types, both of int8, int16, int32 and bool; or both of int8, int16, int32,
 * fp16, bf16 and fp32; or one of these floats and one float8 type. (Not bool with a float, and not
 * float8 with float8 or an integer.) The shape stays. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_cast(const struct weft_check *c)
{
	uint32_t x = T(operand(c, 0)->dtype), y = T(result(c)->dtype);
	uint32_t ints = T(WEFT_INT8) | T(WEFT_INT16) | T(WEFT_INT32), truth = T(WEFT_BOOL);
	bool row = ((x & (ints | truth)) && (y & (ints | truth))) || ((x & (ints | FLOATS)) && (y & (ints | FLOATS))) ||
	           ((x & FLOATS) && (y & FP8)) || ((x & FP8) && (y & FLOATS));

	if (!row || x == y)
		FAIL("%s to %s has no row", weft_dtype_name(operand(c, 0)->dtype), weft_dtype_name(result(c)->dtype));
	return need_same_shape(c);
}

/*
 * Checks which types RESCALE may combine. Operand 0 is int8, uint8, int16, uint16, int32 or int48, and the result one of
 * these without int48. The attributes x_unsigned and y_unsigned say that operand or result are unsigned; uint8 and uint16
 * need theirs set. At most one of the two is set, and the one that is set demands that neither operand nor result is int32
 * or int48. The rounding is one of the four modes. WEFT_DOUBLE_ROUND needs the attribute scale32, which is not allowed with
 * int48. Zero points and limits are checked, too. Source: TOSA 1.0, RESCALE. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_rescale_types(const struct weft_check *c)
{
	const struct weft_attr_rescale *a = &this_op(c)->attr.rescale;
	const weft_tensor *x = operand(c, 0), *y = result(c);
	uint32_t narrow = T(WEFT_INT8) | T(WEFT_UINT8) | T(WEFT_INT16) | T(WEFT_UINT16);
	int err;

	if ((err = need_type(c, "operand 0", x, narrow | T(WEFT_INT32) | T(WEFT_INT48))) ||
	    (err = need_type(c, "result", y, narrow | T(WEFT_INT32))))
		return err;
	const uint32_t stored_unsigned = T(WEFT_UINT8) | T(WEFT_UINT16);
	const bool xu = a->x_unsigned, yu = a->y_unsigned;

	if (((T(x->dtype) & stored_unsigned) && !xu) || ((T(y->dtype) & stored_unsigned) && !yu))
		FAIL("%s to %s without the unsigned attribute", weft_dtype_name(x->dtype), weft_dtype_name(y->dtype));
	if (xu && yu)
		FAIL("unsigned on both sides");
	if ((xu && y->dtype == WEFT_INT32) || (yu && (x->dtype == WEFT_INT32 || x->dtype == WEFT_INT48)) ||
	    (xu && !(T(x->dtype) & narrow)) || (yu && !(T(y->dtype) & narrow)))
		FAIL("%s to %s cannot be unsigned", weft_dtype_name(x->dtype), weft_dtype_name(y->dtype));
	if (a->rounding != WEFT_SINGLE_ROUND && a->rounding != WEFT_DOUBLE_ROUND && a->rounding != WEFT_INEXACT_ROUND &&
	    a->rounding != WEFT_EVEN_ROUND)
		FAIL("rounding %d is none", (int)a->rounding);
	if (!a->scale32 && a->rounding == WEFT_DOUBLE_ROUND)
		FAIL("two roundings with a 16-bit multiplier");
	if (a->scale32 && x->dtype == WEFT_INT48)
		FAIL("int48 with a 32-bit multiplier");
	return weft_check_attr(c);
}

/*
 * Checks RESCALE: check_rescale_types(); the result has operand 0's shape; multiplier (int32 with
 * scale32, otherwise int16) and shift (int8) have rank 1 and one element, or with per_channel one for
 * each element of the last dimension. If both are constant, no multiplier is negative and each shift is
 * 2..62; if one is not, values are not checked here. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_rescale(const struct weft_check *c)
{
	const struct weft_attr_rescale *a = &this_op(c)->attr.rescale;
	const weft_tensor *x = operand(c, 0), *m = operand(c, 1), *s = operand(c, 2);
	int err;

	if ((err = check_rescale_types(c)) || (err = need_same_shape(c)) ||
	    (err = need_type(c, "multiplier", m, a->scale32 ? T(WEFT_INT32) : T(WEFT_INT16))) ||
	    (err = need_type(c, "shift", s, T(WEFT_INT8))) || (err = need_rank(c, "multiplier", m, 1)) ||
	    (err = need_rank(c, "shift", s, 1)))
		return err;
	if (a->per_channel && x->rank < 1)
		FAIL("per channel with rank 0");
	int64_t n = a->per_channel ? x->dim[x->rank - 1] : 1;
	if ((err = need_dim(c, "multiplier", m, 0, n)) || (err = need_dim(c, "shift", s, 0, n)))
		return err;
	/* If they are not constant (EXT-DYNAMIC), golden checks them when it runs. */
	for (int64_t i = 0; m->data && s->data && i < n; i++) {
		int32_t mult = a->scale32 ? ((const int32_t *)m->data)[i] : ((const int16_t *)m->data)[i];
		int shift = ((const int8_t *)s->data)[i];
		if (mult < 0 || shift < 2 || shift > 62)
			FAIL("channel %lld: multiplier %d, shift %d (0 or more; 2..62)", (long long)i, (int)mult, shift);
	}
	return 0;
}

/*
 * Calls the check for the kind of the operator that c is at, whose numbers of operands and results must have
 * been checked. IDENTITY is checked here (same type and shape), and CONST (its result has data). Returns 0,
 * -EINVAL with one line in c->msg, or -ENOMEM (ONNX_NODE), also with a line.
 */
static int check_kind(const struct weft_check *c)
{
	int err;

	switch (this_op(c)->op) {
	case WEFT_OP_CONV2D:
	case WEFT_OP_DEPTHWISE_CONV2D:
	case WEFT_OP_TRANSPOSE_CONV2D:
	case WEFT_OP_POPXL_CONV_POW2SCALED:
		return check_conv(c);
	case WEFT_OP_AVG_POOL2D:
	case WEFT_OP_MAX_POOL2D:
		return check_pool(c);
	case WEFT_OP_MATMUL:
	case WEFT_OP_POPXL_MATMUL_POW2SCALED:
		return check_matmul(c);
	case WEFT_OP_CLAMP:
		return check_clamp(c);
	case WEFT_OP_ADD:
	case WEFT_OP_SUB:
	case WEFT_OP_MUL:
	case WEFT_OP_MAXIMUM:
	case WEFT_OP_MINIMUM:
		return check_elementwise(c);
	case WEFT_OP_TABLE:
		return check_table(c);
	case WEFT_OP_REDUCE_ALL:
	case WEFT_OP_REDUCE_ANY:
	case WEFT_OP_REDUCE_MAX:
	case WEFT_OP_REDUCE_MIN:
	case WEFT_OP_REDUCE_PRODUCT:
	case WEFT_OP_REDUCE_SUM:
		return check_reduce(c);
	case WEFT_OP_ARGMAX:
		return check_argmax(c);
	case WEFT_OP_CONCAT:
		return check_concat(c);
	case WEFT_OP_PAD:
		return check_pad(c);
	case WEFT_OP_RESHAPE:
		return check_reshape(c);
	case WEFT_OP_SLICE:
		return check_slice(c);
	case WEFT_OP_TRANSPOSE:
		return check_transpose(c);
	case WEFT_OP_RESCALE:
		return check_rescale(c);
	case WEFT_OP_CAST:
		return check_cast(c);
	case WEFT_OP_IDENTITY:
		err = need_same_type(c, ANY);
		return err ? err : need_same_shape(c);
	case WEFT_OP_CONST:
		if (!result(c)->data)
			FAIL("without data");
		return 0;
	case WEFT_OP_ONNX_REQUANT:
	case WEFT_OP_ONNX_QUANTIZE:
	case WEFT_OP_ONNX_DEQUANTIZE:
	case WEFT_OP_ONNX_CAST:
	case WEFT_OP_ONNX_FAKE_CONVERT:
	case WEFT_OP_ONNX_REQUANT_SHIFT:
	case WEFT_OP_ONNX_DIV:
	case WEFT_OP_PACT_DIV:
		return weft_check_onnx_op(c);
	case WEFT_OP_PACT_SOFTMAX:
	case WEFT_OP_PACT_ITA_MAX:
	case WEFT_OP_PACT_LAYER_NORM:
		return weft_check_pact(c);
	case WEFT_OP_ONNX_NODE:
		return weft_check_onnx_node(c);
	default:
		if (this_op(c)->op >= WEFT_OP_TFL_SOFTMAX)
			return weft_check_tfl(c);
		return weft_check_tosa_op(c);
	}
}

/*
 * Checks the operands from n_own on, which are attributes that come as operands (EXT-DYNAMIC). Each has
 * rank 1. All of RESHAPE, SLICE, TILE and RESIZE and the first of PAD are int64 of any length; all
 * others have one element, of any type. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_arguments(const struct weft_check *c, int n_own)
{
	const weft_opcode op = this_op(c)->op;

	for (int k = n_own; k < this_op(c)->n_in; k++) {
		const weft_tensor *t = operand(c, k);
		bool shape = op == WEFT_OP_RESHAPE || op == WEFT_OP_SLICE || op == WEFT_OP_TILE || op == WEFT_OP_RESIZE ||
		             (op == WEFT_OP_PAD && k == n_own);
		if (t->rank != 1 || (shape ? t->dtype != WEFT_INT64 : t->dim[0] != 1))
			FAIL("argument %d is %s of rank %d", k, weft_dtype_name(t->dtype), t->rank);
	}
	return 0;
}

/*
 * Checks an operator whose attributes come as operands behind its own: first these operands' types and
 * ranks, then the operator as if it had only its own operands. Since the values are not known here, of
 * PAD, SLICE, TILE and RESIZE only the result's rank (operand 0's) and, but for RESIZE, its type are
 * checked. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_dynamic(const struct weft_check *c)
{
	struct weft_check own = *c;
	struct weft_gop o = *this_op(c);
	int err = check_arguments(c, weft_op_n_own(o.op));

	o.n_in = weft_op_n_own(o.op);
	own.op = &o;
	if (err)
		return err;
	switch (o.op) {
	case WEFT_OP_PAD:
	case WEFT_OP_SLICE:
	case WEFT_OP_TILE:
		err = need_rank(&own, "result", result(&own), operand(&own, 0)->rank);
		return err ? err : need_same_type(&own, ANY);
	case WEFT_OP_RESIZE:
		return need_rank(&own, "result", result(&own), operand(&own, 0)->rank);
	default:
		return check_kind(&own);
	}
}

int weft_check_op(const struct weft_check *c)
{
	const struct weft_gop *o = this_op(c);
	const struct arity *a = &arity[o->op];

	if (o->n_in && o->n_in == weft_op_n_dynamic(o->op) && o->n_out == 1)
		return check_dynamic(c);

	if (o->n_in < a->in_min || o->n_in > a->in_max || (a->out >= 0 && o->n_out != a->out))
		FAIL("%d inputs and %d outputs; wants %d..%d and %d", o->n_in, o->n_out, a->in_min, a->in_max, a->out);
	return check_kind(c);
}

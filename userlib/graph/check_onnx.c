/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of ONNX's extensions and of PACT_*; sim/golden/onnx/onnx.h and pact.c say what they
 * compute. Every check returns 0, or -EINVAL with one line in c->msg.
 */
#include <errno.h>
#include <string.h>

#include <weft/convert.h>

#include "sim/golden/dtype.h"
#include "sim/golden/golden.h"
#include "sim/golden/onnx/ref/onnx_ref.h"
#include "check_need.h"

#define SCALES FLOATS
#define SMALL_INTS (T(WEFT_INT8) | T(WEFT_UINT8) | T(WEFT_INT16) | T(WEFT_UINT16) | T(WEFT_INT4) | T(WEFT_UINT4) | \
                    T(WEFT_INT2) | T(WEFT_UINT2))
#define SMALL (SMALL_INTS | FP8 | T(WEFT_FP4E2M1))

/*
 * Checks the types of ONNX_REQUANT: operand 0 int32; operands 1 to 3 scales, each fp16, bf16 or fp32;
 * the result int8 or uint8; operand 4 a zero point of the result's type; operand 5, if there are six,
 * an int32 by which an average divides. The attribute type (of the product) is 0 or fp32. Returns 0, or
 * -EINVAL with one line in c->msg.
 */
static int check_requant(const struct weft_check *c)
{
	int err = need_type(c, "operand 0", operand(c, 0), T(WEFT_INT32));

	if (this_op(c)->attr.onnx.type && this_op(c)->attr.onnx.type != WEFT_FP32)
		FAIL("product in %s", weft_dtype_name(this_op(c)->attr.onnx.type));
	for (int k = 1; k < 4 && !err; k++)
		err = need_type(c, "scale", operand(c, k), SCALES);
	if (err || (err = need_type(c, "result", result(c), T(WEFT_INT8) | T(WEFT_UINT8))))
		return err;
	if (this_op(c)->n_in == 6 && (err = need_type(c, "count", operand(c, 5), T(WEFT_INT32))))
		return err;
	return need_type(c, "zero point", operand(c, 4), T(result(c)->dtype));
}

/*
 * Checks the types of an operator between a float and a quantised tensor. wide is the float side, whose
 * type must be in the set wides; narrow is the quantised side, with a type in narrows. Operand 1, the
 * scale, is fp16, bf16 or fp32. If there are three operands, operand 2 is the zero point and has
 * narrow's type. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_quantize(const struct weft_check *c, const weft_tensor *wide, uint32_t wides, const weft_tensor *narrow,
                          uint32_t narrows)
{
	int err = need_type(c, "float side", wide, wides);

	if (err || (err = need_type(c, "quantised side", narrow, narrows)) || (err = need_type(c, "scale", operand(c, 1), SCALES)))
		return err;
	return this_op(c)->n_in == 3 ? need_type(c, "zero point", operand(c, 2), T(narrow->dtype)) : 0;
}

/*
 * Checks ONNX_FAKE_CONVERT, which takes a tensor through float8 and back: operand 0, every other
 * operand (scale, shift) and the result have one type of fp16, bf16 and fp32; result and operand 0 have
 * one shape; the attribute type is E4M3 or E5M2 (no FNUZ). Returns 0, or -EINVAL with one line in
 * c->msg.
 */
static int check_fake_convert(const struct weft_check *c)
{
	weft_dtype t = this_op(c)->attr.onnx.type;
	int err = need_same_type(c, FLOATS);

	if (t != WEFT_FP8E4M3 && t != WEFT_FP8E5M2)
		FAIL("to %s, not float8", weft_dtype_name(t));
	for (int k = 1; k < this_op(c)->n_in && !err; k++)
		err = need_type(c, "scale or shift", operand(c, k), T(operand(c, 0)->dtype));
	return err ? err : need_same_shape(c);
}

/* Checks that all operands and the result are int32. Returns 0, or -EINVAL with one line in c->msg. */
static int check_int32(const struct weft_check *c)
{
	int err = need_type(c, "result", result(c), T(WEFT_INT32));

	for (int k = 0; k < this_op(c)->n_in && !err; k++)
		err = need_type(c, "operand", operand(c, k), T(WEFT_INT32));
	return err;
}

/*
 * Checks ONNX_REQUANT_SHIFT: the attribute min is not above max, and all operands and the result are
 * int32. (The shift's range is weft_check_attr()'s.) Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_requant_shift(const struct weft_check *c)
{
	const struct weft_attr_requant_shift *a = &this_op(c)->attr.requant_shift;

	if (a->min > a->max)
		FAIL("limits %d to %d", a->min, a->max);
	return check_int32(c);
}

/*
 * Checks PACT_DIV: delta times eta fits 32 bits, and all operands and the result are int32. Returns 0,
 * or -EINVAL with one line in c->msg.
 */
static int check_pact_div(const struct weft_check *c)
{
	const struct weft_attr_pact_div *a = &this_op(c)->attr.pact_div;

	if ((int64_t)a->delta * a->eta > UINT32_MAX)
		FAIL("delta %d times eta %d beyond 32 bits", a->delta, a->eta);
	return check_int32(c);
}

/*
 * Checks PACT_SOFTMAX for rows of n elements, of which there are at most 2^15. Returns 0, or -EINVAL
 * with one line in c->msg.
 */
static int check_pact_softmax(const struct weft_check *c, int64_t n)
{
	if (n > 1 << 15)
		FAIL("%lld elements a row, limit %d", (long long)n, 1 << 15);
	return 0;
}

/*
 * Checks PACT_LAYER_NORM for rows of n elements, at most 2^20: weight and bias (operands 1 and 2) have
 * rank 1 and one element or n, and the attribute min is not above max. Returns 0, or -EINVAL with one
 * line in c->msg.
 */
static int check_pact_layer_norm(const struct weft_check *c, int64_t n)
{
	const struct weft_attr_requant_shift *a = &this_op(c)->attr.requant_shift;

	for (int k = 1; k < 3; k++) {
		int err = need_rank(c, "weight or bias", operand(c, k), 1);

		if (err)
			return err;
		if (operand(c, k)->dim[0] != n && operand(c, k)->dim[0] != 1)
			FAIL("operand %d has %lld elements, a row %lld", k, (long long)operand(c, k)->dim[0], (long long)n);
	}
	if (a->min > a->max || n > 1 << 20)
		FAIL("limits %d to %d, %lld elements a row", a->min, a->max, (long long)n);
	return 0;
}

/*
 * Checks PACT_SOFTMAX, PACT_LAYER_NORM and PACT_ITA_MAX, which work along the last axis: all operands
 * and the result are int32, the attributes keep their limits, the result has operand 0's shape, and the
 * rank is at least 1. Rows of softmax have at most 2^15 elements, those of layer normalisation 2^20;
 * the group of PACT_ITA_MAX must divide the row's length. Returns 0, or -EINVAL with one line in
 * c->msg.
 */
int weft_check_pact(const struct weft_check *c)
{
	const weft_tensor *x = operand(c, 0);
	int err = check_int32(c);

	if (err || (err = weft_check_attr(c)) || (err = need_same_shape(c)))
		return err;
	if (x->rank < 1)
		FAIL("rank 0 has no last axis");
	const struct weft_attr_pact_ita_max *a = &this_op(c)->attr.pact_ita_max;
	const int64_t n = x->dim[x->rank - 1];
	if (this_op(c)->op == WEFT_OP_PACT_SOFTMAX)
		return check_pact_softmax(c, n);
	if (this_op(c)->op == WEFT_OP_PACT_LAYER_NORM)
		return check_pact_layer_norm(c, n);
	if (n % a->group)
		FAIL("groups of %d in a row of %lld", a->group, (long long)n);
	return 0;
}

/*
 * Checks attributes, shapes and types of ONNX_REQUANT, _REQUANT_SHIFT, _QUANTIZE, _DEQUANTIZE, _CAST,
 * _DIV, _FAKE_CONVERT or PACT_DIV. ONNX_CAST keeps the shape and may have any types. The operands of
 * all others broadcast to the result's shape. QUANTIZE goes from a float or int32 to a type of at most
 * 16 bits (int, uint, float8, float4), with the attribute type a plain float; DEQUANTIZE from such a
 * type or int32 to a float; DIV has one float type throughout. Returns 0, or -EINVAL with one line in
 * c->msg.
 */
int weft_check_onnx_op(const struct weft_check *c)
{
	const weft_attr *a = &this_op(c)->attr;
	int err;

	if ((err = weft_check_attr(c)))
		return err;
	if (this_op(c)->op == WEFT_OP_ONNX_CAST)
		return need_same_shape(c);
	if ((err = need_broadcast(c)))
		return err;
	switch (this_op(c)->op) {
	case WEFT_OP_ONNX_REQUANT: return check_requant(c);
	case WEFT_OP_ONNX_REQUANT_SHIFT: return check_requant_shift(c);
	case WEFT_OP_PACT_DIV: return check_pact_div(c);
	case WEFT_OP_ONNX_QUANTIZE:
		if (!weft_is_plain_float(a->onnx.type))
			FAIL("quotient in %s", weft_dtype_name(a->onnx.type));
		return check_quantize(c, operand(c, 0), FLOATS | T(WEFT_INT32), result(c), SMALL);
	case WEFT_OP_ONNX_DEQUANTIZE:
		return check_quantize(c, result(c), FLOATS, operand(c, 0), SMALL | T(WEFT_INT32));
	case WEFT_OP_ONNX_DIV:
		err = need_same_type(c, FLOATS);
		return err ? err : need_type(c, "divisor", operand(c, 1), T(operand(c, 0)->dtype));
	default: return check_fake_convert(c);
	}
}

/*
 * Checks ONNX_NODE: the attributes' limits hold, the operator's reference function accepts the operands (what it says
 * against them becomes the message), and the types and shapes that it computes for the results are those of the graph.
 * The comparisons that finding the shapes takes are subtracted from *c->work. Returns 0, -ENOMEM, or -EINVAL with one
 * line in c->msg: one of these checks fails, there is no such kernel, there are more comparisons than *c->work, or the
 * shape of a result depends on an operand without data (weft_onnx_ref_shapes()).
 */
int weft_check_onnx_node(const struct weft_check *c)
{
	const struct weft_gop *o = this_op(c);
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	weft_tensor y[WEFT_OP_MAX_OUTPUTS];
	char line[WEFT_GOLDEN_MSG] = "";
	int which;

	int err = weft_check_attr(c);

	if (err)
		return err;
	for (int k = 0; k < o->n_in; k++)
		x[k] = operand(c, k);
	const double steps = weft_onnx_ref_work(&o->attr.onnx_node, x, o->n_in, NULL, 0);
	if (c->work && steps > *c->work)
		return weft_check_fail(c, "finding the shapes of results takes too many comparisons");
	if (c->work)
		*c->work -= steps;
	err = weft_onnx_ref_shapes(&o->attr.onnx_node, x, o->n_in, y, o->n_out, &which, line);
	if (err) {
		weft_check_fail(c, "%s", err == -ENOMEM ? "out of memory" : line);
		return err == -ENOMEM ? err : -EINVAL;
	}
	for (int k = 0; k < o->n_out; k++) {
		const weft_tensor *t = &c->g->tensors[o->out[k]].t;

		if (t->dtype != y[k].dtype || t->rank != y[k].rank || memcmp(t->dim, y[k].dim, sizeof t->dim[0] * (size_t)t->rank))
			FAIL("result %d has another type or shape than its operands give", k);
	}
	return 0;
}

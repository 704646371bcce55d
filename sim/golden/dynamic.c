/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EXT-DYNAMIC: arguments that TOSA 1.0 otherwise wants to be known at compile time,
 * as operands behind an operator's own, all of them and in TOSA's order. Their values
 * become the operator's attributes; what the text checks before a run, its ERROR_IFs
 * and the results' shapes, is then checked in the run.
 *
 *   zero points      one element of the type of the tensor that they belong to
 *   shift, pad_const one element; int8, x's type
 *   shapes           int64: padding [2 * rank], shape, start, size, multiples [rank],
 *                    scale [4], offset, border [2]
 *
 * RESCALE's multiplier and shift, and TABLE's table, are operands anyway.
 * Source: TOSA 1.0, section 6.2.9 and the argument tables.
 */
#include <string.h>

#include "float/element.h"
#include "ops.h"

static int own(const struct weft_call *c)
{
	return weft_op_n_own(c->op);
}

/* Argument k behind the operator's own has n elements of type t. */
static int need(const struct weft_call *c, int k, const char *what, weft_dtype t, int64_t n)
{
	const weft_tensor *x = c->x[own(c) + k];

	if (x->dtype != t || x->rank != 1 || x->dim[0] != n)
		return weft_call_fail(c, -EINVAL, "%s is %s of %lld elements and rank %d, must be %s[%lld]", what,
		                      weft_dtype_name(x->dtype), (long long)weft_tensor_elements(x), x->rank, weft_dtype_name(t),
		                      (long long)n);
	return 0;
}

/* The zero point of tensor t; only bytes, and unsigned words, have one that is not 0. */
static int zero_point(const struct weft_call *c, int k, const char *what, const weft_tensor *t, bool is_unsigned, int32_t *zp)
{
	int err = need(c, k, what, t->dtype, 1);

	if (err)
		return err;
	const weft_tensor *x = c->x[own(c) + k];
	if (weft_is_float(t->dtype)) {
		*zp = 0;
		return weft_get_f(x, 0) == 0 ? 0 : weft_call_fail(c, -EINVAL, "%s is not 0", what);
	}
	int64_t v = weft_get(x, 0);
	if (is_unsigned)
		v &= weft_dtype_bytes(t->dtype) == 1 ? 0xff : 0xffff;
	if (v && weft_dtype_bytes(t->dtype) != 1 && !(weft_dtype_bytes(t->dtype) == 2 && is_unsigned))
		return weft_call_fail(c, -EINVAL, "%s is %lld, must be 0 for %s", what, (long long)v, weft_dtype_name(t->dtype));
	*zp = (int32_t)v;
	return 0;
}

static int zero_points(const struct weft_call *c, const weft_tensor *a, bool a_unsigned, int32_t *a_zp, const weft_tensor *b,
                       bool b_unsigned, int32_t *b_zp)
{
	int err = zero_point(c, 0, "first zero point", a, a_unsigned, a_zp);

	return err ? err : zero_point(c, 1, "second zero point", b, b_unsigned, b_zp);
}

/* Argument k is a shape of n values that fit 32 bits. */
static int shape(const struct weft_call *c, int k, const char *what, int64_t n, int32_t *v)
{
	int err = need(c, k, what, WEFT_INT64, n);

	for (int64_t i = 0; i < n && !err; i++) {
		int64_t wide = ((const int64_t *)c->x[own(c) + k]->data)[i];
		if (wide < INT32_MIN || wide > INT32_MAX)
			err = weft_call_fail(c, -EINVAL, "%s value %lld is %lld, beyond 32 bits", what, (long long)i, (long long)wide);
		v[i] = (int32_t)wide;
	}
	return err;
}

static int pad(const struct weft_call *c, struct weft_attr_pad *a)
{
	const weft_tensor *x = c->x[0], *value = c->x[2];
	int32_t both[2 * WEFT_MAX_RANK];
	int err;

	if ((err = shape(c, 0, "padding", 2 * x->rank, both)) || (err = need(c, 1, "pad_const", x->dtype, 1)))
		return err;
	for (int i = 0; i < x->rank; i++) {
		a->before[i] = both[2 * i];
		a->after[i] = both[2 * i + 1];
	}
	if (x->dtype == WEFT_FP32)
		a->fvalue = weft_get_f(value, 0);
	else
		a->value = weft_is_float(x->dtype) ? (int64_t)weft_load_bits(value, 0) : weft_get(value, 0);
	return 0;
}

/* The shape that the argument asks for is the result's. One 0 is the empty shape. */
static int result_shape(const struct weft_call *c, int k, const char *what)
{
	const weft_tensor *y = c->y[0], *s = c->x[own(c) + k];
	const int64_t *v = s->data;
	int err;

	if (!y->rank && s->dtype == WEFT_INT64 && weft_tensor_elements(s) == 1 && !v[0])
		return 0;
	if ((err = need(c, k, what, WEFT_INT64, y->rank)))
		return err;
	for (int i = 0; i < y->rank; i++)
		if (v[i] != y->dim[i])
			return weft_call_fail(c, -EINVAL, "%s %d is %lld, the result has %lld", what, i, (long long)v[i],
			                      (long long)y->dim[i]);
	return 0;
}

static int slice(const struct weft_call *c, struct weft_attr_slice *a)
{
	int err = need(c, 0, "start", WEFT_INT64, c->x[0]->rank);

	if (err)
		return err;
	memcpy(a->start, c->x[1]->data, (size_t)c->x[0]->rank * sizeof a->start[0]);
	return result_shape(c, 1, "size");
}

static int resize(const struct weft_call *c, struct weft_attr_resize *a)
{
	int32_t scale[4], offset[2], border[2];
	int err;

	if ((err = shape(c, 0, "scale", 4, scale)) || (err = shape(c, 1, "offset", 2, offset)) ||
	    (err = shape(c, 2, "border", 2, border)))
		return err;
	*a = (struct weft_attr_resize){ scale[0], scale[1], scale[2], scale[3], offset[0], offset[1], border[0], border[1], a->mode };
	return 0;
}

static int mul_shift(const struct weft_call *c, int32_t *shift)
{
	int err = need(c, 0, "shift", WEFT_INT8, 1);

	*shift = err ? 0 : (int32_t)weft_get(c->x[2], 0);
	return err;
}

int weft_dynamic_attr(const struct weft_call *c, weft_attr *a)
{
	const weft_tensor *x = c->x[0], *w = c->x[1], *y = c->y[0];

	switch (c->op) {
	case WEFT_OP_AVG_POOL2D:
		return zero_points(c, x, false, &a->pool.x_zp, y, false, &a->pool.y_zp);
	case WEFT_OP_CONV2D:
	case WEFT_OP_DEPTHWISE_CONV2D:
	case WEFT_OP_TRANSPOSE_CONV2D:
		return zero_points(c, x, false, &a->conv.x_zp, w, false, &a->conv.w_zp);
	case WEFT_OP_CONV3D:
		return zero_points(c, x, false, &a->conv3d.x_zp, w, false, &a->conv3d.w_zp);
	case WEFT_OP_MATMUL:
		return zero_points(c, x, false, &a->matmul.a_zp, w, false, &a->matmul.b_zp);
	case WEFT_OP_NEGATE:
		return zero_points(c, x, false, &a->negate.x_zp, y, false, &a->negate.y_zp);
	case WEFT_OP_RESCALE:
		return zero_points(c, x, a->rescale.x_unsigned, &a->rescale.x_zp, y, a->rescale.y_unsigned, &a->rescale.y_zp);
	case WEFT_OP_MUL:
		return mul_shift(c, &a->mul.shift);
	case WEFT_OP_PAD:
		return pad(c, &a->pad);
	case WEFT_OP_RESHAPE:
		return result_shape(c, 0, "shape");
	case WEFT_OP_SLICE:
		return slice(c, &a->slice);
	case WEFT_OP_TILE:
		return shape(c, 0, "multiples", x->rank, a->tile.multiple);
	default:
		return resize(c, &a->resize);
	}
}

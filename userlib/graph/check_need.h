/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small checks of operands and results, of which the operators' rules are made. The operator is the
 * one that c is at. need_...() return 0 if the demand is met, otherwise -EINVAL with one line in
 * c->msg.
 */
#ifndef WEFT_GRAPH_CHECK_NEED_H
#define WEFT_GRAPH_CHECK_NEED_H

#include <stdbool.h>

#include "check.h"

/* Sets of types, one bit each. */
#define T(t)    (1u << (t))
#define OCP_FP8 (T(WEFT_FP8E4M3) | T(WEFT_FP8E5M2))
#define FP8     (T(WEFT_FP8E4M3) | T(WEFT_FP8E5M2) | T(WEFT_FP8E4M3FNUZ) | T(WEFT_FP8E5M2FNUZ))
#define FLOATS  (T(WEFT_FP16) | T(WEFT_BF16) | T(WEFT_FP32))
#define ANY     (~0u)

#define FAIL(...) return weft_check_fail(c, __VA_ARGS__)

/* Returns the operator that is being checked. */
static inline const struct weft_gop *this_op(const struct weft_check *c)
{
	return c->op ? c->op : &c->g->ops[c->i_op];
}

/* Returns its k-th operand. */
static inline const weft_tensor *operand(const struct weft_check *c, int k)
{
	return &c->g->tensors[this_op(c)->in[k]].t;
}

/* Returns its first result. */
static inline const weft_tensor *result(const struct weft_check *c)
{
	return &c->g->tensors[this_op(c)->out[0]].t;
}

/* Says whether two tensors have the same rank and dimensions. */
static inline bool same_shape(const weft_tensor *a, const weft_tensor *b)
{
	if (a->rank != b->rank)
		return false;
	for (int i = 0; i < a->rank; i++)
		if (a->dim[i] != b->dim[i])
			return false;
	return true;
}

/* Demands that t's type is in the set `allowed`. what names t in the message. */
static inline int need_type(const struct weft_check *c, const char *what, const weft_tensor *t, uint32_t allowed)
{
	if (!(allowed & T(t->dtype)))
		FAIL("%s is %s, which has no row", what, weft_dtype_name(t->dtype));
	return 0;
}

/* Demands that t has that rank. what names t in the message. */
static inline int need_rank(const struct weft_check *c, const char *what, const weft_tensor *t, int rank)
{
	if (t->rank != rank)
		FAIL("%s has rank %d, not %d", what, t->rank, rank);
	return 0;
}

/* Demands that dimension k of t is `want`. what names t in the message. */
static inline int need_dim(const struct weft_check *c, const char *what, const weft_tensor *t, int k, int64_t want)
{
	if (t->dim[k] != want)
		FAIL("%s dimension %d is %lld, not %lld", what, k, (long long)t->dim[k], (long long)want);
	return 0;
}

/* Demands that operand 0's type is in the set `allowed` and that the result has the same type. */
static inline WEFT_MUST_USE int need_same_type(const struct weft_check *c, uint32_t allowed)
{
	int err = need_type(c, "operand 0", operand(c, 0), allowed);

	if (err)
		return err;
	if (operand(c, 0)->dtype != result(c)->dtype)
		FAIL("%s in, %s out", weft_dtype_name(operand(c, 0)->dtype), weft_dtype_name(result(c)->dtype));
	return 0;
}

/* Demands that the result has operand 0's shape. */
static inline int need_same_shape(const struct weft_check *c)
{
	if (!same_shape(operand(c, 0), result(c)))
		FAIL("result's shape is not the operand's");
	return 0;
}

/* Demands that the attribute axis names a dimension of operand 0. */
static inline int need_axis(const struct weft_check *c)
{
	int32_t axis = this_op(c)->attr.axis.axis;

	if (axis < 0 || axis >= operand(c, 0)->rank)
		FAIL("axis %d of rank %d", (int)axis, operand(c, 0)->rank);
	return 0;
}

/*
 * Demands that all operands and the result have the same rank, and that in each dimension the operands
 * have the same extent or 1, and the result the largest of these.
 */
static inline int need_broadcast(const struct weft_check *c)
{
	const weft_tensor *y = result(c);
	const int n = this_op(c)->n_in;

	for (int k = 0; k < n; k++)
		if (operand(c, k)->rank != y->rank)
			FAIL("operand %d has rank %d, result %d", k, operand(c, k)->rank, y->rank);
	for (int d = 0; d < y->rank; d++) {
		int64_t want = 1;
		for (int k = 0; k < n; k++)
			want = operand(c, k)->dim[d] != 1 ? operand(c, k)->dim[d] : want;
		for (int k = 0; k < n; k++)
			if (operand(c, k)->dim[d] != 1 && operand(c, k)->dim[d] != want)
				FAIL("dimension %d: operands with %lld and %lld", d, (long long)operand(c, k)->dim[d], (long long)want);
		if (y->dim[d] != want)
			FAIL("dimension %d: %lld and %lld into %lld", d, (long long)operand(c, 0)->dim[d], (long long)operand(c, n - 1)->dim[d],
			     (long long)y->dim[d]);
	}
	return 0;
}

/*
 * Demands that zp is a zero point that type t may have: a value of int8 or uint8 (int8 counts as uint8
 * if is_unsigned is set); 0 or 32768 for uint16, and for int16 if is_unsigned is set; a value of int16
 * for other int16 of RESCALE; 0 for all else. what names it in the message.
 */
static inline int need_zp(const struct weft_check *c, const char *what, weft_dtype t, bool is_unsigned, int32_t zp)
{
	int lo = 0, hi = 0;

	if (t == WEFT_INT8 || t == WEFT_UINT8) {
		bool u = is_unsigned || t == WEFT_UINT8;
		lo = u ? 0 : -128;
		hi = u ? 255 : 127;
	} else if ((t == WEFT_UINT16 || (t == WEFT_INT16 && is_unsigned)) && zp == 32768) {
		return 0;
	} else if (t == WEFT_INT16 && !is_unsigned && this_op(c)->op == WEFT_OP_RESCALE) {
		lo = INT16_MIN;
		hi = INT16_MAX;
	}
	if ((zp < lo || zp > hi) && (t == WEFT_UINT16 || (t == WEFT_INT16 && is_unsigned)))
		FAIL("%s zero point %d is neither 0 nor 32768", what, (int)zp);
	if (zp < lo || zp > hi)
		FAIL("%s zero point %d outside %d..%d", what, (int)zp, lo, hi);
	return 0;
}

/*
 * Demands that one extent of a windowed operator's output is exact: out = (in - reach) / stride + 1
 * without remainder. in is the input's extent with padding, reach that of the dilated kernel. axis
 * names it in the message.
 */
static inline int need_extent(const struct weft_check *c, const char *axis, int64_t in, int64_t reach, int64_t stride, int64_t out)
{
	int64_t span = in - reach;

	if (span < 0)
		FAIL("%s: kernel reaches %lld beyond the padded input", axis, (long long)-span);
	if (span % stride)
		FAIL("%s: %lld is no multiple of stride %lld", axis, (long long)span, (long long)stride);
	if (span / stride + 1 != out)
		FAIL("%s: output is %lld, not %lld", axis, (long long)out, (long long)(span / stride + 1));
	return 0;
}

#endif

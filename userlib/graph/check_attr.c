/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of single attributes and of zero points, as include/spec/attr.toml states them. What
 * attributes ask of each other and of shapes stands with each operator in the other files.
 */
#include "attr.h"
#include "check_need.h"

/*
 * Checks that each of the l->n values of row l in the operator's attributes (int64 if l->type is
 * ATTR_I64, otherwise int32) lies in l->low..l->high. Returns 0, or -EINVAL with a line in c->msg that
 * names the field, the value and the limits.
 */
static int check_limit(const struct weft_check *c, const struct attr_limit *l)
{
	for (int i = 0; i < l->n; i++) {
		const void *p = attr_const(&this_op(c)->attr, l->at + i * l->step);
		int64_t v = l->type == ATTR_I64 ? *(const int64_t *)p : *(const int32_t *)p;

		if (v >= l->low && v <= l->high)
			continue;
		if (l->n > 1 && l->high == INT64_MAX)
			FAIL("%s %d is %lld < %lld", l->name, i, (long long)v, (long long)l->low);
		if (l->high == INT64_MAX)
			FAIL("%s %lld < %lld", l->name, (long long)v, (long long)l->low);
		FAIL("%s %lld outside %lld..%lld", l->name, (long long)v, (long long)l->low, (long long)l->high);
	}
	return 0;
}

/*
 * Checks with need_zp() that the int32 zero point of row z fits the type of its tensor, operand z->of
 * or the first result. The type counts as unsigned if the bool at z->is_unsigned is true. Returns 0, or
 * -EINVAL with one line in c->msg.
 */
static int check_zero_point(const struct weft_check *c, const struct attr_zero_point *z)
{
	const weft_attr *a = &this_op(c)->attr;
	const weft_tensor *t = z->of == ATTR_RESULT ? result(c) : operand(c, z->of);
	bool is_unsigned = z->is_unsigned != ATTR_NONE && *(const bool *)attr_const(a, z->is_unsigned);

	return need_zp(c, z->name, t->dtype, is_unsigned, *(const int32_t *)attr_const(a, z->at));
}

bool attr_compares(weft_opcode op, const weft_attr *a)
{
	switch (op) {
	case WEFT_OP_MAX_POOL2D: return a->pool.nan == WEFT_NAN_COMPARE;
	case WEFT_OP_CLAMP: return a->clamp.nan == WEFT_NAN_COMPARE;
	case WEFT_OP_MAXIMUM: case WEFT_OP_MINIMUM: return a->nan.nan == WEFT_NAN_COMPARE;
	case WEFT_OP_ARGMAX: case WEFT_OP_REDUCE_MAX: case WEFT_OP_REDUCE_MIN: return a->axis.nan == WEFT_NAN_COMPARE;
	default: return false;
	}
}

int weft_check_attr(const struct weft_check *c)
{
	const struct attr_op *o = &attr_ops[this_op(c)->op];
	int err = 0;

	for (int i = 0; i < o->n_limit && !err; i++)
		err = check_limit(c, &o->limit[i]);
	for (int i = 0; i < o->n_zero_point && !err; i++)
		err = check_zero_point(c, &o->zero_point[i]);
	if (!err && attr_compares(this_op(c)->op, &this_op(c)->attr) && operand(c, 0)->dtype != WEFT_FP32)
		FAIL("NaN mode %d is of float32, not of %s", WEFT_NAN_COMPARE, weft_dtype_name(operand(c, 0)->dtype));
	return err;
}

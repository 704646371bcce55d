/* SPDX-License-Identifier: Apache-2.0 */
/*
 * REDUCE_SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL, REDUCE_ANY. TOSA 1.0 section 2.9.
 *
 *   x  rank 1 or more; SUM int32; MAX and MIN int8, int16, int32; ALL and ANY bool
 *   y  x's type and shape with 1 on the reduced axis
 *
 * The sum wraps at 32 bits. Floats, and PRODUCT: float/reduce.c.
 */
#include "fast/fast.h"
#include "float/ops.h"

static int check(const struct weft_call *c)
{
	static const struct weft_row rows[] = {
		{ { WEFT_INT32 }, WEFT_INT32 },
		{ { WEFT_INT8 }, WEFT_INT8 },
		{ { WEFT_INT16 }, WEFT_INT16 },
		{ { WEFT_BOOL }, WEFT_BOOL },
	};
	static const struct weft_row floats[] = {
		{ { WEFT_FP16 }, WEFT_FP16 },
		{ { WEFT_BF16 }, WEFT_BF16 },
		{ { WEFT_FP32 }, WEFT_FP32 },
	};
	const bool truth = c->op == WEFT_OP_REDUCE_ALL || c->op == WEFT_OP_REDUCE_ANY;
	const weft_tensor *x = c->x[0], *y = c->y[0];
	int err;

	if (weft_is_float(x->dtype) && !truth)
		err = weft_check_rows(c, floats, 3);
	else if (c->op == WEFT_OP_REDUCE_PRODUCT)
		err = weft_call_fail(c, -EINVAL, "no row for %s", weft_dtype_name(x->dtype));
	else
		err = weft_check_rows(c, truth ? rows + 3 : rows, truth || c->op == WEFT_OP_REDUCE_SUM ? 1 : 3);
	if (err || (err = weft_check_axis(c)) ||
	    (err = weft_check_rank(c, "output", y, x->rank)))
		return err;
	for (int d = 0; d < x->rank; d++) {
		int64_t want = d == c->attr->axis.axis ? 1 : x->dim[d];

		if (y->dim[d] != want)
			return weft_call_fail(c, -EINVAL, "output dimension %d is %lld, must be %lld", d,
			                      (long long)y->dim[d], (long long)want);
	}
	return 0;
}

static int64_t fold(weft_opcode op, int64_t acc, int64_t v)
{
	switch (op) {
	case WEFT_OP_REDUCE_SUM: return acc + v;
	case WEFT_OP_REDUCE_ALL: return acc & v;
	case WEFT_OP_REDUCE_ANY: return acc | v;
	case WEFT_OP_REDUCE_MAX: return acc > v ? acc : v;
	default: return acc < v ? acc : v;
	}
}

int weft_golden_reduce(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int axis = c->attr->axis.axis;
	int err = check(c);

	if (err)
		return err;
	if (weft_is_float(x->dtype))
		return weft_float_reduce(c);
	if (c->fast && weft_fast_reduce_sum(c) == 0)
		return 0;
	const int64_t n = x->dim[axis], left = weft_elements_before(x, axis), right = weft_elements_behind(x, axis);
	/* n < 2^31 terms below 2^31: the sum stays below 2^62. */
	for (int64_t l = 0; l < left; l++)
		for (int64_t r = 0; r < right; r++) {
			int64_t acc = weft_get(x, l * n * right + r);

			for (int64_t i = 1; i < n; i++)
				acc = fold(c->op, acc, weft_get(x, (l * n + i) * right + r));
			weft_put(y, l * right + r, acc);
		}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float rows of operators on one and two elements. TOSA 1.0 sections 2.4 to 2.8.
 *
 *   a, b, x  fp16, bf16 or fp32
 *   y        the same; bool for comparisons
 *
 * ADD, SUB, MUL, RECIPROCAL and 1/sqrt are computed in fp64 and rounded; for
 * the first three and RECIPROCAL that is the correctly rounded result (see
 * element.h). The others are the C library's fp64 functions, rounded: within
 * about half an ulp, where TOSA asks for 1 to 5. RSQRT of -0 is -infinity.
 */
#include <math.h>

#include "../elementwise.h"
#include "../fast/fast.h"
#include "element.h"
#include "ops.h"

static double binary(const struct weft_call *c, double a, double b)
{
	const weft_nan_mode nan = c->attr ? c->attr->nan.nan : WEFT_NAN_DEFAULT;

	switch (c->op) {
	case WEFT_OP_ADD: return a + b;
	case WEFT_OP_SUB: return a - b;
	case WEFT_OP_MUL: return a * b;
	case WEFT_OP_POW: return pow(a, b);
	case WEFT_OP_MAXIMUM: return weft_float_max(a, b, nan);
	case WEFT_OP_MINIMUM: return weft_float_min(a, b, nan);
	case WEFT_OP_EQUAL: return a == b;
	case WEFT_OP_GREATER: return a > b;
	default: return a >= b;
	}
}

int weft_float_binary(const struct weft_call *c)
{
	const weft_tensor *y = c->y[0];
	struct weft_walk w = weft_broadcast_walk(c);
	int64_t o = 0;

	if (c->fast && weft_fast_float_binary(c) == 0)
		return 0;
	do {
		double v = binary(c, weft_get_f(c->x[0], w.off[0]), weft_get_f(c->x[1], w.off[1]));

		if (isnan(v))
			v = NAN;   /* one NaN, whatever the machine makes */
		if (y->dtype == WEFT_BOOL)
			weft_put(y, o++, v != 0);
		else
			weft_put_f(y, o++, v);
	} while (weft_walk_next(&w));
	return 0;
}

static double unary(weft_opcode op, double x)
{
	switch (op) {
	case WEFT_OP_ABS: return fabs(x);
	case WEFT_OP_NEGATE: return -x;
	case WEFT_OP_CEIL: return ceil(x);
	case WEFT_OP_FLOOR: return floor(x);
	case WEFT_OP_EXP: return exp(x);
	case WEFT_OP_LOG: return log(x);
	case WEFT_OP_SIN: return sin(x);
	case WEFT_OP_COS: return cos(x);
	case WEFT_OP_TANH: return tanh(x);
	case WEFT_OP_ERF: return erf(x);
	case WEFT_OP_SIGMOID: return 1 / (1 + exp(-x));
	case WEFT_OP_RECIPROCAL: return 1 / x;
	default: return 1 / sqrt(x);
	}
}

/* Computes element i of an operator on one element. */
static void unary_at(const struct weft_call *c, int64_t i)
{
	weft_put_f(c->y[0], i, unary(c->op, weft_get_f(c->x[0], i)));
}

int weft_float_unary(const struct weft_call *c)
{
	const int64_t n = weft_tensor_elements(c->x[0]);

	if (c->fast && weft_fast_function(c, unary_at) == 0)
		return 0;
	for (int64_t i = 0; i < n; i++)
		unary_at(c, i);
	return 0;
}

int weft_float_clamp(const struct weft_call *c)
{
	const struct weft_attr_clamp *a = &c->attr->clamp;
	const int64_t n = weft_tensor_elements(c->x[0]);

	if (c->fast && weft_fast_float_clamp(c) == 0)
		return 0;
	for (int64_t i = 0; i < n; i++) {
		double v = weft_get_f(c->x[0], i);

		/* NaN that stays keeps its sign. */
		if (a->nan == WEFT_NAN_COMPARE)
			v = v < a->fmin ? a->fmin : v > a->fmax ? a->fmax : v;
		else if (!isnan(v) || a->nan == WEFT_NAN_IGNORE)
			v = weft_float_min(weft_float_max(v, a->fmin, a->nan), a->fmax, a->nan);
		weft_put_f(c->y[0], i, v);
	}
	return 0;
}

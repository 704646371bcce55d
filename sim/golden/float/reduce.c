/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float rows of REDUCE_SUM, REDUCE_PRODUCT, REDUCE_MAX, REDUCE_MIN and ARGMAX.
 * TOSA 1.0 sections 2.9 and 2.3.1.
 *
 *   x  fp16, bf16, fp32; ARGMAX also float8
 *   y  x's type; int32 for ARGMAX
 *
 * REDUCE_SUM accumulates bf16 in fp32, the others in their own type: the sum in
 * fp64 is rounded once to it; in a chain, after each addition to fp32. REDUCE_PRODUCT is rounded once; in a chain,
 * after each product. Where NaN is judged by comparisons alone, a maximum begins with the lowest finite number.
 */
#include <float.h>
#include <math.h>

#include "../fast/fast.h"
#include "element.h"
#include "ops.h"

#define LANES 4

/* Elements of x along the axis begin at first and lie step apart. */
struct line { int64_t first, step, n; };

static double fold(const struct weft_call *c, const struct line *l)
{
	const weft_nan_mode nan = c->attr->axis.nan;
	const bool most = c->op == WEFT_OP_REDUCE_MAX || c->op == WEFT_OP_REDUCE_MIN, begin = most && nan == WEFT_NAN_COMPARE;
	double acc = !begin ? weft_get_f(c->x[0], l->first) : c->op == WEFT_OP_REDUCE_MAX ? -FLT_MAX : FLT_MAX;

	for (int64_t i = !begin; i < l->n; i++) {
		double v = weft_get_f(c->x[0], l->first + i * l->step);

		switch (c->op) {
		case WEFT_OP_REDUCE_SUM: acc = c->attr->axis.chain ? (double)((float)acc + (float)v) : acc + v; break;
		case WEFT_OP_REDUCE_PRODUCT: acc = c->attr->axis.chain ? (double)((float)acc * (float)v) : acc * v; break;
		case WEFT_OP_REDUCE_MAX: acc = weft_float_max(v, acc, nan); break;
		default: acc = weft_float_min(v, acc, nan); break;
		}
	}
	if (c->op == WEFT_OP_REDUCE_SUM && c->x[0]->dtype == WEFT_BF16)
		acc = weft_round_f(WEFT_FP32, acc);
	return acc;
}

/*
 * PROPAGATE: a NaN is greater than every number. IGNORE and COMPARE: less. The first of
 * equal ones, also of NaNs, from `from` on, of those at steps of `by`, before n.
 */
static int64_t argmax(const struct weft_call *c, const struct line *l, int64_t from, int64_t by, int64_t n, int64_t at)
{
	const bool ignore = c->attr->axis.nan == WEFT_NAN_IGNORE || c->attr->axis.nan == WEFT_NAN_COMPARE;
	double best = weft_get_f(c->x[0], l->first + at * l->step);

	for (int64_t i = from; i < n; i += by) {
		double v = weft_get_f(c->x[0], l->first + i * l->step);

		if (v > best || (isnan(v) && !isnan(best) && !ignore) || (isnan(best) && !isnan(v) && ignore)) {
			best = v;
			at = i;
		}
	}
	return at;
}

/*
 * Of COMPARE, elements side by side: LiteRT looks at each fourth element of the multiple of four by itself, as vectors do, at
 * these four by comparisons alone, in pairs, and at the rest after them. Where NaN hides the greatest, it is the first element.
 */
static int64_t argmax_by_four(const struct weft_call *c, const struct line *l)
{
	const int64_t n = l->n / LANES * LANES;
	double v[LANES];
	int64_t lane[LANES], at = INT64_MAX;

	for (int64_t k = 0; k < LANES; k++) {
		lane[k] = argmax(c, l, k + LANES, LANES, n, k);
		v[k] = weft_get_f(c->x[0], l->first + lane[k]);
	}
	const double low = v[1] > v[0] ? v[1] : v[0], high = v[3] > v[2] ? v[3] : v[2], best = high > low ? high : low;
	for (int64_t k = 0; k < LANES; k++)
		at = v[k] == best && lane[k] < at ? lane[k] : at;
	return argmax(c, l, n, 1, l->n, at == INT64_MAX ? 0 : at);
}

int weft_float_reduce(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int axis = c->attr->axis.axis;
	const int64_t left = weft_elements_before(x, axis), right = weft_elements_behind(x, axis);

	const bool by_four = c->attr->axis.nan == WEFT_NAN_COMPARE && right == 1 && x->dim[axis] >= LANES;
	if (c->fast && (weft_fast_float_reduce_max(c) == 0 || weft_fast_float_sum(c) == 0))
		return 0;
	for (int64_t l = 0; l < left; l++)
		for (int64_t r = 0; r < right; r++) {
			struct line line = { l * x->dim[axis] * right + r, right, x->dim[axis] };

			if (c->op == WEFT_OP_ARGMAX)
				weft_put(y, l * right + r, by_four ? argmax_by_four(c, &line) : argmax(c, &line, 1, 1, line.n, 0));
			else
				weft_put_f(y, l * right + r, fold(c, &line));
		}
	return 0;
}

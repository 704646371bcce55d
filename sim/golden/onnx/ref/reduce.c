/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, ArgMax, running sums, Softmax and its kin, TopK. */
#include <stdlib.h>

#include "sim/golden/onnx/ref/ref.h"

enum { AXES, KEEPDIMS = 9, NOOP };

enum kind { L1, L2, LOG_SUM, LOG_SUM_EXP, MAX, MEAN, MIN, PROD, SUM, SUM_SQUARE };

static enum kind kind_of(const struct ref *r)
{
	static const char *const names[] = { "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
	                                     "ReduceProd", "ReduceSum", "ReduceSumSquare" };
	int k = 0;

	while (strcmp(names[k], r->name))
		k++;
	return (enum kind)k;
}

/* Axes as bits; all if there are none, or none where the node says so. */
static int axes_of(struct ref *r, int rank, unsigned *axes)
{
	int64_t v[WEFT_ONNX_LIST];
	int n = ref_list(r, AXES, 1, WEFT_ONNX_LIST, v);

	if (n < 0)
		return n;
	*axes = n || r->a->i[NOOP] ? 0 : (1u << rank) - 1;
	for (int i = 0; i < n; i++) {
		int axis = ref_axis(r, v[i], rank);
		if (axis < 0)
			return axis;
		*axes |= 1u << axis;
	}
	return 0;
}

/* Of one group of elements: floats in double. m: their maximum, for the exponentials. */
struct sum { double v, m; int64_t w; int64_t n; };

static void begin(struct sum *s, enum kind k, weft_dtype t)
{
	const bool u = ref_unsigned(t);
	const int bits = 8 * (int)weft_dtype_bytes(t);

	*s = (struct sum){ .v = k == PROD ? 1 : k == MAX ? -INFINITY : k == MIN ? INFINITY : 0, .m = -INFINITY, .w = k == PROD };
	if (k == MAX && !u)
		s->w = (int64_t)(-1ull << (bits - 1));
	if (k == MIN)
		s->w = t == WEFT_BOOL ? 1 : u ? (bits == 64 ? -1 : (int64_t)((1ull << bits) - 1)) : (int64_t)((1ull << (bits - 1)) - 1);
}

static void add_float(struct sum *s, enum kind k, double v)
{
	switch (k) {
	case L1: s->v += fabs(v); break;
	case L2: case SUM_SQUARE: s->v += v * v; break;
	case LOG_SUM_EXP:
		if (v > s->m) {
			s->v = s->v * exp(s->m - v) + 1;
			s->m = v;
		} else if (v > -INFINITY) {
			s->v += exp(v - s->m);
		}
		break;
	case MAX: s->v = v != v || s->v != s->v ? NAN : fmax(s->v, v); break;
	case MIN: s->v = v != v || s->v != s->v ? NAN : fmin(s->v, v); break;
	case PROD: s->v *= v; break;
	default: s->v += v; break;
	}
	s->n++;
}

static void add_integer(struct sum *s, enum kind k, int64_t v, bool u)
{
	const bool more = u ? (uint64_t)v > (uint64_t)s->w : v > s->w;

	switch (k) {
	case L1: s->w = v < 0 && !u ? ref_sub(s->w, v) : ref_add(s->w, v); break;
	case L2: case SUM_SQUARE: s->w = ref_add(s->w, ref_mul(v, v)); break;
	case MAX: s->w = more ? v : s->w; break;
	case MIN: s->w = more ? s->w : v; break;
	case PROD: s->w = ref_mul(s->w, v); break;
	default: s->w = ref_add(s->w, v); break;
	}
	s->n++;
}

static double end_float(const struct sum *s, enum kind k)
{
	switch (k) {
	case L2: return sqrt(s->v);
	case LOG_SUM: return log(s->v);
	case LOG_SUM_EXP: return s->n ? log(s->v) + s->m : -INFINITY;
	case MEAN: return s->v / (double)s->n;
	default: return s->v;
	}
}

static int64_t end_integer(const struct sum *s, enum kind k)
{
	switch (k) {
	case L2: return ref_cut(sqrt((double)s->w));
	case MEAN: return s->n ? s->w / s->n : 0;
	default: return s->w;
	}
}

/* Where the group of x's element i is summed. */
static int64_t group_of(const weft_tensor *x, int64_t i, unsigned axes)
{
	int64_t at[WEFT_MAX_RANK], g = 0;

	ref_split(i, x->rank, x->dim, at);
	for (int d = 0; d < x->rank; d++)
		g = axes >> d & 1 ? g : g * x->dim[d] + at[d];
	return g;
}

int ref_reduce(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const enum kind kind = kind_of(r);
	int64_t dim[WEFT_MAX_RANK];
	unsigned axes;
	int rank = 0, err = axes_of(r, x->rank, &axes);

	for (int d = 0; !err && d < x->rank; d++)
		if (!(axes >> d & 1) || r->a->i[KEEPDIMS])
			dim[rank++] = axes >> d & 1 ? 1 : x->dim[d];
	err = err ? err : ref_y(r, 0, x->dtype, rank, dim);
	if (err || r->shapes)
		return err;
	const bool floats = ref_floats(x->dtype) || kind == LOG_SUM || kind == LOG_SUM_EXP;
	const int64_t n = REF_N(r->y[0]);
	struct sum *s = ref_alloc(r, n, sizeof *s);
	if (!s)
		return -ENOMEM;
	for (int64_t i = 0; i < n; i++)
		begin(&s[i], kind, x->dtype);
	for (int64_t i = 0, all = REF_N(x); i < all; i++) {
		struct sum *to = &s[group_of(x, i, axes)];
		if (floats)
			add_float(to, kind, ref_f(x, i));
		else
			add_integer(to, kind, ref_i(x, i), ref_unsigned(x->dtype));
	}
	for (int64_t i = 0; i < n; i++) {
		if (floats)
			ref_put_f(r->y[0], i, end_float(&s[i], kind));
		else
			ref_put_i(r->y[0], i, end_integer(&s[i], kind));
	}
	free(s);
	return 0;
}

/* Returns whether x[i] comes before x[k] in this order. NaN is the greatest. */
static bool precedes(const weft_tensor *x, int64_t i, int64_t k, bool descending)
{
	if (ref_floats(x->dtype)) {
		const double a = ref_f(x, i), b = ref_f(x, k);
		if (a != a || b != b)
			return descending ? a != a && b == b : a == a && b != b;
		return descending ? a > b : a < b;
	}
	const int64_t a = ref_i(x, i), b = ref_i(x, k);
	const bool less = ref_unsigned(x->dtype) ? (uint64_t)a < (uint64_t)b : a < b;
	return descending ? a != b && !less : less;
}

int ref_arg(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool descending = !strcmp(r->name, "ArgMax"), last = r->a->i[2];
	const int axis = ref_axis(r, r->a->i[0], x->rank);
	int64_t dim[WEFT_MAX_RANK];
	int rank = 0;

	if (axis < 0)
		return axis;
	for (int d = 0; d < x->rank; d++)
		if (d != axis || r->a->i[1])
			dim[rank++] = d == axis ? 1 : x->dim[d];
	int err = x->dim[axis] ? ref_y(r, 0, WEFT_INT64, rank, dim) : ref_fail(r, -EINVAL, "nothing to choose from");
	if (err || r->shapes)
		return err;
	const int64_t inner = ref_inner(x, axis), n = x->dim[axis];
	for (int64_t o = 0, outer = ref_outer(x, axis); o < outer; o++)
		for (int64_t i = 0; i < inner; i++) {
			const int64_t base = o * n * inner + i;
			int64_t best = 0;
			for (int64_t k = 1; k < n; k++)
				if (last ? !precedes(x, base + best * inner, base + k * inner, descending)
				         : precedes(x, base + k * inner, base + best * inner, descending))
					best = k;
			((int64_t *)r->y[0]->data)[o * inner + i] = best;
		}
	return 0;
}

/* CumSum, CumProd; rounded after every step. */
int ref_cumsum(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool product = !strcmp(r->name, "CumProd"), exclusive = r->a->i[0], reverse = r->a->i[1];
	int err = ref_count(r, 1, 1, true);

	err = err ? err : ref_y_like(r, 0, x);

	if (err || r->shapes)
		return err;
	const int axis = ref_axis(r, ref_i(r->x[1], 0), x->rank);
	if (axis < 0)
		return axis;
	const int64_t inner = ref_inner(x, axis), n = x->dim[axis];
	for (int64_t line = 0, lines = REF_N(x) / (n ? n : 1); line < lines; line++) {
		const int64_t base = line / inner * n * inner + line % inner;
		double v = product;
		int64_t w = product;
		for (int64_t k = 0; k < n; k++) {
			const int64_t at = base + (reverse ? n - 1 - k : k) * inner;
			if (exclusive && ref_floats(x->dtype))
				ref_put_f(r->y[0], at, v);
			else if (exclusive)
				ref_put_i(r->y[0], at, w);
			v = ref_floats(x->dtype) ? ref_round(x->dtype, product ? v * ref_f(x, at) : v + ref_f(x, at)) : 0;
			w = ref_floats(x->dtype) ? 0 : product ? ref_mul(w, ref_i(x, at)) : ref_add(w, ref_i(x, at));
			if (!exclusive && ref_floats(x->dtype))
				ref_put_f(r->y[0], at, v);
			else if (!exclusive)
				ref_put_i(r->y[0], at, w);
		}
	}
	return 0;
}

/* One line of n elements, `step` apart. */
static void soft_line(struct ref *r, int64_t base, int64_t step, int64_t n)
{
	const weft_tensor *x = r->x[0];
	int64_t best = 0;
	double sum = 0;

	for (int64_t k = 1; k < n; k++)
		if (ref_f(x, base + k * step) > ref_f(x, base + best * step))
			best = k;
	const double top = ref_f(x, base + best * step);
	for (int64_t k = 0; k < n; k++)
		sum += exp(ref_f(x, base + k * step) - top);
	for (int64_t k = 0; k < n; k++) {
		const double v = ref_f(x, base + k * step) - top;
		ref_put_f(r->y[0], base + k * step, *r->name == 'H' ? k == best : *r->name == 'L' ? v - log(sum) : exp(v) / sum);
	}
}

/* Before opset 13 the axis is where the tensor is cut into a matrix of lines. */
int ref_softmax(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool old = r->a->opset < 13;
	const int given = r->a->i[0] == WEFT_ONNX_ABSENT ? (old ? 1 : -1) : r->a->i[0];
	const int axis = ref_axis(r, given, x->rank ? x->rank : 1);
	int err = axis < 0 ? axis : ref_y_like(r, 0, x);

	if (err || r->shapes || !REF_N(x))
		return err;
	const int64_t inner = old || !x->rank ? 1 : ref_inner(x, axis), n = !x->rank ? 1 : old ? REF_N(x) / ref_outer(x, axis) : x->dim[axis];
	for (int64_t line = 0, lines = REF_N(x) / n; line < lines; line++)
		soft_line(r, line / inner * n * inner + line % inner, inner, n);
	return 0;
}

/* ---- TopK ---- */

static int top_line(struct ref *r, int axis, int64_t k, int64_t o, int64_t i)
{
	const weft_tensor *x = r->x[0];
	const int64_t inner = ref_inner(x, axis), n = x->dim[axis], base = o * n * inner + i;
	bool *taken = ref_alloc(r, n, sizeof *taken);

	if (!taken)
		return -ENOMEM;
	for (int64_t p = 0; p < k; p++) {
		int64_t best = -1;
		for (int64_t q = 0; q < n; q++)
			if (!taken[q] && (best < 0 || precedes(x, base + q * inner, base + best * inner, r->a->i[1])))
				best = q;
		taken[best] = true;
		const int64_t to = (o * k + p) * inner + i;
		ref_copy(r->y[0], to, x, base + best * inner);
		if (r->n_y > 1)
			((int64_t *)r->y[1]->data)[to] = best;
	}
	free(taken);
	return 0;
}

/* Sorted always; of equal elements the one with the lower index comes first. */
int ref_top_k(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int axis = ref_axis(r, r->a->i[0], x->rank);
	int64_t k = r->a->i[3];
	weft_tensor y = *x;

	if (axis < 0)
		return axis;
	int err = k == WEFT_ONNX_ABSENT ? ref_one(r, 1, &k) : 0;
	if (err < 0)
		return err;
	if (k < 0 || k > x->dim[axis])
		return ref_fail(r, -EINVAL, "k %lld of %lld", (long long)k, (long long)x->dim[axis]);
	y.dim[axis] = k;
	err = ref_y_like(r, 0, &y);
	err = err ? err : ref_y(r, 1, WEFT_INT64, y.rank, y.dim);
	if (r->shapes)
		return err;
	for (int64_t o = 0, outer = ref_outer(x, axis); o < outer && !err; o++)
		for (int64_t i = 0, inner = ref_inner(x, axis); i < inner && !err; i++)
			err = top_line(r, axis, k, o, i);
	return err;
}

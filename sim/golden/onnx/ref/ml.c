/* SPDX-License-Identifier: Apache-2.0 */
/* What ai.onnx.ml has of tensors: Binarizer, ArrayFeatureExtractor, TreeEnsemble; and TfIdfVectorizer on integers. */
#include "sim/golden/onnx/ref/ref.h"

int ref_binarizer(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = ref_y_like(r, 0, x);

	for (int64_t i = 0, n = REF_N(x); !err && !r->shapes && i < n; i++)
		ref_put_i(r->y[0], i, ref_f(x, i) > (double)r->a->f[0]);
	return err;
}

/* Columns of the last axis, by index. */
int ref_feature_extractor(struct ref *r)
{
	const weft_tensor *x = r->x[0], *idx = r->x[1];
	weft_tensor y = *x;

	if (x->rank < 1)
		return ref_fail(r, -EINVAL, "rank 0");
	const int64_t n = x->dim[x->rank - 1], k = REF_N(idx);
	y.dim[y.rank - 1] = k;
	if (x->rank == 1) {
		y.rank = 2;
		y.dim[0] = 1;
		y.dim[1] = k;
	}
	int err = ref_y_like(r, 0, &y);
	for (int64_t i = 0, all = n ? REF_N(x) / n * k : 0; !err && !r->shapes && i < all; i++) {
		const int64_t v = ref_i(idx, i % k);
		if (v < 0 || v >= n)
			return ref_fail(r, -EINVAL, "index %lld of %lld", (long long)v, (long long)n);
		ref_copy(r->y[0], i, x, i / k * n + v);
	}
	return err;
}

/* ---- TfIdfVectorizer ---- */

enum { MODE, MAX_LENGTH, MAX_SKIP, MIN_LENGTH };
enum { COUNTS = 1, INDEXES, POOL, WEIGHTS };

/* Returns whether the n-gram of the pool is at x[from], every step-th element of a row that ends at `end`. */
static bool found(const struct ref *r, int64_t gram, int n, int64_t from, int64_t step, int64_t end)
{
	if (from + (n - 1) * step >= end)
		return false;
	for (int k = 0; k < n; k++)
		if (ref_i(r->x[POOL], gram + k) != ref_i(r->x[0], from + k * step))
			return false;
	return true;
}

/* How often the n-gram occurs in a row; single elements have no gaps to skip. */
static int64_t occurrences(const struct ref *r, int64_t gram, int n, int64_t from, int64_t end)
{
	int64_t count = 0;

	for (int64_t step = 1; step - 1 <= (n == 1 ? 0 : r->a->i[MAX_SKIP]) && step <= end - from; step++)
		for (int64_t i = from; i < end; i++)
			count += found(r, gram, n, i, step, end);
	return count;
}

int ref_tfidf(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = r->n_x < 4 || !r->x[POOL] ? ref_fail(r, -ENOTSUP, "a pool of strings") : 0;
	int64_t columns = 0, index = 0;

	for (int k = 1; k < 4 && !err; k++)
		err = ref_need_data(r, k);
	if (err)
		return err;
	const weft_tensor *counts = r->x[COUNTS], *indexes = r->x[INDEXES], *weights = r->n_x > 4 ? r->x[WEIGHTS] : NULL;
	for (int64_t i = 0; i < REF_N(indexes); i++)
		if (ref_i(indexes, i) < 0 || ref_i(indexes, i) > 1 << 24)
			return ref_fail(r, -EINVAL, "column %lld", (long long)ref_i(indexes, i));
		else
			columns = ref_i(indexes, i) >= columns ? ref_i(indexes, i) + 1 : columns;
	err = ref_count(r, WEIGHTS, REF_N(indexes), false);
	err = err ? err : x->rank < 1 || x->rank > 2 ? ref_fail(r, -EINVAL, "rank %d", x->rank) : ref_y(r, 0, WEFT_FP32, x->rank, x->rank == 2 ? (int64_t[]){ x->dim[0], columns } : &columns);
	if (err || r->shapes)
		return err;
	const int64_t width = x->rank ? x->dim[x->rank - 1] : 1, rows = width ? REF_N(x) / width : 0;
	for (int64_t c = 0; c < REF_N(counts); c++)
		if (ref_i(counts, c) < 0 || ref_i(counts, c) > REF_N(r->x[POOL]))
			return ref_fail(r, -EINVAL, "n-grams from %lld", (long long)ref_i(counts, c));
	for (int64_t c = 0; c < REF_N(counts); c++) {
		const int n = (int)c + 1;
		const int64_t to = c + 1 < REF_N(counts) ? ref_i(counts, c + 1) : REF_N(r->x[POOL]);
		for (int64_t gram = ref_i(counts, c); gram + n <= to; gram += n, index++)
			for (int64_t row = 0; row < rows && index < REF_N(indexes); row++) {
				const bool wanted = n >= r->a->i[MIN_LENGTH] && n <= r->a->i[MAX_LENGTH];
				const int64_t v = wanted ? occurrences(r, gram, n, row * width, (row + 1) * width) : 0;
				const double w = weights ? ref_f(weights, index) : 1;
				ref_put_f(r->y[0], row * columns + ref_i(indexes, index), r->a->i[MODE] == 0 ? (double)v : r->a->i[MODE] == 1 ? (v > 0) * w : (double)v * w);
			}
	}
	return 0;
}

/* ---- TreeEnsemble ---- */

enum { AGGREGATE, TARGETS, POST };
enum { LEAF_TARGETS = 1, LEAF_WEIGHTS, MEMBERS, FALSE_LEAFS, FALSE_NODES, FEATURES, MISSING, MODES, SPLITS, TRUE_LEAFS, TRUE_NODES, ROOTS };
enum { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER };

/* Membership values of all nodes follow one another, each list ended by a NaN. */
static bool is_member(const struct ref *r, int64_t node, double v)
{
	int64_t at = 0;

	for (int64_t i = 0; i < node; i++)
		if (ref_i(r->x[MODES], i) == MEMBER) {
			while (at < REF_N(r->x[MEMBERS]) && ref_f(r->x[MEMBERS], at) == ref_f(r->x[MEMBERS], at))
				at++;
			at++;
		}
	for (; at < REF_N(r->x[MEMBERS]) && ref_f(r->x[MEMBERS], at) == ref_f(r->x[MEMBERS], at); at++)
		if (ref_f(r->x[MEMBERS], at) == v)
			return true;
	return false;
}

static bool goes_true(const struct ref *r, int64_t node, double v)
{
	const double split = ref_f(r->x[SPLITS], node);

	if (v != v && r->x[MISSING] && REF_N(r->x[MISSING]) > node && ref_i(r->x[MISSING], node))
		return true;
	switch (ref_i(r->x[MODES], node)) {
	case LEQ: return v <= split;
	case LT: return v < split;
	case GTE: return v >= split;
	case GT: return v > split;
	case EQ: return v == split;
	case NEQ: return v != split;
	default: return r->x[MEMBERS] && is_member(r, node, v);
	}
}

/* The leaf that row b reaches from a root; -EINVAL in a circle. */
static int64_t leaf_of(struct ref *r, int64_t node, int64_t b)
{
	const int64_t n = REF_N(r->x[MODES]), width = r->x[0]->dim[1];

	for (int64_t steps = 0; steps <= n; steps++) {
		const int64_t feature = ref_i(r->x[FEATURES], node);
		if (feature < 0 || feature >= width)
			return ref_fail(r, -EINVAL, "feature %lld", (long long)feature);
		const bool yes = goes_true(r, node, ref_f(r->x[0], b * width + feature));
		const int64_t next = ref_i(r->x[yes ? TRUE_NODES : FALSE_NODES], node);
		const bool leaf = ref_i(r->x[yes ? TRUE_LEAFS : FALSE_LEAFS], node);
		if (next < 0 || next >= (leaf ? REF_N(r->x[LEAF_WEIGHTS]) : n))
			return ref_fail(r, -EINVAL, "node %lld", (long long)next);
		if (leaf)
			return next;
		node = next;
	}
	return ref_fail(r, -EINVAL, "a circle of nodes");
}

int ref_tree_ensemble(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int64_t targets = r->a->i[TARGETS];
	int err = x->rank != 2 || targets < 1 || r->n_x <= ROOTS ? ref_fail(r, -EINVAL, "rank %d, %lld targets", x->rank, (long long)targets) : 0;

	for (int k = 1; k <= ROOTS && !err; k++)
		if (k != MEMBERS && k != MISSING)
			err = ref_need_data(r, k);
	for (int k = FALSE_LEAFS; k <= TRUE_NODES && !err; k++)
		err = k == MISSING ? 0 : ref_count(r, k, REF_N(r->x[MODES]), false);
	err = err ? err : ref_count(r, LEAF_TARGETS, REF_N(r->x[LEAF_WEIGHTS]), false);
	err = err ? err : r->a->i[POST] ? ref_fail(r, -ENOTSUP, "post_transform %d", (int)r->a->i[POST]) : ref_y(r, 0, x->dtype, 2, (int64_t[]){ x->dim[0], targets });
	if (err || r->shapes)
		return err;
	const int64_t roots = REF_N(r->x[ROOTS]);
	for (int64_t b = 0; b < x->dim[0]; b++)
		for (int64_t t = 0; t < targets; t++) {
			double v = 0;
			int64_t n = 0;
			for (int64_t i = 0; i < roots; i++) {
				const int64_t root = ref_i(r->x[ROOTS], i), leaf = root < 0 || root >= REF_N(r->x[MODES]) ? ref_fail(r, -EINVAL, "root") : leaf_of(r, root, b);
				if (leaf < 0)
					return (int)leaf;
				if (ref_i(r->x[LEAF_TARGETS], leaf) != t)
					continue;
				const double w = ref_f(r->x[LEAF_WEIGHTS], leaf);
				v = !n ? w : r->a->i[AGGREGATE] == 2 ? fmin(v, w) : r->a->i[AGGREGATE] == 3 ? fmax(v, w) : v + w;
				n++;
			}
			ref_put_f(r->y[0], b * targets + t, r->a->i[AGGREGATE] == 0 && roots ? v / (double)roots : v);
		}
	return 0;
}

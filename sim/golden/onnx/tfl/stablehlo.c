/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STABLEHLO_GATHER, STABLEHLO_SCATTER and the two REDUCE_WINDOW, of any type of number.
 *
 * Gather and scatter have start indices: along dimension index_dim of the indices (if it is their rank, each
 * element) stand the coordinates of one place, for those dimensions of the operand that `map` names.
 *
 * Source: StableHLO's specification; LiteRT 2.3's kernels for what they do beyond it.
 */
#include <stdlib.h>

#include "sim/golden/onnx/tfl/ops.h"

#define LIST (1 + WEFT_ONNX_LIST)      /* places among the attributes that a list takes */

struct list { int n; int64_t v[WEFT_ONNX_LIST]; };

/* Reads list number k among the attributes. Returns 0 or -EINVAL. */
static int list(struct ref *r, int k, struct list *to)
{
	to->n = ref_list(r, k * LIST, -1, WEFT_ONNX_LIST, to->v);
	return to->n < 0 ? to->n : 0;
}

static bool has(const struct list *of, int64_t v)
{
	for (int k = 0; k < of->n; k++)
		if (of->v[k] == v)
			return true;
	return false;
}

/* Checks that the list rises and its numbers are within 0..below-1. Returns 0 or -EINVAL. */
static int rising(struct ref *r, const struct list *of, int below)
{
	for (int k = 0; k < of->n; k++)
		if (of->v[k] < (k ? of->v[k - 1] + 1 : 0) || of->v[k] >= below)
			return ref_fail(r, -EINVAL, "dimension %lld of %d in a list, or out of order", (long long)of->v[k], below);
	return 0;
}

/* How places of the operand follow from indices: what gather and scatter have in common. */
struct places {
	const weft_tensor *x, *indices;
	struct list window, left_out, map;   /* dimensions of the slices; the operand's that these do not have; as above */
	int index_dim, n_other;        /* dimensions of result or updates that are none of slices */
};

/* Fills *p from attributes 0..2 and integer `at`, checked. Returns 0 or -EINVAL. */
static int places(struct ref *r, struct places *p, int at)
{
	int err = list(r, 0, &p->window), n;

	p->x = r->x[0];
	p->indices = r->x[1];
	if (err || (err = list(r, 1, &p->left_out)) || (err = list(r, 2, &p->map)))
		return err;
	p->index_dim = r->a->i[at];
	if (p->index_dim < 0 || p->index_dim > p->indices->rank || p->window.n + p->left_out.n != p->x->rank)
		return ref_fail(r, -EINVAL, "index dimension %d of rank %d, %d and %d dimensions of rank %d", p->index_dim, p->indices->rank, p->window.n,
		                p->left_out.n, p->x->rank);
	n = p->index_dim < p->indices->rank;
	p->n_other = p->indices->rank - n;
	if ((n ? p->indices->dim[p->index_dim] : 1) != p->map.n || p->n_other + p->window.n > WEFT_MAX_RANK)
		return ref_fail(r, -EINVAL, "%d coordinates, or rank %d", p->map.n, p->n_other + p->window.n);
	for (int k = 0; k < p->map.n; k++)
		if (p->map.v[k] < 0 || p->map.v[k] >= p->x->rank)
			return ref_fail(r, -EINVAL, "coordinate %d is dimension %lld", k, (long long)p->map.v[k]);
	if ((err = rising(r, &p->left_out, p->x->rank)))
		return err;
	return rising(r, &p->window, p->n_other + p->window.n);
}

/* Sets start to the coordinates at place `at` of result or updates, 0 where no coordinate is given. */
static void start(const struct places *p, const int64_t *at, int64_t *start)
{
	int64_t stride[WEFT_MAX_RANK], i = 0, step = 1;
	int d = 0;

	ref_strides(p->indices, stride);
	for (int k = 0; k < p->n_other + p->window.n; k++) {
		if (has(&p->window, k))
			continue;
		d += d == p->index_dim;
		i += at[k] * stride[d++];
	}
	if (p->index_dim < p->indices->rank)
		step = stride[p->index_dim];
	for (int k = 0; k < p->x->rank; k++)
		start[k] = 0;
	for (int k = 0; k < p->map.n; k++)
		start[p->map.v[k]] = ref_i(p->indices, i + k * step);
}

/* The element of the operand at `start` plus the place in the slice that `at` says, or -1 if it lies outside. */
static int64_t element(const struct places *p, const int64_t *at, const int64_t *start)
{
	int64_t i = 0;
	int w = 0;

	for (int d = 0; d < p->x->rank; d++) {
		const int64_t v = has(&p->left_out, d) ? 0 : at[p->window.v[w++]];
		if (start[d] < 0 || start[d] > p->x->dim[d] - 1 - v)
			return -1;
		i = i * p->x->dim[d] + start[d] + v;
	}
	return i;
}

int tfl_gather(struct ref *r)
{
	int64_t dim[WEFT_MAX_RANK], from[WEFT_MAX_RANK], at[WEFT_MAX_RANK];
	struct list size;
	struct places p;
	int err = places(r, &p, 4 * LIST), d = 0, o = 0;

	if (err || (err = list(r, 3, &size)))
		return err;
	if (size.n != p.x->rank)
		return ref_fail(r, -EINVAL, "slices of rank %d", size.n);
	const int rank = p.n_other + p.window.n;
	for (int k = 0; k < size.n; k++)
		if (size.v[k] < 1 || size.v[k] > p.x->dim[k] || (has(&p.left_out, k) && size.v[k] != 1))
			return ref_fail(r, -EINVAL, "slices have %lld of %lld elements", (long long)size.v[k], (long long)p.x->dim[k]);
	for (int k = 0; k < rank; k++) {
		while (has(&p.window, k) && has(&p.left_out, o))
			o++;
		d += !has(&p.window, k) && d == p.index_dim;
		dim[k] = has(&p.window, k) ? size.v[o++] : p.indices->dim[d++];
	}
	if ((err = ref_y(r, 0, p.x->dtype, rank, dim)) || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(r->y[0]); i < n; i++) {
		ref_split(i, rank, dim, at);
		start(&p, at, from);
		for (int k = 0; k < p.x->rank; k++)
			from[k] = from[k] < 0 ? 0 : from[k] > p.x->dim[k] - size.v[k] ? p.x->dim[k] - size.v[k] : from[k];
		ref_copy(r->y[0], i, p.x, element(&p, at, from));
	}
	return 0;
}

/* How two values become one, as the format numbers REDUCE_WINDOW's functions; 0: the second. */
enum { SECOND, ADD, MULTIPLY, MINIMUM, MAXIMUM, ALL, ANY };

/* Makes element i of y `how` of itself and element k of x, which has the same type; integers wrap. */
static void combine(weft_tensor *y, int64_t i, const weft_tensor *x, int64_t k, int how)
{
	if (how == SECOND) {
		ref_copy(y, i, x, k);
	} else if (ref_floats(y->dtype)) {
		const double a = ref_f(y, i), b = ref_f(x, k);
		ref_put_f(y, i, how == ADD ? a + b : how == MULTIPLY ? a * b : how == MINIMUM ? (b < a ? b : a) : how == MAXIMUM ? (a < b ? b : a) :
		          how == ALL ? a != 0 && b != 0 : a != 0 || b != 0);
	} else {
		const int64_t a = ref_i(y, i), b = ref_i(x, k);
		ref_put_i(y, i, how == ADD ? (int64_t)((uint64_t)a + (uint64_t)b) : how == MULTIPLY ? (int64_t)((uint64_t)a * (uint64_t)b) :
		          how == MINIMUM ? (b < a ? b : a) : how == MAXIMUM ? (a < b ? b : a) : how == ALL ? a && b : a || b);
	}
}

/* Each element of the updates changes one of the operand, in their order; those whose place lies outside change none. */
int tfl_scatter(struct ref *r)
{
	int64_t from[WEFT_MAX_RANK], at[WEFT_MAX_RANK];
	const weft_tensor *u = r->x[2];
	struct places p;
	int err = places(r, &p, 3 * LIST);
	const int how = r->a->i[3 * LIST + 1];

	if (err)
		return err;
	if (u->rank != p.n_other + p.window.n || u->dtype != p.x->dtype || how < SECOND || how > MAXIMUM)
		return ref_fail(r, -EINVAL, "updates of rank %d, another type, or function %d", u->rank, how);
	for (int k = 0, d = 0; k < u->rank; k++) {
		d += !has(&p.window, k) && d == p.index_dim;
		if (!has(&p.window, k) && u->dim[k] != p.indices->dim[d++])
			return ref_fail(r, -EINVAL, "dimension %d of the updates is %lld", k, (long long)u->dim[k]);
	}
	if ((err = ref_y_like(r, 0, p.x)) || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(p.x); i < n; i++)
		ref_copy(r->y[0], i, p.x, i);
	for (int64_t i = 0, n = REF_N(u); i < n; i++) {
		ref_split(i, u->rank, u->dim, at);
		start(&p, at, from);
		const int64_t to = element(&p, at, from);
		if (to >= 0)
			combine(r->y[0], to, u, i, how);
	}
	return 0;
}

/* ---- windows ---- */

enum { SIZE, STRIDES, BASE, DILATIONS, LOW, HIGH, N_LISTS };
#define LONGEST ((int64_t)1 << 30)     /* of an extent with holes and padding */

/* The result's extent along dimension d, or -EINVAL. w: the lists, by their numbers. */
static int64_t extent(struct ref *r, const struct list *w, int d)
{
	const int64_t x = r->x[0]->dim[d], size = w[SIZE].v[d], stride = w[STRIDES].v[d], base = w[BASE].v[d], dilation = w[DILATIONS].v[d];

	if (size < 1 || stride < 1 || base < 1 || dilation < 1 || x < 1 || x > LONGEST / base || size > LONGEST / dilation)
		return ref_fail(r, -EINVAL, "dimension %d: window %lld, stride %lld, dilations %lld and %lld", d, (long long)size, (long long)stride,
		                (long long)base, (long long)dilation);
	const int64_t whole = (x - 1) * base + 1 + w[LOW].v[d] + w[HIGH].v[d] - (size - 1) * dilation - 1;
	return whole < 0 ? ref_fail(r, -EINVAL, "dimension %d: no window fits", d) : whole / stride + 1;
}

/*
 * The element of operand 0 that place `in` of the window at `at` reads, or -1 for a hole between elements or padding.
 */
static int64_t read_at(const struct ref *r, const struct list *w, const int64_t *at, const int64_t *in)
{
	int64_t i = 0;

	for (int d = 0; d < r->x[0]->rank; d++) {
		const int64_t p = at[d] * w[STRIDES].v[d] + in[d] * w[DILATIONS].v[d] - w[LOW].v[d];
		if (p < 0 || p % w[BASE].v[d] || p / w[BASE].v[d] >= r->x[0]->dim[d])
			return -1;
		i = i * r->x[0]->dim[d] + p / w[BASE].v[d];
	}
	return i;
}

/*
 * Every result begins as operand 1, one number; the window's places are combined with it in their order. Holes and
 * padding count as operand 1, too.
 */
int tfl_reduce_window(struct ref *r)
{
	int64_t dim[WEFT_MAX_RANK], at[WEFT_MAX_RANK], in[WEFT_MAX_RANK], n = 1;
	const weft_tensor *x = r->x[0], *init = r->x[1];
	struct list w[N_LISTS];
	const int how = r->a->i[N_LISTS * LIST];

	for (int k = 0, err; k < N_LISTS; k++) {
		if ((err = list(r, k, &w[k])))
			return err;
		if (w[k].n != x->rank)
			return ref_fail(r, -EINVAL, "list %d has %d numbers for rank %d", k, w[k].n, x->rank);
	}
	if (init->dtype != x->dtype || REF_N(init) != 1 || how < ADD || how > ANY)
		return ref_fail(r, -EINVAL, "function %d, or operand 1 is not one number of operand 0's type", how);
	for (int d = 0; d < x->rank; d++) {
		if ((dim[d] = extent(r, w, d)) < 0)
			return (int)dim[d];
		if (w[SIZE].v[d] > LONGEST / n)
			return ref_fail(r, -EINVAL, "a window of too many elements");
		n *= w[SIZE].v[d];
	}
	int err = ref_y(r, 0, x->dtype, x->rank, dim);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, all = REF_N(r->y[0]); i < all; i++) {
		ref_split(i, x->rank, dim, at);
		ref_copy(r->y[0], i, init, 0);
		for (int64_t k = 0; k < n; k++) {
			ref_split(k, x->rank, w[SIZE].v, in);
			const int64_t p = read_at(r, w, at, in);
			combine(r->y[0], i, p < 0 ? init : x, p < 0 ? 0 : p, how);
		}
	}
	return 0;
}

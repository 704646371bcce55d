/* SPDX-License-Identifier: Apache-2.0 */
/* Results whose count of elements depends on the data: the operand has to be constant for the graph. */
#include <stdlib.h>

#include "sim/golden/onnx/ref/ref.h"

int ref_non_zero(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t n = 0, at[WEFT_MAX_RANK], k = 0;
	int err = ref_need_data(r, 0);

	for (int64_t i = 0, all = REF_N(x); !err && i < all; i++)
		n += ref_f(x, i) != 0;
	err = err ? err : ref_y(r, 0, WEFT_INT64, 2, (int64_t[]){ x->rank ? x->rank : 1, n });
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, all = REF_N(x); i < all; i++) {
		if (ref_f(x, i) == 0)
			continue;
		at[0] = 0;
		ref_split(i, x->rank, x->dim, at);
		for (int d = 0; d < (x->rank ? x->rank : 1); d++)
			((int64_t *)r->y[0]->data)[d * n + k] = at[d];
		k++;
	}
	return 0;
}

int ref_compress(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool flat = r->a->i[0] == WEFT_ONNX_ABSENT;
	int axis = flat ? 0 : ref_axis(r, r->a->i[0], x->rank), err = axis < 0 ? axis : ref_need_data(r, 1);
	weft_tensor y = *x;
	int64_t n = 0, to = 0;

	if (err)
		return err;
	if (flat)
		y = (weft_tensor){ .dtype = x->dtype, .rank = 1, .dim = { REF_N(x), 1, 1, 1, 1, 1, 1, 1 } };
	const int64_t inner = ref_inner(&y, axis), have = y.dim[axis], said = REF_N(r->x[1]);
	for (int64_t i = 0; i < said && i < have; i++)
		n += ref_i(r->x[1], i) != 0;
	y.dim[axis] = n;
	err = ref_y_like(r, 0, &y);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, all = REF_N(x); i < all; i++) {
		const int64_t k = i / inner % have;
		if (k < said && ref_i(r->x[1], k))
			ref_copy(r->y[0], to++, x, i);
	}
	return 0;
}

/* ---- Unique ---- */

/* Slices of x along an axis (or its elements) as rows of bytes: compared element for element. */
struct rows { const weft_tensor *x; int64_t n, inner, outer; };

static int compare(const struct rows *s, int64_t a, int64_t b)
{
	for (int64_t o = 0; o < s->outer; o++)
		for (int64_t i = 0; i < s->inner; i++) {
			const int64_t p = (o * s->n + a) * s->inner + i, q = (o * s->n + b) * s->inner + i;
			const double v = ref_f(s->x, p), w = ref_f(s->x, q);
			if (v != w)
				return v < w ? -1 : 1;
		}
	return 0;
}

struct unique { int64_t *first, *count, *inverse; int64_t n; };

/* Rows in order of appearance, each with its first index and its count; then sorted if asked for. */
static void find_unique(const struct rows *s, struct unique *u, bool sorted)
{
	for (int64_t i = 0; i < s->n; i++) {
		int64_t k = 0;
		while (k < u->n && compare(s, u->first[k], i))
			k++;
		if (k == u->n) {
			u->first[u->n] = i;
			u->count[u->n++] = 0;
		}
		u->count[k]++;
	}
	for (int64_t i = 1; sorted && i < u->n; i++)
		for (int64_t k = i; k > 0 && compare(s, u->first[k], u->first[k - 1]) < 0; k--) {
			const int64_t f = u->first[k], c = u->count[k];
			u->first[k] = u->first[k - 1];
			u->count[k] = u->count[k - 1];
			u->first[k - 1] = f;
			u->count[k - 1] = c;
		}
	for (int64_t i = 0; i < s->n; i++)
		for (int64_t k = 0; k < u->n; k++)
			if (!compare(s, u->first[k], i))
				u->inverse[i] = k;
}

static void write_unique(struct ref *r, const struct rows *s, const struct unique *u)
{
	for (int64_t o = 0; o < s->outer; o++)
		for (int64_t k = 0; k < u->n; k++)
			for (int64_t i = 0; i < s->inner; i++)
				ref_copy(r->y[0], (o * u->n + k) * s->inner + i, s->x, (o * s->n + u->first[k]) * s->inner + i);
	if (r->n_y > 1)
		memcpy(r->y[1]->data, u->first, sizeof *u->first * (size_t)u->n);
	if (r->n_y > 2)
		memcpy(r->y[2]->data, u->inverse, sizeof *u->inverse * (size_t)s->n);
	if (r->n_y > 3)
		memcpy(r->y[3]->data, u->count, sizeof *u->count * (size_t)u->n);
}

int ref_unique(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool flat = r->a->i[0] == WEFT_ONNX_ABSENT;
	int axis = flat ? 0 : ref_axis(r, r->a->i[0], x->rank), err = axis < 0 ? axis : ref_need_data(r, 0);
	weft_tensor y = *x;

	if (err)
		return err;
	if (flat)
		y = (weft_tensor){ .dtype = x->dtype, .rank = 1, .dim = { REF_N(x), 1, 1, 1, 1, 1, 1, 1 } };
	const struct rows s = { x, y.dim[axis], ref_inner(&y, axis), ref_outer(&y, axis) };
	if ((double)s.n * (double)REF_N(x) > REF_MOST_PAIRS)
		return ref_fail(r, -ENOTSUP, "%lld rows of %lld elements in all are too many to compare", (long long)s.n, (long long)REF_N(x));
	struct unique u = { ref_alloc(r, s.n, 8), ref_alloc(r, s.n, 8), ref_alloc(r, s.n, 8), 0 };
	err = u.first && u.count && u.inverse ? 0 : -ENOMEM;
	if (!err) {
		find_unique(&s, &u, r->a->i[1]);
		y.dim[axis] = u.n;
		err = ref_y_like(r, 0, &y);
	}
	err = err ? err : ref_y(r, 1, WEFT_INT64, 1, &u.n);
	err = err ? err : ref_y(r, 2, WEFT_INT64, 1, &s.n);
	err = err ? err : ref_y(r, 3, WEFT_INT64, 1, &u.n);
	if (!err && !r->shapes)
		write_unique(r, &s, &u);
	free(u.first);
	free(u.count);
	free(u.inverse);
	return err;
}

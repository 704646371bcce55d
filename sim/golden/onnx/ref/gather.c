/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering and scattering by indices; negative ones count from the end, those outside are refused. */
#include "sim/golden/onnx/ref/ref.h"

/* Index i of t, within n; -EINVAL. */
static int64_t index_at(struct ref *r, const weft_tensor *t, int64_t i, int64_t n)
{
	const int64_t v = ref_i(t, i);

	return v < -n || v >= n ? ref_fail(r, -EINVAL, "index %lld of %lld", (long long)v, (long long)n) : v < 0 ? v + n : v;
}

int ref_gather(struct ref *r)
{
	const weft_tensor *x = r->x[0], *idx = r->x[1];
	const int axis = ref_axis(r, r->a->i[0], x->rank);
	int64_t dim[2 * WEFT_MAX_RANK];
	int rank = 0;

	if (axis < 0)
		return axis;
	for (int d = 0; d < axis; d++)
		dim[rank++] = x->dim[d];
	for (int d = 0; d < idx->rank; d++)
		dim[rank++] = idx->dim[d];
	for (int d = axis + 1; d < x->rank; d++)
		dim[rank++] = x->dim[d];
	int err = ref_y(r, 0, x->dtype, rank, dim);
	if (err || r->shapes)
		return err;
	const int64_t inner = ref_inner(x, axis), n = REF_N(idx), outer = ref_outer(x, axis);
	for (int64_t o = 0; o < outer; o++)
		for (int64_t k = 0; k < n; k++) {
			const int64_t v = index_at(r, idx, k, x->dim[axis]);
			if (v < 0)
				return (int)v;
			ref_copy_run(r->y[0], (o * n + k) * inner, x, (o * x->dim[axis] + v) * inner, inner);
		}
	return 0;
}

/* Where index i of a tensor of t's rank points in x: t's place, but for the axis. */
static int64_t point(struct ref *r, const weft_tensor *x, const weft_tensor *idx, int64_t i, int axis)
{
	int64_t at[WEFT_MAX_RANK], p = 0;

	ref_split(i, idx->rank, idx->dim, at);
	at[axis] = index_at(r, idx, i, x->dim[axis]);
	if (at[axis] < 0)
		return at[axis];
	for (int d = 0; d < x->rank; d++) {
		if (at[d] >= x->dim[d])
			return ref_fail(r, -EINVAL, "indices reach beyond dimension %d", d);
		p = p * x->dim[d] + at[d];
	}
	return p;
}

int ref_gather_elements(struct ref *r)
{
	const weft_tensor *x = r->x[0], *idx = r->x[1];
	const int axis = ref_axis(r, r->a->i[0], x->rank);
	int err = axis < 0 ? axis : idx->rank != x->rank ? ref_fail(r, -EINVAL, "indices of rank %d", idx->rank) : ref_y(r, 0, x->dtype, idx->rank, idx->dim);

	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(idx); i < n; i++) {
		const int64_t p = point(r, x, idx, i, axis);
		if (p < 0)
			return (int)p;
		ref_copy(r->y[0], i, x, p);
	}
	return 0;
}

/* Tuple i of idx's last dimension, in x behind the batch dimensions: the first element it points at. */
static int64_t tuple(struct ref *r, const weft_tensor *x, const weft_tensor *idx, int64_t i, int batch)
{
	const int k = (int)idx->dim[idx->rank - 1];
	int64_t at[WEFT_MAX_RANK], p = 0;

	ref_split(i, idx->rank - 1, idx->dim, at);
	for (int d = 0; d < batch; d++)
		p = p * x->dim[d] + at[d];
	for (int d = 0; d < k; d++) {
		const int64_t v = index_at(r, idx, i * k + d, x->dim[batch + d]);
		if (v < 0)
			return v;
		p = p * x->dim[batch + d] + v;
	}
	for (int d = batch + k; d < x->rank; d++)
		p *= x->dim[d];
	return p;
}

static int64_t slice_elements(const weft_tensor *x, int from)
{
	int64_t n = 1;

	for (int d = from; d < x->rank; d++)
		n *= x->dim[d];
	return n;
}

int ref_gather_nd(struct ref *r)
{
	const weft_tensor *x = r->x[0], *idx = r->x[1];
	const int batch = r->a->i[0];
	int64_t dim[2 * WEFT_MAX_RANK];
	int rank = 0;

	for (int d = 0; d < batch && d < idx->rank && d < x->rank; d++)
		if (idx->dim[d] != x->dim[d])
			return ref_fail(r, -EINVAL, "batch dimension %d differs", d);
	if (idx->rank < 1 || batch < 0 || batch >= idx->rank || idx->dim[idx->rank - 1] + batch > x->rank)
		return ref_fail(r, -EINVAL, "indices of rank %d, %d batch dimensions", idx->rank, batch);
	for (int d = 0; d < idx->rank - 1; d++)
		dim[rank++] = idx->dim[d];
	const int from = batch + (int)idx->dim[idx->rank - 1];
	for (int d = from; d < x->rank; d++)
		dim[rank++] = x->dim[d];
	int err = ref_y(r, 0, x->dtype, rank, dim);
	if (err || r->shapes)
		return err;
	const int64_t inner = slice_elements(x, from);
	for (int64_t i = 0, n = idx->dim[idx->rank - 1] ? REF_N(idx) / idx->dim[idx->rank - 1] : 0; i < n; i++) {
		const int64_t p = tuple(r, x, idx, i, batch);
		if (p < 0)
			return (int)p;
		ref_copy_run(r->y[0], i * inner, x, p, inner);
	}
	return 0;
}

/* y[p] = y[p] and u[i], by reduction none, add, mul, max, min. */
static void merge(weft_tensor *y, int64_t p, const weft_tensor *u, int64_t i, int reduction)
{
	if (!reduction) {
		ref_copy(y, p, u, i);
	} else if (ref_floats(y->dtype)) {
		const double a = ref_f(y, p), b = ref_f(u, i);
		ref_put_f(y, p, reduction == 1 ? a + b : reduction == 2 ? a * b : reduction == 3 ? fmax(a, b) : fmin(a, b));
	} else {
		const int64_t a = ref_i(y, p), b = ref_i(u, i);
		const bool more = ref_unsigned(y->dtype) ? (uint64_t)a > (uint64_t)b : a > b;
		ref_put_i(y, p, reduction == 1 ? ref_add(a, b) : reduction == 2 ? ref_mul(a, b) : (reduction == 3) == more ? a : b);
	}
}

int ref_scatter_elements(struct ref *r)
{
	const weft_tensor *x = r->x[0], *idx = r->x[1], *u = r->x[2];
	const int axis = ref_axis(r, r->a->i[0], x->rank);
	int err = axis < 0 ? axis : ref_y_like(r, 0, x);

	if (!err && (idx->rank != x->rank || u->dtype != x->dtype || REF_N(u) != REF_N(idx)))
		err = ref_fail(r, -EINVAL, "indices and updates do not fit");
	if (err || r->shapes)
		return err;
	memcpy(r->y[0]->data, x->data, weft_tensor_bytes(x));
	for (int64_t i = 0, n = REF_N(idx); i < n; i++) {
		const int64_t p = point(r, x, idx, i, axis);
		if (p < 0)
			return (int)p;
		merge(r->y[0], p, u, i, r->a->i[1]);
	}
	return 0;
}

int ref_scatter_nd(struct ref *r)
{
	const weft_tensor *x = r->x[0], *idx = r->x[1], *u = r->x[2];
	int err = ref_y_like(r, 0, x);

	if (!err && (idx->rank < 1 || idx->dim[idx->rank - 1] > x->rank || u->dtype != x->dtype))
		err = ref_fail(r, -EINVAL, "indices and updates do not fit");
	if (err || r->shapes)
		return err;
	const int64_t inner = slice_elements(x, (int)idx->dim[idx->rank - 1]), k = idx->dim[idx->rank - 1], n = k ? REF_N(idx) / k : 0;
	if (REF_N(u) != n * inner)
		return ref_fail(r, -EINVAL, "%lld updates, not %lld", (long long)REF_N(u), (long long)(n * inner));
	memcpy(r->y[0]->data, x->data, weft_tensor_bytes(x));
	for (int64_t i = 0; i < n; i++) {
		const int64_t p = tuple(r, x, idx, i, 0);
		if (p < 0)
			return (int)p;
		for (int64_t e = 0; e < inner; e++)
			merge(r->y[0], p + e, u, i * inner + e, r->a->i[0]);
	}
	return 0;
}

/* A cache, operand 0, with updates along an axis from a place of each batch, operand 2. */
int ref_tensor_scatter(struct ref *r)
{
	const weft_tensor *x = r->x[0], *u = r->x[1], *from = r->n_x > 2 ? r->x[2] : NULL;
	const int axis = ref_axis(r, r->a->i[0], x->rank);
	int err = axis < 0 ? axis : !axis || u->rank != x->rank || u->dtype != x->dtype ? ref_fail(r, -EINVAL, "updates do not fit") : ref_y_like(r, 0, x);
	int64_t at[WEFT_MAX_RANK];

	for (int d = 0; d < x->rank && !err; d++)
		if (d != axis && u->dim[d] != x->dim[d])
			err = ref_fail(r, -EINVAL, "updates do not fit");
	err = err ? err : ref_count(r, 2, x->dim[0], false);

	if (err || r->shapes)
		return err;
	memcpy(r->y[0]->data, x->data, weft_tensor_bytes(x));
	for (int64_t i = 0, n = REF_N(u); i < n; i++) {
		ref_split(i, u->rank, u->dim, at);
		at[axis] = ref_add(at[axis], from ? ref_i(from, at[0]) : 0);
		at[axis] = r->a->i[1] && x->dim[axis] ? at[axis] % x->dim[axis] : at[axis];
		if (at[axis] < 0 || at[axis] >= x->dim[axis])
			return ref_fail(r, -EINVAL, "place %lld of %lld", (long long)at[axis], (long long)x->dim[axis]);
		ref_copy(r->y[0], ref_at(x, x->rank, at), u, i);
	}
	return 0;
}

int ref_one_hot(struct ref *r)
{
	const weft_tensor *idx = r->x[0], *values = r->x[2];
	const int axis = ref_axis(r, r->a->i[0], idx->rank + 1);
	int64_t depth, dim[WEFT_MAX_RANK + 1];
	int err = axis < 0 ? axis : ref_one(r, 1, &depth);

	err = err ? err : ref_count(r, 2, 2, false);

	if (err < 0)
		return err;
	if (idx->rank == WEFT_MAX_RANK)
		return ref_fail(r, -ENOTSUP, "rank %d", idx->rank + 1);
	for (int d = 0; d <= idx->rank; d++)
		dim[d] = d < axis ? idx->dim[d] : d == axis ? depth : idx->dim[d - 1];
	err = depth < 0 ? ref_fail(r, -EINVAL, "depth %lld", (long long)depth) : ref_y(r, 0, values->dtype, idx->rank + 1, dim);
	if (err || r->shapes)
		return err;
	int64_t inner = 1;
	for (int d = axis + 1; d <= idx->rank; d++)
		inner *= dim[d];
	for (int64_t i = 0, n = REF_N(r->y[0]); i < n; i++) {
		int64_t v = ref_i(idx, i / inner / depth * inner + i % inner);
		v = v < 0 ? v + depth : v;
		ref_copy(r->y[0], i, values, v == i / inner % depth);
	}
	return 0;
}

int ref_reverse_sequence(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int batch = ref_axis(r, r->a->i[0], x->rank), time = ref_axis(r, r->a->i[1], x->rank);
	int64_t at[WEFT_MAX_RANK];
	int err = batch < 0 || time < 0 ? -EINVAL : REF_N(r->x[1]) != x->dim[batch] ? ref_fail(r, -EINVAL, "lengths do not fit") : ref_y_like(r, 0, x);

	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(x); i < n; i++) {
		ref_split(i, x->rank, x->dim, at);
		const int64_t len = ref_i(r->x[1], at[batch]);
		if (len < 0 || len > x->dim[time])
			return ref_fail(r, -EINVAL, "length %lld", (long long)len);
		if (at[time] < len)
			at[time] = len - 1 - at[time];
		ref_copy(r->y[0], i, x, ref_at(x, x->rank, at));
	}
	return 0;
}

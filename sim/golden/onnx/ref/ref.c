/* SPDX-License-Identifier: Apache-2.0 */
/* Elements, indices and messages of ONNX's operators on the host. */
#include "sim/golden/onnx/ref/ref.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/golden/golden.h"

#define MAX_ELEMENTS ((int64_t)INT32_MAX)

int ref_fail(struct ref *r, int err, const char *format, ...)
{
	va_list ap;
	int n = snprintf(r->msg, WEFT_GOLDEN_MSG, "%s: ", r->name);

	va_start(ap, format);
	vsnprintf(r->msg + n, WEFT_GOLDEN_MSG - (size_t)n, format, ap);
	va_end(ap);
	return err;
}

int ref_y(struct ref *r, int k, weft_dtype t, int rank, const int64_t *dim)
{
	weft_tensor y = { .dtype = t, .rank = rank, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
	int64_t n = 1;

	if (k >= r->n_y)
		return 0;
	if (rank > WEFT_MAX_RANK)
		return ref_fail(r, -ENOTSUP, "result %d has rank %d, at most %d", k, rank, WEFT_MAX_RANK);
	for (int d = 0; d < rank; d++) {
		if (dim[d] < 0 || dim[d] > MAX_ELEMENTS / (n ? n : 1))
			return ref_fail(r, -EINVAL, "result %d: dimension %d is %lld", k, d, (long long)dim[d]);
		y.dim[d] = dim[d];
		n *= dim[d];
	}
	if (r->shapes) {
		*r->y[k] = y;
		return 0;
	}
	if (r->y[k]->dtype != t || r->y[k]->rank != rank || (rank && memcmp(r->y[k]->dim, y.dim, sizeof y.dim[0] * (size_t)rank)))
		return ref_fail(r, -EINVAL, "result %d has another type or shape than the operands give", k);
	return 0;
}

int ref_y_like(struct ref *r, int k, const weft_tensor *t)
{
	return ref_y(r, k, t->dtype, t->rank, t->dim);
}

int ref_need(struct ref *r, int k)
{
	return k < r->n_x && r->x[k] ? 0 : ref_fail(r, -EINVAL, "input %d is missing", k);
}

int ref_need_data(struct ref *r, int k)
{
	int err = ref_need(r, k);

	if (err || r->x[k]->data || !REF_N(r->x[k]))
		return err;
	r->which = r->place[k];
	return ref_fail(r, -EAGAIN, "input %d has to be constant", k);
}

int ref_one(struct ref *r, int k, int64_t *v)
{
	int err = ref_need_data(r, k);

	err = err ? err : ref_count(r, k, 1, true);
	*v = err ? 0 : ref_i(r->x[k], 0);
	return err;
}

int ref_count(struct ref *r, int k, int64_t n, bool or_one)
{
	const int64_t have = k < r->n_x && r->x[k] ? REF_N(r->x[k]) : n;

	if (have == n || (or_one && have == 1))
		return 0;
	return ref_fail(r, -EINVAL, "input %d has %lld elements, not %lld", k, (long long)have, (long long)n);
}

int ref_fits(struct ref *r, int k, const weft_tensor *x)
{
	const weft_tensor *t = k < r->n_x ? r->x[k] : NULL;

	if (t && t->rank > x->rank)
		return ref_fail(r, -EINVAL, "input %d has rank %d, at most %d", k, t->rank, x->rank);
	for (int d = 0; t && d < t->rank; d++)
		if (t->dim[d] != 1 && t->dim[d] != x->dim[d + x->rank - t->rank])
			return ref_fail(r, -EINVAL, "input %d: dimension %d is %lld", k, d, (long long)t->dim[d]);
	return 0;
}

int ref_axis(struct ref *r, int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank)
		return ref_fail(r, -EINVAL, "axis %lld of rank %d", (long long)axis, rank);
	return (int)(axis < 0 ? axis + rank : axis);
}

int ref_ints(struct ref *r, int k, int most, int64_t *v)
{
	int err = ref_need_data(r, k);

	if (err)
		return err;
	int64_t n = REF_N(r->x[k]);
	if (n > most)
		return ref_fail(r, -EINVAL, "input %d has %lld elements, at most %d", k, (long long)n, most);
	for (int64_t i = 0; i < n; i++)
		v[i] = ref_i(r->x[k], i);
	return (int)n;
}

int ref_list(struct ref *r, int i, int k, int most, int64_t *v)
{
	const int n = r->a->i[i];

	if (n < 0)
		return k >= 0 && k < r->n_x && r->x[k] ? ref_ints(r, k, most, v) : 0;
	if (n > most)
		return ref_fail(r, -EINVAL, "a list of %d numbers, at most %d", n, most);
	for (int d = 0; d < n; d++)
		v[d] = r->a->i[i + 1 + d];
	return n;
}

/* ---- elements ---- */

/* Types by ONNX's numbers of them; 0 for what is none of ours. */
static const weft_dtype types[] = {
	0, WEFT_FP32, WEFT_UINT8, WEFT_INT8, WEFT_UINT16, WEFT_INT16, WEFT_INT32, WEFT_INT64, 0, WEFT_BOOL, WEFT_FP16, WEFT_FP64,
	WEFT_UINT32, WEFT_UINT64, 0, 0, WEFT_BF16, WEFT_FP8E4M3, WEFT_FP8E4M3FNUZ, WEFT_FP8E5M2, WEFT_FP8E5M2FNUZ, WEFT_UINT4,
	WEFT_INT4, WEFT_FP4E2M1, WEFT_FP8E8M0, WEFT_UINT2, WEFT_INT2,
};
#define N_TYPES ((int)(sizeof types / sizeof types[0]))

weft_dtype ref_type(int64_t number)
{
	return number > 0 && number < N_TYPES ? types[number] : 0;
}

int weft_onnx_ref_type_number(weft_dtype t)
{
	for (int number = 1; number < N_TYPES; number++)
		if (t && types[number] == t)
			return number;
	return 0;
}

bool ref_unsigned(weft_dtype t)
{
	return t == WEFT_BOOL || t == WEFT_UINT8 || t == WEFT_UINT16 || t == WEFT_UINT32 || t == WEFT_UINT64 || t == WEFT_UINT4 || t == WEFT_UINT2;
}

int64_t ref_i(const weft_tensor *t, int64_t i)
{
	switch (t->dtype) {
	case WEFT_BOOL: case WEFT_UINT8: case WEFT_UINT4: case WEFT_UINT2: return ((const uint8_t *)t->data)[i];
	case WEFT_INT8: case WEFT_INT4: case WEFT_INT2: return ((const int8_t *)t->data)[i];
	case WEFT_INT16: return ((const int16_t *)t->data)[i];
	case WEFT_UINT16: return ((const uint16_t *)t->data)[i];
	case WEFT_INT32: return ((const int32_t *)t->data)[i];
	case WEFT_UINT32: return ((const uint32_t *)t->data)[i];
	case WEFT_INT48: case WEFT_INT64: case WEFT_UINT64: return ((const int64_t *)t->data)[i];
	default: return ref_cut(ref_f(t, i));
	}
}

double ref_f(const weft_tensor *t, int64_t i)
{
	switch (t->dtype) {
	case WEFT_FP32: return (double)((const float *)t->data)[i];
	case WEFT_FP64: return ((const double *)t->data)[i];
	case WEFT_FP16: case WEFT_BF16: return weft_float_decode(t->dtype, ((const uint16_t *)t->data)[i]);
	case WEFT_UINT64: return (double)((const uint64_t *)t->data)[i];
	default:
		return weft_is_float(t->dtype) ? weft_float_decode(t->dtype, ((const uint8_t *)t->data)[i]) : (double)ref_i(t, i);
	}
}

void ref_put_i(weft_tensor *t, int64_t i, int64_t v)
{
	switch (t->dtype) {
	case WEFT_BOOL: ((uint8_t *)t->data)[i] = v != 0; break;
	case WEFT_UINT4: ((uint8_t *)t->data)[i] = v & 15; break;
	case WEFT_UINT2: ((uint8_t *)t->data)[i] = v & 3; break;
	case WEFT_INT4: ((int8_t *)t->data)[i] = (int8_t)(((v & 15) ^ 8) - 8); break;
	case WEFT_INT2: ((int8_t *)t->data)[i] = (int8_t)(((v & 3) ^ 2) - 2); break;
	case WEFT_INT8: case WEFT_UINT8: ((uint8_t *)t->data)[i] = (uint8_t)v; break;
	case WEFT_INT16: case WEFT_UINT16: ((uint16_t *)t->data)[i] = (uint16_t)v; break;
	case WEFT_INT32: case WEFT_UINT32: ((uint32_t *)t->data)[i] = (uint32_t)v; break;
	case WEFT_INT48: case WEFT_INT64: case WEFT_UINT64: ((int64_t *)t->data)[i] = v; break;
	default: ref_put_f(t, i, (double)v); break;
	}
}

static void limits(weft_dtype t, double *lo, double *hi)
{
	switch (t) {
	case WEFT_BOOL: *lo = 0; *hi = 1; break;
	case WEFT_INT2: *lo = -2; *hi = 1; break;
	case WEFT_UINT2: *lo = 0; *hi = 3; break;
	case WEFT_INT4: *lo = -8; *hi = 7; break;
	case WEFT_UINT4: *lo = 0; *hi = 15; break;
	default: {
		const int bits = 8 * (int)weft_dtype_bytes(t);
		*lo = ref_unsigned(t) ? 0 : -ldexp(1, bits - 1);
		*hi = ref_unsigned(t) ? ldexp(1, bits) - 1 : ldexp(1, bits - 1) - 1;
	}
	}
}

void ref_put_f(weft_tensor *t, int64_t i, double v)
{
	double lo, hi;

	switch (t->dtype) {
	case WEFT_FP32: ((float *)t->data)[i] = (float)v; return;
	case WEFT_FP64: ((double *)t->data)[i] = v; return;
	case WEFT_FP16: case WEFT_BF16: ((uint16_t *)t->data)[i] = (uint16_t)weft_float_encode(t->dtype, v, false); return;
	default: break;
	}
	if (weft_is_float(t->dtype)) {
		((uint8_t *)t->data)[i] = (uint8_t)weft_float_encode(t->dtype, v, true);
		return;
	}
	limits(t->dtype, &lo, &hi);
	if (v >= hi && t->dtype == WEFT_UINT64)
		ref_put_i(t, i, -1);
	else if (v >= 0x1p63)
		ref_put_i(t, i, t->dtype == WEFT_UINT64 ? (int64_t)(uint64_t)v : INT64_MAX);
	else
		ref_put_i(t, i, v != v ? 0 : v < lo ? (int64_t)lo : v > hi ? (int64_t)hi : (int64_t)v);
}

void ref_copy_run(weft_tensor *y, int64_t i, const weft_tensor *x, int64_t k, int64_t n)
{
	const size_t bytes = weft_dtype_bytes(x->dtype);

	if (n)
		memcpy((char *)y->data + (size_t)i * bytes, (const char *)x->data + (size_t)k * bytes, (size_t)n * bytes);
}

void ref_copy(weft_tensor *y, int64_t i, const weft_tensor *x, int64_t k)
{
	ref_copy_run(y, i, x, k, 1);
}

double ref_round(weft_dtype t, double v)
{
	uint64_t room = 0;
	weft_tensor one = { .dtype = t, .rank = 0, .data = &room };

	if (t == WEFT_FP64)
		return v;
	if (t == WEFT_FP32)
		return (double)(float)v;
	ref_put_f(&one, 0, v);
	return ref_f(&one, 0);
}

/* ---- indices ---- */

void ref_strides(const weft_tensor *t, int64_t *stride)
{
	int64_t n = 1;

	for (int d = t->rank - 1; d >= 0; d--) {
		stride[d] = n;
		n *= t->dim[d];
	}
}

int64_t ref_outer(const weft_tensor *t, int axis)
{
	int64_t n = 1;

	for (int d = 0; d < axis; d++)
		n *= t->dim[d];
	return n;
}

int64_t ref_inner(const weft_tensor *t, int axis)
{
	int64_t n = 1;

	for (int d = axis + 1; d < t->rank; d++)
		n *= t->dim[d];
	return n;
}

void ref_split(int64_t i, int rank, const int64_t *dim, int64_t *at)
{
	for (int d = rank - 1; d >= 0; d--) {
		at[d] = i % dim[d];
		i /= dim[d];
	}
}

int64_t ref_at(const weft_tensor *t, int rank, const int64_t *at)
{
	int64_t i = 0;

	for (int d = 0; d < t->rank; d++)
		i = i * t->dim[d] + (t->dim[d] == 1 ? 0 : at[d + rank - t->rank]);
	return i;
}

int ref_broadcast(struct ref *r, int *rank, int64_t *dim, const weft_tensor *t)
{
	if (t->rank > *rank) {
		const int by = t->rank - *rank;

		memmove(dim + by, dim, sizeof *dim * (size_t)*rank);
		for (int d = 0; d < by; d++)
			dim[d] = 1;
		*rank = t->rank;
	}
	for (int d = 0; d < t->rank; d++) {
		int64_t *have = &dim[d + *rank - t->rank];

		if (*have != 1 && t->dim[d] != 1 && *have != t->dim[d])
			return ref_fail(r, -EINVAL, "%lld and %lld do not broadcast", (long long)*have, (long long)t->dim[d]);
		*have = *have == 1 ? t->dim[d] : *have;
	}
	return 0;
}

void *ref_alloc(struct ref *r, int64_t n, size_t bytes)
{
	void *p = n < 0 || n > MAX_ELEMENTS ? NULL : calloc((size_t)n + 1, bytes);

	if (!p)
		ref_fail(r, -ENOMEM, "out of memory");
	return p;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ATAN2, POW and DIV of int32, TOPK_V2 and BUCKETIZE.
 *
 * Source: LiteRT 2.3, what its kernels give on x86-64.
 */
#include <stdlib.h>

#include "sim/golden/onnx/tfl/ops.h"

/* ---- two operands ---- */

/*
 * States the result of operands 0 and 1, which broadcast and both have type t. Returns 0, -EINVAL for other types or
 * shapes, or another negative errno.
 */
static int both(struct ref *r, weft_dtype t)
{
	int64_t dim[WEFT_MAX_RANK];
	int rank = 0, err = 0;

	for (int k = 0; k < 2 && !err; k++) {
		const weft_dtype own = r->x[k]->dtype;
		err = own == t ? ref_broadcast(r, &rank, dim, r->x[k])
		               : ref_fail(r, -EINVAL, "%s; %s wanted", weft_dtype_name(own), weft_dtype_name(t));
	}
	return err ? err : ref_y(r, 0, t, rank, dim);
}

/*
 * Writes f of each pair of elements of operands 0 and 1 as the result, whose shape both() has stated. int32 is exact as
 * float64.
 */
static void each_pair(struct ref *r, double (*f)(const struct ref *r, double a, double b))
{
	weft_tensor *y = r->y[0];
	int64_t at[WEFT_MAX_RANK];

	for (int64_t i = 0; i < REF_N(y); i++) {
		ref_split(i, y->rank, y->dim, at);
		ref_put_f(y, i, f(r, ref_f(r->x[0], ref_at(r->x[0], y->rank, at)), ref_f(r->x[1], ref_at(r->x[1], y->rank, at))));
	}
}

/* Returns the C library's angle of a and b, in the operands' type. */
static double angle(const struct ref *r, double a, double b)
{
	return r->x[0]->dtype == WEFT_FP32 ? (double)atan2f((float)a, (float)b) : atan2(a, b);
}

/* Atan2: the angle of operands 0 and 1, both float32 or both float64. */
int tfl_atan2(struct ref *r)
{
	const weft_dtype t = r->x[0]->dtype;
	int err = t == WEFT_FP32 || t == WEFT_FP64 ? both(r, t) : ref_fail(r, -EINVAL, "%s", weft_dtype_name(t));

	if (!err && !r->shapes)
		each_pair(r, angle);
	return err;
}

/* Returns v cut to int32 as x86-64 does it: everything that int32 does not hold is its least number. */
static int32_t cut(double v)
{
	return v > -0x1p31 - 1 && v < 0x1p31 ? (int32_t)v : INT32_MIN;
}

/* Returns a to the power of b, which is not negative, in 32 bits that wrap. */
static int32_t wrapped_power(int32_t a, int32_t b)
{
	uint32_t y = 1, square = (uint32_t)a;

	for (; b; b >>= 1, square *= square)
		y *= b & 1 ? square : 1;
	return (int32_t)y;
}

/* Returns a to the power of b, both of int32, as tfl_pow() says. */
static double power(const struct ref *r, double a, double b)
{
	const weft_tensor *base = r->x[0], *exponent = r->x[1];
	const bool one = REF_N(exponent) == 1 && (base->rank != exponent->rank || REF_N(base) != 1);

	return one && b >= 0 ? wrapped_power((int32_t)a, (int32_t)b) : cut(pow(a, b));
}

/*
 * Pow: int32 operand 0 to the power of int32 operand 1. One exponent for a base of another shape multiplies in 32
 * bits, which wrap; otherwise, and for negative exponents, which LiteRT refuses, the power is float64's, cut.
 */
int tfl_pow(struct ref *r)
{
	int err = both(r, WEFT_INT32);

	if (!err && !r->shapes)
		each_pair(r, power);
	return err;
}

/* Returns a by b, both of int32, as tfl_div() says. */
static double quotient(const struct ref *r, double a, double b)
{
	(void)r;
	return b == 0 ? 0 : fmin(trunc(a / b), INT32_MAX);
}

/* Div: int32 operand 0 by operand 1, cut towards 0. -2^31 by -1 is 2^31 - 1; by 0, where LiteRT stops, 0. */
int tfl_div(struct ref *r)
{
	int err = both(r, WEFT_INT32);

	if (!err && !r->shapes)
		each_pair(r, quotient);
	return err;
}

/* ---- TOPK_V2 ---- */

/* An element and its place in the row. */
struct ranked { double f; int64_t i, at; };

/* Order of a row: the greatest first, of equal ones the first, NaN behind all numbers. */
static int by_rank(const void *p, const void *q)
{
	const struct ranked *a = p, *b = q;

	if (isnan(a->f) != isnan(b->f))
		return isnan(a->f) ? 1 : -1;
	if (a->f != b->f && !isnan(a->f))
		return a->f > b->f ? -1 : 1;
	if (a->i != b->i)
		return a->i > b->i ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* TopK: the k greatest elements along the last axis of operand 0, and their places there as int64. */
int tfl_top_k(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int64_t k = r->a->i[0], n = x->rank ? x->dim[x->rank - 1] : 0;
	weft_tensor y = *x;

	if (!x->rank || k < 0 || k > n || x->dtype == WEFT_UINT64)
		return ref_fail(r, -EINVAL, "the greatest %lld of %lld elements of %s", (long long)k, (long long)n,
		                weft_dtype_name(x->dtype));
	y.dim[x->rank - 1] = k;
	int err = ref_y_like(r, 0, &y);
	err = err ? err : ref_y(r, 1, WEFT_INT64, y.rank, y.dim);
	if (err || r->shapes)
		return err;
	struct ranked *row = ref_alloc(r, n, sizeof *row);
	for (int64_t first = 0, to = 0; row && first < REF_N(x); first += n) {
		for (int64_t i = 0; i < n; i++)
			row[i] = ref_floats(x->dtype) ? (struct ranked){ ref_f(x, first + i), 0, i }
			                              : (struct ranked){ 0, ref_i(x, first + i), i };
		qsort(row, (size_t)n, sizeof *row, by_rank);
		for (int64_t p = 0; p < k; p++, to++) {
			ref_copy(r->y[0], to, x, first + row[p].at);
			if (r->n_y > 1)
				((int64_t *)r->y[1]->data)[to] = row[p].at;
		}
	}
	err = row ? 0 : -ENOMEM;
	free(row);
	return err;
}

/* ---- BUCKETIZE ---- */

/*
 * Bucketize: how many boundaries, operand 1 of float32, are not above each element of operand 0, found by halving
 * as std::upper_bound does it, which decides where boundaries are NaN. Operand 0 is float64, or compared as float32.
 */
int tfl_bucketize(struct ref *r)
{
	const weft_tensor *x = r->x[0], *bounds = r->x[1];
	int err = bounds->dtype == WEFT_FP32 ? ref_y(r, 0, WEFT_INT32, x->rank, x->dim)
	                                     : ref_fail(r, -EINVAL, "boundaries of %s", weft_dtype_name(bounds->dtype));

	if (err || r->shapes)
		return err;
	for (int64_t i = 0; i < REF_N(x); i++) {
		const float rounded = ref_floats(x->dtype) ? (float)ref_f(x, i) : (float)ref_i(x, i);
		const double v = x->dtype == WEFT_FP64 ? ref_f(x, i) : (double)rounded;
		int64_t first = 0;

		for (int64_t n = REF_N(bounds); n > 0; ) {
			const int64_t half = n / 2;
			const bool above = v < (double)((const float *)bounds->data)[first + half];

			first += above ? 0 : half + 1;
			n = above ? half : n - half - 1;
		}
		ref_put_i(r->y[0], i, first);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GATHER and GATHER_ND by TOSA's GATHER of rows: values [N,K,C], indices [N,W].
 *
 * Indices that are constants are checked here; computed ones are checked when
 * the operator runs.
 */
#include <errno.h>
#include <stdlib.h>

#include "tflite_lower.h"

#define MAX_INDICES 65536          /* constant indices that are checked */

/*
 * Checks that element i of operand 1, if that is constant, is 0..limit[i % n] - 1, for each i. Returns 0,
 * also if operand 1 is not constant; -EINVAL if an element is out of range or no integer; -ENOTSUP if
 * there are more than MAX_INDICES; or another negative errno.
 */
static int check_indices(struct tfl_lower *l, const int64_t *limit, int n)
{
	weft_tensor t;
	int i = tfl_operand(l, 1), err = i < 0 ? i : tfl_shape(l, i, &t);

	if (err || !tfl_is_const(l, 1))
		return err;
	int64_t count = weft_tensor_elements(&t);
	int64_t *v = count > MAX_INDICES ? NULL : tfl_alloc(l, count, sizeof *v);
	if (!v)
		return count > MAX_INDICES ? tfl_fail(l, -ENOTSUP, "%lld constant indices", (long long)count) : l->err;
	err = tfl_ints(l, 1, MAX_INDICES, v);
	for (int64_t k = 0; err >= 0 && k < count; k++)
		if (v[k] < 0 || v[k] >= limit[k % n])
			err = tfl_fail(l, -EINVAL, "index %lld of %lld", (long long)v[k], (long long)limit[k % n]);
	free(v);
	return err < 0 ? err : 0;
}

/* Adds the indices in operand 1, constant integers of any type, as an int32 constant in the shape of *t. Returns the graph tensor, or a negative errno. */
static int constant_indices(struct tfl_lower *l, const weft_tensor *t)
{
	const int64_t n = weft_tensor_elements(t);
	int64_t *v = n <= MAX_INDICES ? tfl_alloc(l, n, sizeof *v) : NULL;
	int32_t *p = v ? tfl_alloc(l, n, sizeof *p) : NULL;
	int err = n <= MAX_INDICES ? l->err : tfl_fail(l, -ENOTSUP, "%lld constant indices", (long long)n);

	if (p && (err = tfl_ints(l, 1, MAX_INDICES, v)) >= 0)
		for (int64_t k = 0; k < n; k++)
			p[k] = (int32_t)v[k];
	free(v);
	if (!p || err < 0) {
		free(p);
		return err;
	}
	return tfl_data(l, "indices", WEFT_INT32, t->rank, t->dim, p);
}

/*
 * Emits operand 1 as int32: as it is, or converted if it is int16 or int64. Sets *t to the type and shape of that. Returns the graph
 * tensor, -ENOTSUP if the operand has another type, or another negative errno.
 */
static int indices(struct tfl_lower *l, weft_tensor *t)
{
	int x = tfl_value(l, 1);

	if (x < 0)
		return x;
	*t = l->g->tensors[x].t;
	if (t->dtype != WEFT_INT32 && t->dtype != WEFT_INT16 && t->dtype != WEFT_INT64)
		return tfl_fail(l, -ENOTSUP, "indices are %s; int16, int32 and int64 are supported", weft_dtype_name(t->dtype));
	if (t->dtype == WEFT_INT32)
		return x;
	const bool wide = t->dtype == WEFT_INT64;
	t->dtype = WEFT_INT32;
	if (tfl_is_const(l, 1))
		return constant_indices(l, t);
	return tfl_step(l, wide ? WEFT_OP_TFL_CAST : WEFT_OP_CAST, NULL, &x, 1, WEFT_INT32, t->rank, t->dim, false);
}

/*
 * Emits GATHER of values x, taken as [n,k,c], by int32 indices at, taken as [n,w]: an intermediate
 * tensor [n,w,c]. Returns the graph tensor, or a negative errno.
 */
static int rows(struct tfl_lower *l, int x, int at, int64_t n, int64_t k, int64_t w, int64_t c)
{
	if ((x = tfl_reshape(l, x, 3, (int64_t[]){ n, k, c })) < 0 || (at = tfl_reshape(l, at, 2, (int64_t[]){ n, w })) < 0)
		return x < 0 ? x : at;
	return tfl_step(l, WEFT_OP_GATHER, NULL, (int[]){ x, at }, 2, l->g->tensors[x].t.dtype, 3, (int64_t[]){ n, w, c }, false);
}

/* Returns the product of the numbers dim[from] to dim[to - 1]; 1 if there are none. */
static int64_t product(const int64_t *dim, int from, int to)
{
	int64_t n = 1;

	for (int i = from; i < to; i++)
		n *= dim[i];
	return n;
}

/*
 * Emits x, taken as [n,a,b,c], with a and b exchanged, [n,b,a,c]; if a or b is 1, a RESHAPE is
 * enough. Returns the graph tensor, or a negative errno.
 */
static int swap(struct tfl_lower *l, int x, int64_t n, int64_t a, int64_t b, int64_t c)
{
	weft_attr perm = { .perm = { { 0, 2, 1, 3 } } };
	weft_dtype t = l->g->tensors[x].t.dtype;

	if (a == 1 || b == 1)
		return tfl_reshape(l, x, 4, (int64_t[]){ n, b, a, c });
	if ((x = tfl_reshape(l, x, 4, (int64_t[]){ n, a, b, c })) < 0)
		return x;
	return tfl_step(l, WEFT_OP_TRANSPOSE, &perm, &x, 1, t, 4, (int64_t[]){ n, b, a, c }, false);
}

/*
 * Lowers GATHER: the slices of operand 0 along the option's axis that the int32 indices, operand 1, name,
 * behind the leading batch dimensions that both share. Constant indices are checked here. Operand 0 has to
 * have the result's type and quantisation (tfl_moved()). Returns the result's tensor; -EINVAL if axis,
 * dimensions or an index are out of range, or the result has another number of elements; -ENOTSUP if the
 * indices are not int32; or another negative errno.
 */
int tfl_lower_gather(struct tfl_lower *l)
{
	weft_tensor it;
	int axis, batch, err, x, at;

	if ((err = tfl_option(l, OPTIONS_GATHER, GATHER_AXIS, 4, 0, &axis)) ||
	    (err = tfl_option(l, OPTIONS_GATHER, GATHER_BATCH, 4, 0, &batch)))
		return err;
	if ((x = tfl_moved(l, 0)) < 0 || (at = indices(l, &it)) < 0)
		return x < 0 ? x : at;
	weft_tensor t = l->g->tensors[x].t;
	axis = axis < 0 ? axis + t.rank : axis;
	batch = batch < 0 ? batch + it.rank : batch;
	if (axis < 0 || axis >= t.rank || batch < 0 || batch > axis || batch > it.rank)
		return tfl_fail(l, -EINVAL, "axis %d and %d batch dimensions of ranks %d and %d", axis, batch, t.rank, it.rank);
	for (int i = 0; i < batch; i++)
		if (t.dim[i] != it.dim[i])
			return tfl_fail(l, -EINVAL, "batch dimension %d is %lld and %lld", i, (long long)t.dim[i], (long long)it.dim[i]);
	if ((err = check_indices(l, &t.dim[axis], 1)))
		return err;
	int64_t n = product(t.dim, 0, batch), outer = product(t.dim, batch, axis), k = t.dim[axis];
	int64_t c = product(t.dim, axis + 1, t.rank), w = product(it.dim, batch, it.rank);
	if ((x = swap(l, x, n, outer, k, c)) < 0 || (x = rows(l, x, at, n, k, w, outer * c)) < 0 ||
	    (x = swap(l, x, n, w, outer, c)) < 0)
		return x;
	if (weft_tensor_elements(&l->y) != n * outer * w * c)
		return tfl_fail(l, -EINVAL, "tensor %d: %lld elements gathered", l->i_y, (long long)(n * outer * w * c));
	return tfl_step(l, WEFT_OP_RESHAPE, NULL, &x, 1, t.dtype, l->y.rank, l->y.dim, true);
}

/*
 * Emits for each of the w rows of d indices in `at` the position, [w,1], in a tensor whose first d
 * dimensions are dim: the sum of each index times its stride. Returns the graph tensor, or a
 * negative errno.
 */
static int linear(struct tfl_lower *l, int at, int64_t w, int d, const int64_t *dim)
{
	weft_attr sum = { .axis = { .axis = 1 } }, mul = { .mul = { 0 } };
	int32_t *stride = tfl_alloc(l, d, sizeof *stride);
	int64_t n = 1;

	if (!stride)
		return l->err;
	for (int i = d - 1; i >= 0; i--) {
		stride[i] = (int32_t)n;
		n *= dim[i];
	}
	int s = tfl_data(l, "strides", WEFT_INT32, 2, (int64_t[]){ 1, d }, stride);
	if (s < 0 || (at = tfl_reshape(l, at, 2, (int64_t[]){ w, d })) < 0)
		return s < 0 ? s : at;
	int64_t wide[2] = { w, d };
	at = tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ at, s }, 2, WEFT_INT32, 2, wide, false);
	wide[1] = 1;
	return at < 0 ? at : tfl_step(l, WEFT_OP_REDUCE_SUM, &sum, &at, 1, WEFT_INT32, 2, wide, false);
}

/*
 * Lowers GATHER_ND: each row of int32 indices, operand 1, becomes one index into operand 0, flattened over
 * the dimensions that the row addresses. Constant indices are checked here. Operand 0 has to have the
 * result's type and quantisation (tfl_moved()). Returns the result's tensor; -EINVAL if ranks or an index are
 * out of range, or the result has another number of elements; -ENOTSUP if the indices are not int32; or
 * another negative errno.
 */
int tfl_lower_gather_nd(struct tfl_lower *l)
{
	weft_tensor it;
	int x = tfl_moved(l, 0), at = x < 0 ? x : indices(l, &it), err;

	if (at < 0)
		return at;
	weft_tensor t = l->g->tensors[x].t;
	int64_t d = it.rank ? it.dim[it.rank - 1] : 0;
	if (d < 1 || d > t.rank)
		return tfl_fail(l, -EINVAL, "%lld indices each for rank %d", (long long)d, t.rank);
	if ((err = check_indices(l, t.dim, (int)d)))
		return err;
	int64_t w = product(it.dim, 0, it.rank - 1), k = product(t.dim, 0, (int)d), c = product(t.dim, (int)d, t.rank);
	if ((at = linear(l, at, w, (int)d, t.dim)) < 0 || (x = rows(l, x, at, 1, k, w, c)) < 0)
		return at < 0 ? at : x;
	if (weft_tensor_elements(&l->y) != w * c)
		return tfl_fail(l, -EINVAL, "tensor %d: %lld elements gathered", l->i_y, (long long)(w * c));
	return tfl_step(l, WEFT_OP_RESHAPE, NULL, &x, 1, t.dtype, l->y.rank, l->y.dim, true);
}

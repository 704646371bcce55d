/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WHERE and UNIQUE, the extent of whose results depends on values. Of constants they are constants; computed values are
 * refused, since all shapes of a network are fixed when it is loaded. DENSIFY, too, is a constant.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_lower.h"

/*
 * Makes result k of the operator at hand a constant of the given shape with `data`, from tfl_alloc(), which
 * it takes over: elements of the file's type for it. Returns 0, -EINVAL if the file gives it another rank or
 * extents, l->err if data is NULL, or another negative errno; data is freed after a failure.
 */
static int give(struct tfl_lower *l, int k, const weft_tensor *t, void *data)
{
	int err = data ? tfl_result(l, k) : l->err;

	if (!err && l->y.rank != t->rank)
		err = tfl_fail(l, -EINVAL, "tensor %d: file says rank %d, operator gives %d", l->i_y, l->y.rank, t->rank);
	for (int i = 0; !err && i < t->rank; i++)
		if (l->y.dim[i] != t->dim[i] && !tfl_is_open(l, i))
			err = tfl_fail(l, -EINVAL, "tensor %d: file says dimension %d is %lld, operator gives %lld", l->i_y, i,
			               (long long)l->y.dim[i], (long long)t->dim[i]);
	if (err) {
		free(data);
		return err;
	}
	return tfl_make_const(l, l->i_y, t->dim, data, (size_t)weft_tensor_elements(t) * weft_dtype_bytes(l->y.dtype));
}

/*
 * Sets *t to type and shape of operand 0, which has to be constant, and *elem to the bytes of an element. Returns 0,
 * -ENOTSUP if it is not constant or int4, -EINVAL if its data have another size than the shape, or another negative
 * errno.
 */
static int constant(struct tfl_lower *l, weft_tensor *t, size_t *elem)
{
	const int i = tfl_operand(l, 0);
	int err = i < 0 ? i : tfl_need_shape_const(l, 0);

	if (err || (err = tfl_shape(l, i, t)))
		return err;
	*elem = weft_dtype_bytes(t->dtype);
	if (t->dtype == WEFT_INT4)
		return tfl_fail(l, -ENOTSUP, "operand 0 is int4");
	return tfl_file_tensor(l, i)->data_len == (size_t)weft_tensor_elements(t) * *elem ? 0 :
	       tfl_fail(l, -EINVAL, "tensor %d: not as many bytes as its shape wants", i);
}

/* Returns the element of that many bytes at p as an integer, one for all that compare equal; -0 of a float is 0. */
static uint64_t key_of(const uint8_t *p, size_t elem, bool is_float)
{
	uint64_t v = 0;

	memcpy(&v, p, elem);
	return is_float && v == 1ull << (8 * elem - 1) ? 0 : v;
}

/*
 * Makes the result of the WHERE at hand a constant: the places of the elements of constant operand 0 that are
 * not 0 (-0 is 0), in order, int64 [count, rank]. Returns 0; -ENOTSUP if that would be empty, or operand 0 is
 * a scalar or not constant; -EINVAL if the file's result is another; or another negative errno.
 */
static int where(struct tfl_lower *l)
{
	weft_tensor x, y = { .rank = 2, .dim = { 0, 0, 1, 1, 1, 1, 1, 1 } };
	size_t elem;
	int err = constant(l, &x, &elem);

	if (err)
		return err;
	const uint8_t *p = tfl_file_tensor(l, tfl_operand(l, 0))->data;
	const bool is_float = tfl_is_float(l, 0);
	const int64_t n = weft_tensor_elements(&x);
	for (int64_t k = 0; k < n; k++)
		y.dim[0] += key_of(p + (size_t)k * elem, elem, is_float) != 0;
	y.dim[1] = x.rank;
	if (!y.dim[0] || !x.rank)
		return tfl_fail(l, -ENOTSUP, "%s; tensors without elements are not supported", x.rank ? "all elements are 0" : "a scalar");
	if ((err = tfl_result(l, 0)))
		return err;
	if (l->y.dtype != WEFT_INT64)
		return tfl_fail(l, -EINVAL, "the result is %s, not int64", weft_dtype_name(l->y.dtype));
	int64_t *places = tfl_alloc(l, y.dim[0] * x.rank, sizeof *places), *to = places;
	for (int64_t k = 0; places && k < n; k++) {
		int64_t rest = k;
		if (!key_of(p + (size_t)k * elem, elem, is_float))
			continue;
		for (int d = x.rank - 1; d >= 0; rest /= x.dim[d--])
			to[d] = rest % x.dim[d];
		to += x.rank;
	}
	return give(l, 0, &y, places);
}

/* An element, by which elements are sorted; a NaN equals none, not even itself. */
struct element { uint64_t key; int64_t at; bool is_nan; };

static int by_key(const void *a, const void *b)
{
	const struct element *p = a, *q = b;

	return p->key != q->key ? (p->key < q->key ? -1 : 1) : (p->at > q->at) - (p->at < q->at);
}

/*
 * Sets number[k] to the number of element k's value among the n elements, counted from 0 in the order in which
 * values first stand, and returns how many values there are. Each NaN is a value of its own. e has the
 * elements, and is sorted by key.
 */
static int64_t number_values(struct element *e, int64_t n, int64_t *number)
{
	int64_t count = 0;

	qsort(e, (size_t)n, sizeof *e, by_key);
	for (int64_t k = 0, first = 0; k < n; k++) {    /* for now where the value stands first */
		if (k && (e[k].key != e[k - 1].key || e[k].is_nan))
			first = k;
		number[e[k].at] = e[first].at;
	}
	for (int64_t k = 0; k < n; k++)
		number[k] = number[k] == k ? count++ : number[number[k]];
	return count;
}

/*
 * Makes result 1 of the UNIQUE at hand a constant of shape t with these numbers, int32 or int64 as the file
 * says. Returns 0, -EINVAL if the file says another type or shape, or another negative errno.
 */
static int give_numbers(struct tfl_lower *l, const int64_t *number, const weft_tensor *t)
{
	int err = tfl_result(l, 1);

	if (err)
		return err;
	const size_t elem = weft_dtype_bytes(l->y.dtype);
	if (l->y.dtype != WEFT_INT32 && l->y.dtype != WEFT_INT64)
		return tfl_fail(l, -EINVAL, "result 1 is %s, not int32 or int64", weft_dtype_name(l->y.dtype));
	uint8_t *p = tfl_alloc(l, t->dim[0], elem);
	for (int64_t k = 0; p && k < t->dim[0]; k++) {
		const int32_t small = (int32_t)number[k];
		memcpy(p + (size_t)k * elem, elem == 4 ? (const void *)&small : (const void *)&number[k], elem);
	}
	return give(l, 1, t, p);
}

/*
 * Makes the results of the UNIQUE at hand constants: the values of operand 0, a constant vector, in the order
 * in which they first stand, and the number of each element's value. Each NaN is a value of its own, and 0 and
 * -0 are one. Returns 0; -ENOTSUP if operand 0 is not constant; -EINVAL if it is not a vector, or is float16 or
 * bool, if result 0 has another type or if there are not two results; or another negative errno.
 */
static int unique(struct tfl_lower *l)
{
	weft_tensor x, y;
	size_t elem;
	int err = constant(l, &x, &elem);

	if (err)
		return err;
	const struct tfl_tensor *f = tfl_file_tensor(l, tfl_operand(l, 0));
	const bool is_float = f->type == TFL_FLOAT32;
	if (x.rank != 1 || l->op->out.n != 2 || x.dtype == WEFT_FP16 || x.dtype == WEFT_BOOL)
		return tfl_fail(l, -EINVAL, "%s of rank %d and %u results", tfl_type_name(f->type), x.rank, (unsigned)l->op->out.n);
	if ((err = tfl_result(l, 0)))
		return err;
	if (tfl_file_tensor(l, l->i_y)->type != f->type)
		return tfl_fail(l, -EINVAL, "result 0 is %s, operand 0 %s", tfl_type_name(tfl_file_tensor(l, l->i_y)->type), tfl_type_name(f->type));
	const int64_t n = x.dim[0];
	struct element *e = tfl_alloc(l, n, sizeof *e);
	int64_t *number = e ? tfl_alloc(l, n, sizeof *number) : NULL;
	uint8_t *values = number ? tfl_alloc(l, n, elem) : NULL;
	if (!values) {
		free(e);
		free(number);
		return l->err;
	}
	for (int64_t k = 0; k < n; k++) {
		const uint64_t key = key_of(f->data + (size_t)k * elem, elem, is_float);
		e[k] = (struct element){ key, k, is_float && (key & 0x7FFFFFFF) > 0x7F800000 };
	}
	y = x;
	y.dim[0] = number_values(e, n, number);
	for (int64_t k = n - 1; k >= 0; k--)    /* backwards, so that the first of equal ones stays: it decides on the sign of 0 */
		memcpy(values + (size_t)number[k] * elem, f->data + (size_t)k * elem, elem);
	err = give(l, 0, &y, values);
	err = err ? err : give_numbers(l, number, &x);
	free(e);
	free(number);
	return err;
}

/*
 * Makes the result of the DENSIFY at hand a copy of constant operand 0, which tfl_densify() has made whole.
 * Returns 0, -EINVAL if the result has another type or shape, or another negative errno.
 */
static int densify(struct tfl_lower *l)
{
	weft_tensor x;
	size_t elem;
	int err = constant(l, &x, &elem);

	if (err || (err = tfl_result(l, 0)))
		return err;
	const struct tfl_tensor *f = tfl_file_tensor(l, tfl_operand(l, 0));
	if (tfl_file_tensor(l, l->i_y)->type != f->type)
		return tfl_fail(l, -EINVAL, "the result is %s, operand 0 %s", tfl_type_name(tfl_file_tensor(l, l->i_y)->type), tfl_type_name(f->type));
	void *p = tfl_alloc(l, (int64_t)f->data_len, 1);
	if (p)
		memcpy(p, f->data, f->data_len);
	return give(l, 0, &x, p);
}

int tfl_data_op(struct tfl_lower *l)
{
	const int code = l->op->code;

	if (code != TFL_WHERE && code != TFL_UNIQUE && code != TFL_DENSIFY)
		return 0;
	const int err = code == TFL_WHERE ? where(l) : code == TFL_UNIQUE ? unique(l) : densify(l);
	return err ? err : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowers RFFT2D, REAL, IMAG, COMPLEX_ABS, and RESHAPE of complex numbers. The graph has no complex numbers: a
 * file tensor of complex64 is two tensors of float32, its real part (l->raw) and
 * its imaginary part (l->seen), which only these operators make and read.
 */
#include <errno.h>
#include <string.h>

#include "tflite_host.h"

/*
 * Emits x [N,H,W] with h rows of w columns: what is beyond is left out, what is missing is 0. Returns the graph
 * tensor, or a negative errno; a negative x is returned as it is.
 */
static int fitted(struct tfl_lower *l, int x, int64_t h, int64_t w)
{
	weft_attr from = { .slice = { { 0 } } }, pad = { .pad = { .value = 0 } };

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	if (t.dim[1] > h || t.dim[2] > w) {
		t.dim[1] = t.dim[1] > h ? h : t.dim[1];
		t.dim[2] = t.dim[2] > w ? w : t.dim[2];
		x = tfl_step(l, WEFT_OP_SLICE, &from, &x, 1, t.dtype, 3, t.dim, false);
	}
	if (x < 0 || (t.dim[1] == h && t.dim[2] == w))
		return x;
	pad.pad.after[1] = (int32_t)(h - t.dim[1]);
	pad.pad.after[2] = (int32_t)(w - t.dim[2]);
	return tfl_step(l, WEFT_OP_PAD, &pad, &x, 1, t.dtype, 3, (int64_t[]){ t.dim[0], h, w }, false);
}

/*
 * Sets l->i_y to the file tensor that is the only result of the operator at hand, a complex64 without a value;
 * l->y stays, since the graph has no such type. Returns that file tensor, -ENOTSUP if it has another type, or
 * -EINVAL if there is not exactly one result, or it is out of range, constant or has a value.
 */
static int own_result(struct tfl_lower *l)
{
	const int i = l->op->out.n == 1 ? fb_i32_at(&l->m->b, &l->op->out, 0) : -1;

	if (i < 0 || i >= l->m->n_tensors || l->raw[i] >= 0 || l->seen[i] >= 0 || tfl_file_tensor(l, i)->data)
		return tfl_fail(l, -EINVAL, "its result is no tensor, or has a value");
	if (tfl_file_tensor(l, i)->type != TFL_COMPLEX64)
		return tfl_fail(l, -ENOTSUP, "result is %s, not complex64", tfl_type_name(tfl_file_tensor(l, i)->type));
	return l->i_y = i;
}

/*
 * Lowers RFFT2D of float32 over the last two dimensions to TOSA's. Constant operand 1 has the lengths of these
 * two, powers of two: elements beyond are left out, missing ones are 0. The result's real part is noted as its
 * raw tensor, the imaginary part as its seen one. Returns 0, -ENOTSUP for other types, -EINVAL for other ranks
 * or lengths, or another negative errno.
 */
static int transform(struct tfl_lower *l)
{
	const weft_attr a = { .fft = { .inverse = false } };
	const int i = own_result(l);
	int64_t size[2], n = 1;
	int y[2], x, count;

	if (i < 0)
		return i;
	if ((x = tfl_value(l, 0)) < 0 || (count = tfl_ints(l, 1, 2, size)) < 0)
		return x < 0 ? x : count;
	weft_tensor t = l->g->tensors[x].t;
	if (t.dtype != WEFT_FP32)
		return tfl_fail(l, -ENOTSUP, "operand is %s, not float32", weft_dtype_name(t.dtype));
	if (count != 2 || t.rank < 2)
		return tfl_fail(l, -EINVAL, "%d lengths for rank %d", count, t.rank);
	for (int k = 0; k < 2; k++)
		if (size[k] < 1 || size[k] > INT32_MAX || (size[k] & (size[k] - 1)))
			return tfl_fail(l, -EINVAL, "length %lld; a power of two wanted", (long long)size[k]);
	for (int k = 0; k < t.rank - 2; k++)
		n *= t.dim[k];
	x = fitted(l, tfl_reshape(l, x, 3, (int64_t[]){ n, t.dim[t.rank - 2], t.dim[t.rank - 1] }), size[0], size[1]);
	struct tfl_two two = { &x, 1, { WEFT_FP32, WEFT_FP32 }, { 3, 3 }, { { n, size[0], size[1] / 2 + 1 }, { n, size[0], size[1] / 2 + 1 } } };
	int err = x < 0 ? x : tfl_step_two(l, WEFT_OP_RFFT2D, &a, &two, y);
	t.dim[t.rank - 2] = size[0];
	t.dim[t.rank - 1] = size[1] / 2 + 1;
	for (int k = 0; !err && k < 2; k++)
		if ((y[k] = tfl_reshape(l, y[k], t.rank, t.dim)) < 0)
			err = y[k];
	if (err)
		return err;
	l->raw[i] = y[0];
	l->seen[i] = y[1];
	return 0;
}

/* Emits the square of float32 x. Returns the graph tensor, or a negative errno. */
static int square(struct tfl_lower *l, int x)
{
	return tfl_plain(l, "Mul", (int[]){ x, x }, 2, false);
}

/*
 * Lowers REAL, IMAG and COMPLEX_ABS (the root of the sum of both squares) of a complex64 that RFFT2D gave.
 * Returns 0, -ENOTSUP for another operand, or another negative errno.
 */
static int part(struct tfl_lower *l)
{
	const int i = tfl_operand(l, 0), code = l->op->code;
	int err = i < 0 ? i : tfl_result(l, 0), y;

	if (err)
		return err;
	if (tfl_file_tensor(l, i)->type != TFL_COMPLEX64 || l->raw[i] < 0 || l->seen[i] < 0)
		return tfl_fail(l, -ENOTSUP, "operand is no complex64 that RFFT2D gives");
	if (code == TFL_COMPLEX_ABS) {
		const int a = square(l, l->raw[i]), b = a < 0 ? a : square(l, l->seen[i]);
		const int sum = tfl_plain(l, "Add", (int[]){ a, b }, 2, false);
		y = tfl_plain(l, "Sqrt", &sum, 1, true);
	} else {
		y = tfl_node_own(l, code == TFL_REAL ? l->raw[i] : l->seen[i]);
	}
	if (y >= 0)
		l->g->srcs[l->src].out = y;
	return y < 0 ? y : 0;
}

/*
 * Lowers RESHAPE, SQUEEZE and EXPAND_DIMS of a complex64 that RFFT2D gave, to the shape that the file states
 * for the result. Returns 0, -EINVAL if that has another number of elements, -ENOTSUP if its rank is above
 * TFL_MAX_RANK, or another negative errno.
 */
static int reshape(struct tfl_lower *l)
{
	const int i = own_result(l), x = i < 0 ? i : tfl_operand(l, 0);
	int64_t dim[WEFT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 }, n = 1;

	if (x < 0)
		return x;
	const struct fb_vec *shape = &tfl_file_tensor(l, i)->shape;
	const int64_t most = weft_tensor_elements(&l->g->tensors[l->raw[x]].t);
	if (shape->n > TFL_MAX_RANK)
		return tfl_fail(l, -ENOTSUP, "rank %u; at most %d", (unsigned)shape->n, TFL_MAX_RANK);
	for (uint32_t k = 0; k < shape->n; k++) {
		dim[k] = fb_i32_at(&l->m->b, shape, k);
		n = dim[k] < 1 || dim[k] > most || n > most ? most + 1 : n * dim[k];
	}
	if (n != most)
		return tfl_fail(l, -EINVAL, "%lld elements into a shape of others", (long long)most);
	const int re = tfl_reshape(l, l->raw[x], (int)shape->n, dim), im = re < 0 ? re : tfl_reshape(l, l->seen[x], (int)shape->n, dim);
	if (im < 0)
		return im;
	l->raw[i] = re;
	l->seen[i] = im;
	return 0;
}

/* Says whether operand 0 is a complex64 that an operator made. */
static bool is_complex(const struct tfl_lower *l)
{
	const int i = tfl_has(l, 0) ? fb_i32_at(&l->m->b, &l->op->in, 0) : -1;

	return i >= 0 && i < l->m->n_tensors && tfl_file_tensor(l, i)->type == TFL_COMPLEX64 && l->raw[i] >= 0 && l->seen[i] >= 0;
}

int tfl_complex_op(struct tfl_lower *l, const char *name)
{
	const int code = l->op->code;
	const bool moves = (code == TFL_RESHAPE || code == TFL_SQUEEZE || code == TFL_EXPAND_DIMS) && is_complex(l);

	if (!moves && code != TFL_RFFT2D && code != TFL_REAL && code != TFL_IMAG && code != TFL_COMPLEX_ABS)
		return 0;
	if ((l->src = weft_graph_src(l->g, tfl_source_number(l), name)) < 0)
		return tfl_fail(l, -ENOMEM, "out of memory");
	int err = moves ? reshape(l) : code == TFL_RFFT2D ? transform(l) : part(l);
	return err ? err : 1;
}

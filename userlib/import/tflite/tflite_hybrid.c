/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of float32 activations. With float32 weights they are computed as they are,
 * with weights of 8 or 4 bits ("dynamic range", "hybrid") as TensorFlow Lite does it:
 * the operand is quantised at run time, sums are integers, and scales bring them back.
 */
#include <errno.h>
#include <string.h>

#include "tflite_lower.h"

/*
 * Quantises float32 x when the network runs, each of its r->rows rows by itself: out[0] receives
 * the tensor of codes less their zero points, int16 in x's shape, out[1] that of the rows' scales,
 * [rows,1]. Returns 0 or a negative errno.
 */
static int quantise_rows(struct tfl_lower *l, int x, const struct tfl_real *r, int out[2])
{
	weft_attr a = { .tfl_hybrid = { .symmetric = r->symmetric } };
	weft_tensor t = l->g->tensors[x].t;
	int64_t n = weft_tensor_elements(&t) / r->rows;
	struct tfl_two two = { .in = &x, .n_in = 1, .type = { WEFT_INT16, WEFT_FP32 }, .rank = { 2, 2 }, .dim = { { r->rows, n }, { r->rows, 1 } } };

	x = tfl_reshape(l, x, 2, (int64_t[]){ r->rows, n });
	int err = x < 0 ? x : tfl_step_two(l, WEFT_OP_TFL_HYBRID, &a, &two, out);
	if (err)
		return err;
	out[0] = tfl_reshape(l, out[0], t.rank, t.dim);
	return out[0] < 0 ? out[0] : 0;
}

/*
 * Emits the float32 product of graph tensors a and b, of which b is broadcast to a's shape. Returns
 * the product's graph tensor, or a negative errno.
 */
static int times(struct tfl_lower *l, int a, int b)
{
	weft_attr mul = { .mul = { 0 } };
	weft_tensor t = l->g->tensors[a].t;

	return tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ a, b }, 2, WEFT_FP32, t.rank, t.dim, false);
}

/*
 * Adds a new float32 constant of the scales of the weights, operand 1, along the last of `rank`
 * dimensions: one (the first if r->one_scale is set), or one for each of r->columns columns. Their zero points do not count, as LiteRT's
 * hybrid kernels do not read them. Returns the graph tensor, -EINVAL if the weights have another number of scales, or another
 * negative errno.
 */
static int weight_scales(struct tfl_lower *l, const struct tfl_real *r, int rank)
{
	const struct tfl_tensor *w = tfl_file_tensor(l, tfl_operand(l, 1));
	int64_t dim[WEFT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 }, n = r->one_scale && w->scale.n ? 1 : w->scale.n;

	if (n != 1 && n != r->columns)
		return tfl_fail(l, -EINVAL, "weights have %lld scales; 1 or %lld wanted", (long long)n, (long long)r->columns);
	float *s = tfl_alloc(l, n, sizeof *s);
	if (!s)
		return l->err;
	for (int64_t k = 0; k < n; k++)
		s[k] = fb_f32_at(&l->m->b, &w->scale, (uint32_t)k);
	dim[rank - 1] = n;
	return tfl_data(l, "scales", WEFT_FP32, rank, dim, s);
}

/*
 * Emits the float32 product of graph tensors row_scale, [r->rows,1,...,1], and `scales`, the
 * weights' scales as weight_scales() makes them, [1,...,1,n]; both have `rank` dimensions, at least
 * 2. Returns the product's graph tensor, [r->rows,1,...,1,n], or a negative errno.
 */
static int scale_of_both(struct tfl_lower *l, const struct tfl_real *r, int rank, int row_scale, int scales)
{
	weft_attr mul = { .mul = { 0 } };
	int64_t dim[WEFT_MAX_RANK] = { r->rows, 1, 1, 1, 1, 1, 1, 1 };

	dim[rank - 1] = l->g->tensors[scales].t.dim[rank - 1];
	return tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ row_scale, scales }, 2, WEFT_FP32, rank, dim, false);
}

/*
 * Emits the low 32 bits of int48 sums y as float32 in the same shape, times the weights' scales and then
 * times row_scale, [r->rows,1]; if r->dense is set, times the product of these two, as TensorFlow Lite's
 * dense operators do it. Returns the graph tensor, or a negative errno, also those of weight_scales().
 */
static int scale_back(struct tfl_lower *l, const struct tfl_real *r, int y, int row_scale)
{
	weft_tensor t = l->g->tensors[y].t;
	int64_t dim[WEFT_MAX_RANK] = { r->rows, 1, 1, 1, 1, 1, 1, 1 };
	int scales = weight_scales(l, r, t.rank);

	if (scales < 0 || (y = tfl_narrow(l, y)) < 0 ||
	    (y = tfl_step(l, WEFT_OP_TFL_CAST, NULL, &y, 1, WEFT_FP32, t.rank, t.dim, false)) < 0 ||
	    (row_scale = tfl_reshape(l, row_scale, t.rank, dim)) < 0)
		return scales < 0 ? scales : y < 0 ? y : row_scale;
	if (r->dense) {
		scales = scale_of_both(l, r, t.rank, row_scale, scales);
		return scales < 0 ? scales : times(l, y, scales);
	}
	y = times(l, y, scales);
	return y < 0 ? y : times(l, y, row_scale);
}

/*
 * Sets *b to operand k, constant or computed, as float32 [1,...,n] of the given rank, or to -1 if the
 * operand is absent. Returns 0, -ENOTSUP if the operand is not float32, or another negative errno.
 */
static int float_bias(struct tfl_lower *l, int k, int rank, int64_t n, int *b)
{
	int64_t dim[WEFT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };

	*b = -1;
	if (!tfl_has(l, k))
		return 0;
	dim[rank - 1] = n;
	*b = tfl_weights_as(l, k, rank, dim);
	if (*b < 0)
		return *b;
	if (l->g->tensors[*b].t.dtype != WEFT_FP32)
		return tfl_fail(l, -ENOTSUP, "bias is %s, not float32", weft_dtype_name(l->g->tensors[*b].t.dtype));
	return 0;
}

/*
 * Emits product r of float32 x and float32 weights w, with its bias, in a fixed order of additions.
 * Returns the graph tensor, or a negative errno.
 */
static int in_float(struct tfl_lower *l, const struct tfl_real *r, int x, int w)
{
	weft_attr a = r->attr;
	int err, b;

	a.conv.chain = true;
	if (r->window && (x = tfl_trim(l, x, r->window)) < 0)
		return x;
	if ((err = float_bias(l, r->k_bias, 1, r->columns, &b)) || (b < 0 && (b = tfl_number(l, "bias", WEFT_FP32, 1, 0)) < 0))
		return err ? err : b;
	return tfl_step(l, r->op, &a, (int[]){ x, w, b }, 3, WEFT_FP32, 4, r->dim, false);
}

/*
 * Returns int8 weights w, which the file has as uint8 and the graph 128 less, with the file's bytes, since the kernels
 * take these as int8: a constant itself changes. Returns the graph tensor, or a negative errno.
 */
static int plain_bytes(struct tfl_lower *l, int w)
{
	const weft_tensor t = l->g->tensors[w].t;
	uint8_t *codes = t.data;

	if (!codes) {
		const int top = tfl_number(l, "top", WEFT_INT8, t.rank, INT8_MIN);
		return top < 0 ? top : tfl_step(l, WEFT_OP_BITWISE_XOR, NULL, (int[]){ w, top }, 2, WEFT_INT8, t.rank, t.dim, false);
	}
	for (int64_t k = 0; k < weft_tensor_elements(&t); k++)
		codes[k] ^= 0x80;
	return w;
}

/*
 * Emits product r of float32 x and integer weights w as float32: each row of x is quantised to 8 bits with a
 * scale of its own when the network runs, and the sums are scaled back before the bias, if there is one, is
 * added. A constant w itself changes: its type in the graph becomes int8, and weights that the file has as uint8,
 * which are 128 less in the graph (add_const()), get the file's bytes again; computed ones get them by an operator. Returns the graph tensor, or a
 * negative errno.
 */
static int in_integers(struct tfl_lower *l, const struct tfl_real *r, int x, int w)
{
	weft_attr a = r->attr;
	int q[2], b, y, err = quantise_rows(l, x, r, q);

	if (err)
		return err;
	a.conv.acc = WEFT_INT48;
	if (l->g->tensors[w].t.data)
		l->g->tensors[w].t.dtype = WEFT_INT8;      /* int4's elements have a byte each, too */
	if (tfl_file_tensor(l, tfl_operand(l, 1))->type == TFL_UINT8 && (w = plain_bytes(l, w)) < 0)
		return w;
	if (r->window && (q[0] = tfl_trim(l, q[0], r->window)) < 0)
		return q[0];
	int zero = tfl_number(l, "zero", WEFT_INT48, 1, 0);
	if (zero < 0 || (y = tfl_step(l, r->op, &a, (int[]){ q[0], w, zero }, 3, WEFT_INT48, 4, r->dim, false)) < 0 ||
	    (y = scale_back(l, r, y, q[1])) < 0)
		return zero < 0 ? zero : y;
	weft_tensor t = l->g->tensors[y].t;
	if ((err = float_bias(l, r->k_bias, t.rank, r->columns, &b)) || b < 0)
		return err ? err : y;
	return tfl_step(l, WEFT_OP_ADD, NULL, (int[]){ y, b }, 2, WEFT_FP32, t.rank, t.dim, false);
}

/*
 * Emits product r of float32 x and weights w, with its bias, as an intermediate float32 tensor of shape
 * r->dim: in float32 if w is, in integers if w is int8 or int4, whose type in the graph is int8 then.
 * Returns the graph tensor, -ENOTSUP for other weights or if the bias is not supported,
 * -EINVAL for another number of scales, or another negative errno.
 */
int tfl_real_product(struct tfl_lower *l, const struct tfl_real *r, int x, int w)
{
	const weft_dtype t = l->g->tensors[w].t.dtype;
	const bool hybrid = t == WEFT_INT8 || t == WEFT_INT4;

	if (t != WEFT_FP32 && !hybrid)
		return tfl_fail(l, -ENOTSUP, "weights are %s; float32, int8 or int4 wanted", weft_dtype_name(t));
	return hybrid ? in_integers(l, r, x, w) : in_float(l, r, x, w);
}

int tfl_real_result(struct tfl_lower *l, int y, int activation)
{
	if (y >= 0 && activation)
		y = tfl_float_limits(l, y, activation);
	return y < 0 ? y : tfl_step(l, WEFT_OP_RESHAPE, NULL, &y, 1, WEFT_FP32, l->y.rank, l->y.dim, true);
}

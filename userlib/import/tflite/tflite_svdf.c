/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SVDF: of int8, a dense layer writes into a memory of int16, or of int8 as
 * TensorFlow Lite for Microcontrollers has it, and the result is a weighted sum
 * over each filter's memory.
 *
 *   x  [N,I] int8, feature weights [F,I] int8, time weights [F,M] of the memory's type,
 *   bias [U] int32, memory [N,F*M] (a variable), y [N,U] int8, F = U*rank
 *
 * new = scale1 * sum w * (x - zx), clipped to the memory's type, is the memory's last
 * column; y = scale2 * (bias + sum over rank and memory) + zy. The scale
 * ratios are float32. The memory is a variable of the graph, zero before the first
 * run, if the file marks it as one, as all do; otherwise zero before each.
 *
 * Of float32 the same in float32, with weights of float32, or of int8 ("hybrid"): feature weights multiply the input as it
 * is quantised when the network runs, each row for itself, and time weights become float32.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tflite_lower.h"

/* The SVDF at hand; the letters are those above. */
struct svdf {
	struct tfl_quant x, y;           /* quantisation of input and result */
	float feature, time, state;      /* scales of feature weights, time weights and memory */
	weft_dtype type;                 /* the memory's: INT16, INT8 or FP32 */
	int activation;
	int64_t n, in, filters, memory, units, rank;   /* N, I, F, M, U, and filters for each unit */
};

/*
 * Sets *scale to the only scale of operand k. Returns 0; -ENOTSUP if it has another type of the file
 * (enum tfl_type) or number of elements than given; -EINVAL if it has several scales, a zero point, or a
 * scale that is no normal number above 0; or another negative errno.
 */
static int scale_of(struct tfl_lower *l, int k, int type, int64_t elements, float *scale)
{
	int i = tfl_operand(l, k);

	if (i < 0)
		return i;
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	int64_t n = 1;
	for (uint32_t d = 0; d < f->shape.n && n > 0 && n <= INT32_MAX; d++)
		n *= fb_i32_at(&l->m->b, &f->shape, d);
	if (f->type != type || n != elements)
		return tfl_fail(l, -ENOTSUP, "operand %d: type %d with %lld elements, not type %d with %lld", k, f->type,
		                (long long)n, type, (long long)elements);
	if (f->scale.n != 1 || (f->zero_point.n && fb_i64_at(&l->m->b, &f->zero_point, 0)))
		return tfl_fail(l, -EINVAL, "operand %d: %u scales, not 1, or a zero point", k, (unsigned)f->scale.n);
	*scale = fb_f32_at(&l->m->b, &f->scale, 0);
	if (!isnormal(*scale) || *scale < 0)
		return tfl_fail(l, -EINVAL, "operand %d: scale %g", k, (double)*scale);
	return 0;
}

/*
 * Sets extents and activation of the SVDF at hand, whose operand 0 is graph tensor x, in *s, all checked. Returns 0, -EINVAL if extents
 * do not fit, or another negative errno.
 */
static int extents(struct tfl_lower *l, int x, struct svdf *s)
{
	weft_tensor w, t;
	int rank, err;

	if ((err = tfl_option(l, OPTIONS_SVDF, SVDF_RANK, 4, 0, &rank)) ||
	    (err = tfl_activation(l, OPTIONS_SVDF, SVDF_ACTIVATION, &s->activation)))
		return err;
	int i = tfl_operand(l, 1), k = i < 0 ? i : tfl_operand(l, 2);
	if (k < 0 || (err = tfl_shape(l, i, &w)) || (err = tfl_shape(l, k, &t)))
		return k < 0 ? k : err;
	weft_tensor xt = l->g->tensors[x].t;
	if (xt.rank != 2 || w.rank != 2 || t.rank != 2 || l->y.rank != 2 || rank < 1 || w.dim[0] % rank ||
	    w.dim[1] != xt.dim[1] || t.dim[0] != w.dim[0] || l->y.dim[0] != xt.dim[0] || l->y.dim[1] != w.dim[0] / rank ||
	    xt.dim[0] > INT32_MAX / (t.dim[0] * t.dim[1]))
		return tfl_fail(l, -EINVAL, "weights %lldx%lld and %lldx%lld for %lld inputs, rank %d", (long long)w.dim[0],
		                (long long)w.dim[1], (long long)t.dim[0], (long long)t.dim[1], (long long)xt.dim[1], rank);
	s->n = xt.dim[0];
	s->in = xt.dim[1];
	s->filters = w.dim[0];
	s->memory = t.dim[1];
	s->rank = rank;
	s->units = s->filters / rank;
	return 0;
}

/*
 * Sets *s to quantisation, scales and extents of the SVDF of int8 at hand, all checked. Returns the graph
 * tensor of operand 0, -EINVAL if extents do not fit, -ENOTSUP for types or activations that are
 * not supported, or another negative errno.
 */
static int operands(struct tfl_lower *l, struct svdf *s)
{
	int x = tfl_quant_value(l, 0, TFL_Q8, &s->x), k = tfl_operand(l, 2), err;

	if (x < 0 || k < 0)
		return x < 0 ? x : k;
	if ((err = tfl_need_result(l, TFL_Q8, &s->y)) || (err = extents(l, x, s)))
		return err;
	if (s->activation != TFL_NONE && s->activation != TFL_RELU)
		return tfl_fail(l, -ENOTSUP, "activation %d is not supported", s->activation);
	const int type = tfl_file_tensor(l, k)->type == TFL_INT8 ? TFL_INT8 : TFL_INT16;
	s->type = type == TFL_INT8 ? WEFT_INT8 : WEFT_INT16;
	if ((err = scale_of(l, 1, TFL_INT8, s->filters * s->in, &s->feature)) ||
	    (err = scale_of(l, 2, type, s->filters * s->memory, &s->time)) ||
	    (err = scale_of(l, 4, type, s->n * s->filters * s->memory, &s->state)))
		return err;
	return x;
}

/*
 * Emits the new column of the memory, [n,filters,1], in the memory's type: the products of the weights with
 * the features of the input x. Returns the graph tensor, or a negative errno.
 */
static int features(struct tfl_lower *l, const struct svdf *s, int x)
{
	weft_attr conv = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .x_zp = s->x.zp, .acc = WEFT_INT32 } };
	struct tfl_factor f;
	int err = tfl_factor(l, (double)(s->x.scale * s->feature / s->state), &f), w, b;
	struct tfl_rescale r = { .to = s->type, .rounding = WEFT_DOUBLE_ROUND, .n = 1, .f = &f };

	if (err || (b = tfl_number(l, "bias", WEFT_INT32, 1, 0)) < 0)
		return err ? err : b;
	if ((w = tfl_const_as(l, 1, 4, (int64_t[]){ s->filters, 1, 1, s->in })) < 0 ||
	    (x = tfl_reshape(l, x, 4, (int64_t[]){ s->n, 1, 1, s->in })) < 0 ||
	    (x = tfl_step(l, WEFT_OP_CONV2D, &conv, (int[]){ x, w, b }, 3, WEFT_INT32, 4,
	                  (int64_t[]){ s->n, 1, 1, s->filters }, false)) < 0 ||
	    (x = tfl_rescale(l, x, &r, false)) < 0)
		return w < 0 ? w : x;
	return tfl_reshape(l, x, 3, (int64_t[]){ s->n, s->filters, 1 });
}

/*
 * Emits the memory [n,filters,memory] with its new column, x: what it held without its oldest column, and x; it is
 * kept for the next run. Returns the graph tensor, or a negative errno.
 */
static int remember(struct tfl_lower *l, const struct svdf *s, int x)
{
	const weft_tensor t = { .dtype = s->type, .rank = 3, .dim = { s->n, s->filters, s->memory, 1, 1, 1, 1, 1 } };
	weft_attr newer = { .slice = { .start = { 0, 0, 1 } } }, a = { .axis = { .axis = 2 } };
	int id, old;

	/* A memory of one column is the new one. */
	if (s->memory == 1)
		return x;
	if ((old = tfl_find_state(l, 4, &t, 0, &id)) < 0 ||
	    (old = tfl_step(l, WEFT_OP_SLICE, &newer, &old, 1, s->type, 3, (int64_t[]){ s->n, s->filters, s->memory - 1 }, false)) < 0 ||
	    (x = tfl_step(l, WEFT_OP_CONCAT, &a, (int[]){ old, x }, 2, s->type, 3, t.dim, false)) < 0)
		return old < 0 ? old : x;
	int err = tfl_keep_state(l, id, x);
	return err ? err : x;
}

/*
 * Emits the sums over c of x, int32 or float32, taken as [a,b,c], as [a,b,1]. Returns the graph tensor, or a
 * negative errno.
 */
static int sum_last(struct tfl_lower *l, int x, int64_t a, int64_t b, int64_t c)
{
	weft_attr sum = { .axis = { .axis = 2 } };

	if ((x = tfl_reshape(l, x, 3, (int64_t[]){ a, b, c })) < 0 || c == 1)
		return x;
	return tfl_step(l, WEFT_OP_REDUCE_SUM, &sum, &x, 1, l->g->tensors[x].t.dtype, 3, (int64_t[]){ a, b, 1 }, false);
}

/*
 * Emits the sums over time and rank of the memory x times the weights w, [1,filters,memory], as [n,units] of int32, or of float32 if
 * the memory is. Returns the graph tensor, or a negative errno.
 */
static int weighted_sums(struct tfl_lower *l, const struct svdf *s, int x, int w)
{
	const weft_dtype sum = s->type == WEFT_FP32 ? WEFT_FP32 : WEFT_INT32;
	weft_attr mul = { .mul = { 0 } };

	x = tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ x, w }, 2, sum, 3, (int64_t[]){ s->n, s->filters, s->memory }, false);
	if (x < 0 || (x = sum_last(l, x, s->n, s->filters, s->memory)) < 0 || (x = sum_last(l, x, s->n, s->units, s->rank)) < 0)
		return x;
	return tfl_reshape(l, x, 2, (int64_t[]){ s->n, s->units });
}

/*
 * Returns the constant time weights, operand 2, as float32 [1,filters,memory]: codes of int8 times their scale. -ENOTSUP for other
 * types, or another negative errno.
 */
static int real_time_weights(struct tfl_lower *l, const struct svdf *s)
{
	const int64_t dim[3] = { 1, s->filters, s->memory }, n = s->filters * s->memory;
	int w = tfl_const_as(l, 2, 3, dim), err;
	float scale;

	if (w < 0 || l->g->tensors[w].t.dtype == WEFT_FP32)
		return w;
	if ((err = scale_of(l, 2, TFL_INT8, n, &scale)))
		return err;
	const int8_t *code = l->g->tensors[w].t.data;
	float *p = tfl_alloc(l, n, sizeof *p);
	if (!p)
		return l->err;
	for (int64_t k = 0; k < n; k++)
		p[k] = (float)code[k] * scale;
	return tfl_data(l, "time", WEFT_FP32, 3, dim, p);
}

/*
 * Emits the sums x, [n,units] of type t, plus the constant bias, operand 3, if it is there. Returns the graph tensor, -ENOTSUP for a bias
 * of another type, or another negative errno.
 */
static int add_bias(struct tfl_lower *l, const struct svdf *s, int x, weft_dtype t)
{
	if (!tfl_has(l, 3))
		return x;
	const int b = tfl_const_as(l, 3, 2, (int64_t[]){ 1, s->units });
	if (b < 0)
		return b;
	if (l->g->tensors[b].t.dtype != t)
		return tfl_fail(l, -ENOTSUP, "bias is %s, not %s", weft_dtype_name(l->g->tensors[b].t.dtype), weft_dtype_name(t));
	return tfl_step(l, WEFT_OP_ADD, NULL, (int[]){ x, b }, 2, t, 2, l->y.dim, false);
}

/*
 * Lowers SVDF of float32, whose weights may be int8. Returns the result's tensor, -ENOTSUP for other types, -EINVAL if extents
 * do not fit, or another negative errno.
 */
static int real(struct tfl_lower *l)
{
	weft_attr a = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_FP32 } };
	struct svdf s = { .type = WEFT_FP32 };
	int x = tfl_value(l, 0), asymmetric, w, err;

	if (x < 0)
		return x;
	if ((err = extents(l, x, &s)) || (err = tfl_option(l, OPTIONS_SVDF, SVDF_ASYMMETRIC, 1, 0, &asymmetric)))
		return err;
	const struct tfl_real r = { .op = WEFT_OP_CONV2D, .attr = a, .dim = { s.n, 1, 1, s.filters }, .rows = s.n, .columns = s.filters,
	                            .symmetric = !asymmetric, .dense = true, .k_bias = -1 };
	if ((w = tfl_const_as(l, 1, 4, (int64_t[]){ s.filters, 1, 1, s.in })) < 0 ||
	    (x = tfl_reshape(l, x, 4, (int64_t[]){ s.n, 1, 1, s.in })) < 0)
		return w < 0 ? w : x;
	if ((x = tfl_real_product(l, &r, x, w)) < 0 || (x = tfl_reshape(l, x, 3, (int64_t[]){ s.n, s.filters, 1 })) < 0 ||
	    (x = remember(l, &s, x)) < 0)
		return x;
	if ((w = real_time_weights(l, &s)) < 0 || (x = weighted_sums(l, &s, x, w)) < 0)
		return w < 0 ? w : x;
	x = add_bias(l, &s, x, WEFT_FP32);
	return x < 0 ? x : tfl_real_result(l, x, s.activation);
}

/*
 * Lowers SVDF, of float32 as real() does. Of 8 bits: features of the input, operand 0, join the memory, operand 4, and its
 * weighted sums over time and rank, plus the bias (operand 3, if it is there), give the result.
 * Activation RELU is accepted and does nothing beyond the limits of the type. Returns the result's
 * tensor, -ENOTSUP for types or another activation that are not supported, -EINVAL if extents do not fit,
 * or another negative errno.
 */
int tfl_lower_svdf(struct tfl_lower *l)
{
	struct svdf s = { .n = 0 };
	struct tfl_factor f;
	int w, err;

	if (tfl_is_float(l, 0))
		return real(l);
	int x = operands(l, &s);
	if (x < 0)
		return x;
	if ((x = features(l, &s, x)) < 0 || (x = remember(l, &s, x)) < 0)
		return x;
	if ((w = tfl_const_as(l, 2, 3, (int64_t[]){ 1, s.filters, s.memory })) < 0)
		return w;
	if ((x = weighted_sums(l, &s, x, w)) < 0)
		return x;
	x = add_bias(l, &s, x, WEFT_INT32);
	if (x < 0 || (err = tfl_factor(l, (double)(s.state * s.time / s.y.scale), &f)))
		return x < 0 ? x : err;
	return tfl_requantise(l, x, 1, &f, TFL_NONE, true);
}

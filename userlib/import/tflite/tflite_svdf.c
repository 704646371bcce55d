/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SVDF of int8: a dense layer writes into a memory of int16, or of int8 as
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
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tflite_lower.h"

/* The SVDF at hand; the letters are those above. */
struct svdf {
	struct tfl_quant x, y;           /* quantisation of input and result */
	float feature, time, state;      /* scales of feature weights, time weights and memory */
	weft_dtype type;                 /* the memory's: INT16 or INT8 */
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
 * Sets *s to quantisation, scales and extents of the SVDF at hand, all checked. Returns the graph
 * tensor of operand 0, -EINVAL if extents do not fit, -ENOTSUP for types or activations that are
 * not supported, or another negative errno.
 */
static int operands(struct tfl_lower *l, struct svdf *s)
{
	int activation, rank, err, x;
	weft_tensor w, t;

	if ((err = tfl_option(l, OPTIONS_SVDF, SVDF_RANK, 4, 0, &rank)) ||
	    (err = tfl_option(l, OPTIONS_SVDF, SVDF_ACTIVATION, 1, 0, &activation)) ||
	    (err = tfl_need_result(l, TFL_Q8, &s->y)))
		return err;
	if (activation != TFL_NONE && activation != TFL_RELU)
		return tfl_fail(l, -ENOTSUP, "activation %d is not supported", activation);
	if ((x = tfl_quant_value(l, 0, TFL_Q8, &s->x)) < 0)
		return x;
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
 * Emits the sums over c of int32 x, taken as [a,b,c], as [a,b,1]. Returns the graph tensor, or a
 * negative errno.
 */
static int sum_last(struct tfl_lower *l, int x, int64_t a, int64_t b, int64_t c)
{
	weft_attr sum = { .axis = { .axis = 2 } };

	if ((x = tfl_reshape(l, x, 3, (int64_t[]){ a, b, c })) < 0 || c == 1)
		return x;
	return tfl_step(l, WEFT_OP_REDUCE_SUM, &sum, &x, 1, WEFT_INT32, 3, (int64_t[]){ a, b, 1 }, false);
}

/*
 * Lowers SVDF of 8 bits: features of the input, operand 0, join the memory, operand 4, and its
 * weighted sums over time and rank, plus the bias (operand 3, if it is there), give the result.
 * Activation RELU is accepted and does nothing beyond the limits of the type. Returns the result's
 * tensor, -ENOTSUP for types or another activation that are not supported, -EINVAL if extents do not fit,
 * or another negative errno.
 */
int tfl_lower_svdf(struct tfl_lower *l)
{
	struct svdf s = { .n = 0 };
	weft_attr mul = { .mul = { 0 } };
	struct tfl_factor f;
	int x = operands(l, &s), w, err;

	if (x < 0)
		return x;
	if ((x = features(l, &s, x)) < 0 || (x = remember(l, &s, x)) < 0)
		return x;
	if ((w = tfl_const_as(l, 2, 3, (int64_t[]){ 1, s.filters, s.memory })) < 0)
		return w;
	x = tfl_step(l, WEFT_OP_MUL, &mul, (int[]){ x, w }, 2, WEFT_INT32, 3, (int64_t[]){ s.n, s.filters, s.memory }, false);
	if (x < 0 || (x = sum_last(l, x, s.n, s.filters, s.memory)) < 0 || (x = sum_last(l, x, s.n, s.units, s.rank)) < 0 ||
	    (x = tfl_reshape(l, x, 2, (int64_t[]){ s.n, s.units })) < 0)
		return x;
	if (tfl_has(l, 3)) {
		if ((w = tfl_const_as(l, 3, 2, (int64_t[]){ 1, s.units })) < 0)
			return w;
		if (l->g->tensors[w].t.dtype != WEFT_INT32)
			return tfl_fail(l, -ENOTSUP, "bias is %s, not int32", weft_dtype_name(l->g->tensors[w].t.dtype));
		x = tfl_step(l, WEFT_OP_ADD, NULL, (int[]){ x, w }, 2, WEFT_INT32, 2, l->y.dim, false);
	}
	if (x < 0 || (err = tfl_factor(l, (double)(s.state * s.time / s.y.scale), &f)))
		return x < 0 ? x : err;
	return tfl_requantise(l, x, 1, &f, TFL_NONE, true);
}

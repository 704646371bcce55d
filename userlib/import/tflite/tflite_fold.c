/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that are known before the run. Converters compute the shapes that RESHAPE
 * and others want from the SHAPE of a tensor, by operators on small integers, so that
 * a network takes any batch. The batch is fixed here, so these shapes are constants.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "sim/golden/golden.h"
#include "sim/golden/onnx/ref/onnx_ref.h"
#include "userlib/graph/check.h"
#include "tflite_lower.h"

#define MAX_INTS 65536             /* elements of the result of FILL or RANGE */

/*
 * Says whether the operator at hand has an operand 0 and all operands that are present are
 * constant.
 */
static bool all_const(const struct tfl_lower *l)
{
	if (!l->op->in.n)
		return false;
	for (uint32_t k = 0; k < l->op->in.n; k++)
		if (tfl_has(l, (int)k) && !tfl_is_const(l, (int)k))
			return false;
	return tfl_has(l, 0);
}

/*
 * Makes file tensor i a constant from now on, with dim as its shape and the given bytes of data,
 * which is taken over and freed at the end or after a failure. Returns 0 or a negative errno.
 */
int tfl_make_const(struct tfl_lower *l, int i, const int64_t *dim, void *data, size_t bytes)
{
	void **p = realloc(l->folded, ((size_t)l->n_folded + 2) * sizeof *p);
	int64_t *own = p ? tfl_alloc(l, TFL_MAX_RANK, sizeof *own) : NULL;

	l->folded = p ? p : l->folded;
	if (!own) {
		free(data);
		return p ? l->err : tfl_fail(l, -ENOMEM, "out of memory");
	}
	l->folded[l->n_folded++] = data;
	l->folded[l->n_folded++] = own;
	memcpy(own, dim, TFL_MAX_RANK * sizeof *own);
	l->tensors[i].dim = own;
	l->tensors[i].data = data;
	l->tensors[i].data_len = bytes;
	return 0;
}

/*
 * Makes file tensor i of l the constant that file tensor `from` of `of` is, with its shape; the bytes
 * stay where they are, and have to outlive l. Returns 0, -EINVAL if their types differ, or another
 * negative errno.
 */
int tfl_bind_const(struct tfl_lower *l, int i, struct tfl_lower *of, int from)
{
	const struct tfl_tensor *f = tfl_file_tensor(of, from);
	weft_tensor t;
	int err = tfl_shape(of, from, &t);

	if (err)
		return err;
	if (f->type != tfl_file_tensor(l, i)->type)
		return tfl_fail(l, -EINVAL, "tensor %d is %s, the operand %s", i, tfl_type_name(tfl_file_tensor(l, i)->type), tfl_type_name(f->type));
	if ((err = tfl_make_const(l, i, t.dim, NULL, f->data_len)))
		return err;
	l->tensors[i].data = f->data;
	l->tensors[i].shape = f->shape;
	l->tensors[i].signature = f->signature;
	return 0;
}

/* ---- operators that have no other form ---- */

/*
 * Makes result 0 of the operator at hand a constant of the given shape with the integers v, converted to its
 * type. Returns 1; -ENOTSUP if that type is neither int32 nor int64, or a dimension is another than the file
 * says; -EINVAL if the file says another rank; or another negative errno.
 */
static int give_ints(struct tfl_lower *l, int rank, const int64_t *dim, const int64_t *v)
{
	int err = tfl_result(l, 0);
	int64_t n = 1;

	if (err)
		return err;
	size_t elem = weft_dtype_bytes(l->y.dtype);
	if (l->y.dtype != WEFT_INT32 && l->y.dtype != WEFT_INT64)
		return tfl_fail(l, -ENOTSUP, "the result is %s", weft_dtype_name(l->y.dtype));
	if (l->y.rank != rank)
		return tfl_fail(l, -EINVAL, "tensor %d: file says rank %d, operator gives %d", l->i_y, l->y.rank, rank);
	for (int i = 0; i < rank; i++) {
		if (l->y.dim[i] != dim[i])
			return tfl_fail(l, -ENOTSUP, "tensor %d: file says dimension %d is %lld, operator gives %lld", l->i_y, i,
			                (long long)l->y.dim[i], (long long)dim[i]);
		n *= dim[i];
	}
	uint8_t *p = tfl_alloc(l, n, elem);
	for (int64_t k = 0; p && k < n; k++) {
		int32_t small = (int32_t)v[k];
		memcpy(p + (size_t)k * elem, elem == 4 ? (const void *)&small : (const void *)&v[k], elem);
	}
	err = p ? tfl_make_const(l, l->i_y, l->y.dim, p, (size_t)n * elem) : l->err;
	return err ? err : 1;
}

/*
 * Makes the result of the SHAPE or RANK at hand a constant from the shape that operand 0 has in the
 * graph or as a constant. Returns 1, -EINVAL if nothing before computes the operand, or another
 * negative errno.
 */
static int fold_shape(struct tfl_lower *l)
{
	weft_tensor t;
	int i = tfl_operand(l, 0);

	if (i < 0)
		return i;
	if (l->raw[i] >= 0 || l->seen[i] >= 0) {
		t = l->g->tensors[l->raw[i] >= 0 ? l->raw[i] : l->seen[i]].t;
	} else {
		int err = tfl_is_const(l, 0) ? tfl_shape(l, i, &t) : tfl_fail(l, -EINVAL, "nothing before computes tensor %d", i);
		if (err)
			return err;
	}
	int64_t rank = t.rank;
	return l->op->code == TFL_RANK ? give_ints(l, 0, NULL, &rank) : give_ints(l, 1, &rank, t.dim);
}

/*
 * Makes the result of the FILL at hand a constant of the shape in constant operand 0, whose elements all
 * are constant operand 1, of any type but int4. That the shape has the rank of the result is only noticed
 * where the constant is used. Returns 1; -ENOTSUP if operand 1 is not one constant of the result's type,
 * a dimension is below 1 or there are more than MAX_INTS elements; or another negative errno.
 */
static int fold_fill(struct tfl_lower *l)
{
	int64_t dim[TFL_MAX_RANK], n = 1;
	int rank = tfl_ints(l, 0, TFL_MAX_RANK, dim), i = rank < 0 ? rank : tfl_operand(l, 1), err = i < 0 ? i : tfl_result(l, 0);

	if (err < 0)
		return err;
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	size_t elem = weft_dtype_bytes(l->y.dtype);
	memcpy(l->y.dim, dim, sizeof(*dim) * (size_t)rank);
	if (f->type != tfl_file_tensor(l, l->i_y)->type || l->y.dtype == WEFT_INT4 || !f->data || f->data_len != elem)
		return tfl_fail(l, -ENOTSUP, "operand 1 is not one constant of the result's type");
	for (int k = 0; k < rank; k++) {
		n = dim[k] < 1 || dim[k] > MAX_INTS ? MAX_INTS + 1 : n * dim[k];
		if (n > MAX_INTS)
			return tfl_fail(l, -ENOTSUP, "dimension %d is %lld, or too many elements", k, (long long)dim[k]);
	}
	uint8_t *p = tfl_alloc(l, n, elem);
	for (int64_t k = 0; p && k < n; k++)
		memcpy(p + (size_t)k * elem, f->data, elem);
	err = p ? tfl_make_const(l, l->i_y, l->y.dim, p, (size_t)n * elem) : l->err;
	return err ? err : 1;
}

/*
 * Refuses operand k, which decides on a shape, if it is not constant, since all shapes of a network are fixed
 * when it is loaded. Returns 0, or -ENOTSUP after tfl_fail().
 */
int tfl_need_shape_const(struct tfl_lower *l, int k)
{
	return tfl_is_const(l, k) ? 0 : tfl_fail(l, -ENOTSUP, "a shape that depends on data: operand %d is not constant", k);
}

/*
 * Makes the result of the RANGE of float32 at hand, whose operands are constant, a constant vector; each
 * element is the one before plus the step, rounded to float32, as the kernel adds. Returns 1; -ENOTSUP if the
 * vector is empty, endless or has more than MAX_INTS elements; -EINVAL if an operand is not one float32 or the
 * file gives the result another type or shape; or another negative errno.
 */
static int fold_float_range(struct tfl_lower *l)
{
	float v[3];

	for (int k = 0; k < 3; k++) {
		const struct tfl_tensor *f = tfl_file_tensor(l, tfl_operand(l, k));
		if (f->type != TFL_FLOAT32 || f->data_len != sizeof *v)
			return tfl_fail(l, -EINVAL, "operand %d is not one float32", k);
		memcpy(&v[k], f->data, sizeof *v);
	}
	const float steps = v[2] != 0 ? ceilf((v[1] - v[0]) / v[2]) : 0;
	int err = tfl_result(l, 0);
	if (err)
		return err;
	if (!(steps >= 1 && steps <= MAX_INTS))
		return tfl_fail(l, -ENOTSUP, "from %g to %g by %g", (double)v[0], (double)v[1], (double)v[2]);
	const int64_t n = (int64_t)steps;
	if (l->y.dtype != WEFT_FP32 || l->y.rank != 1 || (!tfl_is_open(l, 0) && l->y.dim[0] != n))
		return tfl_fail(l, -EINVAL, "tensor %d: not %lld float32", l->i_y, (long long)n);
	l->y.dim[0] = n;
	float *p = tfl_alloc(l, n, sizeof *p);
	for (int64_t k = 0; p && k < n; k++, v[0] += v[2])
		p[k] = v[0];
	err = p ? tfl_make_const(l, l->i_y, l->y.dim, p, (size_t)n * sizeof *p) : l->err;
	return err ? err : 1;
}

/*
 * Makes the result of the RANGE at hand a constant vector: begin, begin + step, ... up to, not including,
 * end, from constant operands 0 (begin), 1 (end) and 2 (step), integers or float32. Returns 1, -ENOTSUP if an
 * operand is not constant, the step is 0, or the vector is empty or has more than MAX_INTS elements, or another
 * negative errno.
 */
static int fold_range(struct tfl_lower *l)
{
	int64_t begin, end, step;

	for (int k = 0; k < 3; k++) {
		const int bad = tfl_operand(l, k) < 0 ? l->err : tfl_need_shape_const(l, k);
		if (bad)
			return bad;
	}
	if (tfl_is_float(l, 0))
		return fold_float_range(l);
	int err = tfl_ints(l, 0, 1, &begin);

	if (err < 0 || (err = tfl_ints(l, 1, 1, &end)) < 0 || (err = tfl_ints(l, 2, 1, &step)) < 0)
		return err;
	double steps = step ? ((double)end - (double)begin) / (double)step : 0;
	if (steps <= 0 || steps > MAX_INTS)
		return tfl_fail(l, -ENOTSUP, "from %lld to %lld by %lld", (long long)begin, (long long)end, (long long)step);
	/* Modulo 2^64: the way from begin to end, and even a step back, may be longer than int64 says. */
	const uint64_t from = (uint64_t)begin, by = (uint64_t)step;
	const uint64_t way = step > 0 ? (uint64_t)end - from : from - (uint64_t)end;
	int64_t n = (int64_t)((way - 1) / (step > 0 ? by : 0 - by)) + 1;
	int64_t *v = tfl_alloc(l, n, sizeof *v);
	if (!v)
		return l->err;
	for (int64_t k = 0; k < n; k++)
		v[k] = (int64_t)(from + (uint64_t)k * by);
	err = give_ints(l, 1, &n, v);
	free(v);
	return err;
}

/*
 * Makes the result of the REDUCE_PROD at hand a constant: the product, modulo 2^64, of all elements of
 * constant operand 0, at most 64 integers in a vector or scalar. Operand 1 must be one constant axis,
 * whose number does not matter. Returns 1; -EINVAL for more elements, other types or several axes, whatever the
 * rank; 0 for a higher rank; or another negative errno.
 */
static int fold_product(struct tfl_lower *l)
{
	int64_t v[64], axis, ones[TFL_MAX_RANK] = { 1, 1, 1, 1, 1, 1 };
	uint64_t p = 1;
	int n = tfl_ints(l, 0, 64, v), keep, err = n < 0 ? n : tfl_ints(l, 1, 1, &axis);
	weft_tensor t;

	if (err < 0 || (err = tfl_option(l, OPTIONS_REDUCE, REDUCE_KEEP_DIMS, 1, 0, &keep)) ||
	    (err = tfl_shape(l, tfl_operand(l, 0), &t)))
		return err;
	if (t.rank > 1)
		return 0;
	for (int k = 0; k < n; k++)
		p *= (uint64_t)v[k];
	int64_t product = (int64_t)p;
	return give_ints(l, keep ? t.rank : 0, ones, &product);
}

/*
 * Makes the result of the BROADCAST_ARGS at hand a constant: the shape to which the shapes in
 * constant operands 0 and 1 broadcast. Returns 1, -EINVAL if they do not, or another negative
 * errno.
 */
static int fold_broadcast(struct tfl_lower *l)
{
	int64_t a[TFL_MAX_RANK], b[TFL_MAX_RANK], y[TFL_MAX_RANK];
	int na = tfl_ints(l, 0, TFL_MAX_RANK, a), nb = na < 0 ? na : tfl_ints(l, 1, TFL_MAX_RANK, b);
	int64_t n = na > nb ? na : nb;

	if (nb < 0)
		return nb;
	for (int k = 1; k <= n; k++) {
		int64_t p = k <= na ? a[na - k] : 1, q = k <= nb ? b[nb - k] : 1;
		if (p != q && p != 1 && q != 1)
			return tfl_fail(l, -EINVAL, "%lld and %lld", (long long)p, (long long)q);
		y[n - k] = p == 1 ? q : p;
	}
	return give_ints(l, 1, &n, y);
}

/*
 * Makes the result of the operator at hand a constant if it is SHAPE, RANK, FILL, RANGE,
 * REDUCE_PROD or BROADCAST_ARGS, which have no lowering on integers, or WHERE, UNIQUE or DENSIFY.
 * Returns 1 if that is done, 0 for other operators and for a FILL or REDUCE_PROD of what is not constant, or a negative
 * errno.
 */
int tfl_fold_plain(struct tfl_lower *l)
{
	switch (l->op->code) {
	case TFL_SHAPE:
	case TFL_RANK: return fold_shape(l);
	case TFL_FILL: return all_const(l) ? fold_fill(l) : 0;
	case TFL_RANGE: return fold_range(l);
	case TFL_REDUCE_PROD: return all_const(l) ? fold_product(l) : 0;
	case TFL_BROADCAST_ARGS: return fold_broadcast(l);
	default: return tfl_data_op(l);
	}
}

/* ---- operators on constants ---- */

/*
 * Says whether the work of the operator with that code is bounded by the bytes that it reads and writes, but for
 * a logarithm: false for convolutions, also transposed or in three dimensions, pools and other operators that
 * move a window, products of matrices, recurrent ones, RESIZE_BILINEAR, SOFTMAX, LOG_SOFTMAX,
 * NON_MAX_SUPPRESSION, WHILE, IF, STABLEHLO_CASE and _COMPOSITE, and custom operators.
 */
static bool is_light(int code)
{
	switch (code) {
	case TFL_CONV_2D: case TFL_DEPTHWISE_CONV_2D: case TFL_FULLY_CONNECTED: case TFL_TRANSPOSE_CONV: case TFL_BATCH_MATMUL:
	case TFL_CONV_3D: case TFL_CONV_3D_TRANSPOSE:
	case TFL_SVDF: case TFL_SEQUENCE_LSTM: case TFL_LSTM: case TFL_BI_LSTM: case TFL_RNN: case TFL_SEQUENCE_RNN: case TFL_BI_RNN:
	case TFL_AVERAGE_POOL_2D: case TFL_MAX_POOL_2D: case TFL_L2_POOL_2D: case TFL_LRN: case TFL_REDUCE_WINDOW:
	case TFL_STABLEHLO_REDUCE_WINDOW: case TFL_RESIZE_BILINEAR: case TFL_SOFTMAX: case TFL_LOG_SOFTMAX: case TFL_NMS_V4:
	case TFL_NMS_V5: case TFL_WHILE: case TFL_IF: case TFL_STABLEHLO_CASE: case TFL_STABLEHLO_COMPOSITE: case TFL_CUSTOM:
		return false;
	default:
		return true;
	}
}

/*
 * Says whether the operator at hand is a FULLY_CONNECTED of at most WEFT_MACS_AT_LOADING multiplications by
 * weights of rank 2. Where its operands are constant, such as an initial state of zeros, it is computed on
 * import.
 */
static bool is_small_product(struct tfl_lower *l)
{
	weft_tensor x, w;

	return l->op->code == TFL_FULLY_CONNECTED && !tfl_shape(l, tfl_operand(l, 0), &x) && !tfl_shape(l, tfl_operand(l, 1), &w) &&
	       w.rank == 2 && weft_tensor_elements(&x) <= WEFT_MACS_AT_LOADING / w.dim[0];
}

struct tfl_mark tfl_mark(const struct tfl_lower *l)
{
	return (struct tfl_mark){ l->g->n_ops, l->g->n_tensors, l->g->n_srcs };
}

/*
 * Checks and computes operator i of the graph, whose operands are constants, by the golden model;
 * each result gets memory of its own as its tensor's data. Returns 0 or a negative errno.
 */
static int compute(struct tfl_lower *l, int i)
{
	struct weft_check c = { .g = l->g, .outer = tfl_outermost(l)->g, .i_sub = -1, .i_op = i, .msg = l->msg };
	const struct weft_gop *o = &l->g->ops[i];
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	weft_tensor *y[WEFT_OP_MAX_OUTPUTS];
	char line[WEFT_GOLDEN_MSG] = "";
	int err = weft_check_op(&c);

	for (int k = 0; k < o->n_in; k++)
		x[k] = &l->g->tensors[o->in[k]].t;
	for (int k = 0; !err && k < o->n_out; k++) {
		y[k] = &l->g->tensors[o->out[k]].t;
		y[k]->data = tfl_alloc(l, (int64_t)weft_tensor_bytes(y[k]), 1);
		err = y[k]->data ? 0 : l->err;
	}
	if (!err && (err = weft_golden_run(o->op, &o->attr, x, o->n_in, y, o->n_out, true, line)))
		tfl_fail(l, err, "%.180s", line);
	return err;
}

/*
 * Makes file tensor i a constant of the data that was computed for its tensor in the graph, which
 * it takes over; int8 becomes uint8 again if that is the file's type. Returns 0 or a negative
 * errno.
 */
static int keep_result(struct tfl_lower *l, int i)
{
	weft_tensor *t = &l->g->tensors[l->raw[i] >= 0 ? l->raw[i] : l->seen[i]].t;
	size_t bytes = weft_tensor_bytes(t);
	uint8_t *p = t->data;

	t->data = NULL;
	if (tfl_file_tensor(l, i)->type == TFL_UINT8 && t->dtype == WEFT_INT8)
		for (size_t k = 0; k < bytes; k++)
			p[k] = (uint8_t)(p[k] + 128u);
	return tfl_make_const(l, i, t->dim, p, bytes);
}

/*
 * Removes operators, tensors and records that were added to the graph since mark `to`, and forgets
 * them as values of file tensors.
 */
static void cut_back(struct tfl_lower *l, const struct tfl_mark *to)
{
	weft_graph *g = l->g;

	while (g->n_ops > to->n_ops)
		free(g->ops[--g->n_ops].in);
	while (g->n_tensors > to->n_tensors) {
		free(g->tensors[--g->n_tensors].t.data);
		free(g->tensors[g->n_tensors].name);
	}
	while (g->n_srcs > to->n_srcs)
		free(g->srcs[--g->n_srcs].name);
	for (int i = 0; i < l->m->n_tensors; i++) {
		if (l->raw[i] >= to->n_tensors)
			l->raw[i] = -1;
		if (l->seen[i] >= to->n_tensors)
			l->seen[i] = -1;
	}
}

/*
 * Says whether operator o of the graph has operands, all constant, gives an intermediate result,
 * and is one of those whose work is bounded by its bytes: RESCALE, CAST, ADD, SUB, MUL, RESHAPE,
 * TRANSPOSE or REVERSE.
 */
static bool is_part(const struct tfl_lower *l, const struct weft_gop *o)
{
	bool light = o->op == WEFT_OP_RESCALE || o->op == WEFT_OP_CAST || o->op == WEFT_OP_ADD || o->op == WEFT_OP_SUB ||
	             o->op == WEFT_OP_MUL || o->op == WEFT_OP_RESHAPE || o->op == WEFT_OP_TRANSPOSE || o->op == WEFT_OP_REVERSE;

	for (int k = 0; k < o->n_in; k++)
		light &= l->g->tensors[o->in[k]].t.data != NULL;
	return light && o->n_in && l->g->tensors[o->out[0]].internal;
}

/*
 * Removes operator i from the graph and corrects the producers of tensors from first_tensor on, the
 * only ones that may be results of it or of later operators. Its results stay as tensors without a
 * producer.
 */
void tfl_remove_op(struct tfl_lower *l, int i, int first_tensor)
{
	weft_graph *g = l->g;

	free(g->ops[i].in);
	memmove(&g->ops[i], &g->ops[i + 1], (size_t)(--g->n_ops - i) * sizeof *g->ops);
	for (int t = first_tensor; t < g->n_tensors; t++) {
		if (g->tensors[t].producer == i)
			g->tensors[t].producer = -1;
		else if (g->tensors[t].producer > i)
			g->tensors[t].producer--;
	}
}

/*
 * Computes those operators emitted since mark *before for which is_part() is true, such as a
 * constant addend's RESCALE, so that their results become constants, and removes them. Returns 0 or
 * a negative errno.
 */
static int fold_parts(struct tfl_lower *l, const struct tfl_mark *before)
{
	for (int i = before->n_ops; i < l->g->n_ops;) {
		if (!is_part(l, &l->g->ops[i])) {
			i++;
			continue;
		}
		int err = compute(l, i);
		if (err)
			return err;
		tfl_remove_op(l, i, before->n_tensors);
	}
	return 0;
}

/* Estimates the steps that operator o of the graph takes: weft_onnx_ref_work(), or the elements read and written. */
static double work_of(const struct tfl_lower *l, const struct weft_gop *o)
{
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	weft_tensor y[WEFT_OP_MAX_OUTPUTS];
	double in = 0, out = 0;

	for (int k = 0; k < o->n_in; k++) {
		x[k] = &l->g->tensors[o->in[k]].t;
		in += (double)weft_tensor_elements(x[k]);
	}
	for (int k = 0; k < o->n_out; k++) {
		y[k] = l->g->tensors[o->out[k]].t;
		out += (double)weft_tensor_elements(&y[k]);
	}
	if (o->op == WEFT_OP_ONNX_NODE)
		return weft_onnx_ref_work(&o->attr.onnx_node, x, o->n_in, y, o->n_out);
	if (o->op == WEFT_OP_FFT2D || o->op == WEFT_OP_RFFT2D)
		return out * in;
	return in + out;
}

/*
 * Takes the steps of the operators emitted since mark *before from those that computing constants may still cost. Returns
 * false, with nothing taken, if there are not as many left.
 */
static bool take_work(struct tfl_lower *l, const struct tfl_mark *before)
{
	double steps = 0, *left = &tfl_outermost(l)->work;

	for (int i = before->n_ops; i < l->g->n_ops; i++)
		steps += work_of(l, &l->g->ops[i]);
	if (steps > *left)
		return false;
	*left -= steps;
	return true;
}

/*
 * If all operands of the operator at hand are constant, it is light (is_light()) or a small product, no result
 * is an output and take_work() grants the steps: computes the operators emitted since mark *before, makes the
 * results constants of the file, and removes these operators with their tensors and sources. Otherwise, of
 * these operators only those for which is_part() is true are computed. Returns 1 if the results are constants
 * now, 0 if not, or a negative errno.
 */
int tfl_fold(struct tfl_lower *l, const struct tfl_mark *before)
{
	int err = 0;

	if (!all_const(l) || !(is_light(l->op->code) || is_small_product(l)))
		return fold_parts(l, before);
	for (uint32_t k = 0; k < l->op->out.n; k++)
		if (l->is_output[fb_i32_at(&l->m->b, &l->op->out, k)])
			return fold_parts(l, before);
	if (!take_work(l, before))
		return fold_parts(l, before);
	for (int i = before->n_ops; !err && i < l->g->n_ops; i++)
		err = compute(l, i);
	for (uint32_t k = 0; !err && k < l->op->out.n; k++)
		err = keep_result(l, fb_i32_at(&l->m->b, &l->op->out, k));
	cut_back(l, before);
	return err ? err : 1;
}

void tfl_fold_release(struct tfl_lower *l)
{
	for (int i = 0; i < l->n_folded; i++)
		free(l->folded[i]);
	free(l->folded);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowers BITCAST, EMBEDDING_LOOKUP_SPARSE, REDUCE_WINDOW and, of StableHLO, GATHER,
 * SCATTER and REDUCE_WINDOW to host operators of their own (sim/golden/onnx/tfl).
 *
 * Their options are lists of int64 in the file, and lists of at most WEFT_ONNX_LIST
 * numbers of 32 bits in the graph.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_host.h"

/* Functions of two numbers, as the format numbers those of REDUCE_WINDOW; SECOND is the second number. */
enum { NONE = -1, SECOND = 0, ADD = 1, MULTIPLY = 2, MINIMUM = 3, MAXIMUM = 4, ALL = 5, ANY = 6 };

/*
 * Sets a's attribute `name` to the list of int64 in a field of the options of the operator at hand, empty if it is
 * absent. `n` is how many there have to be, or -1. Returns 0, -EINVAL for another or too large a count or numbers
 * beyond 32 bits, or another negative errno.
 */
static int list_option(struct tfl_lower *l, struct weft_attr_onnx_node *a, const char *name, int field, int n)
{
	int64_t v[WEFT_ONNX_LIST];
	struct fb_vec list = { 0 };
	int err = l->op->has_options ? fb_vector(&l->m->b, &l->op->options, field, 8, &list) : 0;

	if (err < 0)
		return err;
	if (list.n > WEFT_ONNX_LIST || (n >= 0 && list.n != (uint32_t)n))
		return tfl_fail(l, -EINVAL, "%u numbers in %s; %d wanted", (unsigned)list.n, name, n < 0 ? WEFT_ONNX_LIST : n);
	for (uint32_t k = 0; k < list.n; k++) {
		v[k] = fb_i64_at(&l->m->b, &list, k);
		if (v[k] < -INT32_MAX || v[k] > INT32_MAX)
			return tfl_fail(l, -EINVAL, "%lld in %s", (long long)v[k], name);
	}
	tfl_node_ints(a, name, (int)list.n, v);
	return 0;
}

/*
 * Fills in[] with the graph tensors of the operands, which have to be n. Returns 0, -EINVAL if there are more or fewer or
 * one is absent, or another negative errno.
 */
static int operands(struct tfl_lower *l, int n, int *in)
{
	if (l->op->in.n != (uint32_t)n)
		return tfl_fail(l, -EINVAL, "%u operands, not %d", (unsigned)l->op->in.n, n);
	for (int k = 0; k < n; k++)
		if ((in[k] = tfl_value(l, k)) < 0)
			return in[k];
	return 0;
}

/*
 * Returns what the operator with that code computes: ADD, MULTIPLY, MINIMUM or MAXIMUM for these four, of
 * StableHLO or not, and NONE for all others.
 */
static int function_of(int code)
{
	switch (code) {
	case TFL_STABLEHLO_ADD: case TFL_ADD: return ADD;
	case TFL_STABLEHLO_MULTIPLY: case TFL_MUL: return MULTIPLY;
	case TFL_STABLEHLO_MINIMUM: case TFL_MINIMUM: return MINIMUM;
	case TFL_STABLEHLO_MAXIMUM: case TFL_MAXIMUM: return MAXIMUM;
	default: return NONE;
	}
}

/*
 * Returns which function of two numbers the subgraph of that number is, SECOND if it has no operator; -EINVAL if there is
 * none of that number or with two inputs and one output; -ENOTSUP if it is any other function; or another negative errno.
 */
static int body(struct tfl_lower *l, int index)
{
	struct tfl_model m;
	int how = NONE, err = index < 1 ? tfl_fail(l, -EINVAL, "subgraph %d", index) : tfl_read_subgraph(&m, l->m, (uint32_t)index);

	if (err)
		return err;
	if (m.inputs.n != 2 || m.outputs.n != 1) {
		err = tfl_fail(l, -EINVAL, "subgraph %d has %u inputs and %u outputs", index, (unsigned)m.inputs.n, (unsigned)m.outputs.n);
	} else {
		const int a = fb_i32_at(&m.b, &m.inputs, 0), b = fb_i32_at(&m.b, &m.inputs, 1), y = fb_i32_at(&m.b, &m.outputs, 0);
		const struct tfl_op *o = m.ops;

		if (!m.n_ops && y == b)
			how = SECOND;
		if (m.n_ops == 1 && o->in.n == 2 && o->out.n == 1 && fb_i32_at(&m.b, &o->out, 0) == y) {
			const int p = fb_i32_at(&m.b, &o->in, 0), q = fb_i32_at(&m.b, &o->in, 1);
			how = a != b && ((p == a && q == b) || (p == b && q == a)) ? function_of(o->code) : NONE;
		}
		err = how == NONE ? tfl_fail(l, -ENOTSUP, "subgraph %d is no sum, product, minimum or maximum of its inputs", index) : how;
	}
	tfl_release(&m);
	return err;
}

/*
 * Lowers BITCAST to the host operator Bitcast. Returns the result's tensor, -ENOTSUP if operand or result is of
 * another type than float32 and integers of 1, 2, 4 or 8 bytes, or another negative errno.
 */
static int bitcast(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "Bitcast");
	int x = tfl_value(l, 0);

	if (x < 0)
		return x;
	const weft_dtype types[2] = { l->g->tensors[x].t.dtype, l->y.dtype };
	for (int k = 0; k < 2; k++)
		if (types[k] != WEFT_FP32 && types[k] != WEFT_INT8 && types[k] != WEFT_INT16 && types[k] != WEFT_INT32 && types[k] != WEFT_INT64)
			return tfl_fail(l, -ENOTSUP, "bits of %s; float32 and integers of 8 to 64 bits are read so", weft_dtype_name(types[k]));
	tfl_node_int(&a, "to", (int)l->y.dtype);
	tfl_node_int(&a, "flip_x", tfl_file_tensor(l, tfl_operand(l, 0))->type == TFL_UINT8);
	tfl_node_int(&a, "flip_y", tfl_file_tensor(l, l->i_y)->type == TFL_UINT8);
	return tfl_node(l, &a, &x, 1, true);
}

/*
 * Lowers EMBEDDING_LOOKUP_SPARSE to the host operator EmbeddingSparse of five operands, which joins rows as
 * option combiner says. Returns the result's tensor, -ENOTSUP if operand 2, the shape, is not constant, -EINVAL
 * for another number of operands, or another negative errno.
 */
static int embedding_sparse(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "EmbeddingSparse");
	int in[5], combiner, err = tfl_option(l, OPTIONS_EMBEDDING_SPARSE, EMBEDDING_SPARSE_COMBINER, 1, 0, &combiner);

	if (err || (err = operands(l, 5, in)) || (err = tfl_need_shape_const(l, 2)))
		return err;
	tfl_node_int(&a, "combiner", combiner);
	return tfl_node(l, &a, in, 5, true);
}

/*
 * Sets in *a what gather and scatter have in common: the lists window, left_out and map from fields `first` to
 * first + 2 of the options of that type, and index_dim from field first + 3. Returns 0, -EINVAL if the options
 * are another operator's, or another negative errno.
 */
static int places(struct tfl_lower *l, struct weft_attr_onnx_node *a, int type, int first)
{
	int index_dim, err = tfl_option(l, type, first + 3, 8, 0, &index_dim);

	if (!err && l->op->has_options && l->op->options_type != type)
		err = tfl_fail(l, -EINVAL, "options of another operator");
	if (err || (err = list_option(l, a, "window", first, -1)) || (err = list_option(l, a, "left_out", first + 1, -1)) ||
	    (err = list_option(l, a, "map", first + 2, -1)))
		return err;
	tfl_node_int(a, "index_dim", index_dim);
	return 0;
}

/* Checks that operand k, indices, is int32 or int64. Returns 0 or -EINVAL. */
static int need_indices(struct tfl_lower *l, int x)
{
	const weft_dtype t = l->g->tensors[x].t.dtype;

	return t == WEFT_INT32 || t == WEFT_INT64 ? 0 : tfl_fail(l, -EINVAL, "indices of %s", weft_dtype_name(t));
}

/*
 * Lowers STABLEHLO_GATHER to the host operator Gather, which takes slices at the places in operand 1, moved as far as
 * needed to lie within operand 0. Operand 0 has to have the result's type and quantisation (tfl_moved()). Returns the
 * result's tensor, or a negative errno.
 */
static int gather(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "Gather");
	int in[2], x = tfl_moved(l, 0), err = x < 0 ? x : operands(l, 2, in);

	if (err || (err = need_indices(l, in[1])) || (err = places(l, &a, OPTIONS_STABLEHLO_GATHER, STABLEHLO_GATHER_WINDOW)) ||
	    (err = list_option(l, &a, "size", STABLEHLO_GATHER_SIZE, l->g->tensors[x].t.rank)))
		return err;
	return tfl_node(l, &a, in, 2, true);
}

/*
 * Lowers STABLEHLO_SCATTER, whose subgraph is the second of two numbers, or their sum, product, minimum or maximum. Returns the
 * result's tensor, -ENOTSUP for another function or uint8, or another negative errno.
 */
static int scatter(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "Scatter");
	int in[3], index, how, err = operands(l, 3, in);

	if (err || (err = need_indices(l, in[1])) || (err = places(l, &a, OPTIONS_STABLEHLO_SCATTER, STABLEHLO_SCATTER_WINDOW)) ||
	    (err = tfl_option(l, OPTIONS_STABLEHLO_SCATTER, STABLEHLO_SCATTER_SUBGRAPH, 4, 0, &index)))
		return err;
	if ((how = body(l, index)) < 0)
		return how;
	if (tfl_file_tensor(l, l->i_y)->type == TFL_UINT8)
		return tfl_fail(l, -ENOTSUP, "uint8; int8 is supported");
	tfl_node_int(&a, "how", how);
	return tfl_node(l, &a, in, 3, true);
}

/*
 * Emits the ReduceWindow with attributes *a and function `how` of operands 0 and 1 as the operator's result.
 * Returns its tensor, -ENOTSUP for uint8, -EINVAL if there is no such function or only one of function and
 * operand 0 is logical, or another negative errno.
 */
static int window(struct tfl_lower *l, struct weft_attr_onnx_node *a, int how)
{
	int in[2] = { tfl_value(l, 0), -1 };

	if (in[0] < 0 || (in[1] = tfl_value(l, 1)) < 0)
		return in[0] < 0 ? in[0] : in[1];
	if (tfl_file_tensor(l, l->i_y)->type == TFL_UINT8)
		return tfl_fail(l, -ENOTSUP, "uint8; int8 is supported");
	const bool logic = how == ALL || how == ANY;
	if (how < ADD || how > ANY || logic != (l->g->tensors[in[0]].t.dtype == WEFT_BOOL))
		return tfl_fail(l, -EINVAL, "function %d of %s", how, weft_dtype_name(l->g->tensors[in[0]].t.dtype));
	tfl_node_int(a, "how", how);
	return tfl_node(l, a, in, 2, true);
}

/*
 * Lowers REDUCE_WINDOW to the host operator ReduceWindow: operands 2, 3 and 4 are the window's sizes, strides
 * and dilations, constants, and an option names the function. Returns the result's tensor, -ENOTSUP if one of
 * the three is not constant or for uint8, -EINVAL if their numbers do not fit, or another negative errno.
 */
static int reduce_window(struct tfl_lower *l)
{
	static const char *const names[3] = { "size", "strides", "dilations" };
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "ReduceWindow");
	int64_t v[WEFT_ONNX_LIST], ones[WEFT_ONNX_LIST] = { 1, 1, 1, 1, 1, 1, 1, 1 }, none[WEFT_ONNX_LIST] = { 0 };
	weft_tensor x;
	int how, err = tfl_option(l, OPTIONS_REDUCE_WINDOW, REDUCE_WINDOW_FUNCTION, 4, 0, &how), i = err ? err : tfl_operand(l, 0);

	if (i < 0 || (err = tfl_shape(l, i, &x)))
		return i < 0 ? i : err;
	for (int k = 0; k < 3; k++) {
		if (tfl_operand(l, 2 + k) < 0 || tfl_need_shape_const(l, 2 + k) < 0)
			return l->err;
		const int n = tfl_ints(l, 2 + k, WEFT_ONNX_LIST, v);
		if (n < 0 || n != x.rank)
			return n < 0 ? n : tfl_fail(l, -EINVAL, "%d numbers in operand %d for rank %d", n, 2 + k, x.rank);
		for (int d = 0; d < n; d++)
			if (v[d] < 1 || v[d] > INT32_MAX)
				return tfl_fail(l, -EINVAL, "%lld in operand %d", (long long)v[d], 2 + k);
		tfl_node_ints(&a, names[k], n, v);
	}
	tfl_node_ints(&a, "base", x.rank, ones);
	tfl_node_ints(&a, "low", x.rank, none);
	tfl_node_ints(&a, "high", x.rank, none);
	return window(l, &a, how);
}

/*
 * Lowers STABLEHLO_REDUCE_WINDOW, whose subgraph is a sum, product, minimum or maximum, to the host operator
 * ReduceWindow; sizes, strides, dilations of image and window, and padding are options. Returns the result's
 * tensor, -ENOTSUP for another function or uint8, -EINVAL if the subgraph gives its second input as it is or an
 * option is absent or does not fit the rank, or another negative errno.
 */
static int stablehlo_reduce_window(struct tfl_lower *l)
{
	static const char *const names[4] = { "size", "strides", "base", "dilations" };
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "ReduceWindow");
	int64_t v[2][WEFT_ONNX_LIST];
	struct fb_vec pad = { 0 };
	weft_tensor x;
	int index, i = tfl_operand(l, 0), how, err = i < 0 ? i : tfl_shape(l, i, &x);

	if (err || (err = tfl_option(l, OPTIONS_STABLEHLO_WINDOW, STABLEHLO_WINDOW_SUBGRAPH, 4, 0, &index)))
		return err;
	if (!l->op->has_options || l->op->options_type != OPTIONS_STABLEHLO_WINDOW)
		return tfl_fail(l, -EINVAL, "no options");
	for (int k = 0; k < 4; k++)
		if ((err = list_option(l, &a, names[k], k, x.rank)))
			return err;
	if ((err = fb_vector(&l->m->b, &l->op->options, STABLEHLO_WINDOW_PADDING, 8, &pad)) < 0 || pad.n != 2 * (uint32_t)x.rank)
		return err < 0 ? err : tfl_fail(l, -EINVAL, "%u numbers of padding for rank %d", (unsigned)pad.n, x.rank);
	for (uint32_t k = 0; k < pad.n; k++) {
		v[k % 2][k / 2] = fb_i64_at(&l->m->b, &pad, k);
		if (v[k % 2][k / 2] < -INT32_MAX || v[k % 2][k / 2] > INT32_MAX)
			return tfl_fail(l, -EINVAL, "padding %lld", (long long)v[k % 2][k / 2]);
	}
	tfl_node_ints(&a, "low", x.rank, v[0]);
	tfl_node_ints(&a, "high", x.rank, v[1]);
	return (how = body(l, index)) < 0 ? how : window(l, &a, how);
}

int (*tfl_stablehlo_lowering(int code))(struct tfl_lower *)
{
	switch (code) {
	case TFL_BITCAST: return bitcast;
	case TFL_EMBEDDING_LOOKUP_SPARSE: return embedding_sparse;
	case TFL_REDUCE_WINDOW: return reduce_window;
	case TFL_STABLEHLO_GATHER: return gather;
	case TFL_STABLEHLO_SCATTER: return scatter;
	case TFL_STABLEHLO_REDUCE_WINDOW: return stablehlo_reduce_window;
	default: return NULL;
	}
}

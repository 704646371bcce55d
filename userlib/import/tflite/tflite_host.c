/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowers operators on plain numbers that no accelerator runs. They become
 * ONNX_NODE, the graph's operator for the host, or a few of them. Each function
 * below says how TensorFlow Lite's operator is expressed by ONNX's.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/golden/golden.h"
#include "sim/golden/onnx/ref/onnx_ref.h"
#include "tflite_host.h"

#define OPSET 21               /* whose rules the kernels follow; what is used here is the same up to opset 28 */

struct weft_attr_onnx_node tfl_node_of(const char *domain, const char *name)
{
	struct weft_attr_onnx_node a = { .kind = weft_onnx_ref_find(domain, name), .opset = OPSET };
	struct weft_onnx_slot s;

	for (int k = 0; a.kind >= 0 && weft_onnx_ref_slot(a.kind, k, &s); k++)
		if (s.type == WEFT_ONNX_FLOAT)
			a.f[s.f] = (float)s.otherwise;
		else if (s.type == WEFT_ONNX_INT)
			a.i[s.i] = (int32_t)s.otherwise;
		else if (s.type != WEFT_ONNX_ENUM)
			a.i[s.i] = WEFT_ONNX_ABSENT;
	return a;
}

struct weft_attr_onnx_node tfl_node_attr(const char *name)
{
	return tfl_node_of("", name);
}

/*
 * Sets *s to the attribute of that name of a's operator. Returns false if the operator has none of
 * that name; *s is then undefined.
 */
static bool find_slot(const struct weft_attr_onnx_node *a, const char *name, struct weft_onnx_slot *s)
{
	for (int k = 0; weft_onnx_ref_slot(a->kind, k, s); k++)
		if (!strcmp(s->name, name))
			return true;
	return false;
}

/*
 * Sets a's attribute of that name to integer v, or to the choice with number v. Does nothing if the
 * operator has no such attribute.
 */
void tfl_node_int(struct weft_attr_onnx_node *a, const char *name, int v)
{
	struct weft_onnx_slot s;

	if (find_slot(a, name, &s))
		a->i[s.i] = v;
}

/*
 * Sets a's attribute of that name to float v. Does nothing if the operator has no such attribute.
 */
void tfl_node_float(struct weft_attr_onnx_node *a, const char *name, float v)
{
	struct weft_onnx_slot s;

	if (find_slot(a, name, &s))
		a->f[s.f] = v;
}

/*
 * Sets a's attribute of that name to a list of the n integers in v, at most WEFT_ONNX_LIST. Does
 * nothing if the operator has no such attribute.
 */
void tfl_node_ints(struct weft_attr_onnx_node *a, const char *name, int n, const int64_t *v)
{
	struct weft_onnx_slot s;

	if (!find_slot(a, name, &s))
		return;
	a->i[s.i] = n;
	for (int k = 0; k < n && k < WEFT_ONNX_LIST; k++)
		a->i[s.i + 1 + k] = (int32_t)v[k];
}

int tfl_node(struct tfl_lower *l, const struct weft_attr_onnx_node *of, const int *in, int n, bool last)
{
	const weft_tensor *x[WEFT_ONNX_MAX_IN];
	char line[WEFT_GOLDEN_MSG] = "";
	weft_attr a = { .onnx_node = *of };
	weft_tensor y;
	int which = -1;

	for (int k = 0; k < n; k++) {
		if (in[k] < 0)
			return in[k];
		x[k] = &l->g->tensors[in[k]].t;
	}
	a.onnx_node.n_in = n;
	int err = weft_onnx_ref_shapes(&a.onnx_node, x, n, &y, 1, &which, line);
	if (err == -EAGAIN)
		return tfl_fail(l, -ENOTSUP, "a shape that is known only when the network runs");
	if (err)
		return tfl_fail(l, err, "%.150s", line);
	return tfl_step(l, WEFT_OP_ONNX_NODE, &a, in, n, y.dtype, y.rank, y.dim, last);
}

int tfl_plain(struct tfl_lower *l, const char *name, const int *in, int n, bool last)
{
	const struct weft_attr_onnx_node a = tfl_node_attr(name);

	return tfl_node(l, &a, in, n, last);
}

/*
 * Emits x with its axes in another order: axis i of the result is axis perm[i] of x. With last it
 * is the operator's result. Returns the graph tensor, or a negative errno; a negative x is returned
 * as it is.
 */
int tfl_node_transposed(struct tfl_lower *l, int x, const int *perm, bool last)
{
	weft_attr a = { .perm = { { 0 } } };

	if (x < 0)
		return x;
	const weft_tensor t = l->g->tensors[x].t;
	int64_t dim[WEFT_MAX_RANK] = { 0 };
	for (int i = 0; i < t.rank; i++) {
		a.perm.perm[i] = perm[i];
		dim[i] = t.dim[perm[i]];
	}
	return tfl_step(l, WEFT_OP_TRANSPOSE, &a, &x, 1, t.dtype, t.rank, dim, last);
}

/*
 * Emits graph tensor x, by an IDENTITY, as the result of the operator at hand. Returns the result's
 * tensor, or a negative errno; a negative x is returned as it is.
 */
int tfl_node_own(struct tfl_lower *l, int x)
{
	if (x < 0)
		return x;
	const weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_IDENTITY, NULL, &x, 1, t.dtype, t.rank, t.dim, true);
}

/*
 * Emits x converted to type t by ONNX's Cast; integers keep only the low bits. With last it is the operator's result. Returns the graph tensor, or a negative errno; a
 * negative x is returned as it is.
 */
int tfl_node_cast(struct tfl_lower *l, int x, weft_dtype t, bool last)
{
	struct weft_attr_onnx_node a = tfl_node_attr("Cast");

	tfl_node_int(&a, "to", weft_onnx_ref_type_number(t));
	return tfl_node(l, &a, &x, 1, last);
}

/*
 * Adds a constant vector of the n int64 in v, which are copied; suffix is part of its name. Returns
 * its graph tensor, or a negative errno.
 */
static int int64s(struct tfl_lower *l, const char *suffix, int64_t n, const int64_t *v)
{
	int64_t *p = tfl_alloc(l, n, sizeof *p);

	if (!p)
		return l->err;
	memcpy(p, v, (size_t)n * sizeof *p);
	return tfl_data(l, suffix, WEFT_INT64, 1, &n, p);
}

/* Says whether the result at hand is uint8, which the graph has as int8, 128 less. */
static bool is_uint8(const struct tfl_lower *l)
{
	return tfl_file_tensor(l, l->i_y)->type == TFL_UINT8;
}

/*
 * Adds a constant of type t with the shape of the result at hand, all zeros of the file: of uint8, if t is int8, the graph's -128.
 * Returns its graph tensor, or a negative errno.
 */
static int zeros(struct tfl_lower *l, weft_dtype t)
{
	const int64_t n = weft_tensor_elements(&l->y);
	const size_t size = weft_dtype_bytes(t);
	void *p = tfl_alloc(l, n, size);

	if (!p)
		return l->err;
	memset(p, is_uint8(l) && t == WEFT_INT8 ? 0x80 : 0, (size_t)n * size);
	return tfl_data(l, "zeros", t, l->y.rank, l->y.dim, p);
}

/* Adds the number v, float32 or, if t is that, float64. Returns the graph tensor, or a negative errno. */
static int real_of(struct tfl_lower *l, weft_dtype t, double v)
{
	double *p = t == WEFT_FP64 ? tfl_alloc(l, 1, sizeof *p) : NULL;

	if (t != WEFT_FP64)
		return tfl_real_number(l, 0, (float)v);
	if (!p)
		return l->err;
	*p = v;
	return tfl_data(l, "number", t, 0, NULL, p);
}

/* ---- one operator each ---- */

/*
 * Lowers ROUND, which rounds halves to even, to ONNX's Round of operand 0 and an addition of 0, since what the kernel rounds up to
 * zero is +0; -0 stays. Returns the result's tensor, or a negative errno.
 */
static int rounded(struct tfl_lower *l)
{
	const int x = tfl_value(l, 0), zero = real_of(l, WEFT_FP32, 0), is_zero = tfl_plain(l, "Equal", (int[]){ x, zero }, 2, false);
	const int sum = tfl_plain(l, "Add", (int[]){ tfl_plain(l, "Round", &x, 1, false), zero }, 2, false);

	return tfl_plain(l, "Where", (int[]){ is_zero, x, sum }, 3, true);
}

/*
 * Lowers SIGN to ONNX's Sign of operand 0. A SIGN of floats adds 0, since that of -0 is 0. Returns the result's tensor, or a
 * negative errno.
 */
static int unary(struct tfl_lower *l)
{
	const int x = tfl_value(l, 0);

	if (l->op->code == TFL_ROUND)
		return rounded(l);
	const weft_dtype t = x < 0 ? 0 : l->g->tensors[x].t.dtype;
	if (t != WEFT_FP32 && t != WEFT_FP64)
		return tfl_plain(l, "Sign", &x, 1, true);
	const int zero = real_of(l, t, 0);
	return zero < 0 ? zero : tfl_plain(l, "Add", (int[]){ tfl_plain(l, "Sign", &x, 1, false), zero }, 2, true);
}

/*
 * Lowers CUMSUM, the running sum along the axis in operand 1, to ONNX's CumSum with the same two options,
 * exclusive and reverse. Returns the result's tensor, or a negative errno.
 */
static int cumsum(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_attr("CumSum");
	int exclusive, reverse, in[2] = { tfl_value(l, 0), -1 };
	int err = tfl_option(l, OPTIONS_CUMSUM, CUMSUM_EXCLUSIVE, 1, 0, &exclusive);

	if (err || (err = tfl_option(l, OPTIONS_CUMSUM, CUMSUM_REVERSE, 1, 0, &reverse)) || in[0] < 0)
		return err ? err : in[0];
	tfl_node_int(&a, "exclusive", exclusive);
	tfl_node_int(&a, "reverse", reverse);
	in[1] = tfl_value(l, 1);
	return tfl_node(l, &a, in, 2, true);
}

/*
 * Lowers ADD_N, the sum of all operands in their order, to ONNX's Sum. Returns the result's tensor,
 * -ENOTSUP if there are more than WEFT_ONNX_MAX_IN operands, or another negative errno.
 */
static int add_n(struct tfl_lower *l)
{
	int in[WEFT_ONNX_MAX_IN], n = (int)l->op->in.n;

	if (n > WEFT_ONNX_MAX_IN)
		return tfl_fail(l, -ENOTSUP, "%d operands; at most %d", n, WEFT_ONNX_MAX_IN);
	for (int k = 0; k < n; k++)
		in[k] = tfl_value(l, k);
	return tfl_plain(l, "Sum", in, n, true);
}

/*
 * Emits the numbers that uint8 x has in the file, 128 more than in the graph, as int32. Returns the graph tensor, or a negative errno;
 * a negative x is returned as it is.
 */
static int file_numbers(struct tfl_lower *l, int x)
{
	x = tfl_node_cast(l, x, WEFT_INT32, false);
	return x < 0 ? x : tfl_plain(l, "Add", (int[]){ x, tfl_number(l, "128", WEFT_INT32, 0, 128) }, 2, false);
}

/* Emits x converted to the type with that number in TensorProto. Returns the graph tensor, or a negative errno; a negative x is returned as it is. */
static int converted(struct tfl_lower *l, int x, int number, bool last)
{
	struct weft_attr_onnx_node a = tfl_node_attr("Cast");

	tfl_node_int(&a, "to", number);
	return x < 0 ? x : tfl_node(l, &a, &x, 1, last);
}

/*
 * Emits the low 8 bits of int32 x as the operator's uint8 result, which is 128 less in the graph. Returns its tensor, or a negative
 * errno; a negative x is returned as it is.
 */
static int as_uint8(struct tfl_lower *l, int x)
{
	if (x < 0)
		return x;
	x = tfl_plain(l, "Sub", (int[]){ x, tfl_number(l, "128", WEFT_INT32, 0, 128) }, 2, false);
	return tfl_node_cast(l, x, WEFT_INT8, true);
}

/*
 * Lowers POW of int32 and BITWISE_XOR, whose two operands broadcast. In the graph's form of uint8, 128 less, the highest
 * bit is inverted; in the BITWISE_XOR of two such operands it is not, so it is inverted once more. Returns the result's tensor, or a
 * negative errno.
 */
static int two_operands(struct tfl_lower *l)
{
	int in[2] = { tfl_value(l, 0), -1 };

	in[1] = in[0] < 0 ? in[0] : tfl_value(l, 1);
	if (l->op->code == TFL_POW) {
		const struct weft_attr_onnx_node pow = tfl_node_of("tflite", "Pow");
		return tfl_node(l, &pow, in, 2, true);
	}
	if (!is_uint8(l))
		return tfl_plain(l, "BitwiseXor", in, 2, true);
	const int y = tfl_plain(l, "BitwiseXor", in, 2, false);
	return y < 0 ? y : tfl_plain(l, "BitwiseXor", (int[]){ y, tfl_number(l, "sign", WEFT_INT8, 0, -128) }, 2, true);
}

/*
 * Lowers STABLEHLO_ADD, _MULTIPLY, _MAXIMUM and _MINIMUM of two operands of one shape and type to ONNX's operators (of bool they are
 * Or and And; sums and products of uint8 are those of the file's numbers), and _AND (bool or int32) and _SHIFT_LEFT (int32) to TOSA's. Returns the result's tensor, -ENOTSUP for other types, -EINVAL for
 * other shapes, or another negative errno.
 */
static int stablehlo(struct tfl_lower *l)
{
	const int code = l->op->code;
	int in[2] = { tfl_value(l, 0), -1 };

	if (in[0] < 0 || (in[1] = tfl_value(l, 1)) < 0)
		return in[0] < 0 ? in[0] : in[1];
	const weft_tensor *a = &l->g->tensors[in[0]].t, *b = &l->g->tensors[in[1]].t;
	const bool bits = code == TFL_STABLEHLO_AND || code == TFL_STABLEHLO_SHIFT_LEFT;
	const weft_dtype other = code == TFL_STABLEHLO_AND ? WEFT_BOOL : WEFT_INT32;
	if ((bits && a->dtype != other && a->dtype != WEFT_INT32) || b->dtype != a->dtype)
		return tfl_fail(l, -ENOTSUP, "%s and %s; %s wanted", weft_dtype_name(a->dtype), weft_dtype_name(b->dtype),
		                !bits ? "one type" : other == WEFT_BOOL ? "bool or int32" : "int32");
	if (a->rank != b->rank || memcmp(a->dim, b->dim, sizeof a->dim))
		return tfl_fail(l, -EINVAL, "operands of different shapes");
	if (bits)
		return tfl_step(l, code == TFL_STABLEHLO_SHIFT_LEFT ? WEFT_OP_LOGICAL_LEFT_SHIFT : a->dtype == WEFT_BOOL ? WEFT_OP_LOGICAL_AND :
		                WEFT_OP_BITWISE_AND, NULL, in, 2, a->dtype, a->rank, a->dim, true);
	const bool sum = code == TFL_STABLEHLO_ADD, wraps = sum || code == TFL_STABLEHLO_MULTIPLY;
	if (a->dtype == WEFT_BOOL)
		return tfl_plain(l, sum || code == TFL_STABLEHLO_MAXIMUM ? "Or" : "And", in, 2, true);
	const char *name = sum ? "Add" : wraps ? "Mul" : code == TFL_STABLEHLO_MAXIMUM ? "Max" : "Min";
	if (!wraps || !is_uint8(l))
		return tfl_plain(l, name, in, 2, true);
	for (int k = 0; k < 2; k++)
		if ((in[k] = file_numbers(l, in[k])) < 0)
			return in[k];
	return as_uint8(l, tfl_plain(l, name, in, 2, false));
}

/* Emits int32 x by operator op, MAXIMUM or MINIMUM, with v. Returns the graph tensor, or a negative errno; a negative x is returned as it is. */
static int bounded(struct tfl_lower *l, weft_opcode op, int x, int64_t v)
{
	const weft_attr none = { .clamp = { 0 } };
	const int c = x < 0 ? x : tfl_number(l, "limit", WEFT_INT32, l->g->tensors[x].t.rank, v);

	return c < 0 ? c : tfl_step(l, op, &none, (int[]){ x, c }, 2, WEFT_INT32, l->g->tensors[x].t.rank, l->g->tensors[x].t.dim, false);
}

/* Emits the counts x of a RIGHT_SHIFT limited to 0 and bits - 1, as the kernel does. Returns the graph tensor, or a negative errno; a negative x is returned as it is. */
static int shift_counts(struct tfl_lower *l, int x, int bits)
{
	if (x < 0)
		return x;
	const weft_dtype t = l->g->tensors[x].t.dtype;
	if (t == WEFT_INT32)
		return bounded(l, WEFT_OP_MINIMUM, bounded(l, WEFT_OP_MAXIMUM, x, 0), bits - 1);
	if (t == WEFT_INT8 || t == WEFT_INT16)
		return tfl_clamp(l, x, 0, bits - 1, false);
	const int most = tfl_number(l, "limit", t, 0, bits - 1);
	return most < 0 ? most : tfl_plain(l, "Min", (int[]){ x, most }, 2, false);
}

/*
 * Lowers RIGHT_SHIFT of signed integers to ARITHMETIC_RIGHT_SHIFT, which fills with the sign and
 * does not round; uint8 is shifted as int32, uint16 and uint32 by ONNX's BitShift. Returns the result's tensor, or a
 * negative errno.
 */
static int right_shift(struct tfl_lower *l)
{
	const weft_attr a = { .shift = { .round = false } };
	struct weft_attr_onnx_node shift = tfl_node_attr("BitShift");
	const int bits = 8 * (int)weft_dtype_bytes(l->y.dtype);
	int in[2] = { tfl_value(l, 0), -1 };

	for (int k = 0; k < 2; k++) {
		in[k] = k ? tfl_value(l, k) : in[k];
		if (in[k] >= 0 && is_uint8(l))
			in[k] = file_numbers(l, in[k]);
		if (k)
			in[k] = shift_counts(l, in[k], bits);
		if (in[k] < 0 || (in[k] = tfl_match_rank(l, in[k], l->y.rank)) < 0)
			return in[k];
	}
	if (l->y.dtype == WEFT_UINT16 || l->y.dtype == WEFT_UINT32) {
		tfl_node_int(&shift, "direction", 1);
		return tfl_node(l, &shift, in, 2, true);
	}
	if (is_uint8(l))
		return as_uint8(l, tfl_step(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &a, in, 2, WEFT_INT32, l->y.rank, l->y.dim, false));
	return tfl_step(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &a, in, 2, l->y.dtype, l->y.rank, l->y.dim, true);
}

/*
 * Lowers REDUCE_PROD of quantised int8 or int16, with the n axes and keep_dims, to ReduceProd of TensorFlow Lite's own: each product
 * is rescaled by input_scale / output_scale^(1/m), of the m elements that make a result. Returns the result's tensor, or a
 * negative errno.
 */
static int quantised_product(struct tfl_lower *l, int n, const int64_t *axis, int keep)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "ReduceProd");
	const int i = tfl_operand(l, 0), x = tfl_value(l, 0);
	struct tfl_quant xq, yq;
	struct tfl_factor f;
	int err = x < 0 ? x : tfl_quant(l, i, TFL_Q8_16, &xq);

	if (err || (err = tfl_need_result(l, TFL_Q8_16, &yq)))
		return err;
	const int64_t all = weft_tensor_elements(&l->g->tensors[x].t), results = weft_tensor_elements(&l->y);
	const double root = results && all >= results ? 1.0 / (double)(all / results) : 1;
	if ((err = tfl_factor(l, (double)xq.scale / pow((double)yq.scale, root), &f)))
		return err;
	tfl_node_ints(&a, "axes", n, axis);
	tfl_node_int(&a, "keepdims", keep);
	tfl_node_int(&a, "x_zp", xq.zp);
	tfl_node_int(&a, "y_zp", yq.zp);
	tfl_node_int(&a, "multiplier", f.multiplier);
	tfl_node_int(&a, "shift", f.shift);
	return tfl_node(l, &a, &x, 1, true);
}

/*
 * Lowers REDUCE_ANY and REDUCE_ALL of bool to ONNX's ReduceMax and ReduceMin, and REDUCE_PROD to its ReduceProd,
 * but of an operand with a scale by quantised_product(). The axes, operand 1, are constant, up to WEFT_ONNX_LIST of
 * them (tfl_axes()). Returns the result's tensor, or a negative errno.
 */
static int reduce(struct tfl_lower *l)
{
	const int code = l->op->code;
	struct weft_attr_onnx_node a = tfl_node_attr(code == TFL_REDUCE_ANY ? "ReduceMax" : code == TFL_REDUCE_ALL ? "ReduceMin" : "ReduceProd");
	int64_t axis[WEFT_ONNX_LIST];
	int keep, x = tfl_value(l, 0), n = x < 0 ? x : tfl_axes(l, 1, WEFT_ONNX_LIST, axis);
	int err = tfl_option(l, OPTIONS_REDUCE, REDUCE_KEEP_DIMS, 1, 0, &keep);

	if (n < 0 || err)
		return n < 0 ? n : err;
	if (code == TFL_REDUCE_PROD && tfl_file_tensor(l, tfl_operand(l, 0))->scale.n)
		return quantised_product(l, n, axis, keep);
	tfl_node_ints(&a, "axes", n, axis);
	tfl_node_int(&a, "keepdims", keep);
	if (n && is_uint8(l)) {
		x = file_numbers(l, x);
		return as_uint8(l, tfl_node(l, &a, &x, 1, false));
	}
	return n ? tfl_node(l, &a, &x, 1, true) : tfl_node_own(l, x);
}

/*
 * Lowers REVERSE_SEQUENCE to ONNX's ReverseSequence: for each index along the batch axis, the first elements
 * along the time axis are reversed, as many as operand 1 says for that index; options number both axes. Operand 0
 * has to have the result's type and quantisation (tfl_moved()). Returns the result's tensor, or a negative errno.
 */
static int reverse_sequence(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_attr("ReverseSequence");
	int time, batch, in[2] = { tfl_moved(l, 0), -1 };
	int err = tfl_option(l, OPTIONS_REVERSE_SEQUENCE, REVERSE_SEQUENCE_TIME, 4, 0, &time);

	if (err || (err = tfl_option(l, OPTIONS_REVERSE_SEQUENCE, REVERSE_SEQUENCE_BATCH, 4, 0, &batch)) || in[0] < 0)
		return err ? err : in[0];
	tfl_node_int(&a, "time_axis", time);
	tfl_node_int(&a, "batch_axis", batch);
	in[1] = tfl_value(l, 1);
	if (in[1] >= 0)
		in[1] = tfl_node_cast(l, in[1], WEFT_INT64, false);
	return tfl_node(l, &a, in, 2, true);
}

/* Says whether file tensor i, blockwise zero points, is absent or a constant of zeros. */
static bool no_zero_points(const struct tfl_lower *l, int i)
{
	if (i < 0)
		return true;
	if (i >= l->m->n_tensors || !tfl_file_tensor(l, i)->data)
		return false;
	for (size_t k = 0; k < tfl_file_tensor(l, i)->data_len; k++)
		if (tfl_file_tensor(l, i)->data[k])
			return false;
	return true;
}

/*
 * Lowers EMBEDDING_LOOKUP of int4 rows whose blocks have float16 scales of their own, into float32: each
 * number times its block's scale. The constant of the rows becomes int8 in the graph, with the same numbers.
 * Returns the result's tensor; -ENOTSUP for other types or zero points, and unless the rows are a constant of rank
 * 2 and operand 0 has rank 1; -EINVAL if the blocks do not fit the rows; or another negative errno.
 */
static int embedding_blocks(struct tfl_lower *l)
{
	const int i = tfl_operand(l, 1), i_scales = tfl_file_tensor(l, i)->block_scales;
	const int64_t block = tfl_file_tensor(l, i)->block_size;
	weft_tensor s;
	int ids = tfl_value(l, 0), err = ids < 0 ? ids : 0;

	if (!err && (i_scales < 0 || i_scales >= l->m->n_tensors || tfl_file_tensor(l, i_scales)->type != TFL_FLOAT16 ||
	             !no_zero_points(l, tfl_file_tensor(l, i)->block_zero_points)))
		err = tfl_fail(l, -ENOTSUP, "blocks without float16 scales, or with zero points");
	if (err || (err = tfl_shape(l, i_scales, &s)))
		return err;
	l->tensors[i].has_custom_quant = false;     /* only here it is known what the blocks mean */
	int w = tfl_value(l, 1), scales = tfl_value_of(l, i_scales);
	l->tensors[i].has_custom_quant = true;
	if (w < 0 || scales < 0)
		return w < 0 ? w : scales;
	const weft_tensor t = l->g->tensors[w].t, n = l->g->tensors[ids].t;
	if (tfl_file_tensor(l, i)->type != TFL_INT4 || t.rank != 2 || n.rank != 1 || !t.data)
		return tfl_fail(l, -ENOTSUP, "rows of %s of rank %d; constant int4 of rank 2 wanted", tfl_type_name(tfl_file_tensor(l, i)->type), t.rank);
	if (block < 1 || s.rank != 2 || s.dim[0] != t.dim[0] || t.dim[1] != s.dim[1] * block)
		return tfl_fail(l, -EINVAL, "blocks of %lld do not fit rows of %lld", (long long)block, (long long)t.dim[1]);
	l->g->tensors[w].t.dtype = WEFT_INT8;          /* int4's elements have a byte each, too */
	w = tfl_node_cast(l, tfl_plain(l, "Gather", (int[]){ w, ids }, 2, false), WEFT_FP32, false);
	w = w < 0 ? w : tfl_reshape(l, w, 3, (int64_t[]){ n.dim[0], s.dim[1], block });
	scales = tfl_plain(l, "Gather", (int[]){ scales, ids }, 2, false);
	if (scales >= 0 && l->g->tensors[scales].t.dtype != WEFT_FP32)
		scales = tfl_node_cast(l, scales, WEFT_FP32, false);
	scales = scales < 0 ? scales : tfl_reshape(l, scales, 3, (int64_t[]){ n.dim[0], s.dim[1], 1 });
	w = tfl_plain(l, "Mul", (int[]){ w, scales }, 2, false);
	return w < 0 ? w : tfl_node_own(l, tfl_reshape(l, w, 2, (int64_t[]){ n.dim[0], t.dim[1] }));
}

/* Emits operand 1, a table of integers, with its first bytes as int8, one for each element: so the kernel reads any type. Returns the graph tensor, or a negative errno. */
static int table_bytes(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "Bitcast");
	weft_attr first = { .slice = { { 0 } } };
	int x = tfl_value(l, 1);

	if (x < 0)
		return x;
	const weft_tensor t = l->g->tensors[x].t;
	const int64_t n = weft_tensor_elements(&t), bytes = (int64_t)weft_dtype_bytes(t.dtype);
	const bool is_uint8_table = tfl_file_tensor(l, tfl_operand(l, 1))->type == TFL_UINT8;
	if (t.dtype == WEFT_INT8 && !is_uint8_table)
		return x;
	tfl_node_int(&a, "to", WEFT_INT8);
	tfl_node_int(&a, "flip_x", is_uint8_table);
	tfl_node_int(&a, "flip_y", 0);
	x = tfl_reshape(l, x, 1, &n);
	x = x < 0 ? x : tfl_node(l, &a, &x, 1, false);
	x = x < 0 ? x : tfl_reshape(l, x, 1, (int64_t[]){ n * bytes });
	if (x >= 0 && bytes > 1)
		x = tfl_step(l, WEFT_OP_SLICE, &first, &x, 1, WEFT_INT8, 1, &n, false);
	return tfl_reshape(l, x, t.rank, t.dim);
}

/*
 * Lowers EMBEDDING_LOOKUP of rows of int8, uint8 or int16 with one scale, or one for each row, into float32: numbers times scale.
 * Returns the result's tensor, -ENOTSUP for a zero point, -EINVAL for another number of scales, or another negative errno.
 */
static int embedding_reals(struct tfl_lower *l)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, tfl_operand(l, 1));
	int w = table_bytes(l), ids = w < 0 ? w : tfl_value(l, 0);

	if (ids < 0)
		return ids;
	const weft_tensor t = l->g->tensors[w].t, which = l->g->tensors[ids].t;
	int64_t dim[WEFT_MAX_RANK] = { which.dim[0], 1, 1, 1, 1, 1, 1, 1 };
	for (uint32_t k = 0; k < f->zero_point.n; k++)
		if (fb_i64_at(&l->m->b, &f->zero_point, k))
			return tfl_fail(l, -ENOTSUP, "a table with a zero point; LiteRT has a kernel for 0");
	if (which.rank != 1 || t.rank < 2 || (f->scale.n != 1 && f->scale.n != (uint32_t)t.dim[0]))
		return tfl_fail(l, -EINVAL, "a table of rank %d with %u scales, places of rank %d", t.rank, (unsigned)f->scale.n, which.rank);
	const int64_t n = f->scale.n;
	float *p = tfl_alloc(l, n, sizeof *p);
	if (!p)
		return l->err;
	for (int64_t k = 0; k < n; k++)
		p[k] = fb_f32_at(&l->m->b, &f->scale, (uint32_t)k);
	int scales = tfl_data(l, "scales", WEFT_FP32, 1, &n, p);
	if (n > 1) {
		scales = tfl_plain(l, "Gather", (int[]){ scales, ids }, 2, false);
		scales = scales < 0 ? scales : tfl_reshape(l, scales, t.rank, dim);
	}
	w = tfl_node_cast(l, tfl_plain(l, "Gather", (int[]){ w, ids }, 2, false), WEFT_FP32, false);
	return scales < 0 ? scales : tfl_plain(l, "Mul", (int[]){ w, scales }, 2, true);
}

/*
 * Lowers EMBEDDING_LOOKUP, which takes the rows of operand 1 that operand 0 names: by embedding_blocks() if
 * operand 1 is quantised by blocks, by embedding_reals() if integers become float32, else to ONNX's Gather, where
 * operand 1 is quantised like the result. Returns the result's tensor, or a negative errno.
 */
static int embedding_lookup(struct tfl_lower *l)
{
	const int i = tfl_operand(l, 1);

	if (i < 0 || tfl_file_tensor(l, i)->block_size)
		return i < 0 ? i : embedding_blocks(l);
	const int type = tfl_file_tensor(l, i)->type;
	if (l->y.dtype == WEFT_FP32 && (type == TFL_INT8 || type == TFL_UINT8 || type == TFL_INT16))
		return embedding_reals(l);
	int in[2] = { tfl_moved(l, 1), -1 };

	in[1] = in[0] < 0 ? in[0] : tfl_value(l, 0);
	return tfl_plain(l, "Gather", in, 2, true);
}

/*
 * Lowers TOPK_V2 with a constant count k in operand 1: the first result has the k greatest
 * values along the last axis, of which NaN is the least, the second one their places there. Operand 0 has to have the result's type and
 * quantisation (tfl_moved()). Returns the first result's tensor, -EINVAL if k is not in 1..the axis's length
 * or the results are not two, or another negative errno.
 */
static int top_k(struct tfl_lower *l)
{
	weft_attr a = { .onnx_node = tfl_node_of("tflite", "TopK") };
	int64_t k;
	int x = tfl_moved(l, 0), n = x < 0 ? x : tfl_ints(l, 1, 1, &k), y[2];

	if (n < 0)
		return n;
	const weft_tensor t = l->g->tensors[x].t;
	const int64_t length = t.rank >= 1 ? t.dim[t.rank - 1] : 0;
	if (n != 1 || k < 1 || k > length || l->op->out.n != 2)
		return tfl_fail(l, -EINVAL, "the greatest %lld of %lld into %u results", n == 1 ? (long long)k : -1LL, (long long)length,
		                (unsigned)l->op->out.n);
	tfl_node_int(&a.onnx_node, "k", (int)k);
	a.onnx_node.n_in = 1;
	struct tfl_two two = { &x, 1, { t.dtype, WEFT_INT64 }, { t.rank, t.rank }, { { 0 } } };
	for (int i = 0; i < t.rank; i++)
		two.dim[0][i] = two.dim[1][i] = i == t.rank - 1 ? k : t.dim[i];
	int err = tfl_step_two(l, WEFT_OP_ONNX_NODE, &a, &two, y);
	if (err < 0 || (y[0] = tfl_node_own(l, y[0])) < 0 || (err = tfl_result(l, 1)) < 0)
		return err < 0 ? err : y[0];
	y[1] = tfl_node_cast(l, y[1], l->y.dtype, true);
	return y[1] < 0 ? y[1] : y[0];
}

/* ---- a few operators each ---- */

/*
 * Lowers ONE_HOT: along a new axis of `depth` elements (constant operand 1), which the option numbers
 * (negative: the last one), the result is operand 2 where the index in operand 0 equals the place on that
 * axis, else operand 3. Operands 2 and 3 are taken as they are stored, whatever their scales. Returns the
 * result's tensor, -EINVAL if axis, rank or depth do not fit, or another negative errno.
 */
static int one_hot(struct tfl_lower *l)
{
	int64_t depth = 0, dim[WEFT_MAX_RANK] = { 0 };
	int axis, x = tfl_value(l, 0), n = x < 0 ? x : tfl_ints(l, 1, 1, &depth);
	int err = tfl_option(l, OPTIONS_ONE_HOT, ONE_HOT_AXIS, 4, 0, &axis);

	if (n < 0 || err)
		return n < 0 ? n : err;
	const weft_tensor t = l->g->tensors[x].t;
	axis = axis < 0 ? t.rank : axis;
	if (axis > t.rank || t.rank + 1 > WEFT_MAX_RANK || depth < 0)
		return tfl_fail(l, -EINVAL, "axis %d of rank %d, depth %lld", axis, t.rank + 1, (long long)depth);
	for (int i = 0; i <= t.rank; i++)
		dim[i] = i < axis ? t.dim[i] : i == axis ? 1 : t.dim[i - 1];
	x = tfl_reshape(l, x, t.rank + 1, dim);
	for (int i = 0; i <= t.rank; i++)
		dim[i] = i == axis ? depth : 1;
	int32_t *place = tfl_alloc(l, depth, 8);
	if (!place)
		return l->err;
	for (int64_t i = 0; i < depth; i++)
		if (t.dtype == WEFT_INT64)
			((int64_t *)place)[i] = i;
		else
			place[i] = (int32_t)i;
	const int places = tfl_data(l, "places", t.dtype == WEFT_INT64 ? WEFT_INT64 : WEFT_INT32, t.rank + 1, dim, place);
	int in[3] = { tfl_plain(l, "Equal", (int[]){ x, places }, 2, false), -1, -1 };
	for (int k = 1; k < 3 && in[k - 1] >= 0; k++)
		in[k] = tfl_value(l, k + 1);    /* as they are stored: the kernel does not look at their scales */
	return in[1] < 0 ? (in[0] < 0 ? in[0] : in[1]) : tfl_plain(l, "Where", in, 3, true);
}

/*
 * Lowers FILL: the single number in operand 1, expanded to the result's shape. Operand 0, the shape, is not
 * looked at. Operand 1 has to have the result's type and quantisation (tfl_moved()). Returns the result's
 * tensor, or a negative errno.
 */
static int fill(struct tfl_lower *l)
{
	int x = tfl_moved(l, 1), dim = x < 0 ? x : int64s(l, "extents", l->y.rank, l->y.dim);

	return tfl_plain(l, "Expand", (int[]){ x, dim }, 2, true);
}

/* Lowers ZEROS_LIKE: zeros of the result's type and shape, a constant. Returns the result's tensor, or a negative errno. */
static int zeros_like(struct tfl_lower *l)
{
	return tfl_node_own(l, zeros(l, l->y.dtype));
}

/*
 * Lowers SCATTER_ND: each update (operand 1) is added into zeros at its index (operand 0); uint8 as int32, of whose sums the
 * low 8 bits are the result. Returns the result's tensor, or a negative errno.
 */
static int scatter_nd(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_attr("ScatterND");
	const bool u8 = is_uint8(l);
	int in[3] = { zeros(l, u8 ? WEFT_INT32 : l->y.dtype), -1, -1 };

	if (in[0] < 0 || (in[1] = tfl_value(l, 0)) < 0 || (in[2] = tfl_value(l, 1)) < 0)
		return in[0] < 0 ? in[0] : in[1] < 0 ? in[1] : in[2];
	in[1] = tfl_node_cast(l, in[1], WEFT_INT64, false);
	if (u8)
		in[2] = file_numbers(l, in[2]);
	tfl_node_int(&a, "reduction", 1);    /* add */
	return u8 ? as_uint8(l, tfl_node(l, &a, in, 3, false)) : tfl_node(l, &a, in, 3, true);
}

/*
 * Lowers SPARSE_TO_DENSE: each value of operand 2 (one for all, or a vector) stands at its index in operand
 * 0, and elsewhere the default in operand 3. Operands 2 and 3 have to have the result's type and quantisation
 * (tfl_moved()). Returns the result's tensor, -EINVAL if the indices have more than 2 dimensions or do not
 * fit the result's rank, or another negative errno.
 */
static int sparse_to_dense(struct tfl_lower *l)
{
	int at = tfl_value(l, 0), values = at < 0 ? at : tfl_moved(l, 2), other = values < 0 ? values : tfl_moved(l, 3);

	if (other < 0)
		return other;
	const weft_tensor t = l->g->tensors[at].t;
	const int64_t n = t.rank ? t.dim[0] : 1, shape[2] = { n, t.rank == 2 ? t.dim[1] : 1 };
	if (t.rank > 2 || shape[1] != l->y.rank)
		return tfl_fail(l, -EINVAL, "indices of rank %d and %lld numbers into rank %d", t.rank, (long long)shape[1], l->y.rank);
	at = tfl_node_cast(l, tfl_reshape(l, at, 2, shape), WEFT_INT64, false);
	values = tfl_plain(l, "Expand", (int[]){ values, int64s(l, "count", 1, &n) }, 2, false);
	other = tfl_plain(l, "Expand", (int[]){ other, int64s(l, "extents", l->y.rank, l->y.dim) }, 2, false);
	return tfl_plain(l, "ScatterND", (int[]){ other, at, values }, 3, true);
}

/*
 * Lowers MATRIX_DIAG, which puts a vector on the diagonal of a square of zeros, and MATRIX_SET_DIAG, which
 * puts it on that of given matrices. The diagonal's element i stands in row i and column i, so the vector is
 * spread along rows, or along columns if the matrix has more columns than rows. The vector and the matrices
 * have to have the result's type and quantisation (tfl_moved()). Returns the result's tensor, -EINVAL if the
 * diagonal does not fit the matrix, or another negative errno.
 */
static int matrix_diag(struct tfl_lower *l)
{
	const bool given = l->op->code == TFL_MATRIX_SET_DIAG;
	int64_t rows, columns, dim[WEFT_MAX_RANK] = { 0 };
	int other = given ? tfl_moved(l, 0) : zeros(l, l->y.dtype), d = other < 0 ? other : tfl_moved(l, given);

	if (d < 0)
		return d;
	if (l->y.rank < 2 || l->g->tensors[d].t.rank != l->y.rank - 1)
		return tfl_fail(l, -EINVAL, "a diagonal of rank %d into rank %d", l->g->tensors[d].t.rank, l->y.rank);
	rows = l->y.dim[l->y.rank - 2];
	columns = l->y.dim[l->y.rank - 1];
	if (l->g->tensors[d].t.dim[l->y.rank - 2] != (rows < columns ? rows : columns))
		return tfl_fail(l, -EINVAL, "a diagonal of %lld elements in %lld x %lld", (long long)l->g->tensors[d].t.dim[l->y.rank - 2],
		                (long long)rows, (long long)columns);
	memcpy(dim, l->y.dim, sizeof dim);
	dim[l->y.rank - 2 + (columns > rows)] = 1;
	d = tfl_reshape(l, d, l->y.rank, dim);
	bool *on = d < 0 ? NULL : tfl_alloc(l, rows * columns, sizeof *on);
	if (!on)
		return d < 0 ? d : l->err;
	for (int64_t i = 0; i < rows * columns; i++)
		on[i] = i / columns == i % columns;
	const int which = tfl_data(l, "diagonal", WEFT_BOOL, 2, (int64_t[]){ rows, columns }, on);
	return tfl_plain(l, "Where", (int[]){ which, d, other }, 3, true);
}

/*
 * Lowers BUCKETIZE: the result is the number of boundaries, which are in the options, that are not
 * above the element; for NaN all. Elements of float64 are compared in float64, others in float32. Returns
 * the result's tensor, -EINVAL if the boundaries are missing or one is below the one before it, as LiteRT refuses
 * them, or another negative errno.
 */
static int bucketize(struct tfl_lower *l)
{
	const struct weft_attr_onnx_node a = tfl_node_of("tflite", "Bucketize");
	int in[2] = { tfl_value(l, 0), -1 };
	struct fb_vec list;
	struct fb b = l->m->b;

	if (in[0] < 0)
		return in[0];
	b.msg = l->msg;
	if (!l->op->has_options || fb_vector(&b, &l->op->options, BUCKETIZE_BOUNDARIES, 4, &list) < 0)
		return tfl_fail(l, -EINVAL, "boundaries are missing");
	const int64_t n = list.n;
	float *p = tfl_alloc(l, n, sizeof *p);
	if (!p)
		return l->err;
	for (int64_t i = 0; i < n; i++)
		p[i] = fb_f32_at(&b, &list, (uint32_t)i);
	for (int64_t i = 1; i < n; i++)
		if (p[i] < p[i - 1]) {
			const int err = tfl_fail(l, -EINVAL, "boundary %g behind %g; LiteRT wants them in ascending order", (double)p[i], (double)p[i - 1]);
			free(p);
			return err;
		}
	in[1] = tfl_data(l, "boundaries", WEFT_FP32, 1, &n, p);
	return tfl_node(l, &a, in, 2, true);
}

/*
 * Lowers DYNAMIC_UPDATE_SLICE: operand 1 replaces a part of operand 0 that begins where operand 2 says, moved
 * as far as needed to lie within. The places of the part's elements, counted from its beginning, are a
 * constant; the beginning is added when the network runs. Operand 0 has to have the result's type and
 * quantisation (tfl_moved()). Returns the result's tensor, -EINVAL if operands 0 and 1 differ in rank or type
 * or are scalars, if the part is larger than operand 0 or its beginning has not one number for each dimension, or
 * another negative errno.
 */
static int update_slice(struct tfl_lower *l)
{
	int x = tfl_moved(l, 0), u = x < 0 ? x : tfl_value(l, 1), start = u < 0 ? u : tfl_value(l, 2);

	if (start < 0)
		return start;
	const weft_tensor t = l->g->tensors[x].t, part = l->g->tensors[u].t;
	int64_t n = weft_tensor_elements(&part), rank = t.rank, most[WEFT_MAX_RANK], none[WEFT_MAX_RANK] = { 0 };
	if (part.rank != t.rank || t.rank < 1 || part.dtype != t.dtype)
		return tfl_fail(l, -EINVAL, "a part of %s of rank %d into %s of rank %d", weft_dtype_name(part.dtype), part.rank,
		                weft_dtype_name(t.dtype), t.rank);
	for (int d = 0; d < t.rank; d++)
		if (part.dim[d] > t.dim[d])
			return tfl_fail(l, -EINVAL, "a part of %lld elements in dimension %d, which has %lld", (long long)part.dim[d], d,
			                (long long)t.dim[d]);
	if (l->g->tensors[start].t.rank != 1 || l->g->tensors[start].t.dim[0] != t.rank)
		return tfl_fail(l, -EINVAL, "%lld numbers say where the part of rank %d begins",
		                (long long)weft_tensor_elements(&l->g->tensors[start].t), t.rank);
	int64_t *at = tfl_alloc(l, n * rank, sizeof *at);
	if (!at)
		return l->err;
	for (int64_t i = 0; i < n; i++)
		for (int64_t d = rank - 1, rest = i; d >= 0; rest /= part.dim[d], d--)
			at[i * rank + d] = rest % part.dim[d];
	for (int d = 0; d < t.rank; d++)
		most[d] = t.dim[d] - part.dim[d];
	const int places = tfl_data(l, "places", WEFT_INT64, 2, (int64_t[]){ n, rank }, at);
	start = tfl_node_cast(l, start, WEFT_INT64, false);
	start = tfl_plain(l, "Max", (int[]){ start, int64s(l, "least", rank, none) }, 2, false);
	start = tfl_plain(l, "Min", (int[]){ start, int64s(l, "most", rank, most) }, 2, false);
	start = tfl_plain(l, "Add", (int[]){ places, start }, 2, false);
	u = tfl_reshape(l, u, 1, &n);
	return tfl_plain(l, "ScatterND", (int[]){ x, start, u }, 3, true);
}

/*
 * Lowers FLOOR_MOD of float32 a and b. Its result has the divisor's sign; that of ONNX's Mod has
 * the dividend's, as the C library's fmod, so the divisor is added where the signs differ and the
 * remainder is not 0. Returns the result's tensor, or a negative errno.
 */
static int float_remainder(struct tfl_lower *l, int a, int b)
{
	struct weft_attr_onnx_node mod = tfl_node_attr("Mod");

	tfl_node_int(&mod, "fmod", 1);
	const int m = tfl_node(l, &mod, (int[]){ a, b }, 2, false), zero = m < 0 ? m : tfl_number(l, "zero", WEFT_FP32, 0, 0);
	const int sign_b = tfl_plain(l, "Less", (int[]){ b, zero }, 2, false), sign_m = tfl_plain(l, "Less", (int[]){ m, zero }, 2, false);
	const int signs = tfl_plain(l, "Xor", (int[]){ sign_b, sign_m }, 2, false);
	const int some = tfl_plain(l, "Not", (int[]){ tfl_plain(l, "Equal", (int[]){ m, zero }, 2, false) }, 1, false);
	const int which = tfl_plain(l, "And", (int[]){ signs, some }, 2, false);
	return tfl_plain(l, "Where", (int[]){ which, tfl_plain(l, "Add", (int[]){ m, b }, 2, false), m }, 3, true);
}

/*
 * Emits the floored quotient of integers a and b, whose floored remainder is m, as the result of
 * the operator at hand: the quotient rounded to zero, and one less if there is a remainder and the
 * signs differ. Returns the result's tensor, or a negative errno; a negative m is returned as it
 * is.
 */
static int floored(struct tfl_lower *l, int a, int b, int m)
{
	const weft_dtype t = l->y.dtype;
	const int zero = m < 0 ? m : tfl_number(l, "zero", t, 0, 0), one = zero < 0 ? zero : tfl_number(l, "one", t, 0, 1);
	const int sign_a = tfl_plain(l, "Less", (int[]){ a, zero }, 2, false), sign_b = tfl_plain(l, "Less", (int[]){ b, zero }, 2, false);
	const int signs = tfl_plain(l, "Xor", (int[]){ sign_a, sign_b }, 2, false);
	const int some = tfl_plain(l, "Not", (int[]){ tfl_plain(l, "Equal", (int[]){ m, zero }, 2, false) }, 1, false);
	const int less = tfl_plain(l, "Where", (int[]){ tfl_plain(l, "And", (int[]){ signs, some }, 2, false), one, zero }, 3, false);
	return tfl_plain(l, "Sub", (int[]){ tfl_plain(l, "Div", (int[]){ a, b }, 2, false), less }, 2, true);
}

int tfl_host_floor_div(struct tfl_lower *l)
{
	const bool quotient = l->op->code == TFL_FLOOR_DIV;
	int a = tfl_value(l, 0), b = a < 0 ? a : tfl_value(l, 1);

	if (b < 0)
		return b;
	const bool real = l->g->tensors[a].t.dtype == WEFT_FP32;
	if (real && !quotient)
		return float_remainder(l, a, b);
	if (real) {
		const int q = tfl_plain(l, "Div", (int[]){ a, b }, 2, false);
		return tfl_plain(l, "Floor", &q, 1, true);
	}
	const int m = tfl_plain(l, "Mod", (int[]){ a, b }, 2, !quotient);
	return quotient ? floored(l, a, b, m) : m;
}

/* ---- windows, in ONNX's order of axes: images, channels, rows, columns ---- */

static const int to_channels_first[5][5] = { [4] = { 0, 3, 1, 2 } }, to_channels_last[5][5] = { [4] = { 0, 2, 3, 1 } };

/*
 * Lowers L2_POOL_2D of float32: the root of the mean of the squares in a window, where places beyond the
 * image do not count, with the fused activation. Returns the result's tensor, -EINVAL for other types or
 * ranks or if no window fits, or another negative errno.
 */
static int l2_pool(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_attr("AveragePool");
	int o[6], x = tfl_value(l, 0), err = 0;
	struct tfl_window w[2];

	for (int k = 0; k < 6 && !err; k++)
		err = k == POOL_ACTIVATION ? tfl_limiting(l, OPTIONS_POOL, k, &o[k]) : tfl_option(l, OPTIONS_POOL, k, k == POOL_PADDING ? 1 : 4, 0, &o[k]);
	if (x < 0 || err)
		return x < 0 ? x : err;
	const weft_tensor t = l->g->tensors[x].t;
	if (t.rank != 4 || t.dtype != WEFT_FP32)
		return tfl_fail(l, -EINVAL, "%s of rank %d; float32 of rank 4 wanted", weft_dtype_name(t.dtype), t.rank);
	if ((err = tfl_window(l, o[POOL_PADDING], t.dim[1], o[POOL_FILTER_H], o[POOL_STRIDE_H], 1, &w[0])) ||
	    (err = tfl_window(l, o[POOL_PADDING], t.dim[2], o[POOL_FILTER_W], o[POOL_STRIDE_W], 1, &w[1])))
		return err;
	tfl_node_ints(&a, "kernel_shape", 2, (int64_t[]){ o[POOL_FILTER_H], o[POOL_FILTER_W] });
	tfl_node_ints(&a, "strides", 2, (int64_t[]){ o[POOL_STRIDE_H], o[POOL_STRIDE_W] });
	tfl_node_ints(&a, "pads", 4, (int64_t[]){ w[0].before, w[1].before, w[0].after, w[1].after });
	x = tfl_node_transposed(l, tfl_plain(l, "Mul", (int[]){ x, x }, 2, false), to_channels_first[4], false);
	x = tfl_node(l, &a, &x, 1, false);
	x = tfl_node_transposed(l, tfl_plain(l, "Sqrt", &x, 1, false), to_channels_last[4], false);
	return tfl_real_result(l, x, tfl_or_finite(o[POOL_ACTIVATION]));
}

/*
 * Emits x [N,H,W,C] with its channels in reverse order. With last it is the operator's result, whose type and
 * shape the file must give it. Returns the graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int mirrored(struct tfl_lower *l, int x, bool last)
{
	const weft_attr a = { .axis = { .axis = 3 } };

	if (x < 0)
		return x;
	const weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_REVERSE, &a, &x, 1, t.dtype, t.rank, t.dim, last);
}

/*
 * Lowers LOCAL_RESPONSE_NORMALIZATION of float32 to ONNX's LRN. TensorFlow Lite's kernel adds the squares of channels
 * c - radius .. c + radius - 1, without the last one of the window. A window of 2 * radius channels is LRN's that begins at
 * c - radius + 1; with the channels in the other order it is the kernel's. LRN divides alpha by the number of channels in a
 * window, which TensorFlow Lite does not, so alpha is multiplied by it first. With radius 0 no square is added. Returns the
 * result's tensor, -EINVAL for other types or ranks than 4 or a radius outside 0..2^20, or another negative errno.
 */
static int local_response(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_attr("LRN");
	int radius, x = tfl_value(l, 0), err = tfl_option(l, OPTIONS_LRN, LRN_RADIUS, 4, 0, &radius);
	float bias, alpha, beta;

	if (x < 0 || err || (err = tfl_option_float(l, OPTIONS_LRN, LRN_BIAS, 0, &bias)) ||
	    (err = tfl_option_float(l, OPTIONS_LRN, LRN_ALPHA, 0, &alpha)) || (err = tfl_option_float(l, OPTIONS_LRN, LRN_BETA, 0, &beta)))
		return x < 0 ? x : err;
	const weft_tensor t = l->g->tensors[x].t;
	if (t.rank != 4 || t.dtype != WEFT_FP32 || radius < 0 || radius > 1 << 20)
		return tfl_fail(l, -EINVAL, "%s of rank %d, radius %d; float32 of rank 4 wanted", weft_dtype_name(t.dtype), t.rank, radius);
	const int size = radius ? 2 * radius : 1;
	tfl_node_int(&a, "size", size);
	tfl_node_float(&a, "alpha", radius ? alpha * (float)size : 0);
	tfl_node_float(&a, "beta", beta);
	tfl_node_float(&a, "bias", bias);
	x = tfl_node_transposed(l, mirrored(l, x, false), to_channels_first[4], false);
	return mirrored(l, tfl_node_transposed(l, tfl_node(l, &a, &x, 1, false), to_channels_last[4], false), true);
}

/*
 * Lowers ATAN2 of float y (operand 0) and x (operand 1), which have one shape, to the C library's function; float16 is computed in
 * float32. Returns the result's tensor, -EINVAL for operands of two shapes, which LiteRT's kernel does not broadcast but reads past
 * their end, or another negative errno.
 */
static int atan_2(struct tfl_lower *l)
{
	const struct weft_attr_onnx_node a = tfl_node_of("tflite", "Atan2");
	int x[2] = { tfl_value(l, 0), -1 };

	if (x[0] < 0 || (x[1] = tfl_value(l, 1)) < 0)
		return x[0] < 0 ? x[0] : x[1];
	const weft_tensor v = l->g->tensors[x[0]].t, w = l->g->tensors[x[1]].t;
	const bool half = v.dtype == WEFT_FP16;
	if (v.rank != w.rank || memcmp(v.dim, w.dim, (size_t)v.rank * sizeof *v.dim))
		return tfl_fail(l, -EINVAL, "operands of two shapes, which LiteRT does not broadcast");
	for (int k = 0; k < 2 && half; k++)
		x[k] = converted(l, x[k], 1, false);
	const int y = tfl_node(l, &a, x, 2, !half);
	return half ? converted(l, y, 10, true) : y;
}

/* Lowers GELU of float16. Returns the result's tensor, or a negative errno. */
static int half_gelu(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "Gelu");
	int approximate, err = tfl_option(l, OPTIONS_GELU, GELU_APPROXIMATE, 1, 0, &approximate), x = tfl_value(l, 0);

	if (err)
		return err;
	tfl_node_int(&a, "approximate", approximate);
	return tfl_node(l, &a, &x, 1, true);
}

/* Lowers SOFTMAX of float16 along the last axis. Returns the result's tensor, or a negative errno. */
static int half_softmax(struct tfl_lower *l)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "Softmax");
	float beta;
	int err = tfl_option_float(l, OPTIONS_SOFTMAX, SOFTMAX_BETA, 0, &beta), x = tfl_value(l, 0);

	if (err)
		return err;
	tfl_node_float(&a, "beta", beta);
	return tfl_node(l, &a, &x, 1, true);
}

int (*tfl_half_lowering(int code))(struct tfl_lower *)
{
	return code == TFL_GELU ? half_gelu : code == TFL_SOFTMAX ? half_softmax : NULL;
}

/*
 * Lowers NON_MAX_SUPPRESSION_V4 (two results) and _V5 (three, with scores) to a host operator. Returns the
 * first result's tensor; -EINVAL if it has another number of operands or results; -ENOTSUP if the greatest
 * number of boxes, operand 2, which is the results' extent, is not constant; or another negative errno.
 */
static int suppression(struct tfl_lower *l)
{
	const bool soft = l->op->code == TFL_NMS_V5;
	weft_attr a = { .onnx_node = tfl_node_of("tflite", "NonMaxSuppression") };
	struct tfl_many many = { .n = soft ? 3 : 2, .result = { 0, 1, 2 } };
	const weft_tensor *x[6];
	char line[WEFT_GOLDEN_MSG] = "";
	int in[6], n = soft ? 6 : 5, which = -1;

	if (l->op->in.n != (uint32_t)n || l->op->out.n != (uint32_t)many.n)
		return tfl_fail(l, -EINVAL, "%u operands and %u results", (unsigned)l->op->in.n, (unsigned)l->op->out.n);
	for (int k = 0; k < n; k++)
		if ((in[k] = tfl_value(l, k)) < 0)
			return in[k];
	for (int k = 0; k < n; k++)
		x[k] = &l->g->tensors[in[k]].t;
	tfl_node_int(&a.onnx_node, "scores", soft);
	a.onnx_node.n_in = n;
	int err = weft_onnx_ref_shapes(&a.onnx_node, x, n, many.t, many.n, &which, line);
	if (err)
		return tfl_fail(l, err == -EAGAIN ? -ENOTSUP : err, "%.150s", err == -EAGAIN ? "a number of boxes that is known only when the network runs" : line);
	err = tfl_step_many(l, WEFT_OP_ONNX_NODE, &a, in, n, &many);
	return err ? err : l->g->ops[l->g->n_ops - 1].out[0];
}

int (*tfl_host_lowering(int code))(struct tfl_lower *)
{
	switch (code) {
	case TFL_CONV_3D: case TFL_CONV_3D_TRANSPOSE: return tfl_lower_conv_3d;
	case TFL_NMS_V4: case TFL_NMS_V5: return suppression;
	case TFL_LSTM: case TFL_BI_LSTM: case TFL_RNN: case TFL_SEQUENCE_RNN: case TFL_BI_RNN: return tfl_lower_sequence;
	case TFL_ROUND: case TFL_SIGN: return unary;
	case TFL_ATAN2: return atan_2;
	case TFL_CUMSUM: return cumsum;
	case TFL_ADD_N: return add_n;
	case TFL_POW: case TFL_BITWISE_XOR: return two_operands;
	case TFL_RIGHT_SHIFT: return right_shift;
	case TFL_STABLEHLO_ADD: case TFL_STABLEHLO_MULTIPLY: case TFL_STABLEHLO_MAXIMUM: case TFL_STABLEHLO_MINIMUM: case TFL_STABLEHLO_AND:
	case TFL_STABLEHLO_SHIFT_LEFT: return stablehlo;
	case TFL_REDUCE_ANY: case TFL_REDUCE_ALL: case TFL_REDUCE_PROD: return reduce;
	case TFL_REVERSE_SEQUENCE: return reverse_sequence;
	case TFL_EMBEDDING_LOOKUP: return embedding_lookup;
	case TFL_TOPK: return top_k;
	case TFL_ONE_HOT: return one_hot;
	case TFL_FILL: return fill;
	case TFL_ZEROS_LIKE: return zeros_like;
	case TFL_SCATTER_ND: return scatter_nd;
	case TFL_SPARSE_TO_DENSE: return sparse_to_dense;
	case TFL_MATRIX_DIAG: case TFL_MATRIX_SET_DIAG: return matrix_diag;
	case TFL_BUCKETIZE: return bucketize;
	case TFL_DYNAMIC_UPDATE_SLICE: return update_slice;
	case TFL_L2_POOL_2D: return l2_pool;
	case TFL_LRN: return local_response;
	default: return tfl_segment_lowering(code);
	}
}

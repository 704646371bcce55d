/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LSTM of kernel type BASIC, with five operands: one step of
 *
 *   z = W [x, h] + b          four gates of U rows each: i, g, f, o
 *   c' = logistic(i) tanh(g) + logistic(f) c
 *   h' = logistic(o) tanh(c')
 *
 * of x [B,I], h and c [B,U], W [4U,I+U]. Results are h', c', [x, h] and z. The kernel looks at no activation and no
 * clip. If h and c are variables, they become h' and c'.
 *
 * Float32, and uint8 with c of int16 in Q4.11 and z in Q3.12: products are rounded to Q0.15, and scales of x and h are
 * not looked at, whose codes count from 128. Sums become z by two roundings, both halves up: the matrix library of the
 * kernel has another rule there than convolutions.
 *
 * Source: LiteRT, lstm.cc and reference/lstm_cell.h
 */
#include <errno.h>

#include "sim/golden/fixed_point.h"
#include "sim/golden/onnx/tfl/fixed16.h"
#include "tflite_host.h"

enum { X, H, W, B, C, OPERANDS, RESULTS = 4, GATES = 4, VALUES = 65536 };

/* The operands in the graph, but weights and bias, the variables of h and c (-1: none), and the numbers of rows and of cells. */
struct cell { int x, h, c, id_h, id_c; int64_t batch, cells, depth; };

/* Emits operator op of a and b, or of a alone if b is -1, with a's shape and type t. Returns the graph tensor, or a negative errno; a negative a is returned as it is. */
static int step(struct tfl_lower *l, weft_opcode op, int a, int b, weft_dtype t)
{
	weft_attr attr = { .mul = { 0 } };

	if (a < 0)
		return a;
	const weft_tensor s = l->g->tensors[a].t;
	return tfl_step(l, op, op == WEFT_OP_ADD || op == WEFT_OP_TFL_DIV ? NULL : &attr, (int[]){ a, b }, b < 0 ? 1 : 2, t, s.rank, s.dim, false);
}

/* Emits the n gates of z from gate k on. Returns the graph tensor, or a negative errno. */
static int gate(struct tfl_lower *l, const struct cell *s, int z, int k, int n)
{
	weft_attr a = { .slice = { { 0, k * s->cells } } };

	return tfl_step(l, WEFT_OP_SLICE, &a, &z, 1, l->g->tensors[z].t.dtype, 2, (int64_t[]){ s->batch, n * s->cells }, false);
}

/* ---- float32 ---- */

/* Emits function f of float32 x. Returns the graph tensor, or a negative errno; a negative x is returned as it is. */
static int function(struct tfl_lower *l, enum weft_tfl_function f, int x)
{
	weft_attr a = { .tfl_function = { f } };

	if (x < 0)
		return x;
	const weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_TFL_FUNCTION, &a, &x, 1, WEFT_FP32, t.rank, t.dim, false);
}

/* Emits 1 / (1 + exp(-x)) of float32 x, each step rounded. Returns the graph tensor, or a negative errno; a negative x is returned as it is. */
static int logistic(struct tfl_lower *l, int x)
{
	const int one = x < 0 ? x : tfl_real_number(l, 2, 1);
	const weft_tensor t = one < 0 ? (weft_tensor){ 0 } : l->g->tensors[x].t;
	const int below = one < 0 ? one : step(l, WEFT_OP_ADD, function(l, WEFT_TFL_EXP, step(l, WEFT_OP_NEGATE, x, -1, WEFT_FP32)), one, WEFT_FP32);

	return below < 0 ? below : tfl_step(l, WEFT_OP_TFL_DIV, NULL, (int[]){ one, below }, 2, WEFT_FP32, 2, t.dim, false);
}

/* Emits the float32 step of cell s on concatenated operands xh; y[0], y[1] and y[3] receive h', c' and z. Returns 0 or a negative errno. */
static int in_float(struct tfl_lower *l, const struct cell *s, int xh, int y[RESULTS])
{
	weft_attr a = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_FP32, .chain = true } };
	const int64_t rows = GATES * s->cells;
	int w = tfl_weights_as(l, W, 4, (int64_t[]){ rows, 1, 1, s->depth }), b = w < 0 ? w : tfl_weights_as(l, B, 1, &rows);
	int x = b < 0 ? b : tfl_reshape(l, xh, 4, (int64_t[]){ s->batch, 1, 1, s->depth });
	int z = x < 0 ? x : tfl_step(l, WEFT_OP_CONV2D, &a, (int[]){ x, w, b }, 3, WEFT_FP32, 4, (int64_t[]){ s->batch, 1, 1, rows }, false);

	if (z < 0 || (y[3] = z = tfl_reshape(l, z, 2, (int64_t[]){ s->batch, rows })) < 0)
		return z;
	int i = gate(l, s, z, 0, 1), g = i < 0 ? i : gate(l, s, z, 1, 1), f = g < 0 ? g : gate(l, s, z, 2, 1), o = f < 0 ? f : gate(l, s, z, 3, 1);
	if (o < 0 || (i = logistic(l, i)) < 0 || (g = function(l, WEFT_TFL_TANH, g)) < 0 || (f = logistic(l, f)) < 0 || (o = logistic(l, o)) < 0)
		return l->err;
	const int input = step(l, WEFT_OP_MUL, i, g, WEFT_FP32), kept = input < 0 ? input : step(l, WEFT_OP_MUL, f, s->c, WEFT_FP32);
	if (kept < 0 || (y[1] = step(l, WEFT_OP_ADD, input, kept, WEFT_FP32)) < 0)
		return l->err;
	const int c = function(l, WEFT_TFL_TANH, y[1]);
	y[0] = c < 0 ? c : step(l, WEFT_OP_MUL, o, c, WEFT_FP32);
	return y[0] < 0 ? y[0] : 0;
}

/* ---- uint8 ---- */

/* Emits x, int32, divided by 2^shift with one rounding, halves up, as type t. Returns the graph tensor, or a negative errno; a negative x is returned as it is. */
static int narrowed(struct tfl_lower *l, int x, int shift, weft_dtype t)
{
	const struct tfl_factor f = { .multiplier = 1 << 30, .shift = (int8_t)(30 + shift) };
	const struct tfl_rescale r = { .to = t, .rounding = WEFT_SINGLE_ROUND, .n = 1, .f = &f };

	return x < 0 ? x : tfl_rescale(l, x, &r, false);
}

/*
 * Emits int32 x times f as int16 in Q3.12: rounded to an integer after the multiplier's 31 bits, and again after the rest of
 * the shift. Returns the graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int scaled(struct tfl_lower *l, int x, const struct tfl_factor *f)
{
	const bool once = f->shift <= 31;
	const struct tfl_factor first = { .multiplier = f->multiplier, .shift = once ? f->shift : 31 };
	const struct tfl_rescale r = { .to = once ? WEFT_INT16 : WEFT_INT32, .rounding = WEFT_SINGLE_ROUND, .n = 1, .f = &first };

	x = x < 0 ? x : tfl_rescale(l, x, &r, false);
	return once ? x : narrowed(l, x, f->shift - 31, WEFT_INT16);
}

/* Emits the product of int16 a in Q0.15 and b, in b's format. Returns the graph tensor, or a negative errno. */
static int product(struct tfl_lower *l, int a, int b)
{
	return narrowed(l, step(l, WEFT_OP_MUL, a, b, WEFT_INT32), 15, WEFT_INT16);
}

/* Emits int16 x divided by 2^shift, halves away from 0, as int32. Returns the graph tensor, or a negative errno; a negative x is returned as it is. */
static int divided(struct tfl_lower *l, int x, int shift)
{
	weft_attr a = { .shift = { .round = false } };
	int wide = x < 0 ? x : tfl_widen(l, x, 0, 0), n = wide < 0 ? wide : tfl_number(l, "shift", WEFT_INT32, 2, 31);

	if (n < 0)
		return n;
	const weft_tensor t = l->g->tensors[wide].t;
	const int sign = tfl_step(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &a, (int[]){ wide, n }, 2, WEFT_INT32, 2, t.dim, false);
	x = sign < 0 ? sign : step(l, WEFT_OP_ADD, wide, sign, WEFT_INT32);
	if (x < 0 || (x = tfl_add_int(l, x, INT64_C(1) << (shift - 1), false)) < 0 || (n = tfl_number(l, "shift", WEFT_INT32, 2, shift)) < 0)
		return x < 0 ? x : n;
	return tfl_step(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &a, (int[]){ x, n }, 2, WEFT_INT32, 2, t.dim, false);
}

/* Emits f, with that many bits before the point, of int16 x by a table of all values. Returns the graph tensor, or a negative errno; a negative x is returned as it is. */
static int looked_up(struct tfl_lower *l, int x, int16_t (*f)(int16_t, int), int bits)
{
	int16_t *values = x < 0 ? NULL : tfl_alloc(l, VALUES, sizeof *values);

	if (!values)
		return l->err;
	for (int i = 0; i < VALUES; i++)
		values[i] = f((int16_t)(i - VALUES / 2), bits);
	return tfl_lookup_all(l, x, values, false);
}

/* Emits z of concatenated int8 operands xh as int16 in Q3.12. Returns the graph tensor, or a negative errno. */
static int sums(struct tfl_lower *l, const struct cell *s, int xh)
{
	const int64_t rows = GATES * s->cells;
	weft_attr a = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_INT32 } };
	struct tfl_quant w, b;
	struct tfl_factor f;
	bool narrow;
	int err = tfl_quant(l, tfl_operand(l, W), TFL_Q8, &w), iw, ib, z;

	if (err || (err = tfl_quant(l, tfl_operand(l, B), TFL_Q32, &b)) || (err = tfl_factor(l, 4096 * (double)b.scale, &f)))
		return err;
	a.conv.w_zp = w.zp;
	if ((iw = tfl_weights_as(l, W, 4, (int64_t[]){ rows, 1, 1, s->depth })) < 0 || (ib = tfl_bias(l, B, rows, WEFT_INT32, &narrow)) < 0)
		return iw < 0 ? iw : ib;
	z = tfl_reshape(l, xh, 4, (int64_t[]){ s->batch, 1, 1, s->depth });
	if (z >= 0)
		z = tfl_step(l, WEFT_OP_CONV2D, &a, (int[]){ z, iw, ib }, 3, WEFT_INT32, 4, (int64_t[]){ s->batch, 1, 1, rows }, false);
	z = scaled(l, z, &f);
	return z < 0 ? z : tfl_reshape(l, z, 2, (int64_t[]){ s->batch, rows });
}

/*
 * Emits the step of cell s on int8 operands xh; y[0], y[1] and y[3] receive h', c' and z. Returns 0; -ENOTSUP if c has
 * another scale than 2^-11, of which LiteRT has no kernel; or another negative errno.
 */
static int in_integers(struct tfl_lower *l, const struct cell *s, int xh, int y[RESULTS])
{
	struct tfl_quant c;
	int err = tfl_quant(l, tfl_operand(l, C), TFL_Q16, &c), power = 0;

	if (err)
		return err;
	if (!weft_near_power_of_two(c.scale, &power) || power != -11)
		return tfl_fail(l, -ENOTSUP, "a cell state of scale %g; 2^-11 has a kernel", (double)c.scale);
	const int z = y[3] = sums(l, s, xh);
	if (z < 0)
		return z;
	int g = gate(l, s, z, 1, 1), all = g < 0 ? g : looked_up(l, z, fixed16_logistic, 3);
	int i = all < 0 ? all : gate(l, s, all, 0, 1), f = i < 0 ? i : gate(l, s, all, 2, 1), o = f < 0 ? f : gate(l, s, all, 3, 1);
	if (o < 0 || (g = looked_up(l, g, fixed16_tanh, 3)) < 0)
		return l->err;
	const int input = divided(l, product(l, i, g), 4);
	int kept = input < 0 ? input : product(l, f, s->c);
	if (kept < 0 || (kept = tfl_widen(l, kept, 0, 0)) < 0 || (y[1] = narrowed(l, step(l, WEFT_OP_ADD, input, kept, WEFT_INT32), 0, WEFT_INT16)) < 0)
		return l->err;
	const int t = looked_up(l, y[1], fixed16_tanh, 4);
	y[0] = t < 0 ? t : narrowed(l, divided(l, product(l, o, t), 8), 0, WEFT_INT8);
	return y[0] < 0 ? y[0] : 0;
}

/* ---- the operator ---- */

/*
 * Sets *x to operand k, h or c, of s->batch by s->cells numbers of type t when the operator runs: a variable, whose bytes
 * are `first` at first and which *id becomes, if the file marks it as one, else a value. Returns 0, -EINVAL for another
 * type or shape, or another negative errno.
 */
static int state(struct tfl_lower *l, const struct cell *s, int k, weft_dtype t, int first, int *x, int *id)
{
	const weft_tensor want = { .dtype = t, .rank = 2, .dim = { s->batch, s->cells, 1, 1, 1, 1, 1, 1 } };
	const int i = tfl_operand(l, k);

	*id = -1;
	if (i < 0)
		return i;
	*x = tfl_file_tensor(l, i)->is_variable ? tfl_find_state(l, k, &want, first, id) : tfl_value(l, k);
	if (*x < 0)
		return *x;
	const weft_tensor *have = &l->g->tensors[*x].t;
	if (have->dtype != t || have->rank != 2 || have->dim[0] != s->batch || have->dim[1] != s->cells)
		return tfl_fail(l, -EINVAL, "operand %d is no %s of %lld x %lld", k, weft_dtype_name(t), (long long)s->batch, (long long)s->cells);
	return 0;
}

/* Fills in *s from the operator at hand. Returns 0, -EINVAL if shapes or types do not fit each other, or another negative errno. */
static int operands(struct tfl_lower *l, struct cell *s)
{
	weft_tensor w;
	int i, err;

	if (l->op->in.n != OPERANDS || l->op->out.n != RESULTS)
		return tfl_fail(l, -EINVAL, "%u operands and %u results of a basic LSTM, not %d and %d", (unsigned)l->op->in.n,
		                (unsigned)l->op->out.n, OPERANDS, RESULTS);
	if ((s->x = tfl_value(l, X)) < 0 || (i = tfl_operand(l, W)) < 0 || (err = tfl_shape(l, i, &w)))
		return l->err;
	const weft_tensor x = l->g->tensors[s->x].t;
	const bool real = x.dtype == WEFT_FP32;
	if (x.rank != 2 || w.rank != 2 || w.dim[0] % GATES || w.dim[1] != x.dim[1] + w.dim[0] / GATES || w.dtype != x.dtype ||
	    (!real && (tfl_file_tensor(l, tfl_operand(l, X))->type != TFL_UINT8 || tfl_file_tensor(l, i)->type != TFL_UINT8)))
		return tfl_fail(l, -EINVAL, "%s of rank %d by weights of rank %d, %lldx%lld: float32 or uint8 of rank 2, 4U x I+U, wanted",
		                weft_dtype_name(x.dtype), x.rank, w.rank, (long long)w.dim[0], (long long)w.dim[1]);
	s->batch = x.dim[0];
	s->cells = w.dim[0] / GATES;
	s->depth = w.dim[1];
	if ((err = state(l, s, H, x.dtype, real ? 0 : 0x80, &s->h, &s->id_h)))
		return err;
	return state(l, s, C, real ? WEFT_FP32 : WEFT_INT16, 0, &s->c, &s->id_c);
}

/* Says whether file tensor i is an output of the network or an operand of one of its operators. */
static bool is_read(const struct tfl_lower *l, int i)
{
	for (int k = 0; k < l->m->n_ops; k++)
		for (uint32_t j = 0; j < l->m->ops[k].in.n; j++)
			if (fb_i32_at(&l->m->b, &l->m->ops[k].in, j) == i)
				return true;
	return l->is_output[i];
}

int tfl_lower_lstm_cell(struct tfl_lower *l)
{
	weft_attr join = { .axis = { .axis = 1 } };
	int y[RESULTS], own = -1, err;
	struct cell s = { 0 };

	if ((err = operands(l, &s)))
		return err;
	const weft_dtype t = l->g->tensors[s.x].t.dtype;
	y[2] = tfl_step(l, WEFT_OP_CONCAT, &join, (int[]){ s.x, s.h }, 2, t, 2, (int64_t[]){ s.batch, s.depth }, false);
	if (y[2] < 0 || (err = t == WEFT_FP32 ? in_float(l, &s, y[2], y) : in_integers(l, &s, y[2], y)))
		return y[2] < 0 ? y[2] : err;
	if ((err = tfl_keep_state(l, s.id_h, y[0])) || (err = tfl_keep_state(l, s.id_c, y[1])))
		return err;
	/* The concatenated operands and the sums are scratch memory to most files, of any shape. */
	for (int k = 0; k < RESULTS; k++) {
		const int i = fb_i32_at(&l->m->b, &l->op->out, (uint32_t)k);
		if (k && (i < 0 || i >= l->m->n_tensors || !is_read(l, i)))
			continue;
		if (k && (err = tfl_result(l, k)))
			return err;
		const int z = tfl_node_own(l, y[k]);
		if (z < 0)
			return z;
		own = k ? own : z;
	}
	return own;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and LayerNormalization between DequantizeLinear and QuantizeLinear in integers, if
 * --requant rescale is set: results are within one step of the exact ones.
 *
 * Softmax of 8 bits is TensorFlow Lite's of int8, whose results in units of 2^-16 are rescaled, where
 * a step of the result is at least 16 such units. Of finer results and of int16, Softmax is in
 * onnx_wide_codes.c, and so is LayerNormalization of int16.
 *
 * LayerNormalization of 8 bits, of a row of n codes q, whose zero point and scale cancel but for
 * epsilon:
 *
 *   m = round(sum of q / n), e = q - m, |e| <= 255
 *   s = sum of e, |s| <= n                 what m's rounding has left
 *   w = (sum of e^2 - s^2 / n + n epsilon / scale^2) * 2^b      n times the variance
 *   r = 1 / sqrt(w), by a table, w moved up by an even count first
 *   y = (n e - s) * r * gamma + beta
 *
 * Every step keeps at least 14 bits behind the highest one that matters.
 */
#include <errno.h>
#include <math.h>

#include "onnx_fixed_point.h"
#include "onnx_integer.h"

#define MOST_ROW  4096         /* elements of a row: sums and products stay below 2^31 */
#define BELOW     (1 << 30)    /* limit of the magnitude of constants */
#define COARSE    0x1p-12      /* 16 units of TFL_SOFTMAX's results */

/*
 * Emits int32 or int8 x (zero point 0) rescaled to type `to` by the nearest factor to real, ties
 * rounded up, with y_zp added. `most` is about the greatest magnitude of x. Returns the graph
 * tensor, -ENOTSUP if real is not above 0 or real * most is 2^30 or more, or another negative
 * errno; a negative x is returned as it is.
 */
int ox_rescaled(struct ox *l, int x, weft_dtype to, double real, double most, int32_t y_zp)
{
	struct ox_factor f;

	if (!ox_nearest(real, most, &f))
		return ox_fail(l, -ENOTSUP, "scale %g has no RESCALE", real);
	return ox_rescale(l, x, to, f, 0, y_zp);
}

/*
 * Emits op of int32 x and the number v, an int32 constant. Returns the graph tensor, or a negative
 * errno; a negative x is returned as it is.
 */
int ox_with(struct ox *l, weft_opcode op, int x, double v)
{
	int c = x < 0 ? x : ox_ramp(l, WEFT_INT32, ox_t(l, x)->rank, v);

	return c < 0 ? c : ox_binary(l, op, x, c);
}

/*
 * Emits int32 x / 2^n, rounded half up. Returns the graph tensor, or a negative errno; a negative x
 * is returned as it is.
 */
int ox_right(struct ox *l, int x, int n)
{
	weft_attr a = { .shift = { .round = true } };
	int c = x < 0 ? x : ox_ramp(l, WEFT_INT32, ox_t(l, x)->rank, n);

	return c < 0 ? c : ox_op(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &a, (int[]){ x, c }, 2, WEFT_INT32, ox_t(l, x)->rank, ox_t(l, x)->dim);
}

/*
 * Emits int32 x / 2^n for each element; n has x's dimensions, or 1 in their place. The quotient is rounded half up if
 * `round` is set, else down. Returns the graph tensor, or a negative errno; a negative operand is returned as it is.
 */
int ox_right_by(struct ox *l, int x, int n, bool round)
{
	const weft_attr a = { .shift = { .round = round } };

	if (x < 0 || n < 0)
		return x < 0 ? x : n;
	return ox_op(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &a, (int[]){ x, n }, 2, WEFT_INT32, ox_t(l, x)->rank, ox_t(l, x)->dim);
}

/*
 * Emits the sums of int32 x along its last dimension, which stays with length 1. Returns the graph tensor, or a negative
 * errno; a negative x is returned as it is.
 */
int ox_row_sums(struct ox *l, int x)
{
	return x < 0 ? x : ox_reduce(l, WEFT_OP_REDUCE_SUM, x, ox_t(l, x)->rank - 1);
}

/*
 * Emits a * b / 2^shift of int32, rounded half up; both have one rank and are broadcast.
 * Returns the graph tensor, or a negative errno; a negative operand is returned as it is.
 */
int ox_product(struct ox *l, int a, int b, int shift)
{
	weft_attr m = { .mul = { .shift = (int8_t)shift } };
	int64_t dim[WEFT_MAX_RANK];

	if (a < 0 || b < 0)
		return a < 0 ? a : b;
	const int rank = ox_broadcast(l, (int[]){ a, b }, 2, dim);
	return rank < 0 ? rank : ox_op(l, WEFT_OP_MUL, &m, (int[]){ a, b }, 2, WEFT_INT32, rank, dim);
}

/*
 * Emits x as int32 by a RESCALE with factor 1. Returns the graph tensor, or a negative errno; a
 * negative x is returned as it is.
 */
int ox_wide(struct ox *l, int x)
{
	return x < 0 ? x : ox_rescale(l, x, WEFT_INT32, (struct ox_factor){ 1 << 30, 30 }, 0, 0);
}

/*
 * Says whether codes of x, in rows of so many elements, can be worked on row by row to give codes with q: --requant rescale
 * is set, both have 8 bits or both 16, and a row has at most MOST_ROW (4096) elements.
 */
static bool takes_rows(const struct ox *l, const struct ox_side *x, int64_t row, const struct ox_q *q)
{
	return l->o.requant == WEFT_ONNX_REQUANT_RESCALE && row <= MOST_ROW && ox_is_16_bit(x->v) == ox_is_16_bit(q->zp);
}

/*
 * Makes codes, quantised with q, of the Softmax over `axis` (negative: counted from the end) of the values of codes x; they are
 * within one step of the exact ones. Of 8 bits with a scale of COARSE or more they are made by TFL_SOFTMAX and a RESCALE, else by
 * ox_softmax_rows(), which has more bits and takes more cycles. Returns 1 with *y set to codes in their signed
 * form, that axis last; 0 if x has no such axis or takes_rows() does not take its rows; or a negative errno.
 */
int ox_softmax_codes(struct ox *l, const struct ox_side *x, int64_t axis, const struct ox_q *q, struct ox_coded *y)
{
	const weft_tensor *t = &x->v->t;
	const weft_attr a = { .tfl_softmax = { .beta = 1, .x_scale = (float)x->q.s } };

	axis += axis < 0 ? t->rank : 0;
	if (axis < 0 || axis >= t->rank || !takes_rows(l, x, t->dim[axis], q))
		return 0;
	ox_file_order(y->perm);
	for (int i = (int)axis; i < t->rank; i++)
		y->perm[i] = (int8_t)(i + 1 < t->rank ? i + 1 : axis);
	int c = ox_side_in(l, x->v, y->perm);
	if (ox_is_16_bit(x->v) || q->s < COARSE)
		return ox_coded_as(y, ox_softmax_rows(l, c, x->q.s, q));
	if (c < 0)
		return c;
	int p = ox_op(l, WEFT_OP_TFL_SOFTMAX, &a, &c, 1, WEFT_INT16, ox_t(l, c)->rank, ox_t(l, c)->dim);
	p = ox_with(l, WEFT_OP_ADD, ox_wide(l, p), 32768);
	return ox_coded_as(y, p < 0 ? p : ox_rescaled(l, p, WEFT_INT8, 1 / (65536 * q->s), 65536, ox_q_zp(q)));
}

/*
 * Says whether Softmax over `axis` (negative: counted from the end) of an operator of this opset, of values with the shape of t, is
 * over that axis alone: before opset 13 it is over all from that axis on.
 */
bool ox_softmax_of_one_axis(int64_t opset, int64_t axis, const weft_tensor *t)
{
	return opset >= 13 || axis == -1 || axis == t->rank - 1;
}

/*
 * Computes Softmax n (its axis is 1 by default before opset 13, else -1) between a DequantizeLinear
 * and a QuantizeLinear with parameters q as ox_softmax_codes() does. Returns what that returns, and 0 if operand 0 was not
 * dequantised with one constant scale and zero point, or ox_softmax_of_one_axis() does not hold.
 */
int ox_fold_softmax(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	const int64_t axis = ox_attr_of(n, "axis", l->opset < 13 ? 1 : -1);
	struct ox_value *v = ox_operand(l, n, 0);
	struct ox_side x;

	return v && ox_side_of(l, v, &x) && ox_softmax_of_one_axis(l->opset, axis, &x.v->t) ? ox_softmax_codes(l, &x, axis, q, y) : 0;
}

/*
 * Adds the int16 constant of 513 entries by which TABLE gives 1 / sqrt(t) for t from 2^14 to 2^16:
 * entry i, for t = 128 i, is OX_ROOT_TOP * sqrt(2^14 / t), and OX_ROOT_TOP for i below 128. TABLE's
 * operand is t - 2^15; it interpolates between entries. Returns the graph tensor, or a negative
 * errno.
 */
int ox_root_table(struct ox *l)
{
	static const int64_t entries = 513;
	int16_t *t = ox_alloc(l, entries, sizeof *t);

	for (int i = 0; t && i < entries; i++)
		t[i] = (int16_t)(i < 128 ? OX_ROOT_TOP : lround(OX_ROOT_TOP * sqrt(128.0 / i)));
	return t ? ox_data(l, WEFT_INT16, 1, &entries, t) : l->err;
}

/*
 * Emits TABLE of int32 x, from -32768 to 32767, by an int16 constant of 513 entries: int32 of 128 times the entry. Returns the
 * graph tensor, or a negative errno; a negative operand is returned as it is.
 */
int ox_looked_up(struct ox *l, int x, int table)
{
	if (x < 0 || table < 0)
		return x < 0 ? x : table;
	int at = ox_rescale(l, x, WEFT_INT16, (struct ox_factor){ 1 << 30, 30 }, 0, 0);
	return at < 0 ? at : ox_op(l, WEFT_OP_TABLE, NULL, (int[]){ at, table }, 2, WEFT_INT32, ox_t(l, at)->rank, ox_t(l, at)->dim);
}

/* Returns v rounded to nearest (ties to even) and limited to +-BELOW (2^30); 0 for NaN. */
static int32_t rounded(double v)
{
	const double r = rint(v);

	return (int32_t)(r > BELOW ? BELOW : r < -BELOW ? -BELOW : r == r ? r : 0);
}

/*
 * Adds an int32 constant with the shape of constant float32 v: v times `by`, as rounded() says. Returns the graph tensor, or a
 * negative errno.
 */
int ox_scaled_constant(struct ox *l, struct ox_value *v, double by)
{
	const int x = ox_get(l, v, NULL);
	const weft_tensor t = x < 0 ? (weft_tensor){ 0 } : *ox_t(l, x);
	const int64_t n = weft_tensor_elements(&t);
	int32_t *p = x < 0 ? NULL : ox_alloc(l, n, sizeof *p);

	for (int64_t i = 0; p && i < n; i++)
		p[i] = rounded((double)((const float *)t.data)[i] * by);
	return p ? ox_data(l, WEFT_INT32, t.rank, t.dim, p) : l->err;
}

/*
 * Adds an int32 constant with `rank` dimensions, of which `axis` has n elements and the others 1: constant
 * float32 v (one element is repeated) times `by`, as rounded() says; all elements are 0 if v is NULL. Returns the graph
 * tensor, or a negative errno.
 */
int ox_vector(struct ox *l, struct ox_value *v, double by, int rank, int axis, int64_t n)
{
	int64_t dim[WEFT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	int x = v ? ox_get(l, v, NULL) : 0;
	int32_t *p = x < 0 ? NULL : ox_alloc(l, n, sizeof *p);

	if (!p)
		return l->err;
	const weft_tensor *t = ox_t(l, x);
	for (int64_t i = 0; i < n && v; i++)
		p[i] = rounded((double)((const float *)t->data)[weft_tensor_elements(t) == 1 ? 0 : i] * by);
	dim[axis] = n;
	return ox_data(l, WEFT_INT32, rank, dim, p);
}

/*
 * Sets *most to the largest magnitude of the constant float32 value v; NaN is passed over. Returns the number of its
 * elements, or -1, with *most undefined, if v is NULL, not constant or no float32. A node on which v waits is lowered; if that
 * fails, the result is -1 and l->err is set.
 */
int64_t ox_most_of_constant(struct ox *l, struct ox_value *v, double *most)
{
	const int x = !v || ox_settle(l, v) < 0 || !ox_is_const_value(l, v) ? -1 : ox_get(l, v, NULL);

	*most = 0;
	if (x < 0 || ox_t(l, x)->dtype != WEFT_FP32 || !ox_t(l, x)->data)
		return -1;
	const int64_t count = weft_tensor_elements(ox_t(l, x));
	for (int64_t i = 0; i < count; i++)
		*most = fmax(*most, fabs((double)((const float *)ox_t(l, x)->data)[i]));
	return count;
}

/*
 * Says whether operand k of node n is a constant float32 tensor of `elements` or one element; an
 * absent operand 2 passes, too. If so, *most is its largest magnitude (0 for an absent operand; NaN
 * is passed over); if not, *most does not count. A node on which the operand waits is lowered; if
 * that fails, the answer is false and l->err is set.
 */
static bool is_vector(struct ox *l, const onnx_node *n, size_t k, int64_t elements, double *most)
{
	struct ox_value *v = ox_operand(l, n, k);

	*most = 0;
	if (!v)
		return k == 2;
	const int64_t count = ox_most_of_constant(l, v, most);
	return count == 1 || count == elements;
}

/* What normalised_codes() works with. */
struct row {
	int64_t n;
	int bits;                  /* b: w is the sum times 2^b */
	int drop;                  /* bits that n e - s times r loses, so that 31 are left */
	double unit;               /* what 1 in a result of normalised_codes() stands for */
	double epsilon;            /* n epsilon / scale^2 */
};

/*
 * Emits the normalised codes of each row of int32 codes q along the last dimension: a code less the
 * row's mean, divided by the root of the row's variance plus epsilon, as w has it. Results are
 * int32 numbers that count steps of w->unit and stand for at most sqrt(n) in magnitude; the file's
 * head gives the steps of the computation. Returns the graph tensor, or a negative errno (-ENOTSUP
 * if 1 / n has no RESCALE); a negative q gives l->err.
 */
static int normalised_codes(struct ox *l, int q, const struct row *w)
{
	const int last = q < 0 ? 0 : ox_t(l, q)->rank - 1;
	int mean = ox_rescaled(l, ox_reduce(l, WEFT_OP_REDUCE_SUM, q, last), WEFT_INT32, 1 / (double)w->n, 128.0 * (double)w->n, 0);
	int e = q < 0 || mean < 0 ? -1 : ox_binary(l, WEFT_OP_SUB, q, mean);
	if (e < 0)
		return l->err;
	int s = ox_reduce(l, WEFT_OP_REDUCE_SUM, e, last), squares = ox_reduce(l, WEFT_OP_REDUCE_SUM, ox_product(l, e, e, 0), last);
	int rest = ox_rescaled(l, ox_product(l, s, s, 0), WEFT_INT32, ldexp(1 / (double)w->n, w->bits), (double)w->n * (double)w->n, 0);
	int sum = ox_binary(l, WEFT_OP_SUB, ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, squares, w->bits), rest);
	sum = ox_with(l, WEFT_OP_MAXIMUM, ox_with(l, WEFT_OP_ADD, sum, rint(ldexp(w->epsilon, w->bits))), 1);
	/* Up by an even count, so that it lies from 2^29 to 2^31. */
	int zeros = sum < 0 ? sum : ox_unary(l, WEFT_OP_CLZ, sum);
	int up = ox_with(l, WEFT_OP_BITWISE_AND, ox_with(l, WEFT_OP_SUB, zeros, 1), 30);
	int high = sum < 0 || up < 0 ? -1 : ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, sum, up);
	if (high < 0)
		return l->err;
	int at = ox_with(l, WEFT_OP_SUB, ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, high, 15), 32768);
	int r = ox_looked_up(l, at, at < 0 ? at : ox_root_table(l));
	int d = r < 0 ? r : ox_binary(l, WEFT_OP_SUB, ox_with(l, WEFT_OP_MUL, e, (double)w->n), s);
	int y = ox_product(l, d, r, w->drop), half = ox_right(l, up, 1);
	return ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, y, half);
}

/*
 * Returns the numbers with which normalised_codes() works on rows of n codes (struct row): n,
 * epsilon, the bits by which sums of squares are shifted up so that they use 30 bits, the
 * bits that the last product drops so that its results stay below 2^30, and the unit of the
 * results. The caller has multiplied epsilon by n and divided it by the square of the codes' scale; it is below 2^30.
 */
static struct row row_of(int64_t n, double epsilon)
{
	struct row w = { .n = n, .epsilon = epsilon };

	/* The sum of squares is at most 255^2 n. */
	w.bits = 30 - (int)ceil(log2(65025.0 * (double)n + w.epsilon + 1));
	w.bits = w.bits < 0 ? 0 : w.bits;
	/* r is OX_ROOT_TOP 2^7 sqrt(2^14 / t), t = w 2^(b + up - 15); d / sqrt(n w) has the variance 1. */
	w.unit = ldexp(1 / (OX_ROOT_TOP * sqrt((double)n)), -7 - 7) * sqrt(ldexp(1, w.bits - 15));
	for (; sqrt((double)n) / w.unit >= 0x1p30 && w.drop < 30; w.drop++)
		w.unit *= 2;
	return w;
}

/*
 * Emits node n of dequantised x, which normalises rows as `rows` says, quantised with q, with operands 1 (gamma) and 2
 * (beta, may be absent), which is_vector() has accepted; `epsilon` is the node's times a row's length / x's scale^2,
 * and `most` gamma's largest magnitude. Returns the int8 tensor (128 less for uint8) in the dimensions of rows->scaled,
 * -ENOTSUP if the fixed-point formats do not fit the ratio of `most` to q's scale, or another negative errno.
 */
static int norm_rows(struct ox *l, const onnx_node *n, const struct ox_side *x, const struct ox_rows *rows, const struct ox_q *q, double epsilon,
                     double most)
{
	const struct row w = row_of(rows->n, epsilon);
	int c = ox_reshape(l, ox_side_in(l, x->v, NULL), rows->rank, rows->dim), log_root = 0, log_gamma;

	int y = normalised_codes(l, ox_wide(l, c), &w);
	/* y in 2^-f, |y| <= sqrt(n), in 16 bits; gamma / scale in 2^-h, in 15. */
	while (ldexp(1, 2 * log_root) < (double)w.n)
		log_root++;
	const int f = 15 - log_root;
	frexp(most / q->s, &log_gamma);
	const int h = 14 - log_gamma;
	if (y < 0 || f + h < 2 || f + h > 60 || h < -30)
		return y < 0 ? y : ox_fail(l, -ENOTSUP, "scale %g of %g", q->s, most);
	y = ox_rescaled(l, y, WEFT_INT32, ldexp(w.unit, f), sqrt((double)w.n) / w.unit, 0);
	y = ox_reshape(l, y, rows->rank, rows->scaled);
	int gamma = ox_vector(l, ox_operand(l, n, 1), ldexp(1 / q->s, h), rows->rank, rows->axis, rows->scaled[rows->axis]);
	int beta = ox_vector(l, ox_operand(l, n, 2), ldexp(1 / q->s, f + h), rows->rank, rows->axis, rows->scaled[rows->axis]);
	y = ox_product(l, y, gamma, 0);
	y = ox_binary(l, WEFT_OP_ADD, y, beta);
	return y < 0 ? y : ox_rescaled(l, y, WEFT_INT8, ldexp(1, -f - h), 0x1p31, ox_q_zp(q));
}

/*
 * Sets *r to the rows of values with the shape of t that node n normalises. Returns false if there are none: t has no such axis,
 * InstanceNormalization or GroupNormalization has a rank below 3, and GroupNormalization is of an opset below 21 or its groups
 * do not divide the channels.
 */
static bool rows_of(const struct ox *l, const onnx_node *n, const weft_tensor *t, struct ox_rows *r)
{
	const bool images = !ox_node_is(n, "LayerNormalization");
	const int64_t groups = ox_attr_of(n, "num_groups", 0), given = ox_attr_of(n, "axis", -1), axis = images ? 2 : given < 0 ? given + t->rank : given;
	int64_t lead = 1;

	if (axis < 0 || axis >= t->rank)
		return false;
	*r = (struct ox_rows){ .n = 1, .rank = t->rank, .axis = t->rank - 1 };
	for (int i = 0; i < t->rank; i++) {
		r->dim[i] = r->scaled[i] = t->dim[i];
		*(i < axis ? &lead : &r->n) *= t->dim[i];
	}
	if (!images && axis == t->rank - 1)
		return true;
	r->rank = images ? 3 : 2;
	r->axis = 1;
	r->dim[0] = r->scaled[0] = images ? t->dim[0] : lead;
	r->dim[1] = r->scaled[1] = images ? t->dim[1] : r->n;
	r->dim[2] = r->scaled[2] = r->n;
	if (!ox_node_is(n, "GroupNormalization"))
		return true;
	if (l->opset < 21 || groups < 1 || t->dim[1] % groups)
		return false;
	r->n *= t->dim[1] / groups;
	r->dim[1] = groups;
	r->dim[2] = r->n;
	return true;
}

/*
 * Computes node n, a LayerNormalization (axis -1 by default), InstanceNormalization or GroupNormalization between a
 * DequantizeLinear and a QuantizeLinear with parameters q, in integers; codes are within one step of the exact ones.
 * Returns 1 with *y set to codes in their signed form in the file's order of dimensions; a negative errno; or 0 if
 *
 * - --requant rescale is not set, a row has more than MOST_ROW elements, or the codes on the two sides are neither
 *   both of 8 bits nor both of 16 bits with one scale each
 * - gamma or beta is neither a constant float32 vector of the length that the node asks for nor one element
 * - gamma is 0 everywhere or has an infinity, or an element of beta is 1000 or more steps of the result (2^17 or
 *   more of 16 bits)
 * - the row's length times epsilon (1e-5 by default) is negative, or 2^30 or more squares of a step of x (2^44 or
 *   more of 16 bits)
 */
int ox_fold_norm(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_value *v = ox_operand(l, n, 0);
	struct ox_between from, to;
	struct ox_rows rows;
	struct ox_side x;
	struct ox_q out = *q;
	double gamma, beta;

	if (!v || !ox_side_of(l, v, &x) || !rows_of(l, n, &x.v->t, &rows) || !takes_rows(l, &x, rows.n, q)) {
		const int done = ox_between(l, v, q, &from);
		if (done <= 0)
			return done;
		x = from.side;
		if (!ox_finer(l, q, &to, &out))
			return l->err;
		if (!rows_of(l, n, &x.v->t, &rows) || !takes_rows(l, &x, rows.n, &out))
			return 0;
	}
	const onnx_attribute *e = ox_node_attr(n, "epsilon");
	const double epsilon = (double)rows.n * (e && e->has_f ? (double)e->f : 1e-5) / (x.q.s * x.q.s);
	const bool wide = ox_is_16_bit(x.v);
	const int64_t length = rows.scaled[rows.axis];
	if (!is_vector(l, n, 1, length, &gamma) || !is_vector(l, n, 2, length, &beta) || !(gamma > 0 && isfinite(gamma)) ||
	    !(beta / out.s < (wide ? 0x1p17 : 1000)) || !(epsilon >= 0 && epsilon < (wide ? 0x1p44 : 0x1p30)))
		return 0;
	ox_file_order(y->perm);
	const int z = wide ? ox_norm_rows_wide(l, n, &x, &rows, &out, epsilon, gamma, beta) : norm_rows(l, n, &x, &rows, q, epsilon, gamma);
	return ox_coded_as(y, ox_reshape(l, z < 0 || !wide ? z : ox_from_finer(l, z, q), x.v->t.rank, x.v->t.dim));
}

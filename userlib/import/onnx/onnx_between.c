/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float values that several operators between a DequantizeLinear and a QuantizeLinear hand on, as integers,
 * with --requant rescale.
 *
 * Such a value has no codes in the file. It becomes int16 codes with a zero point of 0 here, whose scale
 * follows from the greatest magnitude that the value can have: a code of 8 bits has at most 255 steps, a
 * normalised row of n elements at most sqrt(n) times gamma plus beta, an average no more than what it is made
 * of. That rounds to a step of 2^-15 of this magnitude, so it is only done where the result in the end has 8
 * bits.
 *
 * A function of codes whose elements are summed has 30 bits instead, in two parts of 15 bits each, since a
 * mean may be small beside the greatest element: from tables of the values of all codes of 8 bits, or as the
 * product of int16 codes if the function is their square.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_fixed_point.h"
#include "onnx_integer.h"

#define FINER 64               /* codes of int16 for one of 8 bits: those for 255 steps either way fit int16 */
#define TOP   32767.0          /* the greatest code of int16 */
#define CODES 65536
#define MOST_OPERANDS 3        /* of functions of a value that waits: each may stand for as many nodes again */

const onnx_node *ox_waiting_node(const struct ox *l, const struct ox_value *v)
{
	return v->pending >= 0 && v->dq < 0 && v->carrier < 0 ? l->f.m->graph->node[v->pending] : NULL;
}

/* Returns the dequantised value of which v, a value with a carrier, is a function. */
static struct ox_value *source(const struct ox *l, struct ox_value *v)
{
	while (v->depth) {
		const onnx_node *n = l->f.m->graph->node[v->maker];
		size_t k = 0;

		while (!ox_operand(l, n, k) || ox_operand(l, n, k)->carrier < 0)
			k++;
		v = ox_operand(l, n, k);
	}
	return v;
}

/*
 * Sets *s to int16 parameters with a zero point of 0 and the nearest float32 scale to `scale`; b holds what
 * they refer to. Returns false if that is no positive finite number, or after a failure.
 */
static bool parameters(struct ox *l, double scale, struct ox_between *b, struct ox_q *s)
{
	const float f = (float)scale;
	const int x = isfinite(f) && f > 0 ? ox_ramp(l, WEFT_FP32, 0, (double)f) : -1;

	b->zero = x < 0 ? NULL : ox_zero_of(l, WEFT_INT16);
	if (!b->zero)
		return false;
	b->scale = ox_held(l, "", x);
	*s = (struct ox_q){ .scale = &b->scale, .zp = b->zero, .s = (double)f, .between = true };
	return true;
}

/*
 * Adds a constant with all codes of int16 in ascending order. Returns the graph tensor, or a negative errno.
 */
static int all_codes(struct ox *l)
{
	static const int64_t n = CODES;
	int16_t *p = ox_alloc(l, n, sizeof *p);

	for (int i = 0; p && i < CODES; i++)
		p[i] = (int16_t)(i + INT16_MIN);
	return p ? ox_data(l, WEFT_INT16, 1, &n, p) : l->err;
}

/*
 * Emits function v of codes as constant float32 for all codes of its carrier in ascending order, 256 or 65
 * 536. Returns the graph tensor; -ENOTSUP without a message if they cannot be computed; or -ENOMEM.
 */
static int evaluated(struct ox *l, struct ox_value *v)
{
	const struct ox_value *c = &l->values[v->carrier];
	const bool wide = ox_is_16_bit(c);
	const int x = ox_apply(l, v, wide ? all_codes(l) : ox_codes(l, c->t.dtype));
	const weft_tensor *f = x < 0 ? NULL : ox_t(l, x);

	if (l->no_memory)
		return -ENOMEM;
	l->err = 0;
	return f && f->data && f->dtype == WEFT_FP32 && weft_tensor_elements(f) == (wide ? CODES : 256) ? x : -ENOTSUP;
}

/*
 * Returns the constant float32 values of function v for all codes of its carrier in ascending order, 256 or
 * 65 536; -ENOTSUP without a message if one of them is not finite or they cannot be computed; or -ENOMEM.
 * *most is their greatest magnitude.
 */
static int values(struct ox *l, struct ox_value *v, double *most)
{
	const int x = evaluated(l, v);
	const weft_tensor *f = x < 0 ? NULL : ox_t(l, x);

	*most = 0;
	if (!f)
		return x;
	for (int64_t i = 0; i < weft_tensor_elements(f); i++) {
		const double m = fabs((double)((const float *)f->data)[i]);
		if (!isfinite(m))
			return -ENOTSUP;
		*most = m > *most ? m : *most;
	}
	return x;
}

/*
 * Returns a number that value v, which waits, does not exceed in magnitude; infinity if none is known. A bound
 * is known of functions of codes, and of what moves of elements, averages, sums, differences, PRelu, Softmax and
 * LayerNormalization make.
 */
static double most_of(struct ox *l, struct ox_value *v)
{
	const onnx_node *n = ox_waiting_node(l, v);
	struct ox_side s;
	double most, beta = 0;

	if (v->carrier >= 0 && ox_side_of(l, v, &s))
		return s.q.s * ox_q_farthest(&s.q);
	if (v->carrier >= 0)
		return values(l, v, &most) < 0 ? INFINITY : most;
	if (!n)
		return INFINITY;
	if (ox_node_is(n, "Softmax"))
		return 1;
	if (ox_node_is(n, "LayerNormalization")) {
		const int64_t row = ox_most_of_constant(l, ox_operand(l, n, 1), &most);
		const bool shifted = ox_operand(l, n, 2) != NULL;
		if (row < 2 || (shifted && ox_most_of_constant(l, ox_operand(l, n, 2), &beta) < 0))
			return INFINITY;
		return sqrt((double)row) * most + beta;
	}
	struct ox_value *from = ox_operand(l, n, 0), *other = ox_operand(l, n, 1);
	if (ox_node_is(n, "PRelu"))
		return from && ox_most_of_constant(l, other, &most) > 0 ? most_of(l, from) * fmax(most, 1) : INFINITY;
	if ((ox_node_is(n, "Add") || ox_node_is(n, "Sub")) && from && other)
		return most_of(l, from) + most_of(l, other);
	const bool kept = !ox_node_is(n, "Pad") && (ox_moves(n) || ox_node_is(n, "ReduceMean") || ox_node_is(n, "GlobalAveragePool"));
	return from && kept ? most_of(l, from) : INFINITY;
}

/*
 * Sets b->side to int16 codes of value v, with a zero point of 0, from which results quantised with q are
 * made: of 8-bit codes these less their zero point, exactly; int16 codes with a zero point of 0 themselves;
 * if q is of 8 bits or of this file's making, of any other value that waits the nearest codes. Returns 1, 0
 * if v has no such codes, or a negative errno.
 */
int ox_between(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_between *b)
{
	struct ox_coded c;
	struct ox_side s;
	struct ox_q own;
	int done = 1;

	if (l->o.requant != WEFT_ONNX_REQUANT_RESCALE || !v)
		return 0;
	const bool side = ox_side_of(l, v, &s);
	if (side && ox_is_16_bit(s.v)) {
		b->side = s;
		return 1;
	}
	if (side) {
		if (!parameters(l, s.q.s / FINER, b, &own))
			return l->err;
		c.tensor = ox_rescale(l, ox_side_tensor(l, s.v, c.perm), WEFT_INT16, (struct ox_factor){ 1 << 30, 24 }, ox_q_zp(&s.q), 0);
	} else {
		if (ox_is_16_bit(q->zp) && !q->between)
			return 0;
		if (!parameters(l, most_of(l, v) / TOP, b, &own))
			return l->err;
		done = ox_fold_value(l, v, &own, &c);
	}
	if (done <= 0 || c.tensor < 0)
		return done <= 0 ? done : c.tensor;
	b->codes = ox_held(l, "", c.tensor);
	memcpy(b->codes.form[0].perm, c.perm, sizeof c.perm);
	for (int k = 0; k < b->codes.t.rank; k++)
		b->codes.t.dim[c.perm[k]] = ox_t(l, c.tensor)->dim[k];
	b->side = (struct ox_side){ .v = &b->codes, .q = own };
	return 1;
}

/*
 * Sets *to to int16 parameters of which FINER steps are one of q, if q is of 8 bits, else to q. Returns false
 * after a failure.
 */
bool ox_finer(struct ox *l, const struct ox_q *q, struct ox_between *b, struct ox_q *to)
{
	*to = *q;
	return ox_is_16_bit(q->zp) || parameters(l, q->s / FINER, b, to);
}

/*
 * Emits codes y of the parameters that ox_finer() has made of q as codes of q. Returns the graph tensor, or a
 * negative errno.
 */
int ox_from_finer(struct ox *l, int y, const struct ox_q *q)
{
	return ox_is_16_bit(q->zp) ? y : ox_rescale(l, y, WEFT_INT8, (struct ox_factor){ 1 << 30, 36 }, 0, ox_q_zp(q));
}

/*
 * Adds the int16 constant of 513 entries by which TABLE gives the high or the low 15 bits of f[i], in units
 * of `unit`, for operand 128 (i - 128). Returns the graph tensor, or a negative errno.
 */
static int part(struct ox *l, int f, double unit, bool high)
{
	static const int64_t entries = 513;
	int16_t *t = ox_alloc(l, entries, sizeof *t);

	for (int i = 0; t && i < 256; i++) {
		const int32_t all = (int32_t)lround((double)((const float *)ox_t(l, f)->data)[i] / unit);
		t[i + 128] = (int16_t)(high ? all >> OX_PART : all & ((1 << OX_PART) - 1));
	}
	return t ? ox_data(l, WEFT_INT16, 1, &entries, t) : l->err;
}

/*
 * Says whether constant floats f, of all 16-bit codes, are the squares of what these stand for with q,
 * but for the rounding of floats.
 */
static bool squares(struct ox *l, int f, const struct ox_q *q)
{
	for (int i = 0; i < CODES; i++) {
		const double c = q->s * (i + INT16_MIN - ox_q_zp(q)), v = (double)((const float *)ox_t(l, f)->data)[i];
		if (!(fabs(v - c * c) <= 0x1p-20 * c * c))
			return false;
	}
	return true;
}

/* Sets *c to v if that is a constant float32 of one element. Returns whether it is. */
bool ox_number(struct ox *l, struct ox_value *v, float *c)
{
	const int x = v && ox_is_const_value(l, v) && v->t.dtype == WEFT_FP32 && weft_tensor_elements(&v->t) == 1 ? ox_get(l, v, NULL) : -1;

	if (x >= 0)
		*c = *(const float *)ox_t(l, x)->data;
	return x >= 0;
}

/* Says whether node n is the square of its operand 0. */
static bool is_square(struct ox *l, const onnx_node *n)
{
	struct ox_value *v = ox_operand(l, n, 1);
	float c;

	if (ox_node_is(n, "Mul"))
		return v && v == ox_operand(l, n, 0);
	return ox_node_is(n, "Pow") && ox_number(l, v, &c) && c == 2;
}

/*
 * Sets *p to the parts of the squares of 16-bit codes of s, in the file's order of dimensions; if int32 does not hold these
 * squares, in units of four. Returns 1 or a negative errno.
 */
static int squared(struct ox *l, const struct ox_side *s, struct ox_parts *p)
{
	const int down = (int64_t)ox_q_farthest(&s->q) * ox_q_farthest(&s->q) > INT32_MAX ? 2 : 0;
	const int x = ox_centred(l, s, NULL), all = ox_product(l, x, x, down);

	p->unit = ldexp(s->q.s * s->q.s, down);
	p->high = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, all, OX_PART);
	p->low = ox_with(l, WEFT_OP_BITWISE_AND, all, (1 << OX_PART) - 1);
	return p->high < 0 || p->low < 0 ? l->err : 1;
}

/*
 * Makes the numbers of which v is the square (ox_fine()). Returns 1 with *f set, 0 if v is no square or they have no such
 * form, or a negative errno.
 */
int ox_fine_root(struct ox *l, struct ox_value *v, struct ox_fine *f)
{
	const onnx_node *n = ox_waiting_node(l, v);

	return n && is_square(l, n) ? ox_fine(l, ox_operand(l, n, 0), f) : 0;
}

/*
 * Emits v as int32 in two parts, in the file's order of dimensions: v = (p->high * 2^15 + p->low) * p->unit,
 * where p->low is from 0 to 2^15 - 1 and p->high from -2^15 to 2^15. v is a function of 8-bit codes, and the
 * parts are then within half of p->unit of it; or it is the square of int16 codes whose zero point is 0, or of
 * a value that ox_between() gives codes for a result quantised with q, and the parts are then exact. Returns 1;
 * 0 if v is something else or has values that are not finite; or a negative errno.
 */
int ox_parts(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_parts *p)
{
	const onnx_node *n = ox_waiting_node(l, v);
	struct ox_between b;
	struct ox_side s;
	double most;

	if (v->carrier < 0) {
		const int done = n && is_square(l, n) ? ox_between(l, ox_operand(l, n, 0), q, &b) : 0;
		return done > 0 ? squared(l, &b.side, p) : done;
	}
	struct ox_value *c = &l->values[v->carrier];
	const int f = values(l, v, &most);
	if (f < 0 || !(most > 0))
		return f == -ENOMEM ? f : 0;
	if (ox_is_16_bit(c))
		return ox_side_of(l, source(l, v), &s) && squares(l, f, &s.q) ? squared(l, &s, p) : 0;
	p->unit = most * 0x1.00000008p-30;             /* the greatest is below 2^30 units */
	const int at = ox_rescale(l, ox_side_in(l, c, NULL), WEFT_INT32, (struct ox_factor){ 1 << 30, 23 }, 0, 0);
	p->high = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, ox_looked_up(l, at, part(l, f, p->unit, true)), 7);
	p->low = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, ox_looked_up(l, at, part(l, f, p->unit, false)), 7);
	return p->high < 0 || p->low < 0 ? l->err : 1;
}

/* ---- quotients ---- */

/*
 * Sets *m and *right such that x * by, for int32 x, is x * 2^15 * *m / 2^30 / 2^*right, within 2^-29 of
 * itself or half a unit; it is x * 2^15 with the sign of `by` instead where that is less, and 0 if `by` is NaN.
 */
static void mantissa(double by, int32_t *m, int32_t *right)
{
	int e = 0;
	const double f = isfinite(by) ? frexp(by, &e) : by > 0 ? 1 : by < 0 ? -1 : 0;

	*m = (int32_t)lround(ldexp(f, 30));
	*right = 15 - e;
	if (*right < 0 || isinf(by)) {
		*m = by < 0 ? -(1 << 30) : 1 << 30;
		*right = 0;
	} else if (*right > 30) {
		*m = 0;
		*right = 0;
	}
}

/* What by_function() reads for each element of the divisor: mantissa()'s numbers, and up(). */
struct reciprocals { int m, right, up; };

/*
 * Returns by how many bits numerators are shifted left before they are multiplied. Unshifted, a numerator of 1
 * makes |by| / 2^15 steps of the result. Shifted, 2^13 to 2^14 make one step, so that rounding twice gives what
 * rounding once would, and 2^30, to which numerators are limited, makes at least 2^16 steps. Returns 0 in three
 * cases: a numerator of 1 makes less than 2^-13 steps; `by` is NaN; or numerators are multiples of `least`, and
 * that is at least the number of codes, so that the least of them is out of range if 1 makes a step or more.
 */
static int up(double by, double least, double codes)
{
	const double steps = fabs(by) * 0x1p-15;

	return steps >= 0x1p-13 && least < codes ? 14 + ilogb(steps < 0x1p16 ? steps : 0x1.8p15) : 0;
}

/*
 * Emits the numbers of struct reciprocals for each element of the carrier of v, a function of codes. GATHER
 * reads them from tables; they are int32 with the carrier's shape and leading dimensions of 1 up to rank. x->up
 * is -1 if it would be 0 everywhere.
 *
 * A numerator of 1 makes by / v / 2^15 steps of the result, which has `codes` codes, and numerators are multiples
 * of `least`. A numerator that is not exact makes a quotient wrong by up to `error` / v steps.
 *
 * Returns 0 with *x set; -ENOTSUP without a message if v cannot be computed, or if a quotient may be wrong by more
 * than 1/8 step; or another negative errno.
 */
static int reciprocals(struct ox *l, struct ox_value *v, double by, double error, double least, double codes, int rank, struct reciprocals *x)
{
	struct ox_value *c = &l->values[v->carrier];
	const int64_t n = ox_is_16_bit(c) ? CODES : 256, count = weft_tensor_elements(&c->t);
	const int f = evaluated(l, v);
	const float *values = f < 0 ? NULL : ox_t(l, f)->data;
	int *of[] = { &x->m, &x->right, &x->up }, tables = 2, err = 0;
	int32_t *t[3] = { 0 };

	if (f < 0)
		return f;
	for (int64_t i = 0; i < n; i++) {
		if (error / fabs((double)values[i]) > 0.125)
			return -ENOTSUP;
		tables = up(by / (double)values[i], least, codes) ? 3 : tables;
	}
	for (int k = 0; k < tables; k++)
		if (!(t[k] = ox_alloc(l, n, sizeof **t))) {
			free(t[0]);
			free(t[1]);
			return l->err;
		}
	values = ox_t(l, f)->data;
	for (int64_t i = 0; i < n; i++) {
		double each = by / (double)values[i];
		const int bits = up(each, least, codes);
		if (bits) {
			each = fmax(fmin(ldexp(each, -bits), 4), -4);
			t[2][i] = bits;
		}
		mantissa(each, &t[0][i], &t[1][i]);
	}
	int at = ox_with(l, WEFT_OP_ADD, ox_wide(l, ox_side_in(l, c, NULL)), (double)n / 2);
	at = ox_reshape(l, at, 1, &count);
	x->up = -1;
	for (int k = 0; k < tables; k++) {
		const int table = ox_data(l, WEFT_INT32, 2, (int64_t[]){ n, 1 }, t[k]);
		*of[k] = ox_to_rank(l, ox_reshape(l, ox_rows(l, table, n, 1, at, count), c->t.rank, c->t.dim), rank);
		err = *of[k] < 0 ? *of[k] : err;
	}
	return err;
}

/*
 * Makes the numerator a of a quotient that is quantised with q in the end: the numbers that ox_fine() makes, or if
 * it has none, the int16 codes that ox_between() makes. Returns 1 with *f set, 0 if both make none, or a negative
 * errno.
 */
static int numerator(struct ox *l, struct ox_value *a, const struct ox_q *q, struct ox_fine *f)
{
	struct ox_between from;
	int done = ox_fine(l, a, f);

	if (done || (done = ox_between(l, a, q, &from)) <= 0)
		return done;
	*f = (struct ox_fine){ .tensor = ox_wide(l, ox_side_in(l, from.side.v, NULL)), .unit = from.side.q.s, .most = 32768 };
	return f->tensor < 0 ? f->tensor : 1;
}

/*
 * Emits f / b in steps of q, where b is a function of codes: f, widened, is multiplied by the reciprocal of b,
 * which has 30 bits and a shift of its own for each value of b. Where one unit of f makes more than a step, f is
 * limited and shifted left first (up()). Returns the graph tensor; -ENOTSUP without a message if b cannot be
 * computed, or if f is not exact and its 30 bits are too few for the least value of b; or another negative errno.
 */
static int by_function(struct ox *l, struct ox_fine f, struct ox_value *b, const struct ox_q *q)
{
	const double scale = q->s, unit = f.unit, error = f.exact || f.most < 0x1p29 ? 0 : f.unit / scale;
	struct reciprocals r;
	int done = ox_fine_widen(l, &f), x = f.tensor;

	if (done > 0)
		done = reciprocals(l, b, ldexp(f.unit / scale, OX_PART), error, unit / f.unit, ox_q_codes(q), ox_t(l, x)->rank, &r);
	if (done < 0)
		return done;
	if (r.up >= 0) {
		const int top = ox_binary(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, ox_ramp(l, WEFT_INT32, ox_t(l, r.up)->rank, 1 << 30), r.up);
		const int bottom = ox_unary(l, WEFT_OP_NEGATE, top);
		x = ox_binary(l, WEFT_OP_MAXIMUM, ox_binary(l, WEFT_OP_MINIMUM, x, top), bottom);
		x = ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, x, r.up);
	}
	return ox_right_by(l, ox_product(l, x, r.m, 30), r.right, true);
}

/*
 * Makes the codes, quantised with q, of a / b. The shape of b has to broadcast to that of a, and b has to be a
 * function of codes, or both have to have exact numbers (ox_fine()). Returns 1 with *y set, in the file's order of
 * dimensions; 0 if a has neither codes nor numbers, b is something else or cannot be computed, or its shape does
 * not broadcast; or a negative errno.
 */
static int quotient(struct ox *l, struct ox_value *a, struct ox_value *b, const struct ox_q *q, struct ox_coded *y)
{
	const bool known = b->carrier >= 0;
	struct ox_fine f, g;
	int done = numerator(l, a, q, &f), z;

	if (done <= 0 || (!known && (done = ox_fine(l, b, &g)) <= 0))
		return done;
	const weft_tensor t = known ? l->values[b->carrier].t : *ox_t(l, g.tensor);
	const int rank = ox_t(l, f.tensor)->rank, more = rank - t.rank;
	for (int i = 0; i < t.rank; i++)
		if (more < 0 || (t.dim[i] != 1 && t.dim[i] != ox_t(l, f.tensor)->dim[more + i]))
			return 0;
	if (known) {
		z = by_function(l, f, b, q);
	} else {
		g.tensor = ox_to_rank(l, g.tensor, rank);
		z = g.tensor < 0 ? g.tensor : ox_fine_quotient(l, &f, &g, q->s);
	}
	if (z <= 0)
		return z == -ENOTSUP && !l->err ? 0 : z;
	ox_file_order(y->perm);
	return ox_coded_as(y, ox_rescale(l, z, ox_signed(q->zp->t.dtype), (struct ox_factor){ 1 << 30, 30 }, 0, ox_q_zp(q)));
}

/* ---- functions ---- */

/* Says whether v is a constant of one element and at most one dimension. */
static bool is_number(const struct ox *l, const struct ox_value *v)
{
	return ox_is_const_value(l, v) && v->t.rank <= 1 && weft_tensor_elements(&v->t) == 1;
}

/*
 * Returns the node that makes v if that waits, is computed element by element and has at most MOST_OPERANDS
 * (3) operands, else NULL.
 */
static const onnx_node *function_that_makes(const struct ox *l, const struct ox_value *v)
{
	const onnx_node *n = ox_waiting_node(l, v);

	return n && ox_is_function(n) && n->n_input <= MOST_OPERANDS ? n : NULL;
}

/*
 * Returns the value of which node n is a function, element by element: all its operands, MOST_OPERANDS (3) at
 * most, are that value, functions of it that wait, or constants of one element and at most one dimension.
 * Returns NULL if there is none.
 */
struct ox_value *ox_function_of(const struct ox *l, const onnx_node *n)
{
	struct ox_value *of = NULL;

	for (size_t k = 0; k < n->n_input; k++) {
		struct ox_value *v = ox_operand(l, n, k);

		if (!v || is_number(l, v))
			continue;
		const onnx_node *inner = function_that_makes(l, v);
		struct ox_value *by = inner ? ox_function_of(l, inner) : v;
		v = by ? by : v;
		if (of && v != of)
			return NULL;
		of = v;
	}
	return ox_is_function(n) && n->n_input <= MOST_OPERANDS ? of : NULL;
}

/*
 * Emits, as float32, value v, a function of `of` as ox_function_of() says, or that itself, computed from
 * tensor x in the place of `of`. Returns the graph tensor, or a negative errno.
 */
static int computed(struct ox *l, struct ox_value *v, const struct ox_value *of, int x)
{
	const onnx_node *n = ox_waiting_node(l, v);
	int in[MOST_OPERANDS];

	if (v == of)
		return x;
	for (size_t k = 0; k < n->n_input; k++) {
		struct ox_value *u = ox_operand(l, n, k);
		const bool number = !u || is_number(l, u);

		in[k] = number ? -1 : computed(l, u, of, x);
		if (!number && in[k] < 0)
			return in[k];
	}
	return ox_apply_node(l, v->maker, v, in);
}

/*
 * Says whether v, a function of `of`, whose codes have parameters p, has codes of q that differ by at most
 * one step from each code of `of` to the next; only then is it within one step of the exact value although
 * `of` was rounded.
 */
static bool is_smooth(struct ox *l, struct ox_value *v, const struct ox_value *of, const struct ox_q *p, const struct ox_q *q)
{
	const int x = ox_dequantised(l, all_codes(l), p), f = x < 0 ? x : computed(l, v, of, x);
	int32_t *c = f < 0 ? NULL : ox_alloc(l, CODES, sizeof *c);
	bool smooth = c && ox_quantised(l, f, q, c, CODES);

	for (int i = 1; i < CODES && smooth; i++)
		smooth = c[i] - c[i - 1] <= 1 && c[i - 1] - c[i] <= 1;
	if (c)
		l->room += CODES * (int64_t)sizeof *c;
	free(c);
	return smooth;
}

/*
 * Makes the codes, quantised with q, of node n, a function of value `of` that waits: of its codes
 * (ox_between()), in floats between them, of which the compiler makes a table. Returns 1 with *y set, 0 if
 * that cannot be done or is_smooth() does not hold, or a negative errno.
 */
static int function(struct ox *l, const onnx_node *n, struct ox_value *of, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_value *v = &l->values[ox_value_find(l, n->output[0])];
	struct ox_between b;
	const int done = ox_between(l, of, q, &b);

	if (done <= 0)
		return done;
	if (!is_smooth(l, v, of, &b.side.q, q)) {
		l->err = 0;
		return 0;
	}
	const int x = ox_dequantised(l, ox_side_tensor(l, b.side.v, y->perm), &b.side.q);
	const int z = x < 0 ? x : ox_quantise(l, computed(l, v, of, x), q);
	if (z < 0 && !l->no_memory)
		l->err = 0;
	return z < 0 && !l->no_memory ? 0 : ox_coded_as(y, z);
}

/*
 * Makes the codes, quantised with q, of node n, whose operands wait, with --requant rescale. The node is a quotient,
 * sum, difference or product of two values that have codes or get some, or a function of one such value. Returns 1
 * with *y set; 0 if n is something else, or a value gets no codes; or a negative errno.
 */
int ox_fold_between(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_value *a = ox_operand(l, n, 0), *b = ox_operand(l, n, 1);
	const weft_opcode op = ox_node_is(n, "Mul") ? WEFT_OP_MUL : ox_node_is(n, "Sub") ? WEFT_OP_SUB : WEFT_OP_ADD;
	struct ox_between from[2], to;
	struct ox_q out;
	int done;

	if (l->o.requant != WEFT_ONNX_REQUANT_RESCALE || !a)
		return 0;
	struct ox_value *of = ox_function_of(l, n);
	if ((done = ox_fold_fine(l, n, q, y)))
		return done;
	if (of)
		return function(l, n, of, q, y);
	if (ox_node_is(n, "Div"))
		return b ? quotient(l, a, b, q, y) : 0;
	if (!b || n->n_input != 2 || (op == WEFT_OP_ADD && !ox_node_is(n, "Add") && !ox_node_is(n, "Sum")))
		return 0;
	if ((done = ox_between(l, a, q, &from[0])) <= 0 || (done = ox_between(l, b, q, &from[1])) <= 0)
		return done;
	if (!ox_finer(l, q, &to, &out))
		return l->err;
	done = ox_fold_pair(l, op, &from[0].side, &from[1].side, &out, false, y);
	return done > 0 ? ox_coded_as(y, ox_from_finer(l, y->tensor, q)) : done;
}

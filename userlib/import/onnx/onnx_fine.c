/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float values that wait between a DequantizeLinear and a QuantizeLinear as int32 numbers times a unit, with
 * --requant rescale, for results that int16 codes of the importer's (onnx_between.c) would be too coarse for.
 *
 *   codes, less their zero point      exact, the unit is their scale
 *   sums and means over axes          exact: the sum, the unit that of the elements, of a mean over the count
 *   sums and differences              exact if one unit is a multiple of the other, as x and the mean of x have;
 *                                     else both are rounded to a unit of 2^-30 of the greatest result
 *   products and quotients by         the same numbers, of another unit
 *   constants of one element
 *   PRelu with constant slopes        rounded to a unit of 2^-30 of the greatest result
 *
 * What does not fit has no such form.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "onnx_fixed_point.h"

#define MOST 0x1p30            /* the greatest magnitude of the numbers */

/* Notes that the numbers are this tensor. Returns 1, or the tensor if it is a negative errno. */
static int fine_as(struct ox_fine *f, int tensor)
{
	f->tensor = tensor;
	return tensor < 0 ? tensor : 1;
}

/* Emits codes s less their zero point. Returns 1 with *f set, or a negative errno. */
static int codes(struct ox *l, const struct ox_side *s, struct ox_fine *f)
{
	*f = (struct ox_fine){ .unit = s->q.s, .most = ox_q_farthest(&s->q), .exact = true };
	return fine_as(f, ox_centred(l, s, NULL));
}

/*
 * Emits f times the factor `by` of its unit over another one: f->unit becomes f->unit / by. The numbers are exact if
 * by is a whole number. Returns 1, or a negative errno (-ENOTSUP if by has no RESCALE).
 */
static int in_units(struct ox *l, struct ox_fine *f, double by)
{
	const bool whole = by == rint(by);
	const int x = by == 1 ? f->tensor : whole ? ox_with(l, WEFT_OP_MUL, f->tensor, by) : ox_rescaled(l, f->tensor, WEFT_INT32, by, f->most, 0);

	f->unit /= by;
	f->most = f->most * by + !whole;
	f->exact = f->exact && whole;
	return fine_as(f, x);
}

/* Returns a / b, or the nearest whole number if that is the quotient but for roundings of double. */
static double ratio(double a, double b)
{
	const double r = a / b, whole = rint(r);

	return fabs(r - whole) <= 0x1p-40 * r ? whole : r;
}

/*
 * Emits a op b, ADD or SUB, broadcast as NumPy does. Returns 1 with *f set, 0 if the result does not fit, or a negative
 * errno.
 */
static int combined(struct ox *l, weft_opcode op, struct ox_fine *a, struct ox_fine *b, struct ox_fine *f)
{
	double unit = fmin(a->unit, b->unit);
	const double by_a = ratio(a->unit, unit), by_b = ratio(b->unit, unit);

	if (by_a != rint(by_a) || by_b != rint(by_b) || a->most * by_a + b->most * by_b > MOST)
		unit = (a->most * a->unit + b->most * b->unit) / (MOST - 4);      /* each is rounded, which adds up to 1 to its magnitude */
	if (in_units(l, a, ratio(a->unit, unit)) < 0 || in_units(l, b, ratio(b->unit, unit)) < 0)
		return l->err;
	*f = (struct ox_fine){ .unit = unit, .most = a->most + b->most, .exact = a->exact && b->exact };
	return f->most > MOST ? 0 : fine_as(f, ox_binary(l, op, a->tensor, b->tensor));
}

/*
 * Emits the sum or mean of f that node n, a ReduceSum or ReduceMean, makes. Returns 1 with *f set; 0 if the node names
 * no axes or the sums do not fit; or a negative errno, -EINVAL if an axis is out of range.
 */
static int reduced(struct ox *l, const onnx_node *n, struct ox_fine *f)
{
	const onnx_node *outer = l->n;
	unsigned set;

	l->n = n;
	int done = ox_reduced_axes(l, ox_t(l, f->tensor)->rank, &set);
	const bool keeps = ox_attr_i(l, "keepdims", 1) != 0;
	l->n = outer;
	if (done <= 0)
		return done;
	const double count = (double)ox_elements_over(ox_t(l, f->tensor), set);
	if (!(f->most * count <= MOST))
		return 0;
	f->most *= count;
	f->unit /= ox_node_is(n, "ReduceMean") ? count : 1;
	const int sum = ox_sums_over(l, f->tensor, set);
	return fine_as(f, keeps ? sum : ox_without_axes(l, sum, set));
}

/*
 * Emits what node n, a PRelu with a constant slope (is_sloped() of onnx_lazy.c), makes of f: elements above 0 times 1, and others
 * times their slopes, with 30 bits each. Returns 1 with *f set; 0 if slopes are not constant floats whose shape broadcasts to
 * f's, or none is above 2^-30; or a negative errno.
 */
static int sloped(struct ox *l, const onnx_node *n, struct ox_fine *f)
{
	struct ox_value *slope = ox_operand(l, n, 1);
	const int rank = ox_t(l, f->tensor)->rank;
	double most;

	if (ox_most_of_constant(l, slope, &most) < 1 || !isfinite(most) || slope->t.rank > rank || ox_fine_widen(l, f) < 0)
		return l->err;
	for (int i = 0; i < slope->t.rank; i++)
		if (slope->t.dim[i] != 1 && slope->t.dim[i] != ox_t(l, f->tensor)->dim[rank - slope->t.rank + i])
			return 0;
	most = fmax(most, 1);
	const int factor = ox_ramp(l, WEFT_INT32, rank, rint(0x1p30 / most)), slopes = ox_to_rank(l, ox_scaled_constant(l, slope, 0x1p30 / most), rank);
	const int above = ox_product(l, ox_with(l, WEFT_OP_MAXIMUM, f->tensor, 0), factor, 30);
	const int below = ox_product(l, ox_with(l, WEFT_OP_MINIMUM, f->tensor, 0), slopes, 30);
	f->unit *= most;
	f->exact = false;
	return fine_as(f, ox_binary(l, WEFT_OP_ADD, above, below));
}

/*
 * Emits what Mul or Div node n makes of f and the number c: f's numbers, negated if c is below 0. Returns 1 with *f set; 0 if the
 * unit is not a positive finite number then; or a negative errno.
 */
static int scaled(struct ox *l, const onnx_node *n, double c, struct ox_fine *f)
{
	f->unit = ox_node_is(n, "Div") ? f->unit / fabs(c) : f->unit * fabs(c);
	if (!(f->unit > 0) || !isfinite(f->unit))
		return 0;
	const int zero = c < 0 ? ox_ramp(l, WEFT_INT32, ox_t(l, f->tensor)->rank, 0) : 0;
	return c < 0 ? fine_as(f, ox_binary(l, WEFT_OP_SUB, zero, f->tensor)) : 1;
}

/*
 * Emits operand k of node n as ox_fine() does; a constant of one element is a number of 30 bits. Returns what ox_fine() returns.
 */
static int operand(struct ox *l, const onnx_node *n, size_t k, struct ox_fine *f)
{
	float c;

	if (!ox_number(l, ox_operand(l, n, k), &c))
		return ox_fine(l, ox_operand(l, n, k), f);
	if (!isfinite(c))
		return 0;
	*f = (struct ox_fine){ .unit = c ? fabs((double)c) * 0x1p-29 : 1, .most = 0x1p29 };
	return fine_as(f, ox_ramp(l, WEFT_INT32, 0, c > 0 ? 0x1p29 : c < 0 ? -0x1p29 : 0));
}

/*
 * Emits value v, which waits, in int32 numbers in the file's order of dimensions: v = f->tensor * f->unit, exactly if
 * f->exact is set, else within 2^-30 of the greatest magnitude for each sum or difference in it. Returns 1 with *f set;
 * 0 if --requant rescale is not set, v is no dequantised value and none of what the file's head names of such, or it does not fit; or a
 * negative errno.
 */
int ox_fine(struct ox *l, struct ox_value *v, struct ox_fine *f)
{
	struct ox_fine a, b;
	struct ox_side s;
	float c;
	int done;

	if (l->o.requant != WEFT_ONNX_REQUANT_RESCALE || !v)
		return 0;
	if (ox_side_of(l, v, &s))
		return codes(l, &s, f);
	const onnx_node *n = v->pending >= 0 && v->dq < 0 ? l->f.m->graph->node[v->pending] : NULL;
	if (n && (ox_node_is(n, "ReduceMean") || ox_node_is(n, "ReduceSum"))) {
		done = ox_fine(l, ox_operand(l, n, 0), f);
		return done > 0 ? reduced(l, n, f) : done;
	}
	if (n && ox_node_is(n, "PRelu")) {
		done = ox_fine(l, ox_operand(l, n, 0), f);
		return done > 0 ? sloped(l, n, f) : done;
	}
	if (!n || n->n_input != 2)
		return 0;
	const bool multiplies = ox_node_is(n, "Mul");
	if (multiplies || ox_node_is(n, "Div")) {
		const bool first = multiplies && ox_number(l, ox_operand(l, n, 0), &c);
		if (!first && !ox_number(l, ox_operand(l, n, 1), &c))
			return 0;
		done = ox_fine(l, ox_operand(l, n, first), f);
		return done > 0 ? scaled(l, n, (double)c, f) : done;
	}
	if (!ox_node_is(n, "Add") && !ox_node_is(n, "Sub"))
		return 0;
	if ((done = operand(l, n, 0, &a)) <= 0 || (done = operand(l, n, 1, &b)) <= 0)
		return done;
	return combined(l, ox_node_is(n, "Sub") ? WEFT_OP_SUB : WEFT_OP_ADD, &a, &b, f);
}

/*
 * Shifts f left until its greatest magnitude is 2^29 or more. Returns 1, or a negative errno.
 */
int ox_fine_widen(struct ox *l, struct ox_fine *f)
{
	const int left = f->most > 0 ? 29 - ilogb(f->most) : 0;

	if (left <= 0)
		return 1;
	f->most = ldexp(f->most, left);
	f->unit = ldexp(f->unit, -left);
	return fine_as(f, ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, f->tensor, left));
}

/*
 * Emits f's square in two parts of 15 bits, in *p, after limiting f to what has a square of `limit`. They are within
 * 2^-30 of the greatest square, or of `limit` if that is less. Returns 1 or a negative errno.
 */
int ox_fine_square(struct ox *l, struct ox_fine f, double limit, struct ox_parts *p)
{
	const double top = ceil(sqrt(limit) / f.unit) + 1;

	if (top < f.most) {
		f.tensor = ox_with(l, WEFT_OP_MAXIMUM, ox_with(l, WEFT_OP_MINIMUM, f.tensor, top), -top);
		f.most = top;
	}
	const int done = ox_fine_widen(l, &f);
	const int all = done < 0 ? done : ox_product(l, f.tensor, f.tensor, 30);
	p->unit = ldexp(f.unit * f.unit, 30);
	p->high = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, all, OX_PART);
	p->low = ox_with(l, WEFT_OP_BITWISE_AND, all, (1 << OX_PART) - 1);
	return p->high < 0 || p->low < 0 ? l->err : 1;
}

/*
 * Makes int32 a / b / scale, rounded half up. Where the quotient is 2^26 or more in magnitude, so is the result, but
 * it need not be the quotient; a / 0 is 2^26 or -2^26 with the sign of a. a and b must be exact, since a quotient
 * may be large where b is small. The shape of b broadcasts to that of a.
 *
 *   x = |b| 2^up_b, z = a 2^up_a    x from 2^30 on, z from 2^29 on or 0
 *   r = 2^59 / x                    a table and one step of Newton's method, within 2^-28 of itself
 *   y = z r c / 2^60                c 2^e is a->unit / b->unit / scale, c from 1/2 to 1
 *   a / b / scale = y / 2^(up_a + 29 - e - up_b), where a shift to the left leaves y as it is
 *
 * Returns the graph tensor; 0 if one is not exact, or their units are too far apart; or a negative errno.
 */
int ox_fine_quotient(struct ox *l, const struct ox_fine *a, const struct ox_fine *b, double scale)
{
	int e;
	const double c = frexp(a->unit / b->unit / scale, &e);

	if (!a->exact || !b->exact || !(c > 0) || !isfinite(c) || e < -1000 || e > 1000)
		return 0;
	const int sign = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, b->tensor, 31), is_zero = ox_with(l, WEFT_OP_EQUAL, b->tensor, 0);
	const int size_b = ox_with(l, WEFT_OP_MAXIMUM, ox_unary(l, WEFT_OP_ABS, b->tensor), 1), size_a = ox_unary(l, WEFT_OP_ABS, a->tensor);
	const int up_b = ox_with(l, WEFT_OP_SUB, ox_unary(l, WEFT_OP_CLZ, size_b), 1);
	const int up_a = ox_with(l, WEFT_OP_MAXIMUM, ox_with(l, WEFT_OP_SUB, ox_unary(l, WEFT_OP_CLZ, size_a), 2), 0);
	const int r = ox_reciprocals(l, ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, size_b, up_b));
	const int turned = ox_binary(l, WEFT_OP_SUB, ox_binary(l, WEFT_OP_BITWISE_XOR, a->tensor, sign), sign);
	int y = ox_product(l, ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, turned, ox_with(l, WEFT_OP_MINIMUM, up_a, 31)), r, 30);
	y = ox_product(l, y, y < 0 ? y : ox_ramp(l, WEFT_INT32, ox_t(l, y)->rank, ldexp(c, 30)), 30);
	const int right = ox_with(l, WEFT_OP_ADD, ox_binary(l, WEFT_OP_SUB, up_a, up_b), 29 - e);
	y = ox_right_by(l, y, ox_with(l, WEFT_OP_MINIMUM, ox_with(l, WEFT_OP_MAXIMUM, right, 0), 31), true);
	const int endless = ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, ox_with(l, WEFT_OP_BITWISE_OR, ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, a->tensor, 31), 1), 26);
	return y < 0 || is_zero < 0 || endless < 0 ? l->err : ox_select(l, is_zero, endless, y);
}

/*
 * Makes the codes, quantised with q, of the result of node n, which waits, from its numbers (ox_fine()). Returns 1 with *y set, in
 * the file's order of dimensions; 0 if it has none, if they are not exact and a step of q has fewer than 8, or if no RESCALE leads to
 * q's scale; or a negative errno.
 */
int ox_fold_fine(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_factor factor;
	struct ox_fine f;
	const int done = ox_fine(l, &l->values[ox_value_find(l, n->output[0])], &f);

	if (done <= 0 || (!f.exact && !(f.unit / q->s <= 0x1p-3)) || !ox_nearest(f.unit / q->s, f.most, &factor))
		return done < 0 ? done : 0;
	ox_file_order(y->perm);
	return ox_coded_as(y, ox_rescale(l, f.tensor, ox_signed(q->zp->t.dtype), factor, 0, ox_q_zp(q)));
}

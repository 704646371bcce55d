/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of Deeploy's and quantlib's networks, whose tensors hold integers
 * in float32. They are computed in int32, by operators of TOSA where TOSA has them,
 * else by operators of the host (PACT_*).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_lower.h"

/*
 * Sets *v to the attribute of that name of the node at hand: a float, an integer, or a tensor with
 * one element of float32, float64 or int64, whose bytes are taken from l->room. Returns true; or
 * false, with *v unchanged, if there is no such attribute, it is something else, or the tensor cannot
 * be read; of these only a lack of memory is reported by ox_fail(), and the import ends by it.
 */
static bool number(struct ox *l, const char *name, double *v)
{
	const onnx_attribute *a = ox_attr(l, name);
	char why[160] = "";
	weft_tensor t;

	if (!a || (!a->t && !a->has_f && !a->has_i))
		return false;
	if (!a->t) {
		*v = a->has_f ? (double)a->f : (double)a->i;
		return true;
	}
	int err = onnx_tensor_data(&l->f, a->t, &t, &l->room, why, sizeof why);
	if (err == -ENOMEM)
		ox_fail(l, err, "out of memory");
	if (err)
		return false;
	bool one = weft_tensor_elements(&t) == 1 && (t.dtype == WEFT_FP32 || t.dtype == WEFT_INT64 || t.dtype == WEFT_FP64);
	if (one)
		*v = t.dtype == WEFT_FP32 ? (double)*(float *)t.data : t.dtype == WEFT_FP64 ? *(double *)t.data : (double)*(int64_t *)t.data;
	free(t.data);
	return one;
}

/*
 * Emits operand k as int32 with the given rank, by leading dimensions of 1. Returns the graph
 * tensor, -EINVAL if its rank is higher, or another negative errno.
 */
static int integers(struct ox *l, int k, int rank)
{
	struct ox_value *v = ox_in(l, k);

	if (!v)
		return l->err;
	if (v->t.rank > rank)
		return ox_fail(l, -EINVAL, "input %d has rank %d, input 0 has %d", k, v->t.rank, rank);
	return ox_cast(l, ox_to_rank(l, ox_get(l, v, NULL), rank), WEFT_INT32);
}

/*
 * Sets *v to the node's attribute of that name, a number that number() can read. Returns 0, -EINVAL
 * if there is none, or -ENOTSUP if it is no integer of 32 bits.
 */
static int whole(struct ox *l, const char *name, int32_t *v)
{
	double d;

	if (!number(l, name, &d))
		return ox_fail(l, -EINVAL, "attribute %s is missing", name);
	if (!(d >= -0x1p31 && d <= 0x1p31 - 1) || d != rint(d))
		return ox_fail(l, -ENOTSUP, "%s %g", name, d);
	*v = (int32_t)d;
	return 0;
}

/*
 * Makes int32 tensor y, cast to operand 0's type, result 0 of the node at hand. Returns 0 or a
 * negative errno; a negative y is returned as it is.
 */
static int give(struct ox *l, int y)
{
	struct ox_value *v = ox_in(l, 0);

	return !v ? l->err : ox_result(l, 0, y < 0 ? y : ox_cast(l, y, v->t.dtype), NULL, false);
}

/* Emits operand 0 of the node at hand as int32. Returns the graph tensor, or a negative errno. */
static int x_integers(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);

	return v ? integers(l, 0, v->t.rank) : l->err;
}

/*
 * Emits the result of operator op with attributes a and n operands x, which is int32 and has x[0]'s
 * shape. Returns the graph tensor, or a negative errno: the first negative operand if there is one.
 */
static int same(struct ox *l, weft_opcode op, const weft_attr *a, const int *x, int n)
{
	for (int k = 0; k < n; k++)
		if (x[k] < 0)
			return x[k];
	return ox_op(l, op, a, x, n, WEFT_INT32, ox_t(l, x[0])->rank, ox_t(l, x[0])->dim);
}

static int constant(struct ox *l, double v)
{
	return ox_ramp(l, WEFT_INT32, 1, v);
}

/*
 * Lowers RequantShift to ONNX_REQUANT_SHIFT: floor((x * mul + add + div / 2) / div) limited to
 * n_levels values from 0 on, or from -n_levels / 2 on if `signed` is not 0; x, mul and add are
 * operands 0 to 2, all taken as int32, and the result is cast to x's type. n_levels is the
 * attribute n_levels_out or else n_levels. Returns 0, -EINVAL if div, n_levels or signed is missing
 * or mul or add has a higher rank than x, -ENOTSUP if div is no power of two of 1 to 2^62 or
 * n_levels no integer of 2 to 2^30, or another negative errno.
 */
int ox_requant_shift(struct ox *l)
{
	double div = 0, levels = 0, is_signed = 0;
	int exponent, x[3];
	struct ox_value *v = ox_in(l, 0);

	if (!v)
		return l->err;
	if (!number(l, "div", &div) || !(number(l, "n_levels_out", &levels) || number(l, "n_levels", &levels)) || !number(l, "signed", &is_signed))
		return ox_fail(l, -EINVAL, "div, n_levels or signed is missing");
	if (!(div >= 1) || frexp(div, &exponent) != 0.5 || exponent > 63 || !(levels >= 2 && levels <= 0x1p30) || levels != rint(levels))
		return ox_fail(l, -ENOTSUP, "div %g, %g levels", div, levels);
	for (int k = 0; k < 3; k++)
		if ((x[k] = integers(l, k, v->t.rank)) < 0)
			return x[k];
	int32_t n = (int32_t)levels, low = is_signed != 0 ? -(n / 2) : 0;
	weft_attr a = { .requant_shift = { exponent - 1, low, low + n - 1 } };
	return give(l, ox_op(l, WEFT_OP_ONNX_REQUANT_SHIFT, &a, x, 3, WEFT_INT32, v->t.rank, v->t.dim));
}

/*
 * Lowers iHardswish: x * clamp(x + three, 0, six) * one_over_six in int32, with x as operand 0 and
 * the others as attributes; the result is cast to x's type. Returns 0, -EINVAL if an attribute is
 * missing, -ENOTSUP if one is no integer of 32 bits, or another negative errno.
 */
int ox_i_hard_swish(struct ox *l)
{
	int32_t three, six, factor;
	int x = x_integers(l);

	if (x < 0 || whole(l, "three", &three) || whole(l, "six", &six) || whole(l, "one_over_six", &factor))
		return l->err;
	const int zero = constant(l, 0);
	int y = ox_binary(l, WEFT_OP_MAXIMUM, ox_binary(l, WEFT_OP_ADD, x, constant(l, three)), zero);
	const int sixth = constant(l, factor);
	y = ox_binary(l, WEFT_OP_MUL, ox_binary(l, WEFT_OP_MINIMUM, y, constant(l, six)), sixth);
	return give(l, ox_binary(l, WEFT_OP_MUL, x, y));
}

/*
 * Lowers iGELU of operand 0, x, in int32, with attributes b and one: x * ((one + L) >> 1), where L
 * is one - (min(|x|, -b) + b)^2, negated where x is below 0; the result is cast to x's type.
 * Returns 0, -EINVAL if an attribute is missing, -ENOTSUP if one is no integer of 32 bits, or
 * another negative errno.
 */
int ox_i_gelu(struct ox *l)
{
	weft_attr floor = { .shift = { false } };
	int32_t b, one;
	int x = x_integers(l);

	if (x < 0 || whole(l, "b", &b) || whole(l, "one", &one))
		return l->err;
	const int top = constant(l, one), offset = constant(l, b), limit = constant(l, -(double)b);
	int q = ox_binary(l, WEFT_OP_MINIMUM, ox_unary(l, WEFT_OP_ABS, x), limit);
	q = ox_binary(l, WEFT_OP_ADD, q, offset);
	int p = ox_binary(l, WEFT_OP_SUB, top, ox_binary(l, WEFT_OP_MUL, q, q));
	const int minus = ox_binary(l, WEFT_OP_SUB, constant(l, 0), p), below = ox_binary(l, WEFT_OP_GREATER, constant(l, 0), x);
	int s = ox_select(l, below, minus, p);
	const int twice = ox_binary(l, WEFT_OP_ADD, s, top);
	const int half[2] = { twice, ox_ramp(l, WEFT_INT32, ox_t(l, x)->rank, 1) };
	return give(l, ox_binary(l, WEFT_OP_MUL, x, same(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &floor, half, 2)));
}

/*
 * Emits the int32 result of PACT_DIV of x by d with attributes a, broadcast to one shape; x and d
 * have one rank. Returns the graph tensor, or a negative errno; a negative operand is returned as
 * it is.
 */
static int divide(struct ox *l, const weft_attr *a, int x, int d)
{
	int64_t dim[WEFT_MAX_RANK];
	const int in[2] = { x, d };

	if (x < 0 || d < 0)
		return x < 0 ? x : d;
	const int rank = ox_broadcast(l, in, 2, dim);
	return rank < 0 ? rank : ox_op(l, WEFT_OP_PACT_DIV, a, in, 2, WEFT_INT32, rank, dim);
}

/*
 * Lowers the integer divisions x * Delta * eta / (d * eta + eps) to PACT_DIV, with x as operand 0
 * and Delta, eps and eta (1 if absent) as attributes; x and d are taken as int32, and the result is
 * cast to x's type. With an operand 1 (IntegerDiv) that is d, broadcast with x, and the quotient is
 * rounded half up; without (TrueIntegerDiv) d is the attribute y, and the quotient is truncated.
 * Returns 0, -EINVAL if an attribute is missing or y * eta + eps is below 1, -ENOTSUP if an
 * attribute is no integer of 32 bits, Delta or eta is below 1, eps is negative or Delta * eta
 * exceeds 2^32 - 1, or another negative errno.
 */
int ox_integer_div(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	weft_attr a = { .pact_div = { 0, 0, 1, !ox_has(l, 1) } };
	struct weft_attr_pact_div *p = &a.pact_div;
	int32_t y;

	if (!v || whole(l, "Delta", &p->delta) || whole(l, "eps", &p->eps) || (ox_attr(l, "eta") && whole(l, "eta", &p->eta)))
		return l->err;
	if (p->delta < 1 || p->eta < 1 || p->eps < 0 || (int64_t)p->delta * p->eta > UINT32_MAX)
		return ox_fail(l, -ENOTSUP, "Delta %d, eps %d, eta %d", p->delta, p->eps, p->eta);
	if (ox_has(l, 1)) {
		struct ox_value *w = ox_in(l, 1);
		const int rank = !w || v->t.rank > w->t.rank ? v->t.rank : w->t.rank;
		const int divisor = integers(l, 1, rank), dividend = integers(l, 0, rank);
		return give(l, divide(l, &a, dividend, divisor));
	}
	if (whole(l, "y", &y))
		return l->err;
	if ((int64_t)y * p->eta + p->eps < 1)
		return ox_fail(l, -EINVAL, "y %d, eps %d, eta %d", y, p->eps, p->eta);
	const int divisor = ox_ramp(l, WEFT_INT32, v->t.rank, y), dividend = x_integers(l);
	return give(l, divide(l, &a, dividend, divisor));
}

/*
 * Lowers IntegerMean: int32 sums of operand 0 over the attribute axes, divided by the number of
 * their elements, rounded half up, and cast to operand 0's type; keepdims 0 drops the axes. Without
 * axes the result has operand 0's elements. Returns 0, -EINVAL if an axis is out of range, or
 * another negative errno.
 */
int ox_integer_mean(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	weft_attr a = { .pact_div = { 1, 0, 1, false } };
	int64_t axes[WEFT_MAX_RANK], dim[WEFT_MAX_RANK], n = 1;
	int count = ox_attr_ints(l, "axes", WEFT_MAX_RANK, axes), x = x_integers(l), rank = 0;
	bool gone[WEFT_MAX_RANK] = { false };

	if (count < 0 || !v)
		return l->err;
	for (int k = 0; k < count && x >= 0; k++) {
		int axis = ox_axis(l, axes[k], v->t.rank);
		if (axis < 0)
			return axis;
		n *= ox_t(l, x)->dim[axis];
		gone[axis] = true;
		x = ox_reduce(l, WEFT_OP_REDUCE_SUM, x, axis);
	}
	int y = divide(l, &a, x, ox_ramp(l, WEFT_INT32, v->t.rank, (double)n));
	for (int i = 0; i < v->t.rank; i++)
		if (!gone[i] || ox_attr_i(l, "keepdims", 1))
			dim[rank++] = gone[i] ? 1 : v->t.dim[i];
	return give(l, ox_reshape(l, y, rank, dim));
}

/*
 * Lowers iSoftmax, I-BERT's integer softmax, to PACT_SOFTMAX of operand 0, taken as int32; the
 * result is cast to operand 0's type. coeffA, coeffB, coeffC, log2 and n_levels are attributes.
 * Returns 0, -EINVAL if one is missing or coeffC is not an integer of 0 to 2^46, -ENOTSUP if
 * another one is no integer of 32 bits, or another negative errno.
 */
int ox_i_softmax(struct ox *l)
{
	weft_attr a = { .pact_softmax = { .c = 0 } };
	struct weft_attr_pact_softmax *p = &a.pact_softmax;
	double c;
	int x = x_integers(l);

	if (x < 0 || whole(l, "coeffA", &p->a) || whole(l, "coeffB", &p->b) || whole(l, "log2", &p->log2) || whole(l, "n_levels", &p->n_levels))
		return l->err;
	if (!number(l, "coeffC", &c) || !(c >= 0 && c <= 0x1p46) || c != rint(c))
		return ox_fail(l, -EINVAL, "coeffC is missing, or not 0 to 2^46");
	p->c = (int64_t)c;
	return give(l, same(l, WEFT_OP_PACT_SOFTMAX, &a, &x, 1));
}

/*
 * Lowers ITAMax, an integer softmax of operand 0 over its last dimension with results up to 255,
 * and ITAPartialMax, which finds maxima in groups of group_width elements and has results up to
 * 127, to PACT_ITA_MAX. Operand 0 is taken as int32, and the result is cast to its type. Returns 0,
 * -EINVAL if n_levels or group_width is missing, -ENOTSUP if n_levels is not 256 or group_width no
 * integer of 32 bits, or another negative errno.
 */
int ox_ita_max(struct ox *l)
{
	const bool partial = ox_is(l, "ITAPartialMax");
	weft_attr a = { .pact_ita_max = { 0, partial ? 127 : 255 } };
	int32_t levels;
	int x = x_integers(l);

	if (x < 0 || whole(l, "n_levels", &levels))
		return l->err;
	if (levels != 256)
		return ox_fail(l, -ENOTSUP, "%d levels, ITA has 256", levels);
	const weft_tensor *t = ox_t(l, x);
	a.pact_ita_max.group = t->rank ? (int32_t)t->dim[t->rank - 1] : 0;
	if (partial && whole(l, "group_width", &a.pact_ita_max.group))
		return l->err;
	return give(l, same(l, WEFT_OP_PACT_ITA_MAX, &a, &x, 1));
}

/*
 * Lowers iLayerNorm, the integer layer normalisation of operand 0 with factors, operand 1, and
 * addends, operand 2, both of rank 0 or 1, to PACT_LAYER_NORM. All three are taken as int32, and
 * the result is cast to operand 0's type. Attribute D has to be a power of two, since the division
 * by D becomes a shift; results are limited to n_levels values from -(n_levels / 2) on. Returns 0,
 * -EINVAL if an attribute is missing or operand 1 or 2 has a higher rank than 1, -ENOTSUP if D is
 * no power of two or n_levels is below 2, or another negative errno.
 */
int ox_i_layer_norm(struct ox *l)
{
	int32_t d, levels;
	int exponent, x[3];

	x[0] = x_integers(l);
	x[1] = integers(l, 1, 1);
	x[2] = integers(l, 2, 1);
	if (x[0] < 0 || x[1] < 0 || x[2] < 0 || whole(l, "D", &d) || whole(l, "n_levels", &levels))
		return l->err;
	if (d < 1 || frexp(d, &exponent) != 0.5 || levels < 2)
		return ox_fail(l, -ENOTSUP, "D %d, %d levels", d, levels);
	weft_attr a = { .requant_shift = { exponent - 1, -(levels / 2), levels - levels / 2 - 1 } };
	return give(l, same(l, WEFT_OP_PACT_LAYER_NORM, &a, x, 3));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax of codes of 8 and of 16 bits, and LayerNormalization of 16-bit codes, between DequantizeLinear and QuantizeLinear,
 * in int32, if --requant rescale is set. The zero points of operands do not count, since both functions take differences of
 * codes; unsigned codes are in their signed form. Before the last rounding, a result is within 2^-8
 * of a step of the exact one, so that a code is another than the exact one only beside a tie, and by one step.
 *
 * Softmax of a row with codes c and scale s, m the greatest code, d = m - c from 0 to 65535 (of 8 bits, to 255: the first
 * factor of E is 1):
 *
 *   E = exp(-256 s (d >> 8)) * exp(-s (d & 255))   both from tables of 30 bits, high and low 15 bits each
 *   S = sum of E, its high and low 15 bits summed apart, then moved up to lie from 2^30 - 1 to 2^31
 *   r = 2^30 / S, by a table of 16 bits and one step of Newton's method: r (2 - S r)
 *   y = E r, moved down by what S was moved up less
 *
 * The errors of E are 2^-29, of r 2^-28 of itself, and of y 2^-28 in all, 2^-13 of a step of 2^-15.
 *
 * LayerNormalization of a row of n codes q, gamma and beta in steps of the result:
 *
 *   m = round(sum of q / n), e = q - m, s = sum of e. If no e of a row is 256 or more, the row's q are multiplied by 2^8 first
 *   V = sum of e^2 - s^2 / n + n epsilon / scale^2. The first term is exact, the others have 12 bits behind the point.
 *       With e = 256 a + b the sums of a^2, a b and b^2 fit int32 each; V = 2^16 high + low
 *   w = V shifted left by `up`, which is even, so that w lies from 2^29 to 2^31
 *   r = sqrt(2^29 / w), by a table and one step of Newton's method: r (3 - w r^2) / 2
 *   y = (n e - s) r * gamma + beta        (n e - s) / sqrt(n V) is the normalised code
 *
 * Since r belongs to w and not to V, n e - s is shifted left by up / 2 as well. Where 32 bits do not hold that, it is shifted
 * left by less and rounded: its error is at most 2^-24 of its root of the mean square. The relative error of r is 2^-27, and
 * gamma's error 2^-30 of the greatest gamma. The tables' relative errors are below 2^-14; a step of Newton's method leaves
 * the square of that.
 */
#include <errno.h>
#include <math.h>

#include "onnx_fixed_point.h"
#include "onnx_integer.h"

#define ENTRIES 513            /* of TABLE for int16; entry i is for the operand 128 i - 32768 */
#define BELOW   15             /* bits of the low part */
#define FINE    0x1p28         /* n epsilon / scale^2 below which small rows need bits behind the point */

/* The functions of TABLEs that make() fills: exp(-step k) of 30 bits, its high and low 15 bits, k from 0 to 255; 2^30 / (128 k) from 2^15 on. */
enum kind { EXP_HIGH, EXP_LOW, RECIPROCAL };

/*
 * Adds the int16 constant of 513 entries of that kind; step is EXP's. Entries beyond those that are read are 0, or for RECIPROCAL
 * the first one that is read. Returns the graph tensor, or a negative errno.
 */
static int make(struct ox *l, enum kind kind, double step)
{
	static const int64_t entries = ENTRIES;
	int16_t *t = ox_alloc(l, entries, sizeof *t);

	for (int i = 0; t && i < ENTRIES; i++) {
		const int32_t e = (int32_t)lround(ldexp(exp(-step * i), 30)), all = e > (1 << 30) - 1 ? (1 << 30) - 1 : e;
		t[i] = (int16_t)(kind == RECIPROCAL ? lround(INT16_MAX * 256.0 / (i < 256 ? 256 : i)) : kind == EXP_HIGH ? all >> BELOW : all & INT16_MAX);
	}
	return t ? ox_data(l, WEFT_INT16, 1, &entries, t) : l->err;
}

/*
 * Emits 2^30 exp(-step x), at most 2^30 - 1, of int32 x from 0 to 255, from two tables. Returns the graph tensor, or a
 * negative errno; a negative x is returned as it is.
 */
static int exponentials(struct ox *l, int x, double step)
{
	int at = ox_with(l, WEFT_OP_SUB, ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, x, 7), 32768);
	int high = ox_looked_up(l, at, make(l, EXP_HIGH, step)), low = ox_looked_up(l, at, make(l, EXP_LOW, step));

	low = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, low, 7);
	high = ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, high, BELOW - 7);
	return ox_binary(l, WEFT_OP_ADD, high, low);
}

/*
 * Emits the count by which int32 x, from 0 on, is moved up so that it is 2^30 or more, at most `limit`; even: the greatest even
 * count that leaves it below 2^31. Returns the graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int count_up(struct ox *l, int x, int limit, bool even)
{
	int up = ox_with(l, WEFT_OP_MINIMUM, ox_with(l, WEFT_OP_SUB, x < 0 ? x : ox_unary(l, WEFT_OP_CLZ, x), 1), limit);

	return even ? ox_with(l, WEFT_OP_BITWISE_AND, up, 30) : up;
}

/* Emits the number v less int32 x. Returns the graph tensor, or a negative errno; a negative x is returned as it is. */
static int less(struct ox *l, double v, int x)
{
	int c = x < 0 ? x : ox_ramp(l, WEFT_INT32, ox_t(l, x)->rank, v);

	return ox_binary(l, WEFT_OP_SUB, c, x);
}

/*
 * Emits 2^59 / x as int32, of int32 x from 2^30 - 1 on: 2^29 at most. Returns the graph tensor, or a negative errno; a
 * negative x is returned as it is.
 */
int ox_reciprocals(struct ox *l, int x)
{
	int at = ox_with(l, WEFT_OP_SUB, ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, x, 15), 32768);
	int r = ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, ox_looked_up(l, at, make(l, RECIPROCAL, 0)), 7);
	int miss = less(l, 0x1p30, ox_product(l, x, r, 29));

	return ox_binary(l, WEFT_OP_ADD, r, ox_product(l, r, miss, 30));
}

/*
 * Emits the codes, quantised with q, of the Softmax over the last axis of codes x, of which a step is `step`. Both are of 8 bits or both
 * of 16. Returns the graph tensor of codes in their signed form with x's dimensions, -ENOTSUP
 * if q's scale has no RESCALE that keeps 1 in int32, or another negative errno; a negative x is returned as it is.
 */
int ox_softmax_rows(struct ox *l, int x, double step, const struct ox_q *q)
{
	const bool wide = ox_is_16_bit(q->zp);
	int c = ox_wide(l, x);
	int d = c < 0 ? c : ox_binary(l, WEFT_OP_SUB, ox_reduce(l, WEFT_OP_REDUCE_MAX, c, ox_t(l, c)->rank - 1), c);
	int e = exponentials(l, wide ? ox_with(l, WEFT_OP_BITWISE_AND, d, 255) : d, step);
	if (wide)
		e = ox_product(l, exponentials(l, ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, d, 8), 256 * step), e, 30);
	int high = ox_row_sums(l, ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, e, BELOW));
	int low = ox_row_sums(l, ox_with(l, WEFT_OP_BITWISE_AND, e, INT16_MAX));
	high = ox_binary(l, WEFT_OP_ADD, high, ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, low, BELOW));
	low = ox_with(l, WEFT_OP_BITWISE_AND, low, INT16_MAX);
	int up = count_up(l, high, BELOW, false), down = less(l, BELOW, up);
	low = ox_right_by(l, low, down, false);
	int sum = ox_binary(l, WEFT_OP_ADD, ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, high, up), low);
	int y = ox_right_by(l, ox_product(l, e, ox_reciprocals(l, sum), 29), down, true);

	return y < 0 ? y : ox_rescaled(l, y, wide ? WEFT_INT16 : WEFT_INT8, ldexp(1 / q->s, -30), 0x1p30, ox_q_zp(q));
}

/* V of the file's head as 2^16 high + low, low with 12 bits behind its point. */
struct variance { int high, low; };

/*
 * The rows of codes less about their mean: e, their sums s, and `fine`, -1 for each row whose elements have been multiplied by
 * 2^8 before that because they are below 256, else 0.
 */
struct rows { int e, s, fine; int64_t n; };

/*
 * Emits the number v for each row, and v + more for fine ones. Returns the graph tensor, or a negative errno; if w->fine is
 * negative, that.
 */
static int by_row(struct ox *l, const struct rows *w, double v, double more)
{
	return ox_with(l, WEFT_OP_ADD, ox_with(l, WEFT_OP_BITWISE_AND, w->fine, more), v);
}

/*
 * Sets *w to the rows of n int32 codes q, which is int16 in its range; rows are fine if `fine` is set and no element is 256
 * or more off the mean. One of its tensors is negative after a failure.
 */
static void centre(struct ox *l, int q, int64_t n, bool fine, struct rows *w)
{
	int mean = ox_rescaled(l, ox_row_sums(l, q), WEFT_INT32, 1 / (double)n, 32768.0 * (double)n, 0);
	int e = ox_binary(l, WEFT_OP_SUB, q, mean), s = ox_row_sums(l, e);
	int off = ox_binary(l, WEFT_OP_MAXIMUM, e, less(l, 0, e));

	w->n = n;
	off = off < 0 ? off : ox_reduce(l, WEFT_OP_REDUCE_MAX, off, ox_t(l, off)->rank - 1);
	w->fine = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, ox_with(l, WEFT_OP_SUB, off, fine ? 256 : 0), 31);
	const int up = ox_with(l, WEFT_OP_BITWISE_AND, w->fine, 8);
	s = ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, s, up);
	mean = ox_rescaled(l, s, WEFT_INT32, 1 / (double)n, 512.0 * (double)n, 0);
	w->e = ox_binary(l, WEFT_OP_SUB, ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, e, up), mean);
	w->s = ox_binary(l, WEFT_OP_SUB, s, ox_with(l, WEFT_OP_MUL, mean, (double)n));
}

/*
 * Emits n times the variance of each row of w, plus `epsilon` (times 2^16 in fine rows): v->high from 0
 * on and v->low from 0 to 2^28 - 1. Both are negative, or one of them, after a failure.
 */
static void variances(struct ox *l, const struct rows *w, double epsilon, struct variance *v)
{
	const int e = w->e, s = w->s;
	const int64_t n = w->n;
	int a = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, e, 8), b = ox_with(l, WEFT_OP_BITWISE_AND, e, 255);
	int aa = ox_row_sums(l, ox_product(l, a, a, 0)), ab = ox_row_sums(l, ox_product(l, a, b, 0)), bb = ox_row_sums(l, ox_product(l, b, b, 0));
	const double above = floor(ldexp(epsilon, -16)), fine = floor(epsilon), low_rest = rint(ldexp(epsilon - ldexp(above, 16), 12));

	int rest = ox_rescaled(l, ox_product(l, s, s, 0), WEFT_INT32, 4096 / (double)n, (double)n * (double)n, 0);
	int high = ox_binary(l, WEFT_OP_ADD, aa, ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, ab, 7));
	high = ox_binary(l, WEFT_OP_ADD, high, ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, bb, 16));
	const int low_bb = ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, ox_with(l, WEFT_OP_BITWISE_AND, bb, 65535), 12);
	const int low_ab = ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, ox_with(l, WEFT_OP_BITWISE_AND, ab, 127), 21);
	int low = ox_binary(l, WEFT_OP_ADD, low_ab, low_bb);
	low = ox_binary(l, WEFT_OP_SUB, ox_binary(l, WEFT_OP_ADD, low, by_row(l, w, low_rest, rint(ldexp(epsilon - fine, 28)) - low_rest)), rest);
	const int carried = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, low, 28);
	high = ox_binary(l, WEFT_OP_ADD, high, by_row(l, w, above, epsilon < FINE ? fine - above : 0));
	high = ox_binary(l, WEFT_OP_ADD, high, carried);
	v->high = ox_with(l, WEFT_OP_MAXIMUM, high, 0);
	v->low = ox_with(l, WEFT_OP_BITWISE_AND, low, (1 << 28) - 1);
}

/*
 * Emits 2^29 sqrt(2^29 / w) of int32 w from 2^29 on. Returns the graph tensor, or a negative errno; a negative w is
 * returned as it is.
 */
static int roots(struct ox *l, int w)
{
	int at = ox_with(l, WEFT_OP_SUB, ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, w, 15), 32768);
	int r = ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, ox_looked_up(l, at, w < 0 ? w : ox_root_table(l)), 7);
	int miss = less(l, 0x1p30, ox_product(l, ox_product(l, r, r, 28), w, 29));

	return ox_binary(l, WEFT_OP_ADD, r, ox_product(l, r, miss, 31));
}

/*
 * Emits (n e - s) / sqrt(n V) for each row of n codes of int32 q, where V has `epsilon` in it; results count steps of *unit and
 * are below 2^31. Returns the graph tensor, or a negative errno; a negative q is returned as it is.
 */
static int normalised(struct ox *l, int q, int64_t n, double epsilon, double *unit)
{
	struct variance v;
	struct rows row;
	int log = 0;

	while ((int64_t)1 << log < n)
		log++;
	const int drop = log > 7 ? log - 7 : 0;      /* (n e - s) moved up is at most n 2^23.5 */
	centre(l, q, n, epsilon < FINE, &row);
	variances(l, &row, epsilon, &v);
	int up = count_up(l, v.high, 28, true);
	const int low = ox_right_by(l, v.low, less(l, 28, up), false);
	int w = ox_binary(l, WEFT_OP_ADD, ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, v.high, up), low);
	w = ox_with(l, WEFT_OP_MAXIMUM, w, 1);
	int more = count_up(l, w, 30, true);
	int r = roots(l, ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, w, more));
	int half = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, ox_binary(l, WEFT_OP_ADD, up, more), 1);
	int d = ox_binary(l, WEFT_OP_SUB, ox_with(l, WEFT_OP_MUL, row.e, (double)n), row.s);
	int left = ox_with(l, WEFT_OP_MAXIMUM, ox_with(l, WEFT_OP_SUB, half, drop), 0);
	int right = ox_with(l, WEFT_OP_MAXIMUM, less(l, drop, half), 0);
	d = ox_right_by(l, ox_binary(l, WEFT_OP_LOGICAL_LEFT_SHIFT, d, left), right, true);
	*unit = ldexp(1 / sqrt((double)n), drop - 22) * sqrt(0.5);
	return ox_product(l, d, r, 29);
}

/*
 * Emits node n of 16-bit x, which normalises rows as `rows` says, quantised with q of 16 bits.
 * Operands 1 and 2 are constant float32 vectors with the elements of rows' axis or one; operand 2 may be absent. gamma and beta
 * are their largest magnitudes, and gamma is above 0. epsilon is the node's times a row's length / x's scale^2, from 0 to
 * 2^44. Returns the graph tensor in the dimensions of rows->scaled, -ENOTSUP if the fixed-point formats do not fit the
 * scales, or another negative errno.
 */
int ox_norm_rows_wide(struct ox *l, const onnx_node *n, const struct ox_side *x, const struct ox_rows *rows, const struct ox_q *q, double epsilon,
                      double gamma, double beta)
{
	int log, log_gamma;
	double unit;

	/* The greatest result is sqrt(row) gamma + beta; it has `bits` behind its point, and gamma times unit 2^shift. */
	(void)frexp((sqrt((double)rows->n) * gamma + beta) / q->s, &log);
	const int bits = 30 - log;
	if (bits < 8 || bits > 30)
		return ox_fail(l, -ENOTSUP, "scale %g of results up to %g", q->s, gamma);
	const int c = ox_reshape(l, ox_side_in(l, x->v, NULL), rows->rank, rows->dim);
	int y = ox_reshape(l, normalised(l, ox_wide(l, c), rows->n, epsilon, &unit), rows->rank, rows->scaled);
	(void)frexp(ldexp(gamma * unit / q->s, bits), &log_gamma);
	const int shift = 30 - log_gamma;
	if (shift < 0 || shift > 62)
		return ox_fail(l, -ENOTSUP, "scale %g of results up to %g", q->s, gamma);
	int g = ox_vector(l, ox_operand(l, n, 1), ldexp(unit / q->s, bits + shift), rows->rank, rows->axis, rows->scaled[rows->axis]);
	int b = ox_vector(l, ox_operand(l, n, 2), ldexp(1 / q->s, bits), rows->rank, rows->axis, rows->scaled[rows->axis]);
	y = ox_binary(l, WEFT_OP_ADD, ox_product(l, y, g, shift), b);
	return y < 0 ? y : ox_rescaled(l, y, WEFT_INT16, ldexp(1, -bits), 0, ox_q_zp(q));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two quantised tensors added, subtracted or multiplied.
 *
 * The result is a function of two codes. Golden computes it for all 65 536
 * pairs, in float32 as the file's operators say. If an integer form gives
 * the same for each of them, it is taken:
 *
 *   ADD  each operand is shifted left and RESCALEd, the sum is RESCALEd back
 *   MUL  the product of (x - zp) and (y - zp) is RESCALEd
 *
 * with ties to even in the last RESCALE if there are pairs that tie. Otherwise the results are a
 * table that GATHER reads; most products need it, since float32 rounds some of 65 536 across a tie.
 *
 * QLinearAdd and QLinearMul are ONNX Runtime's, which adds the result's zero point before it rounds,
 * so that ties go the other way if the zero point is odd:
 *
 *   y = clip(rint(fma(a, ra, fma(b, rb, y_zp - fma(ra, a_zp, rb * b_zp)))))     ra = a_scale / y_scale, rb = b_scale / y_scale
 *   y = clip(rint((a - a_zp) * (b - b_zp) * (a_scale * b_scale / y_scale) + y_zp))
 *
 * in float32; of ADD, a and b change places if a is broadcast along the last dimension. If necessary, ADD's form adds the zero point before the last RESCALE, too.
 *
 * int16 has too many pairs. The form of ADD is taken without a proof there: float32
 * holds 24 bits of a sum, and the form keeps more.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_fixed_point.h"
#include "onnx_integer.h"

#define CODES 256

/*
 * A form of the integer sum: both operands are shifted left by `left` bits and multiplied by factors a
 * and b; the sum, which is 2^back times the result, is multiplied by out. even: out rounds ties to even.
 * inside: the result's zero point, times 2^back, is added before out instead of behind it.
 */
struct form { struct ox_factor a, b, out; int left, back; bool even, inside; };

static int32_t clip8(int64_t v)
{
	return (int32_t)(v < -128 ? -128 : v > 127 ? 127 : v);
}

/*
 * Computes op by the golden model for every pair of an 8-bit code of a and one of b. f[i * CODES + k] becomes the
 * result for the i-th code of a and the k-th of b, in ascending order, quantised with q; for uint8 it is 128 less.
 * Returns true; or false if the model cannot compute it: f is unchanged then, and l->err may be set.
 */
static bool every_pair(struct ox *l, weft_opcode op, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, int32_t *f)
{
	int64_t col[2] = { CODES, 1 }, row[2] = { 1, CODES };
	int x = ox_dequantised(l, ox_reshape(l, ox_codes(l, a->v->t.dtype), 2, col), &a->q);
	int y = ox_dequantised(l, ox_reshape(l, ox_codes(l, b->v->t.dtype), 2, row), &b->q);

	return ox_quantised(l, ox_binary(l, op, x, y), q, f, CODES * CODES);
}

/* Returns the sum of QLinearAdd, not rounded yet, of code x of a, which is added last, and code y of b. */
static float sum_of(const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, int x, int y)
{
	const float ra = (float)a->q.s / (float)q->s, rb = (float)b->q.s / (float)q->s;
	const float rest = (float)q->z - fmaf(ra, (float)a->q.z, rb * (float)b->q.z);

	return fmaf((float)x, ra, fmaf((float)y, rb, rest));
}

/*
 * Returns what QLinearMul (op MUL) or QLinearAdd (any other op) gives for code x of a and code y of
 * b, each in its own type (0 to 255 for uint8), quantised with q, in 32-bit floats as ONNX Runtime
 * computes it; the result is 128 less if q is of uint8. If the value does not fit int32, or is NaN, the
 * result is the lowest code: the runtime converts to int32 before it saturates, and x86 processors convert such values to INT32_MIN.
 */
int32_t ox_qlinear_pair(weft_opcode op, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, int x, int y)
{
	const float sa = (float)a->q.s, sb = (float)b->q.s, sy = (float)q->s, low = q->flip ? 0 : -128;
	const float product = (float)(x - a->q.z) * (float)(y - b->q.z) * (sa * sb / sy) + (float)q->z;
	const float v = rintf(op == WEFT_OP_MUL ? product : b->last ? sum_of(b, a, q, y, x) : sum_of(a, b, q, x, y));
	const bool fits_int32 = v >= -0x1p31f && v < 0x1p31f;

	return (int32_t)(!fits_int32 || v < low ? low : v > low + 255 ? low + 255 : v) - (q->flip ? 128 : 0);
}

/*
 * Computes QLinearAdd or QLinearMul (op) of every pair of codes of a and b: f[i * CODES + k] for
 * a's i-th and b's k-th code in ascending order, less 128 if q is of uint8.
 */
static void every_qlinear_pair(weft_opcode op, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, int32_t *f)
{
	for (int i = 0; i < CODES; i++)
		for (int k = 0; k < CODES; k++)
			f[i * CODES + k] = ox_qlinear_pair(op, a, b, q, a->q.flip ? i : i - 128, b->q.flip ? k : k - 128);
}

/*
 * Returns the factor with shift 31 whose multiplier is ratio * 2^31 + off, at most INT32_MAX; ratio
 * is below 1.
 */
static struct ox_factor fraction(double ratio, int32_t off)
{
	double m = rint(ldexp(ratio, 31)) + off;

	return (struct ox_factor){ m > INT32_MAX ? INT32_MAX : (int32_t)m, 31 };
}

/*
 * Says whether the integer sum (sign 1) or difference (sign -1) in form t, with the zero point of
 * q (ox_q_zp(): 128 less for uint8) and limited to int8, gives f[i * CODES + k] for every pair of
 * a's i-th and b's k-th code in ascending order, without leaving 32 bits.
 */
static bool is_sum(const int32_t *f, const struct form *t, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, int sign)
{
	const int64_t zp = t->inside ? (int64_t)q->z - (q->flip ? 128 : 0) : 0, more = zp * ((int64_t)1 << t->back);
	int64_t x[CODES], y[CODES];

	for (int i = 0; i < CODES; i++) {
		x[i] = ox_scaled((int64_t)(i - 128 - ox_q_zp(&a->q)) * ((int64_t)1 << t->left), t->a, false);
		y[i] = sign * ox_scaled((int64_t)(i - 128 - ox_q_zp(&b->q)) * ((int64_t)1 << t->left), t->b, false);
	}
	for (int i = 0; i < CODES; i++)
		for (int k = 0; k < CODES; k++)
			if (llabs(x[i] + y[k] + more) > INT32_MAX ||
			    f[i * CODES + k] != clip8(ox_scaled(x[i] + y[k] + more, t->out, t->even) + (t->inside ? 0 : ox_q_zp(q))))
				return false;
	return true;
}

/*
 * Sets *t to a form of the integer sum of two operands whose scales are ra and rb times the result's. Each
 * operand is shifted left by `left` bits and multiplied by a fraction with a power of two as denominator,
 * which the last RESCALE takes back; off_a and off_b are added to the multipliers. If `least` is set, a
 * multiplier that is 0 becomes 1: that operand adds less than a unit of the sum. t rounds ties up and adds
 * the zero point last; the caller may change both. Returns false if the powers do not fit 31 bits or a
 * multiplier is not positive.
 */
static bool sum_form(double ra, double rb, int left, int off_a, int off_b, bool least, struct form *t)
{
	double most = fmax(ra, rb);
	int e;

	(void)frexp(most, &e);           /* most < 2^e */
	int back = left - e;             /* the sum has 2^back to one of the result */
	if (back < 1 || back > 31)
		return false;
	*t = (struct form){ fraction(ldexp(ra, -e), off_a), fraction(ldexp(rb, -e), off_b), { (int32_t)1 << (31 - back), 31 }, left, back, false, false };
	if (back == 31)
		t->out = (struct ox_factor){ 1, 31 };
	if (least) {
		t->a.mul = t->a.mul > 0 ? t->a.mul : 1;
		t->b.mul = t->b.mul > 0 ? t->b.mul : 1;
	}
	return t->a.mul > 0 && t->b.mul > 0;
}

/*
 * Emits quantised operand s, in order perm, less its zero point, shifted left by `left` bits and
 * rescaled by factor f, as int32. Returns the graph tensor, or a negative errno.
 */
static int emit_side(struct ox *l, const struct ox_side *s, const int8_t *perm, int left, struct ox_factor f)
{
	int x = ox_rescale(l, ox_side_in(l, s->v, perm), WEFT_INT32, (struct ox_factor){ (int32_t)1 << 30, (int8_t)(30 - left) }, ox_q_zp(&s->q), 0);

	return ox_rescale(l, x, WEFT_INT32, f, 0, 0);
}

/*
 * Emits the integer sum or difference (op) of quantised a and b in form t: both operands rescaled
 * to int32, in order perm, combined, and rescaled to codes with q. Returns the graph tensor, or a
 * negative errno.
 */
static int emit_sum(struct ox *l, const struct form *t, weft_opcode op, const struct ox_side *a, const struct ox_side *b,
                    const struct ox_q *q, const int8_t *perm)
{
	int x = emit_side(l, a, perm, t->left, t->a), y = emit_side(l, b, perm, t->left, t->b);

	int sum = ox_binary(l, op, x, y);
	if (t->inside && sum >= 0)
		sum = ox_binary(l, WEFT_OP_ADD, sum, ox_ramp(l, WEFT_INT32, ox_t(l, sum)->rank, ldexp(ox_q_zp(q), t->back)));
	return ox_rescale_even(l, sum, ox_signed(q->zp->t.dtype), t->out, t->even, 0, t->inside ? 0 : ox_q_zp(q));
}

/*
 * Makes the codes of the integer sum or difference (op) of quantised a and b, in order y->perm,
 * which the caller has set. The first form is taken that gives f, the exact (or the runtime's)
 * results of all pairs of codes. With --requant rescale the first form with ties half up whose
 * powers fit is taken, whatever it gives; f is asked only if there is no such form. Returns 1 with
 * y->tensor set, 0 if no form is found, or a negative errno.
 */
static int fold_sum(struct ox *l, weft_opcode op, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q,
                    const int32_t *f, struct ox_coded *y)
{
	static const int8_t nudge[9][2] = { { 0, 0 }, { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 }, { 1, 1 }, { -1, -1 }, { 1, -1 }, { -1, 1 } };
	const bool rescale = l->o.requant == WEFT_ONNX_REQUANT_RESCALE;
	double ra = a->q.s / q->s, rb = b->q.s / q->s;
	struct form t;

	for (int left = 21; left >= 19; left--)
		for (int i = 0; i < 9; i++) {
			if (!sum_form(ra, rb, left, nudge[i][0] * 64, nudge[i][1] * 64, rescale, &t))
				continue;
			if (!rescale && !is_sum(f, &t, a, b, q, op == WEFT_OP_SUB ? -1 : 1))
				continue;
			return ox_coded_as(y, emit_sum(l, &t, op, a, b, q, y->perm));
		}
	if (!sum_form(ra, rb, 20, 0, 0, false, &t))
		return 0;
	t.even = true;
	bool found = is_sum(f, &t, a, b, q, op == WEFT_OP_SUB ? -1 : 1);
	for (int left = 20; !found && left > 12 && (q->z & 1) && sum_form(ra, rb, left, 0, 0, false, &t); left--) {
		t.even = t.inside = true;
		found = is_sum(f, &t, a, b, q, op == WEFT_OP_SUB ? -1 : 1);
	}
	return found ? ox_coded_as(y, emit_sum(l, &t, op, a, b, q, y->perm)) : 0;
}

/*
 * Says whether the product of codes less their zero points, rescaled by r (ties to even if `even`
 * is set, else up), plus q's zero point (ox_q_zp(): 128 less for uint8) and limited to int8, gives
 * f[i * CODES + k] for every pair of a's i-th and b's k-th code in ascending order.
 */
static bool is_product(const int32_t *f, struct ox_factor r, bool even, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q)
{
	for (int i = 0; i < CODES; i++)
		for (int k = 0; k < CODES; k++) {
			int64_t v = (int64_t)(i - 128 - ox_q_zp(&a->q)) * (k - 128 - ox_q_zp(&b->q));
			if (f[i * CODES + k] != clip8(ox_scaled(v, r, even) + ox_q_zp(q)))
				return false;
		}
	return true;
}

/*
 * Makes the codes of the product of the integers of a and b less their zero points, in order
 * y->perm, which the caller has set, rescaled by the nearest factor. Ties go up. Without --requant
 * rescale that is done only if it gives f, the exact results of all pairs of codes, with ties up or
 * else to even. Returns 1 with y->tensor set; 0 if the scales have no factor, or none that gives f;
 * or a negative errno.
 */
static int fold_product(struct ox *l, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, const int32_t *f,
                        struct ox_coded *y)
{
	struct ox_factor r;
	bool even = false;

	if (!ox_nearest(a->q.s * b->q.s / q->s, 65536, &r))
		return 0;
	if (l->o.requant != WEFT_ONNX_REQUANT_RESCALE && !is_product(f, r, false, a, b, q)) {
		even = true;
		if (!is_product(f, r, true, a, b, q))
			return 0;
	}
	const int left = ox_centred(l, a, y->perm), right = ox_centred(l, b, y->perm);
	return ox_coded_as(y, ox_rescale_even(l, ox_binary(l, WEFT_OP_MUL, left, right), WEFT_INT8, r, even, 0, ox_q_zp(q)));
}

/*
 * Emits the function f of the codes of a and b, in order perm, by GATHER from a table of all pairs:
 * f[256 * i + k], which has to fit int8, for a's i-th and b's k-th code in ascending order. Returns
 * the graph tensor, or a negative errno.
 */
static int by_table(struct ox *l, const struct ox_side *a, const struct ox_side *b, const int8_t *perm, const int32_t *f)
{
	int x = ox_rescale(l, ox_side_in(l, a->v, perm), WEFT_INT32, (struct ox_factor){ (int32_t)1 << 30, 22 }, -128, 0);
	int y = ox_rescale(l, ox_side_in(l, b->v, perm), WEFT_INT32, (struct ox_factor){ (int32_t)1 << 30, 30 }, -128, 0);
	int idx = ox_binary(l, WEFT_OP_ADD, x, y);
	int8_t *p = idx < 0 ? NULL : ox_alloc(l, CODES * CODES, 1);

	if (!p)
		return l->err;
	for (int i = 0; i < CODES * CODES; i++)
		p[i] = (int8_t)f[i];
	const weft_tensor t = *ox_t(l, idx);
	int64_t n = weft_tensor_elements(&t), pairs = CODES * CODES;
	int values = ox_data(l, WEFT_INT8, 2, (int64_t[]){ pairs, 1 }, p);
	return ox_reshape(l, ox_rows(l, values, pairs, 1, ox_reshape(l, idx, 1, &n), n), t.rank, t.dim);
}

/*
 * Makes the codes of the product of 16-bit a and b, quantised with q of 16 bits, in order y->perm, by the nearest
 * factor, with ties up; only --requant rescale asks for that. Products that could leave int32 lose their two lowest
 * bits first, which is less than 2^-6 of a step. Returns 1 with y->tensor set; 0 without the option or if the factor
 * is too large; or a negative errno.
 */
static int fold_wide_product(struct ox *l, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_factor r;
	const int down = (int64_t)ox_q_farthest(&a->q) * ox_q_farthest(&b->q) > INT32_MAX ? 2 : 0;
	const double real = ldexp(a->q.s * b->q.s / q->s, down);

	if (l->o.requant != WEFT_ONNX_REQUANT_RESCALE || (down && !(real < 0x1p-5)) || !ox_nearest(real, 0x1p30, &r))
		return 0;
	const int left = ox_centred(l, a, y->perm), right = ox_centred(l, b, y->perm);
	const int z = down ? ox_product(l, left, right, down) : ox_binary(l, WEFT_OP_MUL, left, right);
	return ox_coded_as(y, ox_rescale(l, z, WEFT_INT16, r, 0, ox_q_zp(q)));
}

/*
 * Computes the sum, difference or product (op) of two quantised operands of one rank (with --requant rescale, of any), whose shapes
 * are broadcast, quantised again with q, in integers; qlinear chooses the rounding of QLinearAdd
 * and QLinearMul. Operands of 8 bits need a form that gives the exact results of all pairs of
 * codes, and a table of all pairs is the last resort; with --requant rescale
 * fold_sum() and fold_product() take inexact forms. Returns 1 with *y set, in an order of
 * dimensions in which a is held; 0 if the ranks differ, 16 bits come with 8, or as a product without --requant rescale,
 * no form is found, or, with l->err cleared, the exact results cannot be
 * computed; or a negative errno.
 */
int ox_fold_pair(struct ox *l, weft_opcode op, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, bool qlinear,
                 struct ox_coded *y)
{
	bool wide = ox_is_16_bit(q->zp);
	const int rank = a->v->t.rank > b->v->t.rank ? a->v->t.rank : b->v->t.rank;
	struct ox_value held[2];
	struct ox_side as, bs;
	struct form t;

	if (l->o.requant == WEFT_ONNX_REQUANT_RESCALE) {
		if (ox_side_of_rank(l, a, rank, &held[0], &as) < 0 || ox_side_of_rank(l, b, rank, &held[1], &bs) < 0)
			return l->err;
		a = &as;
		b = &bs;
	}
	if (ox_is_16_bit(a->v) != wide || ox_is_16_bit(b->v) != wide || a->v->t.rank != b->v->t.rank)
		return 0;
	if (ox_side_tensor(l, a->v, y->perm) < 0)
		return l->err;
	if (wide) {
		if (op == WEFT_OP_MUL)
			return fold_wide_product(l, a, b, q, y);
		/* The sum of both fits int32. */
		const int left = ox_q_farthest(&a->q) > 32768 || ox_q_farthest(&b->q) > 32768 ? 13 : 14;
		if (!sum_form(a->q.s / q->s, b->q.s / q->s, left, 0, 0, l->o.requant == WEFT_ONNX_REQUANT_RESCALE, &t))
			return 0;
		return ox_coded_as(y, emit_sum(l, &t, op, a, b, q, y->perm));
	}
	int32_t *f = ox_alloc(l, CODES * CODES, sizeof *f);
	if (!f)
		return l->err;
	int done = 0;
	if (qlinear)
		every_qlinear_pair(op, a, b, q, f);
	const bool known = qlinear || every_pair(l, op, a, b, q, f);
	if (!known)
		l->err = 0;
	else
		done = op == WEFT_OP_MUL ? fold_product(l, a, b, q, f, y) : fold_sum(l, op, a, b, q, f, y);
	if (!l->err && !done && l->o.requant != WEFT_ONNX_REQUANT_RESCALE && known)
		done = ox_coded_as(y, by_table(l, a, b, y->perm, f));
	l->room += CODES * CODES * (int64_t)sizeof *f;
	free(f);
	return done;
}

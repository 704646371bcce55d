/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADD, SUB and MUL of quantised tensors and of int32.
 *
 * ADD and SUB bring both operands to twice the larger scale, L bits to the
 * left: (a - za) << L times s / (2 * larger), each rounded. Then the sum or
 * difference is multiplied by 2 * larger / (2^L * sy). L is 20 for int8, 15 for
 * int16. The rounding of each step shows in the result, so no two are merged. int16
 * operators made for scales that are powers of two have a rule of their own:
 * the operand with the smaller scale is shifted right, with halves away from zero.
 * MUL is (a - za) * (b - zb) times sa * sb / sy. int32 has no scales and wraps.
 */
#include <errno.h>

#include "sim/golden/fixed_point.h"
#include "tflite_lower.h"


/*
 * Emits graph tensor x with leading dimensions of 1 up to the given rank, since TOSA broadcasts
 * only between equal ranks; x itself if it has that rank. Returns the graph tensor, -EINVAL if its
 * rank is higher, or another negative errno.
 */
int tfl_match_rank(struct tfl_lower *l, int x, int rank)
{
	weft_tensor t = l->g->tensors[x].t;
	int64_t dim[WEFT_MAX_RANK];

	if (t.rank > rank)
		return tfl_fail(l, -EINVAL, "operand of rank %d, result of rank %d", t.rank, rank);
	for (int i = 0; i < rank; i++)
		dim[i] = i < rank - t.rank ? 1 : t.dim[i - (rank - t.rank)];
	return tfl_reshape(l, x, rank, dim);
}

/* Two quantised operands and the result: graph tensors, quantisation, and the fused activation. */
struct pair {
	int x[2];
	struct tfl_quant q[2], y;
	int activation;
};

/*
 * Sets *p to both operands of the operator at hand, with the result's rank, and to their
 * quantisation and the result's. Returns 0, -ENOTSUP if a type is not the result's or none of 8 and
 * 16 bits, or another negative errno.
 */
static int operands(struct tfl_lower *l, struct pair *p)
{
	int err = tfl_need_result(l, TFL_Q8_16, &p->y);

	for (int k = 0; k < 2 && !err; k++) {
		p->x[k] = tfl_quant_value(l, k, TFL_Q8_16, &p->q[k]);
		if (p->x[k] >= 0 && p->q[k].t != p->y.t)
			return tfl_fail(l, -ENOTSUP, "operand %d is %s, result %s", k, weft_dtype_name(p->q[k].t),
			                weft_dtype_name(p->y.t));
		if (p->x[k] >= 0)
			p->x[k] = tfl_match_rank(l, p->x[k], l->y.rank);
		err = p->x[k] < 0 ? p->x[k] : 0;
	}
	return err;
}

/*
 * Emits op (ADD, SUB or MUL) of the operator's two int32 operands, which have no scales, as its
 * result. Returns the result's tensor, -ENOTSUP if there is an activation or an operand is not
 * int32, or another negative errno.
 */
static int plain(struct tfl_lower *l, weft_opcode op, int activation)
{
	weft_attr a = { .mul = { 0 } };
	int x[2];

	if (activation)
		return tfl_fail(l, -ENOTSUP, "activation %d of int32 is not supported", activation);
	for (int k = 0; k < 2; k++) {
		if ((x[k] = tfl_value(l, k)) < 0 || (x[k] = tfl_match_rank(l, x[k], l->y.rank)) < 0)
			return x[k];
		if (l->g->tensors[x[k]].t.dtype != WEFT_INT32)
			return tfl_fail(l, -ENOTSUP, "operand %d is %s, result int32", k, weft_dtype_name(l->g->tensors[x[k]].t.dtype));
	}
	return tfl_step(l, op, op == WEFT_OP_MUL ? &a : NULL, x, 2, WEFT_INT32, l->y.rank, l->y.dim, true);
}

/*
 * Sets shift[k] to log2(result's scale / scale of operand k). Returns false, with shift unchanged, if the
 * result is not int16 or one of the three scales is not within weft_near_power_of_two() of a power of two;
 * scales that are count as that power.
 */
static bool power_of_two_shifts(const struct pair *p, int shift[2])
{
	int y, x[2];

	if (p->y.t != WEFT_INT16 || !weft_near_power_of_two(p->y.scale, &y) ||
	    !weft_near_power_of_two(p->q[0].scale, &x[0]) || !weft_near_power_of_two(p->q[1].scale, &x[1]))
		return false;
	for (int k = 0; k < 2; k++)
		shift[k] = y - x[k];
	return true;
}

/*
 * Emits int16 x >> shift as int32, with halves rounded away from zero; a shift of 0 only widens x. For
 * the rounding x is shifted left by 15 bits first, since a factor of 1/2 alone would round half up.
 * Returns the graph tensor, or a negative errno.
 */
static int shifted(struct tfl_lower *l, int x, int shift)
{
	struct tfl_factor f = { .multiplier = 1 << 30, .shift = (int8_t)(30 + 15 + shift) };
	int y = tfl_widen(l, x, 0, shift ? 15 : 0);

	if (y < 0 || !shift)
		return y;
	struct tfl_rescale r = { .to = WEFT_INT32, .rounding = WEFT_DOUBLE_ROUND, .n = 1, .f = &f };
	return tfl_rescale(l, y, &r, false);
}

/*
 * Emits the int16 sum or difference (op) of operands whose scales are the result's divided by
 * 2^shift[k], by shifts instead of multipliers, with its activation, as the operator's result.
 * Returns the result's tensor, -EINVAL unless one shift is 0 and the other 0 to 15, or another
 * negative errno.
 */
static int add_powers_of_two(struct tfl_lower *l, const struct pair *p, weft_opcode op, const int shift[2])
{
	struct tfl_factor one = { .multiplier = 1 << 30, .shift = 30 };
	int x[2];

	if (shift[0] < 0 || shift[1] < 0 || (shift[0] && shift[1]) || shift[0] > 15 || shift[1] > 15)
		return tfl_fail(l, -EINVAL, "scales 2^%d and 2^%d below the result's; one must equal it, none exceed it or be "
		                "2^15 less", -shift[0], -shift[1]);
	for (int k = 0; k < 2; k++)
		if ((x[k] = shifted(l, p->x[k], shift[k])) < 0)
			return x[k];
	int sum = tfl_step(l, op, NULL, x, 2, WEFT_INT32, l->y.rank, l->y.dim, false);
	return sum < 0 ? sum : tfl_requantise(l, sum, 1, &one, p->activation, true);
}

/*
 * Emits op, ADD or SUB, of the operands at hand as TFLite computes it: both are widened, rescaled to
 * twice the larger scale, combined, and rescaled to the result, with the activation. If `powers` is not
 * 0, int16 operands whose three scales are powers of two are shifted instead, and refused with -EINVAL
 * unless one scale is the result's and the other that or up to 2^15 times less. int32 has no scales, wraps,
 * and takes no activation. Returns the result's tensor, -ENOTSUP if types differ or are others or int32 has
 * an activation, or another negative errno.
 */
static int add_or_sub(struct tfl_lower *l, weft_opcode op, int activation, int powers)
{
	struct pair p = { .activation = activation };
	struct tfl_factor f;
	int wide[2], shift[2], err;

	if (l->y.dtype == WEFT_INT32)
		return plain(l, op, activation);
	if ((err = operands(l, &p)))
		return err;
	if (powers && power_of_two_shifts(&p, shift))
		return add_powers_of_two(l, &p, op, shift);
	int left = p.y.t == WEFT_INT16 ? 15 : 20;
	double twice = 2 * (double)(p.q[0].scale > p.q[1].scale ? p.q[0].scale : p.q[1].scale);
	for (int k = 0; k < 2; k++) {
		if ((err = tfl_factor(l, (double)p.q[k].scale / twice, &f)))
			return err;
		int x = tfl_widen(l, p.x[k], p.q[k].zp, left);
		if (x < 0)
			return x;
		struct tfl_rescale r = { .to = WEFT_INT32, .rounding = WEFT_DOUBLE_ROUND, .n = 1, .f = &f };
		if ((wide[k] = tfl_rescale(l, x, &r, false)) < 0)
			return wide[k];
	}
	if ((err = tfl_factor(l, twice / ((double)(1 << left) * (double)p.y.scale), &f)))
		return err;
	int sum = tfl_step(l, op, NULL, wide, 2, WEFT_INT32, l->y.rank, l->y.dim, false);
	return sum < 0 ? sum : tfl_requantise(l, sum, 1, &f, p.activation, true);
}

/*
 * Lowers ADD of two 8-bit, int16 or int32 operands of the result's type, which broadcast, with its activation
 * (none for int32). int16 operands whose scales and the result's are powers of two are shifted instead of
 * multiplied, unless the operator's option denies it (add_or_sub()). Returns the result's tensor, -ENOTSUP
 * for other types, -EINVAL if such scales are too far apart for shifts, or another negative errno.
 */
int tfl_lower_add(struct tfl_lower *l)
{
	int activation, powers, err;

	if ((err = tfl_limiting(l, OPTIONS_ADD, ADD_ACTIVATION, &activation)) ||
	    (err = tfl_option(l, OPTIONS_ADD, ADD_POWERS_OF_TWO, 1, 1, &powers)))
		return err;
	return add_or_sub(l, WEFT_OP_ADD, activation, powers);
}

/*
 * Lowers SUB of two 8-bit, int16 or int32 operands of the result's type, which broadcast, with its activation
 * (none for int32). int16 operands whose scales and the result's are powers of two are shifted instead of
 * multiplied, unless the operator's option denies it (add_or_sub()). Returns the result's tensor, -ENOTSUP
 * for other types, -EINVAL if such scales are too far apart for shifts, or another negative errno.
 */
int tfl_lower_sub(struct tfl_lower *l)
{
	int activation, powers, err;

	if ((err = tfl_limiting(l, OPTIONS_SUB, SUB_ACTIVATION, &activation)) ||
	    (err = tfl_option(l, OPTIONS_SUB, SUB_POWERS_OF_TWO, 1, 1, &powers)))
		return err;
	return add_or_sub(l, WEFT_OP_SUB, activation, powers);
}

/*
 * Returns the factor that turns a product of operands' integers into the result's: scale times
 * scale over the result's scale, computed in float32 as TensorFlow Lite does, or in float64 as its
 * version for microcontrollers does.
 */
static double product_factor(const struct tfl_lower *l, const struct pair *p)
{
	if (tfl_is_micro(l))
		return (double)p->q[0].scale * (double)p->q[1].scale / (double)p->y.scale;
	return (double)(p->q[0].scale * p->q[1].scale / p->y.scale);
}

/*
 * Lowers MUL of two 8-bit, int16 or int32 operands of the result's type, which broadcast: the product of
 * the operands less their zero points, rescaled to the result, with the activation. int32 has no scales,
 * wraps, and takes no activation. Returns the result's tensor, -ENOTSUP for other types, or another
 * negative errno.
 */
int tfl_lower_mul(struct tfl_lower *l)
{
	struct pair p;
	struct tfl_factor f;
	weft_attr a = { .mul = { 0 } };
	int wide[2], err;

	if ((err = tfl_limiting(l, OPTIONS_MUL, MUL_ACTIVATION, &p.activation)))
		return err;
	if (l->y.dtype == WEFT_INT32)
		return plain(l, WEFT_OP_MUL, p.activation);
	if ((err = operands(l, &p)) ||
	    (err = tfl_factor(l, product_factor(l, &p), &f)))
		return err;
	for (int k = 0; k < 2; k++)
		if ((wide[k] = tfl_widen(l, p.x[k], p.q[k].zp, 0)) < 0)
			return wide[k];
	int y = tfl_step(l, WEFT_OP_MUL, &a, wide, 2, WEFT_INT32, l->y.rank, l->y.dim, false);
	return y < 0 ? y : tfl_requantise(l, y, 1, &f, p.activation, true);
}

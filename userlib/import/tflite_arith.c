/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADD and MUL of int8 tensors.
 *
 * ADD brings both operands to twice the larger scale, 20 bits to the left:
 * (a - za) << 20 times s / (2 * larger), each rounded, then the sum times
 * 2 * larger / (2^20 * sy). The rounding of each step shows in the result, so
 * no two are merged. MUL is (a - za) * (b - zb) times sa * sb / sy.
 */
#include <errno.h>

#include "tflite_lower.h"

#define ADD_LEFT 20

/* TOSA broadcasts only between equal ranks: leading ones for the smaller. */
static int match_rank(struct tfl_lower *l, int x, int rank)
{
	weft_tensor t = l->g->tensors[x].t;
	int64_t dim[WEFT_MAX_RANK];

	if (t.rank > rank)
		return tfl_fail(l, -EINVAL, "operand of rank %d, result of rank %d", t.rank, rank);
	for (int i = 0; i < rank; i++)
		dim[i] = i < rank - t.rank ? 1 : t.dim[i - (rank - t.rank)];
	return tfl_reshape(l, x, rank, dim);
}

struct pair {
	int x[2];
	struct tfl_quant q[2], y;
	int activation;
};

static int operands(struct tfl_lower *l, struct pair *p)
{
	int err = tfl_need_int8_result(l, &p->y);

	for (int k = 0; k < 2 && !err; k++) {
		p->x[k] = tfl_int8_value(l, k, &p->q[k]);
		if (p->x[k] >= 0)
			p->x[k] = match_rank(l, p->x[k], l->y.rank);
		err = p->x[k] < 0 ? p->x[k] : 0;
	}
	return err;
}

int tfl_lower_add(struct tfl_lower *l)
{
	struct pair p;
	struct tfl_factor f;
	int wide[2], err;

	if ((err = tfl_option(l, OPTIONS_ADD, ADD_ACTIVATION, 1, 0, &p.activation)) || (err = operands(l, &p)))
		return err;
	double twice = 2 * (double)(p.q[0].scale > p.q[1].scale ? p.q[0].scale : p.q[1].scale);
	for (int k = 0; k < 2; k++) {
		if ((err = tfl_factor(l, (double)p.q[k].scale / twice, &f)))
			return err;
		int x = tfl_widen(l, p.x[k], p.q[k].zp, ADD_LEFT);
		if (x < 0)
			return x;
		struct tfl_rescale r = { .to = WEFT_INT32, .rounding = WEFT_DOUBLE_ROUND, .n = 1, .f = &f };
		if ((wide[k] = tfl_rescale(l, x, &r, false)) < 0)
			return wide[k];
	}
	if ((err = tfl_factor(l, twice / ((double)(1 << ADD_LEFT) * (double)p.y.scale), &f)))
		return err;
	int sum = tfl_step(l, WEFT_OP_ADD, NULL, wide, 2, WEFT_INT32, l->y.rank, l->y.dim, false);
	return sum < 0 ? sum : tfl_requantise(l, sum, 1, &f, p.activation, true);
}

int tfl_lower_mul(struct tfl_lower *l)
{
	struct pair p;
	struct tfl_factor f;
	weft_attr a = { .mul = { 0 } };
	int wide[2], err;

	if ((err = tfl_option(l, OPTIONS_MUL, MUL_ACTIVATION, 1, 0, &p.activation)) || (err = operands(l, &p)) ||
	    (err = tfl_factor(l, (double)p.q[0].scale * (double)p.q[1].scale / (double)p.y.scale, &f)))
		return err;
	for (int k = 0; k < 2; k++)
		if ((wide[k] = tfl_widen(l, p.x[k], p.q[k].zp, 0)) < 0)
			return wide[k];
	int y = tfl_step(l, WEFT_OP_MUL, &a, wide, 2, WEFT_INT32, l->y.rank, l->y.dim, false);
	return y < 0 ? y : tfl_requantise(l, y, 1, &f, p.activation, true);
}

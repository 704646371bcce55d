/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_LSTM: TensorFlow Lite's UNIDIRECTIONAL_SEQUENCE_LSTM of int8, without
 * peepholes, projection and layer normalisation. States start from zero.
 *
 *   x    [N][T][I] (time_major: [T][N][I]) int8, zero point x_zp
 *   wx   4 x [S][I] int8     for the gates input, forget, cell, output
 *   wh   4 x [S][S] int8
 *   bias 4 x [S] int32
 *   y    [N][T][S] (or [T][N][S]) int8: the hidden state, zero point y_zp
 *
 * Per gate, two sums, each scaled to Q3.12 and clipped to int16, then added
 * with saturation; logistic (cell: tanh) of that in Q0.15. With c the cell
 * state (int16, scale 2^cell_power) and h the hidden state:
 *   c = clip(sat(scale(forget * c) + scale(input * cell)))
 *   h = scale(tanh(c) * output) + y_zp
 * where every scale() rounds twice. The hidden state before the first step is
 * the real 0: y_zp.
 *
 * Sums wrap; products of Q0.15 numbers stay below 2^30.
 *
 * Source: TensorFlow Lite Micro's reference arithmetic for that operator.
 */
#include <stdlib.h>

#include "sim/golden/fixed_point.h"
#include "tfl_sigmoid16.h"

enum { GATE_INPUT, GATE_FORGET, GATE_CELL, GATE_OUTPUT, N_GATES };
enum { X = 0, WX = 1, WH = 5, BIAS = 9, N_OPERANDS = 13 };

struct sizes { int64_t n, t, i, s; };

static int32_t scale(int32_t v, const struct weft_tfl_factor *f)
{
	return weft_scale_q31(v, f->multiplier, f->shift);
}

static int16_t clip16(int64_t v)
{
	return (int16_t)weft_clip(v, INT16_MIN, INT16_MAX);
}

/* bias + sum of w * (x - zp), wrapping. */
static int32_t dot(const int8_t *w, const int8_t *x, int64_t n, int32_t zp, int32_t bias)
{
	uint32_t sum = (uint32_t)bias;

	for (int64_t i = 0; i < n; i++)
		sum += (uint32_t)(w[i] * (x[i] - zp));
	return (int32_t)sum;
}

static int16_t gate(const struct weft_call *c, const struct weft_sigmoid16 *q12, const struct sizes *d, int g, int64_t s,
                    const int8_t *x, const int8_t *h)
{
	const struct weft_attr_tfl_lstm *a = &c->attr->tfl_lstm;
	const int8_t *wx = (const int8_t *)c->x[WX + g]->data + s * d->i, *wh = (const int8_t *)c->x[WH + g]->data + s * d->s;
	int16_t from_x = clip16(scale(dot(wx, x, d->i, a->x_zp, ((const int32_t *)c->x[BIAS + g]->data)[s]), &a->x_gate[g]));
	int16_t from_h = clip16(scale(dot(wh, h, d->s, a->y_zp, 0), &a->h_gate[g]));
	int16_t sum = clip16((int32_t)from_x + from_h);

	return g == GATE_CELL ? weft_tanh16(q12, sum) : weft_logistic16(q12, sum);
}

static int16_t next_cell(const struct weft_attr_tfl_lstm *a, const int16_t *gates, int16_t cell)
{
	int16_t kept = clip16(scale(gates[GATE_FORGET] * cell, &a->forget_cell));
	int16_t fresh = clip16(scale(gates[GATE_INPUT] * gates[GATE_CELL], &a->input_cell));
	int32_t sum = clip16((int32_t)kept + fresh);

	return a->cell_clip > 0 ? (int16_t)weft_clip(sum, -a->cell_clip, a->cell_clip) : (int16_t)sum;
}

/* One step of one sequence: h_new and cell from x and h. */
static void step(const struct weft_call *c, const struct weft_sigmoid16 *q12, const struct weft_sigmoid16 *of_cell,
                 const struct sizes *d, const int8_t *x, const int8_t *h, int8_t *h_new, int16_t *cell)
{
	const struct weft_attr_tfl_lstm *a = &c->attr->tfl_lstm;

	for (int64_t s = 0; s < d->s; s++) {
		int16_t gates[N_GATES];

		for (int g = 0; g < N_GATES; g++)
			gates[g] = gate(c, q12, d, g, s, x, h);
		cell[s] = next_cell(a, gates, cell[s]);
		int32_t r = scale(weft_tanh16(of_cell, cell[s]) * gates[GATE_OUTPUT], &a->hidden);
		h_new[s] = (int8_t)weft_clip((int64_t)r + a->y_zp, INT8_MIN, INT8_MAX);
	}
}

static int check_operand(const struct weft_call *c, int k, weft_dtype t, int64_t d0, int64_t d1)
{
	const weft_tensor *x = c->x[k];

	if (x->dtype != t || x->rank != (d1 ? 2 : 1) || x->dim[0] != d0 || (d1 && x->dim[1] != d1))
		return weft_call_fail(c, -EINVAL, "input %d must be %s [%lld%s%lld]", k, weft_dtype_name(t), (long long)d0,
		                      d1 ? ", " : "] not [", (long long)d1);
	return 0;
}

static int check_factor(const struct weft_call *c, const struct weft_tfl_factor *f)
{
	if (f->multiplier < 0 || f->shift < -31 || f->shift > 30)
		return weft_call_fail(c, -EINVAL, "factor %d * 2^(%d - 31)", f->multiplier, f->shift);
	return 0;
}

static int check(const struct weft_call *c, struct sizes *d)
{
	const struct weft_attr_tfl_lstm *a = &c->attr->tfl_lstm;
	const weft_tensor *x = c->x[X], *y = c->y[0];
	int err = 0;

	if (x->dtype != WEFT_INT8 || y->dtype != WEFT_INT8 || x->rank != 3 || y->rank != 3 || x->dim[0] != y->dim[0] ||
	    x->dim[1] != y->dim[1])
		return weft_call_fail(c, -EINVAL, "input and output must be int8 of rank 3 with equal leading dimensions");
	*d = (struct sizes){ x->dim[a->time_major ? 1 : 0], x->dim[a->time_major ? 0 : 1], x->dim[2], y->dim[2] };
	for (int g = 0; g < N_GATES && !err; g++) {
		if (!(err = check_operand(c, WX + g, WEFT_INT8, d->s, d->i)) &&
		    !(err = check_operand(c, WH + g, WEFT_INT8, d->s, d->s)))
			err = check_operand(c, BIAS + g, WEFT_INT32, d->s, 0);
	}
	for (int g = 0; g < N_GATES && !err; g++)
		if (!(err = check_factor(c, &a->x_gate[g])))
			err = check_factor(c, &a->h_gate[g]);
	if (err)
		return err;
	if (check_factor(c, &a->forget_cell) || check_factor(c, &a->input_cell) || check_factor(c, &a->hidden))
		return -EINVAL;
	if (a->x_zp < INT8_MIN || a->x_zp > INT8_MAX || a->y_zp < INT8_MIN || a->y_zp > INT8_MAX)
		return weft_call_fail(c, -EINVAL, "zero points %d and %d; -128 to 127 wanted", a->x_zp, a->y_zp);
	if (a->cell_power < -30 || a->cell_power > 0 || a->cell_clip < 0 || a->cell_clip > INT16_MAX)
		return weft_call_fail(c, -EINVAL, "cell scale 2^%d, clip %d", a->cell_power, a->cell_clip);
	return 0;
}

/* tanh's argument from the cell state: Q3.12 shifted to the left, or rounded to the right. */
static void init_of_cell(struct weft_sigmoid16 *s, int cell_power)
{
	int left = cell_power + 12;

	if (left >= 0)
		weft_sigmoid16_init(s, 3 << left, 0);
	else
		weft_sigmoid16_init(s, 3, -left);
}

int weft_golden_tfl_lstm(const struct weft_call *c)
{
	const struct weft_attr_tfl_lstm *a = &c->attr->tfl_lstm;
	struct weft_sigmoid16 q12, of_cell;
	struct sizes d = { 0 };
	int err = check(c, &d);

	if (err)
		return err;
	int8_t *zero = malloc((size_t)d.s);
	int16_t *cell = malloc((size_t)d.s * sizeof *cell);
	if (!zero || !cell) {
		free(zero);
		free(cell);
		return weft_call_fail(c, -ENOMEM, "out of memory for %lld states", (long long)d.s);
	}
	weft_sigmoid16_init(&q12, 3, 0);
	init_of_cell(&of_cell, a->cell_power);
	for (int64_t n = 0; n < d.n; n++) {
		const int8_t *h = zero;

		for (int64_t s = 0; s < d.s; s++) {
			zero[s] = (int8_t)a->y_zp;
			cell[s] = 0;
		}
		for (int64_t t = 0; t < d.t; t++) {
			int64_t at = a->time_major ? t * d.n + n : n * d.t + t;
			int8_t *y = (int8_t *)c->y[0]->data + at * d.s;

			step(c, &q12, &of_cell, &d, (const int8_t *)c->x[X]->data + at * d.i, h, y, cell);
			h = y;
		}
	}
	free(zero);
	free(cell);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNIDIRECTIONAL_SEQUENCE_LSTM of int8 with an int16 cell state as TensorFlow Lite for Microcontrollers computes it, in the
 * form that Keras' LSTM layer gives: no peepholes, projection or layer normalisation. The other runtimes' is tflite_lstm8.c's.
 *
 * Operands: 0 the input; 1..4 its weights for the gates input, forget, cell,
 * output; 5..8 those of the hidden state; 12..15 biases; 18 and 19 the states.
 */
#include <errno.h>
#include <math.h>

#include "sim/golden/fixed_point.h"
#include "tflite_host.h"

enum { LSTM_WX = 1, LSTM_WH = 5, LSTM_BIAS = 12, LSTM_HIDDEN = 18, LSTM_CELL = 19, LSTM_OPERANDS = 24 };
#define Q3_12 (1.0f / 4096)        /* the scale of int16 with 3 bits before the point */
#define Q0_15 (1.0 / 32768)        /* the scale of int16 with none */

/*
 * Checks that the LSTM at hand has no operands for peepholes, projection and normalisation. Returns
 * 0, -ENOTSUP if it has one, or -EINVAL if there are more than LSTM_OPERANDS operands.
 */
static int check_absent(struct tfl_lower *l)
{
	static const unsigned known = 0x1FFu | 0xFu << LSTM_BIAS | 1u << LSTM_HIDDEN | 1u << LSTM_CELL;

	if (l->op->in.n > LSTM_OPERANDS)
		return tfl_fail(l, -EINVAL, "%u operands > %d", (unsigned)l->op->in.n, LSTM_OPERANDS);
	for (int k = 0; k < LSTM_OPERANDS; k++)
		if (!(known >> k & 1) && tfl_has(l, k))
			return tfl_fail(l, -ENOTSUP, "operand %d: peepholes, projection and normalisation are not supported", k);
	return 0;
}

/*
 * Sets *q to scale and zero point of operand k, a state, whose values are not used. `types` is the
 * set of types that it may have. Returns 0 or a negative errno.
 */
static int state(struct tfl_lower *l, int k, unsigned types, struct tfl_quant *q)
{
	int i = tfl_operand(l, k);

	return i < 0 ? i : tfl_quant(l, i, types, q);
}

/*
 * Sets *to to the multiplier and the shift to the left that stand for a real factor. Returns 0 or a
 * negative errno.
 */
static int factor(struct tfl_lower *l, double real, struct weft_tfl_factor *to)
{
	struct tfl_factor f;
	int err = tfl_factor(l, real, &f);

	*to = (struct weft_tfl_factor){ f.multiplier, 31 - f.shift };
	return err;
}

/*
 * Adds the weights of one gate, operand k, [rows,columns] of symmetric int8, as a constant, and sets *f
 * to the factor from sums of their products with an input of scale x_scale to Q3.12. Returns the graph
 * tensor; -EINVAL if they are uint8, have a zero point or another shape; -ENOTSUP for other types or if
 * they are not constant; or another negative errno.
 */
static int weights(struct tfl_lower *l, int k, int64_t rows, int64_t columns, float x_scale, struct weft_tfl_factor *f)
{
	struct tfl_quant q;
	weft_tensor t;
	int i = tfl_operand(l, k), err;

	if (i < 0)
		return i;
	if ((err = tfl_shape(l, i, &t)) || (err = tfl_quant(l, i, TFL_Q8, &q)) ||
	    (err = factor(l, (double)(x_scale * q.scale) / (double)Q3_12, f)))
		return err;
	if (q.zp || tfl_file_tensor(l, i)->type != TFL_INT8 || t.rank != 2 || t.dim[0] != rows || t.dim[1] != columns)
		return tfl_fail(l, -EINVAL, "operand %d: not symmetric int8 weights of %lldx%lld", k, (long long)rows,
		                (long long)columns);
	return tfl_const_as(l, k, 2, t.dim);
}

/*
 * Adds constant operand k, n elements of int32, to the graph. Returns the graph tensor, -ENOTSUP if
 * it has another type, or another negative errno.
 */
static int bias(struct tfl_lower *l, int k, int64_t n)
{
	int c = tfl_const_as(l, k, 1, &n);

	if (c >= 0 && l->g->tensors[c].t.dtype != WEFT_INT32)
		return tfl_fail(l, -ENOTSUP, "operand %d is %s, not int32", k, weft_dtype_name(l->g->tensors[c].t.dtype));
	return c;
}

/*
 * Sets a->time_major from the options of the LSTM at hand, and *clip to the limit of the cell state in
 * real units (0: none). Returns 0; -ENOTSUP for another activation than TANH, a projection clip other
 * than 0, or operands that are not supported; -EINVAL for a negative cell clip; or another negative
 * errno.
 */
static int read_options(struct tfl_lower *l, struct weft_attr_tfl_lstm *a, float *clip)
{
	int activation, major, err;
	float projection;

	if ((err = tfl_activation(l, OPTIONS_SEQUENCE_LSTM, LSTM_ACTIVATION, &activation)) ||
	    (err = tfl_option(l, OPTIONS_SEQUENCE_LSTM, LSTM_TIME_MAJOR, 1, 0, &major)) ||
	    (err = tfl_option_float(l, OPTIONS_SEQUENCE_LSTM, LSTM_CELL_CLIP, 0, clip)) ||
	    (err = tfl_option_float(l, OPTIONS_SEQUENCE_LSTM, LSTM_PROJECTION_CLIP, 0, &projection)))
		return err;
	if (activation != TFL_TANH || projection != 0)
		return tfl_fail(l, -ENOTSUP, "activation %d, projection clip %g", activation, (double)projection);
	if (!(*clip >= 0))
		return tfl_fail(l, -EINVAL, "cell clip %g", (double)*clip);
	a->time_major = major;
	return check_absent(l);
}

/*
 * Sets in *a what depends on the quantisation of hidden state, cell state and result: zero point,
 * cell limit (from clip, in real units) and factors. Sets *h_scale to the hidden state's scale.
 * Returns 0, -ENOTSUP if hidden state and result are quantised differently or the cell's scale is
 * no power of two of 2^-30 to 1, or another negative errno.
 */
static int scales(struct tfl_lower *l, struct weft_attr_tfl_lstm *a, float clip, float *h_scale)
{
	struct tfl_quant h, c, y;
	int power, err;

	if ((err = state(l, LSTM_HIDDEN, TFL_Q8, &h)) || (err = state(l, LSTM_CELL, TFL_Q16, &c)) ||
	    (err = tfl_need_result(l, TFL_Q8, &y)))
		return err;
	if (h.scale != y.scale || h.zp != y.zp)
		return tfl_fail(l, -ENOTSUP, "hidden state (scale %g, zero point %d) and result (%g, %d) differ", (double)h.scale,
		                (int)h.zp, (double)y.scale, (int)y.zp);
	if (!weft_near_power_of_two(c.scale, &power) || power < -30 || power > 0)
		return tfl_fail(l, -ENOTSUP, "cell scale %g is no power of two of 2^-30..1", (double)c.scale);
	a->y_zp = h.zp;
	a->cell_power = power;
	a->cell_clip = (int32_t)fmin((double)clip / (double)c.scale, 32767.0);
	*h_scale = h.scale;
	if ((err = factor(l, Q0_15 * (double)c.scale / (double)c.scale, &a->forget_cell)) ||
	    (err = factor(l, Q0_15 * Q0_15 / (double)c.scale, &a->input_cell)))
		return err;
	return factor(l, Q0_15 * Q0_15 / (double)h.scale, &a->hidden);
}

/*
 * Lowers UNIDIRECTIONAL_SEQUENCE_LSTM: of float32 by tfl_lower_sequence(), of int8 by tfl_lower_lstm8(), or for
 * TensorFlow Lite for Microcontrollers to the host operator TFL_LSTM, with input, weights and biases of four gates as
 * operands; hidden and cell state start at 0. Returns the result's tensor, -ENOTSUP for forms that are not supported
 * (uint8 among them), -EINVAL if input or result is not of rank 3 or the weights have another shape, or another
 * negative errno.
 */
int tfl_lower_sequence_lstm(struct tfl_lower *l)
{
	weft_attr attr = { .tfl_lstm = { 0 } };
	struct weft_attr_tfl_lstm *a = &attr.tfl_lstm;
	struct tfl_quant xq;
	float clip, h_scale = 0;
	int in[13], err;

	if (tfl_is_float(l, 0))
		return tfl_lower_sequence(l);
	if (!tfl_is_micro(l))
		return tfl_lower_lstm8(l);
	err = read_options(l, a, &clip);
	if (err || (err = scales(l, a, clip, &h_scale)))
		return err;
	if ((in[0] = tfl_quant_value(l, 0, TFL_Q8, &xq)) < 0)
		return in[0];
	if (tfl_file_tensor(l, tfl_operand(l, 0))->type != TFL_INT8)
		return tfl_fail(l, -ENOTSUP, "uint8 is not supported; int8 is");
	weft_tensor x = l->g->tensors[in[0]].t;
	if (x.rank != 3 || l->y.rank != 3)
		return tfl_fail(l, -EINVAL, "ranks %d and %d, not 3", x.rank, l->y.rank);
	a->x_zp = xq.zp;
	int64_t s = l->y.dim[2];
	for (int g = 0; g < 4; g++) {
		if ((in[1 + g] = weights(l, LSTM_WX + g, s, x.dim[2], xq.scale, &a->x_gate[g])) < 0)
			return in[1 + g];
		if ((in[5 + g] = weights(l, LSTM_WH + g, s, s, h_scale, &a->h_gate[g])) < 0)
			return in[5 + g];
		if ((in[9 + g] = bias(l, LSTM_BIAS + g, s)) < 0)
			return in[9 + g];
	}
	x.dim[2] = s;
	return tfl_step(l, WEFT_OP_TFL_LSTM, &attr, in, 13, WEFT_INT8, 3, x.dim, true);
}

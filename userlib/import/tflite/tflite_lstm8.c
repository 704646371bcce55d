/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM of int8 with a cell state of int16, in all forms that LiteRT's integer kernel
 * has: coupled gates, peepholes, projection, layer normalisation. They run on the host as SequenceLSTM8
 * (sim/golden/onnx/tfl/lstm8.c).
 *
 * Operands are those of tflite_sequence.c. Five intermediate tensors, which no operator makes, have the scales of what lies
 * between the parts: the gates before they are normalised, and what is projected.
 *
 * With twelve intermediate tensors it is an LSTM whose products have 8 bits (StepLSTM8, sim/golden/onnx/tfl/lstm_step8.c): for each
 * gate the scales of the sum and of its two products. LiteRT has it as LSTM only, without a first gate, always normalised and
 * projected; since states are 0 when a run starts, the weights of the state are not looked at.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim/golden/fixed_point.h"
#include "sim/golden/onnx/tfl/lstm8.h"
#include "sim/golden/onnx/tfl/lstm_step8.h"
#include "tflite_host.h"

enum { W = 1, R = 5, PEEPHOLE = 9, BIAS = 12, PROJECTION = 16, PROJECTION_BIAS, STATE, CELL, NORM, OPERANDS = 24 };
enum { NUMBERS = 22, N_BETWEEN = 5, HIDDEN = 4 };
enum { STEP_BETWEEN = 12, STEP_GATES = 3, STEP_OPERANDS = 12 };

struct lstm {
	struct tfl_quant x, h, c;
	struct tfl_quant between[N_BETWEEN];
	struct lstm8 p;
	int time_major;
};

/* Sets *q to scale and zero point of file tensor i, of one of these types, whose values are not used. Returns 0 or a negative errno. */
static int quant(struct tfl_lower *l, int i, unsigned types, struct tfl_quant *q)
{
	return i < 0 ? i : tfl_quant(l, i, types, q);
}

/* Sets to[] to the multiplier and the shift to the left that stand for a real factor. Returns 0 or a negative errno. */
static int factor(struct tfl_lower *l, double real, int32_t to[2])
{
	struct tfl_factor f;
	int err = tfl_factor(l, real, &f);

	to[0] = f.multiplier;
	to[1] = 31 - f.shift;
	return err;
}

/*
 * Sets *scale to the only scale of operand k, of int8 or int16; that it is constant is not checked here. Returns 0,
 * -EINVAL if it is absent, has a zero point or is uint8, or another negative errno.
 */
static int scale_of(struct tfl_lower *l, int k, float *scale)
{
	struct tfl_quant q;
	const int i = tfl_operand(l, k);
	int err = quant(l, i, TFL_Q8 | TFL_Q16, &q);

	*scale = err ? 0 : q.scale;
	return err || (!q.zp && tfl_file_tensor(l, i)->type != TFL_UINT8) ? err : tfl_fail(l, -EINVAL, "operand %d has a zero point, or is uint8", k);
}

/*
 * Reads the options, of LSTM or of the sequence's: sets s->time_major (for the sequence only), and the clips
 * s->p.cell_clip and s->p.projection_clip, in steps of the cell's and the state's scale, which read_quantisation() must
 * have set before; 0 stands for no clip. Returns 0, -ENOTSUP for another activation than TANH, or -EINVAL for clips
 * below 0.
 */
static int read_options(struct tfl_lower *l, struct lstm *s)
{
	const int type = l->op->code == TFL_LSTM ? OPTIONS_LSTM : OPTIONS_SEQUENCE_LSTM;
	int activation, err;
	float cell, projection;

	if ((err = tfl_activation(l, type, LSTM_ACTIVATION, &activation)) || (err = tfl_option_float(l, type, LSTM_CELL_CLIP, 0, &cell)) ||
	    (err = tfl_option_float(l, type, LSTM_PROJECTION_CLIP, 0, &projection)) ||
	    (type == OPTIONS_SEQUENCE_LSTM && (err = tfl_option(l, type, LSTM_TIME_MAJOR, 1, 0, &s->time_major))))
		return err;
	if (activation != TFL_TANH)
		return tfl_fail(l, -ENOTSUP, "activation %d; TANH alone has a kernel of int8", activation);
	if (!(cell >= 0) || !(projection >= 0))
		return tfl_fail(l, -EINVAL, "cell clip %g, projection clip %g", (double)cell, (double)projection);
	s->p.cell_clip = (int32_t)fminf(cell / s->c.scale, 32767);
	s->p.projection_clip = (int32_t)fminf(projection / s->h.scale, 127);
	return 0;
}

/*
 * Sets scale and zero point of the input (s->x), hidden state (s->h), cell state (s->c) and those intermediate tensors
 * that are used (s->between: the last one, and with normalisation all five), and the zero points and the cell's power
 * of two in s->p. Returns 0; -ENOTSUP without five intermediate tensors, for another type of input or state than int8
 * (of the cell: int16), if the cell's scale is no power of two of 2^-15 to 2^-9, or state and result differ; -EINVAL
 * if the hidden state or the last intermediate tensor has a scale of 0 (other scales may be 0 here: gate() refuses it of
 * an intermediate tensor), or an intermediate tensor is out of range; or another negative errno.
 */
static int read_quantisation(struct tfl_lower *l, struct lstm *s)
{
	const struct fb_vec *between = &l->op->intermediates;
	struct tfl_quant y;
	int power = 0, err;

	if (between->n != N_BETWEEN)
		return tfl_fail(l, -ENOTSUP, "%u intermediate tensors; %d say the scales of an LSTM of int8 with a cell state of int16",
		                (unsigned)between->n, N_BETWEEN);
	if ((err = quant(l, tfl_operand(l, 0), TFL_Q8, &s->x)) || (err = quant(l, tfl_operand(l, STATE), TFL_Q8, &s->h)) ||
	    (err = quant(l, tfl_operand(l, CELL), TFL_Q16, &s->c)) || (err = tfl_need_result(l, TFL_Q8, &y)))
		return err;
	if (tfl_file_tensor(l, tfl_operand(l, 0))->type != TFL_INT8 || tfl_file_tensor(l, tfl_operand(l, STATE))->type != TFL_INT8 ||
	    s->h.scale != y.scale || s->h.zp != y.zp)
		return tfl_fail(l, -ENOTSUP, "input and state have to be int8, the state quantised as the result");
	if (!weft_near_power_of_two(s->c.scale, &power) || power < -15 || power > -9)
		return tfl_fail(l, -ENOTSUP, "cell scale %g is no power of two of 2^-15..2^-9", (double)s->c.scale);
	for (int k = 0; k < N_BETWEEN; k++) {
		const int i = fb_i32_at(&l->m->b, between, (uint32_t)k);
		if (i < 0 || i >= l->m->n_tensors)
			return tfl_fail(l, -EINVAL, "intermediate tensor %d of %d", i, l->m->n_tensors);
		if ((k == HIDDEN || tfl_has(l, NORM + 1)) && (err = quant(l, i, TFL_Q8_16 | TFL_QZP, &s->between[k])))
			return err;
	}
	if (!(s->between[HIDDEN].scale > 0) || !(s->h.scale > 0) || !(s->c.scale > 0))
		return tfl_fail(l, -EINVAL, "a scale of 0");
	s->p.x_zp = s->x.zp;
	s->p.h_zp = s->h.zp;
	s->p.hidden_zp = s->between[HIDDEN].zp;
	s->p.cell_power = power;
	return 0;
}

/*
 * Sets in s->p the factors of gate g, which must be present, for its weights of input and state, its peephole (if
 * present) and, if the layer is normalised, its normalisation with the least variance (guard). Scales are
 * multiplied in float32, as the kernel does. Returns 0, -EINVAL if the scale of its intermediate tensor is 0, or
 * another negative errno.
 */
static int gate(struct tfl_lower *l, struct lstm *s, int g)
{
	static const int peephole[4] = { 0, 1, -1, 2 };
	const bool norm = tfl_has(l, NORM + 1);
	const float to = norm ? s->between[g].scale : 1.0f / 4096;
	float scale;
	int err = scale_of(l, W + g, &scale);

	if (!(to > 0))
		return tfl_fail(l, -EINVAL, "intermediate tensor %d has a scale of 0", g);
	if (err || (err = factor(l, (double)(scale * s->x.scale / to), s->p.input[g])) || (err = scale_of(l, R + g, &scale)) ||
	    (err = factor(l, (double)(scale * s->h.scale / to), s->p.state[g])))
		return err;
	const int k = peephole[g];
	if (k >= 0 && tfl_has(l, PEEPHOLE + k) &&
	    ((err = scale_of(l, PEEPHOLE + k, &scale)) ||
	     (err = factor(l, (double)(float)(ldexp(1, s->p.cell_power) * (double)scale / (double)to), s->p.peephole[k]))))
		return err;
	if (!norm)
		return 0;
	err = scale_of(l, NORM + g, &scale);
	s->p.guard[g] = err || !(10000 * scale >= 1) ? 1 : (int32_t)fminf(10000 * scale, 2e9f);
	return err ? err : factor(l, (double)scale, s->p.norm[g]);
}

/*
 * Sets in s->p all factors: those of the gates (gate(); the first gate may be absent, and its factors then stay 0), of
 * the hidden state and of the projection, if there is one. Returns 0 or a negative errno.
 */
static int read_factors(struct tfl_lower *l, struct lstm *s)
{
	const double hidden = (double)s->between[HIDDEN].scale;
	float scale;
	int err = 0;

	for (int g = 0; g < 4 && !err; g++) {
		s->p.guard[g] = 1;
		err = g || tfl_has(l, W) ? gate(l, s, g) : 0;
	}
	if (err || (err = factor(l, (double)(float)(ldexp(1, -15) / hidden * ldexp(1, -15)), s->p.hidden)))
		return err;
	if (!tfl_has(l, PROJECTION))
		return 0;
	err = scale_of(l, PROJECTION, &scale);
	return err ? err : factor(l, (double)(scale * s->between[HIDDEN].scale / s->h.scale), s->p.projection);
}

/*
 * Emits what the layer's states hold when the operator at hand runs on x, into *states. Weights that are no matrices are left to the
 * kernel to refuse. Returns 0 or a negative errno.
 */
static int find_states(struct tfl_lower *l, const struct lstm *s, int x, struct tfl_states *states)
{
	const int i = tfl_operand(l, W + 1), k = tfl_has(l, PROJECTION) ? tfl_operand(l, PROJECTION) : i;
	weft_tensor w, p;
	int err;

	if (i < 0 || k < 0)
		return i < 0 ? i : k;
	if ((err = tfl_shape(l, i, &w)) || (err = tfl_shape(l, k, &p)))
		return err;
	const struct tfl_state_shape shape = { { WEFT_INT8, WEFT_INT16 }, l->g->tensors[x].t.dim[s->time_major], { p.dim[0], w.dim[0] }, s->h.zp };
	return tfl_find_states(l, (int[]){ STATE, CELL }, &shape, states);
}

/*
 * Emits SequenceLSTM8 of input x, [batch,time,..] or the other way round, the operator's other operands, which must be
 * constant, behind them a constant with the numbers s->p, and its states; last: it is the
 * operator's own result. Returns the graph tensor, -ENOTSUP if an operand is not constant, the errno with which the
 * kernel refuses the operands, or another negative errno.
 */
static int emit(struct tfl_lower *l, const struct lstm *s, int x, bool last)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "SequenceLSTM8");
	const int64_t n_numbers = sizeof s->p / 4;
	struct tfl_states states = { { -1, -1 }, { -1, -1 }, s->time_major, false };
	int in[NUMBERS + 3] = { x }, n = 1;

	for (int k = 1; k < NUMBERS; k++) {
		const int operand = k <= PROJECTION_BIAS ? k : k + NORM - STATE;
		if (!tfl_has(l, operand)) {
			a.absent |= (int64_t)1 << k;
			continue;
		}
		if (!tfl_is_const(l, operand))
			return tfl_fail(l, -ENOTSUP, "operand %d is not constant", operand);
		if ((in[n] = tfl_value(l, operand)) < 0)
			return in[n];
		n++;
	}
	void *p = tfl_alloc(l, n_numbers, 4);
	if (!p)
		return l->err;
	memcpy(p, &s->p, sizeof s->p);
	if ((in[n] = tfl_data(l, "numbers", WEFT_INT32, 1, &n_numbers, p)) < 0)
		return in[n];
	n++;
	a.n_in = NUMBERS + 1;
	tfl_node_int(&a, "time_major", s->time_major);
	int err = find_states(l, s, x, &states);
	if (err)
		return err;
	for (int k = 0; k < 2; k++)
		if (states.in[k] >= 0) {
			a.absent |= k && states.in[0] < 0 ? (int64_t)1 << (NUMBERS + 1) : 0;
			a.n_in = NUMBERS + 2 + k;
			in[n++] = states.in[k];
		}
	return tfl_node_recurrent(l, &a, in, n, &states, last);
}

/* ---- the form whose products have 8 bits ---- */

/*
 * Sets *q to scale and zero point (128 less for uint8) of the operator's intermediate tensor k, int8, uint8 or int16. Returns 0,
 * -EINVAL if it is out of range or has no scale above 0, -ENOTSUP for another type, or another negative errno.
 */
static int between(struct tfl_lower *l, int k, struct tfl_quant *q)
{
	const int i = fb_i32_at(&l->m->b, &l->op->intermediates, (uint32_t)k);
	const int err = i < 0 || i >= l->m->n_tensors ? tfl_fail(l, -EINVAL, "intermediate tensor %d of %d", i, l->m->n_tensors) :
	                                                tfl_quant(l, i, TFL_Q8_16 | TFL_QZP, q);

	return err || q->scale > 0 ? err : tfl_fail(l, -EINVAL, "intermediate tensor %d has a scale of 0", i);
}

/*
 * Sets in p all that belongs to gate g (0 to 2: f, g and o): the zero point of its product, the factors to the product and to the gate,
 * and that of its coefficients. x_scale is the input's. Scales are multiplied and divided in float32, as the kernel does.
 * Returns 0 or a negative errno.
 */
static int step_gate(struct tfl_lower *l, struct lstm_step8 *p, int g, float x_scale)
{
	struct tfl_quant sum, product;
	float scale;
	int err = between(l, 3 * (g + 1), &sum);

	if (err || (err = between(l, 3 * (g + 1) + 1, &product)) || (err = scale_of(l, W + 1 + g, &scale)))
		return err;
	p->product_zp[g] = product.zp;
	if ((err = factor(l, (double)(scale * x_scale / product.scale), p->product[g])) ||
	    (err = factor(l, (double)(product.scale / sum.scale), p->gate[g])) || (err = scale_of(l, NORM + 1 + g, &scale)))
		return err;
	return factor(l, (double)scale, p->norm[g]);
}

/*
 * Sets in p what does not belong to a gate: zero points, limits and the projection's factor, and *x_scale to the input's scale.
 * Returns 0; -ENOTSUP for what LiteRT has no kernel for, such as another scale of the cell state than 2^-15; or another
 * negative errno.
 */
static int step_layer(struct tfl_lower *l, struct lstm_step8 *p, float *x_scale)
{
	struct tfl_quant x, h, c, y;
	float cell, projection, scale;
	int err;

	if ((err = quant(l, tfl_operand(l, 0), TFL_Q8, &x)) || (err = quant(l, tfl_operand(l, STATE), TFL_Q8, &h)) ||
	    (err = quant(l, tfl_operand(l, CELL), TFL_Q16, &c)) || (err = tfl_need_result(l, TFL_Q8, &y)) ||
	    (err = tfl_option_float(l, OPTIONS_LSTM, LSTM_CELL_CLIP, 0, &cell)) ||
	    (err = tfl_option_float(l, OPTIONS_LSTM, LSTM_PROJECTION_CLIP, 0, &projection)) || (err = scale_of(l, PROJECTION, &scale)))
		return err;
	if (c.scale != ldexpf(1, -15))
		return tfl_fail(l, -ENOTSUP, "cell scale %g; with products of 8 bits 2^-15 wanted", (double)c.scale);
	if (!(cell >= 0) || !(projection >= 0) || !(h.scale > 0) || !(y.scale > 0))
		return tfl_fail(l, -EINVAL, "cell clip %g, projection clip %g, scales %g and %g", (double)cell, (double)projection, (double)h.scale,
		                (double)y.scale);
	p->x_zp = x.zp;
	p->y_zp = h.zp;
	p->cell_clip = cell < 1 ? (int32_t)(cell / c.scale) : 0;
	p->projection_clip = (int32_t)fminf(projection / y.scale, 127);
	*x_scale = x.scale;
	return factor(l, (double)scale * ldexp(1, -15) / (double)h.scale, p->projection);
}

/*
 * Lowers the LSTM of int8 at hand, with twelve intermediate tensors, to StepLSTM8. Returns the result's tensor; -ENOTSUP for
 * what LiteRT has no kernel for, or if an operand is not constant; or another negative errno.
 */
static int lower_step8(struct tfl_lower *l)
{
	static const int operand[STEP_OPERANDS] = { 0, W + 1, W + 2, W + 3, NORM + 1, NORM + 2, NORM + 3, BIAS + 1, BIAS + 2, BIAS + 3,
	                                            PROJECTION, PROJECTION_BIAS };
	const struct weft_attr_onnx_node a = tfl_node_of("tflite", "StepLSTM8");
	const int64_t n_numbers = sizeof(struct lstm_step8) / 4;
	struct lstm_step8 p = { 0 };
	int in[STEP_OPERANDS + 1], err;
	float x_scale = 0;

	if (tfl_has(l, W))
		return tfl_fail(l, -ENOTSUP, "an LSTM of int8 with %d intermediate tensors has a kernel without gate i only", STEP_BETWEEN);
	for (int k = 0; k < STEP_OPERANDS; k++) {
		if (!tfl_has(l, operand[k]))
			return tfl_fail(l, -ENOTSUP, "operand %d is absent; the LSTM of int8 with %d intermediate tensors is normalised and projected",
			                operand[k], STEP_BETWEEN);
		if (k && !tfl_is_const(l, operand[k]))
			return tfl_fail(l, -ENOTSUP, "operand %d is not constant", operand[k]);
		if ((in[k] = tfl_value(l, operand[k])) < 0)
			return in[k];
	}
	if ((err = step_layer(l, &p, &x_scale)))
		return err;
	for (int g = 0; g < STEP_GATES; g++)
		if ((err = step_gate(l, &p, g, x_scale)))
			return err;
	void *numbers = tfl_alloc(l, n_numbers, 4);
	if (!numbers)
		return l->err;
	memcpy(numbers, &p, sizeof p);
	in[STEP_OPERANDS] = tfl_data(l, "numbers", WEFT_INT32, 1, &n_numbers, numbers);
	return tfl_node(l, &a, in, STEP_OPERANDS + 1, true);
}

int tfl_lower_lstm8(struct tfl_lower *l)
{
	const bool one_step = l->op->code == TFL_LSTM;
	struct lstm s = { .time_major = 0 };
	int x, err;

	if (l->op->in.n > OPERANDS)
		return tfl_fail(l, -EINVAL, "%u operands > %d", (unsigned)l->op->in.n, OPERANDS);
	if (one_step && l->op->intermediates.n == STEP_BETWEEN)
		return lower_step8(l);
	if ((err = read_quantisation(l, &s)) || (err = read_options(l, &s)) || (err = read_factors(l, &s)))
		return err;
	if ((x = tfl_value(l, 0)) < 0)
		return x;
	const weft_tensor t = l->g->tensors[x].t;
	if (t.rank != (one_step ? 2 : 3))
		return tfl_fail(l, -EINVAL, "an input of rank %d", t.rank);
	if (!one_step)
		return emit(l, &s, x, true);
	s.time_major = 1;
	x = tfl_reshape(l, x, 3, (int64_t[]){ 1, t.dim[0], t.dim[1] });
	const int y = x < 0 ? x : emit(l, &s, x, false);
	if (y < 0)
		return y;
	const weft_tensor r = l->g->tensors[y].t;
	return tfl_node_own(l, tfl_reshape(l, y, 2, (int64_t[]){ r.dim[1], r.dim[2] }));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TensorFlow Lite's LSTM of int8 whose products have 8 bits, over one step from states that are 0.
 *
 *   x [B,I] int8     weights W [C,I] int8     coefficients n [C] int16, biases [C] int32     projection P [O,C] int8
 *   y [B,O] int8; gates f, g and o; there are always coefficients, a projection, and no gate i
 *
 * A product W (x - zero) is scaled to int8 with a zero point, and from there to int16, where it is the whole gate: that of the
 * state's weights is 0, since the state is. normalise() brings the gate to mean 0 and variance 1 in float32, multiplies it
 * by n, and adds the bias, to Q3.12. f and o are logistic(gate), g is tanh(gate), computed in float32 and cut off to Q0.15. Then
 *
 *   c = (32767 - f) g, limited; z = o tanh(c), Q0.15; y = P z + bias, scaled, with zero point, limited
 *
 * exp and tanh are the C library's.
 *
 * Source: LiteRT, lstm_eval.cc (integer 8x8_8) and portable_tensor_utils.cc.
 */
#include <stdlib.h>

#include "sim/golden/fixed_point.h"
#include "sim/golden/onnx/tfl/lstm_step8.h"
#include "sim/golden/onnx/tfl/ops.h"
#include "sim/golden/ops.h"

enum { X, W, NORM = W + 3, BIAS = NORM + 3, PROJECTION = BIAS + 3, PROJECTION_BIAS, NUMBERS, OPERANDS };
enum { GATE_F, GATE_G, GATE_O };

struct layer {
	struct ref *r;
	int64_t in, cells, out;
	struct lstm_step8 p;           /* operand NUMBERS */
	int16_t *gate[3];              /* of the row at hand */
};

/* v * factor, as weft_scale_q31() rounds it. */
static int32_t scaled(int32_t v, const int32_t factor[2]) { return weft_scale_q31(v, factor[0], factor[1]); }

/* Returns v, a real number of 2^-15, cut off and limited to int16. */
static int16_t to_q15(float v) { return (int16_t)weft_clip((int32_t)(v * 32768.0f), INT16_MIN, INT16_MAX); }

/* Computes gate g of row x before it is normalised: its product in 8 bits, scaled to 16. */
static void multiply(const struct layer *s, int g, const int8_t *x)
{
	const int32_t zero = s->p.product_zp[g];

	for (int64_t i = 0; i < s->cells; i++) {
		const int8_t *w = (const int8_t *)s->r->x[W + g]->data + i * s->in;
		uint32_t sum = 0;

		for (int64_t k = 0; k < s->in; k++)
			sum += (uint32_t)(w[k] * (x[k] - s->p.x_zp));
		const int32_t code = (int32_t)weft_clip((int64_t)scaled((int32_t)sum, s->p.product[g]) + zero, INT8_MIN, INT8_MAX);
		s->gate[g][i] = (int16_t)weft_clip(scaled(code - zero, s->p.gate[g]), INT16_MIN, INT16_MAX);
	}
}

/* Normalises gate g: mean 0 and variance 1, times the coefficients, plus the bias, to Q3.12; float32 in the order of their kernel. */
static void normalise(const struct layer *s, int g)
{
	const int16_t *weight = s->r->x[NORM + g]->data;
	const int32_t *bias = s->r->x[BIAS + g]->data;
	const float scale = (float)ldexp(s->p.norm[g][0], s->p.norm[g][1] - 31), bias_scale = ldexpf(1, -10) * scale;
	float sum = 0, squares = 0;

	for (int64_t i = 0; i < s->cells; i++) {
		const float v = s->gate[g][i];
		sum += v;
		squares += v * v;
	}
	const float mean = sum / (float)s->cells, variance = squares / (float)s->cells - mean * mean;
	const float inverse = 1.0f / sqrtf(variance == 0 ? 1e-8f : variance);
	for (int64_t i = 0; i < s->cells; i++) {
		const float v = ((float)s->gate[g][i] - mean) * inverse * (float)weight[i] * scale + (float)bias[i] * bias_scale;
		s->gate[g][i] = (int16_t)weft_clip((int64_t)fminf(fmaxf(roundf(v * 4096.0f), -1e9f), 1e9f), INT16_MIN, INT16_MAX);
	}
}

/* The gate's function, of a sum in Q3.12. */
static int16_t activated(int g, int16_t v)
{
	const float x = (float)v / 4096;

	return to_q15(g == GATE_G ? tanhf(x) : 1.0f / (1.0f + expf(-x)));
}

/* Projects z, s->gate[GATE_O], to row y. */
static void project(const struct layer *s, int8_t *y)
{
	const int32_t *bias = s->r->x[PROJECTION_BIAS]->data;

	for (int64_t i = 0; i < s->out; i++) {
		const int8_t *w = (const int8_t *)s->r->x[PROJECTION]->data + i * s->cells;
		int64_t sum = bias[i];

		for (int64_t k = 0; k < s->cells; k++)
			sum += w[k] * s->gate[GATE_O][k];
		const int64_t v = (int64_t)scaled((int32_t)sum, s->p.projection) + s->p.y_zp;
		y[i] = (int8_t)weft_clip(v, INT8_MIN, INT8_MAX);
		if (s->p.projection_clip)
			y[i] = (int8_t)weft_clip(y[i], -s->p.projection_clip, s->p.projection_clip);
	}
}

/* Computes row y from row x. */
static void step(const struct layer *s, const int8_t *x, int8_t *y)
{
	for (int g = GATE_F; g <= GATE_O; g++) {
		multiply(s, g, x);
		normalise(s, g);
		for (int64_t i = 0; i < s->cells; i++)
			s->gate[g][i] = activated(g, s->gate[g][i]);
	}
	for (int64_t i = 0; i < s->cells; i++) {
		int16_t c = (int16_t)weft_shift_right((INT16_MAX - s->gate[GATE_F][i]) * s->gate[GATE_G][i], 15);
		if (s->p.cell_clip)
			c = (int16_t)weft_clip(c, -s->p.cell_clip, s->p.cell_clip);
		s->gate[GATE_O][i] = (int16_t)weft_shift_right(s->gate[GATE_O][i] * to_q15(tanhf((float)c / 32768)), 15);
	}
	project(s, y);
}

/* Copies the layer's numbers from operand NUMBERS, and checks them. Returns 0 or -EINVAL. */
static int read_numbers(struct layer *s)
{
	const struct lstm_step8 *p = &s->p;
	const int32_t (*factor)[2] = p->product;
	bool ok = true;

	memcpy(&s->p, s->r->x[NUMBERS]->data, sizeof s->p);
	ok &= p->x_zp >= INT8_MIN && p->x_zp <= INT8_MAX && p->y_zp >= INT8_MIN && p->y_zp <= INT8_MAX;
	ok &= p->cell_clip >= 0 && p->cell_clip <= INT16_MAX && p->projection_clip >= 0 && p->projection_clip <= INT8_MAX;
	for (int k = 0; k < LSTM_STEP8_FACTORS; k++)
		ok &= factor[k][0] >= 0 && factor[k][1] >= -31 && factor[k][1] <= 30;
	for (int g = 0; g < 3; g++)
		ok &= p->product_zp[g] >= INT8_MIN && p->product_zp[g] <= INT8_MAX;
	return ok ? 0 : ref_fail(s->r, -EINVAL, "numbers out of range: zero points %d, %d, clips %d, %d", p->x_zp, p->y_zp, p->cell_clip,
	                         p->projection_clip);
}

/* Computes all rows. Returns 0 or -ENOMEM. */
static int run(struct layer *s)
{
	int16_t *room = ref_alloc(s->r, 3 * s->cells, sizeof *room);

	if (!room)
		return -ENOMEM;
	for (int g = 0; g < 3; g++)
		s->gate[g] = room + g * s->cells;
	for (int64_t b = 0; b < s->r->x[X]->dim[0]; b++)
		step(s, (const int8_t *)s->r->x[X]->data + b * s->in, (int8_t *)s->r->y[0]->data + b * s->out);
	free(room);
	return 0;
}

int tfl_step_lstm8(struct ref *r)
{
	struct layer s = { .r = r };
	int err = 0;

	for (int k = 0; k < OPERANDS; k++)
		if (k >= r->n_x || !r->x[k])
			return ref_fail(r, -EINVAL, "input %d is missing", k);
	if (r->x[X]->rank != 2 || r->x[W]->rank != 2 || r->x[PROJECTION]->rank != 2)
		return ref_fail(r, -EINVAL, "input or weights have another rank than 2");
	s.in = r->x[X]->dim[1];
	s.cells = r->x[W]->dim[0];
	s.out = r->x[PROJECTION]->dim[0];
	err = tfl_need(r, X, WEFT_INT8, r->x[X]->dim[0], s.in);
	for (int g = 0; g < 3 && !err; g++)
		if (!(err = tfl_need(r, W + g, WEFT_INT8, s.cells, s.in)) && !(err = tfl_need(r, NORM + g, WEFT_INT16, s.cells, 0)))
			err = tfl_need(r, BIAS + g, WEFT_INT32, s.cells, 0);
	if (err || (err = tfl_need(r, PROJECTION, WEFT_INT8, s.out, s.cells)) || (err = tfl_need(r, PROJECTION_BIAS, WEFT_INT32, s.out, 0)) ||
	    (err = tfl_need(r, NUMBERS, WEFT_INT32, (int64_t)sizeof s.p / 4, 0)) ||
	    (err = ref_y(r, 0, WEFT_INT8, 2, (int64_t[]){ r->x[X]->dim[0], s.out })))
		return err;
	for (int k = 0; k < r->n_x && !err && !r->shapes; k++)
		err = ref_need_data(r, k);
	if (err || r->shapes)
		return err;
	err = read_numbers(&s);
	return err ? err : run(&s);
}

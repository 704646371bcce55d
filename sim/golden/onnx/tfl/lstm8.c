/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TensorFlow Lite's LSTM of int8 with a cell state of int16: LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM in integers.
 *
 *   x [B,T,I] int8, with time_major [T,B,I]     weights W [C,I], R [C,O] int8     biases [C] int32
 *   y [B,T,O] or [T,B,O] int8; C cells, O = C without a projection
 *
 * Gates i, f, g and o are int16 in Q3.12, the sum of two products, each scaled and cut to 16 bits: W (x - zero), with
 * the bias, and R (h - zero). i, f and o add p * c, peepholes p [C] int16 of the cell state c (o of the new one). If there
 * are coefficients n [C] int16, the products have no bias: normalise() brings each gate to mean 0 and variance 1,
 * multiplies it by n and adds the bias. The next states are
 *
 *   g: tanh, the others: logistic, to Q0.15; without gate i it is 32767 - f
 *   c' = f c + i g, limited; z = o tanh(c') + zero; h' = P (z - zero) + bias, limited, or z itself
 *
 * With a projection the zero of z is the file's with the other sign, as their kernel has it.
 *
 * Sums of products wrap as theirs do. States are 0 and h's zero point before the first step, or operands h [1,B,O] int8 and c [1,B,C]
 * int16; result 1, if it is wanted, is c behind the last step (h is the result's last step).
 *
 * Source: LiteRT, lstm_eval.cc (integer 8x8_16) and portable_tensor_utils.cc.
 */
#include <stdlib.h>

#include "sim/golden/fixed_point.h"
#include "sim/golden/onnx/tfl/fixed16.h"
#include "sim/golden/onnx/tfl/lstm8.h"
#include "sim/golden/onnx/tfl/ops.h"
#include "sim/golden/ops.h"
#include "sim/golden/tfl/inverse_root.h"

enum { X, W, R = 5, PEEPHOLE = 9, BIAS = 12, PROJECTION = 16, PROJECTION_BIAS, NORM, NUMBERS = 22, STATE, CELL };
enum { TIME_MAJOR };
enum { GATE_I, GATE_F, GATE_G, GATE_O };

struct layer {
	struct ref *r;
	int64_t batch, steps, in, cells, out;
	struct lstm8 p;                /* operand NUMBERS */
	int8_t *h, *next, *z;          /* the state, its successor, what is projected */
	int16_t *c, *gate[4];
	int64_t row;                   /* of the batch, at hand */
	const weft_tensor *first_h, *first_c;  /* the states before the first step, or NULL */
};

static int16_t clip16(int64_t v) { return (int16_t)weft_clip(v, INT16_MIN, INT16_MAX); }

/* v * factor * 2^more, as weft_scale_q31() rounds it. */
static int32_t scaled(int32_t v, const int32_t factor[2], int more)
{
	return weft_scale_q31(v, factor[0], factor[1] + more);
}

/* bias + sum of w * (x - zero), which wraps; the bias is element k of operand b, or 0. */
static int32_t dot(const struct layer *s, int op, int64_t k, const int8_t *x, int64_t n, int32_t zero, int b)
{
	const int8_t *w = (const int8_t *)s->r->x[op]->data + k * n;
	uint32_t sum = b < 0 || !s->r->x[b] ? 0 : (uint32_t)((const int32_t *)s->r->x[b]->data)[k];

	for (int64_t i = 0; i < n; i++)
		sum += (uint32_t)(w[i] * (x[i] - zero));
	return (int32_t)sum;
}

/*
 * Brings the gate v of n sums to mean 0 and variance 1, with 10 more bits, times coefficients (operand NORM + g), plus the
 * bias, to Q3.12. The mean square is a sum times 2^20 / n, whose fraction is lost, as theirs is.
 */
static void normalise(const struct layer *s, int g, int16_t *v, int64_t n)
{
	const int16_t *weight = s->r->x[NORM + g]->data;
	const int32_t *bias = s->r->x[BIAS + g]->data;
	int64_t sum = 0, squares = 0;
	int32_t inverse[2];

	for (int64_t i = 0; i < n; i++) {
		sum += v[i];
		squares += v[i] * v[i];
	}
	const int32_t mean = (int32_t)(sum * 1024 / n);
	int32_t variance = (int32_t)((squares * ((1 << 20) / n) - (int64_t)mean * mean) / (1 << 20));
	weft_inverse_root(variance < 1 ? s->p.guard[g] : variance, &inverse[0], &inverse[1]);
	for (int64_t i = 0; i < n; i++) {
		const int32_t rescaled = scaled(1024 * v[i] - mean, inverse, 0);
		const int64_t w = (int64_t)(int32_t)((uint32_t)rescaled * (uint32_t)weight[i] + (uint32_t)bias[i]);
		v[i] = clip16(scaled((int32_t)((w > 0 ? w + 512 : w - 512) / 1024), s->p.norm[g], 12));
	}
}

/*
 * Peephole k's weight for cell i. The kernel goes through the cells of all rows that it steps at once (one; with time_major
 * the whole batch) as if a row had as many as the state has elements: with a projection, weights are those of other cells,
 * and the last cells have none.
 */
static int16_t peephole_of(const struct layer *s, int k, int64_t i)
{
	const bool all = s->r->a->i[TIME_MAJOR];
	const int64_t at = (all ? s->row : 0) * s->cells + i;

	return at < (all ? s->batch : 1) * s->out ? ((const int16_t *)s->r->x[PEEPHOLE + k]->data)[at % s->out] : 0;
}

/* Computes gate g of a step from x and the state; the cell state is the new one for gate o. */
static void compute_gate(const struct layer *s, int g, const int8_t *x)
{
	static const int peephole[4] = { 0, 1, -1, 2 };
	const int k = peephole[g];
	const bool norm = s->r->x[NORM + g] != NULL;
	int16_t *v = s->gate[g];

	for (int64_t i = 0; i < s->cells; i++) {
		v[i] = clip16(scaled(dot(s, W + g, i, x, s->in, s->p.x_zp, norm ? -1 : BIAS + g), s->p.input[g], 0));
		v[i] = clip16((int64_t)v[i] + scaled(dot(s, R + g, i, s->h, s->out, s->p.h_zp, -1), s->p.state[g], 0));
		if (k >= 0 && s->r->x[PEEPHOLE + k])
			v[i] = clip16((int64_t)v[i] + scaled(peephole_of(s, k, i) * s->c[i], s->p.peephole[k], 0));
	}
	if (norm)
		normalise(s, g, v, s->cells);
	for (int64_t i = 0; i < s->cells; i++)
		v[i] = g == GATE_G ? fixed16_tanh(v[i], 3) : fixed16_logistic(v[i], 3);
}

/* The new cell state of cell i, from the gates. */
static int16_t next_cell(const struct layer *s, int64_t i)
{
	const int16_t in = s->r->x[W + GATE_I] ? s->gate[GATE_I][i] : (int16_t)(INT16_MAX - s->gate[GATE_F][i]);
	const int16_t kept = (int16_t)weft_shift_right(s->gate[GATE_F][i] * s->c[i], 15);
	const int16_t fresh = (int16_t)weft_shift_right(in * s->gate[GATE_G][i], 30 + s->p.cell_power);
	const int16_t sum = clip16((int64_t)kept + fresh);

	return s->p.cell_clip ? (int16_t)weft_clip(sum, -s->p.cell_clip, s->p.cell_clip) : sum;
}

/* One step: from x and the states to the new ones. */
static void step(struct layer *s, const int8_t *x)
{
	for (int g = s->r->x[W + GATE_I] ? GATE_I : GATE_F; g < GATE_O; g++)
		compute_gate(s, g, x);
	for (int64_t i = 0; i < s->cells; i++)
		s->c[i] = next_cell(s, i);
	compute_gate(s, GATE_O, x);
	const int32_t zero = s->r->x[PROJECTION] ? -s->p.hidden_zp : s->p.hidden_zp;
	for (int64_t i = 0; i < s->cells; i++) {
		const int32_t v = scaled(s->gate[GATE_O][i] * fixed16_tanh(s->c[i], 15 + s->p.cell_power), s->p.hidden, 0);
		s->z[i] = (int8_t)weft_clip((int64_t)v + zero, INT8_MIN, INT8_MAX);
	}
	for (int64_t i = 0; i < s->out; i++) {
		s->next[i] = s->z[i];
		if (!s->r->x[PROJECTION])
			continue;
		const int64_t v = scaled(dot(s, PROJECTION, i, s->z, s->cells, zero, PROJECTION_BIAS), s->p.projection, 0);
		s->next[i] = (int8_t)weft_clip(v + s->p.h_zp, INT8_MIN, INT8_MAX);
		if (s->p.projection_clip)
			s->next[i] = (int8_t)weft_clip(s->next[i], -s->p.projection_clip, s->p.projection_clip);
	}
	memcpy(s->h, s->next, (size_t)s->out);
}

/* Sets the states of row b to those before the first step. */
static void begin_row(struct layer *s, int64_t b)
{
	s->row = b;
	memset(s->h, s->p.h_zp, (size_t)s->out);
	memset(s->c, 0, (size_t)s->cells * sizeof *s->c);
	if (s->first_h)
		memcpy(s->h, (const int8_t *)s->first_h->data + b * s->out, (size_t)s->out);
	if (s->first_c)
		memcpy(s->c, (const int16_t *)s->first_c->data + b * s->cells, (size_t)s->cells * sizeof *s->c);
}

/* Allocates the states and runs all steps of all rows. Returns 0 or -ENOMEM. */
static int run(struct layer *s)
{
	int16_t *room = ref_alloc(s->r, 5 * s->cells, sizeof *room);
	int8_t *bytes = room ? ref_alloc(s->r, 2 * s->out + s->cells, 1) : NULL;

	if (!bytes) {
		free(room);
		return -ENOMEM;
	}
	s->c = room;
	for (int g = 0; g < 4; g++)
		s->gate[g] = room + (1 + g) * s->cells;
	s->h = bytes;
	s->next = bytes + s->out;
	s->z = bytes + 2 * s->out;
	for (int64_t b = 0; b < s->batch; b++) {
		begin_row(s, b);
		for (int64_t t = 0; t < s->steps; t++) {
			const int64_t row = s->r->a->i[TIME_MAJOR] ? t * s->batch + b : b * s->steps + t;

			step(s, (const int8_t *)s->r->x[X]->data + row * s->in);
			memcpy((int8_t *)s->r->y[0]->data + row * s->out, s->h, (size_t)s->out);
		}
		if (s->r->n_y > 1)
			memcpy((int16_t *)s->r->y[1]->data + b * s->cells, s->c, (size_t)s->cells * sizeof *s->c);
	}
	free(bytes);
	free(room);
	return 0;
}

int tfl_need(struct ref *r, int k, weft_dtype t, int64_t a, int64_t b)
{
	const weft_tensor *x = r->x[k];

	if (!x)
		return ref_fail(r, -EINVAL, "input %d is missing", k);
	if (x->dtype != t || x->rank != 1 + (b > 0) || x->dim[0] != a || (b && x->dim[1] != b))
		return ref_fail(r, -EINVAL, "input %d: %s of %lldx%lld does not fit", k, weft_dtype_name(x->dtype), (long long)x->dim[0],
		                (long long)x->dim[1]);
	return 0;
}

/* Returns 0 if operand k is absent and that is allowed, otherwise what tfl_need() gives. */
static int shaped(const struct layer *s, int k, weft_dtype t, int64_t a, int64_t b, bool may_miss)
{
	return may_miss && !s->r->x[k] ? 0 : tfl_need(s->r, k, t, a, b);
}

static bool is_zero_point(int32_t v) { return v >= INT8_MIN && v <= INT8_MAX; }

/* Copies the layer's numbers from operand NUMBERS, and checks them. Returns 0 or -EINVAL. */
static int read_numbers(struct layer *s)
{
	const weft_tensor *t = s->r->x[NUMBERS];
	const struct lstm8 *p = &s->p;
	bool ok = true;

	memcpy(&s->p, t->data, sizeof s->p);
	const int32_t (*factor)[2] = p->input;
	for (size_t k = 0; k < LSTM8_FACTORS; k++)
		ok &= factor[k][0] >= 0 && factor[k][1] >= -31 && factor[k][1] <= (k >= LSTM8_NORM && k < LSTM8_NORM + 4 ? 18 : 30);
	for (int g = 0; g < 4; g++)
		ok &= p->guard[g] >= 1 && p->norm[g][1] >= -31;
	if (!ok || !is_zero_point(p->x_zp) || !is_zero_point(p->h_zp) || !is_zero_point(p->hidden_zp) || p->cell_power < -15 || p->cell_power > -9 ||
	    p->cell_clip < 0 || p->cell_clip > INT16_MAX || p->projection_clip < 0 || p->projection_clip > INT8_MAX)
		return ref_fail(s->r, -EINVAL, "numbers out of range: zero points %d, %d, %d, cell scale 2^%d, clips %d, %d", p->x_zp, p->h_zp,
		                p->hidden_zp, p->cell_power, p->cell_clip, p->projection_clip);
	return 0;
}

/* Checks the shapes of weights, biases, peepholes and coefficients. Returns 0 or -EINVAL. */
static int check_operands(const struct layer *s)
{
	struct ref *r = s->r;
	const bool norm = r->x[NORM + GATE_F] != NULL, coupled = !r->x[W + GATE_I];
	int err = 0;

	for (int g = 0; g < 4 && !err; g++) {
		const bool none = g == GATE_I && coupled;
		if ((err = shaped(s, W + g, WEFT_INT8, s->cells, s->in, none)) || (err = shaped(s, R + g, WEFT_INT8, s->cells, s->out, none)) ||
		    (err = shaped(s, BIAS + g, WEFT_INT32, s->cells, 0, none || !norm)) ||
		    (err = shaped(s, NORM + g, WEFT_INT16, s->cells, 0, none || !norm)))
			return err;
	}
	for (int k = PEEPHOLE; k < BIAS && !err; k++) {
		err = shaped(s, k, WEFT_INT16, s->cells, 0, true);
		if (!err && r->x[k] && s->out > s->cells)      /* the kernel reads behind the weights */
			err = ref_fail(r, -ENOTSUP, "peepholes with %lld cells and a state of %lld", (long long)s->cells, (long long)s->out);
	}
	if (!err)
		err = shaped(s, PROJECTION, WEFT_INT8, s->out, s->cells, true);
	return err ? err : shaped(s, PROJECTION_BIAS, WEFT_INT32, s->out, 0, true);
}

int tfl_sequence_lstm8(struct ref *r)
{
	struct layer s = { .r = r };
	const weft_tensor *x = r->x[X], *w = r->x[W + GATE_F], *p = r->x[PROJECTION], *n = NUMBERS < r->n_x ? r->x[NUMBERS] : NULL;
	const int major = r->a->i[TIME_MAJOR] != 0;

	if (!w || w->rank != 2 || x->dtype != WEFT_INT8 || x->rank != 3 || (p && p->rank != 2) || !r->x[W + GATE_I] != !r->x[R + GATE_I] || !n ||
	    n->dtype != WEFT_INT32 || n->rank != 1 || n->dim[0] != sizeof(struct lstm8) / 4)
		return ref_fail(r, -EINVAL, "the input, the forget gate's or the projection's weights, or the numbers do not fit");
	s.batch = x->dim[major];
	s.steps = x->dim[!major];
	s.in = x->dim[2];
	s.cells = w->dim[0];
	s.out = p ? p->dim[0] : s.cells;
	int err = check_operands(&s);
	if (!err && !(err = tfl_find_state_operand(r, STATE, WEFT_INT8, s.batch, s.out, &s.first_h)) &&
	    !(err = tfl_find_state_operand(r, CELL, WEFT_INT16, s.batch, s.cells, &s.first_c)))
		err = ref_y(r, 0, WEFT_INT8, 3, (int64_t[]){ x->dim[0], x->dim[1], s.out });
	if (!err && r->n_y > 1)
		err = ref_y(r, 1, WEFT_INT16, 3, (int64_t[]){ 1, s.batch, s.cells });
	for (int k = 0; k < r->n_x && !err && !r->shapes; k++)
		err = r->x[k] ? ref_need_data(r, k) : 0;
	if (err || r->shapes)
		return err;
	err = read_numbers(&s);
	return err ? err : run(&s);
}

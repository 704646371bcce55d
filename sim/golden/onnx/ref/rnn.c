/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LSTM, GRU and RNN, float: products and gates in double, the state rounded to the
 * type after every step.
 *
 *   x [T,B,I] (layout 1: [B,T,I])   w [D,G*H,I]   r [D,G*H,H]   b [D,2*G*H]
 *   sequence_lens [B]   initial_h, initial_c [D,B,H]   p [D,3*H] (peepholes)
 *   y [T,D,B,H]   y_h, y_c [D,B,H]     (layout 1: [B,T,D,H], [B,D,H])
 *
 * Gates: LSTM i, o, f, c; GRU z, r, h. Behind a sequence's end y is 0.
 */
#include <stdlib.h>

#include "sim/golden/onnx/ref/ref.h"

enum { DIRECTION, LAYOUT, LINEAR_BEFORE_RESET, INPUT_FORGET, ACTIVATIONS, ALPHA_COUNT = 13, BETA_COUNT };
enum { ALPHA = 0, BETA = 6, CLIP = 12 };
enum { SIGMOID, TANH, RELU, AFFINE, LEAKY, THRESHOLDED, SCALED_TANH, HARD_SIGMOID, ELU, SOFTSIGN, SOFTPLUS };

struct rnn {
	const weft_tensor *x, *w, *r, *b, *lens, *h0, *c0, *p;
	int64_t t, batch, in, h;
	int dirs, gates;
	bool batch_first;
	double *hs, *cs, *sum, *rec;  /* states [H], sums and recurrent sums [G*H] */
};

double ref_activation(const struct ref *r, int which, double v)
{
	const int n = r->a->i[ACTIVATIONS];
	const int f = n > which ? r->a->i[ACTIVATIONS + 1 + which] : -1;
	const bool has_a = r->a->i[ALPHA_COUNT] > which, has_b = r->a->i[BETA_COUNT] > which;
	const double a = has_a && which < 6 ? (double)r->a->f[ALPHA + which] : 0, b = has_b && which < 6 ? (double)r->a->f[BETA + which] : 0;

	switch (f) {
	case SIGMOID: return 1 / (1 + exp(-v));
	case TANH: return tanh(v);
	case RELU: return v > 0 ? v : 0;
	case AFFINE: return (has_a ? a : 1) * v + b;
	case LEAKY: return v < 0 ? (has_a ? a : 0.01) * v : v;
	case THRESHOLDED: return v > (has_a ? a : 1) ? v : 0;
	case SCALED_TANH: return (has_a ? a : 1) * tanh((has_b ? b : 1) * v);
	case HARD_SIGMOID: return fmax(0, fmin(1, (has_a ? a : 0.2) * v + (has_b ? b : 0.5)));
	case ELU: return v < 0 ? (has_a ? a : 1) * expm1(v) : v;
	case SOFTSIGN: return v / (1 + fabs(v));
	case SOFTPLUS: return log1p(exp(v));
	default: return v;
	}
}

/* The node's activation k of direction d; without the attribute, the operator's own. */
static double gate(const struct ref *r, const struct rnn *s, int d, int k, double v)
{
	const int each = s->gates == 4 ? 3 : s->gates == 3 ? 2 : 1;
	const double clip = (double)r->a->f[CLIP];

	if (clip > 0)
		v = fmax(-clip, fmin(clip, v));
	if (r->a->i[ACTIVATIONS] <= 0)
		return s->gates == 1 || k > 0 ? tanh(v) : 1 / (1 + exp(-v));
	return ref_activation(r, d * each + k, v);
}

static int64_t x_at(const struct rnn *s, int64_t t, int64_t b)
{
	return (s->batch_first ? b * s->t + t : t * s->batch + b) * s->in;
}

/* Sums of the inputs and biases, and of the state, apart: GRU needs them so. */
static void sums(const struct rnn *s, int d, int64_t t, int64_t b)
{
	const int64_t n = s->gates * s->h;

	for (int64_t g = 0; g < n; g++) {
		double v = s->b ? ref_f(s->b, d * 2 * n + g) : 0, u = s->b ? ref_f(s->b, d * 2 * n + n + g) : 0;
		for (int64_t i = 0; i < s->in; i++)
			v += ref_f(s->x, x_at(s, t, b) + i) * ref_f(s->w, (d * n + g) * s->in + i);
		for (int64_t i = 0; i < s->h; i++)
			u += s->hs[i] * ref_f(s->r, (d * n + g) * s->h + i);
		s->sum[g] = v;
		s->rec[g] = u;
	}
}

static double peephole(const struct rnn *s, int d, int gate, int64_t i, double c)
{
	return s->p ? ref_f(s->p, d * 3 * s->h + gate * s->h + i) * c : 0;
}

static void step_lstm(const struct ref *r, struct rnn *s, int d)
{
	const int64_t h = s->h;

	for (int64_t k = 0; k < h; k++) {
		const double old = s->cs[k];
		const double i = gate(r, s, d, 0, s->sum[k] + s->rec[k] + peephole(s, d, 0, k, old));
		const double f = r->a->i[INPUT_FORGET] ? 1 - i : gate(r, s, d, 0, s->sum[2 * h + k] + s->rec[2 * h + k] + peephole(s, d, 2, k, old));
		const double c = gate(r, s, d, 1, s->sum[3 * h + k] + s->rec[3 * h + k]);
		s->cs[k] = ref_round(s->x->dtype, f * old + i * c);
		const double o = gate(r, s, d, 0, s->sum[h + k] + s->rec[h + k] + peephole(s, d, 1, k, s->cs[k]));
		s->hs[k] = ref_round(s->x->dtype, o * gate(r, s, d, 2, s->cs[k]));
	}
}

/* linear_before_reset 0: the reset gate multiplies the state before its product. */
static void step_gru(const struct ref *r, struct rnn *s, int d)
{
	const int64_t h = s->h, n = 3 * h;
	const double *old = s->cs;       /* unused otherwise: the state before the step */

	memcpy(s->cs, s->hs, sizeof *s->cs * (size_t)h);
	for (int64_t k = 0; k < h; k++)
		s->sum[h + k] = gate(r, s, d, 0, s->sum[h + k] + s->rec[h + k]);
	for (int64_t k = 0; k < h; k++) {
		const double z = gate(r, s, d, 0, s->sum[k] + s->rec[k]);
		double u = s->rec[2 * h + k] * s->sum[h + k];
		if (!r->a->i[LINEAR_BEFORE_RESET]) {
			u = s->b ? ref_f(s->b, d * 2 * n + n + 2 * h + k) : 0;
			for (int64_t i = 0; i < h; i++)
				u += s->sum[h + i] * old[i] * ref_f(s->r, (d * n + 2 * h + k) * h + i);
		}
		s->hs[k] = ref_round(s->x->dtype, (1 - z) * gate(r, s, d, 1, s->sum[2 * h + k] + u) + z * old[k]);
	}
}

static void step_rnn(const struct ref *r, struct rnn *s, int d)
{
	for (int64_t k = 0; k < s->h; k++)
		s->hs[k] = ref_round(s->x->dtype, gate(r, s, d, 0, s->sum[k] + s->rec[k]));
}

static int64_t state_at(const struct rnn *s, int d, int64_t b)
{
	return (s->batch_first ? b * s->dirs + d : d * s->batch + b) * s->h;
}

static void one_sequence(struct ref *r, struct rnn *s, int d, int64_t b)
{
	const int64_t said = s->lens ? ref_i(s->lens, b) : s->t, len = said < s->t ? said : s->t;
	const bool reverse = r->a->i[DIRECTION] == 1 || d == 1;

	for (int64_t k = 0; k < s->h; k++) {
		s->hs[k] = s->h0 ? ref_f(s->h0, state_at(s, d, b) + k) : 0;
		s->cs[k] = s->c0 ? ref_f(s->c0, state_at(s, d, b) + k) : 0;
	}
	for (int64_t i = 0; i < len; i++) {
		const int64_t t = reverse ? len - 1 - i : i;
		sums(s, d, t, b);
		if (s->gates == 4)
			step_lstm(r, s, d);
		else if (s->gates == 3)
			step_gru(r, s, d);
		else
			step_rnn(r, s, d);
		const int64_t to = s->batch_first ? ((b * s->t + t) * s->dirs + d) * s->h : ((t * s->dirs + d) * s->batch + b) * s->h;
		for (int64_t k = 0; k < s->h; k++)
			if (r->y[0])
				ref_put_f(r->y[0], to + k, s->hs[k]);
	}
	for (int64_t k = 0; k < s->h; k++) {
		if (r->n_y > 1)
			ref_put_f(r->y[1], state_at(s, d, b) + k, s->hs[k]);
		if (r->n_y > 2)
			ref_put_f(r->y[2], state_at(s, d, b) + k, s->cs[k]);
	}
}

static int check(struct ref *r, struct rnn *s)
{
	const int64_t n = s->gates * s->h, states = s->dirs * s->batch * s->h;

	if (s->w->rank != 3 || s->w->dim[0] != s->dirs || s->w->dim[1] != n || s->w->dim[2] != s->in || s->r->dim[0] != s->dirs || s->r->dim[1] != n)
		return ref_fail(r, -EINVAL, "weights do not fit");
	if ((s->b && REF_N(s->b) != 2 * n * s->dirs) || (s->h0 && REF_N(s->h0) != states) || (s->c0 && REF_N(s->c0) != states) ||
	    (s->lens && REF_N(s->lens) != s->batch) || (s->p && REF_N(s->p) != 3 * s->h * s->dirs))
		return ref_fail(r, -EINVAL, "bias, lengths, initial states or peepholes do not fit");
	return ref_floats(s->x->dtype) ? 0 : ref_fail(r, -EINVAL, "of %s", weft_dtype_name(s->x->dtype));
}

static int recurrent(struct ref *r, int gates)
{
	const weft_tensor *x = r->x[0];
	struct rnn s = { .x = x, .w = r->x[1], .r = r->x[2], .gates = gates, .batch_first = r->a->i[LAYOUT], .dirs = r->a->i[DIRECTION] == 2 ? 2 : 1 };

	if (x->rank != 3 || s.r->rank != 3)
		return ref_fail(r, -EINVAL, "rank %d", x->rank);
	s.b = r->n_x > 3 ? r->x[3] : NULL;
	s.lens = r->n_x > 4 ? r->x[4] : NULL;
	s.h0 = r->n_x > 5 ? r->x[5] : NULL;
	s.c0 = r->n_x > 6 ? r->x[6] : NULL;
	s.p = r->n_x > 7 ? r->x[7] : NULL;
	s.t = x->dim[s.batch_first];
	s.batch = x->dim[!s.batch_first];
	s.in = x->dim[2];
	s.h = s.r->dim[2];
	int err = check(r, &s);
	err = err ? err : ref_y(r, 0, x->dtype, 4, s.batch_first ? (int64_t[]){ s.batch, s.t, s.dirs, s.h } : (int64_t[]){ s.t, s.dirs, s.batch, s.h });
	for (int k = 1; k < 3 && !err; k++)
		err = ref_y(r, k, x->dtype, 3, s.batch_first ? (int64_t[]){ s.batch, s.dirs, s.h } : (int64_t[]){ s.dirs, s.batch, s.h });
	if (err || r->shapes)
		return err;
	double *room = ref_alloc(r, 2 * (1 + gates) * s.h, sizeof *room);
	if (!room)
		return -ENOMEM;
	s.hs = room;
	s.cs = s.hs + s.h;
	s.sum = s.cs + s.h;
	s.rec = s.sum + gates * s.h;
	memset(r->y[0]->data, 0, weft_tensor_bytes(r->y[0]));
	for (int d = 0; d < s.dirs; d++)
		for (int64_t b = 0; b < s.batch; b++)
			one_sequence(r, &s, d, b);
	free(room);
	return 0;
}

int ref_lstm(struct ref *r) { return recurrent(r, 4); }
int ref_gru(struct ref *r) { return recurrent(r, 3); }
int ref_rnn(struct ref *r) { return recurrent(r, 1); }

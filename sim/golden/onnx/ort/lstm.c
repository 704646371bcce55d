/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DynamicQuantizeLSTM: an LSTM whose weights are codes of 8 bits, and whose input and state get codes of uint8 when they are
 * known. Products are sums of integers, exact; everything else is float32 in ONNX Runtime's order, since a code of
 * the state may depend on the last bit. And LSTM of float32 with constant weights, in that order, for --requant runtime.
 *
 *   x [T,B,I] float32   w [D,I,4H]   r [D,H,4H] int8 or uint8   b [D,8H]   sequence_lens [B]   initial_h, initial_c [D,B,H]
 *   p [D,3H] (peepholes)   scale and zero point of w, and of r: [D] or [D,4H]
 *   of LSTM w [D,4H,I]   r [D,4H,H] float32
 *   y [T,D,B,H]   y_h, y_c [D,B,H]
 *
 * All of x has one range, and so has the state of all sequences before a step. Gates: i, o, f, c. Behind a sequence's end y is 0.
 *
 * Source: ONNX Runtime, uni_directional_lstm.cc and rnn_helpers.cc, with one thread.
 */
#include <stdlib.h>

#include "sim/golden/onnx/ort/functions.h"
#include "sim/golden/onnx/ort/ops.h"
#include "sim/golden/onnx/ort/pairs.h"

enum { X, W, R, B, LENS, H0, C0, P, W_SCALE, W_ZERO, R_SCALE, R_ZERO };
enum { DIRECTION = 0, LAYOUT = 1, INPUT_FORGET = 3, ACTIVATIONS = 4 };
enum { CLIP = 12 };
enum { I, O, F, C };

struct lstm {
	struct ref *r;
	int64_t t, batch, in, h;
	int dirs, d;
	bool reverse, coded;     /* coded: weights of 8 bits */
	bool pairs;              /* sums of uint8 by int8 saturate in pairs (pairs.c) */
	float *x;        /* [T,B,I] of the direction at hand: reversed if it is the second one */
	float *gate;     /* [T,B,4H] */
	float *hs, *cs;  /* [B,H] */
	float *bias;     /* [4H], those of w and of r added */
};

/* Operand k of the direction at hand, of n floats for each; NULL if it is absent. */
static const float *of_direction(const struct lstm *s, int k, int64_t n)
{
	return s->r->n_x > k && s->r->x[k] ? (const float *)s->r->x[k]->data + s->d * n : NULL;
}

static int64_t length(const struct lstm *s, int64_t b)
{
	const weft_tensor *lens = s->r->x[LENS];

	return lens ? ref_i(lens, b) : s->t;
}

static int64_t longest(const struct lstm *s)
{
	int64_t most = 0;

	for (int64_t b = 0; b < s->batch; b++)
		most = length(s, b) > most ? length(s, b) : most;
	return most;
}

/*
 * y [rows][4H] = x [rows][k] * operand `which`, w or r, of floats; added to what y holds if `more`. A chain of fused multiplications and
 * additions, which begins anew every 256.
 */
static void multiply_floats(const struct lstm *s, int which, const float *x, int64_t rows, bool more, float *y)
{
	enum { PANEL = 256 };
	const int64_t n = 4 * s->h, k = s->r->x[which]->dim[2];
	const float *w = of_direction(s, which, n * k);

	for (int64_t i = 0; i < rows * n; i++)
		for (int64_t from = 0; from < k || !from; from += PANEL) {
			float sum = 0;
			for (int64_t p = from; p < k && p < from + PANEL; p++)
				sum = fmaf(x[i / n * k + p], w[i % n * k + p], sum);
			y[i] = more || from ? y[i] + sum : sum;
		}
}

/*
 * Returns the sum of k products of x's codes, less their zero point, and the codes of a column of weights that begins at `first`, less `zero`.
 * If s->pairs is set, sums of two codes' products of uint8 by int8 saturate to 16 bits; the zero points' share does not.
 */
static int64_t sum_of_codes(const struct lstm *s, const struct ort_codes *c, const float *x, int64_t k, const weft_tensor *codes, int64_t first, int64_t zero)
{
	const bool pairs = s->pairs && codes->dtype == WEFT_INT8;
	int64_t sum = 0, pair = 0;

	for (int64_t p = 0; p < k; p++) {
		const int64_t a = ort_code(c, x[p]), b = ref_i(codes, first + p * 4 * s->h), product = (a - c->zero) * (b - zero);
		pair += a * b;
		sum += pairs ? product - a * b : product;
		if (pairs && (p % 2 || p + 1 == k)) {
			sum += ort_in_16_bits(pair);
			pair = 0;
		}
	}
	return sum;
}

/*
 * y [rows][4H] = x [rows][k] * operand `which`, w or r, of codes; added to what y holds if `more`. The product of the sum and the
 * scales is rounded before it is added.
 */
static void multiply_codes(const struct lstm *s, int which, const float *x, int64_t rows, bool more, float *y)
{
	const bool w = which == W;
	const weft_tensor *codes = s->r->x[which], *scale = s->r->x[w ? W_SCALE : R_SCALE], *zeros = s->r->x[w ? W_ZERO : R_ZERO];
	const int64_t n = 4 * s->h, k = codes->dim[1], columns = scale->rank == 2 ? n : 1, zero = ref_i(zeros, s->d * (REF_N(zeros) / s->dirs));
	const struct ort_codes c = ort_range(x, rows * k);

	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < n; j++) {
			const float factor = c.scale * (float)ref_f(scale, s->d * columns + (columns > 1 ? j : 0));
			const float part = (float)sum_of_codes(s, &c, x + i * k, k, codes, s->d * k * n + j, zero) * factor;
			y[i * n + j] = more ? y[i * n + j] + part : part;
		}
}

static void multiply(const struct lstm *s, int which, const float *x, int64_t rows, bool more, float *y)
{
	(s->coded ? multiply_codes : multiply_floats)(s, which, x, rows, more, y);
}

/* The activation k of the direction at hand: f, g or h. */
static float activate(const struct lstm *s, int k, float v)
{
	const struct weft_attr_onnx_node *a = s->r->a;
	const int at = 3 * s->d + k, kind = a->i[ACTIVATIONS] > at ? a->i[ACTIVATIONS + 1 + at] : k > 0;

	if (kind > 1)
		return (float)ref_activation(s->r, at, (double)v);
	return kind ? ort_tanh(v) : ort_logistic(v);
}

/* Gate g of element k of a sequence, whose 4H sums are at `sum`; c: what its peephole sees. */
static float gate(const struct lstm *s, const float *sum, int g, int64_t k, float c)
{
	static const int peephole[] = { 0, 1, 2 };
	const float *p = of_direction(s, P, 3 * s->h), clip = s->r->a->f[CLIP] > 0 ? s->r->a->f[CLIP] : INFINITY;
	float v = sum[g * s->h + k];

	if (p && g != C)
		v += c * p[peephole[g] * s->h + k];
	v += s->bias[g * s->h + k];
	return activate(s, g == C, v > clip ? clip : v < -clip ? -clip : v);
}

/* One step of sequence b: its state changes. */
static void step(struct lstm *s, const float *sum, int64_t b)
{
	for (int64_t k = 0; k < s->h; k++) {
		const int64_t at = b * s->h + k;
		const float i = gate(s, sum, I, k, s->cs[at]);
		const float f = s->r->a->i[INPUT_FORGET] == 1 ? 1 - i : gate(s, sum, F, k, s->cs[at]);
		const float c = gate(s, sum, C, k, 0), kept = s->cs[at] * f, added = i * c;
		s->cs[at] = kept + added;
		s->hs[at] = activate(s, 2, s->cs[at]) * gate(s, sum, O, k, s->cs[at]);
	}
}

/* The place of step t of sequence b in the file's order. */
static int64_t place(const struct lstm *s, int64_t t, int64_t b)
{
	return s->reverse && t < length(s, b) ? length(s, b) - 1 - t : t;
}

static void put(struct ref *r, int k, int64_t at, const float *v, int64_t n)
{
	if (r->n_y > k && r->y[k])
		memcpy((float *)r->y[k]->data + at, v, (size_t)n * sizeof *v);
}

static void begin(struct lstm *s)
{
	const int64_t states = s->batch * s->h, n = 4 * s->h;
	const float *h0 = of_direction(s, H0, states), *c0 = of_direction(s, C0, states), *bias = of_direction(s, B, 2 * n);

	for (int64_t i = 0; i < states; i++) {
		s->hs[i] = h0 ? h0[i] : 0;
		s->cs[i] = c0 ? c0[i] : 0;
	}
	for (int64_t i = 0; i < n; i++)
		s->bias[i] = bias ? bias[i] + bias[n + i] : 0;
	for (int64_t t = 0; t < s->t; t++)
		for (int64_t b = 0; b < s->batch; b++)
			memcpy(s->x + (t * s->batch + b) * s->in, (const float *)s->r->x[X]->data + (place(s, t, b) * s->batch + b) * s->in, (size_t)s->in * sizeof *s->x);
}

static void one_direction(struct lstm *s)
{
	const int64_t steps = longest(s), n = 4 * s->h;

	begin(s);
	multiply(s, W, s->x, steps * s->batch, false, s->gate);
	for (int64_t t = 0; t < steps; t++) {
		float *sum = s->gate + t * s->batch * n;
		multiply(s, R, s->hs, s->batch, true, sum);
		for (int64_t b = 0; b < s->batch; b++) {
			float *h = s->hs + b * s->h;
			if (t >= length(s, b)) {
				memset(h, 0, (size_t)s->h * sizeof *h);   /* its zeros count for the range */
				continue;
			}
			step(s, sum + b * n, b);
			put(s->r, 0, ((place(s, t, b) * s->dirs + s->d) * s->batch + b) * s->h, h, s->h);
			if (t != length(s, b) - 1)
				continue;
			put(s->r, 1, (s->d * s->batch + b) * s->h, h, s->h);
			put(s->r, 2, (s->d * s->batch + b) * s->h, s->cs + b * s->h, s->h);
		}
	}
}

/* Scales and zero points of operand `which`: one for each direction or for each column, and one zero point in a direction. */
static int check_codes(const struct lstm *s, int which, int64_t k)
{
	struct ref *r = s->r;
	const int at = which == W ? W_SCALE : R_SCALE;
	const weft_tensor *w = r->x[which], *scale = r->x[at], *zero = r->x[at + 1];
	const int64_t n = 4 * s->h;

	if ((w->dtype != WEFT_INT8 && w->dtype != WEFT_UINT8) || w->rank != 3 || w->dim[0] != s->dirs || w->dim[1] != k || w->dim[2] != n)
		return ref_fail(r, -EINVAL, "weights do not fit");
	for (int i = 0; i < 2; i++) {
		const weft_tensor *t = i ? zero : scale;
		if (t->rank < 1 || t->rank > 2 || t->dim[0] != s->dirs || (t->rank == 2 && t->dim[1] != n) || (i ? t->dtype != w->dtype : t->dtype != WEFT_FP32))
			return ref_fail(r, -EINVAL, "scales or zero points of the weights do not fit");
	}
	const int64_t each = REF_N(zero) / s->dirs;
	for (int64_t i = 0; zero->data && i < REF_N(zero); i++)
		if (ref_i(zero, i) != ref_i(zero, i / each * each))
			return ref_fail(r, -ENOTSUP, "zero points that differ between the columns of a weight");
	return 0;
}

static int check_floats(const struct lstm *s, int which, int64_t k)
{
	const weft_tensor *w = s->r->x[which];

	return w->dtype == WEFT_FP32 && w->rank == 3 && w->dim[0] == s->dirs && w->dim[1] == 4 * s->h && w->dim[2] == k
		? 0 : ref_fail(s->r, w->dtype == WEFT_FP32 ? -EINVAL : -ENOTSUP, "weights do not fit");
}

static int check(struct lstm *s)
{
	int (*const weights)(const struct lstm *, int, int64_t) = s->coded ? check_codes : check_floats;

	struct ref *r = s->r;
	const int64_t states = s->dirs * s->batch * s->h;
	const struct { int k; int64_t n; } floats[] = { { B, 8 * s->h * s->dirs }, { H0, states }, { C0, states }, { P, 3 * s->h * s->dirs } };

	for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
		const weft_tensor *t = r->x[floats[i].k];
		if (t && (t->dtype != WEFT_FP32 || REF_N(t) != floats[i].n))
			return ref_fail(r, -EINVAL, "bias, initial states or peepholes do not fit");
	}
	if (r->x[LENS] && (r->x[LENS]->dtype != WEFT_INT32 || REF_N(r->x[LENS]) != s->batch))
		return ref_fail(r, -EINVAL, "lengths do not fit");
	for (int64_t b = 0; r->x[LENS] && r->x[LENS]->data && b < s->batch; b++)
		if (length(s, b) < 0 || length(s, b) > s->t)
			return ref_fail(r, -EINVAL, "length %lld of %lld steps", (long long)length(s, b), (long long)s->t);
	const int err = weights(s, W, s->in);
	return err ? err : weights(s, R, s->h);
}

static int run(struct ref *r, bool coded, bool pairs)
{
	const weft_tensor *x = r->x[X];
	struct lstm s = { .r = r, .dirs = r->a->i[DIRECTION] == 2 ? 2 : 1, .coded = coded, .pairs = pairs };

	for (int k = 0; k <= (coded ? R_ZERO : R); k++)
		if ((k < B || k > P) && ref_need(r, k))
			return -EINVAL;
	if (r->a->i[LAYOUT])
		return ref_fail(r, -ENOTSUP, "layout %d", (int)r->a->i[LAYOUT]);
	if (x->rank != 3 || x->dtype != WEFT_FP32 || r->x[R]->rank != 3)
		return ref_fail(r, -EINVAL, "rank %d of %s", x->rank, weft_dtype_name(x->dtype));
	s.t = x->dim[0];
	s.batch = x->dim[1];
	s.in = x->dim[2];
	s.h = r->x[R]->dim[coded ? 1 : 2];
	int err = check(&s);
	err = err ? err : ref_y(r, 0, WEFT_FP32, 4, (int64_t[]){ s.t, s.dirs, s.batch, s.h });
	for (int k = 1; k < 3 && !err; k++)
		err = ref_y(r, k, WEFT_FP32, 3, (int64_t[]){ s.dirs, s.batch, s.h });
	if (err || r->shapes)
		return err;
	float *room = ref_alloc(r, REF_N(x) + (s.t * s.batch + 1) * 4 * s.h + 2 * s.batch * s.h, sizeof *room);
	if (!room)
		return -ENOMEM;
	s.x = room;
	s.gate = s.x + REF_N(x);
	s.bias = s.gate + s.t * s.batch * 4 * s.h;
	s.hs = s.bias + 4 * s.h;
	s.cs = s.hs + s.batch * s.h;
	for (int k = 0; k < r->n_y; k++)
		if (r->y[k])
			memset(r->y[k]->data, 0, weft_tensor_bytes(r->y[k]));
	for (s.d = 0; s.d < s.dirs; s.d++) {
		s.reverse = r->a->i[DIRECTION] == 1 || s.d == 1;
		one_direction(&s);
	}
	free(room);
	return 0;
}

int ort_dynamic_lstm(struct ref *r) { return run(r, true, false); }
int ort_dynamic_lstm_pairs(struct ref *r) { return run(r, true, true); }
int ort_lstm(struct ref *r) { return run(r, false, false); }

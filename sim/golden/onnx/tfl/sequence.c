/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recurrent layers of TensorFlow Lite on float32; weights are float32, or int8
 * with one scale each ("hybrid"), where every vector that they multiply is
 * quantised first, each row of the batch for itself.
 *
 *   x [B,T,I], with time_major [T,B,I]   weights [C,I], recurrent weights [C,O]
 *   y [B,T,O] or [T,B,O]; C cells, O = C without a projection
 *   an auxiliary input a [B,T,A] or [T,B,A] with weights V [C,A] adds V a to each sum
 *
 * LSTM, gates i (input), f (forget), g (cell), o (output), sums W x + V a + R h + bias:
 *   i, f and o also add p * c, peepholes of the cell state (o of the new one);
 *   with normalisation coefficients n a sum without its bias becomes
 *   (sum - mean) / sqrt(variance + 1e-8) * n + bias; without gate i it is 1 - f;
 *   c' = f c + i g, limited; h' = P (o activation(c')) + bias, limited.
 * RNN: h' = activation(W x + V a + R h + bias). If it is time-major or has weights of 8 bits, the kernel takes the steps
 * of a to be as far apart as those of x; an a with fewer elements than x in a step is then refused, since the kernel reads
 * behind its end.
 *
 * States are 0 before the first step, or operands [1,B,O] and, of an LSTM, [1,B,C]; result 1 of an LSTM, if it is wanted, is its cell
 * state behind the last step, [1,B,C] (the other state is the result's last step). reverse: steps go from the last to the first.
 * Sums are float32 in index order, each product of a matrix summed on its own
 * before it is added.
 *
 * Source: LiteRT, lstm_eval and kernel_utils (RnnBatchStep), float and hybrid.
 */
#include <stdlib.h>

#include "sim/golden/onnx/tfl/ops.h"
#include "sim/golden/ops.h"

enum { TIME_MAJOR, REVERSE, ACTIVATION, SYMMETRIC };
enum { CELL_CLIP, PROJECTION_CLIP };
enum { X, W, R = 5, PEEPHOLE = 9, BIAS = 12, PROJECTION = 16, PROJECTION_BIAS, NORM, SCALES = 22, AUX, AUX_W, STATE = 28, CELL };
enum { RNN_W = 1, RNN_R, RNN_BIAS, RNN_SCALES, RNN_AUX, RNN_AUX_W, RNN_STATE };
enum { GATE_I, GATE_F, GATE_G, GATE_O };

/* A vector, and its codes if weights of 8 bits multiply it. */
struct vector { float *v; int16_t *code; float scale; int64_t n; };

struct layer {
	struct ref *r;
	int64_t batch, steps, in, cells, out;
	const weft_tensor *scales;     /* float32, one for each operand of weights; or NULL */
	const weft_tensor *aux;        /* the auxiliary input, or NULL */
	int64_t aux_row;               /* elements from one of its rows to the next one */
	const weft_tensor *first[2];   /* state and cell state before the first step, or NULL: 0 */
	struct vector x, a, h, z;      /* input, auxiliary input, state, what is projected */
	float *c, *gate[4];            /* the cell state, and a step's gates */
};

/* Quantises v if the layer has weights of 8 bits. */
static void encode(const struct layer *s, struct vector *v)
{
	char msg[WEFT_GOLDEN_MSG];
	weft_tensor x = { .dtype = WEFT_FP32, .rank = 2, .dim = { 1, v->n, 1, 1, 1, 1, 1, 1 }, .data = v->v };
	weft_tensor y = { .dtype = WEFT_INT16, .rank = 2, .dim = { 1, v->n, 1, 1, 1, 1, 1, 1 }, .data = v->code };
	weft_tensor q = { .dtype = WEFT_FP32, .rank = 2, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 }, .data = &v->scale };
	const weft_attr a = { .tfl_hybrid = { .symmetric = s->r->a->i[SYMMETRIC] != 0 } };
	const weft_tensor *in[1] = { &x };
	weft_tensor *out[2] = { &y, &q };
	const struct weft_call c = { .op = WEFT_OP_TFL_HYBRID, .attr = &a, .x = in, .n_x = 1, .y = out, .n_y = 2, .msg = msg };

	if (s->scales)
		weft_golden_tfl_hybrid(&c);
}

/* Adds to sum[0..n-1] the product of weights, operand k, and v. */
static void add_product(const struct layer *s, int k, const struct vector *v, float *sum, int64_t n)
{
	const weft_tensor *w = s->r->x[k];
	const float *real = w->data;
	const int8_t *code = w->data;

	for (int64_t i = 0; i < n; i++) {
		float f = 0;
		int32_t dot = 0;

		for (int64_t j = 0; j < v->n; j++)
			if (w->dtype == WEFT_FP32)
				f += real[i * v->n + j] * v->v[j];
			else
				dot += code[i * v->n + j] * v->code[j];
		sum[i] += w->dtype == WEFT_FP32 ? f : (float)dot * (v->scale * ((const float *)s->scales->data)[k]);
	}
}

/* Fills v with operand k, of n numbers, or with 0 if it is absent. */
static void start(const struct layer *s, int k, float *v, int64_t n)
{
	const weft_tensor *t = s->r->x[k];

	for (int64_t i = 0; i < n; i++)
		v[i] = t ? ((const float *)t->data)[i] : 0;
}

/* The activation with TensorFlow Lite's number. */
static float activated(int which, float v)
{
	switch (which) {
	case 1: return v > 0 ? v : 0;
	case 2: return v < -1 ? -1 : v > 1 ? 1 : v;
	case 3: return v < 0 ? 0 : v > 6 ? 6 : v;
	case 4: return tanhf(v);
	case 5: return signbit(v) ? 1 : 0;
	default: return v;
	}
}

static float limited(float v, float most)
{
	return most > 0 ? fmaxf(-most, fminf(most, v)) : v;
}

/* Brings n sums to mean 0 and variance 1, times coefficients (operand k), plus the bias (operand b). */
static void normalise(const struct layer *s, int k, int b, float *v, int64_t n)
{
	float sum = 0, squares = 0;

	for (int64_t i = 0; i < n; i++)
		sum += v[i];
	const float mean = sum / (float)n;
	for (int64_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	const float inverse = 1.0f / sqrtf(squares / (float)n + 1e-8f);
	for (int64_t i = 0; i < n; i++)
		v[i] = (v[i] - mean) * inverse * ((const float *)s->r->x[k]->data)[i] + ((const float *)s->r->x[b]->data)[i];
}

/* Computes gate g of a step; the cell state is the new one for gate o. */
static void compute_gate(const struct layer *s, int g)
{
	static const int peephole[4] = { PEEPHOLE, PEEPHOLE + 1, -1, PEEPHOLE + 2 };
	const weft_tensor *p = peephole[g] < 0 ? NULL : s->r->x[peephole[g]];
	const bool norm = s->r->x[NORM + g] != NULL;
	float *v = s->gate[g];

	start(s, norm ? SCALES + 1 : BIAS + g, v, s->cells);
	add_product(s, W + g, &s->x, v, s->cells);
	if (s->aux)
		add_product(s, AUX_W + g, &s->a, v, s->cells);
	add_product(s, R + g, &s->h, v, s->cells);
	for (int64_t i = 0; p && i < s->cells; i++) {
		const float w = p->dtype == WEFT_FP32 ? ((const float *)p->data)[i]
		                                      : (float)((const int8_t *)p->data)[i] * ((const float *)s->scales->data)[peephole[g]];
		v[i] += w * s->c[i];
	}
	if (norm)
		normalise(s, NORM + g, BIAS + g, v, s->cells);
	for (int64_t i = 0; i < s->cells; i++)
		v[i] = g == GATE_G ? activated(s->r->a->i[ACTIVATION], v[i]) : 1.0f / (1.0f + expf(-v[i]));
}

/* One step of an LSTM: from s->x, s->h and s->c to the new s->h and s->c. */
static void lstm_step(struct layer *s)
{
	const bool coupled = !s->r->x[W + GATE_I];
	const float *f = s->r->a->f;

	for (int g = coupled ? GATE_F : GATE_I; g < GATE_O; g++)
		compute_gate(s, g);
	for (int64_t i = 0; i < s->cells; i++) {
		const float in = coupled ? 1.0f - s->gate[GATE_F][i] : s->gate[GATE_I][i];

		s->c[i] = limited(s->gate[GATE_F][i] * s->c[i] + in * s->gate[GATE_G][i], f[CELL_CLIP]);
	}
	compute_gate(s, GATE_O);
	for (int64_t i = 0; i < s->cells; i++)
		s->z.v[i] = activated(s->r->a->i[ACTIVATION], s->c[i]) * s->gate[GATE_O][i];
	if (!s->r->x[PROJECTION]) {
		memcpy(s->h.v, s->z.v, (size_t)s->cells * sizeof *s->h.v);
		return;
	}
	encode(s, &s->z);
	start(s, PROJECTION_BIAS, s->h.v, s->out);
	add_product(s, PROJECTION, &s->z, s->h.v, s->out);
	for (int64_t i = 0; i < s->out; i++)
		s->h.v[i] = limited(s->h.v[i], f[PROJECTION_CLIP]);
}

/* One step of an RNN. */
static void rnn_step(struct layer *s)
{
	float *v = s->gate[0];

	start(s, RNN_BIAS, v, s->out);
	add_product(s, RNN_W, &s->x, v, s->out);
	if (s->aux)
		add_product(s, RNN_AUX_W, &s->a, v, s->out);
	add_product(s, RNN_R, &s->h, v, s->out);
	for (int64_t i = 0; i < s->out; i++)
		s->h.v[i] = activated(s->r->a->i[ACTIVATION], v[i]);
}

/* Reads step t of row b of the auxiliary input, if there is one, into s->a. */
static void read_auxiliary(struct layer *s, int64_t t, int64_t b)
{
	if (!s->aux)
		return;
	const int64_t at = s->r->a->i[TIME_MAJOR] ? t * s->batch * s->aux_row + b * s->a.n : (b * s->steps + t) * s->aux_row;
	memcpy(s->a.v, (const float *)s->aux->data + at, (size_t)s->a.n * sizeof *s->a.v);
	encode(s, &s->a);
}

/* Copies row b of n numbers of a state before the first step, first[k], to v, or zeros if there is none. */
static void begin_state(const struct layer *s, int k, int64_t b, float *v, int64_t n)
{
	if (s->first[k])
		memcpy(v, (const float *)s->first[k]->data + b * n, (size_t)n * sizeof *v);
	else
		memset(v, 0, (size_t)n * sizeof *v);
}

/* Runs all steps of one row of the batch. */
static void run_row(struct layer *s, int64_t b, void (*step)(struct layer *))
{
	const weft_tensor *x = s->r->x[X];

	begin_state(s, 0, b, s->h.v, s->out);
	begin_state(s, 1, b, s->c, s->cells);
	for (int64_t k = 0; k < s->steps; k++) {
		const int64_t t = s->r->a->i[REVERSE] ? s->steps - 1 - k : k;
		const int64_t row = s->r->a->i[TIME_MAJOR] ? t * s->batch + b : b * s->steps + t;

		memcpy(s->x.v, (const float *)x->data + row * s->in, (size_t)s->in * sizeof *s->x.v);
		encode(s, &s->x);
		encode(s, &s->h);
		read_auxiliary(s, t, b);
		step(s);
		memcpy((float *)s->r->y[0]->data + row * s->out, s->h.v, (size_t)s->out * sizeof *s->h.v);
	}
	if (s->r->n_y > 1)
		memcpy((float *)s->r->y[1]->data + b * s->cells, s->c, (size_t)s->cells * sizeof *s->c);
}

/* Allocates one block for all vectors of the layer, and runs it. Returns 0 or -ENOMEM. */
static int run(struct layer *s, void (*step)(struct layer *))
{
	const int64_t aux = s->aux ? s->aux->dim[2] : 0, in = s->in > aux ? s->in : aux;
	const int64_t most = in > s->cells ? in : s->cells, n = most > s->out ? most : s->out;
	float *room = ref_alloc(s->r, 13 * n, sizeof *room);

	if (!room)
		return -ENOMEM;
	float *codes = room + 9 * n;
	s->x = (struct vector){ room, (int16_t *)codes, 0, s->in };
	s->h = (struct vector){ room + n, (int16_t *)(codes + n), 0, s->out };
	s->z = (struct vector){ room + 2 * n, (int16_t *)(codes + 2 * n), 0, s->cells };
	s->a = (struct vector){ room + 3 * n, (int16_t *)(codes + 3 * n), 0, aux };
	s->c = room + 4 * n;
	for (int g = 0; g < 4; g++)
		s->gate[g] = room + (5 + g) * n;
	for (int64_t b = 0; b < s->batch; b++)
		run_row(s, b, step);
	free(room);
	return 0;
}

/*
 * Checks that operand k is absent, if that is allowed, or has `rank` dimensions, the first of a and the
 * second of b elements, and is float32, or int8 with a scale if it is a matrix or codes are allowed.
 * Returns 0 or -EINVAL.
 */
static int shaped(const struct layer *s, int k, int scales, int64_t a, int64_t b, bool may_miss)
{
	const weft_tensor *t = s->r->x[k];

	if (!t)
		return may_miss ? 0 : ref_fail(s->r, -EINVAL, "input %d is missing", k);
	const bool codes = t->dtype == WEFT_INT8 && s->scales && weft_tensor_elements(s->scales) >= scales && (b || k < BIAS);
	if ((t->dtype != WEFT_FP32 && !codes) || t->rank != 1 + (b > 0) || t->dim[0] != a || (b && t->dim[1] != b))
		return ref_fail(s->r, -EINVAL, "input %d: %s of %lldx%lld does not fit", k, weft_dtype_name(t->dtype), (long long)t->dim[0],
		                (long long)t->dim[1]);
	return 0;
}

/* Fills in what x and the scales, operand `scales`, say of the layer. Returns 0 or -EINVAL. */
static int begin(struct layer *s, int scales)
{
	const weft_tensor *x = s->r->x[X], *q = scales < s->r->n_x ? s->r->x[scales] : NULL;
	const int major = s->r->a->i[TIME_MAJOR] != 0;

	if (x->dtype != WEFT_FP32 || x->rank != 3 || (q && (q->dtype != WEFT_FP32 || q->rank != 1)))
		return ref_fail(s->r, -EINVAL, "%s of rank %d", weft_dtype_name(x->dtype), x->rank);
	s->batch = x->dim[major];
	s->steps = x->dim[!major];
	s->in = x->dim[2];
	s->scales = q;
	return 0;
}

/*
 * Fills in what the auxiliary input, operand `k`, says of the layer, if it is there. Its first two dimensions are the
 * input's. Returns 0 or -EINVAL.
 */
static int begin_auxiliary(struct layer *s, int k)
{
	const weft_tensor *x = s->r->x[X], *a = k < s->r->n_x ? s->r->x[k] : NULL;

	if (a && (a->dtype != WEFT_FP32 || a->rank != 3 || a->dim[0] != x->dim[0] || a->dim[1] != x->dim[1]))
		return ref_fail(s->r, -EINVAL, "auxiliary input of %s and rank %d does not fit", weft_dtype_name(a->dtype), a->rank);
	s->aux = a;
	s->aux_row = a ? a->dim[2] : 0;
	return 0;
}

int tfl_find_state_operand(struct ref *r, int k, weft_dtype t, int64_t batch, int64_t n, const weft_tensor **first)
{
	const weft_tensor *x = k < r->n_x ? r->x[k] : NULL;

	if (x && (x->dtype != t || x->rank != 3 || x->dim[0] != 1 || x->dim[1] != batch || x->dim[2] != n))
		return ref_fail(r, -EINVAL, "input %d: a state of %s and %lldx%lldx%lld does not fit", k, weft_dtype_name(x->dtype),
		                (long long)x->dim[0], (long long)x->dim[1], (long long)x->dim[2]);
	*first = x;
	return 0;
}

/* States the results, and computes them unless only shapes are asked for. */
static int finish(struct layer *s, void (*step)(struct layer *))
{
	const weft_tensor *x = s->r->x[X];
	int err = ref_y(s->r, 0, WEFT_FP32, 3, (int64_t[]){ x->dim[0], x->dim[1], s->out });

	if (!err && s->r->n_y > 1)
		err = ref_y(s->r, 1, WEFT_FP32, 3, (int64_t[]){ 1, s->batch, s->cells });

	for (int k = 0; k < s->r->n_x && !err && !s->r->shapes; k++)
		err = s->r->x[k] ? ref_need_data(s->r, k) : 0;
	return err || s->r->shapes ? err : run(s, step);
}

int tfl_sequence_lstm(struct ref *r)
{
	struct layer s = { .r = r };
	int err = begin(&s, SCALES);

	if (err || (err = begin_auxiliary(&s, AUX)))
		return err;
	const weft_tensor *w = r->x[W + GATE_F], *p = r->x[PROJECTION];
	if (!w || w->rank != 2 || (p && p->rank != 2) || !r->x[W + GATE_I] != !r->x[R + GATE_I])
		return ref_fail(r, -EINVAL, "the forget gate's or the projection's weights do not fit");
	s.cells = w->dim[0];
	s.out = p ? p->dim[0] : s.cells;
	const bool norm = r->x[NORM + GATE_F] != NULL, coupled = !r->x[W + GATE_I];
	for (int g = 0; g < 4 && !err; g++) {
		const bool none = g == GATE_I && coupled;
		if ((err = shaped(&s, W + g, SCALES, s.cells, s.in, none)) || (err = shaped(&s, R + g, SCALES, s.cells, s.out, none)) ||
		    (err = shaped(&s, BIAS + g, SCALES, s.cells, 0, none)) || (err = shaped(&s, NORM + g, SCALES, s.cells, 0, none || !norm)) ||
		    (s.aux && (err = shaped(&s, AUX_W + g, AUX_W + 4, s.cells, s.aux->dim[2], none))))
			return err;
	}
	for (int k = PEEPHOLE; k < BIAS && !err; k++)
		err = shaped(&s, k, SCALES, s.cells, 0, true);
	if (err || (err = shaped(&s, PROJECTION, SCALES, s.out, s.cells, true)) || (err = shaped(&s, PROJECTION_BIAS, SCALES, s.out, 0, true)) ||
	    (err = tfl_find_state_operand(r, STATE, WEFT_FP32, s.batch, s.out, &s.first[0])) ||
	    (err = tfl_find_state_operand(r, CELL, WEFT_FP32, s.batch, s.cells, &s.first[1])))
		return err;
	return finish(&s, lstm_step);
}

int tfl_sequence_rnn(struct ref *r)
{
	struct layer s = { .r = r };
	int err = begin(&s, RNN_SCALES);

	if (err || (err = begin_auxiliary(&s, RNN_AUX)))
		return err;
	const weft_tensor *w = r->x[RNN_W];
	if (w->rank != 2)
		return ref_fail(r, -EINVAL, "weights of rank %d", w->rank);
	s.cells = s.out = w->dim[0];
	if ((err = shaped(&s, RNN_W, RNN_SCALES, s.out, s.in, false)) || (err = shaped(&s, RNN_R, RNN_SCALES, s.out, s.out, false)) ||
	    (err = shaped(&s, RNN_BIAS, RNN_SCALES, s.out, 0, false)))
		return err;
	if ((err = tfl_find_state_operand(r, RNN_STATE, WEFT_FP32, s.batch, s.out, &s.first[0])))
		return err;
	if (r->x[RNN_BIAS]->dtype != WEFT_FP32)
		return ref_fail(r, -EINVAL, "the bias is %s", weft_dtype_name(r->x[RNN_BIAS]->dtype));
	if (s.aux && (err = shaped(&s, RNN_AUX_W, RNN_AUX_W + 1, s.out, s.aux->dim[2], false)))
		return err;
	if (s.aux && (r->a->i[TIME_MAJOR] || s.scales))
		s.aux_row = s.in;
	if (s.aux && s.aux->dim[2] < s.aux_row)
		return ref_fail(r, -ENOTSUP, "an auxiliary input of %lld elements beside an input of %lld: the kernel reads behind its end",
		                (long long)s.aux->dim[2], (long long)s.in);
	return finish(&s, rnn_step);
}

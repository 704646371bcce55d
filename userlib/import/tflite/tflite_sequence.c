/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recurrent layers of float32, whose weights may have 8 bits ("hybrid"): LSTM,
 * UNIDIRECTIONAL_SEQUENCE_LSTM, BIDIRECTIONAL_SEQUENCE_LSTM, and the same of RNN. They
 * run on the host as SequenceLSTM and SequenceRNN (sim/golden/onnx/tfl/sequence.c);
 * tflite_lstm8.c and tflite_lstm.c have the LSTM of int8. States are variables, 0 before the
 * first run, and each run begins with what the one before left.
 *
 * Operands of an LSTM: 0 the input; 1..4 its weights for the gates input, forget,
 * cell, output; 5..8 those of the state; 9..11 peepholes; 12..15 biases; 16, 17
 * projection; 18, 19 the states; 20..23 normalisation. The bidirectional LSTM has
 * 1..17 twice, then four states and an auxiliary input with weights. With merged
 * results and a batch of several that is not time-major, LiteRT 2.3 reads states
 * beyond their end; here each row of the batch has its own.
 *
 * Operands of an RNN: 0 the input; 1 its weights; 2 those of the state; 3 the bias; 4 the
 * state. The bidirectional RNN has 1..4 twice, then an auxiliary input with two weights.
 *
 * If an auxiliary input has no weights, the backward direction reads it in the place of the
 * input; that of an RNN does so only if it is time-major, as in the kernel.
 */
#include <errno.h>
#include <string.h>

#include "tflite_host.h"

enum { LSTM_WEIGHTS = 17, LSTM_STATE = 18, LSTM_NORM = 20, LSTM_GATES = 4, LSTM_AT_STATE = 28, RNN_AT_STATE = 7, MAX_OPERANDS = 30 };
enum { BI_LSTM_BACK = 18, BI_LSTM_STATE = 35, BI_LSTM_AUX = 39, BI_LSTM_AUX_FORGET = 2, BI_RNN_BACK = 5, BI_RNN_AUX = 9 };

/* Options that all these operators have; field numbers of one that an operator lacks are -1. */
struct options { int type, activation, time_major, merge, asymmetric, cell_clip, projection_clip; };

/*
 * Returns the numbers of the option fields of the LSTM or RNN with that code; those of the bidirectional RNN
 * for any other code.
 */
static const struct options *options_of(int code)
{
	static const struct options known[] = {
		{ OPTIONS_LSTM, 0, -1, -1, 4, 1, 2 }, { OPTIONS_SEQUENCE_LSTM, 0, 3, -1, 4, 1, 2 }, { OPTIONS_BI_LSTM, 0, 4, 3, 5, 1, 2 },
		{ OPTIONS_RNN, 0, -1, -1, 1, -1, -1 }, { OPTIONS_SEQUENCE_RNN, 1, 0, -1, 2, -1, -1 }, { OPTIONS_BI_RNN, 1, 0, 2, 3, -1, -1 },
	};

	switch (code) {
	case TFL_LSTM: return &known[0];
	case TFL_SEQUENCE_LSTM: return &known[1];
	case TFL_BI_LSTM: return &known[2];
	case TFL_RNN: return &known[3];
	case TFL_SEQUENCE_RNN: return &known[4];
	default: return &known[5];
	}
}

/*
 * Sets *v to a byte of the options, 0 if the operator does not have that one. Where it is absent, the
 * bidirectional LSTM is time-major. Returns 0 or -EINVAL.
 */
static int byte_option(struct tfl_lower *l, const struct options *o, int field, int *v)
{
	*v = 0;
	return field < 0 ? 0 : tfl_option(l, o->type, field, 1, o->type == OPTIONS_BI_LSTM && field == o->time_major, v);
}

/*
 * A direction of the layer: graph tensors of the n operands in the kernel's order, -1 for an absent one; by the
 * same numbers the scales of those that are codes, else 0; whether there are any such; and which operand the scales are.
 */
struct side { int in[MAX_OPERANDS], n; float scale[MAX_OPERANDS]; bool codes; int scales; };

/*
 * Adds operand k of the operator at hand to s as the next one of the kernel: its graph tensor, or -1 if k is
 * negative or the operand absent. The scale of int8 weights is noted in s->scale, and s->codes set. Returns 0,
 * -ENOTSUP if the operand is neither float32 nor int8 with one scale and zero point 0, or another negative errno;
 * after a failure s has -1 for it.
 */
static int add(struct tfl_lower *l, struct side *s, int k)
{
	s->in[s->n++] = -1;
	if (k < 0 || !tfl_has(l, k))
		return 0;
	const int i = tfl_operand(l, k), x = i < 0 ? i : tfl_value_of(l, i);
	if (x < 0)
		return x;
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	if (f->type == TFL_INT8) {
		if (f->scale.n != 1 || (f->zero_point.n && fb_i64_at(&l->m->b, &f->zero_point, 0)))
			return tfl_fail(l, -ENOTSUP, "operand %d: %u scales, not 1, or a zero point", k, (unsigned)f->scale.n);
		s->scale[s->n - 1] = fb_f32_at(&l->m->b, &f->scale, 0);
		s->codes = true;
	} else if (l->g->tensors[x].t.dtype != WEFT_FP32) {
		return tfl_fail(l, -ENOTSUP, "operand %d is %s: float32, with weights of float32 or int8", k, tfl_type_name(f->type));
	}
	s->in[s->n - 1] = x;
	return 0;
}

int tfl_find_states(struct tfl_lower *l, const int operand[2], const struct tfl_state_shape *shape, struct tfl_states *s)
{
	for (int k = 0; k < 2; k++) {
		weft_tensor t = { .dtype = shape->type[k], .rank = 3, .dim = { 1, shape->batch, shape->n[k], 1, 1, 1, 1, 1 } };

		s->in[k] = s->id[k] = -1;
		if (operand[k] < 0 || !tfl_has(l, operand[k]))
			continue;
		const int i = tfl_operand(l, operand[k]);
		if (i < 0)
			return i;
		if (!tfl_file_tensor(l, i)->is_variable)
			continue;
		if (t.dim[1] < 1 || t.dim[2] < 1 || t.dim[1] > INT32_MAX / t.dim[2])
			return tfl_fail(l, -EINVAL, "a state of %lldx%lld", (long long)t.dim[1], (long long)t.dim[2]);
		if ((s->in[k] = tfl_find_state(l, operand[k], &t, k ? 0 : shape->first, &s->id[k])) < 0)
			return s->in[k];
	}
	return 0;
}

/*
 * Emits that variable `id` takes the last step of result y of a recurrent layer, [batch,time,..], or with
 * s->time_major [time,batch,..]; with s->reverse the last step is the first one in y. Nothing if id is -1.
 * Returns 0 or a negative errno.
 */
static int keep_last(struct tfl_lower *l, const struct tfl_states *s, int id, int y)
{
	const weft_tensor t = l->g->tensors[y].t;
	const int time = s->time_major ? 0 : 1;
	int64_t dim[3] = { t.dim[0], t.dim[1], t.dim[2] };
	weft_attr at = { .slice = { .start = { 0 } } };

	if (id < 0)
		return 0;
	at.slice.start[time] = s->reverse ? 0 : t.dim[time] - 1;
	dim[time] = 1;
	y = tfl_step(l, WEFT_OP_SLICE, &at, &y, 1, t.dtype, 3, dim, false);
	if (y >= 0)
		y = tfl_reshape(l, y, 3, (int64_t[]){ 1, t.dim[!time], t.dim[2] });
	return y < 0 ? y : tfl_keep_state(l, id, y);
}

int tfl_node_recurrent(struct tfl_lower *l, const struct weft_attr_onnx_node *a, const int *in, int n, const struct tfl_states *s, bool last)
{
	const int n_out = s->id[1] >= 0 ? 2 : 1;
	const weft_attr attr = { .onnx_node = *a };
	const weft_tensor *x[MAX_OPERANDS];
	char line[WEFT_GOLDEN_MSG] = "";
	int y[2], which = -1, err;
	weft_tensor t[2];

	for (int k = 0; k < n; k++)
		x[k] = &l->g->tensors[in[k]].t;
	if ((err = weft_onnx_ref_shapes(a, x, n, t, n_out, &which, line)))
		return tfl_fail(l, err, "%.150s", line);
	if (n_out == 1) {
		y[0] = tfl_step(l, WEFT_OP_ONNX_NODE, &attr, in, n, t[0].dtype, 3, t[0].dim, last);
		err = y[0] < 0 ? y[0] : keep_last(l, s, s->id[0], y[0]);
		return err ? err : y[0];
	}
	struct tfl_two two = { .in = in, .n_in = n, .type = { t[0].dtype, t[1].dtype }, .rank = { 3, 3 } };
	memcpy(two.dim[0], t[0].dim, sizeof two.dim[0]);
	memcpy(two.dim[1], t[1].dim, sizeof two.dim[1]);
	if ((err = tfl_step_two(l, WEFT_OP_ONNX_NODE, &attr, &two, y)) || (err = keep_last(l, s, s->id[0], y[0])) ||
	    (err = tfl_keep_state(l, s->id[1], y[1])))
		return err;
	return last ? tfl_node_own(l, y[0]) : y[0];
}

/*
 * Emits one direction as host operator `a` with the s->n operands s->in, of which -1 stands for an absent
 * one. If the layer has weights of integers (s->codes), the s->n numbers of s->scale become operand s->scales,
 * a constant, which s->n counts from then on. Sets in *a which operands are absent
 * (a->absent, which has to be 0 before) and how many there are, absent ones among them (a->n_in). *states are the
 * layer's; `last` says that the result is the result of the operator at hand. Returns the graph tensor; the errno of
 * weft_onnx_ref_shapes() if the operands do not fit; or another negative errno.
 */
static int emit(struct tfl_lower *l, struct weft_attr_onnx_node *a, struct side *s, const struct tfl_states *states, bool last)
{
	int in[MAX_OPERANDS], n = 0;

	if (s->codes) {
		int64_t dim = s->n;
		float *p = tfl_alloc(l, dim, sizeof *p);
		if (!p)
			return l->err;
		memcpy(p, s->scale, (size_t)dim * sizeof *p);
		if ((s->in[s->scales] = tfl_data(l, "scales", WEFT_FP32, 1, &dim, p)) < 0)
			return s->in[s->scales];
		s->n += s->scales == s->n;
	}
	for (int k = 0; k < s->n; k++)
		if (s->in[k] < 0)
			a->absent |= (int64_t)1 << k;
		else
			in[n++] = s->in[k];
	a->n_in = s->n;
	return tfl_node_recurrent(l, a, in, n, states, last);
}

/*
 * Adds to s, behind the place of the scales, the auxiliary input, a graph tensor, and its weights: of the LSTM (is_lstm)
 * those of its gates, of the RNN one, from operand `from` on. Returns 0 or a negative errno.
 */
static int add_auxiliary(struct tfl_lower *l, struct side *s, int aux, int from, bool is_lstm)
{
	int err = 0;

	s->in[s->n++] = -1;
	s->in[s->n++] = aux;
	for (int k = 0; k < (is_lstm ? LSTM_GATES : 1) && !err; k++)
		err = add(l, s, from + k);
	return err;
}

/*
 * Adds to s, at the kernel's places for them, the tensors of the direction's states that the file marks as
 * variables: operand `state` and, of an LSTM, the operand behind it; and notes them in *states. If there is
 * none, s stays as it is. Weights that are no matrices are left to the kernel to refuse. Returns 0 or a
 * negative errno.
 */
static int add_states(struct tfl_lower *l, struct side *s, int state, bool is_lstm, struct tfl_states *states)
{
	enum { FORGET = 2, PROJECTION = 16 };
	const weft_tensor *x = &l->g->tensors[s->in[0]].t, *w = s->in[is_lstm ? FORGET : 1] < 0 ? NULL : &l->g->tensors[s->in[is_lstm ? FORGET : 1]].t;
	const weft_tensor *p = is_lstm && s->in[PROJECTION] >= 0 ? &l->g->tensors[s->in[PROJECTION]].t : w;

	if (!w)
		return 0;
	const struct tfl_state_shape shape = { { WEFT_FP32, WEFT_FP32 }, x->dim[states->time_major], { p->dim[0], w->dim[0] }, 0 };
	int err = tfl_find_states(l, (int[]){ state, is_lstm ? state + 1 : -1 }, &shape, states);
	if (err || (states->in[0] < 0 && states->in[1] < 0))
		return err;
	while (s->n < (is_lstm ? LSTM_AT_STATE : RNN_AT_STATE))
		s->in[s->n++] = -1;
	s->in[s->n++] = states->in[0];
	if (is_lstm)
		s->in[s->n++] = states->in[1];
	return 0;
}

/*
 * The layer at hand: the host operator of each of its directions, which has the layer's options already; whether it is an LSTM or an
 * RNN; and whether the input's first dimension is time.
 */
struct recurrent { struct weft_attr_onnx_node node; bool is_lstm, time_major; };

/*
 * Emits one direction of layer r with weights from operand `from` on: forwards if `from` is 1, else backwards. x[0] is the input
 * with 3 dimensions, x[1] the auxiliary input, or -1 if the direction has none; last: the result is the operator's own. Returns
 * the graph tensor, or a negative errno.
 */
static int direction(struct tfl_lower *l, const struct recurrent *r, const int x[2], int from, bool last)
{
	const bool is_lstm = r->is_lstm;
	struct weft_attr_onnx_node a = r->node;
	struct side s = { .in = { x[0] }, .n = 1 };
	struct tfl_states states = { { -1, -1 }, { -1, -1 }, r->time_major, from > 1 };
	int err = 0;

	tfl_node_int(&a, "reverse", from > 1);
	for (int k = 0; k < (is_lstm ? LSTM_WEIGHTS : 3) && !err; k++)
		err = add(l, &s, from + k);
	for (int k = 0; is_lstm && k < 4 && !err; k++)
		err = add(l, &s, l->op->code == TFL_BI_LSTM ? -1 : LSTM_NORM + k);
	s.scales = s.n;
	const int weights = is_lstm ? BI_LSTM_AUX + 1 + LSTM_GATES * (from > 1) : BI_RNN_AUX + 1 + (from > 1);
	if (!err && x[1] >= 0)
		err = add_auxiliary(l, &s, x[1], weights, is_lstm);
	const int state = !is_lstm ? from + 3 : l->op->code == TFL_BI_LSTM ? BI_LSTM_STATE + 2 * (from > 1) : LSTM_STATE;
	if (!err)
		err = add_states(l, &s, state, is_lstm, &states);
	return err ? err : emit(l, &a, &s, &states, last);
}

/*
 * Lowers layer r, which has two directions, on input x. The results of the directions are joined along the last axis if `merge`
 * is set, else they are the operator's two results, forwards first. Returns the first result's tensor; -EINVAL for another number
 * of results than `merge` wants; or another negative errno.
 */
static int both_ways(struct tfl_lower *l, const struct recurrent *r, int x, bool merge)
{
	const int back = r->is_lstm ? BI_LSTM_BACK : BI_RNN_BACK, aux = r->is_lstm ? BI_LSTM_AUX : BI_RNN_AUX;
	struct weft_attr_onnx_node join = tfl_node_attr("Concat");
	int y[2], forth_x[2] = { x, -1 }, back_x[2] = { x, -1 }, err;

	if (tfl_has(l, aux)) {
		const int v = tfl_value(l, aux);
		if (v < 0)
			return v;
		if (tfl_has(l, aux + (r->is_lstm ? BI_LSTM_AUX_FORGET : 1)))
			forth_x[1] = back_x[1] = v;
		else if (r->is_lstm || r->time_major)
			back_x[0] = v;
	}
	if (l->op->out.n != (merge ? 1u : 2u))
		return tfl_fail(l, -EINVAL, "%u results", (unsigned)l->op->out.n);
	if ((y[0] = direction(l, r, forth_x, 1, !merge)) < 0 || (!merge && (err = tfl_result(l, 1)) && (y[0] = err)) ||
	    (y[1] = direction(l, r, back_x, back, !merge)) < 0)
		return y[0] < 0 ? y[0] : y[1];
	tfl_node_int(&join, "axis", 2);
	return merge ? tfl_node(l, &join, y, 2, true) : y[0];
}

/*
 * Lowers recurrent layers of float32 (LSTM and RNN over one step or a sequence, also in both directions) to the host operators
 * "SequenceLSTM" and "SequenceRNN". An LSTM over one step goes to tfl_lower_lstm_cell() if it is a basic one, otherwise to
 * tfl_lower_lstm8() if its input is not float32. For a layer over one step the time dimension is added and taken away again.
 * Returns the graph tensor of the layer's result (with both directions, of the first one), -EINVAL if the input's rank is not 2
 * for one step or 3 for a sequence, or another negative errno.
 */
int tfl_lower_sequence(struct tfl_lower *l)
{
	const int code = l->op->code;
	const struct options *o = options_of(code);
	const bool is_lstm = code == TFL_LSTM || code == TFL_SEQUENCE_LSTM || code == TFL_BI_LSTM, one_step = code == TFL_LSTM || code == TFL_RNN;
	struct recurrent r = { tfl_node_of("tflite", is_lstm ? "SequenceLSTM" : "SequenceRNN"), is_lstm, false };
	int activation, major, merge, asymmetric, kernel, err, x;
	float cell = 0, projection = 0;

	if ((err = tfl_option(l, OPTIONS_LSTM, LSTM_KERNEL, 1, 0, &kernel)))
		return err;
	if (code == TFL_LSTM && kernel == LSTM_KERNEL_BASIC)
		return tfl_lower_lstm_cell(l);
	if (code == TFL_LSTM && l->op->out.n != 1)
		return tfl_fail(l, -ENOTSUP, "%u results, not 1, at byte %zu", (unsigned)l->op->out.n, l->op->at);

	if (code == TFL_LSTM && !tfl_is_float(l, 0))
		return tfl_lower_lstm8(l);
	if ((err = tfl_activation(l, o->type, o->activation, &activation)) || (err = byte_option(l, o, o->time_major, &major)) ||
	    (err = byte_option(l, o, o->merge, &merge)) || (err = byte_option(l, o, o->asymmetric, &asymmetric)) ||
	    (o->cell_clip >= 0 && ((err = tfl_option_float(l, o->type, o->cell_clip, 0, &cell)) ||
	                           (err = tfl_option_float(l, o->type, o->projection_clip, 0, &projection)))))
		return err;
	if ((x = tfl_value(l, 0)) < 0)
		return x;
	const weft_tensor t = l->g->tensors[x].t;
	if (t.rank != (one_step ? 2 : 3))
		return tfl_fail(l, -EINVAL, "an input of rank %d", t.rank);
	r.time_major = major;
	tfl_node_int(&r.node, "activation", activation);
	tfl_node_int(&r.node, "time_major", major);
	tfl_node_int(&r.node, "symmetric", !asymmetric);
	tfl_node_float(&r.node, "cell_clip", cell);
	tfl_node_float(&r.node, "proj_clip", projection);
	if (one_step && (x = tfl_reshape(l, x, 3, (int64_t[]){ t.dim[0], 1, t.dim[1] })) < 0)
		return x;
	if (code == TFL_BI_LSTM || code == TFL_BI_RNN)
		return both_ways(l, &r, x, merge);
	int y = direction(l, &r, (int[]){ x, -1 }, 1, !one_step);
	if (y < 0 || !one_step)
		return y;
	const weft_tensor h = l->g->tensors[y].t;
	return tfl_node_own(l, tfl_reshape(l, y, 2, (int64_t[]){ h.dim[0], h.dim[2] }));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNIDIRECTIONAL_SEQUENCE_LSTM of int8 as TensorFlow Lite for Microcontrollers has it: which operator,
 * constants and factors it becomes, and what is refused with which line. What the operator computes is tested
 * by unit/golden_tfl. Scales are powers of two, so that every factor is 2^30 * 2^(shift - 31).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tflite_build.h"
#include "userlib/import/tflite/tflite.h"

enum { BATCH = 2, STEPS = 4, IN = 3, UNITS = 5 };

/* Tensors of the file, in the order in which make() adds them. */
enum { X, WX, WH = WX + 4, BIAS = WH + 4, HIDDEN = BIAS + 4, CELL, Y, N_TENSORS };

static int8_t wx[4][UNITS * IN], wh[4][UNITS * UNITS];
static int32_t bias[4][UNITS];

/* 2^power. */
static float pow2(int power)
{
	return power < 0 ? 1.0f / (float)(1 << -power) : (float)(1 << power);
}

static int64_t bits(float v)
{
	uint32_t u;

	memcpy(&u, &v, 4);
	return u;
}

/* The network, of which the caller changes one thing before load() writes it. */
static struct tb *make(void)
{
	const int32_t x[] = { BATCH, STEPS, IN }, y[] = { BATCH, STEPS, UNITS }, states[] = { BATCH, UNITS };
	const int32_t of_x[] = { UNITS, IN }, of_h[] = { UNITS, UNITS }, units[] = { UNITS };
	struct tb *b = calloc(1, sizeof *b);

	assert_non_null(b);
	struct tb_op *o = tb_op(b, TFL_SEQUENCE_LSTM, OPTIONS_SEQUENCE_LSTM);

	for (int k = 0; k < 24; k++)
		o->in[k] = -1;
	o->n_in = 24;
	o->in[0] = b->in[0] = tb_add(b, TFL_INT8, 3, x, pow2(-2), 7);
	for (int g = 0; g < 4; g++) {
		for (int i = 0; i < UNITS * IN; i++)
			wx[g][i] = (int8_t)(g * 31 + i);
		o->in[1 + g] = tb_add(b, TFL_INT8, 2, of_x, pow2(-3 - g), 0);
		tb_constant(b, o->in[1 + g], wx[g], sizeof wx[g]);
	}
	for (int g = 0; g < 4; g++) {
		for (int i = 0; i < UNITS * UNITS; i++)
			wh[g][i] = (int8_t)(-g * 31 - i);
		o->in[5 + g] = tb_add(b, TFL_INT8, 2, of_h, pow2(-4 - g), 0);
		tb_constant(b, o->in[5 + g], wh[g], sizeof wh[g]);
	}
	for (int g = 0; g < 4; g++) {
		for (int i = 0; i < UNITS; i++)
			bias[g][i] = g * 1000 - i;
		o->in[12 + g] = tb_add(b, TFL_INT32, 1, units, 0, 0);
		tb_constant(b, o->in[12 + g], bias[g], sizeof bias[g]);
	}
	o->in[18] = tb_add(b, TFL_INT8, 2, states, pow2(-7), -9);
	o->in[19] = tb_add(b, TFL_INT16, 2, states, pow2(-11), 0);
	o->out[0] = b->out[0] = tb_add(b, TFL_INT8, 3, y, pow2(-7), -9);
	o->n_out = b->n_in = b->n_out = 1;
	tb_option(o, LSTM_ACTIVATION, 1, TFL_TANH);
	tb_option(o, LSTM_CELL_CLIP, 4, bits(0));
	tb_option(o, LSTM_PROJECTION_CLIP, 4, bits(0));
	tb_option(o, LSTM_TIME_MAJOR, 1, 0);
	return b;
}

/* Sets one option of the LSTM. */
static void set(struct tb *b, int id, int64_t value)
{
	for (int i = 0; i < b->op[0].n_options; i++)
		if (b->op[0].options[i].id == id)
			b->op[0].options[i].value = value;
}

/* Imports the network for microcontrollers and frees it. Returns the importer's result. */
static int load(struct tb *b, weft_graph **g, char *msg)
{
	const struct weft_tflite_options as = { .runtime = WEFT_RUNTIME_TFLM };
	size_t n;
	uint8_t *file = tb_file(b, &n);
	int err = weft_import_tflite_with(file, n, "built", &as, g, msg);

	free(file);
	free(b);
	return err;
}

static weft_graph *loaded(struct tb *b)
{
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;

	if (load(b, &g, msg))
		fail_msg("%s", msg);
	assert_int_equal(g->n_ops, 1);
	assert_int_equal(g->ops[0].op, WEFT_OP_TFL_LSTM);
	assert_int_equal(g->ops[0].n_in, 13);
	return g;
}

static void factor_is(const struct weft_tfl_factor *f, int shift)
{
	assert_int_equal(f->multiplier, 1 << 30);
	assert_int_equal(f->shift, shift);
}

/* Operands, weights of each gate in their places, and every attribute. */
static void one_operator(void **state)
{
	weft_graph *g = loaded(make());
	const struct weft_gop *o = &g->ops[0];
	const struct weft_attr_tfl_lstm *a = &o->attr.tfl_lstm;

	(void)state;
	assert_int_equal(o->in[0], g->inputs[0]);
	for (int k = 0; k < 4; k++) {
		assert_memory_equal(g->tensors[o->in[1 + k]].t.data, wx[k], sizeof wx[k]);
		assert_memory_equal(g->tensors[o->in[5 + k]].t.data, wh[k], sizeof wh[k]);
		assert_memory_equal(g->tensors[o->in[9 + k]].t.data, bias[k], sizeof bias[k]);
		factor_is(&a->x_gate[k], 8 - k);           /* 2^-2 * 2^-(3 + k) * 2^12 */
		factor_is(&a->h_gate[k], 2 - k);           /* 2^-7 * 2^-(4 + k) * 2^12 */
	}
	assert_int_equal(a->x_zp, 7);
	assert_int_equal(a->y_zp, -9);
	assert_int_equal(a->cell_power, -11);
	assert_int_equal(a->cell_clip, 0);
	assert_int_equal(a->time_major, 0);
	factor_is(&a->forget_cell, -14);               /* 2^-15 */
	factor_is(&a->input_cell, -18);                /* 2^-30 / 2^-11 */
	factor_is(&a->hidden, -22);                    /* 2^-30 / 2^-7 */
	const weft_tensor *y = &g->tensors[g->outputs[0]].t;
	assert_int_equal(y->dtype, WEFT_INT8);
	assert_true(y->rank == 3 && y->dim[0] == BATCH && y->dim[1] == STEPS && y->dim[2] == UNITS);
	weft_graph_free(g);
}

/* The cell's limit is in its own units, at most the largest int16; time may come first; 20 operands do. */
static void options(void **state)
{
	static const struct { float clip; int limit; } clips[] = {
		{ 0.5f, 1024 }, { 15.999f, 32765 }, { 16, 32767 }, { 1e30f, 32767 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof clips / sizeof *clips; i++) {
		struct tb *b = make();

		set(b, LSTM_CELL_CLIP, bits(clips[i].clip));
		set(b, LSTM_TIME_MAJOR, 1);
		b->op[0].n_in = 20;
		weft_graph *g = loaded(b);
		assert_int_equal(g->ops[0].attr.tfl_lstm.cell_clip, clips[i].limit);
		assert_int_equal(g->ops[0].attr.tfl_lstm.time_major, 1);
		weft_graph_free(g);
	}
}

/* One change of the network, and the line that refuses it. */
static const struct bad {
	const char *line;
	int err;
	enum { OPTION, OPERAND, TYPE, RANK, DIM, SCALE, ZERO, DATA, DROP } what;
	int of;                    /* option, operand or tensor */
	double value;
} bad[] = {
	{ "activation 1, projection clip 0", -ENOTSUP, OPTION, LSTM_ACTIVATION, TFL_RELU },
	{ "activation 4, projection clip 1", -ENOTSUP, OPTION, LSTM_PROJECTION_CLIP, 1 },
	{ "cell clip -1", -EINVAL, OPTION, LSTM_CELL_CLIP, -1 },
	{ "operand 9: peepholes, projection and normalisation are not supported", -ENOTSUP, OPERAND, 9, X },
	{ "operand 11: peepholes, projection and normalisation are not supported",
	  -ENOTSUP, OPERAND, 11, BIAS },
	{ "operand 16: peepholes, projection and normalisation are not supported",
	  -ENOTSUP, OPERAND, 16, WX },
	{ "operand 23: peepholes, projection and normalisation are not supported",
	  -ENOTSUP, OPERAND, 23, BIAS },
	{ "hidden state (scale 0.015625, zero point -9) and result (0.0078125, -9) differ",
	  -ENOTSUP, SCALE, HIDDEN, 1.0 / 64 },
	{ "hidden state (scale 0.0078125, zero point 3) and result (0.0078125, -9) differ",
	  -ENOTSUP, ZERO, HIDDEN, 3 },
	{ "cell scale 0.3 is no power of two of 2^-30..1", -ENOTSUP, SCALE, CELL, 0.3 },
	{ "cell scale 2 is no power of two of 2^-30..1", -ENOTSUP, SCALE, CELL, 2 },
	{ "cell scale 4.65661e-10 is no power of two of 2^-30..1", -ENOTSUP, SCALE, CELL, 1.0 / (1u << 31) },
	{ "tensor 14 is int8: only int16 here", -ENOTSUP, TYPE, CELL, TFL_INT8 },
	{ "tensor 13 is int16: only int8 and uint8 here", -ENOTSUP, TYPE, HIDDEN, TFL_INT16 },
	{ "tensor 15 is int16: only int8 and uint8 here", -ENOTSUP, TYPE, Y, TFL_INT16 },
	{ "uint8 is not supported; int8 is", -ENOTSUP, TYPE, X, TFL_UINT8 },
	{ "ranks 2 and 3, not 3", -EINVAL, RANK, X, 2 },
	{ "ranks 3 and 2, not 3", -EINVAL, RANK, Y, 2 },
	{ "operand 1: not symmetric int8 weights of 5x3", -EINVAL, ZERO, WX, 1 },
	{ "operand 4: not symmetric int8 weights of 5x3", -EINVAL, TYPE, WX + 3, TFL_UINT8 },
	{ "operand 2: not symmetric int8 weights of 5x3", -EINVAL, RANK, WX + 1, 1 },
	{ "operand 3: not symmetric int8 weights of 5x3", -EINVAL, DIM, WX + 2, 6 },
	{ "operand 5: not symmetric int8 weights of 5x5", -EINVAL, DIM, WH, 4 },
	{ "operand 8: not symmetric int8 weights of 5x5", -EINVAL, ZERO, WH + 3, -1 },
	{ "tensor 6 is int16: only int8 and uint8 here", -ENOTSUP, TYPE, WH + 1, TFL_INT16 },
	{ "operand 15 is int16, not int32", -ENOTSUP, TYPE, BIAS + 3, TFL_INT16 },
	{ "operand 6 is not constant", -ENOTSUP, DATA, WH + 1, 0 },
	{ "operand 12 is not constant", -ENOTSUP, DATA, BIAS, 0 },
	{ "operand 7 is missing", -EINVAL, OPERAND, 7, -1 },
	{ "operand 13 is missing", -EINVAL, OPERAND, 13, -1 },
	{ "operand 19 is missing", -EINVAL, DROP, 0, 19 },
	{ "operand 18 is missing", -EINVAL, DROP, 0, 18 },
};

static void spoil(struct tb *b, const struct bad *c)
{
	struct tb_tensor *t = &b->tensor[c->of];

	switch (c->what) {
	case OPTION:
		set(b, c->of, c->of == LSTM_ACTIVATION ? (int64_t)c->value : bits((float)c->value));
		break;
	case OPERAND: b->op[0].in[c->of] = (int32_t)c->value; break;
	case TYPE: t->type = (int)c->value; break;
	case RANK: t->rank = (int)c->value; break;
	case DIM: t->dim[0] = (int32_t)c->value; break;
	case SCALE: t->scale[0] = (float)c->value; break;
	case ZERO: t->zp[0] = (int64_t)c->value; break;
	case DATA: t->data = NULL; break;
	case DROP: b->op[0].n_in = (int)c->value; break;
	}
	if (c->what == TYPE && c->value == TFL_INT16 && c->of >= BIAS && c->of < HIDDEN)
		t->data_bytes /= 2;
	if (c->what == TYPE && c->value == TFL_INT16)
		t->zp[0] = 0;
}

static void refusals(void **state)
{
	int wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char msg[WEFT_MSG] = "";
		weft_graph *g = NULL;
		struct tb *b = make();

		spoil(b, &bad[i]);
		int err = load(b, &g, msg);
		if (err != bad[i].err || g || !strstr(msg, bad[i].line)) {
			print_error("case %zu: %d '%s', wanted %d '%s'\n", i, err, msg, bad[i].err,
			            bad[i].line);
			wrong++;
		}
		weft_graph_free(g);
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_operator), cmocka_unit_test(options), cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes against a TOSA file's fields and constant operands, listed by hand: a file that
 * holds the list is imported with these attributes, and a graph with these attributes is
 * exported as a file that holds the list. No check here is a round trip.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/tosa_build.h"
#include "userlib/export/tosa.h"
#include "userlib/import/tosa/tosa_lower.h"

#define MAX_IN 3

/* A tensor's type and dimensions; type 0 ends a list. */
struct shape { weft_dtype type; int64_t dim[6]; };

/* A field of the attribute table: what it holds, by its id. */
struct field { char kind; int id, n; int64_t v[6]; };   /* l list, f flag, n number, b bytes of one number; 0 ends */

/* A constant operand: a scalar of a type, or a shape (type 0). */
struct arg { weft_dtype type; int n; int64_t v[8]; };   /* n 0 ends */

struct tosa_case {
	int code;
	weft_opcode op;
	weft_attr a;
	struct shape in[MAX_IN], out[2];
	struct field field[6];
	struct arg arg[4];
};

#define I8 WEFT_INT8
#define I32 WEFT_INT32
#define F32 WEFT_FP32

static const struct tosa_case cases[] = {
	{ TOSA_CONV2D, WEFT_OP_CONV2D, { .conv = { { 1, 2, 3, 1 }, { 2, 3 }, { 1, 2 }, 7, -8, I32, true, 0 } },
	  { { I8, { 1, 7, 8, 2 } }, { I8, { 3, 2, 2, 2 } }, { I32, { 3 } } }, { { I32, { 1, 5, 4, 3 } } },
	  { { 'l', 0, 4, { 1, 2, 3, 1 } }, { 'l', 1, 2, { 2, 3 } }, { 'l', 2, 2, { 1, 2 } }, { 'f', 3, 1, { 1 } }, { 'n', 4, 1, { 5 } } },
	  { { I8, 1, { 7 } }, { I8, 1, { -8 } } } },
	{ TOSA_DEPTHWISE_CONV2D, WEFT_OP_DEPTHWISE_CONV2D, { .conv = { { 1, 0, 0, 2 }, { 1, 2 }, { 2, 1 }, -3, 4, I32, false, 0 } },
	  { { I8, { 1, 5, 6, 2 } }, { I8, { 3, 2, 2, 1 } }, { I32, { 2 } } }, { { I32, { 1, 2, 4, 2 } } },
	  { { 'l', 0, 4, { 1, 0, 0, 2 } }, { 'l', 1, 2, { 1, 2 } }, { 'l', 2, 2, { 2, 1 } }, { 'f', 3, 1, { 0 } }, { 'n', 4, 1, { 5 } } },
	  { { I8, 1, { -3 } }, { I8, 1, { 4 } } } },
	{ TOSA_TRANSPOSE_CONV2D, WEFT_OP_TRANSPOSE_CONV2D, { .conv = { { 1, -1, 0, 2 }, { 2, 3 }, { 1, 1 }, 5, -6, I32, true, 0 } },
	  { { I8, { 1, 3, 2, 2 } }, { I8, { 3, 2, 2, 2 } }, { I32, { 3 } } }, { { I32, { 1, 6, 7, 3 } } },
	  { { 'l', 0, 4, { 1, -1, 0, 2 } }, { 'l', 1, 2, { 2, 3 } }, { 'f', 2, 1, { 1 } }, { 'n', 3, 1, { 5 } } },
	  { { I8, 1, { 5 } }, { I8, 1, { -6 } } } },
	{ TOSA_CONV3D, WEFT_OP_CONV3D,
	  { .conv3d = { { 1, 0, 0, 1, 2, 0 }, { 2, 1, 3 }, { 1, 2, 1 }, 9, -2, I32, true } },
	  { { I8, { 1, 3, 4, 6, 1 } }, { I8, { 2, 2, 2, 2, 1 } }, { I32, { 2 } } }, { { I32, { 1, 2, 3, 3, 2 } } },
	  { { 'l', 0, 6, { 1, 0, 0, 1, 2, 0 } }, { 'l', 1, 3, { 2, 1, 3 } }, { 'l', 2, 3, { 1, 2, 1 } }, { 'f', 3, 1, { 1 } },
	    { 'n', 4, 1, { 5 } } },
	  { { I8, 1, { 9 } }, { I8, 1, { -2 } } } },
	{ TOSA_AVG_POOL2D, WEFT_OP_AVG_POOL2D, { .pool = { { 3, 2 }, { 1, 2 }, { 2, 1, 0, 1 }, 11, -12, I32, 0 } },
	  { { I8, { 1, 4, 5, 2 } } }, { { I8, { 1, 5, 3, 2 } } },
	  { { 'l', 0, 2, { 3, 2 } }, { 'l', 1, 2, { 1, 2 } }, { 'l', 2, 4, { 2, 1, 0, 1 } }, { 'n', 3, 1, { 5 } } },
	  { { I8, 1, { 11 } }, { I8, 1, { -12 } } } },
	{ TOSA_MAX_POOL2D, WEFT_OP_MAX_POOL2D, { .pool = { { 3, 2 }, { 1, 2 }, { 2, 1, 0, 1 }, 0, 0, 0, WEFT_NAN_IGNORE } },
	  { { F32, { 1, 4, 5, 2 } } }, { { F32, { 1, 5, 3, 2 } } },
	  { { 'l', 0, 2, { 3, 2 } }, { 'l', 1, 2, { 1, 2 } }, { 'l', 2, 4, { 2, 1, 0, 1 } }, { 'n', 3, 1, { 2 } } }, { { 0 } } },
	{ TOSA_FFT2D, WEFT_OP_FFT2D, { .fft = { true, false } }, { { F32, { 1, 2, 4 } }, { F32, { 1, 2, 4 } } },
	  { { F32, { 1, 2, 4 } }, { F32, { 1, 2, 4 } } }, { { 'f', 0, 1, { 1 } }, { 'f', 1, 1, { 0 } } }, { { 0 } } },
	{ TOSA_FFT2D, WEFT_OP_FFT2D, { .fft = { false, true } }, { { F32, { 1, 2, 4 } }, { F32, { 1, 2, 4 } } },
	  { { F32, { 1, 2, 4 } }, { F32, { 1, 2, 4 } } }, { { 'f', 0, 1, { 0 } }, { 'f', 1, 1, { 1 } } }, { { 0 } } },
	{ TOSA_RFFT2D, WEFT_OP_RFFT2D, { .fft = { false, true } }, { { F32, { 1, 2, 4 } } },
	  { { F32, { 1, 2, 3 } }, { F32, { 1, 2, 3 } } }, { { 'f', 0, 1, { 1 } } }, { { 0 } } },
	{ TOSA_ARGMAX, WEFT_OP_ARGMAX, { .axis = { 1, WEFT_NAN_IGNORE } }, { { F32, { 2, 3, 4 } } }, { { I32, { 2, 4 } } },
	  { { 'n', 0, 1, { 1 } }, { 'n', 1, 1, { 2 } } }, { { 0 } } },
	{ TOSA_REDUCE_MAX, WEFT_OP_REDUCE_MAX, { .axis = { 2, WEFT_NAN_IGNORE } }, { { F32, { 2, 3, 4 } } }, { { F32, { 2, 3, 1 } } },
	  { { 'n', 0, 1, { 2 } }, { 'n', 1, 1, { 2 } } }, { { 0 } } },
	{ TOSA_REDUCE_MIN, WEFT_OP_REDUCE_MIN, { .axis = { 1, WEFT_NAN_IGNORE } }, { { F32, { 2, 3, 4 } } }, { { F32, { 2, 1, 4 } } },
	  { { 'n', 0, 1, { 1 } }, { 'n', 1, 1, { 2 } } }, { { 0 } } },
	{ TOSA_REDUCE_SUM, WEFT_OP_REDUCE_SUM, { .axis = { 1, 0 } }, { { I32, { 2, 3, 4 } } }, { { I32, { 2, 1, 4 } } },
	  { { 'n', 0, 1, { 1 } } }, { { 0 } } },
	{ TOSA_REDUCE_PRODUCT, WEFT_OP_REDUCE_PRODUCT, { .axis = { 1, 0 } }, { { F32, { 2, 3, 4 } } }, { { F32, { 2, 1, 4 } } },
	  { { 'n', 0, 1, { 1 } } }, { { 0 } } },
	{ TOSA_REDUCE_ALL, WEFT_OP_REDUCE_ALL, { .axis = { 1, 0 } }, { { WEFT_BOOL, { 2, 3, 4 } } }, { { WEFT_BOOL, { 2, 1, 4 } } },
	  { { 'n', 0, 1, { 1 } } }, { { 0 } } },
	{ TOSA_REDUCE_ANY, WEFT_OP_REDUCE_ANY, { .axis = { 1, 0 } }, { { WEFT_BOOL, { 2, 3, 4 } } }, { { WEFT_BOOL, { 2, 1, 4 } } },
	  { { 'n', 0, 1, { 1 } } }, { { 0 } } },
	{ TOSA_CONCAT, WEFT_OP_CONCAT, { .axis = { 1, 0 } }, { { I8, { 2, 3 } }, { I8, { 2, 1 } } }, { { I8, { 2, 4 } } },
	  { { 'n', 0, 1, { 1 } } }, { { 0 } } },
	{ TOSA_REVERSE, WEFT_OP_REVERSE, { .axis = { 1, 0 } }, { { I8, { 2, 3 } } }, { { I8, { 2, 3 } } },
	  { { 'n', 0, 1, { 1 } } }, { { 0 } } },
	{ TOSA_MAXIMUM, WEFT_OP_MAXIMUM, { .nan = { WEFT_NAN_IGNORE } }, { { F32, { 2 } }, { F32, { 2 } } }, { { F32, { 2 } } },
	  { { 'n', 0, 1, { 2 } } }, { { 0 } } },
	{ TOSA_MINIMUM, WEFT_OP_MINIMUM, { .nan = { WEFT_NAN_IGNORE } }, { { F32, { 2 } }, { F32, { 2 } } }, { { F32, { 2 } } },
	  { { 'n', 0, 1, { 2 } } }, { { 0 } } },
	{ TOSA_ARITHMETIC_RIGHT_SHIFT, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, { .shift = { true } }, { { I32, { 2 } }, { I32, { 2 } } },
	  { { I32, { 2 } } }, { { 'f', 0, 1, { 1 } } }, { { 0 } } },
	{ TOSA_NEGATE, WEFT_OP_NEGATE, { .negate = { 3, -4 } }, { { I8, { 2 } } }, { { I8, { 2 } } }, { { 0 } },
	  { { I8, 1, { 3 } }, { I8, 1, { -4 } } } },
	{ TOSA_TILE, WEFT_OP_TILE, { .tile = { { 2, 3 } } }, { { I8, { 2, 1 } } }, { { I8, { 4, 3 } } }, { { 0 } },
	  { { 0, 2, { 2, 3 } } } },
	{ TOSA_RESHAPE, WEFT_OP_RESHAPE, { .axis = { 0 } }, { { I8, { 2, 6 } } }, { { I8, { 3, 4 } } }, { { 0 } }, { { 0, 2, { 3, 4 } } } },
	{ TOSA_RESIZE, WEFT_OP_RESIZE, { .resize = { 4, 2, 6, 3, -1, 2, 1, -4, WEFT_RESIZE_NEAREST } },
	  { { I8, { 1, 3, 5, 1 } } }, { { I8, { 1, 6, 7, 1 } } }, { { 'n', 0, 1, { 1 } } },
	  { { 0, 4, { 4, 2, 6, 3 } }, { 0, 2, { -1, 2 } }, { 0, 2, { 1, -4 } } } },
	{ TOSA_MATMUL, WEFT_OP_MATMUL, { .matmul = { 5, -6, 0 } }, { { I8, { 1, 2, 3 } }, { I8, { 1, 3, 4 } } }, { { I32, { 1, 2, 4 } } },
	  { { 0 } }, { { I8, 1, { 5 } }, { I8, 1, { -6 } } } },
	{ TOSA_CLAMP, WEFT_OP_CLAMP, { .clamp = { -5, 60, 0, 0, WEFT_NAN_IGNORE } }, { { I8, { 2 } } }, { { I8, { 2 } } },
	  { { 'b', 0, 1, { -5 } }, { 'b', 1, 1, { 60 } }, { 'n', 2, 1, { 2 } } }, { { 0 } } },
	{ TOSA_CLAMP, WEFT_OP_CLAMP, { .clamp = { 0, 0, -1.5, 2.5, WEFT_NAN_PROPAGATE } }, { { F32, { 2 } } }, { { F32, { 2 } } },
	  { { 'b', 0, 4, { 0xbfc00000 } }, { 'b', 1, 4, { 0x40200000 } }, { 'n', 2, 1, { 1 } } }, { { 0 } } },
	{ TOSA_MUL, WEFT_OP_MUL, { .mul = { 7 } }, { { I32, { 2 } }, { I32, { 2 } } }, { { I32, { 2 } } }, { { 0 } }, { { I8, 1, { 7 } } } },
	{ TOSA_PAD, WEFT_OP_PAD, { .pad = { { 1, 2 }, { 3, 4 }, -5, 0 } }, { { I8, { 2, 3 } } }, { { I8, { 6, 9 } } }, { { 0 } },
	  { { 0, 4, { 1, 3, 2, 4 } }, { I8, 1, { -5 } } } },
	{ TOSA_PAD, WEFT_OP_PAD, { .pad = { { 1 }, { 0 }, 0, 1.5 } }, { { F32, { 2 } } }, { { F32, { 3 } } }, { { 0 } },
	  { { 0, 2, { 1, 0 } }, { F32, 1, { 0x3fc00000 } } } },
	{ TOSA_PAD, WEFT_OP_PAD, { .pad = { { 1 }, { 0 }, 0xbc00, 0 } }, { { WEFT_FP16, { 2 } } }, { { WEFT_FP16, { 3 } } }, { { 0 } },
	  { { 0, 2, { 1, 0 } }, { WEFT_FP16, 1, { 0xbc00 } } } },
	{ TOSA_SLICE, WEFT_OP_SLICE, { .slice = { { 1, 2 } } }, { { I8, { 5, 6 } } }, { { I8, { 3, 2 } } }, { { 0 } },
	  { { 0, 2, { 1, 2 } }, { 0, 2, { 3, 2 } } } },
	{ TOSA_TRANSPOSE, WEFT_OP_TRANSPOSE, { .perm = { { 2, 0, 1 } } }, { { I8, { 2, 3, 4 } } }, { { I8, { 4, 2, 3 } } },
	  { { 'l', 0, 3, { 2, 0, 1 } } }, { { 0 } } },
	{ TOSA_RESCALE, WEFT_OP_RESCALE, { .rescale = { true, WEFT_DOUBLE_ROUND, true, false, false, 0, -7 } },
	  { { I32, { 2, 3 } }, { I32, { 3 } }, { I8, { 3 } } }, { { I8, { 2, 3 } } },
	  { { 'f', 0, 1, { 1 } }, { 'n', 1, 1, { 3 } }, { 'f', 2, 1, { 1 } }, { 'f', 3, 1, { 0 } }, { 'f', 4, 1, { 0 } } },
	  { { I32, 1, { 0 } }, { I8, 1, { -7 } } } },
	{ TOSA_RESCALE, WEFT_OP_RESCALE, { .rescale = { false, WEFT_SINGLE_ROUND, false, false, false, 9, -7 } },
	  { { I8, { 2, 3 } }, { WEFT_INT16, { 1 } }, { I8, { 1 } } }, { { I8, { 2, 3 } } },
	  { { 'f', 0, 1, { 0 } }, { 'n', 1, 1, { 1 } }, { 'f', 2, 1, { 0 } }, { 'f', 3, 1, { 0 } }, { 'f', 4, 1, { 0 } } },
	  { { I8, 1, { 9 } }, { I8, 1, { -7 } } } },
};
enum { N_CASES = sizeof cases / sizeof *cases };

static weft_tensor tensor(const struct shape *s)
{
	weft_tensor t = { .dtype = s->type };

	for (int i = 0; i < WEFT_MAX_RANK; i++)
		t.dim[i] = 1;
	for (; t.rank < 6 && s->dim[t.rank]; t.rank++)
		t.dim[t.rank] = s->dim[t.rank];
	return t;
}

static int count(const struct shape *s, int most)
{
	int n = 0;

	while (n < most && s[n].type)
		n++;
	return n;
}

static const char *const in_names[] = { "in0", "in1", "in2" }, *const out_names[] = { "out0", "out1" };

static void add_field(struct xop *o, const struct field *f)
{
	int32_t list[6];

	for (int i = 0; i < 6; i++)
		list[i] = (int32_t)f->v[i];
	switch (f->kind) {
	case 'l': x_list(o, f->id, list, f->n); break;
	case 'f': x_flag(o, f->id, f->v[0]); break;
	case 'n': x_number(o, f->id, f->v[0]); break;
	default: assert_true(x_bytes(o, f->id, &f->v[0], f->n) >= 0);
	}
}

/* The file that holds the list. */
static void build(struct tosa_build *t, const struct tosa_case *c)
{
	struct xop o = { .code = c->code };
	struct xblock *b;

	tb_begin(t, 1);
	b = t->x.b;
	for (int i = 0; i < count(c->in, MAX_IN); i++) {
		weft_tensor v = tensor(&c->in[i]);
		assert_true(x_tensor(&t->x, in_names[i], &v, false) >= 0);
		assert_true(x_in(&o, in_names[i]) >= 0);
	}
	tb_names(&b->in, &b->n_in, count(c->in, MAX_IN) == 3 ? "in0 in1 in2" : count(c->in, MAX_IN) == 2 ? "in0 in1" : "in0");
	for (int i = 0; i < 4 && c->arg[i].n; i++) {
		char name[16];
		weft_tensor v = { .dtype = c->arg[i].type, .rank = 1, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 }, .data = (void *)(uintptr_t)c->arg[i].v };
		snprintf(name, sizeof name, "arg%d", i);
		assert_true(x_in(&o, name) >= 0);
		if (c->arg[i].type)
			assert_true(x_const(&t->x, name, &v) >= 0);
		else
			assert_true(x_const_shape(&t->x, name, c->arg[i].v, c->arg[i].n) >= 0);
	}
	for (int i = 0; i < count(c->out, 2); i++) {
		weft_tensor v = tensor(&c->out[i]);
		assert_true(x_tensor(&t->x, out_names[i], &v, false) >= 0);
		assert_true(x_out(&o, out_names[i]) >= 0);
	}
	tb_names(&b->out, &b->n_out, count(c->out, 2) == 2 ? "out0 out1" : "out0");
	for (int i = 0; i < 6 && c->field[i].kind; i++)
		add_field(&o, &c->field[i]);
	assert_true(x_op(&t->x, &o) >= 0);
}

static void imported(void **state)
{
	(void)state;
	for (int i = 0; i < N_CASES; i++) {
		struct tosa_build t;
		char msg[WEFT_MSG] = "";
		weft_graph *g;

		build(&t, &cases[i]);
		if (tb_import(&t, &g, msg))
			fail_msg("case %d: %s", i, msg);
		const struct weft_gop *o = &g->ops[g->n_ops - 1];
		assert_int_equal(o->op, cases[i].op);
		if (memcmp(&o->attr, &cases[i].a, sizeof o->attr))
			fail_msg("case %d %s: other attributes", i, weft_op_name(o->op));
		weft_graph_free(g);
	}
}

/* A graph of the one operator. */
static weft_graph *graph(const struct tosa_case *c)
{
	weft_graph *g = weft_graph_new("test");
	int in[MAX_IN], out[2], n_in = count(c->in, MAX_IN), n_out = count(c->out, 2);

	for (int i = 0; i < n_in; i++) {
		weft_tensor v = tensor(&c->in[i]);
		in[i] = weft_graph_tensor(g, in_names[i], v.dtype, v.rank, v.dim);
		g->tensors[in[i]].is_input = true;
	}
	for (int i = 0; i < n_out; i++) {
		weft_tensor v = tensor(&c->out[i]);
		out[i] = weft_graph_tensor(g, out_names[i], v.dtype, v.rank, v.dim);
		g->tensors[out[i]].is_output = true;
	}
	assert_true(weft_graph_op(g, c->op, &c->a, -1, in, n_in, out, n_out) >= 0);
	g->inputs = malloc(sizeof in);
	g->outputs = malloc(sizeof out);
	memcpy(g->inputs, in, (size_t)n_in * sizeof *in);
	memcpy(g->outputs, out, (size_t)n_out * sizeof *out);
	g->n_inputs = n_in;
	g->n_outputs = n_out;
	return g;
}

static void check_field(const struct tosa_file *f, const struct tosa_op *o, const struct field *want, int i_case)
{
	struct fb_vec v;
	int64_t n = -99;

	if (want->kind == 'l' || want->kind == 'b') {
		assert_true(fb_vector(&f->b, &o->attr, want->id, want->kind == 'l' ? 4 : 1, &v) >= 0);
		if (v.n != (uint32_t)want->n)
			fail_msg("case %d field %d: %u elements, not %d", i_case, want->id, (unsigned)v.n, want->n);
		if (want->kind == 'b')
			assert_memory_equal(f->b.p + v.at, &want->v[0], (size_t)want->n);
		for (int i = 0; want->kind == 'l' && i < want->n; i++)
			if (fb_i32_at(&f->b, &v, (uint32_t)i) != want->v[i])
				fail_msg("case %d field %d element %d is %d", i_case, want->id, i, fb_i32_at(&f->b, &v, (uint32_t)i));
		return;
	}
	assert_int_equal(fb_int(&f->b, &o->attr, want->id, want->kind == 'f' ? 1 : 4, want->kind != 'f', 0, &n), 0);
	if (n != want->v[0])
		fail_msg("case %d field %d is %lld, not %lld", i_case, want->id, (long long)n, (long long)want->v[0]);
}

static bool is(struct tosa_name a, struct tosa_name b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static void check_arg(const struct tosa_file *f, struct tosa_name name, const struct arg *want, int i_case, int k)
{
	for (int i = 0; i < f->n_tensors; i++)
		if (is(f->tensors[i].name, name)) {
			assert_true(want->type && tosa_dtype(f->tensors[i].type) == want->type);
			assert_non_null(f->tensors[i].data);
			if (memcmp(f->tensors[i].data, want->v, weft_dtype_bytes(want->type)))
				fail_msg("case %d: constant %d is another", i_case, k);
			return;
		}
	for (int i = 0; i < f->n_shapes; i++)
		if (is(f->shapes[i].name, name)) {
			assert_int_equal(want->type, 0);
			assert_int_equal(f->shapes[i].rank, want->n);
			for (int j = 0; j < want->n; j++)
				if (fb_i64_at(&f->b, &f->shapes[i].data, (uint32_t)j) != want->v[j])
					fail_msg("case %d: shape %d element %d is another", i_case, k, j);
			return;
		}
	fail_msg("case %d: nothing is called like operand %d", i_case, k);
}

static void exported(void **state)
{
	(void)state;
	for (int i = 0; i < N_CASES; i++) {
		const struct tosa_case *c = &cases[i];
		weft_graph *g = graph(c);
		char msg[WEFT_MSG] = "", custom[WEFT_MSG] = "";
		struct tosa_file f = { 0 };
		const struct tosa_op *o = NULL;
		int n_custom, n_in = count(c->in, MAX_IN), n_arg = 0, n_field = 0;
		uint8_t *p;
		size_t n;

		if (weft_graph_check(g, msg) || weft_export_tosa(g, true, &p, &n, &n_custom, custom, msg))
			fail_msg("case %d: %s", i, msg);
		assert_int_equal(tosa_read(&f, p, n, msg, sizeof msg), 0);
		for (int k = 0; k < f.n_ops; k++)
			o = f.ops[k].code == c->code ? &f.ops[k] : o;
		assert_non_null(o);
		for (; n_field < 6 && c->field[n_field].kind; n_field++)
			check_field(&f, o, &c->field[n_field], i);
		for (; n_arg < 4 && c->arg[n_arg].n; n_arg++) {
			if ((uint32_t)(n_in + n_arg) >= o->in.n)
				fail_msg("case %d: %u operands", i, (unsigned)o->in.n);
			check_arg(&f, tosa_string(&f, &o->in, (uint32_t)(n_in + n_arg)), &c->arg[n_arg], i, n_arg);
		}
		assert_int_equal(o->in.n, n_in + n_arg);
		tosa_release(&f);
		free(p);
		weft_graph_free(g);
	}
}

/*
 * TOSA has no rounding of ties to even and no zero points of int16, and leaves open in which order floats are added. An operator that needs either
 * is written as CUSTOM; without the attribute it has the operator's own code.
 */
static void extensions(void **state)
{
	static const struct tosa_case plain[] = {
		{ TOSA_CONV2D, WEFT_OP_CONV2D, { .conv = { { 0 }, { 1, 1 }, { 1, 1 }, 0, 0, F32, false, 0 } },
		  { { F32, { 1, 4, 4, 2 } }, { F32, { 3, 1, 1, 2 } }, { F32, { 3 } } }, { { F32, { 1, 4, 4, 3 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_DEPTHWISE_CONV2D, WEFT_OP_DEPTHWISE_CONV2D, { .conv = { { 0 }, { 1, 1 }, { 1, 1 }, 0, 0, F32, false, 0 } },
		  { { F32, { 1, 4, 4, 2 } }, { F32, { 1, 1, 2, 1 } }, { F32, { 2 } } }, { { F32, { 1, 4, 4, 2 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_TRANSPOSE_CONV2D, WEFT_OP_TRANSPOSE_CONV2D, { .conv = { { 0 }, { 1, 1 }, { 1, 1 }, 0, 0, F32, false, 0 } },
		  { { F32, { 1, 4, 4, 2 } }, { F32, { 3, 1, 1, 2 } }, { F32, { 3 } } }, { { F32, { 1, 4, 4, 3 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_MATMUL, WEFT_OP_MATMUL, { .matmul = { 0, 0, 0 } }, { { F32, { 1, 2, 3 } }, { F32, { 1, 3, 4 } } },
		  { { F32, { 1, 2, 4 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_AVG_POOL2D, WEFT_OP_AVG_POOL2D, { .pool = { { 1, 2 }, { 1, 1 }, { 0 }, 0, 0, F32, 0 } }, { { F32, { 1, 1, 2, 1 } } }, { { F32, { 1, 1, 1, 1 } } },
		  { { 0 } }, { { 0 } } },
		{ TOSA_REDUCE_SUM, WEFT_OP_REDUCE_SUM, { .axis = { 1, 0 } }, { { F32, { 2, 3 } } }, { { F32, { 2, 1 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_RESCALE, WEFT_OP_RESCALE, { .rescale = { true, WEFT_SINGLE_ROUND, false, false, false, 0, 0 } },
		  { { I8, { 2 } }, { I32, { 1 } }, { I8, { 1 } } }, { { I8, { 2 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_RESCALE, WEFT_OP_RESCALE, { .rescale = { true, WEFT_SINGLE_ROUND, false, false, false, 0, 0 } },
		  { { WEFT_INT16, { 2 } }, { I32, { 1 } }, { I8, { 1 } } }, { { I8, { 2 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_RESCALE, WEFT_OP_RESCALE, { .rescale = { true, WEFT_SINGLE_ROUND, false, false, false, 0, 0 } },
		  { { I32, { 2 } }, { I32, { 1 } }, { I8, { 1 } } }, { { WEFT_INT16, { 2 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_REDUCE_PRODUCT, WEFT_OP_REDUCE_PRODUCT, { .axis = { 1, 0 } }, { { F32, { 2, 3 } } }, { { F32, { 2, 1 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_CLAMP, WEFT_OP_CLAMP, { .clamp = { 0, 0, -1, 1, 0 } }, { { F32, { 2 } } }, { { F32, { 2 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_MAXIMUM, WEFT_OP_MAXIMUM, { .nan = { 0 } }, { { F32, { 2 } }, { F32, { 2 } } }, { { F32, { 2 } } }, { { 0 } }, { { 0 } } },
		{ TOSA_REDUCE_MIN, WEFT_OP_REDUCE_MIN, { .axis = { 1, 0 } }, { { F32, { 2, 3 } } }, { { F32, { 2, 1 } } }, { { 0 } }, { { 0 } } },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof plain / sizeof *plain; i++) {
		struct tosa_case c = plain[i / 2];
		if (i % 2 && c.op == WEFT_OP_RESCALE && (c.in[0].type == WEFT_INT16 || c.out[0].type == WEFT_INT16))
			*(c.in[0].type == WEFT_INT16 ? &c.a.rescale.x_zp : &c.a.rescale.y_zp) = -1;
		else if (i % 2 && c.op == WEFT_OP_RESCALE)
			c.a.rescale.rounding = WEFT_EVEN_ROUND;
		else if (i % 2 && c.op == WEFT_OP_CLAMP)
			c.a.clamp.nan = WEFT_NAN_COMPARE;
		else if (i % 2 && c.op == WEFT_OP_MAXIMUM)
			c.a.nan.nan = WEFT_NAN_COMPARE;
		else if (i % 2 && c.op == WEFT_OP_REDUCE_MIN)
			c.a.axis.nan = WEFT_NAN_COMPARE;
		else if (i % 2 && c.op == WEFT_OP_AVG_POOL2D)
			c.a.pool.chain = true;
		else if (i % 2)
			*(c.op == WEFT_OP_MATMUL ? &c.a.matmul.chain : c.op == WEFT_OP_REDUCE_SUM || c.op == WEFT_OP_REDUCE_PRODUCT ? &c.a.axis.chain : &c.a.conv.chain) = 1;
		weft_graph *g = graph(&c);
		char msg[WEFT_MSG] = "", custom[WEFT_MSG] = "";
		struct tosa_file f = { 0 };
		int n_custom, own = 0, extended = 0;
		uint8_t *p;
		size_t n;

		if (weft_graph_check(g, msg) || weft_export_tosa(g, false, &p, &n, &n_custom, custom, msg))
			fail_msg("%s: %s", weft_op_name(c.op), msg);
		assert_int_equal(tosa_read(&f, p, n, msg, sizeof msg), 0);
		for (int k = 0; k < f.n_ops; k++) {
			own += f.ops[k].code == c.code;
			extended += f.ops[k].code == TOSA_CUSTOM;
		}
		if (own != 1 - (int)(i % 2) || extended != (int)(i % 2) || n_custom != extended)
			fail_msg("%s %s: %d of its own code, %d of CUSTOM, %d counted", weft_op_name(c.op), i % 2 ? "extended" : "plain",
			         own, extended, n_custom);
		tosa_release(&f);
		free(p);
		weft_graph_free(g);
	}
}

/* The variables of a graph are named in the file by the operators that read and write them. */
static void variables(void **state)
{
	struct tosa_build t;
	char msg[WEFT_MSG] = "", custom[WEFT_MSG] = "";
	struct tosa_file f = { 0 };
	weft_graph *g;
	int n_custom, seen = 0;
	uint8_t *p;
	size_t n;
	static float zero[2];
	weft_tensor v = { .dtype = F32, .rank = 1, .dim = { 2, 1, 1, 1, 1, 1, 1, 1 }, .data = zero };

	(void)state;
	tb_begin(&t, 1);
	tb_tensor(&t, "x", F32, 1, 2, 1, NULL);
	tb_tensor(&t, "y", F32, 1, 2, 1, NULL);
	assert_true(x_tensor(&t.x, "first", &v, true) >= 0);
	assert_true(x_tensor(&t.x, "second", &v, true) >= 0);
	tb_add(&t, TOSA_VARIABLE, "", "first");
	tb_add(&t, TOSA_VARIABLE, "", "second");
	tb_add(&t, TOSA_VARIABLE_WRITE, "x", "second");
	tb_add(&t, TOSA_VARIABLE_READ, "second", "y");
	tb_ports(&t, "x", "y");
	if (tb_import(&t, &g, msg) || weft_export_tosa(g, true, &p, &n, &n_custom, custom, msg))
		fail_msg("%s", msg);
	assert_int_equal(tosa_read(&f, p, n, msg, sizeof msg), 0);
	for (int k = 0; k < f.n_ops; k++) {
		const struct tosa_op *o = &f.ops[k];
		bool reads = o->code == TOSA_VARIABLE_READ;
		if (!reads && o->code != TOSA_VARIABLE_WRITE)
			continue;
		assert_true(is(tosa_string(&f, reads ? &o->in : &o->out, 0), (struct tosa_name){ "second", 6 }));
		seen++;
	}
	assert_int_equal(seen, 2);
	tosa_release(&f);
	free(p);
	weft_graph_free(g);
}

/* An unsigned tensor of ours is a signed one with a flag in the file. */
static void signs(void **state)
{
	static const struct field want[2][2] = { { { 'f', 3, 1, { 1 } }, { 'f', 4, 1, { 0 } } }, { { 'f', 3, 1, { 0 } }, { 'f', 4, 1, { 1 } } } };

	(void)state;
	for (int side = 0; side < 2; side++) {
		struct tosa_case c = { TOSA_RESCALE, WEFT_OP_RESCALE, { .rescale = { true, WEFT_SINGLE_ROUND, false, false, false, 3, 4 } },
		                       { { I8, { 2 } }, { I32, { 1 } }, { I8, { 1 } } }, { { I8, { 2 } } }, { { 0 } }, { { 0 } } };
		*(side ? &c.out[0].type : &c.in[0].type) = WEFT_UINT8;
		*(side ? &c.a.rescale.y_zp : &c.a.rescale.x_zp) = 200;
		weft_graph *g = graph(&c), *again;
		char msg[WEFT_MSG] = "", custom[WEFT_MSG] = "";
		struct tosa_file f = { 0 };
		int n_custom;
		uint8_t *p;
		size_t n;

		if (weft_export_tosa(g, true, &p, &n, &n_custom, custom, msg))
			fail_msg("%s", msg);
		assert_int_equal(tosa_read(&f, p, n, msg, sizeof msg), 0);
		for (int k = 0; k < f.n_ops; k++)
			for (int w = 0; f.ops[k].code == TOSA_RESCALE && w < 2; w++)
				check_field(&f, &f.ops[k], &want[side][w], side);
		assert_int_equal(weft_import_tosa(p, n, "again", &again, msg), 0);
		const struct weft_attr_rescale *a = &again->ops[again->n_ops - 1].attr.rescale;
		assert_int_equal(side ? a->y_zp : a->x_zp, 200);
		assert_int_equal(side ? a->x_zp : a->y_zp, side ? 3 : 4);
		weft_graph_free(again);
		tosa_release(&f);
		free(p);
		weft_graph_free(g);
	}
}

/* A loop on one number: while x > x, x = floor(x). */
static void loop(void **state)
{
	struct tosa_build t;
	char msg[WEFT_MSG] = "", custom[WEFT_MSG] = "";
	weft_graph *g, *again;
	int n_custom;
	uint8_t *p;
	size_t n;

	(void)state;
	tb_begin(&t, 3);
	tb_tensor(&t, "x", F32, 1, 1, 1, NULL);
	tb_tensor(&t, "y", F32, 1, 1, 1, NULL);
	tb_flow(&t, TOSA_WHILE_LOOP, "b1", "b2", "x", "y");
	tb_ports(&t, "x", "y");
	t.x.b = &t.x.blocks[1];
	tb_tensor(&t, "x1", F32, 1, 1, 1, NULL);
	tb_tensor(&t, "y1", WEFT_BOOL, 1, 1, 1, NULL);
	tb_add(&t, TOSA_GREATER, "x1 x1", "y1");
	tb_ports(&t, "x1", "y1");
	t.x.b = &t.x.blocks[2];
	tb_tensor(&t, "x2", F32, 1, 1, 1, NULL);
	tb_tensor(&t, "y2", F32, 1, 1, 1, NULL);
	tb_add(&t, TOSA_FLOOR, "x2", "y2");
	tb_ports(&t, "x2", "y2");
	if (tb_import(&t, &g, msg))
		fail_msg("%s", msg);
	const struct weft_attr_flow *a = &g->ops[g->n_ops - 1].attr.flow;
	assert_int_equal(a->graph[0]->ops[0].op, WEFT_OP_GREATER);
	assert_int_equal(a->graph[1]->ops[0].op, WEFT_OP_FLOOR);
	if (weft_export_tosa(g, true, &p, &n, &n_custom, custom, msg) || weft_import_tosa(p, n, "again", &again, msg))
		fail_msg("%s", msg);
	a = &again->ops[again->n_ops - 1].attr.flow;
	assert_int_equal(a->graph[0]->ops[0].op, WEFT_OP_GREATER);
	assert_int_equal(a->graph[1]->ops[0].op, WEFT_OP_FLOOR);
	weft_graph_free(again);
	free(p);
	weft_graph_free(g);
}

/* A condition and two sub-graphs, in this order: the first rounds up, the second down. */
static void flow(void **state)
{
	struct tosa_build t;
	char msg[WEFT_MSG] = "", custom[WEFT_MSG] = "";
	struct tosa_file f = { 0 };
	struct fb_vec v;
	weft_graph *g;
	int n_custom;
	uint8_t *p;
	size_t n;

	(void)state;
	tb_begin(&t, 3);
	tb_tensor(&t, "c", WEFT_BOOL, 1, 1, 1, NULL);
	tb_tensor(&t, "x", F32, 1, 2, 1, NULL);
	tb_tensor(&t, "y", F32, 1, 2, 1, NULL);
	tb_flow(&t, TOSA_COND_IF, "b1", "b2", "c x", "y");
	tb_ports(&t, "c x", "y");
	for (int i = 1; i < 3; i++) {
		t.x.b = &t.x.blocks[i];
		tb_tensor(&t, i == 1 ? "x1" : "x2", F32, 1, 2, 1, NULL);
		tb_tensor(&t, i == 1 ? "y1" : "y2", F32, 1, 2, 1, NULL);
		tb_add(&t, i == 1 ? TOSA_CEIL : TOSA_FLOOR, i == 1 ? "x1" : "x2", i == 1 ? "y1" : "y2");
		tb_ports(&t, i == 1 ? "x1" : "x2", i == 1 ? "y1" : "y2");
	}
	if (tb_import(&t, &g, msg))
		fail_msg("%s", msg);
	const struct weft_attr_flow *a = &g->ops[g->n_ops - 1].attr.flow;
	assert_int_equal(a->graph[0]->ops[0].op, WEFT_OP_CEIL);
	assert_int_equal(a->graph[1]->ops[0].op, WEFT_OP_FLOOR);
	if (weft_export_tosa(g, true, &p, &n, &n_custom, custom, msg))
		fail_msg("%s", msg);
	assert_int_equal(tosa_read(&f, p, n, msg, sizeof msg), 0);
	for (int k = 0; k < f.n_ops; k++)
		for (int i = 0; f.ops[k].code == TOSA_COND_IF && i < 2; i++) {
			assert_true(fb_vector(&f.b, &f.ops[k].attr, i, 1, &v) >= 0);
			for (int b = 0; b < f.n_blocks; b++)
				if (is(f.blocks[b].name, (struct tosa_name){ (const char *)f.b.p + v.at, v.n })) {
					assert_int_equal(f.ops[f.blocks[b].op].code, i ? TOSA_FLOOR : TOSA_CEIL);
					v.n = 0;
				}
			assert_int_equal(v.n, 0);
		}
	tosa_release(&f);
	free(p);
	weft_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(imported), cmocka_unit_test(exported), cmocka_unit_test(signs),
	                                    cmocka_unit_test(extensions), cmocka_unit_test(variables),
	                                    cmocka_unit_test(flow), cmocka_unit_test(loop) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

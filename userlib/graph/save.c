/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph as bytes inside a .weft container, so that a run can be compared with golden without the
 * model file. Each function writes or reads, as io->write says; the first failure stays in io->err
 * (byte_io.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "save.h"

#define TENSOR_MIN 24          /* bytes that a tensor takes at least */
#define OP_MIN     12
#define VAR_MIN    17
#define SUB_MIN    28

/* Writes or reads n int32. */
static void ints(struct io *io, int32_t *v, int n)
{
	for (int i = 0; i < n; i++)
		io_i32(io, &v[i]);
}

/* Writes or reads a type as an int32; weft_graph_check() judges it later. */
static void dtype(struct io *io, weft_dtype *t)
{
	int32_t v = (int32_t)*t;

	io_i32(io, &v);
	if (!io->write)
		*t = (weft_dtype)v;
}

/* Writes or reads the field of *a that row f describes. */
static void save_field(struct io *io, const struct attr_saved *f, weft_attr *a)
{
	for (int i = 0; i < f->n; i++) {
		char *p = attr_at(a, f->at);

		switch ((enum attr_type)f->type) {
		case ATTR_BOOL: io_bool(io, (bool *)p + i); break;
		case ATTR_I32: io_i32(io, (int32_t *)p + i); break;
		case ATTR_I64: io_i64(io, (int64_t *)p + i); break;
		case ATTR_F32: io_f32(io, (float *)p + i); break;
		case ATTR_F64: io_f64(io, (double *)p + i); break;
		}
	}
}

void save_attributes(struct io *io, weft_opcode op, weft_attr *a)
{
	/* A container is read before weft_graph_check() has seen its opcodes. */
	if (op <= WEFT_OP_NONE || op >= WEFT_N_OPS)
		return;
	for (int i = 0; i < attr_ops[op].n_saved; i++)
		save_field(io, &attr_ops[op].saved[i], a);
}

/*
 * Writes or reads everything of a tensor but its name and data: type, rank (checked), dimensions,
 * quantisation, and whether it is input, output or internal.
 */
static void tensor_head(struct io *io, struct weft_gtensor *t)
{
	dtype(io, &t->t.dtype);
	io_i32(io, &t->t.rank);
	if (t->t.rank < 0 || t->t.rank > WEFT_MAX_RANK)
		io_fail(io, "a tensor's rank is out of range");
	for (int i = 0; i < t->t.rank && !io->err; i++)
		io_i64(io, &t->t.dim[i]);
	io_bool(io, &t->q.present);
	if (t->q.present) {
		io_f64(io, &t->q.scale);
		io_i64(io, &t->q.zp);
	}
	io_bool(io, &t->is_input);
	io_bool(io, &t->is_output);
	io_bool(io, &t->internal);
}

/*
 * Writes or reads whether a tensor is constant and, if so, the number of its bytes and these. Reading,
 * t->data comes from malloc and the caller frees it; a number that is not the shape's, or more than
 * what is left, is a failure. The shape must have been read before.
 */
static void tensor_data(struct io *io, weft_tensor *t)
{
	uint64_t n = t->data ? weft_tensor_bytes(t) : 0;
	bool has = t->data;

	io_bool(io, &has);
	if (!has)
		return;
	io_u64(io, &n);
	if (io->write) {
		io_raw(io, t->data, (size_t)n);
		return;
	}
	uint64_t want = weft_dtype_bytes(t->dtype);
	for (int i = 0; i < t->rank; i++) {
		if (t->dim[i] < 0 || (uint64_t)t->dim[i] > UINT32_MAX || want > UINT32_MAX) {
			io_fail(io, "a constant's shape is out of range");
			return;
		}
		want *= (uint64_t)t->dim[i];
	}
	if (n != want || n > io->n - io->at)
		io_fail(io, "a constant has not the bytes of its shape");
	if (io->err)
		return;
	t->data = malloc((size_t)n + 1);   /* + 1, since a tensor without elements has no bytes */
	if (!t->data)
		io->err = -ENOMEM;
	else
		io_raw(io, t->data, (size_t)n);
}

/* Writes name, head and data of a tensor. */
static void write_tensor(struct io *io, struct weft_gtensor *t)
{
	io_string(io, &t->name);
	tensor_head(io, t);
	tensor_data(io, &t->t);
}

/* Reads one tensor of a container and adds it to the graph. A failure is left in io->err. */
static void read_tensor(struct io *io, weft_graph *g)
{
	struct weft_gtensor t = { 0 };

	io_string(io, &t.name);
	tensor_head(io, &t);
	if (!io->err)
		tensor_data(io, &t.t);
	if (!io->err) {
		int i = weft_graph_tensor(g, t.name, t.t.dtype, t.t.rank, t.t.dim);
		if (i < 0) {
			io->err = i;
		} else {
			g->tensors[i].t.data = t.t.data;
			g->tensors[i].q = t.q;
			g->tensors[i].is_input = t.is_input;
			g->tensors[i].is_output = t.is_output;
			g->tensors[i].internal = t.internal;
			t.t.data = NULL;
		}
	}
	free(t.t.data);
	free(t.name);
}

/*
 * Writes or reads which sub-graphs of `outer` a COND_IF or WHILE_LOOP runs, as their numbers. One that is
 * read has to stand among those read so far.
 */
static void save_flow(struct io *io, const weft_graph *outer, struct weft_attr_flow *a)
{
	for (int k = 0; k < 2; k++) {
		int32_t i = 0;

		while (io->write && i < outer->n_subs && outer->subs[i] != a->graph[k])
			i++;
		io_i32(io, &i);
		if (i < 0 || i >= outer->n_subs)
			io_fail(io, "an operator runs a sub-graph that is not there");
		else if (!io->write)
			a->graph[k] = outer->subs[i];
	}
}

/*
 * Writes or reads one operator: code, source, numbers of operands and results (checked), their tensors
 * in `in` and `out`, which have room for the most that there can be, and its attributes. outer is the
 * graph that owns the sub-graphs.
 */
static void op_io(struct io *io, const weft_graph *outer, struct weft_gop *o, int *in, int *out)
{
	int32_t code = (int32_t)o->op;

	io_i32(io, &code);
	if (!io->write)
		o->op = (weft_opcode)code;
	io_i32(io, &o->src);
	io_count(io, &o->n_in, 4);
	io_count(io, &o->n_out, 4);
	if (o->n_in > WEFT_OP_MAX_INPUTS || o->n_out > WEFT_OP_MAX_OUTPUTS)
		io_fail(io, "an operator has too many operands");
	if (io->err)
		return;
	ints(io, in, o->n_in);
	ints(io, out, o->n_out);
	save_attributes(io, o->op, &o->attr);
	if (o->op == WEFT_OP_COND_IF || o->op == WEFT_OP_WHILE_LOOP)
		save_flow(io, outer, &o->attr.flow);
}

/*
 * Reads one operator of a container and appends it to graph g, which is `outer` or one of its
 * sub-graphs. It must have a source: reports look it up. A failure is left in io->err.
 */
static void read_op(struct io *io, const weft_graph *outer, weft_graph *g)
{
	struct weft_gop o = { 0 };
	int in[WEFT_OP_MAX_INPUTS], out[WEFT_OP_MAX_OUTPUTS];

	op_io(io, outer, &o, in, out);
	if (!io->err && o.src < 0)
		io_fail(io, "an operator comes from no operator of the source");
	if (io->err)
		return;
	int i = weft_graph_op(g, o.op, &o.attr, o.src, in, o.n_in, out, o.n_out);
	if (i == -EINVAL)
		io_fail(io, "an operator has no result");
	else if (i < 0)
		io->err = i;
}

/*
 * Writes or reads a list of *n tensor indices, the graph's inputs or outputs. Reading, *v comes from
 * malloc; after a failure *n is 0.
 */
static void list(struct io *io, int **v, int *n)
{
	io_count(io, n, 4);
	if (!io->write) {
		*v = calloc((size_t)*n + 1, sizeof **v);
		if (!*v)
			io->err = -ENOMEM;
	}
	if (!io->err)
		ints(io, *v, *n);
	else if (!io->write)
		*n = 0;
}

/* Writes or reads the entries that name the operators of the source file; their notes are not kept. */
static void sources(struct io *io, weft_graph *g)
{
	int n = g->n_srcs;

	io_count(io, &n, 12);
	for (int i = 0; i < n && !io->err; i++) {
		struct weft_gsrc s = { 0 };
		if (io->write)
			s = g->srcs[i];
		io_i32(io, &s.index);
		io_string(io, &s.name);
		io_i32(io, &s.out);
		if (io->write)
			continue;
		int k = io->err ? -1 : weft_graph_src(g, s.index, s.name);
		if (k >= 0)
			g->srcs[k].out = s.out;
		else if (!io->err)
			io->err = k;
		free(s.name);
	}
}

/*
 * Writes variable i: name, type, shape, and its first value if it has one; or reads a variable and adds
 * it to the graph (i does not matter then).
 */
static void variable(struct io *io, weft_graph *g, int i)
{
	struct weft_gtensor t = { 0 };

	if (io->write)
		t = (struct weft_gtensor){ .name = g->vars[i].name, .t = g->vars[i].t };
	io_string(io, &t.name);
	tensor_head(io, &t);
	if (!io->err)
		tensor_data(io, &t.t);
	if (io->write)
		return;
	if (!io->err) {
		int k = weft_graph_var(g, t.name, t.t.dtype, t.t.rank, t.t.dim, t.t.data);
		t.t.data = NULL;
		io->err = k < 0 ? k : 0;
	}
	free(t.t.data);
	free(t.name);
}

/* Writes or reads all variables with their first values. */
static void variables(struct io *io, weft_graph *g)
{
	int n = g->n_vars;

	io_count(io, &n, VAR_MIN);
	for (int i = 0; i < n && !io->err; i++)
		variable(io, g, i);
}

/*
 * Writes or reads the release of the framework whose results the network gives; an unknown number is a
 * failure.
 */
static void runtime(struct io *io, weft_graph *g)
{
	int32_t v = (int32_t)g->runtime;

	io_i32(io, &v);
	if (v < 0 || v >= WEFT_N_RUNTIMES)
		io_fail(io, "a runtime that is not known");
	else if (!io->write)
		g->runtime = (enum weft_runtime)v;
}

/*
 * Writes or reads what every graph has: sources, tensors, operators, inputs and outputs. g is `outer` or
 * one of its sub-graphs.
 */
static void body(struct io *io, const weft_graph *outer, weft_graph *g)
{
	int n = g->n_tensors;

	sources(io, g);
	io_count(io, &n, TENSOR_MIN);
	if (n > SAVE_MAX_TENSORS)
		io_fail(io, "more tensors than a container holds");
	for (int i = 0; i < n && !io->err; i++) {
		if (io->write)
			write_tensor(io, &g->tensors[i]);
		else
			read_tensor(io, g);
	}
	n = g->n_ops;
	io_count(io, &n, OP_MIN);
	if (n > SAVE_MAX_OPS)
		io_fail(io, "more operators than a container holds");
	for (int i = 0; i < n && !io->err; i++) {
		if (io->write)
			op_io(io, outer, &g->ops[i], g->ops[i].in, g->ops[i].out);
		else
			read_op(io, outer, g);
	}
	list(io, &g->inputs, &g->n_inputs);
	list(io, &g->outputs, &g->n_outputs);
}

/*
 * Writes or reads the sub-graphs in their order, in which each refers only to those before it. Reading
 * adds them to g.
 */
static void sub_graphs(struct io *io, weft_graph *g)
{
	int n = g->n_subs;

	io_count(io, &n, SUB_MIN);
	for (int i = 0; i < n && !io->err; i++) {
		weft_graph *s = io->write ? g->subs[i] : weft_graph_new("");

		if (!s) {
			io->err = -ENOMEM;
			return;
		}
		body(io, g, s);
		if (io->write)
			continue;
		if (io->err)
			weft_graph_free(s);
		else if (weft_graph_sub(g, s) < 0)
			io->err = -ENOMEM;
	}
}

/* Writes or reads everything of the outermost graph but its name. */
static void whole(struct io *io, weft_graph *g)
{
	runtime(io, g);
	variables(io, g);
	sub_graphs(io, g);
	body(io, g, g);
}

void save_graph(struct io *io, weft_graph **g, char *msg)
{
	char *name = io->write ? (*g)->name : NULL;

	io_string(io, &name);
	if (io->write) {
		whole(io, *g);
		return;
	}
	*g = io->err ? NULL : weft_graph_new(name);
	free(name);
	if (!*g) {
		if (!io->err)
			io->err = -ENOMEM;
		return;
	}
	whole(io, *g);
	if (!io->err && io->at != io->n)
		io_fail(io, "bytes follow the graph");
	if (!io->err && weft_graph_check(*g, msg)) {
		io->err = -EINVAL;
		io->why = NULL;        /* msg has the reason */
	}
	if (io->err) {
		weft_graph_free(*g);
		*g = NULL;
	}
}

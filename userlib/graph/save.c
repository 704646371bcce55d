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

/*
 * Writes *t, or reads it, as an int32. Any number is taken: weft_graph_check() judges it later. After a
 * failure *t is 0 when reading.
 */
static void dtype(struct io *io, weft_dtype *t)
{
	int32_t v = (int32_t)*t;

	io_i32(io, &v);
	if (!io->write)
		*t = (weft_dtype)v;
}

/*
 * Writes or reads the f->n values of *a at byte offset f->at, each as f->type says. A failure is left
 * in io->err.
 */
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
 * Writes or reads everything of a tensor but its name and data: type, rank, dimensions, quantisation
 * (scale and zero point only if it has one), and whether it is input, output or internal. A rank
 * outside 0..WEFT_MAX_RANK is a failure (io_fail); type and dimensions are not checked here.
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
 * Writes or reads whether a tensor is constant and, if so, the number of its bytes (8 bytes) and these.
 * Reading, type, rank and dimensions of *t must have been read, and t->data be NULL; it becomes memory
 * from malloc that the caller frees, also after a failure, or stays NULL if the tensor is no constant.
 * A negative or too large shape, and a number that is not the shape's or more than what is left, are
 * failures in io->err.
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

/*
 * Reads one tensor of a container (name, head, data) and adds it to the graph with all its fields but
 * the producer. A failure is left in io->err; the graph then has no new tensor.
 */
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
 * Writes the numbers of the two sub-graphs of `outer` that a COND_IF or WHILE_LOOP runs, or reads them
 * into a->graph[]. A number that outer->subs does not have, which when reading has those read so far,
 * is a failure (io_fail) and leaves a->graph[] as it was.
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
 * Writes or reads operator *o: code, source entry, numbers of operands and results, their tensors from
 * or to `in` and `out`, its attributes, and the sub-graphs of control flow, which outer owns. Reading,
 * `in` has room for WEFT_OP_MAX_INPUTS and `out` for WEFT_OP_MAX_OUTPUTS numbers, and more of them are
 * a failure (io_fail); o->in and o->out stay. Code and tensor numbers are not checked.
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
 * sub-graphs. A source below 0 is refused (reports look it up), and so is an operator without results;
 * whether the source exists is weft_graph_check()'s to say. A failure is left in io->err; the graph
 * then has no new operator.
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
 * Writes or reads a list of *n tensor indices in *v, the graph's inputs or outputs. Reading, *v comes
 * from calloc, also after a failure, and NULL only without memory (-ENOMEM in io->err); after a failure
 * *n is 0. The indices are not checked.
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

/*
 * Writes all entries of g->srcs (number in the source file, name, output tensor), or reads entries and
 * adds them to the graph. Notes are not kept. A failure is left in io->err.
 */
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
 * Writes variable i of g (name, the fields of a tensor's head, and its first value if it has one), or
 * reads one and adds it to the graph, whatever i is. Quantisation and marks in the head are written as
 * none and ignored when read. A failure is left in io->err.
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

/*
 * Writes the number of variables and each of them, or reads as many and adds them to the graph; ends at
 * the first failure, which is left in io->err.
 */
static void variables(struct io *io, weft_graph *g)
{
	int n = g->n_vars;

	io_count(io, &n, VAR_MIN);
	for (int i = 0; i < n && !io->err; i++)
		variable(io, g, i);
}

/*
 * Writes v as an int32, or reads one and returns it. A number that is negative, or n or more, is a failure (io_fail) for
 * the reason `why`; v is returned then.
 */
static int choice(struct io *io, int v, int n, const char *why)
{
	int32_t number = v;

	io_i32(io, &number);
	if (number >= 0 && number < n)
		return number;
	io_fail(io, why);
	return v;
}

/*
 * Writes, or reads and adds to graph g, which is empty, what every graph has: sources, tensors,
 * operators, inputs and outputs. g is `outer` or one of its sub-graphs. More than SAVE_MAX_TENSORS
 * tensors or SAVE_MAX_OPS operators are a failure, also when writing. The first failure is left in
 * io->err; g then has what was read before.
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
 * Writes the number of g's sub-graphs and each of them, in their order, in which each refers only to
 * those before it; or reads as many and adds them to g, without names. The first failure is left in
 * io->err; g then has the sub-graphs before it.
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

/*
 * Writes, or reads and adds to g, everything of the outermost graph but its name: runtime, requant, variables,
 * sub-graphs, then its own body. The first failure is left in io->err.
 */
static void whole(struct io *io, weft_graph *g)
{
	g->runtime = (enum weft_runtime)choice(io, (int)g->runtime, WEFT_N_RUNTIMES, "a runtime that is not known");
	g->requant = (enum weft_requant)choice(io, (int)g->requant, WEFT_N_REQUANTS, "an arithmetic of sums that is not known");
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
	if (!io->err && (io->err = weft_graph_check(*g, msg)))
		io->why = NULL;        /* msg has the reason */
	if (io->err) {
		weft_graph_free(*g);
		*g = NULL;
	}
}

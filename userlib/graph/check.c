/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the graph as such: indices, order, single producers, sizes. What each operator asks of
 * its operands is in check_op.c. Every check returns 0, or -EINVAL with one line in c->msg.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "check.h"

#define MOST_WORK 0x1p28          /* comparisons to find shapes in a graph */

/*
 * Returns the number, in the source file, of the operator that the check is at; its number in the graph
 * if it comes from no operator of the file.
 */
static int source_index(const struct weft_check *c)
{
	int src = c->g->ops[c->i_op].src;

	return src >= 0 && src < c->g->n_srcs ? c->g->srcs[src].index : c->i_op;
}

int weft_check_fail(const struct weft_check *c, const char *format, ...)
{
	int n = 0;
	va_list ap;

	if (c->i_sub >= 0)
		n = snprintf(c->msg, WEFT_MSG, "sub-graph %d ", c->i_sub);
	if (c->i_op >= 0)
		n += snprintf(c->msg + n, WEFT_MSG - (size_t)n, "operator %d %s: ", source_index(c),
		              weft_op_name(c->g->ops[c->i_op].op));
	va_start(ap, format);
	vsnprintf(c->msg + n, WEFT_MSG - (size_t)n, format, ap);
	va_end(ap);
	return -EINVAL;
}

/* Says whether an operator may have tensors without elements: ONNX_NODE and IDENTITY. */
static bool takes_nothing(weft_opcode op)
{
	return op == WEFT_OP_ONNX_NODE || op == WEFT_OP_IDENTITY;
}

/*
 * Says whether the operator that makes tensor i, if one does, and all operators of c->g that read it
 * are of the kinds that may have tensors without elements (takes_nothing(): ONNX_NODE and IDENTITY).
 * True also for a tensor that nothing makes or reads.
 */
static bool is_host_only(const struct weft_check *c, int i)
{
	const struct weft_graph *g = c->g;
	const int p = g->tensors[i].producer;

	if (p >= 0 && p < g->n_ops && !takes_nothing(g->ops[p].op))
		return false;
	for (int o = 0; o < g->n_ops; o++)
		for (int k = 0; k < g->ops[o].n_in; k++)
			if (g->ops[o].in[k] == i && !takes_nothing(g->ops[o].op))
				return false;
	return true;
}

/*
 * Checks type, rank and dimensions of t, which is number i of what `what` says ("tensor" or
 * "variable"): the type exists, the rank is 0..WEFT_MAX_RANK, each dimension is at least `least` (0 or 1), and
 * there are at most WEFT_GRAPH_MAX_ELEMENTS elements. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_shape(const struct weft_check *c, const char *what, int i, const weft_tensor *t, int least)
{
	int64_t n = 1;

	if ((int)t->dtype < WEFT_BOOL || (int)t->dtype >= WEFT_N_DTYPES)
		return weft_check_fail(c, "%s %d: type %d is none", what, i, (int)t->dtype);
	if (t->rank < 0 || t->rank > WEFT_MAX_RANK)
		return weft_check_fail(c, "%s %d: rank %d > %d", what, i, t->rank, WEFT_MAX_RANK);
	for (int k = 0; k < t->rank; k++) {
		if (t->dim[k] < least)
			return weft_check_fail(c, "%s %d: dimension %d is %lld < %d", what, i, k, (long long)t->dim[k], least);
		if (n && t->dim[k] > WEFT_GRAPH_MAX_ELEMENTS / n)
			return weft_check_fail(c, "%s %d: more than %lld elements", what, i,
			                       (long long)WEFT_GRAPH_MAX_ELEMENTS);
		n *= t->dim[k];
	}
	return 0;
}

/*
 * Checks where the values of tensor i come from: its producer is -1 or an operator of the graph that
 * lists it among its results; an input has neither data nor a producer; a tensor with data has no
 * producer but a CONST. A tensor that comes from nowhere passes. Returns 0, or -EINVAL with one line in
 * c->msg.
 */
static int check_origin(const struct weft_check *c, int i)
{
	const struct weft_graph *g = c->g;
	const struct weft_gtensor *t = &g->tensors[i];

	if (t->producer < -1 || t->producer >= g->n_ops)
		return weft_check_fail(c, "tensor %d: producer %d of %d operators", i, t->producer, g->n_ops);
	if (t->is_input && (t->t.data || t->producer >= 0))
		return weft_check_fail(c, "tensor %d: an input that is also %s", i, t->t.data ? "constant" : "computed");
	if (t->t.data && t->producer >= 0 && g->ops[t->producer].op != WEFT_OP_CONST)
		return weft_check_fail(c, "tensor %d: a constant that is also computed", i);
	if (t->producer < 0)
		return 0;
	const struct weft_gop *o = &g->ops[t->producer];
	for (int k = 0; k < o->n_out; k++)
		if (o->out[k] == i)
			return 0;
	return weft_check_fail(c, "tensor %d: operator %d does not produce it", i, t->producer);
}

/*
 * Checks that the graph's lists of inputs and outputs name tensors that exist and are marked is_input
 * and is_output, and that each output is an input, a constant or made by an operator. Marked tensors
 * that no list names pass, and so does a tensor that is listed twice. Returns 0, or -EINVAL with one
 * line in c->msg.
 */
static int check_ports(const struct weft_check *c)
{
	const struct weft_graph *g = c->g;

	for (int i = 0; i < g->n_inputs; i++)
		if (g->inputs[i] < 0 || g->inputs[i] >= g->n_tensors || !g->tensors[g->inputs[i]].is_input)
			return weft_check_fail(c, "input %d: tensor %d is not one", i, g->inputs[i]);
	for (int i = 0; i < g->n_outputs; i++) {
		int t = g->outputs[i];
		if (t < 0 || t >= g->n_tensors || !g->tensors[t].is_output)
			return weft_check_fail(c, "output %d: tensor %d is not one", i, t);
		if (!g->tensors[t].is_input && !g->tensors[t].t.data && g->tensors[t].producer < 0)
			return weft_check_fail(c, "output %d: nothing computes tensor %d", i, t);
	}
	return 0;
}

/*
 * Checks operator c->i_op apart from its types and shapes: its opcode exists; it has
 * 0..WEFT_OP_MAX_INPUTS operands and 1..WEFT_OP_MAX_OUTPUTS results; src is -1 or an entry of srcs;
 * each operand exists and is an input, a constant or made by an operator before this one; each result
 * exists and names this operator as its producer. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_wires(const struct weft_check *c)
{
	const struct weft_graph *g = c->g;
	const struct weft_gop *o = &g->ops[c->i_op];

	if (o->op <= WEFT_OP_NONE || o->op >= WEFT_N_OPS)
		return weft_check_fail(c, "opcode %d is none", (int)o->op);
	if (o->n_in < 0 || o->n_in > WEFT_OP_MAX_INPUTS || o->n_out < 1 || o->n_out > WEFT_OP_MAX_OUTPUTS)
		return weft_check_fail(c, "%d inputs, %d outputs", o->n_in, o->n_out);
	if (o->src < -1 || o->src >= g->n_srcs)
		return weft_check_fail(c, "source %d of %d", o->src, g->n_srcs);
	for (int k = 0; k < o->n_in; k++) {
		int i = o->in[k];
		if (i < 0 || i >= g->n_tensors)
			return weft_check_fail(c, "operand %d: tensor %d of %d", k, i, g->n_tensors);
		const struct weft_gtensor *t = &g->tensors[i];
		if (!t->is_input && !t->t.data && (t->producer < 0 || t->producer >= c->i_op))
			return weft_check_fail(c, "operand %d: tensor %d is not computed before", k, i);
	}
	for (int k = 0; k < o->n_out; k++) {
		int i = o->out[k];
		if (i < 0 || i >= g->n_tensors)
			return weft_check_fail(c, "result %d: tensor %d of %d", k, i, g->n_tensors);
		if (g->tensors[i].producer != c->i_op)
			return weft_check_fail(c, "result %d: tensor %d has another producer, operator %d", k, i,
			                       g->tensors[i].producer);
	}
	return 0;
}

/*
 * Checks graph c.g without its sub-graphs, in this order: shape and origin of all tensors (a dimension may be 0
 * only where is_host_only() says so), that the output of each source entry is -1 or a tensor, the lists of
 * inputs and outputs, then for each operator its wires and weft_check_op(). Ends at the first fault. Returns 0,
 * or -EINVAL or -ENOMEM with one line in c.msg.
 */
static int check_graph(struct weft_check c)
{
	const weft_graph *g = c.g;
	int err;

	for (int i = 0; i < g->n_tensors; i++) {
		const weft_tensor *t = &g->tensors[i].t;
		err = check_shape(&c, "tensor", i, t, weft_tensor_elements(t) == 0 && is_host_only(&c, i) ? 0 : 1);
		if (!err)
			err = check_origin(&c, i);
		if (err)
			return err;
	}
	for (int i = 0; i < g->n_srcs; i++)
		if (g->srcs[i].out < -1 || g->srcs[i].out >= g->n_tensors)
			return weft_check_fail(&c, "source %d: tensor %d of %d", i, g->srcs[i].out, g->n_tensors);
	err = check_ports(&c);
	for (c.i_op = 0; !err && c.i_op < g->n_ops; c.i_op++) {
		err = check_wires(&c);
		if (!err)
			err = weft_check_op(&c);
		if (err)
			return err;
	}
	return err;
}

/*
 * Checks type and shape of every variable of c->g with check_shape(); none may be without elements. Returns
 * 0, or -EINVAL with one line in c->msg about the first fault.
 */
static int check_variables(const struct weft_check *c)
{
	for (int i = 0; i < c->g->n_vars; i++) {
		int err = check_shape(c, "variable", i, &c->g->vars[i].t, 1);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Checks the variables, then every sub-graph in order, then the outermost graph: indices, order, single
 * producers, types, shapes and attributes. Ends at the first fault. Returns 0, -EINVAL with one line about it
 * in msg (WEFT_MSG bytes), or -ENOMEM with a line; msg is untouched on success.
 */
int weft_graph_check(const weft_graph *g, char *msg)
{
	double work = MOST_WORK;
	struct weft_check c = { .g = g, .outer = g, .i_sub = -1, .i_op = -1, .msg = msg, .work = &work };
	int err = check_variables(&c);

	/* Sub-graphs come first, so that checks of operators that refer to one can rely on it. */
	for (int i = 0; !err && i < g->n_subs; i++) {
		struct weft_check s = { .g = g->subs[i], .outer = g, .i_sub = i, .i_op = -1, .msg = msg, .work = &work };
		err = check_graph(s);
	}
	return err ? err : check_graph(c);
}

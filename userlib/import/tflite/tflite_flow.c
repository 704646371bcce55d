/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WHILE, IF and STABLEHLO_CASE with their subgraphs, which become sub-graphs of WHILE_LOOP and
 * COND_IF, and STABLEHLO_COMPOSITE, whose subgraph's operators stand in its place.
 *
 * A subgraph of the file is lowered anew for each operator that names it, with
 * the shapes that the operator's operands have. Operands that are constant, and
 * that no round of a loop changes, are constants of the sub-graph, too, so that
 * weights and shapes stay known before the run. Operands of type RESOURCE have no
 * value: they only say which variable is meant (tflite_variable.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_lower.h"

#define MAX_CALLS 32               /* how deep subgraphs may name subgraphs */
#define MAX_VALUES (WEFT_OP_MAX_INPUTS - 1)
#define MAX_BRANCHES 64            /* subgraphs of one STABLEHLO_CASE */

/* What the operator at hand hands to a subgraph. */
struct call {
	int n;                     /* number of operands */
	int tensor[MAX_VALUES];    /* each as a file tensor */
	int value[MAX_VALUES];     /* and as a graph tensor, or one of these */
};
enum { CONSTANT = -1, RESOURCE = -2 };

/* Returns the file tensor that element k of list v names, or -EINVAL if there is none. */
static int element(struct tfl_lower *l, const struct fb_vec *v, int k, const char *what)
{
	int i = fb_i32_at(&l->m->b, v, (uint32_t)k);

	return i >= 0 && i < l->m->n_tensors ? i : tfl_fail(l, -EINVAL, "%s %d: tensor %d of %d", what, k, i, l->m->n_tensors);
}

static bool is_resource(const struct tfl_lower *l, int tensor)
{
	return tfl_file_tensor(l, tensor)->type == TFL_RESOURCE;
}

/*
 * Makes input k of subgraph s, a file tensor there, what the caller hands to it: a constant, an input of the
 * sub-graph with the operand's shape, or nothing for a resource. Returns 0; -EINVAL if type or rank differ,
 * only one of both is a resource, or the tensor has a value already; or another negative errno.
 */
static int take(struct tfl_lower *s, const struct call *c, int k)
{
	int i = element(s, &s->m->inputs, k, "input");
	weft_tensor t;

	if (i < 0)
		return i;
	if (is_resource(s, i) || c->value[k] == RESOURCE)
		return is_resource(s, i) && c->value[k] == RESOURCE ? 0 : tfl_fail(s, -EINVAL, "input %d: a variable and a value", k);
	if (s->seen[i] >= 0 || tfl_file_tensor(s, i)->data)
		return tfl_fail(s, -EINVAL, "input %d: tensor %d has a value already", k, i);
	if (c->value[k] == CONSTANT)
		return tfl_bind_const(s, i, s->parent, c->tensor[k]);
	const weft_tensor *of = &s->parent->g->tensors[c->value[k]].t;
	s->tensors[i].dim = of->dim;       /* the file may leave extents open, and write anything for them */
	int err = tfl_shape(s, i, &t);
	s->tensors[i].dim = NULL;
	if (err)
		return err;
	if (t.dtype != of->dtype || t.rank != of->rank)
		return tfl_fail(s, -EINVAL, "input %d: %s of rank %d, the operand is %s of rank %d", k, weft_dtype_name(t.dtype), t.rank,
		                weft_dtype_name(of->dtype), of->rank);
	int g = tfl_input(s, i, of);
	if (g >= 0)
		s->g->inputs[s->g->n_inputs++] = g;
	return g < 0 ? g : 0;
}

/*
 * Makes output k of subgraph s an output of the sub-graph; a constant, an input or an output by a
 * copy, since each output needs a tensor of its own. Returns 0 or a negative errno.
 */
static int give(struct tfl_lower *s, int k)
{
	int i = element(s, &s->m->outputs, k, "output"), g = i < 0 ? i : tfl_value_of(s, i);

	if (g < 0)
		return g;
	const struct weft_gtensor *t = &s->g->tensors[g];
	if (t->is_input || t->is_output || t->t.data) {
		s->i_y = i;
		if ((s->src = weft_graph_src(s->g, s->m->n_ops + k, "OUTPUT")) < 0)
			return tfl_fail(s, -ENOMEM, "out of memory");
		if ((g = tfl_copy(s, g)) < 0)
			return g;
		s->g->srcs[s->src].out = g;
	}
	s->g->tensors[g].is_output = true;
	s->g->outputs[s->g->n_outputs++] = g;
	return 0;
}

/*
 * Lowers subgraph s, whose tables are allocated, for call c: inputs, operators, outputs. With given NULL all
 * outputs become outputs of the sub-graph; else only those of whose number `given` has a value, which is
 * neither CONSTANT nor RESOURCE there. Returns 0 or a negative errno.
 */
static int lower_subgraph(struct tfl_lower *s, const struct call *c, const struct call *given)
{
	int err = 0;

	for (int k = 0; !err && k < c->n; k++)
		err = take(s, c, k);
	if (!err)
		err = tfl_lower_all(s);
	for (int k = 0; !err && k < (int)s->m->outputs.n; k++)
		if (!given || given->value[k] >= 0)
			err = give(s, k);
	return err ? err : tfl_codes_finish(s);
}

/*
 * Allocates what subgraph s needs: an empty graph with room for its ports, and the tables by file tensor.
 * Returns 0, -EINVAL if it has other numbers of inputs and outputs than n_in and n_out or the file's room is
 * used up, or -ENOMEM.
 */
static int prepare(struct tfl_lower *s, int n_in, int n_out)
{
	if ((int64_t)s->m->inputs.n != n_in || (int64_t)s->m->outputs.n != n_out)
		return tfl_fail(s, -EINVAL, "%u inputs and %u outputs, not %d and %d", (unsigned)s->m->inputs.n, (unsigned)s->m->outputs.n,
		                n_in, n_out);
	s->room -= (int64_t)sizeof(weft_graph) + 64 * (int64_t)(s->m->n_tensors + s->m->n_ops);
	if (s->room < 0)
		return tfl_fail(s, -EINVAL, "the graph outgrows the memory allowed for a file of %zu bytes", s->m->b.len);
	s->g = weft_graph_new("");
	if (!s->g)
		return tfl_fail(s, -ENOMEM, "out of memory");
	s->g->inputs = calloc((size_t)n_in + 1, sizeof *s->g->inputs);
	s->g->outputs = calloc((size_t)n_out + 1, sizeof *s->g->outputs);
	return s->g->inputs && s->g->outputs ? tfl_tables(s) : tfl_fail(s, -ENOMEM, "out of memory");
}

/*
 * Lowers subgraph `index` of the file for the operator at hand into a new sub-graph of the network, which *g
 * receives and the network's outermost graph owns. The subgraph must have c->n inputs and n_out outputs;
 * those of the outputs that lower_subgraph() chooses by `given` become the sub-graph's. Returns 0, -ENOTSUP
 * if subgraphs are nested more than MAX_CALLS deep, -EINVAL if the file has no such subgraph (0 is none) or
 * it has other numbers of ports, or another negative errno; *g then means nothing. l->err has the errno too,
 * unless the subgraph could not be read.
 */
static int call(struct tfl_lower *l, int index, const struct call *c, int n_out, const struct call *given, weft_graph **g)
{
	struct tfl_model m;
	struct tfl_lower s = { .m = &m, .parent = l, .i_sub = index, .msg = l->msg, .room = l->room, .activations = l->activations, .o = l->o };
	int depth = 0;

	for (const struct tfl_lower *p = l; p; p = p->parent)
		depth++;
	if (depth > MAX_CALLS)
		return tfl_fail(l, -ENOTSUP, "subgraphs nested more than %d deep", MAX_CALLS);
	int err = index < 1 ? tfl_fail(l, -EINVAL, "subgraph %d", index) : tfl_read_subgraph(&m, l->m, (uint32_t)index);
	if (err)
		return err;
	s.tensors = m.tensors;
	s.o.backbone = false;
	if (!(err = prepare(&s, c->n, n_out)))
		err = lower_subgraph(&s, c, given);
	tfl_free_tables(&s);
	tfl_release(&m);
	l->room = s.room;
	l->activations = s.activations;
	if (err) {
		weft_graph_free(s.g);
		return l->err = err;
	}
	*g = s.g;
	return weft_graph_sub(tfl_outermost(l)->g, s.g) < 0 ? tfl_fail(l, -ENOMEM, "out of memory") : 0;
}

/*
 * Fills c with the operands of the operator at hand from `first` on: their file tensors in c->tensor, and in
 * c->value graph tensors, RESOURCE for a handle of a variable, or CONSTANT for a constant of which may_bind
 * says so (NULL: all constants). Returns 0, -ENOTSUP if there are more than MAX_VALUES or fewer than `first`,
 * or another negative errno.
 */
static int operands(struct tfl_lower *l, int first, const bool *may_bind, struct call *c)
{
	c->n = (int)l->op->in.n - first;
	if (c->n > MAX_VALUES || c->n < 0)
		return tfl_fail(l, -ENOTSUP, "%u operands; at most %d", (unsigned)l->op->in.n, first + MAX_VALUES);
	for (int k = 0; k < c->n; k++) {
		if ((c->tensor[k] = tfl_operand(l, first + k)) < 0)
			return c->tensor[k];
		if (is_resource(l, c->tensor[k]))
			c->value[k] = RESOURCE;
		else if (tfl_is_const(l, first + k) && (!may_bind || may_bind[k]))
			c->value[k] = CONSTANT;
		else if ((c->value[k] = tfl_value(l, first + k)) < 0)
			return c->value[k];
	}
	return 0;
}

/*
 * Emits operator op with sub-graphs g on the operands in[0..n_in-1]; its results are those of the operator at
 * hand for which `given` (NULL: all) has a value, in their order, with the types and shapes of g[1]'s
 * outputs. The first one is noted as the result of the operator's source. Returns 0, -ENOTSUP for more than
 * WEFT_OP_MAX_OUTPUTS results, or another negative errno.
 */
static int emit(struct tfl_lower *l, weft_opcode op, weft_graph *const g[2], const int *in, int n_in, const struct call *given)
{
	weft_attr a = { .flow = { .graph = { g[0], g[1] } } };
	struct tfl_many many = { .n = 0 };

	for (int k = 0; k < (int)l->op->out.n; k++)
		if (!given || given->value[k] >= 0) {
			if (many.n == WEFT_OP_MAX_OUTPUTS)
				return tfl_fail(l, -ENOTSUP, "more than %d results", WEFT_OP_MAX_OUTPUTS);
			many.t[many.n] = g[1]->tensors[g[1]->outputs[many.n]].t;
			many.result[many.n++] = k;
		}
	int err = tfl_step_many(l, op, &a, in, n_in, &many);
	if (!err && many.n)
		l->g->srcs[l->src].out = l->g->ops[l->g->n_ops - 1].out[0];
	return err;
}

static bool same_shape(const weft_tensor *a, const weft_tensor *b)
{
	return a->dtype == b->dtype && a->rank == b->rank && !memcmp(a->dim, b->dim, sizeof a->dim);
}

/* ---- WHILE ---- */

/*
 * Says in may_bind which operands of the WHILE at hand no round changes: subgraph `body` hands its input on as
 * its output, and the result is no output of the graph at hand. Returns 0, -EINVAL if there are not as many
 * results as operands or `body` is below 1, -ENOTSUP if there are more than MAX_VALUES, or another negative
 * errno.
 */
static int find_invariant(struct tfl_lower *l, int body, bool *may_bind)
{
	const int n = (int)l->op->in.n;
	struct tfl_model m;

	if (body < 1)
		return tfl_fail(l, -EINVAL, "subgraph %d", body);
	if (n > MAX_VALUES || l->op->out.n != l->op->in.n)
		return tfl_fail(l, n > MAX_VALUES ? -ENOTSUP : -EINVAL, "%d operands and %u results; as many, and at most %d", n,
		                (unsigned)l->op->out.n, MAX_VALUES);
	int err = tfl_read_subgraph(&m, l->m, (uint32_t)body);
	if (err)
		return err;
	for (int k = 0; k < n; k++) {
		int y = fb_i32_at(&l->m->b, &l->op->out, (uint32_t)k);

		may_bind[k] = k < (int)m.inputs.n && k < (int)m.outputs.n && y >= 0 && y < l->m->n_tensors && !l->is_output[y] &&
		              fb_i32_at(&m.b, &m.inputs, (uint32_t)k) == fb_i32_at(&m.b, &m.outputs, (uint32_t)k);
	}
	tfl_release(&m);
	return 0;
}

/*
 * Lowers the WHILE at hand: the subgraph that option COND names says whether another round follows, that of
 * BODY is one round. A constant operand that no round changes is no operand of WHILE_LOOP, but stays a
 * constant as its result. Returns 0, -ENOTSUP if a value changes its shape from round to round or none is
 * left that changes, or another negative errno.
 */
static int lower_while(struct tfl_lower *l)
{
	bool may_bind[MAX_VALUES];
	int index[2], in[MAX_VALUES], n_in = 0;
	struct call c;
	weft_graph *g[2];
	int err = tfl_option(l, OPTIONS_WHILE, WHILE_CONDITION, 4, 0, &index[0]);

	if (err || (err = tfl_option(l, OPTIONS_WHILE, WHILE_BODY, 4, 0, &index[1])) || (err = find_invariant(l, index[1], may_bind)) ||
	    (err = operands(l, 0, may_bind, &c)) || (err = call(l, index[0], &c, 1, NULL, &g[0])) ||
	    (err = call(l, index[1], &c, c.n, &c, &g[1])))
		return err;
	for (int k = 0; k < c.n; k++) {
		if (c.value[k] < 0)
			continue;
		const weft_tensor *y = &g[1]->tensors[g[1]->outputs[n_in]].t, *x = &l->g->tensors[c.value[k]].t;
		if (!same_shape(x, y))
			return tfl_fail(l, -ENOTSUP, "operand %d: rank %d of %lld elements becomes rank %d of %lld; shapes may not change while it runs",
			                k, x->rank, (long long)weft_tensor_elements(x), y->rank, (long long)weft_tensor_elements(y));
		in[n_in++] = c.value[k];
	}
	if (!n_in)
		return tfl_fail(l, -ENOTSUP, "no operand changes from round to round");
	for (int k = 0; k < c.n; k++)
		if (c.value[k] == CONSTANT &&
		    (err = tfl_bind_const(l, fb_i32_at(&l->m->b, &l->op->out, (uint32_t)k), l, c.tensor[k])))
			return err;
	return emit(l, WEFT_OP_WHILE_LOOP, g, in, n_in, &c);
}

/* ---- IF ---- */

/*
 * Lowers the IF at hand to COND_IF. If its condition is constant, both sub-graphs are the chosen subgraph;
 * without results nothing is emitted. Returns 0; -EINVAL if the condition is not one bool; -ENOTSUP if both
 * subgraphs give a result different shapes; or another negative errno.
 */
static int lower_if(struct tfl_lower *l)
{
	int index[2], in[WEFT_OP_MAX_INPUTS], n_in = 1, n_out = (int)l->op->out.n;
	struct call c;
	weft_graph *g[2];
	int err = tfl_option(l, OPTIONS_IF, IF_THEN, 4, 0, &index[0]);

	if (err || (err = tfl_option(l, OPTIONS_IF, IF_ELSE, 4, 0, &index[1])) || (err = operands(l, 1, NULL, &c)))
		return err;
	if ((in[0] = tfl_value(l, 0)) < 0)
		return in[0];
	const weft_tensor *cond = &l->g->tensors[in[0]].t;
	if (cond->dtype != WEFT_BOOL || weft_tensor_elements(cond) != 1)
		return tfl_fail(l, -EINVAL, "the condition is %s of %lld elements, not one bool", weft_dtype_name(cond->dtype),
		                (long long)weft_tensor_elements(cond));
	if (cond->data)
		index[0] = index[1] = index[*(const uint8_t *)cond->data ? 0 : 1];
	if ((err = call(l, index[0], &c, n_out, NULL, &g[0])) || (err = call(l, index[1], &c, n_out, NULL, &g[1])))
		return err;
	for (int k = 0; k < n_out; k++)
		if (!same_shape(&g[0]->tensors[g[0]->outputs[k]].t, &g[1]->tensors[g[1]->outputs[k]].t))
			return tfl_fail(l, -ENOTSUP, "result %d has another shape in each subgraph, known only when the network runs", k);
	for (int k = 0; k < c.n; k++)
		if (c.value[k] >= 0)
			in[n_in++] = c.value[k];
	return n_out ? emit(l, WEFT_OP_COND_IF, g, in, n_in, NULL) : 0;
}

/* ---- STABLEHLO_CASE ---- */

/* Gives graph g one more input, int32 of the given shape, for the index that chooses; g has room for it. Returns 0 or -ENOMEM. */
static int add_index(weft_graph *g, const weft_tensor *index)
{
	const int t = weft_graph_tensor(g, "index", WEFT_INT32, index->rank, index->dim);

	if (t < 0)
		return t;
	g->tensors[t].is_input = true;
	g->inputs[g->n_inputs++] = t;
	return 0;
}

/* Copies the ports of graph `of` to the empty graph g, which has no operators yet. Returns 0 or -ENOMEM. */
static int copy_ports(weft_graph *g, const weft_graph *of)
{
	g->inputs = calloc((size_t)of->n_inputs + 1, sizeof *g->inputs);
	g->outputs = calloc((size_t)of->n_outputs + 1, sizeof *g->outputs);
	if (!g->inputs || !g->outputs)
		return -ENOMEM;
	for (int k = 0; k < of->n_inputs + of->n_outputs; k++) {
		const bool in = k < of->n_inputs;
		const struct weft_gtensor *t = &of->tensors[in ? of->inputs[k] : of->outputs[k - of->n_inputs]];
		const int i = weft_graph_tensor(g, t->name, t->t.dtype, t->t.rank, t->t.dim);
		if (i < 0)
			return i;
		g->tensors[i].q = t->q;
		g->tensors[i].is_input = in;
		g->tensors[i].is_output = !in;
		*(in ? &g->inputs[g->n_inputs++] : &g->outputs[g->n_outputs++]) = i;
	}
	return 0;
}

/*
 * Fills the empty graph g: it gets the ports of both[0], which both[1] has as well and of which the last input is an
 * index, and a COND_IF that gives both[0]'s outputs if the index is `number`, else both[1]'s. Returns 0 or -ENOMEM.
 */
static int fill_choice(const struct tfl_lower *l, weft_graph *g, int64_t number, weft_graph *const both[2])
{
	weft_attr a = { .flow = { .graph = { both[0], both[1] } } };
	int in[WEFT_OP_MAX_INPUTS], err = copy_ports(g, both[0]);
	int32_t *v = malloc(sizeof *v);

	if (err || !v) {
		free(v);
		return -ENOMEM;
	}
	*v = (int32_t)number;
	const int src = weft_graph_src(g, l->i_op, "STABLEHLO_CASE"), index = g->inputs[g->n_inputs - 1];
	const weft_tensor t = g->tensors[index].t;
	const int c = weft_graph_const(g, "number", WEFT_INT32, t.rank, t.dim, v), chosen = c < 0 ? c : weft_graph_tensor(g, "chosen", WEFT_BOOL, t.rank, t.dim);
	if (src < 0 || chosen < 0 || weft_graph_op(g, WEFT_OP_EQUAL, NULL, src, (int[]){ index, c }, 2, &chosen, 1) < 0)
		return -ENOMEM;
	in[0] = chosen;
	memcpy(in + 1, g->inputs, (size_t)g->n_inputs * sizeof *in);
	g->tensors[c].internal = g->tensors[chosen].internal = true;
	g->srcs[src].out = g->outputs[0];
	return weft_graph_op(g, WEFT_OP_COND_IF, &a, src, in, g->n_inputs + 1, g->outputs, g->n_outputs) < 0 ? -ENOMEM : 0;
}

/*
 * Replaces both[1] by a new sub-graph of the network that gives both[0]'s outputs if its last input, the
 * index, is `number`, else both[1]'s. Returns 0, -EINVAL if the graph outgrows l->room, or -ENOMEM.
 */
static int choose(struct tfl_lower *l, int64_t number, weft_graph *both[2])
{
	l->room -= (int64_t)sizeof(weft_graph) + 1024 + 512 * (int64_t)(both[0]->n_inputs + both[0]->n_outputs);
	if (l->room < 0)
		return tfl_fail(l, -EINVAL, "the graph outgrows the memory allowed for a file of %zu bytes", l->m->b.len);
	weft_graph *g = weft_graph_new("");
	const int err = g ? fill_choice(l, g, number, both) : -ENOMEM;
	if (err) {
		weft_graph_free(g);
		return tfl_fail(l, err, "out of memory");
	}
	both[1] = g;
	return weft_graph_sub(tfl_outermost(l)->g, g) < 0 ? tfl_fail(l, -ENOMEM, "out of memory") : 0;
}

/*
 * Lowers the n subgraphs that index[] names for call c into g[0..n-1]; each has all of the operator's
 * results, of the same shapes. With more than two subgraphs each gets one more input, of the shape of graph
 * tensor x, the index. Returns 0, -ENOTSUP if the shapes of a result differ, or another negative errno.
 */
static int lower_branches(struct tfl_lower *l, const struct call *c, const int64_t *index, int n, int x, weft_graph **g)
{
	const int n_out = (int)l->op->out.n;

	for (int k = 0; k < n; k++) {
		int err = call(l, (int)index[k], c, n_out, NULL, &g[k]);
		if (err || (n > 2 && (err = add_index(g[k], &l->g->tensors[x].t))))
			return err == -ENOMEM ? tfl_fail(l, err, "out of memory") : err;
		for (int r = 0; r < n_out; r++)
			if (!same_shape(&g[0]->tensors[g[0]->outputs[r]].t, &g[k]->tensors[g[k]->outputs[r]].t))
				return tfl_fail(l, -ENOTSUP, "result %d has another shape in each subgraph, known only when the network runs", r);
	}
	return 0;
}

/*
 * Lowers the STABLEHLO_CASE at hand to COND_IF within COND_IF: operand 0, int32, is the number of the subgraph;
 * any number that none has chooses the last one. If it is constant, only that subgraph is lowered. Returns 0;
 * -EINVAL if operand 0 is not one int32, there are no subgraphs or results, or more than MAX_BRANCHES
 * subgraphs; -ENOTSUP if there are too many operands or the subgraphs' results differ in shape; or another
 * negative errno.
 */
static int lower_case(struct tfl_lower *l)
{
	int64_t index[MAX_BRANCHES];
	int n = tfl_option_ints(l, OPTIONS_CASE, CASE_SUBGRAPHS, MAX_BRANCHES, index), in[WEFT_OP_MAX_INPUTS], n_in = 1;
	weft_graph *g[MAX_BRANCHES], *both[2];
	struct call c;
	int x = n < 0 ? n : tfl_value(l, 0), err = x < 0 ? x : operands(l, 1, NULL, &c);

	if (err)
		return err;
	const weft_tensor t = l->g->tensors[x].t;
	if (c.n >= MAX_VALUES - 1)
		return tfl_fail(l, -ENOTSUP, "%d operands; at most %d", c.n, MAX_VALUES - 2);
	if (t.dtype != WEFT_INT32 || weft_tensor_elements(&t) != 1 || !n || !l->op->out.n)
		return tfl_fail(l, -EINVAL, "%d subgraphs by %s of %lld elements, %d operands and %u results", n, weft_dtype_name(t.dtype),
		                (long long)weft_tensor_elements(&t), c.n, (unsigned)l->op->out.n);
	if (t.data) {
		const int32_t v = *(const int32_t *)t.data;
		index[0] = index[v < 0 || v >= n ? n - 1 : v];
		n = 1;
	}
	if ((err = lower_branches(l, &c, index, n, x, g)))
		return err;
	both[1] = g[n - 1];
	for (int k = n - 2; k >= 1; k--) {
		both[0] = g[k];
		if ((err = choose(l, k, both)))
			return err;
	}
	both[0] = g[0];
	if ((err = tfl_result(l, 0)))        /* intermediate tensors are named after it */
		return err;
	const int number = tfl_number(l, "number", n > 1 ? WEFT_INT32 : WEFT_BOOL, n > 1 ? t.rank : 0, n > 1 ? 0 : 1);
	in[0] = number < 0 || n == 1 ? number : tfl_step(l, WEFT_OP_EQUAL, NULL, (int[]){ x, number }, 2, WEFT_BOOL, t.rank, t.dim, false);
	if (in[0] < 0)
		return in[0];
	for (int k = 0; k < c.n; k++)
		if (c.value[k] >= 0)
			in[n_in++] = c.value[k];
	if (n > 2)
		in[n_in++] = x;
	return emit(l, WEFT_OP_COND_IF, both, in, n_in, NULL);
}

/* ---- STABLEHLO_COMPOSITE ---- */

/*
 * Makes input k of subgraph s, which is inlined, the operand that the caller hands to it. Returns 0, -EINVAL if
 * types differ or the input has a value already, or another negative errno.
 */
static int take_inlined(struct tfl_lower *s, const struct call *c, int k)
{
	struct tfl_lower *l = s->parent;
	int i = element(s, &s->m->inputs, k, "input");

	if (i < 0)
		return i;
	if (tfl_file_tensor(s, i)->type != tfl_file_tensor(l, c->tensor[k])->type || s->seen[i] >= 0 || tfl_file_tensor(s, i)->data)
		return tfl_fail(s, -EINVAL, "input %d: another type than the operand, or tensor %d has a value already", k, i);
	if (c->value[k] == CONSTANT)
		return tfl_bind_const(s, i, l, c->tensor[k]);
	s->raw[i] = l->raw[c->tensor[k]];
	s->seen[i] = c->value[k];
	return 0;
}

/*
 * Makes the value of output k of the inlined subgraph s that of result k of the operator at hand in its parent;
 * a constant becomes a constant there. A graph tensor from number first_tensor on, unless it is internal, also
 * gets the name of the result in the file. Returns 0, -EINVAL if the types differ or nothing computes the
 * output, or another negative errno.
 */
static int give_inlined(struct tfl_lower *s, int k, int first_tensor)
{
	struct tfl_lower *l = s->parent;
	int o = element(s, &s->m->outputs, k, "output"), y = fb_i32_at(&l->m->b, &l->op->out, (uint32_t)k);
	weft_tensor t;

	if (o < 0)
		return o;
	const struct tfl_tensor *from = tfl_file_tensor(s, o), *to = tfl_file_tensor(l, y);
	if (from->type != to->type)
		return tfl_fail(s, -EINVAL, "output %d is %s, the result %s", k, tfl_type_name(from->type), tfl_type_name(to->type));
	if (from->data) {
		int err = tfl_shape(s, o, &t);
		void *p = err ? NULL : tfl_alloc(s, (int64_t)from->data_len, 1);
		if (!p)
			return err ? err : s->err;
		memcpy(p, from->data, from->data_len);
		return tfl_make_const(l, y, t.dim, p, from->data_len);
	}
	if (s->raw[o] < 0 && s->seen[o] < 0)
		return tfl_fail(s, -EINVAL, "output %d: nothing computes tensor %d", k, o);
	l->raw[y] = s->raw[o];
	l->seen[y] = s->seen[o];
	struct weft_gtensor *g = &l->g->tensors[s->raw[o] >= 0 ? s->raw[o] : s->seen[o]];
	if (g - l->g->tensors < first_tensor || g->internal)
		return 0;
	char *name = strndup(to->name, to->name_len);
	if (!name)
		return tfl_fail(s, -ENOMEM, "out of memory");
	free(g->name);
	g->name = name;
	return 0;
}

/*
 * Lowers all of subgraph s, which is read and has tables, into the graph of its parent, with the operands that
 * call c hands to it; its outputs become the results of the operator at hand there. Returns 0, -EINVAL if one
 * of these results is no tensor or has a value already, or another negative errno.
 */
static int inline_all(struct tfl_lower *s, const struct call *c)
{
	struct tfl_lower *l = s->parent;
	const int first = l->g->n_tensors;
	int err = 0;

	for (int k = 0; !err && k < (int)s->m->outputs.n; k++) {
		int o = element(s, &s->m->outputs, k, "output"), y = fb_i32_at(&l->m->b, &l->op->out, (uint32_t)k);

		if (y < 0 || y >= l->m->n_tensors || l->raw[y] >= 0 || l->seen[y] >= 0 || tfl_file_tensor(l, y)->data)
			return tfl_fail(l, -EINVAL, "result %d: tensor %d of %d is none, or has a value", k, y, l->m->n_tensors);
		err = o < 0 ? o : 0;
		if (!err)
			s->is_output[o] |= l->is_output[y];
	}
	for (int k = 0; !err && k < c->n; k++)
		err = take_inlined(s, c, k);
	err = err ? err : tfl_lower_all(s);
	for (int k = 0; !err && k < (int)s->m->outputs.n; k++)
		err = give_inlined(s, k, first);
	return err;
}

/*
 * Lowers STABLEHLO_COMPOSITE: the operators of the subgraph that says what it is stand in its place. Returns 0;
 * -ENOTSUP if subgraphs are nested more than MAX_CALLS deep or an operand is a variable; -EINVAL if the
 * subgraph's number is below 1, it has other numbers of inputs and outputs, or memory for the graph does not
 * suffice; or another negative errno.
 */
static int lower_composite(struct tfl_lower *l)
{
	struct tfl_model m;
	struct tfl_lower s = { .m = &m, .parent = l, .inlined = true, .msg = l->msg, .o = l->o, .g = l->g };
	int depth = 0, err = tfl_option(l, OPTIONS_COMPOSITE, COMPOSITE_SUBGRAPH, 4, 0, &s.i_sub);
	struct call c;

	for (const struct tfl_lower *p = l; p; p = p->parent)
		depth++;
	if (err || (err = operands(l, 0, NULL, &c)))
		return err;
	if (depth > MAX_CALLS || s.i_sub < 1)
		return tfl_fail(l, depth > MAX_CALLS ? -ENOTSUP : -EINVAL, "subgraph %d, nested %d deep; at most %d", s.i_sub, depth, MAX_CALLS);
	for (int k = 0; k < c.n; k++)
		if (c.value[k] == RESOURCE)
			return tfl_fail(l, -ENOTSUP, "operand %d is a variable", k);
	if ((err = tfl_read_subgraph(&m, l->m, (uint32_t)s.i_sub)))
		return err;
	s.tensors = m.tensors;
	s.o.backbone = false;
	s.room = l->room - 64 * (int64_t)(m.n_tensors + m.n_ops);
	s.activations = l->activations;
	s.codes = l->codes;
	s.n_codes = l->n_codes;
	s.cap_codes = l->cap_codes;
	if ((int)m.inputs.n != c.n || m.outputs.n != l->op->out.n)
		err = tfl_fail(l, -EINVAL, "subgraph %d has %u inputs and %u outputs, not %d and %u", s.i_sub, (unsigned)m.inputs.n,
		               (unsigned)m.outputs.n, c.n, (unsigned)l->op->out.n);
	else if (s.room < 0)
		err = tfl_fail(l, -EINVAL, "the graph outgrows the memory allowed for a file of %zu bytes", l->m->b.len);
	err = err ? err : tfl_tables(&s);
	err = err ? err : inline_all(&s, &c);
	l->codes = s.codes;
	l->n_codes = s.n_codes;
	l->cap_codes = s.cap_codes;
	s.codes = NULL;
	l->room = s.room;
	l->activations = s.activations;
	tfl_free_tables(&s);
	tfl_release(&m);
	return err ? l->err = err : 0;
}

int tfl_flow_op(struct tfl_lower *l, const char *name)
{
	if (l->op->code == TFL_STABLEHLO_COMPOSITE) {
		const int err = lower_composite(l);
		return err ? err : 1;
	}
	if (l->op->code != TFL_WHILE && l->op->code != TFL_IF && l->op->code != TFL_STABLEHLO_CASE)
		return 0;
	if ((l->src = weft_graph_src(l->g, tfl_source_number(l), name)) < 0)
		return tfl_fail(l, -ENOMEM, "out of memory");
	int err = l->op->code == TFL_WHILE ? lower_while(l) : l->op->code == TFL_IF ? lower_if(l) : lower_case(l);
	return err ? err : 1;
}

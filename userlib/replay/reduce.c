/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delta debugging over a graph's operators (Zeller's ddmin): a part of them, or all but a part, is cut
 * out as a network and run. If it still fails in the same way, the search goes on with it, otherwise
 * with finer parts, until no single operator can be left out.
 */
#include <weft/reduce.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/run/internal.h"

struct reducer {
	const weft_graph *g;       /* the whole network */
	const weft_tensor *golden; /* golden's tensors of it, by index */
	struct weft_session_options o;     /* how networks are run */
	struct weft_reduction *r;  /* the caller's result */
	int *set, n;               /* the operators that are left, in ascending order, and their number */
	char *msg;                 /* the caller's room of WEFT_MSG_LEN bytes */
	int err;                   /* -ENOMEM: memory ran out; otherwise 0 */
};

/* ---- a part of the graph ---- */

/* A network of some of the graph's operators. */
struct cut {
	weft_graph *g;             /* it */
	int *map;                  /* for each tensor of the whole graph the part's tensor, or -1 */
	int *from;                 /* for each input of the part the whole graph's tensor */
	int n_in;                  /* number of inputs */
};

/*
 * Adds a copy of constant t, with its name, to the part's graph. Returns its tensor's index or -ENOMEM.
 */
static int copy_const(struct cut *c, const struct weft_gtensor *t)
{
	size_t n = weft_tensor_bytes(&t->t);
	void *data = malloc(n + 1);

	if (!data)
		return -ENOMEM;
	memcpy(data, t->t.data, n);
	return weft_graph_const(c->g, t->name, t->t.dtype, t->t.rank, t->t.dim, data);
}

/*
 * Returns the part's tensor for tensor t of the whole graph g. When it is first asked for, it is added
 * with its quantisation, as a constant if it was one, otherwise with t in its name; and noted in
 * c->map. Unless `made` says that an operator of the part makes it, it then also becomes an input of
 * the part (c->from). Negative: -ENOMEM.
 */
static int take_tensor(struct cut *c, const weft_graph *g, int t, bool made)
{
	const struct weft_gtensor *from = &g->tensors[t];
	char name[160];

	if (c->map[t] >= 0)
		return c->map[t];
	snprintf(name, sizeof name, "%.140s%s%d", from->name, from->name[0] ? "_" : "t", t);
	int i = from->t.data ? copy_const(c, from) : weft_graph_tensor(c->g, name, from->t.dtype, from->t.rank, from->t.dim);
	if (i < 0)
		return i;
	c->map[t] = i;
	c->g->tensors[i].q = from->q;
	if (!made && !from->t.data) {
		c->g->tensors[i].is_input = true;
		c->from[c->n_in++] = t;
	}
	return i;
}

/*
 * Adds operator i of g to the part with its tensors and source entry. An operand that is no constant and
 * that no operator added before has made becomes an input. Returns the operator's index in the part; or
 * -ENOMEM or -EINVAL, as weft_graph_op().
 */
static int take_op(struct cut *c, const weft_graph *g, int i)
{
	const struct weft_gop *o = &g->ops[i];
	int in[WEFT_OP_MAX_INPUTS], out[WEFT_OP_MAX_OUTPUTS];

	for (int k = 0; k < o->n_in; k++)
		if ((in[k] = take_tensor(c, g, o->in[k], false)) < 0)
			return in[k];
	for (int k = 0; k < o->n_out; k++)
		if ((out[k] = take_tensor(c, g, o->out[k], true)) < 0)
			return out[k];
	int src = o->src >= 0 ? weft_graph_src(c->g, g->srcs[o->src].index, g->srcs[o->src].name) : -1;
	if (src < -1)
		return src;
	if (src >= 0)
		c->g->srcs[src].out = out[0];
	return weft_graph_op(c->g, o->op, &o->attr, src, in, o->n_in, out, o->n_out);
}

/*
 * Lists the part's inputs in the order in which operators first read them, and as outputs all results
 * that no operator of the part reads. Returns 0 or -ENOMEM.
 */
static int mark_ports(struct cut *c)
{
	weft_graph *p = c->g;
	bool *used = calloc((size_t)p->n_tensors + 1, 1);

	p->inputs = calloc((size_t)c->n_in + 1, sizeof(int));
	p->outputs = calloc((size_t)p->n_tensors + 1, sizeof(int));
	if (!used || !p->inputs || !p->outputs) {
		free(used);
		return -ENOMEM;
	}
	for (int i = 0; i < c->n_in; i++)
		p->inputs[p->n_inputs++] = c->map[c->from[i]];
	for (int i = 0; i < p->n_ops; i++)
		for (int k = 0; k < p->ops[i].n_in; k++)
			used[p->ops[i].in[k]] = true;
	for (int t = 0; t < p->n_tensors; t++) {
		if (p->tensors[t].producer < 0 || used[t])
			continue;
		p->outputs[p->n_outputs++] = t;
		p->tensors[t].is_output = true;
	}
	free(used);
	return 0;
}

/* Frees a part with its graph. */
static void cut_release(struct cut *c)
{
	weft_graph_free(c->g);
	free(c->map);
	free(c->from);
}

/*
 * Builds in *c the network of the n operators of g whose indices are in ops, in ascending order: their
 * tensors, copies of their constants, operands that are no constants and that none of them makes as inputs,
 * results that none of them reads as outputs. Tensors but constants have names of their own (take_tensor()).
 * It is not checked. cut_release() frees *c, also after a failure. Returns 0; -ENOMEM; or -EINVAL if
 * weft_graph_op() does not take an operator's number of operands or results.
 */
static int cut_out(const weft_graph *g, const int *ops, int n, struct cut *c)
{
	int err = 0;

	*c = (struct cut){ .g = weft_graph_new(g->name), .map = malloc(((size_t)g->n_tensors + 1) * sizeof(int)),
		.from = malloc(((size_t)g->n_tensors + 1) * sizeof(int)) };
	if (!c->g || !c->map || !c->from)
		err = -ENOMEM;
	for (int t = 0; !err && t < g->n_tensors; t++)
		c->map[t] = -1;
	for (int i = 0; i < n && err >= 0; i++)
		err = take_op(c, g, ops[i]);
	if (err >= 0)
		err = mark_ports(c);
	return err < 0 ? err : 0;
}

/* ---- whether a graph fails ---- */

/*
 * Checks a graph and runs it once in a session with options o, as the user's session would; its outputs
 * are dropped. Returns 0; the negative errno of what failed, with one line in why (WEFT_MSG_LEN bytes);
 * or -ENOMEM, with why unchanged, if there is no memory for the list of outputs.
 */
static int run(const weft_graph *g, const weft_tensor *inputs, const struct weft_session_options *o, char *why)
{
	const weft_net net = { .g = g };
	weft_tensor *out = calloc((size_t)g->n_outputs + 1, sizeof *out);
	weft_session *s;
	int err = out ? weft_graph_check(g, why) : -ENOMEM;

	if (!err)
		err = weft_session_open(&net, o, &s, why);
	if (!err) {
		err = weft_session_run(s, inputs, out, NULL, why);
		weft_session_close(s);
	}
	for (int i = 0; out && i < g->n_outputs; i++)
		weft_tensor_release(&out[i]);
	free(out);
	return err;
}

/*
 * Returns the part's inputs with golden's values, which stay golden's; the array is from calloc. NULL:
 * out of memory.
 */
static weft_tensor *inputs_of(const struct reducer *x, const struct cut *c)
{
	weft_tensor *in = calloc((size_t)c->n_in + 1, sizeof *in);

	for (int i = 0; in && i < c->n_in; i++)
		in[i] = x->golden[c->from[i]];  /* the data stay golden's */
	return in;
}

/*
 * Says whether the network of these n operators, with golden's values as inputs, fails in the way that
 * the whole did, with the same negative errno (x->r->status). Counts the run in x->r->runs. If it
 * cannot be built, or a run has no memory (unless that is how the whole network failed), x->err becomes
 * -ENOMEM; then, and whenever x->err is set, the result is false.
 */
static bool fails(struct reducer *x, const int *ops, int n)
{
	char why[WEFT_MSG_LEN] = "";
	struct cut c;
	int err = cut_out(x->g, ops, n, &c);
	weft_tensor *in = err ? NULL : inputs_of(x, &c);

	if (in)
		err = run(c.g, in, &x->o, why);
	if (!in || (err == -ENOMEM && x->r->status != -ENOMEM))
		x->err = -ENOMEM;              /* a run that had no memory says nothing of the part */
	x->r->runs++;
	free(in);
	cut_release(&c);
	return !x->err && err == x->r->status;
}

/* ---- ddmin ---- */

/* Makes the n operators in ops those that are left. */
static void keep(struct reducer *x, const int *ops, int n)
{
	memcpy(x->set, ops, (size_t)n * sizeof(int));
	x->n = n;
}

/*
 * Cuts the operators that are left into `parts` consecutive parts of about the same size and runs the
 * network of part i (from 0) or, if complement is set, that of all other parts together. If it fails as
 * the whole network does (fails(), which counts the run), its operators become those that are left, and
 * 1 is returned. Returns 0 if it does not fail so; if it has no operators, or all that are left, and so
 * is not run; or if it could not be built (x->err is set). some has room for all operators and is
 * overwritten.
 */
static int try_part(struct reducer *x, int *some, int parts, int i, bool complement)
{
	int first = (int)((int64_t)x->n * i / parts), last = (int)((int64_t)x->n * (i + 1) / parts), n = 0;

	for (int k = 0; k < x->n; k++)
		if ((k >= first && k < last) != complement)
			some[n++] = x->set[k];
	if (!n || n == x->n || !fails(x, some, n))
		return 0;
	keep(x, some, n);
	return 1;
}

/*
 * Makes x->set as small as delta debugging (ddmin) can: tries parts of the operators, and the rest
 * without each part, in ever more parts, until no single operator can go. Ends early if memory runs out
 * (x->err). some has room for all operators.
 */
static void minimise(struct reducer *x, int *some)
{
	for (int parts = 2; x->n > 1 && !x->err;) {
		int smaller = 0, next = 2;
		for (int i = 0; i < parts && !smaller; i++)
			smaller = try_part(x, some, parts, i, false);
		for (int i = 0; i < parts && !smaller && parts > 2; i++) {
			smaller = try_part(x, some, parts, i, true);
			next = parts > 3 ? parts - 1 : 2;
		}
		if (smaller)
			parts = next;
		else if (parts < x->n)
			parts = 2 * parts < x->n ? 2 * parts : x->n;
		else
			return;
	}
}

/* ---- all of it ---- */

/*
 * Hands the network of the operators that are left (x->r->net), their number and copies of its inputs
 * to the caller, who owns them from then on, and runs it once more for the message in x->r->why,
 * however that run ends; it is not counted. Returns 0; or -ENOMEM, also if that run had no memory, and
 * then the caller gets nothing.
 */
static int give(struct reducer *x)
{
	struct cut c;
	int err = cut_out(x->g, x->set, x->n, &c);
	weft_tensor *in = err ? NULL : inputs_of(x, &c);

	for (int i = 0; in && i < c.n_in; i++) {
		size_t n = weft_tensor_bytes(&in[i]);
		void *data = malloc(n + 1);
		if (data)
			memcpy(data, in[i].data, n);
		else
			err = -ENOMEM;
		in[i].data = data;
	}
	weft_net *net = calloc(1, sizeof *net);
	if (!in || !net || err) {
		for (int i = 0; in && i < c.n_in; i++)
			free(in[i].data);
		free(in);
		free(net);
		cut_release(&c);
		return -ENOMEM;
	}
	net->graph = c.g;
	net->g = c.g;
	x->r->ops = x->n;
	x->r->inputs = in;
	x->r->net = net;
	err = run(c.g, in, &x->o, x->r->why);
	c.g = NULL;
	cut_release(&c);
	if (err != -ENOMEM)
		return 0;
	weft_reduction_release(x->r);
	return err;
}

/*
 * Makes sure that the whole network fails on the device, with -EBADMSG, -EIO or -ETIMEDOUT, then looks
 * for the fewest operators that fail in the same way. Returns 0 with the result in x->r; -ENOENT if the
 * network does not fail, or the errno with which its run failed otherwise, both with one line in x->msg;
 * or -ENOMEM. Allocates x->set, which the caller frees in any case.
 */
static int reduce(struct reducer *x, const weft_tensor *inputs)
{
	int *some = malloc(((size_t)x->g->n_ops + 1) * sizeof(int));

	x->set = malloc(((size_t)x->g->n_ops + 1) * sizeof(int));
	if (!some || !x->set) {
		free(some);
		return -ENOMEM;
	}
	for (int i = 0; i < x->g->n_ops; i++)
		x->set[i] = i;
	x->n = x->r->ops_before = x->g->n_ops;
	x->r->status = run(x->g, inputs, &x->o, x->msg);
	x->r->runs = 1;
	if (x->r->status != -EBADMSG && x->r->status != -EIO && x->r->status != -ETIMEDOUT) {
		free(some);
		if (!x->r->status)
			snprintf(x->msg, WEFT_MSG_LEN, "the network does not fail: there is nothing to reduce");
		return x->r->status ? x->r->status : -ENOENT;
	}
	minimise(x, some);
	free(some);
	return x->err ? x->err : give(x);
}

/*
 * Looks for the fewest operators of a network that fail on a device as the whole network does; see
 * reduce.h. Golden runs the whole network first, for the values of tensors that become inputs. Options
 * o are used with check on and without keep, capture and progress. Returns 0 with the small network in
 * *r, which weft_reduction_release() frees; -ENOENT if the network does not fail; -ENOTSUP for control
 * flow and variables; -ENOMEM; or another negative errno if the network cannot be run; with one line in
 * msg. After a failure *r owns nothing, but has the numbers so far.
 */
int weft_reduce(const weft_net *net, const weft_tensor *inputs, const struct weft_session_options *o,
                struct weft_reduction *r, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	const weft_graph *g = net->g;
	weft_tensor *golden = calloc((size_t)g->n_tensors + 1, sizeof *golden);
	struct reducer x = { .g = g, .golden = golden, .o = *o, .r = r, .msg = msg };
	int err = golden ? 0 : -ENOMEM;

	memset(r, 0, sizeof *r);
	x.o.check = true;
	x.o.keep = false;
	x.o.capture = NULL;
	x.o.progress = NULL;
	if (!err && (g->n_subs || g->n_vars)) {
		snprintf(msg, WEFT_MSG_LEN, "networks with control flow or variables cannot be reduced");
		err = -ENOTSUP;
	}
	if (!err)
		err = weft_golden_exec(g, inputs, golden, true, msg);
	if (!err)
		err = reduce(&x, inputs);
	if (err == -ENOMEM)
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
	if (golden)
		weft_golden_release(g, golden);
	free(golden);
	free(x.set);
	return err;
}

/* Frees the network and the inputs of a reduction; it may be empty. */
void weft_reduction_release(struct weft_reduction *r)
{
	for (int i = 0; r->net && i < weft_net_n_inputs(r->net); i++)
		weft_tensor_release(&r->inputs[i]);
	free(r->inputs);
	weft_net_free(r->net);
	r->net = NULL;
	r->inputs = NULL;
}

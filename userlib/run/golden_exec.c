/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/clock.h"
#include "golden_exec.h"
#include "../../sim/golden/golden.h"

/* One run: what the graphs of a network share in it. */
struct run {
	struct weft_vars *vars;    /* the values of variables */
	int sub_runs;              /* how often a sub-graph was run so far */
	int depth;                 /* sub-graphs that are being run, one within the other */
	uint64_t until_ns;         /* when control flow that is being run has to end; 0: never */
	bool fast;                 /* use golden's fast implementations, which give the same bits */
	struct weft_spares *spares;  /* where memory of tensors that end goes, and comes from; NULL: free() and malloc() */
	bool borrow;               /* outside control flow, the tensors of inputs have the caller's data where it is aligned */
	char *msg;                 /* the caller's room of WEFT_MSG bytes */
};

static int run_graph(struct run *r, const weft_graph *g, const weft_tensor *inputs, weft_tensor *all);

/* ---- memory ---- */

/*
 * Returns a spare block of at least n bytes and at most twice as many, and takes it out: the one that came last, which the
 * processor's caches are most likely to have. NULL: there is none.
 */
static void *take_spare(struct weft_spares *s, size_t n)
{
	int i = s->n - 1;

	while (i >= 0 && (s->block[i].bytes < n || s->block[i].bytes > 2 * n))
		i--;
	if (i < 0)
		return NULL;
	void *data = s->block[i].data;
	memmove(&s->block[i], &s->block[i + 1], (size_t)(--s->n - i) * sizeof *s->block);
	return data;
}

/* Takes a block from malloc() as a spare one; if there are too many, frees it. Small ones malloc() finds quickly by itself. */
static void give_spare(struct weft_spares *s, void *data)
{
	const size_t bytes = malloc_usable_size(data);

	if (s->n < WEFT_SPARES && bytes >= 4096)
		s->block[s->n++] = (struct weft_spare){ data, bytes };
	else
		free(data);
}

void weft_spares_free(struct weft_spares *s)
{
	while (s->n)
		free(s->block[--s->n].data);
}

/*
 * Gives tensor number i, t, memory unless it has data. Returns 0, or -ENOMEM with one line in r->msg.
 */
static int allocate(const struct run *r, weft_tensor *t, int i)
{
	size_t n = weft_tensor_bytes(t);

	if (!t->data && r->spares)
		t->data = take_spare(r->spares, n);
	if (!t->data)
		t->data = malloc(n ? n : 1);
	if (t->data)
		return 0;
	snprintf(r->msg, WEFT_MSG, "tensor %d: out of memory for %zu bytes", i, n);
	return -ENOMEM;
}

/* ---- variables ---- */

int weft_vars_init(struct weft_vars *v, const weft_graph *g)
{
	*v = (struct weft_vars){ .n = g->n_vars };
	v->t = calloc((size_t)g->n_vars + 1, sizeof *v->t);
	v->written = calloc((size_t)g->n_vars + 1, sizeof *v->written);
	for (int i = 0; v->t && v->written && i < v->n; i++) {
		const weft_tensor *from = &g->vars[i].t;
		v->t[i] = *from;
		v->t[i].data = calloc(1, weft_tensor_bytes(from) + 1);
		if (!v->t[i].data)
			break;
		if (from->data)
			memcpy(v->t[i].data, from->data, weft_tensor_bytes(from));
		v->written[i] = from->data;
	}
	if (v->t && v->written && (!v->n || v->t[v->n - 1].data))
		return 0;
	weft_vars_release(v);
	return -ENOMEM;
}

/* Frees the values of all variables and clears *v. */
void weft_vars_release(struct weft_vars *v)
{
	for (int i = 0; v->t && i < v->n; i++)
		free(v->t[i].data);
	free(v->t);
	free(v->written);
	*v = (struct weft_vars){ 0 };
}

void weft_vars_copy(struct weft_vars *to, const struct weft_vars *from)
{
	for (int i = 0; i < from->n; i++) {
		memcpy(to->t[i].data, from->t[i].data, weft_tensor_bytes(&from->t[i]));
		to->written[i] = from->written[i];
	}
}

/*
 * Copies the value of variable id into y, which has memory. Returns 0, or -EINVAL with one line in
 * r->msg if the variable was never written.
 */
static int read_variable(struct run *r, int id, weft_tensor *y)
{
	if (!r->vars->written[id]) {
		snprintf(r->msg, WEFT_MSG, "VARIABLE_READ: variable %d has not been written", id);
		return -EINVAL;
	}
	memcpy(y->data, r->vars->t[id].data, weft_tensor_bytes(y));
	return 0;
}

/*
 * Writes x to variable id, marks it as written, and copies x into y, the operator's result. Returns 0.
 */
static int write_variable(struct run *r, int id, const weft_tensor *x, weft_tensor *y)
{
	memcpy(r->vars->t[id].data, x->data, weft_tensor_bytes(x));
	memcpy(y->data, x->data, weft_tensor_bytes(x));
	r->vars->written[id] = true;
	return 0;
}

/* ---- control flow ---- */

/*
 * Says whether control flow may go on at this operator. Returns 0, or with one line in r->msg
 * -ECANCELED if r->vars->stop says so, or -ETIMEDOUT if r->until_ns is set and has passed.
 */
static int may_go_on(const struct run *r)
{
	if (r->vars->stop && r->vars->stop(r->vars->user)) {
		snprintf(r->msg, WEFT_MSG, "the run was cancelled");
		return -ECANCELED;
	}
	if (r->until_ns && weft_now_ns() > r->until_ns) {
		snprintf(r->msg, WEFT_MSG, "control flow takes more than %u ms; it has run %d sub-graphs", r->vars->timeout_ms, r->sub_runs);
		return -ETIMEDOUT;
	}
	return 0;
}

/*
 * Runs sub-graph g on its operands x[] and, on success, copies its outputs into y[], which have memory
 * and may be the same tensors as x. Counts the run in r->sub_runs. Returns 0, or with one line in
 * r->msg -EINVAL if that makes more than WEFT_MAX_SUB_RUNS, -ENOMEM, or the negative errno of what
 * failed.
 */
static int run_sub(struct run *r, const weft_graph *g, const weft_tensor *const *x, weft_tensor *const *y)
{
	weft_tensor *all = calloc((size_t)g->n_tensors + 1, sizeof *all);
	weft_tensor *in = calloc((size_t)g->n_inputs + 1, sizeof *in);
	int err = all && in ? 0 : -ENOMEM;

	for (int i = 0; !err && i < g->n_inputs; i++)
		in[i] = *x[i];
	if (!err && ++r->sub_runs > WEFT_MAX_SUB_RUNS) {
		snprintf(r->msg, WEFT_MSG, "control flow: more than %d runs of sub-graphs", WEFT_MAX_SUB_RUNS);
		err = -EINVAL;
	} else if (!err) {
		r->depth++;
		err = run_graph(r, g, in, all);
		r->depth--;
		for (int i = 0; !err && i < g->n_outputs; i++)
			memcpy(y[i]->data, all[g->outputs[i]].data, weft_tensor_bytes(y[i]));
		weft_golden_release(g, all);
	} else {
		snprintf(r->msg, WEFT_MSG, "out of memory");
	}
	free(all);
	free(in);
	return err;
}

/*
 * Runs COND_IF: sub-graph 0 if the first operand is true, otherwise sub-graph 1, on the other operands,
 * into y. Returns as run_sub().
 */
static int cond_if(struct run *r, const struct weft_attr_flow *a, const weft_tensor *const *x, weft_tensor *const *y)
{
	return run_sub(r, a->graph[*(const uint8_t *)x[0]->data ? 0 : 1], x + 1, y);
}

/*
 * Runs WHILE_LOOP on n operands x: copies them into the n results y, and then, as long as sub-graph 0 of
 * a gives true for y, replaces y by what sub-graph 1 makes of it. Returns 0, or a negative errno of run_sub()
 * with one line in r->msg; a loop that does not end is -EINVAL once the whole run would
 * take more than WEFT_MAX_SUB_RUNS runs of sub-graphs, or -ETIMEDOUT.
 */
static int while_loop(struct run *r, const struct weft_attr_flow *a, const weft_tensor *const *x, int n, weft_tensor *const *y)
{
	const weft_tensor *now[WEFT_OP_MAX_OUTPUTS];
	uint8_t go = 0;
	weft_tensor cond = { .dtype = WEFT_BOOL, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 }, .data = &go }, *out = &cond;

	for (int i = 0; i < n; i++) {
		memcpy(y[i]->data, x[i]->data, weft_tensor_bytes(y[i]));
		now[i] = y[i];
	}
	for (;;) {
		int err = run_sub(r, a->graph[0], now, &out);
		if (err || !go)
			return err;
		if ((err = run_sub(r, a->graph[1], now, y)))
			return err;
	}
}

/* ---- graphs ---- */

/*
 * Says whether the tensor of input i is listed among the inputs before it, too. Then the first value
 * given for it counts.
 */
static bool was_input(const weft_graph *g, int i)
{
	for (int k = 0; k < i; k++)
		if (g->inputs[k] == g->inputs[i])
			return true;
	return false;
}

/* Says whether two tensors share a byte. */
static bool overlap(const weft_tensor *a, const weft_tensor *b)
{
	const uintptr_t from_a = (uintptr_t)a->data, from_b = (uintptr_t)b->data;

	return from_a < from_b + weft_tensor_bytes(b) && from_b < from_a + weft_tensor_bytes(a);
}

/* Says whether operators can use the tensor's memory as it is. */
static bool is_aligned(const weft_tensor *t)
{
	return t->data && (uintptr_t)t->data % weft_dtype_bytes(t->dtype) == 0;
}

/*
 * Says whether golden can make output i of the graph in the caller's memory `out`. It can if an operator makes the output, the
 * memory is aligned, and no input overlaps it.
 */
static bool may_lend(const weft_graph *g, int i, const weft_tensor *out, const weft_tensor *inputs)
{
	const weft_tensor *t = &g->tensors[g->outputs[i]].t;
	bool may = !t->data && is_aligned(out) && weft_tensor_bytes(out) == weft_tensor_bytes(t);

	for (int k = 0; may && k < g->n_inputs; k++)
		may = g->inputs[k] != g->outputs[i] && !overlap(&inputs[k], out);
	return may;
}

/*
 * Copies `from` into the tensor of input i in all[], which gets memory from malloc if it has none, or
 * has the data of `from` if the run borrows it. If
 * the same tensor is listed as an input before i, `from` is only checked. Returns 0, or with one line in msg
 * -EINVAL (no data, another type or number of elements than the graph's; the shape may differ) or
 * -ENOMEM.
 */
static int take_input(const struct run *r, const weft_graph *g, int i, const weft_tensor *from, weft_tensor *all)
{
	weft_tensor *t = &all[g->inputs[i]];

	if (from->dtype != t->dtype || weft_tensor_elements(from) != weft_tensor_elements(t) || !from->data) {
		snprintf(r->msg, WEFT_MSG, "input %d: %s with %lld elements, not %s with %lld", i, weft_dtype_name(from->dtype),
		         (long long)weft_tensor_elements(from), weft_dtype_name(t->dtype), (long long)weft_tensor_elements(t));
		return -EINVAL;
	}
	if (was_input(g, i))
		return 0;
	if (r->borrow && !r->depth && is_aligned(from)) {
		t->data = from->data;
		return 0;
	}
	int err = allocate(r, t, g->inputs[i]);
	if (!err)
		memcpy(t->data, from->data, weft_tensor_bytes(t));
	return err;
}

/*
 * Runs operator i of graph g on operands x into results y, which have memory: control flow and
 * variables here, everything else by golden's function. Inside control flow (r->depth above 0) it first
 * asks may_go_on(); outside, it sets r->until_ns anew from r->vars->timeout_ms. Returns 0 or a negative
 * errno with one line in r->msg.
 */
static int run_on(struct run *r, const weft_graph *g, int i, const weft_tensor *const *x, weft_tensor *const *y)
{
	const struct weft_gop *o = &g->ops[i];
	char line[WEFT_GOLDEN_MSG] = "";
	int bound = r->depth && r->vars ? may_go_on(r) : 0;

	if (bound)
		return bound;
	/* Loops within a loop have what is left of its time. */
	if (!r->depth)
		r->until_ns = r->vars && r->vars->timeout_ms ? weft_now_ns() + r->vars->timeout_ms * UINT64_C(1000000) : 0;
	switch (o->op) {
	case WEFT_OP_COND_IF: return cond_if(r, &o->attr.flow, x, y);
	case WEFT_OP_WHILE_LOOP: return while_loop(r, &o->attr.flow, x, o->n_in, y);
	case WEFT_OP_VARIABLE_READ: return read_variable(r, o->attr.variable.id, y[0]);
	case WEFT_OP_VARIABLE_WRITE: return write_variable(r, o->attr.variable.id, x[0], y[0]);
	default: break;
	}
	int err = weft_golden_run(o->op, &o->attr, x, o->n_in, y, o->n_out, r->fast, line);
	if (err)
		snprintf(r->msg, WEFT_MSG, "operator %d: %s", o->src >= 0 ? g->srcs[o->src].index : i, line);
	return err;
}

/*
 * Runs operator i of graph g on the tensors all[], whose operands have values; results without memory
 * get some from malloc. CONST does nothing, since its result has the graph's data. Returns 0 or a
 * negative errno with one line in r->msg.
 */
static int run_op(struct run *r, const weft_graph *g, int i, weft_tensor *all)
{
	const struct weft_gop *o = &g->ops[i];
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	weft_tensor *y[WEFT_OP_MAX_OUTPUTS];
	int err;

	if (o->op == WEFT_OP_CONST)
		return 0;
	for (int k = 0; k < o->n_in; k++)
		x[k] = &all[o->in[k]];
	for (int k = 0; k < o->n_out; k++) {
		y[k] = &all[o->out[k]];
		if ((err = allocate(r, y[k], o->out[k])))
			return err;
	}
	return run_on(r, g, i, x, y);
}

/*
 * Takes the values of all inputs of the graph into all[], one after the other (take_input()).
 * Returns 0, or -EINVAL or -ENOMEM of the first that fails with one line in r->msg.
 */
static int take_inputs(const struct run *r, const weft_graph *g, const weft_tensor *inputs, weft_tensor *all)
{
	int err = 0;

	for (int i = 0; !err && i < g->n_inputs; i++)
		err = take_input(r, g, i, &inputs[i], all);
	return err;
}

/*
 * Sets all[], one entry for each of the graph's tensors, to the graph's types, shapes and constants
 * without freeing what was there, takes the inputs, and runs all operators in order up to the first
 * failure. Memory that tensors get is freed by weft_golden_release(), also after a failure. Returns 0
 * or a negative errno with one line in r->msg.
 */
static int run_graph(struct run *r, const weft_graph *g, const weft_tensor *inputs, weft_tensor *all)
{
	for (int i = 0; i < g->n_tensors; i++)
		all[i] = g->tensors[i].t;
	int err = take_inputs(r, g, inputs, all);
	for (int i = 0; !err && i < g->n_ops; i++)
		err = run_op(r, g, i, all);
	return err;
}

int weft_golden_exec_vars(const weft_graph *g, struct weft_vars *vars, const weft_tensor *inputs, weft_tensor *all,
                          bool fast, char *msg)
{
	struct run r = { .vars = vars, .fast = fast, .msg = msg };

	return run_graph(&r, g, inputs, all);
}

void weft_golden_give_back(const weft_graph *g, const weft_tensor *inputs, const weft_tensor *outputs, weft_tensor *all)
{
	for (int i = 0; i < g->n_inputs; i++)
		if (all[g->inputs[i]].data == inputs[i].data)
			all[g->inputs[i]].data = NULL;
	for (int i = 0; i < g->n_outputs; i++)
		if (all[g->outputs[i]].data == outputs[i].data)
			all[g->outputs[i]].data = NULL;
}

/* ---- into memory that is there ---- */

#define KEPT INT_MAX           /* instead of an operator's number: the tensor stays */

/* How long a tensor has its memory. */
struct life {
	int last;              /* the last operator that reads or makes it (0 if none does), or KEPT */
	bool lent;             /* its memory belongs to a tensor that stays */
};

/*
 * Returns the lives of all tensors. Tensors that have data in all[] already stay. The array comes from calloc, and the caller
 * frees it. NULL: out of memory.
 */
static struct life *lives_of(const weft_graph *g, const weft_tensor *all)
{
	struct life *life = calloc((size_t)g->n_tensors + 1, sizeof *life);

	for (int i = 0; life && i < g->n_ops; i++) {
		const struct weft_gop *o = &g->ops[i];
		for (int k = 0; k < o->n_in; k++)
			life[o->in[k]].last = i;
		for (int k = 0; k < o->n_out; k++)
			life[o->out[k]].last = i;
	}
	for (int i = 0; life && i < g->n_tensors; i++)
		if (all[i].data)
			life[i].last = KEPT;
	return life;
}

/*
 * Does the work of operator i without a copy if it is a RESHAPE, whose result has the bytes of its operand. The result gets the
 * operand's memory if this is the operand's last use, and borrows it if that memory stays. Nothing is done if
 * the result has memory already or has to stay. Returns true if the result has its value; otherwise the operator must be run.
 */
static bool pass_on(const weft_graph *g, int i, weft_tensor *all, struct life *life)
{
	const struct weft_gop *o = &g->ops[i];

	if (o->op != WEFT_OP_RESHAPE || all[o->out[0]].data || life[o->out[0]].last == KEPT)
		return false;
	weft_tensor *x = &all[o->in[0]];
	const int last = life[o->in[0]].last;
	const bool lent = last == KEPT || life[o->in[0]].lent;
	if (!lent && last != i)
		return false;
	all[o->out[0]].data = x->data;
	life[o->out[0]].lent = lent;
	if (!lent)
		x->data = NULL;
	return true;
}

/* Takes the memory of tensor i away if operator i_op was its last use, and frees it unless it is lent. */
static void drop(const struct run *r, weft_tensor *all, const struct life *life, int i, int i_op)
{
	if (life[i].last != i_op || !all[i].data)
		return;
	if (!life[i].lent && r->spares)
		give_spare(r->spares, all[i].data);
	else if (!life[i].lent)
		free(all[i].data);
	all[i].data = NULL;
}

/* Frees the memory of all tensors that do not stay. */
static void drop_all(const struct run *r, const weft_graph *g, weft_tensor *all, const struct life *life)
{
	for (int i = 0; i < g->n_tensors; i++)
		if (life[i].last != KEPT)
			drop(r, all, life, i, life[i].last);
}

/*
 * Runs all operators in order up to the first failure, and frees tensors behind their last uses. done (NULL: none) is called with
 * user and the number of operators that have run. Returns 0 or a negative errno with one line in r->msg.
 */
static int run_and_drop(struct run *r, const weft_graph *g, weft_tensor *all, struct life *life, void (*done)(void *user, int n), void *user)
{
	int err = 0;

	for (int i = 0; !err && i < g->n_ops; i++) {
		const struct weft_gop *o = &g->ops[i];
		if (done)
			done(user, i);
		if (!pass_on(g, i, all, life))
			err = run_op(r, g, i, all);
		for (int k = 0; k < o->n_in; k++)
			drop(r, all, life, o->in[k], i);
		for (int k = 0; k < o->n_out; k++)
			drop(r, all, life, o->out[k], i);
	}
	if (!err && done)
		done(user, g->n_ops);
	return err;
}

int weft_golden_exec_into(const weft_graph *g, struct weft_vars *vars, const weft_tensor *inputs, weft_tensor *all,
                          void (*done)(void *user, int n), void *user, char *msg)
{
	struct run r = { .vars = vars, .fast = true, .msg = msg };
	struct life *life = lives_of(g, all);
	int err = life ? take_inputs(&r, g, inputs, all) : -ENOMEM;

	if (!life)
		snprintf(msg, WEFT_MSG, "out of memory");
	if (!err)
		err = run_and_drop(&r, g, all, life, done, user);
	if (life)
		drop_all(&r, g, all, life);
	free(life);
	return err;
}

int weft_golden_exec_borrow(const weft_graph *g, struct weft_vars *vars, const weft_tensor *inputs, const weft_tensor *outputs,
                            weft_tensor *all, struct weft_spares *spares, char *msg)
{
	struct run r = { .vars = vars, .fast = true, .spares = spares, .borrow = true, .msg = msg };
	struct life *life;

	for (int i = 0; i < g->n_tensors; i++)
		all[i] = g->tensors[i].t;
	int err = take_inputs(&r, g, inputs, all);
	for (int i = 0; !err && i < g->n_outputs; i++)
		if (may_lend(g, i, &outputs[i], inputs))
			all[g->outputs[i]].data = outputs[i].data;
	if (err)
		return err;
	if (!(life = lives_of(g, all))) {
		snprintf(msg, WEFT_MSG, "out of memory");
		return -ENOMEM;
	}
	for (int i = 0; i < g->n_outputs; i++)
		life[g->outputs[i]].last = KEPT;
	err = run_and_drop(&r, g, all, life, NULL, NULL);
	drop_all(&r, g, all, life);
	free(life);
	return err;
}

int weft_golden_exec(const weft_graph *g, const weft_tensor *inputs, weft_tensor *all, bool fast, char *msg)
{
	struct weft_vars vars;
	int err = weft_vars_init(&vars, g);

	if (err)
		snprintf(msg, WEFT_MSG, "out of memory");
	else
		err = weft_golden_exec_vars(g, &vars, inputs, all, fast, msg);
	weft_vars_release(&vars);
	return err;
}

int weft_golden_exec_op(const weft_graph *g, struct weft_vars *vars, int i, const weft_tensor *const *x,
                        weft_tensor *const *y, bool fast, char *msg)
{
	struct run r = { .vars = vars, .fast = fast, .msg = msg };

	return run_on(&r, g, i, x, y);
}

/*
 * Frees the data of all tensors that are no constants of g and sets all data pointers in all[] to NULL.
 * Constants belong to the graph and stay there.
 */
void weft_golden_release(const weft_graph *g, weft_tensor *all)
{
	for (int i = 0; i < g->n_tensors; i++) {
		if (!g->tensors[i].t.data)
			free(all[i].data);
		all[i].data = NULL;
	}
}

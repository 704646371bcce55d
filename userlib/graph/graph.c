/* SPDX-License-Identifier: Apache-2.0 */
/* Building and freeing graphs. Whether a graph is valid is checked in check.c. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/*
 * Makes room for element number n in *array, which has *cap elements of elem_bytes: if n is not below
 * *cap, reallocates it with twice as many (16 if there are none; once, whatever n is) and updates
 * *array and *cap. The new elements are not initialised. Returns 0, or -ENOMEM with both unchanged.
 */
static int grow(void **array, int n, int *cap, size_t elem_bytes)
{
	if (n < *cap)
		return 0;
	if (*cap > INT_MAX / 4)
		return -ENOMEM;
	int want = *cap ? *cap * 2 : 16;
	void *p = realloc(*array, (size_t)want * elem_bytes);
	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = want;
	return 0;
}

/*
 * Makes an empty graph with a copy of the name (NULL: ""). Returns NULL if there is no memory.
 * weft_graph_free() frees it.
 */
weft_graph *weft_graph_new(const char *name)
{
	weft_graph *g = calloc(1, sizeof *g);

	if (!g)
		return NULL;
	g->name = strdup(name ? name : "");
	if (!g->name) {
		free(g);
		return NULL;
	}
	return g;
}

/* Frees a graph with its tensors, constants, operators, variables and sub-graphs; NULL is fine. */
void weft_graph_free(weft_graph *g)
{
	if (!g)
		return;
	for (int i = 0; i < g->n_tensors; i++) {
		free(g->tensors[i].name);
		free(g->tensors[i].t.data);
	}
	for (int i = 0; i < g->n_ops; i++)
		free(g->ops[i].in);
	for (int i = 0; i < g->n_srcs; i++)
		free(g->srcs[i].name);
	for (int i = 0; i < g->n_subs; i++)
		weft_graph_free(g->subs[i]);
	for (int i = 0; i < g->n_vars; i++) {
		free(g->vars[i].name);
		free(g->vars[i].t.data);
	}
	free(g->subs);
	free(g->vars);
	free(g->tensors);
	free(g->ops);
	free(g->srcs);
	free(g->inputs);
	free(g->outputs);
	free(g->name);
	free(g);
}

/*
 * Adds a tensor of that type and shape (rank values in dim, which may be those of a tensor of g; further dimensions
 * become 1) with a copy of its name (NULL: ""). It is no input or output, has no data, no quantisation and no producer
 * yet. Nothing is checked. Returns its index, or -ENOMEM with the graph unchanged.
 */
int weft_graph_tensor(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim)
{
	struct weft_gtensor fresh = { .producer = -1, .t = { .dtype = t, .rank = rank } };

	/* Before the array grows, since that may free the dimensions given. */
	for (int i = 0; i < WEFT_MAX_RANK; i++)
		fresh.t.dim[i] = i < rank ? dim[i] : 1;
	void *array = g->tensors;
	int err = grow(&array, g->n_tensors, &g->cap_tensors, sizeof *g->tensors);

	g->tensors = array;
	if (err)
		return err;
	fresh.name = strdup(name ? name : "");
	if (!fresh.name)
		return -ENOMEM;
	g->tensors[g->n_tensors] = fresh;
	return g->n_tensors++;
}

/*
 * Adds a constant tensor of that type and shape (rank values in dim) with a copy of its name (NULL:
 * ""). data, its bytes from malloc, which are as many as the shape has, belong to the graph from now
 * on, or are freed if the call fails. Nothing is checked. Returns the tensor's index or -ENOMEM.
 */
int weft_graph_const(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim, void *data)
{
	int i = weft_graph_tensor(g, name, t, rank, dim);

	if (i < 0) {
		free(data);
		return i;
	}
	g->tensors[i].t.data = data;
	return i;
}

/*
 * Adds an entry for an operator of the source file, with its number there and a copy of its name (NULL:
 * ""); its output tensor is -1 and its note NULL, for the caller to set. Returns the entry's index or
 * -ENOMEM.
 */
int weft_graph_src(weft_graph *g, int index, const char *name)
{
	void *array = g->srcs;
	int err = grow(&array, g->n_srcs, &g->cap_srcs, sizeof *g->srcs);

	g->srcs = array;
	if (err)
		return err;
	char *own = strdup(name ? name : "");
	if (!own)
		return -ENOMEM;
	g->srcs[g->n_srcs] = (struct weft_gsrc){ .index = index, .name = own, .out = -1 };
	return g->n_srcs++;
}

/*
 * Returns the source entry of operator op of g, which g keeps; for op below 0, and for an operator without a source,
 * an entry with index -1, name "?" and output -1.
 */
const struct weft_gsrc *weft_graph_src_of(const weft_graph *g, int op)
{
	static char unknown[] = "?";
	static const struct weft_gsrc none = { .index = -1, .name = unknown, .out = -1 };

	return op >= 0 && g->ops[op].src >= 0 ? &g->srcs[g->ops[op].src] : &none;
}

/*
 * Adds a sub-graph for control flow behind those that are there. It belongs to g from now on, or is
 * freed if the call fails. Returns its index or -ENOMEM.
 */
int weft_graph_sub(weft_graph *g, weft_graph *sub)
{
	void *array = g->subs;
	int err = grow(&array, g->n_subs, &g->cap_subs, sizeof(weft_graph *));

	g->subs = array;
	if (err) {
		weft_graph_free(sub);
		return err;
	}
	g->subs[g->n_subs] = sub;
	return g->n_subs++;
}

/*
 * Adds a variable of that type and shape (rank values in dim) with a copy of its name, which is not
 * NULL. data, its first value from malloc or NULL (none until it is written), belongs to the graph from
 * now on, or is freed if the call fails. Returns the variable's index or -ENOMEM.
 */
int weft_graph_var(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim, void *data)
{
	void *array = g->vars;
	int err = grow(&array, g->n_vars, &g->cap_vars, sizeof *g->vars);

	g->vars = array;
	char *own = err ? NULL : strdup(name);
	if (!own) {
		free(data);
		return -ENOMEM;
	}
	struct weft_gvar *v = &g->vars[g->n_vars];
	*v = (struct weft_gvar){ .name = own, .t = { .dtype = t, .rank = rank, .data = data } };
	for (int i = 0; i < WEFT_MAX_RANK; i++)
		v->t.dim[i] = i < rank ? dim[i] : 1;
	return g->n_vars++;
}

/*
 * Appends an operator with copies of attr (NULL: zeros), in and out, and notes it as the producer of
 * those results that have none yet. src is its source entry's index or -1. Operands and results may be
 * any numbers: weft_graph_check() judges them. Returns the operator's index; -EINVAL if there are not
 * 0..WEFT_OP_MAX_INPUTS operands and 1..WEFT_OP_MAX_OUTPUTS results; or -ENOMEM.
 */
int weft_graph_op(weft_graph *g, weft_opcode op, const weft_attr *attr, int src,
                  const int *in, int n_in, const int *out, int n_out)
{
	void *array = g->ops;
	int err = grow(&array, g->n_ops, &g->cap_ops, sizeof *g->ops);

	g->ops = array;
	if (err)
		return err;
	if (n_in < 0 || n_in > WEFT_OP_MAX_INPUTS || n_out < 1 || n_out > WEFT_OP_MAX_OUTPUTS)
		return -EINVAL;
	int *own = malloc((size_t)(n_in + n_out) * sizeof *own);
	if (!own)
		return -ENOMEM;

	struct weft_gop *o = &g->ops[g->n_ops];
	memset(o, 0, sizeof *o);
	o->op = op;
	if (attr)
		o->attr = *attr;
	o->src = src;
	o->n_in = n_in;
	o->n_out = n_out;
	o->in = own;
	o->out = own + n_in;
	for (int i = 0; i < n_in; i++)
		own[i] = in[i];
	for (int i = 0; i < n_out; i++) {
		o->out[i] = out[i];
		/* A second producer is not recorded; weft_graph_check() then finds the mistake. */
		if (out[i] >= 0 && out[i] < g->n_tensors && g->tensors[out[i]].producer < 0)
			g->tensors[out[i]].producer = g->n_ops;
	}
	return g->n_ops++;
}

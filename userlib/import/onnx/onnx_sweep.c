/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no output needs is removed: operators whose results nothing reads, and
 * constants that only served to compute others. Inputs stay.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_lower.h"

/*
 * Sets live[i] for each tensor i: true if it is an input or an output of the graph, if an output
 * depends on it, or if its operator has another result that is live. Operators stand in order, so
 * one pass from the last to the first suffices.
 */
static void mark(const weft_graph *g, bool *live)
{
	for (int i = 0; i < g->n_tensors; i++)
		live[i] = g->tensors[i].is_input || g->tensors[i].is_output;
	for (int i = g->n_ops - 1; i >= 0; i--) {
		const struct weft_gop *o = &g->ops[i];
		bool used = false;

		for (int k = 0; k < o->n_out; k++)
			used = used || live[o->out[k]];
		for (int k = 0; used && k < o->n_in; k++)
			live[o->in[k]] = true;
		for (int k = 0; used && k < o->n_out; k++)
			live[o->out[k]] = true;
	}
}

static void renumber(int *list, int n, const int *to)
{
	for (int i = 0; i < n; i++)
		list[i] = to[list[i]];
}

/*
 * Removes the operators whose first result is not live, renumbers the tensors of the others (tensor i becomes
 * to[i]), and sets the producer of each of their results. Operators of which another result is live have a
 * live first one, too (mark()).
 */
static void sweep_ops(weft_graph *g, const bool *live, const int *to)
{
	int n = 0;

	for (int i = 0; i < g->n_ops; i++) {
		struct weft_gop o = g->ops[i];

		if (!live[o.out[0]]) {
			free(o.in);
			continue;
		}
		for (int k = 0; k < o.n_out; k++)
			g->tensors[to[o.out[k]]].producer = n;
		renumber(o.in, o.n_in, to);
		renumber(o.out, o.n_out, to);
		g->ops[n++] = o;
	}
	g->n_ops = n;
}

/*
 * Removes the records of nodes to which no operator refers, renumbers the others in the operators,
 * and sets each record's result to the first result of its last operator. `to` is scratch with room
 * for n_srcs numbers.
 */
static void sweep_srcs(weft_graph *g, int *to)
{
	int n = 0;

	for (int i = 0; i < g->n_srcs; i++)
		to[i] = -1;
	for (int i = 0; i < g->n_ops; i++)
		to[g->ops[i].src] = 0;
	for (int i = 0; i < g->n_srcs; i++) {
		if (to[i] < 0) {
			free(g->srcs[i].name);
			continue;
		}
		to[i] = n;
		g->srcs[n++] = g->srcs[i];
	}
	g->n_srcs = n;
	for (int i = 0; i < g->n_ops; i++) {
		g->ops[i].src = to[g->ops[i].src];
		g->srcs[g->ops[i].src].out = g->ops[i].out[0];
	}
}

/*
 * Removes from the graph all tensors that are no input and on which no output depends, their
 * operators, and records of nodes without operators, and frees what they own; what stays is
 * renumbered. Returns 0, or -EINVAL or -ENOMEM, with the graph unchanged, if the lists that it
 * needs exceed l->room or memory.
 */
int ox_sweep(struct ox *l)
{
	weft_graph *g = l->g;
	size_t most = (size_t)(g->n_tensors > g->n_srcs ? g->n_tensors : g->n_srcs) + 1;
	bool *live = ox_alloc(l, (int64_t)most, sizeof *live);
	int *to = live ? ox_alloc(l, (int64_t)most, sizeof *to) : NULL;
	int n = 0;

	if (!to) {
		free(live);
		return l->err;
	}
	mark(g, live);
	for (int i = 0; i < g->n_tensors; i++) {
		to[i] = live[i] ? n : -1;
		if (live[i]) {
			g->tensors[n++] = g->tensors[i];
			continue;
		}
		free(g->tensors[i].name);
		free(g->tensors[i].t.data);
	}
	g->n_tensors = n;
	renumber(g->inputs, g->n_inputs, to);
	renumber(g->outputs, g->n_outputs, to);
	sweep_ops(g, live, to);
	sweep_srcs(g, to);
	free(live);
	free(to);
	return 0;
}

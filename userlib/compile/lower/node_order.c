/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must run, and in which order: with as few changes between device and host as
 * the data allow, otherwise in the graph's own order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/ir.h"

/*
 * Set npu_reads and npu_writes of every root that nodes read or write. An alias (but CONCAT) of a root that
 * no node touches becomes the host's work: its result gets a storage of its own, and its state OP_TODO.
 */
static void drop_host_aliases(struct cc *cc)
{
	for (int i = 0; i < cc->n_nodes; i++) {
		const struct node *nd = &cc->nodes[i];
		cc->ten[nd->x.root].npu_reads = true;
		cc->ten[nd->y.root].npu_writes = true;
		if (nd->add)
			cc->ten[nd->r.root].npu_reads = true;
		if (nd->third)
			cc->ten[nd->z.root].npu_reads = true;
	}
	for (int i = 0; i < cc->g->n_ops; i++) {
		const struct weft_gop *o = &cc->g->ops[i];
		if (cc->ops[i].state != OP_ALIAS || o->op == WEFT_OP_CONCAT)
			continue;
		const struct cten *root = &cc->ten[cc->ten[o->out[0]].v.root];
		if (root->npu_reads || root->npu_writes)
			continue;
		int64_t dim[4];
		view_dims(&cc->g->tensors[o->out[0]].t, dim);
		cc->ten[o->out[0]].v = view_dense(o->out[0], dim, view_elem(&cc->ten[o->out[0]].v));
		cc->ops[i].state = OP_TODO;
	}
}

/*
 * Returns whether operator o may read or write variables of the graph. Control flow may use any of them in
 * its sub-graphs, if there are any variables.
 */
static bool uses_variables(const weft_graph *g, const struct weft_gop *o)
{
	return weft_moves_variable(o) || (g->n_vars && (o->op == WEFT_OP_COND_IF || o->op == WEFT_OP_WHILE_LOOP));
}

/* Set needed[t] for each tensor t of the graph that a node from number `from` on reads. */
void cc_need_operands(const struct cc *cc, int from, bool *needed)
{
	for (int i = from; i < cc->n_nodes; i++) {
		int in[3];

		node_reads(&cc->nodes[i], in);
		for (int k = 0; k < 3; k++)
			if (in[k] >= 0)
				needed[in[k]] = true;
	}
}

/* Returns whether needed[] is set for any result of operator o. */
bool cc_is_wanted(const struct weft_gop *o, const bool *needed)
{
	for (int k = 0; k < o->n_out; k++)
		if (needed[o->out[k]])
			return true;
	return false;
}

/*
 * Allocate an array with a flag for each tensor that somebody must find computed: outputs of the graph, first
 * results of operators that may write variables, what nodes read, and what operators in no node read if their
 * own results are needed. Returns the array, which the caller frees, or NULL if there is no memory.
 */
static bool *list_needed(const struct cc *cc)
{
	const weft_graph *g = cc->g;
	bool *needed = calloc((size_t)g->n_tensors + 1, 1);

	if (!needed)
		return NULL;
	for (int i = 0; i < g->n_outputs; i++)
		needed[g->outputs[i]] = true;
	for (int i = 0; i < g->n_ops; i++)
		if (uses_variables(g, &g->ops[i]) && g->ops[i].op != WEFT_OP_VARIABLE_READ)
			needed[g->ops[i].out[0]] = true;
	cc_need_operands(cc, 0, needed);
	for (int i = g->n_ops - 1; i >= 0; i--) {
		const struct weft_gop *o = &g->ops[i];

		if (cc_is_wanted(o, needed) && (cc->ops[i].state == OP_TODO || cc->ops[i].state == OP_ALIAS))
			for (int k = 0; k < o->n_in; k++)
				needed[o->in[k]] = true;
	}
	return needed;
}

/*
 * Let each operator that no stage has taken run on the host (OP_HOST) if its result is needed, else nowhere
 * (OP_NONE). Returns 0 or -ENOMEM.
 */
static int find_host_work(struct cc *cc)
{
	bool *needed = list_needed(cc);

	if (!needed)
		return -ENOMEM;
	for (int i = 0; i < cc->g->n_ops; i++)
		if (cc->ops[i].state == OP_TODO)
			cc->ops[i].state = cc_is_wanted(&cc->g->ops[i], needed) ? OP_HOST : OP_NONE;
	free(needed);
	return 0;
}

/* Dependences between vertices: these are nodes, then operators that are in no node. */
struct graph {
	int n;                 /* number of vertices */
	int *first, *to;       /* successors of vertex v: to[first[v]...first[v+1]) */
	int *missing;          /* for each vertex, how many predecessors are not done yet */
	int *key;              /* for each vertex the index of its operator, for the order among equals */
	int *earlier;          /* for each operator the one before it that uses the same variable, or -1 */
};

/*
 * Returns the vertex of operator op in the graph of dependences: its node's number if a node computes it,
 * else a number of its own behind all nodes. A CONCAT has its own, since several nodes copy its operands.
 */
static int vertex(const struct cc *cc, int op)
{
	const struct cop *c = &cc->ops[op];

	return c->state == OP_NODE && cc->g->ops[op].op != WEFT_OP_CONCAT ? c->node : cc->n_nodes + op;
}

/*
 * Call add(gr, a, b) for every dependence, which says that vertex a must be done before vertex b. A tensor's readers
 * depend on its producer, and each use of a variable depends on the use before it (gr->earlier). A node that copies an
 * operand of a CONCAT, or that has another node behind it (node.before), depends on the producers of what it reads;
 * and the CONCAT, or the node behind it, depends on that node. add() may be called more than once for the same
 * dependence. Its callers use each_edge() twice: count_edge() first, then fill_edge().
 */
static void each_edge(const struct cc *cc, struct graph *gr, void (*add)(struct graph *, int, int))
{
	const weft_graph *g = cc->g;

	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->ops[i].n_in; k++) {
			int p = g->tensors[g->ops[i].in[k]].producer;
			if (p >= 0 && vertex(cc, p) != vertex(cc, i))
				add(gr, vertex(cc, p), vertex(cc, i));
		}
	for (int i = 0; i < g->n_ops; i++)
		if (gr->earlier[i] >= 0)
			add(gr, vertex(cc, gr->earlier[i]), vertex(cc, i));
	for (int i = 0; i < cc->n_nodes; i++) {
		const struct node *nd = &cc->nodes[i];
		bool copy = g->ops[nd->op].op == WEFT_OP_CONCAT;
		if (!copy && !nd->before)
			continue;
		int in[3];
		node_reads(nd, in);
		for (int k = 0; k < 3; k++) {
			int p = in[k] < 0 ? -1 : g->tensors[in[k]].producer;
			if (p >= 0 && vertex(cc, p) != i)
				add(gr, vertex(cc, p), i);
		}
		add(gr, i, copy ? cc->n_nodes + nd->op : nd->before - 1);
	}
}

/* Count the edge from a to b: one more successor of a (in first[a + 1]), one more missing predecessor of b. */
static void count_edge(struct graph *gr, int a, int b)
{
	gr->first[a + 1]++;
	gr->missing[b]++;
}

/* Enter b in the list of a's successors and advance the list's position, first[a]. */
static void fill_edge(struct graph *gr, int a, int b)
{
	gr->to[gr->first[a]++] = b;
}

/*
 * Set gr->earlier[i] for each operator i that uses variables: the last operator before it that uses the
 * same variable, or in a graph with sub-graphs any variable; -1 if there is none, and for operators that
 * use no variables. Uses of variables thereby keep the graph's order. Returns 0 or -ENOMEM; gr->earlier is
 * the caller's to free in both cases.
 */
static int find_earlier(const struct cc *cc, struct graph *gr)
{
	const weft_graph *g = cc->g;
	int *last = malloc(((size_t)g->n_vars + 1) * sizeof *last);

	gr->earlier = malloc(((size_t)g->n_ops + 1) * sizeof *gr->earlier);
	if (!last || !gr->earlier) {
		free(last);
		return -ENOMEM;
	}
	for (int i = 0; i < g->n_vars; i++)
		last[i] = -1;
	for (int i = 0; i < g->n_ops; i++) {
		gr->earlier[i] = -1;
		if (!uses_variables(g, &g->ops[i]))
			continue;
		int *at = g->n_subs ? last : &last[g->ops[i].attr.variable.id];
		gr->earlier[i] = *at;
		*at = i;
	}
	free(last);
	return 0;
}

/*
 * Build the graph of dependences between nodes and operators in *gr, which is zeroed before: successors,
 * counts of missing predecessors, and keys, by which equals keep the order of the graph. Returns 0 or
 * -ENOMEM; the caller frees the arrays in any case.
 */
static int build(const struct cc *cc, struct graph *gr)
{
	int n = gr->n = cc->n_nodes + cc->g->n_ops;
	int err = find_earlier(cc, gr);

	if (err)
		return err;

	gr->first = calloc((size_t)n + 2, sizeof *gr->first);
	gr->missing = calloc((size_t)n + 1, sizeof *gr->missing);
	gr->key = calloc((size_t)n + 1, sizeof *gr->key);
	if (!gr->first || !gr->missing || !gr->key)
		return -ENOMEM;
	each_edge(cc, gr, count_edge);
	for (int i = 0; i < n; i++)
		gr->first[i + 1] += gr->first[i];
	gr->to = calloc((size_t)gr->first[n] + 1, sizeof *gr->to);
	if (!gr->to)
		return -ENOMEM;
	each_edge(cc, gr, fill_edge);
	memmove(gr->first + 1, gr->first, (size_t)n * sizeof *gr->first);
	gr->first[0] = 0;
	for (int i = 0; i < n; i++)
		gr->key[i] = i < cc->n_nodes ? cc->nodes[i].last : i - cc->n_nodes;
	return 0;
}

/* A binary heap of vertices, smallest key on top; nodes before operators of the same key. */
struct heap { int *v; int n; const int *key; };

/*
 * Returns whether vertex a comes before vertex b in the heap: it has the smaller key or, with equal keys, the
 * smaller number.
 */
static bool before(const struct heap *h, int a, int b)
{
	return h->key[a] != h->key[b] ? h->key[a] < h->key[b] : a < b;
}

/* Add vertex v to the heap, which has room for it. */
static void push(struct heap *h, int v)
{
	int i = h->n++;

	for (; i && before(h, v, h->v[(i - 1) / 2]); i = (i - 1) / 2)
		h->v[i] = h->v[(i - 1) / 2];
	h->v[i] = v;
}

/* Remove the vertex that comes before all others from the heap, which is not empty, and return it. */
static int pop(struct heap *h)
{
	int top = h->v[0], v = h->v[--h->n], i = 0;

	for (;;) {
		int k = 2 * i + 1;
		if (k >= h->n)
			break;
		if (k + 1 < h->n && before(h, h->v[k + 1], h->v[k]))
			k++;
		if (!before(h, h->v[k], v))
			break;
		h->v[i] = h->v[k];
		i = k;
	}
	h->v[i] = v;
	return top;
}

/* Returns where vertex v runs: 0 nowhere (it is an alias or constant), 1 on the device, 2 on the host. */
static int class_of(const struct cc *cc, int v)
{
	if (v < cc->n_nodes)
		return 1;
	return cc->ops[v - cc->n_nodes].state == OP_HOST ? 2 : 0;
}

/*
 * Returns the number of the heap in which vertex v waits until it is taken: that of its class, but 0 for VARIABLE_READ,
 * which is then taken before all else that is ready. Most reads of variables depend on nothing, as inputs of the network
 * do, and would otherwise interrupt the device.
 */
static int heap_of(const struct cc *cc, int v)
{
	return v >= cc->n_nodes && cc->g->ops[v - cc->n_nodes].op == WEFT_OP_VARIABLE_READ ? 0 : class_of(cc, v);
}

/*
 * Append all nodes and host operators to cc->items in an order in which each comes behind what it depends
 * on. What is ready in heap 0 (heap_of()) always comes first. Otherwise the order begins on the device, and
 * stays there, or on the host, as long as anything is ready there; of what is ready in the same heap the
 * first in the graph's order comes first. ready[] are three empty heaps with room for all vertices each;
 * gr->missing is used up.
 */
static void run_order(struct cc *cc, struct graph *gr, struct heap ready[3])
{
	int at = 1;

	for (int i = 0; i < gr->n; i++)
		if (!gr->missing[i])
			push(&ready[heap_of(cc, i)], i);
	while (ready[0].n || ready[1].n || ready[2].n) {
		int c = ready[0].n ? 0 : ready[at].n ? at : (at = 3 - at);
		int v = pop(&ready[c]);
		const int class = class_of(cc, v);
		if (class)
			cc->items[cc->n_items++] = (struct item){ class == 2, class == 2 ? v - cc->n_nodes : v, -1 };
		for (int e = gr->first[v]; e < gr->first[v + 1]; e++)
			if (!--gr->missing[gr->to[e]])
				push(&ready[heap_of(cc, gr->to[e])], gr->to[e]);
	}
}

/*
 * Returns 0 if run_order() came to all nodes. Otherwise operators that were put into one node depend on each other through
 * one that is in none: sets cc->bad_node and cc->bad_why for the first node that is left, and returns -ERANGE.
 */
static int all_ordered(struct cc *cc, const struct graph *gr)
{
	for (int i = 0; i < cc->n_nodes; i++)
		if (gr->missing[i]) {
			cc->bad_node = i;
			cc->bad_why = "it would have to wait for itself";
			return -ERANGE;
		}
	return 0;
}

/*
 * Allocate cc->items and put all nodes and host operators into it in the order in which they run. Returns 0,
 * -ENOMEM, or -ERANGE (all_ordered()).
 */
static int list_items(struct cc *cc)
{
	struct graph gr = { 0 };
	struct heap ready[3] = { 0 };
	int err = build(cc, &gr);

	for (int i = 0; i < 3 && !err; i++) {
		ready[i].v = calloc((size_t)gr.n + 1, sizeof(int));
		ready[i].key = gr.key;
		err = ready[i].v ? 0 : -ENOMEM;
	}
	cc->items = calloc((size_t)gr.n + 1, sizeof *cc->items);
	if (!cc->items)
		err = -ENOMEM;
	if (!err) {
		run_order(cc, &gr, ready);
		err = all_ordered(cc, &gr);
	}
	for (int i = 0; i < 3; i++)
		free(ready[i].v);
	free(gr.first);
	free(gr.to);
	free(gr.missing);
	free(gr.key);
	free(gr.earlier);
	return err;
}

/*
 * Note that an item reads storage `root`, or with `write` writes it. The item becomes the storage's last_item; with
 * `write` it also becomes its src_item if the storage has none yet. Items must come in their order.
 */
static void note_use(struct cc *cc, int root, int item, bool write)
{
	struct cten *t = &cc->ten[root];

	if (write && t->src_item < 0)
		t->src_item = item;
	t->last_item = item;
}

/*
 * Set src_item (first writer, -1: there from the start) and last_item (last user, -1: nobody) of every root,
 * and host_reads for those that a host operator or the caller reads. An output of the graph is used until
 * behind the last item.
 */
static void list_lifetimes(struct cc *cc)
{
	for (int i = 0; i < cc->n_roots; i++)
		cc->ten[i].src_item = cc->ten[i].last_item = -1;
	for (int i = 0; i < cc->n_items; i++) {
		if (!cc->items[i].host) {
			const struct node *nd = &cc->nodes[cc->items[i].index];
			note_use(cc, nd->x.root, i, false);
			if (nd->add)
				note_use(cc, nd->r.root, i, false);
			if (nd->third)
				note_use(cc, nd->z.root, i, false);
			note_use(cc, nd->y.root, i, true);
			continue;
		}
		const struct weft_gop *o = &cc->g->ops[cc->items[i].index];
		for (int k = 0; k < o->n_in; k++) {
			int root = cc->ten[o->in[k]].v.root;
			if (root < 0)
				continue;
			cc->ten[root].host_reads = true;
			note_use(cc, root, i, false);
		}
		for (int k = 0; k < o->n_out; k++)
			if (cc->ten[o->out[k]].v.root >= 0)
				note_use(cc, cc->ten[o->out[k]].v.root, i, true);
	}
	for (int i = 0; i < cc->g->n_outputs; i++) {
		int root = cc->ten[cc->g->outputs[i]].v.root;
		if (root < 0)
			continue;
		cc->ten[root].host_reads = true;
		cc->ten[root].last_item = cc->n_items;
	}
}

/*
 * Stage of lowering: decide which operators run on the host, put nodes and host operators into an order with
 * few changes between device and host (cc->items), and list the lifetimes of storages. Returns 0, -ENOMEM, or -ERANGE with
 * cc->bad_node and cc->bad_why: no order has this node.
 */
int cc_order_nodes(struct cc *cc)
{
	int err;

	drop_host_aliases(cc);
	if ((err = find_host_work(cc)) || (err = list_items(cc)))
		return err;
	list_lifetimes(cc);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If with a constant condition: the chosen branch's nodes are lowered in its
 * place, as if they stood in the graph itself. Names inside a branch are the
 * file's; a name that two branches share is refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_lower.h"

#define MAX_BRANCHES 64            /* branches that are parsed in one import */

static char none[] = "";

/*
 * Replaces pointers to names in graph g (operator types and domains of nodes, names of constants)
 * that equal `from` by `to`. After parsing, NULL is replaced by the empty string, and before
 * protobuf-c frees the graph, the empty string by NULL.
 */
static void settle(onnx_graph *g, char *from, char *to)
{
	for (size_t i = 0; i < g->n_node; i++) {
		onnx_node *n = g->node[i];
		n->op_type = n->op_type == from ? to : n->op_type;
		n->domain = n->domain == from ? to : n->domain;
	}
	for (size_t i = 0; i < g->n_initializer; i++)
		g->initializer[i]->name = g->initializer[i]->name == from ? to : g->initializer[i]->name;
}

/*
 * Parses attribute a, which holds a graph, and keeps the graph in l->branches until
 * ox_release_branches(). Returns the graph; or NULL after ox_fail(), with the errno in l->err:
 * -ENOTSUP if there are MAX_BRANCHES already; -EINVAL if the attribute is absent (a is NULL), holds no
 * graph, or cannot be parsed within the memory that the import may take; or -ENOMEM.
 */
static onnx_graph *parse(struct ox *l, const onnx_attribute *a)
{
	if (!a || !a->has_g || l->n_branches == MAX_BRANCHES) {
		ox_fail(l, l->n_branches == MAX_BRANCHES ? -ENOTSUP : -EINVAL, l->n_branches == MAX_BRANCHES ? "more than 64 branches" : "a branch is missing");
		return NULL;
	}
	onnx_graph **list = realloc(l->branches, sizeof *list * (size_t)(l->n_branches + 1));
	if (!list) {
		ox_fail(l, -ENOMEM, "out of memory");
		return NULL;
	}
	l->branches = list;
	onnx_graph *g = weft__onnx__graph__unpack(&l->f.allocator, a->g.len, a->g.data);
	if (!g) {
		ox_fail(l, l->f.no_memory ? -ENOMEM : -EINVAL, l->f.no_memory ? "out of memory" : "a branch is no graph, or too large");
		return NULL;
	}
	settle(g, NULL, none);
	l->branches[l->n_branches++] = g;
	return g;
}

/*
 * Makes room for n more values and their names. The table of values may move, so no pointer to a
 * value may be held over the call. Returns 0, -ENOMEM, or -EINVAL if the import may not take so
 * much memory.
 */
int ox_grow(struct ox *l, int n)
{
	const int cap = l->n_values + n;

	if (cap <= l->cap_values && (uint32_t)(2 * cap) <= l->n_hash)
		return 0;
	struct ox_value *values = realloc(l->values, sizeof *values * (size_t)cap);
	if (!values)
		return ox_fail(l, -ENOMEM, "out of memory");
	l->values = values;
	l->cap_values = cap;
	l->room -= (int64_t)sizeof *values * n;
	while (l->n_hash < (uint32_t)(2 * cap)) {
		l->n_hash *= 2;
		free(l->hash);
		l->hash = ox_alloc(l, l->n_hash, sizeof *l->hash);
		if (!l->hash) {
			l->n_hash = 0;
			return l->err;
		}
	}
	for (uint32_t i = 0; i < l->n_hash; i++)
		l->hash[i] = -1;
	return ox_rehash(l);
}

/*
 * Puts n nodes behind those of the file's graph, in a new array. At the first call the file's own
 * array is set aside in l->file_nodes, and its length in l->n_file_nodes, for
 * ox_release_branches() to put back; at later calls the array that the new one replaces is freed.
 * The nodes themselves stay the caller's. Returns 0, or -ENOMEM after ox_fail().
 */
static int append(struct ox *l, onnx_node *const *more, size_t n)
{
	onnx_graph *g = l->f.m->graph;
	onnx_node **node = calloc(g->n_node + n + 1, sizeof *node);

	if (!node)
		return ox_fail(l, -ENOMEM, "out of memory");
	memcpy(node, g->node, sizeof *node * g->n_node);
	memcpy(node + g->n_node, more, sizeof *node * n);
	if (l->file_nodes)
		free(g->node);
	else {
		l->file_nodes = g->node;
		l->n_file_nodes = (int)g->n_node;
	}
	g->node = node;
	g->n_node += n;
	return 0;
}

int ox_append_node(struct ox *l, onnx_node *n)
{
	int err = append(l, &n, 1);

	return err ? err : (int)l->f.m->graph->n_node - 1;
}

/*
 * Puts the file's own array of nodes back in its place if a longer one was made, and frees that one
 * and the graphs of If's branches.
 */
void ox_release_branches(struct ox *l)
{
	if (l->file_nodes) {
		free(l->f.m->graph->node);
		l->f.m->graph->node = l->file_nodes;
		l->f.m->graph->n_node = (size_t)l->n_file_nodes;
		l->file_nodes = NULL;
	}
	for (int i = 0; i < l->n_branches; i++) {
		settle(l->branches[i], none, NULL);
		weft__onnx__graph__free_unpacked(l->branches[i], &l->f.allocator);
	}
	free(l->branches);
	l->branches = NULL;
	l->n_branches = 0;
}

/*
 * Enters the constants of branch b as values with type, shape and the file's tensor that has their
 * data (init). Returns 0; or, after ox_fail(), -ENOTSUP if a constant's name has a value with a
 * type already or its own type is not supported, or -EINVAL if the constant is not valid.
 */
static int constants(struct ox *l, const onnx_graph *b)
{
	for (size_t i = 0; i < b->n_initializer; i++) {
		char why[160] = "";
		int v = ox_value_new(l, b->initializer[i]->name);

		if (v < 0)
			return v;
		if (l->values[v].t.dtype)
			return ox_fail(l, -ENOTSUP, "\"%.60s\" is a name of two graphs", b->initializer[i]->name);
		int err = onnx_tensor_shape(b->initializer[i], &l->values[v].t, why, sizeof why);
		if (err)
			return ox_fail(l, err, "constant \"%.60s\": %s", b->initializer[i]->name, why);
		l->values[v].init = b->initializer[i];
	}
	return 0;
}

/*
 * Enters the operands and results of branch b's nodes as values and notes how often each is read
 * and which node makes it; first is the index of b's first node. Outputs of b count as read twice
 * more, so that no lowering takes them for private. Returns 0, or -ENOTSUP if a result has a name
 * that already has a value.
 */
static int wires(struct ox *l, const onnx_graph *b, int first)
{
	for (size_t i = 0; i < b->n_node; i++) {
		const onnx_node *n = b->node[i];

		for (size_t k = 0; k < n->n_input; k++) {
			int v = *n->input[k] ? ox_value_new(l, n->input[k]) : -1;
			if (v >= 0)
				l->values[v].n_uses++;
		}
		for (size_t k = 0; k < n->n_output; k++) {
			int v = *n->output[k] ? ox_value_new(l, n->output[k]) : -1;
			if (v >= 0 && (l->values[v].maker >= 0 || l->values[v].t.dtype))
				return ox_fail(l, -ENOTSUP, "\"%.60s\" is a name of two graphs", n->output[k]);
			if (v >= 0)
				l->values[v].maker = first + (int)i;
		}
	}
	for (size_t i = 0; i < b->n_output; i++) {      /* what leaves the branch has another reader */
		int v = b->output[i]->name ? ox_value_find(l, b->output[i]->name) : -1;
		if (v >= 0)
			l->values[v].n_uses += 2;
	}
	return 0;
}

/*
 * Returns how many values branch b needs at most: one for each constant, one for each operand of a
 * node, and two for each result of a node, which may have a second value, without a name, that holds
 * integers. Names that are equal are counted each time. Returns -1 if the sum is 2^20 or more.
 */
static int count_names(const onnx_graph *b)
{
	size_t n = b->n_initializer;

	for (size_t i = 0; i < b->n_node; i++)
		n += b->node[i]->n_input + 2 * b->node[i]->n_output;
	return n < 1 << 20 ? (int)n : -1;
}

/*
 * Makes output k of branch b result k of the If node at hand, in the file's order of dimensions; a
 * deferred node that makes it is lowered. Returns 0, -EINVAL if the branch has no such output or
 * does not compute it, or another negative errno.
 */
static int hand_over(struct ox *l, const onnx_graph *b, size_t k)
{
	const char *name = k < b->n_output && b->output[k]->name ? b->output[k]->name : "";
	int v = ox_value_find(l, name);

	if (v < 0 || ox_settle(l, &l->values[v]) < 0 || !l->values[v].t.dtype)
		return ox_fail(l, -EINVAL, "a branch does not compute \"%.60s\"", name);
	int x = ox_get(l, &l->values[v], NULL);
	return x < 0 ? x : ox_result(l, (int)k, x, NULL, false);
}

/*
 * Lowers If with a constant condition, operand 0: the chosen branch's nodes join the graph's own
 * and are lowered or deferred, and the branch's outputs become the node's results. The table of
 * values may move. Returns 0, after which the If is the node at hand again, -ENOTSUP if the
 * condition is not constant, a name stands in two graphs, or the branch has sparse constants or
 * 2^20 names, -EINVAL if the condition is not one element or the branch is missing or broken, or
 * another negative errno.
 */
int ox_if(struct ox *l)
{
	const weft_tensor *cond = ox_const(l, 0);
	const int i_node = l->i_node;

	if (!cond || weft_tensor_elements(cond) != 1)
		return cond ? ox_fail(l, -EINVAL, "the condition is no scalar") : l->err;
	onnx_graph *b = parse(l, ox_attr(l, *(const uint8_t *)cond->data ? "then_branch" : "else_branch"));
	if (!b)
		return l->err;
	const int first = (int)l->f.m->graph->n_node, names = count_names(b);
	if (b->n_sparse_initializer || names < 0)
		return ox_fail(l, -ENOTSUP, "a branch with sparse constants or too many names");
	if (ox_grow(l, names + 8) || append(l, b->node, b->n_node) || constants(l, b) || wires(l, b, first))
		return l->err;
	for (size_t i = 0; i < b->n_node; i++) {
		int err = ox_lower_node(l, first + (int)i);
		if (err)
			return err;
	}
	l->n = l->f.m->graph->node[i_node];
	l->i_node = i_node;
	l->src = -1;
	for (size_t k = 0; k < l->n->n_output; k++)
		if (*l->n->output[k] && hand_over(l, b, k) < 0)
			return l->err;
	return 0;
}

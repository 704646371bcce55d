/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs that have to be constant. If a lowering needs the value of a tensor
 * that is computed, the inputs from which it is computed are noted, if the caller
 * gave their values; the import is then tried again with these as constants.
 */
#include <stdlib.h>
#include <string.h>

#include "onnx_lower.h"

/*
 * Returns the index in o.given, below 64, of the entry for the input with that name, or -1 if there
 * is none.
 */
static int given_index(const struct ox *l, const char *name)
{
	for (int i = 0; i < l->o.n_given && i < 64; i++)
		if (!strcmp(l->o.given[i].name, name))
			return i;
	return -1;
}

/*
 * Sets in l->wanted the bits of those entries of o.given from which value v is computed, because v
 * has to be constant. The walk from v back to the inputs visits each value once at most. Nothing is
 * noted if v has no name, no values were given, or memory for the walk runs out.
 */
void ox_want(struct ox *l, const struct ox_value *v)
{
	bool *seen = l->o.n_given ? calloc((size_t)l->n_values + 1, sizeof *seen) : NULL;
	int *stack = seen ? calloc((size_t)l->n_values + 1, sizeof *stack) : NULL, depth = 0;
	const int first = v->name && *v->name ? ox_value_find(l, v->name) : -1;

	if (stack && first >= 0) {
		seen[first] = true;
		stack[depth++] = first;
	}
	while (depth) {
		const struct ox_value *at = &l->values[stack[--depth]];
		const onnx_node *n = at->maker >= 0 ? l->f.m->graph->node[at->maker] : NULL;
		const int i = n ? -1 : given_index(l, at->name);

		l->wanted |= i >= 0 ? (uint64_t)1 << i : 0;
		for (size_t k = 0; n && k < n->n_input; k++) {
			const int from = *n->input[k] ? ox_value_find(l, n->input[k]) : -1;
			if (from < 0 || seen[from])
				continue;
			seen[from] = true;
			stack[depth++] = from;
		}
	}
	free(stack);
	free(seen);
}

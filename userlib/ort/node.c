/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of nodes through ONNX Runtime's functions; ep.h describes the functions here. */
#include <errno.h>
#include <stdlib.h>

#include "ep.h"

const char *name_of(const struct ort_api *api, const struct ort_value_info *v)
{
	const char *name;

	return v && ort_ok(api, api->value_name(v, &name)) ? name : "";
}

int node_read(const struct ort_api *api, const struct ort_node *ort, struct node *out)
{
	size_t implicit;

	*out = (struct node){ .ort = ort };
	if (!ort_ok(api, api->node_op(ort, &out->op)) || !ort_ok(api, api->node_domain(ort, &out->domain)) ||
	    !ort_ok(api, api->n_inputs(ort, &out->n_in)) || !ort_ok(api, api->n_outputs(ort, &out->n_out)) ||
	    !ort_ok(api, api->n_implicit(ort, &implicit)))
		return -EINVAL;
	out->n_read = out->n_in + implicit;
	out->in = calloc(out->n_read + 1, sizeof(out->in[0]));
	out->out = calloc(out->n_out + 1, sizeof(out->out[0]));
	if (!out->in || !out->out)
		return -ENOMEM;
	if (!ort_ok(api, api->inputs(ort, out->in, out->n_in)) || !ort_ok(api, api->implicit(ort, out->in + out->n_in, implicit)) ||
	    !ort_ok(api, api->outputs(ort, out->out, out->n_out)))
		return -EINVAL;
	return 0;
}

void node_free(struct node *n)
{
	free(n->in);
	free(n->out);
}

void nodes_free(struct node *nodes, size_t n)
{
	for (size_t i = 0; nodes && i < n; i++)
		node_free(&nodes[i]);
	free(nodes);
}

struct node *nodes_read(const struct ort_api *api, const struct ort_graph *graph, size_t *n)
{
	const struct ort_node **list = NULL;
	struct node *nodes = NULL;
	int err = -EINVAL;

	*n = 0;
	if (!ort_ok(api, api->n_nodes(graph, n)))
		return NULL;
	list = calloc(*n + 1, sizeof(*list));
	nodes = calloc(*n + 1, sizeof(*nodes));
	if (list && nodes && ort_ok(api, api->nodes(graph, list, *n)))
		err = 0;
	for (size_t i = 0; !err && i < *n; i++)
		err = node_read(api, list[i], &nodes[i]);
	free(list);
	if (!err)
		return nodes;
	nodes_free(nodes, *n);
	return NULL;
}

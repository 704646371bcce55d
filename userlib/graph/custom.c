/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of custom operators in a graph that comes from a file without them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "custom.h"
#include "sim/golden/golden.h"
#include "sim/golden/tfl/tfl_custom.h"

/*
 * Gives operator o of graph g, a TFL_CUSTOM, its functions of table t, and checks that they give its results
 * the shapes that the graph has. Returns 0; or with one line in msg -ENOTSUP if the table does not have the
 * operator, -EINVAL if a shape differs, or the errno of its functions.
 */
static int give(weft_graph *g, struct weft_gop *o, const struct weft_custom_table *t, char *msg)
{
	struct weft_attr_tfl_custom *a = &o->attr.tfl_custom;
	const char *name = g->tensors[o->in[WEFT_CUSTOM_NAME]].t.data;
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	weft_tensor y[WEFT_CUSTOM_MAX_OUT];
	char line[WEFT_GOLDEN_MSG];

	a->of = weft_custom_find(t, name);
	if (!a->of) {
		snprintf(msg, WEFT_MSG, "custom operator %.60s: " WEFT_CUSTOM_MISSING, name);
		return -ENOTSUP;
	}
	for (int k = 0; k < o->n_in; k++)
		x[k] = &g->tensors[o->in[k]].t;
	for (int k = 0; k < o->n_out; k++) {
		y[k] = g->tensors[o->out[k]].t;
		if (a->unsigned_out >> k & 1)
			y[k].dtype = WEFT_UINT8;
	}
	int err = weft_custom_shapes(a, x, o->n_in, y, o->n_out, line, sizeof line);
	for (int k = 0; !err && k < o->n_out; k++)
		if (memcmp(y[k].dim, g->tensors[o->out[k]].t.dim, sizeof y[k].dim)) {
			snprintf(line, sizeof line, "result %d has another shape than in the file", k);
			err = -EINVAL;
		}
	if (err)
		snprintf(msg, WEFT_MSG, "custom operator %.60s: %.150s", name, line);
	return err;
}

/*
 * Gives each TFL_CUSTOM operator of g, but none of g's sub-graphs, its functions of table t (give()). Returns
 * 0, or the first failure's negative errno with one line in msg.
 */
static int give_all(weft_graph *g, const struct weft_custom_table *t, char *msg)
{
	int err = 0;

	for (int i = 0; !err && i < g->n_ops; i++)
		if (g->ops[i].op == WEFT_OP_TFL_CUSTOM)
			err = give(g, &g->ops[i], t, msg);
	return err;
}

int weft_graph_give_customs(weft_graph *g, const struct weft_custom_table *t, char *msg)
{
	int err = give_all(g, t, msg);

	for (int i = 0; !err && i < g->n_subs; i++)
		err = give_all(g->subs[i], t, msg);
	return err;
}

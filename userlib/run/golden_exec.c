/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_exec.h"
#include "../../sim/golden/golden.h"

static int allocate(weft_tensor *t, int i, char *msg)
{
	size_t n = weft_tensor_bytes(t);

	t->data = malloc(n ? n : 1);
	if (t->data)
		return 0;
	snprintf(msg, WEFT_MSG, "tensor %d: out of memory for %zu bytes", i, n);
	return -ENOMEM;
}

static int copy_input(const weft_graph *g, int i, const weft_tensor *from, weft_tensor *all, char *msg)
{
	weft_tensor *t = &all[g->inputs[i]];

	if (from->dtype != t->dtype || weft_tensor_elements(from) != weft_tensor_elements(t) || !from->data) {
		snprintf(msg, WEFT_MSG, "input %d: %s with %lld elements, not %s with %lld", i, weft_dtype_name(from->dtype),
		         (long long)weft_tensor_elements(from), weft_dtype_name(t->dtype), (long long)weft_tensor_elements(t));
		return -EINVAL;
	}
	if (t->data)                 /* listed twice: the first one counts */
		return 0;
	int err = allocate(t, g->inputs[i], msg);
	if (!err)
		memcpy(t->data, from->data, weft_tensor_bytes(t));
	return err;
}

static int run_op(const weft_graph *g, int i, weft_tensor *all, bool fast, char *msg)
{
	const struct weft_gop *o = &g->ops[i];
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	weft_tensor *y[WEFT_OP_MAX_OUTPUTS];
	char line[WEFT_GOLDEN_MSG] = "";
	int err;

	if (o->op == WEFT_OP_CONST)
		return 0;
	for (int k = 0; k < o->n_in; k++)
		x[k] = &all[o->in[k]];
	for (int k = 0; k < o->n_out; k++) {
		y[k] = &all[o->out[k]];
		if ((err = allocate(y[k], o->out[k], msg)))
			return err;
	}
	err = weft_golden_run(o->op, &o->attr, x, o->n_in, y, o->n_out, fast, line);
	if (err)
		snprintf(msg, WEFT_MSG, "operator %d: %s", i, line);
	return err;
}

int weft_golden_exec(const weft_graph *g, const weft_tensor *inputs, weft_tensor *all, bool fast, char *msg)
{
	int err = 0;

	for (int i = 0; i < g->n_tensors; i++)
		all[i] = g->tensors[i].t;
	for (int i = 0; !err && i < g->n_inputs; i++)
		err = copy_input(g, i, &inputs[i], all, msg);
	for (int i = 0; !err && i < g->n_ops; i++)
		err = run_op(g, i, all, fast, msg);
	return err;
}

void weft_golden_release(const weft_graph *g, weft_tensor *all)
{
	for (int i = 0; i < g->n_tensors; i++) {
		if (!g->tensors[i].t.data)
			free(all[i].data);
		all[i].data = NULL;
	}
}

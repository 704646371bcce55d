/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the interpreter's graph before its first run, beyond what its tensors say: values that are the same in
 * every run, and shapes that the file leaves open.
 */
#include <errno.h>
#include <stdlib.h>

#include "delegate.h"

const struct rt_ints *dims_of(const struct graph *g, int tensor)
{
	return g->shapes[tensor] ? g->shapes[tensor] : g->rt->tensors[tensor].dims;
}

uint64_t elements(const struct rt_ints *dims)
{
	uint64_t n = 1;

	for (int i = 0; dims && i < dims->n; i++)
		n *= (uint64_t)(dims->v[i] > 0 ? dims->v[i] : 0);
	return n;
}

uint64_t extent(const struct rt_ints *dims, int i)
{
	int n = dims ? dims->n : 0;

	i = i < 0 ? n + i : i;
	return i >= 0 && i < n && dims->v[i] > 0 ? (uint64_t)dims->v[i] : 1;
}

bool is_fixed(const struct graph *g, int tensor)
{
	return g->fixed[tensor] || is_constant(&g->rt->tensors[tensor]);
}

/*
 * Says whether an operator gives the same in every run: it has operands, it is SHAPE or all of them are the same in every
 * run, and options_of() can state its options, which it cannot for those that draw numbers, run other graphs or name
 * variables.
 */
static bool gives_the_same(const struct graph *g, const struct op *op)
{
	const struct rt_ints *in = op->n.inputs;
	struct file_options o;

	if (options_of(op, &o))
		return false;
	for (int k = 0; k < in->n && op->code != RT_SHAPE; k++)
		if (in->v[k] >= 0 && !is_fixed(g, in->v[k]))
			return false;
	return in->n > 0;
}

/*
 * Returns which dimension of a tensor its file leaves open, or -1: it says nothing, leaves none open, or several (*several is
 * true then).
 */
static int open_dimension(const struct rt_tensor *t, bool *several)
{
	int at = -1;

	*several = false;
	for (int i = 0; t->signature && t->dims && t->signature->n == t->dims->n && i < t->dims->n; i++) {
		if (t->signature->v[i] >= 0)
			continue;
		*several |= at >= 0;
		at = i;
	}
	return *several ? -1 : at;
}

/* Returns how many numbers a row of a tensor has if a FULLY_CONNECTED reads it: the first one's weights say it. 0: none does. */
static uint64_t row_of_reader(const struct graph *g, int tensor)
{
	for (int i = 0; i < g->n; i++) {
		const struct rt_ints *in = g->ops[i].n.inputs;
		if (g->ops[i].code == RT_FULLY_CONNECTED && in->n > 1 && in->v[0] == tensor && in->v[1] >= 0)
			return extent(dims_of(g, in->v[1]), -1);
	}
	return 0;
}

/*
 * Notes that a tensor has n elements, 1 to 2^31 - 1, if its shape does not say so and the file leaves some of it open: the one
 * open dimension follows from the others, and of two dimensions that are both open the last one from row_of_reader().
 * Nothing is noted if that does not come out even, or if a shape was noted before. Returns 0 or -ENOMEM.
 */
static int has_elements(struct graph *g, int tensor, uint64_t n)
{
	const struct rt_tensor *t = &g->rt->tensors[tensor];
	uint64_t others = 1, last = 0;
	bool several;
	int at = open_dimension(t, &several);

	if (g->shapes[tensor] || !t->dims || !n || n > INT32_MAX || elements(t->dims) == n)
		return 0;
	if (several && t->dims->n == 2 && (last = row_of_reader(g, tensor)))
		at = 0;
	if (at < 0)
		return 0;
	for (int i = 0; i < t->dims->n; i++)
		others *= i == at ? 1 : last ? last : extent(t->dims, i);
	if (!others || n % others)
		return 0;
	struct rt_ints *d = malloc(sizeof(*d) + ((size_t)t->dims->n + 1) * sizeof(d->v[0]));
	if (!d)
		return -ENOMEM;
	d->n = t->dims->n;
	for (int i = 0; i < d->n; i++)
		d->v[i] = i == at ? (int)(n / others) : last ? (int)last : t->dims->v[i];
	g->shapes[tensor] = d;
	return 0;
}

/*
 * Notes the shape of an operator's result: RESHAPE has as many elements as its input, and FULLY_CONNECTED a row of the weights'
 * number of outputs for each row of its input. Returns 0 or -ENOMEM.
 */
static int infer_shape(struct graph *g, const struct op *op)
{
	const struct rt_ints *in = op->n.inputs, *out = op->n.outputs;

	if (in->n < 2 || in->v[0] < 0 || in->v[1] < 0 || out->n < 1 || out->v[0] < 0)
		return 0;
	const struct rt_ints *x = dims_of(g, in->v[0]), *w = dims_of(g, in->v[1]);
	if (op->code == RT_RESHAPE)
		return has_elements(g, out->v[0], elements(x));
	if (op->code == RT_FULLY_CONNECTED && elements(x) % extent(w, -1) == 0)
		return has_elements(g, out->v[0], elements(x) / extent(w, -1) * extent(w, 0));
	return 0;
}

int graph_infer(struct graph *g)
{
	int err = 0;

	g->fixed = calloc(g->rt->n_tensors + 1, sizeof(*g->fixed));
	g->shapes = calloc(g->rt->n_tensors + 1, sizeof(struct rt_ints *));
	if (!g->fixed || !g->shapes)
		return -ENOMEM;
	for (int i = 0; !err && i < g->n; i++) {
		const struct rt_ints *out = g->ops[i].n.outputs;
		const bool same = gives_the_same(g, &g->ops[i]);
		for (int k = 0; k < out->n; k++)
			if (out->v[k] >= 0)
				g->fixed[out->v[k]] = same;
		err = infer_shape(g, &g->ops[i]);
	}
	return err;
}

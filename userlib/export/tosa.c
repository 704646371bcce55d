/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a graph as a TOSA file: names its tensors, converts its blocks, and reads the bytes back as a check. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/import/tosa/tosa.h"
#include "tosa.h"
#include "tosa_out.h"

/* ---- names ---- */

/*
 * Sets used[i] for each tensor i that is an input or output of the graph or an operand or result of
 * an operator. Other entries stay as they are.
 */
static void mark_used(const weft_graph *g, bool *used)
{
	for (int i = 0; i < g->n_inputs; i++)
		used[g->inputs[i]] = true;
	for (int i = 0; i < g->n_outputs; i++)
		used[g->outputs[i]] = true;
	for (int i = 0; i < g->n_ops; i++) {
		for (int k = 0; k < g->ops[i].n_in; k++)
			used[g->ops[i].in[k]] = true;
		for (int k = 0; k < g->ops[i].n_out; k++)
			used[g->ops[i].out[k]] = true;
	}
}

/* A tensor's name, and the tensor's index. */
struct named { char *name; int i; };

/* Compares two struct named for qsort(): by name, then by index. */
static int by_name(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int c = strcmp(a->name, b->name);

	return c ? c : (a->i > b->i) - (a->i < b->i);
}

/*
 * Replaces *name, from malloc, by a copy with ~ and the number i appended. Returns 0, or -ENOMEM
 * with *name unchanged.
 */
static int rename_one(char **name, int i)
{
	size_t len = strlen(*name) + 16;
	char *longer = malloc(len);

	if (!longer)
		return -ENOMEM;
	snprintf(longer, len, "%s~%d", *name, i);
	free(*name);
	*name = longer;
	return 0;
}

/*
 * Makes the n names (NULL: none) differ: of equal names, all but the one with the lowest index are
 * replaced by a new string with ~ and their own index appended, again and again until none are
 * equal. Returns 0, or -ENOMEM with some names perhaps replaced already.
 */
static int make_unique(char **names, int n)
{
	struct named *s = malloc(((size_t)n + 1) * sizeof *s);
	bool *again = calloc((size_t)n + 1, sizeof *again);
	int err = s && again ? 0 : -ENOMEM, changed = 1;

	while (!err && changed) {
		int m = 0;
		for (int i = 0; i < n; i++)
			if (names[i])
				s[m++] = (struct named){ names[i], i };
		qsort(s, (size_t)m, sizeof *s, by_name);
		for (int k = 1; k < m; k++)
			again[s[k].i] = !strcmp(s[k].name, s[k - 1].name);
		changed = 0;
		for (int i = 0; i < n && !err; i++) {
			if (again[i])
				err = rename_one(&names[i], i);
			changed += again[i];
			again[i] = false;
		}
	}
	free(s);
	free(again);
	return err;
}

/*
 * Sets x->names to a new array with a string for each tensor i of x->g that is an input, an output,
 * an operand or a result, else NULL: the tensor's name, or "tensor.<i>" if that is empty, made
 * unique by ~ and the index. Sets x->clash if one of them begins with "weft.", as names that the
 * exporter makes up do. Returns 0 or -ENOMEM; in either case the caller frees the strings and the
 * array, which may be NULL.
 */
static int name_tensors(struct xout *x)
{
	const weft_graph *g = x->g;
	bool *used = calloc((size_t)g->n_tensors + 1, sizeof *used);
	char own[32];

	x->names = calloc((size_t)g->n_tensors + 1, sizeof *x->names);
	if (!used || !x->names) {
		free(used);
		return -ENOMEM;
	}
	mark_used(g, used);
	int err = 0;
	for (int i = 0; i < g->n_tensors && !err; i++) {
		if (!used[i])
			continue;
		snprintf(own, sizeof own, "tensor.%d", i);
		x->names[i] = strdup(*g->tensors[i].name ? g->tensors[i].name : own);
		if (!x->names[i])
			err = -ENOMEM;
		else if (!strncmp(x->names[i], "weft.", 5))
			x->clash = true;
	}
	free(used);
	return err ? err : make_unique(x->names, g->n_tensors);
}

/* ---- blocks ---- */

/*
 * Says whether tensor t becomes a shape of the file: int64, of rank 1 and at most 16 elements, and
 * a constant or an input. Shapes are the only int64 that a graph from TOSA has.
 */
static bool is_shape(const struct weft_gtensor *t)
{
	return t->t.dtype == WEFT_INT64 && t->t.rank == 1 && (t->t.data || t->is_input) && t->t.dim[0] <= 2 * WEFT_MAX_RANK;
}

static bool written_here(const weft_graph *g, int i)
{
	return g->tensors[i].producer >= 0 && g->ops[g->tensors[i].producer].op == WEFT_OP_VARIABLE_WRITE;
}

/*
 * Adds each tensor of the graph at hand that has a name in x->names to the block. One that
 * is_shape() takes becomes a shape, with CONST_SHAPE if it is constant; any other becomes a tensor,
 * with CONST if it is constant. The result of a VARIABLE_WRITE is left out: it has no tensor in the
 * file. Returns 0, -ENOTSUP with a line in msg if TOSA lacks a tensor's type, or -ENOMEM.
 */
static int add_tensors(struct xout *x)
{
	const weft_graph *g = x->g;
	int err = 0;

	for (int i = 0; i < g->n_tensors && !err; i++) {
		const struct weft_gtensor *t = &g->tensors[i];
		if (!x->names[i] || written_here(g, i))
			continue;
		if (is_shape(t) && !t->t.data)
			err = x_shape(x, x->names[i], NULL, (int)t->t.dim[0]);
		else if (is_shape(t))
			err = x_const_shape(x, x->names[i], t->t.data, (int)t->t.dim[0]);
		else if (!x_file_type(t->t.dtype))
			return x_fail(x, -ENOTSUP, "tensor \"%.60s\": TOSA has no %s", t->name, weft_dtype_name(t->t.dtype));
		else
			err = t->t.data ? x_const(x, x->names[i], &t->t) : x_tensor(x, x->names[i], &t->t, false);
	}
	return err;
}

/*
 * Lists the names of the inputs and outputs of the graph at hand in its block. Returns 0 or
 * -ENOMEM.
 */
static int add_ports(struct xout *x)
{
	struct xop ports = { 0 };
	int err = 0;

	for (int i = 0; i < x->g->n_inputs && !err; i++)
		err = x_in(&ports, x->names[x->g->inputs[i]]);
	for (int i = 0; i < x->g->n_outputs && !err; i++)
		err = x_out(&ports, x->names[x->g->outputs[i]]);
	x->b->in = ports.in;
	x->b->n_in = ports.n_in;
	x->b->out = ports.out;
	x->b->n_out = ports.n_out;
	return err;
}

/*
 * Turns graph g into block b: variables (only if g is the outermost graph), tensors, ports, then
 * all operators but CONST. Sets x->g, x->b and x->clash for it; the names of tensors exist only
 * during the call. Returns 0, or with one line in x->msg -ENOTSUP if TOSA cannot express g, or
 * -ENOMEM.
 */
static int convert_graph(struct xout *x, const weft_graph *g, struct xblock *b)
{
	x->g = g;
	x->b = b;
	x->i_op = -1;
	x->clash = false;
	int err = name_tensors(x);

	if (!err && g == x->outer)
		err = x_variables(x);
	if (!err)
		err = add_tensors(x);
	if (!err)
		err = add_ports(x);
	for (x->i_op = 0; !err && x->i_op < g->n_ops; x->i_op++)
		if (g->ops[x->i_op].op != WEFT_OP_CONST)
			err = x_convert_op(x);
	for (int i = 0; x->names && i < g->n_tensors; i++)
		free(x->names[i]);
	free(x->names);
	x->names = NULL;
	if (err == -ENOMEM)
		snprintf(x->msg, WEFT_MSG, "out of memory");
	return err;
}

/*
 * Allocates x->blocks and turns x->outer into block "main" and its sub-graph i into block "sub<i>".
 * Returns 0, or with one line in x->msg -ENOTSUP if TOSA cannot express one of them, or -ENOMEM.
 * The caller frees the blocks with x_release() in either case.
 */
int x_convert(struct xout *x)
{
	char name[32] = "main";

	x->n_blocks = 1 + x->outer->n_subs;
	x->blocks = calloc((size_t)x->n_blocks, sizeof *x->blocks);
	for (int i = 0; x->blocks && i < x->n_blocks; i++) {
		if (i)
			snprintf(name, sizeof name, "sub%d", i - 1);
		x->blocks[i].name = strdup(name);
		if (!x->blocks[i].name)
			return snprintf(x->msg, WEFT_MSG, "out of memory"), -ENOMEM;
	}
	if (!x->blocks)
		return snprintf(x->msg, WEFT_MSG, "out of memory"), -ENOMEM;
	int err = convert_graph(x, x->outer, &x->blocks[0]);
	for (int i = 0; i < x->outer->n_subs && !err; i++)
		err = convert_graph(x, x->outer->subs[i], &x->blocks[1 + i]);
	return err;
}

/*
 * Imports the file in w, which has just been written, as the strictest check there is, and drops
 * the result. Returns 0 if the importer accepts it, -ENOMEM if memory ran out, else -ENOTSUP; after
 * a failure msg says that TOSA cannot express it, with the importer's reason.
 */
static int read_back(const struct fbw *w, char *msg)
{
	char why[WEFT_MSG];
	weft_graph *g;
	int err = weft_import_tosa(w->p, w->n, "", &g, why);

	if (err)
		snprintf(msg, WEFT_MSG, "TOSA cannot express it: %.220s", why);
	else
		weft_graph_free(g);
	return err == -ENOMEM ? err : err ? -ENOTSUP : 0;
}

/*
 * Writes graph g as a TOSA file to *out, *len bytes from malloc, and sets *n_custom to the number
 * of operators written as CUSTOM; these three are set only on success. custom (WEFT_MSG bytes)
 * receives the names of such operators, each once, separated by commas, or "". With strict such an
 * operator is refused. The bytes are imported once as a check. Returns 0, or with one line in msg
 * -ENOTSUP if TOSA cannot express the graph, the importer refuses the bytes, or strict forbids an
 * operator, or -ENOMEM if memory runs out or the file would exceed 2^31 bytes.
 */
int weft_export_tosa(const weft_graph *g, bool strict, uint8_t **out, size_t *len, int *n_custom, char *custom, char *msg)
{
	struct xout x = { .outer = g, .strict = strict, .custom = custom, .msg = msg, .i_op = -1 };
	struct fbw w = { 0 };

	custom[0] = '\0';
	int err = x_convert(&x);
	if (!err && x_write(&x, &w)) {
		snprintf(msg, WEFT_MSG, "out of memory, or a file above 2 GB");
		err = -ENOMEM;
	}
	if (!err)
		err = read_back(&w, msg);
	x_release(&x);
	if (err) {
		free(w.p);
		return err;
	}
	*out = w.p;
	*len = w.n;
	*n_custom = x.n_custom;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables: what streaming networks keep from one run to the next. VAR_HANDLE
 * names one, READ_VARIABLE and ASSIGN_VARIABLE move its value; CALL_ONCE runs a
 * subgraph before the first run that assigns constants.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_lower.h"

#define MAX_NAME 200               /* bytes of a variable's name, and of its container's */

/*
 * Writes "container/name", or "name" without a container, of the variable for which VAR_HANDLE
 * operator o of model m stands to name; characters that are not printable become '?'. Returns 0, or
 * -EINVAL if a part has more than MAX_NAME bytes or is broken.
 */
static int handle_name(struct tfl_lower *l, const struct tfl_model *m, const struct tfl_op *o, char name[2 * MAX_NAME + 2])
{
	struct fb b = m->b;
	struct fb_vec part[2] = { { 0 } };
	size_t n = 0;
	int err = 0;

	b.what = "VAR_HANDLE";
	b.index = -1;
	if (o->has_options && o->options_type == OPTIONS_VAR_HANDLE)
		for (int k = 0; k < 2 && err >= 0; k++)
			err = fb_vector(&b, &o->options, k ? VAR_HANDLE_NAME : VAR_HANDLE_CONTAINER, 1, &part[k]);
	if (err < 0)
		return err;
	for (int k = 0; k < 2; k++) {
		if (part[k].n > MAX_NAME)
			return tfl_fail(l, -EINVAL, "a variable's name of %u bytes", (unsigned)part[k].n);
		for (uint32_t i = 0; i < part[k].n; i++) {
			char c = (char)b.p[part[k].at + i];
			name[n++] = c >= ' ' && c <= '~' ? c : '?';
		}
		if (!k && part[k].n)
			name[n++] = '/';
	}
	name[n] = 0;
	return 0;
}

/* Returns the index of the graph's variable with that name, or -1 if there is none. */
static int find(const struct tfl_lower *l, const char *name)
{
	for (int i = 0; i < l->g->n_vars; i++)
		if (!strcmp(l->g->vars[i].name, name))
			return i;
	return -1;
}

/*
 * Adds a variable with type and shape of *t to the graph. data is its initial value, which is taken
 * over and freed after a failure, or NULL: none until one is assigned. Returns its index, -EINVAL
 * if that takes more memory than a file may, or -ENOMEM.
 */
static int declare(struct tfl_lower *l, const char *name, const weft_tensor *t, void *data)
{
	l->room -= 3 * (int64_t)sizeof(struct weft_gvar) + 2 * MAX_NAME;
	l->activations -= (int64_t)weft_tensor_bytes(t);
	if (l->room < 0 || l->activations < 0) {
		free(data);
		return tfl_fail(l, -EINVAL, "variables take more memory than allowed");
	}
	int i = weft_graph_var(l->g, name, t->dtype, t->rank, t->dim, data);
	return i < 0 ? tfl_fail(l, -ENOMEM, "out of memory") : i;
}

/* ---- the subgraph of CALL_ONCE ---- */

/*
 * Returns the VAR_HANDLE operator of model m whose result is that file tensor, or NULL if there is
 * none.
 */
static const struct tfl_op *maker(const struct tfl_model *m, int tensor)
{
	for (int i = 0; i < m->n_ops; i++)
		if (m->ops[i].code == TFL_VAR_HANDLE && m->ops[i].out.n == 1 && fb_i32_at(&m->b, &m->ops[i].out, 0) == tensor)
			return &m->ops[i];
	return NULL;
}

/*
 * Returns a copy, which the caller frees, of the elements of constant file tensor i of subgraph m
 * in the graph's layout, and sets *t to its type and shape. Returns NULL after a failure, with
 * l->err set, also if it is not constant.
 */
static void *constant(struct tfl_lower *l, const struct tfl_model *m, int i, weft_tensor *t)
{
	struct tfl_lower other = *l;
	void *data = NULL;

	other.m = m;
	other.raw = other.seen = NULL;
	if (i < 0 || i >= m->n_tensors || !m->tensors[i].data)
		l->err = tfl_fail(l, -ENOTSUP, "assigns something that is not constant");
	else if (!(l->err = tfl_shape(&other, i, t)))
		data = tfl_copy_const(&other, i, t);
	if (!data && !l->err)
		l->err = other.err;
	l->room = other.room;
	return data;
}

/*
 * Adds the variable that ASSIGN_VARIABLE operator o of subgraph m sets, with its constant initial
 * value. Returns 0, -ENOTSUP if o assigns no variable, something that is not constant, or one that
 * exists already, or another negative errno.
 */
static int assign_once(struct tfl_lower *l, const struct tfl_model *m, const struct tfl_op *o)
{
	char name[2 * MAX_NAME + 2];
	const struct tfl_op *handle = o->in.n == 2 ? maker(m, fb_i32_at(&m->b, &o->in, 0)) : NULL;
	weft_tensor t;

	if (!handle)
		return tfl_fail(l, -ENOTSUP, "assigns no variable");
	int err = handle_name(l, m, handle, name);
	if (err)
		return err;
	if (find(l, name) >= 0)
		return tfl_fail(l, -ENOTSUP, "assigns a variable twice");
	void *data = constant(l, m, fb_i32_at(&m->b, &o->in, 1), &t);
	int i = data ? declare(l, name, &t, data) : l->err;
	return i < 0 ? i : 0;
}

/*
 * Adds the variables that the subgraph which the CALL_ONCE at hand names assigns, with their initial
 * values, and counts the operator in l->n_called. Returns 0; -ENOTSUP if that subgraph has other
 * operators than VAR_HANDLE and ASSIGN_VARIABLE or there is a second CALL_ONCE; -EINVAL if it names the
 * first subgraph or one that is not there; or another negative errno.
 */
static int call_once(struct tfl_lower *l)
{
	struct tfl_model m;
	int index, err = tfl_option(l, OPTIONS_CALL_ONCE, CALL_ONCE_SUBGRAPH, 4, 0, &index);

	if (err)
		return err;
	if (l->n_called++)
		return tfl_fail(l, -ENOTSUP, "more than one of them");
	if (index < 1)
		return tfl_fail(l, -EINVAL, "subgraph %d", index);
	if ((err = tfl_read_subgraph(&m, l->m, (uint32_t)index)))
		return err;
	for (int i = 0; !err && i < m.n_ops; i++) {
		if (m.ops[i].code == TFL_ASSIGN_VARIABLE)
			err = assign_once(l, &m, &m.ops[i]);
		else if (m.ops[i].code != TFL_VAR_HANDLE)
			err = tfl_fail(l, -ENOTSUP, "subgraph %d has other operators than VAR_HANDLE and ASSIGN_VARIABLE", index);
	}
	tfl_release(&m);
	return err;
}

/* ---- the network's own operators ---- */

/*
 * Returns the index of the variable whose handle is operand 0 of the operator at hand; it is added
 * with type and shape of *t and no value if it does not exist. Returns -ENOTSUP if operand 0 is no
 * handle, or another negative errno.
 */
static int variable(struct tfl_lower *l, const weft_tensor *t)
{
	char name[2 * MAX_NAME + 2];
	const struct tfl_op *handle = tfl_has(l, 0) ? maker(l->m, fb_i32_at(&l->m->b, &l->op->in, 0)) : NULL;

	if (!handle)
		return tfl_fail(l, -ENOTSUP, "operand 0 is no variable");
	int err = handle_name(l, l->m, handle, name);
	if (err)
		return err;
	int i = find(l, name);
	return i >= 0 ? i : declare(l, name, t, NULL);
}

int tfl_lower_read_variable(struct tfl_lower *l)
{
	int id = variable(l, &l->y);
	weft_attr a = { .variable = { id } };

	return id < 0 ? id : tfl_step(l, WEFT_OP_VARIABLE_READ, &a, NULL, 0, l->y.dtype, l->y.rank, l->y.dim, true);
}

/*
 * Lowers the ASSIGN_VARIABLE at hand of operand 1 to the variable in operand 0. The graph's
 * operator gives what it wrote as a result, an internal tensor, which the file does not have.
 * Returns 0 or a negative errno.
 */
static int assign(struct tfl_lower *l)
{
	int x = tfl_value(l, 1);

	if (x < 0)
		return x;
	l->i_y = fb_i32_at(&l->m->b, &l->op->in, 1);    /* lends its name */
	weft_tensor t = l->g->tensors[x].t;
	t.data = NULL;
	int id = variable(l, &t);
	weft_attr a = { .variable = { id } };
	int y = id < 0 ? id : tfl_step(l, WEFT_OP_VARIABLE_WRITE, &a, &x, 1, t.dtype, t.rank, t.dim, false);
	return y < 0 ? y : 0;
}

/*
 * Does all that VAR_HANDLE, CALL_ONCE and ASSIGN_VARIABLE, which give no values, need; name is the
 * operator's for the graph's record of it. Returns 1 if that is done, 0 for other operators,
 * -EINVAL if ASSIGN_VARIABLE has other operands or results, or another negative errno.
 */
int tfl_variable_op(struct tfl_lower *l, const char *name)
{
	int err;

	switch (l->op->code) {
	case TFL_VAR_HANDLE: return 1;
	case TFL_CALL_ONCE: err = call_once(l); return err ? err : 1;
	case TFL_ASSIGN_VARIABLE: break;
	default: return 0;
	}
	if (l->op->in.n != 2 || l->op->out.n)
		return tfl_fail(l, -EINVAL, "%u operands and %u results, not 2 and 0", (unsigned)l->op->in.n, (unsigned)l->op->out.n);
	if ((l->src = weft_graph_src(l->g, l->i_op, name)) < 0)
		return tfl_fail(l, -ENOMEM, "out of memory");
	err = assign(l);
	return err ? err : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables: what streaming networks keep from one run to the next. VAR_HANDLE
 * names one, READ_VARIABLE and ASSIGN_VARIABLE move its value; CALL_ONCE runs a
 * subgraph before the first run that assigns constants. SVDF keeps its memory in a
 * tensor that the file marks as a variable, which has no name but the tensor's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_lower.h"

#define MAX_NAME 200               /* bytes of a variable's name, and of its container's */
#define MAX_SCANNED (1 << 24)

/*
 * Writes "container/name", or "name" without a container, of the variable for which VAR_HANDLE
 * operator o of model m stands to name; characters that are not printable become '?', and an operator without
 * options has the empty name. Returns 0, or -EINVAL if a part has more than MAX_NAME bytes or is broken.
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
static int find(struct tfl_lower *l, const char *name)
{
	const weft_graph *g = tfl_outermost(l)->g;

	for (int i = 0; i < g->n_vars; i++)
		if (!strcmp(g->vars[i].name, name))
			return i;
	return -1;
}

/*
 * Adds a variable with type and shape of *t to the outermost graph, also if l lowers a sub-graph. data is its
 * initial value, which is taken over and freed after a failure, or NULL: none until one is assigned. l->room
 * and l->activations fall in any case. Returns the variable's index in the outermost graph, -EINVAL if that
 * takes more memory than a file may, or -ENOMEM.
 */
static int declare(struct tfl_lower *l, const char *name, const weft_tensor *t, void *data)
{
	l->room -= 3 * (int64_t)sizeof(struct weft_gvar) + 2 * MAX_NAME;
	l->activations -= (int64_t)weft_tensor_bytes(t);
	if (l->room < 0 || l->activations < 0) {
		free(data);
		return tfl_fail(l, -EINVAL, "variables take more memory than allowed");
	}
	int i = weft_graph_var(tfl_outermost(l)->g, name, t->dtype, t->rank, t->dim, data);
	return i < 0 ? tfl_fail(l, -ENOMEM, "out of memory") : i;
}

/* ---- the subgraph of CALL_ONCE ---- */

/* Returns the place of file tensor `tensor` in list v of model m, or -1. */
static int place(const struct tfl_model *m, const struct fb_vec *v, int tensor)
{
	for (uint32_t k = 0; k < v->n; k++)
		if (fb_i32_at(&m->b, v, k) == tensor)
			return (int)k;
	return -1;
}

/*
 * Returns the VAR_HANDLE operator for which a file tensor of l stands, and its subgraph; op is NULL if there
 * is none. It is looked for among the first `before` operators of l, backwards: result k of a WHILE stands
 * for what its operand k stands for. An input of a subgraph stands for the operand that the operator which
 * called it hands to it.
 */
static struct tfl_handle handle_before(const struct tfl_lower *l, int tensor, int before)
{
	for (int i = before; i--;) {
		const struct tfl_op *o = &l->m->ops[i];
		int k = place(l->m, &o->out, tensor);

		if (k < 0)
			continue;
		if (o->code == TFL_VAR_HANDLE)
			return (struct tfl_handle){ l->m, o };
		if (o->code != TFL_WHILE || (uint32_t)k >= o->in.n)
			return (struct tfl_handle){ NULL, NULL };
		tensor = fb_i32_at(&l->m->b, &o->in, (uint32_t)k);
	}
	const struct tfl_lower *p = l->parent;
	const int first = p && (p->op->code == TFL_IF || p->op->code == TFL_STABLEHLO_CASE);    /* operand 0 chooses the subgraph */
	int k = p ? place(l->m, &l->m->inputs, tensor) + first : -1;
	if (k < first || (uint32_t)k >= p->op->in.n)
		return (struct tfl_handle){ NULL, NULL };
	return handle_before(p, fb_i32_at(&p->m->b, &p->op->in, (uint32_t)k), p->i_op);
}

struct tfl_handle tfl_handle_of(const struct tfl_lower *l, int tensor)
{
	return handle_before(l, tensor, l->i_op);
}

/* Returns the VAR_HANDLE operator of model m whose result is that file tensor, or NULL. */
static const struct tfl_op *maker(const struct tfl_model *m, int tensor)
{
	for (int i = 0; i < m->n_ops; i++)
		if (m->ops[i].code == TFL_VAR_HANDLE && place(m, &m->ops[i].out, tensor) == 0)
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
 * values. Returns 0; -ENOTSUP if that subgraph has other operators than VAR_HANDLE and ASSIGN_VARIABLE;
 * -EINVAL if it names the first subgraph or one that is not there; or another negative errno.
 */
static int call_once(struct tfl_lower *l)
{
	struct tfl_model m;
	int index, err = tfl_option(l, OPTIONS_CALL_ONCE, CALL_ONCE_SUBGRAPH, 4, 0, &index);

	if (err)
		return err;
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

/* ---- variables that keep their first value ---- */

/*
 * Reads subgraph i of the file into *m, for tfl_release(), unless the reads before it came to more than
 * MAX_SCANNED tensors and operators (each read counts 16 more), so that a small file cannot take hours.
 * Returns whether it was read; false also if tfl_read_subgraph() fails.
 */
static bool scan(struct tfl_lower *l, int i, struct tfl_model *m)
{
	struct tfl_lower *top = tfl_outermost(l);

	if (top->scanned > MAX_SCANNED || tfl_read_subgraph(m, l->m, (uint32_t)i))
		return false;
	top->scanned += m->n_tensors + m->n_ops + 16;
	return true;
}

/*
 * Returns whether subgraph i runs once, before the first run of the network: a CALL_ONCE in the file names
 * it. False also if a subgraph cannot be read before such a CALL_ONCE is found.
 */
static bool runs_once(struct tfl_lower *l, int i)
{
	struct tfl_lower other = *l;
	struct tfl_model m;
	int index;
	bool once = false;

	for (int g = 0; g < l->m->n_subgraphs && !once; g++) {
		if (!scan(l, g, &m))
			return false;
		other.m = &m;
		for (int k = 0; k < m.n_ops && !once; k++) {
			other.op = &m.ops[k];
			once = m.ops[k].code == TFL_CALL_ONCE && !tfl_option(&other, OPTIONS_CALL_ONCE, CALL_ONCE_SUBGRAPH, 4, 0, &index) && index == i;
		}
		tfl_release(&m);
	}
	return once;
}

/*
 * Says whether subgraph m may assign the variable of that name: an ASSIGN_VARIABLE there has its name, a name
 * that cannot be read, or a handle that comes from outside.
 */
static bool assigns(struct tfl_lower *l, const struct tfl_model *m, const char *name)
{
	char other[2 * MAX_NAME + 2];

	for (int i = 0; i < m->n_ops; i++) {
		if (m->ops[i].code != TFL_ASSIGN_VARIABLE || !m->ops[i].in.n)
			continue;
		const struct tfl_op *o = maker(m, fb_i32_at(&m->b, &m->ops[i].in, 0));
		if (!o || handle_name(l, m, o, other) || !strcmp(name, other))
			return true;
	}
	return false;
}

/*
 * Says whether anything but what runs once assigns the variable of that name, in any subgraph of the file. True
 * also if a subgraph cannot be read, or too much has been read already (scan()).
 */
static bool is_written(struct tfl_lower *l, const char *name)
{
	struct tfl_model m;
	bool written = false;

	for (int g = 0; g < l->m->n_subgraphs && !written; g++) {
		if (!scan(l, g, &m))
			return true;
		written = assigns(l, &m, name) && !runs_once(l, g);
		tfl_release(&m);
	}
	return written;
}

/*
 * Makes the result of the READ_VARIABLE at hand a constant if the variable has a value from the start that
 * nothing ever replaces, as weights in a SavedModel. Returns 1 if that is done; 0 if not, also if the result
 * is an output or uint8, or the value is int4; -EINVAL if type or rank of the result are not the variable's;
 * or another negative errno.
 */
static int fold_read(struct tfl_lower *l)
{
	const struct tfl_handle h = tfl_has(l, 0) ? tfl_handle_of(l, fb_i32_at(&l->m->b, &l->op->in, 0)) : (struct tfl_handle){ NULL, NULL };
	char name[2 * MAX_NAME + 2];
	int y = l->op->out.n == 1 ? fb_i32_at(&l->m->b, &l->op->out, 0) : -1, i;

	if (!h.op || y < 0 || y >= l->m->n_tensors || l->is_output[y] || handle_name(l, h.m, h.op, name) || (i = find(l, name)) < 0)
		return 0;
	const weft_tensor t = tfl_outermost(l)->g->vars[i].t;
	if (!t.data || t.dtype == WEFT_INT4 || tfl_file_tensor(l, y)->type == TFL_UINT8 || t.rank > TFL_MAX_RANK || is_written(l, name))
		return 0;
	int err = tfl_result(l, 0);
	if (err)
		return err;
	if (l->y.dtype != t.dtype || l->y.rank != t.rank)
		return tfl_fail(l, -EINVAL, "the variable is %s of rank %d, the result %s of rank %d", weft_dtype_name(t.dtype), t.rank,
		                weft_dtype_name(l->y.dtype), l->y.rank);
	const size_t bytes = weft_tensor_bytes(&t);
	void *copy = tfl_alloc(l, (int64_t)bytes, 1);
	if (!copy)
		return l->err;
	memcpy(copy, t.data, bytes);
	err = tfl_make_const(l, y, t.dim, copy, bytes);
	return err ? err : 1;
}

/* Notes in used[] which variables graph g, without its sub-graphs, reads or writes. */
static void note_used(const weft_graph *g, bool *used)
{
	for (int i = 0; i < g->n_ops; i++)
		if (weft_moves_variable(&g->ops[i]))
			used[g->ops[i].attr.variable.id] = true;
}

/* Gives the variables in graph g's operators their new numbers. */
static void renumber(weft_graph *g, const int *to)
{
	for (int i = 0; i < g->n_ops; i++)
		if (weft_moves_variable(&g->ops[i]))
			g->ops[i].attr.variable.id = to[g->ops[i].attr.variable.id];
}

/*
 * Removes the variables of g that no operator of g or of its sub-graphs refers to, frees what they own, and
 * renumbers the others. If memory is out, all variables stay, which does no harm.
 */
void tfl_variables_finish(weft_graph *g)
{
	bool *used = calloc((size_t)g->n_vars + 1, sizeof *used);
	int *to = calloc((size_t)g->n_vars + 1, sizeof *to), n = 0;

	if (used && to) {
		note_used(g, used);
		for (int k = 0; k < g->n_subs; k++)
			note_used(g->subs[k], used);
		for (int i = 0; i < g->n_vars; i++) {
			if (!used[i]) {
				free(g->vars[i].name);
				free(g->vars[i].t.data);
				continue;
			}
			to[i] = n;
			g->vars[n++] = g->vars[i];
		}
		g->n_vars = n;
		renumber(g, to);
		for (int k = 0; k < g->n_subs; k++)
			renumber(g->subs[k], to);
	}
	free(used);
	free(to);
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
	const struct tfl_handle h = tfl_has(l, 0) ? tfl_handle_of(l, fb_i32_at(&l->m->b, &l->op->in, 0)) : (struct tfl_handle){ NULL, NULL };

	if (!h.op)
		return tfl_fail(l, -ENOTSUP, "operand 0 is no variable");
	int err = handle_name(l, h.m, h.op, name);
	if (err)
		return err;
	int i = find(l, name);
	return i >= 0 ? i : declare(l, name, t, NULL);
}

/* Returns new elements for a tensor like *t, each byte of which is `byte`; the caller owns them. Returns NULL after tfl_fail(). */
static void *filled(struct tfl_lower *l, const weft_tensor *t, int byte)
{
	const size_t bytes = weft_tensor_bytes(t);
	void *p = tfl_alloc(l, (int64_t)bytes, 1);

	return p ? memset(p, byte, bytes) : NULL;
}

/*
 * Returns the index of the graph's variable for file tensor i of the subgraph at hand, which is marked as one:
 * an operator keeps its state there from run to run. If the variable does not exist, it is added with type and shape of
 * *t, and before the first run each of its bytes is `first`. Returns -EINVAL if it exists with another type or shape, or
 * another negative errno.
 */
static int state_variable(struct tfl_lower *l, int i, const weft_tensor *t, int first)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	char name[MAX_NAME + 1];
	size_t n = 0;

	for (size_t k = 0; k < f->name_len && n < MAX_NAME - 24; k++)
		name[n++] = f->name[k] >= ' ' && f->name[k] <= '~' ? f->name[k] : '?';
	/* Two tensors may have one name, and READ_VARIABLE's variables have names of their own. */
	snprintf(name + n, sizeof name - n, "@%d:%d", l->i_sub, i);
	int id = find(l, name);
	if (id < 0) {
		void *begin = filled(l, t, first);
		return begin ? declare(l, name, t, begin) : l->err;
	}
	const weft_tensor *v = &tfl_outermost(l)->g->vars[id].t;
	if (v->dtype != t->dtype || v->rank != t->rank || memcmp(v->dim, t->dim, sizeof v->dim))
		return tfl_fail(l, -EINVAL, "tensor %d is the state of two operators that do not agree on it", i);
	return id;
}

/*
 * Emits what the state of the operator at hand, its operand k, holds when the operator runs, as a tensor with type and shape
 * of *t. If the file marks the operand as a variable, it is read from one of the graph, whose bytes are `first` before the
 * first run, and *id becomes that variable's index, for tfl_keep_state(). Otherwise each run begins with such bytes: the tensor is
 * constant, and *id becomes -1. Returns the graph tensor, or a negative errno.
 */
int tfl_find_state(struct tfl_lower *l, int k, const weft_tensor *t, int first, int *id)
{
	int i = tfl_operand(l, k);

	*id = -1;
	if (i < 0)
		return i;
	if (!tfl_file_tensor(l, i)->is_variable) {
		void *begin = filled(l, t, first);
		return begin ? tfl_data(l, "state", t->dtype, t->rank, t->dim, begin) : l->err;
	}
	const int v = state_variable(l, i, t, first);
	if (v < 0)
		return v;
	weft_attr a = { .variable = { v } };
	*id = v;
	return tfl_step(l, WEFT_OP_VARIABLE_READ, &a, NULL, 0, t->dtype, t->rank, t->dim, false);
}

/* Emits that x is what variable `id` of tfl_find_state() holds from now on; nothing if id is -1. Returns 0 or a negative errno. */
int tfl_keep_state(struct tfl_lower *l, int id, int x)
{
	weft_attr a = { .variable = { id } };
	const weft_tensor t = l->g->tensors[x].t;

	if (id < 0)
		return 0;
	int y = tfl_step(l, WEFT_OP_VARIABLE_WRITE, &a, &x, 1, t.dtype, t.rank, t.dim, false);
	return y < 0 ? y : 0;
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
 * Does all that VAR_HANDLE, CALL_ONCE and ASSIGN_VARIABLE, which give no values, need, and makes the result of
 * READ_VARIABLE a constant if the variable never changes (fold_read()); name is the operator's for the graph's
 * record of it. Returns 1 if that is done; 0 for other operators, and for READ_VARIABLE of a variable that may
 * change; -EINVAL if ASSIGN_VARIABLE has other operands or results; or another negative errno.
 */
int tfl_variable_op(struct tfl_lower *l, const char *name)
{
	int err;

	switch (l->op->code) {
	case TFL_VAR_HANDLE: return 1;
	case TFL_CALL_ONCE: err = call_once(l); return err ? err : 1;
	case TFL_READ_VARIABLE: return fold_read(l);
	case TFL_ASSIGN_VARIABLE: break;
	default: return 0;
	}
	if (l->op->in.n != 2 || l->op->out.n)
		return tfl_fail(l, -EINVAL, "%u operands and %u results, not 2 and 0", (unsigned)l->op->in.n, (unsigned)l->op->out.n);
	if ((l->src = weft_graph_src(l->g, tfl_source_number(l), name)) < 0)
		return tfl_fail(l, -ENOMEM, "out of memory");
	err = assign(l);
	return err ? err : 1;
}

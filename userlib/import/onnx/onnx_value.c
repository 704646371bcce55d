/* SPDX-License-Identifier: Apache-2.0 */
/* Forms of values: which tensors of the graph hold a value, and with its dimensions in which order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_lower.h"

#define WORK_EACH 8            /* steps of computing constants that each element of a constant allows */

static void identity(int8_t *perm)
{
	for (int i = 0; i < WEFT_MAX_RANK; i++)
		perm[i] = (int8_t)i;
}

/*
 * Fills perm with the order of dimensions that turns [N,C,...] of the given rank into [N,...,C]:
 * dimension i of the latter is dimension perm[i] of the former. A rank below 2 keeps its order.
 */
void ox_channels_last(int rank, int8_t *perm)
{
	identity(perm);
	for (int i = 1; i + 1 < rank; i++)
		perm[i] = (int8_t)(i + 1);
	if (rank > 1)
		perm[rank - 1] = 1;
}

static bool same_perm(int rank, const int8_t *a, const int8_t *b)
{
	return !memcmp(a, b, (size_t)rank);
}

/*
 * Returns v's form whose dimensions are in order perm and whose sign is flip (int8 for uint8), or
 * NULL if v is not held so.
 */
static const struct ox_form *find(const struct ox_value *v, const int8_t *perm, bool flip)
{
	for (int i = 0; i < v->n_forms; i++)
		if (v->form[i].flip == flip && same_perm(v->t.rank, v->form[i].perm, perm))
			return &v->form[i];
	return NULL;
}

/*
 * Notes that `tensor` holds value v with dimensions in order perm and, if flip is set, as int8 for
 * uint8. Nothing is noted if the tensor is negative or v has OX_MAX_FORMS forms already. Returns
 * tensor as it came.
 */
static int add_form(struct ox_value *v, int tensor, const int8_t *perm, bool flip)
{
	if (tensor >= 0 && v->n_forms < OX_MAX_FORMS) {
		struct ox_form *f = &v->form[v->n_forms++];

		f->tensor = tensor;
		f->flip = flip;
		memcpy(f->perm, perm, sizeof f->perm);
	}
	return tensor;
}

/*
 * Emits matrix w transposed, if w is not held so, and returns a copy of value w that is this
 * matrix: type, shape and one form. After a failure, with l->err set, the copy has no form. The
 * copy is not entered in the table of values.
 */
struct ox_value ox_turned(struct ox *l, struct ox_value *w)
{
	static const int8_t swap[WEFT_MAX_RANK] = { 1, 0, 2, 3, 4, 5, 6, 7 };
	struct ox_value v = *w;
	int x = ox_get(l, w, swap);

	v.init = NULL;
	v.n_forms = x >= 0;
	v.form[0] = (struct ox_form){ .tensor = x, .perm = { 0, 1, 2, 3, 4, 5, 6, 7 } };
	if (x >= 0) {
		v.t = *ox_t(l, x);
		v.t.data = NULL;
	}
	return v;
}

/*
 * Reads the elements of v, a constant of the file, adds them to the graph as a constant under v's own name,
 * and notes this tensor as v's form in the file's order. Each element adds WORK_EACH to l->work, the work that
 * may be done on constants. Returns the graph tensor, or a negative errno after ox_fail(): what
 * onnx_tensor_data() gave, or -ENOMEM.
 */
static int from_init(struct ox *l, struct ox_value *v)
{
	char why[WEFT_MSG - 100] = "";
	weft_tensor t;
	int8_t perm[WEFT_MAX_RANK];
	int err = onnx_tensor_data(&l->f, v->init, &t, &l->room, why, sizeof why);

	if (err)
		return ox_fail(l, err, "constant \"%.40s\": %s", v->name, why);
	l->work += WORK_EACH * weft_tensor_elements(&t);
	int i = ox_data(l, t.dtype, t.rank, t.dim, t.data);
	if (i < 0)
		return i;
	char *name = strdup(v->name);
	if (!name)
		return ox_fail(l, -ENOMEM, "out of memory");
	l->room -= (int64_t)strlen(name) + 32;
	free(l->g->tensors[i].name);
	l->g->tensors[i].name = name;
	identity(perm);
	return add_form(v, i, perm, false);
}

/*
 * Emits the value that x holds in another order of dimensions: dimension i of x is the value's
 * dimension from[i], dimension i of the result is the value's dimension to[i]. Returns the graph
 * tensor, which is x itself if the orders are equal, or a negative errno; a negative x is returned
 * as it is.
 */
int ox_reorder(struct ox *l, int x, const int8_t *from, const int8_t *to)
{
	int8_t step[WEFT_MAX_RANK] = { 0 };
	int rank = x < 0 ? 0 : ox_t(l, x)->rank;

	for (int i = 0; i < rank; i++)
		for (int k = 0; k < rank; k++)
			if (from[k] == to[i])
				step[i] = (int8_t)k;
	return ox_transpose(l, x, step);
}

static int make(struct ox *l, struct ox_value *v, const int8_t *perm, bool flip);

/*
 * Says whether v is held by a computed tensor that is an input of the network or the result of a
 * QuantizeLinear. Constants, and values without a tensor yet, are not.
 */
static bool at_the_edge(const struct ox *l, const struct ox_value *v)
{
	if (v->init || !v->n_forms || ox_t(l, v->form[0].tensor)->data)
		return false;
	return v->maker < 0 || ox_node_is(l->f.m->graph->node[v->maker], "QuantizeLinear");
}

/*
 * Returns a graph tensor that holds value v with its dimensions in order perm and, if flip is set,
 * in its signed form, emitting operators if there is none (make()). If v is an input of the network
 * or the result of a QuantizeLinear, these operators are booked to no node of the file (record
 * "edge") instead of to the node at hand. Returns a negative errno after a failure.
 */
static int get(struct ox *l, struct ox_value *v, const int8_t *perm, bool flip)
{
	const onnx_node *n = l->n;
	int src = l->src;

	if (at_the_edge(l, v)) {
		l->n = NULL;
		l->src = -1;
	}
	int x = make(l, v, perm, flip);
	if (l->n != n) {
		l->n = n;
		l->src = src;
	}
	return x;
}

/*
 * Returns a graph tensor that holds value v with its dimensions in order perm (NULL: the file's)
 * and, if flip is set, in its signed form. A value that is pending is lowered first, a constant of
 * the file is read first. If v has that form, its tensor is returned; else operators are emitted
 * that convert the form with the right order, or the first with the right sign, or the first of
 * all, and the new form is noted at v, unless it has six. Returns -EINVAL if v has no value, or
 * another negative errno.
 */
static int make(struct ox *l, struct ox_value *v, const int8_t *perm, bool flip)
{
	int8_t plain[WEFT_MAX_RANK];

	identity(plain);
	perm = perm ? perm : plain;
	if (ox_settle(l, v) < 0)
		return l->err;
	if (!v->n_forms) {
		int i = v->init ? from_init(l, v) : ox_fail(l, -EINVAL, "\"%.60s\" has no value", v->name);
		if (i < 0)
			return i;
	}
	const struct ox_form *f = find(v, perm, flip);
	if (f)
		return f->tensor;
	f = find(v, perm, !flip);      /* other sign, right order */
	if (f)
		return add_form(v, ox_flip_sign(l, f->tensor, flip ? ox_signed(v->t.dtype) : v->t.dtype), perm, flip);
	for (int i = 0; i < v->n_forms; i++)
		if (v->form[i].flip == flip)
			return add_form(v, ox_reorder(l, v->form[i].tensor, v->form[i].perm, perm), perm, flip);
	struct ox_form first = v->form[0];
	int x = ox_flip_sign(l, first.tensor, flip ? ox_signed(v->t.dtype) : v->t.dtype);
	if (x < 0)
		return x;
	add_form(v, x, first.perm, flip);
	first.tensor = x;
	return add_form(v, ox_reorder(l, first.tensor, first.perm, perm), perm, flip);
}

int ox_get(struct ox *l, struct ox_value *v, const int8_t *perm)
{
	return v ? get(l, v, perm, false) : l->err;
}

int ox_get_signed(struct ox *l, struct ox_value *v, const int8_t *perm)
{
	return v ? get(l, v, perm, ox_less(v->t.dtype) != 0) : l->err;
}

int ox_x(struct ox *l, int k)
{
	return ox_get(l, ox_in(l, k), NULL);
}

/* ---- results ---- */

/*
 * Gives the graph's tensor a copy of the name and marks it as not internal, that is, as a tensor of
 * the source file. Returns tensor, or -ENOMEM.
 */
static int rename_tensor(struct ox *l, int tensor, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return ox_fail(l, -ENOMEM, "out of memory");
	l->room -= (int64_t)strlen(name);
	free(l->g->tensors[tensor].name);
	l->g->tensors[tensor].name = copy;
	l->g->tensors[tensor].internal = false;
	return tensor;
}

/*
 * Makes `tensor` result k of the node at hand: its dimension i is the result's dimension perm[i]
 * (NULL: the same), and flip says that it is the signed form of uint8 or uint16. Sets the value's type and shape and
 * adds the form. The tensor gets the value's name if it has none of the file's yet and either is
 * the value just as the file has it or the value is no output of the network. Returns 0, also if
 * the node has no result k, or a negative errno; a negative tensor is returned as it is.
 */
int ox_result(struct ox *l, int k, int tensor, const int8_t *perm, bool flip)
{
	int8_t plain[WEFT_MAX_RANK];

	if (tensor < 0)
		return tensor;
	if ((size_t)k >= l->n->n_output || !*l->n->output[k])
		return 0;
	struct ox_value *v = l->results ? &l->results[k] : &l->values[ox_value_find(l, l->n->output[k])];
	const weft_tensor *t = ox_t(l, tensor);
	identity(plain);
	perm = perm ? perm : plain;
	v->t = *t;
	v->t.data = NULL;
	v->t.dtype = flip ? ox_unsigned(t->dtype) : t->dtype;
	for (int i = 0; i < t->rank; i++)
		v->t.dim[perm[i]] = t->dim[i];
	add_form(v, tensor, perm, flip);
	bool as_is = !flip && same_perm(t->rank, perm, plain);
	if (l->g->tensors[tensor].internal && *v->name && (as_is || !v->is_output))
		return rename_tensor(l, tensor, v->name) < 0 ? l->err : 0;
	return 0;
}

/*
 * Makes result 0 of the node at hand the value x with its dimensions permuted: dimension i of the
 * result is x's dimension perm[i] (NULL: unchanged). No operator is emitted, since x's tensors
 * become forms of the result, too. x is lowered or read first if it has no form yet. Returns 0 or a
 * negative errno (l->err if x is NULL).
 */
int ox_alias(struct ox *l, struct ox_value *x, const int8_t *perm)
{
	int8_t plain[WEFT_MAX_RANK], inverse[WEFT_MAX_RANK];

	if (!x || (ox_get(l, x, x->n_forms ? x->form[0].perm : NULL) < 0 && !x->n_forms))
		return l->err;
	identity(plain);
	identity(inverse);
	perm = perm ? perm : plain;
	for (int i = 0; i < x->t.rank; i++)
		inverse[perm[i]] = (int8_t)i;
	struct ox_value *y = l->results ? l->results : &l->values[ox_value_find(l, l->n->output[0])];
	y->t = x->t;
	for (int i = 0; i < x->t.rank; i++)
		y->t.dim[i] = x->t.dim[perm[i]];
	for (int i = 0; i < x->n_forms; i++) {
		struct ox_form f = x->form[i];

		for (int d = 0; d < x->t.rank; d++)
			f.perm[d] = inverse[x->form[i].perm[d]];
		add_form(y, f.tensor, f.perm, f.flip);
	}
	return 0;
}

/*
 * Appends value v to the graph's outputs: a tensor in the file's order that is named after v. An
 * IDENTITY makes a tensor of its own if v's tensor is an input, a constant, already an output, or a
 * tensor of the file with another name. Returns 0 or a negative errno.
 */
static int output(struct ox *l, struct ox_value *v)
{
	static const weft_attr none;
	int x = ox_get(l, v, NULL);

	if (x < 0)
		return x;
	const struct weft_gtensor *t = &l->g->tensors[x];
	if (t->producer < 0 || t->is_input || t->is_output || (!t->internal && strcmp(t->name, v->name))) {
		const weft_tensor shape = { .dtype = t->t.dtype, .rank = t->t.rank, .dim = { t->t.dim[0], t->t.dim[1], t->t.dim[2], t->t.dim[3],
		                                                                             t->t.dim[4], t->t.dim[5], t->t.dim[6], t->t.dim[7] } };
		int y, err = ox_op_many(l, WEFT_OP_IDENTITY, &none, &x, 1, &shape, 1, &y);
		x = err < 0 ? err : y;
	}
	if (x < 0 || rename_tensor(l, x, v->name) < 0)
		return l->err;
	l->g->tensors[x].is_output = true;
	l->g->outputs[l->g->n_outputs++] = x;
	return 0;
}

/*
 * Makes the graph's outputs in the file's order; a value that is still pending is lowered for it.
 * Returns 0, -EINVAL if an output is not computed, -ENOTSUP if it consists of strings, or another
 * negative errno.
 */
int ox_outputs(struct ox *l)
{
	onnx_graph *g = l->f.m->graph;

	l->g->outputs = ox_alloc(l, (int64_t)g->n_output, sizeof *l->g->outputs);
	if (!l->g->outputs)
		return l->err;
	for (size_t i = 0; i < g->n_output; i++) {
		const char *name = g->output[i]->name ? g->output[i]->name : "";
		int v = ox_value_find(l, name);
		if (v >= 0 && ox_settle(l, &l->values[v]) < 0)
			return l->err;
		if (v >= 0 && ox_is_text(&l->values[v]))
			return ox_fail(l, -ENOTSUP, "output \"%.60s\": strings", name);
		if (v < 0 || !l->values[v].t.dtype)
			return ox_fail(l, -EINVAL, "output \"%.60s\" is not computed", name);
		int err = output(l, &l->values[v]);
		if (err < 0)
			return err;
	}
	return 0;
}

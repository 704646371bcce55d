/* SPDX-License-Identifier: Apache-2.0 */
/* The model as lists of nodes and constants that may grow: reading, looking up, changing, and writing. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quantize.h"

/*
 * Writes one line into the message, with control characters (of names in the file) replaced by '?'.
 * -ENOMEM is also noted in z->no_memory for good. Returns err.
 */
int qz_fail(struct qz *z, int err, const char *format, ...)
{
	va_list ap;

	z->no_memory |= err == -ENOMEM;
	va_start(ap, format);
	quantize_line(z->msg, format, ap);
	va_end(ap);
	return err;
}

/*
 * Returns n bytes of zeros that live until qz_close(); NULL, after qz_fail() with -ENOMEM, if there is
 * no memory.
 */
void *qz_alloc(struct qz *z, size_t n)
{
	void *p = blocks_alloc(&z->blocks, n);

	if (!p)
		qz_fail(z, -ENOMEM, "out of memory");
	return p;
}

/*
 * Returns the string a followed by b, which lives until qz_close(); NULL if there is no memory. Neither
 * a nor b may be NULL.
 */
char *qz_text(struct qz *z, const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	char *p = qz_alloc(z, n + m + 1);

	if (p) {
		memcpy(p, a, n);
		memcpy(p + n, b, m);
	}
	return p;
}

/*
 * Makes room for element number n in a list of *cap pointers. The old list stays in memory until
 * qz_close(). Returns 0 or -ENOMEM.
 */
static int grow(struct qz *z, void ***list, int n, int *cap)
{
	if (n < *cap)
		return 0;
	int more = 2 * *cap + 16;
	void **p = qz_alloc(z, (size_t)more * sizeof *p);
	if (!p)
		return -ENOMEM;
	if (n)
		memcpy(p, *list, (size_t)n * sizeof *p);
	*list = p;
	*cap = more;
	return 0;
}

/* Appends node n to the model's list. Returns 0 or -ENOMEM; NULL counts as no memory. */
static int add_node(struct qz *z, onnx_node *n)
{
	int err = n ? grow(z, (void ***)&z->node, z->n_node, &z->cap_node) : -ENOMEM;

	if (!err)
		z->node[z->n_node++] = n;
	return err;
}

/*
 * Appends constant t to the model's list, with an entry in z->floats that says that its numbers have not
 * been read yet. Returns 0 or -ENOMEM.
 */
static int add_init(struct qz *z, onnx_tensor *t)
{
	int err = grow(z, (void ***)&z->init, z->n_init, &z->cap_init);

	if (!err)
		err = grow(z, (void ***)&z->floats, z->n_init, &z->cap_floats);
	if (!err) {
		z->floats[z->n_init] = NULL;
		z->init[z->n_init++] = t;
	}
	return err;
}

/*
 * Returns the tensor of a Constant node, named as the node's result. NULL if the node is another one or
 * has its value in another form, or if there is no memory.
 */
static onnx_tensor *constant_of(struct qz *z, const onnx_node *n)
{
	const onnx_attribute *a = qz_is(n, "Constant") && n->n_output == 1 ? qz_attribute(n, "value") : NULL;
	onnx_tensor *t = a && a->t ? qz_alloc(z, sizeof *t) : NULL;

	if (t) {
		*t = *a->t;
		t->name = n->output[0];
	}
	return t;
}

/*
 * Returns a copy of a node with lists of operands and results of its own; strings and attributes stay
 * the file's. NULL if there is no memory.
 */
static onnx_node *copy_node(struct qz *z, const onnx_node *from)
{
	onnx_node *n = qz_alloc(z, sizeof *n);
	char **in = qz_alloc(z, from->n_input * sizeof *in), **out = qz_alloc(z, from->n_output * sizeof *out);

	if (!n || !in || !out)
		return NULL;
	*n = *from;
	for (size_t k = 0; k < from->n_input; k++)
		in[k] = from->input[k];
	for (size_t k = 0; k < from->n_output; k++)
		out[k] = from->output[k];
	n->input = in;
	n->output = out;
	return n;
}

/*
 * Reads the model's operator sets into z->set and the version of ONNX's own set into z->opset. Returns
 * that version; 0 if there is none.
 */
static int opset_of(struct qz *z)
{
	z->set = z->m->opset_import;
	z->n_set = z->m->n_opset_import;
	for (size_t i = 0; i < z->m->n_opset_import; i++) {
		const char *d = z->m->opset_import[i]->domain;
		if (!d || !*d || !strcmp(d, "ai.onnx"))
			z->opset = (int)z->m->opset_import[i]->version;
	}
	return z->opset;
}

/*
 * Reads an ONNX model of len bytes and lists its nodes and constants (Constant nodes too) so that both
 * may grow, then calls qz_index(). z->o and z->msg are set before, all else is zero. Returns 0; -EINVAL if the file is
 * broken, a constant has no name or a node no type; or another negative errno; with one line in the
 * message. qz_close() is due either way.
 */
int qz_open(struct qz *z, const void *data, size_t len)
{
	int err = onnx_read(&z->f, data, len, z->msg, WEFT_MSG_LEN);

	if (err)
		return err;
	z->m = z->f.m;
	z->f.folder = z->o->folder;
	opset_of(z);
	const onnx_graph *g = z->m->graph;
	for (size_t i = 0; i < g->n_initializer && !err; i++)
		err = g->initializer[i]->name ? add_init(z, g->initializer[i]) : qz_fail(z, -EINVAL, "a constant has no name");
	for (size_t i = 0; i < g->n_node && !err; i++) {
		onnx_tensor *t = constant_of(z, g->node[i]);

		if (!g->node[i]->op_type)
			return qz_fail(z, -EINVAL, "node %zu has no type", i);
		err = t ? add_init(z, t) : add_node(z, copy_node(z, g->node[i]));
	}
	return err ? err : qz_index(z);
}

/* Frees the graph, the file and everything that qz_alloc() has given; z must not be used any more. */
void qz_close(struct qz *z)
{
	weft_graph_free(z->g);
	blocks_free(&z->blocks);
	free(z->value);
	onnx_release(&z->f);
}

/* ---- looking ---- */

const char *qz_operand(const onnx_node *n, size_t k)
{
	return k < n->n_input ? n->input[k] : "";
}

bool qz_is(const onnx_node *n, const char *type)
{
	return n && (!n->domain || !*n->domain || !strcmp(n->domain, "ai.onnx")) && n->op_type && !strcmp(n->op_type, type);
}

const onnx_attribute *qz_attribute(const onnx_node *n, const char *name)
{
	for (size_t i = 0; i < n->n_attribute; i++)
		if (n->attribute[i]->name && !strcmp(n->attribute[i]->name, name))
			return n->attribute[i];
	return NULL;
}

int64_t qz_integer(const onnx_node *n, const char *name, int64_t otherwise)
{
	const onnx_attribute *a = qz_attribute(n, name);

	return a && a->has_i ? a->i : otherwise;
}

double qz_real(const onnx_node *n, const char *name, double otherwise)
{
	const onnx_attribute *a = qz_attribute(n, name);

	return a && a->has_f ? (double)a->f : otherwise;
}

/* For qsort() and bsearch(): compares two values by their names. */
static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct qz_value *)a)->name, ((const struct qz_value *)b)->name);
}

struct qz_value *qz_value(struct qz *z, const char *name)
{
	const struct qz_value key = { .name = name };

	return *name ? bsearch(&key, z->value, (size_t)z->n_value, sizeof key, by_name) : NULL;
}

/*
 * Appends an entry for the value `name` to the table, which has room; nothing if the name is NULL or
 * "".
 */
static void note(struct qz *z, const char *name)
{
	if (name && *name)
		z->value[z->n_value++] = (struct qz_value){ .name = name, .maker = -1, .reader = -1, .init = -1, .tensor = -1 };
}

/*
 * Sorts the table of values by name, keeps one of several entries with the same name, and sets z->n_value
 * to the number that is left.
 */
static void unique(struct qz *z)
{
	int n = 0;

	qsort(z->value, (size_t)z->n_value, sizeof *z->value, by_name);
	for (int i = 0; i < z->n_value; i++)
		if (!n || strcmp(z->value[i].name, z->value[n - 1].name))
			z->value[n++] = z->value[i];
	z->n_value = n;
}

/*
 * Makes the table of all values anew, sorted by name: which node makes each, which constant it is, how often
 * nodes read it (twice if one node has it as two operands) and which node is the last that does, and whether
 * it is an input (constants are none) or output of the network. Ranges and marks in it are lost, and pointers
 * to entries are no longer valid. Returns 0, or -ENOMEM after qz_fail(), with the old table as it was.
 */
int qz_index(struct qz *z)
{
	const onnx_graph *g = z->m->graph;
	size_t n = (size_t)z->n_init + g->n_input + g->n_output + 1;
	struct qz_value *v;

	for (int i = 0; i < z->n_node; i++)
		n += z->node[i] ? z->node[i]->n_input + z->node[i]->n_output : 0;
	v = n > z->cap_value ? realloc(z->value, 2 * n * sizeof *v) : z->value;
	if (!v)
		return qz_fail(z, -ENOMEM, "out of memory");
	z->cap_value = n > z->cap_value ? 2 * n : z->cap_value;
	z->value = v;
	z->n_value = 0;
	for (int i = 0; i < z->n_init; i++)
		note(z, z->init[i]->name);
	for (size_t i = 0; i < g->n_input; i++)
		note(z, g->input[i]->name);
	for (size_t i = 0; i < g->n_output; i++)
		note(z, g->output[i]->name);
	for (int i = 0; i < z->n_node; i++)
		for (size_t k = 0; z->node[i] && k < z->node[i]->n_input + z->node[i]->n_output; k++)
			note(z, k < z->node[i]->n_input ? z->node[i]->input[k] : z->node[i]->output[k - z->node[i]->n_input]);
	unique(z);
	for (size_t i = 0; i < g->n_input; i++)
		if (g->input[i]->name && (v = qz_value(z, g->input[i]->name)))
			v->is_input = true;
	for (int i = 0; i < z->n_init; i++)
		if ((v = qz_value(z, z->init[i]->name))) {
			v->init = i;
			v->is_input = false;
		}
	for (size_t i = 0; i < g->n_output; i++)
		if (g->output[i]->name && (v = qz_value(z, g->output[i]->name)))
			v->is_output = true;
	for (int i = 0; i < z->n_node; i++) {
		const onnx_node *node = z->node[i];
		for (size_t k = 0; node && k < node->n_output; k++)
			if ((v = qz_value(z, node->output[k])))
				v->maker = i;
		for (size_t k = 0; node && k < node->n_input; k++)
			if ((v = qz_value(z, node->input[k]))) {
				v->n_uses++;
				v->reader = i;
			}
	}
	return 0;
}

const float *qz_floats(struct qz *z, const char *name, weft_tensor *t)
{
	struct qz_value *v = qz_value(z, name);
	int64_t room = (int64_t)1 << 30;
	char why[160] = "";

	if (!v || v->init < 0 || z->init[v->init]->data_type != 1)
		return NULL;
	if (z->floats[v->init])
		return onnx_tensor_shape(z->init[v->init], t, why, sizeof why) ? NULL : z->floats[v->init];
	int err = onnx_tensor_data(&z->f, z->init[v->init], t, &room, why, sizeof why);
	if (err) {
		qz_fail(z, err, "constant \"%.60s\": %s", name, why);
		return NULL;
	}
	float *p = qz_alloc(z, weft_tensor_bytes(t));
	if (p)
		memcpy(p, t->data, weft_tensor_bytes(t));
	free(t->data);
	t->data = NULL;
	z->floats[v->init] = p;
	return p;
}

/* ---- changing ---- */

/*
 * Appends a node of that type and domain (NULL: ONNX's own) with n_in operands and one result, `out`,
 * after which it is named. Type and domain are copied, the names of operands and result are not and must
 * live as long as the model. Returns the node; NULL if there is no memory or the name of an operand or of
 * the result is NULL.
 */
onnx_node *qz_add_node(struct qz *z, const char *type, const char *domain, char *const *in, size_t n_in, char *out)
{
	onnx_node *n = qz_alloc(z, sizeof *n);
	char **list = qz_alloc(z, (n_in + 1) * sizeof *list);

	if (!n || !list)
		return NULL;
	weft__onnx__node__init(n);
	for (size_t k = 0; k < n_in; k++) {
		if (!in[k])
			return NULL;
		list[k] = in[k];
	}
	list[n_in] = out;
	n->n_input = n_in;
	n->input = list;
	n->n_output = 1;
	n->output = list + n_in;
	n->op_type = qz_text(z, type, "");
	n->domain = domain ? qz_text(z, domain, "") : NULL;
	n->name = qz_text(z, out ? out : "", "");
	return out && n->op_type && n->name && !add_node(z, n) ? n : NULL;
}

/*
 * Appends an integer attribute of that name and value to a node; one of the same name is not looked for.
 * Returns 0 or -ENOMEM.
 */
int qz_set_integer(struct qz *z, onnx_node *n, const char *name, int64_t v)
{
	onnx_attribute *a = qz_alloc(z, sizeof *a), **list = qz_alloc(z, (n->n_attribute + 1) * sizeof *list);

	if (!a || !list)
		return -ENOMEM;
	weft__onnx__attribute__init(a);
	a->name = qz_text(z, name, "");
	a->has_i = a->has_type = true;
	a->i = v;
	a->type = 2;
	if (n->n_attribute)
		memcpy(list, n->attribute, n->n_attribute * sizeof *list);
	list[n->n_attribute++] = a;
	n->attribute = list;
	return a->name ? 0 : -ENOMEM;
}

char *qz_add_tensor(struct qz *z, char *name, int type, int rank, const int64_t *dim, const void *data, size_t bytes)
{
	onnx_tensor *t = qz_alloc(z, sizeof *t);
	int64_t *d = qz_alloc(z, (size_t)rank * sizeof *d);
	uint8_t *p = qz_alloc(z, bytes);

	if (!name || !t || !d || !p)
		return NULL;
	weft__onnx__tensor__init(t);
	if (rank)
		memcpy(d, dim, (size_t)rank * sizeof *d);
	if (bytes)
		memcpy(p, data, bytes);
	t->n_dims = (size_t)rank;
	t->dims = d;
	t->has_data_type = t->has_raw_data = true;
	t->data_type = type;
	t->name = name;
	t->raw_data = (ProtobufCBinaryData){ bytes, p };
	return add_init(z, t) ? NULL : name;
}

/*
 * Makes `name`, which is not copied and must live as long as the model, operand k of a node; operands
 * between its last one and k become empty. Returns 0; or -ENOMEM, with the node as before, also if name is
 * NULL, as it is after a qz_text() that found no memory: only that has then written a line.
 */
int qz_set_operand(struct qz *z, onnx_node *n, size_t k, char *name)
{
	size_t count = k < n->n_input ? n->n_input : k + 1;
	char **list = qz_alloc(z, count * sizeof *list);

	if (!list || !name)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		list[i] = i < n->n_input ? n->input[i] : (char *)"";
	list[k] = name;
	n->input = list;
	n->n_input = count;
	return 0;
}

/*
 * Lists the nodes that are left so that makers come before readers, as the format wants it, in out[],
 * which has room for all; their number becomes *n_out. It is a depth-first walk with a stack of its own;
 * z->node keeps its order. Indexes the model anew (qz_index), so that ranges are lost. Returns 0,
 * -ENOMEM, or -EINVAL with one line in the message if nodes read each other's results in a circle.
 */
static int sorted(struct qz *z, onnx_node **out, size_t *n_out)
{
	enum { NEW, OPEN, DONE };
	size_t n = (size_t)z->n_node + 1, count = 0;
	int *stack = qz_alloc(z, n * sizeof *stack);
	size_t *next = qz_alloc(z, n * sizeof *next);
	uint8_t *state = qz_alloc(z, n);

	if (!stack || !next || !state || qz_index(z))
		return -ENOMEM;
	for (int i = 0; i < z->n_node; i++) {
		int depth = 0;

		if (!z->node[i] || state[i] != NEW)
			continue;
		stack[depth++] = i;
		state[i] = OPEN;
		while (depth) {
			int at = stack[depth - 1];

			if (next[at] == z->node[at]->n_input) {
				state[at] = DONE;
				out[count++] = z->node[at];
				depth--;
				continue;
			}
			struct qz_value *v = qz_value(z, z->node[at]->input[next[at]++]);
			int m = v ? v->maker : -1;
			if (m >= 0 && state[m] == OPEN)
				return qz_fail(z, -EINVAL, "node %d needs its own result", at);
			if (m >= 0 && state[m] == NEW) {
				stack[depth++] = m;
				state[m] = OPEN;
			}
		}
	}
	*n_out = count;
	return 0;
}

/*
 * Lists the constants that some node reads or that are outputs in out[], which has room for all; of
 * several with one name only the last. The model must be indexed. Returns their number.
 */
static size_t live_inits(struct qz *z, onnx_tensor **out)
{
	size_t n = 0;

	for (int i = 0; i < z->n_init; i++) {
		struct qz_value *v = qz_value(z, z->init[i]->name);
		if (v && v->init == i && (v->n_uses || v->is_output))
			out[n++] = z->init[i];
	}
	return n;
}

/*
 * Lists the graph's inputs that are not constants in out[], which has room for all, and returns their
 * number. Before version 4 of the format, constants were listed as inputs, too.
 */
static size_t true_inputs(struct qz *z, Weft__Onnx__Value **out)
{
	const onnx_graph *g = z->m->graph;
	size_t n = 0;

	for (size_t i = 0; i < g->n_input; i++) {
		struct qz_value *v = g->input[i]->name ? qz_value(z, g->input[i]->name) : NULL;
		if (!v || v->init < 0)
			out[n++] = g->input[i];
	}
	return n;
}

/*
 * Writes the model as a file of *len bytes with its nodes sorted; unread constants are left out, and so
 * are inputs that are constants. The format's version (ir_version) becomes at least 8, from opset 19 on
 * 9, from opset 21 on 10. *data is from malloc. Indexes the model anew, so that ranges are lost. Returns
 * 0, or -ENOMEM or -EINVAL (nodes in a circle) with one line in the message.
 */
int qz_pack(struct qz *z, uint8_t **data, size_t *len)
{
	onnx_graph g = *z->m->graph;
	onnx_model m = *z->m;
	int err;

	g.node = qz_alloc(z, (size_t)z->n_node * sizeof *g.node + 1);
	g.initializer = qz_alloc(z, (size_t)z->n_init * sizeof *g.initializer + 1);
	g.input = qz_alloc(z, z->m->graph->n_input * sizeof *g.input + 1);
	if (!g.node || !g.initializer || !g.input)
		return -ENOMEM;
	if ((err = sorted(z, g.node, &g.n_node)))
		return err;
	g.n_initializer = live_inits(z, g.initializer);
	g.n_input = true_inputs(z, g.input);
	m.graph = &g;
	m.opset_import = z->set;
	m.n_opset_import = z->n_set;
	/* The oldest version of the format that may have this opset. */
	const int64_t version = z->opset >= 21 ? 10 : z->opset >= 19 ? 9 : 8;
	m.ir_version = m.has_ir_version && m.ir_version > version ? m.ir_version : version;
	m.has_ir_version = true;
	*len = weft__onnx__model__get_packed_size(&m);
	*data = malloc(*len + 1);
	if (!*data)
		return qz_fail(z, -ENOMEM, "out of memory");
	weft__onnx__model__pack(&m, *data);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a part of a graph as an ONNX model in memory. Field numbers are those of ONNX's format.
 * Functions return 0 or a negative errno; lack of memory is only noted in struct wire until the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ep.h"
#include "wire.h"

enum { MODEL_IR = 1, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { OPSET_DOMAIN = 1, OPSET_VERSION = 2 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT, NODE_NAME, NODE_OP, NODE_ATTR, NODE_DOMAIN = 7 };
enum { ATTR_NAME = 1, ATTR_F, ATTR_I, ATTR_S, ATTR_T, ATTR_FLOATS = 7, ATTR_INTS, ATTR_STRINGS, ATTR_TYPE = 20 };
enum { TYPE_FLOAT = 1, TYPE_INT, TYPE_STRING, TYPE_TENSOR, TYPE_FLOATS = 6, TYPE_INTS, TYPE_STRINGS };
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, TYPE_OF_TENSOR = 1, TENSOR_OF = 1, TENSOR_SHAPE = 2, SHAPE_DIM = 1, DIM_VALUE = 1 };

#define MAX_RANK 64

struct writer {
	const struct ort_api *api;
	const struct part *part;   /* what is written */
	struct wire graph;         /* the model's graph so far */
	const char **written;      /* names of the constants written so far */
	size_t n_written;
	char *msg;                 /* WEFT_MSG_LEN bytes */
};

/* Writes to w->msg that `what` of `name` cannot be read from ONNX Runtime, and returns -ENOTSUP. */
static int refuse(struct writer *w, const char *what, const char *name)
{
	snprintf(w->msg, WEFT_MSG_LEN, "%s of \"%.100s\" cannot be read from ONNX Runtime", what, name);
	return -ENOTSUP;
}

/*
 * Returns ONNX's number of an element type of ONNX Runtime; 0 for strings and for types that have none
 * here.
 */
static int onnx_type(int type)
{
	/* Numbers from 17 on are the four float8 types, uint4 and int4; both formats use the same numbers. */
	return type >= 1 && type <= 22 && type != 8 ? type : 0;
}

/*
 * Reads element type, dimensions (room for MAX_RANK; negative if unknown) and rank of s. Returns 0, or
 * -ENOTSUP if a call fails or the rank is above MAX_RANK.
 */
static int shape_of(const struct ort_api *api, const struct ort_shape *s, int *type, int64_t *dims, size_t *rank)
{
	if (!ort_ok(api, api->element_type(s, type)) || !ort_ok(api, api->rank(s, rank)) || *rank > MAX_RANK ||
	    !ort_ok(api, api->dimensions(s, dims, *rank)))
		return -ENOTSUP;
	return 0;
}

/*
 * Writes the tensor v, called `name`, with type, dimensions and bytes to `out`. Returns 0, or -ENOTSUP
 * if it has a type that is not written or cannot be read.
 */
static int tensor(const struct ort_api *api, const struct ort_value *v, const char *name, struct wire *out)
{
	struct ort_shape *s;
	int64_t dims[MAX_RANK];
	const void *data = NULL;
	size_t rank, len = 0;
	int type;

	if (!ort_ok(api, api->value_shape(v, &s)))
		return -ENOTSUP;
	int err = shape_of(api, s, &type, dims, &rank);
	api->release_shape(s);
	if (err || !onnx_type(type) || !ort_ok(api, api->value_bytes(v, &len)) || !ort_ok(api, api->value_data(v, &data)))
		return -ENOTSUP;
	for (size_t i = 0; i < rank; i++)
		wire_int(out, TENSOR_DIM, dims[i]);
	wire_int(out, TENSOR_TYPE, onnx_type(type));
	wire_text(out, TENSOR_NAME, name);
	wire_bytes(out, TENSOR_RAW, data, len);
	return 0;
}

void *attr_bytes(const struct ort_api *api, const struct ort_attr *a, int type, size_t *len)
{
	char none[8];

	*len = 0;
	/* The first call sets *len to the room that is needed, and fails since there is none. */
	(void)ort_ok(api, api->read_attr(a, type, none, 0, len));
	char *data = calloc(*len + 1, 1);
	if (data && *len && !ort_ok(api, api->read_attr(a, type, data, *len, len))) {
		free(data);
		return NULL;
	}
	return data;
}

/*
 * Writes an attribute's value to `out`: integers, floats, a string or strings, one or a list, from the
 * len bytes of data that ONNX Runtime gives for this type. Returns 0, or -ENOTSUP for other types.
 */
static int attr_list(struct wire *out, int type, const char *data, size_t len)
{
	size_t n = len / 8;
	int64_t i;
	float f;

	switch (type) {
	case ORT_ATTR_INT:
	case ORT_ATTR_INTS:
		for (size_t k = 0; k < n; k++) {
			memcpy(&i, data + 8 * k, 8);
			wire_int(out, type == ORT_ATTR_INT ? ATTR_I : ATTR_INTS, i);
		}
		wire_int(out, ATTR_TYPE, type == ORT_ATTR_INT ? TYPE_INT : TYPE_INTS);
		return 0;
	case ORT_ATTR_FLOAT:
	case ORT_ATTR_FLOATS:
		for (size_t k = 0; k < len / 4; k++) {
			memcpy(&f, data + 4 * k, 4);
			wire_float(out, type == ORT_ATTR_FLOAT ? ATTR_F : ATTR_FLOATS, f);
		}
		wire_int(out, ATTR_TYPE, type == ORT_ATTR_FLOAT ? TYPE_FLOAT : TYPE_FLOATS);
		return 0;
	case ORT_ATTR_STRING:
		wire_bytes(out, ATTR_S, data, strnlen(data, len));
		wire_int(out, ATTR_TYPE, TYPE_STRING);
		return 0;
	case ORT_ATTR_STRINGS:
		for (const char *s = data; s < data + len; s += strlen(s) + 1)
			wire_text(out, ATTR_STRINGS, s);
		wire_int(out, ATTR_TYPE, TYPE_STRINGS);
		return 0;
	}
	return -ENOTSUP;
}

/*
 * Writes the value of attribute a, whose type is `type`, and the type's number to `out`. Returns 0, or
 * -ENOTSUP if it cannot be read, has a type that is not written, or there is no memory to read it; part
 * of it may have been written then, and w->msg is not.
 */
static int attr_value(struct writer *w, const struct ort_attr *a, int type, struct wire *out)
{
	struct ort_value *v = NULL;
	struct wire inner = { 0 };
	size_t len;
	int err;

	if (type == ORT_ATTR_TENSOR) {
		if (!ort_ok(w->api, w->api->attr_tensor(a, &v)) || !v)
			return -ENOTSUP;
		err = tensor(w->api, v, "", &inner);
		w->api->release_value(v);
		wire_message(out, ATTR_T, &inner);
		wire_int(out, ATTR_TYPE, TYPE_TENSOR);
		return err;
	}
	char *data = attr_bytes(w->api, a, type, &len);
	if (!data)
		return -ENOTSUP;
	err = attr_list(out, type, data, len);
	free(data);
	return err;
}

/*
 * Writes all attributes of node n to `out`. Returns 0; -ENOMEM; or -ENOTSUP, with the attribute's name in
 * w->msg, or the operator's where the list of attributes itself cannot be read.
 */
static int attrs(struct writer *w, const struct node *n, struct wire *out)
{
	const struct ort_attr **list;
	size_t count;
	int err = 0;

	if (!ort_ok(w->api, w->api->n_attrs(n->ort, &count)))
		return refuse(w, "attributes", n->op);
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	if (!ort_ok(w->api, w->api->attrs(n->ort, list, count)))
		err = refuse(w, "attributes", n->op);
	for (size_t i = 0; !err && i < count; i++) {
		struct wire a = { 0 };
		const char *name = "";
		int type;
		if (!ort_ok(w->api, w->api->attr_name(list[i], &name)) || !ort_ok(w->api, w->api->attr_type(list[i], &type)))
			err = -ENOTSUP;
		wire_text(&a, ATTR_NAME, name);
		if (!err)
			err = attr_value(w, list[i], type, &a);
		wire_message(out, NODE_ATTR, &a);
		if (err == -ENOTSUP)
			err = refuse(w, "attribute", name);
	}
	free(list);
	return err;
}

/*
 * Writes the constant behind value v to the graph, unless one of that name was written already, and notes
 * its name in w->written. Other values are skipped: a NULL v, values that are no constant, and those of
 * which ONNX Runtime cannot say whether they are. Returns 0, also if there is no memory, which w->graph
 * notes (w->graph.failed); or -ENOTSUP, with one line in w->msg, if the constant cannot be read or has a
 * type that is not written. The graph may then hold an empty tensor for it.
 */
static int constant(struct writer *w, const struct ort_value_info *v)
{
	const char *name = name_of(w->api, v);
	const struct ort_value *value = NULL;
	struct wire t = { 0 };
	bool is = false;

	if (!v || !ort_ok(w->api, w->api->is_constant(v, &is)) || !is)
		return 0;
	for (size_t i = 0; i < w->n_written; i++)
		if (!strcmp(w->written[i], name))
			return 0;
	if (!ort_ok(w->api, w->api->initializer(v, &value)) || !value)
		return refuse(w, "constant", name);
	int err = tensor(w->api, value, name, &t);
	wire_message(&w->graph, GRAPH_INITIALIZER, &t);
	w->written[w->n_written++] = name;
	return err ? refuse(w, "type", name) : 0;
}

/*
 * Writes node n with its name, inputs, results, operator, domain and attributes to the graph, and those of
 * the constants that it reads that are not written yet. Returns 0, also if there is no memory for the bytes,
 * which w->graph notes (w->graph.failed); -ENOMEM, with w->msg as it was; or -ENOTSUP, with one line in it.
 */
static int node(struct writer *w, const struct node *n)
{
	struct wire out = { 0 };
	const char *name = "";
	int err = 0;

	(void)ort_ok(w->api, w->api->node_name(n->ort, &name));
	for (size_t i = 0; i < n->n_in; i++)
		wire_text(&out, NODE_INPUT, name_of(w->api, n->in[i]));
	for (size_t i = 0; i < n->n_out; i++)
		wire_text(&out, NODE_OUTPUT, name_of(w->api, n->out[i]));
	wire_text(&out, NODE_NAME, name);
	wire_text(&out, NODE_OP, n->op);
	wire_text(&out, NODE_DOMAIN, n->domain);
	err = attrs(w, n, &out);
	wire_message(&w->graph, GRAPH_NODE, &out);
	for (size_t i = 0; !err && i < n->n_in; i++)
		err = constant(w, n->in[i]);
	return err;
}

/*
 * Writes v as an input or output of the network (field): name, element type and dimensions. An input's
 * dimensions must all be known; those of an output follow from the inputs. Returns 0, or -ENOTSUP with
 * the reason in w->msg.
 */
static int edge(struct writer *w, const struct ort_value_info *v, unsigned field)
{
	struct wire out = { 0 }, type = { 0 }, t = { 0 }, shape = { 0 };
	const struct ort_type_info *info;
	const struct ort_shape *s = NULL;
	const char *name = name_of(w->api, v);
	int64_t dims[MAX_RANK];
	size_t rank = 0;
	int element = 0;

	if (!ort_ok(w->api, w->api->value_type(v, &info)) || !ort_ok(w->api, w->api->tensor_info(info, &s)) || !s ||
	    shape_of(w->api, s, &element, dims, &rank) || !dtype_of(element))
		return refuse(w, "type", name);
	wire_int(&t, TENSOR_OF, onnx_type(element));
	for (size_t i = 0; i < rank; i++) {
		struct wire d = { 0 };
		if (dims[i] < 0 && field == GRAPH_INPUT) {
			wire_free(&t);
			wire_free(&shape);
			return refuse(w, "an open dimension", name);
		}
		if (dims[i] >= 0)
			wire_int(&d, DIM_VALUE, dims[i]);
		wire_message(&shape, SHAPE_DIM, &d);
	}
	/* Open dimensions of an output stay open: they follow from the inputs. */
	wire_message(&t, TENSOR_SHAPE, &shape);
	wire_message(&type, TYPE_OF_TENSOR, &t);
	wire_text(&out, VALUE_NAME, name);
	wire_message(&out, VALUE_TYPE, &type);
	wire_message(&w->graph, field, &out);
	return 0;
}

/*
 * Writes the format's version and the versions of the operator sets that the part's nodes use to the
 * model; the standard set is always written. Returns 0, or -ENOTSUP with the reason in w->msg if they
 * cannot be read or the graph has more than 64 sets.
 */
static int opsets(struct writer *w, struct wire *model)
{
	const char *domains[64];
	int64_t versions[64], ir;
	size_t n;

	if (!ort_ok(w->api, w->api->n_operator_sets(w->part->graph, &n)) || n > 64 ||
	    !ort_ok(w->api, w->api->operator_sets(w->part->graph, domains, versions, n)) ||
	    !ort_ok(w->api, w->api->ir_version(w->part->graph, &ir)))
		return refuse(w, "operator set", "graph");
	wire_int(model, MODEL_IR, ir);
	for (size_t i = 0; i < n; i++) {
		struct wire set = { 0 };
		bool used = !*domains[i];
		for (size_t k = 0; !used && k < w->part->n; k++)
			used = !strcmp(domains[i], w->part->nodes[k]->domain);
		if (!used)
			continue;
		wire_text(&set, OPSET_DOMAIN, domains[i]);
		wire_int(&set, OPSET_VERSION, versions[i]);
		wire_message(model, MODEL_OPSET, &set);
	}
	return 0;
}

int part_write(const struct ort_api *api, const struct part *p, uint8_t **out, size_t *len, char msg[static WEFT_MSG_LEN])
{
	struct writer w = { .api = api, .part = p, .msg = msg };
	struct wire model = { 0 };
	size_t most = 1;
	int err;

	for (size_t i = 0; i < p->n; i++)
		most += p->nodes[i]->n_in;
	w.written = calloc(most, sizeof(w.written[0]));
	snprintf(msg, WEFT_MSG_LEN, "not enough memory");
	if (!w.written)
		return -ENOMEM;
	err = opsets(&w, &model);
	wire_text(&w.graph, GRAPH_NAME, "part");
	for (size_t i = 0; !err && i < p->n; i++)
		err = node(&w, p->nodes[i]);
	for (size_t i = 0; !err && i < p->n_in; i++)
		err = edge(&w, p->in[i], GRAPH_INPUT);
	for (size_t i = 0; !err && i < p->n_out; i++)
		err = edge(&w, p->out[i], GRAPH_OUTPUT);
	wire_message(&model, MODEL_GRAPH, &w.graph);
	free(w.written);
	if (!err && model.failed)
		err = -ENOMEM;
	if (err) {
		wire_free(&model);
		return err;
	}
	*out = model.data;
	*len = model.len;
	return 0;
}

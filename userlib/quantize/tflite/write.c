/* SPDX-License-Identifier: Apache-2.0 */
/* The new network as a .tflite file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_quantize.h"
#include "userlib/export/fb_write.h"

#define MAX_FIELDS 16          /* of one table of options */
#define SCHEMA 3               /* the format's version */

/* A kind of operator of the new network, as the file lists them. */
struct code { int code, version; };

/*
 * Writes the list of kinds (code and version) of operators, each once, and sets kind[i], for which the
 * caller has room, to the number of that of operator i. Without memory the list is empty, and
 * q->blocks.failed is set. Returns the list's position in the file.
 */
static size_t write_codes(struct qt *q, struct fbw *w, uint32_t *kind)
{
	struct code *c = qt_alloc(q, ((size_t)q->n_op + 1) * sizeof *c);
	uint32_t n = 0, k;

	for (int i = 0; c && i < q->n_op; i++) {
		for (k = 0; k < n && (c[k].code != q->op[i].code || c[k].version != q->op[i].version); k++)
			;
		if (k == n)
			c[n++] = (struct code){ q->op[i].code, q->op[i].version };
		kind[i] = k;
	}
	const size_t at = fbw_offsets(w, n);
	for (k = 0; k < n; k++) {
		size_t slot[3];
		const struct fbw_field f[3] = { { CODE_DEPRECATED, 1, c[k].code < 127 ? c[k].code : 127 }, { 2, 4, c[k].version }, { CODE_BUILTIN, 4, c[k].code } };
		fbw_link(w, at + 4 + 4 * k, fbw_table(w, f, 3, slot));
	}
	return at;
}

/*
 * Writes the list of buffers: an empty one, then the data of each constant, in the tensors' order.
 * Returns the list's position in the file.
 */
static size_t write_buffers(struct qt *q, struct fbw *w)
{
	uint32_t n = 1;
	size_t slot[1];

	for (int i = 0; i < q->n_tensor; i++)
		n += q->tensor[i].data != NULL;
	const size_t at = fbw_offsets(w, n);
	fbw_link(w, at + 4, fbw_table(w, NULL, 0, slot));
	n = 1;
	for (int i = 0; i < q->n_tensor; i++) {
		const struct qt_tensor *t = &q->tensor[i];
		const struct fbw_field f = { BUFFER_DATA, 0, 0 };
		if (!t->data)
			continue;
		fbw_link(w, at + 4 + 4 * n++, fbw_table(w, &f, 1, slot));
		fbw_link(w, slot[0], fbw_vector(w, t->data, (uint32_t)t->bytes, 1, 8));
	}
	return at;
}

/*
 * Writes the table of scales, zero points and their dimension of a tensor that has them. Returns the
 * table's position in the file.
 */
static size_t write_scales(struct fbw *w, const struct qt_tensor *t)
{
	size_t slot[3];
	const struct fbw_field f[3] = { { QUANT_SCALE, 0, 0 }, { QUANT_ZERO_POINT, 0, 0 }, { QUANT_DIMENSION, 4, t->quant_dim } };
	const size_t at = fbw_table(w, f, 3, slot);

	fbw_link(w, slot[0], fbw_vector(w, t->scale, t->n_scale, sizeof *t->scale, 4));
	fbw_link(w, slot[1], fbw_vector(w, t->zp, t->n_scale, sizeof *t->zp, 8));
	return at;
}

/*
 * Writes the list of tensors; the constants refer to buffers 1, 2, ... in their order. Returns the
 * list's position in the file.
 */
static size_t write_tensors(struct qt *q, struct fbw *w)
{
	const size_t at = fbw_offsets(w, (uint32_t)q->n_tensor);
	int buffer = 1;

	for (int i = 0; i < q->n_tensor; i++) {
		const struct qt_tensor *t = &q->tensor[i];
		size_t slot[7];
		struct fbw_field f[7] = { { TENSOR_SHAPE, 0, 0 }, { TENSOR_TYPE, 1, t->type }, { TENSOR_BUFFER, 4, t->data ? buffer++ : 0 },
		                          { TENSOR_NAME, 0, 0 } };
		int n = 4;
		const int scales = t->n_scale ? n++ : -1, signature = t->signature.n ? n++ : -1;
		if (scales >= 0)
			f[scales].id = TENSOR_QUANTIZATION;
		if (signature >= 0)
			f[signature].id = TENSOR_SIGNATURE;
		if (t->variable)
			f[n++] = (struct fbw_field){ TENSOR_IS_VARIABLE, 1, 1 };
		fbw_link(w, at + 4 + 4 * (size_t)i, fbw_table(w, f, n, slot));
		fbw_link(w, slot[0], fbw_vector(w, t->dim, (uint32_t)t->rank, sizeof *t->dim, 4));
		fbw_link(w, slot[3], fbw_string(w, t->name));
		if (scales >= 0)
			fbw_link(w, slot[scales], write_scales(w, t));
		if (signature >= 0)
			fbw_link(w, slot[signature], fbw_vector(w, q->m.b.p + t->signature.at, t->signature.n, 4, 4));
	}
	return at;
}

/* Reads 16 bits of the file at position `at`, which lies in a checked vtable. */
static unsigned u16_at(const struct qt *q, size_t at)
{
	return q->m.b.p[at] | (unsigned)q->m.b.p[at + 1] << 8;
}

/*
 * Lists the fields of a table of options in f[] as numbers of 1 or 4 bytes, sign-extended, with their
 * field number; absent ones are left out. A vtable does not say how long a field is: it reaches to the
 * next one, or the end. What lies between a byte and the next field is zero, so that a byte with room for
 * four is as good as four bytes. Returns the number of fields, at most MAX_FIELDS.
 */
static int list_fields(const struct qt *q, const struct fb_table *t, struct fbw_field *f)
{
	int n = 0;

	for (uint32_t v = 4; v + 1 < t->vtable_bytes && n < MAX_FIELDS; v += 2) {
		const unsigned off = u16_at(q, t->vtable + v);
		unsigned end = t->table_bytes;

		for (uint32_t k = 4; k + 1 < t->vtable_bytes; k += 2) {
			const unsigned other = u16_at(q, t->vtable + k);
			end = other > off && other < end ? other : end;
		}
		if (!off || off >= end)
			continue;
		const bool one = end - off < 4;
		uint32_t value = q->m.b.p[t->at + off];
		for (unsigned k = 1; !one && k < 4; k++)
			value |= (uint32_t)q->m.b.p[t->at + off + k] << (8 * k);
		f[n++] = (struct fbw_field){ (int)(v - 4) / 2, one ? 1 : 4, one ? (int64_t)(int8_t)value : (int64_t)(int32_t)value };
	}
	return n;
}

/*
 * Makes field `id` of a list of n fields (with room for MAX_FIELDS) the number v of one byte, replacing
 * it or appending it; nothing if it is not there and the list is full. Returns the new n.
 */
static int set_field(struct fbw_field *f, int n, int id, int v)
{
	int k = 0;

	while (k < n && f[k].id != id)
		k++;
	if (k == MAX_FIELDS)
		return n;
	f[k] = (struct fbw_field){ id, 1, v };
	return k < n ? n : n + 1;
}

/*
 * Writes the table of options of operator o, whose o->from has options: those of the file's operator,
 * where RESHAPE, SQUEEZE and BUCKETIZE have a list of numbers of 4 bytes (or none) and all others
 * numbers. With o->any_scale (ADD and SUB of int16) they say that scales are no powers of two. Returns
 * the table's position in the file.
 */
static size_t write_options(struct qt *q, struct fbw *w, const struct qt_op *o)
{
	struct fbw_field f[MAX_FIELDS];
	const int type = o->from->options_type;
	const bool list = type == OPTIONS_RESHAPE || type == OPTIONS_SQUEEZE || type == OPTIONS_BUCKETIZE;
	size_t slot[MAX_FIELDS];
	struct fb_vec v = { 0, 0 };

	if (list) {                /* their only field */
		const bool there = fb_vector(&q->m.b, &o->from->options, 0, 4, &v) == 1;
		f[0] = (struct fbw_field){ 0, 0, 0 };
		const size_t at = fbw_table(w, f, there, slot);
		if (there)
			fbw_link(w, slot[0], fbw_vector(w, q->m.b.p + v.at, v.n, 4, 4));
		return at;
	}
	int n = list_fields(q, &o->from->options, f);
	if (o->any_scale)
		n = set_field(f, n, ADD_POWERS_OF_TWO, 0);
	return fbw_table(w, f, n, slot);
}

/*
 * Writes the list of operators; kind[i] is the number of operator i's kind, from write_codes(). Operators
 * that stand for none of the file (QUANTIZE, DEQUANTIZE) or for one without options have no options;
 * options of types from OPTIONS_2 on go into the format's second field for them.
 * Returns the list's position in the file.
 */
static size_t write_ops(struct qt *q, struct fbw *w, const uint32_t *kind)
{
	const size_t at = fbw_offsets(w, (uint32_t)q->n_op);

	for (int i = 0; i < q->n_op; i++) {
		const struct qt_op *o = &q->op[i];
		const bool options = o->from && o->from->has_options;
		const int type = options ? o->from->options_type : 0;
		const bool second = type >= OPTIONS_2;
		size_t slot[5];
		const struct fbw_field f[5] = { { OP_CODE_INDEX, 4, kind[i] }, { OP_INPUTS, 0, 0 }, { OP_OUTPUTS, 0, 0 },
		                                { second ? OP_OPTIONS_2_TYPE : OP_OPTIONS_TYPE, 1, second ? type - OPTIONS_2 : type },
		                                { second ? OP_OPTIONS_2 : OP_OPTIONS, 0, 0 } };
		fbw_link(w, at + 4 + 4 * (size_t)i, fbw_table(w, f, options ? 5 : 3, slot));
		fbw_link(w, slot[1], fbw_vector(w, o->in, (uint32_t)o->n_in, 4, 4));
		fbw_link(w, slot[2], fbw_vector(w, o->out, (uint32_t)o->n_out, 4, 4));
		if (options)
			fbw_link(w, slot[4], write_options(q, w, o));
	}
	return at;
}

/*
 * Writes the indices of the new float tensors that stand for `list`, the file's inputs or outputs.
 * Returns the list's position in the file; 0 without memory, for which qt_fail() has been called.
 */
static size_t write_ports(struct qt *q, struct fbw *w, const struct fb_vec *list)
{
	int32_t *v = qt_alloc(q, (list->n + 1) * sizeof *v);

	for (uint32_t k = 0; v && k < list->n; k++)
		v[k] = q->value[fb_i32_at(&q->m.b, list, k)].as_float;
	return v ? fbw_vector(w, v, list->n, 4, 4) : 0;
}

int qt_write(struct qt *q, uint8_t **out, size_t *len)
{
	uint32_t *kind = qt_alloc(q, ((size_t)q->n_op + 1) * sizeof *kind);
	struct fbw w = { 0 };
	size_t slot[4], port[4];

	if (!kind)
		return -ENOMEM;
	fbw_begin(&w, "TFL3");
	const struct fbw_field model[4] = { { MODEL_VERSION, 4, SCHEMA }, { MODEL_OPERATOR_CODES, 0, 0 }, { MODEL_SUBGRAPHS, 0, 0 }, { MODEL_BUFFERS, 0, 0 } };
	fbw_link(&w, 0, fbw_table(&w, model, 4, slot));
	fbw_link(&w, slot[1], write_codes(q, &w, kind));
	const size_t graphs = fbw_offsets(&w, 1);
	fbw_link(&w, slot[2], graphs);
	const struct fbw_field graph[4] = { { SUBGRAPH_TENSORS, 0, 0 }, { SUBGRAPH_INPUTS, 0, 0 }, { SUBGRAPH_OUTPUTS, 0, 0 }, { SUBGRAPH_OPERATORS, 0, 0 } };
	fbw_link(&w, graphs + 4, fbw_table(&w, graph, 4, port));
	fbw_link(&w, port[0], write_tensors(q, &w));
	fbw_link(&w, port[1], write_ports(q, &w, &q->m.inputs));
	fbw_link(&w, port[2], write_ports(q, &w, &q->m.outputs));
	fbw_link(&w, port[3], write_ops(q, &w, kind));
	fbw_link(&w, slot[3], write_buffers(q, &w));
	if (w.failed || q->blocks.failed) {
		free(w.p);
		return qt_fail(q, -ENOMEM, "out of memory");
	}
	*out = w.p;
	*len = w.n;
	return 0;
}

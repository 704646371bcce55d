/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a TFLite file into the plain structures of tflite_file.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_file.h"
#include "tflite_ids.h"

/* The file's lists of operator codes and buffers, and the subgraph's lists of tensors and operators. */
struct root {
	struct fb_vec codes, buffers, tensors, operators;
};

/*
 * Says what part of the file messages name from now on: `what`, such as "tensor", and its index; -1: no index.
 */
static void enter(struct fb *b, const char *what, long index)
{
	b->what = what;
	b->index = index;
}

/*
 * Sets *value to an int32 field of table t, or to absent_value if the field is absent. Returns 0 or
 * -EINVAL.
 */
static int int_field(const struct fb *b, const struct fb_table *t, int field, int absent_value, int *value)
{
	int64_t v;
	int err = fb_int(b, t, field, 4, true, absent_value, &v);

	*value = (int)v;
	return err;
}

/*
 * Sets t's data and data_len to buffer `index`, whose bytes are in the FlatBuffer, or elsewhere in the
 * file at the offset (0 and 1 count as none) and of the size that the buffer gives; a buffer without
 * bytes leaves data NULL. Returns 0, or -EINVAL if there is no such buffer or it is not wholly in the
 * file.
 */
static int read_buffer(struct tfl_model *m, const struct root *r, int64_t index, struct tfl_tensor *t)
{
	struct fb *b = &m->b;
	struct fb_table table;
	struct fb_vec bytes;
	int64_t offset, size;
	int err;

	if (index >= r->buffers.n)
		return fb_fail(b, t->at, "buffer %lld of %u", (long long)index, (unsigned)r->buffers.n);
	if ((err = fb_vector_table(b, &r->buffers, (uint32_t)index, &table)) ||
	    (err = fb_vector(b, &table, BUFFER_DATA, 1, &bytes)) < 0 ||
	    (err = fb_int(b, &table, BUFFER_OFFSET, 8, false, 0, &offset)) ||
	    (err = fb_int(b, &table, BUFFER_SIZE, 8, false, 0, &size)))
		return err;
	if (bytes.n) {
		t->data = b->p + bytes.at;
		t->data_len = bytes.n;
	} else if ((uint64_t)offset > 1) {
		if ((uint64_t)offset > b->len || (uint64_t)size > b->len - (uint64_t)offset)
			return fb_fail(b, table.at, "buffer of %llu bytes from byte %llu leaves the file of %zu",
			               (unsigned long long)size, (unsigned long long)offset, b->len);
		t->data = size ? b->p + offset : NULL;
		t->data_len = (size_t)size;
	}
	return 0;
}

/*
 * Sets scales, zero points and their dimension of *t from the tensor's table; the vectors stay in the file.
 * Quantisation with details of its own sets has_custom_quant; if these say that it goes by blocks,
 * block_scales, block_zero_points and block_size, too. Returns 0, also if there is no quantisation, or -EINVAL.
 */
static int read_quantization(struct tfl_model *m, const struct fb_table *table, struct tfl_tensor *t)
{
	struct fb *b = &m->b;
	struct fb_table q;
	int64_t details;
	int err = fb_sub(b, table, TENSOR_QUANTIZATION, &q);

	if (err <= 0)
		return err;
	if ((err = fb_vector(b, &q, QUANT_SCALE, 4, &t->scale)) < 0 ||
	    (err = fb_vector(b, &q, QUANT_ZERO_POINT, 8, &t->zero_point)) < 0 ||
	    (err = fb_int(b, &q, QUANT_DETAILS_TYPE, 1, false, 0, &details)) ||
	    (err = int_field(b, &q, QUANT_DIMENSION, 0, &t->quant_dim)))
		return err;
	t->has_custom_quant = details != 0;
	if (details != DETAILS_BLOCKWISE || (err = fb_sub(b, &q, QUANT_DETAILS, &q)) <= 0)
		return details != DETAILS_BLOCKWISE ? 0 : err;
	if ((err = int_field(b, &q, BLOCKWISE_SCALES, 0, &t->block_scales)) ||
	    (err = int_field(b, &q, BLOCKWISE_ZERO_POINTS, 0, &t->block_zero_points)))
		return err;
	return int_field(b, &q, BLOCKWISE_SIZE, 0, &t->block_size);
}

/*
 * Reads table i of the subgraph's tensors into m->tensors[i], which keeps references into the file;
 * type, shape and size of the data are not judged. Returns 0 or -EINVAL.
 */
static int read_tensor(struct tfl_model *m, const struct root *r, uint32_t i)
{
	struct fb *b = &m->b;
	struct tfl_tensor *t = &m->tensors[i];
	struct fb_table table;
	struct fb_vec name;
	int64_t type, buffer, variable;
	int err;

	enter(b, "tensor", (long)i);
	if ((err = fb_vector_table(b, &r->tensors, i, &table)))
		return err;
	t->at = table.at;
	if ((err = fb_vector(b, &table, TENSOR_SHAPE, 4, &t->shape)) < 0 ||
	    (err = fb_int(b, &table, TENSOR_TYPE, 1, true, 0, &type)) ||
	    (err = fb_int(b, &table, TENSOR_BUFFER, 4, false, 0, &buffer)) ||
	    (err = fb_vector(b, &table, TENSOR_NAME, 1, &name)) < 0 ||
	    (err = fb_int(b, &table, TENSOR_IS_VARIABLE, 1, false, 0, &variable)) ||
	    (err = fb_vector(b, &table, TENSOR_SIGNATURE, 4, &t->signature)) < 0 ||
	    (err = read_quantization(m, &table, t)) || (err = fb_sub(b, &table, TENSOR_SPARSITY, &t->sparsity)) < 0)
		return err;
	t->is_sparse = err > 0;
	t->type = (int)type;
	t->is_variable = variable != 0;
	t->name = name.n ? (const char *)b->p + name.at : "";
	t->name_len = name.n;
	return read_buffer(m, r, buffer, t);
}

/*
 * Sets o->code and the name of a custom operator from entry `index` of the file's list of operator
 * codes; of the old and the new field for the code the larger number counts. Returns 0 or -EINVAL.
 */
static int read_code(struct tfl_model *m, const struct root *r, int64_t index, struct tfl_op *o)
{
	struct fb *b = &m->b;
	struct fb_table table;
	struct fb_vec custom;
	int64_t old;
	int code, err;

	if (index >= r->codes.n)
		return fb_fail(b, o->at, "operator code %lld of %u", (long long)index, (unsigned)r->codes.n);
	if ((err = fb_vector_table(b, &r->codes, (uint32_t)index, &table)) ||
	    (err = fb_int(b, &table, CODE_DEPRECATED, 1, true, 0, &old)) ||
	    (err = int_field(b, &table, CODE_BUILTIN, 0, &code)) ||
	    (err = fb_vector(b, &table, CODE_CUSTOM, 1, &custom)) < 0)
		return err;
	o->code = old > code ? (int)old : code;
	o->custom = custom.n ? (const char *)b->p + custom.at : "";
	o->custom_len = custom.n;
	return 0;
}

/*
 * Sets o->custom_options and n_custom_options to the options of a custom operator, which stand in its table or,
 * if they are large, elsewhere in the file; NULL and 0 if there are none. Returns 0, or -EINVAL if the file is
 * damaged or they leave it.
 */
static int read_custom_options(struct fb *b, const struct fb_table *table, struct tfl_op *o)
{
	struct fb_vec bytes;
	int64_t offset, size;
	int err = fb_vector(b, table, OP_CUSTOM_OPTIONS, 1, &bytes);

	if (err < 0 || (err = fb_int(b, table, OP_LARGE_OFFSET, 8, false, 0, &offset)) ||
	    (err = fb_int(b, table, OP_LARGE_SIZE, 8, false, 0, &size)))
		return err;
	o->custom_options = bytes.n ? b->p + bytes.at : NULL;
	o->n_custom_options = bytes.n;
	if (bytes.n || (uint64_t)offset <= 1)
		return 0;
	if ((uint64_t)offset > b->len || (uint64_t)size > b->len - (uint64_t)offset)
		return fb_fail(b, table->at, "options of %llu bytes from byte %llu leave the file of %zu", (unsigned long long)size,
		               (unsigned long long)offset, b->len);
	o->custom_options = size ? b->p + offset : NULL;
	o->n_custom_options = (uint64_t)size;
	return 0;
}

/*
 * Reads table i of the subgraph's operators into m->ops[i]: code, operands, results and options, which stay
 * references into the file and are not judged. Options in the format's second field for them get the type
 * OPTIONS_2 plus the number there; they count only if the first field is absent. Returns 0 or -EINVAL.
 */
static int read_op(struct tfl_model *m, const struct root *r, uint32_t i)
{
	struct fb *b = &m->b;
	struct tfl_op *o = &m->ops[i];
	struct fb_table table;
	int64_t code, options;
	int err;

	enter(b, "operator", (long)i);
	if ((err = fb_vector_table(b, &r->operators, i, &table)))
		return err;
	o->at = table.at;
	if ((err = fb_int(b, &table, OP_CODE_INDEX, 4, false, 0, &code)) ||
	    (err = fb_vector(b, &table, OP_INPUTS, 4, &o->in)) < 0 ||
	    (err = fb_vector(b, &table, OP_OUTPUTS, 4, &o->out)) < 0 ||
	    (err = fb_vector(b, &table, OP_INTERMEDIATES, 4, &o->intermediates)) < 0 ||
	    (err = fb_int(b, &table, OP_OPTIONS_TYPE, 1, false, 0, &options)) ||
	    (err = fb_sub(b, &table, OP_OPTIONS, &o->options)) < 0)
		return err;
	o->has_options = err > 0;
	o->options_type = (int)options;
	if (!o->has_options) {
		if ((err = fb_int(b, &table, OP_OPTIONS_2_TYPE, 1, false, 0, &options)) || (err = fb_sub(b, &table, OP_OPTIONS_2, &o->options)) < 0)
			return err;
		o->has_options = err > 0;
		o->options_type = o->has_options ? OPTIONS_2 + (int)options : o->options_type;
	}
	err = read_custom_options(b, &table, o);
	return err ? err : read_code(m, r, code, o);
}

/*
 * Sets m's inputs and outputs and r's tensors and operators to the lists of subgraph i. Returns 0,
 * or -EINVAL, also if there are more than TFL_MAX_TENSORS tensors or TFL_MAX_OPERATORS operators.
 */
static int read_subgraph(struct tfl_model *m, struct root *r, const struct fb_vec *subgraphs, uint32_t i)
{
	struct fb *b = &m->b;
	struct fb_table table;
	int err;

	enter(b, "subgraph", (long)i);
	if ((err = fb_vector_table(b, subgraphs, i, &table)) ||
	    (err = fb_vector(b, &table, SUBGRAPH_TENSORS, 4, &r->tensors)) < 0 ||
	    (err = fb_vector(b, &table, SUBGRAPH_INPUTS, 4, &m->inputs)) < 0 ||
	    (err = fb_vector(b, &table, SUBGRAPH_OUTPUTS, 4, &m->outputs)) < 0 ||
	    (err = fb_vector(b, &table, SUBGRAPH_OPERATORS, 4, &r->operators)) < 0)
		return err;
	if (r->tensors.n > TFL_MAX_TENSORS)
		return fb_fail(b, table.at, "%u tensors > %d", (unsigned)r->tensors.n, TFL_MAX_TENSORS);
	if (r->operators.n > TFL_MAX_OPERATORS)
		return fb_fail(b, table.at, "%u operators > %d", (unsigned)r->operators.n, TFL_MAX_OPERATORS);
	return 0;
}

/*
 * Checks the file's identifier and version, 3, and sets *r, m->n_subgraphs, and m's inputs and outputs to the
 * lists of the file and of subgraph i. Returns 0, or -EINVAL also if there is no subgraph i.
 */
static int read_root(struct tfl_model *m, struct root *r, uint32_t i)
{
	struct fb *b = &m->b;
	struct fb_table model;
	struct fb_vec subgraphs;
	int version, err;

	enter(b, "TFLite file", -1);
	if (b->len < 8 || memcmp(b->p + 4, "TFL3", 4))
		return fb_fail(b, 4, "no TFL3 identifier");
	if ((err = fb_root(b, &model)) || (err = int_field(b, &model, MODEL_VERSION, 0, &version)))
		return err;
	if (version != 3)
		return fb_fail(b, model.at, "version %d, not 3", version);
	if ((err = fb_vector(b, &model, MODEL_OPERATOR_CODES, 4, &r->codes)) < 0 ||
	    (err = fb_vector(b, &model, MODEL_BUFFERS, 4, &r->buffers)) < 0 ||
	    (err = fb_vector(b, &model, MODEL_SUBGRAPHS, 4, &subgraphs)) < 0)
		return err;
	if (subgraphs.n == 0)
		return fb_fail(b, model.at, "no subgraph");
	if (i >= subgraphs.n)
		return fb_fail(b, model.at, "subgraph %u of %u", (unsigned)i, (unsigned)subgraphs.n);
	m->n_subgraphs = subgraphs.n > INT32_MAX ? INT32_MAX : (int)subgraphs.n;
	return read_subgraph(m, r, &subgraphs, i);
}

/*
 * Reads tensors and operators of a subgraph into *m, whose lists it allocates. Returns 0, -EINVAL
 * or -ENOMEM; the caller releases *m in either case.
 */
static int read_all(struct tfl_model *m, uint32_t subgraph)
{
	struct root r = { 0 };
	int err = read_root(m, &r, subgraph);

	if (err)
		return err;
	m->n_tensors = (int)r.tensors.n;
	m->n_ops = (int)r.operators.n;
	m->tensors = calloc(r.tensors.n + 1u, sizeof *m->tensors);
	m->ops = calloc(r.operators.n + 1u, sizeof *m->ops);
	if (!m->tensors || !m->ops) {
		fb_fail(&m->b, 0, "out of memory");
		return -ENOMEM;
	}
	for (uint32_t i = 0; !err && i < r.tensors.n; i++)
		err = read_tensor(m, &r, i);
	for (uint32_t i = 0; !err && i < r.operators.n; i++)
		err = read_op(m, &r, i);
	return err;
}

/*
 * Reads the first subgraph of a file of len bytes into *m, which points into data. Returns 0,
 * -EINVAL or -ENOMEM. After a failure one line is in msg (msg_bytes bytes) and nothing is left to
 * free.
 */
int tfl_read(struct tfl_model *m, const void *data, size_t len, char *msg, size_t msg_bytes)
{
	memset(m, 0, sizeof *m);
	m->b = (struct fb){ .p = data, .len = len, .what = "TFLite file", .index = -1, .msg = msg, .msg_bytes = msg_bytes };
	int err = read_all(m, 0);
	if (err)
		tfl_release(m);
	return err;
}

/*
 * Reads subgraph i of the file from which model `of` was read into *m; tfl_read() reads the first
 * one. Messages go where those of `of` went. Returns 0, -EINVAL or -ENOMEM; after a failure nothing
 * is left to free.
 */
int tfl_read_subgraph(struct tfl_model *m, const struct tfl_model *of, uint32_t i)
{
	memset(m, 0, sizeof *m);
	m->b = of->b;
	int err = read_all(m, i);
	if (err)
		tfl_release(m);
	return err;
}

/* ---- signatures ---- */

/*
 * Gives the tensors in list `field` of signature t, its inputs or outputs, the names that stand there. A port
 * without a name gets "". Returns 0, or -EINVAL if the list is broken or names a tensor that is not there.
 */
static int rename_ports(struct tfl_model *m, const struct fb_table *t, int field)
{
	struct fb_vec ports, name;
	struct fb_table port;
	int64_t i;
	int err = fb_vector(&m->b, t, field, 4, &ports);

	for (uint32_t k = 0; err >= 0 && k < ports.n; k++) {
		if ((err = fb_vector_table(&m->b, &ports, k, &port)) || (err = fb_vector(&m->b, &port, PORT_NAME, 1, &name)) < 0 ||
		    (err = fb_int(&m->b, &port, PORT_TENSOR, 4, false, 0, &i)))
			return err;
		if (i >= m->n_tensors)
			return fb_fail(&m->b, port.at, "tensor %lld of %d", (long long)i, m->n_tensors);
		m->tensors[i].name = name.n ? (const char *)m->b.p + name.at : "";
		m->tensors[i].name_len = name.n;
	}
	return err < 0 ? err : 0;
}

/*
 * Sets *t to the first signature of that name and *subgraph to its subgraph's number, which is not checked.
 * If there is none of that name, the message lists the others' names. Returns 0 or -EINVAL.
 */
static int find_signature(struct fb *b, const char *name, struct fb_table *t, int64_t *subgraph)
{
	char known[160] = "";
	struct fb_table model;
	struct fb_vec all, key;
	int err = fb_root(b, &model);

	if (err || (err = fb_vector(b, &model, MODEL_SIGNATURES, 4, &all)) < 0)
		return err;
	for (uint32_t k = 0; k < all.n; k++) {
		if ((err = fb_vector_table(b, &all, k, t)) || (err = fb_vector(b, t, SIGNATURE_KEY, 1, &key)) < 0 ||
		    (err = fb_int(b, t, SIGNATURE_SUBGRAPH, 4, false, 0, subgraph)))
			return err;
		if (key.n == strlen(name) && !memcmp(b->p + key.at, name, key.n))
			return 0;
		size_t n = strlen(known);
		snprintf(known + n, sizeof known - n, "%s\"%.*s\"", n ? ", " : "", (int)(key.n < 40 ? key.n : 40), (const char *)b->p + key.at);
	}
	for (char *p = known; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return fb_fail(b, model.at, "no signature \"%.60s\"; the file has %s", name, *known ? known : "none");
}

int tfl_read_signature(struct tfl_model *m, const struct tfl_model *of, const char *name)
{
	struct fb b = of->b;
	struct fb_table t;
	int64_t subgraph = 0;

	enter(&b, "TFLite file", -1);
	int err = find_signature(&b, name, &t, &subgraph);
	if (err || (err = tfl_read_subgraph(m, of, (uint32_t)subgraph)))
		return err;
	enter(&m->b, "signature", -1);
	if ((err = rename_ports(m, &t, SIGNATURE_INPUTS)) || (err = rename_ports(m, &t, SIGNATURE_OUTPUTS)))
		tfl_release(m);
	return err;
}

/* Frees the lists of m and sets them to NULL. The file's bytes are the caller's and stay. */
void tfl_release(struct tfl_model *m)
{
	free(m->tensors);
	free(m->ops);
	m->tensors = NULL;
	m->ops = NULL;
}

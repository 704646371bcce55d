/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small TFLite files for tests, written front to back: a table's children
 * follow it, and the table's offsets are filled in when they are placed.
 * Field ids and numbers as in userlib/import/tflite/tflite.fbs.
 */
#ifndef WEFT_TESTS_TFLITE_BUILD_H
#define WEFT_TESTS_TFLITE_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/import/tflite/tflite_ids.h"

#define TB_BYTES   (1 << 20)
#define TB_TENSORS 24
#define TB_OPS     24
#define TB_CHANNELS 64

struct tb_field { int id, bytes; int64_t value; };  /* bytes 0: an offset, filled in later */

struct tb_tensor {
	int type, rank;
	int32_t dim[8];
	int n_scale, axis;
	float scale[TB_CHANNELS];
	int64_t zp[TB_CHANNELS];
	const void *data;
	uint32_t data_bytes;
	bool open;                 /* the file leaves dimension 1 open */
	bool variable;             /* state between runs; such a tensor has neither scale nor open dimension */
};

struct tb_op {
	int code, n_in, n_out, in[24], out[4], options_type, n_options;
	struct tb_field options[8];
	const void *list;          /* n_list numbers of 4 bytes: the options' field 0, which then has bytes 0 */
	uint32_t n_list;
	const char *custom;        /* of code CUSTOM: its name and the bytes of its options */
	const void *custom_options;
	uint32_t n_custom_options;
};

struct tb {
	uint8_t *p;
	uint32_t n;
	struct tb_tensor tensor[TB_TENSORS];
	struct tb_op op[TB_OPS];
	int n_tensors, n_ops;
	int32_t in[8], out[8];
	int n_in, n_out;
};

static inline void tb_put(struct tb *b, uint32_t at, int64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		b->p[at + (uint32_t)i] = (uint8_t)((uint64_t)v >> (8 * i));
}

static inline void tb_align(struct tb *b, uint32_t to)
{
	while (b->n % to)
		b->p[b->n++] = 0;
}

/* vtable and table; slot[i] is where field i's value stands. */
static inline uint32_t tb_table(struct tb *b, const struct tb_field *f, int n, uint32_t *slot)
{
	int top = -1;

	for (int i = 0; i < n; i++)
		top = f[i].id > top ? f[i].id : top;
	tb_align(b, 8);
	uint32_t vt = b->n, bytes = 4 + 2 * (uint32_t)(top + 1);
	memset(b->p + vt, 0, bytes);
	b->n += bytes;
	tb_align(b, 8);
	uint32_t at = b->n;
	b->n += 4;
	for (int i = 0; i < n; i++) {
		int size = f[i].bytes ? f[i].bytes : 4;
		tb_align(b, (uint32_t)size);
		slot[i] = b->n;
		tb_put(b, b->n, f[i].value, size);
		tb_put(b, vt + 4 + 2 * (uint32_t)f[i].id, b->n - at, 2);
		b->n += (uint32_t)size;
	}
	tb_put(b, at, (int64_t)at - vt, 4);
	tb_put(b, vt, bytes, 2);
	tb_put(b, vt + 2, b->n - at, 2);
	return at;
}

static inline void tb_link(struct tb *b, uint32_t slot, uint32_t target)
{
	tb_put(b, slot, (int64_t)target - slot, 4);
}

static inline void tb_vector(struct tb *b, uint32_t slot, const void *data, uint32_t n, uint32_t elem)
{
	tb_align(b, 8);
	b->n += 4;                         /* so that elements stand at multiples of 8 */
	tb_link(b, slot, b->n);
	tb_put(b, b->n, n, 4);
	b->n += 4;
	if (n)
		memcpy(b->p + b->n, data, (size_t)n * elem);
	b->n += n * elem;
}

/* A vector of n offsets; returns where the first stands. */
static inline uint32_t tb_offsets(struct tb *b, uint32_t slot, uint32_t n)
{
	tb_align(b, 4);
	tb_link(b, slot, b->n);
	tb_put(b, b->n, n, 4);
	uint32_t first = b->n + 4;
	b->n += 4 + 4 * n;
	return first;
}

static inline void tb_write_tensor(struct tb *b, uint32_t slot, int i)
{
	const struct tb_tensor *t = &b->tensor[i];
	const struct tb_field f[] = { { TENSOR_SHAPE, 0, 0 }, { TENSOR_TYPE, 1, t->type },
		{ TENSOR_BUFFER, 4, t->data ? i + 1 : 0 }, { TENSOR_NAME, 0, 0 },
		{ t->variable ? TENSOR_IS_VARIABLE : t->n_scale ? TENSOR_QUANTIZATION : TENSOR_SIGNATURE, t->variable, t->variable },
		{ TENSOR_SIGNATURE, 0, 0 } };
	int32_t signature[8];
	const struct tb_field q[] = { { QUANT_SCALE, 0, 0 }, { QUANT_ZERO_POINT, 0, 0 }, { QUANT_DIMENSION, 4, t->axis } };
	char name[3] = { 't', (char)('a' + i), 0 };
	uint32_t s[8];

	tb_link(b, slot, tb_table(b, f, 4 + t->variable + (t->n_scale != 0) + t->open, s));
	tb_vector(b, s[0], t->dim, (uint32_t)t->rank, 4);
	tb_vector(b, s[3], name, 2, 1);
	memcpy(signature, t->dim, sizeof signature);
	signature[1] = -1;
	if (t->open)
		tb_vector(b, s[t->n_scale ? 5 : 4], signature, (uint32_t)t->rank, 4);
	if (!t->n_scale)
		return;
	tb_link(b, s[4], tb_table(b, q, 3, s));
	tb_vector(b, s[0], t->scale, (uint32_t)t->n_scale, 4);
	tb_vector(b, s[1], t->zp, (uint32_t)t->n_scale, 8);
}

static inline void tb_write_op(struct tb *b, uint32_t slot, int i)
{
	const struct tb_op *o = &b->op[i];
	const bool second = o->options_type >= OPTIONS_2;
	const struct tb_field f[] = { { OP_CODE_INDEX, 4, i }, { OP_INPUTS, 0, 0 }, { OP_OUTPUTS, 0, 0 },
		{ o->custom ? OP_CUSTOM_OPTIONS : second ? OP_OPTIONS_2_TYPE : OP_OPTIONS_TYPE, !o->custom, o->options_type - (second ? OPTIONS_2 : 0) },
		{ second ? OP_OPTIONS_2 : OP_OPTIONS, 0, 0 } };
	uint32_t s[8], field[8];

	tb_link(b, slot, tb_table(b, f, o->options_type ? 5 : o->custom_options ? 4 : 3, s));
	tb_vector(b, s[1], o->in, (uint32_t)o->n_in, 4);
	tb_vector(b, s[2], o->out, (uint32_t)o->n_out, 4);
	if (o->custom_options)
		tb_vector(b, s[3], o->custom_options, o->n_custom_options, 1);
	if (o->options_type)
		tb_link(b, s[4], tb_table(b, o->options, o->n_options, field));
	if (o->list)
		tb_vector(b, field[0], o->list, o->n_list, 4);
}

static inline void tb_write_subgraph(struct tb *b, uint32_t slot)
{
	const struct tb_field f[] = { { SUBGRAPH_TENSORS, 0, 0 }, { SUBGRAPH_INPUTS, 0, 0 }, { SUBGRAPH_OUTPUTS, 0, 0 },
		{ SUBGRAPH_OPERATORS, 0, 0 } };
	uint32_t s[4];

	tb_link(b, slot, tb_table(b, f, 4, s));
	tb_vector(b, s[1], b->in, (uint32_t)b->n_in, 4);
	tb_vector(b, s[2], b->out, (uint32_t)b->n_out, 4);
	uint32_t tensors = tb_offsets(b, s[0], (uint32_t)b->n_tensors);
	for (int i = 0; i < b->n_tensors; i++)
		tb_write_tensor(b, tensors + 4 * (uint32_t)i, i);
	uint32_t ops = tb_offsets(b, s[3], (uint32_t)b->n_ops);
	for (int i = 0; i < b->n_ops; i++)
		tb_write_op(b, ops + 4 * (uint32_t)i, i);
}

/* The file; *n bytes, to be freed. */
static inline uint8_t *tb_file(struct tb *b, size_t *n)
{
	const struct tb_field f[] = { { MODEL_VERSION, 4, 3 }, { MODEL_OPERATOR_CODES, 0, 0 }, { MODEL_SUBGRAPHS, 0, 0 },
		{ MODEL_BUFFERS, 0, 0 } };
	uint32_t s[4], unused[4];

	b->p = calloc(1, TB_BYTES);
	memcpy(b->p + 4, "TFL3", 4);
	b->n = 8;
	tb_link(b, 0, tb_table(b, f, 4, s));
	uint32_t codes = tb_offsets(b, s[1], (uint32_t)b->n_ops);
	for (int i = 0; i < b->n_ops; i++) {
		const struct tb_field c[] = { { CODE_DEPRECATED, 1, b->op[i].code < 127 ? b->op[i].code : 127 },
			{ CODE_BUILTIN, 4, b->op[i].code }, { CODE_CUSTOM, 0, 0 } };
		const char *name = b->op[i].custom;
		tb_link(b, codes + 4 * (uint32_t)i, tb_table(b, c, name ? 3 : 2, unused));
		if (name)
			tb_vector(b, unused[2], name, (uint32_t)strlen(name), 1);
	}
	tb_write_subgraph(b, tb_offsets(b, s[2], 1));
	uint32_t buffers = tb_offsets(b, s[3], (uint32_t)b->n_tensors + 1);
	for (int i = 0; i <= b->n_tensors; i++) {
		const struct tb_tensor *t = i ? &b->tensor[i - 1] : NULL;
		const struct tb_field data = { BUFFER_DATA, 0, 0 };
		tb_link(b, buffers + 4 * (uint32_t)i, tb_table(b, &data, t && t->data, unused));
		if (t && t->data)
			tb_vector(b, unused[0], t->data, t->data_bytes, 1);
	}
	*n = b->n;
	return b->p;
}

/* A tensor with one scale (none when scale is 0); returns its index. */
static inline int tb_add(struct tb *b, int type, int rank, const int32_t *dim, float scale, int64_t zp)
{
	struct tb_tensor *t = &b->tensor[b->n_tensors];

	t->type = type;
	t->rank = rank;
	memcpy(t->dim, dim, (size_t)rank * sizeof *dim);
	t->n_scale = scale != 0;
	t->scale[0] = scale;
	t->zp[0] = zp;
	return b->n_tensors++;
}

static inline void tb_constant(struct tb *b, int i, const void *data, size_t bytes)
{
	b->tensor[i].data = data;
	b->tensor[i].data_bytes = (uint32_t)bytes;
}

static inline struct tb_op *tb_op(struct tb *b, int code, int options_type)
{
	struct tb_op *o = &b->op[b->n_ops++];

	o->code = code;
	o->options_type = options_type;
	return o;
}

static inline void tb_option(struct tb_op *o, int id, int bytes, int64_t value)
{
	o->options[o->n_options++] = (struct tb_field){ id, bytes, value };
}

#endif

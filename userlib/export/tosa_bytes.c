/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the blocks as a file's bytes: one region, whose first block is the
 * network. Field ids are from userlib/import/tosa/tosa.fbs.
 */
#include <string.h>

#include "tosa_out.h"

/*
 * Appends a vector of the n strings to w and returns its position, which means nothing if w->failed
 * is set.
 */
static size_t write_names(struct fbw *w, char *const *names, int n)
{
	size_t v = fbw_offsets(w, (uint32_t)n);

	for (int i = 0; i < n; i++)
		fbw_link(w, v + 4 + 4 * (size_t)i, fbw_string(w, names[i]));
	return v;
}

/* Writes the table of tensor t, with its data if it has any, and returns the table's position. */
static size_t write_tensor(struct fbw *w, const struct xtensor *t)
{
	const struct fbw_field f[] = {
		{ TOSA_TENSOR_NAME, 0, 0 }, { TOSA_TENSOR_SHAPE, 0, 0 }, { TOSA_TENSOR_TYPE, 4, t->type },
		{ TOSA_TENSOR_VARIABLE, 1, t->variable }, { TOSA_TENSOR_DATA, 0, 0 },
	};
	size_t slot[5], at = fbw_table(w, f, t->data ? 5 : 4, slot);

	fbw_link(w, slot[0], fbw_string(w, t->name));
	fbw_link(w, slot[1], fbw_vector(w, t->dim, (uint32_t)t->rank, 4, 4));
	if (t->data)
		fbw_link(w, slot[4], fbw_vector(w, t->data, (uint32_t)t->data_len, 1, 8));
	return at;
}

/*
 * Writes the table of shape s and returns its position. If the values are not known, because the
 * shape is an input, the vector of its data is empty.
 */
static size_t write_shape(struct fbw *w, const struct xshape *s)
{
	const struct fbw_field f[] = { { TOSA_SHAPE_NAME, 0, 0 }, { TOSA_SHAPE_RANK, 4, s->n }, { TOSA_SHAPE_DATA, 0, 0 } };
	size_t slot[3], at = fbw_table(w, f, 3, slot);

	fbw_link(w, slot[0], fbw_string(w, s->name));
	fbw_link(w, slot[2], fbw_vector(w, s->v, s->known ? 8 * (uint32_t)s->n : 0, 1, 8));
	return at;
}

/*
 * Writes the attribute table of operator o from its list of fields, at most 6, and returns the
 * table's position. Bytes begin at a multiple of 8 and have a zero behind them.
 */
static size_t write_attributes(struct fbw *w, const struct xop *o)
{
	struct fbw_field f[6];
	size_t slot[6];

	for (int i = 0; i < o->n_fields; i++) {
		const struct xfield *x = &o->field[i];
		f[i] = (struct fbw_field){ x->id, x->kind == X_BOOL ? 1 : x->kind == X_I32 ? 4 : 0, x->value };
	}
	size_t at = fbw_table(w, f, o->n_fields, slot);
	for (int i = 0; i < o->n_fields; i++) {
		const struct xfield *x = &o->field[i];
		if (x->kind == X_LIST)
			fbw_link(w, slot[i], fbw_vector(w, x->list, (uint32_t)x->n, 4, 4));
		if (x->kind == X_BYTES) {
			/* Aligned for numbers, and with the zero that a string wants behind it. */
			fbw_link(w, slot[i], fbw_vector(w, x->bytes, (uint32_t)x->n, 1, 8));
			fbw_vector(w, NULL, 0, 1, 4);
		}
	}
	return at;
}

/*
 * Writes the table of operator o with its attribute table and the names of its operands and
 * results, and returns the table's position.
 */
static size_t write_op(struct fbw *w, const struct xop *o)
{
	const struct fbw_field f[] = {
		{ TOSA_OP_OP, 4, o->code }, { TOSA_OP_ATTRIBUTE_TYPE, 1, o->code }, { TOSA_OP_ATTRIBUTE, 0, 0 },
		{ TOSA_OP_INPUTS, 0, 0 }, { TOSA_OP_OUTPUTS, 0, 0 },
	};
	size_t slot[5], at = fbw_table(w, f, 5, slot);

	fbw_link(w, slot[2], write_attributes(w, o));
	fbw_link(w, slot[3], write_names(w, o->in, o->n_in));
	fbw_link(w, slot[4], write_names(w, o->out, o->n_out));
	return at;
}

/*
 * Writes the table of block b with its operators, tensors, inputs, outputs and shapes, and returns
 * the table's position.
 */
static size_t write_block(struct fbw *w, const struct xblock *b)
{
	static const struct fbw_field f[] = {
		{ TOSA_BLOCK_NAME, 0, 0 }, { TOSA_BLOCK_OPERATORS, 0, 0 }, { TOSA_BLOCK_TENSORS, 0, 0 },
		{ TOSA_BLOCK_INPUTS, 0, 0 }, { TOSA_BLOCK_OUTPUTS, 0, 0 }, { TOSA_BLOCK_SHAPES, 0, 0 },
	};
	size_t slot[6], at = fbw_table(w, f, 6, slot), v;

	fbw_link(w, slot[0], fbw_string(w, b->name));
	fbw_link(w, slot[1], v = fbw_offsets(w, (uint32_t)b->n_ops));
	for (int i = 0; i < b->n_ops; i++)
		fbw_link(w, v + 4 + 4 * (size_t)i, write_op(w, &b->ops[i]));
	fbw_link(w, slot[2], v = fbw_offsets(w, (uint32_t)b->n_tensors));
	for (int i = 0; i < b->n_tensors; i++)
		fbw_link(w, v + 4 + 4 * (size_t)i, write_tensor(w, &b->tensors[i]));
	fbw_link(w, slot[3], write_names(w, b->in, b->n_in));
	fbw_link(w, slot[4], write_names(w, b->out, b->n_out));
	fbw_link(w, slot[5], v = fbw_offsets(w, (uint32_t)b->n_shapes));
	for (int i = 0; i < b->n_shapes; i++)
		fbw_link(w, v + 4 + 4 * (size_t)i, write_shape(w, &b->shapes[i]));
	return at;
}

/*
 * Writes the whole file into w, which is empty before: identifier, version 1.0, and one region
 * "main" with all blocks. Returns 0, or -1 if memory ran out or the file would exceed 2^31 bytes.
 */
int x_write(const struct xout *x, struct fbw *w)
{
	static const struct fbw_field root[] = { { TOSA_GRAPH_VERSION, 0, 0 }, { TOSA_GRAPH_REGIONS, 0, 0 } };
	static const struct fbw_field version[] = {
		{ TOSA_VERSION_MAJOR, 4, 1 }, { TOSA_VERSION_MINOR, 4, 0 }, { TOSA_VERSION_PATCH, 4, 0 }, { TOSA_VERSION_DRAFT, 1, 0 },
	};
	static const struct fbw_field region[] = { { TOSA_REGION_NAME, 0, 0 }, { TOSA_REGION_BLOCKS, 0, 0 } };
	size_t slot[4], in_region[2], v, at;

	fbw_begin(w, "TOSA");
	fbw_link(w, 0, fbw_table(w, root, 2, slot));
	size_t unused[4];
	fbw_link(w, slot[0], fbw_table(w, version, 4, unused));
	fbw_link(w, slot[1], v = fbw_offsets(w, 1));
	at = fbw_table(w, region, 2, in_region);
	fbw_link(w, v + 4, at);
	fbw_link(w, in_region[0], fbw_string(w, "main"));
	fbw_link(w, in_region[1], v = fbw_offsets(w, (uint32_t)x->n_blocks));
	for (int i = 0; i < x->n_blocks; i++)
		fbw_link(w, v + 4 + 4 * (size_t)i, write_block(w, &x->blocks[i]));
	return w->failed ? -1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the blocks of a TOSA file: tensors, shapes, operators and their attributes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tosa_out.h"

/*
 * Writes one line to x->msg: the operator at hand, if there is one, with its index in the source
 * file (or else in the graph), and the formatted text. Returns err.
 */
int x_fail(struct xout *x, int err, const char *format, ...)
{
	int n = 0;
	va_list ap;

	if (x->i_op >= 0) {
		const struct weft_gop *o = &x->g->ops[x->i_op];
		const struct weft_gsrc *s = o->src >= 0 ? &x->g->srcs[o->src] : NULL;
		n = snprintf(x->msg, WEFT_MSG, "operator %d %s: ", s ? s->index : x->i_op, weft_op_name(o->op));
	}
	va_start(ap, format);
	vsnprintf(x->msg + n, WEFT_MSG - (size_t)n, format, ap);
	va_end(ap);
	return err;
}

/*
 * Makes room for one more element of elem_bytes in an array of *n elements with room for *cap, and
 * counts it in *n. *now receives the array, which may have moved. Returns the new element, all
 * zero, or NULL if there is no memory; the array is then unchanged.
 */
static void *grow(void *array, int *n, int *cap, size_t elem_bytes, void **now)
{
	if (*n == *cap) {
		int want = *cap ? 2 * *cap : 32;
		void *p = realloc(array, (size_t)want * elem_bytes);
		if (!p)
			return NULL;
		array = p;
		*cap = want;
	}
	*now = array;
	memset((char *)array + (size_t)*n * elem_bytes, 0, elem_bytes);
	return (char *)array + (size_t)(*n)++ * elem_bytes;
}

/*
 * Appends a copy of name to *list, which has *n strings and is reallocated; *n grows by one.
 * Returns 0, or -ENOMEM with *n unchanged.
 */
static int add_name(char ***list, int *n, const char *name)
{
	char **p = realloc(*list, ((size_t)*n + 1) * sizeof *p), *own = strdup(name);

	if (p)
		*list = p;
	if (!p || !own) {
		free(own);
		return -ENOMEM;
	}
	p[(*n)++] = own;
	return 0;
}

int x_in(struct xop *o, const char *name)
{
	return add_name(&o->in, &o->n_in, name);
}

int x_out(struct xop *o, const char *name)
{
	return add_name(&o->out, &o->n_out, name);
}

/*
 * Sets x->data, which it allocates, and x->data_len (bytes) to t's data as the file holds it: two
 * int4 in a byte, the first in the low half, int48 in six bytes, lowest first, other types as in
 * memory. Returns 0, or -ENOMEM with x->data NULL.
 */
static int pack(const weft_tensor *t, struct xtensor *x)
{
	const int64_t n = weft_tensor_elements(t);
	const size_t bytes = t->dtype == WEFT_INT4 ? ((size_t)n + 1) / 2 : t->dtype == WEFT_INT48 ? (size_t)n * 6 :
	                     weft_tensor_bytes(t);

	x->data = calloc(1, bytes + 1);
	if (!x->data)
		return -ENOMEM;
	x->data_len = bytes;
	if (t->dtype != WEFT_INT4 && t->dtype != WEFT_INT48)
		memcpy(x->data, t->data, bytes);
	for (int64_t i = 0; t->dtype == WEFT_INT4 && i < n; i++)
		x->data[i / 2] |= (uint8_t)((((const int8_t *)t->data)[i] & 15) << (i % 2 ? 4 : 0));
	for (int64_t i = 0; t->dtype == WEFT_INT48 && i < n; i++)
		for (int k = 0; k < 6; k++)
			x->data[6 * i + k] = (uint8_t)((uint64_t)((const int64_t *)t->data)[i] >> (8 * k));
	return 0;
}

/*
 * Adds a tensor with t's type and shape to the block at hand, with copies of its name and, if t has
 * data, of the data as a file holds it. `variable` marks it as a variable. Returns 0 or -ENOMEM;
 * the block may then hold an incomplete tensor, which x_release() frees.
 */
int x_tensor(struct xout *x, const char *name, const weft_tensor *t, bool variable)
{
	struct xblock *b = x->b;
	void *now = b->tensors;
	struct xtensor *e = grow(b->tensors, &b->n_tensors, &b->cap_tensors, sizeof *e, &now);

	b->tensors = now;
	if (!e)
		return -ENOMEM;
	e->name = strdup(name);
	e->type = x_file_type(t->dtype);
	e->rank = t->rank;
	e->variable = variable;
	for (int i = 0; i < t->rank; i++)
		e->dim[i] = (int32_t)t->dim[i];
	if (!e->name)
		return -ENOMEM;
	return t->data ? pack(t, e) : 0;
}

/*
 * Adds a shape of n values, at most 16, to the block at hand, with a copy of its name; v is NULL if
 * the values are not known because the shape is an input. Returns 0 or -ENOMEM; the block may then
 * hold an incomplete shape, which x_release() frees.
 */
int x_shape(struct xout *x, const char *name, const int64_t *v, int n)
{
	struct xblock *b = x->b;
	void *now = b->shapes;
	struct xshape *e = grow(b->shapes, &b->n_shapes, &b->cap_shapes, sizeof *e, &now);

	b->shapes = now;
	if (!e || !(e->name = strdup(name)))
		return -ENOMEM;
	e->n = n;
	e->known = v;
	for (int i = 0; i < n && v; i++)
		e->v[i] = v[i];
	return 0;
}

/*
 * Appends operator *o to the block at hand, which takes over all that *o owns; *o itself stays the
 * caller's. Returns 0, or -ENOMEM after freeing what *o owns.
 */
int x_op(struct xout *x, struct xop *o)
{
	struct xblock *b = x->b;
	void *now = b->ops;
	struct xop *e = grow(b->ops, &b->n_ops, &b->cap_ops, sizeof *e, &now);

	b->ops = now;
	if (!e) {
		x_drop(o);
		return -ENOMEM;
	}
	*e = *o;
	return 0;
}

int x_number(struct xop *o, int id, int64_t v)
{
	o->field[o->n_fields++] = (struct xfield){ .id = id, .kind = X_I32, .value = v };
	return 0;
}

int x_flag(struct xop *o, int id, bool v)
{
	o->field[o->n_fields++] = (struct xfield){ .id = id, .kind = X_BOOL, .value = v };
	return 0;
}

/*
 * Adds to o the attribute `id`, a list of the n 32-bit numbers v, at most 6. Returns 0. Neither n
 * nor the number of o's attributes (at most 6) is checked.
 */
int x_list(struct xop *o, int id, const int32_t *v, int n)
{
	struct xfield *f = &o->field[o->n_fields++];

	*f = (struct xfield){ .id = id, .kind = X_LIST, .n = n };
	for (int i = 0; i < n; i++)
		f->list[i] = v[i];
	return 0;
}

/*
 * Adds to o the attribute `id`, a copy of the n bytes at p. Returns 0, or -ENOMEM; the attribute is
 * then listed all the same, without bytes. o has at most 6 attributes, which is not checked.
 */
int x_bytes(struct xop *o, int id, const void *p, int n)
{
	struct xfield *f = &o->field[o->n_fields++];

	*f = (struct xfield){ .id = id, .kind = X_BYTES, .n = n, .bytes = malloc((size_t)n + 1) };
	if (!f->bytes)
		return -ENOMEM;
	memcpy(f->bytes, p, (size_t)n);
	return 0;
}

static void free_names(char **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

/*
 * Frees all that operator o owns: bytes of attributes, names of operands and results. Not o itself.
 */
void x_drop(struct xop *o)
{
	for (int k = 0; k < o->n_fields; k++)
		free(o->field[k].bytes);
	free_names(o->in, o->n_in);
	free_names(o->out, o->n_out);
}

/* Frees everything that block b owns, but not b itself. */
static void release_block(struct xblock *b)
{
	for (int i = 0; i < b->n_tensors; i++) {
		free(b->tensors[i].name);
		free(b->tensors[i].data);
	}
	for (int i = 0; i < b->n_shapes; i++)
		free(b->shapes[i].name);
	for (int i = 0; i < b->n_ops; i++)
		x_drop(&b->ops[i]);
	free_names(b->in, b->n_in);
	free_names(b->out, b->n_out);
	free(b->tensors);
	free(b->shapes);
	free(b->ops);
	free(b->name);
}

void x_release(struct xout *x)
{
	for (int i = 0; x->blocks && i < x->n_blocks; i++)
		release_block(&x->blocks[i]);
	free(x->blocks);
}

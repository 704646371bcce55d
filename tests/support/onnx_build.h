/* SPDX-License-Identifier: Apache-2.0 */
/* Writes small ONNX models for tests: protocol buffers' wire format by hand. */
#ifndef WEFT_TESTS_ONNX_BUILD_H
#define WEFT_TESTS_ONNX_BUILD_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ob { uint8_t *p; size_t n, cap; };   /* zeroed to begin with; free(p) at the end */

static inline void ob_bytes(struct ob *b, const void *p, size_t n)
{
	if (b->n + n > b->cap) {
		b->cap = 2 * (b->n + n) + 64;
		b->p = realloc(b->p, b->cap);
		if (!b->p)
			abort();
	}
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

static inline void ob_varint(struct ob *b, uint64_t v)
{
	for (;;) {
		uint8_t c = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));

		ob_bytes(b, &c, 1);
		v >>= 7;
		if (!v)
			return;
	}
}

static inline void ob_int(struct ob *b, int field, int64_t v)
{
	ob_varint(b, (uint64_t)field << 3);
	ob_varint(b, (uint64_t)v);
}

static inline void ob_blob(struct ob *b, int field, const void *p, size_t n)
{
	ob_varint(b, (uint64_t)field << 3 | 2);
	ob_varint(b, n);
	ob_bytes(b, p, n);
}

static inline void ob_text(struct ob *b, int field, const char *s)
{
	ob_blob(b, field, s, strlen(s));
}

/* A message as a field, and gone. */
static inline void ob_sub(struct ob *b, int field, struct ob *m)
{
	ob_blob(b, field, m->p, m->n);
	free(m->p);
	*m = (struct ob){ 0 };
}

static inline void ob_tensor(struct ob *graph, const char *name, int type, int rank, const int64_t *dim, const void *raw, size_t n)
{
	struct ob t = { 0 };

	for (int i = 0; i < rank; i++)
		ob_int(&t, 1, dim[i]);
	ob_int(&t, 2, type);
	ob_text(&t, 8, name);
	ob_blob(&t, 9, raw, n);
	ob_sub(graph, 5, &t);
}

/* field: 11 input, 12 output */
static inline void ob_port(struct ob *graph, int field, const char *name, int type, int rank, const int64_t *dim)
{
	struct ob shape = { 0 }, tensor = { 0 }, kind = { 0 }, v = { 0 };

	for (int i = 0; i < rank; i++) {
		struct ob d = { 0 };

		ob_int(&d, 1, dim[i]);
		ob_sub(&shape, 1, &d);
	}
	ob_int(&tensor, 1, type);
	ob_sub(&tensor, 2, &shape);
	ob_sub(&kind, 1, &tensor);
	ob_text(&v, 1, name);
	ob_sub(&v, 2, &kind);
	ob_sub(graph, field, &v);
}

static inline void ob_attr_ints(struct ob *node, const char *name, int n, const int64_t *v)
{
	struct ob a = { 0 };

	ob_text(&a, 1, name);
	for (int i = 0; i < n; i++)
		ob_int(&a, 8, v[i]);
	ob_int(&a, 20, 7);
	ob_sub(node, 5, &a);
}

static inline void ob_attr_int(struct ob *node, const char *name, int64_t v)
{
	struct ob a = { 0 };

	ob_text(&a, 1, name);
	ob_int(&a, 3, v);
	ob_int(&a, 20, 2);
	ob_sub(node, 5, &a);
}

static inline void ob_attr_float(struct ob *node, const char *name, float v)
{
	struct ob a = { 0 };

	ob_text(&a, 1, name);
	ob_varint(&a, 2 << 3 | 5);
	ob_bytes(&a, &v, sizeof v);
	ob_int(&a, 20, 1);
	ob_sub(node, 5, &a);
}

static inline void ob_attr_text(struct ob *node, const char *name, const char *v)
{
	struct ob a = { 0 };

	ob_text(&a, 1, name);
	ob_text(&a, 4, v);
	ob_int(&a, 20, 3);
	ob_sub(node, 5, &a);
}

/*
 * Adds the node out = type(in) to the graph. `in` names its operands, with one space between two; two spaces side by side stand
 * for an absent operand between them. `more` has the node's other fields, such as attributes, and is empty afterwards, or is NULL.
 */
static inline void ob_node(struct ob *graph, const char *type, const char *in, const char *out, struct ob *more)
{
	struct ob node = { 0 };

	for (size_t n; *in; in += n + (in[n] == ' ')) {
		n = strcspn(in, " ");
		ob_blob(&node, 1, in, n);
	}
	ob_text(&node, 2, out);
	ob_text(&node, 4, type);
	if (more) {
		ob_bytes(&node, more->p, more->n);
		free(more->p);
		*more = (struct ob){ 0 };
	}
	ob_sub(graph, 1, &node);
}

/* The whole: graph goes into *model. */
static inline void ob_model(struct ob *model, struct ob *graph, int opset)
{
	struct ob o = { 0 };

	ob_int(model, 1, 8);
	ob_sub(model, 7, graph);
	ob_int(&o, 2, opset);
	ob_sub(model, 8, &o);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading FlatBuffers that nobody vouches for.
 *
 * A table starts with a signed 32-bit distance back to its vtable; the vtable
 * holds 16-bit sizes (its own, the table's), then per field the 16-bit offset
 * of its value within the table, 0 when absent. Vectors, strings and tables
 * are reached by unsigned 32-bit offsets relative to where the offset stands.
 * Everything is little-endian. Every read is checked against the buffer, so
 * any bytes give either values or -EINVAL; nothing is followed recursively.
 *
 * Source: the FlatBuffers documentation of its binary format ("internals").
 */
#ifndef WEFT_IMPORT_FB_H
#define WEFT_IMPORT_FB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb {
	const uint8_t *p;
	size_t len;
	const char *what;          /* object being read, for messages: "tensor" */
	long index;                /* and which one, or -1 */
	char *msg;                 /* receives one line on failure */
	size_t msg_bytes;
};

struct fb_table {
	size_t at;                 /* of the table */
	size_t vtable;
	uint32_t vtable_bytes, table_bytes;
};

struct fb_vec {
	size_t at;                 /* of the first element */
	uint32_t n;                /* elements; 0 also when the field is absent */
};

/* One line: what, index, text, byte offset; returns -EINVAL. */
int fb_fail(const struct fb *b, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The root table. Returns 0 or -EINVAL. */
int fb_root(const struct fb *b, struct fb_table *t);

/* An integer field of 1, 2, 4 or 8 bytes. Returns 0 or -EINVAL; absent gives absent_value. */
int fb_int(const struct fb *b, const struct fb_table *t, int field, int bytes, bool is_signed,
           int64_t absent_value, int64_t *value);

/* A 32-bit float field. */
int fb_float(const struct fb *b, const struct fb_table *t, int field, float absent_value, float *value);

/* A table field. Returns 1 when present, 0 when absent, or -EINVAL. */
int fb_sub(const struct fb *b, const struct fb_table *t, int field, struct fb_table *sub);

/* A vector field of elements of elem_bytes; all its elements lie in the buffer. 1, 0 or -EINVAL. */
int fb_vector(const struct fb *b, const struct fb_table *t, int field, size_t elem_bytes, struct fb_vec *v);

/* Element i of a vector of tables. Returns 0 or -EINVAL. i < v->n. */
int fb_vector_table(const struct fb *b, const struct fb_vec *v, uint32_t i, struct fb_table *t);

/* Element i of a vector of strings: its bytes as a vector. Returns 0 or -EINVAL. i < v->n. */
int fb_vector_string(const struct fb *b, const struct fb_vec *v, uint32_t i, struct fb_vec *s);

/* Elements of vectors that fb_vector() has checked. i < v->n. */
int32_t fb_i32_at(const struct fb *b, const struct fb_vec *v, uint32_t i);
int64_t fb_i64_at(const struct fb *b, const struct fb_vec *v, uint32_t i);
float fb_f32_at(const struct fb *b, const struct fb_vec *v, uint32_t i);

#endif

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

#include <weft/api.h>

/* The buffer, and what is being read from it. */
struct fb {
	const uint8_t *p;          /* the buffer; positions are bytes from here */
	size_t len;                /* bytes in the buffer */
	const char *what;          /* kind of object that is being read, for messages: "tensor" */
	long index;                /* which object of that kind, for messages; or -1 */
	char *msg;                 /* receives one line on failure */
	size_t msg_bytes;          /* room in msg */
};

/* A table that has been checked to lie in the buffer. */
struct fb_table {
	size_t at;                 /* position of the table */
	size_t vtable;             /* position of its vtable */
	uint32_t vtable_bytes, table_bytes;   /* sizes of the two */
};

/* A vector or a string that has been checked to lie in the buffer. */
struct fb_vec {
	size_t at;                 /* position of the first element */
	uint32_t n;                /* number of elements; 0 also if the field is absent */
};

/* Writes what is read, its index, the text and the byte offset `at` to b->msg. Returns -EINVAL. */
int fb_fail(const struct fb *b, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sets *t to the root table. Returns 0 or -EINVAL. */
WEFT_MUST_USE int fb_root(const struct fb *b, struct fb_table *t);

/*
 * Sets *value to an integer field of 1, 2, 4 or 8 bytes, or to absent_value if the field is absent.
 * Returns 0 or -EINVAL.
 */
int fb_int(const struct fb *b, const struct fb_table *t, int field, int bytes, bool is_signed,
           int64_t absent_value, int64_t *value);

/* Sets *value to a 32-bit float field, or to absent_value if the field is absent. Returns 0 or -EINVAL. */
int fb_float(const struct fb *b, const struct fb_table *t, int field, float absent_value, float *value);

/* Sets *sub to the table in a field. Returns 1 if it is present, 0 if it is absent, or -EINVAL. */
WEFT_MUST_USE int fb_sub(const struct fb *b, const struct fb_table *t, int field, struct fb_table *sub);

/*
 * Sets *v to the vector in a field, whose elements take elem_bytes each and all lie in the buffer.
 * Returns 1 if it is present, 0 with an empty *v if it is absent, or -EINVAL.
 */
WEFT_MUST_USE int fb_vector(const struct fb *b, const struct fb_table *t, int field, size_t elem_bytes, struct fb_vec *v);

/* Sets *t to element i of a vector of tables; i is below v->n. Returns 0 or -EINVAL. */
WEFT_MUST_USE int fb_vector_table(const struct fb *b, const struct fb_vec *v, uint32_t i, struct fb_table *t);

/* Sets *s to the bytes of element i of a vector of strings; i is below v->n. Returns 0 or -EINVAL. */
WEFT_MUST_USE int fb_vector_string(const struct fb *b, const struct fb_vec *v, uint32_t i, struct fb_vec *s);

/* Each returns element i of a vector of int32, int64 or float that fb_vector() has checked; i is below v->n. */
int32_t fb_i32_at(const struct fb *b, const struct fb_vec *v, uint32_t i);
int64_t fb_i64_at(const struct fb *b, const struct fb_vec *v, uint32_t i);
float fb_f32_at(const struct fb *b, const struct fb_vec *v, uint32_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing FlatBuffers, front to back: who refers stands before what it refers
 * to, and its offset is filled in when the target is written.
 *
 * Source: the FlatBuffers documentation of its binary format ("internals");
 * userlib/import/fb.h says how it is read.
 */
#ifndef WEFT_EXPORT_FB_WRITE_H
#define WEFT_EXPORT_FB_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fbw {
	uint8_t *p;                /* from malloc; the caller's */
	size_t n, cap;
	bool failed;               /* out of memory or above 2^31 bytes; then nothing more happens */
};

/* A field of a table: a number, or (bytes 0) an offset to link. */
struct fbw_field {
	int id;
	int bytes;                 /* 1, 4; 0: offset */
	int64_t value;
};

/* Root offset (to link, at byte 0) and the four letters of the identifier. */
void fbw_begin(struct fbw *w, const char *identifier);

/* A table; slot[i] is where field i's value stands. Returns the table's position. At most 16 fields. */
size_t fbw_table(struct fbw *w, const struct fbw_field *f, int n, size_t *slot);

/* Vector of n elements that start at a multiple of align (4 or 8). Returns its position. */
size_t fbw_vector(struct fbw *w, const void *data, uint32_t n, size_t elem_bytes, size_t align);

/* Vector of n offsets to link; entry i's slot is position + 4 + 4 * i. */
size_t fbw_offsets(struct fbw *w, uint32_t n);

size_t fbw_string(struct fbw *w, const char *s);

/* The offset at slot leads to target. */
void fbw_link(struct fbw *w, size_t slot, size_t target);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing FlatBuffers from front to back. An offset stands before what it leads
 * to: it is written as 0, and fbw_link() fills it in when the target's position
 * is known. Positions are bytes from the beginning of the buffer.
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
	uint8_t *p;                /* the buffer, from malloc; the caller frees it */
	size_t n, cap;             /* bytes written; bytes allocated */
	bool failed;               /* memory ran out, or 2^31 bytes were exceeded; all functions then do nothing */
};

/* A field of a table: a number, or an offset that fbw_link() fills in. */
struct fbw_field {
	int id;                    /* the field's number in the table */
	int bytes;                 /* 1 or 4 for a number, 0 for an offset */
	int64_t value;             /* the number */
};

/* Appends the root offset, to be linked at position 0, and the four letters of the identifier. */
void fbw_begin(struct fbw *w, const char *identifier);

/*
 * Appends a table with n fields, at most 16, and its vtable. Sets slot[i] to the position of the
 * value of f[i]. Returns the table's position.
 */
size_t fbw_table(struct fbw *w, const struct fbw_field *f, int n, size_t *slot);

/*
 * Appends a vector of n elements, copied from data, that begin at a multiple of align (4 or 8)
 * bytes. Returns its position.
 */
size_t fbw_vector(struct fbw *w, const void *data, uint32_t n, size_t elem_bytes, size_t align);

/* Appends a vector of n offsets to be linked; entry i's slot is position + 4 + 4 * i. Returns its position. */
size_t fbw_offsets(struct fbw *w, uint32_t n);

/* Appends a string with a zero behind it. Returns its position. */
size_t fbw_string(struct fbw *w, const char *s);

/* Makes the offset at position slot lead to position target. */
void fbw_link(struct fbw *w, size_t slot, size_t target);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a FlatBuffer from front to back. */
#include <stdlib.h>
#include <string.h>

#include "fb_write.h"

#define MAX_BYTES ((size_t)1 << 31)   /* of the whole buffer */
#define MAX_FIELDS 16                 /* of one table */

/*
 * Appends n zero bytes to the buffer, which grows as needed, and returns their position. If the
 * buffer would exceed MAX_BYTES or realloc() fails, sets w->failed, appends nothing and returns 0;
 * once w->failed is set, every call does nothing and returns 0.
 */
static size_t take(struct fbw *w, size_t n)
{
	if (w->failed || n > MAX_BYTES || w->n + n > MAX_BYTES) {
		w->failed = true;
		return 0;
	}
	if (w->n + n > w->cap) {
		size_t cap = 2 * (w->n + n) + 1024;
		uint8_t *p = realloc(w->p, cap);
		if (!p) {
			w->failed = true;
			return 0;
		}
		w->p = p;
		w->cap = cap;
	}
	memset(w->p + w->n, 0, n);
	w->n += n;
	return w->n - n;
}

/*
 * Writes the low `bytes` bytes of v, little-endian, over those at position `at`. Does nothing if
 * w->failed is set.
 */
static void put(struct fbw *w, size_t at, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes && !w->failed; i++)
		w->p[at + (size_t)i] = (uint8_t)(v >> (8 * i));
}

/*
 * Appends as few zero bytes as are needed so that `ahead` bytes appended behind them would end at a
 * multiple of align.
 */
static void pad(struct fbw *w, size_t ahead, size_t align)
{
	take(w, (align - (w->n + ahead) % align) % align);
}

void fbw_begin(struct fbw *w, const char *identifier)
{
	size_t at = take(w, 8);

	if (!w->failed)
		memcpy(w->p + at + 4, identifier, 4);
}

/*
 * Appends a vtable and right behind it, at a multiple of 4 bytes, a table with the n fields f, at
 * most 16; values of four bytes come first, then single bytes. Numbers are written little-endian,
 * offsets (bytes 0) are left 0 for fbw_link(). Sets slot[i] to the position of field i's value.
 * Returns the table's position. If w->failed is set afterwards, neither position means anything.
 */
size_t fbw_table(struct fbw *w, const struct fbw_field *f, int n, size_t *slot)
{
	size_t off[MAX_FIELDS], bytes = 4;
	int top = 0;

	/* Behind the offset to the vtable first what takes four bytes, then single bytes. */
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < n; i++) {
			if ((f[i].bytes == 1) != (pass == 1))
				continue;
			off[i] = bytes;
			bytes += f[i].bytes == 1 ? 1 : 4;
			top = f[i].id >= top ? f[i].id + 1 : top;
		}
	size_t vt_bytes = 4 + 2 * (size_t)top;
	pad(w, vt_bytes, 4);
	size_t vt = take(w, vt_bytes), at = take(w, bytes);
	put(w, vt, vt_bytes, 2);
	put(w, vt + 2, bytes, 2);
	put(w, at, at - vt, 4);
	for (int i = 0; i < n; i++) {
		put(w, vt + 4 + 2 * (size_t)f[i].id, off[i], 2);
		slot[i] = at + off[i];
		if (f[i].bytes)
			put(w, slot[i], (uint64_t)f[i].value, f[i].bytes);
	}
	return at;
}

/*
 * Appends zero bytes for alignment, the count n, and then n elements of elem_bytes each, copied
 * from data, the first of which is at a multiple of align (4 or 8) bytes. data may be NULL if n is
 * 0. Returns the position of the count; if w->failed is set afterwards, it means nothing.
 */
size_t fbw_vector(struct fbw *w, const void *data, uint32_t n, size_t elem_bytes, size_t align)
{
	pad(w, 4, align);
	size_t at = take(w, 4), body = take(w, n * elem_bytes);

	put(w, at, n, 4);
	if (!w->failed && n)
		memcpy(w->p + body, data, n * elem_bytes);
	return at;
}

/*
 * Appends a vector of n offsets, all 0 until fbw_link() fills them in. Returns the position of its
 * count; the slot of entry i is that position + 4 + 4 * i.
 */
size_t fbw_offsets(struct fbw *w, uint32_t n)
{
	pad(w, 0, 4);
	size_t at = take(w, 4 + 4 * (size_t)n);

	put(w, at, n, 4);
	return at;
}

/*
 * Appends string s at a multiple of 4 bytes: its count of bytes, the bytes, and a zero that is not
 * counted. Returns the position of the count.
 */
size_t fbw_string(struct fbw *w, const char *s)
{
	size_t at = fbw_vector(w, s, (uint32_t)strlen(s), 1, 4);

	take(w, 1);
	return at;
}

void fbw_link(struct fbw *w, size_t slot, size_t target)
{
	put(w, slot, target - slot, 4);
}

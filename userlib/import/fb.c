/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fb.h"

/*
 * Writes one line to b->msg: what is read, its index if it has one, the text, and the byte
 * offset `at`. Returns -EINVAL.
 */
int fb_fail(const struct fb *b, size_t at, const char *format, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (b->index >= 0)
		snprintf(b->msg, b->msg_bytes, "%s %ld: %s, at byte %zu", b->what, b->index, text, at);
	else
		snprintf(b->msg, b->msg_bytes, "%s: %s, at byte %zu", b->what, text, at);
	return -EINVAL;
}

/* Says whether bytes at to at + n - 1 lie in the buffer. */
static bool inside(const struct fb *b, size_t at, size_t n)
{
	return at <= b->len && n <= b->len - at;
}

/*
 * Returns the little-endian number of n bytes, 8 at most, at byte `at`; the caller has checked
 * that they are inside.
 */
static uint64_t get(const struct fb *b, size_t at, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++)
		v |= (uint64_t)b->p[at + (size_t)i] << (8 * i);
	return v;
}

/*
 * Follows the relative offset at byte `at` to *target, where at least n bytes have to be
 * inside. Returns 0 or -EINVAL.
 */
static int follow(const struct fb *b, size_t at, size_t n, size_t *target)
{
	if (!inside(b, at, 4))
		return fb_fail(b, at, "offset beyond the end of %zu bytes", b->len);
	uint64_t to = at + get(b, at, 4);
	if (to == at || to > b->len || n > b->len - to)
		return fb_fail(b, at, "offset leads to byte %llu of %zu", (unsigned long long)to, b->len);
	*target = (size_t)to;
	return 0;
}

/*
 * Sets *t to the table at byte `at` after it has checked that table and vtable lie inside the
 * buffer. Returns 0, or a negative errno from fb_fail().
 */
static int open_table(const struct fb *b, size_t at, struct fb_table *t)
{
	if (!inside(b, at, 4))
		return fb_fail(b, at, "table beyond the end of %zu bytes", b->len);
	int64_t vt = (int64_t)at - (int32_t)(uint32_t)get(b, at, 4);
	if (vt < 0 || !inside(b, (size_t)vt, 4))
		return fb_fail(b, at, "vtable at byte %lld of %zu", (long long)vt, b->len);
	t->at = at;
	t->vtable = (size_t)vt;
	t->vtable_bytes = (uint32_t)get(b, t->vtable, 2);
	t->table_bytes = (uint32_t)get(b, t->vtable + 2, 2);
	if (t->vtable_bytes < 4 || t->vtable_bytes % 2 || !inside(b, t->vtable, t->vtable_bytes))
		return fb_fail(b, t->vtable, "vtable of %u bytes", (unsigned)t->vtable_bytes);
	if (t->table_bytes < 4 || !inside(b, at, t->table_bytes))
		return fb_fail(b, t->vtable, "table of %u bytes", (unsigned)t->table_bytes);
	return 0;
}

int fb_root(const struct fb *b, struct fb_table *t)
{
	size_t at;
	int err = follow(b, 0, 4, &at);

	return err ? err : open_table(b, at, t);
}

/*
 * Sets *at to the byte where the field's value of a number of bytes stands. Returns 1, 0 if the
 * field is absent, or -EINVAL.
 */
static int locate(const struct fb *b, const struct fb_table *t, int field, size_t bytes, size_t *at)
{
	uint32_t slot = 4 + 2 * (uint32_t)field;

	if (slot + 2 > t->vtable_bytes)
		return 0;
	uint32_t off = (uint32_t)get(b, t->vtable + slot, 2);
	if (off == 0)
		return 0;
	if (off < 4 || off + bytes > t->table_bytes)
		return fb_fail(b, t->vtable + slot, "field %d at %u of a table of %u bytes", field, (unsigned)off,
		               (unsigned)t->table_bytes);
	*at = t->at + off;
	return 1;
}

int fb_int(const struct fb *b, const struct fb_table *t, int field, int bytes, bool is_signed,
           int64_t absent_value, int64_t *value)
{
	size_t at;
	int found = locate(b, t, field, (size_t)bytes, &at);

	*value = absent_value;
	if (found <= 0)
		return found;
	uint64_t v = get(b, at, bytes);
	if (is_signed && bytes < 8 && (v >> (8 * bytes - 1)))
		v |= ~0ull << (8 * bytes);
	*value = (int64_t)v;
	return 0;
}

/* Returns the float whose 32 bits the low half of bits holds. */
static float as_float(uint64_t bits)
{
	uint32_t u = (uint32_t)bits;
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

/*
 * Reads a 32-bit float field of a table into *value, absent_value if the field is absent.
 * Returns 0 or -EINVAL.
 */
int fb_float(const struct fb *b, const struct fb_table *t, int field, float absent_value, float *value)
{
	size_t at;
	int found = locate(b, t, field, 4, &at);

	*value = found > 0 ? as_float(get(b, at, 4)) : absent_value;
	return found < 0 ? found : 0;
}

/*
 * Sets *sub to the table that a field of table t refers to. Returns 1 if it is present, 0 if it
 * is absent, or -EINVAL.
 */
int fb_sub(const struct fb *b, const struct fb_table *t, int field, struct fb_table *sub)
{
	size_t at, to;
	int found = locate(b, t, field, 4, &at);

	if (found <= 0)
		return found;
	int err = follow(b, at, 4, &to);
	if (!err)
		err = open_table(b, to, sub);
	return err ? err : 1;
}

/*
 * Sets *v to the vector of elements of elem_bytes whose count stands at byte `at`, where 4
 * bytes are inside. Returns 0 or -EINVAL.
 */
static int open_vector(const struct fb *b, size_t at, size_t elem_bytes, struct fb_vec *v)
{
	uint32_t n = (uint32_t)get(b, at, 4);

	if (n > (b->len - at - 4) / elem_bytes)
		return fb_fail(b, at, "vector of %u elements of %zu bytes, %zu left", (unsigned)n, elem_bytes, b->len - at - 4);
	v->at = at + 4;
	v->n = n;
	return 0;
}

int fb_vector(const struct fb *b, const struct fb_table *t, int field, size_t elem_bytes, struct fb_vec *v)
{
	size_t at, to;
	int found = locate(b, t, field, 4, &at);

	v->at = 0;
	v->n = 0;
	if (found <= 0)
		return found;
	int err = follow(b, at, 4, &to);
	if (!err)
		err = open_vector(b, to, elem_bytes, v);
	return err ? err : 1;
}

int fb_vector_string(const struct fb *b, const struct fb_vec *v, uint32_t i, struct fb_vec *s)
{
	size_t to;
	int err = follow(b, v->at + 4 * (size_t)i, 4, &to);

	return err ? err : open_vector(b, to, 1, s);
}

int fb_vector_table(const struct fb *b, const struct fb_vec *v, uint32_t i, struct fb_table *t)
{
	size_t to;
	int err = follow(b, v->at + 4 * (size_t)i, 4, &to);

	return err ? err : open_table(b, to, t);
}

int32_t fb_i32_at(const struct fb *b, const struct fb_vec *v, uint32_t i)
{
	return (int32_t)(uint32_t)get(b, v->at + 4 * (size_t)i, 4);
}

int64_t fb_i64_at(const struct fb *b, const struct fb_vec *v, uint32_t i)
{
	return (int64_t)get(b, v->at + 8 * (size_t)i, 8);
}

float fb_f32_at(const struct fb *b, const struct fb_vec *v, uint32_t i)
{
	return as_float(get(b, v->at + 4 * (size_t)i, 4));
}

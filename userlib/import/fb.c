/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a FlatBuffer; every offset and length is checked to lie in the file. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fb.h"

/*
 * Writes one line to b->msg (b->msg_bytes bytes at most): what is read (b->what), its index unless
 * b->index is negative, the formatted text, and the byte offset `at`. Returns -EINVAL always.
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

/* Says whether the n bytes from byte `at` on lie in the buffer. */
static bool inside(const struct fb *b, size_t at, size_t n)
{
	return at <= b->len && n <= b->len - at;
}

/*
 * Returns the little-endian unsigned number of n bytes, at most 8, at byte `at`. The caller has
 * checked that these bytes are in the buffer.
 */
static uint64_t get(const struct fb *b, size_t at, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++)
		v |= (uint64_t)b->p[at + (size_t)i] << (8 * i);
	return v;
}

/*
 * Reads the 32-bit offset at byte `at` and sets *target to `at` plus that offset. Returns 0, or
 * -EINVAL after fb_fail() if the offset itself or one of the n bytes from *target on is not in the
 * buffer, or if the offset is 0.
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
 * Sets *t to the table at byte `at`: the positions of table and vtable and the bytes of each.
 * Returns 0, or -EINVAL after fb_fail() if table or vtable is not wholly in the buffer, if either
 * has fewer than 4 bytes, or if the vtable's size is odd.
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

/*
 * Sets *t to the root table, to which the offset at byte 0 of the buffer leads. Returns 0, or
 * -EINVAL with a line in b->msg.
 */
int fb_root(const struct fb *b, struct fb_table *t)
{
	size_t at;
	int err = follow(b, 0, 4, &at);

	return err ? err : open_table(b, at, t);
}

/*
 * Sets *at to the byte of the buffer where the value of a field of table t stands; the value takes
 * the given number of bytes. Returns 1 if the field is present and the value lies in the table.
 * Returns 0, with *at unchanged, if the field is absent: the vtable has no entry for it, or the
 * entry is 0. Returns -EINVAL after fb_fail() if the value begins within the table's first 4 bytes
 * or ends behind the table.
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

/*
 * Sets *value to the integer of 1, 2, 4 or 8 bytes in a field of table t, sign-extended if
 * is_signed, or to absent_value if the field is absent. Returns 0 in both cases, or -EINVAL with a
 * line in b->msg if the field does not lie in the table; *value is absent_value then, too.
 */
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

/* Returns the 32-bit float whose bits are the low 32 bits of `bits`. */
static float as_float(uint64_t bits)
{
	uint32_t u = (uint32_t)bits;
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

/*
 * Sets *value to the 32-bit float in a field of table t, or to absent_value if the field is absent.
 * Returns 0 in both cases, or -EINVAL with a line in b->msg if the field does not lie in the table;
 * *value is absent_value then, too.
 */
int fb_float(const struct fb *b, const struct fb_table *t, int field, float absent_value, float *value)
{
	size_t at;
	int found = locate(b, t, field, 4, &at);

	*value = found > 0 ? as_float(get(b, at, 4)) : absent_value;
	return found < 0 ? found : 0;
}

/*
 * Sets *sub to the table that a field of table t refers to. Returns 1, or 0 if the field is absent
 * (*sub is then unchanged), or -EINVAL with a line in b->msg if the reference, the table or its
 * vtable is malformed or does not lie in the buffer; *sub may then be partly set.
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
 * Sets *v to the vector whose 32-bit count of elements stands at byte `at`: the position of the
 * first element, and the count. Each element takes elem_bytes. The caller has checked that the
 * count is in the buffer. Returns 0, or -EINVAL after fb_fail() if the elements are not.
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

/*
 * Sets *v to the vector that a field of table t refers to, whose elements take elem_bytes each: the
 * position of its first element and their count. Returns 1. Returns 0 if the field is absent, or
 * -EINVAL with a line in b->msg if the field, the count or one of the elements does not lie where
 * it has to; *v is then empty in both cases (position 0, count 0).
 */
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

/*
 * Sets *s to the bytes of string i of v, a vector of strings that fb_vector() has checked; i is
 * below v->n. Returns 0, or -EINVAL with a line in b->msg if the string's count or bytes do not lie
 * in the buffer; *s is then unchanged. A zero behind the bytes is neither asked for nor counted.
 */
int fb_vector_string(const struct fb *b, const struct fb_vec *v, uint32_t i, struct fb_vec *s)
{
	size_t to;
	int err = follow(b, v->at + 4 * (size_t)i, 4, &to);

	return err ? err : open_vector(b, to, 1, s);
}

/*
 * Sets *t to table i of v, a vector of tables that fb_vector() has checked; i is below v->n.
 * Returns 0, or -EINVAL with a line in b->msg if the table or its vtable is malformed or does not
 * lie in the buffer.
 */
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

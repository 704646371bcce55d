/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A FlatBuffers file that is changed in one place at a time, where the format allows a number but what it means may not
 * be allowed. Each change is loaded, judged (odd_import.h) and taken back.
 */
#ifndef TESTS_SUPPORT_ODD_BUFFER_H
#define TESTS_SUPPORT_ODD_BUFFER_H

#include <stdio.h>
#include <string.h>

#include "tests/support/odd_import.h"
#include "userlib/import/fb.h"

struct odd_file {
	char name[128];
	uint8_t *p;                /* a copy that changes, and is whole again after each change */
	uint32_t n;
	int (*load)(const struct odd_file *f, weft_graph **g, char *msg);   /* imports the file as it is now */
	int how;                   /* whatever load() wants to know */
	struct fb b;
	char msg[WEFT_MSG];
	uint64_t at, every, first; /* changes so far; one in `every` is tried, beginning with `first` */
	struct odd_count count;
	long wrong;
};

/* Puts `bytes` bytes of v at `at`, loads the file, and puts back what was there. `what` and `of` name the place. */
static inline void odd_try(struct odd_file *f, size_t at, int bytes, int64_t v, const char *what, uint32_t of)
{
	uint8_t old[8];
	char msg[WEFT_MSG] = "", place[300];
	weft_graph *g = NULL;

	if (at + (size_t)bytes > f->n || f->at++ % f->every != f->first)
		return;
	memcpy(old, f->p + at, (size_t)bytes);
	for (int i = 0; i < bytes; i++)
		f->p[at + (size_t)i] = (uint8_t)((uint64_t)v >> (8 * i));
	int err = f->load(f, &g, msg);
	snprintf(place, sizeof place, "%s, %s %u at %zu: %lld", f->name, what, (unsigned)of, at, (long long)v);
	f->wrong += !odd_judge(err, g, msg, place, &f->count);
	memcpy(f->p + at, old, (size_t)bytes);
}

static inline void odd_try_all(struct odd_file *f, size_t at, int bytes, const int64_t *v, size_t n, const char *what, uint32_t of)
{
	for (size_t i = 0; i < n; i++)
		odd_try(f, at, bytes, v[i], what, of);
}

/* Position of a field of a table, 0 if it is absent. */
static inline size_t odd_field(const struct odd_file *f, const struct fb_table *t, int field)
{
	size_t entry = t->vtable + 4 + 2 * (size_t)field;
	uint16_t off;

	if (entry + 2 > t->vtable + t->vtable_bytes)
		return 0;
	memcpy(&off, f->p + entry, 2);
	return off ? t->at + off : 0;
}

/* The count of a vector's elements, which stands in front of them. */
static inline void odd_try_count(struct odd_file *f, const struct fb_vec *v, const char *what, uint32_t of)
{
	const int64_t counts[] = { 0, 1, 2, 3, (int64_t)v->n - 1, (int64_t)v->n + 1, 5, 9 };

	if (v->at >= 4)
		odd_try_all(f, v->at - 4, 4, counts, sizeof counts / sizeof *counts, what, of);
}

/* A float's bits. */
static inline int64_t odd_bits(float v)
{
	uint32_t u;

	memcpy(&u, &v, 4);
	return u;
}

/* Each number of a table of options: as a byte, and as a word where it may be one. */
static inline void odd_try_options(struct odd_file *f, const struct fb_table *t, uint32_t of)
{
	const int64_t bytes[] = { 0, 1, 2, 3, 4, 5, 127, 255 }, words[] = { -1, INT32_MAX, 0x7fc00000, odd_bits(0.5f), 3 };

	for (int field = 0; field < (int)(t->vtable_bytes - 4) / 2; field++) {
		size_t at = odd_field(f, t, field);

		if (!at)
			continue;
		odd_try_all(f, at, 1, bytes, sizeof bytes / sizeof *bytes, "option of operator", of);
		if (at % 4 == 0)
			odd_try_all(f, at, 4, words, sizeof words / sizeof *words, "option of operator", of);
	}
}

#endif

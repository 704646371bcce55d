/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Index of the first range that ends at or behind at. */
static size_t find(const struct weft_ranges *s, uint64_t at)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (s->r[mid].to < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int reserve(struct weft_ranges *s, size_t n)
{
	if (n <= s->cap)
		return 0;
	size_t cap = s->cap ? 2 * s->cap : 8;
	struct weft_range *r = realloc(s->r, cap * sizeof(*r));
	if (!r)
		return -ENOMEM;
	s->r = r;
	s->cap = cap;
	return 0;
}

/* Put n ranges in the place of those from i to j. Room has been reserved. */
static void replace(struct weft_ranges *s, size_t i, size_t j, const struct weft_range *by, size_t n)
{
	memmove(s->r + i + n, s->r + j, (s->n - j) * sizeof(*s->r));
	memcpy(s->r + i, by, n * sizeof(*by));
	s->n = s->n - (j - i) + n;
}

int weft_ranges_add(struct weft_ranges *s, uint64_t from, uint64_t to)
{
	if (from >= to)
		return 0;
	if (reserve(s, s->n + 1))
		return -ENOMEM;
	struct weft_range all = { from, to };
	size_t i = find(s, from), j = i;
	for (; j < s->n && s->r[j].from <= to; j++) {
		if (s->r[j].from < all.from)
			all.from = s->r[j].from;
		if (s->r[j].to > all.to)
			all.to = s->r[j].to;
	}
	replace(s, i, j, &all, 1);
	return 0;
}

int weft_ranges_remove(struct weft_ranges *s, uint64_t from, uint64_t to)
{
	struct weft_range rest[2];
	size_t n = 0;

	if (from >= to)
		return 0;
	if (reserve(s, s->n + 1))
		return -ENOMEM;
	size_t i = find(s, from + 1), j = i;
	for (; j < s->n && s->r[j].from < to; j++) {
		if (s->r[j].from < from)
			rest[n++] = (struct weft_range){ s->r[j].from, from };
		if (s->r[j].to > to)
			rest[n++] = (struct weft_range){ to, s->r[j].to };
	}
	replace(s, i, j, rest, n);
	return 0;
}

bool weft_ranges_first(const struct weft_ranges *s, uint64_t from, uint64_t to, struct weft_range *part)
{
	size_t i = find(s, from + 1);

	if (from >= to || i == s->n || s->r[i].from >= to)
		return false;
	part->from = s->r[i].from > from ? s->r[i].from : from;
	part->to = s->r[i].to < to ? s->r[i].to : to;
	return true;
}

void weft_ranges_clear(struct weft_ranges *s)
{
	free(s->r);
	memset(s, 0, sizeof(*s));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which commands a command must wait for, from the bytes that each touches:
 * whoever wrote last what it reads or writes, and whoever has read since then
 * what it writes. Units retire in order, so one count per unit says it all.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* Counts are those of retired commands: index in the unit plus one; 0 none. */
struct interval {
	uint64_t lo, hi;
	uint32_t wr[WEFT_N_UNITS], rd[WEFT_N_UNITS];   /* wr: one unit is set at most */
};

struct map { struct interval *v; uint32_t n, cap; };

struct hazards { struct map space[2]; };

struct hazards *hazards_new(void)
{
	return calloc(1, sizeof(struct hazards));
}

void hazards_free(struct hazards *h)
{
	if (!h)
		return;
	free(h->space[0].v);
	free(h->space[1].v);
	free(h);
}

/* First interval that ends above at. */
static uint32_t find(const struct map *m, uint64_t at)
{
	uint32_t lo = 0, hi = m->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (m->v[mid].hi > at)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static int insert(struct map *m, uint32_t i, const struct interval *v)
{
	void *p = m->v;
	int err = cc_grow(&p, m->n, &m->cap, sizeof *m->v);

	m->v = p;
	if (err)
		return err;
	memmove(&m->v[i + 1], &m->v[i], (m->n - i) * sizeof *m->v);
	m->v[i] = *v;
	m->n++;
	return 0;
}

/* Make `at` a border. */
static int split(struct map *m, uint64_t at)
{
	uint32_t i = find(m, at);

	if (i == m->n || m->v[i].lo >= at)
		return 0;
	struct interval left = m->v[i];
	left.hi = at;
	m->v[i].lo = at;
	return insert(m, i, &left);
}

/* Intervals for bytes not yet touched. */
static int fill(struct map *m, uint64_t lo, uint64_t hi)
{
	uint32_t i = find(m, lo);

	while (lo < hi) {
		uint64_t end = i < m->n && m->v[i].lo < hi ? m->v[i].lo : hi;
		if (end > lo) {
			struct interval v = { .lo = lo, .hi = end };
			int err = insert(m, i, &v);
			if (err)
				return err;
		} else {
			end = m->v[i].hi;
		}
		lo = end;
		i++;
	}
	return 0;
}

static void raise_to(uint32_t *to, uint32_t v)
{
	if (v > *to)
		*to = v;
}

static void depend(struct interval *v, const struct access *a, uint32_t wait[WEFT_N_UNITS])
{
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		raise_to(&wait[u], v->wr[u]);
		if (a->write)
			raise_to(&wait[u], v->rd[u]);
	}
}

/* Neighbours that became equal again; keeps the map as small as the truth is. */
static void join(struct map *m, uint32_t from, uint32_t to)
{
	uint32_t out = from;

	if (to >= m->n)
		to = m->n - 1;
	for (uint32_t i = from + 1; i <= to; i++) {
		struct interval *a = &m->v[out], *b = &m->v[i];
		if (a->hi == b->lo && !memcmp(a->wr, b->wr, sizeof a->wr) && !memcmp(a->rd, b->rd, sizeof a->rd))
			a->hi = b->hi;
		else
			m->v[++out] = *b;
	}
	if (out < to) {
		memmove(&m->v[out + 1], &m->v[to + 1], (m->n - to - 1) * sizeof *m->v);
		m->n -= to - out;
	}
}

static int account_range(struct map *m, const struct access *a, int unit, uint32_t count, bool record,
                         uint32_t wait[WEFT_N_UNITS])
{
	int err;

	if ((err = split(m, a->lo)) || (err = split(m, a->hi)) || (err = fill(m, a->lo, a->hi)))
		return err;
	uint32_t first = find(m, a->lo), i = first;
	for (; i < m->n && m->v[i].lo < a->hi; i++) {
		struct interval *v = &m->v[i];
		if (!record) {
			depend(v, a, wait);
			continue;
		}
		if (a->write) {
			memset(v->wr, 0, sizeof v->wr);
			memset(v->rd, 0, sizeof v->rd);
			v->wr[unit] = count;
		} else {
			raise_to(&v->rd[unit], count);
		}
	}
	if (record)
		join(m, first ? first - 1 : 0, i);
	return 0;
}

static int account(struct map *m, const struct access *a, int unit, uint32_t count, bool record,
                   uint32_t wait[WEFT_N_UNITS])
{
	struct access row = *a;
	int err = 0;

	for (uint32_t i = 0; i < a->n && !err; i++) {
		err = account_range(m, &row, unit, count, record, wait);
		row.lo += a->step;
		row.hi += a->step;
	}
	return err;
}

/* All dependencies first, so that a command never waits for itself. */
int hazards_add(struct hazards *h, struct cmd *c, uint32_t unit_index)
{
	uint32_t wait[WEFT_N_UNITS] = { 0 };
	int err = 0;

	for (int k = 0; k < c->n_acc && !err; k++)
		err = account(&h->space[c->acc[k].space], &c->acc[k], c->unit, unit_index + 1, false, wait);
	/* Reads before writes: what a command both reads and writes counts as written. */
	for (int pass = 0; pass < 2; pass++)
		for (int k = 0; k < c->n_acc && !err; k++)
			if (c->acc[k].write == (pass == 1))
				err = account(&h->space[c->acc[k].space], &c->acc[k], c->unit, unit_index + 1, true, wait);
	for (int u = 0; u < WEFT_N_UNITS; u++)
		c->wait[u] = wait[u];
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which commands a command must wait for, from the bytes that each touches: whoever
 * wrote last what it reads or writes, and whoever has read since then what it
 * writes. Units retire their commands in order, so one count for each unit says it
 * all.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/plan/plan.h"

/*
 * The history of bytes [lo, hi). Commands are named by their numbers in their units, from 1
 * on, which are also the counts of retired commands to wait for; 0 means none.
 */
struct interval {
	uint64_t lo, hi;
	uint32_t wr[WEFT_N_UNITS], rd[WEFT_N_UNITS];   /* the last writer, in at most one unit; the last reader of each unit
	                        * since then */
};

/*
 * Intervals in order, in chunks: a network's commands touch memory in several
 * places at once, so that one array would be moved about at every insertion.
 * No chunk is empty.
 */
#define CHUNK 64
struct chunk { struct chunk *next; uint32_t n; struct interval v[CHUNK]; };
struct map { struct chunk **c; uint32_t n, cap; struct chunk *unused; };

/* Position of an interval; behind the last one c is the map's n. */
struct at { uint32_t c, i; };

struct hazards {
	struct map space[2];   /* the histories of scratchpad and arena */
	uint32_t *load, n_load, cap_load;   /* for one command after another, the numbers of the loads that wrote its bytes */
	bool overlap;          /* a write of the array waits for nothing of its own unit */
	/* Where the last command of each unit found its accesses: those of the next one are often near. */
	struct at near[WEFT_N_UNITS][CMD_MAX_ACCESSES];
};

/*
 * Returns an empty history of accesses to scratchpad and arena, or NULL if there is no memory; hazards_free()
 * frees it.
 */
struct hazards *hazards_new(void)
{
	return calloc(1, sizeof(struct hazards));
}

/* Keep chunk c, which is in no list any more, for later use by the map. */
static void drop_chunk(struct map *m, struct chunk *c)
{
	c->next = m->unused;
	m->unused = c;
}

/*
 * Forget all commands, so that those of another emission can be noted; memory is kept for them. With `overlap`,
 * writes of the array wait for nothing of its own unit from here on.
 */
void hazards_clear(struct hazards *h, bool overlap)
{
	h->overlap = overlap;
	for (int s = 0; s < 2; s++) {
		for (uint32_t i = 0; i < h->space[s].n; i++)
			drop_chunk(&h->space[s], h->space[s].c[i]);
		h->space[s].n = 0;
	}
	memset(h->near, 0, sizeof h->near);
	h->n_load = 0;
}

/* Free the history; NULL is allowed. */
void hazards_free(struct hazards *h)
{
	if (!h)
		return;
	hazards_clear(h, false);
	for (int s = 0; s < 2; s++) {
		for (struct chunk *c; (c = h->space[s].unused); ) {
			h->space[s].unused = c->next;
			free(c);
		}
		free(h->space[s].c);
	}
	free(h->load);
	free(h);
}

/* Returns the interval at this position of the map, or NULL behind the last. */
static struct interval *item(const struct map *m, struct at p)
{
	return p.c < m->n ? &m->c[p.c]->v[p.i] : NULL;
}

/* Move *p to the next position; behind the last interval it becomes { m->n, 0 }. */
static void next(const struct map *m, struct at *p)
{
	if (++p->i == m->c[p->c]->n)
		*p = (struct at){ p->c + 1, 0 };
}

/*
 * If the first interval that ends above address `at` is at *p or among the three behind it in the same chunk,
 * move *p to it and return true. Otherwise return false with *p unchanged.
 */
static bool find_near(const struct map *m, uint64_t at, struct at *p)
{
	if (p->c >= m->n || p->i >= m->c[p->c]->n)
		return false;
	const struct chunk *k = m->c[p->c];
	if (p->i ? k->v[p->i - 1].hi > at : p->c && m->c[p->c - 1]->v[m->c[p->c - 1]->n - 1].hi > at)
		return false;
	for (uint32_t i = p->i; i < k->n && i < p->i + 4; i++)
		if (k->v[i].hi > at) {
			p->i = i;
			return true;
		}
	return false;
}

/*
 * Returns the position of the first interval that ends above address `at`, or { m->n, 0 } if there is none.
 */
static struct at find(const struct map *m, uint64_t at)
{
	uint32_t lo = 0, hi = m->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (m->c[mid]->v[m->c[mid]->n - 1].hi > at)
			hi = mid;
		else
			lo = mid + 1;
	}
	struct at p = { lo, 0 };
	if (lo == m->n)
		return p;
	for (lo = 0, hi = m->c[p.c]->n - 1; lo < hi;) {
		uint32_t mid = (lo + hi) / 2;
		if (m->c[p.c]->v[mid].hi > at)
			hi = mid;
		else
			lo = mid + 1;
	}
	p.i = lo;
	return p;
}

/*
 * Insert a chunk at index i of the map and move the upper n intervals of the chunk before it there, which has
 * more than n. With n = 0 the chunk is empty, i may be 0, and the caller puts an interval into it. Returns 0,
 * or -ENOMEM with all intervals where they were.
 */
static int add_chunk(struct map *m, uint32_t i, uint32_t n)
{
	int err = cc_grow(&m->c, m->n, &m->cap, sizeof *m->c);
	struct chunk *k = m->unused;

	if (err)
		return err;
	if (k)
		m->unused = k->next;
	else if (!(k = malloc(sizeof *k)))
		return -ENOMEM;
	k->n = n;
	if (n) {
		m->c[i - 1]->n -= n;
		memcpy(k->v, &m->c[i - 1]->v[m->c[i - 1]->n], n * sizeof k->v[0]);
	}
	memmove(&m->c[i + 1], &m->c[i], (m->n - i) * sizeof *m->c);
	m->c[i] = k;
	m->n++;
	return 0;
}

/*
 * Insert interval v before position *p, which may be behind the last interval; *p then is v's position. A full
 * chunk is split in two. Returns 0, or -ENOMEM with all intervals where they were.
 */
static int insert(struct map *m, struct at *p, const struct interval *v)
{
	int err = 0;

	if (!m->n)
		err = add_chunk(m, 0, 0);
	else if (p->c == m->n)
		*p = (struct at){ m->n - 1, m->c[m->n - 1]->n };
	if (!err && m->c[p->c]->n == CHUNK) {
		err = add_chunk(m, p->c + 1, CHUNK / 2);
		if (!err && p->i > CHUNK / 2)
			*p = (struct at){ p->c + 1, p->i - CHUNK / 2 };
	}
	if (err)
		return err;
	struct chunk *k = m->c[p->c];
	memmove(&k->v[p->i + 1], &k->v[p->i], (k->n - p->i) * sizeof k->v[0]);
	k->v[p->i] = *v;
	k->n++;
	return 0;
}

/* Remove the interval at this position; a chunk that becomes empty goes as well. */
static void erase(struct map *m, struct at p)
{
	struct chunk *k = m->c[p.c];

	k->n--;
	memmove(&k->v[p.i], &k->v[p.i + 1], (k->n - p.i) * sizeof k->v[0]);
	if (k->n)
		return;
	drop_chunk(m, k);
	m->n--;
	memmove(&m->c[p.c], &m->c[p.c + 1], (m->n - p.c) * sizeof *m->c);
}

/* Set *to to v if it is less than v. */
static void raise_to(uint32_t *to, uint32_t v)
{
	if (v > *to)
		*to = v;
}

/*
 * Command c touches v's bytes by access a: raise c's waits to the commands that it depends on, which are
 * the last writer and, if a writes, all readers since then. With h->overlap a write of the array waits for
 * nothing of its own unit, whose commands take effect in order. The load that wrote the bytes, if one did
 * and it is not the last one noted for c, is appended to h->load and counted in c->n_loads. If a writes
 * bytes that a load has read, c->n_read is raised to that load's count. Returns 0 or -ENOMEM.
 */
static int depend(struct hazards *h, const struct interval *v, const struct access *a, struct cmd *c)
{
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		if (h->overlap && u == WEFT_UNIT_CV && u == c->unit && a->write)
			continue;
		raise_to(&c->wait[u], v->wr[u]);
		if (a->write)
			raise_to(&c->wait[u], v->rd[u]);
	}
	if (a->write)
		raise_to(&c->n_read, v->rd[WEFT_UNIT_LD]);
	uint32_t load = v->wr[WEFT_UNIT_LD];
	if (!load || (c->n_loads && h->load[h->n_load - 1] == load))
		return 0;
	int err = cc_grow(&h->load, h->n_load, &h->cap_load, sizeof *h->load);
	if (!err) {
		h->load[h->n_load++] = load;
		c->n_loads++;
	}
	return err;
}

/*
 * Let command c depend on all that touched the bytes [a->lo, a->hi) before, as depend() does. *near is where
 * the search begins, and then where the bytes were found. Returns 0 or -ENOMEM.
 */
static int depend_all(struct hazards *h, const struct access *a, struct at *near, struct cmd *c)
{
	const struct map *m = &h->space[a->space];
	int err = 0;

	if (!find_near(m, a->lo, near))
		*near = find(m, a->lo);
	struct at p = *near;
	for (const struct interval *v = item(m, p); v && v->lo < a->hi && !err; next(m, &p), v = item(m, p))
		err = depend(h, v, a, c);
	return err;
}

/* Returns whether interval b follows a without a gap, with the same history. */
static bool same(const struct interval *a, const struct interval *b)
{
	return a->hi == b->lo && !memcmp(a->wr, b->wr, sizeof a->wr) && !memcmp(a->rd, b->rd, sizeof a->rd);
}

/*
 * Join neighbouring intervals in and around [lo, hi) that have the same history, so that the map stays small.
 * p is a position near lo.
 */
static void join(struct map *m, uint64_t lo, uint64_t hi, struct at p)
{
	/* One back, where that is no other chunk's. */
	p.i -= p.i > 0;
	if (!find_near(m, lo ? lo - 1 : 0, &p))
		p = find(m, lo ? lo - 1 : 0);

	for (struct interval *a = item(m, p); a && a->lo < hi; a = item(m, p)) {
		struct at q = p;
		next(m, &q);
		struct interval *b = item(m, q);
		if (b && same(a, b)) {
			a->hi = b->hi;
			erase(m, q);
		} else {
			p = q;
		}
	}
}

/*
 * Note in interval v that command number `count` of the unit (from 1 on) touches its bytes by access a: a
 * write replaces the whole history, a read is added to it.
 */
static void note(struct interval *v, const struct access *a, int unit, uint32_t count)
{
	if (a->write) {
		memset(v->wr, 0, sizeof v->wr);
		memset(v->rd, 0, sizeof v->rd);
		v->wr[unit] = count;
	} else {
		raise_to(&v->rd[unit], count);
	}
}

/* Cut the interval at *p in two at address `end`; *p then is the lower part. Returns 0 or -ENOMEM. */
static int cut(struct map *m, struct at *p, uint64_t end)
{
	struct interval *v = item(m, *p), left = *v;

	left.hi = end;
	v->lo = end;
	return insert(m, p, &left);
}

/*
 * Note access a, taken as the one range [a->lo, a->hi), of command number `count` of the unit (from 1 on)
 * in all intervals of its bytes: intervals at its borders are cut, bytes not touched before get an
 * interval, and intervals with the same history are joined. If c is not NULL, command c first is made to
 * depend on what touched these bytes before. *near is where the search begins, and then where the bytes
 * were found. Returns 0 or -ENOMEM.
 */
static int record(struct hazards *h, const struct access *a, int unit, struct at *near, uint32_t count, struct cmd *c)
{
	struct map *m = &h->space[a->space];

	if (!find_near(m, a->lo, near))
		*near = find(m, a->lo);
	struct at p = *near;
	struct interval *v = item(m, p);
	uint64_t lo = a->lo;
	int err = 0;

	if (v && v->lo < lo) {
		if ((err = cut(m, &p, lo)))
			return err;
		next(m, &p);
	}
	while (lo < a->hi && !err) {
		v = item(m, p);
		if (!v || v->lo > lo) {
			struct interval fresh = { .lo = lo, .hi = v && v->lo < a->hi ? v->lo : a->hi };
			err = insert(m, &p, &fresh);
		} else if (v->hi > a->hi) {
			err = cut(m, &p, a->hi);
		}
		v = item(m, p);
		if (!err && c)
			err = depend(h, v, a, c);
		if (err)
			return err;
		note(v, a, unit, count);
		lo = v->hi;
		next(m, &p);
	}
	join(m, a->lo, a->hi, *near);
	return 0;
}

enum what { DEPEND = 1, RECORD = 2 };

/*
 * For every range of access k of command c, as `what` says: let c depend on what touched the bytes before
 * (DEPEND), note the access (RECORD), or both. `count` is the command's number in its unit, from 1 on.
 * Returns 0 or -ENOMEM.
 */
static int account(struct hazards *h, struct cmd *c, int k, uint32_t count, int what)
{
	struct access row = c->acc[k];
	struct at *near = &h->near[c->unit][k];
	int err = 0;

	for (uint32_t i = 0; i < c->acc[k].n && !err; i++) {
		err = what & RECORD ? record(h, &row, c->unit, near, count, what & DEPEND ? c : NULL) : depend_all(h, &row, near, c);
		row.lo += row.step;
		row.hi += row.step;
	}
	return err;
}

/* Returns the address behind the last byte of access a's last range. */
static uint64_t end_of(const struct access *a)
{
	return a->hi + (a->n - 1) * a->step;
}

/*
 * Returns whether the command might write bytes that another access of it touches. Gaps between ranges are
 * not looked at.
 */
static bool meets_itself(const struct cmd *c)
{
	for (int i = 0; i < c->n_acc; i++)
		for (int k = 0; k < i; k++) {
			const struct access *a = &c->acc[i], *b = &c->acc[k];
			if ((a->write || b->write) && a->space == b->space && a->lo < end_of(b) && b->lo < end_of(a))
				return true;
		}
	return false;
}

/*
 * Note all accesses of command c, whose index in its unit is unit_index (from 0 on), and set c->wait to what
 * it must wait for, and its range of loads in hazards_loads(). A command never waits for itself; what it both
 * reads and writes counts as written. Returns 0 or -ENOMEM.
 */
int hazards_add(struct hazards *h, struct cmd *c, uint32_t unit_index)
{
	int err = 0;

	memset(c->wait, 0, sizeof c->wait);
	c->first_load = h->n_load;
	c->n_loads = c->n_read = 0;
	if (!meets_itself(c)) {
		for (int k = 0; k < c->n_acc && !err; k++)
			err = account(h, c, k, unit_index + 1, DEPEND | RECORD);
		return err;
	}
	/* All dependencies first, so that a command never waits for itself. */
	for (int k = 0; k < c->n_acc && !err; k++)
		err = account(h, c, k, unit_index + 1, DEPEND);
	/* Reads before writes: what a command both reads and writes counts as written. */
	for (int pass = 0; pass < 2; pass++)
		for (int k = 0; k < c->n_acc && !err; k++)
			if (c->acc[k].write == (pass == 1))
				err = account(h, c, k, unit_index + 1, RECORD);
	return err;
}

/*
 * Returns the counts of loads whose bytes each command touches; a command's range is first_load and n_loads. May
 * be NULL if there are none.
 */
const uint32_t *hazards_loads(const struct hazards *h)
{
	return h->load;
}

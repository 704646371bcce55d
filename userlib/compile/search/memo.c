/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came of placements. Parameters differ in what they ask for and often get the
 * same: the same residents, groups and rings, from which all else follows. So these
 * are the key, and a placement that has been evaluated before is not evaluated again.
 * Threads share one memo; whether a thread finds what another has just evaluated
 * changes nothing but the time that it takes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/plan/plan.h"

/* One outcome, with the n bytes of its key and their hash. */
struct entry { uint64_t hash; uint8_t *v; uint32_t n; struct outcome o; };

struct memo {
	pthread_mutex_t lock;  /* held by whoever looks at the entries */
	struct entry *e;       /* the outcomes, in the order in which they were added */
	uint32_t n, cap;       /* how many there are, and room for how many */
};

/* Returns a new empty memo, which memo_free() frees; NULL if there is no memory. */
struct memo *memo_new(void)
{
	struct memo *m = calloc(1, sizeof *m);

	if (m)
		pthread_mutex_init(&m->lock, NULL);
	return m;
}

/* Free a memo and all outcomes that it holds; NULL is allowed. */
void memo_free(struct memo *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n; i++)
		free(m->e[i].v);
	free(m->e);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/*
 * Append the number v to key k, in as few bytes as it needs. Each byte holds seven bits of it, the lowest first, and bit 7 of a
 * byte says that another byte follows. The sign is moved to bit 0, so that small negative numbers take one byte as well. Returns 0
 * or -ENOMEM.
 */
int memo_put(struct memo_key *k, int64_t v)
{
	uint64_t left = (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);

	do {
		int err = cc_grow(&k->v, k->n, &k->cap, sizeof *k->v);
		if (err)
			return err;
		k->v[k->n++] = (uint8_t)(left | (left > 127 ? 128 : 0));
		left >>= 7;
	} while (left);
	return 0;
}

/*
 * Append to key k what decides how stripe group g of the step runs: nodes, stripe, how far nodes run ahead,
 * and rings. Returns 0, or a negative number if there is no memory.
 */
static int put_group(struct memo_key *k, const struct npu_step *s, const struct group *g)
{
	int err = memo_put(k, g->first) | memo_put(k, g->n) | memo_put(k, g->step) | memo_put(k, g->how.slices);

	for (int i = 0; i < g->n && !err; i++)
		err = memo_put(k, g->ahead[i]) | memo_put(k, group_grain(s, g, step_node(s, g->first + i)));
	for (int i = 0; i < g->n_ring && !err; i++)
		err = memo_put(k, g->ring[i].rows) | memo_put(k, g->ring[i].wrap_rows);
	return err;
}

/*
 * Make *k the key of a step whose residents and stripe groups are chosen: all that decides what comes of
 * placing it, namely parameters that placing still looks at, what moves ask of the nodes, residents and
 * groups. What *k held before is replaced. Returns 0 or -ENOMEM.
 */
int memo_key_of(struct memo_key *k, const struct npu_step *s)
{
	k->n = 0;
	int err = memo_put(k, s->params.neighbours) | memo_put(k, s->params.halves_apart) | memo_put(k, s->known_order) |
	          memo_put(k, s->fast_limit) | memo_put(k, s->params.only_loads) | memo_put(k, s->params.few_early);

	for (int i = 0; i < s->n && !err; i++)
		err = memo_put(k, ((int64_t)s->plan[i].req.split * (MAX_W_SLOTS + 1) + s->plan[i].req.w_slots) * 2 + s->plan[i].req.turns);
	for (int i = 0; i < s->n_storages && !err; i++)
		err = memo_put(k, s->storage[i].resident ? 1 + s->storage[i].replaces : -1);
	for (uint32_t i = 0; i < s->n_group && !err; i++)
		err = put_group(k, s, &s->group[i]);
	return err ? -ENOMEM : 0;
}

/* Returns the FNV-1a hash of a key. */
static uint64_t hash_of(const struct memo_key *k)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (uint32_t i = 0; i < k->n; i++)
		h = (h ^ k->v[i]) * UINT64_C(1099511628211);
	return h;
}

/*
 * Look up the outcome that was remembered with this key and copy it to *o. Returns false, with *o unchanged,
 * if there is none. Several threads may call it at once.
 */
bool memo_find(struct memo *m, const struct memo_key *k, struct outcome *o)
{
	uint64_t hash = hash_of(k);
	bool found = false;

	pthread_mutex_lock(&m->lock);
	for (uint32_t i = 0; i < m->n && !found; i++) {
		const struct entry *e = &m->e[i];
		found = e->hash == hash && e->n == k->n && !memcmp(e->v, k->v, k->n);
		if (found)
			*o = e->o;
	}
	pthread_mutex_unlock(&m->lock);
	return found;
}

/*
 * Remember outcome *o with key k, which is copied. If one was remembered with this key before, memo_find()
 * goes on finding that one. Returns 0 or -ENOMEM. Several threads may call it at once.
 */
int memo_add(struct memo *m, const struct memo_key *k, const struct outcome *o)
{
	struct entry e = { hash_of(k), malloc(k->n + 1), k->n, *o };

	if (!e.v)
		return -ENOMEM;
	memcpy(e.v, k->v, k->n);
	pthread_mutex_lock(&m->lock);
	int err = cc_grow(&m->e, m->n, &m->cap, sizeof *m->e);
	if (!err)
		m->e[m->n++] = e;
	pthread_mutex_unlock(&m->lock);
	if (err)
		free(e.v);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials side by side. What they find is looked at in the order in which one
 * thread would have made them, so that the program does not depend on how many
 * there are.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

struct work { void (*fn)(void *user, int worker, int i); void *user; atomic_int next; int n; };
struct worker { struct work *work; int number; };

static void *run(void *p)
{
	const struct worker *w = p;

	for (int i; (i = atomic_fetch_add(&w->work->next, 1)) < w->work->n; )
		w->work->fn(w->work->user, w->number, i);
	return NULL;
}

void run_all(int threads, int n, void (*fn)(void *user, int worker, int i), void *user)
{
	struct work work = { .fn = fn, .user = user, .n = n };
	struct worker w[MAX_THREADS];
	pthread_t thread[MAX_THREADS];
	bool started[MAX_THREADS] = { false };

	for (int i = 0; i < threads && i < n; i++) {
		w[i] = (struct worker){ &work, i };
		started[i] = i && !pthread_create(&thread[i], NULL, run, &w[i]);
	}
	/* Alone if there are no others. */
	if (n > 0)
		run(&w[0]);
	for (int i = 1; i < threads && i < n; i++)
		if (started[i])
			pthread_join(thread[i], NULL);
}

static void *copy(const void *p, size_t n, size_t elem)
{
	void *q = malloc((n + 1) * elem);

	if (q && n)
		memcpy(q, p, n * elem);
	return q;
}

static void free_one(struct seg *s)
{
	if (!s)
		return;
	if (s->cc) {
		free(s->cc->nodes);
		free(s->cc->ten);
		free(s->cc);
	}
	s->work = NULL;        /* the original's */
	seg_clear(s);
	free(s);
}

/* Everything that placing and emitting change is its own. */
static struct seg *clone(const struct seg *s)
{
	struct seg *c = malloc(sizeof *c);
	struct cc *cc = malloc(sizeof *cc);

	if (!c || !cc) {
		free(c);
		free(cc);
		return NULL;
	}
	*cc = *s->cc;
	*c = *s;
	c->cc = cc;
	c->threads = 1;
	cc->nodes = copy(s->cc->nodes, (size_t)s->cc->n_nodes, sizeof *cc->nodes);
	cc->ten = copy(s->cc->ten, (size_t)s->cc->n_roots, sizeof *cc->ten);
	c->stor = copy(s->stor, (size_t)s->n_stor, sizeof *c->stor);
	c->plan = copy(s->plan, (size_t)s->n, sizeof *c->plan);
	c->area = copy(s->area, s->n_area, sizeof *c->area);
	c->group = copy(s->group, s->n_group, sizeof *c->group);
	c->cap_area = c->n_area;
	c->cap_group = c->n_group;
	c->cmds = (struct cmds){ 0 };
	c->hazards = NULL;
	c->made = NULL;
	if (cc->nodes && cc->ten && c->stor && c->plan && c->area && c->group)
		return c;
	free_one(c);
	return NULL;
}

int crew_open(struct crew *w, struct seg *s)
{
	*w = (struct crew){ .seg = { s }, .n = 1 };
	while (w->n < s->threads) {
		w->seg[w->n] = clone(s);
		if (!w->seg[w->n])
			return -ENOMEM;
		w->n++;
	}
	return 0;
}

void crew_close(struct crew *w)
{
	for (int i = 1; i < w->n; i++)
		free_one(w->seg[i]);
	w->n = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials side by side. What they find is looked at in the order in which one
 * thread would have made them, so that the program does not depend on how many
 * there are.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/plan/plan.h"

#define MIN_NODES 4

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t more, made;   /* trials to make; one that is made */
	void (*fn)(void *user, int worker, int slot);
	void *user;
	uint32_t head, next, tail;   /* trials taken so far; begun; pushed */
	bool is_made[QUEUE_SLOTS];
	bool quit;
	int n;                 /* threads, with the one that takes */
	struct worker { struct queue *q; int number; pthread_t thread; bool started; } worker[MAX_THREADS];
};

/* The next trial; the lock is held before and after. */
static void make_one(struct queue *q, int worker)
{
	int slot = (int)(q->next++ % QUEUE_SLOTS);

	pthread_mutex_unlock(&q->lock);
	q->fn(q->user, worker, slot);
	pthread_mutex_lock(&q->lock);
	q->is_made[slot] = true;
	pthread_cond_signal(&q->made);
}

static void *work(void *p)
{
	const struct worker *w = p;
	struct queue *q = w->q;

	pthread_mutex_lock(&q->lock);
	while (!q->quit) {
		if (q->next == q->tail)
			pthread_cond_wait(&q->more, &q->lock);
		else
			make_one(q, w->number);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

struct queue *queue_open(int threads, void (*fn)(void *user, int worker, int slot), void *user)
{
	struct queue *q = calloc(1, sizeof *q);

	if (!q)
		return NULL;
	q->fn = fn;
	q->user = user;
	q->n = threads;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->made, NULL);
	/* Alone if there are no others. */
	for (int i = 1; i < threads; i++) {
		q->worker[i].q = q;
		q->worker[i].number = i;
		q->worker[i].started = !pthread_create(&q->worker[i].thread, NULL, work, &q->worker[i]);
	}
	return q;
}

void queue_close(struct queue *q)
{
	if (!q)
		return;
	queue_drop(q);
	pthread_mutex_lock(&q->lock);
	q->quit = true;
	pthread_cond_broadcast(&q->more);
	pthread_mutex_unlock(&q->lock);
	for (int i = 1; i < q->n; i++)
		if (q->worker[i].started)
			pthread_join(q->worker[i].thread, NULL);
	pthread_cond_destroy(&q->more);
	pthread_cond_destroy(&q->made);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/* Alone, trials are made when they are taken, and never in vain; with others, few are when one helps. */
int queue_slot(const struct queue *q)
{
	uint32_t most = q->n > 1 ? (uint32_t)min64(q->n + 1, QUEUE_SLOTS) : 1;

	return q->tail - q->head < most ? (int)(q->tail % QUEUE_SLOTS) : -1;
}

void queue_push(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->is_made[q->tail++ % QUEUE_SLOTS] = false;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
}

int queue_take(struct queue *q)
{
	int slot = -1;

	pthread_mutex_lock(&q->lock);
	if (q->head != q->tail) {
		slot = (int)(q->head % QUEUE_SLOTS);
		while (!q->is_made[slot]) {
			if (q->next != q->tail)
				make_one(q, 0);
			else
				pthread_cond_wait(&q->made, &q->lock);
		}
		q->head++;
	}
	pthread_mutex_unlock(&q->lock);
	return slot;
}

void queue_drop(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->tail = q->next;
	for (; q->head != q->tail; q->head++)
		while (!q->is_made[q->head % QUEUE_SLOTS])
			pthread_cond_wait(&q->made, &q->lock);
	pthread_mutex_unlock(&q->lock);
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
	c->used = copy(s->used, (size_t)s->n, sizeof *c->used);
	c->cap_area = c->n_area;
	c->cap_group = c->n_group;
	c->cmds = (struct cmds){ 0 };
	c->hazards = NULL;
	c->made = NULL;
	if (cc->nodes && cc->ten && c->stor && c->plan && c->area && c->group && c->used)
		return c;
	free_one(c);
	return NULL;
}

int crew_open(struct crew *w, struct seg *s)
{
	*w = (struct crew){ .seg = { s }, .n = 1 };
	/* A step of few nodes is planned sooner than others have begun. */
	while (w->n < s->threads && s->n >= MIN_NODES) {
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

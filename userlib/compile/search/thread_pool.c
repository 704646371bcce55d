/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluations side by side. Their outcomes are taken in the order in which one thread
 * would have made them, so that the program does not depend on how many there are.
 * The caller's thread is worker 0: it makes evaluations, too, while it waits.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/plan/plan.h"

/* A step of fewer nodes is planned sooner than other threads have begun. Not measured. */
#define MIN_NODES 4

struct pool {
	pthread_mutex_t lock;  /* held to look at or change what follows */
	pthread_cond_t more, done;   /* signalled when there are evaluations to make, and when one has been made */
	void (*fn)(void *user, int worker, int slot);   /* makes one evaluation */
	void *user;            /* handed to fn */
	uint32_t head, next, tail;   /* how many evaluations have been taken, begun and pushed so far */
	bool is_done[POOL_SLOTS];    /* the evaluation in this slot has been made */
	bool quit;             /* the pool is being closed: threads end */
	int n;                 /* number of threads, the caller's included */
	struct worker { struct pool *q; int number; pthread_t thread; bool started; } worker[MAX_THREADS];
};

/*
 * Begin and make the oldest evaluation that has not begun, as worker number `worker`, then mark it as made.
 * The pool's lock is held at the call and at the return, but not while fn runs.
 */
static void run_next(struct pool *q, int worker)
{
	int slot = (int)(q->next++ % POOL_SLOTS);

	pthread_mutex_unlock(&q->lock);
	q->fn(q->user, worker, slot);
	pthread_mutex_lock(&q->lock);
	q->is_done[slot] = true;
	pthread_cond_signal(&q->done);
}

/*
 * The body of a thread: make evaluations as they are pushed, until the pool is closed. p is its struct
 * worker; returns NULL.
 */
static void *work(void *p)
{
	const struct worker *w = p;
	struct pool *q = w->q;

	pthread_mutex_lock(&q->lock);
	while (!q->quit) {
		if (q->next == q->tail)
			pthread_cond_wait(&q->more, &q->lock);
		else
			run_next(q, w->number);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/*
 * Open a pool of `threads` threads (1..MAX_THREADS, which is not checked): the caller's, which is worker 0 and
 * makes evaluations in pool_take(), and threads - 1 new ones, workers 1..threads - 1. A thread that cannot be
 * created is no error: the others make its evaluations. Worker `worker` calls fn(user, worker, slot) to make the
 * evaluation in slot number `slot`; several workers may do so at the same time. Returns the pool, which
 * pool_close() frees, or NULL if there is no memory.
 */
struct pool *pool_open(int threads, void (*fn)(void *user, int worker, int slot), void *user)
{
	struct pool *q = calloc(1, sizeof *q);

	if (!q)
		return NULL;
	q->fn = fn;
	q->user = user;
	q->n = threads;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->done, NULL);
	/* If a thread cannot be created, the others do its part. */
	for (int i = 1; i < threads; i++) {
		q->worker[i].q = q;
		q->worker[i].number = i;
		q->worker[i].started = !pthread_create(&q->worker[i].thread, NULL, work, &q->worker[i]);
	}
	return q;
}

/*
 * Forget the evaluations that have not begun, wait for the others and for all threads, and free the pool;
 * NULL is allowed.
 */
void pool_close(struct pool *q)
{
	if (!q)
		return;
	pool_drop(q);
	pthread_mutex_lock(&q->lock);
	q->quit = true;
	pthread_cond_broadcast(&q->more);
	pthread_mutex_unlock(&q->lock);
	for (int i = 1; i < q->n; i++)
		if (q->worker[i].started)
			pthread_join(q->worker[i].thread, NULL);
	pthread_cond_destroy(&q->more);
	pthread_cond_destroy(&q->done);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/*
 * Returns the slot, 0..POOL_SLOTS - 1, that the next evaluation shall use, or -1 if enough have been pushed
 * and not taken yet. Nothing changes before pool_push(). Enough is one for a pool of one thread, since
 * evaluations are made there when they are taken, so never in vain; else one more than there are threads,
 * at most POOL_SLOTS, so that few are made in vain if an outcome makes the rest worthless. Only the thread
 * that opened the pool may call this, pool_push(), pool_take() and pool_drop().
 */
int pool_slot(const struct pool *q)
{
	uint32_t most = q->n > 1 ? (uint32_t)min64(q->n + 1, POOL_SLOTS) : 1;

	return q->tail - q->head < most ? (int)(q->tail % POOL_SLOTS) : -1;
}

/*
 * Append the evaluation in the slot that pool_slot() named, which must not have been -1, behind those pushed
 * before. A free thread then makes it, or the caller's own in pool_take(); this call does not wait.
 */
void pool_push(struct pool *q)
{
	pthread_mutex_lock(&q->lock);
	q->is_done[q->tail++ % POOL_SLOTS] = false;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
}

/*
 * Wait until the oldest evaluation is made, making evaluations in the caller's thread meanwhile, and remove
 * it from the pool. Returns its slot, or -1 if none is left.
 */
int pool_take(struct pool *q)
{
	int slot = -1;

	pthread_mutex_lock(&q->lock);
	if (q->head != q->tail) {
		slot = (int)(q->head % POOL_SLOTS);
		while (!q->is_done[slot]) {
			if (q->next != q->tail)
				run_next(q, 0);
			else
				pthread_cond_wait(&q->done, &q->lock);
		}
		q->head++;
	}
	pthread_mutex_unlock(&q->lock);
	return slot;
}

/* Forget all evaluations: those that have not begun are not made, those under way are waited for. */
void pool_drop(struct pool *q)
{
	pthread_mutex_lock(&q->lock);
	q->tail = q->next;
	for (; q->head != q->tail; q->head++)
		while (!q->is_done[q->head % POOL_SLOTS])
			pthread_cond_wait(&q->done, &q->lock);
	pthread_mutex_unlock(&q->lock);
}

/* Returns a copy of n elements of `elem` bytes each, which the caller frees; NULL if there is no memory. */
static void *copy(const void *p, size_t n, size_t elem)
{
	void *q = malloc((n + 1) * elem);

	if (q && n)
		memcpy(q, p, n * elem);
	return q;
}

/* Free a replica and what it owns; its list of work belongs to the original step. NULL is allowed. */
static void free_one(struct npu_step *s)
{
	if (!s)
		return;
	if (s->cc) {
		free(s->cc->nodes);
		free(s->cc->ten);
		free(s->cc);
	}
	s->work = NULL;        /* the original's */
	step_clear(s);
	free(s);
}

/*
 * Make a replica of a step for another thread: what placing and emitting change is its own, and all else is
 * shared with the original. Nodes, tensors, storages, plans, areas, groups and used[] are copied; commands,
 * hazards and the cache of tiles begin empty, and it has one thread. free_one() frees it. Returns it, or NULL
 * if there is no memory.
 */
static struct npu_step *clone(const struct npu_step *s)
{
	struct npu_step *c = malloc(sizeof *c);
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
	c->storage = copy(s->storage, (size_t)s->n_storages, sizeof *c->storage);
	c->plan = copy(s->plan, (size_t)s->n, sizeof *c->plan);
	c->area = copy(s->area, s->n_area, sizeof *c->area);
	c->group = copy(s->group, s->n_group, sizeof *c->group);
	c->used = copy(s->used, (size_t)s->n, sizeof *c->used);
	c->cap_area = c->n_area;
	c->cap_group = c->n_group;
	c->cmds = (struct cmds){ 0 };
	c->hazards = NULL;
	c->tile_cache = NULL;
	if (cc->nodes && cc->ten && c->storage && c->plan && c->area && c->group && c->used)
		return c;
	free_one(c);
	return NULL;
}

/*
 * Set up w with one step for each thread: the step itself first, then replicas of it. A step of fewer than
 * MIN_NODES nodes gets no replicas. Returns 0 or -ENOMEM; replicas_close() must follow in both cases.
 */
int replicas_open(struct replicas *w, struct npu_step *s)
{
	*w = (struct replicas){ .step = { s }, .n = 1 };
	while (w->n < s->threads && s->n >= MIN_NODES) {
		w->step[w->n] = clone(s);
		if (!w->step[w->n])
			return -ENOMEM;
		w->n++;
	}
	return 0;
}

/* Free all replicas but the original step. */
void replicas_close(struct replicas *w)
{
	for (int i = 1; i < w->n; i++)
		free_one(w->step[i]);
	w->n = 0;
}

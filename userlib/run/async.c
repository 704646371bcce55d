/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's queue of runs that were submitted: submitting, waiting, cancelling. worker_pool.c has the threads
 * that work through it. The queue is made when it is first needed.
 */
#include "userlib/run/async.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <weft/file.h>

#include "userlib/run/cards.h"

/* Frees a run with its report, which may be NULL. */
static void free_queued(struct queued *q)
{
	weft_report_free(q->report);
	free(q->inputs);
	free(q->outputs);
	free(q);
}

/*
 * Returns, of queue a's runs in that state, silent ones too, the one that was submitted first; NULL if
 * there is none. Called with the pool's lock held.
 */
static struct queued *first_in(const struct weft_async *a, enum run_state state)
{
	struct queued *q = a->first;

	while (q && q->state != state)
		q = q->next;
	return q;
}

/*
 * Returns the run of queue a with number id in any state, silent ones too; NULL if there is none.
 * Called with the pool's lock held.
 */
static struct queued *find(const struct weft_async *a, weft_run id)
{
	struct queued *q = a->first;

	while (q && q->id != id)
		q = q->next;
	return q;
}

void weft_run_ended(struct queued *ended)
{
	struct weft_async *const a = ended->queue;
	const uint64_t one = 1;

	ended->state = RUN_ENDED;
	for (struct queued *q = a->first; q && (q->silent || q->state == RUN_ENDED); q = q->next) {
		if (q->silent || q->told)
			continue;
		q->told = true;
		/* The counter cannot be full: there are at most WEFT_RUNS_MAX runs. */
		if (write(a->fd, &one, sizeof(one)) != sizeof(one))
			q->status = q->status ? q->status : -EIO;
	}
	pthread_cond_broadcast(&a->pool->changed);
}

/*
 * Makes a session's queue with its eventfd, and joins it to its pool: that of the session's cards, or a
 * new one with one thread. Returns 0 with the queue in *out, or, with *out untouched, -ENOMEM, -EAGAIN
 * (no thread) or the negative errno of eventfd() (-EMFILE, -ENFILE).
 */
static int begin(weft_session *s, struct weft_async **out)
{
	struct weft_async *a = calloc(1, sizeof(*a));
	int err = 0;

	if (!a)
		return -ENOMEM;
	a->s = s;
	a->cost = s->cost;
	a->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	if (a->fd < 0)
		err = -errno;
	else if (s->cards)
		a->pool = weft_cards_pool(s->cards);
	else
		err = weft_worker_pool_new(1, false, &a->pool);
	if (err) {
		if (a->fd >= 0)
			close(a->fd);
		free(a);
		return err;
	}
	pthread_mutex_lock(&a->pool->lock);
	a->next = a->pool->queues;
	a->pool->queues = a;
	pthread_mutex_unlock(&a->pool->lock);
	*out = a;
	return 0;
}

/*
 * Sets *a to the session's queue, which is made if there is none. Returns 0; or, with *a NULL, -ENOMEM,
 * -EAGAIN (no thread), -EMFILE or -ENFILE.
 */
static int queue_of(weft_session *s, struct weft_async **a)
{
	pthread_mutex_lock(&s->starting);
	int err = s->async ? 0 : begin(s, &s->async);
	*a = s->async;
	pthread_mutex_unlock(&s->starting);
	return err;
}

/* Returns the session's queue; NULL if none was made yet. */
static struct weft_async *queue_if_any(weft_session *s)
{
	pthread_mutex_lock(&s->starting);
	struct weft_async *a = s->async;
	pthread_mutex_unlock(&s->starting);
	return a;
}

void weft_session_async_free(weft_session *s)
{
	struct weft_async *a = s->async, **at;
	struct weft_worker_pool *pool;
	struct queued *q;

	if (!a)
		return;
	pool = a->pool;
	pthread_mutex_lock(&pool->lock);
	a->closing = true;
	for (q = a->first; q; q = q->next)
		if (q->state == RUN_RUNS)
			weft_session_stop(q->on, &q->cancel);
	while (first_in(a, RUN_RUNS))
		pthread_cond_wait(&pool->changed, &pool->lock);
	for (at = &pool->queues; *at != a; at = &(*at)->next)
		;
	*at = a->next;
	pthread_mutex_unlock(&pool->lock);
	if (!s->cards)
		weft_worker_pool_free(pool);
	while (a->first) {
		q = a->first;
		a->first = q->next;
		free_queued(q);
	}
	close(a->fd);
	free(a);
	s->async = NULL;
}

/* Returns a copy of n bytes, from malloc (also for n = 0); NULL if there is no memory. */
static void *copy(const void *from, size_t n)
{
	void *to = malloc(n + 1);

	if (to)
		memcpy(to, from, n);
	return to;
}

/*
 * Makes a run with copies of the structs in inputs and outputs, puts it at the end of the session's queue
 * (which is made if there is none) and wakes the pool. If no card is left that may run it, it ends at once
 * with -ENODEV as its status. A silent run does not count towards WEFT_RUNS_MAX. Returns 0 with its number in
 * *run; otherwise, with nothing queued, *run untouched and one line in msg, -EAGAIN (WEFT_RUNS_MAX runs were
 * not waited for, or no thread), -ENOMEM, -EMFILE or -ENFILE.
 */
static int enqueue(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs, bool silent, weft_run *run, char *msg)
{
	struct queued *q, **at;
	struct weft_async *a;
	int err = queue_of(s, &a);

	if (err) {
		snprintf(msg, WEFT_MSG_LEN, "no thread or descriptor for runs: %s", weft_file_error(err));
		return err;
	}
	q = calloc(1, sizeof(*q));
	if (q) {
		q->queue = a;
		q->silent = silent;
		q->inputs = copy(inputs, sizeof(*inputs) * (size_t)weft_net_n_inputs(s->net));
		q->outputs = copy(outputs, sizeof(*outputs) * (size_t)weft_net_n_outputs(s->net));
	}
	if (!q || !q->inputs || !q->outputs) {
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		err = -ENOMEM;
	}
	pthread_mutex_lock(&a->pool->lock);
	if (!err && !silent && a->n == WEFT_RUNS_MAX) {
		snprintf(msg, WEFT_MSG_LEN, "%d runs were not waited for: wait for one of them first", a->n);
		err = -EAGAIN;
	}
	if (!err) {
		*run = q->id = ++a->pool->last;
		for (at = &a->first; *at; at = &(*at)->next)
			;
		*at = q;
		a->n += !silent;
		weft_worker_pool_settle(a->pool);
		pthread_cond_broadcast(&a->pool->changed);
	}
	pthread_mutex_unlock(&a->pool->lock);
	if (err && q)
		free_queued(q);
	return err;
}

int weft_session_submit(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs, weft_run *run,
                        char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	int err = weft_session_check_outputs(s, outputs, msg);

	return err ? err : enqueue(s, inputs, outputs, false, run, msg);
}

int weft_session_run_spread(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs, struct weft_report **rep, char *msg)
{
	weft_run run;
	int err = enqueue(s, inputs, outputs, true, &run, msg);

	return err ? err : weft_session_wait(s, run, -1, rep, msg);
}

/*
 * Returns the point in time timeout_ms (0 or more) from now on CLOCK_MONOTONIC, by which the pool's
 * condition waits.
 */
static struct timespec until(int timeout_ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += timeout_ms / 1000;
	t.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

/*
 * Takes run q, which has ended, out of queue a without freeing it, counts it out of a->n unless it is
 * silent, and takes 1 from the descriptor's count if q is told in it. Called with the pool's lock held.
 */
static void take_out(struct weft_async *a, struct queued *q)
{
	struct queued **at = &a->first;
	uint64_t one;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	a->n -= !q->silent;
	while (q->told && read(a->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* Writes to msg that there is no run of that number, and returns -ENOENT. */
static int no_such_run(weft_run run, char *msg)
{
	snprintf(msg, WEFT_MSG_LEN, "run %llu: there is no such run, or it was waited for", (unsigned long long)run);
	return -ENOENT;
}

int weft_session_wait(weft_session *s, weft_run run, int timeout_ms, struct weft_report **report, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	const struct timespec limit = until(timeout_ms > 0 ? timeout_ms : 0);
	struct weft_async *a = queue_if_any(s);
	int late = timeout_ms ? 0 : ETIMEDOUT;
	struct queued *q;

	if (!a)
		return no_such_run(run, msg);
	pthread_mutex_lock(&a->pool->lock);
	while ((q = find(a, run)) && q->state != RUN_ENDED && !late)
		late = timeout_ms < 0 ? pthread_cond_wait(&a->pool->changed, &a->pool->lock) : pthread_cond_timedwait(&a->pool->changed, &a->pool->lock, &limit);
	const bool ended = q && q->state == RUN_ENDED;
	if (ended)
		take_out(a, q);
	pthread_mutex_unlock(&a->pool->lock);
	if (!q)
		return no_such_run(run, msg);
	if (!ended) {
		snprintf(msg, WEFT_MSG_LEN, "run %llu has not ended yet", (unsigned long long)run);
		return -EAGAIN;
	}
	const int status = q->status;
	memcpy(msg, q->msg, WEFT_MSG_LEN);
	if (report && q->report) {
		*report = q->report;
		q->report = NULL;
	}
	free_queued(q);
	return status;
}

int weft_session_poll(weft_session *s, weft_run *run)
{
	struct weft_async *a = queue_if_any(s);

	if (!a)
		return 0;
	pthread_mutex_lock(&a->pool->lock);
	const struct queued *q = a->first;
	while (q && !q->told)
		q = q->silent ? q->next : NULL;
	if (q)
		*run = q->id;
	pthread_mutex_unlock(&a->pool->lock);
	return q != NULL;
}

int weft_session_fd(weft_session *s)
{
	struct weft_async *a;
	int err = queue_of(s, &a);

	return err ? err : a->fd;
}

int weft_session_cancel(weft_session *s, weft_run run)
{
	struct weft_async *a = queue_if_any(s);

	if (!a)
		return -ENOENT;
	pthread_mutex_lock(&a->pool->lock);
	struct queued *q = find(a, run);
	if (q && q->state == RUN_WAITS) {
		q->status = -ECANCELED;
		snprintf(q->msg, sizeof(q->msg), "run %llu was cancelled before it began", (unsigned long long)run);
		weft_run_ended(q);
	} else if (q && q->state == RUN_RUNS) {
		weft_session_stop(q->on, &q->cancel);
	}
	pthread_mutex_unlock(&a->pool->lock);
	return q ? 0 : -ENOENT;
}

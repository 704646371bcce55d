/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that were submitted: a queue, worked through in order by one thread of the session. The
 * thread starts when the queue is first needed.
 *
 * The queue's lock is never held while the thread runs something. A run's memory (struct queued)
 * belongs to the queue from weft_session_submit() to weft_session_wait().
 */
#include "userlib/run/internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <weft/file.h>

enum run_state { RUN_WAITS, RUN_RUNS, RUN_ENDED };

/* A run that was submitted and not waited for. */
struct queued {
	struct queued *next;       /* the run submitted after it, or NULL */
	weft_run id;               /* its number, which the caller has */
	enum run_state state;
	atomic_bool cancel;        /* the run shall end as soon as it can */
	weft_tensor *inputs, *outputs;     /* copies of the caller's structs; their data is the caller's */
	struct weft_report *report;        /* of the run that has ended, or NULL */
	int status;                /* what the run returned: 0 or a negative errno */
	char msg[WEFT_MSG_LEN];    /* and its message */
};

/* The queue of a session. */
struct weft_async {
	weft_session *s;
	pthread_mutex_t lock;      /* guards first, last, n, stop, and the states of runs */
	pthread_cond_t changed;    /* a run was submitted or has ended, or stop was set */
	pthread_t thread;
	struct queued *first;      /* all runs, in order of submission */
	weft_run last;             /* the last number given */
	int n, fd;                 /* n: runs not waited for; fd: an eventfd that counts those of them that have ended */
	bool stop;                 /* the thread shall end */
};

/* Frees a run with its report, which may be NULL. */
static void free_queued(struct queued *q)
{
	weft_report_free(q->report);
	free(q->inputs);
	free(q->outputs);
	free(q);
}

/* Returns the first run of the queue in that state, or NULL. Called with the lock held. */
static struct queued *first_in(const struct weft_async *a, enum run_state state)
{
	struct queued *q = a->first;

	while (q && q->state != state)
		q = q->next;
	return q;
}

/*
 * Returns the queued run with number id, waiting, running or ended; NULL if there is none. Called with
 * the lock held.
 */
static struct queued *find(const struct weft_async *a, weft_run id)
{
	struct queued *q = a->first;

	while (q && q->id != id)
		q = q->next;
	return q;
}

/*
 * Marks a run as ended, adds it to the count of the descriptor, and wakes all who wait. If the
 * descriptor cannot be written, a run without a failure gets status -EIO. Called with the lock held.
 */
static void end(struct weft_async *a, struct queued *q)
{
	const uint64_t one = 1;

	q->state = RUN_ENDED;
	/* The counter cannot be full: there are at most WEFT_RUNS_MAX runs. */
	if (write(a->fd, &one, sizeof(one)) != sizeof(one))
		q->status = q->status ? q->status : -EIO;
	pthread_cond_broadcast(&a->changed);
}

/*
 * The session's thread; user is the queue. Takes the runs that wait, in order of submission, runs each
 * in the session, and marks it as ended, until `stop` is set. Returns NULL.
 */
static void *work(void *user)
{
	struct weft_async *a = user;
	weft_session *s = a->s;

	pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		struct queued *q = first_in(a, RUN_WAITS);
		if (!q) {
			pthread_cond_wait(&a->changed, &a->lock);
			continue;
		}
		q->state = RUN_RUNS;
		pthread_mutex_unlock(&a->lock);
		q->status = weft_session_run_until(s, q->inputs, q->outputs, &q->cancel, &q->report, q->msg);
		pthread_mutex_lock(&a->lock);
		end(a, q);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/*
 * Makes a session's queue with its lock, descriptor and thread. Returns 0 with the queue in *out, or
 * -ENOMEM, -EAGAIN (no thread), -EMFILE or -ENFILE.
 */
static int begin(weft_session *s, struct weft_async **out)
{
	struct weft_async *a = calloc(1, sizeof(*a));
	pthread_condattr_t attr;

	if (!a)
		return -ENOMEM;
	a->s = s;
	a->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	if (a->fd < 0) {
		free(a);
		return -errno;
	}
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&a->thread, NULL, work, a)) {
		pthread_cond_destroy(&a->changed);
		pthread_mutex_destroy(&a->lock);
		close(a->fd);
		free(a);
		return -EAGAIN;
	}
	*out = a;
	return 0;
}

/*
 * Sets *a to the session's queue, which is made if there is none. Returns 0 or a negative errno as
 * begin(); *a is then NULL.
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
	struct weft_async *a = s->async;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	struct queued *under_way = first_in(a, RUN_RUNS);
	if (under_way)
		weft_session_stop(s, &under_way->cancel);
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	while (a->first) {
		struct queued *q = a->first;
		a->first = q->next;
		free_queued(q);
	}
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	close(a->fd);
	free(a);
	s->async = NULL;
}

/* Returns a copy of n bytes from malloc; NULL if there is no memory. */
static void *copy(const void *from, size_t n)
{
	void *to = malloc(n + 1);

	if (to)
		memcpy(to, from, n);
	return to;
}

int weft_session_submit(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs, weft_run *run,
                        char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	struct queued *q, **at;
	struct weft_async *a;
	int err = weft_session_check_outputs(s, outputs, msg);

	if (!err && (err = queue_of(s, &a)))
		snprintf(msg, WEFT_MSG_LEN, "no thread or descriptor for runs: %s", weft_file_error(err));
	if (err)
		return err;
	q = calloc(1, sizeof(*q));
	if (q) {
		q->inputs = copy(inputs, sizeof(*inputs) * (size_t)weft_net_n_inputs(s->net));
		q->outputs = copy(outputs, sizeof(*outputs) * (size_t)weft_net_n_outputs(s->net));
	}
	if (!q || !q->inputs || !q->outputs) {
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		err = -ENOMEM;
	}
	pthread_mutex_lock(&a->lock);
	if (!err && a->n == WEFT_RUNS_MAX) {
		snprintf(msg, WEFT_MSG_LEN, "%d runs were not waited for: wait for one of them first", a->n);
		err = -EAGAIN;
	}
	if (!err) {
		*run = q->id = ++a->last;
		for (at = &a->first; *at; at = &(*at)->next)
			;
		*at = q;
		a->n++;
		pthread_cond_broadcast(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	if (err && q)
		free_queued(q);
	return err;
}

/* Returns the point in time timeout_ms from now, on the clock by which the queue's condition waits. */
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
 * Takes a run that has ended out of the queue, without freeing it, and subtracts it from the
 * descriptor's count. Called with the lock held.
 */
static void take_out(struct weft_async *a, struct queued *q)
{
	struct queued **at = &a->first;
	uint64_t one;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	a->n--;
	while (read(a->fd, &one, sizeof(one)) < 0 && errno == EINTR)
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
	pthread_mutex_lock(&a->lock);
	while ((q = find(a, run)) && q->state != RUN_ENDED && !late)
		late = timeout_ms < 0 ? pthread_cond_wait(&a->changed, &a->lock) : pthread_cond_timedwait(&a->changed, &a->lock, &limit);
	const bool ended = q && q->state == RUN_ENDED;
	if (ended)
		take_out(a, q);
	pthread_mutex_unlock(&a->lock);
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
	pthread_mutex_lock(&a->lock);
	const struct queued *q = first_in(a, RUN_ENDED);
	if (q)
		*run = q->id;
	pthread_mutex_unlock(&a->lock);
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
	pthread_mutex_lock(&a->lock);
	struct queued *q = find(a, run);
	if (q && q->state == RUN_WAITS) {
		q->status = -ECANCELED;
		snprintf(q->msg, sizeof(q->msg), "run %llu was cancelled before it began", (unsigned long long)run);
		end(a, q);
	} else if (q && q->state == RUN_RUNS) {
		weft_session_stop(s, &q->cancel);
	}
	pthread_mutex_unlock(&a->lock);
	return q ? 0 : -ENOENT;
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "driver/events.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "driver/clock.h"

/* Where a descriptor cannot be watched, things are looked at so often. */
#define BLIND_NS 1000000ull

struct weft_events {
	struct weft_event_source s;
	pthread_mutex_t lock;
	pthread_cond_t changed;    /* process() was called: for those who wait */
	pthread_cond_t idle;       /* nobody waits any more: for the thread */
	int depth;                 /* of the lock, of who holds it */
	atomic_int n_wanting;      /* threads that wait for the lock */
	unsigned generation;       /* of the process that opened the device */
	bool watching;             /* somebody sleeps on the descriptors */
	int n_waiting;             /* on changed */
	int n_callers;             /* in weft_events_wait() */
	int epoll, timer, ended;   /* -1: not there */
	struct pollfd fds[WEFT_EVENT_FDS];     /* as epoll has them */
	int n_fds;
	bool blind;                /* a descriptor cannot be watched */
	uint64_t armed_ns;         /* the timer; UINT64_MAX: it is not */
	bool has_thread, stop;
	pthread_t thread;
};

/* ---- processes ---- */

static atomic_uint generation;

static void forked(void)
{
	atomic_fetch_add(&generation, 1);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

bool weft_events_foreign(const struct weft_events *e)
{
	return e->generation != atomic_load(&generation);
}

/* ---- the lock ---- */

void weft_events_lock(struct weft_events *e)
{
	atomic_fetch_add(&e->n_wanting, 1);
	pthread_mutex_lock(&e->lock);
	atomic_fetch_sub(&e->n_wanting, 1);
	e->depth++;
}

void weft_events_unlock(struct weft_events *e)
{
	e->depth--;
	pthread_mutex_unlock(&e->lock);
}

bool weft_events_nested(const struct weft_events *e)
{
	return e->depth > 1;
}

/* Mutexes are not fair: whoever works without a pause lets the others in here. */
static void let_others_in(struct weft_events *e)
{
	weft_events_unlock(e);
	for (int i = 0; i < 1000 && atomic_load(&e->n_wanting); i++)
		sched_yield();
	weft_events_lock(e);
}

/* Gives the lock back for as long as it sleeps. */
static void sleep_on(struct weft_events *e, pthread_cond_t *cond, uint64_t until_ns)
{
	const struct timespec t = weft_timespec(until_ns);
	const int depth = e->depth;

	e->depth = 0;
	if (until_ns == UINT64_MAX)
		pthread_cond_wait(cond, &e->lock);
	else
		pthread_cond_timedwait(cond, &e->lock, &t);
	e->depth = depth;
}

/* ---- descriptors ---- */

static void arm(struct weft_events *e, uint64_t at_ns)
{
	struct itimerspec t = { .it_value = weft_timespec(at_ns) };

	if (at_ns >= e->armed_ns)
		return;
	if (!at_ns)
		t.it_value.tv_nsec = 1;    /* zero would disarm it */
	e->armed_ns = at_ns;
	timerfd_settime(e->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

static void disarm(struct weft_events *e)
{
	uint64_t n;

	if (e->armed_ns <= weft_now_ns() && read(e->timer, &n, sizeof(n)) == (ssize_t)sizeof(n))
		e->armed_ns = UINT64_MAX;
}

static uint32_t epoll_bits(short events)
{
	return (events & POLLIN ? EPOLLIN : 0u) | (events & POLLOUT ? EPOLLOUT : 0u);
}

static int find_fd(const struct pollfd *all, int n, int fd)
{
	int i = 0;

	while (i < n && all[i].fd != fd)
		i++;
	return i < n ? i : -1;
}

/* What the source wants watched now, into epoll. */
static void watch_fds(struct weft_events *e)
{
	struct pollfd now[WEFT_EVENT_FDS];
	int n = e->s.fds ? e->s.fds(e->s.state, now, WEFT_EVENT_FDS) : 0;

	e->blind = n < 0 || (!e->s.fds && e->s.poll);
	n = n < 0 ? 0 : n;
	for (int i = 0; i < e->n_fds; i++)
		if (find_fd(now, n, e->fds[i].fd) < 0)
			epoll_ctl(e->epoll, EPOLL_CTL_DEL, e->fds[i].fd, NULL);
	for (int i = 0; i < n; i++) {
		struct epoll_event ev = { .events = epoll_bits(now[i].events), .data.fd = now[i].fd };
		int old = find_fd(e->fds, e->n_fds, now[i].fd);

		if (old >= 0 && e->fds[old].events == now[i].events) {
			e->blind |= e->fds[old].revents;
			now[i].revents = e->fds[old].revents;
			continue;
		}
		/* A regular file, as a mocked device's node is, cannot be watched. */
		now[i].revents = epoll_ctl(e->epoll, old < 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, now[i].fd, &ev) ? 1 : 0;
		e->blind |= now[i].revents;
	}
	memcpy(e->fds, now, (size_t)n * sizeof(now[0]));
	e->n_fds = n;
}

/* From here on epoll and timer say when process() has something to do. */
void weft_events_changed(struct weft_events *e)
{
	uint64_t at = e->s.next_ns(e->s.state);

	if (e->epoll < 0)
		return;
	watch_fds(e);
	if (e->blind && weft_now_ns() + BLIND_NS < at)
		at = weft_now_ns() + BLIND_NS;
	arm(e, e->stop ? 0 : at);
}

/* Both or none. */
static int open_fds(struct weft_events *e)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int err = 0;

	if (e->epoll >= 0)
		return 0;
	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	e->epoll = e->timer < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
	if (e->epoll < 0 || epoll_ctl(e->epoll, EPOLL_CTL_ADD, e->timer, &ev))
		err = -errno;
	if (err && e->epoll >= 0)
		close(e->epoll);
	if (err && e->timer >= 0)
		close(e->timer);
	if (err)
		e->epoll = e->timer = -1;
	return err;
}

int weft_events_fd(struct weft_events *e)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int err = open_fds(e);

	if (!err && e->ended < 0 && (e->ended = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0)
		err = -errno;
	if (!err && !e->has_thread && epoll_ctl(e->epoll, EPOLL_CTL_ADD, e->ended, &ev) && errno != EEXIST)
		err = -errno;
	if (err)
		return err;
	weft_events_changed(e);
	/* The thread watches the rest. */
	return e->has_thread ? e->ended : e->epoll;
}

void weft_events_ended(struct weft_events *e)
{
	const uint64_t one = 1;

	/* It cannot fail before 2^64 - 2 jobs have ended. */
	if (e->ended >= 0 && write(e->ended, &one, sizeof(one)) < 0)
		return;
}

void weft_events_seen(struct weft_events *e)
{
	uint64_t n;

	if (e->ended >= 0 && read(e->ended, &n, sizeof(n)) < 0)
		return;                /* nothing had ended */
}

/* ---- happening ---- */

void weft_events_process(struct weft_events *e)
{
	disarm(e);
	if (e->s.process(e->s.state))
		weft_events_ended(e);
	weft_events_changed(e);
	if (e->n_waiting)
		pthread_cond_broadcast(&e->changed);
}

/* Sleep on the descriptors, for all who wait. */
static void watch(struct weft_events *e, uint64_t until_ns)
{
	uint64_t now = weft_now_ns(), left = until_ns > now ? until_ns - now : 0;
	const struct timespec t = weft_timespec(left);
	struct pollfd p = { e->epoll, POLLIN, 0 };
	const int depth = e->depth;

	e->watching = true;
	e->depth = 0;
	pthread_mutex_unlock(&e->lock);
	ppoll(&p, 1, until_ns == UINT64_MAX ? NULL : &t, NULL);
	atomic_fetch_add(&e->n_wanting, 1);
	pthread_mutex_lock(&e->lock);
	atomic_fetch_sub(&e->n_wanting, 1);
	e->depth = depth;
	e->watching = false;
}

/* Until something may have happened. */
static void rest(struct weft_events *e, uint64_t until_ns)
{
	uint64_t next = e->s.next_ns(e->s.state), now = weft_now_ns();

	if (e->watching) {
		e->n_waiting++;
		sleep_on(e, &e->changed, until_ns);
		e->n_waiting--;
	} else if (next <= now) {
		let_others_in(e);
	} else if (e->s.poll && (e->epoll < 0 || e->blind)) {
		/* The transport's own way to wait, with the lock held: not for long. */
		uint64_t at = until_ns < next ? until_ns : next;
		if (e->has_thread || e->n_waiting || atomic_load(&e->n_wanting))
			at = at < now + BLIND_NS ? at : now + BLIND_NS;
		e->s.poll(e->s.state, at);
		let_others_in(e);
	} else if (e->epoll >= 0) {
		watch(e, until_ns);
	}
}

bool weft_events_wait(struct weft_events *e, bool (*done)(void *user), void *user, uint64_t until_ns)
{
	bool enough = done(user);

	e->n_callers++;
	if (!enough)
		weft_events_process(e);
	while (!enough && !(enough = done(user)) && weft_now_ns() < until_ns) {
		rest(e, until_ns);
		weft_events_process(e);
	}
	if (!--e->n_callers && e->has_thread)
		pthread_cond_signal(&e->idle);
	return enough;
}

/* It works when no caller does. */
static void *thread(void *arg)
{
	struct weft_events *e = arg;

	weft_events_lock(e);
	while (!e->stop) {
		if (e->n_callers) {
			sleep_on(e, &e->idle, UINT64_MAX);
			continue;
		}
		rest(e, UINT64_MAX);
		if (!e->stop)
			weft_events_process(e);
	}
	weft_events_unlock(e);
	return NULL;
}

/* ---- from open to close ---- */

int weft_events_start(struct weft_events *e)
{
	sigset_t all, before;
	int err = open_fds(e);

	if (err)
		return err;
	/* Signals are the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e->has_thread = true;
	weft_events_changed(e);
	err = -pthread_create(&e->thread, NULL, thread, e);
	e->has_thread = !err;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int weft_events_new(const struct weft_event_source *source, struct weft_events **out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct weft_events *e = calloc(1, sizeof(*e));
	pthread_mutexattr_t recursive;
	pthread_condattr_t monotonic;

	if (!e)
		return -ENOMEM;
	pthread_once(&once, watch_forks);
	e->s = *source;
	e->generation = atomic_load(&generation);
	e->epoll = e->timer = e->ended = -1;
	e->armed_ns = UINT64_MAX;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&e->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&e->changed, &monotonic);
	pthread_cond_init(&e->idle, &monotonic);
	pthread_condattr_destroy(&monotonic);
	/* Callers of a device that has descriptors sleep on them. */
	int err = source->fds ? open_fds(e) : 0;
	if (err) {
		weft_events_free(e);
		return err;
	}
	*out = e;
	return 0;
}

void weft_events_free(struct weft_events *e)
{
	const bool ours = !weft_events_foreign(e);

	if (ours && e->has_thread) {
		weft_events_lock(e);
		e->stop = true;
		e->armed_ns = UINT64_MAX;
		arm(e, 0);
		pthread_cond_signal(&e->idle);
		pthread_cond_broadcast(&e->changed);
		weft_events_unlock(e);
		pthread_join(e->thread, NULL);
	}
	if (e->epoll >= 0) {
		close(e->epoll);
		close(e->timer);
	}
	if (e->ended >= 0)
		close(e->ended);
	/* In a child somebody else may have held them. */
	if (ours) {
		pthread_cond_destroy(&e->changed);
		pthread_cond_destroy(&e->idle);
		pthread_mutex_destroy(&e->lock);
	}
	free(e);
}

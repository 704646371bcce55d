/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that work through sessions' queues. Over several cards each thread has a card.
 *
 * Which card gets a run: the one that was given the least work so far, counted in the cycles that the
 * compiler expects of its runs. A card that is free waits while another one that was given less is
 * still at work, but not for longer than LATE times the longest run (at least LATE_NS): a card
 * that is being put right holds nobody up.
 *
 * A run with which a card fails is repeated on another. A card that is unplugged is given up; so is one
 * that has failed FAULTS_MAX times where another card then did not.
 */
#include "userlib/run/async.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/clock.h"
#include "userlib/run/cards.h"

#define LATE 4
#define LATE_NS 1000000000ull
#define FAULTS_MAX 2

/* Says whether an error is one of a card, so that another card may succeed. */
static bool is_of_card(int err)
{
	return err == -ENODEV || err == -EIO || err == -ECONNRESET;
}

/* Says whether thread w may run q: its card is there, and has not failed with it. */
static bool may_run(const struct weft_worker *w, const struct queued *q)
{
	return !w->lost && !(q->tried >> w->i & 1);
}

/* Returns the number of threads that may run q. */
static int n_able(const struct weft_worker_pool *c, const struct queued *q)
{
	int n = 0;

	for (int i = 0; i < c->n; i++)
		n += may_run(&c->worker[i], q);
	return n;
}

/*
 * Returns, of all queues of w's pool that are not closing, the waiting run that was submitted first of
 * those that thread w may run; NULL: none. Called with the lock held.
 */
static struct queued *next_run(const struct weft_worker *w)
{
	struct queued *best = NULL;

	for (const struct weft_async *a = w->pool->queues; a; a = a->next) {
		for (struct queued *q = a->closing ? NULL : a->first; q; q = q->next)
			if (q->state == RUN_WAITS && may_run(w, q) && (!best || q->id < best->id))
				best = q;
	}
	return best;
}

/* Returns the moment (weft_now_ns) from which on nobody waits for the current run of v any more. */
static uint64_t late_from(const struct weft_worker *v)
{
	const uint64_t limit = LATE * v->pool->longest_ns;

	return v->since_ns + (limit > LATE_NS ? limit : LATE_NS);
}

/*
 * Says until when (weft_now_ns) thread w leaves run q to another thread that may run it and was given
 * less work (load): 0: w takes it now; UINT64_MAX: such a thread is free and will take it; otherwise
 * the latest moment at which such a thread that is at work counts as late (late_from()); those that are
 * late already do not count. Called with the lock held.
 */
static uint64_t leaves_until(const struct weft_worker *w, const struct queued *q)
{
	const uint64_t now = weft_now_ns();
	uint64_t until = 0;

	for (int i = 0; i < w->pool->n; i++) {
		const struct weft_worker *v = &w->pool->worker[i];
		if (v == w || v->load >= w->load || !may_run(v, q))
			continue;
		if (!v->at_work)
			return UINT64_MAX;
		if (late_from(v) > now && late_from(v) > until)
			until = late_from(v);
	}
	return until;
}

/*
 * Waits until there is a run that thread w shall take, and returns it, without changing it; NULL: the
 * pool stops, or w's card is lost, and the thread shall end. Called with the lock held, which is
 * released while it waits.
 */
static struct queued *take_run(struct weft_worker *w)
{
	struct weft_worker_pool *const c = w->pool;

	while (!c->stop && !w->lost) {
		struct queued *q = next_run(w);
		const uint64_t until = q ? leaves_until(w, q) : UINT64_MAX;
		if (!until)
			return q;
		const struct timespec t = weft_timespec(until);
		if (until == UINT64_MAX)
			pthread_cond_wait(&c->changed, &c->lock);
		else
			pthread_cond_timedwait(&c->changed, &c->lock, &t);
	}
	return NULL;
}

/* Gives thread w's card up; `why` is the reason, or NULL: it is noted already. */
static void lose(struct weft_worker *w, const char *why)
{
	w->lost = true;
	if (why)
		snprintf(w->why, sizeof(w->why), "%s", why);
}

/*
 * Notes that the cards that had failed with q did so alone, since another one did not. The cards that
 * have done that too often are given up.
 */
static void blame(struct weft_worker_pool *c, const struct queued *q)
{
	for (int i = 0; i < c->n; i++)
		if (q->tried >> i & 1 && ++c->worker[i].faults >= FAULTS_MAX && !c->worker[i].lost)
			lose(&c->worker[i], NULL);
}

/*
 * Adds the cycles of run q, which has just ended on thread w, to w->cycles, if it has a report. If its
 * status is 0, counts it in w->runs and raises the pool's longest_ns to the time since w->since_ns.
 * Called with the lock held.
 */
static void count(struct weft_worker *w, const struct queued *q)
{
	const uint64_t ns = weft_now_ns() - w->since_ns;

	if (q->report)
		w->cycles += q->report->cycles;
	if (q->status)
		return;
	w->runs++;
	if (ns > w->pool->longest_ns)
		w->pool->longest_ns = ns;
}

/*
 * Raises w->load to the least load of the other threads whose cards are not lost, if that is more. Used
 * for a card that was late, so that the others, who went on without it, do not wait for it now. Called
 * with the lock held.
 */
static void catch_up(struct weft_worker *w)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < w->pool->n; i++) {
		const struct weft_worker *v = &w->pool->worker[i];
		if (v != w && !v->lost && v->load < least)
			least = v->load;
	}
	if (least != UINT64_MAX && least > w->load)
		w->load = least;
}

/*
 * Notes that thread w has made run q, counts it, raises w's load if the run was late, and decides what becomes
 * of q. It has ended (weft_run_ended()) unless the pool has cards and q's status is -ENODEV, -EIO or
 * -ECONNRESET; then, unless q is cancelled or its queue closing, q waits again for a card that has not tried it,
 * and w->repeated counts it if there is one; w->why becomes q's message, -ENODEV gives the card up, and a run
 * that no card may take any more ends as weft_worker_pool_settle() says. If q succeeded after other cards had
 * failed with it, these get a fault each, and with FAULTS_MAX are given up. Called with the lock held.
 */
static void finish(struct weft_worker *w, struct queued *q)
{
	struct weft_worker_pool *const c = w->pool;
	const bool of_card = c->cards && is_of_card(q->status);

	w->at_work = false;
	if (weft_now_ns() > late_from(w))
		catch_up(w);
	count(w, q);
	if (!q->status && q->tried)
		blame(c, q);
	if (!of_card || atomic_load(&q->cancel) || q->queue->closing) {
		weft_run_ended(q);
		return;
	}
	q->tried |= UINT64_C(1) << w->i;
	q->state = RUN_WAITS;
	snprintf(w->why, sizeof(w->why), "%s", q->msg);
	if (q->status == -ENODEV)
		lose(w, q->msg);
	w->repeated += n_able(c, q) > 0;
	weft_worker_pool_settle(c);
	pthread_cond_broadcast(&c->changed);
}

void weft_worker_pool_settle(struct weft_worker_pool *c)
{
	const char *why = "";
	int left = 0;

	for (int i = 0; i < c->n; i++) {
		left += !c->worker[i].lost;
		why = c->worker[i].lost ? c->worker[i].why : why;
	}
	for (struct weft_async *a = c->queues; a; a = a->next) {
		for (struct queued *q = a->first; q; q = q->next) {
			if (q->state != RUN_WAITS || n_able(c, q))
				continue;
			/* What the last card said of it stays, if one is left that said it. */
			if (!left || !q->status) {
				q->status = -ENODEV;
				snprintf(q->msg, sizeof(q->msg), "none of %d cards is left; the last: %.200s", c->n, why);
			}
			weft_run_ended(q);
		}
	}
}

/*
 * A thread of the pool; user is its struct weft_worker. Takes runs one after the other, adds their cost
 * to its load, runs each on the session of its card (or the queue's own session) without the lock, and
 * finishes it, until take_run() has none any more. Returns NULL.
 */
static void *work(void *user)
{
	struct weft_worker *const w = user;
	struct weft_worker_pool *const c = w->pool;
	struct queued *q;

	pthread_mutex_lock(&c->lock);
	while ((q = take_run(w))) {
		q->state = RUN_RUNS;
		q->on = c->cards ? q->queue->s->each[w->i] : q->queue->s;
		w->at_work = true;
		w->load += q->queue->cost;
		w->since_ns = weft_now_ns();
		/* Who has left the run to this card looks for another one. */
		if (c->n > 1)
			pthread_cond_broadcast(&c->changed);
		pthread_mutex_unlock(&c->lock);
		q->status = weft_session_run_until(q->on, q->inputs, q->outputs, &q->cancel, &q->report, q->msg);
		pthread_mutex_lock(&c->lock);
		finish(w, q);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

int weft_worker_pool_lose(struct weft_worker_pool *c, int i, const char *why)
{
	int left = 0;

	pthread_mutex_lock(&c->lock);
	if (!c->worker[i].lost)
		lose(&c->worker[i], why);
	weft_worker_pool_settle(c);
	for (int k = 0; k < c->n; k++)
		left += !c->worker[k].lost;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return left;
}

int weft_worker_pool_new(int n, bool cards, struct weft_worker_pool **out)
{
	struct weft_worker_pool *c = calloc(1, sizeof(*c) + (size_t)n * sizeof(c->worker[0]));
	pthread_condattr_t attr;

	if (!c)
		return -ENOMEM;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, &attr);
	pthread_condattr_destroy(&attr);
	c->cards = cards;
	pthread_mutex_lock(&c->lock);
	for (; c->n < n; c->n++) {
		struct weft_worker *w = &c->worker[c->n];
		w->pool = c;
		w->i = c->n;
		if (pthread_create(&w->thread, NULL, work, w))
			break;
	}
	pthread_mutex_unlock(&c->lock);
	if (c->n < n) {
		weft_worker_pool_free(c);
		return -EAGAIN;
	}
	*out = c;
	return 0;
}

void weft_worker_pool_free(struct weft_worker_pool *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	for (int i = 0; i < c->n; i++)
		pthread_join(c->worker[i].thread, NULL);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

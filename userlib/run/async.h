/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that were submitted: each session has a queue of them (async.c), and a pool of threads works
 * through the queues (worker_pool.c). A session on one device has a pool of its own with one thread; over
 * several cards the pool is that of the cards, with a thread for each, and several sessions may share it.
 *
 * The pool's lock guards everything here and is never held while a thread runs something. A run's
 * memory (struct queued) belongs to its queue from weft_session_submit() to weft_session_wait().
 */
#ifndef WEFT_RUN_ASYNC_H
#define WEFT_RUN_ASYNC_H

#include "userlib/run/internal.h"

#define WEFT_WORKERS_MAX 64    /* threads of a pool, at most: as many as struct queued's `tried` has bits */

enum run_state { RUN_WAITS, RUN_RUNS, RUN_ENDED };

/* A run that was submitted and not waited for. */
struct queued {
	struct queued *next;       /* the run submitted after it, or NULL */
	struct weft_async *queue;  /* its session's queue */
	weft_run id;               /* its number, which the caller has */
	enum run_state state;
	bool silent;               /* a caller waits for it in weft_session_run(): neither poll nor descriptor tell of it */
	bool told;                 /* the descriptor counts it */
	atomic_bool cancel;        /* the run shall end as soon as it can */
	uint64_t tried;            /* bit i: thread i of the pool has failed with it, as its card did */
	weft_session *on;          /* the session that runs it, in state RUN_RUNS */
	weft_tensor *inputs, *outputs;     /* copies of the caller's structs; their data is the caller's */
	struct weft_report *report;        /* of the run that has ended, or NULL */
	int status;                /* what the run returned: 0 or a negative errno */
	char msg[WEFT_MSG_LEN];    /* and its message */
};

/* The queue of a session. */
struct weft_async {
	weft_session *s;
	struct weft_worker_pool *pool;
	struct weft_async *next;   /* the next queue of the pool, or NULL */
	struct queued *first;      /* all runs, in order of submission */
	uint64_t cost;             /* the cycles that a run is expected to take, at least 1 */
	int n, fd;                 /* n: runs not waited for, but silent ones; fd: an eventfd that counts those that were told of */
	bool closing;              /* no run begins any more */
};

/* A thread of a pool, and the card on which it runs, if there are several. */
struct weft_worker {
	struct weft_worker_pool *pool;
	int i;                     /* its number in the pool */
	pthread_t thread;
	bool at_work, lost;        /* it runs something; its card is given up, and it has ended */
	uint64_t load;             /* the sum of its runs' costs, by which runs are divided */
	uint64_t since_ns;         /* when its current run began (weft_now_ns) */
	unsigned faults;           /* runs with which its card failed and another one did not */
	uint64_t runs, repeated, cycles;   /* runs that ended here well, that were repeated elsewhere; cycles of all that ended */
	char why[WEFT_MSG_LEN];    /* why the card was given up, or the last fault; "" */
};

struct weft_worker_pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;    /* a run was submitted or has ended, a card was lost, or stop was set */
	struct weft_async *queues; /* of all sessions that use the pool */
	weft_run last;             /* the last number given to a run */
	uint64_t longest_ns;       /* how long the longest run took that ended well */
	bool cards;                /* each thread has a card of its own, and runs are repeated on another */
	bool stop;                 /* the threads shall end */
	int n;
	struct weft_worker worker[];
};

/**
 * Make a pool of n threads, 1..WEFT_WORKERS_MAX, which wait for runs. cards: each thread has a card of its
 * own, so that a run with which a card fails is repeated on another.
 * @return 0 with the pool in *out, which weft_worker_pool_free() frees; -ENOMEM; -EAGAIN: no thread
 */
WEFT_MUST_USE int weft_worker_pool_new(int n, bool cards, struct weft_worker_pool **out);

/**
 * End the threads, waiting for each until its current run has ended, and free the pool, which has no
 * queues any more. NULL is fine.
 */
void weft_worker_pool_free(struct weft_worker_pool *c);

/**
 * End each waiting run that no thread may run: all cards that are left have failed with it, or none is
 * left. It keeps the status and message of the card that failed last, if a card is left; otherwise, or
 * if it has no status, it gets -ENODEV and a message with the reason of the lost card of the highest
 * number. Called with the lock held.
 */
void weft_worker_pool_settle(struct weft_worker_pool *c);

/**
 * Give up the card of thread i, with `why` as the reason unless it was given up already; end the runs
 * that nobody can run now, and wake all threads. Takes the lock itself.
 * @return how many cards are left
 */
int weft_worker_pool_lose(struct weft_worker_pool *c, int i, const char *why);

/**
 * Mark a run as ended and wake all who wait. From the queue's beginning up to the first run that has
 * not ended (silent ones do not count), each run that the descriptor does not count yet is added to it
 * and marked told; a run whose write fails gets status -EIO unless it has a failure. Called with the
 * pool's lock held.
 */
void weft_run_ended(struct queued *q);

/** Run on a session over several cards: submit it and wait. As weft_session_run_until(). */
WEFT_MUST_USE int weft_session_run_spread(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs, struct weft_report **rep, char *msg);

#endif

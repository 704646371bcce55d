/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft-broker: what its files share.
 *
 * The main thread has the sockets (serve.c) and each client's USB device, whose inside is not a chip but link.c:
 * bytes become frames, one of which at a time is handed to the worker of the client's card. A worker (worker.c) is
 * a thread that has one card open through the library, as any program has. It answers frames out of the client's
 * memory (memory.c), which lies in the broker and is on the card only where a job needs it, and runs the clients'
 * jobs in turn (jobs.c, turn.c). Another thread of each worker judges streams (check.c): none is run that the
 * verifier has not passed.
 *
 *	main thread             worker, one for each card     checker, one for each card
 *	serve.c, link.c   -->   frames.c, jobs.c, memory.c  <--  check.c
 *	            client.op                       stream.verdict
 *
 * broker.lock guards what passes between them; each field says whose it is.
 */
#ifndef TOOLS_BROKER_H
#define TOOLS_BROKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/admin.h>
#include <weft/dev.h>
#include <weft/gen/config.h>
#include <weft/gen/msg.h>

#include "link.h"
#include "memory.h"
#include "turn.h"

#define BROKER_CARDS 8         /* cards that one broker serves at most */
#define BROKER_STREAMS 16      /* streams of one client that are remembered at most */
#define BROKER_ON_CARD 2       /* jobs that a card has at a time: one runs, one waits */
#define BROKER_ALIGN 64        /* bytes: windows, streams and the memory of a client are multiples of it */

struct broker_options {
	const char *listen;        /* a socket's path, or NULL */
	const char *cards[BROKER_CARDS];
	unsigned n_cards;          /* number of cards named; 0: whatever is plugged in */
	unsigned clients;          /* clients at a time, at most */
	uint64_t memory;           /* bytes of card memory of one client; 0: as much as its card has */
	unsigned handshake_ms;     /* a connection that has not said who it is within this time is closed */
	unsigned job_ms;           /* a job that runs for longer is stopped */
	const char *user, *admin_group;        /* the user to become, and the group of administrators; NULL: not named */
	bool verbose;
};

/* Who is at the other end of a socket, as the kernel says. */
struct peer {
	uint32_t pid, uid, gid;
	char name[16];
	bool admin;                /* whether it is root's, or has the group of administrators */
};

enum verdict { VERDICT_OPEN, VERDICT_BUSY, VERDICT_GOOD, VERDICT_BAD };

/* A stream of a client, with the windows for which it is judged. */
struct stream {
	struct stream *next;
	uint64_t *words;
	size_t n_words;
	struct stream_window { uint32_t size, perm; } win[WEFT_MSG_WINDOWS_MAX];
	unsigned refs;             /* number of jobs that have it; the worker's */
	uint64_t used;             /* worker.uses when it was used last; the worker's */
	enum verdict verdict;      /* guarded by broker.lock */
};

/* A job as the card remembers it. All of it is the worker's. */
struct vjob {
	struct weft_msg_done_reply done;       /* what DONE says of it; with done.job 0 the place is free */
	uint64_t order;            /* the number of its SUBMIT among the client's */
	struct stream *stream;     /* NULL once the job has ended */
	struct weft_msg_window win[WEFT_MSG_WINDOWS_MAX];
	struct piece *piece[WEFT_MSG_WINDOWS_MAX];
	uint64_t limit_ns;         /* how long it may run */
	bool on_card;              /* the card has it */
	bool late;                 /* it was stopped because of limit_ns */
	bool held;                 /* jobs on the card are in its way */
	weft_job job;
	uint64_t expected;         /* cycles with which the client was charged when it started */
};

enum op_state { OP_NONE, OP_WAITS, OP_TAKEN };

struct client {
	struct client *next;       /* guarded by broker.lock */
	struct broker *b;
	struct worker *w;
	struct peer peer;
	uint32_t number;           /* counts connections, for messages */
	/* The main thread's: */
	struct usbdev *usb;
	struct redir_conn *conn;
	int fd;
	uint64_t until_ns;         /* when its handshake must have ended; 0: it has */
	uint32_t events;           /* what epoll watches it for */
	struct link link;          /* its frames; link.h says which fields broker.lock guards */
	/* Guarded by broker.lock: */
	enum op_state op;          /* whether a frame waits for the worker, or is being answered */
	bool stirred;              /* the main thread shall look at it */
	bool dead;                 /* its connection is gone */
	bool reaped;               /* the worker has forgotten it */
	bool reset;                /* its chip was reset, which the worker has yet to carry out */
	bool asked;                /* with reset: the client asked for it; false: its card was plugged in */
	struct turn_use use;       /* the worker writes, others read */
	uint64_t memory, on_card;  /* bytes of its memory, and those of them on the card; the worker writes */
	uint64_t check_ns;         /* time that the checker has spent on its streams */
	struct stream *streams;    /* the worker adds and removes */
	bool begun;                /* it has said ABORT_ALL, as drivers do; the worker writes */
	/* The worker's: */
	struct memory mem;
	struct vjob jobs[WEFT_MSG_JOBS_KEPT];
	unsigned next_job;
	uint64_t n_submits;
	size_t stream_bytes;
	uint32_t boot_id;
	struct weft_msg_stats_reply stats;
};

enum card_state { CARD_AWAY, CARD_HERE };

struct worker {
	struct broker *b;
	unsigned index;
	const char *where;         /* "", a serial, or "@PATH" */
	pthread_t thread, checker;
	pthread_cond_t check;      /* signalled when there may be something to check */
	int wake;                  /* eventfd by which the worker is woken */
	/* Guarded by broker.lock: */
	enum card_state state;
	unsigned n_clients;
	struct weft_msg_hello_reply hello;
	const struct weft_config *cfg;
	/* The worker's: */
	weft_dev *dev;
	unsigned n_on_card;
	uint64_t started_ns;       /* since when the job that runs now has run, as far as is known */
	uint64_t uses;             /* counts uses of pieces and streams, to find those used least recently */
	uint64_t retry_ns;         /* when to look for the card again, or whether it is still there */
	bool lost;                 /* a call has found that the card is gone; close_card() follows */
	char which[128];           /* the card's name for weft_dev_open() */
	weft_admin *admin;         /* open instead of dev while admin_of has the card */
	struct client *admin_of;   /* the administrator that has the card itself, or NULL */
	struct client *admin_wants;            /* the one that waits for it, or NULL */
};

struct broker {
	struct broker_options o;
	pthread_mutex_t lock;
	int wake;                  /* eventfd by which the main thread is woken */
	struct worker workers[BROKER_CARDS];
	unsigned n_workers;
	struct client *clients;
	unsigned n_clients;
	uint32_t n_connections;
	bool stop;
	int admin_gid;             /* the group of administrators; -1: there is none */
};

/* ---- serve.c ---- */

/** Serve clients that come to these sockets until a signal ends it. @return exit status */
int serve(struct broker *b, const int *fds, int n_fds);
/** Free a client whose connection is gone, and which no worker knows any more. */
void client_free(struct client *c);

/* ---- peer.c ---- */

/** Set *p to who is at the other end of socket fd; what the kernel does not say is 0, or "a process". */
void peer_of(int fd, int admin_gid, struct peer *p);

/* ---- worker.c ---- */

/**
 * Start a worker's two threads.
 * @return 0; -EAGAIN: no thread; or another negative errno; then no thread runs, and broker.stop may be set
 */
int worker_start(struct worker *w);
/** Wake the worker if it naps. */
void worker_wake(struct worker *w);
/** Have the main thread look at the clients that are stirred. */
void broker_stir(struct broker *b);
/** Wait until a worker's threads have ended, once broker.stop is set, and free what they had. */
void worker_join(struct worker *w);

/** Do what can be done now: one frame for each client, and jobs that end or start. @return whether a frame or the like was dealt with */
bool worker_once(struct worker *w);
/**
 * Find the card and open it as a device.
 * @return 0; or a negative errno, why is said with --verbose, and it is tried again later
 */
int worker_open(struct worker *w);
/** Returns the worker's client that follows c on the list, or with c NULL the first; NULL behind the last. */
struct client *worker_next(struct worker *w, struct client *c);

/** The client's card starts anew: its jobs and memory are gone, and it is told so. */
void client_restart(struct client *c);
/**
 * Look at what a call of the library for client c returned: -ENODEV means that the card is lost, -ECONNRESET that it has
 * lost its memory, so that the client's card starts anew.
 * @return whether err was one of the two
 */
bool worker_failed(struct worker *w, struct client *c, int err);

/* ---- frames.c ---- */

/** Answer the client's frame. @return false: it has to wait for a job */
bool frame_answer(struct client *c, const struct frame *f);
/** Send the client a message of len bytes that it did not ask for. */
void frame_tell(struct client *c, const void *msg, uint32_t len);

/* ---- jobs.c ---- */

/**
 * Carry out SUBMIT, a message of n words: check it, and queue the job.
 * @param[out] r  The reply, which has the error if it is refused.
 * @return false if the frame has to wait for a job that uses the stream's bytes; *r is not set then
 */
bool job_submit(struct client *c, const uint32_t *words, unsigned n, struct weft_msg_submit_reply *r);
/** Returns the client's job with this number, also one that is over; NULL if there is none. */
struct vjob *job_find(struct client *c, uint32_t id);
/** Cancel a job; the client is told when it has ended, and told again if it had. */
void job_cancel(struct client *c, struct vjob *j);
/** End all jobs of a client without telling it, and forget them. @return how many had not ended */
unsigned jobs_drop(struct client *c);
/** End the jobs that the card has finished, and tell their clients. */
void jobs_collect(struct worker *w);
/** Put jobs on the card as long as it takes more. */
void jobs_start(struct worker *w);
/** Forget all jobs of a client whose card is gone. */
void jobs_gone(struct client *c);
/** Returns when a job on the card will have run for too long; UINT64_MAX: none will. */
uint64_t jobs_next_ns(const struct worker *w);

/* ---- admin.c ---- */

/** Returns whether the client may have the card itself: an administrator that is no driver. */
bool admin_may(const struct client *c);
/** Returns whether the client has the card itself. */
bool admin_has(const struct client *c);
/** Give the client the card itself. @return true if it has it; false: its frame waits until that can be, or the card is lost */
bool admin_take(struct client *c);
/** Take the card back from the client, if it has it or waits for it, and open it as a device again. */
void admin_give_back(struct client *c);

/** Send a message of n words to the card, for reply[max]. @return the number of words of the answer, or a negative errno */
int admin_ask(struct client *c, const uint32_t *words, unsigned n, uint32_t *reply, unsigned max);
/** Carry out frame f, a READ into `in`, or with NULL a WRITE, on the card's memory. @return 0 or a negative errno */
int admin_move(struct client *c, const struct frame *f, uint8_t *in);
/** Reset the chip of the card that the client has. */
void admin_reset(struct client *c);

/* ---- check.c ---- */

/* What a checker has: a model of the card. Zeros before its first use. */
struct checker { weft_dev *model; const struct weft_config *cfg; };

/**
 * Judge one stream, and wake the worker. Called with broker.lock held, which is let go while the verifier is at work.
 * @return false: there is none to be judged
 */
bool check_once(struct worker *w, struct checker *k);
/** A checker's thread: judges streams until broker.stop. */
void *check_run(void *worker);

#endif

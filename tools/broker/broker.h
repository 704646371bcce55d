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

#define BROKER_CARDS 8         /* at most */
#define BROKER_STREAMS 16      /* that are remembered of a client */
#define BROKER_ON_CARD 2       /* jobs that a card has at a time: one runs, one waits */
#define BROKER_ALIGN 64

struct broker_options {
	const char *listen;        /* a socket's path, or NULL */
	const char *cards[BROKER_CARDS];
	unsigned n_cards;          /* 0: whatever is plugged in */
	unsigned clients;          /* at most */
	uint64_t memory;           /* bytes of one client; 0: as much as its card has */
	unsigned handshake_ms;     /* a connection says who it is within that */
	unsigned job_ms;           /* a job runs no longer */
	const char *user, *admin_group;        /* or NULL */
	bool verbose;
};

/* Who is at the other end of a socket, as the kernel says. */
struct peer {
	uint32_t pid, uid, gid;
	char name[16];
	bool admin;                /* root, or of the admin group */
};

enum verdict { VERDICT_OPEN, VERDICT_BUSY, VERDICT_GOOD, VERDICT_BAD };

/* A stream of a client's with the windows for which it was judged. */
struct stream {
	struct stream *next;
	uint64_t *words;
	size_t n_words;
	struct stream_window { uint32_t size, perm; } win[WEFT_MSG_WINDOWS_MAX];
	unsigned refs;             /* jobs that have it; worker's */
	uint64_t used;             /* worker's */
	enum verdict verdict;      /* broker.lock */
};

/* A job as the card remembers it. All of it is the worker's. */
struct vjob {
	struct weft_msg_done_reply done;       /* done.job 0: free */
	uint64_t order;            /* of its SUBMIT */
	struct stream *stream;     /* NULL once it has ended */
	struct weft_msg_window win[WEFT_MSG_WINDOWS_MAX];
	struct piece *piece[WEFT_MSG_WINDOWS_MAX];
	uint64_t limit_ns;         /* it may run so long */
	bool on_card, late, held;  /* late: stopped because of its limit; held: jobs on the card are in its way */
	weft_job job;
	uint64_t expected;         /* cycles that it was charged with when it started */
};

enum op_state { OP_NONE, OP_WAITS, OP_TAKEN };

struct client {
	struct client *next;       /* broker.lock */
	struct broker *b;
	struct worker *w;
	struct peer peer;
	uint32_t number;           /* of the connection */
	/* Main thread. */
	struct usbdev *usb;
	struct redir_conn *conn;
	int fd;
	uint64_t until_ns;         /* of its handshake; 0: it is over */
	uint32_t events;           /* asked of epoll */
	struct link link;          /* its frames; link.h says what is broker.lock's */
	/* broker.lock. */
	enum op_state op;          /* link.frame is to be answered */
	bool stirred;              /* main: look at it */
	bool dead, reaped;         /* its connection is gone; the worker has forgotten it */
	bool reset, asked;         /* its chip was reset; it asked for that, and it is not only that its card was plugged in */
	struct turn_use use;       /* worker writes, others read */
	uint64_t memory, on_card;  /* bytes that it may have, and that are on the card; likewise */
	uint64_t check_ns;         /* the checker's time on its streams */
	struct stream *streams;    /* the worker adds and removes */
	bool begun;                /* has said ABORT_ALL, as drivers do; the worker writes */
	/* Worker. */
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
	pthread_cond_t check;      /* there may be something to check */
	int wake;                  /* eventfd */
	/* broker.lock. */
	enum card_state state;
	unsigned n_clients;
	struct weft_msg_hello_reply hello;
	const struct weft_config *cfg;
	/* Worker. */
	weft_dev *dev;
	unsigned n_on_card;
	uint64_t started_ns;       /* the job that runs now did then, as far as is known */
	uint64_t uses;             /* counts, for what was used least recently */
	uint64_t retry_ns;         /* to look for the card again, or whether it is still there */
	bool lost;                 /* the card is gone: said by a call in the middle */
	char which[128];           /* its name for the library */
	weft_admin *admin;         /* instead of dev, while admin_of has the card */
	struct client *admin_of, *admin_wants;
};

struct broker {
	struct broker_options o;
	pthread_mutex_t lock;
	int wake;                  /* eventfd: main */
	struct worker workers[BROKER_CARDS];
	unsigned n_workers;
	struct client *clients;
	unsigned n_clients;
	uint32_t n_connections;
	bool stop;
	int admin_gid;             /* -1: none */
};

/* ---- serve.c ---- */

/** Serve clients that come to these sockets until a signal ends it. @return exit status */
int serve(struct broker *b, const int *fds, int n_fds);
/** One whose connection is gone, and whom no worker knows any more. */
void client_free(struct client *c);

/* ---- peer.c ---- */

void peer_of(int fd, int admin_gid, struct peer *p);

/* ---- worker.c ---- */

/** @return 0, -ENOMEM, -EAGAIN (no thread) */
int worker_start(struct worker *w);
void worker_wake(struct worker *w);
/** Have the main thread look at the clients that are stirred. */
void broker_stir(struct broker *b);
/** After broker.stop. */
void worker_join(struct worker *w);

/** Do what can be done now: frames, one for each client, and jobs. @return whether anything was done */
bool worker_once(struct worker *w);
/** Open the card as a device. @return 0 or a negative errno; said why */
int worker_open(struct worker *w);
/** The worker's client behind that one, or (NULL) its first. */
struct client *worker_next(struct worker *w, struct client *c);

/** The client's card starts anew: its jobs and memory are gone, and it is told so. */
void client_restart(struct client *c);
/** What a call of the library said may mean that a card is gone, or lost its memory. @return whether it was that */
bool worker_failed(struct worker *w, struct client *c, int err);

/* ---- frames.c ---- */

/** Answer the client's frame. @return false: it has to wait for a job */
bool frame_answer(struct client *c, const struct frame *f);
/** Send it a message that it did not ask for. */
void frame_tell(struct client *c, const void *msg, uint32_t len);

/* ---- jobs.c ---- */

/** SUBMIT, of which words has n. @return false: the frame has to wait; else the reply and its words are there */
bool job_submit(struct client *c, const uint32_t *words, unsigned n, struct weft_msg_submit_reply *r);
struct vjob *job_find(struct client *c, uint32_t id);
void job_cancel(struct client *c, struct vjob *j);
/** End all and forget them. @return how many had not ended */
unsigned jobs_drop(struct client *c);
/** Jobs of the card that have ended are told of, the next ones started. */
void jobs_collect(struct worker *w);
void jobs_start(struct worker *w);
/** The card is gone: nothing is on it. */
void jobs_gone(struct client *c);
/** When a job has run for too long; UINT64_MAX: none will. */
uint64_t jobs_next_ns(const struct worker *w);

/* ---- admin.c ---- */

/** Returns whether it may have the card itself. */
bool admin_may(const struct client *c);
/** Returns whether it has it. */
bool admin_has(const struct client *c);
/** Give it the card. @return false: its frame waits until that can be, or the card is lost */
bool admin_take(struct client *c);
/** It wants it no longer. */
void admin_give_back(struct client *c);

/** One message to the card. @return words of the answer, or a negative errno */
int admin_ask(struct client *c, const uint32_t *words, unsigned n, uint32_t *reply, unsigned max);
/** The READ (into in) or WRITE (NULL). @return 0 or a negative errno */
int admin_move(struct client *c, const struct frame *f, uint8_t *in);
/** Reset the chip. */
void admin_reset(struct client *c);

/* ---- check.c ---- */

/* What a checker has: a model of the card. Zeros before its first use. */
struct checker { weft_dev *model; const struct weft_config *cfg; };

/** With broker.lock, which it lets go meanwhile: judge one stream. @return false: there is none to be judged */
bool check_once(struct worker *w, struct checker *k);
/** A checker's thread: judges streams until broker.stop. */
void *check_run(void *worker);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One open card: what the files of the USB backend share.
 *
 * All that happens does so in weft_card_process(), which never waits; whoever waits
 * for something does that in weft_card_until(). Nothing believes that time heals:
 * what goes wrong with a transfer breaks the link, and usb_recover.c then puts the
 * card right, step by step harder: reset the link, then the chip. What was unanswered
 * is asked again. Whether firmware was started anew in between says HELLO (boot_id):
 * then all that was in card memory is taken for lost, buffers are sent again, and a
 * job is repeated only if all that it reads is still known to the host.
 */
#ifndef WEFT_DRIVER_USB_CARD_H
#define WEFT_DRIVER_USB_CARD_H

#include "driver/backend.h"
#include "driver/events.h"
#include "policy.h"
#include "driver/ranges.h"
#include "usb_link.h"

#define CARD_STREAMS 16        /* streams kept in card memory */
#define CARD_ALIGN 64

struct card;

struct card_buf {
	struct card_buf *next;
	uint8_t *shadow;           /* the host's copy; NULL: freed, waits for jobs to end */
	uint64_t len, addr;
	struct weft_ranges dirty;  /* newer on the host */
	struct weft_ranges stale;  /* newer on the card */
	struct weft_ranges vague;  /* discarded: what is there is the card's, and nobody misses it */
	bool lost;                 /* what was stale is gone: the card was reset */
	int n_jobs, n_writers;     /* jobs on their way that use it, may write it */
	int n_uploads;             /* WRITEs of it on their way */
};

/* A stream in card memory. */
struct card_stream {
	uint64_t *words;           /* NULL: free entry */
	size_t n_words;
	uint64_t addr, used;
	bool there;                /* sent since the last reset */
	int n_jobs;
	int n_uploads;             /* WRITEs of it on their way */
};

enum card_job_state {
	JOB_NEW,                   /* nothing sent yet */
	JOB_UPLOAD,                /* n_pending WRITEs are on their way */
	JOB_SUBMIT,                /* SUBMIT is */
	JOB_RUNS,
	JOB_ENDED,                 /* result is there */
};

struct card_job {
	struct card_job *next;
	weft_job id;
	uint32_t card_id;
	enum card_job_state state;
	struct weft_backend_window win[WEFT_N_WINDOWS];   /* buf only of those above 0 */
	struct card_stream *stream;
	int n_pending;             /* WRITEs on their way that it began */
	unsigned repeats, troubles, n_full;    /* see struct weft_policy */
	int failed;                /* of an upload */
	bool repeatable;           /* the host knows all that it reads */
	bool abandoned;            /* nobody waits; ended as soon as the card is done with it */
	bool cancel;               /* to be cancelled on the card */
	bool asking;               /* a DONE is under way */
	uint64_t since_ns;         /* its last word */
	uint64_t not_before_ns;    /* the card's queue was full */
	uint64_t cancel_ns;        /* when the card was first told to end it; 0: it was not */
	struct weft_job_result r;
	char msg[WEFT_DEV_MSG];
};

/* Where a card is on its way back. */
enum card_phase {
	CARD_UP,                   /* it works, as far as anybody knows */
	CARD_STOP,                 /* transfers are being taken back */
	CARD_CLEAR_IN, CARD_CLEAR_OUT,         /* halts are being ended */
	CARD_RESET,                /* the link or the chip is */
	CARD_HELLO,                /* it was asked who it is */
	CARD_PAUSE,                /* until the next try */
	CARD_LOST,                 /* given up, until somebody wants something of it */
	CARD_GONE,                 /* unplugged: for ever */
};

struct card_recovery {
	enum card_phase phase;
	bool chip;                 /* this try resets the chip */
	bool force_chip;           /* the next one does: what runs there must end */
	bool chip_was_reset;       /* since it worked last */
	bool hello_over;
	bool old_hello;            /* its firmware, or boot ROM, knows no sessions */
	int err;                   /* why it was given up */
	uint64_t step_until_ns;    /* this try, or pause */
	uint64_t until_ns;         /* all of it */
	uint64_t boot_until_ns;    /* the chip may still be starting */
	unsigned link_tries, chip_tries;       /* without progress since */
	uint64_t n_done_before;    /* progress at the last recovery */
	struct weft_req hello;
};

struct card {
	const struct weft_usb_ops *ops;
	void *t;
	const struct weft_config *cfg;     /* NULL: whichever the card's first HELLO says, which it is from then on */
	struct weft_policy policy;
	struct weft_events *events;            /* NULL: while it is being opened */
	struct weft_link link;
	struct card_recovery rec;
	struct weft_msg_hello_reply hello;
	bool known;                /* hello is of this card as it is now */
	bool more;                 /* process() stopped before everything had happened */
	uint64_t n_done;           /* progress: WRITEs, READs, questions and jobs that are done */
	struct weft_ranges heap;   /* free bytes of card memory */
	struct card_buf *bufs;
	struct card_stream streams[CARD_STREAMS];
	struct card_job *jobs;     /* in the order of submission */
	uint32_t next_card_id;
	uint32_t session;          /* random, not 0: who we are to the card, from open to close */
	uint64_t used_end;         /* first byte of card memory that was never allocated, nor any behind it */
	uint64_t uses;
	struct weft_card_info info;
	char why[WEFT_DEV_MSG];    /* the last trouble */
};

/* ---- usb_card.c ---- */

WEFT_MUST_USE int weft_card_open(const struct weft_dev_options *o, const struct weft_config *cfg, struct card **out, char *msg);
void weft_card_close(struct card *c);

/** Free memory and leave the card alone: it is another process's. */
void weft_card_disown(struct card *c);

/** Let happen what can happen now. @return false: jobs that end say so by themselves */
bool weft_card_process(void *state);
/** When there is something to do though nothing comes from the card. */
uint64_t weft_card_next_ns(void *state);

/** Let things happen until done() says that it is enough, or that time. @return what done() said last */
WEFT_MUST_USE bool weft_card_until(struct card *c, bool (*done)(void *user), void *user, uint64_t until_ns);

/** A message and its answer, waiting. @return bytes of the answer, or a negative errno */
WEFT_MUST_USE int weft_card_ask(struct card *c, const void *msg, uint32_t len, void *reply, uint32_t reply_len, uint64_t until_ns);

/** A request on endpoint 0, waiting for it. @return bytes, or a negative errno */
WEFT_MUST_USE int weft_card_control(struct card *c, uint8_t request_type, uint8_t request, uint16_t value, uint16_t index,
                      uint8_t *data, uint32_t len, uint64_t until_ns);

/** Returns whether nothing can be had of the card any more. */
bool weft_card_out(const struct card *c);
/** Somebody wants something of it: if it was given up, try once more. @return 0, -ENODEV */
WEFT_MUST_USE int weft_card_wake(struct card *c, char *msg);

/* ---- usb_recover.c ---- */

/** Something is wrong with the card: begin to put it right. */
void weft_card_trouble(struct card *c, const char *why);
/** One step of that, if it is time for one. @return whether there was one */
bool weft_card_recover(struct card *c);
/** End everything with that status. */
void weft_card_give_up(struct card *c, int status);

/* ---- usb_info.c ---- */

int weft_card_usb(void *state, struct weft_usb_info *out, char *msg);

/* ---- usb_buf.c ---- */

/** @return 0 and an address; -ENOSPC: the card has no such room; -ENOMEM: the host has none to note it */
WEFT_MUST_USE int weft_card_alloc(struct card *c, uint64_t len, uint64_t *addr);
void weft_card_free(struct card *c, uint64_t addr, uint64_t len);

WEFT_MUST_USE int weft_card_buf_new(void *state, uint8_t *shadow, uint64_t len, void **buf, char *msg);
void weft_card_buf_free(void *state, void *buf);
WEFT_MUST_USE int weft_card_buf_write(void *state, void *buf, uint64_t off, uint64_t len, char *msg);
WEFT_MUST_USE int weft_card_buf_read(void *state, void *buf, uint64_t off, uint64_t len, char *msg);
WEFT_MUST_USE int weft_card_buf_discard(void *state, void *buf, char *msg);
WEFT_MUST_USE int weft_card_buf_doubt(void *state, void *buf, char *msg);
void weft_card_buf_unref(struct card *c, struct card_buf *b);

/** The card's memory is gone. */
void weft_card_bufs_lost(struct card *c);

/** Queue what the job's buffers and stream need; j->n_pending counts. @return 0, -ENOMEM */
WEFT_MUST_USE int weft_card_upload(struct card *c, struct card_job *j);

/** Take back the requests of a job's upload, or (NULL) of all. */
void weft_card_upload_drop(struct card *c, const struct card_job *j);

/** If the request is one of the uploads, ends it: the card lost it. */
void weft_card_upload_lost(struct weft_req *r);
bool weft_card_is_upload(const struct weft_req *r);

/* ---- usb_job.c ---- */

WEFT_MUST_USE int weft_card_submit(void *state, weft_job id, const struct weft_backend_job *job, char *msg);
WEFT_MUST_USE int weft_card_wait(void *state, weft_job id, uint64_t until_ns, struct weft_job_result *r, char *msg);
WEFT_MUST_USE int weft_card_cancel(void *state, weft_job id);
WEFT_MUST_USE int weft_card_forget(void *state, weft_job id);
int weft_card_n_ended(void *state);

/** Take each job as far as it goes. */
void weft_card_advance(struct card *c);
/** A message that nobody asked for. */
void weft_card_on_msg(void *user, const uint8_t *msg, uint32_t len);
/** Firmware was started anew: repeat or end what was on its way. */
void weft_card_jobs_lost(struct card *c);
/** The card is being put right: jobs on it that have seen this too often end. @return whether one did */
WEFT_MUST_USE bool weft_card_jobs_troubled(struct card *c);
/** End all with that status. */
void weft_card_jobs_end(struct card *c, int status, const char *why);
/** Returns whether a job that was forgotten and is not over uses the buffer. */
bool weft_card_any_forgotten(const struct card *c, const struct card_buf *b);
/** When something is to be asked, at the latest. */
uint64_t weft_card_next_ask(const struct card *c);
void weft_card_jobs_free(struct card *c);

#endif

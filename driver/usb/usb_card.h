/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One open card: what the files of the USB backend share.
 *
 * Nothing here waits longer than its caller said, and nothing believes that
 * time heals: what goes wrong with a transfer breaks the link, and
 * weft_card_pump() then puts the card right, step by step harder: reset the
 * link, then the chip. What was unanswered is asked again. Whether firmware was
 * started anew in between says HELLO (boot_id): then all that was in card
 * memory is taken for lost, buffers are sent again, and a job is repeated only
 * if all that it reads is still known to the host.
 */
#ifndef WEFT_DRIVER_USB_CARD_H
#define WEFT_DRIVER_USB_CARD_H

#include "driver/backend.h"
#include "driver/ranges.h"
#include "usb_link.h"

#define CARD_STREAMS 16        /* streams kept in card memory */
#define CARD_ALIGN 64
#define CARD_REPEATS 2         /* of one job after resets */

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
};

/* A stream in card memory. */
struct card_stream {
	uint64_t *words;           /* NULL: free entry */
	size_t n_words;
	uint64_t addr, used;
	bool there;                /* sent since the last reset */
	int n_jobs;
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
	int n_pending, repeats;
	int failed;                /* of an upload */
	bool repeatable;           /* the host knows all that it reads */
	bool abandoned;            /* nobody waits; ended as soon as the card is done with it */
	bool cancel;               /* to be cancelled on the card */
	bool asking, cancelling;   /* a DONE, a CANCEL is under way */
	uint64_t since_ns;
	struct weft_job_result r;
	char msg[WEFT_DEV_MSG];
};

struct card {
	const struct weft_usb_ops *ops;
	void *t;
	const struct weft_config *cfg;
	struct weft_link link;
	struct weft_msg_hello_reply hello;
	bool known;                /* hello is of this card as it is now */
	bool down;                 /* recovery is not finished */
	int link_tries, chip_tries;    /* to recover, without an answer since */
	uint64_t n_done, n_done_before;        /* requests that were answered; at the last recovery */
	uint64_t boot_until_ns;    /* it may still be starting */
	uint64_t boot_ns;
	struct weft_ranges heap;   /* free bytes of card memory */
	struct card_buf *bufs;
	struct card_stream streams[CARD_STREAMS];
	struct card_job *jobs;     /* in the order of submission */
	uint32_t next_card_id;
	uint64_t uses;
	struct weft_card_info info;
	char why[WEFT_DEV_MSG];    /* the last trouble */
};

/* ---- usb_card.c ---- */

int weft_card_open(const struct weft_dev_options *o, const struct weft_config *cfg, struct card **out, char *msg);
void weft_card_close(struct card *c);

/**
 * Let things happen: returns when something did, or at that time.
 * @return 0; -ENODEV; -EIO: it cannot be put right; -ETIMEDOUT: not by then
 */
int weft_card_pump(struct card *c, uint64_t until_ns);

/** A message and its answer, waiting. @return bytes of the answer, or a negative errno */
int weft_card_ask(struct card *c, const void *msg, uint32_t len, void *reply, uint32_t reply_len, uint64_t until_ns);

/* ---- usb_info.c ---- */

int weft_card_usb(void *state, struct weft_usb_info *out, char *msg);

/* ---- usb_buf.c ---- */

/** @return 0 and an address, -ENOMEM */
int weft_card_alloc(struct card *c, uint64_t len, uint64_t *addr);
void weft_card_free(struct card *c, uint64_t addr, uint64_t len);

int weft_card_buf_new(void *state, uint8_t *shadow, uint64_t len, void **buf, char *msg);
void weft_card_buf_free(void *state, void *buf);
int weft_card_buf_write(void *state, void *buf, uint64_t off, uint64_t len, char *msg);
int weft_card_buf_read(void *state, void *buf, uint64_t off, uint64_t len, char *msg);
int weft_card_buf_discard(void *state, void *buf, char *msg);
int weft_card_buf_doubt(void *state, void *buf, char *msg);
void weft_card_buf_unref(struct card *c, struct card_buf *b);

/** The card's memory is gone. */
void weft_card_bufs_lost(struct card *c);

/** Queue what the job's buffers and stream need; j->n_pending counts. @return 0, -ENOMEM */
int weft_card_upload(struct card *c, struct card_job *j);

/** Take back the requests of a job's upload, or (NULL) of all. */
void weft_card_upload_drop(struct card *c, const struct card_job *j);

/** Is it one of ours? Then it is over; the card lost it. */
void weft_card_upload_lost(struct weft_req *r);
bool weft_card_is_upload(const struct weft_req *r);

/* ---- usb_job.c ---- */

int weft_card_submit(void *state, weft_job id, const struct weft_backend_job *job, char *msg);
int weft_card_wait(void *state, weft_job id, uint64_t deadline_ns, struct weft_job_result *r, char *msg);
int weft_card_cancel(void *state, weft_job id);

/** Take each job as far as it goes. */
void weft_card_advance(struct card *c);
/** A message that nobody asked for. */
void weft_card_on_msg(void *user, const uint8_t *msg, uint32_t len);
/** Firmware was started anew: repeat or end what was on its way. */
void weft_card_jobs_lost(struct card *c);
/** End all with that status. */
void weft_card_jobs_end(struct card *c, int status, const char *why);
bool weft_card_any_abandoned(const struct card *c);
/** When something is to be asked, at the latest. */
uint64_t weft_card_next_ask(const struct card *c);
void weft_card_jobs_free(struct card *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to a card and their answers, over two bulk pipes.
 *
 * Requests leave in the order in which they were queued, but that messages go before
 * WRITEs and READs that were not sent yet. Each request is finished by the answer that
 * carries its sequence number, never by time: when something goes wrong, or when the
 * oldest request is not answered in time, the link only says that it is broken. Bytes
 * that finish nothing gain no time. The link's owner then stops it, puts the card
 * right and starts it again, which sends everything unanswered once more; all requests
 * may be repeated.
 */
#ifndef WEFT_DRIVER_USB_LINK_H
#define WEFT_DRIVER_USB_LINK_H

#include "policy.h"
#include "usb.h"
#include "weft/gen/msg.h"

#define LINK_CHUNK    (252u << 10)            /* bytes of one WRITE or READ */
#define LINK_OUT_BUF  (256u << 10)           /* a power of two: no page of the kernel's is wasted */
#define LINK_IN_BUF   (256u << 10)           /* more than a frame of one chunk, whole packets */
#define LINK_CTRL_BUF 256u                    /* more than any descriptor that is one transfer's */
#define LINK_N_OUT    4
#define LINK_N_IN     4
#define LINK_READ_MAX (1u << 20)             /* bytes asked for and not yet there */

struct weft_req {
	struct weft_req *next;
	uint8_t type;              /* enum weft_frame_type */
	uint16_t seq;
	uint32_t addr, len;
	const uint8_t *out;        /* WRITE: stays as it is until done */
	uint8_t *in;               /* READ */
	uint8_t msg[WEFT_FRAME_MSG_MAX];      /* MSG */
	uint8_t reply[WEFT_FRAME_MSG_MAX];
	uint32_t reply_len;
	int status;                /* 0; -EACCES (fence), -EINVAL, -EIO */
	int tries;
	bool sent;
	uint64_t sent_ns;          /* where somebody wants to know */
	void (*done)(struct weft_req *r);      /* may free r */
	void *user;
};

struct weft_link {
	const struct weft_usb_ops *ops;
	void *t;
	struct weft_xfer out[LINK_N_OUT], in[LINK_N_IN], ctrl;
	uint8_t *own[LINK_N_OUT + LINK_N_IN + 1];      /* their memory, where it is not the transport's */
	int n_own;
	struct weft_req *first, **last;        /* sent ones first */
	uint32_t reading;                      /* bytes asked for */
	uint16_t next_seq;
	bool stopped, gone, broken, stalled_in, stalled_out;
	char why[96];                          /* it is broken */
	const struct weft_policy *policy;
	uint64_t first_ns;                     /* since then the first request has been waited for */
	const struct weft_req *only;           /* if not NULL: no other request may be sent, also when this one is over */
	uint64_t n_events;                     /* transfers that came back */
	/* Frame being received. */
	uint8_t head[WEFT_FRAME_HEADER_BYTES];
	uint8_t body[WEFT_FRAME_MSG_MAX], tail[4];
	uint64_t at;                           /* bytes of it so far */
	struct weft_req *sink;                 /* of a DATA frame */
	void (*on_msg)(void *user, const uint8_t *msg, uint32_t len);   /* unasked; NULL: nobody listens */
	void *user;
	uint64_t n_frames_bad, n_retried;
	weft_traffic *traffic;                 /* told of every answer, or NULL */
	void *traffic_user;
};

/** policy stays the caller's. @return 0, -ENOMEM */
WEFT_MUST_USE int weft_link_init(struct weft_link *l, const struct weft_usb_ops *ops, void *t, const struct weft_policy *policy);
/** After ops->close(). Forgets requests without calling them done. */
void weft_link_free(struct weft_link *l);

/** Takes r until r->done; splits nothing: r->len is at most LINK_CHUNK. */
void weft_link_queue(struct weft_link *l, struct weft_req *r);

/** The same, before all others. */
void weft_link_queue_first(struct weft_link *l, struct weft_req *r);

/** Move what can be moved; returns when something happened, or at that time (0: at once). */
void weft_link_poll(struct weft_link *l, uint64_t until_ns);
/** When the link breaks if nothing happens before; UINT64_MAX: it waits for nothing. */
uint64_t weft_link_late_ns(const struct weft_link *l);
/** Returns whether a request waits that weft_link_poll() would send. */
bool weft_link_can_send(const struct weft_link *l);

/** Begin to take every transfer back, and do not wait for it. */
void weft_link_begin_stop(struct weft_link *l);
/** Returns whether transfers are under way, or one on endpoint 0. */
bool weft_link_busy(const struct weft_link *l);
/** Take every transfer back, waiting for it. @return 0, -ETIMEDOUT, -ENODEV */
WEFT_MUST_USE int weft_link_stop(struct weft_link *l, uint64_t until_ns);
/** Begin afresh. All that is queued will be sent anew. */
void weft_link_start(struct weft_link *l);

/**
 * Begin a request on endpoint 0, or to end the halt of an endpoint, and do not wait for it. It is over
 * when l->ctrl is not busy; the status is there. data (to the card) is copied. @return 0 or a negative errno
 */
WEFT_MUST_USE int weft_link_begin_control(struct weft_link *l, uint8_t request_type, uint8_t request, uint16_t value, uint16_t index,
                            const uint8_t *data, uint32_t len);
WEFT_MUST_USE int weft_link_begin_clear(struct weft_link *l, uint8_t endpoint);

/** With the link stopped: end the halt of endpoints that stalled, then that vendor request. @return 0 or a negative errno */
WEFT_MUST_USE int weft_link_reset(struct weft_link *l, uint8_t request, uint64_t until_ns);

/** Every queued request, from the first; the list is empty afterwards. */
struct weft_req *weft_link_take(struct weft_link *l);

/** Forget a queued request; done() is not called. An answer that still comes is ignored. */
void weft_link_drop(struct weft_link *l, struct weft_req *r);

/* ---- usb_session.c ---- */

/** Firmware and boot ROMs of protocol 1.1 and before refuse a HELLO that names a session. @return whether this answer does */
bool weft_hello_too_long(uint32_t head);
/** Bytes of one that does not. */
#define WEFT_HELLO_OLD_BYTES 8u

/** Who a client is to a card: random, not 0. */
uint32_t weft_session_new(void);

/**
 * A client is done with a card that answered HELLO: what it left there is cleared. protocol is the HELLO's; limit as
 * RELEASE has it. Nothing else is queued. Waits a moment, and does not insist: the next client's HELLO clears, too.
 */
void weft_session_end(struct weft_link *l, uint32_t protocol, uint32_t limit);

#endif

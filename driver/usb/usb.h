/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam below the card's driver: what moves transfers to and from one USB
 * device. libusb (driver/usb/usb_libusb.c), a simulated card's socket
 * (driver/usb/usb_redir.c), and whatever a test puts there.
 */
#ifndef WEFT_DRIVER_USB_H
#define WEFT_DRIVER_USB_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/dev.h>

enum weft_xfer_kind {
	WEFT_XFER_OUT,             /* bulk, host to card */
	WEFT_XFER_IN,              /* bulk, card to host */
	WEFT_XFER_CONTROL,         /* vendor request; direction by bit 7 of request_type */
	WEFT_XFER_CLEAR_HALT,      /* of the endpoint whose address is in value */
};

/*
 * One transfer. The caller owns it and its data and leaves both alone from
 * submit until done.
 */
struct weft_xfer {
	enum weft_xfer_kind kind;
	uint8_t request_type, request;
	uint16_t value, index;
	uint8_t *data;
	uint32_t len;
	uint32_t actual;           /* bytes moved */
	int status;                /* 0, -EPIPE (stall), -EIO, -ECANCELED, -ENODEV */
	bool busy;
	void (*done)(struct weft_xfer *x);
	void *user;
	void *priv;                /* the transport's */
};

struct weft_usb_ops {
	const char *name;

	/*
	 * Open and claim the card that where names ("" or NULL: any).
	 * @return 0, -ENODEV (none), -EBUSY (in use; msg says by whom), -EACCES
	 *         (msg says what to do), -EIO
	 */
	int (*open)(const char *where, uint64_t deadline_ns, void **t, char *msg);

	/* No callback comes after this. Busy transfers are abandoned. */
	void (*close)(void *t);

	/*
	 * May be NULL. Memory from which the device takes transfers without a copy in
	 * between, until close(). NULL: there is none; any other memory will do.
	 */
	void *(*alloc)(void *t, size_t len);

	/* 0: done() will be called, from poll(). Otherwise nothing happened. */
	int (*submit)(void *t, struct weft_xfer *x);

	/* done() comes later, perhaps with another status than -ECANCELED. */
	void (*cancel)(void *t, struct weft_xfer *x);

	/* Call back what is done; returns after something was, or at that time (0: at once). */
	int (*poll)(void *t, uint64_t until_ns);

	/*
	 * May be NULL: then poll() is the only way to wait. Descriptors that say when poll() has
	 * something to do; at most max. They may change with each call of the others.
	 * @return how many; negative: there are none to be had just now
	 */
	int (*fds)(void *t, struct pollfd *out, int max);

	/* May be NULL. In a forked process: free what can be freed without a word to the card. */
	void (*disown)(void *t);

	/* May be NULL. Speed, hub_speed and port of the card, as far as the host tells. */
	void (*place)(void *t, struct weft_usb_info *i);
};

extern const struct weft_usb_ops weft_usb_libusb, weft_usb_redir;

/* What leads to a card. */
struct weft_usb_way {
	const struct weft_usb_ops *ops;
	const char *where;         /* for ops->open(): the name, or `broker` below */
	char broker[WEFT_DEV_WHERE];   /* "@PATH" if no card was named and a broker has them; else "" */
};

/**
 * Find what leads to the card called name: "" any, by the USB or where there is a broker through it; a serial; "@PATH".
 * *way may not be copied, and name must outlive it.
 * @return 0; -EINVAL with one line in msg: the name is that of several cards, or as weft_dev_broker()
 */
WEFT_MUST_USE int weft_usb_way(const char *name, struct weft_usb_way *way, char *msg);

/**
 * Open the card at the end of a way. Which way that is was decided before: after a failure nothing else is tried.
 * @return as weft_usb_ops.open; msg says if it was a broker's
 */
int weft_usb_go(const struct weft_usb_way *way, uint64_t deadline_ns, void **t, char *msg);

/* Cards that libusb sees; see weft_dev_list(). */
WEFT_MUST_USE int weft_usb_list(struct weft_dev_info *out, size_t max, size_t *n, char *msg);

/* See weft_dev_watch(). */
int weft_usb_watch(weft_dev_watcher *fn, void *user, uint64_t until_ns, char *msg);

/*
 * Waiting for a card to be plugged in or out. Made before looking whether it is
 * there, it misses nothing. NULL: libusb does not start, or no memory.
 */
struct weft_usb_watch *weft_usb_watch_new(void);
/** Returns when it is worth looking, at that time at the latest. */
void weft_usb_watch_wait(struct weft_usb_watch *w, uint64_t until_ns);
void weft_usb_watch_free(struct weft_usb_watch *w);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several cards as one: a session over them runs on all.
 *
 *	struct weft_session_options o = weft_session_options_default();
 *	o.device = WEFT_DEVICE_USB;  o.usb = "*";
 *	weft_session_open(net, &o, &s, msg);
 *	weft_session_submit(s, ...);  weft_session_submit(s, ...);  ...
 *
 * Each run goes to one card, to the one that was given the least work so far, counted in the cycles
 * that the compiler expects. weft_session_poll() and weft_session_fd() tell of runs in the order in which
 * they were submitted. A run with which a card fails (-ENODEV, -EIO, -ECONNRESET) is repeated on
 * another card; the caller hears of it only if no card succeeds. A card that is unplugged is given
 * up, and so is one that has failed twice with what another one then did. It does not come back
 * to the session.
 *
 * The network is compiled once. A network with variables does not run on several cards, since each of
 * its runs begins with what the one before left. Functions on different weft_cards may run in several threads at a time; one serves the threads of all its sessions.
 */
#ifndef WEFT_CARDS_H
#define WEFT_CARDS_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/api.h>
#include <weft/dev.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_CARDS_MAX 64      /* the most cards of a session */

/* Open cards, on which several sessions may run (weft_session_options.on_cards). */
typedef struct weft_cards weft_cards;

/**
 * Says whether a name of cards (weft_dev_options.usb) may stand for several: it is "*", all cards on the
 * USB that are free; or a list with commas, each entry of which is a serial, "@SOCKET", or "@PATTERN"
 * with "*" for all sockets that fit it. NULL is none.
 */
WEFT_API bool weft_cards_named(const char *usb);

/**
 * Open the cards that o->usb names, each with the options *o, and start a thread for each of them. If o->config is
 * NULL, all have to have the configuration of the first one that is opened.
 *
 * @param[out] cards  Set only on success; weft_cards_close() frees it.
 * @param msg  One line on failure. After success "", or why a card was left out.
 * @return 0; -EINVAL (a card is named twice, or found and also named, an entry is empty, too long or a
 *         serial with "*", or there are more than WEFT_CARDS_MAX); -ENODEV (nothing is there for a
 *         "*"); -ENOMEM, -EAGAIN (no thread); or as weft_dev_open() for the first card that cannot be
 *         opened. What "*" finds and cannot open is left out; only if no card is left is the last one's
 *         errno returned
 *
 * Takes as long as weft_dev_open() for each card, one after the other.
 */
WEFT_API int weft_cards_open(const struct weft_dev_options *o, weft_cards **cards, char msg WEFT_ROOM(WEFT_DEV_MSG));

/**
 * End the cards' threads, close all cards and free *cards; the sessions on them must have been closed
 * before. NULL is fine.
 */
WEFT_API void weft_cards_close(weft_cards *cards);

/** Returns the name of the configuration that all of the cards have. The string is static. */
WEFT_API const char *weft_cards_config(const weft_cards *cards);

/** Returns how many cards there were at the beginning. */
WEFT_API int weft_cards_count(const weft_cards *cards);

/* One of several cards. */
struct weft_cards_info {
	char name[128];            /* its serial, or "@SOCKET" */
	bool lost;                 /* it was given up */
	char why[WEFT_DEV_MSG];    /* why, or what went wrong last; "" */
	uint64_t runs;             /* runs that it has made */
	uint64_t repeated;         /* runs that it began and another card had to repeat */
	uint64_t cycles;           /* cycles in which its NPU was busy with runs */
};

/**
 * Describe card i, 0 to weft_cards_count() - 1, in *out: its name, whether and why it was given up (why
 * also has the last fault of a card that is still used), and its counts so far. Thread-safe, also while
 * runs are under way. Does not wait for a run.
 * @return 0; -ERANGE: there is no card i, and *out is untouched
 */
WEFT_API int weft_cards_info(weft_cards *cards, int i, struct weft_cards_info *out);

#ifdef __cplusplus
}
#endif
#endif

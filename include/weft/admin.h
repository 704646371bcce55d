/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration of a card: who it is, its log, counters, self-test, and new firmware. It works
 * with a card whose firmware is broken, too: then the boot ROM answers and takes an update.
 *
 *	weft_admin_open("", 5000, &a, msg);
 *	weft_admin_update(a, image, bytes, NULL, NULL, msg);
 *	weft_admin_close(a);
 *
 * A card that some process has open as a device cannot be opened here (-EBUSY), and the other way
 * round. A weft_admin belongs to one thread at a time.
 */
#ifndef WEFT_ADMIN_H
#define WEFT_ADMIN_H

#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>
#include <weft/gen/msg.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ADMIN_MSG 256     /* bytes of a message buffer */

typedef struct weft_admin weft_admin;

/**
 * Open a card and greet it.
 *
 * @param which       The card's serial, "@SOCKET" for a simulated card, or "" for any card.
 * @param timeout_ms  Time limit for the greeting, and for each answer later.
 * @param[out] a      Set only on success; weft_admin_close() frees it.
 * @param msg         Room for WEFT_ADMIN_MSG bytes, here and below: one line on failure.
 * @return 0; -ENODEV (no such card); -EBUSY (in use); -EACCES (no permission); -ETIMEDOUT (no
 *         answer in time); -EIO (the link failed); -EPROTO (an answer that this library does not
 *         understand); -ENOMEM
 */
WEFT_API int weft_admin_open(const char *which, unsigned timeout_ms, weft_admin **a, char msg WEFT_ROOM(WEFT_ADMIN_MSG));
/**
 * The same for a card whose firmware does not answer, or does not take updates: whatever it runs, the boot ROM's
 * rescue code answers afterwards, and takes a firmware update. Works by resets of the chip; jobs are lost.
 *
 * @return as weft_admin_open(); -EPROTO too if the rescue code did not come
 */
WEFT_API int weft_admin_open_rescue(const char *which, unsigned timeout_ms, weft_admin **a, char msg WEFT_ROOM(WEFT_ADMIN_MSG));
/** Close a card. NULL is fine. */
WEFT_API void weft_admin_close(weft_admin *a);

/** Returns what the card said of itself when it was last greeted; valid until weft_admin_close(). */
WEFT_API const struct weft_msg_hello_reply *weft_admin_hello(const weft_admin *a);

/**
 * Send one message and wait for its answer (docs/protocol.md).
 *
 * @param words  The message's n_words words; the first is its type.
 * @param reply  Room for max words, for the answer; words that it does not have become 0. May be NULL if
 *               max is 0.
 * @return the number of words of the whole answer; -EPROTO: the card answered with an error, which msg
 *         names and the upper half of reply[0] holds; -EINVAL: n_words is 0 or too large; or as
 *         weft_admin_open()
 */
WEFT_API int weft_admin_ask(weft_admin *a, const uint32_t *words, unsigned n_words, uint32_t *reply, unsigned max, char msg WEFT_ROOM(WEFT_ADMIN_MSG));

/**
 * Read from, or write to, len bytes of the card's memory at address addr.
 *
 * @return 0; -EACCES: outside of what the card lets the host use; or as weft_admin_open(). If it
 *         fails in the middle, a part may have been moved.
 */
WEFT_API int weft_admin_read(weft_admin *a, uint32_t addr, void *data, uint32_t len, char msg WEFT_ROOM(WEFT_ADMIN_MSG));
WEFT_API int weft_admin_write(weft_admin *a, uint32_t addr, const void *data, uint32_t len, char msg WEFT_ROOM(WEFT_ADMIN_MSG));

/**
 * Send a firmware image to the card, start it, and greet it, which confirms it.
 *
 * @param image     The image of `bytes` bytes (build/firmware).
 * @param progress  NULL, or called with `user` and the number of bytes sent so far.
 * @return 0; -EINVAL: it is no image, or the card refuses it; -EPROTO: the new firmware did not
 *         answer, and the card has gone back to what it ran before; or as weft_admin_open()
 */
WEFT_API int weft_admin_update(weft_admin *a, const void *image, size_t bytes, void (*progress)(void *user, size_t done),
                      void *user, char msg WEFT_ROOM(WEFT_ADMIN_MSG));

/** Reset the card and greet it when it is back. @return as weft_admin_open(); -EACCES too if the reset is refused */
WEFT_API int weft_admin_reset(weft_admin *a, char msg WEFT_ROOM(WEFT_ADMIN_MSG));

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A card's own affairs: who it is, log, counters, self-test, new firmware.
 * Works with a card whose firmware is broken, too: then the boot ROM
 * answers, and takes an update.
 *
 *	weft_admin_open("", 5000, &a, msg);
 *	weft_admin_update(a, image, bytes, NULL, NULL, msg);
 *	weft_admin_close(a);
 *
 * A card that some process has open as a device answers -EBUSY. One thread.
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

#define WEFT_ADMIN_MSG 256

typedef struct weft_admin weft_admin;

/**
 * Take a card and greet it.
 *
 * @param which       Serial, "@SOCKET" of a simulated card, or "": any.
 * @param timeout_ms  For the greeting, and for each answer later.
 * @param[out] a      Set only on success.
 * @param msg         WEFT_ADMIN_MSG bytes; one line on failure, here and below.
 * @return 0, -ENODEV, -EBUSY, -EACCES, -ENOMEM, -ETIMEDOUT, -EIO, -EPROTO
 */
WEFT_API int weft_admin_open(const char *which, unsigned timeout_ms, weft_admin **a, char msg WEFT_ROOM(WEFT_ADMIN_MSG));
WEFT_API void weft_admin_close(weft_admin *a);

/** What the card said of itself when it was last greeted. */
WEFT_API const struct weft_msg_hello_reply *weft_admin_hello(const weft_admin *a);

/**
 * One message and its answer (docs/protocol.md).
 *
 * @param words  The message, n_words of it; its head is the type.
 * @param reply  Room for max words; what the answer leaves is 0. May be NULL with 0.
 * @return words of the answer; -EPROTO: the card answered with an error, which msg
 *         names and reply[0] holds; or as weft_admin_open()
 */
WEFT_API int weft_admin_ask(weft_admin *a, const uint32_t *words, unsigned n_words, uint32_t *reply, unsigned max, char msg WEFT_ROOM(WEFT_ADMIN_MSG));

/**
 * Card memory, any address and length that the card lets the host at.
 *
 * @return 0; -EACCES: outside of that; or as weft_admin_open()
 */
WEFT_API int weft_admin_read(weft_admin *a, uint32_t addr, void *data, uint32_t len, char msg WEFT_ROOM(WEFT_ADMIN_MSG));
WEFT_API int weft_admin_write(weft_admin *a, uint32_t addr, const void *data, uint32_t len, char msg WEFT_ROOM(WEFT_ADMIN_MSG));

/**
 * Load a firmware image, start it, and greet it, which confirms it.
 *
 * @param progress  NULL, or called with bytes sent so far.
 * @return 0; -EINVAL: no image, or the card refuses it; -EPROTO: the card went back
 *         to what it ran before; or as weft_admin_open()
 */
WEFT_API int weft_admin_update(weft_admin *a, const void *image, size_t bytes, void (*progress)(void *user, size_t done),
                      void *user, char msg WEFT_ROOM(WEFT_ADMIN_MSG));

/**
 * Reset the card and greet it.
 *
 * @return as weft_admin_open()
 */
WEFT_API int weft_admin_reset(weft_admin *a, char msg WEFT_ROOM(WEFT_ADMIN_MSG));

#ifdef __cplusplus
}
#endif
#endif

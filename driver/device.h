/* SPDX-License-Identifier: Apache-2.0 */
/* A device and a buffer as the files behind include/weft/dev.h share them. */
#ifndef WEFT_DRIVER_DEVICE_H
#define WEFT_DRIVER_DEVICE_H

#include "driver/backend.h"
#include "driver/events.h"
#include "driver/queue.h"

struct weft_dev {
	const struct weft_backend *be;
	const struct weft_config *cfg;
	void *state;               /* the backend's */
	struct weft_events *events;
	bool shared;               /* a card, or there is a thread: no use in a forked process */
	weft_job next_id;
	struct weft_queue queue;   /* of backends without async */
	weft_observer *observer;
	void *observer_user;
	bool trusted;
};

struct weft_buf {
	weft_dev *dev;
	uint8_t *data;
	size_t len;
	void *card;                /* the backend's, if it has memory of its own */
};

/**
 * Begin a call: no error so far, and the device locked. Each way out is weft_dev_leave().
 * @return 0; -EPERM: forked; -EDEADLK: waits is true, inside a callback. Then it is not locked.
 */
WEFT_MUST_USE int weft_dev_enter(weft_dev *dev, bool waits);

/** End a call with err. If that is negative and nobody has said what went wrong, the errno's words do. @return err */
int weft_dev_leave(weft_dev *dev, int err);

/** Where this thread's message about dev goes: WEFT_DEV_MSG bytes. */
char *weft_dev_msg(const weft_dev *dev);

/** A time limit in milliseconds as a moment of weft_now_ns(); UINT64_MAX: none. */
uint64_t weft_dev_until(unsigned timeout_ms);

#endif

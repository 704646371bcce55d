/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One device's lock, and how its callers sleep until something happens.
 *
 * What happens to a device does so in a backend's process(), which never waits, with
 * the lock held. Whoever waits for something (a caller, or the device's own thread)
 * calls weft_events_wait(). One of those who wait watches the
 * device's descriptors; the others are woken when that one has called process().
 *
 * The descriptors are gathered in one epoll instance with a timer, so that a program
 * with a loop of its own needs to watch one descriptor only.
 */
#ifndef WEFT_DRIVER_EVENTS_H
#define WEFT_DRIVER_EVENTS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/api.h>

#define WEFT_EVENT_FDS 8       /* descriptors of one device, at most */

struct weft_events;

/* What events happen to; see struct weft_backend. */
struct weft_event_source {
	void *state;
	/* Let happen what can happen now. Does not wait. @return whether a job ended */
	bool (*process)(void *state);
	/* When process() has something to do though no descriptor says so: 0 for now, UINT64_MAX for never. */
	uint64_t (*next_ns)(void *state);
	/* May be NULL: nothing but time. Descriptors to watch, at most max; negative: there are none to be had. */
	int (*fds)(void *state, struct pollfd *out, int max);
	/* Where there are none to be had: return when something happened, or at that time. */
	void (*poll)(void *state, uint64_t until_ns);
};

/** @return 0, -EMFILE, -ENFILE, -ENOMEM */
WEFT_MUST_USE int weft_events_new(const struct weft_event_source *source, struct weft_events **out);

/** No thread may wait any more. Ends the device's own thread. */
void weft_events_free(struct weft_events *e);

/** Start the device's own thread. @return 0, -EAGAIN, -ENOMEM, -EMFILE */
int weft_events_start(struct weft_events *e);

/** Returns whether this process has been forked from the one that opened the device. Needs no lock. */
bool weft_events_foreign(const struct weft_events *e);

/** Recursive, for callbacks. */
void weft_events_lock(struct weft_events *e);
void weft_events_unlock(struct weft_events *e);

/** Returns whether the caller is inside a callback. The lock is held. */
bool weft_events_nested(const struct weft_events *e);

/** Let happen what can. The lock is held, as in all that follows. */
void weft_events_process(struct weft_events *e);

/** Something was begun, or given up: what is to be watched, and until when, may be other than before. */
void weft_events_changed(struct weft_events *e);

/**
 * Let things happen until done() says that it is enough, or that time. The lock is
 * released while this sleeps. process() is called at least once, unless it is enough already.
 * @return what done() said last
 */
WEFT_MUST_USE bool weft_events_wait(struct weft_events *e, bool (*done)(void *user), void *user, uint64_t until_ns);

/** A job has ended: whoever watches the device's descriptor is to look. */
void weft_events_ended(struct weft_events *e);

/** The descriptor of weft_dev_fd(). @return it, -EMFILE, -ENFILE, -ENOMEM */
int weft_events_fd(struct weft_events *e);

/** What the descriptor said has been seen. */
void weft_events_seen(struct weft_events *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs of a device that works only when it is told to: a simulated one. They run one
 * after the other, a little at a time, and stay until somebody asks how they ended.
 */
#ifndef WEFT_DRIVER_QUEUE_H
#define WEFT_DRIVER_QUEUE_H

#include "driver/backend.h"

#define WEFT_QUEUE_MAX 16      /* jobs that were not yet waited for */

struct weft_queue_job {
	weft_job id;
	bool begun, ended;
	uint64_t *words;           /* owned; padded with zero words */
	struct weft_backend_job job;
	struct weft_job_result r;
	char msg[WEFT_DEV_MSG];    /* how it ended */
};

struct weft_queue {
	struct weft_queue_job *job[WEFT_QUEUE_MAX];    /* owned, in their order */
	size_t n;
};

struct weft_dev;

/** Copies what it gets. @return 0, -EAGAIN (full), -ENOMEM */
WEFT_MUST_USE int weft_queue_add(struct weft_queue *q, weft_job id, const struct weft_backend_job *job);

/** Let the first job that has not ended work, for a slice of time. @return whether it ended */
WEFT_MUST_USE bool weft_queue_work(struct weft_dev *dev);

/** Returns whether there is a job to work on. */
bool weft_queue_busy(const struct weft_queue *q);

/** Jobs that have ended and are still there. */
int weft_queue_ended(const struct weft_queue *q);

/** @return NULL: no such job */
struct weft_queue_job *weft_queue_find(const struct weft_queue *q, weft_job id);

/** A job is not to go on: it ends with -ECANCELED, unless it has ended. */
void weft_queue_cancel(struct weft_dev *dev, struct weft_queue_job *j);

/** Take a job out, and free it. It has ended. */
void weft_queue_remove(struct weft_queue *q, struct weft_queue_job *j);

#endif

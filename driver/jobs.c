/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: verified, queued, waited for. A card has its own queue (usb_job.c); the jobs of
 * all other devices wait in queue.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "driver/device.h"
#include "driver/verify/verify.h"

/* ---- in ---- */

/* Needs no lock: it looks at nothing that changes, and it may take long. */
static int verify(weft_dev *dev, const uint64_t *words, size_t n_words,
                  const struct weft_window *win, size_t n_win)
{
	struct weft_verify_windows w = { 0 };
	struct weft_verify_result r;

	if (n_win > WEFT_N_WINDOWS - 1) {
		snprintf(weft_dev_msg(dev), WEFT_DEV_MSG, "submit: %zu windows > %d", n_win, WEFT_N_WINDOWS - 1);
		return -EINVAL;
	}
	if (dev->trusted)
		return 0;
	w.w[WEFT_WIN_STREAM].size = n_words * 8;
	w.w[WEFT_WIN_STREAM].rd = true;
	for (size_t i = 0; i < n_win; i++) {
		w.w[i + 1].size = win[i].buf ? win[i].buf->len : 0;
		w.w[i + 1].rd = win[i].rd;
		w.w[i + 1].wr = win[i].wr;
	}
	int err = weft_verify(dev->cfg, words, n_words, &w, &r);
	if (err)
		snprintf(weft_dev_msg(dev), WEFT_DEV_MSG, "%s", r.text);
	return err;
}

int weft_dev_verify(weft_dev *dev, const uint64_t *words, size_t n_words, const struct weft_window *windows,
                    size_t n_windows)
{
	weft_dev_msg(dev)[0] = '\0';
	return verify(dev, words, n_words, windows, n_windows);
}

static int queue(weft_dev *dev, const struct weft_backend_job *b)
{
	if (dev->be->async)
		return dev->be->async->submit(dev->state, dev->next_id, b, weft_dev_msg(dev));
	int err = weft_queue_add(&dev->queue, dev->next_id, b);
	if (err == -EAGAIN)
		snprintf(weft_dev_msg(dev), WEFT_DEV_MSG, "submit: %d jobs are queued; wait for one", WEFT_QUEUE_MAX);
	return err;
}

int weft_submit(weft_dev *dev, const uint64_t *words, size_t n_words,
                const struct weft_window *windows, size_t n_windows, weft_job *job)
{
	struct weft_backend_job b = { .words = words, .n_words = n_words };
	int err;

	weft_dev_msg(dev)[0] = '\0';
	err = verify(dev, words, n_words, windows, n_windows);
	if (err || (err = weft_dev_enter(dev, false)))
		return err;
	for (size_t i = 0; i < n_windows; i++)
		if (windows[i].buf)
			b.win[i + 1] = (struct weft_backend_window){ windows[i].buf->data, windows[i].buf->len,
				windows[i].rd, windows[i].wr, windows[i].buf->card };
	err = queue(dev, &b);
	if (!err)
		*job = dev->next_id++;
	return weft_dev_leave(dev, err);
}

/* ---- out ---- */

static int no_job(weft_dev *dev, const char *what, weft_job job)
{
	snprintf(weft_dev_msg(dev), WEFT_DEV_MSG, "%s: no job %llu", what, (unsigned long long)job);
	return -ENOENT;
}

static bool has_ended(void *job)
{
	return ((struct weft_queue_job *)job)->ended;
}

static int wait_queued(weft_dev *dev, weft_job job, uint64_t until_ns, struct weft_job_result *result)
{
	struct weft_queue_job *j = weft_queue_find(&dev->queue, job);

	if (!j)
		return no_job(dev, "wait", job);
	if (!weft_events_wait(dev->events, has_ended, j, until_ns)) {
		snprintf(weft_dev_msg(dev), WEFT_DEV_MSG, "%s: the job has not ended within the time limit", dev->be->name);
		return -ETIMEDOUT;
	}
	*result = j->r;
	snprintf(weft_dev_msg(dev), WEFT_DEV_MSG, "%s", j->msg);
	weft_queue_remove(&dev->queue, j);
	return 0;
}

int weft_wait(weft_dev *dev, weft_job job, unsigned timeout_ms, struct weft_job_result *result)
{
	const uint64_t until = weft_dev_until(timeout_ms);
	int err = weft_dev_enter(dev, true);

	if (err)
		return err;
	err = dev->be->async ? dev->be->async->wait(dev->state, job, until, result, weft_dev_msg(dev))
	                     : wait_queued(dev, job, until, result);
	return weft_dev_leave(dev, err);
}

int weft_finish(weft_dev *dev, weft_job job, unsigned timeout_ms, struct weft_job_result *result)
{
	char why[WEFT_DEV_MSG];
	int err = weft_wait(dev, job, timeout_ms, result);

	if (err != -ETIMEDOUT)
		return err;
	memcpy(why, weft_dev_msg(dev), sizeof(why));
	err = weft_forget(dev, job);
	memcpy(weft_dev_msg(dev), why, sizeof(why));
	*result = (struct weft_job_result){ .status = -ETIMEDOUT };
	return err;
}

int weft_cancel(weft_dev *dev, weft_job job)
{
	int err = weft_dev_enter(dev, false);
	struct weft_queue_job *j;

	if (err)
		return err;
	if (dev->be->async)
		err = dev->be->async->cancel(dev->state, job);
	else if ((j = weft_queue_find(&dev->queue, job)))
		weft_queue_cancel(dev, j);
	else
		err = -ENOENT;
	return weft_dev_leave(dev, err == -ENOENT ? no_job(dev, "cancel", job) : err);
}

int weft_forget(weft_dev *dev, weft_job job)
{
	int err = weft_dev_enter(dev, false);
	struct weft_queue_job *j;

	if (err)
		return err;
	if (dev->be->async) {
		err = dev->be->async->forget(dev->state, job);
	} else if ((j = weft_queue_find(&dev->queue, job))) {
		weft_queue_cancel(dev, j);
		weft_queue_remove(&dev->queue, j);
	} else {
		err = -ENOENT;
	}
	return weft_dev_leave(dev, err == -ENOENT ? no_job(dev, "forget", job) : err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/device.h"

#define STREAM_ALIGN_WORDS 8   /* the stream's window is padded to 64 bytes */
/* A job that runs lets others at the device so often. */
#define SLICE_NS 5000000ull

int weft_queue_add(struct weft_queue *q, weft_job id, const struct weft_backend_job *job)
{
	const size_t padded = (job->n_words + STREAM_ALIGN_WORDS - 1) / STREAM_ALIGN_WORDS * STREAM_ALIGN_WORDS;
	struct weft_queue_job *j;

	if (q->n == WEFT_QUEUE_MAX)
		return -EAGAIN;
	j = calloc(1, sizeof(*j));
	if (j)
		j->words = calloc(padded ? padded : 1, sizeof(uint64_t));
	if (!j || !j->words) {
		free(j);
		return -ENOMEM;
	}
	memcpy(j->words, job->words, job->n_words * sizeof(uint64_t));
	j->id = id;
	j->job = *job;
	j->job.words = j->words;
	j->job.win[WEFT_WIN_STREAM] = (struct weft_backend_window){ (uint8_t *)j->words, 8 * padded, true, false, NULL };
	q->job[q->n++] = j;
	return 0;
}

static struct weft_queue_job *first(const struct weft_queue *q)
{
	for (size_t i = 0; i < q->n; i++)
		if (!q->job[i]->ended)
			return q->job[i];
	return NULL;
}

bool weft_queue_busy(const struct weft_queue *q)
{
	return first(q);
}

int weft_queue_ended(const struct weft_queue *q)
{
	int n = 0;

	for (size_t i = 0; i < q->n; i++)
		n += q->job[i]->ended;
	return n;
}

bool weft_queue_work(struct weft_dev *dev)
{
	struct weft_queue_job *j = first(&dev->queue);

	if (!j)
		return false;
	if (!j->begun) {
		j->job.observer = dev->observer;
		j->job.user = dev->observer_user;
	}
	j->begun = true;
	j->ended = dev->be->run(dev->state, &j->job, weft_now_ns() + SLICE_NS, &j->r, j->msg) != -EAGAIN;
	return j->ended;
}

struct weft_queue_job *weft_queue_find(const struct weft_queue *q, weft_job id)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->job[i]->id == id)
			return q->job[i];
	return NULL;
}

void weft_queue_cancel(struct weft_dev *dev, struct weft_queue_job *j)
{
	if (j->ended)
		return;
	if (j->begun)
		dev->be->stop(dev->state);
	j->ended = true;
	j->r = (struct weft_job_result){ .status = -ECANCELED };
	snprintf(j->msg, sizeof(j->msg), "%s: job was cancelled", dev->be->name);
}

void weft_queue_remove(struct weft_queue *q, struct weft_queue_job *j)
{
	size_t i = 0;

	while (q->job[i] != j)
		i++;
	memmove(q->job + i, q->job + i + 1, (--q->n - i) * sizeof(q->job[0]));
	free(j->words);
	free(j);
}

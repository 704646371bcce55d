/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers: memory of the host's, which a backend with memory of its own keeps a
 * second copy of.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/device.h"

int weft_buf_alloc(weft_dev *dev, size_t len_bytes, weft_buf **buf)
{
	int err = weft_dev_enter(dev, false);
	weft_buf *b;

	if (err)
		return err;
	b = calloc(1, sizeof(*b));
	if (b)
		b->data = calloc(1, len_bytes ? len_bytes : 1);
	if (b && b->data) {
		b->dev = dev;
		b->len = len_bytes;
		if (dev->be->async)
			err = dev->be->async->buf_new(dev->state, b->data, len_bytes, &b->card, weft_dev_msg(dev));
	} else {
		err = -ENOMEM;
	}
	if (err) {
		if (b)
			free(b->data);
		free(b);
	} else {
		*buf = b;
	}
	return weft_dev_leave(dev, err);
}

void weft_buf_free(weft_buf *buf)
{
	if (!buf)
		return;
	/* In a forked process only the memory is freed. Nothing can fail here: the last error stays. */
	struct weft_dev *dev = buf->dev;
	if (buf->card && !weft_events_foreign(dev->events)) {
		weft_events_lock(dev->events);
		dev->be->async->buf_free(dev->state, buf->card);
		weft_events_unlock(dev->events);
	}
	free(buf->data);
	free(buf);
}

/*
 * Begins a call on len bytes of the buffer from byte off. Returns 0, -ERANGE with a message if it has no such bytes, or
 * weft_dev_enter()'s errno.
 */
static int enter(const weft_buf *buf, size_t off, size_t len)
{
	if (off <= buf->len && len <= buf->len - off)
		return weft_dev_enter(buf->dev, buf->card);
	snprintf(weft_dev_msg(buf->dev), WEFT_DEV_MSG, "%s: a buffer of %zu bytes has no %zu at byte %zu", buf->dev->be->name, buf->len, len, off);
	return -ERANGE;
}

int weft_buf_write(weft_buf *buf, size_t off_bytes, const void *data, size_t len_bytes)
{
	int err = enter(buf, off_bytes, len_bytes);

	if (err)
		return err;
	if (buf->card)
		err = buf->dev->be->async->buf_write(buf->dev->state, buf->card, off_bytes, len_bytes, weft_dev_msg(buf->dev));
	if (!err && len_bytes)
		memcpy(buf->data + off_bytes, data, len_bytes);
	return weft_dev_leave(buf->dev, err);
}

int weft_buf_read(weft_buf *buf, size_t off_bytes, void *data, size_t len_bytes)
{
	int err = enter(buf, off_bytes, len_bytes);

	if (err)
		return err;
	if (buf->card)
		err = buf->dev->be->async->buf_read(buf->dev->state, buf->card, off_bytes, len_bytes, weft_dev_msg(buf->dev));
	if (!err && len_bytes)
		memcpy(data, buf->data + off_bytes, len_bytes);
	return weft_dev_leave(buf->dev, err);
}

int weft_buf_discard(weft_buf *buf)
{
	int err = weft_dev_enter(buf->dev, buf->card);

	if (!err && buf->card)
		err = buf->dev->be->async->buf_discard(buf->dev->state, buf->card, weft_dev_msg(buf->dev));
	else if (err)
		return err;
	return weft_dev_leave(buf->dev, err);
}

int weft_buf_doubt(weft_buf *buf)
{
	int err = weft_dev_enter(buf->dev, buf->card);

	if (!err && buf->card)
		err = buf->dev->be->async->buf_doubt(buf->dev->state, buf->card, weft_dev_msg(buf->dev));
	else if (err)
		return err;
	return weft_dev_leave(buf->dev, err);
}

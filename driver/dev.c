/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device from open to close, its errors and its events. See include/weft/dev.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/sys.h"
#include "driver/device.h"

/* ---- errors ---- */

/* The last message of this thread, and of which device. */
static _Thread_local struct { const weft_dev *dev; char text[WEFT_DEV_MSG]; } last;

char *weft_dev_msg(const weft_dev *dev)
{
	if (last.dev != dev)
		last.text[0] = '\0';
	last.dev = dev;
	return last.text;
}

const char *weft_dev_error(const weft_dev *dev)
{
	return weft_dev_msg(dev);
}

/* ---- calls ---- */

uint64_t weft_dev_until(unsigned timeout_ms)
{
	return timeout_ms == WEFT_FOREVER ? UINT64_MAX : weft_now_ns() + timeout_ms * UINT64_C(1000000);
}

int weft_dev_enter(weft_dev *dev, bool waits)
{
	char *msg = weft_dev_msg(dev);

	msg[0] = '\0';
	if (dev->shared && weft_events_foreign(dev->events)) {
		snprintf(msg, WEFT_DEV_MSG, "%s: the device belongs to the process that opened it; open it again in this one",
		         dev->be->name);
		return -EPERM;
	}
	weft_events_lock(dev->events);
	if (!waits || !weft_events_nested(dev->events))
		return 0;
	snprintf(msg, WEFT_DEV_MSG, "%s: a function that waits was called from inside a callback", dev->be->name);
	weft_events_unlock(dev->events);
	return -EDEADLK;
}

int weft_dev_leave(weft_dev *dev, int err)
{
	char *msg = weft_dev_msg(dev);

	if (err < 0 && !msg[0])
		snprintf(msg, WEFT_DEV_MSG, "%s: %s", dev->be->name, err == -ENOMEM ? "out of memory" : weft_sys_error(err));
	weft_events_changed(dev->events);
	weft_events_unlock(dev->events);
	return err;
}

/* ---- events ---- */

/* Of a device that works only when it is told to. */
static bool work(void *user)
{
	return weft_queue_work(user);
}

static uint64_t next_work_ns(void *user)
{
	return weft_queue_busy(&((weft_dev *)user)->queue) ? 0 : UINT64_MAX;
}

int weft_dev_fd(weft_dev *dev)
{
	int err = weft_dev_enter(dev, false);

	if (err)
		return err;
	err = weft_events_fd(dev->events);
	if (err < 0)
		snprintf(weft_dev_msg(dev), WEFT_DEV_MSG, "%s: no descriptor for events: %s", dev->be->name, weft_sys_error(err));
	return weft_dev_leave(dev, err);
}

int weft_dev_process(weft_dev *dev)
{
	int err = weft_dev_enter(dev, true);

	if (err)
		return err;
	weft_events_process(dev->events);
	weft_events_seen(dev->events);
	return weft_dev_leave(dev, dev->be->async ? dev->be->async->n_ended(dev->state) : weft_queue_ended(&dev->queue));
}

static int start_events(weft_dev *dev, const struct weft_dev_options *o)
{
	struct weft_event_source source = { .state = dev, .process = work, .next_ns = next_work_ns };

	if (dev->be->async)
		dev->be->async->source(dev->state, &source);
	int err = weft_events_new(&source, &dev->events);
	if (err)
		return err;
	if (dev->be->async)
		dev->be->async->use(dev->state, dev->events);
	/* A transport without descriptors has nothing that a thread could sleep on. */
	bool threaded = o->events == WEFT_EVENTS_THREAD ||
	                (o->events == WEFT_EVENTS_DEFAULT && dev->be->async && source.fds);
	dev->shared = dev->be->async || threaded;
	return threaded ? weft_events_start(dev->events) : 0;
}

/* ---- open and close ---- */

struct weft_dev_options weft_dev_options_default(void)
{
	return (struct weft_dev_options){ .config = "w16", .wave_cmd = -1 };
}

static const struct weft_backend *backend_of(enum weft_dev_kind kind)
{
	switch (kind) {
	case WEFT_DEV_MODEL: return &weft_backend_model;
	case WEFT_DEV_RTL:   return &weft_backend_rtl;
	case WEFT_DEV_USB:   return &weft_backend_usb;
	default:             return NULL;
	}
}

int weft_dev_open(const struct weft_dev_options *o, weft_dev **out, char msg WEFT_ROOM(WEFT_DEV_MSG))
{
	const bool any = !o->config && o->kind == WEFT_DEV_USB;
	const char *name = o->config ? o->config : "w16";
	const struct weft_config *cfg = o->kind == WEFT_DEV_RTL ? weft_config_find(name) : weft_config_of_model(name);
	weft_dev *dev;

	*msg = '\0';
	if (!cfg) {
		snprintf(msg, WEFT_DEV_MSG, "configuration \"%.40s\" is not known; " WEFT_CONFIG_NAMES, name);
		return -ENOENT;
	}
	if (!backend_of(o->kind) || o->events > WEFT_EVENTS_THREAD) {
		snprintf(msg, WEFT_DEV_MSG, "device: kind %d with events %d is not known", (int)o->kind, (int)o->events);
		return -EINVAL;
	}
	dev = calloc(1, sizeof(*dev));
	if (!dev) {
		snprintf(msg, WEFT_DEV_MSG, "device: out of memory");
		return -ENOMEM;
	}
	dev->cfg = cfg;
	dev->next_id = 1;
	dev->be = backend_of(o->kind);
	int err = dev->be->open(o, any ? NULL : cfg, &dev->state, msg);
	if (!err && any) {
		struct weft_card_info card;
		dev->be->async->info(dev->state, &card);
		dev->cfg = weft_config_of_model(card.config);
	}
	if (!err && (err = start_events(dev, o)) && dev->be->close)
		dev->be->close(dev->state);
	if (err) {
		if (!*msg)
			snprintf(msg, WEFT_DEV_MSG, "device: %s", weft_sys_error(err));
		if (dev->events)
			weft_events_free(dev->events);
		free(dev);
		return err;
	}
	*out = dev;
	return 0;
}

void weft_dev_close(weft_dev *dev)
{
	if (!dev)
		return;
	const bool foreign = dev->shared && weft_events_foreign(dev->events);

	if (foreign && dev->be->async)
		dev->be->async->disown(dev->state);
	/* First nothing happens any more, then there is nothing. */
	weft_events_free(dev->events);
	while (dev->queue.n) {
		weft_queue_cancel(dev, dev->queue.job[0]);
		weft_queue_remove(&dev->queue, dev->queue.job[0]);
	}
	if (!foreign || !dev->be->async)
		dev->be->close(dev->state);
	if (last.dev == dev)
		last.dev = NULL;
	free(dev);
}

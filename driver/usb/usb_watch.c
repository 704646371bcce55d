/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cards that come and go.
 *
 * libusb says when something was plugged in or out; what is there then is found
 * by looking. Where it hears of nothing (no udevd, another system) looking every
 * half second has to do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/clock.h"
#include "usb_find.h"
#include "weft/gen/msg.h"

#define LOOK_NS 500000000ull
#define AGAIN_NS 20000000ull   /* after libusb said something: a card that left may be listed a moment longer */
#define MAX_CARDS 64

struct weft_usb_watch {
	libusb_context *ctx;
	libusb_hotplug_callback_handle handle;
	int changed;
	bool again;
};

/* ---- waiting ---- */

static int LIBUSB_CALL on_hotplug(libusb_context *ctx, libusb_device *dev, libusb_hotplug_event event, void *user)
{
	(void)ctx;
	(void)dev;
	(void)event;
	((struct weft_usb_watch *)user)->changed = 1;
	return 0;
}

struct weft_usb_watch *weft_usb_watch_new(void)
{
	struct weft_usb_watch *w = calloc(1, sizeof(*w));
	char msg[WEFT_DEV_MSG];

	if (!w || weft_usb_start(&w->ctx, msg)) {
		free(w);
		return NULL;
	}
	if (libusb_has_capability(LIBUSB_CAP_HAS_HOTPLUG))
		libusb_hotplug_register_callback(w->ctx, LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED | LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT,
		                                 LIBUSB_HOTPLUG_NO_FLAGS, WEFT_USB_VENDOR_ID, WEFT_USB_PRODUCT_ID,
		                                 LIBUSB_HOTPLUG_MATCH_ANY, on_hotplug, w, &w->handle);
	return w;
}

void weft_usb_watch_wait(struct weft_usb_watch *w, uint64_t until_ns)
{
	uint64_t now = weft_now_ns(), look = now + (w->again ? AGAIN_NS : LOOK_NS);

	until_ns = until_ns < look ? until_ns : look;
	while (!w->changed && now < until_ns) {
		struct timeval tv = { 0, (suseconds_t)((until_ns - now) / 1000 + 1) };
		libusb_handle_events_timeout_completed(w->ctx, &tv, &w->changed);
		now = weft_now_ns();
	}
	w->again = w->changed;
	w->changed = 0;
}

void weft_usb_watch_free(struct weft_usb_watch *w)
{
	if (!w)
		return;
	libusb_exit(w->ctx);
	free(w);
}

/* ---- telling ---- */

struct known {
	struct weft_dev_info info;
	bool seen;
};

struct watcher {
	weft_dev_watcher *fn;
	void *user;
	struct known card[MAX_CARDS];
	size_t n;
};

static int on_card(void *user, libusb_device *dev)
{
	struct watcher *w = user;
	char where[sizeof(w->card[0].info.where)];

	weft_usb_where(dev, where, sizeof(where));
	for (size_t i = 0; i < w->n; i++) {
		if (!strcmp(w->card[i].info.where, where)) {
			w->card[i].seen = true;
			return 0;
		}
	}
	if (w->n == MAX_CARDS)
		return 0;
	struct known *k = &w->card[w->n++];
	weft_usb_describe(dev, &k->info);
	for (const struct known *other = w->card; other < k; other++)
		weft_usb_tell_apart(&other->info, &k->info);
	k->seen = true;
	return w->fn(w->user, &k->info, true);
}

/* Those that went first: a card that was moved comes under another number. */
static int forget(struct watcher *w)
{
	int stop = 0;

	for (size_t i = 0; i < w->n && !stop;) {
		struct known k = w->card[i];
		if (k.seen) {
			i++;
			continue;
		}
		memmove(&w->card[i], &w->card[i + 1], (--w->n - i) * sizeof(k));
		stop = w->fn(w->user, &k.info, false);
	}
	return stop;
}

static int mark(void *user, libusb_device *dev)
{
	struct watcher *w = user;
	char where[sizeof(w->card[0].info.where)];

	weft_usb_where(dev, where, sizeof(where));
	for (size_t i = 0; i < w->n; i++)
		w->card[i].seen |= !strcmp(w->card[i].info.where, where);
	return 0;
}

static int look(struct watcher *w, char *msg)
{
	for (size_t i = 0; i < w->n; i++)
		w->card[i].seen = false;
	int stop = w->n ? weft_usb_each(mark, w, msg) : 0;
	if (!stop)
		stop = forget(w);
	return stop ? stop : weft_usb_each(on_card, w, msg);
}

int weft_usb_watch(weft_dev_watcher *fn, void *user, uint64_t until_ns, char *msg)
{
	struct weft_usb_watch *wait = weft_usb_watch_new();
	struct watcher *w = calloc(1, sizeof(*w));
	int stop = wait && w ? 0 : -ENOMEM;

	if (!stop)
		*w = (struct watcher){ .fn = fn, .user = user };
	while (!stop && !(stop = look(w, msg)) && weft_now_ns() < until_ns)
		weft_usb_watch_wait(wait, until_ns);
	weft_usb_watch_free(wait);
	free(w);
	return stop;
}

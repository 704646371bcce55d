/* SPDX-License-Identifier: Apache-2.0 */
#include "inproc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/clock.h"
#include "weft/gen/msg.h"

struct flight {
	struct usbdev_xfer u;      /* first */
	struct inproc *t;
	struct weft_xfer *x;
	struct flight *next;
	bool over;
	uint8_t *data;
};

struct inproc {
	struct usbdev *d;
	struct flight *all;
	int n_over;
};

static struct usbdev *plugged;
static bool in_use;

void inproc_plug(struct usbdev *d)
{
	plugged = d;
}

static int in_open(const char *where, uint64_t deadline_ns, void **out, char *msg)
{
	(void)where;
	(void)deadline_ns;
	if (!plugged || !usbdev_attached(plugged)) {
		snprintf(msg, WEFT_DEV_MSG, "usb: no card is plugged in");
		return -ENODEV;
	}
	if (in_use) {
		snprintf(msg, WEFT_DEV_MSG, "usb: card is in use");
		return -EBUSY;
	}
	struct inproc *t = calloc(1, sizeof(*t));
	t->d = plugged;
	in_use = true;
	*out = t;
	return 0;
}

static void in_close(void *tt)
{
	struct inproc *t = tt;

	while (t->all) {
		struct flight *f = t->all;
		t->all = f->next;
		usbdev_cancel(t->d, &f->u);
		free(f->data);
		free(f);
	}
	in_use = false;
	free(t);
}

static void u_done(struct usbdev_xfer *u)
{
	struct flight *f = (struct flight *)u;

	f->over = true;
	f->t->n_over++;
}

static int control(struct inproc *t, struct weft_xfer *x)
{
	uint8_t data[256];
	const uint8_t halt[8] = { 2, 1, 0, 0, (uint8_t)x->value, 0, 0, 0 };
	const uint8_t plain[8] = { x->request_type, x->request, (uint8_t)x->value, (uint8_t)(x->value >> 8), (uint8_t)x->index, (uint8_t)(x->index >> 8),
		(uint8_t)x->len, (uint8_t)(x->len >> 8) };
	int n = usbdev_control(t->d, x->kind == WEFT_XFER_CLEAR_HALT ? halt : plain, data);

	if (n > 0)
		memcpy(x->data, data, (size_t)n);
	return n;
}

static int in_submit(void *tt, struct weft_xfer *x)
{
	struct inproc *t = tt;

	if (!usbdev_attached(t->d))
		return -ENODEV;
	struct flight *f = calloc(1, sizeof(*f));
	f->t = t;
	f->x = x;
	f->next = t->all;
	t->all = f;
	x->busy = true;
	x->priv = f;
	if (x->kind == WEFT_XFER_OUT || x->kind == WEFT_XFER_IN) {
		/* A copy: a corrupted byte must not reach the driver's own data. */
		f->data = malloc(x->len + 1);
		memcpy(f->data, x->data, x->len);
		f->u = (struct usbdev_xfer){ .in = x->kind == WEFT_XFER_IN, .data = f->data, .len = x->len, .done = u_done };
		usbdev_bulk(t->d, &f->u);
		return 0;
	}
	int n = control(t, x);
	if (n == -ETIMEDOUT)       /* never answered */
		return 0;
	f->u.status = n < 0 ? n : 0;
	f->u.actual = n < 0 ? 0 : (uint32_t)n;
	u_done(&f->u);
	return 0;
}

static void in_cancel(void *tt, struct weft_xfer *x)
{
	struct inproc *t = tt;
	struct flight *f = x->priv;

	if (!x->busy || f->over)
		return;
	usbdev_cancel(t->d, &f->u);
	f->u.status = -ECANCELED;
	u_done(&f->u);
}

/* The oldest that is over, given back. */
static bool reap(struct inproc *t)
{
	struct flight **p, **oldest = NULL;

	for (p = &t->all; *p; p = &(*p)->next)
		if ((*p)->over)
			oldest = p;
	if (!oldest)
		return false;
	struct flight *f = *oldest;
	struct weft_xfer *x = f->x;
	*oldest = f->next;
	t->n_over--;
	x->status = f->u.status;
	x->actual = f->u.actual;
	x->busy = false;
	x->priv = NULL;
	if (x->kind == WEFT_XFER_IN)
		memcpy(x->data, f->data, x->actual);
	free(f->data);
	free(f);
	x->done(x);
	return true;
}

static int in_poll(void *tt, uint64_t until_ns)
{
	struct inproc *t = tt;
	uint64_t wake;

	for (;;) {
		bool busy = usbdev_step(t->d, &wake);
		if (t->n_over) {
			while (reap(t))
				;
			return 0;
		}
		uint64_t now = weft_now_ns();
		if (now >= until_ns)
			return 0;
		if (busy)
			continue;
		uint64_t at = wake < until_ns ? wake : until_ns;
		uint64_t ns = at > now ? at - now : 0;
		if (ns > 1000000000)
			ns = 1000000000;
		struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
		nanosleep(&ts, NULL);
	}
}

const struct weft_usb_ops inproc_ops = {
	.name = "inproc",
	.open = in_open,
	.close = in_close,
	.submit = in_submit,
	.cancel = in_cancel,
	.poll = in_poll,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport: libusb, asynchronous transfers. No call here waits for the device:
 * what libusb does only synchronously (clear halt) runs in a thread of its own.
 * Each open card has its own context, so that a device plugged in again is
 * found by the next open.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "driver/sys.h"
#include "driver/clock.h"
#include "usb_find.h"
#include "weft/gen/msg.h"

#define N_AREAS 16
/* Transfers under way together, at most: those of a link, and one on endpoint 0. */
#define N_FLIGHTS 16
#define CONTROL_MAX 256
#define N_FDS 8                /* libusb has three, seldom more */

/* Memory of the kernel's, mapped here. */
struct area { uint8_t *data; size_t len; };

/* A transfer of libusb's, made when it is first needed and used again and again. */
struct flight {
	struct lib *t;
	struct weft_xfer *x;       /* under way; NULL: free */
	struct libusb_transfer *lt;
	uint8_t setup[LIBUSB_CONTROL_SETUP_SIZE + CONTROL_MAX];   /* of a control request, and its data */
};

struct lib {
	libusb_context *ctx;
	libusb_device_handle *h;
	int n_busy;
	bool gone, closing;
	struct flight flights[N_FLIGHTS];
	struct pollfd fds[N_FDS];
	int n_fds;                 /* above N_FDS: too many to be watched */
	struct area areas[N_AREAS];
	int n_areas;
	struct weft_usb_info place;
	/* The one clear-halt under way. The thread reads h and halt's endpoint, and writes its status before it is done. */
	pthread_t thread;
	bool thread_runs;
	atomic_bool thread_done;
	int thread_status;
	struct weft_xfer *halt;
};


static int status_of(enum libusb_transfer_status s)
{
	switch (s) {
	case LIBUSB_TRANSFER_COMPLETED: return 0;
	case LIBUSB_TRANSFER_STALL:     return -EPIPE;
	case LIBUSB_TRANSFER_CANCELLED: return -ECANCELED;
	case LIBUSB_TRANSFER_NO_DEVICE: return -ENODEV;
	default:                        return -EIO;
	}
}

/* ---- opening ---- */

static int refuse(int err, const struct weft_dev_info *i, char *msg)
{
	if (err == -EBUSY)
		snprintf(msg, WEFT_DEV_MSG, "usb: card %s is in use by %s", i->serial,
		         i->used_by[0] ? i->used_by : "another process");
	else if (err == -EACCES)
		snprintf(msg, WEFT_DEV_MSG, "usb: no permission for card %s (%s); install the udev rule and be in group "
		         "plugdev", i->serial, i->where);
	else
		snprintf(msg, WEFT_DEV_MSG, "usb: card %s (%s) cannot be opened: %s", i->serial, i->where, weft_sys_error(err));
	return err;
}

static int claim(struct lib *t, libusb_device *dev, struct weft_dev_info *i, char *msg)
{
	int config = 0, err = libusb_open(dev, &t->h);

	if (!err)
		err = libusb_get_configuration(t->h, &config);
	if (!err && config != 1)
		err = libusb_set_configuration(t->h, 1);
	if (!err)
		err = libusb_claim_interface(t->h, WEFT_USB_INTERFACE);
	if (!err) {
		weft_usb_place(dev, &t->place);
		return 0;
	}
	if (t->h)
		libusb_close(t->h);
	t->h = NULL;
	return refuse(weft_usb_errno(err), i, msg);
}

/* Claims the card with that serial or at that port, or, without a name, the first that can be had. */
static int find_and_claim(struct lib *t, const char *name, char *msg)
{
	struct libusb_device_descriptor desc;
	libusb_device **list = NULL;
	ssize_t n = libusb_get_device_list(t->ctx, &list);
	int err = -ENODEV;

	if (name[0])
		snprintf(msg, WEFT_DEV_MSG, "usb: no card with serial \"%.40s\" is plugged in", name);
	else
		snprintf(msg, WEFT_DEV_MSG, "usb: no card is plugged in");
	for (ssize_t i = 0; i < n && err; i++) {
		struct weft_dev_info info;
		if (!weft_usb_is_card(list[i], &desc))
			continue;
		weft_usb_describe(list[i], &info);
		if (!name[0] || !strcmp(name, info.serial) || !strcmp(name, info.port))
			err = claim(t, list[i], &info, msg);
	}
	if (list)
		libusb_free_device_list(list, 1);
	return err;
}

static void watch_fds(struct lib *t);

static int lib_open(const char *where, uint64_t deadline_ns, void **out, char *msg)
{
	struct lib *t = calloc(1, sizeof(*t));
	int err;

	(void)deadline_ns;
	if (!t) {
		snprintf(msg, WEFT_DEV_MSG, "usb: out of memory");
		return -ENOMEM;
	}
	err = weft_usb_start(&t->ctx, msg);
	if (!err && (err = find_and_claim(t, where ? where : "", msg)))
		libusb_exit(t->ctx);
	if (err) {
		free(t);
		return err;
	}
	watch_fds(t);
	*out = t;
	return 0;
}

/* ---- transfers ---- */

static void LIBUSB_CALL completed(struct libusb_transfer *lt)
{
	struct flight *f = lt->user_data;
	struct weft_xfer *x = f->x;

	f->x = NULL;
	f->t->n_busy--;
	if (lt->status == LIBUSB_TRANSFER_NO_DEVICE)
		f->t->gone = true;
	if (f->t->closing)
		return;
	x->status = status_of(lt->status);
	x->actual = (uint32_t)lt->actual_length;
	if (x->kind == WEFT_XFER_CONTROL && x->request_type & 0x80)
		memcpy(x->data, libusb_control_transfer_get_data(lt), x->actual);
	x->busy = false;
	x->priv = NULL;
	x->done(x);
}

static void *clear_halt(void *arg)
{
	struct lib *t = arg;

	t->thread_status = weft_usb_errno(libusb_clear_halt(t->h, (unsigned char)t->halt->value));
	atomic_store(&t->thread_done, true);
	libusb_interrupt_event_handler(t->ctx);
	return NULL;
}

static int submit_halt(struct lib *t, struct weft_xfer *x)
{
	if (t->thread_runs)
		return -EBUSY;
	t->halt = x;
	atomic_store(&t->thread_done, false);
	if (pthread_create(&t->thread, NULL, clear_halt, t))
		return -ENOMEM;
	t->thread_runs = x->busy = true;
	return 0;
}

static void reap_halt(struct lib *t)
{
	struct weft_xfer *x = t->halt;

	if (!t->thread_runs || !atomic_load(&t->thread_done))
		return;
	pthread_join(t->thread, NULL);
	t->thread_runs = false;
	x->status = t->thread_status;
	x->busy = false;
	x->done(x);
}

/* One that is free, with a transfer. */
static struct flight *take_flight(struct lib *t)
{
	for (int i = 0; i < N_FLIGHTS; i++) {
		struct flight *f = &t->flights[i];
		if (f->x)
			continue;
		f->t = t;
		if (!f->lt)
			f->lt = libusb_alloc_transfer(0);
		return f->lt ? f : NULL;
	}
	return NULL;
}

static int lib_submit(void *tt, struct weft_xfer *x)
{
	struct lib *t = tt;

	if (t->gone)
		return -ENODEV;
	if (x->kind == WEFT_XFER_CLEAR_HALT)
		return submit_halt(t, x);
	struct flight *f = take_flight(t);
	if (!f)
		return -ENOMEM;
	if (x->kind == WEFT_XFER_CONTROL) {
		if (x->len > CONTROL_MAX)
			return -EINVAL;
		libusb_fill_control_setup(f->setup, x->request_type, x->request, x->value, x->index, (uint16_t)x->len);
		if (!(x->request_type & 0x80) && x->len)
			memcpy(f->setup + LIBUSB_CONTROL_SETUP_SIZE, x->data, x->len);
		libusb_fill_control_transfer(f->lt, t->h, f->setup, completed, f, 0);
	} else {
		libusb_fill_bulk_transfer(f->lt, t->h, x->kind == WEFT_XFER_IN ? WEFT_USB_EP_IN : WEFT_USB_EP_OUT, x->data,
		                          (int)x->len, completed, f, 0);
	}
	int err = weft_usb_errno(libusb_submit_transfer(f->lt));
	if (err) {
		t->gone = t->gone || err == -ENODEV;
		return err;
	}
	f->x = x;
	t->n_busy++;
	x->busy = true;
	x->priv = f;
	return 0;
}

static void lib_cancel(void *tt, struct weft_xfer *x)
{
	struct flight *f = x->priv;

	(void)tt;
	if (x->busy && f)
		libusb_cancel_transfer(f->lt);
}

static int lib_poll(void *tt, uint64_t until_ns)
{
	struct lib *t = tt;
	uint64_t now = weft_now_ns(), left = until_ns > now ? until_ns - now : 0;

	if (left > 1000000000)
		left = 1000000000;
	struct timeval tv = weft_timeval(left);
	libusb_handle_events_timeout_completed(t->ctx, &tv, NULL);
	reap_halt(t);
	return 0;
}

/* ---- descriptors ---- */

static void LIBUSB_CALL fd_added(int fd, short events, void *user)
{
	struct lib *t = user;

	if (t->n_fds < N_FDS)
		t->fds[t->n_fds] = (struct pollfd){ .fd = fd, .events = events };
	t->n_fds++;
}

static void LIBUSB_CALL fd_removed(int fd, void *user)
{
	struct lib *t = user;
	int i = 0;

	while (i < t->n_fds && i < N_FDS && t->fds[i].fd != fd)
		i++;
	if (i < t->n_fds && i < N_FDS)
		t->fds[i] = t->fds[--t->n_fds < N_FDS ? t->n_fds : i];
}

static void watch_fds(struct lib *t)
{
	const struct libusb_pollfd **all = libusb_get_pollfds(t->ctx);

	for (int i = 0; all && all[i]; i++)
		fd_added(all[i]->fd, all[i]->events, t);
	libusb_free_pollfds(all);
	libusb_set_pollfd_notifiers(t->ctx, fd_added, fd_removed, t);
}

/* A clear-halt that ends interrupts libusb's event handling, which is one of them. */
static int lib_fds(void *tt, struct pollfd *out, int max)
{
	const struct lib *t = tt;

	if (t->n_fds > N_FDS || t->n_fds > max)
		return -1;
	memcpy(out, t->fds, (size_t)t->n_fds * sizeof(out[0]));
	return t->n_fds;
}

/*
 * Returns whether there is memory behind the mapping. Touching it would be a signal; the kernel only says
 * EFAULT.
 */
static bool backed(uint8_t *data, size_t len)
{
	return getrandom(data + len - 1, 1, GRND_NONBLOCK) == 1;
}

/*
 * What lies here the host controller reads and writes itself; the kernel neither
 * copies nor allocates. Not every kernel has it, and not every usbfs is one: that
 * of umockdev is a file, which can be mapped too.
 */
static void *lib_alloc(void *tt, size_t len)
{
	struct lib *t = tt;
	uint8_t *data = t->n_areas < N_AREAS ? libusb_dev_mem_alloc(t->h, len) : NULL;

	if (data && !backed(data, len)) {
		libusb_dev_mem_free(t->h, data, len);
		return NULL;
	}
	if (data)
		t->areas[t->n_areas++] = (struct area){ data, len };
	return data;
}

static void lib_place(void *tt, struct weft_usb_info *i)
{
	const struct lib *t = tt;

	i->speed = t->place.speed;
	i->hub_speed = t->place.hub_speed;
	memcpy(i->port, t->place.port, sizeof(i->port));
}

/* The kernel gives every transfer back, whatever the device does. */
static void lib_close(void *tt)
{
	struct lib *t = tt;
	uint64_t until = weft_now_ns() + 1000000000;

	if (t->thread_runs)
		pthread_join(t->thread, NULL);     /* the kernel bounds it */
	t->thread_runs = false;                    /* nobody is told */
	t->closing = true;
	for (int i = 0; i < N_FLIGHTS; i++)
		if (t->flights[i].x)
			libusb_cancel_transfer(t->flights[i].lt);
	while (t->n_busy && weft_now_ns() < until)
		lib_poll(t, until);
	libusb_release_interface(t->h, WEFT_USB_INTERFACE);
	while (t->n_areas--)
		libusb_dev_mem_free(t->h, t->areas[t->n_areas].data, t->areas[t->n_areas].len);
	libusb_set_pollfd_notifiers(t->ctx, NULL, NULL, NULL);
	libusb_close(t->h);
	/* What the kernel has not given back may still be written. */
	bool all = true;
	for (int i = 0; i < N_FLIGHTS; i++) {
		all = all && !t->flights[i].x;
		if (!t->flights[i].x)
			libusb_free_transfer(t->flights[i].lt);
	}
	libusb_exit(t->ctx);
	if (all)
		free(t);
}

const struct weft_usb_ops weft_usb_libusb = {
	.name = "usb",
	.open = lib_open,
	.close = lib_close,
	.alloc = lib_alloc,
	.submit = lib_submit,
	.cancel = lib_cancel,
	.poll = lib_poll,
	.fds = lib_fds,
	.place = lib_place,
};

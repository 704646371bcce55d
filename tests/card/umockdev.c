/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver and libusb as they are, over a usbfs that umockdev pretends: each
 * ioctl arrives here and is answered by the simulated card in this process.
 */
#define _GNU_SOURCE            /* memfd_create(), RTLD_NEXT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

/* The sanitizers' library wants to be preloaded first, and so does umockdev's. */
#if !defined(HAVE_UMOCKDEV) || defined(__SANITIZE_ADDRESS__)

#include "tests/support/umockdev_absent.h"

#else

#include <dlfcn.h>
#include <libusb-1.0/libusb.h>
#include <linux/usbdevice_fs.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <umockdev.h>
#include <unistd.h>

#include <weft/admin.h>
#include <weft/cards.h>

#include "../support/level.h"
#include "../support/random_stream.h"
#include "../support/stub_chip.h"
#include "../support/usb_phy.h"
#include "driver/clock.h"
#include "tools/card/usbdev.h"
#include "weft/gen/msg.h"

#define SERIAL "MOCK0001"
#define OTHER "MOCK0002"

struct urb {
	struct usbdev_xfer x;      /* first */
	struct urb *next;
	UMockdevIoctlData *data, *buffer;
	int status;
	uint32_t actual;
	bool over;
};

/* What is plugged into a port of the one bus. */
struct slot {
	const char *serial, *port, *speed;         /* port and speed as sysfs says them; a hub in front is part of port */
	UMockdevIoctlBase *handler;
	char node[32], syspath[64];
	struct usbdev *d;
	void *chip;
	struct urb *urbs, **last;
	bool busy_elsewhere;       /* CLAIM fails */
	int refuse_submits;        /* so many SUBMITURBs fail with ENOMEM */
	unsigned slow_halt_ms, n_halts;        /* CLEAR_HALT takes so long; so many came */
	int garble;                /* descriptors of this type come with another type's number */
};

static struct {
	pthread_mutex_t lock;
	UMockdevTestbed *bed;
	struct slot slot[2];
} bus = { .lock = PTHREAD_MUTEX_INITIALIZER, .slot = { { .serial = SERIAL, .port = "1-1", .speed = "480" },
	{ .serial = OTHER, .port = "1-2", .speed = "480" } } };

#define CARD (&bus.slot[0])

/* Device, configuration, interface and endpoint of a hub at full speed. */
#define HUB_DESCRIPTORS "12011001090000405104772000010000000109021900010100E032090400000109000000070581030100FF"

/* ---- libusb, where this usbfs is not like a kernel's ---- */

/* What libusb is to do: refuse so many calls to open a card, and take memory for transfers from here. */
static struct {
	int barred;                /* calls of libusb_open that come too early for udev */
	enum { NO_MEMORY, REAL_MEMORY, EMPTY_FILE } memory;
	int given, taken_back;     /* blocks of that memory */
} lib;

int LIBUSB_CALL libusb_open(libusb_device *dev, libusb_device_handle **h)
{
	int LIBUSB_CALL (*next)(libusb_device *, libusb_device_handle **) =
		(int LIBUSB_CALL (*)(libusb_device *, libusb_device_handle **))dlsym(RTLD_NEXT, "libusb_open");

	return lib.barred && lib.barred-- ? LIBUSB_ERROR_ACCESS : next(dev, h);
}

/* Real memory has as much address space in front of it that nobody may touch. */
unsigned char *LIBUSB_CALL libusb_dev_mem_alloc(libusb_device_handle *h, size_t len)
{
	uint8_t *p = MAP_FAILED;

	(void)h;
	if (lib.memory == REAL_MEMORY) {
		const size_t all = (len + 4095) / 4096 * 4096;
		p = mmap(NULL, 2 * all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(p != MAP_FAILED && !mprotect(p + all, all, PROT_READ | PROT_WRITE));
		p += all;
	} else if (lib.memory == EMPTY_FILE) {
		const int fd = memfd_create("empty", MFD_CLOEXEC);
		p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	lib.given += p != MAP_FAILED;
	return p == MAP_FAILED ? NULL : p;
}

/* The mapping stays: the process ends soon. */
int LIBUSB_CALL libusb_dev_mem_free(libusb_device_handle *h, unsigned char *p, size_t len)
{
	(void)h;
	(void)p;
	(void)len;
	lib.taken_back++;
	return 0;
}

/* ---- usbfs ---- */

static void on_done(struct usbdev_xfer *x)
{
	struct urb *u = (struct urb *)x;

	u->over = true;
	u->status = x->status == -ENODEV ? -ESHUTDOWN : x->status;
	u->actual = x->actual;
	if (x->in && x->actual)
		umockdev_ioctl_data_update(u->buffer, 0, x->data, (gint)x->actual);
}

static void control(struct slot *s, struct urb *u)
{
	uint8_t *p = u->buffer->data;
	bool in = p[0] & 0x80;
	int n = usbdev_control(s->d, p, p + 8);

	if (n == -ETIMEDOUT)       /* never answered */
		return;
	if (n > 1 && p[0] == 0x80 && p[1] == 6 && p[3] == s->garble)
		p[9] ^= 0x20;
	u->over = true;
	u->status = n == -ENODEV ? -ESHUTDOWN : n < 0 ? n : 0;
	u->actual = n < 0 ? 0 : (uint32_t)n;
	if (in && n > 0)
		umockdev_ioctl_data_update(u->buffer, 8, p + 8, n);
}

static int submit(struct slot *s, UMockdevIoctlData *arg)
{
	struct urb *u;

	if (!usbdev_attached(s->d))
		return -ENODEV;
	if (s->refuse_submits && s->refuse_submits--)
		return -ENOMEM;
	u = calloc(1, sizeof(*u));
	u->data = umockdev_ioctl_data_resolve(arg, 0, sizeof(struct usbdevfs_urb), NULL);
	struct usbdevfs_urb *k = (struct usbdevfs_urb *)u->data->data;
	u->buffer = umockdev_ioctl_data_resolve(u->data, offsetof(struct usbdevfs_urb, buffer), k->buffer_length, NULL);
	*s->last = u;
	s->last = &u->next;
	if (k->type == USBDEVFS_URB_TYPE_CONTROL) {
		control(s, u);
		return 0;
	}
	u->x = (struct usbdev_xfer){ .in = k->endpoint & 0x80, .data = u->buffer->data, .len = (uint32_t)k->buffer_length,
		.done = on_done };
	usbdev_bulk(s->d, &u->x);
	return 0;
}

static int reap(struct slot *s, UMockdevIoctlData *arg)
{
	uint64_t wake;

	for (int i = 0; i < 4; i++)
		usbdev_step(s->d, &wake);
	for (struct urb **p = &s->urbs; *p; p = &(*p)->next) {
		struct urb *u = *p;
		if (!u->over)
			continue;
		umockdev_ioctl_data_update(u->data, offsetof(struct usbdevfs_urb, status), (guint8 *)&u->status,
		                           sizeof(u->status));
		umockdev_ioctl_data_update(u->data, offsetof(struct usbdevfs_urb, actual_length), (guint8 *)&u->actual,
		                           sizeof(u->actual));
		UMockdevIoctlData *out = umockdev_ioctl_data_resolve(arg, 0, sizeof(gpointer), NULL);
		umockdev_ioctl_data_set_ptr(out, 0, u->data);
		umockdev_ioctl_data_unref(out);
		*p = u->next;
		if (!*p)
			s->last = p;
		umockdev_ioctl_data_unref(u->data);
		umockdev_ioctl_data_unref(u->buffer);
		free(u);
		return 0;
	}
	return usbdev_attached(s->d) ? -EAGAIN : -ENODEV;
}

static int discard(struct slot *s, UMockdevIoctlData *arg)
{
	gulong which = *(gulong *)arg->data;

	for (struct urb *u = s->urbs; u; u = u->next) {
		if (u->data->client_addr != which || u->over)
			continue;
		usbdev_cancel(s->d, &u->x);
		u->over = true;
		u->status = -ENOENT;
		return 0;
	}
	return -EINVAL;
}

static int clear_halt(struct slot *s, UMockdevIoctlData *arg)
{
	UMockdevIoctlData *ep = umockdev_ioctl_data_resolve(arg, 0, sizeof(unsigned), NULL);
	const uint8_t setup[8] = { 2, 1, 0, 0, ep->data[0] };

	umockdev_ioctl_data_unref(ep);
	usleep(s->slow_halt_ms * 1000);
	s->n_halts++;
	int n = usbdev_control(s->d, setup, NULL);
	return n;
}

static int one(struct slot *s, gulong request, UMockdevIoctlData *arg)
{
	switch (request) {
	case USBDEVFS_GET_CAPABILITIES: {
		UMockdevIoctlData *d = umockdev_ioctl_data_resolve(arg, 0, sizeof(guint32), NULL);
		guint32 caps = USBDEVFS_CAP_BULK_SCATTER_GATHER | USBDEVFS_CAP_NO_PACKET_SIZE_LIM | USBDEVFS_CAP_ZERO_PACKET;
		umockdev_ioctl_data_update(d, 0, (guint8 *)&caps, sizeof(caps));
		umockdev_ioctl_data_unref(d);
		return 0;
	}
	case USBDEVFS_CLAIMINTERFACE:
		return s->busy_elsewhere ? -EBUSY : 0;
	case USBDEVFS_RELEASEINTERFACE:
	case USBDEVFS_SETCONFIGURATION:
		return 0;
	case USBDEVFS_CLEAR_HALT:
		return clear_halt(s, arg);
	case USBDEVFS_SUBMITURB:
		return submit(s, arg);
	case USBDEVFS_REAPURB:
	case USBDEVFS_REAPURBNDELAY:
		return reap(s, arg);
	case USBDEVFS_DISCARDURB:
		return discard(s, arg);
	case USBDEVFS_GETDRIVER:
		return -ENODATA;
	default:
		return -ENOTTY;
	}
}

static gboolean on_ioctl(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer user)
{
	UMockdevIoctlData *arg = umockdev_ioctl_client_get_arg(client);

	(void)handler;
	pthread_mutex_lock(&bus.lock);
	int r = one(user, umockdev_ioctl_client_get_request(client), arg);
	pthread_mutex_unlock(&bus.lock);
	umockdev_ioctl_client_complete(client, r < 0 ? -1 : 0, r < 0 ? -r : 0);
	return TRUE;
}

/* ---- the bus ---- */

static char *print_descriptor(char *p, enum weft_usb_descriptor which)
{
	size_t n;
	const uint8_t *data = weft_usb_descriptor(which, &n);

	for (size_t i = 0; i < n; i++)
		p += sprintf(p, "%02X", data[i]);
	return p;
}

static void plug(struct slot *s, int number)
{
	char text[2048], hex[256] = "";
	GError *err = NULL;

	print_descriptor(print_descriptor(hex, WEFT_USB_DESCRIPTOR_DEVICE),
	                 usbdev_high_speed(s->d) ? WEFT_USB_DESCRIPTOR_CONFIG : WEFT_USB_DESCRIPTOR_CONFIG_FULL);
	snprintf(s->node, sizeof(s->node), "/dev/bus/usb/001/%03d", number);
	snprintf(s->syspath, sizeof(s->syspath), "/sys/devices/pci0000:00/0000:00:14.0/usb1/%s", s->port);
	snprintf(text, sizeof(text),
	         "P: %s\nN: bus/usb/001/%03d=%s\nE: DEVTYPE=usb_device\nE: DRIVER=usb\nE: BUSNUM=001\nE: DEVNUM=%03d\n"
	         "E: DEVNAME=/dev/bus/usb/001/%03d\nE: MAJOR=189\nE: MINOR=%d\nE: SUBSYSTEM=usb\nE: PRODUCT=1209/1/100\n"
	         "E: TYPE=255/0/0\nA: bConfigurationValue=1\\n\nA: bNumConfigurations=1\\n\nA: busnum=1\\n\nA: devnum=%d\\n\n"
	         "A: speed=%s\\n\nA: serial=%s\\n\nA: product=" WEFT_USB_PRODUCT "\\n\nH: descriptors=%s\n\n",
	         s->syspath + 4, number, hex, number, number, number - 1, number, s->speed, s->serial, hex);
	/* A process may open the card as soon as its node exists, so the handler of its requests is attached first. */
	if (!umockdev_testbed_attach_ioctl(bus.bed, s->node, s->handler, &err))
		fail_msg("%s", err->message);
	if (!umockdev_testbed_add_from_string(bus.bed, text, &err))
		fail_msg("%s", err->message);
	umockdev_testbed_uevent(bus.bed, s->syspath, "add");
}

static void unplug(struct slot *s)
{
	pthread_mutex_lock(&bus.lock);
	usbdev_attach(s->d, false);
	pthread_mutex_unlock(&bus.lock);
	umockdev_testbed_uevent(bus.bed, s->syspath, "remove");
	umockdev_testbed_detach_ioctl(bus.bed, s->node, NULL);
	umockdev_testbed_remove_device(bus.bed, s->syspath);
}

static int make(struct slot *s)
{
	struct weft_chip_options o = { .config = "w16" };
	char msg[WEFT_DEV_MSG];

	s->handler = umockdev_ioctl_base_new();
	g_signal_connect(s->handler, "handle-ioctl", G_CALLBACK(on_ioctl), s);
	s->last = &s->urbs;
	if (stub_chip.open(&o, &s->chip, msg))
		return -1;
	s->d = usbdev_new(&stub_chip, s->chip, s->serial, NULL, 0);
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	bus.bed = umockdev_testbed_new();
	if (make(&bus.slot[0]) || make(&bus.slot[1]))
		return -1;
	plug(CARD, 2);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		usbdev_free(bus.slot[i].d);
		stub_chip.close(bus.slot[i].chip);
		g_object_unref(bus.slot[i].handler);
	}
	g_object_unref(bus.bed);
	return 0;
}

/* Another card in the same place, with a fault. */
static void swap_card(struct usbdev_fault *f, size_t n)
{
	pthread_mutex_lock(&bus.lock);
	usbdev_free(CARD->d);
	CARD->d = usbdev_new(&stub_chip, CARD->chip, SERIAL, f, n);
	pthread_mutex_unlock(&bus.lock);
}

/* ---- the driver ---- */

static int open_card(const char *serial, weft_dev **dev, char *msg)
{
	struct weft_dev_options o = weft_dev_options_default();

	o.kind = WEFT_DEV_USB;
	o.usb = serial;
	/* The simulated bus behind a USB device of its own takes its time. */
	o.usb_timeout_ms = usbdev_high_speed(CARD->d) ? 100 : 20000;
	o.usb_boot_ms = usbdev_high_speed(CARD->d) ? 500 : 40000;
	return weft_dev_open(&o, dev, msg);
}

/* One random stream; 0 if its bytes are right, an error, or 1 if they are wrong. */
static int run_stream(weft_dev *dev, uint64_t seed, uint8_t *want)
{
	struct random_stream s;
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	struct weft_job_result r = { 0 };
	weft_job job;

	random_stream_make(&s, seed, weft_config_find("w16"));
	uint8_t *got = malloc(s.n_arena);
	int err = weft_buf_alloc(dev, s.n_consts, &win[0].buf);
	if (!err)
		err = weft_buf_alloc(dev, s.n_arena, &win[1].buf);
	if (!err)
		err = weft_buf_write(win[0].buf, 0, s.consts, s.n_consts);
	if (!err)
		err = weft_submit(dev, s.words, s.n_words, win, 2, &job);
	if (!err)
		err = weft_finish(dev, job, 5000, &r);
	if (!err)
		err = r.status;
	if (!err)
		err = weft_buf_read(win[1].buf, 0, got, s.n_arena);
	if (!err && want[0])
		err = memcmp(want + 1, got, s.n_arena) != 0;
	if (!err && !want[0])
		memcpy(want + 1, got, s.n_arena);
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	random_stream_free(&s);
	free(got);
	return err;
}

static uint8_t want[1 << 20];      /* [0]: is the rest there? */

static void expect(uint64_t seed)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG];
	weft_dev *dev;

	assert_int_equal(weft_dev_open(&o, &dev, msg), 0);
	want[0] = 0;
	assert_int_equal(run_stream(dev, seed, want), 0);
	want[0] = 1;
	weft_dev_close(dev);
}

static void good_run(void)
{
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;

	if (open_card("", &dev, msg))
		fail_msg("%s", msg);
	int err = run_stream(dev, 3, want);
	if (err)
		fail_msg("%d %s", err, weft_dev_error(dev));
	weft_dev_close(dev);
}

static void test_list(void **state)
{
	struct weft_dev_info info[4];
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(weft_dev_list(info, 4, &n, msg), 0);
	assert_int_equal(n, 1);
	assert_string_equal(info[0].serial, SERIAL);
	assert_string_equal(info[0].product, WEFT_USB_PRODUCT);
	assert_int_equal(info[0].access, 0);
	assert_int_equal(open_card("OTHER", &dev, msg), -ENODEV);
	assert_non_null(strstr(msg, "OTHER"));
	CARD->busy_elsewhere = true;
	assert_int_equal(open_card(SERIAL, &dev, msg), -EBUSY);
	assert_non_null(strstr(msg, "in use by"));
	CARD->busy_elsewhere = false;
}

/* Listens on a Unix socket at path. Returns the descriptor. */
static int listen_at(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

/* Where a broker is named, a card on the USB that is free is not taken instead of it, whatever is wrong with the broker. */
static void test_broker(void **state)
{
	char msg[WEFT_DEV_MSG] = "", path[108], where[WEFT_DEV_WHERE];
	weft_dev *dev = NULL;
	weft_admin *admin = NULL;

	(void)state;
	test_path(path, sizeof(path), "broker-%d.sock", (int)getpid());
	setenv("WEFT_BROKER", path, 1);
	assert_int_equal(weft_dev_broker(where, msg), 0);
	assert_string_equal(where + 1, path);
	/* 0: there is nothing; 1: it listens, and ends before it says a word; 2: nobody listens any more. */
	int fd = -1;
	for (int i = 0; i < 3; i++) {
		if (i == 1) {
			fd = listen_at(path);
			assert_int_equal(shutdown(fd, SHUT_RD), 0);
		} else if (i == 2) {
			close(fd);
		}
		assert_int_equal(open_card("", &dev, msg), -ENODEV);
		assert_non_null(strstr(msg, path));
		assert_non_null(strstr(msg, "WEFT_BROKER=none"));
		assert_int_equal(weft_admin_open("", 2000, &admin, msg), -ENODEV);
		assert_non_null(strstr(msg, path));
	}
	unlink(path);
	/* A card that is named is on the USB; and so is any other one where there is no broker. */
	assert_int_equal(open_card(SERIAL, &dev, msg), 0);
	weft_dev_close(dev);
	setenv("WEFT_BROKER", "none", 1);
	assert_int_equal(weft_dev_broker(where, msg), 0);
	assert_string_equal(where, "");
	assert_int_equal(open_card("", &dev, msg), 0);
	weft_dev_close(dev);
}

static void test_run(void **state)
{
	(void)state;
	expect(3);
	good_run();
	good_run();
}

/* Six kinds at some transfers; all of them are tests/card/faults. */
static void test_faults(void **state)
{
	unsigned recovered = 0, reported = 0, n = 0;
	long step = test_every(7, 3, 1);

	(void)state;
	expect(3);
	for (int kind = USBDEV_DROP; kind <= USBDEV_DELAY; kind++) {
		for (uint64_t at = (uint64_t)kind % 3; at < 12; at += (uint64_t)step, n++) {
			struct usbdev_fault f = { .kind = (enum usbdev_fault_kind)kind, .at = at, .arg = 130 };
			char msg[WEFT_DEV_MSG] = "";
			weft_dev *dev = NULL;
			swap_card(&f, 1);
			int err = open_card("", &dev, msg);
			if (!err)
				err = run_stream(dev, 3, want);
			if (err > 0)
				fail_msg("%s@%d: wrong bytes", usbdev_fault_name(f.kind), (int)at);
			weft_dev_close(dev);
			recovered += !err;
			reported += err != 0;
			swap_card(NULL, 0);
			good_run();
		}
	}
	printf("injected %u, recovered %u, reported %u\n", n, recovered, reported);
	fflush(stdout);
	assert_true(recovered >= n * 4 / 5);
}

/* usbfs has no memory for a while. */
static void test_no_memory(void **state)
{
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;

	(void)state;
	expect(3);
	assert_int_equal(open_card("", &dev, msg), 0);
	CARD->refuse_submits = 3;
	assert_int_equal(run_stream(dev, 3, want), 0);
	CARD->refuse_submits = 1 << 30;
	int err = run_stream(dev, 3, want);
	CARD->refuse_submits = 0;
	assert_true(err < 0);
	assert_true(weft_dev_error(dev)[0]);
	weft_dev_close(dev);
	good_run();
}

/* Pulled while a job waits; back under another number; the same process goes on. */
static void test_unplug(void **state)
{
	struct usbdev_fault f = { .kind = USBDEV_DELAY, .at = 5, .arg = 60000 };
	struct random_stream s;
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	struct weft_job_result r = { 0 };
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;
	weft_job job;

	(void)state;
	expect(3);
	swap_card(&f, 1);
	assert_int_equal(open_card("", &dev, msg), 0);
	random_stream_make(&s, 3, weft_config_find("w16"));
	assert_int_equal(weft_buf_alloc(dev, s.n_consts, &win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(dev, s.n_arena, &win[1].buf), 0);
	assert_int_equal(weft_submit(dev, s.words, s.n_words, win, 2, &job), 0);
	unplug(CARD);
	/* Less than the driver takes to give up a card that is silent: libusb has told it. */
	assert_int_equal(weft_wait(dev, job, 4000, &r), 0);
	assert_int_equal(r.status, -ENODEV);
	assert_int_equal(weft_submit(dev, s.words, s.n_words, win, 2, &job), -ENODEV);
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	weft_dev_close(dev);
	random_stream_free(&s);
	assert_int_equal(open_card("", &dev, msg), -ENODEV);
	swap_card(NULL, 0);
	plug(CARD, 3);
	good_run();
}

/* What a device calls itself is no name of a socket, and no command to a terminal. */
static void test_hostile_serial(void **state)
{
	struct weft_dev_info info[4];
	char msg[WEFT_DEV_MSG] = "";
	size_t n = 0;

	(void)state;
	bus.slot[1].serial = "@/run/x,*.sock\033[2J";
	plug(&bus.slot[1], 6);
	int err = weft_dev_list(info, 4, &n, msg);
	unplug(&bus.slot[1]);
	usbdev_attach(bus.slot[1].d, true);
	bus.slot[1].serial = OTHER;
	assert_int_equal(err, 0);
	assert_int_equal(n, 2);
	assert_string_equal(info[!strcmp(info[0].serial, SERIAL)].serial, "?/run/x??.sock?[2J");
}

/* Two cards at once in one process, each with its own jobs; one leaves and the other does not mind. */
static void test_two(void **state)
{
	struct weft_dev_info info[4];
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *a = NULL, *b = NULL, *c = NULL;
	size_t n = 0;

	(void)state;
	expect(3);
	plug(&bus.slot[1], 7);
	assert_int_equal(weft_dev_list(info, 4, &n, msg), 0);
	assert_int_equal(n, 2);
	assert_int_equal(open_card(OTHER, &b, msg), 0);
	assert_int_equal(open_card(SERIAL, &a, msg), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(run_stream(b, 3, want), 0);
		assert_int_equal(run_stream(a, 3, want), 0);
	}
	/* Whoever names none gets the one that is left. */
	CARD->busy_elsewhere = true;
	weft_dev_close(b);
	assert_int_equal(open_card("", &c, msg), 0);
	struct weft_card_info i;
	assert_int_equal(weft_dev_card(c, &i), 0);
	assert_int_equal(run_stream(c, 3, want), 0);
	bus.slot[1].busy_elsewhere = true;
	b = NULL;
	assert_int_equal(open_card("", &b, msg), -EBUSY);
	CARD->busy_elsewhere = bus.slot[1].busy_elsewhere = false;
	unplug(&bus.slot[1]);
	assert_int_equal(run_stream(c, 3, want), -ENODEV);
	weft_dev_close(c);
	assert_int_equal(run_stream(a, 3, want), 0);
	weft_dev_close(a);
}

/* Opens several cards by their names. Returns what weft_cards_open() does. */
static int open_cards(const char *names, weft_cards **cards, char *msg)
{
	struct weft_dev_options o = weft_dev_options_default();

	o.kind = WEFT_DEV_USB;
	o.usb = names;
	o.usb_timeout_ms = 300;
	return weft_cards_open(&o, cards, msg);
}

/* usb:* is all cards that can be had; a list is those that it names. */
static void test_several(void **state)
{
	char msg[WEFT_DEV_MSG] = "";
	struct weft_cards_info i;
	weft_cards *cards = NULL;
	weft_dev *dev = NULL;

	(void)state;
	usbdev_attach(bus.slot[1].d, true);
	plug(&bus.slot[1], 8);
	assert_int_equal(open_cards("*", &cards, msg), 0);
	if (weft_cards_count(cards) != 2)
		fail_msg("%s", msg);
	assert_int_equal(weft_cards_info(cards, 0, &i), 0);
	assert_false(i.lost);
	assert_true(!strcmp(i.name, SERIAL) || !strcmp(i.name, OTHER));
	assert_int_equal(weft_cards_info(cards, 2, &i), -ERANGE);
	weft_cards_close(cards);
	assert_int_equal(open_cards(OTHER "," SERIAL, &cards, msg), 0);
	assert_int_equal(weft_cards_info(cards, 0, &i), 0);
	assert_string_equal(i.name, OTHER);
	weft_cards_close(cards);
	/* Others have one of them, or both. */
	bus.slot[1].busy_elsewhere = true;
	assert_int_equal(open_cards("*", &cards, msg), 0);
	assert_int_equal(weft_cards_count(cards), 1);
	weft_cards_close(cards);
	assert_int_equal(open_cards(SERIAL "," OTHER, &cards, msg), -EBUSY);
	assert_non_null(strstr(msg, "card " OTHER " is in use by"));
	CARD->busy_elsewhere = true;
	assert_int_equal(open_cards("*", &cards, msg), -EBUSY);
	assert_non_null(strstr(msg, "in use by"));
	CARD->busy_elsewhere = bus.slot[1].busy_elsewhere = false;
	assert_int_equal(open_cards(SERIAL ",NONE", &cards, msg), -ENODEV);
	assert_string_equal(msg, "usb: no card with serial \"NONE\" is plugged in");
	assert_int_equal(open_cards("*," SERIAL, &cards, msg), -EINVAL);
	assert_string_equal(msg, "usb: card \"" SERIAL "\" is named twice");
	assert_int_equal(open_card("*", &dev, msg), -EINVAL);
	assert_string_equal(msg, "usb: \"*\" names several cards; here goes one, such as usb:SERIAL");
	unplug(&bus.slot[1]);
	unplug(CARD);
	assert_int_equal(open_cards("*", &cards, msg), -ENODEV);
	assert_string_equal(msg, "usb: no card is plugged in");
	swap_card(NULL, 0);
	plug(CARD, 3);
	good_run();
}

/* Two cards with one serial are told apart by their ports. */
static void test_same_serial(void **state)
{
	struct weft_dev_info info[4];
	struct weft_cards_info c;
	struct weft_usb_info usb;
	char msg[WEFT_DEV_MSG] = "";
	weft_cards *cards = NULL;
	weft_dev *dev = NULL;
	size_t n = 0;

	(void)state;
	bus.slot[1].serial = SERIAL;
	usbdev_attach(bus.slot[1].d, true);
	plug(&bus.slot[1], 10);
	assert_int_equal(weft_dev_list(info, 4, &n, msg), 0);
	assert_int_equal(n, 2);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(info[i].serial, SERIAL);
		assert_string_equal(info[i].name, info[i].port);
		if (open_card(info[i].name, &dev, msg))
			fail_msg("%s", msg);
		assert_int_equal(weft_dev_usb(dev, &usb), 0);
		assert_string_equal(usb.port, info[i].port);
		weft_dev_close(dev);
	}
	assert_string_not_equal(info[0].name, info[1].name);
	if (open_cards("*", &cards, msg))
		fail_msg("%s", msg);
	assert_int_equal(weft_cards_count(cards), 2);
	assert_int_equal(weft_cards_info(cards, 1, &c), 0);
	assert_string_equal(c.name, info[1].name);
	weft_cards_close(cards);
	unplug(&bus.slot[1]);
	usbdev_attach(bus.slot[1].d, true);
	bus.slot[1].serial = OTHER;
	/* Alone, it has its serial for a name, and can still be found by its port. */
	assert_int_equal(weft_dev_list(info, 4, &n, msg), 0);
	assert_int_equal(n, 1);
	assert_string_equal(info[0].name, SERIAL);
	assert_int_equal(open_card(CARD->port, &dev, msg), 0);
	weft_dev_close(dev);
}

/* ---- coming and going ---- */

/* What a watch has told so far, and after how many of these it stops; `told`, if not NULL, is posted at each. */
struct news { char text[256]; int stop_at; sem_t *told; };

static int on_news(void *user, const struct weft_dev_info *i, bool here)
{
	struct news *news = user;
	size_t n = strlen(news->text);

	snprintf(news->text + n, sizeof(news->text) - n, "%c%s ", here ? '+' : '-', i->serial);
	if (news->told)
		sem_post(news->told);
	return --news->stop_at ? 0 : 42;
}

/* Plugs the other card in when the watch has told of the first one, and pulls it when the watch has told of it. */
static void *come_and_go(void *told)
{
	sem_wait(told);
	plug(&bus.slot[1], 8);
	sem_wait(told);
	unplug(&bus.slot[1]);
	return NULL;
}

/* Returns the milliseconds that it takes to see the other card come and go. */
static int watch_once(void)
{
	sem_t told;
	struct news news = { .stop_at = 3, .told = &told };
	char msg[WEFT_DEV_MSG] = "";
	pthread_t thread;

	assert_int_equal(sem_init(&told, 0, 0), 0);
	usbdev_attach(bus.slot[1].d, true);
	uint64_t begin = weft_now_ns();
	pthread_create(&thread, NULL, come_and_go, &told);
	assert_int_equal(weft_dev_watch(on_news, &news, 60000, msg), 42);
	uint64_t took = weft_now_ns() - begin;
	pthread_join(thread, NULL);
	sem_destroy(&told);
	assert_string_equal(news.text, "+" SERIAL " +" OTHER " -" OTHER " ");
	return (int)(took / 1000000);
}

static void test_watch(void **state)
{
	struct news news = { .stop_at = 9 };
	char msg[WEFT_DEV_MSG] = "";
	int best = 10000;

	(void)state;
	/*
	 * The driver looks by itself half a second after its last look, so coming and going take it a second at least. If they once
	 * take less, libusb has told it.
	 */
	for (int i = 0; i < 10 && best >= 900; i++) {
		int ms = watch_once();
		best = ms < best ? ms : best;
	}
	printf("seen after %d ms\n", best);
	fflush(stdout);
	assert_true(best < 900);
	/* Nothing happens: the time is over. */
	assert_int_equal(weft_dev_watch(on_news, &news, 20, msg), 0);
	assert_string_equal(news.text, "+" SERIAL " ");
}

/* A hub of USB 1.1 in port 3. */
static void plug_hub(void)
{
	static const char hub[] =
		"P: /devices/pci0000:00/0000:00:14.0/usb1/1-3\nN: bus/usb/001/020=" HUB_DESCRIPTORS "\nE: DEVTYPE=usb_device\n"
		"E: DRIVER=usb\nE: BUSNUM=001\nE: DEVNUM=020\nE: DEVNAME=/dev/bus/usb/001/020\nE: MAJOR=189\nE: MINOR=19\n"
		"E: SUBSYSTEM=usb\nE: PRODUCT=451/2077/100\nE: TYPE=9/0/0\nA: bConfigurationValue=1\\n\nA: bNumConfigurations=1\\n\n"
		"A: busnum=1\\n\nA: devnum=20\\n\nA: speed=12\\n\nH: descriptors=" HUB_DESCRIPTORS "\n\n";
	GError *err = NULL;

	if (!umockdev_testbed_add_from_string(bus.bed, hub, &err))
		fail_msg("%s", err->message);
}

static struct weft_usb_info usb_info(const char *serial)
{
	struct weft_usb_info u;
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;

	if (open_card(serial, &dev, msg))
		fail_msg("%s", msg);
	if (weft_dev_usb(dev, &u))
		fail_msg("%s", weft_dev_error(dev));
	weft_dev_close(dev);
	return u;
}

/* Descriptors come from the card, speed and port from the host's system. */
static void test_usb_info(void **state)
{
	struct slot *other = &bus.slot[1];
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;

	(void)state;
	struct weft_usb_info u = usb_info(SERIAL);
	assert_int_equal(u.vendor, WEFT_USB_VENDOR_ID);
	assert_int_equal(u.product_id, WEFT_USB_PRODUCT_ID);
	assert_int_equal(u.usb_bcd, WEFT_USB_USB_BCD);
	assert_int_equal(u.device_bcd, WEFT_USB_DEVICE_BCD);
	assert_string_equal(u.manufacturer, WEFT_USB_MANUFACTURER);
	assert_string_equal(u.product, WEFT_USB_PRODUCT);
	assert_string_equal(u.serial, SERIAL);
	assert_int_equal(u.packet_0, 64);
	assert_int_equal(u.packet_in, WEFT_USB_PACKET_HIGH);
	assert_int_equal(u.packet_out, WEFT_USB_PACKET_HIGH);
	assert_true(u.high_capable);
	assert_int_equal(u.speed, WEFT_USB_SPEED_HIGH);
	assert_int_equal(u.hub_speed, WEFT_USB_SPEED_UNKNOWN);
	assert_string_equal(u.port, "1-1");

	plug_hub();
	other->port = "1-3/1-3.1";
	other->speed = "12";
	usbdev_attach(other->d, true);
	plug(other, 21);
	u = usb_info(OTHER);
	assert_int_equal(u.speed, WEFT_USB_SPEED_FULL);
	assert_int_equal(u.hub_speed, WEFT_USB_SPEED_FULL);
	assert_string_equal(u.port, "1-3.1");
	unplug(other);
	umockdev_testbed_remove_device(bus.bed, "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-3");

	/* What is no descriptor is said to be none. */
	assert_int_equal(open_card(SERIAL, &dev, msg), 0);
	CARD->garble = 2;
	assert_int_equal(weft_dev_usb(dev, &u), -EIO);
	assert_string_equal(weft_dev_error(dev), "usb: the card's configuration descriptor cannot be read: Input/output error");
	CARD->garble = 1;
	assert_int_equal(weft_dev_usb(dev, &u), -EIO);
	assert_non_null(strstr(weft_dev_error(dev), "device descriptor"));
	CARD->garble = 3;
	assert_int_equal(weft_dev_usb(dev, &u), 0);
	assert_string_equal(u.serial, "");
	CARD->garble = 6;
	assert_int_equal(weft_dev_usb(dev, &u), 0);
	assert_false(u.high_capable);
	CARD->garble = 0;
	weft_dev_close(dev);
	good_run();
}

/* The same card at full speed, through the Verilated USB device; an endpoint that stalls is no failure there either. */
static void test_full_speed(void **state)
{
	const struct weft_usb_phy_ops *phy = usb_phy_ops();
	struct usbdev_fault f[2] = { { .kind = USBDEV_STALL, .at = 6 }, { .kind = USBDEV_STALL, .at = 9 } };

	(void)state;
	assert_non_null(phy);
	expect(3);
	unplug(CARD);
	swap_card(f, 2);
	void *device = phy->open(&stub_chip, CARD->chip, SERIAL);
	assert_non_null(device);
	usbdev_use_phy(CARD->d, phy, device);
	CARD->speed = "12";
	plug(CARD, 30);
	good_run();
	assert_true(f[0].done && f[1].done);
	struct weft_usb_info u = usb_info(SERIAL);
	assert_int_equal(u.speed, WEFT_USB_SPEED_FULL);
	assert_int_equal(u.packet_in, WEFT_USB_PACKET_FULL);
	assert_int_equal(u.packet_out, WEFT_USB_PACKET_FULL);
	assert_false(u.high_capable);
	assert_string_equal(u.serial, SERIAL);
	good_run();
	unplug(CARD);
	swap_card(NULL, 0);
	phy->close(device);
	CARD->speed = "480";
	plug(CARD, 31);
	good_run();
}

/* An endpoint has stalled, and the device is closed while the kernel still ends that halt. */
static void test_close_in_halt(void **state)
{
	struct random_stream s;

	(void)state;
	CARD->n_halts = 0;
	expect(3);
	random_stream_make(&s, 3, weft_config_find("w16"));
	for (uint64_t at = 3; at < 7; at++) {
		struct usbdev_fault f = { .kind = USBDEV_STALL, .at = at };
		struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
		struct weft_job_result r = { 0 };
		char msg[WEFT_DEV_MSG] = "";
		weft_dev *dev = NULL;
		weft_job job;
		swap_card(&f, 1);
		assert_int_equal(open_card("", &dev, msg), 0);
		assert_int_equal(weft_buf_alloc(dev, s.n_consts, &win[0].buf), 0);
		assert_int_equal(weft_buf_alloc(dev, s.n_arena, &win[1].buf), 0);
		CARD->slow_halt_ms = 300;
		assert_int_equal(weft_submit(dev, s.words, s.n_words, win, 2, &job), 0);
		assert_int_equal(weft_finish(dev, job, 60, &r), 0);
		weft_buf_free(win[0].buf);
		weft_buf_free(win[1].buf);
		weft_dev_close(dev);
		CARD->slow_halt_ms = 0;
		assert_true(f.done);
		swap_card(NULL, 0);
		good_run();
	}
	assert_true(CARD->n_halts >= 4);
	random_stream_free(&s);
}

static void *plug_later(void *arg)
{
	(void)arg;
	usleep(100000);
	plug(CARD, 9);
	return NULL;
}

/* A process that waits for its card gets it as soon as it is there. */
static void test_wait(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;
	pthread_t thread;

	(void)state;
	expect(3);
	unplug(CARD);
	swap_card(NULL, 0);
	o.kind = WEFT_DEV_USB;
	o.usb = SERIAL;
	o.usb_wait_ms = 30;
	assert_int_equal(weft_dev_open(&o, &dev, msg), -ENODEV);
	o.usb_wait_ms = 5000;
	pthread_create(&thread, NULL, plug_later, NULL);
	int err = weft_dev_open(&o, &dev, msg);
	pthread_join(thread, NULL);
	if (err)
		fail_msg("%s", msg);
	assert_int_equal(run_stream(dev, 3, want), 0);
	weft_dev_close(dev);
}

/*
 * A card's node is there before udev says who may open it: the driver tries again and again, and not only when a
 * card comes.
 */
static void test_barred(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;

	(void)state;
	o.kind = WEFT_DEV_USB;
	o.usb = SERIAL;
	o.usb_wait_ms = 20;
	lib.barred = 1000;
	assert_int_equal(weft_dev_open(&o, &dev, msg), -EACCES);
	o.usb_wait_ms = 10000;
	lib.barred = 12;
	if (weft_dev_open(&o, &dev, msg))
		fail_msg("%s", msg);
	assert_int_equal(lib.barred, 0);
	expect(3);
	assert_int_equal(run_stream(dev, 3, want), 0);
	weft_dev_close(dev);
}

/* Transfers lie in memory that the kernel maps for them, if there is any behind its mapping. */
static void test_mapped_memory(void **state)
{
	char msg[WEFT_DEV_MSG] = "";

	(void)state;
	expect(3);
	for (lib.memory = REAL_MEMORY; lib.memory <= EMPTY_FILE; lib.memory++) {
		weft_dev *dev = NULL;

		lib.given = lib.taken_back = 0;
		if (open_card("", &dev, msg))
			fail_msg("%s", msg);
		assert_int_equal(run_stream(dev, 3, want), 0);
		assert_true(lib.given > 0);
		assert_int_equal(lib.taken_back, lib.memory == REAL_MEMORY ? 0 : lib.given);
		weft_dev_close(dev);
		assert_int_equal(lib.taken_back, lib.given);
	}
	lib.memory = NO_MEMORY;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list), cmocka_unit_test(test_hostile_serial), cmocka_unit_test(test_broker), cmocka_unit_test(test_run), cmocka_unit_test(test_faults),
		cmocka_unit_test(test_no_memory), cmocka_unit_test(test_unplug), cmocka_unit_test(test_two), cmocka_unit_test(test_several), cmocka_unit_test(test_same_serial),
		cmocka_unit_test(test_watch), cmocka_unit_test(test_wait), cmocka_unit_test(test_usb_info), cmocka_unit_test(test_full_speed),
		cmocka_unit_test(test_close_in_halt), cmocka_unit_test(test_barred),
		cmocka_unit_test(test_mapped_memory),
	};

	(void)argc;
	if (!getenv("WEFT_UMOCKDEV")) {
		setenv("LD_PRELOAD", "libumockdev-preload.so.0", 1);
		setenv("WEFT_UMOCKDEV", "1", 1);
		execv("/proc/self/exe", argv);
		return 1;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

#endif

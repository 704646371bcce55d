/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cards that mean ill (tests/support/fake_card.h) on a USB: the driver and libusb as they are, over a usbfs that umockdev
 * pretends. Each ioctl arrives here and becomes a packet for the card's process. Its behaviours are those of
 * card/hostile_card but for the ones of the socket itself; with make check each meets two of the calls, else all. A minute.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* The sanitizers' library wants to be preloaded first, and so does umockdev's. */
#if !defined(HAVE_UMOCKDEV) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

#include "tests/support/umockdev_absent.h"

#else

#include <errno.h>
#include <linux/usbdevice_fs.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <umockdev.h>
#include <unistd.h>
#include <usbredirproto.h>

#include "tests/support/level.h"
#include "tests/support/meet_card.h"
#include "weft/gen/msg.h"

#define NODE "/dev/bus/usb/001/002"
#define SYSFS "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1"
#define SYNC_MS 300            /* an ioctl that waits for the card does so for so long */
#define MAX_PACKET (64u << 20)

/* A transfer. The card's process knows it by a number. */
struct urb {
	struct urb *next;
	uint64_t id;
	UMockdevIoctlData *data, *buffer;
	int status;
	uint32_t actual;
	bool in, over;
};

/* The bus, with the one card on it. */
static struct {
	UMockdevTestbed *bed;
	UMockdevIoctlBase *handler;
	pid_t pid;
	char path[100];
	int fd;                    /* to the card's process */
	bool gone;                 /* it has ended */
	uint64_t next_id;
	struct urb *urbs;
	uint8_t *rx;               /* what came and is not a whole packet */
	size_t n_rx;
} bus;

/* ---- packets ---- */

static void send_packet(uint32_t type, uint64_t id, const void *head, size_t n_head, const void *data, size_t n)
{
	const struct usb_redir_header h = { .type = type, .length = (uint32_t)(n_head + n), .id = id };
	struct { const void *p; size_t n; } parts[] = { { &h, sizeof(h) }, { head, n_head }, { data, n } };

	for (size_t i = 0; i < 3; i++)
		for (size_t at = 0; at < parts[i].n && !bus.gone; ) {
			const ssize_t k = send(bus.fd, (const char *)parts[i].p + at, parts[i].n - at, MSG_NOSIGNAL);
			bus.gone = k < 0;
			at += k > 0 ? (size_t)k : 0;
		}
}

static int errno_of(uint8_t status)
{
	switch (status) {
	case usb_redir_success:   return 0;
	case usb_redir_stall:     return -EPIPE;
	case usb_redir_cancelled: return -ENOENT;
	default:                  return -EPROTO;
	}
}

/* The card's answer to that transfer: so many bytes at p, of which it says that they are n_said. */
static void answer(uint64_t id, uint8_t status, uint32_t n_said, const uint8_t *p, uint32_t n)
{
	struct urb *u = bus.urbs;

	while (u && (u->id != id || u->over))
		u = u->next;
	if (!u)                    /* it was cancelled */
		return;
	const struct usbdevfs_urb *k = (const struct usbdevfs_urb *)u->data->data;
	const uint32_t room = (uint32_t)k->buffer_length - (k->type == USBDEVFS_URB_TYPE_CONTROL ? 8 : 0);
	u->over = true;
	u->status = errno_of(status);
	u->actual = u->in ? n : n_said;
	if (u->actual > room) {    /* a card that goes on talking is cut off by the bus */
		u->actual = room;
		u->status = -EOVERFLOW;
	}
	if (u->in && u->actual)
		umockdev_ioctl_data_update(u->buffer, k->type == USBDEVFS_URB_TYPE_CONTROL ? 8 : 0, (guint8 *)(uintptr_t)p, (gint)u->actual);
}

static void take_packet(const struct usb_redir_header *h, const uint8_t *p)
{
	struct usb_redir_control_packet_header c;
	struct usb_redir_bulk_packet_header b;

	if (h->type == usb_redir_control_packet && h->length >= sizeof(c)) {
		memcpy(&c, p, sizeof(c));
		answer(h->id, c.status, c.length, p + sizeof(c), h->length - (uint32_t)sizeof(c));
	} else if (h->type == usb_redir_bulk_packet && h->length >= sizeof(b)) {
		memcpy(&b, p, sizeof(b));
		answer(h->id, b.status, (uint32_t)b.length_high << 16 | b.length, p + sizeof(b), h->length - (uint32_t)sizeof(b));
	}
}

/* Takes what the card has sent, after waiting for it no longer than that. */
static void receive(int wait_ms)
{
	static uint8_t room[1 << 18];
	struct pollfd p = { bus.fd, POLLIN, 0 };
	struct usb_redir_header h;
	ssize_t n;

	if (bus.gone || poll(&p, 1, wait_ms) <= 0)
		return;
	while ((n = recv(bus.fd, room, sizeof(room), MSG_DONTWAIT)) > 0) {
		bus.rx = realloc(bus.rx, bus.n_rx + (size_t)n);
		memcpy(bus.rx + bus.n_rx, room, (size_t)n);
		bus.n_rx += (size_t)n;
	}
	bus.gone = !n || errno != EAGAIN;
	while (bus.n_rx >= sizeof(h)) {
		memcpy(&h, bus.rx, sizeof(h));
		if (h.length > MAX_PACKET || bus.n_rx < sizeof(h) + h.length) {
			bus.gone |= h.length > MAX_PACKET;
			return;
		}
		take_packet(&h, bus.rx + sizeof(h));
		bus.n_rx -= sizeof(h) + h.length;
		memmove(bus.rx, bus.rx + sizeof(h) + h.length, bus.n_rx);
	}
}

/* ---- usbfs ---- */

static void control(struct urb *u)
{
	const uint8_t *s = u->buffer->data;
	const struct usb_redir_control_packet_header h = { .endpoint = s[0] & 0x80, .requesttype = s[0], .request = s[1],
		.value = (uint16_t)(s[2] | s[3] << 8), .index = (uint16_t)(s[4] | s[5] << 8), .length = (uint16_t)(s[6] | s[7] << 8) };

	u->in = s[0] & 0x80;
	send_packet(usb_redir_control_packet, u->id, &h, sizeof(h), s + 8, u->in ? 0 : h.length);
}

static void bulk(struct urb *u, const struct usbdevfs_urb *k)
{
	const uint32_t n = (uint32_t)k->buffer_length;
	const struct usb_redir_bulk_packet_header h = { .endpoint = k->endpoint, .length = (uint16_t)n, .length_high = (uint16_t)(n >> 16) };

	u->in = k->endpoint & 0x80;
	send_packet(usb_redir_bulk_packet, u->id, &h, sizeof(h), u->buffer->data, u->in ? 0 : n);
}

static int submit(UMockdevIoctlData *arg)
{
	struct urb *u = calloc(1, sizeof(*u)), **last = &bus.urbs;

	u->data = umockdev_ioctl_data_resolve(arg, 0, sizeof(struct usbdevfs_urb), NULL);
	const struct usbdevfs_urb *k = (const struct usbdevfs_urb *)u->data->data;
	u->buffer = umockdev_ioctl_data_resolve(u->data, offsetof(struct usbdevfs_urb, buffer), (gsize)k->buffer_length, NULL);
	u->id = ++bus.next_id;
	while (*last)
		last = &(*last)->next;
	*last = u;
	if (k->type == USBDEVFS_URB_TYPE_CONTROL)
		control(u);
	else
		bulk(u, k);
	return bus.gone ? -ENODEV : 0;
}

static void forget(struct urb **p)
{
	struct urb *u = *p;

	*p = u->next;
	umockdev_ioctl_data_unref(u->data);
	umockdev_ioctl_data_unref(u->buffer);
	free(u);
}

static struct urb **find_over(void)
{
	struct urb **p = &bus.urbs;

	while (*p && !(*p)->over)
		p = &(*p)->next;
	return *p ? p : NULL;
}

/* The node is always ready, so that libusb comes again and again: it waits a moment in here. */
static int reap(UMockdevIoctlData *arg)
{
	if (!find_over())
		receive(1);
	struct urb **p = find_over();
	if (!p)
		return bus.gone ? -ENODEV : -EAGAIN;
	struct urb *u = *p;
	umockdev_ioctl_data_update(u->data, offsetof(struct usbdevfs_urb, status), (guint8 *)&u->status, sizeof(u->status));
	umockdev_ioctl_data_update(u->data, offsetof(struct usbdevfs_urb, actual_length), (guint8 *)&u->actual, sizeof(u->actual));
	UMockdevIoctlData *out = umockdev_ioctl_data_resolve(arg, 0, sizeof(gpointer), NULL);
	umockdev_ioctl_data_set_ptr(out, 0, u->data);
	umockdev_ioctl_data_unref(out);
	forget(p);
	return 0;
}

/* A kernel gives a transfer back whatever the card does. */
static int discard(UMockdevIoctlData *arg)
{
	const gulong which = *(gulong *)arg->data;
	struct urb *u = bus.urbs;

	while (u && (u->data->client_addr != which || u->over))
		u = u->next;
	if (!u)
		return -EINVAL;
	send_packet(usb_redir_cancel_data_packet, u->id, NULL, 0, NULL, 0);
	u->over = true;
	u->status = -ENOENT;
	return 0;
}

/* CLEAR_FEATURE, which a kernel waits for. */
static int clear_halt(UMockdevIoctlData *arg)
{
	UMockdevIoctlData *ep = umockdev_ioctl_data_resolve(arg, 0, sizeof(unsigned), NULL);
	uint8_t setup[8] = { 2, 1, 0, 0, ep->data[0] };
	struct usbdevfs_urb k = { .type = USBDEVFS_URB_TYPE_CONTROL, .buffer_length = 8 };
	UMockdevIoctlData data = { .data = (guint8 *)&k }, buffer = { .data = setup };
	struct urb u = { .id = ++bus.next_id, .data = &data, .buffer = &buffer, .next = bus.urbs };

	umockdev_ioctl_data_unref(ep);
	bus.urbs = &u;
	control(&u);
	for (int i = 0; i < SYNC_MS && !u.over && !bus.gone; i++)
		receive(1);
	struct urb **p = &bus.urbs;
	while (*p != &u)
		p = &(*p)->next;
	*p = u.next;
	return bus.gone ? -ENODEV : u.over ? u.status : -ETIMEDOUT;
}

static int one(gulong request, UMockdevIoctlData *arg)
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
	case USBDEVFS_RELEASEINTERFACE:
	case USBDEVFS_SETCONFIGURATION:
		return 0;
	case USBDEVFS_CLEAR_HALT:
		return clear_halt(arg);
	case USBDEVFS_SUBMITURB:
		return submit(arg);
	case USBDEVFS_REAPURB:
	case USBDEVFS_REAPURBNDELAY:
		return reap(arg);
	case USBDEVFS_DISCARDURB:
		return discard(arg);
	case USBDEVFS_GETDRIVER:
		return -ENODATA;
	default:
		return -ENOTTY;
	}
}

/* All of them come from one thread of the testbed. */
static gboolean on_ioctl(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer user)
{
	(void)handler;
	(void)user;
	const int r = one(umockdev_ioctl_client_get_request(client), umockdev_ioctl_client_get_arg(client));
	umockdev_ioctl_client_complete(client, r < 0 ? -1 : 0, r < 0 ? -r : 0);
	return TRUE;
}

/* ---- the bus ---- */

static void print_descriptor(char **p, enum weft_usb_descriptor which)
{
	size_t n;
	const uint8_t *data = weft_usb_descriptor(which, &n);

	for (size_t i = 0; i < n; i++)
		*p += sprintf(*p, "%02X", data[i]);
}

static bool plug(void)
{
	char text[2048], hex[512] = "", *p = hex;

	print_descriptor(&p, WEFT_USB_DESCRIPTOR_DEVICE);
	print_descriptor(&p, WEFT_USB_DESCRIPTOR_CONFIG);
	snprintf(text, sizeof(text),
	         "P: %s\nN: bus/usb/001/002=%s\nE: DEVTYPE=usb_device\nE: DRIVER=usb\nE: BUSNUM=001\nE: DEVNUM=002\n"
	         "E: DEVNAME=" NODE "\nE: MAJOR=189\nE: MINOR=1\nE: SUBSYSTEM=usb\nE: PRODUCT=1209/1/100\nE: TYPE=255/0/0\n"
	         "A: bConfigurationValue=1\\n\nA: bNumConfigurations=1\\n\nA: busnum=1\\n\nA: devnum=2\\n\nA: speed=480\\n\n"
	         "A: serial=ILL0001\\n\nA: product=" WEFT_USB_PRODUCT "\\n\nH: descriptors=%s\n\n", SYSFS + 4, hex, hex);
	bus.bed = umockdev_testbed_new();
	bus.handler = umockdev_ioctl_base_new();
	g_signal_connect(bus.handler, "handle-ioctl", G_CALLBACK(on_ioctl), NULL);
	return umockdev_testbed_add_from_string(bus.bed, text, NULL) && umockdev_testbed_attach_ioctl(bus.bed, NODE, bus.handler, NULL);
}

/* The greeting of a host, as usb-redir has it. */
static void greet(void)
{
	const struct usb_redir_hello_header h = { .version = "a bus" };
	const uint32_t caps = 1u << usb_redir_cap_connect_device_version | 1u << usb_redir_cap_ep_info_max_packet_size |
	                      1u << usb_redir_cap_64bits_ids | 1u << usb_redir_cap_32bits_bulk_length;
	const uint32_t head[3] = { usb_redir_hello, sizeof(h) + sizeof(caps), 0 };
	uint8_t all[sizeof(head) + sizeof(h) + sizeof(caps)];

	memcpy(all, head, sizeof(head));
	memcpy(all + sizeof(head), &h, sizeof(h));
	memcpy(all + sizeof(head) + sizeof(h), &caps, sizeof(caps));
	bus.gone = send(bus.fd, all, sizeof(all), MSG_NOSIGNAL) != sizeof(all);
	/* Its own, which has a shorter head than what follows. */
	bus.gone |= recv(bus.fd, all, sizeof(all), MSG_WAITALL) != sizeof(all);
}

/* ---- meetings ---- */

static bool come(int b, char *usb, size_t len)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	usb[0] = '\0';             /* the one on the bus */
	(void)len;
	test_path(bus.path, sizeof(bus.path), "ill-%d-%d.sock", b, (int)getpid());
	bus.pid = fake_card_start(bus.path, (enum fake_behaviour)b);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", bus.path);
	bus.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bus.pid < 0 || connect(bus.fd, (struct sockaddr *)&a, sizeof(a)))
		return false;
	greet();
	return plug() && !bus.gone;
}

static void go(void)
{
	kill(bus.pid, SIGKILL);
	waitpid(bus.pid, NULL, 0);
	unlink(bus.path);
	umockdev_testbed_detach_ioctl(bus.bed, NODE, NULL);
	g_object_unref(bus.handler);
	g_object_unref(bus.bed);
}

/* With make check each behaviour meets a run, and another call. */
static bool meets(int b, int call)
{
	return b < FAKE_sock_close && b != FAKE_interval && (test_level() > 0 || b == FAKE_none || call == RUN || call == b % RUN);
}

static void behaviours(void **state)
{
	static const struct meet_way way = { .timeout_ms = 40, .boot_ms = 160, .call_ms = 400, .slack_ms = 3000, .at_once = 4,
		.meets = meets, .come = come, .go = go };
	struct tally t = { 0 };
	int n = 0;

	(void)state;
	meet_everybody(&way, &t);
	for (int b = 1; b < FAKE_N; b++)
		n += meets(b, RUN);
	printf("%d behaviours, %u meetings: %u right, %u refused, %u lied to; slowest call %u ms; %d bad\n", n, t.met, t.right, t.refused,
	       t.lied, t.slowest, t.bad);
	fflush(stdout);
	assert_true(n >= 60);
	for (int c = 0; c < N_CALLS; c++)
		if (!meet_outcome(FAKE_none, c)->right)
			fail_msg("a good card, %s: %s", call_names[c], meet_outcome(FAKE_none, c)->what);
	assert_true(meet_outcome(FAKE_ack_dup, RUN)->right);
	assert_true(meet_outcome(FAKE_done_dup, RUN)->right);
	assert_true(meet_outcome(FAKE_write_crc_once, RUN)->right);
	assert_true(meet_outcome(FAKE_submit_full_once, RUN)->right);
	assert_int_equal(t.bad, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(behaviours) };

	(void)argc;
	if (!getenv("WEFT_UMOCKDEV")) {
		setenv("LD_PRELOAD", "libumockdev-preload.so.0", 1);
		setenv("WEFT_UMOCKDEV", "1", 1);
		execv("/proc/self/exe", argv);
		return 1;
	}
	return cmocka_run_group_tests(tests, meet_setup, meet_teardown);
}

#endif

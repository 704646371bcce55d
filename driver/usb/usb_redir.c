/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport: a simulated card behind a Unix socket, speaking usb-redir as QEMU
 * does. For a host process without a USB of its own: tests, and `--device
 * usb:@PATH`.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <usbredirparser.h>

#include "driver/sys.h"
#include "driver/clock.h"
#include "usb.h"
#include "weft/gen/msg.h"

#define N_FLIGHTS 64
/* Bytes that one poll() takes at most: a server that sends without end keeps nobody. */
#define READ_MAX (8u << 20)

struct redir {
	int fd;
	struct usbredirparser *p;
	bool connected, gone;
	char refused[64];          /* by whom it is used */
	uint64_t next_id;
	struct { uint64_t id; struct weft_xfer *x; } flight[N_FLIGHTS];
	unsigned n_done;
	size_t n_read;             /* in this poll() */
	enum weft_usb_speed speed;
};

static int status_of(int s)
{
	switch (s) {
	case usb_redir_success:   return 0;
	case usb_redir_cancelled: return -ECANCELED;
	case usb_redir_stall:     return -EPIPE;
	default:                  return -EIO;
	}
}

/* ---- what the parser calls ---- */

static void on_log(void *priv, int level, const char *text)
{
	(void)priv;
	(void)level;
	(void)text;                /* a library does not print; errors show as a lost connection */
}

static int on_read(void *priv, uint8_t *data, int count)
{
	struct redir *t = priv;

	if (t->n_read >= READ_MAX)
		return 0;
	ssize_t n = recv(t->fd, data, (size_t)count, MSG_DONTWAIT);
	if (n > 0) {
		t->n_read += (size_t)n;
		return (int)n;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	t->gone = true;
	return -1;
}

static int on_write(void *priv, uint8_t *data, int count)
{
	struct redir *t = priv;
	ssize_t n = send(t->fd, data, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n >= 0)
		return (int)n;
	return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

/* The card's server says so in its greeting when another client is there. */
static void on_hello(void *priv, struct usb_redir_hello_header *h)
{
	struct redir *t = priv;

	if (!strncmp(h->version, "in use by ", 10))
		snprintf(t->refused, sizeof(t->refused), "%.60s", h->version);
}

static void on_connect(void *priv, struct usb_redir_device_connect_header *h)
{
	struct redir *t = priv;

	t->connected = h->vendor_id == WEFT_USB_VENDOR_ID && h->product_id == WEFT_USB_PRODUCT_ID;
	t->speed = h->speed == usb_redir_speed_low ? WEFT_USB_SPEED_LOW : h->speed == usb_redir_speed_full ? WEFT_USB_SPEED_FULL :
	           h->speed == usb_redir_speed_high ? WEFT_USB_SPEED_HIGH : h->speed == usb_redir_speed_super ? WEFT_USB_SPEED_SUPER :
	           WEFT_USB_SPEED_UNKNOWN;
}

static void on_disconnect(void *priv)
{
	((struct redir *)priv)->gone = true;
}

static void on_interface_info(void *priv, struct usb_redir_interface_info_header *h)
{
	(void)priv;
	(void)h;
}

static void on_ep_info(void *priv, struct usb_redir_ep_info_header *h)
{
	(void)priv;
	(void)h;
}

static struct weft_xfer *take(struct redir *t, uint64_t id)
{
	for (int i = 0; i < N_FLIGHTS; i++) {
		struct weft_xfer *x = t->flight[i].x;
		if (x && t->flight[i].id == id) {
			t->flight[i].x = NULL;
			return x;
		}
	}
	return NULL;
}

static void finish(struct redir *t, struct weft_xfer *x, int status, uint32_t actual)
{
	x->status = status;
	x->actual = actual;
	x->busy = false;
	t->n_done++;
	x->done(x);
}

static void on_control(void *priv, uint64_t id, struct usb_redir_control_packet_header *h, uint8_t *data, int len)
{
	struct redir *t = priv;
	struct weft_xfer *x = take(t, id);

	if (x && len > 0 && x->request_type & 0x80)
		memcpy(x->data, data, (uint32_t)len < x->len ? (uint32_t)len : x->len);
	usbredirparser_free_packet_data(t->p, data);
	if (x)
		finish(t, x, status_of(h->status), (uint32_t)len < x->len ? (uint32_t)len : x->len);
}

static void on_bulk(void *priv, uint64_t id, struct usb_redir_bulk_packet_header *h, uint8_t *data, int len)
{
	struct redir *t = priv;
	struct weft_xfer *x = take(t, id);
	uint32_t n = (uint32_t)h->length_high << 16 | h->length;

	if (x && x->kind == WEFT_XFER_IN) {
		n = (uint32_t)len < x->len ? (uint32_t)len : x->len;
		if (n)
			memcpy(x->data, data, n);
	}
	usbredirparser_free_packet_data(t->p, data);
	if (x)
		finish(t, x, status_of(h->status), n);
}

/* ---- the transport ---- */

/* Move bytes until something was called back or that time. */
static void turn(struct redir *t, uint64_t until_ns)
{
	for (;;) {
		unsigned before = t->n_done;
		t->n_read = 0;
		/* What it said before it closed, such as who is there, is still to be read. */
		bool closed = usbredirparser_has_data_to_write(t->p) && usbredirparser_do_write(t->p);
		if (!t->gone && usbredirparser_do_read(t->p) == usbredirparser_read_parse_error)
			t->gone = true;
		t->gone = t->gone || closed;
		uint64_t now = weft_now_ns();
		if (t->gone || t->n_done != before || now >= until_ns)
			return;
		struct pollfd p = { t->fd, POLLIN, 0 };
		if (usbredirparser_has_data_to_write(t->p))
			p.events |= POLLOUT;
		uint64_t ns = until_ns - now;
		int ms = ns > 1000000000 ? 1000 : (int)((ns + 999999) / 1000000);
		poll(&p, 1, ms);
	}
}

static int dial(const char *path, char *msg)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd, err = 0;

	if (strlen(path) >= sizeof(a.sun_path)) {
		snprintf(msg, WEFT_DEV_MSG, "usb: socket path \"%.60s...\" is too long", path);
		return -EINVAL;
	}
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		err = -errno;
	if (err) {
		snprintf(msg, WEFT_DEV_MSG, "usb: no simulated card answers at %.120s: %s", path, weft_sys_error(err));
		if (fd >= 0)
			close(fd);
		return err == -ENOENT || err == -ECONNREFUSED ? -ENODEV : err;
	}
	int size = 1 << 20;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return fd;
}

/*
 * A card may also send packets that nothing here asks for. The parser calls the callback of a packet's type even if it
 * is NULL, so each type has a function. IGNORED defines one that does nothing, DROPPED one that frees the packet's data.
 */
#define IGNORED(name, header) \
	static void name(void *priv, uint64_t id, struct header *h) \
	{ \
		(void)priv; \
		(void)id; \
		(void)h; \
	}
#define DROPPED(name, header) \
	static void name(void *priv, uint64_t id, struct header *h, uint8_t *data, int len) \
	{ \
		(void)id; \
		(void)h; \
		(void)len; \
		usbredirparser_free_packet_data(((struct redir *)priv)->p, data); \
	}
IGNORED(on_configuration, usb_redir_configuration_status_header)
IGNORED(on_alt_setting, usb_redir_alt_setting_status_header)
IGNORED(on_iso_stream, usb_redir_iso_stream_status_header)
IGNORED(on_interrupt_receiving, usb_redir_interrupt_receiving_status_header)
IGNORED(on_bulk_streams, usb_redir_bulk_streams_status_header)
IGNORED(on_bulk_receiving, usb_redir_bulk_receiving_status_header)
DROPPED(on_iso, usb_redir_iso_packet_header)
DROPPED(on_interrupt, usb_redir_interrupt_packet_header)
DROPPED(on_buffered_bulk, usb_redir_buffered_bulk_packet_header)

/* Frees the rules, which belong to it. */
static void on_filter(void *priv, struct usbredirfilter_rule *rules, int count)
{
	(void)priv;
	(void)count;
	free(rules);
}

static struct usbredirparser *new_parser(struct redir *t)
{
	uint32_t caps[USB_REDIR_CAPS_SIZE] = { 0 };
	struct usbredirparser *p = usbredirparser_create();

	if (!p)
		return NULL;
	p->priv = t;
	p->log_func = on_log;
	p->read_func = on_read;
	p->write_func = on_write;
	p->hello_func = on_hello;
	p->device_connect_func = on_connect;
	p->device_disconnect_func = on_disconnect;
	p->interface_info_func = on_interface_info;
	p->ep_info_func = on_ep_info;
	p->control_packet_func = on_control;
	p->bulk_packet_func = on_bulk;
	p->configuration_status_func = on_configuration;
	p->alt_setting_status_func = on_alt_setting;
	p->iso_stream_status_func = on_iso_stream;
	p->interrupt_receiving_status_func = on_interrupt_receiving;
	p->bulk_streams_status_func = on_bulk_streams;
	p->bulk_receiving_status_func = on_bulk_receiving;
	p->iso_packet_func = on_iso;
	p->interrupt_packet_func = on_interrupt;
	p->buffered_bulk_packet_func = on_buffered_bulk;
	p->filter_filter_func = on_filter;
	usbredirparser_caps_set_cap(caps, usb_redir_cap_connect_device_version);
	usbredirparser_caps_set_cap(caps, usb_redir_cap_ep_info_max_packet_size);
	usbredirparser_caps_set_cap(caps, usb_redir_cap_64bits_ids);
	usbredirparser_caps_set_cap(caps, usb_redir_cap_32bits_bulk_length);
	usbredirparser_init(p, "weft", caps, USB_REDIR_CAPS_SIZE, 0);
	return p;
}

static void redir_close(void *tt)
{
	struct redir *t = tt;

	if (t->p)
		usbredirparser_destroy(t->p);
	close(t->fd);
	free(t);
}

static int redir_open(const char *where, uint64_t deadline_ns, void **out, char *msg)
{
	const char *path = where[0] == '@' ? where + 1 : where;
	struct redir *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->fd = dial(path, msg);
	if (t->fd < 0) {
		int err = t->fd;
		free(t);
		return err;
	}
	t->p = new_parser(t);
	while (t->p && !t->connected && !t->gone && !t->refused[0] && weft_now_ns() < deadline_ns)
		turn(t, weft_now_ns() + 10000000);
	if (t->connected) {
		*out = t;
		return 0;
	}
	int err = t->refused[0] ? -EBUSY : !t->p ? -ENOMEM : -ENODEV;
	if (t->refused[0])
		snprintf(msg, WEFT_DEV_MSG, "usb: card at %.100s is %s", path, t->refused);
	else
		snprintf(msg, WEFT_DEV_MSG, "usb: no card is plugged in at %.100s", path);
	redir_close(t);
	return err;
}

static void send_control(struct redir *t, uint64_t id, const struct weft_xfer *x)
{
	struct usb_redir_control_packet_header h = { .endpoint = x->request_type & 0x80, .request = x->request,
		.requesttype = x->request_type, .value = x->value, .index = x->index, .length = (uint16_t)x->len };

	if (x->kind == WEFT_XFER_CLEAR_HALT)
		h = (struct usb_redir_control_packet_header){ .request = 1, .requesttype = 2, .index = x->value };
	bool out = !(h.requesttype & 0x80);
	usbredirparser_send_control_packet(t->p, id, &h, out && h.length ? x->data : NULL, out ? h.length : 0);
}

static int redir_submit(void *tt, struct weft_xfer *x)
{
	struct redir *t = tt;
	int i = 0;

	if (t->gone)
		return -ENODEV;
	while (i < N_FLIGHTS && t->flight[i].x)
		i++;
	if (i == N_FLIGHTS)
		return -EBUSY;
	uint64_t id = ++t->next_id;
	t->flight[i].id = id;
	t->flight[i].x = x;
	x->busy = true;
	if (x->kind == WEFT_XFER_CONTROL || x->kind == WEFT_XFER_CLEAR_HALT) {
		send_control(t, id, x);
	} else {
		bool in = x->kind == WEFT_XFER_IN;
		struct usb_redir_bulk_packet_header h = { .endpoint = in ? WEFT_USB_EP_IN : WEFT_USB_EP_OUT,
			.length = (uint16_t)x->len, .length_high = (uint16_t)(x->len >> 16) };
		usbredirparser_send_bulk_packet(t->p, id, &h, in ? NULL : x->data, in ? 0 : (int)x->len);
	}
	return 0;
}

/* The card answers that it was cancelled, or with what it had done. */
static void redir_cancel(void *tt, struct weft_xfer *x)
{
	struct redir *t = tt;

	for (int i = 0; i < N_FLIGHTS; i++)
		if (t->flight[i].x == x)
			usbredirparser_send_cancel_data_packet(t->p, t->flight[i].id);
}

static int redir_poll(void *tt, uint64_t until_ns)
{
	struct redir *t = tt;

	turn(t, until_ns);
	for (int i = 0; t->gone && i < N_FLIGHTS; i++) {
		struct weft_xfer *x = t->flight[i].x;
		t->flight[i].x = NULL;
		if (x)
			finish(t, x, -ENODEV, 0);
	}
	return 0;
}

/* What is to be sent may be waiting for room. */
static int redir_fds(void *tt, struct pollfd *out, int max)
{
	struct redir *t = tt;

	if (max < 1 || t->gone)
		return 0;
	out[0] = (struct pollfd){ .fd = t->fd, .events = POLLIN };
	if (usbredirparser_has_data_to_write(t->p))
		out[0].events |= POLLOUT;
	return 1;
}

/* The server tells the card's speed, and nothing of hubs. */
static void redir_place(void *tt, struct weft_usb_info *i)
{
	i->speed = ((const struct redir *)tt)->speed;
}

const struct weft_usb_ops weft_usb_redir = {
	.name = "redir",
	.open = redir_open,
	.close = redir_close,
	.submit = redir_submit,
	.cancel = redir_cancel,
	.poll = redir_poll,
	.fds = redir_fds,
	.disown = redir_close,
	.place = redir_place,
};

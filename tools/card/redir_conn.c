/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "redir_conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <usbredirparser.h>

#include "weft/gen/msg.h"

/* What one host may have here, beside what its limits say: bytes of one transfer, packets that it has not taken. */
#define DATA_MAX (4u << 20)
#define PACKETS_MAX 1024
/* Bytes that are taken at a time: a host that sends without end keeps nobody. */
#define READ_MAX (8u << 20)

struct redir_conn {
	struct usbdev *d;
	struct redir_limits limits;
	int fd;
	struct usbredirparser *p;
	bool shown, lost;          /* the host has been told of the device */
	uint64_t dropped[16];      /* control requests that are never answered */
	unsigned n_dropped;
	struct flight *all;
	unsigned n_flights;
	size_t bytes;              /* of all of them */
	size_t n_read;             /* at this time */
};

struct flight {
	struct usbdev_xfer u;      /* first */
	struct redir_conn *r;
	uint64_t id;
	struct usb_redir_bulk_packet_header h;
	struct flight *next;
	uint8_t *data;             /* the parser's (OUT) or ours (IN) */
};

static void on_log(void *priv, int level, const char *text)
{
	const struct redir_conn *r = priv;

	if (level <= usbredirparser_warning && !r->limits.quiet)
		fprintf(stderr, "weft-card: %s\n", text);
}

/* A host that does not take its answers is not listened to. */
static bool listening_to(const struct redir_conn *r)
{
	return !r->p || (usbredirparser_has_data_to_write(r->p) < PACKETS_MAX &&
	                 usbredirparser_get_bufferered_output_size(r->p) < r->limits.bytes);
}

static int on_read(void *priv, uint8_t *data, int count)
{
	struct redir_conn *r = priv;

	if (!listening_to(r) || r->n_read >= READ_MAX)
		return 0;
	/* The parser wants the rest of a packet, for which it has taken memory. */
	if (count > (int)DATA_MAX) {
		r->lost = true;
		return -1;
	}
	ssize_t n = recv(r->fd, data, (size_t)count, MSG_DONTWAIT);

	if (n > 0) {
		r->n_read += (size_t)n;
		return (int)n;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	r->lost = true;
	return -1;
}

static int on_write(void *priv, uint8_t *data, int count)
{
	struct redir_conn *r = priv;
	ssize_t n = send(r->fd, data, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n >= 0)
		return (int)n;
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	r->lost = true;
	return -1;
}

static void release(struct flight *f)
{
	struct flight **p = &f->r->all;

	while (*p != f)
		p = &(*p)->next;
	*p = f->next;
	f->r->n_flights--;
	f->r->bytes -= f->u.len;
	if (f->u.in)
		free(f->data);
	else if (f->r->p)
		usbredirparser_free_packet_data(f->r->p, f->data);
	free(f);
}

static int redir_status(int err)
{
	return !err ? usb_redir_success : err == -EPIPE ? usb_redir_stall : usb_redir_ioerror;
}

static void answer(struct flight *f, int status, uint32_t actual)
{
	struct usb_redir_bulk_packet_header h = f->h;

	h.status = (uint8_t)status;
	h.length = (uint16_t)actual;
	h.length_high = (uint16_t)(actual >> 16);
	usbredirparser_send_bulk_packet(f->r->p, f->id, &h, f->u.in ? f->data : NULL, f->u.in ? (int)actual : 0);
}

static void on_done(struct usbdev_xfer *u)
{
	struct flight *f = (struct flight *)u;

	/* A pulled device answers nothing; that it is gone is said once. */
	if (u->status != -ENODEV)
		answer(f, redir_status(u->status), u->actual);
	release(f);
}

static void on_bulk(void *priv, uint64_t id, struct usb_redir_bulk_packet_header *h, uint8_t *data, int len)
{
	struct redir_conn *r = priv;
	bool in = h->endpoint & 0x80;
	uint32_t n = (uint32_t)h->length_high << 16 | h->length;
	const uint32_t size = in ? n : (uint32_t)len;
	const bool fits = r->n_flights < r->limits.flights && n <= DATA_MAX && size <= r->limits.bytes - r->bytes;
	struct flight *f = fits ? calloc(1, sizeof(*f)) : NULL;
	uint8_t *buf = !in ? data : f ? malloc((size_t)n + 1) : NULL;

	if (!f || (in && !buf)) {
		answer(&(struct flight){ .r = r, .id = id, .h = *h }, usb_redir_ioerror, 0);
		if (in)
			free(buf);
		else
			usbredirparser_free_packet_data(r->p, data);
		free(f);
		return;
	}
	f->r = r;
	f->id = id;
	f->h = *h;
	f->data = buf;
	f->u = (struct usbdev_xfer){ .in = in, .data = f->data, .len = size, .done = on_done };
	f->next = r->all;
	r->all = f;
	r->n_flights++;
	r->bytes += size;
	if (h->endpoint == WEFT_USB_EP_IN || h->endpoint == WEFT_USB_EP_OUT) {
		usbdev_bulk(r->d, &f->u);
	} else {
		answer(f, usb_redir_inval, 0);
		release(f);
	}
}

static void on_control(void *priv, uint64_t id, struct usb_redir_control_packet_header *h, uint8_t *data, int len)
{
	struct redir_conn *r = priv;
	uint8_t buf[65536];
	const uint8_t setup[8] = { h->requesttype, h->request, (uint8_t)h->value, (uint8_t)(h->value >> 8),
		(uint8_t)h->index, (uint8_t)(h->index >> 8), (uint8_t)h->length, (uint8_t)(h->length >> 8) };

	if (len > 0)
		memcpy(buf, data, (size_t)len);
	usbredirparser_free_packet_data(r->p, data);
	bool refused = r->limits.refuse && r->limits.refuse(r->limits.user, setup);
	int n = refused ? -EPIPE : usbdev_control(r->d, setup, buf);
	if (n == -ETIMEDOUT)
		r->dropped[r->n_dropped++ % 16] = id;
	if (n == -ETIMEDOUT || n == -ENODEV)
		return;
	struct usb_redir_control_packet_header a = *h;
	a.status = (uint8_t)redir_status(n < 0 ? n : 0);
	a.length = n < 0 ? 0 : h->requesttype & 0x80 ? (uint16_t)n : h->length;
	bool in = h->requesttype & 0x80 && n > 0;
	usbredirparser_send_control_packet(r->p, id, &a, in ? buf : NULL, in ? n : 0);
}

/* One that was answered meanwhile needs no second answer. */
static void on_cancel(void *priv, uint64_t id)
{
	struct redir_conn *r = priv;

	for (struct flight *f = r->all; f; f = f->next) {
		if (f->id != id)
			continue;
		usbdev_cancel(r->d, &f->u);
		answer(f, usb_redir_cancelled, 0);
		release(f);
		return;
	}
	struct usb_redir_control_packet_header h = { .status = usb_redir_cancelled };
	for (int i = 0; i < 16; i++)
		if (r->dropped[i] == id)
			usbredirparser_send_control_packet(r->p, id, &h, NULL, 0);
}

static void on_reset(void *priv)
{
	usbdev_port_reset(((struct redir_conn *)priv)->d);
}

static void on_set_config(void *priv, uint64_t id, struct usb_redir_set_configuration_header *h)
{
	struct redir_conn *r = priv;
	const uint8_t setup[8] = { 0, 9, h->configuration };
	struct usb_redir_configuration_status_header a = { .configuration = h->configuration };

	a.status = (uint8_t)redir_status(usbdev_control(r->d, setup, NULL));
	usbredirparser_send_configuration_status(r->p, id, &a);
}

static void on_get_config(void *priv, uint64_t id)
{
	struct usb_redir_configuration_status_header a = { .configuration = 1 };

	usbredirparser_send_configuration_status(((struct redir_conn *)priv)->p, id, &a);
}

static void on_set_alt(void *priv, uint64_t id, struct usb_redir_set_alt_setting_header *h)
{
	struct usb_redir_alt_setting_status_header a = { .interface = h->interface, .alt = h->alt,
		.status = h->alt ? usb_redir_inval : usb_redir_success };

	usbredirparser_send_alt_setting_status(((struct redir_conn *)priv)->p, id, &a);
}

static void on_get_alt(void *priv, uint64_t id, struct usb_redir_get_alt_setting_header *h)
{
	struct usb_redir_alt_setting_status_header a = { .interface = h->interface };

	usbredirparser_send_alt_setting_status(((struct redir_conn *)priv)->p, id, &a);
}

/*
 * A host may also send packets for streams and for isochronous and interrupt endpoints, though the card has said that it
 * has none. The parser calls the callback of a packet's type even if it is NULL, so each type has a function, which
 * answers that the request is invalid.
 */
static void refuse_iso(struct redir_conn *r, uint64_t id, uint8_t endpoint)
{
	usbredirparser_send_iso_stream_status(r->p, id, &(struct usb_redir_iso_stream_status_header){ usb_redir_inval, endpoint });
}

static void on_start_iso(void *priv, uint64_t id, struct usb_redir_start_iso_stream_header *h)
{
	refuse_iso(priv, id, h->endpoint);
}

static void on_stop_iso(void *priv, uint64_t id, struct usb_redir_stop_iso_stream_header *h)
{
	refuse_iso(priv, id, h->endpoint);
}

/* Drops the packet, to which the protocol has no answer. */
static void on_iso(void *priv, uint64_t id, struct usb_redir_iso_packet_header *h, uint8_t *data, int len)
{
	(void)id;
	(void)h;
	(void)len;
	usbredirparser_free_packet_data(((struct redir_conn *)priv)->p, data);
}

static void refuse_interrupt(struct redir_conn *r, uint64_t id, uint8_t endpoint)
{
	struct usb_redir_interrupt_receiving_status_header a = { usb_redir_inval, endpoint };

	usbredirparser_send_interrupt_receiving_status(r->p, id, &a);
}

static void on_start_interrupt(void *priv, uint64_t id, struct usb_redir_start_interrupt_receiving_header *h)
{
	refuse_interrupt(priv, id, h->endpoint);
}

static void on_stop_interrupt(void *priv, uint64_t id, struct usb_redir_stop_interrupt_receiving_header *h)
{
	refuse_interrupt(priv, id, h->endpoint);
}

static void on_interrupt(void *priv, uint64_t id, struct usb_redir_interrupt_packet_header *h, uint8_t *data, int len)
{
	struct usb_redir_interrupt_packet_header a = { .endpoint = h->endpoint, .status = usb_redir_inval };
	struct redir_conn *r = priv;

	(void)len;
	usbredirparser_free_packet_data(r->p, data);
	usbredirparser_send_interrupt_packet(r->p, id, &a, NULL, 0);
}

static void refuse_streams(struct redir_conn *r, uint64_t id, uint32_t endpoints)
{
	struct usb_redir_bulk_streams_status_header a = { .endpoints = endpoints, .status = usb_redir_inval };

	usbredirparser_send_bulk_streams_status(r->p, id, &a);
}

static void on_alloc_streams(void *priv, uint64_t id, struct usb_redir_alloc_bulk_streams_header *h)
{
	refuse_streams(priv, id, h->endpoints);
}

static void on_free_streams(void *priv, uint64_t id, struct usb_redir_free_bulk_streams_header *h)
{
	refuse_streams(priv, id, h->endpoints);
}

static void refuse_receiving(struct redir_conn *r, uint64_t id, uint32_t stream, uint8_t endpoint)
{
	struct usb_redir_bulk_receiving_status_header a = { .stream_id = stream, .endpoint = endpoint, .status = usb_redir_inval };

	usbredirparser_send_bulk_receiving_status(r->p, id, &a);
}

static void on_start_receiving(void *priv, uint64_t id, struct usb_redir_start_bulk_receiving_header *h)
{
	refuse_receiving(priv, id, h->stream_id, h->endpoint);
}

static void on_stop_receiving(void *priv, uint64_t id, struct usb_redir_stop_bulk_receiving_header *h)
{
	refuse_receiving(priv, id, h->stream_id, h->endpoint);
}

/* Frees the rules, which belong to it. */
static void on_filter(void *priv, struct usbredirfilter_rule *rules, int count)
{
	(void)priv;
	(void)count;
	free(rules);
}

static void on_filter_reject(void *priv)
{
	(void)priv;
}

static void on_disconnect_ack(void *priv)
{
	(void)priv;
}

static void on_hello(void *priv, struct usb_redir_hello_header *h)
{
	(void)priv;
	(void)h;
}

/* ---- a connection ---- */

static void show(struct redir_conn *r)
{
	struct usb_redir_interface_info_header i = { .interface_count = 1, .interface_class = { WEFT_USB_CLASS },
		.interface_subclass = { WEFT_USB_SUBCLASS }, .interface_protocol = { WEFT_USB_PROTOCOL } };
	struct usb_redir_ep_info_header e;
	struct usb_redir_device_connect_header c = { .speed = usbdev_high_speed(r->d) ? usb_redir_speed_high : usb_redir_speed_full, .vendor_id = WEFT_USB_VENDOR_ID,
		.product_id = WEFT_USB_PRODUCT_ID, .device_version_bcd = WEFT_USB_DEVICE_BCD };

	memset(&e, 0, sizeof(e));
	for (int k = 0; k < 32; k++)
		e.type[k] = k % 16 ? usb_redir_type_invalid : usb_redir_type_control;
	e.type[1] = e.type[17] = usb_redir_type_bulk;
	e.max_packet_size[0] = e.max_packet_size[16] = 64;
	e.max_packet_size[1] = e.max_packet_size[17] = (uint16_t)usbdev_packet(r->d);
	usbredirparser_send_ep_info(r->p, &e);
	usbredirparser_send_interface_info(r->p, &i);
	usbredirparser_send_device_connect(r->p, &c);
	r->shown = true;
}

static void drop_flights(struct redir_conn *r)
{
	while (r->all) {
		usbdev_cancel(r->d, &r->all->u);
		release(r->all);
	}
}

static struct usbredirparser *new_parser(struct redir_conn *r, const char *version)
{
	uint32_t caps[USB_REDIR_CAPS_SIZE] = { 0 };
	struct usbredirparser *p = usbredirparser_create();

	if (!p)
		return NULL;
	p->priv = r;
	p->log_func = on_log;
	p->read_func = on_read;
	p->write_func = on_write;
	p->hello_func = on_hello;
	p->reset_func = on_reset;
	p->set_configuration_func = on_set_config;
	p->get_configuration_func = on_get_config;
	p->set_alt_setting_func = on_set_alt;
	p->get_alt_setting_func = on_get_alt;
	p->cancel_data_packet_func = on_cancel;
	p->start_iso_stream_func = on_start_iso;
	p->stop_iso_stream_func = on_stop_iso;
	p->iso_packet_func = on_iso;
	p->start_interrupt_receiving_func = on_start_interrupt;
	p->stop_interrupt_receiving_func = on_stop_interrupt;
	p->interrupt_packet_func = on_interrupt;
	p->alloc_bulk_streams_func = on_alloc_streams;
	p->free_bulk_streams_func = on_free_streams;
	p->start_bulk_receiving_func = on_start_receiving;
	p->stop_bulk_receiving_func = on_stop_receiving;
	p->filter_filter_func = on_filter;
	p->filter_reject_func = on_filter_reject;
	p->device_disconnect_ack_func = on_disconnect_ack;
	p->control_packet_func = on_control;
	p->bulk_packet_func = on_bulk;
	usbredirparser_caps_set_cap(caps, usb_redir_cap_connect_device_version);
	usbredirparser_caps_set_cap(caps, usb_redir_cap_device_disconnect_ack);
	usbredirparser_caps_set_cap(caps, usb_redir_cap_ep_info_max_packet_size);
	usbredirparser_caps_set_cap(caps, usb_redir_cap_64bits_ids);
	usbredirparser_caps_set_cap(caps, usb_redir_cap_32bits_bulk_length);
	usbredirparser_init(p, version, caps, USB_REDIR_CAPS_SIZE, usbredirparser_fl_usb_host);
	return p;
}

struct redir_conn *redir_conn_new(int fd, struct usbdev *d, const char *version, const struct redir_limits *limits)
{
	struct redir_conn *r = calloc(1, sizeof(*r));
	int size = 1 << 20;

	if (!r)
		return NULL;
	r->fd = fd;
	r->d = d;
	r->limits = *limits;
	r->p = new_parser(r, version);
	if (!r->p) {
		free(r);
		return NULL;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return r;
}

void redir_conn_free(struct redir_conn *r)
{
	drop_flights(r);
	usbredirparser_destroy(r->p);
	close(r->fd);
	free(r);
}

/* A device comes, or goes. */
static void show_or_hide(struct redir_conn *r)
{
	const bool there = usbdev_attached(r->d);

	if (!r->shown && there && usbredirparser_have_peer_caps(r->p))
		show(r);
	if (r->shown && !there) {
		drop_flights(r);
		usbredirparser_send_device_disconnect(r->p);
		r->shown = false;
	}
}

bool redir_conn_read(struct redir_conn *r)
{
	r->n_read = 0;
	if (!r->lost && usbredirparser_do_read(r->p) == usbredirparser_read_parse_error)
		r->lost = true;
	return !r->lost;
}

bool redir_conn_write(struct redir_conn *r)
{
	show_or_hide(r);
	if (!r->lost && usbredirparser_has_data_to_write(r->p) && usbredirparser_do_write(r->p))
		r->lost = true;
	return !r->lost;
}

bool redir_conn_greeted(const struct redir_conn *r)
{
	return usbredirparser_have_peer_caps(r->p);
}

short redir_conn_events(const struct redir_conn *r)
{
	return (short)((listening_to(r) ? POLLIN : 0) | (usbredirparser_has_data_to_write(r->p) ? POLLOUT : 0));
}

void redir_refuse(int fd, const char *text)
{
	struct redir_conn other = { .fd = fd, .limits = { .quiet = true } };

	other.p = new_parser(&other, text);
	for (int i = 0; other.p && i < 100 && usbredirparser_has_data_to_write(other.p) && !other.lost; i++)
		if (usbredirparser_do_write(other.p))
			break;
	if (other.p)
		usbredirparser_destroy(other.p);
	shutdown(fd, SHUT_WR);
	close(fd);
}

/* ---- sockets ---- */

void redir_peer(int fd, char *out, size_t len)
{
	struct ucred c = { 0 };
	socklen_t n = sizeof(c);
	char path[64], comm[32] = "a process";

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n);
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)c.pid);
	FILE *f = fopen(path, "r");
	if (f && fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = '\0';
	if (f)
		fclose(f);
	snprintf(out, len, "%.15s (pid %d)", comm, (int)c.pid);
}

/*
 * Removes the socket at a if nobody listens on it, which a card leaves behind if it is killed. Returns 0; EADDRINUSE if
 * somebody listens; or the errno with which no socket could be made.
 */
static int remove_left(const struct sockaddr_un *a)
{
	struct stat st;
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = fd < 0 ? errno : 0;

	if (!err && !connect(fd, (const struct sockaddr *)a, sizeof(*a)))
		err = EADDRINUSE;
	else if (!err && errno == ECONNREFUSED && !lstat(a->sun_path, &st) && S_ISSOCK(st.st_mode))
		unlink(a->sun_path);
	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Makes a listening socket at a. A program may connect as soon as the path exists, so the socket must listen before
 * that: it is bound to PATH.PID first, listens, and then gets its path by link(), which fails if the path exists.
 * Returns a descriptor, or a negative errno.
 */
static int listen_at(const struct sockaddr_un *a)
{
	struct sockaddr_un first = *a;
	const size_t n = strlen(a->sun_path);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(first.sun_path + n, sizeof(first.sun_path) - n, ".%d", (int)getpid());
	const bool bound = fd >= 0 && !bind(fd, (struct sockaddr *)&first, sizeof(first));
	int err = bound && !listen(fd, SOMAXCONN) && !link(first.sun_path, a->sun_path) ? 0 : errno == EEXIST ? EADDRINUSE : errno;
	if (bound)
		unlink(first.sun_path);
	if (err && fd >= 0)
		close(fd);
	return err ? -err : fd;
}

int redir_bind(const char *path, char *msg, size_t len)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	/* Room for a dot and the number of a process, which has seven digits at most. */
	const size_t most = sizeof(a.sun_path) - 1 - 8;

	if (strlen(path) > most) {
		snprintf(msg, len, "%s: socket path is longer than %zu", path, most);
		return -1;
	}
	strcpy(a.sun_path, path);
	int err = -remove_left(&a), fd = err ? err : listen_at(&a);
	if (fd >= 0)
		return fd;
	snprintf(msg, len, "%s: %s", path, strerror(-fd));
	return -1;
}

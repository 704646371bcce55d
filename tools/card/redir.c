/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usb-redir: the card's side, for QEMU's usb-redir device and for our own
 * driver's socket transport. One host at a time; another is told who has it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <usbredirparser.h>

#include "tools/clock.h"
#include "card.h"
#include "weft/gen/msg.h"

/* What one host may have here: transfers, bytes of one, packets that it has not taken. */
#define FLIGHTS_MAX 256
#define DATA_MAX (4u << 20)
#define PACKETS_MAX 1024
/* Without descriptors for another connection it is looked again so much later. */
#define DEAF_NS 100000000ull

struct redir {
	struct server s;
	struct usbdev *d;
	char path[108];
	int fd, host;              /* listening; the host's, or -1 */
	char who[40];
	struct usbredirparser *p;
	bool shown, lost;          /* the host has been told of the device */
	uint64_t dropped[16];      /* control requests that are never answered */
	unsigned n_dropped;
	struct flight *all;
	unsigned n_flights;
	uint64_t deaf_until_ns;
};

struct flight {
	struct usbdev_xfer u;      /* first */
	struct redir *r;
	uint64_t id;
	struct usb_redir_bulk_packet_header h;
	struct flight *next;
	uint8_t *data;             /* the parser's (OUT) or ours (IN) */
};

static void on_log(void *priv, int level, const char *text)
{
	(void)priv;
	if (level <= usbredirparser_warning)
		fprintf(stderr, "weft-card: %s\n", text);
}

/* A host that does not take its answers is not listened to. */
static bool listening_to(const struct redir *r)
{
	return !r->p || usbredirparser_has_data_to_write(r->p) < PACKETS_MAX;
}

static int on_read(void *priv, uint8_t *data, int count)
{
	struct redir *r = priv;

	if (!listening_to(r))
		return 0;
	ssize_t n = recv(r->host, data, (size_t)count, MSG_DONTWAIT);

	if (n > 0)
		return (int)n;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	r->lost = true;
	return -1;
}

static int on_write(void *priv, uint8_t *data, int count)
{
	struct redir *r = priv;
	ssize_t n = send(r->host, data, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL);

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
	struct redir *r = priv;
	bool in = h->endpoint & 0x80;
	uint32_t n = (uint32_t)h->length_high << 16 | h->length;
	struct flight *f = r->n_flights < FLIGHTS_MAX && n <= DATA_MAX ? calloc(1, sizeof(*f)) : NULL;

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
	f->u = (struct usbdev_xfer){ .in = in, .data = f->data, .len = in ? n : (uint32_t)len, .done = on_done };
	f->next = r->all;
	r->all = f;
	r->n_flights++;
	if (h->endpoint == WEFT_USB_EP_IN || h->endpoint == WEFT_USB_EP_OUT) {
		usbdev_bulk(r->d, &f->u);
	} else {
		answer(f, usb_redir_inval, 0);
		release(f);
	}
}

static void on_control(void *priv, uint64_t id, struct usb_redir_control_packet_header *h, uint8_t *data, int len)
{
	struct redir *r = priv;
	uint8_t buf[65536];
	const uint8_t setup[8] = { h->requesttype, h->request, (uint8_t)h->value, (uint8_t)(h->value >> 8),
		(uint8_t)h->index, (uint8_t)(h->index >> 8), (uint8_t)h->length, (uint8_t)(h->length >> 8) };

	if (len > 0)
		memcpy(buf, data, (size_t)len);
	usbredirparser_free_packet_data(r->p, data);
	int n = usbdev_control(r->d, setup, buf);
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
	struct redir *r = priv;

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
	usbdev_port_reset(((struct redir *)priv)->d);
}

static void on_set_config(void *priv, uint64_t id, struct usb_redir_set_configuration_header *h)
{
	struct redir *r = priv;
	const uint8_t setup[8] = { 0, 9, h->configuration };
	struct usb_redir_configuration_status_header a = { .configuration = h->configuration };

	a.status = (uint8_t)redir_status(usbdev_control(r->d, setup, NULL));
	usbredirparser_send_configuration_status(r->p, id, &a);
}

static void on_get_config(void *priv, uint64_t id)
{
	struct usb_redir_configuration_status_header a = { .configuration = 1 };

	usbredirparser_send_configuration_status(((struct redir *)priv)->p, id, &a);
}

static void on_set_alt(void *priv, uint64_t id, struct usb_redir_set_alt_setting_header *h)
{
	struct usb_redir_alt_setting_status_header a = { .interface = h->interface, .alt = h->alt,
		.status = h->alt ? usb_redir_inval : usb_redir_success };

	usbredirparser_send_alt_setting_status(((struct redir *)priv)->p, id, &a);
}

static void on_get_alt(void *priv, uint64_t id, struct usb_redir_get_alt_setting_header *h)
{
	struct usb_redir_alt_setting_status_header a = { .interface = h->interface };

	usbredirparser_send_alt_setting_status(((struct redir *)priv)->p, id, &a);
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

/* ---- the host comes and goes ---- */

static void show(struct redir *r)
{
	struct usb_redir_interface_info_header i = { .interface_count = 1, .interface_class = { WEFT_USB_CLASS },
		.interface_subclass = { WEFT_USB_SUBCLASS }, .interface_protocol = { WEFT_USB_PROTOCOL } };
	struct usb_redir_ep_info_header e;
	struct usb_redir_device_connect_header c = { .speed = usb_redir_speed_high, .vendor_id = WEFT_USB_VENDOR_ID,
		.product_id = WEFT_USB_PRODUCT_ID, .device_version_bcd = WEFT_USB_DEVICE_BCD };

	memset(&e, 0, sizeof(e));
	for (int k = 0; k < 32; k++)
		e.type[k] = k % 16 ? usb_redir_type_invalid : usb_redir_type_control;
	e.type[1] = e.type[17] = usb_redir_type_bulk;
	e.max_packet_size[0] = e.max_packet_size[16] = 64;
	e.max_packet_size[1] = e.max_packet_size[17] = WEFT_USB_PACKET_BYTES;
	usbredirparser_send_ep_info(r->p, &e);
	usbredirparser_send_interface_info(r->p, &i);
	usbredirparser_send_device_connect(r->p, &c);
	r->shown = true;
}

static void drop_flights(struct redir *r)
{
	while (r->all) {
		usbdev_cancel(r->d, &r->all->u);
		release(r->all);
	}
}

static void hang_up(struct redir *r)
{
	drop_flights(r);
	usbredirparser_destroy(r->p);
	r->p = NULL;
	close(r->host);
	r->host = -1;
	r->shown = r->lost = false;
	usbdev_release(r->d, r);
	usbdev_port_reset(r->d);
}

static struct usbredirparser *new_parser(struct redir *r, const char *version)
{
	uint32_t caps[USB_REDIR_CAPS_SIZE] = { 0 };
	struct usbredirparser *p = usbredirparser_create();

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

static void name_peer(int fd, char *out, size_t len)
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

/* A greeting that says who is there, and nothing else. */
static void refuse(struct redir *r, int fd)
{
	struct redir other = { .host = fd };
	char version[64];

	snprintf(version, sizeof(version), "in use by %s", r->who);
	other.p = new_parser(&other, version);
	for (int i = 0; i < 100 && usbredirparser_has_data_to_write(other.p) && !other.lost; i++)
		if (usbredirparser_do_write(other.p))
			break;
	usbredirparser_destroy(other.p);
	shutdown(fd, SHUT_WR);
	close(fd);
}

static void greet(struct redir *r)
{
	int fd = accept4(r->fd, NULL, NULL, SOCK_CLOEXEC), size = 1 << 20;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			r->deaf_until_ns = now_ns() + DEAF_NS;
		return;
	}
	if (r->host < 0 && !usbdev_claim(r->d, r))
		snprintf(r->who, sizeof(r->who), "a host that came over USB/IP");
	else if (r->host < 0)
		name_peer(fd, r->who, sizeof(r->who));
	if (r->host >= 0 || !usbdev_claim(r->d, r)) {
		refuse(r, fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	r->host = fd;
	r->p = new_parser(r, "weft-card");
}

static int redir_fds(struct server *s, struct pollfd *p, int max)
{
	struct redir *r = (struct redir *)s;
	int n = 0;

	if (max < 2)
		return 0;
	/* A connection that cannot be taken would wake the loop without end. */
	p[n++] = (struct pollfd){ now_ns() < r->deaf_until_ns ? -1 : r->fd, POLLIN, 0 };
	if (r->host >= 0) {
		p[n] = (struct pollfd){ r->host, listening_to(r) ? POLLIN : 0, 0 };
		if (usbredirparser_has_data_to_write(r->p))
			p[n].events |= POLLOUT;
		n++;
	}
	return n;
}

static void redir_work(struct server *s)
{
	struct redir *r = (struct redir *)s;
	struct pollfd p = { r->fd, POLLIN, 0 };

	/* The host's last words first, or it would be refused for having been there. */
	if (r->host >= 0 && usbredirparser_do_read(r->p) == usbredirparser_read_parse_error)
		r->lost = true;
	if (r->host >= 0 && r->lost)
		hang_up(r);
	if (now_ns() >= r->deaf_until_ns && poll(&p, 1, 0) > 0)
		greet(r);
	if (r->host < 0)
		return;
	if (!r->shown && usbdev_attached(r->d) && usbredirparser_have_peer_caps(r->p))
		show(r);
	if (r->shown && !usbdev_attached(r->d)) {
		drop_flights(r);
		usbredirparser_send_device_disconnect(r->p);
		r->shown = false;
	}
	if (usbredirparser_has_data_to_write(r->p) && usbredirparser_do_write(r->p))
		r->lost = true;
	if (r->lost)
		hang_up(r);
}

static void redir_close(struct server *s)
{
	struct redir *r = (struct redir *)s;

	if (r->host >= 0)
		hang_up(r);
	close(r->fd);
	unlink(r->path);
	free(r);
}

static const struct server_ops redir_ops = { redir_fds, redir_work, redir_close };

struct server *redir_listen(const char *path, struct usbdev *d, char *msg, size_t len)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct redir *r = calloc(1, sizeof(*r));
	struct stat st;

	if (!r || strlen(path) >= sizeof(a.sun_path)) {
		if (r)
			snprintf(msg, len, "%s: socket path is longer than %zu", path, sizeof(a.sun_path) - 1);
		else
			snprintf(msg, len, "%s: out of memory", path);
		free(r);
		return NULL;
	}
	strcpy(a.sun_path, path);
	strcpy(r->path, path);
	r->s.ops = &redir_ops;
	r->d = d;
	r->host = -1;
	r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A socket that nobody listens on is left from a card that was killed. */
	if (!connect(r->fd, (struct sockaddr *)&a, sizeof(a)))
		errno = EADDRINUSE;
	else if (errno == ECONNREFUSED && !lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path), errno = 0;
	else
		errno = 0;
	if (errno || bind(r->fd, (struct sockaddr *)&a, sizeof(a)) || listen(r->fd, 8)) {
		snprintf(msg, len, "%s: %s", path, strerror(errno));
		close(r->fd);
		free(r);
		return NULL;
	}
	return &r->s;
}

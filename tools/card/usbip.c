/* SPDX-License-Identifier: Apache-2.0 */
/*
 * USB/IP: the card for `usbip attach` on a Linux machine. Listens on the
 * loopback only; whoever wants it from elsewhere makes a tunnel. The bus is
 * "1-1". Protocol: the Linux kernel's Documentation/usb/usbip_protocol.rst.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/clock.h"
#include "card.h"
#include "weft/gen/msg.h"

#define VERSION 0x0111
#define REQ_DEVLIST 0x8005
#define REQ_IMPORT  0x8003
#define CMD_SUBMIT 1
#define CMD_UNLINK 2
#define RET_SUBMIT 3
#define RET_UNLINK 4
#define HEADER 48
#define DEVICE_BYTES 312
#define DATA_MAX (4u << 20)
/* What one host may have here: transfers, their bytes, answers that it has not taken, bytes of one turn. */
#define FLIGHTS_MAX 256
#define FLIGHT_BYTES_MAX (32u << 20)
#define OUT_MAX (8u << 20)
#define TURN_MAX (4u << 20)
/* Without descriptors for another connection it is looked again so much later. */
#define DEAF_NS 100000000ull
#define SPEED_FULL 2
#define SPEED_HIGH 3
#define STATUS_UNLINKED 104    /* ECONNRESET, as Linux numbers it */

struct flight {
	struct usbdev_xfer u;      /* first */
	struct usbip *s;
	uint32_t seq;
	struct flight *next;
};

struct usbip {
	struct server srv;
	struct usbdev *d;
	int fd, host;
	bool imported, lost;
	uint8_t *in;               /* bytes that came and are not yet a whole command */
	size_t n_in, cap_in;
	uint8_t *out;
	size_t n_out, at_out, cap_out;
	struct flight *all;
	unsigned n_flights;
	size_t flight_bytes;
	uint64_t deaf_until_ns;
};

static void be16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void be32(uint8_t *p, uint32_t v)
{
	be16(p, v >> 16);
	be16(p + 2, v & 0xffff);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put(struct usbip *s, const void *data, size_t n)
{
	if (s->at_out > s->n_out / 2) {
		memmove(s->out, s->out + s->at_out, s->n_out - s->at_out);
		s->n_out -= s->at_out;
		s->at_out = 0;
	}
	if (s->n_out + n > s->cap_out) {
		size_t cap = 2 * (s->n_out + n);
		uint8_t *p = realloc(s->out, cap);
		if (!p) {
			s->lost = true;
			return;
		}
		s->out = p;
		s->cap_out = cap;
	}
	memcpy(s->out + s->n_out, data, n);
	s->n_out += n;
}

/* ---- before the device is imported ---- */

static void put_device(struct usbip *s)
{
	uint8_t b[DEVICE_BYTES] = { 0 };

	snprintf((char *)b, 256, "/weft/%s", usbdev_serial(s->d));
	strcpy((char *)b + 256, "1-1");
	be32(b + 288, 1);          /* bus, device */
	be32(b + 292, 1);
	be32(b + 296, usbdev_high_speed(s->d) ? SPEED_HIGH : SPEED_FULL);
	be16(b + 300, WEFT_USB_VENDOR_ID);
	be16(b + 302, WEFT_USB_PRODUCT_ID);
	be16(b + 304, WEFT_USB_DEVICE_BCD);
	b[309] = 1;                /* configuration 1 of 1, interfaces */
	b[310] = 1;
	b[311] = 1;
	put(s, b, sizeof(b));
}

static size_t op_request(struct usbip *s, const uint8_t *p, size_t n)
{
	uint8_t head[8] = { 0 }, count[4] = { 0 };
	bool there = usbdev_attached(s->d);
	unsigned code;

	if (n < 8)
		return 0;
	code = p[2] << 8u | p[3];
	be16(head, VERSION);
	be16(head + 2, code & 0x7fff);
	if (code == REQ_DEVLIST) {
		const uint8_t interface[4] = { WEFT_USB_CLASS, WEFT_USB_SUBCLASS, WEFT_USB_PROTOCOL, 0 };
		put(s, head, sizeof(head));
		be32(count, there);
		put(s, count, sizeof(count));
		if (there) {
			put_device(s);
			put(s, interface, sizeof(interface));
		}
		return 8;
	}
	if (code != REQ_IMPORT) {
		s->lost = true;
		return 0;
	}
	if (n < 40)
		return 0;
	bool ok = there && !strncmp((const char *)p + 8, "1-1", 32) && usbdev_claim(s->d, s);
	be32(head + 4, !ok);
	put(s, head, sizeof(head));
	if (ok) {
		put_device(s);
		s->imported = true;
	}
	return 40;
}

/* ---- transfers ---- */

static void put_ret(struct usbip *s, uint32_t command, uint32_t seq, int status, uint32_t actual, const uint8_t *data)
{
	uint8_t h[HEADER] = { 0 };

	be32(h, command);
	be32(h + 4, seq);
	be32(h + 20, (uint32_t)status);
	be32(h + 24, actual);
	put(s, h, sizeof(h));
	if (data)
		put(s, data, actual);
}

static void release(struct flight *f)
{
	struct flight **p = &f->s->all;

	while (*p != f)
		p = &(*p)->next;
	*p = f->next;
	f->s->n_flights--;
	f->s->flight_bytes -= f->u.len;
	free(f->u.data);
	free(f);
}

static void on_done(struct usbdev_xfer *u)
{
	struct flight *f = (struct flight *)u;

	if (u->status != -ENODEV)
		put_ret(f->s, RET_SUBMIT, f->seq, u->status, u->actual, u->in && !u->status ? u->data : NULL);
	release(f);
}

static void submit(struct usbip *s, const uint8_t *h, const uint8_t *data, uint32_t len)
{
	uint32_t seq = get32(h + 4), ep = get32(h + 16);
	bool in = get32(h + 12);
	uint8_t buf[65536];

	if (ep == 0) {
		if (!in)
			memcpy(buf, data, len < sizeof(buf) ? len : sizeof(buf));
		int n = usbdev_control(s->d, h + 40, buf);
		if (n == -ETIMEDOUT || n == -ENODEV)
			return;
		put_ret(s, RET_SUBMIT, seq, n < 0 ? n : 0, n < 0 ? 0 : in ? (uint32_t)n : len, in && n > 0 ? buf : NULL);
		return;
	}
	if (ep != 1) {
		put_ret(s, RET_SUBMIT, seq, -EPIPE, 0, NULL);
		return;
	}
	const bool room_left = s->n_flights < FLIGHTS_MAX && s->flight_bytes + len <= FLIGHT_BYTES_MAX;
	struct flight *f = room_left ? calloc(1, sizeof(*f)) : NULL;
	uint8_t *room = f ? malloc((size_t)len + 1) : NULL;
	if (!f || !room) {
		free(f);
		free(room);
		put_ret(s, RET_SUBMIT, seq, -ENOMEM, 0, NULL);
		return;
	}
	f->s = s;
	f->seq = seq;
	f->u = (struct usbdev_xfer){ .in = in, .data = room, .len = len, .done = on_done };
	if (!in)
		memcpy(f->u.data, data, len);
	f->next = s->all;
	s->all = f;
	s->n_flights++;
	s->flight_bytes += len;
	usbdev_bulk(s->d, &f->u);
}

static void unlink_urb(struct usbip *s, const uint8_t *h)
{
	uint32_t which = get32(h + 20);
	int status = 0;

	for (struct flight *f = s->all; f; f = f->next) {
		if (f->seq != which)
			continue;
		usbdev_cancel(s->d, &f->u);
		release(f);
		status = -STATUS_UNLINKED;
		break;
	}
	put_ret(s, RET_UNLINK, get32(h + 4), status, 0, NULL);
}

static size_t command(struct usbip *s, const uint8_t *p, size_t n)
{
	if (n < HEADER)
		return 0;
	uint32_t what = get32(p), len = get32(p + 24);
	bool out = !get32(p + 12);
	if (what == CMD_UNLINK) {
		unlink_urb(s, p);
		return HEADER;
	}
	if (what != CMD_SUBMIT || len > DATA_MAX) {
		s->lost = true;
		return 0;
	}
	if (n < HEADER + (out ? (size_t)len : 0))
		return 0;
	submit(s, p, p + HEADER, len);
	return HEADER + (out ? len : 0);
}

/* ---- the socket ---- */

static void hang_up(struct usbip *s)
{
	while (s->all) {
		usbdev_cancel(s->d, &s->all->u);
		release(s->all);
	}
	bool had = s->imported;
	close(s->host);
	s->host = -1;
	s->imported = s->lost = false;
	s->n_in = s->n_out = s->at_out = 0;
	/* Who only asked for the list has no business with the device. */
	if (had)
		usbdev_port_reset(s->d);
	usbdev_release(s->d, s);
}

/* A host that does not take its answers is not listened to. */
static bool listening_to(const struct usbip *s)
{
	return s->n_out - s->at_out < OUT_MAX;
}

/* Whole commands of what came; those that are not answered yet stay. */
static void parse(struct usbip *s)
{
	size_t used = 0, k = 1;

	while (k && !s->lost && listening_to(s)) {
		k = s->imported ? command(s, s->in + used, s->n_in - used)
		                : op_request(s, s->in + used, s->n_in - used);
		used += k;
	}
	memmove(s->in, s->in + used, s->n_in - used);
	s->n_in -= used;
}

static void receive(struct usbip *s)
{
	if (s->n_in)
		parse(s);
	for (size_t all = 0; all < TURN_MAX && listening_to(s);) {
		if (s->cap_in - s->n_in < 65536) {
			uint8_t *p = realloc(s->in, 2 * s->cap_in + 131072);
			if (!p) {
				s->lost = true;
				return;
			}
			s->in = p;
			s->cap_in = 2 * s->cap_in + 131072;
		}
		ssize_t n = recv(s->host, s->in + s->n_in, s->cap_in - s->n_in, MSG_DONTWAIT);
		if (n <= 0) {
			if (n == 0 || (errno != EAGAIN && errno != EINTR))
				s->lost = true;
			return;
		}
		s->n_in += (size_t)n;
		all += (size_t)n;
		parse(s);
	}
}

static void flush(struct usbip *s)
{
	while (s->at_out < s->n_out) {
		ssize_t n = send(s->host, s->out + s->at_out, s->n_out - s->at_out, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n <= 0) {
			if (errno != EAGAIN && errno != EINTR)
				s->lost = true;
			return;
		}
		s->at_out += (size_t)n;
	}
}

static void greet(struct usbip *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC), one = 1;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			s->deaf_until_ns = now_ns() + DEAF_NS;
		return;
	}
	if (s->host >= 0) {        /* one host at a time */
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	s->host = fd;
}

static void usbip_work(struct server *srv)
{
	struct usbip *s = (struct usbip *)srv;
	struct pollfd p = { s->fd, POLLIN, 0 };

	if (s->host >= 0)
		receive(s);
	/* The cable is pulled: a closed connection is what the other side understands. */
	if (s->host >= 0 && (s->lost || (s->imported && !usbdev_attached(s->d))))
		hang_up(s);
	if (now_ns() >= s->deaf_until_ns && poll(&p, 1, 0) > 0)
		greet(s);
	if (s->host >= 0)
		flush(s);
}

static int usbip_fds(struct server *srv, struct pollfd *p, int max)
{
	struct usbip *s = (struct usbip *)srv;

	if (max < 2)
		return 0;
	/* A connection that cannot be taken would wake the loop without end. */
	p[0] = (struct pollfd){ now_ns() < s->deaf_until_ns ? -1 : s->fd, POLLIN, 0 };
	if (s->host < 0)
		return 1;
	p[1] = (struct pollfd){ s->host, listening_to(s) ? POLLIN : 0, 0 };
	if (s->at_out < s->n_out)
		p[1].events |= POLLOUT;
	return 2;
}

static void usbip_close(struct server *srv)
{
	struct usbip *s = (struct usbip *)srv;

	if (s->host >= 0)
		hang_up(s);
	close(s->fd);
	free(s->in);
	free(s->out);
	free(s);
}

static const struct server_ops usbip_ops = { usbip_fds, usbip_work, usbip_close };

struct server *usbip_listen(unsigned port, struct usbdev *d, char *msg, size_t len)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct usbip *s = calloc(1, sizeof(*s));
	int one = 1;

	if (!s) {
		snprintf(msg, len, "port %u: out of memory", port);
		return NULL;
	}
	s->srv.ops = &usbip_ops;
	s->d = d;
	s->host = -1;
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s->fd, (struct sockaddr *)&a, sizeof(a)) || listen(s->fd, 4)) {
		snprintf(msg, len, "port %u: %s", port, strerror(errno));
		close(s->fd);
		free(s);
		return NULL;
	}
	return &s->srv;
}

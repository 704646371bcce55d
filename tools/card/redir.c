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
#include <unistd.h>

#include "tools/clock.h"
#include "card.h"
#include "redir_conn.h"

/* What one host may have here. */
#define FLIGHTS_MAX 256
#define BYTES_MAX (32u << 20)
/* Without descriptors for another connection it is looked again so much later. */
#define DEAF_NS 100000000ull

struct redir {
	struct server s;
	struct usbdev *d;
	char path[108];
	int fd, host_fd;           /* listening; the host's */
	struct redir_conn *host;   /* NULL: there is none */
	char who[40];
	uint64_t deaf_until_ns;
};

static void hang_up(struct redir *r)
{
	redir_conn_free(r->host);
	r->host = NULL;
	usbdev_release(r->d, r);
	usbdev_port_reset(r->d);
}

static void refuse(const struct redir *r, int fd)
{
	char text[64];

	snprintf(text, sizeof(text), "in use by %s", r->who);
	redir_refuse(fd, text);
}

static void greet(struct redir *r)
{
	static const struct redir_limits limits = { .flights = FLIGHTS_MAX, .bytes = BYTES_MAX };
	int fd = accept4(r->fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			r->deaf_until_ns = now_ns() + DEAF_NS;
		return;
	}
	if (!r->host && !usbdev_claim(r->d, r))
		snprintf(r->who, sizeof(r->who), "a host that came over USB/IP");
	else if (!r->host)
		redir_peer(fd, r->who, sizeof(r->who));
	if (r->host || !usbdev_claim(r->d, r)) {
		refuse(r, fd);
		return;
	}
	r->host = redir_conn_new(fd, r->d, "weft-card", &limits);
	r->host_fd = fd;
	if (r->host)
		return;
	usbdev_release(r->d, r);
	close(fd);
}

static int redir_fds(struct server *s, struct pollfd *p, int max)
{
	struct redir *r = (struct redir *)s;
	int n = 0;

	if (max < 2)
		return 0;
	/* A connection that cannot be taken would wake the loop without end. */
	p[n++] = (struct pollfd){ now_ns() < r->deaf_until_ns ? -1 : r->fd, POLLIN, 0 };
	if (r->host)
		p[n++] = (struct pollfd){ r->host_fd, redir_conn_events(r->host), 0 };
	return n;
}

static void redir_work(struct server *s)
{
	struct redir *r = (struct redir *)s;
	struct pollfd p = { r->fd, POLLIN, 0 };

	/* The host's last words first, or it would be refused for having been there. */
	if (r->host && !redir_conn_read(r->host))
		hang_up(r);
	if (now_ns() >= r->deaf_until_ns && poll(&p, 1, 0) > 0)
		greet(r);
	if (r->host && !redir_conn_write(r->host))
		hang_up(r);
}

static void redir_close(struct server *s)
{
	struct redir *r = (struct redir *)s;

	if (r->host)
		hang_up(r);
	close(r->fd);
	unlink(r->path);
	free(r);
}

static const struct server_ops redir_ops = { redir_fds, redir_work, redir_close };

struct server *redir_listen(const char *path, struct usbdev *d, char *msg, size_t len)
{
	struct redir *r = calloc(1, sizeof(*r));

	if (!r) {
		snprintf(msg, len, "%s: out of memory", path);
		return NULL;
	}
	r->s.ops = &redir_ops;
	r->d = d;
	r->fd = redir_bind(path, msg, len);
	if (r->fd < 0) {
		free(r);
		return NULL;
	}
	snprintf(r->path, sizeof(r->path), "%s", path);
	return &r->s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of weft-card share.
 */
#ifndef TOOLS_CARD_CARD_H
#define TOOLS_CARD_CARD_H

#include <poll.h>

#include "usbdev.h"

/*
 * Somebody who carries the card's transfers to a host. Its sockets are watched by
 * the loop in main.c.
 */
struct server;

struct server_ops {
	/* At most max entries; returns how many. */
	int (*fds)(struct server *s, struct pollfd *p, int max);
	/* Take what came and send what is due. */
	void (*work)(struct server *s);
	void (*close)(struct server *s);
};

struct server { const struct server_ops *ops; };

/** usb-redir on a Unix socket; one host at a time. */
struct server *redir_listen(const char *path, struct usbdev *d, char *msg, size_t len);

/** USB/IP on the loopback's TCP port. */
struct server *usbip_listen(unsigned port, struct usbdev *d, char *msg, size_t len);

#endif

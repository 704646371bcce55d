/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a card, and what leads to it: the USB, a socket, or for whoever names none a broker's socket, if a broker has the
 * cards of this machine (docs/broker.md).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "usb.h"

int weft_dev_broker(char where WEFT_ROOM(WEFT_DEV_WHERE), char msg WEFT_ROOM(WEFT_DEV_MSG))
{
	const char *named = secure_getenv(WEFT_BROKER_ENV), *path = named ? named : WEFT_BROKER_SOCKET;
	struct stat st;

	where[0] = msg[0] = '\0';
	if (!strcmp(path, "none"))
		return 0;
	if (!*path || strlen(path) > WEFT_DEV_WHERE - 2) {
		snprintf(msg, WEFT_DEV_MSG, "usb: " WEFT_BROKER_ENV " is \"%.60s\", not a socket's path of 1 to %d bytes, or none", path, WEFT_DEV_WHERE - 2);
		return -EINVAL;
	}
	/* A named one has to be there; so has one in a folder into which this user may not look. */
	if (!named && stat(path, &st) && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	snprintf(where, WEFT_DEV_WHERE, "@%s", path);
	return 0;
}

int weft_usb_way(const char *name, struct weft_usb_way *way, char *msg)
{
	*way = (struct weft_usb_way){ .where = name };
	if (strpbrk(name, "*,")) {
		snprintf(msg, WEFT_DEV_MSG, "usb: \"%.100s\" names several cards; here goes one, such as usb:SERIAL", name);
		return -EINVAL;
	}
	const int err = *name ? 0 : weft_dev_broker(way->broker, msg);
	if (way->broker[0])
		way->where = way->broker;
	way->ops = way->where[0] == '@' ? &weft_usb_redir : &weft_usb_libusb;
	return err;
}

int weft_usb_go(const struct weft_usb_way *way, uint64_t deadline_ns, void **t, char *msg)
{
	const int err = way->ops->open(way->where, deadline_ns, t, msg);
	const size_t n = strlen(msg);

	if (err && way->broker[0])
		snprintf(msg + n, WEFT_DEV_MSG - n, " (usb goes through the broker; " WEFT_BROKER_ENV "=none: to the USB itself)");
	return err;
}

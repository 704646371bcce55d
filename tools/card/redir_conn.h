/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection of a host that speaks usb-redir with a USB device of usbdev.h: the card's side, for QEMU's
 * usb-redir device and for our own driver's socket transport. Nothing here waits.
 */
#ifndef TOOLS_CARD_REDIR_CONN_H
#define TOOLS_CARD_REDIR_CONN_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "usbdev.h"

/* What one host may have. */
struct redir_limits {
	unsigned flights;          /* transfers under way; more are refused */
	size_t bytes;              /* of their data together; also of answers that it has not taken, before nobody
	                            * listens to it any more */
	bool quiet;                /* say nothing about its mistakes */
	/* Returns whether a request on endpoint 0 is refused, of which setup is the 8 bytes. May be NULL: none is. */
	bool (*refuse)(void *user, const uint8_t *setup);
	void *user;
};

struct redir_conn;

/**
 * Greet a host; version is what it is told of us. fd does not block; on success it is the connection's.
 * @return NULL: no memory
 */
struct redir_conn *redir_conn_new(int fd, struct usbdev *d, const char *version, const struct redir_limits *limits);
/** Forget its transfers and close its descriptor. */
void redir_conn_free(struct redir_conn *r);

/** Take what came; write what is to be sent, beside news of the device. @return false: it is lost */
bool redir_conn_read(struct redir_conn *r);
bool redir_conn_write(struct redir_conn *r);

/** Returns whether the host has said who it is. */
bool redir_conn_greeted(const struct redir_conn *r);

/** What of POLLIN and POLLOUT it waits for. */
short redir_conn_events(const struct redir_conn *r);

/** Say this in a greeting, and nothing else; closes fd. */
void redir_refuse(int fd, const char *text);

/** Who is at the other end: "weft (pid 12)". */
void redir_peer(int fd, char *out, size_t len);

/**
 * Listen on a Unix socket. If the path is a socket on which nobody listens any more, it is replaced. A program can connect as
 * soon as the path exists. The path may have up to 99 bytes.
 * @return a descriptor that does not block; -1 with one line in msg
 */
int redir_bind(const char *path, char *msg, size_t len);

#endif

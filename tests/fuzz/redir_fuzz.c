/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host says by usb-redir to the card's end of a connection. Who may connect, and what becomes of a second host, is
 * asked by card/socket: here each input is a connection of its own, to a device that was just switched on.
 */
#include "server_fuzz.h"
#include "tools/card/redir_conn.h"

/* The limits of weft-card. */
static const struct redir_limits limits = { .flights = 256, .bytes = 32u << 20, .quiet = true };

static bool work(void *conn)
{
	return redir_conn_read(conn) && redir_conn_write(conn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int ends[2];

	fuzz_require(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "a connection");
	struct usbdev *d = fuzz_card();
	struct redir_conn *c = redir_conn_new(ends[1], d, "weft-card", &limits);
	fuzz_require(c, "memory");
	fuzz_server(&(struct fuzz_host){ .work = work, .server = c, .d = d, .host = ends[0] }, data, size);
	redir_conn_free(c);
	usbdev_free(d);
	return 0;
}

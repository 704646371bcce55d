/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a hostile host on the way to a simulated card: a chip without a core (stub_chip.h) behind
 * one of weft-card's servers, a connection, the bytes in pieces, and a hang-up. The card works on
 * until nothing happens any more, and takes the next connection.
 */
#ifndef WEFT_TESTS_SERVER_FUZZ_H
#define WEFT_TESTS_SERVER_FUZZ_H

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "tests/support/stub_chip.h"
#include "tools/card/card.h"

/* Lets server and device work, and drops what they answer. */
static inline void fuzz_turns(struct server *s, struct usbdev *d, int host, int turns)
{
	char answers[4096];
	uint64_t wake;

	for (int i = 0; i < turns; i++) {
		s->ops->work(s);
		bool busy = usbdev_step(d, &wake);
		while (read(host, answers, sizeof answers) > 0)
			busy = true;
		if (!busy && i > 4)
			return;
	}
}

/* One input: the first byte says how long the pieces are. host: a connected descriptor that does not block. */
static inline void fuzz_server(struct server *s, struct usbdev *d, int host, const uint8_t *data, size_t size)
{
	const size_t piece = size && data[0] ? data[0] * (size_t)16 : 65536;

	signal(SIGPIPE, SIG_IGN);      /* as weft-card does */
	fuzz_turns(s, d, host, 8);
	for (size_t at = size ? 1 : 0; at < size; at += piece) {
		if (write(host, data + at, size - at < piece ? size - at : piece) < 0)
			break;
		fuzz_turns(s, d, host, 64);
	}
	close(host);
	for (int i = 0; i < 4; i++)
		s->ops->work(s);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a hostile host on the way to a simulated card: a chip without a core (stub_chip.h) behind
 * one of weft-card's servers, a connection, the bytes in pieces, and a hang-up. The card works on
 * until nothing happens any more.
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

/* A connection: the server and its turn, which returns false when it has hung up, the device behind it, and the host's end. */
struct fuzz_host {
	bool (*work)(void *server);
	void *server;
	struct usbdev *d;
	int host;                  /* does not block */
};

/* A device that was just switched on. One chip serves all of them; its memory is small, because a start fills all of it. */
static inline struct usbdev *fuzz_card(void)
{
	static void *chip;
	struct weft_chip_options o = { .dram_bytes = 128 << 10 };
	char msg[256] = "";

	if (!chip)
		fuzz_require(!stub_chip.open(&o, &chip, msg), "a chip");
	else
		stub_chip.reset(chip, WEFT_CHIP_CAUSE_POWER);
	struct usbdev *d = usbdev_new(&stub_chip, chip, "FUZZ", NULL, 0);
	fuzz_require(d, "a device");
	return d;
}

/* Lets server and device work, and drops what they answer. Returns false when the server has hung up. */
static inline bool fuzz_turns(const struct fuzz_host *h, int turns)
{
	char answers[4096];
	uint64_t wake;
	ssize_t n;

	for (int i = 0; i < turns; i++) {
		if (!h->work(h->server))
			return false;
		bool busy = usbdev_step(h->d, &wake);
		while ((n = read(h->host, answers, sizeof answers)) > 0) {
			busy = true;
			if ((size_t)n < sizeof answers)
				break;
		}
		if (!busy && i > 1)
			return true;
	}
	return true;
}

/* One input: the first byte says how long the pieces are. Closes the host's end. */
static inline void fuzz_server(const struct fuzz_host *h, const uint8_t *data, size_t size)
{
	const size_t piece = size && data[0] ? data[0] * (size_t)16 : 65536;
	bool there;

	signal(SIGPIPE, SIG_IGN);      /* as weft-card does */
	there = fuzz_turns(h, 8);
	for (size_t at = size ? 1 : 0; there && at < size; at += piece) {
		if (write(h->host, data + at, size - at < piece ? size - at : piece) < 0)
			break;
		there = fuzz_turns(h, 64);
	}
	close(h->host);
	for (int i = 0; there && i < 4; i++)
		there = h->work(h->server);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link of a client's card: what link.c does in place of a chip (docs/protocol.md, "Frames"). Bytes from the client
 * become a frame, which waits until the worker has answered it; meanwhile no bytes are taken.
 */
#ifndef TOOLS_BROKER_LINK_H
#define TOOLS_BROKER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/chip.h>
#include <weft/gen/msg.h>

struct client;
struct link_out;

struct link {
	/* The main thread's, and the worker's while it has the frame: */
	uint8_t head[WEFT_FRAME_HEADER_BYTES];
	uint8_t *body;             /* body and checksum of a WRITE or MSG */
	uint32_t at;               /* bytes of the frame that have come */
	/* Guarded by broker.lock: */
	bool error;                /* what comes is thrown away until the link is reset */
	unsigned epoch;            /* counts resets: an answer to a frame from before one is not sent */
	struct link_out *first, **last;        /* frames that wait to go to the client */
	unsigned n_out;
	size_t out_bytes;
};

/* A frame that the worker answers. */
struct frame {
	uint8_t type;              /* enum weft_frame_type */
	uint16_t seq;
	uint32_t addr, len;
	const uint8_t *body;
	unsigned epoch;
};

/** The functions of a chip whose `chip` is a struct client. */
extern const struct weft_chip_ops link_ops;

/** Make the link of a client, which is all zeros, ready. */
void link_open(struct client *c);
/** Free what the link holds. */
void link_close(struct client *c);

/** Returns the frame whose header, and perhaps body, is there. Called with broker.lock held. */
struct frame link_frame(const struct client *c);

/**
 * Send a frame to the client; its body of len bytes is copied, an ACK has none. Nothing is sent if `epoch`, that of the
 * frame that it answers, is over, or in the error state. Called with broker.lock held.
 * @return 0; -ENOMEM: the link is in its error state now
 */
int link_send(struct client *c, unsigned epoch, uint8_t type, uint16_t seq, uint32_t addr, const void *body, uint32_t len);

/** Put the link into its error state, and tell the client, which resets it then. Called with broker.lock held. */
void link_break(struct client *c);

#endif

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
	/* Main thread; the worker while it has the frame. */
	uint8_t head[WEFT_FRAME_HEADER_BYTES];
	uint8_t *body;             /* of a WRITE or MSG, and its checksum */
	uint32_t at;               /* bytes of the frame that are there */
	/* broker.lock. */
	bool error;                /* nothing is heard until the link is reset */
	unsigned epoch;            /* counts resets: an answer to a frame before one is not sent */
	struct link_out *first, **last;        /* frames to the client */
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

void link_open(struct client *c);
void link_close(struct client *c);

/** With broker.lock: the frame that waits. */
struct frame link_frame(const struct client *c);

/**
 * With broker.lock: a frame to the client. epoch: of the frame that it answers; body is copied.
 * @return 0; -ENOMEM: the link is in its error state
 */
int link_send(struct client *c, unsigned epoch, uint8_t type, uint16_t seq, uint32_t addr, const void *body, uint32_t len);

/** With broker.lock: the link loses its thread, which the client is told. */
void link_break(struct client *c);

#endif

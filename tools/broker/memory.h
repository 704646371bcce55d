/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a client's card. It lies in the broker: an image of all of it, and pieces, each of which is a buffer
 * of the library's that a window of a job named, and holds those bytes instead of the image. A piece has its place in the
 * memory of the real card only as long as there is room: one that no job on the card uses may be dissolved, which
 * brings its bytes back into the image. A buffer is sent whole before the first job that has it in a window runs, so no
 * client ever sees what was in the card's memory before.
 *
 * Offsets count from the first byte of the client's memory. Belongs to the worker.
 */
#ifndef TOOLS_BROKER_MEMORY_H
#define TOOLS_BROKER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/dev.h>

struct piece {
	struct piece *next;        /* the one with the next larger offset */
	uint32_t at, len;
	weft_buf *buf;
	unsigned pins;             /* number of jobs on the card that have it */
	uint64_t used;
};

struct memory {
	uint8_t *image;
	uint32_t bytes;
	struct piece *pieces;
};

/** Give *m memory of so many bytes, all zeros. @return 0, -ENOMEM */
int memory_open(struct memory *m, uint32_t bytes);
/** Forget all that the memory holds; it is zeros again. No piece may be pinned by a job that is not forgotten. */
void memory_clear(struct memory *m);
/** Free the memory; it has no bytes then. */
void memory_close(struct memory *m);

/** Write or read bytes, where they are. @return 0; -EBUSY: a job on the card uses one of them; or what the library says */
int memory_write(struct memory *m, uint32_t at, const uint8_t *data, uint32_t len);
int memory_read(struct memory *m, uint32_t at, uint8_t *data, uint32_t len);

/**
 * The piece of exactly these bytes, made if it is not there; pieces that overlap it are dissolved.
 * @return 0; -EBUSY: one of those is in use; -ENOMEM: no room on the card; or what the library says
 */
int memory_piece(struct memory *m, weft_dev *dev, uint32_t at, uint32_t len, struct piece **out);

/** Bring a piece's bytes back into the image and free it. @return 0; an error: the bytes are lost, and it is freed all the same */
int memory_dissolve(struct memory *m, struct piece *p);

/** Returns the piece without pins that was used least recently; NULL: there is none. */
struct piece *memory_oldest(const struct memory *m);

/** Returns how many bytes of the memory are in pieces, so on the card. */
uint64_t memory_on_card(const struct memory *m);

#endif

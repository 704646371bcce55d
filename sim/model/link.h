/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card's end of the host link (docs/protocol.md), with no notion of time:
 * frames are handled as soon as their bytes are there.
 */
#ifndef WEFT_SIM_MODEL_LINK_H
#define WEFT_SIM_MODEL_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/gen/msg.h>

#define LINK_ANSWERS 32

struct link_counters {
	uint32_t frames_in, frames_out, header_errors, payload_errors, refused;
};

struct link {
	uint8_t *dram;
	uint64_t dram_bytes;
	uint32_t fence_base, fence_limit;
	bool fence_read, fence_write;
	uint64_t written;              /* first byte behind the highest that a WRITE went to; 0: none since that was forgotten */

	bool error;
	struct link_counters count;

	/* Frame that comes. */
	uint8_t header[WEFT_FRAME_HEADER_BYTES];
	unsigned n_header;         /* bytes of it that are there */
	uint32_t left;             /* payload bytes to come; then crc */
	uint8_t *to;               /* where they go; NULL: nowhere */
	uint32_t crc;
	uint8_t crc_bytes[4];
	unsigned n_crc;

	/* Message for the firmware. */
	uint8_t rx[WEFT_FRAME_MSG_MAX];
	bool rx_valid;
	uint32_t rx_len, rx_seq;

	/* Message from the firmware. */
	uint8_t tx[WEFT_FRAME_MSG_MAX];
	bool tx_busy;
	uint32_t tx_len, tx_seq;

	/* Headers of answers that wait to be sent; DATA's payload is memory itself. */
	uint8_t answer[LINK_ANSWERS][WEFT_FRAME_HEADER_BYTES];
	unsigned n_answers;
	bool reading;              /* a READ waits: nothing behind it is handled */

	/* Frame that goes. */
	uint8_t out_header[WEFT_FRAME_HEADER_BYTES], out_crc[4];
	const uint8_t *out_payload;
	uint32_t out_at, out_len;  /* bytes gone, bytes of the whole frame; 0: none */
	uint32_t out_sum;          /* crc of the payload so far */
};

void link_init(struct link *l, uint8_t *dram, uint64_t dram_bytes);
/* By the host: streams, messages and error state; fence and counters stay. */
void link_reset(struct link *l);
size_t link_put(struct link *l, const uint8_t *data, size_t len);
size_t link_get(struct link *l, uint8_t *data, size_t len, bool *frame_end);
bool link_has_output(const struct link *l);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Frames in, frames out. */
#include "link.h"

#include <string.h>
#include <zlib.h>

#include "include/le.h"

enum { AT_MAGIC = 0, AT_TYPE = 1, AT_SEQ = 2, AT_ADDR = 4, AT_LEN = 8, AT_CRC = 12 };

void link_init(struct link *l, uint8_t *dram, uint64_t dram_bytes)
{
	memset(l, 0, sizeof(*l));
	l->dram = dram;
	l->dram_bytes = dram_bytes;
}

void link_reset(struct link *l)
{
	l->error = l->rx_valid = l->tx_busy = l->reading = false;
	l->n_header = l->n_answers = l->n_crc = 0;
	l->left = l->out_at = l->out_len = 0;
}

static uint32_t header_seq(const struct link *l)
{
	return (uint32_t)l->header[AT_SEQ] | (uint32_t)l->header[AT_SEQ + 1] << 8;
}

static void make_header(uint8_t *h, unsigned type, uint32_t seq, uint32_t addr, uint32_t len)
{
	h[AT_MAGIC] = WEFT_FRAME_MAGIC;
	h[AT_TYPE] = (uint8_t)type;
	h[AT_SEQ] = (uint8_t)seq;
	h[AT_SEQ + 1] = (uint8_t)(seq >> 8);
	put32(h + AT_ADDR, addr);
	put32(h + AT_LEN, len);
	put32(h + AT_CRC, (uint32_t)crc32(0, h, AT_CRC));
}

/* link_put() made sure that there is room. */
static void answer(struct link *l, unsigned type, uint32_t seq, uint32_t addr, uint32_t len)
{
	make_header(l->answer[l->n_answers++], type, seq, addr, len);
}

static void ack(struct link *l, enum weft_frame_status status)
{
	answer(l, WEFT_FRAME_ACK, header_seq(l), status, 0);
}

static bool in_fence(const struct link *l, uint64_t addr, uint64_t len, bool permitted)
{
	return permitted && addr >= l->fence_base && addr + len <= l->fence_limit && addr + len <= l->dram_bytes;
}

static void end_frame(struct link *l)
{
	l->n_header = l->n_crc = 0;
}

static void broken(struct link *l)
{
	l->error = true;
	end_frame(l);
}

static void start_read(struct link *l, uint32_t addr, uint32_t len)
{
	if (!len || len > WEFT_FRAME_WRITE_MAX) {
		l->count.refused++;
		ack(l, WEFT_FRAME_STATUS_INVALID);
	} else if (!in_fence(l, addr, len, l->fence_read)) {
		l->count.refused++;
		ack(l, WEFT_FRAME_STATUS_FENCE);
	} else {
		answer(l, WEFT_FRAME_DATA, header_seq(l), addr, len);
		l->reading = true;
	}
	end_frame(l);
}

static void start_write(struct link *l, uint32_t addr, uint32_t len)
{
	l->to = in_fence(l, addr, len, l->fence_write) ? l->dram + addr : NULL;
	if (l->to && (uint64_t)addr + len > l->written)
		l->written = (uint64_t)addr + len;
	l->left = len;
	l->crc = 0;
}

static void start_msg(struct link *l, uint32_t len)
{
	l->to = l->rx;
	l->left = len;
	l->crc = 0;
}

static void on_header(struct link *l)
{
	const uint8_t *h = l->header;
	uint32_t addr = get32(h + AT_ADDR), len = get32(h + AT_LEN);

	if (h[AT_MAGIC] != WEFT_FRAME_MAGIC || get32(h + AT_CRC) != (uint32_t)crc32(0, h, AT_CRC)) {
		l->count.header_errors++;
		answer(l, WEFT_FRAME_ACK, 0, WEFT_FRAME_STATUS_RESYNC, 0);
		broken(l);
		return;
	}
	l->count.frames_in++;
	if (h[AT_TYPE] == WEFT_FRAME_READ) {
		start_read(l, addr, len);
	} else if (h[AT_TYPE] == WEFT_FRAME_WRITE && len && len <= WEFT_FRAME_WRITE_MAX) {
		start_write(l, addr, len);
	} else if (h[AT_TYPE] == WEFT_FRAME_MSG && len >= WEFT_FRAME_MSG_MIN && len <= WEFT_FRAME_MSG_MAX && len % 4 == 0) {
		start_msg(l, len);
	} else {
		l->count.refused++;
		ack(l, WEFT_FRAME_STATUS_INVALID);
		broken(l);
	}
}

static void on_payload(struct link *l)
{
	bool good = get32(l->crc_bytes) == l->crc;

	if (!good) {
		l->count.payload_errors++;
		ack(l, WEFT_FRAME_STATUS_CRC);
	} else if (l->header[AT_TYPE] == WEFT_FRAME_MSG) {
		l->rx_valid = true;
		l->rx_len = get32(l->header + AT_LEN);
		l->rx_seq = header_seq(l);
	} else {
		l->count.refused += !l->to;
		ack(l, l->to ? WEFT_FRAME_STATUS_OK : WEFT_FRAME_STATUS_FENCE);
	}
	end_frame(l);
}

/* Bytes of the header, the payload or its crc, whichever is due. */
static size_t take(struct link *l, const uint8_t *data, size_t len)
{
	size_t n;

	if (l->n_header < WEFT_FRAME_HEADER_BYTES) {
		n = WEFT_FRAME_HEADER_BYTES - l->n_header;
		n = n < len ? n : len;
		memcpy(l->header + l->n_header, data, n);
		l->n_header += (unsigned)n;
		if (l->n_header == WEFT_FRAME_HEADER_BYTES)
			on_header(l);
		return n;
	}
	if (l->left) {
		n = l->left < len ? l->left : len;
		l->crc = (uint32_t)crc32(l->crc, data, (uInt)n);
		if (l->to) {
			memcpy(l->to, data, n);
			l->to += n;
		}
		l->left -= (uint32_t)n;
		return n;
	}
	l->crc_bytes[l->n_crc++] = *data;
	if (l->n_crc == 4)
		on_payload(l);
	return 1;
}

/* No room for a message while the one before is not taken. */
static bool has_credit(const struct link *l)
{
	bool msg = l->n_header == WEFT_FRAME_HEADER_BYTES && l->header[AT_TYPE] == WEFT_FRAME_MSG;

	return !l->reading && l->n_answers < LINK_ANSWERS && !(msg && l->rx_valid);
}

size_t link_put(struct link *l, const uint8_t *data, size_t len)
{
	size_t done = 0;

	while (done < len && !l->error && has_credit(l))
		done += take(l, data + done, len - done);
	return l->error ? len : done;
}

bool link_has_output(const struct link *l)
{
	return l->out_len || l->n_answers || l->tx_busy;
}

static void begin(struct link *l, const uint8_t *header, const uint8_t *payload)
{
	uint32_t len = payload ? get32(header + AT_LEN) : 0;

	memcpy(l->out_header, header, WEFT_FRAME_HEADER_BYTES);
	l->out_payload = payload;
	l->out_at = 0;
	l->out_len = WEFT_FRAME_HEADER_BYTES + (payload ? len + 4 : 0);
	l->out_sum = 0;
}

static void begin_next(struct link *l)
{
	uint8_t h[WEFT_FRAME_HEADER_BYTES];

	if (l->n_answers) {
		memcpy(h, l->answer[0], sizeof(h));
		memmove(l->answer[0], l->answer[1], --l->n_answers * sizeof(h));
		begin(l, h, h[AT_TYPE] == WEFT_FRAME_DATA ? l->dram + get32(h + AT_ADDR) : NULL);
	} else if (l->tx_busy) {
		make_header(h, WEFT_FRAME_REPLY, l->tx_seq, 0, l->tx_len);
		begin(l, h, l->tx);
	}
}

static void end_output(struct link *l)
{
	l->count.frames_out++;
	if (l->out_header[AT_TYPE] == WEFT_FRAME_REPLY)
		l->tx_busy = false;
	if (l->out_header[AT_TYPE] == WEFT_FRAME_DATA)
		l->reading = false;
	l->out_len = 0;
}

/* Where byte `at` of the frame lies, and how many follow it there. */
static const uint8_t *piece(const struct link *l, uint32_t at, uint32_t *n)
{
	uint32_t end = l->out_len - 4; /* of the payload, where there is one */

	if (at < WEFT_FRAME_HEADER_BYTES) {
		*n = WEFT_FRAME_HEADER_BYTES - at;
		return l->out_header + at;
	}
	if (at < end) {
		*n = end - at;
		return l->out_payload + (at - WEFT_FRAME_HEADER_BYTES);
	}
	*n = l->out_len - at;
	return l->out_crc + (at - end);
}

/* The crc covers what was really sent: memory may change meanwhile. */
static void sum(struct link *l, const uint8_t *data, uint32_t n)
{
	if (l->out_at + n + 4 > l->out_len)
		return;
	l->out_sum = (uint32_t)crc32(l->out_sum, data, n);
	put32(l->out_crc, l->out_sum);
}

size_t link_get(struct link *l, uint8_t *data, size_t len, bool *frame_end)
{
	size_t done = 0;

	*frame_end = false;
	if (!l->out_len)
		begin_next(l);
	while (done < len && l->out_at < l->out_len) {
		uint32_t n;
		const uint8_t *from = piece(l, l->out_at, &n);

		if (n > len - done)
			n = (uint32_t)(len - done);
		memcpy(data + done, from, n);
		if (l->out_at >= WEFT_FRAME_HEADER_BYTES)
			sum(l, data + done, n);
		l->out_at += n;
		done += n;
	}
	if (done && l->out_at == l->out_len) {
		*frame_end = true;
		end_output(l);
	}
	return done;
}

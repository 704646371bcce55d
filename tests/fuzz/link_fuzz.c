/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host sends over the link, at the card's end of it (sim/model/link.c): frames with headers and payloads of any
 * bytes, sealed or not, in pieces of any length. Memory beside the fence stays as it is, what the card answers are
 * whole frames with their checksums, and after a reset of the link a frame is answered as ever.
 *
 * The first byte is the length of the pieces, the second what the fence permits. Then frames: a byte of flags (1: the header's
 * magic and checksum are put right; 2: the payload's, too), 12 bytes of header, a byte n, 4 n bytes of payload.
 */
#include <zlib.h>

#include "fuzz.h"
#include "sim/model/link.h"

enum { DRAM = 0x4000, FENCE = 0x1000, FENCE_END = 0x3001 };

static uint8_t dram[DRAM];

/* Whether the bytes from `from` up to `to` are still those that memory began with. */
static bool untouched(size_t from, size_t to)
{
	return dram[from] == 0x5a && !memcmp(dram + from, dram + from + 1, to - from - 1);
}

static uint32_t word(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_word(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* Takes what the card has to say, as whole frames. Returns how many there were. */
static unsigned take(struct link *l)
{
	static uint8_t frame[WEFT_FRAME_HEADER_BYTES + WEFT_FRAME_WRITE_MAX + 4];
	unsigned n_frames = 0;
	size_t n = 0;

	while (link_has_output(l)) {
		bool end = false;
		const size_t got = link_get(l, frame + n, sizeof frame - n < 61 ? sizeof frame - n : 61, &end);
		fuzz_require(got > 0, "what is there can be taken");
		n += got;
		if (!end)
			continue;
		fuzz_require(n >= WEFT_FRAME_HEADER_BYTES && frame[0] == WEFT_FRAME_MAGIC && word(frame + 12) == crc32(0, frame, 12), "a header is sealed");
		const uint32_t len = frame[1] == WEFT_FRAME_ACK ? 0 : word(frame + 8);
		fuzz_require(n == WEFT_FRAME_HEADER_BYTES + (len ? len + 4 : 0), "a frame is as long as it says");
		fuzz_require(!len || word(frame + WEFT_FRAME_HEADER_BYTES + len) == crc32(0, frame + WEFT_FRAME_HEADER_BYTES, len), "a payload is sealed");
		n_frames++;
		n = 0;
	}
	fuzz_require(!n, "a frame has an end");
	return n_frames;
}

static void send(struct link *l, const uint8_t *p, size_t n, size_t piece)
{
	for (size_t at = 0, stuck = 0; at < n && stuck < 4; ) {
		const size_t taken = link_put(l, p + at, n - at < piece ? n - at : piece);
		fuzz_require(taken <= piece, "no more is taken than was there");
		at += taken;
		stuck = taken ? 0 : stuck + 1;
		take(l);
		l->rx_valid = l->rx_valid && stuck < 2;      /* the firmware has read the message */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t probe[12] = { WEFT_FRAME_MAGIC, WEFT_FRAME_READ, 7, 0, 0, FENCE >> 8, 0, 0, 16 };
	uint8_t frame[WEFT_FRAME_HEADER_BYTES + 4 * 255 + 4];
	struct link l;

	if (size < 2)
		return 0;
	memset(dram, 0x5a, sizeof dram);
	memset(&l, 0, sizeof l);
	link_init(&l, dram, sizeof dram);
	l.fence_base = FENCE;
	l.fence_limit = FENCE_END;
	l.fence_read = data[1] & 1;
	l.fence_write = data[1] & 2;
	for (size_t at = 2; at + 14 <= size; ) {
		const uint8_t flags = data[at];
		size_t len = 4 * (size_t)data[at + 13];
		memcpy(frame, data + at + 1, 12);
		at += 14;
		len = len < size - at ? len : size - at;
		if (flags & 1)
			frame[0] = WEFT_FRAME_MAGIC;
		put_word(frame + 12, (uint32_t)crc32(0, frame, 12) ^ !(flags & 1));
		memcpy(frame + WEFT_FRAME_HEADER_BYTES, data + at, len);
		put_word(frame + WEFT_FRAME_HEADER_BYTES + len, (uint32_t)crc32(0, data + at, (uInt)len) ^ !(flags & 2));
		at += len;
		send(&l, frame, WEFT_FRAME_HEADER_BYTES + (len ? len + 4 : 0), data[0] ? data[0] : 4096);
	}
	fuzz_require(untouched(0, FENCE) && untouched(FENCE_END, DRAM), "memory beside the fence stays");
	fuzz_require(l.fence_write || untouched(FENCE, FENCE_END), "memory that the fence does not let be written stays");
	link_reset(&l);
	fuzz_require(!link_has_output(&l), "a reset takes back what waits");
	l.fence_read = true;
	memcpy(frame, probe, sizeof probe);
	put_word(frame + 12, (uint32_t)crc32(0, frame, 12));
	fuzz_require(link_put(&l, frame, 16) == 16 && take(&l) == 1, "after a reset a READ is answered");
	return 0;
}

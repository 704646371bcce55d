/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test of card memory as the NPU sees it: data lines, address lines up to the size of a large
 * buffer, and March C- over a part. Blocks are written and read by the DMA. The DMA's own test
 * comes later and uses little memory: if that one passes and this one fails, the memory is at fault.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/diag/diag.h"

#define BIG (4u << 20)         /* bytes over which address lines are tried */
#define MARCH 32768            /* bytes over which the march goes */
#define CHUNK 1024             /* bytes of one transfer of the march */
#define PROBE 64               /* bytes at each address that is tried */

/*
 * Tests data and address lines of card memory: the NPU writes a probe of PROBE bytes at offset 0 and at
 * each 2^k bytes, from PROBE up to below BIG, of a buffer, then reads all of them. If a probe has
 * another one's contents and either is the one at offset 0, an address line makes no difference
 * (DIAG-MEM-1); any other wrong probe is DIAG-MEM-2 with its wrong bits. Only the first wrong probe is
 * reported; a stream that does not end is reported with the load engine as the suspect. Returns 0
 * whatever it found, or a negative errno as diag_exec().
 */
static int lines(struct weft_diag *d)
{
	struct diag_stream s = { .known = true };
	struct diag_out out = { 0 };
	uint8_t data[32][PROBE];
	uint64_t seed = 0x3e30;
	uint32_t n = 1;

	for (uint32_t a = PROBE; a < BIG; a *= 2)
		n++;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < PROBE; i++)
			data[k][i] = k < 8 ? (uint8_t)(1u << (i + k) % 8) : k < 16 ? (uint8_t)~(1u << (i + k) % 8) : (uint8_t)diag_random(&seed);
	for (uint32_t k = 0; k < n; k++)
		diag_put(&s, k * PROBE, data[k], PROBE);
	for (uint32_t k = 0; k < n; k++)
		diag_transfer(&s, WEFT_CMD_STORE, WEFT_WIN_ARENA, k ? PROBE << (k - 1) : 0, k * PROBE, PROBE);
	for (uint32_t k = 0; k < n; k++)
		diag_transfer(&s, WEFT_CMD_LOAD, WEFT_WIN_ARENA, k ? PROBE << (k - 1) : 0, 4096 + k * PROBE, PROBE);
	s.out_bytes = BIG + PROBE;
	size_t at = diag_store(&s, 4096, n * PROBE);
	int err = diag_exec(d, &s, &out);
	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, "probes of memory", "DIAG-RUN-2");
	uint8_t wrong = 0;
	for (uint32_t k = 0; err == DIAG_RAN && k < n; k++) {
		const uint8_t *got = out.got + at + k * PROBE;
		if (!memcmp(got, data[k], PROBE))
			continue;
		struct diag_place where = DIAG_NOWHERE;
		uint32_t other = 0;
		while (other < n && (other == k || memcmp(got, data[other], PROBE)))
			other++;
		if (other < n && (other == 0 || k == 0)) {
			uint32_t line = (k ? k : other) - 1 + 6;
			where.bit = (int)line;
			where.addr = INT64_C(1) << line;
			diag_find(d, "DIAG-MEM-1", where, "card memory: address line %u makes no difference", line);
			break;
		}
		for (uint32_t i = 0; i < PROBE; i++)
			wrong |= got[i] ^ data[k][i];
		where.addr = k ? PROBE << (k - 1) : 0;
		diag_find(d, "DIAG-MEM-2", where, "card memory: what was written at offset 0x%x comes back wrong, bits 0x%02x of bytes",
		          (unsigned)where.addr, wrong);
		break;
	}
	diag_out_free(&out);
	return err < 0 ? err : 0;
}

/*
 * Adds the transfers of one element of the march, for all chunks of the buffer at offset 0 of the
 * arena, from the last to the first if `down` is set. With `read`, each chunk is copied to offset `log`
 * plus its own offset, to be compared later. Then, if write is not negative, the chunk gets pattern
 * `write` (0 or 1) from the scratchpad.
 */
static void element(struct diag_stream *s, uint32_t log, bool read, int write, bool down)
{
	for (uint32_t i = 0; i < MARCH / CHUNK; i++) {
		uint32_t at = (down ? MARCH / CHUNK - 1 - i : i) * CHUNK;
		if (read) {
			diag_transfer(s, WEFT_CMD_LOAD, WEFT_WIN_ARENA, at, 8192, CHUNK);
			diag_transfer(s, WEFT_CMD_STORE, WEFT_WIN_ARENA, log + at, 8192, CHUNK);
		}
		if (write >= 0)
			diag_transfer(s, WEFT_CMD_STORE, WEFT_WIN_ARENA, at, (uint32_t)write * CHUNK, CHUNK);
	}
}

/*
 * March C- over MARCH bytes of card memory, in chunks that the DMA writes and reads, with bytes 0x55
 * and 0xaa by turns of 4 and their opposite. Only the first byte that was read wrong is reported, as
 * DIAG-MEM-3 with its offset and, if one bit alone is wrong, that bit; a stream that does not end is
 * reported with the load engine as the suspect. Returns 0 whatever it found, or a negative errno as
 * diag_exec().
 */
static int march(struct weft_diag *d)
{
	struct diag_stream s = { .known = true };
	struct diag_out out = { 0 };
	uint8_t b[2][CHUNK];

	for (uint32_t i = 0; i < CHUNK; i++) {
		b[0][i] = i / 4 & 1 ? 0xaa : 0x55;
		b[1][i] = (uint8_t)~b[0][i];
	}
	diag_put(&s, 0, b[0], CHUNK);
	diag_put(&s, CHUNK, b[1], CHUNK);
	element(&s, 0, false, 0, false);
	element(&s, 1 * MARCH, true, 1, false);
	element(&s, 2 * MARCH, true, 0, false);
	element(&s, 3 * MARCH, true, 1, true);
	element(&s, 4 * MARCH, true, 0, true);
	element(&s, 5 * MARCH, true, -1, false);
	s.out_bytes = 6 * MARCH;
	int err = diag_exec(d, &s, &out);
	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, "march over memory", "DIAG-RUN-2");
	for (uint32_t e = 0; err == DIAG_RAN && e < 5; e++)
		for (uint32_t i = 0; i < MARCH; i++) {
			uint8_t got = out.got[(e + 1) * MARCH + i], want = b[e & 1][i % CHUNK], wrong = got ^ want;
			if (!wrong)
				continue;
			struct diag_place where = DIAG_NOWHERE;
			where.addr = i;
			where.bit = wrong & (wrong - 1) ? -1 : __builtin_ctz(wrong);
			diag_find(d, "DIAG-MEM-3", where, "card memory: march, element %u: byte at offset 0x%x of the buffer is 0x%02x, not 0x%02x", e + 2,
			          i, got, want);
			e = 5;
			break;
		}
	diag_out_free(&out);
	return err < 0 ? err : 0;
}

/*
 * Test memory: data and address lines of card memory, then, if these are right, March C- over a part.
 * Findings go to d->r; absent if the device is no card. Returns 0 whatever it found, or a negative
 * errno as diag_exec().
 */
int diag_memory(struct weft_diag *d)
{
	if (d->o.kind != WEFT_DEV_USB) {
		diag_absent(d, "memory is the host's");
		return 0;
	}
	int err = lines(d);
	if (!err && d->r->state == WEFT_DIAG_PASSED)
		err = march(d);
	return err;
}

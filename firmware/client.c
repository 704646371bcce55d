/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose card memory is: nothing that one client left stays for the next.
 *
 * A client says who it is with the message HELLO, and with RELEASE that it is done. The link's hardware counts how far it
 * wrote, and this file notes how far its jobs may have written. A note in RAM says what is still to be cleared. It shrinks as memory is cleared, and outlives a reset in the middle of that.
 *
 * The NPU clears: it loads zeros into the whole scratchpad and stores those. If it does not answer, the core clears card
 * memory, and nobody the scratchpad.
 */
#include "fw.h"

#include <weft/gen/cmd.h>

#define CLIENT_MAGIC 0x54494c43u

#define ROW          0x10000u      /* bytes that one row of a store writes; HOST_BASE is a multiple */
#define CHUNK_ROWS   64u           /* rows that one stream clears at most */
#define BYTE_CYCLES  8u            /* cycles that the NPU may take for a byte before it counts as hung */
#define CPU_CHUNK    0x1000u       /* bytes that the core clears between two kicks of the watchdog */

/* The note of the client, at RAM_CLIENT. */
struct client {
	uint32_t magic;                /* CLIENT_MAGIC */
	uint32_t open;                 /* whether a session is under way */
	uint32_t session;              /* the number of the last one */
	uint32_t limit;                /* card memory from this address on was clear when the session began; HOST_BASE: all of it */
	uint32_t jobs_end;             /* jobs may have written card memory below this address, and the scratchpad; 0: there
	                                * were none */
	uint32_t crc;                  /* CRC-32 of the words before */
};

#define CLIENT       ((struct client *)RAM_CLIENT)
#define CLIENT_WORDS (offsetof(struct client, crc) / 4)

_Static_assert(RAM_CLIENT + sizeof(struct client) <= RAM_FREE, "client");
_Static_assert(HOST_BASE % ROW == 0 && DRAM_ZEROS + ZEROS_BYTES <= HOST_BASE, "card memory");

static bool greeted;               /* whether HELLO has come since the last link reset */

/* Returns the CRC-32 of the note of the client without its field crc. */
static uint32_t client_crc(void)
{
	return crc32_words(0, (const uint32_t *)CLIENT, CLIENT_WORDS);
}

/* Sets the note's crc, so that the note counts after a reset. */
static void seal(void)
{
	CLIENT->crc = client_crc();
}

/*
 * Lets the link read and write card memory from HOST_BASE on if `open` is set, else no card memory, and notes
 * that as `greeted`.
 */
static void fence(bool open)
{
	CHIP(WEFT_CHIP_LINK_FENCE_BASE) = HOST_BASE;
	CHIP(WEFT_CHIP_LINK_FENCE_LIMIT) = CHIP(WEFT_CHIP_SYS_DRAM_BYTES);
	CHIP(WEFT_CHIP_LINK_FENCE_PERM) = open ? WEFT_CHIP_LINK_FENCE_PERM_READ_MASK | WEFT_CHIP_LINK_FENCE_PERM_WRITE_MASK : 0;
	greeted = open;
}

/* ---- the NPU at work for the firmware ---- */

/* Writes a 64-bit word, the lower half first, to `to`. Returns the address behind it. */
static volatile uint32_t *put64(volatile uint32_t *to, uint64_t word)
{
	to[0] = (uint32_t)word;
	to[1] = (uint32_t)(word >> 32);
	return to + 2;
}

/*
 * Writes a stream to DRAM_STREAM: one load or store (op) of `rows` rows (at most 16384) of `row` bytes each,
 * from or to `window` at offset off and the scratchpad's address 0, then END. From one row to the next it is
 * dram_step bytes in the window and sp_step in the scratchpad. Returns the stream's length in 64-bit words.
 */
static uint32_t write_stream(uint32_t op, uint32_t window, uint32_t off, uint32_t row, uint32_t rows, uint32_t dram_step, uint32_t sp_step)
{
	volatile uint32_t *to = (volatile uint32_t *)(WEFT_CHIP_DRAM_BASE + DRAM_STREAM);

	to = put64(to, op | (uint64_t)WEFT_CMD_LOAD_WORDS << WEFT_CMD_HEADER_N_WORDS_LSB);
	to = put64(to, 0);
	to = put64(to, window | (uint64_t)off << WEFT_CMD_LOAD_DRAM_OFF_LSB);
	to = put64(to, (uint64_t)row << WEFT_CMD_LOAD_ROW_BYTES_LSB | (uint64_t)rows << WEFT_CMD_LOAD_N1_LSB);
	to = put64(to, 1ull << WEFT_CMD_LOAD_N2_LSB | 1ull << WEFT_CMD_LOAD_N3_LSB | (uint64_t)dram_step << WEFT_CMD_LOAD_DRAM_STRIDE1_LSB);
	to = put64(to, 0);
	to = put64(to, (uint64_t)sp_step << WEFT_CMD_LOAD_SP_STRIDE1_LSB);
	to = put64(to, WEFT_CMD_END | (uint64_t)WEFT_CMD_END_WORDS << WEFT_CMD_HEADER_N_WORDS_LSB);
	put64(to, 0);
	return WEFT_CMD_LOAD_WORDS + WEFT_CMD_END_WORDS;
}

/*
 * Runs the stream at DRAM_STREAM, of n_words words, with the one window w, and waits for its end, at most so
 * many cycles; kicks the watchdog meanwhile. Returns whether it ended without a fault; if not, the NPU has been
 * stopped.
 */
static bool run_stream(const struct weft_msg_window *w, uint32_t n_words, uint32_t cycles)
{
	const uint64_t until = time_now() + cycles;
	uint32_t status;
	bool forced;

	npu_start(w, 1, DRAM_STREAM, n_words);
	do {
		wdt_kick();
		status = NPU(WEFT_REG_STATUS);
	} while (!(status & (WEFT_REG_STATUS_DONE_MASK | WEFT_REG_STATUS_FAULT_MASK)) && time_now() < until);
	NPU(WEFT_REG_IRQ_STATUS) = WEFT_REG_IRQ_STATUS_DONE_MASK | WEFT_REG_IRQ_STATUS_FAULT_MASK;
	if (status & WEFT_REG_STATUS_DONE_MASK)
		return true;
	npu_stop(&forced);
	return false;
}

/* Writes zeros to DRAM_ZEROS and lets the NPU load them into the whole scratchpad. Returns whether it did. */
static bool clear_scratchpad(void)
{
	const struct weft_msg_window zeros = { DRAM_ZEROS, ZEROS_BYTES, WEFT_MSG_PERM_READ };
	const uint32_t log2 = (NPU(WEFT_REG_CONFIG) & WEFT_REG_CONFIG_LOG2_SP_BYTES_MASK) >> WEFT_REG_CONFIG_LOG2_SP_BYTES_LSB;
	volatile uint32_t *to = (volatile uint32_t *)(WEFT_CHIP_DRAM_BASE + DRAM_ZEROS);

	for (uint32_t i = 0; i < ZEROS_BYTES / 4; i++)
		to[i] = 0;
	return run_stream(&zeros, write_stream(WEFT_CMD_LOAD, 1, 0, ZEROS_BYTES, (1u << log2) / ZEROS_BYTES, 0, ZEROS_BYTES),
	                  BYTE_CYCLES << log2);
}

/*
 * Lets the NPU store zeros to `rows` rows of ROW bytes of card memory from base on; the scratchpad must be
 * clear. Returns whether it did.
 */
static bool clear_chunk(uint32_t base, uint32_t rows)
{
	const struct weft_msg_window all = { base, rows * ROW, WEFT_MSG_PERM_WRITE };

	return run_stream(&all, write_stream(WEFT_CMD_STORE, 1, 0, ROW, rows, ROW, 0), rows * ROW * BYTE_CYCLES);
}

/* ---- clearing ---- */

/* Notes that card memory from `limit` on is clear. */
static void cleared_to(uint32_t limit)
{
	CLIENT->limit = limit;
	seal();
}

/*
 * Lets the NPU clear the scratchpad, and then card memory below c->limit down to HOST_BASE, from the top down
 * and noted chunk by chunk, so that one number says what is left. Returns whether all is clear; false also if
 * the NPU is dead.
 */
static bool clear_by_npu(void)
{
	if (npu_dead || !clear_scratchpad())
		return false;
	while (CLIENT->limit > HOST_BASE) {
		uint32_t rows = (CLIENT->limit - HOST_BASE + ROW - 1) / ROW;

		rows = rows < CHUNK_ROWS ? rows : CHUNK_ROWS;
		const uint32_t end = (CLIENT->limit + ROW - 1) / ROW * ROW;
		if (!clear_chunk(end - rows * ROW, rows))
			return false;
		cleared_to(end - rows * ROW);
	}
	return true;
}

/*
 * Clears card memory below c->limit down to HOST_BASE by the core, from the top down and noted every CPU_CHUNK
 * bytes. The scratchpad stays as it is.
 */
static void clear_by_core(void)
{
	while (CLIENT->limit > HOST_BASE) {
		const uint32_t base = (CLIENT->limit - 1) / CPU_CHUNK * CPU_CHUNK;
		volatile uint32_t *to = (volatile uint32_t *)(WEFT_CHIP_DRAM_BASE + base);

		for (uint32_t i = 0; i < CPU_CHUNK / 4; i++)
			to[i] = 0;
		wdt_kick();
		cleared_to(base);
	}
}

/*
 * Drops all jobs, and clears what the note says that the client may have written: card memory, and the
 * scratchpad if there were jobs. If there was something, the boot id becomes 0, so that the next HELLO makes
 * another one, and the log gets an entry. Returns true if all is clear; false if the NPU failed, so that card
 * memory is clear but the scratchpad is not.
 */
static bool clear(void)
{
	struct client *c = CLIENT;
	const uint64_t begin = time_now();
	const uint32_t limit = c->limit;

	jobs_drop();
	if (limit <= HOST_BASE && !c->jobs_end)
		return true;
	npu_keep();
	if (clear_by_npu()) {
		c->jobs_end = 0;
		seal();
	} else {
		clear_by_core();
	}
	BOOT_INFO->boot_id = 0;        /* the next HELLO makes another */
	log_add(WEFT_LOG_CLEARED, limit, (uint32_t)(time_now() - begin));
	return !c->jobs_end;
}

/*
 * The first address behind the blocks of 64 KiB that the link counted, at most the end of card memory; 0: there is none.
 * told: the answer for a chip that does not count.
 */
static uint32_t counted_end(uint32_t told)
{
	const uint32_t seen = CHIP(WEFT_CHIP_LINK_WRITTEN), all = CHIP(WEFT_CHIP_SYS_DRAM_BYTES);
	const uint32_t block = (seen & WEFT_CHIP_LINK_WRITTEN_BLOCK_MASK) >> WEFT_CHIP_LINK_WRITTEN_BLOCK_LSB;

	if (!(seen & WEFT_CHIP_LINK_WRITTEN_COUNTS_MASK))
		return CLIENT->open ? told : 0;
	if (!(seen & WEFT_CHIP_LINK_WRITTEN_ANY_MASK))
		return 0;
	return block < all / ROW ? (block + 1) * ROW : all;
}

/*
 * Ends the session, if there is one, and closes the fence. Raises the note's limit to what is behind all that the client and
 * its jobs may have written, and has the link count from the start again. told: an address behind all that the client
 * wrote, for a chip that does not count.
 */
static void close_session(uint32_t told)
{
	const uint32_t all = CHIP(WEFT_CHIP_SYS_DRAM_BYTES);
	struct client *c = CLIENT;

	fence(false);
	uint32_t end = counted_end(told);
	if (end < c->jobs_end)
		end = c->jobs_end;
	if (end > c->limit)
		c->limit = end < all ? end : all;
	c->open = false;
	seal();
	CHIP(WEFT_CHIP_LINK_WRITTEN) = 0;
}

/* ---- from outside ---- */

void client_init(const struct boot_info *b)
{
	struct client *c = CLIENT;
	const bool whole = c->magic == CLIENT_MAGIC && c->crc == client_crc();

	fence(false);
	if (whole && b->cause != WEFT_CHIP_CAUSE_POWER)
		return;
	*c = (struct client){ .magic = CLIENT_MAGIC, .limit = HOST_BASE };
	/* Of a firmware before this one nobody knows what it let in. */
	if (b->cause != WEFT_CHIP_CAUSE_POWER)
		c->limit = c->jobs_end = CHIP(WEFT_CHIP_SYS_DRAM_BYTES);
	seal();
}

void client_hello(uint32_t session)
{
	struct client *c = CLIENT;

	if (!c->open || c->session != session) {
		close_session(CHIP(WEFT_CHIP_SYS_DRAM_BYTES));
		/* What the NPU cannot clear it must not show either: no job until the chip is reset. */
		npu_dead = !clear() || npu_dead;
		c->open = true;
		c->session = session;
		seal();
	}
	fence(true);
}

void client_link_reset(void)
{
	fence(false);
}

void client_release(void)
{
	/* Only a client that said HELLO is believed. */
	close_session(greeted ? msg_in[1] : CHIP(WEFT_CHIP_SYS_DRAM_BYTES));
	reply_begin(WEFT_MSG_RELEASE, WEFT_MSG_ERR_OK);
	reply_send(msg_seq());
	clear();
}

void client_job(uint32_t end)
{
	npu_unkeep();
	if (end <= CLIENT->jobs_end)
		return;
	CLIENT->jobs_end = end;
	seal();
}

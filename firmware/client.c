/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose card memory is: nothing that one client left stays for the next. A client says who it is with HELLO, and that it is
 * done with RELEASE, and how much it wrote; jobs' windows are noted here. Who goes without RELEASE may have written
 * anywhere. What is to be cleared stands in RAM, where it outlives a reset in the middle, and shrinks as it is cleared.
 *
 * The NPU clears: it loads zeros into the whole scratchpad and stores those. If it does not answer, the core does it.
 */
#include "fw.h"

#include <weft/gen/cmd.h>

#define CLIENT_MAGIC 0x54494c43u

#define ROW          0x10000u      /* bytes that one row of a store writes; all of card memory is in these */
#define CHUNK_ROWS   64u           /* of one stream */
#define BYTE_CYCLES  8u            /* that a byte may take */
#define CPU_CHUNK    0x1000u       /* bytes between two kicks, where the core clears */

struct client {
	uint32_t magic;
	uint32_t open;                 /* session is one, and is not over */
	uint32_t session;
	uint32_t limit;                /* card memory from there on is clear; HOST_BASE: all */
	uint32_t jobs_end;             /* jobs may have written below, and to the scratchpad; 0: there were none */
	uint32_t crc;                  /* of the words before */
};

#define CLIENT       ((struct client *)RAM_CLIENT)
#define CLIENT_WORDS (offsetof(struct client, crc) / 4)

_Static_assert(RAM_CLIENT + sizeof(struct client) <= RAM_FREE, "client");
_Static_assert(HOST_BASE % ROW == 0 && DRAM_ZEROS + ZEROS_BYTES <= HOST_BASE, "card memory");

static bool greeted;               /* since the last link reset */

static uint32_t client_crc(void)
{
	return crc32_words(0, (const uint32_t *)CLIENT, CLIENT_WORDS);
}

static void seal(void)
{
	CLIENT->crc = client_crc();
}

static void fence(bool open)
{
	CHIP(WEFT_CHIP_LINK_FENCE_BASE) = HOST_BASE;
	CHIP(WEFT_CHIP_LINK_FENCE_LIMIT) = CHIP(WEFT_CHIP_SYS_DRAM_BYTES);
	CHIP(WEFT_CHIP_LINK_FENCE_PERM) = open ? WEFT_CHIP_LINK_FENCE_PERM_READ_MASK | WEFT_CHIP_LINK_FENCE_PERM_WRITE_MASK : 0;
	greeted = open;
}

/* ---- the NPU at work for the firmware ---- */

static volatile uint32_t *put64(volatile uint32_t *to, uint64_t word)
{
	to[0] = (uint32_t)word;
	to[1] = (uint32_t)(word >> 32);
	return to + 2;
}

/* A load or store of rows, then the end. rows: at most 16384; steps from one to the next, in bytes. Words of it. */
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

/* The stream that was written, to its end. False: it did not come there. */
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

/* The scratchpad is clear. */
static bool clear_chunk(uint32_t base, uint32_t rows)
{
	const struct weft_msg_window all = { base, rows * ROW, WEFT_MSG_PERM_WRITE };

	return run_stream(&all, write_stream(WEFT_CMD_STORE, 1, 0, ROW, rows, ROW, 0), rows * ROW * BYTE_CYCLES);
}

/* ---- clearing ---- */

static void cleared_to(uint32_t limit)
{
	CLIENT->limit = limit;
	seal();
}

/* From the top, so that what is left is named by one number. False: the NPU failed at what is left. */
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

/* What the client before has left. False: it is still in the scratchpad. */
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
		fence(false);
		/* What the NPU cannot clear it must not show either: no job until the chip is reset. */
		npu_dead = !clear() || npu_dead;
		c->open = true;
		c->session = session;
		cleared_to(CHIP(WEFT_CHIP_SYS_DRAM_BYTES));
	}
	fence(true);
}

void client_link_reset(void)
{
	fence(false);
}

void client_release(void)
{
	struct client *c = CLIENT;
	const uint32_t all = CHIP(WEFT_CHIP_SYS_DRAM_BYTES), told = msg_in[1] > c->jobs_end ? msg_in[1] : c->jobs_end;

	/* Only who said HELLO has a word in it. */
	if (c->open && greeted)
		c->limit = told < HOST_BASE ? HOST_BASE : told < all ? told : all;
	c->open = false;
	fence(false);
	seal();
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing that one client of a card left stays for the next: card memory, the scratchpad, jobs; whether it said that it
 * goes or not, and where a reset meets the clearing. On both chips. What clearing costs is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/card.h"
#include "tests/support/card_stream.h"
#include "tests/support/level.h"
#include "weft/gen/regs.h"

#define DRAM    (1u << 18)
#define BASE    0x10000u
#define STREAM  (DRAM - 0x1000u)
#define SP      (1 << 19)
/* Of the scratchpad: at its begin, in its middle, at its end. */
#define PART    0x8000
#define PARTS   3
#define PATIENCE 4000000
/* Cycles a byte that clearing may take, and beside its bytes: zeros into the scratchpad, two jobs, messages. */
#define PER_BYTE 1
#define BESIDE   200000

static struct card card;
static const struct weft_chip_ops *ops;
static uint8_t pattern[DRAM - BASE], back[DRAM - BASE], zeros[DRAM - BASE];

static int setup(void **state)
{
	(void)state;
	card_open_quick(&card, ops, "w16", DRAM);
	card.patience = PATIENCE;
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(1 + i * 7 % 255);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	card_close(&card);
	return 0;
}

static struct weft_msg_hello_reply greet(uint32_t session)
{
	struct weft_msg_hello_reply h = { 0 };

	for (int i = 0; i < 4; i++)
		if (card_hello_as(&card, session, &h))
			return h;
	fail_msg("no HELLO for session %u", session);
	return h;
}

/* A job that has the parts of the scratchpad loaded from memory at BASE, or stored there. */
static void move_scratchpad(bool store, uint32_t job)
{
	static const int at[PARTS] = { 0, SP / 2, SP - PART };
	const struct weft_msg_window w = { BASE, PARTS * PART, WEFT_MSG_PERM_READ | WEFT_MSG_PERM_WRITE };
	struct card_stream s = { 0 };
	struct weft_msg_done_reply d;

	for (int i = 0; i < PARTS; i++) {
		struct weft_cmd c;

		weft_cmd_init(&c, store ? WEFT_CMD_STORE : WEFT_CMD_LOAD);
		c.load.window = 1;
		c.load.dram_off = i * PART;
		c.load.sp_addr = at[i];
		c.load.row_bytes = PART;
		stream_put(&s, &c);
	}
	stream_end(&s);
	assert_int_equal(card_write(&card, STREAM, s.words, (uint32_t)(8 * s.n)), 0);
	assert_int_equal(card_submit(&card, job, 0, STREAM, (uint32_t)s.n, &w, 1, NULL), WEFT_MSG_ERR_OK);
	assert_true(card_wait(&card, job, PATIENCE, &d));
	assert_int_equal(d.result, WEFT_MSG_RESULT_OK);
}

/* All of memory, and the scratchpad, hold something of this client. */
static void leave_traces(void)
{
	assert_int_equal(card_write(&card, BASE, pattern, sizeof(pattern)), 0);
	move_scratchpad(false, 1);
	assert_int_equal(card_read(&card, BASE, back, sizeof(back)), 0);
	assert_memory_equal(back, pattern, STREAM - BASE);
}

static void find_nothing(void)
{
	struct weft_msg_done_reply d;

	assert_int_equal(card_read(&card, BASE, back, sizeof(back)), 0);
	assert_memory_equal(back, zeros, sizeof(back));
	assert_int_equal(card_ask(&card, WEFT_MSG_DONE, 1, 0, 1, &d, 4), WEFT_MSG_ERR_NO_JOB);
	/* What is in the scratchpad takes the place of something else. */
	assert_int_equal(card_write(&card, BASE, pattern, sizeof(pattern)), 0);
	move_scratchpad(true, 2);
	assert_int_equal(card_read(&card, BASE, back, PARTS * PART), 0);
	assert_memory_equal(back, zeros, PARTS * PART);
}

/* The firmware takes a moment to notice. */
static void reset_link(void)
{
	card.ops->link_reset(card.chip);
	card.ops->run(card.chip, 5000);
}

static void release(uint32_t limit)
{
	assert_int_equal(card_ask(&card, WEFT_MSG_RELEASE, limit, 0, 1, NULL, 0), WEFT_MSG_ERR_OK);
}

static void is_cleared_at_release(void **state)
{
	uint8_t word[4];

	(void)state;
	greet(1);
	leave_traces();
	release(DRAM);
	/* Who does not say HELLO sees nothing at all. */
	assert_int_equal(card_read(&card, BASE, word, 4), -2);
	assert_int_equal(card_write(&card, BASE, pattern, 4), -2);
	greet(2);
	find_nothing();
	release(DRAM);
	/* The same number again is somebody else, too. */
	greet(2);
	find_nothing();
	/* What jobs may have written counts, whatever the client says. */
	release(BASE);
	greet(3);
	assert_int_equal(card_read(&card, BASE, back, PARTS * PART), 0);
	assert_memory_equal(back, zeros, PARTS * PART);
	release(DRAM);
}

static void is_cleared_for_another_session(void **state)
{
	(void)state;
	const uint32_t mine = greet(1).boot_id;
	leave_traces();
	/* A link reset is no end: the same client goes on. */
	reset_link();
	assert_int_equal(card_read(&card, BASE, back, 4), -2);
	assert_int_equal(greet(1).boot_id, mine);
	assert_int_equal(card_read(&card, BASE, back, sizeof(back)), 0);
	assert_memory_equal(back, pattern, STREAM - BASE);
	reset_link();
	assert_true(greet(2).boot_id != mine);
	find_nothing();
	/* And a host of protocol 1.1, which names no session. */
	reset_link();
	greet(1);
	leave_traces();
	reset_link();
	struct weft_msg_hello_reply h;
	assert_true(card_hello(&card, &h));
	find_nothing();
	greet(4);
	release(DRAM);
}

/* Resets of the chip keep memory: neither they nor one in the middle of the clearing keep it from being cleared. */
static void is_cleared_through_resets(void **state)
{
	const uint32_t hello[3] = { WEFT_MSG_HELLO, WEFT_MSG_VERSION_VALUE, 2 };

	(void)state;
	greet(1);
	leave_traces();
	card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
	/* The client that was there may go on. */
	greet(1);
	assert_int_equal(card_read(&card, BASE, back, sizeof(back)), 0);
	assert_memory_equal(back, pattern, STREAM - BASE);
	for (int i = 1; i < 8; i++) {
		card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
		card_run(&card, 400000);
		assert_true(card_send(&card, WEFT_FRAME_MSG, 77, 0, hello, sizeof(hello)));
		card.ops->run(card.chip, (uint64_t)i * 9000);
	}
	card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
	greet(2);
	find_nothing();
	release(DRAM);
}

/* Where the NPU fails the core clears memory, and the NPU tries again at the next HELLO. If that fails, too, no job may look. */
static void is_cleared_without_the_npu(void **state)
{
	const struct weft_chip_plant fault = { .kind = WEFT_CHIP_PLANT_NPU_FAULT }, hang = { .kind = WEFT_CHIP_PLANT_NPU_HANG };
	const struct weft_msg_window w = { BASE, PART, WEFT_MSG_PERM_WRITE };

	(void)state;
	/* The core alone is slow at it: minutes on the Verilated chip. */
	if (ops != weft_chip_model())
		return;
	greet(1);
	leave_traces();
	assert_int_equal(card.ops->plant(card.chip, &hang), 0);
	card.patience = 40000000;
	release(DRAM);
	greet(2);
	find_nothing();
	assert_int_equal(card.ops->plant(card.chip, &fault), 0);
	release(DRAM);
	assert_int_equal(card_ask(&card, WEFT_MSG_PING, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_OK);
	assert_int_equal(card.ops->plant(card.chip, &fault), 0);
	greet(3);
	assert_int_equal(card_submit(&card, 1, 0, BASE, 2, &w, 0, NULL), WEFT_MSG_ERR_NPU_DEAD);
	card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
	greet(4);
	find_nothing();
	card.patience = PATIENCE;
	release(DRAM);
}

/* The answer to REG_READ of windows 0 and 1 of the NPU. */
struct two_windows { uint32_t head, stream[4], memory[4]; };

static struct two_windows windows_now(void)
{
	struct two_windows w;

	assert_int_equal(card_ask(&card, WEFT_MSG_REG_READ, WEFT_REG_WIN_BASE_LO(0), 8, 2, &w, sizeof(w)),
	                 WEFT_MSG_ERR_OK);
	return w;
}

/*
 * The registers show the last job of a client, not those by which the firmware clears memory behind this client
 * and the next ones.
 */
static void registers_show_a_clients_job(void **state)
{
	(void)state;
	greet(1);
	leave_traces();
	const struct two_windows job = windows_now();
	assert_int_equal(job.stream[0], STREAM);
	assert_int_equal(job.memory[0], BASE);
	for (uint32_t next = 2; next < 4; next++) {
		release(DRAM);
		greet(next);
		const struct two_windows now = windows_now();
		assert_memory_equal(&now, &job, sizeof(job));
		assert_int_equal(card_write(&card, BASE, pattern, 4), 0);
	}
	release(DRAM);
}

static void costs_little(void **state)
{
	static const uint32_t bytes[] = { 0, 0x10000, 0x20000, DRAM - BASE };

	(void)state;
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		greet(5);
		if (bytes[i])
			assert_int_equal(card_write(&card, BASE, pattern, bytes[i]), 0);
		release(BASE + bytes[i]);
		const uint64_t begin = card.ops->cycles(card.chip);
		greet(6);
		const uint64_t took = card.ops->cycles(card.chip) - begin;
		printf("%s: HELLO behind RELEASE of %u bytes: %llu cycles\n", card.ops->name, bytes[i], (unsigned long long)took);
		assert_in_range(took, 1, BESIDE + PER_BYTE * bytes[i]);
		release(BASE);
	}
}

static uint64_t time_of_hello(uint32_t session)
{
	const uint64_t begin = card.ops->cycles(card.chip);

	greet(session);
	return card.ops->cycles(card.chip) - begin;
}

/* The chip knows how far a client wrote, whether it goes without a word or says something else. */
static void counts_by_itself(void **state)
{
	static const uint32_t at[] = { 0, 0x1fffc, 0x20000, DRAM - BASE - 4 };

	(void)state;
	for (uint32_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		for (uint32_t says = 0; says < 2; says++) {
			greet(7);
			assert_int_equal(card_write(&card, BASE + at[i], pattern, 4), 0);
			if (says)
				release(BASE);
			else
				reset_link();
			const uint64_t took = time_of_hello(8);
			assert_in_range(took, 1, BESIDE + PER_BYTE * (at[i] + 0x10000));
			assert_int_equal(card_read(&card, BASE, back, sizeof(back)), 0);
			assert_memory_equal(back, zeros, sizeof(back));
			reset_link();
		}
	/* Two that looked around, and wrote nothing. */
	greet(9);
	reset_link();
	assert_in_range(time_of_hello(10), 1, BESIDE / 4);
	/* Resets do not take the count. */
	assert_int_equal(card_write(&card, BASE + 0x20000, pattern, 4), 0);
	card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
	card_run(&card, 400000);
	release(BASE);
	assert_in_range(time_of_hello(11), 1, BESIDE);
	assert_int_equal(card_read(&card, BASE, back, sizeof(back)), 0);
	assert_memory_equal(back, zeros, sizeof(back));
	release(BASE);
}

/* Cards that do the same at the same time have other numbers, if their clients have. */
static void numbers_are_not_guessed(void **state)
{
	uint32_t id[16];

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		card_power(&card);
		card_run(&card, 400000);
		id[i] = greet(0x1000 + i).boot_id;
		for (uint32_t k = 0; k < i; k++)
			assert_true(id[k] != id[i]);
	}
	card_power(&card);
	card_run(&card, 400000);
	/* All but the client's number is as it was. */
	assert_int_equal(greet(0x1000).boot_id, id[0]);
	release(BASE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_cleared_at_release), cmocka_unit_test(is_cleared_for_another_session),
		cmocka_unit_test(is_cleared_through_resets), cmocka_unit_test(is_cleared_without_the_npu),
		cmocka_unit_test(registers_show_a_clients_job),
		cmocka_unit_test(costs_little), cmocka_unit_test(counts_by_itself), cmocka_unit_test(numbers_are_not_guessed),
	};

	ops = weft_chip_model();
	int failed = cmocka_run_group_tests_name("functional", tests, setup, teardown);
	if (test_level()) {
		ops = card_rtl("w16");
		failed += ops ? cmocka_run_group_tests_name("rtl", tests, setup, teardown) : card_rtl_missing();
	}
	return failed;
}

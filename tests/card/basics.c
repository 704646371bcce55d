/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware answers, on the functional chip and on the Verilated one: HELLO, PING, memory, registers, log, self-test. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/gen/config.h>
#include <weft/gen/regs.h>

#include "tests/support/card.h"

#define DRAM (1u << 20)

static struct card card;
static const struct weft_chip_ops *rtl;

static int open_card(void **state)
{
	(void)state;
	card_open(&card, weft_chip_model(), "w16", DRAM);
	return 0;
}

static int open_rtl(void **state)
{
	(void)state;
	card_open(&card, rtl, "w16", DRAM);
	return 0;
}

static int close_card(void **state)
{
	(void)state;
	card_close(&card);
	return 0;
}

static void says_who_it_is(void **state)
{
	struct weft_msg_hello_reply h;

	(void)state;
	assert_true(card_hello(&card, &h));
	assert_int_equal(h.protocol, WEFT_MSG_VERSION_VALUE);
	assert_int_equal(h.chip_version, WEFT_CHIP_VERSION_VALUE);
	assert_int_equal(h.npu_version, WEFT_REG_VERSION_VALUE);
	assert_int_equal(h.npu_config, weft_config_find("w16")->reg_config);
	assert_int_equal(h.npu_features, weft_config_find("w16")->features);
	assert_int_equal(h.dram_bytes, DRAM);
	assert_true(h.host_base % 64 == 0 && h.host_base < h.host_limit && h.host_limit <= DRAM);
	assert_int_equal(h.jobs_max, WEFT_MSG_JOBS_MAX);
	assert_int_equal(h.slot, 0);
	assert_int_equal(h.trial, 0);
	assert_int_equal(h.boot_count, 1);
	assert_int_equal(h.reset_cause, WEFT_CHIP_CAUSE_POWER);
	assert_memory_equal(h.serial, "TEST0001\0\0\0\0\0\0\0\0", 16);
}

static void echoes(void **state)
{
	uint32_t words[128] = { WEFT_MSG_PING }, reply[128];

	(void)state;
	for (unsigned n = 1; n <= 128; n += n < 4 ? 1 : 31) {
		for (unsigned i = 1; i < n; i++)
			words[i] = i * 0x01010101u ^ n;
		assert_int_equal(card_message(&card, words, n, reply, 128, NULL), n);
		assert_memory_equal(reply + 1, words + 1, (n - 1) * 4);
	}
}

static void moves_memory(void **state)
{
	static uint8_t data[300001], back[300001];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + (i >> 8));
	assert_int_equal(card_write(&card, 0x10003, data, sizeof(data)), 0);
	assert_int_equal(card_read(&card, 0x10003, back, sizeof(back)), 0);
	assert_memory_equal(data, back, sizeof(data));
	assert_memory_equal(card.ops->dram(card.chip) + 0x10003, data, sizeof(data));
	/* The firmware's part, and what is not there. */
	assert_int_equal(card_write(&card, 0xffff, data, 2), -2);
	assert_int_equal(card_read(&card, 0, back, 4), -2);
	assert_int_equal(card_write(&card, DRAM - 1, data, 1), 0);
	assert_int_equal(card_write(&card, DRAM - 1, data, 2), -2);
	assert_int_equal(card_read(&card, 0xffffffff, back, 16), -2);
}

static void tests_itself(void **state)
{
	struct weft_msg_self_test_reply r;

	(void)state;
	assert_int_equal(card_ask(&card, WEFT_MSG_SELF_TEST, 63, 0, 1, &r, sizeof(r)), WEFT_MSG_ERR_OK);
	assert_int_equal(r.ran, 63);
	assert_int_equal(r.failed, 0);
	/* One wrong bit of the running slot. */
	card.flash[WEFT_FLASH_SLOT_A + 1000] ^= 16;
	assert_int_equal(card_ask(&card, WEFT_MSG_SELF_TEST, 63, 0, 1, &r, sizeof(r)), WEFT_MSG_ERR_SELF_TEST);
	assert_int_equal(r.failed, WEFT_MSG_TEST_FLASH);
	assert_int_equal(r.where, WEFT_FLASH_SLOT_A);
	card.flash[WEFT_FLASH_SLOT_A + 1000] ^= 16;
}

/* Two neighbouring bits of one word touch, any two of 32: the self-test names the word. */
static void finds_touching_bits(void **state)
{
	const struct weft_chip_plant none = { .kind = WEFT_CHIP_PLANT_NONE };
	const uint32_t at = WEFT_CHIP_RAM_SIZE - 128;     /* of the RAM that nobody uses */
	struct weft_msg_self_test_reply r;

	(void)state;
	for (uint32_t bit = 0; bit < 31; bit++) {
		const struct weft_chip_plant touch = { .kind = WEFT_CHIP_PLANT_RAM, .addr = at, .bit = bit };
		int err = card.ops->plant(card.chip, &touch);

		if (err == -ENOTSUP)
			skip();
		assert_int_equal(err, 0);
		assert_int_equal(card_ask(&card, WEFT_MSG_SELF_TEST, WEFT_MSG_TEST_RAM, 0, 1, &r, sizeof(r)), WEFT_MSG_ERR_SELF_TEST);
		assert_int_equal(r.failed, WEFT_MSG_TEST_RAM);
		assert_int_equal(r.where, WEFT_CHIP_RAM_BASE + at);
		assert_int_equal(card.ops->plant(card.chip, &none), 0);
	}
	assert_int_equal(card_ask(&card, WEFT_MSG_SELF_TEST, WEFT_MSG_TEST_RAM, 0, 1, &r, sizeof(r)), WEFT_MSG_ERR_OK);
}

/* The self-test accepts a flash of any maker that answers and is large enough. Of another one it returns the ID. */
static void takes_any_large_flash(void **state)
{
	static const struct {
		uint32_t id;
		bool good;
	} flash[] = {
		{ WEFT_FLASH_JEDEC_ID, true }, { 0x9d6018, true }, { 0xef7018, true }, { 0xc22016, true }, { 0x20ba20, true },
		{ 0x000000, false }, { 0xffffff, false }, { 0xef4015, false }, { 0x004016, false }, { 0xff4016, false }, { 0xef40ff, false },
	};
	const struct weft_chip_plant none = { .kind = WEFT_CHIP_PLANT_NONE };
	struct weft_msg_self_test_reply r;

	(void)state;
	for (size_t i = 0; i < sizeof(flash) / sizeof(flash[0]); i++) {
		const struct weft_chip_plant id = { .kind = WEFT_CHIP_PLANT_FLASH_ID, .addr = flash[i].id };
		const bool good = flash[i].good;

		assert_int_equal(card.ops->plant(card.chip, &id), 0);
		assert_int_equal(card_ask(&card, WEFT_MSG_SELF_TEST, WEFT_MSG_TEST_FLASH, 0, 1, &r, sizeof(r)),
		                 good ? WEFT_MSG_ERR_OK : WEFT_MSG_ERR_SELF_TEST);
		assert_int_equal(r.failed, good ? 0 : WEFT_MSG_TEST_FLASH);
		if (!good) {
			assert_int_equal(r.where, 0);
			assert_int_equal(r.got, flash[i].id);
		}
	}
	assert_int_equal(card.ops->plant(card.chip, &none), 0);
	assert_int_equal(card_ask(&card, WEFT_MSG_SELF_TEST, WEFT_MSG_TEST_FLASH, 0, 1, &r, sizeof(r)), WEFT_MSG_ERR_OK);
}

static void shows_registers(void **state)
{
	uint32_t read[3] = { WEFT_MSG_REG_READ, WEFT_REG_ID, 4 }, reply[8];
	enum weft_msg_error error;

	(void)state;
	assert_int_equal(card_message(&card, read, 3, reply, 8, &error), 5);
	assert_int_equal(reply[1], WEFT_REG_ID_VALUE);
	assert_int_equal(card_ask(&card, WEFT_MSG_REG_WRITE, WEFT_REG_WIN_SIZE(3), 12345, 2, NULL, 0), WEFT_MSG_ERR_OK);
	assert_int_equal(card_ask(&card, WEFT_MSG_REG_READ, WEFT_REG_WIN_SIZE(3), 1, 2, reply, 8), WEFT_MSG_ERR_OK);
	assert_int_equal(reply[1], 12345);
	assert_int_equal(card_ask(&card, WEFT_MSG_REG_WRITE, WEFT_REG_CTRL, 1, 2, NULL, 0), WEFT_MSG_ERR_REG);
	assert_int_equal(card_ask(&card, WEFT_MSG_REG_READ, WEFT_REG_SPACE, 1, 2, NULL, 0), WEFT_MSG_ERR_REG);
	assert_int_equal(card_ask(&card, WEFT_MSG_REG_READ, 2, 1, 2, NULL, 0), WEFT_MSG_ERR_REG);
	assert_int_equal(card_ask(&card, WEFT_MSG_REG_READ, WEFT_REG_SPACE - 4, 2, 2, NULL, 0), WEFT_MSG_ERR_REG);
}

static void refuses_nonsense(void **state)
{
	struct weft_msg_stats_reply before, after;
	uint32_t reply[4];
	enum weft_msg_error error;

	(void)state;
	card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &before, sizeof(before));
	for (uint32_t type = 0; type < 0x10000; type += type < 40 ? 1 : 4093) {
		uint32_t words[3] = { type };

		if (weft_msg_type_name(type))
			continue;
		assert_true(card_message(&card, words, 3, reply, 4, &error) > 0);
		assert_int_equal(error, WEFT_MSG_ERR_TYPE);
	}
	assert_int_equal(card_ask(&card, WEFT_MSG_HELLO, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_LENGTH);
	assert_int_equal(card_ask(&card, WEFT_MSG_HELLO, 0x70000, 0, 1, NULL, 0), WEFT_MSG_ERR_VERSION);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_DATA, 0, 0, 2, NULL, 0), WEFT_MSG_ERR_FW_STATE);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_END, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_FW_STATE);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_SWITCH, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_FW_STATE);
	card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &after, sizeof(after));
	assert_true(after.messages_bad > before.messages_bad + 20);
	assert_int_equal(after.traps, 0);
}

/* Broken frames: an error state that only a link reset ends, and nothing lost in the card. */
static void survives_broken_frames(void **state)
{
	struct weft_msg_hello_reply h;
	uint8_t junk[64];

	(void)state;
	memset(junk, 0x5a, sizeof(junk));
	assert_true(card_send_bytes(&card, junk, sizeof(junk)));
	assert_true(card_receive(&card));
	assert_int_equal(card.type, WEFT_FRAME_ACK);
	assert_int_equal(card.addr, WEFT_FRAME_STATUS_RESYNC);
	assert_true(card.ops->status(card.chip) & WEFT_USB_STATUS_LINK_ERROR);
	uint64_t patience = card.patience;
	card.patience = 100000;
	assert_false(card_hello(&card, &h));
	card.patience = patience;
	card.ops->link_reset(card.chip);
	assert_true(card_hello(&card, &h));
	assert_int_equal(h.boot_count, 1);

	/* Lengths and types that mean nothing. */
	assert_true(card_send(&card, WEFT_FRAME_READ, 77, 0x10000, NULL, 0));
	assert_true(card_receive(&card));
	assert_int_equal(card.addr, WEFT_FRAME_STATUS_INVALID);
	assert_int_equal(card.got_seq, 77);
	assert_true(card_hello(&card, &h));
	static const struct { unsigned type; uint32_t len; } bad[] = {
		{ WEFT_FRAME_MSG, 0 }, { WEFT_FRAME_MSG, 516 }, { WEFT_FRAME_MSG, 6 }, { WEFT_FRAME_WRITE, 0 },
		{ WEFT_FRAME_WRITE, WEFT_FRAME_WRITE_MAX + 1 }, { 0, 0 }, { 4, 8 }, { WEFT_FRAME_ACK, 0 } };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(card_send(&card, bad[i].type, 78, 0x10000, NULL, bad[i].len));
		assert_true(card_receive(&card));
		assert_int_equal(card.addr, WEFT_FRAME_STATUS_INVALID);
		assert_true(card.ops->status(card.chip) & WEFT_USB_STATUS_LINK_ERROR);
		card.ops->link_reset(card.chip);
		assert_true(card_hello(&card, &h));
	}

	/* A message and a WRITE with a wrong payload CRC, sent by hand. */
	uint8_t frame[16 + 8 + 4] = { 0 };
	for (unsigned type = WEFT_FRAME_WRITE; type <= WEFT_FRAME_MSG; type += 2) {
		assert_true(card_send(&card, type, 79, 0x10000, NULL, 8));
		assert_true(card_send_bytes(&card, frame, 12));
		assert_true(card_receive(&card));
		assert_int_equal(card.type, WEFT_FRAME_ACK);
		assert_int_equal(card.addr, WEFT_FRAME_STATUS_CRC);
		assert_int_equal(card.got_seq, 79);
		assert_true(card_hello(&card, &h));
	}
}

static void keeps_a_log(void **state)
{
	uint32_t words[2] = { WEFT_MSG_LOG_READ, 0 }, reply[128];
	bool booted = false;

	(void)state;
	unsigned n = card_message(&card, words, 2, reply, 128, NULL);
	assert_true(n > 2 && (n - 2) % 5 == 0);
	for (unsigned i = 2; i < n; i += 5) {
		assert_non_null(weft_log_format(reply[i + 2]));
		booted |= reply[i + 2] == WEFT_LOG_BOOT_SLOT;
	}
	assert_true(booted);
}

/* Sleeping, the firmware still kicks; hung, it is restarted, and the log says so. */
static void watchdog_watches(void **state)
{
	struct weft_msg_hello_reply h;
	struct weft_msg_stats_reply s;
	struct weft_chip_plant hang = { .kind = WEFT_CHIP_PLANT_HANG };

	(void)state;
	for (int i = 0; i < (card.ops == rtl ? 6 : 100); i++)
		card.ops->run(card.chip, WEFT_CHIP_BOOT_PERIOD / 5);
	assert_true(card_hello(&card, &h));
	assert_int_equal(h.boot_count, 1);
	assert_int_equal(card.ops->plant(card.chip, &hang), 0);
	/* The restart loses the first one. */
	const uint64_t patience = card.patience;
	card.patience = WEFT_CHIP_BOOT_PERIOD + WEFT_CHIP_BOOT_PERIOD / 2;
	const bool answered = card_hello(&card, &h);
	card.patience = patience;
	assert_true(answered || card_hello(&card, &h));
	assert_int_equal(h.boot_count, 2);
	assert_int_equal(h.reset_cause, WEFT_CHIP_CAUSE_WATCHDOG);
	card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &s, sizeof(s));
	assert_int_equal(s.watchdog_bites, 1);
	assert_true(s.log_next > 4);
}

static void reboots(void **state)
{
	struct weft_msg_hello_reply h;

	(void)state;
	assert_int_equal(card_ask(&card, WEFT_MSG_REBOOT, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_OK);
	card_run(&card, 5000);
	assert_true(card_hello(&card, &h));
	assert_int_equal(h.reset_cause, WEFT_CHIP_CAUSE_SOFTWARE);
	card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
	assert_true(card_hello(&card, &h));
	assert_int_equal(h.reset_cause, WEFT_CHIP_CAUSE_HOST);
	assert_int_equal(h.boot_count, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_who_it_is),
		cmocka_unit_test(echoes),
		cmocka_unit_test(moves_memory),
		cmocka_unit_test(tests_itself),
		cmocka_unit_test(finds_touching_bits),
		cmocka_unit_test(takes_any_large_flash),
		cmocka_unit_test(shows_registers),
		cmocka_unit_test(refuses_nonsense),
		cmocka_unit_test(survives_broken_frames),
		cmocka_unit_test(keeps_a_log),
		cmocka_unit_test(watchdog_watches),
		cmocka_unit_test(reboots),
	};

	int failed = cmocka_run_group_tests_name("functional", tests, open_card, close_card);

	rtl = card_rtl("w16");
	return failed + (rtl ? cmocka_run_group_tests_name("rtl", tests, open_rtl, close_card) : card_rtl_missing());
}

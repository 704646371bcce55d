/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cases of card/basics on the Verilated chip: the same boot ROM, firmware
 * and host, so what differs is hw. Those that wait for the watchdog take a
 * minute and run at level test-full.
 */
#include "rtl_chip.h"
#include "tests/support/card.h"

static void open_rtl(struct card *c, const char *config, uint64_t dram_bytes)
{
	card_open(c, rtl_chip(config), config, dram_bytes);
	c->patience = 2000000;
}

#define card_open(c, ops, config, dram_bytes) open_rtl(c, config, dram_bytes)
#define main functional_main
int functional_main(void);
#include "basics.c"
#undef main

static int open_if_there(void **state)
{
	return rtl_chip("w16") ? open_card(state) : -1;
}

static void watchdog_watches_rtl(void **state)
{
	if (test_level() < 2) {
		printf("20 M cycles asleep: at level test-full\n");
		fflush(stdout);
		skip();
	}
	card.patience = 20000000;
	watchdog_watches(state);
}

/* Hung, the core is restarted by the watchdog. */
static void watchdog_bites(void **state)
{
	struct weft_msg_hello_reply h;
	struct weft_chip_plant hang = { .kind = WEFT_CHIP_PLANT_HANG };

	(void)state;
	assert_true(card_hello(&card, &h));
	const uint32_t boots = h.boot_count;
	assert_int_equal(card.ops->plant(card.chip, &hang), 0);
	for (unsigned i = 0; i < WEFT_CHIP_BOOT_PERIOD / 1000; i++)
		card.ops->run(card.chip, 1000);
	assert_true(card_hello(&card, &h));
	assert_int_equal(h.boot_count, boots + 1);
	assert_int_equal(h.reset_cause, WEFT_CHIP_CAUSE_WATCHDOG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_who_it_is),         cmocka_unit_test(echoes),
		cmocka_unit_test(moves_memory),           cmocka_unit_test(tests_itself),
		cmocka_unit_test(shows_registers),        cmocka_unit_test(refuses_nonsense),
		cmocka_unit_test(survives_broken_frames), cmocka_unit_test(keeps_a_log),
		cmocka_unit_test(watchdog_bites),         cmocka_unit_test(watchdog_watches_rtl),
	};

	(void)functional_main;
	(void)reboots;   /* counts starts; card/basics */
	return cmocka_run_group_tests(tests, open_if_there, close_card);
}

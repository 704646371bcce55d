/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of the chip by themselves, at edges that a whole chip's runs do not come to: the
 * host link at the borders of the fence and in front of a slow memory, the counters and
 * interrupts of the registers, resets of one cycle, and a flash of which the chip has a window.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "sim/rtl/blocks/blocks.h"
#include "tests/support/bench_so.h"
#include "tests/support/level.h"

static const struct weft_blocks_bench_api *api;
static char msg[WEFT_BLOCKS_MSG];

static int setup(void **state)
{
	(void)state;
	api = bench_api("blocks");
	return api ? 0 : -1;
}

static void test_link_edges(void **state)
{
	(void)state;
	if (api->link_edges(msg))
		fail_msg("%s", msg);
}

static void test_link_slow(void **state)
{
	unsigned most = 0;

	(void)state;
	if (api->link_slow(test_seed(1), (unsigned)test_count(60, 60, 2000), &most, msg))
		fail_msg("%s", msg);
	print_message("up to %u bursts of writes under way\n", most);
	assert_true(most >= 7);
}

static void test_link_messages(void **state)
{
	(void)state;
	if (api->link_messages(test_seed(1), (unsigned)test_count(20, 100, 2000), msg))
		fail_msg("%s", msg);
}

static void test_registers(void **state)
{
	(void)state;
	if (api->registers(test_seed(1), (unsigned)test_count(20000, 100000, 2000000), msg))
		fail_msg("%s", msg);
}

static void test_resets(void **state)
{
	(void)state;
	if (api->resets(test_seed(1), (unsigned)test_count(50, 200, 5000), msg))
		fail_msg("%s", msg);
}

/* Whatever the chip's core writes, nothing of the flash outside the window changes, nor what is locked inside. */
static void test_flash_window(void **state)
{
	unsigned passed = 0, refused = 0;

	(void)state;
	if (api->flash_window(test_seed(1), (unsigned)test_count(2000, 10000, 200000), &passed, &refused, msg))
		fail_msg("%s", msg);
	print_message("%u commands passed, %u refused\n", passed, refused);
	assert_true(passed > 100 && refused > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_edges),
		cmocka_unit_test(test_link_slow),
		cmocka_unit_test(test_link_messages),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_resets),
		cmocka_unit_test(test_flash_window),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

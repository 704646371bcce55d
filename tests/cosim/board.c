/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a board adds to the chip: its SDRAM controller against a model of the memory at the pins, with random bursts,
 * strobes, rows crossed, refresh, and errors behind the last byte.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "sim/rtl/board/board.h"
#include "tests/support/bench_so.h"
#include "tests/support/level.h"

static const struct weft_board_bench_api *api;
static char msg[WEFT_BOARD_MSG];

static int setup(void **state)
{
	(void)state;
	api = bench_api("board");
	return api ? 0 : -1;
}

static void test_sdram(void **state)
{
	uint64_t cycles = 0, beats = 0;
	unsigned outside = 0;

	(void)state;
	if (api->sdram(test_seed(1), (unsigned)test_count(300, 1500, 50000), &cycles, &beats, &outside, msg))
		fail_msg("%s", msg);
	print_message("%" PRIu64 " beats of 8 bytes in %" PRIu64 " cycles, %u bursts behind the last byte\n", beats, cycles, outside);
	assert_true(beats > 1000 && outside > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sdram) };

	return cmocka_run_group_tests(tests, setup, NULL);
}

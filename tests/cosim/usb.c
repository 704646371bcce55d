/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The USB device at full speed, at its pins, behind a host at the level of packets: rules of
 * USB 2.0 one by one, which docs/usb.md lists, and random transactions with lost and broken
 * packets beside a model, the device's clock as far off as 2500 ppm.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/gen/msg.h>

#include "sim/rtl/usb/usb.h"
#include "tests/support/bench_so.h"
#include "tests/support/level.h"

static const struct weft_usb_bench_api *api;
static char msg[WEFT_USB_MSG];

static int setup(void **state)
{
	(void)state;
	api = bench_api("usb");
	if (api)
		api->descriptors(weft_usb_descriptor);
	return api ? 0 : -1;
}

/* Every rule holds; all failures are said, not only the first. */
static void test_rules(void **state)
{
	const char *section = "", *name = "";
	unsigned n = 0, failed = 0;

	(void)state;
	for (int got; (got = api->rule(n, &section, &name, msg)) != 1; n++) {
		if (got)
			print_error("%s %s: %s\n", section, name, msg);
		failed += got != 0;
	}
	print_message("%u rules\n", n);
	assert_true(n > 40);
	assert_int_equal(failed, 0);
}

/* The table of docs/usb.md has the rules that are tested, in their order, and no others. */
static void test_table(void **state)
{
	const char *section = "", *name = "";
	char line[512], want[512];
	unsigned n = 0;
	FILE *f = fopen("docs/usb.md", "r");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "| ", 2) || !strstr(line, "| holds |"))
			continue;
		assert_int_not_equal(api->rule(n++, &section, &name, msg), 1);
		snprintf(want, sizeof(want), "| %s | %s | holds |\n", section, name);
		assert_string_equal(line, want);
	}
	fclose(f);
	assert_int_equal(api->rule(n, &section, &name, msg), 1);
}

static void random_at(int ppm, long n)
{
	const uint64_t seed = test_seed(1);
	struct weft_usb_counts c;

	if (api->random(seed, (unsigned)n, ppm, &c, msg))
		fail_msg("seed %" PRIu64 ", %d ppm: %s", seed, ppm, msg);
	print_message("seed %" PRIu64 ", %+d ppm: %" PRIu64 " transactions, %" PRIu64 " packets, %" PRIu64 " of the host's broken, %" PRIu64 " bytes out, %"
	              PRIu64 " in, %" PRIu64 " ACK, %" PRIu64 " NAK, %" PRIu64 " STALL, %" PRIu64 " not answered, %" PRIu64 " repeated, %" PRIu64
	              " requests, %" PRIu64 " resets of the bus, %" PRIu64 " of the link, %" PRIu64 " cycles\n", seed, ppm, c.transactions, c.packets,
	              c.broken, c.out_bytes, c.in_bytes, c.acks, c.naks, c.stalls, c.silent, c.repeated, c.controls, c.bus_resets, c.link_resets, c.cycles);
	assert_true(c.out_bytes > c.transactions && c.in_bytes > c.transactions);
	assert_true(c.broken > c.transactions / 20 && c.stalls > c.transactions / 200 && c.naks > c.transactions / 200);
}

static void test_random(void **state)
{
	(void)state;
	random_at(0, test_count(1000, 4000, 34000));
}

static void test_fast_clock(void **state)
{
	(void)state;
	random_at(2500, test_count(1000, 4000, 34000));
}

static void test_slow_clock(void **state)
{
	(void)state;
	random_at(-2500, test_count(1000, 4000, 34000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_fast_clock),
		cmocka_unit_test(test_slow_clock),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

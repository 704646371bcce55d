/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft diag over simulated cards: the functional chip with its firmware passes all tests,
 * the Verilated one those of its array; a bus error and a broken PE are found and named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "tests/support/card_process.h"
#include "tests/support/level.h"

#define TEXT 65536

static char text[TEXT], serial[16];
static int n_cards;

static void start(struct card_process *c, char *chip, char *fault)
{
	char *extra[8] = { "--chip", chip, "--memory", "sram", NULL };

	if (fault) {
		extra[4] = "--fault";
		extra[5] = fault;
	}
	/* Each has a socket of its own. */
	snprintf(serial, sizeof(serial), "DIAG%04d", ++n_cards);
	card_process_start(c, serial, extra);
}

/* State of each test as "name state, ...", and the first finding's text. */
static void run(const char *device, const char *tests, int want, char *finding, size_t len)
{
	int status = run_line(text, TEXT, "diag --json --wait 20000 --device %s %s", device, tests);

	if (status != want)
		fail_msg("weft diag %s: exit status %d, not %d: %.2000s", tests, status, want, text);
	cJSON *j = cJSON_Parse(text);
	const cJSON *r, *f;
	assert_true(cJSON_IsArray(j));
	*finding = '\0';
	cJSON_ArrayForEach(r, j) {
		const char *state = cJSON_GetObjectItemCaseSensitive(r, "state")->valuestring;
		cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(r, "findings"))
			if (!*finding)
				snprintf(finding, len, "%s %s", cJSON_GetObjectItemCaseSensitive(f, "id")->valuestring,
				         cJSON_GetObjectItemCaseSensitive(f, "text")->valuestring);
		if (want == 0)
			assert_true(!strcmp(state, "passed") || !strcmp(state, "absent"));
	}
	cJSON_Delete(j);
}

static void test_clean(void **state)
{
	struct card_process c;
	char finding[300];

	(void)state;
	start(&c, "model", NULL);
	run(c.device, "", 0, finding, sizeof(finding));
	/* What only a card has was there. */
	assert_non_null(strstr(text, "MB/s"));
	assert_non_null(strstr(text, serial));
	assert_non_null(strstr(text, "USB 1209:0001, high speed, 480 Mbit/s, packets of 512"));
	card_process_stop(&c);
}

/* The functional chip and the Verilated one stop at the same command. */
static void bus_error(char *chip)
{
	struct card_process c;
	char finding[300];

	start(&c, chip, "bus@0,0");
	run(c.device, "units", 1, finding, sizeof(finding));
	if (!strstr(finding, "DIAG-RUN-2 a load ends with fault BUS of unit LD"))
		fail_msg("%s: %s", chip, finding);
	card_process_stop(&c);
}

static void test_bus_error(void **state)
{
	(void)state;
	bus_error("model");
}

static void test_bus_error_rtl(void **state)
{
	(void)state;
	bus_error("rtl");
}

/* Row 3, column 5, bit 17. */
static void test_pe(void **state)
{
	char fault[32];
	struct card_process c;
	char finding[300];

	(void)state;
	snprintf(fault, sizeof(fault), "pe@0,%d", (3 * 256 + 5) * 64 + 17);
	start(&c, "rtl", fault);
	run(c.device, "array-int8", 1, finding, sizeof(finding));
	assert_string_equal(finding, "DIAG-ARRAY-1 PE row 3 column 5: accumulator bit 17 stuck at 1 in int8 mode");
	card_process_stop(&c);
}

static void test_rtl(void **state)
{
	struct card_process c;
	char finding[300];

	(void)state;
	start(&c, "rtl", NULL);
	run(c.device, test_level() == 2 ? "" : "identify registers units array-int8 commands counters reset", 0, finding, sizeof(finding));
	card_process_stop(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean), cmocka_unit_test(test_bus_error), cmocka_unit_test(test_bus_error_rtl),
		cmocka_unit_test(test_pe), cmocka_unit_test(test_rtl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft diag on the RTL and the model: clean devices pass, planted faults are named.
 * How much it finds in all: tests/cosim/diag_coverage.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include <weft/diag.h>

#include "tests/support/level.h"

static weft_diag *open_diag(enum weft_dev_kind kind, const char *config)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	weft_diag *d;

	o.kind = kind;
	o.config = config;
	o.memory = WEFT_MEMORY_SRAM;
	if (weft_diag_open(&o, &d, msg))
		fail_msg("%s", msg);
	return d;
}

static void clean(enum weft_dev_kind kind, const char *config)
{
	weft_diag *d = open_diag(kind, config);
	uint64_t cycles = 0, checks = 0;
	struct weft_diag_result r;

	for (size_t i = 0; i < weft_diag_count(); i++) {
		assert_int_equal(weft_diag_run(d, i, &r), 0);
		if (r.state == WEFT_DIAG_FAILED || r.state == WEFT_DIAG_BLOCKED)
			fail_msg("%s: %s%s", weft_diag_name(i), r.note, r.n_findings ? r.findings[0].text : "");
		cycles += r.cycles;
		checks += r.checks;
	}
	printf("%s: %llu checks in %llu cycles\n", config, (unsigned long long)checks, (unsigned long long)cycles);
	fflush(stdout);
	assert_true(checks > 1000000);
	weft_diag_close(d);
}

static void test_clean(void **state)
{
	(void)state;
	clean(WEFT_DEV_MODEL, "w16");
	if (!test_have_rtl("w16"))
		skip();
	clean(WEFT_DEV_RTL, "w16");
}

/* Run tests until one fails; what it says first. */
static struct weft_diag_finding first_finding(weft_diag *d, const char **test)
{
	struct weft_diag_result r;

	for (size_t i = 0; i < weft_diag_count(); i++) {
		assert_int_equal(weft_diag_run(d, i, &r), 0);
		if (r.state == WEFT_DIAG_FAILED) {
			*test = weft_diag_name(i);
			assert_in_range(r.n_findings, 1, 1000);
			return r.findings[0];
		}
	}
	fail_msg("nothing was found");
	abort();
}

static void test_planted(void **state)
{
	static const struct { struct weft_plant p; const char *test, *id, *text; } at[] = {
		{ { .kind = WEFT_PLANT_PE, .row = 3, .col = 5, .bit = 17 }, "array-int8", "DIAG-ARRAY-1",
		  "PE row 3 column 5: accumulator bit 17 stuck at 1 in int8 mode" },
		{ { .kind = WEFT_PLANT_PE, .row = 15, .col = 2, .bit = 40 }, "array-int16", "DIAG-ARRAY-1",
		  "PE row 15 column 2: accumulator bit 40 stuck at 1 in int16x8 mode" },
		{ { .kind = WEFT_PLANT_SP, .addr = 0x12345, .bit = 3 }, "scratchpad", "DIAG-SP-7",
		  "scratchpad address 0x12345 (bank 2, row 282): bit 3 stuck at 1" },
	};
	const char *test = "";

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	weft_diag *d = open_diag(WEFT_DEV_RTL, "w16");
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		assert_int_equal(weft_diag_renew(d), 0);
		assert_int_equal(weft_diag_plant(d, &at[i].p), 0);
		struct weft_diag_finding f = first_finding(d, &test);
		assert_string_equal(f.id, at[i].id);
		assert_string_equal(test, at[i].test);
		assert_string_equal(f.text, at[i].text);
	}
	weft_diag_close(d);
}

/* A test that builds on one that failed is not run, and is again once that is forgotten. */
static void test_blocked(void **state)
{
	const struct weft_plant p = { .kind = WEFT_PLANT_SP, .addr = 0, .bit = 0 };
	struct weft_diag_result r;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	weft_diag *d = open_diag(WEFT_DEV_RTL, "w16");
	assert_int_equal(weft_diag_plant(d, &p), 0);
	assert_int_equal(weft_diag_run(d, (size_t)weft_diag_find("scratchpad"), &r), 0);
	assert_int_equal(r.state, WEFT_DIAG_FAILED);
	assert_int_equal(weft_diag_run(d, (size_t)weft_diag_find("array-int8"), &r), 0);
	assert_int_equal(r.state, WEFT_DIAG_BLOCKED);
	assert_int_equal(r.n_findings, 0);
	weft_diag_forget(d);
	assert_int_equal(weft_diag_run(d, (size_t)weft_diag_find("registers"), &r), 0);
	assert_int_equal(r.state, WEFT_DIAG_PASSED);
	assert_int_equal(weft_diag_run(d, 1000, &r), -ENOENT);
	weft_diag_close(d);
}

static int run(const char *arguments)
{
	char line[256];

	snprintf(line, sizeof(line), "%s/weft diag %s >/dev/null 2>&1", test_env("WEFT_BUILD", "build"), arguments);
	int status = system(line);
	return status >= 0 && status % 256 == 0 ? status / 256 : -1;
}

static void test_command(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	assert_int_equal(run("--list"), 0);
	assert_int_equal(run("--device model --json"), 0);
	assert_int_equal(run("registers units --loop 2 --json"), 0);
	assert_int_equal(run("array-int8 --plant pe:1,2,3"), 1);
	assert_int_equal(run("nothing"), 2);
	assert_int_equal(run("--device usb:@/nowhere"), 3);
	assert_int_equal(run("--device golden"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean), cmocka_unit_test(test_planted), cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

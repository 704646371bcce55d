/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C under sanitizers, in a build of its own: unit tests and every file of the fuzzers' corpora with those
 * of addresses and undefined behaviour, tests of sessions and of the driver with that of threads. Each case is
 * one run of make, whose last line says how many cases it counted; that line is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/shell.h"

/*
 * Builds and runs the tests whose names match `tests` with SAN=san, whose build is the folder `sub` of this
 * one's. Prints what was skipped and the run's summary, or all of its output if a case failed.
 */
static void run(const char *san, const char *sub, const char *tests)
{
	const char *build = test_env("WEFT_BUILD", "build");
	char log[256], line[256] = "";
	FILE *f;

	test_path(log, sizeof(log), "log");
	int failed = shell("unset MAKEFLAGS MFLAGS MAKELEVEL WEFT_LEVEL WEFT_N WEFT_SEED TIMEOUT; make --no-print-directory SAN=%s O='%s' TIMEOUT=800 check T='%s' >%s 2>&1 </dev/null",
	                   san, build, tests, log);
	shell(failed ? "cat %s" : "grep -A1 '^skip\\|skipped:' %s", log);
	remove(log);
	snprintf(log, sizeof(log), "%s/%s/tests/summary", build, sub);
	f = fopen(log, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	printf("SAN=%s: %s", san, line);
	assert_int_equal(failed, 0);
	assert_true(strtol(line, NULL, 10) > 0);
}

static void addresses(void **state)
{
	(void)state;
	run("1", "san", "unit/* fuzz/corpora");
}

static void threads(void **state)
{
	(void)state;
	run("thread", "tsan", "unit/session unit/session_async card/events card/jobs card/cards");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

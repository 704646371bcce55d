/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C under sanitizers, in a build of its own: unit tests, every file of the fuzzers' corpora and some others with those
 * of addresses and undefined behaviour, by gcc and with test-full by clang, too; tests of sessions and of the driver with
 * that of threads. Each build also has to report a planted fault of each kind that it is for. Each case is
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

/* Where clang has no name of its own, Debian's package clang-14 has brought one with its version. */
#define CLANG "CC=$(command -v clang >/dev/null && echo clang || echo clang-14)"

/* With the address and undefined sanitizers: small parts, and what frees memory that others may still use. */
#define ADDRESSES "unit/* fuzz/corpora card/no_memory cosim/profile farm/farm"

/* make for the build with `flags` (SAN=1, also CC=), whose folder is below this one's; its environment is not this make's. */
#define MAKE OWN_MAKE "unset WEFT_LEVEL WEFT_N WEFT_SEED TIMEOUT; make --no-print-directory O='%s' %s "

/*
 * Builds and runs the tests whose names match `tests` with the variables `flags`, whose build is the folder `sub`
 * of this one's. Prints what was skipped and the run's summary, or all of its output if a case failed.
 */
static void run(const char *flags, const char *sub, const char *tests)
{
	const char *build = test_env("WEFT_BUILD", "build");
	char log[256], line[256] = "";
	FILE *f;

	test_path(log, sizeof(log), "log");
	int failed = shell(MAKE "TIMEOUT=800 check T='%s' >%s 2>&1 </dev/null", build, flags, tests, log);
	shell(failed ? "cat %s" : "grep -A1 '^skip\\|skipped:' %s", log);
	remove(log);
	snprintf(log, sizeof(log), "%s/%s/tests/summary", build, sub);
	f = fopen(log, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	printf("%s: %s", flags, line);
	assert_int_equal(failed, 0);
	assert_true(strtol(line, NULL, 10) > 0);
}

/* The build with `flags` in the folder `sub` reports the planted fault `name` in driver/ranges.c with the words `says`. */
static void planted(const char *flags, const char *sub, const char *name, const char *says)
{
	const char *build = test_env("WEFT_BUILD", "build");
	char log[256];

	test_path(log, sizeof(log), "fault");
	assert_int_equal(shell(MAKE "'%s/%s/tests/sanitize/planted/faults' >%s 2>&1 </dev/null || { cat %s; exit 1; }", build, flags, build, sub, log, log), 0);
	int status = shell("%s/%s/tests/sanitize/planted/faults %s >%s 2>&1 </dev/null", build, sub, name, log);
	int said = shell("grep -q '%s' %s && grep -q 'driver/ranges.c' %s", says, log, log);
	if (!status || said)
		shell("cat %s", log);
	remove(log);
	printf("%s: planted %s: status %d\n", flags, name, status);
	assert_int_not_equal(status, 0);
	assert_int_equal(said, 0);
}

/* What the address and undefined sanitizers must report. */
static void planted_addresses(const char *flags, const char *sub)
{
	planted(flags, sub, "heap", "AddressSanitizer: heap-buffer-overflow");
	planted(flags, sub, "undefined", "runtime error: .*misaligned address");
	planted(flags, sub, "leak", "LeakSanitizer: detected memory leaks");
}

static void addresses(void **state)
{
	(void)state;
	run("SAN=1", "san", ADDRESSES);
	planted_addresses("SAN=1", "san");
}

/* clang's sanitizers are in a package that only make test-full asks for. */
static void addresses_clang(void **state)
{
	(void)state;
	if (test_level() < 2) {
		puts("clang's sanitizers are there with make test-full");
		skip();
	}
	run("SAN=1 " CLANG, "san-clang", ADDRESSES);
	planted_addresses("SAN=1 " CLANG, "san-clang");
}

static void threads(void **state)
{
	(void)state;
	run("SAN=thread", "tsan", "unit/session unit/session_async card/events card/jobs card/cards");
	planted("SAN=thread", "tsan", "race", "ThreadSanitizer: data race");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(addresses_clang),
		cmocka_unit_test(threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

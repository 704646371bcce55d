/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Would the tests notice if an attribute were left out? tests/support/attr_deletions.py deletes
 * rows of include/spec/attr.toml, generated rows and written accesses one at a time, and runs
 * the tests against each. A sample of 20 takes a quarter of a minute; test-full takes all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/level.h"

static void each_is_noticed(void **state)
{
	char command[512];

	(void)state;
	snprintf(command, sizeof command, "python3 tests/support/attr_deletions.py '%s' %ld %llu 2>&1", test_env("WEFT_BUILD", "build"),
	         test_count(5, 20, 1000000), (unsigned long long)test_seed(1));
	fflush(stdout);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_is_noticed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

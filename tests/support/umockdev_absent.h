/* SPDX-License-Identifier: Apache-2.0 */
/* main() of a test that needs umockdev, where it is not there or sanitizers keep it away: the test says which, and is skipped. */
#ifndef WEFT_TESTS_SUPPORT_UMOCKDEV_ABSENT_H
#define WEFT_TESTS_SUPPORT_UMOCKDEV_ABSENT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

static void test_absent(void **state)
{
	(void)state;
#ifdef HAVE_UMOCKDEV
	printf("not under sanitizers\n");
#else
	printf("libumockdev-dev is not installed: tools/deps.sh umockdev\n");
#endif
	fflush(stdout);
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_absent) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In a build that counts lines (COV=1) each test includes this: children of tests end by _exit(), which would
 * lose what they counted.
 */
#ifndef TESTS_SUPPORT_COV_EXIT_H
#define TESTS_SUPPORT_COV_EXIT_H

/* Tests that need GNU's functions define this before their first header, and this one comes before that. */
#define _GNU_SOURCE
#include <unistd.h>

void __gcov_dump(void);            /* gcc's */

/* Writes what this process counted, and ends it. */
static inline _Noreturn void cov_exit(int status)
{
	__gcov_dump();
	_exit(status);
}

#define _exit(status) cov_exit(status)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that a test has the shell run.
 */
#ifndef TESTS_SUPPORT_SHELL_H
#define TESTS_SUPPORT_SHELL_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/** Exit status; 1 for one that was killed. */
static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...)
{
	char line[4096];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	int status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

#endif

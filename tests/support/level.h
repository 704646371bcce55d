/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much to do: WEFT_LEVEL (check, test, test-full) as tests/run.sh sets it,
 * WEFT_N and WEFT_SEED to override; and whether sanitizers watch and the RTL's simulator is there.
 */
#ifndef WEFT_TESTS_LEVEL_H
#define WEFT_TESTS_LEVEL_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/dev.h>

static inline const char *test_env(const char *name, const char *otherwise)
{
	const char *text = getenv(name);

	return text && *text ? text : otherwise;
}

/* Where this test's files go. tests/run.sh removes that folder behind the test, however it ended. */
static inline void test_path(char *out, size_t len, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline void test_path(char *out, size_t len, const char *format, ...)
{
	int n = snprintf(out, len, "%s/weft-", test_env("TMPDIR", "/tmp"));
	va_list ap;

	va_start(ap, format);
	if (n < 0 || (size_t)n >= len || (size_t)vsnprintf(out + n, len - (size_t)n, format, ap) >= len - (size_t)n) {
		fprintf(stderr, "TMPDIR is too long a path for names of %zu characters\n", len);
		abort();
	}
	va_end(ap);
}

/* 0 check, 1 test, 2 test-full. */
static inline int test_level(void)
{
	const char *level = test_env("WEFT_LEVEL", "check");

	return !strcmp(level, "test-full") ? 2 : !strcmp(level, "test") ? 1 : 0;
}

static inline bool test_count_given(void)
{
	return *test_env("WEFT_N", "") != '\0';
}

/* Under the sanitizer of addresses or that of threads: memory that was freed stays in use, and all is slower. */
static inline bool test_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#else
	return false;
#endif
}

/*
 * Returns whether slow tests run only a part of their cases. They do in a build with sanitizers at level check, because
 * sanitize/c runs the unit tests so and has to end within minutes. The levels test and test-full (make SAN=1 test) run all
 * cases.
 */
static inline bool test_in_part(void)
{
	return test_sanitized() && test_level() == 0;
}

/* WEFT_N, or what belongs to the level. */
static inline long test_by_level(long check, long test, long full)
{
	const long by_level[] = { check, test, full };

	return test_count_given() ? strtol(test_env("WEFT_N", ""), NULL, 0) : by_level[test_level()];
}

/* WEFT_N, or the number of cases that the level asks for; a third of it where slow tests run only a part of their cases. */
static inline long test_count(long check, long test, long full)
{
	return test_by_level(test_in_part() ? (check + 2) / 3 : check, test, full);
}

/* The same for a test that takes one case in so many: three times as many are left out. */
static inline long test_every(long check, long test, long full)
{
	return test_by_level(test_in_part() ? 3 * check : check, test, full);
}

/*
 * In front of a shell's `make`: its variables are not those of the make that runs the tests, so that no
 * sanitizers are built in where they were asked for there.
 */
#define OWN_MAKE "unset MAKEFLAGS MFLAGS MAKELEVEL SAN; "

static inline uint64_t test_seed(uint64_t otherwise)
{
	const char *text = test_env("WEFT_SEED", "");

	return *text ? strtoull(text, NULL, 0) : otherwise;
}

static inline const char *test_data(void)
{
	return test_env("WEFT_DATA", "../shared/data");
}

/* Says why not, on the line that the runner shows beside a skipped case. */
static inline bool test_have_rtl(const char *config)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev;

	o.kind = WEFT_DEV_RTL;
	o.config = config;
	if (weft_dev_open(&o, &dev, msg)) {
		printf("%s\n", msg);
		fflush(stdout);
		return false;
	}
	weft_dev_close(dev);
	return true;
}

#endif

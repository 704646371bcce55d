/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times as the system's calls take them: parts that are put together again, at the borders of seconds and of microseconds,
 * beside 2^32 s, and at random.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "driver/clock.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

static void one(uint64_t ns)
{
	const struct timespec s = weft_timespec(ns);
	const struct timeval v = weft_timeval(ns);

	assert_in_range(s.tv_nsec, 0, 999999999);
	assert_in_range(v.tv_usec, 0, 999999);
	assert_true((uint64_t)s.tv_sec * 1000000000 + (uint64_t)s.tv_nsec == ns);
	assert_true((uint64_t)v.tv_sec * 1000000 + (uint64_t)v.tv_usec == ns / 1000);
}

static void parts(void **state)
{
	static const uint64_t at[] = { 0, 1000, 1000000, 1000000000, 2000000000, 86400000000000, (UINT64_C(1) << 32) * 1000000000, UINT64_MAX - 2 };
	uint64_t rng = test_seed(1);

	(void)state;
	for (size_t i = 0; i < sizeof at / sizeof *at; i++)
		for (uint64_t d = 0; d < 5; d++)
			if (at[i] + d >= 2)
				one(at[i] + d - 2);
	for (int i = 0; i < 10000; i++)
		one(test_random(&rng) >> i % 64);
}

/* What is slept is what the clock says has gone by, or more. */
static void clock_goes_on(void **state)
{
	(void)state;
	const uint64_t now = weft_now_ns(), cpu = weft_cpu_ns();
	const struct timespec t = weft_timespec(3000000);

	assert_int_equal(nanosleep(&t, NULL), 0);
	assert_true(weft_now_ns() - now >= 3000000);
	assert_true(weft_cpu_ns() >= cpu);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(parts), cmocka_unit_test(clock_goes_on) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Whose cycles they are: streams of a few commands, shared out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

#include <weft/gen/cmd.h>

#include "userlib/compile/program.h"

#define N_WHO 4

static void check(const struct weft_ran *c, uint32_t n, uint64_t total, const uint64_t want[N_WHO])
{
	uint64_t got[N_WHO] = { 0 }, sum = 0;

	assert_int_equal(weft_share_cycles(c, n, total, got), 0);
	for (int i = 0; i < N_WHO; i++) {
		assert_int_equal(got[i], want[i]);
		sum += got[i];
	}
	assert_int_equal(sum, 2 * total);
}

/* Its load is waited for; its store, and the stream's end, are its own. */
static void alone(void **state)
{
	const struct weft_ran c[] = {
		{ WEFT_UNIT_LD, 0, { 0 }, 100 },
		{ WEFT_UNIT_CV, 0, { 1, 0, 0, 0 }, 300 },
		{ WEFT_UNIT_ST, 0, { 0, 0, 1, 0 }, 350 },
	};

	(void)state;
	check(c, 3, 358, (const uint64_t[N_WHO]){ 716 });
}

/* 0 on the array in 100..300; 1 on the vector engine in 200..500, as the first command of 0 has retired. */
static void beside(void **state)
{
	const struct weft_ran c[] = {
		{ WEFT_UNIT_LD, 0, { 0 }, 100 },
		{ WEFT_UNIT_CV, 0, { 1, 0, 0, 0 }, 200 },
		{ WEFT_UNIT_CV, 0, { 0 }, 300 },
		{ WEFT_UNIT_VE, 1, { 0, 0, 1, 0 }, 500 },
	};

	(void)state;
	check(c, 4, 500, (const uint64_t[N_WHO]){ 500, 500 });
}

/* Loading for 1 while 0 works costs nothing; what is then still missing is 1's. */
static void ahead(void **state)
{
	const struct weft_ran c[] = {
		{ WEFT_UNIT_LD, 0, { 0 }, 50 },
		{ WEFT_UNIT_CV, 0, { 1, 0, 0, 0 }, 150 },
		{ WEFT_UNIT_LD, 1, { 0 }, 200 },
		{ WEFT_UNIT_CV, 1, { 2, 0, 0, 0 }, 260 },
		{ WEFT_UNIT_ST, 0, { 0, 0, 1, 0 }, 400 },
	};

	(void)state;
	/* The store of 0 is the last to retire. */
	check(c, 5, 400, (const uint64_t[N_WHO]){ 300 + 280, 220 });
}

/* Both engines for one operator are one operator; commands for nobody do not count. */
static void one(void **state)
{
	const struct weft_ran c[] = {
		{ WEFT_UNIT_VE, 2, { 0 }, 90 },
		{ WEFT_UNIT_CV, 2, { 0 }, 60 },
		{ WEFT_UNIT_CV, -1, { 0 }, 80 },
		{ WEFT_UNIT_CV, 3, { 0 }, 100 },
	};

	(void)state;
	check(c, 4, 110, (const uint64_t[N_WHO]){ 0, 0, 2 * 80 + 10, 10 + 2 * 20 });
}

static void nobody(void **state)
{
	const struct weft_ran c = { WEFT_UNIT_LD, 0, { 0 }, 100 };
	uint64_t got[N_WHO] = { 0 };

	(void)state;
	assert_int_equal(weft_share_cycles(&c, 1, 100, got), 0);
	assert_int_equal(weft_share_cycles(NULL, 0, 100, got), 0);
	for (int i = 0; i < N_WHO; i++)
		assert_int_equal(got[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone), cmocka_unit_test(beside), cmocka_unit_test(ahead), cmocka_unit_test(one), cmocka_unit_test(nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which block the test of the units names for streams that do not end, and that a test which is
 * blocked leaves nothing of its caller's behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "userlib/diag/diag.h"
#include "userlib/diag/units.h"

#define BIT(part) (1u << (part))
#define SOME (BIT(PART_ELT) | BIT(PART_POOL) | BIT(PART_DW))

/* The message for streams that stop; what retires matters only where even END alone stops. */
static const char *says(unsigned stops, unsigned retires)
{
	bool s[N_PARTS], r[N_PARTS];

	for (int i = 0; i < N_PARTS; i++) {
		s[i] = stops >> i & 1;
		r[i] = retires >> i & 1;
	}
	return diag_culprit(s, r);
}

static void test_transfers(void **state)
{
	(void)state;
	assert_string_equal(says(BIT(PART_END) | BIT(PART_LOAD), 0), "DIAG-RUN-2");
	assert_string_equal(says(BIT(PART_END) | BIT(PART_LOAD) | BIT(PART_STORE), BIT(PART_LOAD)), "DIAG-RUN-3");
	assert_string_equal(says(BIT(PART_END) | BIT(PART_LOAD) | BIT(PART_STORE), BIT(PART_LOAD) | BIT(PART_STORE)), "DIAG-RUN-1");
	assert_string_equal(says(BIT(PART_LOAD) | BIT(PART_STORE), 0), "DIAG-RUN-2");
	assert_string_equal(says(BIT(PART_STORE), 0), "DIAG-RUN-3");
}

static void test_commands(void **state)
{
	(void)state;
	assert_string_equal(says(BIT(PART_CONV) | BIT(PART_RAW), 0), "DIAG-RUN-4");
	assert_string_equal(says(BIT(PART_ALU), 0), "DIAG-RUN-5");
	assert_string_equal(says(BIT(PART_POOL), 0), "DIAG-RUN-5");
	assert_string_equal(says(SOME | BIT(PART_ALU), 0), "DIAG-RUN-5");
	assert_string_equal(says(SOME, 0), "DIAG-RUN-6");
	assert_string_equal(says(BIT(PART_CONV), 0), "DIAG-RUN-6");
	assert_string_equal(says(SOME | BIT(PART_CONV), 0), "DIAG-RUN-6");
	assert_string_equal(says(BIT(PART_ALU) | BIT(PART_RAW) | BIT(PART_CONV), 0), "DIAG-RUN-6");
}

/* The result belongs to the caller alone once weft_diag_run() has returned. */
static void test_blocked(void **state)
{
	struct weft_diag d = { .failed = 1u << DIAG_REGISTERS };
	struct weft_diag_result r;

	(void)state;
	assert_int_equal(weft_diag_run(&d, DIAG_UNITS, &r), 0);
	assert_int_equal(r.state, WEFT_DIAG_BLOCKED);
	assert_non_null(strstr(r.note, "registers"));
	assert_null(d.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transfers), cmocka_unit_test(test_commands), cmocka_unit_test(test_blocked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

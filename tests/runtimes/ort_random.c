/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX Runtime 1.31 quantises random networks, and Weft gives the same bytes for them as ONNX Runtime; ort_random.py says how they are
 * compared. ONNX Runtime comes from PyPI. If it cannot be installed, the test is skipped, or fails if CI=true. N says how many networks
 * there are, and SEED chooses them. The test takes half a minute.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/shell.h"
#include "tests/support/venv.h"

static void networks(void **state)
{
	char venv[512], rest[64];

	(void)state;
	test_venv(venv, sizeof venv, "ort", TEST_ORT("1.31"));
	snprintf(rest, sizeof rest, "%ld %s", test_count(40, 80, 2000), test_env("WEFT_SEED", "1"));
	assert_int_equal(test_python(venv, "tests/runtimes/ort_random.py", "random", rest), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(networks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --requant runtime: products, convolutions, averages, normalisations, sums and functions of float32, and products of int16, have the
 * bits of ONNX Runtime 1.31, which comes from PyPI; without it the test is skipped, but fails where CI=true. ort_floats.py says what is
 * compared; SEED chooses the networks. Half a minute.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/shell.h"
#include "tests/support/venv.h"

static void bits(void **state)
{
	char venv[512];

	(void)state;
	test_venv(venv, sizeof venv, "ort", TEST_ORT("1.31"));
	assert_int_equal(test_python(venv, "tests/runtimes/ort_floats.py", "floats", test_env("SEED", "1")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --requant runtime-avx2: products of 8-bit integers have the bits of ONNX Runtime 1.31 on a processor without VNNI, which QEMU emulates. Without
 * qemu-user, or without ONNX Runtime from PyPI, the test is skipped, but fails where CI=true. ort_pairs.py says what is compared; SEED chooses
 * the networks. Two minutes.
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
	if (shell("command -v qemu-x86_64 >/dev/null")) {
		printf("qemu-user is not installed: tools/deps.sh emulator\n");
		assert_string_not_equal(test_env("CI", ""), "true");
		skip();
	}
	test_venv(venv, sizeof venv, "ort", TEST_ORT("1.31"));
	assert_int_equal(test_python(venv, "tests/runtimes/ort_pairs.py", "pairs", test_env("SEED", "1")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

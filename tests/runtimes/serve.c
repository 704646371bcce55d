/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MLServer with Weft's execution provider (tools/serve): two networks on two simulated cards, eight
 * connections, one card killed in the middle; every answer is compared. Packages come from PyPI into an
 * environment of its own, or from that which WEFT_VENV names; without PyPI the test is skipped, but fails
 * where CI=true.
 *
 * Takes about a minute, and as long again to install; test-full, with 10 000 requests, some minutes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/shell.h"
#include "tests/support/venv.h"

static void mlserver(void **state)
{
	char venv[512];

	(void)state;
	test_venv(venv, sizeof(venv), "serve", "mlserver==1.7.* onnxruntime==1.31.* 'tritonclient[http,grpc]' pytest onnx");
	assert_int_equal(shell("t=$TMPDIR/python && mkdir -p $t && WEFT_BUILD=$(realpath %s) WEFT_MODELS=$(realpath tests/models) WEFT_REQUESTS=%ld "
	                       "PYTHONDONTWRITEBYTECODE=1 TMPDIR=$t %s/bin/python -m pytest -q -p no:cacheprovider --basetemp=$t/pytest "
	                       "tools/serve/tests/test_serve.py; s=$?; rm -rf $t; exit $s", test_env("WEFT_BUILD", "build"), test_count(100, 400, 10000), venv), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(mlserver) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX Runtime with Weft's execution provider: onnxruntime comes from PyPI into an environment
 * of its own, and the tests of userlib/ort run there. WEFT_VENV names an environment that is
 * there already. Without PyPI the test is skipped, but fails where CI=true.
 *
 * Takes about 5 s, and 20 s more to install.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/card_process.h"
#include "tests/support/level.h"
#include "tests/support/shell.h"
#include "tests/support/venv.h"

static void provider(void **state)
{
	const char *build = test_env("WEFT_BUILD", "build");
	char venv[512];

	(void)state;
	test_venv(venv, sizeof(venv), "ort", "numpy pytest onnx sympy onnxruntime==1.31.*");
	/* What the tests leave, and the runtime itself, is removed. */
	assert_int_equal(shell("t=$TMPDIR/python && mkdir -p $t && WEFT_BUILD=$(realpath %s) WEFT_MODELS=tests/models PYTHONDONTWRITEBYTECODE=1 TMPDIR=$t "
	                       "%s/bin/python -m pytest -q -p no:cacheprovider --basetemp=$t/pytest userlib/ort/tests; s=$?; rm -rf $t; exit $s",
	                       build, venv), 0);
}

/* Nothing but what ONNX Runtime looks up is visible to the programs that load the provider. */
static void exports(void **state)
{
	(void)state;
	assert_int_equal(shell("test \"$(nm -D --defined-only %s/libweft_ort_ep.so | cut -d' ' -f3 | sort | xargs)\" = "
	                       "'CreateEpFactories ReleaseEpFactory'", test_env("WEFT_BUILD", "build")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(provider), cmocka_unit_test(exports) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

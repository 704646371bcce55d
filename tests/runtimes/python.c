/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python package: it is installed from userlib/python into an environment of its own, with
 * numpy and pytest from PyPI, and its tests run there. WEFT_VENV names an environment that is
 * there already. Without PyPI the test is skipped, but fails where CI=true.
 *
 * Takes about 30 s, mostly for installing.
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

static void package(void **state)
{
	const char *build = test_env("WEFT_BUILD", "build");
	char venv[512];

	(void)state;
	test_venv(venv, sizeof(venv), "python", "numpy cffi pytest pandas setuptools wheel");
	assert_int_equal(shell("WEFT_BUILD=$(realpath %s) %s/bin/python -m pip install -q --no-deps --no-build-isolation --force-reinstall "
	                       "--disable-pip-version-check userlib/python", build, venv), 0);
	/* From another folder, so that the installed package is what is imported. */
	assert_int_equal(shell("p=$(realpath %s/bin/python); t=$(realpath userlib/python/tests); m=$(realpath tests/models); "
	                       "v=$(realpath %s); w=$(realpath %s/weft); cd $TMPDIR && WEFT_MODELS=$m WEFT_COMMAND=$w PYTHONDONTWRITEBYTECODE=1 "
	                       "$v/bin/python -m pytest -q -p no:cacheprovider --basetemp=$TMPDIR/pytest $t; s=$?; rm -rf $TMPDIR/pytest; exit $s", venv, venv, build), 0);
}

/* The notebooks run as they stand: their assertions hold. Kept outputs are not compared. */
static void notebooks(void **state)
{
	const char *build = test_env("WEFT_BUILD", "build");
	char venv[512];

	(void)state;
	if (strcmp(test_env("WEFT_LEVEL", "test"), "test-full")) {
		printf("notebooks: a Jupyter kernel for each takes a minute: make test-full\n");
		skip();
	}
	snprintf(venv, sizeof(venv), "%s/venv/notebooks", build);
	assert_int_equal(shell("tools/venv.sh %s numpy cffi pandas setuptools wheel matplotlib nbconvert ipykernel", venv), 0);
	assert_int_equal(shell("WEFT_BUILD=$(realpath %s) %s/bin/python -m pip install -q --no-deps --no-build-isolation --force-reinstall "
	                       "--disable-pip-version-check userlib/python", build, venv), 0);
	assert_int_equal(shell("for n in userlib/python/notebooks/*.ipynb; do WEFT_MODELS=$(realpath tests/models) %s/bin/python -m nbconvert "
	                       "--to notebook --execute --output-dir $TMPDIR/notebooks $n || exit 1; done; rm -r $TMPDIR/notebooks", venv), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(package), cmocka_unit_test(notebooks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

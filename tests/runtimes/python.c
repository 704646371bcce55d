/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python package: it is installed from userlib/python into an environment of its own, with
 * numpy and pytest from PyPI, and its tests run there. WEFT_VENV names an environment that is
 * there already. Without PyPI the test is skipped, but fails where CI=true.
 *
 * Takes about 30 s, mostly for installing; test-full ten minutes.
 */
#define _GNU_SOURCE            /* dladdr() in preload.h */
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
#include "tests/support/preload.h"
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

/*
 * What `make wheel` makes is for every x86-64-v2 and every Python from 3.9 on: its simulators have no instructions of later processors,
 * and its tests pass with each Python at hand, the older ones with numpy 1, where there is no compiler and nothing of the tree's build
 * in the environment.
 */
static void wheel(void **state)
{
	const char *build = test_env("WEFT_BUILD", "build");
	int n = 0;

	(void)state;
	if (strcmp(test_env("WEFT_LEVEL", "test"), "test-full")) {
		printf("wheel: simulators are compiled for it: make test-full\n");
		skip();
	}
	assert_int_equal(shell("unset MAKEFLAGS MFLAGS MAKELEVEL; make -s wheel O=%s CONFIGS=w16 >&2", build), 0);
	assert_int_equal(shell("set -e; d=$TMPDIR/wheel; mkdir $d; cd $d; python3 -m zipfile -e $(realpath $OLDPWD/%s/dist)/weft-[0-9]*-py3-none-manylinux_2_36_x86_64.whl .; "
	                       "[ -f weft/lib/firmware/weft-fw.img ]; for f in weft/lib/rtl/weft-rtl-w16*.so; do [ $(objdump -d $f | wc -l) -gt 100000 ]; "
	                       "! objdump -d $f | grep -m 1 -E '%%[yz]mm|%%k[0-7]|[[:space:]](v[a-z]+[psiqdbw]|mulx|shlx|shrx|sarx|rorx|andn|bzhi|pdep|pext)[[:space:]]' >&2; done; rm -r $d",
	                       build), 0);
	for (int minor = 9; minor <= 14; minor++) {
		/* By that name, or as pyenv keeps them. */
		if (shell("for p in python3.%d ${PYENV_ROOT:-$HOME/.pyenv}/versions/3.%d.*/bin/python; do $p -c 'import venv' 2>/dev/null && echo $p >$TMPDIR/python && exit; done; exit 1",
		          minor, minor))
			continue;
		n++;
		/* Older pips leave their certificates in TMPDIR. */
		assert_int_equal(shell("p=$(cat $TMPDIR/python); rm $TMPDIR/python; d=$TMPDIR; export TMPDIR=$d/pip; mkdir $TMPDIR; v=%s/venv/python3.%d; PYTHON=$p tools/venv.sh $v cffi pytest pandas '%s' && "
		                       "$v/bin/python -m pip install -q --no-deps --force-reinstall --disable-pip-version-check %s/dist/weft-[0-9]*-py3-none-manylinux_2_36_x86_64.whl && "
		                       "t=$(realpath userlib/python/tests) m=$(realpath tests/models) w=$(realpath %s/weft) v=$(realpath $v) && rm -r $TMPDIR && export TMPDIR=$d && cd $TMPDIR && "
		                       "env -i PATH=$v/bin HOME=$TMPDIR TMPDIR=$TMPDIR WEFT_BROKER=none WEFT_CACHE=none WEFT_MODELS=$m WEFT_COMMAND=$w PYTHONDONTWRITEBYTECODE=1 "
		                       "$v/bin/python -m pytest -q -p no:cacheprovider --basetemp=$TMPDIR/pytest $t; s=$?; rm -rf $TMPDIR/pytest; exit $s",
		                       build, minor, minor < 12 ? "numpy<2" : "numpy>=2", build, build), 0);
		printf("Python 3.%d: all\n", minor);
		fflush(stdout);
	}
	assert_true(n > 0);
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
	const struct CMUnitTest tests[] = { cmocka_unit_test(package), cmocka_unit_test(wheel), cmocka_unit_test(notebooks) };

	return preload_sanitizer() || cmocka_run_group_tests(tests, NULL, NULL);
}

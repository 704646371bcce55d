/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python environments for tests of the runtimes that people use.
 */
#ifndef TESTS_SUPPORT_VENV_H
#define TESTS_SUPPORT_VENV_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/shell.h"

/* What several tests have in their environments "litert", and "ort", "ort-1.26" and so on. */
#define TEST_LITERT "numpy pytest pillow ai-edge-litert==2.3.*"
#define TEST_ORT(release) "numpy pytest onnx sympy setuptools wheel onnxruntime==" release ".*"

/*
 * Writes the folder of an environment with the packages into venv: the one that WEFT_VENV names,
 * the one of that name in the folder WEFT_VENV, or BUILD/venv/NAME, which tools/venv.sh makes
 * once. If PyPI cannot be reached the test is skipped, but fails where CI=true.
 */
static inline void test_venv(char *venv, size_t len, const char *name, const char *packages)
{
	const char *given = getenv("WEFT_VENV"), *ci = getenv("CI");

	if (given) {
		snprintf(venv, len, "%s/%s/bin/python", given, name);
		bool inside = !access(venv, X_OK);
		snprintf(venv, len, inside ? "%s/%s" : "%s", given, name);
		return;
	}
	snprintf(venv, len, "%s/venv/%s", test_env("WEFT_BUILD", "build"), name);
	int status = shell("tools/venv.sh %s %s", venv, packages);
	if (status == 77 && !(ci && !strcmp(ci, "true"))) {
		printf("PyPI cannot be reached\n");
		skip();
	}
	assert_int_equal(status, 0);
}

/*
 * Runs a script with the interpreter of that environment: `python SCRIPT BUILD/weft FOLDER REST`, where FOLDER is a new folder of
 * that name below $TMPDIR, also the script's TMPDIR, which is removed afterwards. Returns the script's exit status.
 */
static inline int test_python(const char *venv, const char *script, const char *name, const char *rest)
{
	return shell("t=$TMPDIR/%s && mkdir -p $t && PYTHONDONTWRITEBYTECODE=1 TMPDIR=$t %s/bin/python %s %s/weft $t %s; s=$?; rm -rf $t; exit $s",
	             name, venv, script, test_env("WEFT_BUILD", "build"), rest);
}

#endif

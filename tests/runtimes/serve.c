/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MLServer with Weft's execution provider (tools/serve): two networks on two simulated cards, eight
 * connections, one card killed in the middle; every answer is compared. Packages come from PyPI into an
 * environment of its own, or from that which WEFT_VENV names; without PyPI the test is skipped, but fails
 * where CI=true. Prints what a request costs beside libweft itself.
 *
 * Takes about two minutes, and as long again to install; test-full, with 10 000 requests, some minutes.
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

#include "tests/support/level.h"
#include "tests/support/preload.h"
#include "tests/support/shell.h"
#include "tests/support/venv.h"

/* Runs a file of tests in an environment. */
static void python_tests(const char *venv, const char *file)
{
	assert_int_equal(shell("t=$TMPDIR/python && mkdir -p $t && WEFT_BUILD=$(realpath %s) WEFT_MODELS=$(realpath tests/models) WEFT_REQUESTS=%ld "
	                       "PYTHONDONTWRITEBYTECODE=1 TMPDIR=$t %s/bin/python -m pytest -q -p no:cacheprovider --basetemp=$t/pytest "
	                       "tools/serve/tests/%s; s=$?; rm -rf $t; exit $s", test_env("WEFT_BUILD", "build"), test_count(100, 400, 10000), venv, file), 0);
}

static void mlserver(void **state)
{
	char venv[512];

	(void)state;
	test_venv(venv, sizeof(venv), "serve", "mlserver==1.7.* onnxruntime==1.31.* 'tritonclient[http,grpc]' pytest onnx");
	python_tests(venv, "test_serve.py");
}

static void ray_serve(void **state)
{
	char venv[512];

	(void)state;
	if (test_level() < 2) {
		printf("ray_serve: ray is large: make test-full\n");
		skip();
	}
	test_venv(venv, sizeof(venv), "ray", "'ray[serve]' onnxruntime==1.31.* numpy pytest");
	python_tests(venv, "test_ray.py");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(mlserver), cmocka_unit_test(ray_serve) };

	return preload_sanitizer() || cmocka_run_group_tests(tests, NULL, NULL);
}

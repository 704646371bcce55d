/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX Runtime with Weft's execution provider: onnxruntime comes from PyPI into an environment
 * of its own, and the tests of userlib/ort run there. WEFT_VENV names an environment that is
 * there already. Without PyPI the test is skipped, but fails where CI=true.
 *
 * Takes about a minute, and as long again to install; test-full a quarter of an hour.
 */
#define _GNU_SOURCE            /* dladdr() in preload.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/card_process.h"
#include "tests/support/level.h"
#include "tests/support/preload.h"
#include "tests/support/shell.h"
#include "tests/support/venv.h"
#include "userlib/ort/ort_abi.h"

/* Runs a file of tests in an environment; more are further variables. What they leave, and the runtime itself, is removed. */
static void python_tests(const char *venv, const char *file, const char *more)
{
	assert_int_equal(shell("t=$TMPDIR/python && mkdir -p $t && WEFT_BUILD=$(realpath %s) WEFT_MODELS=$(realpath tests/models) WEFT_DATA=$(realpath %s) %s "
	                       "PYTHONDONTWRITEBYTECODE=1 TMPDIR=$t %s/bin/python -m pytest -q -p no:cacheprovider --basetemp=$t/pytest "
	                       "userlib/ort/tests/%s; s=$?; rm -rf $t; exit $s", test_env("WEFT_BUILD", "build"), test_data(), more, venv, file), 0);
}

static void provider(void **state)
{
	char venv[512];

	(void)state;
	test_venv(venv, sizeof(venv), "ort", TEST_ORT("1.31"));
	python_tests(venv, "test_ort.py", "");
}

/* Parts that were compiled before, as EPContext nodes: kept, bound to what they belong to, refused elsewhere. */
static void context(void **state)
{
	static const char *const releases[] = { "1.31", "1.23" };
	char name[16], packages[128], venv[512];

	(void)state;
	for (size_t i = 0; i < (test_level() < 2 ? 1 : 2); i++) {
		snprintf(name, sizeof(name), i ? "ort-%s" : "ort", releases[i]);
		snprintf(packages, sizeof(packages), TEST_ORT("%s"), releases[i]);
		test_venv(venv, sizeof(venv), name, packages);
		python_tests(venv, "test_context.py", "");
	}
}

/* The package weft-onnxruntime: installed, it brings all that the provider needs, and says where it is. */
static void wheel(void **state)
{
	char venv[512];

	(void)state;
	test_venv(venv, sizeof(venv), "ort", TEST_ORT("1.31"));
	assert_int_equal(shell("WEFT_BUILD=$(realpath %s) %s/bin/python -m pip install -q --no-deps --no-build-isolation --force-reinstall "
	                       "--disable-pip-version-check userlib/ort/wheel", test_env("WEFT_BUILD", "build"), venv), 0);
	python_tests(venv, "check_wheel.py", "");
	assert_int_equal(shell("%s/bin/python -m pip uninstall -q -y weft-onnxruntime", venv), 0);
}

/* Foreign networks: a dozen of them in the newest release; by test-full all of them, and the dozen in three releases, with one binary. */
static void data(void **state)
{
	static const char *const releases[] = { "1.31", "1.26", "1.23" };
	char name[16], packages[128], venv[512];

	(void)state;
	if (access(test_data(), R_OK)) {
		printf("%s: not there\n", test_data());
		skip();
	}
	for (size_t i = 0; i < (test_level() < 2 ? 1 : sizeof(releases) / sizeof(releases[0])); i++) {
		snprintf(name, sizeof(name), i ? "ort-%s" : "ort", releases[i]);
		snprintf(packages, sizeof(packages), TEST_ORT("%s"), releases[i]);
		test_venv(venv, sizeof(venv), name, packages);
		python_tests(venv, "test_data.py", i ? "WEFT_LEVEL=test" : "");
	}
}

/* ONNX's own node tests, as the newest wheel that ships them has them. */
static void node_tests(void **state)
{
	char venv[512];

	(void)state;
	if (test_level() < 2) {
		printf("node_tests: 1653 models take minutes: make test-full\n");
		skip();
	}
	test_venv(venv, sizeof(venv), "ort-node", "numpy pytest sympy onnx==1.20.0 onnxruntime==1.31.*");
	python_tests(venv, "test_node.py", "");
}

/* A thousand sessions leave less than 1 MiB more behind than they do without the provider. */
static void memory(void **state)
{
	char venv[512];

	(void)state;
	if (test_level() < 2) {
		printf("memory: a thousand sessions take minutes: make test-full\n");
		skip();
	}
	test_venv(venv, sizeof(venv), "ort", TEST_ORT("1.31"));
	assert_int_equal(shell("t=$TMPDIR/python && mkdir -p $t && WEFT_BUILD=$(realpath %s) TMPDIR=$t %s/bin/python userlib/ort/tests/memory.py "
	                       "tests/models/digits_qdq.onnx; s=$?; rm -rf $t; exit $s", test_env("WEFT_BUILD", "build"), venv), 0);
}

/* Nothing but what ONNX Runtime looks up is visible to the programs that load the provider. */
static void exports(void **state)
{
	(void)state;
	assert_int_equal(shell("test \"$(nm -D --defined-only %s/libweft_ort_ep.so | cut -d' ' -f3 | sort | xargs)\" = "
	                       "'CreateEpFactories ReleaseEpFactory'", test_env("WEFT_BUILD", "build")), 0);
}

/* What a release that is too old has: version 1 of the interface, whose first function makes a status. */
static char said[256];

static struct ort_status *old_status(int code, const char *text)
{
	assert_int_equal(code, ORT_FAIL);
	snprintf(said, sizeof(said), "%s", text);
	return (struct ort_status *)said;
}

static const struct ort_api *old_api(uint32_t version)
{
	static const struct ort_api first = { .create_status = old_status };

	return version <= 22 ? &first : NULL;
}

static const char *old_release(void)
{
	return "1.22.1";
}

/* A release that does not have the provider's version of the interface is told so by its own error, in one line. */
static void too_old(void **state)
{
	const struct ort_api_base base = { old_api, old_release };
	struct ort_status *(*create)(const char *, const struct ort_api_base *, const struct ort_logger *, struct ort_factory **, size_t, size_t *);
	struct ort_factory *factory = NULL;
	char path[512];
	size_t made = 7;

	(void)state;
	snprintf(path, sizeof(path), "%s/libweft_ort_ep.so", test_env("WEFT_BUILD", "build"));
	void *lib = dlopen(path, RTLD_NOW);
	if (!lib)
		fail_msg("%s", dlerror());
	*(void **)&create = dlsym(lib, "CreateEpFactories");
	assert_ptr_equal(create("weft", &base, NULL, &factory, 1, &made), said);
	assert_string_equal(said, "WeftExecutionProvider: ONNX Runtime 1.22.1 does not have version 23 of its interface; 1.23 or later does");
	assert_int_equal(made, 0);
	assert_null(factory);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(provider), cmocka_unit_test(context), cmocka_unit_test(wheel), cmocka_unit_test(data), cmocka_unit_test(node_tests), cmocka_unit_test(memory),
	                                    cmocka_unit_test(exports), cmocka_unit_test(too_old) };

	return preload_sanitizer() || cmocka_run_group_tests(tests, NULL, NULL);
}

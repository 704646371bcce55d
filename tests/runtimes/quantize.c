/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `weft quantize` of float .tflite networks: LiteRT's reference kernels run the result and give the
 * bytes that golden gives. ai-edge-litert comes from PyPI; without it the test is skipped, but fails
 * where CI=true. Takes about half a minute.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/shell.h"
#include "tests/support/venv.h"

#define LITERT "numpy pytest pillow ai-edge-litert==2.3.*"

static void tflite(void **state)
{
	char litert[512], zoo[1024] = "";

	(void)state;
	test_venv(litert, sizeof litert, "litert", LITERT);
	if (!access(test_data(), R_OK))
		snprintf(zoo, sizeof zoo, "%s/zoo/models/vit.f32.tflite %s/zoo/models/unet_transpose.f16.tflite", test_data(), test_data());
	assert_int_equal(shell("t=$TMPDIR/quantize && mkdir -p $t && PYTHONDONTWRITEBYTECODE=1 %s/bin/python tests/runtimes/quantize_litert.py "
	                       "%s/weft $t %s; s=$?; rm -rf $t; exit $s", litert, test_env("WEFT_BUILD", "build"), zoo), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tflite) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

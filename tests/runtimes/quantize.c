/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `weft quantize` of float networks. Of .tflite, LiteRT's reference kernels run the result and give
 * the bytes that golden gives. Of .onnx, ONNX Runtime runs the result at every level of optimisation,
 * and it is as accurate as what ONNX Runtime's own quantiser makes: release 1.31, with test-full 1.23
 * and 1.26 too. The runtimes come from PyPI; without it the tests are skipped, but fail where CI=true.
 * Takes about a minute.
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

static void tflite(void **state)
{
	char litert[512], zoo[1024] = "";

	(void)state;
	test_venv(litert, sizeof litert, "litert", TEST_LITERT);
	if (!access(test_data(), R_OK))
		snprintf(zoo, sizeof zoo, "%s/zoo/models/vit.f32.tflite %s/zoo/models/unet_transpose.f16.tflite", test_data(), test_data());
	assert_int_equal(test_python(litert, "tests/runtimes/quantize_litert.py", "quantize", zoo), 0);
}

/* Quantises in an environment with one release of ONNX Runtime. */
static void with_release(const char *name, const char *packages)
{
	char venv[512], models[2048];
	const char *data = test_data();

	test_venv(venv, sizeof venv, name, packages);
	const int own = snprintf(models, sizeof models, "tests/models/digits_float.onnx");
	if (!access(data, R_OK))
		snprintf(models + own, sizeof models - (size_t)own, " %s/ort_testdata/mnist.onnx %s/alibaba_onnx_float/model_kws.onnx %s/alibaba_onnx_float/model_ad.onnx",
		         data, data, data);
	assert_int_equal(test_python(venv, "tests/runtimes/quantize_ort.py", "quantize", models), 0);
}

static void onnx(void **state)
{
	(void)state;
	with_release("ort", TEST_ORT("1.31"));
	if (test_level() < 2)
		return;
	with_release("ort-1.26", TEST_ORT("1.26"));
	with_release("ort-1.23", TEST_ORT("1.23"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tflite), cmocka_unit_test(onnx) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

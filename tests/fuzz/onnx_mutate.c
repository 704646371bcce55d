/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutated .onnx files through import and compilation: 0 or a negative errno
 * with one line, within bounded memory and time. WEFT_SEED is the first
 * mutation, WEFT_N the count for each file.
 */
#include "fuzz_file.h"

/* Foreign models of different operators; the first two are whole networks. */
static const char *const foreign[] = {
	"alibaba_onnx_float/model_kws.onnx", "ort_testdata/mnist.onnx", "shark/model.onnx",
	"ort_testdata/constant_folding_dequantizelinear.onnx", "migraphx_onnx/qlinearconv_test.onnx",
	"migraphx_onnx/qlinearmatmul_3D_test.onnx", "migraphx_onnx/convinteger_dual_bias_simple_test.onnx",
	"migraphx_onnx/quantizelinear_2d_blocked_with_zp_test.onnx", "onnx_node/test_resize_upsample_scales_cubic/model.onnx",
	"onnx_node/test_split_equal_parts_2d/model.onnx", "onnx_node/test_convtranspose_3d/model.onnx",
	"onnx_node/test_maxpool_2d_dilations/model.onnx", "onnx_node/test_gathernd_example_float32/model.onnx",
	"onnx_node/test_qlinearconv/model.onnx", "onnx_node/test_layer_normalization_2d_axis0/model.onnx",
	"deeploy/Kernels/Integer/Softmax/Regular/network.onnx", "deeploy/Kernels/Integer/TrueIntegerDiv/network.onnx",
};

static const char *load_and_compile(const struct bytes *b, int *accepted)
{
	int err;
	const char *wrong = fuzz_compile(b, accepted, &err);

	/* Shapes that are inputs are refused, which is an answer, too. */
	*accepted |= err == -ENOTSUP;
	return wrong;
}

static void test_foreign(void **state)
{
	(void)state;
	fuzz_foreign("onnx_mutate", foreign, sizeof(foreign) / sizeof(foreign[0]), test_count(50, 2000, 20000), load_and_compile);
}

/* QDQ and QLinear operators. */
static void test_own(void **state)
{
	static const char *const own[] = { "tests/models/digits_qdq.onnx", "tests/models/digits_qlinear.onnx" };

	(void)state;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		fuzz_path("onnx_mutate", own[i], test_count(50, 500, 20000), load_and_compile);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_own), cmocka_unit_test(test_foreign) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

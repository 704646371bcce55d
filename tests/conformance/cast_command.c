/* SPDX-License-Identifier: Apache-2.0 */
/* weft cast on files: what it writes, and how it refuses. */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/convert.h>

#include "tests/support/level.h"
#include "tests/support/tensors.h"
#include <weft/npy.h>

static char dir[128];

static int setup(void **state)
{
	(void)state;
	test_path(dir, sizeof(dir), "cast-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void write_npy(const char *name, weft_tensor *t)
{
	char path[160], msg[WEFT_NPY_MSG];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(weft_npy_write(path, t, msg), 0);
	tensor_free(t);
}

/* Exit status of "weft cast DIR/in ... -o DIR/y.npy". */
static int cast(const char *in, const char *rest)
{
	char command[600];

	snprintf(command, sizeof(command), "W=$PWD/%s/weft; cd %s && $W cast %s -o y.npy %s 2>err", test_env("WEFT_BUILD", "build"),
	         dir, in, rest);
	int status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(weft_dtype held, int n, const void *data)
{
	char path[160], msg[WEFT_NPY_MSG];
	weft_tensor t;

	snprintf(path, sizeof(path), "%s/y.npy", dir);
	assert_int_equal(weft_npy_read(path, &t, msg), 0);
	assert_int_equal(t.dtype, held);
	assert_int_equal(weft_tensor_elements(&t), n);
	assert_memory_equal(t.data, data, weft_tensor_bytes(&t));
	free(t.data);
}

static weft_tensor *fp32(int64_t n, const float *v)
{
	weft_tensor *t = tensor_new(WEFT_FP32, 1, &n);

	memcpy(t->data, v, sizeof(*v) * (size_t)n);
	return t;
}
#define FP32(...) fp32((int64_t)(sizeof((float[]){ __VA_ARGS__ }) / sizeof(float)), (const float[]){ __VA_ARGS__ })

static void converts(void **state)
{
	(void)state;
	write_npy("x.npy", FP32(1, -2.5f, 500, 1.0f / 0.0f));
	assert_int_equal(cast("x.npy", "--to float8e4m3fn"), 0);
	expect(WEFT_UINT8, 4, (uint8_t[]){ 0x38, 0xc2, 0x7e, 0x7e });
	assert_int_equal(cast("x.npy", "--to float8e4m3fn --saturate 0"), 0);
	expect(WEFT_UINT8, 4, (uint8_t[]){ 0x38, 0xc2, 0x7f, 0x7f });
	assert_int_equal(cast("x.npy", "--to=fp8e4m3 --rules=tosa"), 0);
	expect(WEFT_UINT8, 4, (uint8_t[]){ 0x38, 0xc2, 0x7f, 0x7f });
	assert_int_equal(cast("x.npy", "--to float8e4m3fnuz"), 0);
	expect(WEFT_UINT8, 4, (uint8_t[]){ 0x40, 0xca, 0x7f, 0x80 });
	assert_int_equal(cast("x.npy", "--to float8e4m3fnuz --fnuz-inf max"), 0);
	expect(WEFT_UINT8, 4, (uint8_t[]){ 0x40, 0xca, 0x7f, 0x7f });
	assert_int_equal(cast("x.npy", "--to float8_143 --log2-scale -2"), 0);
	expect(WEFT_UINT8, 4, (uint8_t[]){ 0x30, 0xba, 0x78, 0x80 });
	assert_int_equal(cast("x.npy", "--to bfloat16"), 0);
	expect(WEFT_UINT16, 4, (uint16_t[]){ 0x3f80, 0xc020, 0x43fa, 0x7f80 });
	assert_int_equal(cast("x.npy", "--to int16 --rules tosa"), 0);
	expect(WEFT_INT16, 4, (int16_t[]){ 1, -2, 500, 32767 });
}

static void reads_codes(void **state)
{
	(void)state;
	write_npy("c.npy", VALUES(TENSOR(WEFT_UINT8, 2), 0x40, 0x7f));
	assert_int_equal(cast("c.npy", "--from float8e4m3fnuz --to float16"), 0);
	expect(WEFT_FP16, 2, (uint16_t[]){ 0x3c00, 0x5b80 });
	assert_int_equal(cast("c.npy", "--from float8_143 --to float16 --log2-scale 3"), 0);
	expect(WEFT_FP16, 2, (uint16_t[]){ 0x4800, 0x6780 });
	assert_int_equal(cast("c.npy", "--to float16"), 0); /* no --from: the numbers 64 and 127 */
	expect(WEFT_FP16, 2, (uint16_t[]){ 0x5400, 0x57f0 });
}

static weft_tensor *file_of(const char *path)
{
	static weft_tensor t;
	char msg[WEFT_NPY_MSG];

	if (weft_npy_read(path, &t, msg))
		fail_msg("%s", msg);
	return &t;
}

/* cast_<which>_<from>_to_<to>_x, in the file's short names. */
static weft_dtype type_in(const char *s)
{
	static const struct { const char *name; weft_dtype t; } types[] = {
		{ "f8e4m3", WEFT_FP8E4M3 }, { "f8e5m2", WEFT_FP8E5M2 }, { "bf16", WEFT_BF16 }, { "f16", WEFT_FP16 }, { "f32", WEFT_FP32 },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strncmp(s, types[i].name, strlen(types[i].name)))
			return types[i].t;
	fail_msg("no type in %s", s);
	return 0;
}

/* Elements of one vector; any NaN equals any NaN. */
static int64_t vector(const char *folder)
{
	const char *name = strrchr(folder, '/') + 1, *from = strchr(strchr(name, '_') + 1, '_') + 1, *to = strstr(name, "_to_") + 4;
	char command[1400], path[700];
	int64_t n;

	snprintf(command, sizeof(command), "%s/weft cast %s/input-0.npy -o %s/y.npy --from %s --to %s --rules tosa",
	         test_env("WEFT_BUILD", "build"), folder, dir, weft_dtype_name(type_in(from)), weft_dtype_name(type_in(to)));
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof(path), "%s/expected-0.npy", folder);
	weft_tensor want = *file_of(path);
	snprintf(path, sizeof(path), "%s/y.npy", dir);
	weft_tensor got = *file_of(path);
	n = weft_tensor_elements(&want);
	assert_int_equal(weft_tensor_elements(&got), n);
	assert_int_equal(weft_dtype_bytes(got.dtype), weft_dtype_bytes(want.dtype));
	for (int64_t i = 0; i < n; i++) {
		size_t size = weft_dtype_bytes(want.dtype);
		uint64_t a = 0, b = 0;
		memcpy(&a, (char *)got.data + (size_t)i * size, size);
		memcpy(&b, (char *)want.data + (size_t)i * size, size);
		if (a != b && !(isnan(weft_float_decode(type_in(to), a)) && isnan(weft_float_decode(type_in(to), b))))
			fail_msg("%s: element %lld: %llx, expected %llx", name, (long long)i, (unsigned long long)a, (unsigned long long)b);
	}
	free(got.data);
	free(want.data);
	return n;
}

/* TOSA's exhaustive and boundary vectors of float8, fp16, bf16 and fp32. */
static void tosa_vectors(void **state)
{
	static const char *const kinds[] = { "all", "part", "round" };
	int64_t elements = 0;
	char pattern[600];
	int cases = 0;

	(void)state;
	for (int k = 0; k < 3; k++) {
		glob_t found;
		snprintf(pattern, sizeof(pattern), "%s/tosa_1_0/cast/cast_%s_*_to_*", test_data(), kinds[k]);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (size_t i = 0; i < found.gl_pathc; i++, cases++)
			elements += vector(found.gl_pathv[i]);
		globfree(&found);
	}
	if (!cases) {
		printf("no %s/tosa_1_0/cast\n", test_data());
		fflush(stdout);
		skip();
	}
	printf("%d vectors, %lld elements\n", cases, (long long)elements);
	fflush(stdout);
}

static void fake_converts(void **state)
{
	(void)state;
	write_npy("x.npy", FP32(0.3f, 1, -500));
	write_npy("s.npy", FP32(2));
	write_npy("z.npy", FP32(0.5f));
	assert_int_equal(cast("x.npy", "--to f8e4m3 --rules openvino --scale s.npy"), 0);
	expect(WEFT_FP32, 3, (float[]){ 0.3125f, 1, -224 });
	assert_int_equal(cast("x.npy", "--to f8e4m3 --scale s.npy --shift z.npy"), 0);
	expect(WEFT_FP32, 3, (float[]){ (0.1015625f + 0.5f) / 2, 1, -223.75f });
}

/* Out to text and back in; what is no number is refused. */
static void strings(void **state)
{
	char path[160], to[160], msg[WEFT_NPY_MSG], *text;
	weft_tensor t;
	size_t each;

	(void)state;
	write_npy("x.npy", FP32(3.14f, -0.5f, 1e20f));
	assert_int_equal(cast("x.npy", "--to string"), 0);
	snprintf(path, sizeof(path), "%s/y.npy", dir);
	snprintf(to, sizeof(to), "%s/text.npy", dir);
	assert_int_equal(rename(path, to), 0);
	assert_int_equal(weft_npy_read_text(to, &t, &text, &each, msg), 0);
	assert_string_equal(text, "3.14");
	assert_string_equal(text + each, "-0.5");
	assert_string_equal(text + 2 * each, "100000000000000000000");
	free(text);
	assert_int_equal(cast("text.npy", "--from string --to float32"), 0);
	expect(WEFT_FP32, 3, (const float[]){ 3.14f, -0.5f, 1e20f });
	assert_int_equal(cast("text.npy", "--from string --to int64"), 0);
	assert_int_equal(cast("x.npy", "--from string --to int64"), 2);
	assert_int_equal(cast("text.npy", "--from string --to float32 --rules tosa"), 2);
	assert_int_equal(weft_npy_write_text(to, &t, "1\0002\000x", 2, msg), 0);
	assert_int_equal(cast("text.npy", "--from string --to int8"), 2);
}

static void refuses_bad(void **state)
{
	static const char *const bad[] = {
		"", "--to float9", "--to float16 --from", "--to float16 --from bfloat16", "--to float16 --rules numpy",
		"--to float8_143 --log2-scale 32", "--to float8e4m3fn --log2-scale 1", "--to int8 --rules popxl",
		"--to float8e4m3fn --rules tosa --saturate 1", "--to f8e4m3 --shift s.npy", "--to f8e4m3 --scale none.npy",
		"--to float16 --scale s.npy --rules onnx", "--to float16 --saturate 2", "--to float16 extra.npy",
	};

	(void)state;
	write_npy("x.npy", FP32(1));
	write_npy("s.npy", FP32(1));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (cast("x.npy", bad[i]) != 2) {
			print_error("not refused: %s\n", bad[i]);
			fail();
		}
	}
	assert_int_equal(cast("none.npy", "--to float16"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(converts), cmocka_unit_test(reads_codes), cmocka_unit_test(tosa_vectors), cmocka_unit_test(fake_converts),
		cmocka_unit_test(strings), cmocka_unit_test(refuses_bad),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

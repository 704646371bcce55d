/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden's float arithmetic against TestFloat's vectors (round to nearest
 * even). Each line holds operands, the result and exception flags; any NaN
 * equals any NaN. A file that is not there is passed over, so that more
 * operations than the data has today are covered by name.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include <weft/convert.h>

#include "sim/golden/float/element.h"
#include "tests/support/golden_call.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

#define FLAG_INVALID 0x10
#define MOST 500000

static uint64_t in[3][MOST], want[MOST];
static unsigned flags[MOST];

/* Lines read, 0 if there is no such file. */
static int64_t load(const char *name, int n_in)
{
	char path[600], line[128];
	int64_t n = 0;

	snprintf(path, sizeof(path), "%s/float_vectors/testfloat/%s.txt.gz", test_data(), name);
	gzFile f = gzopen(path, "r");
	while (f && n < MOST && gzgets(f, line, sizeof(line))) {
		char *p = line;

		for (int k = 0; k < n_in; k++)
			in[k][n] = strtoull(p, &p, 16);
		want[n] = strtoull(p, &p, 16);
		flags[n++] = (unsigned)strtoul(p, &p, 16);
	}
	if (f)
		gzclose(f);
	else
		printf("no %s\n", path);
	return n;
}

static weft_tensor *tensor(weft_dtype t, int64_t n, const uint64_t *bits)
{
	weft_tensor *x = tensor_new(t, 1, &n);

	for (int64_t i = 0; bits && i < n; i++)
		weft_store_bits(x, i, bits[i]);
	return x;
}

static bool same(const weft_tensor *y, int64_t i)
{
	uint64_t got = weft_load_bits(y, i);

	return got == want[i] || (isnan(weft_float_decode(y->dtype, got)) && isnan(weft_float_decode(y->dtype, want[i])));
}

/* Results that TestFloat calls invalid are integers that TOSA leaves open or saturates. */
static void compare(const char *name, const weft_tensor *y, int64_t n, bool skip_invalid)
{
	int64_t bad = 0, done = 0;

	for (int64_t i = 0; i < n; i++) {
		if (skip_invalid && (flags[i] & FLAG_INVALID))
			continue;
		done++;
		if (!same(y, i) && bad++ == 0)
			print_error("%s, line %lld: %llx %llx gives %llx, not %llx\n", name, (long long)i + 1,
			            (unsigned long long)in[0][i], (unsigned long long)in[1][i],
			            (unsigned long long)weft_load_bits(y, i), (unsigned long long)want[i]);
	}
	assert_int_equal(bad, 0);
	assert_true(done > 0);
}

static int files;              /* of the case at hand, that were there */

static void binary(const char *name, weft_opcode op, weft_dtype t)
{
	weft_attr a = { .mul = { 0 } };
	int64_t n = load(name, 2);

	if (!n)
		return;
	weft_tensor *x = tensor(t, n, in[0]), *w = tensor(t, n, in[1]), *y = tensor(op == WEFT_OP_EQUAL || op == WEFT_OP_GREATER || op == WEFT_OP_GREATER_EQUAL ? WEFT_BOOL : t, n, NULL);
	assert_int_equal(golden(op, &a, y, x, w, NULL), 0);
	compare(name, y, n, false);
	files++;
	tensor_free(x);
	tensor_free(w);
	tensor_free(y);
}

static void cast(const char *name, weft_dtype from, weft_dtype to)
{
	int64_t n = load(name, 1);

	if (!n)
		return;
	weft_tensor *x = tensor(from, n, in[0]), *y = tensor(to, n, NULL);
	assert_int_equal(golden(WEFT_OP_CAST, NULL, y, x, NULL, NULL), 0);
	compare(name, y, n, !weft_float_format_of(to));
	files++;
	tensor_free(x);
	tensor_free(y);
}

static void some_or_skip(void)
{
	if (!files) {
		printf("no %s/float_vectors/testfloat\n", test_data());
		fflush(stdout);
		skip();
	}
}

static void operators(void **state)
{
	(void)state;
	files = 0;
	binary("f16_add.rne", WEFT_OP_ADD, WEFT_FP16);
	binary("f16_sub.rne", WEFT_OP_SUB, WEFT_FP16);
	binary("f16_mul.rne", WEFT_OP_MUL, WEFT_FP16);
	binary("f32_add.rne", WEFT_OP_ADD, WEFT_FP32);
	binary("f32_sub.rne", WEFT_OP_SUB, WEFT_FP32);
	binary("f32_mul.rne", WEFT_OP_MUL, WEFT_FP32);
	some_or_skip();
}

static void conversions(void **state)
{
	(void)state;
	files = 0;
	cast("bf16_to_f32.rne", WEFT_BF16, WEFT_FP32);
	cast("f32_to_bf16.rne", WEFT_FP32, WEFT_BF16);
	cast("f16_to_f32.rne", WEFT_FP16, WEFT_FP32);
	cast("f32_to_f16.rne", WEFT_FP32, WEFT_FP16);
	cast("f16_to_i32.rne", WEFT_FP16, WEFT_INT32);
	cast("f32_to_i32.rne", WEFT_FP32, WEFT_INT32);
	cast("i32_to_f16.rne", WEFT_INT32, WEFT_FP16);
	cast("i32_to_f32.rne", WEFT_INT32, WEFT_FP32);
	some_or_skip();
}

/* Division and square root are FakeConvert's and RSQRT's arithmetic: in fp64, then rounded. */
static void rounded_once(const char *name, weft_dtype t, bool divide)
{
	int64_t n = load(name, divide ? 2 : 1);

	if (!n)
		return;
	weft_tensor *y = tensor(t, n, NULL);
	for (int64_t i = 0; i < n; i++) {
		double a = weft_float_decode(t, in[0][i]);

		weft_put_f(y, i, divide ? a / weft_float_decode(t, in[1][i]) : sqrt(a));
	}
	compare(name, y, n, false);
	files++;
	tensor_free(y);
}

static void quotients_and_roots(void **state)
{
	(void)state;
	files = 0;
	rounded_once("f16_div.rne", WEFT_FP16, true);
	rounded_once("f32_div.rne", WEFT_FP32, true);
	rounded_once("f16_sqrt.rne", WEFT_FP16, false);
	rounded_once("f32_sqrt.rne", WEFT_FP32, false);
	some_or_skip();
}

/* To int32 and back, where int32 holds the value: the rounding of CAST. */
static void to_integral(const char *name, weft_dtype t)
{
	int64_t n = load(name, 1);

	if (!n)
		return;
	weft_tensor *x = tensor(t, n, in[0]), *i32 = tensor(WEFT_INT32, n, NULL), *y = tensor(t, n, NULL);
	assert_int_equal(golden(WEFT_OP_CAST, NULL, i32, x, NULL, NULL), 0);
	assert_int_equal(golden(WEFT_OP_CAST, NULL, y, i32, NULL, NULL), 0);
	for (int64_t i = 0; i < n; i++) {
		double v = weft_float_decode(t, in[0][i]);

		if (!(fabs(v) < 0x1p31))
			continue;
		/* int32 has one zero. */
		assert_true(weft_float_decode(t, weft_load_bits(y, i)) == weft_float_decode(t, want[i]));
	}
	files++;
	tensor_free(x);
	tensor_free(i32);
	tensor_free(y);
}

static void rounding(void **state)
{
	(void)state;
	files = 0;
	to_integral("f16_roundToInt.rne", WEFT_FP16);
	to_integral("f32_roundToInt.rne", WEFT_FP32);
	some_or_skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators), cmocka_unit_test(conversions), cmocka_unit_test(quotients_and_roots),
		cmocka_unit_test(rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

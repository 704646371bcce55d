/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as text: cases by hand, every code of the small formats there and
 * back, fp32 against the C library, rounding just beside ties.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include "../support/level.h"
#include "../support/tensors.h"

static void by_hand(void **state)
{
	static const struct { const char *text; weft_dtype t; uint64_t bits; } rows[] = {
		{ "3.14", WEFT_FP32, 0x4048f5c3 },  { "1000", WEFT_FP32, 0x447a0000 },   { "1e-5", WEFT_FP32, 0x3727c5ac },
		{ "1E8", WEFT_FP32, 0x4cbebc20 },   { "+INF", WEFT_FP32, 0x7f800000 },   { "inf", WEFT_FP16, 0x7c00 },
		{ "-Inf", WEFT_FP32, 0xff800000 },  { "100.5", WEFT_INT32, 100 },        { "-7.9", WEFT_INT8, (uint64_t)-7 },
		{ "9223372036854775807", WEFT_INT64, INT64_MAX },                        { "18446744073709551615", WEFT_UINT64, UINT64_MAX },
		{ "0", WEFT_BOOL, 0 },              { "2", WEFT_BOOL, 1 },               { "-0", WEFT_FP32, 0x80000000 },
		{ "448", WEFT_FP8E4M3, 0x7e },      { ".5", WEFT_FP32, 0x3f000000 },     { "5.", WEFT_FP64, 0x4014000000000000 },
		/* just above, at and just below the tie between 1 and 1 + 2^-10 of fp16 */
		{ "1.00048828125000000000000000000000001", WEFT_FP16, 0x3c01 }, { "1.00048828125", WEFT_FP16, 0x3c00 },
		{ "1.00146484375", WEFT_FP16, 0x3c02 }, { "1.00146484374999999999999999999999999", WEFT_FP16, 0x3c01 },
	};
	static const char *const bad[] = { "", "Hello World!", "0x10", "1 ", " 1", "1e", "--1", "1.2.3", "infinity", "nan(1)", ".", "e5" };
	uint64_t bits;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(weft_number_parse(rows[i].text, rows[i].t, &bits), 0);
		if (bits != rows[i].bits)
			fail_msg("%s as %s: %llx, not %llx", rows[i].text, weft_dtype_name(rows[i].t), (unsigned long long)bits,
			         (unsigned long long)rows[i].bits);
	}
	assert_int_equal(weft_number_parse("nan", WEFT_FP32, &bits), 0);
	assert_true(isnan(weft_float_decode(WEFT_FP32, bits)));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(weft_number_parse(bad[i], WEFT_FP32, &bits), -EINVAL);
}

static void written(void **state)
{
	static const struct { weft_dtype t; uint64_t bits; const char *text; } rows[] = {
		{ WEFT_FP32, 0x4048f5c3, "3.14" },     { WEFT_FP32, 0x3dcccccd, "0.1" },     { WEFT_FP32, 0x80000000, "-0" },
		{ WEFT_FP32, 0x4cbebc20, "100000000" }, { WEFT_FP32, 0x3727c5ac, "0.00001" }, { WEFT_FP32, 0xc2c80000, "-100" },
		{ WEFT_FP32, 0x7fc00000, "NaN" },      { WEFT_FP16, 0xfc00, "-INF" },        { WEFT_INT8, 0x80, "-128" },
		{ WEFT_UINT8, 0x80, "128" },           { WEFT_INT64, (uint64_t)INT64_MIN, "-9223372036854775808" },
		{ WEFT_UINT64, UINT64_MAX, "18446744073709551615" }, { WEFT_FP8E4M3, 0x7e, "448" }, { WEFT_BOOL, 1, "1" },
		{ WEFT_FP64, 0x400921fb54442d18, "3.141592653589793" },
	};
	char text[WEFT_NUMBER_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(weft_number_format(rows[i].t, rows[i].bits, text, sizeof text), 0);
		assert_string_equal(text, rows[i].text);
	}
	assert_int_equal(weft_number_format(WEFT_INT64, (uint64_t)INT64_MIN, text, 5), -ERANGE);
	assert_int_equal(weft_number_format(WEFT_FP64, 0x7fefffffffffffff, text, 100), -ERANGE);
	assert_int_equal(weft_number_format(WEFT_FP64, 1, text, sizeof text), 0);
}

static void there_and_back(weft_dtype t, uint64_t bits)
{
	char text[WEFT_NUMBER_TEXT];
	uint64_t back;

	assert_int_equal(weft_number_format(t, bits, text, sizeof text), 0);
	assert_int_equal(weft_number_parse(text, t, &back), 0);
	/* float8 saturates, infinity too */
	bool open = isnan(weft_float_decode(t, bits)) || (weft_dtype_bytes(t) == 1 && isinf(weft_float_decode(t, bits)));
	if (back != bits && !open)
		fail_msg("%s %llx: \"%s\" is %llx", weft_dtype_name(t), (unsigned long long)bits, text, (unsigned long long)back);
}

static void round_trips(void **state)
{
	static const weft_dtype small[] = { WEFT_FP8E4M3, WEFT_FP8E5M2, WEFT_FP8E4M3FNUZ, WEFT_FP8E5M2FNUZ };
	uint64_t r = test_seed(1);

	(void)state;
	for (int t = 0; t < 4; t++)
		for (uint64_t b = 0; b < 256; b++)
			there_and_back(small[t], b);
	for (uint64_t b = 0; b < 65536; b += test_level() ? 1 : 7) {
		there_and_back(WEFT_FP16, b);
		there_and_back(WEFT_BF16, b);
	}
	for (long i = 0; i < test_count(2000, 20000, 1000000); i++) {
		uint64_t v = test_random(&r), bits;
		char text[64];
		float f;

		there_and_back(WEFT_FP64, v);
		there_and_back(WEFT_FP32, v & 0xffffffff);
		snprintf(text, sizeof text, "%u.%07u%09ue%d", (unsigned)(v & 7), (unsigned)(v >> 3 & 0xfffff), (unsigned)(v >> 32 & 0xfffffff),
		         (int)(v >> 60) * 4 - 30);
		f = strtof(text, NULL);
		uint32_t want;
		memcpy(&want, &f, 4);
		assert_int_equal(weft_number_parse(text, WEFT_FP32, &bits), 0);
		assert_int_equal(bits, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(by_hand), cmocka_unit_test(written), cmocka_unit_test(round_trips) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

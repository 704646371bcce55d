/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESCALE's arithmetic against the definitions in exact rational numbers:
 * single rounding is floor(v*m/2^s + 1/2); double rounding is gemmlowp's
 * doubling high multiply followed by a division that rounds half away from 0.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/golden/golden.h"
#include "tests/support/tensors.h"

typedef __int128 wide;

static int64_t floor_div_pow2(wide v, int s)
{
	wide d = (wide)1 << s, q = v / d;

	return (int64_t)(v % d < 0 ? q - 1 : q);
}

static int64_t single_round(int64_t v, int64_t m, int s)
{
	return floor_div_pow2((wide)v * m * 2 + ((wide)1 << s), s + 1);
}

static int64_t half_away(int64_t v, int s)
{
	int64_t q = floor_div_pow2((v < 0 ? -(wide)v : (wide)v) * 2 + ((wide)1 << s), s + 1);

	return v < 0 ? -q : q;
}

/* The even one of the two that a tie rounds to: those of v*m above and below 2^s/2 by one part. */
static int64_t even_round(int64_t v, int64_t m, int s)
{
	int64_t up = floor_div_pow2((wide)v * m * 2 + ((wide)1 << s), s + 1), down = floor_div_pow2((wide)v * m * 2 + ((wide)1 << s) - 1, s + 1);

	return up % 2 ? down : up;
}

static int64_t double_round(int64_t v, int64_t m, int s)
{
	if (s <= 31)
		return single_round(v, m, s);
	return half_away(single_round(v, m, 31), s - 31);
}

static void scale_32_by_hand(void **state)
{
	(void)state;
	/* ties go up: 0.5 -> 1, -0.5 -> 0, -1.5 -> -1 */
	assert_int_equal(weft_apply_scale_32(1, 1 << 30, 31, false), 1);
	assert_int_equal(weft_apply_scale_32(-1, 1 << 30, 31, false), 0);
	assert_int_equal(weft_apply_scale_32(-3, 1 << 30, 31, false), -1);
	/* 2/4 and -2/4: in two stages a negative tie goes away from zero */
	assert_int_equal(weft_apply_scale_32(2, 1 << 30, 32, true), 1);
	assert_int_equal(weft_apply_scale_32(-2, 1 << 30, 32, true), -1);
	assert_int_equal(weft_apply_scale_32(-2, 1 << 30, 32, false), 0);
	/* 1/4: the first stage makes 1/2 into 1, the second again */
	assert_int_equal(weft_apply_scale_32(1, 1 << 30, 32, true), 1);
	assert_int_equal(weft_apply_scale_32(1, 1 << 30, 32, false), 0);
	/* identity, and the ends of the range */
	assert_int_equal(weft_apply_scale_32(-123456789, 1 << 30, 30, true), -123456789);
	assert_int_equal(weft_apply_scale_32(INT32_MAX, INT32_MAX, 62, false), 1);
	assert_int_equal(weft_apply_scale_32(INT32_MIN, INT32_MAX, 62, true), -1);
	assert_int_equal(weft_apply_scale_32(1, 3, 2, false), 1);
	/* 0.5, 1.5, -0.5, -1.5, -2.5, 5/8 */
	assert_int_equal(weft_apply_scale_even(1, 1 << 30, 31), 0);
	assert_int_equal(weft_apply_scale_even(3, 1 << 30, 31), 2);
	assert_int_equal(weft_apply_scale_even(-1, 1 << 30, 31), 0);
	assert_int_equal(weft_apply_scale_even(-3, 1 << 30, 31), -2);
	assert_int_equal(weft_apply_scale_even(-5, 1 << 30, 31), -2);
	assert_int_equal(weft_apply_scale_even(5, 1 << 30, 33), 1);
}

static void scale_16_by_hand(void **state)
{
	(void)state;
	assert_int_equal(weft_apply_scale_16(1000, 1 << 14, 14), 1000);
	assert_int_equal(weft_apply_scale_16(-3, 1 << 14, 15), -1);
	assert_int_equal(weft_apply_scale_16(((int64_t)1 << 47) - 1, 32767, 62), 1);
	assert_int_equal(weft_apply_scale_16(-((int64_t)1 << 47), 32767, 62), -1);
	assert_int_equal(weft_apply_scale_16((int64_t)1 << 40, 1 << 14, 30), 1 << 24);
}

static int64_t random_value(uint64_t *r)
{
	/* all magnitudes, also such as make ties likely */
	int bits = (int)(test_random(r) % 32);
	int64_t v = (int32_t)test_random(r) >> bits;

	return test_random(r) % 4 == 0 ? v & ~(int64_t)0xff : v;
}

static void scale_32_random(void **state)
{
	uint64_t r = 1;

	(void)state;
	for (int i = 0; i < 400000; i++) {
		int s = 2 + (int)(test_random(&r) % 61);
		int64_t m = (int64_t)(test_random(&r) & INT32_MAX) >> (test_random(&r) % 31);
		int64_t v = random_value(&r);

		if (test_random(&r) % 3 == 0)
			m = (int64_t)1 << (test_random(&r) % 31);
		if (s < 33 && (v < -((int64_t)1 << (s - 1)) || v >= (int64_t)1 << (s - 1)))
			continue;
		if (weft_apply_scale_32((int32_t)v, (int32_t)m, s, false) != single_round(v, m, s) ||
		    weft_apply_scale_even(v, (int32_t)m, s) != even_round(v, m, s) ||
		    weft_apply_scale_32((int32_t)v, (int32_t)m, s, true) != double_round(v, m, s))
			fail_msg("value %lld, multiplier %lld, shift %d", (long long)v, (long long)m, s);
	}
}

static void scale_16_random(void **state)
{
	uint64_t r = 2;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		int s = 2 + (int)(test_random(&r) % 61);
		int64_t m = (int64_t)(test_random(&r) & INT16_MAX);
		int64_t v = (int64_t)test_random(&r) >> (16 + test_random(&r) % 46);
		int64_t want = single_round(v, m, s);

		if (want == (int32_t)want && weft_apply_scale_16(v, (int32_t)m, s) != want)
			fail_msg("value %lld, multiplier %lld, shift %d", (long long)v, (long long)m, s);
	}
}

/* One call with one scale; frees x. Returns golden's answer. */
static int rescale(struct weft_attr_rescale a, weft_tensor *x, int64_t m, int64_t s, weft_tensor *y)
{
	weft_attr attr = { .rescale = a };
	weft_tensor *mt = VALUES(TENSOR(a.scale32 ? WEFT_INT32 : WEFT_INT16, 1), m);
	weft_tensor *st = VALUES(TENSOR(WEFT_INT8, 1), s);
	const weft_tensor *in[3] = { x, mt, st };
	char msg[WEFT_GOLDEN_MSG];
	int err = weft_golden_run(WEFT_OP_RESCALE, &attr, in, 3, &y, 1, false, msg);

	tensor_free(x);
	tensor_free(mt);
	tensor_free(st);
	return err;
}

static void zero_points_and_clipping(void **state)
{
	struct weft_attr_rescale a = { .scale32 = true, .rounding = WEFT_DOUBLE_ROUND, .x_zp = -3, .y_zp = 5 };
	weft_tensor *y = TENSOR(WEFT_INT8, 4);

	(void)state;
	/* (x + 3)/2 + 5: ties -0.5 -> -0 (shift 31 has one stage), 1.5 -> 2; -62.5 -> -62; 65 */
	assert_int_equal(rescale(a, VALUES(TENSOR(WEFT_INT8, 4), -4, 0, -128, 127), 1 << 30, 31, y), 0);
	assert_int_equal(tensor_get(y, 0), 5);
	assert_int_equal(tensor_get(y, 1), 7);
	assert_int_equal(tensor_get(y, 2), -57);
	assert_int_equal(tensor_get(y, 3), 70);
	/* (x + 3)*4 + 5 leaves int8 on both sides */
	assert_int_equal(rescale(a, VALUES(TENSOR(WEFT_INT8, 4), -128, 127, 0, -3), 1 << 30, 28, y), 0);
	assert_int_equal(tensor_get(y, 0), -128);
	assert_int_equal(tensor_get(y, 1), 127);
	assert_int_equal(tensor_get(y, 2), 17);
	assert_int_equal(tensor_get(y, 3), 5);
	tensor_free(y);
}

static void unsigned_types(void **state)
{
	struct weft_attr_rescale out = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .y_unsigned = true, .y_zp = 128 };
	struct weft_attr_rescale in = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .x_unsigned = true, .x_zp = 128 };
	weft_tensor *y = TENSOR(WEFT_UINT8, 3), *s = TENSOR(WEFT_INT8, 3);

	(void)state;
	assert_int_equal(rescale(out, VALUES(TENSOR(WEFT_INT8, 3), -128, 0, 127), 1 << 30, 30, y), 0);
	assert_int_equal(tensor_get(y, 0), 0);
	assert_int_equal(tensor_get(y, 1), 128);
	assert_int_equal(tensor_get(y, 2), 255);
	/* the signless type with the attribute has the same bytes */
	assert_int_equal(rescale(out, VALUES(TENSOR(WEFT_INT8, 3), -128, 0, 127), 1 << 30, 30, s), 0);
	assert_memory_equal(s->data, y->data, 3);
	/* twice: -128 + 128 stays, below 0 is 0 and not 255 */
	out.y_zp = 0;
	assert_int_equal(rescale(out, VALUES(TENSOR(WEFT_INT8, 3), -128, 0, 127), 1 << 30, 29, y), 0);
	assert_int_equal(tensor_get(y, 0), 0);
	assert_int_equal(tensor_get(y, 2), 254);
	/* and back */
	assert_int_equal(rescale(in, VALUES(TENSOR(WEFT_UINT8, 3), 0, 128, 255), 1 << 30, 30, s), 0);
	assert_int_equal(tensor_get(s, 0), -128);
	assert_int_equal(tensor_get(s, 1), 0);
	assert_int_equal(tensor_get(s, 2), 127);
	tensor_free(y);
	tensor_free(s);
}

static void per_channel(void **state)
{
	weft_attr attr = { .rescale = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .per_channel = true } };
	weft_tensor *x = VALUES(TENSOR(WEFT_INT32, 2, 3), 8, 8, 8, -8, -8, -8), *y = TENSOR(WEFT_INT32, 2, 3);
	weft_tensor *m = VALUES(TENSOR(WEFT_INT32, 3), 1 << 30, 1 << 30, 3 << 29);
	weft_tensor *s = VALUES(TENSOR(WEFT_INT8, 3), 30, 31, 30);
	const weft_tensor *in[3] = { x, m, s };
	const int64_t want[6] = { 8, 4, 12, -8, -4, -12 };
	char msg[WEFT_GOLDEN_MSG];

	(void)state;
	assert_int_equal(weft_golden_run(WEFT_OP_RESCALE, &attr, in, 3, &y, 1, false, msg), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(tensor_get(y, i), want[i]);
	m->dim[0] = s->dim[0] = 2;
	assert_int_equal(weft_golden_run(WEFT_OP_RESCALE, &attr, in, 3, &y, 1, false, msg), -EINVAL);
	tensor_free(x);
	tensor_free(y);
	tensor_free(m);
	tensor_free(s);
}

/* TOSA 1.0 section 2.13.2's ERROR_IF lines and limits, each broken alone; but int16 may have any zero point here. */
static void rules_bad(void **state)
{
	const struct weft_attr_rescale ok = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND };
	static const struct {
		weft_dtype x, y;
		struct weft_attr_rescale a;
		int64_t m, s;
	} bad[] = {
		{ WEFT_INT32, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .x_zp = 1 }, 1, 30 },
		{ WEFT_INT8, WEFT_INT32, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .y_zp = 1 }, 1, 30 },
		{ WEFT_INT16, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .x_unsigned = true, .x_zp = 7 }, 1, 30 },
		{ WEFT_INT8, WEFT_INT16, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .y_unsigned = true, .y_zp = 7 }, 1, 30 },
		{ WEFT_INT8, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .x_zp = 128 }, 1, 30 },
		{ WEFT_INT48, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND }, 1, 30 },
		{ WEFT_INT8, WEFT_INT8, { .scale32 = false, .rounding = WEFT_DOUBLE_ROUND }, 1, 30 },
		{ WEFT_INT8, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .x_unsigned = true, .y_unsigned = true }, 1, 30 },
		{ WEFT_INT8, WEFT_INT32, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .x_unsigned = true }, 1, 30 },
		{ WEFT_INT32, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .y_unsigned = true }, 1, 30 },
		{ WEFT_INT48, WEFT_INT8, { .scale32 = false, .rounding = WEFT_SINGLE_ROUND, .y_unsigned = true }, 1, 30 },
		{ WEFT_INT48, WEFT_INT8, { .scale32 = false, .rounding = WEFT_SINGLE_ROUND, .x_unsigned = true }, 1, 30 },
		{ WEFT_UINT8, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND }, 1, 30 },
		{ WEFT_INT8, WEFT_INT48, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND }, 1, 30 },
		{ WEFT_INT8, WEFT_INT8, { .scale32 = true, .rounding = 5 }, 1, 30 },
		{ WEFT_INT8, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND }, -1, 30 },
		{ WEFT_INT8, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND }, 1, 1 },
		{ WEFT_INT8, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND }, 1, 63 },
		{ WEFT_INT8, WEFT_INT8, { .scale32 = true, .rounding = WEFT_SINGLE_ROUND }, 1, -2 },
	};
	weft_tensor *y = TENSOR(WEFT_INT8, 2);

	(void)state;
	assert_int_equal(rescale(ok, TENSOR(WEFT_INT8, 2), 1, 30, y), 0);
	assert_int_equal(rescale(ok, TENSOR(WEFT_INT8, 3), 1, 30, y), -EINVAL);
	tensor_free(y);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		y = TENSOR(bad[i].y, 2);
		if (rescale(bad[i].a, TENSOR(bad[i].x, 2), bad[i].m, bad[i].s, y) != -EINVAL)
			fail_msg("row %d is accepted", (int)i);
		tensor_free(y);
	}
}

/* Zero points at and beside each edge of what a type allows, of the operand and of the result. */
static void zero_point_edges(void **state)
{
	static const struct { weft_dtype t; bool is_unsigned; int32_t zp; int err; } edges[] = {
		{ WEFT_INT8, false, -129, -EINVAL }, { WEFT_INT8, false, -128, 0 }, { WEFT_INT8, false, 127, 0 }, { WEFT_INT8, false, 128, -EINVAL },
		{ WEFT_INT8, true, -1, -EINVAL }, { WEFT_INT8, true, 0, 0 }, { WEFT_INT8, true, 255, 0 }, { WEFT_INT8, true, 256, -EINVAL },
		{ WEFT_INT16, false, -32769, -EINVAL }, { WEFT_INT16, false, -32768, 0 }, { WEFT_INT16, false, 32767, 0 }, { WEFT_INT16, false, 32768, -EINVAL },
		{ WEFT_INT16, true, 1, -EINVAL }, { WEFT_INT16, true, 0, 0 }, { WEFT_INT16, true, 32767, -EINVAL },
		{ WEFT_INT16, true, 32768, 0 }, { WEFT_INT16, true, 32769, -EINVAL },
		{ WEFT_INT32, false, -1, -EINVAL }, { WEFT_INT32, false, 0, 0 }, { WEFT_INT32, false, 1, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		for (int out = 0; out < 2; out++) {
			struct weft_attr_rescale a = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND };
			weft_tensor *y = TENSOR(out ? edges[i].t : WEFT_INT8, 2);

			*(out ? &a.y_unsigned : &a.x_unsigned) = edges[i].is_unsigned;
			*(out ? &a.y_zp : &a.x_zp) = edges[i].zp;
			if (rescale(a, TENSOR(out ? WEFT_INT8 : edges[i].t, 2), 1, 30, y) != edges[i].err)
				fail_msg("zero point %d of row %d, %s", (int)edges[i].zp, (int)i, out ? "result" : "operand");
			tensor_free(y);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scale_32_by_hand),
		cmocka_unit_test(scale_16_by_hand),
		cmocka_unit_test(scale_32_random),
		cmocka_unit_test(scale_16_random),
		cmocka_unit_test(zero_points_and_clipping),
		cmocka_unit_test(unsigned_types),
		cmocka_unit_test(per_channel),
		cmocka_unit_test(rules_bad),
		cmocka_unit_test(zero_point_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

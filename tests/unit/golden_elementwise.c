/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that work element by element, and reductions. */
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

#include "tests/support/golden_call.h"
#include "tests/support/tensors.h"

#define CHECK(t, ...) do { \
		const int64_t want_[] = { __VA_ARGS__ }; \
		assert_int_equal(weft_tensor_elements(t), (int64_t)(sizeof(want_) / sizeof(want_[0]))); \
		for (size_t i_ = 0; i_ < sizeof(want_) / sizeof(want_[0]); i_++) \
			assert_int_equal(tensor_get(t, (int64_t)i_), want_[i_]); \
	} while (0)

static void broadcast(void **state)
{
	weft_tensor *a = VALUES(TENSOR(WEFT_INT32, 2, 1, 3), 1, 2, 3, 4, 5, 6);
	weft_tensor *b = VALUES(TENSOR(WEFT_INT32, 1, 2, 1), 10, 20), *y = TENSOR(WEFT_INT32, 2, 2, 3);

	(void)state;
	assert_int_equal(golden(WEFT_OP_ADD, NULL, y, a, b, NULL), 0);
	CHECK(y, 11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26);
	assert_int_equal(golden(WEFT_OP_SUB, NULL, y, a, b, NULL), 0);
	CHECK(y, -9, -8, -7, -19, -18, -17, -6, -5, -4, -16, -15, -14);
	assert_int_equal(golden(WEFT_OP_MAXIMUM, NULL, y, a, b, NULL), 0);
	CHECK(y, 10, 10, 10, 20, 20, 20, 10, 10, 10, 20, 20, 20);
	assert_int_equal(golden(WEFT_OP_MINIMUM, NULL, y, b, a, NULL), 0);
	CHECK(y, 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6);
	y->dim[1] = 1;
	assert_int_equal(golden(WEFT_OP_ADD, NULL, y, a, b, NULL), -EINVAL);
	y->dim[1] = 2;
	b->rank = 2;
	assert_int_equal(golden(WEFT_OP_ADD, NULL, y, a, b, NULL), -EINVAL);
	b->rank = 3;
	b->dim[2] = 2;
	assert_int_equal(golden(WEFT_OP_ADD, NULL, y, a, b, NULL), -EINVAL);
	tensor_free(a);
	tensor_free(b);
	tensor_free(y);
}

static void scalars_and_wrapping(void **state)
{
	weft_tensor *a = tensor_new(WEFT_INT32, 0, NULL), *b = tensor_new(WEFT_INT32, 0, NULL);
	weft_tensor *y = tensor_new(WEFT_INT32, 0, NULL), *s = tensor_new(WEFT_INT8, 0, NULL);

	(void)state;
	VALUES(a, INT32_MAX);
	VALUES(b, 1);
	assert_int_equal(golden(WEFT_OP_ADD, NULL, y, a, b, NULL), 0);
	CHECK(y, INT32_MIN);
	assert_int_equal(golden(WEFT_OP_SUB, NULL, y, y, b, NULL), 0);
	CHECK(y, INT32_MAX);
	assert_int_equal(golden(WEFT_OP_ADD, NULL, s, s, s, NULL), -EINVAL);
	tensor_free(a);
	tensor_free(b);
	tensor_free(y);
	tensor_free(s);
}

static void mul(void **state)
{
	weft_attr a = { .mul = { .shift = 0 } };
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 3), -128, 127, 3), *y = TENSOR(WEFT_INT32, 3);
	weft_tensor *p = VALUES(TENSOR(WEFT_INT32, 3), 3, -3, INT32_MIN), *q = VALUES(TENSOR(WEFT_INT32, 3), 1, 1, INT32_MIN);
	weft_tensor *z = VALUES(TENSOR(WEFT_INT16, 1), -32768), *w = TENSOR(WEFT_INT32, 1);

	(void)state;
	assert_int_equal(golden(WEFT_OP_MUL, &a, y, x, x, NULL), 0);
	CHECK(y, 16384, 16129, 9);
	assert_int_equal(golden(WEFT_OP_MUL, &a, w, z, z, NULL), 0);
	CHECK(w, 1 << 30);
	assert_int_equal(golden(WEFT_OP_MUL, &a, y, p, q, NULL), 0);
	CHECK(y, 3, -3, 0);
	a.mul.shift = 1; /* half up: 1.5 -> 2, -1.5 -> -1 */
	assert_int_equal(golden(WEFT_OP_MUL, &a, y, p, q, NULL), 0);
	CHECK(y, 2, -1, 0);
	a.mul.shift = 63; /* 2^62 + 2^62 wraps to the smallest int64 */
	assert_int_equal(golden(WEFT_OP_MUL, &a, y, p, q, NULL), 0);
	CHECK(y, 0, 0, -1);
	a.mul.shift = 64;
	assert_int_equal(golden(WEFT_OP_MUL, &a, y, p, q, NULL), -EINVAL);
	a.mul.shift = 1;
	assert_int_equal(golden(WEFT_OP_MUL, &a, y, x, x, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
	tensor_free(p);
	tensor_free(q);
	tensor_free(z);
	tensor_free(w);
}

static void clamp(void **state)
{
	weft_attr a = { .clamp = { .min = -3, .max = 100 } };
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 5), -128, -4, 0, 101, 127), *y = TENSOR(WEFT_INT8, 5);
	weft_tensor *i32 = TENSOR(WEFT_INT32, 5);

	(void)state;
	assert_int_equal(golden(WEFT_OP_CLAMP, &a, y, x, NULL, NULL), 0);
	CHECK(y, -3, -3, 0, 100, 100);
	assert_int_equal(golden(WEFT_OP_CLAMP, &a, i32, i32, NULL, NULL), -EINVAL);
	a.clamp.max = -4;
	assert_int_equal(golden(WEFT_OP_CLAMP, &a, y, x, NULL, NULL), -EINVAL);
	a.clamp.max = 128;
	assert_int_equal(golden(WEFT_OP_CLAMP, &a, y, x, NULL, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
	tensor_free(i32);
}

static void table(void **state)
{
	weft_tensor *t = TENSOR(WEFT_INT8, 256), *x = VALUES(TENSOR(WEFT_INT8, 3), -128, 0, 127), *y = TENSOR(WEFT_INT8, 3);
	weft_tensor *t16 = TENSOR(WEFT_INT16, 513), *x16 = VALUES(TENSOR(WEFT_INT16, 4), -32768, 0, 65, 32767);
	weft_tensor *y32 = TENSOR(WEFT_INT32, 4);

	(void)state;
	for (int i = 0; i < 256; i++)
		tensor_set(t, i, i - 100);
	assert_int_equal(golden(WEFT_OP_TABLE, NULL, y, x, t, NULL), 0);
	CHECK(y, -100, 28, (int8_t)155);
	for (int i = 0; i < 513; i++)
		tensor_set(t16, i, 3 * i - 700);
	tensor_set(t16, 512, 30000);
	tensor_set(t16, 511, -30000); /* a slope beyond int16 */
	assert_int_equal(golden(WEFT_OP_TABLE, NULL, y32, x16, t16, NULL), 0);
	CHECK(y32, -700 * 128, 68 * 128, 68 * 128 + 3 * 65, -30000 * 128 + 60000 * 127);
	t->dim[0] = 255;
	assert_int_equal(golden(WEFT_OP_TABLE, NULL, y, x, t, NULL), -EINVAL);
	tensor_free(t);
	tensor_free(x);
	tensor_free(y);
	tensor_free(t16);
	tensor_free(x16);
	tensor_free(y32);
}

static void reductions(void **state)
{
	weft_attr a = { .axis = { .axis = 1 } };
	weft_tensor *x = VALUES(TENSOR(WEFT_INT32, 2, 3, 2), 1, 2, 3, 4, 5, 6, -1, -2, INT32_MAX, -4, 2, 7);
	weft_tensor *y = TENSOR(WEFT_INT32, 2, 1, 2), *x8 = VALUES(TENSOR(WEFT_INT8, 2, 2), 3, -4, 5, 5), *y8 = TENSOR(WEFT_INT8, 2, 1);

	(void)state;
	assert_int_equal(golden(WEFT_OP_REDUCE_SUM, &a, y, x, NULL, NULL), 0);
	CHECK(y, 9, 12, INT32_MIN, 1);
	assert_int_equal(golden(WEFT_OP_REDUCE_MAX, &a, y, x, NULL, NULL), 0);
	CHECK(y, 5, 6, INT32_MAX, 7);
	assert_int_equal(golden(WEFT_OP_REDUCE_MIN, &a, y, x, NULL, NULL), 0);
	CHECK(y, 1, 2, -1, -4);
	assert_int_equal(golden(WEFT_OP_REDUCE_MAX, &a, y8, x8, NULL, NULL), 0);
	CHECK(y8, 3, 5);
	assert_int_equal(golden(WEFT_OP_REDUCE_SUM, &a, y8, x8, NULL, NULL), -EINVAL);
	a.axis.axis = 3;
	assert_int_equal(golden(WEFT_OP_REDUCE_SUM, &a, y, x, NULL, NULL), -EINVAL);
	a.axis.axis = -1;
	assert_int_equal(golden(WEFT_OP_REDUCE_SUM, &a, y, x, NULL, NULL), -EINVAL);
	a.axis.axis = 0;
	assert_int_equal(golden(WEFT_OP_REDUCE_SUM, &a, y, x, NULL, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
	tensor_free(x8);
	tensor_free(y8);
}

static void argmax(void **state)
{
	weft_attr a = { .axis = { .axis = 1 } };
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 2, 3, 2), 1, -5, 7, -5, 7, -6, -128, 0, -128, 1, -128, 1);
	weft_tensor *y = TENSOR(WEFT_INT32, 2, 2), *all = TENSOR(WEFT_INT8, 3), *one = tensor_new(WEFT_INT32, 0, NULL);

	(void)state;
	assert_int_equal(golden(WEFT_OP_ARGMAX, &a, y, x, NULL, NULL), 0);
	CHECK(y, 1, 0, 0, 1);
	a.axis.axis = 0;
	VALUES(all, -3, 9, 9);
	assert_int_equal(golden(WEFT_OP_ARGMAX, &a, one, all, NULL, NULL), 0);
	CHECK(one, 1);
	assert_int_equal(golden(WEFT_OP_ARGMAX, &a, y, x, NULL, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
	tensor_free(all);
	tensor_free(one);
}

static void cast(void **state)
{
	weft_tensor *x = VALUES(TENSOR(WEFT_INT32, 4), 0, 257, -129, 65536), *y = TENSOR(WEFT_INT8, 4);
	weft_tensor *b = TENSOR(WEFT_BOOL, 4), *h = TENSOR(WEFT_INT16, 4);

	(void)state;
	assert_int_equal(golden(WEFT_OP_CAST, NULL, y, x, NULL, NULL), 0);
	CHECK(y, 0, 1, 127, 0);
	assert_int_equal(golden(WEFT_OP_CAST, NULL, b, x, NULL, NULL), 0);
	CHECK(b, 0, 1, 1, 1);
	((uint8_t *)b->data)[0] = 2; /* every nonzero byte is true */
	assert_int_equal(golden(WEFT_OP_CAST, NULL, h, b, NULL, NULL), 0);
	CHECK(h, 1, 1, 1, 1);
	assert_int_equal(golden(WEFT_OP_CAST, NULL, h, y, NULL, NULL), 0);
	CHECK(h, 0, 1, 127, 0);
	assert_int_equal(golden(WEFT_OP_CAST, NULL, x, x, NULL, NULL), -EINVAL);
	x->dtype = WEFT_FP8E4M3;
	assert_int_equal(golden(WEFT_OP_CAST, NULL, y, x, NULL, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
	tensor_free(b);
	tensor_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broadcast),
		cmocka_unit_test(scalars_and_wrapping),
		cmocka_unit_test(mul),
		cmocka_unit_test(clamp),
		cmocka_unit_test(table),
		cmocka_unit_test(reductions),
		cmocka_unit_test(argmax),
		cmocka_unit_test(cast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

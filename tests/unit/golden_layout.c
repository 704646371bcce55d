/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data movement, for every type. Elements are numbered, so that a wrong place
 * shows as a wrong number; expected places follow from index arithmetic.
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

#include "tests/support/golden_call.h"
#include "tests/support/tensors.h"

/* Element i holds the bytes of i*11 + 1, whatever the type. */
static weft_tensor *numbered(weft_tensor *t)
{
	size_t size = weft_dtype_bytes(t->dtype);

	for (int64_t i = 0; i < weft_tensor_elements(t); i++) {
		uint64_t v = (uint64_t)i * 11 + 1;

		memcpy((char *)t->data + (size_t)i * size, &v, size);
	}
	return t;
}

static bool same_element(const weft_tensor *a, int64_t i, const weft_tensor *b, int64_t j)
{
	size_t size = weft_dtype_bytes(a->dtype);

	return memcmp((char *)a->data + (size_t)i * size, (char *)b->data + (size_t)j * size, size) == 0;
}

static void transpose(void **state)
{
	weft_attr a = { .perm = { .perm = { 2, 0, 3, 1 } } };

	(void)state;
	for (weft_dtype t = WEFT_BOOL; t < WEFT_N_DTYPES; t++) {
		weft_tensor *x = numbered(TENSOR(t, 2, 3, 4, 5)), *y = TENSOR(t, 4, 2, 5, 3);

		assert_int_equal(golden(WEFT_OP_TRANSPOSE, &a, y, x, NULL, NULL), 0);
		for (int i = 0; i < 120; i++) {
			int p[4] = { i / 60, i / 20 % 3, i / 5 % 4, i % 5 };

			assert_true(same_element(x, i, y, ((p[2] * 2 + p[0]) * 5 + p[3]) * 3 + p[1]));
		}
		tensor_free(x);
		tensor_free(y);
	}
}

static void concat(void **state)
{
	weft_attr a = { .axis = { .axis = 1 } };

	(void)state;
	for (weft_dtype t = WEFT_BOOL; t < WEFT_N_DTYPES; t++) {
		weft_tensor *p = numbered(TENSOR(t, 2, 1, 3)), *q = numbered(TENSOR(t, 2, 2, 3)), *y = TENSOR(t, 2, 3, 3);

		assert_int_equal(golden(WEFT_OP_CONCAT, &a, y, p, q, NULL), 0);
		for (int i = 0; i < 18; i++) {
			int n = i / 9, r = i % 9;

			assert_true(r < 3 ? same_element(y, i, p, n * 3 + r) : same_element(y, i, q, n * 6 + r - 3));
		}
		a.axis.axis = 2;
		assert_int_equal(golden(WEFT_OP_CONCAT, &a, y, p, q, NULL), -EINVAL);
		a.axis.axis = 1;
		y->dim[1] = 2;
		assert_int_equal(golden(WEFT_OP_CONCAT, &a, y, p, q, NULL), -EINVAL);
		tensor_free(p);
		tensor_free(q);
		tensor_free(y);
	}
}

static void concat_three(void **state)
{
	weft_attr a = { .axis = { .axis = 0 } };
	weft_tensor *p = VALUES(TENSOR(WEFT_INT8, 2), 1, 2), *q = VALUES(TENSOR(WEFT_INT8, 1), 3);
	weft_tensor *s = VALUES(TENSOR(WEFT_INT8, 3), 4, 5, 6), *y = TENSOR(WEFT_INT8, 6);

	(void)state;
	assert_int_equal(golden(WEFT_OP_CONCAT, &a, y, p, q, s), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(tensor_get(y, i), i + 1);
	tensor_free(p);
	tensor_free(q);
	tensor_free(s);
	tensor_free(y);
}

static void slice(void **state)
{
	weft_attr a = { .slice = { .start = { 1, 0, 2 } } };

	(void)state;
	for (weft_dtype t = WEFT_BOOL; t < WEFT_N_DTYPES; t++) {
		weft_tensor *x = numbered(TENSOR(t, 3, 2, 5)), *y = TENSOR(t, 2, 1, 3);

		assert_int_equal(golden(WEFT_OP_SLICE, &a, y, x, NULL, NULL), 0);
		for (int i = 0; i < 6; i++)
			assert_true(same_element(y, i, x, (1 + i / 3) * 10 + 2 + i % 3));
		tensor_free(x);
		tensor_free(y);
	}
}

static void pad(void **state)
{
	weft_attr a = { .pad = { .before = { 1, 0 }, .after = { 0, 2 }, .value = 1, .fvalue = 0 } };
	weft_tensor *f = TENSOR(WEFT_FP32, 1), *fy = TENSOR(WEFT_FP32, 2);

	(void)state;
	for (weft_dtype t = WEFT_BOOL; t < WEFT_FP32; t++) {
		weft_tensor *x = numbered(TENSOR(t, 2, 3)), *y = TENSOR(t, 3, 5), *one = numbered(TENSOR(t, 1));

		assert_int_equal(golden(WEFT_OP_PAD, &a, y, x, NULL, NULL), 0);
		for (int i = 0; i < 15; i++) {
			if (i / 5 >= 1 && i % 5 < 3)
				assert_true(same_element(y, i, x, (i / 5 - 1) * 3 + i % 5));
			else
				assert_true(same_element(y, i, one, 0));
		}
		tensor_free(x);
		tensor_free(y);
		tensor_free(one);
	}
	a.pad.fvalue = -1.5;
	a.pad.after[0] = 0;
	assert_int_equal(golden(WEFT_OP_PAD, &a, fy, f, NULL, NULL), 0);
	assert_true(((float *)fy->data)[0] == -1.5f && ((float *)fy->data)[1] == 0.0f);
	tensor_free(f);
	tensor_free(fy);
}

static void reshape_and_identity(void **state)
{
	(void)state;
	for (weft_dtype t = WEFT_BOOL; t < WEFT_N_DTYPES; t++) {
		weft_tensor *x = numbered(TENSOR(t, 2, 3, 4)), *y = TENSOR(t, 24), *z = TENSOR(t, 2, 3, 4);

		assert_int_equal(golden(WEFT_OP_RESHAPE, NULL, y, x, NULL, NULL), 0);
		assert_memory_equal(y->data, x->data, weft_tensor_bytes(x));
		assert_int_equal(golden(WEFT_OP_IDENTITY, NULL, z, x, NULL, NULL), 0);
		assert_memory_equal(z->data, x->data, weft_tensor_bytes(x));
		assert_int_equal(golden(WEFT_OP_IDENTITY, NULL, y, x, NULL, NULL), -EINVAL);
		y->dim[0] = 23;
		assert_int_equal(golden(WEFT_OP_RESHAPE, NULL, y, x, NULL, NULL), -EINVAL);
		tensor_free(x);
		tensor_free(y);
		tensor_free(z);
	}
}

static void rules_bad(void **state)
{
	weft_tensor *x = TENSOR(WEFT_INT8, 2, 3), *y = TENSOR(WEFT_INT8, 2, 3), *w = TENSOR(WEFT_INT16, 2, 3);
	weft_attr a;

	(void)state;
#define BAD(op, ...) do { \
		a = (weft_attr){ __VA_ARGS__ }; \
		assert_int_equal(golden(op, &a, y, x, NULL, NULL), -EINVAL); \
	} while (0)
	BAD(WEFT_OP_TRANSPOSE, .perm = { .perm = { 0, 0 } });
	BAD(WEFT_OP_TRANSPOSE, .perm = { .perm = { 0, 2 } });
	BAD(WEFT_OP_TRANSPOSE, .perm = { .perm = { -1, 0 } });
	BAD(WEFT_OP_TRANSPOSE, .perm = { .perm = { 1, 0 } });
	BAD(WEFT_OP_SLICE, .slice = { .start = { 0, 1 } });
	BAD(WEFT_OP_SLICE, .slice = { .start = { -1, 0 } });
	BAD(WEFT_OP_SLICE, .slice = { .start = { INT64_MAX, 0 } });
	BAD(WEFT_OP_SLICE, .slice = { .start = { INT64_MIN, 0 } });
	BAD(WEFT_OP_PAD, .pad = { .before = { 1, -1 }, .after = { -1, 1 } });
	BAD(WEFT_OP_PAD, .pad = { .before = { INT32_MAX, 0 }, .after = { INT32_MAX, 0 } });
	BAD(WEFT_OP_PAD, .pad = { .value = 128 });
	x->dim[1] = y->dim[1] = 2; /* square: no dimension tells */
	BAD(WEFT_OP_TRANSPOSE, .perm = { .perm = { 1, 1 } });
	x->dim[1] = y->dim[1] = 3;
	a.axis.axis = 2;
	assert_int_equal(golden(WEFT_OP_CONCAT, &a, y, x, NULL, NULL), -EINVAL);
	a.axis.axis = 0;
	assert_int_equal(golden(WEFT_OP_CONCAT, &a, y, x, NULL, NULL), 0);
	assert_int_equal(golden(WEFT_OP_CONCAT, &a, y, w, NULL, NULL), -EINVAL);
	assert_int_equal(golden(WEFT_OP_RESHAPE, NULL, y, w, NULL, NULL), -EINVAL);
	tensor_free(x);
	tensor_free(y);
	tensor_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transpose),
		cmocka_unit_test(concat),
		cmocka_unit_test(concat_three),
		cmocka_unit_test(slice),
		cmocka_unit_test(pad),
		cmocka_unit_test(reshape_and_identity),
		cmocka_unit_test(rules_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

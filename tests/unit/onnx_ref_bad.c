/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX's operators on the host with the operands and attributes that a hostile
 * file could give them: small tensors of any shape, attributes of awkward
 * numbers. A kernel that accepts the shapes has to compute, and may not read or
 * write beside its tensors. Most worth under SAN=1. WEFT_SEED and WEFT_N choose
 * the sequence and its length; 2 s.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sim/golden/golden.h"
#include "sim/golden/onnx/ref/onnx_ref.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

#define MOST 64                /* elements of an operand */

static const int32_t words[] = { 0, 1, 1, 1, 2, 2, 3, 4, -1, -2, 5, 7, 20, 100, INT32_MAX, INT32_MIN + 1, INT32_MIN };
static const weft_dtype types[] = { WEFT_FP32, WEFT_FP32, WEFT_FP32, WEFT_INT64, WEFT_INT32, WEFT_UINT8, WEFT_INT8, WEFT_BOOL, WEFT_FP16, WEFT_FP64 };
#define PICK(r, list) list[test_random(r) % (sizeof(list) / sizeof(list[0]))]

/* Data of exactly the tensor's bytes, so that a sanitizer sees what lies beside. */
static void make(weft_tensor *t, uint64_t *r, int likely_rank)
{
	*t = (weft_tensor){ .dtype = PICK(r, types), .rank = test_random(r) % 3 ? likely_rank : (int)(test_random(r) % 6), .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
	for (int d = 0; d < t->rank; d++)
		t->dim[d] = test_random(r) % 12 ? 1 + (int64_t)(test_random(r) % 3) : 0;
	if (weft_tensor_elements(t) > MOST)
		t->dim[0] = t->dim[1] = 1;
	const size_t n = (size_t)weft_tensor_elements(t), size = weft_dtype_bytes(t->dtype);
	t->data = malloc(n * size);
	for (size_t i = 0; i < n; i++) {
		const double v = (double)(int)(test_random(r) % 7) - 2;
		const int64_t w = t->dtype == WEFT_BOOL ? v > 0 : (int64_t)v;
		uint64_t bits = 0;
		const float f = (float)v;
		if (t->dtype == WEFT_FP64)
			memcpy(&bits, &v, 8);
		else if (t->dtype == WEFT_FP32)
			memcpy(&bits, &f, 4);
		else
			memcpy(&bits, &w, 8);
		memcpy((char *)t->data + i * size, &bits, size);
	}
}

static void attributes(struct weft_attr_onnx_node *a, uint64_t *r)
{
	struct weft_onnx_slot s;

	for (int k = 0; weft_onnx_ref_slot(a->kind, k, &s); k++) {
		const bool list = s.type == WEFT_ONNX_INTS || s.type == WEFT_ONNX_ENUMS;

		if (list) {
			a->i[s.i] = test_random(r) % 2 ? WEFT_ONNX_ABSENT : (int32_t)(test_random(r) % (WEFT_ONNX_LIST + 1));
			for (int i = 1; i <= WEFT_ONNX_LIST; i++)
				a->i[s.i + i] = test_random(r) % 8 ? 1 + (int32_t)(test_random(r) % 2) : PICK(r, words);
		} else if (s.type == WEFT_ONNX_FLOAT) {
			a->f[s.f] = (float)(s.otherwise == s.otherwise ? s.otherwise : 1);
		} else if (s.type == WEFT_ONNX_INT || s.type == WEFT_ONNX_ENUM) {
			a->i[s.i] = test_random(r) % 3 ? (int32_t)s.otherwise : PICK(r, words);
			if (s.type == WEFT_ONNX_ENUM)
				a->i[s.i] &= 1;
		}
	}
}

/* 1 if the kernel accepted the call. */
static int one(int kind, uint64_t *r)
{
	struct weft_attr_onnx_node a = { .kind = kind, .opset = test_random(r) % 2 ? 23 : 11 };
	weft_tensor t[WEFT_ONNX_MAX_IN], y[WEFT_ONNX_MAX_OUT], *py[WEFT_ONNX_MAX_OUT];
	const weft_tensor *x[WEFT_ONNX_MAX_IN];
	char msg[WEFT_GOLDEN_MSG] = "";
	int least, most, n_out, which;

	weft_onnx_ref_arity(kind, &least, &most, &n_out);
	const int rank = 1 + (int)(test_random(r) % 4);
	a.n_in = least + (int)(test_random(r) % 4);
	a.n_in = a.n_in > most + 12 ? most : a.n_in;
	for (int k = 0; k < a.n_in; k++) {
		make(&t[k], r, rank);
		if (k && test_random(r) % 3) {           /* of one type, often of one shape, too */
			free(t[k].data);
			const bool same = test_random(r) % 2;
			make(&t[k], r, same ? t[0].rank : 1);
			if (same && test_random(r) % 2) {
				free(t[k].data);
				t[k] = t[0];
				t[k].data = malloc(weft_tensor_bytes(&t[0]));
				memcpy(t[k].data, t[0].data, weft_tensor_bytes(&t[0]));
			}
		}
		x[k] = &t[k];
	}
	attributes(&a, r);
	const int n_y = 1 + (int)(test_random(r) % (uint64_t)(n_out < 4 ? n_out : 4));
	int err = weft_onnx_ref_shapes(&a, x, a.n_in, y, n_y, &which, msg);
	int64_t all = 0;
	for (int k = 0; k < n_y && !err; k++) {
		all += weft_tensor_elements(&y[k]);
		py[k] = &y[k];
	}
	if (!err && all < 1 << 16) {
		for (int k = 0; k < n_y; k++)
			y[k].data = calloc(1, weft_tensor_bytes(&y[k]) + (weft_tensor_bytes(&y[k]) == 0));
		err = weft_onnx_ref_run(&a, x, a.n_in, py, n_y, msg);
		for (int k = 0; k < n_y; k++)
			free(y[k].data);
	}
	assert_true(err <= 0);
	assert_true(!err == !*msg || err == 0);
	for (int k = 0; k < a.n_in; k++)
		free(t[k].data);
	return !err;
}

static void awkward(void **state)
{
	uint64_t r = test_seed(20261122);
	const long n = test_count(200, 400, 20000);
	int kinds = 0, taken = 0;

	(void)state;
	while (strcmp(weft_onnx_ref_name(kinds), "?"))
		kinds++;
	for (int kind = 0; kind < kinds; kind++)
		for (long i = 0; i < n; i++)
			taken += one(kind, &r);
	printf("%d operators, %ld calls each, %d accepted\n", kinds, n, taken);
	fflush(stdout);
	assert_true(taken > kinds * n / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(awkward) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

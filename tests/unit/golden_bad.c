/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls as a hostile file could cause them: every operator with shapes, types
 * and attributes from a list of awkward values. Golden must answer with 0 or a
 * refusal and one line, and must not write beside the output. Most worth under
 * SAN=1. WEFT_SEED and WEFT_N choose the sequence and its length.
 *
 * What each operator makes of the same calls is a line of tests/expected/golden.tsv. A change that is meant to leave results alone
 * leaves that file alone. WEFT_GOLDEN=FILE writes the lines of these operators there: `cp` it over the file if they are meant.
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

#include <weft/custom.h>

#include "tests/support/golden_call.h"
#include "tests/support/results.h"
#include "tests/support/tensors.h"
#include "tests/support/valid_call.h"
#include "userlib/graph/attr.h"

#define MOST_BYTES 1200            /* of one tensor: keeps the products small */
#define GUARD 64

static const int64_t dims[] = { 0, -1, 1, 2, 3, 5, INT32_MAX, (int64_t)INT32_MAX + 1, INT64_MAX, INT64_MIN };
static const int32_t words[] = { 0, 1, 2, 3, 4, -1, -2, 7, 30, 31, 127, 128, -128, 255, 32768, INT32_MAX, INT32_MIN };
#define PICK(r, list) list[test_random(r) % (sizeof(list) / sizeof(list[0]))]

/* Leaves one bit of each bool among the attributes of op: another byte than 0 or 1 is no bool in C. */
static void keep_bools(weft_opcode op, weft_attr *a)
{
	const struct attr_op *rows = &attr_ops[op];

	for (int i = 0; i < rows->n_saved; i++)
		for (int k = 0; rows->saved[i].type == ATTR_BOOL && k < rows->saved[i].n; k++)
			*((uint8_t *)attr_at(a, rows->saved[i].at) + k) &= 1;
}

/* Change one thing to an awkward value. */
static void spoil(struct call *c, uint64_t *r)
{
	const int k = (int)(test_random(r) % 4);
	weft_tensor *t = k == 3 ? &c->y : &c->x[k];

	switch (test_random(r) % 8) {
	case 0: t->rank = (int)(test_random(r) % 12) - 1; break;
	case 1: t->dtype = (weft_dtype)(test_random(r) % 26); break;
	case 2: t->dim[test_random(r) % 4] = PICK(r, dims); break;
	case 3: t->dim[test_random(r) % 4] = 1 + (int64_t)(test_random(r) % 6); break;
	case 4: c->n_x = (int)(test_random(r) % 5) - 1; break;
	default: {
		const size_t n = test_random(r) % 4 ? 12 : sizeof(weft_attr) / 4;
		const int32_t v = PICK(r, words);

		memcpy((char *)&c->attr + 4 * (test_random(r) % n), &v, 4);
		keep_bools(c->op, &c->attr);
		if (c->op == WEFT_OP_RESCALE) {
			c->attr.rescale.scale32 ^= test_random(r) % 8 == 0;
			c->attr.rescale.x_unsigned ^= test_random(r) % 4 == 0;
			c->attr.rescale.y_unsigned ^= test_random(r) % 4 == 0;
			c->attr.rescale.rounding = (weft_rounding)(test_random(r) % 6);
		}
	}
	}
}

/* Bytes to allocate: none for shapes that no caller could have allocated. */
static size_t usable(const weft_tensor *t)
{
	size_t bytes = weft_tensor_bytes(t);

	for (int d = 0; d < t->rank && d < WEFT_MAX_RANK; d++) {
		if (t->dim[d] < 1)
			return 0;
	}
	return bytes <= MOST_BYTES ? bytes : 0;
}

/* A second operand that must be small: multipliers and shifts are mostly legal, indices and divisors small. */
static bool is_small(const struct call *c, int i)
{
	switch (c->op) {
	case WEFT_OP_RESCALE: return i == 1 || i == 2;
	case WEFT_OP_ONNX_REQUANT: return i >= 1 && i <= 3;
	case WEFT_OP_TFL_REQUANTIZE: return i == 1;
	case WEFT_OP_POPXL_CONV_POW2SCALED:
	case WEFT_OP_POPXL_MATMUL_POW2SCALED: return i == 2;
	case WEFT_OP_PACT_LAYER_NORM: return i == 0;
	case WEFT_OP_TFL_CUSTOM: return i <= 1;
	case WEFT_OP_PACT_DIV:
	case WEFT_OP_INTDIV:
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT:
	case WEFT_OP_LOGICAL_LEFT_SHIFT:
	case WEFT_OP_LOGICAL_RIGHT_SHIFT:
	case WEFT_OP_GATHER:
	case WEFT_OP_SCATTER: return i == 1;
	default: return false;
	}
}

static void allocate(const struct call *c, int i_t, weft_tensor *t, uint64_t *r)
{
	const size_t n = usable(t);

	t->data = n ? malloc(n + GUARD) : NULL;
	if (!n)
		return;
	memset((char *)t->data + n, 0x5a, GUARD);
	for (size_t i = 0; i < n; i++) {
		uint64_t v = test_random(r);

		if (is_small(c, i_t))
			v = c->op == WEFT_OP_TFL_CUSTOM ? 0 : c->op == WEFT_OP_ONNX_REQUANT || c->op == WEFT_OP_TFL_REQUANTIZE ? 0x3f : c->op == WEFT_OP_RESCALE ? 2 + v % 61 : i % 4 ? 0 : 1 + v % 2;
		((uint8_t *)t->data)[i] = (uint8_t)v;
	}
}

static void guard_intact(const weft_tensor *t)
{
	for (size_t i = 0; t->data && i < GUARD; i++)
		assert_int_equal(((uint8_t *)t->data)[usable(t) + i], 0x5a);
}

/* What a caller's function may do: it reads all that it is given and fills its results. */
static int custom(void *user, const struct weft_custom_call *call)
{
	uint8_t sum = 0;

	(void)user;
	for (int k = 0; k < call->n_in; k++)
		for (size_t i = 0; call->in[k].dtype && i < weft_tensor_bytes(&call->in[k]); i++)
			sum = (uint8_t)(sum + ((const uint8_t *)call->in[k].data)[i]);
	for (int k = 0; k < call->n_out; k++)
		memset(call->out[k].data, sum, weft_tensor_bytes(&call->out[k]));
	return 0;
}

/* Runs a call, with results that come out added to *s unless that is NULL. Returns its result. */
static int run(struct call *c, bool fast, bool attr, int n_y, uint64_t *r, struct results *s)
{
	static const struct weft_custom_op function = { .name = "", .run = custom };
	weft_tensor *t[MOST_X + 2];
	const weft_tensor *x[MOST_X];
	weft_tensor *y[2] = { &c->y, c->y1.dtype ? &c->y1 : &c->y };
	char msg[WEFT_GOLDEN_MSG] = "";
	int err;

	for (int i = 0; i < MOST_X; i++)
		x[i] = t[i] = &c->x[i];
	t[MOST_X] = &c->y;
	t[MOST_X + 1] = &c->y1;
	if (c->op == WEFT_OP_TFL_CUSTOM)
		c->attr.tfl_custom.of = &function;     /* a pointer is the caller's word */
	for (int i = 0; i <= MOST_X + 1; i++)
		allocate(c, i, t[i], r);
	err = weft_golden_run(c->op, attr ? &c->attr : NULL, x, c->n_x, y, n_y, fast, msg);
	assert_true(err == 0 || err == -EINVAL || err == -ENOTSUP);
	assert_true((err == 0) == (msg[0] == '\0'));
	assert_null(strchr(msg, '\n'));
	if (s)
		results_add(s, err, y, n_y);
	for (int i = 0; i <= MOST_X + 1; i++) {
		guard_intact(t[i]);
		free(t[i]->data);
	}
	return err;
}

static bool implemented(int op)
{
	switch (op) {
	case WEFT_OP_CONST:
	case WEFT_OP_CONST_SHAPE:
	case WEFT_OP_CUSTOM:
	case WEFT_OP_COND_IF:
	case WEFT_OP_WHILE_LOOP:
	case WEFT_OP_VARIABLE:
	case WEFT_OP_VARIABLE_WRITE:
	case WEFT_OP_VARIABLE_READ: return false;
	default: return true;
	}
}

static void valid_calls(void **state)
{
	uint64_t r = 8;

	(void)state;
	for (int op = 1; op < WEFT_N_OPS; op++) {
		struct call c = valid_call((weft_opcode)op);

		if (run(&c, op & 1, true, c.n_y, &r, NULL) != (implemented(op) ? 0 : -ENOTSUP))
			fail_msg("%s", weft_op_name((weft_opcode)op));
	}
}

static void awkward_calls(void **state)
{
	const char *seed = getenv("WEFT_SEED"), *n = getenv("WEFT_N");
	uint64_t first = seed && *seed ? strtoull(seed, NULL, 0) : 7;
	uint64_t count = n && *n ? strtoull(n, NULL, 0) : 200000;

	(void)state;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t r = first + i;
		struct call c = valid_call((weft_opcode)(test_random(&r) % WEFT_N_OPS));

		for (uint64_t k = test_random(&r) % 3; k < 3; k++)
			spoil(&c, &r);
		if (test_random(&r) % 100 == 0) {
			const int op = (int)(test_random(&r) % (WEFT_N_OPS + 16)) - 8;

			c.op = (weft_opcode)op;
			if (op >= 0 && op < WEFT_N_OPS)
				keep_bools(c.op, &c.attr);
		}
		run(&c, test_random(&r) & 1, test_random(&r) % 100 != 0, test_random(&r) % 100 ? c.n_y : 3 - c.n_y, &r, NULL);
	}
}

/*
 * Adds to s what valid calls of op do if their types are changed: every type for operand 0, and then for all operands
 * together, each beside every type for the result.
 */
static void all_types(weft_opcode op, uint64_t *r, struct results *s)
{
	for (int all = 0; all < 2; all++)
		for (int from = WEFT_BOOL; from < WEFT_N_DTYPES; from++)
			for (int to = WEFT_BOOL; to < WEFT_N_DTYPES; to++) {
				struct call c = valid_call(op);

				for (int k = 0; k < (all ? c.n_x : 1); k++)
					c.x[k].dtype = (weft_dtype)from;
				c.y.dtype = (weft_dtype)to;
				run(&c, false, true, c.n_y, r, s);
			}
}

/*
 * What each operator computes of 300 random calls, a third of them valid, and of all types is a line of
 * tests/expected/golden.tsv. An operator's calls depend on its name alone, so that a new operator changes no other's line.
 */
static void results(void **state)
{
	struct results_table t;
	int bad = 0;

	(void)state;
	assert_true(results_open(&t, "tests/expected/golden.tsv", "WEFT_GOLDEN"));
	for (int op = 1; op < WEFT_N_OPS; op++) {
		const char *name = weft_op_name((weft_opcode)op);
		uint64_t r = crc32(20261123, (const Bytef *)name, (uInt)strlen(name));
		struct results s = { 0 };

		for (int i = 0; i < 300; i++) {
			struct call c = valid_call((weft_opcode)op);

			for (uint64_t k = test_random(&r) % 3; k < 2; k++)
				spoil(&c, &r);
			run(&c, i & 1, true, c.n_y, &r, &s);
		}
		all_types((weft_opcode)op, &r, &s);
		bad += results_judge(&t, name, 0, &s);
	}
	assert_true(results_close(&t));
	assert_int_equal(bad, 0);
}

static void missing_parts(void **state)
{
	weft_tensor a = { .dtype = WEFT_INT32 }, y = a;
	const weft_tensor *x[2] = { &a, NULL };
	weft_tensor *out[1] = { &y };
	int32_t v[2] = { 1, 2 };
	char msg[WEFT_GOLDEN_MSG];

	(void)state;
	a.data = &v[0];
	assert_int_equal(weft_golden_run(WEFT_OP_ADD, NULL, x, 2, out, 1, false, msg), -EINVAL);
	x[1] = &a;
	assert_int_equal(weft_golden_run(WEFT_OP_ADD, NULL, x, 2, out, 1, false, msg), -EINVAL);
	y.data = &v[1];
	assert_int_equal(weft_golden_run(WEFT_OP_ADD, NULL, x, 2, out, 1, false, msg), 0);
	assert_int_equal(v[1], 2);
	assert_int_equal(weft_golden_run(WEFT_OP_ADD, NULL, x, 1, out, 1, false, msg), -EINVAL);
	assert_string_equal(msg, "ADD: 1 inputs, must be 2");
	a.rank = y.rank = 1; /* dimensions of 0, though data is there */
	assert_int_equal(weft_golden_run(WEFT_OP_ABS, NULL, x, 1, out, 1, false, msg), -EINVAL);
	a.rank = y.rank = 0;
	assert_int_equal(weft_golden_run(WEFT_OP_MUL, NULL, x, 2, out, 1, false, msg), -EINVAL);
	assert_int_equal(weft_golden_run(WEFT_OP_CONST, NULL, x, 0, out, 1, false, msg), -ENOTSUP);
	assert_int_equal(weft_golden_run((weft_opcode)-1, NULL, x, 2, out, 1, false, msg), -EINVAL);
	assert_int_equal(weft_golden_run(WEFT_N_OPS, NULL, x, 2, out, 1, false, msg), -EINVAL);
}

/* Products of hostile dimensions saturate: nobody allocates too little. */
static void sizes_saturate(void **state)
{
	weft_tensor t = { .dtype = WEFT_INT64, .rank = 3, .dim = { INT32_MAX, INT32_MAX, INT32_MAX } };

	(void)state;
	assert_int_equal(weft_tensor_elements(&t), INT64_MAX);
	assert_true(weft_tensor_bytes(&t) == SIZE_MAX);
	t.dim[0] = 0;
	assert_int_equal(weft_tensor_elements(&t), 0);
	t.dim[0] = -1;
	assert_int_equal(weft_tensor_elements(&t), INT64_MAX);
	t.rank = 0;
	assert_int_equal(weft_tensor_elements(&t), 1);
	assert_int_equal(weft_tensor_bytes(&t), 8);
	t.dtype = (weft_dtype)99;
	assert_int_equal(weft_tensor_bytes(&t), 0);
	assert_string_equal(weft_dtype_name(t.dtype), "?");
	assert_string_equal(weft_op_name((weft_opcode)-1), "?");
	for (weft_dtype d = WEFT_BOOL; d < WEFT_N_DTYPES; d++) {
		assert_int_not_equal(weft_dtype_bytes(d), 0);
		assert_string_not_equal(weft_dtype_name(d), "?");
	}
	for (int op = 1; op < WEFT_N_OPS; op++)
		assert_string_not_equal(weft_op_name((weft_opcode)op), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_calls),
		cmocka_unit_test(awkward_calls),
		cmocka_unit_test(results),
		cmocka_unit_test(missing_parts),
		cmocka_unit_test(sizes_saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

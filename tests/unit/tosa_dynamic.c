/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EXT-DYNAMIC from files made by hand: shifts, zero points and shapes as inputs,
 * also of a block of control flow, and what the run refuses. Expected values are
 * worked out by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <weft/weft.h>

#include "tests/support/short_of_memory.h"
#include "tests/unit/tosa_build.h"

static struct short_of_memory shortage = { .every = 1 };

/* Run what was built; n outputs' worth of int32 or int8 are in out[0].data. */
static int run(struct tosa_build *t, const weft_tensor *in, weft_tensor *out, enum weft_device device, char *msg)
{
	struct fbw w = tb_end(t);
	struct weft_session_options o = weft_session_options_default();
	weft_session *s = NULL;
	weft_net *net;
	int err = weft_net_load(w.p, w.n, "test", &net, msg);

	short_of_memory(&shortage, w.p, w.n, "test", NULL);
	free(w.p);
	if (err)
		return err;
	o.device = device;
	err = weft_session_open(net, &o, &s, msg);
	if (!err)
		err = weft_session_run(s, in, out, NULL, msg);
	weft_session_close(s);
	weft_net_free(net);
	return err;
}

static weft_tensor vector(weft_dtype t, int64_t n, void *data)
{
	return (weft_tensor){ .dtype = t, .rank = 1, .dim = { n }, .data = data };
}

/* y = a * b >> shift, rounded, shift an input; in the network itself, or in the branch of a COND_IF. */
static void build_mul(struct tosa_build *t, bool branch)
{
	tb_begin(t, branch ? 2 : 1);
	if (branch) {
		tb_tensor(t, "c", WEFT_BOOL, 0, 1, 1, NULL);
		tb_tensor(t, "a", WEFT_INT32, 1, 2, 1, NULL);
		tb_tensor(t, "b", WEFT_INT32, 1, 2, 1, NULL);
		tb_tensor(t, "s", WEFT_INT8, 1, 1, 1, NULL);
		tb_tensor(t, "y", WEFT_INT32, 1, 2, 1, NULL);
		tb_flow(t, TOSA_COND_IF, "b1", "b1", "c a b s", "y");
		tb_ports(t, "c a b s", "y");
		t->x.b = &t->x.blocks[1];
	}
	tb_tensor(t, "a", WEFT_INT32, 1, 2, 1, NULL);
	tb_tensor(t, "b", WEFT_INT32, 1, 2, 1, NULL);
	tb_tensor(t, "s", WEFT_INT8, 1, 1, 1, NULL);
	tb_tensor(t, "y", WEFT_INT32, 1, 2, 1, NULL);
	tb_add(t, TOSA_MUL, "a b s", "y");
	tb_ports(t, "a b s", "y");
}

static void shifts(void **state)
{
	int32_t a[2] = { 5, -7 }, b[2] = { 3, 3 };
	uint8_t yes = 1;
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	for (int k = 0; k < 4; k++) {
		int8_t shift = (int8_t)(k == 3 ? 64 : k);
		weft_tensor in[4] = { { .dtype = WEFT_BOOL, .data = &yes }, vector(WEFT_INT32, 2, a), vector(WEFT_INT32, 2, b),
		                      vector(WEFT_INT8, 1, &shift) }, out = { 0 };
		for (int way = 0; way < 4; way++) {
			struct tosa_build t;
			build_mul(&t, way / 2);
			int err = run(&t, in + !(way / 2), &out, way % 2 ? WEFT_DEVICE_MODEL : WEFT_DEVICE_GOLDEN, msg);
			if (k == 3) {
				assert_int_equal(err, -EINVAL);
				assert_non_null(strstr(msg, "shift"));
				continue;
			}
			if (err)
				fail_msg("%s", msg);
			const int32_t *y = out.data;
			/* 15, -21: as they are, halves up, quarters. */
			assert_int_equal(y[0], k == 0 ? 15 : k == 1 ? 8 : 4);
			assert_int_equal(y[1], k == 0 ? -21 : k == 1 ? -10 : -5);
			weft_tensor_release(&out);
		}
	}
}

/* start is an input, size is constant. */
static int slice(int64_t start, int64_t want, weft_tensor *out, char *msg)
{
	static int8_t x[5] = { 10, 20, 30, 40, 50 };
	int64_t two = want;
	weft_tensor in[2] = { vector(WEFT_INT8, 5, x), vector(WEFT_INT64, 1, &start) };
	struct tosa_build t;

	tb_begin(&t, 1);
	tb_tensor(&t, "x", WEFT_INT8, 1, 5, 1, NULL);
	tb_tensor(&t, "y", WEFT_INT8, 1, 2, 1, NULL);
	assert_true(x_shape(&t.x, "start", NULL, 1) >= 0);
	assert_true(x_shape(&t.x, "size", &two, 1) >= 0);
	tb_add(&t, TOSA_CONST_SHAPE, "", "size");
	tb_add(&t, TOSA_SLICE, "x start size", "y");
	tb_ports(&t, "x start", "y");
	return run(&t, in, out, WEFT_DEVICE_GOLDEN, msg);
}

static void starts(void **state)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor out = { 0 };

	(void)state;
	for (int64_t k = 0; k < 4; k++) {
		assert_int_equal(slice(k, 2, &out, msg), 0);
		assert_int_equal(((int8_t *)out.data)[0], 10 * (k + 1));
		assert_int_equal(((int8_t *)out.data)[1], 10 * (k + 2));
		weft_tensor_release(&out);
	}
	assert_int_equal(slice(4, 2, &out, msg), -EINVAL);
	assert_int_equal(slice(-1, 2, &out, msg), -EINVAL);
	assert_int_equal(slice(INT64_MIN, 2, &out, msg), -EINVAL);
	assert_int_equal(slice(0, 3, &out, msg), -EINVAL);
	assert_non_null(strstr(msg, "size"));
}

/* Zero points that only bytes may have. */
static int negate(weft_dtype type, int zp, weft_tensor *out, char *msg)
{
	int16_t x = type == WEFT_INT8 ? 10 : 10, z = (int16_t)zp;
	weft_tensor in[3] = { vector(type, 1, &x), vector(type, 1, &z), vector(type, 1, &z) };
	struct tosa_build t;

	tb_begin(&t, 1);
	tb_tensor(&t, "x", type, 1, 1, 1, NULL);
	tb_tensor(&t, "zx", type, 1, 1, 1, NULL);
	tb_tensor(&t, "zy", type, 1, 1, 1, NULL);
	tb_tensor(&t, "y", type, 1, 1, 1, NULL);
	tb_add(&t, TOSA_NEGATE, "x zx zy", "y");
	tb_ports(&t, "x zx zy", "y");
	return run(&t, in, out, WEFT_DEVICE_GOLDEN, msg);
}

static void zero_points(void **state)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor out = { 0 };

	(void)state;
	assert_int_equal(negate(WEFT_INT8, 3, &out, msg), 0);
	/* -(10 - 3) + 3 */
	assert_int_equal(*(int8_t *)out.data, -4);
	weft_tensor_release(&out);
	assert_int_equal(negate(WEFT_INT16, 0, &out, msg), 0);
	assert_int_equal(*(int16_t *)out.data, -10);
	weft_tensor_release(&out);
	assert_int_equal(negate(WEFT_INT16, 1, &out, msg), -EINVAL);
	assert_non_null(strstr(msg, "zero point"));
}

/* A shape of no values that is no input; an input with values. */
static void nowhere_bad(void **state)
{
	char msg[WEFT_MSG] = "";
	int64_t one = 1;

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct tosa_build t;
		weft_graph *g = NULL;
		tb_begin(&t, 1);
		tb_tensor(&t, "x", WEFT_INT8, 1, 5, 1, NULL);
		tb_tensor(&t, "y", WEFT_INT8, 1, 5, 1, NULL);
		assert_true(x_shape(&t.x, "n", k ? &one : NULL, 1) >= 0);
		tb_add(&t, TOSA_TILE, "x n", "y");
		tb_ports(&t, k ? "x n" : "x", "y");
		assert_int_equal(tb_import(&t, &g, msg), -EINVAL);
		assert_non_null(strstr(msg, "values"));
	}
	/* As an output, of more values than fit into memory, none of which is there. */
	struct tosa_build t;
	weft_graph *g = NULL;
	tb_begin(&t, 1);
	tb_tensor(&t, "x", WEFT_INT8, 1, 5, 1, NULL);
	assert_true(x_shape(&t.x, "n", NULL, INT32_MAX) >= 0);
	tb_ports(&t, "x", "n");
	assert_int_equal(tb_import(&t, &g, msg), -EINVAL);
	assert_non_null(strstr(msg, "nothing gives a shape values"));
}

/* What the networks of the tests above gave while memory ended. */
static void no_memory(void **state)
{
	(void)state;
	short_of_memory_judge(&shortage, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shifts), cmocka_unit_test(starts), cmocka_unit_test(zero_points), cmocka_unit_test(nowhere_bad),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

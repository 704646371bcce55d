/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOSA's level 8K: each LEVEL_CHECK at its limit and one beyond. The graphs hold
 * one operator; their shapes need not fit together, only the level is looked at.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/valid_call.h"
#include "userlib/graph/level.h"

/* Writes v where the level looks. */
typedef void (*setter)(struct call *c, int32_t v);

#define SET(name, ...) static void name(struct call *c, int32_t v) { __VA_ARGS__; }
SET(pool_kernel_y, c->attr.pool.kernel[0] = v)
SET(pool_kernel_x, c->attr.pool.kernel[1] = v)
SET(pool_stride_y, c->attr.pool.stride[0] = v)
SET(pool_stride_x, c->attr.pool.stride[1] = v)
SET(pool_top, c->attr.pool.pad[0] = v)
SET(pool_right, c->attr.pool.pad[3] = v)
SET(conv_top, c->attr.conv.pad[0] = v)
SET(conv_left, c->attr.conv.pad[2] = v)
SET(conv_stride_y, c->attr.conv.stride[0] = v)
SET(conv_stride_x, c->attr.conv.stride[1] = v)
SET(conv_kernel_y, c->attr.conv.dilation[0] = 2; c->x[1].dim[1] = v / 2 + v % 2)
SET(conv_kernel_x, c->attr.conv.dilation[1] = v; c->x[1].dim[2] = 1)
SET(dw_kernel_y, c->x[1].dim[0] = v)
SET(dw_kernel_x, c->x[1].dim[1] = v)
SET(tconv_kernel_y, c->x[1].dim[1] = v)
SET(conv3d_kernel_d, c->x[1].dim[1] = v)
SET(conv3d_kernel_x, c->x[1].dim[3] = v)
SET(conv3d_front, c->attr.conv3d.pad[0] = v)
SET(conv3d_right, c->attr.conv3d.pad[5] = v)
SET(conv3d_stride_d, c->attr.conv3d.stride[0] = v)
SET(fft_h, c->x[0].dim[1] = v)
SET(fft_w, c->x[0].dim[2] = v)
SET(resize_y, c->attr.resize.scale_y_n = v; c->attr.resize.scale_y_d = 1)
SET(resize_x, c->attr.resize.scale_x_n = v; c->attr.resize.scale_x_d = 1)
SET(rank, c->x[0].rank = v)
SET(out_rank, c->y.rank = v)
#undef SET

static const struct { weft_opcode op; setter set; int32_t max; const char *names; } checks[] = {
	{ WEFT_OP_AVG_POOL2D, pool_kernel_y, 8192, "kernel" }, { WEFT_OP_MAX_POOL2D, pool_kernel_x, 8192, "kernel" },
	{ WEFT_OP_AVG_POOL2D, pool_stride_x, 8192, "stride" }, { WEFT_OP_MAX_POOL2D, pool_stride_y, 8192, "stride" },
	{ WEFT_OP_AVG_POOL2D, pool_top, 8192, "pad" }, { WEFT_OP_MAX_POOL2D, pool_right, 8192, "pad" },
	{ WEFT_OP_CONV2D, conv_top, 8192, "pad" }, { WEFT_OP_CONV2D, conv_stride_y, 8192, "stride" },
	{ WEFT_OP_CONV2D, conv_kernel_y, 8192, "kernel" }, { WEFT_OP_CONV2D, conv_kernel_x, 8192, "kernel" },
	{ WEFT_OP_DEPTHWISE_CONV2D, conv_left, 8192, "pad" }, { WEFT_OP_DEPTHWISE_CONV2D, conv_stride_x, 8192, "stride" },
	{ WEFT_OP_DEPTHWISE_CONV2D, dw_kernel_y, 8192, "kernel" }, { WEFT_OP_DEPTHWISE_CONV2D, dw_kernel_x, 8192, "kernel" },
	{ WEFT_OP_TRANSPOSE_CONV2D, conv_top, 8192, "pad" }, { WEFT_OP_TRANSPOSE_CONV2D, conv_stride_x, 8192, "stride" },
	{ WEFT_OP_TRANSPOSE_CONV2D, tconv_kernel_y, 8192, "kernel" },
	{ WEFT_OP_CONV3D, conv3d_kernel_d, 8192, "kernel" }, { WEFT_OP_CONV3D, conv3d_kernel_x, 8192, "kernel" },
	{ WEFT_OP_CONV3D, conv3d_front, 8192, "pad" }, { WEFT_OP_CONV3D, conv3d_right, 8192, "pad" },
	{ WEFT_OP_CONV3D, conv3d_stride_d, 8192, "stride" },
	{ WEFT_OP_FFT2D, fft_h, 8192, "height" }, { WEFT_OP_RFFT2D, fft_w, 8192, "width" },
	{ WEFT_OP_RESIZE, resize_y, 256, "scale_y" }, { WEFT_OP_RESIZE, resize_x, 256, "scale_x" },
	{ WEFT_OP_ADD, rank, 6, "rank" }, { WEFT_OP_RESHAPE, out_rank, 6, "rank" },
};

static const weft_tensor one = { .dtype = WEFT_INT8, .rank = 1, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };

static int put(weft_graph *g, const weft_tensor *t)
{
	int i = weft_graph_tensor(g, "t", t->dtype, t->rank, t->dim);

	assert_true(i >= 0);
	return i;
}

static int put_op(weft_graph *g, const struct call *c)
{
	int in[WEFT_OP_MAX_INPUTS], out[2];

	for (int i = 0; i < c->n_x; i++)
		in[i] = put(g, &c->x[i]);
	for (int i = 0; i < c->n_y; i++)
		out[i] = put(g, i && c->y1.dtype ? &c->y1 : &c->y);
	assert_true(weft_graph_op(g, c->op, &c->attr, -1, in, c->n_x, out, c->n_y) >= 0);
	return 0;
}

static int level_of(const struct call *c, char *msg)
{
	weft_graph *g = weft_graph_new("one");

	put_op(g, c);
	int err = weft_graph_check_8k(g, msg);
	weft_graph_free(g);
	return err;
}

static void limits(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
		struct call c = valid_call(checks[i].op);
		char msg[WEFT_MSG] = "";

		for (int d = c.x[0].rank; d < WEFT_MAX_RANK; d++)
			c.x[0].dim[d] = c.y.dim[d] = 1;
		checks[i].set(&c, checks[i].max);
		if (level_of(&c, msg))
			fail_msg("line %d at its limit: %s", (int)i, msg);
		checks[i].set(&c, checks[i].max + 1);
		assert_int_equal(level_of(&c, msg), -EINVAL);
		assert_non_null(strstr(msg, checks[i].names));
		assert_non_null(strstr(msg, "of level 8K"));
	}
}

static void lists(void **state)
{
	char msg[WEFT_MSG] = "";

	(void)state;
	for (int n = 64; n <= 65 && n <= WEFT_OP_MAX_INPUTS; n++) {
		weft_graph *g = weft_graph_new("list");
		int in[WEFT_OP_MAX_INPUTS], out;
		weft_attr a = { 0 };

		for (int i = 0; i < n; i++)
			in[i] = put(g, &one);
		out = in[0];
		assert_true(weft_graph_op(g, WEFT_OP_CONCAT, &a, -1, in, n, &out, 1) >= 0);
		assert_int_equal(weft_graph_check_8k(g, msg), n > 64 ? -EINVAL : 0);
		weft_graph_free(g);
	}
}

/* COND_IF has its condition beside a list of 64; WHILE_LOOP has the list alone. */
static void flow_lists(void **state)
{
	static const weft_opcode ops[] = { WEFT_OP_COND_IF, WEFT_OP_WHILE_LOOP };
	char msg[WEFT_MSG] = "";

	(void)state;
	for (int k = 0; k < 2; k++) {
		weft_graph *g = weft_graph_new("flow"), *sub = weft_graph_new("leaf");
		int in[WEFT_OP_MAX_INPUTS], out;
		weft_attr a = { .flow = { { sub, sub } } };

		assert_true(weft_graph_sub(g, sub) >= 0);
		for (int i = 0; i < 65; i++)
			in[i] = put(g, &one);
		out = put(g, &one);
		assert_true(weft_graph_op(g, ops[k], &a, -1, in, 65, &out, 1) >= 0);
		assert_int_equal(weft_graph_check_8k(g, msg), k ? -EINVAL : 0);
		weft_graph_free(g);
	}
	assert_non_null(strstr(msg, "tensors in the list 65 > 64"));
}

/* A RESIZE whose scales are operands has none to be judged. */
static void dynamic_resize(void **state)
{
	struct call c = valid_call(WEFT_OP_RESIZE);
	char msg[WEFT_MSG] = "";

	(void)state;
	c.n_x = weft_op_n_dynamic(WEFT_OP_RESIZE);
	c.attr = (weft_attr){ 0 };
	for (int i = 1; i < c.n_x; i++)
		c.x[i] = one;
	if (level_of(&c, msg))
		fail_msg("%s", msg);
}

/* Each sub-graph refers twice to the one before it: paths double, levels add one. */
static void nesting(void **state)
{
	char msg[WEFT_MSG] = "";

	(void)state;
	for (int depth = 1; depth <= 200; depth += depth < 8 ? 1 : 64) {
		weft_graph *g = weft_graph_new("deep");

		for (int i = 0; i < depth; i++) {
			weft_graph *s = i == depth - 1 ? g : weft_graph_new("sub");
			weft_graph *body = i ? g->subs[g->n_subs - 1] : weft_graph_new("leaf");
			if (!i)
				assert_true(weft_graph_sub(g, body) >= 0);
			int t = put(s, &one);
			weft_attr a = { .flow = { { body, body } } };
			assert_true(weft_graph_op(s, WEFT_OP_COND_IF, &a, -1, &t, 1, &t, 1) >= 0);
			assert_true(weft_graph_op(s, WEFT_OP_COND_IF, &a, -1, &t, 1, &t, 1) >= 0);
			if (s != g)
				assert_true(weft_graph_sub(g, s) >= 0);
		}
		assert_int_equal(weft_graph_check_8k(g, msg), depth > 6 ? -EINVAL : 0);
		weft_graph_free(g);
	}
	assert_non_null(strstr(msg, "nesting"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits), cmocka_unit_test(lists), cmocka_unit_test(flow_lists), cmocka_unit_test(dynamic_resize),
		cmocka_unit_test(nesting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

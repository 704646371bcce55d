/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOSA's level 8K: every LEVEL_CHECK of the operators' pseudocode.
 *
 * Level "none" needs no check of its own: what this library takes stays within
 * it (ranks to 6, nesting to 256, lists of 64 tensors). Exceeding a level is
 * unpredictable by the specification; here it is refused by name.
 *
 * Source: TOSA 1.0, 1.7 "Levels", and the LEVEL_CHECK lines of each operator.
 */
#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "level.h"

enum { MAX_RANK = 6, MAX_KERNEL = 8192, MAX_STRIDE = 8192, MAX_SCALE = 256, MAX_LOG2_SIZE = 31, MAX_NESTING = 6,
       MAX_TENSOR_LIST = 64 };

/*
 * Checks one limit: v is at most max. what names v in the message. Returns 0, or -EINVAL with one line
 * in c->msg.
 */
static int at_most(const struct weft_check *c, const char *what, int64_t v, int64_t max)
{
	return v <= max ? 0 : weft_check_fail(c, "%s %lld > %lld of level 8K", what, (long long)v, (long long)max);
}

/*
 * Checks that each of the n values v is at most max. what names them in the message. Returns 0, or
 * -EINVAL with one line in c->msg.
 */
static int all_at_most(const struct weft_check *c, const char *what, const int32_t *v, int n, int64_t max)
{
	int err = 0;

	for (int i = 0; !err && i < n; i++)
		err = at_most(c, what, v[i], max);
	return err;
}

/* Returns operand i of the operator that is being checked. */
static const weft_tensor *operand(const struct weft_check *c, int i)
{
	return &c->g->tensors[c->g->ops[c->i_op].in[i]].t;
}

/*
 * Checks that dilation[i] times the weight's extent (operand 1) along axis first + i is at most
 * MAX_KERNEL (8192), for i from 0 to n - 1. Returns 0, or -EINVAL with one line in c->msg.
 */
static int kernel(const struct weft_check *c, const int32_t *dilation, int n, int first)
{
	const weft_tensor *w = operand(c, 1);
	int err = 0;

	for (int i = 0; !err && i < n; i++)
		err = at_most(c, "dilation times kernel", (int64_t)dilation[i] * w->dim[first + i], MAX_KERNEL);
	return err;
}

/*
 * Checks the level's limits of two-dimensional convolution o: kernel times dilation (for a transposed
 * one the kernel alone) and each padding at most 8192 (MAX_KERNEL), each stride at most 8192
 * (MAX_STRIDE). Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_conv(const struct weft_check *c, const struct weft_gop *o)
{
	static const int32_t once[2] = { 1, 1 };
	const bool transposed = o->op == WEFT_OP_TRANSPOSE_CONV2D;
	const struct weft_attr_conv *a = &o->attr.conv;
	int err = kernel(c, transposed ? once : a->dilation, 2, o->op == WEFT_OP_DEPTHWISE_CONV2D ? 0 : 1);

	if (!err)
		err = all_at_most(c, "pad", a->pad, 4, MAX_KERNEL);
	return err ? err : all_at_most(c, "stride", a->stride, 2, MAX_STRIDE);
}

/*
 * Checks the level's limits of CONV3D with attributes a: kernel times dilation, the six paddings and
 * the three strides, each at most 8192. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_conv3d(const struct weft_check *c, const struct weft_attr_conv3d *a)
{
	int err = kernel(c, a->dilation, 3, 1);

	if (!err)
		err = all_at_most(c, "pad", a->pad, 6, MAX_KERNEL);
	return err ? err : all_at_most(c, "stride", a->stride, 3, MAX_STRIDE);
}

/*
 * Checks the level's limits of pooling with attributes a: kernel, stride and padding, each at most
 * 8192. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_pool(const struct weft_check *c, const struct weft_attr_pool *a)
{
	int err = all_at_most(c, "kernel", a->kernel, 2, MAX_KERNEL);

	if (!err)
		err = all_at_most(c, "stride", a->stride, 2, MAX_STRIDE);
	return err ? err : all_at_most(c, "pad", a->pad, 4, MAX_KERNEL);
}

/*
 * Checks the level's limits of a Fourier transform: height and width of the input. Returns 0, or
 * -EINVAL with one line in c->msg.
 */
static int check_fft(const struct weft_check *c)
{
	const weft_tensor *x = operand(c, 0);
	int err = at_most(c, "height", x->dim[1], MAX_KERNEL);

	return err ? err : at_most(c, "width", x->dim[2], MAX_KERNEL);
}

/*
 * Checks the level's limits of RESIZE: both scales, rounded down. Returns 0, or -EINVAL with one line
 * in c->msg.
 */
static int check_resize(const struct weft_check *c, const struct weft_attr_resize *a)
{
	int err = at_most(c, "scale_y", a->scale_y_n / a->scale_y_d, MAX_SCALE);

	return err ? err : at_most(c, "scale_x", a->scale_x_n / a->scale_x_d, MAX_SCALE);
}

/*
 * Checks the level's limits of operator o, which is the one c is at: those of convolutions, pooling,
 * FFTs, RESIZE (unless its attributes come as operands), CONCAT (at most 64 operands), and COND_IF,
 * WHILE_LOOP and CUSTOM (at most 64 operands, COND_IF's condition not counted, and 64 results). All
 * other operators pass. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_attributes(const struct weft_check *c, const struct weft_gop *o)
{
	switch (o->op) {
	case WEFT_OP_CONV2D:
	case WEFT_OP_DEPTHWISE_CONV2D:
	case WEFT_OP_TRANSPOSE_CONV2D: return check_conv(c, o);
	case WEFT_OP_CONV3D: return check_conv3d(c, &o->attr.conv3d);
	case WEFT_OP_AVG_POOL2D:
	case WEFT_OP_MAX_POOL2D: return check_pool(c, &o->attr.pool);
	case WEFT_OP_FFT2D:
	case WEFT_OP_RFFT2D: return check_fft(c);
	case WEFT_OP_RESIZE: return o->n_in == weft_op_n_dynamic(o->op) ? 0 : check_resize(c, &o->attr.resize);
	case WEFT_OP_CONCAT: return at_most(c, "tensors in the list", o->n_in, MAX_TENSOR_LIST);
	case WEFT_OP_COND_IF:
	case WEFT_OP_WHILE_LOOP:
	case WEFT_OP_CUSTOM: {
		int n = o->n_in - (o->op == WEFT_OP_COND_IF);      /* the condition is not of the list */
		int err = at_most(c, "tensors in the list", n, MAX_TENSOR_LIST);
		return err ? err : at_most(c, "tensors in the list", o->n_out, MAX_TENSOR_LIST);
	}
	default: return 0;
	}
}

/*
 * Checks the level's limits of every tensor of the graph: a rank of at most 6, and dimensions of at
 * most 2^31 - 1. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_tensors(const struct weft_check *c)
{
	int err = 0;

	for (int i = 0; !err && i < c->g->n_tensors; i++) {
		const weft_tensor *t = &c->g->tensors[i].t;

		err = at_most(c, "rank", t->rank, MAX_RANK);
		for (int d = 0; !err && d < t->rank; d++)
			err = at_most(c, "dimension", t->dim[d], ((int64_t)1 << MAX_LOG2_SIZE) - 1);
	}
	return err;
}

/*
 * Checks the level's limits of graph c.g without its sub-graphs: of all tensors, then of all operators.
 * Returns 0, or -EINVAL with one line in c.msg about the first fault.
 */
static int check_graph(struct weft_check c)
{
	int err = check_tensors(&c);

	for (c.i_op = 0; !err && c.i_op < c.g->n_ops; c.i_op++)
		err = check_attributes(&c, &c.g->ops[c.i_op]);
	return err;
}

/*
 * Returns how deeply control flow is nested in graph g: 0 if it has none, otherwise 1 more than the
 * deepest sub-graph that it refers to. of_sub[] has the depths of the first n_known sub-graphs of
 * outer; g refers to no others.
 */
static int nesting(const weft_graph *outer, const weft_graph *g, const int *of_sub, int n_known)
{
	int most = 0;

	for (int i = 0; i < g->n_ops; i++) {
		const struct weft_gop *o = &g->ops[i];

		if (o->op != WEFT_OP_COND_IF && o->op != WEFT_OP_WHILE_LOOP)
			continue;
		for (int s = 0; s < n_known; s++)
			if ((outer->subs[s] == o->attr.flow.graph[0] || outer->subs[s] == o->attr.flow.graph[1]) && of_sub[s] >= most)
				most = of_sub[s] + 1;
	}
	return most;
}

/*
 * Checks that control flow is nested at most 6 deep (MAX_NESTING) in c->g, the outermost graph. Returns
 * 0, or -EINVAL or -ENOMEM with one line in c->msg.
 */
static int check_nesting(const struct weft_check *c)
{
	const weft_graph *g = c->g;
	int *of_sub = calloc((size_t)g->n_subs + 1, sizeof *of_sub);

	if (!of_sub)
		return weft_check_fail(c, "out of memory"), -ENOMEM;
	for (int s = 0; s < g->n_subs; s++)
		of_sub[s] = nesting(g, g->subs[s], of_sub, s);
	int err = at_most(c, "nesting", nesting(g, g, of_sub, g->n_subs), MAX_NESTING);
	free(of_sub);
	return err;
}

int weft_graph_check_8k(const weft_graph *g, char *msg)
{
	struct weft_check c = { .g = g, .outer = g, .i_sub = -1, .i_op = -1, .msg = msg };
	int err = check_graph(c);

	for (int i = 0; !err && i < g->n_subs; i++) {
		struct weft_check s = { .g = g->subs[i], .outer = g, .i_sub = i, .i_op = -1, .msg = msg };
		err = check_graph(s);
	}
	return err ? err : check_nesting(&c);
}

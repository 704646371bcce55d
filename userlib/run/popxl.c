/* SPDX-License-Identifier: Apache-2.0 */
/* PopXL's products as networks of one operator; see include/weft/popxl.h. */
#include <weft/popxl.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* A network of one operator, and the values of its n_in inputs for the run (their data is the caller's). */
struct one {
	weft_graph *g;
	weft_tensor in[3];
	int n_in;
};

/* Writes "out of memory" to msg and returns -ENOMEM. */
static int out_of_memory(char *msg)
{
	snprintf(msg, WEFT_MSG_LEN, "out of memory");
	return -ENOMEM;
}

/*
 * Appends tensor t to a list of the graph's inputs or outputs and counts it in *n. Returns 0 or
 * -ENOMEM.
 */
static int list(int **list_of, int *n, int t)
{
	int *p = realloc(*list_of, ((size_t)*n + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	*list_of = p;
	p[(*n)++] = t;
	return 0;
}

/*
 * Adds a tensor of data's type and shape as the network's next input, and *data, whose bytes are
 * shared, as its value in the run (o->in). Returns the tensor's index or -ENOMEM.
 */
static int new_input(struct one *o, const char *name, const weft_tensor *data)
{
	int t = weft_graph_tensor(o->g, name, data->dtype, data->rank, data->dim);

	if (t < 0)
		return t;
	o->g->tensors[t].is_input = true;
	o->in[o->n_in++] = *data;
	int err = list(&o->g->inputs, &o->g->n_inputs, t);
	return err ? err : t;
}

/* Adds a copy of `data` as a constant of the network. Returns the tensor's index or -ENOMEM. */
static int new_const(struct one *o, const char *name, const weft_tensor *data)
{
	void *copy = malloc(weft_tensor_bytes(data));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, data->data, weft_tensor_bytes(data));
	return weft_graph_const(o->g, name, data->dtype, data->rank, data->dim, copy);
}

/*
 * Adds the network's only operator with three operands `in` and an fp16 result of y's shape, which
 * becomes the output. Returns 0, or -ENOMEM, also if an operand's index is negative because it could
 * not be added.
 */
static int operator_of(struct one *o, weft_opcode op, const weft_attr *a, const int in[3], const weft_tensor *y)
{
	int src = weft_graph_src(o->g, 0, weft_op_name(op)), t = weft_graph_tensor(o->g, "y", WEFT_FP16, y->rank, y->dim);

	for (int i = 0; i < 3; i++)
		if (in[i] < 0)
			return -ENOMEM;
	if (src < 0 || t < 0 || weft_graph_op(o->g, op, a, src, in, 3, &t, 1) < 0)
		return -ENOMEM;
	o->g->tensors[t].is_output = true;
	o->g->srcs[src].out = t;
	return list(&o->g->outputs, &o->g->n_outputs, t);
}

/*
 * Checks the network's graph, opens a session with options o (NULL: the defaults), runs it once and
 * closes it. On success *y becomes the output, whose data the caller frees; otherwise it is untouched.
 * Returns 0 or a negative errno of weft_graph_check(), weft_session_open() or weft_session_run() with
 * one line in msg; -EBADMSG too, if the options ask for a check.
 */
static int run(const struct one *n, const struct weft_session_options *o, weft_tensor *y, char *msg)
{
	const struct weft_session_options standard = weft_session_options_default();
	const struct weft_net net = { .g = n->g };
	weft_session *s;
	int err = weft_graph_check(n->g, msg);

	if (!err)
		err = weft_session_open(&net, o ? o : &standard, &s, msg);
	if (err)
		return err;
	err = weft_session_run(s, n->in, y, NULL, msg);
	weft_session_close(s);
	return err;
}

/*
 * Computes one scaled product, op with attributes a, of x and w as a network of its own. w becomes a
 * constant for convolutions, since the array takes it only as one, otherwise an input. y has the
 * result's rank and dimensions when called, and gets type and data, which the caller frees, only on
 * success. Returns 0 or a negative errno with one line in msg.
 */
static int scaled(weft_opcode op, const weft_attr *a, const weft_tensor *x, const weft_tensor *w, int32_t log2_scale,
                  const struct weft_session_options *options, weft_tensor *y, char *msg)
{
	weft_tensor scale = { .dtype = WEFT_INT32, .rank = 1, .dim = { 1 }, .data = &log2_scale }, result;
	struct one o = { .g = weft_graph_new("pow2scaled") };
	int err = -ENOMEM;

	if (!o.g)
		return out_of_memory(msg);
	int in[3] = { new_input(&o, "x", x), 0, 0 };
	in[1] = op == WEFT_OP_POPXL_CONV_POW2SCALED ? new_const(&o, "w", w) : new_input(&o, "w", w);
	in[2] = new_input(&o, "log2_scale", &scale);
	err = operator_of(&o, op, a, in, y);
	err = err ? out_of_memory(msg) : run(&o, options, &result, msg);
	weft_graph_free(o.g);
	if (!err) {
		result.rank = y->rank;
		memcpy(result.dim, y->dim, sizeof(result.dim));
		*y = result;
	}
	return err;
}

/* Writes `what` to msg and returns -EINVAL. */
static int bad(char *msg, const char *what)
{
	snprintf(msg, WEFT_MSG_LEN, "%s", what);
	return -EINVAL;
}

/* Says whether t is a tensor with data, elements of one byte and a rank of at most 4. */
static bool has_data(const weft_tensor *t)
{
	return t && t->data && weft_dtype_bytes(t->dtype) == 1 && t->rank >= 0 && t->rank <= 4;
}

/* Returns t with shape [1][H][C] if it is [H][C], otherwise t as it is; the data is shared. */
static weft_tensor with_batch(const weft_tensor *t)
{
	weft_tensor b = *t;

	if (t->rank == 2) {
		b.rank = 3;
		b.dim[0] = 1;
		b.dim[1] = t->dim[0];
		b.dim[2] = t->dim[1];
	}
	return b;
}

int weft_matmul_pow2scaled(const weft_tensor *a, const weft_tensor *b, int32_t log2_scale,
                           const struct weft_session_options *o, weft_tensor *y, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	const weft_attr none = { .matmul = { 0 } };

	if (!has_data(a) || !has_data(b) || a->rank != b->rank || (a->rank != 2 && a->rank != 3))
		return bad(msg, "matmul_pow2scaled: operands must be two or three-dimensional arrays of float8");
	weft_tensor a3 = with_batch(a), b3 = with_batch(b), out = { .dtype = WEFT_FP16, .rank = 3, .dim = { a3.dim[0], a3.dim[1], b3.dim[2] } };
	int err = scaled(WEFT_OP_POPXL_MATMUL_POW2SCALED, &none, &a3, &b3, log2_scale, o, &out, msg);
	if (err)
		return err;
	if (a->rank == 2) {
		out.rank = 2;
		out.dim[0] = out.dim[1];
		out.dim[1] = out.dim[2];
	}
	*y = out;
	return 0;
}

/*
 * Returns a convolution's output extent for an input extent, a kernel extent, padding at both ends,
 * stride and dilation; 0 if the stride is below 1.
 */
static int64_t extent(int64_t in, int64_t kernel, const int32_t pad[2], int32_t stride, int32_t dilation)
{
	return stride < 1 ? 0 : (in + pad[0] + pad[1] - (kernel - 1) * dilation - 1) / stride + 1;
}

int weft_conv_pow2scaled(const weft_tensor *x, const weft_tensor *w, const struct weft_attr_conv *conv, int32_t log2_scale,
                         const struct weft_session_options *o, weft_tensor *y, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	weft_attr a = { .conv = { .acc = WEFT_FP16 } };

	if (!has_data(x) || !has_data(w) || x->rank != 4 || w->rank != 4)
		return bad(msg, "conv_pow2scaled: operands must be four-dimensional arrays of float8");
	memcpy(a.conv.pad, conv->pad, sizeof(a.conv.pad));
	memcpy(a.conv.stride, conv->stride, sizeof(a.conv.stride));
	memcpy(a.conv.dilation, conv->dilation, sizeof(a.conv.dilation));
	weft_tensor out = { .dtype = WEFT_FP16, .rank = 4, .dim = {
		x->dim[0], extent(x->dim[1], w->dim[1], conv->pad, conv->stride[0], conv->dilation[0]),
		extent(x->dim[2], w->dim[2], conv->pad + 2, conv->stride[1], conv->dilation[1]), w->dim[0] } };
	int err = scaled(WEFT_OP_POPXL_CONV_POW2SCALED, &a, x, w, log2_scale, o, &out, msg);
	if (!err)
		*y = out;
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter's graph: its nodes, element types, and which operators the library may take. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "delegate.h"

#define MAX_RANK 6             /* of a .tflite file's tensor, as the library reads it */

int graph_read(struct graph *g, struct rt_context *rt)
{
	struct rt_ints *plan;

	*g = (struct graph){ .rt = rt };
	if (rt->execution_plan(rt, &plan))
		return -EINVAL;
	g->n = plan->n;
	g->ops = calloc((size_t)g->n + 1, sizeof(*g->ops));
	if (!g->ops)
		return -ENOMEM;
	for (int i = 0; i < g->n; i++)
		g->ops[i].i = plan->v[i];
	for (int i = 0; i < g->n; i++) {
		struct op *op = &g->ops[i];
		struct rt_node *n;
		struct rt_kernel *k;
		if (rt->node(rt, op->i, &n, &k))
			return -EINVAL;
		op->n = *n;
		op->code = k->builtin_code;
		op->version = k->version;
		op->custom = k->custom_name;
	}
	return graph_infer(g);
}

void graph_free(struct graph *g)
{
	for (size_t i = 0; g->shapes && i < g->rt->n_tensors; i++)
		free(g->shapes[i]);
	free(g->shapes);
	free(g->fixed);
	free(g->ops);
	*g = (struct graph){ .rt = g->rt };
}

bool is_constant(const struct rt_tensor *t)
{
	return t->allocation == RT_CONSTANT && t->data;
}

static const struct { int8_t file; weft_dtype dtype; } types[] = {
	[RT_FLOAT32] = { 0, WEFT_FP32 }, [RT_INT32] = { 2, WEFT_INT32 }, [RT_UINT8] = { 3, WEFT_UINT8 },
	[RT_INT64] = { 4, WEFT_INT64 }, [RT_BOOL] = { 6, WEFT_BOOL }, [RT_INT16] = { 7, WEFT_INT16 }, [RT_INT8] = { 9, WEFT_INT8 },
	[RT_FLOAT16] = { 1, WEFT_FP16 }, [RT_INT4] = { 17, WEFT_INT4 },
};

weft_dtype dtype_of(int t)
{
	return t >= 0 && t < (int)(sizeof(types) / sizeof(types[0])) ? types[t].dtype : 0;
}

int file_type(int t)
{
	return dtype_of(t) ? types[t].file : -1;
}

/*
 * Returns the multiplications of a recurrent layer, in one direction or both: the elements of all its constant
 * operands of two or more dimensions, once for each row (all dimensions but the last) of its input, operand 0.
 */
static uint64_t recurrent(const struct graph *g, const struct op *op)
{
	const struct rt_ints *in = op->n.inputs;
	const struct rt_ints *x = dims_of(g, in->v[0]);
	uint64_t weights = 0;

	for (int i = 1; i < in->n; i++) {
		const struct rt_tensor *w = in->v[i] >= 0 ? &g->rt->tensors[in->v[i]] : NULL;
		weights += w && is_constant(w) && w->dims && w->dims->n >= 2 ? elements(w->dims) : 0;
	}
	return elements(x) / extent(x, -1) * weights;
}

/* Says whether recurrent() counts the multiplications of operators with this code. */
static bool is_recurrent(int code)
{
	return code == RT_LSTM || code == RT_RNN || code == RT_SEQUENCE_RNN || code == RT_SEQUENCE_LSTM || code == RT_BI_RNN || code == RT_BI_LSTM;
}

/*
 * Returns the multiplications of a FULLY_CONNECTED whose result has n elements: n times the weights that each of them
 * takes. But it is 0 if the library computes the operator when it loads a network: if input and weights are the same in every
 * run, and there are at most WEFT_MACS_AT_LOADING multiplications.
 */
static uint64_t fully_connected(const struct graph *g, const struct rt_ints *in, uint64_t n)
{
	const uint64_t macs = n * extent(dims_of(g, in->v[1]), -1);

	return is_fixed(g, in->v[0]) && is_fixed(g, in->v[1]) && macs <= WEFT_MACS_AT_LOADING ? 0 : macs;
}

/*
 * Returns the multiplications of a node; 0 for operators that are not named here, and if a tensor is missing.
 *
 *   CONV_2D, DEPTHWISE_CONV_2D, CONV_3D  the result's elements times the weights that each of them takes
 *   TRANSPOSE_CONV, CONV_3D_TRANSPOSE    the input's elements times the weights that each of them meets
 *   FULLY_CONNECTED                      fully_connected()
 *   BATCH_MATMUL                         the elements of operand 0 times the result's last dimension
 *   SVDF                                 the batch times the elements of the features' weights
 *   LSTM and RNN, also of sequences      recurrent()
 */
uint64_t macs_of(const struct graph *g, const struct op *op)
{
	const struct rt_ints *in = op->n.inputs, *out = op->n.outputs;
	const int input = op->code == RT_TRANSPOSE_CONV || op->code == RT_CONV_3D_TRANSPOSE ? 2 : 0;   /* operand 0 of these is the result's shape */

	if (in->n < 2 || out->n < 1 || in->v[0] < 0 || out->v[0] < 0)
		return 0;
	/* An LSTM may have no first gate, and no weights there. */
	if (is_recurrent(op->code))
		return recurrent(g, op);
	if (in->v[1] < 0 || in->n <= input || in->v[input] < 0)
		return 0;
	const struct rt_ints *x = dims_of(g, in->v[input]), *w = dims_of(g, in->v[1]), *y = dims_of(g, out->v[0]);
	switch (op->code) {
	case RT_CONV_2D: return elements(y) * extent(w, 1) * extent(w, 2) * extent(w, 3);
	case RT_DEPTHWISE_CONV_2D: return elements(y) * extent(w, 1) * extent(w, 2);
	case RT_CONV_3D: return elements(y) * (elements(w) / extent(w, -1));
	case RT_TRANSPOSE_CONV: return elements(x) * extent(w, 0) * extent(w, 1) * extent(w, 2);
	case RT_CONV_3D_TRANSPOSE: return elements(x) * (elements(w) / extent(w, -1));
	case RT_FULLY_CONNECTED: return fully_connected(g, in, elements(y));
	case RT_BATCH_MATMUL: return elements(x) * extent(y, -1);
	case RT_SVDF: return extent(x, 0) * elements(w);
	default: return 0;
	}
}

/* Says whether an element type is a float. */
static bool is_float(int type)
{
	return type == RT_FLOAT32 || type == RT_FLOAT16 || type == RT_FLOAT64 || type == RT_BFLOAT16;
}

/* Says whether an element type is one of those that quantised values have. */
static bool is_code(int type)
{
	return type == RT_INT8 || type == RT_UINT8 || type == RT_INT16;
}

/*
 * Says whether a tensor can stand in a file and keep its meaning: its shape is known and has at most
 * MAX_RANK dimensions, the library has its type, it is dense, its quantisation is none or affine, and
 * it is of int4 only if constant. One whose memory is allocated while the network runs cannot.
 */
static bool may_stand(const struct rt_tensor *t)
{
	return t->dims && t->dims->n <= MAX_RANK && file_type(t->type) >= 0 && !t->sparsity &&
	       t->allocation != RT_DYNAMIC && t->quantization.type <= RT_AFFINE && (t->type != RT_INT4 || is_constant(t));
}

/* What tensors of one side of an operator are. */
struct side {
	bool good;                 /* all may stand */
	bool floats, codes;        /* some that are not constant are floats, or quantised */
	bool any;                  /* there is one that is not constant */
	bool state;                /* there is one that keeps its value from run to run */
};

/*
 * Returns what the listed tensors are; those left out (-1) do not count. `good` is whether all may stand in a
 * part (may_stand()), constants too; the other fields speak of those that are not constant, and all but `state` of
 * those that are no state.
 */
static struct side look_at(const struct graph *g, const struct rt_ints *list)
{
	struct side s = { .good = true };

	for (int i = 0; i < list->n; i++) {
		if (list->v[i] < 0)
			continue;
		const struct rt_tensor *t = &g->rt->tensors[list->v[i]];
		s.good &= may_stand(t);
		s.state |= t->is_variable;
		if (is_constant(t) || t->is_variable)
			continue;
		s.any = true;
		s.floats |= is_float(t->type);
		s.codes |= is_code(t->type);
	}
	return s;
}

/*
 * Says whether an operator with multiplications has constant weights of int8 or int4 with scales: if
 * its input is floats, the interpreter's kernel quantises them as it runs, and so does the library.
 */
static bool hybrid(const struct graph *g, const struct op *op)
{
	const struct rt_tensor *w = op->n.inputs->n > 1 && op->n.inputs->v[1] >= 0 ? &g->rt->tensors[op->n.inputs->v[1]] : NULL;

	return macs_of(g, op) && w && is_constant(w) && (w->type == RT_INT8 || w->type == RT_INT4) && w->quantization.type == RT_AFFINE;
}

bool may_take(const struct graph *g, const struct op *op, bool with_state)
{
	struct side in = look_at(g, op->n.inputs), out = look_at(g, op->n.outputs);
	struct file_options o;

	if (op->custom || !in.good || !out.good || !in.any || !out.any || options_of(op, &o))
		return false;
	if (out.state || (in.state && (op->code != RT_SVDF || !with_state)))
		return false;
	/* Floats stay with the interpreter; where numbers become quantised, or cease to be, is the part's edge. */
	if (op->code == RT_QUANTIZE)
		return out.codes;
	if (op->code == RT_DEQUANTIZE)
		return in.codes;
	if (hybrid(g, op))
		return true;
	return (!in.floats || op->code == RT_SHAPE) && !out.floats;
}

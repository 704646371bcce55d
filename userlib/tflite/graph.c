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

/*
 * Returns the multiplications of a node: of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED the result's
 * elements times the weights that each of them takes; of TRANSPOSE_CONV the input's elements (operand 2)
 * times the weights of one input channel; of CONV_3D and CONV_3D_TRANSPOSE likewise, whose last dimension of the weights is the
 * channel of result and input; of BATCH_MATMUL the elements of operand 0 times the result's
 * last dimension; of SVDF the batch times the elements of the features' weights; of LSTM and RNN, also of
 * sequences, recurrent()'s. 0 for other operators, and where a tensor is missing; also for a FULLY_CONNECTED
 * whose input and weights are the same in every run (is_fixed()) and which needs no more than
 * WEFT_MACS_AT_LOADING, since the library computes it when it loads a network.
 */
uint64_t macs_of(const struct graph *g, const struct op *op)
{
	enum { CONV_2D = 3, DEPTHWISE_CONV_2D = 4, FULLY_CONNECTED = 9, LSTM = 16, RNN = 24, SVDF = 27, SEQUENCE_RNN = 35,
		SEQUENCE_LSTM = 44, BI_RNN = 46, BI_LSTM = 52, TRANSPOSE_CONV = 67, BATCH_MATMUL = 126, CONV_3D = 132, CONV_3D_TRANSPOSE = 141 };
	const struct rt_ints *in = op->n.inputs, *out = op->n.outputs;

	if (in->n < 2 || out->n < 1 || in->v[0] < 0 || out->v[0] < 0)
		return 0;
	/* An LSTM may have no first gate, and no weights there. */
	if (op->code == LSTM || op->code == RNN || op->code == SEQUENCE_RNN || op->code == SEQUENCE_LSTM || op->code == BI_RNN || op->code == BI_LSTM)
		return recurrent(g, op);
	if (in->v[1] < 0)
		return 0;
	const struct rt_ints *x = dims_of(g, in->v[0]), *w = dims_of(g, in->v[1]), *y = dims_of(g, out->v[0]);
	switch (op->code) {
	case CONV_2D: return elements(y) * extent(w, 1) * extent(w, 2) * extent(w, 3);
	case DEPTHWISE_CONV_2D: return elements(y) * extent(w, 1) * extent(w, 2);
	case FULLY_CONNECTED: return is_fixed(g, in->v[0]) && is_fixed(g, in->v[1]) && elements(y) * extent(w, -1) <= WEFT_MACS_AT_LOADING
	                             ? 0 : elements(y) * extent(w, -1);
	case SVDF: return extent(x, 0) * elements(w);
	case BATCH_MATMUL: return extent(y, -1) ? elements(x) * extent(y, -1) : 0;
	case TRANSPOSE_CONV:
		return in->n < 3 || in->v[2] < 0 ? 0 : elements(dims_of(g, in->v[2])) * extent(w, 0) * extent(w, 1) * extent(w, 2);
	case CONV_3D: return elements(y) * (elements(w) / extent(w, -1));
	case CONV_3D_TRANSPOSE:
		return in->n < 3 || in->v[2] < 0 ? 0 : elements(dims_of(g, in->v[2])) * (elements(w) / extent(w, -1));
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

enum { CODE_DEQUANTIZE = 6, CODE_SVDF = 27, CODE_SHAPE = 77, CODE_QUANTIZE = 114 };

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
	if (out.state || (in.state && (op->code != CODE_SVDF || !with_state)))
		return false;
	/* Floats stay with the interpreter; where numbers become quantised, or cease to be, is the part's edge. */
	if (op->code == CODE_QUANTIZE)
		return out.codes;
	if (op->code == CODE_DEQUANTIZE)
		return in.codes;
	if (hybrid(g, op))
		return true;
	return (!in.floats || op->code == CODE_SHAPE) && !out.floats;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rough estimate of what operators cost on the host: golden's time for a multiplication or for an
 * element, as measured on one core of an AMD EPYC (gcc -O2) over the operators of 90 networks.
 * Golden has fast implementations of products, of common conversions, sums, pools and moves of integers and
 * fp32, and plain loops for the rest. tests/conformance/host_cost prints the estimate beside the time measured on the
 * machine on which it runs. The figures of L2_NORMALIZATION and LOG_SOFTMAX, which those networks do not have, were
 * measured by it.
 */
#include <string.h>

#include "sim/golden/onnx/ref/onnx_ref.h"
#include "userlib/run/internal.h"

/* Each run of any operator takes this many nanoseconds beside its work. */
#define CALL_NS 500.0

/* A multiplication takes this many nanoseconds if the table per_product has its operator, but not for the numbers at hand. */
#define PRODUCT_NS 5.0

/*
 * An element takes this many nanoseconds if per_product and per_element do not have its operator for the kind of numbers that
 * it computes with: INTEGER_NS for integers, FLOAT_NS for fp32, and OTHER_FLOAT_NS for all other floats.
 */
#define INTEGER_NS 3.0
#define FLOAT_NS 10.0
#define OTHER_FLOAT_NS 20.0

/* An element of a function for which is_fast_function() is true takes this many nanoseconds. */
#define FAST_FUNCTION_NS 1.0

/*
 * Holds the nanoseconds that a multiplication or an element takes: `integer` with integers, `real` with fp32, and `other` with
 * all other floats. `integer` and `real` are 0 if the time is not known. `other` is 0 if it is the same as `real`.
 */
struct cost { float integer, real, other; };

/* For each operator, the nanoseconds that one multiplication takes; all zeros if the operator has no multiplications. */
static const struct cost per_product[WEFT_N_OPS] = {
	[WEFT_OP_CONV2D] = { 0.04f, 0.2f, 4 },
	[WEFT_OP_DEPTHWISE_CONV2D] = { 0.15f, 0.5f, 5 },
	[WEFT_OP_MATMUL] = { 1, 0.3f, 5 },
	[WEFT_OP_CONV3D] = { 1, 5, 0 },
	[WEFT_OP_TRANSPOSE_CONV2D] = { 0.05f, 5, 0 },
	[WEFT_OP_POPXL_CONV_POW2SCALED] = { 5, 5, 0 },
	[WEFT_OP_POPXL_MATMUL_POW2SCALED] = { 5, 5, 0 },
	[WEFT_OP_TFL_LSTM] = { 0.8f, 0, 0 },
	[WEFT_OP_FFT2D] = { 0, 20, 0 },
	[WEFT_OP_RFFT2D] = { 0, 20, 0 },
};

/* For each operator, the nanoseconds that one element of its largest operand or result takes. */
static const struct cost per_element[WEFT_N_OPS] = {
	[WEFT_OP_ADD] = { 0.5f, 0.5f, 20 },
	[WEFT_OP_SUB] = { 0.5f, 0.5f, 20 },
	[WEFT_OP_MUL] = { 0.5f, 0.5f, 20 },
	[WEFT_OP_ARGMAX] = { 2, 10, 0 },
	[WEFT_OP_AVG_POOL2D] = { 0.7f, 0.8f, 10 },
	[WEFT_OP_MAX_POOL2D] = { 0.1f, 0.3f, 8 },
	[WEFT_OP_CLAMP] = { 0.5f, 0.4f, 15 },
	[WEFT_OP_TABLE] = { 0.1f, 0, 0 },
	[WEFT_OP_REDUCE_SUM] = { 0.2f, 0.5f, 20 },
	[WEFT_OP_REDUCE_MAX] = { 0, 0.3f, 10 },
	[WEFT_OP_EXP] = { 0, 1, 20 },
	[WEFT_OP_SIGMOID] = { 0, 1, 20 },
	[WEFT_OP_TANH] = { 0, 1.2f, 20 },
	[WEFT_OP_ERF] = { 0, 1, 20 },
	[WEFT_OP_CONCAT] = { 0.2f, 0.2f, 0 },
	[WEFT_OP_PAD] = { 0.1f, 0.2f, 0 },
	[WEFT_OP_RESHAPE] = { 0.2f, 0.2f, 0 },
	[WEFT_OP_IDENTITY] = { 0.1f, 0.1f, 0 },
	[WEFT_OP_REVERSE] = { 0.5f, 0.6f, 0 },
	[WEFT_OP_SLICE] = { 0.3f, 0.1f, 0 },
	[WEFT_OP_TILE] = { 7, 7, 0 },
	[WEFT_OP_RESIZE] = { 1, 2, 0 },
	[WEFT_OP_TRANSPOSE] = { 0.15f, 0.4f, 0 },
	[WEFT_OP_GATHER] = { 0.1f, 0.1f, 0 },
	[WEFT_OP_RESCALE] = { 0.5f, 0, 0 },
	[WEFT_OP_CAST] = { 5, 20, 0 },
	[WEFT_OP_TFL_SOFTMAX] = { 1.7f, 0, 0 },
	[WEFT_OP_TFL_L2_NORMALIZATION] = { 3.5f, 0, 0 },  /* An element takes 3 ns and a row 55 ns more; this is for rows of 64 to 512. */
	[WEFT_OP_TFL_LOG_SOFTMAX] = { 43, 0, 0 },
	[WEFT_OP_TFL_QUANTIZE] = { 5, 5, 0 },
	[WEFT_OP_TFL_DEQUANTIZE] = { 0.8f, 1, 0 },
	[WEFT_OP_TFL_RESIZE_BILINEAR] = { 4, 0, 0 },      /* int8 takes 2 ns and uint8 7.5 ns. */
	[WEFT_OP_TFL_CAST] = { 1, 1, 0 },
	[WEFT_OP_TFL_SQRT] = { 1.2f, 1.2f, 0 },
	[WEFT_OP_TFL_DIV] = { 0.3f, 0.3f, 0 },
	[WEFT_OP_TFL_REQUANTIZE] = { 5, 5, 0 },
	[WEFT_OP_TFL_HYBRID] = { 6, 6, 0 },
	[WEFT_OP_TFL_QUOTIENT] = { 12, 12, 0 },
	[WEFT_OP_TFL_FUNCTION] = { 12, 12, 0 },           /* This is for functions that are not fast ones (is_fast_function()). */
	[WEFT_OP_ONNX_QUANTIZE] = { 50, 50, 0 },
	[WEFT_OP_ONNX_DEQUANTIZE] = { 37, 37, 0 },
};

/* Returns the number of elements of tensor t. */
static double elements(const weft_graph *g, int t)
{
	return (double)weft_tensor_elements(&g->tensors[t].t);
}

/* Returns the number of elements of operator o's largest operand or result; 0 if it has neither. */
static double largest(const weft_graph *g, const struct weft_gop *o)
{
	double most = 0;

	for (int i = 0; i < o->n_in; i++)
		most = elements(g, o->in[i]) > most ? elements(g, o->in[i]) : most;
	for (int i = 0; i < o->n_out; i++)
		most = elements(g, o->out[i]) > most ? elements(g, o->out[i]) : most;
	return most;
}

/*
 * Returns the number of multiplications of an operator for which the compiler gives none. For TFL_LSTM
 * it is dim[0] * dim[1] of operand 0 (its steps) times the elements of all other operands (weights and
 * biases); for all others (Fourier transforms) the elements of operand 0 times its dim[1] times its dim[2].
 */
static double other_products(const weft_graph *g, const struct weft_gop *o)
{
	const int64_t *dim = g->tensors[o->in[0]].t.dim;
	double sum = 0;

	if (o->op != WEFT_OP_TFL_LSTM)
		return elements(g, o->in[0]) * (double)dim[1] * (double)dim[2];
	for (int i = 1; i < o->n_in; i++)
		sum += elements(g, o->in[i]);
	return (double)dim[0] * (double)dim[1] * sum;
}

/* Says whether o is one of the two LSTMs of int8 that LiteRT has. */
static bool is_lstm8(const struct weft_gop *o)
{
	const char *name = o->op == WEFT_OP_ONNX_NODE ? weft_onnx_ref_name(o->attr.onnx_node.kind) : "";

	return !strcmp(name, "SequenceLSTM8") || !strcmp(name, "StepLSTM8");
}

/*
 * Returns the nanoseconds that the LSTM of int8 (is_lstm8()) takes: for each of its dim[0] * dim[1] steps (dim[0] if its
 * input has rank 2), 1 for each weight and bias, and 35 for each of the five functions of each cell. Operand 0 is the input and the last constant one
 * holds no weights; operand 1, the first gate's weights, has a row for each cell.
 */
static double lstm8_ns(const weft_graph *g, const struct weft_gop *o)
{
	const weft_tensor *x = &g->tensors[o->in[0]].t;
	double sum = 5 * 35 * (double)g->tensors[o->in[1]].t.dim[0];

	/* Behind the numbers there may be states, which are no constants. */
	for (int i = 1; i < o->n_in - 1 && g->tensors[o->in[i + 1]].t.data; i++)
		sum += elements(g, o->in[i]);
	return (double)x->dim[0] * (x->rank > 2 ? (double)x->dim[1] : 1) * sum;
}

/* Says whether o is a TFL_FUNCTION that golden computes for many elements side by side (weft_fast_function()). */
static bool is_fast_function(const struct weft_gop *o)
{
	const int f = o->op == WEFT_OP_TFL_FUNCTION ? (int)o->attr.tfl_function.function : -1;

	return f == WEFT_TFL_EXP || f == WEFT_TFL_LOGISTIC;
}

/* Says whether t is one of the float types that networks compute with. */
static bool is_float(weft_dtype t)
{
	return t == WEFT_FP32 || t == WEFT_FP16 || t == WEFT_BF16 || t == WEFT_FP8E4M3 || t == WEFT_FP8E5M2;
}

/* The kind of numbers that an operator computes with. */
enum numbers { INTEGERS, SINGLES, OTHER_FLOATS };

/* Returns the kind of an operator's numbers: that of operand 0; integers if it has none. */
static enum numbers numbers_of(const weft_graph *g, const struct weft_gop *o)
{
	const weft_dtype t = o->n_in ? g->tensors[o->in[0]].t.dtype : WEFT_INT8;

	return t == WEFT_FP32 ? SINGLES : is_float(t) ? OTHER_FLOATS : INTEGERS;
}

/* Returns the nanoseconds of c for numbers of this kind; `otherwise` if they are not known. */
static double of(const struct cost *c, enum numbers kind, double otherwise)
{
	double ns = kind == INTEGERS ? (double)c->integer : kind == OTHER_FLOATS && c->other > 0 ? (double)c->other : (double)c->real;

	return ns > 0 ? ns : otherwise;
}

/*
 * Returns roughly the processor time, in ms of one core, that operator o takes on the host: CALL_NS plus the time of the
 * work. If the table per_product has the operator, the work takes the table's time for each multiplication (macs of
 * them, or other_products() if macs is 0). If it does not, the work takes the time in per_element for each element of the
 * operator's largest tensor. The constants above stand for times that the tables do not have. The LSTM of int8 takes
 * lstm8_ns() instead, and a fast function (is_fast_function()) takes FAST_FUNCTION_NS for each element. Operand 0's type decides
 * between integers, fp32 and other floats. Returns -1 for COND_IF and WHILE_LOOP, whose cost depends on the data.
 */
double weft_host_ms(const weft_graph *g, const struct weft_gop *o, uint64_t macs)
{
	const double unknown[] = { [INTEGERS] = INTEGER_NS, [SINGLES] = FLOAT_NS, [OTHER_FLOATS] = OTHER_FLOAT_NS };
	const enum numbers kind = numbers_of(g, o);
	const struct cost *product = &per_product[o->op];

	if (o->op == WEFT_OP_COND_IF || o->op == WEFT_OP_WHILE_LOOP)
		return -1;
	if (is_lstm8(o))
		return (CALL_NS + lstm8_ns(g, o)) * 1e-6;
	if (is_fast_function(o))
		return (CALL_NS + FAST_FUNCTION_NS * largest(g, o)) * 1e-6;
	if (product->integer > 0 || product->real > 0)
		return (CALL_NS + of(product, kind, PRODUCT_NS) * (macs ? (double)macs : other_products(g, o))) * 1e-6;
	return (CALL_NS + of(&per_element[o->op], kind, unknown[kind]) * largest(g, o)) * 1e-6;
}

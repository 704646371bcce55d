/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph: TOSA 1.0 operators (and extensions) over tensors, in execution order.
 *
 * Tensors with is_input are inputs, tensors with data are constants. A tensor has at most one
 * producer. Operators are stored so that producers come before users. Each operator remembers which
 * operator of the source file it was lowered from (src). One operator of the source becomes one or more
 * operators here; the result of the last of them is the source operator's own result and has its name.
 */
#ifndef WEFT_GRAPH_H
#define WEFT_GRAPH_H

#include <weft/op.h>
#include <weft/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_OP_MAX_INPUTS 65      /* 64 of a list (TOSA's level 8K) and COND_IF's condition */
#define WEFT_OP_MAX_OUTPUTS 64
#define WEFT_GRAPH_MAX_NESTING 256 /* how deep sub-graphs may be nested: the limit of TOSA's level "none" */
#define WEFT_MSG 256               /* bytes of a message buffer */

struct weft_gtensor {
	char *name;                /* owned; "" only for internal tensors */
	weft_tensor t;             /* type and shape; t.data is owned, and not NULL for constants only */
	struct weft_quant q;       /* the quantisation that the source file states */
	bool is_input, is_output;  /* of the graph */
	bool internal;             /* made by lowering; not a tensor of the source file */
	int producer;              /* index of the operator that makes it, or -1 */
};

struct weft_gop {
	weft_opcode op;
	weft_attr attr;
	int src;                   /* index into srcs; -1: it comes from no operator of the source, which no .weft file may have */
	int n_in, n_out;           /* numbers of operands and results */
	int *in;                   /* indices of the operands' tensors; owned */
	int *out;                  /* indices of the results' tensors; in the same allocation as in */
};

/* Says whether an operator only moves a variable's value, which a session has between runs: its attribute id names the variable. */
static inline bool weft_moves_variable(const struct weft_gop *o)
{
	return o->op == WEFT_OP_VARIABLE_READ || o->op == WEFT_OP_VARIABLE_WRITE;
}

struct weft_gsrc {             /* one operator of the source file */
	int index;                 /* its number there */
	char *name;                /* its operator's name, for example "CONV_2D"; owned */
	int out;                   /* index of its (first) output tensor, or -1 */
	const char *note;          /* why an importer could not make integers of it, a constant string; or NULL */
};

struct weft_gvar {             /* a value that outlives a run */
	char *name;                /* owned */
	weft_tensor t;             /* t.data: initial value, owned, or NULL: none until written */
};

/*
 * A network is one graph, or an outermost graph and its sub-graphs: the bodies
 * of COND_IF and WHILE_LOOP. The outermost owns them all, and the variables. A
 * sub-graph sees only its inputs and its own constants, and refers only to
 * sub-graphs that stand before it.
 */
typedef struct weft_graph {
	char *name;                /* the model's name, for people; owned */
	enum weft_runtime runtime; /* the release whose results it gives bit for bit; ANY: it is no .tflite */
	enum weft_requant requant; /* how its sums become codes; ANY: it is no .onnx */
	struct weft_gtensor *tensors; int n_tensors, cap_tensors;
	struct weft_gop *ops;         int n_ops, cap_ops;
	struct weft_gsrc *srcs;       int n_srcs, cap_srcs;
	int *inputs;  int n_inputs;   /* tensor indices, in the file's order */
	int *outputs; int n_outputs;
	struct weft_graph **subs;     int n_subs, cap_subs;
	struct weft_gvar *vars;       int n_vars, cap_vars;
} weft_graph;

weft_graph *weft_graph_new(const char *name);       /* NULL: out of memory */
void weft_graph_free(weft_graph *g);

/*
 * Each adds one element to the graph and returns its index, or -ENOMEM (weft_graph_op() also -EINVAL
 * for a number of operands or results out of range). Names are copied. data comes from malloc and
 * belongs to the graph from then on, or is freed if the call fails; so does sub. dim holds rank values,
 * of which there are at most WEFT_MAX_RANK, and may be that of a tensor of the same graph. weft_graph_tensor() adds a tensor without data and
 * producer.
 */
WEFT_MUST_USE int weft_graph_tensor(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim);
int weft_graph_const(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim, void *data);
WEFT_MUST_USE int weft_graph_src(weft_graph *g, int index, const char *name);
/* The source of operator op; of one that has none, and where op is below 0, a source with index -1 and name "?". */
const struct weft_gsrc *weft_graph_src_of(const weft_graph *g, int op);
WEFT_MUST_USE int weft_graph_sub(weft_graph *g, weft_graph *sub);
WEFT_MUST_USE int weft_graph_var(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim, void *data);
WEFT_MUST_USE int weft_graph_op(weft_graph *g, weft_opcode op, const weft_attr *attr, int src,
                  const int *in, int n_in, const int *out, int n_out);

/**
 * Check the whole graph with its sub-graphs: indices, order, single producers, types, shapes and
 * attributes. Every graph passes this before golden or the compiler sees it.
 *
 * @return 0; -EINVAL with one line in msg (WEFT_MSG bytes) that names the first fault; or -ENOMEM, also with a line
 */
WEFT_MUST_USE int weft_graph_check(const weft_graph *g, char *msg);

#ifdef __cplusplus
}
#endif
#endif

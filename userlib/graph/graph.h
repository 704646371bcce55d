/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph IR: TOSA 1.0 operators over tensors, in execution order.
 *
 * Inputs: tensors with is_input; constants: tensors with data. A tensor has at
 * most one producer. Operators are stored so that producers come before users.
 * Each operator remembers which operator of the source file it was lowered
 * from (src); one source operator becomes one or more TOSA operators, and the
 * source operator's own result is the output of the last of them, carrying the
 * source's tensor name.
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
#define WEFT_GRAPH_MAX_NESTING 256 /* sub-graphs within sub-graphs; TOSA's level none */
#define WEFT_MSG 256

struct weft_gtensor {
	char *name;                /* owned; "" only for internal tensors */
	weft_tensor t;             /* t.data: owned, constants only */
	struct weft_quant q;
	bool is_input, is_output;
	bool internal;             /* made by lowering; not a tensor of the source file */
	int producer;              /* operator index, or -1 */
};

struct weft_gop {
	weft_opcode op;
	weft_attr attr;
	int src;                   /* index into srcs, or -1: from no source operator */
	int n_in, n_out;
	int *in;                   /* owned; tensor indices */
	int *out;                  /* in the same allocation */
};

struct weft_gsrc {             /* one operator of the source file */
	int index;                 /* its index there */
	char *name;                /* e.g. "CONV_2D"; owned */
	int out;                   /* its (first) output tensor */
	const char *note;          /* why an importer could not make integers of it; lives for ever; or NULL */
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
	char *name;                /* the model's, for people */
	enum weft_runtime runtime; /* whose bits it gives; ANY: it does not come from .tflite */
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
 * Each returns the new index, or -ENOMEM (weft_graph_op: also -EINVAL for a count
 * out of range). Names are copied; data comes from malloc and is taken over, and
 * freed if the call fails. dim holds rank values, rank <= WEFT_MAX_RANK.
 */
int weft_graph_tensor(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim);
int weft_graph_const(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim, void *data);
int weft_graph_src(weft_graph *g, int index, const char *name);
int weft_graph_sub(weft_graph *g, weft_graph *sub);  /* takes sub over, also if the call fails */
int weft_graph_var(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim, void *data);
int weft_graph_op(weft_graph *g, weft_opcode op, const weft_attr *attr, int src,
                  const int *in, int n_in, const int *out, int n_out);

/**
 * Check the whole graph: indices, order, single producers, types, shapes.
 * Every graph passes this before golden or the compiler sees it.
 * @return 0, or -EINVAL with one line in msg (WEFT_MSG bytes)
 */
int weft_graph_check(const weft_graph *g, char *msg);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the delegate's files share: the interpreter's graph as the delegate sees it, the parts of
 * it that become networks, and the delegate itself.
 */
#ifndef WEFT_TFLITE_DELEGATE_H
#define WEFT_TFLITE_DELEGATE_H

#include <pthread.h>

#include "tflite_abi.h"
#include "userlib/plugin/plugin.h"

/* A node of the interpreter's graph. */
struct op {
	int i;                     /* the interpreter's number */
	int code;                  /* builtin_code */
	int version;
	const char *custom;        /* name of a custom operator, or NULL */
	struct rt_node n;          /* copied; what it points to is the interpreter's */
	bool candidate;            /* the library may take it */
};

/* The interpreter's graph, in the order in which it runs. */
struct graph {
	struct rt_context *rt;
	struct op *ops;
	int n;
	bool *fixed;               /* by tensor: computed, and the same in every run */
	struct rt_ints **shapes;   /* by tensor: the shape that it has, if that follows from others and its file leaves it open; or NULL */
};

/* Nodes that became a network with a session: the kernel's data. */
struct part {
	struct plugin_part weft;
	struct part *next;
	int number;                /* of the graph's parts, from 0 */
	struct op *ops;            /* copies, in order */
	int n;
	int *in, n_in;             /* the interpreter's tensors at the network's ports */
	int *out, n_out;
	int *state, n_state;       /* by variable of the network: the interpreter's tensor that has its value between runs */
	struct rt_ints **shapes;   /* the graph's, while the part is loaded for the first time; NULL: as the tensors say */
	uint64_t macs, npu_macs;   /* multiplications of all its operators, and those of operators on the NPU */
};

/*
 * The delegate. The interpreter may ask one that was destroyed (it keeps a pointer and applies it
 * again when inputs are resized), so what it sees stays: such a delegate takes no nodes.
 */
struct delegate {
	struct rt_delegate rt;     /* first: a pointer to it is one to this */
	struct plugin_options *options; /* NULL: destroyed */
	void (*report)(const char *);   /* the program's, while it loads the delegate */
	struct part *ready;        /* parts that wait for the interpreter to make their kernels */
	struct delegate *older;    /* of the list that keeps destroyed ones */
};

/**
 * Find what speaks against the layout of tflite_abi.h in the interpreter's graph: a missing function
 * or list of tensors, numbers of tensors or threads that no graph has, then each tensor, the list of nodes, and each node.
 * @param words  Room in which the returned words may be put together.
 * @return NULL if the layout is right, or a few words that name the first thing that is not; they are
 *         constant or in `words`
 */
const char *layout_wrong(struct rt_context *rt, char words WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Read the interpreter's nodes, in the order in which it runs them, into g->ops (g->n of them): number,
 * copy of the node, operator code, version and custom name; and fill in g->fixed and g->shapes
 * (graph_infer()). @return 0; -ENOMEM; -EINVAL: the interpreter does not give them; graph_free() in each case
 */
WEFT_MUST_USE int graph_read(struct graph *g, struct rt_context *rt);
void graph_free(struct graph *g);

/**
 * Find which tensors are the same in every run (g->fixed), and shapes that follow from others (g->shapes), in a
 * graph whose nodes were read; graph_read() calls it. @return 0; -ENOMEM; graph_free() in each case
 */
WEFT_MUST_USE int graph_infer(struct graph *g);

/** Return whether a tensor has the same value in every run: it is constant, or computed from what is. */
bool is_fixed(const struct graph *g, int tensor);

/** Return a tensor's shape as far as it is known before a run; NULL: it is not. */
const struct rt_ints *dims_of(const struct graph *g, int tensor);

/** Return the number of elements of a shape: 0 if a dimension is 0 or not known (negative), 1 if there is none. */
uint64_t elements(const struct rt_ints *dims);

/** Return dimension i of a shape, from the end if i is negative; 1 if there is no such one, or it is 0 or not known. */
uint64_t extent(const struct rt_ints *dims, int i);

/** Return whether a tensor's value comes with the network and can be read. */
bool is_constant(const struct rt_tensor *t);

/** Return the library's element type for one of the interpreter's (enum rt_type); 0 if there is none. */
weft_dtype dtype_of(int rt_type);

/**
 * Return a .tflite file's number for one of the interpreter's element types; -1 if the library has none
 * like it.
 */
int file_type(int rt_type);

/**
 * Return whether the library may take this operator, as far as its code and tensors say. It must be no
 * custom operator, have options that options_of() knows, and have at least one computed input and result;
 * all its tensors must have a type, shape and quantisation that a file can state. QUANTIZE must have a
 * quantised result, DEQUANTIZE a quantised input. Products with constant int8 or int4 weights with scales
 * are taken on floats too; any other operator only if no computed input or result is float (SHAPE may
 * read floats). An operator that keeps a state is taken if it is SVDF and with_state is true.
 */
bool may_take(const struct graph *g, const struct op *op, bool with_state);

/**
 * Return the name of an operator's kind: a custom operator's own name; otherwise its name in the format
 * (such as "ADD") if the delegate's table has it; "CUSTOM" or "DELEGATE" for these two codes; else "other".
 */
const char *op_name(const struct op *op);

/**
 * Return the multiplications of a node, as `weft info` counts them: 0 for operators other than
 * convolutions, products of matrices, recurrent layers and SVDF, and for a small product of constants, which the library computes when
 * it loads a network.
 */
uint64_t macs_of(const struct graph *g, const struct op *op);

/* An operator's options as a table of a .tflite file. */
struct file_options {
	int type;                  /* 0: it has none */
	int n;
	struct { int id, bytes; int64_t value; } field[8];
	const int32_t *list;       /* field 0 is this list instead */
	int n_list;
};

/**
 * Write an operator's options in the file's form to *o; an operator that has none has type 0. A list in
 * *o is the interpreter's memory.
 * @return 0; -ENOTSUP: the operator is custom, unknown or one that stays with the interpreter, the
 *         interpreter has not parsed its options, or the file states no padding; -EINVAL: a value that no
 *         operator has; *o is then incomplete
 */
WEFT_MUST_USE int options_of(const struct op *op, struct file_options *o);

/**
 * Write a part's nodes as a .tflite file.
 * @param open      The shapes of what the nodes make are open: they follow from those of the inputs.
 * @param[out] out  From malloc.
 * @return 0, -ENOMEM, -ENOTSUP with msg
 */
WEFT_MUST_USE int part_write(struct rt_context *rt, const struct part *p, bool open, uint8_t **out, size_t *len, char msg WEFT_ROOM(WEFT_MSG_LEN));

/** Write a part as part_write() does, and load it. @return as weft_net_load() */
WEFT_MUST_USE int part_load(struct rt_context *rt, const struct part *p, bool open, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));

/** Return whether the part has exactly these nodes, the interpreter's numbers, in this order. */
bool part_is(const struct part *p, const struct rt_ints *nodes);

/**
 * Find the parts of the graph that the library takes; they are left in d->ready.
 * @param[out] nodes  All their nodes, from malloc.
 * @return 0; negative errno with msg: the delegate cannot do its work
 */
WEFT_MUST_USE int find_parts(struct delegate *d, struct graph *g, struct rt_ints **nodes, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Report an error to the interpreter, as "Weft: LINE" with a line break: the Python packages put the runtime's next
 * message right behind it.
 */
void report_line(struct rt_context *rt, const char *line);

/* Close a part's session, and free its network and everything else of it; NULL is fine. */
void part_free(struct part *p);

/** Return the kernel that runs a part, for the context's replace(). */
struct rt_kernel part_kernel(void);

#endif

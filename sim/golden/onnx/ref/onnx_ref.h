/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX's operators as plain C, for what no accelerator runs: any type of number,
 * any rank, tensors without elements.
 *
 * The graph's operator ONNX_NODE is one of them. Its attribute holds the
 * operator's place in the table (table.c) and the node's attributes in the order
 * in which the table lists them. The importer asks for the shapes of the results
 * before anything is computed; operands that decide on a shape have to be
 * constants then.
 *
 * Integers are computed as int64 and cut down, floats as double and rounded once
 * for each step that a kernel's comment names. ONNX's pages define no order of
 * summation; these kernels sum in index order.
 *
 * Source: ONNX's operator pages, opset 1 to 28.
 */
#ifndef WEFT_GOLDEN_ONNX_REF_H
#define WEFT_GOLDEN_ONNX_REF_H

#include <weft/op.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ONNX_MAX_IN  65     /* as many as an operator of the graph may have */
#define WEFT_ONNX_MAX_OUT 64
#define WEFT_ONNX_ABSENT  INT32_MIN   /* an integer attribute that the node does not have */

/* How an attribute of a node is stored. */
enum weft_onnx_slot_type {
	WEFT_ONNX_INT = 'i',         /* one integer */
	WEFT_ONNX_FLOAT = 'f',       /* one float */
	WEFT_ONNX_ENUM = 'e',        /* a string, as its index among the choices */
	WEFT_ONNX_INTS = 'I',        /* a count, then WEFT_ONNX_LIST integers */
	WEFT_ONNX_FLOATS = 'F',      /* a count among the integers, then WEFT_ONNX_FLOAT_LIST floats */
	WEFT_ONNX_ENUMS = 'E',       /* a count, then WEFT_ONNX_LIST indices */
	WEFT_ONNX_STRING = 's',      /* an operand of uint8 behind the node's own */
	WEFT_ONNX_TENSOR = 't',      /* an operand behind the node's own: a tensor, or lists of numbers of any length */
};

#define WEFT_ONNX_LIST 8
#define WEFT_ONNX_FLOAT_LIST 6

struct weft_onnx_slot {
	char name[40];
	enum weft_onnx_slot_type type;
	int i, f;                    /* first places among the attribute's integers and floats */
	double otherwise;            /* where the node does not have it; ENUM: 0 */
	const char *choices;         /* ENUM: "a,b,c" and then a blank or the end; not terminated */
};

/** The operator's number, or -1. domain "" is ONNX's own. */
int weft_onnx_ref_find(const char *domain, const char *name);

/** Its name, "?" for a bad number. */
const char *weft_onnx_ref_name(int kind);

/** ONNX's number of a type (TensorProto.DataType), as attribute "to" of Cast has it; 0 if ONNX has no such type. */
int weft_onnx_ref_type_number(weft_dtype t);

/** Least and greatest count of operands that a node has, and the count of results. */
void weft_onnx_ref_arity(int kind, int *least, int *most, int *n_out);

/** Attribute k of the operator: 1, or 0 if there is none. */
int weft_onnx_ref_slot(int kind, int k, struct weft_onnx_slot *s);

/**
 * Types and shapes of the results.
 *
 * @param x    Operands that are there, in order; data only where constant.
 * @param y    Written: dtype, rank, dim; no data.
 * @param msg  WEFT_GOLDEN_MSG bytes; a line on failure.
 *
 * @return 0, or
 *   -EINVAL   operands or attributes break a rule
 *   -ENOTSUP  valid, but there is no kernel for it
 *   -EAGAIN   an operand without data decides on a shape; *which is its index in x
 *   -ENOMEM
 */
int weft_onnx_ref_shapes(const struct weft_attr_onnx_node *a, const weft_tensor *const *x, int n_x, weft_tensor *y, int n_y,
                         int *which, char *msg);

/**
 * Roughly how many steps it takes to compute the node, at least as many as any kernel takes: one for each element of
 * operands and results, more for kernels that read an element several times. With n_y 0, what weft_onnx_ref_shapes()
 * takes: 0 but for kernels that compare elements to know their result's shape.
 */
double weft_onnx_ref_work(const struct weft_attr_onnx_node *a, const weft_tensor *const *x, int n_x, const weft_tensor *y, int n_y);

/**
 * Compute. y[k].data has room for the shapes that weft_onnx_ref_shapes() gives;
 * other shapes are refused with -EINVAL.
 */
int weft_onnx_ref_run(const struct weft_attr_onnx_node *a, const weft_tensor *const *x, int n_x, weft_tensor *const *y, int n_y,
                      char *msg);

#ifdef __cplusplus
}
#endif
#endif

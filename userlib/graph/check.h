/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that make up weft_graph_check(). */
#ifndef WEFT_GRAPH_CHECK_H
#define WEFT_GRAPH_CHECK_H

#include "graph.h"

/* The most elements of one tensor; indices and byte offsets then fit 64 bits with ease. */
#define WEFT_GRAPH_MAX_ELEMENTS ((int64_t)INT32_MAX)

struct weft_check {
	const weft_graph *g;       /* the graph that is being checked: the outermost or one of its sub-graphs */
	const weft_graph *outer;   /* the outermost graph */
	int i_sub;                 /* the number of the sub-graph, or -1: the outermost */
	int i_op;                  /* the number of the operator that is being checked, or -1: none yet */
	const struct weft_gop *op; /* an operator to check instead of g->ops[i_op], or NULL */
	char *msg;                 /* the caller's room of WEFT_MSG bytes for one line */
	double *work;              /* steps that finding shapes may still take (weft_onnx_ref_work()), or NULL: any number */
};

/*
 * Writes one line into c->msg, at most WEFT_MSG bytes, cut if longer: "sub-graph N " if c->i_sub is not
 * negative, "operator N NAME: " if c->i_op is not negative (N is the operator's number in the source
 * file, or its index in the graph if it has no source), then the text of format. Always returns
 * -EINVAL.
 */
int weft_check_fail(const struct weft_check *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The following check the operator that c is at. All return 0, or -EINVAL with one line in c->msg. */

/*
 * Checks the attributes of the operator that c is at against the rows of attr_ops: first all limits,
 * then all zero points. An operator without rows passes. Returns 0, or -EINVAL with one line in c->msg
 * about the first fault.
 */
int weft_check_attr(const struct weft_check *c);

/*
 * Checks that input, weight, accumulator acc, bias and result of a convolution (operands 0 to 2 and
 * result 0) are a row of TOSA's table: int8 by int8 or int4 into int32; int16 by int8 into int48; any
 * float8 by any float8 into fp16; one float type by itself, accumulated in fp32 or, for fp16, in fp16.
 * Bias and result have the accumulator's type, but with float operands the operands' own. Returns 0, or
 * -EINVAL with one line in c->msg.
 */
int weft_check_conv_types(const struct weft_check *c, weft_dtype acc);

/*
 * Checks the numbers of operands and results against the table of arities, then types, shapes and attributes by
 * the operator's kind. An operator with one result and as many operands as its form with attributes as operands
 * has (weft_op_n_dynamic()) is checked as that form. The opcode and all tensor numbers must have been checked.
 * Returns 0, or -EINVAL or -ENOMEM with one line in c->msg.
 */
WEFT_MUST_USE int weft_check_op(const struct weft_check *c);

/*
 * Checks types, shapes and attributes of a TFL_ operator; the number of its operands must have been checked.
 * The result has to have operand 0's shape, but not that of TFL_RESIZE_BILINEAR, TFL_LSTM, TFL_DIV,
 * TFL_QUOTIENT and TFL_CUSTOM. Returns 0, or -EINVAL with one line in c->msg, also for an operator that is none
 * of these.
 */
WEFT_MUST_USE int weft_check_tfl(const struct weft_check *c);

/*
 * Checks types, shapes and attributes of a TOSA operator that check_op.c has no rules for (CONV3D, FFTs,
 * functions of one element, INTDIV, POW, bitwise and logical operators, comparisons, SELECT, REVERSE, TILE,
 * GATHER, SCATTER, RESIZE, control flow, variables); the number of operands must have been checked. Returns 0,
 * or -EINVAL with one line in c->msg, also for any other operator.
 */
WEFT_MUST_USE int weft_check_tosa_op(const struct weft_check *c);

/*
 * Check types, shapes and attributes of ONNX's extensions and PACT_DIV, of the other PACT_
 * operators, and of ONNX_NODE; the number of operands has been checked before.
 */
WEFT_MUST_USE int weft_check_onnx_op(const struct weft_check *c);
WEFT_MUST_USE int weft_check_pact(const struct weft_check *c);
WEFT_MUST_USE int weft_check_onnx_node(const struct weft_check *c);

#endif

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
};

/*
 * Writes one line into c->msg: sub-graph and operator that are being checked, then the text of
 * format. Returns -EINVAL.
 */
int weft_check_fail(const struct weft_check *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The following check the operator that c is at. All return 0, or -EINVAL with one line in c->msg. */

/*
 * Checks the single attributes: limits and zero points, as the generated tables state them. The
 * functions below call it once for each operator that has attributes.
 */
int weft_check_attr(const struct weft_check *c);

/* Checks the number of operands and results, their types and shapes, and the attributes. */
int weft_check_op(const struct weft_check *c);

/*
 * Checks types, shapes and attributes of a TFL_ operator; the number of its operands has been
 * checked before.
 */
int weft_check_tfl(const struct weft_check *c);

/*
 * Checks types, shapes and attributes of the TOSA operators in check_tosa.c, which mostly only TOSA files
 * have; the number of operands has been checked before.
 */
int weft_check_tosa_op(const struct weft_check *c);

/*
 * Check types, shapes and attributes of ONNX's extensions and PACT_DIV, of the other PACT_
 * operators, and of ONNX_NODE; the number of operands has been checked before.
 */
int weft_check_onnx_op(const struct weft_check *c);
int weft_check_pact(const struct weft_check *c);
int weft_check_onnx_node(const struct weft_check *c);

#endif

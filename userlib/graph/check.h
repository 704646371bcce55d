/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that make up weft_graph_check(). */
#ifndef WEFT_GRAPH_CHECK_H
#define WEFT_GRAPH_CHECK_H

#include "graph.h"

/* Elements of one tensor: indices and byte offsets then fit 64 bits with ease. */
#define WEFT_GRAPH_MAX_ELEMENTS ((int64_t)INT32_MAX)

struct weft_check {
	const weft_graph *g;       /* at hand: the outermost or one of its sub-graphs */
	const weft_graph *outer;
	int i_sub;                 /* which of them, or -1 */
	int i_op;                  /* operator at hand, or -1 */
	const struct weft_gop *op; /* what to take for it, or NULL: what stands there */
	char *msg;                 /* WEFT_MSG bytes */
};

/* One line into msg, naming the operator at hand; returns -EINVAL. */
int weft_check_fail(const struct weft_check *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Limits and zero points of the operator at hand; weft_check_op() and what it calls look at them once. */
int weft_check_attr(const struct weft_check *c);

/* Arity, types, shapes and attributes of the operator at hand. */
int weft_check_op(const struct weft_check *c);

/* The same for TensorFlow Lite's operators; arity has been checked. */
int weft_check_tfl(const struct weft_check *c);

/* The same for what the networks of this library's compiler do not contain: check_tosa.c. */
int weft_check_tosa_op(const struct weft_check *c);

/* The same for ONNX's extensions: check_onnx.c. */
int weft_check_onnx_op(const struct weft_check *c);
int weft_check_pact(const struct weft_check *c);          /* PACT_*, but PACT_DIV */
int weft_check_onnx_node(const struct weft_check *c);     /* ONNX_NODE */

#endif

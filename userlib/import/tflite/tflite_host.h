/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowers operators of a .tflite file to ONNX's reference kernels on the host (the
 * graph's ONNX_NODE).
 *
 * All functions that return int give a graph tensor, or a negative errno after
 * writing one line into l->msg. A negative number among operands is an earlier
 * failure and is returned as it is.
 */
#ifndef WEFT_IMPORT_TFLITE_HOST_H
#define WEFT_IMPORT_TFLITE_HOST_H

#include "sim/golden/golden.h"
#include "sim/golden/onnx/ref/onnx_ref.h"
#include "tflite_lower.h"

/* Returns the function that lowers operator code `code` on the host, or NULL if there is none. */
int (*tfl_host_lowering(int code))(struct tfl_lower *);
/* Returns the function that lowers operator code `code` of float16 by a kernel of that type, or NULL if there is none. */
int (*tfl_half_lowering(int code))(struct tfl_lower *);

/*
 * Lowers FLOOR_DIV and FLOOR_MOD of two operands of any type of number to ONNX's Div, Mod and what
 * corrects their rounding; a divisor of 0 gives what the kernel of ONNX's Div and Mod gives. Returns the
 * result's tensor, or a negative errno.
 */
WEFT_MUST_USE int tfl_host_floor_div(struct tfl_lower *l);

/*
 * Returns the attributes of an ONNX_NODE that is ONNX's operator `name` of the default domain, all
 * at their defaults and without operands yet.
 */
struct weft_attr_onnx_node tfl_node_attr(const char *name);
/*
 * Returns the attributes of an ONNX_NODE that is operator `name` of `domain`, all at their defaults and
 * without operands yet; options without a default are absent. Its kind is negative if there is no such
 * operator.
 */
struct weft_attr_onnx_node tfl_node_of(const char *domain, const char *name);

/*
 * Set a's attribute `name` to an integer (or the number of a choice), a float, or a list of n <= 8
 * integers. They do nothing if the operator has no such attribute.
 */
void tfl_node_int(struct weft_attr_onnx_node *a, const char *name, int v);
void tfl_node_float(struct weft_attr_onnx_node *a, const char *name, float v);
void tfl_node_ints(struct weft_attr_onnx_node *a, const char *name, int n, const int64_t *v);

/*
 * Emits the operator `of` on the n graph tensors `in`; the kernel says the result's type and shape. With
 * last it is the result of the file's operator at hand and has to be as the file says. Returns the
 * result's tensor, -ENOTSUP if the shape depends on an operand that is not constant, or the errno with
 * which the kernel refuses the operands; a negative operand is returned as it is.
 */
WEFT_MUST_USE int tfl_node(struct tfl_lower *l, const struct weft_attr_onnx_node *of, const int *in, int n, bool last);

/* The state and the cell state of a recurrent layer. */
struct tfl_states {
	int in[2], id[2];          /* their graph tensors before the run, and their variables; -1: the file marks no such operand as a variable */
	bool time_major, reverse;  /* where in the result the last step is: along which dimension, and first instead of last */
};
/* Their types and dimensions, [1,batch,n[k]], and each byte of the state before the first run; the cell state is 0 then. */
struct tfl_state_shape { weft_dtype type[2]; int64_t batch, n[2]; int first; };
/*
 * tflite_sequence.c: emits what the states of the recurrent layer at hand hold when it runs. operand[0] is the operand that is its
 * state, operand[1] its cell state, or -1. Sets s->in to their tensors and s->id to their variables; both are -1 for an operand that
 * is absent or that the file does not mark as a variable. The other fields of *s stay as they are. Returns 0, -EINVAL if a dimension
 * is out of range, or another negative errno.
 */
WEFT_MUST_USE int tfl_find_states(struct tfl_lower *l, const int operand[2], const struct tfl_state_shape *shape, struct tfl_states *s);
/*
 * Emits the recurrent layer `a` on n operands, and that its states' variables, s->id, keep what it leaves in them for the next run.
 * With last the result is the operator's own. Returns the result's tensor, or a negative errno.
 */
WEFT_MUST_USE int tfl_node_recurrent(struct tfl_lower *l, const struct weft_attr_onnx_node *a, const int *in, int n, const struct tfl_states *s,
                                     bool last);

/* Emits operator `name` with its attributes at their defaults, otherwise as tfl_node(). */
WEFT_MUST_USE int tfl_plain(struct tfl_lower *l, const char *name, const int *in, int n, bool last);

/* Emits x converted to type t, a type of numbers or bool; integers keep only the low bits. */
WEFT_MUST_USE int tfl_node_cast(struct tfl_lower *l, int x, weft_dtype t, bool last);

/*
 * tflite_any.c: the function that lowers the operator at hand if its operands are of a type that its own lowering does not take, but
 * ONNX's operator on the host does; else NULL.
 */
int (*tfl_any_lowering(struct tfl_lower *l))(struct tfl_lower *);

/* tflite_conv3d.c: lowers CONV_3D and CONV_3D_TRANSPOSE of float32. */
WEFT_MUST_USE int tfl_lower_conv_3d(struct tfl_lower *l);

/* Emits x with its axes in another order: axis i of the result is axis perm[i] of x. */
WEFT_MUST_USE int tfl_node_transposed(struct tfl_lower *l, int x, const int *perm, bool last);

/* tflite_segment.c: the function that lowers a segment operator or DILATE with code `code`, or NULL. */
int (*tfl_segment_lowering(int code))(struct tfl_lower *);

/* tflite_stablehlo.c: the function that lowers BITCAST, EMBEDDING_LOOKUP_SPARSE, gathers, scatters and windows with code `code`, or NULL. */
int (*tfl_stablehlo_lowering(int code))(struct tfl_lower *);

/* tflite_sequence.c: lowers recurrent layers of float32. */
WEFT_MUST_USE int tfl_lower_sequence(struct tfl_lower *l);
/*
 * tflite_lstm8.c: lowers LSTM or UNIDIRECTIONAL_SEQUENCE_LSTM of int8. Returns the result's tensor, -ENOTSUP for forms without
 * a kernel, -EINVAL for operands that do not fit, or another negative errno.
 */
WEFT_MUST_USE int tfl_lower_lstm8(struct tfl_lower *l);

/*
 * tflite_lstm_cell.c: lowers LSTM of kernel type BASIC. Returns the first result's tensor, -ENOTSUP for a scale of the cell state without a
 * kernel, -EINVAL for operands that do not fit, or another negative errno.
 */
WEFT_MUST_USE int tfl_lower_lstm_cell(struct tfl_lower *l);

/* Emits x, by an IDENTITY, as the result of the operator at hand. */
WEFT_MUST_USE int tfl_node_own(struct tfl_lower *l, int x);

/*
 * tflite_late.c: lower SLICE and STRIDED_SLICE whose starts only the run knows, but not the sizes.
 */
WEFT_MUST_USE int tfl_lower_slice_at(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_strided_slice_at(struct tfl_lower *l);

#endif

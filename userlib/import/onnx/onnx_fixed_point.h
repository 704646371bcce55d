/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-point arithmetic on int32 tensors, for lowerings that are within one step of the exact codes
 * (onnx_norm_codes.c, onnx_wide_codes.c). Each function returns a graph tensor, or a negative errno; a negative
 * operand is returned as it is.
 */
#ifndef WEFT_IMPORT_ONNX_FIXED_POINT_H
#define WEFT_IMPORT_ONNX_FIXED_POINT_H

#include "onnx_qdq.h"

#define OX_ROOT_TOP 32767      /* the entry of ox_root_table() for 2^14, the least argument */

/*
 * Returns x, int32 or int8 with zero point 0, rescaled to type `to` by the nearest factor to real, ties rounded up,
 * with y_zp added; `most` is about the greatest magnitude of x. -ENOTSUP: real has no RESCALE.
 */
WEFT_MUST_USE int ox_rescaled(struct ox *l, int x, weft_dtype to, double real, double most, int32_t y_zp);
WEFT_MUST_USE int ox_with(struct ox *l, weft_opcode op, int x, double v);             /* op of int32 x and the number v */
WEFT_MUST_USE int ox_right(struct ox *l, int x, int n);                               /* x / 2^n, rounded half up */
WEFT_MUST_USE int ox_right_by(struct ox *l, int x, int n, bool round);                /* x / 2^n of tensors, rounded half up or down */
WEFT_MUST_USE int ox_product(struct ox *l, int a, int b, int shift);                  /* a * b / 2^shift, rounded half up; 64 bits between */
WEFT_MUST_USE int ox_reciprocals(struct ox *l, int x);                                /* 2^59 / x, of x from 2^30 - 1 on */
WEFT_MUST_USE int ox_wide(struct ox *l, int x);                                       /* int8 or int16 x as int32 */
int ox_root_table(struct ox *l);                                        /* TABLE's constant: OX_ROOT_TOP sqrt(2^14 / t) */
/* TABLE of int32 x, from -32768 to 32767, by an int16 constant of 513 entries: 128 times the entry. */
WEFT_MUST_USE int ox_looked_up(struct ox *l, int x, int table);
/* Sums of int32 x along the last dimension, which stays with length 1. */
WEFT_MUST_USE int ox_row_sums(struct ox *l, int x);
/* Sets *most to the largest magnitude of the constant floats v. Returns their number, or -1 if v is something else. */
WEFT_MUST_USE int64_t ox_most_of_constant(struct ox *l, struct ox_value *v, double *most);
/* An int32 constant [1,...,n,...,1] of constant float32 v (NULL: 0; one element is repeated), times `by`, rounded; n elements along axis. */
int ox_vector(struct ox *l, struct ox_value *v, double by, int rank, int axis, int64_t n);
int ox_scaled_constant(struct ox *l, struct ox_value *v, double by);    /* the same with v's own shape */

/*
 * Rows that a node normalises: n elements each, along the last dimension of dim[]; results are multiplied by gamma, which lies
 * along `axis` of scaled[], another shape of the same elements.
 */
struct ox_rows { int64_t n; int rank, axis; int64_t dim[WEFT_MAX_RANK], scaled[WEFT_MAX_RANK]; };

/* onnx_wide_codes.c: Softmax over the last axis; normalised rows of 16-bit codes x. */
WEFT_MUST_USE int ox_softmax_rows(struct ox *l, int x, double step, const struct ox_q *q);
WEFT_MUST_USE int ox_norm_rows_wide(struct ox *l, const onnx_node *n, const struct ox_side *x, const struct ox_rows *rows, const struct ox_q *q,
                                    double epsilon, double gamma, double beta);

#endif

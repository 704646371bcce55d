/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float rows of TOSA's operators. The operators' files in sim/golden check the
 * call and hand float types on to these.
 *
 * Arithmetic is on fp64, exact or nearly so, and rounded once to the type: to
 * nearest even, subnormals kept, NaN canonical. Where a row names an
 * accumulator type, the sum is rounded once to that type before it is
 * converted further ("same or higher precision" is allowed inside). float8
 * products are summed as float/dot.h says.
 */
#ifndef WEFT_GOLDEN_FLOAT_OPS_H
#define WEFT_GOLDEN_FLOAT_OPS_H

#include "../ops.h"

/* CONV2D, CONV3D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D, MATMUL: calls already checked. */
int weft_float_conv2d(const struct weft_call *c);
int weft_float_conv3d(const struct weft_call *c);
int weft_float_depthwise_conv2d(const struct weft_call *c);
int weft_float_transpose_conv2d(const struct weft_call *c);
int weft_float_matmul(const struct weft_call *c);

/* Likewise checked: types, shapes, attributes. */
int weft_float_avg_pool2d(const struct weft_call *c);
int weft_float_max_pool2d(const struct weft_call *c);
int weft_float_clamp(const struct weft_call *c);
int weft_float_reduce(const struct weft_call *c);   /* ARGMAX, too */
int weft_float_binary(const struct weft_call *c);   /* ADD, SUB, MUL, POW, MAXIMUM, MINIMUM, comparisons */
int weft_float_unary(const struct weft_call *c);    /* ABS ... TANH */
int weft_float_resize(const struct weft_call *c);   /* BILINEAR */

/* Larger (or smaller) of two under a NaN mode: TOSA's apply_max_s, apply_min_s. */
double weft_float_max(double a, double b, weft_nan_mode nan);
double weft_float_min(double a, double b, weft_nan_mode nan);

#endif

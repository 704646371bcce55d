/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of 8-bit products, and who needs them. */
#ifndef WEFT_IMPORT_ONNX_INTEGER_H
#define WEFT_IMPORT_ONNX_INTEGER_H

#include "onnx_lower.h"

/* Absent zero points are NULL and mean 0; the bias is int32 or NULL. */
struct ox_product {
	struct ox_value *x, *x_zp, *w, *w_zp, *bias;
	int x_axis;                /* along which x_zp runs, counted from the end; matrices only */
};

bool ox_is_8_bit(const struct ox_value *v);

/* Constant weights [N,K] for x's elements in the order in which its tensor has them (x->flat). */
int ox_turned_weights(struct ox *l, const struct ox_value *x, int w);

/* Weights without zero points, as int16 activations need them. */
bool ox_symmetric(struct ox *l, const struct ox_product *p);

/* int32 sums [N,spatial...,OC]; *most: what they cannot exceed in magnitude. c has windows and group. */
int ox_conv_product(struct ox *l, const struct ox_product *p, struct ox_conv_call *c, int64_t *most);

/* The same of a ConvTranspose of one group in two dimensions, without dilation. */
int ox_transpose_product(struct ox *l, const struct ox_product *p, int64_t *most);

/* int32 sums of [...,M,K] by [...,K,N]. */
int ox_matmul_product(struct ox *l, const struct ox_product *p, int64_t *most);

#endif

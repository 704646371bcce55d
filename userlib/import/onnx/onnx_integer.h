/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products of integers, for convolutions and matrix products. */
#ifndef WEFT_IMPORT_ONNX_INTEGER_H
#define WEFT_IMPORT_ONNX_INTEGER_H

#include "onnx_lower.h"

/* The operands of a product: x by w. A zero point that is NULL means 0; the bias is int32 or NULL. */
struct ox_product {
	struct ox_value *x, *x_zp, *w, *w_zp, *bias;
	int x_axis;                /* matrices only: the axis, counted from the end, along which x_zp runs */
	bool kernel;               /* ONNX Runtime has a kernel of integers for the operator as the file has it, which may saturate (onnx_pairs.c) */
};

bool ox_is_8_bit(const struct ox_value *v);         /* whether v is int8 or uint8; false for NULL */
bool ox_is_16_bit(const struct ox_value *v);        /* whether v is int16 or uint16; false for NULL */

/*
 * Returns constant weights w [N,K] with columns in the order in which the tensor behind x (x->flat) has
 * its elements.
 */
WEFT_MUST_USE int ox_turned_weights(struct ox *l, const struct ox_value *x, int w);

/*
 * Says whether p's weights of 8 bits are constant and int8 holds them, all with one zero point or less their zero points,
 * which run along axis, counted from the end. Activations of 16 bits need that.
 */
WEFT_MUST_USE bool ox_int8_holds(struct ox *l, const struct ox_product *p, int axis);

/* ---- onnx_pairs.c ---- */
/*
 * Return 1 if sums of p saturate in pairs, as the options ask for that, 0 if not, or a negative errno: matrices of [...,K] by [...,K,N], and
 * convolutions of so many groups.
 */
WEFT_MUST_USE int ox_matmul_saturates(struct ox *l, const struct ox_product *p);
WEFT_MUST_USE int ox_conv_saturates(struct ox *l, const struct ox_product *p, int64_t group);
/* Return these sums without the bias, int32: matrices, and the QLinearConv at hand as [N,spatial...,OC]. */
WEFT_MUST_USE int ox_matmul_in_pairs(struct ox *l, const struct ox_product *p);
WEFT_MUST_USE int ox_conv_in_pairs(struct ox *l, const struct ox_product *p);
/* Returns the largest magnitude that one product of p can add to a sum, if x has 8 or 16 bits and w has 8. */
int64_t ox_term_most(const struct ox *l, const struct ox_product *p);

/* ---- onnx_integer.c ---- */
/* Each of these returns the sums, int32 (int48 if x is int16 and they may not fit). */
/* Convolution [N,spatial...,OC]; c has windows and group, the rest of it is filled in. */
WEFT_MUST_USE int ox_conv_product(struct ox *l, const struct ox_product *p, struct ox_conv_call *c);

/*
 * The ConvTranspose at hand, of one group in two dimensions, without dilation; 0 if x has 16 bits with a zero point other than 0
 * and some sum may exceed int32.
 */
WEFT_MUST_USE int ox_transpose_product(struct ox *l, const struct ox_product *p);

/* Matrix product of [...,M,K] by [...,K,N]. */
WEFT_MUST_USE int ox_matmul_product(struct ox *l, const struct ox_product *p);

/*
 * What no sum of these products can exceed in magnitude if x has 8 or 16 bits and w has 8.
 * Call them behind the product, which checks p. Dimension number `out` of the weights is the output channels.
 */
int64_t ox_conv_most(struct ox *l, const struct ox_product *p, int out);
int64_t ox_matmul_most(const struct ox *l, const struct ox_product *p);

#endif

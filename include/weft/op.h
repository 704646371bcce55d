/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of the graph: TOSA 1.0's, by their names there, and the few
 * extensions that a framework needs and TOSA cannot say exactly.
 *
 * Inputs are listed per operator in the order of TOSA's argument tables,
 * leaving out what is an attribute here. Shapes and zero points that TOSA
 * passes as constant operands are attributes (compile-time constants in 1.0).
 */
#ifndef WEFT_OP_H
#define WEFT_OP_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_opcode {
	WEFT_OP_NONE = 0,
	/* tensor operators */
	WEFT_OP_ARGMAX,            /* in: x                      attr: axis   */
	WEFT_OP_AVG_POOL2D,        /* in: x [N,H,W,C]            attr: pool   */
	WEFT_OP_CONV2D,            /* in: x, w [OC,KH,KW,IC], bias [OC or 1]  attr: conv */
	WEFT_OP_DEPTHWISE_CONV2D,  /* in: x, w [KH,KW,C,M], bias [C*M or 1]   attr: conv */
	WEFT_OP_MATMUL,            /* in: a [N,H,C], b [N,C,W]   attr: matmul */
	WEFT_OP_MAX_POOL2D,        /* in: x                      attr: pool   */
	WEFT_OP_TRANSPOSE_CONV2D,
	/* activation */
	WEFT_OP_CLAMP,             /* in: x                      attr: clamp  */
	/* elementwise, broadcasting as TOSA defines it */
	WEFT_OP_ADD,               /* in: a, b */
	WEFT_OP_SUB,
	WEFT_OP_MUL,               /* in: a, b                   attr: mul    */
	WEFT_OP_MAXIMUM,
	WEFT_OP_MINIMUM,
	WEFT_OP_TABLE,             /* in: x, table [256 int8 | 513 int16] */
	/* reduction */
	WEFT_OP_REDUCE_SUM,        /* in: x                      attr: axis   */
	WEFT_OP_REDUCE_MAX,
	WEFT_OP_REDUCE_MIN,
	/* data layout */
	WEFT_OP_CONCAT,            /* in: 1..n                   attr: axis   */
	WEFT_OP_PAD,               /* in: x                      attr: pad    */
	WEFT_OP_RESHAPE,           /* in: x; shape is the output's            */
	WEFT_OP_SLICE,             /* in: x                      attr: slice  */
	WEFT_OP_TRANSPOSE,         /* in: x                      attr: perm   */
	/* conversion */
	WEFT_OP_CAST,              /* in: x; types are the tensors'           */
	WEFT_OP_RESCALE,           /* in: x, multiplier [1 or C] int32 (int16 when !scale32),
	                            *     shift [1 or C] int8    attr: rescale */
	WEFT_OP_CONST,             /* no inputs: never executed, data is the tensor's */
	WEFT_OP_IDENTITY,
	/*
	 * Extensions (include/spec/ext_ops.toml says what they mean).
	 */
	WEFT_OP_TFL_SOFTMAX,       /* in: x int8|int16; last axis attr: tfl_softmax */
	WEFT_OP_TFL_LOGISTIC,      /* in: x int8|int16           attr: quant  */
	WEFT_OP_TFL_QUANTIZE,      /* in: x fp32 -> int8|uint8|int16    attr: quant (out_*) */
	WEFT_OP_TFL_DEQUANTIZE,    /* in: x int8|uint8|int16 -> fp32    attr: quant (in_*)  */
	WEFT_N_OPS
} weft_opcode;

typedef enum weft_rounding {
	WEFT_SINGLE_ROUND = 1,
	WEFT_INEXACT_ROUND = 2,
	WEFT_DOUBLE_ROUND = 3,
} weft_rounding;

struct weft_attr_conv {
	int32_t pad[4];            /* top, bottom, left, right; elements, >= 0 */
	int32_t stride[2];         /* y, x; >= 1 */
	int32_t dilation[2];       /* y, x; >= 1 */
	int32_t x_zp, w_zp;        /* within the operand's type */
	weft_dtype acc;            /* WEFT_INT32, WEFT_INT48, WEFT_FP16, WEFT_FP32 */
};

struct weft_attr_pool {
	int32_t kernel[2], stride[2];  /* y, x */
	int32_t pad[4];                /* top, bottom, left, right; < kernel */
	int32_t x_zp, y_zp;            /* AVG_POOL2D only */
	weft_dtype acc;                /* AVG_POOL2D only */
};

struct weft_attr_rescale {
	bool scale32;              /* 32-bit multiplier; else 16-bit */
	weft_rounding rounding;
	bool per_channel;          /* multiplier and shift have one element per last-axis index */
	bool x_unsigned, y_unsigned;
	int32_t x_zp, y_zp;        /* as the type is read: 0..255 for unsigned bytes */
};

struct weft_attr_clamp { int64_t min, max; double fmin, fmax; };
struct weft_attr_axis { int32_t axis; };
struct weft_attr_mul { int32_t shift; };
struct weft_attr_matmul { int32_t a_zp, b_zp; };
/* value: integers, and the bit pattern of floats below 32 bits; fvalue: float32 and float64. */
struct weft_attr_pad { int32_t before[WEFT_MAX_RANK], after[WEFT_MAX_RANK]; int64_t value; double fvalue; };
struct weft_attr_slice { int64_t start[WEFT_MAX_RANK]; };  /* size is the output's shape */
struct weft_attr_perm { int32_t perm[WEFT_MAX_RANK]; };
struct weft_attr_tfl_softmax { float x_scale, beta; };
struct weft_attr_quant { float x_scale; int32_t x_zp; float y_scale; int32_t y_zp; };

typedef union weft_attr {
	struct weft_attr_conv conv;
	struct weft_attr_pool pool;
	struct weft_attr_rescale rescale;
	struct weft_attr_clamp clamp;
	struct weft_attr_axis axis;
	struct weft_attr_mul mul;
	struct weft_attr_matmul matmul;
	struct weft_attr_pad pad;
	struct weft_attr_slice slice;
	struct weft_attr_perm perm;
	struct weft_attr_tfl_softmax tfl_softmax;
	struct weft_attr_quant quant;
} weft_attr;

/** TOSA's (or the extension's) name in capitals, "?" for a bad code. */
const char *weft_op_name(weft_opcode op);

#ifdef __cplusplus
}
#endif
#endif

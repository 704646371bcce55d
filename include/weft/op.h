/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of the graph: TOSA 1.0's, by their names there, and extensions for what frameworks compute
 * and TOSA cannot express exactly.
 *
 * The comments list each operator's operands in the order of TOSA's argument tables, without those that
 * are attributes here, and behind "attr" the member of weft_attr with its attributes. Shapes and zero
 * points that TOSA passes as constant operands are attributes (compile-time constants in 1.0). The functions are thread-safe and touch nothing but their arguments.
 */
#ifndef WEFT_OP_H
#define WEFT_OP_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/api.h>
#include <weft/gen/attr.h>  /* weft_attr, the union of all operators' attributes */
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
	WEFT_OP_CONV3D,            /* in: x [N,D,H,W,C], w [OC,KD,KH,KW,IC], bias [OC or 1]  attr: conv3d */
	WEFT_OP_DEPTHWISE_CONV2D,  /* in: x, w [KH,KW,C,M], bias [C*M or 1]   attr: conv */
	WEFT_OP_FFT2D,             /* in: re [N,H,W], im; out: re, im         attr: fft  */
	WEFT_OP_MATMUL,            /* in: a [N,H,C], b [N,C,W]   attr: matmul */
	WEFT_OP_MAX_POOL2D,        /* in: x                      attr: pool   */
	WEFT_OP_RFFT2D,            /* in: x [N,H,W]; out: re [N,H,W/2+1], im  attr: fft  */
	WEFT_OP_TRANSPOSE_CONV2D,  /* in: x, w [OC,KH,KW,IC], bias [OC or 1]  attr: conv; pad is out_pad, dilation 1 */
	/* activation */
	WEFT_OP_CLAMP,             /* in: x                      attr: clamp  */
	WEFT_OP_ERF,
	WEFT_OP_SIGMOID,
	WEFT_OP_TANH,
	/* elementwise on two, broadcasting as TOSA defines it */
	WEFT_OP_ADD,               /* in: a, b */
	WEFT_OP_ARITHMETIC_RIGHT_SHIFT,  /* in: a, b             attr: shift  */
	WEFT_OP_BITWISE_AND,
	WEFT_OP_BITWISE_OR,
	WEFT_OP_BITWISE_XOR,
	WEFT_OP_INTDIV,
	WEFT_OP_LOGICAL_AND,
	WEFT_OP_LOGICAL_LEFT_SHIFT,
	WEFT_OP_LOGICAL_RIGHT_SHIFT,
	WEFT_OP_LOGICAL_OR,
	WEFT_OP_LOGICAL_XOR,
	WEFT_OP_MAXIMUM,           /* in: a, b                   attr: nan    */
	WEFT_OP_MINIMUM,           /* in: a, b                   attr: nan    */
	WEFT_OP_MUL,               /* in: a, b                   attr: mul    */
	WEFT_OP_POW,
	WEFT_OP_SUB,
	WEFT_OP_TABLE,             /* in: x, table [256 int8 | 513 int16] */
	/* elementwise on one */
	WEFT_OP_ABS,               /* in: x */
	WEFT_OP_BITWISE_NOT,
	WEFT_OP_CEIL,
	WEFT_OP_CLZ,
	WEFT_OP_COS,
	WEFT_OP_EXP,
	WEFT_OP_FLOOR,
	WEFT_OP_LOG,
	WEFT_OP_LOGICAL_NOT,
	WEFT_OP_NEGATE,            /* in: x                      attr: negate */
	WEFT_OP_RECIPROCAL,
	WEFT_OP_RSQRT,
	WEFT_OP_SIN,
	/* elementwise on three */
	WEFT_OP_SELECT,            /* in: condition bool, a, b */
	/* comparison: result bool */
	WEFT_OP_EQUAL,             /* in: a, b */
	WEFT_OP_GREATER,
	WEFT_OP_GREATER_EQUAL,
	/* reduction */
	WEFT_OP_REDUCE_ALL,        /* in: x                      attr: axis   */
	WEFT_OP_REDUCE_ANY,
	WEFT_OP_REDUCE_MAX,
	WEFT_OP_REDUCE_MIN,
	WEFT_OP_REDUCE_PRODUCT,
	WEFT_OP_REDUCE_SUM,
	/* data layout */
	WEFT_OP_CONCAT,            /* in: 1..n                   attr: axis   */
	WEFT_OP_PAD,               /* in: x                      attr: pad    */
	WEFT_OP_RESHAPE,           /* in: x; shape is the output's            */
	WEFT_OP_REVERSE,           /* in: x                      attr: axis   */
	WEFT_OP_SLICE,             /* in: x                      attr: slice  */
	WEFT_OP_TILE,              /* in: x                      attr: tile   */
	WEFT_OP_TRANSPOSE,         /* in: x                      attr: perm   */
	/* gather and scatter */
	WEFT_OP_GATHER,            /* in: values [N,K,C], indices [N,W] int32; out: [N,W,C] */
	WEFT_OP_SCATTER,           /* in: values [N,K,C], indices [N,W] int32, input [N,W,C]; out: [N,K,C] */
	/* image */
	WEFT_OP_RESIZE,            /* in: x [N,H,W,C]            attr: resize */
	/* conversion */
	WEFT_OP_CAST,              /* in: x; types are the tensors'           */
	WEFT_OP_RESCALE,           /* in: x, multiplier [1 or C] int32 (int16 when !scale32),
	                            *     shift [1 or C] int8    attr: rescale */
	/* data nodes */
	WEFT_OP_CONST,             /* no inputs: never executed, data is the tensor's */
	WEFT_OP_IDENTITY,
	WEFT_OP_CUSTOM,            /* refused everywhere */
	/* control flow: run by who runs the graph, not by golden */
	WEFT_OP_COND_IF,           /* in: condition bool, then n; out: m      attr: flow (then, else) */
	WEFT_OP_WHILE_LOOP,        /* in: n; out: n                           attr: flow (condition, body) */
	/* variables: likewise */
	WEFT_OP_VARIABLE,          /* declaration; import resolves it, no graph holds one */
	WEFT_OP_VARIABLE_WRITE,    /* in: x                      attr: variable */
	WEFT_OP_VARIABLE_READ,     /* out: y                     attr: variable */
	/* shape */
	WEFT_OP_CONST_SHAPE,       /* import resolves it, no graph holds one */
	/*
	 * Extensions; include/spec/ext_ops.toml says what they mean.
	 */
	WEFT_OP_TFL_SOFTMAX,       /* in: x int8|int16; last axis attr: tfl_softmax */
	WEFT_OP_TFL_LOGISTIC,      /* in: x int8|int16           attr: quant  */
	WEFT_OP_TFL_QUANTIZE,      /* in: x fp32 -> int8|uint8|int16    attr: quant (out_*) */
	WEFT_OP_TFL_DEQUANTIZE,    /* in: x int8|uint8|int16 -> fp32    attr: quant (in_*)  */
	WEFT_OP_TFL_TANH,          /* in: x int16 -> int16       attr: quant (x_*) */
	WEFT_OP_TFL_RESIZE_BILINEAR,  /* in: x [N,H,W,C] int8|int16  attr: tfl_resize */
	WEFT_OP_TFL_LSTM,          /* in: x [N,T,I], 4 wx [S,I], 4 wh [S,S] int8, 4 bias [S] int32;
	                            *     gates in the order input, forget, cell, output  attr: tfl_lstm */
	WEFT_OP_TFL_CAST,          /* in: x; as C converts, floats to integers saturating */
	WEFT_OP_TFL_SQRT,          /* in: x fp32; correctly rounded */
	WEFT_OP_TFL_DIV,           /* in: a, b fp32, broadcasting; correctly rounded */
	/*
	 * ONNX's arithmetic where TOSA has no operator with the same result;
	 * sim/golden/onnx/onnx.h defines it. Ranks equal; operands broadcast to the result.
	 */
	WEFT_OP_ONNX_REQUANT,      /* in: acc int32, a_scale, b_scale, y_scale, y_zp; or also a count
	                            * to divide by, int32 1..65535; out: 8-bit */
	WEFT_OP_ONNX_QUANTIZE,     /* in: x, scale, or x, scale, zp  attr: onnx (saturate, type: of the quotient) */
	WEFT_OP_ONNX_DEQUANTIZE,   /* in: x, scale, or x, scale, zp  */
	WEFT_OP_ONNX_CAST,         /* in: x                      attr: onnx (saturate, scale_round) */
	WEFT_OP_ONNX_FAKE_CONVERT, /* in: x, scale, or x, scale, shift  attr: onnx (type) */
	WEFT_OP_ONNX_DIV,          /* in: a, b; floats, rounded once */
	/* Deeploy's and quantlib's RequantShift; ranks equal, operands broadcast to x. */
	WEFT_OP_ONNX_REQUANT_SHIFT,     /* in: x, mul, add int32; out: int32  attr: requant_shift */
	/* PopXL's; float8 of its two encodings, log2_scale int32, one element, -32..31; out: fp16 */
	WEFT_OP_POPXL_CONV_POW2SCALED,    /* in: x [N,H,W,C], w [OC,KH,KW,C], log2_scale  attr: conv */
	WEFT_OP_POPXL_MATMUL_POW2SCALED,  /* in: a [N,H,C], b [N,C,W], log2_scale */
	/* Deeploy's and quantlib's, int32; the last three over the last axis (sim/golden/pact.c) */
	WEFT_OP_PACT_DIV,          /* in: x, d; ranks equal, operands broadcast   attr: pact_div */
	WEFT_OP_PACT_SOFTMAX,      /* in: x                      attr: pact_softmax */
	WEFT_OP_PACT_ITA_MAX,      /* in: x                      attr: pact_ita_max */
	WEFT_OP_PACT_LAYER_NORM,   /* in: x [...,C], weight, bias [C or 1]  attr: requant_shift */
	/* TensorFlow Lite's, int8, over the last axis (sim/golden/tfl/tfl_normal.c) */
	WEFT_OP_TFL_L2_NORMALIZATION,  /* in: x                  attr: tfl_norm */
	WEFT_OP_TFL_LOG_SOFTMAX,   /* in: x                      attr: tfl_softmax (x_scale) */
	/* One of ONNX's operators as its page says, of any types (sim/golden/onnx); any number of results */
	WEFT_OP_ONNX_NODE,         /* in: operands that are there attr: onnx_node */
	WEFT_OP_TFL_REQUANTIZE,    /* in: x int32|int48 [...,C], w_scale fp32 [1 or C]  attr: quant (x_scale, y_*) */
	WEFT_OP_TFL_HYBRID,        /* in: x fp32 [B,N]; out: int16 [B,N], scale fp32 [B,1]  attr: tfl_hybrid */
	WEFT_OP_TFL_QUOTIENT,      /* in: a, b int8|int16, broadcasting  attr: tfl_quotient */
	WEFT_OP_TFL_FUNCTION,      /* in: x fp32                 attr: tfl_function */
	WEFT_OP_TFL_CUSTOM,        /* in: name, options int8 [n], a zero behind each; operands that are there  attr: tfl_custom */
	WEFT_N_OPS
} weft_opcode;

/* TFL_FUNCTION's attribute. */
enum weft_tfl_function {
	WEFT_TFL_EXP, WEFT_TFL_LOG, WEFT_TFL_TANH, WEFT_TFL_LOGISTIC, WEFT_TFL_RSQRT, WEFT_TFL_SIN, WEFT_TFL_COS, WEFT_TFL_ELU,
	WEFT_N_TFL_FUNCTIONS
};

/** Returns the name of an operator in capitals, TOSA's or the extension's; "?" for a number that is none. */
WEFT_API const char *weft_op_name(weft_opcode op);

/**
 * Returns the number of operands in the form of an operator whose compile-time constants are operands
 * (TOSA's EXT-DYNAMIC): first its own operands, then all these arguments in TOSA's order, shapes as
 * int64. The attributes for which they stand are not used then. 0: the operator has no such form.
 */
WEFT_API int weft_op_n_dynamic(weft_opcode op);

/** Returns how many of these are the operator's own operands; 0 if weft_op_n_dynamic() is 0. */
WEFT_API int weft_op_n_own(weft_opcode op);

#ifdef __cplusplus
}
#endif
#endif

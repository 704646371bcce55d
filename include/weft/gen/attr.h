/* Generated from include/spec/attr.toml by tools/gen.py; edit that and run `make gen`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GEN_ATTR_H
#define WEFT_GEN_ATTR_H

#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>
#include <stdbool.h>

#include <weft/tensor.h>


#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_rounding {
	WEFT_SINGLE_ROUND = 1,
	WEFT_INEXACT_ROUND = 2,
	WEFT_DOUBLE_ROUND = 3,
	WEFT_EVEN_ROUND = 4,    /* ties to even: not TOSA's */
} weft_rounding;

typedef enum weft_nan_mode {
	WEFT_NAN_DEFAULT = 0,    /* as PROPAGATE */
	WEFT_NAN_PROPAGATE = 1,
	WEFT_NAN_IGNORE = 2,
	WEFT_NAN_COMPARE = 3,    /* fp32 alone; as C compares (ARGMAX: as LiteRT does): not TOSA's */
} weft_nan_mode;

typedef enum weft_resize_mode {
	WEFT_RESIZE_NEAREST = 1,
	WEFT_RESIZE_BILINEAR = 2,
} weft_resize_mode;

struct weft_graph;
struct weft_custom_op;

/* Times multiplier * 2^(shift - 31), in two roundings. */
struct weft_tfl_factor { int32_t multiplier, shift; };

/* CONV2D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D */
struct weft_attr_conv {
	int32_t pad[4];                /* top, bottom, left, right; elements, >= 0 */
	int32_t stride[2];             /* y, x; >= 1 */
	int32_t dilation[2];           /* y, x; >= 1 */
	int32_t x_zp;                  /* within the operand's type */
	int32_t w_zp;                  /* within the operand's type */
	weft_dtype acc;                /* WEFT_INT32, WEFT_INT48, WEFT_FP16, WEFT_FP32 */
	bool local_bound;              /* how a float result may be judged; no effect on it */
	int32_t log2_scale;            /* float8: products times 2^log2_scale, -32..31; TOSA: 0 */
	bool chain;                    /* float32: each product and sum rounded, in TOSA's written order, as TensorFlow Lite does */
};

/* CONV3D */
struct weft_attr_conv3d {
	int32_t pad[6];                /* front, back, top, bottom, left, right; >= 0 */
	int32_t stride[3];             /* d, y, x; >= 1 */
	int32_t dilation[3];           /* d, y, x; >= 1 */
	int32_t x_zp;
	int32_t w_zp;
	weft_dtype acc;
	bool local_bound;
};

/* AVG_POOL2D, MAX_POOL2D */
struct weft_attr_pool {
	int32_t kernel[2];             /* y, x */
	int32_t stride[2];             /* y, x */
	int32_t pad[4];                /* top, bottom, left, right; < kernel */
	int32_t x_zp;                  /* AVG_POOL2D only */
	int32_t y_zp;                  /* AVG_POOL2D only */
	weft_dtype acc;                /* AVG_POOL2D only */
	weft_nan_mode nan;             /* MAX_POOL2D only */
	bool chain;                    /* AVG_POOL2D of float32: the sum is rounded after each element */
};

/* RESCALE */
struct weft_attr_rescale {
	bool scale32;                  /* 32-bit multiplier; else 16-bit */
	weft_rounding rounding;
	bool per_channel;              /* multiplier and shift have one element per last-axis index */
	bool x_unsigned;
	bool y_unsigned;
	int32_t x_zp;                  /* as the type is read: 0..255 for unsigned bytes */
	int32_t y_zp;                  /* as the type is read: 0..255 for unsigned bytes */
};

/* RESIZE */
struct weft_attr_resize {
	int32_t scale_y_n;
	int32_t scale_y_d;
	int32_t scale_x_n;
	int32_t scale_x_d;
	int32_t offset_y;
	int32_t offset_x;
	int32_t border_y;
	int32_t border_x;
	weft_resize_mode mode;
};

/* CLAMP */
struct weft_attr_clamp {
	int64_t min;
	int64_t max;
	double fmin;
	double fmax;
	weft_nan_mode nan;
};

/* ARGMAX, REDUCE_*, CONCAT, REVERSE */
struct weft_attr_axis {
	int32_t axis;
	weft_nan_mode nan;             /* ARGMAX, REDUCE_MAX, REDUCE_MIN */
	bool chain;                    /* REDUCE_SUM, REDUCE_PRODUCT of float32: rounded after each step */
};

/* MAXIMUM, MINIMUM */
struct weft_attr_nan {
	weft_nan_mode nan;
};

/* ARITHMETIC_RIGHT_SHIFT */
struct weft_attr_shift {
	bool round;
};

/* NEGATE */
struct weft_attr_negate {
	int32_t x_zp;
	int32_t y_zp;
};

/* FFT2D, RFFT2D */
struct weft_attr_fft {
	bool inverse;                  /* FFT2D only */
	bool local_bound;
};

/* MUL */
struct weft_attr_mul {
	int32_t shift;
};

/* MATMUL */
struct weft_attr_matmul {
	int32_t a_zp;
	int32_t b_zp;
	int32_t log2_scale;            /* as in conv */
	bool chain;                    /* as in conv */
};

/* PAD */
struct weft_attr_pad {
	int32_t before[WEFT_MAX_RANK];
	int32_t after[WEFT_MAX_RANK];
	int64_t value;                 /* integers, and the bit pattern of floats below 32 bits */
	double fvalue;                 /* float32 and float64 */
};

/* SLICE */
struct weft_attr_slice {
	int64_t start[WEFT_MAX_RANK];  /* size is the output's shape */
};

/* TRANSPOSE */
struct weft_attr_perm {
	int32_t perm[WEFT_MAX_RANK];
};

/* TILE */
struct weft_attr_tile {
	int32_t multiple[WEFT_MAX_RANK];
};

/* COND_IF (then, else), WHILE_LOOP (condition, body) */
struct weft_attr_flow {
	struct weft_graph *graph[2];   /* owned by the graph that holds the operator */
};

/* VARIABLE_READ, VARIABLE_WRITE */
struct weft_attr_variable {
	int32_t id;                    /* index into the outermost graph's variables */
};

/* TFL_SOFTMAX, TFL_LOG_SOFTMAX (x_scale) */
struct weft_attr_tfl_softmax {
	float x_scale;
	float beta;
	bool wide;                     /* int16's tables are made in float64, as LiteRT does */
};

/* TFL_FUNCTION */
struct weft_attr_tfl_function {
	int32_t function;              /* enum weft_tfl_function */
};

/* TFL_HYBRID */
struct weft_attr_tfl_hybrid {
	bool symmetric;                /* codes -127..127 around 0 */
};

/* TFL_QUOTIENT */
struct weft_attr_tfl_quotient {
	int32_t a_zp;
	int32_t b_zp;
	int32_t y_zp;
	int32_t multiplier;            /* times multiplier * 2^(shift - 31) */
	int32_t shift;
};

/* TFL_L2_NORMALIZATION */
struct weft_attr_tfl_norm {
	int32_t x_zp;
	int32_t left;                  /* 0, or 7 as for uint8 */
};

/* TFL_LOGISTIC, TFL_TANH, TFL_QUANTIZE, TFL_DEQUANTIZE */
struct weft_attr_quant {
	float x_scale;
	int32_t x_zp;
	float y_scale;
	int32_t y_zp;
};

/* TFL_RESIZE_BILINEAR */
struct weft_attr_tfl_resize {
	bool align_corners;
	bool half_pixel;
	bool raw_uint8;                /* x is uint8 less 128: TensorFlow Lite computes that type in float32 */
};

/* TFL_LSTM */
struct weft_attr_tfl_lstm {
	bool time_major;               /* x [T,N,I] */
	int32_t x_zp;
	int32_t y_zp;
	int32_t cell_power;            /* the cell state's scale is 2^cell_power */
	int32_t cell_clip;             /* 0: none */
	struct weft_tfl_factor x_gate[4]; /* to Q3.12 */
	struct weft_tfl_factor h_gate[4]; /* to Q3.12 */
	struct weft_tfl_factor forget_cell;
	struct weft_tfl_factor input_cell;
	struct weft_tfl_factor hidden;
};

/* TFL_CUSTOM */
struct weft_attr_tfl_custom {
	int32_t n_in;                  /* operands, absent ones among them */
	int32_t absent;                /* bit k: operand k is not there */
	int32_t unsigned_in;           /* bit k: operand k is uint8, and here 128 less */
	int32_t unsigned_out;          /* the same of results */
	float x_scale[16];             /* the file's quantisation of operands; 0: none */
	int32_t x_zp[16];
	float y_scale[8];              /* and of results */
	int32_t y_zp[8];
	const struct weft_custom_op *of; /* its functions; NULL: none were given. No file holds it */
};

/* ONNX_REQUANT, ONNX_QUANTIZE, ONNX_CAST, ONNX_FAKE_CONVERT */
struct weft_attr_onnx {
	bool saturate;
	weft_dtype type;               /* of ONNX_REQUANT's product (0: exact), of ONNX_QUANTIZE's quotient, of what ONNX_FAKE_CONVERT goes through */
	int32_t scale_round;           /* ONNX_CAST: enum weft_scale_round */
};

/* ONNX_NODE */
struct weft_attr_onnx_node {
	int32_t kind;                  /* the operator's number, sim/golden/onnx/ref/onnx_ref.h */
	int32_t opset;                 /* whose rules are followed */
	int32_t n_in;                  /* operands of the node, absent ones among them */
	int64_t absent;                /* bit k: operand k is not there, k below 64 */
	int32_t i[60];                 /* the node's attributes in the order of the operator's table */
	float f[14];                   /* those of floats */
};

/* ONNX_REQUANT_SHIFT, PACT_LAYER_NORM */
struct weft_attr_requant_shift {
	int32_t shift;
	int32_t min;                   /* <= max */
	int32_t max;
};

/* PACT_DIV */
struct weft_attr_pact_div {
	int32_t delta;                 /* delta * eta < 2^32 */
	int32_t eps;
	int32_t eta;
	bool truncate;                 /* else half up */
};

/* PACT_SOFTMAX */
struct weft_attr_pact_softmax {
	int32_t a;
	int32_t b;
	int32_t log2;
	int32_t n_levels;
	int64_t c;
};

/* PACT_ITA_MAX */
struct weft_attr_pact_ita_max {
	int32_t group;                 /* divides the last dimension */
	int32_t most;
};

typedef union weft_attr {
	struct weft_attr_conv conv;
	struct weft_attr_conv3d conv3d;
	struct weft_attr_pool pool;
	struct weft_attr_rescale rescale;
	struct weft_attr_resize resize;
	struct weft_attr_clamp clamp;
	struct weft_attr_axis axis;
	struct weft_attr_nan nan;
	struct weft_attr_shift shift;
	struct weft_attr_negate negate;
	struct weft_attr_fft fft;
	struct weft_attr_mul mul;
	struct weft_attr_matmul matmul;
	struct weft_attr_pad pad;
	struct weft_attr_slice slice;
	struct weft_attr_perm perm;
	struct weft_attr_tile tile;
	struct weft_attr_flow flow;
	struct weft_attr_variable variable;
	struct weft_attr_tfl_softmax tfl_softmax;
	struct weft_attr_tfl_function tfl_function;
	struct weft_attr_tfl_hybrid tfl_hybrid;
	struct weft_attr_tfl_quotient tfl_quotient;
	struct weft_attr_tfl_norm tfl_norm;
	struct weft_attr_quant quant;
	struct weft_attr_tfl_resize tfl_resize;
	struct weft_attr_tfl_lstm tfl_lstm;
	struct weft_attr_tfl_custom tfl_custom;
	struct weft_attr_onnx onnx;
	struct weft_attr_onnx_node onnx_node;
	struct weft_attr_requant_shift requant_shift;
	struct weft_attr_pact_div pact_div;
	struct weft_attr_pact_softmax pact_softmax;
	struct weft_attr_pact_ita_max pact_ita_max;
} weft_attr;

#ifdef __cplusplus
}
#endif
#endif

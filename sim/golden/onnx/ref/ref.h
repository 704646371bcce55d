/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels share. A kernel first states its results (ref_y), then leaves
 * if only shapes were asked for (r->shapes), then computes.
 *
 * Operand and result numbers are the node's own; absent operands are NULL.
 */
#ifndef WEFT_GOLDEN_ONNX_REF_INTERNAL_H
#define WEFT_GOLDEN_ONNX_REF_INTERNAL_H

#include <errno.h>
#include <math.h>
#include <string.h>

#include <weft/convert.h>

#include "sim/golden/dtype.h"
#include "sim/golden/onnx/ref/onnx_ref.h"

struct ref {
	const struct weft_attr_onnx_node *a;
	const char *name;
	const weft_tensor *x[WEFT_ONNX_MAX_IN];
	int n_x;                     /* last operand that is there, plus one */
	int place[WEFT_ONNX_MAX_IN]; /* of operand k among those that are there */
	weft_tensor *y[WEFT_ONNX_MAX_OUT];
	int n_y;                     /* results that the node wants */
	bool shapes;                 /* only shapes */
	int which;
	char *msg;
};

typedef int ref_kernel(struct ref *r);

int ref_fail(struct ref *r, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Result k (nothing if the node does not want it): stated in the first pass, compared in the second. */
int ref_y(struct ref *r, int k, weft_dtype t, int rank, const int64_t *dim);
int ref_y_like(struct ref *r, int k, const weft_tensor *t);

/* Operand k is there, and has data; -EINVAL, -EAGAIN. */
int ref_need(struct ref *r, int k);
int ref_need_data(struct ref *r, int k);
/* The one number of operand k, constant. */
int ref_one(struct ref *r, int k, int64_t *v);
/* Operand k, if it is there, has n elements (one, too, if `or_one`). */
int ref_count(struct ref *r, int k, int64_t n, bool or_one);
/* Operand k, if it is there, broadcasts to x. */
int ref_fits(struct ref *r, int k, const weft_tensor *x);
int ref_axis(struct ref *r, int64_t axis, int rank);     /* 0..rank-1, or -EINVAL */

/* Constant integers of operand k, at most `most` of them; the count, or a negative errno. */
int ref_ints(struct ref *r, int k, int most, int64_t *v);
/* From a list among the attributes at slot i, else from operand k (k below 0: none); the count. */
int ref_list(struct ref *r, int i, int k, int most, int64_t *v);

/*
 * The most comparisons that a kernel may take if it compares each element, or each box, with each other one. Such kernels compare
 * them also to know their result's shape.
 */
#define REF_MOST_PAIRS 0x1p26

/* ---- elements ---- */

static inline bool ref_floats(weft_dtype t) { return weft_is_float(t); }
/* v cut to an integer, at the ends of int64 where it is beyond them; 0 for NaN. */
static inline int64_t ref_cut(double v) { return v != v ? 0 : v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v; }
/* Sum, difference and product of integers; low bits. */
static inline int64_t ref_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t ref_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t ref_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
weft_dtype ref_type(int64_t number);                      /* by ONNX's number of the type; 0 if it is none of ours */
bool ref_unsigned(weft_dtype t);                          /* uint2..uint64, bool */
double ref_f(const weft_tensor *t, int64_t i);            /* any type as a number */
int64_t ref_i(const weft_tensor *t, int64_t i);           /* integers as they are (uint64: its bits), floats cut */
void ref_put_f(weft_tensor *t, int64_t i, double v);      /* rounded to the type; to integers cut and saturated */
void ref_put_i(weft_tensor *t, int64_t i, int64_t v);     /* integers: low bits; floats: nearest */
/* Copies element k of x, or n elements from k on, to y from element i on. Both have one type. */
void ref_copy(weft_tensor *y, int64_t i, const weft_tensor *x, int64_t k);
void ref_copy_run(weft_tensor *y, int64_t i, const weft_tensor *x, int64_t k, int64_t n);
double ref_round(weft_dtype t, double v);                 /* v as the type holds it */

/* ---- indices ---- */

#define REF_N(t) weft_tensor_elements(t)
void ref_strides(const weft_tensor *t, int64_t *stride);  /* in elements */
/* Elements before and behind an axis. */
int64_t ref_outer(const weft_tensor *t, int axis);
int64_t ref_inner(const weft_tensor *t, int axis);
/* Index i of a tensor of that shape as one number for each dimension. */
void ref_split(int64_t i, int rank, const int64_t *dim, int64_t *at);
/* Where the element at those places of a result lies in t, which broadcasts to it. */
int64_t ref_at(const weft_tensor *t, int rank, const int64_t *at);
/* dim of the two broadcast, as NumPy does; -EINVAL. rank and dim are in and out. */
int ref_broadcast(struct ref *r, int *rank, int64_t *dim, const weft_tensor *t);

/* Elements of results may not exceed what the graph allows. */
void *ref_alloc(struct ref *r, int64_t n, size_t bytes);

/* ---- operands of matrix products: matrices [rows][columns] behind dimensions of a batch, which are broadcast ---- */

/* Operand t: its first `batch` dimensions are the batch's. */
struct matrix { const weft_tensor *t; int64_t rows, columns; int batch; };

/* Returns operand t of a product as matrices. A vector is a row, or a column if t is the second operand; a number has no rows. */
struct matrix ref_matrix_of(const weft_tensor *t, bool second);

/*
 * Sets dim[0 .. *rank - 1] to the shape of a times b, of which the first *batch dimensions are the batch's; the dimension that a
 * vector lacks is not in it. dim has space for WEFT_MAX_RANK + 2. Returns 0, or -EINVAL or -ENOTSUP after ref_fail().
 */
int ref_product_shape(struct ref *r, const struct matrix *a, const struct matrix *b, int *rank, int64_t *dim, int *batch);

/* Returns the first element of the matrix of m that belongs to place `at` of the batch, which has so many dimensions. */
int64_t ref_matrix_at(const struct matrix *m, int batch, const int64_t *at);

/* ---- kernels, by file ---- */
ref_kernel ref_binary, ref_compare, ref_variadic, ref_where, ref_bit_shift, ref_clip, ref_unary, ref_param_unary, ref_prelu, ref_gelu;   /* elementwise.c, unary.c */
ref_kernel ref_reduce, ref_arg, ref_cumsum, ref_softmax, ref_top_k;
ref_kernel ref_non_zero, ref_unique, ref_compress;
ref_kernel ref_gather, ref_gather_elements, ref_gather_nd, ref_scatter_elements, ref_scatter_nd, ref_one_hot, ref_reverse_sequence,
	ref_tensor_scatter;
ref_kernel ref_reshape, ref_transpose, ref_concat, ref_slice, ref_split_node, ref_pad, ref_tile, ref_expand, ref_flatten, ref_squeeze,
	ref_identity, ref_cast, ref_constant_of_shape, ref_range, ref_eye_like, ref_trilu, ref_center_crop_pad, ref_shape_node, ref_depth_space;
ref_kernel ref_pool, ref_global_pool, ref_max_unpool, ref_col2im, ref_lrn;
ref_kernel ref_layer_norm, ref_rms_norm, ref_batch_norm, ref_group_norm, ref_mean_variance, ref_lp_norm, ref_skip_layer_norm;
ref_kernel ref_matmul, ref_gemm, ref_einsum, ref_conv, ref_conv_transpose, ref_deform_conv, ref_det, ref_matmul_nbits;
ref_kernel ref_chain_matmul, ref_chain_gemm, ref_chain_conv, ref_chain_conv_transpose, ref_chain_layer_norm, ref_chain_erf, ref_chain_average,
	ref_chain_average_all, ref_chain_resize;
ref_kernel ref_lstm, ref_gru, ref_rnn;
double ref_activation(const struct ref *r, int which, double v);   /* number `which` of LSTM's, GRU's and RNN's attribute activations, of v */
ref_kernel ref_attention, ref_rotary;
ref_kernel ref_nll_loss, ref_softmax_loss;
ref_kernel ref_grid_sample, ref_affine_grid, ref_roi_align, ref_nms;
ref_kernel ref_dft, ref_stft, ref_window, ref_mel;
ref_kernel ref_adagrad, ref_adam, ref_momentum;
ref_kernel ref_quantize, ref_dequantize, ref_dynamic_quantize, ref_matmul_integer, ref_conv_integer, ref_qlinear_matmul;
ref_kernel ref_tfidf, ref_binarizer, ref_feature_extractor, ref_tree_ensemble;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between run.c and the operators' files; not for use outside sim/golden.
 *
 * run.c has checked the call's form before an operator sees it: counts of
 * arguments, known types, ranks 0..WEFT_MAX_RANK, dimensions 1..WEFT_DIM_MAX,
 * no overflow in sizes, data present. The operator checks the rest (types as
 * a row of TOSA's table, shapes, attributes), then computes.
 */
#ifndef WEFT_GOLDEN_OPS_H
#define WEFT_GOLDEN_OPS_H

#include <errno.h>

#include "dtype.h"
#include "golden.h"

/* Dimensions fit int32, so sums with int32 attributes cannot overflow int64. */
#define WEFT_DIM_MAX INT32_MAX

struct weft_call {
	weft_opcode op;
	const weft_attr *attr;
	const weft_tensor *const *x;
	int n_x;
	weft_tensor *const *y;
	int n_y;
	bool fast;
	char *msg;
};

/* Write "<OPERATOR>: <text>" to the call's message; returns err. */
int weft_call_fail(const struct weft_call *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A row of TOSA's type table: inputs in order (0: none), then the output. */
struct weft_row {
	uint8_t x[3];
	uint8_t y;
};

/* 0 if the call's types are one of the rows, else -EINVAL. */
int weft_check_rows(const struct weft_call *c, const struct weft_row *rows, int n_rows);

/* Returns whether a and b have the same rank and shape. */
bool weft_same_shape(const weft_tensor *a, const weft_tensor *b);

/* Output 0 has input 0's shape (and type, if asked). */
int weft_check_same(const struct weft_call *c, bool also_type);

/* Attribute axis is within input 0's rank. */
int weft_check_axis(const struct weft_call *c);

/* Tensor has this rank; what names it. */
int weft_check_rank(const struct weft_call *c, const char *what, const weft_tensor *t, int rank);

/*
 * One axis of a sliding window: out is exactly (in + pads - span)/stride + 1
 * (TOSA's idiv_check: a remainder is an error). span = (kernel-1)*dilation + 1.
 */
int weft_check_window(const struct weft_call *c, const char *axis, int64_t in, int64_t out,
                      int64_t pad_before, int64_t pad_after, int64_t span, int64_t stride);

/* Zero point within an 8-bit type, or zero for every other type. */
int weft_check_zp(const struct weft_call *c, const char *what, weft_dtype t, int64_t zp);

/* Two float8 types, equal or not. */
bool weft_float8_pair(weft_dtype a, weft_dtype b);

/* The rows that the four convolutions share, and their accumulator. */
int weft_check_conv_rows(const struct weft_call *c, weft_dtype acc);

/* float8's log2_scale -32..31, 0 for other types. */
int weft_check_log2_scale(const struct weft_call *c, int32_t log2_scale);

/* CONV2D's and DEPTHWISE_CONV2D's common rules; oc is the count of output channels. */
int weft_check_conv(const struct weft_call *c, int64_t kh, int64_t kw, int64_t oc);

/* AVG_POOL2D's and MAX_POOL2D's common rules. */
int weft_check_pool(const struct weft_call *c);

int weft_golden_argmax(const struct weft_call *c);
int weft_golden_avg_pool2d(const struct weft_call *c);
int weft_golden_conv2d(const struct weft_call *c);
int weft_golden_conv3d(const struct weft_call *c);
int weft_golden_transpose_conv2d(const struct weft_call *c);
int weft_golden_resize(const struct weft_call *c);
int weft_golden_fft2d(const struct weft_call *c);
int weft_golden_gather(const struct weft_call *c);
int weft_golden_scatter(const struct weft_call *c);
int weft_golden_reverse(const struct weft_call *c);
int weft_golden_tile(const struct weft_call *c);
int weft_golden_select(const struct weft_call *c);
int weft_golden_compare(const struct weft_call *c);
int weft_golden_bitwise(const struct weft_call *c);
int weft_golden_unary(const struct weft_call *c);
int weft_golden_depthwise_conv2d(const struct weft_call *c);
int weft_golden_matmul(const struct weft_call *c);
int weft_golden_max_pool2d(const struct weft_call *c);
int weft_golden_clamp(const struct weft_call *c);
int weft_golden_elementwise(const struct weft_call *c);
int weft_golden_mul(const struct weft_call *c);
int weft_golden_table(const struct weft_call *c);

/* dynamic.c: the attributes that the operands behind the operator's own stand for; *a has the others. */
int weft_dynamic_attr(const struct weft_call *c, weft_attr *a);
int weft_golden_reduce(const struct weft_call *c);
int weft_golden_concat(const struct weft_call *c);
int weft_golden_pad(const struct weft_call *c);
int weft_golden_reshape(const struct weft_call *c);
int weft_golden_slice(const struct weft_call *c);
int weft_golden_transpose(const struct weft_call *c);
int weft_golden_cast(const struct weft_call *c);
int weft_golden_float_unary(const struct weft_call *c);
int weft_golden_rescale(const struct weft_call *c);
int weft_golden_identity(const struct weft_call *c);
int weft_golden_tfl_softmax(const struct weft_call *c);
int weft_golden_tfl_l2_normalization(const struct weft_call *c);
int weft_golden_tfl_log_softmax(const struct weft_call *c);
int weft_golden_tfl_logistic(const struct weft_call *c);
int weft_golden_tfl_quantize(const struct weft_call *c);
int weft_golden_tfl_dequantize(const struct weft_call *c);
int weft_golden_tfl_tanh(const struct weft_call *c);
int weft_golden_tfl_resize_bilinear(const struct weft_call *c);
int weft_golden_tfl_lstm(const struct weft_call *c);
int weft_golden_tfl_cast(const struct weft_call *c);
int weft_golden_tfl_sqrt(const struct weft_call *c);
int weft_golden_tfl_div(const struct weft_call *c);
int weft_golden_tfl_requantize(const struct weft_call *c);
int weft_golden_tfl_hybrid(const struct weft_call *c);
int weft_golden_tfl_quotient(const struct weft_call *c);
int weft_golden_tfl_function(const struct weft_call *c);
int weft_golden_tfl_custom(const struct weft_call *c);
int weft_golden_onnx_requant(const struct weft_call *c);
int weft_golden_onnx_quantize(const struct weft_call *c);
int weft_golden_onnx_dequantize(const struct weft_call *c);
int weft_golden_onnx_cast(const struct weft_call *c);
int weft_golden_onnx_fake_convert(const struct weft_call *c);
int weft_golden_onnx_requant_shift(const struct weft_call *c);
int weft_golden_onnx_div(const struct weft_call *c);
int weft_golden_popxl_conv(const struct weft_call *c);
int weft_golden_popxl_matmul(const struct weft_call *c);
int weft_golden_pact_div(const struct weft_call *c);
int weft_golden_pact_softmax(const struct weft_call *c);
int weft_golden_pact_ita_max(const struct weft_call *c);
int weft_golden_onnx_node(const struct weft_call *c);
int weft_golden_pact_layer_norm(const struct weft_call *c);

/* Smallest and largest value of an integer type; 0 and 0 for floats. */
static inline int64_t weft_int_min(weft_dtype t)
{
	switch (t) {
	case WEFT_INT4: return -8;
	case WEFT_INT8: return INT8_MIN;
	case WEFT_INT16: return INT16_MIN;
	case WEFT_INT32: return INT32_MIN;
	case WEFT_INT48: return -((int64_t)1 << 47);
	case WEFT_INT64: return INT64_MIN;
	case WEFT_INT2: return -2;
	default: return 0;
	}
}

static inline int64_t weft_int_max(weft_dtype t)
{
	switch (t) {
	case WEFT_BOOL: return 1;
	case WEFT_INT4: return 7;
	case WEFT_INT8: return INT8_MAX;
	case WEFT_UINT8: return UINT8_MAX;
	case WEFT_INT16: return INT16_MAX;
	case WEFT_UINT16: return UINT16_MAX;
	case WEFT_INT32: return INT32_MAX;
	case WEFT_INT48: return ((int64_t)1 << 47) - 1;
	case WEFT_INT64: return INT64_MAX;
	default: return 0;
	}
}

/* The low n bits of v as a signed number: two's complement, so never undefined. */
static inline int64_t weft_wrap(uint64_t v, int n_bits)
{
	uint64_t sign = (uint64_t)1 << (n_bits - 1);

	v &= (sign << 1) - 1;
	return (int64_t)((v ^ sign) - sign);
}

/* Element i of an integer tensor. */
static inline int64_t weft_get(const weft_tensor *t, int64_t i)
{
	switch (t->dtype) {
	case WEFT_BOOL: return ((const uint8_t *)t->data)[i] != 0;
	case WEFT_INT4:
	case WEFT_INT8: return ((const int8_t *)t->data)[i];
	case WEFT_UINT8: return ((const uint8_t *)t->data)[i];
	case WEFT_INT16: return ((const int16_t *)t->data)[i];
	case WEFT_UINT16: return ((const uint16_t *)t->data)[i];
	case WEFT_INT32: return ((const int32_t *)t->data)[i];
	case WEFT_INT48:
	case WEFT_INT64: return ((const int64_t *)t->data)[i];
	default: return 0;
	}
}

/* Store v in element i of an integer tensor; what does not fit is cut off. */
static inline void weft_put(const weft_tensor *t, int64_t i, int64_t v)
{
	switch (t->dtype) {
	case WEFT_BOOL: ((uint8_t *)t->data)[i] = v != 0; break;
	case WEFT_INT4: ((int8_t *)t->data)[i] = (int8_t)weft_wrap((uint64_t)v, 4); break;
	case WEFT_INT8: ((int8_t *)t->data)[i] = (int8_t)v; break;
	case WEFT_UINT8: ((uint8_t *)t->data)[i] = (uint8_t)v; break;
	case WEFT_INT16: ((int16_t *)t->data)[i] = (int16_t)v; break;
	case WEFT_UINT16: ((uint16_t *)t->data)[i] = (uint16_t)v; break;
	case WEFT_INT32: ((int32_t *)t->data)[i] = (int32_t)v; break;
	case WEFT_INT48: ((int64_t *)t->data)[i] = weft_wrap((uint64_t)v, 48); break;
	case WEFT_INT64: ((int64_t *)t->data)[i] = v; break;
	default: break;
	}
}

static inline int64_t weft_clip(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* The same memory read as the unsigned type of its width, where asked. */
static inline weft_tensor weft_as_read(const weft_tensor *t, bool is_unsigned)
{
	weft_tensor r = *t;

	if (is_unsigned)
		r.dtype = weft_dtype_bytes(t->dtype) == 1 ? WEFT_UINT8 : WEFT_UINT16;
	return r;
}

/*
 * Visit every index of a shape in row-major order, keeping two element
 * offsets up to date. Strides may be 0 (broadcast) or in any order (transpose).
 */
struct weft_walk {
	int rank;
	int64_t dim[WEFT_MAX_RANK], idx[WEFT_MAX_RANK];
	int64_t stride[2][WEFT_MAX_RANK];
	int64_t off[2];
};

/* Advance by one; false after the last index. */
static inline bool weft_walk_next(struct weft_walk *w)
{
	for (int d = w->rank - 1; d >= 0; d--) {
		w->off[0] += w->stride[0][d];
		w->off[1] += w->stride[1][d];
		if (++w->idx[d] < w->dim[d])
			return true;
		w->off[0] -= w->stride[0][d] * w->dim[d];
		w->off[1] -= w->stride[1][d] * w->dim[d];
		w->idx[d] = 0;
	}
	return false;
}

/* Output 0 element by element: at gives the one of index o. */
static inline void weft_put_each(const struct weft_call *c, int64_t (*at)(const struct weft_call *c, const int64_t *o))
{
	const weft_tensor *y = c->y[0];
	struct weft_walk w = { .rank = y->rank };
	int64_t i = 0;

	for (int d = 0; d < y->rank; d++)
		w.dim[d] = y->dim[d];
	do {
		weft_put(y, i++, at(c, w.idx));
	} while (weft_walk_next(&w));
}

/* A convolution's sum with the bias of channel oc. */
static inline int64_t weft_biased(const struct weft_call *c, uint64_t sum, int64_t oc)
{
	const weft_tensor *bias = c->x[2];

	return (int64_t)(sum + (uint64_t)weft_get(bias, bias->dim[0] == 1 ? 0 : oc));
}

/* TRANSPOSE_CONV2D: the position in x that kernel position k of an axis takes to output o, or -1. */
static inline int64_t weft_transpose_source(const struct weft_call *c, int axis, int64_t o, int64_t k)
{
	const struct weft_attr_conv *a = &c->attr->conv;
	int64_t d = o - a->pad[2 * axis] - k;

	if (d < 0 || d % a->stride[axis] || d / a->stride[axis] >= c->x[0]->dim[1 + axis])
		return -1;
	return d / a->stride[axis];
}

/* A pool's window of one output element, cut to the image: rows y0..y1-1, columns x0..x1-1. */
struct weft_pool_window { int64_t y0, y1, x0, x1; };

static inline struct weft_pool_window weft_pool_window_of(const struct weft_call *c, const int64_t *o)
{
	const struct weft_attr_pool *a = &c->attr->pool;
	const weft_tensor *x = c->x[0];
	int64_t y0 = o[1] * a->stride[0] - a->pad[0], x0 = o[2] * a->stride[1] - a->pad[2];

	return (struct weft_pool_window){ weft_clip(y0, 0, x->dim[1]), weft_clip(y0 + a->kernel[0], 0, x->dim[1]),
	                             weft_clip(x0, 0, x->dim[2]), weft_clip(x0 + a->kernel[1], 0, x->dim[2]) };
}

/* Returns a walk over the pixels of a pool's output: image, row and column, as weft_pool_window_of() takes them. */
static inline struct weft_walk weft_pool_pixels(const struct weft_call *c)
{
	const int64_t *dim = c->y[0]->dim;

	return (struct weft_walk){ .rank = 3, .dim = { dim[0], dim[1], dim[2] } };
}

/* Returns a walk over the rows of a pool's output. weft_pool_window_of() takes its place as the first pixel of the row. */
static inline struct weft_walk weft_pool_rows(const struct weft_call *c)
{
	const int64_t *dim = c->y[0]->dim;

	return (struct weft_walk){ .rank = 2, .dim = { dim[0], dim[1] } };
}

/* Returns how many elements the dimensions of t before this axis have together; 1 if the axis is the first. */
static inline int64_t weft_elements_before(const weft_tensor *t, int axis)
{
	int64_t n = 1;

	for (int d = 0; d < axis; d++)
		n *= t->dim[d];
	return n;
}

/* Returns how many elements the dimensions of t behind this axis have together; 1 if the axis is the last. */
static inline int64_t weft_elements_behind(const weft_tensor *t, int axis)
{
	int64_t n = 1;

	for (int d = axis + 1; d < t->rank; d++)
		n *= t->dim[d];
	return n;
}

/* Row-major strides in elements. */
static inline void weft_strides(const weft_tensor *t, int64_t *stride)
{
	int64_t n = 1;

	for (int d = t->rank - 1; d >= 0; d--) {
		stride[d] = n;
		n *= t->dim[d];
	}
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fast twins of the plain loops: same calls, same bits.
 *
 * Each is called after the plain operator's checks. After -ENOTSUP (a case left to
 * the plain loops) and -ENOMEM the plain loops compute the whole result.
 */
#ifndef WEFT_GOLDEN_FAST_H
#define WEFT_GOLDEN_FAST_H

#include "../ops.h"

/*
 * A function with this word is compiled once for the baseline and again for processors with
 * AVX2 and with AVX-512; the dynamic linker takes the version that the machine has. All versions
 * compute integers, or floats without a product and a sum in one expression, which a processor might join: so they
 * have the same bits. The approximations of float/fast_functions.c may differ between versions; its results do not, because the
 * approximations only say between which bounds a result lies. Sanitizers do not run before that choice. Such a function must be static, because other files
 * cannot call what clang 14 makes of it otherwise, and its name must be unique among all files, because clang 14 makes
 * a global symbol of it even so.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)    /* clang's way to say so */
#define FAST
#endif
#endif
#ifdef FAST
#elif defined(__x86_64__) && defined(__ELF__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#ifdef __clang__
#define FAST __attribute__((target_clones("default", "avx2", "avx512bw")))
#else
#define FAST __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#endif
#else
#define FAST
#endif

int weft_fast_conv2d(const struct weft_call *c);
int weft_fast_depthwise_conv2d(const struct weft_call *c);
int weft_fast_matmul(const struct weft_call *c);            /* int8 only */
int weft_fast_rescale(const struct weft_call *c);
int weft_fast_transpose_conv2d(const struct weft_call *c);  /* weights of int8 or fp32 only */
int weft_fast_elementwise(const struct weft_call *c);       /* int32 only: ADD, SUB, MUL, MAXIMUM, MINIMUM */
int weft_fast_clamp(const struct weft_call *c);
int weft_fast_transpose(const struct weft_call *c);
int weft_fast_max_pool2d(const struct weft_call *c);        /* int8 only */
int weft_fast_avg_pool2d(const struct weft_call *c);        /* int8 only */
int weft_fast_reduce_sum(const struct weft_call *c);        /* int32 only */
int weft_fast_tfl_resize_bilinear(const struct weft_call *c);   /* int8 by integers, usual weights */
int weft_fast_resize_nearest(const struct weft_call *c);
int weft_fast_tfl_softmax(const struct weft_call *c);       /* int8 to int8, of many elements */
int weft_fast_table(const struct weft_call *c);             /* int8 only */
int weft_fast_float_conv2d(const struct weft_call *c);      /* fp32 only */
int weft_fast_float_depthwise_conv2d(const struct weft_call *c);   /* fp32 only, one result a channel */
int weft_fast_float_matmul(const struct weft_call *c);      /* fp32 only */
int weft_fast_float_binary(const struct weft_call *c);      /* fp32 only: ADD, SUB, MUL, TFL_DIV */
int weft_fast_float_max_pool2d(const struct weft_call *c);  /* fp32 only, without a NaN */
int weft_fast_float_clamp(const struct weft_call *c);       /* fp32 only, without a NaN */
int weft_fast_float_avg_pool2d(const struct weft_call *c);  /* fp32 only */
int weft_fast_float_reduce_max(const struct weft_call *c);  /* fp32 only, without a NaN: REDUCE_MAX along the last axis */
int weft_fast_float_sum(const struct weft_call *c);         /* fp32 only: REDUCE_SUM; if a sum is a NaN, -ENOTSUP comes after writing */

/*
 * Joins the last two dimensions of a broadcast's walk (weft_broadcast_walk()), again and again, as long as each operand goes through
 * both with one stride, so that one run of the inner loop does as many elements as possible.
 */
void weft_fast_join(struct weft_walk *w);

/* TensorFlow Lite's logistic function of float32 is 1 above the upper limit, and e^x below the lower one. */
#define WEFT_TFL_LOGISTIC_HIGH 16.619047164916992188f
#define WEFT_TFL_LOGISTIC_LOW  (-9.0f)

/*
 * Runs EXP, SIGMOID, TANH, ERF, or the exponential or logistic function of TFL_FUNCTION, on fp32. one(c, i) has to compute element i as the
 * plain loop does.
 */
int weft_fast_function(const struct weft_call *c, void (*one)(const struct weft_call *c, int64_t i));

/* Runs RESCALE with the 32-bit multiplier by these kernels (rescale_lanes.h); -ENOTSUP for the 16-bit one. */
struct weft_rescale_kernels;
int weft_rescale_with(const struct weft_call *c, const struct weft_rescale_kernels *kernels);

/* Runs CONV2D of int8 (weights also int4) to int32 with this tiling (tiles.h); -ENOTSUP if padding makes the image too large. */
struct weft_tiling;
int weft_tiles_conv2d(const struct weft_call *c, const struct weft_tiling *tiling);

/*
 * The sums of a pixel's first channels, of ch, as many as fill registers whole; returns how many.
 * taps: where the n_taps inputs of channel 0 lie; w: [n_taps][ch]; start: what sums begin with.
 */
typedef int64_t weft_depthwise_pixel(const int8_t *const *taps, int64_t n_taps, const uint32_t *w, const uint32_t *start, int64_t ch, uint32_t *y);

/* Returns the i-th of these functions that this processor has, the fastest first; NULL behind the last. */
weft_depthwise_pixel *weft_depthwise_at(int i);

/* DEPTHWISE_CONV2D of int8 (weights also int4) to int32, one output channel for each input channel. */
int weft_depthwise_int8(const struct weft_call *c, weft_depthwise_pixel *pixel);

/*
 * How many products of one sum surely fit int32: |x - x_zp| <= 255 (int16:
 * 2^15) and |w - w_zp| <= 255, so 33025 and 257 would be the first not to.
 */
static inline int64_t weft_fast_chunk(weft_dtype x)
{
	return x == WEFT_INT16 ? 256 : 32768;
}

/*
 * Returns n elements of x, from number `first` on, less zp as int16, each `repeat` times, from malloc.
 * Of 8-bit types the differences have 9 bits; int16 has zero point 0. NULL: out of memory.
 */
int16_t *weft_fast_widen(const weft_tensor *x, int32_t zp, int64_t first, int64_t n, int64_t repeat);

/*
 * Read or write n elements of a tensor, from number `first` on, as int32, for types that
 * weft_fast_has_int32() knows: those of 8, 16 and 32 bits. Writing keeps the low bits, as
 * weft_put() does. The type is looked at once for all elements.
 */
bool weft_fast_has_int32(weft_dtype t);
void weft_fast_load(const weft_tensor *t, int64_t first, int64_t n, int32_t *to);
void weft_fast_store(const weft_tensor *t, int64_t first, int64_t n, const int32_t *from);

#endif

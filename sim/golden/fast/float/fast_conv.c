/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV2D, DEPTHWISE_CONV2D and MATMUL of fp32, with the sums of many channels side by side, each in the plain loops' order.
 * Plain loops: sim/golden/float/conv.c
 *
 * Sums are fp64, or fp32 in a chain. Products are rounded before they are added: this file is compiled without contraction
 * (Makefile), which in a chain would change results.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/golden/fast/fast.h"

#define VECTORS 4                  /* sums are made in so many vectors */
#define CHANNELS64 (8 * VECTORS)   /* and that many channels are summed together, of fp64 */
#define CHANNELS32 (16 * VECTORS)  /* and of a chain */

typedef double doubles __attribute__((vector_size(64), aligned(8), may_alias));
typedef float floats __attribute__((vector_size(64), aligned(4), may_alias));

/* Input elements of a kernel position, and the place of the weights of the first of them. */
struct tap { const float *x; int64_t w; };

struct work {
	const struct weft_call *c;
	const weft_tensor *bias;   /* NULL: none */
	int64_t channels, step;    /* channels of a result, and the same padded: weights of one product lie side by side, so many */
	double *w64, *sum64;       /* weights, and the sums of one result; NULL in a chain, */
	float *w32, *sum32;        /* in which these are used */
	struct tap *tap; int64_t n_taps, depth;   /* kernel positions of a result that lie within the image, each of so many products */
};

/* s[0..VECTORS): of each of their channels the sum of all products of all taps, from `weights` on. The sums stay in registers. */
#define SUM_UP(type, number, s) \
	type a0 = { 0 }, a1 = { 0 }, a2 = { 0 }, a3 = { 0 }; \
	for (int64_t t = 0; t < n_taps; t++) \
		for (int64_t i = 0; i < depth; i++) { \
			const type *w = (const type *)(const void *)(weights + tap[t].w + i * step); \
			const number x = tap[t].x[i]; \
			a0 += x * w[0]; \
			a1 += x * w[1]; \
			a2 += x * w[2]; \
			a3 += x * w[3]; \
		} \
	s[0] = a0, s[1] = a1, s[2] = a2, s[3] = a3

static FAST void sum_64(const struct tap *tap, int64_t n_taps, int64_t depth, const double *weights, int64_t step, double *sum)
{
	doubles *s = (doubles *)(void *)sum;
	SUM_UP(doubles, double, s);
}

static FAST void sum_32(const struct tap *tap, int64_t n_taps, int64_t depth, const float *weights, int64_t step, float *sum)
{
	floats *s = (floats *)(void *)sum;
	SUM_UP(floats, float, s);
}

/* Of a depthwise convolution: sum[i] += x[i] * weights[i]. */
static FAST void add_64(const float *x, const double *weights, int64_t n, double *sum)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] += x[i] * weights[i];
}

static FAST void add_32(const float *x, const float *weights, int64_t n, float *sum)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] += x[i] * weights[i];
}

/*
 * Allocates room for n products' weights and n_taps taps. Returns false if memory is out; the caller calls close_work() in
 * each case.
 */
static bool open_work(struct work *s, const struct weft_call *c, bool chain, int64_t channels, int64_t n, int64_t n_taps)
{
	const int64_t unit = chain ? CHANNELS32 : CHANNELS64;
	size_t bytes;

	s->c = c;
	s->channels = channels;
	s->step = (channels + unit - 1) / unit * unit;
	if (__builtin_mul_overflow((size_t)s->step * sizeof(double), (size_t)n, &bytes))
		return false;
	s->w64 = chain ? NULL : calloc(1, bytes);
	s->w32 = chain ? calloc(1, bytes / 2) : NULL;
	s->sum64 = chain ? NULL : malloc((size_t)s->step * sizeof(double));
	s->sum32 = chain ? malloc((size_t)s->step * sizeof(float)) : NULL;
	s->tap = malloc((size_t)n_taps * sizeof(*s->tap));
	return (s->w64 || s->w32) && (s->sum64 || s->sum32) && s->tap;
}

static void close_work(struct work *s)
{
	free(s->w64);
	free(s->w32);
	free(s->sum64);
	free(s->sum32);
	free(s->tap);
}

/* The weight of product k for a channel. */
static void put_weight(struct work *s, int64_t k, int64_t channel, float w)
{
	if (s->w64)
		s->w64[k * s->step + channel] = w;
	else
		s->w32[k * s->step + channel] = w;
}

/*
 * y[i] = sum[i] rounded to fp32, plus bias[i * step], which is fp64 until it is rounded, as in the plain loops; every NaN is NAN.
 * Without a bias `bias` is NULL.
 */
#define ROUND \
	for (int64_t i = 0; i < n; i++) { \
		const float r = (float)sum[i], v = bias ? (float)((double)r + (double)bias[i * step]) : r; \
		y[i] = v == v ? v : NAN; \
	}

static FAST void round_64(const double *sum, const float *bias, int64_t step, int64_t n, float *y) { ROUND }
static FAST void round_32(const float *sum, const float *bias, int64_t step, int64_t n, float *y) { ROUND }

/* Rounds all sums of result number i as the operator does, and writes them. */
static void store(const struct work *s, int64_t i)
{
	const float *bias = s->bias ? s->bias->data : NULL;
	const int64_t step = s->bias && s->bias->dim[0] == 1 ? 0 : 1;
	float *y = (float *)s->c->y[0]->data + i * s->channels;

	if (s->w64)
		round_64(s->sum64, bias, step, s->channels, y);
	else
		round_32(s->sum32, bias, step, s->channels, y);
}

/* Sums up all channels of the result whose taps are listed, and writes it as number i. */
static void one(struct work *s, int64_t i)
{
	for (int64_t k = 0; s->w64 && k < s->channels; k += CHANNELS64)
		sum_64(s->tap, s->n_taps, s->depth, s->w64 + k, s->step, s->sum64 + k);
	for (int64_t k = 0; s->w32 && k < s->channels; k += CHANNELS32)
		sum_32(s->tap, s->n_taps, s->depth, s->w32 + k, s->step, s->sum32 + k);
	store(s, i);
}

/* The same of a depthwise convolution, whose taps are pixels. */
static void one_depthwise(struct work *s, int64_t i)
{
	if (s->w64)
		memset(s->sum64, 0, (size_t)s->channels * sizeof(*s->sum64));
	else
		memset(s->sum32, 0, (size_t)s->channels * sizeof(*s->sum32));
	for (int64_t t = 0; t < s->n_taps; t++)
		if (s->w64)
			add_64(s->tap[t].x, s->w64 + s->tap[t].w, s->channels, s->sum64);
		else
			add_32(s->tap[t].x, s->w32 + s->tap[t].w, s->channels, s->sum32);
	store(s, i);
}

/* Lists the kernel positions of result (n, oy, ox) that lie within the image; each has s->depth products. */
static void list_taps(struct work *s, int64_t kh, int64_t kw, int64_t n, int64_t oy, int64_t ox)
{
	const struct weft_attr_conv *a = &s->c->attr->conv;
	const int64_t *x = s->c->x[0]->dim;

	s->n_taps = 0;
	for (int64_t ky = 0; ky < kh; ky++)
		for (int64_t kx = 0; kx < kw; kx++) {
			const int64_t py = oy * a->stride[0] - a->pad[0] + ky * a->dilation[0], px = ox * a->stride[1] - a->pad[2] + kx * a->dilation[1];

			if (py >= 0 && py < x[1] && px >= 0 && px < x[2])
				s->tap[s->n_taps++] = (struct tap){ (const float *)s->c->x[0]->data + ((n * x[1] + py) * x[2] + px) * x[3], (ky * kw + kx) * s->depth * s->step };
		}
}

static void each_pixel(struct work *s, int64_t kh, int64_t kw, void (*result)(struct work *s, int64_t i))
{
	const int64_t *y = s->c->y[0]->dim;
	int64_t i = 0;

	for (int64_t n = 0; n < y[0]; n++)
		for (int64_t oy = 0; oy < y[1]; oy++)
			for (int64_t ox = 0; ox < y[2]; ox++) {
				list_taps(s, kh, kw, n, oy, ox);
				result(s, i++);
			}
}

/* Returns whether all of a call's numbers are fp32, and its sums fp32 at the end. */
static bool is_fp32(const struct weft_call *c, weft_dtype acc)
{
	return c->x[0]->dtype == WEFT_FP32 && c->x[1]->dtype == WEFT_FP32 && c->y[0]->dtype == WEFT_FP32 && acc == WEFT_FP32;
}

int weft_fast_float_conv2d(const struct weft_call *c)
{
	const int64_t *w = c->x[1]->dim, k = w[1] * w[2] * w[3];
	struct work s = { .bias = c->x[2], .depth = w[3] };
	int err = -ENOMEM;

	if (!is_fp32(c, c->attr->conv.acc))
		return -ENOTSUP;
	if (open_work(&s, c, c->attr->conv.chain, w[0], k, w[1] * w[2])) {
		for (int64_t oc = 0; oc < w[0]; oc++)
			for (int64_t i = 0; i < k; i++)
				put_weight(&s, i, oc, ((const float *)c->x[1]->data)[oc * k + i]);
		each_pixel(&s, w[1], w[2], one);
		err = 0;
	}
	close_work(&s);
	return err;
}

int weft_fast_float_depthwise_conv2d(const struct weft_call *c)
{
	const int64_t *w = c->x[1]->dim, channels = w[2];
	struct work s = { .bias = c->x[2], .depth = 1 };
	int err = -ENOMEM;

	if (!is_fp32(c, c->attr->conv.acc) || w[3] != 1)
		return -ENOTSUP;
	if (open_work(&s, c, c->attr->conv.chain, channels, w[0] * w[1], w[0] * w[1])) {
		for (int64_t i = 0; i < w[0] * w[1] * channels; i++)
			put_weight(&s, i / channels, i % channels, ((const float *)c->x[1]->data)[i]);
		each_pixel(&s, w[0], w[1], one_depthwise);
		err = 0;
	}
	close_work(&s);
	return err;
}

int weft_fast_float_matmul(const struct weft_call *c)
{
	const int64_t *a = c->x[0]->dim, *b = c->x[1]->dim;
	struct work s = { .depth = a[2] };
	int err = -ENOMEM;

	if (!is_fp32(c, WEFT_FP32))
		return -ENOTSUP;
	if (open_work(&s, c, c->attr->matmul.chain, b[2], a[2], 1)) {
		for (int64_t n = 0; n < a[0]; n++) {
			for (int64_t i = 0; i < b[1] * b[2]; i++)
				put_weight(&s, i / b[2], i % b[2], ((const float *)c->x[1]->data)[n * b[1] * b[2] + i]);
			for (int64_t h = 0; h < a[1]; h++) {
				s.n_taps = 1;
				s.tap[0] = (struct tap){ (const float *)c->x[0]->data + (n * a[1] + h) * a[2], 0 };
				one(&s, n * a[1] + h);
			}
		}
		err = 0;
	}
	close_work(&s);
	return err;
}

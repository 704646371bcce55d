/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float rows of CONV2D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D, CONV3D and MATMUL.
 * TOSA 1.0 sections 2.3.3 to 2.3.5, 2.3.7, 2.3.10.
 *
 *   x, w     one of fp16, bf16, fp32, or float8 both (the encodings may differ
 *            where they are not TOSA's)
 *   bias, y  fp16 for fp16 and float8, bf16 for bf16, fp32 for fp32; MATMUL has
 *            fp32 also for fp16 and for bf16
 *   acc      fp16 or fp32 for fp16, fp32 for bf16 and fp32, fp16 for float8
 *
 * y = bias + (y's type)sum of x * w in the order ky, kx, ic (CONV3D: ky, kx, kz, ic;
 * TRANSPOSE_CONV2D: from the last ky and kx to the first), which matters to sums that
 * leave 48 bits alone; positions outside the image take no part. The sum is rounded once to acc, then to y's type; the
 * bias is added in y's type.
 */
#include "../fast/fast.h"
#include "ops.h"
#include "sum.h"

typedef void sum_at(const struct weft_call *c, struct weft_sum *s, const int64_t *o);

/* o: n, oy, ox, oc */
static void conv2d_at(const struct weft_call *c, struct weft_sum *s, const int64_t *o)
{
	const struct weft_attr_conv *a = &c->attr->conv;
	const int64_t *x = c->x[0]->dim, *w = c->x[1]->dim;

	for (int64_t ky = 0; ky < w[1]; ky++)
		for (int64_t kx = 0; kx < w[2]; kx++) {
			int64_t py = o[1] * a->stride[0] - a->pad[0] + ky * a->dilation[0];
			int64_t px = o[2] * a->stride[1] - a->pad[2] + kx * a->dilation[1];

			if (py < 0 || py >= x[1] || px < 0 || px >= x[2])
				continue;
			for (int64_t i = 0; i < x[3]; i++)
				weft_sum_add(s, ((o[0] * x[1] + py) * x[2] + px) * x[3] + i,
				             ((o[3] * w[1] + ky) * w[2] + kx) * x[3] + i);
		}
}

static void depthwise_at(const struct weft_call *c, struct weft_sum *s, const int64_t *o)
{
	const struct weft_attr_conv *a = &c->attr->conv;
	const int64_t *x = c->x[0]->dim, *w = c->x[1]->dim;

	for (int64_t ky = 0; ky < w[0]; ky++)
		for (int64_t kx = 0; kx < w[1]; kx++) {
			int64_t py = o[1] * a->stride[0] - a->pad[0] + ky * a->dilation[0];
			int64_t px = o[2] * a->stride[1] - a->pad[2] + kx * a->dilation[1];

			if (py < 0 || py >= x[1] || px < 0 || px >= x[2])
				continue;
			weft_sum_add(s, ((o[0] * x[1] + py) * x[2] + px) * x[3] + o[3] / w[3],
			             (ky * w[1] + kx) * w[2] * w[3] + o[3]);
		}
}

static void transpose_at(const struct weft_call *c, struct weft_sum *s, const int64_t *o)
{
	const int64_t *x = c->x[0]->dim, *w = c->x[1]->dim;

	for (int64_t ky = w[1] - 1; ky >= 0; ky--)
		for (int64_t kx = w[2] - 1; kx >= 0; kx--) {
			int64_t py = weft_transpose_source(c, 0, o[1], ky), px = weft_transpose_source(c, 1, o[2], kx);

			if (py < 0 || px < 0)
				continue;
			for (int64_t i = 0; i < x[3]; i++)
				weft_sum_add(s, ((o[0] * x[1] + py) * x[2] + px) * x[3] + i,
				             ((o[3] * w[1] + ky) * w[2] + kx) * x[3] + i);
		}
}

/* o: n, oz, oy, ox, oc */
static void conv3d_at(const struct weft_call *c, struct weft_sum *s, const int64_t *o)
{
	const struct weft_attr_conv3d *a = &c->attr->conv3d;
	const int64_t *x = c->x[0]->dim, *w = c->x[1]->dim;

	for (int64_t ky = 0; ky < w[2]; ky++)
		for (int64_t kx = 0; kx < w[3]; kx++)
			for (int64_t kz = 0; kz < w[1]; kz++) {
				int64_t pz = o[1] * a->stride[0] - a->pad[0] + kz * a->dilation[0];
				int64_t py = o[2] * a->stride[1] - a->pad[2] + ky * a->dilation[1];
				int64_t px = o[3] * a->stride[2] - a->pad[4] + kx * a->dilation[2];

				if (pz < 0 || pz >= x[1] || py < 0 || py >= x[2] || px < 0 || px >= x[3])
					continue;
				for (int64_t i = 0; i < x[4]; i++)
					weft_sum_add(s, (((o[0] * x[1] + pz) * x[2] + py) * x[3] + px) * x[4] + i,
					             (((o[4] * w[1] + kz) * w[2] + ky) * w[3] + kx) * x[4] + i);
			}
}

/* o: n, h, w */
static void matmul_at(const struct weft_call *c, struct weft_sum *s, const int64_t *o)
{
	const int64_t *a = c->x[0]->dim, *b = c->x[1]->dim;

	for (int64_t k = 0; k < a[2]; k++)
		weft_sum_add(s, (o[0] * a[1] + o[1]) * a[2] + k, (o[0] * b[1] + k) * b[2] + o[2]);
}

/* Every output element; the last axis is the output channel. bias may be NULL. */
static void run_in(const struct weft_call *c, sum_at *at, struct weft_sum *s, const weft_tensor *bias)
{
	const weft_tensor *y = c->y[0];
	struct weft_walk w = { .rank = y->rank };
	int64_t i = 0;

	for (int d = 0; d < y->rank; d++)
		w.dim[d] = y->dim[d];
	do {
		weft_sum_begin(s);
		at(c, s, w.idx);
		weft_sum_store(s, y, i++, bias, bias && bias->dim[0] == 1 ? 0 : w.idx[y->rank - 1]);
	} while (weft_walk_next(&w));
}

static int run(const struct weft_call *c, sum_at *at, weft_dtype acc, int log2_scale, const weft_tensor *bias, bool chain)
{
	struct weft_sum s;
	int err = weft_sum_open(&s, c->x[0], c->x[1], acc, log2_scale);

	s.chain = chain;
	if (!err)
		run_in(c, at, &s, bias);
	weft_sum_free(&s);
	return err ? weft_call_fail(c, err, "out of memory") : 0;
}

static int convolution(const struct weft_call *c, sum_at *at)
{
	const struct weft_attr_conv *a = &c->attr->conv;

	return run(c, at, a->acc, a->log2_scale, c->x[2], a->chain && c->x[0]->dtype == WEFT_FP32);
}

int weft_float_conv2d(const struct weft_call *c)
{
	if (c->fast && weft_fast_float_conv2d(c) == 0)
		return 0;
	return convolution(c, conv2d_at);
}

int weft_float_depthwise_conv2d(const struct weft_call *c)
{
	if (c->fast && weft_fast_float_depthwise_conv2d(c) == 0)
		return 0;
	return convolution(c, depthwise_at);
}

int weft_float_transpose_conv2d(const struct weft_call *c)
{
	return convolution(c, transpose_at);
}

int weft_float_conv3d(const struct weft_call *c)
{
	return run(c, conv3d_at, c->attr->conv3d.acc, 0, c->x[2], false);
}

int weft_float_matmul(const struct weft_call *c)
{
	const struct weft_attr_matmul *a = &c->attr->matmul;

	if (c->fast && weft_fast_float_matmul(c) == 0)
		return 0;
	return run(c, matmul_at, c->y[0]->dtype, a->log2_scale, NULL, a->chain && c->x[0]->dtype == WEFT_FP32);
}

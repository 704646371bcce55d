/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TRANSPOSE_CONV2D as convolutions, one for each remainder of the output's position by the strides: the outputs with
 * one remainder see the same kernel positions, those `stride` apart, and neighbouring inputs. Plain loops: ../transpose_conv2d.c
 */
#include <stdlib.h>
#include <string.h>

#include "fast.h"

/* The outputs o = first + k * stride, k below n, of one axis; n is 0 if there are none. */
struct phase {
	int64_t first, n;
	int64_t taps, tap;         /* kernel positions that reach them: tap, tap + stride ..., so many; none: taps is 0 */
	int32_t pad[2];            /* of the convolution of their own */
};

/*
 * Outputs with o % stride = r. With d = o - out_pad, kernel position t takes input (d - t) / stride; those with
 * t % stride = d % stride count. A convolution goes through its taps in the other direction, so that the last one comes first.
 */
static struct phase phase_of(const struct weft_call *c, int axis, int64_t r)
{
	const int64_t stride = c->attr->conv.stride[axis], out = c->y[0]->dim[1 + axis], kernel = c->x[1]->dim[1 + axis], in = c->x[0]->dim[1 + axis];
	struct phase p = { .first = r, .n = r < out ? (out - r + stride - 1) / stride : 0 };
	const int64_t d = r - c->attr->conv.pad[2 * axis];

	p.tap = (d % stride + stride) % stride;
	p.taps = p.tap < kernel ? (kernel - p.tap + stride - 1) / stride : 0;
	/* The last tap of the first output takes this input: */
	const int64_t begin = (d - p.tap) / stride - (p.taps - 1);
	p.pad[0] = (int32_t)-begin;
	p.pad[1] = (int32_t)(begin + p.n - 1 + p.taps - in);
	return p;
}

/* Fills w with the weights at the kernel positions that both phases use, the last position first. */
static void choose_weights(const struct weft_call *c, const struct phase p[2], char *w)
{
	const weft_tensor *all = c->x[1];
	const int64_t kh = all->dim[1], kw = all->dim[2], line = all->dim[3] * (int64_t)weft_dtype_bytes(all->dtype);

	for (int64_t oc = 0; oc < all->dim[0]; oc++)
		for (int64_t i = p[0].taps - 1; i >= 0; i--)
			for (int64_t k = p[1].taps - 1; k >= 0; k--, w += line) {
				const int64_t ky = p[0].tap + i * c->attr->conv.stride[0], kx = p[1].tap + k * c->attr->conv.stride[1];
				memcpy(w, (const char *)all->data + ((oc * kh + ky) * kw + kx) * line, (size_t)line);
			}
}

/* Copies the results of one convolution, `some`, to their places in the output. */
static void spread(const struct weft_call *c, const struct phase p[2], const weft_tensor *some)
{
	const weft_tensor *y = c->y[0];
	const size_t bytes = weft_dtype_bytes(y->dtype) * (size_t)y->dim[3];
	const char *from = some->data;

	for (int64_t n = 0; n < y->dim[0]; n++)
		for (int64_t i = 0; i < p[0].n; i++)
			for (int64_t k = 0; k < p[1].n; k++, from += bytes) {
				const int64_t oy = p[0].first + i * c->attr->conv.stride[0], ox = p[1].first + k * c->attr->conv.stride[1];
				memcpy((char *)y->data + (size_t)((n * y->dim[1] + oy) * y->dim[2] + ox) * bytes, from, bytes);
			}
}

/*
 * Computes all outputs of these phases. If no tap reaches them, a convolution with one tap that lies in the padding gives them the bias
 * alone. Returns 0, -ENOMEM or -ENOTSUP.
 */
static int one(const struct weft_call *c, struct phase p[2])
{
	const weft_tensor *x = c->x[0], *w = c->x[1], *y = c->y[0];
	const bool none = !p[0].taps || !p[1].taps;
	weft_tensor part = { .dtype = w->dtype, .rank = 4, .dim = { w->dim[0], p[0].taps, p[1].taps, w->dim[3] } };
	weft_tensor some = { .dtype = y->dtype, .rank = 4, .dim = { y->dim[0], p[0].n, p[1].n, y->dim[3] } };
	const weft_tensor *in[] = { x, &part, c->x[2] };
	weft_tensor *out = &some;
	weft_attr a = *c->attr;
	int err = -ENOMEM;

	for (int i = 0; none && i < 2; i++) {
		part.dim[1 + i] = 1;
		p[i].pad[0] = (int32_t)p[i].n;
		p[i].pad[1] = (int32_t)-x->dim[1 + i];
	}
	for (int i = 0; i < 2; i++) {
		a.conv.stride[i] = a.conv.dilation[i] = 1;
		a.conv.pad[2 * i] = p[i].pad[0];
		a.conv.pad[2 * i + 1] = p[i].pad[1];
	}
	part.data = malloc(weft_tensor_bytes(&part));
	some.data = malloc(weft_tensor_bytes(&some));
	if (part.data && some.data) {
		if (none)
			memset(part.data, 0, weft_tensor_bytes(&part));
		else
			choose_weights(c, p, part.data);
		const struct weft_call conv = { .op = WEFT_OP_CONV2D, .attr = &a, .x = in, .n_x = 3, .y = &out, .n_y = 1, .fast = true };
		err = w->dtype == WEFT_FP32 ? weft_fast_float_conv2d(&conv) : weft_fast_conv2d(&conv);
	}
	if (!err)
		spread(c, p, &some);
	free(part.data);
	free(some.data);
	return err;
}

int weft_fast_transpose_conv2d(const struct weft_call *c)
{
	const struct weft_attr_conv *a = &c->attr->conv;
	int err = 0;

	if (c->x[1]->dtype != WEFT_INT8 && c->x[1]->dtype != WEFT_FP32)
		return -ENOTSUP;
	for (int64_t r = 0; r < a->stride[0] && !err; r++)
		for (int64_t q = 0; q < a->stride[1] && !err; q++) {
			struct phase p[2] = { phase_of(c, 0, r), phase_of(c, 1, q) };
			if (p[0].n && p[1].n)
				err = one(c, p);
		}
	return err;
}

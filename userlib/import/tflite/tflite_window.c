/* SPDX-License-Identifier: Apache-2.0 */
/* Sliding windows: computes padding and exact extents from TFLite's SAME and VALID. */
#include <errno.h>

#include "tflite_lower.h"

/*
 * Sets *w for a window of kernel elements, `dilation` apart, that moves by stride along an axis of `in`
 * elements; padding is TFL_SAME or TFL_VALID: number of windows, padding on both sides, and elements at the
 * end that no window reaches. Returns 0, or -EINVAL, with *w of no use, if a number is out of range or no
 * window fits (only TFL_VALID).
 */
int tfl_window(struct tfl_lower *l, int padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
               struct tfl_window *w)
{
	if (stride < 1 || dilation < 1 || kernel < 1)
		return tfl_fail(l, -EINVAL, "kernel %lld, stride %lld, dilation %lld; 1 or more", (long long)kernel,
		                (long long)stride, (long long)dilation);
	int64_t reach = (kernel - 1) * dilation + 1;
	if (reach > INT32_MAX / 2)
		return tfl_fail(l, -EINVAL, "kernel %lld with dilation %lld", (long long)kernel, (long long)dilation);
	if (padding != TFL_SAME && padding != TFL_VALID)
		return tfl_fail(l, -EINVAL, "padding %d", padding);
	w->out = padding == TFL_SAME ? (in - 1) / stride + 1 : (in - reach) / stride + 1;
	if (padding == TFL_VALID && in < reach)
		return tfl_fail(l, -EINVAL, "kernel reaches %lld of %lld", (long long)reach, (long long)in);
	int64_t need = (w->out - 1) * stride + reach;
	int64_t pad = need > in ? need - in : 0;
	w->before = (int32_t)(pad / 2);
	w->after = (int32_t)(pad - pad / 2);
	w->trim = in > need ? in - need : 0;
	return 0;
}

/*
 * Emits x [N,H,W,C] without the w[0].trim rows at the bottom and w[1].trim columns at the right
 * that no window reaches; x itself if there are none. Returns the graph tensor, or a negative
 * errno.
 */
int tfl_trim(struct tfl_lower *l, int x, const struct tfl_window w[2])
{
	weft_tensor t = l->g->tensors[x].t;
	weft_attr a = { .slice = { { 0 } } };

	if (!w[0].trim && !w[1].trim)
		return x;
	t.dim[1] -= w[0].trim;
	t.dim[2] -= w[1].trim;
	return tfl_step(l, WEFT_OP_SLICE, &a, &x, 1, t.dtype, 4, t.dim, false);
}

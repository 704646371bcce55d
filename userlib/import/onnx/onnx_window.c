/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sliding windows: kernel_shape, strides, dilations, pads, auto_pad, ceil_mode.
 *
 * In TOSA the stride has to divide lengths exactly. Elements that no window reaches are
 * taken from the padding behind first, then cut off the input.
 */
#include <errno.h>

#include "onnx_lower.h"

/*
 * Reads the attributes kernel_shape, strides, dilations and pads of the node at hand into *w, whose n is set;
 * strides and dilations that are absent are 1, pads 0. kernel is the weights' own shape, or NULL;
 * kernel_shape, if present, has to equal it, and if absent is `kernel`, or 0 without one. No value's range is
 * checked. Returns 0, or -EINVAL if a list has the wrong length or kernel_shape differs.
 */
static int lists(struct ox *l, struct ox_window *w, const int64_t *kernel)
{
	int64_t v[6];
	int n;

	for (int i = 0; i < w->n; i++) {
		w->kernel[i] = kernel ? kernel[i] : 0;
		w->stride[i] = w->dilation[i] = 1;
		w->before[i] = w->after[i] = 0;
	}
	if ((n = ox_attr_ints(l, "kernel_shape", 3, v)) < 0)
		return n;
	for (int i = 0; i < w->n && n; i++) {
		if (n != w->n || (kernel && kernel[i] != v[i]))
			return ox_fail(l, -EINVAL, "kernel_shape has %d values, %lld in dimension %d", n, (long long)v[i < n ? i : 0], i);
		w->kernel[i] = v[i];
	}
	if ((n = ox_attr_ints(l, "strides", 3, v)) < 0 || (n && n != w->n))
		return n < 0 ? n : ox_fail(l, -EINVAL, "%d strides for %d dimensions", n, w->n);
	for (int i = 0; i < n; i++)
		w->stride[i] = v[i];
	if ((n = ox_attr_ints(l, "dilations", 3, v)) < 0 || (n && n != w->n))
		return n < 0 ? n : ox_fail(l, -EINVAL, "%d dilations for %d dimensions", n, w->n);
	for (int i = 0; i < n; i++)
		w->dilation[i] = v[i];
	if ((n = ox_attr_ints(l, "pads", 6, v)) < 0 || (n && n != 2 * w->n))
		return n < 0 ? n : ox_fail(l, -EINVAL, "%d pads for %d dimensions", n, w->n);
	for (int i = 0; i < n; i++)
		*(i < w->n ? &w->before[i] : &w->after[i - w->n]) = v[i];
	return 0;
}

/*
 * Checks the numbers of *w for spatial dimension i, in which the input has `in` elements. Returns
 * 0, -EINVAL if kernel, stride or dilation is below 1 or padding below 0, or -ENOTSUP if one of
 * them is above 2^24 or `in` is 2^30 or more.
 */
static int judge(struct ox *l, const struct ox_window *w, int i, int64_t in)
{
	const int64_t most = 1 << 24;

	if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1 || w->before[i] < 0 || w->after[i] < 0)
		return ox_fail(l, -EINVAL, "kernel %lld, stride %lld, dilation %lld, pads %lld and %lld", (long long)w->kernel[i],
		               (long long)w->stride[i], (long long)w->dilation[i], (long long)w->before[i], (long long)w->after[i]);
	if (w->kernel[i] > most || w->stride[i] > most || w->dilation[i] > most || w->before[i] > most || w->after[i] > most ||
	    in > INT32_MAX / 2)
		return ox_fail(l, -ENOTSUP, "a window of more than 2^24");
	return 0;
}

/*
 * Computes for spatial dimension i of *w, in which the input has `in` elements: out, the output's
 * length; before and after, the padding that windows reach; and trim, the elements at the input's
 * end that none reaches. `same` is positive for auto_pad SAME_UPPER, negative for SAME_LOWER, 0 for
 * the padding that *w has. ceil rounds the length up, but no window begins in the padding behind.
 * Returns 0, -EINVAL if no window fits, or the errno of judge().
 */
static int one(struct ox *l, struct ox_window *w, int i, int64_t in, int same, bool ceil)
{
	int err = judge(l, w, i, in);
	if (err)
		return err;
	const int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1, stride = w->stride[i];
	if (same) {
		w->out[i] = (in - 1) / stride + 1;
		int64_t pad = (w->out[i] - 1) * stride + reach - in;
		pad = pad < 0 ? 0 : pad;
		w->before[i] = same > 0 ? pad / 2 : pad - pad / 2;
		w->after[i] = pad - w->before[i];
	} else {
		int64_t span = in + w->before[i] + w->after[i] - reach;
		if (span < 0 && !(ceil && span + stride > 0))
			return ox_fail(l, -EINVAL, "the kernel reaches %lld beyond the padded input", (long long)-span);
		w->out[i] = (span + (ceil ? stride - 1 : 0)) / stride + 1;
		/* A window that starts in the padding behind does not count. */
		if (ceil && (w->out[i] - 1) * stride >= in + w->before[i])
			w->out[i]--;
	}
	if (w->out[i] < 1)
		return ox_fail(l, -EINVAL, "no window fits");
	int64_t need = (w->out[i] - 1) * stride + reach - w->before[i];  /* of input and padding behind */
	w->after[i] = need > in ? need - in : 0;
	w->trim[i] = need < in ? in - need : 0;
	return 0;
}

/*
 * Fills *w from the attributes of the node at hand, for n spatial dimensions in which the input has
 * the lengths `in`. kernel is the weights' own shape, or NULL. If ceil is set, the output's lengths
 * are rounded up, and w->after grows to make room for it. Returns 0, -EINVAL if an attribute is
 * wrong or no window fits, or -ENOTSUP for windows above 2^24.
 */
int ox_window(struct ox *l, struct ox_window *w, int n, const int64_t *in, const int64_t *kernel, bool ceil)
{
	int same = ox_attr_is(l, "auto_pad", "SAME_UPPER", false) ? 1 : ox_attr_is(l, "auto_pad", "SAME_LOWER", false) ? -1 : 0;

	*w = (struct ox_window){ .n = n };
	int err = lists(l, w, kernel);
	if (err)
		return err;
	if (!same && !ox_attr_is(l, "auto_pad", "NOTSET", true) && !ox_attr_is(l, "auto_pad", "VALID", true))
		return ox_fail(l, -EINVAL, "auto_pad is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER");
	if (!ox_attr_is(l, "auto_pad", "NOTSET", true))
		for (int i = 0; i < n; i++)
			w->before[i] = w->after[i] = 0;
	for (int i = 0; i < n && !err; i++)
		err = one(l, w, i, in[i], same, ceil);
	return err;
}

/*
 * Emits a tensor with x, [N,spatial...,C], without the w->trim elements at the end of each spatial
 * dimension that no window reaches; x itself if there are none. Returns the graph tensor, -ENOTSUP
 * if nothing would be left, or another negative errno; a negative x is returned as it is.
 */
int ox_trim(struct ox *l, int x, const struct ox_window *w)
{
	static const int64_t start[WEFT_MAX_RANK];
	weft_tensor t;

	if (x < 0)
		return x;
	t = *ox_t(l, x);
	for (int i = 0; i < w->n; i++) {
		if (w->trim[i] >= t.dim[1 + i])
			return ox_fail(l, -ENOTSUP, "windows that see padding only");
		t.dim[1 + i] -= w->trim[i];
	}
	return ox_slice(l, x, start, t.dim);
}

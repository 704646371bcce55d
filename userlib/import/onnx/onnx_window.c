/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sliding windows: kernel_shape, strides, dilations, pads, auto_pad, ceil_mode.
 *
 * TOSA wants extents that the stride divides exactly: what no window reaches is
 * taken from the padding behind first, then cut off the input.
 */
#include <errno.h>

#include "onnx_lower.h"

/*
 * Reads kernel_shape, strides, dilations and pads into *w; kernel, if not NULL, is the weights'
 * own shape, which kernel_shape has to equal. Returns 0, or -EINVAL if a list has the wrong
 * length.
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
 * Checks that the window's numbers of dimension i are in range: at least 1 (padding: 0) and at
 * most 2^24. in is the input's length. Returns 0, -EINVAL or -ENOTSUP.
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
 * Computes the output's length, the padding used and the input left over, in elements, of
 * dimension i with input length in. same is 0 for explicit padding, positive for SAME_UPPER,
 * negative for SAME_LOWER; ceil rounds the length up. Returns 0 or a negative errno.
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
 * Reads the window of the node at hand over n spatial dimensions of lengths in; kernel is the
 * weights' own shape, or NULL. If ceil is set, the output's length is rounded up as pools may,
 * and after grows to make room. Returns 0 or a negative errno.
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
 * Emits x [N,spatial...,C] without the elements at the end that no window reaches. Returns the
 * tensor's index, or a negative errno; a negative x is returned as it is.
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of one to three dimensions, of floats or integers with zero points; transposed; deformable. */
#include <stdlib.h>

#include "sim/golden/onnx/ref/window.h"

#define GROUP BEHIND_WINDOW

static int64_t zero_point(const struct ref *r, int k, int64_t channel)
{
	const weft_tensor *t = k < r->n_x ? r->x[k] : NULL;

	return t ? ref_i(t, REF_N(t) == 1 ? 0 : channel) : 0;
}

/* Operands x, w, and a bias (floats) or zero points of both (integers). */
static int convolve(struct ref *r, weft_dtype t, bool integers)
{
	const weft_tensor *x = r->x[0], *w = r->x[1];
	const int64_t group = r->a->i[GROUP];
	struct window win;

	if (x->rank < 3 || w->rank != x->rank || group < 1 || x->dim[1] != w->dim[1] * group || w->dim[0] % group)
		return ref_fail(r, -EINVAL, "weights do not fit");
	int err = ref_window_of(r, x, w->dim + 2, false, &win);
	err = err ? err : integers ? ref_count(r, 2, 1, true) : ref_count(r, 2, w->dim[0], false);
	err = err || !integers ? err : ref_count(r, 3, w->dim[0], true);
	err = err ? err : ref_y_images(r, 0, t, w->dim[0], win.out);
	if (err || r->shapes)
		return err;
	const int64_t in = ref_places(win.in, win.n), out = ref_places(win.out, win.n), taps = ref_taps(&win), ic = w->dim[1], oc = w->dim[0];
	for (int64_t i = 0, n = REF_N(r->y[0]); i < n; i++) {
		const int64_t p = i % out, o = i / out % oc, b = i / out / oc, first = o / (oc / group) * ic;
		double v = !integers && r->n_x > 2 && r->x[2] ? ref_f(r->x[2], o) : 0;
		int64_t s = 0;
		for (int64_t k = 0; k < taps; k++) {
			const int64_t at = ref_tap(&win, p, k);
			for (int64_t c = 0; at >= 0 && c < ic; c++) {
				const int64_t px = (b * x->dim[1] + first + c) * in + at, pw = (o * ic + c) * taps + k;
				if (integers)
					s = ref_add(s, ref_mul(ref_sub(ref_i(x, px), zero_point(r, 2, 0)), ref_sub(ref_i(w, pw), zero_point(r, 3, o))));
				else
					v += ref_f(x, px) * ref_f(w, pw);
			}
		}
		if (integers)
			ref_put_i(r->y[0], i, s);
		else
			ref_put_f(r->y[0], i, v);
	}
	return 0;
}

int ref_conv(struct ref *r)
{
	return convolve(r, r->x[0]->dtype, false);
}

int ref_conv_integer(struct ref *r)
{
	return convolve(r, WEFT_INT32, true);
}

/* ---- transposed ---- */

int ref_transposed_window(struct ref *r, struct window *w)
{
	const weft_tensor *x = r->x[0], *k = r->x[1];
	int64_t more[WEFT_ONNX_LIST], shape[WEFT_ONNX_LIST], list[WEFT_ONNX_LIST];
	const int n_more = ref_list(r, GROUP + 1, -1, WEFT_ONNX_LIST, more), n_shape = ref_list(r, GROUP + 10, -1, WEFT_ONNX_LIST, shape);

	*w = (struct window){ .n = x->rank - 2 };
	if (w->n < 1 || w->n > 3 || k->rank != x->rank)
		return ref_fail(r, w->n > 3 ? -ENOTSUP : -EINVAL, "rank %d", x->rank);
	if (n_more < 0 || n_shape < 0 || (n_shape && n_shape < w->n))
		return n_more < 0 ? n_more : n_shape < 0 ? n_shape : ref_fail(r, -EINVAL, "output_shape has %d numbers", n_shape);
	const int n_stride = ref_list(r, STRIDES, -1, WEFT_ONNX_LIST, list);
	for (int d = 0; d < w->n; d++)
		w->stride[d] = n_stride > d ? list[d] : 1;
	const int n_dilation = ref_list(r, DILATIONS, -1, WEFT_ONNX_LIST, list);
	for (int d = 0; d < w->n; d++)
		w->dilation[d] = n_dilation > d ? list[d] : 1;
	const int n_pads = ref_list(r, PADS, -1, WEFT_ONNX_LIST, list), mode = r->a->i[AUTO_PAD];
	for (int d = 0; d < w->n; d++) {
		const int64_t extra = n_more > d ? more[d] : 0, full = (x->dim[2 + d] - 1) * w->stride[d] + (k->dim[2 + d] - 1) * w->dilation[d] + 1 + extra;
		w->kernel[d] = k->dim[2 + d];
		w->out[d] = x->dim[2 + d];
		w->before[d] = n_pads == 2 * w->n && !mode ? list[d] : 0;
		w->in[d] = full - w->before[d] - (n_pads == 2 * w->n && !mode ? list[d + w->n] : 0);
		if (n_shape || mode == 1 || mode == 2) {
			w->in[d] = n_shape ? shape[n_shape - w->n + d] : x->dim[2 + d] * w->stride[d];
			const int64_t all = full - w->in[d] > 0 ? full - w->in[d] : 0;
			w->before[d] = mode == 1 ? all / 2 : all - all / 2;
			if (!mode)
				w->before[d] = all / 2;
		}
		if (w->stride[d] < 1 || w->dilation[d] < 1 || w->in[d] < 1 || w->in[d] > INT32_MAX || w->kernel[d] < 1)
			return ref_fail(r, -EINVAL, "dimension %d of the result is %lld", d, (long long)w->in[d]);
	}
	return 0;
}

int ref_conv_transpose(struct ref *r)
{
	const weft_tensor *x = r->x[0], *w = r->x[1];
	const int64_t group = r->a->i[GROUP];
	struct window win;
	int err = ref_transposed_window(r, &win);

	if (err || group < 1 || x->dim[1] != w->dim[0] || w->dim[0] % group)
		return err ? err : ref_fail(r, -EINVAL, "weights do not fit");
	const int64_t channels = w->dim[1] * group;
	err = ref_count(r, 2, channels, false);
	err = err ? err : ref_y_images(r, 0, x->dtype, channels, win.in);
	if (err || r->shapes)
		return err;
	const int64_t in = ref_places(win.in, win.n), out = ref_places(win.out, win.n), taps = ref_taps(&win), each = w->dim[0] / group, oc = w->dim[1];
	double *sum = ref_alloc(r, in, sizeof *sum);
	if (!sum)
		return -ENOMEM;
	for (int64_t plane = 0; plane < x->dim[0] * channels; plane++) {
		const int64_t o = plane % channels, b = plane / channels, first = o / oc * each;
		for (int64_t i = 0; i < in; i++)
			sum[i] = r->n_x > 2 && r->x[2] ? ref_f(r->x[2], o) : 0;
		for (int64_t c = first; c < first + each; c++)
			for (int64_t p = 0; p < out; p++)
				for (int64_t k = 0; k < taps; k++) {
					const int64_t at = ref_tap(&win, p, k);
					if (at >= 0)
						sum[at] += ref_f(x, (b * x->dim[1] + c) * out + p) * ref_f(w, (c * oc + o % oc) * taps + k);
				}
		for (int64_t i = 0; i < in; i++)
			ref_put_f(r->y[0], plane * in + i, sum[i]);
	}
	free(sum);
	return 0;
}

/* ---- deformable: images only ---- */

/* Bilinear between pixels, 0 outside. */
static double sampled(const weft_tensor *x, int64_t plane, double v, double u)
{
	const int64_t h = x->dim[2], w = x->dim[3];
	const double y0 = floor(v), x0 = floor(u);
	double sum = 0;

	for (int k = 0; k < 4; k++) {
		const double py = y0 + (k >> 1), px = x0 + (k & 1);
		if (py >= 0 && py < (double)h && px >= 0 && px < (double)w)
			sum += ref_f(x, (plane * h + (int64_t)py) * w + (int64_t)px) * (1 - fabs(v - py)) * (1 - fabs(u - px));
	}
	return sum;
}

int ref_deform_conv(struct ref *r)
{
	const weft_tensor *x = r->x[0], *w = r->x[1], *offset = r->x[2], *bias = r->n_x > 3 ? r->x[3] : NULL, *mask = r->n_x > 4 ? r->x[4] : NULL;
	const int64_t group = r->a->i[GROUP], og = r->a->i[GROUP + 1];
	struct window win;

	if (x->rank != 4 || w->rank != 4 || group < 1 || og < 1 || x->dim[1] != w->dim[1] * group || w->dim[0] % group || x->dim[1] % og)
		return ref_fail(r, x->rank == 4 ? -EINVAL : -ENOTSUP, "rank %d, %lld groups", x->rank, (long long)group);
	int err = ref_window_of(r, x, w->dim + 2, false, &win);
	const int64_t shifts = err ? 0 : x->dim[0] * og * ref_taps(&win) * ref_places(win.out, 2);
	err = err ? err : ref_count(r, 2, 2 * shifts, false);
	err = err ? err : ref_count(r, 3, w->dim[0], false);
	err = err ? err : ref_count(r, 4, shifts, false);
	err = err ? err : ref_y_images(r, 0, x->dtype, w->dim[0], win.out);
	if (err || r->shapes)
		return err;
	const int64_t out = ref_places(win.out, 2), taps = ref_taps(&win), ic = w->dim[1], oc = w->dim[0];
	for (int64_t i = 0, n = REF_N(r->y[0]); i < n; i++) {
		const int64_t p = i % out, o = i / out % oc, b = i / out / oc, first = o / (oc / group) * ic;
		double v = bias ? ref_f(bias, o) : 0;
		for (int64_t c = 0; c < ic; c++)
			for (int64_t k = 0; k < taps; k++) {
				const int64_t g = (first + c) / (x->dim[1] / og), at = ((b * og + g) * taps + k) * 2;
				const double py = (double)(p / win.out[1] * win.stride[0] - win.before[0] + k / win.kernel[1] * win.dilation[0]);
				const double px = (double)(p % win.out[1] * win.stride[1] - win.before[1] + k % win.kernel[1] * win.dilation[1]);
				const double s = sampled(x, b * x->dim[1] + first + c, py + ref_f(offset, at * out + p), px + ref_f(offset, (at + 1) * out + p));
				v += s * ref_f(w, (o * ic + c) * taps + k) * (mask ? ref_f(mask, ((b * og + g) * taps + k) * out + p) : 1);
			}
		ref_put_f(r->y[0], i, v);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Pools, their inverses, and local response normalisation. */
#include <stdlib.h>

#include "sim/golden/onnx/ref/window.h"

#define MOST_TAPS (1 << 22)     /* of a pool's window, of which most may lie in the padding */

int64_t ref_places(const int64_t *dim, int n)
{
	int64_t v = 1;

	for (int d = 0; d < n; d++)
		v *= dim[d];
	return v;
}

int64_t ref_taps(const struct window *w)
{
	return ref_places(w->kernel, w->n);
}

static void same_padding(struct window *w, int d, bool upper)
{
	const int64_t span = (w->kernel[d] - 1) * w->dilation[d] + 1;
	int64_t all;

	w->out[d] = (w->in[d] + w->stride[d] - 1) / w->stride[d];
	all = (w->out[d] - 1) * w->stride[d] + span - w->in[d];
	all = all > 0 ? all : 0;
	w->before[d] = upper ? all / 2 : all - all / 2;
	w->after[d] = all - w->before[d];
}

int ref_window_of(struct ref *r, const weft_tensor *x, const int64_t *kernel, bool ceil, struct window *w)
{
	int64_t list[4][WEFT_ONNX_LIST];
	const int at[] = { KERNEL, STRIDES, DILATIONS, PADS };
	int count[4];

	*w = (struct window){ .n = x->rank - 2 };
	for (int i = 0; i < 4; i++)
		count[i] = ref_list(r, at[i], -1, WEFT_ONNX_LIST, list[i]);
	if (w->n < 1 || w->n > 3 || (!kernel && count[0] != w->n))
		return ref_fail(r, w->n > 3 ? -ENOTSUP : -EINVAL, "rank %d, kernel of %d dimensions", x->rank, count[0]);
	for (int i = 0; i < 4; i++)
		if (count[i] > 0 && count[i] != (at[i] == PADS ? 2 : 1) * w->n)
			return ref_fail(r, -EINVAL, "%d %s for %d dimensions", count[i],
			                at[i] == PADS ? "pads" : at[i] == KERNEL ? "extents of the kernel" : "strides or dilations", w->n);
	for (int d = 0; d < w->n; d++) {
		if (kernel && count[0] > 0 && list[0][d] != kernel[d])
			return ref_fail(r, -EINVAL, "kernel_shape is %lld in dimension %d, the weights have %lld", (long long)list[0][d], d,
			                (long long)kernel[d]);
		w->in[d] = x->dim[2 + d];
		w->kernel[d] = kernel ? kernel[d] : list[0][d];
		w->stride[d] = count[1] > d ? list[1][d] : 1;
		w->dilation[d] = count[2] > d ? list[2][d] : 1;
		w->before[d] = count[3] == 2 * w->n ? list[3][d] : 0;
		w->after[d] = count[3] == 2 * w->n ? list[3][d + w->n] : 0;
		if (w->kernel[d] < 1 || w->stride[d] < 1 || w->dilation[d] < 1 || w->kernel[d] > 1 << 15 || w->in[d] < 1)
			return ref_fail(r, -EINVAL, "kernel %lld, stride %lld", (long long)w->kernel[d], (long long)w->stride[d]);
		const int64_t span = (w->kernel[d] - 1) * w->dilation[d] + 1;
		if (r->a->i[AUTO_PAD] == 3)
			w->before[d] = w->after[d] = 0;
		const int64_t room = w->in[d] + w->before[d] + w->after[d] - span;
		w->out[d] = room < 0 ? 0 : (room + (ceil ? w->stride[d] - 1 : 0)) / w->stride[d] + 1;
		if (ceil && (w->out[d] - 1) * w->stride[d] >= w->in[d] + w->before[d])
			w->out[d]--;
		if (r->a->i[AUTO_PAD] == 1 || r->a->i[AUTO_PAD] == 2)
			same_padding(w, d, r->a->i[AUTO_PAD] == 1);
		if (w->out[d] < 1)
			return ref_fail(r, -EINVAL, "no window fits dimension %d", d);
	}
	if (!kernel && ref_taps(w) > MOST_TAPS)
		return ref_fail(r, -ENOTSUP, "a window of %lld places, at most %d", (long long)ref_taps(w), MOST_TAPS);
	return 0;
}

int ref_y_images(struct ref *r, int k, weft_dtype t, int64_t channels, const int64_t *place)
{
	weft_tensor y = *r->x[0];

	y.dim[1] = channels;
	for (int d = 2; d < y.rank; d++)
		y.dim[d] = place[d - 2];
	return ref_y(r, k, t, y.rank, y.dim);
}

int64_t ref_tap(const struct window *w, int64_t p, int64_t k)
{
	int64_t at[3], tap[3], i = 0;

	ref_split(p, w->n, w->out, at);
	ref_split(k, w->n, w->kernel, tap);
	for (int d = 0; d < w->n; d++) {
		const int64_t v = at[d] * w->stride[d] - w->before[d] + tap[d] * w->dilation[d];
		if (v < 0 || v >= w->in[d])
			return -1;
		i = i * w->in[d] + v;
	}
	return i;
}

/* Taps that count for an average: in the image, or also in its padding, but not in what rounding up adds. */
static bool counts(const struct window *w, int64_t p, int64_t k, bool with_padding)
{
	int64_t at[3], tap[3];

	if (!with_padding)
		return ref_tap(w, p, k) >= 0;
	ref_split(p, w->n, w->out, at);
	ref_split(k, w->n, w->kernel, tap);
	for (int d = 0; d < w->n; d++)
		if (at[d] * w->stride[d] + tap[d] * w->dilation[d] >= w->in[d] + w->before[d] + w->after[d])
			return false;
	return true;
}

int64_t ref_padded_taps(const struct window *w, int64_t p)
{
	int64_t n = 0;

	for (int64_t k = 0, all = ref_taps(w); k < all; k++)
		n += counts(w, p, k, true);
	return n;
}

/* Index of a place in the order of columns, if asked for. */
static int64_t stored(const struct window *w, int64_t i, bool columns)
{
	int64_t at[3], v = 0;

	ref_split(i, w->n, w->in, at);
	for (int d = 0; d < w->n; d++) {
		const int e = columns ? w->n - 1 - d : d;
		v = v * w->in[e] + at[e];
	}
	return v;
}

static void pool_max(struct ref *r, const struct window *w, int64_t plane, int64_t p)
{
	const weft_tensor *x = r->x[0];
	const int64_t in = ref_places(w->in, w->n), out = ref_places(w->out, w->n);
	int64_t best = -1;

	for (int64_t k = 0, n = ref_taps(w); k < n; k++) {
		const int64_t i = ref_tap(w, p, k);
		if (i >= 0 && (best < 0 || ref_f(x, plane * in + i) > ref_f(x, plane * in + best)))
			best = i;
	}
	if (best >= 0)
		ref_copy(r->y[0], plane * out + p, x, plane * in + best);
	else
		ref_put_f(r->y[0], plane * out + p, -INFINITY);
	if (r->n_y > 1)
		((int64_t *)r->y[1]->data)[plane * out + p] = plane * in + (best < 0 ? 0 : stored(w, best, r->a->i[BEHIND_WINDOW + 1]));
}

static void pool_sum(struct ref *r, const struct window *w, int64_t plane, int64_t p)
{
	const int64_t in = ref_places(w->in, w->n), out = ref_places(w->out, w->n);
	const bool lp = *r->name == 'L';
	const double power = lp ? r->a->i[BEHIND_WINDOW + 1] : 1;
	int64_t n = 0;
	double sum = 0;

	for (int64_t k = 0, all = ref_taps(w); k < all; k++) {
		const int64_t i = ref_tap(w, p, k);
		const double v = i < 0 ? 0 : ref_f(r->x[0], plane * in + i);
		sum += lp ? pow(fabs(v), power) : v;
		n += counts(w, p, k, !lp && r->a->i[BEHIND_WINDOW + 1]);
	}
	ref_put_f(r->y[0], plane * out + p, lp ? pow(sum, 1 / power) : sum / (double)n);
}

int ref_pool(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	struct window w;
	int err = ref_window_of(r, x, NULL, r->a->i[BEHIND_WINDOW], &w);

	err = err ? err : ref_y_images(r, 0, x->dtype, x->dim[1], w.out);
	err = err ? err : ref_y_images(r, 1, WEFT_INT64, x->dim[1], w.out);
	if (err || r->shapes)
		return err;
	for (int64_t plane = 0, planes = x->dim[0] * x->dim[1]; plane < planes; plane++)
		for (int64_t p = 0, n = ref_places(w.out, w.n); p < n; p++) {
			if (*r->name == 'M')
				pool_max(r, &w, plane, p);
			else
				pool_sum(r, &w, plane, p);
		}
	return 0;
}

int ref_global_pool(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	weft_tensor y = *x;

	if (x->rank < 2)
		return ref_fail(r, -EINVAL, "rank %d", x->rank);
	for (int d = 2; d < x->rank; d++)
		y.dim[d] = 1;
	int err = ref_y_like(r, 0, &y);
	if (err || r->shapes)
		return err;
	const int64_t n = ref_inner(x, 1);
	const double power = !strcmp(r->name, "GlobalLpPool") ? r->a->i[0] : 0;
	for (int64_t plane = 0, planes = REF_N(&y); plane < planes; plane++) {
		const bool max = !strcmp(r->name, "GlobalMaxPool");
		double v = max ? -INFINITY : 0;
		for (int64_t i = 0; i < n; i++) {
			const double e = ref_f(x, plane * n + i);
			v = max ? fmax(v, e) : power > 0 ? v + pow(fabs(e), power) : v + e;
		}
		ref_put_f(r->y[0], plane, max ? v : power > 0 ? pow(v, 1 / power) : v / (double)n);
	}
	return 0;
}

/* Values back to the places that MaxPool's indices name; the shape may be given. */
int ref_max_unpool(struct ref *r)
{
	const weft_tensor *x = r->x[0], *idx = r->x[1];
	int64_t dim[WEFT_MAX_RANK], kernel[WEFT_ONNX_LIST], stride[WEFT_ONNX_LIST], pads[WEFT_ONNX_LIST];
	int k = ref_list(r, 0, -1, WEFT_ONNX_LIST, kernel), s = ref_list(r, 9, -1, WEFT_ONNX_LIST, stride), p = ref_list(r, 18, -1, WEFT_ONNX_LIST, pads), err;

	if (x->rank < 3 || REF_N(idx) != REF_N(x))
		return ref_fail(r, -EINVAL, "rank %d, %lld indices", x->rank, (long long)REF_N(idx));
	memcpy(dim, x->dim, sizeof dim);
	for (int d = 0; d + 2 < x->rank; d++)
		dim[d + 2] = (x->dim[d + 2] - 1) * (s > d ? stride[d] : 1) + (k > d ? kernel[d] : 1) - (p == 2 * (x->rank - 2) ? pads[d] + pads[d + x->rank - 2] : 0);
	/* Indices count through the image that was pooled, whose shape operand 2 may enlarge. */
	const int64_t plane = ref_places(dim + 2, x->rank - 2);
	int64_t inner[WEFT_MAX_RANK];
	memcpy(inner, dim, sizeof inner);
	for (int d = 0; d < x->rank; d++)
		if (dim[d] < 1 || dim[d] > INT32_MAX)
			return ref_fail(r, -EINVAL, "dimension %d is %lld", d, (long long)dim[d]);
	if (r->n_x > 2 && r->x[2] && (err = ref_ints(r, 2, WEFT_MAX_RANK, dim)) != x->rank)
		return err < 0 ? err : ref_fail(r, -EINVAL, "a shape of rank %d", err);
	err = ref_y(r, 0, x->dtype, x->rank, dim);
	if (err || r->shapes)
		return err;
	memset(r->y[0]->data, 0, weft_tensor_bytes(r->y[0]));
	for (int64_t i = 0, n = REF_N(x); i < n; i++) {
		const int64_t v = ref_i(idx, i);
		int64_t at[WEFT_MAX_RANK];
		if (v < 0 || v >= inner[0] * inner[1] * plane)
			return ref_fail(r, -EINVAL, "index %lld", (long long)v);
		ref_split(v, x->rank, inner, at);
		for (int d = 0; d < x->rank; d++)
			if (at[d] >= dim[d])
				return ref_fail(r, -EINVAL, "index %lld lies outside", (long long)v);
		ref_copy(r->y[0], ref_at(r->y[0], x->rank, at), x, i);
	}
	return 0;
}

/* Sums of overlapping blocks, at their places of the image. */
int ref_col2im(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t image[3], block[3], d_[WEFT_ONNX_LIST], pads[WEFT_ONNX_LIST], s_[WEFT_ONNX_LIST], dim[5];
	int n = ref_ints(r, 1, 3, image), m = n < 0 ? n : ref_ints(r, 2, 3, block);
	struct window w = { .n = n };

	if (m < 0)
		return m;
	const int nd = ref_list(r, 0, -1, WEFT_ONNX_LIST, d_), np = ref_list(r, 9, -1, WEFT_ONNX_LIST, pads), ns = ref_list(r, 18, -1, WEFT_ONNX_LIST, s_);
	for (int d = 0; d < n; d++) {
		w.in[d] = dim[2 + d] = image[d];
		w.kernel[d] = block[d];
		w.stride[d] = ns > d ? s_[d] : 1;
		w.dilation[d] = nd > d ? d_[d] : 1;
		w.before[d] = np == 2 * n ? pads[d] : 0;
		if (block[d] < 1 || block[d] > 1 << 15 || w.stride[d] < 1 || w.dilation[d] < 1 || image[d] < 1 || image[d] > INT32_MAX)
			return ref_fail(r, -EINVAL, "dimension %d of a block is %lld", d, (long long)block[d]);
		w.out[d] = (image[d] + w.before[d] + (np == 2 * n ? pads[d + n] : 0) - (block[d] - 1) * w.dilation[d] - 1) / w.stride[d] + 1;
	}
	const int64_t taps = ref_taps(&w), places = ref_places(w.out, n), in = ref_places(w.in, n);
	if (x->rank != 3 || m != n || x->dim[1] % taps || x->dim[2] != places)
		return ref_fail(r, -EINVAL, "%lld blocks of %lld elements", (long long)places, (long long)taps);
	dim[0] = x->dim[0];
	dim[1] = x->dim[1] / taps;
	int err = ref_y(r, 0, x->dtype, n + 2, dim);
	if (err || r->shapes)
		return err;
	memset(r->y[0]->data, 0, weft_tensor_bytes(r->y[0]));
	for (int64_t plane = 0; plane < dim[0] * dim[1]; plane++)
		for (int64_t k = 0; k < taps; k++)
			for (int64_t p = 0; p < places; p++) {
				const int64_t to = ref_tap(&w, p, k);
				if (to >= 0)
					ref_put_f(r->y[0], plane * in + to, ref_f(r->y[0], plane * in + to) + ref_f(x, (plane * taps + k) * places + p));
			}
	return 0;
}

int ref_lrn(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const double alpha = (double)r->a->f[0], beta = (double)r->a->f[1], bias = (double)r->a->f[2];
	const int64_t size = r->a->i[0];
	int err = x->rank < 2 || size < 1 ? ref_fail(r, -EINVAL, "rank %d, size %d", x->rank, (int)size) : ref_y_like(r, 0, x);

	if (err || r->shapes)
		return err;
	const int64_t inner = ref_inner(x, 1), c = x->dim[1];
	for (int64_t i = 0, n = REF_N(x); i < n; i++) {
		const int64_t at = i / inner % c;
		double sum = 0;
		const int64_t from = at - (size - 1) / 2;
		for (int64_t k = from > 0 ? from : 0; k <= at + size / 2 && k < c; k++)
			sum += ref_f(x, i + (k - at) * inner) * ref_f(x, i + (k - at) * inner);
		ref_put_f(r->y[0], i, ref_f(x, i) / pow(bias + alpha / (double)size * sum, beta));
	}
	return 0;
}

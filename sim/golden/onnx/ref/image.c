/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling of images: GridSample, AffineGrid, RoiAlign; boxes. */
#include <stdlib.h>

#include "sim/golden/onnx/ref/ref.h"

/* ---- GridSample ---- */

enum { LINEAR, BILINEAR, NEAREST, CUBIC, BICUBIC };
enum { ZEROS, BORDER, REFLECTION };

struct sampler { const weft_tensor *x; int n, mode, padding; bool corners; int64_t plane; };

/* Mirrored at the limits until it lies between them. */
static double mirrored(double v, double lo, double hi)
{
	const double range = hi - lo, away = v < lo ? lo - v : v > hi ? v - hi : 0;

	if (v >= lo && v <= hi)
		return v;
	if (!(range > 0))
		return lo;
	const double turns = floor(away / range), rest = away - turns * range;
	const bool even = fmod(turns, 2) == 0;
	return (v < lo) == even ? lo + rest : hi - rest;
}

static double limit_of(const struct sampler *s, int d, bool upper)
{
	const double n = (double)s->x->dim[2 + d];

	return s->corners ? (upper ? n - 1 : 0) : upper ? n - 0.5 : -0.5;
}

static double pixel(const struct sampler *s, const int64_t *at)
{
	int64_t i = s->plane;

	for (int d = 0; d < s->n; d++) {
		const int64_t n = s->x->dim[2 + d];
		int64_t v = at[d];

		if (v < 0 || v >= n) {
			if (s->padding == ZEROS)
				return 0;
			v = s->padding == BORDER ? (v < 0 ? 0 : n - 1) : (int64_t)mirrored((double)v, limit_of(s, d, false), limit_of(s, d, true));
		}
		i = i * n + v;
	}
	return ref_f(s->x, i);
}

/* Weights of the pixels around a place, f behind the first of the middle two (cubic) or of both (linear). */
static int weights(int mode, double f, double *w)
{
	const double a = -0.75;

	if (mode == LINEAR || mode == BILINEAR) {
		w[0] = 1 - f;
		w[1] = f;
		return 2;
	}
	for (int k = 0; k < 4; k++) {
		const double d = fabs(f + 1 - k);
		w[k] = d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
	}
	return 4;
}

static double sample(const struct sampler *s, const double *v)
{
	double w[3][4], sum = 0;
	int64_t base[3], at[3];
	int taps = 1, each = 1;

	for (int d = 0; d < s->n; d++) {
		if (s->mode == NEAREST) {
			base[d] = fabs(v[d]) < 0x1p31 ? (int64_t)nearbyint(v[d]) : -2;
			w[d][0] = 1;
		} else {
			each = weights(s->mode, v[d] - floor(v[d]), w[d]);
			base[d] = fabs(v[d]) < 0x1p31 ? (int64_t)floor(v[d]) - (each == 4) : -9;
		}
		taps *= each;
	}
	for (int k = 0; k < taps; k++) {
		double f = 1;
		int rest = k;
		for (int d = s->n - 1; d >= 0; d--, rest /= each) {
			at[d] = base[d] + rest % each;
			f *= w[d][rest % each];
		}
		sum += f * pixel(s, at);
	}
	return sum;
}

int ref_grid_sample(struct ref *r)
{
	const weft_tensor *x = r->x[0], *grid = r->x[1];
	const int n = x->rank - 2;
	struct sampler s = { .x = x, .n = n, .mode = r->a->i[0], .padding = r->a->i[1], .corners = r->a->i[2] };
	weft_tensor y = *x;

	if (n < 1 || n > 3 || !REF_N(x) || grid->rank != x->rank || grid->dim[grid->rank - 1] != n || grid->dim[0] != x->dim[0])
		return ref_fail(r, n > 3 ? -ENOTSUP : -EINVAL, "the grid does not fit rank %d", x->rank);
	for (int d = 0; d < n; d++)
		y.dim[2 + d] = grid->dim[1 + d];
	int err = ref_y_like(r, 0, &y);
	if (err || r->shapes)
		return err;
	const int64_t places = ref_inner(&y, 1);
	for (int64_t i = 0, all = REF_N(&y); i < all; i++) {
		double v[3];
		s.plane = i / places;
		for (int d = 0; d < n; d++) {
			const double len = (double)x->dim[2 + d], g = ref_f(grid, ((s.plane / x->dim[1]) * places + i % places) * n + n - 1 - d);
			v[d] = s.corners ? (g + 1) / 2 * (len - 1) : ((g + 1) * len - 1) / 2;
			v[d] = (double)(float)v[d];
			if (s.mode == NEAREST)
				v[d] = nearbyint(v[d]);
			if (s.padding == BORDER)
				v[d] = v[d] < limit_of(&s, d, false) || v[d] > limit_of(&s, d, true) ? fmax(0, fmin(len - 1, v[d])) : v[d];
			else if (s.padding == REFLECTION)
				v[d] = mirrored(v[d], limit_of(&s, d, false), limit_of(&s, d, true));
		}
		ref_put_f(r->y[0], i, sample(&s, v));
	}
	return 0;
}

/* theta [N,D,D+1] on the places of an image of a size, operand 1: [N,...,D], x first. */
int ref_affine_grid(struct ref *r)
{
	const weft_tensor *theta = r->x[0];
	int64_t size[5], dim[5], at[3];
	int n = ref_ints(r, 1, 5, size);

	if (n < 0)
		return n;
	n -= 2;
	if ((n != 2 && n != 3) || theta->rank != 3 || theta->dim[1] != n || theta->dim[2] != n + 1)
		return ref_fail(r, -EINVAL, "%d dimensions", n);
	dim[0] = theta->dim[0];
	memcpy(dim + 1, size + 2, sizeof *dim * (size_t)n);
	dim[n + 1] = n;
	int err = ref_y(r, 0, theta->dtype, n + 2, dim);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, all = REF_N(r->y[0]); i < all; i++) {
		const int64_t places = all / dim[0] / n, b = i / n / places;
		double v = ref_f(theta, (b * n + i % n) * (n + 1) + n);
		ref_split(i / n % places, n, size + 2, at);
		for (int d = 0; d < n; d++) {
			const double len = (double)size[2 + d], p = r->a->i[0] ? -1 + 2.0 / (len - 1) * (double)at[d] : -1 + (2.0 * (double)at[d] + 1) / len;
			v += ref_f(theta, (b * n + i % n) * (n + 1) + n - 1 - d) * (r->a->i[0] && len == 1 ? -1 : p);
		}
		ref_put_f(r->y[0], i, v);
	}
	return 0;
}

/* ---- RoiAlign ---- */

/*
 * Returns a plane's element at row y and column u, between elements: the sum of the four around it, each times its weight, or with max
 * the greatest of these products; 0 if the place is more than 1 outside.
 */
static double roi_sample(const weft_tensor *x, int64_t plane, double y, double u, bool max)
{
	const int64_t h = x->dim[2], w = x->dim[3];

	if (y < -1 || y > (double)h || u < -1 || u > (double)w)
		return 0;
	y = fmax(0, y);
	u = fmax(0, u);
	const int64_t y0 = y >= (double)(h - 1) ? h - 1 : (int64_t)y, x0 = u >= (double)(w - 1) ? w - 1 : (int64_t)u;
	const double fy = y0 == h - 1 ? 0 : y - (double)y0, fx = x0 == w - 1 ? 0 : u - (double)x0;
	double v = max ? -INFINITY : 0;
	for (int k = 0; k < 4; k++) {
		const int64_t py = y0 + (k >> 1) < h ? y0 + (k >> 1) : h - 1, px = x0 + (k & 1) < w ? x0 + (k & 1) : w - 1;
		const double e = (k >> 1 ? fy : 1 - fy) * (k & 1 ? fx : 1 - fx) * ref_f(x, (plane * h + py) * w + px);
		v = max ? fmax(v, e) : v + e;
	}
	return v;
}

#define MOST_SAMPLES (1 << 22)  /* of one element */

/* How many samples a bin of this length takes in one direction: ratio if that is above 0, else one for each begun pixel. */
static double samples(int64_t ratio, double length)
{
	return ratio > 0 ? (double)ratio : length > 0 ? ceil(length) : 0;
}

/* Attributes: mode, transformation, height, width, sampling ratio; scale. */
int ref_roi_align(struct ref *r)
{
	const weft_tensor *x = r->x[0], *rois = r->x[1], *batch = r->x[2];
	const int64_t oh = r->a->i[2], ow = r->a->i[3], ratio = r->a->i[4];
	const bool half = r->a->i[1] == 0 && r->a->opset >= 16, max = r->a->i[0] == 1;
	int err = x->rank != 4 || !REF_N(x) || rois->rank != 2 || rois->dim[1] != 4 || REF_N(batch) != rois->dim[0] || oh < 1 || ow < 1 ? ref_fail(r, -EINVAL, "rank %d", x->rank)
	                                                              : ref_y(r, 0, x->dtype, 4, (int64_t[]){ rois->dim[0], x->dim[1], oh, ow });

	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(r->y[0]); i < n; i++) {
		const int64_t px = i % ow, py = i / ow % oh, c = i / ow / oh % x->dim[1], roi = i / ow / oh / x->dim[1];
		double at[4], v = 0;
		for (int k = 0; k < 4; k++)
			at[k] = ref_f(rois, roi * 4 + k) * (double)r->a->f[0] - (half ? 0.5 : 0);
		const double w = half ? at[2] - at[0] : fmax(1, at[2] - at[0]), h = half ? at[3] - at[1] : fmax(1, at[3] - at[1]);
		const double bw = w / (double)ow, bh = h / (double)oh;
		const double across = samples(ratio, bw), down = samples(ratio, bh);
		if (across * down > MOST_SAMPLES)
			return ref_fail(r, -EINVAL, "region %lld takes more than %d samples for an element", (long long)roi, MOST_SAMPLES);
		/* One of both may be 0 and the other one beyond every integer. */
		const int64_t nx = ref_cut(across), ny = ref_cut(down), b = ref_i(batch, roi);
		if (b < 0 || b >= x->dim[0])
			return ref_fail(r, -EINVAL, "batch index %lld", (long long)b);
		for (int64_t k = 0; k < nx * ny; k++) {
			const double y = at[1] + (double)py * bh + ((double)(k / nx) + 0.5) * bh / (double)ny;
			const double u = at[0] + (double)px * bw + ((double)(k % nx) + 0.5) * bw / (double)nx;
			const double e = roi_sample(x, b * x->dim[1] + c, y, u, max);
			v = !max ? v + e : k ? fmax(v, e) : e;
		}
		ref_put_f(r->y[0], i, max ? v : v / (double)(nx * ny > 1 ? nx * ny : 1));
	}
	return 0;
}

/* ---- boxes ---- */

static void corners(const struct ref *r, int64_t at, double *c)
{
	double v[4];

	for (int k = 0; k < 4; k++)
		v[k] = ref_f(r->x[0], at * 4 + k);
	if (r->a->i[0]) {                        /* centre and size: x, y, w, h */
		c[0] = v[1] - v[3] / 2;
		c[1] = v[0] - v[2] / 2;
		c[2] = v[1] + v[3] / 2;
		c[3] = v[0] + v[2] / 2;
		return;
	}
	for (int k = 0; k < 2; k++) {
		c[k] = fmin(v[k], v[k + 2]);
		c[k + 2] = fmax(v[k], v[k + 2]);
	}
}

/* Share of the union that two boxes have in common. */
static double overlap(const struct ref *r, int64_t a, int64_t b)
{
	double p[4], q[4];

	corners(r, a, p);
	corners(r, b, q);
	const double h = fmin(p[2], q[2]) - fmax(p[0], q[0]), w = fmin(p[3], q[3]) - fmax(p[1], q[1]);
	const double both = h > 0 && w > 0 ? h * w : 0, all = (p[2] - p[0]) * (p[3] - p[1]) + (q[2] - q[0]) * (q[3] - q[1]) - both;
	return all > 0 ? both / all : 0;
}

static double number(const struct ref *r, int k, double otherwise)
{
	return k < r->n_x && r->x[k] && REF_N(r->x[k]) ? ref_f(r->x[k], 0) : otherwise;
}

/* Boxes of one class that stay, best first; how many. */
static int64_t suppress(struct ref *r, int64_t b, int64_t c, int64_t *keep)
{
	const weft_tensor *scores = r->x[1];
	const int64_t n = r->x[0]->dim[1], most = r->n_x > 2 && r->x[2] && REF_N(r->x[2]) ? ref_i(r->x[2], 0) : 0;
	const double iou = number(r, 3, 0), least = number(r, 4, -INFINITY);
	int64_t count = 0;
	bool *out = ref_alloc(r, n, sizeof *out);

	if (!out)
		return -ENOMEM;
	while (count < most) {
		int64_t best = -1;
		for (int64_t i = 0; i < n; i++) {
			const double s = ref_f(scores, (b * scores->dim[1] + c) * n + i);
			if (!out[i] && s > least && (best < 0 || s > ref_f(scores, (b * scores->dim[1] + c) * n + best)))
				best = i;
		}
		if (best < 0)
			break;
		out[best] = true;
		keep[count++] = best;
		for (int64_t i = 0; i < n; i++)
			out[i] = out[i] || overlap(r, b * n + best, b * n + i) > iou;
	}
	free(out);
	return count;
}

/* Rows of batch, class, box. */
int ref_nms(struct ref *r)
{
	const weft_tensor *boxes = r->x[0], *scores = r->x[1];
	int err = 0;
	int64_t rows = 0;

	for (int k = 0; k < r->n_x && !err; k++)
		err = r->x[k] ? ref_need_data(r, k) : 0;
	if (err || boxes->rank != 3 || boxes->dim[2] != 4 || scores->rank != 3 || scores->dim[0] != boxes->dim[0] || scores->dim[2] != boxes->dim[1])
		return err ? err : ref_fail(r, -EINVAL, "boxes and scores do not fit");
	const int64_t n = boxes->dim[1], classes = scores->dim[0] * scores->dim[1];
	if ((double)n * (double)n * (double)classes > REF_MOST_PAIRS)
		return ref_fail(r, -ENOTSUP, "%lld boxes of %lld classes are too many to compare", (long long)n, (long long)classes);
	int64_t *keep = ref_alloc(r, n * (classes + 1), sizeof *keep), *count = keep ? ref_alloc(r, classes, sizeof *count) : NULL;
	err = count ? 0 : -ENOMEM;
	for (int64_t c = 0; c < classes && !err; c++) {
		count[c] = suppress(r, c / scores->dim[1], c % scores->dim[1], keep + c * n);
		err = count[c] < 0 ? (int)count[c] : 0;
		rows += count[c];
	}
	err = err ? err : ref_y(r, 0, WEFT_INT64, 2, (int64_t[]){ rows, 3 });
	for (int64_t c = 0, to = 0; c < classes && !err && !r->shapes; c++)
		for (int64_t i = 0; i < count[c]; i++) {
			ref_put_i(r->y[0], to++, c / scores->dim[1]);
			ref_put_i(r->y[0], to++, c % scores->dim[1]);
			ref_put_i(r->y[0], to++, keep[c * n + i]);
		}
	free(keep);
	free(count);
	return err;
}

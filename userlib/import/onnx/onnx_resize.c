/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resize, one axis at a time. Sizes are known, so the resizing of an axis is a constant
 * choice of rows (nearest), a sum of chosen rows with constant weights (linear, cubic), or a product with a constant matrix
 * (antialias).
 *
 * Element i of the input has the weight k((i - at) * s) in the output element whose
 * coordinate in the input is `at`, divided by the sum of weights. k is the triangle or
 * the cubic; s is the scale if antialias is set and the scale is below 1, else 1.
 * The output's length in these formulas is scale * input, not rounded, as in
 * ONNX's node tests.
 * Source: ONNX Resize-19. Codes of 8 bits: onnx_resize_codes.c.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "onnx_resize.h"

/*
 * Returns what attribute coordinate_transformation_mode of the node at hand says: half_pixel by default, and always
 * asymmetric before opset 11.
 */
static enum ox_place place_of(const struct ox *l)
{
	static const struct { const char *name; enum ox_place place; } modes[] = {
		{ "asymmetric", OX_ASYMMETRIC }, { "half_pixel_symmetric", OX_HALF_PIXEL_SYMMETRIC },
		{ "pytorch_half_pixel", OX_PYTORCH_HALF_PIXEL }, { "align_corners", OX_ALIGN_CORNERS }, { "tf_crop_and_resize", OX_CROP },
	};

	if (l->opset < 11)
		return OX_ASYMMETRIC;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (ox_attr_is(l, "coordinate_transformation_mode", modes[i].name, false))
			return modes[i].place;
	return OX_HALF_PIXEL;
}

/* Returns what attribute nearest_mode of the node at hand says: halves down by default, and always down before opset 11. */
static enum ox_nearest nearest_of(const struct ox *l)
{
	if (l->opset < 11 || ox_attr_is(l, "nearest_mode", "floor", false))
		return OX_FLOOR;
	if (ox_attr_is(l, "nearest_mode", "ceil", false))
		return OX_CEIL;
	return ox_attr_is(l, "nearest_mode", "round_prefer_ceil", false) ? OX_ROUND_PREFER_CEIL : OX_ROUND_PREFER_FLOOR;
}

/* Returns the coordinate in the input, in elements, to which element i of the output belongs along axis a. */
double ox_resize_place(const struct ox_axis *a, int64_t i)
{
	const double x = (double)i, half = (x + 0.5) / a->scale - 0.5, out = a->scale * (double)a->in;

	switch (a->place) {
	case OX_ASYMMETRIC:
		return x / a->scale;
	case OX_HALF_PIXEL_SYMMETRIC:
		return (double)a->in / 2 * (1 - (double)a->out / (a->scale * (double)a->in)) + half;
	case OX_PYTORCH_HALF_PIXEL:
		return a->out > 1 ? half : 0;
	case OX_ALIGN_CORNERS:
		return out != 1 ? x * (double)(a->in - 1) / (out - 1) : 0;
	case OX_CROP:
		return out > 1 ? a->from * (double)(a->in - 1) + x * (a->to - a->from) * (double)(a->in - 1) / (out - 1)
		                  : 0.5 * (a->from + a->to) * (double)(a->in - 1);
	case OX_HALF_PIXEL:
		break;
	}
	return half;
}

/* Returns whether coordinate `at` lies outside the input, where tf_crop_and_resize puts its own value. */
static bool outside(const struct ox_axis *a, double at)
{
	return a->place == OX_CROP && (at < 0 || at > (double)(a->in - 1));
}

static double clip(double v, double hi)
{
	return v < 0 ? 0 : v > hi ? hi : v;
}

/* Returns the index of the input element along axis a that is nearest to coordinate `at`, limited to the axis. */
int64_t ox_resize_nearest(const struct ox_axis *a, double at)
{
	double v = at;

	switch (a->nearest) {
	case OX_FLOOR:
		v = floor(at);
		break;
	case OX_CEIL:
		v = ceil(at);
		break;
	case OX_ROUND_PREFER_CEIL:
		v = floor(at + 0.5);
		break;
	case OX_ROUND_PREFER_FLOOR:
		v = ceil(at - 0.5);
		break;
	}
	return (int64_t)clip(v, (double)(a->in - 1));
}

/*
 * Returns the weight of an input element at distance d, in elements, from the place of
 * interpolation: of cubic interpolation with coefficient c, or of linear interpolation (1 - |d| or
 * 0).
 */
static double weight(bool cubic, double c, double d)
{
	d = fabs(d);
	if (!cubic)
		return d < 1 ? 1 - d : 0;
	if (d <= 1)
		return ((c + 2) * d - (c + 3)) * d * d + 1;
	return d < 2 ? ((c * d - 5 * c) * d + 8 * c) * d - 4 * c : 0;
}

/*
 * Adds to column i of matrix m [a->in,a->out] the weights with which the input elements count in
 * output element i, whose input coordinate is `at`; they add up to 1. The kernel is linear, or with
 * attribute mode "cubic" the cubic one with cubic_coeff_a (default -0.75); antialias widens it by 1
 * / scale if the scale is below 1. Neighbours beyond the ends count for the last element there, or
 * not at all if exclude_outside is set.
 */
static void column(const struct ox *l, const struct ox_axis *a, int64_t i, double at, float *m)
{
	const bool cubic = ox_attr_is(l, "mode", "cubic", false), drop = ox_attr_i(l, "exclude_outside", 0) != 0;
	const double c = ox_attr_f(l, "cubic_coeff_a", -0.75), s = ox_attr_i(l, "antialias", 0) ? fmin(a->scale, 1) : 1;
	const double reach = (cubic ? 2 : 1) / s;
	double sum = 0;

	for (double k = ceil(at - reach); k <= at + reach; k++)
		if (!drop || (k >= 0 && k < (double)a->in))
			sum += weight(cubic, c, (k - at) * s);
	for (double k = ceil(at - reach); k <= at + reach; k++)
		if (!drop || (k >= 0 && k < (double)a->in))
			m[(int64_t)clip(k, (double)(a->in - 1)) * a->out + i] += (float)(weight(cubic, c, (k - at) * s) / sum);
}

/*
 * Emits x, as many rows [rest,a->in], resized along axis a to [rest,a->out] by a product with a
 * constant matrix of interpolation weights, as column() has them; elements whose coordinate lies
 * outside the input with tf_crop_and_resize become 0. Returns the graph tensor, -ENOTSUP if the
 * matrix has more than 2^31 elements or the scale is below 1e-4, or another negative errno.
 */
static int by_matrix(struct ox *l, int x, const struct ox_axis *a, int64_t rest)
{
	if (a->in > INT32_MAX / a->out)
		return ox_fail(l, -ENOTSUP, "%lld to %lld", (long long)a->in, (long long)a->out);
	if (a->scale < 1e-4)
		return ox_fail(l, -ENOTSUP, "a scale of %g", a->scale);
	float *m = ox_alloc(l, a->in * a->out, sizeof *m);
	for (int64_t i = 0; m && i < a->out; i++) {
		double at = ox_resize_place(a, i);

		if (!outside(a, at))
			column(l, a, i, clip(at + 1e6, 1e9) - 1e6, m);
	}
	int w = ox_data(l, WEFT_FP32, 2, (int64_t[]){ a->in, a->out }, m);
	return ox_matmul_sums(l, ox_reshape(l, x, 2, (int64_t[]){ rest, a->in }), w);
}

/*
 * Sets p and w, both [a->out], to the element that is neighbour k of each output element's place, and to its weight. The neighbours are
 * 0 and 1 of linear interpolation, the elements on both sides of a place within the axis (at its end that element is both, half
 * each), and -1 to 2 of cubic interpolation, of which those beyond the ends are the last element there or, with exclude_outside, weigh
 * nothing.
 */
static void neighbours(const struct ox *l, const struct ox_axis *a, int k, int32_t *p, float *w)
{
	const bool cubic = ox_attr_is(l, "mode", "cubic", false), drop = cubic && ox_attr_i(l, "exclude_outside", 0) != 0;
	const double c = ox_attr_f(l, "cubic_coeff_a", -0.75), last = (double)(a->in - 1);

	for (int64_t i = 0; i < a->out; i++) {
		const double place = ox_resize_place(a, i), at = cubic ? clip(place + 1e6, 1e9) - 1e6 : clip(place, last), n = floor(at) + k;
		double sum = 1;
		for (int j = -1; drop && j <= 2; j++)
			if (floor(at) + j < 0 || floor(at) + j > last)
				sum -= weight(cubic, c, floor(at) + j - at);
		p[i] = (int32_t)clip(n, last);
		w[i] = (float)(weight(cubic, c, n - at) / sum);
		if (!cubic && floor(at) == last)
			w[i] = 0.5f;
		if (outside(a, place) || (drop && (n < 0 || n > last)))
			w[i] = 0;
	}
}

/*
 * Emits x, as many rows [rest,a->in], resized along axis a to [rest,a->out] by a sum over neighbours times their weights: an infinity
 * counts for the places beside it, and is NaN where it weighs 0, as ONNX Runtime has it; in by_matrix() it would be NaN for all of its
 * row. Without antialias. Returns the graph tensor, -ENOTSUP if the scale is below 1e-4, or another negative errno.
 */
static int by_neighbours(struct ox *l, int x, const struct ox_axis *a, int64_t rest)
{
	static const int8_t swap[WEFT_MAX_RANK] = { 1, 0 };
	const bool cubic = ox_attr_is(l, "mode", "cubic", false);
	int sum = 0;

	if (a->scale < 1e-4)
		return ox_fail(l, -ENOTSUP, "a scale of %g", a->scale);
	x = ox_transpose(l, ox_reshape(l, x, 2, (int64_t[]){ rest, a->in }), swap);
	for (int k = cubic ? -1 : 0; k <= (cubic ? 2 : 1) && x >= 0 && sum >= 0; k++) {
		int32_t *p = ox_alloc(l, a->out, sizeof *p);
		float *w = p ? ox_alloc(l, a->out, sizeof *w) : NULL;
		if (w)
			neighbours(l, a, k, p, w);
		int idx = ox_data(l, WEFT_INT32, 1, &a->out, p), weights = ox_data(l, WEFT_FP32, 2, (int64_t[]){ a->out, 1 }, w);
		if (idx < 0 || weights < 0)
			return l->err;
		int row = ox_reshape(l, ox_rows(l, x, a->in, rest, idx, a->out), 2, (int64_t[]){ a->out, rest });
		int part = ox_binary(l, WEFT_OP_MUL, row, weights);
		sum = sum && part >= 0 ? ox_binary(l, WEFT_OP_ADD, sum, part) : part;
	}
	return x < 0 ? x : sum < 0 ? sum : ox_transpose(l, sum, swap);
}

/*
 * Emits x, as many rows [rest,a->in], resized along axis a to [rest,a->out] by gathering for each
 * output element the column that is nearest to its coordinate, by attribute nearest_mode
 * (ox_resize_nearest()). Returns the graph tensor, -ENOTSUP for int64 that is not constant or does
 * not fit int32, or another negative errno.
 */
static int by_choice(struct ox *l, int x, const struct ox_axis *a, int64_t rest)
{
	static const int8_t swap[WEFT_MAX_RANK] = { 1, 0 };
	int32_t *p = ox_alloc(l, a->out, sizeof *p);

	for (int64_t i = 0; p && i < a->out; i++)
		p[i] = (int32_t)ox_resize_nearest(a, ox_resize_place(a, i));
	int idx = ox_data(l, WEFT_INT32, 1, &a->out, p);
	x = ox_transpose(l, ox_reshape(l, x, 2, (int64_t[]){ rest, a->in }), swap);
	x = ox_rows(l, x, a->in, rest, idx, a->out);
	return ox_transpose(l, ox_reshape(l, x, 2, (int64_t[]){ a->out, rest }), swap);
}

/*
 * Emits float x, whose last dimension is axis a of the output, with attribute extrapolation_value
 * in each element whose coordinate lies outside the input; x itself if there is none, as in all
 * modes but tf_crop_and_resize. Returns the graph tensor, or a negative errno; a negative x is
 * returned as it is.
 */
static int extrapolate(struct ox *l, int x, const struct ox_axis *a)
{
	float *keep = x < 0 ? NULL : ox_alloc(l, a->out, sizeof *keep);
	float *fill = keep ? ox_alloc(l, a->out, sizeof *fill) : NULL;
	double v = ox_attr_f(l, "extrapolation_value", 0);
	bool any = false;

	for (int64_t i = 0; fill && i < a->out; i++) {
		bool out = outside(a, ox_resize_place(a, i));

		any = any || out;
		keep[i] = out ? 0 : 1;
		fill[i] = out ? (float)v : 0;
	}
	int k = x < 0 ? x : ox_data(l, WEFT_FP32, 1, &a->out, keep), f = x < 0 ? x : ox_data(l, WEFT_FP32, 1, &a->out, fill);
	return !any || k < 0 || f < 0 ? (k < 0 ? k : f < 0 ? f : x) : ox_binary(l, WEFT_OP_ADD, ox_binary(l, WEFT_OP_MUL, x, k), f);
}

/*
 * Emits x resized along dimension `axis` as *a says: the axis is moved to the end, resized by a
 * choice of elements (mode nearest), a sum over neighbours, or (antialias) a product with a matrix of weights, given attribute
 * extrapolation_value where extrapolate() says so, and moved back. Returns the graph tensor, or a
 * negative errno; a negative x is returned as it is.
 */
static int one_axis(struct ox *l, int x, int axis, const struct ox_axis *a)
{
	int8_t to[WEFT_MAX_RANK], back[WEFT_MAX_RANK];
	const bool choose = ox_attr_is(l, "mode", "nearest", true);

	if (x < 0)
		return x;
	weft_tensor t = *ox_t(l, x);
	int64_t rest = weft_tensor_elements(&t) / a->in, dim[WEFT_MAX_RANK];
	for (int i = 0, n = 0; i < t.rank; i++) {
		if (i != axis)
			to[n++] = (int8_t)i;
		back[i] = (int8_t)(i < axis ? i : i == axis ? t.rank - 1 : i - 1);
	}
	to[t.rank - 1] = (int8_t)axis;
	x = ox_transpose(l, x, to);
	x = extrapolate(l, choose ? by_choice(l, x, a, rest) : ox_attr_i(l, "antialias", 0) ? by_matrix(l, x, a, rest) : by_neighbours(l, x, a, rest), a);
	for (int i = 0; i < t.rank; i++)
		dim[i] = i + 1 < t.rank ? t.dim[to[i]] : a->out;
	x = ox_reshape(l, x, t.rank, dim);
	return x < 0 ? x : ox_transpose(l, x, back);
}

/*
 * Writes the numbers of constant operand k to v, which has room for max. Returns their count, 0 if
 * the operand is absent or empty, -EINVAL if there are more than max, -ENOTSUP if it is not
 * constant, or another negative errno.
 */
static int floats(struct ox *l, int k, int max, double *v)
{
	const weft_tensor *t = ox_has(l, k) ? ox_const(l, k) : NULL;

	if (!ox_has(l, k))
		return 0;
	int64_t n = t ? weft_tensor_elements(t) : 0;
	if (!t || !n)
		return t ? 0 : l->err;
	int x = ox_cast(l, ox_x(l, k), WEFT_FP64);
	if (x < 0 || n > max)
		return x < 0 ? x : ox_fail(l, -EINVAL, "input %d has %lld elements", k, (long long)n);
	memcpy(v, ox_t(l, x)->data, (size_t)n * sizeof *v);
	return (int)n;
}

/*
 * Writes attribute scales of Upsample, where it is before opset 9, to v, which has room for max.
 * Returns their count, or -EINVAL if it is absent or too long.
 */
static int old_scales(struct ox *l, int max, double *v)
{
	const onnx_attribute *a = ox_attr(l, "scales");

	if (!a || a->n_floats > (size_t)max)
		return ox_fail(l, -EINVAL, "scales: %d of them", a ? (int)a->n_floats : 0);
	for (size_t i = 0; i < a->n_floats; i++)
		v[i] = (double)a->floats[i];
	return (int)a->n_floats;
}

/*
 * Fills a[i] for each of the n resized axes[i] of v from the node's scales (operand 2, before opset
 * 11 operand 1, before 9 an attribute) or sizes (operand 3), the region of interest (operand 1,
 * with tf_crop_and_resize) and keep_aspect_ratio_policy. Returns 0, -EINVAL if their counts do not
 * fit the axes, both scales and sizes are given, or a length is not 1 to 2^31 - 1, or another
 * negative errno.
 */
static int scales(struct ox *l, const struct ox_value *v, const int *axes, int n, struct ox_axis *a)
{
	const bool old = l->opset < 11;
	double s[WEFT_MAX_RANK], roi[2 * WEFT_MAX_RANK];
	int64_t size[WEFT_MAX_RANK];
	const enum ox_place place = place_of(l);
	const bool crops = place == OX_CROP;
	int ns = l->opset < 9 ? old_scales(l, WEFT_MAX_RANK, s) : floats(l, old ? 1 : 2, WEFT_MAX_RANK, s), nz = ns < 0 ? ns : !old && ox_has(l, 3) ? ox_ints(l, 3, WEFT_MAX_RANK, size) : 0;
	int nr = nz < 0 ? nz : crops ? floats(l, 1, 2 * WEFT_MAX_RANK, roi) : 0;
	const enum ox_nearest nearest = nearest_of(l);
	bool larger = ox_attr_is(l, "keep_aspect_ratio_policy", "not_smaller", false);
	bool smaller = ox_attr_is(l, "keep_aspect_ratio_policy", "not_larger", false);
	double common = larger ? 0 : INFINITY;

	if (nr < 0)
		return nr;
	if ((ns && nz) || (ns ? ns : nz) != n || (crops && nr != 2 * n))
		return ox_fail(l, -EINVAL, "%d scales, %d sizes, %d limits of the region for %d axes", ns, nz, nr, n);
	for (int i = 0; i < n && nz; i++) {
		double r = (double)size[i] / (double)v->t.dim[axes[i]];
		common = larger ? fmax(common, r) : fmin(common, r);
	}
	for (int i = 0; i < n; i++) {
		double in = (double)v->t.dim[axes[i]];

		a[i].place = place;
		a[i].nearest = nearest;
		a[i].in = v->t.dim[axes[i]];
		a[i].scale = ns ? s[i] : larger || smaller ? common : (double)size[i] / in;
		double out = ns ? floor(in * (double)(float)s[i]) : larger || smaller ? floor(common * in + 0.5) : (double)size[i];
		a[i].from = crops ? roi[i] : 0;
		a[i].to = crops ? roi[n + i] : 1;
		if (!(out >= 1) || out > INT32_MAX || !(a[i].scale > 0) || !isfinite(a[i].scale) || !isfinite(a[i].from) || !isfinite(a[i].to))
			return ox_fail(l, -EINVAL, "an extent of %g", out);
		a[i].out = (int64_t)out;
	}
	return 0;
}

/*
 * Sets axes[i] to the dimensions of v that the node at hand resizes (attribute axes, else all), and
 * a[i] to lengths, scale and region of each; both have room for 8. Returns their count; l->err if v
 * is NULL; -EINVAL if an axis is out of range, the counts of scales, sizes and limits of the region
 * do not fit, or a length is not 1 to 2^31 - 1; -ENOTSUP if scales or sizes are not constant; or
 * another negative errno.
 */
int ox_resize_axes(struct ox *l, const struct ox_value *v, int *axes, struct ox_axis *a)
{
	int64_t list[WEFT_MAX_RANK];
	int n = v ? ox_attr_ints(l, "axes", WEFT_MAX_RANK, list) : -1;

	if (n < 0)
		return l->err;
	int count = n ? n : v->t.rank;
	for (int i = 0; i < count; i++) {
		axes[i] = n ? ox_axis(l, list[i], v->t.rank) : i;
		if (axes[i] < 0)
			return axes[i];
	}
	int err = scales(l, v, axes, count, a);
	return err ? err : count;
}

/*
 * Lowers Resize and Upsample of operand 0: by ox_resize_codes() if it takes the node (images of
 * integers of 8 bits, or 16 in mode nearest, without cropping), else axis by axis with other
 * operators, which for interpolation and tf_crop_and_resize work in float32. The result has operand
 * 0's type. Returns 0, -ENOTSUP for interpolation of other types than floats that ox_resize_codes()
 * does not take, -EINVAL if axes, scales or sizes are wrong, or another negative errno.
 */
int ox_resize(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	struct ox_axis a[WEFT_MAX_RANK];
	int axes[WEFT_MAX_RANK], count = ox_resize_axes(l, v, axes, a);
	const bool choose = ox_attr_is(l, "mode", "nearest", true);

	if (count < 0)
		return count;
	const bool crops = place_of(l) == OX_CROP;
	int done = crops ? 0 : ox_resize_codes(l, v, axes, a, count);
	if (done)
		return done < 0 ? done : 0;
	int x = ox_get(l, v, NULL);
	if (x < 0)
		return x;
	if (!choose && !weft_is_plain_float(v->t.dtype))
		return ox_fail(l, -ENOTSUP, "interpolation of %s; mode linear takes int8, uint8 and floats, along one or both of the last two "
		               "dimensions, other modes floats", weft_dtype_name(v->t.dtype));
	if (!choose || crops)
		x = ox_cast(l, x, WEFT_FP32);
	for (int i = 0; i < count; i++)
		if (a[i].in != a[i].out || a[i].scale != 1 || crops)
			x = one_axis(l, x, axes[i], &a[i]);
	return ox_result(l, 0, x < 0 ? x : ox_cast(l, x, v->t.dtype), NULL, false);
}

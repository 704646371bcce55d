/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR.
 *
 * TensorFlow Lite finds the nearest element in float32, so the element that it
 * takes is found here in the same way. Where TOSA's RESIZE takes the same
 * element everywhere, it is a RESIZE; else one GATHER per axis.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tflite_host.h"

#define MAX_EXTENT 16383       /* TOSA's, and more than any real network has */

struct axis {
	int64_t in, out;           /* its length before and after, in elements */
	bool align, half;          /* options: corners are aligned; pixels' centres count */
	int64_t n, d, offset, border;    /* attributes of TOSA's RESIZE; n 0: RESIZE takes other elements */
};

/*
 * Returns the input element that output element o of axis a takes with mode nearest, computed in float32 as
 * TFLite does: the place is rounded (halves away from zero) if a->align is set, else cut to its floor, and at
 * most a->in - 1.
 */
static int64_t nearest(const struct axis *a, int64_t o)
{
	bool align = a->align && a->out > 1;
	float scale = align ? (float)(a->in - 1) / (float)(a->out - 1) : (float)a->in / (float)a->out;
	float v = ((float)o + (a->half ? 0.5f : 0.0f)) * scale;
	int64_t i = (int64_t)(a->align ? roundf(v) : floorf(v));

	return i > a->in - 1 ? a->in - 1 : i;
}

/* Returns the greatest common divisor of a and b, which are not negative; a if b is 0. */
static int64_t divisor(int64_t a, int64_t b)
{
	return b ? divisor(b, a % b) : a;
}

/*
 * Returns the input element that TOSA's RESIZE of mode nearest takes for output element o of axis
 * a.
 */
static int64_t tosa_nearest(const struct axis *a, int64_t o)
{
	int64_t v = o * a->d + a->offset;
	int64_t i = v >= 0 ? v / a->n : -((a->n - 1 - v) / a->n);

	i += 2 * (v - i * a->n) >= a->n;
	return i < 0 ? 0 : i > a->in - 1 ? a->in - 1 : i;
}

/*
 * Sets RESIZE's fraction n / d, offset and border of axis a for TFLite's coordinates; since RESIZE
 * rounds to the nearest element, floor is half an element earlier. a->n is 0 afterwards if RESIZE's
 * limits do not allow that or it takes another element anywhere.
 */
static void choose(struct axis *a)
{
	int64_t in = a->in, out = a->out, g;

	if (a->align && out > 1) {
		g = divisor(in - 1, out - 1);
		*a = (struct axis){ in, out, a->align, a->half, (out - 1) / g, (in - 1) / g, 0, 0 };
		if (a->d < 1)
			a->n = 0;
	} else {
		g = divisor(in, out);
		a->n = 2 * out / g;
		a->d = 2 * in / g;
		a->offset = a->half ? (in - out) / g : -out / g;
		a->border = (out - 1) * a->d - (in - 1) * a->n + a->offset;
	}
	if (a->n > 2048 || a->d >= 16 * a->n || a->offset < -a->n || a->offset >= 16 * a->n || a->border < -16 * a->n ||
	    a->border >= a->n)
		a->n = 0;
	for (int64_t o = 0; a->n && o < out; o++)
		if (nearest(a, o) != tosa_nearest(a, o))
			a->n = 0;
}

/*
 * Emits the elements of x, taken as [n,a->in,c], that axis a chooses along the second dimension,
 * [n,a->out,c], by GATHER. Returns the graph tensor, or a negative errno.
 */
static int pick(struct tfl_lower *l, int x, int64_t n, int64_t c, const struct axis *a)
{
	weft_dtype t = l->g->tensors[x].t.dtype;
	int32_t *v = tfl_alloc(l, n * a->out, sizeof *v);

	if (!v)
		return l->err;
	for (int64_t i = 0; i < n * a->out; i++)
		v[i] = (int32_t)nearest(a, i % a->out);
	int at = tfl_data(l, "rows", WEFT_INT32, 2, (int64_t[]){ n, a->out }, v);
	if (at < 0 || (x = tfl_reshape(l, x, 3, (int64_t[]){ n, a->in, c })) < 0)
		return at < 0 ? at : x;
	return tfl_step(l, WEFT_OP_GATHER, NULL, (int[]){ x, at }, 2, t, 3, (int64_t[]){ n, a->out, c }, false);
}

/*
 * Returns the graph tensor of operand 0, an image [N,H,W,C], and sets both axes a to its extents, the
 * result's (constant operand 1) and the options of that type in the fields align and half. The operand has to
 * have the result's type and quantisation (tfl_moved()). Returns -EINVAL if ranks or options do not fit,
 * -ENOTSUP for extents above MAX_EXTENT, or another negative errno.
 */
static int operand(struct tfl_lower *l, int options, int align, int half, struct axis a[2])
{
	int64_t size[2];
	int x = tfl_moved(l, 0), aligned, halved, err;

	if (x < 0)
		return x;
	if ((err = tfl_option(l, options, align, 1, 0, &aligned)) || (err = tfl_option(l, options, half, 1, 0, &halved)))
		return err;
	if ((err = tfl_ints(l, 1, 2, size)) < 0)
		return err;
	weft_tensor t = l->g->tensors[x].t;
	if (err != 2 || t.rank != 4)
		return tfl_fail(l, -EINVAL, "%d sizes for rank %d", err, t.rank);
	if (aligned && halved)
		return tfl_fail(l, -EINVAL, "corners aligned and pixels centred");
	for (int i = 0; i < 2; i++) {
		if (size[i] < 1 || size[i] > MAX_EXTENT || t.dim[1 + i] > MAX_EXTENT)
			return tfl_fail(l, -ENOTSUP, "from %lld to %lld elements; 1..%d", (long long)t.dim[1 + i], (long long)size[i],
			                MAX_EXTENT);
		a[i] = (struct axis){ .in = t.dim[1 + i], .out = size[i], .align = aligned, .half = halved };
	}
	return x;
}

/*
 * Lowers RESIZE_NEAREST_NEIGHBOR: to RESIZE if the type is of 8 bits or int16 and RESIZE takes the same
 * elements, else to GATHER along each axis. Returns the result's tensor, or a negative errno, that of
 * operand() among them.
 */
int tfl_lower_resize_nearest(struct tfl_lower *l)
{
	struct axis a[2];
	int x = operand(l, OPTIONS_RESIZE_NEAREST, RESIZE_NEAREST_ALIGN, RESIZE_NEAREST_HALF, a);

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	int64_t n = t.dim[0], dim[4] = { n, a[0].out, a[1].out, t.dim[3] };
	choose(&a[0]);
	choose(&a[1]);
	if (a[0].n && a[1].n && (t.dtype == WEFT_INT8 || t.dtype == WEFT_INT16)) {
		weft_attr r = { .resize = {
			(int32_t)a[0].n, (int32_t)a[0].d, (int32_t)a[1].n, (int32_t)a[1].d, (int32_t)a[0].offset, (int32_t)a[1].offset,
			(int32_t)a[0].border, (int32_t)a[1].border, WEFT_RESIZE_NEAREST,
		} };
		return tfl_step(l, WEFT_OP_RESIZE, &r, &x, 1, t.dtype, 4, dim, true);
	}
	if ((x = pick(l, x, n, t.dim[2] * t.dim[3], &a[0])) < 0 || (x = pick(l, x, n * a[0].out, t.dim[3], &a[1])) < 0)
		return x;
	return tfl_step(l, WEFT_OP_RESHAPE, NULL, &x, 1, t.dtype, 4, dim, true);
}

/*
 * Finds what output element o of axis a is made of in float32: sets *low and *high to the indices of the
 * two elements of the input between which its position lies, and returns the share of the higher one,
 * which is the position less *low. Where the position lies outside, both are the element at the border,
 * and the share (perhaps negative) does not matter.
 */
static float share_of(const struct axis *a, int64_t o, int64_t *low, int64_t *high)
{
	const bool align = a->align && a->out > 1;
	const float scale = align ? (float)(a->in - 1) / (float)(a->out - 1) : (float)a->in / (float)a->out;
	const float at = a->half ? ((float)o + 0.5f) * scale - 0.5f : (float)o * scale;
	const float below = floorf(at);

	*low = below < 0 ? 0 : (int64_t)below;
	*high = (int64_t)ceilf(at) < a->in - 1 ? (int64_t)ceilf(at) : a->in - 1;
	return at - (float)*low;
}

/*
 * Adds the shares of one neighbour of each output element along axis a, a constant of shape [1,out,1,1]
 * for rows (k is 0) or [1,1,out,1] for columns (k is 1): those of the neighbour with the higher index if
 * `high` is set, else those of the other one, which are 1 less the former. Returns the graph tensor, or a
 * negative errno.
 */
static int shares(struct tfl_lower *l, const struct axis *a, int k, bool high)
{
	float *w = tfl_alloc(l, a->out, sizeof *w);
	int64_t dim[4] = { 1, 1, 1, 1 }, at[2];

	if (!w)
		return l->err;
	for (int64_t o = 0; o < a->out; o++) {
		const float s = share_of(a, o, &at[0], &at[1]);
		w[o] = high ? s : 1 - s;
	}
	dim[1 + k] = a->out;
	return tfl_data(l, "shares", WEFT_FP32, 4, dim, w);
}

/*
 * Emits image x [N,H,W,C] with a->out rows (k is 0) or columns (k is 1). Each is copied from one of the
 * two rows or columns of x between which its position lies: the one with the higher index if `high` is
 * set, else the one with the lower. Returns the graph tensor, or a negative errno; a negative x is
 * returned as it is.
 */
static int corner_of(struct tfl_lower *l, int x, const struct axis *a, int k, bool high)
{
	struct weft_attr_onnx_node gather = tfl_node_attr("Gather");
	int64_t at[2], *v = x < 0 ? NULL : tfl_alloc(l, a->out, sizeof *v);

	if (!v)
		return x < 0 ? x : l->err;
	for (int64_t o = 0; o < a->out; o++) {
		share_of(a, o, &at[0], &at[1]);
		v[o] = at[high];
	}
	const int place = tfl_data(l, "places", WEFT_INT64, 1, &a->out, v);
	tfl_node_int(&gather, "axis", 1 + k);
	return tfl_node(l, &gather, (int[]){ x, place }, 2, false);
}

/*
 * Emits the product of two float32 tensors of rank 4 that broadcast to dim. Returns the graph
 * tensor, or a negative errno; a negative x or y is returned as it is.
 */
static int product(struct tfl_lower *l, int x, int y, const int64_t *dim)
{
	const weft_attr a = { .mul = { 0 } };

	return x < 0 || y < 0 ? (x < 0 ? x : y) : tfl_step(l, WEFT_OP_MUL, &a, (int[]){ x, y }, 2, WEFT_FP32, 4, dim, false);
}

/*
 * Emits RESIZE_BILINEAR of float32 image x, with axes a[0] (rows) and a[1] (columns), as the
 * operator's result: the four neighbours are multiplied by their shares along rows, then along
 * columns, and added to 0 in the order in which the reference kernel writes them, so that no sum is -0. Returns the result's
 * tensor, or a negative errno.
 */
static int bilinear_float(struct tfl_lower *l, int x, const struct axis a[2])
{
	const weft_tensor t = l->g->tensors[x].t;
	const int64_t dim[4] = { t.dim[0], a[0].out, a[1].out, t.dim[3] };
	int sum = tfl_number(l, "zero", WEFT_FP32, 4, 0);

	for (int i = 0; i < 4 && sum >= 0; i++) {
		const bool lower_row = i & 1, right_column = i & 2;
		int v = corner_of(l, corner_of(l, x, &a[0], 0, lower_row), &a[1], 1, right_column);
		const int right = shares(l, &a[1], 1, right_column);
		v = product(l, product(l, v, shares(l, &a[0], 0, lower_row), dim), right, dim);
		if (v < 0)
			return v;
		sum = tfl_step(l, WEFT_OP_ADD, NULL, (int[]){ sum, v }, 2, WEFT_FP32, 4, dim, i == 3);
	}
	return sum;
}

/*
 * Lowers RESIZE_BILINEAR: of 8 bits and int16 to the host operator TFL_RESIZE_BILINEAR, of float32
 * to sums of products. Returns the result's tensor, -ENOTSUP for other types, or another negative
 * errno.
 */
int tfl_lower_resize_bilinear(struct tfl_lower *l)
{
	struct axis a[2];
	int x = operand(l, OPTIONS_RESIZE_BILINEAR, RESIZE_BILINEAR_ALIGN, RESIZE_BILINEAR_HALF, a);

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	if (t.dtype == WEFT_FP32)
		return bilinear_float(l, x, a);
	if (t.dtype != WEFT_INT8 && t.dtype != WEFT_INT16)
		return tfl_fail(l, -ENOTSUP, "%s is not supported", weft_dtype_name(t.dtype));
	weft_attr r = { .tfl_resize = { .align_corners = a[0].align, .half_pixel = a[0].half,
	                                .raw_uint8 = tfl_file_tensor(l, l->i_y)->type == TFL_UINT8 } };
	return tfl_step(l, WEFT_OP_TFL_RESIZE_BILINEAR, &r, &x, 1, t.dtype, 4,
	                (int64_t[]){ t.dim[0], a[0].out, a[1].out, t.dim[3] }, true);
}

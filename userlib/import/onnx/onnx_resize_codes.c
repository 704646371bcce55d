/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resize of 8-bit integers along the last one or two dimensions, [N,C,W] or [N,C,H,W].
 *
 * If the file's scale is a fraction of small numbers, coordinates in the input are
 * (i * d + offset) / n, so that TOSA's RESIZE chooses the same elements (nearest), or
 * gives the sums of linear interpolation times the n of both axes, exactly.
 *
 * ONNX does not say how the real number becomes an integer. ONNX Runtime, from whose
 * quantiser such files come, computes it in float32 and cuts the fraction off:
 *
 *   y = (T)(((w22 * x11 + w12 * x21) + w21 * x12) + w11 * x22),  w = dx * dy
 *
 * with coordinates in float32, too; onnx.reference cuts off likewise. If float32 holds
 * coordinates and weights exactly, as it does if n is a power of two, that is the sum of RESIZE
 * divided by n, towards zero. Otherwise it is computed as written, by float operators on the host.
 *
 * Between DequantizeLinear and QuantizeLinear the fraction is rounded as for
 * averages (onnx_average.c), to nearest even of the real number.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_integer.h"
#include "onnx_qdq.h"
#include "onnx_resize.h"

#define MAX_FRACTION 1024          /* RESIZE takes numerators up to 2048 */

/* Places along an axis as RESIZE has them: output element i lies at input coordinate (i * d + offset) / n. */
struct steps { int64_t n, d, offset; };

/*
 * Returns the greatest common divisor of a and b, either of which may be negative or 0; the result
 * is not negative.
 */
static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

static struct steps reduced(struct steps s)
{
	int64_t g = gcd(gcd(s.n, s.d), s.offset);

	return (struct steps){ s.n / g, s.d / g, s.offset / g };
}

/*
 * Sets *p / *q to the fraction with the least denominator that is the scale once both are rounded
 * to float32; both are at most MAX_FRACTION. Returns false if there is none.
 */
static bool fraction(double scale, int64_t *p, int64_t *q)
{
	for (*q = 1; *q <= MAX_FRACTION; ++*q) {
		*p = llrint(scale * (double)*q);
		if (*p >= 1 && *p <= MAX_FRACTION && (float)((double)*p / (double)*q) == (float)scale)
			return true;
	}
	return false;
}

/*
 * Sets *s so that output element i along axis a lies at input coordinate (i * s->d + s->offset) /
 * s->n, as RESIZE has it, by the node's coordinate_transformation_mode. Returns false, with *s of
 * no use, if the scale is no fraction of numbers up to MAX_FRACTION or the mode gives no such
 * coordinates (tf_crop_and_resize, and lengths that do not fit the scale exactly with align_corners
 * or half_pixel_symmetric).
 */
static bool find_steps(const struct ox *l, const struct ox_axis *a, struct steps *s)
{
	const char *const mode = "coordinate_transformation_mode";
	int64_t p, q;

	*s = (struct steps){ 1, 1, 0 };
	if (a->in == a->out && a->scale == 1)
		return true;
	if (!(a->scale < MAX_FRACTION) || !fraction(a->scale, &p, &q))
		return false;
	if (l->opset < 11 || ox_attr_is(l, mode, "asymmetric", false))
		*s = (struct steps){ p, q, 0 };
	else if (ox_attr_is(l, mode, "align_corners", false)) {
		if (a->out > 1 && a->out * q != a->in * p)
			return false;
		*s = a->out > 1 ? (struct steps){ a->out - 1, a->in - 1, 0 } : *s;
	} else if (ox_attr_is(l, mode, "pytorch_half_pixel", false) && a->out == 1)
		return true;
	else if (ox_attr_is(l, mode, "half_pixel", true) || ox_attr_is(l, mode, "pytorch_half_pixel", false) ||
	         (ox_attr_is(l, mode, "half_pixel_symmetric", false) && a->out * q == a->in * p))
		*s = (struct steps){ 2 * p, 2 * q, q - p };
	else
		return false;
	*s = reduced(*s);
	return s->d > 0;
}

/*
 * Says whether TOSA's limits on RESIZE allow steps s along axis a: lengths below 16384; n up to
 * 2048; d below 16 n; the offset at least -n and below 16 n; the border at least -16 n and below n.
 * Sets *border in either case to RESIZE's border attribute for the output's length, in 1 / s->n
 * elements.
 */
static bool allowed(const struct ox_axis *a, const struct steps *s, int32_t *border)
{
	int64_t b = (a->out - 1) * s->d - (a->in - 1) * s->n + s->offset;

	*border = (int32_t)b;
	return a->in < 16384 && a->out < 16384 && s->n <= 2048 && s->d < 16 * s->n && s->offset >= -s->n && s->offset < 16 * s->n &&
	       b >= -16 * s->n && b < s->n;
}

/*
 * Says whether RESIZE of mode nearest with steps s takes the same input element for each output
 * element of axis a as the ONNX node at hand does.
 */
static bool chooses(const struct ox_axis *a, const struct steps *s)
{
	for (int64_t i = 0; i < a->out; i++) {
		int64_t at = 2 * (i * s->d + s->offset) + s->n, k = at >= 0 ? at / (2 * s->n) : -1;

		k = k < 0 ? 0 : k > a->in - 1 ? a->in - 1 : k;
		if (k != (a->in == a->out && a->scale == 1 ? i : ox_resize_nearest(a, ox_resize_place(a, i))))
			return false;
	}
	return true;
}

/*
 * Changes steps s so that RESIZE of mode nearest takes the elements along axis a that ONNX takes: n
 * and d are doubled, the offset is the first of four that does it, and all three are divided by
 * their common divisor. RESIZE takes the upper element at the middle between two; smaller or larger
 * offsets turn that into floor, ceil or the lower element. Returns false, with *s of no use, if
 * none of the four does it within RESIZE's limits.
 */
static bool find_nearest(const struct ox_axis *a, struct steps *s)
{
	const struct steps from = *s;
	const int64_t offset[] = { 2 * from.offset, 2 * from.offset - from.n, 2 * from.offset - 1, 2 * from.offset + from.n - 2 };
	int32_t border;

	for (int k = 0; k < 4; k++) {
		*s = reduced((struct steps){ 2 * from.n, 2 * from.d, offset[k] });
		if (allowed(a, s, &border) && chooses(a, s))
			return true;
	}
	return false;
}

/*
 * Sets yx[0] and yx[1] to the resizing of v's height and width, where an axis that v does not have
 * or that is not resized has scale 1. a and axes are the `count` resized axes of v. Returns false
 * if one of the first two dimensions is resized or v's rank is not 3 or 4.
 */
static bool image_axes(const struct ox_value *v, const int *axes, const struct ox_axis *a, int count, struct ox_axis *yx)
{
	if (v->t.rank != 3 && v->t.rank != 4)
		return false;
	yx[0] = (struct ox_axis){ .in = 1, .out = 1, .scale = 1, .to = 1 };
	for (int k = 0; k < 2 && v->t.rank == 4; k++)
		yx[k] = (struct ox_axis){ .in = v->t.dim[2 + k], .out = v->t.dim[2 + k], .scale = 1, .to = 1 };
	if (v->t.rank == 3)
		yx[1] = (struct ox_axis){ .in = v->t.dim[2], .out = v->t.dim[2], .scale = 1, .to = 1 };
	for (int i = 0; i < count; i++) {
		if (a[i].in == a[i].out && a[i].scale == 1)
			continue;
		if (axes[i] < 2)
			return false;
		yx[axes[i] - v->t.rank + 2] = a[i];
	}
	return true;
}

/*
 * Emits x, [N,W,C] or [N,H,W,C], as an image [N,H,W,C] resized by RESIZE with steps s[0] and s[1]
 * along yx[0] and yx[1]: bilinear, with int32 sums that are s[0].n * s[1].n times the result, if
 * smooth is set, else nearest neighbour in x's type. Returns the graph tensor, -EINVAL if RESIZE
 * does not allow the steps, or another negative errno.
 */
static int resize(struct ox *l, int x, const struct ox_axis *yx, const struct steps *s, bool smooth)
{
	weft_attr a = { .resize = { .mode = smooth ? WEFT_RESIZE_BILINEAR : WEFT_RESIZE_NEAREST,
		.scale_y_n = (int32_t)s[0].n, .scale_y_d = (int32_t)s[0].d, .offset_y = (int32_t)s[0].offset,
		.scale_x_n = (int32_t)s[1].n, .scale_x_d = (int32_t)s[1].d, .offset_x = (int32_t)s[1].offset } };

	if (x < 0 || !allowed(&yx[0], &s[0], &a.resize.border_y) || !allowed(&yx[1], &s[1], &a.resize.border_x))
		return x < 0 ? x : ox_fail(l, -EINVAL, "RESIZE");
	const weft_tensor t = *ox_t(l, x);
	int64_t in[4] = { t.dim[0], yx[0].in, yx[1].in, t.dim[t.rank - 1] }, out[4] = { in[0], yx[0].out, yx[1].out, in[3] };
	return ox_op(l, WEFT_OP_RESIZE, &a, (int[]){ ox_reshape(l, x, 4, in) }, 1, smooth ? WEFT_INT32 : t.dtype, 4, out);
}

/*
 * Emits image x [N,1,W,C] as [N,W,C] if rank is 3, or x itself if it is 4. Returns the graph
 * tensor, or a negative errno; a negative x is returned as it is.
 */
static int as_rank(struct ox *l, int x, int rank)
{
	if (x < 0 || rank == 4)
		return x;
	const weft_tensor t = *ox_t(l, x);
	return ox_reshape(l, x, 3, (int64_t[]){ t.dim[0], t.dim[2], t.dim[3] });
}

/* ---- linear, of integers themselves ---- */

/*
 * For each output element of an axis: the two input elements between which it lies, and its distances
 * from them, in elements, as ONNX Runtime has them.
 */
struct neighbours { int32_t *first, *second; float *from_first, *from_second; };

/*
 * Returns the input coordinate of output element i along axis a, computed in 32-bit floats step by
 * step as ONNX Runtime does, for the node's coordinate_transformation_mode.
 */
static float place32(const struct ox *l, const struct ox_axis *a, int64_t i)
{
	const char *const mode = "coordinate_transformation_mode";
	const float scale = (float)a->scale, x = (float)i, half = (x + 0.5f) / scale;

	if (scale == 1)
		return x;
	if (l->opset < 11 || ox_attr_is(l, mode, "asymmetric", false))
		return x / scale;
	if (ox_attr_is(l, mode, "align_corners", false))
		return a->out == 1 ? 0 : x * (float)(a->in - 1) / (float)(a->out - 1);
	if (ox_attr_is(l, mode, "pytorch_half_pixel", false) && a->out == 1)
		return 0;
	if (ox_attr_is(l, mode, "half_pixel_symmetric", false)) {
		const float adjustment = (float)a->out / (scale * (float)a->in), centre = (float)a->in / 2;
		const float offset = centre * (1 - adjustment);
		return offset + half - 0.5f;
	}
	return half - 0.5f;
}

/*
 * Allocates and fills n's arrays, with one element for each output element of axis a: the two input
 * elements between which it lies, and its distances from them (both 0.5 if they are the same).
 * Returns false after a failed allocation; release() frees the arrays in either case.
 */
static bool find_neighbours(struct ox *l, const struct ox_axis *a, struct neighbours *n)
{
	n->first = ox_alloc(l, a->out, sizeof *n->first);
	n->second = n->first ? ox_alloc(l, a->out, sizeof *n->second) : NULL;
	n->from_first = n->second ? ox_alloc(l, a->out, sizeof *n->from_first) : NULL;
	n->from_second = n->from_first ? ox_alloc(l, a->out, sizeof *n->from_second) : NULL;
	if (!n->from_second)
		return false;
	for (int64_t i = 0; i < a->out; i++) {
		float at = place32(l, a, i), top = (float)(a->in - 1);

		at = at > 0 ? at < top ? at : top : 0;
		n->first[i] = (int32_t)at;
		n->second[i] = (int32_t)(n->first[i] + 1 < a->in ? n->first[i] + 1 : a->in - 1);
		n->from_first[i] = n->first[i] == n->second[i] ? 0.5f : at - (float)n->first[i];
		n->from_second[i] = n->first[i] == n->second[i] ? 0.5f : (float)n->second[i] - at;
	}
	return true;
}

/*
 * Frees the arrays of find_neighbours() for axis a and, if all four were allocated, gives their 16
 * bytes for each output element back to l->room.
 */
static void release(struct ox *l, const struct ox_axis *a, struct neighbours *n)
{
	l->room += n->from_second ? 16 * a->out : 0;
	free(n->first);
	free(n->second);
	free(n->from_first);
	free(n->from_second);
}

/*
 * Says whether neighbours n along axis a are exactly those that steps s give, and s->n is a power
 * of two up to 128, so that float32 rounds no weight and no sum.
 */
static bool is_exact(const struct ox_axis *a, const struct neighbours *n, const struct steps *s)
{
	if (s->n & (s->n - 1) || s->n > 128)
		return false;
	for (int64_t i = 0; i < a->out; i++) {
		double at = (double)(i * s->d + s->offset) / (double)s->n;

		at = at < 0 ? 0 : at > (double)(a->in - 1) ? (double)(a->in - 1) : at;
		if (n->first[i] != (int64_t)at || (n->first[i] != n->second[i] && (double)n->from_first[i] != at - (double)n->first[i]))
			return false;
	}
	return true;
}

/*
 * Emits operator op with attributes a on int32 x (rank 4) and the constant v. Returns the int32
 * graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int number(struct ox *l, weft_opcode op, const weft_attr *a, int x, int32_t v)
{
	int in[2] = { x, x < 0 ? x : ox_ramp(l, WEFT_INT32, 4, v) };

	return in[1] < 0 ? in[1] : ox_op(l, op, a, in, 2, WEFT_INT32, 4, ox_t(l, x)->dim);
}

/*
 * Emits int32 sums x (rank 4) divided by 2^k as int8: rounded down if `down` is set, which is
 * towards 0 for codes that are 128 less than uint8, else towards 0. Returns the graph tensor, or a
 * negative errno.
 */
static int cut_off(struct ox *l, int x, int k, bool down)
{
	const weft_attr shift = { .shift = { .round = false } };

	if (!down) {
		int less = number(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &shift, x, 31);
		less = number(l, WEFT_OP_BITWISE_AND, NULL, less, (int32_t)((1 << k) - 1));
		x = less < 0 ? less : ox_op(l, WEFT_OP_ADD, NULL, (int[]){ x, less }, 2, WEFT_INT32, 4, ox_t(l, x)->dim);
	}
	if (k)
		x = number(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &shift, x, k);
	return x < 0 ? x : ox_op(l, WEFT_OP_CAST, NULL, &x, 1, WEFT_INT8, 4, ox_t(l, x)->dim);
}

/*
 * Emits the n lines of x [N,H,W,C] along axis (1: rows, 2: columns) whose indices are at[0] to at[n
 * - 1]; the indices become a constant of their own. Returns the graph tensor, or a negative errno.
 */
static int lines(struct ox *l, int x, int axis, const int32_t *at, int64_t n)
{
	static const int8_t front[2][WEFT_MAX_RANK] = { { 1, 0, 2, 3 }, { 2, 0, 1, 3 } }, back[2][WEFT_MAX_RANK] = { { 1, 0, 2, 3 }, { 1, 2, 0, 3 } };
	int32_t *p = ox_alloc(l, n, sizeof *p);

	if (!p)
		return l->err;
	memcpy(p, at, (size_t)n * sizeof *p);
	int idx = ox_data(l, WEFT_INT32, 1, &n, p);
	x = idx < 0 ? idx : ox_transpose(l, x, front[axis - 1]);
	if (x < 0)
		return x;
	weft_tensor t = *ox_t(l, x);
	int64_t rest = t.dim[1] * t.dim[2] * t.dim[3];
	x = ox_rows(l, ox_reshape(l, x, 2, (int64_t[]){ t.dim[0], rest }), t.dim[0], rest, idx, n);
	return ox_transpose(l, ox_reshape(l, x, 4, (int64_t[]){ n, t.dim[1], t.dim[2], t.dim[3] }), back[axis - 1]);
}

/*
 * Adds a new float32 constant [1,H,W,1] with element y[i] * x[k] for row i and column k of the
 * output, whose lengths are yx[0].out and yx[1].out. Returns the graph tensor, -ENOTSUP if it
 * would have more than 2^31 - 1 elements, or ox_alloc()'s error.
 */
static int weights(struct ox *l, const float *y, const float *x, const struct ox_axis *yx)
{
	if (yx[0].out > INT32_MAX / yx[1].out)
		return ox_fail(l, -ENOTSUP, "too large");
	float *p = ox_alloc(l, yx[0].out * yx[1].out, sizeof *p);

	for (int64_t i = 0; p && i < yx[0].out; i++)
		for (int64_t k = 0; k < yx[1].out; k++)
			p[i * yx[1].out + k] = x[k] * y[i];
	return p ? ox_data(l, WEFT_FP32, 4, (int64_t[]){ 1, yx[0].out, yx[1].out, 1 }, p) : l->err;
}

/*
 * Emits float x [N,H,W,C] resized bilinearly, by float operators on the host, as four products of a
 * neighbour and its weight added in ONNX Runtime's order; y and c are the neighbours along the
 * vertical and the horizontal axis, yx. Returns the graph tensor, or a negative errno.
 */
static int in_floats(struct ox *l, int x, const struct neighbours *y, const struct neighbours *c, const struct ox_axis *yx)
{
	const float *const wy[4] = { y->from_second, y->from_second, y->from_first, y->from_first };
	const float *const wx[4] = { c->from_second, c->from_first, c->from_second, c->from_first };
	int above = lines(l, x, 1, y->first, yx[0].out), below = above < 0 ? above : lines(l, x, 1, y->second, yx[0].out), sum = -1;

	for (int k = 0; k < 4; k++) {
		int part = below < 0 ? below : lines(l, k < 2 ? above : below, 2, k & 1 ? c->second : c->first, yx[1].out);
		int w = part < 0 ? part : weights(l, wy[k], wx[k], yx);

		part = w < 0 ? w : ox_binary(l, WEFT_OP_MUL, part, w);
		sum = k && part >= 0 ? ox_binary(l, WEFT_OP_ADD, sum, part) : part;
		if (sum < 0)
			return sum;
	}
	return sum;
}

/* Returns the logarithm to base 2 of n, which is at least 1, rounded down. */
static int log2_of(int64_t n)
{
	int k = 0;

	while (n >> (k + 1))
		k++;
	return k;
}

/*
 * Lowers the linear Resize at hand of 8-bit v, with yx as its vertical and horizontal axis: by
 * RESIZE and a shift if all coordinates are exact, else by float operators on the host. Returns 0
 * or a negative errno.
 */
static int linear(struct ox *l, struct ox_value *v, const struct ox_axis *yx)
{
	struct neighbours n[2] = { { NULL }, { NULL } };
	int8_t perm[WEFT_MAX_RANK];
	struct steps s[2];
	int32_t unused;
	int y = l->err;
	bool sums = true, is_unsigned = v->t.dtype == WEFT_UINT8;

	ox_channels_last(v->t.rank, perm);
	bool ok = find_neighbours(l, &yx[0], &n[0]) && find_neighbours(l, &yx[1], &n[1]);
	for (int k = 0; ok && k < 2; k++)
		sums = sums && find_steps(l, &yx[k], &s[k]) && is_exact(&yx[k], &n[k], &s[k]) && allowed(&yx[k], &s[k], &unused);
	if (ok && sums) {
		y = resize(l, ox_side_in(l, v, perm), yx, s, true);
		y = y < 0 ? y : cut_off(l, y, log2_of(s[0].n * s[1].n), is_unsigned);
	} else if (ok) {
		int x = ox_get(l, v, perm);
		if (x >= 0) {
			const weft_tensor t = *ox_t(l, x);
			x = ox_reshape(l, ox_cast(l, x, WEFT_FP32), 4, (int64_t[]){ t.dim[0], yx[0].in, yx[1].in, t.dim[t.rank - 1] });
		}
		y = x < 0 ? x : in_floats(l, x, &n[0], &n[1], yx);
		y = y < 0 ? y : ox_cast(l, y, v->t.dtype);
	}
	release(l, &yx[0], &n[0]);
	release(l, &yx[1], &n[1]);
	return y < 0 ? y : ox_result(l, 0, as_rank(l, y, v->t.rank), perm, is_unsigned && sums);
}

/*
 * Lowers the nearest-neighbour Resize at hand of v, with yx as its vertical and horizontal axis, to
 * RESIZE, if RESIZE chooses the same elements. Returns 1 if that is done, 0 if not, or a negative
 * errno.
 */
static int choose(struct ox *l, struct ox_value *v, const struct ox_axis *yx)
{
	int8_t perm[WEFT_MAX_RANK];
	struct steps s[2];

	for (int k = 0; k < 2; k++)
		if (!find_steps(l, &yx[k], &s[k]) || !find_nearest(&yx[k], &s[k]))
			return 0;
	ox_channels_last(v->t.rank, perm);
	int y = resize(l, ox_side_in(l, v, perm), yx, s, false);
	int err = y < 0 ? y : ox_result(l, 0, as_rank(l, y, v->t.rank), perm, ox_less(v->t.dtype) != 0);
	return err < 0 ? err : 1;
}

/*
 * Lowers the Resize at hand of v, if v is a computed image of 8 or (nearest only) 16 bits of
 * which only height and width are resized, in mode nearest or linear without antialias and
 * exclude_outside. a and axes are the `count` resized axes. Mode linear that RESIZE cannot do
 * exactly is done by float operators on the host; mode nearest needs RESIZE. Returns 1 if the node
 * is lowered, 0 if it cannot be done so, or a negative errno.
 */
int ox_resize_codes(struct ox *l, struct ox_value *v, const int *axes, const struct ox_axis *a, int count)
{
	struct ox_axis yx[2];
	bool bytes = ox_is_8_bit(v);

	if ((!bytes && !ox_is_16_bit(v)) || ox_is_const_value(l, v) || !image_axes(v, axes, a, count, yx))
		return 0;
	if (ox_attr_is(l, "mode", "nearest", true))
		return choose(l, v, yx);
	if (!bytes || !ox_attr_is(l, "mode", "linear", false) || ox_attr_i(l, "antialias", 0) || ox_attr_i(l, "exclude_outside", 0))
		return 0;
	int err = linear(l, v, yx);
	return err < 0 ? err : 1;
}

/* ---- linear, between DequantizeLinear and QuantizeLinear ---- */

/*
 * Computes linear Resize node n of a dequantised 8-bit value, whose result is quantised with q, by RESIZE and
 * a requantisation of its sums. Returns 1 with *y set, channels last; 0 if q has 16 bits, the operand was not
 * dequantised from 8 bits with one constant scale, or RESIZE cannot do it (other than height and width,
 * coordinates or steps beyond its limits, more than 65535 sums to one); or a negative errno. The node at hand
 * is the same afterwards; nothing stands for its operand 0 then (l->subst[0] is NULL), unless q or the operand
 * was refused, which changes nothing.
 */
int ox_fold_resize(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	const onnx_node *outer = l->n;
	struct ox_axis a[WEFT_MAX_RANK], yx[2];
	int axes[WEFT_MAX_RANK], i = ox_value_find(l, n->input[0]), count, done = 0;
	struct ox_side x;
	struct steps s[2];
	int32_t unused;
	bool flip = false;

	if (i < 0 || !ox_side_of(l, &l->values[i], &x) || !ox_is_8_bit(x.v) || ox_is_16_bit(q->zp))
		return 0;
	l->n = n;
	l->subst[0] = x.v;
	count = ox_resize_axes(l, x.v, axes, a);
	bool ok = count >= 0 && image_axes(x.v, axes, a, count, yx);
	for (int k = 0; ok && k < 2; k++)
		ok = find_steps(l, &yx[k], &s[k]) && allowed(&yx[k], &s[k], &unused);
	ok = ok && s[0].n * s[1].n <= 65535;
	if (ok) {
		const int64_t whole = s[0].n * s[1].n;
		const struct ox_scaling sc = { .a = x.q.scale, .y = q->scale, .zp = q->zp, .count = whole,
			.least = whole * (-128 - ox_q_zp(&x.q)), .top = whole * (127 - ox_q_zp(&x.q)) };

		ox_channels_last(x.v->t.rank, y->perm);
		int z = resize(l, ox_side_in(l, x.v, y->perm), yx, s, true);
		z = number(l, WEFT_OP_SUB, NULL, z, (int32_t)(whole * ox_q_zp(&x.q)));
		z = ox_requant(l, z, &sc, whole * 255, &flip);
		done = ox_coded_as(y, as_rank(l, z, x.v->t.rank));
	}
	l->subst[0] = NULL;
	l->n = outer;
	if (count < 0)
		return count;
	return done > 0 && q->flip && !flip ? ox_coded_as(y, ox_flip_sign(l, y->tensor, WEFT_INT8)) : done;
}

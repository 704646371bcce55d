/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of 8-bit products: QLinearConv, QLinearMatMul, ConvInteger,
 * MatMulInteger, and the products of floats that are computed so (onnx_qdq.h).
 *
 * The array multiplies int8 by int8 with one zero point each, known beforehand, and int16 by int8 without a
 * zero point of int16, which ox_conv_sums() brings into the biases.
 * uint8 is taken as int8, 128 less, uint16 as int16, 32768 less, and if the zero points of weights differ between
 * channels, they are taken off the weights if int8 still holds those. Everything else
 * is computed in 16 bits: x - x_zp by w, less w_zp times the sum of x - x_zp under
 * the window.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_integer.h"

bool ox_is_8_bit(const struct ox_value *v)
{
	return v && (v->t.dtype == WEFT_INT8 || v->t.dtype == WEFT_UINT8);
}

bool ox_is_16_bit(const struct ox_value *v)
{
	return v && (v->t.dtype == WEFT_INT16 || v->t.dtype == WEFT_UINT16);
}

/*
 * Sets *out to the zero point zp of v as the signed form of v has it; a NULL zp
 * means 0. Returns true; or false, with *out of no use, if zp is not constant, has no elements,
 * they are not all equal, or they cannot be read (l->err is set then, unless l->work is used up).
 */
static bool one_zp(struct ox *l, const struct ox_value *v, struct ox_value *zp, int32_t *out)
{
	const int32_t flip = ox_less(v->t.dtype);

	*out = -flip;
	if (!zp)
		return true;
	if (!ox_is_const_value(l, zp))
		return false;
	int x = ox_cast(l, ox_get(l, zp, NULL), WEFT_INT32);
	if (x < 0)
		return false;
	const int32_t *z = ox_t(l, x)->data;
	if (!z)
		return false;            /* l->work is used up */
	for (int64_t i = 1, n = weft_tensor_elements(ox_t(l, x)); i < n; i++)
		if (z[i] != z[0])
			return false;
	*out = z[0] - flip;
	return weft_tensor_elements(ox_t(l, x)) > 0;
}

/*
 * Emits v, in order perm, as int32 less its zero point zp (NULL: nothing is taken off); a vector of
 * zero points runs along axis, counted from the end (1 is the last). Returns the graph tensor, or a
 * negative errno.
 */
static int centred(struct ox *l, struct ox_value *v, struct ox_value *zp, const int8_t *perm, int axis)
{
	int x = ox_widen(l, ox_get(l, v, perm));

	if (!zp || x < 0)
		return x;
	return ox_binary(l, WEFT_OP_SUB, x, ox_along_tensor(l, ox_widen(l, ox_get(l, zp, NULL)), ox_t(l, x)->rank, axis));
}

/*
 * Emits constant weights w, in order perm (NULL: the file's), less their zero points zp as int32; zp runs along
 * axis, counted from the end. Returns the graph tensor; or -1 if w or zp is not constant, a difference does not fit
 * int8, or the differences could not be computed (l->err is set after an error, but not if l->work is used up).
 */
static int differences(struct ox *l, struct ox_value *w, struct ox_value *zp, const int8_t *perm, int axis)
{
	if (!ox_is_const_value(l, w) || !ox_is_const_value(l, zp))
		return -1;
	int x = centred(l, w, zp, perm, axis);
	const int32_t *v = x < 0 ? NULL : ox_t(l, x)->data;
	if (!v)
		return -1;
	for (int64_t i = 0, n = weft_tensor_elements(ox_t(l, x)); i < n; i++)
		if (v[i] < -128 || v[i] > 127)
			return -1;
	return x;
}

/*
 * Sets *w to p's weights as int8, in order perm, and *zp to their one zero point; zero points that
 * differ (along axis, counted from the end) are taken off constant weights if int8 can hold the
 * differences, and *zp is then 0. Returns false if neither is possible or differences() fails. *w
 * may be a negative errno if the result is true.
 */
static bool array_weights(struct ox *l, const struct ox_product *p, const int8_t *perm, int axis, int *w, int32_t *zp)
{
	if (one_zp(l, p->w, p->w_zp, zp)) {
		*w = ox_get_signed(l, p->w, perm);
		return true;
	}
	*zp = 0;
	*w = differences(l, p->w, p->w_zp, perm, axis);
	*w = *w < 0 ? *w : ox_cast(l, *w, WEFT_INT8);
	return *w >= 0;
}

/* Returns the error of a product whose zero points or weights no array takes: an earlier one, else -ENOTSUP after ox_fail(). */
static int no_form(struct ox *l)
{
	return l->err ? l->err : ox_fail(l, -ENOTSUP, "zero points");
}

/*
 * Emits int48 sums x, which fit int32, as int32, by a RESCALE. Returns the graph tensor, or a
 * negative errno; a negative x is returned as it is.
 */
int ox_narrow_48(struct ox *l, int x)
{
	static const weft_attr a = { .rescale = { .rounding = WEFT_SINGLE_ROUND } };

	return ox_rescale_by(l, x, &a, 1 << 14, 14, WEFT_INT32);
}

/*
 * Adds a new int8 constant of the given shape whose elements are all 1 to the graph. Returns the
 * graph tensor, or a negative errno.
 */
static int ones(struct ox *l, int rank, const int64_t *dim)
{
	weft_tensor t = { .dtype = WEFT_INT8, .rank = rank };

	memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
	int64_t n = weft_tensor_elements(&t);
	void *p = ox_alloc(l, n, 1);
	if (p)
		memset(p, 1, (size_t)n);
	return ox_data(l, WEFT_INT8, rank, dim, p);
}

bool ox_int8_holds(struct ox *l, const struct ox_product *p, int axis)
{
	int32_t zp;

	return ox_is_const_value(l, p->w) && (one_zp(l, p->w, p->w_zp, &zp) || differences(l, p->w, p->w_zp, NULL, axis) >= 0);
}

/*
 * Emits constant int32 vector v as an int48 constant; a NULL v gives a single 0. Returns the graph
 * tensor, -ENOTSUP if v is something else, or another negative errno.
 */
static int widened_bias(struct ox *l, struct ox_value *v)
{
	int x = v ? ox_get(l, v, NULL) : ox_ramp(l, WEFT_INT32, 1, 0);

	if (x < 0)
		return x;
	if (!ox_t(l, x)->data || ox_t(l, x)->dtype != WEFT_INT32 || ox_t(l, x)->rank != 1)
		return ox_fail(l, -ENOTSUP, "a bias that is not constant int32");
	int64_t n = weft_tensor_elements(ox_t(l, x)), *p = ox_alloc(l, n, sizeof *p);
	for (int64_t i = 0; p && i < n; i++)
		p[i] = ((const int32_t *)ox_t(l, x)->data)[i];
	return ox_data(l, WEFT_INT48, 1, &n, p);
}

/*
 * Says whether int32 holds every sum of c->x, int16 with zero point c->x_zp, by int8 weights c->w [OC,...] with zero point
 * c->w_zp and an int48 bias. If weights or bias are not constant, that is not known, and the answer is false.
 */
static bool fits_int32(const struct ox *l, const struct ox_conv_call *c)
{
	const weft_tensor *t = ox_t(l, c->w), *b = ox_t(l, c->bias);
	const int64_t n = t->dim[0], taps = weft_tensor_elements(t) / n, n_bias = weft_tensor_elements(b);
	const int64_t lowest = INT16_MIN - c->x_zp, highest = INT16_MAX - c->x_zp;

	if (!t->data || !b->data || (n_bias != 1 && n_bias != n))
		return false;
	for (int64_t k = 0; k < n; k++) {
		int64_t least = ((const int64_t *)b->data)[n_bias == 1 ? 0 : k], top = least;
		for (int64_t i = 0; i < taps; i++) {
			const int64_t w = ((const int8_t *)t->data)[k * taps + i] - c->w_zp;
			least += w * (w > 0 ? lowest : highest);
			top += w * (w > 0 ? highest : lowest);
		}
		if (least < -INT32_MAX || top > INT32_MAX)
			return false;
	}
	return true;
}

/*
 * Emits int48 sums of c as int32 if fits_int32() holds, else as they are. Returns the graph tensor, or a negative errno; negative
 * sums are returned as they are.
 */
static int narrow_if_it_fits(struct ox *l, int sums, const struct ox_conv_call *c)
{
	return sums >= 0 && fits_int32(l, c) ? ox_narrow_48(l, sums) : sums;
}

/* ---- convolution ---- */

/*
 * Emits what the zero points p->w_zp of the weights contribute to the sums of convolution c of p:
 * each output channel's zero point (of the int8 form; NULL counts as 0) times the sum of c.x less
 * c.x_zp under its group's windows, as int32 [N,spatial...,OC]. c.x is int16, c.bias an int48 of 0,
 * c.w_zp 0; of c.w only the shape counts. Returns the graph tensor, or a negative errno.
 */
static int zp_part(struct ox *l, const struct ox_product *p, struct ox_conv_call c)
{
	int64_t dim[WEFT_MAX_RANK], oc = ox_t(l, c.w)->dim[0];
	int rank = ox_t(l, c.w)->rank;
	int zp = p->w_zp ? ox_widen(l, ox_get(l, p->w_zp, NULL)) : ox_ramp(l, WEFT_INT32, 0, 0);

	if (p->w->t.dtype == WEFT_UINT8)
		zp = ox_shift(l, zp, -128);
	memcpy(dim, ox_t(l, c.w)->dim, sizeof dim);
	dim[0] = c.group;
	c.w = ones(l, rank, dim);
	int x = ox_narrow_48(l, ox_conv_sums(l, &c));
	if (x < 0 || zp < 0)
		return l->err;
	weft_tensor s = *ox_t(l, x);
	zp = ox_reshape(l, ox_expand(l, zp, 1, &oc), 2, (int64_t[]){ c.group, oc / c.group });
	memcpy(dim, s.dim, sizeof dim);
	dim[s.rank] = 1;
	int y = ox_binary(l, WEFT_OP_MUL, ox_reshape(l, x, s.rank + 1, dim), zp);
	dim[s.rank - 1] = oc;
	return ox_reshape(l, y, s.rank, dim);
}

/*
 * Emits the tensor of p's bias, or an int32 tensor of a single 0 if p has none. Dimension number
 * `out` of the weights is the output channels. Returns the graph tensor, -EINVAL if the bias is not
 * an int32 vector of one element or one for each channel, or another negative errno.
 */
static int conv_bias(struct ox *l, const struct ox_product *p, int out)
{
	int bias = p->bias ? ox_get(l, p->bias, NULL) : ox_ramp(l, WEFT_INT32, 1, 0);

	if (bias < 0)
		return bias;
	if (ox_t(l, bias)->dtype != WEFT_INT32 || ox_t(l, bias)->rank != 1 ||
	    (ox_t(l, bias)->dim[0] != 1 && ox_t(l, bias)->dim[0] != p->w->t.dim[out]))
		return ox_fail(l, -EINVAL, "the bias is not int32 with one element for each output channel");
	return bias;
}

/*
 * Returns what no sum of convolution p can exceed in magnitude if x has 8 or 16 bits and the weights
 * have 8: ox_term_most() for each tap plus the largest magnitude in the bias, or 2^31 if the bias is
 * not constant. Dimension number `out` of the weights is the output channels.
 */
int64_t ox_conv_most(struct ox *l, const struct ox_product *p, int out)
{
	const int bias = p->bias ? ox_get(l, p->bias, NULL) : -1;
	int64_t sum = ox_term_most(l, p), largest = 0;

	if (p->bias && (bias < 0 || !ox_t(l, bias)->data))
		return (int64_t)1 << 31;
	for (int i = 0; i < p->w->t.rank; i++)
		sum *= i == out ? 1 : p->w->t.dim[i];
	for (int64_t i = 0, n = p->bias ? weft_tensor_elements(ox_t(l, bias)) : 0; i < n; i++) {
		const int64_t b = llabs((int64_t)((const int32_t *)ox_t(l, bias)->data)[i]);
		largest = b > largest ? b : largest;
	}
	return sum + largest;
}

/* One axis of a ConvTranspose: lengths of operand, kernel and result, the stride, and how much of the full result is cut off in front. */
struct axis { int64_t in, kernel, out, stride, cut; };

/* Says whether result `at` along axis a has a product of tap k. */
static bool has_tap(const struct axis *a, int64_t at, int64_t k)
{
	const int64_t from = at + a->cut - k;

	return from >= 0 && from % a->stride == 0 && from / a->stride < a->in;
}

/* Says whether the results along axis a are whole strides, each of which has the same taps as the first. */
static bool repeats(const struct axis *a)
{
	bool same = a->out % a->stride == 0;

	for (int64_t i = a->stride; i < a->out && same; i++)
		for (int64_t k = 0; k < a->kernel && same; k++)
			same = has_tap(a, i, k) == has_tap(a, i % a->stride, k);
	return same;
}

/*
 * Adds an int32 constant [1,rows,columns,OC]: the sums, times zp, of the weights w [OC,KH,KW,C], less their zero point, of the taps
 * that the first results along both axes have. Returns the graph tensor, or a negative errno.
 */
static int zero_part(struct ox *l, int w, int32_t w_zp, int32_t zp, const struct axis yx[2], int64_t rows, int64_t columns)
{
	const weft_tensor t = *ox_t(l, w);
	const int64_t oc = t.dim[0], width = t.dim[2], taps = t.dim[1] * width, dim[4] = { 1, rows, columns, oc }, extra = oc * (taps + width);
	int32_t *tap = ox_alloc(l, extra, sizeof *tap), *p = tap ? ox_alloc(l, rows * columns * oc, sizeof *p) : NULL;
	int32_t *of_row = tap ? tap + oc * taps : NULL;        /* of one row of results, the sum for each column of the kernel */

	for (int64_t i = 0; p && i < oc * taps; i++)
		for (int64_t c = 0; c < t.dim[3]; c++)
			tap[i] += ((const int8_t *)t.data)[i * t.dim[3] + c] - w_zp;
	for (int64_t y = 0; p && y < rows; y++) {
		memset(of_row, 0, (size_t)(oc * width) * sizeof *of_row);
		for (int64_t i = 0; i < oc * taps; i++)
			if (has_tap(&yx[0], y, i % taps / width))
				of_row[i / taps * width + i % width] += tap[i];
		for (int64_t x = 0; x < columns; x++)
			for (int64_t k = 0; k < width; k++)
				for (int64_t c = 0; c < oc && has_tap(&yx[1], x, k); c++)
					p[(y * columns + x) * oc + c] += zp * of_row[c * width + k];
	}
	if (tap)
		l->room += extra * (int64_t)sizeof *tap;
	free(tap);
	return p ? ox_data(l, WEFT_INT32, 4, dim, p) : l->err;
}

/*
 * Emits int32 sums y [N,H,W,OC] of TRANSPOSE_CONV2D a of int16 by constant weights w less what the zero point zp of the
 * operand, whose height and width are `in`, contributes: zp times the sum of the weights whose taps a result has. That depends on
 * the result's place within the strides, and near the border on more. Returns the graph tensor, or a negative errno; a negative y is
 * returned as it is.
 */
static int less_zero_part(struct ox *l, int y, const weft_attr *a, int w, const int64_t in[2], int32_t zp)
{
	struct axis yx[2];

	if (y < 0)
		return y;
	const weft_tensor t = *ox_t(l, y);
	for (int i = 0; i < 2; i++)
		yx[i] = (struct axis){ in[i], ox_t(l, w)->dim[1 + i], t.dim[1 + i], a->conv.stride[i], -a->conv.pad[2 * i] };
	if (!repeats(&yx[0]) || !repeats(&yx[1]))
		return ox_binary(l, WEFT_OP_SUB, y, zero_part(l, w, a->conv.w_zp, zp, yx, t.dim[1], t.dim[2]));
	const int64_t rows = yx[0].stride, columns = yx[1].stride;
	int part = zero_part(l, w, a->conv.w_zp, zp, yx, rows, columns);
	part = ox_reshape(l, part, 4, (int64_t[]){ 1, rows, 1, columns * t.dim[3] });
	y = ox_reshape(l, y, 4, (int64_t[]){ t.dim[0] * t.dim[1] / rows, rows, t.dim[2] / columns, columns * t.dim[3] });
	return part < 0 || y < 0 ? l->err : ox_reshape(l, ox_binary(l, WEFT_OP_SUB, y, part), 4, t.dim);
}

/*
 * Emits the sums [N,spatial...,OC] of the ConvTranspose at hand with operands p: int32; of an x of 16 bits with zero point 0
 * int48 if some sum may exceed int32. That it has one group, one or two dimensions and no dilation is for the caller to check.
 * Returns the graph tensor; 0 for an x of 16 bits with another zero point if some sum may exceed int32; -ENOTSUP if zero
 * points differ or are not constant (those of constant weights that differ only if int8 cannot hold the weights less their
 * zero points), -EINVAL for a bias that conv_bias() refuses, or another negative errno.
 */
int ox_transpose_product(struct ox *l, const struct ox_product *p)
{
	int8_t last[WEFT_MAX_RANK], order[WEFT_MAX_RANK];
	weft_attr a = { .conv = { .dilation = { 1, 1 }, .acc = WEFT_INT32 } };
	struct ox_window win = { 0 };
	const bool wide = ox_is_16_bit(p->x);
	int32_t x_zp;
	int bias = conv_bias(l, p, 1), err = bias < 0 ? bias : ox_transpose_window(l, &win), x, w;

	if (err)
		return err;
	const int rank = p->x->t.rank, first = 2 - win.n;      /* of one dimension, the image has one row */
	ox_channels_last(rank, last);
	ox_transpose_order(rank, order);
	if (!one_zp(l, p->x, p->x_zp, &x_zp) || !array_weights(l, p, order, rank - 1, &w, &a.conv.w_zp))
		return no_form(l);
	if (wide) {
		a.conv.acc = WEFT_INT48;
		bias = widened_bias(l, p->bias);
	}
	a.conv.x_zp = wide ? 0 : x_zp;
	int64_t dim[4] = { p->x->t.dim[0], 1, 1, p->w->t.dim[1] }, x_dim[4] = { dim[0], 1, 1, p->x->t.dim[1] }, w_dim[4] = { dim[3], 1, 1, x_dim[3] };
	a.conv.stride[0] = 1;
	for (int i = 0; i < win.n; i++) {
		const int d = first + i;
		a.conv.stride[d] = (int32_t)win.stride[i];
		a.conv.pad[2 * d] = (int32_t)-win.before[i];
		a.conv.pad[2 * d + 1] = (int32_t)-win.after[i];
		dim[1 + d] = win.out[i];
		x_dim[1 + d] = p->x->t.dim[2 + i];
		w_dim[1 + d] = p->w->t.dim[2 + i];
	}
	x = ox_reshape(l, ox_get_signed(l, p->x, last), 4, x_dim);
	w = ox_reshape(l, w, 4, w_dim);
	if (x < 0 || w < 0 || bias < 0)
		return l->err;
	const struct ox_conv_call c = { .w = w, .bias = bias, .w_zp = a.conv.w_zp };
	struct ox_conv_call centred_x = c;
	centred_x.x_zp = x_zp;
	const bool fits = wide && fits_int32(l, &c);
	if (wide && x_zp && !(fits && fits_int32(l, &centred_x)))
		return 0;
	int y = ox_op(l, WEFT_OP_TRANSPOSE_CONV2D, &a, (int[]){ x, w, bias }, 3, a.conv.acc, 4, dim);
	y = fits ? ox_narrow_48(l, y) : y;
	if (wide && x_zp)
		y = less_zero_part(l, y, &a, w, x_dim + 1, x_zp);
	return rank == 4 ? y : ox_reshape(l, y, 3, (int64_t[]){ dim[0], dim[2], dim[3] });
}

/*
 * Emits the sums [N,spatial...,OC] of convolution p. The caller has set c->win and c->group; this
 * function sets the other fields of *c. Operands of 8 bits give int32; their zero points may differ
 * between channels or be computed as the network runs. An x of 16 bits gives int48, or int32 if weights
 * are constant and no sum can exceed it.
 * Returns the graph tensor, -EINVAL if the bias is no int32 vector of one element or one for each
 * channel, -ENOTSUP if x has 16 bits and its zero points differ or are not constant, int8 does not hold the
 * weights (array_weights()) or the bias is not constant, or another negative errno.
 */
int ox_conv_product(struct ox *l, const struct ox_product *p, struct ox_conv_call *c)
{
	int8_t last[WEFT_MAX_RANK];
	int bias = conv_bias(l, p, 0);

	if (bias < 0)
		return bias;
	const int saturates = ox_conv_saturates(l, p, c->group);
	if (saturates) {
		const int y = saturates < 0 ? saturates : ox_conv_in_pairs(l, p);
		return y < 0 || !p->bias ? y : ox_binary(l, WEFT_OP_ADD, y, bias);
	}
	ox_channels_last(p->x->t.rank, last);
	c->bias = bias;
	if (ox_is_16_bit(p->x)) {
		if (!one_zp(l, p->x, p->x_zp, &c->x_zp) || !array_weights(l, p, last, p->w->t.rank, &c->w, &c->w_zp))
			return no_form(l);
		c->x = ox_get_signed(l, p->x, last);
		c->bias = widened_bias(l, p->bias);
		return narrow_if_it_fits(l, ox_conv_sums(l, c), c);
	}
	if (one_zp(l, p->x, p->x_zp, &c->x_zp) && array_weights(l, p, last, p->w->t.rank, &c->w, &c->w_zp)) {
		c->x = ox_get_signed(l, p->x, last);
		return ox_conv_sums(l, c);
	}
	c->x = ox_cast(l, centred(l, p->x, p->x_zp, last, 1), WEFT_INT16);
	c->w = ox_get_signed(l, p->w, last);
	c->bias = ox_ramp(l, WEFT_INT48, 1, 0);
	c->x_zp = c->w_zp = 0;
	int y = ox_narrow_48(l, ox_conv_sums(l, c));
	y = y < 0 ? y : ox_binary(l, WEFT_OP_SUB, y, zp_part(l, p, *c));
	return y < 0 || !p->bias ? y : ox_binary(l, WEFT_OP_ADD, y, bias);
}

/* ---- matrices ---- */

/*
 * Emits constant weights w [N,K] with each row's columns in the order in which the tensor behind
 * matrix x (x->flat) has its elements, so that x itself needs no transpose. Returns the graph
 * tensor, or a negative errno.
 */
int ox_turned_weights(struct ox *l, const struct ox_value *x, int w)
{
	int64_t dim[WEFT_MAX_RANK], n = w < 0 ? 0 : ox_t(l, w)->dim[0], k = w < 0 ? 0 : ox_t(l, w)->dim[1];

	memcpy(dim, x->flat.dim, sizeof dim);
	dim[0] = n;
	return ox_reshape(l, ox_transpose(l, ox_reshape(l, w, x->flat.rank, dim), x->flat.form.perm), 2, (int64_t[]){ n, k });
}

/*
 * Emits the sums of matrix product p as a convolution with a kernel of 1 by 1 whose images are x's
 * rows: w are the weights [N,K], x_zp and w_zp the zero points of the signed forms, y and rank the
 * shape of the result. If x is made of a tensor in another order (x->flat) and w is constant, w's
 * columns are put into that order and x needs no transpose. Sums of 16 bits are int32 if w is constant
 * and they fit that, else int48. Returns the graph tensor, -ENOTSUP for 16 bits with a bias that is no
 * constant int32 vector, or another negative errno; a negative w gives one, too.
 */
static int as_conv(struct ox *l, const struct ox_product *p, int w, int32_t x_zp, int32_t w_zp, const int64_t *y, int rank)
{
	const int64_t k = p->w->t.dim[0], n = p->w->t.dim[1];
	const bool wide = ox_is_16_bit(p->x);
	bool flat = w >= 0 && ox_t(l, w)->data && p->x->flat.rank && ox_t(l, p->x->flat.form.tensor)->dtype == (wide ? WEFT_INT16 : WEFT_INT8);
	int x = flat ? p->x->flat.form.tensor : ox_get_signed(l, p->x, NULL);
	struct ox_conv_call c = { .group = 1, .x_zp = x_zp, .w_zp = w_zp };
	int64_t rows = x < 0 || !k ? 0 : weft_tensor_elements(ox_t(l, x)) / k;

	c.win = (struct ox_window){ .n = 2, .kernel = { 1, 1 }, .stride = { 1, 1 }, .dilation = { 1, 1 }, .out = { 1, 1 } };
	if (flat)
		w = ox_turned_weights(l, p->x, w);
	c.x = ox_reshape(l, x, 4, (int64_t[]){ rows, 1, 1, k });
	c.w = ox_reshape(l, w, 4, (int64_t[]){ n, 1, 1, k });
	c.bias = wide ? widened_bias(l, p->bias) : p->bias ? ox_get(l, p->bias, NULL) : ox_ramp(l, WEFT_INT32, 1, 0);
	int sums = ox_conv_sums(l, &c);
	return ox_reshape(l, wide ? narrow_if_it_fits(l, sums, &c) : sums, rank, y);
}

/*
 * Returns what no sum of matrix product p, [...,M,K] by [...,K,N], can exceed in magnitude if x has 8 or
 * 16 bits and the weights have 8: K times ox_term_most(), or 2^31 if p has a bias. x has rank 1 or more.
 */
int64_t ox_matmul_most(const struct ox *l, const struct ox_product *p)
{
	return p->bias ? (int64_t)1 << 31 : p->x->t.dim[p->x->t.rank - 1] * ox_term_most(l, p);
}

/*
 * Emits the sums of integer matrix product p, [...,M,K] by [...,K,N] with leading dimensions
 * broadcast, with zero points and bias, as int32. An x of 16 bits by a w of rank 2
 * gives int48 if the sums may not fit int32; by a w of higher rank, that they
 * fit is not checked. Returns the graph tensor, -ENOTSUP for vectors and for an x of 16 bits by a w of
 * rank 2 with a bias that is not constant, -EINVAL for scalars or if the shapes do not fit, or
 * another negative errno.
 */
int ox_matmul_product(struct ox *l, const struct ox_product *p)
{
	static const int8_t swap[WEFT_MAX_RANK] = { 1, 0 }, plain[WEFT_MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const weft_tensor *a = &p->x->t, *b = &p->w->t;
	int32_t x_zp, w_zp;
	int w, y;

	if (a->rank < 1 || b->rank < 1)
		return ox_fail(l, -EINVAL, "a factor of rank 0");
	if (a->rank < 2 || b->rank < 2)
		return ox_fail(l, -ENOTSUP, "integer products of vectors");
	const int saturates = ox_matmul_saturates(l, p);
	if (saturates) {
		y = saturates < 0 ? saturates : ox_matmul_in_pairs(l, p);
		return y < 0 || !p->bias ? y : ox_binary(l, WEFT_OP_ADD, y, ox_get(l, p->bias, NULL));
	}
	if (b->rank == 2 && a->dim[a->rank - 1] == b->dim[0] && one_zp(l, p->x, p->x_zp, &x_zp) &&
	    array_weights(l, p, swap, 2, &w, &w_zp)) {
		int64_t dim[WEFT_MAX_RANK];

		memcpy(dim, a->dim, sizeof dim);
		dim[a->rank - 1] = b->dim[1];
		return as_conv(l, p, w, x_zp, w_zp, dim, a->rank);
	}
	/* Two tensors of int8: no sum leaves 32 bits. */
	if (ox_is_8_bit(p->x) && ox_is_8_bit(p->w) && ox_matmul_most(l, p) < INT32_MAX && !p->bias && one_zp(l, p->x, p->x_zp, &x_zp) &&
	    one_zp(l, p->w, p->w_zp, &w_zp)) {
		int x = ox_get_signed(l, p->x, NULL), b8 = x < 0 ? x : ox_get_signed(l, p->w, NULL);
		return ox_matmul_sums_zp(l, x, b8, x_zp, w_zp);
	}
	int left = ox_cast(l, centred(l, p->x, p->x_zp, plain, p->x_axis), WEFT_INT16);
	int right = ox_cast(l, centred(l, p->w, p->w_zp, plain, 1), WEFT_INT16);
	y = ox_narrow_48(l, ox_matmul_sums(l, left, right));
	return y < 0 || !p->bias ? y : ox_binary(l, WEFT_OP_ADD, y, ox_get(l, p->bias, NULL));
}

/* ---- operators ---- */

/*
 * Checks that both operands of product p are int8 or uint8 and that each zero point has its
 * operand's type. Returns 0; -EINVAL if x is float32 or a zero point has another type; -ENOTSUP for
 * other types of x and w; l->err if an operand is NULL because it could not be read.
 */
static int need_8_bit(struct ox *l, const struct ox_product *p)
{
	if (!p->x || !p->w)
		return l->err;
	if (!ox_is_8_bit(p->x) || !ox_is_8_bit(p->w))
		return ox_fail(l, p->x->t.dtype == WEFT_FP32 ? -EINVAL : -ENOTSUP, "%s by %s", weft_dtype_name(p->x->t.dtype),
		               weft_dtype_name(p->w->t.dtype));
	if ((p->x_zp && p->x_zp->t.dtype != p->x->t.dtype) || (p->w_zp && p->w_zp->t.dtype != p->w->t.dtype))
		return ox_fail(l, -EINVAL, "a zero point's type is not its tensor's");
	return 0;
}

/*
 * Checks that the result's zero point zp is int8 or uint8. Returns 0, -ENOTSUP if it has another
 * type, or l->err if zp is NULL because it could not be read.
 */
static int need_8_bit_result(struct ox *l, const struct ox_value *zp)
{
	if (zp && !ox_is_8_bit(zp))
		return ox_fail(l, -ENOTSUP, "a result of %s", weft_dtype_name(zp->t.dtype));
	return zp ? 0 : l->err;
}

/*
 * Lowers QLinearConv, an integer convolution of int8 or uint8 operands with an optional int32 bias
 * (operand 8), whose sums are requantised by ox_requant() to the type of the result's zero point
 * (operand 7). Returns 0, -ENOTSUP if a type is not of 8 bits (but -EINVAL if that of x, operand 0,
 * is float32), -EINVAL if zero points, shapes or the bias do not fit, or another negative errno.
 */
int ox_qlinear_conv(struct ox *l)
{
	struct ox_product p = { .x = ox_in(l, 0), .x_zp = ox_in(l, 2), .w = ox_in(l, 3), .w_zp = ox_in(l, 5), .bias = ox_optional(l, 8),
	                        .kernel = true };
	struct ox_scaling s = { .a = ox_in(l, 1), .b = ox_in(l, 4), .y = ox_in(l, 6), .zp = ox_in(l, 7), .b_axis = 1 };
	struct ox_conv_call c = { 0 };
	int8_t last[WEFT_MAX_RANK];
	bool flip = false;
	int err;

	if (!p.x || !p.x_zp || !p.w || !p.w_zp || !s.a || !s.b || !s.y || !s.zp)
		return l->err;
	if ((err = need_8_bit(l, &p)) || (err = need_8_bit_result(l, s.zp)) || (err = ox_conv_shapes(l, 3, &c)))
		return err;
	int y = ox_conv_product(l, &p, &c);
	ox_channels_last(p.x->t.rank, last);
	y = y < 0 ? y : ox_requant(l, y, &s, ox_conv_most(l, &p, 0), &flip);
	return ox_result(l, 0, y, last, flip);
}

/*
 * Lowers QLinearMatMul, a matrix product of int8 or uint8 operands, whose sums are requantised by
 * ox_requant() to the type of the result's zero point (operand 7). Returns 0, -ENOTSUP if a type is
 * not of 8 bits (but -EINVAL if that of the first factor is float32) or a factor is a vector,
 * -EINVAL if zero points or shapes do not fit, or another negative errno.
 */
int ox_qlinear_matmul(struct ox *l)
{
	struct ox_product p = { .x = ox_in(l, 0), .x_zp = ox_in(l, 2), .w = ox_in(l, 3), .w_zp = ox_in(l, 5), .x_axis = 2,
	                        .kernel = true };
	struct ox_scaling s = { .a = ox_in(l, 1), .b = ox_in(l, 4), .y = ox_in(l, 6), .zp = ox_in(l, 7), .a_axis = 2, .b_axis = 1,
	                        .y_axis = 2 };
	bool flip = false;
	int err;

	if (!p.x || !p.x_zp || !p.w || !p.w_zp || !s.a || !s.b || !s.y || !s.zp)
		return l->err;
	if ((err = need_8_bit(l, &p)) || (err = need_8_bit_result(l, s.zp)))
		return err;
	int y = ox_matmul_product(l, &p);
	y = y < 0 ? y : ox_requant(l, y, &s, ox_matmul_most(l, &p), &flip);
	return ox_result(l, 0, y, NULL, flip);
}

/*
 * Lowers ConvInteger: a convolution of 8-bit tensors, operands 0 and 1, with zero points as
 * optional operands 2 and 3, whose results are the int32 sums. Returns 0, -ENOTSUP or -EINVAL if
 * types or shapes do not fit, or another negative errno.
 */
int ox_conv_integer(struct ox *l)
{
	struct ox_product p = { .x = ox_in(l, 0), .w = ox_in(l, 1), .x_zp = ox_optional(l, 2), .w_zp = ox_optional(l, 3) };
	struct ox_conv_call c = { 0 };
	int8_t last[WEFT_MAX_RANK];
	int err = need_8_bit(l, &p);

	if (err || (err = ox_conv_shapes(l, 1, &c)))
		return err;
	ox_channels_last(p.x->t.rank, last);
	return ox_result(l, 0, ox_conv_product(l, &p, &c), last, false);
}

/*
 * Lowers MatMulInteger: a product of 8-bit matrices, operands 0 and 1, with zero points as optional
 * operands 2 and 3, whose results are the int32 sums. Returns 0, -ENOTSUP or -EINVAL if types or
 * shapes do not fit, or another negative errno.
 */
int ox_matmul_integer(struct ox *l)
{
	struct ox_product p = { .x = ox_in(l, 0), .w = ox_in(l, 1), .x_zp = ox_optional(l, 2), .w_zp = ox_optional(l, 3), .x_axis = 2,
	                        .kernel = true };
	int err = need_8_bit(l, &p);

	return err ? err : ox_result(l, 0, ox_matmul_product(l, &p), NULL, false);
}

/*
 * Lowers com.microsoft's MatMulIntegerToFloat: the integer sums of the 8-bit operands 0 and 1, with
 * zero points as optional operands 4 and 5, times both scales, operands 2 and 3, in the scale's
 * float type, plus the bias, operand 6, if there is one. Returns 0, -ENOTSUP or -EINVAL if types or
 * shapes do not fit, or another negative errno.
 */
int ox_matmul_to_float(struct ox *l)
{
	struct ox_product p = { .x = ox_in(l, 0), .w = ox_in(l, 1), .x_zp = ox_optional(l, 4), .w_zp = ox_optional(l, 5), .x_axis = 2,
	                        .kernel = true };
	int err = need_8_bit(l, &p), y = err ? err : ox_matmul_product(l, &p);

	if (y < 0)
		return y;
	int rank = ox_t(l, y)->rank;
	int a = ox_along(l, ox_in(l, 2), rank, 2), b = ox_along(l, ox_in(l, 3), rank, 1);
	y = a < 0 ? a : ox_cast(l, y, ox_t(l, a)->dtype);
	y = ox_binary(l, WEFT_OP_MUL, y, ox_binary(l, WEFT_OP_MUL, a, b));
	if (y >= 0 && ox_has(l, 6))
		y = ox_binary(l, WEFT_OP_ADD, y, ox_x(l, 6));
	return ox_result(l, 0, y, NULL, false);
}

/*
 * The operands of com.microsoft's QGemm are A, its scale and zero point, B, its scale and zero
 * point, C, and the result's scale and zero point.
 */

/*
 * Multiplies the scale of QGemm's first factor, s->a, by attribute alpha, which counts for the
 * product and the bias alike since the bias is in units of the product; *scaled holds the new scale
 * then. Does nothing if alpha is 1 or absent. Returns 0, -ENOTSUP if that scale is not one constant
 * or alpha is not above 0, or another negative errno.
 */
static int times_alpha(struct ox *l, struct ox_scaling *s, struct ox_value *scaled)
{
	double alpha = ox_attr_f(l, "alpha", 1), a;
	float *v;

	if (alpha == 1)
		return 0;
	if (!ox_scalar(l, s->a, &a) || !(alpha > 0))
		return ox_fail(l, -ENOTSUP, "alpha %g with scales that are not one constant, or alpha not above 0", alpha);
	if (!(v = ox_alloc(l, 1, sizeof *v)))
		return l->err;
	*v = (float)alpha * (float)a;
	int x = ox_data(l, WEFT_FP32, 0, NULL, v);
	*scaled = ox_held(l, "", x < 0 ? 0 : x);
	s->a = scaled;
	return x < 0 ? x : 0;
}

/*
 * Replaces *bias, if it has shape [1,N], by a value of shape [N], which *row holds; a NULL bias or
 * one of another rank stays. Returns 0, -ENOTSUP if it has several rows, or another negative errno.
 */
static int one_row(struct ox *l, struct ox_value **bias, struct ox_value *row)
{
	if (!*bias || (*bias)->t.rank != 2)
		return 0;
	int64_t n = (*bias)->t.dim[1];
	if ((*bias)->t.dim[0] != 1)
		return ox_fail(l, -ENOTSUP, "a bias of %lld rows", (long long)(*bias)->t.dim[0]);
	int x = ox_reshape(l, ox_get(l, *bias, NULL), 1, &n);
	if (x < 0)
		return x;
	*row = ox_held(l, "", x);
	*bias = row;
	return 0;
}

/*
 * Lowers com.microsoft's QGemm: an integer matrix product with transA, transB, alpha and a bias,
 * whose sums are requantised by ox_requant() to 8 bits. Returns 0, -ENOTSUP if the result's scale
 * is absent, its zero point is absent or not of 8 bits, the factors are not of 8 bits, one has a
 * rank above 2, the bias has several rows or alpha cannot be taken (times_alpha()), -EINVAL if the
 * first factor is float32, a factor has a rank below 2, another operand is missing or types or
 * shapes do not fit, or another negative errno.
 */
int ox_qgemm(struct ox *l)
{
	struct ox_product p = { .x = ox_in(l, 0), .x_zp = ox_in(l, 2), .w = ox_in(l, 3), .w_zp = ox_in(l, 5), .bias = ox_optional(l, 6),
	                        .x_axis = 2, .kernel = true };
	struct ox_scaling s = { .a = ox_in(l, 1), .b = ox_in(l, 4), .y = ox_optional(l, 7), .zp = ox_optional(l, 8), .a_axis = 2, .b_axis = 1,
	                        .y_axis = 1 };
	struct ox_value turned, turned_x, scaled, row;
	bool flip = false;
	int err;

	if (!p.x || !p.x_zp || !p.w || !p.w_zp || !s.a || !s.b)
		return l->err;
	if ((err = need_8_bit(l, &p)) || (err = ox_need_rank(l, 0, 2, 2)) || (err = ox_need_rank(l, 3, 2, 2)))
		return err;
	if (!s.y || !s.zp || !ox_is_8_bit(s.zp))
		return ox_fail(l, -ENOTSUP, "results other than 8 bits; Gemm between DequantizeLinear and QuantizeLinear may have others");
	if (ox_attr_i(l, "transA", 0)) {
		turned_x = ox_turned(l, p.x);
		if (!turned_x.n_forms)
			return l->err;
		p.x = &turned_x;
	}
	if ((err = times_alpha(l, &s, &scaled)) || (err = one_row(l, &p.bias, &row)))
		return err;
	if (ox_attr_i(l, "transB", 0)) {
		turned = ox_turned(l, p.w);
		if (!turned.n_forms)
			return l->err;
		p.w = &turned;
	}
	int y = ox_matmul_product(l, &p);
	y = y < 0 ? y : ox_requant(l, y, &s, ox_matmul_most(l, &p), &flip);
	return ox_result(l, 0, y, NULL, flip);
}

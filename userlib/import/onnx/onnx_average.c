/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Averages of quantised elements, in integers:
 *
 *   y = clip(round((sum of (x - x_zp)) * x_scale / (y_scale * count)) + y_zp)
 *
 * where the real number is rounded once, with ties to even. float32 sums have no
 * defined order, so ONNX names no bits here; this is the value that they
 * approximate. Sums over the whole image are REDUCE_SUMs, sums over windows a
 * depthwise convolution by ones. If windows at the edges lack elements, all sums are brought
 * to one count first: each is multiplied by the least common multiple of the counts over its own.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "onnx_fixed_point.h"
#include "onnx_integer.h"

#define MAX_COMMON (1 << 20)       /* times 255: sums stay below 2^28 */

/* Returns the set of axes (bit i is axis i) of a tensor of that rank without the first two; the rank is 3 or more. */
static unsigned spatial(int rank)
{
	return (1u << rank) - 1 - 3;
}

int64_t ox_elements_over(const weft_tensor *t, unsigned set)
{
	int64_t count = 1;

	for (int i = 0; i < t->rank; i++)
		count *= set >> i & 1 ? t->dim[i] : 1;
	return count;
}

int ox_sums_over(struct ox *l, int x, unsigned set)
{
	for (int i = 0; set >> i && x >= 0; i++)
		x = set >> i & 1 ? ox_reduce(l, WEFT_OP_REDUCE_SUM, x, i) : x;
	return x;
}

/*
 * Emits the int32 sums of quantised x, less its zero point, over all spatial dimensions, which stay
 * with length 1. Sets *perm to the order of the result's dimensions (channels last). Returns the graph
 * tensor, or a negative errno.
 */
static int sum_all(struct ox *l, const struct ox_side *x, int8_t *perm)
{
	ox_channels_last(x->v->t.rank, perm);
	return ox_sums_over(l, ox_centred(l, x, perm), spatial(x->v->t.rank) >> 1);
}

/*
 * Emits the sums, less the zero point, of quantised x over each window of w, which has one or two spatial
 * dimensions: a depthwise convolution with weights of 1, for which padding has the value of the zero point. The
 * sums are int32; the caller has checked that they fit. Sets *perm to the order of the result's dimensions
 * (channels last). Returns the graph tensor, or a negative errno.
 */
static int sum_windows(struct ox *l, const struct ox_side *x, const struct ox_window *w, int8_t *perm)
{
	struct ox_conv_call c = { .group = x->v->t.dim[1], .x_zp = ox_q_zp(&x->q), .win = *w };
	int64_t dim[WEFT_MAX_RANK] = { c.group, 1, 1, 1, 1, 1, 1, 1 }, n = c.group;

	ox_channels_last(x->v->t.rank, perm);
	for (int i = 0; i < w->n; i++) {
		dim[1 + i] = w->kernel[i];
		n *= w->kernel[i];
	}
	int8_t *p = ox_alloc(l, n, 1);
	if (p)
		memset(p, 1, (size_t)n);
	c.w = ox_data(l, WEFT_INT8, w->n + 2, dim, p);
	const bool wide = ox_is_16_bit(x->v);
	c.bias = ox_ramp(l, wide ? WEFT_INT48 : WEFT_INT32, 1, 0);
	c.x = ox_side_in(l, x->v, perm);
	return wide ? ox_narrow_48(l, ox_conv_sums(l, &c)) : ox_conv_sums(l, &c);
}

/*
 * Returns the least common multiple of the n counts c, all at least 1. It stops early, with a
 * value of MAX_COMMON or more, if the multiple grows that large.
 */
static int64_t common_multiple(const int32_t *c, int64_t n)
{
	int64_t m = 1;

	for (int64_t i = 0; i < n && m < MAX_COMMON; i++) {
		int64_t a = m, b = c[i];
		while (b) {
			int64_t r = a % b;
			a = b;
			b = r;
		}
		m = m / a * c[i];
	}
	return m;
}

/*
 * Requantises sums y of windows of x that have different numbers of elements, `counts` (a constant
 * [1,out...,1]), on the device: each sum is multiplied so that all have one common count, by which
 * it is then divided as s (without its count) says. *flip says afterwards whether the result is
 * the signed form of uint8. Returns the tensor, 0 if the common count is MAX_COMMON or more or the device
 * cannot round so exactly, or a negative errno.
 */
static int by_one_count(struct ox *l, int y, int counts, const struct ox_side *x, struct ox_scaling s, bool *flip)
{
	const weft_tensor t = *ox_t(l, counts);
	const int64_t n = weft_tensor_elements(&t), m = common_multiple(t.data, n);
	int32_t *times = m < MAX_COMMON ? ox_alloc(l, n, sizeof *times) : NULL;

	if (!times)
		return m < MAX_COMMON ? l->err : 0;
	for (int64_t i = 0; i < n; i++)
		times[i] = (int32_t)(m / ((const int32_t *)t.data)[i]);
	int k = ox_data(l, WEFT_INT32, t.rank, t.dim, times);
	s.counts = 0;
	s.count = m;
	s.least = m * (-128 - ox_q_zp(&x->q));
	s.top = m * (127 - ox_q_zp(&x->q));
	s.device_only = true;
	return ox_requant(l, k < 0 ? k : ox_binary(l, WEFT_OP_MUL, y, k), &s, m * 255, flip);
}

/*
 * Emits sums y of windows of x, at most `most` in magnitude, over `counts` (a constant [1,out...,1]), as codes with q: times
 * 2^30 over each count, and then by the nearest RESCALE. Returns the graph tensor, -ENOTSUP if there is none, or another
 * negative errno; a negative y is returned as it is.
 */
static int over_counts(struct ox *l, int y, int counts, const struct ox_side *x, double most, const struct ox_q *q)
{
	const weft_tensor t = *ox_t(l, counts);
	const int64_t n = weft_tensor_elements(&t);
	const int left = 29 - ilogb(most);
	int32_t *over = ox_alloc(l, n, sizeof *over);

	for (int64_t i = 0; over && i < n; i++)
		over[i] = (int32_t)lround(0x1p30 / ((const int32_t *)t.data)[i]);
	const int k = ox_data(l, WEFT_INT32, t.rank, t.dim, over);
	y = ox_product(l, ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, y, left), k, 30);
	return ox_rescaled(l, y, ox_signed(q->zp->t.dtype), ldexp(x->q.s / q->s, -left), 0x1p30, ox_q_zp(q));
}

/*
 * Says whether averages of codes x of 16 bits may become codes with q: --requant rescale is set. The sums of up to 32768
 * of them, less their zero point, fit int32, and the nearest RESCALE has one rounding.
 */
static bool takes_wide(const struct ox *l, const struct ox_side *x)
{
	return l->o.requant == WEFT_ONNX_REQUANT_RESCALE && ox_is_16_bit(x->v);
}

/*
 * Makes the averages of quantised x over windows w, or over all spatial dimensions if w is NULL, quantised
 * with q; unsigned results are held in their signed form. Returns 1 with *y set, channels last; 0 if more than 65535 elements
 * are averaged (of 16 bits 32768, or 2^14 of windows), if a window has no element that counts, if w has three dimensions, or if
 * x or q has 16 bits and takes_wide() does not hold; or a negative errno.
 */
int ox_average(struct ox *l, const struct ox_side *x, const struct ox_windows *w, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_scaling s = { .a = x->q.scale, .y = q->scale, .zp = q->zp, .count = 1 };
	int64_t count = 1, taps = 1;
	bool flip = false;
	int sums, z = 0;

	for (int i = 0; w && i < w->w.n; i++)
		taps *= w->w.kernel[i];
	const bool wide = ox_is_16_bit(x->v) || ox_is_16_bit(q->zp);
	const bool nearest = w && l->o.requant == WEFT_ONNX_REQUANT_RESCALE;
	if ((wide && !takes_wide(l, x)) || taps > (wide && w ? 1 << 14 : 65535) || (w && w->w.n > 2))
		return 0;
	if (w) {
		int counts = ox_window_counts(l, &w->w, x->v->t.dim + 2, w->padding, w->behind, WEFT_INT32);
		if (counts < 0)
			return counts;
		const int32_t *c = ox_t(l, counts)->data;
		bool same = true;
		for (int64_t i = 0, n = weft_tensor_elements(ox_t(l, counts)); i < n; i++) {
			if (c[i] < 1)
				return 0;
			same = same && c[i] == c[0];
		}
		count = c[0];
		s.counts = same ? 0 : counts;
		sums = sum_windows(l, x, &w->w, y->perm);
		if (nearest && (wide || s.counts))
			return ox_coded_as(y, over_counts(l, sums, counts, x, (double)taps * (wide ? 65535 : 255), q));
	} else {
		taps = count = ox_elements_over(&x->v->t, spatial(x->v->t.rank));
		if (count > (wide ? 32768 : 65535))
			return 0;
		sums = sum_all(l, x, y->perm);
	}
	if (sums < 0)
		return sums;
	s.count = s.counts ? 1 : count;
	if (s.counts)
		z = by_one_count(l, sums, s.counts, x, s, &flip);
	s.least = taps * (ox_q_low(&x->q) - ox_q_zp(&x->q));
	s.top = taps * (ox_q_high(&x->q) - ox_q_zp(&x->q));
	if (!z)
		z = ox_requant(l, sums, &s, taps * (wide ? 65535 : 255), &flip);
	return ox_coded_as(y, z >= 0 && q->flip && !flip ? ox_flip_sign(l, z, ox_signed(q->zp->t.dtype)) : z);
}

/*
 * Makes the averages of quantised x over a set of axes (bit i is axis i), or the sums if `sums` is set,
 * quantised with q. The axes stay as dimensions of 1; unsigned results are held in their signed form. Returns 1
 * with *y set, in the file's order of dimensions. Returns 0 if more than 65535 elements are summed (32768 if x or
 * q has 16 bits), or if x or q has 16 bits and takes_wide() does not hold. After a failure it returns a negative
 * errno.
 */
static int average_over(struct ox *l, const struct ox_side *x, unsigned set, bool sums, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_scaling s = { .a = x->q.scale, .y = q->scale, .zp = q->zp, .count = 1 };
	const int64_t count = ox_elements_over(&x->v->t, set);
	bool flip = false;

	const bool wide = ox_is_16_bit(x->v) || ox_is_16_bit(q->zp);
	if ((wide && !takes_wide(l, x)) || count > (wide ? 32768 : 65535))
		return 0;
	s.count = sums ? 1 : count;
	int z = ox_sums_over(l, ox_centred(l, x, NULL), set);
	s.least = count * (ox_q_low(&x->q) - ox_q_zp(&x->q));
	s.top = count * (ox_q_high(&x->q) - ox_q_zp(&x->q));
	z = ox_requant(l, z, &s, count * (wide ? 65535 : 255), &flip);
	ox_file_order(y->perm);
	return ox_coded_as(y, z >= 0 && q->flip && !flip ? ox_flip_sign(l, z, ox_signed(q->zp->t.dtype)) : z);
}

/*
 * Drops the dimensions of y, averages in the file's order, that are in the set of axes. Returns the
 * graph tensor, or a negative errno; a negative y is returned as it is.
 */
int ox_without_axes(struct ox *l, int y, unsigned set)
{
	int64_t dim[WEFT_MAX_RANK];
	int rank = 0;

	for (int i = 0; y >= 0 && i < ox_t(l, y)->rank; i++)
		if (!(set >> i & 1))
			dim[rank++] = ox_t(l, y)->dim[i];
	return y < 0 ? y : ox_reshape(l, y, rank, dim);
}

/*
 * Sets *set to the axes of the ReduceMean, ReduceSum or GlobalAveragePool at hand, whose operand has that rank; bit i is
 * axis i. Returns 1; 0 if it names none; or a negative errno, -EINVAL if an axis is out of range.
 */
int ox_reduced_axes(struct ox *l, int rank, unsigned *set)
{
	int64_t axes[WEFT_MAX_RANK];
	const bool pool = ox_is(l, "GlobalAveragePool");
	const int n = pool ? 0 : ox_list(l, "axes", 1, WEFT_MAX_RANK, axes);

	*set = pool && rank > 2 ? spatial(rank) : 0;
	for (int i = 0; i < n; i++) {
		const int axis = ox_axis(l, axes[i], rank);
		if (axis < 0)
			return axis;
		*set |= 1u << axis;
	}
	return n < 0 ? n : *set != 0;
}

/*
 * Makes the codes, quantised with q, of what the ReduceMean or ReduceSum at hand makes of x: by ox_average() if it averages
 * all dimensions but the first two of 8-bit codes, else by average_over(); keepdims 0 drops the axes. Returns
 * 1 with *y set; 0 if the node names no axes or the averages cannot be made in integers (int16 that
 * takes_wide() refuses, more than 65535 elements); or a negative errno, -EINVAL if an axis is out of range.
 */
static int mean(struct ox *l, const struct ox_side *x, const struct ox_q *q, struct ox_coded *y)
{
	const int rank = x->v->t.rank;
	unsigned set;
	int done = ox_reduced_axes(l, rank, &set);

	if (done <= 0)
		return done;
	if (rank < 3 || set != spatial(rank) || ox_is_16_bit(x->v) || ox_is(l, "ReduceSum")) {
		done = average_over(l, x, set, ox_is(l, "ReduceSum"), q, y);
		return done <= 0 || ox_attr_i(l, "keepdims", 1) ? done : ox_coded_as(y, ox_without_axes(l, y->tensor, set));
	}
	done = ox_average(l, x, NULL, q, y);
	if (done <= 0 || ox_attr_i(l, "keepdims", 1))
		return done;
	y->perm[1] = 1;
	return ox_coded_as(y, ox_reshape(l, y->tensor, 2, x->v->t.dim));
}

/*
 * Emits v, which the node at hand reduces to codes of q, in two parts: as ox_fine_square() does if it is the
 * square of a value with numbers (ox_fine()), limited to squares of which one alone makes the mean or sum exceed
 * the codes of q, else as ox_parts() does. Sets *set to the axes (bit i is axis i) and *count to the number of
 * elements that are reduced to one. Returns 1 if there are parts. Returns 0 if v has none, if the node names no axes,
 * or if *count is above 2^15. After a failure it returns a negative errno.
 */
static int parts(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_parts *p, unsigned *set, int64_t *count)
{
	struct ox_fine f;
	int done = ox_fine_root(l, v, &f);
	const bool root = done > 0;

	if (!done)
		done = ox_parts(l, v, q, p);
	if (done <= 0)
		return done;
	const weft_tensor t = *ox_t(l, root ? f.tensor : p->high);
	if ((done = ox_reduced_axes(l, t.rank, set)) <= 0)
		return done;
	*count = ox_elements_over(&t, *set);
	if (*count > 1 << OX_PART)
		return 0;
	const double over = ox_is(l, "ReduceSum") ? 1 : (double)*count;
	return root ? ox_fine_square(l, f, over * ox_q_codes(q) * q->s, p) : 1;
}

/*
 * Makes the codes, quantised with q, of what the ReduceMean, ReduceSum or GlobalAveragePool at hand makes of v, a
 * function of codes or the square of a value that waits, with --requant rescale:
 *
 *   H + L 2^-15 = sum of v / (2^15 unit)       summed apart, with what L has above 15 bits in H
 *   t = H 2^k + L 2^(k - 15)                   k such that a step of q has 2^11 steps of t or more, H limited to what fits
 *   y = t / (2^(k - 15) unit^-1 count scale) + zp        a sum has a count of 1 here
 *
 * Returns 1 with *y set, in the file's order of dimensions; 0 if v has no parts, more than 2^15
 * elements are reduced, or their unit is above 2^-3 steps of a mean's elements; or a negative errno.
 */
static int mean_of_function(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_parts p;
	int64_t count;
	unsigned set;
	const int done = l->o.requant == WEFT_ONNX_REQUANT_RESCALE ? parts(l, v, q, &p, &set, &count) : 0;

	if (done <= 0)
		return done;
	const double over = ox_is(l, "ReduceSum") ? 1 : (double)count;
	const double steps = ldexp(p.unit, OX_PART) / (over * q->s);               /* of 1 in H */
	if (!(p.unit * (double)count / (over * q->s) <= 0x1p-3) || !(steps > 0x1p-60))
		return 0;
	const int log = ilogb(steps) + 12, k = log < 0 ? 0 : log > OX_PART ? OX_PART : log;
	int high = ox_sums_over(l, p.high, set), low = ox_sums_over(l, p.low, set), more = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, low, OX_PART);
	high = ox_binary(l, WEFT_OP_ADD, high, more);
	if (k)
		high = ox_with(l, WEFT_OP_MAXIMUM, ox_with(l, WEFT_OP_MINIMUM, high, ldexp(1, 29 - k)), -ldexp(1, 29 - k));
	high = ox_with(l, WEFT_OP_LOGICAL_LEFT_SHIFT, high, k);
	low = ox_with(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, ox_with(l, WEFT_OP_BITWISE_AND, low, (1 << OX_PART) - 1), OX_PART - k);
	int z = ox_binary(l, WEFT_OP_ADD, high, low);
	z = z < 0 ? z : ox_rescaled(l, z, ox_signed(q->zp->t.dtype), ldexp(steps, -k), 0x1p30, ox_q_zp(q));
	ox_file_order(y->perm);
	return ox_coded_as(y, ox_attr_i(l, "keepdims", 1) ? z : ox_without_axes(l, z, set));
}

/*
 * Sets *x to the codes of which the average `n` of v is made, quantised with q: those from which v was
 * dequantised, else b's (ox_between()), which are too coarse for sums. Returns 1, 0 if there are none, or a negative errno.
 */
static int averaged(struct ox *l, const onnx_node *n, struct ox_value *v, const struct ox_q *q, struct ox_between *b, struct ox_side *x)
{
	if (ox_side_of(l, v, x) && ox_is_16_bit(x->v) == ox_is_16_bit(q->zp))
		return 1;
	if (ox_node_is(n, "ReduceSum"))
		return 0;
	const int done = ox_between(l, v, q, b);
	if (done > 0)
		*x = b->side;
	return done;
}

/*
 * Computes n, an AveragePool, GlobalAveragePool, ReduceMean or ReduceSum that stands between a DequantizeLinear and a
 * QuantizeLinear with parameters q, in integers. Returns 1 with *y set; 0 if the operand was not dequantised
 * with one constant scale and zero point, has fewer than 3 dimensions (a pool only), or the averages cannot be
 * made in integers; or a negative errno. The node at hand is the same afterwards; nothing stands for its
 * operand 0 then (l->subst[0] is NULL), unless the operand was refused, which changes nothing.
 */
int ox_fold_average(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	const onnx_node *outer = l->n;
	struct ox_between between;
	struct ox_windows w;
	struct ox_side x;
	const bool reduces = ox_node_is(n, "ReduceMean") || ox_node_is(n, "ReduceSum");
	int done = 0, i = ox_value_find(l, n->input[0]);

	if (i < 0)
		return 0;
	l->n = n;
	if (l->values[i].depth && !ox_node_is(n, "AveragePool"))
		done = mean_of_function(l, &l->values[i], q, y);
	l->n = outer;
	if (done)
		return done;
	done = averaged(l, n, &l->values[i], q, &between, &x);
	if (done <= 0 || (x.v->t.rank < 3 && !reduces))
		return done < 0 ? done : 0;
	l->n = n;
	l->subst[0] = x.v;
	if (reduces)
		done = mean(l, &x, q, y);
	else if (ox_node_is(n, "GlobalAveragePool"))
		done = ox_average(l, &x, NULL, q, y);
	else if ((done = ox_pool_window(l, x.v, &w.w, w.behind)) == 0) {
		w.padding = ox_attr_i(l, "count_include_pad", 0) != 0;
		done = ox_average(l, &x, &w, q, y);
	}
	l->subst[0] = NULL;
	l->n = outer;
	return done;
}

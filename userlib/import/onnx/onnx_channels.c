/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear functions of 8-bit codes that differ from channel to channel, between a DequantizeLinear and a QuantizeLinear. Such a
 * function is a BatchNormalization, as DenseNet has it in front of its convolutions; or a Mul, Add or Sub whose other operand is a
 * constant with one number for each channel, as ConvNeXt scales its layers. In each channel, the result divided by its scale is
 * slope * (code - zero point) + offset.
 *
 * The function becomes a depthwise convolution and a RESCALE. The convolution has one weight and one bias for each channel, and
 * the RESCALE one multiplier of 31 bits. The product of weight and multiplier is the slope, so that any weight from 1 to 127 may be
 * chosen. The bias is an integer, which the RESCALE multiplies as well. Therefore the offset can only be a multiple of the multiplier,
 * and how far the nearest multiple is from the wanted offset depends on the weight. This file looks for a weight, a bias and a multiplier
 * with which each of the 256 codes gives the result of the float operators.
 *
 * For some functions there are none, for example if the offset is near a multiple of the slope. These are computed by a MUL and an
 * ADD of int32 and a RESCALE. They are exact more often, and take more time on the device.
 */
#include <math.h>
#include <stdlib.h>

#include "onnx_integer.h"
#include "onnx_qdq.h"

#define CODES       256
#define MOST_WEIGHT 127
#define MOST_BIAS   0x1p29     /* int32 holds the sums if no bias is larger */

/* The numbers by which a channel is computed: its result is ((code - zero point) * weight + bias) * factor, rounded. */
struct channel { int32_t weight, bias; struct ox_factor factor; };

/*
 * The ways in which all channels of a function can be computed. The first three are a depthwise convolution and a RESCALE: one that
 * rounds ties up, one that rounds ties to even, and one whose results may be one step off. WIDE is a MUL and an ADD of int32.
 */
enum form { TIES_UP, TIES_EVEN, NEAREST, WIDE, N_FORMS };

/* The wanted results of a channel: f[i] is that of code i - 128. Codes and zero points are signed here; 128 has been subtracted from unsigned ones. */
struct wanted { const int32_t *f; int32_t x_zp, y_zp; };

/* Returns whether channel c gives the wanted result for all codes, or one that is at most `slack` steps away from it. */
static bool gives(const struct channel *c, const struct wanted *w, bool even, int slack)
{
	for (int i = 0; i < CODES; i++) {
		int64_t y = ox_scaled((int64_t)(i - 128 - w->x_zp) * c->weight + c->bias, c->factor, even) + w->y_zp;
		y = y < -128 ? -128 : y > 127 ? 127 : y;
		const int64_t off = y - w->f[i];
		if (off > slack || off < -slack)
			return false;
	}
	return true;
}

/*
 * Narrows the range *least to *most of factors to those with which RESCALE makes f of `sum`. f and its limits lo and hi are codes less
 * their zero point. RESCALE rounds to the nearest integer, so that sum * factor has to lie between f - 1/2 and f + 1/2; if f is a
 * limit, it may also lie beyond it. Returns whether any factor is left.
 */
static bool narrow(int64_t sum, int32_t f, int32_t lo, int32_t hi, double *least, double *most)
{
	const double below = f == lo ? -INFINITY : f - 0.5, above = f == hi ? INFINITY : f + 0.5;
	const double a = sum < 0 ? above : below, b = sum < 0 ? below : above;

	if (!sum)
		return below <= 0 && above > 0;
	*least = fmax(*least, a / (double)sum);
	*most = fmin(*most, b / (double)sum);
	return *least <= *most;
}

/*
 * Sets c->factor to the middle of all factors with which c->weight and c->bias give the wanted results. Returns false if there is no
 * such factor.
 */
static bool find_factor(const struct wanted *w, bool even, struct channel *c)
{
	double least = 0, most = 0x1p30;

	for (int i = 0; i < CODES; i++)
		if (!narrow((int64_t)(i - 128 - w->x_zp) * c->weight + c->bias, w->f[i] - w->y_zp, -128 - w->y_zp, 127 - w->y_zp, &least, &most))
			return false;
	return ox_nearest((least + most) / 2, 0x1p30, &c->factor) && gives(c, w, even, 0);
}

/*
 * Sets *c to a weight, a bias and a factor that give the wanted results, which are those of this slope and offset. The RESCALE rounds
 * ties to even if `even` is set, else up. Returns false if none are found, or if slope or offset is not finite.
 */
static bool find_channel(double slope, double offset, const struct wanted *w, bool even, struct channel *c)
{
	for (int k = MOST_WEIGHT; k >= 1 && isfinite(slope) && isfinite(offset); k--) {
		c->weight = slope < 0 ? -k : slope > 0 ? k : 0;
		const double bias = rint(slope != 0 ? offset / fabs(slope) * k : offset);
		for (int more = -1; more <= 1 && fabs(bias) < MOST_BIAS; more++) {
			c->bias = (int32_t)bias + more;
			if (find_factor(w, even, c))
				return true;
		}
	}
	return false;
}

/*
 * Sets *c to the largest weight, and to the factor and the bias that are nearest to this slope and offset with it. Returns false if a
 * result is more than one step away from the wanted one, or if slope or offset is not finite.
 */
static bool nearest_channel(double slope, double offset, const struct wanted *w, struct channel *c)
{
	*c = (struct channel){ slope < 0 ? -MOST_WEIGHT : slope > 0 ? MOST_WEIGHT : 0, 0, { 1 << 30, 30 } };
	if (!isfinite(slope) || (slope != 0 && !ox_nearest(fabs(slope) / MOST_WEIGHT, 0x1p30, &c->factor)))
		return false;
	const double bias = rint(offset / ldexp(c->factor.mul, -c->factor.shift));
	if (!(fabs(bias) <= MOST_BIAS))
		return false;
	c->bias = (int32_t)bias;
	return gives(c, w, false, 1);
}

/*
 * Returns the n floats of operand k of `node`, or NULL if that operand is no constant of n floats, or after a failure. If a node
 * makes the operand, that node is lowered first.
 */
static const float *operand(struct ox *l, const onnx_node *node, size_t k, int64_t n)
{
	struct ox_value *v = ox_operand(l, node, k);
	const int x = v && ox_settle(l, v) >= 0 && ox_is_const_value(l, v) ? ox_get(l, v, NULL) : -1;

	return x >= 0 && ox_t(l, x)->dtype == WEFT_FP32 && weft_tensor_elements(ox_t(l, x)) == n ? ox_t(l, x)->data : NULL;
}

/*
 * A linear function of n channels, which lie along dimension `axis` of x. In channel k, less[k] is subtracted, the difference is
 * multiplied by times[k], plus[k] is added, and with `negate` the sign is changed. If one of the three is NULL, its step is left out.
 */
struct linear { struct ox_side x; int axis; int64_t n; const float *less, *times, *plus; bool negate; };

/*
 * Sets *f to the function that `node`, a BatchNormalization, computes. Returns false if a parameter is no constant float, if the node
 * is one for training, or after a failure.
 */
static bool read_batch_norm(struct ox *l, const onnx_node *node, struct linear *f)
{
	const onnx_attribute *a = ox_node_attr(node, "epsilon");

	if (!ox_operand(l, node, 0) || !ox_side_of(l, ox_operand(l, node, 0), &f->x) || f->x.v->t.rank < 2 || ox_attr_of(node, "training_mode", 0))
		return false;
	f->axis = 1;
	f->n = f->x.v->t.dim[1];
	if (f->n < 1)
		return false;
	f->plus = operand(l, node, 2, f->n);
	f->less = operand(l, node, 3, f->n);
	if (!f->plus || !f->less || !operand(l, node, 1, f->n) || !operand(l, node, 4, f->n))
		return false;
	const int scale = ox_get(l, ox_operand(l, node, 1), NULL), variance = ox_get(l, ox_operand(l, node, 4), NULL);
	const int factor = ox_batch_factor(l, scale, variance, a && a->has_f ? (double)a->f : 1e-5);
	f->times = factor < 0 ? NULL : ox_t(l, factor)->data;
	return f->times;
}

/*
 * Sets *f to the function that `node`, a Mul, Add or Sub, computes. One operand must have codes. The other one must be constant, and
 * only one of its dimensions may have more than one element; it must have as many as that dimension of the first operand. Returns
 * false if this is not so, or after a failure.
 */
static bool read_pair(struct ox *l, const onnx_node *node, struct linear *f)
{
	struct ox_value *v[2] = { ox_operand(l, node, 0), ox_operand(l, node, 1) };
	const bool first = v[0] && ox_side_of(l, v[0], &f->x);

	if (!v[0] || !v[1] || node->n_input != 2 || (!first && !ox_side_of(l, v[1], &f->x)) || ox_settle(l, v[first]) < 0)
		return false;
	const weft_tensor *c = &v[first]->t, *x = &f->x.v->t;
	f->n = weft_tensor_elements(c);
	f->axis = -1;
	for (int i = 0; i < c->rank && c->rank <= x->rank; i++)
		if (c->dim[i] > 1 && c->dim[i] == f->n && x->dim[x->rank - c->rank + i] == f->n)
			f->axis = x->rank - c->rank + i;
	const float *numbers = f->axis < 0 ? NULL : operand(l, node, first, f->n);
	const bool mul = ox_node_is(node, "Mul"), sub = ox_node_is(node, "Sub");
	f->times = mul ? numbers : NULL;
	f->less = sub ? numbers : NULL;
	f->plus = mul || sub ? NULL : numbers;
	f->negate = sub && !first;
	return numbers;
}

/*
 * Returns the code, quantised with q and in the signed form, that the float operators give for code i - 128 in channel k. They compute
 * in float32. This function computes each operation in float64 and rounds its result to float32, which gives the same number, because
 * float64 has more than twice as many bits.
 */
static int32_t of_floats(const struct linear *f, int64_t k, int i, const struct ox_q *q)
{
	double v = (double)(float)((i - 128 - ox_q_zp(&f->x.q)) * f->x.q.s);

	v = f->less ? (double)(float)(v - (double)f->less[k]) : v;
	v = f->times ? (double)(float)(v * (double)f->times[k]) : v;
	v = f->plus ? (double)(float)(v + (double)f->plus[k]) : v;
	v = rint((double)(float)((f->negate ? -v : v) / q->s)) + ox_q_zp(q);
	return v >= 127 ? 127 : v > -128 ? (int32_t)v : -128;
}

/* Sets *slope and *offset to those of channel k, both divided by q's scale. */
static void line_of(const struct linear *f, int64_t k, const struct ox_q *q, double *slope, double *offset)
{
	const double times = f->times ? (double)f->times[k] : 1, sign = f->negate ? -1 : 1;

	*slope = sign * times * f->x.q.s / q->s;
	*offset = sign * ((f->plus ? (double)f->plus[k] : 0) - (f->less ? (double)f->less[k] : 0) * times) / q->s;
}

/*
 * In the form WIDE, slopes and offsets are multiplied by a power of two and rounded. Returns the exponent of the largest power with
 * which int32 holds all sums, or a negative number if there is none.
 */
static int wide_bits(const struct linear *f, const struct ox_q *q)
{
	double most = 1, slope, offset;

	for (int64_t k = 0; k < f->n; k++) {
		line_of(f, k, q, &slope, &offset);
		const double sum = CODES * fabs(slope) + fabs(offset);
		most = isfinite(sum) ? fmax(most, sum) : INFINITY;
	}
	return most < MOST_BIAS ? 28 - ilogb(most) : -1;
}

/*
 * Sets *c to the form WIDE of this slope and offset, multiplied by 2^bits. If the result is not the wanted one because a float was
 * rounded across a tie, or because a tie was rounded to even, an offset that is a little larger or smaller may give it, and some are
 * tried. Returns false if none gives the wanted results.
 */
static bool wide_channel(double slope, double offset, int bits, const struct wanted *w, struct channel *c)
{
	const int64_t bias = llrint(ldexp(offset, bits));

	for (int64_t aside = 0; aside <= (int64_t)1 << bits >> 10; aside = aside ? 2 * aside : 1)
		for (int sign = -1; sign <= 1; sign += 2) {
			*c = (struct channel){ (int32_t)lrint(ldexp(slope, bits)), (int32_t)(bias + sign * aside), { 1 << 30, (int8_t)(30 + bits) } };
			if (gives(c, w, false, 0))
				return true;
		}
	return false;
}

/*
 * Sets c[] to the numbers by which all channels of f are computed in this form. Returns false if one of the channels does not give
 * the results of the float operators with any numbers.
 */
static bool find_channels(const struct linear *f, const struct ox_q *q, enum form form, struct channel *c)
{
	int32_t codes[CODES];
	const struct wanted w = { codes, ox_q_zp(&f->x.q), ox_q_zp(q) };
	const int bits = form == WIDE ? wide_bits(f, q) : 0;
	bool all = bits >= 0;

	for (int64_t k = 0; k < f->n && all; k++) {
		double slope, offset;
		line_of(f, k, q, &slope, &offset);
		for (int i = 0; i < CODES; i++)
			codes[i] = of_floats(f, k, i, q);
		all = form == WIDE      ? wide_channel(slope, offset, bits, &w, &c[k])
		      : form == NEAREST ? nearest_channel(slope, offset, &w, &c[k])
		                        : find_channel(slope, offset, &w, form == TIES_EVEN, &c[k]);
	}
	return all;
}

/* Sets perm to the order of x's dimensions with that of the channels last, and dim to the dimensions in this order. */
static void channels_last(const struct linear *f, int8_t *perm, int64_t *dim)
{
	const weft_tensor *x = &f->x.v->t;
	int n = 0;

	for (int i = 0; i < x->rank; i++)
		if (i != f->axis)
			perm[n++] = (int8_t)i;
	perm[n] = (int8_t)f->axis;
	for (int i = 0; i < x->rank; i++)
		dim[i] = x->dim[perm[i]];
}

/*
 * Adds a constant int32 [1,...,n] of that rank, which holds the biases of n channels if `biases` is set, else their weights. Returns
 * the graph tensor, or a negative errno.
 */
static int along_channels(struct ox *l, const struct channel *c, int64_t n, int rank, bool biases)
{
	int64_t dim[WEFT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	int32_t *v = ox_alloc(l, n, sizeof *v);

	for (int64_t k = 0; v && k < n; k++)
		v[k] = biases ? c[k].bias : c[k].weight;
	dim[rank - 1] = n;
	return ox_data(l, WEFT_INT32, rank, dim, v);
}

/*
 * Emits f in the form WIDE: the zero point is subtracted from the codes, and the differences are multiplied by the weights and added to
 * the biases. Results are codes of q, held in the order y->perm, which is set. Returns the graph tensor, or a negative errno.
 */
static int emit_wide(struct ox *l, const struct linear *f, const struct ox_q *q, const struct channel *c, struct ox_coded *y)
{
	const int rank = f->x.v->t.rank;
	int64_t dim[WEFT_MAX_RANK];

	channels_last(f, y->perm, dim);
	const int weights = along_channels(l, c, f->n, rank, false), biases = weights < 0 ? weights : along_channels(l, c, f->n, rank, true);
	const int product = biases < 0 ? biases : ox_binary(l, WEFT_OP_MUL, ox_centred(l, &f->x, y->perm), weights);
	return ox_rescale_even(l, product < 0 ? product : ox_binary(l, WEFT_OP_ADD, product, biases), WEFT_INT8, c[0].factor, false, 0, ox_q_zp(q));
}

/*
 * Emits f as a depthwise convolution and a RESCALE with the numbers c. An image keeps its shape; any other tensor is convolved as one
 * long row. Results are codes of q, held in the order y->perm, which is set. Returns the graph tensor, or a negative errno.
 */
static int emit_depthwise(struct ox *l, const struct linear *f, const struct ox_q *q, const struct channel *c, bool even, struct ox_coded *y)
{
	const int64_t n = f->n, filter[5] = { n, 1, 1, 1, 1 };
	const int rank = f->x.v->t.rank;
	const bool image = f->axis == 1 && (rank == 3 || rank == 4);
	struct ox_conv_call conv = { .group = n, .x_zp = ox_q_zp(&f->x.q), .win = { .n = image ? rank - 2 : 1 } };
	int8_t *weight = ox_alloc(l, n, 1), *shift = ox_alloc(l, n, 1);
	int32_t *bias = ox_alloc(l, n, sizeof *bias), *mul = ox_alloc(l, n, sizeof *mul);
	int64_t dim[WEFT_MAX_RANK], rows = weft_tensor_elements(&f->x.v->t) / n;

	channels_last(f, y->perm, dim);
	for (int i = 0; i < conv.win.n; i++) {
		conv.win.kernel[i] = conv.win.stride[i] = conv.win.dilation[i] = 1;
		conv.win.out[i] = image ? dim[1 + i] : rows;
	}
	for (int64_t k = 0; k < n && weight && shift && bias && mul; k++) {
		weight[k] = (int8_t)c[k].weight;
		bias[k] = c[k].bias;
		mul[k] = c[k].factor.mul;
		shift[k] = c[k].factor.shift;
	}
	conv.w = ox_data(l, WEFT_INT8, conv.win.n + 2, filter, weight);
	conv.bias = ox_data(l, WEFT_INT32, 1, &n, bias);
	conv.x = ox_side_in(l, f->x.v, y->perm);
	if (!image)
		conv.x = ox_reshape(l, conv.x, 3, (int64_t[]){ 1, rows, n });
	const int sums = conv.w < 0 || conv.bias < 0 || conv.x < 0 ? l->err : ox_conv_sums(l, &conv);
	if (sums < 0 || !mul || !shift) {
		free(mul);
		free(shift);
		return sums < 0 ? sums : l->err;
	}
	const int z = ox_rescale_channels(l, sums, WEFT_INT8, n, mul, shift, even, ox_q_zp(q));
	return image ? z : ox_reshape(l, z, rank, dim);
}

/*
 * Computes node n in integers. The node is a BatchNormalization, Mul, Add or Sub that has been put off until its reader was known, and
 * that reader quantises its result with q. Returns 1
 * with *y set; 0 if the node is no linear function of 8-bit codes by channel, or if a channel has no form that gives the results of
 * the float operators; or a negative errno.
 */
int ox_fold_channels(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	const bool rescale = l->o.requant == WEFT_ONNX_REQUANT_RESCALE;
	struct linear f = { .axis = -1 };
	int done = 0;

	if (!ox_is_8_bit(q->zp) || !(ox_node_is(n, "BatchNormalization") ? read_batch_norm(l, n, &f) : read_pair(l, n, &f)) || !ox_is_8_bit(f.x.v)) {
		l->err = l->no_memory ? l->err : 0;
		return l->err;
	}
	struct channel *c = ox_alloc(l, f.n, sizeof *c);
	for (int form = TIES_UP; c && !done && form < N_FORMS; form++)
		if ((form != NEAREST || rescale) && find_channels(&f, q, (enum form)form, c))
			done = ox_coded_as(y, form == WIDE ? emit_wide(l, &f, q, c, y) : emit_depthwise(l, &f, q, c, form == TIES_EVEN, y));
	l->room += c ? f.n * (int64_t)sizeof *c : 0;
	free(c);
	return c ? done : l->err;
}

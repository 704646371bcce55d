/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PRELU in float32 between DEQUANTIZE and QUANTIZE, with a slope for each channel: what
 * TensorFlow writes in int16x8 networks. A table for each channel would be megabytes, so
 * the float32 operations themselves are done in integers:
 *
 *   d = x_scale * (x - x_zp)            x, as a magnitude u with its highest one in bit 30
 *   p = d * slope, where x is negative
 *   q = p / y_scale                     by a reciprocal of 31 bits
 *   y = round(q) + y_zp, halves away from zero
 *
 * A value is a mantissa of 24 bits and a count of how far it stands too high. Each
 * product is rounded to the nearest, ties to even, where its highest one is: a product
 * of mantissas has one of two lengths, which a comparison of one factor with a constant
 * tells.
 *
 * The reciprocal makes it an approximation, so nothing here is believed: the same steps
 * are computed for every code and every channel when compiling, with reciprocals beside
 * the nearest where needed, and if one differs from golden the operators stay on the
 * host.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "island.h"
#include "sequence.h"

#define FUNC(name) WEFT_ALU_FUNC_##name
#define TYPE(name) WEFT_ALU_A_TYPE_##name

#define MANTISSA 24            /* bits of a float32's */
#define UNIT     (1 << (MANTISSA - 1))
#define TOP      30            /* bit of a normalised magnitude's, and of a reciprocal's, highest one */
#define MOST_SHIFT 40          /* of a mantissa: then nothing is left */
#define TRIES    5             /* reciprocals */

/* A positive float32: mantissa * 2^exponent, the mantissa at least UNIT, or 0 for 0. */
struct number { int32_t mantissa; int exponent; };

/* What a channel is computed with. */
struct channel {
	int32_t slope;             /* mantissa */
	int32_t slope_long;        /* mantissas from there on have a longer product with it */
	int32_t inverse;           /* of y_scale, its highest one in bit TOP */
	int32_t inverse_long;
	int8_t shift;              /* added to the counts */
	int8_t flips;              /* -1: a negative x gives a negative result; 0: the slope is negative */
};

struct prelu {
	const struct weft_attr_quant *from, *to;   /* of the DEQUANTIZE and the QUANTIZE */
	struct number scale;       /* of x */
	int32_t scale_long;        /* the least factor whose product with its mantissa is one bit longer (long_from()) */
	int8_t shift;              /* as in channel, where x is not negative */
	int64_t n;                 /* channels */
	const float *slope;        /* of each channel; the graph's */
	struct channel *channel;   /* owned */
	int32_t lo, hi;            /* limits of y */
	int64_t codes;             /* of x: 256 or 65536 */
};

/*
 * Set *n to the absolute value of v, which must be 0 or a normal float32. Returns false, with *n zero, if v
 * is subnormal, infinite or NaN.
 */
static bool take_apart(float v, struct number *n)
{
	int e;

	*n = (struct number){ 0 };
	if (v == 0)
		return true;
	if (!isnormal(v))
		return false;
	float f = frexpf(fabsf(v), &e);
	*n = (struct number){ (int32_t)ldexpf(f, MANTISSA), e - MANTISSA };
	return true;
}

/*
 * Returns the least factor whose product with m is at least 2^bits; INT32_MAX if m is 0 or that factor would
 * be larger.
 */
static int32_t long_from(int32_t m, int bits)
{
	int64_t least = m ? (((int64_t)1 << bits) + m - 1) / m : INT32_MAX;

	return least > INT32_MAX ? INT32_MAX : (int32_t)least;
}

/* ---- the steps, as the nests below do them ---- */

/* Returns a * b / 2^s to nearest, ties to even. */
static int64_t even(int64_t a, int64_t b, int s)
{
	int64_t p = a * b, half = (int64_t)1 << (s - 1), v = (p + half) >> s;

	return (p & ((half << 1) - 1)) == half ? v & ~INT64_C(1) : v;
}

/*
 * Returns the result that the nests compute for the value x of a code less the zero point, with the constants
 * c of its channel: in integers, clamped to f->lo..f->hi.
 */
static int32_t result(const struct prelu *f, const struct channel *c, int32_t x)
{
	bool negative = x < 0;
	uint32_t size = (uint32_t)(negative ? -x : x);
	int up = (size ? __builtin_clz(size) : 32) - 1;
	int64_t u = (int64_t)size << up, slope = negative ? c->slope : UNIT, slope_long = negative ? c->slope_long : 2 * UNIT;
	int one = 30 + (u >= f->scale_long);
	int64_t d = even(u, f->scale.mantissa, one);
	int two = MANTISSA - 1 + (d >= slope_long);
	int64_t p = even(d, slope, two);
	int three = 30 + (p >= c->inverse_long);
	int64_t q = even(p, c->inverse, three);
	int64_t right = (negative ? c->shift : f->shift) + up - (one + two + three);
	right = right < 0 ? 0 : right > MOST_SHIFT ? MOST_SHIFT : right;
	int64_t y = (q >> right) + (right ? q >> (right - 1) & 1 : 0);
	y = (negative && c->flips ? -y : y) + f->to->y_zp;
	return (int32_t)(y < f->lo ? f->lo : y > f->hi ? f->hi : y);
}

/*
 * Returns whether the results that the nests compute with the constants c of a channel, for all codes of x,
 * are those of golden, which y has in the order of the codes taken as unsigned (int8 or int16).
 */
static bool agrees(const struct prelu *f, const struct channel *c, const weft_tensor *y)
{
	for (int64_t k = 0; k < f->codes; k++) {
		int32_t x = (int32_t)(f->codes == 256 ? (int8_t)k : (int16_t)k) - f->from->x_zp;
		int32_t want = y->dtype == WEFT_INT8 ? ((const int8_t *)y->data)[k] : ((const int16_t *)y->data)[k];
		if (result(f, c, x) != want)
			return false;
	}
	return true;
}

/* ---- the constants ---- */

/*
 * Returns the number with which the count of shifts of a channel begins, which says how many bits a value
 * stands too high: minus the sum of the exponents of x's scale, the slope and the reciprocal. The steps add
 * the bits by which u is shifted left and subtract those that each product loses.
 */
static int first_shift(const struct prelu *f, int slope_exponent, int inverse_exponent)
{
	return -(f->scale.exponent + slope_exponent + inverse_exponent);
}

/*
 * Set the constants *c of a channel with this slope, and f->shift, which serves x that are not negative in
 * all channels; the reciprocal of y_scale is the nearest one plus `off`. Returns false if it cannot be:
 * slope or y_scale are subnormal, infinite or NaN, y_scale is 0, the reciprocal exceeds 31 bits, or a first
 * count of shifts exceeds int8.
 */
static bool set_channel(struct prelu *f, float slope, int off, struct channel *c)
{
	struct number m, y;

	if (!take_apart(slope, &m) || !take_apart(f->to->y_scale, &y) || !y.mantissa)
		return false;
	/* 2^bits / mantissa, in 2^30..2^31 - 1 */
	int bits = y.mantissa == UNIT ? TOP + MANTISSA - 1 : TOP + MANTISSA;
	int64_t inverse = (((int64_t)1 << bits) + y.mantissa / 2) / y.mantissa + off;
	if (inverse > INT32_MAX)
		return false;
	int exponent = -bits - y.exponent, mine = first_shift(f, m.exponent, exponent), other = first_shift(f, 1 - MANTISSA, exponent);
	if (mine < INT8_MIN || mine > INT8_MAX || other < INT8_MIN || other > INT8_MAX)
		return false;
	f->shift = (int8_t)other;
	*c = (struct channel){
		.slope = m.mantissa, .slope_long = long_from(m.mantissa, 2 * MANTISSA - 1), .inverse = (int32_t)inverse,
		.inverse_long = long_from((int32_t)inverse, TOP + MANTISSA), .shift = (int8_t)mine, .flips = slope < 0 ? 0 : -1,
	};
	return true;
}

/*
 * Find constants of channel k (f->channel[k]) that give golden's results for all codes, with one of TRIES
 * reciprocals, the nearest first. Returns 1 if there are any, 0 if there are none or golden cannot compute
 * the island, or -ENOMEM.
 */
static int find_channel(const struct cc *cc, const struct island *s, struct prelu *f, int64_t k)
{
	static const int offs[TRIES] = { 0, 1, -1, 2, -2 };
	weft_tensor y;
	int err = island_evaluate(cc, s, k, &y), found = 0;

	for (int i = 0; i < TRIES && !err && !found; i++)
		found = set_channel(f, f->slope[k], offs[i], &f->channel[k]) && agrees(f, &f->channel[k], &y);
	free(y.data);
	return err ? (err == -ENOMEM ? err : 0) : found;
}

/* ---- the nests ---- */

/* A field of all channels as an operand. */
#define FIELD(q, f, field, ctype, type) field_of_channels(q, f, &(f)->channel->field, sizeof(ctype), type)

/*
 * Puts elements of `size` bytes, one in each struct channel, of which `first` is the one in the first
 * channel, into the constants and returns them as a value of this type of the command along the last
 * dimension. On failure q->err is set.
 */
static struct nest_operand field_of_channels(struct sequence *q, const struct prelu *f, const void *first, size_t size, int type)
{
	uint8_t *v = malloc((size_t)f->n * size);

	for (int64_t k = 0; k < f->n && v; k++)
		for (size_t b = 0; b < size; b++)
			v[(size_t)k * size + b] = ((const uint8_t *)first)[(size_t)k * sizeof *f->channel + b];
	if (!v)
		q->err = -ENOMEM;
	struct nest_operand o = seq_channels(q, v, v ? f->n : 0, type);
	free(v);
	return o;
}

/*
 * Add the nest that takes a where c is not 0, otherwise b, over all elements, with results of this type of
 * the command, and return them as a value; errors go to q->err.
 */
static struct nest_operand choose(struct sequence *q, struct nest_operand c, struct nest_operand a, struct nest_operand b, int type)
{
	struct loop_nest s = seq_nest(FUNC(SELECT), a, b);

	s.c = c;
	return seq_each(q, s, type);
}

/*
 * Add the nests that multiply mantissas a and b, with the product shifted right and rounded to the nearest,
 * ties to even, and return it as a value of int32. The shift, `least` or, where a is at least `from`, one
 * more, goes as a value of uint8 to *shift. Errors go to q->err.
 */
static struct nest_operand product(struct sequence *q, struct nest_operand a, struct nest_operand b, struct nest_operand from, int least,
                                   struct nest_operand *shift)
{
	struct loop_nest is_long = seq_nest(FUNC(GE), a, from);

	is_long.y.zp = least;
	*shift = seq_each(q, is_long, TYPE(UINT8));
	struct loop_nest s = seq_nest(FUNC(RESCALE), a, b);
	s.c = *shift;
	s.even = true;
	return seq_each(q, s, TYPE(INT32));
}

/*
 * Add the nests that compute PRELU with the constants of f from the island's tensor, step by step as
 * result() does; the last one writes the result of the island's last operator. Returns 1 or a negative
 * errno.
 */
static int add_nests(struct cc *cc, const struct island *s, const struct prelu *f)
{
	struct sequence q = seq_begin(cc, s->op[0]);
	struct nest_operand x = seq_tensor(&q, s->front[0]), one, two, three;

	x.zp = f->from->x_zp;
	struct nest_operand sign = seq_each(&q, seq_nest(FUNC(SHR), x, nest_number(31)), TYPE(INT8));
	struct nest_operand size = seq_each(&q, seq_nest(FUNC(ABS), x, nest_number(0)), TYPE(INT32));
	struct loop_nest zeros = seq_nest(FUNC(CLZ), size, nest_number(0));
	zeros.y.zp = -1;
	struct nest_operand up = seq_each(&q, zeros, TYPE(UINT8));
	struct nest_operand u = seq_each(&q, seq_nest(FUNC(SHL), size, up), TYPE(INT32));
	struct nest_operand d = product(&q, u, nest_number(f->scale.mantissa), nest_number(f->scale_long), 30, &one);
	struct nest_operand slope = choose(&q, sign, FIELD(&q, f, slope, int32_t, TYPE(INT32)), nest_number(UNIT), TYPE(INT32));
	struct nest_operand from = choose(&q, sign, FIELD(&q, f, slope_long, int32_t, TYPE(INT32)), nest_number(2 * UNIT), TYPE(INT32));
	struct nest_operand p = product(&q, d, slope, from, MANTISSA - 1, &two);
	struct nest_operand inverse = FIELD(&q, f, inverse, int32_t, TYPE(INT32)), limit = FIELD(&q, f, inverse_long, int32_t, TYPE(INT32));
	struct nest_operand v = product(&q, p, inverse, limit, 30, &three);
	struct nest_operand begin = choose(&q, sign, FIELD(&q, f, shift, int8_t, TYPE(INT8)), nest_number(f->shift), TYPE(INT16));
	struct nest_operand right = seq_each(&q, seq_nest(FUNC(ADD), begin, up), TYPE(INT16));
	right = seq_each(&q, seq_nest(FUNC(SUB), right, one), TYPE(INT16));
	right = seq_each(&q, seq_nest(FUNC(SUB), right, two), TYPE(INT16));
	right = seq_each(&q, seq_clamp(seq_nest(FUNC(SUB), right, three), 0, MOST_SHIFT), TYPE(UINT8));
	struct nest_operand y = seq_each(&q, seq_round(seq_nest(FUNC(SHR), v, right)), TYPE(INT32));
	struct nest_operand flips = seq_each(&q, seq_nest(FUNC(AND), sign, FIELD(&q, f, flips, int8_t, TYPE(INT8))), TYPE(INT8));
	struct nest_operand flipped = seq_each(&q, seq_nest(FUNC(XOR), y, flips), TYPE(INT32));
	struct loop_nest last = seq_clamp(seq_nest(FUNC(SUB), flipped, flips), f->lo, f->hi);
	last.y.zp = f->to->y_zp;
	return seq_end(&q, last);
}

/* ---- the match ---- */

/*
 * Look through the island's operators and set f->from from its TFL_DEQUANTIZE, f->to from its TFL_QUANTIZE,
 * and f->slope to the constant float32 factor of a MUL whose elements are not all the same. Returns false
 * if one of the three is missing.
 */
static bool read_operators(const struct cc *cc, const struct island *s, struct prelu *f)
{
	for (int k = 0; k < s->n; k++) {
		const struct weft_gop *o = &cc->g->ops[s->op[k]];
		if (o->op == WEFT_OP_TFL_DEQUANTIZE)
			f->from = &o->attr.quant;
		if (o->op == WEFT_OP_TFL_QUANTIZE)
			f->to = &o->attr.quant;
		for (int i = 0; i < o->n_in && o->op == WEFT_OP_MUL; i++)
			if (cc->g->tensors[o->in[i]].t.data && type_of(cc, o->in[i]) == WEFT_FP32 && !is_number(cc, o->in[i]))
				f->slope = cc->g->tensors[o->in[i]].t.data;
	}
	return f->from && f->to && f->slope;
}

/*
 * Match an island that is PRELU in float32 with a slope for each channel, between DEQUANTIZE and QUANTIZE
 * of int8 or int16, as nests of integer arithmetic that have golden's result for every code and channel. It
 * needs the alu and rounding to even. Returns 1 if it was matched; 0 if these, the types, ranks or
 * operators are others, or some channel has no constants that agree with golden (no reason is set); or a
 * negative errno.
 */
int match_prelu(struct cc *cc, const struct island *s)
{
	int y = cc->g->ops[s->op[0]].out[0], x = s->front[0];
	weft_dtype to = type_of(cc, y), from = type_of(cc, x);
	struct prelu f = { .n = s->channels, .codes = from == WEFT_INT8 ? 256 : 65536, .lo = type_lowest(to) };

	f.hi = -1 - f.lo;
	if (!cc->has_alu || !cc->has_even || (from != WEFT_INT8 && from != WEFT_INT16) || (to != WEFT_INT8 && to != WEFT_INT16) ||
	    cc->g->tensors[x].t.rank != cc->g->tensors[y].t.rank || !read_operators(cc, s, &f) ||
	    !take_apart(f.from->x_scale, &f.scale) || !f.scale.mantissa)
		return 0;
	f.scale_long = long_from(f.scale.mantissa, TOP + MANTISSA);
	f.channel = calloc((size_t)f.n, sizeof *f.channel);
	int err = f.channel ? 1 : -ENOMEM;
	for (int64_t k = 0; k < f.n && err > 0; k++)
		err = find_channel(cc, s, &f, k);
	if (err > 0)
		err = add_nests(cc, s, &f);
	free(f.channel);
	return err;
}

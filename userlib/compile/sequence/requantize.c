/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_REQUANTIZE: sums times a float64, exactly, as integer operations of the alu.
 *
 * The factor s of a channel is m / 2^e with a whole m of 53 bits. The product of the
 * sum's magnitude u and m is formed in four parts of 16 bits of m, with what each
 * carries into the next; half up at 2^e it is round(u * s), but where the framework's
 * own product, rounded to 53 bits, falls on a half that u * s stays just below. Sums
 * for which that happens are found when compiling: those for which u * m mod 2^e lies
 * in a short interval. A channel that has any gets a small addend that lifts them, and
 * no others, over the half.
 *
 * Source: sim/golden/tfl/tfl_requantize.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tfl.h"

#define FUNC(name) WEFT_ALU_FUNC_##name
#define TYPE(name) WEFT_ALU_A_TYPE_##name

#define LIMBS 4
#define DROPPED 48             /* bits of the product that are dropped before the last shift */
#define MOST_UNITS INT32_MAX   /* magnitudes are cut to this */
#define MOST_HITS 64           /* sums that are looked at one by one */
#define LIFT_BITS 32           /* a lift is one in this bit of the product */

__extension__ typedef __int128 wide;

/* The factors of all channels, as operands hold them. */
struct factors {
	int64_t n;
	uint16_t *limb[LIMBS];     /* of m, the lowest first */
	uint8_t *shift;            /* e - DROPPED */
	uint8_t *lift;             /* 0 or 1 */
	bool lifts;                /* one of them is 1 */
};

/*
 * Returns the least u >= 0 for which l <= a * u mod n <= r, where 0 <= l <= r < n and 0 <= a < n, found as by
 * Euclid's algorithm; -1 if there is none.
 */
static wide first_between(wide a, wide n, wide l, wide r)
{
	if (!l)
		return 0;
	if (!a)
		return -1;
	wide c = (l + a - 1) / a;
	if (a * c <= r)
		return c;
	/* A multiple of a lies in [l + n*y, r + n*y]; the least y for which that is so. */
	wide y = first_between(n % a, a, (a - r % a) % a, (a - l % a) % a);
	return y < 0 ? -1 : (l + n * y + a - 1) / a;
}

/* Returns the result's magnitude as golden has it: round(u * s) with the product in float64. */
static int64_t rounded(double s, int64_t u)
{
	return (int64_t)round((double)u * s);
}

/*
 * Returns the result's magnitude as the device has it: u * m / 2^e rounded half up, with 2^LIFT_BITS added to
 * the product before if `lift` is set.
 */
static int64_t half_up(wide m, int e, int64_t u, bool lift)
{
	return (int64_t)((u * m + ((wide)1 << (e - 1)) + (lift ? (wide)1 << LIFT_BITS : 0)) >> e);
}

/*
 * Returns whether half_up(), lifted or not, gives golden's result (rounded(), with factor s = m / 2^e) for
 * every magnitude from 1 up to `most`. Only those can differ whose product lies within 2^(e-36) below a half,
 * or within the lift: golden's product has 53 bits, and results that count have 17. These magnitudes are
 * looked at one by one. Returns false also if there are MOST_HITS of them or more.
 */
static bool is_exact(double s, wide m, int e, int64_t most, bool lift)
{
	const wide n = (wide)1 << e, half = n / 2, below = (wide)1 << (e - 36), lifted = lift ? (wide)1 << LIFT_BITS : 0;
	const wide l = half - (below > lifted ? below : lifted), r = half - 1;
	wide u = 1;

	for (int hits = 0; hits < MOST_HITS; hits++) {
		wide at = u * m % n, from = (l - at + n) % n, to = (r - at + n) % n;
		/* An interval that goes around contains 0: u itself is in it. */
		wide more = from > to ? 0 : first_between(m % n, n, from, to);
		if (more < 0 || u + more > most)
			return true;
		u += more;
		if (rounded(s, (int64_t)u) != half_up(m, e, (int64_t)u, lift))
			return false;
		u++;
	}
	return false;
}

/*
 * Set channel k of f to the factor s: its limbs, its shift and its lift (f->lifts is set if it needs one).
 * Returns false, with f unchanged, if s has no exact form: the shift would not be within 1..62, magnitudes
 * beyond MOST_UNITS would matter (of int32 sums, is_int32, only the lowest number may exceed it), or neither
 * the plain nor the lifted product is exact for all magnitudes up to the one from which results exceed 16
 * bits.
 */
static bool set_factor(struct factors *f, int64_t k, double s, bool is_int32)
{
	int exponent;
	wide m = (wide)ldexp(frexp(s, &exponent), 53);
	int e = 53 - exponent;
	/* From there on results are beyond 16 bits, whatever the zero point. */
	double saturates = ceil(65537.0 / s);
	int64_t most = saturates < MOST_UNITS ? (int64_t)saturates : MOST_UNITS;
	bool cut = saturates >= MOST_UNITS;

	if (e <= DROPPED || e - DROPPED > 62)
		return false;
	/* What is cut must not matter: of int32 that is the lowest number alone. */
	if (cut && (!is_int32 || rounded(s, MOST_UNITS) != rounded(s, (int64_t)MOST_UNITS + 1)))
		return false;
	bool lift = !is_exact(s, m, e, most, false);
	if (lift && !is_exact(s, m, e, most, true))
		return false;
	for (int i = 0; i < LIMBS; i++)
		f->limb[i][k] = (uint16_t)(m >> 16 * i & 0xffff);
	f->shift[k] = (uint8_t)(e - DROPPED);
	f->lift[k] = lift;
	f->lifts |= lift;
	return true;
}

/* Free what factors_new() allocated. */
static void factors_free(struct factors *f)
{
	for (int i = 0; i < LIMBS; i++)
		free(f->limb[i]);
	free(f->shift);
	free(f->lift);
}

/*
 * Allocate zeroed room in *f for the factors of n channels. Returns 0 or -ENOMEM; factors_free() frees what
 * *f holds in both cases.
 */
static int factors_new(struct factors *f, int64_t n)
{
	bool all = true;

	*f = (struct factors){ .n = n };
	for (int i = 0; i < LIMBS; i++)
		all &= !!(f->limb[i] = calloc((size_t)n, sizeof *f->limb[i]));
	f->shift = calloc((size_t)n, 1);
	f->lift = calloc((size_t)n, 1);
	return all && f->shift && f->lift ? 0 : -ENOMEM;
}

/*
 * Add the nests of TFL_REQUANTIZE i that multiply the sums' magnitudes, cut to MOST_UNITS, by the channels'
 * factors f in LIMBS parts, add the channels' lifts, shift them right with rounding half up, put the sign
 * back, and add the zero point with the result clamped to its type. The last one writes the operator's
 * result. Returns 1 or a negative errno.
 */
static int multiply(struct cc *cc, int i, const struct factors *f)
{
	const struct weft_gop *o = &cc->g->ops[i];
	bool is_int32 = type_of(cc, o->in[0]) == WEFT_INT32;
	weft_dtype to = type_of(cc, o->out[0]);
	int32_t lo = type_lowest(to);
	struct sequence q = seq_begin(cc, i);
	struct nest_operand x = seq_tensor(&q, o->in[0]), sum = nest_number(0);
	/* The least int48 has no magnitude in 48 bits. */
	struct nest_operand cut = is_int32 ? x : seq_each(&q, seq_clamp(seq_nest(FUNC(MOVE), x, nest_number(0)), -MOST_UNITS, MOST_UNITS), TYPE(INT32));
	struct nest_operand u = seq_each(&q, seq_clamp(seq_nest(FUNC(ABS), cut, nest_number(0)), 0, MOST_UNITS), TYPE(INT32));

	for (int k = 0; k < LIMBS; k++) {
		struct nest_operand part = seq_each(&q, seq_mul(u, seq_channels(&q, f->limb[k], f->n, TYPE(UINT16)), 0), TYPE(INT48));
		if (k)
			part = seq_each(&q, seq_nest(FUNC(ADD), part, sum), TYPE(INT48));
		sum = part;
		if (k < LIMBS - 1)
			sum = seq_each(&q, seq_nest(FUNC(SHR), part, nest_number(16)), TYPE(INT48));
		/* Behind 32 bits that are gone. */
		if (k == 1 && f->lifts)
			sum = seq_each(&q, seq_nest(FUNC(ADD), sum, seq_channels(&q, f->lift, f->n, TYPE(UINT8))), TYPE(INT48));
	}
	struct nest_operand shift = seq_channels(&q, f->shift, f->n, TYPE(UINT8));
	struct nest_operand size = seq_each(&q, seq_clamp(seq_round(seq_nest(FUNC(SHR), sum, shift)), 0, 1 << 17), TYPE(INT32));
	struct nest_operand sign = seq_each(&q, seq_nest(FUNC(SHR), cut, nest_number(31)), TYPE(INT8));
	struct nest_operand flipped = seq_each(&q, seq_nest(FUNC(XOR), size, sign), TYPE(INT32));
	struct loop_nest last = seq_clamp(seq_nest(FUNC(SUB), flipped, sign), lo, -1 - lo);
	last.y.zp = o->attr.quant.y_zp;
	return seq_end(&q, last);
}

/*
 * Match TFL_REQUANTIZE i, whose sums are int32 or int48, as nests of integer arithmetic with golden's bits.
 * The factor of a channel is x_scale times the channel's constant scale (float32) over y_scale. Returns 1
 * if it was matched; 0 if the scales are not constant, the sums of another type, or a factor has no exact
 * form (set_factor()), with the reason set; or a negative errno.
 */
int match_tfl_requantize(struct cc *cc, int i)
{
	const struct weft_gop *o = &cc->g->ops[i];
	const struct weft_attr_quant *a = &o->attr.quant;
	const weft_tensor *x = &cc->g->tensors[o->in[0]].t, *w = &cc->g->tensors[o->in[1]].t;
	struct factors f;

	if (!w->data || (x->dtype != WEFT_INT32 && x->dtype != WEFT_INT48))
		return cc_reason(cc, i, "scales that are not constant, or sums of %s", weft_dtype_name(x->dtype));
	int err = factors_new(&f, w->dim[0]);
	for (int64_t k = 0; k < f.n && !err; k++)
		if (!set_factor(&f, k, (double)a->x_scale * (double)((const float *)w->data)[k] / (double)a->y_scale, x->dtype == WEFT_INT32))
			err = cc_reason(cc, i, "scale %lld has no exact form in integers", (long long)k) ? -ENOMEM : -ENOTSUP;
	if (!err)
		err = multiply(cc, i, &f);
	factors_free(&f);
	return err == -ENOTSUP ? 0 : err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float8 and fp16 in integers.
 *
 * A finite fp16 is a multiple of 2^-24 below 2^16, so it is an integer of 41
 * bits; so is every float8 value. A sum of products is an integer of 48 bits in
 * units of 2^-28. All roundings but that of a product take such an integer to a
 * few leading bits.
 *
 * Source: group "post" of include/spec/cmd.toml, mode 2.
 */
#include "state.h"

#define FP16_SIGN 0x8000u
#define FP16_INF  0x7c00u
#define FP16_NAN  0x7e00u
#define FP16_LSB  (-24)         /* exponent of the least positive value */

#define SUM_LSB   (-28)
#define SUM_MAX   ((INT64_C(1) << 47) - 1)
#define SUM_MIN   (-(INT64_C(1) << 47))

/* Products that are no numbers; finite ones have 48 bits. */
#define PRODUCT_INF  INT64_MAX
#define PRODUCT_NINF INT64_MIN
#define PRODUCT_NAN  (INT64_MIN + 1)

static const struct format {
	int mantissa;           /* bits of it that are stored */
	int lsb;                /* exponent of the least positive value */
	uint8_t most;           /* code of the largest finite value */
	uint8_t inf, nan;       /* positive; inf is nan where there is none */
	bool fnuz;              /* one NaN, one zero */
} formats[] = {
	{3, -9, 0x7e, 0x7f, 0x7f, false},       /* E4M3FN */
	{2, -16, 0x7b, 0x7c, 0x7e, false},      /* E5M2 */
	{3, -10, 0x7f, 0x80, 0x80, true},       /* E4M3FNUZ */
	{2, -17, 0x7f, 0x80, 0x80, true},       /* E5M2FNUZ */
};

/*
 * mag * 2^lsb, mag != 0, to a code of so many mantissa bits: exponent field and
 * mantissa side by side, where rounding carries from one into the other. The
 * exponent field grows without bound.
 */
static int64_t round_code(uint64_t mag, int lsb, int mantissa, int least)
{
	int top = 63 - __builtin_clzll(mag) + lsb;      /* exponent of the value */
	int unit = top - mantissa > least ? top - mantissa : least;
	int drop = unit - lsb;
	uint64_t sig;

	if (drop <= 0) {
		sig = mag << -drop;
	} else if (drop > 63) {
		sig = 0;
	} else {
		uint64_t half = UINT64_C(1) << (drop - 1), rest = mag & (2 * half - 1);

		sig = mag >> drop;
		sig += rest > half || (rest == half && sig & 1);
	}
	return ((int64_t)(unit - least) << mantissa) + (int64_t)sig;
}

static uint16_t to_fp16(int64_t v, int lsb)
{
	uint64_t mag = v < 0 ? -(uint64_t)v : (uint64_t)v;
	int64_t code = mag ? round_code(mag, lsb, 10, FP16_LSB) : 0;

	if (code > FP16_INF)
		code = FP16_INF;
	return (uint16_t)(code | (v < 0 ? FP16_SIGN : 0));
}

/* A finite fp16 in units of 2^-24. */
static int64_t units(uint16_t h)
{
	int64_t field = h >> 10 & 31, frac = h & 1023;
	int64_t v = field ? (1024 + frac) << (field - 1) : frac;

	return h & FP16_SIGN ? -v : v;
}

static bool is_nan(uint16_t h)
{
	return (h & ~FP16_SIGN) > FP16_INF;
}

static bool is_inf(uint16_t h)
{
	return (h & ~FP16_SIGN) == FP16_INF;
}

/* Significand and exponent of the least bit; false for infinities and NaN. */
static bool split(const struct format *f, uint8_t code, int32_t *sig, int *exp)
{
	int32_t field = (code & 0x7f) >> f->mantissa, frac = code & ((1 << f->mantissa) - 1);

	if (f->fnuz ? code == f->nan : (code & 0x7f) > f->most)
		return false;
	*sig = field ? (1 << f->mantissa) + frac : frac;
	*exp = f->lsb + (field ? field - 1 : 0);
	if (code & 0x80)
		*sig = -*sig;
	return true;
}

static bool is_code_inf(const struct format *f, uint8_t code)
{
	return f->inf != f->nan && (code & 0x7f) == f->inf;
}

uint16_t float_decode(int32_t fmt, uint8_t code)
{
	const struct format *f = &formats[fmt];
	uint16_t sign = f->fnuz ? 0 : (uint16_t)((code & 0x80) << 8);
	int32_t sig;
	int exp;

	if (!split(f, code, &sig, &exp))
		return sign | (is_code_inf(f, code) ? FP16_INF : FP16_NAN);
	return sig ? to_fp16(sig * (INT64_C(1) << (exp - FP16_LSB)), FP16_LSB) : sign;
}

uint8_t float_encode(int32_t fmt, bool saturate, uint16_t h)
{
	const struct format *f = &formats[fmt];
	uint8_t sign = (uint8_t)(h >> 8 & 0x80), code;
	uint64_t mag = (uint64_t)units(h & 0x7fff);

	if (is_nan(h))
		return f->fnuz ? f->nan : f->nan | sign;
	if (is_inf(h)) {
		code = saturate && !f->fnuz ? f->most : f->inf;
	} else {
		int64_t wide = mag ? round_code(mag, FP16_LSB, f->mantissa, f->lsb) : 0;

		code = wide <= f->most ? (uint8_t)wide : saturate ? f->most : f->inf;
	}
	if (f->fnuz && !code)
		return 0;
	return code | sign;
}

uint16_t float_add(uint16_t a, uint16_t b)
{
	int64_t sum;

	if (is_nan(a) || is_nan(b) || (is_inf(a) && is_inf(b) && a != b))
		return FP16_NAN;
	if (is_inf(a) || is_inf(b))
		return is_inf(a) ? a : b;
	sum = units(a) + units(b);
	return sum ? to_fp16(sum, FP16_LSB) : a & b & FP16_SIGN;
}

/* Grows with the value; -0 is below +0. */
static int32_t order(uint16_t h)
{
	return h & FP16_SIGN ? -1 - (h & 0x7fff) : h;
}

uint16_t float_clamp(uint16_t v, uint16_t lo, uint16_t hi)
{
	if (is_nan(v))
		return v;
	v = order(v) < order(lo) ? lo : v;
	return order(v) > order(hi) ? hi : v;
}

uint16_t float_max(uint16_t a, uint16_t b)
{
	if (is_nan(a) || is_nan(b))
		return FP16_NAN;
	return order(a) > order(b) ? a : b;
}

/* Half up to a multiple of 2^-28, then what fits 48 bits. */
static int64_t finite_product(int32_t sig, int exp)
{
	int up = exp - SUM_LSB;
	int64_t p;

	if (up < 0)
		/* |sig| <= 225, so that beyond 30 places nothing is left. */
		return up < -30 ? 0 : ((int64_t)sig + (INT64_C(1) << (-up - 1))) >> -up;
	if (!sig || up > 47)
		return !sig ? 0 : sig < 0 ? PRODUCT_NINF : PRODUCT_INF;
	p = sig * (INT64_C(1) << up);
	return p > SUM_MAX ? PRODUCT_INF : p < SUM_MIN ? PRODUCT_NINF : p;
}

static int64_t product(const struct format *fx, uint8_t x, const struct format *fw, uint8_t w, int scale)
{
	int32_t sx = 0, sw = 0;
	int ex = 0, ew = 0;
	bool x_finite = split(fx, x, &sx, &ex), w_finite = split(fw, w, &sw, &ew);
	bool x_inf = !x_finite && is_code_inf(fx, x), w_inf = !w_finite && is_code_inf(fw, w);

	/* A weight of -0 makes no product. */
	if (w == 0x80 && !fw->fnuz)
		return 0;

	if (x_finite && w_finite)
		return finite_product(sx * sw, ex + ew + scale);
	if ((!x_finite && !x_inf) || (!w_finite && !w_inf) || (x_finite && !sx) || (w_finite && !sw))
		return PRODUCT_NAN;
	return (x ^ w) & 0x80 ? PRODUCT_NINF : PRODUCT_INF;
}

void float_products(struct weft_model *m, int32_t x_fmt, int32_t w_fmt, int32_t scale)
{
	int32_t key = 1 + x_fmt + 4 * w_fmt + 16 * (scale + 32);

	if (m->product_key == key)
		return;
	m->product_key = key;
	for (int x = 0; x < 256; x++)
		for (int w = 0; w < 256; w++)
			m->product[256 * x + w] = product(&formats[x_fmt], (uint8_t)x, &formats[w_fmt],
							  (uint8_t)w, scale);
	/* Nothing times anything adds nothing. */
	for (int w = 0; w < 256; w++)
		m->product[256 * FLOAT_NONE + w] = 0;
}

/* The sum becomes this infinity, or NaN if it is the other one already. */
static void add_infinity(struct model_sum *s, enum sum_state inf)
{
	s->state = s->state == SUM_FINITE || s->state == inf ? inf : SUM_NAN;
}

static void add_product(struct model_sum *s, int64_t p)
{
	int64_t v;

	if (p == PRODUCT_NAN) {
		s->state = SUM_NAN;
	} else if (p == PRODUCT_INF || p == PRODUCT_NINF) {
		add_infinity(s, p == PRODUCT_INF ? SUM_INF : SUM_NINF);
	} else if (s->state == SUM_FINITE) {
		v = (int64_t)s->v + p;
		if (v > SUM_MAX || v < SUM_MIN)
			add_infinity(s, p > 0 ? SUM_INF : SUM_NINF);
		else
			s->v = (uint64_t)v;
	}
}

void float_dot(const struct weft_model *m, const int16_t *x, const int16_t *w, uint32_t k, struct model_sum *s)
{
	/* A copy stays in registers. */
	struct model_sum sum = *s;

	for (uint32_t i = 0; i < k; i++)
		add_product(&sum, m->product[256 * x[i] + w[i]]);
	*s = sum;
}

uint16_t float_round(const struct model_sum *s)
{
	switch (s->state) {
	case SUM_FINITE:
		return to_fp16((int64_t)s->v, SUM_LSB);
	case SUM_INF:
		return FP16_INF;
	case SUM_NINF:
		return FP16_SIGN | FP16_INF;
	case SUM_NAN:
		break;
	}
	return FP16_NAN;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Decode and encode of floating-point codes; see format.h. */
#include "format.h"

const struct weft_float_format *weft_float_format_of(weft_dtype t)
{
	static const struct weft_float_format formats[WEFT_N_DTYPES] = {
		[WEFT_FP8E4M3] = { 4, 3, 7, WEFT_FLOAT_FN },
		[WEFT_FP8E5M2] = { 5, 2, 15, WEFT_FLOAT_IEEE },
		[WEFT_FP8E4M3FNUZ] = { 4, 3, 8, WEFT_FLOAT_FNUZ },
		[WEFT_FP8E5M2FNUZ] = { 5, 2, 16, WEFT_FLOAT_FNUZ },
		[WEFT_FP16] = { 5, 10, 15, WEFT_FLOAT_IEEE },
		[WEFT_BF16] = { 8, 7, 127, WEFT_FLOAT_IEEE },
		[WEFT_FP32] = { 8, 23, 127, WEFT_FLOAT_IEEE },
		[WEFT_FP64] = { 11, 52, 1023, WEFT_FLOAT_IEEE },
		[WEFT_FP4E2M1] = { 2, 1, 1, WEFT_FLOAT_FINITE },
		[WEFT_FP8E8M0] = { 8, 0, 127, WEFT_FLOAT_SCALE },
	};

	if ((int)t < 0 || (int)t >= WEFT_N_DTYPES || !formats[t].e_bits)
		return NULL;
	return &formats[t];
}

/* Code of the sign alone: minus zero, or NaN in FNUZ. */
static uint64_t sign_bit(const struct weft_float_format *f)
{
	return (uint64_t)1 << (f->e_bits + f->m_bits);
}

/* Code of infinity in IEEE formats. */
static uint64_t inf_code(const struct weft_float_format *f)
{
	return (((uint64_t)1 << f->e_bits) - 1) << f->m_bits;
}

/* Largest finite magnitude's code. */
static uint64_t max_code(const struct weft_float_format *f)
{
	switch (f->kind) {
	case WEFT_FLOAT_IEEE: return inf_code(f) - 1;
	case WEFT_FLOAT_FN: return sign_bit(f) - 2;
	default: return sign_bit(f) - 1;
	}
}

#define SCALE_NAN 0xff

static struct weft_real decode_scale(const struct weft_float_format *f, uint64_t bits)
{
	const int code = (int)(bits & 0xff);

	return (struct weft_real){ code == SCALE_NAN ? WEFT_REAL_NAN : WEFT_REAL_FINITE, false, code - f->bias, 1 };
}

static uint64_t encode_scale(const struct weft_float_format *f, struct weft_real r, unsigned flags)
{
	const bool saturate = flags & WEFT_ENCODE_SATURATE;

	if (r.kind == WEFT_REAL_NAN)
		return SCALE_NAN;
	const bool zero = r.kind == WEFT_REAL_FINITE && !r.sig;
	const int lead = zero || r.kind == WEFT_REAL_INF ? 0 : 63 - __builtin_clzll(r.sig);
	const uint64_t rest = zero || r.kind == WEFT_REAL_INF ? 0 : r.sig ^ (uint64_t)1 << lead;
	const int64_t e = (int64_t)r.exp + lead + f->bias;   /* 2^(e - bias) <= |r|, equal where there is no rest */

	if (zero || r.neg || (r.kind == WEFT_REAL_FINITE && e < 0))
		return saturate ? 0 : SCALE_NAN;
	if (r.kind == WEFT_REAL_INF || e > SCALE_NAN - 1 || (e == SCALE_NAN - 1 && rest))
		return saturate ? SCALE_NAN - 1 : SCALE_NAN;
	if (flags & WEFT_ENCODE_SCALE_NEAREST)
		return (uint64_t)e + (lead && rest >> (lead - 1));
	return (uint64_t)e + (!(flags & WEFT_ENCODE_SCALE_DOWN) && rest);
}

struct weft_real weft_real_decode(const struct weft_float_format *f, uint64_t bits)
{
	if (f->kind == WEFT_FLOAT_SCALE)
		return decode_scale(f, bits);
	const uint64_t hidden = (uint64_t)1 << f->m_bits, code = bits & (sign_bit(f) - 1);
	const int e = (int)(code >> f->m_bits);
	struct weft_real r = { WEFT_REAL_FINITE, (bits & sign_bit(f)) != 0, 0, code & (hidden - 1) };

	if (f->kind == WEFT_FLOAT_IEEE && code >= inf_code(f))
		r.kind = code == inf_code(f) ? WEFT_REAL_INF : WEFT_REAL_NAN;
	else if (f->kind == WEFT_FLOAT_FN ? code > max_code(f)
	                                  : f->kind == WEFT_FLOAT_FNUZ && !code && r.neg)
		r.kind = WEFT_REAL_NAN;
	if (f->kind == WEFT_FLOAT_FNUZ && r.kind == WEFT_REAL_NAN)
		r.neg = false;     /* its NaN has no sign */
	if (e)
		r.sig |= hidden;
	r.exp = (e ? e : 1) - f->bias - f->m_bits;
	return r;
}

static uint64_t encode_nan(const struct weft_float_format *f, uint64_t sign)
{
	switch (f->kind) {
	case WEFT_FLOAT_IEEE: return sign | inf_code(f) | (uint64_t)1 << (f->m_bits - 1);
	case WEFT_FLOAT_FN: return sign | (sign_bit(f) - 1);
	default: return sign_bit(f);
	}
}

static uint64_t encode_inf(const struct weft_float_format *f, uint64_t sign, unsigned flags)
{
	if (f->kind == WEFT_FLOAT_FINITE)
		return sign | max_code(f);
	if (f->m_bits <= 3 && (flags & WEFT_ENCODE_SATURATE) &&
	    (f->kind != WEFT_FLOAT_FNUZ || (flags & WEFT_ENCODE_FNUZ_INF_MAX)))
		return sign | max_code(f);
	return f->kind == WEFT_FLOAT_IEEE ? sign | inf_code(f) : encode_nan(f, sign);
}

static uint64_t encode_overflow(const struct weft_float_format *f, uint64_t sign, unsigned flags)
{
	if (f->m_bits <= 3 && (flags & WEFT_ENCODE_SATURATE))
		return sign | max_code(f);
	return encode_inf(f, sign, 0);
}

/* sig / 2^shift to nearest, ties to even; shift >= 0. */
static uint64_t round_even(uint64_t sig, int shift)
{
	uint64_t q, rest, half;

	if (shift == 0)
		return sig;
	if (shift > 64)
		return 0;
	half = (uint64_t)1 << (shift - 1);
	q = shift == 64 ? 0 : sig >> shift;
	rest = shift == 64 ? sig : sig & ((half << 1) - 1);
	return q + (rest > half || (rest == half && (q & 1)));
}

uint64_t weft_real_encode(const struct weft_float_format *f, struct weft_real r, unsigned flags)
{
	const int e_min = 1 - f->bias;             /* exponent of the smallest normal number */
	const uint64_t sign = r.neg ? sign_bit(f) : 0;
	int top, quantum;
	uint64_t q, e_field;

	if (f->kind == WEFT_FLOAT_SCALE)
		return encode_scale(f, r, flags);
	if (r.kind == WEFT_REAL_NAN)
		return encode_nan(f, sign);
	if (r.kind == WEFT_REAL_INF)
		return encode_inf(f, sign, flags);
	if (r.sig == 0)
		return f->kind == WEFT_FLOAT_FNUZ ? 0 : sign;
	top = r.exp + 63 - __builtin_clzll(r.sig); /* |r| is in [2^top, 2^(top+1)) */
	quantum = (top > e_min ? top : e_min) - f->m_bits;
	/*
	 * Where no bit is lost, sig << (exp - quantum) stays below 2^(m_bits+1),
	 * because quantum >= top - m_bits.
	 */
	q = r.exp >= quantum ? r.sig << (r.exp - quantum) : round_even(r.sig, quantum - r.exp);
	if (q == 0)
		return f->kind == WEFT_FLOAT_FNUZ ? 0 : sign;
	/*
	 * For a normal number q carries the hidden bit, which adds one to the
	 * exponent field; a carry out of rounding does so once more, as it must.
	 */
	e_field = (uint64_t)(quantum + f->m_bits - e_min);
	if (e_field >> f->e_bits)
		return encode_overflow(f, sign, flags);
	q += e_field << f->m_bits;
	return q > max_code(f) ? encode_overflow(f, sign, flags) : sign | q;
}

struct weft_real weft_real_of_uint(uint64_t v)
{
	return (struct weft_real){ WEFT_REAL_FINITE, false, 0, v };
}

struct weft_real weft_real_of_int(int64_t v)
{
	return (struct weft_real){ WEFT_REAL_FINITE, v < 0, 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v };
}

uint64_t weft_real_to_int(struct weft_real r, enum weft_int_round round, int64_t lo, uint64_t hi)
{
	const uint64_t limit = r.neg ? 0 - (uint64_t)lo : hi;
	uint64_t q = limit;

	if (r.kind == WEFT_REAL_NAN)
		return 0;
	if (r.kind == WEFT_REAL_FINITE) {
		if (r.exp < 0) {
			if (round == WEFT_ROUND_EVEN)
				q = round_even(r.sig, -r.exp);
			else
				q = r.exp > -64 ? r.sig >> -r.exp : 0;
		} else if (r.sig == 0) {
			q = 0;
		} else if (r.exp <= __builtin_clzll(r.sig)) {
			q = r.sig << r.exp;
		}
	}
	if (q > limit)
		q = limit;
	return r.neg ? 0 - q : q;
}

uint64_t weft_real_wrap_int(struct weft_real r)
{
	uint64_t q;

	if (r.kind != WEFT_REAL_FINITE || r.exp <= -64 || r.exp >= 64)
		return 0;
	q = r.exp < 0 ? r.sig >> -r.exp : r.sig << r.exp;
	return r.neg ? 0 - q : q;
}

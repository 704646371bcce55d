/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point formats as bit fields, and exact values between them.
 *
 * Everything here is integer arithmetic on bit patterns; the compiler's own
 * half-precision types are not used. A value travels as a struct weft_real,
 * which holds every value of every format and every 64-bit integer exactly, so
 * a conversion rounds once, in weft_real_encode().
 *
 * Sources: IEEE 754 binary16/32/64; bfloat16 as TOSA 1.0 section 1.9; float8 as
 * ONNX Cast-23 (E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ); float4e2m1 and E8M0 as OCP MX
 * 1.0, E8M0's conversion as ONNX Cast-24.
 */
#ifndef WEFT_GOLDEN_FLOAT_FORMAT_H
#define WEFT_GOLDEN_FLOAT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/tensor.h>

/* What the codes beyond the finite ones mean. */
enum weft_float_kind {
	WEFT_FLOAT_IEEE,           /* largest exponent field: infinity and NaNs */
	WEFT_FLOAT_FN,             /* no infinity; s.1..1.1..1 is NaN */
	WEFT_FLOAT_FNUZ,           /* no infinity, no minus zero; its code is NaN */
	WEFT_FLOAT_FINITE,         /* neither infinity nor NaN */
	WEFT_FLOAT_SCALE,          /* E8M0: 2^(code - bias), no sign, no zero; FF is NaN */
};

/*
 * |value| = 1.f * 2^(e - bias), or 0.f * 2^(1 - bias) for e = 0, where the code
 * is sign (1 bit), e (e_bits), f (m_bits), from the highest bit. Not so E8M0.
 */
struct weft_float_format {
	uint8_t e_bits, m_bits;    /* m_bits: 1..52; E8M0: 0 */
	int16_t bias;
	uint8_t kind;              /* enum weft_float_kind */
};

/* NULL if t is no floating-point type. */
const struct weft_float_format *weft_float_format_of(weft_dtype t);

enum weft_real_kind { WEFT_REAL_FINITE, WEFT_REAL_INF, WEFT_REAL_NAN };

/* (-1)^neg * sig * 2^exp; sig and exp say nothing unless finite. */
struct weft_real {
	uint8_t kind;              /* enum weft_real_kind */
	bool neg;
	int32_t exp;               /* within +-2^20, so that scaling cannot overflow */
	uint64_t sig;
};

/* Flags of weft_real_encode(), for float8 only; the last two for E8M0, which rounds up without them. */
enum {
	WEFT_ENCODE_SATURATE = 1,     /* too large becomes the largest finite value */
	WEFT_ENCODE_FNUZ_INF_MAX = 2, /* with SATURATE: so does infinity in FNUZ, else NaN */
	WEFT_ENCODE_SCALE_DOWN = 4,   /* to the power of two below */
	WEFT_ENCODE_SCALE_NEAREST = 8, /* to the nearest power of two, 1.5 times one up */
};

/* Value of a code; bits above the format's width are ignored. */
struct weft_real weft_real_decode(const struct weft_float_format *f, uint64_t bits);

/*
 * Nearest code, ties to even significand.
 *
 * Rounds to the target's significand with unbounded exponent first; what then
 * exceeds the largest finite value is infinity, or NaN where there is none, or
 * with SATURATE (float8) the largest finite value of its sign. Subnormals are
 * kept. Minus zero stays, except in FNUZ where it is zero.
 *
 * Infinity under SATURATE: E4M3FN and E5M2 give their largest finite value,
 * FNUZ gives NaN (ONNX Cast-23's table, PopXL) unless FNUZ_INF_MAX is given
 * (ONNX's published node tests). float4e2m1 always saturates; NaN becomes its
 * minus zero there, as in ONNX's node tests.
 *
 * NaN: sign kept and the quiet bit alone (fp16 7E00, bf16 7FC0, fp32 7FC00000,
 * E5M2 7E); E4M3FN 7F; FNUZ 80; E8M0 FF.
 *
 * E8M0 as ONNX Cast-24's table: with SATURATE what is too large, infinity too, is
 * 2^127, what is below 2^-127, zero too, is that; without it these are NaN. Its
 * page leaves minus zero and negative numbers open: they are too small here.
 */
uint64_t weft_real_encode(const struct weft_float_format *f, struct weft_real r, unsigned flags);

/* Any int64 or, with neg false, uint64 magnitude. */
struct weft_real weft_real_of_int(int64_t v);
struct weft_real weft_real_of_uint(uint64_t v);

enum weft_int_round { WEFT_ROUND_EVEN, WEFT_ROUND_ZERO };

/*
 * To the integers, then clamped to lo..hi; NaN gives 0. lo <= 0 <= hi, and hi
 * may use all 64 bits (hi is unsigned, lo signed). The result is in two's
 * complement.
 */
uint64_t weft_real_to_int(struct weft_real r, enum weft_int_round round, int64_t lo, uint64_t hi);

/* To the integers towards zero, then the low 64 bits; NaN and infinity give 0. */
uint64_t weft_real_wrap_int(struct weft_real r);

#endif

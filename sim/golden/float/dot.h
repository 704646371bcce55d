/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The float8 dot product: 48-bit fixed point, rounded once to fp16.
 *
 * It is what CONV2D, CONV3D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D and MATMUL do
 * on float8 operands, and what hardware must do bit for bit. Integers only:
 *
 * Operand. A code decodes to a class (finite, infinity, NaN), a sign and, if
 * finite, |value| = m * 2^e with integers 0 <= m <= 15. E4M3: m = 8 + f and
 * e = E - 10 for exponent field E >= 1, m = f and e = -9 for E = 0. E5M2:
 * m = 4 + f and e = E - 17, or m = f and e = -16. In the FNUZ encodings e is
 * one less. The two operands may have different encodings.
 *
 * Product. With s = log2_scale (-32..31, 0 in TOSA), in this order:
 *   1. either operand NaN, or one infinite and the other zero: event NAN;
 *   2. either operand infinite: event PLUS or MINUS by the product of signs;
 *   3. else p = +-(ma * mb) and h = ea + eb + s + 28. The fixed-point product is
 *      P = p * 2^h for h >= 0, floor(p / 2^-h + 1/2) for h < 0: bits below the
 *      LSB of 2^-28 round half up, towards plus infinity. |p| <= 225, so P is 0
 *      for h <= -9. P outside -2^47..2^47-1 is the event PLUS or MINUS of its
 *      sign (p != 0).
 *
 * Sum. State: a signed 48-bit integer A, at first 0, and two sticky bits
 * (PLUS, MINUS), at first 00. Every product, in the order ky, kx, ic (kz first
 * in CONV3D; c in MATMUL):
 *   - an event ORs its sticky bits: PLUS 01, MINUS 10, NAN 11;
 *   - else, if the sticky bits are 00: A + P outside -2^47..2^47-1 is the event
 *     PLUS or MINUS of the true sum's sign, otherwise A := A + P;
 *   - else nothing: an infinite sum takes no finite term, and what A holds is
 *     never looked at again.
 * A position outside the image gives no product at all, whatever the weight,
 * so padding times infinity is not NaN.
 *
 * While A stays in range the order does not matter. 2^47 * 2^-28 = 524288 is
 * eight times the range of fp16, so a sum that fp16 can hold leaves the range
 * only through terms that cancel later.
 *
 * Result. Sticky 01: +infinity (7C00); 10: -infinity (FC00); 11: NaN (7E00).
 * 00: A * 2^-28 rounded once to fp16, to nearest, ties to even, subnormals
 * kept; 65520 or more in magnitude becomes infinity. A = 0 is +0: no
 * sum gives -0. The bias is then added in fp16 (one more rounding, IEEE 754).
 *
 * For s = 0 no E4M3FN product loses a bit (the smallest is 2^-18); of E5M2
 * products those below 2^-28 round.
 */
#ifndef WEFT_GOLDEN_FLOAT_DOT_H
#define WEFT_GOLDEN_FLOAT_DOT_H

#include <stdint.h>

#include <weft/tensor.h>

#define WEFT_FP8_LOG2_LSB (-28)
#define WEFT_FP8_SUM_MAX (((int64_t)1 << 47) - 1)
#define WEFT_FP8_SUM_MIN (-((int64_t)1 << 47))

enum { WEFT_STICKY_NONE = 0, WEFT_STICKY_PLUS = 1, WEFT_STICKY_MINUS = 2, WEFT_STICKY_NAN = 3 };

enum { WEFT_FP8_FINITE, WEFT_FP8_INF, WEFT_FP8_NAN };

/* A decoded operand; m carries the sign (an infinity: 1 or -1). */
struct weft_fp8_operand {
	int8_t m;                  /* -15..15 */
	int8_t e;                  /* -17..13 */
	uint8_t kind;
};

struct weft_fp8_sum {
	int64_t a;                 /* WEFT_FP8_SUM_MIN..MAX, in units of 2^-28 */
	uint8_t sticky;
};

/* Operands of all 256 codes of one of the four float8 types. */
void weft_fp8_operands(weft_dtype t, struct weft_fp8_operand table[256]);

/* Add one product, scaled by 2^log2_scale (-32..31). */
void weft_fp8_add(struct weft_fp8_sum *sum, struct weft_fp8_operand x, struct weft_fp8_operand w, int log2_scale);

/* fp16 bits of the sum. */
uint16_t weft_fp8_sum_fp16(const struct weft_fp8_sum *sum);

/* fp16 addition to nearest even; NaN is 7E00. */
uint16_t weft_fp16_add(uint16_t a, uint16_t b);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX's quantised arithmetic, exactly.
 *
 * REQUANT (QLinearConv, QLinearMatMul):
 *   y = clip(round(acc * a_scale * b_scale / y_scale) + y_zp)
 * (averages: divided by a count, too) where the argument of round is the real number, and round goes to the nearest
 * integer, ties to even. ONNX's pages define no intermediate precision; ONNX
 * Runtime computes rint(float32(acc) * float32(a_scale * b_scale / y_scale)),
 * which differs where the real number lies within 2^-24 of its magnitude of a tie.
 * With the attribute's type WEFT_FP32 that is what is computed (--requant runtime).
 *
 * QUANTIZE (QuantizeLinear): the quotient x / scale is rounded once to the type
 * that the attribute names, x first if it is an integer; then to the nearest
 * integer, ties to even, plus zp, clipped. float8 and float4: the
 * quotient plus zp, which has to be 0, is converted as by Cast. NaN counts as 0 for integers.
 *
 * DEQUANTIZE (DequantizeLinear): (x - zp) * scale, rounded once to y's type.
 *
 * Sources: ONNX QLinearConv-10, QLinearMatMul-21, QuantizeLinear-23,
 * DequantizeLinear-23.
 */
#ifndef WEFT_GOLDEN_ONNX_H
#define WEFT_GOLDEN_ONNX_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The real number num / den * 2^exp, num below 2^48; den above 0, below 2^24, or 2^44 after a division by a count. */
struct weft_onnx_ratio {
	uint64_t num, den;
	int32_t exp;
	float product;             /* above 0: sums are rounded as ONNX Runtime's kernels round, by this factor; 0: exactly */
};

/* a * b / y. False unless all are finite, above 0, and of at most 24 significant bits. */
bool weft_onnx_ratio(double a, double b, double y, struct weft_onnx_ratio *r);

/* round(acc * ratio), ties to even, or as `product` says; |acc| <= 2^31. Beyond +-2^15 the result is only known to be so. */
int32_t weft_onnx_scale(int64_t acc, const struct weft_onnx_ratio *r);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PopXL's products of float8 with a power of two, on the array.
 *
 * Operands are of its two float8 types, float8_143 (WEFT_FP8E4M3FNUZ) and
 * float8_152 (WEFT_FP8E5M2FNUZ), not necessarily of one; log2_scale is -32..31.
 * The result is fp16: exact products are added, multiplied by 2^log2_scale and
 * rounded once. In graphs the same are POPXL_CONV_POW2SCALED and
 * POPXL_MATMUL_POW2SCALED, where log2_scale is an operand that may differ from run
 * to run. The functions may be called from any thread.
 */
#ifndef WEFT_POPXL_H
#define WEFT_POPXL_H

#include <weft/api.h>
#include <weft/op.h>
#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Compute the matrix product of a and b, times 2^log2_scale.
 *
 * @param a    [H][C], or [1][H][C]
 * @param b    [C][W], or [1][C][W]; as many dimensions as a
 * @param o    On which device and how, as for a session; NULL: the defaults.
 * @param[out] y    fp16 [H][W] or [1][H][W]. y->data is allocated here and freed by
 *                  weft_tensor_release(); *y is untouched on failure.
 * @param msg  WEFT_MSG_LEN bytes; one line on failure.
 * @return 0; -EINVAL (types, shapes or log2_scale are wrong); or as weft_session_open() and
 *         weft_session_run()
 */
WEFT_API int weft_matmul_pow2scaled(const weft_tensor *a, const weft_tensor *b, int32_t log2_scale,
                           const struct weft_session_options *o, weft_tensor *y, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Compute the convolution of x with w, times 2^log2_scale.
 *
 * @param x     [N][H][W][C]
 * @param w     [OC][KH][KW][C]
 * @param conv  Its pad, stride and dilation are used; its other fields are not.
 * @param o     As for weft_matmul_pow2scaled().
 * @param[out] y     fp16 [N][OH][OW][OC], as for weft_matmul_pow2scaled(). OH is
 *                   (H + pad - (KH - 1) * dilation - 1) / stride + 1, which must have no remainder;
 *                   OW is the same for the width.
 * @param msg   WEFT_MSG_LEN bytes; one line on failure.
 * @return as weft_matmul_pow2scaled()
 */
WEFT_API int weft_conv_pow2scaled(const weft_tensor *x, const weft_tensor *w, const struct weft_attr_conv *conv, int32_t log2_scale,
                         const struct weft_session_options *o, weft_tensor *y, char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif

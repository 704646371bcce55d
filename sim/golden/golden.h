/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The golden model: every operator as the plainest correct C.
 *
 * Tensors in, tensors out; no graph, no commands, no hardware.
 */
#ifndef WEFT_GOLDEN_H
#define WEFT_GOLDEN_H

#include <weft/op.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_GOLDEN_MSG 160

/**
 * Run one operator.
 *
 * Checks types, shapes and attributes first (TOSA's ERROR_IF and REQUIRE that
 * depend on them), then computes. Caller allocates y[i].data for the shapes
 * that it states; a wrong stated shape is an error, never an overrun.
 *
 * @param fast  true: the fast twins where there are any (same bits);
 *              false: the plain loops throughout.
 * @param msg   WEFT_GOLDEN_MSG bytes; one line naming operator, argument and
 *              rule on failure; untouched on success.
 * @return 0, -EINVAL (rule broken), -ENOTSUP (row not implemented)
 */
int weft_golden_run(weft_opcode op, const weft_attr *attr,
                    const weft_tensor *const *x, int n_x,
                    weft_tensor *const *y, int n_y, bool fast, char *msg);

/**
 * TOSA apply_scale_32 (spec 1.0, section 4.3.x): multiplier >= 0, shift 2..62.
 * Rounds half up; with double_round and shift > 31, in two stages as gemmlowp.
 */
int32_t weft_apply_scale_32(int32_t value, int32_t multiplier, int shift, bool double_round);

/** value * multiplier / 2^shift to the nearest integer, ties to even; value is int32, or int48 with a multiplier below 2^15. */
int32_t weft_apply_scale_even(int64_t value, int32_t multiplier, int shift);

/** TOSA apply_scale_16: value is int48, multiplier 0..32767, shift 2..62. */
int32_t weft_apply_scale_16(int64_t value, int32_t multiplier, int shift);

#ifdef __cplusplus
}
#endif
#endif

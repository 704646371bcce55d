/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The golden model inside the library: the public <weft/golden.h>, and the
 * arithmetic of RESCALE, which importers and the compiler use too.
 */
#ifndef WEFT_GOLDEN_INTERNAL_H
#define WEFT_GOLDEN_INTERNAL_H

#include <weft/golden.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* SPDX-License-Identifier: Apache-2.0 */
/* Requantisation by num * 2^-shift, ties to even, of operators that the device has; onnx_ties.c says how. */
#ifndef WEFT_IMPORT_ONNX_TIES_H
#define WEFT_IMPORT_ONNX_TIES_H

#include "../../sim/golden/onnx.h"
#include "onnx_lower.h"

/* shift 0: the channel's multiplier is exact as it is. */
struct ox_dyadic { int32_t num; int8_t shift; };

/* The ratio as num / 2^shift, if sums of least..most stay within int32 when they are multiplied by num. */
bool ox_dyadic_of(const struct weft_onnx_ratio *r, int64_t least, int64_t most, struct ox_dyadic *d);

/*
 * The sums x, times num and less 1, plus 1 where the result before rounding is
 * odd: RESCALE by 2^-shift then breaks ties to even. count is 1 or x's channels;
 * channels of shift 0 stay as they are.
 */
int ox_break_ties(struct ox *l, int x, const struct ox_dyadic *d, int64_t count);

/* onnx_requant.c: RESCALE with multipliers and shifts, one or one for each channel; takes m and s, from ox_alloc. */
int ox_requant_rescale(struct ox *l, int x, weft_dtype to, int64_t count, int32_t *m, int8_t *s, double zp);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* RESCALE with the result of ONNX's requantisation, for every sum of a range. */
#ifndef WEFT_IMPORT_ONNX_EXACT_H
#define WEFT_IMPORT_ONNX_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/golden/onnx/onnx.h"

struct ox_factor { int32_t mul; int8_t shift; };

/* v * f with SINGLE_ROUND, or with EVEN_ROUND. */
int64_t ox_scaled(int64_t v, struct ox_factor f, bool even);

/* Multiplier of 31 bits nearest to real; false where none fits, sums being at most `most` in magnitude. */
bool ox_nearest(double real, double most, struct ox_factor *f);

enum ox_ties {
	OX_HALF_UP,                /* RESCALE with SINGLE_ROUND has ONNX's result */
	OX_EVEN,                   /* with EVEN_ROUND */
	OX_FROM_ZERO, OX_TO_ZERO,  /* with SINGLE_ROUND, ONNX's but for ties, which all go that way */
};

/*
 * A multiplier that rounds so for all sums of least..most.
 *
 * @param lo, hi  The result's limits less its zero point.
 */
bool ox_exact(const struct weft_onnx_ratio *r, int lo, int hi, int64_t least, int64_t most, enum ox_ties ties, struct ox_factor *f);

#endif

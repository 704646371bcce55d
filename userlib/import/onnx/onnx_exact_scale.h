/* SPDX-License-Identifier: Apache-2.0 */
/* RESCALE with the result of ONNX's requantisation, for every sum of a range. */
#ifndef WEFT_IMPORT_ONNX_EXACT_H
#define WEFT_IMPORT_ONNX_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/api.h>

#include "sim/golden/onnx/onnx.h"

/* RESCALE multiplies by mul / 2^shift. */
struct ox_factor { int32_t mul; int8_t shift; };

/* Returns v * f rounded as RESCALE does: ties up (SINGLE_ROUND), or to even if `even` is set (EVEN_ROUND). */
int64_t ox_scaled(int64_t v, struct ox_factor f, bool even);

/*
 * Sets *f to the factor with a multiplier of 31 bits that is nearest to real. Returns false if none fits
 * sums of up to `most` in magnitude.
 */
bool ox_nearest(double real, double most, struct ox_factor *f);

/* How RESCALE rounds, and what its results are to be. */
enum ox_ties {
	OX_HALF_UP,                /* SINGLE_ROUND gives ONNX's result */
	OX_EVEN,                   /* EVEN_ROUND gives ONNX's result */
	OX_FROM_ZERO, OX_TO_ZERO,  /* SINGLE_ROUND gives ONNX's result but for ties, which all go from zero, or to zero */
};

/*
 * Find a factor with which RESCALE gives the results that `ties` asks for.
 *
 * @param r       The ratio by which ONNX multiplies sums.
 * @param lo, hi  The result type's limits less the zero point.
 * @param least, most  The least and the greatest sum that occurs.
 * @param[out] f  The factor, if there is one.
 *
 * @return whether there is one for all sums of least..most
 */
WEFT_MUST_USE bool ox_exact(const struct weft_onnx_ratio *r, int lo, int hi, int64_t least, int64_t most, enum ox_ties ties, struct ox_factor *f);

#endif

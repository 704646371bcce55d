/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maximum and minimum with NaN modes: TOSA 1.0 section 4.5.1. Of two zeros, -0 is
 * the smaller (IEEE 754-2019, maximum); TOSA leaves the order of operands to decide.
 *
 * COMPARE is ours: a > b ? a : b, so that b is the result where one is NaN or both are
 * zeros. That is what TensorFlow Lite's reference kernels do.
 */
#include <math.h>

#include "ops.h"

static double of_nan(double a, double b, weft_nan_mode nan)
{
	if (nan != WEFT_NAN_IGNORE)
		return NAN;
	return isnan(a) ? b : a;
}

double weft_float_max(double a, double b, weft_nan_mode nan)
{
	if (nan == WEFT_NAN_COMPARE)
		return a > b ? a : b;
	if (isnan(a) || isnan(b))
		return of_nan(a, b, nan);
	if (a == b)
		return signbit(a) ? b : a;
	return a > b ? a : b;
}

double weft_float_min(double a, double b, weft_nan_mode nan)
{
	if (nan == WEFT_NAN_COMPARE)
		return a < b ? a : b;
	if (isnan(a) || isnan(b))
		return of_nan(a, b, nan);
	if (a == b)
		return signbit(a) ? a : b;
	return a < b ? a : b;
}

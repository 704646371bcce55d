/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "fixed_point.h"

void weft_quantize_multiplier(double real, int32_t *multiplier, int *shift)
{
	int64_t q = llround(frexp(real, shift) * 2147483648.0);

	if (q == (int64_t)1 << 31) {
		q /= 2;
		++*shift;
	}
	*multiplier = (int32_t)q;
}

bool weft_near_power_of_two(float scale, int *log2)
{
	if (!(scale > 0) || isinf(scale))
		return false;
	const double exact = log((double)scale) / log(2.0);
	*log2 = (int)round(exact);
	return fabs(exact - *log2) < 1e-3;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "fast.h"

static FAST int16_t *widen(const weft_tensor *x, int32_t zp, int64_t first, int64_t n, int64_t repeat)
{
	const int8_t *x8 = (const int8_t *)x->data + first;
	const int16_t *x16 = (const int16_t *)x->data + first;
	int16_t *y;

	if (n > PTRDIFF_MAX / 4 / repeat || !(y = malloc((size_t)(n * repeat) * sizeof(*y))))
		return NULL;
	if (x->dtype == WEFT_INT16 && repeat == 1) {
		memcpy(y, x16, (size_t)n * sizeof(*y));
	} else if (repeat == 1) {
		for (int64_t i = 0; i < n; i++)
			y[i] = (int16_t)(x8[i] - zp);
	} else {
		for (int64_t i = 0, o = 0; i < n; i++) {
			int16_t v = x->dtype == WEFT_INT16 ? x16[i] : (int16_t)(x8[i] - zp);

			for (int64_t r = 0; r < repeat; r++)
				y[o++] = v;
		}
	}
	return y;
}

int16_t *weft_fast_widen(const weft_tensor *x, int32_t zp, int64_t first, int64_t n, int64_t repeat)
{
	return widen(x, zp, first, n, repeat);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A weft_depthwise_pixel by the name of PIXEL, for an instruction set. depthwise_int8.c includes this once for each, with
 *
 *   TARGET                    the function's attribute
 *   SUMS, LANES               a register of int32, and how many it holds
 *   WIDEN(p)                  LANES int8 at p, as int32
 *   LOAD(p), STORE(p, v)      LANES int32 at p, at any address
 *   ADD_PRODUCT(sum, a, b)    sum + a * b modulo 2^32, lane by lane
 *
 * and all are undefined again behind it. Four registers of sums hide the latency of a multiplication.
 */
static TARGET int64_t PIXEL(const int8_t *const *taps, int64_t n_taps, const uint32_t *w, const uint32_t *start, int64_t ch, uint32_t *y)
{
	int64_t c = 0;

	for (; c + 4 * LANES <= ch; c += 4 * LANES) {
		SUMS s0 = LOAD(start + c), s1 = LOAD(start + c + LANES), s2 = LOAD(start + c + 2 * LANES), s3 = LOAD(start + c + 3 * LANES);

		for (int64_t t = 0; t < n_taps; t++) {
			const int8_t *x = taps[t] + c;
			const uint32_t *v = w + t * ch + c;

			s0 = ADD_PRODUCT(s0, WIDEN(x), LOAD(v));
			s1 = ADD_PRODUCT(s1, WIDEN(x + LANES), LOAD(v + LANES));
			s2 = ADD_PRODUCT(s2, WIDEN(x + 2 * LANES), LOAD(v + 2 * LANES));
			s3 = ADD_PRODUCT(s3, WIDEN(x + 3 * LANES), LOAD(v + 3 * LANES));
		}
		STORE(y + c, s0);
		STORE(y + c + LANES, s1);
		STORE(y + c + 2 * LANES, s2);
		STORE(y + c + 3 * LANES, s3);
	}
	for (; c + LANES <= ch; c += LANES) {
		SUMS sum = LOAD(start + c);

		for (int64_t t = 0; t < n_taps; t++)
			sum = ADD_PRODUCT(sum, WIDEN(taps[t] + c), LOAD(w + t * ch + c));
		STORE(y + c, sum);
	}
	return c;
}

#undef PIXEL
#undef TARGET
#undef SUMS
#undef LANES
#undef WIDEN
#undef LOAD
#undef STORE
#undef ADD_PRODUCT

/* SPDX-License-Identifier: Apache-2.0 */
/* LOGISTIC and TANH of int16 through one table, for their operators and for LSTM. */
#ifndef WEFT_GOLDEN_TFL_SIGMOID16_H
#define WEFT_GOLDEN_TFL_SIGMOID16_H

#include <stdint.h>

#define WEFT_SIGMOID16_ENTRIES 256

/* The argument: (x * multiplier + half) >> shift in steps of 1/(3 * 4096); 3 and 0 for Q3.12. */
struct weft_sigmoid16 {
	uint16_t table[WEFT_SIGMOID16_ENTRIES];
	int32_t multiplier;        /* below 2^15 */
	int shift;                 /* 0..31 */
};

/* Fill the table. */
void weft_sigmoid16_init(struct weft_sigmoid16 *s, int32_t multiplier, int shift);

/* Multiplier and shift for arguments of that scale; 2^-12 to 2^(left_most - 12) are met exactly. */
void weft_sigmoid16_scale(struct weft_sigmoid16 *s, float x_scale, int left_most);

/* Results in Q0.15. */
int16_t weft_logistic16(const struct weft_sigmoid16 *s, int16_t x);
int16_t weft_tanh16(const struct weft_sigmoid16 *s, int16_t x);

#endif

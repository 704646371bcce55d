/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles on processors with NEON: elements are widened to 16 bits, and smlal adds products to 32 bits. */
#include <stddef.h>

#include "tiles.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <string.h>

#include "tiles_loop.h"

#define LANES 4
#define REGISTERS 4
#define PIXELS 4

#define SUMS int32x4_t
#define WEIGHTS int16x4x2_t    /* the even elements of four channels' words, and the odd ones */
#define SAME struct pair

struct pair {
	int16_t even, odd;
};

/* Returns how many lanes of the r-th register have a channel. */
static inline __attribute__((always_inline)) size_t lanes_of(const struct weft_tile *t, int r)
{
	const int64_t left = t->channels - r * LANES;

	return left > LANES ? LANES : left > 0 ? (size_t)left : 0;
}

static inline __attribute__((always_inline)) SUMS begin(const struct weft_tile *t, int p, int r)
{
	int32_t old[LANES] = { 0 };

	if (t->start)
		return vld1q_s32(t->start + r * LANES);
	memcpy(old, t->y[p] + r * LANES, lanes_of(t, r) * sizeof(*old));
	return vld1q_s32(old);
}

static inline __attribute__((always_inline)) WEIGHTS load(const uint8_t *w, int r)
{
	return vld2_s16((const int16_t *)(const void *)(w + 4 * LANES * r));
}

static inline __attribute__((always_inline)) SAME spread(const uint8_t *x)
{
	struct pair both;

	memcpy(&both, x, sizeof(both));
	return both;
}

static inline __attribute__((always_inline)) SUMS add(SUMS sum, SAME x, WEIGHTS w)
{
	return vmlal_n_s16(vmlal_n_s16(sum, w.val[0], x.even), w.val[1], x.odd);
}

static inline __attribute__((always_inline)) void end(const struct weft_tile *t, int p, int r, SUMS sum)
{
	int32_t all[LANES];

	vst1q_s32(all, sum);
	memcpy(t->y[p] + r * LANES, all, lanes_of(t, r) * sizeof(*all));
}

static inline __attribute__((always_inline)) void multiply(const struct weft_tile *t, const int n_pixels, const int n_registers)
{
	MULTIPLY_TILE
}

static int pixels(int registers) { (void)registers; return PIXELS; }

static void multiply_any(const struct weft_tile *t, int registers)
{
	switch (registers) {
	case 1: multiply(t, PIXELS, 1); break;
	case 2: multiply(t, PIXELS, 2); break;
	case 3: multiply(t, PIXELS, 3); break;
	default: multiply(t, PIXELS, 4);
	}
}

const struct weft_tiling *weft_tiling_neon(void)
{
	static const struct weft_tiling tiling = { .elem_bytes = 2, .lanes = LANES, .registers = REGISTERS, .units = 256,
		.pixels = pixels, .multiply = multiply_any };

	return &tiling;
}
#else
const struct weft_tiling *weft_tiling_neon(void) { return NULL; }
#endif

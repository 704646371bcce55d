/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles on processors with AVX2: elements are widened to 16 bits, and vpmaddwd adds two products to
 * 32 bits. It wraps only where all four factors are -2^15; ours have 9 bits.
 */
#include <stddef.h>

#include "tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "tiles_loop.h"

#define AVX2 __attribute__((target("avx2")))
#define LANES 8
#define REGISTERS 3

#define SUMS __m256i
#define WEIGHTS __m256i
#define SAME __m256i

/* Returns the mask of those lanes of the r-th register that have a channel: all ones in each. */
static inline __attribute__((always_inline)) AVX2 __m256i lanes_of(const struct weft_tile *t, int r)
{
	const int64_t left = t->channels - r * LANES;
	const int32_t count = (int32_t)(left > LANES ? LANES : left);

	return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline __attribute__((always_inline)) AVX2 SUMS begin(const struct weft_tile *t, int p, int r)
{
	const int32_t *from = t->start ? t->start : t->y[p];

	if (t->start || t->channels >= (r + 1) * LANES)
		return _mm256_loadu_si256((const __m256i *)(from + r * LANES));
	return _mm256_maskload_epi32(from + r * LANES, lanes_of(t, r));
}

static inline __attribute__((always_inline)) AVX2 WEIGHTS load(const uint8_t *w, int r)
{
	return _mm256_loadu_si256((const __m256i *)(w + 4 * LANES * r));
}

static inline __attribute__((always_inline)) AVX2 SAME spread(const uint8_t *x)
{
	int32_t word;

	memcpy(&word, x, sizeof(word));
	return _mm256_set1_epi32(word);
}

static inline __attribute__((always_inline)) AVX2 SUMS add(SUMS sum, SAME x, WEIGHTS w)
{
	sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
	__asm__("" : "+x"(sum));       /* without it gcc 12 keeps a copy of each sum in memory for the end of the loop */
	return sum;
}

static inline __attribute__((always_inline)) AVX2 void end(const struct weft_tile *t, int p, int r, SUMS sum)
{
	if (t->channels >= (r + 1) * LANES)    /* some processors need many cycles to store under a mask */
		_mm256_storeu_si256((__m256i *)(t->y[p] + r * LANES), sum);
	else
		_mm256_maskstore_epi32(t->y[p] + r * LANES, lanes_of(t, r), sum);
}

static inline __attribute__((always_inline)) AVX2 void multiply(const struct weft_tile *t, const int n_pixels, const int n_registers)
{
	MULTIPLY_TILE
}

static int pixels(int registers) { return registers == 3 ? 4 : registers == 2 ? 6 : 8; }

static AVX2 void multiply_any(const struct weft_tile *t, int registers)
{
	switch (registers) {
	case 1: multiply(t, 8, 1); break;
	case 2: multiply(t, 6, 2); break;
	default: multiply(t, 4, 3);
	}
}

const struct weft_tiling *weft_tiling_avx2(void)
{
	/* 24 KiB of weights leave room in a first-level cache of 32 KiB. */
	static const struct weft_tiling tiling = { .elem_bytes = 2, .lanes = LANES, .registers = REGISTERS, .units = 256,
		.pixels = pixels, .multiply = multiply_any };

	return __builtin_cpu_supports("avx2") ? &tiling : NULL;
}
#else
const struct weft_tiling *weft_tiling_avx2(void) { return NULL; }
#endif

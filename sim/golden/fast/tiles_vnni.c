/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles on processors with AVX-512 VNNI: vpdpbusd adds four products of uint8 and int8 to each of 16
 * sums, exactly (it is vpdpbusds that saturates, and vpmaddubsw that does so in 16 bits).
 */
#include <stddef.h>

#include "tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "tiles_loop.h"

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define LANES 16
#define REGISTERS 4

#define SUMS __m512i
#define WEIGHTS __m512i
#define SAME __m512i

static inline __attribute__((always_inline)) VNNI __mmask16 lanes_of(const struct weft_tile *t, int r)
{
	const int64_t left = t->channels - r * LANES;

	return (__mmask16)(left >= LANES ? 0xffff : (1 << left) - 1);
}

static inline __attribute__((always_inline)) VNNI SUMS begin(const struct weft_tile *t, int p, int r)
{
	return t->start ? _mm512_loadu_si512(t->start + r * LANES) : _mm512_maskz_loadu_epi32(lanes_of(t, r), t->y[p] + r * LANES);
}

static inline __attribute__((always_inline)) VNNI WEIGHTS load(const uint8_t *w, int r)
{
	return _mm512_loadu_si512(w + 4 * LANES * r);
}

static inline __attribute__((always_inline)) VNNI SAME spread(const uint8_t *x)
{
	int32_t word;

	memcpy(&word, x, sizeof(word));
	return _mm512_set1_epi32(word);
}

static inline __attribute__((always_inline)) VNNI SUMS add(SUMS sum, SAME x, WEIGHTS w)
{
	/* This is _mm512_dpbusd_epi32(sum, x, w), for which gcc 12 keeps a copy of each sum in memory for the end of the loop. */
	__asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
	return sum;
}

static inline __attribute__((always_inline)) VNNI void end(const struct weft_tile *t, int p, int r, SUMS sum)
{
	_mm512_mask_storeu_epi32(t->y[p] + r * LANES, lanes_of(t, r), sum);
}

static inline __attribute__((always_inline)) VNNI void multiply(const struct weft_tile *t, const int n_pixels, const int n_registers)
{
	MULTIPLY_TILE
}

static int pixels(int registers) { return registers == 4 ? 6 : 8; }

static VNNI void multiply_any(const struct weft_tile *t, int registers)
{
	switch (registers) {
	case 1: multiply(t, 8, 1); break;
	case 2: multiply(t, 8, 2); break;
	case 3: multiply(t, 8, 3); break;
	default: multiply(t, 6, 4);
	}
}

const struct weft_tiling *weft_tiling_vnni(void)
{
	static const struct weft_tiling tiling = { .elem_bytes = 1, .flip = 0x80, .lanes = LANES, .registers = REGISTERS,
		.pixels = pixels, .multiply = multiply_any };

	return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") ? &tiling : NULL;
}
#else
const struct weft_tiling *weft_tiling_vnni(void) { return NULL; }
#endif

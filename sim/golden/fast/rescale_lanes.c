/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESCALE in registers (rescale_lanes.h). |x * mult| is at most 2^62 and what is added below 2^62, so that no
 * sum leaves 64 bits; of what is shifted the low 32 bits count, as in TOSA's formula.
 *
 * The sign that double rounding looks at is the product's here, not the value's: they differ where the multiplier
 * is 0, and then the result is 0 with either.
 */
#include <stdbool.h>
#include <stddef.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "rescale_lanes.h"

#define INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)

#define AVX512 __attribute__((target("avx512f")))

INLINE AVX512 __m512i half_avx512(__m512i x, __m512i mult, __m512i shift, __m512i add, __m512i back, bool even)
{
	const __m512i p = _mm512_mul_epi32(x, mult);

	if (even) {
		const __m512i odd = _mm512_and_si512(_mm512_srav_epi64(p, shift), _mm512_set1_epi64(1));

		return _mm512_srav_epi64(_mm512_add_epi64(_mm512_add_epi64(p, add), _mm512_sub_epi64(odd, _mm512_set1_epi64(1))), shift);
	}
	return _mm512_srav_epi64(_mm512_sub_epi64(_mm512_add_epi64(p, add), _mm512_and_si512(_mm512_srai_epi64(p, 63), back)), shift);
}

INLINE AVX512 void lanes_avx512(const struct weft_rescale_block *b, const struct weft_rescale_group *g, bool even)
{
	const __m512i m0 = _mm512_loadu_si512(g->mult[0]), m1 = _mm512_loadu_si512(g->mult[1]);
	const __m512i s0 = _mm512_loadu_si512(g->shift[0]), s1 = _mm512_loadu_si512(g->shift[1]);
	const __m512i a0 = _mm512_loadu_si512(g->add[0]), a1 = _mm512_loadu_si512(g->add[1]);
	const __m512i k0 = _mm512_loadu_si512(g->back[0]), k1 = _mm512_loadu_si512(g->back[1]);
	const __m512i x_zp = _mm512_set1_epi32(b->x_zp), y_zp = _mm512_set1_epi32(b->y_zp);
	const __m512i lo = _mm512_set1_epi32(b->lo), hi = _mm512_set1_epi32(b->hi);

	for (int64_t r = 0; r < b->rows; r++) {
		const __m512i x = _mm512_sub_epi32(_mm512_loadu_si512(b->x + r * b->width), x_zp);
		const __m512i r0 = half_avx512(x, m0, s0, a0, k0, even);
		const __m512i r1 = half_avx512(_mm512_srli_epi64(x, 32), m1, s1, a1, k1, even);
		const __m512i all = _mm512_mask_shuffle_epi32(r0, 0xaaaa, r1, (_MM_PERM_ENUM)_MM_SHUFFLE(2, 2, 0, 0));

		_mm512_storeu_si512(b->y + r * b->width, _mm512_add_epi32(_mm512_min_epi32(_mm512_max_epi32(all, lo), hi), y_zp));
	}
}

static AVX512 void up_avx512(const struct weft_rescale_block *b, const struct weft_rescale_group *g) { lanes_avx512(b, g, false); }
static AVX512 void even_avx512(const struct weft_rescale_block *b, const struct weft_rescale_group *g) { lanes_avx512(b, g, true); }

#define AVX2 __attribute__((target("avx2")))
#define LOAD(p)     _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)

/*
 * There is no arithmetic shift of 64-bit lanes: with 2^63 added the sum is shifted as an unsigned one, and what
 * became of the 2^63 is taken away.
 */
INLINE AVX2 __m256i half_avx2(__m256i x, const struct weft_rescale_group *g, int odd, int at, bool even)
{
	const __m256i shift = LOAD(g->shift[odd] + at), top = _mm256_set1_epi64x(INT64_MIN);
	const __m256i p = _mm256_mul_epi32(x, LOAD(g->mult[odd] + at));
	__m256i sum = _mm256_add_epi64(p, LOAD(g->add[odd] + at));

	if (even) {
		const __m256i bit = _mm256_and_si256(_mm256_srlv_epi64(p, shift), _mm256_set1_epi64x(1));

		sum = _mm256_add_epi64(sum, _mm256_sub_epi64(bit, _mm256_set1_epi64x(1)));
	} else {
		sum = _mm256_sub_epi64(sum, _mm256_and_si256(_mm256_cmpgt_epi64(_mm256_setzero_si256(), p), LOAD(g->back[odd] + at)));
	}
	return _mm256_sub_epi64(_mm256_srlv_epi64(_mm256_xor_si256(sum, top), shift), _mm256_srlv_epi64(top, shift));
}

INLINE AVX2 void lanes_avx2(const struct weft_rescale_block *b, const struct weft_rescale_group *g, bool even)
{
	const __m256i x_zp = _mm256_set1_epi32(b->x_zp), y_zp = _mm256_set1_epi32(b->y_zp);
	const __m256i lo = _mm256_set1_epi32(b->lo), hi = _mm256_set1_epi32(b->hi);

	for (int at = 0; at < RESCALE_LANES / 2; at += 4)
		for (int64_t r = 0; r < b->rows; r++) {
			const __m256i x = _mm256_sub_epi32(LOAD(b->x + r * b->width + 2 * at), x_zp);
			const __m256i r0 = half_avx2(x, g, 0, at, even), r1 = half_avx2(_mm256_srli_epi64(x, 32), g, 1, at, even);
			const __m256i all = _mm256_blend_epi32(r0, _mm256_slli_epi64(r1, 32), 0xaa);

			STORE(b->y + r * b->width + 2 * at, _mm256_add_epi32(_mm256_min_epi32(_mm256_max_epi32(all, lo), hi), y_zp));
		}
}

static AVX2 void up_avx2(const struct weft_rescale_block *b, const struct weft_rescale_group *g) { lanes_avx2(b, g, false); }
static AVX2 void even_avx2(const struct weft_rescale_block *b, const struct weft_rescale_group *g) { lanes_avx2(b, g, true); }

#endif

INLINE void lanes_plain(const struct weft_rescale_block *b, const struct weft_rescale_group *g, bool even)
{
	for (int64_t r = 0; r < b->rows; r++)
		for (int i = 0; i < RESCALE_LANES; i++) {
			const int64_t shift = g->shift[i & 1][i / 2];
			const int64_t p = ((int64_t)b->x[r * b->width + i] - b->x_zp) * g->mult[i & 1][i / 2];
			const int64_t less = even ? 1 - (p >> shift & 1) : p < 0 ? g->back[i & 1][i / 2] : 0;
			const int32_t v = (int32_t)((p + g->add[i & 1][i / 2] - less) >> shift);

			b->y[r * b->width + i] = (v < b->lo ? b->lo : v > b->hi ? b->hi : v) + b->y_zp;
		}
}

static void up_plain(const struct weft_rescale_block *b, const struct weft_rescale_group *g) { lanes_plain(b, g, false); }
static void even_plain(const struct weft_rescale_block *b, const struct weft_rescale_group *g) { lanes_plain(b, g, true); }

const struct weft_rescale_kernels *weft_rescale_kernels_at(int i)
{
	static const struct weft_rescale_kernels plain = { up_plain, even_plain };
	const struct weft_rescale_kernels *all[3] = { NULL };
	int n = 0;

#if defined(__x86_64__)
	static const struct weft_rescale_kernels avx512 = { up_avx512, even_avx512 }, avx2 = { up_avx2, even_avx2 };

	if (__builtin_cpu_supports("avx512f"))
		all[n++] = &avx512;
	if (__builtin_cpu_supports("avx2"))
		all[n++] = &avx2;
#endif
	all[n++] = &plain;
	return i < n ? all[i] : NULL;
}

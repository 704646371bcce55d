/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DEPTHWISE_CONV2D of int8 with one output channel for each input channel: sums of many channels stay in registers
 * while the taps of a pixel pass by. Plain loops: ../depthwise_conv2d.c
 *
 *   taps  [KH*KW]      where the input's channels of each tap lie; outside the image a row of x_zp
 *   w     [KH*KW][C]   int32, w - w_zp
 *   start [C]          bias less x_zp times the sum of the channel's weights
 *
 * so that x needs no zero point taken from it. Everything is modulo 2^32, as the output is.
 */
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "fast.h"

struct work {
	const struct weft_call *c;
	int64_t n_taps;
	uint32_t *w, *start;
	int8_t *outside;           /* one row of x_zp */
	const int8_t **taps;
	weft_depthwise_pixel *pixel;
};

#if defined(__x86_64__)
#define PIXEL pixel_avx512
#define TARGET __attribute__((target("avx512f")))
#define SUMS __m512i
#define LANES 16
#define WIDEN(p) _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, v) _mm512_storeu_si512(p, v)
#define ADD_PRODUCT(sum, a, b) _mm512_add_epi32(sum, _mm512_mullo_epi32(a, b))
#include "depthwise_pixel.h"

#define PIXEL pixel_avx2
#define TARGET __attribute__((target("avx2")))
#define SUMS __m256i
#define LANES 8
#define WIDEN(p) _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p)))
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define ADD_PRODUCT(sum, a, b) _mm256_add_epi32(sum, _mm256_mullo_epi32(a, b))
#include "depthwise_pixel.h"
#endif

static int64_t pixel_plain(const int8_t *const *taps, int64_t n_taps, const uint32_t *w, const uint32_t *start, int64_t ch, uint32_t *y)
{
	(void)taps, (void)n_taps, (void)w, (void)start, (void)ch, (void)y;
	return 0;
}

weft_depthwise_pixel *weft_depthwise_at(int i)
{
	weft_depthwise_pixel *all[3] = { NULL };
	int n = 0;

#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		all[n++] = pixel_avx512;
	if (__builtin_cpu_supports("avx2"))
		all[n++] = pixel_avx2;
#endif
	all[n++] = pixel_plain;
	return i < n ? all[i] : NULL;
}

static void one_pixel(const struct work *s, uint32_t *y)
{
	const int64_t ch = s->c->x[0]->dim[3];

	for (int64_t c = s->pixel(s->taps, s->n_taps, s->w, s->start, ch, y); c < ch; c++) {
		uint32_t sum = s->start[c];

		for (int64_t t = 0; t < s->n_taps; t++)
			sum += (uint32_t)s->taps[t][c] * s->w[t * ch + c];
		y[c] = sum;
	}
}

static void find_taps(const struct work *s, const int8_t *image, int64_t oy, int64_t ox)
{
	const struct weft_attr_conv *a = &s->c->attr->conv;
	const weft_tensor *x = s->c->x[0], *w = s->c->x[1];
	const int64_t ih = x->dim[1], iw = x->dim[2], ch = x->dim[3];
	const int64_t y0 = oy * a->stride[0] - a->pad[0], x0 = ox * a->stride[1] - a->pad[2];

	for (int64_t ky = 0, n = 0; ky < w->dim[0]; ky++)
		for (int64_t kx = 0; kx < w->dim[1]; kx++) {
			const int64_t py = y0 + ky * a->dilation[0], px = x0 + kx * a->dilation[1];
			const bool inside = py >= 0 && py < ih && px >= 0 && px < iw;

			s->taps[n++] = inside ? image + (py * iw + px) * ch : s->outside;
		}
}

static bool prepare(struct work *s)
{
	const struct weft_attr_conv *a = &s->c->attr->conv;
	const weft_tensor *w = s->c->x[1], *bias = s->c->x[2];
	const int64_t ch = w->dim[2], n = s->n_taps * ch;
	const int8_t *from = w->data;
	const int32_t *b = bias->data;

	s->w = malloc((size_t)n * sizeof(*s->w));
	s->start = malloc((size_t)ch * sizeof(*s->start));
	s->outside = malloc((size_t)ch);
	s->taps = malloc((size_t)s->n_taps * sizeof(*s->taps));
	if (!s->w || !s->start || !s->outside || !s->taps)
		return false;
	memset(s->outside, a->x_zp, (size_t)ch);
	for (int64_t c = 0; c < ch; c++)
		s->start[c] = (uint32_t)b[bias->dim[0] == 1 ? 0 : c];
	for (int64_t i = 0, c = 0; i < n; i++, c = c + 1 < ch ? c + 1 : 0) {
		s->w[i] = (uint32_t)(from[i] - a->w_zp);
		s->start[c] -= (uint32_t)a->x_zp * s->w[i];
	}
	return true;
}

int weft_depthwise_int8(const struct weft_call *c, weft_depthwise_pixel *pixel)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int64_t image = x->dim[1] * x->dim[2] * x->dim[3], ch = x->dim[3];
	struct work s = { .c = c, .n_taps = c->x[1]->dim[0] * c->x[1]->dim[1], .pixel = pixel };
	uint32_t *to = y->data;
	int err = -ENOMEM;

	if (prepare(&s)) {
		for (int64_t n = 0; n < x->dim[0]; n++)
			for (int64_t oy = 0; oy < y->dim[1]; oy++)
				for (int64_t ox = 0; ox < y->dim[2]; ox++, to += ch) {
					find_taps(&s, (const int8_t *)x->data + n * image, oy, ox);
					one_pixel(&s, to);
				}
		err = 0;
	}
	free(s.w);
	free(s.start);
	free(s.outside);
	free(s.taps);
	return err;
}

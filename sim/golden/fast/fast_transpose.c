/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TRANSPOSE of any type: dimensions that stay together are one, and what is left moves as runs or as blocks of a
 * matrix. Plain loop: ../transpose.c
 */
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "fast.h"

#define BLOCK 16               /* rows and columns of a block */

/* A dimension of the output: how many, and how far apart its elements lie in x and in y. */
struct dim { int64_t n, x, y; };

/* A transposition in as few dimensions as it takes, the last of which is contiguous in y. */
struct moved { struct dim d[WEFT_MAX_RANK]; int n; size_t size; const char *x; char *y; };

/* Sets m->d and m->n from the call: dimensions of 1 are left out, and those that lie the same way in both are joined. */
static void find_dims(const struct weft_call *c, struct moved *m)
{
	const weft_tensor *y = c->y[0];
	int64_t in[WEFT_MAX_RANK], out[WEFT_MAX_RANK];

	weft_strides(c->x[0], in);
	weft_strides(y, out);
	m->n = 0;
	for (int d = 0; d < y->rank; d++) {
		const struct dim next = { y->dim[d], in[c->attr->perm.perm[d]], out[d] };
		struct dim *last = m->n ? &m->d[m->n - 1] : NULL;

		if (next.n == 1)
			continue;
		if (last && last->x == next.x * next.n)
			*last = (struct dim){ last->n * next.n, next.x, next.y };
		else
			m->d[m->n++] = next;
	}
}

/* y[j * y_step + i] = x[i * x_step + j] for i below n, j below k: a matrix of elements of this many bytes, steps in elements. */
static inline void matrix(const char *x, char *y, int64_t n, int64_t k, int64_t x_step, int64_t y_step, size_t size)
{
	for (int64_t j = 0; j < k; j++)
		for (int64_t i = 0; i < n; i++)
			memcpy(y + (size_t)(j * y_step + i) * size, x + (size_t)(i * x_step + j) * size, size);
}

#if defined(__x86_64__)
/* The same of a block of BLOCK x BLOCK bytes. */
static void block_bytes(const char *x, char *y, int64_t x_step, int64_t y_step)
{
	__m128i a[BLOCK], b[BLOCK];

	for (int i = 0; i < BLOCK; i++)
		a[i] = _mm_loadu_si128((const __m128i *)(const void *)(x + i * x_step));
	/* Four rounds, each of which brings bytes of rows that are 8 apart beside each other. */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < BLOCK / 2; i++) {
			b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + BLOCK / 2]);
			b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + BLOCK / 2]);
		}
		for (int i = 0; i < BLOCK / 2; i++) {
			a[2 * i] = _mm_unpacklo_epi8(b[i], b[i + BLOCK / 2]);
			a[2 * i + 1] = _mm_unpackhi_epi8(b[i], b[i + BLOCK / 2]);
		}
	}
	for (int i = 0; i < BLOCK; i++)
		_mm_storeu_si128((__m128i *)(void *)(y + i * y_step), a[i]);
}
#else
static void block_bytes(const char *x, char *y, int64_t x_step, int64_t y_step)
{
	matrix(x, y, BLOCK, BLOCK, x_step, y_step, 1);
}
#endif

/* The same of any matrix, a block after the other, so that what they touch stays in the cache. */
static void blocks(const char *x, char *y, int64_t n, int64_t k, int64_t x_step, int64_t y_step, size_t size)
{
	for (int64_t i = 0; i < n; i += BLOCK)
		for (int64_t j = 0; j < k; j += BLOCK) {
			const int64_t ni = n - i < BLOCK ? n - i : BLOCK, nj = k - j < BLOCK ? k - j : BLOCK;
			const char *from = x + (size_t)(i * x_step + j) * size;
			char *to = y + (size_t)(j * y_step + i) * size;

			if (size == 1 && ni == BLOCK && nj == BLOCK)
				block_bytes(from, to, x_step, y_step);
			else if (size == 1)
				matrix(from, to, ni, nj, x_step, y_step, 1);
			else if (size == 2)
				matrix(from, to, ni, nj, x_step, y_step, 2);
			else if (size == 4)
				matrix(from, to, ni, nj, x_step, y_step, 4);
			else
				matrix(from, to, ni, nj, x_step, y_step, 8);
		}
}

/* Copies n rows of so many bytes, steps in bytes. */
static void rows(const char *x, char *y, int64_t n, size_t bytes, int64_t x_step, int64_t y_step)
{
	/* With a constant number of bytes memcpy() is a few instructions, without a call. */
	enum { CHUNK = 32 };

	for (int64_t i = 0; i < n; i++, x += x_step, y += y_step) {
		size_t k = 0;
		if (bytes <= 16 * CHUNK)
			for (; k + CHUNK <= bytes; k += CHUNK)
				memcpy(y + k, x + k, CHUNK);
		if (k < bytes)
			memcpy(y + k, x + k, bytes - k);
	}
}

int weft_fast_transpose(const struct weft_call *c)
{
	struct moved m = { .size = weft_dtype_bytes(c->x[0]->dtype), .x = c->x[0]->data, .y = c->y[0]->data };
	struct weft_walk rest = { .rank = 0 };
	int along = -1;                /* the dimension that is contiguous in x, if that is not the last */
	int beside = -1;               /* if the last one is, the dimension in front of it */

	if (m.size != 1 && m.size != 2 && m.size != 4 && m.size != 8)
		return -ENOTSUP;
	find_dims(c, &m);
	if (!m.n)
		m.d[m.n++] = (struct dim){ 1, 1, 1 };
	const struct dim last = m.d[m.n - 1];
	if (last.x == 1 && m.n > 1)
		beside = m.n - 2;
	for (int d = 0; d < m.n - 1; d++) {
		if (m.d[d].x == 1 && last.x != 1)
			along = d;
		if (d == along || d == beside)
			continue;
		rest.dim[rest.rank] = m.d[d].n;
		rest.stride[0][rest.rank] = m.d[d].x;
		rest.stride[1][rest.rank++] = m.d[d].y;
	}
	if (last.x != 1 && along < 0)
		return -ENOTSUP;
	do {
		const char *x = m.x + (size_t)rest.off[0] * m.size;
		char *y = m.y + (size_t)rest.off[1] * m.size;

		if (beside >= 0)
			rows(x, y, m.d[beside].n, (size_t)last.n * m.size, m.d[beside].x * (int64_t)m.size, m.d[beside].y * (int64_t)m.size);
		else if (along < 0)
			memcpy(y, x, (size_t)last.n * m.size);
		else
			blocks(x, y, last.n, m.d[along].n, last.x, m.d[along].y, m.size);
	} while (weft_walk_next(&rest));
	return 0;
}

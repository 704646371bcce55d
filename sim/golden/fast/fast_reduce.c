/* SPDX-License-Identifier: Apache-2.0 */
/*
 * REDUCE_SUM of int32, and TABLE of int8, in straight loops. Plain loops: ../reduce.c, ../table.c
 */
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "fast.h"

/* Returns the sum of n elements modulo 2^32. */
static FAST uint32_t sum_of(const uint32_t *x, int64_t n)
{
	uint32_t sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* y[i] = the sum of x[i + k * n], k below rows, modulo 2^32, for i below n. */
static FAST void sum_rows(const uint32_t *x, int64_t rows, int64_t n, uint32_t *y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
	for (int64_t k = 1; k < rows; k++)
		for (int64_t i = 0; i < n; i++)
			y[i] += x[k * n + i];
}

int weft_fast_reduce_sum(const struct weft_call *c)
{
	const weft_tensor *t = c->x[0];
	const int axis = c->attr->axis.axis;
	const int64_t n = t->dim[axis];
	const int64_t left = weft_elements_before(t, axis), right = weft_elements_behind(t, axis);
	const uint32_t *x = t->data;
	uint32_t *y = c->y[0]->data;

	if (c->op != WEFT_OP_REDUCE_SUM || t->dtype != WEFT_INT32)
		return -ENOTSUP;
	for (int64_t l = 0; l < left; l++) {
		if (right == 1)
			y[l] = sum_of(x + l * n, n);
		else
			sum_rows(x + l * n * right, n, right, y + l * right);
	}
	return 0;
}

/* Writes y[i] = table[x[i]], all of them unsigned bytes, for i below n. */
typedef void look_up_fn(const uint8_t *x, const uint8_t table[256], int64_t n, uint8_t *y);

/* look_up_fn on any processor. */
static void look_up(const uint8_t *x, const uint8_t table[256], int64_t n, uint8_t *y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = table[x[i]];
}

#if defined(__x86_64__)

#define VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))

/* look_up_fn with AVX-512 VBMI, 64 bytes at a time: each half of the table is one instruction. */
static VBMI void look_up_vbmi(const uint8_t *x, const uint8_t table[256], int64_t n, uint8_t *y)
{
	__m512i t[4];

	for (int k = 0; k < 4; k++)
		t[k] = _mm512_loadu_si512(table + 64 * k);
	for (int64_t i = 0; i < n; i += 64) {
		const __mmask64 there = n - i >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << (n - i)) - 1;
		const __m512i v = _mm512_maskz_loadu_epi8(there, x + i);
		const __m512i lower = _mm512_permutex2var_epi8(t[0], v, t[1]), upper = _mm512_permutex2var_epi8(t[2], v, t[3]);

		_mm512_mask_storeu_epi8(y + i, there, _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), lower, upper));
	}
}
#endif

/* Returns the fastest look_up_fn that this processor has. */
static look_up_fn *fastest(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw"))
		return look_up_vbmi;
#endif
	return look_up;
}

int weft_fast_table(const struct weft_call *c)
{
	const uint8_t *table = c->x[1]->data;
	uint8_t turned[256];

	if (c->x[0]->dtype != WEFT_INT8)
		return -ENOTSUP;
	for (int i = 0; i < 256; i++)
		turned[i ^ 128] = table[i];
	fastest()(c->x[0]->data, turned, weft_tensor_elements(c->x[0]), c->y[0]->data);
	return 0;
}

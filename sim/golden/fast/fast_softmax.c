/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFL_SOFTMAX of int8 to int8 with the 256 exponentials made once. Plain loop: ../tfl/tfl_softmax.c
 */
#include "../tfl/fixed_exp.h"
#include "../tfl/tfl_softmax.h"
#include "fast.h"

#define BLOCK 512
#define FEW   1024             /* elements below which exponentials are not made for all differences */

static FAST int8_t largest(const int8_t *x, int64_t n)
{
	int8_t max = x[0];

	for (int64_t i = 1; i < n; i++)
		max = x[i] > max ? x[i] : max;
	return max;
}

/* y[i] = e[i] * reciprocal in Q0.31, shifted to 8 bits, less 128, within int8, for i below n. */
static FAST void quotients(const int32_t *e, int64_t n, int32_t reciprocal, int shift, int8_t *y)
{
	for (int64_t i = 0; i < n; i++) {
		const int32_t v = weft_shift_right(weft_mul_q31(reciprocal, e[i]), shift) + INT8_MIN;
		y[i] = (int8_t)(v < INT8_MIN ? INT8_MIN : v > INT8_MAX ? INT8_MAX : v);
	}
}

/* One row of n elements; exps: weft_softmax8_exps(). */
static void one_row(const int32_t exps[256], const int8_t *x, int8_t *y, int64_t n)
{
	const int zero = 255 - largest(x, n);          /* where the exponential of an element of 0 is */
	int32_t e[BLOCK];
	uint32_t sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += (uint32_t)weft_shift_right(exps[zero + x[i]], 12);
	const int up = sum == 0 ? 0 : __builtin_clz(sum);
	const int32_t reciprocal = weft_reciprocal_1p((int32_t)((sum << up) - 0x80000000u));
	for (int64_t i = 0; i < n; i += BLOCK) {
		const int64_t count = n - i < BLOCK ? n - i : BLOCK;

		for (int64_t k = 0; k < count; k++)
			e[k] = exps[zero + x[i + k]];
		quotients(e, count, reciprocal, (int)weft_clip(12 - up + 23, 0, 31), y + i);
	}
}

int weft_fast_tfl_softmax(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0];
	const int64_t n = x->dim[x->rank - 1], total = weft_tensor_elements(x);
	int32_t exps[256];

	if (c->y[0]->dtype != WEFT_INT8 || total < FEW || !weft_softmax8_exps(&c->attr->tfl_softmax, exps))
		return -ENOTSUP;
	for (int64_t i = 0; i < total; i += n)
		one_row(exps, (const int8_t *)x->data + i, (int8_t *)c->y[0]->data + i, n);
	return 0;
}

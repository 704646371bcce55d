/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of products of two tensors' elements, whatever float type they have.
 *
 * Both tensors are decoded once, to fp64 or to float8 operands; then the sum of
 * one output is
 *
 *	weft_sum_begin(&s);
 *	weft_sum_add(&s, i_x, i_w);    (in the operator's written order)
 *	v = weft_sum_end(&s);
 */
#ifndef WEFT_GOLDEN_FLOAT_SUM_H
#define WEFT_GOLDEN_FLOAT_SUM_H

#include "dot.h"

struct weft_sum {
	/* fp64: products of two fp16, bf16 or fp32 are exact; the sum is rounded to acc at the end; in a chain, to fp32 after each step. */
	double *x, *w;
	double sum;
	weft_dtype acc;
	bool chain;
	/* float8 */
	struct weft_fp8_operand table_x[256], table_w[256];
	const uint8_t *code_x, *code_w;   /* NULL unless float8 */
	int log2_scale;
	struct weft_fp8_sum fp8;
};

/* @return 0, -ENOMEM. End with weft_sum_free(), also on failure. */
int weft_sum_open(struct weft_sum *s, const weft_tensor *x, const weft_tensor *w, weft_dtype acc, int log2_scale);
void weft_sum_free(struct weft_sum *s);

static inline void weft_sum_begin(struct weft_sum *s)
{
	s->sum = 0;
	s->fp8 = (struct weft_fp8_sum){ 0 };
}

static inline void weft_sum_add(struct weft_sum *s, int64_t i_x, int64_t i_w)
{
	if (s->code_x)
		weft_fp8_add(&s->fp8, s->table_x[s->code_x[i_x]], s->table_w[s->code_w[i_w]], s->log2_scale);
	else if (s->chain)
		s->sum = (double)((float)s->sum + (float)s->x[i_x] * (float)s->w[i_w]);
	else
		s->sum += s->x[i_x] * s->w[i_w];
}

/* The sum in the accumulator's type. */
double weft_sum_end(const struct weft_sum *s);

/* Sum converted to y's type, plus a bias (NULL: none) in that type, into y. */
void weft_sum_store(const struct weft_sum *s, const weft_tensor *y, int64_t i_y, const weft_tensor *bias, int64_t i_bias);

#endif

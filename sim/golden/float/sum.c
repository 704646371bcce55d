/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products; see sum.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "element.h"
#include "sum.h"

/* All elements as fp64; NULL if out of memory. */
static double *load(const weft_tensor *t)
{
	const int64_t n = weft_tensor_elements(t);
	double *v = malloc((size_t)n * sizeof(*v));

	for (int64_t i = 0; v && i < n; i++)
		v[i] = weft_get_f(t, i);
	return v;
}

int weft_sum_open(struct weft_sum *s, const weft_tensor *x, const weft_tensor *w, weft_dtype acc, int log2_scale)
{
	s->x = s->w = NULL;
	s->code_x = s->code_w = NULL;
	s->acc = acc;
	s->chain = false;
	s->log2_scale = log2_scale;
	if (weft_dtype_bytes(x->dtype) == 1) {
		weft_fp8_operands(x->dtype, s->table_x);
		weft_fp8_operands(w->dtype, s->table_w);
		s->code_x = x->data;
		s->code_w = w->data;
		return 0;
	}
	s->x = load(x);
	s->w = load(w);
	return s->x && s->w ? 0 : -ENOMEM;
}

void weft_sum_free(struct weft_sum *s)
{
	free(s->x);
	free(s->w);
}

double weft_sum_end(const struct weft_sum *s)
{
	if (s->code_x) {
		uint16_t bits = weft_fp8_sum_fp16(&s->fp8);

		return weft_real_to_double(weft_real_decode(weft_float_format_of(WEFT_FP16), bits));
	}
	return weft_round_f(s->acc, s->sum);
}

void weft_sum_store(const struct weft_sum *s, const weft_tensor *y, int64_t i_y, const weft_tensor *bias, int64_t i_bias)
{
	double v = weft_round_f(y->dtype, weft_sum_end(s));

	if (bias)
		v += weft_get_f(bias, i_bias);
	weft_put_f(y, i_y, isnan(v) ? NAN : v);
}

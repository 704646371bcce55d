/* SPDX-License-Identifier: Apache-2.0 */
/* Elements as fp64; see element.h. */
#include "element.h"

static const struct weft_float_format *fp64(void)
{
	return weft_float_format_of(WEFT_FP64);
}

double weft_real_to_double(struct weft_real r)
{
	return weft_double_of_bits(weft_real_encode(fp64(), r, 0));
}

struct weft_real weft_real_of_double(double v)
{
	return weft_real_decode(fp64(), weft_bits_of_double(v));
}

double weft_get_any_f(const weft_tensor *t, int64_t i)
{
	float v;

	if (t->dtype == WEFT_FP64)
		return ((const double *)t->data)[i];
	if (t->dtype != WEFT_FP32)
		return weft_real_to_double(weft_real_decode(weft_float_format_of(t->dtype), weft_load_bits(t, i)));
	memcpy(&v, (const float *)t->data + i, sizeof(v));
	return v;
}

uint64_t weft_round_bits(weft_dtype t, double v)
{
	return weft_real_encode(weft_float_format_of(t), weft_real_of_double(v), 0);
}

double weft_round_any_f(weft_dtype t, double v)
{
	const struct weft_float_format *f = weft_float_format_of(t);

	return weft_real_to_double(weft_real_decode(f, weft_real_encode(f, weft_real_of_double(v), 0)));
}

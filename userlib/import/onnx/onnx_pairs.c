/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --requant runtime-avx2: sums of products of uint8 by int8 that saturate in pairs, as ONNX Runtime's kernels for x86-64 with AVX2 and without
 * VNNI have them (sim/golden/onnx/ort/pairs.c). Constant weights of which no pair can leave 16 bits (those of 7 bits, for example) give
 * the same sums in any form, so that they need nothing special.
 */
#include "onnx_integer.h"

#define DOMAIN "onnxruntime.avx2"

/* Says whether the options ask for saturated sums and the kernel of p has them: one for uint8 by int8, with one zero point for all of x. */
static bool asked_for(const struct ox *l, const struct ox_product *p)
{
	return l->o.saturate && p->kernel && p->x->t.dtype == WEFT_UINT8 && p->w->t.dtype == WEFT_INT8 &&
	       (!p->x_zp || weft_tensor_elements(&p->x_zp->t) == 1);
}

int64_t ox_term_most(const struct ox *l, const struct ox_product *p)
{
	const int64_t largest = ox_is_16_bit(p->x) ? 65535 * 255 : 255 * 255, cut = (2 * 255 * 128 - INT16_MAX + 1) / 2;

	return asked_for(l, p) ? largest + cut : largest;
}

/* Says whether some codes of uint8 times the weights a and b leave 16 bits. */
static bool leaves_16_bits(int a, int b)
{
	const int up = (a > 0 ? a : 0) + (b > 0 ? b : 0), down = (a < 0 ? a : 0) + (b < 0 ? b : 0);

	return 255 * up > INT16_MAX || 255 * down < INT16_MIN;
}

/*
 * Returns the data of p's weights in the file's order, NULL if they are not constant or l->work is used up, or after a failure, which
 * l->err has then.
 */
static const int8_t *constant_weights(struct ox *l, const struct ox_product *p)
{
	const int w = ox_is_const_value(l, p->w) ? ox_get(l, p->w, NULL) : -1;

	return w < 0 ? NULL : ox_t(l, w)->data;
}

int ox_matmul_saturates(struct ox *l, const struct ox_product *p)
{
	const weft_tensor *t = &p->w->t;

	if (!asked_for(l, p))
		return 0;
	const int8_t *w = constant_weights(l, p);
	if (!w)
		return l->err ? l->err : 1;
	const int64_t k = t->dim[t->rank - 2], n = t->dim[t->rank - 1];
	for (int64_t i = 0, all = weft_tensor_elements(t); i < all; i++)
		if (i / n % k % 2 == 0 && leaves_16_bits(w[i], i / n % k + 1 < k ? w[i + n] : 0))
			return 1;
	return 0;
}

int ox_conv_saturates(struct ox *l, const struct ox_product *p, int64_t group)
{
	const int64_t oc = p->w->t.dim[0], channels = p->w->t.dim[1];

	if (!asked_for(l, p) || (channels == 1 && oc == group))    /* a depthwise kernel adds exactly */
		return 0;
	const int8_t *w = constant_weights(l, p);
	if (!w)
		return l->err ? l->err : 1;
	const int64_t taps = weft_tensor_elements(&p->w->t) / oc / channels, n = taps * channels;
	for (int64_t o = 0; o < oc; o++)
		for (int64_t i = 0; i < n; i += 2) {
			const int8_t *row = w + o * n;
			const int64_t next = i + 1;
			if (leaves_16_bits(row[i % channels * taps + i / channels], next < n ? row[next % channels * taps + next / channels] : 0))
				return 1;
		}
	return 0;
}

/* Emits the host operator `name` on x, w and zero points of p, with the attributes of the node at hand. Returns the graph tensor, or a negative errno. */
static int sums(struct ox *l, const struct ox_product *p, const char *name)
{
	int in[4] = { ox_get(l, p->x, NULL), -1, -1, -1 };

	in[1] = in[0] < 0 ? in[0] : ox_get(l, p->w, NULL);
	in[2] = in[1] < 0 ? in[1] : p->x_zp ? ox_get(l, p->x_zp, NULL) : ox_ramp(l, WEFT_UINT8, 0, 0);
	in[3] = in[2] < 0 ? in[2] : p->w_zp ? ox_get(l, p->w_zp, NULL) : ox_ramp(l, WEFT_INT8, 0, 0);
	return ox_host_of(l, DOMAIN, name, in, 4);
}

int ox_matmul_in_pairs(struct ox *l, const struct ox_product *p)
{
	return sums(l, p, "MatMulInteger");
}

int ox_conv_in_pairs(struct ox *l, const struct ox_product *p)
{
	int8_t last[WEFT_MAX_RANK];

	ox_channels_last(p->x->t.rank, last);
	return ox_transpose(l, sums(l, p, "ConvInteger"), last);
}

/*
 * Lowers DynamicQuantizeLSTM to its host operator, with saturated sums if the options ask for them and weights are int8. Returns 0, or a negative
 * errno.
 */
int ox_lstm_in_pairs(struct ox *l)
{
	const struct ox_value *w = ox_in(l, 1), *r = w ? ox_in(l, 2) : NULL;

	if (!r)
		return l->err;
	if (l->o.saturate && (w->t.dtype == WEFT_INT8 || r->t.dtype == WEFT_INT8))
		return ox_host_in(l, DOMAIN);
	return ox_host(l);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of the new network: as they are, or as integers. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tflite_quantize.h"

/* Sums of int32 stay below 2^31 if a bias takes at most half of that. */
#define MOST_BIAS 1073741824.0

int qt_like(struct qt *q, int t, const char *suffix, int type)
{
	const struct tfl_tensor *f = &q->m.tensors[t];
	const size_t n = strlen(q->value[t].name), m = strlen(suffix);
	char *name = qt_alloc(q, n + m + 1);

	if (!name || qt_grow(q, &q->tensor, q->n_tensor, &q->cap_tensor, sizeof *q->tensor))
		return -ENOMEM;
	memcpy(name, q->value[t].name, n);
	memcpy(name + n, suffix, m);
	struct qt_tensor *y = &q->tensor[q->n_tensor];
	*y = (struct qt_tensor){ .name = name, .type = type, .rank = (int)f->shape.n, .signature = f->signature };
	for (int d = 0; d < y->rank; d++)
		y->dim[d] = fb_i32_at(&q->m.b, &f->shape, (uint32_t)d);
	return q->n_tensor++;
}

/*
 * Gives new tensor i n scales and n zero points along dimension `axis`, all 0 for the caller to fill
 * in. Returns 0 or -ENOMEM.
 */
static int set_scales(struct qt *q, int i, int64_t n, int axis)
{
	struct qt_tensor *y = &q->tensor[i];

	y->scale = qt_alloc(q, (size_t)n * sizeof *y->scale);
	y->zp = qt_alloc(q, (size_t)n * sizeof *y->zp);
	y->n_scale = (uint32_t)n;
	y->quant_dim = axis;
	return y->scale && y->zp ? 0 : -ENOMEM;
}

int qt_set_scale(struct qt *q, int i, float scale, int32_t zp)
{
	const int err = set_scales(q, i, 1, 0);

	if (!err) {
		q->tensor[i].scale[0] = scale;
		q->tensor[i].zp[0] = zp;
	}
	return err;
}

int qt_plain(struct qt *q, int t)
{
	const struct tfl_tensor *f = &q->m.tensors[t];
	const float *real = q->value[t].constant;
	const int i = qt_like(q, t, "", real ? TFL_FLOAT32 : f->type);

	if (i < 0)
		return i;
	q->tensor[i].data = real ? (const void *)real : f->data;
	q->tensor[i].bytes = real ? (size_t)q->value[t].n * sizeof *real : f->data_len;
	q->tensor[i].variable = f->is_variable;
	return i;
}

/*
 * Returns v / scale, rounded to whole numbers with halves away from zero, plus zp, limited to lo..hi.
 */
static int64_t in_steps(double v, double scale, int64_t zp, double lo, double hi)
{
	return (int64_t)fmin(hi, fmax(lo, round(v / scale) + (double)zp));
}

int qt_activation(struct qt *q, int t, float scale, int32_t zp)
{
	const struct qt_value *v = &q->value[t];
	const int i = qt_like(q, t, "/quantised", q->wide ? TFL_INT16 : TFL_INT8);
	uint8_t *p = i < 0 ? NULL : qt_alloc(q, (size_t)v->n * 2);

	if (!p || qt_set_scale(q, i, scale, zp))
		return -ENOMEM;
	for (int64_t k = 0; k < v->n; k++)
		if (q->wide)
			((int16_t *)(void *)p)[k] = (int16_t)in_steps((double)v->constant[k], (double)scale, 0, -32768, 32767);
		else
			p[k] = (uint8_t)in_steps((double)v->constant[k], (double)scale, zp, -128, 127);
	q->tensor[i].data = p;
	q->tensor[i].bytes = (size_t)v->n * (q->wide ? 2 : 1);
	return i;
}

/* The weights [..., channels, ...] of a product: which elements belong to a channel. */
struct layout { int64_t channels, inner; };

/* Returns the channel of element k. */
static int64_t channel_of(const struct layout *a, int64_t k)
{
	return k / a->inner % a->channels;
}

/*
 * Fills in scale[], one for each channel of weights w, all 0 before: a channel's greatest magnitude is
 * 127 steps, or fewer if its bias would else exceed MOST_BIAS steps of x_scale * scale. bias is NULL if
 * there is none; one of one element holds for all channels. A channel whose scale would be at most 1e-20
 * (zeros) has scale 1.
 */
static void find_scales(const struct qt_value *w, const struct layout *a, const struct qt_value *bias, float x_scale, float *scale)
{
	for (int64_t k = 0; k < w->n; k++) {
		float *s = &scale[channel_of(a, k)];
		*s = fmaxf(*s, fabsf(w->constant[k]) / 127);
	}
	for (int64_t c = 0; c < a->channels; c++) {
		if (bias)
			scale[c] = fmaxf(scale[c], (float)(fabs((double)bias->constant[bias->n > 1 ? c : 0]) / ((double)x_scale * MOST_BIAS)));
		if (!(scale[c] > 1e-20f))
			scale[c] = 1;
	}
}

/*
 * Adds the bias, constant t of the file, of a product whose input has scale x_scale and whose weights
 * have w_scale[], one for each of `channels` (with one channel, it holds for all elements). Element c has
 * the scale x_scale * w_scale[c]; it is an int32, or with int16 activations an int64 of at most 40 bits,
 * rounded and limited. Returns its index, or -ENOMEM.
 */
static int add_bias(struct qt *q, int t, const float *w_scale, int64_t channels, float x_scale)
{
	const struct qt_value *v = &q->value[t];
	const int i = qt_like(q, t, "/quantised", q->wide ? TFL_INT64 : TFL_INT32);
	int64_t *wide = i < 0 ? NULL : qt_alloc(q, (size_t)v->n * sizeof *wide);

	if (!wide || set_scales(q, i, v->n, 0))
		return -ENOMEM;
	int32_t *narrow = (int32_t *)(void *)wide;
	for (int64_t c = 0; c < v->n; c++) {
		const float s = x_scale * w_scale[channels > 1 ? c : 0];
		q->tensor[i].scale[c] = s;
		if (q->wide)
			wide[c] = in_steps((double)v->constant[c], (double)s, 0, -549755813888.0, 549755813887.0);
		else
			narrow[c] = (int32_t)in_steps((double)v->constant[c], (double)s, 0, -2147483648.0, 2147483647.0);
	}
	q->tensor[i].data = wide;
	q->tensor[i].bytes = (size_t)v->n * (q->wide ? 8 : 4);
	return i;
}

int qt_product(struct qt *q, const struct tfl_op *o, const struct qt_rule *r, float x_scale, int *weights, int *bias)
{
	const int t = qt_operand(q, o, r->weights), b = qt_operand(q, o, r->bias);
	const struct qt_value *w = &q->value[t];
	const int i = qt_like(q, t, "/quantised", TFL_INT8);
	struct layout a = { 1, 1 };

	*weights = i;
	*bias = -1;
	if (i < 0)
		return i;
	if (r->axis >= q->tensor[i].rank)
		return qt_fail(q, -EINVAL, "weights \"%.60s\" have rank %d", w->name, q->tensor[i].rank);
	a.channels = q->tensor[i].dim[r->axis];
	for (int d = r->axis + 1; d < q->tensor[i].rank; d++)
		a.inner *= q->tensor[i].dim[d];
	if (b >= 0 && q->value[b].n != a.channels)
		return qt_fail(q, -EINVAL, "bias \"%.60s\" has %lld elements, the weights %lld channels", q->value[b].name,
		               (long long)q->value[b].n, (long long)a.channels);
	int8_t *p = qt_alloc(q, (size_t)w->n);
	if (!p || set_scales(q, i, a.channels, r->axis))
		return -ENOMEM;
	float *scale = q->tensor[i].scale;
	find_scales(w, &a, b < 0 ? NULL : &q->value[b], x_scale, scale);
	for (int64_t k = 0; k < w->n; k++)
		p[k] = (int8_t)in_steps((double)w->constant[k], (double)scale[channel_of(&a, k)], 0, -127, 127);
	q->tensor[i].data = p;
	q->tensor[i].bytes = (size_t)w->n;
	*bias = b < 0 ? -1 : add_bias(q, b, scale, a.channels, x_scale);
	return b >= 0 && *bias < 0 ? *bias : 0;
}

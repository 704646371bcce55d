/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integer Softmax, ITA's Softmax and LayerNorm of quantlib's and Deeploy's
 * networks (domain PACTOps), over the last axis; int32 throughout.
 *
 * SOFTMAX (I-BERT's exponential): with d the difference to the row's maximum,
 * z = -d / log2 rounded down, p = d + z * log2 in (-log2, 0],
 *   e = (a * (p + b)^2 + c) >> z,   y = e * (n_levels - 1) / sum of e, rounded down.
 * a, b, log2 <= 2^15, c <= 2^46, n_levels <= 2^15: e <= 2^15 * 2^30 + 2^46, its
 * product below 2^62; a row of 2^15 elements sums below 2^62. At the maximum e is a * b^2 + c, above 0.
 *
 * ITA_MAX: powers of two of differences in steps of 32, half up. The row is read
 * in groups; a group with a greater maximum shifts down what is summed so far:
 *   sum = (sum >> half_up((new - old) / 32)) + sum over the group of 256 >> half_up((new - x) / 32)
 *   y = (most * 256 / sum) >> half_up((max - x) / 32)
 * A maximum adds 256, and is not shifted without another: sum >= 256. most is 255
 * for ITAMax, whose row is one group, 127 for ITAPartialMax.
 *
 * LAYER_NORM: m = mean of x, cut to an integer; d = x - m;
 *   s = floor(sqrt(floor(mean of d^2) + 1)),
 *   y = clip((d * weight / s, cut to an integer, + bias) >> shift).
 * |x| <= 2^20 is demanded: 2^20 squares of 2^42 fit.
 *
 * Sources: the forward() functions of quantlib's PACTIntegerSoftmax and
 * PACTIntegerLayerNorm; Deeploy's generic kernels ITAMax_s8 and ITAPartialMax_s8,
 * whose zero point 128 the tensors of the .onnx files do not have.
 */
#include <math.h>

#include "ops.h"

#define MOST_X ((int64_t)1 << 20)

static int check_types(const struct weft_call *c)
{
	for (int k = 0; k < c->n_x; k++)
		if (c->x[k]->dtype != WEFT_INT32 || c->y[0]->dtype != WEFT_INT32)
			return weft_call_fail(c, -EINVAL, "types are not int32");
	if (c->x[0]->rank < 1)
		return weft_call_fail(c, -EINVAL, "rank 0 has no last axis");
	return weft_check_same(c, false);
}

static int64_t last_dim(const weft_tensor *t)
{
	return t->dim[t->rank - 1];
}

static int32_t most_of(const int32_t *x, int64_t n)
{
	int32_t top = x[0];

	for (int64_t i = 1; i < n; i++)
		top = x[i] > top ? x[i] : top;
	return top;
}

/* ---- Softmax ---- */

static int64_t exponential(const struct weft_attr_pact_softmax *a, int64_t d)
{
	const int64_t z = -d / a->log2, p = d + z * a->log2 + a->b;

	return z > 62 ? 0 : (a->a * p * p + a->c) >> z;
}

int weft_golden_pact_softmax(const struct weft_call *c)
{
	const struct weft_attr_pact_softmax *a = &c->attr->pact_softmax;
	const int32_t *x = c->x[0]->data, most = 1 << 15;
	int32_t *y = c->y[0]->data;
	int err = check_types(c);

	if (err)
		return err;
	const int64_t n = last_dim(c->x[0]), total = weft_tensor_elements(c->x[0]);
	if (a->a < 1 || a->a > most || a->b < 1 || a->b > most || a->log2 < 1 || a->log2 > most || a->c < 0 ||
	    a->c > (int64_t)1 << 46 || a->n_levels < 2 || a->n_levels > most || n > most)
		return weft_call_fail(c, -EINVAL, "a %d, b %d, c %lld, log2 %d, %d levels, %lld elements a row", a->a, a->b,
		                      (long long)a->c, a->log2, a->n_levels, (long long)n);
	for (int64_t r = 0; r < total; r += n) {
		const int64_t top = most_of(x + r, n);
		int64_t sum = 0;

		for (int64_t i = r; i < r + n; i++)
			sum += exponential(a, x[i] - top);
		for (int64_t i = r; i < r + n; i++)
			y[i] = (int32_t)(exponential(a, x[i] - top) * (a->n_levels - 1) / sum);
	}
	return 0;
}

/* ---- ITA's Softmax ---- */

/* d / 32, half up, at most 31; d >= 0. */
static int steps(int64_t d)
{
	return d >= 31 * 32 ? 31 : (int)((d + 16) >> 5);
}

static void ita_row(const int32_t *x, int32_t *y, int64_t n, int64_t group, int32_t most)
{
	int32_t top = x[0];
	int64_t sum = 0;

	for (int64_t g = 0; g < n; g += group) {
		const int32_t here = most_of(x + g, group), old = top;

		top = here > top ? here : top;
		sum >>= steps((int64_t)top - old);
		for (int64_t i = g; i < g + group; i++)
			sum += 256 >> steps((int64_t)top - x[i]);
	}
	for (int64_t i = 0; i < n; i++)
		y[i] = (int32_t)(most * 256 / sum) >> steps((int64_t)top - x[i]);
}

int weft_golden_pact_ita_max(const struct weft_call *c)
{
	int err = check_types(c);

	if (err)
		return err;
	const int64_t n = last_dim(c->x[0]), total = weft_tensor_elements(c->x[0]), group = c->attr->pact_ita_max.group;
	const int32_t most = c->attr->pact_ita_max.most;
	if (group < 1 || n % group || most < 1 || most > 255)
		return weft_call_fail(c, -EINVAL, "groups of %lld in a row of %lld, up to %d", (long long)group, (long long)n, most);
	for (int64_t r = 0; r < total; r += n)
		ita_row((const int32_t *)c->x[0]->data + r, (int32_t *)c->y[0]->data + r, n, group, most);
	return 0;
}

/* ---- LayerNorm ---- */

/* Root of v, 1..2^42 + 1, rounded down: a double has v, and the rounded root is off by 1 at most. */
static int64_t root(int64_t v)
{
	const int64_t r = (int64_t)sqrt((double)v);

	return r * r > v ? r - 1 : r;
}

static void norm_row(const struct weft_call *c, int64_t at, int64_t n)
{
	const struct weft_attr_requant_shift *a = &c->attr->requant_shift;
	const int32_t *x = (const int32_t *)c->x[0]->data + at, *w = c->x[1]->data, *b = c->x[2]->data;
	const bool w_each = last_dim(c->x[1]) > 1, b_each = last_dim(c->x[2]) > 1;
	int64_t sum = 0, squares = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i];
	const int64_t mean = sum / n;
	for (int64_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	const int64_t deviation = root(squares / n + 1);
	for (int64_t i = 0; i < n; i++) {
		const int64_t v = (x[i] - mean) * w[w_each ? i : 0] / deviation + b[b_each ? i : 0];

		weft_put(c->y[0], at + i, weft_clip(v >> a->shift, a->min, a->max));
	}
}

int weft_golden_pact_layer_norm(const struct weft_call *c)
{
	const struct weft_attr_requant_shift *a = &c->attr->requant_shift;
	const int32_t *x = c->x[0]->data;
	int err = check_types(c);

	if (err)
		return err;
	const int64_t n = last_dim(c->x[0]), total = weft_tensor_elements(c->x[0]);
	for (int k = 1; k < 3; k++) {
		if ((err = weft_check_rank(c, "weight or bias", c->x[k], 1)))
			return err;
		if (c->x[k]->dim[0] != n && c->x[k]->dim[0] != 1)
			return weft_call_fail(c, -EINVAL, "operand %d has %lld elements, a row %lld", k, (long long)c->x[k]->dim[0],
			                      (long long)n);
	}
	if (a->shift < 0 || a->shift > 62 || a->min > a->max || n > MOST_X)
		return weft_call_fail(c, -EINVAL, "shift %d, limits %d to %d, %lld elements a row", a->shift, a->min, a->max,
		                      (long long)n);
	for (int64_t i = 0; i < total; i++)
		if (x[i] < -MOST_X || x[i] > MOST_X)
			return weft_call_fail(c, -EINVAL, "element %lld is %d, beyond 2^20", (long long)i, x[i]);
	for (int64_t r = 0; r < total; r += n)
		norm_row(c, r, n);
	return 0;
}

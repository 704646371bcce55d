/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations: mean and variance in double, every result rounded once. */
#include "sim/golden/onnx/ref/ref.h"

/* Mean and variance of n elements, `step` apart. */
static void moments(const weft_tensor *x, int64_t base, int64_t step, int64_t n, double *mean, double *variance)
{
	double s = 0, q = 0;

	for (int64_t i = 0; i < n; i++)
		s += ref_f(x, base + i * step);
	*mean = s / (double)n;
	for (int64_t i = 0; i < n; i++) {
		const double d = ref_f(x, base + i * step) - *mean;
		q += d * d;
	}
	*variance = q / (double)n;
}

/* Element i of a factor that broadcasts to x, or a number if there is none. */
static double factor(const struct ref *r, int k, const weft_tensor *x, int64_t i, double otherwise)
{
	const weft_tensor *t = k < r->n_x ? r->x[k] : NULL;
	int64_t at[WEFT_MAX_RANK];

	if (!t)
		return otherwise;
	ref_split(i, x->rank, x->dim, at);
	return ref_f(t, ref_at(t, x->rank, at));
}

static int statistics(struct ref *r, int k, const weft_tensor *x, int axis)
{
	weft_tensor y = *x;

	for (int d = axis; d < x->rank; d++)
		y.dim[d] = 1;
	y.dtype = x->dtype == WEFT_FP64 ? WEFT_FP64 : WEFT_FP32;
	return ref_y_like(r, k, &y);
}

int ref_layer_norm(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int axis = ref_axis(r, r->a->i[0], x->rank);
	int err = axis < 0 ? axis : ref_y_like(r, 0, x);

	for (int k = 1; k < 3 && !err; k++) {
		err = statistics(r, k, x, axis);
		err = err ? err : ref_fits(r, k, x);
	}
	if (err || r->shapes)
		return err;
	const int64_t outer = ref_outer(x, axis), n = outer ? REF_N(x) / outer : 0;
	for (int64_t o = 0; o < outer; o++) {
		double mean, variance;
		moments(x, o * n, 1, n, &mean, &variance);
		const double inverse = 1 / sqrt(variance + (double)r->a->f[0]);
		for (int64_t i = 0; i < n; i++)
			ref_put_f(r->y[0], o * n + i, (ref_f(x, o * n + i) - mean) * inverse * factor(r, 1, x, o * n + i, 1) + factor(r, 2, x, o * n + i, 0));
		if (r->n_y > 1)
			ref_put_f(r->y[1], o, mean);
		if (r->n_y > 2)
			ref_put_f(r->y[2], o, inverse);
	}
	return 0;
}

int ref_rms_norm(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int axis = ref_axis(r, r->a->i[0], x->rank);
	int err = axis < 0 ? axis : ref_y(r, 0, *r->name == 'S' ? x->dtype : r->x[1]->dtype, x->rank, x->dim);

	err = err ? err : statistics(r, 1, x, axis < 0 ? 0 : axis);
	err = err ? err : ref_fits(r, 1, x);
	if (err || r->shapes)
		return err;
	const int64_t outer = ref_outer(x, axis), n = outer ? REF_N(x) / outer : 0;
	for (int64_t o = 0; o < outer; o++) {
		double q = 0;
		for (int64_t i = 0; i < n; i++)
			q += ref_f(x, o * n + i) * ref_f(x, o * n + i);
		const double inverse = 1 / sqrt(q / (double)n + (double)r->a->f[0]);
		for (int64_t i = 0; i < n; i++)
			ref_put_f(r->y[0], o * n + i, ref_f(x, o * n + i) * inverse * factor(r, 1, x, o * n + i, 1));
		if (r->n_y > 1)
			ref_put_f(r->y[1], o, inverse);
	}
	return 0;
}

/*
 * com.microsoft: x + skip (+ bias), then LayerNormalization or, "simplified",
 * RMSNormalization of the last axis. Results: y, mean, inverse deviation, the sum.
 */
int ref_skip_layer_norm(struct ref *r)
{
	const weft_tensor *x = r->x[0], *skip = r->x[1];
	const bool simple = strstr(r->name, "Simplified") != NULL;
	const int i_bias = simple ? 3 : 4;
	int err = x->rank < 2 ? ref_fail(r, -EINVAL, "rank %d", x->rank) : ref_y_like(r, 0, x);

	for (int k = 1; k < 3 && !err; k++)
		err = statistics(r, k, x, x->rank - 1);
	for (int k = 1; k < 5 && !err; k++)
		err = ref_fits(r, k, x);
	err = err ? err : ref_y_like(r, 3, x);
	if (err || r->shapes)
		return err;
	const int64_t n = x->dim[x->rank - 1], skips = REF_N(skip);
	for (int64_t o = 0, outer = n ? REF_N(x) / n : 0; o < outer; o++) {
		double s = 0, q = 0;
		for (int64_t i = 0; i < n; i++) {
			const int64_t at = o * n + i;
			const double v = ref_round(x->dtype, ref_f(x, at) + ref_f(skip, at % skips) + factor(r, i_bias, x, at, 0));
			ref_put_f(r->y[r->n_y > 3 ? 3 : 0], at, v);
			s += v;
			q += v * v;
		}
		const double mean = simple ? 0 : s / (double)n, inverse = 1 / sqrt(q / (double)n - mean * mean + (double)r->a->f[0]);
		for (int64_t i = 0; i < n; i++) {
			const int64_t at = o * n + i;
			ref_put_f(r->y[0], at, (ref_f(r->y[r->n_y > 3 ? 3 : 0], at) - mean) * inverse * factor(r, 2, x, at, 1) + (simple ? 0 : factor(r, 3, x, at, 0)));
		}
		if (r->n_y > 1)
			ref_put_f(r->y[1], o, mean);
		if (r->n_y > 2)
			ref_put_f(r->y[2], o, inverse);
	}
	return 0;
}

/* Mean and variance of channel c over batch and image. */
static void channel_moments(const weft_tensor *x, int64_t c, double *mean, double *variance)
{
	const int64_t inner = ref_inner(x, 1), n = x->dim[0] * inner;
	double s = 0, q = 0;

	for (int64_t i = 0; i < n; i++)
		s += ref_f(x, (i / inner * x->dim[1] + c) * inner + i % inner);
	*mean = s / (double)n;
	for (int64_t i = 0; i < n; i++) {
		const double d = ref_f(x, (i / inner * x->dim[1] + c) * inner + i % inner) - *mean;
		q += d * d;
	}
	*variance = q / (double)n;
}

int ref_batch_norm(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool train = r->a->i[0];
	const double epsilon = (double)r->a->f[0], momentum = (double)r->a->f[1];
	int err = x->rank < 2 ? ref_fail(r, -EINVAL, "rank %d", x->rank) : ref_y_like(r, 0, x);

	for (int k = 1; k < 5 && !err; k++)
		err = ref_count(r, k, x->dim[1], false);
	for (int k = 1; k < 3 && !err; k++)
		err = ref_y_like(r, k, r->x[k + 2]);
	if (err || r->shapes)
		return err;
	const int64_t inner = ref_inner(x, 1);
	for (int64_t c = 0; c < x->dim[1]; c++) {
		double mean = ref_f(r->x[3], c), variance = ref_f(r->x[4], c);
		const double old_mean = mean, old_variance = variance;
		if (train)
			channel_moments(x, c, &mean, &variance);
		for (int64_t i = 0; i < x->dim[0] * inner; i++) {
			const int64_t at = (i / inner * x->dim[1] + c) * inner + i % inner;
			ref_put_f(r->y[0], at, (ref_f(x, at) - mean) / sqrt(variance + epsilon) * ref_f(r->x[1], c) + ref_f(r->x[2], c));
		}
		if (r->n_y > 1)
			ref_put_f(r->y[1], c, old_mean * momentum + mean * (1 - momentum));
		if (r->n_y > 2)
			ref_put_f(r->y[2], c, old_variance * momentum + variance * (1 - momentum));
	}
	return 0;
}

/* InstanceNormalization: each channel; GroupNormalization: groups, before opset 21 with a factor for each of them. */
int ref_group_norm(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const bool by_group = *r->name == 'G';
	const int64_t groups = by_group ? r->a->i[0] : x->rank > 1 ? x->dim[1] : 0;
	int err = x->rank < 2 || groups < 1 || x->dim[1] % groups ? ref_fail(r, -EINVAL, "%lld groups", (long long)groups) : ref_y_like(r, 0, x);

	for (int k = 1; k < 3 && !err; k++)
		err = ref_count(r, k, by_group && r->a->opset < 21 ? groups : x->dim[1], false);
	if (err || r->shapes)
		return err;
	const int64_t inner = ref_inner(x, 1), each = x->dim[1] / groups, n = each * inner;
	for (int64_t g = 0; g < x->dim[0] * groups; g++) {
		double mean, variance;
		moments(x, g * n, 1, n, &mean, &variance);
		for (int64_t i = 0; i < n; i++) {
			const int64_t c = by_group && r->a->opset < 21 ? g % groups : g % groups * each + i / inner;
			ref_put_f(r->y[0], g * n + i, (ref_f(x, g * n + i) - mean) / sqrt(variance + (double)r->a->f[0]) * ref_f(r->x[1], c) + ref_f(r->x[2], c));
		}
	}
	return 0;
}

int ref_mean_variance(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int64_t axes[WEFT_ONNX_LIST] = { 0, 2, 3 }, at[WEFT_MAX_RANK], with[WEFT_MAX_RANK];
	int n = r->a->i[0] < 0 ? 3 : ref_list(r, 0, -1, WEFT_ONNX_LIST, axes), err = ref_y_like(r, 0, x);
	unsigned set = 0;

	for (int i = 0; i < n && !err; i++) {
		const int axis = ref_axis(r, axes[i], x->rank);
		err = axis < 0 ? axis : 0;
		set |= axis < 0 ? 0 : 1u << axis;
	}
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, all = REF_N(x); i < all; i++) {
		double s = 0, q = 0;
		int64_t count = 0;
		ref_split(i, x->rank, x->dim, at);
		for (int64_t k = 0; k < all; k++) {
			bool same = true;
			ref_split(k, x->rank, x->dim, with);
			for (int d = 0; d < x->rank; d++)
				same = same && (set >> d & 1 || at[d] == with[d]);
			if (!same)
				continue;
			count++;
			s += ref_f(x, k);
			q += ref_f(x, k) * ref_f(x, k);
		}
		const double mean = s / (double)count, deviation = sqrt(q / (double)count - mean * mean);
		ref_put_f(r->y[0], i, (ref_f(x, i) - mean) / (deviation + 1e-9));
	}
	return 0;
}

int ref_lp_norm(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	const int axis = ref_axis(r, r->a->i[0], x->rank), p = r->a->i[1];
	int err = axis < 0 ? axis : p != 1 && p != 2 ? ref_fail(r, -EINVAL, "p %d", p) : ref_y_like(r, 0, x);

	if (err || r->shapes)
		return err;
	const int64_t inner = ref_inner(x, axis), n = x->dim[axis];
	for (int64_t line = 0, lines = n ? REF_N(x) / n : 0; line < lines; line++) {
		const int64_t base = line / inner * n * inner + line % inner;
		double s = 0;
		for (int64_t i = 0; i < n; i++)
			s += p == 1 ? fabs(ref_f(x, base + i * inner)) : ref_f(x, base + i * inner) * ref_f(x, base + i * inner);
		s = p == 1 ? s : sqrt(s);
		for (int64_t i = 0; i < n; i++)
			ref_put_f(r->y[0], base + i * inner, s != 0 ? ref_f(x, base + i * inner) / s : 0);
	}
	return 0;
}

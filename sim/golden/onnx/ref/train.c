/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of optimisers (ai.onnx.preview.training): rate, step count, then n values, n
 * gradients and n tensors of each kind of state; results: n values, then the states.
 */
#include "sim/golden/onnx/ref/ref.h"

/* Operand of group g of item i, n items; and the result that takes it. */
static const weft_tensor *item(const struct ref *r, int n, int g, int i)
{
	return r->x[2 + g * n + i];
}

static int shapes(struct ref *r, int groups, int *n)
{
	int err = ref_count(r, 0, 1, true);

	err = err ? err : ref_count(r, 1, 1, true);
	*n = (r->n_x - 2) / groups;
	if (r->n_x != 2 + groups * *n || *n < 1)
		return ref_fail(r, -EINVAL, "%d inputs", r->n_x);
	if (r->n_y < *n)
		return ref_fail(r, -EINVAL, "%d results for %d values", r->n_y, *n);
	for (int g = 0; g < groups; g++)
		for (int i = 0; i < *n && !err; i++) {
			err = ref_need(r, 2 + g * *n + i);
			if (!err && REF_N(item(r, *n, g, i)) != REF_N(item(r, *n, 0, i)))
				err = ref_fail(r, -EINVAL, "input %d does not fit", 2 + g * *n + i);
			if (!err && g != 1)
				err = ref_y_like(r, (g ? g - 1 : 0) * *n + i, item(r, *n, 0, i));
		}
	return err;
}

int ref_adagrad(struct ref *r)
{
	int n, err = shapes(r, 3, &n);
	const double decay = (double)r->a->f[0], epsilon = (double)r->a->f[1], norm = (double)r->a->f[2];

	for (int i = 0; i < n && !err && !r->shapes; i++)
		for (int64_t e = 0, all = REF_N(item(r, n, 0, i)); e < all; e++) {
			const double rate = ref_f(r->x[0], 0) / (1 + ref_f(r->x[1], 0) * decay), v = ref_f(item(r, n, 0, i), e);
			const double g = norm * v + ref_f(item(r, n, 1, i), e), h = ref_f(item(r, n, 2, i), e) + g * g;
			ref_put_f(r->y[i], e, v - rate * g / (sqrt(h) + epsilon));
			if (n + i < r->n_y)
				ref_put_f(r->y[n + i], e, h);
		}
	return err;
}

int ref_adam(struct ref *r)
{
	int n, err = shapes(r, 4, &n);
	const double alpha = (double)r->a->f[0], beta = (double)r->a->f[1], epsilon = (double)r->a->f[2];

	for (int i = 0; i < n && !err && !r->shapes; i++)
		for (int64_t e = 0, all = REF_N(item(r, n, 0, i)); e < all; e++) {
			const double t = ref_f(r->x[1], 0), v = ref_f(item(r, n, 0, i), e), g = (double)r->a->f[3] * v + ref_f(item(r, n, 1, i), e);
			const double m = alpha * ref_f(item(r, n, 2, i), e) + (1 - alpha) * g, h = beta * ref_f(item(r, n, 3, i), e) + (1 - beta) * g * g;
			const double rate = ref_f(r->x[0], 0) * (t > 0 ? sqrt(1 - pow(beta, t)) / (1 - pow(alpha, t)) : 1);
			ref_put_f(r->y[i], e, (1 - (double)r->a->f[4]) * (v - rate * m / (sqrt(h) + epsilon)));
			if (n + i < r->n_y)
				ref_put_f(r->y[n + i], e, m);
			if (2 * n + i < r->n_y)
				ref_put_f(r->y[2 * n + i], e, h);
		}
	return err;
}

int ref_momentum(struct ref *r)
{
	int n, err = shapes(r, 3, &n);
	const double alpha = (double)r->a->f[0], beta = (double)r->a->f[1], norm = (double)r->a->f[2];

	for (int i = 0; i < n && !err && !r->shapes; i++)
		for (int64_t e = 0, all = REF_N(item(r, n, 0, i)); e < all; e++) {
			const double v = ref_f(item(r, n, 0, i), e), g = norm * v + ref_f(item(r, n, 1, i), e);
			const double m = alpha * ref_f(item(r, n, 2, i), e) + (ref_f(r->x[1], 0) > 0 ? beta : 1) * g;
			ref_put_f(r->y[i], e, v - ref_f(r->x[0], 0) * (r->a->i[0] ? g + alpha * m : m));
			if (n + i < r->n_y)
				ref_put_f(r->y[n + i], e, m);
		}
	return err;
}

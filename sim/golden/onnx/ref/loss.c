/* SPDX-License-Identifier: Apache-2.0 */
/* Losses over scores [N,C,...] and classes [N,...]: sums in double. */
#include <stdlib.h>

#include "sim/golden/onnx/ref/ref.h"

enum { REDUCTION, IGNORE };
enum { MEAN, SUM, NONE };

/* p: logarithms of probabilities, as x lies. */
static int loss(struct ref *r, const double *p)
{
	const weft_tensor *x = r->x[0], *target = r->x[1], *weight = r->n_x > 2 ? r->x[2] : NULL;
	const int64_t c = x->dim[1], inner = ref_inner(x, 1), n = REF_N(target);
	double sum = 0, weights = 0;

	for (int64_t i = 0; i < n; i++) {
		const int64_t class = ref_i(target, i);
		double v = 0, w = 0;
		if (class != r->a->i[IGNORE] || r->a->i[IGNORE] == WEFT_ONNX_ABSENT) {
			if (class < 0 || class >= c)
				return ref_fail(r, -EINVAL, "class %lld of %lld", (long long)class, (long long)c);
			w = weight ? ref_f(weight, class) : 1;
			v = -p[(i / inner * c + class) * inner + i % inner] * w;
		}
		if (r->a->i[REDUCTION] == NONE)
			ref_put_f(r->y[0], i, v);
		sum += v;
		weights += w;
	}
	if (r->a->i[REDUCTION] != NONE)
		ref_put_f(r->y[0], 0, r->a->i[REDUCTION] == MEAN ? sum / weights : sum);
	return 0;
}

static int shapes(struct ref *r)
{
	const weft_tensor *x = r->x[0], *target = r->x[1];

	if (x->rank < 2 || target->rank != x->rank - 1 || REF_N(target) * x->dim[1] != REF_N(x))
		return ref_fail(r, -EINVAL, "scores and classes do not fit");
	if (ref_count(r, 2, x->dim[1], false))
		return -EINVAL;
	return ref_y(r, 0, x->dtype, r->a->i[REDUCTION] == NONE ? target->rank : 0, target->dim);
}

static void log_softmax(const weft_tensor *x, double *p)
{
	const int64_t c = x->dim[1], inner = ref_inner(x, 1);

	for (int64_t i = 0; c && i < REF_N(x) / c; i++) {
		const int64_t base = i / inner * c * inner + i % inner;
		double top = -INFINITY, sum = 0;
		for (int64_t k = 0; k < c; k++)
			top = fmax(top, ref_f(x, base + k * inner));
		for (int64_t k = 0; k < c; k++)
			sum += exp(ref_f(x, base + k * inner) - top);
		for (int64_t k = 0; k < c; k++)
			p[base + k * inner] = ref_f(x, base + k * inner) - top - log(sum);
	}
}

static int compute(struct ref *r, bool softmax)
{
	const weft_tensor *x = r->x[0];
	double *p = ref_alloc(r, REF_N(x), sizeof *p);

	if (!p)
		return -ENOMEM;
	for (int64_t i = 0; i < REF_N(x); i++)
		p[i] = ref_f(x, i);
	if (softmax)
		log_softmax(x, p);
	int err = loss(r, p);
	for (int64_t i = 0; r->n_y > 1 && i < REF_N(x); i++)
		ref_put_f(r->y[1], i, p[i]);
	free(p);
	return err;
}

int ref_nll_loss(struct ref *r)
{
	int err = shapes(r);

	return err || r->shapes ? err : compute(r, false);
}

/* The second result is the logarithm of the probabilities. */
int ref_softmax_loss(struct ref *r)
{
	int err = shapes(r);

	err = err ? err : ref_y_like(r, 1, r->x[0]);
	return err || r->shapes ? err : compute(r, true);
}

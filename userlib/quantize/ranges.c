/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which values the float network's tensors take over the samples: the least and the greatest,
 * and for percentiles a histogram between them in a second pass.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../run/golden_exec.h"
#include "quantize.h"

/*
 * Finds, for each value of the model that is not constant, the fp32 tensor of the graph that holds it,
 * by its name.
 */
static void find_tensors(struct qz *z)
{
	for (int i = 0; i < z->g->n_tensors; i++) {
		struct qz_value *v = qz_value(z, z->g->tensors[i].name);

		if (v && v->init < 0 && z->g->tensors[i].t.dtype == WEFT_FP32)
			v->tensor = i;
	}
}

/* Widens a value's min and max by the finite elements of t, and sets `seen` if there is one. */
static void take_limits(struct qz_value *v, const weft_tensor *t)
{
	const float *p = t->data;

	for (int64_t i = 0, n = weft_tensor_elements(t); i < n; i++) {
		if (!isfinite(p[i]))
			continue;
		v->min = v->seen ? fmin(v->min, (double)p[i]) : (double)p[i];
		v->max = v->seen ? fmax(v->max, (double)p[i]) : (double)p[i];
		v->seen = true;
	}
}

/* Counts the finite elements of t in the value's histogram; nothing if min and max are equal. */
static void take_bins(struct qz_value *v, const weft_tensor *t)
{
	const float *p = t->data;
	double step = (v->max - v->min) / QZ_BINS;

	for (int64_t i = 0, n = weft_tensor_elements(t); step > 0 && i < n; i++) {
		if (!isfinite(p[i]))
			continue;
		int b = (int)(((double)p[i] - v->min) / step);
		v->bins[b < 0 ? 0 : b >= QZ_BINS ? QZ_BINS - 1 : b]++;
	}
}

/*
 * Checks that a sample's float inputs are finite, since NaN or infinity would leave no range. Returns
 * 0, or -EINVAL with one line in the message that names sample, element and input.
 */
static int check_sample(struct qz *z, const weft_tensor *inputs, int i_sample)
{
	for (int i = 0; i < z->g->n_inputs; i++) {
		const float *p = inputs[i].data;

		for (int64_t k = 0, n = inputs[i].dtype == WEFT_FP32 ? weft_tensor_elements(&inputs[i]) : 0; k < n; k++)
			if (!isfinite(p[k]))
				return qz_fail(z, -EINVAL, "sample %d: element %lld of input \"%.60s\" is %g; finite numbers calibrate", i_sample, (long long)k,
				               z->g->tensors[z->g->inputs[i]].name, (double)p[k]);
	}
	return 0;
}

/*
 * Runs the float network on golden for one sample and takes the limits of all values or, with bins,
 * adds them to the histograms. Returns 0 or a negative errno with one line in the message.
 */
static int one_sample(struct qz *z, const weft_tensor *inputs, bool bins)
{
	weft_tensor *all = calloc((size_t)z->g->n_tensors + 1, sizeof *all);
	int err = all ? weft_golden_exec(z->g, inputs, all, true, z->msg) : qz_fail(z, -ENOMEM, "out of memory");

	for (int i = 0; i < z->n_value && !err; i++) {
		struct qz_value *v = &z->value[i];

		if (v->tensor < 0)
			continue;
		if (bins)
			take_bins(v, &all[v->tensor]);
		else
			take_limits(v, &all[v->tensor]);
	}
	if (all)
		weft_golden_release(z->g, all);
	free(all);
	return err;
}

/*
 * Asks for all samples in order, runs each (one_sample) and frees its inputs. Returns how many there
 * were, or the negative errno of a sample that failed, with one line in the message.
 */
static int pass(struct qz *z, bool bins)
{
	const int n = z->g->n_inputs;
	weft_tensor *in = calloc((size_t)n + 1, sizeof *in);
	int count = 0, more = in ? 1 : qz_fail(z, -ENOMEM, "out of memory");

	while (more > 0) {
		for (int i = 0; i < n; i++) {
			in[i] = z->g->tensors[z->g->inputs[i]].t;
			in[i].data = NULL;
		}
		more = z->o->sample(z->o->user, count, in, n, z->msg);
		if (more > 0) {
			int err = check_sample(z, in, count);

			err = err ? err : one_sample(z, in, bins);
			count++;
			more = err ? err : more;
		}
		for (int i = 0; i < n; i++)
			weft_tensor_release(&in[i]);
	}
	free(in);
	return more < 0 ? more : count;
}

/*
 * Returns, by its histogram, the number below which the share p of a value's elements lies: the lower
 * edge of the bin in which that is reached for p up to 0.5, otherwise its upper edge.
 */
static double quantile(const struct qz_value *v, double p)
{
	uint64_t total = 0, below = 0;

	for (int i = 0; i < QZ_BINS; i++)
		total += v->bins[i];
	for (int i = 0; i < QZ_BINS; i++) {
		below += v->bins[i];
		if ((double)below >= p * (double)total)
			return v->min + (v->max - v->min) * (i + (p > 0.5 ? 1 : 0)) / QZ_BINS;
	}
	return v->max;
}

/*
 * Finds the range lo..hi of every value over all samples. With a percentile below 100 a second pass
 * over the samples cuts off, at each end, the share of the elements that lies outside. Returns 0,
 * -EINVAL if there are no samples, or another negative errno, with one line in the message.
 */
int qz_ranges(struct qz *z)
{
	find_tensors(z);
	int n = pass(z, false);
	if (n <= 0)
		return n ? n : qz_fail(z, -EINVAL, "there are no samples to calibrate with");
	bool cut = z->o->percentile > 0 && z->o->percentile < 100;
	for (int i = 0; i < z->n_value; i++) {
		struct qz_value *v = &z->value[i];

		v->lo = v->min;
		v->hi = v->max;
		if (cut && v->tensor >= 0 && !(v->bins = qz_alloc(z, QZ_BINS * sizeof *v->bins)))
			return -ENOMEM;
	}
	if (!cut)
		return 0;
	if ((n = pass(z, true)) < 0)
		return n;
	for (int i = 0; i < z->n_value; i++) {
		struct qz_value *v = &z->value[i];

		if (!v->bins || v->max <= v->min)
			continue;
		v->lo = quantile(v, 1 - z->o->percentile / 100);
		v->hi = quantile(v, z->o->percentile / 100);
	}
	return 0;
}

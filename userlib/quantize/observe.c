/* SPDX-License-Identifier: Apache-2.0 */
/* A float network over samples: ranges and histograms of its tensors. */
#include "observe.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "userlib/run/golden_exec.h"

#define BINS 4096              /* bins of a histogram */

/* One observation: the network, the options, and what is observed. */
struct observer {
	const weft_graph *g;
	const struct weft_quantize_options *o;
	struct observed *v;        /* n of them */
	int n;
	char *msg;                 /* WEFT_MSG_LEN bytes */
};

static int fail(const struct observer *w, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Writes one line into the message, with control characters (of names in the file) as '?'. Returns err. */
static int fail(const struct observer *w, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	quantize_line(w->msg, format, ap);
	va_end(ap);
	return err;
}

/* Widens an entry's min and max by the finite elements of t, and sets `seen` if there is one. */
static void take_limits(struct observed *v, const weft_tensor *t)
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

/* Counts the finite elements of t in the entry's histogram; nothing if min and max are equal. */
static void take_bins(struct observed *v, const weft_tensor *t)
{
	const float *p = t->data;
	double step = (v->max - v->min) / BINS;

	for (int64_t i = 0, n = weft_tensor_elements(t); step > 0 && i < n; i++) {
		if (!isfinite(p[i]))
			continue;
		int b = (int)(((double)p[i] - v->min) / step);
		v->bins[b < 0 ? 0 : b >= BINS ? BINS - 1 : b]++;
	}
}

/*
 * Checks that the elements of a sample's float32 inputs are finite, since NaN or infinity would leave no
 * range. Returns 0, or -EINVAL with one line in the message that names sample, element and input.
 */
static int check_sample(const struct observer *w, const weft_tensor *inputs, int i_sample)
{
	for (int i = 0; i < w->g->n_inputs; i++) {
		const float *p = inputs[i].data;

		for (int64_t k = 0, n = inputs[i].dtype == WEFT_FP32 ? weft_tensor_elements(&inputs[i]) : 0; k < n; k++)
			if (!isfinite(p[k]))
				return fail(w, -EINVAL, "sample %d: element %lld of input \"%.60s\" is %g; finite numbers calibrate", i_sample, (long long)k,
				            w->g->tensors[w->g->inputs[i]].name, (double)p[k]);
	}
	return 0;
}

/*
 * Runs the float network on golden for one sample and, of the entries whose tensor is set, takes the
 * limits or, if `bins` is true, adds their elements to the histograms. Results of the run are freed.
 * Returns 0 or a negative errno with one line in the message.
 */
static int one_sample(const struct observer *w, const weft_tensor *inputs, bool bins)
{
	weft_tensor *all = calloc((size_t)w->g->n_tensors + 1, sizeof *all);
	int err = all ? weft_golden_exec(w->g, inputs, all, true, w->msg) : fail(w, -ENOMEM, "out of memory");

	for (int i = 0; i < w->n && !err; i++) {
		struct observed *v = &w->v[i];

		if (v->tensor < 0)
			continue;
		if (bins)
			take_bins(v, &all[v->tensor]);
		else
			take_limits(v, &all[v->tensor]);
	}
	if (all)
		weft_golden_release(w->g, all);
	free(all);
	return err;
}

/*
 * Asks the options' function for samples 0, 1, ... until it returns 0 (no more) or a negative errno; it
 * gets tensors with type and shape of the inputs and no data. Each sample is checked and run (one_sample,
 * with `bins`), and its inputs are freed. Returns how many there were, or the negative errno of the
 * function or of a sample that failed, with one line in the message.
 */
static int pass(const struct observer *w, bool bins)
{
	const int n = w->g->n_inputs;
	weft_tensor *in = calloc((size_t)n + 1, sizeof *in);
	int count = 0, more = in ? 1 : fail(w, -ENOMEM, "out of memory");

	while (more > 0) {
		for (int i = 0; i < n; i++) {
			in[i] = w->g->tensors[w->g->inputs[i]].t;
			in[i].data = NULL;
		}
		more = w->o->sample(w->o->user, count, in, n, w->msg);
		if (more > 0) {
			int err = check_sample(w, in, count);

			err = err ? err : one_sample(w, in, bins);
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
 * Returns, by its histogram, the number below which the share p (0 to 1) of an entry's elements lies: the
 * first bin up to whose end that share lies gives its lower edge for p up to 0.5, otherwise its upper edge.
 */
static double quantile(const struct observed *v, double p)
{
	uint64_t total = 0, below = 0;

	for (int i = 0; i < BINS; i++)
		total += v->bins[i];
	for (int i = 0; i < BINS; i++) {
		below += v->bins[i];
		if ((double)below >= p * (double)total)
			return v->min + (v->max - v->min) * (i + (p > 0.5 ? 1 : 0)) / BINS;
	}
	return v->max;
}

/*
 * Runs the second pass, into histograms of BINS bins each that are freed at its end, and moves lo and hi
 * of each entry that has a tensor and max above min inwards to the percentile. Returns 0 or a negative
 * errno with one line in the message; lo..hi stay as they are then.
 */
static int cut(const struct observer *w)
{
	uint64_t *bins = calloc((size_t)w->n + 1, BINS * sizeof *bins);

	if (!bins)
		return fail(w, -ENOMEM, "out of memory");
	for (int i = 0; i < w->n; i++)
		w->v[i].bins = bins + (size_t)i * BINS;
	const int n = pass(w, true);
	for (int i = 0; i < w->n; i++) {
		struct observed *v = &w->v[i];

		if (n > 0 && v->tensor >= 0 && v->max > v->min) {
			v->lo = quantile(v, 1 - w->o->percentile / 100);
			v->hi = quantile(v, w->o->percentile / 100);
		}
		v->bins = NULL;
	}
	free(bins);
	return n < 0 ? n : 0;
}

int weft_observe(const weft_graph *g, const struct weft_quantize_options *o, struct observed *v, int n, char *msg)
{
	const struct observer w = { g, o, v, n, msg };
	const int count = pass(&w, false);

	if (count <= 0)
		return count ? count : fail(&w, -EINVAL, "there are no samples to calibrate with");
	for (int i = 0; i < n; i++) {
		v[i].lo = v[i].min;
		v[i].hi = v[i].max;
	}
	return o->percentile > 0 && o->percentile < 100 ? cut(&w) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which values the tensors of a float network take over samples: the least and the greatest, and for
 * percentiles a histogram between them in a second pass.
 */
#ifndef WEFT_QUANTIZE_OBSERVE_H
#define WEFT_QUANTIZE_OBSERVE_H

#include <weft/weft.h>

#include "userlib/graph/graph.h"

/* What is known of one tensor's values. */
struct observed {
	int tensor;                /* index of the graph's fp32 tensor, or -1: none */
	bool seen;                 /* it has had finite elements */
	double min, max;           /* the least and the greatest of them */
	double lo, hi;             /* what is to be represented: min and max, or what the percentile leaves of them */
	uint64_t *bins;            /* histogram between min and max; NULL outside weft_observe() */
};

/*
 * Runs graph g on golden over the samples of o and finds the range lo..hi of each of the n entries of v whose tensor is
 * set. With a percentile below 100 a second pass over the samples cuts off, at each end, the share of the elements that
 * lies outside. Returns 0; -EINVAL if there are no samples or a sample has elements that are not finite; -ENOMEM; or
 * another negative errno of golden or of the samples; with one line in msg (WEFT_MSG_LEN bytes).
 */
int weft_observe(const weft_graph *g, const struct weft_quantize_options *o, struct observed *v, int n, char *msg);

#endif

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
 * Runs graph g on golden over the samples of o and finds the range of each of the n entries of v whose
 * tensor is set (not -1); all else in v is zero before. Writes seen, min and max, and lo..hi, which are
 * min and max. With a percentile above 0 and below 100 a second pass over the samples moves lo and hi
 * inwards, so that at each end the share (100 - percentile) / 100 of the elements lies outside; if that
 * pass fails, lo..hi stay min and max. Returns 0; -EINVAL if there are no samples or a float32 input of a
 * sample has elements that are not finite; -ENOMEM; or another negative errno of golden or of the
 * samples; with one line in msg (WEFT_MSG_LEN bytes).
 */
WEFT_MUST_USE int weft_observe(const weft_graph *g, const struct weft_quantize_options *o, struct observed *v, int n, char *msg);

#endif

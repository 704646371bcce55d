/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A failing network made small: the fewest operators that still fail on the
 * device, fed with what golden computes in front of them.
 */
#ifndef WEFT_RUN_REDUCE_H
#define WEFT_RUN_REDUCE_H

#include <weft/weft.h>

#include "userlib/graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_reduction {
	weft_graph *graph;         /* owned */
	weft_tensor *inputs;       /* owned, with data; graph->n_inputs of them */
	int ops_before, ops;       /* operators of the graph, and of the reduced one */
	int runs;                  /* networks tried */
	int status;                /* how it fails: -EBADMSG, -EIO, -ETIMEDOUT */
	char why[WEFT_MSG_LEN];    /* of the reduced one */
};

/**
 * @param inputs  Of the network, as for weft_session_run().
 * @param o       Device, configuration, planted fault; check is always on.
 * @param[out] r  Set on success; weft_reduction_release() frees what it owns.
 * @return 0; -ENOENT: the network does not fail; -ENOTSUP: it has control flow
 *         or variables; what opening the device says. msg: WEFT_MSG_LEN bytes
 */
int weft_reduce(const weft_net *net, const weft_tensor *inputs, const struct weft_session_options *o,
                struct weft_reduction *r, char *msg);

void weft_reduction_release(struct weft_reduction *r);

#ifdef __cplusplus
}
#endif
#endif

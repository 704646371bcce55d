/* SPDX-License-Identifier: Apache-2.0 */
/* A whole graph through the golden model, operator by operator. */
#ifndef WEFT_RUN_GOLDEN_EXEC_H
#define WEFT_RUN_GOLDEN_EXEC_H

#include <stdbool.h>

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Run a checked graph and keep every tensor.
 *
 * @param g       Passed weft_graph_check().
 * @param inputs  g->n_inputs tensors in the graph's order; type and shape as
 *                the graph says; copied.
 * @param[out] all  g->n_tensors entries, index for index the graph's. Data of
 *                constants is the graph's own; all other data belongs to
 *                weft_golden_release(), also after a failure.
 * @param fast    true: golden's fast twins (same bits).
 * @param msg     WEFT_MSG bytes; one line on failure.
 *
 * @return 0, -EINVAL, -ENOTSUP (no golden row), -ENOMEM
 */
int weft_golden_exec(const weft_graph *g, const weft_tensor *inputs, weft_tensor *all, bool fast, char *msg);

/** Free what weft_golden_exec() allocated in all; entries then have no data. */
void weft_golden_release(const weft_graph *g, weft_tensor *all);

#ifdef __cplusplus
}
#endif
#endif

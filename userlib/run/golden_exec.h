/* SPDX-License-Identifier: Apache-2.0 */
/* A whole graph through the golden model, operator by operator. */
#ifndef WEFT_RUN_GOLDEN_EXEC_H
#define WEFT_RUN_GOLDEN_EXEC_H

#include <stdbool.h>

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sub-graphs that one run may execute: a loop that never ends is an error, not a hang. */
#define WEFT_MAX_SUB_RUNS (1 << 20)

/* Values of a graph's variables between runs. */
struct weft_vars {
	weft_tensor *t;            /* by variable */
	bool *written;             /* has a value */
	int n;
};

/** Initial values. @return 0, -ENOMEM */
int weft_vars_init(struct weft_vars *v, const weft_graph *g);
void weft_vars_release(struct weft_vars *v);

/**
 * Run a checked graph and keep every tensor. Variables start from their initial values.
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

/** The same with variables that outlive the run; vars from weft_vars_init() on g. */
int weft_golden_exec_vars(const weft_graph *g, struct weft_vars *vars, const weft_tensor *inputs, weft_tensor *all,
                          bool fast, char *msg);

/**
 * The same, fast, and only some are kept: all are the graph's tensors, and results go where one has data that is not
 * the graph's. The others have memory while operators need them.
 * @param done  Told after the inputs are there (n 0) and after each operator (n of them).
 */
int weft_golden_exec_into(const weft_graph *g, struct weft_vars *vars, const weft_tensor *inputs, weft_tensor *all,
                          void (*done)(void *user, int n), void *user, char *msg);

/**
 * One operator of a checked graph: control flow too.
 * @param vars  As above.
 * @param x, y  Its operands and results, all with data.
 */
int weft_golden_exec_op(const weft_graph *g, struct weft_vars *vars, int i, const weft_tensor *const *x,
                        weft_tensor *const *y, bool fast, char *msg);

/** Free what weft_golden_exec() allocated in all; entries then have no data. */
void weft_golden_release(const weft_graph *g, weft_tensor *all);

#ifdef __cplusplus
}
#endif
#endif

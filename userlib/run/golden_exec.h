/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of a whole graph by the golden model, operator by operator. */
#ifndef WEFT_RUN_GOLDEN_EXEC_H
#define WEFT_RUN_GOLDEN_EXEC_H

#include <stdbool.h>

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most sub-graphs that one run may execute, so that a loop that never ends is an error, not a hang. */
#define WEFT_MAX_SUB_RUNS (1 << 20)

/* Values of a graph's variables between runs, and what bounds these runs. */
struct weft_vars {
	weft_tensor *t;            /* for each variable its type, shape and memory; owned */
	bool *written;             /* for each variable: it has a value */
	int n;                     /* number of variables */
	unsigned timeout_ms;       /* most time for each operator of the graph that is control flow; 0: as long as it takes */
	bool (*stop)(void *user);  /* asked before each operator inside control flow whether the run shall end; NULL: no */
	void *user;                /* stop's argument */
};

/**
 * Give each variable of graph g memory in *v with its initial value, or zeros and written = false if it
 * has none; timeout_ms and stop become 0 and NULL. weft_vars_release() frees it. @return 0; -ENOMEM,
 * then *v is empty
 */
WEFT_MUST_USE int weft_vars_init(struct weft_vars *v, const weft_graph *g);
void weft_vars_release(struct weft_vars *v);

/** Copy the values of all variables, and whether they have one, to *to, which is one of the same graph; bounds stay. */
void weft_vars_copy(struct weft_vars *to, const struct weft_vars *from);

/**
 * Run a checked graph and keep every tensor. Variables start from their initial values, and there is no
 * time limit.
 *
 * @param g       Passed weft_graph_check().
 * @param inputs  g->n_inputs tensors in the graph's order, with data; type and number of elements as
 *                the graph says; copied.
 * @param[out] all  g->n_tensors entries, index for index the graph's tensors, all zeros before. Data of
 *                  constants is the graph's own; all other data is freed by weft_golden_release(), also
 *                  after a failure.
 * @param fast    true: use golden's fast implementations, which give the same bits.
 * @param msg     WEFT_MSG bytes; one line on failure.
 *
 * @return 0; -EINVAL (a bad input, a variable that was never written, more than WEFT_MAX_SUB_RUNS runs
 *         of sub-graphs, or a value that an operator refuses); -ENOTSUP (golden does not have the
 *         operator with these types); -ENOMEM
 */
WEFT_MUST_USE int weft_golden_exec(const weft_graph *g, const weft_tensor *inputs, weft_tensor *all, bool fast, char *msg);

/** weft_golden_exec() with variables that outlive the run; vars comes from weft_vars_init() on g. */
WEFT_MUST_USE int weft_golden_exec_vars(const weft_graph *g, struct weft_vars *vars, const weft_tensor *inputs, weft_tensor *all,
                          bool fast, char *msg);

enum { WEFT_SPARES = 32 };

/*
 * Memory of tensors that are no longer needed, kept for later tensors, so that the kernel does not have to take pages back and give
 * new ones. All zeros: there is none.
 */
struct weft_spares {
	struct weft_spare { void *data; size_t bytes; } block[WEFT_SPARES];   /* each from malloc() */
	int n;
};

/** Free the memory that *s keeps; *s is empty afterwards. */
void weft_spares_free(struct weft_spares *s);

/**
 * Run a checked graph as weft_golden_exec_vars() does, with the fast implementations and in the caller's memory. all[] points to the
 * data of inputs and of outputs where that is aligned; an output's data may be NULL. Every other tensor has memory only while operators
 * need it, and that memory comes from spares and goes back there. The result of a RESHAPE may use the memory of its operand. Call weft_golden_give_back() afterwards, also after a failure, before
 * the caller's memory ends and before weft_golden_release().
 */
WEFT_MUST_USE int weft_golden_exec_borrow(const weft_graph *g, struct weft_vars *vars, const weft_tensor *inputs, const weft_tensor *outputs,
                                          weft_tensor *all, struct weft_spares *spares, char *msg);

/** Take the caller's memory, from the same inputs and outputs as for weft_golden_exec_borrow(), out of all[]. */
void weft_golden_give_back(const weft_graph *g, const weft_tensor *inputs, const weft_tensor *outputs, weft_tensor *all);

/**
 * Run a checked graph fast, and keep only some of its tensors.
 *
 * @param vars  As for weft_golden_exec_vars().
 * @param all   All of the graph's tensors, with types, shapes and the data of constants. If another
 *              entry has data too, the tensor's value is written there and stays. Every other tensor
 *              has memory only while operators need it; that of a RESHAPE's result may be its
 *              operand's. When the function returns, also after a failure, its data is NULL.
 * @param done  Called with `user` and n: n = 0 when the inputs are there, then after each operator with
 *              the number of operators that have run; not for an operator that failed, nor after it.
 * @return as weft_golden_exec_vars(), with one line in msg on failure
 */
WEFT_MUST_USE int weft_golden_exec_into(const weft_graph *g, struct weft_vars *vars, const weft_tensor *inputs, weft_tensor *all,
                          void (*done)(void *user, int n), void *user, char *msg);

/**
 * Run one operator of a checked graph, which may be control flow.
 *
 * @param vars  As for weft_golden_exec_vars().
 * @param i     The operator's index in g.
 * @param x, y  Its operands and results, all with memory.
 * @return 0 or a negative errno as weft_golden_exec(), with one line in msg (WEFT_MSG bytes)
 */
WEFT_MUST_USE int weft_golden_exec_op(const weft_graph *g, struct weft_vars *vars, int i, const weft_tensor *const *x,
                        weft_tensor *const *y, bool fast, char *msg);

/** Free what weft_golden_exec() allocated in all; entries then have no data. */
void weft_golden_release(const weft_graph *g, weft_tensor *all);

#ifdef __cplusplus
}
#endif
#endif

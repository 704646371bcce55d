/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that a test runs one by one on golden, as a graph, and that graph on a
 * device. Operands that no recorded operator made are inputs where an operator has
 * data there, else constants.
 */
#ifndef WEFT_TESTS_RECORD_GRAPH_H
#define WEFT_TESTS_RECORD_GRAPH_H

#include <stdbool.h>

#include <weft/weft.h>

#include "userlib/graph/graph.h"

/* One recording at a time. */
void record_begin(void);
void record_end(void);

/* y = op(x...), n operands with data; their memory may be freed afterwards. */
void record_op(weft_opcode op, const weft_attr *attr, const weft_tensor *const *x, int n, const weft_tensor *y);
/* This tensor's memory will be something else. */
void record_forget(const weft_tensor *t);

struct record_run { int npu_ops, host_ops; };

/*
 * The recorded graph, whose only output is y, on a device; every tensor is compared
 * with golden, and the output with y.
 * @return NULL, or what went wrong; *run is added to
 */
const char *record_run(const weft_tensor *y, enum weft_device device, struct record_run *run);

#endif

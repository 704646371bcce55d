/* SPDX-License-Identifier: Apache-2.0 */
/* TOSA's levels. */
#ifndef WEFT_GRAPH_LEVEL_H
#define WEFT_GRAPH_LEVEL_H

#include "graph.h"

/**
 * Does a checked graph stay within level 8K?
 * @return 0, or -EINVAL with one line in msg (WEFT_MSG bytes): operator, value, limit
 */
int weft_graph_check_8k(const weft_graph *g, char *msg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* TOSA's levels. */
#ifndef WEFT_GRAPH_LEVEL_H
#define WEFT_GRAPH_LEVEL_H

#include "graph.h"

/*
 * Checks that a graph, which must have passed weft_graph_check(), stays within TOSA's level 8K: the
 * outermost graph, each of its sub-graphs, then how deeply they are nested. Returns 0; -EINVAL with one
 * line in msg (WEFT_MSG bytes) that names operator, value and limit of the first fault; or -ENOMEM,
 * also with a line.
 */
WEFT_MUST_USE int weft_graph_check_8k(const weft_graph *g, char *msg);

#endif

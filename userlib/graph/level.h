/* SPDX-License-Identifier: Apache-2.0 */
/* TOSA's levels. */
#ifndef WEFT_GRAPH_LEVEL_H
#define WEFT_GRAPH_LEVEL_H

#include "graph.h"

/**
 * Check that a graph, which has passed weft_graph_check(), stays within TOSA's level 8K.
 * @return 0, or -EINVAL with one line in msg (WEFT_MSG bytes) that names operator, value and limit;
 *         -ENOMEM
 */
int weft_graph_check_8k(const weft_graph *g, char *msg);

#endif

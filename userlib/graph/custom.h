/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of custom operators in a graph that comes from a file without them. */
#ifndef WEFT_GRAPH_CUSTOM_H
#define WEFT_GRAPH_CUSTOM_H

#include <weft/custom.h>

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to do about a custom operator without functions, for messages behind its name. */
#define WEFT_CUSTOM_MISSING "no function for it; weft_load_options.custom or weft --custom takes them (weft/custom.h)"

/**
 * Give each TFL_CUSTOM of a checked graph and its sub-graphs the functions that table t (NULL: an empty one) has for
 * its name, and check that they give the results the graph's shapes.
 *
 * @param msg  WEFT_MSG bytes: one line on failure.
 * @return 0; -ENOTSUP: the table does not have an operator; -EINVAL: other shapes; or what its function returned
 */
WEFT_MUST_USE int weft_graph_give_customs(weft_graph *g, const struct weft_custom_table *t, char *msg);

#ifdef __cplusplus
}
#endif
#endif

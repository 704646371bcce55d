/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph out, as a TOSA 1.0 flatbuffer.
 *
 * What the graph has as attributes and TOSA as compile-time constants becomes
 * constants again; unsigned bytes become INT8 with RESCALE's unsigned flags.
 * Extension operators have no TOSA: they are written as CUSTOM of domain
 * "weft", which our importer reads back, other readers will not.
 */
#ifndef WEFT_EXPORT_TOSA_H
#define WEFT_EXPORT_TOSA_H

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @param g       Passed weft_graph_check().
 * @param strict  Refuse extension operators instead of writing CUSTOM.
 * @param[out] out       From malloc, set only on success. What it holds has been
 *                       imported once again: it is valid TOSA 1.0.
 * @param[out] n_custom  Operators written as CUSTOM.
 * @param custom  WEFT_MSG bytes: their names, each once, or "".
 * @param msg     WEFT_MSG bytes; one line on failure.
 * @return 0, -ENOTSUP (cannot be expressed: operator and why), -ENOMEM
 */
int weft_export_tosa(const weft_graph *g, bool strict, uint8_t **out, size_t *len, int *n_custom, char *custom, char *msg);

#ifdef __cplusplus
}
#endif
#endif

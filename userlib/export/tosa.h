/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph is written as a TOSA 1.0 FlatBuffer.
 *
 * What the graph has as attributes and TOSA as compile-time constants becomes
 * constants again. Unsigned bytes become INT8 with RESCALE's unsigned flags.
 * TOSA has no extension operators: they are written as CUSTOM of the domain
 * "weft", which our importer reads back; other readers refuse them.
 */
#ifndef WEFT_EXPORT_TOSA_H
#define WEFT_EXPORT_TOSA_H

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write a graph as the bytes of a TOSA file.
 *
 * @param g       The graph; weft_graph_check() has accepted it.
 * @param strict  Refuse operators that would be written as CUSTOM.
 * @param[out] out       The file, from malloc. What it holds has been imported once
 *                       again: it is valid TOSA 1.0.
 * @param[out] len       Bytes of the file.
 * @param[out] n_custom  Number of operators written as CUSTOM. out, len and n_custom
 *                       are set only on success.
 * @param custom  WEFT_MSG bytes; receives the names of operators written as CUSTOM,
 *                each once, or "".
 * @param msg     WEFT_MSG bytes; receives one line on failure.
 *
 * @return 0, or
 *   -ENOTSUP  TOSA cannot express the graph; msg names the operator and the reason
 *   -ENOMEM   memory ran out, or the file would exceed 2^31 bytes
 */
WEFT_MUST_USE int weft_export_tosa(const weft_graph *g, bool strict, uint8_t **out, size_t *len, int *n_custom, char *custom, char *msg);

#ifdef __cplusplus
}
#endif
#endif

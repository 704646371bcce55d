/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOSA 1.0 flatbuffers in, graph out.
 *
 * Shapes and other operands that TOSA 1.0 has as compile-time constants become
 * attributes. Types are rows of each operator's table, shapes and attributes
 * obey every ERROR_IF: a graph that breaks one is refused here, not when it
 * runs. Integers are signless in the file, so unsigned bytes are int8 here.
 * Not supported: CUSTOM of others, unranked tensors.
 */
#ifndef WEFT_IMPORT_TOSA_H
#define WEFT_IMPORT_TOSA_H

#include "userlib/graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Says whether the bytes start like a TOSA flatbuffer. */
bool weft_tosa_is(const void *data, size_t len);

/**
 * Import a file held in memory. Nothing in it is trusted. Memory stays below
 * 64 MB plus 8 times the file.
 *
 * @param data    The file; may be freed after the call.
 * @param name    The model's name for people.
 * @param[out] g  Set only on success; passes weft_graph_check().
 * @param msg     WEFT_MSG bytes; one line on failure.
 *
 * @return 0, or
 *   -EINVAL   the file breaks a rule of its format or of an operator
 *   -ENOTSUP  a valid file that uses what is not supported, or another version
 *   -ENOMEM
 */
WEFT_MUST_USE int weft_import_tosa(const void *data, size_t len, const char *name, weft_graph **g, char msg[WEFT_MSG]);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph as bytes in a .weft container; and the attributes of one operator, for an operator that TOSA
 * does not have in a TOSA file's CUSTOM operator. The same function writes and reads (byte_io.h);
 * failures are in io->err.
 */
#ifndef WEFT_GRAPH_SAVE_H
#define WEFT_GRAPH_SAVE_H

#include "graph.h"
#include "userlib/files/byte_io.h"

/* Limits of a graph in a file, so that a small file cannot ask for much memory. */
#define SAVE_MAX_OPS     200000
#define SAVE_MAX_TENSORS 400000

/*
 * Writes *g, or reads a graph, which must be all that is left in io, and checks it. Reading, *g is
 * a new graph that the caller frees; after a failure it is NULL, and msg (WEFT_MSG bytes) has one
 * line if weft_graph_check() refused it, io->why otherwise.
 */
void save_graph(struct io *io, weft_graph **g, char *msg);

/* Writes or reads the attributes that an operator with code op has, in *a; nothing for those without. */
void save_attributes(struct io *io, weft_opcode op, weft_attr *a);

#endif
